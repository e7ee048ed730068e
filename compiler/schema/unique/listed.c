/* listed.c - the values of items that have few.
 *
 * Problem   Items may have fewer values than are needed. Then the state of an array must know which
 *           of them were used. Else none might be left for an item that must come.
 * Idea      List them: constants and enums that the schema mentions about the value itself, the
 *           three words, and the containers of such values. A candidate is listed if the goal has
 *           it. Then the goal without the listed values must be empty, or have enough.
 * Example   {"a": boolean}, closed: {}, {"a":false} and {"a":true} are listed, and nothing is
 *           left.
 * Cost      At most 64 values are listed, of 256 containers with up to 16 children; each trial is
 *           a compile of one goal.
 * Tested by tests/schema/test_listed.c, tests/position/test_distinct.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/unique/unique.h"

/* kinds of items that contains asks for, of which all combinations are looked at */
#define SIGNS_MAX 10u
#define LISTS_DEPTH 8u      /* schemas inside one another in which constants are looked for */
#define CONTAINERS_MAX 256u /* that are tried, to list those of a kind */
#define CONTAINERS_DEPTH 3u /* inside one another */
#define CHILDREN_MAX 16u    /* of a container that is listed */
/* arrays that are listed: each one excluded multiplies the alternatives of the others */
#define ARRAYS_MAX 5u

/* Calls look(ctx, goal) for every kind of item, of a position or of the rest. A kind satisfies some
 * of what contains asks for and nothing else of that. False: look did. */
static bool each_kind(struct array *a, bool (*look)(void *ctx, goal kind), void *ctx) {
  lit lits[SIGNS_MAX];
  for (uint32_t i = 0; i <= a->prefix_count; i++) {
    goal base = i < a->prefix_count ? a->prefix[i] : a->rest;
    if (i >= a->max) return true;
    for (uint32_t signs = 0; signs >> a->counter_count == 0; signs++) {
      for (uint32_t k = 0; k < a->counter_count; k++)
        lits[k] = a->counters[k].l ^ (signs >> k & 1u);
      if (!look(ctx, tsl__schema_goal_and(a->schema, base, lits, a->counter_count)) ||
          !tsl__schema_ok(a->schema))
        return false;
    }
  }
  return true;
}

struct listing {
  struct array *a;
  uint32_t need; /* so many values are enough */
  lit lits[TSL__SCHEMA_USED];
  const tsl__json *values[TSL__SCHEMA_USED];
  uint32_t count, arrays;
  bool full;
};

/* The value is listed, if the kind has it. */
static void list_value(struct listing *l, goal kind, tsl__json *value) {
  struct schema *s = l->a->schema;
  for (uint32_t i = 0; i < l->count; i++)
    if (tsl__json_equal(l->values[i], value)) return;
  lit is = POS(tsl__schema_equal_to(s, value));
  if (l->full || !tsl__schema_possible(s, tsl__schema_goal_and(s, kind, &is, 1))) return;
  if (l->count == TSL__SCHEMA_USED) {
    l->full = true;
    return;
  }
  l->values[l->count] = value;
  l->lits[l->count++] = is;
}

/* The constants that a schema mentions about the value itself. */
static void list_constants(struct listing *l, goal kind, sid id, unsigned depth) {
  static const uint8_t in_place[] = {KW_REF,    KW_DYNAMIC_REF, KW_RECURSIVE_REF,
                                     KW_ALL_OF, KW_ANY_OF,      KW_ONE_OF,
                                     KW_THEN,   KW_ELSE,        KW_EXTENDS};
  const struct node *n = tsl__node_of(l->a->schema, id);
  if (depth == LISTS_DEPTH || !tsl__schema_work(l->a->schema, 8)) return;
  if (tsl__has(n, KW_CONST)) list_value(l, kind, tsl__keyword(n, KW_CONST)->value);
  if (tsl__has(n, KW_ENUM))
    for (uint32_t i = 0; i < tsl__keyword(n, KW_ENUM)->value->length && !l->full; i++)
      list_value(l, kind, &tsl__keyword(n, KW_ENUM)->value->items[i]);
  for (size_t k = 0; k < sizeof in_place; k++) {
    const struct keyword_value *v = tsl__keyword_or_null(n, in_place[k]);
    for (uint32_t i = 0; v && i < v->count; i++) list_constants(l, kind, v->children[i], depth + 1);
  }
}

static void list_goal(struct listing *l, goal kind, unsigned depth);

/* Where a value stands in a container: under a key, or in its turn. */
struct child {
  struct listing values;
  tsl__string key; /* at NULL: of an array */
  bool optional;
};

/* List all containers that have one of the values at each of n children, or none where that is
 * optional. */
static void list_containers(struct listing *l, goal kind, const struct child *children, uint32_t n,
                            unsigned json_kind) {
  struct schema *s = l->a->schema;
  uint32_t total = 1;
  for (uint32_t i = 0; i < n && total <= CONTAINERS_MAX; i++)
    total *= children[i].values.count + children[i].optional;
  l->full |= total > CONTAINERS_MAX;
  for (uint32_t number = 0; number < total && !l->full; number++) {
    tsl__json *value = tsl__schema_alloc(s, sizeof *value);
    tsl__json *items = tsl__schema_alloc(s, (n + 1) * sizeof *items);
    if (!value || !items || !tsl__schema_work(s, 8)) return;
    *value = (tsl__json){.kind = json_kind & 7u, .items = items};
    for (uint32_t i = 0, rest = number; i < n; i++) {
      const struct listing *of = &children[i].values;
      uint32_t ways = of->count + children[i].optional, which = rest % ways;
      rest /= ways;
      if (which == of->count) continue;
      tsl__json *item = &items[value->length++];
      *item = *of->values[which];
      item->key = children[i].key.at;
      item->key_length = children[i].key.length;
    }
    uint32_t before = l->count;
    list_value(l, kind, value);
    l->arrays += json_kind == TSL__JSON_ARRAY && l->count > before;
    l->full |= l->arrays > ARRAYS_MAX;
  }
}

/* The values of a goal inside a container that is listed. */
static void list_inside(struct listing *l, struct child *p, goal g, unsigned depth) {
  p->values.a = l->a;
  list_goal(&p->values, g, depth + 1);
  l->full |= p->values.full;
}

static bool has_cells(const struct object *o) {
  uint32_t i = 0;
  while (i < o->cell_count && tsl__schema_shortest(o->schema, o->cells[i].value) == TSL__INF) i++;
  return i < o->cell_count;
}

/* Objects whose keys a pattern allows are not listed. */
static void list_objects(struct listing *l, goal kind, const struct object *o,
                         struct child *children, unsigned depth) {
  uint32_t n = 0;
  if (o->n > CHILDREN_MAX || has_cells(o)) return;
  for (uint32_t k = 0; k < o->n && !l->full; k++) {
    if (o->known[k].value == GOAL_NONE) continue;
    children[n].key = tsl__stringset_at(o->schema->x, o->set, k);
    children[n].optional = !o->known[k].required;
    list_inside(l, &children[n++], o->known[k].value, depth);
  }
  list_containers(l, kind, children, n, TSL__JSON_OBJECT);
}

static void list_arrays(struct listing *l, goal kind, const struct array *a, struct child *children,
                        unsigned depth) {
  const struct child *rest = NULL;
  if (a->any) return;
  for (uint32_t n = 0; n <= a->max && !l->full; n++) {
    if (n >= a->min) list_containers(l, kind, children, n, TSL__JSON_ARRAY);
    if (n == a->max) return;
    if (n == CHILDREN_MAX) break;
    if (rest)
      children[n] = *rest;
    else
      list_inside(l, &children[n], n < a->prefix_count ? a->prefix[n] : a->rest, depth);
    if (n >= a->prefix_count) rest = &children[n];
    if (!children[n].values.count) return; /* nor are there longer ones */
  }
  l->full = true;
}

/* The objects and arrays of a kind. */
static void list_nested(struct listing *l, goal kind, unsigned depth) {
  struct schema *s = l->a->schema;
  const tsl_allocator heap = *tsl__exprs_allocator(s->x);
  const size_t size = CHILDREN_MAX * sizeof(struct child);
  uint32_t objects = tsl__goal_of(s, kind)->object_count;
  uint32_t all = objects + tsl__goal_of(s, kind)->array_count;
  for (uint32_t i = 0; i < all && !l->full && tsl__schema_ok(s); i++) {
    struct child *children = tsl__alloc_zero(&heap, size);
    if (!children)
      tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
    else if (i < objects)
      list_objects(l, kind, tsl__goal_of(s, kind)->objects[i], children, depth);
    else
      list_arrays(l, kind, tsl__goal_of(s, kind)->arrays[i - objects], children, depth);
    tsl__free(&heap, children, size);
  }
}

/* The constants of a kind, the words, and the containers of such. */
static void list_goal(struct listing *l, goal kind, unsigned depth) {
  static const tsl__json words[] = {
      {.kind = TSL__JSON_NULL}, {.kind = TSL__JSON_FALSE}, {.kind = TSL__JSON_TRUE}};
  struct schema *s = l->a->schema;
  for (uint32_t i = 0; i < tsl__goal_of(s, kind)->n; i++)
    if (!(tsl__goal_of(s, kind)->lits[i] & 1))
      list_constants(l, kind, tsl__goal_of(s, kind)->lits[i] >> 1, 0);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    tsl__json *word = tsl__arena_copy(&s->arena, &words[i], sizeof words[i]);
    if (!word) {
      tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
      return;
    }
    list_value(l, kind, word);
  }
  if (depth < CONTAINERS_DEPTH && tsl__schema_open(s, kind)) list_nested(l, kind, depth);
}

/* But for the listed values, the kind has none, or enough. */
static bool has_enough(void *ctx, goal kind) {
  struct listing *l = ctx;
  struct schema *s = l->a->schema;
  lit others[TSL__SCHEMA_USED];
  bool exact;
  if (kind == GOAL_NONE ||
      tsl__count_values(s, kind, l->need + l->count, &exact) >= l->need + l->count)
    return true;
  for (uint32_t i = 0; i < l->count; i++) others[i] = l->lits[i] ^ 1;
  goal rest = tsl__schema_goal_and(s, kind, others, l->count);
  return rest == GOAL_NONE || tsl__count_values(s, rest, l->need, &exact) >= l->need ||
         !tsl__schema_possible(s, rest);
}

/* List the values of a kind that has few. */
static bool list_kind(void *ctx, goal kind) {
  struct listing *l = ctx;
  if (has_enough(l, kind)) return true;
  list_goal(l, kind, 0);
  return !l->full && tsl__schema_ok(l->a->schema);
}

bool tsl__array_list_values(struct array *a, uint32_t need) {
  struct listing l = {.a = a, .need = need};
  uint32_t before;
  if (a->counter_count > SIGNS_MAX) return false;
  do { /* what is listed for one kind may leave few of another */
    before = l.count;
    if (!each_kind(a, list_kind, &l)) return false;
  } while (l.count > before);
  if (!each_kind(a, has_enough, &l)) return false;
  a->listed = tsl__arena_copy(&a->schema->arena, l.lits, sizeof l.lits);
  if (!a->listed)
    return tsl__schema_fail(a->schema, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
  a->listed_count = l.count;
  return true;
}
