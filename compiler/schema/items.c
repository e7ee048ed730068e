/* items.c - a conjunction of parts about arrays, made ready to be followed (array.c).
 *
 * Problem   The parts of a conjunction come from several subschemas. Each says something of items
 *           at some places, of how many there are, of how many satisfy S, or that none are equal.
 * Idea      A struct array has one goal for each of the first places, one for all others, bounds of
 *           the length, and counters for `contains`. The parts are put together place by place.
 * Example   {"allOf": [{"prefixItems": [A, B]}, {"items": C, "minItems": 1}, {"contains": D}]} has
 *           the prefix A and C, B and C, and the rest C. It has at least one item, and a counter:
 *           at least one D.
 * Unique    uniqueItems over items out of a finite list of scalars becomes that list: the state is
 *           then the set of values used. Where the list is short, the length is bounded by it.
 * Cost      Places times parts; a list of at most TSL__SCHEMA_UNIQUE values.
 * Tested by tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/array.h"
#include "compiler/schema/object.h"

/* ---- from parts ------------------------------------------------------------------------------ */

/* Where items that nothing evaluated for the tracker begin, TSL__INF if there are none. `rest`
 * receives their alternatives: `l` and every contains that evaluates what it matches (draft
 * 2020-12). */
static uint32_t unevaluated_from(struct schema *s, const struct part *parts,
                                 const struct part *rest, sid *others, uint32_t *count) {
  uint32_t from = 0;
  for (const struct part *p = parts; p; p = p->next) {
    if (p->kind != PART_SEEN || !tsl__tracks(p->tracker, rest->tracker)) continue;
    const struct node *n = tsl__node_of(s, p->s);
    const struct keyword_value *items = tsl__keyword_or_null(n, KW_ITEMS);
    bool list = items && items->value->kind == TSL__JSON_ARRAY;
    if ((items && !list) || (list && tsl__has(n, KW_ADDITIONAL_ITEMS)) ||
        (tsl__has(n, KW_UNEVALUATED_ITEMS) && p->tracker != rest->tracker))
      return TSL__INF;
    if (list) from = tsl__larger(from, items->count);
    if (tsl__has(n, KW_PREFIX_ITEMS))
      from = tsl__larger(from, tsl__keyword(n, KW_PREFIX_ITEMS)->count);
    if (tsl__has(n, KW_CONTAINS) && s->resources.at[n->resource].draft & (D20 | AUTO))
      others[(*count)++] = tsl__subschema(n, KW_CONTAINS);
  }
  return from;
}

/* unevaluatedItems said with the other parts. NULL: nothing satisfies them. */
static const struct part *resolve_rests(struct schema *s, const struct part *parts) {
  const struct part *all = parts;
  uint32_t n = 2;
  for (const struct part *p = parts; p; p = p->next) n++;
  for (const struct part *p = parts; p; p = p->next) {
    if (p->kind != PART_REST && p->kind != PART_REST_SOME) continue;
    sid *others = tsl__schema_alloc(s, n * sizeof *others);
    struct part *said = tsl__schema_alloc(s, sizeof *said);
    if (!others || !said) return NULL;
    uint32_t count = 0, from = unevaluated_from(s, parts, p, others, &count);
    if (from == TSL__INF && p->kind == PART_REST_SOME) return NULL;
    if (from == TSL__INF) continue;
    others[count++] = p->l >> 1;
    lit l = count == 1 ? p->l : POS(tsl__schema_choice_of(s, KW_ANY_OF, others, count));
    *said = (struct part){.next = all, .kind = PART_ITEMS, .min = from, .max = TSL__INF, .l = l};
    if (p->kind == PART_REST_SOME)
      *said = (struct part){
          .next = all, .kind = PART_CONTAINS, .from = from, .min = 1, .max = TSL__INF, .l = l ^ 1};
    all = said;
  }
  return all;
}

static void lengths(struct array *a, const struct part *parts) {
  a->max = TSL__INF;
  for (const struct part *p = parts; p; p = p->next) {
    if (p->kind == PART_SIZE) {
      a->min = tsl__larger(a->min, p->min);
      a->max = tsl__smaller(a->max, p->max);
    }
    if (p->kind == PART_ITEMS)
      a->prefix_count = tsl__larger(a->prefix_count, p->max == TSL__INF ? p->min : p->max);
    if (p->kind == PART_CONTAINS) a->counter_count++;
    if (p->kind == PART_UNIQUE) a->unique = true;
    if (p->kind == PART_REPEATS) a->repeats = true;
  }
}

/* What is demanded of items: of one alone (`at`, those of item i from begin[i] to begin[i + 1]), or
 * of several (`runs`). */
struct item_lits {
  uint32_t *begin;
  lit *at;
  const struct part **runs;
  uint32_t run_count;
};

static bool of_one(const struct array *a, const struct part *p) {
  return p->max == p->min + 1 && p->min < a->prefix_count;
}

static bool sort_items(struct array *a, const struct part *parts, struct item_lits *per_item) {
  uint32_t n = 1;
  for (const struct part *p = parts; p; p = p->next) n++;
  per_item->begin =
      tsl__schema_alloc(a->schema, ((size_t)a->prefix_count + 2) * sizeof *per_item->begin);
  per_item->at = tsl__schema_alloc(a->schema, n * sizeof *per_item->at);
  per_item->runs = tsl__schema_alloc(a->schema, n * sizeof *per_item->runs);
  if (!per_item->begin || !per_item->at || !per_item->runs) return false;
  /* of item i: where the next one goes, and after that where its own end */
  uint32_t *end = per_item->begin + 1;
  for (const struct part *p = parts; p; p = p->next) {
    if (p->kind != PART_ITEMS) continue;
    if (of_one(a, p))
      end[p->min]++;
    else
      per_item->runs[per_item->run_count++] = p;
  }
  for (uint32_t i = 0, sum = 0; i < a->prefix_count; i++) {
    uint32_t count = end[i];
    end[i] = sum;
    sum += count;
  }
  for (const struct part *p = parts; p; p = p->next)
    if (p->kind == PART_ITEMS && of_one(a, p)) per_item->at[end[p->min]++] = p->l;
  return true;
}

static goal item_goal(struct array *a, const struct item_lits *per_item, lit *lits,
                      uint32_t index) {
  uint32_t n = 0;
  if (!tsl__schema_work(a->schema, 8 + per_item->run_count)) return GOAL_NONE;
  for (uint32_t i = index < a->prefix_count ? per_item->begin[index] : 0,
                end = index < a->prefix_count ? per_item->begin[index + 1] : 0;
       i < end; i++)
    lits[n++] = per_item->at[i];
  for (uint32_t i = 0; i < per_item->run_count; i++)
    if (per_item->runs[i]->min <= index && index < per_item->runs[i]->max)
      lits[n++] = per_item->runs[i]->l;
  return tsl__schema_goal(a->schema, lits, n, a->level + 1);
}

static bool items(struct array *a, const struct part *parts) {
  struct item_lits per_item = {0};
  uint32_t n = 0;
  for (const struct part *p = parts; p; p = p->next) n++;
  lit *lits = tsl__schema_alloc(a->schema, (n + 1) * sizeof *lits);
  a->prefix = tsl__schema_alloc(a->schema, (a->prefix_count + 1) * sizeof *a->prefix);
  if (!lits || !a->prefix || !sort_items(a, parts, &per_item)) return false;
  for (uint32_t i = 0; i < a->prefix_count; i++) a->prefix[i] = item_goal(a, &per_item, lits, i);
  a->rest = item_goal(a, &per_item, lits, TSL__INF - 1);
  for (uint32_t i = 0; i < a->prefix_count; i++)
    if (a->prefix[i] == GOAL_NONE) a->max = tsl__smaller(a->max, i);
  if (a->rest == GOAL_NONE) a->max = tsl__smaller(a->max, a->prefix_count);
  return tsl__schema_ok(a->schema);
}

/* false: a counter can't be met. */
static bool counters(struct array *a, const struct part *parts) {
  a->counters = tsl__schema_alloc(a->schema, (a->counter_count + 1) * sizeof *a->counters);
  if (!a->counters) return false;
  a->counter_count = 0;
  for (const struct part *p = parts; p; p = p->next) {
    if (p->kind != PART_CONTAINS) continue;
    goal alone = tsl__schema_goal(a->schema, &p->l, 1, a->level + 1);
    if (p->min > p->max || (alone == GOAL_NONE && p->min)) return false;
    if (alone == GOAL_NONE || (!p->min && p->max == TSL__INF)) continue;
    if (alone == tsl__schema_goal(a->schema, NULL, 0, a->level + 1)) { /* every item counts */
      if (p->min) a->min = tsl__larger(a->min, tsl__add(p->min, p->from));
      if (p->max != TSL__INF) a->max = tsl__smaller(a->max, tsl__add(p->max, p->from));
      continue;
    }
    a->counters[a->counter_count++] = (struct counter){p->l, p->from, p->min, p->max};
    a->min = tsl__larger(a->min, tsl__add(p->min, p->min ? p->from : 0));
  }
  return true;
}

/* ---- uniqueItems over finite lists ----------------------------------------------------------- */

static bool admits(struct schema *s, const struct goal_entry *e, const tsl__json *v) {
  uint8_t type = tsl__json_type(v);
  if (type & (T_NULL | T_FALSE | T_TRUE)) return e->scalars & type;
  if (type == T_NUMBER)
    return e->number != TSL__NONE && tsl__expr_matches(s->x, e->number, v->text, v->length);
  if (type != T_STRING) return true;
  bool any;
  tsl__expr text = tsl__schema_text(s, e->lits, e->n, &any);
  return any || tsl__expr_matches(s->x, text, v->text, v->length);
}

static const tsl__json literals[] = {
    {.kind = TSL__JSON_NULL}, {.kind = TSL__JSON_FALSE}, {.kind = TSL__JSON_TRUE}};

/* The different values that satisfy the items' goal; false: it is not known to be a short list of
 * scalars. */
static bool finite(struct array *a) {
  struct schema *s = a->schema;
  if (!tsl__schema_open(s, a->rest)) return false;
  const struct goal_entry *e = tsl__goal_of(s, a->rest);
  uint32_t n = 0;
  const tsl__json *list = NULL;
  for (uint32_t i = 0; i < e->n && !list; i++)
    list = e->lits[i] & 1 ? NULL : tsl__schema_listed(s, e->lits[i] >> 1, &n);
  if (!list && (e->number != TSL__NONE || e->string != TSL__NONE)) return false;
  if (!list) {
    list = literals;
    n = 3;
  }
  if (e->array_count || e->object_count || n > TSL__SCHEMA_UNIQUE) return false;
  a->values = tsl__schema_alloc(s, (n + 1) * sizeof *a->values);
  tsl__string *strings = tsl__schema_alloc(s, (n + 1) * sizeof *strings);
  if (!a->values || !strings) return false;
  for (uint32_t i = 0; i < n; i++)
    if (list[i].kind == TSL__JSON_STRING && admits(s, e, &list[i]))
      strings[a->string_count++] = (tsl__string){list[i].text, list[i].length};
  if (a->string_count) a->strings = tsl__stringset_new(s->x, strings, a->string_count, NULL);
  a->value_count = a->string_count = a->string_count ? tsl__stringset_size(s->x, a->strings) : 0;
  for (uint32_t i = 0; i < n; i++) {
    if (list[i].kind == TSL__JSON_STRING || list[i].kind >= TSL__JSON_ARRAY ||
        !admits(s, e, &list[i]))
      continue;
    uint32_t j = a->string_count;
    while (j < a->value_count && !tsl__json_equal(a->values[j], &list[i])) j++;
    if (j == a->value_count) a->values[a->value_count++] = &list[i];
  }
  return tsl__schema_ok(s);
}

static void unique(struct array *a, const struct part *parts) {
  if (a->max <= 1) {
    a->unique = false;
    return;
  }
  const struct part *p = parts;
  while (p->kind != PART_UNIQUE) p = p->next;
  const tsl__json *at = tsl__keyword(tsl__node_of(a->schema, p->s), KW_UNIQUE_ITEMS)->value;
  if (a->counter_count || a->prefix_count || !finite(a)) {
    a->unique = false;
    if (!tsl__schema_ok(a->schema)) return;
    if (!tsl__array_guard(a, at)) a->min = 1, a->max = 0;
    tsl__schema_guard(a->schema);
    return;
  }
  a->max = tsl__smaller(a->max, a->value_count);
}

/* items that have schemas of their own, where some must be equal: all pairs are looked at */
#define REPEATS_MAX 64u

/* Some items are equal: two at least, and there is no end to them. False: nothing satisfies that,
 * or on failure. */
static bool repeat(struct array *a, const struct part *parts) {
  struct schema *s = a->schema;
  const struct part *p = parts;
  while (p->kind != PART_REPEATS) p = p->next;
  const tsl__json *at = tsl__keyword(tsl__node_of(s, p->s), KW_UNIQUE_ITEMS)->value;
  a->min = tsl__larger(a->min, 2);
  if (a->unique || a->max < a->min) return false;
  /* the grammar was made without */
  bool late = !s->text && !(tsl__exprs_watches(s->x) & TSL__SAME_ITEM);
  if (late || a->max != TSL__INF || a->counter_count ||
      (a->prefix_count && !tsl__schema_possible(s, a->rest)) || tsl__schema_nests(s)) {
    tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, at, "uniqueItems under a negation, with %s",
                     late               ? "too much before it"
                     : a->counter_count ? "items that are counted"
                                        : "a bound of the items' number");
    return false;
  }
  uint32_t most = a->prefix_count ? REPEATS_MAX : TSL__SCHEMA_CHAIN;
  if (tsl__larger(a->min, a->prefix_count) > most) {
    tsl__schema_fail(s, TSL_ERR_LIMIT, at,
                     "uniqueItems under a negation together with more than %u items%s",
                     (unsigned)most, a->prefix_count ? " where each has a schema" : "");
    return false;
  }
  tsl__schema_guard(s);
  tsl__exprs_guard_repeats(s->x);
  return true;
}

struct array *tsl__array_new(struct schema *s, uint32_t level, const struct part *parts) {
  struct array *a = tsl__schema_alloc(s, sizeof *a);
  if (!a) return NULL;
  a->schema = s;
  a->level = level;
  const struct part *all = parts ? resolve_rests(s, parts) : NULL;
  if (parts && !all) return NULL;
  parts = all;
  lengths(a, parts);
  if (!items(a, parts) || !counters(a, parts)) return NULL;
  if (a->repeats && !repeat(a, parts)) return NULL;
  if (a->unique) unique(a, parts);
  a->any = !a->prefix_count && a->rest == GOAL_ANY && !a->min && a->max == TSL__INF &&
           !a->counter_count && !a->unique && !a->guarded && !a->repeats;
  return tsl__schema_ok(s) && a->min <= a->max ? a : NULL;
}

bool tsl__array_plain(struct schema *s, uint32_t level, sid id, struct array *out) {
  const struct node *n = tsl__node_of(s, id);
  const struct keyword_value *items = tsl__keyword_or_null(n, KW_ITEMS),
                             *min = tsl__keyword_or_null(n, KW_MIN_ITEMS),
                             *max = tsl__keyword_or_null(n, KW_MAX_ITEMS);
  lit l = POS(items ? items->children[0] : SID_TRUE);
  *out = (struct array){.schema = s,
                        .level = level,
                        .rest = tsl__schema_goal(s, &l, 1, level + 1),
                        .min = min ? min->count : 0,
                        .max = max ? max->count : TSL__INF};
  if (out->rest == GOAL_NONE) out->max = 0;
  out->any = out->rest == GOAL_ANY && !out->min && out->max == TSL__INF;
  return tsl__schema_ok(s) && out->min <= out->max;
}
