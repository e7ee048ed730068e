/* states.h - the hook that lets runtime states grow out of expressions.
 *
 * The compiler side of one layer. An expression gets a state when something first leads to it, and
 * the state its transitions when a walk or a token first reaches it. The runtime calls back through
 * tsl__hook and never sees an expression; this file never sees a trie or a mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_STATES_STATES_H
#define TSL_COMPILER_STATES_STATES_H

#include "compiler/expr/expr.h"
#include "runtime/automaton/state.h"

/* A layer of tables above another that was made so (NULL: above none), in the vocabulary's memory.
 * It owns the expressions out of which its states grow. On failure nothing is left, and both are
 * NULL. Errors: NO_MEMORY. */
tsl_status tsl__states_layer(const tsl__space *below, const tsl_vocab *vocab,
                             const tsl_limits *limits, tsl__space **space, tsl__exprs **x);
/* The state of an expression as the start of a frame; 0 on failure (sticky). */
tsl__state tsl__state_of(tsl__space *space, tsl__expr e);
/* A second context of the same hook, for a space that has one already (runtime/artifact/read.c).
 * The handle of a state says to which of the two it belongs. NULL when out of memory. The hook's
 * `free` ends it. */
void *tsl__states_open(tsl__space *space, tsl__exprs *x);
tsl__state tsl__states_of(void *states, tsl__expr e);
extern const tsl__hook tsl__states_hook;
/* Makes the hints of all states of a layer that have transitions. A layer above reads the hints of
 * a state below, but cannot store them: so this is called before a layer gets another one above.
 * Failures are sticky. */
void tsl__states_hint(tsl__space *space);
/* The expressions of a layer. NULL: it was loaded, and has none. */
tsl__exprs *tsl__states_exprs(const tsl__space *space);

#endif
