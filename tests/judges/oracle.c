/* oracle.c - see oracle.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/oracle.h"

#include "runtime/walk/names.h"

#include <stdlib.h>

static void set_free(oracle_set *s) {
  for (uint32_t i = 0; i < s->n; i++) free(s->at[i].at);
  free(s->at);
  *s = (oracle_set){0};
}

static bool set_has(const oracle_set *s, const oracle_frame *at, uint32_t n) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i].n == n && !memcmp(s->at[i].at, at, n * sizeof *at)) return true;
  return false;
}

/* Add a stack made of the first `n` frames of `at` and one more; false if it was there. */
static bool set_add(oracle *o, oracle_set *s, const oracle_frame *at, uint32_t n,
                    const oracle_frame *top) {
  oracle_frame *copy = malloc((n + 1) * sizeof *copy);
  if (n) memcpy(copy, at, n * sizeof *copy);
  if (top) copy[n++] = *top;
  if (set_has(s, copy, n) || s->n >= ORACLE_STACKS_MAX) {
    o->overflow |= s->n >= ORACLE_STACKS_MAX;
    free(copy);
    return false;
  }
  if (s->n == s->cap) s->at = realloc(s->at, (s->cap = s->cap ? s->cap * 2 : 8) * sizeof *s->at);
  s->at[s->n++] = (oracle_stack){copy, n};
  return true;
}

/* Is a stack alive whose top frame spells a name? One of its names must be allowed by the frame
 * below. */
static bool name_allowed(oracle *o, const oracle_frame *at, uint32_t n) {
  const tsl__state_rec *r = tsl__state_at(o->space, at[n - 1].state);
  if (!(r->flags & TSL__STATE_KEYED)) return true;
  for (uint32_t i = 0; i < r->keyed->n; i++)
    for (uint32_t k = r->keyed->range[i].lo; k < r->keyed->range[i].hi; k++)
      if (o->space->hook->names.allows(o->space->hook_ctx, at[n - 2].state, k)) return true;
  return false;
}

/* The frame below a name that is spelled, going on. */
static oracle_frame after_name(oracle *o, const oracle_frame *at, uint32_t n) {
  oracle_frame f;
  uint32_t name = tsl__state_at(o->space, at[n - 1].state)->keyed->range[0].lo;
  f.state = tsl__target_resolve(
      o->space, o->space->hook->names.resume(o->space->hook_ctx, at[n - 2].state, name), 0,
      &f.count);
  return f;
}

/* Everything that can be reached without reading: ended frames popped, calls pushed, forks split.
 * The set grows while it is walked over. */
static void close_set(oracle *o, oracle_set *s) {
  for (uint32_t i = 0; i < s->n && !o->overflow; i++) {
    oracle_stack k = s->at[i];
    if (k.n == 0) continue;
    oracle_frame top = k.at[k.n - 1];
    const tsl__state_rec *r = tsl__state_expanded(o->space, top.state);
    if (!r) return;
    if (r->flags & TSL__STATE_NULLABLE && r->flags & TSL__STATE_KEYED) {
      oracle_frame then = after_name(o, k.at, k.n);
      set_add(o, s, k.at, k.n - 2, &then);
      continue;
    }
    if (r->flags & TSL__STATE_NULLABLE) set_add(o, s, k.at, k.n - 1, NULL);
    for (uint32_t e = 0; e < r->edges; e++) {
      oracle_frame back, callee;
      callee.state =
          tsl__target_resolve(o->space, tsl__state_edges(r)[e].to,
                              tsl__state_edges(r)[e].push ? 0 : top.count, &callee.count);
      if (!tsl__state_edges(r)[e].push) {
        set_add(o, s, k.at, k.n - 1, &callee);
        continue;
      }
      back.state =
          tsl__target_resolve(o->space, tsl__state_edges(r)[e].push, top.count, &back.count);
      oracle_frame *grown = malloc((k.n + 1) * sizeof *grown);
      memcpy(grown, k.at, k.n * sizeof *grown);
      grown[k.n - 1] = back;
      set_add(o, s, grown, k.n, &callee);
      free(grown);
    }
  }
}

void oracle_begin(oracle *o, tsl__space *space, tsl__state start) {
  *o = (oracle){.space = space};
  oracle_frame f = {start, 0};
  set_add(o, &o->now, NULL, 0, &f);
  close_set(o, &o->now);
}

void oracle_free(oracle *o) { set_free(&o->now); }

static oracle_set step(oracle *o, const oracle_set *from, uint8_t byte) {
  oracle_set to = {0};
  for (uint32_t i = 0; i < from->n; i++) {
    oracle_stack k = from->at[i];
    if (k.n == 0) continue;
    tsl__target t =
        tsl__state_step(o->space, tsl__state_expanded(o->space, k.at[k.n - 1].state), byte);
    if (!t) continue;
    oracle_frame f;
    f.state = tsl__target_resolve(o->space, t, k.at[k.n - 1].count, &f.count);
    oracle_frame before = k.at[k.n - 1];
    k.at[k.n - 1] = f; /* looked at in place */
    bool alive = name_allowed(o, k.at, k.n);
    k.at[k.n - 1] = before;
    if (alive) set_add(o, &to, k.at, k.n - 1, &f);
  }
  close_set(o, &to);
  return to;
}

/* Frames that name the token. */
static void step_named(oracle *o, const oracle_set *from, tsl_token token, oracle_set *to) {
  for (uint32_t i = 0; i < from->n; i++) {
    oracle_stack k = from->at[i];
    if (k.n == 0) continue;
    const tsl__state_rec *r = tsl__state_expanded(o->space, k.at[k.n - 1].state);
    for (uint32_t e = 0; e < r->token_edges; e++) {
      bool listed = false;
      for (uint32_t q = 0; q < tsl__state_token_edges(r)[e].count; q++)
        listed |= tsl__state_token_edges(r)[e].tokens[q] == token;
      if (listed == tsl__state_token_edges(r)[e].complement) continue;
      oracle_frame f;
      f.state = tsl__target_resolve(o->space, tsl__state_token_edges(r)[e].to, k.at[k.n - 1].count,
                                    &f.count);
      set_add(o, to, k.at, k.n - 1, &f);
    }
  }
}

static oracle_set after_bytes(oracle *o, const uint8_t *bytes, size_t n) {
  oracle_set at = {0};
  for (size_t i = 0; i < n; i++) {
    oracle_set next = step(o, i ? &at : &o->now, bytes[i]);
    set_free(&at);
    at = next;
    if (at.n == 0) break;
  }
  return at;
}

static oracle_set after_token(oracle *o, tsl_token t) {
  const tsl_vocab *v = o->space->vocab;
  uint32_t begin = v->offsets[t], end = v->offsets[t + 1];
  oracle_set at = {0};
  if (tsl_vocab_is_eog(v, t) || begin == end) return at;
  if (!v->special[t]) at = after_bytes(o, v->bytes + begin, end - begin);
  step_named(o, &o->now, t, &at);
  close_set(o, &at);
  return at;
}

static bool move_to(oracle *o, oracle_set at) {
  if (at.n == 0) return set_free(&at), false;
  set_free(&o->now);
  o->now = at;
  return true;
}

bool oracle_bytes(oracle *o, const uint8_t *bytes, size_t n) {
  return n == 0 || move_to(o, after_bytes(o, bytes, n));
}
bool oracle_token(oracle *o, tsl_token t) { return move_to(o, after_token(o, t)); }

bool oracle_complete(oracle *o) {
  for (uint32_t i = 0; i < o->now.n; i++)
    if (o->now.at[i].n == 0) return true;
  return false;
}

void oracle_mask(oracle *o, uint32_t *mask) {
  const tsl_vocab *v = o->space->vocab;
  memset(mask, 0, tsl_vocab_mask_words(v) * sizeof *mask);
  bool live[256] = {false}, names = false;
  for (uint32_t i = 0; i < o->now.n; i++) {
    oracle_stack k = o->now.at[i];
    const tsl__state_rec *r = k.n ? tsl__state_expanded(o->space, k.at[k.n - 1].state) : NULL;
    for (unsigned b = 0; r && b < 256; b++)
      live[b] |= tsl__state_step(o->space, r, (uint8_t)b) != 0;
    names |= r && r->token_edges;
  }
  for (tsl_token t = 0; t < v->size; t++) {
    /* its first byte is rejected */
    if (!names && (v->offsets[t] == v->offsets[t + 1] || !live[v->bytes[v->offsets[t]]])) continue;
    oracle_set at = after_token(o, t);
    if (at.n) mask[t >> 5] |= (uint32_t)1 << (t & 31);
    set_free(&at);
  }
  if (oracle_complete(o))
    for (uint32_t i = 0; i < v->eog_count; i++)
      mask[v->eog[i] >> 5] |= (uint32_t)1 << (v->eog[i] & 31);
}
