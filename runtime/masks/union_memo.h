/* union_memo.h - unions of masks that were made before, found again.
 *
 * Problem   Masks of positions are mostly made of the vocabulary's own masks, and most of these
 *           unions were found out in a rehearsal (compiler/grammar/rehearsal.h). Mostly no cache
 *           holds them, so a look-up by that layer's index would load four lines of memory.
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

/* The union of these parts, if this layer or the one below has it. 0: neither has. Then *hash is
 * the hash that tsl__union_add needs. */
tsl__mask tsl__union_find(const tsl__space *space, const tsl__union *u, uint64_t *hash);
/* Keep the union, which is u->all. False: out of memory (sticky). */
bool tsl__union_add(tsl__space *space, const tsl__union *u, uint64_t hash);

/* Copy the unions of a layer that will make no more of them into the table described above. False:
 * out of memory (sticky). */
bool tsl__union_freeze(tsl__space *space);

#endif
