/* test_regex_format.c - texts of the format regex: masks, and what the tables of one grammar come
 * to.
 *
 *   masks   a vocabulary of long tokens out of the pieces of patterns: classes, ranges, groups,
 *           names, counts, escapes, characters of all lengths. Along random texts each mask must
 *           allow just the tokens that can be accepted one by one
 *   memory  many texts of one grammar, with many groups and classes, each brought to its end. Two
 *           answers must not be worked out anew for each group that may be open. One is how a class
 *           may go on. The other is what else might end a pattern within an escape
 *   steps   a mask near the limit of a length
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "tests/support/accepted.h"
#include "tests/support/nth_token.h"
#include "turnstile.h"

#define TOKENS 1400u
#define LONGEST 24u
#define STEPS 30
#define MANY_TEXTS 300
#define MANY_STEPS 60
#define MASK_STEPS 10000
#define MANY_BYTES ((uint64_t)24 << 20)

static const char *const pieces[] = {"a",
                                     "b",
                                     "z",
                                     "0",
                                     "1",
                                     "9",
                                     "_",
                                     " ",
                                     "-",
                                     "-",
                                     "-",
                                     "[",
                                     "[",
                                     "[^",
                                     "]",
                                     "]",
                                     "(",
                                     "(?:",
                                     "(?=",
                                     "(?<a",
                                     ">",
                                     ")",
                                     ")",
                                     "{",
                                     "{1",
                                     ",",
                                     "}",
                                     "*",
                                     "?",
                                     "|",
                                     "\\\\d",
                                     "\\\\1",
                                     "\\\\0",
                                     "\\\\k<a",
                                     "\\\\b",
                                     "\\\\",
                                     "\\\\x4",
                                     "\\\\u{1F",
                                     "\\\\p{L}",
                                     "\\\\cA",
                                     "\xC3\xA9",
                                     "\xC3\xBF",
                                     "\xE6\x97\xA5",
                                     "\xF0\x9F\x98\x80",
                                     "\xE6",
                                     "\xF0\x9F",
                                     "\\u00e9",
                                     "\\n",
                                     "\""};
enum { PIECES = sizeof pieces / sizeof *pieces };

/* Single bytes first, then pieces of patterns in a row; some hold letters alone, as words do. */
static tsl_vocab *make_vocab(void) {
  static uint8_t bytes[TOKENS * 2 * LONGEST];
  static uint32_t offsets[TOKENS + 1];
  static uint8_t special[TOKENS];
  uint64_t seed = 99;
  uint32_t n = 0;
  for (uint32_t t = 0; t < TOKENS; t++) {
    uint32_t begin = offsets[t] = n;
    uint32_t length = 1 + (uint32_t)(tsl_test_random(&seed) % (t % 2 ? 8 : LONGEST)),
             choice = t % 4 == 3 ? 7 : PIECES;
    special[t] = t == 256;
    if (t < 256)
      bytes[n++] = (uint8_t)t;
    else
      while (n - begin < length) {
        const char *piece = pieces[tsl_test_random(&seed) % choice];
        memcpy(bytes + n, piece, strlen(piece));
        n += (uint32_t)strlen(piece);
      }
  }
  offsets[TOKENS] = n;
  const tsl_token end = 256;
  tsl_vocab_desc desc = {bytes, offsets, TOKENS, 0, special, &end, 1};
  tsl_vocab *vocab = NULL;
  tsl_error error = {0};
  CHECKF(tsl_vocab_new(&desc, NULL, &vocab, &error) == TSL_OK, "%s", error.message);
  return vocab;
}

static void follow(tsl_vocab *vocab, tsl_grammar *g, const char *schema, uint64_t seed) {
  tsl_matcher *m = NULL;
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  char text[STEPS * 2 * LONGEST + 1] = "";
  CHECK(mask && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int step = 0; m && mask && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
    tsl_status status = tsl_matcher_mask(m, mask);
    CHECKF(status == TSL_OK, "%s after %s: %s", schema, text, tsl_status_name(status));
    if (status != TSL_OK) break;
    bool right = mask_is_right(m, mask, schema, text);
    CHECK(right);
    size_t n = tsl_mask_count(mask, words * 32);
    CHECK(n > 0);
    if (!right || n == 0) break;
    tsl_token t =
        !step && tsl_mask_has(mask, '"') ? '"' : nth_token(mask, tsl_test_random(&seed) % n);
    if (tsl_test_random(&seed) % 3 == 0 && tsl_mask_has(mask, '[')) t = '[';
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    strncat(text, (const char *)bytes, n);
  }
  tsl_matcher_free(m);
  free(mask);
}

static void masks(void) {
  static const char *const schemas[] = {
      "{\"type\":\"string\",\"format\":\"regex\"}",
      "{\"type\":\"string\",\"format\":\"regex\",\"maxLength\":12}",
      "{\"type\":\"string\",\"format\":\"regex\",\"maxLength\":40}",
      "{\"type\":\"string\",\"format\":\"regex\",\"minLength\":9,\"not\":{\"pattern\":\"zz\"}}",
      "{\"type\":\"array\",\"items\":{\"format\":\"regex\",\"type\":\"string\"},\"uniqueItems\":"
      "true}"};
  tsl_vocab *vocab = make_vocab();
  for (size_t i = 0; vocab && i < sizeof schemas / sizeof *schemas; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECKF(tsl_grammar_json_schema(vocab, schemas[i], strlen(schemas[i]), NULL, NULL, &g, &error) ==
               TSL_OK,
           "%s: %s", schemas[i], error.message);
    for (uint64_t seed = 1; g && seed <= ROUNDS_OF(12u); seed++)
      follow(vocab, g, schemas[i], seed * 7919 + i);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(vocab);
}

/* A token to go on with: often what opens, closes or ranges, else any. */
static tsl_token draw(const uint32_t *mask, size_t words, uint64_t *seed) {
  static const char likely[] = "[[((-])\\{";
  tsl_token t = (uint8_t)likely[tsl_test_random(seed) % (sizeof likely - 1)];
  if (tsl_test_random(seed) % 2 && tsl_mask_has(mask, t)) return t;
  return nth_token(mask, tsl_test_random(seed) % tsl_mask_count(mask, words * 32));
}

/* Take the shortest completion. */
static void complete(tsl_matcher *m, tsl_budget *budget) {
  static tsl_token way[4096];
  size_t n = 0;
  tsl_status status = tsl_budget_completion(budget, m, way, sizeof way / sizeof *way, &n);
  CHECKF(status == TSL_OK, "%s", tsl_status_name(status));
  for (size_t i = 0; i < n; i++) CHECK(tsl_matcher_accept(m, way[i]) == TSL_OK);
  CHECK(tsl_matcher_is_complete(m));
}

static void memory(void) {
  static const char schema[] = "{\"type\":\"string\",\"format\":\"regex\"}";
  tsl_vocab *vocab = NULL;
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  uint64_t seed = 5;
  CHECKF(tsl_vocab_embedded(NULL, &vocab, &error) == TSL_OK, "%s", error.message);
  if (!vocab) return;
  CHECKF(tsl_grammar_json_schema(vocab, schema, sizeof schema - 1, NULL, NULL, &g, &error) ==
             TSL_OK,
         "%s", error.message);
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  tsl_budget *budget = NULL;
  CHECK(tsl_budget_new(g, NULL, &budget) == TSL_OK);
  for (int i = 0; mask && budget && i < ROUNDS_OF(MANY_TEXTS); i++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_accept(m, '"') == TSL_OK);
    for (int step = 0; m && step < MANY_STEPS - i % 40 && !tsl_matcher_is_terminated(m); step++) {
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      CHECK(tsl_matcher_accept(m, draw(mask, words, &seed)) == TSL_OK);
    }
    complete(m, budget);
    tsl_matcher_free(m);
  }
  tsl_grammar_stats stats = {0};
  if (g) tsl_grammar_get_stats(g, &stats);
  CHECKF(stats.memory < MANY_BYTES, "%llu bytes", (unsigned long long)stats.memory);
  free(mask);
  tsl_budget_free(budget);
  tsl_grammar_release(g);
  tsl_vocab_release(vocab);
}

/* Near a limit of the length a token may end within a character, in many classes. Whether the
 * pattern can still end is known at once: a search for each would take twice the steps. */
static void few_steps(void) {
  static const char schema[] = "{\"type\":\"string\",\"format\":\"regex\",\"maxLength\":20}",
                    text[] = "\"[aaaaaaaaaaaa";
  const tsl_limits limits = {.max_steps = MASK_STEPS};
  tsl_vocab *vocab = make_vocab();
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_json_schema(vocab, schema, sizeof schema - 1, NULL, &limits, &g, &error) ==
             TSL_OK,
         "%s", error.message);
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
  CHECK(mask && g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (const char *c = text; m && *c; c++) CHECK(tsl_matcher_accept(m, (uint8_t)*c) == TSL_OK);
  if (m && mask) CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
  tsl_matcher_free(m);
  free(mask);
  tsl_grammar_release(g);
  tsl_vocab_release(vocab);
}

int main(void) {
  RUN(few_steps, "a mask near a limit takes few steps");
  RUN(masks, "masks against single tokens");
  RUN(memory, "many texts of one grammar");
  return tsl_test_end();
}
