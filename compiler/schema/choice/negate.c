/* negate.c - the ways in which a node can fail.
 *
 * Problem   not, oneOf and `if` need the values that do not satisfy a node. What the matcher
 *           follows is conjunctions of parts, so the failure of a node has to be said as
 *           alternatives.
 * Idea      De Morgan: a node is a conjunction of keywords, so it fails where one keyword fails.
 *           Each keyword has its dual. A failure that one member shows is an atom ("some key of
 *           properties has a bad value"). All atoms of a node share one clause. Everything else is
 *           a way: a branch of its own with the parts that say it.
 * Example   {"required": ["a"], "properties": {"b": {"type": "null"}}, "minProperties": 2} fails
 *           where one of these atoms holds. "a" is absent; "b" is there and no null; there is at
 *           most one member. That is one clause of three atoms, and no way besides.
 * Arrays    have no clauses. {"items": S, "maxItems": 3} fails in two ways. Some item is not S
 *           (PART_CONTAINS with the negated S), or there are at least four items (PART_SIZE).
 * Cost      Linear in the node and in what its references and allOf lead to. oneOf compares its
 *           branches in pairs: two of them hold where it fails, if not none does.
 * Tested by tests/schema/test_schema.c, tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

static struct branch *way(struct ways *w) {
  struct branch b = w->base;
  if (!tsl__vec_push(w->e->s->alloc, &w->more, b)) {
    tsl__schema_fail(w->e->s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
    return NULL;
  }
  return &w->more.at[w->more.n - 1];
}

static void way_of_lits(struct ways *w, const lit *lits, uint32_t n) {
  bool sure = true;
  for (uint32_t i = 0; i < n; i++) {
    if (tsl__schema_impossible(w->e->s, w->e->type, lits[i])) return;
    sure = sure && tsl__expand_certain(w->e->s, w->e->type, lits[i]);
  }
  if (sure) {
    w->always = true;
    return;
  }
  struct branch *b = way(w);
  for (uint32_t i = 0; b && i < n; i++) tsl__expand_want(w->e, b, lits[i], i, NULL);
}

static void atom(struct ways *w, enum atom_kind kind, const char *key, uint32_t length, lit l) {
  struct atom *a = tsl__expand_atom(w->e, w->atoms, kind, key, length, l);
  if (a) w->atoms = a;
}

static void negate_members(struct ways *w, sid s, const struct node *n) {
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
  for (uint32_t i = 0; v && i < v->count; i++) {
    lit l = tsl__schema_simplify(w->e->s, NEG(v->children[i]));
    if (l != POS(SID_FALSE))
      atom(w, ATOM_KEY, v->value->items[i].key, v->value->items[i].key_length, l);
  }
  v = tsl__keyword_or_null(n, KW_PATTERN_PROPERTIES);
  for (uint32_t i = 0; v && i < v->count; i++) {
    lit l = tsl__schema_simplify(w->e->s, NEG(v->children[i]));
    if (l == POS(SID_FALSE)) continue;
    struct atom *a = tsl__expand_atom(w->e, w->atoms, ATOM_PATTERN, NULL, 0, l);
    if (!a) return;
    a->s = s;
    a->index = i;
    w->atoms = a;
  }
  if (!tsl__has(n, KW_ADDITIONAL_PROPERTIES)) return;
  lit l = tsl__schema_simplify(w->e->s, NEG(tsl__subschema(n, KW_ADDITIONAL_PROPERTIES)));
  if (l == POS(SID_FALSE)) return;
  struct atom *a = tsl__expand_atom(w->e, w->atoms, ATOM_EXTRA, NULL, 0, l);
  if (!a) return;
  a->s = s;
  w->atoms = a;
}

static void count_atom(struct ways *w, enum atom_kind kind, uint32_t count) {
  struct atom *a = tsl__expand_atom(w->e, w->atoms, kind, NULL, 0, 0);
  if (!a) return;
  a->count = count;
  w->atoms = a;
}

static void negate_dependencies(struct ways *w, const struct node *n, enum keyword k) {
  const struct keyword_value *v = tsl__keyword_or_null(n, k);
  for (uint32_t i = 0; v && i < v->count; i++) {
    const tsl__json *m = &v->value->items[i];
    if (v->children[i] != UINT32_MAX) { /* m is there, and its schema fails */
      struct branch *b = way(w);
      if (!b) return;
      tsl__expand_required_part(w->e, b, m->key, m->key_length);
      tsl__expand_want(w->e, b, NEG(v->children[i]), i, NULL);
      continue;
    }
    const tsl__json *names = m->kind == TSL__JSON_ARRAY ? m->items : m;
    for (uint32_t j = 0; j < (m->kind == TSL__JSON_ARRAY ? m->length : 1); j++) {
      struct branch *b = way(w);
      if (!b) return;
      tsl__expand_required_part(w->e, b, m->key, m->key_length);
      tsl__expand_clause_part(
          w->e, b, tsl__expand_atom(w->e, NULL, ATOM_ABSENT, names[j].text, names[j].length, 0));
    }
  }
}

static void negate_object(struct ways *w, sid s, const struct node *n) {
  negate_members(w, s, n);
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_REQUIRED);
  for (uint32_t i = 0; v && i < v->value->length; i++)
    atom(w, ATOM_ABSENT, v->value->items[i].text, v->value->items[i].length, 0);
  if (tsl__has(n, KW_PROPERTY_NAMES))
    atom(w, ATOM_NAME, NULL, 0, NEG(tsl__subschema(n, KW_PROPERTY_NAMES)));
  if (tsl__has(n, KW_MIN_PROPERTIES) && tsl__keyword(n, KW_MIN_PROPERTIES)->count)
    count_atom(w, ATOM_MAX, tsl__keyword(n, KW_MIN_PROPERTIES)->count - 1);
  if (tsl__has(n, KW_MAX_PROPERTIES))
    count_atom(w, ATOM_MIN, tsl__keyword(n, KW_MAX_PROPERTIES)->count + 1);
  negate_dependencies(w, n, KW_DEPENDENCIES);
  negate_dependencies(w, n, KW_DEPENDENT_REQUIRED);
  negate_dependencies(w, n, KW_DEPENDENT_SCHEMAS);
}

bool tsl__expand_negated(struct expansion *e, sid s, const struct atom **atoms) {
  struct ways w = {.e = e, .atoms = *atoms};
  negate_object(&w, s, tsl__node_of(e->s, s));
  bool all = !w.more.n;
  tsl__vec_free(e->s->alloc, &w.more);
  *atoms = w.atoms;
  return all && tsl__schema_ok(e->s);
}

static void size_way(struct ways *w, uint32_t min, uint32_t max) {
  struct branch *b = way(w);
  struct part *p = b ? tsl__expand_part(w->e, b, PART_SIZE) : NULL;
  if (!p) return;
  p->min = min;
  p->max = max;
}

static void negate_array(struct ways *w, sid s, const struct node *n) {
  const struct keyword_value *prefix, *rest;
  struct branch *b;
  tsl__expand_item_keywords(n, &prefix, &rest);
  uint32_t length = prefix ? prefix->count : 0, min, max;
  for (uint32_t i = 0; i < length; i++) {
    if (!(b = way(w))) return;
    tsl__expand_items_part(w->e, b, i, i + 1, NEG(prefix->children[i]));
    struct part *p = tsl__expand_part(w->e, b, PART_SIZE);
    if (!p) return;
    p->min = i + 1;
    p->max = TSL__INF;
  }
  if (rest && (b = way(w)) != NULL)
    tsl__expand_contains_part(w->e, b, NEG(rest->children[0]), length, 1, TSL__INF);
  if (tsl__has(n, KW_MIN_ITEMS) && tsl__keyword(n, KW_MIN_ITEMS)->count)
    size_way(w, 0, tsl__keyword(n, KW_MIN_ITEMS)->count - 1);
  if (tsl__has(n, KW_MAX_ITEMS)) size_way(w, tsl__keyword(n, KW_MAX_ITEMS)->count + 1, TSL__INF);
  if (tsl__has(n, KW_UNIQUE_ITEMS) && (b = way(w)) != NULL) {
    struct part *p = tsl__expand_part(w->e, b, PART_REPEATS);
    if (p) p->s = s;
  }
  if (!tsl__has(n, KW_CONTAINS)) return;
  lit l = POS(tsl__subschema(n, KW_CONTAINS));
  tsl__expand_contains_bounds(n, &min, &max);
  if (min && (b = way(w)) != NULL) tsl__expand_contains_part(w->e, b, l, 0, 0, min - 1);
  if (max != TSL__INF && (b = way(w)) != NULL)
    tsl__expand_contains_part(w->e, b, l, 0, max + 1, TSL__INF);
}

static void spec_way(struct ways *w, const tsl__number_spec *spec, const tsl__json *at) {
  struct branch *b = way(w);
  if (b && !tsl__expand_narrow(w->e, b, spec, at)) w->more.n--;
}

static void negate_number(struct ways *w, const struct node *n) {
  tsl__number_spec own;
  if (!tsl__schema_number_spec(w->e->s, n, &own)) return;
  if (own.has_min)
    spec_way(
        w,
        &(tsl__number_spec){.has_max = true, .max = own.min, .max_exclusive = !own.min_exclusive},
        n->at);
  if (own.has_max)
    spec_way(
        w,
        &(tsl__number_spec){.has_min = true, .min = own.max, .min_exclusive = !own.max_exclusive},
        n->at);
  if (own.spelling & TSL__SPELL_DIGITS)
    spec_way(w, &(tsl__number_spec){.spelling = TSL__SPELL_MARKED}, n->at);
  else if (own.integer)
    spec_way(w, &(tsl__number_spec){.not_integer = true}, n->at);
  for (uint32_t i = 0; i < own.multiple_count; i++)
    spec_way(w, &(tsl__number_spec){.non_multiples = &own.multiples[i], .non_multiple_count = 1},
             n->at);
}

/* Not in enum (or const): for containers, not equal to each of the listed ones; numbers
 * likewise. */
static void negate_list(struct ways *w, const tsl__json *values, uint32_t n, const tsl__json *at) {
  struct schema *s = w->e->s;
  struct branch *b = way(w);
  tsl__decimal *excluded =
      w->e->type == T_NUMBER ? tsl__schema_alloc(s, (n + 1) * sizeof *excluded) : NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; b && i < n; i++) {
    if (tsl__json_type(&values[i]) != w->e->type) continue;
    if (w->e->type != T_NUMBER) {
      tsl__json *value = (tsl__json *)(uintptr_t)&values[i];
      sid id = tsl__schema_const(s, value);
      b = &w->more.at[w->more.n - 1];
      tsl__expand_want(w->e, b, NEG(id), i, NULL);
    } else if (excluded && tsl__schema_decimal(s, &values[i], &excluded[count])) {
      count++;
    }
  }
  if (!b || !excluded) return;
  if (!tsl__expand_narrow(w->e, b,
                          &(tsl__number_spec){.excluded = excluded, .excluded_count = count}, at))
    w->more.n--;
}

/* One of several must fail: their ways together, so that their atoms share one clause. */
static void negate_lit(struct ways *w, lit l) {
  l = tsl__schema_simplify(w->e->s, l);
  if (w->always || tsl__expand_certain(w->e->s, w->e->type, l)) return;
  if (tsl__schema_impossible(w->e->s, w->e->type, l))
    w->always = true;
  else if (l & 1)
    way_of_lits(w, (lit[]){l ^ 1}, 1);
  else
    tsl__expand_negate(w, l >> 1);
}

static void negate_one_of(struct ways *w, const struct keyword_value *v) {
  struct branch *none = way(w);
  for (uint32_t i = 0; none && i < v->count; i++)
    tsl__expand_want(w->e, none, NEG(v->children[i]), i, NULL);
  for (uint32_t i = 0; i < v->count && tsl__schema_ok(w->e->s); i++)
    for (uint32_t j = i + 1; j < v->count && tsl__schema_work(w->e->s, 16); j++)
      if (!tsl__schema_disjoint(w->e->s, w->e->type, v->children[i], v->children[j]))
        way_of_lits(w, (lit[]){POS(v->children[i]), POS(v->children[j])}, 2);
}

/* All else holds, and something that nothing evaluates fails. */
static void negate_unevaluated(struct ways *w, sid s, const struct keyword_value *rest) {
  struct branch *b = way(w);
  const struct tracker *own = tsl__expand_new_tracker(w->e, NULL, true);
  if (!b || !own) return;
  if (w->e->type == T_OBJECT) {
    struct atom *a = tsl__expand_atom(w->e, NULL, ATOM_REST, NULL, 0, NEG(rest->children[0]));
    if (!a) return;
    a->tracker = own;
    tsl__expand_clause_part(w->e, b, a);
  } else {
    struct part *p = tsl__expand_part(w->e, b, PART_REST_SOME);
    if (!p) return;
    p->l = POS(rest->children[0]);
    p->tracker = own;
  }
  if (!tsl__expand_take_rest(w->e, b, s, own)) w->more.n--;
}

/* Recursion follows references and allOf as deep as they are nested. Cycles are cut or refused
 * (cycles.c). */
void tsl__expand_negate(struct ways *w, sid s) {
  const struct node *n = tsl__node_of(w->e->s, s);
  if (s == SID_FALSE || !(n->types & w->e->type)) {
    w->always = true;
    return;
  }
  if (tsl__has(n, KW_DISALLOW) && tsl__keyword(n, KW_DISALLOW)->count & w->e->type) {
    w->always = true;
    return;
  }
  for (struct conjuncts c = {.n = n}; tsl__next_conjunct(&c);) negate_lit(w, POS(c.s));
  if (tsl__has(n, KW_NOT)) negate_lit(w, NEG(tsl__subschema(n, KW_NOT)));
  if (tsl__has(n, KW_CONST))
    negate_list(w, tsl__keyword(n, KW_CONST)->value, 1, tsl__keyword(n, KW_CONST)->value);
  if (tsl__has(n, KW_ENUM))
    negate_list(w, tsl__keyword(n, KW_ENUM)->value->items, tsl__keyword(n, KW_ENUM)->value->length,
                tsl__keyword(n, KW_ENUM)->value);
  if (tsl__has(n, KW_ANY_OF)) {
    const struct keyword_value *v = tsl__keyword(n, KW_ANY_OF);
    lit *all = tsl__schema_alloc(w->e->s, (v->count + 1) * sizeof *all);
    for (uint32_t i = 0; all && i < v->count; i++) all[i] = NEG(v->children[i]);
    if (all) way_of_lits(w, all, v->count);
  }
  if (tsl__has(n, KW_ONE_OF)) negate_one_of(w, tsl__keyword(n, KW_ONE_OF));
  if (tsl__has(n, KW_IF)) {
    lit condition = POS(tsl__subschema(n, KW_IF));
    way_of_lits(w, (lit[]){condition, NEG(tsl__subschema_or_true(n, KW_THEN))}, 2);
    way_of_lits(w, (lit[]){condition ^ 1, NEG(tsl__subschema_or_true(n, KW_ELSE))}, 2);
  }
  if (tsl__expand_unevaluated(w->e, n)) negate_unevaluated(w, s, tsl__expand_unevaluated(w->e, n));
  if (w->e->type == T_OBJECT) negate_object(w, s, n);
  if (w->e->type == T_ARRAY) negate_array(w, s, n);
  if (w->e->type == T_NUMBER) negate_number(w, n);
}
