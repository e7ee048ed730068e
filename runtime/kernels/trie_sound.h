/* trie_sound.h - what trie_sound.c and its vector kernel say to each other.
 *
 * Idea      Whether a trie that came from a file is sound is looked at block by block. First the
 *           parents of a block's nodes write down what they say of their children, a row for each
 *           kind of statement. Then the nodes are compared with these rows, eight at a time with
 *           AVX2, as no node has to follow a pointer any more.
 * Example   See trie_sound.c.
 * Tested by tests/kernels/test_trie_sound.c, the kernels against each other and against
 *           tsl__trie_check
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_KERNELS_TRIE_SOUND_H
#define TSL_RUNTIME_KERNELS_TRIE_SOUND_H

#include "runtime/core/trie.h"

#define TSL__SOUND_BLOCK 512u /* nodes */
/* a parent writes to the places of so many children at once, be they its own or the next one's, who
 * writes after it */
#define TSL__SOUND_SPREAD 4u
/* not a multiple of a page: stores to the same place of two rows would wait for each other */
#define TSL__SOUND_ROW (TSL__SOUND_BLOCK + 24u)

/* What the parents of a block's nodes say of them: row[i] is of the block's node i. */
typedef struct tsl__trie_block {
  uint32_t first[TSL__SOUND_ROW]; /* all bits: the first child of its parent, else 0 */
  uint32_t begin[TSL__SOUND_ROW]; /* of first children: where the parent's own tokens end */
  uint32_t end[TSL__SOUND_ROW];   /* where the parent of the node before node i ends */
  uint32_t above[TSL__SOUND_ROW]; /* the parent's height */
} tsl__trie_block;

/* Does each of nodes[from … from + count) agree with itself, with the node before it and with its
 * parent? There is a node before, and node_count and order_count are below 2^31. One of the kernels
 * of logits.h. */
bool tsl__trie_block_agrees(const tsl__trie *trie, const tsl__trie_block *block, uint32_t from,
                            uint32_t count);
/* The same in plain C for nodes[from + begin … from + end). That is what a vector kernel leaves
 * over at the end of a block, or all of it. */
bool tsl__trie_block_agrees_from(const tsl__trie *trie, const tsl__trie_block *block, uint32_t from,
                                 uint32_t begin, uint32_t end);
bool tsl__trie_block_agrees_avx2(const tsl__trie *trie, const tsl__trie_block *block, uint32_t from,
                                 uint32_t count);

#endif
