/* mark.c - the place in an expression where something that was spelled must be new.
 *
 * A mark is a rule that is put in place and matches ε, so that derivatives, emptiness and lengths need not know of it. It stands at the head of what follows a
 * call, and only there does it mean anything: the state that the called frame comes back to is told from its expression to be guarded, and what it is
 * otherwise. Alternatives with and without a mark can share the call: then the ones without stay.
 *
 * Tested by tests/test_memory.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr_node.h"

#include <stdio.h>

static tsl__expr unfold(tsl__exprs *x, void *ctx, uint32_t param) {
  (void)x;
  (void)ctx;
  (void)param;
  return TSL__EPS;
}

static void print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx;
  (void)param;
  snprintf(out, n, "new");
}

static const tsl__rule_ops ops = {unfold, print};

tsl__expr tsl__expr_mark(tsl__exprs *x) {
  if (x->mark == TSL__NONE) x->mark = tsl__expr_rule(x, &ops, NULL, 0, TSL__RULE_NULLABLE | TSL__RULE_INLINE, 0);
  return x->mark;
}

tsl__expr tsl__expr_unmarked(tsl__exprs *x, tsl__expr e, bool *marked) {
  tsl__node n = tsl__node_at(x, e);
  if (x->mark == TSL__NONE) return e;
  if (e == x->mark || (n.kind == TSL__K_SEQ && n.a == x->mark)) return *marked = true, TSL__NONE;
  if (n.kind != TSL__K_ALT) return e;
  tsl__expr rest = TSL__NONE;
  bool some = false;
  for (uint32_t i = 0; i < n.b; i++) tsl__expr_unmarked(x, tsl__list_at(x, n.a)[i], &some);
  if (!some) return e;
  *marked = true;
  for (uint32_t i = 0; i < n.b; i++) { /* an alternative is no alternation itself: one level of recursion */
    bool ignored = false;
    rest = tsl__expr_alt(x, rest, tsl__expr_unmarked(x, tsl__list_at(x, n.a)[i], &ignored));
  }
  return rest;
}
