/* stacks_token.c - positions move by tokens: spelled byte by byte, or named, and where that led is
 * remembered. See stacks.h. SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/stacks_step.h"

#include "runtime/position/distinct.h"

typedef tsl__stepping step;

static bool edge_takes(const tsl__token_edge *e, tsl_token t) {
  bool listed = false;
  for (uint32_t lo = 0, hi = e->count; lo < hi && !listed;) {
    uint32_t mid = (lo + hi) / 2;
    if (e->tokens[mid] == t)
      listed = true;
    else if (e->tokens[mid] < t)
      lo = mid + 1;
    else
      hi = mid;
  }
  return listed != e->complement;
}

/* A frame that may name the token itself, *ctx. */
static void name_token(tsl__space *space, step *s, const tsl__state_rec *r, uint32_t count,
                       tsl__stack tail, void *ctx) {
  const tsl_token *token = ctx;
  for (uint32_t i = 0; i < r->token_edges; i++) {
    uint32_t c;
    if (!edge_takes(&tsl__state_token_edges(r)[i], *token)) continue;
    tsl__state to = tsl__target_resolve(space, tsl__state_token_edges(r)[i].to, count, &c);
    tsl__step_land(space, s, to, c, tail);
  }
}

/* A token that has a name to be taken by, and those known so far. */
static tsl_token with_token(const tsl_vocab *v, tsl_token known, tsl_token t) {
  if (!tsl__vocab_has_name(v, t)) return known;
  return known == TSL_NO_TOKEN || known == t ? t : TSL__SEVERAL_TOKENS;
}

/* The tokens that a frame may name are added to *ctx. */
static void add_named(tsl__space *space, step *s, const tsl__state_rec *r, uint32_t count,
                      tsl__stack tail, void *ctx) {
  tsl_token *named = ctx;
  (void)s;
  (void)count;
  (void)tail;
  for (uint32_t i = 0; i < r->token_edges && *named != TSL__SEVERAL_TOKENS; i++) {
    const tsl__token_edge *e = &tsl__state_token_edges(r)[i];
    if (e->complement) *named = TSL__SEVERAL_TOKENS;
    for (uint32_t k = 0; k < e->count && *named != TSL__SEVERAL_TOKENS; k++)
      *named = with_token(space->vocab, *named, e->tokens[k]);
  }
}

tsl_token tsl__stack_named(tsl__space *space, tsl__stack at) {
  tsl_token named = TSL_NO_TOKEN;
  if (!space->names_tokens) return named;
  step s = tsl__step_new(space);
  tsl__step_visit(
      space, &s, at,
      &(tsl__visit){add_named, &named, "frames open and close without end before a token is read"});
  tsl__step_free(space, &s);
  return named;
}

/* `r`: the record of the position. */
static inline bool move_known(const tsl__space *space, tsl__stack from, const tsl__stack_rec *r,
                              tsl_token token, tsl__stack *to) {
  uint64_t first = tsl__stack_first(r);
  if (TSL__LIKELY(first >> 32 == TSL__FIRST(token))) return *to = (tsl__stack)first, true;
  if (r->stays && tsl__vocab_within(space->vocab, token, tsl__stack_self(space, r)))
    return *to = from, true;
  return first && tsl__move_find(space, from, token, to);
}

TSL__EACH_TOKEN bool tsl__move_known(const tsl__space *space, tsl__stack from, tsl_token token,
                                     tsl__stack *to) {
  return move_known(space, from, tsl__stack_at(space, from), token, to);
}

TSL__EACH_TOKEN bool tsl__stack_find_token(const tsl__space *space, tsl__stack from,
                                           tsl_token token, tsl__stack *to) {
  const tsl__stack_rec *r = tsl__stack_at(space, from);
  if (move_known(space, from, r, token, to)) return *to &= ~TSL__MOVE_CALLED, true;
  return TSL__UNLIKELY(r->remembers) && tsl__distinct_find(space, from, token, to);
}

/* Remember where a token leads, if that is worth it; the first one takes no room. */
static bool note_token(tsl__space *space, tsl__stack from, const tsl__stack_rec *r, tsl_token token,
                       tsl__stack to, bool worth) {
  if (tsl__stack_first(r)) return !worth || tsl__move_add(space, from, token, to);
  atomic_store_explicit(&((tsl__stack_rec *)(uintptr_t)r)->first, TSL__FIRST(token) << 32 | to,
                        memory_order_release);
  return true;
}

/* Land on all frames of a position again: to unite the ways of a token that can be spelled and
 * named. */
static void land_all(tsl__space *space, step *s, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    tsl__step_land(space, s, c->state, c->count, c->tail);
  }
}

/* The position after a token that is spelled; 0 if it is rejected. *keep: the move is worth
 * remembering. */
static tsl__stack spelled(tsl__space *space, tsl__stack from, const tsl__stack_rec *r,
                          tsl_token token, bool *keep) {
  const tsl_vocab *v = space->vocab;
  uint32_t begin = v->offsets[token], end = v->offsets[token + 1];
  size_t accepted;
  if (v->special[token] || begin == end) return 0;
  if (r->remembers) return tsl__distinct_token(space, from, token, keep);
  step *s = tsl__step_text(space, r);
  if (!s || !tsl__step_bytes(space, s, v->bytes + begin, end - begin, &accepted)) return 0;
  return tsl__distinct_begins(space, s) ? tsl__distinct_begun(space, from, token, s, keep)
                                        : tsl__step_collect(space, s);
}

/* The position after a token that leads to `to` as it is spelled, and may be named too. */
static tsl__stack or_named(tsl__space *space, tsl__stack from, tsl_token token, tsl__stack to) {
  step s = tsl__step_new(space);
  tsl__step_visit(space, &s, from,
                  &(tsl__visit){name_token, &token,
                                "frames open and close without end before a token is read"});
  tsl__stack called = to & TSL__MOVE_CALLED;
  to &= ~TSL__MOVE_CALLED;
  if (to && s.landed.n) land_all(space, &s, to);
  tsl__stack all = s.landed.n ? tsl__step_collect(space, &s) : to;
  tsl__step_free(space, &s);
  return all && to && all != to ? tsl__distinct_of(space, all, to) | called : all | called;
}

tsl__stack tsl__stack_token(tsl__space *space, tsl__stack from, tsl_token token) {
  tsl__stack to;
  return tsl__move_known(space, from, token, &to) ? to & ~TSL__MOVE_CALLED
                                                  : tsl__stack_token_anew(space, from, token);
}

/* Where two threads find out the same, it is noted twice. */
tsl__stack tsl__stack_token_anew(tsl__space *space, tsl__stack from, tsl_token token) {
  const tsl__stack_rec *r = tsl__stack_at(space, from);
  bool keep = true;
  tsl__stack to = spelled(space, from, r, token, &keep);
  const tsl_vocab *v = space->vocab;
  if (space->names_tokens && tsl__vocab_has_name(v, token)) to = or_named(space, from, token, to);
  if (space->status != TSL_OK || !note_token(space, from, r, token, to, keep)) return 0;
  return to & ~TSL__MOVE_CALLED;
}
