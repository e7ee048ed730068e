/* leftrec.c - left recursion, removed exactly.
 *
 * Problem   expr ::= expr "+" term | term calls itself before any text is read: a matcher that
 *           unfolds calls would never stop. Left recursion can be indirect (a calls b calls a) and
 *           hidden (after something that may be empty: a ::= opt a "x").
 * Idea      Take the rules A1 … An that lead to one another at the left edge: a strongly connected
 *           component of "may be the first thing read". A⁺ are their texts that are not empty.
 *           Every body, less the empty text, is a sum of terms
 *
 *               A⁺i = Σ A⁺j · X  +  Σ B
 *
 *           where each B is not empty and begins with nothing of the cycle. The terms are found by
 *           walking along the body's left edge, through what may be empty. Read backwards, a text
 *           of Ai begins with some B of some Aj. Then it goes on, from "an Aj is finished" to "an
 *           Ai is finished":
 *
 *               A⁺i = Σj Bj · Tji
 *               Tji = ε (if j = i)  +  Σ over terms A⁺j·X of Al:  X · Tli
 *
 *           This is the left-corner transform (Rosenkrantz and Lewis 1970) on regular right-hand
 *           sides. The T are right-recursive. Where an X may be empty, T would call T without
 *           reading (a ::= a b with b empty): such steps are closed over beforehand,
 *
 *               Tji = ε (if i is reached from j by empty X)
 *                   + Σ over k reached from j by empty X, terms A⁺k·X of Al:  X⁺ · Tli
 *
 *           Now nothing of the cycle is at the left edge of anything: Bj and X⁺ begin with text, or
 *           with rules outside.
 * Example   In expr ::= expr "+" term | term, B is term and X is "+" term, so expr⁺ = B·T is
 *           term ("+" term)*. A cycle of one rule needs no rule for T: T = (X⁺)*.
 * Ambiguous expr ::= expr "+" expr | "-" expr | [0-9]+ does not say what binds first. A text of n
 *           signs has as many readings as trees have shapes. What is read does not depend on that.
 *           So A at the end of a term of a cycle of one rule is cut to what T does not read:
 *
 *               A⁺ = H·(X⁺ + Y·H)*,   H = D*·B   for terms A⁺·X, A⁺·Y·A, B, D·A
 *
 *           Where A may be empty, H may end in a D, and Y·H be Y⁺. H·T is all of A⁺, and D·H·T, or
 *           H·T·Y·H·T, read the same as D·A, or A⁺·Y·A. What is left of A in H·T is read in one
 *           way. A⁺·A·A is left out beside A⁺·A, which has all its texts.
 * Cost      n² tails, each made when it is first reached. The distances (shortest texts) take n³
 *           steps once, hence TSL__GBNF_CYCLE_MAX. A body has as many terms as ways along its left
 *           edge. Nothing is multiplied out, and terms share what follows the groups that they
 *           begin in. All of this counts as steps, so it ends when the time is used up
 *           (tsl__gbnf_look).
 * Tested by tests/gbnf/test_gbnf.c, against an Earley recogniser on the grammar as it was written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"

#include <stdio.h>

/* terms up to which alternatives are split to look at their ends: many terms may have the same
 * many */
#define SPLIT_MAX 1024u

typedef TSL__VEC(uint32_t) numbers;

static bool nullable(tsl__gbnf *g, uint32_t node) { return tsl__gbnf_facts(g, node).shortest == 0; }

/* ---- the left edge --------------------------------------------------------------------------- */

/* Rules that may be the first thing read. Depth: the node's height. */
static void left_edge(tsl__gbnf *g, uint32_t node, numbers *out) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (!tsl__gbnf_facts(g, node).some) return;
  if (n.kind == TSL__G_REF && !tsl__vec_push(&g->alloc, out, n.a)) g->no_memory = true;
  if (n.kind == TSL__G_REPEAT) left_edge(g, n.a, out);
  if (n.kind != TSL__G_SEQ && n.kind != TSL__G_ALT) return;
  for (uint32_t i = 0; i < n.b; i++) {
    uint32_t item = g->lists.at[n.a + i];
    left_edge(g, item, out);
    if (n.kind == TSL__G_SEQ && !nullable(g, item)) break;
  }
}

static bool begins_in(tsl__gbnf *g, uint32_t node, uint32_t cycle);

static bool items_begin_in(tsl__gbnf *g, const tsl__gnode *n, uint32_t cycle) {
  for (uint32_t i = 0; i < n->b; i++) {
    uint32_t item = g->lists.at[n->a + i];
    if (begins_in(g, item, cycle)) return true;
    if (n->kind == TSL__G_SEQ && !nullable(g, item)) return false;
  }
  return false;
}

/* Of a node in a rule of that cycle, which is visited at every level above it as well: the answer
 * is kept. Depth: the node's height. */
static bool begins_in(tsl__gbnf *g, uint32_t node, uint32_t cycle) {
  const tsl__gnode n = g->nodes.at[node];
  if (n.begins) return n.begins == TSL__G_BEGINS_IN;
  bool in = false;
  if (n.kind == TSL__G_REF) in = g->rules.at[n.a].cycle == cycle;
  if (n.kind == TSL__G_REPEAT) in = begins_in(g, n.a, cycle);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT) in = items_begin_in(g, &n, cycle);
  g->nodes.at[node].begins = in ? TSL__G_BEGINS_IN : TSL__G_BEGINS_ELSEWHERE;
  return in;
}

/* ---- equations ------------------------------------------------------------------------------- */

static void add_term(tsl__gbnf *g, tsl__gterms *out, uint32_t head, uint32_t rest) {
  tsl__gterm t = {head, rest, false};
  if (!tsl__vec_push(&g->alloc, out, t)) g->no_memory = true;
}

/* The texts of `node` that are not empty, as terms, each followed by `rest`, which they share.
 * Depth: the node's height. */
static void equation(tsl__gbnf *g, uint32_t node, uint32_t rest, uint32_t cycle, tsl__gterms *out) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (tsl__gbnf_failed(g) || !tsl__gbnf_facts(g, node).more) return;
  if (!begins_in(g, node, cycle)) {
    uint32_t own = nullable(g, node) ? tsl__gbnf_node(g, TSL__G_PLUS, node, 0, 0) : node;
    add_term(g, out, UINT32_MAX, tsl__gbnf_pair(g, own, rest));
  } else if (n.kind == TSL__G_REF) {
    add_term(g, out, g->rules.at[n.a].position, rest);
  } else if (n.kind == TSL__G_REPEAT) {
    uint32_t more = n.c == TSL__INF ? TSL__INF : n.c - 1,
             again = more ? tsl__gbnf_node(g, TSL__G_REPEAT, n.a, n.b ? n.b - 1 : 0, more) : 0;
    equation(g, n.a, tsl__gbnf_pair(g, again, rest), cycle, out);
  } else {
    for (uint32_t i = 0; i < n.b; i++) {
      uint32_t item = g->lists.at[n.a + i];
      if (n.kind == TSL__G_ALT) {
        equation(g, item, rest, cycle, out);
        continue;
      }
      equation(g, item, tsl__gbnf_pair(g, tsl__gbnf_suffix(g, node, i + 1), rest), cycle, out);
      if (!nullable(g, item)) break;
    }
  }
}

/* Does a node end in that rule? *before: what comes before it. Depth: the node's height. */
static bool ends_in(tsl__gbnf *g, uint32_t node, uint32_t rule, uint32_t *before) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  *before = 0;
  if (n.kind != TSL__G_SEQ) return n.kind == TSL__G_REF && n.a == rule;
  if (!ends_in(g, g->lists.at[n.a + n.b - 1], rule, before)) return false;
  *before = tsl__gbnf_pair(
      g, n.b == 2 ? g->lists.at[n.a] : tsl__gbnf_node(g, TSL__G_SEQ, n.a, n.b - 1, 0), *before);
  return true;
}

/* The terms of a rule that is alone in its cycle: itself is cut off at their ends, where that is
 * seen. */
static void cut_ends(tsl__gbnf *g, tsl__gterms *terms, uint32_t rule) {
  for (size_t i = 0; i < terms->n && !tsl__gbnf_failed(g);) {
    tsl__gterm t = terms->at[i];
    const tsl__gnode n = g->nodes.at[t.rest];
    /* each by itself: these are looked at as well */
    if (n.kind == TSL__G_ALT && terms->n < SPLIT_MAX) {
      for (uint32_t k = 0; k < n.b; k++) add_term(g, terms, t.head, g->lists.at[n.a + k]);
      terms->at[i] = terms->at[--terms->n];
      continue;
    }
    if (ends_in(g, t.rest, rule, &t.rest)) {
      t.again = true;
      terms->at[i] = t;
    }
    i++;
  }
}

/* Is a node the rule itself, or only itself several times? */
static bool is_of(const tsl__gbnf *g, uint32_t node, uint32_t rule) {
  const tsl__gnode n = g->nodes.at[node];
  uint32_t i = 0;
  if (n.kind != TSL__G_SEQ) return n.kind == TSL__G_REF && n.a == rule;
  while (i < n.b && is_of(g, g->lists.at[n.a + i], rule)) i++;
  return n.b && i == n.b;
}

/* The terms whose ends were cut: if A⁺·A is one of them, A⁺·A·A is part of it. */
static void drop_repeated(tsl__gbnf *g, tsl__gterms *terms, uint32_t rule) {
  size_t i = 0, n = 0;
  while (i < terms->n &&
         (terms->at[i].head == UINT32_MAX || !terms->at[i].again || terms->at[i].rest))
    i++;
  if (i == terms->n || tsl__gbnf_failed(g)) return;
  for (i = 0; i < terms->n; i++) {
    tsl__gterm t = terms->at[i];
    if (t.head == UINT32_MAX || !is_of(g, t.rest, rule)) terms->at[n++] = t;
  }
  terms->n = n;
}

/* ---- cycles ---------------------------------------------------------------------------------- */

/* Shortest ways from a finished j to a finished i (Floyd and Warshall). There always is one.
 * Members lead to one another, and where one of them matches more than the empty text, all do.
 * Where none does, this is not called. TSL__INF is that of many bytes. */
#define DISTANCES_A_LOOK 16u /* compared in the time that a look at a node takes */

static void find_distances(tsl__gbnf *g, tsl__gcycle *c) {
  uint32_t n = c->count, *d = c->distance;
  for (uint32_t i = 0; i < n * n; i++) d[i] = i % (n + 1) ? TSL__INF : 0;
  for (uint32_t l = 0; l < n; l++)
    for (size_t k = 0; k < c->terms[l].n; k++) {
      tsl__gterm t = c->terms[l].at[k];
      if (t.head == UINT32_MAX) continue;
      uint32_t step = tsl__gbnf_facts(g, t.rest).shortest;
      if (step < d[t.head * n + l]) d[t.head * n + l] = step;
    }
  for (uint32_t k = 0; k < n && !tsl__gbnf_failed(g); k++)
    for (uint32_t i = 0; i < n; i++) {
      tsl__gbnf_look(g, n / DISTANCES_A_LOOK);
      for (uint32_t j = 0; j < n; j++) {
        uint32_t by = tsl__add(d[i * n + k], d[k * n + j]);
        if (by < d[i * n + j]) d[i * n + j] = by;
      }
    }
}

static bool allocate(tsl__gbnf *g, tsl__gcycle *c) {
  size_t square = (size_t)c->count * c->count;
  c->terms = tsl__alloc_zero(&g->alloc, c->count * sizeof *c->terms);
  c->distance = tsl__alloc_zero(&g->alloc, square * sizeof *c->distance);
  c->tails = tsl__alloc_zero(&g->alloc, square * sizeof *c->tails);
  return c->terms && c->distance && c->tails;
}

/* The cycle of members order[first … first + count): its number, membership, memory. */
static tsl__gcycle *new_cycle(tsl__gbnf *g, const uint32_t *members, uint32_t count) {
  tsl__gcycle c = {.first = (uint32_t)g->cycle_rules.n, .count = count};
  if (g->cycles.n) {
    const tsl__gcycle *last = &g->cycles.at[g->cycles.n - 1];
    c.base = last->base + last->count * last->count;
  }
  if (!tsl__vec_reserve(&g->alloc, &g->cycle_rules, count) ||
      !tsl__vec_push(&g->alloc, &g->cycles, c))
    return NULL;
  for (uint32_t i = 0; i < count; i++) {
    tsl__grule *r = &g->rules.at[members[i]];
    r->cycle = (uint32_t)g->cycles.n - 1;
    r->position = i;
    g->cycle_rules.at[g->cycle_rules.n++] = members[i];
  }
  tsl__gcycle *made = &g->cycles.at[g->cycles.n - 1];
  return allocate(g, made) ? made : NULL;
}

static tsl_status make_cycle(tsl__gbnf *g, const uint32_t *members, uint32_t count,
                             tsl_error *error) {
  const tsl__grule *r = &g->rules.at[members[0]];
  if (count > TSL__GBNF_CYCLE_MAX)
    return tsl__fail_at(error, TSL_ERR_LIMIT, g->text, g->length, r->offset,
                        "a left-recursive cycle of %u rules (limit %u)", count,
                        TSL__GBNF_CYCLE_MAX);
  tsl__gcycle *c = new_cycle(g, members, count);
  if (!c) g->no_memory = true;
  for (uint32_t i = 0; c && i < count; i++)
    equation(g, g->rules.at[members[i]].body, 0, (uint32_t)g->cycles.n - 1, &c->terms[i]);
  if (!tsl__gbnf_failed(g) && count == 1) {
    cut_ends(g, &c->terms[0], members[0]);
    drop_repeated(g, &c->terms[0], members[0]);
  }
  if (!tsl__gbnf_failed(g)) find_distances(g, c);
  return tsl__gbnf_failure(g, error);
}

static bool calls_itself(const uint32_t *starts, const uint32_t *targets, uint32_t v) {
  for (uint32_t e = starts[v]; e < starts[v + 1]; e++)
    if (targets[e] == v) return true;
  return false;
}

static tsl_status make_cycles(tsl__gbnf *g, const uint32_t *starts, const uint32_t *targets,
                              uint32_t *component, uint32_t *order, tsl_error *error) {
  uint32_t n = (uint32_t)g->rules.n, count = 0;
  if (!tsl__gbnf_components(&g->alloc, n, starts, targets, UINT32_MAX, component, order, &count))
    return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  tsl_status status = TSL_OK;
  for (uint32_t first = 0, last; first < count && !status; first = last) {
    for (last = first + 1; last < count && component[order[last]] == component[order[first]];
         last++) {
    }
    if (last - first > 1 || calls_itself(starts, targets, order[first]))
      status = make_cycle(g, order + first, last - first, error);
  }
  return status;
}

tsl_status tsl__gbnf_left_recursion(tsl__gbnf *g, tsl_error *error) {
  uint32_t n = (uint32_t)g->rules.n;
  size_t size = (3 * (size_t)n + 1) * sizeof(uint32_t);
  uint32_t *work = tsl__alloc(&g->alloc, size);
  numbers targets = {0};
  if (!work) g->no_memory = true;
  for (uint32_t v = 0; v < n && !tsl__gbnf_failed(g); v++) {
    work[v] = (uint32_t)targets.n;
    if (g->rules.at[v].reached) left_edge(g, g->rules.at[v].body, &targets);
  }
  tsl_status status = tsl__gbnf_failure(g, error);
  if (status == TSL_OK) {
    work[n] = (uint32_t)targets.n;
    status = make_cycles(g, work, targets.at, work + n + 1, work + 2 * n + 1, error);
  }
  tsl__vec_free(&g->alloc, &targets);
  tsl__free(&g->alloc, work, size);
  return status;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* The union of the rests of the terms of member `l` with this head, less the empty text where
 * `plus`. */
static tsl__expr join(tsl__gbnf *g, const tsl__gcycle *c, uint32_t l, uint32_t head, bool again,
                      bool plus) {
  const tsl_allocator *a = tsl__exprs_allocator(g->x);
  TSL__VEC(tsl__expr) parts = {0};
  tsl__exprs_work(g->x, c->terms[l].n);
  for (size_t i = 0; i < c->terms[l].n; i++) {
    tsl__gterm t = c->terms[l].at[i];
    if (t.head != head || t.again != again) continue;
    tsl__expr e = plus ? tsl__gbnf_lower_plus(g, t.rest) : tsl__gbnf_lower(g, t.rest);
    if (!tsl__vec_push(a, &parts, e)) tsl__exprs_fail(g->x, TSL_ERR_NO_MEMORY, "out of memory");
  }
  /* at once: pairwise it would be quadratic */
  tsl__expr all = tsl__expr_alt_n(g->x, parts.at, parts.n);
  tsl__vec_free(a, &parts);
  return all;
}

static tsl__expr body_alone(tsl__gbnf *g, const tsl__gcycle *c, bool nullable) {
  tsl__expr b = join(g, c, 0, UINT32_MAX, false, false), d = join(g, c, 0, UINT32_MAX, true, false),
            ds = tsl__expr_star(g->x, d);
  tsl__expr head = tsl__expr_seq(g->x, ds, nullable ? tsl__expr_alt(g->x, b, d) : b);
  tsl__expr x = join(g, c, 0, 0, false, true), y = join(g, c, 0, 0, true, false),
            step = tsl__expr_alt(g->x, x, tsl__expr_seq(g->x, y, head));
  if (nullable) step = tsl__expr_alt(g->x, step, join(g, c, 0, 0, true, true));
  return tsl__expr_seq(g->x, head, tsl__expr_star(g->x, step));
}

tsl__expr tsl__gbnf_cycle_body(tsl__gbnf *g, uint32_t rule) {
  uint32_t cycle = g->rules.at[rule].cycle, to = g->rules.at[rule].position;
  const tsl__gcycle *c = &g->cycles.at[cycle];
  tsl__expr all = TSL__NONE;
  if (c->count == 1) return body_alone(g, c, g->rules.at[rule].facts.shortest == 0);
  for (uint32_t j = 0; j < c->count; j++) {
    tsl__expr begin = join(g, c, j, UINT32_MAX, false, false);
    if (begin != TSL__NONE)
      all = tsl__expr_alt(g->x, all, tsl__expr_seq(g->x, begin, tsl__gbnf_tail(g, cycle, j, to)));
  }
  return all;
}

/* Is this the first term of its head? One that calls its own rule again does not count. */
static bool is_first_of_head(const tsl__gcycle *c, uint32_t l, size_t i, uint8_t *seen) {
  tsl__gterm t = c->terms[l].at[i];
  if (t.head == UINT32_MAX || t.again || seen[t.head]) return false;
  seen[t.head] = 1;
  return true;
}

tsl__expr tsl__gbnf_tail_body(tsl__gbnf *g, uint32_t param) {
  const tsl_allocator *a = tsl__exprs_allocator(g->x);
  uint32_t cycle = 0;
  while (cycle + 1 < g->cycles.n && g->cycles.at[cycle + 1].base <= param) cycle++;
  const tsl__gcycle *c = &g->cycles.at[cycle];
  uint32_t n = c->count, from = (param - c->base) / n, to = (param - c->base) % n;
  TSL__VEC(tsl__expr) ways = {0};
  for (uint32_t l = 0; l < n && tsl__exprs_work(g->x, 1 + c->terms[l].n); l++) {
    uint8_t seen[TSL__GBNF_CYCLE_MAX] = {0};
    for (size_t i = 0; i < c->terms[l].n; i++) {
      uint32_t k = c->terms[l].at[i].head;
      if (!is_first_of_head(c, l, i, seen) || c->distance[from * n + k]) continue;
      tsl__expr step = join(g, c, l, k, false, true);
      if (step == TSL__NONE) continue;
      step = tsl__expr_seq(g->x, step, tsl__gbnf_tail(g, cycle, l, to));
      if (!tsl__vec_push(a, &ways, step)) tsl__exprs_fail(g->x, TSL_ERR_NO_MEMORY, "out of memory");
    }
  }
  tsl__expr all = tsl__expr_alt_n(g->x, ways.at, ways.n);
  tsl__vec_free(a, &ways);
  return c->distance[from * n + to] ? all : tsl__expr_alt(g->x, TSL__EPS, all);
}

void tsl__gbnf_print_terms(const tsl__gbnf *g, uint32_t rule, char *out, size_t n) {
  const tsl__gcycle *c = &g->cycles.at[g->rules.at[rule].cycle];
  uint32_t l = g->rules.at[rule].position;
  size_t used = 0;
  out[0] = 0;
  for (size_t i = 0; i < c->terms[l].n && used < n; i++) {
    tsl__gterm t = c->terms[l].at[i];
    if (i) used += (size_t)snprintf(out + used, n - used, " | ");
    if (used < n && t.head != UINT32_MAX) {
      const tsl__grule *r = &g->rules.at[g->cycle_rules.at[c->first + t.head]];
      used += (size_t)snprintf(out + used, n - used, "<%.*s>%s", (int)r->name_length, r->name,
                               t.rest ? " " : "");
    }
    if (used < n && (t.rest || t.head == UINT32_MAX))
      used += tsl__gbnf_print(g, t.rest, out + used, n - used);
    if (used < n && t.again) {
      const tsl__grule *r = &g->rules.at[rule];
      used += (size_t)snprintf(out + used, n - used, " %.*s", (int)r->name_length, r->name);
    }
  }
}
