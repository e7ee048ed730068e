/* borrow.h - masks written out for a host that only wants to look at them.
 *
 * Idea      A mask is bitsets and a few patches, and the next one at the same kind of place is the
 *           same bitsets with other patches. A matcher that lends masks keeps a few of them written
 *           out. A new mask takes the one with the same bitsets, undoes its patches and makes its
 *           own. A mask that is lent again is written out for good, with the grammar, for all
 *           matchers: a row. A grammar has TSL__ROWS rows at most. Later masks are rewritten as
 *           said.
 * Threads   A row is made by whoever asks and published by a compare and exchange; nobody waits.
 *           While another thread holds the lock, the size of the tables cannot be read. Then the
 *           row is made at a later call. Rows are freed with the grammar.
 * Cost      A row: a load. Else a nanosecond or two for each patch; a copy of the bitset (0.2 µs
 *           for 128,256 tokens) where no such mask is kept.
 * Memory    Up to TSL__BORROWED masks of the vocabulary's width for each matcher that lends, and
 *           TSL__ROWS for its grammar, which count as its memory.
 * Tested by tests/engine/test_oracle.c, tests/position/test_distinct.c, tests/masks/test_borrow.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MASKS_BORROW_H
#define TSL_RUNTIME_MASKS_BORROW_H

#include "runtime/core/os.h"
#include "runtime/masks/mask.h"

#define TSL__BORROWED 4u
#define TSL__ROWS 64u

typedef struct tsl__borrowed {
  uint32_t *bits[TSL__BORROWED];            /* NULL: not needed yet */
  const tsl__mask_rec *mask[TSL__BORROWED]; /* what they hold; NULL: something else */
  uint32_t oldest;                          /* the next to be given up */
} tsl__borrowed;

/* The words of a mask: valid until the next call with this `b`. NULL when out of memory. `lock` is
 * that of the tables, and not held. */
const uint32_t *tsl__borrow(const tsl__space *space, tsl__mutex *lock, tsl__borrowed *b,
                            const tsl_allocator *a, const tsl__mask_rec *mask);
/* Words to be filled by the caller, under the same conditions. */
uint32_t *tsl__borrow_words(const tsl__space *space, tsl__borrowed *b, const tsl_allocator *a);
/* What the rows of a grammar's layer hold, in bytes; and to free them. */
size_t tsl__rows_memory(const tsl__space *space);
void tsl__rows_free(tsl__space *space);
void tsl__borrowed_free(const tsl__space *space, tsl__borrowed *b, const tsl_allocator *a);

#endif
