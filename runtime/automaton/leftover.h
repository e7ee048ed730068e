/* leftover.h - leftovers: what is left to spell of tokens that ran past the end of a frame.
 *
 * Problem   A token such as `"},` ends a string and goes on in the object around it. Each frame in
 *           which a string can end would have to spell all these tokens again.
 * Idea      The rests of such tokens are a set of nodes of the trie. Each node stands for all
 *           tokens below it. The next frame is walked over the set as if it were one trie. The
 *           child of a set by a byte is the set of its nodes' children by that byte. Sets are
 *           interned, and children are merged when they are needed first.
 * Whole     The whole vocabulary (the root) is kept apart from the set, as a flag. Frames that may
 *           end at once leave the root over. As a node of a set, the root would make the set as
 *           large as the vocabulary.
 * Example   The 189 nodes at which a JSON string can end are one leftover. Its child by `,` is
 *           merged once for a vocabulary.
 * Cost      A set of n nodes is sorted and hashed: O(n log n). A child that is known is one probe.
 * Tested by tests/automaton/test_leftover.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_AUTOMATON_LEFTOVER_H
#define TSL_RUNTIME_AUTOMATON_LEFTOVER_H

#include "runtime/automaton/space.h"

/* The number of a set in the lower 31 bits (0: no node), and the flag. */
typedef uint32_t tsl__leftover;
#define TSL__WHOLE 0x80000000u
#define tsl__leftover_set(t) ((t) & ~TSL__WHOLE)

typedef struct tsl__leftover_rec {
  const uint32_t *nodes; /* sorted, each with children; never the root */
  uint32_t n;
  uint16_t height;  /* bytes of the longest path below */
  uint16_t tokens;  /* below; UINT16_MAX: so many or more */
  tsl__bytes next;  /* bytes of the nodes' children */
  tsl__bytes below; /* bytes anywhere below; all if not known */
} tsl__leftover_rec;

/* The child of a leftover by one byte. */
typedef struct tsl__child {
  uint32_t set; /* a leftover without the flag */
  uint8_t byte;
  tsl__leftover to;        /* those of the nodes' children that have children */
  const tsl_token *tokens; /* that end at the children */
  uint32_t count;
} tsl__child;

static inline const tsl__leftover_rec *tsl__leftover_at(const tsl__space *s, tsl__leftover t) {
  return tsl__space_at_of(s, leftovers, tsl__leftover_set(t), sizeof(tsl__leftover_rec));
}

/* The set of n nodes (any order, doubles allowed; sorts in place; nodes without children are
 * dropped). Never fails to give a number: on failure 0, sticky. */
tsl__leftover tsl__leftover_intern(tsl__space *space, uint32_t *nodes, size_t n);
/* The union of two leftovers, kept for the last few pairs; 0: the union has too many nodes. */
tsl__leftover tsl__leftover_join(tsl__space *space, tsl__leftover a, tsl__leftover b);
/* The nodes of `a` that `b` lacks; neither has the flag. 0: there are none, or on failure
 * (sticky). */
tsl__leftover tsl__leftover_minus(tsl__space *space, tsl__leftover a, tsl__leftover b);
/* The child by a byte of `next`; NULL on failure (sticky). `t` has no flag. */
const tsl__child *tsl__leftover_child(tsl__space *space, tsl__leftover t, uint8_t byte);
/* Make the children by all of these bytes, as far as they are not there yet. One pass makes all of
 * them: each node is visited once, and not once for each byte. False on failure (sticky). */
bool tsl__leftover_children(tsl__space *space, tsl__leftover t, const tsl__bytes *bytes);

#endif
