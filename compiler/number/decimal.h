/* decimal.h - exact decimal numbers as JSON writes them.
 *
 * A decimal is sign, digits and a power of ten; nothing is ever rounded. Compare, "is a multiple
 * of" and lcm are decided on digits. Say that a = 2^i 5^j u (u prime to 10). A power of ten only
 * moves i and j, so 1e400 is compared with 7 without writing 400 zeros.
 *
 * Limits    TSL__DECIMAL_DIGITS significant digits and exponents within ±TSL__DECIMAL_EXPONENT;
 *           past that TSL_ERR_LIMIT. These limits are for the numbers in a schema; the texts that
 *           a number expression reads are not limited (number.h).
 * Memory    Digits live in the arena that a call is given. Decimals are plain values and are copied
 *           freely.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_DECIMAL_H
#define TSL_COMPILER_NUMBER_DECIMAL_H

#include "runtime/core/base.h"

#define TSL__DECIMAL_DIGITS 1000u
/* of the last significant digit, after the canonical form was made */
#define TSL__DECIMAL_EXPONENT INT64_C(1000000000000000)

/* value = ± digits × 10^exponent. Canonical: two decimals are equal if and only if their fields
 * are. */
typedef struct tsl__decimal {
  /* `count` of '0' … '9'; the first and the last are not '0'; not NUL-terminated */
  const char *digits;
  uint32_t count; /* 0: the number is zero (digits NULL, exponent 0, not negative) */
  bool negative;
  int64_t exponent;
} tsl__decimal;

extern const tsl__decimal tsl__decimal_zero, tsl__decimal_one;

/* Read a JSON number (RFC 8259, the whole text). Errors: SYNTAX, LIMIT, NO_MEMORY. */
tsl_status tsl__decimal_parse(tsl__arena *arena, const char *text, size_t length,
                              tsl__decimal *out);

/* Are two JSON numbers, as written, of one value? Without memory, and past the limits, too (but
 * for exponents of more than a hundred times as much, which count as one). */
bool tsl__decimal_texts_equal(const char *a, size_t a_length, const char *b, size_t b_length);
/* The same for equal numbers. */
uint64_t tsl__decimal_text_hash(const char *text, size_t length);
/* -1, 0 or 1: the numbers' order. */
int tsl__decimal_compare(const tsl__decimal *a, const tsl__decimal *b);
bool tsl__decimal_equal(const tsl__decimal *a, const tsl__decimal *b);
bool tsl__decimal_is_integer(const tsl__decimal *d);
/* Is `a` an integer times `m`? m must not be zero; signs don't matter. */
bool tsl__decimal_is_multiple(const tsl__decimal *a, const tsl__decimal *m);
/* The smallest positive number that is a multiple of both; a and b positive. Errors: LIMIT,
 * NO_MEMORY. */
tsl_status tsl__decimal_lcm(tsl__arena *arena, const tsl__decimal *a, const tsl__decimal *b,
                            tsl__decimal *out);

static inline tsl__decimal tsl__decimal_negate(tsl__decimal d) {
  d.negative = d.count && !d.negative;
  return d;
}
static inline tsl__decimal tsl__decimal_abs(tsl__decimal d) {
  d.negative = false;
  return d;
}
/* The power of ten of the leading digit (5 and 9.9: 0, 10: 1, 0.01: -2). Not for zero. */
static inline int64_t tsl__decimal_magnitude(const tsl__decimal *d) {
  return d->exponent + (int64_t)d->count - 1;
}

/* Canonical text: plain notation where it is at most 21 characters or so ("-12.5", "100"), else
 * "1.25e400". Writes at most n bytes with NUL and returns the length it would need. */
size_t tsl__decimal_print(const tsl__decimal *d, char *out, size_t n);

#endif
