/* accepted.h - does a mask say what is accepted? Token by token, each by a copy of the matcher.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_ACCEPTED_H
#define TSL_TESTS_SUPPORT_ACCEPTED_H

#include "tests/support/check.h"
#include "turnstile.h"

/* `grammar` and `text` (what was read of it): for the message where it does not. */
static inline bool mask_is_right(const tsl_matcher *m, const uint32_t *mask, const char *grammar,
                                 const char *text) {
  const tsl_vocab *v = tsl_grammar_vocab(tsl_matcher_grammar(m));
  for (tsl_token t = 0; t < tsl_vocab_size(v); t++) {
    tsl_matcher *copy = NULL;
    if (tsl_matcher_fork(m, &copy) != TSL_OK) return false;
    tsl_status status = tsl_matcher_accept(copy, t);
    tsl_matcher_free(copy);
    bool allowed = tsl_mask_has(mask, t);
    if (allowed == (status == TSL_OK)) continue;
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(v, t, &n);
    printf("  %s after %s: token %u, \"%.*s\", is %s and %s\n", grammar, text, (unsigned)t, (int)n,
           (const char *)bytes, allowed ? "allowed" : "denied", tsl_status_name(status));
    return false;
  }
  return true;
}

#endif
