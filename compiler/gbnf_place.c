/* gbnf_place.c - which GBNF rules stand in place, as expressions in the frame of who names them.
 *
 *   plain ones     regular and small: no rule in it is recursive, or its recursion is at one edge only (ws ::= " " ws | ""; digits ::= digits [0-9] | [0-9]), and no long counted repeat
 *                  is in it, which would compete for its frame's register
 *   counted ones   A frame that may end after each of its characters leaves as many places over as the vocabulary has nodes. So a rule whose texts may end in a long counted repeat of a
 *                  class (field ::= [^,\n]{0,80}) is put in place, too, and so is one that may end in such a rule (row ::= field ("," field)*), if nothing that may follow where it is
 *                  named begins with a character of the class: then one loop at most is active, and it is over with what follows.
 *
 * Tested by tests/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf_ast.h"

#define INLINE_NODES 2000u /* of a rule that is put in place, the rules in it included */
#define FRAME_REPEATS 256u /* long repeats of one frame, up to which some are put in place */
#define LOOKS_MAX 256u     /* nodes that are looked at for what may follow one place */

/* ---- plain rules ---------------------------------------------------------------------------------------------- */

static bool is_plain(const tsl__gbnf *g, tsl__expr e) { return e != TSL__NONE && !tsl__expr_has_calls(g->x, e); }

/* Is a node made of characters and of rules that are in place already, without long counted repeats? Depth: the node's height. */
static bool plain(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_TOKEN || tsl__gbnf_is_long(&n)) return false;
  if (n.kind == TSL__G_REF) return !g->rules.at[n.a].facts.more || is_plain(g, g->rules.at[n.a].whole);
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

/* Split prefix·node; false if the rule stands elsewhere too, or something is not plain. Depth: the node's height. */
static bool split_linear(tsl__gbnf *g, uint32_t prefix, uint32_t node, uint32_t rule, linear *out) {
  const tsl__gnode n = g->nodes.at[node];
  if (!tsl__gbnf_facts(g, node).some) return true;
  if (!mentions(g, node, rule)) return add_linear(g, prefix, node, false, out);
  if (n.kind == TSL__G_REF) return add_linear(g, prefix, node, true, out);
  if (n.kind == TSL__G_REPEAT && n.b == 0 && n.c == 1) return add_linear(g, prefix, 0, false, out) && split_linear(g, prefix, n.a, rule, out);
  if (n.kind == TSL__G_ALT) {
    for (uint32_t i = 0; i < n.b; i++)
      if (!split_linear(g, prefix, g->lists.at[n.a + i], rule, out)) return false;
    return true;
  }
  if (n.kind != TSL__G_SEQ) return false;
  uint32_t before = n.b == 2 ? g->lists.at[n.a] : tsl__gbnf_node(g, TSL__G_SEQ, n.a, n.b - 1, 0);
  return !mentions(g, before, rule) && split_linear(g, tsl__gbnf_pair(g, prefix, before), g->lists.at[n.a + n.b - 1], rule, out);
}

static void place_linear(tsl__gbnf *g, uint32_t rule) {
  tsl__grule *r = &g->rules.at[rule];
  const tsl_allocator *a = tsl__exprs_allocator(g->x);
  linear l = {0};
  if (split_linear(g, 0, r->body, rule, &l)) {
    tsl__expr steps = tsl__expr_star(g->x, tsl__expr_alt_n(g->x, l.step.at, l.step.n)), plus = tsl__expr_alt_n(g->x, l.step_plus.at, l.step_plus.n);
    r->whole = tsl__expr_seq(g->x, steps, tsl__expr_alt_n(g->x, l.base.at, l.base.n));
    r->plus = tsl__expr_alt(g->x, tsl__expr_seq(g->x, plus, r->whole), tsl__expr_alt_n(g->x, l.base_plus.at, l.base_plus.n));
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
  if (!r->facts.more || r->size > INLINE_NODES) return;
  if (r->cycle != TSL__G_NO_CYCLE) {
    if (g->cycles.at[r->cycle].count == 1) place_cycle(g, rule);
  } else if (r->recursive) {
    place_linear(g, rule);
  } else if (plain(g, r->body)) {
    r->whole = tsl__gbnf_lower(g, r->body);
    r->plus = tsl__gbnf_lower_plus(g, r->body);
  }
}

/* ---- counted ones --------------------------------------------------------------------------------------------- */

/* What is known of a rule. */
typedef struct counted {
  bool apart;        /* it is named where it must have a frame of its own */
  bool unsure;       /* it is not for standing in place */
  bool wanted;       /* one that shall stand in place names it */
  uint32_t repeats;  /* long ones, with those of the rules in it */
  tsl__charset ends; /* the classes that its texts may end in, counted; empty: they end otherwise */
} counted;

/* What comes after a place: nodes, then what follows these. */
typedef struct follow {
  const uint32_t *nodes;
  uint32_t count;
  const struct follow *then;
} follow;

typedef struct placing {
  tsl__gbnf *g;
  counted *rules;
  counted *rule;  /* that is being looked at */
  bool over;      /* what follows its end may be anything */
  bool decided;   /* it is known whether it is unsure: what it names is told whether it must stand apart */
} placing;

/* A class, maybe by its name; else 0. */
static uint32_t class_at(const tsl__gbnf *g, uint32_t node) {
  if (g->nodes.at[node].kind == TSL__G_REF) node = g->rules.at[g->nodes.at[node].a].body;
  return g->nodes.at[node].kind == TSL__G_CLASS ? node : 0;
}

static bool meet(const tsl__charset *a, const tsl__charset *b) {
  for (size_t i = 0, j = 0; i < a->ranges.n && j < b->ranges.n;) {
    if (a->ranges.at[i].hi < b->ranges.at[j].lo) i++;
    else if (b->ranges.at[j].hi < a->ranges.at[i].lo) j++;
    else return true;
  }
  return false;
}

static bool goes_on_outside(tsl__gbnf *g, const follow *f, const tsl__charset *set, unsigned *looks, bool *end);

/* Does no text of a node begin with a character of the set? False if in doubt. */
static bool begins_outside(tsl__gbnf *g, uint32_t node, const tsl__charset *set, unsigned *looks) {
  const tsl__gnode n = g->nodes.at[node];
  uint32_t first = 0;
  bool end;
  if (!*looks) return false;
  --*looks;
  switch ((tsl__gkind)n.kind) {
    case TSL__G_EMPTY: return true;
    case TSL__G_LITERAL: return tsl__utf8_decode(g->bytes.at + n.a, n.b, &first) && !tsl__charset_has(set, first);
    case TSL__G_CLASS: return !meet(set, &(tsl__charset){.ranges = {g->ranges.at + n.a, n.b, n.b}});
    case TSL__G_ANY:
    case TSL__G_TOKEN: return false;
    case TSL__G_REF: return begins_outside(g, g->rules.at[n.a].body, set, looks);
    case TSL__G_REPEAT:
    case TSL__G_PLUS: return begins_outside(g, n.a, set, looks);
    case TSL__G_SEQ: return goes_on_outside(g, &(follow){g->lists.at + n.a, n.b, NULL}, set, looks, &end);
    case TSL__G_ALT:
      for (uint32_t i = 0; i < n.b; i++)
        if (!begins_outside(g, g->lists.at[n.a + i], set, looks)) return false;
      return true;
  }
  return false;
}

/* The same of what follows a place. *end: that may be nothing. */
static bool goes_on_outside(tsl__gbnf *g, const follow *f, const tsl__charset *set, unsigned *looks, bool *end) {
  *end = false;
  for (; f; f = f->then)
    for (uint32_t i = 0; i < f->count; i++) {
      if (!begins_outside(g, f->nodes[i], set, looks)) return false;
      if (tsl__gbnf_facts(g, f->nodes[i]).shortest) return true;
    }
  return *end = true;
}

/* Characters of `set` are counted up to here: is that over with whatever follows, and are these not too many repeats for one frame? */
static bool is_over(placing *p, const tsl__charset *set, const follow *then, uint32_t repeats) {
  unsigned looks = LOOKS_MAX;
  bool end = false;
  if (p->rule->repeats + repeats > FRAME_REPEATS) return false;
  if (set->ranges.n && (!goes_on_outside(p->g, then, set, &looks, &end) || (end && p->over))) return false;
  p->rule->repeats += repeats;
  if (end && !p->decided) {
    if (!tsl__charset_add_set(&p->g->alloc, &p->rule->ends, set)) p->g->no_memory = true;
    tsl__charset_normalise(&p->rule->ends);
  }
  return true;
}

static void look_at_name(placing *p, uint32_t rule, const follow *then) {
  const tsl__grule *r = &p->g->rules.at[rule];
  counted *c = &p->rules[rule];
  if (!r->facts.more || is_plain(p->g, r->whole)) return;
  if (!c->unsure && is_over(p, &c->ends, then, c->repeats)) return;
  p->rule->unsure = true;
  if (p->decided) c->apart = true;
}

/* Looks at what a node counts and names. Depth: its height. */
static void look_at(placing *p, uint32_t node, const follow *then) {
  const tsl__gnode n = p->g->nodes.at[node];
  tsl__gbnf_look(p->g, 1);
  if (n.kind == TSL__G_TOKEN) p->rule->unsure = true;
  if (n.kind == TSL__G_REF) look_at_name(p, n.a, then);
  if (n.kind == TSL__G_PLUS) look_at(p, n.a, then);
  for (uint32_t i = 0; i < n.b && n.kind == TSL__G_ALT; i++) look_at(p, p->g->lists.at[n.a + i], then);
  for (uint32_t i = 0; i < n.b && n.kind == TSL__G_SEQ; i++) look_at(p, p->g->lists.at[n.a + i], &(follow){p->g->lists.at + n.a + i + 1, n.b - i - 1, then});
  if (n.kind != TSL__G_REPEAT) return;
  uint32_t class = tsl__gbnf_is_long(&n) ? class_at(p->g, n.a) : 0, before = p->rule->repeats;
  if (class) {
    const tsl__gnode *c = &p->g->nodes.at[class];
    p->rule->unsure |= !is_over(p, &(tsl__charset){.ranges = {p->g->ranges.at + c->a, c->b, c->b}}, then, 1);
    return;
  }
  look_at(p, n.a, n.c == 1 ? then : &(follow){&n.a, 1, then});
  if (n.c != TSL__INF && !tsl__gbnf_is_long(&n)) p->rule->repeats = before + (p->rule->repeats - before) * n.c; /* it is written out */
  if (p->rule->repeats > FRAME_REPEATS) p->rule->repeats = FRAME_REPEATS + 1;
}

static void look_at_rule(placing *p, uint32_t rule, uint32_t root) {
  const tsl__grule *r = &p->g->rules.at[rule];
  p->rule = &p->rules[rule];
  p->over = p->decided = false;
  p->rule->unsure = r->recursive || r->cycle != TSL__G_NO_CYCLE || !r->facts.more || r->size > INLINE_NODES;
  look_at(p, r->body, NULL);
  p->over = p->rule->unsure && (rule != root || r->recursive); /* nothing follows the root */
  p->decided = true;
  p->rule->repeats = 0;
  look_at(p, r->body, NULL);
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
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) look_at_rule(p, g->order.at[i], root);
  p->rules[root].apart = true;
  for (size_t i = g->order.n; i-- > 0 && !tsl__gbnf_failed(g);) {
    counted *c = &p->rules[g->order.at[i]];
    c->wanted = !c->apart && !c->unsure && (c->wanted || c->ends.ranges.n);
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

/* ---- both ----------------------------------------------------------------------------------------------------- */

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
  for (size_t i = 0; i < g->rules.n; i++) tsl__charset_free(&g->alloc, &p.rules[i].ends);
  tsl__free(&g->alloc, p.rules, size);
}
