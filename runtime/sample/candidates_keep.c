/* candidates_keep.c - the first ones of a ranking: top-k, top-p, typical. The essay is in
 * candidates.h.
 *
 * A list is put into buckets by rank. The bucket with the answer is put into buckets again, until
 * few are left to be sorted. A dense part is never listed as a whole. A sample of the row suggests
 * four values. One pass sums up the tokens at or above each value, and the answer lies between two
 * of the values. There the function guesses again, or lists what is left. Tested by
 * tests/sample/test_stages.c, against sorting everything; tests/sample/test_keep.c, where
 *           thousands are kept
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sample/candidates.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define SORTED_AT_MOST 32 /* entries that are sorted; more are put in buckets first */
#define BUCKETS 64
#define SAMPLES 1024u /* tokens from which is guessed */
/* then all that is left is listed; each but the first leaves a quarter of what was left */
#define GUESSES 12
#define LISTED 4096u /* if so few tokens seem to be left they are listed */

/* ---- ranking --------------------------------------------------------------------------------- */

/* Floats of one sign are in order as integers; those of the other are turned around. -0 counts as
 * 0. The id is subtracted, so that a lower one comes first among equals. */
uint64_t tsl__rank_key(float logit, tsl_token id) {
  float x = logit == 0 ? 0.0f : logit;
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  u = u >> 31 ? ~u : u | 0x80000000u; /* floats in their order as integers */
  return (uint64_t)u << 32 | (UINT32_MAX - id);
}

typedef struct measure {
  uint64_t count;
  double mass;
} measure;

static bool reached(const tsl__goal *g, measure m) {
  return g->by_mass ? m.mass >= g->mass : m.count >= g->count;
}

static void count_in(measure *m, const tsl__ranked *r) {
  m->count++;
  m->mass += r->weight;
}

/* Shell sort, the largest key first: no recursion, no memory. */
static void sort(tsl__ranked *at, size_t n) {
  static const size_t gaps[] = {23, 10, 4, 1}; /* Ciura 2001 */
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
    for (size_t i = gaps[g]; i < n; i++) {
      tsl__ranked x = at[i];
      size_t j = i;
      for (; j >= gaps[g] && x.key > at[j - gaps[g]].key; j -= gaps[g]) at[j] = at[j - gaps[g]];
      at[j] = x;
    }
}

/* Keys of [low, low + 2^(shift + 8)) in buckets; the first bucket holds the largest. */
typedef struct bucketing {
  uint64_t high;
  unsigned shift;
} bucketing;

/* At most 64 buckets of equal width between the smallest key and the largest. */
static bucketing bucketing_of(const tsl__ranked *at, size_t n) {
  uint64_t low = UINT64_MAX, high = 0;
  for (size_t i = 0; i < n; i++) {
    if (at[i].key < low) low = at[i].key;
    if (at[i].key > high) high = at[i].key;
  }
  bucketing b = {high, 0};
  while ((high - low) >> b.shift >= BUCKETS) b.shift++;
  return b;
}
static size_t bucket_of(const bucketing *b, uint64_t key) {
  return (size_t)((b->high - key) >> b->shift);
}

/* Reduce `at` to the bucket in which the goal is reached (the last one, if none reaches it); *above
 * gets what comes before it. Returns how many are left. */
static size_t enter_bucket(tsl__ranked *at, size_t n, const tsl__goal *g, measure *above) {
  bucketing by = bucketing_of(at, n);
  measure in[BUCKETS];
  memset(in, 0, sizeof in);
  for (size_t i = 0; i < n; i++) count_in(&in[bucket_of(&by, at[i].key)], &at[i]);
  size_t last = 0, left = 0;
  measure before = *above, after = *above;
  for (size_t b = 0; b < BUCKETS; b++) {
    if (!in[b].count) continue;
    last = b;
    before = after;
    after.count += in[b].count;
    after.mass += in[b].mass;
    if (reached(g, after)) break;
  }
  *above = before;
  for (size_t i = 0; i < n; i++)
    if (bucket_of(&by, at[i].key) == last) at[left++] = at[i];
  return left;
}

/* Example: 200 logits, the 3rd is wanted. The first bucket holds 1, the second 4: the third of all
 * is the second in there, and 4 are few enough to sort. */
uint64_t tsl__rank_select(tsl__ranked *at, size_t n, tsl__goal goal) {
  measure above = {0, 0};
  while (n > SORTED_AT_MOST) n = enter_bucket(at, n, &goal, &above);
  sort(at, n);
  for (size_t i = 0; i < n; i++) {
    count_in(&above, &at[i]);
    if (reached(&goal, above)) return at[i].key;
  }
  return at[n - 1].key; /* a sum in another order fell short by a rounding */
}

/* ---- lists ----------------------------------------------------------------------------------- */

static float distance_of(const tsl__candidates *c, size_t i, float middle) {
  float d = tsl__logits_argument(c->logit[i], c->anchor, c->scale) - middle;
  return -fabsf(d);
}

/* The value by which an entry is ranked. */
static float value_of(const tsl__candidates *c, tsl__ranking by, float middle, size_t i) {
  return by == TSL__BY_LOGIT ? c->logit[i] : distance_of(c, i, middle);
}

typedef struct cut {
  tsl__ranking by;
  float middle;
  uint64_t key; /* of the last one kept */
} cut;

static bool is_kept(const tsl__candidates *c, size_t i, const void *ctx) {
  const cut *k = ctx;
  return tsl__rank_key(value_of(c, k->by, k->middle, i), c->id[i]) >= k->key;
}

static tsl_status keep_in_list(tsl__candidates *c, cut k, tsl__goal goal) {
  if (!goal.by_mass && goal.count >= c->n) return TSL_OK;
  if (!tsl__candidates_scratch(c, c->n)) return TSL_ERR_NO_MEMORY;
  if (goal.by_mass) tsl__candidates_list_mass(c);
  for (size_t i = 0; i < c->n; i++)
    c->scratch[i] = (tsl__ranked){tsl__rank_key(value_of(c, k.by, k.middle, i), c->id[i]),
                                  goal.by_mass ? (double)c->weight[i] : 0};
  k.key = tsl__rank_select(c->scratch, c->n, goal);
  tsl__candidates_filter(c, is_kept, &k);
  return TSL_OK;
}

/* ---- dense parts ----------------------------------------------------------------------------- */

/* A search in the dense part and the list beside it. A count is a mass where every token weighs
 * 1. */
typedef struct search {
  tsl__candidates *c;
  cut k;
  const float *by;     /* the row that the ranking goes by */
  float anchor, scale; /* of weights */
  double goal;
  /* The window: the answer's value is at least `low`, and less than `high`. */
  float low, high;
  double above, reach; /* mass at or above `high`; of all */
} search;

static float value_at(uint64_t key) {
  uint32_t u = (uint32_t)(key >> 32);
  float x;
  u = u >> 31 ? u & 0x7fffffffu : ~u;
  memcpy(&x, &u, sizeof x);
  return x;
}

static bool in_window(const search *s, float value) { return value >= s->low && value < s->high; }

static double weight_of(const search *s, float logit) {
  return (double)tsl__logits_weight(logit, s->anchor, s->scale);
}

/* Every step-th token goes to `at`, if it is a candidate; returns how many. */
static size_t take_sample(const search *s, size_t step, tsl__ranked *at) {
  const tsl__candidates *c = s->c;
  size_t n = 0;
  for (size_t i = step / 2; i < c->width;) {
    float x[TSL__BLOCK], w[TSL__BLOCK + TSL__LOGITS_SLACK];
    size_t drawn = 0;
    for (; i < c->width && drawn < TSL__BLOCK; i += step)
      if (tsl_mask_has(c->mask, (tsl_token)i) && in_window(s, s->by[i])) {
        at[n + drawn].key = tsl__rank_key(s->by[i], (tsl_token)i);
        x[drawn++] = c->logits[i];
      }
    c->kernels->weigh(x, drawn, s->anchor, s->scale, w);
    for (size_t k = 0; k < drawn; k++) at[n++].weight = (double)w[k];
  }
  return n;
}

/* Leave those in the window. */
static size_t narrow_sample(const search *s, tsl__ranked *at, size_t n) {
  size_t left = 0;
  for (size_t i = 0; i < n; i++)
    if (in_window(s, value_at(at[i].key))) at[left++] = at[i];
  return left;
}

/* The value at which a goal is reached in a sample; `copy` has room for n. */
static float quantile(const tsl__ranked *sample, size_t n, tsl__goal goal, tsl__ranked *copy) {
  memcpy(copy, sample, n * sizeof *sample);
  return value_at(tsl__rank_select(copy, n, goal));
}

/* Four floors from three values, the largest first: the two in the middle enclose a value that many
 * tokens may have. */
static void set_floors(float high, float middle, float low, float floors[TSL__LOGITS_RUNGS]) {
  float above = tsl__next_up(middle);
  floors[0] = high > above ? high : above;
  floors[1] = above;
  floors[2] = middle;
  floors[3] = low;
}

/* The first guess: where the answer is in the sample, and as far around it as chance may take
 * it. */
static void guess_by_mass(const search *s, const tsl__ranked *sample, size_t n, tsl__ranked *copy,
                          float floors[TSL__LOGITS_RUNGS]) {
  double mass = 0, square = 0, share = s->goal / s->reach;
  if (!(share < 1)) share = 1; /* by rounding */
  for (size_t i = 0; i < n; i++)
    mass += sample[i].weight, square += sample[i].weight * sample[i].weight;
  /* so many of equal weight would say as much */
  double same = square > 0 ? mass * mass / square : 1;
  double slack = 2.5 * sqrt(share * (1 - share) / same) + 2 / same;
  set_floors(
      quantile(sample, n, (tsl__goal){.by_mass = true, .mass = (share - slack) * mass}, copy),
      quantile(sample, n, (tsl__goal){.by_mass = true, .mass = share * mass}, copy),
      quantile(sample, n, (tsl__goal){.by_mass = true, .mass = (share + slack) * mass}, copy),
      floors);
}

/* Later ones: quarters of what is left. */
static void guess_by_count(const tsl__ranked *sample, size_t n, tsl__ranked *copy,
                           float floors[TSL__LOGITS_RUNGS]) {
  set_floors(quantile(sample, n, (tsl__goal){.count = n / 4 + 1}, copy),
             quantile(sample, n, (tsl__goal){.count = n / 2 + 1}, copy),
             quantile(sample, n, (tsl__goal){.count = n - n / 4}, copy), floors);
}

/* Sum up above each floor, and enter the window between two of them. */
static void enter_window(search *s, const float floors[TSL__LOGITS_RUNGS]) {
  const tsl__candidates *c = s->c;
  double sums[TSL__LOGITS_RUNGS];
  c->kernels->ladder(c->logits, s->by, c->mask, c->width, s->anchor, s->scale, floors, sums);
  for (size_t r = 0; r < TSL__LOGITS_RUNGS; r++) {
    for (size_t i = 0; i < c->n; i++)
      if (value_of(c, s->k.by, s->k.middle, i) >= floors[r]) sums[r] += weight_of(s, c->logit[i]);
    if (sums[r] >= s->goal) {
      s->low = floors[r];
      return;
    }
    s->high = floors[r];
    s->above = sums[r];
  }
}

/* The mask of the window's tokens in a block. */
static void window_bits(const search *s, size_t b, uint32_t bits[TSL__BLOCK_WORDS]) {
  const tsl__candidates *c = s->c;
  size_t start = b * TSL__BLOCK, n = c->width - start < TSL__BLOCK ? c->width - start : TSL__BLOCK;
  uint32_t over[TSL__BLOCK_WORDS];
  const uint32_t *mask = c->mask + b * TSL__BLOCK_WORDS;
  memset(bits, 0, TSL__BLOCK_WORDS * sizeof *bits);
  if (s->k.by == TSL__BY_LOGIT && !(c->peak[b] >= s->low)) return;
  c->kernels->above(s->by + start, mask, n, s->low, bits);
  c->kernels->above(s->by + start, mask, n, s->high, over);
  for (size_t w = 0; w < (n + 31) / 32; w++) bits[w] &= ~over[w];
}

/* All tokens of the window in blocks from … to - 1 go to the scratch: returns how many, or
 * NO_ROOM. */
#define NO_ROOM SIZE_MAX
static size_t collect(const search *s, size_t from, size_t to) {
  tsl__candidates *c = s->c;
  size_t n = 0;
  for (size_t b = from; b < to; b++) {
    uint32_t bits[TSL__BLOCK_WORDS], id[TSL__BLOCK + TSL__LOGITS_SLACK];
    float x[TSL__BLOCK + TSL__LOGITS_SLACK], w[TSL__BLOCK + TSL__LOGITS_SLACK];
    size_t start = b * TSL__BLOCK,
           length = c->width - start < TSL__BLOCK ? c->width - start : TSL__BLOCK;
    window_bits(s, b, bits);
    size_t found =
        c->kernels->gather(c->logits + start, bits, length, -FLT_MAX, (uint32_t)start, x, id);
    if (!tsl__candidates_scratch(c, n + found + c->n)) return NO_ROOM;
    c->kernels->weigh(x, found, s->anchor, s->scale, w);
    for (size_t i = 0; i < found; i++)
      c->scratch[n++] = (tsl__ranked){tsl__rank_key(s->by[id[i]], id[i]), (double)w[i]};
  }
  for (size_t i = 0; i < c->n; i++) {
    float value = value_of(c, s->k.by, s->k.middle, i);
    if (c->id[i] / TSL__BLOCK >= from && c->id[i] / TSL__BLOCK < to && in_window(s, value))
      c->scratch[n++] = (tsl__ranked){tsl__rank_key(value, c->id[i]), weight_of(s, c->logit[i])};
  }
  return n;
}

/* All tokens of the window have one value: the lowest ids come first. Returns the block in which
 * the goal is reached, the last one with such a token if nowhere. Moves what comes before it to
 * `above`. */
static size_t block_of_tie(search *s) {
  const tsl__candidates *c = s->c;
  size_t last = 0;
  double before = s->above;
  for (size_t b = 0, e = 0; b < c->block_count; b++) {
    uint32_t bits[TSL__BLOCK_WORDS];
    size_t start = b * TSL__BLOCK,
           n = c->width - start < TSL__BLOCK ? c->width - start : TSL__BLOCK;
    window_bits(s, b, bits);
    double mass = c->kernels->sum(c->logits + start, bits, n, s->anchor, s->scale);
    for (; e < c->n && c->id[e] < start + n; e++)
      if (in_window(s, value_of(c, s->k.by, s->k.middle, e))) mass += weight_of(s, c->logit[e]);
    if (mass == 0) continue;
    last = b;
    s->above = before;
    before += mass;
    if (before >= s->goal) break;
  }
  return last;
}

/* Make the window narrower until its tokens can be listed, or are all alike. */
static tsl_status narrow_window(search *s) {
  tsl__candidates *c = s->c;
  size_t step = c->width / SAMPLES + 1, room = c->width / step + 1;
  if (!tsl__candidates_scratch(c, 2 * room)) return TSL_ERR_NO_MEMORY;
  size_t n = take_sample(s, step, c->scratch);
  for (int i = 0; i < GUESSES && n * step > LISTED && tsl__next_up(s->low) < s->high; i++) {
    float floors[TSL__LOGITS_RUNGS];
    if (i == 0)
      guess_by_mass(s, c->scratch, n, c->scratch + room, floors);
    else
      guess_by_count(c->scratch, n, c->scratch + room, floors);
    enter_window(s, floors);
    n = narrow_sample(s, c->scratch, n);
  }
  return TSL_OK;
}

/* Find the key of the last one kept. */
static tsl_status find_cut(search *s) {
  tsl__candidates *c = s->c;
  tsl_status status = narrow_window(s);
  if (status != TSL_OK) return status;
  bool tie = tsl__next_up(s->low) == s->high;
  size_t first = tie ? block_of_tie(s) : 0, n = collect(s, first, tie ? first + 1 : c->block_count);
  if (n == NO_ROOM) return TSL_ERR_NO_MEMORY;
  /* Nothing there: all together fell short of the goal by a rounding, and all stays. */
  s->k.key =
      n ? tsl__rank_select(c->scratch, n, (tsl__goal){.by_mass = true, .mass = s->goal - s->above})
        : tsl__rank_key(-FLT_MAX, TSL_NO_TOKEN);
  return TSL_OK;
}

static bool measure_distances(tsl__candidates *c, float middle) {
  size_t need = c->width + TSL__LOGITS_SLACK;
  if (c->distance_cap < need) {
    float *p = tsl__resize(&c->alloc, c->distance, c->distance_cap * sizeof *p, need * sizeof *p);
    if (!p) return false;
    c->distance = p;
    c->distance_cap = need;
  }
  c->kernels->distances(c->logits, c->width, c->anchor, c->scale, middle, c->distance);
  return true;
}

static tsl_status keep_in_dense(tsl__candidates *c, cut k, tsl__goal goal) {
  search s = {c, k, c->logits, c->anchor, c->scale, goal.mass, -FLT_MAX, INFINITY, 0, goal.whole};
  if (!goal.by_mass) {
    s.anchor = s.scale = 0;
    s.goal = (double)goal.count;
    s.reach = (double)(tsl_mask_count(c->mask, c->width) + c->n);
    if (s.goal >= s.reach) return TSL_OK;
  }
  if (k.by == TSL__BY_DISTANCE) {
    if (!measure_distances(c, k.middle)) return TSL_ERR_NO_MEMORY;
    s.by = c->distance;
  }
  tsl_status status = find_cut(&s);
  if (status != TSL_OK) return status;
  tsl__candidates_filter(c, is_kept, &s.k);
  return tsl__candidates_cut(c, s.by, value_at(s.k.key), UINT32_MAX - (uint32_t)s.k.key);
}

tsl_status tsl__candidates_keep(tsl__candidates *c, tsl__ranking by, float middle, tsl__goal goal) {
  cut k = {by, middle, 0};
  return c->dense ? keep_in_dense(c, k, goal) : keep_in_list(c, k, goal);
}
