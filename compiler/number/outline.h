/* outline.h - where the automata of numbers stand, in a form that can be written down
 * (compiler/states/outline.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_OUTLINE_H
#define TSL_COMPILER_NUMBER_OUTLINE_H

#include "compiler/expr/node.h"
#include "compiler/number/number.h"

#define TSL__NUMBER_PREFIX 64u /* bytes */

/* What follows a prefix of the magnitudes that one sign of a spec admits. */
typedef struct tsl__number_at {
  tsl__number_spec spec;
  bool negative;
  uint32_t length;
  uint8_t prefix[TSL__NUMBER_PREFIX]; /* after the sign */
} tsl__number_at;

/* False: it is no automaton of a spec, or after a longer prefix. Arrays of *out live as long as the
 * automaton. */
bool tsl__number_place(const tsl__native *native, uint32_t param, tsl__number_at *out);
/* TSL__NONE: there is no such place, or failure (tsl__exprs_status). The arrays of at->spec are not
 * referred to afterwards. */
tsl__expr tsl__number_from(tsl__numbers *numbers, const tsl__number_at *at);

/* Is it the automaton of unconstrained integers? All of it is in its parameter. */
bool tsl__integer_is(const tsl__native *native);
tsl__expr tsl__integer_from(tsl__exprs *x, uint32_t param);

/* The words of a description: a word for each kind of expression, and flags of a number
 * (compiler/states/outline.c says what follows each). */
enum {
  TSL__OUTLINE_EPS = 1,
  TSL__OUTLINE_BYTES,
  TSL__OUTLINE_LIT,
  TSL__OUTLINE_SEQ,
  TSL__OUTLINE_ALT,
  TSL__OUTLINE_REPEAT,
  TSL__OUTLINE_INTEGER,
  TSL__OUTLINE_NUMBER
};
enum {
  TSL__OUTLINE_F_NEGATIVE = 1,
  TSL__OUTLINE_F_INTEGER = 2,
  TSL__OUTLINE_F_NOT_INTEGER = 4,
  TSL__OUTLINE_F_MIN_EXCLUSIVE = 8,
  TSL__OUTLINE_F_MAX_EXCLUSIVE = 16,
  TSL__OUTLINE_F_SPELLING = 5 /* shift */
};
#define TSL__OUTLINE_DEPTH 128u
#define TSL__OUTLINE_WORDS 8192u

/* Hand the words of e to `put` (NULL: only ask). False if it is not a rule-free expression around
 * automata of numbers, or `put` says so. */
bool tsl__outline_write(tsl__exprs *x, tsl__expr e, void *to, bool (*put)(void *to, uint32_t word));

#endif
