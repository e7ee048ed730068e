/* delta.h - the walk of a state, told from the walk of one that is much like it.
 *
 * Problem   What a pattern, or a list of names that are taken, forbids within a text is followed
 *           through states each of which lives on nearly any byte. The walk of each enters most of
 *           the trie, and differs from that of the state before by a few tokens.
 * Idea      Two states that a byte leads to the same place have the same walk below it. So compare
 *           where each byte leads from both, from the root of the trie on; where it differs, go on
 *           below that node with the two places. What is left are few trees: their tokens are taken
 *           out of what is known of the one state (the delta), and walked from the other.
 * Kin       The last few states of a grammar whose walk over the whole vocabulary took long are
 *           candidates.
 * Example   Names without `hipchat`: after `hip` and after nothing, only `c` leads to different
 *           places; below it, only `h` does.
 * Cost      A comparison of two transitions for each node where the two differ; candidates that
 *           differ over too much of the vocabulary are given up at the root.
 * Tested by tests/engine/test_oracle.c, tests/walk/test_delta.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_DELTA_H
#define TSL_RUNTIME_WALK_DELTA_H

#include "runtime/automaton/state.h"
#include "runtime/walk/walk.h"

/* A tree to be walked: a node that the state reaches, its own byte read. */
typedef struct tsl__delta_entry {
  uint32_t node, count, depth;
  tsl__state state;
} tsl__delta_entry;

/* How a state differs from its delta. */
typedef struct tsl__delta {
  const tsl__walk *walk;      /* of the delta, over the whole vocabulary */
  TSL__VEC(tsl_token) tokens; /* these go */
  /* nothing is left over at these nodes nor below, but what entering leaves; sorted by their
   * tokens, none below another */
  TSL__VEC(uint32_t) trees;
  TSL__VEC(tsl__delta_entry) enter; /* these are walked */
} tsl__delta;

/* How near delta must be: so near that nothing is faster, or nearer than walking all. */
typedef enum tsl__delta_reach { TSL__DELTA_NEAR, TSL__DELTA_FAR } tsl__delta_reach;

/* Is there delta whose walk is worth beginning from? Then *out is filled; its lists are the
 * caller's, cleared here. False on failure too (sticky). Needs the lock. */
bool tsl__delta_find(tsl__space *space, tsl__state state, uint32_t count, bool last,
                     tsl__delta_reach reach, tsl__delta *out);
/* A walk over the whole vocabulary was remembered, of a state with that register: let others
 * compare. */
void tsl__delta_note(tsl__space *space, const tsl__walk *walk, uint32_t count);
/* Is a node one of *delta's trees, or below one? */
bool tsl__delta_within(const tsl__space *space, const tsl__delta *delta, uint32_t node);
void tsl__delta_free(tsl__space *space, tsl__delta *delta);

#endif
