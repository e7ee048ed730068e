/* nat.c - natural numbers of bounded size. See nat.h.
 *
 * Problem   Bounds and multiples of a schema may have hundreds of digits, and must be exact.
 * Idea      Limbs of nine decimal digits, the lowest first. Decimal digits are what schemas are
 *           made of and what is read. Base 10^9 makes both ways between text and number cheap, and
 *           a product of two limbs fits into 64 bits.
 * Example   12345678901 is the limbs 345678901 and 12. Times 1000: 345678901 × 1000 is 345 × 10^9
 *           + 678901000, so the first limb is 678901000 and 345 is carried: 12 × 1000 + 345 =
 *           12345.
 * Division  Knuth's algorithm D (The Art of Computer Programming 2, 4.3.1) in base 10^9.
 * Cost      Linear in the limbs; division is their product.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/nat.h"

static void trim(tsl__nat *a) {
  while (a->n && !a->limb[a->n - 1]) a->n--;
}

void tsl__nat_set(tsl__nat *a, uint64_t value) {
  a->n = 0;
  for (; value; value /= TSL__NAT_BASE) a->limb[a->n++] = (uint32_t)(value % TSL__NAT_BASE);
}

void tsl__nat_copy(tsl__nat *out, const tsl__nat *a) {
  if (out == a) return;
  out->n = a->n;
  memcpy(out->limb, a->limb, a->n * sizeof a->limb[0]);
}

bool tsl__nat_from_digits(tsl__nat *out, const char *digits, size_t count) {
  while (count && *digits == '0') digits++, count--;
  out->n = 0;
  if (count > TSL__NAT_DIGITS) return false;
  while (count) {
    size_t take = count < 9 ? count : 9;
    uint32_t limb = 0;
    for (size_t i = count - take; i < count; i++) limb = limb * 10 + (uint32_t)(digits[i] - '0');
    out->limb[out->n++] = limb;
    count -= take;
  }
  trim(out);
  return true;
}

size_t tsl__nat_digit_count(const tsl__nat *a) {
  if (!a->n) return 1;
  size_t count = 9 * (size_t)(a->n - 1);
  for (uint32_t top = a->limb[a->n - 1]; top; top /= 10) count++;
  return count;
}

size_t tsl__nat_to_digits(const tsl__nat *a, char *out) {
  size_t count = tsl__nat_digit_count(a), at = count;
  if (!a->n) out[0] = '0';
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t limb = a->limb[i];
    for (int k = 0; k < 9 && at; k++, limb /= 10) out[--at] = (char)('0' + limb % 10);
  }
  return count;
}

int tsl__nat_compare(const tsl__nat *a, const tsl__nat *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  for (uint32_t i = a->n; i-- > 0;)
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  return 0;
}

bool tsl__nat_add(tsl__nat *out, const tsl__nat *a, const tsl__nat *b) {
  uint32_t n = a->n > b->n ? a->n : b->n, an = a->n, bn = b->n, carry = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t sum = carry + (i < an ? a->limb[i] : 0) + (i < bn ? b->limb[i] : 0);
    carry = sum >= TSL__NAT_BASE;
    out->limb[i] = carry ? sum - TSL__NAT_BASE : sum;
  }
  out->n = n;
  if (!carry) return true;
  if (n == TSL__NAT_LIMBS) return false;
  out->limb[out->n++] = 1;
  return true;
}

void tsl__nat_sub(tsl__nat *out, const tsl__nat *a, const tsl__nat *b) {
  uint32_t n = a->n, bn = b->n, borrow = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t take = borrow + (i < bn ? b->limb[i] : 0), have = a->limb[i];
    borrow = have < take;
    out->limb[i] = borrow ? have + TSL__NAT_BASE - take : have - take;
  }
  out->n = n;
  trim(out);
}

bool tsl__nat_mul(tsl__nat *out, const tsl__nat *a, const tsl__nat *b) {
  out->n = 0;
  if (!a->n || !b->n) return true;
  if (a->n + b->n > TSL__NAT_LIMBS + 1) return false;
  uint32_t n = a->n + b->n - 1;
  memset(out->limb, 0, n * sizeof out->limb[0]);
  uint32_t spill = 0; /* the limb above the last one that a product is sure to reach */
  for (uint32_t i = 0; i < a->n; i++) {
    uint64_t carry = 0;
    for (uint32_t j = 0; j < b->n; j++) {
      uint64_t sum = (uint64_t)a->limb[i] * b->limb[j] + out->limb[i + j] + carry;
      out->limb[i + j] = (uint32_t)(sum % TSL__NAT_BASE);
      carry = sum / TSL__NAT_BASE;
    }
    if (i + b->n < n)
      out->limb[i + b->n] = (uint32_t)carry;
    else
      spill = (uint32_t)carry;
  }
  out->n = n;
  if (!spill) return true;
  if (n == TSL__NAT_LIMBS) return false;
  out->limb[out->n++] = spill;
  return true;
}

bool tsl__nat_mul_add(tsl__nat *a, uint32_t factor, uint32_t term) {
  uint64_t carry = term;
  for (uint32_t i = 0; i < a->n; i++) {
    carry += (uint64_t)a->limb[i] * factor;
    a->limb[i] = (uint32_t)(carry % TSL__NAT_BASE);
    carry /= TSL__NAT_BASE;
  }
  for (; carry; carry /= TSL__NAT_BASE) {
    if (a->n == TSL__NAT_LIMBS) return false;
    a->limb[a->n++] = (uint32_t)(carry % TSL__NAT_BASE);
  }
  trim(a);
  return true;
}

/* a = a / divisor, returns the remainder; 0 < divisor <= 10^9 */
static uint32_t divide_by_small(tsl__nat *a, uint32_t divisor) {
  uint64_t rest = 0;
  for (uint32_t i = a->n; i-- > 0;) {
    rest = rest * TSL__NAT_BASE + a->limb[i];
    a->limb[i] = (uint32_t)(rest / divisor);
    rest %= divisor;
  }
  trim(a);
  return (uint32_t)rest;
}

bool tsl__nat_scale10(tsl__nat *a, uint64_t power) {
  if (!a->n) return true;
  if (power > TSL__NAT_DIGITS) return false;
  uint32_t limbs = (uint32_t)(power / 9), factor = 1;
  for (uint32_t k = (uint32_t)(power % 9); k; k--) factor *= 10;
  if (a->n + limbs > TSL__NAT_LIMBS) return false;
  if (limbs) {
    memmove(a->limb + limbs, a->limb, a->n * sizeof a->limb[0]);
    memset(a->limb, 0, limbs * sizeof a->limb[0]);
    a->n += limbs;
  }
  return factor == 1 || tsl__nat_mul_add(a, factor, 0);
}

/* One step of algorithm D: rest[0 … n] -= guess × divisor[0 … n), corrected where the guess was one
 * too large. Returns the quotient's limb. */
static uint32_t divide_step(uint32_t *rest, const uint32_t *divisor, uint32_t n, uint64_t guess) {
  uint64_t carry = 0;
  int64_t borrow = 0;
  for (uint32_t i = 0; i <= n; i++) {
    uint64_t product = (i < n ? guess * divisor[i] : 0) + carry;
    carry = product / TSL__NAT_BASE;
    int64_t t = (int64_t)rest[i] - borrow - (int64_t)(product % TSL__NAT_BASE);
    borrow = t < 0;
    rest[i] = (uint32_t)(t < 0 ? t + TSL__NAT_BASE : t);
  }
  while (borrow) {
    uint32_t up = 0;
    for (uint32_t i = 0; i <= n; i++) {
      uint32_t sum = rest[i] + up + (i < n ? divisor[i] : 0);
      up = sum >= TSL__NAT_BASE;
      rest[i] = up ? sum - TSL__NAT_BASE : sum;
    }
    borrow -= up;
    guess--;
  }
  return (uint32_t)guess;
}

void tsl__nat_divide(const tsl__nat *a, const tsl__nat *b, tsl__nat *quotient,
                     tsl__nat *remainder) {
  uint32_t n = b->n, rest[TSL__NAT_LIMBS + 1], divisor[TSL__NAT_LIMBS];
  if (quotient) quotient->n = 0;
  if (tsl__nat_compare(a, b) < 0) {
    if (remainder) tsl__nat_copy(remainder, a);
    return;
  }
  /* Normalise: the divisor's top limb becomes at least half the base, so that a guess from two
   * limbs is at most 2 too large. */
  uint32_t scale = TSL__NAT_BASE / (b->limb[n - 1] + 1), m = a->n - n;
  uint64_t carry = 0;
  for (uint32_t i = 0; i < n; i++) {
    carry += (uint64_t)b->limb[i] * scale;
    divisor[i] = (uint32_t)(carry % TSL__NAT_BASE);
    carry /= TSL__NAT_BASE;
  }
  carry = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    carry += (uint64_t)a->limb[i] * scale;
    rest[i] = (uint32_t)(carry % TSL__NAT_BASE);
    carry /= TSL__NAT_BASE;
  }
  rest[a->n] = (uint32_t)carry;
  if (quotient) quotient->n = m + 1;
  for (uint32_t j = m + 1; j-- > 0;) {
    uint64_t top = (uint64_t)rest[j + n] * TSL__NAT_BASE + rest[j + n - 1],
             guess = top / divisor[n - 1];
    if (guess >= TSL__NAT_BASE) guess = TSL__NAT_BASE - 1;
    uint32_t limb = divide_step(rest + j, divisor, n, guess);
    if (quotient) quotient->limb[j] = limb;
  }
  if (quotient) trim(quotient);
  if (!remainder) return;
  memcpy(remainder->limb, rest, n * sizeof rest[0]);
  remainder->n = n;
  trim(remainder);
  divide_by_small(remainder, scale);
}

void tsl__nat_gcd(tsl__nat *out, const tsl__nat *a, const tsl__nat *b) {
  tsl__nat x, y, r;
  tsl__nat_copy(&x, a);
  tsl__nat_copy(&y, b);
  while (y.n) {
    tsl__nat_divide(&x, &y, NULL, &r);
    tsl__nat_copy(&x, &y);
    tsl__nat_copy(&y, &r);
  }
  tsl__nat_copy(out, &x);
}

bool tsl__nat_push_digit_mod(tsl__nat *a, uint32_t digit, const tsl__nat *m) {
  if (m->n == 1) {
    uint64_t value = (a->n ? (uint64_t)a->limb[0] : 0) * 10 + digit;
    tsl__nat_set(a, value % m->limb[0]);
    return true;
  }
  if (!tsl__nat_mul_add(a, 10, digit)) return false;
  while (tsl__nat_compare(a, m) >= 0) tsl__nat_sub(a, a, m);
  return true;
}

/* a mod divisor; 0 < divisor <= 10^9 */
static uint32_t rest_by_small(const tsl__nat *a, uint32_t divisor) {
  uint64_t rest = 0;
  for (uint32_t i = a->n; i-- > 0;) rest = (rest * TSL__NAT_BASE + a->limb[i]) % divisor;
  return (uint32_t)rest;
}

/* The highest power of 2 or 5 below 10^9, which a step divides or multiplies by. */
#define STRIDE(prime) ((prime) == 2 ? 29u : 12u)

static uint32_t power_of(uint32_t prime, uint32_t exponent) {
  uint32_t power = 1;
  while (exponent--) power *= prime;
  return power;
}

uint32_t tsl__nat_strip(tsl__nat *a, uint32_t prime) {
  uint32_t count = 0;
  for (uint32_t stride = STRIDE(prime); stride && a->n; stride /= 2) {
    uint32_t power = power_of(prime, stride);
    while (rest_by_small(a, power) == 0) {
      divide_by_small(a, power);
      count += stride;
    }
  }
  return count;
}

bool tsl__nat_mul_power(tsl__nat *a, uint32_t prime, int64_t exponent) {
  for (uint32_t stride = STRIDE(prime); exponent > 0; exponent -= stride) {
    if (exponent < stride) stride = (uint32_t)exponent;
    if (!tsl__nat_mul_add(a, power_of(prime, stride), 0)) return false;
  }
  return true;
}
