/* stacks.c - sets of cells, each interned as a number: the positions of stacks.h. And the lists of
 * steps, which are kept from one step to the next.
 *
 * A set of one cell is stored inside its record; a set of several has its cells, sorted, in the
 * arena. Nearly all sets have one cell, so their lookup is an inline function (tsl__cell_intern).
 * Equal sets are equal numbers because cells are sorted before they are hashed.
 *
 * Cost      A set that is there: one hash and one probe. A new one: a record of 32 bytes on
 *           64-bit machines, and an entry of the index.
 * Limits    max_stacks cells in one set: TSL_ERR_LIMIT.
 * Tested by tests/engine/test_oracle.c, tests/engine/test_limits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/stacks_step.h"

/* ---- interning ------------------------------------------------------------------------------- */

const tsl__with_distinct tsl__no_distinct;

/* May the text end at a set, by one of its cells, whose state is `r`? It may if the cell's frame
 * may end, and all frames of some stack below. */
static inline bool completes(const tsl__space *space, const tsl__cell *c, const tsl__state_rec *r) {
  return (r->flags & TSL__STATE_NULLABLE) &&
         (c->tail == 0 || tsl__stack_at(space, c->tail)->complete);
}
static inline bool is_named(const tsl__state_rec *r) { return r->guarded & TSL__NEW_NAME; }

TSL__SELDOM tsl__stack tsl__cell_add(tsl__space *space, const tsl__cell *c, const tsl__state_rec *r,
                                     uint64_t hash) {
  tsl__stack_rec *fresh = tsl__pool_add(&space->stacks.pool, &space->kept);
  uint32_t number = space->stacks.pool.n - 1; /* none are below */
  if (!fresh) return tsl__space_no_memory(space), 0;
  bool complete = completes(space, c, r), names = is_named(r), stays = r->self != &tsl__no_bytes;
  fresh->cell = *c;
  fresh->n = 1; /* all bits at once */
  fresh->complete = complete;
  fresh->names = names;
  fresh->stays = stays;
  fresh->has_distinct = false;
  return tsl__index_add(&space->stacks.index, &space->alloc, hash, number)
             ? number
             : (tsl__space_no_memory(space), 0u);
}

/* The set of several, which are in order. */
tsl__stack tsl__cells_intern(tsl__space *space, const tsl__cell *cells, size_t n) {
  uint64_t hash = tsl__hash(cells, n * sizeof *cells);
  tsl__index_iter it = tsl__index_first(&space->stacks.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__stack_rec *r = tsl__stack_at(space, i);
    if (r->n == n && !r->has_distinct && !memcmp(r->cells, cells, n * sizeof *cells)) return i;
  }
  if (n > space->positions.max_stacks || n > TSL__STACK_CELLS)
    return tsl__space_fail(space, TSL_ERR_LIMIT, "max_stacks: the grammar is too ambiguous here"),
           0;
  tsl__stack_rec *r = tsl__pool_add(&space->stacks.pool, &space->kept);
  uint32_t number = tsl__space_count(space, stacks) - 1;
  const tsl__cell *kept = r ? tsl__arena_copy(&space->arena, cells, n * sizeof *cells) : NULL;
  if (!kept) return tsl__space_no_memory(space), 0;
  r->cells = kept;
  r->n = (uint32_t)n & TSL__STACK_CELLS;
  for (size_t i = 0; i < n; i++) {
    const tsl__state_rec *state = tsl__state_at(space, cells[i].state);
    r->complete |= completes(space, &cells[i], state);
    r->names |= is_named(state);
  }
  if (!tsl__index_add(&space->stacks.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
  return number;
}
/* ---- lists for steps ------------------------------------------------------------------------- */

typedef tsl__stepping step;

bool tsl__spare_steps_new(tsl__space *space) {
  return (space->positions.spare_steps =
              tsl__alloc_zero(&space->alloc, sizeof *space->positions.spare_steps)) != NULL;
}

step tsl__step_new(tsl__space *space) {
  struct tsl__spare_steps *spare = space->positions.spare_steps;
  return spare->n ? spare->at[--spare->n] : (step){0};
}

static void free_lists(tsl__space *space, step *s) {
  tsl__vec_free(&space->alloc, &s->landed);
  tsl__vec_free(&space->alloc, &s->from);
  tsl__vec_free(&space->alloc, &s->entered);
  tsl__vec_free(&space->alloc, &s->waiting);
  tsl__vec_free(&space->alloc, &s->landed_slots.at);
  tsl__vec_free(&space->alloc, &s->entered_slots.at);
}

void tsl__step_free(tsl__space *space, step *s) {
  struct tsl__spare_steps *spare = space->positions.spare_steps;
  if (spare->n == TSL__SPARE_STEPS) {
    free_lists(space, s);
    return;
  }
  spare->at[spare->n++] = (step){.landed = {s->landed.at, 0, s->landed.cap},
                                 .from = {s->from.at, 0, s->from.cap},
                                 .entered = {s->entered.at, 0, s->entered.cap},
                                 .waiting = {s->waiting.at, 0, s->waiting.cap},
                                 .landed_slots.at = s->landed_slots.at,
                                 .entered_slots.at = s->entered_slots.at};
  *s = (step){0};
}

void tsl__spare_steps_free(tsl__space *space) {
  struct tsl__spare_steps *spare = space->positions.spare_steps;
  if (!spare) return;
  while (spare->n) free_lists(space, &spare->at[--spare->n]);
  free_lists(space, &spare->text);
  tsl__free(&space->alloc, spare, sizeof *spare);
  space->positions.spare_steps = NULL;
}

size_t tsl__spare_steps_memory(const tsl__space *space) {
  const struct tsl__spare_steps *spare = space->positions.spare_steps;
  size_t n = spare ? sizeof *spare + tsl__step_memory(&spare->text) : 0;
  for (uint32_t i = 0; spare && i < spare->n; i++) n += tsl__step_memory(&spare->at[i]);
  return n;
}
