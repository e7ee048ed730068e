/* logits.h - masks on logits: what is done once per step over the whole vocabulary.
 *
 * Problem   A row of logits is half a megabyte, and a step touches it: to forbid tokens, or to
 *           sample without forbidding.
 * Idea      A handful of kernels is written twice: in plain C (logits_portable.c, the
 *           specification), and over sixteen floats at a time (logits_lanes.h). For the second form
 *           each instruction set has a file with its operations. logits_dispatch.c asks the
 *           processor once and picks a table of them.
 * Same bits Every level gives bit-for-bit the same results, so that a seed draws the same tokens on
 * every machine. Hence:
 *             - exp is our own (tsl__logits_weight). It uses only operations that IEEE 754 defines
 *               exactly: additions and multiplications. A fused multiply-add is used only where the
 *               source says so. Files that use it must not be compiled with contraction (gcc:
 *               -std=c11 or -ffp-contract=off; a pragma does it for clang). Where the processor
 *               cannot fuse, tsl__fma does it in integers and doubles;
 *             - every operation of floats is stored before it is used, and constants are exact:
 *               some platforms (s390x) carry out floats as doubles within an expression;
 *             - sums run in TSL__LOGITS_LANES lanes; element i is in lane i % 16. Four elements of
 *               a lane are added in pairs, in float. The result is added to the lane's double. At
 *               the end the lanes are added in one fixed order.
 *           tests/kernels/test_logits.c runs every level on every input and compares bits.
 * Accuracy  A weight is within 4e-7 (relative) of 2 to the power of its argument, and the argument
 *           is rounded to float. A sum adds 2e-7 at most.
 * Example   Mask 0b1011, logits 1, 5, 3, 2. apply32 writes 1, 5, -inf, 2. peak gives 5. above with
 *           floor 2 gives the bits 0b1010: tokens 1 and 3. sum with anchor 5 and scale 1 is e^-4 +
 *           1 + e^-3. gather with floor 2 writes the values 5, 2 and the places first + 1, first +
 *           3.
 * Layout    Token i is bit i % 32 of word i / 32. All kernels ignore bits at or after `n` (or
 *           `width`), except those that work on whole words.
 * Cost      In µs, for 128,256 floats with AVX-512 on an EPYC 9005 core. Looking: apply 3.7 at
 *           every density, peak 3.4, above 6, spread 10, ladder 26, distances 5. Sums: sum 12,
 *           survey 15, sum_both 15, moments 18. Half floats: apply 2. A mask of 128,256 tokens:
 *           count 0.5, list of a hundred tokens 0.2, union of two 0.15, copy 0.12.
 * Ref       2^x as 2^n * 2^r with |r| <= 1/2: Cody and Waite 1980; the polynomial is a minimax fit
 *           of our own.
 * Tested by tests/kernels/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_KERNELS_LOGITS_H
#define TSL_RUNTIME_KERNELS_LOGITS_H

#include <float.h>
#include <math.h>
#include <stdatomic.h>

#include "runtime/core/base.h"

#define TSL__LOGITS_LANES 16
#define TSL__LOGITS_QUAD 64 /* elements of which each lane has four */

/* ---- masks as words -------------------------------------------------------------------------- */

/* Whole masks of so many words, by the kernels of this process. Padding bits are treated as all
 * others. None allocates or fails. `to` and `from` do not overlap, unless it is said. */
void tsl__mask_copy(uint32_t *to, const uint32_t *from, size_t words);
void tsl__mask_or(uint32_t *to, const uint32_t *from, size_t words); /* to |= from */
/* to = a | b, two reads and one write a word. `to` may be `a`. */
void tsl__mask_unite(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words);
void tsl__mask_and(uint32_t *to, const uint32_t *from, size_t words); /* to &= from */
/* to = a & b. `to` may be `a`. */
void tsl__mask_meet(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words);
void tsl__mask_andnot(uint32_t *to, const uint32_t *from, size_t words); /* to &= ~from */

/* Is a copy faster from its end on? A load waits for stores under way that lie as far into their
 * page as itself. The copy may lie a little further into its page than the source. Then each load
 * would wait for what was just written (measured on Zen 4: 260 ns a mask, else 150). The second
 * stretch is its cache's, for whatever reason: 200 ns. */
static inline bool tsl__logits_backward(const void *to, const void *from) {
  size_t ahead = ((uintptr_t)to - (uintptr_t)from) % 4096;
  return ahead < 640 || (ahead >= 2880 && ahead < 3648);
}

/* ---- kernels --------------------------------------------------------------------------------- */

typedef void (*tsl__copy_words)(uint32_t *to, const uint32_t *from, size_t words);

/* The largest logit in the mask, -inf if there is none. NaN is never the largest; `nan` says that
 * there was one in the mask. Of the two zeros the positive one is given. */
typedef struct tsl__logits_peak {
  float top;
  bool nan;
} tsl__logits_peak;

/* The same, and the sum of the weights against an anchor. `anchor` is the guess that the caller
 * made, or `top` where the guess was too far off. */
typedef struct tsl__logits_survey {
  double mass;
  float anchor, top;
  bool nan;
} tsl__logits_survey;

/* Sums of weights: over all tokens, and over those in the mask. legal / all is the share of
 * probability on allowed tokens. */
typedef struct tsl__logits_mass {
  double all, legal;
} tsl__logits_mass;

/* Sums over weights: of the weights, and of weight * argument. With them an entropy in bits is
 * log2(mass) - moment / mass. */
typedef struct tsl__logits_moments {
  double mass, moment;
} tsl__logits_moments;

/* Sums over distances to the anchor: how many are finite, the distances, and their squares. Mean
 * and standard deviation are made of these three. */
typedef struct tsl__logits_spread {
  double count, sum, square;
} tsl__logits_spread;

#define TSL__LOGITS_RUNGS 4 /* of a ladder */
/* elements past the end of its output that a kernel may overwrite, where it says so */
#define TSL__LOGITS_SLACK 16

struct tsl__trie;
struct tsl__trie_block;

/* The kernels of one instruction set. None allocates, fails, or needs aligned data. "In the mask"
 * below means: and less than n. For the sums no element in the mask is +inf, nor so far above the
 * anchor that its weight is none (2 to the 127th). NaN and -inf weigh nothing. `anchor` is finite,
 * 0 <= scale <= FLT_MAX. */
typedef struct tsl__logits_kernels {
  const char *name;
  /* Elements that are not in the mask become -inf (apply16: the bit pattern given). */
  void (*apply32)(const uint32_t *mask, float *x, size_t width);
  void (*apply16)(const uint32_t *mask, uint16_t *x, size_t width, uint16_t minus_inf);
  tsl__copy_words copy_words; /* they do not overlap */
  /* to = a | b; `to` may be `a` */
  void (*or_words)(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words);
  /* to = a & b; `to` may be `a` */
  void (*and_words)(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words);
  void (*andnot_words)(uint32_t *to, const uint32_t *from, size_t words);
  size_t (*count_words)(const uint32_t *mask, size_t words);
  /* The places of the bits, in order, if there are at most `most`: returns how many. Else returns
   * SIZE_MAX, and `places` is unspecified; it has room for most + 32. */
  size_t (*list)(const uint32_t *mask, size_t words, size_t most, uint32_t *places);
  tsl__logits_peak (*peak)(const float *x, const uint32_t *mask, size_t n);
  /* bits = mask and x >= floor, ceil(n / 32) words with the padding 0. `floor` is not NaN. */
  void (*above)(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t *bits);
  /* The elements in the mask with x >= floor, in order: their values, and `first` + their places.
   * Returns how many; the outputs have room for n + TSL__LOGITS_SLACK. */
  size_t (*gather)(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t first,
                   float *values, uint32_t *places);
  /* weights[i] = tsl__logits_weight of x[i]; room for n + TSL__LOGITS_SLACK. */
  void (*weigh)(const float *x, size_t n, float anchor, float scale, float *weights);
  /* Sum of tsl__logits_weight over the elements in the mask. */
  double (*sum)(const float *x, const uint32_t *mask, size_t n, float anchor, float scale);
  /* peak and sum in one look. The anchor is `near`, a guess (NaN: none), unless the top is not near
   * it (tsl__logits_is_near). Then it is the top, which costs a second look. The mass is 0 where
   * the top is not finite. */
  tsl__logits_survey (*survey)(const float *x, const uint32_t *mask, size_t n, float near,
                               float scale);
  /* The sum over all elements and over those in the mask at once. */
  tsl__logits_mass (*sum_both)(const float *x, const uint32_t *mask, size_t n, float anchor,
                               float scale);
  /* Sums of w and of w * tsl__logits_argument over the elements in the mask. */
  tsl__logits_moments (*moments)(const float *x, const uint32_t *mask, size_t n, float anchor,
                                 float scale);
  /* How many elements in the mask are finite, and the sums of x - anchor and of its square over
   * them. */
  tsl__logits_spread (*spread)(const float *x, const uint32_t *mask, size_t n, float anchor);
  /* For each rung the sum of weights over the elements in the mask with by[i] >= floors[rung]. No
   * floor is NaN. */
  void (*ladder)(const float *x, const float *by, const uint32_t *mask, size_t n, float anchor,
                 float scale, const float floors[TSL__LOGITS_RUNGS],
                 double sums[TSL__LOGITS_RUNGS]);
  /* out[i] = -|argument of x[i] - middle|, room for n + TSL__LOGITS_SLACK. `middle` is finite. */
  void (*distances)(const float *x, size_t n, float anchor, float scale, float middle, float *out);
  /* XXH3-128: more data for a state of it (XXH3_state_t), and at once under a secret of TSL__SECRET
   * bytes (low half first). */
  void (*hash_more)(void *state, const void *data, size_t size);
  void (*hash_secretly)(const void *secret, const void *data, size_t size, uint64_t out[2]);
  /* See trie_sound.h. */
  bool (*trie_agrees)(const struct tsl__trie *trie, const struct tsl__trie_block *block,
                      uint32_t from, uint32_t count);
} tsl__logits_kernels;

/* Instruction sets. The numbers are used by tests alone. */
typedef enum tsl__logits_level {
  TSL__LOGITS_AUTO = -1, /* the best that this machine has */
  TSL__LOGITS_PORTABLE = 0,
  TSL__LOGITS_AVX2 = 1,
  TSL__LOGITS_AVX512 = 2,
  TSL__LOGITS_NEON = 3,
  TSL__LOGITS_LEVELS = 4
} tsl__logits_level;

/* The table for this process, which lives as long as the process. The first call asks the
 * processor; any number of threads may race for it, and all get the same table. Later calls are one
 * load. */
const tsl__logits_kernels *tsl__logits(void);
extern _Atomic(tsl__copy_words) tsl__logits_copy; /* its copy_words */
/* For tests: use this level from now on. False, and no change, if this machine or build does not
 * have it. */
bool tsl__logits_force(tsl__logits_level level);

extern const tsl__logits_kernels tsl__logits_portable;
/* gcc for Windows aligns the stack to 16 bytes only, and then moves vectors of 32 there (GCC bug
 * 54412). It gets no kernels for AVX, unless the assembler mends the moves (meson.build). */
#if defined(__MINGW32__) && !defined(__clang__) && !defined(TSL__VECTORS_AT_ANY_PLACE)
#define TSL__LOGITS_X86 0
#elif defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
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

/* ---- the specification of a weight ----------------------------------------------------------- */

/* in bits; below, a weight is 0: 2^-126 is the smallest of the normal numbers */
#define TSL__EXP_FLOOR (-126.0f)
#define TSL__EXP_LOG2E 0x1.715476p+0f
/* 1.5 * 2^23: adding it leaves the nearest integer in the low bits */
#define TSL__EXP_ROUND 12582912.0f
/* (2^r - 1) / r on |r| <= 1/2, error of 2^r 1.1e-7: 0.69315, 0.24022, 0.055507, 0.0096715,
 * 0.0013265 */
#define TSL__EXP_C1 0x1.62e42ap-1f
#define TSL__EXP_C2 0x1.ebf9bcp-3f
#define TSL__EXP_C3 0x1.c6b752p-5f
#define TSL__EXP_C4 0x1.3cea88p-7f
#define TSL__EXP_C5 0x1.5bba12p-10f

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* a * b + c, rounded once. Without an instruction for it: the product of two floats is exact in a
 * double, and the sum is rounded to odd there. Rounding an odd double to float gives what rounding
 * the exact sum would. */
static inline float tsl__fma(float a, float b, float c) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  double product = (double)a * (double)b, sum = product + (double)c; /* the product is exact */
  double back = sum - product, error = (product - (sum - back)) + ((double)c - back);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (error != 0 && error - error == 0 && !(bits & 1))
    bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX; /* to odd, so that no tie arises */
  memcpy(&sum, &bits, sizeof sum);
  return (float)sum;
#endif
}

/* What a scale is per bit, 0 to FLT_MAX. */
static inline float tsl__logits_rate(float scale) {
  float rate = scale * TSL__EXP_LOG2E;
  return rate <= FLT_MAX ? rate : FLT_MAX;
}

/* The weight's logarithm in bits: (x - anchor) * rate. */
static inline float tsl__logits_argument(float x, float anchor, float scale) {
  float d = x - anchor, argument = d * tsl__logits_rate(scale);
  return argument;
}

/* 2^d for an argument d <= 0; 0 below TSL__EXP_FLOOR and for NaN. Example: d = -2.75. Adding 1.5 *
 * 2^23 rounds it to n = -3, and r = 0.25 is left. The polynomial gives 2^0.25 = 1.18921; with 3
 * less in the exponent that is 0.148651. */
static inline float tsl__logits_exp2(float d) {
  if (!(d >= TSL__EXP_FLOOR)) return 0.0f;
  float shifted = d + TSL__EXP_ROUND;
  float n = shifted - TSL__EXP_ROUND;
  float r = d - n; /* exact */
  float p = tsl__fma(TSL__EXP_C5, r, TSL__EXP_C4);
  p = tsl__fma(p, r, TSL__EXP_C3);
  p = tsl__fma(p, r, TSL__EXP_C2);
  p = tsl__fma(p, r, TSL__EXP_C1);
  p = tsl__fma(p, r, 1.0f);
  uint32_t bits, exponent;
  memcpy(&bits, &p, sizeof bits);
  memcpy(&exponent, &shifted, sizeof exponent);
  bits += exponent << 23; /* times 2^n: the magic number's own bits are shifted out */
  memcpy(&p, &bits, sizeof p);
  return p;
}

/* The weight of a logit x <= anchor: exp((x - anchor) * scale); 0 below 2^TSL__EXP_FLOOR, for -inf,
 * for NaN, and for logits farther apart than FLT_MAX. */
static inline float tsl__logits_weight(float x, float anchor, float scale) {
  return tsl__logits_exp2(tsl__logits_argument(x, anchor, scale));
}

/* May a weight with this anchor be that of a logit x, which may lie above it a little, 8 bits at
 * most? A large argument is rounded more. */
static inline bool tsl__logits_is_near(float x, float anchor, float scale) {
  return tsl__logits_argument(x, anchor, scale) <= 8.0f;
}

/* Add up the lanes in the fixed order: 16 to 8, to 4, to 2, to 1. Overwrites them. The order
 * decides about the last bit, so that every instruction set adds in this one. */
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

/* The mask bits of elements i … i + 63 (i a multiple of 64), those at or after n left out. */
static inline uint64_t tsl__logits_bits64(const uint32_t *mask, size_t i, size_t n) {
  size_t left = n - i;
  uint64_t bits = mask[i >> 5];
  if (left > 32) bits |= (uint64_t)mask[(i >> 5) + 1] << 32;
  return left >= 64 ? bits : bits & (((uint64_t)1 << left) - 1);
}

#endif
