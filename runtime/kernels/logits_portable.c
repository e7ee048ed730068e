/* logits_portable.c - the kernels in plain C: what the others must equal, bit for bit.
 *
 * Idea      Everything is as direct as it can be: an element at a time, a test of its bit, one
 *           operation. logits.h says what each kernel means; this file is that meaning as code.
 *           Machines without a vector kernel run it.
 * Sums      Only sums are less direct than they could be. They run in 16 lanes, four elements of a
 *           lane at a time, as vectors add them. Floating-point addition depends on the order, and
 *           the order is part of the result.
 * Example   Elements 0 to 63 are one group. Lane 5 has the elements 5, 21, 37 and 53: (w5 + w21) +
 *           (w37 + w53), in float, is added to the double of lane 5. After the last group the 16
 *           doubles are added pairwise.
 * Tested by tests/kernels/test_logits.c; fuzz/fuzz_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/logits.h"
#include "runtime/kernels/trie_sound.h"

#include "runtime/kernels/hash_lanes.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* Is the bit of element i set? */
static bool has(const uint32_t *mask, size_t i) { return (mask[i >> 5] >> (i & 31)) & 1u; }

static void apply32(const uint32_t *mask, float *x, size_t width) {
  for (size_t i = 0; i < width; i++)
    if (!has(mask, i)) x[i] = -INFINITY;
}

static void apply16(const uint32_t *mask, uint16_t *x, size_t width, uint16_t minus_inf) {
  for (size_t i = 0; i < width; i++)
    if (!has(mask, i)) x[i] = minus_inf;
}

static void copy_words(uint32_t *to, const uint32_t *from, size_t words) {
  memcpy(to, from, words * sizeof *to);
}

static void or_words(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words) {
  for (size_t i = 0; i < words; i++) to[i] = a[i] | b[i];
}

static void and_words(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words) {
  for (size_t i = 0; i < words; i++) to[i] = a[i] & b[i];
}

static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  for (size_t i = 0; i < words; i++) to[i] &= ~from[i];
}

/* Bits of a word by halving: pairs, nibbles, bytes, then the sum of the bytes by one
 * multiplication. */
static uint32_t count_word(uint32_t w) {
  w -= (w >> 1) & 0x55555555u;
  w = (w & 0x33333333u) + ((w >> 2) & 0x33333333u);
  return (((w + (w >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}

static size_t count_words(const uint32_t *mask, size_t words) {
  size_t n = 0;
  for (size_t i = 0; i < words; i++) n += count_word(mask[i]);
  return n;
}

static tsl__logits_peak peak(const float *x, const uint32_t *mask, size_t n) {
  tsl__logits_peak p = {-INFINITY, false};
  for (size_t i = 0; i < n; i++) {
    if (!has(mask, i)) continue;
    if (x[i] > p.top) p.top = x[i];
    if (isnan(x[i])) p.nan = true;
  }
  p.top += 0.0f; /* of the two zeros the positive one, whichever came first */
  return p;
}

static void above(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t *bits) {
  memset(bits, 0, (n + 31) / 32 * sizeof *bits);
  for (size_t i = 0; i < n; i++)
    if (has(mask, i) && x[i] >= floor) bits[i >> 5] |= 1u << (i & 31);
}

/* Stops at the first bit too many: whoever wants a short list has no use for a long one. */
static size_t list(const uint32_t *mask, size_t words, size_t most, uint32_t *places) {
  size_t n = 0;
  for (size_t i = 0; i < words * 32; i++) {
    if (!has(mask, i)) continue;
    if (n == most) return SIZE_MAX;
    places[n++] = (uint32_t)i;
  }
  return n;
}

static size_t gather(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t first,
                     float *values, uint32_t *places) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    if (has(mask, i) && x[i] >= floor) {
      values[count] = x[i];
      places[count++] = first + (uint32_t)i;
    }
  return count;
}

static void weigh(const float *x, size_t n, float anchor, float scale, float *weights) {
  for (size_t i = 0; i < n; i++) weights[i] = tsl__logits_weight(x[i], anchor, scale);
}

/* ---- sums in lanes --------------------------------------------------------------------------- */

typedef struct lanes {
  double lane[TSL__LOGITS_LANES];
} lanes;

/* Add 64 terms: each lane's four in float first. */
static void add_quad(lanes *to, const float terms[TSL__LOGITS_QUAD]) {
  for (size_t l = 0; l < TSL__LOGITS_LANES; l++) {
    float low = terms[l] + terms[l + 16], high = terms[l + 32] + terms[l + 48], term = low + high;
    to->lane[l] += (double)term;
  }
}

/* What an element adds to a sum. */
typedef float (*term_of)(float x, float anchor, float scale);

/* Over the elements in the mask, or over all if it is NULL. */
static double sum_terms(const float *x, const uint32_t *mask, size_t n, float anchor, float scale,
                        term_of term) {
  lanes total = {{0}};
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    float terms[TSL__LOGITS_QUAD] = {0};
    for (size_t j = i; j < n && j < i + TSL__LOGITS_QUAD; j++)
      if (!mask || has(mask, j)) terms[j - i] = term(x[j], anchor, scale);
    add_quad(&total, terms);
  }
  return tsl__logits_fold(total.lane);
}

/* What weighs nothing adds nothing, even where its argument is -inf. */
static float moment_of(float x, float anchor, float scale) {
  float d = tsl__logits_argument(x, anchor, scale), w = tsl__logits_exp2(d);
  return w > 0 ? w * d : 0.0f;
}
static bool is_finite(float x) { return x >= -FLT_MAX && x <= FLT_MAX; }
static float one_of(float x, float anchor, float scale) {
  return (void)anchor, (void)scale, is_finite(x) ? 1.0f : 0.0f;
}
static float distance_of(float x, float anchor, float scale) {
  return (void)scale, is_finite(x) ? x - anchor : 0.0f;
}
static float square_of(float x, float anchor, float scale) {
  float d = distance_of(x, anchor, scale);
  return d * d;
}

static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  return sum_terms(x, mask, n, anchor, scale, tsl__logits_weight);
}

/* Two looks, where vectors take one: the result is the same, as the anchor is chosen by the same
 * rule. */
static tsl__logits_survey survey(const float *x, const uint32_t *mask, size_t n, float near,
                                 float scale) {
  tsl__logits_peak p = peak(x, mask, n);
  if (!tsl__logits_is_near(p.top, near, scale)) near = p.top;
  bool finite = near >= -FLT_MAX && near <= FLT_MAX;
  return (tsl__logits_survey){finite ? sum(x, mask, n, near, scale) : 0, near, p.top, p.nan};
}

static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor,
                                 float scale) {
  return (tsl__logits_mass){sum_terms(x, NULL, n, anchor, scale, tsl__logits_weight),
                            sum_terms(x, mask, n, anchor, scale, tsl__logits_weight)};
}

static tsl__logits_moments moments(const float *x, const uint32_t *mask, size_t n, float anchor,
                                   float scale) {
  return (tsl__logits_moments){sum_terms(x, mask, n, anchor, scale, tsl__logits_weight),
                               sum_terms(x, mask, n, anchor, scale, moment_of)};
}

static tsl__logits_spread spread(const float *x, const uint32_t *mask, size_t n, float anchor) {
  return (tsl__logits_spread){sum_terms(x, mask, n, anchor, 0, one_of),
                              sum_terms(x, mask, n, anchor, 0, distance_of),
                              sum_terms(x, mask, n, anchor, 0, square_of)};
}

/* A sum for each rung, one after the other. */
static void ladder(const float *x, const float *by, const uint32_t *mask, size_t n, float anchor,
                   float scale, const float floors[TSL__LOGITS_RUNGS],
                   double sums[TSL__LOGITS_RUNGS]) {
  for (size_t r = 0; r < TSL__LOGITS_RUNGS; r++) {
    lanes total = {{0}};
    for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
      float terms[TSL__LOGITS_QUAD] = {0};
      for (size_t j = i; j < n && j < i + TSL__LOGITS_QUAD; j++)
        if (has(mask, j) && by[j] >= floors[r])
          terms[j - i] = tsl__logits_weight(x[j], anchor, scale);
      add_quad(&total, terms);
    }
    sums[r] = tsl__logits_fold(total.lane);
  }
}

static void distances(const float *x, size_t n, float anchor, float scale, float middle,
                      float *out) {
  for (size_t i = 0; i < n; i++) {
    float d = tsl__logits_argument(x[i], anchor, scale) - middle;
    out[i] = -fabsf(d);
  }
}

const tsl__logits_kernels tsl__logits_portable = {"portable",
                                                  apply32,
                                                  apply16,
                                                  copy_words,
                                                  or_words,
                                                  and_words,
                                                  andnot_words,
                                                  count_words,
                                                  list,
                                                  peak,
                                                  above,
                                                  gather,
                                                  weigh,
                                                  sum,
                                                  survey,
                                                  sum_both,
                                                  moments,
                                                  spread,
                                                  ladder,
                                                  distances,
                                                  hash_more,
                                                  hash_secretly,
                                                  tsl__trie_block_agrees};
