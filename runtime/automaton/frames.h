/* frames.h - what a position is made of, as data: frames with shared tails.
 *
 * Problem   A walk needs to know what may follow its frame, so it must read the frames below.
 *           Frames are pushed, ended and interned by the room `position`, which lies above the
 *           walk.
 * Idea      The records alone are here, for both rooms. A cell is a frame (state, register) on top
 *           of a set of cells. A position is such a set, known by its number. Readers need nothing
 *           else. runtime/position/stacks.h makes positions.
 * Example   After `[1` of nested arrays of integers, the position has one cell. It is the integer's
 *           state, and its tail is the position that waits for `,` or `]`.
 * Cost      Reading a cell is one load, and one more where the position also remembers names or
 *           items.
 * Tested by tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_AUTOMATON_FRAMES_H
#define TSL_RUNTIME_AUTOMATON_FRAMES_H

#include "runtime/automaton/space.h"

/* A set of cells; 0 is the bottom: nothing follows. */
typedef uint32_t tsl__stack;

typedef struct tsl__cell {
  tsl__state state;
  uint32_t count; /* the register */
  tsl__stack tail;
} tsl__cell;

/* A position with a distinct record (position/distinct.h): the position without it, the record, and
 * the text. 0 for other positions. */
typedef struct tsl__with_distinct {
  uint32_t plain, distinct, text;
} tsl__with_distinct;

#define TSL__STACK_CELLS 0x0FFFFFFFu /* in a set at most */

typedef struct tsl__stack_rec {
  union {
    /* its cells, sorted, if there are several. See tsl__stack_cell */
    const tsl__cell *cells;
    struct {
      union {
        tsl__cell cell; /* the only one */
        /* of a position with a distinct record, which has the cells of its plain position */
        tsl__with_distinct with_distinct;
      };
      uint32_t n : 28;
      uint32_t complete : 1; /* the text may end here */
      /* a frame comes back to one of its cells with a name that must be new */
      uint32_t names : 1;
      /* one frame, whose state some bytes do not change (`self`): any token of such bytes alone
       * leads back here */
      uint32_t stays : 1;
      uint32_t has_distinct : 1; /* has a distinct record */
    };
  };
  _Atomic(const struct tsl__mask_rec *) mask; /* NULL: not requested yet */
  /* the first token that was requested, as TSL__FIRST, in the upper half; where it leads
   * (tsl__lead) in the lower; 0: none. Most positions see no other token */
  _Atomic(uint64_t) first;
} tsl__stack_rec;
#define TSL__FIRST(token) ((token) + UINT64_C(1))

static inline const tsl__stack_rec *tsl__stack_at(const tsl__space *s, tsl__stack i) {
  return tsl__pool_at_of(&s->stacks.pool, i, sizeof(tsl__stack_rec));
}
/* The first token that was requested, and where it leads. Without the lock. */
static inline uint64_t tsl__stack_first(const tsl__stack_rec *r) {
  return atomic_load_explicit(&((tsl__stack_rec *)(uintptr_t)r)->first, memory_order_acquire);
}
/* Cell `i` of a position. */
static inline const tsl__cell *tsl__stack_cell(const tsl__space *s, const tsl__stack_rec *r,
                                               uint32_t i) {
  if (TSL__LIKELY(r->n == 1 && !r->has_distinct)) return &r->cell;
  if (r->has_distinct) r = tsl__stack_at(s, r->with_distinct.plain);
  return r->n == 1 ? &r->cell : &r->cells[i];
}

#endif
