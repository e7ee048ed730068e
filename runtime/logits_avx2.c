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

#define TARGET __attribute__((target("avx2,fma,popcnt")))

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
  __m256 top[2] = {minus_inf, minus_inf}, nan = _mm256_setzero_ps();
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    const float *g = group_at(x, i, n, buffer);
    uint32_t m = tsl__logits_bits16(mask, i, n);
    if (!m) continue;
    for (int half = 0; half < 2; half++) {
      __m256 v = _mm256_blendv_ps(minus_inf, _mm256_loadu_ps(g + 8 * half), _mm256_castsi256_ps(spread8(m >> (8 * half))));
      top[half] = _mm256_max_ps(v, top[half]); /* the second operand where one is NaN */
      nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
  }
  float t[8];
  _mm256_storeu_ps(t, _mm256_max_ps(top[0], top[1]));
  return (tsl__logits_peak){largest(t), _mm256_movemask_ps(nan) != 0};
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

TARGET static size_t list(const uint32_t *mask, size_t words, size_t most, uint32_t *places) {
  size_t n = 0;
  for (size_t w = 0; w < words; w += 16) {
    if (w + 16 <= words) { /* sixteen empty words at once */
      __m256i some = _mm256_or_si256(load_words(mask + w), load_words(mask + w + 8));
      if (_mm256_testz_si256(some, some)) continue;
    }
    size_t end = w + 16 <= words ? w + 16 : words;
    for (size_t at = w; at < end; at++) {
      for (uint32_t left = mask[at]; left; left &= left - 1) places[n++] = (uint32_t)(at * 32) + (uint32_t)__builtin_ctz(left);
      if (n > most) return SIZE_MAX;
    }
  }
  return n;
}

TARGET static size_t gather(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t first, float *values, uint32_t *places) {
  const __m256 bar = _mm256_set1_ps(floor);
  float buffer[16];
  size_t count = 0;
  for (size_t i = 0; i < n; i += 16) {
    uint32_t m = tsl__logits_bits16(mask, i, n);
    if (!m) continue;
    const float *g = group_at(x, i, n, buffer);
    uint32_t low = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(g), bar, _CMP_GE_OQ));
    uint32_t high = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(g + 8), bar, _CMP_GE_OQ));
    for (m &= low | high << 8; m; m &= m - 1) {
      uint32_t j = (uint32_t)__builtin_ctz(m);
      values[count] = g[j];
      places[count++] = first + (uint32_t)i + j;
    }
  }
  return count;
}

/* tsl__logits_exp of 8 arguments. */
TARGET static inline __m256 exps(__m256 d) {
  const __m256 round = _mm256_set1_ps(TSL__EXP_ROUND);
  __m256 keep = _mm256_cmp_ps(d, _mm256_set1_ps(TSL__EXP_FLOOR), _CMP_GE_OQ);
  __m256 shifted = _mm256_fmadd_ps(d, _mm256_set1_ps(TSL__EXP_LOG2E), round);
  __m256 n = _mm256_sub_ps(shifted, round);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(TSL__EXP_LN2_HI), d);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(TSL__EXP_LN2_LO), r);
  __m256 q = _mm256_fmadd_ps(_mm256_set1_ps(TSL__EXP_Q4), r, _mm256_set1_ps(TSL__EXP_Q3));
  q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(TSL__EXP_Q2));
  q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(TSL__EXP_Q1));
  q = _mm256_fmadd_ps(q, r, _mm256_set1_ps(TSL__EXP_Q0));
  __m256 p = _mm256_fmadd_ps(q, _mm256_mul_ps(r, r), _mm256_add_ps(r, _mm256_set1_ps(1.0f)));
  __m256i bits = _mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(shifted), 23));
  return _mm256_and_ps(_mm256_castsi256_ps(bits), keep);
}

TARGET static inline __m256 arguments(__m256 v, __m256 anchor, __m256 scale) { return _mm256_mul_ps(_mm256_sub_ps(v, anchor), scale); }

TARGET static void weigh(const float *x, size_t n, float anchor, float scale, float *weights) {
  const __m256 a = _mm256_set1_ps(anchor), s = _mm256_set1_ps(scale);
  float buffer[16];
  for (size_t i = 0; i < n; i += 16) {
    const float *g = group_at(x, i, n, buffer);
    _mm256_storeu_ps(weights + i, exps(arguments(_mm256_loadu_ps(g), a, s)));
    _mm256_storeu_ps(weights + i + 8, exps(arguments(_mm256_loadu_ps(g + 8), a, s)));
  }
}

#define EIGHTS 8 /* vectors in 64 elements */

typedef struct lanes {
  __m256d quarter[4]; /* lanes 4 q … 4 q + 3 */
} lanes;

TARGET static inline lanes no_lanes(void) {
  __m256d zero = _mm256_setzero_pd();
  return (lanes){{zero, zero, zero, zero}};
}

/* Add 64 terms: each lane's four in float first. */
TARGET static inline void add_quad(lanes *to, const __m256 t[EIGHTS]) {
  for (int half = 0; half < 2; half++) {
    __m256 sum = _mm256_add_ps(_mm256_add_ps(t[half], t[half + 2]), _mm256_add_ps(t[half + 4], t[half + 6]));
    to->quarter[2 * half] = _mm256_add_pd(to->quarter[2 * half], _mm256_cvtps_pd(_mm256_castps256_ps128(sum)));
    to->quarter[2 * half + 1] = _mm256_add_pd(to->quarter[2 * half + 1], _mm256_cvtps_pd(_mm256_extractf128_ps(sum, 1)));
  }
}

TARGET static double fold(const lanes *from) {
  double lane[TSL__LOGITS_LANES];
  for (int i = 0; i < 4; i++) _mm256_storeu_pd(lane + 4 * i, from->quarter[i]);
  return tsl__logits_fold(lane);
}

/* The 64 elements at i; those past n are -inf, in a buffer. */
TARGET static inline const float *quad_at(const float *x, size_t i, size_t n, float buffer[TSL__LOGITS_QUAD]) {
  if (n - i >= TSL__LOGITS_QUAD) return x + i;
  for (size_t j = 0; j < TSL__LOGITS_QUAD; j++) buffer[j] = i + j < n ? x[i + j] : -INFINITY;
  return buffer;
}

/* Eight terms, 0 where the mask has none. */
TARGET static inline __m256 masked(__m256 t, uint64_t m, int eighth) {
  return _mm256_and_ps(t, _mm256_castsi256_ps(spread8((uint32_t)(m >> (8 * eighth)))));
}

TARGET static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m256 a = _mm256_set1_ps(anchor), s = _mm256_set1_ps(scale);
  lanes total = no_lanes();
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue; /* adding zeros changes no lane */
    const float *g = quad_at(x, i, n, buffer);
    __m256 w[EIGHTS];
    for (int j = 0; j < EIGHTS; j++) w[j] = masked(exps(arguments(_mm256_loadu_ps(g + 8 * j), a, s)), m, j);
    add_quad(&total, w);
  }
  return fold(&total);
}

TARGET static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m256 a = _mm256_set1_ps(anchor), s = _mm256_set1_ps(scale);
  lanes all = no_lanes(), legal = all;
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    const float *g = quad_at(x, i, n, buffer);
    __m256 w[EIGHTS];
    for (int j = 0; j < EIGHTS; j++) w[j] = exps(arguments(_mm256_loadu_ps(g + 8 * j), a, s));
    add_quad(&all, w);
    if (!m) continue;
    for (int j = 0; j < EIGHTS; j++) w[j] = masked(w[j], m, j);
    add_quad(&legal, w);
  }
  return (tsl__logits_mass){fold(&all), fold(&legal)};
}

TARGET static tsl__logits_moments moments(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  const __m256 a = _mm256_set1_ps(anchor), s = _mm256_set1_ps(scale), zero = _mm256_setzero_ps();
  lanes mass = no_lanes(), moment = mass;
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = quad_at(x, i, n, buffer);
    __m256 w[EIGHTS], t[EIGHTS];
    for (int j = 0; j < EIGHTS; j++) {
      __m256 d = arguments(_mm256_loadu_ps(g + 8 * j), a, s);
      w[j] = masked(exps(d), m, j);
      t[j] = _mm256_and_ps(_mm256_mul_ps(w[j], d), _mm256_cmp_ps(w[j], zero, _CMP_GT_OQ));
    }
    add_quad(&mass, w);
    add_quad(&moment, t);
  }
  return (tsl__logits_moments){fold(&mass), fold(&moment)};
}

TARGET static tsl__logits_spread spread(const float *x, const uint32_t *mask, size_t n, float anchor) {
  const __m256 a = _mm256_set1_ps(anchor), lowest = _mm256_set1_ps(-FLT_MAX), highest = _mm256_set1_ps(FLT_MAX);
  lanes count = no_lanes(), total = count, square = count;
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = quad_at(x, i, n, buffer);
    __m256 c[EIGHTS], d[EIGHTS], q[EIGHTS];
    for (int j = 0; j < EIGHTS; j++) {
      __m256 v = _mm256_loadu_ps(g + 8 * j);
      __m256 finite = _mm256_and_ps(_mm256_cmp_ps(v, lowest, _CMP_GE_OQ), _mm256_cmp_ps(v, highest, _CMP_LE_OQ));
      finite = masked(finite, m, j);
      c[j] = _mm256_and_ps(_mm256_set1_ps(1.0f), finite);
      d[j] = _mm256_and_ps(_mm256_sub_ps(v, a), finite);
      q[j] = _mm256_mul_ps(d[j], d[j]);
    }
    add_quad(&count, c);
    add_quad(&total, d);
    add_quad(&square, q);
  }
  return (tsl__logits_spread){fold(&count), fold(&total), fold(&square)};
}

const tsl__logits_kernels tsl__logits_avx2 = {"avx2", apply32, apply16, or_words, andnot_words, count_words, list,  peak,
                                              above,  gather,  weigh,   sum,      sum_both,     moments,     spread};
#else
typedef int tsl__logits_avx2_not_built; /* ISO C wants a declaration in every file */
#endif
