/* test_guidance.c - two rows of logits, one result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "tests/support/check.h"
#include "turnstile.h"

#define WIDTH 5000u

static float a[WIDTH], b[WIDTH], out[WIDTH];
static uint32_t mask[WIDTH / 32 + 1];

static void fill(uint64_t *seed) {
  for (size_t i = 0; i < WIDTH; i++) {
    a[i] = (float)(tsl_test_uniform(seed) * 20 - 10);
    b[i] = (float)(tsl_test_uniform(seed) * 20 - 10);
  }
  for (size_t i = 0; i <= WIDTH / 32; i++) mask[i] = (uint32_t)tsl_test_random(seed);
}

/* z = z_uncond + s * (z_cond - z_uncond) */
static void classifier_free(void) {
  uint64_t seed = 1;
  for (int round = 0; round < 20; round++) {
    float scale = (float)(tsl_test_uniform(&seed) * 6 - 1);
    fill(&seed);
    CHECK(tsl_guide_classifier_free(a, b, WIDTH, scale, out) == TSL_OK);
    size_t wrong = 0;
    for (size_t i = 0; i < WIDTH; i++)
      wrong += fabs((double)out[i] -
                    ((double)b[i] + (double)scale * ((double)a[i] - (double)b[i]))) > 1e-5;
    CHECKF(wrong == 0, "%zu wrong", wrong);
  }
  CHECK(tsl_guide_classifier_free(a, b, WIDTH, 1, out) == TSL_OK && fabsf(out[7] - a[7]) < 1e-5f);
  CHECK(tsl_guide_classifier_free(a, b, WIDTH, 0, out) == TSL_OK && out[7] == b[7]);
  float first = a[0], want = b[0] + 3 * (a[0] - b[0]);
  /* in place */
  CHECK(tsl_guide_classifier_free(a, b, WIDTH, 3, a) == TSL_OK && a[0] == want && first != want);
  static const float odd[5] = {-INFINITY, 2, NAN, FLT_MAX, 1},
                     other[5] = {1, -INFINITY, 1, -FLT_MAX, 1};
  CHECK(tsl_guide_classifier_free(odd, other, 5, 2, out) == TSL_OK);
  CHECK(out[0] == -INFINITY && out[1] == 2 && isnan(out[2]) && out[3] == FLT_MAX && out[4] == 1);
  CHECK(tsl_guide_classifier_free(NULL, b, 5, 1, out) == TSL_ERR_ARGUMENT &&
        tsl_guide_classifier_free(a, b, 5, NAN, out) == TSL_ERR_ARGUMENT);
  CHECK(tsl_guide_classifier_free(NULL, NULL, 0, 1, NULL) == TSL_OK);
}

/* z = z_strong - beta * z_weak, over tokens with p_strong >= alpha * max p_strong */
static void check_contrastive(const uint32_t *m, float alpha, float beta) {
  size_t wrong = 0, kept = 0;
  float top = -INFINITY;
  for (size_t i = 0; i < WIDTH; i++)
    if ((!m || tsl_mask_has(m, (tsl_token)i)) && a[i] > top) top = a[i];
  CHECK(tsl_guide_contrastive(a, b, WIDTH, m, alpha, beta, out) == TSL_OK);
  for (size_t i = 0; i < WIDTH; i++) {
    double share = exp((double)a[i] - (double)top);
    bool in = (!m || tsl_mask_has(m, (tsl_token)i)) && share >= (double)alpha;
    /* within rounding of the cut */
    if (fabs(share - (double)alpha) < 1e-5 * (double)alpha) continue;
    wrong += in ? fabs((double)out[i] - ((double)a[i] - (double)beta * (double)b[i])) > 1e-5
                : out[i] != -INFINITY;
    kept += in;
  }
  CHECKF(wrong == 0 && kept > 0, "alpha %g: %zu wrong, %zu kept", (double)alpha, wrong, kept);
}

static void contrastive(void) {
  static const float alphas[] = {0, 1e-6f, 0.01f, 0.1f, 0.5f, 0.99f};
  uint64_t seed = 2;
  for (int round = 0; round < 60; round++) {
    fill(&seed);
    check_contrastive(round % 2 ? mask : NULL, alphas[round % 6], (float)tsl_test_uniform(&seed));
  }
  static const float strong[4] = {3, 2.9f, NAN, -INFINITY}, weak[4] = {1, -INFINITY, 0, 0};
  CHECK(tsl_guide_contrastive(strong, weak, 4, NULL, 1, 0.5f, out) == TSL_OK && out[0] == 2.5f &&
        out[1] == -INFINITY && isnan(out[2]));
  CHECK(tsl_guide_contrastive(strong, weak, 4, NULL, 0.5f, 0.5f, out) == TSL_OK &&
        out[1] == strong[1] && out[3] == -INFINITY);
  CHECK(tsl_guide_contrastive(a, b, 5, NULL, -0.1f, 1, out) == TSL_ERR_ARGUMENT &&
        tsl_guide_contrastive(a, b, 5, NULL, 1.1f, 1, out) == TSL_ERR_ARGUMENT);
  CHECK(tsl_guide_contrastive(a, b, 5, NULL, NAN, 1, out) == TSL_ERR_ARGUMENT &&
        tsl_guide_contrastive(a, b, 5, NULL, 0, INFINITY, out) == TSL_ERR_ARGUMENT);
  CHECK(tsl_guide_contrastive(a, NULL, 5, NULL, 0, 1, out) == TSL_ERR_ARGUMENT);
}

int main(void) {
  RUN(classifier_free, "classifier-free guidance");
  RUN(contrastive, "contrastive decoding with its plausibility cut");
  return tsl_test_end();
}
