/* number.h - which JSON numbers satisfy a set of constraints, as a logic and as an expression.
 *
 * A spec is a conjunction: integral or not, bounds, multiples, non-multiples, excluded values, and
 * how the number may be spelled. All decisions are exact decimal arithmetic (decimal.h). A
 * canonical spec (made by tsl__number_intersect) has at most one multiple, bounds that are members
 * where the members are discrete, and no redundant entries. So equal sets mostly have equal
 * canonical specs.
 *
 * The expression of a spec matches every RFC 8259 spelling of every number in it. Examples: `15`,
 * `15.0`, `1.50e1`, `150E-01` for 15, `0`, `-0`, `0.0e7` for zero. What has been read determines,
 * for each exponent that may follow, whether the number is in the set; see state.c. With PRINTED it
 * matches those spellings that printers of JSON write; see printed.c.
 *
 * Limits    The length of a number's text has no limit, except for unconstrained integers
 *           (integer.c). tsl__expr_shortest is exact up to 4,400 bytes, and answers 4,400 for
 *           longer ones. Only numbers without an exponent, or huge non-integers, take that long.
 *           For multiples of more than 108 digits it is a proved lower bound.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_NUMBER_H
#define TSL_COMPILER_NUMBER_NUMBER_H

#include "compiler/number/decimal.h"
#include "compiler/expr/expr.h"

/* Constraints on the text rather than the value; a set of flags. */
/* no fraction and no exponent: what drafts 3 and 4 call an integer */
#define TSL__SPELL_DIGITS 1u
/* with a fraction or an exponent (or both): what they say is no integer. With DIGITS: empty */
#define TSL__SPELL_MARKED 2u
#define TSL__SPELL_PLAIN 4u /* no exponent */
/* as printers of JSON write numbers, in bounded length (printed.c); goes with DIGITS and MARKED */
#define TSL__SPELL_PRINTED 8u
#define TSL__SPELL_ALL 15u

/* Entries of a canonical spec; more is TSL_ERR_LIMIT. (Its bounds may have more digits than
 * TSL__DECIMAL_DIGITS: up to 4,000.) */
#define TSL__NUMBER_NON_MULTIPLES 16u
#define TSL__NUMBER_EXCLUDED 1024u

/* Zero-initialised: every number. Arrays are borrowed; tsl__number_intersect copies what it keeps
 * to its arena. */
typedef struct tsl__number_spec {
  bool empty;       /* canonical form of "no number": nothing else is set */
  bool integer;     /* integral values only (1.0 and 1e2 too); the same as a multiple of 1 */
  bool not_integer; /* no integral values; the same as a non-multiple of 1 */
  bool has_min, has_max, min_exclusive, max_exclusive;
  uint32_t spelling; /* TSL__SPELL_… */
  tsl__decimal min, max;
  const tsl__decimal *multiples;     /* the value is a multiple of each; all positive */
  const tsl__decimal *non_multiples; /* the value is not a multiple of any; all positive */
  const tsl__decimal *excluded;      /* the value is none of these */
  uint32_t multiple_count, non_multiple_count, excluded_count;
  /* of a const or enum: how the schema writes this number, which is no constraint; NULL: not known.
   * Borrowed for as long as specs that were made of this one are used */
  const char *own;
  uint32_t own_length; /* bytes */
} tsl__number_spec;

/* Both hold: the canonical spec of the conjunction (a may be b: then it only makes canonical). All
 * that *out points to lives in `arena`, the inputs are not referred to. Emptiness of the value set
 * is found (out->empty). The work is counted in x (NULL: by nobody).
 * Errors: LIMIT (an lcm of more than TSL__DECIMAL_DIGITS digits, too many non-multiples or excluded
 * values), NO_MEMORY, and what stopped x (its time or its steps). */
tsl_status tsl__number_intersect(tsl__exprs *x, tsl__arena *arena, const tsl__number_spec *a,
                                 const tsl__number_spec *b, tsl__number_spec *out);

/* Questions about canonical specs. */
/* Is there no text at all? Exact. */
bool tsl__number_empty(const tsl__number_spec *spec);
/* All numbers, or all integers (*integer)? Of any spec, canonical or not. */
bool tsl__number_plain(const tsl__number_spec *spec, bool *integer);
bool tsl__number_equal(const tsl__number_spec *a, const tsl__number_spec *b);
/* How many values (not spellings) there are, at most limit + 1. The work is counted in x (NULL: by
 * nobody); if x stops it, limit + 1. */
uint32_t tsl__number_count(tsl__exprs *x, const tsl__number_spec *spec, uint32_t limit);

/* Can the numbers of a canonical spec be written as PRINTED says? False where a constraint has more
 * digits, written out, than is worth following. */
bool tsl__number_printable(const tsl__number_spec *spec);

/* Questions about any spec. */
/* Is the value in the set? Spelling is not looked at. */
bool tsl__number_admits(const tsl__number_spec *spec, const tsl__decimal *value);

/* ---- expressions ----------------------------------------------------------------------------- */

/* A table of the automaton states of any number of specs: specs of one compilation should share
 * one, so that equal states are found again. It lives as long as x. NULL when out of memory (sticky
 * in x). */
typedef struct tsl__numbers tsl__numbers;
tsl__numbers *tsl__numbers_new(tsl__exprs *x);

/* All spellings of all numbers of the spec (need not be canonical); TSL__NONE if there is none, or
 * on failure (tsl__exprs_status). Unconstrained numbers and integers need no table and are the same
 * expression in every table. */
tsl__expr tsl__numbers_expr(tsl__numbers *numbers, const tsl__number_spec *spec);
/* The one value of a canonical spec with equal bounds, in few spellings: its shortest ones, those
 * of printers, and the schema's own (printed.c). */
tsl__expr tsl__number_listed(tsl__exprs *x, const tsl__number_spec *spec);
/* Make the first states of numbers that are reached from e: for a layer that others will only read.
 * False on failure (sticky in x). Cost: a step for each state and byte. */
bool tsl__number_explore(tsl__exprs *x, tsl__expr e);
/* The same as tsl__numbers_expr with a table of its own. */
tsl__expr tsl__number_expr(tsl__exprs *x, const tsl__number_spec *spec);

#endif
