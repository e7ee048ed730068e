/* clock.h - time spans of tens of nanoseconds, and empty caches on demand.
 *
 * Problem   A borrowed mask costs about 20 ns, as much as reading the clock.
 * Idea      On x86-64 with an invariant time-stamp counter a span is two fenced reads of it;
 *           elsewhere clock_gettime. The average cost of an empty span is measured when the clock
 *           is set up and subtracted from every span.
 * Limits    The counter itself advances in steps (10 ns on AMD's Zen). A single short span is only
 *           that exact, and may come out a little below 0. Such a span is kept below 0: cut off at
 *           0, averages would be too high.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_CLOCK_H
#define TSL_BENCH_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_clock {
  bool processor;     /* time of the processor in this thread, whatever else the machine does */
  bool counter;       /* reads the time-stamp counter; else clock_gettime */
  double ns_per_tick; /* 1 with clock_gettime */
  double overhead_ns; /* of an empty span; subtracted */
  double step_ns;     /* smallest difference between two readings that was seen */
} bench_clock;

/* Calibrate. Takes about 60 ms. */
void bench_clock_init(bench_clock *clock, bool processor);
/* The present, in ticks. */
uint64_t bench_clock_now(const bench_clock *clock);
/* Nanoseconds between two readings, less the overhead of one span. */
double bench_clock_span(const bench_clock *clock, uint64_t from, uint64_t to);

/* A buffer that is larger than every cache, to be read and written whole. */
typedef struct bench_evictor {
  unsigned char *buffer;
  size_t size; /* bytes: twice the last-level cache, at least 64 MiB */
} bench_evictor;

bool bench_evictor_init(bench_evictor *evictor);
void bench_evictor_free(bench_evictor *evictor);
/* Push everything else out of the caches. A few milliseconds. */
void bench_evict(const bench_evictor *evictor);

#endif
