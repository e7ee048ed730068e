/* logits_lanes.h - the kernels of logits.h over sixteen floats at a time, for any instruction set.
 *
 * Problem   Every kernel that looks at logits is the same loop on every processor, and must give
 *           the same bits. Written once per instruction set, it would be written three times, and
 *           mended twice.
 * Idea      A file of an instruction set defines what sixteen floats are to it (one register, two
 *           or four), and some twenty operations on them. Then it includes this file, which has the
 *           loops. What an instruction set does in a way of its own (masks as words, lists) stays
 *           in its file.
 * Expected  TARGET        attributes of every function
 *           v16           sixteen floats: v_set, v_load, v_store, v_add, v_sub, v_mul, v_fma (a * b
 *           + c, rounded once), v_minus_abs (-|a|),
 *                         v_larger (lane by lane; the second one where the first is NaN), v_top
 *                         (the largest lane; none is NaN)
 *           m16           which of sixteen lanes: m_of (the low 16 bits), m_bits, m_or, m_ge (lanes
 *           of `within` with a >= b), m_nan (where a or b is NaN)
 *           v_keep        0 in the other lanes
 *           v_or_low      -inf in the other lanes
 *           v_power       p * 2^n in the lanes kept, 0 in the others; n stands in the low bits of
 *           the float `shifted`
 *           d16           sixteen doubles: d_zero, d_add (of sixteen floats), d_fold
 *           (tsl__logits_fold)
 *           put_lanes     writes the lanes that have a bit, and their places, one after the other;
 *           may overwrite TSL__LOGITS_SLACK more
 * Example   A row of 130 elements: two stretches of 64, then 2 elements that fill_up copies to a
 *           buffer with 62 times -inf behind them. In the first stretch lane 3 has the elements 3,
 *           19, 35 and 51. Their sum in float, (w3 + w19) + (w35 + w51), is added to double 3. At
 *           the end the sixteen doubles are folded.
 * Skipping  A stretch of which no token is in the mask is passed over, before its logits are read.
 *           Its weights would be zeros, and adding zeros changes no lane. Many masks of a grammar
 *           allow few tokens.
 * Tails     If the last elements of a row are no whole group, they are copied to a buffer that is
 *           filled up with -inf. So nothing past a row is read.
 * Tested by tests/kernels/test_logits.c, each level against the portable kernels, bit for bit
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "runtime/kernels/hash_lanes.h"

/* ---- groups of a row ------------------------------------------------------------------------- */

#define GROUP 16u
#define GROUPS (TSL__LOGITS_QUAD / GROUP)

/* Copy what is left of a row and fill up. Rarely called: kept out of the loops, which then are as
 * plain as they look. */
__attribute__((noinline)) static const float *fill_up(const float *x, size_t left, size_t size,
                                                      float *buffer) {
  for (size_t j = 0; j < size; j++) buffer[j] = j < left ? x[j] : -INFINITY;
  return buffer;
}

/* The `size` elements at i; `buffer` is used where they are not all there. */
TARGET static inline const float *stretch_at(const float *x, size_t i, size_t n, size_t size,
                                             float *buffer) {
  return TSL__UNLIKELY(n - i < size) ? fill_up(x + i, n - i, size, buffer) : x + i;
}

/* The lanes of group j of the 64 elements whose mask is m. */
TARGET static inline m16 lanes_of(uint64_t m, size_t j) {
  return m_of((uint32_t)(m >> (GROUP * j)) & 0xffffu);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Four tops run side by side, so that no comparison waits for the one before it. Where NaN was is
 * collected on the way, and looked at once, at the end. */
TARGET static tsl__logits_peak peak(const float *x, const uint32_t *mask, size_t n) {
  v16 top[GROUPS] = {v_set(-INFINITY), v_set(-INFINITY), v_set(-INFINITY), v_set(-INFINITY)};
  m16 nan = m_of(0);
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = stretch_at(x, i, n, TSL__LOGITS_QUAD, buffer);
    v16 v[GROUPS];
    for (size_t j = 0; j < GROUPS; j++) {
      v[j] = v_or_low(lanes_of(m, j), v_load(g + GROUP * j));
      top[j] = v_larger(v[j], top[j]);
    }
    nan = m_or(nan, m_or(m_nan(v[0], v[1]), m_nan(v[2], v[3])));
  }
  /* + 0: see logits_portable.c */
  return (tsl__logits_peak){
      v_top(v_larger(v_larger(top[0], top[1]), v_larger(top[2], top[3]))) + 0.0f, m_bits(nan) != 0};
}

/* Sixteen bits at a time: the lower half of a word is written first, the upper half is added. */
TARGET static void above(const float *x, const uint32_t *mask, size_t n, float floor,
                         uint32_t *bits) {
  const v16 bar = v_set(floor);
  float buffer[GROUP];
  for (size_t i = 0; i < n; i += GROUP) {
    m16 open = m_of(tsl__logits_bits16(mask, i, n));
    uint32_t out = m_bits(m_ge(open, v_load(stretch_at(x, i, n, GROUP, buffer)), bar));
    bits[i >> 5] = i & GROUP ? bits[i >> 5] | out << GROUP : out;
  }
}

/* Most groups have nothing above the floor: the comparison is all that they cost. */
TARGET static size_t gather(const float *x, const uint32_t *mask, size_t n, float floor,
                            uint32_t first, float *values, uint32_t *places) {
  const v16 bar = v_set(floor);
  float buffer[GROUP];
  size_t count = 0;
  for (size_t i = 0; i < n; i += GROUP) {
    uint32_t m = tsl__logits_bits16(mask, i, n);
    if (!m) continue;
    const float *g = stretch_at(x, i, n, GROUP, buffer);
    v16 v = v_load(g);
    m = m_bits(m_ge(m_of(m), v, bar));
    if (m) count += put_lanes(v, g, m, first + (uint32_t)i, values + count, places + count);
  }
  return count;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* tsl__logits_argument of sixteen logits, by the same two operations. */
TARGET static inline v16 arguments(v16 v, v16 anchor, v16 rate) {
  return v_mul(v_sub(v, anchor), rate);
}

/* tsl__logits_exp2 of sixteen arguments, 0 in lanes that are not open. */
TARGET static inline v16 powers(m16 open, v16 d) {
  const v16 round = v_set(TSL__EXP_ROUND);
  v16 shifted = v_add(d, round), r = v_sub(d, v_sub(shifted, round));
  v16 p = v_fma(v_set(TSL__EXP_C5), r, v_set(TSL__EXP_C4));
  p = v_fma(p, r, v_set(TSL__EXP_C3));
  p = v_fma(p, r, v_set(TSL__EXP_C2));
  p = v_fma(p, r, v_set(TSL__EXP_C1));
  p = v_fma(p, r, v_set(1.0f));
  return v_power(m_ge(open, d, v_set(TSL__EXP_FLOOR)), p, shifted);
}

/* All elements, mask or not: the callers weigh lists of candidates. */
TARGET static void weigh(const float *x, size_t n, float anchor, float scale, float *weights) {
  const v16 a = v_set(anchor), s = v_set(tsl__logits_rate(scale));
  float buffer[GROUP];
  for (size_t i = 0; i < n; i += GROUP)
    v_store(weights + i,
            powers(m_of(0xffff), arguments(v_load(stretch_at(x, i, n, GROUP, buffer)), a, s)));
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Add 64 terms: each lane's four in float first. */
TARGET static inline void add_quad(d16 *to, const v16 t[GROUPS]) {
  d_add(to, v_add(v_add(t[0], t[1]), v_add(t[2], t[3])));
}

/* One stretch: 64 logits to 64 weights, those outside of the mask 0, to 16 floats, to 16
 * doubles. */
TARGET static double sum(const float *x, const uint32_t *mask, size_t n, float anchor,
                         float scale) {
  const v16 a = v_set(anchor), s = v_set(tsl__logits_rate(scale));
  d16 total = d_zero();
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue; /* adding zeros changes no lane */
    const float *g = stretch_at(x, i, n, TSL__LOGITS_QUAD, buffer);
    v16 w[GROUPS];
    for (size_t j = 0; j < GROUPS; j++)
      w[j] = powers(lanes_of(m, j), arguments(v_load(g + GROUP * j), a, s));
    add_quad(&total, w);
  }
  return d_fold(&total);
}

/* One look at the row in the usual case. Sums are made against the guess while the top is looked
 * for. If the top turns out to be too far above the guess, the weights are wrong or too coarse, and
 * sum() looks once more. */
TARGET static tsl__logits_survey survey(const float *x, const uint32_t *mask, size_t n, float near,
                                        float scale) {
  const v16 a = v_set(near), s = v_set(tsl__logits_rate(scale));
  v16 top[2] = {v_set(-INFINITY), v_set(-INFINITY)};
  m16 nan = m_of(0);
  d16 total = d_zero();
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = stretch_at(x, i, n, TSL__LOGITS_QUAD, buffer);
    v16 v[GROUPS], w[GROUPS];
    for (size_t j = 0; j < GROUPS; j++) {
      v[j] = v_or_low(lanes_of(m, j), v_load(g + GROUP * j));
      top[j & 1] = v_larger(v[j], top[j & 1]);
      w[j] = powers(m_of(0xffff), arguments(v[j], a, s));
    }
    nan = m_or(nan, m_or(m_nan(v[0], v[1]), m_nan(v[2], v[3])));
    add_quad(&total, w);
  }
  tsl__logits_survey v = {d_fold(&total), near, v_top(v_larger(top[0], top[1])) + 0.0f,
                          m_bits(nan) != 0};
  if (tsl__logits_is_near(v.top, near, scale)) return v;
  v.anchor = v.top;
  v.mass = v.top >= -FLT_MAX && v.top <= FLT_MAX ? sum(x, mask, n, v.top, scale) : 0;
  return v;
}

/* Each weight is made once and added to one sum or to both. */
TARGET static tsl__logits_mass sum_both(const float *x, const uint32_t *mask, size_t n,
                                        float anchor, float scale) {
  const v16 a = v_set(anchor), s = v_set(tsl__logits_rate(scale));
  d16 all = d_zero(), legal = d_zero();
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    const float *g = stretch_at(x, i, n, TSL__LOGITS_QUAD, buffer);
    v16 w[GROUPS];
    for (size_t j = 0; j < GROUPS; j++)
      w[j] = powers(m_of(0xffff), arguments(v_load(g + GROUP * j), a, s));
    add_quad(&all, w);
    if (!m) continue;
    for (size_t j = 0; j < GROUPS; j++) w[j] = v_keep(lanes_of(m, j), w[j]);
    add_quad(&legal, w);
  }
  return (tsl__logits_mass){d_fold(&all), d_fold(&legal)};
}

/* Weight times argument, where the weight is not 0: there the argument may be -inf, and 0 * -inf
 * would be NaN. */
TARGET static tsl__logits_moments moments(const float *x, const uint32_t *mask, size_t n,
                                          float anchor, float scale) {
  const v16 a = v_set(anchor), s = v_set(tsl__logits_rate(scale)), least = v_set(FLT_MIN);
  d16 mass = d_zero(), moment = d_zero();
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = stretch_at(x, i, n, TSL__LOGITS_QUAD, buffer);
    v16 w[GROUPS], t[GROUPS];
    for (size_t j = 0; j < GROUPS; j++) {
      v16 d = arguments(v_load(g + GROUP * j), a, s);
      m16 open = lanes_of(m, j);
      w[j] = powers(open, d);
      t[j] = v_keep(m_ge(open, w[j], least), v_mul(w[j], d)); /* what weighs nothing may be -inf */
    }
    add_quad(&mass, w);
    add_quad(&moment, t);
  }
  return (tsl__logits_moments){d_fold(&mass), d_fold(&moment)};
}

/* What is not finite counts nowhere: -inf stands for tokens that the model itself forbids. */
TARGET static tsl__logits_spread spread(const float *x, const uint32_t *mask, size_t n,
                                        float anchor) {
  const v16 a = v_set(anchor), lowest = v_set(-FLT_MAX), highest = v_set(FLT_MAX);
  d16 count = d_zero(), total = d_zero(), square = d_zero();
  float buffer[TSL__LOGITS_QUAD];
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = stretch_at(x, i, n, TSL__LOGITS_QUAD, buffer);
    v16 c[GROUPS], d[GROUPS], q[GROUPS];
    for (size_t j = 0; j < GROUPS; j++) {
      v16 v = v_load(g + GROUP * j);
      m16 finite = m_ge(m_ge(lanes_of(m, j), v, lowest), highest, v);
      c[j] = v_keep(finite, v_set(1.0f));
      d[j] = v_keep(finite, v_sub(v, a));
      q[j] = v_mul(d[j], d[j]);
    }
    add_quad(&count, c);
    add_quad(&total, d);
    add_quad(&square, q);
  }
  return (tsl__logits_spread){d_fold(&count), d_fold(&total), d_fold(&square)};
}

/* Each weight is made once, then compared with four floors: four sums for little more than one. */
TARGET static void ladder(const float *x, const float *by, const uint32_t *mask, size_t n,
                          float anchor, float scale, const float floors[TSL__LOGITS_RUNGS],
                          double sums[TSL__LOGITS_RUNGS]) {
  const v16 a = v_set(anchor), s = v_set(tsl__logits_rate(scale));
  d16 total[TSL__LOGITS_RUNGS];
  float of_x[TSL__LOGITS_QUAD], of_by[TSL__LOGITS_QUAD];
  for (size_t r = 0; r < TSL__LOGITS_RUNGS; r++) total[r] = d_zero();
  for (size_t i = 0; i < n; i += TSL__LOGITS_QUAD) {
    uint64_t m = tsl__logits_bits64(mask, i, n);
    if (!m) continue;
    const float *g = stretch_at(x, i, n, TSL__LOGITS_QUAD, of_x),
                *h = stretch_at(by, i, n, TSL__LOGITS_QUAD, of_by);
    v16 w[GROUPS], t[GROUPS];
    for (size_t j = 0; j < GROUPS; j++)
      w[j] = powers(lanes_of(m, j), arguments(v_load(g + GROUP * j), a, s));
    for (size_t r = 0; r < TSL__LOGITS_RUNGS; r++) {
      const v16 bar = v_set(floors[r]);
      for (size_t j = 0; j < GROUPS; j++)
        t[j] = v_keep(m_ge(lanes_of(m, j), v_load(h + GROUP * j), bar), w[j]);
      add_quad(&total[r], t);
    }
  }
  for (size_t r = 0; r < TSL__LOGITS_RUNGS; r++) sums[r] = d_fold(&total[r]);
}

/* The sign is set, whatever it was: minus the absolute value, so that the nearest is the
 * largest. */
TARGET static void distances(const float *x, size_t n, float anchor, float scale, float middle,
                             float *out) {
  const v16 a = v_set(anchor), s = v_set(tsl__logits_rate(scale)), c = v_set(middle);
  float buffer[GROUP];
  for (size_t i = 0; i < n; i += GROUP) {
    v16 d = v_sub(arguments(v_load(stretch_at(x, i, n, GROUP, buffer)), a, s), c);
    v_store(out + i, v_minus_abs(d));
  }
}

/* The table of an instruction set, in the order of tsl__logits_kernels. */
#define TSL__LOGITS_TABLE(name, agrees)                                                        \
  {name,    apply32, apply16, copy_words, or_words,  and_words,     andnot_words, count_words, \
   list,    peak,    above,   gather,     weigh,     sum,           survey,       sum_both,    \
   moments, spread,  ladder,  distances,  hash_more, hash_secretly, agrees}
