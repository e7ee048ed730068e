/* logits_avx2.c - the kernels of logits.h with AVX2: 8 floats a step, the mask's bits spread over lanes by compare.
 *
 * A byte of the mask is broadcast to 8 lanes, each lane picks its bit, and comparing makes it all ones or zeros. A last group that is not whole
 * is copied to a buffer of 16.
 * Tested by tests/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/logits.h"

#if TSL__LOGITS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt")))

/* Eight bits as eight lanes of ones or zeros. */
TARGET static inline __m256i spread8(uint32_t bits) {
  const __m256i pick = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), pick), pick);
}

TARGET static inline __m256i spread16(uint32_t bits) {
  const __m256i pick = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, (short)-32768);
  return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((short)bits), pick), pick);
}

TARGET static void apply32(const uint32_t *mask, float *x, size_t width) {
  const __m256 minus_inf = _mm256_set1_ps(-INFINITY);
  size_t i = 0;
  for (; i + 32 <= width; i += 32) {
    uint32_t m = mask[i >> 5];
    for (size_t j = 0; j < 32; j += 8) {
      __m256 open = _mm256_castsi256_ps(spread8(m >> j)), v = _mm256_loadu_ps(x + i + j);
      _mm256_storeu_ps(x + i + j, _mm256_blendv_ps(minus_inf, v, open));
    }
  }
  for (; i < width; i++)
    if (!((mask[i >> 5] >> (i & 31)) & 1u)) x[i] = -INFINITY;
}

TARGET static void apply16(const uint32_t *mask, uint16_t *x, size_t width, uint16_t minus_inf) {
  const __m256i low = _mm256_set1_epi16((short)minus_inf);
  size_t i = 0;
  for (; i + 16 <= width; i += 16) {
    __m256i open = spread16(mask[i >> 5] >> (i & 31)), v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
    _mm256_storeu_si256((__m256i *)(void *)(x + i), _mm256_blendv_epi8(low, v, open));
  }
  for (; i < width; i++)
    if (!((mask[i >> 5] >> (i & 31)) & 1u)) x[i] = minus_inf;
}

TARGET static inline __m256i load_words(const uint32_t *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
TARGET static inline void store_words(uint32_t *p, __m256i v) { _mm256_storeu_si256((__m256i *)(void *)p, v); }

TARGET static void or_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 8 <= words; i += 8) store_words(to + i, _mm256_or_si256(load_words(to + i), load_words(from + i)));
  for (; i < words; i++) to[i] |= from[i];
}

TARGET static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 8 <= words; i += 8) store_words(to + i, _mm256_andnot_si256(load_words(from + i), load_words(to + i)));
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

/* The 16 elements at i, those past n being -inf; `buffer` is used only for the last group. */
static inline const float *group_at(const float *x, size_t i, size_t n, float buffer[16]) {
  if (n - i >= 16) return x + i;
  for (size_t j = 0; j < 16; j++) buffer[j] = i + j < n ? x[i + j] : -INFINITY;
  return buffer;
}

static float largest(const float *v) {
  float m = v[0];
  for (int i = 1; i < 8; i++)
    if (v[i] > m) m = v[i];
  return m;
}

TARGET static tsl__logits_peak peak(const float *x, const uint32_t *mask, size_t n) {
  const __m256 minus_inf = _mm256_set1_ps(-INFINITY);
  __m256 all = minus_inf, legal = minus_inf, nan = _mm256_setzero_ps();
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    const float *g = group_at(x, i, n, buffer);
    uint32_t m = tsl__logits_bits16(mask, i, n);
    for (int j = 0; j < 16; j += 8) {
      __m256 v = _mm256_loadu_ps(g + j), open = _mm256_castsi256_ps(spread8(m >> j));
      all = _mm256_max_ps(v, all); /* the second operand where one is NaN */
      __m256 w = _mm256_blendv_ps(minus_inf, v, open);
      legal = _mm256_max_ps(w, legal);
      nan = _mm256_or_ps(nan, _mm256_cmp_ps(w, w, _CMP_UNORD_Q));
    }
  }
  float a[8], l[8];
  _mm256_storeu_ps(a, all);
  _mm256_storeu_ps(l, legal);
  return (tsl__logits_peak){largest(a), largest(l), _mm256_movemask_ps(nan) != 0};
}

TARGET static void above(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t *bits) {
  const __m256 bar = _mm256_set1_ps(floor);
  float buffer[16];
  memset(bits, 0, (n + 31) / 32 * sizeof *bits);
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n);
    if (!m) continue;
    const float *g = group_at(x, i, n, buffer);
    uint32_t low = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(g), bar, _CMP_GE_OQ));
    uint32_t high = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(g + 8), bar, _CMP_GE_OQ));
    bits[i >> 5] |= (m & (low | high << 8)) << (i & 31);
  }
}

/* tsl__logits_weight of 8 elements, 0 where v is not finite. */
TARGET static inline __m256 weights(__m256 v, __m256 anchor, __m256 scale) {
  const __m256 lowest = _mm256_set1_ps(-FLT_MAX), round = _mm256_set1_ps(TSL__EXP_ROUND);
  __m256 keep = _mm256_and_ps(_mm256_cmp_ps(v, lowest, _CMP_GE_OQ), _mm256_cmp_ps(v, _mm256_set1_ps(FLT_MAX), _CMP_LE_OQ));
  __m256 d = _mm256_mul_ps(_mm256_max_ps(_mm256_sub_ps(v, anchor), lowest), scale);
  keep = _mm256_and_ps(keep, _mm256_cmp_ps(d, _mm256_set1_ps(TSL__EXP_FLOOR), _CMP_GE_OQ));
  __m256 shifted = _mm256_add_ps(_mm256_mul_ps(d, _mm256_set1_ps(TSL__EXP_LOG2E)), round);
  __m256 n = _mm256_sub_ps(shifted, round);
  __m256 r = _mm256_sub_ps(d, _mm256_mul_ps(n, _mm256_set1_ps(TSL__EXP_LN2_HI)));
  r = _mm256_sub_ps(r, _mm256_mul_ps(n, _mm256_set1_ps(TSL__EXP_LN2_LO)));
  __m256 q = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(TSL__EXP_Q4), r), _mm256_set1_ps(TSL__EXP_Q3));
  q = _mm256_add_ps(_mm256_mul_ps(q, r), _mm256_set1_ps(TSL__EXP_Q2));
  q = _mm256_add_ps(_mm256_mul_ps(q, r), _mm256_set1_ps(TSL__EXP_Q1));
  q = _mm256_add_ps(_mm256_mul_ps(q, r), _mm256_set1_ps(TSL__EXP_Q0));
  __m256 p = _mm256_add_ps(_mm256_mul_ps(q, _mm256_mul_ps(r, r)), _mm256_add_ps(r, _mm256_set1_ps(1.0f)));
  __m256i bits = _mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(shifted), 23));
  return _mm256_and_ps(_mm256_castsi256_ps(bits), keep);
}

typedef struct lanes {
  __m256d quarter[4]; /* lanes 4 q … 4 q + 3 */
} lanes;

/* Add eight weights to lanes 8 half … 8 half + 7. */
TARGET static inline void add_weights(lanes *to, int half, __m256 w) {
  to->quarter[2 * half] = _mm256_add_pd(to->quarter[2 * half], _mm256_cvtps_pd(_mm256_castps256_ps128(w)));
  to->quarter[2 * half + 1] = _mm256_add_pd(to->quarter[2 * half + 1], _mm256_cvtps_pd(_mm256_extractf128_ps(w, 1)));
}

TARGET static double fold(const lanes *from) {
  double lane[TSL__LOGITS_LANES];
  for (int i = 0; i < 4; i++) _mm256_storeu_pd(lane + 4 * i, from->quarter[i]);
  return tsl__logits_fold(lane);
}

TARGET static lanes no_lanes(void) {
  __m256d zero = _mm256_setzero_pd();
  return (lanes){{zero, zero, zero, zero}};
}

TARGET static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m256 a = _mm256_set1_ps(anchor), s = _mm256_set1_ps(scale);
  lanes total = no_lanes();
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n);
    if (!m) continue; /* adding zeros changes no lane */
    const float *g = group_at(x, i, n, buffer);
    for (int half = 0; half < 2; half++) {
      __m256 w = weights(_mm256_loadu_ps(g + 8 * half), a, s);
      add_weights(&total, half, _mm256_and_ps(w, _mm256_castsi256_ps(spread8(m >> (8 * half)))));
    }
  }
  return fold(&total);
}

TARGET static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m256 a = _mm256_set1_ps(anchor), s = _mm256_set1_ps(scale);
  lanes all = no_lanes(), legal = all;
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n);
    const float *g = group_at(x, i, n, buffer);
    for (int half = 0; half < 2; half++) {
      __m256 w = weights(_mm256_loadu_ps(g + 8 * half), a, s);
      add_weights(&all, half, w);
      if (m) add_weights(&legal, half, _mm256_and_ps(w, _mm256_castsi256_ps(spread8(m >> (8 * half)))));
    }
  }
  return (tsl__logits_mass){fold(&all), fold(&legal)};
}

const tsl__logits_kernels tsl__logits_avx2 = {"avx2", apply32, apply16, or_words, andnot_words, count_words, peak, above, sum, sum_both};
#else
typedef int tsl__logits_avx2_not_built; /* ISO C wants a declaration in every file */
#endif
