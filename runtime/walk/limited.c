/* limited.c - see walk_limited.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/limited.h"

#include "runtime/walk/classes.h"
#include "runtime/kernels/logits.h"

#define TRIES_MAX 24576u /* tokens that are tried one by one */

/* The letters of such a state; NULL: there are none, or the table is faster. */
static const tsl__hint *limited_letters(tsl__space *space, const tsl__level *l,
                                        const tsl__state_rec *r) {
  const tsl__linear *t = tsl__linear_of(space, r, 0);
  const tsl__hint *h = t && tsl__state_is_plain(r) ? tsl__state_hint(space, r) : NULL;
  if (!h || tsl__bytes_empty(&h->letters) || h->counted || h->calls || (h->ends && !l->last))
    return NULL;
  return h->limit <= TSL__SHORT_MAX && !tsl__linear_beats(space, t, r, h, 0) ? h : NULL;
}

/* Tokens of letters, of which the state surely takes a few only: those of so many are marked, and
 * of longer ones those that live when they are tried. False if that is too much, or on failure
 * (sticky). */
static bool mark_limited(tsl__space *space, tsl__level *l, const tsl__hint *h, tsl__state state,
                         uint32_t count, uint32_t *longer) {
  const tsl__lengths *lengths = tsl__lengths_of(space);
  const uint32_t *live = h->limit ? lengths->at_most[h->limit - 1] : NULL,
                 *open =
                     h->dead && h->dead <= TSL__SHORT_MAX ? lengths->at_most[h->dead - 1] : NULL;
  size_t words = tsl_vocab_mask_words(space->vocab);
  tsl__mask all = tsl__class_mask(space, &h->letters, h->wide, 0, UINT32_MAX);
  if (space->status != TSL_OK) return false;
  tsl__mask_write(space, tsl__mask_at(space, all), longer);
  if (live) {
    TSL__AT_ONCE
    for (size_t i = 0; i < words; i++) l->marks[i] |= longer[i] & live[i];
    tsl__mask_andnot(longer, live, words);
  }
  if (open) tsl__mask_and(longer, open, words);
  size_t n = tsl_mask_count(longer, words * 32);
  return n <= TRIES_MAX && tsl__space_step(space, n) &&
         tsl__linear_try(space, state, count, longer, l->marks);
}

bool tsl__walk_limited(tsl__space *space, tsl__level *l, const tsl__state_rec *r, tsl__state state,
                       uint32_t count) {
  const tsl__hint *h = limited_letters(space, l, r);
  size_t size = tsl_vocab_mask_words(space->vocab) * sizeof(uint32_t);
  if (!h || !tsl__level_bits(space, l)) return false;
  uint32_t *longer = tsl__alloc(&space->alloc, size);
  bool fine =
      longer ? mark_limited(space, l, h, state, count, longer) : tsl__space_no_memory(space);
  tsl__free(&space->alloc, longer, size);
  if (!fine) return false;
  l->less.hint = *h;
  l->less.hint.limit = TSL__COUNT_INF;
  size_t floor = l->stack.n;
  tsl__level_push(space, l, (tsl__level_entry){0, state, count, 0, false, &l->less.hint});
  tsl__search_on(space, l, floor);
  return true;
}
