/* from_root.h - the search of a walk: what is known from the root without it.
 *
 * Starts    What begins as a number, a string, or any value of another kind does, is in the walk of
 *           that, which the vocabulary's layer has.
 * Digits    Where any digits may come next, as many as tokens have of them, they are in the walk of
 *           a number of any length, which the vocabulary's layer has too: numbers within wide
 *           bounds.
 * Past      Characters past ASCII that all lead to one place are read at once.
 * Text      Where a letter leads to any text, as behind the `:` of `^[a-z]+:[a-z]+` or at the
 *           beginning of `^[a-z]` or `^\w`, what begins with one is in the walk of that text, which
 *           is known: all trees of letters would be searched else for what ends the text.
 * Escapes   So is what begins with an escape's letter in a string of any characters, which goes on
 *           behind it: the walk of one with a letter more to come is known.
 * Cost      Of a text, some 0.1 ms, where the search takes 0.7.
 * Tested by tests/walk/test_delta.c, tests/walk/test_letters.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_FROM_ROOT_H
#define TSL_RUNTIME_WALK_FROM_ROOT_H

#include "runtime/walk/search.h"

/* Of what a state reads from the root: those bytes of which it is known without a search, their
 * trees are gathered. */
tsl__bytes tsl__from_root(tsl__space *space, tsl__level *l, const tsl__level_entry *e,
                          const tsl__state_rec *r);
/* Where a letter leads from a state that lives on far fewer bytes, if any text may follow and the
 * walk of that is known; 0: it is not so. Of neither a register matters. */
tsl__state tsl__leads_to_text(tsl__space *space, const tsl__state_rec *r);

#endif
