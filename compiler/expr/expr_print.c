/* expr_print.c - expressions in a regex-like notation, for listings and tests.
 *
 * Notation  literals as themselves, [..] byte sets, (a|b), (a)*, (a){m,n}, (a){m,n}@ for an active
 *           loop, (a&b), !(a). <name> is a rule or a native automaton, <[7],[9]> one of these
 *           tokens, !<[7]> any other. j"e" is the rest of a JSON string, j\e" that after a
 *           backslash. j\uN:V:H e" is that after N digits of \u with the value V (H: the high
 *           surrogate before, or 0). {a,b} is a set of strings, keys{a,b} are names that the schema
 *           knows. name#N is the end of the Nth of them, and then#N what follows, ... for more
 *           strings than 8 and what is nested deeper than 200, <char> for any character. ε and ∅
 *           stand for themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

#define DEPTH_MAX 200u

void tsl__print_byte(tsl__printer *w, uint8_t byte) {
  if (byte == '\n')
    tsl__print_text(w, "\\n");
  else if (byte < 0x20 || byte >= 0x7F)
    tsl__print_format(w, "\\x%02X", byte);
  else
    tsl__print_format(w, strchr("()[]{}|&!*<>\\", byte) ? "\\%c" : "%c", byte);
}

void tsl__print_list(const tsl__exprs *x, const tsl__node *n, const char *between, tsl__printer *w,
                     unsigned depth) {
  tsl__print_char(w, '(');
  for (uint32_t i = 0; i < n->b && w->length <= w->size; i++) {
    if (i) tsl__print_text(w, between);
    tsl__print_expr(x, tsl__list_at(x, n->a)[i], w, depth + 1);
  }
  tsl__print_char(w, ')');
}

void tsl__print_name(tsl__printer *w, const char *name) {
  tsl__print_format(w, "<%s>", name[0] ? name : "rule");
}

/* Any character of UTF-8: known by its expression. */
static bool is_any_char(const tsl__exprs *x, tsl__expr e) {
  for (; x; x = x->parent)
    if (x->any_char == e && e != TSL__NONE) return true;
  return false;
}

void tsl__print_expr(const tsl__exprs *x, tsl__expr e, tsl__printer *w, unsigned depth) {
  if (w->length > w->size) return;
  tsl__node n = tsl__node_at(x, e);
  if (is_any_char(x, e))
    tsl__print_text(w, "<char>");
  else if (depth > DEPTH_MAX)
    tsl__print_text(w, "...");
  else
    tsl__kinds[n.kind]->print(x, &n, w, depth);
}

size_t tsl__expr_print(const tsl__exprs *x, tsl__expr e, char *out, size_t size) {
  tsl__printer w = {out, size, 0};
  tsl__print_expr(x, e, &w, 0);
  return tsl__print_end(&w);
}
