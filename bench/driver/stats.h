/* stats.h - all samples of a measurement, and what is said of them: average, exact percentiles,
 * maximum.
 *
 * Every sample is kept (4 bytes each), so that a percentile is a sample and no estimate. p99.9 is
 * the smallest sample that at least 99.9 % of all samples do not exceed (nearest rank).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_STATS_H
#define TSL_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_samples {
  float *at; /* microseconds, or what the user counts */
  size_t n, cap;
} bench_samples;

/* Append; false when out of memory. */
bool bench_samples_add(bench_samples *samples, double value);
void bench_samples_free(bench_samples *samples);
/* Bytes held. */
size_t bench_samples_memory(const bench_samples *samples);

typedef struct bench_summary {
  size_t n;
  double avg, p50, p90, p99, p99_9, max; /* all 0 if n is 0 */
} bench_summary;

/* Sorts the samples in place. */
bench_summary bench_summarize(bench_samples *samples);

#endif
