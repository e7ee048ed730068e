/* matcher.h - the inside of a matcher, for what decodes on top of it (runtime/decode/), and the
 * trip of a token through tsl_matcher_accept.
 *
 * Problem   A token must be accepted in a few ns if it was accepted at this position before, in any
 *           sequence. It must be read byte by byte only the first time.
 * Idea      A position is a number (runtime/position/stacks.h), and where a token leads is kept
 *           with it. What is kept is read without the lock. What is not there yet is found under
 *           the grammar's lock, and written down for everybody.
 *
 * The trip of a known token
 *
 *     tsl_matcher_accept         matcher.c   the record's first token is this one: done
 *     accept_kept                matcher.c   the frame `stays` and the token keeps it: done
 *
 * The trip of any other token (the lines with + are for a token that is new at this position)
 *
 *     accept_looked_up           matcher.c                  is it a token, does it end the text
 *     tsl__grammar_lead          matcher.c                  without the lock first
 *     tsl__stack_find_token      position/stacks_token.c    record, `stays`, table of moves
 *   + tsl__grammar_lock          grammar.h                  lock; a new budget of steps
 *   + tsl__stack_token_anew      position/stacks_token.c    spelled, or named, or both
 *   + tsl__step_bytes            position/stacks_step.c     the bytes, one by one or in runs
 *   + tsl__step_collect          position/stacks_step.c     the frames become one number
 *   + note_token                 position/stacks_token.c    first token of the record, or a move
 *     advance                    matcher.c                  history, position, record
 *
 * On the first trip the token stays in this room. On the second trip it goes to runtime/vocab (does
 * it end the text?) and to runtime/position (is it known?). A new token also goes to
 * runtime/automaton (the budget), and to runtime/position again. A state that is visited first is
 * expanded by the compiler (space->hook), from within step_bytes.
 *
 * Example   After {"a": the token `1` is new. The frame of the number reads its byte. The set of
 *           cells after it is interned, say as position 31. The record of the position before gets
 *           (1, 31) as its first token. The next sequence that is there reads it in one load.
 * Cost      Known: some ns. New: the lock, and 5 to 45 ns a byte.
 * Tested by tests/matcher/test_matcher.c, tests/matcher/test_race.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_MATCHER_H
#define TSL_RUNTIME_MATCHER_MATCHER_H

#include "runtime/masks/borrow.h"
#include "runtime/matcher/quota.h"

struct tsl_matcher {
  /* the record of `at`: both change together (tsl__matcher_stand). The fields that each step reads
   * come first. Where the caches are empty, each pointer on the way to a field costs as much as a
   * mask that is in the cache */
  const tsl__stack_rec *record;
  const tsl__mask_rec *mask; /* the position's; NULL: not requested yet */
  const tsl__space *space;   /* the grammar's tables */
  const tsl_vocab *vocab;
  tsl__stack at;
  /* ring of positions before each accepted token; bit 31 never set in a position */
  uint32_t *history;
  uint32_t history_cap, history_n, history_next;
  bool terminated; /* an end-of-generation token was accepted */
  bool has_quotas; /* the grammar has quotas */
  bool kept;       /* `keeps` is known */
  /* its text leads to `at`, so that it may read the text again (edition.h) */
  bool rereads;
  /* a token that consists of these bytes alone does not change the position, which `stays` */
  tsl__bytes keeps;
  tsl_grammar *grammar;
  tsl_allocator alloc;
  uint32_t counted;          /* tokens in the quota that the text is in (quota.h) */
  uint32_t *counted_history; /* ring like `history`; NULL where the grammar has no quotas */
  /* all that was accepted (edition.h): a token, or TSL__TEXT_BYTES and how many of text_bytes */
  uint32_t *text;
  uint32_t text_n, text_cap;
  TSL__VEC(uint8_t) text_bytes;
  tsl__borrowed borrowed; /* what tsl_matcher_mask_borrow hands out */
};

#define TSL__TEXT_FIRST 32u /* tokens that there is room for at first */

static inline void tsl__matcher_stand(tsl_matcher *m, tsl__stack at) {
  m->at = at;
  m->record = tsl__stack_at(m->space, at);
  m->mask = NULL;
  m->kept = false;
}

/* A matcher at that position, without a history. It does not retain the grammar. */
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
/* The same where tokens are counted: the position has *counted of them behind it in its quota
 * (quota.h). */
tsl_status tsl__grammar_lead_counted(tsl_grammar *g, tsl__stack from, tsl_token token,
                                     tsl__stack *to, uint32_t *counted);
/* The mask of a position. Takes the lock where it must. */
tsl_status tsl__grammar_mask(tsl_grammar *g, tsl__stack at, const tsl__mask_rec **mask);
/* The mask of a matcher's position. *mask is NULL where no mask in the tables equals it. */
tsl_status tsl__matcher_mask(tsl_matcher *m, const tsl__mask_rec **mask);
/* tsl_matcher_forced_bytes; where no names are spelled, only as far as no token may be read by its
 * name. */
tsl_status tsl__matcher_forced(tsl_matcher *m, bool spells_names, uint8_t *bytes, size_t capacity,
                               size_t *length);

#endif
