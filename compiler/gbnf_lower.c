/* gbnf_lower.c - GBNF rules to expressions; the front end's entry.
 *
 * A rule becomes, in this order of preference:
 *   nothing     it matches no text (its alternatives vanish), or only the empty one
 *   an expression in place   it is regular and small: no rule in it is recursive, or its recursion is at one edge only (ws ::= " " ws | "";
 *               digits ::= digits [0-9] | [0-9]), and no long counted repeat is in it, which would compete for its frame's register; but for one at
 *               its end, where nothing can (text ::= [^\n]{0,80} in `"- " text "\n"`)
 *   A⁺ or A⁺|ε  it is left-recursive: leftrec.c says what A⁺ is
 *   a rule      unfolded when it is first reached
 * "Plus" forms are the texts of a node but the empty one: leftrec.c builds on them.
 *
 * Tested by tests/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/gbnf_ast.h"

#define DEFAULT_DEPTH 512u
#define INLINE_NODES 2000u /* of a rule that is put in place, the rules in it included */
#define INLINE_REPEAT 8u   /* longer counted repeats keep a frame of their own */

/* ---- rules ---------------------------------------------------------------------------------------------------- */

static tsl__expr unfold_whole(tsl__exprs *x, void *ctx, uint32_t rule) {
  (void)x;
  tsl__gbnf *g = ctx;
  return tsl__gbnf_lower(g, g->rules.at[rule].body);
}

static tsl__expr unfold_plus(tsl__exprs *x, void *ctx, uint32_t rule) {
  (void)x;
  tsl__gbnf *g = ctx;
  return g->rules.at[rule].cycle == TSL__G_NO_CYCLE ? tsl__gbnf_lower_plus(g, g->rules.at[rule].body) : tsl__gbnf_cycle_body(g, rule);
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
    if (r->facts.shortest && r->cycle == TSL__G_NO_CYCLE) r->plus = whole_of(g, rule);
    else r->plus = tsl__expr_rule(g->x, &plus_ops, g, rule, 0, r->facts.longer);
  }
  return r->plus;
}

static tsl__expr whole_of(tsl__gbnf *g, uint32_t rule) {
  tsl__grule *r = &g->rules.at[rule];
  if (!r->facts.some) return TSL__NONE;
  if (!r->facts.more) return TSL__EPS;
  if (r->whole == TSL__NONE) {
    bool nullable = r->facts.shortest == 0;
    if (r->cycle == TSL__G_NO_CYCLE) r->whole = tsl__expr_rule(g->x, &whole_ops, g, rule, nullable ? TSL__RULE_NULLABLE : 0, r->facts.shortest);
    else r->whole = tsl__expr_alt(g->x, plus_of(g, rule), nullable ? TSL__EPS : TSL__NONE);
  }
  return r->whole;
}

tsl__expr tsl__gbnf_tail(tsl__gbnf *g, uint32_t cycle, uint32_t from, uint32_t to) {
  tsl__gcycle *c = &g->cycles.at[cycle];
  uint32_t at = from * c->count + to, distance = c->distance[at];
  if (c->tails[at] == TSL__NONE) c->tails[at] = tsl__expr_rule(g->x, &tail_ops, g, c->base + at, distance ? 0 : TSL__RULE_NULLABLE, distance);
  return c->tails[at];
}

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

static tsl__expr lower_class(tsl__gbnf *g, const tsl__gnode *n) {
  tsl__charset set = {.ranges = {g->ranges.at + n->a, n->b, n->b}};
  return tsl__expr_charset(g->x, &set);
}

/* Alternatives; `plus`: each less the empty text. */
static tsl__expr lower_alternatives(tsl__gbnf *g, const tsl__gnode *n, bool plus) {
  tsl__expr *all = tsl__alloc(&g->alloc, n->b * sizeof *all);
  if (!all) {
    tsl__exprs_fail(g->x, TSL_ERR_NO_MEMORY, "out of memory");
    return TSL__NONE;
  }
  for (uint32_t i = 0; i < n->b; i++) all[i] = plus ? tsl__gbnf_lower_plus(g, g->lists.at[n->a + i]) : tsl__gbnf_lower(g, g->lists.at[n->a + i]);
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
    case TSL__G_TOKEN: return tsl__expr_token(g->x, &n->a, 1, n->b);
    case TSL__G_REF: return whole_of(g, n->a);
    case TSL__G_SEQ:
      for (uint32_t i = n->b; i-- > 0;) e = tsl__expr_seq(g->x, tsl__gbnf_lower(g, g->lists.at[n->a + i]), e);
      break;
    case TSL__G_ALT: return lower_alternatives(g, n, false);
    case TSL__G_REPEAT: return tsl__expr_repeat(g->x, tsl__gbnf_lower(g, n->a), n->b, n->c);
    case TSL__G_PLUS: return tsl__gbnf_lower_plus(g, n->a);
  }
  return e;
}

/* Terms share what follows them (leftrec.c), so a node is asked for many times. Depth: its height. */
tsl__expr tsl__gbnf_lower(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  if (n.whole != TSL__NONE) return n.whole;
  tsl__gbnf_look(g, 1);
  tsl__expr e = lower_node(g, &n);
  if (tsl__exprs_status(g->x) == TSL_OK) g->nodes.at[node].whole = e;
  return e;
}

/* The first item that is not empty, then the rest in full: from right to left, P = plus(item)·S | P' where the item may be empty. */
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
  tsl__expr rest = n->c == 1 ? TSL__EPS : tsl__expr_repeat(g->x, tsl__gbnf_lower(g, n->a), n->b ? n->b - 1 : 0, n->c == TSL__INF ? TSL__INF : n->c - 1);
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

/* ---- rules in place ------------------------------------------------------------------------------------------- */

static bool is_plain(const tsl__gbnf *g, tsl__expr e) { return e != TSL__NONE && !tsl__expr_has_calls(g->x, e); }

/* Is a node made of characters and of rules that are in place already, without long counted repeats? Depth: the node's height. */
static bool plain(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_TOKEN) return false;
  if (n.kind == TSL__G_REF) return !g->rules.at[n.a].facts.more || is_plain(g, g->rules.at[n.a].whole);
  if (n.kind == TSL__G_REPEAT && (n.b > INLINE_REPEAT || (n.c != TSL__INF && n.c > INLINE_REPEAT))) return false;
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

static void place(tsl__gbnf *g, uint32_t rule) {
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

/* ---- counted texts in place ---------------------------------------------------------------------------------------
 *
 * A frame that may end after each of its characters leaves as many places over as the vocabulary has nodes. So a rule that ends in a long counted repeat of a class is put in place, too, if wherever it is named it
 * stands in the sequence of a rule, in front of a literal that is not of that class: then one loop at most is active, and it is over with the literal.
 */

#define FRAME_REPEATS 4u /* long repeats of a sequence, up to which some are put in place */

static bool is_long(const tsl__gnode *n) { return n->kind == TSL__G_REPEAT && (n->b > INLINE_REPEAT || (n->c != TSL__INF && n->c > INLINE_REPEAT)); }

/* The class that the texts of a rule end in, so many times; 0: they do not, or what is before that is not plain. */
static uint32_t counted_class(tsl__gbnf *g, uint32_t rule) {
  const tsl__grule *r = &g->rules.at[rule];
  tsl__gnode n = g->nodes.at[r->body];
  if (r->recursive || r->whole != TSL__NONE || !r->facts.more || r->size > INLINE_NODES) return 0;
  if (n.kind == TSL__G_SEQ) {
    for (uint32_t i = 0; i + 1 < n.b; i++)
      if (!plain(g, g->lists.at[n.a + i])) return 0;
    n = g->nodes.at[g->lists.at[n.a + n.b - 1]];
  }
  return is_long(&n) && g->nodes.at[n.a].kind == TSL__G_CLASS ? n.a : 0;
}

/* Does a literal begin with something that is not of the class? */
static bool leaves_class(tsl__gbnf *g, uint32_t literal, uint32_t class) {
  const tsl__gnode *l = &g->nodes.at[literal], *c = &g->nodes.at[class];
  tsl__charset set = {.ranges = {g->ranges.at + c->a, c->b, c->b}};
  uint32_t first = 0;
  if (l->kind != TSL__G_LITERAL) return false;
  tsl__utf8_decode(g->bytes.at + l->a, l->b, &first);
  return !tsl__charset_has(&set, first);
}

/* All rules that are named in a node. Depth: its height. */
static void keep_apart(tsl__gbnf *g, uint32_t node) {
  const tsl__gnode n = g->nodes.at[node];
  tsl__gbnf_look(g, 1);
  if (n.kind == TSL__G_REF) g->rules.at[n.a].apart = true;
  if (n.kind == TSL__G_REPEAT || n.kind == TSL__G_PLUS) keep_apart(g, n.a);
  if (n.kind == TSL__G_SEQ || n.kind == TSL__G_ALT)
    for (uint32_t i = 0; i < n.b; i++) keep_apart(g, g->lists.at[n.a + i]);
}

/* Looks at what a rule names, and where. */
static void look_at_sites(tsl__gbnf *g, uint32_t rule) {
  const tsl__grule *r = &g->rules.at[rule];
  const tsl__gnode n = g->nodes.at[r->body];
  uint32_t repeats = 0;
  if (n.kind != TSL__G_SEQ || r->cycle != TSL__G_NO_CYCLE) {
    keep_apart(g, r->body);
    return;
  }
  for (uint32_t i = 0; i < n.b; i++) {
    uint32_t item = g->lists.at[n.a + i];
    const tsl__gnode at = g->nodes.at[item];
    uint32_t class = at.kind == TSL__G_REF ? counted_class(g, at.a) : 0;
    bool site = class && repeats < FRAME_REPEATS && i + 1 < n.b && leaves_class(g, g->lists.at[n.a + i + 1], class);
    if (!site) keep_apart(g, item);
    repeats += site || is_long(&at);
  }
}

static void place_counted(tsl__gbnf *g, uint32_t root) {
  g->rules.at[root].apart = true; /* nothing follows it */
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) look_at_sites(g, g->order.at[i]);
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) {
    tsl__grule *r = &g->rules.at[g->order.at[i]];
    if (r->apart || !counted_class(g, g->order.at[i])) continue;
    r->whole = tsl__gbnf_lower(g, r->body);
    r->plus = tsl__gbnf_lower_plus(g, r->body);
  }
}

/* ---- compiling ------------------------------------------------------------------------------------------------ */

static tsl_status find_root(const tsl__gbnf *g, const char *name, uint32_t *root, tsl_error *error) {
  *root = tsl__gbnf_find(g, name, strlen(name));
  if (*root != UINT32_MAX) return TSL_OK;
  return tsl__fail(error, TSL_ERR_SYNTAX, "the grammar has no rule \"%.100s\"", name);
}

static tsl_status analyse(tsl__gbnf *g, uint32_t root, tsl_error *error) {
  const tsl__grule *r = &g->rules.at[root];
  if (!tsl__gbnf_analyse(g, root)) return tsl__gbnf_failure(g, error);
  if (!r->facts.some)
    return tsl__fail_at(error, TSL_ERR_EMPTY, g->text, g->length, r->offset, "rule \"%.*s\" matches no text", (int)(r->name_length < 100 ? r->name_length : 100), r->name);
  return tsl__gbnf_left_recursion(g, error);
}

tsl_status tsl__gbnf_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length, const char *root, uint32_t max_depth, tsl__expr *out,
                             tsl_error *error) {
  uint32_t start = 0, depth = !max_depth ? DEFAULT_DEPTH : max_depth < TSL__GBNF_DEPTH_MAX ? max_depth : TSL__GBNF_DEPTH_MAX;
  tsl__gbnf *g = tsl__gbnf_new(x);
  *out = TSL__NONE;
  if (!g) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  tsl_status status = tsl__gbnf_parse(g, vocab, text, length, depth, error);
  if (!status) status = find_root(g, root ? root : "root", &start, error);
  if (!status) status = analyse(g, start, error);
  if (status) return status;
  for (size_t i = 0; i < g->order.n && !tsl__gbnf_failed(g); i++) place(g, g->order.at[i]);
  place_counted(g, start);
  *out = whole_of(g, start);
  return tsl__gbnf_failure(g, error);
}
