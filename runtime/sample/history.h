/* history.h - the tokens so far, counted and searched for repeats as penalties need it.
 *
 * To count the window anew for each draw would cost a pass over it. So the counts are kept: a list
 * of (token, count), sorted by token. Each accepted token adds one, and each token that leaves the
 * window takes one off.
 * Cost      DRY and n-grams make one pass over the text or the window, whatever is in it. Then the
 *           tokens that would prolong a repeat are sorted.
 * Repeats   For DRY, and n-grams: read the text backwards. Then "the last n tokens occur at another
 *           place" says that the text from there has n tokens in common with the beginning. The Z
 *           function gives that for all places in one pass. Example: … A B C … A B: backwards B A …
 *           C B A …. At the second B two tokens are common, and the token that came after them was
 *           C.
 * Ref       Z function: Gusfield 1997, "Algorithms on strings, trees, and sequences", 1.3. DRY as
 *           in text-generation-webui, there by trying each place.
 * Tested by tests/sample/test_sampler_history.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_SAMPLE_HISTORY_H
#define TSL_RUNTIME_SAMPLE_HISTORY_H

#include "runtime/core/base.h"

typedef TSL__VEC(uint32_t) tsl__words;

typedef struct tsl__seen {
  tsl_token token;
  uint32_t count;
} tsl__seen;

typedef struct tsl__history {
  TSL__VEC(tsl_token) tokens; /* prompt and accepted */
  size_t prompt;              /* how many of them are the prompt's */
  size_t window;              /* of the counts; 0 = all */
  TSL__VEC(tsl__seen) seen;   /* in the window, by token */
} tsl__history;

void tsl__history_free(tsl__history *h, const tsl_allocator *a);
/* Append; false, and no change, when out of memory. */
bool tsl__history_add(tsl__history *h, const tsl_allocator *a, tsl_token token);
/* Append several, in O(n log n) for the n tokens that are counted; false, and no change, when out
 * of memory. */
bool tsl__history_add_all(tsl__history *h, const tsl_allocator *a, const tsl_token *tokens,
                          size_t count);
/* Remove the last token; there is one. */
void tsl__history_drop(tsl__history *h);
void tsl__history_clear(tsl__history *h);
/* Copy into an empty history. False: out of memory; the caller frees what was copied. */
bool tsl__history_copy(const tsl__history *h, const tsl_allocator *a, tsl__history *to);

/* The tokens that would complete a sequence of n >= 1 tokens that occurred before, with doubles,
 * into an empty list; false when out of memory. `common`: scratch. */
bool tsl__history_ngrams(const tsl__history *h, const tsl_allocator *a, size_t n,
                         tsl__words *common, tsl__words *tokens);

/* Tokens that would prolong a repeated sequence, by token, and the longest such sequence's length
 * before them. */
typedef struct tsl__repeat {
  tsl_token token;
  uint32_t length;
} tsl__repeat;
typedef struct tsl__repeats {
  TSL__VEC(tsl__repeat) found;
  tsl__words common; /* scratch: the Z function */
} tsl__repeats;

/* Look at the last `window` tokens (0 = all) for sequences that repeat the last ones. They have at
 * least `least` >= 1 tokens, and none of the breakers (sorted). */
bool tsl__history_repeats(const tsl__history *h, const tsl_allocator *a, size_t window,
                          size_t least, const uint32_t *breakers, size_t breaker_count,
                          tsl__repeats *out);
void tsl__repeats_free(tsl__repeats *r, const tsl_allocator *a);

/* Is it in a sorted array? */
bool tsl__sorted_has(const uint32_t *at, size_t n, uint32_t x);

#endif
