/* layer.c - see layer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/layer.h"

#include "runtime/masks/borrow.h"
#include "runtime/position/distinct.h"
#include "runtime/position/stacks.h"
#include "runtime/walk/classes.h"
#include "runtime/walk/follow.h"
#include "runtime/walk/names.h"
#include "runtime/walk/nonascii.h"
#include "runtime/walk/shared_walks.h"
#include "runtime/walk/walk.h"

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

/* Where each table is in a space, and its elements. A loop goes through them, as code that runs
 * once for each grammar is never at hand. */
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

/* Make the tables of a space that is all zeros. */
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

static const tsl__layer_ops layer_ops;

tsl_status tsl__space_new(const tsl__space *parent, const tsl_vocab *vocab, const tsl_allocator *a,
                          const tsl_limits *limits, tsl__space **out) {
  *out = NULL;
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
  s->layer = &layer_ops;
  tsl__space_limits(s, limits);
  s->walking.delta_work = TSL__DELTA_WORK;
  s->walking.subtract_bytes = TSL__SUBTRACT_BYTES;
  s->gather = tsl__alloc_zero(&s->alloc, sizeof *s->gather);
  if (!s->gather || !tsl__spare_steps_new(s) || !reserve_zero(s)) {
    tsl__space_free(s);
    return TSL_ERR_NO_MEMORY;
  }
  *out = s;
  return TSL_OK;
}

static void free_layer(tsl__space *s) {
  tsl_allocator a = s->alloc;
  if (s->hook && s->hook->life.free) s->hook->life.free(s->hook_ctx);
  tsl__walk_scratch_free(s);
  tsl__frozen_free(s->warm.frozen, &s->alloc);
  tsl__frozen_free(s->warm.frozen_unions, &s->alloc);
  tsl__naming_free(s);
  tsl__boundary_free(s->warm.boundary, &s->alloc);
  tsl__distinct_free(s);
  tsl__space_free(s->positions.spelled);
  tsl__spare_steps_free(s);
  tsl__adopted_free(s);
  tsl__rows_free(s);
  if (s->gather) tsl__gather_free(s, s->gather);
  tsl__free(&a, s->gather, sizeof *s->gather);
  for (size_t i = 0; i < TABLES; i++) tsl__index_free(&table_of(s, i)->index, &a);
  tsl__arena_free(&s->arena);
  tsl__free(&a, s, sizeof *s);
}

static size_t layer_memory(const tsl__space *s) {
  size_t n = sizeof *s + s->arena.total;
  for (size_t i = 0; i < TABLES; i++) n += tsl__index_memory(&table_of(s, i)->index);
  n += s->positions.chains.capacity * sizeof *s->positions.chains.slots;
  n += tsl__rows_memory(s) + tsl__frozen_memory(s->warm.frozen) +
       tsl__frozen_memory(s->warm.frozen_unions) + tsl__boundary_memory(s->warm.boundary) +
       tsl__vec_memory(&s->walking.adopted);
  n += tsl__walk_scratch_memory(s) + tsl__naming_memory(s) + tsl__distinct_kept(s) +
       tsl__spare_steps_memory(s) +
       (s->positions.spelled ? tsl__space_memory(s->positions.spelled) : 0) +
       (s->gather ? sizeof *s->gather + tsl__gather_memory(s->gather) : 0);
  return n + (s->hook && s->hook->life.memory ? s->hook->life.memory(s->hook_ctx) : 0);
}

static const tsl__layer_ops layer_ops = {
    .make = tsl__space_new,
    .free = free_layer,
    .memory = layer_memory,
    .shared_base = tsl__common_base,
    .shared_row = tsl__common_row_of,
};
