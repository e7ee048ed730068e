/* late_calls.c - the calls that a search meets: postponed, and walked once for all their nodes.
 *
 * Problem   The state of `[a-z]+ "=" value` calls `value` at each node of the trie that ends with
 *           `=` after letters. Llama-3.1's vocabulary has hundreds. A walk at each of them opens
 *           all frames within `value` once more. A tower of twelve operators has twelve frames.
 * Idea      The search notes the call and the node, and goes on. When the search is over, each
 *           call is walked once, over the leftover of all its nodes. A walk over all the nodes
 *           together gives the union of the masks and of the leftovers. So the result is the same.
 * Key       Two calls are the same if they call the same frame, come back to the same state, and
 *           the caller's register is the same. A level may do a small walk within its own
 *           (tsl__walk_within). The calls of the small walk are made before that walk ends; they
 *           begin in the list at `late_from`.
 * At once   Two kinds of calls are not postponed. A call at the root has one node only. A call of
 *           names goes on differently after each name.
 * Example   A declaration of a C-like grammar, `type name = value;`: the first mask takes 151 ms
 *           and 31 MB with a walk at each node. It takes 28 ms and 13 MB with postponed calls.
 * Cost      A note is two stores and a look at the last few calls.
 * Tested by tests/walk/test_shortcuts.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/search.h"

#define LATE_LOOK 32u /* calls among which the same one is looked for */

typedef tsl__level level;

/* The same call, if it is among the last ones; else a new one. NULL on failure (sticky). */
static tsl__late_call *late_call(tsl__space *space, level *l, const tsl__edge *e, uint32_t count) {
  size_t least = l->late.n > l->late_from + LATE_LOOK ? l->late.n - LATE_LOOK : l->late_from;
  for (size_t i = l->late.n; i-- > least;) {
    tsl__late_call *c = &l->late.at[i];
    if (c->to == e->to && c->push == e->push && c->count == count) return c;
  }
  if (!tsl__vec_push(&space->alloc, &l->late, ((tsl__late_call){e->to, e->push, count, 0})))
    return tsl__space_no_memory(space), NULL;
  return &l->late.at[l->late.n - 1];
}

static void put_off(tsl__space *space, level *l, const tsl__edge *e, uint32_t count,
                    uint32_t node) {
  tsl__late_call *c = late_call(space, l, e, count);
  if (!c) return;
  if (tsl__vec_push(&space->alloc, &l->late_nodes, ((tsl__late_node){node, c->met})))
    c->met = (uint32_t)l->late_nodes.n;
  else
    tsl__space_no_memory(space);
}

void tsl__search_call_at(tsl__space *space, level *l, const tsl__state_rec *r, uint32_t count,
                         uint32_t node) {
  bool now = node == 0 || tsl__shortcut_is_off(space, TSL__SHORTCUT_LATE);
  for (uint32_t i = 0; i < r->edges && space->status == TSL_OK; i++) {
    const tsl__edge *e = &tsl__state_edges(r)[i];
    if (now || tsl__state_at(space, tsl__target_state(e->to))->flags & TSL__STATE_KEYED)
      tsl__search_call(space, l, r, e, count,
                       node ? tsl__leftover_intern(space, &(uint32_t){node}, 1) : TSL__WHOLE);
    else
      put_off(space, l, e, count, node);
  }
}

/* The nodes of a call, as a leftover; what the level leaves lends the room. */
static tsl__leftover nodes_of(tsl__space *space, level *l, const tsl__late_call *c) {
  size_t floor = l->left.n;
  for (uint32_t k = c->met; k; k = l->late_nodes.at[k - 1].before)
    if (!tsl__vec_push(&space->alloc, &l->left, l->late_nodes.at[k - 1].node))
      return tsl__space_no_memory(space), 0;
  tsl__leftover t = tsl__leftover_intern(space, l->left.at + floor, l->left.n - floor);
  l->left.n = floor;
  return t;
}

void tsl__search_late_calls(tsl__space *space, level *l) {
  for (size_t i = l->late_from; i < l->late.n && space->status == TSL_OK; i++) {
    tsl__late_call c = l->late.at[i]; /* the list may move */
    const tsl__edge e = {.push = c.push, .to = c.to};
    tsl__leftover t = nodes_of(space, l, &c);
    if (t) tsl__search_call(space, l, NULL, &e, c.count, t);
  }
  l->late.n = l->late_from;
  if (!l->late.n) l->late_nodes.n = 0;
}
