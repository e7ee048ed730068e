/* stops.c - frames that may end or call after nearly each byte, along the table of the trie.
 *
 * Problem   In a language of types a name may go on with a letter. After each letter one of twelve
 *           operators may come, white space, a comment, or the end of the frame. Letters are a
 *           class (classes.h), but too many other bytes may follow for a sieve (search.h). So the
 *           search enters some 25,000 nodes, and reads a state's record at each.
 * Idea      The table of the trie (linear.h) is read from such a state. Its rows continue through
 *           states that may end or call. The reader lists the nodes with such states, if one of the
 *           next bytes fits. Afterwards the search ends the frame or makes the calls at these nodes
 *           (tsl__search_stop).
 * Words     Where all texts of letters live, words are marked at once, although the frame may end
 *           or call inside them. All tokens of words are in the mask already.
 * Example   After `Partial` in `type T = Partial<T>` the name may go on, or `<`, `[`, `|` or a
 *           comment may come. Over 294 tokens of TypeScript's types a mask takes 1.1 ms on average
 *           by the search, and 0.22 along the table.
 * Cost      Some 10 ns a node, and a note for each node where the frame stops.
 * Tested by tests/walk/test_shortcuts.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/search.h"

#define STOPS_TOKENS 96u /* below a node, from which it is worth making a table */
#define STOPS_BYTES 24u  /* live bytes from which many nodes are entered */
#define STOPS_LETTERS 40 /* of the 52 of ASCII, with which the table beats a class */

/* The bytes with which what follows the frame may begin; all bytes, if that is not known. */
static tsl__bytes find_before(tsl__space *space, tsl__level *l) {
  return !l->last && tsl__level_heed(space, l) ? tsl__follow_at(space, l->follow)->bytes
                                               : TSL__BYTES_ALL;
}

/* Are letters better as a class? So they are if they lack many ASCII letters: then few words are
 * there to be marked at once. */
static bool class_is_better(const tsl__hint *h) {
  return !h->calls || tsl__ones(h->letters.w[1] & TSL__WORD_LETTERS) < STOPS_LETTERS;
}

const tsl__linear *tsl__stops_table(const tsl__space *space, const tsl__level *l,
                                    const tsl__level_entry *e, const tsl__state_rec *r) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[e->node];
  bool ends = r->flags & TSL__STATE_NULLABLE && !l->last;
  if (n->end - n->own_end < STOPS_TOKENS || r->live_count < STOPS_BYTES || !(r->edges || ends) ||
      e->quoted || r->token_edges || r->flags & ~(TSL__STATE_NULLABLE | TSL__STATE_FINAL) ||
      tsl__state_fixed(r) || (e->hint && class_is_better(e->hint)) ||
      tsl__shortcut_is_off(space, TSL__SHORTCUT_STOPS))
    return NULL;
  return tsl__linear_table(space);
}

void tsl__search_stops(tsl__space *space, tsl__level *l, const tsl__linear *t,
                       const tsl__level_entry *e) {
  tsl__linear_stops stops = {.at = {0}};
  tsl__linear_from from = {e->state, e->count, e->node, (uint16_t)e->depth, l->last, &stops};
  stops.before = find_before(space, l);
  if (space->status == TSL_OK) tsl__search_linear(space, l, t, &from);
  for (size_t i = 0; i < stops.at.n && space->status == TSL_OK; i++)
    if (tsl__space_step(space, 1)) tsl__search_stop(space, l, &stops.at.at[i]);
  tsl__vec_free(&space->alloc, &stops.at);
}
