/* facts.c - what the rules of a grammar match: anything, the empty text, how few bytes.
 *
 * Rules are visited callees before callers (strongly connected components of the references, Tarjan
 * 1972, without recursion). What a rule matches follows from its callees at once, except inside a
 * component. There the least fixed point is reached by rounds: begin with "nothing", and repeat
 * until no rule changes. A component of n rules takes at most n rounds. Each round settles at least
 * one rule for good (Knuth 1977 "A generalization of Dijkstra's algorithm"). In practice two or
 * three are enough; TSL__GBNF_WORK_MAX bounds the rest. Once the rules are final, what a node
 * matches is found out once and kept with the node.
 *
 * Example     a ::= b "x"
 *             b ::= a | "yy"
 *             c ::= c "z"
 *           a and b are one component. Round 1: a has no text, as b has none yet; b has "yy", 2
 *           bytes. Round 2: a has b "x", 3 bytes; b stays at 2. Round 3 changes nothing. c is a
 *           component of its own. No round gives it a text, so it matches nothing, and a grammar
 *           that begins with c is EMPTY.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"

static uint32_t times(uint32_t a, uint32_t n) { return a && n > TSL__INF / a ? TSL__INF : a * n; }
static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* ---- facts ----------------------------------------------------------------------------------- */

static const tsl__gfacts nothing = {false, false, TSL__INF, TSL__INF};
static const tsl__gfacts empty_text = {true, false, 0, TSL__INF};

static tsl__gfacts of_length(uint32_t bytes) { return (tsl__gfacts){true, true, bytes, bytes}; }

/* Surrogates in a class are not there. */
static tsl__gfacts of_class(const tsl__gbnf *g, const tsl__gnode *n) {
  for (uint32_t i = 0; i < n->b; i++) {
    uint8_t utf8[4];
    tsl__range r = g->ranges.at[n->a + i];
    if (r.lo >= 0xD800 && r.lo <= 0xDFFF) r.lo = 0xE000;
    if (r.lo <= r.hi) return of_length(tsl__utf8_encode(r.lo, utf8));
  }
  return nothing;
}

static tsl__gfacts of_sequence(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__gfacts all = empty_text;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__gfacts item = tsl__gbnf_facts(g, g->lists.at[n->a + i]);
    if (!item.some) return nothing;
    all.longer = least(item.more ? tsl__add(all.shortest, item.longer) : TSL__INF,
                       all.more ? tsl__add(all.longer, item.shortest) : TSL__INF);
    all.shortest = tsl__add(all.shortest, item.shortest);
    all.more |= item.more;
  }
  if (all.shortest) all.longer = all.shortest;
  return all;
}

static tsl__gfacts of_alternatives(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__gfacts all = nothing;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__gfacts item = tsl__gbnf_facts(g, g->lists.at[n->a + i]);
    all.some |= item.some;
    all.more |= item.more;
    all.shortest = least(all.shortest, item.shortest);
    all.longer = least(all.longer, item.longer);
  }
  return all;
}

static tsl__gfacts of_repeat(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__gfacts item = tsl__gbnf_facts(g, n->a);
  if (!item.some) return n->b ? nothing : empty_text;
  item.shortest = times(item.shortest, n->b);
  if (item.shortest) item.longer = item.shortest;
  return item;
}

/* Of an expression without calls, or one that is not nullable. */
static tsl__gfacts of_expression(const tsl__gbnf *g, tsl__expr e) {
  tsl__gfacts facts = nothing;
  if (e == TSL__NONE) return nothing;
  if (e == TSL__EPS) return empty_text;
  facts.some = facts.more = true;
  facts.shortest = facts.longer = tsl__expr_shortest(g->x, e);
  if (facts.shortest) return facts;
  tsl__expr more = tsl__gbnf_not_empty(g->x, e);
  if (more == TSL__NONE) return empty_text; /* an intersection may be the empty text, unseen */
  facts.longer = tsl__expr_shortest(g->x, more);
  return facts;
}

static tsl__gfacts of_node(tsl__gbnf *g, const tsl__gnode *n) {
  switch ((tsl__gkind)n->kind) {
  case TSL__G_EMPTY: return empty_text;
  case TSL__G_LITERAL: return of_length(n->b);
  case TSL__G_CLASS: return of_class(g, n);
  case TSL__G_ANY: return of_length(1);
  case TSL__G_TOKEN: return n->c ? nothing : of_length(1); /* as tsl__expr_token has it */
  case TSL__G_TOKENS: return n->a == TSL__NONE ? nothing : of_length(1);
  case TSL__G_EXPR: return of_expression(g, n->a);
  case TSL__G_REF: return g->rules.at[n->a].facts;
  case TSL__G_SEQ: return of_sequence(g, n);
  case TSL__G_ALT: return of_alternatives(g, n);
  case TSL__G_REPEAT: return of_repeat(g, n);
  case TSL__G_PLUS: {
    tsl__gfacts f = tsl__gbnf_facts(g, n->a);
    return (tsl__gfacts){f.more, f.more, f.longer, f.longer};
  }
  }
  return nothing;
}

/* Depth: the node's height. */
tsl__gfacts tsl__gbnf_facts(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  if (n.known) return n.facts;
  if (!g->settled) g->too_much_work |= ++g->work > TSL__GBNF_WORK_MAX;
  tsl__gbnf_look(g, 1);
  if (tsl__gbnf_failed(g)) return nothing;
  tsl__gfacts facts = of_node(g, &n);
  if (!g->settled || tsl__gbnf_failed(g)) return facts;
  g->nodes.at[node].known = true;
  return g->nodes.at[node].facts = facts;
}

/* ---- components ------------------------------------------------------------------------------ */

/* Tarjan's algorithm with its stack of calls written out. */
typedef struct tarjan {
  const uint32_t *starts, *targets;
  uint32_t *component, *order, order_count, components;
  uint32_t *number, *low, *next; /* per vertex: visit number (0: not yet), lowlink, next edge */
  uint32_t *open, open_count;    /* vertices whose component is not known yet */
  uint32_t *calls, call_count;
  uint32_t visits;
} tarjan;

static void enter(tarjan *t, uint32_t v) {
  t->number[v] = t->low[v] = ++t->visits;
  t->next[v] = t->starts[v];
  t->open[t->open_count++] = v;
  t->calls[t->call_count++] = v;
}

static void leave(tarjan *t, uint32_t v) {
  t->call_count--;
  if (t->call_count) {
    uint32_t caller = t->calls[t->call_count - 1];
    if (t->low[v] < t->low[caller]) t->low[caller] = t->low[v];
  }
  if (t->low[v] != t->number[v]) return;
  uint32_t w;
  do {
    w = t->open[--t->open_count];
    t->component[w] = t->components;
    t->order[t->order_count++] = w;
  } while (w != v);
  t->components++;
}

static void visit(tarjan *t, uint32_t from) {
  enter(t, from);
  while (t->call_count) {
    uint32_t v = t->calls[t->call_count - 1];
    if (t->next[v] == t->starts[v + 1]) {
      leave(t, v);
      continue;
    }
    uint32_t w = t->targets[t->next[v]++];
    if (!t->number[w])
      enter(t, w);
    else if (t->component[w] == UINT32_MAX && t->number[w] < t->low[v])
      t->low[v] = t->number[w];
  }
}

bool tsl__gbnf_components(const tsl_allocator *a, uint32_t n, const uint32_t *starts,
                          const uint32_t *targets, uint32_t from, uint32_t *component,
                          uint32_t *order, uint32_t *order_count) {
  size_t size = 5 * (size_t)n * sizeof(uint32_t);
  uint32_t *work = tsl__alloc_zero(a, size ? size : 1);
  if (!work) return false;
  tarjan t = {.starts = starts,
              .targets = targets,
              .component = component,
              .order = order,
              .number = work,
              .low = work + n,
              .next = work + 2 * (size_t)n,
              .open = work + 3 * (size_t)n,
              .calls = work + 4 * (size_t)n};
  for (uint32_t v = 0; v < n; v++) component[v] = UINT32_MAX;
  if (from != UINT32_MAX) visit(&t, from);
  for (uint32_t v = 0; v < n && from == UINT32_MAX; v++)
    if (!t.number[v]) visit(&t, v);
  *order_count = t.order_count;
  tsl__free(a, work, size ? size : 1);
  return true;
}

/* ---- all rules ------------------------------------------------------------------------------- */

typedef TSL__VEC(uint32_t) numbers;

/* Every mention of a rule in a node. Depth: the node's height. */
static void references(tsl__gbnf *g, uint32_t node, numbers *out) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_REF && !tsl__vec_push(&g->alloc, out, n.a)) g->no_memory = true;
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) references(g, n.a, out);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++) references(g, g->lists.at[n.a + i], out);
}

static uint32_t node_count(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  uint32_t count = 1;
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_REF) count = g->rules.at[n.a].size;
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) count = tsl__add(count, node_count(g, n.a));
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++) count = tsl__add(count, node_count(g, g->lists.at[n.a + i]));
  return count;
}

static bool same(tsl__gfacts a, tsl__gfacts b) {
  return a.some == b.some && a.more == b.more && a.shortest == b.shortest && a.longer == b.longer;
}

/* Rounds over order[first … last) until nothing changes. */
static void settle(tsl__gbnf *g, uint32_t first, uint32_t last) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = first; i < last && !tsl__gbnf_failed(g); i++) {
      tsl__grule *r = &g->rules.at[g->order.at[i]];
      tsl__gfacts now = tsl__gbnf_facts(g, r->body);
      changed |= !same(now, r->facts);
      r->facts = now;
    }
    if (last - first == 1 && !g->rules.at[g->order.at[first]].recursive) return;
  }
}

static void measure(tsl__gbnf *g, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; i++) {
    tsl__grule *r = &g->rules.at[g->order.at[i]];
    r->size = 1; /* what a recursive mention of it counts */
  }
  for (uint32_t i = first; i < last; i++) {
    uint32_t rule = g->order.at[i], size = node_count(g, g->rules.at[rule].body);
    g->rules.at[rule].size = size;
  }
}

static bool analyse_with(tsl__gbnf *g, uint32_t root, const uint32_t *starts,
                         const uint32_t *targets, uint32_t *component) {
  uint32_t n = (uint32_t)g->rules.n, count = 0;
  if (!tsl__vec_reserve(&g->alloc, &g->order, n)) return false;
  if (!tsl__gbnf_components(&g->alloc, n, starts, targets, root, component, g->order.at, &count))
    return false;
  g->order.n = count;
  for (uint32_t v = 0; v < n; v++) {
    g->rules.at[v].component = component[v];
    g->rules.at[v].reached = component[v] != UINT32_MAX;
    g->rules.at[v].facts = nothing;
    for (uint32_t e = starts[v]; e < starts[v + 1]; e++)
      g->rules.at[v].recursive |= targets[e] == v;
  }
  for (uint32_t first = 0, last; first < count && !tsl__gbnf_failed(g); first = last) {
    for (last = first + 1;
         last < count && component[g->order.at[last]] == component[g->order.at[first]]; last++) {
    }
    for (uint32_t i = first; i < last && last - first > 1; i++)
      g->rules.at[g->order.at[i]].recursive = true;
    settle(g, first, last);
    measure(g, first, last);
  }
  g->settled = true;
  return true;
}

bool tsl__gbnf_analyse(tsl__gbnf *g, uint32_t root) {
  uint32_t n = (uint32_t)g->rules.n;
  size_t size = (2 * (size_t)n + 1) * sizeof(uint32_t);
  uint32_t *work = tsl__alloc(&g->alloc, size);
  numbers targets = {0};
  if (!work) g->no_memory = true;
  for (uint32_t v = 0; v < n && !tsl__gbnf_failed(g); v++) {
    work[v] = (uint32_t)targets.n;
    references(g, g->rules.at[v].body, &targets);
  }
  if (!tsl__gbnf_failed(g)) {
    work[n] = (uint32_t)targets.n;
    if (!analyse_with(g, root, work, targets.at, work + n + 1)) g->no_memory = true;
  }
  tsl__vec_free(&g->alloc, &targets);
  tsl__free(&g->alloc, work, size);
  return !tsl__gbnf_failed(g);
}
