/* alphabet.c - can some text of an expression hold a byte? Without a search: false is certain, true is a guess.
 *
 * Problem   Tool calls in tags write strings bare, up to a closing tag that they cannot hold. "A date without </parameter>" as a conjunction is a search through all
 *           dates, though none has a "<".
 * Idea      A walk over the expression, as a tree: bytes, literals and listed strings tell what they hold; a meet holds no more than each of its parts.
 *           An automaton in C says which ASCII characters it knows.
 * Bounds    At most LOOKS parts are looked at, DEPTH deep; past that, and for rules, tokens and negations, the answer is true.
 * Tested by tests/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr_node.h"

#define LOOKS 4096u
#define DEPTH 64u

typedef struct looking {
  const tsl__exprs *x;
  uint8_t byte;
  uint32_t looks;
} looking;

static bool strings_hold(const looking *l, const tsl__node *n) {
  const tsl__strings *s = tsl__strings_at(l->x, n->a);
  for (uint32_t i = n->b; i < n->c; i++)
    if (s->at[i].length > n->d && memchr(s->at[i].at + n->d, l->byte, s->at[i].length - n->d)) return true;
  return false;
}

static bool may_hold(looking *l, tsl__expr e, unsigned depth);

/* Of an ALT any part, of an AND every one. */
static bool list_holds(looking *l, const tsl__node *n, unsigned depth) {
  bool any = n->kind == TSL__K_ALT;
  for (uint32_t i = 0; i < n->b; i++)
    if (may_hold(l, tsl__list_at(l->x, n->a)[i], depth) == any) return any;
  return !any;
}

static bool native_holds(const looking *l, const tsl__node *n) {
  const char *ascii = tsl__native_at(l->x, n->a)->ops->ascii;
  return !ascii || l->byte >= 0x80 || (l->byte && strchr(ascii, l->byte));
}

static bool may_hold(looking *l, tsl__expr e, unsigned depth) {
  for (;;) {
    tsl__node n = tsl__node_at(l->x, e);
    if (++l->looks > LOOKS || depth > DEPTH) return true;
    switch ((tsl__kind)n.kind) {
      case TSL__K_NONE:
      case TSL__K_EPS: return false;
      case TSL__K_BYTES: return tsl__bytes_has(tsl__set_at(l->x, n.a), l->byte);
      case TSL__K_LIT: return memchr(tsl__literal_at(l->x, n.a), l->byte, n.b) != NULL;
      case TSL__K_STRSET: return strings_hold(l, &n);
      case TSL__K_ALT:
      case TSL__K_AND: return list_holds(l, &n, depth + 1);
      case TSL__K_SEQ:
        if (may_hold(l, n.a, depth + 1)) return true;
        e = n.b;
        continue;
      case TSL__K_REPEAT: e = n.a; continue;
      case TSL__K_NATIVE: return native_holds(l, &n);
      default: return true;
    }
  }
}

bool tsl__expr_may_hold(const tsl__exprs *x, tsl__expr e, uint8_t byte) {
  looking l = {x, byte, 0};
  return may_hold(&l, e, 0);
}
