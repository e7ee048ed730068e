/* leaves.h - the last step of a search: a node below which all are leaves.
 *
 * Vocabularies hold the numbers of three digits or so, and half of all steps of a search for a
 * number lead from two digits to three. There the state after the two is asked once for each range
 * of its bytes; and where it goes on by each byte that stands there, so it does below all siblings
 * that lead to it: their tokens lie side by side, and are copied.
 *
 * Tested by tests/engine/test_oracle.c, tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_LEAVES_H
#define TSL_RUNTIME_WALK_LEAVES_H

#include "runtime/walk/search.h"

/* Siblings that may be read together. */
typedef struct tsl__leaves {
  uint32_t first, end; /* nodes; there is one byte below the first */
  uint8_t upper;       /* as far as this byte they lead to the same state */
  uint32_t count;      /* its register */
  uint32_t depth;      /* of these nodes */
} tsl__leaves;

/* Gather the first's own tokens and those below it, and of its siblings as many as goes at once;
 * the last of them. 0: nothing was done, it is to be searched as others are. `r`: the state,
 * expanded. */
uint32_t tsl__search_leaves(tsl__space *space, tsl__level *l, const tsl__state_rec *r,
                            tsl__leaves at);

#endif
