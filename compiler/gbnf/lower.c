/* lower.c - GBNF rules to expressions; the front end's entry.
 *
 * Problem   An expression has no names, and a call costs the walk a frame. So a rule should be a
 *           call only where it must be one: where it can contain itself.
 * Idea      A rule becomes, in this order of preference:
 *             nothing     it matches no text (its alternatives vanish), or only the empty one
 *             in place    as an expression: it is regular and small (place.c)
 *             A⁺ or A⁺|ε  it is left-recursive: leftrec.c says what A⁺ is
 *             a rule      unfolded when it is first reached
 *           A "plus" form has all texts of a node except the empty one. leftrec.c builds on these
 *           forms.
 * Example     root ::= item ("," item)*
 *             item ::= name | "(" root ")"
 *             name ::= [a-z]+
 *           `name` is regular and small: it stands in place, as [a-z]+. `root` contains itself by
 *           way of item. tower.c puts item in place, so one frame is left:
 *             root = I ("," I)*
 *             I = [a-z]+ | "(" CALL root ")"
 *           The expression that is returned is a call of root. Its body is made when the first
 *           state of the grammar is expanded.
 * Plus      The plus form of "a"? [0-9]* is "a" [0-9]* | [0-9]+: the first item without its empty
 *           text, then the rest; or the rest alone, without its own.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/gbnf/ast.h"

/* ---- rules ----------------------------------------------------------------------------------- */

static tsl__expr unfold_whole(tsl__exprs *x, void *ctx, uint32_t rule) {
  (void)x;
  tsl__gbnf *g = ctx;
  return tsl__gbnf_lower(g, g->rules.at[rule].body);
}

static tsl__expr unfold_plus(tsl__exprs *x, void *ctx, uint32_t rule) {
  (void)x;
  tsl__gbnf *g = ctx;
  return g->rules.at[rule].cycle == TSL__G_NO_CYCLE
             ? tsl__gbnf_lower_plus(g, g->rules.at[rule].body)
             : tsl__gbnf_cycle_body(g, rule);
}

static tsl__expr unfold_tail(tsl__exprs *x, void *ctx, uint32_t param) {
  (void)x;
  return tsl__gbnf_tail_body(ctx, param);
}

static void print_whole(void *ctx, uint32_t rule, char *out, size_t n) {
  const tsl__grule *r = &((tsl__gbnf *)ctx)->rules.at[rule];
  snprintf(out, n, "%.*s", (int)r->name_length, r->name);
}

static void print_plus(void *ctx, uint32_t rule, char *out, size_t n) {
  const tsl__grule *r = &((tsl__gbnf *)ctx)->rules.at[rule];
  snprintf(out, n, "%%%.*s", (int)r->name_length, r->name);
}

static void print_tail(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "tail %u", param);
}

static const tsl__rule_ops whole_ops = {unfold_whole, print_whole, NULL, NULL, NULL};
static const tsl__rule_ops plus_ops = {unfold_plus, print_plus, NULL, NULL, NULL};
static const tsl__rule_ops tail_ops = {unfold_tail, print_tail, NULL, NULL, NULL};

static tsl__expr whole_of(tsl__gbnf *g, uint32_t rule);

static tsl__expr plus_of(tsl__gbnf *g, uint32_t rule) {
  tsl__grule *r = &g->rules.at[rule];
  if (!r->facts.more) return TSL__NONE;
  if (r->plus == TSL__NONE) {
    if (r->facts.shortest && r->cycle == TSL__G_NO_CYCLE)
      r->plus = whole_of(g, rule);
    else
      r->plus = tsl__expr_rule(g->x, &plus_ops, g, rule, 0, r->facts.longer);
  }
  return r->plus;
}

static tsl__expr whole_of(tsl__gbnf *g, uint32_t rule) {
  tsl__grule *r = &g->rules.at[rule];
  if (!r->facts.some) return TSL__NONE;
  if (!r->facts.more) return TSL__EPS;
  if (r->whole == TSL__NONE) {
    bool nullable = r->facts.shortest == 0;
    if (r->cycle == TSL__G_NO_CYCLE)
      r->whole = tsl__expr_rule(g->x, &whole_ops, g, rule, nullable ? TSL__RULE_NULLABLE : 0,
                                r->facts.shortest);
    else
      r->whole = tsl__expr_alt(g->x, plus_of(g, rule), nullable ? TSL__EPS : TSL__NONE);
  }
  return r->whole;
}

tsl__expr tsl__gbnf_tail(tsl__gbnf *g, uint32_t cycle, uint32_t from, uint32_t to) {
  tsl__gcycle *c = &g->cycles.at[cycle];
  uint32_t at = from * c->count + to, distance = c->distance[at];
  if (c->tails[at] == TSL__NONE)
    c->tails[at] = tsl__expr_rule(g->x, &tail_ops, g, c->base + at,
                                  distance ? 0 : TSL__RULE_NULLABLE, distance);
  return c->tails[at];
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static tsl__expr lower_class(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__charset set = {.ranges = {n->b ? g->ranges.at + n->a : NULL, n->b, n->b}};
  return tsl__expr_charset(g->x, &set);
}

/* Alternatives; `plus`: each less the empty text. */
static tsl__expr lower_alternatives(tsl__gbnf *g, const tsl__gnode *n, bool plus) {
  tsl__expr *all = tsl__alloc(&g->alloc, n->b * sizeof *all);
  if (!all) {
    tsl__exprs_fail(g->x, TSL_ERR_NO_MEMORY, "out of memory");
    return TSL__NONE;
  }
  for (uint32_t i = 0; i < n->b; i++)
    all[i] = plus ? tsl__gbnf_lower_plus(g, g->lists.at[n->a + i])
                  : tsl__gbnf_lower(g, g->lists.at[n->a + i]);
  tsl__expr e = tsl__expr_alt_n(g->x, all, n->b);
  tsl__free(&g->alloc, all, n->b * sizeof *all);
  return e;
}

static tsl__expr lower_node(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__expr e = TSL__EPS;
  switch ((tsl__gkind)n->kind) {
  case TSL__G_EMPTY: break;
  case TSL__G_LITERAL: return tsl__expr_literal(g->x, g->bytes.at + n->a, n->b);
  case TSL__G_CLASS: return lower_class(g, n);
  case TSL__G_ANY: return tsl__expr_any_char(g->x);
  case TSL__G_TOKEN: return n->c ? TSL__NONE : tsl__expr_token(g->x, &n->a, 1, n->b);
  case TSL__G_TOKENS:
  case TSL__G_EXPR: return n->a;
  case TSL__G_REF: return whole_of(g, n->a);
  case TSL__G_SEQ:
    for (uint32_t i = n->b; i-- > 0;)
      e = tsl__expr_seq(g->x, tsl__gbnf_lower(g, g->lists.at[n->a + i]), e);
    break;
  case TSL__G_ALT: return lower_alternatives(g, n, false);
  case TSL__G_REPEAT: return tsl__expr_repeat(g->x, tsl__gbnf_lower(g, n->a), n->b, n->c);
  case TSL__G_PLUS: return tsl__gbnf_lower_plus(g, n->a);
  }
  return e;
}

/* Terms share what follows them (leftrec.c), so a node is visited many times. Depth: its
 * height. */
tsl__expr tsl__gbnf_lower(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  if (n.whole != TSL__NONE) return n.whole;
  tsl__gbnf_look(g, 1);
  tsl__expr e = lower_node(g, &n);
  if (tsl__exprs_status(g->x) == TSL_OK) g->nodes.at[node].whole = e;
  return e;
}

/* The first item that is not empty, then the rest in full: from right to left, P = plus(item)·S |
 * P' where the item may be empty. */
static tsl__expr plus_sequence(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__expr suffix = TSL__EPS, plus = TSL__NONE;
  for (uint32_t i = n->b; i-- > 0;) {
    uint32_t item = g->lists.at[n->a + i];
    tsl__expr here = tsl__expr_seq(g->x, tsl__gbnf_lower_plus(g, item), suffix);
    plus = tsl__gbnf_facts(g, item).shortest ? here : tsl__expr_alt(g->x, here, plus);
    suffix = tsl__expr_seq(g->x, tsl__gbnf_lower(g, item), suffix);
  }
  return plus;
}

static tsl__expr plus_repeat(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__expr rest = n->c == 1 ? TSL__EPS
                             : tsl__expr_repeat(g->x, tsl__gbnf_lower(g, n->a), n->b ? n->b - 1 : 0,
                                                n->c == TSL__INF ? TSL__INF : n->c - 1);
  return tsl__expr_seq(g->x, tsl__gbnf_lower_plus(g, n->a), rest);
}

static tsl__expr lower_plus_node(tsl__gbnf *g, uint32_t node, const tsl__gnode *n) {
  switch ((tsl__gkind)n->kind) {
  case TSL__G_EMPTY: return TSL__NONE;
  case TSL__G_REF: return plus_of(g, n->a);
  case TSL__G_SEQ: return plus_sequence(g, n);
  case TSL__G_ALT: return lower_alternatives(g, n, true);
  case TSL__G_REPEAT: return plus_repeat(g, n);
  case TSL__G_PLUS: return tsl__gbnf_lower_plus(g, n->a);
  case TSL__G_EXPR: return tsl__expr_nullable(g->x, n->a) ? tsl__gbnf_not_empty(g->x, n->a) : n->a;
  default: return tsl__gbnf_lower(g, node);
  }
}

/* The same. */
tsl__expr tsl__gbnf_lower_plus(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  if (n.plus != TSL__NONE) return n.plus;
  tsl__gbnf_look(g, 1);
  tsl__expr e = lower_plus_node(g, node, &n);
  if (tsl__exprs_status(g->x) == TSL_OK) g->nodes.at[node].plus = e;
  return e;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static tsl_status analyse(tsl__gbnf *g, uint32_t root, tsl_error *error) {
  const tsl__grule *r = &g->rules.at[root];
  if (!tsl__gbnf_analyse(g, root)) return tsl__gbnf_failure(g, error);
  if (!r->facts.some && g->nameless)
    return tsl__fail_at(error, TSL_ERR_EMPTY, g->text, g->length, g->nameless_at,
                        "rule \"%.*s\" matches no text: token %u of the vocabulary ends a "
                        "generation, or has no bytes, and is no part of a text",
                        (int)(r->name_length < 100 ? r->name_length : 100), r->name,
                        g->nameless_token);
  if (!r->facts.some)
    return tsl__fail_at(error, TSL_ERR_EMPTY, g->text, g->length, r->offset,
                        "rule \"%.*s\" matches no text",
                        (int)(r->name_length < 100 ? r->name_length : 100), r->name);
  return tsl__gbnf_left_recursion(g, error);
}

/* Marked rules are what `wrap` makes of them. */
static tsl_status wrap_marked(tsl__gbnf *g, tsl_error *error) {
  for (uint32_t i = 0; i < g->rules.n && !tsl__gbnf_failed(g); i++) {
    tsl__grule *r = &g->rules.at[i];
    if (!r->mark || !r->reached || !r->facts.more) continue;
    if (r->cycle != TSL__G_NO_CYCLE)
      return tsl__fail_at(error, TSL_ERR_UNSUPPORTED, g->text, g->length, r->offset,
                          "rule \"%.*s\" is captured, and may begin with itself: that is not "
                          "supported",
                          (int)(r->name_length < 100 ? r->name_length : 100), r->name);
    /* an expression is read in the frame itself, so that its tokens can be counted */
    bool plain = g->nodes.at[r->body].kind == TSL__G_EXPR;
    tsl__expr plus = plain ? tsl__gbnf_lower_plus(g, r->body) : plus_of(g, i);
    tsl__expr whole = plain ? tsl__gbnf_lower(g, r->body) : whole_of(g, i);
    r = &g->rules.at[i];
    r->whole = g->wrap(g->wrap_ctx, r->mark, whole);
    r->plus = plus == whole ? r->whole : g->wrap(g->wrap_ctx, r->mark, plus);
  }
  return TSL_OK;
}

tsl_status tsl__gbnf_finish(tsl__gbnf *g, uint32_t start, tsl__expr *out, tsl_error *error) {
  tsl_status status = analyse(g, start, error);
  if (status) return status;
  tsl__gbnf_place(g, start);
  if (!tsl__gbnf_failed(g)) tsl__gbnf_run(g);
  if (!tsl__gbnf_failed(g)) status = wrap_marked(g, error);
  if (status) return status;
  if (!tsl__gbnf_failed(g)) tsl__gbnf_tower(g, start);
  if (!tsl__gbnf_failed(g)) *out = whole_of(g, start);
  return tsl__gbnf_failure(g, error);
}

tsl_status tsl__gbnf_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                             const char *root, uint32_t max_depth, tsl__expr *out,
                             tsl_error *error) {
  tsl__gbnf *g;
  uint32_t start = 0;
  *out = TSL__NONE;
  tsl_status status = tsl__gbnf_parse(x, vocab, text, length, max_depth, &g, error);
  if (!status) status = tsl__gbnf_root(g, root ? root : "root", &start, error);
  return status ? status : tsl__gbnf_finish(g, start, out, error);
}
