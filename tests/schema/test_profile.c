/* test_profile.c - documented limits of a provider: each is found where it is broken, and a schema
 * that keeps them all has none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "turnstile.h"

static char found[1 << 16];
static size_t used;

static void note(void *ctx, const tsl_profile_finding *f) {
  (void)ctx;
  int n = snprintf(found + used, sizeof found - used, "%s %s %s\n",
                   f->breaks ? "breaks" : "undocumented", f->pointer, f->keyword);
  if (n > 0 && used + (size_t)n < sizeof found) used += (size_t)n;
}

static tsl_status look(const char *schema, size_t length) {
  used = 0;
  found[0] = 0;
  return tsl_schema_profile("openai-strict", schema, length, NULL, note, NULL, NULL);
}

static void rules(void) {
#define OBJECT(more) "{\"type\":\"object\",\"additionalProperties\":false" more "}"
#define WITH(name, schema) \
  OBJECT(",\"required\":[\"" name "\"],\"properties\":{\"" name "\":" schema "}")
  static const struct {
    const char *schema, *found;
  } cases[] = {
      {WITH("a", "{\"type\":[\"string\",\"null\"],\"pattern\":\"x\",\"description\":\"d\"}"), ""},
      {WITH("a", "{\"$ref\":\"#\"}"), ""},
      {"{\"type\":\"object\"}", "breaks  \n"},
      {"{\"type\":\"object\",\"additionalProperties\":true}",
       "breaks /additionalProperties additionalProperties\n"},
      {OBJECT(",\"properties\":{\"a/b\":{}}"), "breaks /properties/a~1b \n"},
      {OBJECT(",\"properties\":{\"a\":{}},\"required\":[\"a\",\"b\"]"), "breaks /required/1 \n"},
      {WITH("a", "{\"allOf\":[{\"type\":\"string\"}]}"), "breaks /properties/a/allOf allOf\n"},
      {WITH("if", "{\"if\":{},\"uniqueItems\":true}"),
       "breaks /properties/if/if if\nundocumented /properties/if/uniqueItems uniqueItems\n"},
      {"{\"anyOf\":[{\"type\":\"null\"}]}", "breaks /anyOf anyOf\nbreaks  \n"},
      {"{\"type\":[\"object\",\"null\"],\"additionalProperties\":false}", "breaks /type type\n"},
      {"{\"type\":[\"object\"],\"additionalProperties\":false}", "breaks /type type\n"},
      {WITH("a", "{\"items\":{\"anyOf\":[{\"type\":\"object\"}]}}"),
       "breaks /properties/a/items/anyOf/0 \n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK(look(cases[i].schema, strlen(cases[i].schema)) == TSL_OK);
    CHECKF(!strcmp(found, cases[i].found), "%s: found\n%s", cases[i].schema, found);
  }
}

static void totals(void) {
  static char schema[1 << 18];
  for (int over = 0; over < 2; over++) {
    size_t n = (size_t)snprintf(
        schema, sizeof schema,
        "{\"type\":\"object\",\"additionalProperties\":false,\"$defs\":{\"a\":{\"enum\":[0");
    for (int i = 1; i < 1000 + over; i++)
      n += (size_t)snprintf(schema + n, sizeof schema - n, ",%d", i);
    n += (size_t)snprintf(schema + n, sizeof schema - n, "]}}}");
    CHECK(look(schema, n) == TSL_OK);
    CHECKF(!strcmp(found, over ? "breaks  \n" : ""), "%d values: %s", 1000 + over, found);
    n = 0;
    for (int i = 0; i < 10 + over; i++)
      n += (size_t)snprintf(schema + n, sizeof schema - n,
                            "{\"type\":\"object\",\"additionalProperties\":false,\"required\":["
                            "\"a\"],\"properties\":{\"a\":");
    n += (size_t)snprintf(schema + n, sizeof schema - n, "{}");
    for (int i = 0; i < 10 + over; i++) n += (size_t)snprintf(schema + n, sizeof schema - n, "}}");
    CHECK(look(schema, n) == TSL_OK);
    CHECKF((strstr(found, "breaks") != NULL) == (over == 1), "%d levels: %s", 10 + over, found);
    n = (size_t)snprintf(
        schema, sizeof schema,
        "{\"type\":\"object\",\"additionalProperties\":false,\"$defs\":{\"a\":{\"enum\":[\"%0*d\"",
        15000 - 250 + over, 0);
    for (int i = 0; i < 250; i++)
      n += (size_t)snprintf(schema + n, sizeof schema - n, ",\"%c\"", 'a' + i % 26);
    n += (size_t)snprintf(schema + n, sizeof schema - n, "]}}}");
    CHECK(look(schema, n) == TSL_OK);
    CHECKF(!strcmp(found, over ? "breaks /$defs/a/enum enum\n" : ""), "long enum: %s", found);
  }
}

static void errors(void) {
  tsl_error error = {0};
  CHECK(tsl_schema_profile("none", "{}", 2, NULL, note, NULL, &error) == TSL_ERR_ARGUMENT &&
        error.message[0]);
  CHECK(tsl_schema_profile("openai-strict", "{", 1, NULL, note, NULL, &error) == TSL_ERR_SYNTAX &&
        error.offset == 1);
  CHECK(look("true", 4) == TSL_OK && !strcmp(found, "breaks  \n"));
}

int main(void) {
  RUN(rules, "each rule, and none");
  RUN(totals, "totals at their limit and past it");
  RUN(errors, "what cannot be looked at");
  return tsl_test_end();
}
