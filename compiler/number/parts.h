/* parts.h - the regular parts of a number: digits, exponents in a range, free tails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_PARTS_H
#define TSL_COMPILER_NUMBER_PARTS_H

#include "compiler/number/state.h"

tsl__expr tsl__number_digit(tsl__exprs *x);
/* What follows the 'e': the integers from e->low to e->high without the holes, each in all
 * spellings. Sorts the holes. */
tsl__expr tsl__number_exponent(tsl__exprs *x, tsl__exponents *e);
/* The same, made anew; `printed`: in the spellings of printed.c, without 0. */
tsl__expr tsl__number_exponents_in(tsl__exprs *x, tsl__exponents *e, bool printed);
/* Has a vocabulary's layer make those of ranges that many numbers have; false on failure
 * (sticky). */
bool tsl__number_exponents_make(tsl__exprs *x);
/* Everything that may follow in a phase when the value does not matter. */
tsl__expr tsl__number_free_tail(tsl__exprs *x, tsl__number_phase phase, uint32_t spelling);

/* ---- printed.c ------------------------------------------------------------------------------- */

/* As tsl__number_exponent, of those that the side's spelling allows. */
tsl__expr tsl__number_printed_exponent(tsl__exprs *x, const tsl__side *side, tsl__exponents *e);
/* Everything that may follow a state when the value does not matter. */
tsl__expr tsl__number_printed_tail(tsl__exprs *x, const tsl__side *side,
                                   const tsl__number_state *st);
/* All numbers, without a sign. */
tsl__expr tsl__number_printed_free(tsl__exprs *x, uint32_t spelling);

#endif
