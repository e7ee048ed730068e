/* test_schema_report.c - schemas: memory that runs out, long chains, large unions, reports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"
#include "compiler/schema/keywords.h"
#include "tests/support/byte_vocab.h"
#include "tests/support/folder.h"
#include "tests/support/text.h"
#include "turnstile.h"

/* ---- memory that runs out, and reports ------------------------------------------------------- */

struct budget {
  long left;
  long held; /* blocks */
};

static void *counted(void *ctx, void *block, size_t old_size, size_t new_size) {
  struct budget *b = ctx;
  (void)old_size;
  if (!new_size) {
    b->held -= block != NULL;
    free(block);
    return NULL;
  }
  if (b->left-- <= 0) return NULL;
  void *p = realloc(block, new_size);
  if (p && !block) b->held++;
  return p;
}

static void test_out_of_memory(void) {
  static const char schema[] =
      "{\"$defs\":{\"n\":{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"integer\","
      "\"minimum\":3},\"next\":{\"$ref\":\"#/$defs/n\"}},"
      "\"required\":[\"v\"]}},\"oneOf\":[{\"$ref\":\"#/$defs/"
      "n\"},{\"enum\":[1,\"a\",{\"v\":2,\"w\":[1,2]}]},{\"type\":\"array\",\"contains\":{\"const\":"
      "1},"
      "\"maxContains\":2}],\"not\":{\"required\":[\"x\"]},\"patternProperties\":{\"^p\":{"
      "\"pattern\":\"^a+$\",\"minLength\":2}}}";
  struct budget b = {1000000, 0};
  tsl_allocator a = {&b, counted};
  uint8_t bytes[2] = {'{', '}'};
  uint32_t offsets[3] = {0, 1, 2};
  tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 2};
  tsl_vocab *v;
  tsl_grammar *g;
  tsl_error error;
  CHECK(tsl_vocab_new(&desc, &a, &v, &error) == TSL_OK);
  CHECK(tsl_grammar_json_schema(v, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK);
  tsl_grammar_release(g);
  long held = b.held, failures = 0;
  for (long n = 0;; n++) {
    b.left = n;
    tsl_status status = tsl_grammar_json_schema(v, schema, strlen(schema), NULL, NULL, &g, &error);
    if (status == TSL_OK) break;
    failures++;
    CHECKF(status == TSL_ERR_NO_MEMORY && !g && error.status == status, "allocation %ld: %s, %s", n,
           tsl_status_name(status), error.message);
    CHECKF(b.held == held, "allocation %ld: %ld blocks leaked", n, b.held - held);
  }
  const char *report = NULL;
  for (long n = 0; !report; n++) { /* made when it is requested */
    b.left = n;
    report = tsl_grammar_report(g);
    CHECK(report || n < 100);
  }
  CHECK(report[0] == '[' && strstr(report, "maxContains") && tsl_grammar_report(g) == report);
  tsl_grammar_release(g);
  CHECKF(failures > 10, "%ld allocations failed", failures);
  b.left = 1000000;
  tsl_vocab_release(v);
  CHECK(b.held == 0);
}

/* Chains of `n` definitions, each made by `format` from its number and the next one's. */
static tsl_status compile_chain(const char *format, unsigned n, tsl_error *error) {
  struct text t = {0};
  char piece[200];
  tsl_grammar *g;
  text_put(&t, "{\"$ref\":\"#/$defs/0\",\"$defs\":{",
           strlen("{\"$ref\":\"#/$defs/0\",\"$defs\":{"));
  for (unsigned i = 0; i < n; i++)
    text_put(&t, piece, (size_t)snprintf(piece, sizeof piece, format, i, i + 1));
  text_put(&t, piece, (size_t)snprintf(piece, sizeof piece, "\"%u\":{\"type\":\"null\"}}}", n));
  tsl_status status = tsl_grammar_json_schema(vocab, t.at, t.n, NULL, NULL, &g, error);
  if (g) tsl_grammar_release(g);
  free(t.at);
  return status;
}

static void test_chains(void) {
  static const char *const formats[] = {
      "\"%u\":{\"$ref\":\"#/$defs/%u\"},",
      "\"%u\":{\"allOf\":[{\"$ref\":\"#/$defs/%u\"}]},",
      "\"%u\":{\"not\":{\"not\":{\"$ref\":\"#/$defs/%u\"}},\"title\":\"\"},",
      "\"%u\":{\"anyOf\":[{\"$ref\":\"#/$defs/%u\"},false]},",
      "\"%u\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/"
      "%u\"}},\"required\":[\"a\"]},",
      "\"%u\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/%u\"},\"minItems\":1},",
  };
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    tsl_error error = {0};
    tsl_status status = compile_chain(formats[i], 120, &error);
    CHECKF(status == TSL_OK, "%s 120 times: %s, %s", formats[i], tsl_status_name(status),
           error.message);
    status = compile_chain(formats[i], 20000, &error);
    CHECKF(status == TSL_OK || (status == TSL_ERR_LIMIT && error.message[0]),
           "%s 20000 times: %s, %s", formats[i], tsl_status_name(status), error.message);
  }
}

/* What generators write for a union whose tag comes last. Each of 60 objects says in its own place
 * what "value" may be, between `before` and `after`. It is one goal, or each of the 60 would be
 * followed with each of the 60 within it. */
static void check_union(const char *before, const char *after, const char *text) {
  struct text schema = {0};
  tsl_limits limits = {.max_memory = 4u << 20};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {0};
  size_t accepted = 0;
  text_add(&schema, "{\"$ref\":\"#/$defs/U\",\"$defs\":{\"U\":{\"oneOf\":[");
  for (unsigned i = 0; i < 60; i++) {
    text_add(&schema, i ? ",{\"type\":\"object\",\"properties\":{\"value\":"
                        : "{\"type\":\"object\",\"properties\":{\"value\":");
    text_add(&schema, before);
    text_add(&schema,
             "{\"anyOf\":[{\"$ref\":\"#/$defs/U\"},{\"type\":\"null\"}],\"default\":null}");
    text_add(&schema, after);
    text_add(&schema, ",\"kind\":{\"const\":\"k");
    text_add_number(&schema, i);
    text_add(&schema, "\"}},\"required\":[\"kind\"],\"additionalProperties\":false}");
  }
  text_add(&schema, "]}}}");
  CHECKF(tsl_grammar_json_schema(vocab, schema.at, schema.n, NULL, &limits, &g, &error) == TSL_OK,
         "%s", error.message);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  if (m) {
    CHECKF(tsl_matcher_accept_bytes(m, text, strlen(text), &accepted) == TSL_OK, "%s: %zu bytes",
           text, accepted);
    CHECK(tsl_matcher_is_complete(m));
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  text_free(&schema);
}

static void test_unions(void) {
  check_union(
      "", "",
      "{\"value\":{\"value\":{\"value\":null,\"kind\":\"k7\"},\"kind\":\"k0\"},\"kind\":\"k59\"}");
  check_union("{\"type\":\"array\",\"items\":", "}",
              "{\"value\":[{\"value\":[null,{\"kind\":\"k1\"}],\"kind\":\"k7\"}],\"kind\":\"k3\"}");
  check_union("{\"type\":\"object\",\"additionalProperties\":", "}",
              "{\"value\":{\"a\":{\"value\":{\"b\":null},\"kind\":\"k7\"}},\"kind\":\"k3\"}");
}

static void test_report(void) {
  static const char schema[] =
      "{\"type\":\"object\",\"properties\":{\"a/"
      "b\":{\"type\":\"string\",\"format\":\"no-such-format\",\"title\":\"T\"}},\"divisibleBy\":2}";
  static const char *const wanted[] = {
      "{\"pointer\":\"/type\",\"keyword\":\"type\",\"status\":\"enforced\",\"reason\":\"\"}",
      "{\"pointer\":\"/properties/a~1b/format\",\"keyword\":\"format\",\"status\":\"no "
      "effect\",\"reason\":\"unknown format\"}",
      "{\"pointer\":\"/divisibleBy\",\"keyword\":\"divisibleBy\",\"status\":\"no "
      "effect\",\"reason\":\"no keyword of this draft\"}",
  };
  tsl_grammar *g;
  tsl__arena arena;
  tsl__json *list;
  CHECK(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, NULL) == TSL_OK);
  if (!g) return;
  const char *report = tsl_grammar_report(g);
  tsl__arena_init(&arena, &tsl__malloc);
  CHECK(tsl__json_parse(&arena, NULL, report, strlen(report), 100, &list, NULL) == TSL_OK);
  CHECK(list && list->length == 5);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    CHECKF(strstr(report, wanted[i]) != NULL, "%s in %s", wanted[i], report);
  CHECK(!strstr(report, "title"));
  tsl__arena_free(&arena);
  tsl_grammar_release(g);
}

/* The reason for each `nullable`, with the option. */
static void test_report_of_nullable(void) {
  static const char schema[] = "{\"type\":\"object\",\"nullable\":true,\"properties\":{\"a\":{"
                               "\"nullable\":true},\"b\":{\"type\":\"null\",\"nullable\":false}}}";
  static const char *const wanted[] = {
      "{\"pointer\":\"/"
      "nullable\",\"keyword\":\"nullable\",\"status\":\"enforced\",\"reason\":\"\"}",
      "{\"pointer\":\"/properties/a/nullable\",\"keyword\":\"nullable\",\"status\":\"no "
      "effect\",\"reason\":\"no type beside it\"}",
      "{\"pointer\":\"/properties/b/nullable\",\"keyword\":\"nullable\",\"status\":\"no "
      "effect\",\"reason\":\"false asks for nothing\"}",
  };
  tsl_schema_options o = {.nullable = true};
  tsl_grammar *g;
  CHECK(tsl_grammar_json_schema(vocab, schema, strlen(schema), &o, NULL, &g, NULL) == TSL_OK);
  if (!g) return;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    CHECKF(strstr(tsl_grammar_report(g), wanted[i]) != NULL, "%s in %s", wanted[i],
           tsl_grammar_report(g));
  tsl_grammar_release(g);
}

/* A metaschema that leaves a vocabulary out. */
static bool without_validation(void *ctx, const char *uri, const char **text, size_t *length) {
  static const char meta[] =
      "{\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab/core\":true,\"https://"
      "json-schema.org/draft/2020-12/vocab/applicator\":true}}";
  (void)ctx;
  *text = meta;
  *length = sizeof meta - 1;
  return !strcmp(uri, "http://m/a");
}

static void test_report_of_vocabularies(void) {
  static const char schema[] = "{\"$schema\":\"http://m/"
                               "a\",\"properties\":{\"a\":{\"$id\":\"b\",\"minimum\":1,\"format\":"
                               "\"date\",\"unevaluatedItems\":false}}}";
  static const struct {
    const char *keyword, *status;
  } wanted[] = {
      {"minimum", "no effect\",\"reason\":\"not in the vocabularies of this metaschema"},
      {"unevaluatedItems", "no effect\",\"reason\":\"not in the vocabularies of this metaschema"},
      {"format", "enforced\",\"reason\":\""},
      {"properties", "enforced\",\"reason\":\""},
  };
  tsl_schema_options o = {.resolver = without_validation};
  tsl_grammar *g;
  CHECK(tsl_grammar_json_schema(vocab, schema, strlen(schema), &o, NULL, &g, NULL) == TSL_OK);
  if (!g) return;
  const char *report = tsl_grammar_report(g);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    char line[200];
    snprintf(line, sizeof line, "\"keyword\":\"%s\",\"status\":\"%s\"", wanted[i].keyword,
             wanted[i].status);
    CHECKF(strstr(report, line) != NULL, "%s in %s", line, report);
  }
  tsl_grammar_release(g);
}

/* ---- who is to blame ------------------------------------------------------------------------- */

/* The schema has no grammar, and the error says so with these words, at this place. */
static void blamed(const char *schema, const char *pointer, const char *words) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error);
  CHECKF(status != TSL_OK && !strcmp(error.pointer, pointer) && strstr(error.message, words),
         "%s: at %s: %s", schema, error.pointer, error.message);
  tsl_grammar_release(g);
}

#define CLOSED(names, required)                                               \
  "{\"type\":\"object\",\"properties\":{" names "},\"required\":[\"" required \
  "\"],\"additionalProperties\":false}"

static void test_blame(void) {
  static const char endless[] = "without end";
  blamed(CLOSED("\"first_name\":{},\"last_name\":{}", "lastname"), "/required/0",
         "\"lastname\" is required, but additional properties are not allowed: is \"last_name\"");
  blamed(CLOSED("\"colour\":{}", "color"), "/required/0", "is \"colour\" meant?");
  blamed(CLOSED("\"userId\":{},\"usage\":{}", "user_id"), "/required/0", "is \"userId\" meant?");
  blamed(CLOSED("\"a\":{}", "zzzz"), "/required/0", "\"zzzz\" is required");
  blamed("{\"properties\":{\"u\":" CLOSED("\"abcd\":{}", "abdc") "},\"required\":[\"u\"],"
                                                                 "\"type\":\"object\"}",
         "/properties/u/required/0", "is \"abcd\" meant?");
  blamed("{\"items\":" CLOSED("\"name\":{}", "nmae") ",\"minItems\":1,\"type\":\"array\"}",
         "/items/required/0", "is \"name\" meant?");
  blamed("{\"allOf\":[" CLOSED("\"a\":{}", "a") "," CLOSED("\"b\":{}", "b") "]}", "/allOf",
         "unevaluatedProperties beside allOf");
  blamed("{\"$defs\":{\"A\":" CLOSED(
             "\"a\":{}", "a") "},\"allOf\":[{\"$ref\":\"#/$defs/A\"}," CLOSED("\"b\":{}", "b") "]}",
         "/allOf", "is required, but subschema");
  blamed("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}",
         "/properties/a", endless);
  blamed("{\"type\":\"array\",\"items\":{\"$ref\":\"#\"},\"minItems\":1}", "/items", endless);
}

static void test_references(void) {
  static const char meant[] = "is \"#/$defs/F\" meant?";
  blamed("{\"$ref\":\"/$defs/F\",\"$defs\":{\"F\":{}}}", "/$ref", meant);
  blamed("{\"$ref\":\"#/definitions/F\",\"$defs\":{\"F\":{}}}", "/$ref", meant);
  blamed("{\"$ref\":\"#/def/F\",\"$defs\":{\"F\":{}}}", "/$ref", meant);
  blamed("{\"$ref\":\"#F\",\"$defs\":{\"F\":{}}}", "/$ref", meant);
  blamed("{\"$ref\":\"F\",\"$defs\":{\"F\":{}}}", "/$ref", meant);
  blamed("{\"$ref\":\"#/$defs/F\",\"definitions\":{\"F\":{}}}", "/$ref",
         "is \"#/definitions/F\" meant?");
  blamed("{\"$ref\":\"$defs/F\",\"$defs\":{\"F\":{}}}", "/$ref", meant);
  blamed("{\"$ref\":\"#/$defs/f\",\"$defs\":{\"F\":{}}}", "/$ref", meant);
  blamed("{\"$ref\":\"#/$defs/adress\",\"$defs\":{\"b\":{},\"Address\":{}}}", "/$ref",
         "is \"#/$defs/Address\" meant?");
  blamed("{\"$ref\":\"#/$defs/a/b\",\"$defs\":{\"a/b\":{}}}", "/$ref",
         "is \"#/$defs/a~1b\" meant?");
  blamed("{\"$ref\":\"#/$defs/Group\",\"$defs\":{\"F\":{}}}", "/$ref",
         "\"#/$defs/Group\" leads nowhere");
}

/* The report warns with these words; NULL: it does not warn. */
static void warned(const char *schema, const char *words) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK,
         "%s: %s", schema, error.message);
  const char *report = g ? tsl_grammar_report(g) : "";
  CHECKF(words ? strstr(report, words) && strstr(report, "\"warning\":true")
               : !strstr(report, "\"warning\""),
         "%s: %s", schema, report);
  tsl_grammar_release(g);
}

/* Names that are too long to be shown: no message and no report ends one within a character. */
static void test_long_names(void) {
  static const char last[] = "\xC3\xA9\xC3\xA9\xC3\xA9";
  for (size_t n = 90; n < 104; n++) {
    char name[200], schema[2000];
    uint32_t cp;
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    memset(name, 'a', n);
    memcpy(name + n, last, sizeof last);
    snprintf(schema, sizeof schema,
             "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"object\",\"required\":[\"%s\"],"
             "\"properties\":{\"%sb\":{}},\"additionalProperties\":false}]}",
             name, name);
    CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &e) == TSL_OK,
           "%s", e.message);
    const char *report = g ? tsl_grammar_report(g) : "";
    CHECKF(strstr(report, "is required, but"), "%s", report);
    for (unsigned m; *report; report += m) {
      m = tsl__utf8_decode((const uint8_t *)report, strlen(report), &cp);
      CHECKF(m, "%s", report);
      if (!m) break;
    }
    tsl_grammar_release(g);
  }
}

static void test_warnings(void) {
#define INNER "{\"type\":\"object\",\"properties\":{\"x\":{}}}"
  warned("{\"name\":\"f\",\"inputSchema\":" INNER "}", "what \\\"inputSchema\\\" holds");
  warned("{\"name\":\"f\",\"input_schema\":" INNER "}", "what \\\"input_schema\\\" holds");
  warned("{\"name\":\"f\",\"parameters\":" INNER "}", "what \\\"parameters\\\" holds");
  warned("{\"name\":\"f\",\"strict\":true,\"schema\":" INNER "}", "what \\\"schema\\\" holds");
  warned("{\"json_schema\":{\"name\":\"f\",\"schema\":" INNER "}}",
         "seems to be at /json_schema/schema");
  warned("{\"name\":\"f\",\"schema\":{\"enum\":[1],\"description\":\"d\"}}",
         "seems to be at /schema");
  warned("{\"propertes\":{}}", "is properties meant?");
  warned("{\"properties\":{\"a\":{\"maxlength\":3}}}", "is maxLength meant?");
  warned("{\"properties\":{\"u\":" CLOSED("\"last_name\":{}", "lastname") "}}",
         "is \\\"last_name\\\" meant?");
#define NEWER "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
  warned(NEWER "\"dependencies\":{\"a\":[\"b\"]}}", "a keyword of earlier drafts");
  warned("{\"dependencies\":{\"a\":[\"b\"]}}", NULL);
  warned(INNER, NULL);
  warned("{\"properties\":{\"schema\":" INNER ",\"parameters\":{}},\"title\":\"t\"}", NULL);
  warned("{\"description\":\"anything\"}", NULL);
  warned("{\"type\":\"string\",\"type\":\"number\"}", "\"/type\",\"keyword\":\"type\","
                                                      "\"status\":\"enforced\",\"reason\":"
                                                      "\"given more than once");
  warned("{\"properties\":{\"a\":{},\"a\":false}}", "\"/properties/a\",");
  warned("{\"x\":1,\"x\":2}", "\"/x\",\"keyword\":\"x\",\"status\":\"no effect\"");
  warned("{\"const\":{\"k\":[{\"m\":1,\"m\":2}]}}", "\"/const/k/0/m\"");
  warned("{\"properties\":{\"a\":{},\"b\":{\"a\":1}}}", NULL);
}

/* A root without keywords allows any JSON. */
static void test_root_doubts(void) {
  warned("{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":" INNER "}}}",
         "seems to be at /response_format/json_schema/schema");
  warned("{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":" INNER
         "}}]}",
         "seems to be at /tools/0/function/parameters");
  warned("{\"responseSchema\":" INNER "}", "what \\\"responseSchema\\\" holds");
  warned("{\"openapi\":\"3.0.0\",\"components\":{\"schemas\":{\"A\":" INNER "}}}",
         "seems to be at /components/schemas/A");
  warned("{\"$defs\":{\"A\":" INNER "}}", "is {\\\"$ref\\\": \\\"#/$defs/A\\\"} meant");
  warned("{\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\"}}",
         "belong under \\\"properties\\\"");
  warned("{\"person\":" INNER ",\"title\":\"t\"}", "is the schema what \\\"person\\\" holds");
  warned("{\"name\":\"Bob\",\"age\":3}", "a schema has \\\"type\\\"");
  warned("{\"title\":\"t\",\"x-note\":{\"a\":1},\"default\":" INNER "}", NULL);
  warned("{\"$defs\":{\"A\":" INNER "},\"$ref\":\"#/$defs/A\"}", NULL);
  warned("{\"name\":\"Bob\",\"type\":\"object\"}", NULL);
}

/* Keywords and maps in the place of schemas, and metaschemas that nobody knows. */
static void test_other_doubts(void) {
  warned("{\"properties\":{\"a\":{},\"additionalProperties\":false}}",
         "\\\"additionalProperties\\\" is a property here");
  warned("{\"properties\":{\"additionalProperties\":{},\"const\":true}}", NULL);
  warned("{\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"$ref\":\"#/properties\"}}}",
         "is \\\"#/properties/a\\\" meant?");
  warned("{\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"$ref\":\"#/properties/a\"}}}", NULL);
  warned("{\"$schema\":\"draft-07\",\"type\":\"null\"}", "json-schema.org/draft-07/schema#");
  warned("{\"$schema\":\"http://json-schema.org/draft-99/schema#\",\"type\":\"null\"}", "2020-12");
  warned("{\"$schema\":\"http://json-schema.org/schema#\",\"type\":\"null\"}", NULL);
  warned("{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"type\":\"null\"}", NULL);
  warned("{\"properties\":{\"$schema\":{\"$schema\":\"x\"}}}", NULL);
  blamed("{\"properties\":{\"a\":{},\"required\":[\"a\"]}}", "/properties/required",
         "as a keyword \"required\" belongs beside \"properties\"");
  blamed("{\"properties\":{\"a\":\"string\"}}", "/properties/a",
         "is {\"type\": \"string\"} meant?");
  blamed("[{\"parameters\":" INNER "}]", "", "seems to be at /0/parameters");
  blamed("\"{}\"", "", "a string that holds JSON");
  blamed("{\"type\":\"json_object\"}", "/type", "is \"object\" meant");
}

/* Formats one letter off, or with the name that another notation has. */
static void test_formats(void) {
  static const char *const near[][2] = {{"datetime", "date-time"},
                                        {"date_time", "date-time"},
                                        {"Date-Time", "date-time"},
                                        {"dateTime", "date-time"},
                                        {"date-tiem", "date-time"},
                                        {"ipv-4", "ipv4"},
                                        {"IPv6", "ipv6"},
                                        {"e-mail", "email"},
                                        {"emial", "email"},
                                        {"mail", "email"},
                                        {"url", "uri"},
                                        {"URI", "uri"},
                                        {"guid", "uuid"},
                                        {"UUID", "uuid"},
                                        {"uri_reference", "uri-reference"},
                                        {"regexp", "regex"},
                                        {"host-name", "hostname"},
                                        {"jsonpointer", "json-pointer"},
                                        {"timestamp", "date-time"},
                                        {"ip", "ipv4"}};
  static const char *const others[] = {"int32", "int64",  "float",    "double", "byte",  "binary",
                                       "phone", "color",  "password", "date",   "plate", "name",
                                       "date",  "string", "",         "text",   "file",  "code"};
  char schema[200], words[200];
  for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
    snprintf(schema, sizeof schema, "{\"properties\":{\"a\":{\"format\":\"%s\"}}}", near[i][0]);
    snprintf(words, sizeof words, "unknown format: is %s meant?", near[i][1]);
    warned(schema, words);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    snprintf(schema, sizeof schema, "{\"properties\":{\"a\":{\"format\":\"%s\"}}}", others[i]);
    warned(schema, NULL);
  }
}

/* Patterns as other notations write them. */
static void test_patterns(void) {
  warned("{\"pattern\":\"/^a$/\"}", "the slashes are read as text");
  warned("{\"pattern\":\"/^a$/i\"}", "the slashes and flags are read as text");
  warned("{\"pattern\":\"/a+/gi\"}", "the slashes and flags");
  warned("{\"patternProperties\":{\"/^x-/\":{}}}", "the slashes are read as text");
  warned("{\"pattern\":\"\\\\Aa+\"}", "\\\\A stands for the letter A in ECMA-262: write ^");
  warned("{\"pattern\":\"a+\\\\Z\"}", "write $");
  warned("{\"pattern\":\"a+\\\\\\\\Z\"}", NULL);
  warned("{\"pattern\":\"/users/\"}", NULL);
  warned("{\"pattern\":\"^/users/$\"}", NULL);
  warned("{\"pattern\":\"/a/b\"}", NULL);
  warned("{\"pattern\":\"(?i:^a$)\"}", NULL);
  blamed("{\"type\":\"string\",\"pattern\":\"/^a$/i\"}", "/pattern", "flags are read as text");
  blamed("{\"type\":\"string\",\"pattern\":\"/^a$/\"}", "/pattern", "slashes are read as text");
}

/* Doubtful schemas, each with the words that help. */
static void test_helpful_words(void) {
  warned("{\"type\":\"string\",\"nullable\":true}", "write \\\"null\\\" into \\\"type\\\"");
  warned("{\"type\":\"string\",\"nullable\":false}", NULL);
  blamed("{\"type\":\"date\"}", "/type", "a string with \"format\": \"date\"");
  blamed("{\"type\":\"string|null\"}", "/type", "[\"string\", \"null\"]");
  blamed("{\"type\":[\"string\",\"nul\"]}", "/type/1", "is \"null\" meant?");
  blamed("{\"type\":\"enum\",\"enum\":[1]}", "/type", "enum is a keyword");
  blamed("{\"properties\":{\"a\":{\"required\":true}}}", "/properties/a/required",
         "beside the \"properties\"");
  blamed("{\"type\":\"array\",\"minItems\":5,\"maxItems\":2}", "/minItems",
         "/minItems 5, /maxItems 2, /type \"array\" clash");
  blamed("{\"enum\":[]}", "/enum", "the list is empty, and allows nothing");
  blamed("{\"anyOf\":[]}", "/anyOf", "the list is empty, and allows nothing");
}

/* Keywords that say nothing where they stand. */
static void test_in_vain(void) {
#define SEVENTH "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
  warned("{\"type\":\"array\",\"minLength\":2}", "is minItems meant?");
  warned("{\"type\":\"string\",\"maxItems\":2}", "is maxLength meant?");
  warned("{\"type\":\"string\",\"minimum\":2}", "is minLength meant?");
  warned("{\"type\":\"integer\",\"pattern\":\"a\"}",
         "nothing of the type \\\"integer\\\": it is about");
  warned("{\"type\":\"array\",\"required\":[\"a\"]}", "does it belong into");
  warned("{\"type\":[\"null\",\"string\"],\"uniqueItems\":true}", "nothing of these types");
  warned("{\"type\":[\"null\",\"string\"],\"minLength\":1}", NULL);
  warned("{\"type\":\"string\",\"additionalProperties\":false}", NULL);
  warned("{\"minLength\":2,\"minItems\":1}", NULL);
  warned(SEVENTH "\"type\":\"array\",\"prefixItems\":[{}]}", "write a list as items");
  warned(SEVENTH "\"dependentRequired\":{\"a\":[\"b\"]}}", "write dependencies");
  warned(SEVENTH "\"unevaluatedProperties\":false}", "no keyword of this draft");
  warned(SEVENTH "\"divisibleBy\":3}", NULL);
  warned(SEVENTH "\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":{}},\"maxLength\":3}",
         "hidden by $ref in this draft: allOf can hold both");
  warned("{\"prefixItems\":[{}],\"additionalItems\":false}", "items is what follows prefixItems");
  warned("{\"items\":{},\"additionalItems\":false}", NULL);
  warned("{\"minContains\":2}", "no contains beside it");
}

/* Words of other notations, and null in place of a value. */
static void test_other_words(void) {
  warned("{\"type\":\"integer\",\"min\":1}", "is minimum meant");
  warned("{\"type\":\"number\",\"Max\":1}", "is maximum meant");
  warned("{\"type\":\"string\",\"min\":1}", "is minLength meant");
  warned("{\"type\":\"array\",\"max\":1}", "is maxItems meant");
  warned("{\"type\":\"boolean\",\"min\":1}", NULL);
  warned("{\"type\":\"string\",\"regex\":\"a\"}", "is pattern meant");
  warned("{\"type\":\"object\",\"props\":{}}", "is properties meant");
  blamed("{\"maximum\":null}", "/maximum", "a number: leave it out in place of null");
  blamed("{\"items\":null}", "/items", "a boolean: leave it out in place of null");
  blamed("{\"type\":null}", "/type", "is \"null\" meant, in quotes?");
  blamed("{\"type\":[\"string\",null]}", "/type/1", "is \"null\" meant, in quotes?");
  blamed("{\"allOf\":[null]}", "/allOf/0", "a schema must be an object or a boolean");
}

/* A closed object forbids what another subschema of it speaks about. */
static void test_forbidden(void) {
#define SHUT "\"type\":\"object\",\"additionalProperties\":false"
#define ONLY(name) "{" SHUT ",\"properties\":{\"" name "\":{}}}"
#define FREE(name) "{\"properties\":{\"" name "\":{}}}"
  static const char named[] = "\"a\" is required, but /additionalProperties sees only";
  warned("{" SHUT ",\"allOf\":[" FREE("a") "]}",
         "\\\"a\\\" can never be written, as /additionalProperties");
  warned("{" SHUT ",\"anyOf\":[" FREE("a") "," FREE("b") "]}", "\\\"a\\\" can never be written");
  warned("{" SHUT ",\"properties\":{\"c\":{}},\"if\":" FREE("c") ",\"then\":" FREE("d") "}",
         "\\\"d\\\" can never be written");
  warned("{" SHUT ",\"properties\":{\"a\":{}},\"dependentRequired\":{\"a\":[\"b\"]}}",
         "\\\"b\\\" can never be written");
  warned("{\"allOf\":[" ONLY("a") "," ONLY("b") "]}", "as /allOf/0/additionalProperties");
  warned("{\"$ref\":\"#/$defs/A\",\"properties\":{\"b\":{}},\"$defs\":{\"A\":" ONLY("a") "}}",
         "as /$defs/A/additionalProperties");
  warned("{" SHUT ",\"properties\":{\"a\":{}},\"allOf\":[" FREE("a") "]}", NULL);
  warned("{" SHUT ",\"properties\":{\"a\":{}},\"then\":" FREE("d") "}", "no if beside it");
  warned("{" SHUT ",\"properties\":{\"a\":{}},\"anyOf\":[{\"properties\":{\"b\":false}}]}", NULL);
  warned("{\"anyOf\":[" ONLY("a") "," ONLY("b") "]}", NULL);
  warned("{\"allOf\":[{\"properties\":{\"a\":{},\"b\":{}}}," ONLY("a") "]}", NULL);
  warned("{\"type\":\"object\",\"allOf\":[" FREE("a") "],\"unevaluatedProperties\":false}", NULL);
  blamed("{" SHUT ",\"allOf\":[{\"properties\":{\"a\":{}},\"required\":[\"a\"]}]}",
         "/allOf/0/required/0", named);
  blamed("{" SHUT ",\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
         "/anyOf/0/required/0", named);
  blamed("{" SHUT ",\"properties\":{\"b\":{}},\"required\":[\"b\"],"
         "\"dependentRequired\":{\"b\":[\"a\"]}}",
         "/dependentRequired/b/0", named);
}

int main(void) {
  make_vocab();
  RUN(test_out_of_memory, "every allocation may fail");
  RUN(test_chains, "long chains: compiled or a limit, never a crash");
  RUN(test_unions,
      "unions whose tag comes last, and in another place for each object the same before it");
  RUN(test_report, "the report");
  RUN(test_report_of_nullable, "the report: OpenAPI's nullable");
  RUN(test_report_of_vocabularies, "the report: what a metaschema leaves out");
  RUN(test_blame, "errors name the member that is to blame");
  RUN(test_references, "references that lead nowhere: what was meant");
  RUN(test_warnings, "the report: warnings");
  RUN(test_root_doubts, "the report: a root without keywords");
  RUN(test_other_doubts, "keywords, maps and metaschemas that are not what was meant");
  RUN(test_formats, "that are nearly one");
  RUN(test_patterns, "in other notations");
  RUN(test_other_words, "of other notations, and null");
  RUN(test_in_vain, "keywords that say nothing where they stand");
  RUN(test_helpful_words, "in errors and warnings");
  RUN(test_forbidden, "names that a closed object forbids");
  RUN(test_long_names, "names that are too long to be shown");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
