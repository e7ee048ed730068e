/* schema_unique.c - uniqueItems for any items: what the compiler has to know of it.
 *
 * While a text is followed, the runtime compares (runtime/memory.h); items that must be unique are marked for it. What is decided here is that there are
 * enough values, so that the runtime need only look at the item that is under way:
 *   - item i of those that are needed must have more values than there are items before it that can be equal to it;
 *   - of the rest there must be as many values as items are needed;
 *   - with contains, every kind of item that is asked for must have as many values as items are needed.
 * Then whatever came before, some value is left for the next item. Items out of a short list of scalars don't come here: their states know what is
 * left (schema_array.c). Where there are too few values, or their number is not known, the schema is refused, unless it is clear that nothing satisfies it.
 *
 * And the other way round: the spellings of values that were used, made of their texts as the schema { "const": value } would be.
 *
 * Tested by tests/test_memory.c, tests/test_schema_fuzz.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema_parts.h"

#define COUNT_DEPTH 8u /* values inside values that are looked at to count them */

/* ---- counting values ------------------------------------------------------------------------------------------------ */

struct counting {
  struct schema *s;
  uint32_t limit, most, found;
};

static void count_numbers(void *ctx, const struct part *parts, const tsl__number_spec *number) {
  struct counting *c = ctx;
  tsl__number_spec canonical;
  uint32_t n = c->limit;
  (void)parts;
  if (number && tsl__number_intersect(&c->s->arena, number, number, &canonical) != TSL_OK) n = 1;
  else if (number) n = tsl__number_count(&canonical, c->limit);
  c->found++;
  if (n > c->most) c->most = n;
}

static uint32_t count_values(struct schema *s, goal g, uint32_t limit, uint32_t depth, bool *exact);

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t count_object(struct schema *s, const struct object *o, uint32_t limit, uint32_t depth) {
  uint32_t required = 0, most = 1;
  bool exact;
  if (o->clause_count) return 1;
  for (uint32_t k = 0; k < o->n; k++) required += o->known[k].required;
  for (uint32_t k = 0; k < o->n && most < limit; k++)
    if (o->known[k].value != GOAL_NONE && (o->known[k].required || required < o->max)) most = larger(most, count_values(s, o->known[k].value, limit, depth, &exact));
  for (uint32_t c = 0; c < o->cell_count && most < limit && required < o->max; c++) {
    uint32_t n;
    if (tsl__schema_shortest(s, o->cells[c].value) == TSL__INF) continue;
    most = larger(most, o->cells[c].all || !tsl__expr_count(s->x, o->cells[c].key, limit, &n) ? limit : n);
  }
  return most;
}

static uint32_t count_array(struct schema *s, const struct array *a, uint32_t limit, uint32_t depth) {
  bool exact;
  if (a->any) return limit;
  if (a->counter_count || !a->max) return 1;
  goal first = a->prefix_count ? a->prefix[0] : a->rest;
  uint32_t n = count_values(s, first, limit, depth, &exact);
  return n ? n : 1;
}

/* At least so many different values satisfy the goal, up to the limit; *exact if it is exactly so many. */
static uint32_t count_values(struct schema *s, goal g, uint32_t limit, uint32_t depth, bool *exact) {
  *exact = false;
  if (tsl__schema_shortest(s, g) == TSL__INF) return *exact = true, 0;
  if (depth == COUNT_DEPTH || !tsl__schema_open(s, g)) return 1;
  const struct goal_entry *e = tsl__goal_of(s, g);
  if (g == GOAL_ANY || e->any_string) return limit;
  uint32_t total = (uint32_t)__builtin_popcount(e->scalars);
  *exact = true;
  if (e->string != TSL__NONE) {
    bool any;
    uint32_t n = limit;
    tsl__expr text = tsl__schema_text(s, e->lits, e->n, &any);
    if (!any && !tsl__expr_count(s->x, text, limit, &n)) n = limit;
    total = tsl__add(total, n);
  }
  if (e->number != TSL__NONE) {
    struct counting c = {.s = s, .limit = limit};
    tsl__schema_expand(s, g, T_NUMBER, count_numbers, &c);
    total = tsl__add(total, c.most);
    *exact = *exact && c.found == 1;
  }
  if (total >= limit) return limit;
  uint32_t most = 0;
  for (uint32_t i = 0; i < e->object_count; i++)
    if (tsl__object_shortest(e->objects[i]) != TSL__INF) most = larger(most, count_object(s, e->objects[i], limit, depth + 1)), *exact = false;
  for (uint32_t i = 0; i < e->array_count; i++)
    if (tsl__array_shortest(e->arrays[i]) != TSL__INF) most = larger(most, count_array(s, e->arrays[i], limit, depth + 1)), *exact = false;
  total = tsl__add(total, most);
  return total < limit ? total : limit;
}

/* ---- are there enough? ---------------------------------------------------------------------------------------------- */

/* Items before i that can be equal to item i. */
static uint32_t rivals(struct array *a, uint32_t i) {
  const struct goal_entry *e = tsl__goal_of(a->schema, a->prefix[i]);
  uint32_t n = 0;
  for (uint32_t j = 0; j < i; j++)
    n += tsl__schema_shortest(a->schema, tsl__schema_goal_and(a->schema, a->prefix[j], e->lits, e->n)) != TSL__INF;
  return n;
}

static bool enough_first(struct array *a, uint32_t *item, uint32_t *need) {
  bool exact;
  for (uint32_t i = 1; i < a->prefix_count && i < a->min; i++) {
    *item = i;
    if (count_values(a->schema, a->prefix[i], i + 1, 0, &exact) > i) continue;
    *need = rivals(a, i) + 1;
    if (count_values(a->schema, a->prefix[i], *need, 0, &exact) < *need) return false;
  }
  return true;
}

static void refuse(struct array *a, const tsl__json *at, uint32_t item, uint32_t need) {
  if (item != UINT32_MAX)
    tsl__schema_fail(a->schema, TSL_ERR_UNSUPPORTED, at, "uniqueItems where item %u may have fewer than %u values", (unsigned)item, (unsigned)need);
  else
    tsl__schema_fail(a->schema, TSL_ERR_UNSUPPORTED, at, "uniqueItems where items may have fewer than %u values", (unsigned)need);
}

bool tsl__array_guard(struct array *a, const tsl__json *at) {
  struct schema *s = a->schema;
  uint32_t item = UINT32_MAX, need = a->min;
  uint64_t counted = a->min + (uint64_t)a->prefix_count;
  bool exact;
  a->guarded = true;
  if (a->min > TSL__SCHEMA_CHAIN) {
    tsl__schema_fail(s, TSL_ERR_LIMIT, at, "uniqueItems together with more than %u items that are needed", TSL__SCHEMA_CHAIN);
    return false;
  }
  if (!enough_first(a, &item, &need)) return refuse(a, at, item, need), false;
  if (a->min > a->prefix_count && a->max > a->prefix_count) {
    uint32_t n = count_values(s, a->rest, a->min, 0, &exact);
    if (n < a->min && exact && !a->prefix_count) return false;
    if (n < a->min) return refuse(a, at, UINT32_MAX, a->min), false;
  }
  for (uint32_t i = 0; i < a->counter_count; i++) counted += (uint64_t)a->counters[i].from + a->counters[i].min;
  if (a->counter_count && counted > TSL__SCHEMA_CHAIN) return true; /* refused for its length later */
  for (uint32_t i = 0; i < a->counter_count; i++) { /* every combination of what contains asks and forbids, one at a time */
    const struct counter *k = &a->counters[i];
    lit l[2] = {k->l, k->l ^ 1};
    for (int sign = 0; sign < 2; sign++) {
      if (sign ? k->max == TSL__INF : !k->min) continue;
      if (sign == 0 && k->min == 1 && a->counter_count == 1 && !a->prefix_count && k->max == TSL__INF && a->min <= 1) continue; /* it may be the first */
      goal g = tsl__schema_goal_and(s, a->rest, &l[sign], 1);
      if (count_values(s, g, (uint32_t)counted + 1, 0, &exact) <= counted || a->counter_count > 1) return refuse(a, at, UINT32_MAX, (uint32_t)counted + 1), false;
    }
  }
  return tsl__schema_ok(s);
}

/* ---- spellings ------------------------------------------------------------------------------------------------------ */

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
    tsl_status status = tsl__json_parse(&s->arena, texts[i].at, texts[i].length, s->max_depth, &v, &error);
    if (status != TSL_OK) return tsl__exprs_fail(s->x, status, "a value that must be unique cannot be read"), TSL__NONE;
    if (v->kind == TSL__JSON_STRING) {
      strings[string_count++] = (tsl__string){v->text, v->length};
      continue;
    }
    tsl__expr e = v->kind >= TSL__JSON_ARRAY ? spell_container(s, v) : tsl__schema_spell_scalar(s, v);
    if (e == TSL__NONE) return tsl__exprs_fail(s->x, TSL_ERR_LIMIT, "a value that must be unique has numbers with too many digits"), TSL__NONE;
    all[count++] = e;
  }
  if (string_count) all[count++] = tsl__schema_spell_strings(s, strings, string_count);
  return tsl__expr_alt_n(s->x, all, count);
}

/* Values are spelled by a schema of their own: with any white space, at any depth, whatever the options of this one (and of others, in one grammar) are. */
void tsl__schema_guard(struct schema *s) {
  if (tsl__exprs_guards(s->x)) return;
  struct schema *blank = tsl__schema_blank(s->x);
  if (blank) tsl__exprs_guard(s->x, spell, blank);
  else tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}
