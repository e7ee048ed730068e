/* carry.h - a position of one space as a position of another.
 *
 * Problem   A grammar keeps what texts made it find in a space, and begins a new one when that
 *           space is full (runtime/matcher/generation.h). A text under way stands at a position of
 *           the old space. It must go on in the new one, without reading its bytes again.
 * Idea      Only the records of a position are made again in the other space: cells, tails, and the
 *           records of names and items. The two spaces grow their states out of the same
 *           expressions. The hook of the new space knows which of its states stands for the same
 *           (tsl__hook_life.carry). Masks, walks and moves stay behind, and are made again when
 *           they are needed.
 * Order     A record needs the numbers of the records that it is made of. A list of tasks holds the
 *           records to be made. If a record needs another, that one goes on top of the list. So
 *           nesting, however deep, does not use the thread's stack.
 * Example   After `{"a": [1` the position is a cell of the number, on top of one of the array, on
 *           top of one of the object. Its record has the name a. So some six records are made.
 * Cost      A record is one look-up in a table, and one in an index: some 50 ns. Records that were
 *           made are remembered until the end, so positions of a history share their tails.
 * Tested by tests/matcher/test_generation.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_CARRY_H
#define TSL_RUNTIME_POSITION_CARRY_H

#include "runtime/position/distinct.h"

/* A record that was carried: its kind and number in `from`, and its number in `to`. */
typedef struct tsl__carried {
  uint64_t key; /* 0: free */
  uint32_t number;
} tsl__carried;

typedef struct tsl__carry {
  tsl__space *to;
  const tsl__space *from;
  size_t most; /* bytes of the arena of `to` at which no more is carried; SIZE_MAX: no bound */
  bool over;   /* `most` was reached */
  tsl__carried *slots;
  uint32_t slot_count, n; /* slots: a power of two */
  TSL__VEC(uint64_t) tasks;
  TSL__VEC(tsl__cell) cells;
  TSL__VEC(tsl__deny) denies;
} tsl__carry;

/* The position of `to` that is `at` of `from`. 0 on failure, which is sticky in `to`, or if c->over
 * is set. Both spaces have the same lock, which the caller holds. */
tsl__stack tsl__carry_stack(tsl__carry *c, tsl__stack at);
void tsl__carry_free(tsl__carry *c);

#endif
