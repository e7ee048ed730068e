/* quota.c - see quota.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/quota.h"

#include "runtime/position/distinct.h"

static const tsl__cell *cell_of(const tsl__space *s, tsl__stack at, uint32_t i) {
  return tsl__stack_cell(s, tsl__stack_at(s, at), i);
}

/* ---- states ---------------------------------------------------------------------------------- */

typedef TSL__VEC(tsl__state) state_list;

static bool listed(const state_list *list, tsl__state state) {
  for (size_t i = 0; i < list->n; i++)
    if (list->at[i] == state) return true;
  return false;
}

/* A target, in all phases of its loop. */
static bool add_target(tsl__space *space, state_list *list, tsl__target t) {
  tsl__state first = tsl__target_state(t);
  bool loop = tsl__state_at(space, first)->flags & TSL__STATE_LOOP;
  for (tsl__state s = first; s < first + (loop ? 3u : 1u); s++)
    if (!listed(list, s) && !tsl__vec_push(&space->alloc, list, s)) return false;
  return true;
}

static bool add_all(tsl__space *space, state_list *list, tsl__state from) {
  const tsl__state_rec *r = tsl__state_expanded(space, from);
  bool fine = r != NULL;
  for (unsigned b = 0; fine && b < 256; b++) {
    tsl__target t = tsl__state_step(space, r, (uint8_t)b);
    fine = space->status == TSL_OK && (!t || add_target(space, list, t));
  }
  for (uint32_t i = 0; fine && (r->flags & TSL__STATE_FORK) && i < r->edges; i++)
    fine = add_target(space, list, tsl__state_edges(r)[i].to);
  return fine;
}

bool tsl__quota_explore(tsl__space *space, tsl__quota *quota) {
  state_list list = {0};
  bool fine = add_target(space, &list, quota->first);
  for (size_t i = 0; fine && i < list.n; i++) fine = add_all(space, &list, list.at[i]);
  if (fine) {
    quota->count = (uint32_t)tsl__sort_unique(list.at, list.n);
    quota->states = tsl__arena_copy(&space->arena, list.at, quota->count * sizeof *list.at);
  }
  tsl__vec_free(&space->alloc, &list);
  if (!fine || !quota->states) tsl__space_no_memory(space);
  return space->status == TSL_OK;
}

static bool has(const tsl__quota *quota, tsl__state state) {
  uint32_t lo = 0, hi = quota->count;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (quota->states[mid] < state)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < quota->count && quota->states[lo] == state;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* The quota whose frame a cell is, + 1; 0: none. */
static uint32_t quota_of(const tsl_grammar *g, const tsl__cell *c) {
  for (uint32_t z = 0; z < g->quota_count; z++)
    if (has(&g->quotas[z], c->state)) return z + 1;
  return 0;
}

/* A position without its distinct record (runtime/position/distinct.h). */
static tsl__stack plain_of(const tsl_grammar *g, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(g->space, at);
  return r->has_distinct ? tsl__with_distinct_at(g->space, at)->plain : at;
}

/* The quota of a position, + 1. */
static uint32_t quota_at(const tsl_grammar *g, tsl__stack at) {
  uint32_t quota = 0;
  at = plain_of(g, at);
  for (uint32_t i = 0; i < tsl__stack_at(g->space, at)->n && !quota; i++)
    quota = quota_of(g, cell_of(g->space, at, i));
  return quota;
}

static bool whole(const tsl__space *s, const tsl__cell *c) {
  return tsl__state_at(s, c->state)->flags & TSL__STATE_NULLABLE;
}

/* No frame of the quota may stay. Can all of them end here? */
static bool may_leave(const tsl_grammar *g, tsl__stack at, uint32_t quota) {
  at = plain_of(g, at);
  const tsl__stack_rec *r = tsl__stack_at(g->space, at);
  for (uint32_t i = 0; i < r->n; i++)
    if (quota_of(g, cell_of(g->space, at, i)) == quota &&
        !whole(g->space, cell_of(g->space, at, i)))
      return false;
  return true;
}

/* The position without the quota's frames: what lies below them instead. Needs the lock. */
static tsl__stack leave(const tsl_grammar *g, tsl__stack at, uint32_t quota) {
  tsl__space *space = g->space;
  tsl__stepping s = tsl__step_new(space);
  tsl__stack plain = plain_of(g, at);
  uint32_t n = tsl__stack_at(space, plain)->n;
  for (uint32_t i = 0; i < n && space->status == TSL_OK; i++) {
    const tsl__cell c = *cell_of(space, plain, i);
    bool stays = quota_of(g, &c) != quota;
    tsl__step_land(space, &s, stays ? c.state : g->quotas[quota - 1].over, stays ? c.count : 0,
                   c.tail);
  }
  tsl__stack to = tsl__step_collect(space, &s);
  tsl__step_free(space, &s);
  return to; /* free text holds no open array or object: nothing is remembered */
}

/* Does the quota begin with the token, or later in it? A frame is entered when its first byte is
 * read. */
static bool begins_with(tsl_grammar *g, tsl__stack from, uint8_t first, uint32_t quota) {
  if (quota_at(g, from) == quota) return true;
  tsl__stack to = tsl__stack_byte(g->space, plain_of(g, from), first);
  return to && quota_at(g, to) == quota;
}

tsl_status tsl__quota_step(tsl_grammar *g, tsl__stack from, uint8_t first, tsl__stack *to,
                           uint32_t *count) {
  uint32_t quota = g->quota_count && *to ? quota_at(g, *to) : 0, before = *count;
  *count = 0;
  if (!quota) return TSL_OK;
  bool inside = quota == quota_at(g, from);
  uint32_t max = g->quotas[quota - 1].max_tokens, now = inside ? before + 1 : 0;
  if (inside && now < max) return *count = now, TSL_OK;
  tsl__grammar_lock(g);
  if (!inside) now = begins_with(g, from, first, quota);
  bool over = now >= max && may_leave(g, *to, quota);
  tsl__stack left = over ? leave(g, *to, quota) : *to;
  tsl_status status = tsl__grammar_unlock(g);
  if (status == TSL_OK) *to = left;
  *count = over ? 0 : now;
  return status;
}

bool tsl__quota_finishing(const tsl_grammar *g, tsl__stack at, uint32_t count) {
  uint32_t quota = g->quota_count ? quota_at(g, at) : 0;
  return quota && count >= g->quotas[quota - 1].max_tokens;
}

static bool finishes(uint8_t byte) { return (byte & 0xC0) == 0x80; }

bool tsl__quota_finishes(const tsl_grammar *g, tsl_token token) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(g->vocab, token, &n);
  for (size_t i = 0; i < n; i++)
    if (!finishes(bytes[i])) return false;
  return n > 0;
}

tsl_status tsl__quota_finish(tsl_grammar *g, tsl__stack *at, uint32_t *count, const uint8_t *bytes,
                             size_t length, size_t *read) {
  tsl_status status = TSL_OK;
  for (*read = 0;
       *read < length && *at && status == TSL_OK && tsl__quota_finishing(g, *at, *count);) {
    tsl__stack from = *at;
    uint8_t byte = bytes[*read];
    tsl__grammar_lock(g);
    *at = finishes(byte) ? tsl__stack_byte(g->space, from, byte) : 0;
    status = tsl__grammar_unlock(g);
    if (status == TSL_OK) status = tsl__quota_step(g, from, byte, at, count);
    *read += *at != 0;
  }
  return status;
}

void tsl__quota_finishers(const tsl_grammar *g, uint32_t *mask) {
  for (size_t w = 0; w < tsl_vocab_mask_words(g->vocab); w++)
    for (uint32_t left = mask[w]; left; left &= left - 1) {
      uint32_t bit = (uint32_t)__builtin_ctz(left);
      if (!tsl__quota_finishes(g, (tsl_token)(w * 32 + bit))) mask[w] &= ~(1u << bit);
    }
}
