/* alphabet.c - the bytes that texts of an expression can hold. Without a search: one that is left
 * out is in none of them, one that is named may be in some.
 *
 * Problem   Tool calls in tags write strings bare, up to a closing tag that they cannot hold. "A
 *           date without </parameter>" as a conjunction is a search through all dates, though none
 *           has a "<". And the walk need not look where a token holds a byte that no text of a
 *           state has.
 * Idea      A walk over the expression, as a tree: bytes, literals and listed strings tell what
 *           they hold; a meet holds no more than each of its parts. An automaton in C says which
 *           ASCII characters it knows.
 * Bounds    At most LOOKS parts are looked at, DEPTH deep; past that, and for rules, tokens and
 *           negations, it is any byte.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"

#define LOOKS 4096u
#define DEPTH 64u

/* the end of a JSON string, and what escapes are made of */
#define SPELLED TSL__ESCAPE_LETTERS "u0123456789abcdefABCDEF"

typedef struct looking {
  const tsl__exprs *x;
  uint32_t looks;
} looking;

static void add_text(tsl__bytes *out, const void *text, size_t n) {
  const uint8_t *at = text;
  for (size_t i = 0; i < n; i++) tsl__bytes_add(out, at[i]);
}

static void add_strings(looking *l, const tsl__node *n, tsl__bytes *out) {
  const tsl__strings *s = tsl__strings_at(l->x, n->a);
  if ((l->looks += n->c - n->b) > LOOKS) {
    *out = TSL__BYTES_ALL;
    return;
  }
  for (uint32_t i = n->b; i < n->c; i++)
    if (s->at[i].length > n->d) add_text(out, s->at[i].at + n->d, s->at[i].length - n->d);
}

static void add_native(const looking *l, const tsl__node *n, tsl__bytes *out) {
  const char *ascii = tsl__native_at(l->x, n->a)->ops->ascii;
  if (!ascii)
    *out = TSL__BYTES_ALL;
  else
    add_text(out, ascii, strlen(ascii)), tsl__bytes_add_range(out, 0x80, 0xFF);
}

static void add(looking *l, tsl__expr e, unsigned depth, tsl__bytes *out);

static void add_meet(looking *l, const tsl__node *n, unsigned depth, tsl__bytes *out) {
  tsl__bytes meet = TSL__BYTES_ALL;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__bytes part = {{0}};
    add(l, tsl__list_at(l->x, n->a)[i], depth, &part);
    for (int w = 0; w < 4; w++) meet.w[w] &= part.w[w];
  }
  tsl__bytes_or(out, &meet);
}

static void add(looking *l, tsl__expr e, unsigned depth, tsl__bytes *out) {
  for (;;) {
    tsl__node n = tsl__node_at(l->x, e);
    if (++l->looks > LOOKS || depth > DEPTH) {
      *out = TSL__BYTES_ALL;
      return;
    }
    switch ((tsl__kind)n.kind) {
    case TSL__K_NONE:
    case TSL__K_EPS: return;
    case TSL__K_BYTES: tsl__bytes_or(out, tsl__set_at(l->x, n.a)); return;
    case TSL__K_LIT: add_text(out, tsl__literal_at(l->x, n.a), n.b); return;
    case TSL__K_STRSET: add_strings(l, &n, out); return;
    case TSL__K_ALT:
      for (uint32_t i = 0; i < n.b; i++) add(l, tsl__list_at(l->x, n.a)[i], depth + 1, out);
      return;
    case TSL__K_AND: add_meet(l, &n, depth + 1, out); return;
    case TSL__K_SEQ:
      add(l, n.a, depth + 1, out);
      e = n.b;
      continue;
    case TSL__K_COUNTED:
    case TSL__K_REPEAT: e = n.a; continue;
    case TSL__K_JSTR:
    case TSL__K_JESC:
    case TSL__K_JHEX:
      add_text(out, SPELLED, sizeof SPELLED - 1);
      e = n.a;
      continue;
    case TSL__K_NATIVE: add_native(l, &n, out); return;
    default: *out = TSL__BYTES_ALL; return;
    }
  }
}

void tsl__expr_alphabet(const tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  looking l = {x, 0};
  memset(out, 0, sizeof *out);
  add(&l, e, 0, out);
}
