/* fuzz_logits.c - every kernel of every level that the processor has, beside the portable one.
 *
 * Input       Two bytes: how many logits (1 to 4,096). One: by how many floats the row is moved
 *             from an aligned place, and what becomes of infinities. 12: an anchor, a scale and a
 *             floor, as bit patterns. Then the mask and the logits, as bit patterns too, from what
 *             is left, over and over.
 * Properties  All levels give the same bits, or a NaN each where a sum overflows. None reads or
 *             writes outside of its blocks, which have exactly the room that
 *             runtime/kernels/logits.h says. A level's or and andnot undo each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/kernels/logits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WIDEST 4096u

typedef struct input {
  size_t n, words, shift;
  bool wild; /* logits of any size: not for the sums */
  float *block, *x;
  uint32_t *mask;
  float anchor, scale, floor;
} input;

#define ALWAYS(what) \
  if (!(what)) abort()

static float float_at(const uint8_t *at) {
  float f;
  memcpy(&f, at, sizeof f);
  return f;
}

/* What the contract of the kernels asks for. The anchor is finite. The scale is none, or positive
 * and finite. The floor is no NaN. */
static void read_scalars(input *in, const uint8_t *at) {
  in->anchor = float_at(at);
  in->scale = fabsf(float_at(at + 4));
  in->floor = float_at(at + 8);
  if (!(in->anchor >= -FLT_MAX && in->anchor <= FLT_MAX)) in->anchor = 0;
  if (!(in->scale <= FLT_MAX)) in->scale = 1;
  if (isnan(in->floor)) in->floor = -1;
}

static bool read_input(input *in, const uint8_t *data, size_t size) {
  if (size < 16) return false;
  in->n = 1 + (data[0] | (size_t)data[1] << 8) % WIDEST;
  in->words = (in->n + 31) / 32;
  in->shift = data[2] % 16;
  in->wild = data[2] & 0x80;
  read_scalars(in, data + 3);
  data += 15, size -= 15;
  in->block = malloc((in->n + in->shift) * sizeof *in->block);
  in->mask = malloc(in->words * sizeof *in->mask);
  ALWAYS(in->block && in->mask);
  in->x = in->block + in->shift;
  uint8_t *mask = (uint8_t *)in->mask, *x = (uint8_t *)in->x;
  for (size_t i = 0; i < in->words * 4; i++) mask[i] = data[i * 7 % size];
  for (size_t i = 0; i < in->n * 4; i++) x[i] = data[i % size];
  for (size_t i = 0; i < in->n; i++) /* for the sums */
    if (!in->wild && !(((double)in->x[i] - (double)in->anchor) * (double)in->scale <= 64))
      in->x[i] = isnan(in->x[i]) ? in->x[i] : in->anchor;
  return true;
}

static void same(const void *a, const void *b, size_t bytes) { ALWAYS(!memcmp(a, b, bytes)); }

/* Numbers; which NaN it is where sums overflow, IEEE 754 leaves open. */
static void same_floats(const float *a, const float *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    ALWAYS(!memcmp(a + i, b + i, sizeof *a) || (isnan(a[i]) && isnan(b[i])));
}
static void same_doubles(const double *a, const double *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    ALWAYS(!memcmp(a + i, b + i, sizeof *a) || (isnan(a[i]) && isnan(b[i])));
}

/* One block of floats for each of two levels. */
typedef struct pair {
  void *of[2];
} pair;

static pair two(size_t bytes) {
  pair p = {{malloc(bytes), malloc(bytes)}};
  ALWAYS(p.of[0] && p.of[1]);
  memset(p.of[0], 0, bytes);
  memset(p.of[1], 0, bytes);
  return p;
}
static void drop(pair p) { free(p.of[0]), free(p.of[1]); }

static void apply(const input *in, const tsl__logits_kernels *const k[2]) {
  pair full = two(in->n * sizeof(float)), half = two(in->n * sizeof(uint16_t));
  for (int i = 0; i < 2; i++) {
    memcpy(full.of[i], in->x, in->n * sizeof(float));
    memcpy(half.of[i], in->x, in->n * sizeof(uint16_t));
    k[i]->apply32(in->mask, full.of[i], in->n);
    k[i]->apply16(in->mask, half.of[i], in->n, 0xfc00);
  }
  same(full.of[0], full.of[1], in->n * sizeof(float));
  same(half.of[0], half.of[1], in->n * sizeof(uint16_t));
  drop(full);
  drop(half);
}

static void words(const input *in, const tsl__logits_kernels *const k[2]) {
  pair bits = two(in->words * 4), places = two((in->n + 32) * 4);
  size_t found[2], few[2], count = k[0]->count_words(in->mask, in->words);
  for (int i = 0; i < 2; i++) {
    ALWAYS(k[i]->count_words(in->mask, in->words) == count);
    k[i]->or_words(bits.of[i], bits.of[i], in->mask, in->words);
    same(bits.of[i], in->mask, in->words * 4);
    k[i]->and_words(bits.of[i], bits.of[i], in->mask, in->words);
    same(bits.of[i], in->mask, in->words * 4);
    k[i]->andnot_words(bits.of[i], in->mask, in->words);
    ALWAYS(k[i]->count_words(bits.of[i], in->words) == 0);
    few[i] =
        count ? k[i]->list(in->mask, in->words, count - 1 < in->n ? count - 1 : in->n, places.of[i])
              : SIZE_MAX;
    found[i] = count <= in->n ? k[i]->list(in->mask, in->words, in->n, places.of[i]) : SIZE_MAX;
  }
  ALWAYS(few[0] == few[1] && found[0] == found[1]);
  if (found[0] != SIZE_MAX) same(places.of[0], places.of[1], found[0] * 4);
  drop(bits);
  drop(places);
}

static void select_some(const input *in, const tsl__logits_kernels *const k[2]) {
  pair bits = two(in->words * 4), values = two((in->n + TSL__LOGITS_SLACK) * sizeof(float)),
       places = two((in->n + TSL__LOGITS_SLACK) * 4);
  tsl__logits_peak peak[2];
  size_t n[2];
  for (int i = 0; i < 2; i++) {
    peak[i] = k[i]->peak(in->x, in->mask, in->n);
    k[i]->above(in->x, in->mask, in->n, in->floor, bits.of[i]);
    n[i] = k[i]->gather(in->x, in->mask, in->n, in->floor, 7, values.of[i], places.of[i]);
  }
  same_floats(&peak[0].top, &peak[1].top, 1);
  ALWAYS(peak[0].nan == peak[1].nan && n[0] == n[1] &&
         n[0] == k[0]->count_words(bits.of[0], in->words));
  same(bits.of[0], bits.of[1], in->words * 4);
  same(values.of[0], values.of[1], n[0] * sizeof(float));
  same(places.of[0], places.of[1], n[0] * 4);
  drop(bits);
  drop(values);
  drop(places);
}

static void sums(const input *in, const tsl__logits_kernels *const k[2]) {
  const float floors[TSL__LOGITS_RUNGS] = {in->floor, -INFINITY, 0, INFINITY};
  double sum[2], ladder[2][TSL__LOGITS_RUNGS];
  tsl__logits_survey survey[2];
  tsl__logits_mass mass[2];
  tsl__logits_moments moments[2];
  tsl__logits_spread spread[2];
  for (int i = 0; i < 2; i++) {
    sum[i] = k[i]->sum(in->x, in->mask, in->n, in->anchor, in->scale);
    survey[i] = k[i]->survey(in->x, in->mask, in->n, in->floor, in->scale);
    mass[i] = k[i]->sum_both(in->x, in->mask, in->n, in->anchor, in->scale);
    moments[i] = k[i]->moments(in->x, in->mask, in->n, in->anchor, in->scale);
    spread[i] = k[i]->spread(in->x, in->mask, in->n, in->anchor);
    k[i]->ladder(in->x, in->x, in->mask, in->n, in->anchor, in->scale, floors, ladder[i]);
  }
  same_doubles(&sum[0], &sum[1], 1);
  same_doubles(&survey[0].mass, &survey[1].mass, 1);
  same_floats(&survey[0].anchor, &survey[1].anchor, 1);
  same_floats(&survey[0].top, &survey[1].top, 1);
  ALWAYS(survey[0].nan == survey[1].nan);
  same_doubles(&mass[0].all, &mass[1].all, 1);
  same_doubles(&mass[0].legal, &mass[1].legal, 1);
  same_doubles(&moments[0].mass, &moments[1].mass, 1);
  same_doubles(&moments[0].moment, &moments[1].moment, 1);
  same_doubles(&spread[0].count, &spread[1].count, 1);
  same_doubles(&spread[0].sum, &spread[1].sum, 1);
  same_doubles(&spread[0].square, &spread[1].square, 1);
  same_doubles(ladder[0], ladder[1], TSL__LOGITS_RUNGS);
}

static void weights(const input *in, const tsl__logits_kernels *const k[2]) {
  pair weights = two((in->n + TSL__LOGITS_SLACK) * sizeof(float)),
       distances = two((in->n + TSL__LOGITS_SLACK) * sizeof(float));
  float middle = in->floor >= -FLT_MAX && in->floor <= FLT_MAX ? in->floor : 0;
  for (int i = 0; i < 2; i++) {
    k[i]->weigh(in->x, in->n, in->anchor, in->scale, weights.of[i]);
    k[i]->distances(in->x, in->n, in->anchor, in->scale, middle, distances.of[i]);
  }
  same_floats(weights.of[0], weights.of[1], in->n);
  same_floats(distances.of[0], distances.of[1], in->n);
  drop(weights);
  drop(distances);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in;
  if (!read_input(&in, data, size)) return 0;
  for (int level = 1; level < TSL__LOGITS_LEVELS; level++) {
    if (!tsl__logits_force((tsl__logits_level)level)) continue;
    const tsl__logits_kernels *const k[2] = {&tsl__logits_portable, tsl__logits()};
    apply(&in, k);
    words(&in, k);
    select_some(&in, k);
    if (!in.wild) sums(&in, k), weights(&in, k);
  }
  tsl__logits_force(TSL__LOGITS_AUTO);
  free(in.block);
  free(in.mask);
  return 0;
}
