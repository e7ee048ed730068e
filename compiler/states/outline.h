/* outline.h - expressions of numbers, written down. See outline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_STATES_OUTLINE_H
#define TSL_COMPILER_STATES_OUTLINE_H

#include "compiler/expr/expr.h"

/* Hand the words of e to `put` (NULL: only ask). False if it is not a rule-free expression around
 * automata of numbers, or `put` says so. */
bool tsl__outline_write(tsl__exprs *x, tsl__expr e, void *to, bool (*put)(void *to, uint32_t word));

#endif
