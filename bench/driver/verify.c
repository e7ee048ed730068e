/* verify.c - see verify.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/verify.h"

#include <stdlib.h>

/* What the byte path says of one token. */
static bool allowed_by_bytes(const tsl_vocab *vocab, const tsl_matcher *at, tsl_matcher *fork,
                             tsl_token token) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(vocab, token, &n);
  if (tsl_vocab_is_eog(vocab, token)) return tsl_matcher_is_complete(at);
  if (n == 0 || tsl_vocab_is_special(vocab, token)) return false;
  if (tsl_matcher_accept_bytes(fork, bytes, n, NULL) != TSL_OK) return false;
  tsl_matcher_rollback(fork, 1);
  return true;
}

static void compare(const bench_setup *setup, const bench_case *c, tsl_matcher *m,
                    bench_verified *verified) {
  const tsl_vocab *vocab = setup->vocab;
  tsl_matcher *fork = NULL;
  size_t wrong = 0;
  if (tsl_matcher_mask(m, setup->mask) != TSL_OK || tsl_matcher_fork(m, &fork) != TSL_OK) return;
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    if (allowed_by_bytes(vocab, m, fork, t) == tsl_mask_has(setup->mask, t)) continue;
    if (wrong++ == 0)
      fprintf(stderr, "maskbench: %s: token %u is %s, wrongly\n", c->id, t,
              tsl_mask_has(setup->mask, t) ? "allowed" : "not allowed");
  }
  verified->masks++;
  verified->tokens += tsl_vocab_size(vocab);
  verified->wrong += wrong != 0;
  tsl_matcher_free(fork);
}

/* Some position of one of the instances, byte by byte: half of the text, or as much of it as is
 * legal. The masks on the way are made as well, as what they leave in the grammar's tables must not
 * change a later mask. */
static void go_somewhere(const bench_setup *setup, const bench_case *c, size_t number,
                         tsl_matcher *m) {
  if (c->test_count == 0) return;
  const bench_test *test = &c->tests[number % c->test_count];
  size_t length = test->length * (number * 7 % 10) / 10;
  for (size_t i = 0; i < length; i++)
    if (tsl_matcher_mask(m, setup->mask) != TSL_OK ||
        tsl_matcher_accept_bytes(m, test->text + i, 1, NULL) != TSL_OK)
      return;
}

void bench_verify_case(const bench_setup *setup, const bench_case *c, size_t number,
                       bench_verified *verified) {
  tsl_grammar *grammar = NULL;
  tsl_matcher *matcher = NULL;
  tsl_limits limits = {.deadline_us = 2000000};
  if (bench_compile(setup->vocab, &setup->options, c, &limits, &grammar, NULL) == TSL_OK &&
      tsl_matcher_new(grammar, NULL, &matcher) == TSL_OK) {
    go_somewhere(setup, c, number, matcher);
    compare(setup, c, matcher, verified);
  }
  tsl_matcher_free(matcher);
  tsl_grammar_release(grammar);
}
