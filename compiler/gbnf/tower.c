/* tower.c - rules that call others, and need no frame of their own.
 *
 * Problem   expr ::= and ("|" and)*; and ::= sum ("&" sum)*; sum ::= … down to item ::= name | "("
 *           expr ")". Each level can contain itself, so each has a frame of its own. A C-like
 *           grammar has twelve levels. A walk that reaches an expression opens twelve frames. Where
 *           an item ends, it must go on in each of them.
 * Idea      A frame is needed only where a rule comes back to itself. So one rule of each cycle of
 *           calls keeps its frame. The names of the others are replaced by their bodies, as
 *           expressions. Expressions are interned, so a body that is used twice is stored once.
 *           After an item the state is ("*" …)* ("+" …)* ("&" …)* ("|" …)*, in one frame.
 * Which     The rules are in an order, callees before callers. A rule keeps its frame if it calls
 *           itself, or if an earlier rule in that order calls it. The other rules then have no
 *           cycles. Left-recursive rules are loops already, if they are alone in their cycle. A
 *           rule that several rules name keeps its frame unless it is small: in a frame of its own
 *           its walks serve all of them.
 * Example   In the grammar above expr keeps its frame, as item names it. `and`, `sum` and item are
 *           put in place.
 * Cost      Each body is looked at once; a level is lowered once.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"

#define SHARED_NODES 32u  /* of a rule that several rules name, up to which it is put in place */
#define TOWER_NODES 2000u /* of a rule with all that stands in place in it, each once */

typedef struct level {
  uint32_t place;  /* in the order, plus 1; 0: it is not in it */
  uint32_t namer;  /* a rule that names it, plus 1 */
  uint32_t size;   /* nodes, with those of rules in place */
  bool may, frame; /* it may stand in place; it keeps its frame */
  bool several;    /* rules name it */
} level;

typedef struct tower {
  tsl__gbnf *g;
  level *rules;
  uint32_t rule; /* whose body is looked at */
} tower;

/* Has a node neither tokens nor long counted repeats, which would compete for its frame's register?
 * Depth: its height. */
static bool may_stand(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_TOKEN || n.kind == TSL__G_TOKENS || tsl__gbnf_is_long(&n)) return false;
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) return may_stand(g, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++)
      if (!may_stand(g, g->lists.at[n.a + i])) return false;
  return true;
}

/* A name in the body of the rule that is looked at. */
static void look_at_name(tower *t, uint32_t named) {
  level *l = &t->rules[named], *by = &t->rules[t->rule];
  if (l->namer && l->namer != t->rule + 1) l->several = true;
  l->namer = t->rule + 1;
  if (by->may && (!l->place || l->place >= by->place)) l->frame = true;
}

/* The names in a node; adds its nodes to the rule's size. Depth: its height. */
static void look_at(tower *t, uint32_t node) {
  const tsl__gnode n = t->g->nodes.at[node];
  tsl__gbnf_look(t->g, 1);
  t->rules[t->rule].size++;
  if (n.kind == TSL__G_REF) look_at_name(t, n.a);
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) look_at(t, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++) look_at(t, t->g->lists.at[n.a + i]);
}

/* Calls `visit` for each node that a rule's texts are made of: its body, or the rests of its
 * cycle's terms. False as soon as that returns false. */
static bool each_part(tower *t, uint32_t rule, bool (*visit)(tower *t, uint32_t node)) {
  const tsl__grule *r = &t->g->rules.at[rule];
  if (r->cycle == TSL__G_NO_CYCLE) return visit(t, r->body);
  const tsl__gcycle *c = &t->g->cycles.at[r->cycle];
  const tsl__gterms *terms = &c->terms[r->position];
  for (size_t i = 0; i < terms->n; i++)
    if (!visit(t, terms->at[i].rest)) return false;
  return true;
}

static bool part_may(tower *t, uint32_t node) { return may_stand(t->g, node); }
static bool look_at_part(tower *t, uint32_t node) {
  look_at(t, node);
  return !tsl__gbnf_failed(t->g);
}

static void find_levels(tower *t) {
  tsl__gbnf *g = t->g;
  for (size_t i = 0; i < g->order.n; i++) t->rules[g->order.at[i]].place = (uint32_t)i + 1;
  for (uint32_t i = 0; i < g->rules.n && !tsl__gbnf_failed(g); i++) {
    const tsl__grule *r = &g->rules.at[i];
    bool alone = r->cycle == TSL__G_NO_CYCLE || g->cycles.at[r->cycle].count == 1;
    t->rules[i].may = r->reached && r->facts.more && t->rules[i].place && alone &&
                      r->whole == TSL__NONE && r->plus == TSL__NONE && each_part(t, i, part_may);
  }
  for (uint32_t i = 0; i < g->rules.n && !tsl__gbnf_failed(g); i++) {
    t->rule = i;
    if (g->rules.at[i].reached && g->rules.at[i].whole == TSL__NONE) each_part(t, i, look_at_part);
  }
}

/* Adds the sizes of the rules that stand in place in a node. Depth: its height. */
static bool add_sizes(tower *t, uint32_t node) {
  const tsl__gnode n = t->g->nodes.at[node];
  tsl__gbnf_look(t->g, 1);
  level *l = &t->rules[t->rule];
  if (n.kind == TSL__G_REF && t->rules[n.a].may && !t->rules[n.a].frame &&
      t->rules[n.a].namer != t->rule + 1) {
    t->rules[n.a].namer = t->rule + 1; /* each once */
    l->size += t->rules[n.a].size;
  }
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) return add_sizes(t, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b && l->size <= TOWER_NODES; i++)
      add_sizes(t, t->g->lists.at[n.a + i]);
  return l->size <= TOWER_NODES;
}

static void put_in_place(tower *t, uint32_t rule) {
  tsl__gbnf *g = t->g;
  level *l = &t->rules[rule];
  t->rule = rule;
  if (!l->may || l->frame) return;
  if (!each_part(t, rule, add_sizes) || l->size > (l->several ? SHARED_NODES : TOWER_NODES)) {
    l->frame = true;
    return;
  }
  tsl__grule *r = &g->rules.at[rule];
  bool nullable = r->facts.shortest == 0;
  if (r->cycle == TSL__G_NO_CYCLE) {
    tsl__expr whole = tsl__gbnf_lower(g, r->body), plus = tsl__gbnf_lower_plus(g, r->body);
    r = &g->rules.at[rule];
    r->whole = whole;
    r->plus = plus;
  } else {
    tsl__expr plus = tsl__gbnf_cycle_body(g, rule);
    r = &g->rules.at[rule];
    r->plus = plus;
    r->whole = tsl__expr_alt(g->x, plus, nullable ? TSL__EPS : TSL__NONE);
  }
}

void tsl__gbnf_tower(tsl__gbnf *g, uint32_t root) {
  size_t size = g->rules.n * sizeof(level);
  tower t = {.g = g, .rules = tsl__alloc_zero(&g->alloc, size)};
  if (!t.rules) {
    g->no_memory = true;
    return;
  }
  find_levels(&t);
  for (size_t i = 0; i < g->rules.n; i++) t.rules[i].namer = 0;
  t.rules[root].frame = true;
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) put_in_place(&t, g->order.at[i]);
  tsl__free(&g->alloc, t.rules, size);
}
