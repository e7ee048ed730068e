/* states.c - which state an expression has, and the hook through which the runtime grows states.
 *
 * Problem   The runtime knows states, the compiler expressions, and each must find the other's:
 *           every transition ends in "the state of this derivative".
 * Idea      Expressions are numbered, so a layer lists the states of its own expressions by number.
 *           Those of the vocabulary's layer are found in that layer's list; the few that got a
 *           state only later are in a hash table.
 * Loops     An expression with an active loop has three states in a row, one for each phase of its
 *           counter (compiler/expr/deriv.h).
 * Example   Of a{0,1000}, entered once, the states s, s+1 and s+2 are "below the minimum",
 *           "between" and "at the maximum".
 * Cost      Finding a state is one array access. Adding one is a record of some 100 bytes.
 * Tested by tests/expr/test_expr.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/states.h"

#include "compiler/states/grow.h"
#include "compiler/expr/meaning.h"
#include "compiler/number/outline.h"
#include "runtime/position/distinct.h"
#include "runtime/position/layer.h"
#include "runtime/vocab/vocab.h"
#include "runtime/walk/names.h"

/* ---- expressions to states ------------------------------------------------------------------- */

static uint64_t handle_hash(tsl__expr e) { return tsl__mix(((uint64_t)e << 1) + 1); }

/* A layer's own expressions have their states in a list, as the layer below knows none of them.
 * Those of the vocabulary have them in its list; few got theirs later, and are looked up. */
static bool is_listed(const tsl__states *c, tsl__expr e) { return e >= c->x->base; }

static tsl__state listed(const tsl__states *c, tsl__expr e) {
  return e - c->x->base < c->own.n ? c->own.at[e - c->x->base] : 0;
}

static tsl__state find_below(const tsl__states *c, tsl__expr e) {
  for (const tsl__space *layer = c->space->parent; layer; layer = layer->parent) {
    const tsl__states *below = layer->hook_ctx;
    tsl__state s = is_listed(below, e) ? listed(below, e) : 0;
    if (s) return s;
  }
  tsl__index_iter it = tsl__index_first(&c->space->states.index, handle_hash(e));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__state_rec *r = tsl__state_at(c->space, i);
    if (r->handle == e && !(r->flags & TSL__STATE_FORK)) return i;
  }
  return 0;
}

tsl__state tsl__states_find(const tsl__states *c, tsl__expr e) {
  return TSL__LIKELY(is_listed(c, e)) ? listed(c, e) : find_below(c, e);
}

static bool list_state(tsl__states *c, tsl__expr e, tsl__state state) {
  size_t at = e - c->x->base, before = c->own.n;
  if (at >= before) {
    size_t room = at < c->own.cap ? at + 1 : c->x->nodes.cap; /* it grows with the expressions */
    if (!tsl__vec_reserve(&c->space->alloc, &c->own, room - before)) return false;
    memset(c->own.at + before, 0, (at + 1 - before) * sizeof *c->own.at);
    c->own.n = at + 1;
  }
  c->own.at[at] = state;
  return true;
}

/* Have the state of an expression found again. */
static bool keep_state(tsl__states *c, tsl__expr e, tsl__state state) {
  if (is_listed(c, e)
          ? list_state(c, e, state)
          : tsl__index_add(&c->space->states.index, &c->space->alloc, handle_hash(e), state))
    return true;
  return tsl__space_no_memory(c->space);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool add_names(tsl__keyed *out, uint32_t lo, uint32_t hi) {
  if (out->n == sizeof out->range / sizeof *out->range) return false;
  out->range[out->n++] = (tsl__name_range){lo, hi};
  return true;
}

/* The names that e may become, if it is of a frame of names: those of its last part. */
static bool names_of(tsl__exprs *x, tsl__expr e, tsl__keyed *out) {
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    switch ((tsl__kind)n.kind) {
    case TSL__K_RULE:
      return tsl__rule_at(x, n.a)->flags & TSL__RULE_NAMES &&
             add_names(out, 0, tsl__stringset_size(x, tsl__rule_at(x, n.a)->param));
    case TSL__K_SEQ: e = n.b; break;
    case TSL__K_JSTR:
    case TSL__K_JESC:
    case TSL__K_JHEX: e = n.a; break;
    case TSL__K_ALT:
      for (uint32_t i = 0; i < n.b; i++)
        if (!names_of(x, tsl__list_at(x, n.a)[i], out)) return false;
      return true;
    case TSL__K_KEYS: return add_names(out, n.b, n.c);
    case TSL__K_NAME: return add_names(out, n.a, n.a + 1);
    default: return false;
    }
  }
}

/* Notes what a state has to do with names. What calls spells none itself: it waits for one, or is a
 * frame of names that is unfolded in place. */
static bool note_names(tsl__states *c, tsl__expr e, const tsl__node *n, tsl__state_rec *r) {
  tsl__keyed keyed = {0};
  uint32_t names;
  if ((n->kind == TSL__K_RESUME || n->kind == TSL__K_ALT) && tsl__expr_is_resume(c->x, e, &names))
    return tsl__resume_make(c->space, r, names);
  bool spells = n->kind == TSL__K_RULE ? tsl__rule_at(c->x, n->a)->flags & TSL__RULE_NAMES
                                       : !(n->flags & TSL__CALLS);
  if (!spells || !tsl__expr_has_names(c->x) || !names_of(c->x, e, &keyed)) return true;
  r->flags |= TSL__STATE_KEYED;
  r->keyed = tsl__arena_copy(&c->space->arena, &keyed, sizeof keyed);
  if (!r->keyed) tsl__space_no_memory(c->space);
  return r->keyed;
}

static tsl__state state_of(tsl__states *c, tsl__expr e);

/* ---- adding ---------------------------------------------------------------------------------- */

/* The state of what is left of e, which is that of `own`. */
static tsl__state left_of(tsl__states *c, tsl__expr e, tsl__expr left, tsl__state own) {
  return left == e ? own : state_of(c, left);
}

/* Notes whether what comes back to these states must be new, or must not. */
static void note_guard(tsl__states *c, tsl__expr e, tsl__state first, uint32_t copies) {
  uint8_t kinds = 0;
  if (!tsl__expr_guards(c->x)) return;
  tsl__expr rest = tsl__expr_unguarded(c->x, e, TSL__NEW_ITEM | TSL__NEW_NAME, &kinds);
  if (!kinds) return;
  tsl__state otherwise = left_of(c, e, rest, first), differs = 0;
  bool loop = tsl__node_at(c->x, rest).loop != 0, loops = false;
  if (kinds & TSL__SAME_ITEM) {
    tsl__expr others = tsl__expr_unguarded(c->x, e, TSL__SAME_ITEM, &kinds);
    differs = left_of(c, e, others, first);
    loops = tsl__node_at(c->x, others).loop != 0;
  }
  for (uint32_t i = 0; i < copies; i++) {
    tsl__state_rec *r = tsl__state_own(c->space, first + i);
    r->guarded = kinds;
    r->otherwise = otherwise ? otherwise + (loop ? i : 0) : 0;
    if (kinds & TSL__SAME_ITEM) r->differs = differs ? differs + (loops ? i : 0) : 0;
    r->run = 0; /* it is not known of such, whose place that may be */
  }
}

bool tsl__states_fine(tsl__states *c) {
  if (TSL__UNLIKELY(c->x->status != TSL_OK))
    tsl__space_fail(c->space, c->x->status, tsl__exprs_why(c->x));
  return c->space->status == TSL_OK;
}

/* What is known of the three states of a loop. */
static void note_loop(tsl__states *c, tsl__expr e, const tsl__node *n, tsl__state first) {
  tsl__node loop = tsl__node_at(c->x, n->loop),
            head = tsl__node_at(c->x, n->kind == TSL__K_SEQ ? n->a : e);
  bool run = n->kind == TSL__K_SEQ && head.kind == TSL__K_REPEAT && head.b == 0 &&
             head.c <= UINT16_MAX && tsl__node_at(c->x, head.a).flags & TSL__CHAR;
  for (uint32_t phase = 0; phase < 3; phase++) {
    tsl__state_rec *r = tsl__state_own(c->space, first + phase);
    r->handle = e;
    r->flags |= (uint8_t)(TSL__STATE_LOOP | TSL__STATE_PHASE * phase);
    if (tsl__nullable_in(n, (tsl__phase)phase)) r->flags |= TSL__STATE_NULLABLE;
    r->loop_min = loop.b;
    r->loop_max = loop.c;
    if (run) r->run = (uint16_t)head.c, r->run_class = head.a, r->run_then = n->b;
  }
}

static bool note_state(tsl__states *c, tsl__expr e, const tsl__node *n, tsl__state state) {
  tsl__state_rec *r = tsl__state_own(c->space, state);
  r->handle = e;
  if (tsl__nullable_in(n, TSL__PHASE_LOW)) r->flags |= TSL__STATE_NULLABLE;
  return note_names(c, e, n, r) && (!tsl__may_be_fixed(c->x, n) || tsl__note_fixed(c, e, r));
}

static TSL__SELDOM tsl__state add_state(tsl__states *c, tsl__expr e) {
  tsl__node n = tsl__node_at(c->x, e);
  if (n.kind == TSL__K_JSTR) {
    tsl__node texts = tsl__node_at(c->x, n.a);
    if (texts.kind == TSL__K_KEYS)
      return tsl__spelled_state(c, texts.a, texts.b, texts.c, texts.d, false);
  }
  tsl__state first = tsl__space_has_room(c->space) ? tsl__state_new(c->space, n.loop ? 3 : 1) : 0;
  if (!first) return 0;
  if (n.loop)
    note_loop(c, e, &n, first);
  else if (!note_state(c, e, &n, first))
    return 0;
  /* others begin with no mark */
  if (n.kind == TSL__K_SEQ || n.kind == TSL__K_ALT || n.kind == TSL__K_RULE)
    note_guard(c, e, first, n.loop ? 3 : 1);
  if (!tsl__states_fine(c)) return 0; /* and the state, half made, is not found again */
  return keep_state(c, e, first) ? first : 0;
}

static inline tsl__state state_of(tsl__states *c, tsl__expr e) {
  if (e == TSL__NONE) return 0;
  tsl__state s = tsl__states_find(c, e);
  return s ? s : add_state(c, e);
}

tsl__target tsl__states_target(tsl__states *c, const tsl__part *p) {
  static const uint32_t op[] = {[TSL__COUNT_CLEAR] = TSL__OP_CLEAR,
                                [TSL__COUNT_KEEP] = TSL__OP_KEEP,
                                [TSL__COUNT_NEXT] = TSL__OP_NEXT,
                                [TSL__COUNT_FIRST] = TSL__OP_FIRST};
  tsl__state s = state_of(c, p->e);
  return s ? tsl__target_make(s, op[p->count]) : 0;
}

/* ---- the rest of the hook -------------------------------------------------------------------- */

/* What is left of an escape that is under way, its first byte read. */
static uint64_t rest_of_escape(tsl__states *c, tsl__expr escape, const tsl__node *n) {
  tsl__reads reads;
  if (n->kind == TSL__K_JHEX) return 4 - n->b;
  tsl__reads_of(c->x, escape, &reads);
  reads.live.w['u' / 64] &= ~((uint64_t)1 << 'u' % 64);
  return tsl__bytes_empty(&reads.live) ? 5 : 1;
}

static uint64_t shortest_with(tsl__states *c, tsl__expr e, uint32_t count, bool in_string);

/* The most bytes of a character that begins with one of these. */
static uint64_t longest_character(const tsl__bytes *first) {
  uint64_t high = first->w[3];
  return high >> 48 ? 4 : high >> 32 ? 3 : high || first->w[2] ? 2 : 1;
}

/* Shortest completion within a string once a character is read. Where it is not known which one
 * that is, and so how it is spelled, a lower bound. */
static uint64_t after_character(tsl__states *c, tsl__expr e, uint32_t count) {
  tsl__node n = tsl__node_at(c->x, e);
  tsl__reads reads;
  tsl__reads_of(c->x, e, &reads);
  uint64_t bytes = longest_character(&reads.live);
  if (bytes == 1 && n.kind == TSL__K_SEQ && tsl__node_at(c->x, n.a).kind == TSL__K_BYTES)
    return shortest_with(c, n.b, count, true);
  uint64_t all = shortest_with(c, e, count, false);
  return all - (all < bytes ? all : bytes);
}

/* Shortest completion where a loop is active: iterations still needed times the body's shortest;
 * within a string bytes cost what they cost in JSON. */
static uint64_t shortest_with(tsl__states *c, tsl__expr e, uint32_t count, bool in_string) {
  uint64_t total = 0;
  for (;;) {
    uint32_t (*of)(tsl__exprs *, tsl__expr) =
        in_string ? tsl__expr_shortest_spelled : tsl__expr_shortest;
    tsl__node n = tsl__node_at(c->x, e);
    if (!n.loop) return total + of(c->x, e);
    switch ((tsl__kind)n.kind) {
    case TSL__K_COUNTED: return total + (count < n.b ? (uint64_t)(n.b - count) * of(c->x, n.a) : 0);
    case TSL__K_SEQ:
      total += shortest_with(c, n.a, count, in_string);
      e = n.b;
      continue;
    case TSL__K_JSTR:
      total += 1;
      e = n.a;
      in_string = true;
      continue;
    case TSL__K_JOPEN:
      e = n.a;
      in_string = true;
      continue;
    case TSL__K_JESC:
    case TSL__K_JHEX:
      return total + rest_of_escape(c, e, &n) + after_character(c, n.a, count) +
             !(n.d & TSL__JSON_OPEN);
    case TSL__K_ALT: {
      uint64_t best = TSL__INF;
      for (uint32_t i = 0; i < n.b; i++) {
        uint64_t s = shortest_with(c, tsl__list_at(c->x, n.a)[i], count, in_string);
        if (s < best) best = s;
      }
      return total + best;
    }
    default: return total + n.shortest;
    }
  }
}

static uint32_t shortest(void *ctx, tsl__state state, uint32_t count) {
  tsl__states *c = ctx;
  uint64_t s = shortest_with(c, tsl__states_expr(c, tsl__state_at(c->space, state)), count, false);
  return !tsl__states_fine(c) || s >= TSL__INF ? TSL__INF : (uint32_t)s;
}

static bool allows(void *ctx, tsl__state resume, uint32_t name) {
  tsl__states *c = ctx;
  bool allowed = tsl__expr_resume_allows(c->x, tsl__state_at(c->space, resume)->handle, name);
  return tsl__states_fine(c) && allowed;
}

static uint64_t allowed(void *ctx, tsl__state resume, uint32_t word, uint64_t *allowed) {
  tsl__states *c = ctx;
  return tsl__expr_resume_allowed(c->x, tsl__state_at(c->space, resume)->handle, word, allowed);
}

static tsl__target resume(void *ctx, tsl__state resume, uint32_t name) {
  tsl__states *c = ctx;
  tsl__part after = {TSL__COUNT_CLEAR,
                     tsl__expr_resume_after(c->x, tsl__state_at(c->space, resume)->handle, name)};
  tsl__target t = tsl__states_target(c, &after);
  return tsl__states_fine(c) ? t : 0;
}

static tsl__state calls(void *ctx, tsl__state resume, uint32_t name, tsl__state *then) {
  tsl__states *c = ctx;
  tsl__expr rest = TSL__NONE,
            rule =
                tsl__expr_resume_calls(c->x, tsl__state_at(c->space, resume)->handle, name, &rest);
  tsl__state s = state_of(c, rule);
  *then = s ? state_of(c, rest) : 0;
  return tsl__states_fine(c) && *then ? s : 0;
}

static tsl__state begins(void *ctx, tsl__state resume, uint32_t name) {
  tsl__states *c = ctx;
  tsl__expr rule = tsl__expr_resume_begins(c->x, tsl__state_at(c->space, resume)->handle, name);
  tsl__state s = state_of(c, rule);
  return tsl__states_fine(c) ? s : 0;
}

static uint32_t name_shortest(void *ctx, tsl__state state, uint32_t name) {
  tsl__states *c = ctx;
  const tsl__state_rec *r = tsl__state_at(c->space, state);
  uint32_t bytes = r->flags & TSL__STATE_RESUME
                       ? tsl__expr_resume_shortest(c->x, r->handle, name)
                       : tsl__expr_name_shortest(c->x, tsl__states_expr(c, r), name);
  return tsl__states_fine(c) ? bytes : TSL__INF;
}

static const char *why(void *ctx);

static tsl__space *speller(void *ctx) {
  const tsl__states *c = ctx;
  const tsl__space *space = c->space, *bottom = space->parent;
  const tsl_limits limits = {.max_memory = space->work.max_memory,
                             .max_stacks = space->positions.max_stacks,
                             .max_steps = space->work.max_steps,
                             .cancel = space->work.cancel};
  tsl__space *made;
  tsl__exprs *x;
  while (bottom && bottom->parent) bottom = bottom->parent;
  tsl_status status = tsl__states_layer(bottom, space->vocab, &limits, &made, &x);
  if (status != TSL_OK) return tsl__space_no_memory(c->space), NULL;
  tsl__exprs_plain_strings(x, c->x->plain_strings);
  tsl__states *own = made->hook_ctx;
  own->spell_ctx = c->x->speller->open(x);
  own->speller = c->x->speller;
  made->work.deadline = x->deadline = space->work.deadline;
  if (own->spell_ctx) return made;
  tsl__space_free(made);
  return tsl__space_no_memory(c->space), NULL;
}

static tsl__state spellings(void *ctx, const tsl__spelled *texts, uint32_t n) {
  tsl__states *c = ctx;
  tsl__string *strings = tsl__alloc(&c->space->alloc, n * sizeof *strings);
  if (!strings) return tsl__space_no_memory(c->space), 0;
  for (uint32_t i = 0; i < n; i++)
    strings[i] = (tsl__string){(const char *)texts[i].at, texts[i].n};
  tsl__bytes space = {{0}};
  for (const char *p = " \t\n\r"; *p; p++) tsl__bytes_add(&space, (uint8_t)*p);
  tsl__expr all = c->speller->spell(c->spell_ctx, strings, n);
  all = tsl__expr_seq(c->x, tsl__expr_star(c->x, tsl__expr_bytes(c->x, &space)), all);
  tsl__free(&c->space->alloc, strings, n * sizeof *strings);
  if (tsl__states_failure(c) != TSL_OK)
    return tsl__space_fail(c->space, tsl__states_failure(c), why(c)), 0;
  return state_of(c, all);
}

static bool outline(void *ctx, tsl__state state, void *to, bool (*put)(void *to, uint32_t word)) {
  tsl__states *c = ctx;
  return tsl__outline_write(c->x, tsl__states_expr(c, tsl__state_at(c->space, state)), to, put);
}

static bool meaning(void *ctx, tsl__state state, const uint8_t *secret, tsl__digest *out) {
  tsl__states *c = ctx;
  const tsl__state_rec *r = tsl__state_at(c->space, state);
  if (r->flags & (TSL__STATE_FORK | TSL__STATE_KEYED | TSL__STATE_RESUME) || tsl__spelled_of(r) ||
      !tsl__meaning_of(c->x, secret, c->space->vocab->trie.nodes[0].height, r->handle, out))
    return false;
  if (r->flags & TSL__STATE_LOOP) out->lo += r->flags / TSL__STATE_PHASE + 1u;
  return true;
}

static void print(void *ctx, tsl__state state, char *out, size_t n) {
  tsl__states *c = ctx;
  tsl__expr_print(c->x, tsl__states_expr(c, tsl__state_at(c->space, state)), out, n);
}

static void begin(void *ctx, uint64_t deadline) {
  const tsl__states *c = ctx;
  tsl__exprs_begin(c->x);
  c->x->deadline = deadline;
  if (c->speller) c->x->cancel = c->space->work.cancel; /* that of the space it belongs to */
}

static const char *why(void *ctx) {
  tsl__states *c = ctx;
  return c->space->why ? c->space->why : tsl__exprs_why(c->x);
}
static size_t memory(void *ctx) {
  const tsl__states *c = ctx;
  return tsl__exprs_memory(c->x) + c->own.cap * sizeof *c->own.at;
}
static uint32_t count(void *ctx) { return (uint32_t)((tsl__states *)ctx)->x->nodes.n; }
static void release(void *ctx) {
  tsl__states *c = ctx;
  tsl_allocator a = c->space->alloc;
  tsl__vec_free(&a, &c->calls);
  tsl__vec_free(&a, &c->edges);
  tsl__vec_free(&a, &c->tokens);
  tsl__vec_free(&a, &c->own);
  if (!c->borrows) tsl__exprs_free(c->x);
  tsl__free(&a, c, sizeof *c);
}

/* ---- other spaces over the same expressions -------------------------------------------------- */

static void *again(void *ctx, tsl__space *fresh) {
  const tsl__states *c = ctx;
  tsl__states *other = tsl__states_open(fresh, c->x);
  if (other) other->borrows = true;
  return other;
}

/* A fork: its branches are no forks. */
static tsl__state carry_fork(tsl__states *c, const tsl__space *from, const tsl__state_rec *r) {
  c->edges.n = 0;
  if (!tsl__vec_reserve(&c->space->alloc, &c->edges, r->edges))
    return tsl__space_no_memory(c->space), 0;
  for (uint32_t i = 0; i < r->edges; i++) {
    tsl__edge e = tsl__state_edges(r)[i];
    tsl__target *parts[] = {&e.push, &e.to};
    for (int k = 0; k < 2; k++) {
      tsl__state part = tsl__target_state(*parts[k]);
      if (!part) continue;
      if (tsl__state_at(from, part)->flags & TSL__STATE_FORK)
        return tsl__space_fail(c->space, TSL_ERR_STATE, "a fork of forks"), 0;
      part = tsl__states_carry(c, from, part);
      if (!part) return 0;
      *parts[k] = tsl__target_make(part, tsl__target_op(*parts[k]));
    }
    c->edges.at[c->edges.n++] = e;
  }
  return tsl__state_fork(c->space, c->edges.at, (uint32_t)c->edges.n);
}

tsl__state tsl__states_carry(void *ctx, const tsl__space *from, tsl__state state) {
  tsl__states *c = ctx;
  if (state < c->space->states.first) return state;
  const tsl__state_rec *r = tsl__state_at(from, state);
  if (r->flags & TSL__STATE_FORK) return carry_fork(c, from, r);
  const tsl__listed_texts *t = tsl__spelled_of(r);
  if (t)
    return tsl__spelled_state(c, t->set, t->fixed.lo, t->fixed.hi, t->fixed.depth, t->fixed.others);
  tsl__state first = state_of(c, r->handle);
  if (!tsl__states_fine(c)) return 0;
  return first && r->flags & TSL__STATE_LOOP ? first + (uint32_t)(r->flags / TSL__STATE_PHASE)
                                             : first;
}

const tsl__hook tsl__states_hook = {
    .states = {.expand = tsl__states_expand,
               .derive = tsl__states_derive,
               .alike = tsl__states_alike,
               .past_ascii = tsl__states_nonascii,
               .falls_to = tsl__states_falls_to,
               .fixed = tsl__states_fixed,
               .form = tsl__states_form,
               .letters = tsl__states_letters,
               .text = tsl__states_text,
               .counted = tsl__states_counted,
               .shortest = shortest,
               .ends_within = tsl__states_ends_within,
               .meaning = meaning,
               .outline = outline,
               .print = print},
    .names = {.allows = allows,
              .allowed = allowed,
              .resume = resume,
              .calls = calls,
              .begins = begins,
              .name_shortest = name_shortest},
    .life = {.begin = begin,
             .why = why,
             .memory = memory,
             .count = count,
             .free = release,
             .again = again,
             .carry = tsl__states_carry,
             .speller = speller,
             .spellings = spellings},
};

void *tsl__states_open(tsl__space *space, tsl__exprs *x) {
  tsl__states *c = tsl__alloc(&space->alloc, sizeof *c);
  if (c) *c = (tsl__states){.space = space, .x = x};
  return c;
}

static tsl_status attach(tsl__space *space, tsl__exprs *x) {
  tsl__states *c = tsl__states_open(space, x);
  if (!c) return TSL_ERR_NO_MEMORY;
  space->hook = &tsl__states_hook;
  space->hook_ctx = c;
  return TSL_OK;
}

tsl_status tsl__states_layer(const tsl__space *below, const tsl_vocab *vocab,
                             const tsl_limits *limits, tsl__space **space, tsl__exprs **x) {
  *space = NULL;
  *x = NULL;
  tsl_status status = tsl__space_new(below, vocab, &vocab->alloc, limits, space);
  if (status == TSL_OK)
    status = tsl__exprs_new(below ? tsl__states_exprs(below) : NULL, &vocab->alloc, limits, x);
  if (status == TSL_OK && (status = attach(*space, *x)) != TSL_OK) tsl__exprs_free(*x);
  if (status == TSL_OK) return TSL_OK;
  tsl__space_free(*space);
  *space = NULL;
  *x = NULL;
  return status;
}

tsl__state tsl__states_of(void *states, tsl__expr e) { return state_of(states, e); }
tsl__state tsl__state_of(tsl__space *space, tsl__expr e) {
  tsl__states *c = space->hook_ctx;
  if (tsl__exprs_names_tokens(c->x)) space->names_tokens = true;
  return state_of(c, e);
}
tsl__exprs *tsl__states_exprs(const tsl__space *space) {
  return space->hook == &tsl__states_hook ? ((tsl__states *)space->hook_ctx)->x : NULL;
}

void tsl__states_hint(tsl__space *space) {
  for (tsl__state s = 1; s < tsl__space_count(space, states) && space->status == TSL_OK; s++) {
    const tsl__state_rec *r = tsl__state_at(space, s);
    if (atomic_load(&((tsl__state_rec *)(uintptr_t)r)->expanded)) tsl__state_hint(space, r);
  }
}
