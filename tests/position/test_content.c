/* test_content.c - which bytes are content: a table of grammars and texts, and what must hold of
 * every position that random texts come to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/matcher.h"
#include "runtime/position/content.h"
#include "tests/support/byte_vocab.h"
#include "tests/support/nth_token.h"

static tsl_grammar *compiled(tsl_source_kind kind, const char *text) {
  tsl_schema_options compact = {.whitespace = TSL_WS_COMPACT};
  tsl_source source = {.kind = kind, .text = text, .length = strlen(text), .schema = &compact};
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_status status = tsl_grammar_compile(vocab, &source, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", text, error.message);
  return g;
}

static tsl_matcher *matcher_at(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (const char *c = text; m && *c; c++)
    CHECKF(tsl_matcher_accept(m, (unsigned char)*c) == TSL_OK, "%s at %s", text, c);
  return m;
}

static tsl__bytes content_of(tsl_matcher *m) {
  tsl__bytes out;
  tsl__space *space = tsl__grammar_lock(m->grammar);
  bool ok = tsl__stack_content(space, m->at, &out);
  CHECK(tsl__grammar_unlock(m->grammar) == TSL_OK && ok);
  return out;
}

/* `yes`: bytes that are content after the text; `no`: bytes that are not. */
static const struct row {
  tsl_source_kind kind;
  const char *grammar, *text, *yes, *no;
} rows[] = {
    /* values and what holds them together */
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "[\"",
     "az09 \\.,\xc3\xe0\xf0", "\""},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "[\"a\"", "",
     ",]"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[1",
     "0123456789", ",]"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[",
     "0123456789", "]-"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"integer\",\"minimum\":18,\"maximum\":120}", "",
     "123456789", ""},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"array\",\"items\":{\"type\":\"number\"}}", "[1.", "059",
     ""},
    /* bounds and patterns count */
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"string\",\"minLength\":5,\"maxLength\":9}", "\"ab",
     "az09\\\xc3", "\""},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"string\",\"pattern\":\"^[A-Z]{3}-\\\\d{4}$\"}", "\"AB",
     "AZ", "-\""},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"string\",\"pattern\":\"^[A-Z]{3}-\\\\d{4}$\"}", "\"ABC",
     "", "-"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"string\",\"pattern\":\"^[A-Z]{3}-\\\\d{4}$\"}", "\"ABC-",
     "09", "-"},
    /* words of a list are chosen, not written */
    {TSL_SOURCE_JSON_SCHEMA, "{\"enum\":[\"red\",\"green\",\"blue\"]}", "\"", "", "rgb"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"enum\":[\"A\",\"B\",\"C\",\"D\"]}", "\"", "", "ABCD"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"boolean\"}", "", "", "tf"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"integer\",\"minimum\":1,\"maximum\":5}", "", "", "12345"},
    /* names, those that nothing lists too */
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"properties\":{\"name\":{\"type\":\"string\"}},\"type\":\"object\","
     "\"required\":[\"name\"],\"additionalProperties\":false}",
     "{\"na", "", "m"},
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}", "{\"", "", "naz\""},
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}", "{\"na", "", "mx\""},
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}", "{\"name\":\"", "az",
     "\""},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
     "{\"k\":\"v\",\"k", "", "az\""},
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"type\":\"object\",\"patternProperties\":{\"^x-[a-z]{5}$\":{\"type\":\"string\"}},"
     "\"additionalProperties\":false}",
     "{\"x-ab", "", "cz"},
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"type\":\"object\",\"patternProperties\":{\"^x-[a-z]{5}$\":{\"type\":\"string\"}},"
     "\"additionalProperties\":false}",
     "{\"x-abcde\":\"", "az", "\""},
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"type\":\"object\",\"propertyNames\":{\"minLength\":30},\"additionalProperties\":"
     "{\"type\":\"string\"}}",
     "{\"ab", "", "cz"},
    /* items that must differ are judged as others */
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\"}}", "[\"ab\",\"a",
     "abz09", "\""},
    /* any value */
    {TSL_SOURCE_JSON_SCHEMA, "true", "{\"a\":[\"", "az", "\""},
    {TSL_SOURCE_JSON_SCHEMA, "true", "{\"a", "", "az\""},
    /* other notations */
    {TSL_SOURCE_GBNF,
     "root ::= \"{\" pair (\",\" pair)* \"}\"\npair ::= text \":\" \" \"? text\n"
     "text ::= \"\\\"\" [^\"\\\\]* \"\\\"\"\n",
     "{\"k", "", "az\""},
    {TSL_SOURCE_GBNF,
     "root ::= \"{\" pair (\",\" pair)* \"}\"\npair ::= text \":\" \" \"? text\n"
     "text ::= \"\\\"\" [^\"\\\\]* \"\\\"\"\n",
     "{\"k\":\"", "az", "\""},
    {TSL_SOURCE_REGEX, "SELECT [a-z_]+ FROM [a-z_]+", "", "", "S"},
    {TSL_SOURCE_REGEX, "SELECT [a-z_]+ FROM [a-z_]+", "SELECT a", "az_", " "},
    {TSL_SOURCE_REGEX, "(yes|no|maybe)(,(yes|no|maybe))*", "yes,", "", "ynm"},
    {TSL_SOURCE_REGEX, "(.|\\n)*", "a \"b", "az \"\n:", ""},
    {TSL_SOURCE_REGEX, "([01]\\d|2[0-3]):[0-5]\\d", "1", "0159", ""},
};

static void bytes_of_a_table(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct row *r = &rows[i];
    tsl_grammar *g = compiled(r->kind, r->grammar);
    tsl_matcher *m = matcher_at(g, r->text);
    tsl__bytes got = content_of(m);
    for (const char *c = r->yes; *c; c++)
      CHECKF(tsl__bytes_has(&got, (unsigned char)*c), "%s after %s: %02x is content", r->grammar,
             r->text, (unsigned char)*c);
    for (const char *c = r->no; *c; c++)
      CHECKF(!tsl__bytes_has(&got, (unsigned char)*c), "%s after %s: %02x is structure", r->grammar,
             r->text, (unsigned char)*c);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* Along random texts: what is content may come, the answer does not change, and looking changes
 * neither the mask nor where tokens lead. */
static void along_random_texts(void) {
  uint64_t state = 3;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_grammar *g = compiled(rows[i].kind, rows[i].grammar),
                *other = compiled(rows[i].kind, rows[i].grammar);
    tsl_matcher *m = matcher_at(g, ""), *twin = matcher_at(other, "");
    for (int n = 0; n < 120; n++) {
      uint32_t mask[8], same[8];
      tsl__bytes got = content_of(m), again = content_of(m);
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_matcher_mask(twin, same) == TSL_OK);
      CHECK(!memcmp(mask, same, sizeof mask) && tsl__bytes_equal(&got, &again));
      unsigned left = 0;
      for (unsigned b = 0; b < 256; b++) {
        left += tsl_mask_has(mask, b);
        /* a name or an item that was there may not come again, which this does not look at */
        if (tsl__bytes_has(&got, b) && !strstr(rows[i].grammar, "unique"))
          CHECKF(tsl_mask_has(mask, b), "%s: %02x is content and may not come", rows[i].grammar, b);
      }
      if (!left) break;
      tsl_token token = nth_token(mask, tsl_test_random(&state) % left);
      CHECK(tsl_matcher_accept(m, token) == TSL_OK && tsl_matcher_accept(twin, token) == TSL_OK);
    }
    tsl_matcher_free(m);
    tsl_matcher_free(twin);
    tsl_grammar_release(g);
    tsl_grammar_release(other);
  }
}

int main(void) {
  make_vocab();
  RUN(bytes_of_a_table, "content and structure in a table of texts");
  RUN(along_random_texts, "content along random texts");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
