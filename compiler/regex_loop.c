/* regex_loop.c - loops whose body looks ahead beyond its end: (?:(?!-->).)*-->
 *
 * Problem   The loop is the smallest solution of X = body(X) | then, where body(X) is an intersection, !(-->·text) & .·X: no star of anything.
 * Idea      An automaton in C whose only state is X itself: its derivative is that of body(X) | then, in which X occurs again as this same node. The body
 *           consumes at least one code point, so the derivative of X never asks for itself.
 *           X is never empty since it holds `then`, and its shortest text is that of `then`: an iteration only makes texts longer.
 * Example   D_a(X) = !(…) & X with the residual of the look-ahead, which is dropped as soon as it can't match any more: X again.
 * Building  body(X) is made twice. The first time X has no derivative yet, so no search for emptiness may run (x->searching); the second
 *           time every intersection is searched as usual, over the derivatives that the first body gives, and the searched one is kept.
 * Finite    Only look-aheads of bounded length (LOOK_MAX code points) are taken: the residuals of longer ones would pile up, one
 *           more for each iteration, and derivatives would never meet again.
 * Tested by tests/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/deriv.h"
#include "compiler/regex_lower.h"

#define LOOK_MAX 64u

typedef struct loop {
  tsl__exprs *x;  /* where the expressions live */
  tsl__expr then; /* what follows the loop */
  tsl__expr body; /* one iteration and the loop again; NONE until it is known */
  uint32_t shortest;
  bool nullable;
} loop;

static bool loop_nullable(void *ctx, uint32_t param) {
  (void)param;
  return ((const loop *)ctx)->nullable;
}

static uint32_t loop_shortest(void *ctx, uint32_t param) {
  (void)param;
  return ((const loop *)ctx)->shortest;
}

static void loop_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  const loop *f = ctx;
  tsl__bytes edges;
  (void)param;
  tsl__boundaries(f->x, f->then, &edges);
  tsl__bytes_or(out, &edges);
  if (!f->body) return;
  tsl__boundaries(f->x, f->body, &edges);
  tsl__bytes_or(out, &edges);
}

static tsl__expr loop_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  const loop *f = ctx;
  (void)param;
  tsl__expr end = tsl__derive_plain(x, f->then, byte);
  return f->body ? tsl__expr_alt(x, end, tsl__derive_plain(x, f->body, byte)) : end;
}

static void loop_print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)param;
  snprintf(out, n, "loop[%u]", (unsigned)((const loop *)ctx)->body);
}

static const tsl__native_ops loop_ops = {loop_nullable, loop_boundaries, loop_step, loop_shortest, loop_print};

/* The offset of a condition in the body that can't be taken, or TSL__INF. */
static uint32_t unbounded_look(const tsl__rx *node) {
  if (node->kind == TSL__RX_SET) return TSL__INF;
  if (node->kind == TSL__RX_LOOK && (!node->ahead || node->u.child[0]->most > LOOK_MAX)) return node->offset;
  for (uint32_t i = 0; i < node->n; i++) {
    uint32_t offset = unbounded_look(node->u.child[i]);
    if (offset != TSL__INF) return offset;
  }
  return TSL__INF;
}

tsl__expr tsl__rx_loop(tsl__rx_lowering *l, const tsl__rx *body, tsl__expr then) {
  tsl__exprs *x = l->x;
  uint32_t offset = unbounded_look(body);
  bool searching = x->searching;
  tsl__rx_rests rests;
  tsl__expr e;
  loop *f;
  if (offset != TSL__INF) {
    tsl__rx_fail(l->tree, TSL_ERR_UNSUPPORTED, offset, "in a loop, a look-around that looks beyond one iteration must be a look-ahead of at most 64 code points");
    return TSL__NONE;
  }
  f = tsl__exprs_alloc(x, sizeof *f);
  if (!f) return TSL__NONE;
  *f = (loop){x, then, TSL__NONE, tsl__expr_shortest(x, then), tsl__expr_nullable(x, then)};
  e = tsl__expr_native(x, &loop_ops, f, 0);
  if (e >= x->base && e > TSL__EPS) x->nodes.at[e - x->base].flags |= TSL__TEXTUAL;
  for (int round = 0; round < 2 && !tsl__rx_failed(l); round++) {
    if (round == 0) x->searching = true;
    rests = tsl__rx_lower(l, body, tsl__rx_always(l, e, tsl__rx_ranges_all()), false);
    x->searching = searching;
    if (rests.n > 1 || (rests.n == 1 && (!rests.at[0].cond.any || rests.at[0].cond.before))) {
      tsl__rx_fail(l->tree, TSL_ERR_UNSUPPORTED, body->offset, "this look-around inside a loop is not supported");
      return TSL__NONE;
    }
    f->body = rests.n ? rests.at[0].e : TSL__NONE;
  }
  return tsl__rx_failed(l) ? TSL__NONE : e;
}
