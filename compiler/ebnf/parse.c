/* parse.c - the rules of an EBNF text to nodes.
 *
 * Problem   An end of a line says nothing in EBNF, so a rule ends where the next one begins.
 * Idea      A parser that goes down into parentheses only, at most max_depth deep. Before each
 *           name it looks whether the name begins a rule. The first error stops it: every function
 *           then returns node 0, and r->status is set.
 * Example   a ::= "x"          rule a is "x" b: the name b begins no rule,
 *             b                the name c does
 *           c ::= "y"
 * Steps     After "x" the parser stands before b. tsl__ebnf_begins_rule reads past b and the space
 *           behind it, finds c instead of `::=`, and says no: b is an item. Before c it finds
 *           `::=` behind the name, so the sequence ends, and the rule with it.
 * Look-ahead (= …) is read as a group whose node nobody uses.
 * Cost      Linear in the text. A name is read twice: once for the look ahead, once as itself.
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/reader.h"

#define peek tsl__ebnf_peek
#define take tsl__ebnf_take
#define FAIL TSL__EBNF_FAIL

static uint32_t alternatives(tsl__ebnf *r, uint32_t depth);

static bool is_look_ahead(const tsl__ebnf *r) {
  return peek(r) == '(' && r->at + 1 < r->length && r->text[r->at + 1] == '=';
}

static uint32_t group(tsl__ebnf *r, uint32_t depth) {
  size_t start = r->at++;
  if (depth >= r->max_depth)
    return tsl__ebnf_limit(r, start, "nesting is too deep", r->max_depth), 0;
  uint32_t node = alternatives(r, depth + 1);
  if (r->status || take(r, ')')) return node;
  if (is_look_ahead(r))
    FAIL(r, r->at, "a look-ahead (= ...) stands at the end of a rule, in no group");
  else
    FAIL(r, r->at, peek(r) < 0 ? "a group without its ')'" : "expected an item, '|' or ')'");
  return 0;
}

static uint32_t named(tsl__ebnf *r) {
  size_t start = r->at, length = tsl__ebnf_name(r);
  uint32_t node;
  if (tsl__ebnf_macro(r, length, &node)) return node;
  if (length == 1 && r->text[start] == '.' && tsl__gbnf_find(r->g, ".", 1) == UINT32_MAX) {
    r->at++;
    return tsl__gbnf_node(r->g, TSL__G_ANY, 0, 0, 0);
  }
  uint32_t rule = tsl__ebnf_mention(r);
  return r->status ? 0 : tsl__gbnf_node(r->g, TSL__G_REF, rule, (uint32_t)start, 0);
}

/* An item without quantifier; *none: there is no item here. */
static uint32_t item(tsl__ebnf *r, uint32_t depth, bool *none) {
  int c = peek(r);
  *none = false;
  if (c == '"') return tsl__ebnf_literal(r);
  if (c == '[') return tsl__ebnf_class(r);
  if (c == '(' && !is_look_ahead(r)) return group(r, depth);
  if (c == '<' || c == '!') return tsl__ebnf_token(r);
  if (tsl__ebnf_name(r) && !tsl__ebnf_begins_rule(r)) return named(r);
  *none = true;
  return 0;
}

/* {m} {m,} {m,n} {m,-1} after its '{'. */
static void counts(tsl__ebnf *r, size_t start, uint32_t *min, uint32_t *max) {
  tsl__ebnf_space(r);
  *min = *max = tsl__ebnf_number(r, "a repeat count", TSL__GBNF_REPEAT_MAX);
  tsl__ebnf_space(r);
  if (!r->status && take(r, ',')) {
    tsl__ebnf_space(r);
    *max = TSL__INF;
    if (r->length - r->at >= 2 && !memcmp(r->text + r->at, "-1", 2))
      r->at += 2;
    else if (peek(r) != '}')
      *max = tsl__ebnf_number(r, "a repeat count", TSL__GBNF_REPEAT_MAX);
    tsl__ebnf_space(r);
  }
  if (!r->status && !take(r, '}')) FAIL(r, r->at, "expected ',' or '}'");
  if (!r->status && *max < *min) FAIL(r, start, "a repeat from high to low");
}

static uint32_t quantifiers(tsl__ebnf *r, uint32_t node) {
  for (;;) {
    uint32_t min = 0, max = TSL__INF;
    tsl__ebnf_space(r);
    size_t start = r->at;
    if (take(r, '*'))
      max = TSL__INF;
    else if (take(r, '+'))
      min = 1;
    else if (take(r, '?'))
      max = 1;
    else if (take(r, '{'))
      counts(r, start, &min, &max);
    else
      return node;
    if (r->status) return 0;
    if (max == 0)
      node = 0;
    else if (node && (min != 1 || max != 1))
      node = tsl__gbnf_node(r->g, TSL__G_REPEAT, node, min, max);
    if (tsl__ebnf_over(r)) return 0;
    /* a group is up to three levels of nodes */
    if (r->g->nodes.at[node].height > 3 * r->max_depth)
      tsl__ebnf_limit(r, start, "nesting is too deep", r->max_depth);
  }
}

static bool pend(tsl__ebnf *r, uint32_t node) {
  if (!tsl__ebnf_over(r) && !tsl__vec_push(&r->alloc, &r->pending, node)) tsl__ebnf_no_memory(r);
  return !r->status;
}

static uint32_t collect(tsl__ebnf *r, tsl__gkind kind, size_t base) {
  const uint32_t *items = r->pending.n > base ? r->pending.at + base : NULL;
  uint32_t node =
      r->status ? 0 : tsl__gbnf_list(r->g, kind, items, (uint32_t)(r->pending.n - base));
  r->pending.n = base;
  return tsl__ebnf_over(r) ? 0 : node;
}

static uint32_t sequence(tsl__ebnf *r, uint32_t depth) {
  size_t base = r->pending.n;
  while (!tsl__ebnf_over(r)) {
    bool none;
    tsl__ebnf_space(r);
    uint32_t node = item(r, depth, &none);
    if (none) break;
    if (!r->status) node = quantifiers(r, node);
    if (node && !pend(r, node)) break;
  }
  int c = peek(r);
  if (c == '*' || c == '+' || c == '?' || c == '{')
    FAIL(r, r->at, "'%c' has nothing before it to repeat", c);
  return collect(r, TSL__G_SEQ, base);
}

static uint32_t alternatives(tsl__ebnf *r, uint32_t depth) {
  size_t base = r->pending.n;
  do
    if (!pend(r, sequence(r, depth))) break;
  while (take(r, '|'));
  return collect(r, TSL__G_ALT, base);
}

/* The line of an offset; offsets only grow from call to call. */
static uint32_t line_of(tsl__ebnf *r, size_t offset) {
  for (; r->counted < offset; r->counted++) r->lines += r->text[r->counted] == '\n';
  return r->lines + 1;
}

static void look_ahead(tsl__ebnf *r) {
  size_t start = r->at;
  if (r->status || !is_look_ahead(r)) return;
  r->at += 2;
  alternatives(r, 1);
  if (!r->status && !take(r, ')')) FAIL(r, start, "a look-ahead without its ')'");
  tsl__ebnf_note(r, start, "(=", "a look-ahead is a promise that no text is checked for");
  tsl__ebnf_space(r);
}

static void rule(tsl__ebnf *r) {
  size_t start = r->at, before = start;
  if (!tsl__ebnf_name(r) || !tsl__ebnf_begins_rule(r)) {
    FAIL(r, start,
         !start && r->length >= 3 && !memcmp(r->text, "\xef\xbb\xbf", 3)
             ? "a byte order mark stands before the grammar"
             : "expected a rule: a name and ::=");
    return;
  }
  while (before && (r->text[before - 1] == ' ' || r->text[before - 1] == '\t')) before--;
  if (before && r->text[before - 1] != '\n' && r->text[before - 1] != '\r')
    FAIL(r, start, "a rule begins a line of its own");
  uint32_t number = tsl__ebnf_mention(r);
  if (!r->status && r->g->rules.at[number].line)
    FAIL(r, start, "rule \"%.*s\" is defined twice, first in line %u",
         (int)(r->at - start < 100 ? r->at - start : 100), r->text + start,
         r->g->rules.at[number].line);
  if (!r->status && peek(r) == '[') tsl__ebnf_options_read(r, number);
  tsl__ebnf_space(r);
  if (r->status) return;
  r->at += 3; /* ::= */
  uint32_t body = alternatives(r, 0);
  look_ahead(r);
  if (r->status) return;
  r->g->rules.at[number].body = body;
  r->g->rules.at[number].line = line_of(r, start);
}

static void check_defined(tsl__ebnf *r) {
  for (size_t i = 0; i < r->g->rules.n && !r->status; i++) {
    const tsl__grule *u = &r->g->rules.at[i];
    if (!u->line)
      FAIL(r, u->offset, "rule \"%.*s\" is not defined",
           (int)(u->name_length < 100 ? u->name_length : 100), u->name);
  }
}

void tsl__ebnf_parse(tsl__ebnf *r) {
  tsl__ebnf_space(r);
  while (!tsl__ebnf_over(r) && r->at < r->length) {
    rule(r);
    int c = peek(r);
    if (!r->status && c >= 0 && !tsl__ebnf_name(r))
      FAIL(r, r->at, c == ')' ? "')' without its '('" : "expected an item, '|' or a rule");
  }
  if (!r->status && !r->g->rules.n) FAIL(r, r->at, "a grammar without rules");
  check_defined(r);
}
