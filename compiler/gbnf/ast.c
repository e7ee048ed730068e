/* ast.c - building and printing a parsed GBNF grammar.
 *
 * Problem   Four notations become these nodes, and passes add to them. A rule is unfolded when a
 *           text first reaches it, so the nodes must stay as long as the expressions.
 * Idea      A node is a number into one array and never changes. Node 0 is the empty text: it is
 *           what every function returns that failed, so that no caller has to look first. Lists of
 *           items lie in an array of their own. The grammar belongs to its expressions: these free
 *           it (tsl__exprs_own).
 * Lists     A list of no items is node 0, and a list of one item is that item. A tail of a
 *           sequence shares the sequence's items (tsl__gbnf_suffix).
 * Example   root ::= "ab" x?  with x rule 1:
 *             node 1  LITERAL  bytes 0 to 1
 *             node 2  REF      rule 1
 *             node 3  REPEAT   node 2, 0 to 1
 *             node 4  SEQ      lists 0 and 1, which are 1 and 3; its height is 2
 *           tsl__gbnf_suffix(4, 1) is node 3, and no list is written for it.
 * Failing   `no_memory` and `too_much_work` are sticky. tsl__gbnf_failure turns them into a
 *           status.
 * Cost      A push for each node. A height is the maximum of the items' heights, plus one.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/ast.h"

#include "compiler/expr/print.h"

static void destroy(void *ctx) {
  tsl__gbnf *g = ctx;
  const tsl_allocator a = g->alloc;
  for (size_t i = 0; i < g->cycles.n; i++) {
    tsl__gcycle *c = &g->cycles.at[i];
    for (uint32_t k = 0; c->terms && k < c->count; k++) tsl__vec_free(&a, &c->terms[k]);
    tsl__free(&a, c->terms, c->count * sizeof *c->terms);
    tsl__free(&a, c->distance, (size_t)c->count * c->count * sizeof *c->distance);
    tsl__free(&a, c->tails, (size_t)c->count * c->count * sizeof *c->tails);
  }
  tsl__vec_free(&a, &g->nodes);
  tsl__vec_free(&a, &g->lists);
  tsl__vec_free(&a, &g->bytes);
  tsl__vec_free(&a, &g->ranges);
  tsl__vec_free(&a, &g->rules);
  tsl__vec_free(&a, &g->order);
  tsl__vec_free(&a, &g->cycle_rules);
  tsl__vec_free(&a, &g->cycles);
  tsl__index_free(&g->names, &a);
  tsl__free(&a, g->text, g->length);
  tsl__free(&a, g, sizeof *g);
}

tsl__gbnf *tsl__gbnf_new(tsl__exprs *x) {
  const tsl_allocator *a = tsl__exprs_allocator(x);
  tsl__gbnf *g = tsl__alloc_zero(a, sizeof *g);
  if (!g) return NULL;
  g->x = x;
  g->alloc = *a;
  if (!tsl__exprs_own(x, g, destroy)) return NULL;
  tsl__gnode empty = {.kind = TSL__G_EMPTY};
  return tsl__vec_push(a, &g->nodes, empty) ? g : NULL;
}

tsl_status tsl__gbnf_failure(const tsl__gbnf *g, tsl_error *error) {
  tsl_status status = tsl__exprs_status(g->x);
  if (g->no_memory) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  if (g->too_much_work)
    return tsl__fail(error, TSL_ERR_LIMIT,
                     "the rules are too intertwined (limit %u nodes looked at)",
                     TSL__GBNF_WORK_MAX);
  return status == TSL_OK ? TSL_OK : tsl__fail(error, status, "%s", tsl__exprs_why(g->x));
}

static uint32_t height_of(const tsl__gbnf *g, const uint32_t *items, uint32_t count) {
  uint32_t height = 0;
  for (uint32_t i = 0; i < count; i++)
    if (g->nodes.at[items[i]].height >= height) height = g->nodes.at[items[i]].height + 1;
  return height;
}

static uint32_t add(tsl__gbnf *g, tsl__gnode node) {
  tsl__gbnf_look(g, 1);
  if (g->no_memory || g->nodes.n > INT32_MAX || !tsl__vec_push(&g->alloc, &g->nodes, node)) {
    g->no_memory = true;
    return 0;
  }
  return (uint32_t)g->nodes.n - 1;
}

uint32_t tsl__gbnf_node(tsl__gbnf *g, tsl__gkind kind, uint32_t a, uint32_t b, uint32_t c) {
  tsl__gnode node = {.kind = (uint8_t)kind, .a = a, .b = b, .c = c};
  if (kind == TSL__G_REPEAT || kind == TSL__G_PLUS) node.height = g->nodes.at[a].height + 1;
  if (kind == TSL__G_SEQ || kind == TSL__G_ALT) node.height = height_of(g, g->lists.at + a, b);
  return add(g, node);
}

uint32_t tsl__gbnf_list(tsl__gbnf *g, tsl__gkind kind, const uint32_t *items, uint32_t count) {
  if (count == 0) return 0;
  if (count == 1) return items[0];
  uint32_t first = (uint32_t)g->lists.n;
  for (uint32_t i = 0; i < count; i++) {
    if (!tsl__vec_push(&g->alloc, &g->lists, items[i])) {
      g->no_memory = true;
      return 0;
    }
  }
  return tsl__gbnf_node(g, kind, first, count, 0);
}

uint32_t tsl__gbnf_pair(tsl__gbnf *g, uint32_t first, uint32_t then) {
  const uint32_t items[2] = {first, then};
  if (!first) return then;
  return then ? tsl__gbnf_list(g, TSL__G_SEQ, items, 2) : first;
}

uint32_t tsl__gbnf_suffix(tsl__gbnf *g, uint32_t seq, uint32_t from) {
  tsl__gnode n = g->nodes.at[seq];
  if (from == n.b) return 0;
  if (from + 1 == n.b) return g->lists.at[n.a + from];
  return tsl__gbnf_node(g, TSL__G_SEQ, n.a + from, n.b - from, 0);
}

/* ---- printing -------------------------------------------------------------------------------- */

typedef struct printer {
  const tsl__gbnf *g;
  tsl__printer to;
} printer;

static void put(printer *p, const char *text) { tsl__print_text(&p->to, text); }

/* A code point as it may stand in a literal or class. */
static void put_char(printer *p, uint32_t cp) {
  if (cp == '\n')
    put(p, "\\n");
  else if (cp == '"' || cp == '\\' || cp == '[' || cp == ']' || cp == '-')
    put(p, "\\"), tsl__print_char(&p->to, (char)cp);
  else if (cp >= 0x20 && cp < 0x7f && cp != '^')
    tsl__print_char(&p->to, (char)cp); /* '^' would negate a class */
  else
    tsl__print_format(&p->to, cp < 0x100 ? "\\x%02X" : cp < 0x10000 ? "\\u%04X" : "\\U%08X", cp);
}

static void put_literal(printer *p, const tsl__gnode *n) {
  const uint8_t *at = p->g->bytes.at + n->a, *end = at + n->b;
  put(p, "\"");
  while (at < end) {
    uint32_t cp = 0;
    at += tsl__utf8_decode(at, (size_t)(end - at), &cp);
    put_char(p, cp);
  }
  put(p, "\"");
}

static void put_class(printer *p, const tsl__gnode *n) {
  put(p, n->b ? "[" : "[^\\x00-\\U0010FFFF");
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__range r = p->g->ranges.at[n->a + i];
    put_char(p, r.lo);
    if (r.hi > r.lo + 1) put(p, "-");
    if (r.hi > r.lo) put_char(p, r.hi);
  }
  put(p, "]");
}

static void put_repeat(printer *p, const tsl__gnode *n) {
  if (n->b == 0 && n->c == TSL__INF)
    put(p, "*");
  else if (n->b == 1 && n->c == TSL__INF)
    put(p, "+");
  else if (n->b == 0 && n->c == 1)
    put(p, "?");
  else {
    tsl__print_format(&p->to, "{%u", n->b);
    if (n->c == TSL__INF)
      put(p, ",");
    else if (n->c != n->b)
      tsl__print_format(&p->to, ",%u", n->c);
    put(p, "}");
  }
}

static void put_node(printer *p, uint32_t node);

/* Depth: the node's height. */
static void put_item(printer *p, uint32_t node) {
  uint8_t kind = p->g->nodes.at[node].kind;
  bool group = kind == TSL__G_SEQ || kind == TSL__G_ALT;
  if (group) put(p, "(");
  put_node(p, node);
  if (group) put(p, ")");
}

static void put_items(printer *p, const tsl__gnode *n) {
  for (uint32_t i = 0; i < n->b; i++) {
    uint32_t item = p->g->lists.at[n->a + i];
    if (i) put(p, n->kind == TSL__G_ALT ? " | " : " ");
    if (n->kind == TSL__G_SEQ)
      put_item(p, item);
    else
      put_node(p, item);
  }
}

static void put_node(printer *p, uint32_t node) {
  const tsl__gnode *n = &p->g->nodes.at[node];
  switch ((tsl__gkind)n->kind) {
  case TSL__G_EMPTY: put(p, "\"\""); break;
  case TSL__G_LITERAL: put_literal(p, n); break;
  case TSL__G_CLASS: put_class(p, n); break;
  case TSL__G_ANY: put(p, "."); break;
  case TSL__G_TOKEN: tsl__print_format(&p->to, n->b ? "!<[%u]>" : "<[%u]>", n->a); break;
  case TSL__G_REF:
    for (uint32_t i = 0; i < p->g->rules.at[n->a].name_length; i++)
      tsl__print_char(&p->to, p->g->rules.at[n->a].name[i]);
    break;
  case TSL__G_SEQ:
  case TSL__G_ALT: put_items(p, n); break;
  case TSL__G_REPEAT:
    put_item(p, n->a);
    put_repeat(p, n);
    break;
  case TSL__G_TOKENS: tsl__print_format(&p->to, "<tokens %u>", n->a); break;
  case TSL__G_EXPR: tsl__print_format(&p->to, "<expression %u>", n->a); break;
  case TSL__G_PLUS:
    put(p, "%");
    put_item(p, n->a);
    break;
  }
}

size_t tsl__gbnf_print(const tsl__gbnf *g, uint32_t node, char *out, size_t n) {
  printer p = {g, {out, n, 0}};
  put_node(&p, node);
  return tsl__print_end(&p.to);
}
