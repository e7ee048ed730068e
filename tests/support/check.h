/* check.h - the test harness: every check is counted, every failure says where and what.
 *
 * A test file has functions that use CHECK…, and a main that calls them through RUN. The main ends
 * with `return tsl_test_end();`, which prints "N passed, N failed, N skipped" and what was checked.
 * A test that cannot run calls SKIP with the reason: it is printed and counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_CHECK_H
#define TSL_TESTS_SUPPORT_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Threads check as well. */
static _Atomic(unsigned long) tsl_test_passed, tsl_test_failed, tsl_test_skipped;

#define CHECK(cond)                                                      \
  do {                                                                   \
    if (cond) {                                                          \
      tsl_test_passed++;                                                 \
    } else {                                                             \
      tsl_test_failed++;                                                 \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
    }                                                                    \
  } while (0)

/* A check with an explanation in printf form. */
#define CHECKF(cond, ...)                                                \
  do {                                                                   \
    if (cond) {                                                          \
      tsl_test_passed++;                                                 \
    } else {                                                             \
      tsl_test_failed++;                                                 \
      fprintf(stderr, "%s:%d: failed: %s: ", __FILE__, __LINE__, #cond); \
      fprintf(stderr, __VA_ARGS__);                                      \
      fputc('\n', stderr);                                               \
    }                                                                    \
  } while (0)

#define SKIP(...)                      \
  do {                                 \
    tsl_test_skipped++;                \
    printf("  skipped: " __VA_ARGS__); \
    putchar('\n');                     \
  } while (0)

/* Run one test function and say how many checks it made, in how many seconds of the processor. */
#define RUN(function, what)                                                                      \
  do {                                                                                           \
    unsigned long before_ = tsl_test_passed, failed_ = tsl_test_failed;                          \
    clock_t began_ = clock();                                                                    \
    function();                                                                                  \
    printf("  %s %-28s %s (%lu checks, %.1f s)\n", tsl_test_failed == failed_ ? "ok  " : "FAIL", \
           #function, what, tsl_test_passed - before_ + tsl_test_failed - failed_,               \
           (double)(clock() - began_) / CLOCKS_PER_SEC);                                         \
    fflush(stdout);                                                                              \
  } while (0)

static inline int tsl_test_end(void) {
  printf("%lu passed, %lu failed, %lu skipped\n", tsl_test_passed, tsl_test_failed,
         tsl_test_skipped);
  return tsl_test_failed || !tsl_test_passed ? 1 : 0;
}

/* A small deterministic generator for random tests. */
static inline uint64_t tsl_test_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Rounds of a random test: an eighth of them under a sanitizer, where each takes five times as
 * long. The release build does them all. */
#ifdef TSL_TEST_SANITIZED
#define ROUNDS_OF(n) (((n) + 7) / 8)
#else
#define ROUNDS_OF(n) (n)
#endif

/* The number of this run, which tests/run.py sets; 0 without one. */
static inline uint64_t tsl_test_share(void) {
  const char *number = getenv("TSL_SHARE");
  return number ? strtoull(number, NULL, 10) : 0;
}

/* Is it the turn of this case? A run of all tests takes one of `of` cases in a row, and a run with
 * another number takes others (docs/testing.md). Without a number each case has its turn. */
static inline bool tsl_test_turn(uint64_t number, unsigned of) {
  return !getenv("TSL_SHARE") || (number + tsl_test_share()) % of == 0;
}

/* The same of rounds that have numbers: the first of them, and how many. */
static inline void tsl_test_part(unsigned *rounds, unsigned *first, unsigned of) {
  if (!getenv("TSL_SHARE")) return;
  *rounds = (*rounds + of - 1) / of;
  *first = (unsigned)(tsl_test_share() % of) * *rounds;
}

/* Which of the cases: fewer under a sanitizer. */
#ifdef TSL_TEST_SANITIZED
#define TURN_OF(release, sanitized) (sanitized)
#else
#define TURN_OF(release, sanitized) (release)
#endif

/* 0 <= x < 1 */
static inline double tsl_test_uniform(uint64_t *state) {
  return (double)(tsl_test_random(state) >> 11) * 0x1p-53;
}

#endif
