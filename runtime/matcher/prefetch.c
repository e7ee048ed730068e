/* prefetch.c - masks that the next steps are likely to need, made while the model computes.
 *
 * Problem   A position's first mask takes microseconds, some take a millisecond. The processor
 *           mostly waits for the model meanwhile, some 10 ms a token.
 * Idea      Use that time. The mask of the matcher's own position comes first: the next step needs
 *           it. Then come the positions after tokens that the caller thinks likely. Then come the
 *           positions that the next bytes lead to, and those behind them, nearest first. A token
 *           ends at one of these. What is made lies in the grammar's tables, so all texts have it.
 * Bytes     A position has hundreds of tokens and few bytes that lead to other positions. In a
 *           string most bytes lead to the same one. So positions are reached by bytes.
 * Lock      It is held for one position at a time. So another matcher waits no longer than for any
 *           first mask.
 * Bounds    The caller's time: the clock is looked at between positions and every 1,024 steps.
 *           LIKELY and BEHIND positions. The share of memory that texts have (generation.h): tables
 *           that are full get no masks ahead. A position whose mask fails is passed over. The text
 *           that gets there has the failure.
 * Few       Measured on 180 texts of 60 fresh schemas with 10 ms behind each token. The own mask
 *           was always there in time. The mask behind the next token was there when the token was
 *           drawn at 59 % of the steps with the own mask alone. With 16 positions more these were
 *           75 %, with 64 76 %, with 256 72 %. But 16 take three times the memory, 64 twelve times.
 * Example   After `{"` with the members `name` and `nation`: the own mask, then those after `n`,
 *           `na`, `nam` and `nat`, and so on. A model draws `name` as one token. Its position is
 *           there already.
 * Cost      That of the masks. The positions seen take 5 KiB of the stack.
 * Tested by tests/matcher/test_prefetch.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/generation.h"

#define LIKELY 255u /* positions behind likely tokens */
#define BEHIND 16u  /* positions behind bytes */
#define PLACES (1 + LIKELY + BEHIND)
#define SLOTS 1024u /* a power of two */

typedef struct ahead {
  tsl_grammar *g;
  uint64_t until;
  uint32_t made, n, most;
  tsl__stack places[PLACES]; /* in the order in which they are looked at */
  tsl__stack slots[SLOTS];   /* the same as a set; 0: free */
} ahead;

/* Note a position that was not met before; 0 is none. */
static void meet(ahead *a, tsl__stack at) {
  if (!at || a->n == a->most) return;
  uint32_t i = (uint32_t)tsl__mix(at) & (SLOTS - 1);
  for (; a->slots[i]; i = (i + 1) & (SLOTS - 1))
    if (a->slots[i] == at) return;
  a->slots[i] = at;
  a->places[a->n++] = at;
}

static bool has_mask(const tsl__space *space, tsl__stack at) {
  return atomic_load_explicit(&((tsl__stack_rec *)(uintptr_t)tsl__stack_at(space, at))->mask,
                              memory_order_acquire);
}

/* The positions one byte behind another. */
static void meet_next(ahead *a, tsl__space *space, tsl__stack at) {
  tsl__bytes next;
  if (!tsl__stack_next(space, at, &next)) return;
  for (unsigned byte = 0; byte < 256 && space->status == TSL_OK && a->n < a->most; byte++)
    if (tsl__bytes_has(&next, (uint8_t)byte)) meet(a, tsl__stack_byte(space, at, (uint8_t)byte));
}

/* The mask of one position and, if requested, what is behind it. A limit ends this position, not
 * all. */
static tsl_status look(ahead *a, tsl__stack at, bool behind) {
  tsl__space *space = tsl__grammar_lock_by(a->g, a->until);
  if (!has_mask(space, at)) a->made += tsl__stack_mask(space, at) && space->status == TSL_OK;
  if (behind && space->status == TSL_OK) meet_next(a, space, at);
  tsl_status status = tsl__grammar_unlock(a->g);
  return status == TSL_ERR_LIMIT ? TSL_OK : status;
}

static tsl_status meet_tokens(ahead *a, const tsl_matcher *m, const tsl_token *tokens,
                              size_t count) {
  const tsl_vocab *v = a->g->vocab;
  tsl_status status = TSL_OK;
  for (size_t i = 0; i < count && status == TSL_OK && !tsl__expired(a->until); i++) {
    if (tokens[i] >= v->size || tsl_vocab_is_eog(v, tokens[i])) continue;
    meet(a, tsl__stack_token(tsl__grammar_lock_by(a->g, a->until), m->at, tokens[i]));
    status = tsl__grammar_unlock(a->g);
    if (status == TSL_ERR_LIMIT) status = TSL_OK;
  }
  return status;
}

/* Are texts to fill these tables no further? */
static bool is_full(const tsl_grammar *g) {
  return atomic_load_explicit(&g->tables->closed, memory_order_relaxed);
}

tsl_status tsl_matcher_prefetch(tsl_matcher *m, const tsl_token *likely, size_t count,
                                uint64_t budget_us, uint32_t *made) {
  if (made) *made = 0;
  if (m->terminated) return TSL_OK;
  tsl__timed call = tsl__timed_bounded(budget_us);
  tsl__matcher_settle(m);
  ahead a = {.g = m->grammar, .until = tsl__deadline_of(budget_us), .most = 1 + LIKELY};
  tsl_status status = look(&a, m->at, false);
  meet(&a, m->at);
  if (status == TSL_OK) status = meet_tokens(&a, m, likely, count);
  a.most = a.n + BEHIND;
  for (uint32_t i = 0; i < a.n && status == TSL_OK && !tsl__expired(a.until) && !is_full(a.g); i++)
    status = look(&a, a.places[i], true);
  tsl__timed_end(call);
  if (made) *made = a.made;
  return status == TSL_ERR_CANCELLED && tsl__expired(a.until) ? TSL_OK : status;
}

bool tsl_matcher_is_ready(const tsl_matcher *m) {
  return m->terminated || has_mask(m->space, m->at);
}
