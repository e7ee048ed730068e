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
/* Has a vocabulary's layer make those of ranges that many numbers have; false on failure
 * (sticky). */
bool tsl__number_exponents_make(tsl__exprs *x);
/* Everything that may follow in a phase when the value does not matter. */
tsl__expr tsl__number_free_tail(tsl__exprs *x, tsl__number_phase phase, uint32_t spelling);

#endif
