/* inner.c - contentSchema: a string holds a JSON text, which satisfies a schema of its own.
 *
 * Problem   {"contentMediaType": "application/json", "contentSchema": S}: the string is to hold a
 *           text of S, with the escapes of a JSON string.
 * Idea      S has a goal like any other subschema. The string's text is a rule, which quotes the
 *           value of that goal when a text enters it (quoted.c). White space, spelling and order
 *           are those of the whole schema.
 * Example   {"type": "object", "properties": {"args": {"type": "string", "contentMediaType":
 *           "application/json", "contentSchema": {"type": "array", "items": {"type": "integer"}}}}}
 *           has the text {"args": "[1, 2]"}. With strings for items it is {"args": "[\"a\"]"}.
 * Apart     Two such keywords about one string ask for one text that satisfies both. In an anyOf
 *           they ask for one that satisfies either, and in a oneOf for one that satisfies just one.
 *           Of listed strings (enum, const) those are kept that hold a value of the goal. In an
 *           anyOf other strings may stand beside. No other keyword may speak about such a string,
 *           as about any string that a grammar describes (scalar.c).
 * Names     In the inner text names that S does not list may come again: nothing compares them
 *           (quoted.c). As the last one counts, each value is checked all the same. Only what must
 *           be counted, or be there, would be wrong, so that is refused here. The same goes for
 *           items that must differ.
 * Cost      Goals below a contentSchema are opened when the schema is compiled.
 * Tested by tests/schema/test_inner.c, tests/package/test_package_content.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/inner/inner.h"

#include <stdio.h>

#define GOALS_MAX 2000u /* values below contentSchema that are looked at: docs/limits.md */

typedef TSL__VEC(goal) goals;

/* ---- the text -------------------------------------------------------------------------------- */

static tsl__expr unfold_inner(tsl__exprs *x, void *ctx, uint32_t g) {
  struct schema *s = ctx;
  tsl__expr value = tsl__schema_value(s, g),
            space = s->options.whitespace == TSL_WS_ANY ? s->shared.space : TSL__EPS;
  const tsl__expr text[] = {space, value, space};
  return value == TSL__NONE ? value : tsl__schema_quoted(s, tsl__schema_sequence(x, text, 3));
}

static void print_inner(void *ctx, uint32_t g, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "inner#%u", (unsigned)g);
}

/* The strings that hold a value of the goal. */
static struct strings of_goal(struct schema *s, goal g) {
  static const tsl__rule_ops ops = {unfold_inner, print_inner, NULL, tsl__schema_rule_shortest,
                                    NULL};
  if (g == GOAL_NONE || !tsl__schema_ok(s)) return (struct strings){.is_set = true};
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->inner_text == TSL__NONE) e->inner_text = tsl__expr_rule(s->x, &ops, s, g, 0, 1);
  return (struct strings){.text = e->inner_text, .max = TSL__INF, .inner = g};
}

struct strings tsl__schema_inner_text(struct schema *s, const struct node *n) {
  const struct keyword_value *v = tsl__keyword(n, KW_CONTENT_SCHEMA);
  lit l = POS(v->children[0]);
  if (s->style && !s->style->python)
    tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, v->value, "contentSchema in the style %s",
                     s->style->name);
  return of_goal(s, tsl__schema_goal(s, &l, 1, 0));
}

struct strings tsl__schema_inner_both(struct schema *s, goal a, goal b) {
  const struct goal_entry *e = tsl__goal_of(s, b);
  return of_goal(s, tsl__schema_goal_and(s, a, e->lits, e->n));
}

/* The subschema that the goal asks for alone, SID_FALSE if it asks for more. */
static sid alone(const struct schema *s, goal g) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  return e->n != 1 || e->lits[0] & 1 ? SID_FALSE : e->lits[0] >> 1;
}

static bool either(struct schema *s, goal a, goal b, struct strings *out) {
  const sid children[] = {alone(s, a), alone(s, b)};
  if (children[0] == SID_FALSE || children[1] == SID_FALSE) return false;
  lit l = POS(tsl__schema_choice_of(s, KW_ANY_OF, children, 2));
  return *out = of_goal(s, tsl__schema_goal(s, &l, 1, 0)), true;
}

/* A text as it stands in a string. If nothing had that value, an alternative of it would be a dead
 * end. So there must plainly be one: TSL__NONE if that is not plain. */
static tsl__expr in_string(struct schema *s, const struct strings *a, tsl__expr text) {
  const struct goal_entry *e = tsl__goal_of(s, a->inner);
  if (!tsl__expr_has_calls(s->x, text)) return tsl__expr_json_part(s->x, text);
  return !a->inner || tsl__schema_plain_together(s, e->lits, e->n) ? text : TSL__NONE;
}

bool tsl__schema_inner_either(struct schema *s, const struct strings *a, tsl__expr a_text,
                              const struct strings *b, tsl__expr b_text, struct strings *out) {
  if (a->inner && b->inner && either(s, a->inner, b->inner, out)) return true;
  tsl__expr one = in_string(s, a, a_text), other = in_string(s, b, b_text);
  *out = (struct strings){.text = tsl__expr_alt(s->x, one, other), .max = TSL__INF};
  return one != TSL__NONE && other != TSL__NONE && !tsl__schema_bare_strings(s);
}

uint32_t tsl__schema_inner_one(struct schema *s, struct strings *all, sid *branch, uint32_t n) {
  sid *children = tsl__schema_alloc(s, (n + 1) * sizeof *children);
  uint32_t count = 0, kept = 0, first = n;
  for (uint32_t i = 0; children && i < n && tsl__schema_work(s, 1); i++)
    if (all[i].inner && alone(s, all[i].inner) != SID_FALSE)
      children[count++] = alone(s, all[i].inner);
  if (count < 2) return n;
  for (uint32_t i = 0; i < n && tsl__schema_work(s, 1); i++) {
    bool joined = all[i].inner && alone(s, all[i].inner) != SID_FALSE;
    if (joined && first != n) continue;
    if (joined) first = kept;
    branch[kept] = branch[i];
    all[kept++] = all[i];
  }
  lit l = POS(tsl__schema_choice_of(s, KW_ONE_OF, children, count));
  all[first] = of_goal(s, tsl__schema_goal(s, &l, 1, 0));
  return kept;
}

bool tsl__schema_inner_has(struct schema *s, const struct strings *a, tsl__string text) {
  tsl__json *value;
  tsl_error error;
  /* while values are measured, or listed strings in strings are, it is not known which there are */
  if (s->measuring || s->listing || (!a->inner && a->text != s->content_json)) {
    tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, s->at,
                     "strings that are listed, beside a text that a grammar describes");
    return false;
  }
  const tsl_status status =
      tsl__json_parse(&s->arena, NULL, text.at, text.length, s->max_depth, &value, &error);
  if (status == TSL_ERR_NO_MEMORY) tsl__schema_fail(s, status, NULL, "out of memory");
  if (status != TSL_OK || !a->inner) return status == TSL_OK;
  lit is = POS(tsl__schema_equal_to(s, value));
  s->listing = true;
  bool has = tsl__schema_possible(s, tsl__schema_goal_and(s, a->inner, &is, 1));
  s->listing = false;
  return has;
}

/* ---- what can be followed -------------------------------------------------------------------- */

static void visit(struct schema *s, goal g, goals *seen) {
  if (g <= GOAL_NONE || tsl__goal_of(s, g)->within || !tsl__schema_ok(s)) return;
  tsl__goal_of(s, g)->within = true;
  if (!tsl__vec_push(s->alloc, seen, g))
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

/* A value, where a clause or a counter asks for more, or for the contrary. */
static void visit_narrowed(struct schema *s, goal g, lit l, goals *seen) {
  if (g != GOAL_NONE && tsl__schema_ok(s)) visit(s, tsl__schema_goal_and(s, g, &l, 1), seen);
}

static void refuse(struct schema *s, const struct goal_entry *e, const char *what) {
  tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, tsl__goal_place(s, e),
                   "%s in a contentSchema cannot be followed", what);
}

static void check_array(struct schema *s, const struct goal_entry *e, struct array *a,
                        goals *seen) {
  if (tsl__array_shortest(a) == TSL__INF) return;
  if (a->guarded || a->repeats) refuse(s, e, "uniqueItems");
  for (uint32_t i = 0; i <= a->prefix_count && tsl__schema_ok(s); i++) {
    goal item = i < a->prefix_count ? a->prefix[i] : a->rest;
    visit(s, item, seen);
    for (uint32_t k = 0; k < a->counter_count; k++) {
      visit_narrowed(s, item, a->counters[k].l, seen);
      visit_narrowed(s, item, a->counters[k].l ^ 1, seen);
    }
  }
}

/* Could a name that comes twice count as two? */
static bool counts_names(const struct object *o) {
  uint32_t least = o->min, required = 0;
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t k = 0; k < o->clauses[i].n; k++)
      if (o->clauses[i].targets[k].kind == ATOM_MIN && o->clauses[i].targets[k].count > least)
        least = o->clauses[i].targets[k].count;
  for (uint32_t k = 0; k < o->n; k++) required += o->known[k].required;
  return o->cell_count && least > 1 && least > required;
}

/* Must some member have a value, which a later member of its name could replace? */
static bool demands_of_some(const struct object *o, const struct target *t) {
  bool some = false;
  for (uint32_t c = 0; t->kind == ATOM_PATTERN && c < o->cell_count; c++)
    some |= tsl__bit(t->cells, c);
  return some && t->l != POS(SID_TRUE);
}

static void check_target(struct schema *s, const struct goal_entry *e, const struct object *o,
                         const struct target *t, goals *seen) {
  if (demands_of_some(o, t)) refuse(s, e, "a demand on some member of any name");
  for (uint32_t k = 0; k < o->n && tsl__schema_ok(s); k++)
    if (t->kind == ATOM_KEY ? t->key == k : t->kind == ATOM_PATTERN && tsl__bit(t->keys, k))
      visit_narrowed(s, o->known[k].value, t->l, seen);
}

static void check_object(struct schema *s, const struct goal_entry *e, const struct object *o,
                         goals *seen) {
  if (counts_names(o)) refuse(s, e, "minProperties of names that are not listed");
  for (uint32_t k = 0; k < o->n; k++) visit(s, o->known[k].value, seen);
  for (uint32_t c = 0; c < o->cell_count; c++) {
    if (o->cells[c].cases != TSL__NONE) refuse(s, e, "patternProperties that overlap");
    visit(s, o->cells[c].value, seen);
  }
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t k = 0; k < o->clauses[i].n && tsl__schema_ok(s); k++)
      check_target(s, e, o, &o->clauses[i].targets[k], seen);
}

static void check_goal(struct schema *s, goal g, goals *seen) {
  if (!tsl__schema_possible(s, g) || !tsl__schema_open(s, g)) return;
  const struct goal_entry *e = tsl__goal_of(s, g);
  for (uint32_t i = 0; i < e->array_count && tsl__schema_ok(s); i++)
    check_array(s, e, e->arrays[i], seen);
  for (uint32_t i = 0; i < e->object_count && tsl__schema_ok(s); i++)
    check_object(s, e, e->objects[i], seen);
}

/* The strings of a subschema, and what is in the texts that they hold. */
static void check_strings(struct schema *s, sid id, goals *seen) {
  const struct node *n = tsl__node_of(s, id);
  lit l = POS(id);
  bool any;
  goal inner = GOAL_ANY;
  s->at = n->at;
  tsl__schema_written_text(s, &l, 1, &any, &inner);
  visit(s, inner, seen);
  for (size_t i = 0; i < seen->n && tsl__schema_ok(s); i++) {
    check_goal(s, seen->at[i], seen);
    if (seen->n > GOALS_MAX)
      tsl__schema_fail(s, TSL_ERR_LIMIT, n->at, "contentSchema with more than %u different values",
                       GOALS_MAX);
  }
  seen->n = 0;
}

bool tsl__schema_check_inner(struct schema *s) {
  goals seen = {0};
  const tsl__json *before = s->at;
  if (!(s->keywords & (OF(CONTENT_MEDIA_TYPE) | OF(CONTENT_SCHEMA)))) return true;
  for (size_t i = 2, n = s->nodes.n; i < n && tsl__schema_ok(s); i++)
    if (s->nodes.at[i]->possible & T_STRING) check_strings(s, (sid)i, &seen);
  if (tsl__schema_ok(s)) s->at = before;
  tsl__vec_free(s->alloc, &seen);
  return tsl__schema_ok(s);
}
