/* linear_quoted.h - what stands among letters of a JSON string and is none: a quote or a backslash,
 * and what follows it.
 *
 * Problem   A string that lives on any letters is in another state after each, so what ends it or
 *           escapes is searched for from each of them. Few tokens have a quote or a backslash, but
 *           the nodes that lead there lie all over the trie.
 * Idea      Only these nodes, in the order of their spelling, as one table: those that have a quote
 *           or a backslash below, and all from there on. The former have no tokens here: they are
 *           letters, of which a class tells.
 * Example   Of Llama-3.1's 274,520 nodes some 3,000 are left.
 * Tested by tests/walk/test_linear.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_LINEAR_QUOTED_H
#define TSL_RUNTIME_WALK_LINEAR_QUOTED_H

#include "runtime/walk/linear.h"

/* Fill in `quoted` of a table that is complete but for it. False on failure (sticky). */
bool tsl__quoted_make(tsl__space *base, tsl__linear *l);

#endif
