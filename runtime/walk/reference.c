/* reference.c - see reference.h.
 *
 * How a reference becomes a walk, and the finder of "any text but some".
 *
 * Removed tokens are listed in the mask if they are few (tsl__level_but), else their bits are
 * cleared in a copy of it. A leftover node is dropped if it is one of the removed nodes or below
 * one. The removed nodes are sorted by their tokens, so one binary search finds out.
 *
 * The excluded texts of a difference are followed through the trie on their own, and only to nodes
 * with a closing quote below. Before its quote no excluded text is complete. Fixed texts are read
 * along their table (fixed.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/reference.h"

#include "runtime/kernels/logits.h"
#include "runtime/walk/search.h"

/* ---- the frame ------------------------------------------------------------------------------- */

void tsl__reference_clear(tsl__reference *ref) {
  ref->mask = 0;
  ref->left = 0;
  ref->tokens.n = ref->nodes.n = ref->enter.n = 0;
  ref->without[0] = ref->without[1] = NULL;
  ref->quoted = NULL;
  ref->among = false;
}

void tsl__reference_free(tsl__space *space, tsl__reference *ref) {
  tsl__vec_free(&space->alloc, &ref->tokens);
  tsl__vec_free(&space->alloc, &ref->nodes);
  tsl__vec_free(&space->alloc, &ref->enter);
}

size_t tsl__reference_memory(const tsl__reference *ref) {
  return tsl__vec_memory(&ref->tokens) + tsl__vec_memory(&ref->nodes) +
         tsl__vec_memory(&ref->enter);
}

bool tsl__reference_removes(const tsl__space *space, const tsl__reference *ref, uint32_t node) {
  const tsl__trie_node *nodes = space->vocab->trie.nodes, *n = &nodes[node];
  size_t lo = 0, hi = ref->nodes.n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (nodes[ref->nodes.at[mid]].begin <= n->begin)
      lo = mid + 1;
    else
      hi = mid;
  }
  /* a node above has a lower number: the trie is in breadth-first order */
  return lo && ref->nodes.at[lo - 1] <= node && n->end <= nodes[ref->nodes.at[lo - 1]].end;
}

/* The known mask without what is removed. */
static bool gather_kept(tsl__space *space, tsl__level *l, tsl__reference *ref) {
  size_t words = tsl_vocab_mask_words(space->vocab);
  if (!ref->without[0]) return tsl__level_but(space, l, ref->mask, ref->tokens.at, ref->tokens.n);
  if (!tsl__level_bits(space, l)) return false;
  tsl__mask_write(space, tsl__mask_at(space, ref->mask), l->marks);
  for (size_t i = 0; i < ref->tokens.n; i++) tsl__mask_bit_clear(l->marks, ref->tokens.at[i]);
  for (int i = 0; i < 2 && ref->without[i]; i++) tsl__mask_andnot(l->marks, ref->without[i], words);
  return true;
}

/* The known leftover without what is removed. */
static void leave_kept(tsl__space *space, tsl__level *l, const tsl__reference *ref) {
  const tsl__leftover_rec *t =
      tsl__leftover_set(ref->left) ? tsl__leftover_at(space, tsl__leftover_set(ref->left)) : NULL;
  if (!t || !ref->nodes.n) {
    tsl__level_leave_over(space, l, ref->left);
    return;
  }
  tsl__level_leave_over(space, l, ref->left & TSL__WHOLE);
  for (uint32_t i = 0; i < t->n; i++)
    if (!tsl__reference_removes(space, ref, t->nodes[i]))
      tsl__level_leave_node(space, l, t->nodes[i]);
}

bool tsl__reference_apply(tsl__space *space, tsl__level *l, tsl__reference *ref) {
  size_t floor = l->stack.n;
  if (!gather_kept(space, l, ref)) return false;
  leave_kept(space, l, ref);
  for (size_t i = 0; i < ref->enter.n && space->status == TSL_OK; i++)
    tsl__search_enter(space, l, ref->enter.at[i].state, ref->enter.at[i].count,
                      ref->enter.at[i].node, ref->enter.at[i].depth);
  if (ref->quoted) tsl__search_quoted(space, l, ref->quoted, &ref->from, &ref->letters, NULL);
  if (ref->among)
    tsl__level_push(space, l,
                    (tsl__level_entry){0, ref->from.state, ref->from.count, 0, false,
                                       TSL__FROM_NOWHERE, &ref->hint});
  tsl__search_on(space, l, floor);
  return space->status == TSL_OK;
}

/* ---- any text but some ----------------------------------------------------------------------- */

/* Is there a closing quote below a node? Only with that a string is spelled in full. */
static bool quote_below(const tsl__trie *trie, const tsl__trie_node *n) {
  return n->below == UINT16_MAX || tsl__bytes_has(&trie->sets[n->below], '"');
}

/* An excluded string is spelled in full at a node: its tokens and the node itself go. */
static bool except_here(tsl__space *space, uint32_t node, tsl__reference *ref) {
  const tsl__trie *trie = &space->vocab->trie;
  for (uint32_t k = trie->nodes[node].begin; k < trie->nodes[node].own_end; k++)
    if (tsl__mask_has(space, ref->mask, trie->order[k]) &&
        !tsl__vec_push(&space->alloc, &ref->tokens, trie->order[k]))
      return tsl__space_no_memory(space);
  return tsl__vec_push(&space->alloc, &ref->nodes, node) || tsl__space_no_memory(space);
}

/* An excluded string arrives at a node. It may have two counts: it is one of up to 18 characters
 * and its quote, or one of 18 without. Then the state is a fork, and both branches go on. */
static bool except_at(tsl__space *space, tsl__level *l, tsl__target target, uint32_t before,
                      uint32_t node, tsl__reference *ref) {
  uint32_t count;
  tsl__state state = tsl__target_resolve(space, target, before, &count);
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r || !tsl__space_step(space, 1)) return false;
  if (r->flags & TSL__STATE_FORK) {
    for (uint32_t i = 0; i < r->edges; i++)
      if (!except_at(space, l, tsl__state_edges(r)[i].to, count, node, ref)) return false;
    return true;
  }
  if (r->flags & TSL__STATE_NULLABLE && !except_here(space, node, ref)) return false;
  if (space->vocab->trie.nodes[node].children)
    tsl__level_push(space, l, (tsl__level_entry){node, state, count, 0, false, 0, NULL});
  return space->status == TSL_OK;
}

/* Find where an excluded string, which is in `state` at a node, is complete below that node.
 * `open`: some are without their closing quote. */
static void except_node(tsl__space *space, tsl__level *l, tsl__state state, uint32_t node,
                        bool open, tsl__reference *ref) {
  const tsl__trie *trie = &space->vocab->trie;
  size_t floor = l->stack.n;
  tsl__level_push(space, l, (tsl__level_entry){node, state, 0, 0, false, 0, NULL});
  while (l->stack.n > floor && space->status == TSL_OK) {
    tsl__level_entry e = l->stack.at[--l->stack.n];
    const tsl__state_rec *r = tsl__state_expanded(space, e.state);
    const tsl__trie_node *n = &trie->nodes[e.node];
    if (!r || !tsl__space_step(space, 1)) return;
    if (!open && !quote_below(trie, n)) continue;
    for (uint32_t c = n->first_child; c < n->first_child + n->children; c++) {
      if (!open && trie->labels[c] != '"' && !quote_below(trie, &trie->nodes[c])) continue;
      tsl__target t = tsl__state_step(space, r, trie->labels[c]);
      if (t && !except_at(space, l, t, e.count, c, ref)) return;
    }
  }
}

/* The same, along their table if the excluded strings are fixed texts. */
static void except_below(tsl__space *space, tsl__level *l, const tsl__hint *h, uint32_t node,
                         tsl__reference *ref) {
  const tsl__state_rec *r = tsl__state_at(space, h->except);
  tsl__fixed_walk *w = &l->fixed;
  if (!tsl__is_fixed(r)) {
    except_node(space, l, h->except, node, h->except_open, ref);
    return;
  }
  w->reached.n = w->ends.n = w->rests.n = 0;
  if (!tsl__fixed_ends(space, r, node, w)) return;
  for (size_t i = 0; i < w->ends.n && space->status == TSL_OK; i++)
    except_here(space, w->ends.at[i].node, ref);
  for (size_t i = 0; i < w->rests.n && space->status == TSL_OK; i++)
    except_node(space, l, w->rests.at[i].state, w->rests.at[i].node, false, ref);
}

/* Sort the removed nodes by their tokens. They are few, and mostly in reverse order or sorted
 * already: a merge sort from the bottom up, with room for a copy. */
static bool sort_nodes(tsl__space *space, tsl__reference *ref) {
  const tsl__trie_node *nodes = space->vocab->trie.nodes;
  size_t n = ref->nodes.n;
  uint32_t *copy = n > 1 ? tsl__alloc(&space->alloc, n * sizeof *copy) : NULL;
  if (n > 1 && !copy) return tsl__space_no_memory(space);
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t from = 0; from < n; from += 2 * width) {
      size_t mid = from + width < n ? from + width : n, end = mid + width < n ? mid + width : n;
      for (size_t a = from, b = mid, out = from; out < end; out++)
        copy[out] =
            b == end || (a < mid && nodes[ref->nodes.at[a]].begin <= nodes[ref->nodes.at[b]].begin)
                ? ref->nodes.at[a++]
                : ref->nodes.at[b++];
    }
    memcpy(ref->nodes.at, copy, n * sizeof *copy);
  }
  if (copy) tsl__free(&space->alloc, copy, n * sizeof *copy);
  return true;
}

bool tsl__difference_find(tsl__space *space, tsl__level *l, const tsl__hint *h, tsl__leftover over,
                          tsl__reference *ref) {
  const tsl__walk *base = tsl__walk_over(space, h->base, 0, over, l->last);
  tsl__reference_clear(ref);
  if (!base) return false;
  ref->mask = base->mask;
  ref->left = base->left;
  if (over & TSL__WHOLE) {
    except_below(space, l, h, 0, ref);
  } else {
    const tsl__leftover_rec *t = tsl__leftover_at(space, over);
    for (uint32_t i = 0; i < t->n && space->status == TSL_OK; i++)
      except_below(space, l, h, t->nodes[i], ref);
  }
  return space->status == TSL_OK && sort_nodes(space, ref);
}
