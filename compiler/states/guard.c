/* guard.c - the place in an expression where something that was spelled must be new, or must not
 * be.
 *
 * A guard is a rule that is put in place and matches ε, so that derivatives, emptiness and lengths
 * need not know of it. It stands at the head of what follows a call, and means something only
 * there. The state that the called frame comes back to is known from its expression to be guarded.
 * The expression also says which state follows if the guard fails. Alternatives with and without a
 * guard can share the call: then those without a guard stay.
 *
 * Tested by tests/position/test_distinct.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/expr/meaning.h"
#include "runtime/automaton/state.h"

#include <stdio.h>

static tsl__expr unfold(tsl__exprs *x, void *ctx, uint32_t param) {
  (void)x;
  (void)ctx;
  (void)param;
  return TSL__EPS;
}

static const uint8_t kinds[TSL__GUARDS] = {TSL__NEW_ITEM, TSL__NEW_NAME, TSL__SAME_ITEM};
static const char *const names[TSL__GUARDS] = {"new", "new-name", "same"};

static uint32_t index_of(uint32_t kind) {
  uint32_t index = 0;
  while (kinds[index] != kind) index++;
  return index;
}

static void print(void *ctx, uint32_t kind, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "%s", names[index_of(kind)]);
}

static bool meaning(tsl__meaning *m, void *ctx, uint32_t kind, tsl__digest *out) {
  (void)ctx;
  return tsl__meaning_data(m, TSL__MEANS_GUARD + kind, "", 0, out);
}

static const tsl__rule_ops ops = {unfold, print, meaning, NULL, NULL};

tsl__expr tsl__expr_guard(tsl__exprs *x, uint8_t kind) {
  tsl__expr *guard = &x->guards[index_of(kind)];
  if (*guard == TSL__NONE)
    *guard = tsl__expr_rule(x, &ops, NULL, kind, TSL__RULE_NULLABLE | TSL__RULE_INLINE, 0);
  return *guard;
}

/* The kind of guard that e begins with; 0: none. */
static uint8_t kind_at_head(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr head = n.kind == TSL__K_SEQ ? n.a : e;
  for (uint32_t i = 0; i < TSL__GUARDS; i++)
    if (head == x->guards[i] && head != TSL__NONE) return kinds[i];
  return 0;
}

tsl__expr tsl__expr_unguarded(tsl__exprs *x, tsl__expr e, uint8_t gone, uint8_t *found) {
  tsl__node n = tsl__node_at(x, e);
  uint8_t kind = kind_at_head(x, e), some = 0;
  *found |= kind;
  if (kind & gone) return TSL__NONE;
  if (n.kind != TSL__K_ALT) return e;
  tsl__expr rest = TSL__NONE;
  for (uint32_t i = 0; i < n.b; i++) some |= kind_at_head(x, tsl__list_at(x, n.a)[i]);
  *found |= some;
  if (!(some & gone)) return e;
  /* an alternative is no alternation itself: one level of recursion */
  for (uint32_t i = 0; i < n.b; i++) {
    uint8_t ignored = 0;
    rest = tsl__expr_alt(x, rest, tsl__expr_unguarded(x, tsl__list_at(x, n.a)[i], gone, &ignored));
  }
  return rest;
}
