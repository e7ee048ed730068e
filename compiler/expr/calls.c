/* calls.c - the calls that an expression begins with: rules and tokens that something follows.
 *
 * Problem   A rule with something behind it gets a frame of its own, and so does a token. For a
 *           state the matcher needs all such calls at once, and for each what follows it.
 * Idea      Go through the expression from its beginning. A part that ends in a call is followed
 *           by the rest of the sequence, so each call collects its rest on the way back. A rule
 *           that is last in its frame, or inline, is looked into instead.
 * Example   With rules r and s: (r|x)·s? has the call "r, then s?" and no other, because x is no
 *           call and not nullable. r?·s·y has the calls "r, then s·y" and "s, then y".
 * Cost      One constructor for each call and each part that follows it.
 * Depth     Recursion follows the nesting of an expression, as in deriv.c.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

static void calls_of(tsl__exprs *x, tsl__expr e, tsl__step how, tsl__calls *out);

static void add_call(tsl__exprs *x, tsl__calls *out, tsl__expr callee, tsl__count count,
                     tsl__expr then) {
  tsl__call call = {callee, {count, then}};
  if (then == TSL__NONE) return;
  if (!tsl__vec_push(&x->alloc, out, call)) tsl__expr_no_memory(x);
}

void tsl__calls_add(tsl__exprs *x, tsl__calls *out, tsl__expr callee, tsl__expr then) {
  add_call(x, out, callee, TSL__COUNT_CLEAR, then);
}

/* The calls of `e`, each followed by `then`; `count` says what becomes of the register where the
 * call itself leaves it alone. */
static void calls_followed(tsl__exprs *x, tsl__expr e, tsl__expr then, tsl__count count,
                           tsl__step how, tsl__calls *out) {
  size_t first = out->n, kept = first;
  calls_of(x, e, how, out);
  for (size_t i = first; i < out->n; i++) {
    tsl__call call = out->at[i];
    if (call.then.count == TSL__COUNT_CLEAR) call.then.count = count;
    call.then.e = tsl__expr_seq(x, call.then.e, then);
    if (call.then.e != TSL__NONE) out->at[kept++] = call;
  }
  out->n = kept;
}

static void calls_of(tsl__exprs *x, tsl__expr e, tsl__step how, tsl__calls *out) {
  tsl__node n = tsl__node_at(x, e);
  if (!(n.flags & TSL__CALLS)) return;
  switch ((tsl__kind)n.kind) {
  case TSL__K_TOKEN: add_call(x, out, e, TSL__COUNT_CLEAR, TSL__EPS); return;
  case TSL__K_RULE:
    if (!how.last && tsl__node_is_call(x, &n)) {
      add_call(x, out, e, TSL__COUNT_CLEAR, TSL__EPS);
    } else if (tsl__unfold(x)) {
      calls_of(x, tsl__rule_body(x, n.a), how, out);
      x->depth--;
    }
    return;
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++) calls_of(x, tsl__list_at(x, n.a)[i], how, out);
    return;
  case TSL__K_SEQ: {
    tsl__node h = tsl__node_at(x, n.a), t = tsl__node_at(x, n.b);
    bool registers = how.registers && !(t.loop && !h.loop);
    calls_followed(x, n.a, n.b, t.loop ? TSL__COUNT_KEEP : TSL__COUNT_CLEAR,
                   (tsl__step){how.phase, registers, false}, out);
    if (tsl__nullable_in(&h, how.phase) && !tsl__node_is_call(x, &h)) calls_of(x, n.b, how, out);
    return;
  }
  case TSL__K_REPEAT: {
    tsl__step inner = {how.phase, how.registers && !tsl__node_is_big(&n), false};
    if (how.registers && tsl__node_is_big(&n))
      calls_followed(x, n.a, tsl__counted(x, &n), TSL__COUNT_FIRST, inner, out);
    else
      calls_followed(x, n.a, tsl__one_fewer(x, &n), TSL__COUNT_CLEAR, inner, out);
    return;
  }
  case TSL__K_COUNTED:
    if (how.phase != TSL__PHASE_TOP)
      calls_followed(x, n.a, e, TSL__COUNT_NEXT, (tsl__step){how.phase, false, false}, out);
    return;
  default: return;
  }
}

void tsl__calls_of(tsl__exprs *x, tsl__expr e, tsl__phase phase, tsl__calls *out) {
  calls_of(x, e, (tsl__step){phase, !tsl__overlaps(x, e), true}, out);
}

bool tsl__is_call(const tsl__exprs *x, tsl__expr e, tsl__call *out) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind != TSL__K_SEQ) return false;
  tsl__node h = tsl__node_at(x, n.a);
  if (!tsl__node_is_call(x, &h)) return false;
  *out = (tsl__call){n.a, {tsl__node_at(x, n.b).loop ? TSL__COUNT_KEEP : TSL__COUNT_CLEAR, n.b}};
  return true;
}

/* A rule may know its calls without its body. */
static bool calls_of_rule(tsl__exprs *x, uint32_t index, tsl__calls *out) {
  const tsl__rule *rule = tsl__rule_at(x, index);
  size_t before = out->n;
  if (rule->body || !rule->ops->calls) return false;
  if (rule->ops->calls(x, rule->ctx, rule->param, out) && x->status == TSL_OK) return true;
  out->n = before;
  return false;
}

static bool only_calls(tsl__exprs *x, tsl__expr e, tsl__calls *out) {
  tsl__node n = tsl__node_at(x, e);
  tsl__call call;
  bool fine = n.flags & TSL__CALLS;
  if (!fine) return false;
  tsl__worked(x, 1);
  switch ((tsl__kind)n.kind) {
  case TSL__K_SEQ:
    if (!tsl__is_call(x, e, &call)) return false;
    add_call(x, out, call.callee, call.then.count, call.then.e);
    return true;
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b && fine; i++) fine = only_calls(x, tsl__list_at(x, n.a)[i], out);
    return fine;
  case TSL__K_RULE: /* the last thing in the frame, which takes its place */
    if (!tsl__unfold(x)) return false;
    fine = calls_of_rule(x, n.a, out) || only_calls(x, tsl__rule_body(x, n.a), out);
    x->depth--;
    return fine;
  default: return false;
  }
}

bool tsl__calls_add_last(tsl__exprs *x, tsl__calls *out, tsl__expr e) {
  return only_calls(x, e, out);
}

bool tsl__only_calls(tsl__exprs *x, tsl__expr e, tsl__calls *out) {
  tsl__node n = tsl__node_at(x, e);
  if (n.flags & TSL__CALLS && !n.loop && only_calls(x, e, out)) return true;
  out->n = 0;
  return false;
}
