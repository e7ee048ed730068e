/* values.c - how many different values a goal has at least.
 *
 * Problem   Items that must differ need enough values. To list all values of a schema takes long,
 *           and most schemas have endless many.
 * Idea      Count by structure, up to a limit. Scalars are counted by their languages and ranges.
 *           An object has as many values as the products of its members' say, an array as many as
 *           its lengths and items. Of several objects or arrays that a value may be, the largest
 *           counts, since the same value may be in each. With clauses or `contains` one member or
 *           item varies, and the rest is whatever completes the value.
 * Example   {"a": boolean, required; "b": null, optional}: 2 × (1 + 1) objects.
 * Cost      At most 1,000 goals are looked at, each is counted as a step. What lies deeper than
 *           eight containers counts as one.
 * Tested by tests/position/test_distinct.c, tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/unique/unique.h"

#define COUNT_DEPTH 8u    /* values inside values that are looked at to count them */
#define COUNT_LOOKS 1000u /* values that are */

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

/* The keys that a cell has, whatever their values are. */
static uint32_t count_keys(struct counting *c, const struct cell *cell) {
  uint32_t keys;
  return cell->all || !tsl__expr_count(c->s->x, cell->key, c->limit, &keys) ? c->limit : keys;
}

/* Clauses may ask for some members, and exclude others. After a member that may come first the
 * object can be completed, whatever the member's value is. */
static uint32_t count_first(struct counting *c, struct object *o) {
  uint32_t most = 1;
  bool exact;
  for (uint32_t k = 0; k < o->n && most < c->limit; k++)
    if (o->known[k].value != GOAL_NONE && tsl__object_may_begin(o, k, 0))
      most = tsl__larger(most, count_goal(c, o->known[k].value, &exact));
  for (uint32_t i = 0; i < o->cell_count && most < c->limit; i++)
    if (tsl__schema_shortest(c->s, o->cells[i].value) != TSL__INF &&
        tsl__object_may_begin(o, UINT32_MAX, i))
      most = tsl__larger(most, count_keys(c, &o->cells[i]));
  return most;
}

/* Objects differ by the values of their members, and by which members they have. */
static uint32_t count_object(struct counting *c, struct object *o) {
  struct optional others = {.sets = 1, .sum = 1, .most = 1};
  uint32_t required = 0, all = 1;
  bool exact;
  if (o->clause_count) return count_first(c, o);
  for (uint32_t k = 0; k < o->n; k++) required += o->known[k].required;
  for (uint32_t k = 0; k < o->n && tsl__multiply(all, others.most) < c->limit; k++) {
    uint32_t values = o->known[k].value == GOAL_NONE ? 0 : count_goal(c, o->known[k].value, &exact);
    if (o->known[k].required)
      all = tsl__multiply(all, values);
    else
      add_optional(&others, values);
  }
  for (uint32_t i = 0; i < o->cell_count; i++)
    if (tsl__schema_shortest(c->s, o->cells[i].value) != TSL__INF)
      add_optional(&others, count_keys(c, &o->cells[i]));
  if (required >= o->max) return all;
  if (o->min > required) return tsl__multiply(all, others.most);
  return tsl__multiply(all, o->max - required < others.count ? others.sum : others.sets);
}

/* Of the fewest items that such an array needs one is counted, and may be any that is. Or there is
 * one more item, and it may be any that is not counted. */
static uint32_t count_counted(struct counting *c, const struct array *a, bool unique) {
  const struct counter *k = a->counters;
  uint32_t needed = tsl__larger(a->min, k->min), most = 1;
  if (a->counter_count > 1 || a->prefix_count || k->from) return 1;
  for (uint32_t sign = 0; sign < 2; sign++) {
    lit l = k->l ^ sign;
    goal item = tsl__schema_goal_and(c->s, a->rest, &l, 1);
    bool exact, fits = sign ? a->max > needed : k->min > 0;
    uint32_t values = fits && item != GOAL_NONE ? count_goal(c, item, &exact) : 0;
    if (unique) values = values > needed ? values - needed : 0;
    most = tsl__larger(most, values);
  }
  return most;
}

/* Arrays differ by their lengths and by their items. */
static uint32_t count_array(struct counting *c, const struct array *a) {
  bool exact, unique = a->unique || a->guarded;
  if (a->any) return c->limit;
  if (a->repeats || (unique && a->prefix_count)) return 1;
  if (a->counter_count) return count_counted(c, a, unique);
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

uint32_t tsl__count_values(struct schema *s, goal g, uint32_t limit, bool *exact) {
  struct counting c = {.s = s, .limit = limit, .looks = COUNT_LOOKS};
  return count_goal(&c, g, exact);
}
