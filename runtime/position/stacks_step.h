/* stacks_step.h - of stepping (stacks.c) what those need that follow frames by something else than
 * a byte: by tokens' names, and by all bytes at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_STACKS_STEP_H
#define TSL_RUNTIME_POSITION_STACKS_STEP_H

#include "runtime/position/stacks.h"

/* Something done with each frame that may come to read next: those on top, those below that end,
 * and those that they call. */
typedef struct tsl__visit {
  /* `r`: of its state, expanded */
  void (*frame)(tsl__space *space, tsl__stepping *s, const tsl__state_rec *r, uint32_t count,
                tsl__stack tail, void *ctx);
  void *ctx;
  const char *endless; /* why it fails where they open and close without end */
} tsl__visit;
/* Of a position; `s` has no frames yet, what `frame` lands is in it. Failures are sticky. */
void tsl__step_visit(tsl__space *space, tsl__stepping *s, tsl__stack at, const tsl__visit *v);
/* The one to step from a plain position by its bytes, loaded; NULL on failure. */
tsl__stepping *tsl__step_text(tsl__space *space, const tsl__stack_rec *at);
/* What lies below a frame of names: those RESUME cells that let one of its names through; 0 if none
 * does. */
tsl__stack tsl__names_below(tsl__space *space, const struct tsl__keyed *names, tsl__stack tail);

#endif
