/* test_distinct_names.c - names that an object may have once: in every spelling, in tokens that end
 * or begin them, and where there are few of them.
 *
 *   names           texts that are accepted or not, whole and byte by byte
 *   escaped         an escape never begins to spell a name that is used
 *   names in names  one name begins with another one
 *   used up         where all names of a finite set are used, no further member begins
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/repeats.h"
#include "tests/support/distinct.h"
#include "tests/support/accepted.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* Two objects, of which each has a name that the other one has not: where a name ends, either may
 * go on. */
#define EITHER                                                                                     \
  "{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1},\"z\":true},\"required\":" \
  "[\"z\"],\"additionalProperties\":false},"                                                       \
  "{\"type\":\"object\",\"properties\":{\"b\":{\"const\":1},\"a\":{\"const\":2}},"                 \
  "\"minProperties\":1,\"additionalProperties\":false}]}"

static void test_names(void) {
  static const struct {
    const char *schema, *text;
    bool good;
  } cases[] = {
      {"{}", "{\"a\":1,\"a\":2}", false},
      {"{}", "{\"a\":1,\"\\u0061\":2}", false},
      {"{}", "{\"\\ud83d\\ude00\":1,\"\xF0\x9F\x98\x80\":2}", false},
      {"{}", "{\"\\n\":1,\"\\u000A\":2}", false},
      {"{}", "{\"\":1,\"\":2}", false},
      {"{}", "{\"a\":{\"a\":[{\"a\":1},{\"a\":2}]},\"b\":\"{,\\\"a\\\":\",\"aa\":1}", true},
      {"{}", "{\"a\":{\"b\":1,\"c\":{},\"b\":1}}", false},
      {"{}", "[{\"a\":[1,2,{}]},{\"b\":1,\"a\":1,\"b\":1}]", false},
      {"{\"properties\":{\"k\":true}}", "{\"a\":1,\"k\":{\"a\":1},\"a\":1}", false},
      {"{\"properties\":{\"k\":true}}", "{\"a\":1,\"k\":{\"k\":1},\"b\":1}", true},
      {"{\"anyOf\":[{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"z\"]},{\"properties\":{"
       "\"b\":{\"const\":1}}}]}",
       "{\"a\":1,\"b\":1,\"a\":1}", false},
      {"{\"patternProperties\":{\"^a|^b\":{\"type\":\"integer\"}}}",
       "{\"a\":1,\"b\":1,\"ab\":1,\"c\":\"\"}", true},
      {"{\"patternProperties\":{\"^a|^b\":{\"type\":\"integer\"}}}",
       "{\"a\":1,\"b\":1,\"a\":1,\"c\":\"\"}", false},
      {"{\"propertyNames\":{\"pattern\":\"^[ab]$\"}}", "{\"a\":1,\"b\":{\"a\":2}}", true},
      {EITHER, "{\"b\":1}", true},
      {EITHER, "{\"b\":1,\"a\":2}", true},
      {EITHER, "{\"z\":1}", true},
      {EITHER, "{\"a\":1,\"z\":1}", true},
      {EITHER, "{\"a\":2}", true},
      {EITHER, "{\"a\":1}", false},
      {EITHER, "{\"b\":1,\"z\":1}", false},
      {EITHER, "{\"z\":1,\"b\":1}", false},
      {EITHER, "{\"z\":1,\"a\":2}", false},
      {"{\"properties\":{\"a\\\\b\":true,\"a\\\"q\":true}}",
       "{\"a\\\\bc\":1,\"a\\bc\":2,\"a\\\"\":1,\"a\\\"qq\":1,\"a\\\\\":1}", true},
      {"{\"properties\":{\"a\\\\b\":true,\"a\\\"q\":true}}", "{\"a\\\\bc\":1,\"a\\\\bc\":2}",
       false},
      {"{\"properties\":{\"a\\\\b\":true,\"a\\\"q\":true}}", "{\"a\\\"qq\":1,\"a\\u0022qq\":2}",
       false},
      {"{\"properties\":{\"a\\\\b\":true,\"a\\\"q\":true}}", "{\"a\\\\\":1,\"a\\u005c\":2}", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = compile(cases[i].schema, TSL_WS_ANY);
    if (g)
      CHECKF(accepts(g, cases[i].text) == cases[i].good, "%s: %s", cases[i].schema, cases[i].text);
    tsl_grammar_release(g);
  }
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  const tsl_schema_options repeated = {.repeated_names = true};
  CHECK(tsl_grammar_json_schema(vocab, "{}", 2, &repeated, NULL, &g, &error) == TSL_OK &&
        accepts(g, "{\"a\":1,\"a\":2}"));
  tsl_grammar_release(g);
  CHECK(tsl_grammar_json_schema(vocab, "{}", 2, NULL, NULL, &g, &error) == TSL_OK &&
        !accepts(g, "{\"a\":1,\"a\":2}"));
  tsl_grammar_release(g);
}

/* Strings that only a repetition further in would lead to make no item new. */
static void test_used_up(void) {
  static const char schema[] =
      "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"array\",\"uniqueItems\":true,"
      "\"prefixItems\":[{\"enum\":[1,2]},{\"enum\":[1,2]},{\"enum\":[1,2]},"
      "{\"type\":\"string\"}],\"items\":false}}";
  static const char text[] = "[[1],[2],[1,2],[2,1],[";
  tsl_grammar *g = compile(schema, TSL_WS_COMPACT);
  tsl_matcher *m;
  uint32_t next[8];
  if (!g) return;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, text, sizeof text - 1, NULL) == TSL_OK &&
        tsl_matcher_next_bytes(m, next) == TSL_OK);
  for (unsigned b = 0; b < 256; b++)
    CHECKF((next[b / 32] >> b % 32 & 1u) == (b == ']'), "byte %u", b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Names that come to an end: as many as there are, and an error where more are needed. */
static void test_few_names(void) {
  static const char few[] = "{\"type\":\"object\",\"minProperties\":%u,\"propertyNames\":{"
                            "\"pattern\":\"^[a-c]%s$\"},\"additionalProperties\":{\"const\":0}}";
  for (unsigned k = 0; k < 2; k++)
    for (unsigned n = k ? 728 : 2; n < (k ? 731u : 5u); n++) {
      char schema[200];
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      snprintf(schema, sizeof schema, few, n, k ? "{6}" : ""); /* 3 names, or 729 */
      tsl_status status =
          tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error);
      CHECKF(status == (n <= (k ? 729u : 3u) ? TSL_OK : TSL_ERR_EMPTY), "%s: %s", schema,
             tsl_status_name(status));
      tsl_grammar_release(g);
    }
  tsl_grammar *g =
      compile("{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[ab]$\"}}", TSL_WS_COMPACT);
  if (!g) return;
  CHECK(accepts(g, "{\"a\":1,\"b\":2}") && !accepts(g, "{\"a\":1,\"b\":2,"));
  tsl_matcher *m = NULL;
  uint32_t next[8];
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "{\"b\":1,\"a\":2", 12, NULL) == TSL_OK);
  if (m)
    CHECK(tsl_matcher_next_bytes(m, next) == TSL_OK && !((next[',' / 32] >> ',' % 32) & 1u) &&
          ((next['}' / 32] >> '}' % 32) & 1u));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* There are two names, and one of them is used. An escape must not begin to spell that one again if
 * nothing else can come of the escape, whatever the length in UTF-8. */
static void test_escaped_names(void) {
  static const struct {
    const char *first, *second, *escape; /* what both begin with, escaped */
    char used, left;                     /* the digit that goes on to the first, to the second */
  } pairs[] = {{"a", "b", "\\u006", '1', '2'},
               {"\xC3\xA9", "\xC3\xA8", "\\u00e", '9', '8'},
               {"\xC3\xA9", "x", "\\u00", 'e', '7'},
               {"\xD0\x96", "x", "\\u0", '4', '0'},
               {"\xE4\xB8\x80", "\xE4\xBA\x8C", "\\u4e", '0', '8'},
               {"\xE4\xB8\x80", "x", "\\u", '4', '0'},
               {"\xEF\xBF\xBC", "\xEF\xBF\xBD", "\\ufff", 'c', 'd'},
               {"\xEF\xBF\xBC", "x", "\\u", 'f', '0'},
               {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x81", "\\ud83d\\ude0", '0', '1'},
               {"\xF0\x9F\x98\x80", "x", "\\u", 'd', '0'},
               {"\xF4\x8F\xBF\xBC", "\xF0\x9F\x98\x81", "\\ud", 'b', '8'},
               {"\xF4\x8F\xBF\xBC", "\xF4\x8F\xBF\xBD", "\\udbff\\udff", 'c', 'd'}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (int swapped = 0; swapped < 2; swapped++) {
      char schema[200], text[100];
      uint32_t next[8] = {0};
      tsl_matcher *m = NULL;
      char used = swapped ? pairs[i].left : pairs[i].used,
           left = swapped ? pairs[i].used : pairs[i].left;
      snprintf(schema, sizeof schema,
               "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[%s%s]$\"}}", pairs[i].first,
               pairs[i].second);
      snprintf(text, sizeof text, "{\"%s\":1,\"%s", swapped ? pairs[i].second : pairs[i].first,
               pairs[i].escape);
      tsl_grammar *g = compile(schema, TSL_WS_COMPACT);
      if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
      CHECKF(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
                 tsl_matcher_next_bytes(m, next) == TSL_OK,
             "%s", text);
      CHECKF(tsl_mask_has(next, (uint8_t)left) && !tsl_mask_has(next, (uint8_t)used),
             "%s: %c and not %c", text, left, used);
      tsl_matcher_free(m);
      tsl_grammar_release(g);
    }
}

/* Names that begin with one another: all of up to four of these bytes, in any order. After each
 * set of them exactly the others may be closed, and the mask after each beginning is what a fork
 * takes. */
static void test_names_in_names(void) {
  enum { NAMES = 30, LONGEST = 4 };
  char names[NAMES][LONGEST + 1];
  unsigned n = 0;
  for (unsigned length = 1; length <= LONGEST; length++)
    for (unsigned bits = 0; bits < 1u << length; bits++, n++)
      for (unsigned i = 0; i <= length; i++)
        names[n][i] = i == length ? 0 : (bits >> i & 1u) ? 'b' : 'a';
  uint64_t seed = 11;
  tsl_grammar *g =
      compile("{\"type\":\"object\",\"additionalProperties\":{\"const\":1}}", TSL_WS_COMPACT);
  for (unsigned round = 0; g && round < ROUNDS_OF(60); round++) {
    char text[NAMES * (LONGEST + 6) + 8] = "{";
    bool used[NAMES] = {false};
    tsl_matcher *m = NULL;
    tsl_token t;
    for (unsigned k = 1 + round % 20; k > 0; k--) {
      unsigned i = (unsigned)(tsl_test_random(&seed) % NAMES);
      if (used[i]) continue;
      used[i] = true;
      snprintf(text + strlen(text), LONGEST + 7, "\"%s\":1,", names[i]);
    }
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    CHECKF(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK, "%s", text);
    for (unsigned i = 0; i < NAMES; i++) {
      char more[LONGEST + 3];
      tsl_matcher *fork = NULL;
      int length = snprintf(more, sizeof more, "\"%s\"", names[i]);
      CHECK(tsl_matcher_fork(m, &fork) == TSL_OK);
      CHECKF((tsl_matcher_accept_bytes(fork, more, (size_t)length, NULL) == TSL_OK) == !used[i],
             "%s before %s", text, more);
      tsl_matcher_free(fork);
    }
    const char *beginning = names[tsl_test_random(&seed) % NAMES];
    CHECK(check_mask(m, &seed, &t, text));
    CHECK(tsl_matcher_accept_bytes(m, "\"", 1, NULL) == TSL_OK &&
          tsl_matcher_accept_bytes(m, beginning, strlen(beginning), NULL) == TSL_OK);
    if (round % 4 == 0) CHECK(check_mask(m, &seed, &t, text));
    tsl_matcher_free(m);
  }
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(test_names, "names of additional members, decoded");
  RUN(test_escaped_names, "an escape does not begin to spell a name that is used");
  RUN(test_names_in_names, "names that begin with one another");
  RUN(test_used_up, "strings past repetitions make nothing new");
  RUN(test_few_names, "names that are used up");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
