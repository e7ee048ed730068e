/* run.c - rules whose texts run into what follows them stand in place, too.
 *
 * Problem     root ::= w*
 *             w ::= [a-z]+ | "[" w* "]"
 *           w can contain itself, so it has a frame of its own. The frame may end after each
 *           letter, and the next w may begin with any letter. So each letter of a token can be read
 *           in as many ways as there were letters before it. Nearly all nodes of the vocabulary are
 *           left over, again and again.
 * Idea      Where a rule's texts may end with characters that may follow it as well, its body takes
 *           the place of its name. So ([a-z]+ | "[" w* "]")* reads letters in one frame. Rules that
 *           the body names are treated in the same way, the rule itself once more. That ends at
 *           BODY_NODES nodes; names that are left stay calls. The language stays the same. A loop
 *           within such a body would hold the same body again and again. So it becomes a rule:
 *             root ::= ([a-z]+ | "[" L "]")*
 *             L ::= ([a-z]+ | "[" L "]")*
 *           If the texts of that loop run into what follows, it stays in place as well.
 * Rest      Of a rule with alternatives only those are put in place whose texts may run on, and
 *           those that name no rule. The others become a rule of their own, the rest, which needs
 *           no look: of part ::= [a-z] | "$" [a-z]+ | "$(" list ")" it is "$(" list ")". So a list
 *           in a list is not pulled in.
 * Sets      Of each rule the first bytes of characters that its texts may begin with, and those of
 *           characters that they may end with. These sets may be too large: they only say where it
 *           is worth putting a rule in place.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"

/* bytes that a text may end with, and what follows begin with, from which it is put in place */
#define RUNS_ON_MIN 16u
#define BODY_NODES 300u /* that come to stand in one rule's body */
/* times that a rule stands in one place, within itself: item ::= [a-z]+ | "'" item may end in
 * itself */
#define OPEN_RULES 2u
/* names that may stay where their texts run on. With more of them a body stays as it is: little
 * would be won, and calls from more places are more states */
#define LEFT_MAX 1u
#define HEIGHT_MAX 128u /* of nodes put in place */
#define ROUNDS_MAX 8u   /* until the sets are known, of rules that name one another */

typedef struct edges {
  tsl__bytes begins, ends;
  uint32_t body; /* as it was written */
  uint32_t rest; /* the rule of what need not be put in place of its alternatives, plus 1 */
  bool movable;  /* it may stand in place */
  uint8_t open;  /* times that it is being put in place */
} edges;

typedef struct running {
  tsl__gbnf *g;
  edges *rules;    /* those that there were */
  uint32_t *loops; /* per node that there was: the rule that it became, plus 1 */
  uint32_t rule_count, node_count;
  uint32_t depth;  /* rules that are open */
  uint32_t height; /* of their bodies */
  uint32_t room;   /* nodes that may still be put in place */
  uint32_t left;   /* names that stay, though their texts run on */
  uint32_t rule;   /* whose body is looked at */
  bool dry, found; /* it is only of interest whether anything would be put in place; it would */
} running;

/* ---- sets ------------------------------------------------------------------------------------ */

static void add_class(const tsl__gbnf *g, const tsl__gnode *n, tsl__bytes *out) {
  for (uint32_t i = 0; i < n->b; i++)
    tsl__bytes_add_range(out, tsl__utf8_first(g->ranges.at[n->a + i].lo),
                         tsl__utf8_first(g->ranges.at[n->a + i].hi));
}

static unsigned edge_of_literal(const tsl__gbnf *g, const tsl__gnode *n, bool last) {
  uint32_t at = last ? n->b - 1 : 0;
  while (at && g->bytes.at[n->a + at] >> 6 == 2) at--;
  return g->bytes.at[n->a + at];
}

/* Adds what texts of a node begin with, or end with. Depth: the node's height. */
static void add_edge(running *p, uint32_t node, bool last, tsl__bytes *out) {
  tsl__gbnf *g = p->g;
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  switch ((tsl__gkind)n.kind) {
  case TSL__G_EMPTY:
  case TSL__G_TOKENS:
  case TSL__G_TOKEN: break;
  case TSL__G_LITERAL: tsl__bytes_add(out, edge_of_literal(g, &n, last)); break;
  case TSL__G_CLASS: add_class(g, &n, out); break;
  case TSL__G_ANY: tsl__bytes_add_range(out, 0, 0xF4); break;
  case TSL__G_EXPR: tsl__gbnf_expression_edge(g, n.a, last, out); break;
  case TSL__G_REF: tsl__bytes_or(out, last ? &p->rules[n.a].ends : &p->rules[n.a].begins); break;
  case TSL__G_REPEAT:
  case TSL__G_PLUS: add_edge(p, n.a, last, out); break;
  case TSL__G_SEQ:
  case TSL__G_ALT:
    for (uint32_t i = 0; i < n.b; i++) {
      uint32_t item = g->lists.at[n.a + (last ? n.b - 1 - i : i)];
      add_edge(p, item, last, out);
      if (n.kind == TSL__G_SEQ && tsl__gbnf_facts(g, item).shortest) break;
    }
    break;
  }
}

static void find_edges(running *p) {
  bool changed = true;
  for (unsigned round = 0; round < ROUNDS_MAX && changed; round++) {
    changed = false;
    for (size_t i = 0; i < p->g->order.n && !tsl__gbnf_failed(p->g); i++) {
      edges *e = &p->rules[p->g->order.at[i]], before = *e;
      add_edge(p, e->body, false, &e->begins);
      add_edge(p, e->body, true, &e->ends);
      changed |= !tsl__bytes_equal(&before.begins, &e->begins) ||
                 !tsl__bytes_equal(&before.ends, &e->ends);
    }
  }
}

static bool run_on(const tsl__bytes *ends, const tsl__bytes *follow) {
  tsl__bytes both = *ends;
  for (unsigned i = 0; i < 4; i++) both.w[i] &= follow->w[i];
  return tsl__bytes_count(&both) >= RUNS_ON_MIN;
}

/* Has a node neither tokens nor long counted repeats, which would compete for its frame's register?
 * Depth: its height. */
static bool may_move(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_TOKEN || n.kind == TSL__G_TOKENS || tsl__gbnf_is_long(&n)) return false;
  if (n.kind == TSL__G_REPEAT) return may_move(g, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++)
      if (!may_move(g, g->lists.at[n.a + i])) return false;
  return true;
}

/* ---- putting in place ------------------------------------------------------------------------ */

static uint32_t rewrite(running *p, uint32_t node, const tsl__bytes *follow, tsl__bytes *begins);

/* Does a node name no rule that has a frame? Depth: its height. */
static bool names_none(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_REF)
    return !g->rules.at[n.a].facts.more || g->rules.at[n.a].whole != TSL__NONE;
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) return names_none(g, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++)
      if (!names_none(g, g->lists.at[n.a + i])) return false;
  return true;
}

/* A new rule of a node that is part of the rule that stands there, plus 1; 0: out of memory. */
static uint32_t new_rule(running *p, uint32_t like, uint32_t node) {
  tsl__gbnf *g = p->g;
  tsl__grule made = g->rules.at[like];
  made.body = node;
  made.facts = tsl__gbnf_facts(g, node);
  made.whole = made.plus = TSL__NONE;
  made.cycle = TSL__G_NO_CYCLE;
  made.mark = 0;
  if (tsl__vec_push(&g->alloc, &g->rules, made)) return (uint32_t)g->rules.n;
  g->no_memory = true;
  return 0;
}

/* Is an alternative one for the rest: it names rules, and cannot run on? A name alone is as short
 * as the rest would be. */
static bool is_rest(running *p, uint32_t node) {
  tsl__bytes ends = {{0}};
  if (p->g->nodes.at[node].kind == TSL__G_REF || names_none(p->g, node)) return false;
  add_edge(p, node, true, &ends);
  return tsl__bytes_count(&ends) < RUNS_ON_MIN;
}

/* The alternatives of a rule, those that may run on put in place, and the rest by its name. */
static uint32_t rewrite_apart(running *p, uint32_t rule, const tsl__bytes *follow) {
  tsl__gbnf *g = p->g;
  const tsl__gnode n = g->nodes.at[p->rules[rule].body];
  uint32_t *items = tsl__alloc(&g->alloc, 2 * n.b * sizeof *items);
  uint32_t *rest = items ? items + n.b : NULL;
  uint32_t count = 0, rests = 0, node = p->rules[rule].body;
  if (!items) {
    g->no_memory = true;
    return node;
  }
  for (uint32_t i = 0; i < n.b && !tsl__gbnf_failed(g); i++) {
    uint32_t item = g->lists.at[n.a + i];
    tsl__bytes unused = {{0}};
    if (is_rest(p, item))
      rest[rests++] = item;
    else
      items[count++] = rewrite(p, item, follow, &unused);
  }
  edges *e = &p->rules[rule];
  if (rests && !e->rest) e->rest = new_rule(p, rule, tsl__gbnf_list(g, TSL__G_ALT, rest, rests));
  if (rests && e->rest) items[count++] = tsl__gbnf_node(g, TSL__G_REF, e->rest - 1, 0, 0);
  node = tsl__gbnf_list(g, TSL__G_ALT, items, count);
  tsl__free(&g->alloc, items, 2 * n.b * sizeof *items);
  return node;
}

static uint32_t put_in_place(running *p, uint32_t node, const tsl__bytes *follow,
                             tsl__bytes *begins) {
  uint32_t rule = p->g->nodes.at[node].a;
  edges *e = &p->rules[rule];
  uint32_t height = p->g->nodes.at[e->body].height;
  tsl__bytes_or(begins, &e->begins);
  if (!e->movable || !run_on(&e->ends, follow)) return node;
  p->found = true;
  if (p->dry) return node;
  if (e->open == OPEN_RULES || !p->room || p->height + height > HEIGHT_MAX) {
    p->left++;
    return node;
  }
  tsl__bytes unused = {{0}};
  e->open++;
  p->depth++;
  p->height += height;
  uint32_t body = p->g->nodes.at[e->body].kind == TSL__G_ALT ? rewrite_apart(p, rule, follow)
                                                             : rewrite(p, e->body, follow, &unused);
  p->height -= height;
  p->depth--;
  e->open--;
  return body;
}

/* A loop that would come to hold itself: it becomes a rule, looked at later. */
static uint32_t name_loop(running *p, uint32_t node) {
  tsl__gbnf *g = p->g;
  if (!p->loops[node]) p->loops[node] = new_rule(p, p->rule, node);
  if (!p->loops[node]) return node;
  return tsl__gbnf_node(g, TSL__G_REF, p->loops[node] - 1, 0, 0);
}

static uint32_t rewrite_repeat(running *p, uint32_t node, const tsl__bytes *follow,
                               tsl__bytes *begins) {
  const tsl__gnode n = p->g->nodes.at[node];
  tsl__bytes then = *follow, ends = {{0}};
  if (n.c != 1) add_edge(p, n.a, false, &then);
  add_edge(p, n.a, true, &ends);
  if (n.c == TSL__INF && p->depth && !run_on(&ends, follow)) {
    tsl__bytes unused = {{0}};
    if (p->dry) { /* it would become a rule itself */
      add_edge(p, n.a, false, begins);
      return node;
    }
    p->dry = true;
    p->found = false;
    rewrite(p, n.a, &then, &unused);
    p->dry = false;
    if (p->found) {
      tsl__bytes_or(begins, &unused);
      return name_loop(p, node);
    }
  }
  uint32_t item = rewrite(p, n.a, &then, begins);
  return item == n.a ? node : tsl__gbnf_node(p->g, TSL__G_REPEAT, item, n.b, n.c);
}

static uint32_t rewrite_list(running *p, uint32_t node, const tsl__bytes *follow,
                             tsl__bytes *begins) {
  tsl__gbnf *g = p->g;
  const tsl__gnode n = g->nodes.at[node];
  uint32_t *items = tsl__alloc(&g->alloc, n.b * sizeof *items);
  if (!items) {
    g->no_memory = true;
    return node;
  }
  tsl__bytes then = *follow;
  bool changed = false;
  for (uint32_t i = n.b; i-- > 0;) {
    uint32_t item = g->lists.at[n.a + i];
    tsl__bytes own = {{0}};
    items[i] = rewrite(p, item, n.kind == TSL__G_SEQ ? &then : follow, &own);
    changed |= items[i] != item;
    if (n.kind == TSL__G_ALT)
      tsl__bytes_or(begins, &own);
    else if (tsl__gbnf_facts(g, item).shortest)
      then = own;
    else
      tsl__bytes_or(&then, &own);
  }
  if (n.kind == TSL__G_SEQ) tsl__bytes_or(begins, &then);
  if (changed) node = tsl__gbnf_list(g, (tsl__gkind)n.kind, items, n.b);
  tsl__free(&g->alloc, items, n.b * sizeof *items);
  return node;
}

/* A node that `follow` may follow, with rules put in place. Adds what it begins with. Depth: the
 * heights of the node and of the rules that are open. */
static uint32_t rewrite(running *p, uint32_t node, const tsl__bytes *follow, tsl__bytes *begins) {
  tsl__gbnf_look(p->g, 1);
  if (tsl__gbnf_failed(p->g)) return node;
  if (p->depth && p->room) p->room--;
  switch ((tsl__gkind)p->g->nodes.at[node].kind) {
  case TSL__G_REF: return put_in_place(p, node, follow, begins);
  case TSL__G_REPEAT: return rewrite_repeat(p, node, follow, begins);
  case TSL__G_SEQ:
  case TSL__G_ALT: return rewrite_list(p, node, follow, begins);
  default: add_edge(p, node, false, begins); return node;
  }
}

static uint32_t rewrite_body(running *p, uint32_t node, const tsl__bytes *follow) {
  tsl__bytes unused = {{0}};
  p->room = BODY_NODES;
  p->left = 0;
  uint32_t body = rewrite(p, node, follow, &unused);
  return p->left <= LEFT_MAX ? body : node;
}

/* What a head is followed by follows each term, and the rule itself a term that it was cut off
 * from. */
static void rewrite_cycle(running *p, tsl__gcycle *c) {
  tsl__gbnf *g = p->g;
  const tsl__bytes *whole = &p->rules[p->rule = g->cycle_rules.at[c->first]].begins;
  tsl__bytes follow = {{0}};
  for (uint32_t k = 0; k < c->count; k++)
    for (size_t i = 0; i < c->terms[k].n; i++) {
      const tsl__gterm *t = &c->terms[k].at[i];
      if (t->head == UINT32_MAX) continue;
      add_edge(p, t->rest, false, &follow);
      if (t->again && !tsl__gbnf_facts(g, t->rest).shortest) tsl__bytes_or(&follow, whole);
    }
  for (uint32_t k = 0; k < c->count; k++)
    for (size_t i = 0; i < c->terms[k].n && !tsl__gbnf_failed(g); i++) {
      tsl__gterm *t = &c->terms[k].at[i];
      t->rest = rewrite_body(p, t->rest, t->again ? whole : &follow);
    }
}

static void rewrite_all(running *p) {
  tsl__gbnf *g = p->g;
  for (uint32_t i = 0; i < g->rules.n && !tsl__gbnf_failed(g); i++) {
    const tsl__grule *r = &g->rules.at[i];
    if (!r->reached || r->cycle != TSL__G_NO_CYCLE || r->whole != TSL__NONE) continue;
    p->rule = i;
    uint32_t body = rewrite_body(p, r->body, &(tsl__bytes){{0}});
    g->rules.at[i].body = body;
  }
  for (size_t i = 0; i < g->cycles.n && !tsl__gbnf_failed(g); i++)
    if (g->rules.at[g->cycle_rules.at[g->cycles.at[i].first]].plus == TSL__NONE)
      rewrite_cycle(p, &g->cycles.at[i]);
}

static bool begin(running *p) {
  tsl__gbnf *g = p->g;
  bool any = false;
  for (uint32_t i = 0; i < p->rule_count; i++) p->rules[i].body = g->rules.at[i].body;
  find_edges(p);
  for (uint32_t i = 0; i < p->rule_count && !tsl__gbnf_failed(g); i++) {
    const tsl__grule *r = &g->rules.at[i];
    edges *e = &p->rules[i];
    e->movable = r->reached && r->facts.more && r->cycle == TSL__G_NO_CYCLE &&
                 r->whole == TSL__NONE && !r->mark && tsl__bytes_count(&e->ends) >= RUNS_ON_MIN &&
                 may_move(g, r->body);
    any |= e->movable;
  }
  return any;
}

void tsl__gbnf_run(tsl__gbnf *g) {
  running p = {.g = g, .rule_count = (uint32_t)g->rules.n, .node_count = (uint32_t)g->nodes.n};
  size_t rules_size = p.rule_count * sizeof *p.rules, loops_size = p.node_count * sizeof *p.loops;
  p.rules = tsl__alloc_zero(&g->alloc, rules_size);
  p.loops = p.rules ? tsl__alloc_zero(&g->alloc, loops_size) : NULL;
  if (!p.loops)
    g->no_memory = true;
  else if (begin(&p))
    rewrite_all(&p);
  tsl__free(&g->alloc, p.rules, rules_size);
  tsl__free(&g->alloc, p.loops, loops_size);
}
