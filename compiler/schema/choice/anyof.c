/* anyof.c - the branches of an anyOf: at least one of them holds.
 *
 * Problem   An anyOf is a choice, and each choice multiplies the alternatives of an object. Most
 *           need no alternative: one branch holds anyway, or the branches only demand members.
 * Idea      Four ways, the cheapest first. (1) A branch that certainly holds ends the choice. (2)
 *           Branches that each demand or forbid one member become one clause. (3) A branch that
 *           another one covers is left out. (4) Each branch that is left is an alternative.
 * Trackers  Where unevaluatedProperties or unevaluatedItems looks at the object, it matters which
 *           branches hold together. Then each set of branches is an alternative, except sets of
 *           branches that are plainly disjoint.
 * Example   anyOf: [{required: [a]}, {required: [b]}] is the clause {a present, b present}, and no
 *           alternative besides. Beside unevaluatedProperties it is {a}, {b}, and {a, b}.
 * Cost      A call for each branch; n² comparisons for at most COVERED_MAX branches. With trackers
 *           as many alternatives as there are sets, TSL__SCHEMA_ALTERNATIVES at most.
 * Tested by tests/schema/test_schema.c, tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

/* The one atom that a lit is for objects, if it is one: {required: [k]}, its negation, nothing else
 * beside. */
static bool as_atom(struct expansion *e, lit l, const struct atom *next, struct atom **out) {
  l = tsl__schema_simplify(e->s, l);
  const struct node *n = tsl__node_of(e->s, l >> 1);
  if ((n->mask & ~OF(TYPE)) != OF(REQUIRED) || !(n->types & T_OBJECT)) return false;
  const tsl__json *names = tsl__keyword(n, KW_REQUIRED)->value;
  if (names->length != 1) return false;
  *out = tsl__expand_atom(e, next, l & 1 ? ATOM_ABSENT : ATOM_KEY, names->items[0].text,
                          names->items[0].length, POS(SID_TRUE));
  return *out != NULL;
}

/* anyOf as one clause; false if a branch is no atom. */
static bool any_of_clause(struct expansion *e, struct branch *b, const struct keyword_value *v) {
  struct atom *atoms = NULL;
  if (e->type != T_OBJECT) return false;
  for (uint32_t i = 0; i < v->count; i++)
    if (!tsl__schema_impossible(e->s, e->type, POS(v->children[i])) &&
        !as_atom(e, POS(v->children[i]), atoms, &atoms))
      return false;
  tsl__expand_clause_part(e, b, atoms);
  return true;
}

/* The alternatives that were chosen so far, where somebody looks at what they evaluate: one or
 * several hold. */
struct chosen {
  const struct chosen *before;
  sid s;
};

static bool apart_from(struct expansion *e, const struct chosen *c, sid s) {
  for (; c; c = c->before)
    if (tsl__schema_work(e->s, 16) && tsl__schema_disjoint(e->s, e->type, c->s, s)) return true;
  return false;
}

/* For unevaluated…: every set of branches that hold, from `i` on. Where more is evaluated less is
 * demanded, so the other branches need not fail; under a negation they must. */
static void expand_tracked_any_of(struct expansion *e, const struct branch *b,
                                  const struct keyword_value *v, uint32_t i,
                                  const struct chosen *before, const struct tracker *tracker) {
  struct branch without = *b;
  bool sure = false;
  for (bool goes_on = tsl__expand_deeper(e);
       goes_on && !e->many && i < v->count && !sure && tsl__schema_ok(e->s); i++) {
    lit l = POS(v->children[i]);
    if (tsl__schema_impossible(e->s, e->type, l) || apart_from(e, before, v->children[i])) continue;
    struct branch with = without;
    const struct chosen now = {before, v->children[i]};
    tsl__expand_want(e, &with, l, i, tracker);
    expand_tracked_any_of(e, &with, v, i + 1, &now, tracker);
    sure = tracker->exact && tsl__expand_certain(e->s, e->type, l);
    if (tracker->exact) tsl__expand_want(e, &without, l ^ 1, i, NULL);
  }
  if (before && !sure && tsl__schema_ok(e->s)) tsl__expand_on(e, without);
  e->depth--;
}

#define COVERED_MAX 16u /* alternatives that are compared with all others */

/* Does another alternative take all that this one does? */
static bool covered(struct expansion *e, const struct keyword_value *v, uint32_t i) {
  if (v->count > COVERED_MAX) return false;
  for (uint32_t j = 0; j < v->count; j++)
    if (j != i && tsl__schema_says_all(e->s, v->children[i], v->children[j]) &&
        (j < i || !tsl__schema_says_all(e->s, v->children[j], v->children[i])))
      return true;
  return false;
}

void tsl__expand_any_of(struct expansion *e, struct branch *b, const struct keyword_value *v,
                        const struct tracker *tracker) {
  if (tracker) {
    expand_tracked_any_of(e, b, v, 0, NULL, tracker);
    return;
  }
  for (uint32_t i = 0; i < v->count; i++) {
    if (!tsl__expand_certain(e->s, e->type, POS(v->children[i])) &&
        !tsl__schema_held(e->s, b->facts, v->children[i]))
      continue;
    tsl__expand_on(e, *b);
    return;
  }
  if (any_of_clause(e, b, v)) {
    tsl__expand_on(e, *b);
    return;
  }
  for (uint32_t i = 0; i < v->count && tsl__schema_ok(e->s); i++)
    if (!covered(e, v, i)) tsl__expand_with(e, b, (lit[]){POS(v->children[i])}, 1, NULL);
}
