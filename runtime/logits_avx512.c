/* logits_avx512.c - the kernels of logits.h with AVX-512 (F, BW, DQ, VL): 16 floats, one mask register, a step.
 *
 * A half word of the mask is a mask register as it stands, so nothing is expanded. Elements past the end are never read: the loads of the
 * last group are masked.
 * Tested by tests/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/logits.h"

#if TSL__LOGITS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,popcnt")))

/* The lanes of the group at i that exist. */
TARGET static inline __mmask16 lanes_at(size_t i, size_t n) { return n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1); }

TARGET static void apply32(const uint32_t *mask, float *x, size_t width) {
  const __m512 minus_inf = _mm512_set1_ps(-INFINITY);
  size_t i = 0;
  for (; i + 32 <= width; i += 32) {
    uint32_t m = mask[i >> 5];
    __m512 a = _mm512_loadu_ps(x + i), b = _mm512_loadu_ps(x + i + 16);
    _mm512_storeu_ps(x + i, _mm512_mask_mov_ps(minus_inf, (__mmask16)m, a));
    _mm512_storeu_ps(x + i + 16, _mm512_mask_mov_ps(minus_inf, (__mmask16)(m >> 16), b));
  }
  for (; i < width; i += 16) {
    __mmask16 closed = (__mmask16)(lanes_at(i, width) & ~tsl__logits_bits16(mask, i, width));
    _mm512_mask_storeu_ps(x + i, closed, minus_inf);
  }
}

TARGET static void apply16(const uint32_t *mask, uint16_t *x, size_t width, uint16_t minus_inf) {
  const __m512i low = _mm512_set1_epi16((short)minus_inf);
  size_t i = 0;
  for (; i + 32 <= width; i += 32) {
    __m512i a = _mm512_loadu_si512(x + i);
    _mm512_storeu_si512(x + i, _mm512_mask_mov_epi16(low, (__mmask32)mask[i >> 5], a));
  }
  if (i < width) {
    __mmask32 exist = (1u << (width - i)) - 1;
    _mm512_mask_storeu_epi16(x + i, (__mmask32)(exist & ~mask[i >> 5]), low);
  }
}

TARGET static void or_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 16 <= words; i += 16) _mm512_storeu_si512(to + i, _mm512_or_si512(_mm512_loadu_si512(to + i), _mm512_loadu_si512(from + i)));
  for (; i < words; i++) to[i] |= from[i];
}

TARGET static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 16 <= words; i += 16)
    _mm512_storeu_si512(to + i, _mm512_andnot_si512(_mm512_loadu_si512(from + i), _mm512_loadu_si512(to + i)));
  for (; i < words; i++) to[i] &= ~from[i];
}

TARGET static size_t count_words(const uint32_t *mask, size_t words) {
  size_t n = 0, i = 0;
  for (; i + 2 <= words; i += 2) {
    uint64_t w;
    memcpy(&w, mask + i, sizeof w);
    n += (size_t)__builtin_popcountll(w);
  }
  if (i < words) n += (size_t)__builtin_popcount(mask[i]);
  return n;
}

/* The words that are not empty, sixteen at a time. */
TARGET static size_t list(const uint32_t *mask, size_t words, size_t most, uint32_t *places) {
  size_t n = 0;
  for (size_t w = 0; w < words; w += 16) {
    __m512i v = _mm512_maskz_loadu_epi32(lanes_at(w, words), mask + w);
    for (uint32_t some = _mm512_test_epi32_mask(v, v); some; some &= some - 1) {
      size_t at = w + (size_t)__builtin_ctz(some);
      for (uint32_t left = mask[at]; left; left &= left - 1) places[n++] = (uint32_t)(at * 32) + (uint32_t)__builtin_ctz(left);
      if (n > most) return SIZE_MAX;
    }
  }
  return n;
}

/* What peak has seen: four accumulators, so that no comparison waits for the one before. */
typedef struct peaks {
  __m512 top[4];
  uint32_t nan;
} peaks;

TARGET static inline void peak_group(peaks *p, int j, __m512 v, __mmask16 m) {
  p->top[j] = _mm512_mask_max_ps(p->top[j], m, v, p->top[j]); /* the second operand where one is NaN */
  p->nan |= _mm512_mask_cmp_ps_mask(m, v, v, _CMP_UNORD_Q);
}

TARGET static tsl__logits_peak peak(const float *x, const uint32_t *mask, size_t n) {
  const __m512 low = _mm512_set1_ps(-INFINITY);
  peaks p = {{low, low, low, low}, 0};
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    uint32_t m0 = mask[i >> 5], m1 = mask[(i >> 5) + 1];
    peak_group(&p, 0, _mm512_loadu_ps(x + i), (__mmask16)m0);
    peak_group(&p, 1, _mm512_loadu_ps(x + i + 16), (__mmask16)(m0 >> 16));
    peak_group(&p, 2, _mm512_loadu_ps(x + i + 32), (__mmask16)m1);
    peak_group(&p, 3, _mm512_loadu_ps(x + i + 48), (__mmask16)(m1 >> 16));
  }
  for (; i < n; i += 16) peak_group(&p, 0, _mm512_mask_loadu_ps(low, lanes_at(i, n), x + i), (__mmask16)tsl__logits_bits16(mask, i, n));
  return (tsl__logits_peak){_mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(p.top[0], p.top[1]), _mm512_max_ps(p.top[2], p.top[3]))),
                            p.nan != 0};
}

TARGET static void above(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t *bits) {
  const __m512 bar = _mm512_set1_ps(floor);
  for (size_t i = 0; i < n; i += 32) {
    uint32_t out = 0;
    for (size_t j = i; j < i + 32 && j < n; j += 16) {
      __mmask16 m = (__mmask16)tsl__logits_bits16(mask, j, n);
      __m512 v = _mm512_maskz_loadu_ps(m, x + j);
      out |= (uint32_t)_mm512_mask_cmp_ps_mask(m, v, bar, _CMP_GE_OQ) << (j - i);
    }
    bits[i >> 5] = out;
  }
}

/* Values are compressed in a register and stored whole: storing under a mask is slow on some processors. */
TARGET static size_t gather(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t first, float *values, uint32_t *places) {
  const __m512 bar = _mm512_set1_ps(floor);
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  size_t count = 0;
  for (size_t i = 0; i < n; i += 16) {
    __mmask16 m = (__mmask16)tsl__logits_bits16(mask, i, n);
    __m512 v = _mm512_maskz_loadu_ps(m, x + i);
    m = _mm512_mask_cmp_ps_mask(m, v, bar, _CMP_GE_OQ);
    if (!m) continue;
    __m512i at = _mm512_add_epi32(steps, _mm512_set1_epi32((int)(first + (uint32_t)i)));
    _mm512_storeu_ps(values + count, _mm512_maskz_compress_ps(m, v));
    _mm512_storeu_si512(places + count, _mm512_maskz_compress_epi32(m, at));
    count += (size_t)__builtin_popcount(m);
  }
  return count;
}

/* tsl__logits_exp of 16 arguments. */
TARGET static inline __m512 exps(__m512 d) {
  const __m512 round = _mm512_set1_ps(TSL__EXP_ROUND);
  __mmask16 keep = _mm512_cmp_ps_mask(d, _mm512_set1_ps(TSL__EXP_FLOOR), _CMP_GE_OQ);
  __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(d, _mm512_set1_ps(TSL__EXP_LOG2E), round), round);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(TSL__EXP_LN2_HI), d);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(TSL__EXP_LN2_LO), r);
  __m512 q = _mm512_fmadd_ps(_mm512_set1_ps(TSL__EXP_Q4), r, _mm512_set1_ps(TSL__EXP_Q3));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(TSL__EXP_Q2));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(TSL__EXP_Q1));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(TSL__EXP_Q0));
  __m512 p = _mm512_fmadd_ps(q, _mm512_mul_ps(r, r), _mm512_add_ps(r, _mm512_set1_ps(1.0f)));
  return _mm512_maskz_scalef_ps(keep, p, n); /* times 2^n */
}

TARGET static inline __m512 arguments(__m512 v, __m512 anchor, __m512 scale) { return _mm512_mul_ps(_mm512_sub_ps(v, anchor), scale); }

TARGET static void weigh(const float *x, size_t n, float anchor, float scale, float *weights) {
  const __m512 a = _mm512_set1_ps(anchor), s = _mm512_set1_ps(scale);
  for (size_t i = 0; i < n; i += 16) _mm512_storeu_ps(weights + i, exps(arguments(_mm512_maskz_loadu_ps(lanes_at(i, n), x + i), a, s)));
}

typedef struct lanes {
  __m512d low, high; /* lanes 0 … 7 and 8 … 15 */
} lanes;

TARGET static inline lanes no_lanes(void) { return (lanes){_mm512_setzero_pd(), _mm512_setzero_pd()}; }

/* Add 64 terms: each lane's four in float first. */
TARGET static inline void add_quad(lanes *to, const __m512 t[4]) {
  __m512 sum = _mm512_add_ps(_mm512_add_ps(t[0], t[1]), _mm512_add_ps(t[2], t[3]));
  to->low = _mm512_add_pd(to->low, _mm512_cvtps_pd(_mm512_castps512_ps256(sum)));
  to->high = _mm512_add_pd(to->high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(sum, 1)));
}

/* tsl__logits_fold: 16 to 8, to 4, to 2, to 1. */
TARGET static inline double fold(const lanes *from) {
  __m512d eight = _mm512_add_pd(from->low, from->high);
  __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
  __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* The elements of group j of the 64 at x, -inf (which weighs nothing) where m has no bit: those are not read. */
TARGET static inline __m512 load_group(const float *x, int j, uint64_t m) {
  return _mm512_mask_loadu_ps(_mm512_set1_ps(-INFINITY), (__mmask16)(m >> (16 * j)), x + 16 * j);
}

/* The bits of the elements i … i + 63 that exist. */
static inline uint64_t existing(size_t i, size_t n) { return n - i >= 64 ? UINT64_MAX : ((uint64_t)1 << (n - i)) - 1; }

TARGET static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m512 a = _mm512_set1_ps(anchor), s = _mm512_set1_ps(scale);
  lanes total = no_lanes();
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue; /* adding zeros changes no lane */
    __m512 w[4];
    for (int j = 0; j < 4; j++) w[j] = exps(arguments(load_group(x + i, j, m), a, s));
    add_quad(&total, w);
  }
  return fold(&total);
}

TARGET static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m512 a = _mm512_set1_ps(anchor), s = _mm512_set1_ps(scale);
  lanes all = no_lanes(), legal = all;
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n), exist = existing(i, n);
    __m512 w[4];
    for (int j = 0; j < 4; j++) w[j] = exps(arguments(load_group(x + i, j, exist), a, s));
    add_quad(&all, w);
    if (!m) continue;
    for (int j = 0; j < 4; j++) w[j] = _mm512_maskz_mov_ps((__mmask16)(m >> (16 * j)), w[j]);
    add_quad(&legal, w);
  }
  return (tsl__logits_mass){fold(&all), fold(&legal)};
}

TARGET static tsl__logits_moments moments(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m512 a = _mm512_set1_ps(anchor), s = _mm512_set1_ps(scale), zero = _mm512_setzero_ps();
  lanes mass = no_lanes(), moment = mass;
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    __m512 w[4], t[4];
    for (int j = 0; j < 4; j++) {
      __m512 d = arguments(load_group(x + i, j, m), a, s);
      w[j] = exps(d);
      t[j] = _mm512_maskz_mul_ps(_mm512_cmp_ps_mask(w[j], zero, _CMP_GT_OQ), w[j], d);
    }
    add_quad(&mass, w);
    add_quad(&moment, t);
  }
  return (tsl__logits_moments){fold(&mass), fold(&moment)};
}

TARGET static tsl__logits_spread spread(const float *x, const uint32_t *mask, size_t n, float anchor) {
  const __m512 a = _mm512_set1_ps(anchor), lowest = _mm512_set1_ps(-FLT_MAX), highest = _mm512_set1_ps(FLT_MAX);
  lanes count = no_lanes(), total = count, square = count;
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    __m512 c[4], d[4], q[4];
    for (int j = 0; j < 4; j++) {
      __m512 v = load_group(x + i, j, m);
      __mmask16 finite = _mm512_cmp_ps_mask(v, lowest, _CMP_GE_OQ);
      finite = _mm512_mask_cmp_ps_mask(finite, v, highest, _CMP_LE_OQ);
      c[j] = _mm512_maskz_mov_ps(finite, _mm512_set1_ps(1.0f));
      d[j] = _mm512_maskz_sub_ps(finite, v, a);
      q[j] = _mm512_mul_ps(d[j], d[j]);
    }
    add_quad(&count, c);
    add_quad(&total, d);
    add_quad(&square, q);
  }
  return (tsl__logits_spread){fold(&count), fold(&total), fold(&square)};
}

const tsl__logits_kernels tsl__logits_avx512 = {"avx512", apply32, apply16, or_words, andnot_words, count_words, list,  peak,
                                                above,    gather,  weigh,   sum,      sum_both,     moments,     spread};
#else
typedef int tsl__logits_avx512_not_built; /* ISO C wants a declaration in every file */
#endif
