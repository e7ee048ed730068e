/* model.h - what decoding asks of the host's model: probabilities over its whole vocabulary, in
 * doubles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_DECODE_MODEL_H
#define TSL_RUNTIME_DECODE_MODEL_H

#include <math.h>

#include "runtime/matcher/matcher.h"

/* log Σ exp(logits). A logit minus this sum is its log-probability. LOGITS for NaN, +inf, or
 * nothing finite. */
tsl_status tsl__log_sum(const float *logits, size_t width, double *out);
/* log(exp(a) + exp(b)); either may be -inf. */
double tsl__log_add(double a, double b);

/* A matcher to ask a budget with, one token after `before`, which is all of its history; NULL: at
 * the beginning. */
static inline tsl_matcher tsl__matcher_at(tsl_grammar *grammar, tsl__stack at, tsl__stack *before) {
  tsl_matcher m = tsl__matcher_of(grammar, &grammar->alloc, at);
  m.history = before;
  m.history_cap = m.history_n = before != NULL;
  return m;
}

#endif
