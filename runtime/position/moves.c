/* moves.c - see moves.h: one hash table from (position, key) to 32 bits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/moves.h"

static uint64_t hash_of(tsl__stack from, tsl__move_key by) {
  return tsl__mix((uint64_t)from << 32 | by.bits);
}

static inline bool find(const tsl__space *space, tsl__stack from, tsl__move_key by,
                        uint32_t *value) {
  tsl__index_iter it = tsl__index_first(&space->moves.index, hash_of(from, by));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__move *m = tsl__space_at_of(space, moves, i, sizeof *m);
    if (m->from == from && m->by.bits == by.bits) return *value = m->value, true;
  }
  return false;
}

TSL__EACH_TOKEN bool tsl__move_find(const tsl__space *space, tsl__stack from, tsl__move_key by,
                                    uint32_t *value) {
  return find(space, from, by, value);
}

bool tsl__move_union(const tsl__space *space, tsl__stack low, tsl__stack high, tsl__stack *both) {
  return find(space, low, tsl__key_union(high), both);
}

bool tsl__move_add(tsl__space *space, tsl__stack from, tsl__move_key by, uint32_t value) {
  tsl__move *m = tsl__pool_add(&space->moves.pool, &space->kept);
  if (m) *m = (tsl__move){from, value, by};
  if (m && tsl__index_add(&space->moves.index, &space->alloc, hash_of(from, by),
                          tsl__space_count(space, moves) - 1))
    return true;
  tsl__space_no_memory(space);
  return false;
}
