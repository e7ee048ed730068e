/* model.c - see model.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/model.h"

tsl_status tsl__log_sum(const float *logits, size_t width, double *out) {
  double top = -INFINITY, sum = 0;
  for (size_t i = 0; i < width; i++) {
    if (isnan(logits[i]) || logits[i] == INFINITY) return TSL_ERR_LOGITS;
    if (logits[i] > top) top = logits[i];
  }
  if (top == -INFINITY) return TSL_ERR_LOGITS;
  for (size_t i = 0; i < width; i++) sum += exp((double)logits[i] - top);
  *out = top + log(sum);
  return TSL_OK;
}

double tsl__log_add(double a, double b) {
  double high = a > b ? a : b, low = a > b ? b : a;
  return low == -INFINITY ? high : high + log1p(exp(low - high));
}
