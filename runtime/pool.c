/* pool.c - see pool.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/pool.h"

static uint32_t chunk_size(uint32_t k) { return 4u << k / 2; }

static void **place_of(tsl__pool *p, uint32_t k) { return k < TSL__POOL_NEAR ? &p->near[k] : &p->far[k - TSL__POOL_NEAR]; }

#define FAR_SIZE ((TSL__POOL_CHUNKS - TSL__POOL_NEAR) * sizeof(void *))

static bool add_chunk(tsl__pool *p, const tsl_allocator *a, uint32_t k) {
  size_t size = (size_t)chunk_size(k) * p->element;
  if (k >= TSL__POOL_NEAR && !p->far) {
    p->far = tsl__alloc_zero(a, FAR_SIZE);
    if (!p->far) return false;
    p->memory += FAR_SIZE;
  }
  void *chunk = tsl__alloc(a, size);
  if (!chunk) return false;
  *place_of(p, k) = chunk;
  p->memory += size;
  return true;
}

void *tsl__pool_add(tsl__pool *p, const tsl_allocator *a) {
  uint32_t at, k = tsl__pool_chunk(p->n, &at);
  if (k >= TSL__POOL_CHUNKS) return NULL;
  bool there = (k < TSL__POOL_NEAR || p->far) && *place_of(p, k);
  if (TSL__UNLIKELY(!there) && !add_chunk(p, a, k)) return NULL;
  void *element = (char *)*place_of(p, k) + (size_t)at * p->element;
  p->n++;
  return memset(element, 0, p->element);
}

void tsl__pool_free(tsl__pool *p, const tsl_allocator *a) {
  for (uint32_t k = 0; k < (p->far ? TSL__POOL_CHUNKS : TSL__POOL_NEAR); k++) tsl__free(a, *place_of(p, k), (size_t)chunk_size(k) * p->element);
  tsl__free(a, p->far, FAR_SIZE);
  tsl__pool_init(p, p->element);
}

static size_t table_bytes(uint64_t slots) { return sizeof(tsl__index_table) + (size_t)slots * sizeof(uint64_t); }

static void put(tsl__index_table *t, uint64_t slot) {
  uint64_t i = slot >> 32 & t->mask;
  while (atomic_load_explicit(&t->slots[i], memory_order_relaxed)) i = (i + 1) & t->mask;
  atomic_store_explicit(&t->slots[i], slot, memory_order_release);
}

#define MOVED 64u
#define FIRST 32u       /* slots of an index's first table */
#define KEPT_FIRST 128u /* where all tables are kept: fewer of them */

/* Every entry of a table into a larger one. A third of the slots is free, at random: the entries are collected first, without a branch. */
static void move_entries(const tsl__index_table *from, tsl__index_table *to) {
  uint64_t some[MOVED];
  for (uint64_t i = 0; i <= from->mask;) {
    uint32_t n = 0;
    for (uint64_t end = i + MOVED < from->mask + 1 ? i + MOVED : from->mask + 1; i < end; i++) {
      some[n] = atomic_load_explicit(&((tsl__index_table *)(uintptr_t)from)->slots[i], memory_order_relaxed);
      n += some[n] != 0;
    }
    for (uint32_t k = 0; k < n; k++) put(to, some[k]);
  }
}

static tsl__index_table *grow(tsl__index *ix, const tsl_allocator *a, tsl__index_table *old) {
  uint64_t slots = old ? (old->mask + 1) * 2 : ix->read_unlocked ? KEPT_FIRST : FIRST;
  tsl__index_table *t = tsl__alloc_zero(a, table_bytes(slots));
  if (!t) return NULL;
  t->mask = slots - 1;
  t->older = old;
  if (old) move_entries(old, t);
  ix->memory += table_bytes(slots);
  atomic_store_explicit(&ix->table, t, memory_order_release);
  if (old && !ix->read_unlocked) {
    t->older = old->older;
    ix->memory -= table_bytes(old->mask + 1);
    tsl__free(a, old, table_bytes(old->mask + 1));
  }
  return t;
}

bool tsl__index_add(tsl__index *ix, const tsl_allocator *a, uint64_t hash, uint32_t number) {
  tsl__index_table *t = atomic_load_explicit(&ix->table, memory_order_relaxed);
  if (!t || (uint64_t)ix->n * 2 >= t->mask) t = grow(ix, a, t);
  if (!t) return false;
  put(t, hash >> 32 << 32 | (number + 1u));
  ix->n++;
  return true;
}

void tsl__index_free(tsl__index *ix, const tsl_allocator *a) {
  for (tsl__index_table *t = atomic_load(&ix->table), *older; t; t = older) {
    older = t->older;
    tsl__free(a, t, table_bytes(t->mask + 1));
  }
  memset(ix, 0, sizeof *ix);
}
