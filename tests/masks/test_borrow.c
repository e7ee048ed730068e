/* test_borrow.c - masks that are lent: rewritten from the last ones, then rows of the grammar, and
 * what those take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"

#include "runtime/masks/borrow.h"
#include "runtime/matcher/grammar.h"

#define PLACES 94 /* with a mask each: more than there are rows */

static tsl_vocab *vocab;
static size_t words;
static uint64_t refused; /* allocations of a row's size that shall fail */

static void *hook(void *ctx, void *p, size_t old_size, size_t new_size) {
  (void)ctx;
  (void)old_size;
  if (new_size == words * sizeof(uint32_t) && refused && refused--) return NULL;
  if (new_size) return realloc(p, new_size);
  free(p);
  return NULL;
}

/* A text of all printable characters once: wherever it stops, another one comes next. */
static char text[PLACES], pattern[4 * PLACES + 1];

static void make_text(void) {
  for (int i = 0; i < PLACES; i++) {
    text[i] = (char)('!' + i * 31 % PLACES);
    snprintf(pattern + 4 * i, 5, "\\x%02x", (unsigned)text[i]);
  }
}

static tsl_grammar *compile(void) {
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_regex(vocab, pattern, sizeof pattern - 1, NULL, NULL, &g, NULL) == TSL_OK);
  return g;
}

static uint64_t memory_of(const tsl_grammar *g) {
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(g, &stats);
  return stats.memory;
}

/* Once along the text: what is lent is what is written. Where it lies, in `at` (NULL: do not
 * say). */
static void follow(tsl_matcher *m, const uint32_t **at) {
  uint32_t *mask = malloc(words * 4);
  tsl_matcher_reset(m);
  for (int i = 0; mask && i < PLACES; i++) {
    const uint32_t *lent = NULL;
    CHECK(tsl_matcher_mask_borrow(m, &lent, NULL) == TSL_OK && tsl_matcher_mask(m, mask) == TSL_OK);
    CHECK(lent && !memcmp(lent, mask, words * 4));
    if (at) at[i] = lent;
    CHECK(tsl_matcher_accept_bytes(m, text + i, 1, NULL) == TSL_OK);
  }
  free(mask);
}

static void rows(void) {
  tsl_grammar *g = compile();
  tsl_matcher *m = NULL, *other = NULL;
  const uint32_t *at[2][PLACES];
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(g, NULL, &other) == TSL_OK);
  follow(m, NULL);
  CHECK(tsl__rows_memory(g->space) == 0);
  uint64_t before = memory_of(g);
  follow(other, NULL); /* each is requested again: now as many as there may be are rows */
  CHECK(tsl__rows_memory(g->space) == TSL__ROWS * words * 4 &&
        memory_of(g) == before + TSL__ROWS * words * 4);
  follow(m, at[0]);
  follow(other, at[1]);
  int shared = 0;
  for (int i = 0; i < PLACES; i++) shared += at[0][i] == at[1][i];
  /* but for what a matcher has written out itself */
  CHECKF(shared >= (int)TSL__ROWS - 4, "%d places lend the same row", shared);
  CHECK(memory_of(g) == before + TSL__ROWS * words * 4);
  tsl_matcher_free(m);
  tsl_matcher_free(other);
  tsl_grammar_release(g);
}

/* Without memory for a row a mask is lent as before, and one is made later. */
static void no_memory(void) {
  tsl_grammar *g = compile();
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  follow(m, NULL);
  refused = 10;
  follow(m, NULL);
  CHECK(refused == 0 && tsl__rows_memory(g->space) / (words * 4) <= TSL__ROWS);
  follow(m, NULL);
  CHECK(tsl__rows_memory(g->space) == TSL__ROWS * words * 4);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A grammar whose memory is used up has no rows. */
static void no_room(void) {
  tsl_grammar *g = compile();
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  follow(m, NULL);
  g->space->work.max_memory = tsl__space_memory(g->space) + 3 * words * 4;
  follow(m, NULL);
  CHECKF(tsl__rows_memory(g->space) <= 4 * words * 4, "%d rows",
         (int)(tsl__rows_memory(g->space) / (words * 4)));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

int main(void) {
  tsl_allocator allocator = {.reallocate = hook};
  CHECK(tsl_vocab_embedded(&allocator, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  words = tsl_vocab_mask_words(vocab);
  make_text();
  RUN(rows, "masks that are lent again are rows of the grammar");
  RUN(no_memory, "no memory for a row");
  RUN(no_room, "max_memory");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
