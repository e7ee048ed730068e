/* decimal.h - what the tests of numbers share: decimals from texts, in one arena.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_DECIMAL_H
#define TSL_TESTS_SUPPORT_DECIMAL_H

#include "compiler/number/nat.h"
#include "compiler/number/number.h"
#include "tests/support/check.h"

static uint64_t seed = 20240607;
static inline uint64_t rnd(uint64_t n) { return tsl_test_random(&seed) % n; }
static tsl__arena arena;

static inline tsl__decimal dec(const char *text) {
  tsl__decimal d = tsl__decimal_zero;
  tsl_status status = tsl__decimal_parse(&arena, text, strlen(text), &d);
  CHECKF(status == TSL_OK, "%s: %s", text, tsl_status_name(status));
  return d;
}

static inline tsl__decimal dec_of(unsigned n) {
  char text[16];
  snprintf(text, sizeof text, "%u", n);
  return dec(text);
}

/* "12e-1": digits and exponent, as the cases write results. */
static inline bool is(const tsl__decimal *d, const char *want) {
  char text[1200];
  if (!d->count) return !strcmp(want, "0");
  snprintf(text, sizeof text, "%s%.*se%lld", d->negative ? "-" : "", (int)d->count, d->digits,
           (long long)d->exponent);
  return !strcmp(text, want);
}

static inline void random_nat(tsl__nat *a, size_t digits) {
  char text[3000];
  for (size_t i = 0; i < digits; i++) text[i] = (char)('0' + (rnd(4) ? rnd(10) : rnd(2) * 9));
  CHECK(tsl__nat_from_digits(a, text, digits));
}

#endif
