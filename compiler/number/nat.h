/* nat.h - natural numbers of bounded size, for exact decimal arithmetic.
 *
 * Values are arrays of limbs in base 10^9, least significant first, in a struct of fixed capacity.
 * They live on the stack, and nothing is allocated. The only failure is that a result does not fit:
 * the function returns false, and the result is unspecified. Arguments may alias unless said
 * otherwise.
 *
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_NAT_H
#define TSL_COMPILER_NUMBER_NAT_H

#include "runtime/core/base.h"

#define TSL__NAT_BASE 1000000000u
#define TSL__NAT_LIMBS 600u /* 5,400 digits */
#define TSL__NAT_DIGITS (9 * TSL__NAT_LIMBS)

typedef struct tsl__nat {
  uint32_t n; /* limbs in use; the last is not 0; zero has none */
  uint32_t limb[TSL__NAT_LIMBS];
} tsl__nat;

void tsl__nat_set(tsl__nat *a, uint64_t value);
void tsl__nat_copy(tsl__nat *out, const tsl__nat *a);
/* From `count` characters '0' … '9', leading zeros allowed. */
bool tsl__nat_from_digits(tsl__nat *out, const char *digits, size_t count);
/* Digits without leading zeros ("0" for zero), no NUL; `out` has room for TSL__NAT_DIGITS. Returns
 * their number. */
size_t tsl__nat_to_digits(const tsl__nat *a, char *out);
size_t tsl__nat_digit_count(const tsl__nat *a); /* 1 for zero */
int tsl__nat_compare(const tsl__nat *a, const tsl__nat *b);
static inline bool tsl__nat_is_zero(const tsl__nat *a) { return a->n == 0; }

bool tsl__nat_add(tsl__nat *out, const tsl__nat *a, const tsl__nat *b);
void tsl__nat_sub(tsl__nat *out, const tsl__nat *a, const tsl__nat *b); /* a >= b */
bool tsl__nat_mul(tsl__nat *out, const tsl__nat *a, const tsl__nat *b); /* out aliases neither */
/* a = a × factor + term; both below 10^9 + 1 */
bool tsl__nat_mul_add(tsl__nat *a, uint32_t factor, uint32_t term);
bool tsl__nat_scale10(tsl__nat *a, uint64_t power); /* a = a × 10^power */
/* quotient = a / b, remainder = a mod b; b not zero. Either output may be NULL; outputs alias
 * nothing. */
void tsl__nat_divide(const tsl__nat *a, const tsl__nat *b, tsl__nat *quotient, tsl__nat *remainder);
void tsl__nat_gcd(tsl__nat *out, const tsl__nat *a, const tsl__nat *b);
/* a = (a × 10 + digit) mod m, where a < m; needs one limb of room. */
bool tsl__nat_push_digit_mod(tsl__nat *a, uint32_t digit, const tsl__nat *m);
/* Divide by `prime` (2 or 5) as often as possible; returns how often. Not for zero. Cost: a pass
 * over the limbs for each 29 twos or 12 fives. */
uint32_t tsl__nat_strip(tsl__nat *a, uint32_t prime);
/* a = a × prime^exponent, prime 2 or 5; false: it does not fit. The same cost. */
bool tsl__nat_mul_power(tsl__nat *a, uint32_t prime, int64_t exponent);

#endif
