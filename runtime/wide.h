/* wide.h - classes of characters beyond ASCII, as marks on the trie.
 *
 * Problem   A class of letters such as `.` or \S has nearly all characters beyond ASCII, but not all: some line separators, some spaces. Bytes cannot tell, and so a
 *           walk would enter every subtree of a multi-byte character.
 * Idea      Two bits per node, made once per class in one pass over the trie. EXIT: the last character of the node's path is not in the class (or, cut off in
 *           the middle, cannot become one that is). DIRTY: some node below is an exit. ASCII has no exits here: sets of bytes tell about it.
 * Cost      Some 2 ms and 2 × 34 KB for the 274,520 nodes of Llama-3.1. The two common classes are made with the vocabulary's tables.
 * Tested by tests/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WIDE_H
#define TSL_RUNTIME_WIDE_H

#include "runtime/space.h"

typedef struct tsl__wide {
  uint64_t hash;
  const uint32_t *pairs; /* sorted ranges of code points from 0x80 on, both ends included: lo, hi, lo, hi … */
  uint32_t count;        /* of ranges */
  const uint64_t *exit, *dirty, *midway; /* by node; midway: the path ends in the middle of a character */
} tsl__wide;

/* The number of a class, made if it is new; 0 on failure (sticky). Needs the lock. */
uint32_t tsl__wide_of(tsl__space *space, const uint32_t *pairs, uint32_t count);
static inline const tsl__wide *tsl__wide_at(const tsl__space *s, uint32_t number) { return tsl__space_at(s, wides, number); }
static inline bool tsl__wide_bit(const uint64_t *bits, uint32_t node) { return bits[node >> 6] >> (node & 63) & 1; }

#endif
