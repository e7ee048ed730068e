/* inner.h - what the files of a number's state share. See state.c.
 *
 * Positions and exponents are 64-bit numbers. A bound of TSL__EXPONENT_INF, or of its negative, is
 * none, and stays so when a digit moves the bounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_INNER_H
#define TSL_COMPILER_NUMBER_INNER_H

#include "compiler/number/state.h"

static inline int64_t tsl__least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tsl__most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Where tracker k's unit lies, as an exponent at the present place. */
static inline int64_t tsl__unit_exponent(const tsl__side *side, const tsl__number_state *st,
                                         uint32_t k) {
  return side->trackers[k].exponent + st->fraction;
}

static inline bool tsl__is_printed(const tsl__side *side) {
  return (side->spelling & TSL__SPELL_PRINTED) != 0;
}
/* Are exponents not allowed, whatever is read before? */
static inline bool tsl__never_exponent(const tsl__side *side) {
  return (side->spelling & (TSL__SPELL_DIGITS | TSL__SPELL_PLAIN)) != 0;
}
/* Are they not allowed after this prefix and what can follow it? */
static inline bool tsl__no_exponent(const tsl__side *side, const tsl__number_state *st) {
  return tsl__never_exponent(side) || (tsl__is_printed(side) && !st->single);
}

/* Count work on that many limbs: each costs a quarter of what a node of an expression does. False:
 * stop. */
static inline bool tsl__side_spend(const tsl__side *side, uint64_t limbs) {
  return !side->limbs || !side->x || tsl__exprs_work(side->x, limbs / 4 + 1);
}

/* The first digit other than 0, which decides where the bounds and excluded values begin. */
void tsl__number_state_first(const tsl__side *side, tsl__number_state *st, uint32_t digit);
/* Is one of the exponents in from … to? */
bool tsl__exponents_meet(const tsl__exponents *e, int64_t from, int64_t to);
/* Fill in how many digits, and which exponents, PRINTED numbers of a canonical spec may have. */
void tsl__number_printed_limits(tsl__side *side, const tsl__number_spec *spec);
/* Takes out of the record what has no influence on any future. */
void tsl__number_state_settle(const tsl__side *side, tsl__number_state *st);
/* Is there a member with j more digits and the exponent e? */
bool tsl__number_state_reaches(const tsl__side *side, const tsl__number_state *st, int64_t j,
                               int64_t e);
/* Can the prefix be finished? */
bool tsl__number_state_viable(const tsl__side *side, tsl__number_state *st);
/* The same where the spelling is PRINTED, for prefixes with a digit other than 0. */
bool tsl__number_printed_viable(const tsl__side *side, tsl__number_state *st);
/* "0.", so many zeros, and the first digit other than 0. */
void tsl__number_state_begin_small(const tsl__side *side, tsl__number_state *st, int64_t zeros,
                                   uint32_t digit);
/* PRINTED: how many zeros at least, from so many on, and at most can stand between the point and
 * the first other digit. */
int64_t tsl__number_zeros_least(const tsl__side *side, int64_t from);
int64_t tsl__number_zeros_most(const tsl__side *side);
/* After "0." and `fraction` zeros in all: can a digit other than 0 still come? Uses *st, of which
 * nothing but phase and fraction matters then, and puts these back. */
bool tsl__number_small_lives(const tsl__side *side, tsl__number_state *st, int64_t fraction);

#endif
