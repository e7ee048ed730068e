/* test_distinct.c - what must not be repeated: against enumeration, token by token, and in every
 * spelling.
 *
 *   enumerated  small languages, whose texts a naive recursion lists. After each prefix of each
 *               text exactly those bytes may come next with which some text goes on. The text may
 *               end exactly where one does
 *   masks       random walks under masks: a bit is set exactly if a fork accepts the token; every
 *               walk ends; no two items are equal (tsl__json_equal)
 *   spellings   random values, written twice in random spellings: never both; written beside
 *               different ones: always
 *   moving      rollback, fork and reset come back to the same masks
 *   forgotten   where nothing must differ any more, positions are plain ones; lent masks are right
 *
 * Beside it: test_distinct_names.c (names), test_distinct_tokens.c (tokens of several items).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/repeats.h"
#include "tests/support/distinct.h"
#include "tests/support/distinct_walked.h"
#include "tests/support/accepted.h"

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
  /* to the end, as fast as possible */
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
      tsl_matcher_is_complete(m) && tsl__json_parse(&arena, NULL, text, n, 100, &v, NULL) == TSL_OK;
  if (parsed) CHECKF(!text_repeats_name(text, n), "%s: %.*s", schema, (int)n, text);
  if (parsed) CHECKF(as_expected(v, expected), "%s: %.*s", schema, (int)n, text);
  tsl__arena_free(&arena);
  tsl_matcher_free(m);
}

static void walk_often(const char *schema, uint64_t *seed, enum expected expected) {
  tsl_grammar *broad = compile(schema, TSL_WS_ANY), *compact = compile(schema, TSL_WS_COMPACT);
  for (int k = 0; broad && compact && k < ROUNDS_OF(12); k++)
    walk(k % 2 ? broad : compact, schema, seed, expected);
  tsl_grammar_release(broad);
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
 * What was found out with some items used must not hold for others. */
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
    if (tsl__json_parse(&arena, NULL, t.at, t.n, 100, &v, NULL) == TSL_OK &&
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

/* Texts with repetitions in them: at once as many bytes are read as one by one, and they lead to
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
      size_t accepted = 0, n = 0;
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
      bool whole = tsl_matcher_accept_bytes(m, text, strlen(text), &accepted) == TSL_OK;
      while (text[n] && tsl_matcher_accept_bytes(slow, text + n, 1, NULL) == TSL_OK) n++;
      CHECKF(accepted == n && whole == !text[n] &&
                 (!whole || tsl_matcher_is_complete(m) == tsl_matcher_is_complete(slow)),
             "%s: %zu and %zu bytes of %s", walked[i], accepted, n, text);
      if (whole) CHECKF(m->at == slow->at, "%s: another position after %s", walked[i], text);
      tsl_matcher_free(m);
      tsl_matcher_free(slow);
    }
    tsl_grammar_release(g);
  }
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
  RUN(test_forgotten, "what was remembered is forgotten");
  RUN(test_at_once, "bytes at once, and one by one");
  RUN(test_twice_negated, "items that must differ where others might have to be equal");
  RUN(test_spellings, "equal values in every spelling");
  RUN(test_among_text, "inside other text, and printed prettily");
  RUN(test_moving, "rollback, fork, reset, identities");
  RUN(test_lent, "lent masks are the masks");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
