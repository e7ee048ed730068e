/* nonascii.h - classes of characters past ASCII, as marks on the trie.
 *
 * Problem   A class of letters such as `.` or \S has nearly all characters past ASCII, but not
 *           all: some line separators, some spaces. Single bytes do not say which, so a walk would
 *           enter every subtree of a multi-byte character.
 * Idea      Two bits per node, made once per class. EXIT: the last character of the node's path is
 *           not in the class (or, cut off in the middle, cannot become one that is). DIRTY: some
 *           node below is an exit. ASCII has no exits here, because sets of bytes are enough for
 *           it. Sometimes only so many characters of the class may come, and behind them another
 *           character past ASCII. Then a character that a node cuts off may be one of the class, or
 *           the other. There the class is `whole`, and such a node is an exit, too. The characters
 *           in which a path may end do not depend on the class. So they are found once per
 *           vocabulary, in buckets of 64 code points. A new class visits the buckets of the
 *           characters that it lacks.
 * Cost      Time: tens of microseconds for a class that lacks few characters, up to half a
 *           millisecond for one that has few. Memory: 2 × 34 KB for the 274,520 nodes of Llama-3.1,
 *           and 2.5 MB once per vocabulary. The two common classes are made with the vocabulary's
 *           tables.
 * Tested by tests/engine/test_oracle.c, test_letters.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_NONASCII_H
#define TSL_RUNTIME_WALK_NONASCII_H

#include "runtime/automaton/space.h"

typedef struct tsl__nonascii {
  uint64_t hash;
  /* sorted ranges of code points from 0x80 on, both ends included: lo, hi, lo, hi … */
  const uint32_t *pairs;
  uint32_t count; /* of ranges */
  /* a path that ends in the middle of a character is an exit if the character may become one
   * outside the class */
  bool whole;
  /* by node; midway: the path ends in the middle of a character */
  const uint64_t *exit, *dirty, *midway;
} tsl__nonascii;

/* A node whose path ends past ASCII, and what its last character may be: from lo to hi. */
typedef struct tsl__ending {
  uint32_t node, lo, hi;
} tsl__ending;

#define TSL__ENDING_BUCKETS 32768u /* of 64 code points: all that four bytes can spell */

typedef struct tsl__endings {
  tsl__ending *at;  /* by bucket of lo */
  uint32_t *first;  /* where each bucket begins in `at`; and the end */
  uint32_t *always; /* nodes whose paths are no UTF-8 */
  uint32_t always_count;
  uint32_t *parents; /* by node; the root is its own */
  uint64_t *midway;  /* see tsl__nonascii */
} tsl__endings;

/* Made with the lengths (classes.h) in a vocabulary's layer; NULL on failure (sticky). */
const tsl__endings *tsl__endings_make(tsl__space *base);

/* The number of a class, made if it is new; 0 on failure (sticky). Needs the lock. */
uint32_t tsl__nonascii_of(tsl__space *space, const uint32_t *pairs, uint32_t count, bool whole);
static inline const tsl__nonascii *tsl__nonascii_at(const tsl__space *s, uint32_t number) {
  return tsl__space_at(s, nonascii_sets, number);
}
static inline bool tsl__nonascii_bit(const uint64_t *bits, uint32_t node) {
  return bits[node >> 6] >> (node & 63) & 1;
}

#endif
