/* logits_neon.c - the kernels of logits.h with NEON (every 64-bit Arm): 4 floats a step, the mask's
 * bits spread over lanes by test.
 *
 * Idea      Four bits of the mask are broadcast to 4 lanes and each lane tests its own. Sixteen
 *           floats are four registers. The loops over logits are those of logits_lanes.h.
 * Example   Mask bits 0b0110: lanes 1 and 2 test true and are all ones. The select keeps their
 *           logits and takes -inf for lanes 0 and 3.
 * Fused     Multiplication and addition are fused where logits.h fuses them and nowhere else:
 *           results must be those of the portable kernels to the bit.
 * Cost      A load, a test, a select and a store for four logits.
 * Tested by tests/kernels/test_logits.c, against the portable kernels, bit for bit
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/logits.h"
#include "runtime/kernels/trie_sound.h"

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

/* Eight bits as eight lanes of 16 bits, for half floats. */
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

static void copy_words(uint32_t *to, const uint32_t *from, size_t words) {
  memcpy(to, from, words * sizeof *to);
}

static void or_words(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words) {
  size_t i = 0;
  for (; i + 4 <= words; i += 4) vst1q_u32(to + i, vorrq_u32(vld1q_u32(a + i), vld1q_u32(b + i)));
  for (; i < words; i++) to[i] = a[i] | b[i];
}

static void and_words(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words) {
  size_t i = 0;
  for (; i + 4 <= words; i += 4) vst1q_u32(to + i, vandq_u32(vld1q_u32(a + i), vld1q_u32(b + i)));
  for (; i < words; i++) to[i] = a[i] & b[i];
}

static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  size_t i = 0;
  for (; i + 4 <= words; i += 4)
    vst1q_u32(to + i, vbicq_u32(vld1q_u32(to + i), vld1q_u32(from + i)));
  for (; i < words; i++) to[i] &= ~from[i];
}

/* Bits of bytes, then the sum of the sixteen bytes, 128 at most. */
static size_t count_words(const uint32_t *mask, size_t words) {
  size_t n = 0, i = 0;
  for (; i + 4 <= words; i += 4)
    n += vaddlvq_u8(vcntq_u8(vreinterpretq_u8_u32(vld1q_u32(mask + i))));
  for (; i < words; i++) n += (size_t)__builtin_popcount(mask[i]);
  return n;
}

/* Empty words are passed over sixteen at a time. The count is compared after each word, which is
 * why `places` has room for 32 more. */
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
      for (uint32_t left = mask[at]; left; left &= left - 1)
        places[n++] = (uint32_t)(at * 32) + (uint32_t)__builtin_ctz(left);
      if (n > most) return SIZE_MAX;
    }
  }
  return n;
}

/* ---- sixteen floats: four registers; lanes of a mask: ones or zeros in four registers -------- */

#define TARGET
#define EACH4(i) for (int i = 0; i < 4; i++)

typedef struct v16 {
  float32x4_t v[4]; /* lanes 4 i … 4 i + 3 */
} v16;
typedef struct m16 {
  uint32x4_t v[4];
} m16;
typedef struct d16 {
  float64x2_t pair[8]; /* lanes 2 p and 2 p + 1 */
} d16;

static inline v16 v_set(float x) {
  float32x4_t v = vdupq_n_f32(x);
  return (v16){{v, v, v, v}};
}
static inline v16 v_load(const float *p) {
  return (v16){{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
}
static inline void v_store(float *p, v16 a) { EACH4(i) vst1q_f32(p + 4 * i, a.v[i]); }
static inline v16 v_add(v16 a, v16 b) {
  EACH4(i) a.v[i] = vaddq_f32(a.v[i], b.v[i]);
  return a;
}
static inline v16 v_sub(v16 a, v16 b) {
  EACH4(i) a.v[i] = vsubq_f32(a.v[i], b.v[i]);
  return a;
}
static inline v16 v_mul(v16 a, v16 b) {
  EACH4(i) a.v[i] = vmulq_f32(a.v[i], b.v[i]);
  return a;
}
static inline v16 v_fma(v16 a, v16 b, v16 c) {
  EACH4(i) c.v[i] = vfmaq_f32(c.v[i], a.v[i], b.v[i]);
  return c;
}
static inline v16 v_minus_abs(v16 a) {
  EACH4(i) a.v[i] = vnegq_f32(vabsq_f32(a.v[i]));
  return a;
}
static inline v16 v_larger(v16 a, v16 old) {
  EACH4(i) old.v[i] = vbslq_f32(vcgtq_f32(a.v[i], old.v[i]), a.v[i], old.v[i]);
  return old;
}
static inline float v_top(v16 a) {
  return vmaxvq_f32(vmaxq_f32(vmaxq_f32(a.v[0], a.v[1]), vmaxq_f32(a.v[2], a.v[3])));
}

static inline m16 m_of(uint32_t bits) {
  return (m16){{spread4(bits), spread4(bits >> 4), spread4(bits >> 8), spread4(bits >> 12)}};
}
static inline uint32_t m_bits(m16 m) {
  static const uint32_t pick[4] = {1, 2, 4, 8};
  uint32_t bits = 0;
  EACH4(i) bits |= vaddvq_u32(vandq_u32(m.v[i], vld1q_u32(pick))) << (4 * i);
  return bits;
}
static inline m16 m_or(m16 a, m16 b) {
  EACH4(i) a.v[i] = vorrq_u32(a.v[i], b.v[i]);
  return a;
}
static inline m16 m_ge(m16 within, v16 a, v16 b) {
  EACH4(i) within.v[i] = vandq_u32(within.v[i], vcgeq_f32(a.v[i], b.v[i]));
  return within;
}
static inline m16 m_nan(v16 a, v16 b) {
  m16 m;
  EACH4(i) m.v[i] = vmvnq_u32(vandq_u32(vceqq_f32(a.v[i], a.v[i]), vceqq_f32(b.v[i], b.v[i])));
  return m;
}

static inline v16 v_keep(m16 m, v16 a) {
  EACH4(i) a.v[i] = vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a.v[i]), m.v[i]));
  return a;
}
static inline v16 v_or_low(m16 m, v16 a) {
  EACH4(i) a.v[i] = vbslq_f32(m.v[i], a.v[i], vdupq_n_f32(-INFINITY));
  return a;
}
static inline v16 v_power(m16 keep, v16 p, v16 shifted) {
  EACH4(i) {
    uint32x4_t exponent = vshlq_n_u32(vreinterpretq_u32_f32(shifted.v[i]), 23);
    p.v[i] = vreinterpretq_f32_u32(
        vandq_u32(vaddq_u32(vreinterpretq_u32_f32(p.v[i]), exponent), keep.v[i]));
  }
  return p;
}

static inline d16 d_zero(void) {
  float64x2_t zero = vdupq_n_f64(0);
  return (d16){{zero, zero, zero, zero, zero, zero, zero, zero}};
}
static inline void d_add(d16 *to, v16 a) {
  EACH4(i) {
    to->pair[2 * i] = vaddq_f64(to->pair[2 * i], vcvt_f64_f32(vget_low_f32(a.v[i])));
    to->pair[2 * i + 1] = vaddq_f64(to->pair[2 * i + 1], vcvt_high_f64_f32(a.v[i]));
  }
}
static inline double d_fold(const d16 *from) {
  double lane[TSL__LOGITS_LANES];
  for (int i = 0; i < 8; i++) vst1q_f64(lane + 2 * i, from->pair[i]);
  return tsl__logits_fold(lane);
}

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

const tsl__logits_kernels tsl__logits_neon = TSL__LOGITS_TABLE("neon", tsl__trie_block_agrees);
#else
typedef int tsl__logits_neon_not_built; /* ISO C wants a declaration in every file */
#endif
