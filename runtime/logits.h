/* logits.h - masks on logits: what is done once per step over the whole vocabulary.
 *
 * Problem   A row of logits is half a megabyte, and a step touches it: to forbid tokens, or to sample without forbidding.
 * Idea      A handful of kernels, each written once in plain C (logits_portable.c: the specification) and once per
 *           instruction set, one file each. logits_dispatch.c asks the processor once and picks a table of them.
 * Same bits Every level gives bit-for-bit the same results, so that a seed draws the same tokens on every machine. Hence:
 *             - exp is ours (tsl__logits_weight below), made of additions and multiplications that IEEE 754 defines exactly, with
 *               no fused multiply-add; files that use it must not be compiled with contraction (gcc: -std=c11 or
 *               -ffp-contract=off; clang is told by a pragma);
 *             - sums run in TSL__LOGITS_LANES double accumulators, element i in lane i % 16, added up in one fixed order.
 *           tests/test_logits.c runs every level on every input and compares bits.
 * Accuracy  A weight is within 3e-7 (relative) of exp of its argument, and the argument is rounded to float.
 * Layout    Token i is bit i % 32 of word i / 32. Bits at or after `n` (or `width`) are ignored by all of them but the ones on whole words.
 * Cost      128,256 floats with AVX-512 on an EPYC 9005 core: apply 6 µs at every density, peak 9, above 9, sum 45, sum_both 62; half floats: apply 3;
 *           a mask of as many tokens: count 0.6, or 0.15, copy 0.12. AVX2: apply 7, sum 86. Portable: ten times as much.
 * Ref       The range reduction of exp is that of Cody and Waite 1980; its polynomial is a Chebyshev fit of our own.
 * Tested by tests/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_LOGITS_H
#define TSL_RUNTIME_LOGITS_H

#include <float.h>
#include <math.h>

#include "runtime/base.h"

#define TSL__LOGITS_LANES 16

/* ---- masks as words ------------------------------------------------------------------------------------------- */

void tsl__mask_copy(uint32_t *to, const uint32_t *from, size_t words);
void tsl__mask_or(uint32_t *to, const uint32_t *from, size_t words);     /* to |= from */
void tsl__mask_andnot(uint32_t *to, const uint32_t *from, size_t words); /* to &= ~from */

/* ---- kernels -------------------------------------------------------------------------------------------------- */

/* The largest logits of a row: of all tokens and of those in the mask; -inf where there are none. NaN is passed over, but one in the
 * mask is reported. */
typedef struct tsl__logits_peak {
  float all, legal;
  bool legal_nan;
} tsl__logits_peak;

typedef struct tsl__logits_mass {
  double all, legal;
} tsl__logits_mass;

/* The kernels of one instruction set. None allocates, fails, or needs aligned data. */
typedef struct tsl__logits_kernels {
  const char *name;
  /* Elements that are not in the mask become -inf (apply16: the bit pattern given). */
  void (*apply32)(const uint32_t *mask, float *x, size_t width);
  void (*apply16)(const uint32_t *mask, uint16_t *x, size_t width, uint16_t minus_inf);
  void (*or_words)(uint32_t *to, const uint32_t *from, size_t words);
  void (*andnot_words)(uint32_t *to, const uint32_t *from, size_t words);
  size_t (*count_words)(const uint32_t *mask, size_t words);
  tsl__logits_peak (*peak)(const float *x, const uint32_t *mask, size_t n);
  /* bits = mask and x >= floor, ceil(n / 32) words with the padding 0. `floor` is not NaN. */
  void (*above)(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t *bits);
  /* Sum of tsl__logits_weight over the finite elements in the mask; `anchor` is finite, 0 <= scale <= FLT_MAX. */
  double (*sum)(const float *x, const uint32_t *mask, size_t n, float anchor, float scale);
  /* The same over all finite elements and over those in the mask at once. */
  tsl__logits_mass (*sum_both)(const float *x, const uint32_t *mask, size_t n, float anchor, float scale);
} tsl__logits_kernels;

typedef enum tsl__logits_level {
  TSL__LOGITS_AUTO = -1, /* the best that this machine has */
  TSL__LOGITS_PORTABLE = 0,
  TSL__LOGITS_AVX2 = 1,
  TSL__LOGITS_AVX512 = 2,
  TSL__LOGITS_NEON = 3,
  TSL__LOGITS_LEVELS = 4
} tsl__logits_level;

/* The table for this process. Chosen on the first call; any number of threads may race for it. */
const tsl__logits_kernels *tsl__logits(void);
/* For tests: use this level from now on. False, and no change, if this machine or build does not have it. */
bool tsl__logits_force(tsl__logits_level level);

extern const tsl__logits_kernels tsl__logits_portable;
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TSL__LOGITS_X86 1
extern const tsl__logits_kernels tsl__logits_avx2;
extern const tsl__logits_kernels tsl__logits_avx512;
#else
#define TSL__LOGITS_X86 0
#endif
#if defined(__aarch64__) && !defined(__ARM_BIG_ENDIAN)
#define TSL__LOGITS_ARM 1
extern const tsl__logits_kernels tsl__logits_neon;
#else
#define TSL__LOGITS_ARM 0
#endif

/* ---- the specification of a weight ---------------------------------------------------------------------------- */

#define TSL__EXP_FLOOR (-87.0f) /* below, a weight is 0: exp(-87) is the last one well inside the normal numbers */
#define TSL__EXP_LOG2E 1.44269504f
#define TSL__EXP_ROUND 12582912.0f        /* 1.5 * 2^23: adding it leaves the nearest integer in the low bits */
#define TSL__EXP_LN2_HI 0.693359375f      /* nine bits, so that n * LN2_HI is exact */
#define TSL__EXP_LN2_LO (-2.12194440e-4f) /* ln 2 - LN2_HI */
#define TSL__EXP_Q4 0.001392626785673201f /* (exp(r) - 1 - r) / r^2 on |r| <= 0.347, error 6.6e-8 */
#define TSL__EXP_Q3 0.00836324691772461f
#define TSL__EXP_Q2 0.04166655242443085f
#define TSL__EXP_Q1 0.16666576266288757f
#define TSL__EXP_Q0 0.5f

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* exp((x - anchor) * scale) for finite x <= anchor; 0 below exp(TSL__EXP_FLOOR). */
static inline float tsl__logits_weight(float x, float anchor, float scale) {
  float d = x - anchor;
  if (d < -FLT_MAX) d = -FLT_MAX; /* so that a scale of 0 gives 0, not NaN */
  d *= scale;
  if (!(d >= TSL__EXP_FLOOR)) return 0.0f;
  float shifted = d * TSL__EXP_LOG2E + TSL__EXP_ROUND;
  float n = shifted - TSL__EXP_ROUND;
  float r = d - n * TSL__EXP_LN2_HI;
  r = r - n * TSL__EXP_LN2_LO;
  float q = TSL__EXP_Q4 * r + TSL__EXP_Q3;
  q = q * r + TSL__EXP_Q2;
  q = q * r + TSL__EXP_Q1;
  q = q * r + TSL__EXP_Q0;
  float p = q * (r * r) + (r + 1.0f);
  uint32_t bits, exponent;
  memcpy(&bits, &p, sizeof bits);
  memcpy(&exponent, &shifted, sizeof exponent);
  bits += exponent << 23; /* times 2^n: the magic number's own bits are shifted out */
  memcpy(&p, &bits, sizeof p);
  return p;
}

/* Add up the lanes in the fixed order: 16 to 8, to 4, to 2, to 1. */
static inline double tsl__logits_fold(double lanes[TSL__LOGITS_LANES]) {
  for (int half = TSL__LOGITS_LANES / 2; half; half /= 2)
    for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
  return lanes[0];
}

/* The mask bits of elements i … i + 15 (i a multiple of 16), those at or after n left out. */
static inline uint32_t tsl__logits_bits16(const uint32_t *mask, size_t i, size_t n) {
  uint32_t bits = (mask[i >> 5] >> (i & 31)) & 0xffffu;
  return n - i >= 16 ? bits : bits & ((1u << (n - i)) - 1);
}

#endif
