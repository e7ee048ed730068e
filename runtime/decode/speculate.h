/* speculate.h - the inside of speculative decoding. The source of chance is a parameter, so that
 * tests can try every outcome.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_DECODE_SPECULATE_H
#define TSL_RUNTIME_DECODE_SPECULATE_H

#include "runtime/matcher/matcher.h"

typedef struct tsl__chance {
  void *ctx;
  /* true with that probability, 0 < probability < 1 */
  bool (*coin)(void *ctx, double probability);
  /* i with probability weights[i] / total */
  size_t (*pick)(void *ctx, const double *weights, size_t n, double total);
} tsl__chance;

tsl_status tsl__speculate(tsl_matcher *matcher, const tsl_drafts *drafts, const tsl__chance *chance,
                          uint32_t *path, size_t *accepted, tsl_token *next);

/* softmax(logits / temperature) over the tokens of the mask (NULL: all) into out[width];
 * temperature 0: all on the lowest id of the largest. LOGITS for NaN, +inf, or nothing finite among
 * them. */
tsl_status tsl__softmax(const float *logits, const uint32_t *mask, size_t width, double temperature,
                        double *out);

#endif
