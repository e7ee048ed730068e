/* quoted.c - the texts of an expression with calls, as they stand in a JSON string.
 *
 * Problem   A value of a schema is made of rules: frames of numbers, strings, members. A JSON
 *           string takes an expression without calls (compiler/expr/expr.h). So a value cannot
 *           simply be put between two quotes.
 * Idea      Each character has its escape by itself, so an expression is quoted part by part. What
 *           has no calls becomes a part of a JSON string. Sequences, alternatives and loops stay
 *           what they are, of quoted parts. A rule becomes another rule, which quotes the body of
 *           the first one when a text gets there.
 * Names     A frame of names leaves it to what follows which names may come (tsl__expr_keys). Here
 *           each such name is spelled out, followed by an inline rule of what comes after it.
 * Example   The value "<names>" RESUME of {"properties": {"a": …}} becomes \" a\" <after a>. In a
 *           string in that string each quote is \\\" by the same rules once more.
 * Right     Parts begin and end between characters. Brackets, commas and quotes are characters, and
 *           a JSON string is a row of whole ones.
 * Limits    What the runtime compares it looks up in the bytes of the text, where it would find
 *           escapes. So the guard for new names is left out, and guards for items are refused.
 *           inner.c refuses schemas that would need them.
 * Lengths   A rule that calls others counts as long as it is without escapes: a lower bound.
 * Cost      A rule for each rule that a text enters, and one for each name in each place.
 * Tested by tests/schema/test_inner.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/node.h"
#include "compiler/schema/inner/inner.h"
#include "runtime/automaton/state.h"

/* Sequences and alternatives inside one another, in one body. */
#define DEPTH_MAX 500u

/* No name: the entry is that of a rule. */
#define NO_NAME UINT32_MAX

static tsl__expr quoted(struct schema *s, tsl__expr e, unsigned depth);
static tsl__expr part(struct schema *s, tsl__expr text);

/* ---- rules ----------------------------------------------------------------------------------- */

static tsl__expr unfold_quoted(tsl__exprs *x, void *ctx, uint32_t index) {
  struct schema *s = ctx;
  const struct quoted q = s->quoted.at[index];
  return quoted(s,
                q.name == NO_NAME ? tsl__rule_body(x, tsl__node_at(x, q.of).a)
                                  : tsl__expr_resume_after(x, q.of, q.name),
                0);
}

static void print_quoted(void *ctx, uint32_t index, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "quoted#%u", (unsigned)index);
}

static uint32_t quoted_shortest(tsl__exprs *x, void *ctx, uint32_t index) {
  struct schema *s = ctx;
  const struct quoted q = s->quoted.at[index];
  if (q.name != NO_NAME) return tsl__expr_resume_shortest(x, q.of, q.name);
  tsl__expr body = tsl__rule_at(x, tsl__node_at(x, q.of).a)->body;
  return body != TSL__NONE && !(tsl__node_at(x, body).flags & TSL__CALLS)
             ? tsl__expr_shortest(x, part(s, body))
             : tsl__expr_shortest(x, q.of);
}

static const tsl__rule_ops quoted_ops = {unfold_quoted, print_quoted, NULL, quoted_shortest, NULL};

struct quoted_key {
  const struct schema *s;
  tsl__expr of;
  uint32_t name;
};

static bool quoted_same(const void *ctx, uint32_t i) {
  const struct quoted_key *k = ctx;
  return k->s->quoted.at[i].of == k->of && k->s->quoted.at[i].name == k->name;
}

/* The rule that quotes the body of a rule, or what follows a name; one for each. */
static tsl__expr quoted_rule(struct schema *s, tsl__expr of, uint32_t name, uint32_t flags) {
  struct quoted_key key = {s, of, name};
  uint64_t hash = tsl__mix((uint64_t)of << 32 | name);
  uint32_t found = tsl__table_find(&s->quoted_table, hash, quoted_same, &key),
           index = (uint32_t)s->quoted.n;
  if (found != UINT32_MAX) return s->quoted.at[found].rule;
  struct quoted q = {
      of, name, tsl__expr_rule(s->x, &quoted_ops, s, index, flags, !(flags & TSL__RULE_NULLABLE))};
  if (q.rule == TSL__NONE) return TSL__NONE;
  if (!tsl__vec_push(s->alloc, &s->quoted, q) || !tsl__table_add(s, &s->quoted_table, hash, index))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), TSL__NONE;
  return q.rule;
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* inner.c finds this out when the schema is compiled, but for schemas of very many values. */
static tsl__expr refused(struct schema *s) {
  tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, NULL,
                   "contentSchema with items that must differ, or patterns that overlap");
  return TSL__NONE;
}

static bool is_guard(const struct schema *s, tsl__expr e, uint8_t kind) {
  static const uint8_t kinds[TSL__GUARDS] = {TSL__NEW_ITEM, TSL__NEW_NAME, TSL__SAME_ITEM};
  for (const tsl__exprs *x = s->x; x; x = tsl__exprs_parent(x))
    for (uint32_t i = 0; i < TSL__GUARDS; i++)
      if (e == x->guards[i] && kinds[i] == kind) return true;
  return false;
}

/* `text` as a part of a string. */
static tsl__expr part(struct schema *s, tsl__expr text) {
  tsl__node n = tsl__node_at(s->x, text);
  if (n.kind == TSL__K_JSTR && tsl__node_at(s->x, n.a).kind == TSL__K_CASES) return refused(s);
  return tsl__expr_json_part(s->x, text);
}

/* Every name that may come, and what follows it. */
static tsl__expr names(struct schema *s, tsl__stringset set, tsl__expr resume) {
  tsl__exprs *x = s->x;
  uint32_t size = tsl__stringset_size(x, set), n = 0;
  tsl__expr *all = tsl__schema_alloc(s, (size + 1) * sizeof *all);
  for (uint32_t i = 0; all && i < size && tsl__schema_work(s, 1); i++) {
    if (!tsl__expr_resume_allows(x, resume, i)) continue;
    tsl__string name = tsl__stringset_at(x, set, i);
    tsl__expr spelled = tsl__expr_json_string(x, tsl__expr_literal(x, name.at, name.length));
    all[n++] = tsl__expr_seq(x, part(s, spelled), quoted_rule(s, resume, i, TSL__RULE_INLINE));
  }
  return all ? tsl__expr_alt_n(x, all, n) : TSL__NONE;
}

static tsl__expr quoted_call(struct schema *s, tsl__expr rule) {
  if (is_guard(s, rule, TSL__NEW_NAME)) return TSL__EPS;
  if (is_guard(s, rule, TSL__NEW_ITEM) || is_guard(s, rule, TSL__SAME_ITEM)) return refused(s);
  const uint32_t kept = TSL__RULE_INLINE | TSL__RULE_NULLABLE;
  return quoted_rule(s, rule, NO_NAME,
                     tsl__rule_at(s->x, tsl__node_at(s->x, rule).a)->flags & kept);
}

/* The set of names that a frame spells; false: it is another expression. */
static bool spells_names(const struct schema *s, tsl__expr e, tsl__stringset *set) {
  tsl__node n = tsl__node_at(s->x, e);
  const tsl__rule *rule = n.kind == TSL__K_RULE ? tsl__rule_at(s->x, n.a) : NULL;
  if (rule) *set = rule->param;
  return rule && rule->flags & TSL__RULE_NAMES;
}

/* A sequence, one part after another: its tail may be long. */
static tsl__expr quoted_sequence(struct schema *s, tsl__expr e, unsigned depth) {
  TSL__VEC(tsl__expr) parts = {0};
  tsl__stringset set;
  uint32_t ignored;
  bool fine = true;
  while (fine && e != TSL__EPS && tsl__schema_work(s, 1)) {
    tsl__node n = tsl__node_at(s->x, e);
    tsl__expr head = n.kind == TSL__K_SEQ && n.flags & TSL__CALLS ? n.a : e, one;
    e = head == e ? TSL__EPS : n.b;
    if (spells_names(s, head, &set)) {
      tsl__node rest = tsl__node_at(s->x, e);
      tsl__expr resume = tsl__expr_is_resume(s->x, e, &ignored) ? e : rest.a;
      e = resume == e ? TSL__EPS : rest.b;
      one = names(s, set, resume);
    } else {
      one = quoted(s, head, depth);
    }
    fine = one != TSL__NONE;
    if (fine && !tsl__vec_push(s->alloc, &parts, one))
      tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  }
  tsl__expr all = fine ? tsl__schema_sequence(s->x, parts.at, parts.n) : TSL__NONE;
  tsl__vec_free(s->alloc, &parts);
  return tsl__schema_ok(s) ? all : TSL__NONE;
}

static tsl__expr quoted_alternatives(struct schema *s, const tsl__node *n, unsigned depth) {
  tsl__expr *all = tsl__schema_alloc(s, n->b * sizeof *all);
  for (uint32_t i = 0; all && i < n->b; i++) all[i] = quoted(s, tsl__list_at(s->x, n->a)[i], depth);
  return all ? tsl__expr_alt_n(s->x, all, n->b) : TSL__NONE;
}

/* Recursion: DEPTH_MAX. */
static tsl__expr quoted(struct schema *s, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(s->x, e);
  if (e == TSL__NONE || e == TSL__EPS || !tsl__schema_work(s, 1)) return e;
  if (!(n.flags & TSL__CALLS)) return part(s, e);
  if (depth == DEPTH_MAX)
    return tsl__schema_fail(s, TSL_ERR_LIMIT, NULL, "contentSchema with a value of too many parts"),
           TSL__NONE;
  switch ((tsl__kind)n.kind) {
  case TSL__K_RULE: return quoted_call(s, e);
  case TSL__K_SEQ: return quoted_sequence(s, e, depth + 1);
  case TSL__K_ALT: return quoted_alternatives(s, &n, depth + 1);
  case TSL__K_REPEAT: return tsl__expr_repeat(s->x, quoted(s, n.a, depth + 1), n.b, n.c);
  default: return refused(s);
  }
}

tsl__expr tsl__schema_quoted(struct schema *s, tsl__expr e) { return quoted(s, e, 0); }
