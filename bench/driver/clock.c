/* clock.c - see clock.h. Ref: Intel SDM vol. 3, 18.17 (invariant time-stamp counter); fences as in
 * Paoloni 2010, "How to benchmark code execution times".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define EMPTY_SPANS 10000
#define CALIBRATION_NS 50000000u
#define CACHE_LINE 64

static uint64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

#if defined(__x86_64__)
static uint64_t read_counter(void) {
  _mm_lfence();
  uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

/* Does the counter run at one rate in all power states? */
static bool counter_is_invariant(void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d >> 8 & 1u);
}
#else
static uint64_t read_counter(void) { return monotonic_ns(); }
static bool counter_is_invariant(void) { return false; }
#endif

static double counter_ns_per_tick(void) {
  uint64_t start_ns = monotonic_ns(), start = read_counter(), now_ns;
  do now_ns = monotonic_ns();
  while (now_ns - start_ns < CALIBRATION_NS);
  return (double)(now_ns - start_ns) / (double)(read_counter() - start);
}

static int compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Smallest difference between readings, in ticks: of the sorted empty spans' values, the nearest
 * two. */
static uint64_t smallest_step(const uint64_t *sorted, size_t n) {
  uint64_t step = sorted[0] ? sorted[0] : UINT64_MAX;
  for (size_t i = 1; i < n; i++)
    if (sorted[i] > sorted[i - 1] && sorted[i] - sorted[i - 1] < step)
      step = sorted[i] - sorted[i - 1];
  return step;
}

void bench_clock_init(bench_clock *clock, bool processor) {
  static const size_t usual = EMPTY_SPANS * 99 / 100; /* the rest were interrupted */
  uint64_t spans[EMPTY_SPANS], sum = 0;
  clock->processor = processor;
  clock->counter = !processor && counter_is_invariant();
  clock->ns_per_tick = clock->counter ? counter_ns_per_tick() : 1;
  for (size_t i = 0; i < EMPTY_SPANS; i++) {
    uint64_t from = bench_clock_now(clock);
    spans[i] = bench_clock_now(clock) - from;
  }
  qsort(spans, EMPTY_SPANS, sizeof *spans, compare_u64);
  for (size_t i = 0; i < usual; i++) sum += spans[i];
  clock->overhead_ns = (double)sum / (double)usual * clock->ns_per_tick;
  clock->step_ns = (double)smallest_step(spans, usual) * clock->ns_per_tick;
}

uint64_t bench_clock_now(const bench_clock *clock) {
  return clock->processor ? clock_ns(CLOCK_THREAD_CPUTIME_ID)
         : clock->counter ? read_counter()
                          : monotonic_ns();
}

double bench_clock_span(const bench_clock *clock, uint64_t from, uint64_t to) {
  return (double)(to - from) * clock->ns_per_tick - clock->overhead_ns;
}

/* Bytes of the last-level cache that one core reaches, 0 if unknown. (sysconf gives the sum over
 * the whole processor.) */
static size_t last_level_cache(void) {
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  unsigned long kib = 0;
  if (!file) return 0;
  if (fscanf(file, "%luK", &kib) != 1) kib = 0;
  fclose(file);
  return (size_t)kib << 10;
}

bool bench_evictor_init(bench_evictor *evictor) {
  size_t last_level = last_level_cache();
  evictor->size = (size_t)64 << 20;
  if (last_level * 2 > evictor->size) evictor->size = last_level * 2;
  evictor->buffer = calloc(evictor->size, 1);
  return evictor->buffer != NULL;
}

void bench_evictor_free(bench_evictor *evictor) { free(evictor->buffer); }

void bench_evict(const bench_evictor *evictor) {
  volatile unsigned char *buffer = evictor->buffer;
  for (size_t i = 0; i < evictor->size; i += CACHE_LINE) buffer[i]++;
}
