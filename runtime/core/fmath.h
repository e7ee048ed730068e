/* fmath.h - logarithm and exponential that are the same on every platform.
 *
 * The C library's may differ in the last bit from one version to the next, and a last bit can
 * decide which token is drawn. These are made of additions, multiplications and divisions in
 * double, which IEEE 754 defines exactly. They are called a few times a step, so that plain series
 * will do; the weights of whole rows are runtime/kernels/logits.h's.
 * Accuracy  log within 4e-16 (relative, or absolute near 1), exp within 4e-16 (relative).
 * Ref       log x = 2 artanh((x - 1) / (x + 1)); Cody and Waite 1980 for splitting ln 2.
 * Tested by tests/sample/test_stages.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CORE_FMATH_H
#define TSL_RUNTIME_CORE_FMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define TSL__LN2_HI 0x1.62e42feep-1 /* 33 bits: times an exponent it is exact */
#define TSL__LN2_LO 0x1.a39ef35793c76p-33
#define TSL__LN2 0x1.62e42fefa39efp-1

/* Natural logarithm of x > 0, normal; -inf for 0. */
static inline double tsl__log(double x) {
  if (x <= 0) return -INFINITY;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffu) | (uint64_t)1023 << 52;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) m /= 2, exponent++;
  double z = (m - 1) / (m + 1), square = z * z, sum = 0; /* |z| <= 0.172: ten terms */
  for (int k = 21; k >= 3; k -= 2) sum = (sum + 1.0 / k) * square;
  return exponent * TSL__LN2_HI + (2 * z + (2 * z * sum + exponent * TSL__LN2_LO));
}

/* exp(x); 0 below -700, +inf above 700. */
static inline double tsl__exp(double x) {
  if (x < -700) return 0;
  if (x > 700) return INFINITY;
  double n = floor(x / TSL__LN2 + 0.5), r = x - n * TSL__LN2_HI - n * TSL__LN2_LO, sum = 1;
  for (int k = 14; k >= 1; k--) sum = 1 + sum * r / k;
  return ldexp(sum, (int)n);
}

#endif
