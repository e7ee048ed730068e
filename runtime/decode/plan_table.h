/* plan_table.h - what the files of plans share: the grammar's tables behind a planner, and the plan
 * of a position.
 *
 * Plans lie in a pool and are found by their position: an index has the hash of the position's
 * number. A planner works under the grammar's lock, and a failure is kept as the sticky status of
 * the grammar's tables. So a function here that fails says so there, and its callers look at
 * tsl__plan_fine before they use what they computed.
 *
 * Example   Position 17 has plan number 3: the index finds 3 under the hash of 17, and the plan's
 *           own `at` confirms it. Another position with the same hash has another `at`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_DECODE_PLAN_TABLE_H
#define TSL_RUNTIME_DECODE_PLAN_TABLE_H

#include "runtime/decode/plan.h"

/* The tables that the planner's positions are in. */
static inline tsl__space *tsl__plan_space(const tsl__planner *p) { return p->grammar->space; }
/* Has nothing failed so far? */
static inline bool tsl__plan_fine(const tsl__planner *p) {
  return tsl__plan_space(p)->status == TSL_OK;
}
/* Note that an allocation failed. */
static inline void tsl__plan_no_memory(const tsl__planner *p) {
  tsl__space_fail(tsl__plan_space(p), TSL_ERR_NO_MEMORY, "out of memory");
}

/* The plan of a position; NULL: none was made yet. */
static inline tsl__plan *tsl__plan_find(const tsl__planner *p, tsl__stack at) {
  tsl__index_iter it = tsl__index_first(&p->index, tsl__mix(at));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    tsl__plan *plan = tsl__pool_at(&p->plans, i);
    if (plan->at == at) return plan;
  }
  return NULL;
}

/* May items be forgotten at the beginning of a token? */
static inline bool tsl__plan_begins_whole(const tsl__planner *p) {
  return !p->exactly && (tsl__plan_space(p)->positions.watches & TSL__NEW_ITEM);
}

#endif
