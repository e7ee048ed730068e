/* integer.h - unconstrained integers, in every spelling, without a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_INTEGER_H
#define TSL_COMPILER_NUMBER_INTEGER_H

#include "compiler/expr/expr.h"

/* What may follow a prefix of an integer: before the point, with `zeros` zeros at its end.
 * TSL__NONE if that is past the limit (integer.c). */
tsl__expr tsl__integer_whole(tsl__exprs *x, int64_t zeros);
/* After "0" and, if `fraction` >= 0, a point and that many zeros. */
tsl__expr tsl__integer_zero(tsl__exprs *x, int64_t fraction);
/* After the point and `fraction` digits; the value is integral from exponent `ready` on. */
tsl__expr tsl__integer_fraction(tsl__exprs *x, int64_t fraction, int64_t ready);
/* The whole number, without sign. */
tsl__expr tsl__integer_begin(tsl__exprs *x);

#endif
