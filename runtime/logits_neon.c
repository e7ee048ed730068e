/* logits_neon.c - the kernels of logits.h with NEON (every 64-bit Arm): 4 floats a step, the mask's bits spread over lanes by test.
 *
 * Four bits of the mask are broadcast to 4 lanes and each lane tests its own. Multiplication and addition stay apart (no vfma): results must be those
 * of the portable kernels to the bit. A last group that is not whole is copied to a buffer of 16.
 * Tested by tests/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/logits.h"

#if TSL__LOGITS_ARM
#include <arm_neon.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* Four bits as four lanes of ones or zeros. */
static inline uint32x4_t spread4(uint32_t bits) {
  static const uint32_t pick[4] = {1, 2, 4, 8};
  return vtstq_u32(vdupq_n_u32(bits), vld1q_u32(pick));
}

static inline uint16x8_t spread8(uint32_t bits) {
  static const uint16_t pick[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return vtstq_u16(vdupq_n_u16((uint16_t)bits), vld1q_u16(pick));
}

static void apply32(const uint32_t *mask, float *x, size_t width) {
  const float32x4_t minus_inf = vdupq_n_f32(-INFINITY);
  size_t i = 0;
  for (; i + 4 <= width; i += 4) {
    uint32x4_t open = spread4(mask[i >> 5] >> (i & 31));
    vst1q_f32(x + i, vbslq_f32(open, vld1q_f32(x + i), minus_inf));
  }
  for (; i < width; i++)
    if (!((mask[i >> 5] >> (i & 31)) & 1u)) x[i] = -INFINITY;
}

static void apply16(const uint32_t *mask, uint16_t *x, size_t width, uint16_t minus_inf) {
  const uint16x8_t low = vdupq_n_u16(minus_inf);
  size_t i = 0;
  for (; i + 8 <= width; i += 8) {
    uint16x8_t open = spread8(mask[i >> 5] >> (i & 31));
    vst1q_u16(x + i, vbslq_u16(open, vld1q_u16(x + i), low));
  }
  for (; i < width; i++)
    if (!((mask[i >> 5] >> (i & 31)) & 1u)) x[i] = minus_inf;
}

static void or_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 4 <= words; i += 4) vst1q_u32(to + i, vorrq_u32(vld1q_u32(to + i), vld1q_u32(from + i)));
  for (; i < words; i++) to[i] |= from[i];
}

static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 4 <= words; i += 4) vst1q_u32(to + i, vbicq_u32(vld1q_u32(to + i), vld1q_u32(from + i)));
  for (; i < words; i++) to[i] &= ~from[i];
}

static size_t count_words(const uint32_t *mask, size_t words) {
  size_t n = 0, i = 0;
  for (; i + 4 <= words; i += 4) n += vaddlvq_u8(vcntq_u8(vreinterpretq_u8_u32(vld1q_u32(mask + i))));
  for (; i < words; i++) n += (size_t)__builtin_popcount(mask[i]);
  return n;
}

/* The 16 elements at i, those past n being -inf; `buffer` is used only for the last group. */
static inline const float *group_at(const float *x, size_t i, size_t n, float buffer[16]) {
  if (n - i >= 16) return x + i;
  for (size_t j = 0; j < 16; j++) buffer[j] = i + j < n ? x[i + j] : -INFINITY;
  return buffer;
}

/* Lane by lane the larger one; `old` where v is NaN. */
static inline float32x4_t larger(float32x4_t v, float32x4_t old) { return vbslq_f32(vcgtq_f32(v, old), v, old); }

static tsl__logits_peak peak(const float *x, const uint32_t *mask, size_t n) {
  const float32x4_t minus_inf = vdupq_n_f32(-INFINITY);
  float32x4_t all = minus_inf, legal = minus_inf;
  uint32x4_t ordered = vdupq_n_u32(UINT32_MAX);
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    const float *g = group_at(x, i, n, buffer);
    uint32_t m = tsl__logits_bits16(mask, i, n);
    for (int j = 0; j < 16; j += 4) {
      float32x4_t v = vld1q_f32(g + j), w = vbslq_f32(spread4(m >> j), v, minus_inf);
      all = larger(v, all);
      legal = larger(w, legal);
      ordered = vandq_u32(ordered, vceqq_f32(w, w));
    }
  }
  return (tsl__logits_peak){vmaxvq_f32(all), vmaxvq_f32(legal), vminvq_u32(ordered) == 0};
}

/* Lanes of ones and zeros as four bits. */
static inline uint32_t gather4(uint32x4_t lanes) {
  static const uint32_t pick[4] = {1, 2, 4, 8};
  return vaddvq_u32(vandq_u32(lanes, vld1q_u32(pick)));
}

static void above(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t *bits) {
  const float32x4_t bar = vdupq_n_f32(floor);
  float buffer[16];
  memset(bits, 0, (n + 31) / 32 * sizeof *bits);
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n), out = 0;
    if (!m) continue;
    const float *g = group_at(x, i, n, buffer);
    for (int j = 0; j < 16; j += 4) out |= gather4(vcgeq_f32(vld1q_f32(g + j), bar)) << j;
    bits[i >> 5] |= (m & out) << (i & 31);
  }
}

/* tsl__logits_weight of 4 elements, 0 where v is not finite. */
static inline float32x4_t weights(float32x4_t v, float32x4_t anchor, float32x4_t scale) {
  const float32x4_t lowest = vdupq_n_f32(-FLT_MAX), round = vdupq_n_f32(TSL__EXP_ROUND);
  uint32x4_t keep = vandq_u32(vcgeq_f32(v, lowest), vcleq_f32(v, vdupq_n_f32(FLT_MAX)));
  float32x4_t d = vmulq_f32(larger(vsubq_f32(v, anchor), lowest), scale);
  keep = vandq_u32(keep, vcgeq_f32(d, vdupq_n_f32(TSL__EXP_FLOOR)));
  float32x4_t shifted = vaddq_f32(vmulq_f32(d, vdupq_n_f32(TSL__EXP_LOG2E)), round);
  float32x4_t n = vsubq_f32(shifted, round);
  float32x4_t r = vsubq_f32(d, vmulq_f32(n, vdupq_n_f32(TSL__EXP_LN2_HI)));
  r = vsubq_f32(r, vmulq_f32(n, vdupq_n_f32(TSL__EXP_LN2_LO)));
  float32x4_t q = vaddq_f32(vmulq_f32(vdupq_n_f32(TSL__EXP_Q4), r), vdupq_n_f32(TSL__EXP_Q3));
  q = vaddq_f32(vmulq_f32(q, r), vdupq_n_f32(TSL__EXP_Q2));
  q = vaddq_f32(vmulq_f32(q, r), vdupq_n_f32(TSL__EXP_Q1));
  q = vaddq_f32(vmulq_f32(q, r), vdupq_n_f32(TSL__EXP_Q0));
  float32x4_t p = vaddq_f32(vmulq_f32(q, vmulq_f32(r, r)), vaddq_f32(r, vdupq_n_f32(1.0f)));
  uint32x4_t bits = vaddq_u32(vreinterpretq_u32_f32(p), vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23));
  return vreinterpretq_f32_u32(vandq_u32(bits, keep));
}

typedef struct lanes {
  float64x2_t pair[8]; /* lanes 2 p and 2 p + 1 */
} lanes;

/* Add four weights to lanes 4 quarter … 4 quarter + 3. */
static inline void add_weights(lanes *to, int quarter, float32x4_t w) {
  to->pair[2 * quarter] = vaddq_f64(to->pair[2 * quarter], vcvt_f64_f32(vget_low_f32(w)));
  to->pair[2 * quarter + 1] = vaddq_f64(to->pair[2 * quarter + 1], vcvt_high_f64_f32(w));
}

static double fold(const lanes *from) {
  double lane[TSL__LOGITS_LANES];
  for (int i = 0; i < 8; i++) vst1q_f64(lane + 2 * i, from->pair[i]);
  return tsl__logits_fold(lane);
}

static lanes no_lanes(void) {
  lanes l;
  for (int i = 0; i < 8; i++) l.pair[i] = vdupq_n_f64(0);
  return l;
}

static inline float32x4_t masked(float32x4_t w, uint32_t bits) {
  return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(w), spread4(bits)));
}

static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const float32x4_t a = vdupq_n_f32(anchor), s = vdupq_n_f32(scale);
  lanes total = no_lanes();
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n);
    if (!m) continue; /* adding zeros changes no lane */
    const float *g = group_at(x, i, n, buffer);
    for (int j = 0; j < 4; j++) add_weights(&total, j, masked(weights(vld1q_f32(g + 4 * j), a, s), m >> (4 * j)));
  }
  return fold(&total);
}

static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const float32x4_t a = vdupq_n_f32(anchor), s = vdupq_n_f32(scale);
  lanes all = no_lanes(), legal = all;
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n);
    const float *g = group_at(x, i, n, buffer);
    for (int j = 0; j < 4; j++) {
      float32x4_t w = weights(vld1q_f32(g + 4 * j), a, s);
      add_weights(&all, j, w);
      if (m) add_weights(&legal, j, masked(w, m >> (4 * j)));
    }
  }
  return (tsl__logits_mass){fold(&all), fold(&legal)};
}

const tsl__logits_kernels tsl__logits_neon = {"neon", apply32, apply16, or_words, andnot_words, count_words, peak, above, sum, sum_both};
#else
typedef int tsl__logits_neon_not_built; /* ISO C wants a declaration in every file */
#endif
