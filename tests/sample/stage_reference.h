/* stage_reference.h - every stage of the sampler, written as its definition says: the judge of
 * runtime/sample/stages.c.
 *
 * Problem   The sampler never sorts a whole row and works in float or double. Whether it is right
 *           can only be said by something that is too simple to be wrong.
 * Idea      A list of the tokens that are left, sorted by logit. Each stage goes over the whole
 *           list and adds up in long double. Where a sum falls within 2e-5 of a stage's goal,
 *           rounding may decide either way. Then `doubt` is set, and one token more or less is
 *           right, too.
 * Example   Probabilities 0.5, 0.3, 0.2 and top_p 0.7: 0.5 is too little, 0.5 + 0.3 reaches 0.7, so
 *           two tokens stay.
 * Cost      n log n a stage, and some 100 ns a token: for tests alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SAMPLE_STAGE_REFERENCE_H
#define TSL_TESTS_SAMPLE_STAGE_REFERENCE_H

#include <math.h>

#include "runtime/core/fmath.h"
#include "runtime/core/rng.h"
#include "runtime/sample/sampler.h"
#include "tests/support/stages.h"

#define NEAR 2e-5L

static bool open_at(size_t i) { return (mask[i >> 5] >> (i & 31)) & 1u; }

typedef struct cand {
  long double x, p;  /* logit; probability at the temperature so far */
  long double aside; /* distance, for typical */
  uint32_t id;
} cand;

static cand list[WIDEST];
static size_t count;
static long double heat; /* temperature so far */
static bool doubt;

static int by_rank(const void *a, const void *b) {
  const cand *x = a, *y = b;
  return x->x != y->x ? (x->x > y->x ? -1 : 1) : x->id < y->id ? -1 : 1;
}
static int by_distance(const void *a, const void *b) {
  const cand *x = a, *y = b;
  return x->aside != y->aside ? (x->aside < y->aside ? -1 : 1) : x->id < y->id ? -1 : 1;
}

static void doubt_near(long double a, long double b) {
  doubt |= fabsl(a - b) < NEAR * (fabsl(a) + fabsl(b));
}

/* Sort by rank and fill in the probabilities. */
static void softmax(void) {
  long double sum = 0;
  qsort(list, count, sizeof *list, by_rank);
  for (size_t i = 0; i < count; i++) sum += list[i].p = expl((list[i].x - list[0].x) / heat);
  for (size_t i = 0; i < count; i++) list[i].p /= sum;
}

static long double entropy(void) {
  long double h = 0;
  for (size_t i = 0; i < count; i++)
    if (list[i].p > 0) h -= list[i].p * logl(list[i].p);
  return h;
}

static size_t times_seen(uint32_t id, uint32_t window) {
  size_t n = 0;
  for (size_t i = window && window < history_length ? history_length - window : 0;
       i < history_length; i++)
    n += history[i] == id;
  return n;
}

static void ref_bias(const tsl_sampler_options *o) {
  for (size_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < o->bias_count; j++)
      if (o->bias[j].token == list[i].id) list[i].x += (long double)o->bias[j].bias * heat;
}

static void ref_penalties(const tsl_sampler_options *o) {
  for (size_t i = 0; i < count; i++) {
    size_t n = times_seen(list[i].id, o->penalty_window);
    if (!n) continue;
    if (o->repetition_penalty > 0)
      list[i].x =
          list[i].x > 0 ? list[i].x / o->repetition_penalty : list[i].x * o->repetition_penalty;
    list[i].x -= heat * ((long double)n * o->frequency_penalty + o->presence_penalty);
  }
}

static bool breaks(const tsl_sampler_options *o, tsl_token t) {
  for (uint32_t i = 0; i < o->dry_breaker_count; i++)
    if (o->dry_breakers[i] == t) return true;
  return false;
}

/* The longest repeated sequence that the token would prolong, by trying every place. */
static size_t ref_repeat(const tsl_sampler_options *o, tsl_token token) {
  size_t start =
             o->dry_window && o->dry_window < history_length ? history_length - o->dry_window : 0,
         best = 0;
  for (size_t i = start; i + 1 < history_length; i++) { /* place i is followed by the token */
    if (history[i + 1] != token || breaks(o, token)) continue;
    size_t n = 0;
    while (start + n <= i && history[i - n] == history[history_length - 1 - n] &&
           !breaks(o, history[i - n]))
      n++;
    if (n > best) best = n;
  }
  return best;
}

static void ref_dry(const tsl_sampler_options *o) {
  size_t allowed = o->dry_allowed ? o->dry_allowed : 2;
  for (size_t i = 0; i < count; i++) {
    if (!times_seen(list[i].id, 0)) continue;
    size_t n = ref_repeat(o, list[i].id);
    if (n >= allowed)
      list[i].x -= heat * o->dry_multiplier *
                   powl(o->dry_base > 0 ? o->dry_base : 1.75L, (long double)(n - allowed));
  }
}

static void ref_temperature(const tsl_sampler_options *o) {
  long double t = o->temperature;
  if (o->dynamic_range > 0) {
    softmax();
    long double low = fmaxl(0, t - o->dynamic_range), high = t + o->dynamic_range,
                most = logl((long double)count);
    long double share = count > 1 ? entropy() / most : 0;
    t = low + (high - low) *
                  (share > 0 ? powl(share, o->dynamic_exponent > 0 ? o->dynamic_exponent : 1) : 0);
    doubt |= t < 1e-3L; /* so sharp that roundings of logits show */
  }
  if (t == 0) {
    softmax();
    count = 1;
  } else {
    heat *= t;
  }
}

/* Keep the first of the sorted list that reach the mass. */
static void keep_mass(long double goal) {
  long double sum = 0;
  size_t n = 0;
  while (n < count && sum < goal) {
    doubt_near(sum, goal);
    sum += list[n++].p;
  }
  doubt_near(sum, goal);
  count = n;
}

static void keep_from(long double bar) {
  size_t n = 0;
  softmax();
  while (n < count && list[n].p >= bar) n++;
  if (n < count) doubt_near(list[n].p, bar);
  if (n) doubt_near(list[n - 1].p, bar);
  count = n ? n : 1;
}

static void ref_typical(const tsl_sampler_options *o) {
  softmax();
  long double h = entropy();
  for (size_t i = 0; i < count; i++) list[i].aside = fabsl(-logl(list[i].p) - h);
  qsort(list, count, sizeof *list, by_distance);
  size_t before = count;
  keep_mass(o->typical_p);
  /* The order of what is almost as far away is open, unless it is a tie of equal logits. */
  if (count < before)
    doubt |= fabsl(list[count].aside - list[count - 1].aside) < 1e-4L &&
             list[count].x != list[count - 1].x;
}

static void ref_top_n_sigma(const tsl_sampler_options *o) {
  long double mean = 0, square = 0, top;
  for (size_t i = 0; i < count; i++) mean += list[i].x / (long double)count;
  for (size_t i = 0; i < count; i++)
    square += (list[i].x - mean) * (list[i].x - mean) / (long double)count;
  softmax();
  top = list[0].x;
  long double floor = top - (long double)o->top_n_sigma * sqrtl(square);
  size_t n = 0;
  while (n < count && list[n].x >= floor) n++;
  for (size_t i = n ? n - 1 : 0; i < count && i <= n; i++)
    doubt |= fabsl(list[i].x - floor) < 1e-5L * (1 + fabsl(floor)) && sqrtl(square) > 1e-3L;
  if (sqrtl(square) <= 1e-3L) doubt = true;
  count = n ? n : 1;
}

static void ref_xtc(const tsl_sampler_options *o, uint64_t draw) {
  softmax();
  if (!(tsl__rng_uniform_of(o->seed, draw, 1) < (double)o->xtc_probability)) return;
  size_t n = 0;
  while (n < count && list[n].p >= o->xtc_threshold) n++;
  if (n < count) doubt_near(list[n].p, o->xtc_threshold);
  if (n) doubt_near(list[n - 1].p, o->xtc_threshold);
  if (n < 2) return;
  memmove(list, list + n - 1, (count - n + 1) * sizeof *list);
  count -= n - 1;
}

static void ref_stage(const tsl_sampler_options *o, tsl_stage stage, uint64_t draw,
                      double surprise) {
  switch (stage) {
  case TSL_STAGE_BIAS: ref_bias(o); break;
  case TSL_STAGE_PENALTIES: ref_penalties(o); break;
  case TSL_STAGE_DRY: ref_dry(o); break;
  case TSL_STAGE_TEMPERATURE: ref_temperature(o); break;
  case TSL_STAGE_TOP_N_SIGMA: ref_top_n_sigma(o); break;
  case TSL_STAGE_TOP_K:
    softmax();
    if (o->top_k < count) count = o->top_k;
    break;
  case TSL_STAGE_TOP_P: softmax(), keep_mass(o->top_p); break;
  case TSL_STAGE_MIN_P: softmax(), keep_from(o->min_p * list[0].p); break;
  case TSL_STAGE_TYPICAL_P: ref_typical(o); break;
  case TSL_STAGE_EPSILON: keep_from(o->epsilon); break;
  case TSL_STAGE_ETA: softmax(), keep_from(fminl(o->eta, sqrtl(o->eta) * expl(-entropy()))); break;
  case TSL_STAGE_XTC: ref_xtc(o, draw); break;
  case TSL_STAGE_MIROSTAT: keep_from(exp2l(-(long double)surprise)); break;
  }
}

#endif
