/* distinct_tokens.h - what distinct_items.c and distinct_names.c share. Each tries tokens that the
 * plain mask of a position with a distinct record has, and lists those that lead nowhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_DISTINCT_TOKENS_H
#define TSL_RUNTIME_POSITION_DISTINCT_TOKENS_H

#include "runtime/position/boundary.h"
#include "runtime/position/distinct_run.h"

/* A mask in which many tokens may be looked up. */
typedef struct tsl__probed_mask {
  tsl__mask mask;
  uint32_t *bits;  /* the mask written out; NULL: not yet */
  uint32_t probes; /* look-ups so far, before it is written out */
} tsl__probed_mask;

#define TSL__PROBED_MANY 32u /* look-ups after which the mask is written out */

/* Write the mask out, if it is not yet; false: out of memory. The owner of *m frees `bits`. */
bool tsl__probed_write(tsl__space *space, tsl__probed_mask *m);

/* Is the token in it? */
static inline bool tsl__probed_has(tsl__space *space, tsl__probed_mask *m, tsl_token t) {
  return m->bits || (m->probes++ >= TSL__PROBED_MANY && tsl__probed_write(space, m))
             ? tsl__mask_bit(m->bits, t)
             : tsl__mask_has(space, m->mask, t);
}

/* Does the token lead somewhere? */
bool tsl__run_leads(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token);

static inline bool tsl__is_raw(uint8_t byte) { return byte < 0x7F && tsl__stands_raw(byte); }

/* May an open escape still become a raw ASCII character? */
bool tsl__may_be_raw(const uint8_t *open, uint32_t count);

/* Does every raw ASCII character lead from the state to itself? Then texts of such characters can
 * go on in any way. */
bool tsl__takes_any(const tsl__space *space, tsl__state state);

/* Add to `gone` the tokens of the plain mask that lead nowhere from the position. Failures are
 * sticky. */
void tsl__narrow_items(tsl__space *space, tsl__run *r, tsl__stack at, tsl__probed_mask *plain,
                       tsl__tokens *gone);
void tsl__narrow_names(tsl__space *space, tsl__run *r, tsl__stack at, tsl__probed_mask *plain,
                       tsl__tokens *gone);

#endif
