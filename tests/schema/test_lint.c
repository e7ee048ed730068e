/* test_lint.c - the lint: each rule finds its shape, mends it, and keeps silent elsewhere.
 *
 * A case is a rule, a text, the pointers at which the rule alone finds something, and the mended
 * text. A mended text must have no finding of the rule that says it mended it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "turnstile.h"

static char found[1 << 16], mended[1 << 20];
static size_t used;
static unsigned count, count_mended;

static void note(void *ctx, const tsl_lint_finding *f) {
  (void)ctx;
  int n = snprintf(found + used, sizeof found - used, "%s%s", used ? " " : "",
                   *f->pointer ? f->pointer : "#");
  if (n > 0 && used + (size_t)n < sizeof found) used += (size_t)n;
  count++;
  count_mended += f->mended;
  CHECK(*f->rule && *f->severity && *f->message && *f->why);
}

static void keep(void *ctx, const char *text) {
  (void)ctx;
  snprintf(mended, sizeof mended, "%s", text);
}

static tsl_status look(const char *text, size_t length, const tsl_lint_options *options) {
  used = count = count_mended = 0;
  found[0] = mended[0] = 0;
  tsl_error error = {0};
  return tsl_schema_lint(text, length, options, NULL, note, keep, NULL, &error);
}

/* Without white space outside of strings. */
static void squeeze(char *text) {
  bool in = false;
  char *to = text;
  for (const char *p = text; *p; p++) {
    if (*p == '"' && (p == text || p[-1] != '\\')) in = !in;
    if (in || (*p != ' ' && *p != '\n')) *to++ = *p;
  }
  *to = 0;
}

#define OBJECT(members) "{\"type\":\"object\",\"properties\":{" members "}}"
#define NEEDS(name, schema) \
  "{\"type\":\"object\",\"properties\":{\"" name "\":" schema "},\"required\":[\"" name "\"]}"
#define BRANCH(kind) \
  "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"" kind "\"}},\"required\":[\"k\"]}"
#define LETTERS "\"a\":{},\"b\":{},\"c\":{},\"d\":{},\"e\":{}"
#define STRING(more) "{\"type\":\"string\"" more "}"
#define PLACE "/properties/a"

/* mended NULL: the rule mends nothing there */
static const struct {
  const char *rule, *text, *found, *mended;
} cases[] = {
    {"wrapper", "{\"name\":\"n\",\"schema\":{\"type\":\"null\"}}", "#", "{\"type\":\"null\"}"},
    {"wrapper", "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\"}}", "#",
     "{\"type\":\"object\"}"},
    {"wrapper",
     "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":{\"enum\":[1]}}}", "#",
     "{\"enum\":[1]}"},
    {"wrapper", "{\"type\":\"object\",\"properties\":{\"schema\":{\"type\":\"object\"}}}", "",
     NULL},
    {"wrapper", "{\"tools\":[{\"name\":\"n\",\"parameters\":{\"type\":\"object\"}}]}", "", NULL},
    {"wrapper", "{}", "", NULL},
    {"wrapper", "true", "", NULL},
    {"refused", "{\"type\":\"string\",\"enum\":[1]}", "#", NULL},
    {"refused", "{\"type\":3}", "#", NULL},
    {"refused", "{\"$ref\":\"#/$defs/gone\"}", "#", NULL},
    {"refused", "{\"type\":\"string\"}", "", NULL},
    {"typo", STRING(",\"maxlenght\":3"), "/maxlenght", STRING(",\"maxLength\":3")},
    {"typo", STRING(",\"max_length\":3,\"maxLength\":4"), "/max_length", NULL},
    {"typo", "{\"additionalproperties\":false}", "/additionalproperties",
     "{\"additionalProperties\":false}"},
    {"typo", STRING(",\"title\":\"t\",\"x-mine\":1"), "", NULL},
    {"typo", OBJECT("\"maxlenght\":{\"type\":\"null\"}"), "", NULL},
    {"untyped", "{\"properties\":{}}", "/properties", "{\"type\":\"object\",\"properties\":{}}"},
    {"untyped", "{\"items\":{\"minLength\":1},\"type\":\"array\"}", "/items/minLength",
     "{\"items\":{\"type\":\"string\",\"minLength\":1},\"type\":\"array\"}"},
    {"untyped", "{\"minLength\":1,\"minimum\":1}", "/minLength", NULL},
    {"untyped", "{\"type\":\"object\",\"anyOf\":[{\"required\":[\"a\"]}]}", "", NULL},
    {"untyped", "{\"anyOf\":[{\"minimum\":1},{\"type\":\"null\"}]}", "/anyOf/0/minimum",
     "{\"anyOf\":[{\"type\":\"number\",\"minimum\":1},{\"type\":\"null\"}]}"},
    {"untyped", "{\"enum\":[\"a\"],\"minLength\":1}", "", NULL},
    {"undeclared",
     "{\"type\":\"object\",\"properties\":{\"last_name\":{}},\"required\":[\"lastname\"]}",
     "/required",
     "{\"type\":\"object\",\"properties\":{\"last_name\":{}},\"required\":[\"last_name\"]}"},
    {"undeclared", "{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"zebra\"]}",
     "/required", NULL},
    {"undeclared", "{\"allOf\":[{\"properties\":{\"a\":{}}}],\"required\":[\"a\"]}", "", NULL},
    {"undeclared", NEEDS("a", "{}"), "", NULL},
    {"undeclared",
     "{\"type\":\"object\",\"properties\":{\"first\":{}},\"required\":[\"frist\",\"firts\"]}",
     "/required /required",
     "{\"type\":\"object\",\"properties\":{\"first\":{}},\"required\":[\"first\",\"firts\"]}"},
    {"never", OBJECT("\"a\":{\"type\":\"string\",\"enum\":[1]},\"b\":{}"), "/properties/a", NULL},
    {"never",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/s\"},"
     "{\"type\":\"integer\"}]},\"b\":false},\"$defs\":{\"s\":{\"type\":\"string\"}}}",
     "/properties/a", NULL},
    {"never", OBJECT("\"a\":{\"type\":\"string\"}"), "", NULL},
    {"answer-first", OBJECT("\"answer\":{},\"reasoning\":{}"), "/properties",
     OBJECT("\"reasoning\":{},\"answer\":{}")},
    {"answer-first", OBJECT("\"a\":{},\"Final_Answer\":{},\"b\":{},\"chainOfThought\":{}"),
     "/properties", OBJECT("\"a\":{},\"chainOfThought\":{},\"Final_Answer\":{},\"b\":{}")},
    {"answer-first", OBJECT("\"reasoning\":{},\"answer\":{}"), "", NULL},
    {"answer-first", OBJECT("\"answers\":{},\"reasonable\":{}"), "", NULL},
    {"sorted-keys", OBJECT(LETTERS), "/properties", NULL},
    {"sorted-keys",
     "{\"type\":\"object\",\"properties\":{" LETTERS
     "},\"required\":[\"e\",\"d\",\"a\",\"b\",\"c\"]}",
     "/properties",
     "{\"type\":\"object\",\"properties\":{\"e\":{},\"d\":{},\"a\":{},\"b\":{},\"c\":{}},"
     "\"required\":[\"e\",\"d\",\"a\",\"b\",\"c\"]}"},
    {"sorted-keys", OBJECT("\"b\":{},\"a\":{},\"c\":{},\"d\":{},\"e\":{}"), "", NULL},
    {"many-optional", OBJECT(LETTERS), "", NULL},
    {"many-optional",
     OBJECT(LETTERS ",\"f\":{},\"g\":{},\"h\":{},\"i\":{},\"j\":{},\"k\":{},\"l\":{},\"m\":{},"
                    "\"n\":{},\"o\":{},\"p\":{},\"q\":{}"),
     "/properties", NULL},
    {"open-object", OBJECT("\"a\":{}"), "#",
     "{\"type\":\"object\",\"properties\":{\"a\":{}},\"additionalProperties\":false}"},
    {"open-object", "{\"properties\":{},\"allOf\":[{}]}", "", NULL},
    {"open-object", "{\"type\":\"object\"}", "", NULL},
    {"one-of", "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "/oneOf",
     "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}"},
    {"one-of", "{\"oneOf\":[" BRANCH("x") "," BRANCH("y") "]}", "/oneOf",
     "{\"anyOf\":[" BRANCH("x") "," BRANCH("y") "]}"},
    {"one-of", "{\"oneOf\":[" BRANCH("x") "," BRANCH("x") "]}", "/oneOf", NULL},
    {"one-of",
     "{\"oneOf\":[{\"$ref\":\"#/$defs/x\"},{\"type\":\"integer\"}],\"$defs\":{\"x\":"
     "{\"type\":\"boolean\"}}}",
     "/oneOf",
     "{\"anyOf\":[{\"$ref\":\"#/$defs/x\"},{\"type\":\"integer\"}],\"$defs\":{\"x\":"
     "{\"type\":\"boolean\"}}}"},
    {"one-of", "{\"oneOf\":[{\"type\":\"number\"},{\"type\":\"integer\"}]}", "/oneOf", NULL},
    {"one-of", "{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"integer\"}]}", "", NULL},
    {"no-unknown", NEEDS("a", "{\"enum\":[\"x\",\"y\"]}"), PLACE "/enum",
     NEEDS("a", "{\"enum\":[\"x\",\"y\",\"unknown\"]}")},
    {"no-unknown", NEEDS("a", "{\"enum\":[\"x\",\"N/A\"]}"), "", NULL},
    {"no-unknown", NEEDS("a", "{\"enum\":[\"x\",\"y\",null]}"), "", NULL},
    {"no-unknown", NEEDS("kind", "{\"enum\":[\"x\",\"y\"]}"), "", NULL},
    {"no-unknown", OBJECT("\"a\":{\"enum\":[\"x\",\"y\"]}"), "", NULL},
    {"enum-alike", "{\"enum\":[\"New York\",\"Rome\",\"new_york\",\"NEW-YORK\"]}", "/enum /enum",
     "{\"enum\":[\"New York\",\"Rome\"]}"},
    {"enum-alike", "{\"enum\":[\"a\",\"b\",1,\"+\",\"-\"]}", "", NULL},
    {"enum-alike", "{\"enum\":[\"A+\",\"A\",\"A-\",\"C\",\"C++\",\"C#\"]}", "", NULL},
    {"enum-alike", "{\"enum\":[\"1\",\"-1\",\"1.5\",\"15\",\"1-5\"]}", "", NULL},
    {"enum-prefix", "{\"enum\":[\"category_red\",\"category_blue\"]}", "/enum", NULL},
    {"enum-prefix", "{\"enum\":[\"red\",\"blue\"]}", "", NULL},
    {"pattern-anchor", STRING(",\"pattern\":\"a+\""), "/pattern", STRING(",\"pattern\":\"^a+$\"")},
    {"pattern-anchor", STRING(",\"pattern\":\"^a\""), "/pattern", STRING(",\"pattern\":\"^a$\"")},
    {"pattern-anchor", STRING(",\"pattern\":\"a\\\\$\""), "/pattern",
     STRING(",\"pattern\":\"^a\\\\$$\"")},
    {"pattern-anchor", STRING(",\"pattern\":\"^a|b$\""), "/pattern",
     STRING(",\"pattern\":\"^(?:^a|b$)$\"")},
    {"pattern-anchor", STRING(",\"pattern\":\"^(a|b)[|$]$\""), "", NULL},
    {"pattern-anchor", STRING(",\"pattern\":\".*a.*\""), "", NULL},
    {"format-spelling", STRING(",\"format\":\"date\""), "/format",
     STRING(",\"format\":\"date\",\"description\":\"year, month and day, such as 2026-01-31\"")},
    {"format-spelling", STRING(",\"format\":\"date\",\"description\":\"d\""), "", NULL},
    {"format-spelling", STRING(",\"format\":\"mine\""), "", NULL},
    {"unbounded-string", "{\"type\":\"string\"}", "#", STRING(",\"maxLength\":1000")},
    {"unbounded-string", STRING(",\"format\":\"date\""), "", NULL},
    {"unbounded-array", "{\"type\":[\"array\",\"null\"]}", "#",
     "{\"type\":[\"array\",\"null\"],\"maxItems\":100}"},
    {"unbounded-array", "{\"type\":\"array\",\"maxItems\":2}", "", NULL},
    {"unbounded-number", "{\"type\":\"integer\",\"minimum\":0}", "#",
     "{\"type\":\"integer\",\"minimum\":0,\"maximum\":9007199254740991}"},
    {"unbounded-number", "{\"type\":\"number\",\"minimum\":0,\"exclusiveMaximum\":2}", "", NULL},
    /* where schemas are */
    {"unbounded-string",
     "{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"n\","
     "\"parameters\":{\"type\":\"object\",\"properties\":{\"a/b\":{\"type\":\"string\"}}}}}],"
     "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":"
     "{\"type\":\"string\"}}}}",
     "/tools/0/function/parameters/properties/a~1b /response_format/json_schema/schema", NULL},
    {"unbounded-string", "[{\"name\":\"n\",\"input_schema\":{\"items\":[{\"type\":\"string\"}]}}]",
     "/0/input_schema/items/0", NULL},
    {"unbounded-string", "{\"not\":{\"type\":\"string\"},\"$defs\":{\"a\":{\"type\":\"string\"}}}",
     "/$defs/a", NULL},
};

static void rules(void) {
  char text[8192];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_lint_options options = {.rules = cases[i].rule};
    size_t length = strlen(cases[i].text);
    CHECK(look(cases[i].text, length, &options) == TSL_OK);
    CHECKF(!strcmp(found, cases[i].found), "%s %s: found %s", cases[i].rule, cases[i].text, found);
    CHECK(count_mended == 0 && !*mended);
    if (!cases[i].mended) continue;
    options.fix = options.bounds = true;
    CHECK(look(cases[i].text, length, &options) == TSL_OK);
    snprintf(text, sizeof text, "%.8000s", mended);
    squeeze(text);
    CHECKF(!strcmp(text, cases[i].mended), "%s %s: mended %s", cases[i].rule, cases[i].text, text);
    unsigned rest = count - count_mended;
    CHECK(look(text, strlen(text), &options) == TSL_OK && count == rest);
  }
}

/* Every rule has a case that finds something and one that does not. */
static void covered(void) {
  const char *name;
  for (uint32_t r = 0; (name = tsl_lint_rule(r)); r++) {
    unsigned finds = 0, silent = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      if (!strcmp(cases[i].rule, name)) (*cases[i].found ? &finds : &silent)[0]++;
    CHECKF(finds && silent, "%s: a case that finds, and one that does not", name);
  }
}

static void calls(void) {
  tsl_lint_options options = {.rules = "unbounded-string,typo"};
  const char *text = "{\"type\":\"string\",\"maxlenght\":1}";
  CHECK(look(text, strlen(text), &options) == TSL_OK && count == 2);
  options.rules = "-unbounded-string,-typo";
  CHECK(look(text, strlen(text), &options) == TSL_OK && count == 0);
  options.rules = "nothing";
  CHECK(look(text, strlen(text), &options) == TSL_ERR_ARGUMENT);
  CHECK(look("{", 1, NULL) == TSL_ERR_SYNTAX);
  options = (tsl_lint_options){.fix = true};
  CHECK(look(text, strlen(text), &options) == TSL_OK && count_mended == 1);
  CHECK(strstr(mended, "maxLength"));
  CHECK(!strstr(mended, "1000"));
}

/* Large and odd texts: no time, no crash. */
static void hostile(void) {
  static char text[1 << 20];
  size_t n = 0;
  for (int i = 0; i < 500; i++) n += (size_t)snprintf(text + n, sizeof text - n, "{\"items\":");
  n += (size_t)snprintf(text + n, sizeof text - n, "{\"type\":\"string\"}");
  for (int i = 0; i < 500; i++) text[n++] = '}';
  CHECK(look(text, n, NULL) == TSL_OK && count >= 500);
  n = (size_t)snprintf(text, sizeof text, "{\"type\":\"object\",\"properties\":{");
  for (int i = 0; i < 4000; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s\"name_%d\":{\"type\":\"string\"}",
                          i ? "," : "", i);
  n += (size_t)snprintf(text + n, sizeof text - n, "},\"required\":[");
  for (int i = 0; i < 4000; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s\"nmae_%d\"", i ? "," : "", i);
  n += (size_t)snprintf(text + n, sizeof text - n, "]}");
  CHECK(look(text, n, NULL) == TSL_OK && count == 1000);
  static const char *const odd[] = {
      "{\"properties\":3,\"required\":3,\"enum\":3,\"oneOf\":3,\"pattern\":3,\"format\":3}",
      "{\"properties\":{\"a\":3},\"required\":[3],\"enum\":[],\"oneOf\":[3,4],\"items\":3}",
      "[[[[[[[[[[[[{\"schema\":{\"type\":\"string\"}}]]]]]]]]]]]]",
      "[]",
      "3",
      "\"\"",
      "{\"$ref\":\"#/\",\"oneOf\":[{\"$ref\":\"#/oneOf/9\"},{\"$ref\":\"\"}]}"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    CHECK(look(odd[i], strlen(odd[i]), &(tsl_lint_options){.fix = true, .bounds = true}) == TSL_OK);
}

/* Memory that runs out after `left` allocations. */
static void *run_out(void *ctx, void *p, size_t before, size_t after) {
  long *left = ctx;
  (void)before;
  if (!after) {
    free(p);
    return NULL;
  }
  return (*left)-- > 0 ? realloc(p, after) : NULL;
}

/* The sizes that are given back are those that were allocated. */
static void *sized(void *ctx, void *p, size_t before, size_t after) {
  size_t *held = ctx;
  *held += after - before;
  if (after) return realloc(p, after);
  free(p);
  return NULL;
}

static void sizes(void) {
  const char *text = OBJECT("\"a\\u0000b\":{\"type\":\"string\"}");
  size_t held = 0;
  const tsl_allocator allocator = {&held, sized};
  CHECK(tsl_schema_lint(text, strlen(text), NULL, &allocator, note, keep, NULL, NULL) == TSL_OK);
  CHECK(held == 0);
}

static void faults(void) {
  const char *text = "{\"oneOf\":[" BRANCH("x") "," BRANCH(
      "y") "],\"enum\":[\"a\",\"A\"],"
           "\"pattern\":\"a\",\"required\":[\"a\"],\"properties\":{\"b\":{}}}";
  const tsl_lint_options options = {.fix = true, .bounds = true};
  tsl_status status = TSL_ERR_NO_MEMORY;
  long n = 0;
  for (; n < 2000 && status == TSL_ERR_NO_MEMORY; n++) {
    long left = n;
    const tsl_allocator allocator = {&left, run_out};
    used = 0;
    status = tsl_schema_lint(text, strlen(text), &options, &allocator, note, keep, NULL, NULL);
    CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
  }
  CHECK(status == TSL_OK && n > 10);
}

int main(void) {
  RUN(rules, "each rule: what it finds, mends and leaves");
  RUN(covered, "every rule has cases");
  RUN(calls, "options and errors");
  RUN(hostile, "large and odd texts");
  RUN(sizes, "a key with NUL: memory is given back with its size");
  RUN(faults, "each allocation fails once");
  return tsl_test_end();
}
