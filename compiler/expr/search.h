/* search.h - a search through the derivatives of an expression, shared by the files that ask for a
 * text: empty.c (is there one?), shortest.c (how short?) and count.c (how many?).
 *
 * A graph holds the expressions that were reached, each with the byte string that led there as a
 * chain of visits. A heap has those to go on from, the most promising first.
 *
 * Example   From a(b|c): visit 0 is a(b|c), and `a` leads to visit 1, b|c, with from = 0 and cost =
 *           1. From there `b` and `c` both lead to ε, which is one visit.
 * Cost      One probe of a hash table for each derivative, and a heap of the visits that are open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_SEARCH_H
#define TSL_COMPILER_EXPR_SEARCH_H

#include "compiler/expr/kind.h"

typedef struct tsl__visit {
  tsl__expr e;
  uint32_t from; /* index of the visit that led here; its own, of the first */
  uint32_t cost; /* bytes from the start, or what stands for them in the order */
  uint32_t next; /* byte to go on with */
} tsl__visit;

typedef struct tsl__graph {
  TSL__VEC(tsl__visit) visits;
  TSL__VEC(uint32_t) queue; /* indices of visits: a binary heap by key */
  TSL__VEC(uint64_t) keys;  /* of the heap entries */
  uint32_t *slots;          /* visit index + 1 */
  uint32_t slot_count;      /* power of two; twice the visits at least */
} tsl__graph;

void tsl__graph_free(const tsl_allocator *a, tsl__graph *g);
/* Where the index of e's visit is, plus 1, or belongs. There must be a free slot. */
uint32_t *tsl__graph_slot(tsl__graph *g, tsl__expr e);
/* False: out of memory, as below. */
bool tsl__graph_grow(const tsl_allocator *a, tsl__graph *g);
bool tsl__graph_push(const tsl_allocator *a, tsl__graph *g, uint64_t key, uint32_t index);
/* The index of the visit with the least key; the queue is not empty. */
uint32_t tsl__graph_pop(tsl__graph *g);
/* Adds a visit unless the expression was seen at no greater cost. */
bool tsl__graph_add(const tsl_allocator *a, tsl__graph *g, tsl__visit v, uint64_t key);

/* What a search goes by. BY_HOPE: the bound of what is left, and a known text ends the search.
 * BY_LENGTH, BY_SPELLING: bytes so far and left, as they are or as a JSON string spells them.
 * BY_TEXT: as BY_HOPE, but characters are counted and no search ends where they are not.
 * BY_CHARACTERS: characters so far and left. */
typedef enum tsl__order {
  TSL__BY_HOPE,
  TSL__BY_LENGTH,
  TSL__BY_SPELLING,
  TSL__BY_TEXT,
  TSL__BY_CHARACTERS
} tsl__order;
/* Adds the derivatives of visit `index`. False on failure (sticky). (empty.c) */
bool tsl__search_expand(tsl__exprs *x, tsl__graph *g, uint32_t index, tsl__order by);

/* ---- size.c: what an expression says about its texts without a search ------------------------ */

#define TSL__AT_LEAST_NODES 256u /* that are looked at */
#define TSL__ENDLESS UINT64_MAX

/* An expression has at least so many texts. More than none only where that is certain, even if a
 * meet in it is empty, which a search may have made. *left: nodes that may still be looked at. */
uint64_t tsl__at_least(const tsl__exprs *x, tsl__expr e, uint32_t *left);
/* The same of a meet of texts and complements of finite sets. */
uint64_t tsl__at_least_both(const tsl__exprs *x, const tsl__node *n, uint32_t *left);
/* Is it a meet of texts with a length that one of these texts has? */
bool tsl__has_length(const tsl__exprs *x, const tsl__node *n);

#endif
