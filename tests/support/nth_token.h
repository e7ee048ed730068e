/* nth_token.h - the nth token of a mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_NTH_TOKEN_H
#define TSL_TESTS_SUPPORT_NTH_TOKEN_H

#include <stddef.h>

#include "turnstile.h"

/* The token that has n allowed ones before it. The mask must have more than n. */
static inline tsl_token nth_token(const uint32_t *mask, size_t n) {
  tsl_token word = 0;
  for (size_t count; (count = tsl_mask_count(mask + word, 32)) <= n; word++) n -= count;
  uint32_t bits = mask[word];
  for (; n > 0; n--) bits &= bits - 1;
  return word * 32 + (tsl_token)__builtin_ctz(bits);
}

#endif
