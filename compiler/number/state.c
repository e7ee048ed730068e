/* state.c - what has been read of a number, and what may follow.
 *
 * Problem   `[0-9.eE+-]*` says little. After 12 an exponent may still move the value anywhere, and
 *           `99` may be the beginning of 99e-2. A bound or a multiple must never be missed or lead
 *           into a dead end. There are infinitely many prefixes, and a mask looks at all those of
 *           three digits.
 * Idea      Read M, the digits so far as an integer. What follows is more digits r (j of them) and
 *           an exponent. The value is (M + 0.r) × 10^E, with E counted at the present place. So
 *           all that matters of the prefix is, for each constraint, at which E the constraint
 *           holds:
 *
 *   bounds    As long as M agrees with the digits of a bound, the bound is open. It is decided for
 *             every E but one, where the rest of the bound's digits decides. After the first
 *             different digit it is a plain limit on E. An appended digit moves the limits of E by
 *             one (before the point) or not at all (behind it).
 *   multiples M × 10^E is a multiple of u × 10^b (u not divisible by 10) from some E on ("ready"),
 *             or never. M mod u gives that E after a digit other than 0; a zero only shifts it.
 *             u = 1 (integers) has one residue, 7 has seven.
 *   excluded  A value is live while M agrees with its digits. It then forbids one E.
 *
 *           Equal records have equal futures. Constraints that can't fail any more are removed from
 *           the record, so that prefixes meet.
 * Example   Integers in [1, 100], M as the digits are read:
 *
 *             read   low    high   ready
 *             5      gone   1      0       `5`, `50`, `5e1`; a positive integer is at least 1
 *             12     gone   0      0       `12`, and 120 only with an exponent: 120e-1
 *             120    gone   -1     -1      `120e-1`
 *             123    gone   -1     0       refused: high < ready, and no further digit mends that
 *
 * Dead ends A prefix lives if for some E some r gives a member. r = 0 is a question about intervals
 *           of E. Without a multiple any interval of positive length will do, because finite
 *           decimals are dense. With one, at E the candidates are the r ≡ -M × 10^j (mod u) with j
 *           = E - b digits. That is one step of modular arithmetic for each E, up to a width at
 *           which there is always a candidate ("wide").
 * Files     side.c: the constraints of one sign. shortest.c: the fewest bytes to finish. printed.c:
 *           the bounded spellings that printers write.
 * Cost      A digit costs time in the size of u and of the bounds; a state is some 10 words.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/inner.h"

#define INF TSL__EXPONENT_INF

static int64_t one_less(int64_t exponent) {
  return exponent == INF || exponent == -INF ? exponent : exponent - 1;
}

/* ---- reading a digit ------------------------------------------------------------------------- */

static uint32_t digit_at(const tsl__decimal *d, int64_t position) {
  return position < (int64_t)d->count ? (uint32_t)(d->digits[position] - '0') : 0;
}

/* From which exponent M is a multiple, M not ending in 0. Factors of ten bring its residue the twos
 * and fives that the unit has and the residue lacks, and nothing else. */
static int64_t ready_from(const tsl__side *side, const tsl__number_state *st, uint32_t k) {
  const tsl__tracker *t = &side->trackers[k];
  tsl__nat rest;
  if (tsl__nat_is_zero(st->residue[k])) return tsl__unit_exponent(side, st, k);
  tsl__nat_divide(st->residue[k], t->odd, NULL, &rest);
  if (!tsl__nat_is_zero(&rest)) return INF;
  tsl__nat_copy(&rest, st->residue[k]);
  int64_t twos = t->twos ? (int64_t)t->twos - tsl__nat_strip(&rest, 2) : 0,
          fives = t->fives ? (int64_t)t->fives - tsl__nat_strip(&rest, 5) : 0;
  return tsl__unit_exponent(side, st, k) + tsl__most(0, tsl__most(twos, fives));
}

static void track(const tsl__side *side, tsl__number_state *st, uint32_t digit) {
  for (uint32_t k = 0; k < side->tracker_count; k++) {
    tsl__nat_push_digit_mod(st->residue[k], digit, side->trackers[k].unit);
    if (digit)
      st->ready[k] = ready_from(side, st, k);
    else if (st->phase == TSL__NUMBER_WHOLE)
      st->ready[k] = one_less(st->ready[k]);
  }
}

/* Compare a digit at the present position with the open bounds and live values, and move on. */
static void compare(const tsl__side *side, tsl__number_state *st, uint32_t digit) {
  uint32_t kept = 0;
  if (st->low_open && digit != digit_at(&side->low, st->position)) {
    st->low_open = false;
    if (digit < digit_at(&side->low, st->position)) st->low++;
  }
  if (st->high_open && digit != digit_at(&side->high, st->position)) {
    st->high_open = false;
    if (digit > digit_at(&side->high, st->position)) st->high--;
  }
  for (uint32_t i = 0; i < st->live_count; i++)
    if (digit == digit_at(&side->excluded[st->live[i].index], st->position))
      st->live[kept++] = st->live[i];
  st->live_count = kept;
  st->position++;
  /* All digits of a bound read: what follows can only be more, which an inclusive lower bound
   * allows and an exclusive upper one does not. */
  if (st->low_open && st->position >= side->low.count && !side->low_exclusive) st->low_open = false;
  if (st->high_open && st->position >= side->high.count && side->high_exclusive) {
    st->high_open = false;
    st->high--;
  }
}

void tsl__number_state_first(const tsl__side *side, tsl__number_state *st, uint32_t digit) {
  st->significant = true;
  st->position = 0;
  st->low_open = side->has_low;
  st->low = side->has_low ? tsl__decimal_magnitude(&side->low) + st->fraction : -INF;
  st->high_open = side->has_high;
  st->high = side->has_high ? tsl__decimal_magnitude(&side->high) + st->fraction : INF;
  st->live_count = 0;
  for (uint32_t i = 0; i < side->excluded_count; i++)
    if (digit_at(&side->excluded[i], 0) == digit)
      st->live[st->live_count++] =
          (tsl__live){i, tsl__decimal_magnitude(&side->excluded[i]) + st->fraction};
  compare(side, st, digit);
  for (uint32_t k = 0; k < side->tracker_count; k++) st->residue[k]->n = 0;
  track(side, st, digit);
}

static void next_digit(const tsl__side *side, tsl__number_state *st, uint32_t digit) {
  if (st->phase == TSL__NUMBER_WHOLE) {
    st->low = one_less(st->low);
    st->high = one_less(st->high);
    for (uint32_t i = 0; i < st->live_count; i++) st->live[i].at--;
  }
  compare(side, st, digit);
  track(side, st, digit);
}

/* ---- canonical records ----------------------------------------------------------------------- */

/* With bounded digits, what the bounds leave of them: each digit before the point moves E. */
static void settle_printed(const tsl__side *side, tsl__number_state *st) {
  bool whole = st->phase == TSL__NUMBER_WHOLE;
  if (whole && !st->single) st->left = tsl__least(st->left, tsl__most(st->high, 0));
  int64_t least = st->single ? side->least_exponent : 0,
          most = tsl__most(st->single ? side->most_exponent : 0, whole ? st->left : 0);
  if (!st->low_open && st->low <= least) st->low = -INF;
  if (!st->high_open && st->high >= most) st->high = INF;
}

/* Without exponents only E = 0 counts at the end: limits that hold there for good are removed. */
static void settle_plain(const tsl__side *side, tsl__number_state *st) {
  bool fraction = st->phase != TSL__NUMBER_WHOLE;
  int64_t enough = 0;
  if (!st->low_open && st->low <= 0) st->low = -INF;
  if (!st->high_open && fraction && st->high >= 0) st->high = INF;
  for (uint32_t k = 0; k < side->tracker_count; k++) {
    if (st->ready[k] <= 0)
      st->ready[k] = -INF;
    else if (fraction)
      st->ready[k] = INF;
    enough = tsl__most(enough, -side->trackers[k].exponent);
  }
  /* no digit other than 0 can be part of a multiple from there on */
  /* and of what was read: printed.c asks whether some of it stands there already */
  st->fraction = tsl__least(st->fraction, enough + tsl__is_printed(side));
}

/* Take out of the record what has no influence on any future. */
void tsl__number_state_settle(const tsl__side *side, tsl__number_state *st) {
  int64_t longest = 0;
  if (!st->significant) return;
  if (tsl__is_printed(side)) settle_printed(side, st);
  if (tsl__no_exponent(side, st)) settle_plain(side, st);
  /* A multiple is far enough from 0 for this lower bound, now and after any further digit. */
  if (side->has_multiple && !st->low_open &&
      st->low <= tsl__least(st->ready[0], tsl__unit_exponent(side, st, 0) + 1))
    st->low = -INF;
  if (st->low_open) longest = side->low.count;
  if (st->high_open) longest = tsl__most(longest, side->high.count);
  for (uint32_t i = 0; i < st->live_count; i++)
    longest = tsl__most(longest, side->excluded[st->live[i].index].count);
  st->position = tsl__least(st->position, longest);
  if (!side->tracker_count) st->fraction = 0;
}

/* ---- which exponents may follow -------------------------------------------------------------- */

void tsl__number_state_exponents(const tsl__side *side, const tsl__number_state *st,
                                 tsl__exponents *out) {
  out->hole_count = 0;
  out->low = -INF, out->high = INF;
  if (!st->significant) {
    if (!side->zero) out->low = INF, out->high = -INF;
    return;
  }
  out->low = st->low_open ? st->low + 1 : st->low; /* an open lower bound is above M */
  out->high = st->high;
  for (uint32_t k = 0; k < side->tracker_count; k++) {
    if (k == 0 && side->has_multiple)
      out->low = tsl__most(out->low, st->ready[0]);
    else
      out->high = tsl__least(out->high, one_less(st->ready[k]));
  }
  if (out->low == INF || out->high == -INF) out->low = INF, out->high = -INF; /* never */
  for (uint32_t i = 0; i < st->live_count; i++) {
    int64_t at = st->live[i].at;
    if (st->position >= side->excluded[st->live[i].index].count && at >= out->low &&
        at <= out->high)
      out->holes[out->hole_count++] = at;
  }
}

/* Is one of the exponents in from … to? */
bool tsl__exponents_meet(const tsl__exponents *e, int64_t from, int64_t to) {
  from = tsl__most(from, e->low), to = tsl__least(to, e->high);
  if (from > to) return false;
  uint32_t inside = 0;
  for (uint32_t i = 0; i < e->hole_count; i++) inside += e->holes[i] >= from && e->holes[i] <= to;
  return to - from >= (int64_t)inside;
}

bool tsl__number_state_nullable(const tsl__side *side, const tsl__number_state *st) {
  tsl__exponents e;
  bool marked = st->phase == TSL__NUMBER_FRACTION;
  if (st->phase == TSL__NUMBER_BEGIN || st->phase == TSL__NUMBER_POINT ||
      ((side->spelling & TSL__SPELL_MARKED) && !marked))
    return false;
  tsl__number_state_exponents(side, st, &e);
  return tsl__exponents_meet(&e, 0, 0);
}

/* ---- is there a member with j more digits? --------------------------------------------------- */

/* The first j digits of d after `position`; *exact: no others follow. */
static void suffix(const tsl__decimal *d, int64_t position, int64_t j, tsl__nat *out, bool *exact) {
  int64_t there = tsl__most(0, (int64_t)d->count - position), take = tsl__least(there, j);
  tsl__nat_from_digits(out, d->digits + (there ? position : 0), (size_t)take);
  tsl__nat_scale10(out, (uint64_t)(j - take));
  *exact = there <= j;
}

/* a = a × 10^power mod m, a < m. */
static void shift_mod(tsl__nat *a, int64_t power, const tsl__nat *m) {
  if (m->n == 1) {
    for (; power > 0; power--) tsl__nat_push_digit_mod(a, 0, m);
    return;
  }
  for (int64_t part; power > 0; power -= part) {
    tsl__nat scaled;
    part = tsl__least(power, 4000); /* with the 1,000 digits of a modulus within a tsl__nat */
    tsl__nat_copy(&scaled, a);
    tsl__nat_scale10(&scaled, (uint64_t)part);
    tsl__nat_divide(&scaled, m, NULL, a);
  }
}

/* The r of j digits, at exponent E, for which (M × 10^j + r) × 10^(E - j) is a multiple of tracker
 * k: r ≡ *rest (mod *step). False: none. */
static bool progression(const tsl__side *side, const tsl__number_state *st, uint32_t k, int64_t j,
                        int64_t exponent, tsl__nat *step, tsl__nat *rest) {
  const tsl__tracker *t = &side->trackers[k];
  /* digits of r that lie below the unit: they must be 0 */
  int64_t below = j - (exponent - tsl__unit_exponent(side, st, k));
  if (below > j) { /* all of them, and M itself has to be a multiple */
    tsl__nat_set(step, 1);
    tsl__nat_scale10(step, (uint64_t)j);
    rest->n = 0;
    return exponent >= st->ready[k];
  }
  uint64_t n = t->unit->n;
  if (!tsl__side_spend(side, n * (n + (uint64_t)j / 9) + (uint64_t)j / 2)) return false;
  if (below < 0) { /* the place itself brings some of the unit's twos and fives */
    tsl__nat_copy(step, t->odd);
    tsl__nat_mul_power(step, 2, t->twos + below);
    tsl__nat_mul_power(step, 5, t->fives + below);
  } else {
    tsl__nat_copy(step, t->unit);
  }
  tsl__nat_divide(st->residue[k], step, NULL, rest);
  shift_mod(rest, j - tsl__most(below, 0), step);
  if (!tsl__nat_is_zero(rest)) tsl__nat_sub(rest, step, rest);
  if (below > 0) {
    tsl__nat_scale10(step, (uint64_t)below);
    tsl__nat_scale10(rest, (uint64_t)below);
  }
  return true;
}

/* Is r (j digits) ruled out by non-multiple k? With `all`: are r, r + step, r + 2 step … all ruled
 * out? */
static bool hits(const tsl__side *side, const tsl__number_state *st, uint32_t k, int64_t j,
                 int64_t exponent, const tsl__nat *r, const tsl__nat *all) {
  tsl__nat step, rest, left;
  if (!progression(side, st, k, j, exponent, &step, &rest)) return false;
  tsl__nat_divide(r, &step, NULL, &left);
  if (tsl__nat_compare(&left, &rest)) return false;
  if (!all) return true;
  tsl__nat_divide(all, &step, NULL, &left);
  return tsl__nat_is_zero(&left);
}

static bool ruled_out(const tsl__side *side, const tsl__number_state *st, int64_t j,
                      int64_t exponent, const tsl__nat *r, const tsl__nat *all) {
  for (uint32_t k = side->has_multiple; k < side->tracker_count; k++)
    if (hits(side, st, k, j, exponent, r, all)) return true;
  for (uint32_t i = 0; i < st->live_count && !all; i++) {
    tsl__nat rest;
    bool exact;
    if (st->live[i].at != exponent) continue;
    suffix(&side->excluded[st->live[i].index], st->position, j, &rest, &exact);
    if (exact && !tsl__nat_compare(r, &rest)) return true;
  }
  return false;
}

/* The least and greatest r of j digits that meet the bounds at this exponent. False: none. */
static bool digit_range(const tsl__side *side, const tsl__number_state *st, int64_t j,
                        int64_t exponent, tsl__nat *from, tsl__nat *to) {
  tsl__nat one;
  bool exact;
  if (exponent < st->low || exponent > st->high) return false;
  tsl__nat_set(&one, 1);
  from->n = 0;
  if (st->low_open && exponent == st->low) {
    suffix(&side->low, st->position, j, from, &exact);
    if (!exact || side->low_exclusive) tsl__nat_add(from, from, &one);
  }
  tsl__nat_copy(to, &one);
  tsl__nat_scale10(to, (uint64_t)j);
  if (st->high_open && exponent == st->high) {
    suffix(&side->high, st->position, j, to, &exact);
    if (exact && side->high_exclusive) {
      if (tsl__nat_is_zero(to)) return false;
      tsl__nat_sub(to, to, &one);
    }
  } else {
    tsl__nat_sub(to, to, &one);
  }
  return tsl__nat_compare(from, to) <= 0;
}

/* Is every multiple with j more digits one that it must not be, because the last digit stands too
 * high? */
static bool too_coarse(const tsl__side *side, const tsl__number_state *st, int64_t j,
                       int64_t exponent) {
  for (uint32_t k = side->has_multiple; k < side->tracker_count; k++)
    if (side->trackers[k].implied &&
        exponent - tsl__unit_exponent(side, st, k) - j >= side->trackers[k].depth)
      return true;
  return false;
}

/* Do j more digits and then this exponent (at the present place) make a member? */
bool tsl__number_state_reaches(const tsl__side *side, const tsl__number_state *st, int64_t j,
                               int64_t exponent) {
  tsl__nat r, to, step, rest, left;
  if (too_coarse(side, st, j, exponent) || !digit_range(side, st, j, exponent, &r, &to) ||
      !tsl__side_spend(side, side->limbs / 8))
    return false;
  tsl__nat_set(&step, 1);
  if (side->has_multiple) {
    if (!progression(side, st, 0, j, exponent, &step, &rest)) return false;
    tsl__nat_divide(&r, &step, NULL, &left);
    if (tsl__nat_compare(&left, &rest) > 0) tsl__nat_add(&rest, &rest, &step);
    tsl__nat_sub(&rest, &rest, &left);
    if (!tsl__nat_add(&r, &r, &rest)) return false;
  }
  if (ruled_out(side, st, j, exponent, &r, &step)) return false;
  for (; tsl__nat_compare(&r, &to) <= 0 && tsl__side_spend(side, side->limbs / 8);
       tsl__nat_add(&r, &r, &step))
    if (!ruled_out(side, st, j, exponent, &r, NULL)) return true;
  return false;
}

/* ---- can the prefix be finished? ------------------------------------------------------------- */

/* At an exponent where a bound is open, with as many digits as it takes. */
static bool open_bound_lives(const tsl__side *side, const tsl__number_state *st, int64_t exponent) {
  bool low = st->low_open && exponent == st->low, high = st->high_open && exponent == st->high,
       exact;
  int64_t digits = tsl__most(low ? (int64_t)side->low.count - st->position : 0,
                             high ? (int64_t)side->high.count - st->position : 0);
  tsl__nat from, to;
  if (exponent < st->low || exponent > st->high) return false;
  digits = tsl__most(digits, 0);
  from.n = 0;
  if (low) suffix(&side->low, st->position, digits, &from, &exact);
  if (high) {
    suffix(&side->high, st->position, digits, &to, &exact);
    int order = tsl__nat_compare(&from, &to);
    if (order > 0) return false;
    /* both bounds are one value, which is a member; or M is the bound, no digit may follow */
    if (order == 0) return low;
  }
  if (!side->has_multiple) return true;
  int64_t units = exponent - tsl__unit_exponent(side, st, 0);
  return units > 0 &&
         (units >= digits + side->spread || tsl__number_state_reaches(side, st, units, exponent));
}

/* Can the prefix be finished with an exponent (at the present place) in from … to? */
static bool lives(const tsl__side *side, const tsl__number_state *st, int64_t from, int64_t to) {
  tsl__exponents e;
  tsl__number_state_exponents(side, st, &e);
  if (tsl__exponents_meet(&e, from, to)) return true;
  if (st->low_open && st->low >= from && st->low <= to && open_bound_lives(side, st, st->low))
    return true;
  if (st->high_open && st->high >= from && st->high <= to && open_bound_lives(side, st, st->high))
    return true;
  from = tsl__most(from, st->low_open ? st->low + 1 : st->low);
  to = tsl__least(to, st->high_open ? st->high - 1 : st->high);
  if (from > to || !side->has_multiple) return from <= to;
  int64_t unit = tsl__unit_exponent(side, st, 0);
  from = tsl__most(from,
                   unit + 1); /* further down no digit but 0 can follow, which was checked above */
  if (from > to || to >= unit + side->spread) return from <= to;
  for (; to >= from && tsl__side_spend(side, 1); to--)
    if (tsl__number_state_reaches(side, st, to - unit, to)) return true;
  return false;
}

static size_t residue_size(const tsl__tracker *t) {
  return offsetof(tsl__nat, limb) + (t->unit->n + 1) * sizeof(uint32_t);
}

size_t tsl__number_state_size(const tsl__side *side) {
  size_t size = sizeof(tsl__number_state) + side->excluded_count * sizeof(tsl__live);
  for (uint32_t k = 0; k < side->tracker_count; k++) size += residue_size(&side->trackers[k]);
  return size;
}

tsl__number_state *tsl__number_state_place(const tsl__side *side, void *memory) {
  tsl__number_state *st = memory;
  st->tried = 0;
  st->live = (tsl__live *)(st + 1);
  char *at = (char *)(st->live + side->excluded_count);
  for (uint32_t k = 0; k < side->tracker_count; k++) {
    st->residue[k] = (tsl__nat *)(void *)at;
    at += residue_size(&side->trackers[k]);
  }
  return st;
}

void tsl__number_state_begin(const tsl__side *side, tsl__number_state *st) {
  st->phase = TSL__NUMBER_BEGIN;
  st->significant = st->low_open = st->high_open = false;
  st->fraction = st->position = st->low = st->high = st->left = 0;
  st->single = false;
  st->live_count = 0;
  for (uint32_t k = 0; k < side->tracker_count; k++) st->residue[k]->n = 0, st->ready[k] = 0;
}

void tsl__number_state_begin_small(const tsl__side *side, tsl__number_state *st, int64_t zeros,
                                   uint32_t digit) {
  tsl__number_state_begin(side, st);
  st->phase = TSL__NUMBER_FRACTION;
  st->fraction = zeros + 1;
  if (tsl__is_printed(side)) st->left = side->fraction_max - st->fraction;
  tsl__number_state_first(side, st, digit);
}

bool tsl__number_small_lives(const tsl__side *side, tsl__number_state *st, int64_t fraction) {
  tsl__number_phase phase = st->phase;
  int64_t before = st->fraction, left = st->left;
  bool live = false, printed = tsl__is_printed(side);
  if (!printed && !tsl__never_exponent(side)) return side->positive;
  if (!side->positive) return false;
  int64_t from = printed ? tsl__number_zeros_least(side, fraction) : fraction,
          to = printed ? tsl__number_zeros_most(side) : fraction;
  for (int64_t zeros = from; zeros <= to && !live; zeros++)
    for (uint32_t digit = 1; digit <= 9 && !live; digit++) {
      tsl__number_state_begin_small(side, st, zeros, digit);
      live = printed ? tsl__number_printed_viable(side, st) : lives(side, st, -INF, 0);
    }
  tsl__number_state_begin(side, st);
  st->phase = phase;
  st->fraction = before;
  st->left = left;
  return live;
}

bool tsl__number_state_viable(const tsl__side *side, tsl__number_state *st) {
  bool whole = st->phase == TSL__NUMBER_ZERO || st->phase == TSL__NUMBER_WHOLE;
  if (!st->significant)
    return side->zero || (!(side->spelling & TSL__SPELL_DIGITS) &&
                          tsl__number_small_lives(side, st, st->fraction));
  if (tsl__is_printed(side)) return tsl__number_printed_viable(side, st);
  if (!tsl__never_exponent(side)) return lives(side, st, -INF, INF);
  return lives(side, st, 0, whole ? INF : 0);
}

static bool push_digit(const tsl__side *side, tsl__number_state *st, uint32_t digit) {
  bool whole = st->phase == TSL__NUMBER_BEGIN || st->phase == TSL__NUMBER_WHOLE;
  if (st->phase == TSL__NUMBER_ZERO) return false;
  if (tsl__is_printed(side)) {
    if (st->phase == TSL__NUMBER_BEGIN) st->left = side->whole_max;
    if (st->left-- == 0) return false;
    if (whole) st->single = st->phase == TSL__NUMBER_BEGIN && digit;
  }
  if (!whole) st->fraction++;
  st->phase = !whole                     ? TSL__NUMBER_FRACTION
              : digit || st->significant ? TSL__NUMBER_WHOLE
                                         : TSL__NUMBER_ZERO;
  if (st->significant)
    next_digit(side, st, digit);
  else if (digit)
    tsl__number_state_first(side, st, digit);
  return true;
}

bool tsl__number_state_push(const tsl__side *side, tsl__number_state *st, uint8_t byte) {
  if (!tsl__side_spend(side, side->limbs)) return false;
  if (byte >= '0' && byte <= '9') {
    if (!push_digit(side, st, (uint32_t)(byte - '0'))) return false;
  } else if (byte == '.' && (st->phase == TSL__NUMBER_ZERO || st->phase == TSL__NUMBER_WHOLE) &&
             !(side->spelling & TSL__SPELL_DIGITS)) {
    st->phase = TSL__NUMBER_POINT;
    st->left = side->fraction_max;
  } else {
    return false;
  }
  if (st->significant && !side->positive) return false;
  tsl__number_state_settle(side, st);
  return tsl__number_state_viable(side, st);
}

bool tsl__number_state_free(const tsl__side *side, const tsl__number_state *st) {
  if (side->tracker_count) return false;
  if (!st->significant)
    return side->zero && side->positive && !side->has_low && !side->has_high &&
           !side->excluded_count;
  return !st->low_open && !st->high_open && st->low == -INF && st->high == INF && !st->live_count;
}
