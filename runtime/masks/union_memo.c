/* union_memo.c - see union_memo.h.
 *
 * Example   A position may go on with masks 3, 17 and the token 5. The parts are listed, and
 *           filled up with zeros: {3, 17, 5 as a token, 0 …}. Equal parts are equal bytes, so one
 *           comparison of memory decides. Mask 17 is of this grammar's own layer: the layer below
 *           cannot know the union, and is not looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/masks/union_memo.h"

typedef struct slot {
  tsl__union u; /* no parts: free */
  char rest[TSL__LINE - sizeof(tsl__union)];
} slot;
_Static_assert(sizeof(slot) == TSL__LINE, "a union lies in one line");

static uint64_t hash_of(const tsl__union *u) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < TSL__UNION_MAX && u->parts[i]; i += 2)
    hash = tsl__mix(hash + ((uint64_t)u->parts[i] << 32 | u->parts[i + 1]));
  return hash;
}

static bool is_same(const tsl__union *a, const tsl__union *b) {
  return !memcmp(a->parts, b->parts, sizeof a->parts);
}

/* Where it lies, or would. */
static tsl__union *frozen_slot(const tsl__frozen *t, const tsl__union *u, uint64_t hash) {
  for (uint64_t i = hash;; i++) {
    tsl__union *at = &((slot *)t->at)[i & t->last].u;
    if (!at->parts[0] || is_same(at, u)) return at;
  }
}

static tsl__mask find_in(const tsl__space *layer, const tsl__union *u, uint64_t hash) {
  if (layer->warm.frozen_unions) return frozen_slot(layer->warm.frozen_unions, u, hash)->all;
  tsl__index_iter it = tsl__index_first(&layer->unions.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__union *known =
        tsl__pool_at_of(&layer->unions.pool, i - layer->unions.first, sizeof *known);
    if (is_same(known, u)) return known->all;
  }
  return 0;
}

/* Is a mask among them of this layer? Then the one below can't know it. */
static bool has_own(const tsl__space *space, const tsl__union *u) {
  for (uint32_t i = 0; i < TSL__UNION_MAX && u->parts[i] && !(u->parts[i] & TSL__UNION_TOKEN); i++)
    if (u->parts[i] >= space->masks.first) return true;
  return false;
}

tsl__mask tsl__union_find(const tsl__space *space, const tsl__union *u, uint64_t *hash) {
  *hash = hash_of(u);
  tsl__mask below = space->parent && !has_own(space, u) ? find_in(space->parent, u, *hash) : 0;
  return below ? below : find_in(space, u, *hash);
}

bool tsl__union_add(tsl__space *space, const tsl__union *u, uint64_t hash) {
  tsl__union *fresh = tsl__pool_add(&space->unions.pool, &space->kept);
  if (fresh) *fresh = *u;
  return (fresh && tsl__index_add(&space->unions.index, &space->alloc, hash,
                                  tsl__space_count(space, unions) - 1)) ||
         tsl__space_no_memory(space);
}

bool tsl__union_freeze(tsl__space *space) {
  tsl__frozen *t = tsl__frozen_new(&space->alloc, space->unions.pool.n, sizeof(slot));
  if (!t) return tsl__space_no_memory(space);
  for (uint32_t i = 1; i < space->unions.pool.n; i++) {
    const tsl__union *u = tsl__pool_at(&space->unions.pool, i);
    *frozen_slot(t, u, hash_of(u)) = *u;
  }
  tsl__index_free(&space->unions.index, &space->alloc);
  space->warm.frozen_unions = t;
  return true;
}
