/* sampler_cut.c - finding the place in the ranking where a cut-off falls. See sampler_cut.h.
 *
 * Tested by tests/test_sampler.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sampler_cut.h"

#define ARITHMETIC_STEPS 10 /* bisections by value before those by bit pattern, which need at most 32 */

/* ---- rows ----------------------------------------------------------------------------------------------------- */

#define ONES4 UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX
#define ONES16 ONES4, ONES4, ONES4, ONES4
static const uint32_t ones[TSL__ROW_WORDS] = {ONES16, ONES16};

const uint32_t *tsl__row_mask(const tsl__row *row, size_t block) { return row->mask ? row->mask + block * TSL__ROW_WORDS : ones; }

/* Floats in their order as integers, and back. */
static uint32_t key_of(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u >> 31 ? ~u : u | 0x80000000u;
}
static float float_of(uint32_t key) {
  uint32_t u = key >> 31 ? key & 0x7fffffffu : ~key;
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* The next float above x, which is finite; both zeros count as one. */
static float float_after(float x) { return float_of(key_of(x == 0 ? 0.0f : x) + 1); }

static void above(const tsl__row *row, size_t block, float floor, uint32_t bits[TSL__ROW_WORDS]) {
  size_t n = tsl__row_length(row, block);
  memset(bits, 0, TSL__ROW_WORDS * sizeof *bits);
  row->kernels->above(row->logits + tsl__row_start(block), tsl__row_mask(row, block), n, floor, bits);
}

void tsl__row_kept(const tsl__row *row, size_t block, tsl__cut cut, uint32_t bits[TSL__ROW_WORDS]) {
  above(row, block, cut.logit, bits);
  size_t start = tsl__row_start(block);
  if (start + tsl__row_length(row, block) - 1 <= cut.last) return;
  uint32_t higher[TSL__ROW_WORDS];
  above(row, block, float_after(cut.logit), higher);
  for (size_t w = 0; w < TSL__ROW_WORDS; w++) { /* ties go out if their id is past `last` */
    uint32_t ties = bits[w] & ~higher[w];
    for (; ties; ties &= ties - 1) {
      uint32_t low = ties & (0u - ties);
      if (start + w * 32 + (size_t)__builtin_ctz(low) > cut.last) bits[w] &= ~low;
    }
  }
}

tsl__measure tsl__row_measure(const tsl__row *row, tsl__cut cut) {
  tsl__measure total = {0, 0};
  for (size_t b = 0; b < row->block_count; b++) {
    row->blocks[b].mass = 0;
    if (!(row->blocks[b].peak >= cut.logit)) continue;
    uint32_t bits[TSL__ROW_WORDS];
    tsl__row_kept(row, b, cut, bits);
    size_t n = tsl__row_length(row, b);
    total.count += row->kernels->count_words(bits, TSL__ROW_WORDS);
    row->blocks[b].mass = row->kernels->sum(row->logits + tsl__row_start(b), bits, n, row->anchor, row->scale);
    total.mass += row->blocks[b].mass;
  }
  return total;
}

uint64_t tsl__row_count(const tsl__row *row, float floor) {
  uint64_t count = 0;
  for (size_t b = 0; b < row->block_count; b++) {
    if (!(row->blocks[b].peak >= floor)) continue;
    uint32_t bits[TSL__ROW_WORDS];
    above(row, b, floor, bits);
    count += row->kernels->count_words(bits, TSL__ROW_WORDS);
  }
  return count;
}

/* ---- the search ----------------------------------------------------------------------------------------------- */

/* What a search wants: the first place where the count, or the mass, is reached. */
typedef struct goal {
  bool by_mass;
  uint64_t count;
  double mass;
} goal;

static bool reached(const goal *g, tsl__measure m) { return g->by_mass ? m.mass >= g->mass : m.count >= g->count; }

/* The place lies below `high` (exclusive: tokens at or above it do not reach the goal) and at or above `low`, within `from`. */
typedef struct bracket {
  tsl__cut from;
  float low, high;
  tsl__measure at_low, at_high; /* of the tokens at or above low (and kept by from), and at or above high */
} bracket;

static tsl__measure measure_above(const tsl__row *row, const goal *g, float floor) {
  if (g->by_mass) return tsl__row_measure(row, (tsl__cut){floor, UINT32_MAX});
  return (tsl__measure){tsl__row_count(row, floor), 0};
}

/* Narrow to the side of `floor` on which the place lies. */
static void narrow(const tsl__row *row, const goal *g, bracket *b, float floor) {
  tsl__measure m = measure_above(row, g, floor);
  if (reached(g, m)) {
    b->low = floor;
    b->at_low = m;
  } else {
    b->high = floor;
    b->at_high = m;
  }
}

static bool inside(const bracket *b, float x) { return x > b->low && x < b->high; }

/* Bisect until few tokens are left between low and high, or a single value. */
static void bisect(const tsl__row *row, const goal *g, bracket *b) {
  for (int step = 0; b->at_low.count - b->at_high.count > TSL__CUT_SORT; step++) {
    float middle = (float)(((double)b->low + (double)b->high) / 2);
    if (step >= ARITHMETIC_STEPS || !inside(b, middle)) {
      uint32_t low = key_of(b->low), high = key_of(b->high);
      middle = float_of(low + (high - low) / 2);
    }
    if (!inside(b, middle)) return;
    narrow(row, g, b, middle);
  }
}

static bool before(tsl__ranked a, tsl__ranked b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); }

/* Shell sort: at most TSL__CUT_SORT (or a row's blocks) elements, no recursion, no memory. */
static void rank(tsl__ranked *at, size_t n) {
  static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1}; /* Ciura 2001 */
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
    for (size_t i = gaps[g]; i < n; i++) {
      tsl__ranked x = at[i];
      size_t j = i;
      for (; j >= gaps[g] && before(x, at[j - gaps[g]]); j -= gaps[g]) at[j] = at[j - gaps[g]];
      at[j] = x;
    }
}

static void add_token(const tsl__row *row, tsl__measure *m, float logit) {
  m->count++;
  m->mass += tsl__logits_weight(logit, row->anchor, row->scale);
}

/* Step through the tokens of the bracket in id order: rank them first if there are few, else they all have one logit and id order is rank order. */
static tsl__cut step_through(const tsl__row *row, const goal *g, const bracket *br) {
  bool few = br->at_low.count - br->at_high.count <= TSL__CUT_SORT;
  tsl__cut floor = br->low == br->from.logit ? br->from : (tsl__cut){br->low, UINT32_MAX};
  tsl__measure m = br->at_high;
  size_t n = 0;
  for (size_t b = 0; b < row->block_count; b++) {
    if (!(row->blocks[b].peak >= br->low)) continue;
    uint32_t bits[TSL__ROW_WORDS];
    tsl__row_kept(row, b, floor, bits);
    for (size_t w = 0; w < TSL__ROW_WORDS; w++)
      for (uint32_t left = bits[w]; left; left &= left - 1) {
        size_t id = tsl__row_start(b) + w * 32 + (size_t)__builtin_ctz(left);
        float logit = row->logits[id];
        if (logit >= br->high) continue;
        if (few) {
          row->scratch[n++] = (tsl__ranked){logit, (tsl_token)id};
          continue;
        }
        add_token(row, &m, logit);
        if (reached(g, m)) return (tsl__cut){logit, (tsl_token)id};
      }
  }
  rank(row->scratch, n);
  for (size_t i = 0; i < n; i++) {
    add_token(row, &m, row->scratch[i].logit);
    if (reached(g, m)) return (tsl__cut){row->scratch[i].logit, row->scratch[i].id};
  }
  return br->from; /* the sum in rank order fell short of the sum in lane order by a rounding: all are needed */
}

static tsl__cut search(const tsl__row *row, const goal *g, bracket *b) {
  bisect(row, g, b);
  return step_through(row, g, b);
}

/* ---- the three cut-offs --------------------------------------------------------------------------------------- */

/* Above every legal logit: the anchor is the largest, finite. */
static float ceiling(const tsl__row *row) { return float_after(row->anchor); }

/* A floor that at least k tokens pass: the k-th largest of the blocks' maxima. */
static float floor_by_peaks(const tsl__row *row, tsl__cut from, uint32_t k) {
  if (k > row->block_count) return from.logit;
  for (size_t b = 0; b < row->block_count; b++) row->scratch[b] = (tsl__ranked){row->blocks[b].peak, (tsl_token)b};
  rank(row->scratch, row->block_count);
  float floor = row->scratch[k - 1].logit;
  return floor > from.logit ? floor : from.logit;
}

tsl__cut tsl__cut_top_k(const tsl__row *row, tsl__cut from, tsl__measure kept, uint32_t k) {
  if (k >= kept.count) return from;
  goal g = {false, k, 0};
  bracket b = {from, from.logit, ceiling(row), kept, {0, 0}};
  float floor = floor_by_peaks(row, from, k);
  if (inside(&b, floor)) narrow(row, &g, &b, floor);
  return search(row, &g, &b);
}

tsl__cut tsl__cut_top_p(const tsl__row *row, tsl__cut from, tsl__measure kept, double mass) {
  if (mass >= kept.mass) return from;
  goal g = {true, 0, mass};
  bracket b = {from, from.logit, ceiling(row), kept, {0, 0}};
  /* Tokens whose weight is below e^-16 seldom matter: try without them first. */
  double reach = row->scale > 0 ? 16.0 / (double)row->scale : 0;
  float floor = (float)((double)row->anchor - (reach < FLT_MAX ? reach : FLT_MAX));
  if (inside(&b, floor)) narrow(row, &g, &b, floor);
  return search(row, &g, &b);
}

tsl__cut tsl__cut_min_p(const tsl__row *row, tsl__cut from, double weight) {
  uint32_t low = key_of(from.logit), high = key_of(row->anchor); /* the anchor weighs 1: it passes */
  if (tsl__logits_weight(from.logit, row->anchor, row->scale) >= weight) return from;
  while (high - low > 1) { /* low fails, high passes */
    uint32_t middle = low + (high - low) / 2;
    if (tsl__logits_weight(float_of(middle), row->anchor, row->scale) >= weight) high = middle;
    else low = middle;
  }
  return (tsl__cut){float_of(high), UINT32_MAX};
}
