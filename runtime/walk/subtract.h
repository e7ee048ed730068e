/* subtract.h - walks told from a class: as all texts of some letters, less those that die.
 *
 * Problem   A string that must not hold some text, or must hold another, lives on nearly all texts:
 *           none but few tokens die. The first walk of such a state reads the whole trie.
 * Idea      What a text of letters does to the state is a small graph: followed to its end it
 *           tells, for each state in it, how many bytes the nearest death is away and which bytes
 *           lie on every way there. So the walk is the mask of the class, less what dies; and to
 *           find that, only those trees are looked into that are high enough and that have those
 *           bytes below. What is legal but is no letter (a closing quote, an escape) is searched
 *           for as ever, among the letters.
 * Exact     Every way to death through the letters is in the graph. A tree without one of the bytes
 *           that all ways need, or with less height than the shortest way, has no token that dies.
 * Example   Names without `hipchat`: each way needs h, i, p, c, a and t, and seven bytes. The few
 *           tokens that have all of them are tried, and none dies.
 * Cost      About 1 µs for each target of a state that must be made first, which is most of it; 0.1
 *           ms from states that are known, where reading the whole trie takes 1.1 ms.
 * Tested by tests/walk/test_subtract.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_SUBTRACT_H
#define TSL_RUNTIME_WALK_SUBTRACT_H

#include "runtime/automaton/state.h"

typedef struct tsl__subtract {
  tsl__hint hint;             /* the letters, and what is legal among them but is none */
  TSL__VEC(tsl_token) tokens; /* that die; others among them are no texts of letters */
} tsl__subtract;

/* Is a state best walked like this over the whole vocabulary? `last`: nothing follows its frame.
 * Then *out is filled; its list is the caller's, cleared here. False on failure too (sticky). Needs
 * the lock. */
bool tsl__subtract_find(tsl__space *space, tsl__state state, bool last, tsl__subtract *out);
void tsl__subtract_free(tsl__space *space, tsl__subtract *less);

#endif
