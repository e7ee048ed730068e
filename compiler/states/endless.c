/* endless.c - letters that never stop, and what a frame reads among them.
 *
 * Problem   letters.h explores which letters a state survives. That is too much work where words
 *           stand beside names. `name | "true" | "false"` is another state after each letter of
 *           "true". `(value ","?)*` may begin a word at each letter of a name.
 * Idea      One alternative is enough: `[a-z]*` goes on with letters for ever, whatever else the
 *           same letters lead to. What else may come among the letters need not be known for each
 *           state. An upper bound is enough: the bytes of each part to which letters alone can
 *           lead.
 * Example   ([a-z])*(" " value)* | "rue": the letters are a to z; the bytes among them are a to z
 *           and the space.
 * Cost      The expression is looked at once, in at most LOOKS parts; nothing is derived.
 * Tested by tests/walk/test_letters.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/letters.h"

#define DEPTH 64u   /* of what is looked at for bytes among letters */
#define LOOKS 4096u /* parts of that */

bool tsl__is_class_loop(const tsl__exprs *x, const tsl__node *n) {
  return (n->kind == TSL__K_REPEAT || n->kind == TSL__K_COUNTED) &&
         (tsl__node_at(x, n->a).flags & TSL__CHAR);
}

bool tsl__letters_endless(tsl__exprs *x, tsl__expr e, tsl__letter_set *out, uint32_t *need,
                          unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_SEQ) {
    if (!tsl__letters_endless(x, n.a, out, need, depth)) return false;
    uint32_t rest = tsl__expr_shortest(x, n.b);
    *need = tsl__add(*need, rest);
    return true;
  }
  if (n.kind == TSL__K_REPEAT && n.c == TSL__INF && tsl__is_class_loop(x, &n))
    return tsl__letters_of_class(x, n.a, out, &(tsl__bytes){{0}}), *need = tsl__expr_shortest(x, e),
                                                                   true;
  if (n.kind != TSL__K_ALT || depth > 4) return false;
  bool found = false;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__letter_set letters;
    uint32_t own;
    if (!tsl__letters_endless(x, tsl__list_at(x, n.a)[i], &letters, &own, depth + 1) ||
        (found && tsl__bytes_count(&letters.bytes) <= tsl__bytes_count(&out->bytes)))
      continue;
    *out = letters;
    *need = own;
    found = true;
  }
  return found;
}

/* What is read after letters. */
typedef struct after {
  tsl__exprs *x;
  const tsl__bytes *letters;
  tsl__bytes live; /* bytes that may be read before a letter, after one, or between two */
  bool calls;      /* a rule may be called there */
  uint32_t looks;
} after;

static bool read_after(after *a, tsl__expr e, bool last, unsigned depth);

static bool read_literal(after *a, const uint8_t *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    tsl__bytes_add(&a->live, at[i]);
    if (!tsl__bytes_has(a->letters, at[i])) return false;
  }
  return true;
}

static bool read_any(after *a, const tsl__node *n, bool last, unsigned depth) {
  bool through = false;
  for (uint32_t i = 0; i < n->b; i++)
    through |= read_after(a, tsl__list_at(a->x, n->a)[i], last, depth);
  return through;
}

/* Adds the bytes that a frame may read before which it read letters alone. True if e may be over
 * then; where its structure does not say so, it may, and any byte is read. A rule that is `last` in
 * its frame is read by the frame itself. */
static bool read_after(after *a, tsl__expr e, bool last, unsigned depth) {
  for (;; depth++) {
    tsl__node n = tsl__node_at(a->x, e);
    if (depth > DEPTH || ++a->looks > LOOKS) return a->live = TSL__BYTES_ALL, true;
    switch ((tsl__kind)n.kind) {
    case TSL__K_EPS: return true;
    case TSL__K_BYTES:
      tsl__bytes_or(&a->live, tsl__set_at(a->x, n.a));
      return tsl__bytes_meet(tsl__set_at(a->x, n.a), a->letters);
    case TSL__K_LIT: return read_literal(a, tsl__literal_at(a->x, n.a), n.b);
    case TSL__K_SEQ:
      if (!read_after(a, n.a, false, depth + 1)) return false;
      e = n.b;
      continue;
    case TSL__K_ALT: return read_any(a, &n, last, depth + 1);
    case TSL__K_REPEAT: return read_after(a, n.a, false, depth + 1) || tsl__expr_nullable(a->x, e);
    case TSL__K_RULE:
      a->calls = true;
      if (!last) return tsl__expr_nullable(a->x, e);
      e = tsl__rule_at(a->x, n.a)->body;
      if (e == TSL__NONE) return a->live = TSL__BYTES_ALL, true;
      continue;
    default: return a->live = TSL__BYTES_ALL, true;
    }
  }
}

void tsl__letters_leave_by(tsl__exprs *x, tsl__expr e, const tsl__bytes *letters, tsl__reached *r) {
  after a = {.x = x, .letters = letters};
  r->ends = read_after(&a, e, true, 0);
  r->calls = a.calls;
  r->live = a.live;
}
