/* sampler.c - drawing a token. The essay is in sampler.h.
 *
 * Tested by tests/test_sampler.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sampler.h"

#include "runtime/rng.h"

/* ---- making --------------------------------------------------------------------------------------------------- */

static bool options_ok(const tsl_sampler_options *o) {
  return o->temperature >= 0 && o->top_p >= 0 && o->top_p <= 1 && o->min_p >= 0 && o->min_p <= 1; /* NaN fails each */
}

tsl_status tsl_sampler_new(const tsl_sampler_options *options, const tsl_allocator *allocator, tsl_sampler **out) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!options || !options_ok(options)) return TSL_ERR_ARGUMENT;
  const tsl_allocator *a = tsl__allocator_or_default(allocator);
  tsl_sampler *s = tsl__alloc_zero(a, sizeof *s);
  if (!s) return TSL_ERR_NO_MEMORY;
  s->alloc = *a;
  s->options = *options;
  *out = s;
  return TSL_OK;
}

void tsl_sampler_free(tsl_sampler *sampler) {
  if (!sampler) return;
  tsl_allocator a = sampler->alloc;
  tsl__free(&a, sampler->blocks, sampler->block_cap * sizeof *sampler->blocks);
  tsl__free(&a, sampler->scratch, sampler->scratch_cap * sizeof *sampler->scratch);
  tsl__free(&a, sampler, sizeof *sampler);
}

/* Room for a row of that many blocks. */
static bool make_room(tsl_sampler *s, size_t blocks) {
  size_t scratch = blocks > TSL__CUT_SORT ? blocks : TSL__CUT_SORT;
  if (s->scratch_cap < scratch) {
    void *p = tsl__resize(&s->alloc, s->scratch, s->scratch_cap * sizeof *s->scratch, scratch * sizeof *s->scratch);
    if (!p) return false;
    s->scratch = p;
    s->scratch_cap = scratch;
  }
  if (s->block_cap < blocks) {
    void *p = tsl__resize(&s->alloc, s->blocks, s->block_cap * sizeof *s->blocks, blocks * sizeof *s->blocks);
    if (!p) return false;
    s->blocks = p;
    s->block_cap = blocks;
  }
  return true;
}

/* ---- passes --------------------------------------------------------------------------------------------------- */

/* Bits of the mask that belong to a block's tokens. */
static uint32_t block_legal(const tsl__row *row, size_t b) {
  size_t n = tsl__row_length(row, b);
  if (!row->mask) return (uint32_t)n;
  const uint32_t *mask = tsl__row_mask(row, b);
  size_t count = row->kernels->count_words(mask, n / 32);
  if (n % 32) {
    uint32_t last = mask[n / 32] & ((1u << (n % 32)) - 1);
    count += row->kernels->count_words(&last, 1);
  }
  return (uint32_t)count;
}

/* Pass 1: the blocks' maxima, and the row's. */
static tsl__logits_peak find_peaks(const tsl__row *row, uint32_t *allowed) {
  tsl__logits_peak top = {-INFINITY, -INFINITY, false};
  *allowed = 0;
  for (size_t b = 0; b < row->block_count; b++) {
    tsl__logits_peak p = row->kernels->peak(row->logits + tsl__row_start(b), tsl__row_mask(row, b), tsl__row_length(row, b));
    row->blocks[b] = (tsl__row_block){0, p.legal, block_legal(row, b)};
    *allowed += row->blocks[b].legal;
    if (p.all > top.all) top.all = p.all;
    if (p.legal > top.legal) top.legal = p.legal;
    top.legal_nan |= p.legal_nan;
  }
  return top;
}

/* Pass 2: softmax sums at temperature 1, each block's legal part kept in its mass. */
static tsl__logits_mass sum_blocks(const tsl__row *row, float anchor) {
  tsl__logits_mass total = {0, 0};
  for (size_t b = 0; b < row->block_count; b++) {
    const float *x = row->logits + tsl__row_start(b);
    const uint32_t *mask = tsl__row_mask(row, b);
    size_t n = tsl__row_length(row, b);
    tsl__logits_mass m;
    if (row->blocks[b].legal == 0) m = (tsl__logits_mass){row->kernels->sum(x, tsl__row_mask(&(tsl__row){0}, 0), n, anchor, 1), 0};
    else m = row->kernels->sum_both(x, mask, n, anchor, 1);
    row->blocks[b].mass = m.legal;
    total.all += m.all;
    total.legal += m.legal;
  }
  return total;
}

/* ---- drawing -------------------------------------------------------------------------------------------------- */

/* Greedy: the lowest id among the largest legal logits. */
static tsl_token first_peak(const tsl__row *row) {
  size_t b = 0;
  while (row->blocks[b].peak != row->anchor) b++;
  uint32_t bits[TSL__ROW_WORDS];
  tsl__row_kept(row, b, (tsl__cut){row->anchor, UINT32_MAX}, bits);
  size_t w = 0;
  while (!bits[w]) w++;
  return (tsl_token)(tsl__row_start(b) + w * 32 + (size_t)__builtin_ctz(bits[w]));
}

/* The cut-offs one after the other; *kept is what they leave. `known` is the mass without any if the blocks have theirs already, else 0. */
static tsl__cut cut_off(const tsl__row *row, const tsl_sampler_options *o, double known, tsl__measure *kept) {
  tsl__cut cut = TSL__CUT_NONE;
  if (o->top_k || known > 0) *kept = (tsl__measure){tsl__row_count(row, cut.logit), known};
  if (o->top_k) cut = tsl__cut_top_k(row, cut, *kept, o->top_k);
  if (o->top_k || !(known > 0)) *kept = tsl__row_measure(row, cut);
  if (o->top_p > 0 && o->top_p < 1) {
    cut = tsl__cut_top_p(row, cut, *kept, (double)o->top_p * kept->mass);
    *kept = tsl__row_measure(row, cut);
  }
  if (o->min_p > 0) {
    cut = tsl__cut_min_p(row, cut, o->min_p);
    *kept = tsl__row_measure(row, cut);
  }
  return cut;
}

/* The first kept token of the block at which the running sum passes `target`; the last one that weighs anything if rounding lets none. */
static tsl_token pick_in_block(const tsl__row *row, size_t b, tsl__cut cut, double target, double *weight) {
  uint32_t bits[TSL__ROW_WORDS];
  tsl__row_kept(row, b, cut, bits);
  tsl_token token = 0;
  double sum = 0;
  for (size_t w = 0; w < TSL__ROW_WORDS; w++)
    for (uint32_t left = bits[w]; left; left &= left - 1) {
      size_t id = tsl__row_start(b) + w * 32 + (size_t)__builtin_ctz(left);
      double x = tsl__logits_weight(row->logits[id], row->anchor, row->scale);
      if (x == 0) continue;
      token = (tsl_token)id;
      *weight = x;
      sum += x;
      if (sum > target) return token;
    }
  return token;
}

/* Where the running sum of the blocks' masses passes uniform * total. */
static tsl_token pick(const tsl__row *row, tsl__cut cut, double target, double *weight) {
  size_t last = 0;
  double before = 0, sum = 0;
  for (size_t b = 0; b < row->block_count; b++) {
    if (row->blocks[b].mass == 0) continue;
    last = b;
    before = sum;
    sum += row->blocks[b].mass;
    if (sum > target) break;
  }
  return pick_in_block(row, last, cut, target - before, weight);
}

static void draw(const tsl_sampler *s, tsl__row *row, tsl__logits_peak top, tsl_draw *d) {
  const tsl_sampler_options *o = &s->options;
  tsl__logits_mass softmax = {1, 0}; /* all of it on an illegal +inf */
  if (top.all < INFINITY) softmax = sum_blocks(row, top.all);
  d->legal_mass = softmax.legal / softmax.all; /* all >= 1: the largest weighs 1 */
  row->anchor = top.legal;
  if (o->temperature == 0) {
    d->token = first_peak(row);
    d->probability = 1;
    d->kept = 1;
    return;
  }
  float scale = 1.0f / o->temperature;
  row->scale = scale <= FLT_MAX ? scale : FLT_MAX; /* a denormal temperature: 0 * inf would be NaN for the peak */
  tsl__measure kept;
  tsl__cut cut = cut_off(row, o, row->scale == 1 && top.legal == top.all ? softmax.legal : 0, &kept);
  double weight = 0;
  d->token = pick(row, cut, tsl__rng_uniform(o->seed, s->draws) * kept.mass, &weight);
  d->probability = weight / kept.mass;
  d->kept = (uint32_t)kept.count;
}

tsl_status tsl_sampler_draw(tsl_sampler *sampler, const float *logits, size_t width, const uint32_t *mask, tsl_draw *out) {
  if (!sampler || !logits || !out || !width || width > TSL_MAX_VOCAB) return TSL_ERR_ARGUMENT;
  size_t blocks = (width + TSL__ROW_BLOCK - 1) / TSL__ROW_BLOCK;
  if (!make_room(sampler, blocks)) return TSL_ERR_NO_MEMORY;
  tsl__row row = {tsl__logits(), logits, mask, width, sampler->blocks, blocks, 0, 1, sampler->scratch};
  tsl_draw d = {0};
  tsl__logits_peak top = find_peaks(&row, &d.allowed);
  if (top.legal_nan || top.legal == INFINITY || top.legal == -INFINITY) return TSL_ERR_LOGITS;
  draw(sampler, &row, top, &d);
  sampler->draws++;
  *out = d;
  return TSL_OK;
}
