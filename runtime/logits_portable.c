/* logits_portable.c - the kernels in plain C: what the others must equal, bit for bit.
 *
 * Everything is as direct as it can be; see logits.h for what each kernel means.
 * Tested by tests/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/logits.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static bool has(const uint32_t *mask, size_t i) { return (mask[i >> 5] >> (i & 31)) & 1u; }

static void apply32(const uint32_t *mask, float *x, size_t width) {
  for (size_t i = 0; i < width; i++)
    if (!has(mask, i)) x[i] = -INFINITY;
}

static void apply16(const uint32_t *mask, uint16_t *x, size_t width, uint16_t minus_inf) {
  for (size_t i = 0; i < width; i++)
    if (!has(mask, i)) x[i] = minus_inf;
}

static void or_words(uint32_t *to, const uint32_t *from, size_t words) {
  for (size_t i = 0; i < words; i++) to[i] |= from[i];
}

static void andnot_words(uint32_t *to, const uint32_t *from, size_t words) {
  for (size_t i = 0; i < words; i++) to[i] &= ~from[i];
}

/* Bits of a word by halving: pairs, nibbles, bytes, then the sum of the bytes by one multiplication. */
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
  tsl__logits_peak p = {-INFINITY, -INFINITY, false};
  for (size_t i = 0; i < n; i++) {
    bool legal = has(mask, i);
    if (x[i] > p.all) p.all = x[i];
    if (legal && x[i] > p.legal) p.legal = x[i];
    if (legal && isnan(x[i])) p.legal_nan = true;
  }
  return p;
}

static void above(const float *x, const uint32_t *mask, size_t n, float floor, uint32_t *bits) {
  memset(bits, 0, (n + 31) / 32 * sizeof *bits);
  for (size_t i = 0; i < n; i++)
    if (has(mask, i) && x[i] >= floor) bits[i >> 5] |= 1u << (i & 31);
}

static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  double all[TSL__LOGITS_LANES] = {0}, legal[TSL__LOGITS_LANES] = {0};
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(x[i])) continue;
    double w = tsl__logits_weight(x[i], anchor, scale);
    all[i % TSL__LOGITS_LANES] += w;
    if (has(mask, i)) legal[i % TSL__LOGITS_LANES] += w;
  }
  return (tsl__logits_mass){tsl__logits_fold(all), tsl__logits_fold(legal)};
}

static double sum(const float *x, const uint32_t *mask, size_t n, float anchor, float scale) {
  double lanes[TSL__LOGITS_LANES] = {0};
  for (size_t i = 0; i < n; i++)
    if (has(mask, i) && isfinite(x[i])) lanes[i % TSL__LOGITS_LANES] += tsl__logits_weight(x[i], anchor, scale);
  return tsl__logits_fold(lanes);
}

const tsl__logits_kernels tsl__logits_portable = {"portable",  apply32, apply16, or_words, andnot_words,
                                                  count_words, peak,    above,   sum,      sum_both};
