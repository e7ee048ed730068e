/* union_memo.h - what masks are together, once it is known.
 *
 * Problem   Masks of positions are mostly made of the vocabulary's own masks, and most of these
 *           unions were found out in a rehearsal (compiler/grammar/rehearsal.h). They have mostly
 *           not been looked at for long: by an index of that layer one would take four lines of
 *           memory.
 * Idea      The layer that will unite no more lays its unions in a table by their hash, each in a
 *           line of its own. It is searched before the grammar's own table, which has what it
 *           lacks.
 * Cost      A line of memory, of 64 bytes a union and as much again that is free.
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
