/* tails.c - frames that land on one another: unions of what lies below them.
 *
 * Problem   Equal frames share one cell, whose tail is the union of their tails. After {"a":"x" in
 *           a union of 500 objects, 500 frames call white space one after another. A union for each
 *           is a set of 2 cells, then one of 3, and so on to 500. So 125,000 cells are kept, and
 *           each is compared with all before it.
 * Idea      A frame that lands on an equal one waits (tsl__stepping.waiting). When the byte is
 *           read, one union is made of all tails of a cell. All cells below are sorted, and those
 *           of one state get their union in the same way.
 * Loops     A frame with a register may take over another that differs in the register alone.
 *           Unions of such frames are made two by two, because every landing compares them
 *           (stacks_step.c).
 * Found     An equal frame is found by comparing where frames are few, and by a table of slots
 *           where they are many.
 * Example   The frames (a, 1), (b, 2), (a, 3), (a, 4) land: a state and a tail each. a and b get a
 *           cell, and two frames wait. At the end the cell a has the tail {1, 3, 4}.
 * Cost      n log n for n frames, at each depth where they differ. Few tails are merged two by
 *           two, as unions of two are remembered in the table of moves. Otherwise the union of two
 *           tails that share tails would be made again along every path to them.
 * Tested by tests/position/test_tails.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/stacks_step.h"

typedef tsl__stepping step;

/* ---- equal frames ---------------------------------------------------------------------------- */

#define COMPARED 48u   /* frames up to which each is compared */
#define SLOTS_FEW 256u /* a power of two */

/* The tail, as far as it matters when frames are compared: landed frames need not have the same
 * tail. */
static inline uint32_t tail_of(const tsl__cell *c, bool exact) {
  return exact ? c->tail : !c->tail;
}

static inline bool is_equal(const tsl__cell *a, const tsl__cell *b, bool exact) {
  return a->state == b->state && a->count == b->count && tail_of(a, exact) == tail_of(b, exact);
}

static uint32_t slot_of(const tsl__cell *c, bool exact) {
  const uint64_t below = (uint64_t)tail_of(c, exact) * 0x9e3779b97f4a7c15u;
  return (uint32_t)tsl__mix(((uint64_t)c->state << 32 | c->count) ^ below);
}

/* All cells are in the table afterwards. False on failure (sticky). */
static bool fill_slots(tsl__space *space, tsl__slots *s, const tsl__cells *cells, bool exact) {
  if (!s->filled || cells->n * 2 > s->at.n) {
    size_t n = s->at.n ? s->at.n : SLOTS_FEW;
    while (n < 4 * cells->n) n *= 2;
    s->at.n = 0;
    if (!tsl__vec_reserve(&space->alloc, &s->at, n)) return tsl__space_no_memory(space);
    memset(s->at.at, 0, n * sizeof *s->at.at);
    s->at.n = n;
    s->filled = 0;
  }
  const uint32_t mask = (uint32_t)s->at.n - 1;
  for (; s->filled < cells->n; s->filled++) {
    uint32_t i = slot_of(&cells->at[s->filled], exact) & mask;
    while (s->at.at[i]) i = (i + 1) & mask;
    s->at.at[i] = (uint32_t)s->filled + 1;
  }
  return true;
}

/* The number of the equal cell; cells->n: there is none, or it failed (sticky). */
static inline size_t find_cell(tsl__space *space, tsl__slots *s, const tsl__cells *cells,
                               const tsl__cell *cell, bool exact) {
  size_t i = 0;
  if (TSL__LIKELY(cells->n <= COMPARED)) {
    while (i < cells->n && !is_equal(&cells->at[i], cell, exact)) i++;
    return i;
  }
  if (!fill_slots(space, s, cells, exact)) return cells->n;
  const uint32_t mask = (uint32_t)s->at.n - 1;
  for (uint32_t k = slot_of(cell, exact) & mask; s->at.at[k]; k = (k + 1) & mask)
    if (is_equal(&cells->at[s->at.at[k] - 1], cell, exact)) return s->at.at[k] - 1;
  return cells->n;
}

size_t tsl__landed_find(tsl__space *space, step *s, const tsl__cell *cell) {
  return find_cell(space, &s->landed_slots, &s->landed, cell, false);
}

bool tsl__entered_note(tsl__space *space, step *s, const tsl__cell *cell) {
  if (find_cell(space, &s->entered_slots, &s->entered, cell, true) < s->entered.n) return true;
  if (space->status == TSL_OK && !tsl__vec_push(&space->alloc, &s->entered, *cell))
    tsl__space_no_memory(space);
  return false;
}

/* ---- two tails ------------------------------------------------------------------------------- */

static void land_cells(tsl__space *space, step *s, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  for (uint32_t i = 0; i < r->n && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    tsl__step_land(space, s, c->state, c->count, c->tail);
  }
}

tsl__stack tsl__tails_union(tsl__space *space, tsl__stack a, tsl__stack b) {
  tsl__stack low = a < b ? a : b, high = a < b ? b : a, u = 0;
  if (a == b) return a;
  if (tsl__move_union(space, low, high, &u)) return u;
  if (space->positions.union_depth >= TSL__NESTED_MAX)
    return tsl__space_fail(space, TSL_ERR_LIMIT, "ambiguous stacks are too deep to be merged"), 0;
  step s = tsl__step_new(space);
  space->positions.union_depth++;
  land_cells(space, &s, low);
  land_cells(space, &s, high);
  u = tsl__step_collect(space, &s);
  tsl__step_free(space, &s);
  space->positions.union_depth--;
  return u && tsl__move_add(space, low, tsl__key_union(high), u) ? u : 0;
}

/* ---- several tails --------------------------------------------------------------------------- */

#define PAIRED 16u /* tails up to which the unions are of two, which are remembered for all bytes */
#define KNOWN_UNIONS 32u /* of one byte; the oldest gives way */

/* Unions of several tails that were made for one byte. Frames in different states often stand on
 * the same tails. */
struct unions {
  struct {
    uint64_t hash;
    size_t from, n; /* of `tails` */
    tsl__stack to;  /* 0: free */
  } at[KNOWN_UNIONS];
  uint32_t next;
  TSL__VEC(tsl__stack) tails;
};

static tsl__stack unite(tsl__space *space, struct unions *known, const tsl__cell *equal, size_t n);

/* n cells of one state, sorted, become one: its tail is their union. False on failure (sticky). */
static bool fold(tsl__space *space, struct unions *known, tsl__cell *cells, size_t n) {
  tsl__stack u = unite(space, known, cells, n);
  cells->tail = u;
  return u && space->status == TSL_OK;
}

/* Make each state that several of the sorted cells have one cell, and drop the others. False: two
 * have a register, or it failed (sticky). */
static bool fold_all(tsl__space *space, struct unions *known, tsl__cells *cells) {
  size_t kept = 0, loops = 0;
  for (size_t i = 0; i < cells->n; i++) {
    const tsl__cell *c = &cells->at[i];
    if (kept && !memcmp(c, &cells->at[kept - 1], sizeof *c)) continue;
    loops += (tsl__state_at(space, c->state)->flags & TSL__STATE_LOOP) != 0;
    cells->at[kept++] = *c;
  }
  cells->n = kept;
  kept = 0;
  for (size_t i = 0, n; i < cells->n && loops < 2; i += n) {
    tsl__cell *c = &cells->at[i];
    for (n = 1; c->tail && i + n < cells->n && c[n].state == c->state && c[n].count == c->count;)
      n++;
    if (n > 1 && !fold(space, known, c, n)) return false;
    cells->at[kept++] = *c;
  }
  cells->n = kept;
  return loops < 2;
}

/* All cells of these tails, sorted, and those of one state as one. False as above. */
static bool merge(tsl__space *space, struct unions *known, const tsl__cell *equal, size_t n,
                  tsl__cells *out) {
  for (size_t k = 0; k < n; k++) {
    const tsl__stack_rec *r = tsl__stack_at(space, equal[k].tail);
    if (!tsl__space_step(space, r->n)) return false;
    if (!tsl__vec_reserve(&space->alloc, out, r->n)) return tsl__space_no_memory(space);
    for (uint32_t i = 0; i < r->n; i++) out->at[out->n++] = *tsl__stack_cell(space, r, i);
  }
  tsl__cells_sort(out->at, out->n);
  return fold_all(space, known, out);
}

static tsl__stack intern(tsl__space *space, const tsl__cells *cells) {
  const tsl__cell *one = cells->at;
  return cells->n == 1 ? tsl__cell_intern(space, *one, tsl__state_at(space, one->state))
                       : tsl__cells_intern(space, one, cells->n);
}

/* Two by two. */
static tsl__stack unite_pairs(tsl__space *space, const tsl__cell *equal, size_t n) {
  tsl__stack u = equal[0].tail;
  for (size_t k = 1; k < n && u && space->status == TSL_OK; k++)
    u = tsl__tails_union(space, u, equal[k].tail);
  return u;
}

/* The union of these tails, if it was made before; 0: it was not. */
static tsl__stack known_union(const struct unions *known, uint64_t hash, const tsl__cell *equal,
                              size_t n) {
  for (uint32_t i = 0; i < KNOWN_UNIONS; i++) {
    if (!known->at[i].to || known->at[i].hash != hash || known->at[i].n != n) continue;
    size_t k = 0;
    while (k < n && known->tails.at[known->at[i].from + k] == equal[k].tail) k++;
    if (k == n) return known->at[i].to;
  }
  return 0;
}

static void note_union(tsl__space *space, struct unions *known, uint64_t hash,
                       const tsl__cell *equal, size_t n, tsl__stack to) {
  if (!tsl__vec_reserve(&space->alloc, &known->tails, n)) {
    tsl__space_no_memory(space);
    return;
  }
  const uint32_t slot = known->next++ % KNOWN_UNIONS;
  known->at[slot].hash = hash;
  known->at[slot].from = known->tails.n;
  known->at[slot].n = n;
  known->at[slot].to = to;
  for (size_t k = 0; k < n; k++) known->tails.at[known->tails.n++] = equal[k].tail;
}

/* The union of the tails of n equal frames, sorted; 0 on failure (sticky). */
static tsl__stack unite(tsl__space *space, struct unions *known, const tsl__cell *equal, size_t n) {
  if (n <= PAIRED) return unite_pairs(space, equal, n);
  uint64_t hash = n;
  for (size_t k = 0; k < n; k++) hash = tsl__mix(hash * 31 + equal[k].tail);
  tsl__stack u = known_union(known, hash, equal, n);
  if (u) return u;
  if (space->positions.union_depth >= TSL__NESTED_MAX)
    return tsl__space_fail(space, TSL_ERR_LIMIT, "ambiguous stacks are too deep to be merged"), 0;
  tsl__cells cells = {0};
  space->positions.union_depth++;
  const bool merged = merge(space, known, equal, n, &cells);
  if (space->status == TSL_OK) u = merged ? intern(space, &cells) : unite_pairs(space, equal, n);
  space->positions.union_depth--;
  tsl__vec_free(&space->alloc, &cells);
  if (u) note_union(space, known, hash, equal, n, u);
  return u;
}

/* ---- all that wait --------------------------------------------------------------------------- */

/* A frame, and those of the n that wait for it: how many. Their union becomes its tail. */
static size_t settle_one(tsl__space *space, step *s, struct unions *known, const tsl__cell *waiting,
                         size_t n, tsl__cells *equal) {
  const size_t at = tsl__landed_find(space, s, waiting);
  size_t some = 1, kept = 1;
  while (some < n && waiting[some].state == waiting->state && waiting[some].count == waiting->count)
    some++;
  equal->n = 0;
  if (!tsl__vec_reserve(&space->alloc, equal, some + 1)) tsl__space_no_memory(space);
  if (space->status != TSL_OK) return n;
  equal->at[0] = s->landed.at[at];
  memcpy(equal->at + 1, waiting, some * sizeof *waiting);
  tsl__cells_sort(equal->at, some + 1);
  for (size_t i = 1; i < some + 1; i++)
    if (equal->at[i].tail != equal->at[kept - 1].tail) equal->at[kept++] = equal->at[i];
  tsl__stack u = unite(space, known, equal->at, kept);
  if (u) s->landed.at[at].tail = u;
  return some;
}

/* Frames that land while two tails are joined go into lists of their own. */
bool tsl__tails_settle_all(tsl__space *space, step *s) {
  struct unions known = {.next = 0};
  tsl__cells equal = {0};
  tsl__cells_sort(s->waiting.at, s->waiting.n);
  for (size_t i = 0; i < s->waiting.n && space->status == TSL_OK;)
    i += settle_one(space, s, &known, s->waiting.at + i, s->waiting.n - i, &equal);
  tsl__vec_free(&space->alloc, &equal);
  tsl__vec_free(&space->alloc, &known.tails);
  s->waiting.n = 0;
  return space->status == TSL_OK;
}
