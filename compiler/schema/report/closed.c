/* closed.c - names that a closed object forbids, although another subschema speaks about them.
 *
 * Problem   `additionalProperties` sees the properties beside it, and none of allOf, anyOf, then or
 *           a reference. People close an object that has its properties there. Then only {} is
 *           left, or nothing.
 * Idea      List the subschemas that speak about the same object. For each one that always holds
 *           and is closed, look for a name in the others that it has no place for. Two subschemas
 *           are compared at the innermost schema that holds both, so each pair is found once.
 * Example   {"type": "object", "allOf": [{"properties": {"a": {}}}], "additionalProperties": false}
 *           -> "a" can never be written, as /additionalProperties sees only the properties beside
 *           it.
 * Limits    64 subschemas of one object, and `left` comparisons of names for a whole report.
 * Cost      names × properties of the closed subschema. Paid by the report and by errors.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/goal.h"
#include "compiler/schema/report/doubts.h"

#define PARTS_MAX 64u
#define FOUND_COST (1u << 14) /* its pointer is a search through the text */

/* A subschema that speaks about the same object as the one that is looked at. */
struct part_of {
  const struct node *n;
  uint32_t branch;  /* the child of the schema that is looked at; 0: that schema itself */
  enum keyword via; /* the keyword of that child */
  bool always;      /* it holds wherever that schema does */
};

struct parts_of {
  struct part_of at[PARTS_MAX];
  uint32_t n, branches;
};

static bool always_holds(enum keyword k) {
  return k == KW_REF || k == KW_ALL_OF || k == KW_EXTENDS;
}

static bool may_hold(const struct node *n, enum keyword k) {
  return k == KW_ANY_OF || k == KW_ONE_OF || k == KW_DEPENDENT_SCHEMAS || k == KW_DEPENDENCIES ||
         ((k == KW_THEN || k == KW_ELSE) && tsl__has(n, KW_IF));
}

/* Add the children of one part. */
static void add_children(const struct schema *s, struct parts_of *all, uint32_t from) {
  const struct part_of p = all->at[from];
  for (enum keyword k = 0; k < KW_COUNT; k++) {
    const struct keyword_value *v =
        always_holds(k) || may_hold(p.n, k) ? tsl__keyword_or_null(p.n, k) : NULL;
    for (uint32_t i = 0; v && i < v->count && all->n < PARTS_MAX; i++) {
      if (v->children[i] <= SID_FALSE || v->children[i] == UINT32_MAX) continue;
      all->at[all->n++] = (struct part_of){.n = tsl__node_of(s, v->children[i]),
                                           .branch = from ? p.branch : ++all->branches,
                                           .via = from ? p.via : k,
                                           .always = p.always && always_holds(k)};
    }
  }
}

/* Does the closed subschema lack the name? */
static bool lacks(const struct node *closed, const char *name, uint32_t n, uint64_t *left) {
  const struct keyword_value *v = tsl__keyword_or_null(closed, KW_PROPERTIES);
  const uint64_t cost = 1 + (v ? v->count : 0);
  if (*left < cost) return *left = 0, false;
  *left -= cost;
  return !v || !tsl__json_get(v->value, name, n);
}

static bool lacks_one_of(const struct node *closed, const tsl__json *names, uint64_t *left,
                         struct tsl__forbidden *out) {
  for (uint32_t i = 0; names->kind == TSL__JSON_ARRAY && i < names->length; i++) {
    const tsl__json *name = &names->items[i];
    if (!lacks(closed, name->text, name->length, left)) continue;
    *out = (struct tsl__forbidden){.name = name->text, .length = name->length, .at = name};
    return true;
  }
  return false;
}

/* The first name that `asks` requires, maybe under a condition, and that the other lacks. */
static bool lacks_required(const struct node *asks, const struct node *closed, uint64_t *left,
                           struct tsl__forbidden *out) {
  static const enum keyword lists[] = {KW_DEPENDENT_REQUIRED, KW_DEPENDENCIES};
  const struct keyword_value *v = tsl__keyword_or_null(asks, KW_REQUIRED);
  if (v && asks != closed && lacks_one_of(closed, v->value, left, out)) return true;
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    v = tsl__keyword_or_null(asks, lists[k]);
    for (uint32_t i = 0; v && i < v->value->length; i++)
      if (lacks_one_of(closed, &v->value->items[i], left, out)) return true;
  }
  return false;
}

/* The first property of `asks` that the other lacks. */
static bool lacks_property(const struct schema *s, const struct node *asks,
                           const struct node *closed, uint64_t *left, struct tsl__forbidden *out) {
  const struct keyword_value *v = tsl__keyword_or_null(asks, KW_PROPERTIES);
  for (uint32_t i = 0; v && asks != closed && i < v->count; i++) {
    const tsl__json *m = &v->value->items[i];
    if (tsl__schema_simplify(s, POS(v->children[i])) == POS(SID_FALSE) ||
        !lacks(closed, m->key, m->key_length, left))
      continue;
    *out = (struct tsl__forbidden){.name = m->key, .length = m->key_length, .at = m};
    return true;
  }
  return false;
}

/* Does the closed subschema choose some of the properties of the other one? That may be meant. */
static bool chooses(const struct node *closed, const struct node *asks, uint64_t *left) {
  const struct keyword_value *v = tsl__keyword_or_null(closed, KW_PROPERTIES);
  for (uint32_t i = 0; v && i < v->count; i++)
    if (lacks(asks, v->value->items[i].key, v->value->items[i].key_length, left)) return false;
  return v && v->count;
}

/* May the names of a be compared with those that c allows? */
static bool compared(const struct part_of *c, const struct part_of *a, uint64_t *left) {
  if (c == a || !c->branch) return c == a || a->n != c->n;
  return a->n != c->n && a->branch != c->branch &&
         (a->always || a->via == KW_THEN || a->via == KW_ELSE) && !chooses(c->n, a->n, left);
}

static bool declares(const struct node *n, const struct tsl__forbidden *f) {
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
  return v && tsl__json_get(v->value, f->name, f->length);
}

bool tsl__schema_forbidden(const struct schema *s, const struct node *n, bool required,
                           uint64_t *left, struct tsl__forbidden *out) {
  struct parts_of all = {.n = 1};
  if (!(n->mask & (tsl__keyword_sets.in_place | OF(DEPENDENT_REQUIRED) | OF(DEPENDENT_SCHEMAS) |
                   OF(DEPENDENCIES))))
    return false;
  all.at[0] = (struct part_of){.n = n, .always = true, .via = KW_ADDITIONAL_PROPERTIES};
  for (uint32_t i = 0; i < all.n; i++) add_children(s, &all, i);
  for (uint32_t i = 0; i < all.n; i++) {
    const struct part_of *c = &all.at[i];
    if (!c->always || !tsl__schema_closed(s, c->n)) continue;
    for (uint32_t j = 0; j < all.n && *left; j++) {
      const struct node *asks = all.at[j].n;
      if (!compared(c, &all.at[j], left)) continue;
      if (!lacks_required(asks, c->n, left, out) &&
          (required || !lacks_property(s, asks, c->n, left, out)))
        continue;
      out->closed = c->n;
      out->via = c->via;
      out->declared = asks != c->n && declares(asks, out);
      *left -= *left < FOUND_COST ? *left : FOUND_COST;
      return true;
    }
  }
  return false;
}

void tsl__schema_say_forbidden(const struct schema *s, const struct tsl__forbidden *f,
                               bool required, char *out) {
  const tsl__json *rest = tsl__keyword(f->closed, KW_ADDITIONAL_PROPERTIES)->value;
  const int shown = tsl__shown(f->name, f->length, TSL__NAME_SHOWN);
  char pointer[TSL__DOUBT_MAX / 4];
  const size_t n = tsl__json_pointer(s->root, rest, pointer, sizeof pointer);
  const bool newer = s->resources.at[f->closed->resource].draft & (D19 | D20 | AUTO);
  snprintf(out, TSL__DOUBT_MAX,
           "\"%.*s\" %s, %s %s sees only the properties beside it: name \"%.*s\" there%s", shown,
           f->name, required ? "is required" : "can never be written", required ? "but" : "as",
           n < sizeof pointer ? pointer : "additionalProperties of another document", shown,
           f->name, newer && f->declared ? ", or use unevaluatedProperties on the outside" : "");
}
