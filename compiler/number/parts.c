/* parts.c - the regular parts of a number.
 *
 * Problem   Once a prefix is within its bounds for good, the rest of a number is plain text:
 *           digits, a fraction, an exponent in a range. Such rests need no states of state.c.
 * Idea      A range of naturals is an expression of at most 19 digits' depth, after any leading
 *           zeros. Interning makes ranges share their tails.
 * Example   [17, 345] = 1[7-9] | [2-9][0-9] | [12][0-9][0-9] | 3([0-3][0-9] | 4[0-5])
 *           The two-digit numbers from 17 are the first two parts. Three digits that begin with 1
 *           or 2 are all below 345: the third part. After a 3 the second digit decides: 0 to 3
 *           leave the last digit free, 4 bounds it by 5. [0-9] is one expression, which all parts
 *           share.
 * Exponents The ranges of exponents that schemas need most are made ahead, in a table by their
 *           bounds: the lower ones from -4 to 4, the upper ones from -4 to 7.
 * Cost      A few nodes for each digit of a bound.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "compiler/expr/node.h"

/* the lower bounds of the exponents' ranges that are made ahead: -4 to 4, or none */
#define RANGE_LOW 4
#define RANGE_HIGH 7 /* the upper ones: -4 to 7, or none */
#define RANGE_ROWS (2 * RANGE_LOW + 2)
#define RANGE_COLUMNS (RANGE_LOW + RANGE_HIGH + 2)
#define RANGES (RANGE_ROWS * RANGE_COLUMNS)

static tsl__expr letter(tsl__exprs *x, char c) { return tsl__expr_literal(x, &c, 1); }

tsl__expr tsl__number_digit(tsl__exprs *x) { return tsl__expr_range(x, '0', '9'); }

static tsl__expr some_digits(tsl__exprs *x) {
  return tsl__expr_seq(x, tsl__number_digit(x), tsl__expr_star(x, tsl__number_digit(x)));
}

static tsl__expr any_digits(tsl__exprs *x, size_t n) {
  tsl__expr e = TSL__EPS;
  while (n--) e = tsl__expr_seq(x, tsl__number_digit(x), e);
  return e;
}

/* The first digit is between the two, n - 1 others follow. */
static tsl__expr lead(tsl__exprs *x, int from, int to, size_t n) {
  if (from > to) return TSL__NONE;
  return tsl__expr_seq(x, tsl__expr_range(x, (uint8_t)from, (uint8_t)to), any_digits(x, n - 1));
}

/* n digits that are at least (up) or at most (down) `bound`. Depth: at most 19. */
static tsl__expr one_sided(tsl__exprs *x, const char *bound, size_t n, bool up) {
  if (!n) return TSL__EPS;
  tsl__expr equal = tsl__expr_seq(x, letter(x, bound[0]), one_sided(x, bound + 1, n - 1, up));
  return tsl__expr_alt(x, equal,
                       up ? lead(x, bound[0] + 1, '9', n) : lead(x, '0', bound[0] - 1, n));
}

/* n digits from low to high. Depth: at most 19. */
static tsl__expr two_sided(tsl__exprs *x, const char *low, const char *high, size_t n) {
  if (!n) return TSL__EPS;
  if (low[0] == high[0])
    return tsl__expr_seq(x, letter(x, low[0]), two_sided(x, low + 1, high + 1, n - 1));
  tsl__expr parts[3] = {tsl__expr_seq(x, letter(x, low[0]), one_sided(x, low + 1, n - 1, true)),
                        lead(x, low[0] + 1, high[0] - 1, n),
                        tsl__expr_seq(x, letter(x, high[0]), one_sided(x, high + 1, n - 1, false))};
  return tsl__expr_alt_n(x, parts, 3);
}

/* Without leading zeros, low > 0. */
static tsl__expr positive_naturals(tsl__exprs *x, int64_t low, int64_t high) {
  char from[24], to[24];
  size_t n = (size_t)snprintf(from, sizeof from, "%lld", (long long)low);
  if (high == TSL__EXPONENT_INF) {
    tsl__expr longer =
        tsl__expr_seq(x, lead(x, '1', '9', n + 1), tsl__expr_star(x, tsl__number_digit(x)));
    return tsl__expr_alt(x, one_sided(x, from, n, true), longer);
  }
  size_t last = (size_t)snprintf(to, sizeof to, "%lld", (long long)high);
  if (n == last) return two_sided(x, from, to, n);
  tsl__expr e =
      tsl__expr_alt(x, one_sided(x, from, n, true), two_sided(x, "1000000000000000000", to, last));
  while (++n < last) e = tsl__expr_alt(x, e, lead(x, '1', '9', n));
  return e;
}

/* Naturals from low to high (TSL__EXPONENT_INF: without end), leading zeros allowed. */
static tsl__expr naturals(tsl__exprs *x, int64_t low, int64_t high) {
  if (low > high) return TSL__NONE;
  if (low == 0 && high == TSL__EXPONENT_INF) return some_digits(x);
  tsl__expr e = low || high ? positive_naturals(x, low ? low : 1, high) : TSL__NONE;
  if (!low) e = tsl__expr_alt(x, e, letter(x, '0'));
  return tsl__expr_seq(x, tsl__expr_star(x, letter(x, '0')), e);
}

/* Naturals above 0 as exponents are printed: one zero may stand before a single digit. */
static tsl__expr printed_naturals(tsl__exprs *x, int64_t low, int64_t high) {
  if (low < 1) low = 1;
  if (low > high) return TSL__NONE;
  tsl__expr e = positive_naturals(x, low, high);
  if (low > 9) return e;
  return tsl__expr_alt(
      x, e, tsl__expr_seq(x, letter(x, '0'), positive_naturals(x, low, high < 9 ? high : 9)));
}

/* The integers from low to high. */
static tsl__expr integers(tsl__exprs *x, int64_t low, int64_t high, bool printed) {
  tsl__expr (*make)(tsl__exprs *, int64_t, int64_t) = printed ? printed_naturals : naturals;
  tsl__expr up = high < 0 ? TSL__NONE : make(x, low < 0 ? 0 : low, high);
  tsl__expr down = low > 0 ? TSL__NONE : make(x, high > 0 ? 0 : -high, -low);
  if (up == down)
    return tsl__expr_seq(x, tsl__expr_opt(x, tsl__expr_alt(x, letter(x, '+'), letter(x, '-'))), up);
  return tsl__expr_alt(x, tsl__expr_seq(x, tsl__expr_opt(x, letter(x, '+')), up),
                       tsl__expr_seq(x, letter(x, '-'), down));
}

static int by_size(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return left < right ? -1 : left > right;
}

tsl__expr tsl__number_exponents_in(tsl__exprs *x, tsl__exponents *e, bool printed) {
  tsl__expr all = TSL__NONE;
  int64_t from = e->low;
  qsort(e->holes, e->hole_count, sizeof e->holes[0], by_size);
  for (uint32_t i = 0; i < e->hole_count; i++) {
    if (from < e->holes[i])
      all = tsl__expr_alt(x, all, integers(x, from, e->holes[i] - 1, printed));
    from = e->holes[i] + 1;
  }
  return from <= e->high ? tsl__expr_alt(x, all, integers(x, from, e->high, printed)) : all;
}

/* Most numbers' exponents are of few ranges, of which the vocabulary's layer has the expressions.
 * The number of one by its bounds; RANGES: it is none of these. */
static unsigned range_number(int64_t low, int64_t high) {
  unsigned row = low == -TSL__EXPONENT_INF               ? 0
                 : low >= -RANGE_LOW && low <= RANGE_LOW ? (unsigned)(low + RANGE_LOW) + 1
                                                         : RANGE_ROWS;
  unsigned column = high == TSL__EXPONENT_INF                  ? 0
                    : high >= -RANGE_LOW && high <= RANGE_HIGH ? (unsigned)(high + RANGE_LOW) + 1
                                                               : RANGE_COLUMNS;
  return row < RANGE_ROWS && column < RANGE_COLUMNS ? row * RANGE_COLUMNS + column : RANGES;
}

static tsl__expr exponent_below(const tsl__exprs *x, const tsl__exponents *e) {
  unsigned range = range_number(e->low, e->high);
  while (x->parent) x = x->parent;
  return range < RANGES && x->exponents ? x->exponents[range] : TSL__NONE;
}

bool tsl__number_exponents_make(tsl__exprs *x) {
  tsl__exponents e = {.hole_count = 0};
  tsl__expr *made = tsl__exprs_alloc(x, RANGES * sizeof *made);
  if (!made) return false;
  for (int64_t low = -RANGE_LOW - 1; low <= RANGE_LOW; low++)
    for (int64_t high = -RANGE_LOW - 1; high <= RANGE_HIGH; high++) {
      e.low = low < -RANGE_LOW ? -TSL__EXPONENT_INF : low;
      e.high = high < -RANGE_LOW ? TSL__EXPONENT_INF : high;
      made[range_number(e.low, e.high)] =
          e.low <= e.high ? tsl__number_exponents_in(x, &e, false) : TSL__NONE;
    }
  x->exponents = made;
  return x->status == TSL_OK;
}

tsl__expr tsl__number_exponent(tsl__exprs *x, tsl__exponents *e) {
  if (e->low > e->high) return TSL__NONE;
  if (e->hole_count) return tsl__number_exponents_in(x, e, false);
  tsl__expr below = exponent_below(x, e);
  if (below != TSL__NONE) return below;
  tsl__known_exponent *known = &x->known_exponent;
  /* as after E, which is made after e */
  if (known->e != TSL__NONE && known->low == e->low && known->high == e->high) return known->e;
  tsl__expr made = tsl__number_exponents_in(x, e, false);
  if (x->status == TSL_OK) *known = (tsl__known_exponent){e->low, e->high, made};
  return made;
}

/* An optional exponent, as the spelling allows. */
static tsl__expr ending(tsl__exprs *x, uint32_t spelling, tsl__expr *must) {
  tsl__exponents any;
  any.low = -TSL__EXPONENT_INF, any.high = TSL__EXPONENT_INF, any.hole_count = 0;
  *must = TSL__NONE;
  if (spelling & TSL__SPELL_PLAIN) return TSL__EPS;
  *must = tsl__expr_seq(x, tsl__expr_alt(x, letter(x, 'e'), letter(x, 'E')),
                        tsl__number_exponent(x, &any));
  return tsl__expr_opt(x, *must);
}

static tsl__expr make_tail(tsl__exprs *x, tsl__number_phase phase, uint32_t spelling) {
  tsl__expr digits = tsl__expr_star(x, tsl__number_digit(x)), exponent, end, point;
  switch (phase) {
  case TSL__NUMBER_BEGIN: {
    tsl__expr zero =
        tsl__expr_seq(x, letter(x, '0'), tsl__number_free_tail(x, TSL__NUMBER_ZERO, spelling));
    return tsl__expr_alt(x, zero,
                         tsl__expr_seq(x, tsl__expr_range(x, '1', '9'),
                                       tsl__number_free_tail(x, TSL__NUMBER_WHOLE, spelling)));
  }
  case TSL__NUMBER_WHOLE:
    return tsl__expr_seq(x, digits, tsl__number_free_tail(x, TSL__NUMBER_ZERO, spelling));
  case TSL__NUMBER_ZERO:
    point = tsl__expr_seq(x, letter(x, '.'), tsl__number_free_tail(x, TSL__NUMBER_POINT, spelling));
    end = ending(x, spelling, &exponent);
    return tsl__expr_alt(x, point, spelling & TSL__SPELL_MARKED ? exponent : end);
  case TSL__NUMBER_POINT: return tsl__expr_seq(x, some_digits(x), ending(x, spelling, &exponent));
  case TSL__NUMBER_FRACTION: break;
  }
  return tsl__expr_seq(x, digits, ending(x, spelling, &exponent));
}

tsl__expr tsl__number_free_tail(tsl__exprs *x, tsl__number_phase phase, uint32_t spelling) {
  if (!spelling && x->number_tails[phase] != TSL__NONE) return x->number_tails[phase];
  tsl__expr tail = make_tail(x, phase, spelling);
  if (!spelling && x->status == TSL_OK) x->number_tails[phase] = tail;
  return tail;
}
