/* loop.c - REPEAT: a{m,n}, and COUNTED: the same loop once a register counts it.
 *
 * The derivative of a{m,n} is D(a)·a{m-1,n-1}: the loop is counted down. A loop with large bounds
 * is entered as COUNTED instead (deriv.c), which has a derivative with registers only.
 *
 * Example   D_a(a{2,3}) = a{1,2}, and D_a of that is a{0,1}, which is a|ε. For "a"{2,500} this
 *           would be 500 nodes. COUNTED is one: the frame's register says how many iterations were
 *           read.
 * Meaning   Two loops of unequal bounds may have the same meaning (meaning.c). An iteration reads a
 *           byte at least. So no token reaches a bound that is past the longest token.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"

static tsl__expr compute(tsl__exprs *x, const tsl__node *n, uint8_t byte, bool last) {
  tsl__expr d = tsl__derive_in(x, n->a, byte, false);
  (void)last;
  return d ? tsl__expr_seq(x, d, tsl__one_fewer(x, n)) : TSL__NONE;
}

static tsl__expr derive(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last) {
  if (e == x->text && byte < 0x80) return e;
  return tsl__derive_remembered(x, e, n, byte, last, compute);
}

static tsl__expr derive_counted(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                                bool last) {
  (void)e, (void)n, (void)byte, (void)last;
  tsl__exprs_fail(x, TSL_ERR_UNSUPPORTED, "an active loop in a plain derivative");
  return TSL__NONE;
}

static tsl__expr reads(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                       tsl__reads *out) {
  (void)x, (void)e, (void)out;
  *last = false;
  return n->a;
}

static bool alike(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__alike *out,
                  tsl__expr *next) {
  (void)x, (void)e, (void)out;
  *last = false;
  *next = n->a;
  return true;
}

static uint32_t shortest(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                         unsigned depth) {
  (void)e;
  return n->b ? tsl__capped((uint64_t)n->b * tsl__shortest_in(x, n->a, spelled, depth + 1)) : 0;
}

static void print(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  tsl__print_char(w, '(');
  tsl__print_expr(x, n->a, w, depth + 1);
  if (n->b == 0 && n->c == TSL__INF)
    tsl__print_text(w, ")*");
  else if (n->c == TSL__INF)
    tsl__print_format(w, "){%u,}", n->b);
  else
    tsl__print_format(w, "){%u,%u}", n->b, n->c);
  if (n->kind == TSL__K_COUNTED) tsl__print_char(w, '@');
}

static tsl__expr alphabet(tsl__alphabet *a, const tsl__node *n, unsigned depth, tsl__bytes *out) {
  (void)a, (void)depth, (void)out;
  return n->a;
}

static uint32_t times(uint32_t n, uint32_t count) {
  if (!n || !count) return 0;
  return n == TSL__INF || count == TSL__INF ? TSL__INF : tsl__multiply(n, count);
}

static tsl__length characters(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  tsl__length one = tsl__characters_in(x, n->a, depth + 1);
  return (tsl__length){times(one.least, n->b), times(one.most, n->c)};
}

/* An iteration takes a byte at least, so a bound of more iterations than a token has bytes is the
 * same for every token. */
static bool meaning(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  bool far = !m->bounded;
  uint32_t least = far && n->b > m->height ? m->height + 1 : n->b,
           most = far && n->c > m->height ? TSL__INF : n->c;
  (void)e;
  return tsl__meaning_node(m, n, least, most, 0, n->a, TSL__NONE, out);
}

/* What is left of the bounds is in the register, not in the expression. */
static bool meaning_counted(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  return tsl__meaning_node(m, n, 0, 0, 0, n->a, TSL__NONE, out);
}

const tsl__kind_ops tsl__kind_repeat = {.derive = derive,
                                        .reads = reads,
                                        .alike = alike,
                                        .shortest = shortest,
                                        .print = print,
                                        .alphabet = alphabet,
                                        .characters = characters,
                                        .meaning = meaning};
const tsl__kind_ops tsl__kind_counted = {.derive = derive_counted,
                                         .reads = reads,
                                         .alike = alike,
                                         .print = print,
                                         .alphabet = alphabet,
                                         .meaning = meaning_counted};
