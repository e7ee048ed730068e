/* candidates.c - the tokens that may still be drawn. The essay is in candidates.h.
 *
 * Two forms Few candidates are a list: ids, logits and weights side by side. Many stay dense: the
 * row of logits and a mask. They are cut into blocks, for each of which the largest logit and the
 * sum of weights are known. Tokens whose logits change are in the list, whatever the others are.
 * Example   128,256 tokens are allowed. The survey goes through the blocks once and notes the peak
 *           of each. A cut-off at floor f gathers only from blocks whose peak reaches f. After
 *           top_k 40 that is mostly a handful, and the list has 40 entries. From there on the row
 *           is not read again.
 * Anchors   Weights are exp(logit - anchor). The largest logit is known only at the end of the row.
 *           So the weights of a block are summed against the largest logit that was seen before it,
 *           its base. The sum of all weights is the sum of mass * weight(base) over the blocks.
 * Cost      A survey reads the row once, a cut-off reads a part of it. A list costs time for its
 *           entries alone.
 * Tested by tests/sample/test_sampler.c, tests/sample/test_keep.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sample/candidates.h"

#include "runtime/core/fmath.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define SAMPLE 16 /* blocks from which a floor is guessed */

/* What the dense part knows of a block: its mass, peak, base and lift. */
#define BLOCK_BYTES (sizeof(double) + 3 * sizeof(float))

/* ---- memory ---------------------------------------------------------------------------------- */

void tsl__candidates_init(tsl__candidates *c, const tsl_allocator *alloc) {
  *c = (tsl__candidates){.alloc = *alloc};
}

void tsl__candidates_free(tsl__candidates *c) {
  tsl__free(&c->alloc, c->mass, c->block_cap * BLOCK_BYTES);
  tsl__free(&c->alloc, c->own, c->own_cap * sizeof *c->own);
  tsl__free(&c->alloc, c->distance, c->distance_cap * sizeof *c->distance);
  tsl__free(&c->alloc, c->logit, c->cap * sizeof *c->logit);
  tsl__free(&c->alloc, c->weight, c->cap * sizeof *c->weight);
  tsl__free(&c->alloc, c->id, c->cap * sizeof *c->id);
  tsl__free(&c->alloc, c->scratch, c->scratch_cap * sizeof *c->scratch);
}

/* A larger copy of an array, or NULL. */
static void *grown(const tsl__candidates *c, const void *from, size_t used, size_t size) {
  void *p = tsl__alloc(&c->alloc, size);
  if (p && used) memcpy(p, from, used);
  return p;
}

/* All three arrays or none: when one cannot grow, the old ones stay. */
bool tsl__candidates_reserve(tsl__candidates *c, size_t entries) {
  size_t need = entries + TSL__LOGITS_SLACK,
         cap = c->cap ? c->cap : TSL__SPARSE + TSL__BLOCK + TSL__LOGITS_SLACK;
  if (need <= c->cap) return true;
  while (cap < need) cap *= 2;
  float *logit = grown(c, c->logit, c->n * sizeof *logit, cap * sizeof *logit);
  float *weight = grown(c, c->weight, c->n * sizeof *weight, cap * sizeof *weight);
  tsl_token *id = grown(c, c->id, c->n * sizeof *id, cap * sizeof *id);
  bool ok = logit && weight && id;
  size_t old = c->cap;
  if (ok) { /* the old ones go, else the new ones */
    void *p = c->logit, *q = c->weight, *r = c->id;
    c->logit = logit, c->weight = weight, c->id = id, c->cap = cap;
    logit = p, weight = q, id = r, cap = old;
  }
  tsl__free(&c->alloc, logit, cap * sizeof *logit);
  tsl__free(&c->alloc, weight, cap * sizeof *weight);
  tsl__free(&c->alloc, id, cap * sizeof *id);
  return ok;
}

bool tsl__candidates_scratch(tsl__candidates *c, size_t n) {
  if (n <= c->scratch_cap) return true;
  size_t cap = c->scratch_cap ? c->scratch_cap : 1024;
  while (cap < n) cap *= 2;
  void *p = tsl__resize(&c->alloc, c->scratch, c->scratch_cap * sizeof *c->scratch,
                        cap * sizeof *c->scratch);
  if (!p) return false;
  c->scratch = p;
  c->scratch_cap = cap;
  return true;
}

/* One piece of memory: masses, peaks, bases, lifts; the kernel that writes lifts may go past the
 * end. */
static bool reserve_blocks(tsl__candidates *c, size_t blocks) {
  size_t cap = blocks + TSL__LOGITS_SLACK;
  if (cap <= c->block_cap) return true;
  double *p = tsl__resize(&c->alloc, c->mass, c->block_cap * BLOCK_BYTES, cap * BLOCK_BYTES);
  if (!p) return false;
  c->mass = p;
  c->peak = (float *)(p + cap);
  c->base = c->peak + cap;
  c->lift = c->base + cap;
  c->block_cap = cap;
  return true;
}

/* The copy may be the mask already: then it is not copied again. */
uint32_t *tsl__candidates_own_mask(tsl__candidates *c, const uint32_t *mask, size_t width) {
  size_t words = (width + 31) / 32;
  if (mask && mask == c->own) return c->own;
  if (c->own_cap < words) {
    uint32_t *p = tsl__resize(&c->alloc, c->own, c->own_cap * sizeof *p, words * sizeof *p);
    if (!p) return NULL;
    c->own = p;
    c->own_cap = words;
  }
  if (mask)
    memcpy(c->own, mask, words * sizeof *mask);
  else
    memset(c->own, 0xff, words * sizeof *c->own);
  if (width % 32) c->own[words - 1] &= (1u << (width % 32)) - 1;
  return c->own;
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* The tokens of the mask, if they are few. */
static bool list_tokens(tsl__candidates *c) {
  size_t n = c->kernels->list(c->mask, (c->width + 31) / 32, TSL__SPARSE, c->id);
  if (n == SIZE_MAX) return false;
  while (n && c->id[n - 1] >= c->width) n--; /* bits past the width */
  for (size_t i = 0; i < n; i++) c->logit[i] = c->logits[c->id[i]];
  c->n = n;
  return true;
}

/* A list if at most TSL__SPARSE tokens are allowed: then the row is read at those places alone. */
bool tsl__candidates_begin(tsl__candidates *c, const float *logits, const uint32_t *mask,
                           size_t width) {
  c->kernels = tsl__logits();
  c->logits = logits;
  c->mask = mask;
  c->width = width;
  c->n = c->gathered = 0;
  c->scale = 1;
  c->mass_scale = NAN;
  c->block_count = (width + TSL__BLOCK - 1) / TSL__BLOCK;
  if (!tsl__candidates_reserve(c, TSL__SPARSE + 32) || !reserve_blocks(c, c->block_count))
    return false;
  c->dense = !list_tokens(c);
  return true;
}

static size_t block_start(size_t b) { return b * TSL__BLOCK; }
static size_t block_length(const tsl__candidates *c, size_t b) {
  size_t left = c->width - block_start(b);
  return left < TSL__BLOCK ? left : TSL__BLOCK;
}
static const float *block_logits(const tsl__candidates *c, size_t b) {
  return c->logits + block_start(b);
}
static const uint32_t *block_mask(const tsl__candidates *c, size_t b) {
  return c->mask + b * TSL__BLOCK_WORDS;
}

/* ---- survey ---------------------------------------------------------------------------------- */

/* The largest logit of the entries, those that are -inf left out; NaN if there is one. */
static float survey_entries(tsl__candidates *c) {
  float top = -INFINITY;
  size_t kept = 0;
  for (size_t i = 0; i < c->n; i++) {
    float x = c->logit[i];
    if (isnan(x)) return x;
    if (x == -INFINITY) continue;
    if (x > top) top = x;
    c->id[kept] = c->id[i];
    c->logit[kept++] = x;
  }
  c->n = kept;
  return top;
}

/* The largest logit of each block; returns the largest of all, NaN if there is one. */
static float find_peaks(tsl__candidates *c) {
  float top = -INFINITY;
  bool nan = false;
  for (size_t b = 0; b < c->block_count; b++) {
    tsl__logits_peak p = c->kernels->peak(block_logits(c, b), block_mask(c, b), block_length(c, b));
    c->peak[b] = p.top;
    if (p.top > top) top = p.top;
    nan |= p.nan;
  }
  return nan ? NAN : top;
}

/* The same, and the masses; the base of a block is the largest logit before it, if that will do. */
static float find_peaks_and_masses(tsl__candidates *c, float scale) {
  float top = NAN;
  bool nan = false;
  for (size_t b = 0; b < c->block_count; b++) {
    tsl__logits_survey s =
        c->kernels->survey(block_logits(c, b), block_mask(c, b), block_length(c, b), top, scale);
    c->peak[b] = s.top;
    c->base[b] = s.anchor;
    c->mass[b] = s.mass;
    if (!(top >= s.top) && s.top > -INFINITY) top = s.top;
    nan |= s.nan;
  }
  return nan ? NAN : isnan(top) ? -INFINITY : top;
}

/* The largest logit of both parts. One that is not finite is the host's mistake, or nothing is
 * left. */
tsl_status tsl__candidates_anchor(tsl__candidates *c) {
  float top = survey_entries(c);
  if (c->dense && !(c->dense_top <= top)) top = isnan(top) ? top : c->dense_top;
  if (!(top >= -FLT_MAX && top <= FLT_MAX)) return TSL_ERR_LOGITS;
  c->anchor = top;
  return TSL_OK;
}

/* With a scale, the first sum is made in the same pass over the row. */
tsl_status tsl__candidates_survey(tsl__candidates *c, float scale) {
  if (c->dense) c->dense_top = isnan(scale) ? find_peaks(c) : find_peaks_and_masses(c, scale);
  c->mass_scale = scale;
  return tsl__candidates_anchor(c);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* In double and in the order of the list, so that the sum is the same everywhere. */
double tsl__candidates_list_mass(tsl__candidates *c) {
  double mass = 0;
  c->kernels->weigh(c->logit, c->n, c->anchor, c->scale, c->weight);
  for (size_t i = 0; i < c->n; i++) mass += (double)c->weight[i];
  return mass;
}

/* Each block against its own peak, which is known now. */
static void sum_blocks(tsl__candidates *c) {
  for (size_t b = 0; b < c->block_count; b++) {
    c->base[b] = c->peak[b];
    c->mass[b] = c->peak[b] >= -FLT_MAX ? c->kernels->sum(block_logits(c, b), block_mask(c, b),
                                                          block_length(c, b), c->peak[b], c->scale)
                                        : 0;
  }
  c->mass_scale = c->scale;
}

/* Sums of blocks that were made at this scale are used again. */
double tsl__candidates_mass(tsl__candidates *c) {
  double mass = 0;
  if (c->dense) {
    if (c->mass_scale != c->scale) sum_blocks(c);
    c->kernels->weigh(c->base, c->block_count, c->anchor, c->scale, c->lift);
    for (size_t b = 0; b < c->block_count; b++) mass += c->mass[b] * (double)c->lift[b];
  }
  return mass + tsl__candidates_list_mass(c);
}

tsl__logits_moments tsl__candidates_moments(const tsl__candidates *c) {
  tsl__logits_moments m = {0, 0};
  if (c->dense) m = c->kernels->moments(c->logits, c->mask, c->width, c->anchor, c->scale);
  c->kernels->weigh(c->logit, c->n, c->anchor, c->scale, c->weight);
  for (size_t i = 0; i < c->n; i++) {
    double w = (double)c->weight[i];
    m.mass += w;
    if (w > 0) m.moment += w * (double)tsl__logits_argument(c->logit[i], c->anchor, c->scale);
  }
  return m;
}

tsl__logits_spread tsl__candidates_spread(const tsl__candidates *c) {
  tsl__logits_spread s = {0, 0, 0};
  if (c->dense) s = c->kernels->spread(c->logits, c->mask, c->width, c->anchor);
  for (size_t i = 0; i < c->n; i++) {
    double d = (double)c->logit[i] - (double)c->anchor;
    s.count += 1;
    s.sum += d;
    s.square += d * d;
  }
  return s;
}

/* ---- from dense to narrow -------------------------------------------------------------------- */

bool tsl__candidates_gather(tsl__candidates *c, float floor, size_t most, bool *all) {
  size_t before = c->n;
  *all = true;
  if (!c->dense) return true;
  bool room = tsl__candidates_scratch(c, before); /* for the merge */
  for (size_t b = 0; room && *all && b < c->block_count; b++) {
    if (!(c->peak[b] >= floor)) continue;
    room = tsl__candidates_reserve(c, c->n + TSL__BLOCK);
    if (room)
      c->n += c->kernels->gather(block_logits(c, b), block_mask(c, b), block_length(c, b), floor,
                                 (uint32_t)block_start(b), c->logit + c->n, c->id + c->n);
    *all = c->n - before <= most;
  }
  if (!room || !*all) c->n = before;
  c->gathered = c->n - before;
  return room;
}

void tsl__candidates_ungather(tsl__candidates *c) {
  c->n -= c->gathered;
  c->gathered = 0;
}

static void put(tsl__candidates *c, size_t to, float logit, tsl_token id) {
  c->logit[to] = logit;
  c->id[to] = id;
}

/* The entries before the gathered ones, which are few (changed logits) or none, take their places
 * among these. */
static void merge(tsl__candidates *c) {
  size_t old = c->n - c->gathered;
  if (!old || !c->gathered || c->id[old - 1] < c->id[old]) return;
  /* Both runs are by id. Move the first run to the scratch, then merge forwards: the write place
   * never passes the second run's read place. */
  for (size_t i = 0; i < old; i++) c->scratch[i] = (tsl__ranked){c->id[i], (double)c->logit[i]};
  size_t to = 0, second = old;
  for (size_t i = 0; i < old; i++) {
    for (; second < c->n && c->id[second] < c->scratch[i].key; second++)
      put(c, to++, c->logit[second], c->id[second]);
    put(c, to++, (float)c->scratch[i].weight, (tsl_token)c->scratch[i].key);
  }
}

/* The list is all there is now, in the order of ids: the order in which the pick goes through
 * it. */
void tsl__candidates_close(tsl__candidates *c) {
  merge(c);
  c->gathered = 0;
  c->dense = false;
}

/* Few are left: they become the list. Many: the mask is cut, and the dense form stays. */
tsl_status tsl__candidates_narrow(tsl__candidates *c, float floor) {
  bool all;
  if (!c->dense) return TSL_OK;
  if (!tsl__candidates_gather(c, floor, TSL__NARROW, &all)) return TSL_ERR_NO_MEMORY;
  if (!all) return tsl__candidates_cut(c, c->logits, floor, TSL_NO_TOKEN);
  tsl__candidates_close(c);
  return TSL_OK;
}

/* The mask of a block after a cut. */
static void cut_block(const tsl__candidates *c, size_t b, const float *by, float value,
                      tsl_token last, uint32_t *out) {
  size_t start = block_start(b), n = block_length(c, b);
  uint32_t ties[TSL__BLOCK_WORDS];
  if (start + n - 1 <= last) {
    c->kernels->above(by + start, block_mask(c, b), n, value, out);
    return;
  }
  c->kernels->above(by + start, block_mask(c, b), n, value, ties);
  c->kernels->above(by + start, block_mask(c, b), n, tsl__next_up(value), out);
  for (size_t i = 0; start + i <= last; i++) out[i / 32] |= ties[i / 32] & 1u << (i % 32);
}

/* Tokens whose `by` is above the value stay, and of those equal to it the ones up to `last`. Then
 * the survey is made anew. */
tsl_status tsl__candidates_cut(tsl__candidates *c, const float *by, float value, tsl_token last) {
  uint32_t *own = tsl__candidates_own_mask(c, c->mask, c->width);
  if (!own) return TSL_ERR_NO_MEMORY;
  for (size_t b = 0; b < c->block_count; b++) {
    uint32_t bits[TSL__BLOCK_WORDS] = {0};
    if (by != c->logits || c->peak[b] >= value) cut_block(c, b, by, value, last, bits);
    memcpy(own + b * TSL__BLOCK_WORDS, bits, (block_length(c, b) + 31) / 32 * sizeof *bits);
  }
  c->mask = own;
  return tsl__candidates_survey(c, c->scale);
}

/* The k-th largest of the blocks' peaks: at least k tokens reach it. */
static float floor_by_peaks(tsl__candidates *c, size_t k) {
  size_t n = 0;
  for (size_t b = 0; b < c->block_count; b++)
    if (c->peak[b] > -INFINITY)
      c->scratch[n++] = (tsl__ranked){tsl__rank_key(c->peak[b], (tsl_token)b), 0};
  if (k > n) return -FLT_MAX;
  uint64_t key = tsl__rank_select(c->scratch, n, (tsl__goal){.count = k});
  return c->peak[UINT32_MAX - (uint32_t)key];
}

/* How many tokens of the dense part reach the floor. Blocks whose peak does not are passed over. */
static uint64_t count_above(const tsl__candidates *c, float floor) {
  uint64_t count = 0;
  for (size_t b = 0; b < c->block_count; b++) {
    if (!(c->peak[b] >= floor)) continue;
    uint32_t bits[TSL__BLOCK_WORDS];
    size_t n = block_length(c, b);
    c->kernels->above(block_logits(c, b), block_mask(c, b), n, floor, bits);
    count += c->kernels->count_words(bits, (n + 31) / 32);
  }
  return count;
}

/* Guess from every SAMPLE-th of the blocks, and count; twice as deep until it is enough. */
static bool floor_by_sample(tsl__candidates *c, size_t k, float *floor) {
  size_t step = c->block_count / SAMPLE + 1, before = c->n, drawn = 0;
  if (!tsl__candidates_reserve(c, c->n + (c->block_count / step + 1) * TSL__BLOCK)) return false;
  for (size_t b = step / 2; b < c->block_count; b += step)
    drawn += c->kernels->gather(block_logits(c, b), block_mask(c, b), block_length(c, b), -FLT_MAX,
                                (uint32_t)block_start(b), c->logit + before + drawn,
                                c->id + before + drawn);
  if (!tsl__candidates_scratch(c, drawn + 1)) return false;
  for (size_t deep = k / step + k / step / 8 + 8; deep < drawn; deep *= 2) {
    for (size_t i = 0; i < drawn; i++)
      c->scratch[i] = (tsl__ranked){tsl__rank_key(c->logit[before + i], (tsl_token)i), 0};
    uint64_t key = tsl__rank_select(c->scratch, drawn, (tsl__goal){.count = deep});
    *floor = c->logit[before + (UINT32_MAX - (uint32_t)key)];
    if (count_above(c, *floor) >= k) return true;
  }
  *floor = -FLT_MAX;
  return true;
}

bool tsl__candidates_floor(tsl__candidates *c, size_t k, float *floor) {
  if (!tsl__candidates_scratch(c, c->block_count + 1)) return false;
  *floor = floor_by_peaks(c, k);
  return *floor > -FLT_MAX || floor_by_sample(c, k, floor);
}

float tsl__candidates_level(const tsl__candidates *c, double log_weight) {
  double x =
      log_weight == 0 ? (double)c->anchor : (double)c->anchor + log_weight / (double)c->scale;
  if (!(x > -(double)FLT_MAX)) return -FLT_MAX; /* scale 0 */
  if (x >= (double)c->anchor) return c->anchor;
  float level = (float)x;
  return (double)level < x ? tsl__next_up(level) : level;
}

void tsl__candidates_filter(tsl__candidates *c, tsl__entry_test keep, const void *ctx) {
  size_t kept = 0;
  float top = -INFINITY;
  for (size_t i = 0; i < c->n; i++) {
    if (!keep(c, i, ctx)) continue;
    put(c, kept, c->logit[i], c->id[i]);
    c->weight[kept] = c->weight[i];
    if (c->logit[kept] > top) top = c->logit[kept];
    kept++;
  }
  c->n = kept;
  c->anchor = c->dense && c->dense_top > top ? c->dense_top : top;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Step through a block whose predecessors sum up to `sum`. */
static tsl_token pick_in_block(const tsl__candidates *c, size_t b, double target, double sum,
                               double *weight) {
  float x[TSL__BLOCK + TSL__LOGITS_SLACK], w[TSL__BLOCK + TSL__LOGITS_SLACK];
  uint32_t id[TSL__BLOCK + TSL__LOGITS_SLACK];
  double lift = (double)c->lift[b];
  size_t n = c->kernels->gather(block_logits(c, b), block_mask(c, b), block_length(c, b), -FLT_MAX,
                                (uint32_t)block_start(b), x, id),
         i = 0;
  c->kernels->weigh(x, n, c->base[b], c->scale, w);
  while (i < n && (sum += lift * (double)w[i]) <= target) i++;
  if (i == n) /* rounding lets none pass: the last one that weighs anything */
    while (i-- && w[i] == 0) continue;
  *weight = lift * (double)w[i];
  return id[i];
}

/* The block at which the running sum passes the target; the last one that weighs anything if none
 * does. */
static size_t find_block(const tsl__candidates *c, double target, double *before, double *sum) {
  size_t last = SIZE_MAX;
  for (size_t b = 0; b < c->block_count; b++) {
    double mass = c->mass[b] * (double)c->lift[b];
    if (mass == 0) continue;
    last = b;
    *before = *sum;
    *sum += mass;
    if (*sum > target) break;
  }
  return last;
}

tsl_token tsl__candidates_pick(const tsl__candidates *c, double target, double *weight) {
  double before = 0, sum = 0;
  size_t b = c->dense ? find_block(c, target, &before, &sum) : SIZE_MAX, last = SIZE_MAX;
  if (b != SIZE_MAX && sum > target) return pick_in_block(c, b, target, before, weight);
  for (size_t i = 0; i < c->n; i++) {
    if (c->weight[i] == 0) continue;
    last = i;
    sum += (double)c->weight[i];
    if (sum > target) break;
  }
  /* rounding let none pass */
  if (last == SIZE_MAX) return pick_in_block(c, b, target, before, weight);
  *weight = (double)c->weight[last];
  return c->id[last];
}
