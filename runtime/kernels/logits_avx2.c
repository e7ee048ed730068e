/* logits_avx2.c - the kernels of logits.h with AVX2: 8 floats a step, the mask's bits spread over
 * lanes by compare.
 *
 * Idea      There is no register for masks. A byte of the mask is broadcast to 8 lanes, each lane
 *           picks its bit, and comparing makes it all ones or zeros. The loops over logits are
 *           those of logits_lanes.h; here are the loops over words of masks, and what sixteen
 *           floats are: two registers.
 * Example   Mask bits 0b00000101: lane 0 picks 1, lane 2 picks 4, the others pick 0. Compared with
 *           what they could pick, lanes 0 and 2 are all ones: blend keeps their logits, the others
 *           become -inf.
 * Cost      A load, a compare, a blend and a store for eight logits.
 * Tested by tests/kernels/test_logits.c, against the portable kernels, bit for bit
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/logits.h"
#include "runtime/kernels/trie_sound.h"

#if TSL__LOGITS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,popcnt")))

/* Eight bits as eight lanes of ones or zeros. */
TARGET static inline __m256i spread8(uint32_t bits) {
  const __m256i pick = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), pick), pick);
}

/* Sixteen bits as sixteen lanes of 16 bits, for half floats. */
TARGET static inline __m256i spread16(uint32_t bits) {
  const __m256i pick = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                         8192, 16384, (short)-32768);
  return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((short)bits), pick), pick);
}

/* A word of the mask is four groups of eight. What is left of a row, fewer than 32, is done one by
 * one. */
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
    __m256i open = spread16(mask[i >> 5] >> (i & 31)),
            v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
    _mm256_storeu_si256((__m256i *)(void *)(x + i), _mm256_blendv_epi8(low, v, open));
  }
  for (; i < width; i++)
    if (!((mask[i >> 5] >> (i & 31)) & 1u)) x[i] = minus_inf;
}

TARGET static inline __m256i load_words(const uint32_t *p) {
  return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
TARGET static inline void store_words(uint32_t *p, __m256i v) {
  _mm256_storeu_si256((__m256i *)(void *)p, v);
}

/* What is written is aligned, where the system's memcpy may move byte by byte: the first and the
 * last vector overlap their neighbours. */
TSL__EACH_TOKEN TARGET static void copy_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t first = (32 - ((uintptr_t)to & 31)) / sizeof *to, i = first;
  if (words < 8) {
    memcpy(to, from, words * sizeof *to);
    return;
  }
  size_t steps = (words - first) / 32;
  bool backward = tsl__logits_backward(to, from);
  store_words(to, load_words(from));
  for (size_t k = 0; k < steps; k++) {
    i = first + (backward ? steps - 1 - k : k) * 32;
    __m256i a = load_words(from + i), b = load_words(from + i + 8), c = load_words(from + i + 16),
            d = load_words(from + i + 24);
    store_words(to + i, a);
    store_words(to + i + 8, b);
    store_words(to + i + 16, c);
    store_words(to + i + 24, d);
  }
  for (i = first + steps * 32; i + 8 <= words; i += 8) store_words(to + i, load_words(from + i));
  store_words(to + words - 8, load_words(from + words - 8));
}

TSL__EACH_TOKEN TARGET static void or_words(uint32_t *to, const uint32_t *a, const uint32_t *b,
                                            size_t words) {
  size_t i = 0;
  for (; i + 8 <= words; i += 8)
    store_words(to + i, _mm256_or_si256(load_words(a + i), load_words(b + i)));
  for (; i < words; i++) to[i] = a[i] | b[i];
}

TARGET static void and_words(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words) {
  size_t i = 0;
  for (; i + 8 <= words; i += 8)
    store_words(to + i, _mm256_and_si256(load_words(a + i), load_words(b + i)));
  for (; i < words; i++) to[i] = a[i] & b[i];
}

TARGET static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 8 <= words; i += 8)
    store_words(to + i, _mm256_andnot_si256(load_words(from + i), load_words(to + i)));
  for (; i < words; i++) to[i] &= ~from[i];
}

/* Two words at a time by the instruction that counts bits. */
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

/* Lists are made of masks with few bits, so that most words are empty: they are passed over sixteen
 * at a time. The count is compared after each word, which is why `places` has room for 32 more. */
TARGET static size_t list(const uint32_t *mask, size_t words, size_t most, uint32_t *places) {
  size_t n = 0;
  for (size_t w = 0; w < words; w += 16) {
    if (w + 16 <= words) { /* sixteen empty words at once */
      __m256i some = _mm256_or_si256(load_words(mask + w), load_words(mask + w + 8));
      if (_mm256_testz_si256(some, some)) continue;
    }
    size_t end = w + 16 <= words ? w + 16 : words;
    for (size_t at = w; at < end; at++) {
      for (uint32_t left = mask[at]; left; left &= left - 1)
        places[n++] = (uint32_t)(at * 32) + (uint32_t)__builtin_ctz(left);
      if (n > most) return SIZE_MAX;
    }
  }
  return n;
}

/* ---- sixteen floats: two registers; lanes of a mask: ones or zeros in two registers ---------- */

typedef struct v16 {
  __m256 low, high; /* lanes 0 … 7 and 8 … 15 */
} v16;
typedef v16 m16;
typedef struct d16 {
  __m256d quarter[4]; /* lanes 4 q … 4 q + 3 */
} d16;

TARGET static inline v16 v_set(float x) { return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
TARGET static inline v16 v_load(const float *p) {
  return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
TARGET static inline void v_store(float *p, v16 v) {
  _mm256_storeu_ps(p, v.low);
  _mm256_storeu_ps(p + 8, v.high);
}
TARGET static inline v16 v_add(v16 a, v16 b) {
  return (v16){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
TARGET static inline v16 v_sub(v16 a, v16 b) {
  return (v16){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
TARGET static inline v16 v_mul(v16 a, v16 b) {
  return (v16){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
TARGET static inline v16 v_fma(v16 a, v16 b, v16 c) {
  return (v16){_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
TARGET static inline v16 v_and(v16 a, v16 b) {
  return (v16){_mm256_and_ps(a.low, b.low), _mm256_and_ps(a.high, b.high)};
}
TARGET static inline v16 v_or(v16 a, v16 b) {
  return (v16){_mm256_or_ps(a.low, b.low), _mm256_or_ps(a.high, b.high)};
}
/* -0.0 is the sign alone. */
TARGET static inline v16 v_minus_abs(v16 a) { return v_or(a, v_set(-0.0f)); }
TARGET static inline v16 v_larger(v16 v, v16 old) { /* the second operand where one is NaN */
  return (v16){_mm256_max_ps(v.low, old.low), _mm256_max_ps(v.high, old.high)};
}
TARGET static inline float v_top(v16 v) {
  __m256 eight = _mm256_max_ps(v.low, v.high);
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

TARGET static inline m16 m_of(uint32_t bits) {
  return (m16){_mm256_castsi256_ps(spread8(bits)), _mm256_castsi256_ps(spread8(bits >> 8))};
}
TARGET static inline uint32_t m_bits(m16 m) {
  return (uint32_t)_mm256_movemask_ps(m.low) | (uint32_t)_mm256_movemask_ps(m.high) << 8;
}
TARGET static inline m16 m_or(m16 a, m16 b) { return v_or(a, b); }
TARGET static inline m16 m_ge(m16 within, v16 a, v16 b) {
  return v_and(within, (m16){_mm256_cmp_ps(a.low, b.low, _CMP_GE_OQ),
                             _mm256_cmp_ps(a.high, b.high, _CMP_GE_OQ)});
}
TARGET static inline m16 m_nan(v16 a, v16 b) {
  return (m16){_mm256_cmp_ps(a.low, b.low, _CMP_UNORD_Q),
               _mm256_cmp_ps(a.high, b.high, _CMP_UNORD_Q)};
}

TARGET static inline v16 v_keep(m16 m, v16 v) { return v_and(m, v); }
TARGET static inline v16 v_or_low(m16 m, v16 v) {
  const __m256 low = _mm256_set1_ps(-INFINITY);
  return (v16){_mm256_blendv_ps(low, v.low, m.low), _mm256_blendv_ps(low, v.high, m.high)};
}
/* The integer n stands in the low bits of `shifted`. Moved up by 23 bits it is added to the
 * exponent of p, and the rest of `shifted` falls out at the top. */
TARGET static inline __m256 power8(__m256 p, __m256 shifted) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p),
                                              _mm256_slli_epi32(_mm256_castps_si256(shifted), 23)));
}
TARGET static inline v16 v_power(m16 keep, v16 p, v16 shifted) {
  return v_and(keep, (v16){power8(p.low, shifted.low), power8(p.high, shifted.high)});
}

TARGET static inline d16 d_zero(void) {
  __m256d zero = _mm256_setzero_pd();
  return (d16){{zero, zero, zero, zero}};
}
TARGET static inline void d_add(d16 *to, v16 v) {
  to->quarter[0] = _mm256_add_pd(to->quarter[0], _mm256_cvtps_pd(_mm256_castps256_ps128(v.low)));
  to->quarter[1] = _mm256_add_pd(to->quarter[1], _mm256_cvtps_pd(_mm256_extractf128_ps(v.low, 1)));
  to->quarter[2] = _mm256_add_pd(to->quarter[2], _mm256_cvtps_pd(_mm256_castps256_ps128(v.high)));
  to->quarter[3] = _mm256_add_pd(to->quarter[3], _mm256_cvtps_pd(_mm256_extractf128_ps(v.high, 1)));
}
/* The order of tsl__logits_fold: lane i and lane i + 8, then i + 4, then i + 2, then i + 1. */
TARGET static inline double d_fold(const d16 *from) {
  __m256d four = _mm256_add_pd(_mm256_add_pd(from->quarter[0], from->quarter[2]),
                               _mm256_add_pd(from->quarter[1], from->quarter[3]));
  __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* AVX2 cannot compress lanes. The few that pass are read again from memory, where they were loaded
 * from. */
static inline size_t put_lanes(v16 v, const float *from, uint32_t m, uint32_t first, float *values,
                               uint32_t *places) {
  (void)v;
  size_t n = 0;
  for (; m; m &= m - 1, n++) {
    uint32_t j = (uint32_t)__builtin_ctz(m);
    values[n] = from[j];
    places[n] = first + j;
  }
  return n;
}

#include "runtime/kernels/logits_lanes.h"

const tsl__logits_kernels tsl__logits_avx2 = TSL__LOGITS_TABLE("avx2", tsl__trie_block_agrees_avx2);
#else
typedef int tsl__logits_avx2_not_built; /* ISO C wants a declaration in every file */
#endif
