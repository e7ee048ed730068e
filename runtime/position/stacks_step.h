/* stacks_step.h - the inside of stepping: how the frames of a position read a byte.
 *
 * Problem   A byte may end a frame and begin another. In {"a":1} the `}` ends the frame of the
 *           number, and the frame of the object below it reads the byte. Which frame reads the byte
 *           is known only when the byte is there.
 * Idea      stacks_step.c does this in two parts.
 *             step  goes down and up from each frame on top. The frame itself reads the byte. If
 *                   the frame is nullable, the frames below it read the byte as well. For each rule
 *                   that it may call, a frame of that rule reads the byte, with this frame below.
 *             land  puts each frame that has read the byte into the list of the next position
 *                   (tsl__stepping.landed). A frame that is over gives way to the frames below it,
 *                   a fork to its branches. Equal frames share one cell, whose tail is the union
 *                   of both tails.
 *           The list becomes a number only after the last byte of a token (tsl__step_collect).
 * Example     root ::= "[" item "]"
 *             item ::= [0-9]+ | root
 *           After "[1", with the top frame first: ([0-9]*, "]"). The byte "2" is read by the top
 *           frame: ([0-9]*, "]"). The byte "]" is not read by the top frame, which is nullable: the
 *           frame below reads it, and is over.
 * Shortcuts that need no position for what lies between two bytes:
 *             alone  a position of one frame, whose states only read, follows them (step_alone)
 *             fixed  frames that spell fixed texts read a run of characters at once (step_fixed)
 *             leap   a called frame in which a byte leads to one state: the state is noted for the
 *                    next time
 *             over   a called frame that reads nothing and ends is not pushed (step_over)
 *             past   a called frame that reads one byte and is over then, such as white space
 * Limits    TSL__STEP_DEPTH_MAX frames opened and closed before one byte is read,
 *           TSL__NESTED_MAX of them one inside another: TSL_ERR_LIMIT.
 * Reference M. Tomita, Efficient Parsing for Natural Language (1985): the graph-structured stack.
 * Tested by tests/engine/test_oracle.c, tests/engine/test_costs.c, tests/walk/test_calls.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_STACKS_STEP_H
#define TSL_RUNTIME_POSITION_STACKS_STEP_H

#include "runtime/position/stacks.h"

/* ---- sets of cells (stacks.c) ---------------------------------------------------------------- */

/* Add a set of one cell, which has no number yet; 0 on failure (sticky). `r`: the record of the
 * cell's state. */
tsl__stack tsl__cell_add(tsl__space *space, const tsl__cell *c, const tsl__state_rec *r,
                         uint64_t hash);
void tsl__cells_sort(tsl__cell *cells, size_t n);
/* The set of several cells, which are sorted; 0 on failure (sticky). */
tsl__stack tsl__cells_intern(tsl__space *space, const tsl__cell *cells, size_t n);

/* ---- unions of tails (tails.c) --------------------------------------------------------------- */

/* The number in s->landed of the frame that is equal to `cell`. Equal frames have the same state
 * and count, and both or neither have the bottom below them. s->landed.n: there is none, or a
 * failure (sticky). */
size_t tsl__landed_find(tsl__space *space, tsl__stepping *s, const tsl__cell *cell);
/* Has this frame been entered already before this byte? Notes it otherwise; false on failure
 * (sticky). */
bool tsl__entered_note(tsl__space *space, tsl__stepping *s, const tsl__cell *cell);
/* The union of two tails, neither of which is the bottom; 0 on failure (sticky). */
tsl__stack tsl__tails_union(tsl__space *space, tsl__stack a, tsl__stack b);
bool tsl__tails_settle_all(tsl__space *space, tsl__stepping *s);
/* Make the unions of the tails that wait: no frame waits afterwards. False on failure (sticky). */
static inline bool tsl__tails_settle(tsl__space *space, tsl__stepping *s) {
  return TSL__LIKELY(!s->waiting.n) || tsl__tails_settle_all(space, s);
}

/* The set of one cell. `r`: the record of its state. */
static inline tsl__stack tsl__cell_intern(tsl__space *space, tsl__cell c, const tsl__state_rec *r) {
  uint64_t hash =
      tsl__mix(((uint64_t)c.state << 32 | c.tail) + (uint64_t)c.count * 0x9e3779b97f4a7c15u);
  tsl__index_iter it = tsl__index_first(&space->stacks.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__stack_rec *s = tsl__stack_at(space, i);
    if (s->cell.state == c.state && s->cell.count == c.count && s->cell.tail == c.tail &&
        s->n == 1 && !s->has_distinct)
      return i;
  }
  return tsl__cell_add(space, &c, r, hash);
}

/* ---- lists for steps (stacks.c) -------------------------------------------------------------- */

/* Steps that are over leave their lists for the next: a step allocates nothing as a rule. */
#define TSL__SPARE_STEPS 4u

/* A frame that begins in `state` and reads `byte` goes on in `to`, and nowhere else. */
typedef struct tsl__leap {
  tsl__state state, to;
  uint8_t byte;
} tsl__leap;
#define TSL__LEAPS 16u /* a power of two */

struct tsl__spare_steps {
  uint32_t n; /* how many of `at` are in use */
  tsl__stepping at[TSL__SPARE_STEPS];
  tsl__stepping text; /* for tsl__step_text, which one caller uses at a time */
  /* leaps of frames that are called; mostly the same few are, by colons and commas */
  tsl__leap leaps[TSL__LEAPS];
};

/* ---- frames that something else than a byte moves -------------------------------------------- */

/* A function for each frame that may read next: frames on top, frames below one that may end, and
 * called frames. */
typedef struct tsl__visit {
  /* `r`: the record of its state, expanded */
  void (*frame)(tsl__space *space, tsl__stepping *s, const tsl__state_rec *r, uint32_t count,
                tsl__stack tail, void *ctx);
  void *ctx;
  const char *endless; /* the message where frames open and close without end */
} tsl__visit;
/* Visit the frames of a position. `s` has no frames yet; it gets those that `frame` lands. Failures
 * are sticky. */
void tsl__step_visit(tsl__space *space, tsl__stepping *s, tsl__stack at, const tsl__visit *v);
/* A step loaded with the frames of a plain position, to read bytes with; NULL on failure. */
tsl__stepping *tsl__step_text(tsl__space *space, const tsl__stack_rec *at);
/* The cells below a frame that spells names, as far as they let one of its names through (RESUME);
 * 0: none does. */
tsl__stack tsl__names_below(tsl__space *space, const struct tsl__keyed *names, tsl__stack tail);

#endif
