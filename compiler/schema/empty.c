/* empty.c - is there a value, and how short can it be?
 *
 * Problem   A mask must not allow what cannot be completed. Schemas are recursive, so "has a value"
 *           is a least fixed point; and with required members, counts and clauses it is a small
 *           search.
 * Idea      One number answers both: the fewest bytes of a value, infinite if there is none. Goals
 *           start at infinity and are computed from their parts until nothing changes. If a goal is
 *           looked up while it is being computed, it gives its value so far, and the round is
 *           marked as tentative. If that never happens, as is common, one pass is enough.
 * Why       Lengths only add up, so a round can only lower a value. The values of the last round
 *           satisfy all equations. So they say exactly whether there is a value, and how short it
 *           can be.
 * Objects   Whether the members of one object can be completed is a search (completion.c).
 * When      Every compile asks whether its schema has a value. It hardly ever needs the length: a
 *           rule is measured when its length is needed (tsl__rule_ops.shortest). If the keywords
 *           alone show that there is a value, nothing else is looked at (plain.c). An object
 *           without clauses has a value if its required members have one. Only the rest is
 *           measured.
 * Spaces    White space that may be left out counts as zero bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/array.h"
#include "compiler/schema/object.h"

/* What `contains` and the like may ask of an item: to be counted, or not to be. */
static void ask_of_item(const struct array *a, const struct counter *k, goal value) {
  if (k->max) tsl__schema_ask_of(a->schema, value, k->l);
  if (k->max != TSL__INF) tsl__schema_ask_of(a->schema, value, k->l ^ 1);
}

void tsl__array_goals_wanted(const struct array *a) {
  for (uint32_t i = 0; i < a->counter_count && tsl__schema_ok(a->schema); i++) {
    for (uint32_t k = a->counters[i].from; k < a->prefix_count && tsl__schema_ok(a->schema); k++)
      ask_of_item(a, &a->counters[i], a->prefix[k]);
    ask_of_item(a, &a->counters[i], a->rest);
  }
}

/* ---- goals ----------------------------------------------------------------------------------- */

static uint32_t number_shortest(struct schema *s, tsl__expr number) {
  return number == s->shared.number_text || number == s->shared.integer_text
             ? 1
             : tsl__expr_shortest(s->x, number);
}

static uint32_t compute(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  uint32_t best = e->scalars & (T_NULL | T_TRUE) ? 4 : e->scalars & T_FALSE ? 5 : TSL__INF, bytes;
  if (e->number != TSL__NONE && (bytes = number_shortest(s, e->number)) < best) best = bytes;
  /* as if there were brackets or quotes to leave out */
  if (tsl__schema_nests(s) && !tsl__schema_wraps(s)) best = tsl__add(best, 2);
  if (e->string != TSL__NONE && (bytes = tsl__schema_string_shortest(s, e)) < best) best = bytes;
  for (uint32_t i = 0; i < e->array_count; i++)
    if ((bytes = tsl__array_shortest(e->arrays[i])) < best) best = bytes;
  for (uint32_t i = 0; i < e->object_count; i++)
    if ((bytes = tsl__object_shortest(e->objects[i])) < best) best = bytes;
  return best;
}

static uint32_t measure(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->active) s->tentative = true;
  if (e->final || e->active || e->round == s->round) return e->shortest;
  if (s->measuring > TSL__SCHEMA_DEPTH) {
    tsl__schema_fail(s, TSL_ERR_LIMIT, NULL, "required values nested deeper than %u",
                     TSL__SCHEMA_DEPTH);
    return TSL__INF;
  }
  if (!tsl__schema_open(s, g)) return TSL__INF;
  if (!tsl__vec_push(s->alloc, &s->measured, g))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), TSL__INF;
  e->active = true;
  e->round = s->round;
  s->measuring++;
  const tsl__json *before = s->at;
  if (e->n && tsl__node_of(s, e->lits[0] >> 1)->at) s->at = tsl__node_of(s, e->lits[0] >> 1)->at;
  uint32_t bytes = compute(s, g);
  tsl__schema_note(s);
  s->at = before;
  s->measuring--;
  e->active = false;
  if (bytes < e->shortest && tsl__schema_ok(s)) {
    e->shortest = bytes;
    s->changed = true;
  }
  return e->shortest;
}

/* Recursion is bounded by TSL__SCHEMA_DEPTH goals. */
uint32_t tsl__schema_shortest(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->final) return e->shortest;
  if (g == GOAL_NONE) return TSL__INF;
  if (s->measuring) return measure(s, g);
  do {
    s->round++;
    s->changed = s->tentative = false;
    s->measured.n = 0;
    measure(s, g);
  } while (s->changed && s->tentative && tsl__schema_ok(s));
  if (!tsl__schema_ok(s)) return TSL__INF;
  for (size_t i = 0; i < s->measured.n; i++) tsl__goal_of(s, s->measured.at[i])->final = true;
  return e->shortest;
}

#define ASKING_MAX 200u /* objects inside one another, of required members */

/* Does a look at its keywords show that it can be satisfied? */
static bool plainly_possible(struct schema *s, const struct goal_entry *e) {
  if (!e->n) return true;
  uint8_t types = tsl__schema_plain_together(s, e->lits, e->n);
  if (s->max_nesting && e->level >= s->max_nesting) types &= (uint8_t) ~(T_ARRAY | T_OBJECT);
  return types != 0;
}

/* The shortest value is not needed if one of the objects plainly is possible. Objects that require
 * themselves are left to the fixed point. */
static bool some_object(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  bool found = false;
  if (e->pending || s->asking == ASKING_MAX) return false;
  e->pending = true;
  s->asking++;
  for (uint32_t i = 0; i < e->object_count && !found && tsl__schema_ok(s); i++)
    found = tsl__object_has_needs(tsl__goal_of(s, g)->objects[i]);
  tsl__goal_of(s, g)->pending = false;
  s->asking--;
  return found;
}

static bool some_value(struct schema *s, goal g) {
  if (plainly_possible(s, tsl__goal_of(s, g))) return true;
  /* which strings have a spelling, only that decides */
  if (tsl__schema_nests(s)) return tsl__schema_shortest(s, g) != TSL__INF;
  if (!tsl__schema_open(s, g)) return false;
  const struct goal_entry *e = tsl__goal_of(s, g);
  if (e->scalars || (e->string != TSL__NONE && !e->inner) || e->number != TSL__NONE) return true;
  return (!s->measuring && some_object(s, g)) || tsl__schema_shortest(s, g) != TSL__INF;
}

bool tsl__schema_possible(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->final || g == GOAL_NONE) return e->final && e->shortest != TSL__INF;
  if (!e->possible) e->possible = some_value(s, g) && tsl__schema_ok(s);
  return e->possible;
}
