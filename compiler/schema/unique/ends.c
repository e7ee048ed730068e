/* ends.c - the shortest end of an array whose values are listed.
 *
 * Problem   Each item that is still needed takes a value that was not used. A search through all
 *           sets of values would double with each of them.
 * Idea      Sort the listed values by their bytes. Where one counter at most counts them, the
 *           cheapest unused ones are used, so many that are counted and so many that are not.
 * Example   Of "a", "bb" and 7, of which "a" was used, two items more take 7 and "bb".
 * Cost      Linear in the listed values and in the items that are needed.
 * Tested by tests/schema/test_listed.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "compiler/schema/unique/unique.h"

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

/* ---- values that the state lists ------------------------------------------------------------- */

struct unused_value {
  uint32_t index, bytes;
};

static int cheaper_first(const void *a, const void *b) {
  const struct unused_value *x = a, *y = b;
  return x->bytes != y->bytes ? (x->bytes > y->bytes) - (x->bytes < y->bytes)
                              : (x->index > y->index) - (x->index < y->index);
}

tsl__expr tsl__array_value(struct array *a, uint32_t i) {
  struct schema *s = a->schema;
  if (i >= a->string_count) return tsl__schema_spell_scalar(s, a->values[i]);
  tsl__string text = tsl__stringset_at(s->x, a->strings, i);
  return tsl__schema_spell_strings(s, &text, 1);
}

uint32_t tsl__array_value_bytes(struct array *a, uint32_t i) {
  if (i >= a->string_count && a->values[i]->kind != TSL__JSON_NUMBER)
    return a->values[i]->kind == TSL__JSON_FALSE ? 5 : 4;
  return tsl__expr_shortest(a->schema->x, tsl__array_value(a, i));
}

/* All values, those of the fewest bytes first. */
static const struct unused_value *values_by_bytes(struct array *a) {
  struct schema *s = a->schema;
  if (a->by_bytes) return a->by_bytes;
  struct unused_value *all = tsl__schema_alloc(s, (a->value_count + 1) * sizeof *all);
  if (!all) return NULL;
  for (uint32_t i = 0; i < a->value_count && tsl__schema_work(s, 8); i++)
    all[i] = (struct unused_value){i, tsl__array_value_bytes(a, i)};
  if (!tsl__schema_ok(s)) return NULL;
  qsort(all, a->value_count, sizeof *all, cheaper_first);
  return a->by_bytes = all;
}

uint32_t tsl__array_unused_bytes(struct array *a, uint32_t need, const uint64_t *used) {
  const struct unused_value *all = values_by_bytes(a);
  uint32_t total = 0;
  tsl__schema_work(a->schema, a->value_count);
  for (uint32_t i = 0; all && need && i < a->value_count; i++) {
    if (tsl__bit(used, all[i].index)) continue;
    total = tsl__add(total, all[i].bytes);
    need--;
  }
  return need ? TSL__INF : total;
}
