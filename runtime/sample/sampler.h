/* sampler.h - the inside of a sampler.
 *
 * Problem   Draw a token under a grammar's mask by any chain of stages that the caller chooses,
 *           without copying or changing half a megabyte of logits.
 * Idea      A step has four parts:
 *             1. Bans: allowed, banned, n-grams, min and max tokens. They change bits of the mask,
 *             which is copied (16 KB) only if one of them is used.
 *             2. Candidates (candidates.h): the row under that mask, or a list where few tokens are
 *                allowed. Tokens whose logit some stage will change (bias, penalties, DRY) leave
 *                the mask for the list at once, with their logits.
 *             3. The stages in the caller's order (stages.c); the first cut-off leaves few.
 *             4. One draw.
 * Scale     Temperature divides the scale of the candidates and changes no logit. So a penalty that
 *           comes after temperature is divided by the scale.
 * Structure With a matcher penalties and n-grams spare the tokens that write no content
 *           (structure.h).
 * Illegal   logits (outside the mask) may be anything. legal_mass counts a NaN there as no mass; a
 *           +inf takes all of it.
 * Accuracy  Probabilities are within 1e-5 (relative) of exact arithmetic on the float logits;
 *           typically 3e-7.
 * Same      tokens everywhere: weights and sums are the kernels' (runtime/kernels/logits.h), all
 *           else is doubles, in one order, with our own log and exp (runtime/core/fmath.h).
 * Cost      In µs, for 128,256 logits with AVX-512 on an EPYC 9005 core. With 14 allowed: 0.3. With
 *           all allowed: temperature 17, top-k 40 or min-p 7, top-p 30, all of them with a mask and
 *           penalties 10. legal_mass takes 20 more.
 * Tested by tests/sample/test_sampler.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_SAMPLE_SAMPLER_H
#define TSL_RUNTIME_SAMPLE_SAMPLER_H

#include "runtime/sample/candidates.h"
#include "runtime/sample/history.h"
#include "runtime/sample/structure.h"

#define TSL__STAGES 13 /* the number of tsl_stage values; they are 1 to this */

struct tsl_sampler {
  tsl_allocator alloc;
  /* checked; its pointers lead to the copies below, defaults are filled in */
  tsl_sampler_options options;
  tsl_stage stages[TSL__STAGES];
  uint32_t stage_count;                      /* only stages that do something */
  tsl__words allowed, banned, eog, breakers; /* sorted, without doubles */
  TSL__VEC(tsl_token_bias) bias;             /* by token */
  /* successful draws so far: the counter of the random numbers */
  uint64_t draws;
  double surprise; /* mirostat's bound, in bits */
  /* with mirostat: the value of `surprise` before each accepted token was drawn, those of the
   * prompt included */
  TSL__VEC(double) surprises;
  /* the value of `surprise` before anything was drawn for the next token */
  double undrawn;
  tsl__history history;
  tsl__words tokens;          /* scratch: tokens to be banned, or whose logits change */
  tsl__repeats repeats;       /* DRY's, of this step */
  const tsl_matcher *matcher; /* of the text; borrowed; NULL: nothing is spared */
  tsl__structure structure;   /* what penalties spare in this step */
  tsl__candidates candidates;
};

/* Run one stage on the candidates. NO_MEMORY, or LOGITS where a stage leaves no finite logit. */
tsl_status tsl__sampler_stage(tsl_sampler *s, tsl_stage stage);
/* A scale divided by a temperature > 0; finite, as 0 * inf would be NaN for the peak. */
static inline float tsl__cooler(float scale, double temperature) {
  double cooler = (double)scale / temperature;
  return cooler < (double)FLT_MAX ? (float)cooler : FLT_MAX;
}

#endif
