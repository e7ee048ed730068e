/* test_tags_errors.c - structural tags that are wrong: status, message and pointer; options that
 * are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/failing.h"
#include "tests/judges/oracle.h"
#include "tests/support/refusals.h"
#include "tests/support/tags_json.h"
#include "tests/support/toy.h"

static tsl_vocab *vocab;

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct {
  const char *json;
  tsl_status status;
  const char *message, *pointer;
} errors[] = {
    {"{", TSL_ERR_SYNTAX, "", ""},
    {"[]", TSL_ERR_SCHEMA, "a format is an object", ""},
    {"{\"type\":\"structural_tag\"}", TSL_ERR_SCHEMA, "\"format\" is missing", ""},
    {"{\"type\":\"structural_tag\",\"format\":{\"type\":\"nonsense\"}}", TSL_ERR_SCHEMA,
     "there is no format \"nonsense\"", "/format/type"},
    {"{\"type\":\"const_string\"}", TSL_ERR_SCHEMA, "\"value\" is missing", ""},
    {"{\"type\":\"any_text\",\"exclude\":[]}", TSL_ERR_SCHEMA, "no member \"exclude\"", "/exclude"},
    {"{\"type\":\"any_text\",\"max_chars\":2147483648}", TSL_ERR_SCHEMA, "from 0 to 2147483647",
     "/max_chars"},
    {"{\"type\":\"any_text\",\"max_chars\":-1}", TSL_ERR_SCHEMA, "max_chars", "/max_chars"},
    {"{\"type\":\"repeat\",\"min\":3,\"max\":2,\"content\":" ANY "}", TSL_ERR_SCHEMA, "greater",
     ""},
    {"{\"type\":\"sequence\",\"elements\":[]}", TSL_ERR_SCHEMA, "not empty", "/elements"},
    {"{\"type\":\"regex\",\"pattern\":\"(\"}", TSL_ERR_SYNTAX, "in the pattern", ""},
    {"{\"type\":\"grammar\",\"grammar\":\"x ::= y\"}", TSL_ERR_SYNTAX, "in the grammar", ""},
    {"{\"type\":\"grammar\",\"grammar\":\"root ::= [a]\",\"after\":\"ab\"}", TSL_ERR_EMPTY,
     "begins with \"ab\"", ""},
    {"{\"type\":\"grammar\",\"grammar\":\"root ::= [a]\",\"after\":1}", TSL_ERR_SCHEMA, "\"after\"",
     "/after"},
    {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"json_schema\",\"json_schema\":{\"type\":"
     "\"strin\"}}]}",
     TSL_ERR_SCHEMA, "", "/elements/0/json_schema/type"},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"string\"},\"style\":\"qwen_xml\"}",
     TSL_ERR_UNSUPPORTED, "objects", "/json_schema"},
    {"{\"type\":\"json_schema\",\"json_schema\":{},\"style\":\"unknown\"}", TSL_ERR_UNSUPPORTED,
     "style", ""},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"object\",\"required\":[\"a>\"]},"
     "\"style\":\"qwen_xml\"}",
     TSL_ERR_UNSUPPORTED, "cannot be written", "/json_schema"},
    {NESTED(CLOSED("\"a\":{\"type\":\"array\",\"uniqueItems\":true}", "")), TSL_ERR_UNSUPPORTED,
     "uniqueItems in the style", "/json_schema/properties/a"},
#define UNIQUE "{\"type\":\"array\",\"uniqueItems\":true}"
#define IN_TAGS(schema)                                                                           \
  "{\"type\":\"json_schema\",\"style\":\"qwen_xml\",\"json_schema\":{\"type\":\"object\"," schema \
  "}}"
    {NESTED("{\"type\":\"object\",\"additionalProperties\":" UNIQUE "}"), TSL_ERR_UNSUPPORTED,
     "uniqueItems in the style", "/json_schema/additionalProperties"},
    {NESTED("{\"type\":\"object\",\"patternProperties\":{\".*\":" UNIQUE "}}"), TSL_ERR_UNSUPPORTED,
     "uniqueItems in the style", "/json_schema/patternProperties/.*"},
    {NESTED("{\"type\":\"object\",\"unevaluatedProperties\":" UNIQUE "}"), TSL_ERR_UNSUPPORTED,
     "uniqueItems in the style", "/json_schema/unevaluatedProperties"},
    {NESTED(CLOSED("\"a\":{\"type\":\"object\",\"additionalProperties\":" UNIQUE "}", "")),
     TSL_ERR_UNSUPPORTED, "uniqueItems in the style",
     "/json_schema/properties/a/additionalProperties"},
    {NESTED("{\"type\":\"object\",\"if\":{\"required\":[\"a\"]},\"then\":{\"properties\":{"
            "\"b\":" UNIQUE "}}}"),
     TSL_ERR_UNSUPPORTED, "uniqueItems in the style", "/json_schema/then/properties/b"},
    {IN_TAGS("\"properties\":{\"t\":{\"uniqueItems\":true}}"), TSL_ERR_UNSUPPORTED,
     "may be a string as well", "/json_schema/properties/t"},
    {IN_TAGS("\"properties\":{\"t\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\","
             "\"properties\":{\"x\":" UNIQUE "}}]}}"),
     TSL_ERR_UNSUPPORTED, "may be a string as well",
     "/json_schema/properties/t/anyOf/1/properties/x"},
    {IN_TAGS("\"additionalProperties\":{\"uniqueItems\":true}"), TSL_ERR_UNSUPPORTED,
     "may be a string as well", "/json_schema/additionalProperties"},
    {IN_TAGS("\"properties\":{\"t\":{}},\"if\":{\"required\":[\"a\"]},\"then\":{\"properties\":{"
             "\"t\":{\"uniqueItems\":true}}}"),
     TSL_ERR_UNSUPPORTED, "may be a string as well", "/json_schema/then/properties/t"},
    {IN_TAGS("\"properties\":{\"t\":{\"type\":[\"string\",\"array\"]},\"u\":{}},\"anyOf\":[{"
             "\"required\":[\"t\"],\"properties\":{\"t\":{\"uniqueItems\":true}}},{\"required\":["
             "\"u\"]}]"),
     TSL_ERR_UNSUPPORTED, "may be a string as well", "/json_schema/properties/t"},
    {IN_TAGS("\"properties\":{\"t\":{\"type\":[\"string\",\"array\"]}},\"not\":{\"properties\":{"
             "\"t\":{\"not\":{\"uniqueItems\":true}},\"u\":{}}}"),
     TSL_ERR_UNSUPPORTED, "may be a string as well", "/json_schema/properties/t"},
    {IN_TAGS("\"additionalProperties\":{\"type\":[\"string\",\"array\"]},\"not\":{"
             "\"additionalProperties\":{\"not\":{\"uniqueItems\":true}}}"),
     TSL_ERR_UNSUPPORTED, "may be a string as well", "/json_schema/additionalProperties"},
    {NESTED(CLOSED("\"a\":{\"const\":\"]<]minimax[>[\"}", "\"a\"")), TSL_ERR_EMPTY, "no value",
     "/json_schema/properties/a/const"},
    {NESTED(CLOSED("\"a\":{\"type\":\"object\",\"properties\":{\"/b\":{\"type\":\"null\"}}}", "")),
     TSL_ERR_UNSUPPORTED, "\"/b\" cannot be written", "/json_schema"},
    {NESTED(CLOSED("\" \":{\"type\":\"null\"}", "")), TSL_ERR_UNSUPPORTED,
     "\" \" cannot be written", "/json_schema"},
    {NESTED(CLOSED("\"a>\":{\"type\":\"null\"}", "")), TSL_ERR_UNSUPPORTED,
     "\"a>\" cannot be written", "/json_schema"},
    {NESTED("{\"type\":\"array\"}"), TSL_ERR_UNSUPPORTED, "objects", "/json_schema"},
    {"{\"type\":\"json_schema\",\"json_schema\":{\"not\":{\"uniqueItems\":true},\"maxItems\":2}}",
     TSL_ERR_UNSUPPORTED, "uniqueItems", "/json_schema/not/uniqueItems"},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<x\"],\"tags\":[" TAG("<f>", ANY, "e") "]}",
     TSL_ERR_SCHEMA, "no tag begins", ""},
    {"{\"type\":\"triggered_tags\",\"triggers\":[\"<\",\"<f\"],\"tags\":[" TAG("<f>", ANY,
                                                                               "e") "]}",
     TSL_ERR_SCHEMA, "exactly one trigger", "/tags/0"},
    {"{\"type\":\"token\",\"token\":99999999}", TSL_ERR_SCHEMA, "there is no token", "/token"},
    {"{\"type\":\"token\",\"token\":\"no such token at all\"}", TSL_ERR_SCHEMA, "has no token",
     "/token"},
    {"{\"type\":\"any_text\",\"as\":\"prose\"}", TSL_ERR_SCHEMA, "\"as\" is", "/as"},
};

static tsl_status compile(const char *text, size_t length, tsl_grammar **out, tsl_error *error) {
  return tsl_grammar_tags(vocab, text, length, NULL, NULL, out, error);
}

/* A member of each format that is missing, or of another type. */
static void members_are_checked(void) { refusal_table(compile, "tests/cases/tags/errors.txt", 90); }

static void errors_are_precise(void) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    tsl_status status =
        tsl_grammar_tags(vocab, errors[i].json, strlen(errors[i].json), NULL, NULL, &g, &e);
    CHECKF(status == errors[i].status && e.status == status && !g, "%s: %s %s", errors[i].json,
           tsl_status_name(status), e.message);
    CHECKF(strstr(e.message, errors[i].message) != NULL, "%s: %s", errors[i].json, e.message);
    CHECKF(!strcmp(e.pointer, errors[i].pointer), "%s: pointer %s", errors[i].json, e.pointer);
    tsl_grammar_release(g);
  }
  static const tsl_schema_options options[] = {{.order = (tsl_order)2},
                                               {.whitespace = (tsl_whitespace)5},
                                               {.spelling = (tsl_spelling)2},
                                               {.draft = (tsl_draft)5},
                                               {.draft = (tsl_draft)2018}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    CHECK(tsl_grammar_tags(vocab, "{\"type\":\"any_text\"}", 19, &options[i], NULL, &g, &e) ==
              TSL_ERR_ARGUMENT &&
          e.status == TSL_ERR_ARGUMENT && !g);
    CHECK(tsl_grammar_json_schema(vocab, "{}", 2, &options[i], NULL, &g, &e) == TSL_ERR_ARGUMENT &&
          e.status == TSL_ERR_ARGUMENT && !g);
  }
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_tools(vocab, "[]", 2,
                          &(tsl_tools_options){.preset = "qwen3", .thinking = (tsl_thinking)3},
                          NULL, &g, NULL) == TSL_ERR_ARGUMENT &&
        !g);
}

/* ---- options --------------------------------------------------------------------------------- */

/* Are the tables of one grammar used for another with these options? */
static bool shares(const tsl_schema_options *first, const tsl_schema_options *second,
                   bool *repeats) {
  static const char json[] = "{\"type\": \"json_schema\", \"json_schema\": {\"type\": \"object\"}}";
  tsl_grammar *g = NULL, *h = NULL;
  CHECK(tsl_grammar_tags(vocab, json, sizeof json - 1, first, NULL, &g, NULL) == TSL_OK &&
        tsl_grammar_tags_over(g, json, sizeof json - 1, second, NULL, &h, NULL) == TSL_OK);
  bool same = g && h && g->space == h->space;
  *repeats = h && accepts(h, "{\"a\":1,\"a\":2}");
  tsl_grammar_release(g);
  tsl_grammar_release(h);
  return same;
}

/* Only grammars with the same options share; what they are compared with is a copy. */
static void options_are_kept(void) {
  const tsl_schema_options plain = {0}, repeated = {.repeated_names = true},
                           based = {.base_uri = "http://a/b"},
                           elsewhere = {.base_uri = "http://a/c"};
  bool repeats;
  CHECK(shares(&repeated, &repeated, &repeats) && repeats);
  CHECK(!shares(&repeated, &plain, &repeats) && !repeats);
  CHECK(!shares(&plain, &repeated, &repeats) && repeats);
  CHECK(!shares(&based, &elsewhere, &repeats) && !shares(&based, NULL, &repeats) &&
        !shares(NULL, &based, &repeats));
  static const char json[] = "{\"type\": \"json_schema\", \"json_schema\": {\"type\": \"array\"}}";
  char *base = malloc(11);
  tsl_grammar *g = NULL, *h = NULL;
  memcpy(base, "http://a/b", 11);
  CHECK(tsl_grammar_tags(vocab, json, sizeof json - 1, &(tsl_schema_options){.base_uri = base},
                         NULL, &g, NULL) == TSL_OK);
  memset(base, 'x', 10);
  free(base); /* the caller's */
  CHECK(tsl_grammar_tags_over(g, json, sizeof json - 1, &based, NULL, &h, NULL) == TSL_OK &&
        g->space == h->space);
  tsl_grammar_release(g);
  tsl_grammar_release(h);
}

/* Where a length is 0, NULL will do. */
static void nothing_given(void) {
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  tsl_error e = {0};
  CHECK(tsl_grammar_tags(vocab, NULL, 0, NULL, NULL, &g, &e) == TSL_ERR_SYNTAX && !g);
  CHECK(tsl_grammar_tags(vocab, "{\"type\":\"any_tokens\"}", 21, NULL, NULL, &g, &e) == TSL_OK);
  CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK && tsl_parser_text(p, NULL, 0) == TSL_OK &&
        tsl_parser_finish(p) == TSL_OK);
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(errors_are_precise, "status, message, pointer");
  RUN(members_are_checked, "each member of each format: missing, or of another type");
  RUN(options_are_kept, "and decide what is shared");
  RUN(nothing_given, "NULL of length 0");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
