/* shortest.c - the fewest bytes that finish a number.
 *
 * Problem   A budget must know how many bytes a number still takes. More digits, or an exponent of
 *           a few bytes, may be the shorter way: 1000000 has seven bytes, 1e6 has three.
 * Idea      Try lengths from the least on. For each, split the bytes into j digits and an exponent
 *           part of `cost` bytes, and ask state.c whether a member has that form. The exponents of
 *           one cost are an interval, of which few need to be tried (reaches_any).
 * Example   A multiple of 1000000 after `1`: no way with 0 or 1 byte more. With 2 bytes the
 *           exponents are e0 … e9, of which e6 makes a member. So it is 2.
 * Limits    Past 4,400 bytes, or where long units make each try slow, the answer is a lower bound.
 * Cost      Some hundred questions for each length that is tried.
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/inner.h"

/* bytes: longer completions (a number without exponent above 1e4400) are reported as this */
#define LONGEST 4400
/* limbs looked at for one state: then what is proved so far is reported */
#define SEARCH_EFFORT 200000

/* The exponents that `cost` bytes spell, 'e' included, on one side of zero: 2: 0 … 9; 3: 10 … 99
 * and -9 … -1. False: none. */
static bool exponents_of_cost(int64_t cost, bool negative, int64_t *from, int64_t *to) {
  int64_t power = 1;
  *from = *to = 0;
  if (cost == 0) return !negative;
  if (cost < (negative ? 3 : 2) || cost > 18) return false;
  for (int64_t i = negative ? 3 : 2; i < cost; i++) power *= 10;
  *from = negative ? -(power * 10 - 1) : power == 1 ? 0 : power;
  *to = negative ? -power : power * 10 - 1;
  return true;
}

/* Do j more digits and one of the exponents from … to make a member? With a multiple, large
 * exponents are the easier ones, and past `same` all are alike; else small ones are. Exponents at
 * which a bound is open or a value excluded are special: hence a few more. */
static bool reaches_any(const tsl__side *side, const tsl__number_state *st, int64_t j, int64_t from,
                        int64_t to) {
  int64_t special = (int64_t)st->live_count + 2;
  from = tsl__most(from, st->low), to = tsl__least(to, st->high);
  if (from > to) return false;
  if (!side->has_multiple) {
    for (int64_t e = from; e <= tsl__least(to, from + special); e++)
      if (tsl__number_state_reaches(side, st, j, e)) return true;
    return false;
  }
  if (to == st->high && tsl__number_state_reaches(side, st, j, to)) return true;
  int64_t same = from;
  for (uint32_t k = 0; k < side->tracker_count; k++)
    same = tsl__most(same, tsl__unit_exponent(side, st, k) + side->trackers[k].depth + j);
  from = tsl__most(from, tsl__least(tsl__unit_exponent(side, st, 0), st->ready[0]));
  for (int64_t e = tsl__least(to, same + special); e >= from; e--)
    if (tsl__number_state_reaches(side, st, j, e)) return true;
  return false;
}

/* Can it end with j more digits and an exponent part of `cost` bytes? `points`: how many of the
 * digits may stand before a point that is still to come, plus one. With 0 there is none to come,
 * and all stand before it (whole) or behind it. */
static bool ends_with(const tsl__side *side, const tsl__number_state *st, int64_t j, int64_t cost,
                      bool whole, int64_t points) {
  int64_t from, to, least_place = whole && !points ? j : 0,
                    most_place = points ? points - 1 : least_place;
  bool printed = tsl__is_printed(side);
  if (printed && points) { /* digits on either side of the point */
    least_place = tsl__most(0, j - side->fraction_max);
    most_place = cost ? 0 : tsl__least(most_place, st->left);
    if (least_place > most_place) return false;
  } else if (printed && (j > st->left || (whole && cost && j))) {
    return false;
  }
  /* a digit before the point moves the place at which exponents count */
  for (int negative = 0; negative < 2; negative++)
    if (exponents_of_cost(cost, negative, &from, &to)) {
      if (printed) from = tsl__most(from, side->least_exponent);
      if (printed) to = tsl__least(to, side->most_exponent);
      if (reaches_any(side, st, j, from + least_place, to + most_place)) return true;
    }
  return false;
}

/* Can it be finished in exactly `bytes` bytes? */
static bool ends_in(const tsl__side *side, const tsl__number_state *st, int64_t bytes) {
  bool whole = st->phase == TSL__NUMBER_WHOLE, marked = (side->spelling & TSL__SPELL_MARKED) != 0,
       digits = (side->spelling & TSL__SPELL_DIGITS) != 0;
  int64_t most_cost = tsl__no_exponent(side, st) ? 0 : tsl__least(bytes, 18);
  for (int64_t cost = 0; cost <= most_cost; cost++) {
    int64_t j = bytes - cost;
    if (whole && (cost || !marked) && ends_with(side, st, j, cost, true, 0)) return true;
    if (whole && j >= 2 && !digits && ends_with(side, st, j - 1, cost, true, j - 1)) return true;
    if (!whole && (j || st->phase == TSL__NUMBER_FRACTION) &&
        ends_with(side, st, j, cost, false, 0))
      return true;
  }
  return false;
}

/* What one look at all ways to end in so many bytes costs. That is some hundred questions, each the
 * size of the digits times that of the units. Only long units count. */
static int64_t effort_of(const tsl__side *side, int64_t bytes) {
  int64_t limbs = 0;
  for (uint32_t k = 0; k < side->tracker_count; k++)
    limbs += side->trackers[k].unit->n > 12 ? side->trackers[k].unit->n : 0;
  return 100 * limbs * (1 + bytes / 9);
}

/* Between at_least and at_most; a lower bound if *effort is used up. */
static int64_t shortest_significant(const tsl__side *side, const tsl__number_state *st,
                                    int64_t at_least, int64_t at_most, int64_t *effort) {
  int64_t bytes = tsl__most(at_least, 0);
  if (bytes == 0 && tsl__number_state_nullable(side, st)) return 0;
  at_most = tsl__least(at_most, LONGEST);
  for (bytes = tsl__most(bytes, 1);
       bytes < at_most && *effort > 0 && tsl__side_spend(side, side->limbs); bytes++) {
    if (ends_in(side, st, bytes)) return bytes;
    *effort -= effort_of(side, bytes);
  }
  return tsl__least(bytes, at_most);
}

/* From "." or "0.00" to a member above 0: some zeros, a digit, the rest. Where exponents are
 * allowed they are soon shorter than zeros. */
static int64_t shortest_small(const tsl__side *side, int64_t fraction, int64_t at_least,
                              tsl__number_state *scratch, int64_t *effort) {
  bool printed = tsl__is_printed(side), never = printed || tsl__never_exponent(side);
  int64_t best = TSL__INF, zeros = 0, most_zeros = never ? TSL__INF : 18;
  if (never && side->has_high)
    zeros = tsl__most(0, -tsl__decimal_magnitude(&side->high) - 1 - fraction);
  if (printed) most_zeros = tsl__number_zeros_most(side) - fraction + 1;
  for (; zeros < tsl__least(best - 1, most_zeros) &&
         tsl__number_small_lives(side, scratch, fraction + zeros);
       zeros++) {
    for (uint32_t digit = 1; digit <= 9; digit++) {
      tsl__number_state_begin_small(side, scratch, fraction + zeros, digit);
      tsl__number_state_settle(side, scratch);
      if (tsl__number_state_viable(side, scratch))
        best = tsl__least(best, zeros + 1 +
                                    shortest_significant(side, scratch, at_least - zeros - 1,
                                                         best - zeros - 1, effort));
    }
  }
  return *effort > 0 ? best : tsl__most(at_least, 1);
}

static int64_t shortest_from_begin(const tsl__side *side, tsl__number_state *scratch,
                                   int64_t *effort) {
  bool marked = (side->spelling & TSL__SPELL_MARKED) != 0;
  int64_t best = TSL__INF;
  if (side->zero) best = marked ? 3 : 1;
  for (uint32_t digit = 1; side->positive && digit <= 9; digit++) {
    tsl__number_state_begin(side, scratch);
    if (tsl__number_state_push(side, scratch, (uint8_t)('0' + digit)))
      best = tsl__least(best, 1 + shortest_significant(side, scratch, 0, best - 1, effort));
  }
  if (side->positive && !(side->spelling & TSL__SPELL_DIGITS) && best > 3)
    best = tsl__least(best, 2 + shortest_small(side, 0, 0, scratch, effort));
  return *effort > 0 ? best : 1;
}

uint32_t tsl__number_state_shortest(const tsl__side *side, const tsl__number_state *st,
                                    uint32_t at_least, tsl__number_state *scratch) {
  int64_t best = TSL__INF, zero = st->phase == TSL__NUMBER_ZERO /* the point is still to come */,
          effort = SEARCH_EFFORT;
  if (tsl__number_state_nullable(side, st)) return 0;
  if (st->significant)
    best = shortest_significant(side, st, at_least, TSL__INF, &effort);
  else if (st->phase == TSL__NUMBER_BEGIN)
    best = shortest_from_begin(side, scratch, &effort);
  else if (side->zero)
    best = 1 + zero; /* ".0" or "e0"; "0" */
  else
    best = zero + shortest_small(side, st->fraction, (int64_t)at_least - zero, scratch, &effort);
  return (uint32_t)tsl__least(best, TSL__INF);
}
