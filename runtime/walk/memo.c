/* memo.c - see memo.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/memo.h"

/* Only the walks that the index has are complete. */
bool tsl__walks_freeze(tsl__space *space) {
  tsl__frozen *t = tsl__frozen_new(&space->alloc, space->walks.index.n, sizeof(tsl__walk));
  if (!t) return tsl__space_no_memory(space);
  tsl__index_settle(&space->walks.index, &space->alloc);
  const tsl__index_table *known =
      atomic_load_explicit(&space->walks.index.table, memory_order_relaxed);
  for (uint32_t i = 0; known && i < known->count; i++) {
    uint32_t held = (uint32_t)tsl__index_slot(known, i);
    const tsl__walk *w = held ? tsl__pool_at(&space->walks.pool, held - 1) : NULL;
    if (w && !w->follow) *tsl__memo_slot(t, w->state, w->context, w->over) = *w;
  }
  tsl__index_free(&space->walks.index, &space->alloc);
  space->warm.frozen = t;
  return true;
}

bool tsl__memo_put(tsl__space *space, const tsl__walk *w) {
  if (w->state >= space->states.first)
    tsl__state_own(space, w->state)->walked |= w->follow ? TSL__WALKED_BEFORE : TSL__WALKED_ALONE;
  return tsl__index_add(&space->walks.index, &space->alloc,
                        tsl__memo_hash_before(w->state, w->context, w->over, w->follow),
                        tsl__space_count(space, walks) - 1) ||
         tsl__space_no_memory(space);
}

const tsl__walk *tsl__memo_fetch(tsl__space *space, tsl__state state, uint32_t context,
                                 tsl__leftover over) {
  tsl__walk made;
  const tsl__walk *known = tsl__memo_find(space, state, context, over);
  if (known || !space->hook || !space->hook->states.walk ||
      !space->hook->states.walk(space->hook_ctx, state, context, over, &made))
    return known;
  tsl__walk *w = tsl__pool_add(&space->walks.pool, &space->kept);
  if (!w) return tsl__space_no_memory(space), NULL;
  *w = made;
  return tsl__memo_put(space, w) ? w : NULL;
}

/* ---- states that do nothing but call --------------------------------------------------------- */

static uint64_t calls_hash(const tsl__state_rec *r, tsl__leftover over) {
  uint64_t hash = over;
  for (uint32_t i = 0; i < r->edges; i++)
    hash = tsl__mix(hash << 32 ^ hash ^ tsl__state_edges(r)[i].to);
  return hash;
}

/* Do they call the same, and come back to the same where that matters? */
static bool calls_as(const tsl__state_rec *r, const tsl__state_rec *other, uint32_t ended) {
  if (r->edges != other->edges) return false;
  for (uint32_t i = 0; i < r->edges; i++) {
    const tsl__edge *a = &tsl__state_edges(r)[i], *b = &tsl__state_edges(other)[i];
    if (a->to != b->to || (a->push != b->push && !(ended >> i & 1))) return false;
  }
  return true;
}

/* A walk may depend on which of the grammar's own states it comes back to. Hardly another state
 * comes back to the same, and it is remembered by its number. */
bool tsl__memo_by_calls(const tsl__space *space, const tsl__state_rec *r, const tsl__walk *w) {
  for (uint32_t i = 0; i < r->edges && w->ended; i++)
    if (!(w->ended >> i & 1) &&
        tsl__target_state(tsl__state_edges(r)[i].push) >= space->states.first)
      return false;
  return w->ended;
}

const tsl__walk *tsl__memo_find_calls(const tsl__space *space, const tsl__state_rec *r,
                                      uint32_t context, tsl__leftover over) {
  tsl__index_iter it = tsl__index_first(&space->walks.index, calls_hash(r, over));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__walk *w = tsl__pool_at(&space->walks.pool, i - space->walks.first);
    /* the context is whether it is the last frame */
    const tsl__state_rec *other = w->over == over && w->context <= context && !w->follow
                                      ? tsl__state_at(space, w->state)
                                      : NULL;
    if (other && tsl__memo_calls_alone(space, other, w->state) &&
        tsl__memo_by_calls(space, other, w) && calls_as(r, other, w->ended))
      return w;
  }
  return NULL;
}

bool tsl__memo_put_calls(tsl__space *space, const tsl__state_rec *r, const tsl__walk *w) {
  return tsl__index_add(&space->walks.index, &space->alloc, calls_hash(r, w->over),
                        tsl__space_count(space, walks) - 1) ||
         tsl__space_no_memory(space);
}

/* ---- far from the least that a loop needs ---------------------------------------------------- */

/* The context of one that needs more iterations than any token has, if this one needs some. Near
 * the most that the loop allows, nobody else is at this place. */
static bool far_context(const tsl__space *space, uint32_t context, tsl__leftover over,
                        uint32_t *far) {
  if (tsl__shortcut_is_off(space, TSL__SHORTCUT_FAR) || !tsl__memo_need(context) ||
      tsl__memo_room(context) != TSL__ROOM_FREE)
    return false;
  *far = (context & ~TSL__MEMO_NEED(0x7FFFu)) | TSL__MEMO_NEED(tsl__memo_height(space, over) + 1);
  return context != *far;
}

const tsl__walk *tsl__memo_find_far(const tsl__space *space, tsl__state state, uint32_t context,
                                    tsl__leftover over) {
  uint32_t far;
  const tsl__walk *w =
      far_context(space, context, over, &far) ? tsl__memo_find(space, state, far, over) : NULL;
  return w && w->gain < tsl__memo_need(context) ? w : NULL;
}

bool tsl__memo_put_far(tsl__space *space, const tsl__walk *made) {
  uint32_t far;
  if (!far_context(space, made->context, made->over, &far) ||
      made->gain >= tsl__memo_need(made->context) ||
      tsl__memo_find(space, made->state, far, made->over))
    return true;
  tsl__walk *w = tsl__pool_add(&space->walks.pool, &space->kept);
  if (!w) return tsl__space_no_memory(space);
  *w = *made;
  w->context = far;
  return tsl__memo_put(space, w);
}
