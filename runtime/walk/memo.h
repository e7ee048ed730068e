/* memo.h - walks that were done, found again.
 *
 * Problem   A position asks for the same few walks at every token, and thousands of grammars ask
 *           for the same walk of a JSON string. A loop that may repeat 1 to 64 times is at another
 *           count each time.
 * Key       A walk is remembered by state, leftover and *context*. The context says whether
 *           something follows the frame, and how many iterations the register still needs and still
 *           allows. Both numbers are cut off at the height of the trie, since no token can begin
 *           more iterations than it has bytes. What follows the frame belongs to the key, too, if
 *           the walk depends on it (follow.h).
 * Layers    A layer looks in its own tables and in those of the layer below. A frozen layer makes
 *           no more walks: its memo is one array with open addressing, without locks.
 * Calls     The walk of a state that only calls is also found by its calls. An object has such a
 *           state for each set of members seen so far, and most of these states call the same
 *           frames. The place that a call returns to matters only if the called frame leaves a
 *           leftover.
 * Far       A loop that still needs more iterations than any token can begin has the walk that is
 *           known for fewer needed ones.
 * Example   `[a-z]{3,70}` in a vocabulary of at most 8 bytes: after 3 letters 67 may follow, which
 *           no token reaches. The context is (0 needed, any number allowed); after 4 it is the
 *           same, and the walk is found. After 65 letters 5 may follow, and the walk is a new one.
 * Cost      One probe of a hash table, some 20 ns; the table of a frozen layer is one load.
 * Tested by tests/walk/test_calls.c, tests/walk/test_shortcuts.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_MEMO_H
#define TSL_RUNTIME_WALK_MEMO_H

#include "runtime/walk/walk.h"

/* Contexts, by their bits: 0 nothing follows the frame; 1 to 15 iterations still allowed; 16 to 30
 * iterations still needed; 31 TSL__MEMO_SPLIT. */
#define TSL__ROOM_FREE 0x7FFFu /* iterations allowed: more than any token has */
#define TSL__MEMO_NEED(n) ((n) << 16)
/* a walk that is remembered for its parts, beside one that was not done in parts */
#define TSL__MEMO_SPLIT (1u << 31)

/* A state that only calls, with up to so many edges, has its walk found by its calls. */
#define TSL__MEMO_CALLS_MAX 16u

static inline uint32_t tsl__memo_room(uint32_t context) { return context >> 1 & 0x7FFF; }
static inline uint32_t tsl__memo_need(uint32_t context) { return context >> 16 & 0x7FFF; }

/* Bytes of the longest path through a leftover. */
static inline uint32_t tsl__memo_height(const tsl__space *space, tsl__leftover over) {
  if (over & TSL__WHOLE) return space->vocab->trie.nodes[0].height;
  return tsl__leftover_at(space, over)->height;
}

/* The context of a state whose register is `count`, over a leftover. */
static inline uint32_t tsl__memo_context(const tsl__space *space, const tsl__state_rec *r,
                                         uint32_t count, tsl__leftover over, bool last) {
  if (!(r->flags & TSL__STATE_LOOP)) return last;
  uint32_t height = tsl__memo_height(space, over);
  uint32_t need = count < r->loop_min ? r->loop_min - count : 0;
  uint32_t room = r->loop_max == TSL__COUNT_INF ? TSL__ROOM_FREE : r->loop_max - count;
  if (need > height) need = height + 1;
  if (room > height) room = TSL__ROOM_FREE;
  return TSL__MEMO_NEED(need) | room << 1 | last;
}

static inline uint64_t tsl__memo_hash(tsl__state state, uint32_t context, tsl__leftover over) {
  return tsl__mix(((uint64_t)state << 32 | over) + (uint64_t)context * 0x9e3779b97f4a7c15u);
}
/* The same of a walk that is limited to what follows. */
static inline uint64_t tsl__memo_hash_before(tsl__state state, uint32_t context, tsl__leftover over,
                                             uint32_t follow) {
  return tsl__memo_hash(state, context, over) + (uint64_t)follow * 0xd1b54a32d192ed03u;
}

/* The walk in the tables of one layer that is limited to one follower (0: to none). NULL: that
 * layer has none. */
static inline const tsl__walk *tsl__memo_find_before(const tsl__space *layer, tsl__state state,
                                                     uint32_t context, tsl__leftover over,
                                                     uint32_t follow) {
  tsl__index_iter it =
      tsl__index_first(&layer->walks.index, tsl__memo_hash_before(state, context, over, follow));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__walk *w = tsl__pool_at(&layer->walks.pool, i - layer->walks.first);
    if (w->state == state && w->over == over && w->context == context && w->follow == follow)
      return w;
  }
  return NULL;
}
static inline const tsl__walk *tsl__memo_find_in(const tsl__space *layer, tsl__state state,
                                                 uint32_t context, tsl__leftover over) {
  return tsl__memo_find_before(layer, state, context, over, 0);
}

/* The place of a walk in a frozen layer's array: its own, or the empty one where it would be. There
 * is no walk of state 0. */
static inline tsl__walk *tsl__memo_slot(const tsl__frozen *t, tsl__state state, uint32_t context,
                                        tsl__leftover over) {
  for (uint64_t i = tsl__memo_hash(state, context, over);; i++) {
    tsl__walk *w = (tsl__walk *)t->at + (i & t->last);
    if (!w->state || (w->state == state && w->over == over && w->context == context)) return w;
  }
}

/* The walk in the layer below; NULL: it has none. */
static inline const tsl__walk *tsl__memo_find_below(const tsl__space *space, tsl__state state,
                                                    uint32_t context, tsl__leftover over) {
  if (!space->parent->warm.frozen) return tsl__memo_find_in(space->parent, state, context, over);
  const tsl__walk *w = tsl__memo_slot(space->parent->warm.frozen, state, context, over);
  return w->state ? w : NULL;
}

/* Does the layer below have both, the state and the leftover? Then it mostly has the walk, too. */
static inline bool tsl__memo_is_below(const tsl__space *space, tsl__state state,
                                      tsl__leftover over) {
  return state < space->states.first && tsl__leftover_set(over) < space->leftovers.first;
}

/* The walk in either layer; NULL: neither has it. */
static inline const tsl__walk *tsl__memo_find(const tsl__space *space, tsl__state state,
                                              uint32_t context, tsl__leftover over) {
  const tsl__walk *w = tsl__memo_is_below(space, state, over)
                           ? tsl__memo_find_below(space, state, context, over)
                           : NULL;
  return w ? w : tsl__memo_find_in(space, state, context, over);
}

/* Is an expanded state of a grammar one that does nothing but call? The vocabulary's own states are
 * always requested by number, so they are found without this. */
static inline bool tsl__memo_calls_alone(const tsl__space *space, const tsl__state_rec *r,
                                         tsl__state state) {
  return state >= space->states.first && space->parent && !r->flags && r->edges &&
         r->edges <= TSL__MEMO_CALLS_MAX && !r->token_edges && tsl__bytes_empty(&r->live) &&
         !tsl__shortcut_is_off(space, TSL__SHORTCUT_CALLS);
}

/* Remember a walk, which is the last one of the layer's pool. False: out of memory (sticky); the
 * same for tsl__memo_put_calls and tsl__memo_put_far. */
bool tsl__memo_put(tsl__space *space, const tsl__walk *w);
/* The walk in either layer, or one that was loaded with the grammar and is then remembered. NULL:
 * there is none, or on failure (sticky). */
const tsl__walk *tsl__memo_fetch(tsl__space *space, tsl__state state, uint32_t context,
                                 tsl__leftover over);

/* Is a walk of a state that does nothing but call remembered by its calls? */
bool tsl__memo_by_calls(const tsl__space *space, const tsl__state_rec *r, const tsl__walk *w);
bool tsl__memo_put_calls(tsl__space *space, const tsl__state_rec *r, const tsl__walk *w);
/* The walk of another state that calls the same. NULL: none is known. */
const tsl__walk *tsl__memo_find_calls(const tsl__space *space, const tsl__state_rec *r,
                                      uint32_t context, tsl__leftover over);

/* The walk of the same state that needs more iterations than any token has. It holds here as well
 * if no path of it begins as many iterations as are needed here. NULL: there is none. */
const tsl__walk *tsl__memo_find_far(const tsl__space *space, tsl__state state, uint32_t context,
                                    tsl__leftover over);
/* The other way round: the walk just made holds for more needed iterations, too, if no path began
 * as many as are needed. Notes it. */
bool tsl__memo_put_far(tsl__space *space, const tsl__walk *made);

#endif
