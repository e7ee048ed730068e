/* number.c - constraints on a number as a logic: conjunction, emptiness, counting. See number.h.
 *
 * Problem   minimum, maximum, multipleOf and values left out come from several subschemas, negated
 *           or not. Whether any number is left must be known exactly.
 * Idea      Bring each spec into a canonical form, whose bounds alone say whether it is empty.
 *   discrete  With a multiple m, bounds are members. One exact division finds the smallest k with
 *             k·m in bounds. Then k is moved on past excluded values and non-multiples. That ends
 *             soon. With r non-multiples, none of which divides m, at most 2^r multiples of m in a
 *             row are all ruled out. That is Kanold 1967 on Jacobsthal's function. Each excluded
 *             value rules out one more.
 *   dense     Sets without a multiple only lose their end points.
 * Example   A multiple of 3 in [4, 11] without 6: the bounds become 9 and 9, one member.
 * Coarse    A bound x = c × 10^e and m = d × 10^f with e - f above MAX_SHIFT (1e1000000 and
 *           integers) is left as it is. Two different bounds of which one is that coarse are
 *           further apart than 10^900 times m, so there are members between them. A single value is
 *           compared with m exactly.
 * Cost      One division of big numbers for each bound, and one for each multiple that is ruled
 *           out. Long numbers take time in the square of their digits, and there may be thousands
 *           of them. So each question about a list counts its limbs as work (spend), and the
 *           caller's time or steps can end it.
 * Ref       Kanold 1967 "Über eine zahlentheoretische Funktion von Jacobsthal".
 * Tested by tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/number.h"

#include <stdlib.h>

#include "compiler/number/nat.h"

/* decimal places; a bound of 1,000 digits that far above m still fits a tsl__nat */
#define MAX_SHIFT 1900

/* ---- one value ------------------------------------------------------------------------------- */

static bool in_bounds(const tsl__number_spec *s, const tsl__decimal *value) {
  if (s->has_min) {
    int order = tsl__decimal_compare(value, &s->min);
    if (order < 0 || (!order && s->min_exclusive)) return false;
  }
  if (s->has_max) {
    int order = tsl__decimal_compare(value, &s->max);
    if (order > 0 || (!order && s->max_exclusive)) return false;
  }
  return true;
}

static bool avoids_non_multiples(const tsl__number_spec *s, const tsl__decimal *value) {
  if (s->not_integer && tsl__decimal_is_integer(value)) return false;
  for (uint32_t i = 0; i < s->non_multiple_count; i++)
    if (tsl__decimal_is_multiple(value, &s->non_multiples[i])) return false;
  return true;
}

static bool is_excluded(const tsl__number_spec *s, const tsl__decimal *value) {
  for (uint32_t i = 0; i < s->excluded_count; i++)
    if (tsl__decimal_equal(value, &s->excluded[i])) return true;
  return false;
}

bool tsl__number_admits(const tsl__number_spec *s, const tsl__decimal *value) {
  if (s->empty || !in_bounds(s, value)) return false;
  if ((s->integer || (s->spelling & TSL__SPELL_DIGITS)) && !tsl__decimal_is_integer(value))
    return false;
  for (uint32_t i = 0; i < s->multiple_count; i++)
    if (!tsl__decimal_is_multiple(value, &s->multiples[i])) return false;
  return avoids_non_multiples(s, value) && !is_excluded(s, value);
}

/* ---- multiples of m by number ---------------------------------------------------------------- */

/* k·m with a signed k. */
typedef struct index {
  tsl__nat k;
  bool negative; /* not for zero */
} multiplier;

static bool next_multiplier(multiplier *i) {
  tsl__nat one;
  tsl__nat_set(&one, 1);
  if (!i->negative) return tsl__nat_add(&i->k, &i->k, &one);
  tsl__nat_sub(&i->k, &i->k, &one);
  if (tsl__nat_is_zero(&i->k)) i->negative = false;
  return true;
}

/* The value k·m, its digits in `digits` (room for TSL__NAT_DIGITS). False if it has more. */
static bool multiplier_value(const multiplier *i, const tsl__decimal *m, char *digits,
                             tsl__decimal *out) {
  tsl__nat unit, product;
  *out = tsl__decimal_zero;
  if (tsl__nat_is_zero(&i->k)) return true;
  if (!tsl__nat_from_digits(&unit, m->digits, m->count) || !tsl__nat_mul(&product, &i->k, &unit))
    return false;
  size_t count = tsl__nat_to_digits(&product, digits), all = count;
  while (digits[count - 1] == '0') count--;
  *out = (tsl__decimal){digits, (uint32_t)count, i->negative, m->exponent + (int64_t)(all - count)};
  return true;
}

/* The smallest k with k·m >= x (> x if exclusive); false if it has too many digits. */
static bool ceiling(const tsl__decimal *x, const tsl__decimal *m, bool exclusive, multiplier *out) {
  tsl__nat a, b, rest;
  int64_t shift = x->count ? x->exponent - m->exponent : 0;
  out->negative = false;
  if (x->count && tsl__decimal_magnitude(x) < tsl__decimal_magnitude(m)) { /* |x| < m */
    tsl__nat_set(&out->k, x->negative ? 0 : 1);
    return true;
  }
  if (shift > MAX_SHIFT) return false;
  if (!tsl__nat_from_digits(&a, x->digits, x->count) ||
      !tsl__nat_from_digits(&b, m->digits, m->count))
    return false;
  if (!tsl__nat_scale10(shift < 0 ? &b : &a, (uint64_t)(shift < 0 ? -shift : shift))) return false;
  tsl__nat_divide(&a, &b, &out->k, &rest);
  out->negative = x->negative && !tsl__nat_is_zero(&out->k);
  bool exact = tsl__nat_is_zero(&rest), up = exact ? exclusive : !x->negative;
  return !up || next_multiplier(out);
}

/* ---- making canonical ------------------------------------------------------------------------ */

typedef TSL__VEC(tsl__decimal) decimals;

typedef struct builder {
  tsl__exprs *x; /* counts the work; may be NULL */
  tsl__arena *arena;
  tsl__number_spec s;
  decimals multiples, non_multiples, excluded;
  tsl_status status;
} builder;

/* Numbers of so many digits cost nothing that is worth counting. */
#define SHORT_DIGITS 36

/* Count work on limbs, four of which cost what a node of an expression does. False: stop. */
static bool spend_limbs(tsl__exprs *x, uint64_t limbs) {
  return !x || tsl__exprs_work(x, limbs / 4);
}

/* Count `times` divisions of a number by one of the length of m, where the quotient is short. Most
 * often it is, since both are multiples of one number. */
static bool spend_in(tsl__exprs *x, const tsl__decimal *m, uint32_t times) {
  return m->count <= SHORT_DIGITS || spend_limbs(x, (uint64_t)times * (4 * m->count / 9));
}

static bool spend(builder *b, const tsl__decimal *m, uint32_t times) {
  if (!spend_in(b->x, m, times) && !b->status) b->status = tsl__exprs_status(b->x);
  return !b->status;
}

/* Count a least common multiple, of which Euclid's algorithm is the most. */
static bool spend_on_lcm(builder *b, const tsl__decimal *d) {
  uint32_t limbs = d->count / 9;
  return spend(b, d, 2 + limbs);
}

static bool keep(builder *b, decimals *list, const tsl__decimal *d) {
  tsl__decimal copy = *d;
  if (copy.count && !(copy.digits = tsl__arena_copy(b->arena, d->digits, d->count)))
    b->status = TSL_ERR_NO_MEMORY;
  if (!b->status && !tsl__vec_push(b->arena->alloc, list, copy)) b->status = TSL_ERR_NO_MEMORY;
  return !b->status;
}

static void keep_all(builder *b, decimals *list, const tsl__decimal *d, uint32_t count) {
  for (uint32_t i = 0; i < count && keep(b, list, &d[i]); i++) {
  }
}

/* The bound, digits copied to the arena. */
static void set_bound(builder *b, bool upper, const tsl__decimal *bound, bool exclusive) {
  tsl__decimal copy = *bound;
  if (copy.count && !(copy.digits = tsl__arena_copy(b->arena, bound->digits, bound->count))) {
    b->status = TSL_ERR_NO_MEMORY;
    return;
  }
  if (upper)
    b->s.has_max = true, b->s.max = copy, b->s.max_exclusive = exclusive;
  else
    b->s.has_min = true, b->s.min = copy, b->s.min_exclusive = exclusive;
}

static void gather(builder *b, const tsl__number_spec *a) {
  tsl__number_spec *s = &b->s;
  s->empty |= a->empty;
  s->spelling |= a->spelling;
  if (a->own) s->own = a->own, s->own_length = a->own_length;
  if (a->integer || (a->spelling & TSL__SPELL_DIGITS)) keep(b, &b->multiples, &tsl__decimal_one);
  if (a->not_integer) keep(b, &b->non_multiples, &tsl__decimal_one);
  keep_all(b, &b->multiples, a->multiples, a->multiple_count);
  keep_all(b, &b->non_multiples, a->non_multiples, a->non_multiple_count);
  keep_all(b, &b->excluded, a->excluded, a->excluded_count);
  if (a->has_min) {
    int order = s->has_min ? tsl__decimal_compare(&a->min, &s->min) : 1;
    if (order > 0 || (!order && a->min_exclusive)) set_bound(b, false, &a->min, a->min_exclusive);
  }
  if (a->has_max) {
    int order = s->has_max ? tsl__decimal_compare(&a->max, &s->max) : -1;
    if (order < 0 || (!order && a->max_exclusive)) set_bound(b, true, &a->max, a->max_exclusive);
  }
}

/* All multiples become their least common one. */
static void merge_multiples(builder *b) {
  for (size_t i = 1; i < b->multiples.n && spend_on_lcm(b, &b->multiples.at[0]); i++)
    b->status =
        tsl__decimal_lcm(b->arena, &b->multiples.at[0], &b->multiples.at[i], &b->multiples.at[0]);
  if (b->multiples.n) b->multiples.n = 1;
}

static int by_value(const void *a, const void *b) { return tsl__decimal_compare(a, b); }

/* A multiple of m is a multiple of n exactly if it is one of lcm(m, n). Not being a multiple of n
 * implies not being one of 2n. */
static void merge_non_multiples(builder *b) {
  decimals *list = &b->non_multiples;
  size_t n = 0;
  for (size_t i = 0; i < list->n && b->multiples.n && spend_on_lcm(b, &b->multiples.at[0]); i++)
    b->status = tsl__decimal_lcm(b->arena, &list->at[i], &b->multiples.at[0], &list->at[i]);
  if (b->status) return;
  if (list->n) qsort(list->at, list->n, sizeof *list->at, by_value);
  for (size_t i = 0; i < list->n; i++) {
    bool implied = false;
    for (size_t j = 0; j < n && !implied && spend(b, &list->at[j], 1); j++)
      implied = tsl__decimal_is_multiple(&list->at[i], &list->at[j]);
    if (b->status) return;
    if (!implied) list->at[n++] = list->at[i];
  }
  list->n = n;
  if (n > TSL__NUMBER_NON_MULTIPLES) b->status = TSL_ERR_LIMIT;
  if (n && b->multiples.n && tsl__decimal_is_multiple(&b->multiples.at[0], &list->at[0]))
    b->s.empty = true;
}

static void attach(builder *b) {
  tsl__number_spec *s = &b->s;
  s->multiples = b->multiples.at, s->multiple_count = (uint32_t)b->multiples.n;
  s->non_multiples = b->non_multiples.at, s->non_multiple_count = (uint32_t)b->non_multiples.n;
  s->excluded = b->excluded.at, s->excluded_count = (uint32_t)b->excluded.n;
}

/* Move one bound to the first member on its inner side; `upper` does the same on the mirrored
 * line. */
static void tighten_discrete(builder *b, bool upper) {
  char digits[TSL__NAT_DIGITS];
  tsl__number_spec *s = &b->s;
  const tsl__decimal *m = &s->multiples[0];
  tsl__decimal bound = upper ? tsl__decimal_negate(s->max) : s->min, value;
  multiplier at;
  if (!(upper ? s->has_max : s->has_min) ||
      !ceiling(&bound, m, upper ? s->max_exclusive : s->min_exclusive, &at))
    return;
  while (spend(b, m, s->non_multiple_count + 1)) {
    if (!multiplier_value(&at, m, digits, &value)) return;
    if (upper) value = tsl__decimal_negate(value);
    if (!in_bounds(s, &value)) { /* past the other bound */
      s->empty = true;
      return;
    }
    if (avoids_non_multiples(s, &value) && !is_excluded(s, &value)) break;
    if (!next_multiplier(&at)) return;
  }
  if (!b->status) set_bound(b, upper, &value, false);
}

static void tighten_dense(builder *b) {
  tsl__number_spec *s = &b->s;
  if (s->has_min && !s->min_exclusive && !tsl__number_admits(s, &s->min)) s->min_exclusive = true;
  if (s->has_max && !s->max_exclusive && !tsl__number_admits(s, &s->max)) s->max_exclusive = true;
}

/* Is there nothing between the bounds? Exact once they are tight, or too coarse to be (see the
 * top). */
static bool bounds_empty(const tsl__number_spec *s) {
  if (!s->has_min || !s->has_max) return false;
  int order = tsl__decimal_compare(&s->min, &s->max);
  return order > 0 || (!order && !tsl__number_admits(s, &s->min));
}

/* Only exclusions strictly inside the bounds that would be members otherwise; sorted, distinct. */
static void filter_excluded(builder *b) {
  tsl__number_spec inside = b->s;
  decimals *list = &b->excluded;
  size_t n = 0;
  inside.excluded_count = 0;
  if (list->n) qsort(list->at, list->n, sizeof *list->at, by_value);
  for (size_t i = 0; i < list->n && spend(b, &list->at[i], inside.non_multiple_count + 1); i++)
    if (tsl__number_admits(&inside, &list->at[i]) &&
        !(n && tsl__decimal_equal(&list->at[n - 1], &list->at[i])))
      list->at[n++] = list->at[i];
  list->n = n;
  if (n > TSL__NUMBER_EXCLUDED && !b->status) b->status = TSL_ERR_LIMIT;
}

/* A single value needs no other constraint. */
static void simplify_constant(builder *b) {
  tsl__number_spec *s = &b->s;
  if (!s->has_min || !s->has_max || tsl__decimal_compare(&s->min, &s->max)) return;
  b->multiples.n = b->non_multiples.n = b->excluded.n = 0;
}

static void canonicalise(builder *b) {
  tsl__number_spec *s = &b->s;
  merge_multiples(b);
  if (!b->status) merge_non_multiples(b);
  if (b->status) return;
  if ((s->spelling & TSL__SPELL_DIGITS) && (s->spelling & TSL__SPELL_MARKED)) s->empty = true;
  attach(b);
  if (!s->empty && !bounds_empty(s)) {
    if (!s->multiple_count) {
      tighten_dense(b);
    } else {
      tighten_discrete(b, false);
      if (!s->empty && !b->status) tighten_discrete(b, true);
    }
  }
  if (b->status) return;
  s->empty |= bounds_empty(s);
  filter_excluded(b);
  simplify_constant(b);
  attach(b);
}

/* The lists move from the growable arrays to the arena. */
static void settle(builder *b, tsl__number_spec *out) {
  const tsl_allocator *a = b->arena->alloc;
  decimals *lists[3] = {&b->multiples, &b->non_multiples, &b->excluded};
  const tsl__decimal *at[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3 && !b->status; i++)
    if (lists[i]->n &&
        !(at[i] = tsl__arena_copy(b->arena, lists[i]->at, lists[i]->n * sizeof(tsl__decimal))))
      b->status = TSL_ERR_NO_MEMORY;
  if (!b->status) {
    *out = b->s;
    out->multiples = at[0], out->non_multiples = at[1], out->excluded = at[2];
    out->integer = out->multiple_count && tsl__decimal_is_integer(&out->multiples[0]);
    out->not_integer =
        out->non_multiple_count && tsl__decimal_equal(&out->non_multiples[0], &tsl__decimal_one);
    if (out->empty) *out = (tsl__number_spec){.empty = true};
  }
  for (int i = 0; i < 3; i++) tsl__vec_free(a, lists[i]);
}

tsl_status tsl__number_intersect(tsl__exprs *x, tsl__arena *arena, const tsl__number_spec *a,
                                 const tsl__number_spec *b, tsl__number_spec *out) {
  builder build = {.x = x, .arena = arena};
  bool integer, integer_b;
  /* most numbers of most schemas */
  if (tsl__number_plain(a, &integer) && tsl__number_plain(b, &integer_b)) {
    integer = integer || integer_b;
    *out = (tsl__number_spec){.integer = integer,
                              .multiples = integer ? &tsl__decimal_one : NULL,
                              .multiple_count = integer};
    return TSL_OK;
  }
  gather(&build, a);
  if (b != a) gather(&build, b);
  if (!build.status) canonicalise(&build);
  settle(&build, out);
  return build.status;
}

/* ---- questions ------------------------------------------------------------------------------- */

bool tsl__number_empty(const tsl__number_spec *spec) { return spec->empty; }

bool tsl__number_plain(const tsl__number_spec *s, bool *integer) {
  *integer = s->integer || s->multiple_count;
  if (s->empty || s->not_integer || s->has_min || s->has_max || s->spelling ||
      s->non_multiple_count || s->excluded_count)
    return false;
  return !s->multiple_count ||
         (s->multiple_count == 1 && tsl__decimal_equal(&s->multiples[0], &tsl__decimal_one));
}

static bool lists_equal(const tsl__decimal *a, uint32_t an, const tsl__decimal *b, uint32_t bn) {
  if (an != bn) return false;
  for (uint32_t i = 0; i < an; i++)
    if (!tsl__decimal_equal(&a[i], &b[i])) return false;
  return true;
}

static bool bound_equal(bool ha, const tsl__decimal *a, bool xa, bool hb, const tsl__decimal *b,
                        bool xb) {
  return ha == hb && (!ha || (xa == xb && tsl__decimal_equal(a, b)));
}

bool tsl__number_equal(const tsl__number_spec *a, const tsl__number_spec *b) {
  return a->empty == b->empty && a->integer == b->integer && a->not_integer == b->not_integer &&
         a->spelling == b->spelling &&
         bound_equal(a->has_min, &a->min, a->min_exclusive, b->has_min, &b->min,
                     b->min_exclusive) &&
         bound_equal(a->has_max, &a->max, a->max_exclusive, b->has_max, &b->max,
                     b->max_exclusive) &&
         lists_equal(a->multiples, a->multiple_count, b->multiples, b->multiple_count) &&
         lists_equal(a->non_multiples, a->non_multiple_count, b->non_multiples,
                     b->non_multiple_count) &&
         lists_equal(a->excluded, a->excluded_count, b->excluded, b->excluded_count);
}

/* Without non-multiples: max - min + 1 members by index, less the excluded ones. */
static uint32_t count_range(const multiplier *first, const multiplier *last, uint32_t excluded,
                            uint32_t limit) {
  tsl__nat span, bound;
  if (first->negative != last->negative)
    tsl__nat_add(&span, &first->k, &last->k);
  else if (first->negative)
    tsl__nat_sub(&span, &first->k, &last->k);
  else
    tsl__nat_sub(&span, &last->k, &first->k);
  tsl__nat_set(&bound, (uint64_t)limit + excluded);
  if (tsl__nat_compare(&span, &bound) >= 0) return limit + 1;
  uint64_t count = 0;
  for (uint32_t i = span.n; i-- > 0;) count = count * TSL__NAT_BASE + span.limb[i];
  return (uint32_t)(count + 1 - excluded);
}

static uint32_t count_one_by_one(tsl__exprs *x, const tsl__number_spec *s, multiplier *at,
                                 uint32_t limit) {
  char digits[TSL__NAT_DIGITS];
  tsl__decimal value;
  uint32_t count = 0;
  while (count <= limit && multiplier_value(at, &s->multiples[0], digits, &value) &&
         in_bounds(s, &value)) {
    if (!spend_in(x, &s->multiples[0], s->non_multiple_count + 1)) return limit + 1;
    count += avoids_non_multiples(s, &value) && !is_excluded(s, &value);
    if (!next_multiplier(at)) return limit + 1;
  }
  return count;
}

uint32_t tsl__number_count(tsl__exprs *x, const tsl__number_spec *s, uint32_t limit) {
  if (limit == UINT32_MAX) limit--;
  if (s->empty) return 0;
  if (!s->has_min || !s->has_max) return limit + 1;
  if (tsl__decimal_equal(&s->min, &s->max)) return 1;
  if (!s->multiple_count) return limit + 1;
  multiplier first, last;
  tsl__decimal mirrored = tsl__decimal_negate(s->max);
  if (!ceiling(&s->min, &s->multiples[0], false, &first) ||
      !ceiling(&mirrored, &s->multiples[0], false, &last))
    return limit + 1;
  if (s->non_multiple_count) return count_one_by_one(x, s, &first, limit);
  last.negative = !last.negative && !tsl__nat_is_zero(&last.k);
  return count_range(&first, &last, s->excluded_count, limit);
}
