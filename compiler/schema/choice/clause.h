/* clause.h - conjunctions of clauses, while choices become clauses.
 *
 * clause.c says keywords in clauses, held.c says branches that would multiply them, and seen.c says
 * which members are evaluated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_CHOICE_CLAUSE_H
#define TSL_COMPILER_SCHEMA_CHOICE_CLAUSE_H

#include "compiler/schema/goal.h"

#define CLAUSES_MAX 60u   /* of one choice */
#define CLAUSES_ALL 240u  /* of one object; negations make some as well */
#define PRODUCT_MAX 16u   /* of what is multiplied out */
#define HELD_MAX 96u      /* branches of a choice that are not multiplied out */
#define HELD_CLAUSES 320u /* of all these branches of an object */
#define SEEN_MAX (HELD_MAX + HELD_CLAUSES)

/* A conjunction. */
struct clauses {
  const struct atom *at[CLAUSES_MAX];
  uint32_t n;
  bool never; /* one of them has no atoms */
};

/* A node whose properties have a place in the order of members. */
struct place {
  struct place *next;
  sid s;
};

struct saying {
  struct expansion *e;
  const struct tracker *tracker;
  uint32_t depth;
  struct place *first, **last;
  const struct seen *seen;
  const struct held_branch *held; /* branches that are kept apart; the last one first */
  uint32_t held_clauses;          /* of all of them */
};

static inline bool tsl__same_key(const struct atom *a, const struct atom *b) {
  return a->key_length == b->key_length && !memcmp(a->key, b->key, a->key_length);
}

static inline bool tsl__atoms_have(const struct atom *atoms, enum atom_kind kind,
                                   const struct atom *key, lit l) {
  for (; atoms; atoms = atoms->next)
    if (atoms->kind == kind && atoms->l == l && tsl__same_key(atoms, key)) return true;
  return false;
}

/* ---- clause.c -------------------------------------------------------------------------------- */
/* *all = all and one clause, or and all those of another conjunction, or: or those. False: there
 * is no room. */
bool tsl__clauses_and_one(struct clauses *all, const struct atom *atoms);
bool tsl__clauses_or(struct saying *y, struct clauses *all, const struct clauses *more);
/* The atoms of both; NULL on failure (sticky). */
const struct atom *tsl__atoms_joined(struct saying *y, const struct atom *a, const struct atom *b);
/* *out = out and l. False: clauses do not say it, or it takes too many. */
bool tsl__clauses_say(struct saying *y, lit l, struct clauses *out);

/* ---- held.c ---------------------------------------------------------------------------------- */
/* *out = out and: one of the branches holds. False: as above. */
bool tsl__clauses_held(struct saying *y, const struct keyword_value *v, struct clauses *out);
/* The atom that the branch holds, if it is one of those kept apart; else NULL. */
const struct atom *tsl__held_atom(struct saying *y, lit l);
/* Make one clause of them: a branch of that many clauses holds. False: there is no room. */
bool tsl__clauses_held_together(struct saying *y, struct clauses *all);
/* Give the object what the branches say. */
void tsl__expand_held(struct saying *y, struct branch *b);
/* How many clauses of such branches has the conjunction? */
uint32_t tsl__held_count(const struct branch *b);

/* ---- seen.c ---------------------------------------------------------------------------------- */
/* Does the node name the member? */
bool tsl__names_member(const struct schema *s, sid id, const tsl__json *key);
/* How many clauses does the conjunction have once they say which members are evaluated? */
uint32_t tsl__seen_count(struct expansion *e, struct branch *b);

#endif
