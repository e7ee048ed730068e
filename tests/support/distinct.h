/* distinct.h - what the tests of distinct items and names share. These are grammars of schemas, and
 * texts that are accepted in one piece and byte by byte alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_DISTINCT_H
#define TSL_TESTS_SUPPORT_DISTINCT_H

#include "compiler/json/json.h"
#include "runtime/matcher/matcher.h"
#include "tests/support/check.h"
#include "turnstile.h"

static tsl_vocab *vocab;

/* The grammar of a schema, with members in any order and any spelling; NULL: the check has failed.
 */
static inline tsl_grammar *compile(const char *schema, tsl_whitespace whitespace) {
  tsl_schema_options options = {
      .whitespace = whitespace, .order = TSL_ORDER_ANY, .spelling = TSL_SPELLING_ANY};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", schema, error.message);
  return g;
}
/* Does the grammar accept the whole text? Checks that it does so byte by byte too. */
static inline bool accepts(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL, *slow = NULL;
  size_t n = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(g, NULL, &slow) == TSL_OK);
  bool good =
      tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK && tsl_matcher_is_complete(m);
  while (text[n] && tsl_matcher_accept_bytes(slow, text + n, 1, NULL) == TSL_OK) n++;
  CHECKF(good == (!text[n] && tsl_matcher_is_complete(slow)), "%s: not the same byte by byte",
         text);
  tsl_matcher_free(m);
  tsl_matcher_free(slow);
  return good;
}

/* Every bit of the mask against a fork, every `stride`-th token; then one of the allowed tokens,
 * short ones rather, into *token. */
static inline bool check_mask(tsl_matcher *m, uint64_t *seed, tsl_token *token,
                              const char *schema) {
  static uint32_t mask[8192 / 32];
  static tsl_token allowed[8192];
  uint32_t size = tsl_vocab_size(vocab);
  size_t n = 0;
  if (tsl_matcher_mask(m, mask) != TSL_OK) return false;
  for (tsl_token t = 0; t < size; t++) {
    bool bit = (mask[t / 32] >> t % 32) & 1u;
    if (bit) allowed[n++] = t;
    tsl_matcher *fork;
    if (!bit && tsl_test_random(seed) % 4) continue; /* a quarter of those that are not allowed */
    if (tsl_matcher_fork(m, &fork) != TSL_OK) return false;
    bool accepted = tsl_matcher_accept(fork, t) == TSL_OK;
    tsl_matcher_free(fork);
    CHECKF(accepted == bit, "%s: token %u", schema, (unsigned)t);
  }
  if (n) *token = allowed[tsl_test_random(seed) % n];
  return n > 0;
}

#endif
