/* carry.c - see carry.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/carry.h"

#include "runtime/position/distinct_run.h"
#include "runtime/position/stacks_step.h"

/* Kinds of records. A task is a kind above a number. */
enum { STACK = 1, SEEN, USED, OPEN, TEXT };

#define SLOTS_FIRST 64u
#define MISSING UINT32_MAX

static uint64_t key_of(uint32_t kind, uint32_t number) { return (uint64_t)kind << 32 | number; }

/* ---- what was made --------------------------------------------------------------------------- */

static tsl__carried *slot_of(const tsl__carry *c, uint64_t key) {
  uint32_t last = c->slot_count - 1, i = (uint32_t)tsl__mix(key) & last;
  while (c->slots[i].key && c->slots[i].key != key) i = (i + 1) & last;
  return &c->slots[i];
}

/* Room for one more; false when out of memory (sticky). */
static bool slots_room(tsl__carry *c) {
  if (c->n * 2 < c->slot_count) return true;
  tsl__carried *before = c->slots;
  uint32_t count = c->slot_count;
  c->slot_count = count ? count * 2 : SLOTS_FIRST;
  c->slots = tsl__alloc_zero(&c->to->alloc, c->slot_count * sizeof *c->slots);
  if (!c->slots) {
    c->slots = before;
    c->slot_count = count;
    return tsl__space_no_memory(c->to);
  }
  for (uint32_t i = 0; i < count; i++)
    if (before[i].key) *slot_of(c, before[i].key) = before[i];
  tsl__free(&c->to->alloc, before, count * sizeof *before);
  return true;
}

/* Numbers of the vocabulary's layer mean the same in both spaces, and so does "none". */
static bool is_shared(const tsl__carry *c, uint32_t kind, uint32_t number) {
  switch (kind) {
  case SEEN: return number < c->to->seen_names.first || !number;
  case USED: return number < c->to->used.first || !number;
  case OPEN: return number < c->to->opens.first || !number;
  case TEXT: return number < c->to->texts.first || !number;
  default: return !number;
  }
}

/* The number of a record in the new space. MISSING: it is not made yet, and goes on the list. */
static uint32_t need(tsl__carry *c, uint32_t kind, uint32_t number) {
  if (is_shared(c, kind, number)) return number;
  const tsl__carried *known = c->slot_count ? slot_of(c, key_of(kind, number)) : NULL;
  if (known && known->key) return known->number;
  if (!tsl__vec_push(&c->to->alloc, &c->tasks, key_of(kind, number))) tsl__space_no_memory(c->to);
  return MISSING;
}

static bool note(tsl__carry *c, uint64_t key, uint32_t number) {
  if (!slots_room(c)) return false;
  tsl__carried *slot = slot_of(c, key);
  c->n += !slot->key;
  *slot = (tsl__carried){key, number};
  return true;
}

/* ---- one record: its number in `to`; MISSING: it needs others first; 0 on failure ------------ */

/* The state, expanded where it was, so that its cells are known to stay. */
static tsl__state carry_state(tsl__carry *c, tsl__state state) {
  tsl__state to = c->to->hook->life.carry(c->to->hook_ctx, c->from, state);
  if (to && tsl__state_is_expanded(tsl__state_at(c->from, state)) &&
      !tsl__state_expanded(c->to, to))
    return 0;
  return to;
}

static uint32_t carry_cells(tsl__carry *c, const tsl__stack_rec *r) {
  bool missing = false;
  c->cells.n = 0;
  if (!tsl__vec_reserve(&c->to->alloc, &c->cells, r->n)) return tsl__space_no_memory(c->to), 0;
  for (uint32_t i = 0; i < r->n; i++) {
    tsl__cell cell = *tsl__stack_cell(c->from, r, i);
    cell.tail = need(c, STACK, cell.tail);
    missing = missing || cell.tail == MISSING;
    if (missing) continue;
    cell.state = carry_state(c, cell.state);
    if (!cell.state) return 0;
    c->cells.at[c->cells.n++] = cell;
  }
  if (missing) return MISSING;
  if (r->n == 1)
    return tsl__cell_intern(c->to, *c->cells.at, tsl__state_at(c->to, c->cells.at->state));
  tsl__cells_sort(c->cells.at, c->cells.n);
  return tsl__cells_intern(c->to, c->cells.at, c->cells.n);
}

/* Denies are of the space's own spellings. So each is made again: of the values that were used, and
 * then of the item under way, as far as it is spelled. False on failure (sticky). */
static bool carry_deny(tsl__carry *c, tsl__run *run, const tsl__with_distinct *p, uint32_t depth) {
  const tsl__open *o = tsl__open_at(c->from, tsl__distinct_at(c->from, p->distinct)->open);
  while (o->depth > depth) o = tsl__open_at(c->from, o->below);
  tsl__deny deny = {depth, tsl__deny_begin(c->to, need(c, USED, o->used))};
  if (o->start != TSL__OPEN_NONE) {
    tsl__space *from = (tsl__space *)(uintptr_t)c->from; /* it gives memory alone */
    if (!tsl__run_load_distinct(from, run, p) || !tsl__run_item(from, run, o->start))
      return tsl__space_no_memory(c->to);
    for (size_t i = 0; deny.at && i < run->raw.n; i++)
      deny.at = tsl__deny_byte(c->to, &run->deny, deny.at, run->raw.at[i]);
  }
  if (!deny.at) return c->to->status == TSL_OK;
  return tsl__vec_push(&c->to->alloc, &c->denies, deny) || tsl__space_no_memory(c->to);
}

static bool carry_denies(tsl__carry *c, const tsl__with_distinct *p) {
  const tsl__distinct *d = tsl__distinct_at(c->from, p->distinct);
  tsl__run *run = d->n ? tsl__run_take(c->to) : NULL;
  bool fine = !d->n || run;
  c->denies.n = 0;
  for (uint32_t i = 0; fine && i < d->n; i++) fine = carry_deny(c, run, p, d->denies[i].depth);
  tsl__run_give(c->to, run);
  return fine;
}

/* The record of a position. Those that differ in their texts alone have denies that have read what
 * means the same, so any of the texts will do. */
static uint32_t carry_distinct(tsl__carry *c, const tsl__with_distinct *p) {
  tsl__distinct d = *tsl__distinct_at(c->from, p->distinct);
  bool named = d.name && d.name != TSL__NAME_IMPLIED;
  uint32_t open = need(c, OPEN, d.open), name = named ? need(c, TEXT, d.name - 1) : d.name;
  if (open == MISSING || (named && name == MISSING)) return MISSING;
  if (!carry_denies(c, p)) return 0;
  d.open = open;
  d.name = named ? name + 1 : name;
  d.denies = c->denies.at;
  d.n = (uint32_t)c->denies.n;
  return tsl__distinct_intern(c->to, &d);
}

static uint32_t carry_position(tsl__carry *c, uint32_t number) {
  const tsl__stack_rec *r = tsl__stack_at(c->from, number);
  if (!r->has_distinct) return carry_cells(c, r);
  const tsl__with_distinct *p = &r->with_distinct;
  uint32_t plain = need(c, STACK, p->plain), text = need(c, TEXT, p->text),
           distinct = p->distinct ? carry_distinct(c, p) : 0;
  if (plain == MISSING || text == MISSING || distinct == MISSING) return MISSING;
  if (p->distinct && !distinct) return 0;
  return tsl__distinct_position(c->to, plain, distinct, text);
}

static uint32_t carry_seen(tsl__carry *c, uint32_t number) {
  const tsl__seen_names *g = tsl__space_at(c->from, seen_names, number);
  uint32_t next = need(c, SEEN, g->next);
  return next == MISSING ? MISSING : tsl__seen_names_group(c->to, next, g->names, g->count);
}

static uint32_t carry_used(tsl__carry *c, uint32_t number) {
  const tsl__used *u = tsl__space_at(c->from, used, number);
  uint32_t next = need(c, USED, u->next);
  return next == MISSING ? MISSING : tsl__used_group(c->to, next, u->texts, u->count);
}

static uint32_t carry_open(tsl__carry *c, uint32_t number) {
  tsl__open o = *tsl__open_at(c->from, number);
  o.below = need(c, OPEN, o.below);
  o.used = need(c, o.array ? USED : SEEN, o.used);
  return o.below == MISSING || o.used == MISSING ? MISSING : tsl__open_intern(c->to, &o);
}

static uint32_t carry_text(tsl__carry *c, uint32_t number) {
  const tsl__text *t = tsl__space_at(c->from, texts, number);
  uint32_t before = need(c, TEXT, t->before);
  return before == MISSING ? MISSING : tsl__text_intern(c->to, before, t->at, t->n);
}

static uint32_t make(tsl__carry *c, uint64_t key) {
  uint32_t number = (uint32_t)key;
  switch (key >> 32) {
  case STACK: return carry_position(c, number);
  case SEEN: return carry_seen(c, number);
  case USED: return carry_used(c, number);
  case OPEN: return carry_open(c, number);
  default: return carry_text(c, number);
  }
}

/* ---- all that a position needs --------------------------------------------------------------- */

#define PIECE 1024u /* records for which there is a budget of steps */

/* Does the work have room to go on? */
static bool goes_on(tsl__carry *c) {
  if (c->n % PIECE == PIECE - 1) tsl__space_go_on(c->to);
  c->over = c->over || c->to->arena.total > c->most;
  return !c->over && c->to->status == TSL_OK && tsl__space_has_room(c->to);
}

/* Was the record made, for another that needed it? */
static bool is_made(const tsl__carry *c, uint64_t key) {
  return c->slot_count && slot_of(c, key)->key;
}

tsl__stack tsl__carry_stack(tsl__carry *c, tsl__stack at) {
  c->tasks.n = 0;
  uint32_t done = need(c, STACK, at);
  while (c->tasks.n) {
    if (!goes_on(c)) return 0;
    uint64_t key = c->tasks.at[c->tasks.n - 1];
    uint32_t made = is_made(c, key) ? slot_of(c, key)->number : make(c, key);
    if (c->to->status != TSL_OK) return 0;
    if (!made) return tsl__space_fail(c->to, TSL_ERR_STATE, "a position that is not carried"), 0;
    if (made == MISSING) continue;
    if (!note(c, key, made)) return 0;
    c->tasks.n--;
    done = made;
  }
  return done;
}

void tsl__carry_free(tsl__carry *c) {
  const tsl_allocator *a = &c->to->alloc;
  tsl__free(a, c->slots, c->slot_count * sizeof *c->slots);
  tsl__vec_free(a, &c->tasks);
  tsl__vec_free(a, &c->cells);
  tsl__vec_free(a, &c->denies);
}
