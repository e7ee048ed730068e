/* logits_neon.c - the kernels of logits.h with NEON (every 64-bit Arm): 4 floats a step, the mask's bits spread over lanes by test.
 *
 * Four bits of the mask are broadcast to 4 lanes and each lane tests its own. Multiplication and addition are fused where logits.h fuses
 * them and nowhere else: results must be those of the portable kernels to the bit. A last group that is not whole is copied to a buffer of 16.
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
  float32x4_t top[2] = {minus_inf, minus_inf};
  uint32x4_t ordered = vdupq_n_u32(UINT32_MAX);
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    const float *g = group_at(x, i, n, buffer);
    uint32_t m = tsl__logits_bits16(mask, i, n);
    if (!m) continue;
    for (int j = 0; j < 4; j++) {
      float32x4_t v = vbslq_f32(spread4(m >> (4 * j)), vld1q_f32(g + 4 * j), minus_inf);
      top[j & 1] = larger(v, top[j & 1]);
      ordered = vandq_u32(ordered, vceqq_f32(v, v));
    }
  }
  return (tsl__logits_peak){vmaxvq_f32(larger(top[0], top[1])), vminvq_u32(ordered) == 0};
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

static size_t list(const uint32_t *mask, size_t words, size_t most, uint32_t *places) {
  size_t n = 0;
  for (size_t w = 0; w < words; w += 16) {
    if (w + 16 <= words) { /* sixteen empty words at once */
      uint32x4_t a = vorrq_u32(vld1q_u32(mask + w), vld1q_u32(mask + w + 4)),
                 b = vorrq_u32(vld1q_u32(mask + w + 8), vld1q_u32(mask + w + 12));
      if (!vmaxvq_u32(vorrq_u32(a, b))) continue;
    }
    size_t end = w + 16 <= words ? w + 16 : words;
    for (size_t at = w; at < end; at++) {
      for (uint32_t left = mask[at]; left; left &= left - 1) places[n++] = (uint32_t)(at * 32) + (uint32_t)__builtin_ctz(left);
      if (n > most) return SIZE_MAX;
    }
  }
  return n;
}

static size_t gather(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t first, float *values, uint32_t *places) {
  const float32x4_t bar = vdupq_n_f32(floor);
  float buffer[16];
  size_t count = 0;
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n), high = 0;
    if (!m) continue;
    const float *g = group_at(x, i, n, buffer);
    for (int j = 0; j < 16; j += 4) high |= gather4(vcgeq_f32(vld1q_f32(g + j), bar)) << j;
    for (m &= high; m; m &= m - 1) {
      uint32_t j = (uint32_t)__builtin_ctz(m);
      values[count] = g[j];
      places[count++] = first + (uint32_t)i + j;
    }
  }
  return count;
}

/* tsl__logits_exp of 4 arguments. */
static inline float32x4_t exps(float32x4_t d) {
  const float32x4_t round = vdupq_n_f32(TSL__EXP_ROUND);
  uint32x4_t keep = vcgeq_f32(d, vdupq_n_f32(TSL__EXP_FLOOR));
  float32x4_t shifted = vfmaq_f32(round, d, vdupq_n_f32(TSL__EXP_LOG2E));
  float32x4_t n = vsubq_f32(shifted, round);
  float32x4_t r = vfmsq_f32(d, n, vdupq_n_f32(TSL__EXP_LN2_HI));
  r = vfmsq_f32(r, n, vdupq_n_f32(TSL__EXP_LN2_LO));
  float32x4_t q = vfmaq_f32(vdupq_n_f32(TSL__EXP_Q3), vdupq_n_f32(TSL__EXP_Q4), r);
  q = vfmaq_f32(vdupq_n_f32(TSL__EXP_Q2), q, r);
  q = vfmaq_f32(vdupq_n_f32(TSL__EXP_Q1), q, r);
  q = vfmaq_f32(vdupq_n_f32(TSL__EXP_Q0), q, r);
  float32x4_t p = vfmaq_f32(vaddq_f32(r, vdupq_n_f32(1.0f)), q, vmulq_f32(r, r));
  uint32x4_t bits = vaddq_u32(vreinterpretq_u32_f32(p), vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23));
  return vreinterpretq_f32_u32(vandq_u32(bits, keep));
}

static inline float32x4_t arguments(float32x4_t v, float32x4_t anchor, float32x4_t scale) { return vmulq_f32(vsubq_f32(v, anchor), scale); }

static void weigh(const float *x, size_t n, float anchor, float scale, float *weights) {
  const float32x4_t a = vdupq_n_f32(anchor), s = vdupq_n_f32(scale);
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    const float *g = group_at(x, i, n, buffer);
    for (size_t j = 0; j < 16; j += 4) vst1q_f32(weights + i + j, exps(arguments(vld1q_f32(g + j), a, s)));
  }
}

#define FOURS 16 /* vectors in 64 elements */

typedef struct lanes {
  float64x2_t pair[8]; /* lanes 2 p and 2 p + 1 */
} lanes;

static lanes no_lanes(void) {
  lanes l;
  for (int i = 0; i < 8; i++) l.pair[i] = vdupq_n_f64(0);
  return l;
}

/* Add 64 terms: each lane's four in float first. */
static inline void add_quad(lanes *to, const float32x4_t t[FOURS]) {
  for (int j = 0; j < 4; j++) {
    float32x4_t sum = vaddq_f32(vaddq_f32(t[j], t[j + 4]), vaddq_f32(t[j + 8], t[j + 12]));
    to->pair[2 * j] = vaddq_f64(to->pair[2 * j], vcvt_f64_f32(vget_low_f32(sum)));
    to->pair[2 * j + 1] = vaddq_f64(to->pair[2 * j + 1], vcvt_high_f64_f32(sum));
  }
}

static double fold(const lanes *from) {
  double lane[TSL__LOGITS_LANES];
  for (int i = 0; i < 8; i++) vst1q_f64(lane + 2 * i, from->pair[i]);
  return tsl__logits_fold(lane);
}

/* The 64 elements at i; those past n are -inf, in a buffer. */
static inline const float *quad_at(const float *x, size_t i, size_t n, float buffer[TSL__LOGITS_QUAD]) {
  if (n - i >= TSL__LOGITS_QUAD) return x + i;
  for (size_t j = 0; j < TSL__LOGITS_QUAD; j++) buffer[j] = i + j < n ? x[i + j] : -INFINITY;
  return buffer;
}

static inline float32x4_t both(float32x4_t t, uint32x4_t keep) { return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(t), keep)); }

/* Lanes of ones where the mask has a bit: four of 64. */
static inline uint32x4_t open_at(uint64_t m, int fourth) { return spread4((uint32_t)(m >> (4 * fourth))); }

static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const float32x4_t a = vdupq_n_f32(anchor), s = vdupq_n_f32(scale);
  lanes total = no_lanes();
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue; /* adding zeros changes no lane */
    const float *g = quad_at(x, i, n, buffer);
    float32x4_t w[FOURS];
    for (int j = 0; j < FOURS; j++) w[j] = both(exps(arguments(vld1q_f32(g + 4 * j), a, s)), open_at(m, j));
    add_quad(&total, w);
  }
  return fold(&total);
}

static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const float32x4_t a = vdupq_n_f32(anchor), s = vdupq_n_f32(scale);
  lanes all = no_lanes(), legal = all;
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    const float *g = quad_at(x, i, n, buffer);
    float32x4_t w[FOURS];
    for (int j = 0; j < FOURS; j++) w[j] = exps(arguments(vld1q_f32(g + 4 * j), a, s));
    add_quad(&all, w);
    if (!m) continue;
    for (int j = 0; j < FOURS; j++) w[j] = both(w[j], open_at(m, j));
    add_quad(&legal, w);
  }
  return (tsl__logits_mass){fold(&all), fold(&legal)};
}

static tsl__logits_moments moments(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const float32x4_t a = vdupq_n_f32(anchor), s = vdupq_n_f32(scale), zero = vdupq_n_f32(0);
  lanes mass = no_lanes(), moment = mass;
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = quad_at(x, i, n, buffer);
    float32x4_t w[FOURS], t[FOURS];
    for (int j = 0; j < FOURS; j++) {
      float32x4_t d = arguments(vld1q_f32(g + 4 * j), a, s);
      w[j] = both(exps(d), open_at(m, j));
      t[j] = both(vmulq_f32(w[j], d), vcgtq_f32(w[j], zero));
    }
    add_quad(&mass, w);
    add_quad(&moment, t);
  }
  return (tsl__logits_moments){fold(&mass), fold(&moment)};
}

static tsl__logits_spread spread(const float *x, const uint32_t *mask, size_t n, float anchor) {
  const float32x4_t a = vdupq_n_f32(anchor), lowest = vdupq_n_f32(-FLT_MAX), highest = vdupq_n_f32(FLT_MAX);
  lanes count = no_lanes(), total = count, square = count;
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = quad_at(x, i, n, buffer);
    float32x4_t c[FOURS], d[FOURS], q[FOURS];
    for (int j = 0; j < FOURS; j++) {
      float32x4_t v = vld1q_f32(g + 4 * j);
      uint32x4_t finite = vandq_u32(vandq_u32(vcgeq_f32(v, lowest), vcleq_f32(v, highest)), open_at(m, j));
      c[j] = both(vdupq_n_f32(1.0f), finite);
      d[j] = both(vsubq_f32(v, a), finite);
      q[j] = vmulq_f32(d[j], d[j]);
    }
    add_quad(&count, c);
    add_quad(&total, d);
    add_quad(&square, q);
  }
  return (tsl__logits_spread){fold(&count), fold(&total), fold(&square)};
}

const tsl__logits_kernels tsl__logits_neon = {"neon", apply32, apply16, or_words, andnot_words, count_words, list,  peak,
                                              above,  gather,  weigh,   sum,      sum_both,     moments,     spread};
#else
typedef int tsl__logits_neon_not_built; /* ISO C wants a declaration in every file */
#endif
