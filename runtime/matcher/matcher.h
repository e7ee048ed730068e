/* matcher.h - the inside of a matcher, for what decodes on top of it (runtime/decode/).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_MATCHER_H
#define TSL_RUNTIME_MATCHER_MATCHER_H

#include "runtime/masks/borrow.h"
#include "runtime/matcher/quota.h"

struct tsl_matcher {
  /* of `at`: both change together (tsl__matcher_stand). What each step asks comes first: where the
   * caches are empty, each pointer on the way to it costs as much as a warm mask */
  const tsl__stack_rec *record;
  const tsl__mask_rec *mask; /* the position's; NULL: not asked for yet */
  const tsl__space *space;   /* the grammar's tables */
  const tsl_vocab *vocab;
  tsl__stack at;
  /* ring of positions before each accepted token; bit 31 never set in a position */
  uint32_t *history;
  uint32_t history_cap, history_n, history_next;
  bool terminated; /* an end-of-generation token was accepted */
  bool has_quotas; /* the grammar has zones */
  bool kept;       /* `keeps` is known */
  /* a token of these bytes alone leaves the position as it is, which `stays` */
  tsl__bytes keeps;
  tsl_grammar *grammar;
  tsl_allocator alloc;
  uint32_t counted;          /* tokens in the zone that the text is in (quota.h) */
  uint32_t *counted_history; /* ring like `history`; NULL where the grammar has no zones */
  tsl__borrowed borrowed;    /* what tsl_matcher_mask_borrow hands out */
};

static inline void tsl__matcher_stand(tsl_matcher *m, tsl__stack at) {
  m->at = at;
  m->record = tsl__stack_at(m->space, at);
  m->mask = NULL;
  m->kept = false;
}

/* One that stands there and has no history. It does not retain the grammar. */
static inline tsl_matcher tsl__matcher_of(tsl_grammar *grammar, const tsl_allocator *alloc,
                                          tsl__stack at) {
  tsl_matcher m = {.space = grammar->space,
                   .vocab = grammar->vocab,
                   .has_quotas = grammar->quota_count != 0,
                   .grammar = grammar,
                   .alloc = *alloc};
  tsl__matcher_stand(&m, at);
  return m;
}

/* Where a token that does not end the generation leads from a position; *to = 0 if it is rejected.
 * Takes the lock where it must. */
tsl_status tsl__grammar_lead(tsl_grammar *g, tsl__stack from, tsl_token token, tsl__stack *to);
/* The same where tokens are counted: with *counted of them behind it in its zone (quota.h). */
tsl_status tsl__grammar_lead_counted(tsl_grammar *g, tsl__stack from, tsl_token token,
                                     tsl__stack *to, uint32_t *counted);
/* The mask of a position. Takes the lock where it must. */
tsl_status tsl__grammar_mask(tsl_grammar *g, tsl__stack at, const tsl__mask_rec **mask);
/* The same of a matcher: NULL where its tables have none that is the same. */
tsl_status tsl__matcher_mask(tsl_matcher *m, const tsl__mask_rec **mask);
/* tsl_matcher_forced_bytes; where no names are spelled, only as far as no token may be taken by its
 * name. */
tsl_status tsl__matcher_forced(tsl_matcher *m, bool spells_names, uint8_t *bytes, size_t capacity,
                               size_t *length);

#endif
