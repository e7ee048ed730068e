/* distinct_deny.c - denies: where an item stands among all spellings of the items used before.
 *
 * Problem   1, 1.0 and 10e-1 are equal, and so are "a" and "\u0061". Whether the item under way may
 *           still become equal to a used one cannot be seen by comparing bytes.
 * Idea      The compiler makes a grammar of the used values: all spellings of all of them
 *           (hook->life.spellings). A deny is a position in that grammar, and moves along with
 *           the item byte by byte. It dies when the item differs from every used value. It is at an
 *           end exactly where the item is equal to one of them.
 * Space     The spellings of one text must not fill the expressions of the grammar, which all texts
 *           share for ever. So the spellings have a space and expressions of their own
 *           (hook->life.speller). These belong to the space of the text, and are freed with that
 *           space when texts have filled it (runtime/matcher/generation.h). Their memory counts for
 *           that space.
 * End       Two states made by hand lie below the frames of that grammar. The deny comes down to
 *           `spelled_end` when a value was spelled exactly, and goes on to spelled_end + 1 with the
 *           next byte. A frame in that second state is dropped: it is no repetition any more.
 * Example   After ["ab", the deny of the next item is at the beginning of all spellings of "ab".
 *           The item "a leaves it between the two letters. The byte " kills it: the item is "a",
 *           which is new. The byte b and then " bring it to its end: the item is a repetition.
 * Cost      A step of one position for each deny and byte. Most denies die at their first byte.
 * Tested by tests/position/test_distinct.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/distinct_run.h"

/* ---- the space of spellings ------------------------------------------------------------------ */

tsl__space *tsl__deny_enter(tsl__space *space) {
  if (space->status != TSL_OK) return NULL;
  if (!space->positions.spelled)
    space->positions.spelled = space->hook->life.speller(space->hook_ctx);
  return space->positions.spelled;
}

/* Memory is looked at when the arena has grown. What the spellings have grown by counts as much. */
static void count_memory(tsl__space *space) {
  uint64_t now = tsl__space_memory(space->positions.spelled),
           more = now > space->positions.spelled_memory ? now - space->positions.spelled_memory : 0;
  space->positions.spelled_memory = now;
  space->work.room_until = space->work.room_until > more ? space->work.room_until - more : 0;
  if (space->work.full_at != UINT64_MAX)
    space->work.full_at = space->work.full_at > more ? space->work.full_at - more : 0;
}

void tsl__deny_leave(tsl__space *space) {
  tsl__space *s = space->positions.spelled;
  if (!s) return;
  if (s->status != TSL_OK) tsl__space_fail(space, s->status, s->why);
  uint64_t steps = s->work.steps;
  s->work.earlier_steps += steps;
  s->work.steps = 0;
  s->work.look_at = s->work.look_at > steps ? s->work.look_at - steps : 0;
  tsl__space_step(space, (uint32_t)steps);
}

/* ---- denies ---------------------------------------------------------------------------------- */

/* The two states that stand for "spelled, exactly here" and "something after that": made by hand,
 * they belong to no expression. */
static tsl__state end_state(tsl__space *space) {
  if (space->positions.spelled_end) return space->positions.spelled_end;
  tsl__state end = tsl__state_new(space, 2);
  if (!end) return 0;
  for (tsl__state s = end; s <= end + 1; s++) {
    tsl__ranges all = {1, {255}, {tsl__target_make(end + 1, TSL__OP_CLEAR)}};
    if (tsl__state_fill(space, s, &all, NULL, 0, NULL, 0) != TSL_OK) return 0;
  }
  return space->positions.spelled_end = end;
}

tsl__stack tsl__deny_begin(tsl__space *space, uint32_t used) {
  tsl__space *spelled = tsl__deny_enter(space);
  tsl__state end = spelled ? end_state(spelled) : 0;
  tsl__stack begin = 0;
  if (end) {
    tsl__stepping s = tsl__step_new(spelled);
    tsl__step_land(spelled, &s, end, 0, 0);
    tsl__stack tail = tsl__step_collect(spelled, &s);
    tsl__step_clear(&s);
    for (; tail && used; used = ((const tsl__used *)tsl__space_at(space, used, used))->next)
      tsl__step_land(spelled, &s, ((const tsl__used *)tsl__space_at(space, used, used))->state, 0,
                     tail);
    begin = tail ? tsl__step_collect(spelled, &s) : 0;
    tsl__step_free(spelled, &s);
  }
  tsl__deny_leave(space);
  if (spelled) count_memory(space);
  return space->status == TSL_OK ? begin : 0;
}

/* Cells that have gone past the end are no repetitions. */
static void drop_past(const tsl__space *space, tsl__cells *cells) {
  size_t kept = 0;
  for (size_t i = 0; i < cells->n; i++)
    if (cells->at[i].state != space->positions.spelled_end + 1) cells->at[kept++] = cells->at[i];
  cells->n = kept;
}

/* One byte on; 0: it differs from all that was used. */
tsl__stack tsl__deny_byte(tsl__space *space, tsl__stepping *s, tsl__stack at, uint8_t byte) {
  tsl__space *spelled = tsl__deny_enter(space);
  tsl__stack to = 0;
  if (spelled && tsl__step_load(spelled, s, at) && tsl__step_byte(spelled, s, byte)) {
    drop_past(spelled, &s->landed);
    to = s->landed.n ? tsl__step_collect(spelled, s) : 0;
  }
  tsl__deny_leave(space);
  return space->status == TSL_OK ? to : 0;
}

bool tsl__deny_takes(tsl__space *space, tsl__stepping *s, tsl__stack at, const uint8_t *bytes,
                     size_t n) {
  tsl__space *spelled = tsl__deny_enter(space);
  size_t accepted;
  bool takes =
      spelled && tsl__step_load(spelled, s, at) && tsl__step_bytes(spelled, s, bytes, n, &accepted);
  tsl__deny_leave(space);
  return takes;
}

bool tsl__distinct_deny_next(tsl__space *space, tsl__stack deny, tsl__bytes *out) {
  tsl__space *spelled = tsl__deny_enter(space);
  bool fine = spelled && tsl__stack_next(spelled, deny, out);
  tsl__deny_leave(space);
  return fine && space->status == TSL_OK;
}

/* Is something that was used spelled to its end here, in the space of spellings? */
static bool ends_at(const tsl__space *space, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  for (uint32_t i = 0; i < r->n; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    if (c->state == space->positions.spelled_end) return true;
    if (c->tail && (tsl__state_at(space, c->state)->flags & TSL__STATE_NULLABLE) &&
        ends_at(space, c->tail))
      return true;
  }
  return false;
}

bool tsl__deny_ends(const tsl__space *space, tsl__stack at) {
  return ends_at(space->positions.spelled, at);
}

tsl__stack tsl__distinct_deny(tsl__space *space, const tsl__spelled *texts, uint32_t n) {
  uint32_t used = tsl__used_group(space, 0, texts, n);
  return used ? tsl__deny_begin(space, used) : 0;
}

/* More bytes of an item, and what comes after it; *deny 0: it is none of those. True: it is one,
 * and has ended in them. */
static bool deny_on(tsl__space *space, tsl__run *r, tsl__stack *deny, const uint8_t *bytes,
                    size_t n) {
  for (size_t i = 0; *deny && i < n; i++) {
    if (memchr(",]} \t\n\r", bytes[i], 7) && tsl__deny_ends(space, *deny)) return true;
    *deny = tsl__deny_byte(space, &r->deny, *deny, bytes[i]);
  }
  return false;
}

tsl__stack tsl__distinct_deny_item(tsl__space *space, tsl__stack deny, tsl__stack at,
                                   uint32_t depth) {
  tsl__run *r = tsl__run_take(space);
  bool fine = r && tsl__run_load_distinct(space, r, tsl__with_distinct_at(space, at));
  const tsl__open *o = fine && r->open ? tsl__open_at(space, r->open) : NULL;
  while (o && o->depth > depth) o = o->below ? tsl__open_at(space, o->below) : NULL;
  if (o && o->depth == depth && o->start != TSL__OPEN_NONE) {
    fine = tsl__run_item(space, r, o->start);
    if (fine) deny_on(space, r, &deny, r->raw.at, r->raw.n);
  }
  tsl__run_give(space, r);
  return fine ? deny : 0;
}

bool tsl__distinct_denies(tsl__space *space, tsl__stack deny, const uint8_t *bytes, size_t n) {
  tsl__run *r = tsl__run_take(space);
  if (r) deny_on(space, r, &deny, bytes, n);
  tsl__run_give(space, r);
  return deny != 0;
}
