/* failure.c - see failure.h.
 * Recursion follows the nesting of an expression, as in expr/deriv.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/failure.h"

#define PARTS_MAX 16u /* alternatives or conjuncts that are looked at */
#define FEW_BYTES 16u /* a word under way goes on by so many at most */

/* Does an alternative go on by few bytes? They are added to *but. */
static bool is_word(tsl__exprs *x, tsl__expr e, tsl__bytes *but) {
  tsl__reads r;
  unsigned n = 0;
  tsl__reads_of(x, e, &r);
  for (int w = 0; w < 4; w++) n += tsl__ones(r.live.w[w]);
  if (n > FEW_BYTES) return false;
  tsl__bytes_or(but, &r.live);
  return true;
}

static tsl__expr without_words(tsl__exprs *x, tsl__expr e, tsl__bytes *but);

static tsl__expr alternatives_left(tsl__exprs *x, tsl__expr e, const tsl__node *n,
                                   tsl__bytes *but) {
  tsl__expr left[PARTS_MAX];
  size_t count = 0;
  if (n->b > PARTS_MAX) return e;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr part = tsl__list_at(x, n->a)[i];
    if (!is_word(x, part, but)) left[count++] = part;
  }
  return count == n->b ? e : tsl__expr_alt_n(x, left, count);
}

static tsl__expr conjuncts_left(tsl__exprs *x, tsl__expr e, const tsl__node *n, tsl__bytes *but) {
  tsl__expr left[PARTS_MAX];
  bool less = false;
  if (n->b > PARTS_MAX) return e;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr part = tsl__list_at(x, n->a)[i];
    left[i] = without_words(x, part, but);
    less |= left[i] != part;
  }
  return less ? tsl__and_n(x, left, n->b) : e;
}

/* The same without what begins with few bytes; e itself: there is nothing such. */
static tsl__expr without_words(tsl__exprs *x, tsl__expr e, tsl__bytes *but) {
  tsl__node n = tsl__node_at(x, e);
  tsl__worked(x, 1);
  if (n.kind == TSL__K_ALT && !(n.flags & TSL__CHAR)) return alternatives_left(x, e, &n, but);
  if (n.kind == TSL__K_AND) return conjuncts_left(x, e, &n, but);
  if (n.kind != TSL__K_NOT) return e;
  tsl__expr left = without_words(x, n.a, but);
  return left == n.a ? e : tsl__expr_not(x, left);
}

tsl__expr tsl__failure_of(tsl__exprs *x, tsl__expr e, tsl__bytes *but) {
  tsl__node n = tsl__node_at(x, e);
  *but = (tsl__bytes){{(uint64_t)1 << '"', (uint64_t)1 << ('\\' & 63), 0, 0}};
  if (n.kind != TSL__K_JSTR || n.loop || n.flags & (TSL__CALLS | TSL__COUNTS)) return TSL__NONE;
  tsl__expr left = without_words(x, n.a, but);
  return left == n.a ? TSL__NONE : tsl__json_string_like(x, &n, left);
}
