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

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt")))

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

TARGET static tsl__logits_peak peak(const float *x, const uint32_t *mask, size_t n) {
  const __m512 minus_inf = _mm512_set1_ps(-INFINITY);
  __m512 all = minus_inf, legal = minus_inf;
  uint32_t nan = 0;
  for (size_t i = 0; i < n; i += 16) {
    __mmask16 exist = lanes_at(i, n), m = (__mmask16)tsl__logits_bits16(mask, i, n);
    __m512 v = _mm512_mask_loadu_ps(minus_inf, exist, x + i);
    all = _mm512_max_ps(v, all); /* the second operand where one is NaN */
    legal = _mm512_mask_max_ps(legal, m, v, legal);
    nan |= _mm512_mask_cmp_ps_mask(m, v, v, _CMP_UNORD_Q);
  }
  float a[16], l[16];
  _mm512_storeu_ps(a, all);
  _mm512_storeu_ps(l, legal);
  tsl__logits_peak p = {a[0], l[0], nan != 0};
  for (int i = 1; i < 16; i++) {
    if (a[i] > p.all) p.all = a[i];
    if (l[i] > p.legal) p.legal = l[i];
  }
  return p;
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

/* tsl__logits_weight of 16 elements; garbage where v is not finite. */
TARGET static inline __m512 weights(__m512 v, __m512 anchor, __m512 scale) {
  __m512 d = _mm512_max_ps(_mm512_sub_ps(v, anchor), _mm512_set1_ps(-FLT_MAX));
  d = _mm512_mul_ps(d, scale);
  __mmask16 keep = _mm512_cmp_ps_mask(d, _mm512_set1_ps(TSL__EXP_FLOOR), _CMP_GE_OQ);
  const __m512 round = _mm512_set1_ps(TSL__EXP_ROUND);
  __m512 shifted = _mm512_add_ps(_mm512_mul_ps(d, _mm512_set1_ps(TSL__EXP_LOG2E)), round);
  __m512 n = _mm512_sub_ps(shifted, round);
  __m512 r = _mm512_sub_ps(d, _mm512_mul_ps(n, _mm512_set1_ps(TSL__EXP_LN2_HI)));
  r = _mm512_sub_ps(r, _mm512_mul_ps(n, _mm512_set1_ps(TSL__EXP_LN2_LO)));
  __m512 q = _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(TSL__EXP_Q4), r), _mm512_set1_ps(TSL__EXP_Q3));
  q = _mm512_add_ps(_mm512_mul_ps(q, r), _mm512_set1_ps(TSL__EXP_Q2));
  q = _mm512_add_ps(_mm512_mul_ps(q, r), _mm512_set1_ps(TSL__EXP_Q1));
  q = _mm512_add_ps(_mm512_mul_ps(q, r), _mm512_set1_ps(TSL__EXP_Q0));
  __m512 p = _mm512_add_ps(_mm512_mul_ps(q, _mm512_mul_ps(r, r)), _mm512_add_ps(r, _mm512_set1_ps(1.0f)));
  __m512i bits = _mm512_add_epi32(_mm512_castps_si512(p), _mm512_slli_epi32(_mm512_castps_si512(shifted), 23));
  return _mm512_maskz_mov_ps(keep, _mm512_castsi512_ps(bits));
}

typedef struct lanes {
  __m512d low, high; /* lanes 0 … 7 and 8 … 15 */
} lanes;

TARGET static inline void add_weights(lanes *to, __m512 w) {
  to->low = _mm512_add_pd(to->low, _mm512_cvtps_pd(_mm512_castps512_ps256(w)));
  to->high = _mm512_add_pd(to->high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(w, 1)));
}

TARGET static double fold(const lanes *from) {
  double lane[TSL__LOGITS_LANES];
  _mm512_storeu_pd(lane, from->low);
  _mm512_storeu_pd(lane + 8, from->high);
  return tsl__logits_fold(lane);
}

/* The finite ones of the lanes in m. */
TARGET static inline __mmask16 finite(__mmask16 m, __m512 v) {
  m = _mm512_mask_cmp_ps_mask(m, v, _mm512_set1_ps(-FLT_MAX), _CMP_GE_OQ);
  return _mm512_mask_cmp_ps_mask(m, v, _mm512_set1_ps(FLT_MAX), _CMP_LE_OQ);
}

TARGET static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m512 a = _mm512_set1_ps(anchor), s = _mm512_set1_ps(scale);
  lanes total = {_mm512_setzero_pd(), _mm512_setzero_pd()};
  for (size_t i = 0; i < n; i += 16) {
    __mmask16 m = (__mmask16)tsl__logits_bits16(mask, i, n);
    if (!m) continue; /* adding zeros changes no lane */
    __m512 v = _mm512_maskz_loadu_ps(m, x + i);
    add_weights(&total, _mm512_maskz_mov_ps(finite(m, v), weights(v, a, s)));
  }
  return fold(&total);
}

TARGET static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m512 a = _mm512_set1_ps(anchor), s = _mm512_set1_ps(scale);
  lanes all = {_mm512_setzero_pd(), _mm512_setzero_pd()}, legal = all;
  for (size_t i = 0; i < n; i += 16) {
    __mmask16 exist = lanes_at(i, n), m = (__mmask16)tsl__logits_bits16(mask, i, n);
    __m512 v = _mm512_maskz_loadu_ps(exist, x + i);
    __m512 w = _mm512_maskz_mov_ps(finite(exist, v), weights(v, a, s));
    add_weights(&all, w);
    if (m) add_weights(&legal, _mm512_maskz_mov_ps(m, w));
  }
  return (tsl__logits_mass){fold(&all), fold(&legal)};
}

const tsl__logits_kernels tsl__logits_avx512 = {"avx512",    apply32, apply16, or_words, andnot_words,
                                                count_words, peak,    above,   sum,      sum_both};
#else
typedef int tsl__logits_avx512_not_built; /* ISO C wants a declaration in every file */
#endif
