/* take.h - a token out of a mask, and the text that it adds to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_TAKE_H
#define TSL_TESTS_SUPPORT_TAKE_H

#include "tests/support/check.h"
#include "tests/support/nth_token.h"
#include "turnstile.h"

/* A random token of a mask; TSL_NO_TOKEN if there is none. */
static inline tsl_token draw(const uint32_t *mask, size_t width, uint64_t *seed) {
  size_t n = tsl_mask_count(mask, width);
  return n ? nth_token(mask, tsl_test_random(seed) % n) : TSL_NO_TOKEN;
}

/* Take a token and add it to the text, of `size` bytes with its NUL. False: it cannot be kept. */
static inline bool take_and_keep(tsl_matcher *m, tsl_token t, char *text, size_t size) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(tsl_grammar_vocab(tsl_matcher_grammar(m)), t, &n);
  CHECK(tsl_matcher_accept(m, t) == TSL_OK);
  if (memchr(bytes, 0, n) || strlen(text) + n + 1 >= size) return false;
  strncat(text, (const char *)bytes, n);
  return true;
}

#endif
