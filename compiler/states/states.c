/* states.c - see states.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/states.h"

#include "compiler/expr/nonascii.h"
#include "compiler/expr/deriv.h"
#include "compiler/states/failure.h"
#include "compiler/states/hints.h"
#include "compiler/states/letters.h"
#include "compiler/states/meaning.h"
#include "compiler/states/outline.h"
#include "runtime/walk/fixed.h"
#include "runtime/position/distinct.h"
#include "runtime/walk/names.h"
#include "runtime/vocab/vocab.h"
#include "runtime/walk/nonascii.h"

#include <stdio.h>

/* alternatives from which on it is worth looking which bytes they tell apart */
#define ALIKE_MIN 4u

typedef TSL__VEC(tsl__edge) edge_vec;
typedef TSL__VEC(tsl__token_edge) token_vec;

/* literals that are spelled one after the other and share their copies; a power of two */
#define COPIES 16u

/* A literal's bytes, which do not move as those of the expressions do: states share it that spell
 * what is left of it, so that memory does not grow with the square of its length. */
typedef struct literal_copy {
  uint32_t begin, end; /* where it is among the expressions' bytes */
  const char *at;      /* NULL: there is none */
} literal_copy;

typedef struct compiler {
  tsl__space *space;
  tsl__exprs *x;
  tsl__calls calls; /* of the state that is being expanded; these are kept for the next one */
  edge_vec edges;
  token_vec tokens;
  TSL__VEC(tsl__state) own; /* the states of the layer's own expressions, by number; 0: none yet */
  tsl__expr some_text;      /* any but the empty one, once asked for */
  /* of the rest of a JSON string of any text, and of any but the empty one, once asked for */
  tsl__state any_rest, some_rest;
  literal_copy copies[COPIES]; /* the last of those whose end has that hash */
} compiler;

static tsl_status failure(const compiler *c) {
  return c->space->status != TSL_OK ? c->space->status : c->x->status;
}

/* ---- expressions to states ------------------------------------------------------------------- */

static uint64_t handle_hash(tsl__expr e) { return tsl__mix(((uint64_t)e << 1) + 1); }

/* A layer's own expressions have their states in a list, as the layer below knows none of them.
 * Those of the vocabulary have them in its list; few got theirs later, and are looked up. */
static bool is_listed(const compiler *c, tsl__expr e) { return e >= c->x->base; }

static tsl__state listed(const compiler *c, tsl__expr e) {
  return e - c->x->base < c->own.n ? c->own.at[e - c->x->base] : 0;
}

static tsl__state find_below(const compiler *c, tsl__expr e) {
  for (const tsl__space *layer = c->space->parent; layer; layer = layer->parent) {
    const compiler *below = layer->hook_ctx;
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

static inline tsl__state find_state(const compiler *c, tsl__expr e) {
  return TSL__LIKELY(is_listed(c, e)) ? listed(c, e) : find_below(c, e);
}

static bool list_state(compiler *c, tsl__expr e, tsl__state state) {
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
static bool keep_state(compiler *c, tsl__expr e, tsl__state state) {
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
static bool note_names(compiler *c, tsl__expr e, const tsl__node *n, tsl__state_rec *r) {
  tsl__keyed keyed = {0};
  uint32_t names;
  if ((n->kind == TSL__K_RESUME || n->kind == TSL__K_ALT) && tsl__expr_is_resume(c->x, e, &names))
    return tsl__resume_make(c->space, r, names);
  bool spells = n->kind == TSL__K_RULE ? tsl__rule_at(c->x, n->a)->flags & TSL__RULE_NAMES
                                       : !(n->flags & TSL__CALLS);
  if (!spells || !names_of(c->x, e, &keyed)) return true;
  r->flags |= TSL__STATE_KEYED;
  r->keyed = tsl__arena_copy(&c->space->arena, &keyed, sizeof keyed);
  if (!r->keyed) tsl__space_no_memory(c->space);
  return r->keyed;
}

/* ---- fixed texts ----------------------------------------------------------------------------- */

/* What a state's `fixed` points to. */
typedef struct listed_texts {
  tsl__fixed fixed;
  tsl__stringset set; /* UINT32_MAX: they are a literal */
} listed_texts;

static const listed_texts *texts_of(const tsl__state_rec *r) {
  return (const listed_texts *)(const void *)tsl__state_fixed(r);
}

static bool is_texts(const tsl__node *n) {
  return n->kind == TSL__K_KEYS || n->kind == TSL__K_STRSET || n->kind == TSL__K_LIT;
}

/* Any text but those of *texts? */
static bool other_texts(const tsl__exprs *x, const tsl__node *n, tsl__node *texts) {
  if (n->kind != TSL__K_AND || n->b != 2) return false;
  for (int i = 0; i < 2; i++) {
    tsl__expr both[2] = {tsl__list_at(x, n->a)[i], tsl__list_at(x, n->a)[1 - i]};
    tsl__node m = tsl__node_at(x, both[1]);
    if (both[0] != x->text || m.kind != TSL__K_NOT) continue;
    *texts = tsl__node_at(x, m.a);
    return is_texts(texts);
  }
  return false;
}

/* Does the rule spell texts of a set, or others? */
static bool is_set(const tsl__rule *rule) {
  return rule->flags & (TSL__RULE_NAMES | TSL__RULE_OTHERS);
}

/* The node of fixed texts that e spells as the rest of a JSON string, or of those that it does not;
 * false if it is something else. */
static bool fixed_texts(tsl__exprs *x, tsl__expr e, tsl__node *texts, bool *others) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_RULE) {
    const tsl__rule *rule = tsl__rule_at(x, n.a);
    if (is_set(rule)) {
      *texts = (tsl__node){
          .kind = TSL__K_STRSET, .a = rule->param, .c = tsl__stringset_size(x, rule->param)};
      *others = rule->flags & TSL__RULE_OTHERS;
      return true;
    }
    if (!rule->body) return false;
    n = tsl__node_at(x, rule->body);
  }
  if (n.kind != TSL__K_JSTR) return false;
  *texts = tsl__node_at(x, n.a);
  *others = !is_texts(texts);
  return !*others ||
         other_texts(x, &(tsl__node){.kind = texts->kind, .a = texts->a, .b = texts->b}, texts);
}

/* May it spell fixed texts? Most expressions are of other kinds, and most rules not known yet. */
static inline bool may_be_fixed(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind != TSL__K_RULE) return n->kind == TSL__K_JSTR;
  const tsl__rule *rule = tsl__rule_at(x, n->a);
  return is_set(rule) || (rule->body && tsl__node_at(x, rule->body).kind == TSL__K_JSTR);
}

/* The bytes of a literal, where they stay; NULL when out of memory. */
static const char *literal_text(compiler *c, const tsl__node *n) {
  uint32_t end = n->a + n->b;
  literal_copy *copy = &c->copies[tsl__mix(end) & (COPIES - 1)];
  if (!copy->at || copy->end != end || n->a < copy->begin)
    *copy = (literal_copy){n->a, end,
                           tsl__arena_copy(&c->space->arena, tsl__literal_at(c->x, n->a), n->b)};
  return copy->at ? copy->at + (n->a - copy->begin) : NULL;
}

static bool note_fixed(compiler *c, tsl__expr e, tsl__state_rec *r) {
  tsl__arena *arena = &c->space->arena;
  tsl__node n;
  bool others;
  if (!fixed_texts(c->x, e, &n, &others)) return true;
  listed_texts made = {{NULL, 0, 1, 0, others}, n.kind == TSL__K_LIT ? UINT32_MAX : n.a};
  if (n.kind == TSL__K_LIT) {
    tsl__string only = {literal_text(c, &n), n.b};
    made.fixed.texts = only.at ? tsl__arena_copy(arena, &only, sizeof only) : NULL;
  } else {
    made.fixed = (tsl__fixed){tsl__strings_at(c->x, n.a)->at, n.b, n.c, n.d, others};
  }
  const listed_texts *kept = made.fixed.texts ? tsl__arena_copy(arena, &made, sizeof made) : NULL;
  r->fixed = kept ? &kept->fixed : NULL;
  if (!r->fixed) tsl__space_no_memory(c->space);
  return r->fixed;
}

static tsl__state state_of(compiler *c, tsl__expr e);
static bool no_failure(compiler *c);

/* Names, and texts other than names, are spelled without expressions: a state between two of their
 * characters has none until somebody reads a byte that the table does not tell. */
typedef struct spelled {
  listed_texts listed;
  tsl__keyed keyed;
} spelled;

/* What a state spells that has no expression; NULL: it has one. */
static const listed_texts *spelled_of(const tsl__state_rec *r) {
  return r->handle == TSL__NONE ? texts_of(r) : NULL;
}

/* Any text but those of `rest`; the empty one alone is excluded at the end of each name. */
static tsl__expr text_but(compiler *c, tsl__expr rest) {
  if (rest == TSL__NONE) return tsl__expr_text(c->x);
  if (rest != TSL__EPS) return tsl__expr_text_not(c->x, rest);
  if (c->some_text == TSL__NONE) c->some_text = tsl__expr_text_not(c->x, rest);
  return c->some_text;
}

/* The expression of a state. That of a state of names may be made anew each time. */
static tsl__expr expr_of(compiler *c, const tsl__state_rec *r) {
  const listed_texts *s = spelled_of(r);
  if (!s) return r->handle;
  if (s->fixed.others)
    return tsl__expr_json_string(c->x, text_but(c, tsl__strset_node(c->x, s->set, s->fixed.lo,
                                                                    s->fixed.hi, s->fixed.depth)));
  return tsl__expr_json_string(
      c->x, tsl__keys_node(c->x, s->set, s->fixed.lo, s->fixed.hi, s->fixed.depth));
}

static uint64_t spelled_hash(const listed_texts *s) {
  return tsl__mix(((uint64_t)s->set << 32 | s->fixed.depth) ^
                  tsl__mix((uint64_t)s->fixed.lo << 32 | s->fixed.hi)) +
         s->fixed.others;
}

static tsl__state find_spelled(const tsl__space *space, const listed_texts *s, uint64_t hash) {
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->states.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const listed_texts *is = spelled_of(tsl__state_at(space, i));
      if (is && is->set == s->set && is->fixed.lo == s->fixed.lo && is->fixed.hi == s->fixed.hi &&
          is->fixed.depth == s->fixed.depth && is->fixed.others == s->fixed.others)
        return i;
    }
  }
  return 0;
}

/* The state of the rest of a JSON string that spells texts [lo, hi) of a set, all of which begin
 * with the same `depth` bytes, as names, or any text but these. */
static tsl__state spelled_state(compiler *c, tsl__stringset set, uint32_t lo, uint32_t hi,
                                uint32_t depth, bool others) {
  const spelled s = {{{tsl__strings_at(c->x, set)->at, lo, hi, depth, others}, set},
                     {1, {{lo, hi}}}};
  uint64_t hash = spelled_hash(&s.listed);
  tsl__state state = find_spelled(c->space, &s.listed, hash);
  if (state) return state;
  const spelled *kept = tsl__arena_copy(&c->space->arena, &s, sizeof s);
  if (kept && !(state = tsl__state_new(c->space, 1))) return 0;
  if (kept) {
    tsl__state_rec *r = tsl__state_own(c->space, state);
    r->flags = others ? 0 : TSL__STATE_KEYED;
    r->fixed = &kept->listed.fixed;
    r->keyed = others ? NULL : &kept->keyed;
  }
  if (kept && tsl__index_add(&c->space->states.index, &c->space->alloc, hash, state)) return state;
  return tsl__space_no_memory(c->space), 0;
}

/* Is one text left, and spelled? */
static bool is_at_end(const tsl__string *texts, uint32_t lo, uint32_t hi, uint32_t depth) {
  return hi - lo == 1 && texts[lo].length == depth;
}

/* The rest of a text that may not be one of these, whose spelling ends here: any text, or any but
 * the empty one. Once asked for they are known. */
static tsl__state other_end(compiler *c, bool some) {
  tsl__state *known = some ? &c->some_rest : &c->any_rest;
  if (*known) return *known;
  tsl__state s = state_of(c, tsl__expr_json_string(c->x, text_but(c, some ? TSL__EPS : TSL__NONE)));
  return no_failure(c) ? *known = s : 0;
}

/* The rest of fixed texts as an expression; TSL__NONE: none is left. */
static tsl__expr rest_of(compiler *c, const tsl__state_rec *from, uint32_t lo, uint32_t hi,
                         uint32_t depth) {
  const listed_texts *t = texts_of(from);
  tsl__node n;
  bool others;
  if (lo >= hi) return TSL__NONE;
  if (t->set != UINT32_MAX) return tsl__strset_node(c->x, t->set, lo, hi, depth);
  return fixed_texts(c->x, from->handle, &n, &others) ? tsl__literal_tail(c->x, &n, depth)
                                                      : TSL__NONE;
}

static tsl__state fixed_state(void *ctx, const tsl__state_rec *from, uint32_t lo, uint32_t hi,
                              uint32_t depth) {
  compiler *c = ctx;
  const listed_texts *t = texts_of(from);
  bool others = t->fixed.others, ended = lo >= hi || is_at_end(t->fixed.texts, lo, hi, depth);
  if (others && ended) return other_end(c, lo < hi);
  if (lo < hi && t->set != UINT32_MAX && (others || from->flags & TSL__STATE_KEYED))
    return spelled_state(c, t->set, lo, hi, depth, others);
  tsl__expr rest = rest_of(c, from, lo, hi, depth);
  tsl__state s = state_of(c, tsl__expr_json_string(c->x, others ? text_but(c, rest) : rest));
  return no_failure(c) ? s : 0;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* The state of what is left of e, which is that of `own`. */
static tsl__state left_of(compiler *c, tsl__expr e, tsl__expr left, tsl__state own) {
  return left == e ? own : state_of(c, left);
}

/* Notes whether what comes back to these states must be new, or must not. */
static void note_guard(compiler *c, tsl__expr e, tsl__state first, uint32_t copies) {
  uint8_t kinds = 0;
  if (!tsl__expr_guards(c->x)) return;
  tsl__expr rest = tsl__expr_unmarked(c->x, e, TSL__NEW_ITEM | TSL__NEW_NAME, &kinds);
  if (!kinds) return;
  tsl__state otherwise = left_of(c, e, rest, first), differs = 0;
  bool loop = tsl__node_at(c->x, rest).loop != 0, loops = false;
  if (kinds & TSL__SAME_ITEM) {
    tsl__expr others = tsl__expr_unmarked(c->x, e, TSL__SAME_ITEM, &kinds);
    differs = left_of(c, e, others, first);
    loops = tsl__node_at(c->x, others).loop != 0;
  }
  for (uint32_t i = 0; i < copies; i++) {
    tsl__state_rec *r = tsl__state_own(c->space, first + i);
    r->guarded = kinds;
    r->otherwise = otherwise ? otherwise + (loop ? i : 0) : 0;
    if (kinds & TSL__SAME_ITEM) r->differs = differs ? differs + (loops ? i : 0) : 0;
    r->run = 0; /* it is not told of such, whose place that may be */
  }
}

/* A failure among the expressions is one of the piece of work. */
static bool no_failure(compiler *c) {
  if (TSL__UNLIKELY(c->x->status != TSL_OK))
    tsl__space_fail(c->space, c->x->status, tsl__exprs_why(c->x));
  return c->space->status == TSL_OK;
}

/* What is told of the three states of a loop. */
static void note_loop(compiler *c, tsl__expr e, const tsl__node *n, tsl__state first) {
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

static bool note_state(compiler *c, tsl__expr e, const tsl__node *n, tsl__state state) {
  tsl__state_rec *r = tsl__state_own(c->space, state);
  r->handle = e;
  if (tsl__nullable_in(n, TSL__PHASE_LOW)) r->flags |= TSL__STATE_NULLABLE;
  return note_names(c, e, n, r) && (!may_be_fixed(c->x, n) || note_fixed(c, e, r));
}

static TSL__SELDOM tsl__state add_state(compiler *c, tsl__expr e) {
  tsl__node n = tsl__node_at(c->x, e);
  if (n.kind == TSL__K_JSTR) {
    tsl__node texts = tsl__node_at(c->x, n.a);
    if (texts.kind == TSL__K_KEYS)
      return spelled_state(c, texts.a, texts.b, texts.c, texts.d, false);
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
  if (!no_failure(c)) return 0; /* and the state, half made, is not found again */
  return keep_state(c, e, first) ? first : 0;
}

static inline tsl__state state_of(compiler *c, tsl__expr e) {
  if (e == TSL__NONE) return 0;
  tsl__state s = find_state(c, e);
  return s ? s : add_state(c, e);
}

static tsl__target target_of(compiler *c, const tsl__part *p) {
  static const uint32_t op[] = {[TSL__COUNT_CLEAR] = TSL__OP_CLEAR,
                                [TSL__COUNT_KEEP] = TSL__OP_KEEP,
                                [TSL__COUNT_NEXT] = TSL__OP_NEXT,
                                [TSL__COUNT_FIRST] = TSL__OP_FIRST};
  tsl__state s = state_of(c, p->e);
  return s ? tsl__target_make(s, op[p->count]) : 0;
}

static tsl__target target_of_parts(compiler *c, const tsl__parts *parts) {
  tsl__edge edges[TSL__PARTS_MAX];
  if (parts->n == 0) return 0;
  if (parts->n == 1) return target_of(c, &parts->at[0]);
  for (uint32_t i = 0; i < parts->n; i++) edges[i] = (tsl__edge){0, target_of(c, &parts->at[i])};
  tsl__state fork = tsl__state_fork(c->space, edges, parts->n);
  /* the branches say what becomes of the register */
  return fork ? tsl__target_make(fork, TSL__OP_KEEP) : 0;
}

/* ---- expanding ------------------------------------------------------------------------------- */

static tsl__target derive_target(compiler *c, tsl__expr e, tsl__phase phase, uint8_t byte) {
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
 * of them, and tables that know where a state stays are told at once. */
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
 * a date, of an escape, or of a meet, of which runtime/walk/text_graph.c counts on that bytes are
 * live until they are asked for; escapes are rare anywhere, and bytes beyond ASCII, none of which
 * leads to where it comes from. */
static void may_wait(tsl__exprs *x, tsl__expr e, tsl__reads *r, tsl__bytes *out) {
  tsl__node n = tsl__node_at(x, e);
  /* a called frame begins as its rule */
  if (n.kind == TSL__K_RULE && tsl__rule_at(x, n.a)->body)
    e = tsl__rule_at(x, n.a)->body, n = tsl__node_at(x, e);
  bool plain = !(n.flags & TSL__CALLS), steady = plain && !n.loop && !(n.flags & TSL__COUNTS);
  if (n.kind == TSL__K_SEQ) n = tsl__node_at(x, n.a);
  tsl__node inner = n.kind == TSL__K_JSTR ? tsl__node_at(x, n.a) : n;
  if ((plain && !tsl__may_come_back(x, e)) || is_escape(x, &n) ||
      (n.kind == TSL__K_JSTR && (is_texts(&inner) || !tsl__may_come_back(x, n.a)))) {
    *out = TSL__BYTES_ALL;
  } else if (n.kind == TSL__K_JSTR && inner.kind == TSL__K_AND) {
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
 * bytes tells the two apart. False: that is not known, or not worth looking. */
static bool told_alike(compiler *c, tsl__expr e, const tsl__reads *r,
                       uint8_t first[TSL__ALIKE_MAX]) {
  tsl__alike a;
  if (!is_many(c->x, e) || !tsl__alike_of(c->x, e, &r->edges, &a)) return false;
  tsl__alike_firsts(&a, first);
  return true;
}

/* A layer that is to be frozen has no targets that are LATER. */
static void fill_targets(compiler *c, tsl__expr e, tsl__phase phase, tsl__ranges *out) {
  tsl__reads r;
  tsl__bytes wait = {{0}};
  tsl__target later = TSL__TARGET_LATER;
  tsl__reads_of(c->x, e, &r);
  if (c->space->parent) may_wait(c->x, e, &r, &wait);
  cut(&r.edges, out);
  uint8_t first[TSL__ALIKE_MAX];
  bool told = told_alike(c, e, &r, first);
  for (uint32_t i = 0, b = 0; i < out->n; b = out->upper[i++] + 1u) {
    if (!tsl__bytes_has(&r.live, b))
      out->to[i] = 0;
    else if (tsl__bytes_has(&wait, b))
      out->to[i] = later ^= 1;
    else if (told && first[i] < i && !tsl__target_is_later(out->to[first[i]]))
      out->to[i] = out->to[first[i]];
    else
      out->to[i] = derive_target(c, e, phase, (uint8_t)b);
  }
}

static tsl__phase phase_of(const tsl__state_rec *r) {
  return r->flags & TSL__STATE_LOOP ? (tsl__phase)(r->flags / TSL__STATE_PHASE) : TSL__PHASE_LOW;
}

static tsl__target derive(void *ctx, const tsl__state_rec *r, uint8_t byte) {
  compiler *c = ctx;
  tsl__target t = derive_target(c, expr_of(c, r), phase_of(r), byte);
  return no_failure(c) ? t : TSL__TARGET_LATER;
}

/* Ranges of which the state's are parts: those of a class that live or die alike may be one
 * there. */
static bool alike(void *ctx, const tsl__state_rec *r, uint8_t *first) {
  compiler *c = ctx;
  tsl__alike a;
  tsl__bytes edges = {{0}};
  for (unsigned i = 0; i + 1 < r->ranges; i++) tsl__bytes_add(&edges, tsl__state_upper(r)[i] + 1u);
  if (!tsl__alike_of(c->x, expr_of(c, r), &edges, &a) || a.n != r->ranges) return false;
  tsl__alike_firsts(&a, first);
  return no_failure(c);
}

static tsl__target beyond(void *ctx, const tsl__state_rec *r, uint64_t *leads) {
  compiler *c = ctx;
  tsl__expr e = expr_of(c, r), to;
  tsl__node n = tsl__node_at(c->x, e);
  /* a called frame begins as its rule */
  if (n.kind == TSL__K_RULE && tsl__rule_at(c->x, n.a)->body)
    e = tsl__rule_at(c->x, n.a)->body, n = tsl__node_at(c->x, e);
  if (n.loop || n.flags & (TSL__CALLS | TSL__COUNTS) || !tsl__derive_leads(c->x, e, leads, &to))
    return no_failure(c) ? TSL__TARGET_LATER : 0;
  return no_failure(c) ? target_of(c, &(tsl__part){TSL__COUNT_CLEAR, to}) : 0;
}

static tsl__state falls_to(void *ctx, const tsl__state_rec *r, tsl__bytes *but) {
  compiler *c = ctx;
  tsl__expr e = tsl__failure_of(c->x, expr_of(c, r), but);
  return no_failure(c) && e ? find_state(c, e) : 0;
}

static void add_call(compiler *c, const tsl__call *call) {
  tsl__node callee = tsl__node_at(c->x, call->callee);
  tsl__target then = target_of(c, &call->then);
  bool fine = then != 0;
  if (callee.kind == TSL__K_RULE) {
    tsl__edge e = {then, tsl__target_make(state_of(c, call->callee), TSL__OP_CLEAR)};
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

static bool form_of(void *ctx, const tsl__state_rec *r, tsl__hint *hint) {
  compiler *c = ctx;
  tsl__letters l;
  if (without_hint(r)) return false;
  tsl__form_of(c->x, expr_of(c, r), phase_of(r), &l);
  if (!no_failure(c) || (!l.base && !l.like && !l.open)) return false;
  *hint = (tsl__hint){.limit = l.limit,
                      .base = state_of(c, l.base),
                      .except = state_of(c, l.except),
                      .like = state_of(c, l.like),
                      .like_limit = l.like_limit,
                      .like_dead = l.like_dead,
                      .like_far = l.like_far,
                      .like_unit = l.like_unit,
                      .low = state_of(c, l.low),
                      .open = state_of(c, l.open),
                      .low_left = l.low_left};
  return failure(c) == TSL_OK;
}

/* Will the walk not need letters? */
static bool form_is_enough(const tsl__hint *h) {
  return h->base || (h->like && !h->like_far && !h->like_unit && h->like_limit >= TSL__LIKE_ENOUGH);
}

static bool letters_of(void *ctx, const tsl__state_rec *r, tsl__hint *hint) {
  compiler *c = ctx;
  const tsl__hint *form = r->hint;
  tsl__letters l;
  if (without_hint(r) || r->flags / TSL__STATE_PHASE == TSL__PHASE_TOP ||
      (form && form_is_enough(form)))
    return false;
  tsl__letters_of(c->x, expr_of(c, r), &l);
  if (!no_failure(c) || tsl__bytes_empty(&l.letters)) return false;
  *hint = form ? *form : (tsl__hint){.base = 0};
  hint->letters = l.letters;
  hint->wide = l.wide ? tsl__nonascii_of(c->space, l.wide->pairs, l.wide->count, l.whole) : 0;
  hint->exits = l.exits;
  hint->counted = l.counted;
  hint->limit = l.limit;
  hint->dead = l.dead;
  hint->ends = l.ends;
  hint->calls = l.calls;
  return failure(c) == TSL_OK;
}

static unsigned text(void *ctx, const tsl__state_rec *r, uint32_t *least, uint32_t *most) {
  compiler *c = ctx;
  unsigned told = tsl__text_of(c->x, expr_of(c, r), least, most);
  return no_failure(c) ? told : TSL__TEXT_OTHER;
}

static unsigned counted(void *ctx, const tsl__state_rec *r, uint32_t *least, uint32_t *most) {
  compiler *c = ctx;
  unsigned told = spelled_of(r) || r->flags & (TSL__STATE_FORK | TSL__STATE_RESUME)
                      ? TSL__TEXT_OTHER
                      : tsl__counted_of(c->x, r->handle, least, most);
  return no_failure(c) ? told : TSL__TEXT_OTHER;
}

static tsl_status expand(void *ctx, tsl__state state) {
  compiler *c = ctx;
  const tsl__state_rec *r = tsl__state_at(c->space, state);
  tsl__expr e = expr_of(c, r);
  tsl__phase phase = phase_of(r);
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
    for (size_t i = 0; i < c->calls.n && failure(c) == TSL_OK; i++) add_call(c, &c->calls.at[i]);
  }
  tsl__node n = tsl__node_at(c->x, e);
  bool fixed = !(r->flags & TSL__STATE_LOOP) && !r->fixed && may_be_fixed(c->x, &n);
  /* a rule's body is known only now */
  if (failure(c) != TSL_OK || (fixed && !note_fixed(c, e, tsl__state_own(c->space, state))))
    return failure(c);
  return tsl__state_fill(c->space, state, &ranges, c->edges.at, (uint32_t)c->edges.n, c->tokens.at,
                         (uint32_t)c->tokens.n);
}

/* ---- the rest of the hook -------------------------------------------------------------------- */

/* What is left of an escape that is under way, its first byte read. */
static uint64_t rest_of_escape(compiler *c, tsl__expr escape, const tsl__node *n) {
  tsl__reads reads;
  if (n->kind == TSL__K_JHEX) return 4 - n->b;
  tsl__reads_of(c->x, escape, &reads);
  reads.live.w['u' / 64] &= ~((uint64_t)1 << 'u' % 64);
  return tsl__bytes_empty(&reads.live) ? 5 : 1;
}

static uint64_t shortest_with(compiler *c, tsl__expr e, uint32_t count, bool in_string);

/* The most bytes of a character that begins with one of these. */
static uint64_t longest_character(const tsl__bytes *first) {
  uint64_t high = first->w[3];
  return high >> 48 ? 4 : high >> 32 ? 3 : high || first->w[2] ? 2 : 1;
}

/* Shortest completion within a string once a character is read. Where it is not known which one
 * that is, and so how it is spelled, a lower bound. */
static uint64_t after_character(compiler *c, tsl__expr e, uint32_t count) {
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
static uint64_t shortest_with(compiler *c, tsl__expr e, uint32_t count, bool in_string) {
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
    case TSL__K_JESC:
    case TSL__K_JHEX: return total + rest_of_escape(c, e, &n) + after_character(c, n.a, count) + 1;
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
  compiler *c = ctx;
  uint64_t s = shortest_with(c, expr_of(c, tsl__state_at(c->space, state)), count, false);
  return !no_failure(c) || s >= TSL__INF ? TSL__INF : (uint32_t)s;
}

static bool allows(void *ctx, tsl__state resume, uint32_t name) {
  compiler *c = ctx;
  bool allowed = tsl__expr_resume_allows(c->x, tsl__state_at(c->space, resume)->handle, name);
  return no_failure(c) && allowed;
}

static uint64_t allowed(void *ctx, tsl__state resume, uint32_t word, uint64_t *allowed) {
  compiler *c = ctx;
  return tsl__expr_resume_allowed(c->x, tsl__state_at(c->space, resume)->handle, word, allowed);
}

static tsl__target resume(void *ctx, tsl__state resume, uint32_t name) {
  compiler *c = ctx;
  tsl__part after = {TSL__COUNT_CLEAR,
                     tsl__expr_resume_after(c->x, tsl__state_at(c->space, resume)->handle, name)};
  tsl__target t = target_of(c, &after);
  return no_failure(c) ? t : 0;
}

static tsl__state calls(void *ctx, tsl__state resume, uint32_t name, tsl__state *then) {
  compiler *c = ctx;
  tsl__expr rest = TSL__NONE,
            rule =
                tsl__expr_resume_calls(c->x, tsl__state_at(c->space, resume)->handle, name, &rest);
  tsl__state s = state_of(c, rule);
  *then = s ? state_of(c, rest) : 0;
  return no_failure(c) && *then ? s : 0;
}

static tsl__state begins(void *ctx, tsl__state resume, uint32_t name) {
  compiler *c = ctx;
  tsl__expr rule = tsl__expr_resume_begins(c->x, tsl__state_at(c->space, resume)->handle, name);
  tsl__state s = state_of(c, rule);
  return no_failure(c) ? s : 0;
}

static uint32_t name_shortest(void *ctx, tsl__state state, uint32_t name) {
  compiler *c = ctx;
  const tsl__state_rec *r = tsl__state_at(c->space, state);
  uint32_t bytes = r->flags & TSL__STATE_RESUME
                       ? tsl__expr_resume_shortest(c->x, r->handle, name)
                       : tsl__expr_name_shortest(c->x, expr_of(c, r), name);
  return no_failure(c) ? bytes : TSL__INF;
}

static const char *why(void *ctx);

static tsl__state spellings(void *ctx, const tsl__spelled *texts, uint32_t n) {
  compiler *c = ctx;
  tsl__string *strings = tsl__alloc(&c->space->alloc, n * sizeof *strings);
  if (!strings) return tsl__space_no_memory(c->space), 0;
  for (uint32_t i = 0; i < n; i++)
    strings[i] = (tsl__string){(const char *)texts[i].at, texts[i].n};
  tsl__bytes space = {{0}};
  for (const char *p = " \t\n\r"; *p; p++) tsl__bytes_add(&space, (uint8_t)*p);
  tsl__expr all = c->x->spell(c->x->spell_ctx, strings, n);
  all = tsl__expr_seq(c->x, tsl__expr_star(c->x, tsl__expr_bytes(c->x, &space)), all);
  tsl__free(&c->space->alloc, strings, n * sizeof *strings);
  if (failure(c) != TSL_OK) return tsl__space_fail(c->space, failure(c), why(c)), 0;
  return state_of(c, all);
}

static bool outline(void *ctx, tsl__state state, void *to, bool (*put)(void *to, uint32_t word)) {
  compiler *c = ctx;
  return tsl__outline_write(c->x, expr_of(c, tsl__state_at(c->space, state)), to, put);
}

static bool meaning(void *ctx, tsl__state state, const uint8_t *secret, tsl__digest *out) {
  compiler *c = ctx;
  const tsl__state_rec *r = tsl__state_at(c->space, state);
  if (r->flags & (TSL__STATE_FORK | TSL__STATE_KEYED | TSL__STATE_RESUME) || spelled_of(r) ||
      !tsl__meaning_of(c->x, secret, c->space->vocab->trie.nodes[0].height, r->handle, out))
    return false;
  if (r->flags & TSL__STATE_LOOP) out->lo += r->flags / TSL__STATE_PHASE + 1u;
  return true;
}

static void print(void *ctx, tsl__state state, char *out, size_t n) {
  compiler *c = ctx;
  tsl__expr_print(c->x, expr_of(c, tsl__state_at(c->space, state)), out, n);
}

static void begin(void *ctx, uint64_t deadline) {
  tsl__exprs *x = ((compiler *)ctx)->x;
  tsl__exprs_begin(x);
  x->deadline = deadline;
}

static const char *why(void *ctx) {
  compiler *c = ctx;
  return c->space->why ? c->space->why : tsl__exprs_why(c->x);
}
static size_t memory(void *ctx) {
  const compiler *c = ctx;
  return tsl__exprs_memory(c->x) + c->own.cap * sizeof *c->own.at;
}
static uint32_t count(void *ctx) { return (uint32_t)((compiler *)ctx)->x->nodes.n; }
static void release(void *ctx) {
  compiler *c = ctx;
  tsl_allocator a = c->space->alloc;
  tsl__vec_free(&a, &c->calls);
  tsl__vec_free(&a, &c->edges);
  tsl__vec_free(&a, &c->tokens);
  tsl__vec_free(&a, &c->own);
  tsl__exprs_free(c->x);
  tsl__free(&a, c, sizeof *c);
}

const tsl__hook tsl__states_hook = {
    expand,  derive,   alike,   beyond,  falls_to, fixed_state, form_of, letters_of,    text,
    counted, shortest, allows,  allowed, resume,   calls,       begins,  name_shortest, spellings,
    NULL,    meaning,  outline, print,   begin,    why,         memory,  count,         release};

void *tsl__states_open(tsl__space *space, tsl__exprs *x) {
  compiler *c = tsl__alloc(&space->alloc, sizeof *c);
  if (c) *c = (compiler){.space = space, .x = x};
  return c;
}

static tsl_status attach(tsl__space *space, tsl__exprs *x) {
  compiler *c = tsl__states_open(space, x);
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
  compiler *c = space->hook_ctx;
  if (tsl__exprs_names_tokens(c->x)) space->names_tokens = true;
  return state_of(c, e);
}
tsl__exprs *tsl__states_exprs(const tsl__space *space) {
  return space->hook == &tsl__states_hook ? ((compiler *)space->hook_ctx)->x : NULL;
}
