/* blame.c - why nothing satisfies a schema: the keywords that clash, or the name that has no place.
 *
 * Problem   "No value satisfies the schema" helps nobody whose schema has a thousand lines.
 * Idea      A copy of the subschema loses one keyword after the other, as long as it stays
 *           unsatisfiable. What is left is a smallest set that clashes. Sometimes that set only
 *           leads to another subschema that nothing satisfies by itself (a reference, a required
 *           member, items that must be there). Then the search goes on there. In two common cases
 *           the error names the member. One is a required name that a closed object does not have.
 *           The other is an allOf whose subschemas are closed, so that each forbids the members of
 *           the others.
 * Example   {"properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2, "title": "A"}},
 *           "required": ["a"], "type": "object"} gives "/properties/a/minimum clashes with
 *           /properties/a/maximum and /properties/a/type". Without any of the three there is a
 *           value. And {"properties": {"last_name": …}, "required": ["lastname"],
 *           "additionalProperties": false} -> "lastname" is required, …: is "last_name" meant?
 * Cost      does not matter: it is the way to an error.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/goal.h"
#include "compiler/schema/report/doubts.h"
#include "compiler/schema/report/words.h"

#define STEPS_MAX 64            /* subschemas looked into */
#define COMPARED_MAX (1u << 20) /* names */

static bool empty(struct schema *s, sid id) {
  lit l = POS(id);
  return tsl__schema_shortest(s, tsl__schema_goal(s, &l, 1, 0)) == TSL__INF;
}

/* A copy of a node with some of its keywords; UINT32_MAX when out of memory. */
static sid with_keywords(struct schema *s, sid id, uint64_t mask) {
  const struct node *n = tsl__node_of(s, id);
  struct node *copy = tsl__schema_alloc(s, sizeof *copy);
  struct keyword_value *values = tsl__schema_alloc(s, (KW_COUNT + 1) * sizeof *values);
  if (!copy || !values) return UINT32_MAX;
  *copy = *n;
  copy->mask = n->mask & mask;
  copy->values = values;
  copy->strings = copy->not_strings = NULL;
  copy->looked_at = copy->nests = copy->has_scalars = false;
  copy->alone = 0;
  for (unsigned k = 0; k < KW_COUNT; k++)
    if (tsl__has(copy, k)) *values++ = *tsl__keyword(n, k);
  if (!tsl__has(copy, KW_TYPE)) {
    copy->types = T_ALL;
    copy->integer = copy->digits = false;
  }
  tsl__node_limit_types(copy);
  if (!tsl__vec_push(s->alloc, &s->nodes, copy)) return UINT32_MAX;
  if (s->nodes_read + 1 == s->nodes.n) s->nodes_read++;
  return (sid)s->nodes.n - 1;
}

/* Less keyword k, if it is not needed. */
static uint64_t without(struct schema *s, sid id, uint64_t mask, unsigned k) {
  uint64_t less = mask & ~((uint64_t)1 << k);
  sid copy = less == mask ? UINT32_MAX : with_keywords(s, id, less);
  return copy != UINT32_MAX && tsl__schema_ok(s) && empty(s, copy) ? less : mask;
}

/* A smallest set of keywords of an unsatisfiable node that is unsatisfiable. */
static uint64_t clashing(struct schema *s, sid id) {
  uint64_t mask = tsl__node_of(s, id)->mask;
  mask = without(s, id, mask, KW_UNIQUE_ITEMS);
  if ((mask >> KW_UNIQUE_ITEMS) & 1u) return mask; /* with fewer keywords it might be refused */
  for (unsigned k = KW_COUNT; k-- > 0;) mask = without(s, id, mask, k);
  return mask;
}

/* A subschema of these keywords that nothing satisfies by itself, UINT32_MAX if there is none. */
static sid empty_child(struct schema *s, const struct node *n, uint64_t mask) {
  static const uint8_t in_place[] = {KW_REF,    KW_DYNAMIC_REF, KW_RECURSIVE_REF,
                                     KW_ALL_OF, KW_ITEMS,       KW_CONTAINS};
  for (size_t i = 0; i < sizeof in_place; i++) {
    const struct keyword_value *v =
        (mask >> in_place[i]) & 1u ? tsl__keyword(n, in_place[i]) : NULL;
    for (uint32_t j = 0; v && j < v->count; j++)
      if (empty(s, v->children[j])) return v->children[j];
  }
  const struct keyword_value *names =
      (mask >> KW_REQUIRED) & 1u ? tsl__keyword(n, KW_REQUIRED) : NULL;
  const struct keyword_value *members =
      (mask >> KW_PROPERTIES) & 1u ? tsl__keyword(n, KW_PROPERTIES) : NULL;
  for (uint32_t i = 0; names && members && i < names->value->length; i++) {
    const tsl__json *m =
        tsl__json_get(members->value, names->value->items[i].text, names->value->items[i].length);
    if (m && empty(s, members->children[m - members->value->items]))
      return members->children[m - members->value->items];
  }
  return UINT32_MAX;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The property whose name is most like this one; NULL: none is like it. */
static const tsl__json *nearest(struct schema *s, const struct node *n, const tsl__json *name) {
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
  if (!v || !tsl__schema_work(s, 8u * (uint64_t)v->count)) return NULL;
  return tsl__schema_nearest(v->value, name->text, name->length);
}

const tsl__json *tsl__schema_misplaced(const struct schema *s, const struct node *asks,
                                       const struct node *closed) {
  const struct keyword_value *names = tsl__keyword_or_null(asks, KW_REQUIRED),
                             *v = tsl__keyword_or_null(closed, KW_PROPERTIES);
  if (!names || names->value->kind != TSL__JSON_ARRAY || !tsl__schema_closed(s, closed))
    return NULL;
  for (uint32_t i = 0; i < names->value->length; i++) {
    const tsl__json *name = &names->value->items[i];
    if (!v || !tsl__json_get(v->value, name->text, name->length)) return name;
  }
  return NULL;
}

/* As much of a name as is shown. */
static int shown(const char *name, uint32_t length) {
  return tsl__shown(name, length, TSL__NAME_SHOWN);
}

void tsl__schema_say_misplaced(struct schema *s, const struct node *n, const tsl__json *name,
                               char *out, size_t size) {
  const tsl__json *near = nearest(s, n, name);
  int used = snprintf(out, size, "\"%.*s\" is required, but additional properties are not allowed",
                      shown(name->text, name->length), name->text);
  if (near && used > 0 && (size_t)used < size)
    snprintf(out + used, size - (size_t)used, ": is \"%.*s\" meant?",
             shown(near->key, near->key_length), near->key);
}

/* Is it a required name that the object has no place for? Then the error names it. */
static bool blame_name(struct schema *s, const struct node *n, uint64_t mask) {
  char text[TSL__NAME_SHOWN * 2 + 128];
  const tsl__json *name = mask & OF(REQUIRED) ? tsl__schema_misplaced(s, n, n) : NULL;
  if (!name) return false;
  tsl__schema_say_misplaced(s, n, name, text, sizeof text);
  tsl__schema_fail(s, TSL_ERR_EMPTY, name, "no value satisfies the schema: %s", text);
  return true;
}

/* A closed subschema of an allOf that has no place for a name that another one requires. */
static bool blame_closed(struct schema *s, const struct node *n, uint64_t mask) {
  const struct keyword_value *v = mask & OF(ALL_OF) ? tsl__keyword(n, KW_ALL_OF) : NULL;
  for (uint32_t i = 0; v && i < v->count && v->count <= STEPS_MAX; i++)
    for (uint32_t j = 0; j <= v->count; j++) {
      const struct node *asks = j < v->count ? tsl__schema_plain_node(s, v->children[j]) : n,
                        *closed = tsl__schema_plain_node(s, v->children[i]);
      const tsl__json *name = i == j ? NULL : tsl__schema_misplaced(s, asks, closed);
      if (!name) continue;
      tsl__schema_fail(s, TSL_ERR_EMPTY, v->value,
                       "no value satisfies the schema: \"%.*s\" is required, but subschema %u of "
                       "allOf allows no additional properties: unevaluatedProperties beside allOf "
                       "sees those of all subschemas",
                       shown(name->text, name->length), name->text, (unsigned)i);
      return true;
    }
  return false;
}

/* A name that a subschema requires, and that `additionalProperties` does not see. */
static bool blame_forbidden(struct schema *s, const struct node *n, uint64_t mask) {
  char text[TSL__DOUBT_MAX];
  struct tsl__forbidden f;
  uint64_t left = COMPARED_MAX;
  if (!tsl__schema_forbidden(s, n, true, &left, &f) || !(mask >> f.via & 1)) return false;
  tsl__schema_say_forbidden(s, &f, true, text);
  tsl__schema_fail(s, TSL_ERR_EMPTY, f.at, "no value satisfies the schema: %s", text);
  return true;
}

/* A pattern in slashes, which matches nothing. */
static bool blame_pattern(struct schema *s, const struct node *n, uint64_t mask) {
  char text[TSL__DOUBT_MAX];
  const tsl__json *pattern = mask & OF(PATTERN) ? tsl__keyword(n, KW_PATTERN)->value : NULL;
  if (!pattern || !tsl__schema_doubt_pattern(pattern, text)) return false;
  tsl__schema_fail(s, TSL_ERR_EMPTY, pattern, "no value satisfies the schema: %s", text);
  return true;
}

static void describe(struct schema *s, const struct node *n, uint64_t mask) {
  char text[480];
  size_t used = 0;
  const tsl__json *first = NULL;
  for (unsigned i = 0; i <= KW_COUNT; i++) { /* the type comes last: it is seldom to blame */
    unsigned k = i == KW_COUNT ? KW_TYPE : i;
    char pointer[256];
    if (!((mask >> k) & 1u) || (k == KW_TYPE) != (i == KW_COUNT)) continue;
    const tsl__json *at = tsl__keyword(n, k)->value;
    size_t length = tsl__json_pointer(s->root, at, pointer, sizeof pointer);
    if (!first) first = at;
    if (length == SIZE_MAX || length >= sizeof pointer || used + length + 8 >= sizeof text)
      continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", pointer);
  }
  if (!first || !used)
    tsl__schema_fail(s, TSL_ERR_EMPTY, n->at, "no value satisfies the schema");
  else if (mask & (mask - 1))
    tsl__schema_fail(s, TSL_ERR_EMPTY, first, "no value satisfies the schema: %s clash", text);
  else
    tsl__schema_fail(s, TSL_ERR_EMPTY, first, "no value satisfies the schema because of %s%s", text,
                     first->kind == TSL__JSON_ARRAY && !first->length
                         ? ": the list is empty, and allows nothing"
                         : "");
}

void tsl__schema_blame(struct schema *s, sid id) {
  uint64_t mask = 0;
  sid blamed = id; /* the mask is of its keywords */
  sid visited[STEPS_MAX];
  bool endless = false;
  for (int steps = 0; steps < STEPS_MAX && tsl__schema_ok(s); steps++) {
    const struct node *n = tsl__node_of(s, id);
    mask = clashing(s, id);
    blamed = id;
    sid child = n->mask ? empty_child(s, n, mask) : UINT32_MAX;
    visited[steps] = id;
    for (int i = 0; i <= steps && !endless; i++) endless = child == visited[i];
    if (endless) break;
    if (child == UINT32_MAX || !tsl__node_of(s, child)->at || !tsl__node_of(s, child)->mask) break;
    id = child;
  }
  if (!tsl__schema_ok(s)) return;
  const struct node *n = tsl__node_of(s, blamed);
  if (endless)
    tsl__schema_fail(s, TSL_ERR_EMPTY, n->at,
                     "no value satisfies the schema: each would hold another one, without end; let "
                     "the member be left out, or be null");
  else if (!blame_name(s, n, mask) && !blame_closed(s, n, mask) && !blame_forbidden(s, n, mask) &&
           !blame_pattern(s, n, mask))
    describe(s, n, mask);
}
