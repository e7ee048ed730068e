/* step.h - what the model wanted: its distribution before and after the mask.
 *
 * Everything is a quotient of sums that runtime/kernels/logits.h has kernels for. W is the sum of
 * weights, and M the sum of weight * argument. Then log p of a token is its argument - log W, and
 * the entropy is log W - M / W. The anchor before the mask is the row's largest logit, after it the
 * largest allowed one, so that neither sum underflows.
 * Illegal   as for the sampler: outside the mask NaN is no mass, and a +inf takes all of it.
 * Tested by tests/sample/test_step.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_SAMPLE_STEP_H
#define TSL_RUNTIME_SAMPLE_STEP_H

#include "runtime/core/base.h"

/* Softmax mass on the tokens of the mask (NULL: all). Some logit is finite. */
double tsl__legal_mass(const float *logits, size_t width, const uint32_t *mask);

#endif
