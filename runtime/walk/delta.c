/* delta.c - finder: the walk of a state, from that of a similar state (reference.h).
 *
 * Problem   A pattern, or a list of excluded names, may forbid something within a text. On the way
 *           each state can read nearly every byte, so the search visits most of the trie. But the
 *           walk that it makes differs in a few tokens only from that of the state before.
 * Idea      If a byte leads from two states to the same place, both have the same walk below that
 *           byte. So compare where each byte leads from both states, beginning at the root of the
 *           trie. Where the targets differ, compare the two targets below that node, and so on. A
 *           few subtrees remain. Their tokens are removed from the known walk, and the search walks
 *           them from the new state.
 * Known     A state is a candidate if its walk over the whole vocabulary took TSL__DELTA_WORK steps
 *           or more. Of the last eight candidates of a grammar the nearest one is compared.
 * Example   Names without `hipchat`. The state after `hip` is compared with the state at the
 *           beginning. Only the byte `c` leads from the two to different places, and below `c` only
 *           `h` does. So the walk after `hip` is the walk at the beginning, but for the tree of
 *           `ch`. The tokens of that tree are removed, and those that live after `hip` are added.
 * Cost      One comparison of all transitions for each node where the two states differ. Candidates
 *           that differ over too much of the vocabulary are given up at the root.
 * Tested by tests/walk/test_delta.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/reference.h"

#include "runtime/core/trie.h"

#define SMALL 12u      /* tokens below a node that are walked rather than compared */
#define MISSES_MAX 12u /* more than so many than were met, and no more is looked for */

/* Bounds of what differs. */
static const struct {
  uint32_t share; /* at the root, over at most one in so many tokens */
  uint32_t nodes; /* that are compared */
  size_t enter;   /* trees that are walked */
  size_t tokens;  /* that go: they are removed one by one */
} bounds[] = {
    [TSL__DELTA_NEAR] = {3, 1024, 64, TSL__PATCH_MAX}, [TSL__DELTA_FAR] = {3, 4096, 512, 4096}};

/* The two sides of a comparison. */
typedef struct side {
  tsl__state state;
  uint32_t count;
} side;

typedef struct comparison {
  tsl__space *space;
  tsl__reference *out;
  tsl__delta_reach reach;
  bool last; /* nothing follows the frames of both */
  uint32_t nodes;
} comparison;

/* Does it nothing but read, and is there anything that it reads? */
static bool is_plain(const tsl__state_rec *r, bool last) {
  return tsl__state_is_plain_on(r, last) && r->ranges;
}

/* Where a target leads; state 0: nowhere. */
static side side_of(const tsl__space *space, tsl__target t, uint32_t count) {
  side to = {0, 0};
  if (t) to.state = tsl__target_resolve(space, t, count, &to.count);
  return to;
}

static bool add_tokens(comparison *c, uint32_t begin, uint32_t end) {
  const tsl__trie *trie = &c->space->vocab->trie;
  if (!tsl__vec_reserve(&c->space->alloc, &c->out->tokens, end - begin))
    return tsl__space_no_memory(c->space);
  memcpy(c->out->tokens.at + c->out->tokens.n, trie->order + begin,
         (end - begin) * sizeof *trie->order);
  c->out->tokens.n += end - begin;
  return true;
}

static bool add_tree(comparison *c, uint32_t node) {
  return tsl__vec_push(&c->space->alloc, &c->out->nodes, node) || tsl__space_no_memory(c->space);
}

static bool add_entry(comparison *c, uint32_t node, side s, uint32_t depth) {
  return tsl__vec_push(&c->space->alloc, &c->out->enter,
                       ((tsl__reference_entry){node, s.count, depth, s.state})) ||
         tsl__space_no_memory(c->space);
}

static bool compare(comparison *c, uint32_t node, const tsl__state_rec *r, uint32_t count,
                    const tsl__state_rec *delta, uint32_t delta_count, uint32_t depth);

/* A node that leads the two to different places. */
static bool differ(comparison *c, uint32_t node, side to, side delta, uint32_t depth) {
  const tsl__trie_node *n = &c->space->vocab->trie.nodes[node];
  if (!to.state) return add_tokens(c, n->begin, n->end) && add_tree(c, node);
  if (!delta.state) return add_entry(c, node, to, depth);
  if (!n->children) return true;
  const tsl__state_rec *a = tsl__state_expanded(c->space, to.state),
                       *b = tsl__state_expanded(c->space, delta.state);
  if (!a || !b) return false;
  if (n->end - n->own_end >= SMALL && is_plain(a, c->last) && is_plain(b, c->last))
    return compare(c, node, a, to.count, b, delta.count, depth);
  return add_tokens(c, n->own_end, n->end) && add_tree(c, node) && add_entry(c, node, to, depth);
}

/* Both do nothing but read here. Recursion is bounded by the longest token. */
static bool compare(comparison *c, uint32_t node, const tsl__state_rec *r, uint32_t count,
                    const tsl__state_rec *delta, uint32_t delta_count, uint32_t depth) {
  const tsl__trie *trie = &c->space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[node];
  if ((c->nodes += n->children) > bounds[c->reach].nodes ||
      c->out->enter.n > bounds[c->reach].enter || c->out->tokens.n > bounds[c->reach].tokens ||
      !tsl__space_step(c->space, 1u + n->children / 8))
    return false;
  const uint8_t *own = tsl__state_upper(r), *others = tsl__state_upper(delta);
  /* range by range: both have all bytes in order */
  for (uint32_t i = n->first_child, end = i + n->children, o = 0, k = 0; i < end;) {
    uint8_t byte = trie->labels[i];
    while (own[o] < byte) o++;
    while (others[k] < byte) k++;
    uint8_t upper = own[o] < others[k] ? own[o] : others[k];
    side a = side_of(c->space, tsl__state_range(c->space, r, o, byte), count),
         b = side_of(c->space, tsl__state_range(c->space, delta, k, byte), delta_count);
    if (c->space->status != TSL_OK) return false;
    bool differs = a.state != b.state || a.count != b.count;
    for (; i < end && trie->labels[i] <= upper; i++)
      if (differs && !differ(c, i, a, b, depth + 1)) return false;
  }
  return true;
}

/* Tokens below the children of the root that lead the two to different places, counted up to
 * `most`. Range by range: both have all bytes in order. */
static uint32_t distance(tsl__space *space, const tsl__state_rec *r, uint32_t count,
                         const tsl__state_rec *delta, uint32_t delta_count, uint32_t most) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *child = &trie->nodes[trie->nodes[0].first_child],
                       *end = child + trie->nodes[0].children;
  const uint8_t *own = tsl__state_upper(r), *others = tsl__state_upper(delta);
  uint32_t sum = 0, i = 0, k = 0;
  while (child < end && sum <= most && space->status == TSL_OK) {
    while (own[i] < child->byte) i++;
    while (others[k] < child->byte) k++;
    uint8_t upper = own[i] < others[k] ? own[i] : others[k];
    side a = side_of(space, tsl__state_range(space, r, i, child->byte), count),
         b = side_of(space, tsl__state_range(space, delta, k, child->byte), delta_count);
    bool differs = a.state != b.state || a.count != b.count;
    for (; child < end && child->byte <= upper; child++)
      sum += differs ? child->end - child->begin : 0;
  }
  return sum;
}

bool tsl__delta_find(tsl__space *space, tsl__state state, uint32_t count, bool last,
                     tsl__delta_reach reach, tsl__reference *out) {
  const tsl__state_rec *r = tsl__state_expanded(space, state), *nearest = NULL;
  tsl__reference_clear(out);
  if (tsl__shortcut_is_off(space, TSL__SHORTCUT_DELTA) || !space->walking.delta_count || !r ||
      !tsl__linear_of(space, r, 0) || !is_plain(r, last) ||
      space->walking.delta_missed > MISSES_MAX + space->walking.delta_met)
    return false;
  uint32_t best = space->vocab->trie.order_count / bounds[reach].share, delta_count = 0;
  for (uint32_t i = 0;
       i < TSL__DELTA_MAX && i < space->walking.delta_count && space->status == TSL_OK; i++) {
    const tsl__delta_base *k = &space->walking.delta_bases[i];
    const tsl__walk *w = tsl__space_at(space, walks, k->walk);
    const tsl__state_rec *delta =
        (w->context & 1) == last ? tsl__state_expanded(space, w->state) : NULL;
    if (!delta) continue;
    uint32_t d = distance(space, r, count, delta, k->count, best);
    if (d >= best) continue;
    best = d;
    nearest = delta;
    delta_count = k->count;
    out->mask = w->mask;
    out->left = w->left;
  }
  comparison c = {space, out, reach, last, 0};
  bool met =
      nearest && space->status == TSL_OK && compare(&c, 0, r, count, nearest, delta_count, 0);
  if (met)
    space->walking.delta_met++;
  else
    space->walking.delta_missed++;
  return met;
}

void tsl__delta_note(tsl__space *space, const tsl__walk *walk, uint32_t count) {
  const tsl__state_rec *r = tsl__state_expanded(space, walk->state);
  if (!r || !is_plain(r, walk->context & 1) || r->live_count < TSL__LINEAR_BYTES) return;
  space->walking.delta_bases[space->walking.delta_count++ % TSL__DELTA_MAX] =
      (tsl__delta_base){tsl__space_count(space, walks) - 1, count};
}
