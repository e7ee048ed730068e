/* alphabet.c - the bytes that texts of an expression can hold, without a search. A byte that is
 * left out is in no text; a byte that is named may be in some.
 *
 * Problem   Tool calls in tags write strings bare, up to a closing tag that they cannot hold. "A
 *           date without </parameter>" as a conjunction is a search through all dates, though none
 *           has a "<". And the walk need not look where a token holds a byte that no text of a
 *           state has.
 * Idea      A walk over the expression, as a tree. Bytes, literals and listed strings say what they
 *           hold. A meet holds no more than each of its parts. An automaton in C says which ASCII
 *           characters it knows.
 * Bounds    At most LOOKS parts are looked at, DEPTH deep. Past that, and for rules, tokens and
 *           negations, the answer is any byte.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

#define LOOKS 4096u
#define DEPTH 64u

void tsl__alphabet_text(tsl__bytes *out, const void *text, size_t n) {
  const uint8_t *at = text;
  for (size_t i = 0; i < n; i++) tsl__bytes_add(out, at[i]);
}

bool tsl__alphabet_look(tsl__alphabet *a, uint64_t n, tsl__bytes *out) {
  if ((a->looks += (uint32_t)n) <= LOOKS) return true;
  *out = TSL__BYTES_ALL;
  return false;
}

void tsl__alphabet_add(tsl__alphabet *a, tsl__expr e, unsigned depth, tsl__bytes *out) {
  do {
    tsl__node n = tsl__node_at(a->x, e);
    const tsl__kind_ops *kind = tsl__kinds[n.kind];
    if (!tsl__alphabet_look(a, 1, out)) return;
    if (depth > DEPTH || !kind->alphabet) {
      *out = TSL__BYTES_ALL;
      return;
    }
    e = kind->alphabet(a, &n, depth, out);
  } while (e);
}

void tsl__expr_alphabet(const tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__alphabet a = {x, 0};
  memset(out, 0, sizeof *out);
  tsl__alphabet_add(&a, e, 0, out);
}
