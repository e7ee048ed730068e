/* alike.c - which ranges of bytes an expression does not keep apart.
 *
 * Problem   An expression of many alternatives has many edges (reads.c), and bytes on both sides of
 *           an edge often lead to the same place. Of [a-z]|[A-Z] both ranges do. Each derivative
 *           that need not be made saves as much as a state costs.
 * Idea      Begin with one part that holds all ranges between edges. Each set of bytes in the
 *           expression splits every part into the ranges that the set has and the others. Ranges
 *           that are in one part at the end lead to the same place.
 * Example   Ranges 0: below 'A', 1: A-Z, 2: between, 3: a-z, 4: above. The set [A-Za-z] splits
 *           {0,1,2,3,4} into {1,3} and {0,2,4}: two derivatives instead of five.
 * Cost      One pass over the parts for each set of bytes; a part is a word of 64 ranges.
 * Refs      Owens, Reppy, Turon 2009, section 4.2: classes of characters that derivatives do not
 *           keep apart.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

/* Splits each part into the ranges of `in` and the others. A range that is alone already is not
 * looked at again. */
static void split_ranges(tsl__alike *a, uint64_t in) {
  if (!(in & ~a->alone)) return;
  for (unsigned k = 0, parts = a->parts; k < parts; k++) {
    uint64_t out = a->part[k] & ~in, with = a->part[k] & in;
    if (!out || !with) continue;
    a->part[a->parts++] = out;
    a->part[k] = with;
    if (!(out & (out - 1))) a->alone |= out;
    if (!(with & (with - 1))) a->alone |= with;
  }
}

void tsl__alike_split(tsl__alike *a, const tsl__bytes *set) {
  uint64_t in = 0;
  for (unsigned w = 0; w < 4; w++) {
    uint64_t has = a->begins.w[w] & set->w[w];
    if (has == a->begins.w[w])
      in |= a->within[w];
    else
      for (; has; has &= has - 1)
        in |= (uint64_t)1 << a->range[w * 64 + (unsigned)__builtin_ctzll(has)];
  }
  split_ranges(a, in);
}

void tsl__alike_split_byte(tsl__alike *a, unsigned byte) {
  if (tsl__bytes_has(&a->begins, byte)) split_ranges(a, (uint64_t)1 << a->range[byte]);
}

bool tsl__alike_met(tsl__alike *a, tsl__expr e, const tsl__node *n) {
  tsl__expr *met = &a->met[e % TSL__ALIKE_MET];
  if (!tsl__node_is_class(n)) return false;
  if (*met == e) return true;
  *met = e;
  return false;
}

bool tsl__alike_reads_none(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                           tsl__alike *out, tsl__expr *next) {
  (void)x, (void)e, (void)n, (void)last, (void)out, (void)next;
  return true;
}

bool tsl__alike_in(tsl__exprs *x, tsl__expr e, bool last, tsl__alike *out) {
  for (tsl__expr next = TSL__NONE;; e = next, next = TSL__NONE) {
    tsl__node n = tsl__node_at(x, e);
    const tsl__kind_ops *kind = tsl__kinds[n.kind];
    tsl__worked(x, 1);
    if (x->status != TSL_OK || !kind->alike || !kind->alike(x, e, &n, &last, out, &next))
      return false;
    if (!next) return true;
  }
}

bool tsl__alike_of(tsl__exprs *x, tsl__expr e, const tsl__bytes *edges, tsl__alike *out) {
  out->n = 0;
  out->begins = *edges;
  out->begins.w[0] |= 1;
  for (unsigned w = 0; w < 4; w++) {
    out->within[w] = 0;
    for (uint64_t bits = out->begins.w[w]; bits; bits &= bits - 1) {
      unsigned b = w * 64 + (unsigned)__builtin_ctzll(bits);
      if (out->n == TSL__ALIKE_MAX) return false;
      out->within[w] |= (uint64_t)1 << out->n;
      out->range[b] = (uint8_t)out->n;
      out->lower[out->n++] = (uint8_t)b;
    }
  }
  out->parts = 1;
  out->part[0] = out->n == 64 ? UINT64_MAX : ((uint64_t)1 << out->n) - 1;
  out->alone = out->n == 1;
  memset(out->met, 0, sizeof out->met);
  return tsl__alike_in(x, e, true, out);
}

void tsl__alike_firsts(const tsl__alike *a, uint8_t *first) {
  for (unsigned k = 0; k < a->parts; k++)
    for (uint64_t part = a->part[k], left = part; left; left &= left - 1)
      first[__builtin_ctzll(left)] = (uint8_t)__builtin_ctzll(part);
}
