/* core.c - a smallest set of keywords that clash, in several subschemas of one value.
 *
 * Problem   The keywords that clash often stand in different subschemas: in two branches of an
 *           allOf, or beside a reference and in what it leads to. "Because of /allOf" helps nobody
 *           who has ten of them.
 * Idea      Subschemas that all hold are parts: a node, and which of its keywords count. One
 *           keyword after the other is dropped as long as nothing satisfies the parts. What is left
 *           may clash inside a member or an item that must be there. Then the subschemas of that
 *           member are the parts to go on with.
 * Example   {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}],
 *           "properties": {"a": {"type": "integer"}}} -> parts {properties}, {properties,
 *           required}, and in "a" the parts {"type": "string"} and {"type": "integer"}.
 * Right     Without a keyword a value must satisfy less. But a keyword that others look at, such as
 *           `properties` beside `additionalProperties`, stays as long as these do.
 * Cost      Each trial makes one goal. It is the way to an error.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/report/core.h"

goal tsl__core_goal(struct schema *s, const sid *ids, uint32_t n) {
  lit lits[TSL__CORE_MAX];
  for (uint32_t i = 0; i < n; i++) lits[i] = POS(ids[i]);
  return tsl__schema_goal(s, lits, n, 0);
}

static bool nothing_satisfies(struct schema *s, const sid *ids, uint32_t n) {
  return tsl__schema_shortest(s, tsl__core_goal(s, ids, n)) == TSL__INF;
}

#define NAMES_MAX 100u /* required names that are tried one by one */

/* A copy of a node with some of its keywords; SID_TRUE on failure (sticky). */
static sid with_keywords(struct schema *s, sid id, uint64_t mask) {
  const struct node *n = tsl__node_of(s, id);
  struct node *copy = tsl__schema_alloc(s, sizeof *copy);
  struct keyword_value *values = tsl__schema_alloc(s, (KW_COUNT + 1) * sizeof *values);
  if (!copy || !values) return SID_TRUE;
  *copy = *n;
  copy->mask = n->mask & mask;
  copy->values = values;
  copy->strings = copy->not_strings = NULL;
  copy->looked_at = copy->nests = copy->has_scalars = false;
  copy->alone = copy->first = 0;
  for (unsigned k = 0; k < KW_COUNT; k++)
    if (tsl__has(copy, k)) *values++ = *tsl__keyword(n, k);
  if (!tsl__has(copy, KW_TYPE)) {
    copy->types = T_ALL;
    copy->integer = copy->digits = false;
  }
  tsl__node_limit_types(copy);
  if (!tsl__vec_push(s->alloc, &s->nodes, copy))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), SID_TRUE;
  if (s->nodes_read + 1 == s->nodes.n) s->nodes_read++;
  return (sid)s->nodes.n - 1;
}

void tsl__core_add(struct core *c, sid id, uint64_t mask) {
  const struct node *n = tsl__node_of(c->s, id);
  const uint64_t seen = OF(UNEVALUATED_ITEMS) | OF(UNEVALUATED_PROPERTIES);
  const bool flat = !(mask & seen); /* these look at what allOf and references say */
  for (uint32_t i = 0; i < c->n; i++)
    if (c->at[i].id == id) return;
  if (c->n == TSL__CORE_MAX) c->full = true;
  if (id == SID_TRUE || c->full) return;
  uint64_t own = flat ? mask & ~tsl__keyword_sets.conjunctive : mask;
  c->at[c->n++] =
      (struct core_part){id, own == n->mask ? id : with_keywords(c->s, id, own), own, NULL};
  for (struct conjuncts k = {.n = n}; flat && tsl__next_conjunct(&k);)
    if (mask >> tsl__conjunctive[k.keyword] & 1)
      tsl__core_add(c, k.s, tsl__node_of(c->s, k.s)->mask);
}

bool tsl__core_is_empty(const struct core *c) {
  sid ids[TSL__CORE_MAX];
  for (uint32_t i = 0; i < c->n; i++) ids[i] = c->at[i].copy;
  return nothing_satisfies(c->s, ids, c->n);
}

/* Is keyword k one that others of the mask look at? */
static bool is_looked_at(uint64_t mask, enum keyword k) {
  switch (k) {
  case KW_PROPERTIES:
  case KW_PATTERN_PROPERTIES: mask &= OF(ADDITIONAL_PROPERTIES) | OF(UNEVALUATED_PROPERTIES); break;
  case KW_PREFIX_ITEMS: mask &= OF(ITEMS) | OF(UNEVALUATED_ITEMS); break;
  case KW_ITEMS: mask &= OF(ADDITIONAL_ITEMS) | OF(UNEVALUATED_ITEMS); break;
  case KW_MIN_CONTAINS: mask &= OF(CONTAINS); break;
  case KW_NULLABLE: mask &= OF(TYPE); break;
  default:
    mask &= tsl__keyword_sets.in_place >> k & 1 ? OF(UNEVALUATED_ITEMS) | OF(UNEVALUATED_PROPERTIES)
                                                : 0;
  }
  return mask;
}

static void leave_out(struct core *c, struct core_part *p, enum keyword k) {
  p->mask &= ~((uint64_t)1 << k);
  p->copy = p->mask ? with_keywords(c->s, p->id, p->mask) : SID_TRUE;
}

/* Drop keyword k of a part, if it is not needed. */
static bool drop(struct core *c, uint32_t part, enum keyword k) {
  struct core_part *p = &c->at[part], before = *p;
  if (!(p->mask >> k & 1) || is_looked_at(p->mask, k)) return false;
  leave_out(c, p, k);
  if (tsl__schema_ok(c->s) && tsl__core_is_empty(c)) return true;
  *p = before;
  return false;
}

void tsl__core_replace(struct core *c, uint32_t part, enum keyword k, sid by) {
  leave_out(c, &c->at[part], k);
  tsl__core_add(c, by, tsl__node_of(c->s, by)->mask);
}

/* Where items must differ, fewer keywords beside that might be refused. */
static bool needs_unique(struct core *c) {
  bool needed = false;
  for (uint32_t i = 0; i < c->n && tsl__schema_ok(c->s); i++)
    if (c->at[i].mask & OF(UNIQUE_ITEMS)) needed |= !drop(c, i, KW_UNIQUE_ITEMS);
  return needed;
}

/* Find the required name of a part that is enough. */
static void keep_name(struct core *c, struct core_part *p) {
  const tsl__json *all = tsl__keyword(tsl__node_of(c->s, p->id), KW_REQUIRED)->value;
  const sid before = p->copy;
  for (uint32_t i = 0; i < all->length && i < NAMES_MAX && tsl__schema_ok(c->s); i++) {
    tsl__json *one = tsl__schema_alloc(c->s, sizeof *one);
    p->copy = one ? with_keywords(c->s, p->id, p->mask) : SID_TRUE;
    if (p->copy == SID_TRUE) break;
    struct keyword_value *v = /* the copy's own */
        (struct keyword_value *)tsl__keyword(tsl__node_of(c->s, p->copy), KW_REQUIRED);
    *one = *all;
    one->items = &all->items[i];
    one->length = 1;
    v->value = one;
    if (tsl__core_is_empty(c)) {
      p->name = &all->items[i];
      return;
    }
  }
  p->copy = before;
}

static void shrink_masks(struct core *c) {
  bool again = !needs_unique(c);
  while (again && tsl__schema_ok(c->s)) {
    again = false;
    for (uint32_t i = c->n; i-- > 0 && tsl__schema_ok(c->s);)
      for (unsigned k = KW_COUNT; k-- > 0;) again |= drop(c, i, (enum keyword)k);
  }
}

void tsl__core_shrink(struct core *c) {
  shrink_masks(c);
  for (uint32_t i = 0; i < c->n && tsl__schema_ok(c->s); i++)
    if (c->at[i].mask & OF(REQUIRED) && !(c->at[i].mask & OF(UNIQUE_ITEMS)))
      keep_name(c, &c->at[i]);
}

/* ---- inside ---------------------------------------------------------------------------------- */

/* The value of a keyword that counts, or NULL. */
static const struct keyword_value *counts(const struct core *c, uint32_t part, enum keyword k) {
  const struct core_part *p = &c->at[part];
  return p->mask >> k & 1 ? tsl__keyword(tsl__node_of(c->s, p->id), k) : NULL;
}

struct inside {
  sid ids[TSL__CORE_MAX];
  uint32_t n;
};

static void put(struct inside *to, sid id) {
  if (id != SID_TRUE && to->n < TSL__CORE_MAX) to->ids[to->n++] = id;
}

/* What a part says of a member. */
static void put_member(struct core *c, uint32_t part, const tsl__json *name, struct inside *to) {
  const struct keyword_value *v = counts(c, part, KW_PROPERTIES);
  const tsl__json *m = v ? tsl__json_get(v->value, name->text, name->length) : NULL;
  bool named = m != NULL;
  if (m) put(to, v->children[m - v->value->items]);
  v = counts(c, part, KW_PATTERN_PROPERTIES);
  for (uint32_t i = 0; v && i < v->count; i++) {
    if (!tsl__expr_matches(c->s->x, v->exprs[i], name->text, name->length)) continue;
    put(to, v->children[i]);
    named = true;
  }
  v = counts(c, part, KW_ADDITIONAL_PROPERTIES);
  if (v && !named) put(to, v->children[0]);
}

/* What a part says of the item at an index. */
static void put_item(struct core *c, uint32_t part, uint32_t index, struct inside *to) {
  const struct keyword_value *first = counts(c, part, KW_PREFIX_ITEMS),
                             *v = counts(c, part, KW_ITEMS);
  if (v && v->value->kind == TSL__JSON_ARRAY) {
    first = v;
    v = counts(c, part, KW_ADDITIONAL_ITEMS);
  }
  if (first && index < first->count)
    put(to, first->children[index]);
  else if (v)
    put(to, v->children[0]);
}

/* Are there subschemas that nothing satisfies together? `false` alone says so where it is. */
static bool clash(struct core *c, const struct inside *in) {
  for (uint32_t i = 0; i < in->n; i++)
    if (in->ids[i] == SID_FALSE) return false;
  return in->n && in->n < TSL__CORE_MAX && nothing_satisfies(c->s, in->ids, in->n);
}

static bool in_member(struct core *c, uint32_t part, struct inside *to) {
  const struct keyword_value *names = counts(c, part, KW_REQUIRED);
  for (uint32_t i = 0; names && i < names->value->length && tsl__schema_ok(c->s); i++) {
    to->n = 0;
    for (uint32_t k = 0; k < c->n; k++) put_member(c, k, &names->value->items[i], to);
    if (clash(c, to)) return true;
  }
  return false;
}

static bool in_item(struct core *c, uint32_t part, struct inside *to) {
  const struct keyword_value *least = counts(c, part, KW_MIN_ITEMS);
  for (uint32_t i = 0; least && i < least->count && i < TSL__CORE_MAX && tsl__schema_ok(c->s);
       i++) {
    to->n = 0;
    for (uint32_t k = 0; k < c->n; k++) put_item(c, k, i, to);
    if (clash(c, to)) return true;
  }
  return false;
}

/* An item that must be somewhere, where all items are alike. */
static bool in_contained(struct core *c, uint32_t part, struct inside *to) {
  const struct keyword_value *v = counts(c, part, KW_CONTAINS);
  to->n = 0;
  if (!v) return false;
  put(to, v->children[0]);
  for (uint32_t k = 0; k < c->n; k++) {
    const struct keyword_value *items = counts(c, k, KW_ITEMS);
    if (counts(c, k, KW_PREFIX_ITEMS) || (items && items->value->kind == TSL__JSON_ARRAY))
      return false;
    put_item(c, k, 0, to);
  }
  return clash(c, to);
}

uint32_t tsl__core_inside(struct core *c, sid out[TSL__CORE_MAX]) {
  struct inside in = {.n = 0};
  for (uint32_t i = 0; i < c->n && tsl__schema_ok(c->s); i++)
    if (in_member(c, i, &in) || in_item(c, i, &in) || in_contained(c, i, &in)) {
      memcpy(out, in.ids, sizeof in.ids);
      return in.n;
    }
  return 0;
}
