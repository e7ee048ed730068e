/* pool.c - chunks of a pool, tables of an index, frozen tables. See pool.h.
 *
 * Chunks    Two chunks have 8 elements, two 16, two 32 and so on. Chunk k has 8 << k / 2 of them,
 *           and its first element is number ((2 + k % 2) << (k / 2 + 3)) - 16.
 * Example   Chunks 0 to 4 begin with the elements 0, 8, 16, 32 and 48. Element 40 is in chunk 3,
 *           which begins with 32: it is the ninth there. The pool keeps where element 0 would lie
 *           if chunk 3 reached back to it. So the place of element 40 is one multiplication and one
 *           addition.
 * Growing   A table of the index is full when half of its slots are used. Small tables are moved at
 *           once. From 512 slots on, each entry that is added moves 8 slots of the table before. A
 *           table of 1,024 slots is so moved after 128 additions, and the one after it, of 2,048,
 *           is full only after 512. No single addition takes long.
 * Readers   A slot is written after what it leads to, with release order, and read with acquire
 *           order. A reader without a lock sees a slot as it was or as it is, and both are sound.
 *           Old tables stay until the index is freed where such readers exist.
 * Cost      Pool: one addition an element, a chunk now and then. Index: one to three slots looked
 *           at, as half of them are free.
 * Tested by tests/core/test_pool.c, tests/engine/test_fault_sites.c, and under ThreadSanitizer
 *           tests/matcher/test_race.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/pool.h"

#define SIXTEEN(k) k, k
#define THIRTY_TWO(k) SIXTEEN(k), SIXTEEN(k)
#define SIXTY_FOUR(k) THIRTY_TWO(k), THIRTY_TWO(k)

_Alignas(TSL__LINE) const uint8_t tsl__pool_chunk_of[TSL__POOL_FEW / 8] = {0,
                                                                           1,
                                                                           SIXTEEN(2),
                                                                           SIXTEEN(3),
                                                                           THIRTY_TWO(4),
                                                                           THIRTY_TWO(5),
                                                                           SIXTY_FOUR(6),
                                                                           SIXTY_FOUR(7),
                                                                           SIXTY_FOUR(8),
                                                                           SIXTY_FOUR(8),
                                                                           SIXTY_FOUR(9),
                                                                           SIXTY_FOUR(9)};

static uint32_t chunk_size(uint32_t k) { return 8u << k / 2; }
static uint32_t chunk_first(uint32_t k) { return ((2 + k % 2) << (k / 2 + 3)) - 16; }

/* Places of the first ten chunks lie in the pool itself, the others in an array that small pools do
 * not have. */
static uintptr_t *place_of(tsl__pool *p, uint32_t k) {
  return k < TSL__POOL_NEAR ? &p->near[k] : &p->far[k - TSL__POOL_NEAR];
}

#define FAR_SIZE ((TSL__POOL_CHUNKS - TSL__POOL_NEAR) * sizeof(uintptr_t))

/* A chunk is not cleared as a whole: add_first clears the next elements, about a KiB at a time. */
static bool add_chunk(tsl__pool *p, const tsl_allocator *a) {
  uint32_t k = tsl__pool_chunk(p->n);
  if (k >= TSL__POOL_CHUNKS) return false;
  if (k >= TSL__POOL_NEAR && !p->far && !(p->far = tsl__alloc_zero(a, FAR_SIZE))) return false;
  void *chunk = tsl__alloc(a, (size_t)chunk_size(k) * p->element);
  if (!chunk) return false;
  *place_of(p, k) = (uintptr_t)chunk - (uintptr_t)chunk_first(k) * p->element;
  p->next = chunk;
  p->rest = chunk_size(k);
#ifdef TSL__WATCHED_MEMORY
  p->held[k] = chunk;
#endif
  return true;
}

static inline void *add(tsl__pool *p) {
  void *at = p->next;
  p->next += p->element;
  p->room--;
  p->n++;
  return at;
}

/* bytes, about, that are set to zero at once: of a large chunk all would take longer than what the
 * element is for */
#define CLEARED 1024u

/* The first element of a stretch that is not cleared yet, or of a new chunk. */
static TSL__SELDOM void *add_first(tsl__pool *p, const tsl_allocator *a) {
  if (!p->rest && !add_chunk(p, a)) return NULL;
  uint32_t some = CLEARED / p->element + 1;
  p->room = some < p->rest ? some : p->rest;
  p->rest -= p->room;
  memset(p->next, 0, (size_t)p->room * p->element);
  return add(p);
}

void *tsl__pool_add(tsl__pool *p, const tsl_allocator *a) {
  return TSL__LIKELY(p->room) ? add(p) : add_first(p, a);
}

void tsl__pool_free(tsl__pool *p, const tsl_allocator *a) {
  for (uint32_t k = 0; k < TSL__POOL_CHUNKS && chunk_first(k) < p->n; k++)
    tsl__free(a, tsl__pool_at(p, chunk_first(k)), (size_t)chunk_size(k) * p->element);
  tsl__free(a, p->far, FAR_SIZE);
  tsl__pool_init(p, p->element);
}

/* ---- index ----------------------------------------------------------------------------------- */

static size_t table_bytes(uint32_t count, bool slots_64) {
  return sizeof(tsl__index_table) +
         (size_t)count * (slots_64 ? sizeof(uint64_t) : sizeof(uint32_t));
}

/* A slot into its home or the first free one behind it. */
static inline void put(tsl__index_table *t, uint32_t tag, uint32_t held) {
  uint32_t i = tsl__index_home(t, tag), last = t->count - 1;
  if (TSL__UNLIKELY(t->slots_64)) {
    while (atomic_load_explicit(&tsl__index_big(t)[i], memory_order_relaxed)) i = (i + 1) & last;
    atomic_store_explicit(&tsl__index_big(t)[i], (uint64_t)tag << 32 | held, memory_order_release);
  } else {
    while (atomic_load_explicit(&tsl__index_narrow(t)[i], memory_order_relaxed)) i = (i + 1) & last;
    atomic_store_explicit(&tsl__index_narrow(t)[i], tag << TSL__INDEX_NUMBER | held,
                          memory_order_release);
  }
}

#define MOVED 64u
#define FIRST 32u       /* slots of an index's first table */
#define KEPT_FIRST 128u /* where all tables are kept: fewer of them */
/* slots below which a table grows to four times its size: moving its entries costs more than the
 * space */
#define FOURFOLD 256u
/* slots from which a table's entries are not moved at once, which would take longer than all else
 * that is done for a token */
#define GRADUAL 512u
/* slots that are moved with each entry that is added: more than two, so that the table before is
 * empty when this one is full */
#define MOVED_EACH 8u

/* The entries of some slots of a table into a larger one. Half of the slots are free, at random:
 * the entries are collected first, without a branch. */
static void move_narrow(const tsl__index_table *from, tsl__index_table *to, uint32_t i,
                        uint32_t all) {
  _Atomic(uint32_t) *before = tsl__index_narrow(from), *slots = tsl__index_narrow(to);
  uint32_t some[MOVED], last = to->count - 1;
  while (i < all) {
    uint32_t n = 0;
    for (uint32_t end = all - i > MOVED ? i + MOVED : all; i < end; i++) {
      some[n] = atomic_load_explicit(&before[i], memory_order_relaxed);
      n += some[n] != 0;
    }
    for (uint32_t k = 0; k < n; k++) {
      uint32_t at = tsl__index_home(to, some[k] >> TSL__INDEX_NUMBER);
      while (atomic_load_explicit(&slots[at], memory_order_relaxed)) at = (at + 1) & last;
      atomic_store_explicit(&slots[at], some[k], memory_order_release);
    }
  }
}

/* As move_narrow, for tables of which one has slots of 64 bits. */
static void move_entries(const tsl__index_table *from, tsl__index_table *to, uint32_t i,
                         uint32_t all) {
  if (!to->slots_64) {
    move_narrow(from, to, i, all);
    return;
  }
  for (; i < all; i++) {
    uint64_t slot = tsl__index_slot(from, i);
    if (slot) put(to, (uint32_t)(slot >> 32), (uint32_t)slot);
  }
}

/* So many slots more of the table before. When all are moved nobody looks there any more. */
static void move_on(tsl__index *ix, const tsl_allocator *a, tsl__index_table *t, uint32_t n) {
  tsl__index_table *old = t->older;
  uint32_t from = atomic_load_explicit(&ix->moved, memory_order_relaxed),
           all = old->count - from > n ? from + n : old->count;
  move_entries(old, t, from, all);
  atomic_store_explicit(&ix->moved, all, memory_order_relaxed);
  if (all < old->count) return;
  atomic_store_explicit(&t->moving, false, memory_order_release);
  atomic_store_explicit(&t->seldom, t->slots_64, memory_order_release);
  if (ix->read_unlocked) return;
  t->older = old->older;
  tsl__free(a, old, table_bytes(old->count, old->slots_64));
}

static inline bool is_moving(const tsl__index_table *t) {
  return atomic_load_explicit(&((tsl__index_table *)(uintptr_t)t)->moving, memory_order_acquire);
}

void tsl__index_settle(tsl__index *ix, const tsl_allocator *a) {
  tsl__index_table *t = atomic_load_explicit(&ix->table, memory_order_relaxed);
  if (t && is_moving(t)) move_on(ix, a, t, t->older->count);
}

/* First the table, then the one before as far as its entries were not moved yet. */
uint32_t tsl__index_next_seldom(tsl__index_iter *it) {
  const tsl__index *ix = it->ix;
  const tsl__index_table *newest =
      atomic_load_explicit(&((tsl__index *)(uintptr_t)ix)->table, memory_order_acquire);
  bool moving = is_moving(it->table);
  for (;;) {
    uint32_t at = it->at;
    uint64_t slot = tsl__index_slot(it->table, at);
    it->at = (at + 1) & (it->table->count - 1);
    bool is_left =
        it->table == newest ||
        at >= atomic_load_explicit(&((tsl__index *)(uintptr_t)ix)->moved, memory_order_relaxed);
    if (slot && is_left && (((uint32_t)(slot >> 32) ^ it->tag) & TSL__INDEX_COMPARED) == 0)
      return ix->first + (uint32_t)slot - 1;
    if (slot) continue;
    if (!moving) return UINT32_MAX;
    moving = false;
    it->table = it->table->older;
    it->at = tsl__index_home(it->table, it->tag);
  }
}

/* Half of the slots are used at most. */
static bool is_full(const tsl__index *ix, const tsl__index_table *t) {
  return (uint64_t)ix->n * 2 >= t->count;
}

/* A new table, empty or with all of the old entries, then published. It has the old size where only
 * the slots become wider. */
static tsl__index_table *grow(tsl__index *ix, const tsl_allocator *a, tsl__index_table *old,
                              bool slots_64) {
  uint32_t count = ix->read_unlocked ? KEPT_FIRST : FIRST;
  tsl__index_settle(ix, a);
  if (old)
    count = !is_full(ix, old)       ? old->count
            : old->count < FOURFOLD ? old->count * 4
                                    : old->count * 2;
  tsl__index_table *t = tsl__alloc_zero(a, table_bytes(count, slots_64));
  if (!t) return NULL;
  t->count = count;
  t->slots_64 = slots_64;
  t->older = old;
  atomic_store_explicit(&ix->moved, 0, memory_order_relaxed);
  atomic_store_explicit(&t->moving, old != NULL, memory_order_relaxed);
  atomic_store_explicit(&t->seldom, slots_64 || old, memory_order_relaxed);
  if (old && old->count < GRADUAL) move_on(ix, a, t, old->count);
  atomic_store_explicit(&ix->table, t, memory_order_release);
  return t;
}

static TSL__SELDOM bool add_grown(tsl__index *ix, const tsl_allocator *a, tsl__index_table *old,
                                  uint64_t hash, uint32_t held) {
  tsl__index_table *t = grow(ix, a, old, held > TSL__INDEX_NUMBERS || (old && old->slots_64));
  if (!t) return false;
  put(t, tsl__index_tag(hash), held);
  ix->n++;
  return true;
}

/* The usual case first: there is a table, it has room, and the number fits into its slots. */
bool tsl__index_add(tsl__index *ix, const tsl_allocator *a, uint64_t hash, uint32_t number) {
  tsl__index_table *t = atomic_load_explicit(&ix->table, memory_order_relaxed);
  uint32_t held = number - ix->first + 1;
  if (TSL__UNLIKELY(!t || is_full(ix, t) || (held > TSL__INDEX_NUMBERS && !t->slots_64)))
    return add_grown(ix, a, t, hash, held);
  if (TSL__UNLIKELY(is_moving(t))) move_on(ix, a, t, MOVED_EACH);
  put(t, tsl__index_tag(hash), held);
  ix->n++;
  return true;
}

void tsl__index_free(tsl__index *ix, const tsl_allocator *a) {
  for (tsl__index_table *t = atomic_load(&ix->table), *older; t; t = older) {
    older = t->older;
    tsl__free(a, t, table_bytes(t->count, t->slots_64));
  }
  memset(ix, 0, sizeof *ix);
}

size_t tsl__index_memory(const tsl__index *ix) {
  size_t n = 0;
  for (const tsl__index_table *t = atomic_load(&((tsl__index *)(uintptr_t)ix)->table); t;
       t = t->older)
    n += table_bytes(t->count, t->slots_64);
  return n;
}

/* ---- frozen ---------------------------------------------------------------------------------- */

#define FROZEN_LEAST 16u

static size_t frozen_size(uint32_t last, uint32_t element) {
  return sizeof(tsl__frozen) + TSL__LINE + ((size_t)last + 1) * element;
}

/* The number of elements is rounded up so that half of the table stays free, and the elements begin
 * at a line of the caches. */
tsl__frozen *tsl__frozen_new(const tsl_allocator *a, uint32_t n, uint32_t element) {
  uint32_t last = FROZEN_LEAST - 1;
  while (last / 2 < n) last = last * 2 + 1;
  tsl__frozen *t = tsl__alloc_zero(a, frozen_size(last, element));
  if (t) *t = (tsl__frozen){tsl__at_line(t + 1), last, element};
  return t;
}

void tsl__frozen_free(tsl__frozen *t, const tsl_allocator *a) {
  if (t) tsl__free(a, t, frozen_size(t->last, t->element));
}

size_t tsl__frozen_memory(const tsl__frozen *t) { return t ? frozen_size(t->last, t->element) : 0; }
