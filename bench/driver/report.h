/* report.h - how a run is reported: one JSON line per schema, a table for people, one JSON object
 * for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_REPORT_H
#define TSL_BENCH_REPORT_H

#include <stdio.h>

#include "bench/driver/run.h"
#include "bench/driver/verify.h"

/* What is said beside the totals. */
typedef struct bench_about {
  double vocab_load_ms, vocab_memory_mb;
  double overhead_ns, step_ns; /* of the clock; the overhead is already subtracted */
  double wall_s;
  size_t buffers; /* bytes that the benchmark holds beside the samples */
  uint32_t vocab_size;
  bench_verified verified;
} bench_about;

/* One line about one schema; with `samples`, which may be NULL, all of its first pass. */
void bench_report_case(FILE *out, const bench_case *c, const bench_verdict *verdict,
                       const bench_pass *samples);
/* The table to `people`, the object as one line to `programs`. Sorts the samples. */
void bench_report_totals(FILE *people, FILE *programs, bench_totals *totals,
                         const bench_about *about);

#endif
