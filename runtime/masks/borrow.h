/* borrow.h - masks written out for a host that only wants to look at them.
 *
 * Idea      A mask is bitsets and a few patches. The next mask at a similar place mostly has the
 *           same bitsets and other patches. A matcher that lends masks keeps a few of them written
 *           out. For a new mask it takes the written one with the same bitsets, undoes the old
 *           patches and applies the new ones. A mask that is lent a second time gets a row: words
 *           that are written once and that all matchers of the grammar read. A grammar has
 *           TSL__ROWS rows at most. Masks without a row are patched as before.
 * Threads   The thread that borrows the mask makes its row, and publishes the row by a compare and
 *           exchange. No thread waits. While another thread holds the lock, the size of the tables
 *           cannot be read. Then the row is made at a later call. Rows are freed with the grammar.
 * Cost      A mask with a row costs one load. Without a row each patch costs 1 or 2 ns. If no
 *           written mask has the same bitsets, they are copied first: 0.2 µs for 128,256 tokens.
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
 * the lock of the tables. The caller does not hold it. */
const uint32_t *tsl__borrow(const tsl__space *space, tsl__mutex *lock, tsl__borrowed *b,
                            const tsl_allocator *a, const tsl__mask_rec *mask);
/* Words for the caller to fill. They are valid as long as those of tsl__borrow. */
uint32_t *tsl__borrow_words(const tsl__space *space, tsl__borrowed *b, const tsl_allocator *a);
/* The bytes that the rows of a grammar's layer take, and the function that frees the rows. */
size_t tsl__rows_memory(const tsl__space *space);
void tsl__rows_free(tsl__space *space);
void tsl__borrowed_free(const tsl__space *space, tsl__borrowed *b, const tsl_allocator *a);

#endif
