/* trie.h - what is left to spell: the vocabulary as a flat byte trie.
 *
 * Every token that is neither special nor empty is a path from the root. Nodes lie in breadth-first
 * order, the children of a node are contiguous and sorted by byte. A walk that goes level by level
 * reads memory forwards. Tokens are sorted by spelling (memcmp, shorter first, then id). So the
 * subtree of a node is one range of `order`: first the tokens that end at the node itself, then
 * those below.
 *
 * Example   tokens a=0, ab=1, b=2: root -> {a, b}; a -> {ab}; order = [0, 1, 2]; node a has begin
 *           0, own_end 1, end 2.
 * Cost      25 bytes a node (about 2.1 nodes a token in real vocabularies); built in O(total bytes)
 *           after the sort.
 * Tested by tests/core/test_trie.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CORE_TRIE_H
#define TSL_RUNTIME_CORE_TRIE_H

#include "runtime/core/base.h"

typedef struct tsl__trie_node {
  /* index of the first child; children are first_child … first_child + children - 1 */
  uint32_t first_child;
  uint32_t begin;   /* tokens at and below this node: order[begin … end) */
  uint32_t own_end; /* tokens that end here: order[begin … own_end) */
  uint32_t end;
  uint16_t children; /* 0 to 256 */
  uint16_t height;   /* bytes of the longest path below; 0 for a leaf */
  /* index into `sets`: bytes that occur anywhere below (not this node's own); UINT16_MAX: not
   * known, take all */
  uint16_t below;
  uint8_t byte; /* the byte that leads here; 0 for the root */
  uint8_t reserved;
} tsl__trie_node;

#define TSL__TRIE_FEW 8u /* children that are looked through together: most nodes have no more */

typedef struct tsl__trie {
  tsl__trie_node *nodes; /* nodes[0] is the root */
  tsl_token *order;      /* token ids sorted by spelling */
  tsl__bytes *sets;
  /* the byte of every node again, close together: where a node's children are looked through, a
   * line of memory holds those of 64. Behind them as many zeros as are looked at together */
  uint8_t *labels;
  uint32_t node_count, order_count, set_count;
} tsl__trie;

/* Build over the tokens whose flag in `skip` is 0 (skip may be NULL) and that have bytes. Token i
 * has the bytes offsets[i] to offsets[i + 1] - 1 of `bytes`; there are size + 1 offsets. They are
 * read only, and not needed afterwards. The caller frees the trie by tsl__trie_free. TSL_ERR_LIMIT:
 * a token is longer than TSL_MAX_TOKEN_BYTES, or the nodes would pass 32 bits. TSL_ERR_NO_MEMORY.
 * On failure *trie is empty. Llama 3.1 takes some milliseconds. */
tsl_status tsl__trie_build(tsl__trie *trie, const tsl_allocator *a, const uint8_t *bytes,
                           const uint32_t *offsets, uint32_t size, const uint8_t *skip);
/* Bytes of the labels. */
static inline size_t tsl__trie_labels(const tsl__trie *trie) {
  return trie->node_count ? trie->node_count + TSL__TRIE_FEW : 0;
}
/* With the allocator that built it; the trie is empty then. An empty trie may be freed. */
void tsl__trie_free(tsl__trie *trie, const tsl_allocator *a);
/* Is every number within its bounds and the nodes a tree of ranges as above, so that no walk leads
 * out of it? `size` tokens; which token is where is not looked at. For files. Fills in the labels
 * of the nodes at `labels` (tsl__trie_labels bytes, which are zeros; NULL: nowhere), as far as it
 * comes. */
bool tsl__trie_sound(const tsl__trie *trie, uint32_t size, uint8_t *labels);
/* Every invariant above, against the tokens; false if one is broken. For tests. */
bool tsl__trie_check(const tsl__trie *trie, const uint8_t *bytes, const uint32_t *offsets,
                     uint32_t size, const uint8_t *skip);

/* Does a byte of the set occur below the node? True where that is not known. */
static inline bool tsl__trie_below_meets(const tsl__trie *trie, const tsl__trie_node *node,
                                         const tsl__bytes *set) {
  return node->below == UINT16_MAX || tsl__bytes_meet(&trie->sets[node->below], set);
}
/* Do only bytes of the set? False where that is not known. */
static inline bool tsl__trie_below_within(const tsl__trie *trie, const tsl__trie_node *node,
                                          const tsl__bytes *set) {
  return node->below != UINT16_MAX && tsl__bytes_within(&trie->sets[node->below], set);
}

/* Which of eight bytes is the first one sought, or 8: compared together, as it cannot be foreseen
 * where it is. */
static inline uint32_t tsl__trie_among(const uint8_t *labels, uint8_t byte) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  uint64_t w;
  memcpy(&w, labels, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  w = __builtin_bswap64(w);
#endif
  w ^= ones * byte;
  /* the lowest is one; others may follow it that are none */
  uint64_t found = (w - ones) & ~w & ones << 7;
  return found ? (uint32_t)__builtin_ctzll(found) / 8 : 8;
}

/* The child of `node` by `byte`, or 0 (the root is nobody's child). Up to eight children are
 * compared at once, all 256 need no search, and numbers between are left to memchr. */
static inline uint32_t tsl__trie_child(const tsl__trie *trie, uint32_t node, uint8_t byte) {
  const tsl__trie_node *n = &trie->nodes[node];
  const uint8_t *labels = trie->labels + n->first_child;
  if (n->children > TSL__TRIE_FEW) {
    if (n->children == 256) return n->first_child + byte; /* one for each */
    const uint8_t *at = memchr(labels, byte, n->children);
    return at ? n->first_child + (uint32_t)(at - labels) : 0;
  }
  uint32_t i = tsl__trie_among(labels, byte);
  return i < n->children ? n->first_child + i : 0;
}

#endif
