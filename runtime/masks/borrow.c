/* borrow.c - see borrow.h.
 *
 * Example   The first host that borrows mask 12 gets its words copied into the matcher's own row.
 *           The second time the mask gets a row that all may read, and later ones get its address:
 *           no word is copied any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/masks/borrow.h"

#define PATCHES_MAX 2048u /* of two masks together: past, copying is faster */

static size_t bytes_of(const tsl__space *space) {
  return tsl_vocab_mask_words(space->vocab) * sizeof(uint32_t);
}

void tsl__borrowed_free(const tsl__space *space, tsl__borrowed *b, const tsl_allocator *a) {
  for (uint32_t i = 0; i < TSL__BORROWED; i++)
    tsl__free(a, b->bits[i], b->bits[i] ? bytes_of(space) : 0);
  memset(b, 0, sizeof *b);
}

static bool based(const tsl__space *space, const tsl__mask_rec *r, tsl_token t) {
  for (uint32_t i = 0; i < r->base_count; i++)
    if (tsl__mask_bit(tsl__bitset_at(space, tsl__mask_bases(r)[i]), t)) return true;
  return false;
}

static uint32_t patches(const tsl__mask_rec *r) { return r->minus_count + r->plus_count; }

static bool same_bases(const tsl__mask_rec *a, const tsl__mask_rec *b) {
  return a->base_count == b->base_count &&
         (!a->base_count || !memcmp(tsl__mask_bases(a), tsl__mask_bases(b),
                                    a->base_count * sizeof *tsl__mask_bases(a)));
}

/* The words hold one mask and shall hold another of the same bitsets. */
static void rewrite(const tsl__space *space, const tsl__mask_rec *from, const tsl__mask_rec *to,
                    uint32_t *bits) {
  tsl_token tokens[TSL__JOINED_MAX];
  tsl__patches_read(tsl__mask_minus(from), tokens);
  for (uint32_t i = 0; i < from->minus_count; i++) tsl__mask_bit_set(bits, tokens[i]);
  tsl__patches_read(tsl__mask_plus(from), tokens);
  for (uint32_t i = 0; i < from->plus_count; i++)
    if (!based(space, from, tokens[i])) tsl__mask_bit_clear(bits, tokens[i]);
  tsl__mask_patch(to, bits);
}

size_t tsl__rows_memory(const tsl__space *space) {
  return atomic_load_explicit(&((tsl__space *)(uintptr_t)space)->rows, memory_order_relaxed) *
         bytes_of(space);
}

void tsl__rows_free(tsl__space *space) {
  for (uint32_t i = 0;
       i < space->masks.pool.n && atomic_load_explicit(&space->rows, memory_order_relaxed); i++) {
    tsl__mask_rec *r = tsl__pool_at(&space->masks.pool, i);
    if (!r->shared)
      tsl__free(&space->alloc, atomic_load_explicit(&r->row, memory_order_relaxed),
                bytes_of(space));
  }
}

/* Is there memory for the row that `rows` counts already? Where the lock is somebody else's, the
 * tables may be growing: then there is none for now. */
static bool has_room(tsl__space *space, tsl__mutex *lock) {
  if (!tsl__mutex_try(lock)) return false;
  bool room = tsl__space_memory(space) <= space->work.max_memory;
  tsl__mutex_unlock(lock);
  return room;
}

/* A row for a mask, if there is still room for one; NULL: there is none, or no memory. */
static const uint32_t *make_row(tsl__space *space, tsl__mutex *lock, tsl__mask_rec *r) {
  uint32_t *none = NULL, *row = NULL;
  bool room = atomic_fetch_add_explicit(&space->rows, 1, memory_order_relaxed) < TSL__ROWS &&
              has_room(space, lock);
  if (room && (row = tsl__alloc(&space->alloc, bytes_of(space)))) {
    tsl__mask_write(space, r, row);
    if (atomic_compare_exchange_strong_explicit(&r->row, &none, row, memory_order_acq_rel,
                                                memory_order_acquire))
      return row;
    tsl__free(&space->alloc, row, bytes_of(space)); /* another thread was faster */
  }
  atomic_fetch_sub_explicit(&space->rows, 1, memory_order_relaxed);
  return none;
}

/* The row of a mask, made the second time that it is requested; NULL: it has none. */
static const uint32_t *row_of(const tsl__space *layer, tsl__mutex *lock,
                              const tsl__mask_rec *mask) {
  tsl__space *space = (tsl__space *)(uintptr_t)layer;
  tsl__mask_rec *r = (tsl__mask_rec *)(uintptr_t)mask;
  const uint32_t *row = atomic_load_explicit(&r->row, memory_order_acquire);
  /* of the vocabulary's layer, which has those alone that are made for all
   * (runtime/walk/shared_walks.h) */
  if (mask->number < space->masks.first) return row;
  if (row || atomic_load_explicit(&space->rows, memory_order_relaxed) >= TSL__ROWS) return row;
  return atomic_fetch_add_explicit(&r->lent, 1, memory_order_relaxed) ? make_row(space, lock, r)
                                                                      : NULL;
}

/* A place to write to: one not used yet, else the oldest. TSL__BORROWED when out of memory. */
static uint32_t give_up_one(const tsl__space *space, tsl__borrowed *b, const tsl_allocator *a) {
  uint32_t i = b->oldest;
  if (!b->bits[i] && !(b->bits[i] = tsl__alloc(a, bytes_of(space)))) return TSL__BORROWED;
  b->oldest = (i + 1) % TSL__BORROWED;
  b->mask[i] = NULL;
  return i;
}

uint32_t *tsl__borrow_words(const tsl__space *space, tsl__borrowed *b, const tsl_allocator *a) {
  uint32_t i = give_up_one(space, b, a);
  return i < TSL__BORROWED ? b->bits[i] : NULL;
}

const uint32_t *tsl__borrow(const tsl__space *space, tsl__mutex *lock, tsl__borrowed *b,
                            const tsl_allocator *a, const tsl__mask_rec *mask) {
  if (mask->base_count == 1 && patches(mask) == 0) return mask->first; /* shared, never changed */
  for (uint32_t i = 0; i < TSL__BORROWED; i++)
    if (b->mask[i] == mask) return b->bits[i];
  const uint32_t *row = row_of(space, lock, mask);
  if (row) return row;
  for (uint32_t i = 0; i < TSL__BORROWED; i++) {
    const tsl__mask_rec *from = b->mask[i];
    if (!from || !same_bases(from, mask) || patches(from) + patches(mask) > PATCHES_MAX) continue;
    rewrite(space, from, mask, b->bits[i]);
    b->mask[i] = mask;
    return b->bits[i];
  }
  uint32_t i = give_up_one(space, b, a);
  if (i == TSL__BORROWED) return NULL;
  tsl__mask_write(space, mask, b->bits[i]);
  b->mask[i] = mask;
  return b->bits[i];
}
