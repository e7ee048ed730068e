/* stacks.h - positions: where a generation stands, as sets of frames with shared tails.
 *
 * Problem   An ambiguous grammar can have 2^n stacks after n bytes. Each sequence of a server has a
 *           position of its own, and most sequences come to the same positions.
 * Idea      A cell is a frame (state, register) on top of a set of cells, any of which may follow
 *           it; 0 is the bottom. A position is a set of cells. Usually each set has one cell: then
 *           it is a plain stack. Stacks with the same frame on top share one cell, whose tail is
 *           the union of their tails. So a position has at most two cells for each state and
 *           register: one with frames below it, and one at the bottom. `max_stacks` bounds the
 *           number of cells.
 * Loops     Two cells may differ in the register of a loop alone. If one accepts everything that
 *           the other accepts, the other is dropped. In ([a-z]{2,20} ?)+ any letter may begin a
 *           word. Of the words with two letters or more, the shortest may have the most letters to
 *           come. Its cell is kept.
 * Numbers   Sets are interned: a position is a number, and equal positions are equal numbers. A
 *           fork copies the number, and rollback returns to it. The mask of a position, and where
 *           its tokens lead, are kept with it for all users of the grammar.
 * Example   s ::= "a" s "b" | "a" s "c" | "". After "aa" there are four stacks: b b, b c, c b and
 *           c c. As sets they are two: {b, c} on top of {b, c}.
 * Memory    The tables of positions are a cache. When they are full, new tables take their place
 *           (runtime/matcher/generation.h).
 * Cost      A step of one byte is 5 to 45 ns. The record of a position has the first token that was
 *           looked up there. Any other known token costs one probe of a hash table.
 * Reference M. Tomita, Efficient Parsing for Natural Language (1985): the graph-structured stack.
 * Tested by tests/engine/test_oracle.c, tests/engine/test_costs.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_STACKS_H
#define TSL_RUNTIME_POSITION_STACKS_H

#include "runtime/automaton/frames.h"
#include "runtime/position/moves.h"
#include "runtime/walk/walk.h"

extern const tsl__with_distinct tsl__no_distinct;
static inline const tsl__with_distinct *tsl__with_distinct_at(const tsl__space *s, tsl__stack i) {
  const tsl__stack_rec *r = tsl__stack_at(s, i);
  return TSL__UNLIKELY(r->has_distinct) ? &r->with_distinct : &tsl__no_distinct;
}

/* All of these need the lock, and return 0 / false on failure (sticky). */

/* The position at the beginning: one frame in `state`. */
tsl__stack tsl__stack_begin(tsl__space *space, tsl__state state);
/* The position after a byte; 0 if it is rejected. */
tsl__stack tsl__stack_byte(tsl__space *space, tsl__stack from, uint8_t byte);
/* The position after `n` bytes, 0 if they are rejected; *accepted: how many were accepted. */
tsl__stack tsl__stack_bytes(tsl__space *space, tsl__stack from, const uint8_t *bytes, size_t n,
                            size_t *accepted);
/* The position after a whole token; 0 if it is rejected. The answer is kept. tsl__stack_token_anew
 * is for callers whose tsl__stack_find_token found nothing. */
tsl__stack tsl__stack_token(tsl__space *space, tsl__stack from, tsl_token token);
tsl__stack tsl__stack_token_anew(tsl__space *space, tsl__stack from, tsl_token token);
/* The mask of a position, end-of-generation tokens included. The answer is kept. */
tsl__mask tsl__stack_mask(tsl__space *space, tsl__stack at);
/* The bytes that may come next. */
bool tsl__stack_next(tsl__space *space, tsl__stack at, tsl__bytes *out);
/* Which tokens may be named at a position: none (TSL_NO_TOKEN), one, which is returned, or
 * TSL__SEVERAL_TOKENS. Call tsl__stack_next before. */
#define TSL__SEVERAL_TOKENS (TSL_NO_TOKEN - 1)
tsl_token tsl__stack_named(tsl__space *space, tsl__stack at);
/* The fewest bytes to a complete text, saturating at UINT32_MAX. */
uint32_t tsl__stack_shortest(tsl__space *space, tsl__stack at);

/* The same as tsl__stack_token, if the answer is known. Without the lock. */
bool tsl__stack_find_token(const tsl__space *space, tsl__stack from, tsl_token token,
                           tsl__stack *to);
/* The bytes that leave the only frame of a position as it is, which `stays`. Without the lock. */
static inline const tsl__bytes *tsl__stack_self(const tsl__space *space, const tsl__stack_rec *r) {
  return tsl__state_at(space, r->cell.state)->self;
}

/* ---- stepping -------------------------------------------------------------------------------- */

#define TSL__PIECE 4096u           /* bytes of a text that share one step budget */
#define TSL__STEP_DEPTH_MAX 20000u /* frames closed and opened before one byte is read */
/* Frames one inside another that a recursive function goes through. They need at most the 1 MiB of
 * the thread's stack that docs/limits.md names. A build for hosts with smaller stacks sets a
 * smaller number. */
#ifndef TSL__NESTED_MAX
#define TSL__NESTED_MAX 4000u
#endif

typedef TSL__VEC(tsl__cell) tsl__cells;

/* A hash table of cells: their numbers + 1 (tails.c). */
typedef struct tsl__slots {
  TSL__VEC(uint32_t) at;
  size_t filled; /* how many of the cells are in the table; 0: empty the table first */
} tsl__slots;

/* Where the frames of the next position are gathered, and the frames entered on the way, to see
 * cycles. Inside a token positions stay lists of frames; only the last one is interned. */
typedef struct tsl__stepping {
  tsl__cells landed, from;
  tsl__cells waiting; /* frames that landed on equal ones: their tails become one (tails.c) */
  tsl__slots landed_slots, entered_slots;
  tsl__cells entered;
  uint32_t depth;  /* frames entered before this byte */
  uint32_t nested; /* frames one inside another, at the moment */
  bool more;       /* the byte after this one is known */
  uint8_t next;    /* the byte after this one */
  bool watch;      /* guarded states have an effect */
  /* TSL__NEW_...: an item or name that ends before (after) this byte is a repetition.
   * TSL__SAME_ITEM: it is known to be none */
  uint8_t repeats_before, repeats_after;
  /* TSL__NEW_...: begun: for what, of that which began, a guarded state waits. returned: what came
   * back to a guarded state */
  uint8_t begun, returned;
} tsl__stepping;

/* No frame has landed. */
static inline void tsl__step_clear(tsl__stepping *s) {
  s->landed.n = s->waiting.n = s->landed_slots.filled = 0;
}

/* A frame comes back to `state`. The state in which it goes on; 0: it is rejected. */
static inline tsl__state tsl__step_admit(const tsl__space *space, tsl__stepping *s,
                                         tsl__state state, uint8_t repeats) {
  if (TSL__LIKELY(!s->watch)) return state;
  const tsl__state_rec *r = tsl__state_at(space, state);
  s->returned |= r->guarded;
  uint8_t guard = r->guarded & repeats;
  if (TSL__UNLIKELY(guard == TSL__SAME_ITEM)) return r->differs;
  return guard ? r->otherwise : state;
}

/* Begin a step without frames, and end it. The lists of a few ended steps are kept for reuse. */
tsl__stepping tsl__step_new(tsl__space *space);
void tsl__step_free(tsl__space *space, tsl__stepping *s);
bool tsl__spare_steps_new(
    tsl__space *space); /* room for the kept lists; false when out of memory */
void tsl__spare_steps_free(tsl__space *space);
size_t tsl__spare_steps_memory(const tsl__space *space);
/* bytes of its lists */
static inline size_t tsl__step_memory(const tsl__stepping *s) {
  return tsl__vec_memory(&s->landed) + tsl__vec_memory(&s->from) + tsl__vec_memory(&s->entered) +
         tsl__vec_memory(&s->waiting) + tsl__vec_memory(&s->landed_slots.at) +
         tsl__vec_memory(&s->entered_slots.at);
}
/* The frames of a position as the list to step from. */
bool tsl__step_load(tsl__space *space, tsl__stepping *s, tsl__stack at);
/* Read several bytes; false if one is rejected. *accepted: how many were accepted. */
bool tsl__step_bytes(tsl__space *space, tsl__stepping *s, const uint8_t *bytes, size_t n,
                     size_t *accepted);
/* Read one byte; false if it is rejected. */
bool tsl__step_byte(tsl__space *space, tsl__stepping *s, uint8_t byte);
/* Land a frame. A frame that is over gives way to the frames below it, a fork to its branches. */
void tsl__step_land(tsl__space *space, tsl__stepping *s, tsl__state state, uint32_t count,
                    tsl__stack tail);
/* The set of landed frames. */
tsl__stack tsl__step_collect(tsl__space *space, tsl__stepping *s);
/* Where a token leads from a position, if this was found before, or if the position `stays`.
 * Without the lock. */
bool tsl__move_known(const tsl__space *space, tsl__stack from, tsl_token token, tsl__lead *lead);

#endif
