/* decimal.c - exact decimal numbers. See decimal.h.
 *
 * Multiples and lcm look at m = c × 10^e (c not divisible by 10) as 2^i 5^j u with u prime to 10. A
 * power of ten changes i and j only. "a is a multiple of m" compares the twos and fives, and
 * divides the u. Nothing huge is ever multiplied out.
 *
 * Short way Where a / m has few digits, one division decides without any factors. So it is for the
 *           numbers of a schema: a value that is left out is some multiple of the multiple.
 * Cost      In limbs of nine digits, n of a, k of m: (n - k + 1) × k the short way. Factors take n
 *           for each 29 twos and 12 fives, and the lcm some 20 k² besides.
 *
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/decimal.h"

#include "compiler/number/nat.h"
#include "compiler/expr/print.h"

const tsl__decimal tsl__decimal_zero = {NULL, 0, false, 0};
const tsl__decimal tsl__decimal_one = {"1", 1, false, 0};

/* an exponent's digits are read up to here: more makes no difference */
#define EXPONENT_CLAMP (TSL__DECIMAL_EXPONENT * 100)

/* ---- reading and writing --------------------------------------------------------------------- */

/* The parts of a JSON number's text, as positions. */
typedef struct parts {
  size_t digits, digits_end;     /* of the integer part */
  size_t fraction, fraction_end; /* equal if there is none */
  bool negative;
  int64_t exponent; /* clamped to ±EXPONENT_CLAMP */
} parts;

static size_t skip_digits(const char *text, size_t at, size_t length) {
  while (at < length && text[at] >= '0' && text[at] <= '9') at++;
  return at;
}

/* The exponent after its 'e'; 0 if it is malformed, else the position behind it. */
static size_t split_exponent(const char *text, size_t at, size_t length, int64_t *exponent) {
  bool negative = at < length && text[at] == '-';
  if (at < length && (text[at] == '-' || text[at] == '+')) at++;
  size_t end = skip_digits(text, at, length);
  if (end == at) return 0;
  int64_t value = 0;
  for (; at < end; at++)
    if (value < EXPONENT_CLAMP) value = value * 10 + (text[at] - '0');
  if (value > EXPONENT_CLAMP) value = EXPONENT_CLAMP;
  *exponent = negative ? -value : value;
  return end;
}

static bool split(const char *text, size_t length, parts *p) {
  size_t at = 0;
  p->negative = length && text[0] == '-';
  if (p->negative) at++;
  p->digits = at;
  at = p->digits_end = skip_digits(text, at, length);
  if (at == p->digits || (text[p->digits] == '0' && at > p->digits + 1)) return false;
  p->fraction = p->fraction_end = at;
  if (at < length && text[at] == '.') {
    p->fraction = at + 1;
    at = p->fraction_end = skip_digits(text, at + 1, length);
    if (at == p->fraction) return false;
  }
  p->exponent = 0;
  if (at < length && (text[at] == 'e' || text[at] == 'E'))
    at = split_exponent(text, at + 1, length, &p->exponent);
  return at && at == length;
}

/* The significant digits of a JSON number's text, in place. */
typedef struct significant {
  const char *text;
  parts p;
  size_t first, last; /* of all digits; equal: the number is zero */
  int64_t exponent;   /* of the last one */
} significant;

static char digit_at(const significant *s, size_t i) {
  size_t whole = s->p.digits_end - s->p.digits;
  return i < whole ? s->text[s->p.digits + i] : s->text[s->p.fraction + i - whole];
}

static bool significant_of(const char *text, size_t length, significant *s) {
  s->text = text;
  if (!split(text, length, &s->p)) return false;
  size_t fraction = s->p.fraction_end - s->p.fraction, n = s->p.digits_end - s->p.digits + fraction;
  s->first = 0, s->last = n;
  while (s->first < n && digit_at(s, s->first) == '0') s->first++;
  while (s->last > s->first && digit_at(s, s->last - 1) == '0') s->last--;
  s->exponent = s->p.exponent - (int64_t)fraction + (int64_t)(n - s->last);
  return true;
}

tsl_status tsl__decimal_parse(tsl__arena *arena, const char *text, size_t length,
                              tsl__decimal *out) {
  significant s;
  if (!significant_of(text, length, &s)) return TSL_ERR_SYNTAX;
  size_t n = s.last - s.first;
  if (!n) {
    *out = tsl__decimal_zero;
    return TSL_OK;
  }
  if (n > TSL__DECIMAL_DIGITS || s.exponent > TSL__DECIMAL_EXPONENT ||
      s.exponent < -TSL__DECIMAL_EXPONENT)
    return TSL_ERR_LIMIT;
  char *digits = tsl__arena_alloc(arena, n);
  if (!digits) return TSL_ERR_NO_MEMORY;
  for (size_t i = 0; i < n; i++) digits[i] = digit_at(&s, s.first + i);
  *out = (tsl__decimal){digits, (uint32_t)n, s.p.negative, s.exponent};
  return TSL_OK;
}

/* Digits alone, the first of which is no zero: such numbers are equal if their texts are. */
static bool is_plain(const char *text, size_t length) {
  size_t i = 0;
  while (i < length && text[i] >= '0' && text[i] <= '9') i++;
  return length && i == length && *text != '0';
}

bool tsl__decimal_texts_equal(const char *a, size_t a_length, const char *b, size_t b_length) {
  significant x, y;
  if (is_plain(a, a_length) && is_plain(b, b_length))
    return a_length == b_length && !memcmp(a, b, a_length);
  if (!significant_of(a, a_length, &x) || !significant_of(b, b_length, &y)) return false;
  size_t n = x.last - x.first;
  if (n != y.last - y.first || (n && (x.exponent != y.exponent || x.p.negative != y.p.negative)))
    return false;
  for (size_t i = 0; i < n; i++)
    if (digit_at(&x, x.first + i) != digit_at(&y, y.first + i)) return false;
  return true;
}

uint64_t tsl__decimal_text_hash(const char *text, size_t length) {
  significant s;
  if (!significant_of(text, length, &s) || s.first == s.last) return 0;
  uint64_t hash = tsl__mix((uint64_t)s.exponent * 2 + s.p.negative);
  for (size_t i = s.first; i < s.last; i++) hash = tsl__mix(hash + (uint8_t)digit_at(&s, i));
  return hash;
}

static void put_plain(tsl__printer *p, const tsl__decimal *d) {
  int64_t point = tsl__decimal_magnitude(d) + 1; /* digits before the point */
  if (point <= 0) {
    tsl__print_char(p, '0');
    tsl__print_char(p, '.');
    for (int64_t i = point; i < 0; i++) tsl__print_char(p, '0');
  }
  for (uint32_t i = 0; i < d->count; i++) {
    if (i && (int64_t)i == point) tsl__print_char(p, '.');
    tsl__print_char(p, d->digits[i]);
  }
  for (int64_t i = 0; i < d->exponent; i++) tsl__print_char(p, '0');
}

static void put_scientific(tsl__printer *p, const tsl__decimal *d) {
  for (uint32_t i = 0; i < d->count; i++) {
    if (i == 1) tsl__print_char(p, '.');
    tsl__print_char(p, d->digits[i]);
  }
  tsl__print_format(p, "e%lld", (long long)tsl__decimal_magnitude(d));
}

size_t tsl__decimal_print(const tsl__decimal *d, char *out, size_t n) {
  tsl__printer p = {out, n, 0};
  if (!d->count) {
    tsl__print_char(&p, '0');
  } else {
    int64_t magnitude = tsl__decimal_magnitude(d);
    if (d->negative) tsl__print_char(&p, '-');
    if (d->exponent <= 21 && magnitude <= 21 && magnitude >= -7)
      put_plain(&p, d);
    else
      put_scientific(&p, d);
  }
  return tsl__print_end(&p);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_absolute(const tsl__decimal *a, const tsl__decimal *b) {
  int64_t ma = tsl__decimal_magnitude(a), mb = tsl__decimal_magnitude(b);
  if (ma != mb) return ma < mb ? -1 : 1;
  uint32_t shared = a->count < b->count ? a->count : b->count;
  int order = memcmp(a->digits, b->digits, shared);
  if (order) return order < 0 ? -1 : 1;
  return a->count == b->count ? 0 : a->count < b->count ? -1 : 1;
}

int tsl__decimal_compare(const tsl__decimal *a, const tsl__decimal *b) {
  int sa = a->count ? (a->negative ? -1 : 1) : 0, sb = b->count ? (b->negative ? -1 : 1) : 0;
  if (sa != sb) return sa < sb ? -1 : 1;
  return sa ? sa * compare_absolute(a, b) : 0;
}

bool tsl__decimal_equal(const tsl__decimal *a, const tsl__decimal *b) {
  return a->count == b->count && a->negative == b->negative && a->exponent == b->exponent &&
         (!a->count || !memcmp(a->digits, b->digits, a->count));
}

/* ---- multiples ------------------------------------------------------------------------------- */

/* |d| = 2^twos 5^fives u, u prime to 10. */
typedef struct factored {
  int64_t twos, fives;
  tsl__nat u;
} factored;

static bool factor(const tsl__decimal *d, factored *f) {
  if (!tsl__nat_from_digits(&f->u, d->digits, d->count)) return false;
  f->twos = d->exponent + tsl__nat_strip(&f->u, 2);
  f->fives = d->exponent + tsl__nat_strip(&f->u, 5);
  return true;
}

static tsl_status unfactor(tsl__arena *arena, factored *f, tsl__decimal *out) {
  char digits[TSL__NAT_DIGITS];
  int64_t exponent = f->twos < f->fives ? f->twos : f->fives;
  if (!tsl__nat_mul_power(&f->u, 2, f->twos - exponent) ||
      !tsl__nat_mul_power(&f->u, 5, f->fives - exponent))
    return TSL_ERR_LIMIT;
  size_t count = tsl__nat_to_digits(&f->u, digits);
  if (count > TSL__DECIMAL_DIGITS) return TSL_ERR_LIMIT;
  char *copy = tsl__arena_copy(arena, digits, count);
  if (!copy) return TSL_ERR_NO_MEMORY;
  *out = (tsl__decimal){copy, (uint32_t)count, false, exponent};
  return TSL_OK;
}

bool tsl__decimal_is_integer(const tsl__decimal *d) { return d->exponent >= 0; }

/* a / m has that many digits at most where one division is cheaper than factors. */
#define SHORT_QUOTIENT 400

bool tsl__decimal_is_multiple(const tsl__decimal *a, const tsl__decimal *m) {
  if (!a->count) return true;
  int64_t shift = a->exponent - m->exponent;
  if (shift < 0 || tsl__decimal_magnitude(a) < tsl__decimal_magnitude(m)) return false;
  factored fa, fm;
  if (tsl__decimal_magnitude(a) - tsl__decimal_magnitude(m) <= SHORT_QUOTIENT &&
      tsl__nat_from_digits(&fa.u, a->digits, a->count) &&
      tsl__nat_from_digits(&fm.u, m->digits, m->count) &&
      tsl__nat_scale10(&fa.u, (uint64_t)shift)) {
    tsl__nat rest;
    tsl__nat_divide(&fa.u, &fm.u, NULL, &rest);
    return tsl__nat_is_zero(&rest);
  }
  if (!factor(a, &fa) || !factor(m, &fm)) return false;
  if (fa.twos < fm.twos || fa.fives < fm.fives) return false;
  tsl__nat rest;
  tsl__nat_divide(&fa.u, &fm.u, NULL, &rest);
  return tsl__nat_is_zero(&rest);
}

tsl_status tsl__decimal_lcm(tsl__arena *arena, const tsl__decimal *a, const tsl__decimal *b,
                            tsl__decimal *out) {
  factored fa, fb;
  tsl__nat gcd, part;
  const tsl__decimal *of_both = tsl__decimal_is_multiple(a, b)   ? a
                                : tsl__decimal_is_multiple(b, a) ? b
                                                                 : NULL;
  if (of_both) {
    char *copy = tsl__arena_copy(arena, of_both->digits, of_both->count);
    if (!copy) return TSL_ERR_NO_MEMORY;
    *out = (tsl__decimal){copy, of_both->count, false, of_both->exponent};
    return TSL_OK;
  }
  if (!factor(a, &fa) || !factor(b, &fb)) return TSL_ERR_LIMIT;
  tsl__nat_gcd(&gcd, &fa.u, &fb.u);
  tsl__nat_divide(&fb.u, &gcd, &part, NULL);
  tsl__nat_copy(&fb.u, &fa.u);
  if (!tsl__nat_mul(&fa.u, &fb.u, &part)) return TSL_ERR_LIMIT;
  if (fb.twos > fa.twos) fa.twos = fb.twos;
  if (fb.fives > fa.fives) fa.fives = fb.fives;
  return unfactor(arena, &fa, out);
}
