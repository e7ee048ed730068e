/* unique.c - uniqueItems for any items: what the compiler has to know of it.
 *
 * While a text is followed, the runtime compares (runtime/position/distinct.h); items that must be
 * unique are marked for it. What is decided here is that there are enough values, so that the
 * runtime need only look at the item that is under way. Every kind of item must have as many values
 * as items are needed. A kind is that of a position, or of the rest, with what contains asks for or
 * without. Then whatever stands before, some value is left for the next item. Kinds with fewer are
 * made to have none. Their values, out of const, enum and type, are listed. The states of the array
 * know which of them were used (array.c). The others are left for the runtime. Whether the array
 * can be completed at all is then found by trying. Items out of a short list of scalars alone don't
 * come here. Where a kind has few values that are not listed, or their number is not known, the
 * schema is refused.
 *
 * And the other way round: the spellings of values that were used, made of their texts as the
 * schema { "const": value } would be.
 *
 * Tested by tests/position/test_distinct.c, tests/programs/test_schema_fuzz.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/array.h"
#include "compiler/schema/object.h"

#include <stdlib.h>

#define COUNT_DEPTH 8u    /* values inside values that are looked at to count them */
#define COUNT_LOOKS 1000u /* values that are */

/* ---- counting values ------------------------------------------------------------------------- */

struct counting {
  struct schema *s;
  uint32_t limit, depth, looks; /* goals that may still be looked at */
};

struct numbers {
  struct counting *c;
  uint32_t most, found;
};

static void count_numbers(void *ctx, const struct part *parts, const tsl__number_spec *number) {
  struct numbers *all = ctx;
  struct schema *s = all->c->s;
  tsl__number_spec canonical;
  uint32_t n = all->c->limit;
  (void)parts;
  if (number && tsl__number_intersect(s->x, &s->arena, number, number, &canonical) != TSL_OK)
    n = 1;
  else if (number)
    n = tsl__number_count(s->x, &canonical, all->c->limit);
  all->found++;
  all->most = tsl__larger(all->most, n);
}

static uint32_t count_goal(struct counting *c, goal g, bool *exact);

/* Members without which the object may be. */
struct optional {
  uint32_t count, sets, sum, most; /* sets: ways to have some or none; sum: to have one or none */
};

static void add_optional(struct optional *all, uint32_t values) {
  if (!values) return;
  all->count++;
  all->sets = tsl__multiply(all->sets, tsl__add(values, 1));
  all->sum = tsl__add(all->sum, values);
  all->most = tsl__larger(all->most, values);
}

/* Objects differ by the values of their members, and by which members they have. */
static uint32_t count_object(struct counting *c, const struct object *o) {
  struct optional others = {.sets = 1, .sum = 1, .most = 1};
  uint32_t required = 0, all = 1;
  bool exact;
  if (o->clause_count) return 1;
  for (uint32_t k = 0; k < o->n; k++) required += o->known[k].required;
  for (uint32_t k = 0; k < o->n && tsl__multiply(all, others.most) < c->limit; k++) {
    uint32_t values = o->known[k].value == GOAL_NONE ? 0 : count_goal(c, o->known[k].value, &exact);
    if (o->known[k].required)
      all = tsl__multiply(all, values);
    else
      add_optional(&others, values);
  }
  for (uint32_t i = 0; i < o->cell_count; i++) {
    uint32_t keys;
    if (tsl__schema_shortest(c->s, o->cells[i].value) == TSL__INF) continue;
    if (o->cells[i].all || !tsl__expr_count(c->s->x, o->cells[i].key, c->limit, &keys))
      keys = c->limit;
    add_optional(&others, keys);
  }
  if (required >= o->max) return all;
  if (o->min > required) return tsl__multiply(all, others.most);
  return tsl__multiply(all, o->max - required < others.count ? others.sum : others.sets);
}

/* Arrays differ by their lengths and by their items. */
static uint32_t count_array(struct counting *c, const struct array *a) {
  bool exact, unique = a->unique || a->guarded;
  if (a->any) return c->limit;
  if (a->counter_count || a->repeats || (unique && a->prefix_count)) return 1;
  uint32_t total = 0, ways = 1, rest = TSL__INF; /* not counted yet */
  for (uint32_t n = 0; total < c->limit; n++) {
    if (n >= a->min) total = tsl__add(total, ways);
    if (n == a->max) break;
    uint32_t values = n < a->prefix_count ? count_goal(c, a->prefix[n], &exact)
                      : rest == TSL__INF  ? (rest = count_goal(c, a->rest, &exact))
                                          : rest;
    if (unique) values = values > n ? values - n : 0;
    if (!values) break;
    ways = tsl__multiply(ways, values);
    if (n < a->min && ways >= c->limit) return c->limit;
    if (n >= a->prefix_count && n < a->min && rest == 1)
      n = a->min - 1; /* all alike, up to there */
  }
  return total;
}

static uint32_t count_goal(struct counting *c, goal g, bool *exact) {
  struct schema *s = c->s;
  *exact = false;
  if (tsl__schema_shortest(s, g) == TSL__INF) return *exact = true, 0;
  if (c->depth == COUNT_DEPTH || !c->looks || !tsl__schema_work(s, 1) || !tsl__schema_open(s, g))
    return 1;
  const struct goal_entry *e = tsl__goal_of(s, g);
  if (g == GOAL_ANY || e->any_string) return c->limit;
  uint32_t total = (uint32_t)__builtin_popcount(e->scalars);
  c->looks--;
  *exact = true;
  if (e->string != TSL__NONE) {
    bool any;
    uint32_t n = c->limit;
    tsl__expr text = tsl__schema_written_text(s, e->lits, e->n, &any, NULL);
    bool counted = !any && !tsl__expr_has_calls(s->x, text);
    if (!counted || !tsl__expr_count(s->x, text, c->limit, &n)) n = c->limit;
    total = tsl__add(total, n);
  }
  if (e->number != TSL__NONE) {
    struct numbers all = {.c = c};
    tsl__schema_expand(s, g, T_NUMBER, count_numbers, &all);
    total = tsl__add(total, all.most);
    *exact = *exact && all.found == 1;
  }
  if (total >= c->limit) return c->limit;
  uint32_t most = 0;
  c->depth++;
  for (uint32_t i = 0; i < e->object_count; i++)
    if (tsl__object_shortest(e->objects[i]) != TSL__INF)
      most = tsl__larger(most, tsl__larger(count_object(c, e->objects[i]), 1)), *exact = false;
  for (uint32_t i = 0; i < e->array_count; i++)
    if (tsl__array_shortest(e->arrays[i]) != TSL__INF)
      most = tsl__larger(most, tsl__larger(count_array(c, e->arrays[i]), 1)), *exact = false;
  c->depth--;
  total = tsl__add(total, most);
  return total < c->limit ? total : c->limit;
}

/* At least so many different values satisfy the goal, up to the limit; *exact if it is exactly so
 * many. */
static uint32_t count_values(struct schema *s, goal g, uint32_t limit, bool *exact) {
  struct counting c = {.s = s, .limit = limit, .looks = COUNT_LOOKS};
  return count_goal(&c, g, exact);
}

/* ---- are there enough? ----------------------------------------------------------------------- */

/* kinds of items that contains asks for, of which all combinations are looked at */
#define SIGNS_MAX 6u
#define LISTS_DEPTH 8u      /* schemas inside one another in which constants are looked for */
#define CONTAINERS_MAX 256u /* that are tried, to list those of a kind */
#define CONTAINERS_DEPTH 3u /* inside one another */
#define PLACES_MAX 16u      /* items of an array that is listed */

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
  uint32_t count;
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
struct place {
  struct listing values;
  tsl__string key; /* at NULL: of an array */
  bool optional;
};

/* List all containers that have one of the values at each of n places, or none where that is
 * optional. */
static void list_containers(struct listing *l, goal kind, const struct place *places, uint32_t n,
                            unsigned json_kind) {
  struct schema *s = l->a->schema;
  uint32_t total = 1;
  for (uint32_t i = 0; i < n && total <= CONTAINERS_MAX; i++)
    total *= places[i].values.count + places[i].optional;
  l->full |= total > CONTAINERS_MAX;
  for (uint32_t number = 0; number < total && !l->full; number++) {
    tsl__json *value = tsl__schema_alloc(s, sizeof *value);
    tsl__json *items = tsl__schema_alloc(s, (n + 1) * sizeof *items);
    if (!value || !items || !tsl__schema_work(s, 8)) return;
    *value = (tsl__json){.kind = json_kind & 7u, .items = items};
    for (uint32_t i = 0, rest = number; i < n; i++) {
      const struct listing *of = &places[i].values;
      uint32_t ways = of->count + places[i].optional, which = rest % ways;
      rest /= ways;
      if (which == of->count) continue;
      tsl__json *item = &items[value->length++];
      *item = *of->values[which];
      item->key = places[i].key.at;
      item->key_length = places[i].key.length;
    }
    list_value(l, kind, value);
  }
}

/* The values of a goal inside a container that is listed. */
static void list_inside(struct listing *l, struct place *p, goal g, unsigned depth) {
  p->values.a = l->a;
  list_goal(&p->values, g, depth + 1);
  l->full |= p->values.full;
}

static void list_objects(struct listing *l, goal kind, const struct object *o, unsigned depth) {
  struct schema *s = l->a->schema;
  struct place *places = tsl__schema_alloc(s, (o->n + 1) * sizeof *places);
  uint32_t n = 0;
  if (!places) return;
  for (uint32_t i = 0; i < o->cell_count; i++) /* keys are not listed */
    if (tsl__schema_shortest(s, o->cells[i].value) != TSL__INF) return;
  for (uint32_t k = 0; k < o->n && !l->full; k++) {
    if (o->known[k].value == GOAL_NONE) continue;
    places[n].key = tsl__stringset_at(s->x, o->set, k);
    places[n].optional = !o->known[k].required;
    list_inside(l, &places[n++], o->known[k].value, depth);
  }
  list_containers(l, kind, places, n, TSL__JSON_OBJECT);
}

static void list_arrays(struct listing *l, goal kind, const struct array *a, unsigned depth) {
  struct schema *s = l->a->schema;
  struct place *places = tsl__schema_alloc(s, PLACES_MAX * sizeof *places), *rest = NULL;
  if (!places || a->any) return;
  for (uint32_t n = 0; n <= a->max && !l->full; n++) {
    if (n >= a->min) list_containers(l, kind, places, n, TSL__JSON_ARRAY);
    if (n == a->max) return;
    if (n == PLACES_MAX) break;
    if (rest)
      places[n] = *rest;
    else
      list_inside(l, &places[n], n < a->prefix_count ? a->prefix[n] : a->rest, depth);
    if (n >= a->prefix_count) rest = &places[n];
    if (!places[n].values.count) return; /* nor are there longer ones */
  }
  l->full = true;
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
  if (depth == CONTAINERS_DEPTH || !tsl__schema_open(s, kind)) return;
  for (uint32_t i = 0; i < tsl__goal_of(s, kind)->object_count && !l->full; i++)
    list_objects(l, kind, tsl__goal_of(s, kind)->objects[i], depth);
  for (uint32_t i = 0; i < tsl__goal_of(s, kind)->array_count && !l->full; i++)
    list_arrays(l, kind, tsl__goal_of(s, kind)->arrays[i], depth);
}

/* But for the listed values, the kind has none, or enough. */
static bool has_enough(void *ctx, goal kind) {
  struct listing *l = ctx;
  struct schema *s = l->a->schema;
  lit others[TSL__SCHEMA_USED];
  bool exact;
  if (kind == GOAL_NONE || count_values(s, kind, l->need + l->count, &exact) >= l->need + l->count)
    return true;
  for (uint32_t i = 0; i < l->count; i++) others[i] = l->lits[i] ^ 1;
  goal rest = tsl__schema_goal_and(s, kind, others, l->count);
  return rest == GOAL_NONE || count_values(s, rest, l->need, &exact) >= l->need ||
         !tsl__schema_possible(s, rest);
}

/* List the values of a kind that has few. */
static bool list_kind(void *ctx, goal kind) {
  struct listing *l = ctx;
  if (has_enough(l, kind)) return true;
  list_goal(l, kind, 0);
  return !l->full && tsl__schema_ok(l->a->schema);
}

/* Items before i that can be equal to item i. */
static uint32_t rivals(struct array *a, uint32_t i) {
  const struct goal_entry *e = tsl__goal_of(a->schema, a->prefix[i]);
  uint32_t n = 0;
  for (uint32_t j = 0; j < i; j++)
    n += tsl__schema_possible(a->schema,
                              tsl__schema_goal_and(a->schema, a->prefix[j], e->lits, e->n));
  return n;
}

static bool enough_first(struct array *a) {
  bool exact;
  for (uint32_t i = 1; i < a->prefix_count && i < a->min; i++) {
    if (count_values(a->schema, a->prefix[i], i + 1, &exact) > i) continue;
    uint32_t need = rivals(a, i) + 1;
    if (count_values(a->schema, a->prefix[i], need, &exact) < need) return false;
  }
  return true;
}

/* Are there enough values of what contains asks for, and of what it forbids? Of several only trying
 * would decide. */
static bool enough_counted(struct array *a) {
  bool exact;
  const struct counter *k = a->counters;
  uint64_t need = (uint64_t)a->min + a->prefix_count + k->from + k->min + 1;
  lit l[2] = {k->l, k->l ^ 1};
  for (int sign = 0; sign < 2; sign++) {
    if (sign ? k->max == TSL__INF : !k->min) continue;
    /* it may be the first */
    if (sign == 0 && k->min == 1 && !a->prefix_count && k->max == TSL__INF && a->min <= 1) continue;
    if (count_values(a->schema, tsl__schema_goal_and(a->schema, a->rest, &l[sign], 1),
                     (uint32_t)need, &exact) < need)
      return false;
  }
  return true;
}

/* *none: nothing satisfies the array. */
static bool enough(struct array *a, bool *none) {
  bool exact;
  *none = false;
  if (a->counter_count > 1 || !enough_first(a)) return false;
  if (a->min > a->prefix_count && a->max > a->prefix_count) {
    uint32_t n = count_values(a->schema, a->rest, a->min, &exact);
    *none = n < a->min && exact && !a->prefix_count;
    if (n < a->min) return false;
  }
  return !a->counter_count || enough_counted(a);
}

/* List the values of kinds that have fewer than `need`, so that of each kind but for those there
 * are none, or enough. False: it cannot be done, or on failure. */
static bool list_values(struct array *a, uint32_t need) {
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

/* Are there so few values that the shortest completion repeats some, if it is not known which were
 * used? Then a short way to the end is long searched for. */
static bool scarce(struct array *a) {
  bool exact;
  return a->min > 1 && a->max > a->prefix_count && !a->counter_count &&
         count_values(a->schema, a->rest, 2 * a->min, &exact) < 2 * a->min;
}

bool tsl__array_guard(struct array *a, const tsl__json *at) {
  struct schema *s = a->schema;
  uint64_t need = a->min; /* items that may be needed */
  bool none;
  a->guarded = true;
  for (uint32_t i = 0; i < a->counter_count; i++)
    need += (uint64_t)a->counters[i].from + a->counters[i].min;
  if (a->min > TSL__SCHEMA_CHAIN) {
    tsl__schema_fail(s, TSL_ERR_LIMIT, at,
                     "uniqueItems together with more than %u items that are needed",
                     TSL__SCHEMA_CHAIN);
    return false;
  }
  if (need > TSL__SCHEMA_CHAIN) return true; /* refused for its length later */
  if (enough(a, &none)) {
    if (scarce(a)) list_values(a, 2 * a->min);
  } else if (!none && !list_values(a, (uint32_t)need)) {
    tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, at,
                     "uniqueItems where items may have fewer than %u values that are not listed",
                     (unsigned)need);
  }
  return !none && tsl__schema_ok(s);
}

/* ---- listed values, and the shortest end ----------------------------------------------------- */

/* What a listed value costs, and by which counters it is counted. */
struct listed_kind {
  uint32_t index, bytes;
  uint64_t counted;
};

struct listed_kinds {
  goal others[2];            /* items that are not listed: not counted, and counted */
  struct listed_kind each[]; /* the cheapest first */
};

static int by_bytes(const void *a, const void *b) {
  const struct listed_kind *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes > y->bytes) - (x->bytes < y->bytes)
                              : (x->index > y->index) - (x->index < y->index);
}

/* With one counter that has no maximum, whether other items are counted need not be known. */
static void find_others(struct array *a, struct listed_kinds *kinds) {
  struct schema *s = a->schema;
  const struct counter *k = a->counter_count == 1 ? a->counters : NULL;
  lit *lits = tsl__schema_alloc(s, (a->listed_count + 1) * sizeof *lits);
  if (!lits) return;
  for (uint32_t i = 0; i < a->listed_count; i++) lits[i] = a->listed[i] ^ 1;
  goal all = tsl__schema_goal_and(s, a->rest, lits, a->listed_count);
  lit counted = k ? k->l : POS(SID_FALSE), not_counted = counted ^ 1;
  kinds->others[0] = k && k->max != TSL__INF ? tsl__schema_goal_and(s, all, &not_counted, 1) : all;
  kinds->others[1] = tsl__schema_goal_and(s, all, &counted, 1);
}

static const struct listed_kinds *kinds_of(struct array *a) {
  struct schema *s = a->schema;
  if (a->listed_kinds) return a->listed_kinds;
  struct listed_kinds *kinds =
      tsl__schema_alloc(s, sizeof *kinds + a->listed_count * sizeof *kinds->each);
  for (uint32_t i = 0; kinds && i < a->listed_count && tsl__schema_ok(s); i++) {
    struct listed_kind *one = &kinds->each[i];
    goal value = tsl__schema_goal_and(s, a->rest, &a->listed[i], 1);
    *one = (struct listed_kind){i, tsl__schema_shortest(s, value), 0};
    for (uint32_t k = 0; k < a->counter_count && tsl__schema_work(s, 1); k++) {
      goal counted = tsl__schema_goal_and(s, value, &a->counters[k].l, 1);
      if (tsl__schema_shortest(s, counted) != TSL__INF) one->counted |= (uint64_t)1 << k;
    }
  }
  if (!kinds) return NULL;
  qsort(kinds->each, a->listed_count, sizeof *kinds->each, by_bytes);
  if (a->counter_count <= 1) find_others(a, kinds);
  return tsl__schema_ok(s) ? a->listed_kinds = kinds : NULL;
}

bool tsl__array_has_cheaper(struct array *a, const uint64_t *used, uint32_t i) {
  const struct listed_kinds *kinds = kinds_of(a);
  uint32_t at = 0;
  if (!kinds) return false;
  while (kinds->each[at].index != i) at++;
  for (uint32_t j = 0; j < at && tsl__schema_work(a->schema, 1); j++)
    if (kinds->each[j].counted == kinds->each[at].counted && !tsl__bit(used, kinds->each[j].index))
      return true;
  return false;
}

/* sums[i]: bytes of the i cheapest items that are counted, or are not. A listed value comes once,
 * others as often as they are needed. */
static void sum_items(struct array *a, const struct listed_kinds *kinds, const uint64_t *used,
                      bool counted, uint32_t n, uint32_t *sums) {
  uint32_t other = tsl__schema_shortest(a->schema, kinds->others[counted]), i = 0;
  sums[0] = 0;
  for (uint32_t k = 0; k < a->listed_count && i < n && tsl__schema_work(a->schema, 1); k++) {
    const struct listed_kind *kind = &kinds->each[k];
    if (kind->bytes > other) break;
    if (kind->counted != counted || tsl__bit(used, kind->index)) continue;
    sums[i + 1] = tsl__add(sums[i], kind->bytes);
    i++;
  }
  for (; i < n && tsl__schema_work(a->schema, 1); i++) sums[i + 1] = tsl__add(sums[i], other);
}

uint32_t tsl__array_listed_bytes(struct array *a, uint32_t index, uint64_t count,
                                 const uint64_t *used, uint32_t *items) {
  const struct listed_kinds *kinds = kinds_of(a);
  const struct counter *k = a->counter_count ? a->counters : NULL;
  uint32_t counted[TSL__SCHEMA_CHAIN + 1], others[TSL__SCHEMA_CHAIN + 1],
      best = TSL__INF, least = k && k->min > count ? k->min - (uint32_t)count : 0,
      need = a->min > index ? a->min - index : 0,
      most = !k                   ? 0
             : k->max == TSL__INF ? TSL__INF
                                  : k->max - (uint32_t)count;
  *items = need = tsl__larger(need, least);
  if (!kinds || need > TSL__SCHEMA_CHAIN || (a->max != TSL__INF && need > a->max - index))
    return TSL__INF;
  sum_items(a, kinds, used, true, need, counted);
  sum_items(a, kinds, used, false, need, others);
  for (uint32_t x = least; x <= need && x <= most && tsl__schema_work(a->schema, 1); x++) {
    uint32_t bytes = tsl__add(counted[x], others[need - x]);
    if (bytes < best) best = bytes;
  }
  return best;
}

/* ---- spellings ------------------------------------------------------------------------------- */

tsl__expr tsl__schema_spell_strings(struct schema *s, const tsl__string *texts, uint32_t n) {
  tsl__expr set = tsl__expr_stringset(s->x, tsl__stringset_new(s->x, texts, n, NULL));
  return tsl__expr_seq(s->x, tsl__expr_literal(s->x, "\"", 1), tsl__expr_json_string(s->x, set));
}

tsl__expr tsl__schema_spell_scalar(struct schema *s, const tsl__json *v) {
  if (v->kind == TSL__JSON_NULL) return tsl__expr_literal(s->x, "null", 4);
  if (v->kind == TSL__JSON_FALSE) return tsl__expr_literal(s->x, "false", 5);
  if (v->kind == TSL__JSON_TRUE) return tsl__expr_literal(s->x, "true", 4);
  tsl__number_spec spec = {.has_min = true, .has_max = true};
  if (!tsl__schema_decimal(s, v, &spec.min)) return TSL__NONE;
  spec.max = spec.min;
  spec.own = v->text, spec.own_length = v->length;
  return tsl__schema_number(s, &spec);
}

static tsl__expr spell_container(struct schema *s, tsl__json *v) {
  lit l = POS(tsl__schema_const(s, v));
  goal g = tsl__schema_goal(s, &l, 1, 0);
  return tsl__schema_shortest(s, g) == TSL__INF ? TSL__NONE : tsl__schema_value(s, g);
}

static tsl__expr spell(void *ctx, const tsl__string *texts, uint32_t n) {
  struct schema *s = ctx;
  tsl__string *strings = tsl__schema_alloc(s, n * sizeof *strings);
  tsl__expr *all = tsl__schema_alloc(s, (n + 1) * sizeof *all);
  uint32_t string_count = 0, count = 0;
  if (!strings || !all) return TSL__NONE;
  for (uint32_t i = 0; i < n && tsl__schema_ok(s); i++) {
    tsl__json *v;
    tsl_error error;
    tsl_status status =
        tsl__json_parse(&s->arena, NULL, texts[i].at, texts[i].length, s->max_depth, &v, &error);
    if (status != TSL_OK)
      return tsl__exprs_fail(s->x, status, "a value that must be unique cannot be read"), TSL__NONE;
    if (v->kind == TSL__JSON_STRING) {
      strings[string_count++] = (tsl__string){v->text, v->length};
      continue;
    }
    tsl__expr e =
        v->kind >= TSL__JSON_ARRAY ? spell_container(s, v) : tsl__schema_spell_scalar(s, v);
    if (e == TSL__NONE)
      return tsl__exprs_fail(s->x, TSL_ERR_LIMIT,
                             "a value that must be unique has numbers with too many digits"),
             TSL__NONE;
    all[count++] = e;
  }
  if (string_count) all[count++] = tsl__schema_spell_strings(s, strings, string_count);
  return tsl__expr_alt_n(s->x, all, count);
}

/* Values are spelled by a schema of their own. It has any white space, at any depth, whatever the
 * options of this schema (and of others, in one grammar) are. */
static void *open_blank(tsl__exprs *x) { return tsl__schema_blank(x); }

void tsl__schema_guard(struct schema *s) {
  static const tsl__speller speller = {open_blank, spell};
  if (!tsl__exprs_guards(s->x)) tsl__exprs_guard(s->x, &speller);
}
