/* characters.c - bounds of how many characters a text has, by structure.
 *
 * A schema may ask for a length beside a pattern that has this length anyway: a UUID has 36
 * characters, a date at least one. Such a length need not be counted. The bounds come from the
 * parts: a literal counts its characters, a sequence adds, alternatives take the least and the
 * most, a loop multiplies (kind.h). What is nested deeper than 64 may have any length.
 *
 * Example   Of a{2,3}(é|bc) the bounds are 2 + 1 and 3 + 2.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

#define DEPTH_MAX 64u

tsl__length tsl__characters_in(const tsl__exprs *x, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  const tsl__kind_ops *kind = tsl__kinds[n.kind];
  if (n.flags & TSL__CHAR && e) return (tsl__length){1, 1};
  if (depth > DEPTH_MAX || !kind->characters) return (tsl__length){0, TSL__INF};
  return kind->characters(x, &n, depth);
}

void tsl__expr_characters(const tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most) {
  tsl__length r = tsl__characters_in(x, e, 0);
  *least = r.least;
  *most = r.most;
}
