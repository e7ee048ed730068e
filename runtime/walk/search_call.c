/* search_call.c - a call over a leftover, within a search.
 *
 * Problem   A state calls a frame, and some nodes of the trie are left to spell there.
 * Idea      The frame is walked over these nodes. What it leaves over is walked by the state that
 *           the caller goes on in. The level gathers the masks of both.
 * Example   `[1` is spelled, and `,` and `]` are left of `[1, 2]` and `[1]`. The frame of a number
 *           leaves both over, and the list goes on with them.
 * Names     A frame that spells names goes on in its own way after each of them.
 * Cost      Two walks, mostly remembered ones.
 * Tested by tests/walk/test_calls.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/search.h"

#include "runtime/walk/names.h"

typedef tsl__level level;

/* Does a state also call a frame that takes any text but some, or one that begins with calling
 * such? Then, where no name ends within a token, names are text and no more. */
static bool calls_others(tsl__space *space, const tsl__state_rec *r) {
  for (uint32_t i = 0; i < r->edges && space->status == TSL_OK; i++) {
    tsl__state callee = tsl__target_state(tsl__state_edges(r)[i].to);
    const tsl__state_rec *c = tsl__state_at(space, callee);
    if (c->flags & (TSL__STATE_KEYED | TSL__STATE_LOOP)) continue;
    if (!tsl__state_fixed(c) && (c = tsl__state_expanded(space, callee)) && c->edges == 1)
      c = tsl__state_at(space, tsl__target_state(tsl__state_edges(c)->to));
    if (c && tsl__is_others(c)) return true;
  }
  return false;
}

/* A call of a frame that spells names: each name goes on in its own way. */
static void call_named(tsl__space *space, level *l, tsl__state callee, tsl__state resume,
                       tsl__leftover over) {
  for (int part = 0; part < 2; part++) {
    tsl__leftover t = part ? tsl__leftover_set(over) : over & TSL__WHOLE;
    const tsl__named_walk *w = t ? tsl__named_walk_over(space, callee, t) : NULL;
    if (!w) continue;
    tsl__named_gather(space, &l->gather, w, resume);
    for (uint32_t i = 0; i < w->left_count && space->status == TSL_OK; i++) {
      tsl__leftover rest = tsl__walk_after_name(space, &l->gather, resume, &w->lefts[i], l->last);
      if (rest) tsl__level_leave_over(space, l, rest);
    }
  }
}

/* What of a set a frame that goes on in `then` need be walked over. If the walk in progress began
 * in that very state, its own nodes are left out: that walk gathers what follows them itself. So it
 * is in a loop of frames that may be parted anywhere, as `(text | block)*` is with texts of any
 * characters. What several of them spell, one does. */
static tsl__leftover not_met(tsl__space *space, const level *l, tsl__state then,
                             tsl__leftover set) {
  const tsl__state_rec *r = tsl__state_at(space, then);
  tsl__leftover over = tsl__leftover_set(l->key.over);
  if (l->key.state != then || !over || r->guarded ||
      r->flags & (TSL__STATE_LOOP | TSL__STATE_KEYED | TSL__STATE_RESUME))
    return set;
  return tsl__leftover_minus(space, set, over);
}

bool tsl__search_call(tsl__space *space, level *l, const tsl__state_rec *r, const tsl__edge *e,
                      uint32_t count, tsl__leftover over) {
  uint32_t c;
  tsl__state callee = tsl__target_resolve(space, e->to, 0, &c);
  if (tsl__state_at(space, callee)->flags & TSL__STATE_KEYED) {
    if (calls_others(space, r) && tsl__names_go_on(space, callee, over, true)) return false;
    call_named(space, l, callee, tsl__target_resolve(space, e->push, count, &c), over);
    return true;
  }
  tsl__leftover left;
  tsl__caller caller = {e->push, count, false};
  tsl__walk_within(space, l, callee, 0, over, &left, &caller);
  /* what was walked may have left no more than that */
  if (TSL__UNLIKELY(l->after && l->after->requested)) tsl__level_heed(space, l);
  if (!left || space->status != TSL_OK) return caller.heeded;
  tsl__state then = tsl__target_resolve(space, e->push, count, &c);
  if (left & TSL__WHOLE) tsl__walk_within(space, l, then, c, TSL__WHOLE, NULL, NULL);
  tsl__leftover set =
      tsl__leftover_set(left) ? not_met(space, l, then, tsl__leftover_set(left)) : 0;
  if (set) tsl__walk_within(space, l, then, c, set, NULL, NULL);
  if (TSL__UNLIKELY(l->after && l->after->requested)) tsl__level_heed(space, l);
  return true;
}
