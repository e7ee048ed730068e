/* union_memo.h - what masks are together, once it is known.
 *
 * Problem   Masks of positions are mostly made of the vocabulary's own masks, and most of these
 *           unions were found out in a rehearsal (compiler/grammar/rehearsal.h). Mostly they were
 *           not read for long, so a look-up by that layer's index would load four lines of memory.
 * Idea      When a layer will make no more unions, they are put into a table by their hash, each in
 *           a memory line of its own. A grammar searches that table first, and then its own.
 * Cost      A look-up loads one line of memory. The table has 64 bytes a union, and as much again
 *           that is free.
 * Tested by tests/masks/test_mask.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MASKS_UNION_MEMO_H
#define TSL_RUNTIME_MASKS_UNION_MEMO_H

#include "runtime/masks/mask.h"

/* The mask that these parts are together, in this layer or the one below; 0: it is not known. *hash
 * is then what it is to be added by. */
tsl__mask tsl__union_find(const tsl__space *space, const tsl__union *u, uint64_t *hash);
/* It is u->all. False: out of memory (sticky). */
bool tsl__union_add(tsl__space *space, const tsl__union *u, uint64_t hash);

/* Those of a layer that will make no more, into a table where each is found at once. False: out of
 * memory (sticky). */
bool tsl__union_freeze(tsl__space *space);

#endif
