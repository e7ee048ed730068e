/* after.c - what may follow a given beginning of an expression's texts.
 *
 * Problem   A model writes free text up to a trigger such as "<tool_call>". From there on a grammar
 *           holds whose texts begin with the trigger. When the trigger was found it has been
 *           written, so the rest of the grammar is wanted: the left quotient by a string.
 * Idea      One derivative after the other, by the bytes of the string. Derivatives of a frame
 *           (deriv.c) leave calls to the matcher, which has a stack. Here is no stack. So a rule at
 *           the beginning is looked into, and what follows it is put behind what is left of its
 *           body.
 * Example   r = "<a" (r | "b") ">". After "<a<a" of r: (r | "b") ">" ">".
 * Cost      For each byte one constructor for each part that begins there and for each around it.
 * Depth     Recursion follows the nesting of an expression; tsl__unfold bounds that of rules.
 * Tested by tests/expr/test_after.c, tests/grammar/test_request.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

static tsl__expr after(tsl__exprs *x, tsl__expr e, uint8_t byte) {
  tsl__node n = tsl__node_at(x, e);
  tsl__expr all = TSL__NONE;
  if (tsl__exprs_status(x) != TSL_OK || !tsl__exprs_work(x, 1)) return TSL__NONE;
  if (!(n.flags & TSL__CALLS)) return tsl__derive_plain(x, e, byte);
  switch ((tsl__kind)n.kind) {
  case TSL__K_RULE:
    if (!tsl__unfold(x)) return TSL__NONE;
    all = after(x, tsl__rule_body(x, n.a), byte);
    x->depth--;
    return all;
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      all = tsl__expr_alt(x, all, after(x, tsl__list_at(x, n.a)[i], byte));
    return all;
  case TSL__K_SEQ: {
    tsl__node head = tsl__node_at(x, n.a);
    all = tsl__expr_seq(x, after(x, n.a, byte), n.b);
    if (tsl__nullable_in(&head, TSL__PHASE_LOW)) all = tsl__expr_alt(x, all, after(x, n.b, byte));
    return all;
  }
  case TSL__K_REPEAT: return tsl__expr_seq(x, after(x, n.a, byte), tsl__one_fewer(x, &n));
  default: return TSL__NONE; /* a token: its bytes are not spelled */
  }
}

tsl__expr tsl__expr_after(tsl__exprs *x, tsl__expr e, const void *bytes, size_t length) {
  for (size_t i = 0; i < length && e != TSL__NONE; i++)
    e = after(x, e, ((const uint8_t *)bytes)[i]);
  return tsl__exprs_status(x) == TSL_OK ? e : TSL__NONE;
}
