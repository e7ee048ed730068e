/* stages.h - random rows of logits, masks, histories, and options of the sampler's stages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_STAGES_H
#define TSL_TESTS_SUPPORT_STAGES_H

#include <math.h>

#include "runtime/sample/sampler.h"
#include "tests/support/check.h"

#define WIDEST 262144u
#define HISTORY 120u

static float logits[WIDEST];
static uint32_t mask[WIDEST / 32];
static tsl_token history[HISTORY];
static size_t history_length;

static uint64_t below(uint64_t *seed, uint64_t n) { return tsl_test_random(seed) % n; }

static void fill(uint64_t *seed, size_t width) {
  static const unsigned densities[] = {20, 500, 2048, 4000, 4096};
  unsigned density = densities[below(seed, 5)], shape = (unsigned)below(seed, 4);
  memset(mask, 0, sizeof mask);
  for (size_t i = 0; i < width; i++) {
    double bell = -6;
    for (int j = 0; j < 12; j++) bell += tsl_test_uniform(seed);
    logits[i] = shape == 0   ? (float)below(seed, 6) * 0.75f
                : shape == 1 ? (float)(below(seed, 300) ? bell - 12 : bell * 2)
                : shape == 2 ? (below(seed, 9) ? (float)bell * 3 : -INFINITY)
                             : (float)bell * 2.5f;
    if (below(seed, 4096) < density) mask[i >> 5] |= 1u << (i & 31);
  }
  size_t sure = below(seed, width);
  mask[sure >> 5] |= 1u << (sure & 31);
  logits[sure] = 1.5f;
  history_length = below(seed, HISTORY + 1);
  size_t few = 2 + below(seed, width < 40 ? width : 40);
  for (size_t i = 0; i < history_length; i++)
    history[i] = (tsl_token)(below(seed, few) % width * (width > 5000 ? 37 : 1) % width);
}

typedef struct lists {
  tsl_token_bias bias[12];
  tsl_token allowed[400], banned[20], eog[3], breakers[2];
  tsl_stage stages[TSL__STAGES];
} lists;

/* Set the fields of one stage. */
static void ask_for(uint64_t *seed, tsl_sampler_options *o, lists *l, size_t width,
                    tsl_stage stage) {
  switch (stage) {
  case TSL_STAGE_BIAS:
    o->bias = l->bias;
    o->bias_count = (uint32_t)(1 + below(seed, width < 12 ? width : 12));
    for (uint32_t i = 0; i < o->bias_count; i++)
      l->bias[i] = (tsl_token_bias){(tsl_token)(width - 1 - i * (width / 12 > 0 ? width / 12 : 1)),
                                    (float)(tsl_test_uniform(seed) * 8 - 3)};
    break;
  case TSL_STAGE_PENALTIES:
    o->repetition_penalty = below(seed, 3) ? 1 + (float)tsl_test_uniform(seed) : 0;
    o->frequency_penalty = (float)tsl_test_uniform(seed) * 0.5f;
    o->presence_penalty = (float)tsl_test_uniform(seed) - 0.3f;
    o->penalty_window = below(seed, 2) ? (uint32_t)(1 + below(seed, 64)) : 0;
    break;
  case TSL_STAGE_DRY:
    o->dry_multiplier = 0.5f + (float)tsl_test_uniform(seed);
    o->dry_base = below(seed, 2) ? 1.2f : 0;
    o->dry_allowed = (uint32_t)below(seed, 4);
    o->dry_window = below(seed, 2) ? (uint32_t)(1 + below(seed, 100)) : 0;
    o->dry_breakers = l->breakers;
    o->dry_breaker_count = (uint32_t)below(seed, 3);
    for (int i = 0; i < 2; i++) l->breakers[i] = history[below(seed, HISTORY)];
    break;
  case TSL_STAGE_TEMPERATURE:
    o->temperature = below(seed, 12) ? 0.3f + (float)tsl_test_uniform(seed) * 1.7f : 0;
    if (below(seed, 3) == 0 && o->temperature > 0)
      o->dynamic_range = 0.25f,
      o->dynamic_exponent = below(seed, 2) ? 0 : 0.5f + (float)tsl_test_uniform(seed);
    break;
  case TSL_STAGE_TOP_N_SIGMA: o->top_n_sigma = 0.3f + 3 * (float)tsl_test_uniform(seed); break;
  case TSL_STAGE_TOP_K: o->top_k = (uint32_t)(1 + below(seed, below(seed, 2) ? 60 : width)); break;
  case TSL_STAGE_TOP_P: o->top_p = 0.05f + 0.94f * (float)tsl_test_uniform(seed); break;
  case TSL_STAGE_MIN_P: o->min_p = 0.3f * (float)tsl_test_uniform(seed) + 0.001f; break;
  case TSL_STAGE_TYPICAL_P: o->typical_p = 0.05f + 0.9f * (float)tsl_test_uniform(seed); break;
  case TSL_STAGE_EPSILON:
    o->epsilon = below(seed, 2) ? 0.02f * (float)tsl_test_uniform(seed) + 1e-5f : 0.9f;
    break;
  case TSL_STAGE_ETA: o->eta = 0.1f * (float)tsl_test_uniform(seed) + 1e-5f; break;
  case TSL_STAGE_XTC:
    o->xtc_probability = below(seed, 2) ? 1 : 0.5f,
    o->xtc_threshold = below(seed, 2) ? 0.1f * (float)tsl_test_uniform(seed) : 0.002f;
    break;
  case TSL_STAGE_MIROSTAT:
    o->mirostat_tau = 1 + 6 * (float)tsl_test_uniform(seed),
    o->mirostat_eta = below(seed, 2) ? 0 : 0.3f;
    break;
  }
}

static void ask_for_bans(uint64_t *seed, tsl_sampler_options *o, lists *l, size_t width) {
  uint64_t r = tsl_test_random(seed);
  o->eog = l->eog;
  o->eog_count = 3;
  for (int i = 0; i < 3; i++) l->eog[i] = (tsl_token)below(seed, width);
  if (r % 5 == 0) {
    o->allowed = l->allowed;
    o->allowed_count = (uint32_t)(1 + below(seed, 400));
    /* some past the end */
    for (uint32_t i = 0; i < o->allowed_count; i++)
      l->allowed[i] = (tsl_token)below(seed, width + width / 4);
  }
  if (r / 5 % 4 == 0) {
    o->banned = l->banned;
    o->banned_count = (uint32_t)(1 + below(seed, 20));
    for (uint32_t i = 0; i < o->banned_count; i++)
      l->banned[i] = (tsl_token)below(seed, width + 10);
  }
  if (r / 20 % 4 == 0) o->no_repeat_ngram = (uint32_t)(1 + below(seed, 4));
  if (r / 80 % 4 == 0) o->min_tokens = (uint32_t)below(seed, HISTORY);
  if (r / 320 % 4 == 0) o->max_tokens = (uint32_t)(1 + below(seed, HISTORY));
}

#endif
