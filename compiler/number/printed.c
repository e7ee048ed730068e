/* printed.c - numbers as printers of JSON write them, in bounded length.
 *
 * Problem   RFC 8259 lets 10 be written 1e1, 10.0, 0.10e2 and in endless other ways. Programs read
 *           few of them: an integer type takes digits alone. And a model that may add digits or
 *           zeros for ever sometimes does.
 * Idea      PRINTED is one more condition on the spelling, beside DIGITS and MARKED (number.h):
 *   integers  Digits. A spec of integers gets DIGITS as well, from those who ask for it.
 *   others    Digits, perhaps a fraction. An exponent stands after one digit other than 0 and its
 *             fraction, as in 1.5e-07. It has a sign or none, is not 0, and has no zero in front.
 *             The one exception is the zero that C and Python write before a single digit.
 *   length    Before the point stand at most 309 digits, behind it at most 24, and exponents go
 *             from -324 to 308. That is what a double needs. The constraints may need more: then
 *             17 digits more than the longest number of the schema.
 *             A value of equal bounds, as `const` makes, is no automaton but a list of texts.
 *           The automaton of state.c counts the digits that are left. It also knows whether an
 *           exponent may follow.
 * Example   Of {"minimum": 0.5}: 0.5, 0.50, 5e-1, 12, 1e+22; not 05e-1, 50e-2, 12e0, 1e022.
 * Dead ends A prefix lives if some exponent and some of the digits that are left make a member.
 *           Zeros alone mostly do. Otherwise each exponent is tried with all the digits that are
 *           left, which is one step of modular arithmetic (tsl__number_state_reaches).
 * Values    None that a double holds is lost, and none that the schema names.
 * Cost      A prefix costs at most some 600 such steps, mostly none.
 * Tested by tests/number/test_printed.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/number/inner.h"
#include "compiler/number/parts.h"

#define WHOLE_DIGITS 309    /* of the largest double */
#define FRACTION_DIGITS 24  /* 17 significant ones after 7 zeros: smaller numbers have exponents */
#define SIGNIFICANT 17      /* digits that distinguish any two doubles */
#define EXPONENT_LEAST -324 /* of the smallest double */
#define EXPONENT_MOST 308
#define WRITTEN_OUT 1000 /* digits of a constraint on one side of the point */
/* Printers write exponents for numbers below 10^-4, and from 10^16 on. */
#define SMALL -4
#define LARGE 16

/* ---- limits ---------------------------------------------------------------------------------- */

/* The highest and the lowest places of digits. */
typedef struct extent {
  int64_t highest, lowest;
} extent;

static void extend(extent *e, const tsl__decimal *d, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (!d[i].count) continue;
    e->highest = tsl__most(e->highest, tsl__decimal_magnitude(&d[i]));
    e->lowest = tsl__least(e->lowest, d[i].exponent);
  }
}

static extent extent_of(const tsl__number_spec *s) {
  extent e = {0, 0};
  extend(&e, &s->min, s->has_min);
  extend(&e, &s->max, s->has_max);
  extend(&e, s->multiples, s->multiple_count);
  extend(&e, s->non_multiples, s->non_multiple_count);
  extend(&e, s->excluded, s->excluded_count);
  return e;
}

bool tsl__number_printable(const tsl__number_spec *spec) {
  extent e = extent_of(spec);
  return e.highest <= WRITTEN_OUT && e.lowest >= -WRITTEN_OUT;
}

void tsl__number_printed_limits(tsl__side *side, const tsl__number_spec *spec) {
  extent e = extent_of(spec);
  side->whole_max = tsl__most(WHOLE_DIGITS, e.highest + 1 + SIGNIFICANT);
  side->fraction_max = tsl__most(FRACTION_DIGITS, SIGNIFICANT - e.lowest);
  side->least_exponent = tsl__least(EXPONENT_LEAST, e.lowest - SIGNIFICANT);
  side->most_exponent = tsl__most(EXPONENT_MOST, e.highest + SIGNIFICANT);
}

int64_t tsl__number_zeros_least(const tsl__side *side, int64_t from) {
  if (!side->has_high) return from;
  return tsl__most(from, -tsl__decimal_magnitude(&side->high) - 1);
}

int64_t tsl__number_zeros_most(const tsl__side *side) {
  int64_t most = side->fraction_max - 1;
  if (side->has_low) most = tsl__least(most, -tsl__decimal_magnitude(&side->low) - 1);
  if (side->has_multiple) {
    const tsl__tracker *t = &side->trackers[0];
    most = tsl__least(most, -(t->exponent + (int64_t)tsl__nat_digit_count(t->unit)));
  }
  return most;
}

/* ---- can the prefix be finished? ------------------------------------------------------------- */

/* With an exponent from `from` to `to`, and `behind` digits after the place where it counts? The
 * digits before that place are counted by the exponent if `whole`. */
static bool some_reach(const tsl__side *side, tsl__number_state *st, int64_t from, int64_t to,
                       bool whole, int64_t behind) {
  from = tsl__most(from, st->low), to = tsl__least(to, st->high);
  for (int64_t i = 0; i <= to - from; i++, st->tried++) {
    /* few digits do mostly; and of exponents the large ones */
    int64_t e = whole ? from + i : to - i;
    if (tsl__number_state_reaches(side, st, whole ? e + behind : behind, e)) return true;
  }
  return false;
}

bool tsl__number_printed_viable(const tsl__side *side, tsl__number_state *st) {
  tsl__exponents e;
  bool whole = st->phase == TSL__NUMBER_WHOLE, power = st->single && !tsl__never_exponent(side);
  int64_t behind = !whole ? st->left : side->spelling & TSL__SPELL_DIGITS ? 0 : side->fraction_max;
  int64_t most = whole ? st->left : 0, low = side->least_exponent, high = side->most_exponent;
  tsl__number_state_exponents(side, st, &e);
  if (tsl__exponents_meet(&e, 0, most)) return true;
  if (power && tsl__exponents_meet(&e, low, high)) return true;
  if (some_reach(side, st, 0, most, whole, behind)) return true;
  return power && some_reach(side, st, low, high, false, behind);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static tsl__expr digits(tsl__exprs *x, int64_t least, int64_t most) {
  return tsl__expr_repeat(x, tsl__number_digit(x), (uint32_t)least, (uint32_t)most);
}

tsl__expr tsl__number_printed_exponent(tsl__exprs *x, const tsl__side *side, tsl__exponents *e) {
  e->low = tsl__most(e->low, side->least_exponent);
  e->high = tsl__least(e->high, side->most_exponent);
  return e->low <= e->high ? tsl__number_exponents_in(x, e, true) : TSL__NONE;
}

static tsl__expr power_of(tsl__exprs *x, const tsl__side *side) {
  tsl__exponents any;
  tsl__bytes letters = {{0}};
  any.low = -TSL__EXPONENT_INF, any.high = TSL__EXPONENT_INF, any.hole_count = 0;
  tsl__bytes_add(&letters, 'e');
  tsl__bytes_add(&letters, 'E');
  return tsl__expr_seq(x, tsl__expr_bytes(x, &letters),
                       tsl__number_printed_exponent(x, side, &any));
}

tsl__expr tsl__number_printed_tail(tsl__exprs *x, const tsl__side *side,
                                   const tsl__number_state *st) {
  bool marked = side->spelling & TSL__SPELL_MARKED, alone = side->spelling & TSL__SPELL_DIGITS;
  tsl__expr point = tsl__expr_literal(x, ".", 1),
            fraction =
                alone ? TSL__NONE : tsl__expr_seq(x, point, digits(x, 1, side->fraction_max)),
            power = st->single && !tsl__never_exponent(side) ? power_of(x, side) : TSL__NONE,
            perhaps = tsl__expr_opt(x, power);
  tsl__expr end = marked ? fraction : tsl__expr_opt(x, fraction);
  switch (st->phase) {
  case TSL__NUMBER_BEGIN: {
    tsl__number_state zero = {.phase = TSL__NUMBER_ZERO}, first = {.phase = TSL__NUMBER_WHOLE,
                                                                   .left = side->whole_max - 1,
                                                                   .single = true};
    return tsl__expr_alt(
        x, tsl__expr_seq(x, tsl__expr_literal(x, "0", 1), tsl__number_printed_tail(x, side, &zero)),
        tsl__expr_seq(x, tsl__expr_range(x, '1', '9'), tsl__number_printed_tail(x, side, &first)));
  }
  case TSL__NUMBER_ZERO: return end;
  case TSL__NUMBER_WHOLE:
    if (power == TSL__NONE) return tsl__expr_seq(x, digits(x, 0, st->left), end);
    /* more digits, and then no exponent; or none */
    return tsl__expr_alt(
        x, st->left ? tsl__expr_seq(x, digits(x, 1, st->left), end) : TSL__NONE,
        tsl__expr_alt(x, tsl__expr_seq(x, fraction, perhaps), marked ? power : perhaps));
  case TSL__NUMBER_POINT: return tsl__expr_seq(x, digits(x, 1, st->left), perhaps);
  case TSL__NUMBER_FRACTION: break;
  }
  return tsl__expr_seq(x, digits(x, 0, st->left), perhaps);
}

tsl__expr tsl__number_printed_free(tsl__exprs *x, uint32_t spelling) {
  static const tsl__number_spec all = {.spelling = 0};
  tsl__side side = {.spelling = spelling};
  tsl__number_state begin = {.phase = TSL__NUMBER_BEGIN};
  tsl__number_printed_limits(&side, &all);
  return tsl__number_printed_tail(x, &side, &begin);
}

/* ---- one value ------------------------------------------------------------------------------- */

static tsl__expr zeros(tsl__exprs *x, int64_t n) {
  char text[WHOLE_DIGITS];
  memset(text, '0', (size_t)n);
  return tsl__expr_literal(x, text, (size_t)n);
}

static tsl__expr part(tsl__exprs *x, const tsl__decimal *d, int64_t from, int64_t to) {
  return tsl__expr_literal(x, d->digits + from, (size_t)(to - from));
}

/* 120, 1.5, 0.002: without an exponent. */
static tsl__expr positional(tsl__exprs *x, const tsl__decimal *d) {
  int64_t whole = tsl__decimal_magnitude(d) + 1, count = d->count;
  tsl__expr point = tsl__expr_literal(x, ".", 1);
  if (whole >= count) return tsl__expr_seq(x, part(x, d, 0, count), zeros(x, whole - count));
  if (whole > 0)
    return tsl__expr_seq(x, part(x, d, 0, whole),
                         tsl__expr_seq(x, point, part(x, d, whole, count)));
  return tsl__expr_seq(x, tsl__expr_literal(x, "0.", 2),
                       tsl__expr_seq(x, zeros(x, -whole), part(x, d, 0, count)));
}

/* 1.5e-7 and 1.5E-07. */
static tsl__expr with_exponent(tsl__exprs *x, const tsl__decimal *d) {
  int64_t power = tsl__decimal_magnitude(d);
  tsl__exponents only;
  tsl__bytes letters = {{0}};
  only.low = only.high = power, only.hole_count = 0;
  tsl__bytes_add(&letters, 'e');
  tsl__bytes_add(&letters, 'E');
  tsl__expr tail =
      tsl__expr_seq(x, tsl__expr_bytes(x, &letters), tsl__number_exponents_in(x, &only, true));
  if (d->count > 1)
    tail = tsl__expr_seq(x, tsl__expr_literal(x, ".", 1),
                         tsl__expr_seq(x, part(x, d, 1, d->count), tail));
  return tsl__expr_seq(x, part(x, d, 0, 1), tail);
}

tsl__expr tsl__number_listed(tsl__exprs *x, const tsl__number_spec *spec) {
  const tsl__decimal *d = &spec->min;
  tsl__expr all = d->count ? TSL__NONE : tsl__expr_literal(x, "0", 1);
  if (d->count) {
    int64_t magnitude = tsl__decimal_magnitude(d);
    bool fits = magnitude < WHOLE_DIGITS && magnitude >= -FRACTION_DIGITS,
         whole = spec->integer && fits;
    if (fits) all = positional(x, d);
    if (!whole && (magnitude < SMALL || magnitude >= LARGE))
      all = tsl__expr_alt(x, all, with_exponent(x, d));
    if (d->negative) all = tsl__expr_seq(x, tsl__expr_literal(x, "-", 1), all);
  }
  if (spec->own && !(spec->spelling & TSL__SPELL_DIGITS))
    all = tsl__expr_alt(x, all, tsl__expr_literal(x, spec->own, spec->own_length));
  return all;
}
