/* side.c - the constraints on a number, seen from one sign.
 *
 * Problem   A spec speaks of values with signs, but digits are read after the sign.
 * Idea      Each sign gets a side of its own, in which all magnitudes are positive. For "-", the
 *           upper bound of a negative number becomes the lower bound of its magnitude.
 * Example   Of -5 <= x < 3 the side of "-" has the magnitudes up to 5, inclusive, and the side of
 *           "+" those below 3. Of {"maximum": -2} the side of "-" has the magnitudes from 2 on,
 *           and the side of "+" has none: no number without a sign is offered.
 * Trackers  Each multiple has one. It keeps the multiple's digits as a unit, and how many twos and
 *           fives are in that. 7.5 is the unit 75 at exponent -1, with two fives and the rest 3.
 * Cost      Once for each sign of a spec there is a division of the units for each non-multiple.
 *           There is also a pass over a unit for each 29 twos and 12 fives in it.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/inner.h"

static const tsl__nat *keep(tsl__arena *arena, const tsl__nat *a) {
  return tsl__arena_copy(arena, a, offsetof(tsl__nat, limb) + a->n * sizeof a->limb[0]);
}

/* `odd`: what is left of tracker 0's unit without its factors 2 and 5, or 1; set by tracker 0. */
static bool make_tracker(tsl__tracker *t, tsl__arena *arena, const tsl__decimal *d, bool multiple,
                         tsl__nat *odd) {
  tsl__nat unit, rest, left;
  if (!tsl__nat_from_digits(&unit, d->digits, d->count)) return false;
  tsl__nat_copy(&rest, &unit);
  t->twos = tsl__nat_strip(&rest, 2);
  t->fives = tsl__nat_strip(&rest, 5);
  t->depth = t->twos > t->fives ? t->twos : t->fives;
  if (multiple) tsl__nat_copy(odd, &rest);
  tsl__nat_divide(odd, &rest, NULL, &left);
  t->implied = tsl__nat_is_zero(&left);
  t->exponent = d->exponent;
  t->unit = keep(arena, &unit);
  t->odd = keep(arena, &rest);
  return t->unit && t->odd;
}

/* Numbers of so many limbs in all cost nothing that is worth counting. */
#define FEW_LIMBS 24

static uint32_t limbs_of(const tsl__number_spec *spec) {
  uint64_t digits = spec->min.count + (uint64_t)spec->max.count;
  for (uint32_t i = 0; i < spec->multiple_count; i++) digits += spec->multiples[i].count;
  for (uint32_t i = 0; i < spec->non_multiple_count; i++) digits += spec->non_multiples[i].count;
  for (uint32_t i = 0; i < spec->excluded_count; i++) digits += spec->excluded[i].count;
  return digits > 9 * FEW_LIMBS ? (uint32_t)(digits / 9) : 0;
}

static void make_bounds(tsl__side *side, const tsl__number_spec *spec, bool negative) {
  bool has_low = negative ? spec->has_max : spec->has_min,
       has_high = negative ? spec->has_min : spec->has_max;
  tsl__decimal low = negative ? tsl__decimal_negate(spec->max) : spec->min,
               high = negative ? tsl__decimal_negate(spec->min) : spec->max;
  side->has_low = has_low && tsl__decimal_compare(&low, &tsl__decimal_zero) > 0;
  side->low = low;
  side->low_exclusive = negative ? spec->max_exclusive : spec->min_exclusive;
  side->positive = !has_high || tsl__decimal_compare(&high, &tsl__decimal_zero) > 0;
  side->has_high = has_high && side->positive;
  side->high = high;
  side->high_exclusive = negative ? spec->min_exclusive : spec->max_exclusive;
  if (!side->has_low || !spec->multiple_count) return;
  /* m is the least member anyway */
  int order = tsl__decimal_compare(&side->low, &spec->multiples[0]);
  if (order < 0 || (!order && !side->low_exclusive)) side->has_low = false;
}

static tsl_status make_excluded(tsl__side *side, tsl__arena *arena, const tsl__number_spec *spec,
                                bool negative) {
  if (!spec->excluded_count) return TSL_OK;
  tsl__decimal *list = tsl__arena_alloc(arena, spec->excluded_count * sizeof *list);
  if (!list) return TSL_ERR_NO_MEMORY;
  for (uint32_t i = 0; i < spec->excluded_count; i++)
    if (spec->excluded[i].count && spec->excluded[i].negative == negative)
      list[side->excluded_count++] = tsl__decimal_abs(spec->excluded[i]);
  side->excluded = list;
  return TSL_OK;
}

tsl_status tsl__side_make(tsl__side *side, tsl__exprs *x, tsl__arena *arena,
                          const tsl__number_spec *spec, bool negative) {
  memset(side, 0, sizeof *side);
  side->x = x;
  side->limbs = limbs_of(spec);
  side->spelling = spec->spelling;
  if (tsl__is_printed(side)) tsl__number_printed_limits(side, spec);
  side->zero = tsl__number_admits(spec, &tsl__decimal_zero);
  make_bounds(side, spec, negative);
  /* digits alone are integers: nothing is left to track */
  bool integral = tsl__is_printed(side) && (spec->spelling & TSL__SPELL_DIGITS) &&
                  spec->multiple_count &&
                  tsl__decimal_equal(&spec->multiples[0], &tsl__decimal_one);
  side->has_multiple = spec->multiple_count > 0 && !integral;
  tsl__nat odd;
  tsl__nat_set(&odd, 1);
  if (side->has_multiple &&
      !make_tracker(&side->trackers[side->tracker_count++], arena, &spec->multiples[0], true, &odd))
    return TSL_ERR_NO_MEMORY;
  for (uint32_t i = 0;
       i < spec->non_multiple_count && tsl__side_spend(side, 16 * (uint64_t)side->limbs); i++)
    if (!make_tracker(&side->trackers[side->tracker_count++], arena, &spec->non_multiples[i], false,
                      &odd))
      return TSL_ERR_NO_MEMORY;
  /* 2^16 × 1,025 multiples in a row are never all ruled out (number.c): 8 digits */
  if (side->has_multiple)
    side->spread = (uint32_t)tsl__nat_digit_count(side->trackers[0].unit) +
                   (spec->non_multiple_count || spec->excluded_count ? 9 : 0);
  if (side->limbs && x && tsl__exprs_status(x)) return tsl__exprs_status(x);
  return make_excluded(side, arena, spec, negative);
}

static bool lists_equal(const tsl__decimal *a, const tsl__decimal *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!tsl__decimal_equal(&a[i], &b[i])) return false;
  return true;
}

bool tsl__side_equal(const tsl__side *a, const tsl__side *b) {
  if (a->spelling != b->spelling || a->zero != b->zero || a->positive != b->positive ||
      a->has_low != b->has_low || a->has_high != b->has_high ||
      a->has_multiple != b->has_multiple || a->tracker_count != b->tracker_count ||
      a->excluded_count != b->excluded_count || a->whole_max != b->whole_max ||
      a->fraction_max != b->fraction_max || a->least_exponent != b->least_exponent ||
      a->most_exponent != b->most_exponent)
    return false;
  if (a->has_low && (a->low_exclusive != b->low_exclusive || !tsl__decimal_equal(&a->low, &b->low)))
    return false;
  if (a->has_high &&
      (a->high_exclusive != b->high_exclusive || !tsl__decimal_equal(&a->high, &b->high)))
    return false;
  for (uint32_t k = 0; k < a->tracker_count; k++)
    if (a->trackers[k].exponent != b->trackers[k].exponent ||
        tsl__nat_compare(a->trackers[k].unit, b->trackers[k].unit))
      return false;
  return lists_equal(a->excluded, b->excluded, a->excluded_count);
}
