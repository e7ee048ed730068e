/* expand.c - the transitions of a state, and what the walk wants to know of it.
 *
 * Problem   A state needs, for each of 256 bytes, the state that follows. But most bytes lead
 *           nowhere, and most states are visited by a few bytes only.
 * Idea      expr/reads.c says between which bytes the derivative can change, so one derivative is
 *           made for each range. expr/alike.c says which ranges lead to the same place. Targets
 *           that hardly any text visits wait (TSL__TARGET_LATER): each is derived when the first
 *           text comes to it.
 * Example   [a-z]+x has the ranges below 'a', a-w, x, y-z and above. The first and the last are
 *           dead, and a-w and y-z are alike: two derivatives.
 * Calls     A rule with something behind it becomes an edge: push what follows, go to the rule.
 * Frozen    The layer of a vocabulary has no targets that wait, as nobody could fill them in.
 * Cost      One derivative for each range that does not wait.
 * Tested by tests/expr/test_expr.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/nonascii.h"
#include "compiler/states/failure.h"
#include "compiler/states/grow.h"
#include "compiler/states/hints.h"
#include "compiler/states/letters.h"
#include "runtime/walk/nonascii.h"

/* alternatives from which on it is worth looking which bytes they keep apart */
#define ALIKE_MIN 4u

static tsl__target target_of_parts(tsl__states *c, const tsl__parts *parts) {
  tsl__edge edges[TSL__PARTS_MAX];
  if (parts->n == 0) return 0;
  if (parts->n == 1) return tsl__states_target(c, &parts->at[0]);
  for (uint32_t i = 0; i < parts->n; i++)
    edges[i] = (tsl__edge){0, tsl__states_target(c, &parts->at[i])};
  tsl__state fork = tsl__state_fork(c->space, edges, parts->n);
  /* the branches say what becomes of the register */
  return fork ? tsl__target_make(fork, TSL__OP_KEEP) : 0;
}

static tsl__target derive_target(tsl__states *c, tsl__expr e, tsl__phase phase, uint8_t byte) {
  tsl__parts parts;
  tsl__derive(c->x, e, byte, phase, &parts);
  return target_of_parts(c, &parts);
}

/* Any byte that is no control character counts as live. */
static void live_all(tsl__bytes *live) {
  bool ends = tsl__bytes_has(live, '"');
  tsl__bytes_add_range(live, 0x20, 0xFF);
  if (!ends) live->w[0] &= ~((uint64_t)1 << '"');
}

/* The bytes by which e, which has no register, may lead back to itself at once: a loop at its head
 * begins anew. False: hardly by any. */
static bool may_return(tsl__exprs *x, tsl__expr e, tsl__bytes *by) {
  tsl__reads r;
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    switch ((tsl__kind)n.kind) {
    case TSL__K_SEQ: e = n.a; continue;
    case TSL__K_ALT:
      for (uint32_t i = 0; i < n.b; i++)
        if (!may_return(x, tsl__list_at(x, n.a)[i], by)) return false;
      return true;
    case TSL__K_REPEAT:
      if (n.c != TSL__INF || n.b || tsl__node_at(x, n.a).shortest > 1) return false;
      tsl__reads_of(x, n.a, &r);
      tsl__bytes_or(by, &r.live);
      return true;
    case TSL__K_EPS:
    case TSL__K_BYTES:
    case TSL__K_LIT:
    case TSL__K_STRSET: return false;
    default: *by = TSL__BYTES_ALL; return true;
    }
  }
}

/* Which targets wait though e comes back: those by which it does not at once. Nobody asks for most
 * of them, and tables that know where a state stays hear of it at once. */
static void wait_but_return(tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__bytes by = {{0}};
  *out = TSL__BYTES_ALL;
  if (!may_return(x, e, &by)) return;
  tsl__bytes_remove(out, &by);
}

/* Is it an escape in a JSON string, or alternatives that are all such, as those are whose registers
 * differ? */
static bool is_escape(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind != TSL__K_ALT) return n->kind == TSL__K_JESC || n->kind == TSL__K_JHEX;
  for (uint32_t i = 0; i < n->b; i++) {
    uint8_t kind = tsl__node_at(x, tsl__list_at(x, n->a)[i]).kind;
    if (kind != TSL__K_JESC && kind != TSL__K_JHEX) return false;
  }
  return true;
}

/* Which targets of a state may wait: *out. Few bytes are ever read in the middle of fixed texts, of
 * a date, of an escape, or of a meet. runtime/walk/subtract.c relies on bytes of a meet being live
 * until they are requested. Rare anywhere are escapes, and non-ASCII bytes, none of which leads to
 * where it comes from. */
static void may_wait(tsl__exprs *x, tsl__expr e, tsl__reads *r, tsl__bytes *out) {
  tsl__node n = tsl__node_at(x, e);
  /* a called frame begins as its rule */
  if (n.kind == TSL__K_RULE && tsl__rule_at(x, n.a)->body)
    e = tsl__rule_at(x, n.a)->body, n = tsl__node_at(x, e);
  bool plain = !(n.flags & TSL__CALLS), steady = plain && !n.loop && !(n.flags & TSL__COUNTS);
  if (n.kind == TSL__K_SEQ) n = tsl__node_at(x, n.a);
  tsl__node inner = n.kind == TSL__K_JSTR ? tsl__node_at(x, n.a) : n;
  if ((plain && !tsl__may_come_back(x, e)) || is_escape(x, &n) ||
      (n.kind == TSL__K_JSTR && (tsl__is_texts(&inner) || !tsl__may_come_back(x, n.a)))) {
    *out = TSL__BYTES_ALL;
  } else if (n.kind == TSL__K_JSTR && (inner.kind == TSL__K_AND || inner.kind == TSL__K_CASES)) {
    *out = TSL__BYTES_ALL;
    live_all(&r->live);
  } else {
    if (steady) wait_but_return(x, n.kind == TSL__K_JSTR ? n.a : e, out);
    if (n.kind != TSL__K_JSTR) return;
    tsl__bytes_add(out, '\\');
    tsl__bytes_add_range(out, 0x80, 0xFF);
  }
}

/* The ranges between edges, as yet without targets. */
static void cut(const tsl__bytes *edges, tsl__ranges *out) {
  out->n = 0;
  for (unsigned w = 0; w < 4; w++)
    for (uint64_t bits = edges->w[w]; bits; bits &= bits - 1) {
      unsigned b = w * 64 + (unsigned)__builtin_ctzll(bits);
      if (b) out->upper[out->n++] = (uint8_t)(b - 1);
    }
  out->upper[out->n++] = 255;
}

/* Is it many alternatives, or one that is a JSON string of many? Those whose registers differ are
 * strings of their own. */
static bool is_many(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_JSTR) n = tsl__node_at(x, n.a);
  if (n.kind != TSL__K_ALT) return false;
  tsl__node first = tsl__node_at(x, tsl__list_at(x, n.a)[0]);
  if (first.kind == TSL__K_JSTR) first = tsl__node_at(x, first.a);
  return n.b >= ALIKE_MIN || (first.kind == TSL__K_ALT && first.b >= ALIKE_MIN);
}

/* Which ranges of many alternatives lead where an earlier one does, first[] of each, as no set of
 * bytes distinguishes the two. False: that is not known, or not worth looking. */
static bool known_alike(tsl__states *c, tsl__expr e, const tsl__reads *r,
                        uint8_t first[TSL__ALIKE_MAX]) {
  tsl__alike a;
  if (!is_many(c->x, e) || !tsl__alike_of(c->x, e, &r->edges, &a)) return false;
  tsl__alike_firsts(&a, first);
  return true;
}

/* A layer that is to be frozen has no targets that are LATER. */
static void fill_targets(tsl__states *c, tsl__expr e, tsl__phase phase, tsl__ranges *out) {
  tsl__reads r;
  tsl__bytes wait = {{0}};
  tsl__target later = TSL__TARGET_LATER;
  tsl__reads_of(c->x, e, &r);
  if (c->space->parent) may_wait(c->x, e, &r, &wait);
  cut(&r.edges, out);
  uint8_t first[TSL__ALIKE_MAX];
  bool known = known_alike(c, e, &r, first);
  for (uint32_t i = 0, b = 0; i < out->n; b = out->upper[i++] + 1u) {
    if (!tsl__bytes_has(&r.live, b))
      out->to[i] = 0;
    else if (tsl__bytes_has(&wait, b))
      out->to[i] = later ^= 1;
    else if (known && first[i] < i && !tsl__target_is_later(out->to[first[i]]))
      out->to[i] = out->to[first[i]];
    else
      out->to[i] = derive_target(c, e, phase, (uint8_t)b);
  }
}

tsl__target tsl__states_derive(void *ctx, const tsl__state_rec *r, uint8_t byte) {
  tsl__states *c = ctx;
  tsl__target t = derive_target(c, tsl__states_expr(c, r), tsl__phase_of(r), byte);
  return tsl__states_fine(c) ? t : TSL__TARGET_LATER;
}

/* Ranges of which the state's are parts: those of a class that live or die alike may be one
 * there. */
bool tsl__states_alike(void *ctx, const tsl__state_rec *r, uint8_t *first) {
  tsl__states *c = ctx;
  tsl__alike a;
  tsl__bytes edges = {{0}};
  for (unsigned i = 0; i + 1 < r->ranges; i++) tsl__bytes_add(&edges, tsl__state_upper(r)[i] + 1u);
  if (!tsl__alike_of(c->x, tsl__states_expr(c, r), &edges, &a) || a.n != r->ranges) return false;
  tsl__alike_firsts(&a, first);
  return tsl__states_fine(c);
}

tsl__target tsl__states_nonascii(void *ctx, const tsl__state_rec *r, uint64_t *leads) {
  tsl__states *c = ctx;
  tsl__expr e = tsl__states_expr(c, r), to;
  tsl__node n = tsl__node_at(c->x, e);
  /* a called frame begins as its rule */
  if (n.kind == TSL__K_RULE && tsl__rule_at(c->x, n.a)->body)
    e = tsl__rule_at(c->x, n.a)->body, n = tsl__node_at(c->x, e);
  if (n.loop || n.flags & (TSL__CALLS | TSL__COUNTS) || !tsl__derive_leads(c->x, e, leads, &to))
    return tsl__states_fine(c) ? TSL__TARGET_LATER : 0;
  return tsl__states_fine(c) ? tsl__states_target(c, &(tsl__part){TSL__COUNT_CLEAR, to}) : 0;
}

tsl__state tsl__states_falls_to(void *ctx, const tsl__state_rec *r, tsl__bytes *but) {
  tsl__states *c = ctx;
  tsl__expr e = tsl__failure_of(c->x, tsl__states_expr(c, r), but);
  return tsl__states_fine(c) && e ? tsl__states_find(c, e) : 0;
}

static void add_call(tsl__states *c, const tsl__call *call) {
  tsl__node callee = tsl__node_at(c->x, call->callee);
  tsl__target then = tsl__states_target(c, &call->then);
  bool fine = then != 0;
  if (callee.kind == TSL__K_RULE) {
    tsl__edge e = {then, tsl__target_make(tsl__states_of(c, call->callee), TSL__OP_CLEAR)};
    fine = fine && e.to && tsl__vec_push(&c->space->alloc, &c->edges, e);
  } else {
    const tsl_token *ids = tsl__arena_copy(&c->space->arena, tsl__list_at(c->x, callee.a),
                                           callee.b * sizeof(tsl_token));
    tsl__token_edge e = {ids, callee.b, callee.c != 0, then};
    fine = fine && ids && tsl__vec_push(&c->space->alloc, &c->tokens, e);
  }
  if (!fine) tsl__space_no_memory(c->space);
}

/* Too few bytes to be worth a hint? */
static bool without_hint(const tsl__state_rec *r) {
  return r->live_count < TSL__LETTERS_MIN || (r->flags & TSL__STATE_FORK);
}

bool tsl__states_form(void *ctx, const tsl__state_rec *r, tsl__hint *hint) {
  tsl__states *c = ctx;
  tsl__letters l;
  if (without_hint(r)) return false;
  tsl__form_of(c->x, tsl__states_expr(c, r), tsl__phase_of(r), &l);
  if (!tsl__states_fine(c) || (!l.base && !l.like && !l.open && !l.alone)) return false;
  *hint = (tsl__hint){.limit = l.limit,
                      .base = tsl__states_of(c, l.base),
                      .except = tsl__states_of(c, l.except),
                      .except_open = l.limited,
                      .like = tsl__states_of(c, l.like),
                      .like_limit = l.like_limit,
                      .like_dead = l.like_dead,
                      .like_far = l.like_far,
                      .like_unit = l.like_unit,
                      .low = tsl__states_of(c, l.low),
                      .open = tsl__states_of(c, l.open),
                      .low_left = l.low_left,
                      .alone = tsl__states_of(c, l.alone),
                      .alone_limit = l.alone_limit,
                      .alone_dead = l.alone_dead};
  return tsl__states_failure(c) == TSL_OK;
}

/* Will the walk not need letters? */
static bool form_is_enough(const tsl__hint *h) {
  return h->base || (h->like && !h->like_far && !h->like_unit && h->like_limit >= TSL__LIKE_ENOUGH);
}

bool tsl__states_letters(void *ctx, const tsl__state_rec *r, tsl__hint *hint) {
  tsl__states *c = ctx;
  const tsl__hint *form = r->hint;
  tsl__letters l;
  if (without_hint(r) || r->flags / TSL__STATE_PHASE == TSL__PHASE_TOP ||
      (form && form_is_enough(form)))
    return false;
  tsl__letters_of(c->x, tsl__states_expr(c, r), &l);
  if (!tsl__states_fine(c) || tsl__bytes_empty(&l.letters)) return false;
  *hint = form ? *form : (tsl__hint){.base = 0};
  hint->letters = l.letters;
  hint->nonascii =
      l.nonascii ? tsl__nonascii_of(c->space, l.nonascii->pairs, l.nonascii->count, l.whole) : 0;
  hint->exits = l.exits;
  hint->counted = l.counted;
  hint->limit = l.limit;
  hint->dead = l.dead;
  hint->ends = l.ends;
  hint->calls = l.calls;
  return tsl__states_failure(c) == TSL_OK;
}

unsigned tsl__states_text(void *ctx, const tsl__state_rec *r, uint32_t *least, uint32_t *most) {
  tsl__states *c = ctx;
  unsigned known = tsl__text_of(c->x, tsl__states_expr(c, r), least, most);
  return tsl__states_fine(c) ? known : TSL__TEXT_OTHER;
}

unsigned tsl__states_counted(void *ctx, const tsl__state_rec *r, uint32_t *least, uint32_t *most) {
  tsl__states *c = ctx;
  unsigned known = tsl__spelled_of(r) || r->flags & (TSL__STATE_FORK | TSL__STATE_RESUME)
                       ? TSL__TEXT_OTHER
                       : tsl__counted_of(c->x, r->handle, least, most);
  return tsl__states_fine(c) ? known : TSL__TEXT_OTHER;
}

bool tsl__states_ends_within(void *ctx, const tsl__state_rec *r, uint32_t room) {
  tsl__states *c = ctx;
  tsl__expr any = tsl__expr_repeat(c->x, tsl__expr_any_char(c->x), 0, room);
  tsl__expr rest = tsl__expr_repeat(c->x, tsl__expr_range(c->x, 0x80, 0xBF), 0, 3);
  rest = tsl__expr_seq(c->x, rest, any);
  bool ends = tsl__expr_and(c->x, tsl__states_expr(c, r), rest) != TSL__NONE;
  return tsl__states_fine(c) && ends;
}

tsl_status tsl__states_expand(void *ctx, tsl__state state) {
  tsl__states *c = ctx;
  const tsl__state_rec *r = tsl__state_at(c->space, state);
  tsl__expr e = tsl__states_expr(c, r);
  tsl__phase phase = tsl__phase_of(r);
  tsl__ranges ranges;
  tsl__call call;
  ranges.n = 0;
  c->calls.n = c->edges.n = c->tokens.n = 0;
  if (tsl__is_call(c->x, e, &call)) {
    add_call(c, &call);
  } else {
    if (!tsl__only_calls(c->x, e, &c->calls)) {
      fill_targets(c, e, phase, &ranges);
      tsl__calls_of(c->x, e, phase, &c->calls);
    }
    for (size_t i = 0; i < c->calls.n && tsl__states_failure(c) == TSL_OK; i++)
      add_call(c, &c->calls.at[i]);
  }
  tsl__node n = tsl__node_at(c->x, e);
  bool fixed = !(r->flags & TSL__STATE_LOOP) && !r->fixed && tsl__may_be_fixed(c->x, &n);
  /* a rule's body is known only now */
  if (tsl__states_failure(c) != TSL_OK ||
      (fixed && !tsl__note_fixed(c, e, tsl__state_own(c->space, state))))
    return tsl__states_failure(c);
  return tsl__state_fill(c->space, state, &ranges, c->edges.at, (uint32_t)c->edges.n, c->tokens.at,
                         (uint32_t)c->tokens.n);
}
