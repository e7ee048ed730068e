/* test_overlap.c - counted loops that a text can stand in twice (compiler/expr/overlap.c). Tested
 * are which of them are found, what their masks cost in counted steps, and every token of some
 * masks by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/regex/regex.h"
#include "tests/support/draw.h"

static tsl_vocab *vocab;

/* A pattern of two numbers; a text of it. `most`: visits of a state at a node of the trie. */
typedef struct shape {
  const char *pattern, *text;
  uint64_t most;
} shape;

static const char words[] = "the quick brown fox jumps over the lazy dog and then it sleeps";
static const char listed[] = "one, two, three and four, five, six or seven, end";

static const shape shapes[] = {
    {"^(.{1,%u}){1,%u}$", words, 200000},
    {"^([a-z]{1,%u} ?){1,%u}$", words, 200000},
    {"^([a-z]+ ?){2,%u}(-[a-z]{1,%u})*$", words, 200000},
    {"^(([a-z]{1,%u} ?){3,%u}\\.? ?){1,20}$", words, 200000},
    {"^(.{0,%u},){0,%u} end$", listed, 200000},
    {"^(?:.{0,%u},){2}.{0,%u}end$", listed, 200000},
    {"^(?:\\S{1,%u}\\s?){1,%u}$", words, 200000},
};

static uint64_t steps_of(const shape *s, unsigned a, unsigned b) {
  char pattern[128];
  tsl_grammar_stats stats = {0};
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4);
  snprintf(pattern, sizeof pattern, s->pattern, a, b);
  tsl_grammar *g = grammar_of(vocab, pattern);
  CHECK(g && mask && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (size_t i = 0; m && mask && i <= strlen(s->text); i++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK, "%s after %zu bytes", pattern, i);
    if (i % 16 == 7) CHECK(mask_is_right(m, mask, pattern, s->text));
    if (i < strlen(s->text))
      CHECKF(tsl_matcher_accept_bytes(m, s->text + i, 1, NULL) == TSL_OK, "%s after %zu bytes",
             pattern, i);
  }
  if (g) tsl_grammar_get_stats(g, &stats);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
  return stats.walk_steps;
}

/* With larger bounds the steps stay what they are. */
static void costs(void) {
  static const unsigned bounds[][2] = {{20, 40}, {30, 100}, {40, 400}, {200, 1000}};
  tsl_vocab_set_walk_cache(vocab, 0);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
      uint64_t steps = steps_of(&shapes[i], bounds[k][0], bounds[k][1]);
      CHECKF(steps <= shapes[i].most, "%s with %u and %u: %llu steps", shapes[i].pattern,
             bounds[k][0], bounds[k][1], (unsigned long long)steps);
    }
}

static void found(void) {
  static const struct {
    const char *pattern;
    bool overlaps;
  } rows[] = {{"([a-z]{1,30} ?){3,40}", true},
              {"([a-z]+,?){1,9}", true},
              {"(.{0,100},){5}", true},
              {".{0,100}-.{0,100}", true},
              {"([a-z]{1,30} ?){2}", true},
              {"([a-z]{1,30} ){3,40}", false},
              {"[a-z]{1,100}", false},
              {"[a-z]{1,100}x", false},
              {"[a-z]{1,100}-[a-z]{1,100}", false},
              {"([a-z]{40} ?){3,40}", false},
              {"([a-z]+ ?){30,40}", false}, /* intervals would not join */
              {"([a-z]+ ?)*", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl__exprs *x = NULL;
    tsl__expr e = TSL__NONE;
    const tsl__regex_flags flags = {0};
    CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
    if (!x) return;
    CHECK(tsl__regex_compile(x, rows[i].pattern, strlen(rows[i].pattern), &flags, &e, NULL) ==
          TSL_OK);
    CHECKF(tsl__overlaps(x, e) == rows[i].overlaps, "%s", rows[i].pattern);
    tsl__exprs_free(x);
  }
}

/* One loop for two, where no number is missing. */
static void joined(void) {
  tsl__exprs *x = NULL;
  CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
  if (!x) return;
  tsl__expr a = tsl__expr_range(x, 'a', 'z');
  for (uint32_t low = 0; low < 4; low++)
    for (uint32_t high = low ? low : 1; high < 6; high++)
      for (uint32_t min = 0; min < 4; min++)
        for (uint32_t max = min ? min : 1; max < 5; max++) {
          tsl__expr e = tsl__expr_repeat(x, tsl__expr_repeat(x, a, low, high), min, max);
          char text[32];
          memset(text, 'k', sizeof text);
          for (uint32_t n = 0; n <= 25; n++) {
            bool some = n == 0 && min == 0;
            for (uint32_t k = min; k <= max; k++) some |= n >= k * low && n <= k * high;
            CHECKF(tsl__expr_matches(x, e, text, n) == some, "(r{%u,%u}){%u,%u}: %u", low, high,
                   min, max, n);
          }
        }
  tsl__exprs_free(x);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  RUN(found, "which loops are counted down");
  RUN(joined, "a loop of a loop as one");
  RUN(costs, "loops in loops, at any bounds");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
