/* expand.h - what conj.c, which expands a goal into alternatives, and clause.c, which says
 * disjunctions in clauses, share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_EXPAND_H
#define TSL_COMPILER_SCHEMA_EXPAND_H

#include "compiler/schema/parts.h"

struct pending {
  const struct pending *next;
  const struct tracker *tracker; /* what it evaluates counts for; NULL: nobody asks */
  lit l;
};

struct choice { /* a disjunction that waits: keyword k of node s */
  const struct choice *next;
  const struct tracker *tracker;
  sid s;
  uint8_t keyword;
};

struct negation { /* a whole node that waits to be negated */
  const struct negation *next;
  sid s;
};

/* the properties of node s are evaluated for the tracker where all of these clauses are
 * fulfilled */
struct seen {
  const struct seen *next;
  const struct tracker *tracker;
  sid s;
  uint32_t n;
  const struct atom *when[];
};

struct branch {                   /* one way to go on */
  const struct taken *taken;      /* nodes that hold */
  const tsl__number_spec *number; /* numbers: all parts so far together; NULL: none */
  const struct part *parts;
  const struct pending *pending;
  const struct choice *choices;
  const struct seen *seen; /* by choices that became clauses */
  /* these when nothing else is left: what holds by then makes most of them plain */
  const struct negation *negations;
};

struct leaf { /* a conjunction that was found */
  const struct part *parts;
  const tsl__number_spec *number;
};

struct expansion {
  struct schema *s;
  uint8_t type;
  tsl__schema_leaf *leaf;
  void *ctx;
  uint32_t leaves, looked, depth;
  uint32_t width;  /* branches of all choices that were met */
  bool in_clauses; /* choices are to become clauses where they can */
  bool looks;      /* leaves are kept until it is known that they are few */
  bool many;       /* they are not */
  TSL__VEC(struct leaf) kept;
  TSL__VEC(struct choice) met;
};

/* ---- conj.c ---------------------------------------------------------------------------------- */
struct atom *tsl__expand_atom(struct expansion *e, const struct atom *next, enum atom_kind kind,
                              const char *key, uint32_t length, lit l);
struct part *tsl__expand_part(struct expansion *e, struct branch *b, enum part_kind kind);
/* A clause; one that has a single atom is said with parts, one that has none is what nothing
 * satisfies. */
void tsl__expand_clause(struct expansion *e, struct branch *b, const struct atom *atoms);
/* What node s says of objects by keywords of its own, but for enum, const and combinations,
 * negated: one of the atoms, in front of those there are. False: that is more than atoms say. */
bool tsl__expand_negated(struct expansion *e, sid s, const struct atom **atoms);
static inline sid tsl__child_or_true(const struct node *n, enum keyword k) {
  return tsl__has(n, k) ? tsl__keyword(n, k)->children[0] : SID_TRUE;
}

/* ---- clause.c -------------------------------------------------------------------------------- */
/* Say the disjunction that a keyword of node s is in clauses, with what it evaluates for the
 * tracker, if somebody asks (else NULL). False: it cannot be said in few. */
bool tsl__expand_in_clauses(struct expansion *e, struct branch *b, sid s, enum keyword k,
                            const struct tracker *tracker);
/* Say of a conjunction's members which of them are evaluated. */
void tsl__expand_seen(struct expansion *e, struct branch *b);

#endif
