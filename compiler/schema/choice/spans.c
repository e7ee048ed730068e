/* spans.c - branches of numbers that lie apart on the line.
 *
 * Problem   oneOf of n ranges of numbers asks which of them meet. Each pair that is not known to be
 *           apart costs a negation, which is two ranges more.
 * Idea      A branch's bounds, or the least and the largest number that it lists, are its span.
 *           Sort the spans by where they begin, and go along them. Where a span begins behind the
 *           ends of all before it, a new group begins. Branches of different groups never meet.
 * Example   The spans [0, 9], [5, 12], [13, 20] are two groups: {[0, 9], [5, 12]} and {[13, 20]}.
 * Sound     A span has all numbers of its branch, and may have more. So "apart" is certain.
 * Cost      A sort of the branches.
 * Tested by tests/schema/test_oneof.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

/* The bounds of the numbers that a branch lists. */
static void listed_span(struct schema *s, const tsl__json *values, uint32_t n,
                        tsl__number_spec *out) {
  for (uint32_t i = 0; i < n && tsl__schema_work(s, 4); i++) {
    tsl__decimal d;
    if (values[i].kind != TSL__JSON_NUMBER || !tsl__schema_decimal(s, &values[i], &d)) continue;
    if (!out->has_min || tsl__decimal_compare(&d, &out->min) < 0) out->min = d;
    if (!out->has_max || tsl__decimal_compare(&d, &out->max) > 0) out->max = d;
    out->has_min = out->has_max = true;
  }
}

static void span_of(struct schema *s, sid id, tsl__number_spec *out) {
  uint32_t n;
  const tsl__json *values = tsl__schema_listed(s, id, &n);
  memset(out, 0, sizeof *out);
  if (values)
    listed_span(s, values, n, out);
  else
    tsl__schema_number_spec(s, tsl__schema_plain_node(s, id), out);
}

static bool ends_before(const tsl__number_spec *a, const tsl__number_spec *b) {
  if (!a->has_max || !b->has_min) return false;
  const int order = tsl__decimal_compare(&a->max, &b->min);
  return order < 0 || (!order && (a->max_exclusive || b->min_exclusive));
}

bool tsl__schema_spans_apart(const tsl__number_spec *a, const tsl__number_spec *b) {
  return ends_before(a, b) || ends_before(b, a);
}

/* Of two with the same bound, the one that has it begins first. */
static bool begins_before(const tsl__number_spec *a, const tsl__number_spec *b) {
  if (!a->has_min || !b->has_min) return !a->has_min && b->has_min;
  const int order = tsl__decimal_compare(&a->min, &b->min);
  return order < 0 || (!order && !a->min_exclusive && b->min_exclusive);
}

static bool ends_later(const tsl__number_spec *a, const tsl__number_spec *b) {
  if (!a->has_max || !b->has_max) return !a->has_max && b->has_max;
  const int order = tsl__decimal_compare(&a->max, &b->max);
  return order > 0 || (!order && !a->max_exclusive && b->max_exclusive);
}

/* Two sorted runs, [lo, middle) and [middle, hi), become one. */
static void merge(struct schema *s, const tsl__number_spec *spans, const uint32_t *from,
                  uint32_t *to, uint32_t lo, uint32_t middle, uint32_t hi) {
  uint32_t a = lo, b = middle;
  for (uint32_t k = lo; k < hi && tsl__schema_work(s, 1); k++) {
    const bool second = a == middle || (b < hi && begins_before(&spans[from[b]], &spans[from[a]]));
    to[k] = second ? from[b++] : from[a++];
  }
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The spans' indices in order; there is room for two for each. */
static const uint32_t *sorted(struct schema *s, const tsl__number_spec *spans, uint32_t n,
                              uint32_t *room) {
  uint32_t *from = room, *to = room + n;
  for (uint32_t i = 0; i < n; i++) from[i] = i;
  for (uint32_t run = 1; run < n && tsl__schema_ok(s); run *= 2) {
    for (uint32_t lo = 0; lo < n; lo += 2 * run)
      merge(s, spans, from, to, lo, smaller(lo + run, n), smaller(lo + 2 * run, n));
    uint32_t *other = from;
    from = to;
    to = other;
  }
  return from;
}

tsl__number_spec *tsl__schema_spans(struct schema *s, const sid *branches, uint32_t n,
                                    uint32_t *group) {
  tsl__number_spec *spans = tsl__schema_alloc(s, (n + 1) * sizeof *spans);
  uint32_t *room = tsl__schema_alloc(s, (2 * n + 1) * sizeof *room), first = 0, last = 0;
  if (!spans || !room) return NULL;
  for (uint32_t i = 0; i < n && tsl__schema_work(s, 4); i++) span_of(s, branches[i], &spans[i]);
  const uint32_t *order = sorted(s, spans, n, room);
  for (uint32_t k = 0; k < n && tsl__schema_ok(s); k++) {
    const uint32_t i = order[k];
    if (!k || ends_before(&spans[last], &spans[i]))
      first = last = i;
    else if (ends_later(&spans[i], &spans[last]))
      last = i;
    group[i] = first + 1;
  }
  return tsl__schema_ok(s) ? spans : NULL;
}
