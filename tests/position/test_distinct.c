/* test_distinct.c - what must not be repeated: against enumeration, token by token, and in every
 * spelling.
 *
 *   enumerated  small languages: all their texts are listed by a naive recursion; after each prefix
 *               of each text exactly those bytes may come next that some text goes on with, and the
 *               text may end exactly where one does
 *   masks       random walks under masks: a bit is set exactly if a fork accepts the token; every
 *               walk ends; no two items are equal (tsl__json_equal)
 *   names       each once in an object, whatever its spelling; finite sets of them run out
 *   spellings   random values, written twice in random spellings: never both; written beside
 *               different ones: always
 *   moving      rollback, fork and reset come back to the same masks
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"
#include "runtime/matcher/matcher.h"
#include "tests/support/check.h"
#include "tests/judges/repeats.h"
#include "tests/support/taken.h"
#include "turnstile.h"

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *schema, tsl_whitespace whitespace) {
  tsl_schema_options options = {.whitespace = whitespace, .order = TSL_ORDER_ANY};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", schema, error.message);
  return g;
}

/* ---- enumerated ------------------------------------------------------------------------------ */

#define TEXTS_MAX 4000
#define TEXT_MAX 120

struct listing {
  char at[TEXTS_MAX][TEXT_MAX];
  size_t n;
};
static struct listing listing;

struct small {
  const char *schema;
  const char *items[12]; /* in the spelling that is enumerated; equal values have equal numbers */
  int value[12];
  int count, min, max;
  const char *open, *close;
};

static const struct small smalls[] = {
    {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\",\"pattern\":\"^[ab]?$"
     "\"}}",
     {"\"\"", "\"a\"", "\"b\""},
     {0, 1, 2},
     3,
     0,
     3,
     "[",
     "]"},
    {"{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"items\":{\"type\":\"string\","
     "\"pattern\":\"^(a|ab|ba)$\"}}",
     {"\"a\"", "\"ab\"", "\"ba\""},
     {0, 1, 2},
     3,
     2,
     3,
     "[",
     "]"},
    {"{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":\"string\","
     "\"pattern\":\"^[ab]{2}$\"}}",
     {"\"aa\"", "\"ab\"", "\"ba\"", "\"bb\""},
     {0, 1, 2, 3},
     4,
     0,
     3,
     "[",
     "]"},
    {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[{\"a\":\"x\",\"b\":\"y\"},{"
     "\"a\":\"x\"},[\"x\"],\"x\"]}}",
     {"{\"a\":\"x\",\"b\":\"y\"}", "{\"b\":\"y\",\"a\":\"x\"}", "{\"a\":\"x\"}", "[\"x\"]",
      "\"x\""},
     {0, 0, 1, 2, 3},
     5,
     0,
     4,
     "[",
     "]"},
    {"{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"items\":{\"type\":\"array\","
     "\"maxItems\":2,\"items\":{\"type\":\"string\",\"pattern\":\"^[ab]$\"},\"uniqueItems\":true},"
     "\"maxItems\":3}",
     {"[]", "[\"a\"]", "[\"b\"]", "[\"a\",\"b\"]", "[\"b\",\"a\"]"},
     {0, 1, 2, 3, 4},
     5,
     2,
     3,
     "[",
     "]"},
    {"{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":\"object\","
     "\"properties\":{\"k\":{\"type\":\"string\",\"pattern\":\"^[ab]$\"}},"
     "\"additionalProperties\":false}}",
     {"{}", "{\"k\":\"a\"}", "{\"k\":\"b\"}"},
     {0, 1, 2},
     3,
     0,
     3,
     "[",
     "]"},
    {"{\"anyOf\":[{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":"
     "\"string\",\"pattern\":\"^[abc]$\"}}]}",
     {"\"a\"", "\"b\"", "\"c\""},
     {0, 1, 2},
     3,
     0,
     3,
     "[",
     "]"},
    {"{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"uniqueItems\":true,"
     "\"items\":{\"type\":\"string\",\"pattern\":\"^[ab]?$\"}}},\"required\":[\"l\"],"
     "\"additionalProperties\":false}",
     {"\"\"", "\"a\"", "\"b\""},
     {0, 1, 2},
     3,
     0,
     3,
     "{\"l\":[",
     "]}"},
};

static void list_texts(const struct small *s, char *text, size_t n, unsigned used, int items) {
  if (items >= s->min && listing.n < TEXTS_MAX)
    snprintf(listing.at[listing.n++], TEXT_MAX, "%.*s%s", (int)n, text, s->close);
  if (items == s->max) return;
  for (int i = 0; i < s->count; i++) {
    if ((used >> s->value[i]) & 1u) continue;
    int added = snprintf(text + n, TEXT_MAX - n, "%s%s", items ? "," : "", s->items[i]);
    list_texts(s, text, n + (size_t)added, used | 1u << s->value[i], items + 1);
  }
}

/* Bytes that spell the same in another way are not enumerated. */
static bool enumerated(unsigned byte) {
  return byte > 0x20 && byte < 0x7F && byte != '\\' && !strchr(".eE+-0123456789", (int)byte);
}

static void check_prefix(tsl_grammar *g, const char *text, size_t n) {
  bool wanted[256] = {false};
  uint32_t next[8];
  tsl_matcher *m;
  for (size_t i = 0; i < listing.n; i++)
    if (!strncmp(listing.at[i], text, n) && listing.at[i][n])
      wanted[(uint8_t)listing.at[i][n]] = true;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  tsl_status status = tsl_matcher_accept_bytes(m, text, n, NULL);
  CHECKF(status == TSL_OK, "%.*s: %s", (int)n, text, tsl_status_name(status));
  CHECK(tsl_matcher_next_bytes(m, next) == TSL_OK);
  for (unsigned b = 0; b < 256; b++)
    if (enumerated(b))
      CHECKF(wanted[b] == ((next[b / 32] >> b % 32) & 1u), "%.*s before '%c'", (int)n, text,
             (int)b);
  tsl_matcher_free(m);
}

static void test_enumerated(void) {
  for (size_t i = 0; i < sizeof smalls / sizeof *smalls; i++) {
    tsl_grammar *g = compile(smalls[i].schema, TSL_WS_COMPACT);
    char text[TEXT_MAX];
    if (!g) continue;
    listing.n = 0;
    list_texts(&smalls[i], text, (size_t)snprintf(text, sizeof text, "%s", smalls[i].open), 0, 0);
    CHECK(listing.n < TEXTS_MAX);
    for (size_t k = 0; k < listing.n; k++)
      for (size_t n = 0; n <= strlen(listing.at[k]); n++) check_prefix(g, listing.at[k], n);
    tsl_grammar_release(g);
  }
}

/* ---- masks ----------------------------------------------------------------------------------- */

static const char *const walked[] = {
    /* `{},` is a token of some vocabularies */
    "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[{}]}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"string\","
    "\"maxLength\":2}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"integer\","
    "\"minimum\":0,\"maximum\":30}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"string\","
    "\"pattern\":\"^(a|b.?|[0-9]{2})$\"}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"object\","
    "\"properties\":{\"id\":{\"enum\":[1,2,\"a\"]},\"x\":{\"type\":\"boolean\"}},"
    "\"additionalProperties\":false}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"array\","
    "\"maxItems\":2,\"items\":{\"type\":[\"boolean\",\"null\"]}}}",
    "{\"type\":\"object\"}",
    "{\"type\":\"object\",\"minProperties\":3,\"additionalProperties\":{\"type\":\"null\"}}",
    "{\"type\":\"object\",\"minProperties\":2,\"patternProperties\":{\"^(a|ab?c*)$\":{\"const\":0}}"
    ",\"additionalProperties\":false}",
    "{\"type\":\"object\",\"properties\":{\"ab\":{\"const\":1}},\"additionalProperties\":{\"type\":"
    "\"boolean\"},\"minProperties\":2}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":\"object\","
    "\"minProperties\":1,\"additionalProperties\":{\"const\":0},\"propertyNames\":{\"maxLength\":2}"
    "}}",
    /* nothing is written without an escape */
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"maxItems\":4,\"items\":{\"type\":"
    "\"string\",\"pattern\":\"^[\\\\n\\\\t]{1,9}$\"}}",
    "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[\\\\n\\\\u001f]{1,2}$\"},"
    "\"minProperties\":2}",
    /* nor without a digit that is not 0 */
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3,\"maxItems\":4,\"items\":{\"type\":"
    "\"string\",\"pattern\":\"^[\\\\u001e\\\\u001f]{1,2}$\"}}",
    "{\"$ref\":\"#/$defs/l\",\"$defs\":{\"l\":{\"anyOf\":[{\"$ref\":\"#/$defs/"
    "m\"},{\"type\":\"array\",\"minItems\":3,\"items\":{\"enum\":[\"a\",\"ab\",\"b\"]},"
    "\"uniqueItems\":true}]},"
    "\"m\":{\"type\":\"array\",\"uniqueItems\":true,\"prefixItems\":[{\"const\":\"a\"}],\"items\":{"
    "\"$ref\":\"#/$defs/"
    "n\"},\"maxItems\":3},\"n\":{\"type\":[\"boolean\",\"string\"],\"maxLength\":2}}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"anyOf\":[{\"type\":"
    "\"object\",\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"],\"additionalProperties\":"
    "false},"
    "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\",\"maxLength\":3}},"
    "\"required\":[\"b\"],\"additionalProperties\":false}]}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"maxItems\":4,\"items\":{\"type\":"
    "\"object\",\"properties\":{\"k\":{\"enum\":[1,2]},\"s\":{\"type\":\"string\"}},\"required\":["
    "\"k\"],\"additionalProperties\":false}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3,\"maxItems\":5,\"items\":{\"anyOf\":[{"
    "\"const\":1},{\"enum\":[\"a\",\"ab\"]},{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
    "\"number\"}},\"required\":[\"a\"],\"additionalProperties\":false}]}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":\"array\","
    "\"uniqueItems\":true,\"maxItems\":2,\"items\":{\"anyOf\":[{\"type\":\"string\",\"maxLength\":"
    "1},{\"type\":\"array\",\"maxItems\":1,\"items\":{\"type\":\"string\"}}]}}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"object\","
    "\"propertyNames\":{\"pattern\":\"^[ab]$\"},\"additionalProperties\":{\"enum\":[\"x\",\"\",1]}}"
    "}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"maxItems\":4,\"items\":{\"type\":"
    "\"object\",\"propertyNames\":{\"pattern\":\"^[ab]$\"},\"additionalProperties\":{\"anyOf\":[{"
    "\"type\":\"boolean\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}}}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":6,\"items\":{\"type\":\"array\","
    "\"uniqueItems\":true,\"prefixItems\":[{\"enum\":[1,2]},{\"enum\":[1,2]},{\"enum\":[1,2]},{"
    "\"type\":\"string\"}],\"items\":false}}",
    /* some members may be anything, some not */
    "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":4,\"items\":{\"type\":\"array\","
    "\"prefixItems\":[{\"enum\":[1,2]},{\"type\":\"string\"}],\"items\":false}}",
    "{\"anyOf\":[{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":3,\"items\":{\"type\":"
    "\"integer\",\"maximum\":99,\"minimum\":0}},{\"type\":\"array\",\"maxItems\":2,\"items\":{"
    "\"enum\":[1,11]}}]}",
};

enum expected {
  UNIQUE,
  UNIQUE_OR_SHORT,
  REPEATED,
  REPEATED_OR_LETTERS /* just one of: all are different; all are a or b */
};

/* Of these some items must be equal. */
static const struct {
  const char *schema;
  enum expected expected;
} repeating[] = {
    {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true}}", REPEATED},
    {"{\"type\":\"array\",\"minItems\":4,\"not\":{\"uniqueItems\":true},\"items\":{\"type\":"
     "\"string\",\"pattern\":\"^(a|ab|b)$\"}}",
     REPEATED},
    {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"type\":\"integer\","
     "\"minimum\":0,\"maximum\":30}}",
     REPEATED},
    {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"prefixItems\":[{\"type\":\"string\","
     "\"maxLength\":1},{\"type\":\"boolean\"}],\"items\":{\"enum\":[\"a\",true,1]}}",
     REPEATED},
    {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"type\":\"object\","
     "\"properties\":{\"k\":{\"enum\":[1,2]},\"s\":{\"type\":\"boolean\"}},\"required\":[\"k\"],"
     "\"additionalProperties\":false}}",
     REPEATED},
    {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"type\":\"array\","
     "\"maxItems\":2,\"items\":{\"type\":[\"boolean\",\"null\"]}}}",
     REPEATED},
    {"{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":{\"type\":\"array\","
     "\"minItems\":1,\"maxItems\":2,\"items\":{\"enum\":[1,11,\"a\"]},\"uniqueItems\":true}}",
     REPEATED},
    {"{\"type\":\"array\",\"oneOf\":[{\"uniqueItems\":true},{\"minItems\":1,\"items\":{\"type\":"
     "\"string\",\"pattern\":\"^[ab]$\"}}],\"minItems\":3,\"items\":{\"type\":\"string\","
     "\"maxLength\":1}}",
     REPEATED_OR_LETTERS},
};

static bool unique_items(const tsl__json *v) {
  for (uint32_t i = 0; v->kind == TSL__JSON_ARRAY && i < v->length; i++)
    for (uint32_t j = 0; j < i; j++)
      if (tsl__json_equal(&v->items[i], &v->items[j])) return false;
  return true;
}

/* Every bit of the mask against a fork, every `stride`-th token; then one of the allowed tokens,
 * short ones rather, into *token. */
static bool check_mask(tsl_matcher *m, uint64_t *seed, tsl_token *token, const char *schema) {
  static uint32_t mask[8192 / 32];
  static tsl_token allowed[8192];
  uint32_t size = tsl_vocab_size(vocab);
  size_t n = 0;
  if (tsl_matcher_mask(m, mask) != TSL_OK) return false;
  for (tsl_token t = 0; t < size; t++) {
    bool bit = (mask[t / 32] >> t % 32) & 1u;
    if (bit) allowed[n++] = t;
    tsl_matcher *fork;
    if (!bit && tsl_test_random(seed) % 4) continue; /* a quarter of those that are not allowed */
    if (tsl_matcher_fork(m, &fork) != TSL_OK) return false;
    bool accepted = tsl_matcher_accept(fork, t) == TSL_OK;
    tsl_matcher_free(fork);
    CHECKF(accepted == bit, "%s: token %u", schema, (unsigned)t);
  }
  if (n) *token = allowed[tsl_test_random(seed) % n];
  return n > 0;
}

static bool in_string(const char *text, size_t n) {
  bool open = false;
  for (size_t i = 0; i < n; i++) {
    if (open && text[i] == '\\')
      i++;
    else
      open ^= text[i] == '"';
  }
  return open;
}

static bool all_a_or_b(const tsl__json *v) {
  for (uint32_t i = 0; i < v->length; i++)
    if (v->items[i].kind != TSL__JSON_STRING || v->items[i].length != 1 ||
        (*v->items[i].text != 'a' && *v->items[i].text != 'b'))
      return false;
  return true;
}

static bool as_expected(const tsl__json *v, enum expected expected) {
  bool unique = unique_items(v);
  switch (expected) {
  case UNIQUE_OR_SHORT: return unique || v->length <= 2;
  case REPEATED: return !unique;
  case REPEATED_OR_LETTERS: return unique != all_a_or_b(v);
  default: return unique;
  }
}

static void walk(tsl_grammar *g, const char *schema, uint64_t *seed, enum expected expected) {
  tsl_matcher *m;
  char text[4096];
  size_t n = 0;
  tsl_token t;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (int steps = 0; steps < 12 && !tsl_matcher_is_terminated(m); steps++) {
    bool good = check_mask(m, seed, &t, schema);
    CHECKF(good, "%s: nothing is allowed after %.*s", schema, (int)n, text);
    if (!good || tsl_vocab_is_eog(vocab, t)) break;
    size_t length;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &length);
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    memcpy(text + n, bytes, length);
    n += length;
  }
  /* to the end, as fast as can be told */
  for (int steps = 0; !tsl_matcher_is_complete(m) && steps < 600; steps++) {
    uint32_t next[8];
    CHECK(tsl_matcher_next_bytes(m, next) == TSL_OK);
    static const char outside[] = "]},:\"[{tfnalrsue1234567890-.",
                      inside[] = "\"abesk1234567890xdifn\\u";
    uint64_t best = UINT64_MAX;
    const char *c = in_string(text, n) ? inside : outside;
    while (*c && !((next[(uint8_t)*c / 32] >> (uint8_t)*c % 32) & 1u)) c++;
    uint8_t byte = (uint8_t)*c;
    for (unsigned b = 0; b < 256 && !byte; b++) {
      tsl_matcher *fork = NULL;
      uint64_t missing = UINT64_MAX;
      uint8_t one = (uint8_t)b;
      if (!((next[b / 32] >> b % 32) & 1u) || tsl_matcher_fork(m, &fork) != TSL_OK) continue;
      CHECK(tsl_matcher_accept_bytes(fork, &one, 1, NULL) == TSL_OK &&
            tsl_matcher_shortest_completion(fork, &missing) == TSL_OK);
      tsl_matcher_free(fork);
      if (missing < best) best = missing, byte = one;
    }
    tsl_status status = tsl_matcher_accept_bytes(m, &byte, 1, NULL);
    CHECKF(status == TSL_OK, "%s: stuck after %.*s", schema, (int)n, text);
    if (status != TSL_OK) break;
    text[n++] = (char)byte;
  }
  tsl__arena arena;
  tsl__json *v;
  tsl__arena_init(&arena, &tsl__malloc);
  CHECKF(tsl_matcher_is_complete(m), "%s: no end after %.*s", schema, (int)n, text);
  bool parsed =
      tsl_matcher_is_complete(m) && tsl__json_parse(&arena, text, n, 100, &v, NULL) == TSL_OK;
  if (parsed) CHECKF(!text_repeats_name(text, n), "%s: %.*s", schema, (int)n, text);
  if (parsed) CHECKF(as_expected(v, expected), "%s: %.*s", schema, (int)n, text);
  tsl__arena_free(&arena);
  tsl_matcher_free(m);
}

static void walk_often(const char *schema, uint64_t *seed, enum expected expected) {
  tsl_grammar *wide = compile(schema, TSL_WS_ANY), *compact = compile(schema, TSL_WS_COMPACT);
  for (int k = 0; wide && compact && k < ROUNDS_OF(12); k++)
    walk(k % 2 ? wide : compact, schema, seed, expected);
  tsl_grammar_release(wide);
  tsl_grammar_release(compact);
}

static void test_masks(void) {
  uint64_t seed = 5;
  for (size_t i = 0; i < sizeof walked / sizeof *walked; i++)
    walk_often(walked[i], &seed,
               i + 1 == sizeof walked / sizeof *walked ? UNIQUE_OR_SHORT : UNIQUE);
  for (size_t i = 0; i < sizeof repeating / sizeof *repeating; i++)
    walk_often(repeating[i].schema, &seed, repeating[i].expected);
}

/* A negation of a negation: items must differ, in a grammar where others might have to be equal.
 * What was found out with some items used must not be taken for others. */
static void test_twice_negated(void) {
  static const char schema[] =
      "{\"maxLength\":1,\"minLength\":0,\"oneOf\":[{\"additionalProperties\":{\"minContains\":1,"
      "\"uniqueItems\":true},\"if\":{\"uniqueItems\":true},\"not\":{\"pattern\":\"a|c\","
      "\"patternProperties\":{\"^[ab]+$\":{}},\"type\":\"object\",\"unevaluatedProperties\":{"
      "\"not\":{\"type\":[\"null\",\"boolean\"]},\"propertyNames\":{\"maxLength\":1},\"type\":"
      "\"string\"}}},{\"minItems\":1,\"not\":{\"pattern\":\"a|c\",\"patternProperties\":{\"^[ab]+$"
      "\":{\"type\":\"integer\"},\"^a\":{\"type\":\"string\"}},\"uniqueItems\":true}}]}";
  static const char *const texts[] = {"[\"a\"",     "[8",          "[null", "[null,\"a\"",
                                      "[true,null", "[\"\",\"a\"", "[[]"};
  tsl_grammar *g = compile(schema, TSL_WS_ANY);
  uint64_t seed = 11;
  for (size_t i = 0; g && i < sizeof texts / sizeof *texts; i++) {
    tsl_matcher *m;
    tsl_token t;
    if (tsl_matcher_new(g, NULL, &m) != TSL_OK) break;
    CHECK(tsl_matcher_accept_bytes(m, texts[i], strlen(texts[i]), NULL) == TSL_OK &&
          check_mask(m, &seed, &t, texts[i]));
    tsl_matcher_free(m);
  }
  walk_often(schema, &seed, UNIQUE);
  tsl_grammar_release(g);
}

/* ---- spellings ------------------------------------------------------------------------------- */

struct text {
  char at[8192];
  size_t n;
};

static void put(struct text *t, const char *s) {
  t->n += (size_t)snprintf(t->at + t->n, sizeof t->at - t->n, "%s", s);
}

static void put_space(struct text *t, uint64_t *seed) {
  static const char *const spaces[] = {"", "", "", " ", "\n", "\t "};
  put(t, spaces[tsl_test_random(seed) % 6]);
}

/* Value number `v` of `depth`, in a spelling that `how` draws; equal numbers are equal values. */
static void put_value(struct text *t, unsigned v, int depth, uint64_t *how) {
  static const char *const numbers[][4] = {{"0", "-0", "0.0", "0e5"},
                                           {"1", "1.0", "10e-1", "0.1E+1"},
                                           {"-12", "-12.0", "-1.2e1", "-120e-1"},
                                           {"0.5", "5e-1", "0.50", "50e-2"}};
  static const char *const strings[][3] = {
      {"\"\"", "\"\"", "\"\""},
      {"\"a\"", "\"\\u0061\"", "\"a\""},
      {"\"/\\n\"", "\"\\/\\u000a\"", "\"\\u002F\\u000A\""},
      {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", "\"\\uD83D\\uDE00\""}};
  unsigned kind = depth > 0 ? v % 5 : v % 3;
  v /= 5;
  put_space(t, how);
  if (kind == 0) put(t, numbers[v % 4][tsl_test_random(how) % 4]);
  if (kind == 1) put(t, strings[v % 4][tsl_test_random(how) % 3]);
  if (kind == 2) put(t, v % 3 == 0 ? "null" : v % 3 == 1 ? "true" : "false");
  if (kind == 3) {
    put(t, "[");
    for (unsigned i = 0; i < v % 3; i++) {
      if (i) put(t, ",");
      put_value(t, v / (i + 2), depth - 1, how);
    }
    put(t, "]");
  }
  if (kind == 4) {
    static const char *const keys[][2] = {{"\"k\"", "\"\\u006b\""}, {"\"b c\"", "\"b\\u0020c\""}};
    bool swap = tsl_test_random(how) % 2;
    unsigned n = v % 3;
    put(t, "{");
    for (unsigned i = 0; i < n; i++) {
      unsigned k = n == 2 && swap ? 1 - i : i;
      if (i) put(t, ",");
      put_space(t, how);
      put(t, keys[k][tsl_test_random(how) % 2]);
      put_space(t, how);
      put(t, ":");
      put_value(t, v / (k + 2), depth - 1, how);
    }
    put(t, "}");
  }
  put_space(t, how);
}

static void test_spellings(void) {
  tsl_grammar *g = compile("{\"uniqueItems\":true}", TSL_WS_ANY),
              *contrary = compile("{\"not\":{\"uniqueItems\":true}}", TSL_WS_ANY);
  uint64_t seed = 9;
  for (int i = 0; g && contrary && i < 1500; i++) {
    tsl_matcher *other;
    struct text t = {.n = 0};
    unsigned n = 2 + (unsigned)(tsl_test_random(&seed) % 4);
    unsigned range = i % 2 ? 40 : 4000;
    put(&t, "[");
    for (unsigned k = 0; k < n; k++) {
      if (k) put(&t, ",");
      put_value(&t, (unsigned)(tsl_test_random(&seed) % range), 2, &seed);
    }
    put(&t, "]");
    tsl__arena arena;
    tsl__json *v;
    tsl_matcher *m;
    tsl__arena_init(&arena, &tsl__malloc);
    if (tsl__json_parse(&arena, t.at, t.n, 100, &v, NULL) == TSL_OK &&
        tsl_matcher_new(g, NULL, &m) == TSL_OK) {
      CHECKF(tsl_matcher_new(contrary, NULL, &other) == TSL_OK, "no memory");
      bool repeated = tsl_matcher_accept_bytes(other, t.at, t.n, NULL) == TSL_OK &&
                      tsl_matcher_is_complete(other);
      tsl_matcher_free(other);
      bool wanted = unique_items(v), got = tsl_matcher_accept_bytes(m, t.at, t.n, NULL) == TSL_OK &&
                                           tsl_matcher_is_complete(m);
      CHECKF(wanted == got, "%s: %s", t.at, wanted ? "refused" : "accepted");
      CHECKF(wanted == !repeated, "%s: %s by the contrary", t.at, wanted ? "accepted" : "refused");
      tsl_matcher_free(m);
    } else {
      CHECKF(false, "%s", t.at);
    }
    tsl__arena_free(&arena);
  }
  tsl_grammar_release(contrary);
  tsl_grammar_release(g);
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void test_moving(void) {
  tsl_grammar *g = compile(walked[1], TSL_WS_ANY);
  tsl_matcher *m = NULL, *fork = NULL;
  static uint32_t masks[24][8192 / 32], mask[8192 / 32];
  uint64_t ids[24], id, seed = 3;
  const uint32_t *borrowed;
  const char *text = "[\"a\",\"ab\",\"b\"";
  size_t n = strlen(text), words = tsl_vocab_mask_words(vocab);
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (size_t i = 0; i < n; i++) {
    CHECK(tsl_matcher_mask(m, masks[i]) == TSL_OK &&
          tsl_matcher_mask_borrow(m, &borrowed, &ids[i]) == TSL_OK);
    CHECK(!memcmp(borrowed, masks[i], words * sizeof *mask));
    CHECK(tsl_matcher_accept_bytes(m, text + i, 1, NULL) == TSL_OK);
  }
  for (int round = 0; round < ROUNDS_OF(200); round++) {
    size_t back = tsl_test_random(&seed) % n + 1;
    CHECK(tsl_matcher_fork(m, &fork) == TSL_OK);
    CHECK(tsl_matcher_rollback(fork, back) == TSL_OK);
    CHECK(tsl_matcher_mask(fork, mask) == TSL_OK &&
          !memcmp(mask, masks[n - back], words * sizeof *mask));
    CHECK(tsl_matcher_mask_borrow(fork, &borrowed, &id) == TSL_OK && id == ids[n - back]);
    CHECK(tsl_matcher_accept_bytes(fork, text + n - back, back, NULL) == TSL_OK);
    CHECK(tsl_matcher_accept_bytes(fork, ",\"a\"", 4, NULL) == TSL_REJECTED);
    tsl_matcher_free(fork);
  }
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_mask(m, mask) == TSL_OK && !memcmp(mask, masks[0], words * sizeof *mask));
  CHECK(tsl_matcher_accept_bytes(m, "[\"b\"", 4, NULL) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* ---- among other text ------------------------------------------------------------------------ */

static bool accepts(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL, *slow = NULL;
  size_t n = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(g, NULL, &slow) == TSL_OK);
  bool good =
      tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK && tsl_matcher_is_complete(m);
  while (text[n] && tsl_matcher_accept_bytes(slow, text + n, 1, NULL) == TSL_OK) n++;
  CHECKF(good == (!text[n] && tsl_matcher_is_complete(slow)), "%s: not the same byte by byte",
         text);
  tsl_matcher_free(m);
  tsl_matcher_free(slow);
  return good;
}

static void test_among_text(void) {
  static const char tags[] =
      "{\"type\":\"structural_tag\",\"format\":{\"type\":\"triggered_tags\",\"triggers\":[\"<t>\"],"
      "\"tags\":[{\"type\":\"tag\",\"begin\":\"<t>\",\"content\":{\"type\":\"json_schema\","
      "\"json_schema\":{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"array\","
      "\"uniqueItems\":true}}},\"end\":\"</t>\"}]}}";
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_tags(vocab, tags, strlen(tags), NULL, NULL, &g, &error) == TSL_OK, "%s",
         error.message);
  if (!g) return;
  CHECK(accepts(g, "say \"[{ x\\ <t>[[1,2],[2,1]]</t>, [1, 1 <t>[[1]]</t>\"<t>[[1]]</t>"));
  CHECK(!accepts(g, "say \"[{ x\\ <t>[[1,2],[1.0,2]]</t>"));
  CHECK(!accepts(g, "<t>[[1]]</t> \" <t>[[3,3]]</t>"));
  CHECK(!accepts(g, "<t>[[1]]</t>]}\" <t>[[3],[3]]</t>"));
  tsl_grammar_release(g);
  g = compile("{\"type\":\"object\",\"properties\":{\"a\":{\"uniqueItems\":true,\"type\":\"array\","
              "\"items\":{\"type\":\"object\"}}}}",
              TSL_WS_PRETTY);
  if (!g) return;
  CHECK(accepts(g, "{\n\"a\": [\n{\n\"x\": 1\n},\n{\n\"x\": 2\n}\n]\n}"));
  CHECK(!accepts(g, "{\n\"a\": [\n{\n\"x\": 1\n},\n{\n\"x\": 1\n}\n]\n}"));
  tsl_grammar_release(g);
}

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

/* Of two names that there are one is used: an escape must not begin to spell it again, whatever its
 * length in UTF-8, where nothing else can come of it. */
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

/* Texts with repetitions in them: at once as many bytes are taken as one by one, and they lead to
 * the same position. */
static void test_at_once(void) {
  static const char *const pieces[] = {"[",     "]",      "{",      "}",      ",",
                                       ",",     "1",      "2",      "10",     "\"a\"",
                                       "\"b\"", "\"ab\"", "\"a\":", "\"b\":", "\"\\u0061\"",
                                       " ",     "true",   "false",  "{}",     "null",
                                       "0"};
  uint64_t seed = 21;
  for (size_t i = 0; i < sizeof walked / sizeof *walked; i++) {
    tsl_grammar *g = compile(walked[i], TSL_WS_ANY);
    for (int round = 0; g && round < ROUNDS_OF(60); round++) {
      tsl_matcher *m = NULL, *slow = NULL;
      char text[400] = "";
      size_t taken = 0, n = 0;
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(g, NULL, &slow) == TSL_OK);
      while (strlen(text) < 60 && tsl_test_random(&seed) % 30) { /* what may come, mostly */
        size_t end = strlen(text);
        strcat(text, pieces[tsl_test_random(&seed) % (sizeof pieces / sizeof *pieces)]);
        tsl_matcher *fork = NULL;
        CHECK(tsl_matcher_new(g, NULL, &fork) == TSL_OK);
        if (tsl_matcher_accept_bytes(fork, text, strlen(text), NULL) != TSL_OK &&
            tsl_test_random(&seed) % 12)
          text[end] = 0;
        tsl_matcher_free(fork);
      }
      bool whole = tsl_matcher_accept_bytes(m, text, strlen(text), &taken) == TSL_OK;
      while (text[n] && tsl_matcher_accept_bytes(slow, text + n, 1, NULL) == TSL_OK) n++;
      CHECKF(taken == n && whole == !text[n] &&
                 (!whole || tsl_matcher_is_complete(m) == tsl_matcher_is_complete(slow)),
             "%s: %zu and %zu bytes of %s", walked[i], taken, n, text);
      if (whole) CHECKF(m->at == slow->at, "%s: another position after %s", walked[i], text);
      tsl_matcher_free(m);
      tsl_matcher_free(slow);
    }
    tsl_grammar_release(g);
  }
}

#define PIECES_TOKENS 900u

/* Every byte, and tokens of two to seven pieces of JSON: whole items, several of them, names and
 * what comes after. */
static tsl_vocab *vocab_of_pieces(uint64_t *seed) {
  static const char *const pieces[] = {
      "[",     "[",     "]",      "{",      "}",       ",",  ",",  ",",  ":",    "\"",   "a",
      "b",     "1",     "1",      "2",      "0",       "-1", ".5", "e1", "true", "null", "\"a\"",
      "\"a\"", "\"b\"", "\"a\":", "\"b\":", "\\u0061", " ",  "\n", "[]", "{}"};
  static const char *const values[] = {"1",  "\"a\"", "true",      "[]",
                                       "{}", "[1]",   "{\"a\":1}", "[[1],{\"a\":[]}]"},
                           *const forms[] = {"[%s,%s", "[%s,%s]", "[ %s , %s,", "{\"a\":[%s,%s",
                                             "[0,[%s,%s]"};
  enum { VALUES = sizeof values / sizeof *values, FORMED = VALUES * sizeof forms / sizeof *forms };
  static uint8_t bytes[256 + PIECES_TOKENS * 7 * 6];
  static uint32_t offsets[256 + PIECES_TOKENS + 1];
  uint32_t n = 0;
  for (uint32_t t = 0; t < 256 + PIECES_TOKENS; t++) {
    offsets[t] = n;
    if (t < 256) bytes[n++] = (uint8_t)t;
    /* the same item twice */
    if (t >= 256 && t < 256 + FORMED)
      n += (uint32_t)snprintf((char *)bytes + n, 42, forms[(t - 256) / VALUES], values[t % VALUES],
                              values[t % VALUES]);
    for (uint32_t left = t < 256 + FORMED ? 0 : 2 + (uint32_t)(tsl_test_random(seed) % 6); left > 0;
         left--) {
      const char *piece = pieces[tsl_test_random(seed) % (sizeof pieces / sizeof *pieces)];
      memcpy(bytes + n, piece, strlen(piece));
      n += (uint32_t)strlen(piece);
    }
  }
  offsets[256 + PIECES_TOKENS] = n;
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 256 + PIECES_TOKENS};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK);
  return v;
}

/* Where tokens hold more than one item or member: each mask has just what is taken. */
static void test_pieces(void) {
  static const char *const more[] = {
      "true",
      "{\"type\":\"array\",\"uniqueItems\":true}",
      "{\"properties\":{\"a\":{\"uniqueItems\":true},\"b\":{\"maxItems\":2}}}",
      "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[1,2,\"a\",\"b\",[],{},true]}}",
      "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"array\",\"uniqueItems\":true,"
      "\"items\":{\"enum\":[1,\"a\",null]}}}",
      "{\"type\":\"object\",\"propertyNames\":{\"enum\":[\"a\",\"b\",\"ab\"]},\"minProperties\":2}",
      "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[ab]{1,"
      "2}$\"}}}"};
  const size_t n = sizeof walked / sizeof *walked, all = n + sizeof more / sizeof *more;
  uint64_t seed = 77;
  tsl_vocab *embedded = vocab;
  uint32_t mask[(256 + PIECES_TOKENS) / 32 + 1];
  if (!(vocab = vocab_of_pieces(&seed))) return;
  for (size_t i = 0; i < all; i++) {
    const char *schema = i < n ? walked[i] : more[i - n];
    tsl_grammar *g = compile(schema, i % 3 ? TSL_WS_ANY : TSL_WS_COMPACT);
    for (int round = 0; g && round < 6; round++) {
      tsl_matcher *m = NULL;
      char text[2000] = "";
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
      for (int step = 0; m && step < 10; step++) {
        CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
        CHECK(mask_is_right(m, mask, schema, text));
        size_t count = tsl_mask_count(mask, 256 + PIECES_TOKENS),
               k = count ? tsl_test_random(&seed) % count : 0, length;
        tsl_token t = 0;
        if (!count) break;
        while (!tsl_mask_has(mask, t) || k--) t++;
        if (tsl_mask_has(mask, '[') && step == 0) t = '[';
        if (tsl_mask_has(mask, ',') && tsl_test_random(&seed) % 2) t = ',';
        CHECK(tsl_matcher_accept(m, t) == TSL_OK);
        const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &length);
        strncat(text, (const char *)bytes, length);
      }
      tsl_matcher_free(m);
    }
    tsl_grammar_release(g);
  }
  tsl_vocab_release(vocab);
  vocab = embedded;
}

/* Tokens in which whole items are spelled: whether they repeat one, depends on the text; so each
 * mask is looked at after those of other texts. */
static void test_items_in_tokens(void) {
  static const char *const tokens[] = {"\",\"",
                                       "\",\"\",\"",
                                       "\",\"\",",
                                       "a\",\"\",",
                                       "\",\"a\",\"",
                                       "\",\"a\"]",
                                       "\",\"\"]",
                                       "b\",\"a\",",
                                       "\",\"b\",\"a",
                                       "\", \"a\", \"",
                                       "\",{\"",
                                       "\",[\"a\"],\"",
                                       "a\"],[\"",
                                       "\"],[\"\"],[",
                                       "\",{\"a\":\"a\"},{\"",
                                       "\"},{\"a\":\"\"},{\"a\":\"",
                                       "a\"},{\"a\":\"a\"},"};
  static const struct {
    const char *schema, *texts[9];
  } rows[] = {
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\"}}",
       {"[\"b", "[\"", "[\"a", "[\"ab", "[\"c\",\"", "[\"c\",\"a", "[\"c\",\"b", "[\"\",\"ab"}},
      {"{\"type\":\"array\",\"uniqueItems\":true}",
       {"[\"b", "[\"", "[\"a", "[\"ab", "[[\"b", "[[\"", "[[\"a", "[[\"b\",\"a"}},
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"properties\":{\"a\":{\"type\":"
       "\"string\"}}}}",
       {"[{\"a\":\"b", "[{\"a\":\"", "[{\"a\":\"a", "[{\"a\":\"\"},{\"a\":\"b", "[[\"b", "[[\"",
        "[[\"a", "[\"b"}},
  };
  enum { TOKENS = sizeof tokens / sizeof *tokens };
  static uint8_t bytes[256 + TOKENS * 40];
  uint32_t offsets[256 + TOKENS + 1], n = 0, mask[(256 + TOKENS) / 32 + 1];
  tsl_vocab *embedded = vocab;
  for (uint32_t t = 0; t < 256 + TOKENS; t++) {
    offsets[t] = n;
    if (t < 256)
      bytes[n++] = (uint8_t)t;
    else
      n += (uint32_t)snprintf((char *)bytes + n, 40, "%s", tokens[t - 256]);
  }
  offsets[256 + TOKENS] = n;
  CHECK(tsl_vocab_new(&(tsl_vocab_desc){.bytes = bytes, .offsets = offsets, .size = 256 + TOKENS},
                      NULL, &vocab, NULL) == TSL_OK);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    for (unsigned first = 0; first < 8; first++) { /* which text is looked at first */
      tsl_grammar *g = compile(rows[i].schema, TSL_WS_ANY);
      for (unsigned k = 0; g && k < 8; k++) {
        const char *text = rows[i].texts[(first + k) % 8];
        tsl_matcher *m = NULL;
        CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
              tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
              tsl_matcher_mask(m, mask) == TSL_OK);
        CHECK(mask_is_right(m, mask, rows[i].schema, text));
        tsl_matcher_free(m);
      }
      tsl_grammar_release(g);
    }
  tsl_vocab_release(vocab);
  vocab = embedded;
}

/* Different strings in any spelling, some of which begin alike: never a repetition, whichever byte
 * one looks at. */
static void test_different_strings(void) {
  static const char *const strings[][5] = {{"\xF0\x9F\x98\x80", "\\ud83d\\ude00", "\\uD83D\\uDE00"},
                                           {"\xF0\x9F\x98\x81", "\\ud83d\\ude01", "\\uD83d\\uDe01"},
                                           {"\xC3\xA9", "\\u00e9", "\\u00E9"},
                                           {"\xC3\xA8", "\\u00e8"},
                                           {"\\u0010"},
                                           {"\\u001f", "\\u001F"},
                                           {"/", "\\/", "\\u002f", "\\u002F"},
                                           {"//", "\\/\\/", "/\\u002F", "\\u002f/"},
                                           {"a", "\\u0061"},
                                           {"ab", "\\u0061b", "a\\u0062"},
                                           {"\\\"", "\\u0022"},
                                           {"\\\\", "\\u005c", "\\u005C"},
                                           {"\\n", "\\u000a", "\\u000A"},
                                           {""},
                                           {"\\\\u1"},
                                           {"\\\\u2A", "\\u005cu2\\u0041"},
                                           {"\\\\u00e9"}};
  const unsigned n = sizeof strings / sizeof *strings;
  char schema[500] = "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[";
  uint64_t seed = 8;
  for (unsigned i = 0; i < n; i++)
    snprintf(schema + strlen(schema), sizeof schema - strlen(schema), "%s\"%s\"", i ? "," : "",
             strings[i][0]);
  strcat(schema, "]}}");
  tsl_grammar *g = compile(schema, TSL_WS_COMPACT);
  for (int round = 0; g && round < ROUNDS_OF(400); round++) {
    char text[600] = "[";
    unsigned used = 0, last = 0;
    for (unsigned items = 1 + (unsigned)(tsl_test_random(&seed) % n), i = 0; i < items; i++) {
      unsigned which = (unsigned)(tsl_test_random(&seed) % n), ways = 0;
      while (used >> which & 1u) which = (which + 1) % n;
      used |= 1u << which;
      while (ways < 5 && strings[which][ways]) ways++;
      last = which;
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"%s\"", i ? "," : "",
               strings[which][tsl_test_random(&seed) % ways]);
    }
    size_t length = strlen(text);
    strcat(text, "]");
    CHECKF(accepts(g, text), "%s", text);
    snprintf(text + length, sizeof text - length, ",\"%s\"]", strings[last][0]);
    CHECKF(!accepts(g, text), "%s", text);
  }
  tsl_grammar_release(g);
  /* what looks like an escape is none */
  g = compile(
      "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[\"\\\\u1\",\"\\\\u2\"]}}",
      TSL_WS_COMPACT);
  if (g)
    CHECK(accepts(g, "[\"\\\\u1\",\"\\\\u2\"]") && accepts(g, "[\"\\\\u2\",\"\\u005cu1\"]") &&
          !accepts(g, "[\"\\\\u1\",\"\\u005cu1\"]"));
  tsl_grammar_release(g);
}

/* What is spelled by two escapes, and could become a repetition until the last digit: byte by byte,
 * each of which is among those that may come. */
static void test_pairs(void) {
  static const struct {
    const char *schema, *text;
  } cases[] = {
      {"{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[^a]$\"}}",
       "{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude01\":2,\"\\uD83D\\uDE02\":3}"},
      {"{\"type\":\"object\",\"propertyNames\":{\"maxLength\":1}}",
       "{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude01\":2,\"\\uD83D\\uDE02\":3}"},
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\",\"maxLength\":1}}",
       "[\"\xF0\x9F\x98\x80\",\"\\ud83d\\ude01\",\"\\uD83D\\uDE02\"]"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = compile(cases[i].schema, TSL_WS_COMPACT);
    tsl_matcher *m = NULL;
    CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (const char *at = cases[i].text; m && *at; at++) {
      uint32_t next[8] = {0};
      CHECKF(tsl_matcher_next_bytes(m, next) == TSL_OK &&
                 (next[(uint8_t)*at / 32] >> (uint8_t)*at % 32 & 1u),
             "%s before %s", cases[i].text, at);
      CHECK(tsl_matcher_accept_bytes(m, at, 1, NULL) == TSL_OK);
    }
    CHECK(m && tsl_matcher_is_complete(m));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* A long loop of a single byte has no more texts than it is long: once all from some length on are
 * used, that length is a dead end. */
static void test_single_file(void) {
  tsl_grammar *g = compile("{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":"
                           "\"string\",\"pattern\":\"^a{0,40}$\"}}",
                           TSL_WS_COMPACT);
  tsl_matcher *m = NULL;
  char text[60] = "\"", *letters = memset(text + 1, 'a', 40);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "[", 1, NULL) == TSL_OK);
  for (int n = 40; m && n >= 8; n--) {
    strcpy(letters + n, "\",");
    CHECK(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK);
  }
  CHECK(m && tsl_matcher_accept_bytes(m, "\"aaaaaaa", 8, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_REJECTED &&
        tsl_matcher_accept_bytes(m, "\"]", 2, NULL) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Where nothing is to be remembered any more, positions are the plain ones. */
static void test_forgotten(void) {
  static const char *const texts[] = {"{\"l\":[1,2]", "{\"l\":[[],\"a\",{\"q\":1,\"r\":[]}]",
                                      "{\"l\":[]"};
  tsl_grammar *g =
      compile("{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"uniqueItems\":true}"
              ",\"x\":{\"maxLength\":3}},\"additionalProperties\":false}",
              TSL_WS_COMPACT);
  tsl_matcher *m[3] = {NULL};
  for (size_t i = 0; g && i < 3; i++) {
    CHECK(tsl_matcher_new(g, NULL, &m[i]) == TSL_OK &&
          tsl_matcher_accept_bytes(m[i], texts[i], strlen(texts[i]), NULL) == TSL_OK);
    CHECKF(!tsl__stack_at(g->space, m[i]->at)->has_distinct, "after %s", texts[i]);
    CHECK(tsl_matcher_accept_bytes(m[i], ",\"x\":[1,{\"a\":1,\"b\":2}", 21, NULL) == TSL_OK &&
          !tsl__stack_at(g->space, m[i]->at)->has_distinct);
    CHECK(tsl_matcher_accept_bytes(m[i], ",2]", 3, NULL) == TSL_OK &&
          !tsl__stack_at(g->space, m[i]->at)->has_distinct);
  }
  for (size_t i = 0; i < 3; i++) tsl_matcher_free(m[i]);
  tsl_grammar_release(g);
}

/* A lent mask is written over the one before where few tokens differ: of positions with and without
 * a memory, in turns. */
static void test_lent(void) {
  static const char *const texts[] = {"[{\"b\": 10}, {}, \"x\", \"x\"]", "\"\"",
                                      "[\"a\", \"b\", \"ab\", 1, 10, 1.0]", "\"a\""};
  tsl_grammar *g = compile("{\"pattern\":\".\",\"uniqueItems\":true}", TSL_WS_ANY);
  static uint32_t mask[8192 / 32];
  const uint32_t *lent;
  tsl_matcher *m = NULL;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (size_t round = 0; round < 3; round++)
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
      tsl_matcher_reset(m);
      for (size_t k = 0; k <= strlen(texts[i]); k++) {
        CHECK(tsl_matcher_mask(m, mask) == TSL_OK &&
              tsl_matcher_mask_borrow(m, &lent, NULL) == TSL_OK);
        CHECKF(!memcmp(mask, lent, tsl_vocab_mask_words(vocab) * sizeof *mask),
               "after %zu bytes of %s, round %zu", k, texts[i], round);
        if (k == strlen(texts[i]) || tsl_matcher_accept_bytes(m, texts[i] + k, 1, NULL) != TSL_OK)
          break;
      }
    }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(test_enumerated, "small languages: what may follow each prefix");
  RUN(test_masks, "masks against forks, to the end");
  RUN(test_items_in_tokens, "whole items within tokens, after other texts");
  RUN(test_pieces, "tokens of several items and members");
  RUN(test_different_strings, "different strings in every spelling");
  RUN(test_pairs, "characters of two escapes, to the last digit");
  RUN(test_single_file, "a loop of one byte is used up");
  RUN(test_forgotten, "what was remembered is forgotten");
  RUN(test_at_once, "bytes at once, and one by one");
  RUN(test_names, "names of additional members, decoded");
  RUN(test_escaped_names, "an escape does not begin to spell a name that is used");
  RUN(test_names_in_names, "names that begin with one another");
  RUN(test_used_up, "strings beyond repetitions make nothing new");
  RUN(test_few_names, "names that are used up");
  RUN(test_twice_negated, "items that must differ where others might have to be equal");
  RUN(test_spellings, "equal values in every spelling");
  RUN(test_among_text, "inside other text, and printed prettily");
  RUN(test_moving, "rollback, fork, reset, identities");
  RUN(test_lent, "lent masks are the masks");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
