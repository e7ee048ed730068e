/* pool.h - arrays that never move, and an index over them that can be read while it grows.
 *
 * A grammar's tables are append-only. One thread at a time adds (under the grammar's lock), and any
 * number read without a lock. Elements never move. A number reaches a reader only through an index
 * slot (or another element), which was published with release order after the element was written.
 *
 *   pool   chunks of 8, 8, 16, 16, 32, … elements: at most a third is held and not used. The chunk
 *          of element i is found by one count of leading zeros. That of the first ones is found by
 *          a table, which is half the work. For each chunk the pool keeps where element 0 would be
 *          before it.
 *   index  open addressing: a slot holds the upper bits of the hash, its tag, and the element's
 *          number + 1. The tag gives the home slot too, as a fraction of the table: elements are
 *          not looked at when a table grows. As long as numbers are small a slot has 32 bits, then
 *          64. To grow, a new table is published. A small table is filled before that. A large one
 *          is filled little by little, with each entry that is added; until then, what is not found
 *          there is looked for in the old table. The old table is kept for late readers until the
 *          index is freed, unless readers hold the lock too. All old ones together are smaller than
 *          the new one.
 *   frozen elements of a layer that gets no more of them, in the order of their hashes: the
 *          elements themselves, not their numbers. One that was not read for long costs one line of
 *          memory; by an index it costs two or more.
 *
 * Example   An index with 32 slots has three entries. The tag of a hash has 19 bits; tag * 32 >> 19
 *           is its upper 5 bits, the home slot. A search begins there and goes on to the first free
 *           slot. On the way it compares tags, and only where these are equal its caller compares
 *           elements. When 16 slots are used a table of 128 is published; tags give homes there
 *           too.
 *
 * Tested by tests/core/test_pool.c, tests/matcher/test_race.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CORE_POOL_H
#define TSL_RUNTIME_CORE_POOL_H

#include <stdatomic.h>

#include "runtime/core/base.h"

#define TSL__POOL_NEAR 10u   /* chunks whose places are in the pool itself */
#define TSL__POOL_FEW 496u   /* elements in these */
#define TSL__POOL_CHUNKS 54u /* in all: 2^31 elements */

typedef struct tsl__pool {
  uint32_t n;       /* elements */
  uint32_t element; /* bytes of one */
  /* where element 0 would be if it were in the same chunk: so an element is found without knowing
   * where its chunk begins */
  uintptr_t near[TSL__POOL_NEAR];
  /* those of the other chunks, from number TSL__POOL_NEAR on; NULL: there are none */
  uintptr_t *far;
  char *next;    /* where the next element comes, if there is room in the last chunk */
  uint32_t room; /* for so many, which are zeros */
  uint32_t rest; /* behind them in the chunk */
#ifdef TSL__WATCHED_MEMORY
  void *held[TSL__POOL_CHUNKS]; /* the chunks themselves, for who looks for leaks */
#endif
} tsl__pool;

/* The chunk of an element. */
static inline uint32_t tsl__pool_chunk(uint32_t i) {
  /* 16..31 -> 3, 32..63 -> 4, 64..127 -> 5, … */
  uint32_t j = i + 16, shift = (31u ^ (uint32_t)__builtin_clz(j)) - 1;
  return 2 * shift + (j >> shift) - 8;
}

/* the same of the first ones, eight by eight, in one cache line: most are such */
extern const uint8_t tsl__pool_chunk_of[TSL__POOL_FEW / 8];

/* `element`: the pool's, for a caller that knows it without a search. */
static inline void *tsl__pool_at_of(const tsl__pool *p, uint32_t i, size_t element) {
  uintptr_t first = TSL__LIKELY(i < TSL__POOL_FEW) ? p->near[tsl__pool_chunk_of[i / 8]]
                                                   : p->far[tsl__pool_chunk(i) - TSL__POOL_NEAR];
  return (void *)(first + (uintptr_t)i * element);
}
static inline void *tsl__pool_at(const tsl__pool *p, uint32_t i) {
  return tsl__pool_at_of(p, i, p->element);
}
/* An empty pool for elements of so many bytes. It holds no memory yet. */
static inline void tsl__pool_init(tsl__pool *p, uint32_t element) {
  memset(p, 0, sizeof *p);
  p->element = element;
}
/* Append a zeroed element, and return it: it stays where it is until the pool is freed. NULL when
 * out of memory; the pool is then as before. One thread at a time. */
void *tsl__pool_add(tsl__pool *p, const tsl_allocator *a);
/* Free all chunks; the pool is empty and can be used again. `a` is the allocator of the
 * additions. */
void tsl__pool_free(tsl__pool *p, const tsl_allocator *a);

/* Its slots follow: 32 bits each, number + 1 in the lower TSL__INDEX_NUMBER of them and the tag
 * above. With `slots_64` a slot has 64 bits, number + 1 in the lower half and the tag in the upper
 * one. */
typedef struct tsl__index_table {
  struct tsl__index_table *older;
  uint32_t count; /* of slots: a power of two */
  bool slots_64;
  _Atomic(bool) moving; /* not all of the older one's entries are here */
  _Atomic(bool) seldom; /* slots_64, or moving */
} tsl__index_table;

#define TSL__INDEX_TAG 19u    /* bits of a tag */
#define TSL__INDEX_NUMBER 13u /* bits of a small number + 1 */
#define TSL__INDEX_NUMBERS ((1u << TSL__INDEX_NUMBER) - 1)

typedef struct tsl__index {
  _Atomic(tsl__index_table *) table;
  uint32_t first; /* the least number: what slots hold is counted from there */
  uint32_t n;
  bool read_unlocked; /* readers hold no lock: tables that were outgrown stay until the end */
  /* while a table is filled: slots of the one before whose entries are in it */
  _Atomic(uint32_t) moved;
} tsl__index;

/* The bits of tags that are compared. Builds for tests compare none, so that keys that differ
 * meet. */
#ifndef TSL__INDEX_COMPARED
#define TSL__INDEX_COMPARED UINT32_MAX
#endif

static inline _Atomic(uint32_t) *tsl__index_narrow(const tsl__index_table *t) {
  return (_Atomic(uint32_t) *)(uintptr_t)(t + 1);
}
static inline _Atomic(uint64_t) *tsl__index_big(const tsl__index_table *t) {
  return (_Atomic(uint64_t) *)(uintptr_t)(t + 1);
}
/* A slot in the form of 64 bits; 0: free. */
static inline uint64_t tsl__index_slot(const tsl__index_table *t, uint32_t i) {
  if (TSL__UNLIKELY(t->slots_64))
    return atomic_load_explicit(&tsl__index_big(t)[i], memory_order_acquire);
  uint32_t slot = atomic_load_explicit(&tsl__index_narrow(t)[i], memory_order_acquire);
  return (uint64_t)(slot >> TSL__INDEX_NUMBER) << 32 | (slot & TSL__INDEX_NUMBERS);
}
/* The upper bits of the hash, which must be mixed well (tsl__mix, tsl__hash). */
static inline uint32_t tsl__index_tag(uint64_t hash) {
  return (uint32_t)(hash >> (64 - TSL__INDEX_TAG));
}
/* Tags in order have homes in order, whatever the size of the table. */
static inline uint32_t tsl__index_home(const tsl__index_table *t, uint32_t tag) {
  return (uint32_t)((uint64_t)tag * t->count >> TSL__INDEX_TAG);
}

/* Walk over the elements that may have this hash: for (it = tsl__index_first(ix, h); (i =
 * tsl__index_next(&it)) != UINT32_MAX;) compare. Who holds no lock may miss one, as if it were
 * added just now. */
typedef struct tsl__index_iter {
  const tsl__index *ix;
  const tsl__index_table *table;
  uint32_t at, tag;
} tsl__index_iter;

static inline tsl__index_iter tsl__index_first(const tsl__index *ix, uint64_t hash) {
  const tsl__index_table *t =
      atomic_load_explicit(&((tsl__index *)(uintptr_t)ix)->table, memory_order_acquire);
  uint32_t tag = tsl__index_tag(hash);
  return (tsl__index_iter){ix, t, t ? tsl__index_home(t, tag) : 0, tag};
}
uint32_t tsl__index_next_seldom(tsl__index_iter *it); /* the same for any table */
static inline uint32_t tsl__index_next(tsl__index_iter *it) {
  const tsl__index_table *t = it->table;
  if (!t) return UINT32_MAX;
  if (TSL__UNLIKELY(
          atomic_load_explicit(&((tsl__index_table *)(uintptr_t)t)->seldom, memory_order_acquire)))
    return tsl__index_next_seldom(it);
  for (uint32_t last = t->count - 1;;) {
    uint32_t slot = atomic_load_explicit(&tsl__index_narrow(t)[it->at], memory_order_acquire);
    if (slot == 0) return UINT32_MAX;
    it->at = (it->at + 1) & last;
    if (((slot >> TSL__INDEX_NUMBER ^ it->tag) & TSL__INDEX_COMPARED) == 0)
      return it->ix->first + (slot & TSL__INDEX_NUMBERS) - 1;
  }
}
/* Add a number, none less than `first`, whose element is complete: readers may see it at once.
 * Doubles are not looked for; that is up to the caller. False when out of memory: nothing was
 * added. Usually a few dozen instructions; a small table is now and then moved as a whole. */
bool tsl__index_add(tsl__index *ix, const tsl_allocator *a, uint64_t hash, uint32_t number);
/* Move what is left of the table before, for callers that read the slots themselves. */
void tsl__index_settle(tsl__index *ix, const tsl_allocator *a);
/* Free all tables; nobody may read any more. The index is empty, its `first` is 0. */
void tsl__index_free(tsl__index *ix, const tsl_allocator *a);
size_t tsl__index_memory(const tsl__index *ix); /* bytes held */

/* Elements by their hash: each is in its home, or in the first one behind it that was free. Zeros:
 * free. */
typedef struct tsl__frozen {
  void *at;      /* behind this, where a cache line begins */
  uint32_t last; /* elements there is room for, a power of two, less one */
  uint32_t element;
} tsl__frozen;

/* Room for n elements of so many bytes, and as many more at least; NULL when out of memory. */
tsl__frozen *tsl__frozen_new(const tsl_allocator *a, uint32_t n, uint32_t element);
void tsl__frozen_free(tsl__frozen *t, const tsl_allocator *a); /* NULL: nothing */
size_t tsl__frozen_memory(const tsl__frozen *t);               /* bytes held */

#endif
