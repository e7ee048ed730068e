/* linear_cover.h - words, that are told at once where a table is read (linear.h).
 *
 * Idea      Three of five tokens are ASCII letters, with a space before them or without. Where any 8 letters can surely be read, the tokens of at most so many are one bitset, and what is left to read
 *           along the table are nodes below which some word is longer, or something else. `deep` tells that of a node.
 * Tested by tests/test_linear.c, tests/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_LINEAR_COVER_H
#define TSL_RUNTIME_LINEAR_COVER_H

#include "runtime/linear.h"

/* Fill in `deep` and `words` of a table that is complete but for them. False on failure (sticky). */
bool tsl__cover_make(tsl__space *base, tsl__linear *l);
/* Mark the words of at most so many bytes; `spaced`: those with a space before them, which counts. */
void tsl__cover_mark(tsl__space *space, const tsl__linear *l, bool spaced, uint32_t bytes, uint32_t *marks);

#endif
