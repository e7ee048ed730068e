/* state.c - see state.h.
 *
 * Example   A state reads [a-y] to state 7 and z to state 9. It has four ranges, each given by its
 *           last byte: 0x60 leads nowhere, y to 7, z to 9, 0xFF nowhere. tsl__state_fill notes the
 *           live bytes and how many there are, and merges neighbours that lead to one place. It
 *           also finds which bytes lead back to the state itself. A walk reads such bytes without a
 *           further look-up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/automaton/state.h"

const tsl__bytes tsl__no_bytes;

tsl__state tsl__state_new(tsl__space *space, uint32_t copies) {
  tsl__state first = 0;
  for (uint32_t i = 0; i < copies; i++) {
    tsl__state_rec *r = tsl__pool_add(&space->states.pool, &space->kept);
    if (!r) {
      tsl__space_no_memory(space);
      return 0;
    }
    r->self = &tsl__no_bytes;
    if (i == 0) first = tsl__space_count(space, states) - 1;
  }
  if (first >= 0x3FFFFFF0u) {
    tsl__space_fail(space, TSL_ERR_LIMIT, "too many states");
    return 0;
  }
  return first;
}

/* Notes live bytes and in *back those that lead back here, and merges equal neighbours. Returns the
 * ranges that are left. */
static uint32_t note_ranges(tsl__state_rec *r, tsl__state state, tsl__ranges *t, tsl__bytes *back) {
  uint32_t n = 0;
  unsigned from = 0;
  tsl__state self =
      state - (r->flags & TSL__STATE_LOOP ? (uint32_t)(r->flags / TSL__STATE_PHASE) : 0);
  for (uint32_t i = 0; i < t->n; i++) {
    tsl__target to = t->to[i];
    uint32_t op = tsl__target_op(to);
    if (to)
      tsl__bytes_add_range(&r->live, from, t->upper[i]),
          r->live_count += (uint16_t)(t->upper[i] + 1u - from);
    if (to && !tsl__target_is_later(to) && tsl__target_state(to) == self &&
        (op == TSL__OP_KEEP || (op == TSL__OP_CLEAR && !(r->flags & TSL__STATE_LOOP))))
      tsl__bytes_add_range(back, from, t->upper[i]);
    from = t->upper[i] + 1u;
    if (!n || t->to[n - 1] != to) t->to[n++] = to;
    t->upper[n - 1] = (uint8_t)(from - 1);
  }
  return n;
}

tsl_status tsl__state_fill(tsl__space *space, tsl__state state, tsl__ranges *ranges,
                           const tsl__edge *edges, uint32_t edge_count,
                           const tsl__token_edge *token_edges, uint32_t token_edge_count) {
  tsl__state_rec *r = tsl__state_own(space, state);
  tsl__bytes back = {{0}};
  uint32_t n = ranges->n ? note_ranges(r, state, ranges, &back) : 0;
  if (tsl__bytes_empty(&r->live)) n = 0;
  if (edge_count > UINT16_MAX || token_edge_count > UINT16_MAX)
    return tsl__space_fail(space, TSL_ERR_LIMIT, "too many calls at one place");
  size_t targets_size = n * sizeof *ranges->to, edges_size = edge_count * sizeof *edges,
         tokens_size = token_edge_count * sizeof *token_edges;
  char *block = tsl__arena_alloc(&space->arena, tokens_size + targets_size + edges_size + n);
  if (!block) return tsl__space_fail(space, TSL_ERR_NO_MEMORY, "out of memory");
  r->targets = (tsl__target *)(void *)(block + tokens_size);
  if (tokens_size) memcpy(block, token_edges, tokens_size);
  if (n) memcpy(r->targets, ranges->to, targets_size);
  if (edges_size) memcpy(r->targets + n, edges, edges_size);
  if (n) memcpy((char *)(r->targets + n) + edges_size, ranges->upper, n);
  r->ranges = (uint16_t)n;
  r->edges = (uint16_t)edge_count;
  r->token_edges = (uint16_t)token_edge_count;
  if (n == 0 && !edge_count && !token_edge_count && (r->flags & TSL__STATE_NULLABLE))
    r->flags |= TSL__STATE_FINAL;
  if (!tsl__bytes_empty(&back) && !edge_count && !token_edge_count &&
      !(r->flags & TSL__STATE_NULLABLE)) {
    const tsl__bytes *self = tsl__arena_copy(&space->arena, &back, sizeof back);
    if (!self) return tsl__space_fail(space, TSL_ERR_NO_MEMORY, "out of memory");
    r->self = self;
  }
  atomic_store_explicit(&r->expanded, 1, memory_order_release);
  return TSL_OK;
}

tsl__state tsl__state_fork(tsl__space *space, const tsl__edge *edges, uint32_t n) {
  uint64_t hash = tsl__hash(edges, n * sizeof *edges) ^ 0x666F726Bu;
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->states.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__state_rec *r = tsl__state_at(space, i);
      if ((r->flags & TSL__STATE_FORK) && r->edges == n &&
          !memcmp(tsl__state_edges(r), edges, n * sizeof *edges))
        return i;
    }
  }
  tsl__ranges none = {0};
  tsl__state s = tsl__state_new(space, 1);
  if (!s) return 0;
  tsl__state_own(space, s)->flags = TSL__STATE_FORK;
  if (tsl__state_fill(space, s, &none, edges, n, NULL, 0) != TSL_OK) return 0;
  if (!tsl__index_add(&space->states.index, &space->alloc, hash, s))
    return tsl__space_no_memory(space), 0;
  return s;
}

/* A frozen layer's state that was not expanded before the freeze gets its transitions here, in a
 * copy that stands for it. */
static tsl__state stand_in(tsl__space *space, tsl__state state) {
  uint64_t hash = tsl__mix(state ^ 0x7374616Eu);
  tsl__index_iter it = tsl__index_first(&space->stand_ins.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__stand_in *s = tsl__space_at(space, stand_ins, i);
    if (s->state == state) return s->copy;
  }
  const tsl__state_rec *r = tsl__state_at(space, state);
  tsl__state copy = tsl__state_new(space, 1);
  if (!copy) return 0;
  tsl__state_rec *c = tsl__state_own(space, copy);
  c->handle = r->handle;
  c->flags = r->flags;
  c->guarded = r->guarded;
  c->otherwise = r->otherwise;
  if (r->guarded & TSL__SAME_ITEM) c->differs = r->differs;
  if ((c->run = r->run)) c->run_class = r->run_class, c->run_then = r->run_then;
  if (r->flags & TSL__STATE_LOOP)
    c->loop_min = r->loop_min, c->loop_max = r->loop_max;
  else
    c->fixed = r->fixed;
  tsl__stand_in *s = tsl__pool_add(&space->stand_ins.pool, &space->kept);
  if (s) *s = (tsl__stand_in){state, copy};
  if (s && tsl__index_add(&space->stand_ins.index, &space->alloc, hash,
                          tsl__space_count(space, stand_ins) - 1))
    return copy;
  tsl__space_no_memory(space);
  return 0;
}

const tsl__state_rec *tsl__state_expand(tsl__space *space, tsl__state state) {
  if (space->status != TSL_OK) return NULL;
  if (!space->hook) {
    tsl__space_fail(space, TSL_ERR_STATE, "a state that was not expanded ahead of time");
    return NULL;
  }
  if (state < space->states.first) {
    tsl__state copy = stand_in(space, state);
    return copy ? tsl__state_expanded(space, copy) : NULL;
  }
  tsl_status status = space->hook->states.expand(space->hook_ctx, state);
  if (status == TSL_OK) return tsl__state_at(space, state);
  tsl__space_fail(space, status, space->hook->life.why(space->hook_ctx));
  return NULL;
}

tsl__target tsl__state_derive(tsl__space *space, const tsl__state_rec *r, uint32_t i,
                              uint8_t byte) {
  if (space->status != TSL_OK) return 0;
  tsl__target t = space->hook->states.derive(space->hook_ctx, r, byte);
  if (tsl__target_is_later(t))
    return tsl__space_fail(space, TSL_ERR_LIMIT, space->hook->life.why(space->hook_ctx)), 0;
  r->targets[i] = t;
  return t;
}

/* Ask for the next part of a hint, and note that it was. */
static void ask_hint(tsl__space *space, const tsl__state_rec *r,
                     bool (*part)(void *, const tsl__state_rec *, tsl__hint *), uint8_t hinted) {
  tsl__hint hint;
  tsl__state_rec *own = (tsl__state_rec *)(uintptr_t)r;
  if (r->ranges > 1 && part(space->hook_ctx, r, &hint)) {
    const tsl__hint *kept = tsl__arena_copy(&space->arena, &hint, sizeof hint);
    if (kept)
      own->hint = kept;
    else
      tsl__space_no_memory(space);
  }
  if (space->status == TSL_OK) own->hinted = hinted;
}

const tsl__hint *tsl__state_form(tsl__space *space, const tsl__state_rec *r) {
  if (!r->hinted && space->hook) ask_hint(space, r, space->hook->states.form, TSL__HINTED_FORM);
  return r->hint;
}

const tsl__hint *tsl__state_hint(tsl__space *space, const tsl__state_rec *r) {
  if (r->hinted == TSL__HINTED_ALL || !space->hook) return r->hint;
  tsl__state_form(space, r);
  if (space->status == TSL_OK) ask_hint(space, r, space->hook->states.letters, TSL__HINTED_ALL);
  return r->hint;
}

bool tsl__state_check(const tsl__space *space, tsl__state state) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  for (uint32_t i = 1; i < r->ranges; i++)
    if (tsl__state_upper(r)[i - 1] >= tsl__state_upper(r)[i]) return false;
  if (r->ranges && tsl__state_upper(r)[r->ranges - 1] != 255) return false;
  for (unsigned b = 0; b < 256; b++) {
    uint32_t i = 0;
    while (i < r->ranges && tsl__state_upper(r)[i] < b) i++;
    tsl__target t = i < r->ranges ? r->targets[i] : 0;
    if (t && !tsl__bytes_has(&r->live, b)) return false;
    if (!tsl__target_is_later(t) && tsl__target_state(t) >= tsl__space_count(space, states))
      return false;
  }
  return !(r->flags & TSL__STATE_LOOP) || r->loop_min <= r->loop_max;
}
