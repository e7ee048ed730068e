/* apart.c - where a style of tool calls can follow uniqueItems.
 *
 * Problem   Items are compared by the JSON text since their array began
 *           (runtime/position/distinct.h). A nested style writes no JSON. And in a style that does
 *           not say which values are strings, a bare string may begin like an array. Then the text
 *           that is compared need not be JSON.
 * Idea      Both are refused when the schema is compiled. A nested style refuses uniqueItems
 *           anywhere below the top. Any other style refuses it inside of a value that may be a
 *           string as well, if such a string may begin with a bracket.
 * Example   {"properties": {"t": {"uniqueItems": true}}} in the style qwen_xml: t may be the string
 *           "[1, x" or an array. It is refused at t. With "type": "array" it is followed.
 * Cost      None where no subschema has uniqueItems. Else that of opening what the values reach.
 * Tested by tests/tags/test_tags_errors.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/array.h"
#include "compiler/schema/object.h"

typedef TSL__VEC(goal) goals;

static tsl__expr literal(struct schema *s, const char *text) {
  return tsl__expr_literal(s->x, text, strlen(text));
}

/* The first array of the goal whose items are compared, or NULL. */
static const struct array *compared(const struct goal_entry *e) {
  for (uint32_t i = 0; i < e->array_count; i++)
    if ((e->arrays[i]->guarded || e->arrays[i]->repeats) &&
        tsl__array_shortest(e->arrays[i]) != TSL__INF)
      return e->arrays[i];
  return NULL;
}

/* No array of the schema may be compared where items are no JSON. Every subschema with uniqueItems
 * has a goal of its own by now (schema.c, check_unique). */
static bool none_compared(struct schema *s) {
  for (size_t g = 2; g < s->goals.n && tsl__schema_ok(s); g++) {
    const struct goal_entry *e = tsl__goal_of(s, (goal)g);
    if (tsl__schema_work(s, 1) && e->opened && compared(e))
      tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, tsl__goal_place(s, e), "uniqueItems in the style %s",
                       s->style->name);
  }
  return tsl__schema_ok(s);
}

/* May a bare string of the goal begin like an array or an object? */
static bool begins_like_json(struct schema *s, goal g) {
  const struct tsl__schema_style *style = s->style;
  const struct goal_entry *e = tsl__goal_of(s, g);
  tsl__expr text = tsl__schema_text_without(s, e->lits, e->n,
                                            style->guard[0] ? style->guard_stop : style->close),
            bracket = tsl__expr_alt(s->x, literal(s, "["), literal(s, "{")),
            padding = tsl__expr_opt(s->x, literal(s, style->padding)),
            begun =
                tsl__expr_seq(s->x, padding, tsl__expr_seq(s->x, bracket, tsl__expr_text(s->x)));
  return text != TSL__NONE &&
         (tsl__expr_has_calls(s->x, text) || tsl__expr_and(s->x, text, begun) != TSL__NONE);
}

static void visit(struct schema *s, goal g, goals *seen) {
  if (g == GOAL_NONE || g == GOAL_ANY) return;
  for (size_t i = 0; i < seen->n && tsl__schema_work(s, 1); i++)
    if (seen->at[i] == g) return;
  if (!tsl__vec_push(s->alloc, seen, g))
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

/* What may be inside a value: in one with clauses this is not followed. */
static bool visit_inner(struct schema *s, const struct goal_entry *e, goals *seen) {
  for (uint32_t i = 0; i < e->array_count; i++) {
    const struct array *a = e->arrays[i];
    for (uint32_t k = 0; k < a->prefix_count; k++) visit(s, a->prefix[k], seen);
    if (a->max > a->prefix_count) visit(s, a->rest, seen);
  }
  for (uint32_t i = 0; i < e->object_count; i++) {
    const struct object *o = e->objects[i];
    if (o->clause_count) return false;
    for (uint32_t k = 0; k < o->n; k++) visit(s, o->known[k].value, seen);
    for (uint32_t c = 0; c < o->cell_count; c++) visit(s, o->cells[c].value, seen);
  }
  return true;
}

/* A value that may be a string: no array in it is compared. */
static void check_apart(struct schema *s, goal value) {
  goals seen = {0};
  bool known = true;
  if (value == GOAL_NONE || !tsl__schema_possible(s, value) || !tsl__schema_open(s, value)) return;
  const struct goal_entry *e = tsl__goal_of(s, value);
  if (e->string == TSL__NONE || !(e->array_count || e->object_count) || !begins_like_json(s, value))
    return;
  visit(s, value, &seen);
  for (size_t i = 0; i < seen.n && tsl__schema_ok(s); i++) {
    if (!tsl__schema_open(s, seen.at[i])) continue;
    e = tsl__goal_of(s, seen.at[i]);
    known = known && visit_inner(s, e, &seen);
    if (compared(e) || !known)
      tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, tsl__goal_place(s, e),
                       "uniqueItems in the style %s, where the value may be a string as well",
                       s->style->name);
  }
  tsl__vec_free(s->alloc, &seen);
}

static void check_narrowed(struct schema *s, goal value, lit l) {
  if (value != GOAL_NONE && !tsl__schema_excludes(s, value, l))
    check_apart(s, tsl__schema_goal_and(s, value, &l, 1));
}

/* Values of which a clause asks something more. */
static void check_clause(struct schema *s, const struct object *o, const struct clause *clause) {
  for (uint32_t i = 0; i < clause->n && tsl__schema_ok(s); i++) {
    const struct target *t = &clause->targets[i];
    for (uint32_t k = 0; k < o->n && tsl__schema_ok(s); k++)
      if (t->kind == ATOM_KEY ? t->key == k : t->kind == ATOM_PATTERN && tsl__bit(t->keys, k))
        check_narrowed(s, o->known[k].value, t->l);
    for (uint32_t c = 0; c < o->cell_count && t->kind == ATOM_PATTERN && tsl__schema_ok(s); c++)
      if (tsl__bit(t->cells, c)) check_narrowed(s, o->cells[c].value, t->l);
  }
}

static void check_object(struct schema *s, const struct object *o) {
  for (uint32_t k = 0; k < o->n && tsl__schema_ok(s); k++) check_apart(s, o->known[k].value);
  for (uint32_t i = 0; i < o->clause_count && tsl__schema_ok(s); i++)
    check_clause(s, o, &o->clauses[i]);
  for (uint32_t c = 0; c < o->cell_count && tsl__schema_ok(s); c++)
    check_apart(s, o->cells[c].value);
}

/* The members' values, where the style does not say which are strings. */
static bool all_apart(struct schema *s, goal root) {
  if (s->style->python || s->style->typed || s->style->json_open || !tsl__schema_open(s, root))
    return tsl__schema_ok(s);
  const struct goal_entry *e = tsl__goal_of(s, root);
  for (uint32_t i = 0; i < e->object_count && tsl__schema_ok(s); i++)
    check_object(s, e->objects[i]);
  return tsl__schema_ok(s);
}

bool tsl__style_unique(struct schema *s, goal root) {
  if (!(s->keywords & OF(UNIQUE_ITEMS))) return true;
  return s->style->nested ? none_compared(s) : all_apart(s, root);
}
