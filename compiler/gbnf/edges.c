/* edges.c - with which bytes the texts of an expression begin, and with which they end.
 *
 * Problem   run.c puts a rule in place where its texts may run into what follows. Between words a
 *           grammar may have white space with comments, as one expression. A comment may hold any
 *           letter, but white space neither begins nor ends with one.
 * Idea      The bytes at the begin are those that the expression reads first. Those at the end are
 *           found by going through its parts from behind.
 * Bytes     Of characters past ASCII the first byte stands for the character, at both edges.
 * Example   /([ \t]|#[^\n]*\n)+/ begins with a space, a tab or "#", and ends with a space, a tab or
 *           a line break.
 * Bounds    At most LOOKS parts are looked at, DEPTH deep. Past that, and for parts whose ends are
 *           not known, the answer is each byte that the texts may hold. That may be too many, which
 *           run.c allows.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"
#include "compiler/expr/node.h"
#include "compiler/gbnf/ast.h"

#define LOOKS 512u
#define DEPTH 32u

/* Those that begin a character. */
static tsl__bytes leading(const tsl__bytes *set) {
  tsl__bytes out = *set, begins = {{0}};
  tsl__bytes_add_range(&begins, 0, 0x7F);
  tsl__bytes_add_range(&begins, 0xC0, 0xF4);
  for (unsigned i = 0; i < 4; i++) out.w[i] &= begins.w[i];
  return out;
}

/* Adds the bytes that texts may end with, those past ASCII as they are spelled last. False: that
 * is not known. Depth: at most DEPTH. */
static bool add_ends(const tsl__exprs *x, tsl__expr e, unsigned depth, uint32_t *looks,
                     tsl__bytes *out) {
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_SEQ && ++*looks <= LOOKS && !tsl__expr_nullable(x, n.b))
    n = tsl__node_at(x, n.b);
  if (depth == DEPTH || ++*looks > LOOKS) return false;
  switch ((tsl__kind)n.kind) {
  case TSL__K_NONE:
  case TSL__K_EPS: return true;
  case TSL__K_BYTES: tsl__bytes_or(out, tsl__set_at(x, n.a)); return true;
  case TSL__K_LIT: tsl__bytes_add(out, tsl__literal_at(x, n.a)[n.b - 1]); return true;
  case TSL__K_REPEAT:
  case TSL__K_COUNTED: return add_ends(x, n.a, depth + 1, looks, out);
  case TSL__K_SEQ:
    return add_ends(x, n.b, depth + 1, looks, out) &&
           (!tsl__expr_nullable(x, n.b) || add_ends(x, n.a, depth + 1, looks, out));
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      if (!add_ends(x, tsl__list_at(x, n.a)[i], depth + 1, looks, out)) return false;
    return true;
  default: return false;
  }
}

void tsl__gbnf_expression_edge(tsl__gbnf *g, tsl__expr e, bool last, tsl__bytes *out) {
  tsl__bytes all = {{0}}, ends = {{0}};
  tsl__reads reads;
  uint32_t looks = 0;
  if (e == TSL__NONE) return;
  bool plain = !tsl__expr_has_calls(g->x, e);
  if (plain && !last) {
    tsl__reads_of(g->x, e, &reads);
    tsl__bytes_or(out, &reads.live);
    return;
  }
  bool known = plain && add_ends(g->x, e, 0, &looks, &ends), ascii = !ends.w[2] && !ends.w[3];
  if (known) {
    ends.w[2] = ends.w[3] = 0;
    tsl__bytes_or(out, &ends);
    if (ascii) return;
  }
  tsl__expr_alphabet(g->x, e, &all);
  if (known) all.w[0] = all.w[1] = 0;
  all = leading(&all);
  tsl__bytes_or(out, &all);
}
