/* limited.h - walks where few letters are left.
 *
 * Problem   A string of at most 12 characters one of which must be a digit lives on any 11, then
 *           not on each: no class of letters is its own, and reading the whole trie takes half a
 *           millisecond.
 * Idea      The class's tokens of so many letters as surely live are one bitset. Longer ones of the
 *           class are tried one by one, unless they are longer than any text may be; and what is
 *           legal but is no letter is searched for among the letters, as ever.
 * Cost      About 0.1 ms, most of it for the states that those tokens lead to.
 * Tested by tests/walk/test_linear.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_LIMITED_H
#define TSL_RUNTIME_WALK_LIMITED_H

#include "runtime/walk/search.h"

/* Walk like that over the whole vocabulary. False if it is not best walked so, or on failure
 * (sticky). */
bool tsl__walk_limited(tsl__space *space, tsl__level *l, const tsl__state_rec *r, tsl__state state,
                       uint32_t count);

#endif
