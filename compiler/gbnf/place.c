/* place.c - which GBNF rules stand in place, as expressions in the frame of who names them.
 *
 *   plain ones     regular and small. No rule in it is recursive, or its recursion is at one edge
 *                  only (ws ::= " " ws | ""; digits ::= digits [0-9] | [0-9]). No long counted
 *                  repeat is in it, which would compete for its frame's register
 *   counted ones   A frame that may end after each of its characters leaves as many places over as
 *                  the vocabulary has nodes. With a register each of these is walked anew. So a
 *                  rule whose texts may end in a long counted repeat of a class (field ::=
 *                  [^,\n]{0,80}) is put in place, too. So is one that may end in such a rule (row
 *                  ::= field ("," field)*). Where what follows may begin with a character of the
 *                  class (name " (" year ")") several loops may be active. These loops are
 *                  alternatives in one frame; otherwise they would be several stacks.
 *
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"

#define INLINE_NODES 2000u /* of a rule that is put in place, the rules in it included */
#define FRAME_REPEATS 256u /* long repeats of one frame, up to which some are put in place */

/* ---- plain rules ----------------------------------------------------------------------------- */

static bool is_plain(const tsl__gbnf *g, tsl__expr e) {
  return e != TSL__NONE && !tsl__expr_has_calls(g->x, e);
}

/* Is a node made of characters and of rules that are in place already, without long counted
 * repeats? Depth: the node's height. */
static bool plain(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_TOKEN || n.kind == TSL__G_TOKENS || tsl__gbnf_is_long(&n)) return false;
  if (n.kind == TSL__G_EXPR) return n.a == TSL__NONE || is_plain(g, n.a);
  if (n.kind == TSL__G_REF)
    return !g->rules.at[n.a].facts.more || is_plain(g, g->rules.at[n.a].whole);
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) return plain(g, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++)
      if (!plain(g, g->lists.at[n.a + i])) return false;
  return true;
}

static bool mentions(tsl__gbnf *g, uint32_t node, uint32_t rule) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_REF) return n.a == rule;
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) return mentions(g, n.a, rule);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++)
      if (mentions(g, g->lists.at[n.a + i], rule)) return true;
  return false;
}

/* The two sides of A = X·A | B, where A is at the right edge only. */
typedef struct linear {
  TSL__VEC(tsl__expr) step, step_plus, base, base_plus; /* alternatives */
} linear;

static bool add_linear(tsl__gbnf *g, uint32_t prefix, uint32_t node, bool recurs, linear *out) {
  uint32_t both = recurs ? prefix : tsl__gbnf_pair(g, prefix, node);
  if (g->no_memory || !plain(g, both)) return false;
  tsl__expr e = tsl__gbnf_lower(g, both), plus = tsl__gbnf_lower_plus(g, both);
  const tsl_allocator *a = tsl__exprs_allocator(g->x);
  bool kept = recurs ? tsl__vec_push(a, &out->step, e) && tsl__vec_push(a, &out->step_plus, plus)
                     : tsl__vec_push(a, &out->base, e) && tsl__vec_push(a, &out->base_plus, plus);
  if (!kept) g->no_memory = true;
  return kept;
}

/* Split prefix·node; false if the rule stands elsewhere too, or something is not plain. Depth: the
 * node's height. */
static bool split_linear(tsl__gbnf *g, uint32_t prefix, uint32_t node, uint32_t rule, linear *out) {
  const tsl__gnode n = g->nodes.at[node];
  if (!tsl__gbnf_facts(g, node).some) return true;
  if (!mentions(g, node, rule)) return add_linear(g, prefix, node, false, out);
  if (n.kind == TSL__G_REF) return add_linear(g, prefix, node, true, out);
  if (n.kind == TSL__G_REPEAT && n.b == 0 && n.c == 1)
    return add_linear(g, prefix, 0, false, out) && split_linear(g, prefix, n.a, rule, out);
  if (n.kind == TSL__G_ALT) {
    for (uint32_t i = 0; i < n.b; i++)
      if (!split_linear(g, prefix, g->lists.at[n.a + i], rule, out)) return false;
    return true;
  }
  if (n.kind != TSL__G_SEQ) return false;
  uint32_t before = n.b == 2 ? g->lists.at[n.a] : tsl__gbnf_node(g, TSL__G_SEQ, n.a, n.b - 1, 0);
  return !mentions(g, before, rule) &&
         split_linear(g, tsl__gbnf_pair(g, prefix, before), g->lists.at[n.a + n.b - 1], rule, out);
}

static void place_linear(tsl__gbnf *g, uint32_t rule) {
  tsl__grule *r = &g->rules.at[rule];
  const tsl_allocator *a = tsl__exprs_allocator(g->x);
  linear l = {0};
  if (split_linear(g, 0, r->body, rule, &l)) {
    tsl__expr steps = tsl__expr_star(g->x, tsl__expr_alt_n(g->x, l.step.at, l.step.n)),
              plus = tsl__expr_alt_n(g->x, l.step_plus.at, l.step_plus.n);
    r->whole = tsl__expr_seq(g->x, steps, tsl__expr_alt_n(g->x, l.base.at, l.base.n));
    r->plus = tsl__expr_alt(g->x, tsl__expr_seq(g->x, plus, r->whole),
                            tsl__expr_alt_n(g->x, l.base_plus.at, l.base_plus.n));
  }
  tsl__vec_free(a, &l.step);
  tsl__vec_free(a, &l.step_plus);
  tsl__vec_free(a, &l.base);
  tsl__vec_free(a, &l.base_plus);
}

/* Left recursion of one rule over plain parts: B (X)* is plain. */
static void place_cycle(tsl__gbnf *g, uint32_t rule) {
  tsl__grule *r = &g->rules.at[rule];
  const tsl__gcycle *c = &g->cycles.at[r->cycle];
  for (size_t i = 0; i < c->terms[0].n; i++)
    if (!plain(g, c->terms[0].at[i].rest)) return;
  r->plus = tsl__gbnf_cycle_body(g, rule);
  r->whole = tsl__expr_alt(g->x, r->plus, r->facts.shortest ? TSL__NONE : TSL__EPS);
}

static void place_plain(tsl__gbnf *g, uint32_t rule) {
  tsl__grule *r = &g->rules.at[rule];
  if (!r->facts.more || r->size > INLINE_NODES || r->mark) return;
  if (r->cycle != TSL__G_NO_CYCLE) {
    if (g->cycles.at[r->cycle].count == 1) place_cycle(g, rule);
  } else if (r->recursive) {
    place_linear(g, rule);
  } else if (plain(g, r->body)) {
    r->whole = tsl__gbnf_lower(g, r->body);
    r->plus = tsl__gbnf_lower_plus(g, r->body);
  }
}

/* ---- counted ones ---------------------------------------------------------------------------- */

/* What is known of a rule. */
typedef struct counted {
  bool apart;       /* it is named where it must have a frame of its own */
  bool unsure;      /* it is not for standing in place */
  bool wanted;      /* one that shall stand in place names it */
  bool ends;        /* its texts may end where a class is counted */
  uint32_t repeats; /* long ones, with those of the rules in it */
} counted;

typedef struct placing {
  tsl__gbnf *g;
  counted *rules;
  counted *rule; /* that is being looked at */
} placing;

/* A class, maybe by its name? */
static bool is_class(const tsl__gbnf *g, uint32_t node) {
  if (g->nodes.at[node].kind == TSL__G_REF) node = g->rules.at[g->nodes.at[node].a].body;
  return g->nodes.at[node].kind == TSL__G_CLASS;
}

/* So many more long repeats in its frame; false: these are too many. */
static bool add_repeats(placing *p, uint32_t repeats, bool ends) {
  if (p->rule->repeats + repeats > FRAME_REPEATS) return false;
  p->rule->repeats += repeats;
  p->rule->ends |= ends;
  return true;
}

static void look_at_name(placing *p, uint32_t rule, bool last) {
  const tsl__grule *r = &p->g->rules.at[rule];
  counted *c = &p->rules[rule];
  if (!r->facts.more || is_plain(p->g, r->whole) ||
      (!c->unsure && add_repeats(p, c->repeats, last && c->ends)))
    return;
  p->rule->unsure = c->apart = true;
}

static void look_at(placing *p, uint32_t node, bool last);

static void look_at_items(placing *p, const tsl__gnode *n, bool last) {
  for (uint32_t i = n->b; i-- > 0;) {
    uint32_t item = p->g->lists.at[n->a + i];
    look_at(p, item, last);
    last &= n->kind == TSL__G_ALT || tsl__gbnf_facts(p->g, item).shortest == 0;
  }
}

/* Looks at what a node counts and names; `last`: texts may end with it. Depth: its height. */
static void look_at(placing *p, uint32_t node, bool last) {
  const tsl__gnode n = p->g->nodes.at[node];
  uint32_t before = p->rule->repeats;
  tsl__gbnf_look(p->g, 1);
  if (n.kind == TSL__G_TOKEN || n.kind == TSL__G_TOKENS || (n.kind == TSL__G_EXPR && n.b))
    p->rule->unsure = true;
  if (n.kind == TSL__G_REF) look_at_name(p, n.a, last);
  if (n.kind == TSL__G_PLUS) look_at(p, n.a, last);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT) look_at_items(p, &n, last);
  if (n.kind != TSL__G_REPEAT) return;
  if (tsl__gbnf_is_long(&n) && is_class(p->g, n.a)) {
    p->rule->unsure |= !add_repeats(p, 1, last);
    return;
  }
  look_at(p, n.a, last);
  /* it is written out */
  if (n.c != TSL__INF && !tsl__gbnf_is_long(&n))
    p->rule->repeats = before + (p->rule->repeats - before) * n.c;
  if (p->rule->repeats > FRAME_REPEATS) p->rule->repeats = FRAME_REPEATS + 1;
}

static void look_at_rule(placing *p, uint32_t rule) {
  const tsl__grule *r = &p->g->rules.at[rule];
  p->rule = &p->rules[rule];
  p->rule->unsure = r->recursive || r->cycle != TSL__G_NO_CYCLE || !r->facts.more ||
                    r->size > INLINE_NODES || r->mark;
  look_at(p, r->body, true);
}

/* All rules that a node names are wanted in place. Depth: its height. */
static void want(placing *p, uint32_t node) {
  const tsl__gnode n = p->g->nodes.at[node];
  tsl__gbnf_look(p->g, 1);
  if (n.kind == TSL__G_REF) p->rules[n.a].wanted = true;
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) want(p, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++) want(p, p->g->lists.at[n.a + i]);
}

static void place_counted(placing *p, uint32_t root) {
  tsl__gbnf *g = p->g;
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) look_at_rule(p, g->order.at[i]);
  p->rules[root].apart = true;
  for (size_t i = g->order.n; i-- > 0 && !tsl__gbnf_failed(g);) {
    counted *c = &p->rules[g->order.at[i]];
    c->wanted = !c->apart && !c->unsure && (c->wanted || c->ends);
    if (c->wanted) want(p, g->rules.at[g->order.at[i]].body);
  }
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) {
    tsl__grule *r = &g->rules.at[g->order.at[i]];
    if (!p->rules[g->order.at[i]].wanted || is_plain(g, r->whole)) continue;
    tsl__expr whole = tsl__gbnf_lower(g, r->body);
    if (!is_plain(g, whole)) continue; /* it names a rule that has a frame of its own */
    r->whole = whole;
    r->plus = tsl__gbnf_lower_plus(g, r->body);
  }
}

/* ---- both ------------------------------------------------------------------------------------ */

void tsl__gbnf_place(tsl__gbnf *g, uint32_t root) {
  size_t size = g->rules.n * sizeof(counted);
  placing p = {.g = g};
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) place_plain(g, g->order.at[i]);
  if (tsl__gbnf_failed(g)) return;
  if (!(p.rules = tsl__alloc_zero(&g->alloc, size))) {
    g->no_memory = true;
    return;
  }
  place_counted(&p, root);
  tsl__free(&g->alloc, p.rules, size);
}
