/* trie_sound.c - may a trie out of a file be walked?
 *
 * Problem   275,000 nodes are to be checked at every start. Which of them have children, and how
 *           many, is as good as random. A branch on it is guessed wrongly every other time, and
 *           costs more than all comparisons together.
 * Idea      Every node is met twice, as a parent and as a child, by two cursors that move forward
 *           together. Children lie in the order of their parents, so the parents of a block of
 *           nodes are a run of nodes before it. Each parent writes what its children must agree
 *           with to their places in a few rows (tsl__trie_block). It writes to four places without
 *           asking how many are its own. The next parent writes over what was too much. So does a
 *           leaf, which has no child and is written over altogether. Then the nodes of the block
 *           are compared with the rows, eight at a time where there is AVX2.
 * Implied   The children of a parent follow one another, and none is empty. The first begins where
 *           its parent's own tokens end, and the last ends where the parent does. So from the root,
 *           which is order[0 … order_count), no range below leads out. The children of all nodes
 *           follow one another too, from node 1 to the last node: none is missing, none has two
 *           parents. Bytes ascend, so there are 256 children at most; heights descend, so no path
 *           is longer than the root's height says.
 *
 * Example   See runtime/core/trie.h. The root writes (begin 0, height 2) to the places of a and b.
 *           Node a writes (begin 1, height 1) to that of ab. Node b, a leaf, writes nothing that
 *           lasts.
 * Cost      10 cycles a node with AVX2, 17 without.
 * Tested by tests/kernels/test_trie_sound.c, tests/vocab_files/test_vocab_cache.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/trie_sound.h"

#include "runtime/kernels/logits.h"

typedef struct checker {
  const tsl__trie *trie;
  /* the next node to be met as a parent; nodes that are children of those before, and the root.
   * Neither can overflow: at most 2^16 children a node */
  uint64_t parent, known;
} checker;

/* Write what the parent `n` says to the places [from, to) of its children in the block. */
static void note_span(tsl__trie_block *b, const tsl__trie_node *n, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++) {
    b->above[i] = n->height;
    b->end[i + 1] = n->end;
  }
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Meet the parents of the nodes `from` up to `to`; false if there are none for some of them. The
 * last to write to a place is a node with children: a leaf makes none known, so another writes
 * there too. */
static bool meet_parents(checker *c, tsl__trie_block *b, uint32_t from, uint32_t to) {
  const tsl__trie_node *nodes = c->trie->nodes;
  uint64_t parent = c->parent, known = c->known;
  memset(b->first, 0, sizeof b->first);
  if (parent) {
    b->end[0] = nodes[parent - 1].end;
    note_span(b, &nodes[parent - 1], 0, least(known, to) - from);
  } else {
    b->end[0] = nodes[0].end; /* as if the root were some node's last child */
  }
  for (; known < to; parent++) {
    if (parent >= known) return false;
    const tsl__trie_node *n = &nodes[parent];
    const uint32_t above[TSL__SOUND_SPREAD] = {n->height, n->height, n->height, n->height},
                   end[TSL__SOUND_SPREAD] = {n->end, n->end, n->end, n->end};
    uint64_t at = known - from;
    b->first[at] = UINT32_MAX;
    b->begin[at] = n->own_end;
    memcpy(b->above + at, above, sizeof above);
    memcpy(b->end + at + 1, end, sizeof end);
    known += n->children;
    if (TSL__UNLIKELY(n->children > TSL__SOUND_SPREAD))
      note_span(b, n, at + TSL__SOUND_SPREAD, least(known, to) - from);
  }
  c->parent = parent;
  c->known = known;
  return true;
}

/* What can be said of a node without its parent. The children of the nodes follow one another and
 * come later. Only what lies below a node may divide it from its own tokens. */
static inline uint32_t alone(const tsl__trie *t, const tsl__trie_node *n, uint32_t place) {
  return (uint32_t)(n->first_child <= place) | (uint32_t)(n->first_child > t->node_count) |
         (uint32_t)(n->begin > n->own_end) |
         ((uint32_t)(n->children == 0) & (uint32_t)(n->own_end != n->end)) |
         (uint32_t)((uint16_t)(n->below + 1u) > t->set_count);
}

bool tsl__trie_block_agrees_from(const tsl__trie *t, const tsl__trie_block *b, uint32_t from,
                                 uint32_t begin, uint32_t end) {
  uint32_t bad = 0;
  for (uint32_t i = begin; i < end; i++) {
    const tsl__trie_node *n = &t->nodes[from + i], *before = n - 1;
    uint32_t first = b->first[i];
    bad |= alone(t, n, from + i) | (n->first_child ^ (before->first_child + before->children));
    bad |= n->begin ^ before->end ^ ((before->end ^ b->begin[i]) & first);
    bad |= (before->end ^ b->end[i]) & first;
    bad |= (uint32_t)(n->end <= n->begin) | (uint32_t)(n->height >= b->above[i]) |
           (uint32_t)((n->byte | (first & 256u)) <= before->byte);
  }
  return !bad;
}

bool tsl__trie_block_agrees(const tsl__trie *t, const tsl__trie_block *b, uint32_t from,
                            uint32_t count) {
  return tsl__trie_block_agrees_from(t, b, from, 0, count);
}

/* The root, which is nobody's child, and the last node, which nothing comes after. */
static bool ends_agree(const tsl__trie *t, uint32_t last_end) {
  const tsl__trie_node *root = &t->nodes[0], *last = &t->nodes[t->node_count - 1];
  return !alone(t, root, 0) && root->first_child == 1 &&
         last->first_child + last->children == t->node_count && last->end == last_end;
}

bool tsl__trie_sound(const tsl__trie *t, uint32_t size, uint8_t *labels) {
  tsl__trie_block block;
  checker c = {.trie = t, .known = 1};
  uint32_t high = 0;
  if (!t->node_count || t->node_count > INT32_MAX || t->order_count > INT32_MAX ||
      t->set_count > UINT16_MAX)
    return false;
  if (t->nodes[0].begin || t->nodes[0].end != t->order_count) return false;
  for (uint32_t from = 1, to; from < t->node_count; from = to) {
    to = (uint32_t)least(t->node_count, (uint64_t)from + TSL__SOUND_BLOCK);
    if (!meet_parents(&c, &block, from, to) ||
        !tsl__logits()->trie_agrees(t, &block, from, to - from))
      return false;
    for (uint32_t i = from; labels && i < to; i++) labels[i] = t->nodes[i].byte;
  }
  if (labels) labels[0] = t->nodes[0].byte;
  for (uint32_t i = 0; i < t->order_count; i++) high = t->order[i] > high ? t->order[i] : high;
  return c.known == t->node_count && ends_agree(t, t->nodes[c.parent ? c.parent - 1 : 0].end) &&
         (!t->order_count || high < size);
}
