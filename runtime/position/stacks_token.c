/* stacks_token.c - how positions move: by tokens, which are spelled or named, and by bytes.
 *
 * A token is looked up before its bytes are read (tsl__stack_find_token, without the lock). There
 * are three places where it may be known:
 *   1. the position's record holds the first token that was looked up here, and where it leads;
 *   2. the position `stays`, and the token has only bytes that leave its frame as it is;
 *   3. the table of moves (moves.h).
 * Otherwise tsl__stack_token_anew reads the bytes, and notes where they lead: in the record (1) if
 * its place is free, else in the table (3).
 *
 * A token may also be named, where a grammar names it (<[7]>, <eot>). Then no byte of it is read:
 * each frame with an edge for the token follows this edge. A token that can be spelled and named
 * leads to the union of both positions.
 *
 * Cost      A known token: a load from the record, or one probe. A new one: 5 to 45 ns a byte.
 * Tested by tests/engine/test_oracle.c, tests/matcher/test_matcher.c
 *
 * SPDX-License-Identifier: Apache-2.0
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

/* A token that may be named, and those known so far. */
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
                              tsl_token token, tsl__lead *lead) {
  uint64_t first = tsl__stack_first(r);
  if (TSL__LIKELY(first >> 32 == TSL__FIRST(token))) return lead->bits = (uint32_t)first, true;
  if (r->stays && tsl__vocab_within(space->vocab, token, tsl__stack_self(space, r)))
    return *lead = tsl__lead_of(from, false), true;
  return first && tsl__move_find(space, from, tsl__key_token(token), &lead->bits);
}

TSL__EACH_TOKEN bool tsl__move_known(const tsl__space *space, tsl__stack from, tsl_token token,
                                     tsl__lead *lead) {
  return move_known(space, from, tsl__stack_at(space, from), token, lead);
}

TSL__EACH_TOKEN bool tsl__stack_find_token(const tsl__space *space, tsl__stack from,
                                           tsl_token token, tsl__stack *to) {
  const tsl__stack_rec *r = tsl__stack_at(space, from);
  tsl__lead lead;
  if (move_known(space, from, r, token, &lead)) return *to = tsl__lead_to(lead), true;
  return TSL__UNLIKELY(r->has_distinct) && tsl__distinct_find(space, from, token, to);
}

/* Remember where a token leads, if that is worth it; the first one takes no room. */
static bool note_token(tsl__space *space, tsl__stack from, const tsl__stack_rec *r, tsl_token token,
                       tsl__lead lead, bool worth) {
  if (tsl__stack_first(r))
    return !worth || tsl__move_add(space, from, tsl__key_token(token), lead.bits);
  atomic_store_explicit(&((tsl__stack_rec *)(uintptr_t)r)->first,
                        TSL__FIRST(token) << 32 | lead.bits, memory_order_release);
  return true;
}

/* Land on all frames of a position again: for the union of the ways of a token that can be spelled
 * and named. */
static void land_all(tsl__space *space, step *s, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    tsl__step_land(space, s, c->state, c->count, c->tail);
  }
}

/* The position after a token that is spelled; 0 if it is rejected. *keep: the move is worth
 * remembering. */
static tsl__lead spelled(tsl__space *space, tsl__stack from, const tsl__stack_rec *r,
                         tsl_token token, bool *keep) {
  const tsl_vocab *v = space->vocab;
  uint32_t begin = v->offsets[token], end = v->offsets[token + 1];
  size_t accepted;
  const tsl__lead rejected = {0};
  if (v->special[token] || begin == end) return rejected;
  if (r->has_distinct) return tsl__distinct_token(space, from, token, keep);
  step *s = tsl__step_text(space, r);
  if (!s || !tsl__step_bytes(space, s, v->bytes + begin, end - begin, &accepted)) return rejected;
  return tsl__distinct_begins(space, s) ? tsl__distinct_begun(space, from, token, s, keep)
                                        : tsl__lead_of(tsl__step_collect(space, s), false);
}

/* The position after a token that leads to `to` as it is spelled, and may be named too. */
static tsl__lead or_named(tsl__space *space, tsl__stack from, tsl_token token, tsl__lead lead) {
  step s = tsl__step_new(space);
  tsl__step_visit(space, &s, from,
                  &(tsl__visit){name_token, &token,
                                "frames open and close without end before a token is read"});
  tsl__stack to = tsl__lead_to(lead);
  if (to && s.landed.n) land_all(space, &s, to);
  tsl__stack all = s.landed.n ? tsl__step_collect(space, &s) : to;
  tsl__step_free(space, &s);
  if (all && to && all != to) all = tsl__distinct_of(space, all, to);
  return tsl__lead_of(all, tsl__lead_guarded(lead));
}

tsl__stack tsl__stack_token(tsl__space *space, tsl__stack from, tsl_token token) {
  tsl__lead lead;
  return tsl__move_known(space, from, token, &lead) ? tsl__lead_to(lead)
                                                    : tsl__stack_token_anew(space, from, token);
}

/* Where two threads find out the same, it is noted twice. */
tsl__stack tsl__stack_token_anew(tsl__space *space, tsl__stack from, tsl_token token) {
  const tsl__stack_rec *r = tsl__stack_at(space, from);
  bool keep = true;
  tsl__lead lead = spelled(space, from, r, token, &keep);
  const tsl_vocab *v = space->vocab;
  if (space->names_tokens && tsl__vocab_has_name(v, token))
    lead = or_named(space, from, token, lead);
  if (space->status != TSL_OK || !note_token(space, from, r, token, lead, keep)) return 0;
  return tsl__lead_to(lead);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

tsl__stack tsl__stack_byte(tsl__space *space, tsl__stack from, uint8_t byte) {
  size_t accepted;
  return tsl__stack_bytes(space, from, &byte, 1, &accepted);
}

tsl__stack tsl__stack_bytes(tsl__space *space, tsl__stack from, const uint8_t *bytes, size_t n,
                            size_t *accepted) {
  if (tsl__stack_at(space, from)->has_distinct)
    return tsl__distinct_bytes(space, from, bytes, n, accepted);
  *accepted = 0;
  step *s = tsl__step_text(space, tsl__stack_at(space, from));
  if (!s) return 0;
  tsl__stack to = tsl__step_bytes(space, s, bytes, n, accepted) ? tsl__step_collect(space, s) : 0;
  /* from the beginning: where something began that must be new, matters */
  if (tsl__distinct_begins(space, s)) return tsl__distinct_bytes(space, from, bytes, n, accepted);
  return to;
}
