/* array.h - arrays as a frame of the matcher follows them: items by place, counters, states.
 *
 * Of {"prefixItems": [A], "items": B, "contains": C} the first item has the goal A and all others
 * B. A counter wants at least one item that satisfies C. A state is the number of items so far,
 * clamped where more makes no difference, and the counts.
 *
 * items.c makes an array out of parts, and array.c follows it. unique/ leaves it to the runtime
 * that no two items are equal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_ARRAY_H
#define TSL_COMPILER_SCHEMA_ARRAY_H

#include "compiler/schema/goal.h"

/* ---- arrays ---------------------------------------------------------------------------------- */

struct counter { /* of the items from `from` on, min to max satisfy l */
  lit l;
  uint32_t from, min, max;
};

struct array {
  struct schema *schema;
  uint32_t level, prefix_count, counter_count, value_count;
  goal *prefix; /* the first items */
  goal rest;    /* all others */
  uint32_t min, max;
  struct counter *counters;
  /* with uniqueItems: all different values that items may have, strings first */
  const tsl__json **values;
  uint32_t string_count;
  tsl__stringset strings; /* the strings among them; values are in its order */
  bool unique;            /* with the list */
  bool guarded;           /* unique otherwise: see unique/unique.c */
  bool repeats;           /* some two items are equal */
  /* guarded: values { "const": … } whose use the state knows, as else there might be none left for
   * an item that is needed */
  const lit *listed;
  uint32_t listed_count;
  const struct unused_value *by_bytes;     /* with the list, memo of unique/ends.c */
  const struct listed_kinds *listed_kinds; /* memo of unique/ends.c; NULL: not made yet */
  bool any;                                /* no constraint at all */
};

struct array_state {
  struct array *array;
  uint32_t index;    /* items so far, clamped */
  uint32_t shortest; /* bytes from after an item to the end */
  uint32_t round;    /* in which that was found; UINT32_MAX: for good */
  tsl__expr next;
  uint32_t words;
  /* one count per counter, then bits: values used (listed ones, or all of them) */
  uint64_t data[];
};

/* ---- array.c --------------------------------------------------------------------------------- */
struct array *tsl__array_new(struct schema *s, uint32_t level, const struct part *parts);
/* The same of a subschema that says of arrays what all items are and how many, and nothing else.
 * False: nothing can satisfy it. */
bool tsl__array_plain(struct schema *s, uint32_t level, sid id, struct array *out);
tsl__expr tsl__array_body(struct array *a);
/* The same without how all arrays begin (gaps.begin_array). */
tsl__expr tsl__array_rest(struct array *a);
uint32_t tsl__array_shortest(struct array *a);
bool tsl__array_possible(struct array *a);

/* ---- unique/ --------------------------------------------------------------------------------- */
/* Leave it to the runtime that items are unique. False: nothing satisfies the array, or a failure.
 * `at` is blamed. */
bool tsl__array_guard(struct array *a, const tsl__json *at);
/* Every spelling of null, false, true or a number (NONE: it has too many digits), and of strings
 * given by their texts. */
tsl__expr tsl__schema_spell_scalar(struct schema *s, const tsl__json *v);
tsl__expr tsl__schema_spell_strings(struct schema *s, const tsl__string *texts, uint32_t n);
/* Value i of an array with the list, and its fewest bytes. */
tsl__expr tsl__array_value(struct array *a, uint32_t i);
uint32_t tsl__array_value_bytes(struct array *a, uint32_t i);
/* The fewest bytes of so many values that were not used; TSL__INF: there are not so many. */
uint32_t tsl__array_unused_bytes(struct array *a, uint32_t need, const uint64_t *used);
/* Is there a listed value that was not used, which counts as value i does and is cheaper? */
bool tsl__array_has_cheaper(struct array *a, const uint64_t *used, uint32_t i);
/* The fewest bytes of the items that are still needed, *items of them, with one counter at most and
 * where the order does not matter. So many were counted, and those listed values were used. */
uint32_t tsl__array_listed_bytes(struct array *a, uint32_t index, uint64_t count,
                                 const uint64_t *used, uint32_t *items);
/* The runtime has something to remember. */
void tsl__schema_guard(struct schema *s);
/* An empty schema to make values in, members in any order. NULL after a failure. (schema.c) */
struct schema *tsl__schema_blank(tsl__exprs *x);

/* ---- both ------------------------------------------------------------------------------------ */
static inline uint32_t tsl__larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t tsl__smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

#endif
