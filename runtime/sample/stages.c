/* stages.c - what each stage does to the candidates.
 *
 * Stages that change logits find their tokens in the list already (sampler.c put them there).
 * Cut-offs end the dense part of the candidates. Each cut-off knows a floor below which it keeps
 * nothing, or tries lower and lower floors. It lists the tokens above the floor, and then works on
 * that list.
 * Ref       top-p: Holtzman et al. 2020. Typical: Meister et al. 2023. Epsilon, eta: Hewitt,
 *           Manning, Liang 2022. Mirostat: Basu et al. 2021. min-p: Nguyen et al. 2024.
 *           Top-n-sigma: Tang et al. 2024. Repetition penalty: Keskar et al. 2019. XTC, DRY: p-e-w
 *           2024. Dynamic temperature by entropy, and its exponent: kalomaze 2023.
 * Tested by tests/sample/test_stages.c, each against a direct implementation
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/fmath.h"
#include "runtime/core/rng.h"
#include "runtime/sample/sampler.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define XTC_STREAM 1 /* of the random numbers */

/* ---- changed logits -------------------------------------------------------------------------- */

/* The entry of a token, or SIZE_MAX. */
static size_t entry_of(const tsl__candidates *c, tsl_token token) {
  size_t low = 0, high = c->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (c->id[middle] < token)
      low = middle + 1;
    else
      high = middle;
  }
  return low < c->n && c->id[low] == token ? low : SIZE_MAX;
}

/* Add to a logit what would be `amount` after the temperature so far; it stays finite. */
static void shift(tsl__candidates *c, size_t entry, double amount) {
  double x = (double)c->logit[entry] + (amount == 0 ? 0 : amount / (double)c->scale);
  c->logit[entry] = x < -(double)FLT_MAX ? -FLT_MAX : x > (double)FLT_MAX ? FLT_MAX : (float)x;
}

/* Both lists are by token, but biases are few: each is looked up. The largest logit may be another
 * one afterwards, which the anchor must be. */
static tsl_status add_bias(tsl_sampler *s) {
  tsl__candidates *c = &s->candidates;
  for (size_t i = 0; i < s->bias.n; i++) {
    size_t e = entry_of(c, s->bias.at[i].token);
    if (e != SIZE_MAX) shift(c, e, (double)s->bias.at[i].bias);
  }
  return tsl__candidates_anchor(c);
}

/* A repetition penalty divides what is positive and multiplies what is negative: both become less
 * likely. Frequency and presence are subtracted. */
static tsl_status penalise(tsl_sampler *s) {
  const tsl_sampler_options *o = &s->options;
  tsl__candidates *c = &s->candidates;
  for (size_t i = 0, e = 0; i < s->history.seen.n; i++) { /* both are by token */
    const tsl__seen *seen = &s->history.seen.at[i];
    while (e < c->n && c->id[e] < seen->token) e++;
    if (e == c->n) break;
    if (c->id[e] != seen->token || tsl__structure_spares(&s->structure, seen->token)) continue;
    float x = c->logit[e];
    if (o->repetition_penalty != 1) {
      double y = x > 0 ? (double)x / (double)o->repetition_penalty
                       : (double)x * (double)o->repetition_penalty;
      c->logit[e] = y < -(double)FLT_MAX ? -FLT_MAX : y > (double)FLT_MAX ? FLT_MAX : (float)y;
    }
    shift(c, e,
          -((double)seen->count * (double)o->frequency_penalty + (double)o->presence_penalty));
  }
  return tsl__candidates_anchor(c);
}

/* DRY: a token that would make a repeat longer loses multiplier * base ^ (length - allowed). The
 * loop ends where that is out of bounds. */
static tsl_status prolong_less(tsl_sampler *s) {
  const tsl_sampler_options *o = &s->options;
  tsl__candidates *c = &s->candidates;
  for (size_t i = 0; i < s->repeats.found.n; i++) {
    const tsl__repeat *r = &s->repeats.found.at[i];
    size_t e = entry_of(c, r->token);
    if (e == SIZE_MAX || tsl__structure_spares(&s->structure, r->token)) continue;
    double penalty = (double)o->dry_multiplier;
    for (uint32_t n = o->dry_allowed; n < r->length && penalty < (double)FLT_MAX && penalty > 0;
         n++)
      penalty *= (double)o->dry_base;
    shift(c, e, -penalty);
  }
  return tsl__candidates_anchor(c);
}

/* ---- keeping --------------------------------------------------------------------------------- */

static bool at_least_logit(const tsl__candidates *c, size_t i, const void *ctx) {
  return c->logit[i] >= *(const float *)ctx;
}

/* Keep the logits of at least `floor`; the largest one is. */
static tsl_status keep_from(tsl__candidates *c, float floor) {
  tsl_status status = tsl__candidates_narrow(c, floor);
  if (status == TSL_OK) tsl__candidates_filter(c, at_least_logit, &floor);
  return status;
}

/* The first one in the ranking. */
static tsl_status keep_likeliest(tsl__candidates *c) {
  tsl_status status = keep_from(c, c->anchor);
  return status == TSL_OK ? tsl__candidates_keep(c, TSL__BY_LOGIT, 0, (tsl__goal){.count = 1})
                          : status;
}

/* Keep what weighs at least `bar`; the likeliest in any case. */
static tsl_status keep_heavy(tsl__candidates *c, double bar) {
  return bar <= 1 ? keep_from(c, tsl__candidates_level(c, tsl__log(bar))) : keep_likeliest(c);
}

/* ---- temperature ----------------------------------------------------------------------------- */

/* Between temperature - range and temperature + range, by entropy. */
static double dynamic_temperature(const tsl_sampler *s) {
  const tsl_sampler_options *o = &s->options;
  tsl__logits_moments m = tsl__candidates_moments(&s->candidates);
  double most = tsl__log(tsl__candidates_spread(&s->candidates).count),
         entropy = tsl__log(m.mass) - TSL__LN2 * m.moment / m.mass;
  double low = (double)o->temperature - (double)o->dynamic_range,
         high = (double)o->temperature + (double)o->dynamic_range;
  if (low < 0) low = 0;
  double share = most > 0 && entropy > 0 ? entropy / most : 0;
  if (share > 1) share = 1;
  return low +
         (high - low) * (share > 0 ? tsl__exp((double)o->dynamic_exponent * tsl__log(share)) : 0);
}

/* 0 means the likeliest. Else only the scale changes; no logit is touched. */
static tsl_status heat(tsl_sampler *s) {
  const tsl_sampler_options *o = &s->options;
  double t = o->dynamic_range > 0 ? dynamic_temperature(s) : (double)o->temperature;
  if (t == 0) return keep_likeliest(&s->candidates);
  s->candidates.scale = tsl__cooler(s->candidates.scale, t);
  return TSL_OK;
}

/* ---- cut-offs -------------------------------------------------------------------------------- */

/* A floor below which none of the k first can lie makes the list short; then the list is cut
 * exactly. */
static tsl_status top_k(tsl_sampler *s) {
  tsl__candidates *c = &s->candidates;
  size_t k = s->options.top_k;
  if (k >= c->width) return TSL_OK;
  if (c->dense && k <= TSL__NARROW / 2) {
    float floor;
    if (!tsl__candidates_floor(c, k, &floor)) return TSL_ERR_NO_MEMORY;
    tsl_status status = tsl__candidates_narrow(c, floor);
    if (status != TSL_OK) return status;
  }
  return tsl__candidates_keep(c, TSL__BY_LOGIT, 0, (tsl__goal){.count = k});
}

/* How far below the likeliest (in the exponent) to look for a set of large enough mass: mostly the
 * first will do. */
static const double depths[] = {4, 8, 12, 16, 24, 1e30};
#define DEPTHS (sizeof depths / sizeof *depths)

/* Tries floors, lower and lower, until what is gathered weighs enough. exp(-4) of the likeliest is
 * deep enough for a model that is sure; a flat row gathers too many and stays dense. */
static tsl_status top_p(tsl_sampler *s) {
  tsl__candidates *c = &s->candidates;
  double whole = tsl__candidates_mass(c), goal = (double)s->options.top_p * whole;
  bool all = true;
  for (size_t i = 0; c->dense && all && i < DEPTHS; i++) {
    tsl__candidates_ungather(c);
    if (!tsl__candidates_gather(c, tsl__candidates_level(c, -depths[i]), TSL__NARROW, &all))
      return TSL_ERR_NO_MEMORY;
    if (all && (tsl__candidates_list_mass(c) >= goal || i + 1 == DEPTHS)) tsl__candidates_close(c);
  }
  return tsl__candidates_keep(c, TSL__BY_LOGIT, 0,
                              (tsl__goal){.by_mass = true, .mass = goal, .whole = whole});
}

static tsl_status min_p(tsl_sampler *s) {
  return keep_heavy(&s->candidates, (double)s->options.min_p);
}

/* Mean and variance from three sums, by distances to the largest logit, so that little is
 * cancelled. */
static tsl_status top_n_sigma(tsl_sampler *s) {
  tsl__candidates *c = &s->candidates;
  tsl__logits_spread d = tsl__candidates_spread(c);
  double mean = d.sum / d.count, variance = d.square / d.count - mean * mean;
  double low =
      (double)c->anchor - (double)s->options.top_n_sigma * (variance > 0 ? sqrt(variance) : 0);
  return keep_from(c, low > -(double)FLT_MAX ? (float)low : -FLT_MAX);
}

static tsl_status epsilon(tsl_sampler *s) {
  return keep_heavy(&s->candidates,
                    (double)s->options.epsilon * tsl__candidates_mass(&s->candidates));
}

static tsl_status eta(tsl_sampler *s) {
  tsl__logits_moments m = tsl__candidates_moments(&s->candidates);
  /* exp(-entropy) */
  double most = (double)s->options.eta,
         by_entropy = sqrt(most) * tsl__exp(TSL__LN2 * m.moment / m.mass) / m.mass;
  return keep_heavy(&s->candidates, (most < by_entropy ? most : by_entropy) * m.mass);
}

/* ---- typical --------------------------------------------------------------------------------- */

/* Mass of the entries whose argument is at most so far from the middle; all in bits. */
static double mass_within(tsl__candidates *c, float middle, double reach) {
  double mass = 0;
  tsl__candidates_list_mass(c);
  for (size_t i = 0; i < c->n; i++)
    if (fabs((double)tsl__logits_argument(c->logit[i], c->anchor, c->scale) - (double)middle) <=
        reach)
      mass += (double)c->weight[i];
  return mass;
}

/* -log p - entropy = middle - argument, `middle` being the mean argument. */
static tsl_status typical_p(tsl_sampler *s) {
  tsl__candidates *c = &s->candidates;
  tsl__logits_moments m = tsl__candidates_moments(c);
  double goal = (double)s->options.typical_p * m.mass;
  float middle = (float)(m.moment / m.mass);
  bool all = true;
  for (size_t i = 0; c->dense && all && i < DEPTHS; i++) {
    double reach = depths[i] / 3;
    tsl__candidates_ungather(c);
    if (!tsl__candidates_gather(c, tsl__candidates_level(c, ((double)middle - reach) * TSL__LN2),
                                TSL__NARROW, &all))
      return TSL_ERR_NO_MEMORY;
    if (all && (i + 1 == DEPTHS || mass_within(c, middle, reach) >= goal)) tsl__candidates_close(c);
  }
  return tsl__candidates_keep(c, TSL__BY_DISTANCE, middle,
                              (tsl__goal){.by_mass = true, .mass = goal, .whole = m.mass});
}

/* ---- exclude top choices --------------------------------------------------------------------- */

/* The likely ones are those that weigh at least `bar`; the last of them in the ranking stays. */
typedef struct likely {
  double bar;
  uint64_t last;
  size_t count;
} likely;

static likely find_likely(const tsl__candidates *c, double bar) {
  likely l = {bar, UINT64_MAX, 0};
  for (size_t i = 0; i < c->n; i++) {
    if (!((double)c->weight[i] >= bar)) continue;
    uint64_t key = tsl__rank_key(c->logit[i], c->id[i]);
    if (key < l.last) l.last = key;
    l.count++;
  }
  return l;
}

static bool not_excluded(const tsl__candidates *c, size_t i, const void *ctx) {
  const likely *l = ctx;
  return (double)c->weight[i] < l->bar || tsl__rank_key(c->logit[i], c->id[i]) == l->last;
}

/* The likely ones among the gathered leave the mask, but for the last. */
static tsl_status exclude_from_mask(tsl__candidates *c, const likely *l) {
  uint32_t *mask = tsl__candidates_own_mask(c, c->mask, c->width);
  if (!mask) return TSL_ERR_NO_MEMORY;
  for (size_t i = c->n - c->gathered; i < c->n; i++)
    if (!not_excluded(c, i, l)) mask[c->id[i] >> 5] &= ~(1u << (c->id[i] & 31));
  c->mask = mask;
  return TSL_OK;
}

static tsl_status exclude_top(tsl_sampler *s) {
  tsl__candidates *c = &s->candidates;
  if (!(tsl__rng_uniform_of(s->options.seed, s->draws, XTC_STREAM) <
        (double)s->options.xtc_probability))
    return TSL_OK;
  double bar = (double)s->options.xtc_threshold * tsl__candidates_mass(c);
  if (bar > 1) return TSL_OK; /* not even the likeliest */
  bool all;                   /* they are: as many as it takes */
  if (!tsl__candidates_gather(c, tsl__candidates_level(c, bar > 0 ? tsl__log(bar) - 1e-4 : -1e30),
                              SIZE_MAX, &all))
    return TSL_ERR_NO_MEMORY;
  tsl__candidates_list_mass(c);
  likely l = find_likely(c, bar);
  tsl_status status = TSL_OK;
  if (l.count >= 2 && c->dense) status = exclude_from_mask(c, &l);
  tsl__candidates_ungather(c);
  if (status != TSL_OK || l.count < 2) return status;
  tsl__candidates_filter(c, not_excluded, &l);
  return tsl__candidates_survey(c, c->scale);
}

/* ---- mirostat -------------------------------------------------------------------------------- */

static tsl_status mirostat(tsl_sampler *s) {
  double mass = tsl__candidates_mass(&s->candidates);
  return keep_heavy(&s->candidates, mass * tsl__exp(-s->surprise * TSL__LN2));
}

/* ---- the table ------------------------------------------------------------------------------- */

tsl_status tsl__sampler_stage(tsl_sampler *s, tsl_stage stage) {
  switch (stage) {
  case TSL_STAGE_BIAS: return add_bias(s);
  case TSL_STAGE_PENALTIES: return penalise(s);
  case TSL_STAGE_DRY: return prolong_less(s);
  case TSL_STAGE_TEMPERATURE: return heat(s);
  case TSL_STAGE_TOP_N_SIGMA: return top_n_sigma(s);
  case TSL_STAGE_TOP_K: return top_k(s);
  case TSL_STAGE_TOP_P: return top_p(s);
  case TSL_STAGE_MIN_P: return min_p(s);
  case TSL_STAGE_TYPICAL_P: return typical_p(s);
  case TSL_STAGE_EPSILON: return epsilon(s);
  case TSL_STAGE_ETA: return eta(s);
  case TSL_STAGE_XTC: return exclude_top(s);
  case TSL_STAGE_MIROSTAT: return mirostat(s);
  }
  return TSL_ERR_ARGUMENT;
}
