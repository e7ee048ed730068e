/* call.c - RULE: an expression of its own, unfolded when something first reads it; and TOKEN:
 * one of some tokens, whatever bytes they have.
 *
 * A rule that something follows is a call: it reads no byte itself, and the matcher pushes a frame
 * for it (calls.c). A rule that is last in its frame, or that is marked as inline, stands for its
 * body. A token is always a call.
 *
 * Example   With r = ab: r alone reads `a` and leaves b; r·c reads no byte and calls r.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"
#include "runtime/kernels/digest.h"

/* ---- RULE ------------------------------------------------------------------------------------ */

static tsl__expr derive_rule(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                             bool last) {
  (void)e;
  if ((!last && tsl__node_is_call(x, n)) || !tsl__unfold(x)) return TSL__NONE;
  tsl__expr d = tsl__derive_in(x, tsl__rule_body(x, n->a), byte, last);
  x->depth--;
  return d;
}

static tsl__expr read_rule(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                           tsl__reads *out) {
  (void)e;
  out->guessed = true; /* a call leads nowhere by itself */
  if ((!*last && tsl__node_is_call(x, n)) || !tsl__unfold(x)) return TSL__NONE;
  tsl__reads_add(x, tsl__rule_body(x, n->a), *last, out);
  x->depth--;
  return TSL__NONE;
}

static bool split_by_rule(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                          tsl__alike *out, tsl__expr *next) {
  (void)e, (void)next;
  if (!*last && tsl__node_is_call(x, n)) return true;
  if (!tsl__unfold(x)) return false;
  bool known = tsl__alike_in(x, tsl__rule_body(x, n->a), *last, out);
  x->depth--;
  return known;
}

static uint32_t shortest_rule(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                              unsigned depth) {
  const tsl__rule *rule = tsl__rule_at(x, n->a);
  (void)e, (void)spelled, (void)depth;
  if (!rule->ops->shortest || rule->flags & TSL__RULE_MEASURED) return rule->shortest;
  /* may make rules, which moves them */
  uint32_t bytes = rule->ops->shortest(x, rule->ctx, rule->param);
  if (x->status != TSL_OK || n->a < x->rule_base) return bytes;
  tsl__rule_at(x, n->a)->shortest = bytes;
  tsl__rule_at(x, n->a)->flags |= TSL__RULE_MEASURED;
  return bytes;
}

static void print_rule(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  const tsl__rule *rule = tsl__rule_at(x, n->a);
  char name[TSL__PRINT_NAME_MAX] = "";
  (void)depth;
  if (rule->ops->print) rule->ops->print(rule->ctx, rule->param, name, sizeof name);
  tsl__print_name(w, name);
}

static bool mean_rule(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  const tsl__rule *r = tsl__rule_at(m->x, n->a);
  struct {
    uint32_t kind, flags;
    tsl__digest body;
  } of = {.kind = n->kind, .flags = r->flags & ~TSL__RULE_MEASURED};
  (void)e;
  if (!r->ops->meaning || !r->ops->meaning(m, r->ctx, r->param, &of.body)) return false;
  *out = tsl__digest_of(m->secret, &of, sizeof of);
  return true;
}

const tsl__kind_ops tsl__kind_rule = {.derive = derive_rule,
                                      .reads = read_rule,
                                      .alike = split_by_rule,
                                      .shortest = shortest_rule,
                                      .print = print_rule,
                                      .meaning = mean_rule};

/* ---- TOKEN ----------------------------------------------------------------------------------- */

static void print_token(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  (void)depth;
  tsl__print_text(w, n->c ? "!<" : "<");
  for (uint32_t i = 0; i < n->b; i++)
    tsl__print_format(w, "%s[%u]", i ? "," : "", tsl__list_at(x, n->a)[i]);
  tsl__print_char(w, '>');
}

const tsl__kind_ops tsl__kind_token = {.alike = tsl__alike_reads_none, .print = print_token};
