/* step.c - what the model wanted. See step.h.
 *
 * Tested by tests/sample/test_step.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sample/step.h"

#include "runtime/core/fmath.h"
#include "runtime/kernels/logits.h"

/* tokens looked at in one call where there is no mask: so long is the constant one */
#define CHUNK 1024u
#define ONES4 UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX
#define ONES16 ONES4, ONES4, ONES4, ONES4
static const uint32_t ones[CHUNK / 32] = {ONES16, ONES16};

/* A part of the row: up to CHUNK tokens from `start`. */
typedef struct part {
  const float *x;
  const uint32_t *mask;
  size_t n;
} part;

static part part_at(const float *logits, size_t width, const uint32_t *mask, size_t start) {
  size_t left = width - start;
  return (part){logits + start, mask ? mask + start / 32 : ones, left < CHUNK ? left : CHUNK};
}

static tsl__logits_peak find_peak(const float *logits, size_t width, const uint32_t *mask) {
  const tsl__logits_kernels *k = tsl__logits();
  tsl__logits_peak top = {-INFINITY, false};
  for (size_t i = 0; i < width; i += CHUNK) {
    part p = part_at(logits, width, mask, i);
    tsl__logits_peak q = k->peak(p.x, p.mask, p.n);
    if (q.top > top.top) top.top = q.top;
    top.nan |= q.nan;
  }
  return top;
}

static tsl__logits_moments find_moments(const float *logits, size_t width, const uint32_t *mask,
                                        float anchor) {
  const tsl__logits_kernels *k = tsl__logits();
  tsl__logits_moments sum = {0, 0};
  for (size_t i = 0; i < width; i += CHUNK) {
    part p = part_at(logits, width, mask, i);
    tsl__logits_moments m = k->moments(p.x, p.mask, p.n, anchor, 1);
    sum.mass += m.mass;
    sum.moment += m.moment;
  }
  return sum;
}

double tsl__legal_mass(const float *logits, size_t width, const uint32_t *mask) {
  if (!mask) return 1;
  const tsl__logits_kernels *k = tsl__logits();
  float top = find_peak(logits, width, NULL).top;
  if (top == INFINITY) return 0;
  tsl__logits_mass m = k->sum_both(logits, mask, width, top, 1);
  return m.legal / m.all; /* all >= 1: the largest weighs 1 */
}

/* ---- the most likely ------------------------------------------------------------------------- */

/* The first n of the ranking so far; logits stand in for logprobs. */
typedef struct ranking {
  tsl_token_logprob *at;
  uint32_t n, cap;
} ranking;

/* Ids come in order, so an equal logit goes behind. */
static void rank(ranking *r, float logit, tsl_token id) {
  uint32_t low = 0, high = r->n;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (r->at[middle].logprob >= (double)logit)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == r->cap) return;
  if (r->n < r->cap) r->n++;
  memmove(r->at + low + 1, r->at + low, (r->n - 1 - low) * sizeof *r->at);
  r->at[low] = (tsl_token_logprob){id, (double)logit};
}

static uint32_t find_top(const float *logits, size_t width, const uint32_t *mask, double log_mass,
                         uint32_t top_n, tsl_token_logprob *top) {
  const tsl__logits_kernels *k = tsl__logits();
  ranking r = {top, 0, top_n};
  for (size_t i = 0; top_n && i < width; i += CHUNK) {
    uint32_t bits[CHUNK / 32];
    part p = part_at(logits, width, mask, i);
    k->above(p.x, p.mask, p.n, r.n == r.cap ? (float)top[r.n - 1].logprob : -FLT_MAX, bits);
    for (size_t w = 0; w < (p.n + 31) / 32; w++)
      for (uint32_t left = bits[w]; left; left &= left - 1) {
        size_t j = w * 32 + (size_t)__builtin_ctz(left);
        rank(&r, p.x[j], (tsl_token)(i + j));
      }
  }
  /* log_mass: log of the sum of exp(logit) */
  for (uint32_t i = 0; i < r.n; i++) top[i].logprob -= log_mass;
  return r.n;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* log of the sum of exp(logit), and the entropy. */
static double log_sum(tsl__logits_moments m, float anchor, double *entropy) {
  *entropy = tsl__log(m.mass) - TSL__LN2 * m.moment / m.mass;
  return (double)anchor + tsl__log(m.mass);
}

tsl_status tsl_step_measure(const float *logits, size_t width, const uint32_t *mask,
                            tsl_token token, uint32_t top_n, tsl_token_logprob *top,
                            tsl_token_logprob *masked_top, tsl_step *out) {
  if (!logits || !out || !width || width > TSL_MAX_VOCAB ||
      (token != TSL_NO_TOKEN && token >= width))
    return TSL_ERR_ARGUMENT;
  tsl__logits_peak legal = find_peak(logits, width, mask),
                   all = mask ? find_peak(logits, width, NULL) : legal;
  if (legal.nan || !(legal.top >= -FLT_MAX && legal.top <= FLT_MAX)) return TSL_ERR_LOGITS;
  bool infinite = all.top == INFINITY; /* by illegal infinities */
  tsl_step s = {.allowed = (uint32_t)(mask ? tsl_mask_count(mask, width) : width)};
  tsl__logits_moments after = find_moments(logits, width, mask, legal.top), before = after;
  if (mask && !infinite) before = find_moments(logits, width, NULL, all.top);
  double log_after = log_sum(after, legal.top, &s.masked_entropy), log_before = INFINITY;
  if (!infinite) log_before = log_sum(before, all.top, &s.entropy);
  s.legal_mass = !mask ? 1 : infinite ? 0 : tsl__exp(log_after - log_before);
  if (s.legal_mass > 1) s.legal_mass = 1;
  s.logprob = s.masked_logprob = NAN;
  if (token != TSL_NO_TOKEN) {
    double x = (double)logits[token];
    bool open = !mask || tsl_mask_has(mask, token);
    s.logprob = x == INFINITY ? 0 : isnan(x) ? -INFINITY : x - log_before;
    s.masked_logprob = open ? x - log_after : -INFINITY;
  }
  if (top && !infinite) s.top_count = find_top(logits, width, NULL, log_before, top_n, top);
  if (masked_top) s.masked_top_count = find_top(logits, width, mask, log_after, top_n, masked_top);
  *out = s;
  return TSL_OK;
}

void tsl_step_add(tsl_step_sums *sums, const tsl_step *step) {
  if (!sums->steps || step->legal_mass < sums->least_legal_mass)
    sums->least_legal_mass = step->legal_mass;
  sums->steps++;
  sums->logprob += step->logprob;
  sums->masked_logprob += step->masked_logprob;
  sums->entropy += step->entropy;
  sums->masked_entropy += step->masked_entropy;
  sums->log_legal_mass += tsl__log(step->legal_mass);
}
