/* logits_avx512.c - the kernels of logits.h with AVX-512 (F, BW, DQ, VL): 16 floats, one mask
 * register, a step.
 *
 * Idea      A half word of the mask is a mask register as it stands, so nothing is expanded. The
 *           loops over logits are those of logits_lanes.h; here are the loops over words of masks,
 *           and what sixteen floats are: one register.
 * Example   The word 0x80000001 covers 32 logits. Its low half, 0x0001, keeps lane 0 of the first
 *           register; its high half, 0x8000, keeps lane 15 of the second. 30 logits become -inf by
 *           two moves under a mask.
 * Tails     A load or store under a mask touches no lane that is left out: the end of a row needs
 *           no loop of its own.
 * Cost      3.7 µs for 128,256 floats on an EPYC 9005 core, whatever the mask is (logits.h has the
 *           others).
 * Tested by tests/kernels/test_logits.c, against the portable kernels, bit for bit
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/logits.h"
#include "runtime/kernels/trie_sound.h"

#if TSL__LOGITS_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,popcnt")))

/* The lanes of the group at i that exist. */
TARGET static inline __mmask16 lanes_at(size_t i, size_t n) {
  return n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1);
}

/* Whole words first: two registers and no branch, so that time does not depend on the mask. At the
 * end only lanes that exist and are not allowed are written. */
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

/* 32 half floats have a register of their own size for the mask: a whole word. */
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

/* What is written is aligned, where the system's memcpy may move byte by byte: the first and the
 * last vector overlap their neighbours. */
TSL__EACH_TOKEN TARGET static void copy_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t first = (64 - ((uintptr_t)to & 63)) / sizeof *to, i = first;
  if (words < 16) {
    memcpy(to, from, words * sizeof *to);
    return;
  }
  size_t steps = (words - first) / 64;
  bool backward = tsl__logits_backward(to, from);
  _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  for (size_t k = 0; k < steps; k++) {
    i = first + (backward ? steps - 1 - k : k) * 64;
    __m512i a = _mm512_loadu_si512(from + i), b = _mm512_loadu_si512(from + i + 16),
            c = _mm512_loadu_si512(from + i + 32), d = _mm512_loadu_si512(from + i + 48);
    _mm512_storeu_si512(to + i, a);
    _mm512_storeu_si512(to + i + 16, b);
    _mm512_storeu_si512(to + i + 32, c);
    _mm512_storeu_si512(to + i + 48, d);
  }
  for (i = first + steps * 64; i + 16 <= words; i += 16)
    _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
  _mm512_storeu_si512(to + words - 16, _mm512_loadu_si512(from + words - 16));
}

TSL__EACH_TOKEN TARGET static void or_words(uint32_t *to, const uint32_t *a, const uint32_t *b,
                                            size_t words) {
  size_t i = 0;
  for (; i + 16 <= words; i += 16)
    _mm512_storeu_si512(to + i,
                        _mm512_or_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i)));
  for (; i < words; i++) to[i] = a[i] | b[i];
}

TARGET static void and_words(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words) {
  size_t i = 0;
  for (; i + 16 <= words; i += 16)
    _mm512_storeu_si512(to + i,
                        _mm512_and_si512(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i)));
  for (; i < words; i++) to[i] = a[i] & b[i];
}

TARGET static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 16 <= words; i += 16)
    _mm512_storeu_si512(
        to + i, _mm512_andnot_si512(_mm512_loadu_si512(from + i), _mm512_loadu_si512(to + i)));
  for (; i < words; i++) to[i] &= ~from[i];
}

/* Two words at a time by the instruction that counts bits; masks are short enough. */
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
      for (uint32_t left = mask[at]; left; left &= left - 1)
        places[n++] = (uint32_t)(at * 32) + (uint32_t)__builtin_ctz(left);
      if (n > most) return SIZE_MAX;
    }
  }
  return n;
}

/* ---- sixteen floats: one register, and a mask register --------------------------------------- */

typedef __m512 v16;
typedef __mmask16 m16;
typedef struct d16 {
  __m512d low, high; /* lanes 0 … 7 and 8 … 15 */
} d16;

TARGET static inline v16 v_set(float x) { return _mm512_set1_ps(x); }
TARGET static inline v16 v_load(const float *p) { return _mm512_loadu_ps(p); }
TARGET static inline void v_store(float *p, v16 v) { _mm512_storeu_ps(p, v); }
TARGET static inline v16 v_add(v16 a, v16 b) { return _mm512_add_ps(a, b); }
TARGET static inline v16 v_sub(v16 a, v16 b) { return _mm512_sub_ps(a, b); }
TARGET static inline v16 v_mul(v16 a, v16 b) { return _mm512_mul_ps(a, b); }
TARGET static inline v16 v_fma(v16 a, v16 b, v16 c) { return _mm512_fmadd_ps(a, b, c); }
TARGET static inline v16 v_minus_abs(v16 a) { return _mm512_or_ps(a, _mm512_set1_ps(-0.0f)); }
/* the second operand where one is NaN */
TARGET static inline v16 v_larger(v16 v, v16 old) { return _mm512_max_ps(v, old); }
TARGET static inline float v_top(v16 v) { return _mm512_reduce_max_ps(v); }

static inline m16 m_of(uint32_t bits) { return (m16)bits; }
static inline uint32_t m_bits(m16 m) { return m; }
static inline m16 m_or(m16 a, m16 b) { return a | b; }
TARGET static inline m16 m_ge(m16 within, v16 a, v16 b) {
  return _mm512_mask_cmp_ps_mask(within, a, b, _CMP_GE_OQ);
}
TARGET static inline m16 m_nan(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }

TARGET static inline v16 v_keep(m16 m, v16 v) { return _mm512_maskz_mov_ps(m, v); }
TARGET static inline v16 v_or_low(m16 m, v16 v) {
  return _mm512_mask_mov_ps(_mm512_set1_ps(-INFINITY), m, v);
}
/* The exponent n stands in the low bits of `shifted`. Moved up by 23 bits it is added to that of p,
 * in lanes that are kept. */
TARGET static inline v16 v_power(m16 keep, v16 p, v16 shifted) {
  __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);
  return _mm512_castsi512_ps(_mm512_maskz_add_epi32(keep, _mm512_castps_si512(p), exponent));
}

TARGET static inline d16 d_zero(void) { return (d16){_mm512_setzero_pd(), _mm512_setzero_pd()}; }
/* Sixteen floats are two registers of eight doubles. */
TARGET static inline void d_add(d16 *to, v16 v) {
  to->low = _mm512_add_pd(to->low, _mm512_cvtps_pd(_mm512_castps512_ps256(v)));
  to->high = _mm512_add_pd(to->high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)));
}

/* 16 to 8, to 4, to 2, to 1. */
TARGET static inline double d_fold(const d16 *from) {
  __m512d eight = _mm512_add_pd(from->low, from->high);
  __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
  __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* Values are compressed in a register and stored whole: storing under a mask is slow on some
 * processors. */
TARGET static inline size_t put_lanes(v16 v, const float *from, uint32_t m, uint32_t first,
                                      float *values, uint32_t *places) {
  (void)from;
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i at = _mm512_add_epi32(steps, _mm512_set1_epi32((int)first));
  _mm512_storeu_ps(values, _mm512_maskz_compress_ps((m16)m, v));
  _mm512_storeu_si512(places, _mm512_maskz_compress_epi32((m16)m, at));
  return (size_t)__builtin_popcount(m);
}

#include "runtime/kernels/logits_lanes.h"

const tsl__logits_kernels tsl__logits_avx512 =
    TSL__LOGITS_TABLE("avx512", tsl__trie_block_agrees_avx2);
#else
typedef int tsl__logits_avx512_not_built; /* ISO C wants a declaration in every file */
#endif
