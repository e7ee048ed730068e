/* test_plain.c - plain spellings, plain white space and generous grammars. Tested: what they
 * accept, that no value is lost, and that no model can go on for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "tests/support/take.h"
#include "turnstile.h"

static tsl_vocab *vocab;
static const tsl_schema_options plain = {.whitespace = TSL_WS_PLAIN,
                                         .spelling = TSL_SPELLING_PLAIN},
                                generous = {.generous = true};

static tsl_grammar *compile(const char *schema, const tsl_schema_options *options) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), options, NULL, &g, &error) ==
             TSL_OK,
         "%s: %s", schema, error.message);
  return g;
}

static bool accepts(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL;
  bool yes = g && tsl_matcher_new(g, NULL, &m) == TSL_OK &&
             tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
             tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return yes;
}

/* Each text is valid; `yes` are plain, `no` are not. */
static const struct {
  const char *schema, *yes[6], *no[6];
} rows[] = {
    {"{\"type\":\"integer\"}",
     {"0", "10", "-7", "9007199254740993", "123456789012345678901234567890"},
     {"1e1", "10.0", "0.18e2", "1E1", "100e-1"}},
    {"{\"type\":\"integer\",\"multipleOf\":1e30}",
     {"0", "1000000000000000000000000000000", "-7000000000000000000000000000000"},
     {"1e30", "1.0e30"}},
    {"{\"type\":\"integer\",\"minimum\":5,\"maximum\":1200}", {"5", "1200", "77"}, {"7.0", "12e2"}},
    {"{\"type\":\"number\"}",
     {"1.0", "1e22", "1.5e-07", "-0.0", "1.7976931348623157e+308", "5e-324"},
     {"12e1", "1e007", "0e5", "1e0", "0.5e1", "1e400"}},
    {"{\"type\":\"number\",\"minimum\":0}", {"1e-07", "12.25", "0.1", "3E8"}, {"10e2", "1e00"}},
    {"{\"minimum\":1e400}", {"1e401", "\"\"", "null"}, {"10e400", "100000e500"}},
    {"{\"const\":1}", {"1"}, {"1.0", "1e0", "10e-1", "1e00000"}},
    {"{\"const\":1e400}", {"1e400"}, {"10e399", "1.0e400"}},
    {"{\"enum\":[1.50,10,2e1,\"a\"]}", {"1.5", "1.50", "10", "20", "2e1"}, {"15e-1", "20.0"}},
    {"{\"type\":\"string\"}",
     {"\"na\"", "\"\\n\\\"\\\\\\t\"", "\"\xC3\xA9\"", "\"\\u00e9\\ud83d\\ude00\"", "\"\\u0000\"",
      "\"/\""},
     {"\"na\\u006De\"", "\"\\/\"", "\"\\u0022\"", "\"\\u005c\"", "\"\\u0020\"", "\"\\u007e\""}},
    {"{\"enum\":[\"a/b\",\"c\"]}", {"\"a/b\"", "\"c\""}, {"\"a\\/b\"", "\"\\u0063\""}},
    {"{\"properties\":{\"name\":{}},\"additionalProperties\":false,\"type\":\"object\"}",
     {"{\"name\":1}", "{}"},
     {"{\"na\\u006De\":1}", "{\"\\u006eame\":1}"}},
    {"{\"type\":[\"object\",\"array\"]}",
     {"{\"a\": [1, 2]}", "[\n  1,\n  2\n]", "{ \"a\" : 1 }", "[\r\n\t1\r\n]", "[\n\n1]"},
     {"[\n\n\n1]", "[  1]", "[\t1]", "[1 \n]",
      "[\n                                                                 1]"}}};

static void spellings(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_grammar *p = compile(rows[i].schema, &plain), *g = compile(rows[i].schema, &generous);
    for (size_t k = 0; k < 6 && rows[i].yes[k]; k++) {
      CHECKF(accepts(p, rows[i].yes[k]), "%s: %s is plain", rows[i].schema, rows[i].yes[k]);
      CHECKF(accepts(g, rows[i].yes[k]), "%s: %s", rows[i].schema, rows[i].yes[k]);
    }
    for (size_t k = 0; k < 6 && rows[i].no[k]; k++) {
      CHECKF(!accepts(p, rows[i].no[k]), "%s: %s is not plain", rows[i].schema, rows[i].no[k]);
      CHECKF(accepts(g, rows[i].no[k]), "%s: %s is valid", rows[i].schema, rows[i].no[k]);
    }
    tsl_grammar_release(p);
    tsl_grammar_release(g);
  }
}

/* A model that repeats one text as long as it may: it must come to an end. */
static void endless(void) {
  static const struct {
    const char *schema, *before, *again;
  } loops[] = {{"{\"type\":\"integer\"}", "1", "0"},
               {"{\"type\":\"integer\",\"minimum\":0,\"maximum\":100}", "1", "0"},
               {"{\"type\":\"number\"}", "1.", "0"},
               {"{\"type\":\"number\"}", "1e", "1"},
               {"{\"type\":\"number\",\"minimum\":0,\"maximum\":1}", "0.", "0"},
               {"{\"type\":\"number\",\"multipleOf\":7}", "7", "7"},
               {"{\"type\":\"object\"}", "{", " "},
               {"{\"type\":\"object\"}", "{\n", " "},
               {"{\"type\":\"object\"}", "{\n", "\t"},
               {"{\"type\":\"array\"}", "[", "\n"},
               {"{\"type\":\"object\"}", "", " "},
               {"{\"type\":\"object\"}", "{}", " "},
               {"{\"enum\":[\"a\"]}", "\"", "a"},
               {"{\"const\":1}", "1", "0"}};
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
    tsl_grammar *g = compile(loops[i].schema, &plain);
    tsl_matcher *m = NULL;
    int times = 0;
    CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
    tsl_status status = tsl_matcher_accept_bytes(m, loops[i].before, strlen(loops[i].before), NULL);
    while (status == TSL_OK && times < 5000)
      status = tsl_matcher_accept_bytes(m, loops[i].again, 1, NULL), times++;
    CHECKF(status == TSL_REJECTED && times <= 320, "%s: %d times", loops[i].schema, times);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* Bounds of white space are what the caller says. */
static void bounds(void) {
  tsl_schema_options o = plain;
  o.whitespace_lines = 1;
  o.whitespace_columns = 3;
  tsl_grammar *g = compile("true", &o);
  CHECK(accepts(g, "[\n   1]") && !accepts(g, "[\n    1]") && !accepts(g, "[\n\n1]"));
  tsl_grammar_release(g);
  o = (tsl_schema_options){.spelling = (tsl_spelling)2};
  tsl_error error;
  CHECK(tsl_grammar_json_schema(vocab, "{}", 2, &o, NULL, &g, &error) == TSL_ERR_ARGUMENT);
}

/* Each token of a mask can be accepted and the text be ended; along random texts. */
static void random_texts(void) {
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  uint64_t seed = 7;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_grammar *p = compile(rows[i].schema, &plain), *g = compile(rows[i].schema, &generous);
    for (int round = 0; round < 40; round++) {
      tsl_matcher *m = NULL, *broad = NULL;
      CHECK(tsl_matcher_new(p, NULL, &m) == TSL_OK && tsl_matcher_new(g, NULL, &broad) == TSL_OK);
      for (int step = 0; step < 30; step++) {
        CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
        tsl_token t = draw(mask, tsl_vocab_size(vocab), &seed);
        CHECK(t != TSL_NO_TOKEN);
        if (t == TSL_NO_TOKEN) break;
        CHECKF(tsl_matcher_accept(m, t) == TSL_OK && tsl_matcher_accept(broad, t) == TSL_OK,
               "%s, step %d", rows[i].schema, step);
        if (tsl_matcher_is_terminated(m)) break;
      }
      tsl_matcher_free(m);
      tsl_matcher_free(broad);
    }
    tsl_grammar_release(p);
    tsl_grammar_release(g);
  }
  free(mask);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(spellings, "plain texts, and others that are valid");
  RUN(endless, "no repetition goes on for ever");
  RUN(bounds, "white space within other bounds");
  RUN(random_texts, "what plain masks allow is valid");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
