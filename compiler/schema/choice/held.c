/* held.c - branches of a choice that stay apart, each with clauses of its own.
 *
 * Problem   {"anyOf": [A, B, C, …], "unevaluatedProperties": false}: each branch is some clauses,
 *           and the disjunction of n branches multiplies them to 2^n. There are as many
 *           alternatives: which members are evaluated depends on all branches that hold, so each
 *           set of branches is an alternative.
 * Idea      The clauses of a branch become clauses of the object that need not be fulfilled. Its
 *           state has a bit for each anyway. The atom ATOM_HOLDS says that all clauses of its
 *           branch are fulfilled. So a state knows the branches that still can hold, and no set of
 *           branches is chosen before a member decides.
 * Example   A = "k is 1, if it is there; a is a string, if it is there", B the same with 2 and b.
 *           The clauses are (A holds ∨ B holds), (a absent ∨ A holds) and (b absent ∨ B holds).
 *           Beside them stand (k absent ∨ k is 1) of A and (k absent ∨ k is 2) of B. After k = 1
 *           the second one is hopeless: B cannot hold any more, so b cannot come.
 * When      Where the product would be more than PRODUCT_MAX. A branch of one clause needs no bit:
 *           that clause joins the others.
 * Only      No bit says that a branch fails. A branch may count as failed though a value could have
 *           satisfied it; then another way of that value (ways.c) has the branch hold.
 * Cost      The clauses of all branches, HELD_CLAUSES at most; HELD_MAX branches of a choice.
 * Tested by tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/choice/clause.h"

#define NO_LIT UINT32_MAX /* of a branch that stands for several conditions */

static const struct held_branch *find(const struct saying *y, lit l) {
  const struct held_branch *h = y->held;
  while (h && h->l != l) h = h->next;
  return h;
}

static const struct atom *atom_of(struct saying *y, const struct held_branch *h,
                                  const struct atom *next) {
  struct atom *a = tsl__expand_atom(y->e, next, ATOM_HOLDS, NULL, 0, 0);
  if (a) a->held = h;
  return a;
}

const struct atom *tsl__held_atom(struct saying *y, lit l) {
  const struct held_branch *h = find(y, tsl__schema_simplify(y->e->s, l));
  return h ? atom_of(y, h, NULL) : NULL;
}

static const struct held_branch *keep(struct saying *y, lit l, const struct clauses *said) {
  if (y->held_clauses + said->n > HELD_CLAUSES) return NULL;
  struct held_branch *h = tsl__schema_alloc(y->e->s, sizeof *h + said->n * sizeof *h->at);
  if (!h) return NULL;
  *h = (struct held_branch){.next = y->held, .l = l, .n = said->n};
  memcpy(h->at, said->at, said->n * sizeof *said->at);
  y->held = h;
  y->held_clauses += said->n;
  return h;
}

bool tsl__clauses_held(struct saying *y, const struct keyword_value *v, struct clauses *out) {
  const struct atom *any = NULL;
  if (v->count > HELD_MAX) return false;
  for (uint32_t i = 0; i < v->count; i++) {
    struct clauses one = {.n = 0};
    const lit l = tsl__schema_simplify(y->e->s, POS(v->children[i]));
    const struct held_branch *h = find(y, l);
    if (!h && !tsl__clauses_say(y, l, &one)) return false;
    if (one.never) continue;
    if (!h && !one.n) return tsl__schema_ok(y->e->s); /* a branch that always holds */
    if (!h && one.n > 1 && !(h = keep(y, l, &one))) return false;
    any = h ? atom_of(y, h, any) : tsl__atoms_joined(y, one.at[0], any);
    if (!any) return false;
  }
  return tsl__clauses_and_one(out, any);
}

bool tsl__clauses_held_together(struct saying *y, struct clauses *all) {
  const struct held_branch *h = keep(y, NO_LIT, all);
  all->at[0] = h ? atom_of(y, h, NULL) : NULL;
  all->n = 1;
  return all->at[0] != NULL;
}

void tsl__expand_held(struct saying *y, struct branch *b) {
  for (const struct held_branch *h = y->held; h; h = h->next)
    for (uint32_t i = 0; i < h->n; i++) {
      struct part *p = tsl__expand_part(y->e, b, PART_CLAUSE);
      if (!p) return;
      p->atoms = h->at[i];
      p->held = h;
    }
}

uint32_t tsl__held_count(const struct branch *b) {
  uint32_t n = 0;
  for (const struct part *p = b->parts; p; p = p->next) n += p->kind == PART_CLAUSE && p->held;
  return n;
}
