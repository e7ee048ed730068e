/* stacks_step.h - of stepping (stacks.c) what those need that follow frames by something else than a byte: by tokens' names, and by all bytes at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_STACKS_STEP_H
#define TSL_RUNTIME_STACKS_STEP_H

#include "runtime/stacks.h"

/* Has this frame been entered already before this byte? Notes it otherwise. */
bool tsl__step_entered(tsl__space *space, tsl__stepping *s, tsl__state state, uint32_t count, tsl__stack tail);
/* The tail of a called frame: this frame, at the state that it comes back to. That need not be expanded to see that it is not over: perhaps nobody comes back. 0 on failure (sticky). */
tsl__stack tsl__step_push(tsl__space *space, tsl__stepping *s, tsl__target back, uint32_t count, tsl__stack tail);
/* The one to step from a plain position by its bytes, loaded; NULL on failure. */
tsl__stepping *tsl__step_text(tsl__space *space, const tsl__stack_rec *at);
/* What lies below a frame of names: those RESUME cells that let one of its names through; 0 if none does. */
tsl__stack tsl__names_below(tsl__space *space, const struct tsl__keyed *names, tsl__stack tail);

#endif
