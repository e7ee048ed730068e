/* pool.h - arrays that never move, and an index over them that can be read while it grows.
 *
 * A grammar's tables are append-only. One thread at a time adds (under the grammar's lock), any number read without a lock: elements never move, and a
 * number reaches a reader only through an index slot (or another element) that was published with release order after the element was written.
 *
 *   pool   chunks of 4, 4, 8, 8, 16, 16, … elements: at most a third is held and not used. Element i is found with one count of leading zeros.
 *   index  open addressing over 64-bit slots: upper half the upper half of the hash (it gives the
 *          home slot too), lower half the element's number + 1. To grow, a new table is filled and published;
 *          the old one is kept for late readers until the index is freed (all old ones together are smaller than the new one), but where readers hold the lock too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POOL_H
#define TSL_RUNTIME_POOL_H

#include <stdatomic.h>

#include "runtime/base.h"

#define TSL__POOL_NEAR 14u   /* chunks whose places are in the pool itself: 1,016 elements */
#define TSL__POOL_CHUNKS 56u /* in all: 2^31 elements */

typedef struct tsl__pool {
  uint32_t n;       /* elements */
  uint32_t element; /* bytes of one */
  void *near[TSL__POOL_NEAR];
  void **far; /* the other chunks, from number TSL__POOL_NEAR on; NULL: there are none */
  size_t memory;
} tsl__pool;

/* The chunk of an element, and which of the chunk's it is. */
static inline uint32_t tsl__pool_chunk(uint32_t i, uint32_t *at) {
  uint32_t j = i + 8, shift = 30u - (uint32_t)__builtin_clz(j); /* 8..11 -> 0, 12..15 -> 1, 16..23 -> 2, … */
  *at = j & ((1u << shift) - 1);
  return 2 * shift + (j >> shift) - 6;
}

static inline void *tsl__pool_at(const tsl__pool *p, uint32_t i) {
  uint32_t at, k = tsl__pool_chunk(i, &at);
  return (char *)(TSL__LIKELY(k < TSL__POOL_NEAR) ? p->near[k] : p->far[k - TSL__POOL_NEAR]) + (size_t)at * p->element;
}
static inline void tsl__pool_init(tsl__pool *p, uint32_t element) {
  memset(p, 0, sizeof *p);
  p->element = element;
}
/* Append a zeroed element; NULL when out of memory. */
void *tsl__pool_add(tsl__pool *p, const tsl_allocator *a);
void tsl__pool_free(tsl__pool *p, const tsl_allocator *a);

typedef struct tsl__index_table {
  struct tsl__index_table *older;
  uint64_t mask; /* slots - 1 */
  _Atomic(uint64_t) slots[];
} tsl__index_table;

typedef struct tsl__index {
  _Atomic(tsl__index_table *) table;
  uint32_t n;
  bool read_unlocked; /* readers hold no lock: tables that were outgrown stay until the end */
  size_t memory;
} tsl__index;

/* The bits of hashes that are compared. Builds for tests compare none, so that keys that differ meet. */
#ifndef TSL__INDEX_COMPARED
#define TSL__INDEX_COMPARED UINT32_MAX
#endif

/* Walk over the elements that may have this hash: for (it = tsl__index_first(ix, h); (i = tsl__index_next(&it)) != UINT32_MAX;) compare. */
typedef struct tsl__index_iter {
  const tsl__index_table *table;
  uint64_t at;
  uint32_t tag;
} tsl__index_iter;

static inline tsl__index_iter tsl__index_first(const tsl__index *ix, uint64_t hash) {
  const tsl__index_table *t = atomic_load_explicit(&((tsl__index *)(uintptr_t)ix)->table, memory_order_acquire);
  return (tsl__index_iter){t, t ? hash >> 32 & t->mask : 0, (uint32_t)(hash >> 32)};
}
static inline uint32_t tsl__index_next(tsl__index_iter *it) {
  if (!it->table) return UINT32_MAX;
  for (;;) {
    uint64_t slot = atomic_load_explicit(&((tsl__index_table *)(uintptr_t)it->table)->slots[it->at], memory_order_acquire);
    if (slot == 0) return UINT32_MAX;
    it->at = (it->at + 1) & it->table->mask;
    if ((((uint32_t)(slot >> 32) ^ it->tag) & TSL__INDEX_COMPARED) == 0) return (uint32_t)slot - 1;
  }
}
/* Add a number whose element is complete; false when out of memory. */
bool tsl__index_add(tsl__index *ix, const tsl_allocator *a, uint64_t hash, uint32_t number);
void tsl__index_free(tsl__index *ix, const tsl_allocator *a);

#endif
