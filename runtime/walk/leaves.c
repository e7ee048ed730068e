/* leaves.c - see walk_leaves.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/leaves.h"

/* Of siblings from c on, the last by whose byte a state goes where it goes by c's. */
static inline uint32_t last_alike(const tsl__trie *trie, uint32_t c, uint32_t end, uint8_t upper) {
  while (c + 1 < end && trie->labels[c + 1] <= upper) c++;
  return c;
}

/* Does the state go on by every byte there, and count nothing? */
static bool takes_all(tsl__space *space, const tsl__state_rec *r, const tsl__trie_node *n) {
  const tsl__trie *trie = &space->vocab->trie;
  const uint8_t *upper = tsl__state_upper(r);
  if (r->flags & TSL__STATE_LOOP || !tsl__trie_below_within(trie, n, &r->live)) return false;
  for (uint32_t c = n->first_child, end = c + n->children, range = 0; c < end;
       c = last_alike(trie, c, end, upper[range]) + 1) {
    while (upper[range] < trie->labels[c]) range++;
    tsl__target t = tsl__state_range(space, r, range, trie->labels[c]);
    if (!t || tsl__target_op(t) != TSL__OP_CLEAR) return false;
  }
  return true;
}

/* The siblings below which there is the same. */
static uint32_t take_all(tsl__space *space, tsl__level *l, const tsl__state_rec *r,
                         tsl__leaves at) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *nodes = trie->nodes;
  uint32_t last = at.first;
  while (last + 1 < at.end && trie->labels[last + 1] <= at.upper &&
         nodes[last + 1].below == nodes[at.first].below && nodes[last + 1].height == 1)
    last++;
  tsl__level_tokens(space, l, trie->order + nodes[at.first].begin,
                    nodes[last].end - nodes[at.first].begin);
  for (uint32_t c = at.first; c <= last && r->flags & TSL__STATE_NULLABLE; c++)
    tsl__level_leave_node(space, l, c);
  tsl__level_reach(l, at.depth + 1, 0);
  return last;
}

/* What is below one node, by the bytes by which the state goes on. */
static void take_some(tsl__space *space, tsl__level *l, const tsl__state_rec *r, tsl__leaves at) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *nodes = trie->nodes, *n = &nodes[at.first];
  const uint8_t *upper = tsl__state_upper(r);
  if (!tsl__space_step(space, 1u + n->children / 8)) return;
  tsl__level_tokens(space, l, trie->order + n->begin, n->own_end - n->begin);
  if (r->flags & TSL__STATE_NULLABLE) tsl__level_leave_node(space, l, at.first);
  for (uint32_t c = n->first_child, end = c + n->children, range = 0, last, count; c < end;
       c = last + 1) {
    last = c;
    if (!tsl__bytes_has(&r->live, trie->labels[c])) continue;
    while (upper[range] < trie->labels[c]) range++;
    last = last_alike(trie, c, end, upper[range]);
    tsl__target t = tsl__state_range(space, r, range, trie->labels[c]);
    if (!t) continue;
    tsl__target_resolve(space, t, at.count, &count);
    tsl__level_reach(l, at.depth + 1, count);
    tsl__level_tokens(space, l, trie->order + nodes[c].begin, nodes[last].end - nodes[c].begin);
  }
}

uint32_t tsl__search_leaves(tsl__space *space, tsl__level *l, const tsl__state_rec *r,
                            tsl__leaves at) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[at.first];
  if (r->flags & TSL__STATE_FORK || r->edges) return 0;
  if (takes_all(space, r, n)) return take_all(space, l, r, at);
  if (n->children >= TSL__HINT_MIN) return 0;
  take_some(space, l, r, at);
  return at.first;
}
