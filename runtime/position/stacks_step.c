/* stacks_step.c - see stacks_step.h: frames read bytes and land in the list of the next position.
 *
 * The order of the file is that of a byte's way. First come landing, and one byte through one frame
 * (step_cell) and through all frames (tsl__step_byte). Then come runs of bytes (tsl__step_bytes),
 * and last the frames themselves without a byte (tsl__step_visit).
 *
 * Functions that recurse (step_cell, tsl__step_land by way of unions, visit_frame) count how deep
 * they are and stop at TSL__NESTED_MAX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/stacks_step.h"

#include <stdlib.h>

#include "runtime/walk/fixed.h"
#include "runtime/walk/names.h"

typedef tsl__stepping step;

/* ---- landing --------------------------------------------------------------------------------- */

/* The frames of a position, whose record is `r`. */
static inline bool load(tsl__space *space, step *s, const tsl__stack_rec *r) {
  tsl__step_clear(s);
  if (!tsl__vec_reserve(&space->alloc, &s->landed, r->n)) return tsl__space_no_memory(space), false;
  for (uint32_t i = 0; i < r->n; i++) s->landed.at[i] = *tsl__stack_cell(space, r, i);
  s->landed.n = r->n;
  return true;
}

bool tsl__step_load(tsl__space *space, step *s, tsl__stack at) {
  return load(space, s, tsl__stack_at(space, at));
}

step *tsl__step_text(tsl__space *space, const tsl__stack_rec *at) {
  step *s = &space->positions.spare_steps->text;
  s->watch = space->positions.watches;
  s->repeats_before = s->repeats_after = s->begun = s->returned = 0;
  return load(space, s, at) ? s : NULL;
}

tsl__stack tsl__names_below(tsl__space *space, const tsl__keyed *names, tsl__stack tail) {
  const tsl__stack_rec *t = tsl__stack_at(space, tail);
  if (t->n == 1)
    return tsl__resume_any(space, tsl__stack_cell(space, t, 0)->state, names) ? tail : 0;
  tsl__cells kept = {0};
  for (uint32_t i = 0; i < t->n && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, t, i);
    if (tsl__resume_any(space, c->state, names) && !tsl__vec_push(&space->alloc, &kept, *c))
      tsl__space_no_memory(space);
  }
  tsl__stack below = space->status != TSL_OK || !kept.n ? 0
                     : kept.n == t->n                   ? tail
                     : kept.n > 1
                         ? tsl__cells_intern(space, kept.at, kept.n)
                         : tsl__cell_intern(space, *kept.at, tsl__state_at(space, kept.at->state));
  tsl__vec_free(&space->alloc, &kept);
  return below;
}

/* Land what follows a name: the place where the RESUME goes on, or the frame that it calls. */
static void land_after_name(tsl__space *space, step *s, tsl__state resume, uint32_t name,
                            tsl__stack tail) {
  uint32_t count;
  const tsl__resumed *on = tsl__resume_known(space, resume, name);
  if (!on && !(on = tsl__resume_anew(space, resume, name))) return;
  tsl__state to = tsl__target_resolve(space, on->to, 0, &count);
  if (!on->frame) {
    tsl__step_land(space, s, to, count, tail);
    return;
  }
  tsl__stack below =
      tsl__cell_intern(space, (tsl__cell){to, count, tail}, tsl__state_at(space, to));
  if (below) tsl__step_land(space, s, on->frame, 0, below);
}

/* A frame is over: what follows it. `names`: if it spelled a name. */
static void land_below(tsl__space *space, step *s, const tsl__keyed *names, tsl__stack tail) {
  const tsl__stack_rec *t = tsl__stack_at(space, tail);
  for (uint32_t i = 0; i < t->n && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, t, i);
    tsl__state state = tsl__step_admit(space, s, c->state, s->repeats_after);
    if (state && names)
      land_after_name(space, s, state, names->range[0].lo, c->tail);
    else if (state)
      tsl__step_land(space, s, state, c->count, c->tail);
  }
}

/* The state that a frame arrives at. It is expanded, unless it is plain to see that it is no fork,
 * and that the frame is not over. Many that spell fixed texts, or wait for a name, never need to
 * be. */
static inline const tsl__state_rec *arrived_at(tsl__space *space, tsl__state state) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  bool waits =
      r->flags & TSL__STATE_RESUME || (tsl__state_fixed(r) && !(r->flags & TSL__STATE_NULLABLE));
  return waits || tsl__state_is_expanded(r) ? r : tsl__state_expand(space, state);
}

static TSL__SELDOM void land_branches(tsl__space *space, step *s, const tsl__state_rec *fork,
                                      uint32_t count, tsl__stack tail) {
  for (uint32_t i = 0; i < fork->edges; i++) {
    uint32_t c;
    tsl__state to = tsl__target_resolve(space, tsl__state_edges(fork)[i].to, count, &c);
    tsl__step_land(space, s, to, c, tail);
  }
}

/* A frame with a register lands. Is it with one that is there? Equal frames share their tails; the
 * bottom cannot be shared. `takes`: others of its loop may take it over, or it them. */
static TSL__SELDOM bool meet_loops(tsl__space *space, step *s, const tsl__cell *cell, bool takes) {
  for (size_t i = 0; i < s->landed.n; i++) {
    tsl__cell *c = &s->landed.at[i];
    if (c->state == cell->state && c->count == cell->count && (c->tail == 0) == (cell->tail == 0)) {
      c->tail = tsl__tails_union(space, c->tail, cell->tail);
      return true;
    }
    if (!takes || c->tail != cell->tail) continue;
    if (tsl__loop_takes(space, c->state, c->count, cell->state, cell->count)) return true;
    if (tsl__loop_takes(space, cell->state, cell->count, c->state, c->count)) {
      s->landed.at[i--] = s->landed.at[--s->landed.n];
      s->landed_slots.filled = 0;
    }
  }
  return false;
}

/* The same of other frames: the union of the tails is made when all have landed. */
static inline bool meet_equal(tsl__space *space, step *s, const tsl__cell *cell) {
  const size_t i = s->landed.n ? tsl__landed_find(space, s, cell) : 0;
  if (i == s->landed.n) return space->status != TSL_OK;
  if (s->landed.at[i].tail != cell->tail && !tsl__vec_push(&space->alloc, &s->waiting, *cell))
    tsl__space_no_memory(space);
  return true;
}

void tsl__step_land(tsl__space *space, step *s, tsl__state state, uint32_t count, tsl__stack tail) {
  const tsl__state_rec *r = arrived_at(space, state);
  if (!r || !tsl__space_step(space, 1)) return;
  if (TSL__UNLIKELY(r->flags & TSL__STATE_FORK)) {
    land_branches(space, s, r, count, tail);
    return;
  }
  const tsl__keyed *names = r->flags & TSL__STATE_KEYED ? r->keyed : NULL;
  if (names && !(tail = tsl__names_below(space, names, tail))) return;
  if ((r->flags & TSL__STATE_FINAL) && tail) {
    land_below(space, s, names, tail);
    return;
  }
  tsl__cell cell = {state, count, tail};
  if (r->flags & TSL__STATE_LOOP ? meet_loops(space, s, &cell, tsl__loop_meets(r, count))
                                 : meet_equal(space, s, &cell))
    return;
  if (s->landed.n > space->positions.max_stacks)
    tsl__space_fail(space, TSL_ERR_LIMIT, "max_stacks: the grammar is too ambiguous here");
  else if (!tsl__vec_push(&space->alloc, &s->landed, cell))
    tsl__space_no_memory(space);
}

static int compare_cells(const void *p, const void *q) {
  const tsl__cell *a = p, *b = q;
  if (a->state != b->state) return a->state < b->state ? -1 : 1;
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  return a->tail < b->tail ? -1 : a->tail > b->tail;
}

#define SORT_FEW 16u /* cells up to which each is put where it belongs */

void tsl__cells_sort(tsl__cell *cells, size_t n) {
  if (n > SORT_FEW) qsort(cells, n, sizeof *cells, compare_cells);
  for (size_t i = 1; n <= SORT_FEW && i < n; i++) {
    tsl__cell c = cells[i];
    size_t k = i;
    for (; k && compare_cells(&c, &cells[k - 1]) < 0; k--) cells[k] = cells[k - 1];
    cells[k] = c;
  }
}

/* Landed frames are different ones. */
static TSL__SELDOM tsl__stack collect_several(tsl__space *space, step *s) {
  tsl__cells_sort(s->landed.at, s->landed.n);
  return tsl__cells_intern(space, s->landed.at, s->landed.n);
}

tsl__stack tsl__step_collect(tsl__space *space, step *s) {
  if (s->landed.n == 0 || space->status != TSL_OK || !tsl__tails_settle(space, s)) return 0;
  if (TSL__LIKELY(s->landed.n == 1))
    return tsl__cell_intern(space, s->landed.at[0], tsl__state_at(space, s->landed.at[0].state));
  return collect_several(space, s);
}

/* ---- one byte -------------------------------------------------------------------------------- */

static void step_cell(tsl__space *space, step *s, tsl__state state, const tsl__state_rec *r,
                      uint32_t count, tsl__stack tail, uint8_t byte);

/* The record of a state that spells fixed texts; of others, expanded. */
static inline const tsl__state_rec *fixed_or_expanded(tsl__space *space, tsl__state state) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  return tsl__state_fixed(r) || tsl__state_is_expanded(r) ? r : tsl__state_expand(space, state);
}

static void step_tail(tsl__space *space, step *s, tsl__stack tail, uint8_t byte) {
  const tsl__stack_rec *t = tsl__stack_at(space, tail);
  for (uint32_t i = 0; i < t->n && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, t, i);
    tsl__state state = tsl__step_admit(space, s, c->state, s->repeats_before);
    if (state) step_cell(space, s, state, fixed_or_expanded(space, state), c->count, c->tail, byte);
  }
}

/* frames that are not noted: to come to one of them twice does no harm, and a cycle comes again */
#define ENTERED_FEW 8u

/* Has this frame been entered already before this byte? Notes it otherwise. */
static bool entered(tsl__space *space, step *s, tsl__state state, uint32_t count, tsl__stack tail) {
  if (TSL__LIKELY(s->depth < ENTERED_FEW)) return false;
  return tsl__entered_note(space, s, &(tsl__cell){state, count, tail});
}

/* A frame was called above `below`. */
static void note_call(const tsl__space *space, step *s, tsl__stack below) {
  const tsl__stack_rec *r = tsl__stack_at(space, below);
  for (uint32_t i = 0; i < r->n; i++)
    s->begun |= tsl__state_at(space, tsl__stack_cell(space, r, i)->state)->guarded;
}

/* The tail of a called frame that comes back to a fork. */
static TSL__SELDOM tsl__stack push_landed(tsl__space *space, step *s, tsl__state state,
                                          uint32_t count, tsl__stack tail) {
  step landing = tsl__step_new(space);
  tsl__step_land(space, &landing, state, count, tail);
  tsl__stack result = tsl__step_collect(space, &landing);
  tsl__step_free(space, &landing);
  if (result) note_call(space, s, result);
  return result;
}

/* The tail of a called frame: this frame, at the state that it comes back to. That need not be
 * expanded to see that it is not over: perhaps nobody comes back. */
static tsl__stack push(tsl__space *space, step *s, tsl__target back, uint32_t count,
                       tsl__stack tail) {
  uint32_t c;
  tsl__state state = tsl__target_resolve(space, back, count, &c);
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (r->flags & TSL__STATE_NULLABLE && !(r = arrived_at(space, state))) return 0;
  if (TSL__UNLIKELY(r->flags & TSL__STATE_FORK)) return push_landed(space, s, state, c, tail);
  /* the last thing in its caller, which need not be come back to */
  if (TSL__UNLIKELY(r->flags & TSL__STATE_FINAL) && tail) {
    note_call(space, s, tail);
    return tail;
  }
  s->begun |= r->guarded;
  return tsl__cell_intern(space, (tsl__cell){state, c, tail}, r);
}

/* A byte as such a run; false if it is none. */
static bool fixed_byte(const uint8_t *byte, tsl__fixed_run *run) {
  *run = (tsl__fixed_run){.at = byte, .n = tsl__fixed_is_raw(*byte), .ends = *byte == '"'};
  return run->n || run->ends;
}

/* A frame along fixed texts, which it spells: raw characters, and perhaps the closing quote. False:
 * its states must go on. */
static bool fixed_on(tsl__space *space, step *s, const tsl__state_rec *r, tsl__stack tail,
                     tsl__fixed_run *run) {
  tsl__fixed_range at;
  if (!tsl__fixed_find(r, run, &at)) return true;
  if (!run->ends) {
    tsl__state to = tsl__fixed_state(space, r, &at);
    if (to) tsl__step_land(space, s, to, 0, tail);
    return true;
  }
  const tsl__keyed name = {1, {{at.lo, at.lo + 1}}};
  const tsl__keyed *names = r->flags & TSL__STATE_KEYED ? &name : NULL;
  if (!tail) return false;
  if (names) tail = tsl__names_below(space, names, tail);
  if (tail) land_below(space, s, names, tail);
  return true;
}

/* A called frame reads nothing, and ends: this frame goes on behind the call, and no position is
 * made of it. False: the call must be made. */
static bool step_over(tsl__space *space, step *s, const tsl__state_rec *called, tsl__target back,
                      uint32_t count, tsl__stack tail, uint8_t byte) {
  uint32_t c;
  tsl__state state = tsl__target_resolve(space, back, count, &c);
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r || (called->flags & TSL__STATE_KEYED) || (r->flags & (TSL__STATE_FORK | TSL__STATE_FINAL)))
    return !r;
  tsl__state on = state;
  if (s->watch) s->begun |= r->guarded, on = tsl__step_admit(space, s, state, s->repeats_before);
  if (on)
    step_cell(space, s, on, TSL__LIKELY(on == state) ? r : fixed_or_expanded(space, on), c, tail,
              byte);
  return true;
}

/* A called frame, white space mostly, reads this byte and is over before the next one: this frame
 * goes on behind the call, as above. False: the call must be made. */
static bool step_past(tsl__space *space, step *s, const tsl__state_rec *called, tsl__target back,
                      uint32_t count, tsl__stack tail, uint8_t byte) {
  uint32_t c;
  if (!s->more || tsl__state_fixed(called) || called->edges ||
      called->flags & (TSL__STATE_KEYED | TSL__STATE_FORK | TSL__STATE_LOOP))
    return false;
  tsl__target t = tsl__state_step(space, called, byte);
  if (!t || tsl__target_op(t) != TSL__OP_CLEAR) return false;
  const tsl__state_rec *to = arrived_at(space, tsl__target_state(t));
  if (!to || !(to->flags & TSL__STATE_NULLABLE) || to->flags & TSL__STATE_FORK || to->edges ||
      tsl__bytes_has(&to->live, s->next))
    return false;
  tsl__state state = tsl__target_resolve(space, back, count, &c);
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (r->guarded || r->flags & TSL__STATE_FORK) return false;
  if (called->flags & TSL__STATE_NULLABLE && !step_over(space, s, called, back, count, tail, byte))
    return false;
  tsl__step_land(space, s, state, c, tail);
  return true;
}

/* The same for one byte. */
static TSL__SELDOM bool fixed_on_byte(tsl__space *space, step *s, const tsl__state_rec *r,
                                      tsl__stack tail, uint8_t byte) {
  tsl__fixed_run run;
  return fixed_byte(&byte, &run) && fixed_on(space, s, r, tail, &run);
}

static TSL__SELDOM bool fixed_may_read(const tsl__state_rec *called, uint8_t byte) {
  tsl__fixed_run run;
  tsl__fixed_range at;
  return !fixed_byte(&byte, &run) || tsl__fixed_find(called, &run, &at);
}

/* frames called one by another that are looked at: deeper ones may read any byte */
#define READS_DEPTH 4u

static bool may_read(tsl__space *space, const tsl__state_rec *called, uint8_t byte, uint32_t depth);

/* Does one of the frames that it calls read a byte, or what comes after one that is over at once?
 * Who waits for something that must be new is to know when that begins, and not before. */
static TSL__SELDOM bool calls_read(tsl__space *space, const tsl__state_rec *called, uint8_t byte,
                                   uint32_t depth) {
  if (depth == READS_DEPTH) return true;
  for (uint32_t i = 0; i < called->edges; i++) {
    const tsl__edge *e = &tsl__state_edges(called)[i];
    const tsl__state_rec *r = fixed_or_expanded(space, tsl__target_state(e->to));
    if (!r || may_read(space, r, byte, depth + 1)) return true;
    if (!(r->flags & TSL__STATE_NULLABLE)) continue;
    r = fixed_or_expanded(space, tsl__target_state(e->push));
    if (!r || r->flags & TSL__STATE_LOOP || may_read(space, r, byte, depth + 1)) return true;
  }
  return false;
}

/* May a called frame read a byte, or call another that does? */
static inline bool may_read(tsl__space *space, const tsl__state_rec *called, uint8_t byte,
                            uint32_t depth) {
  if (tsl__state_fixed(called)) return fixed_may_read(called, byte);
  return called->flags & TSL__STATE_FORK || tsl__bytes_has(&called->live, byte) ||
         (called->edges && calls_read(space, called, byte, depth));
}

/* Where a called frame's leap is noted, if it is one. */
static inline tsl__leap *leap_of(const tsl__space *space, tsl__state callee, uint8_t byte) {
  return &space->positions.spare_steps->leaps[(callee * 8 ^ byte) % TSL__LEAPS];
}

/* A called frame, and perhaps others that it calls. Where they lead to one place alone that is
 * noted. It is not noted where a byte that comes after it, what must be new, or what lies below
 * matters. */
static void step_called(tsl__space *space, step *s, tsl__state callee, const tsl__state_rec *called,
                        uint32_t count, tsl__stack below, uint8_t byte) {
  bool alone = !s->landed.n && !s->more && !s->begun && !s->returned &&
               !(called->flags & (TSL__STATE_NULLABLE | TSL__STATE_FORK | TSL__STATE_KEYED));
  step_cell(space, s, callee, called, count, below, byte);
  const tsl__cell *c = s->landed.at;
  if (!alone || s->landed.n != 1 || c->tail != below || c->count || s->begun || s->returned ||
      s->entered.n || s->waiting.n || space->status != TSL_OK)
    return;
  *leap_of(space, callee, byte) = (tsl__leap){callee, c->state, byte};
}

/* `r`: the state's record, fixed_or_expanded; NULL on failure. */
static void step_cell(tsl__space *space, step *s, tsl__state state, const tsl__state_rec *r,
                      uint32_t count, tsl__stack tail, uint8_t byte) {
  if (!r || !tsl__space_step(space, 1)) return;
  if (tsl__state_fixed(r)) {
    if (fixed_on_byte(space, s, r, tail, byte)) return;
    if (!(r = tsl__state_expanded(space, state))) return;
  }
  if (tsl__bytes_has(&r->live, byte)) {
    uint32_t c = 0;
    tsl__target t = tsl__state_step(space, r, byte);
    tsl__state to = t ? tsl__target_resolve(space, t, count, &c) : 0;
    if (to) tsl__step_land(space, s, to, c, tail);
  }
  bool ends = (r->flags & TSL__STATE_NULLABLE) && tail;
  if (!ends && !r->edges) return;
  if (entered(space, s, state, count, tail)) return;
  if (++s->depth > TSL__STEP_DEPTH_MAX || ++s->nested > TSL__NESTED_MAX) {
    tsl__space_fail(space, TSL_ERR_LIMIT,
                    "frames open and close without end before a byte is read");
    return;
  }
  if (ends) step_tail(space, s, tail, byte);
  for (uint32_t i = 0; i < r->edges && space->status == TSL_OK; i++) {
    uint32_t c;
    tsl__state callee = tsl__target_resolve(space, tsl__state_edges(r)[i].to, 0, &c);
    tsl__target back = tsl__state_edges(r)[i].push;
    const tsl__leap *l = leap_of(space, callee, byte);
    if (l->state == callee && l->byte == byte) {
      tsl__stack below = push(space, s, back, count, tail);
      if (below) tsl__step_land(space, s, l->to, 0, below);
      continue;
    }
    const tsl__state_rec *called = fixed_or_expanded(space, callee);
    if (!called) break;
    if (!may_read(space, called, byte, 0) && (!(called->flags & TSL__STATE_NULLABLE) ||
                                              step_over(space, s, called, back, count, tail, byte)))
      continue;
    if (step_past(space, s, called, back, count, tail, byte)) continue;
    tsl__stack below = push(space, s, back, count, tail);
    if (below) step_called(space, s, callee, called, c, below, byte);
  }
  s->nested--;
}

tsl__stack tsl__stack_begin(tsl__space *space, tsl__state state) {
  step s = tsl__step_new(space);
  tsl__step_land(space, &s, state, 0, 0);
  tsl__stack result = tsl__step_collect(space, &s);
  tsl__step_free(space, &s);
  return result;
}

/* Several frames, which stay where they are as long as others land. */
static TSL__SELDOM void step_several(tsl__space *space, step *s, uint8_t byte) {
  tsl__cells from = s->landed;
  s->landed = s->from;
  s->from = from;
  tsl__step_clear(s);
  for (size_t i = 0; i < s->from.n && space->status == TSL_OK; i++) {
    tsl__cell c = s->from.at[i];
    step_cell(space, s, c.state, fixed_or_expanded(space, c.state), c.count, c.tail, byte);
  }
}

static inline bool step_byte(tsl__space *space, step *s, uint8_t byte) {
  s->entered.n = s->entered_slots.filled = 0;
  s->depth = s->nested = 0;
  if (TSL__LIKELY(s->landed.n == 1)) {
    tsl__cell c = s->landed.at[0];
    tsl__step_clear(s);
    step_cell(space, s, c.state, fixed_or_expanded(space, c.state), c.count, c.tail, byte);
  } else {
    step_several(space, s, byte);
  }
  return s->landed.n > 0 && tsl__tails_settle(space, s) && space->status == TSL_OK;
}

bool tsl__step_byte(tsl__space *space, step *s, uint8_t byte) { return step_byte(space, s, byte); }

#define FIXED_DEPTH 4u /* frames called one by another before one spells a fixed text */

/* Does a frame spell fixed texts, or does it, for all that begins with this byte, nothing but call
 * frames that do? */
static bool is_fixed(tsl__space *space, tsl__state state, uint8_t byte, uint32_t depth) {
  const tsl__state_rec *r = fixed_or_expanded(space, state);
  if (!r || (depth && !tsl__space_step(space, 1)) || tsl__state_fixed(r))
    return r && space->status == TSL_OK;
  if (depth == FIXED_DEPTH || !r->edges || (r->flags & (TSL__STATE_NULLABLE | TSL__STATE_FORK)) ||
      tsl__bytes_has(&r->live, byte))
    return false;
  for (uint32_t i = 0; i < r->edges; i++)
    if (!is_fixed(space, tsl__target_state(tsl__state_edges(r)[i].to), byte, depth + 1))
      return false;
  return true;
}

/* A frame of fixed texts reads a run of characters along its table. */
static bool frame_fixed(tsl__space *space, step *s, tsl__state state, uint32_t count,
                        tsl__stack tail, tsl__fixed_run *run) {
  const tsl__state_rec *r = fixed_or_expanded(space, state);
  if (!r || !tsl__space_step(space, 1)) return false;
  if (tsl__state_fixed(r)) return fixed_on(space, s, r, tail, run);
  for (uint32_t i = 0; i < r->edges; i++) {
    uint32_t c;
    tsl__state callee = tsl__target_resolve(space, tsl__state_edges(r)[i].to, 0, &c);
    tsl__stack below = push(space, s, tsl__state_edges(r)[i].push, count, tail);
    if (below && !frame_fixed(space, s, callee, c, below, run)) return false;
  }
  return true;
}

/* Is it worth it to read these along fixed texts? */
static inline bool may_be_fixed(const uint8_t *bytes, size_t n) {
  return n > 1 && tsl__fixed_is_raw(bytes[0]) && (tsl__fixed_is_raw(bytes[1]) || bytes[1] == '"');
}

/* Along fixed texts, if all frames spell such: as many raw characters at once as there are, and a
 * quote behind them. Returns how many bytes; 0 where each must be tried. */
static TSL__SELDOM size_t step_fixed(tsl__space *space, step *s, const uint8_t *bytes, size_t n) {
  tsl__cell before[4];
  size_t frames = s->landed.n;
  if (frames > 4) return 0;
  for (size_t i = 0; i < frames; i++)
    if (!is_fixed(space, s->landed.at[i].state, bytes[0], 0)) return 0;
  tsl__fixed_run run = {.at = bytes, .n = tsl__fixed_raw(bytes, n)};
  run.ends = run.n < n && bytes[run.n] == '"';
  bool fine = true;
  memcpy(before, s->landed.at, frames * sizeof *before);
  tsl__step_clear(s);
  for (size_t i = 0; i < frames && fine; i++)
    fine = frame_fixed(space, s, before[i].state, before[i].count, before[i].tail, &run) &&
           space->status == TSL_OK;
  if (fine && s->landed.n && tsl__tails_settle(space, s)) return run.n + run.ends;
  tsl__step_clear(s);
  /* nothing goes on so: but which byte is the first that does not? */
  memcpy(s->landed.at, before, frames * sizeof *before);
  s->landed.n = frames;
  return 0;
}

/* Does a frame in this state nothing but read its next byte, whatever lies below it? */
static bool only_reads(const tsl__state_rec *r) {
  return tsl__state_is_expanded(r) && !tsl__state_fixed(r) && !r->edges &&
         !(r->flags & (TSL__STATE_NULLABLE | TSL__STATE_FORK));
}

/* The only frame arrives at a state that it does not stay in, or that others have a say in. False,
 * and it is where it was: nothing comes of it. */
static bool land_alone(tsl__space *space, step *s, tsl__state state, uint32_t count) {
  tsl__cell before = s->landed.at[0];
  tsl__step_clear(s);
  tsl__step_land(space, s, state, count, before.tail);
  if (s->landed.n) return tsl__tails_settle(space, s);
  s->landed.at[0] = before;
  s->landed.n = 1;
  return false;
}

/* Where there is one frame, along its states as long as they are such: it need not be landed at
 * each, but at the last. Returns how many bytes. */
static size_t step_alone(tsl__space *space, step *s, const uint8_t *bytes, size_t n) {
  if (s->landed.n != 1) return 0;
  tsl__cell *c = s->landed.at;
  size_t read = 0;
  for (const tsl__state_rec *r = tsl__state_at(space, c->state); read < n && only_reads(r);
       read++) {
    uint32_t count;
    tsl__target t = tsl__state_step(space, r, bytes[read]);
    tsl__state to = t ? tsl__target_resolve(space, t, c->count, &count) : 0;
    if (!to || !(r = arrived_at(space, to)) || !tsl__space_step(space, 1)) break;
    if (r->flags & (TSL__STATE_FORK | TSL__STATE_FINAL | TSL__STATE_KEYED))
      return read + land_alone(space, s, to, count);
    c->state = to;
    c->count = count;
  }
  return read;
}

/* The first byte, or as many as can be read at once; 0: it is rejected. */
static inline size_t step_some(tsl__space *space, step *s, const uint8_t *bytes, size_t n) {
  size_t read = step_alone(space, s, bytes, n);
  if (!read && may_be_fixed(bytes, n)) read = step_fixed(space, s, bytes, n);
  if (read || space->status != TSL_OK) return read;
  s->more = n > 1;
  s->next = s->more ? bytes[1] : 0;
  read = step_byte(space, s, bytes[0]);
  s->more = false; /* who goes on byte by byte does not know the next */
  return read;
}

bool tsl__step_bytes(tsl__space *space, step *s, const uint8_t *bytes, size_t n, size_t *accepted) {
  size_t done = 0, piece = n < TSL__PIECE ? n : TSL__PIECE;
  for (size_t read; done < n; done += read) {
    if (done == piece) {
      tsl__space_begin(space);
      piece = n - done < TSL__PIECE ? n : done + TSL__PIECE;
    }
    read = step_some(space, s, bytes + done, piece - done);
    if (!read || space->status != TSL_OK) break;
  }
  *accepted = done;
  return done == n && space->status == TSL_OK;
}

/* ---- all frames at once ---------------------------------------------------------------------- */

static void visit_frame(tsl__space *space, step *s, const tsl__visit *v, tsl__state state,
                        uint32_t count, tsl__stack tail);

static void visit_cells(tsl__space *space, step *s, const tsl__visit *v, const tsl__stack_rec *at) {
  for (uint32_t i = 0; i < at->n && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, at, i);
    visit_frame(space, s, v, c->state, c->count, c->tail);
  }
}

static void visit_frame(tsl__space *space, step *s, const tsl__visit *v, tsl__state state,
                        uint32_t count, tsl__stack tail) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r || !tsl__space_step(space, 1)) return;
  v->frame(space, s, r, count, tail, v->ctx);
  bool ends = (r->flags & TSL__STATE_NULLABLE) && tail;
  if ((!ends && !r->edges) || entered(space, s, state, count, tail)) return;
  if (++s->depth > TSL__STEP_DEPTH_MAX || ++s->nested > TSL__NESTED_MAX) {
    tsl__space_fail(space, TSL_ERR_LIMIT, v->endless);
    return;
  }
  if (ends) visit_cells(space, s, v, tsl__stack_at(space, tail));
  for (uint32_t i = 0; i < r->edges && space->status == TSL_OK; i++) {
    uint32_t c;
    tsl__state callee = tsl__target_resolve(space, tsl__state_edges(r)[i].to, 0, &c);
    tsl__stack below = push(space, s, tsl__state_edges(r)[i].push, count, tail);
    if (below) visit_frame(space, s, v, callee, c, below);
  }
  s->nested--;
}

void tsl__step_visit(tsl__space *space, step *s, tsl__stack at, const tsl__visit *v) {
  visit_cells(space, s, v, tsl__stack_at(space, at));
}
