/* options.c - what stands in brackets behind the name of a rule: lazy, max_chars, captures,
 * counts.
 *
 * Problem   lazy and max_chars speak of the texts of a rule: which ones have no beginning that is
 *           a text, too, and which ones are short. That is an intersection, and no rule with a
 *           frame can stand in one.
 * Idea      If the rules below it do not call themselves, the rule is one regular expression e:
 *           their bodies stand in the place of their names.
 *             lazy          e & ~(e any+)
 *             max_chars=n   e & ~((e & any{n,}) any+): a text of n characters or more goes on only
 *                           while no beginning of it that long is a text
 *           A rule that may call itself is refused, with its place.
 * Example   a[max_chars=2] ::= "x"{4} "y"* is "xxxx": no text is short, so it ends when it can.
 *           a[lazy] ::= "x"+ "y"? is "x": "xx" and "xy" have the beginning "x", which is a text.
 * Counted   max_tokens needs a rule that is read in one frame, so it is an expression as well.
 * Limits    EXPANDED_MAX nodes in the place of names, DEPTH_MAX of them within one another
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/reader.h"

#define peek tsl__ebnf_peek
#define take tsl__ebnf_take
#define FAIL TSL__EBNF_FAIL
#define DEPTH_MAX 4000u
#define EXPANDED_MAX 100000u

/* ---- reading --------------------------------------------------------------------------------- */

static void blanks(tsl__ebnf *r) {
  while (peek(r) == ' ' || peek(r) == '\t') r->in.at++;
}

static bool assigned(tsl__ebnf *r) {
  blanks(r);
  if (!take(r, '=')) return false;
  return blanks(r), true;
}

static uint32_t value(tsl__ebnf *r) {
  if (!assigned(r)) return FAIL(r, r->in.at, "expected '=' and a number"), 0;
  return tsl__greader_number(&r->in, "a number", TSL__GBNF_REPEAT_MAX);
}

/* A name in quotes, without escapes. */
static tsl__string quoted(tsl__ebnf *r) {
  size_t start = r->in.at;
  if (!take(r, '"')) return FAIL(r, start, "expected a name in quotes"), (tsl__string){0};
  while (peek(r) >= 0 && peek(r) != '"' && peek(r) != '\n' && peek(r) != '\\') r->in.at++;
  tsl__string s = {r->in.text + start + 1, (uint32_t)(r->in.at - start - 1)};
  if (!take(r, '"')) FAIL(r, start, "a name without its closing quote");
  if (!r->in.status && !s.length) FAIL(r, start, "an empty name");
  if (!tsl__utf8_valid((const uint8_t *)s.at, s.length)) FAIL(r, start, "invalid UTF-8");
  return s;
}

static void temperature(tsl__ebnf *r, size_t start) {
  size_t first;
  bool fine = assigned(r);
  for (first = r->in.at; peek(r) > 0 && strchr("0123456789.eE+-", peek(r));) r->in.at++;
  if (!fine || r->in.at == first) FAIL(r, start, "a temperature is a number, such as 0.7");
  tsl__ebnf_note(r, start, "temperature", "a temperature is for the host to act upon");
}

static void option(tsl__ebnf *r, tsl__ebnf_rule *o) {
  size_t start = r->in.at;
  if (tsl__ebnf_take_name(r, "lazy")) {
    o->lazy = true;
  } else if (tsl__ebnf_take_name(r, "max_chars")) {
    o->has_chars = true;
    o->max_chars = value(r);
  } else if (tsl__ebnf_take_name(r, "max_tokens")) {
    o->has_tokens = true;
    o->max_tokens = value(r);
  } else if (tsl__ebnf_take_name(r, "capture")) {
    const tsl__grule *u = &r->in.g->rules.at[o->rule];
    o->has_capture = true;
    o->capture = assigned(r) ? quoted(r) : (tsl__string){u->name, u->name_length};
  } else if (tsl__ebnf_take_name(r, "temperature")) {
    temperature(r, start);
  } else if (tsl__ebnf_take_name(r, "stop_capture")) {
    if (assigned(r)) quoted(r);
    tsl__ebnf_note(r, start, "stop_capture", "the text of a stop is not given back");
  } else {
    FAIL(r, start,
         "an option of a rule is lazy, max_chars, max_tokens, capture, temperature or "
         "stop_capture");
  }
}

void tsl__ebnf_options_read(tsl__ebnf *r, uint32_t rule) {
  tsl__ebnf_rule o = {.rule = rule, .at = r->in.at++};
  do {
    blanks(r);
    option(r, &o);
    blanks(r);
  } while (!r->in.status && take(r, ','));
  if (!r->in.status && !take(r, ']')) FAIL(r, r->in.at, "expected ',' or ']'");
  if (!r->in.status && !tsl__vec_push(&r->in.alloc, &r->rules, o)) tsl__ebnf_no_memory(r);
}

/* ---- one expression -------------------------------------------------------------------------- */

typedef struct expansion {
  tsl__ebnf *r;
  const tsl__ebnf_rule *option;
  uint32_t nodes;
  TSL__VEC(uint32_t) open; /* rules whose bodies are being read */
} expansion;

static tsl__expr refuse(expansion *p, const char *why) {
  const tsl__grule *u = &p->r->in.g->rules.at[p->option->rule];
  TSL__EBNF_UNSUPPORTED(p->r, p->option->at,
                        "rule \"%.*s\" %s: lazy, max_chars and max_tokens are for rules that are "
                        "regular",
                        (int)(u->name_length < 100 ? u->name_length : 100), u->name, why);
  return TSL__NONE;
}

static tsl__expr expand(expansion *p, uint32_t node, uint32_t depth);

static tsl__expr expand_rule(expansion *p, uint32_t rule, uint32_t depth) {
  tsl__ebnf *r = p->r;
  for (size_t i = 0; i < p->open.n; i++)
    if (p->open.at[i] == rule) return refuse(p, "leads to a rule that contains itself");
  tsl__exprs_work(r->in.x, p->open.n);
  if (!tsl__vec_push(&r->in.alloc, &p->open, rule)) return tsl__ebnf_no_memory(r), TSL__NONE;
  tsl__expr e = expand(p, r->in.g->rules.at[rule].body, depth + 1);
  p->open.n--;
  return e;
}

static tsl__expr expand_list(expansion *p, const tsl__gnode *n, uint32_t depth) {
  bool sequence = n->kind == TSL__G_SEQ;
  tsl__expr all = sequence ? TSL__EPS : TSL__NONE;
  for (uint32_t i = n->b; i-- > 0 && !tsl__ebnf_over(p->r);) {
    tsl__expr e = expand(p, p->r->in.g->lists.at[n->a + i], depth + 1);
    all = sequence ? tsl__expr_seq(p->r->in.x, e, all) : tsl__expr_alt(p->r->in.x, e, all);
  }
  return all;
}

/* Depth: heights of nodes, names included; DEPTH_MAX at most. */
static tsl__expr expand(expansion *p, uint32_t node, uint32_t depth) {
  const tsl__gnode n = p->r->in.g->nodes.at[node];
  tsl__exprs_work(p->r->in.x, 1);
  if (tsl__ebnf_over(p->r)) return TSL__NONE;
  if (depth > DEPTH_MAX || p->nodes++ > EXPANDED_MAX) return refuse(p, "is too large");
  switch ((tsl__gkind)n.kind) {
  case TSL__G_SEQ:
  case TSL__G_ALT: return expand_list(p, &n, depth);
  case TSL__G_REPEAT: return tsl__expr_repeat(p->r->in.x, expand(p, n.a, depth + 1), n.b, n.c);
  case TSL__G_REF: return expand_rule(p, n.a, depth);
  case TSL__G_TOKEN:
  case TSL__G_TOKENS: return refuse(p, "names a token by its id");
  default: return tsl__gbnf_lower(p->r->in.g, node); /* a leaf */
  }
}

static tsl__expr some(tsl__exprs *x) {
  return tsl__expr_repeat(x, tsl__expr_any_char(x), 1, TSL__INF);
}

static tsl__expr shortest(tsl__exprs *x, tsl__expr e) {
  return tsl__expr_and(x, e, tsl__expr_not(x, tsl__expr_seq(x, e, some(x))));
}

static tsl__expr bounded(tsl__exprs *x, tsl__expr e, uint32_t n) {
  tsl__expr any = tsl__expr_any_char(x);
  tsl__expr late = tsl__expr_and(x, e, tsl__expr_repeat(x, any, n, TSL__INF));
  return tsl__expr_and(x, e, tsl__expr_not(x, tsl__expr_seq(x, late, some(x))));
}

/* ---- applying -------------------------------------------------------------------------------- */

static void as_expression(tsl__ebnf *r, const tsl__ebnf_rule *o) {
  expansion p = {.r = r, .option = o};
  tsl__expr e = expand_rule(&p, o->rule, 0);
  tsl__vec_free(&r->in.alloc, &p.open);
  if (o->lazy) e = shortest(r->in.x, e);
  if (o->has_chars) e = bounded(r->in.x, e, o->max_chars);
  if (tsl__ebnf_over(r)) return;
  r->in.g->rules.at[o->rule].body = tsl__gbnf_node(r->in.g, TSL__G_EXPR, e, o->has_tokens, 0);
  tsl__ebnf_over(r);
}

static void mark(tsl__ebnf *r, const tsl__ebnf_rule *o) {
  tsl__lark_mark m = {.name = o->capture, .counted = o->has_tokens, .max_tokens = o->max_tokens};
  if (!r->options->marks) {
    TSL__EBNF_UNSUPPORTED(r, o->at, "captures and max_tokens are not supported here");
    return;
  }
  if (!tsl__vec_push(&r->in.alloc, &r->marks, m)) tsl__ebnf_no_memory(r);
  r->in.g->rules.at[o->rule].mark = (uint32_t)r->marks.n;
}

void tsl__ebnf_options_apply(tsl__ebnf *r) {
  for (size_t i = 0; i < r->rules.n && !tsl__ebnf_over(r); i++) {
    const tsl__ebnf_rule *o = &r->rules.at[i];
    if (o->lazy || o->has_chars || o->has_tokens) as_expression(r, o);
    if (!r->in.status && (o->has_capture || o->has_tokens)) mark(r, o);
  }
}
