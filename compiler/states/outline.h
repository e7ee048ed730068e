/* outline.h - expressions of numbers, written down. See outline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_STATES_OUTLINE_H
#define TSL_COMPILER_STATES_OUTLINE_H

#include "compiler/expr/expr.h"
#include "compiler/states/states.h"
#include "runtime/artifact/artifact.h"

/* Expressions of a loaded grammar's own, from which outlines grow: see tsl__growth. */
tsl_status tsl__outline_open(tsl__space *space, const tsl_limits *limits, void **outlines);
tsl_status tsl__outline_beside(tsl__space *space, void *outlines, void **out);
void *tsl__outline_states(void *outlines);
tsl__state tsl__outline_state(tsl__space *space, void *outlines, const uint32_t *words, uint32_t n);
void tsl__outline_forget_limits(void *outlines);
void tsl__outline_close(tsl__space *space, void *outlines);

/* A tsl__growth whose states grow from outlines. */
#define TSL__GROWTH(compile_source, write_source)                        \
  {tsl__outline_open,   tsl__outline_states, &tsl__states_hook,          \
   tsl__outline_beside, tsl__outline_state,  tsl__outline_forget_limits, \
   tsl__outline_close,  compile_source,      write_source}

#endif
