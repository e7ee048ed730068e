/* space.c - see space.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/automaton/space.h"

#include "runtime/masks/borrow.h"
#include "runtime/walk/classes.h"
#include "runtime/walk/shared_walks.h"
#include "runtime/position/distinct.h"
#include "runtime/walk/names.h"
#include "runtime/position/stacks.h"
#include "runtime/walk/walk.h"
#include "runtime/walk/follow.h"
#include "runtime/walk/nonascii.h"

#define LOOK 1024u /* steps from one look at time and memory to the next */
/* what part of the memory that is left the arena may take until memory is looked at again;
 * expressions and indexes grow beside it, several times as much */
#define ROOM 16u

#define BLOCK_LEAST 2048u /* bytes of a block of the arena: most grammars take some ten */

#define EACH_TABLE(DO)             \
  DO(states, tsl__state_rec)       \
  DO(stand_ins, tsl__stand_in)     \
  DO(leftovers, tsl__leftover_rec) \
  DO(children, tsl__child)         \
  DO(bitsets, uint32_t *)          \
  DO(masks, tsl__mask_rec)         \
  DO(unions, tsl__union)           \
  DO(classes, tsl__class)          \
  DO(walks, tsl__walk)             \
  DO(stacks, tsl__stack_rec)       \
  DO(moves, tsl__move)             \
  DO(named, tsl__named_walk)       \
  DO(resumed, tsl__resumed)        \
  DO(nonascii_sets, tsl__nonascii) \
  DO(opens, tsl__open)             \
  DO(used, tsl__used)              \
  DO(seen_names, tsl__seen_names)  \
  DO(texts, tsl__text)             \
  DO(distinct, tsl__distinct)      \
  DO(follows, tsl__follow)         \
  DO(letters_after, tsl__letters_after)

/* Where each table is in a space, and its elements: they are gone through by a loop, as code that
 * runs once for each grammar is never at hand. */
static const struct {
  uint32_t at, element;
} tables[] = {
#define TABLE(name, type) {offsetof(tsl__space, name), sizeof(type)},
    EACH_TABLE(TABLE)
#undef TABLE
};
#define TABLES (sizeof tables / sizeof *tables)

static tsl__table *table_of(const tsl__space *s, size_t i) {
  return (tsl__table *)(void *)((char *)(uintptr_t)s + tables[i].at);
}

/* Of a space that is all zeros. */
static void init_tables(tsl__space *s) {
  for (size_t i = 0; i < TABLES; i++) {
    tsl__table *t = table_of(s, i);
    const tsl__table *below = s->parent ? table_of(s->parent, i) : NULL;
    t->pool.element = tables[i].element;
    t->first = t->index.first = below ? below->first + below->pool.n : 0;
  }
}

/* Number 0 means "none" in every table. */
static bool reserve_zero(tsl__space *s) {
  for (size_t i = 0; i < TABLES; i++)
    if (table_of(s, i)->first == 0 && !tsl__pool_add(&table_of(s, i)->pool, &s->kept)) return false;
  static const uint32_t no_list[1];
  if (s->masks.first == 0) ((tsl__mask_rec *)tsl__pool_at(&s->masks.pool, 0))->lists = no_list;
  if (s->states.first == 0) {
    tsl__state_own(s, 0)->self = &tsl__no_bytes;
    atomic_store(&tsl__state_own(s, 0)->expanded, 1);
  }
  return true;
}

tsl_status tsl__space_new(const tsl__space *parent, const tsl_vocab *vocab, const tsl_allocator *a,
                          const tsl_limits *limits, tsl__space **out) {
  static const tsl_limits no_limits = {0};
  *out = NULL;
  if (!limits) limits = &no_limits;
  a = tsl__allocator_or_default(a);
  tsl__space *s = tsl__alloc_zero(a, sizeof *s);
  if (!s) return TSL_ERR_NO_MEMORY;
  s->alloc = *a;
  s->parent = parent;
  s->vocab = vocab;
  s->mask_words = (uint32_t)tsl_vocab_mask_words(vocab);
  tsl__arena_init(&s->arena, &s->alloc);
  s->arena.least = BLOCK_LEAST;
  s->kept = tsl__arena_hooks(&s->arena);
  init_tables(s);
  /* positions are of one layer alone: they are found without asking which has them */
  s->stacks.first = s->stacks.index.first = 0;
  s->moves.index.read_unlocked = s->stacks.index.read_unlocked = true; /* tsl__stack_find_token */
  s->names_tokens = parent && parent->names_tokens;
  s->max_steps = limits->max_steps ? limits->max_steps : 4000000u;
  s->max_memory = limits->max_memory ? limits->max_memory : (uint64_t)256 << 20;
  s->delta_work = TSL__DELTA_WORK;
  s->subtract_bytes = TSL__SUBTRACT_BYTES;
  s->max_stacks = limits->max_stacks ? limits->max_stacks : 4096;
  s->cancel = limits->cancel;
  s->deadline_us = limits->deadline_us;
  s->deadline = tsl__deadline(s->deadline_us);
  s->look_at = LOOK;
  s->room_until = s->max_memory / ROOM;
  s->cycle = UINT32_MAX;
  s->gather = tsl__alloc_zero(&s->alloc, sizeof *s->gather);
  if (!s->gather || !tsl__spare_steps_new(s) || !reserve_zero(s)) {
    tsl__space_free(s);
    return TSL_ERR_NO_MEMORY;
  }
  *out = s;
  return TSL_OK;
}

void tsl__space_free(tsl__space *s) {
  if (!s) return;
  tsl_allocator a = s->alloc;
  if (s->hook && s->hook->free) s->hook->free(s->hook_ctx);
  tsl__walk_scratch_free(s);
  tsl__frozen_free(s->frozen, &s->alloc);
  tsl__frozen_free(s->frozen_unions, &s->alloc);
  tsl__naming_free(s);
  tsl__boundary_free(s->boundary, &s->alloc);
  tsl__distinct_free(s);
  tsl__spare_steps_free(s);
  tsl__adopted_free(s);
  tsl__rows_free(s);
  if (s->gather) tsl__gather_free(s, s->gather);
  tsl__free(&a, s->gather, sizeof *s->gather);
  for (size_t i = 0; i < TABLES; i++) tsl__index_free(&table_of(s, i)->index, &a);
  tsl__arena_free(&s->arena);
  tsl__free(&a, s, sizeof *s);
}

size_t tsl__space_memory(const tsl__space *s) {
  size_t n = sizeof *s + s->arena.total;
  for (size_t i = 0; i < TABLES; i++) n += tsl__index_memory(&table_of(s, i)->index);
  n += s->chains.capacity * sizeof *s->chains.slots;
  n += tsl__rows_memory(s) + tsl__frozen_memory(s->frozen) + tsl__frozen_memory(s->frozen_unions) +
       tsl__boundary_memory(s->boundary) + tsl__vec_memory(&s->adopted);
  n += tsl__walk_scratch_memory(s) + tsl__naming_memory(s) + tsl__distinct_kept(s) +
       tsl__spare_steps_memory(s) +
       (s->gather ? sizeof *s->gather + tsl__gather_memory(s->gather) : 0);
  return n + (s->hook && s->hook->memory ? s->hook->memory(s->hook_ctx) : 0);
}

/* A step budget of its own. */
static void next_piece(tsl__space *s) {
  s->earlier_steps += s->steps;
  s->steps = 0;
  /* pieces of few steps fill the tables, too */
  s->look_at = s->arena.total < s->room_until ? LOOK : 0;
  s->depth = 0;
  s->union_depth = 0;
  s->cycle = UINT32_MAX;
  if (s->hook && s->hook->begin) s->hook->begin(s->hook_ctx, s->deadline);
}

static void look_at_time(tsl__space *s) {
  if (tsl__cancelled(s->cancel)) tsl__space_fail(s, TSL_ERR_CANCELLED, "cancelled");
  if (tsl__expired(s->deadline)) tsl__space_fail(s, TSL_ERR_CANCELLED, "deadline_us: out of time");
}

void tsl__space_begin_by(tsl__space *s, uint64_t deadline) {
  s->status = TSL_OK;
  s->why = NULL;
  s->deadline = deadline;
  next_piece(s);
}

void tsl__space_begin(tsl__space *s) {
  tsl__space_begin_by(s, s->until ? s->until : tsl__deadline(s->deadline_us));
  if (s->until) look_at_time(s);
}

void tsl__space_go_on(tsl__space *s) {
  look_at_time(s);
  if (s->status == TSL_OK) next_piece(s);
}

tsl_status tsl__space_fail(tsl__space *s, tsl_status status, const char *why) {
  if (s->status == TSL_OK) {
    s->status = status;
    s->why = why;
  }
  return s->status;
}

bool tsl__space_no_memory(tsl__space *s) {
  return tsl__space_fail(s, TSL_ERR_NO_MEMORY, "out of memory"), false;
}

bool tsl__space_look(tsl__space *s) {
  s->look_at = s->steps - s->steps % LOOK + LOOK;
  if (s->steps > s->max_steps)
    tsl__space_fail(s, TSL_ERR_LIMIT, "max_steps: too much work for one mask or token");
  look_at_time(s);
  size_t memory = tsl__space_memory(s);
  if (memory > s->max_memory)
    tsl__space_fail(s, TSL_ERR_LIMIT, "max_memory: the grammar's tables are full");
  else
    s->room_until = s->arena.total + (s->max_memory - memory) / ROOM + 1;
  return s->status == TSL_OK;
}
