/* stats.c - see stats.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats.h"

#include <stdlib.h>

bool bench_samples_add(bench_samples *samples, double value) {
  if (samples->n == samples->cap) {
    size_t cap = samples->cap ? samples->cap * 2 : 1024;
    float *at = realloc(samples->at, cap * sizeof *at);
    if (!at) return false;
    samples->at = at;
    samples->cap = cap;
  }
  samples->at[samples->n++] = (float)value;
  return true;
}

void bench_samples_free(bench_samples *samples) {
  free(samples->at);
  *samples = (bench_samples){0};
}

size_t bench_samples_memory(const bench_samples *samples) {
  return samples->cap * sizeof *samples->at;
}

static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The sorted sample at rank ceil(permille / 1000 * n). */
static double percentile(const bench_samples *samples, size_t permille) {
  size_t rank = (samples->n * permille + 999) / 1000;
  return samples->at[rank ? rank - 1 : 0];
}

bench_summary bench_summarize(bench_samples *samples) {
  bench_summary s = {.n = samples->n};
  double sum = 0;
  if (!s.n) return s;
  qsort(samples->at, samples->n, sizeof *samples->at, compare_floats);
  for (size_t i = 0; i < samples->n; i++) sum += (double)samples->at[i];
  s.avg = sum / (double)s.n;
  s.p50 = percentile(samples, 500);
  s.p90 = percentile(samples, 900);
  s.p99 = percentile(samples, 990);
  s.p99_9 = percentile(samples, 999);
  s.max = (double)samples->at[samples->n - 1];
  return s;
}
