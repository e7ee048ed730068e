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
#include "compiler/schema/unique/unique.h"

/* ---- are there enough? ----------------------------------------------------------------------- */

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
    if (tsl__count_values(a->schema, a->prefix[i], i + 1, &exact) > i) continue;
    uint32_t need = rivals(a, i) + 1;
    if (tsl__count_values(a->schema, a->prefix[i], need, &exact) < need) return false;
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
    if (tsl__count_values(a->schema, tsl__schema_goal_and(a->schema, a->rest, &l[sign], 1),
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
    uint32_t n = tsl__count_values(a->schema, a->rest, a->min, &exact);
    *none = n < a->min && exact && !a->prefix_count;
    if (n < a->min) return false;
  }
  return !a->counter_count || enough_counted(a);
}

/* Are there so few values that the shortest completion repeats some, if it is not known which were
 * used? Then a short way to the end is long searched for. */
static bool scarce(struct array *a) {
  bool exact;
  return a->min > 1 && a->max > a->prefix_count && !a->counter_count &&
         tsl__count_values(a->schema, a->rest, 2 * a->min, &exact) < 2 * a->min;
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
    if (scarce(a)) tsl__array_list_values(a, 2 * a->min);
  } else if (!none && !tsl__array_list_values(a, (uint32_t)need)) {
    tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, at,
                     "uniqueItems where items may have fewer than %u values that are not listed",
                     (unsigned)need);
  }
  return !none && tsl__schema_ok(s);
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
