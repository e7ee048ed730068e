/* endless.c - letters that never stop, and what a frame reads among them.
 *
 * Problem   letters.h explores which letters a state survives. That is too much work where words
 *           stand beside names. `name | "true" | "false"` is another state after each letter of
 *           "true". `(value ","?)*` may begin a word at each letter of a name.
 * Idea      A state survives letters for ever if one alternative does, such as `[a-z]*`. The other
 *           alternatives do not matter for that. They matter for the bytes that a frame may read
 *           among the letters. An upper bound is enough for these: the bytes that begin each part
 *           which letters alone can reach.
 * Loops     The same holds for the alternatives of a loop's body. In `([^"\\] | "\\" .)*` the class
 *           alone is looked at, as the loop goes on after each character of the class. Characters
 *           past ASCII are alternatives of their own there, one for each form of UTF-8. They are
 *           letters if all these alternatives lead back to the loop.
 * Example   ([a-z])*(" " value)* | "rue": the letters are a to z. The bytes that may come before,
 *           between and after letters are a to z and the space.
 * Cost      The expression is looked at once, in at most LOOKS parts; nothing is derived.
 * Tested by tests/walk/test_letters.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/letters.h"

#define DEPTH 64u        /* of what is looked at for bytes among letters */
#define LOOKS 4096u      /* parts of that */
#define ENDLESS_DEPTH 8u /* of what is looked at for loops without an upper bound */
#define COUNTS_DEPTH 8u  /* of what is looked at for groups that count down */
#define COUNTS_MIN 8u    /* from so many times: all that their letters lead to is too much work */

/* ---- is exploring worth it? ------------------------------------------------------------------ */

/* What is read in loops without an upper bound. */
typedef struct endless {
  tsl__bytes ascii;
  uint64_t nonascii; /* non-ASCII characters */
} endless;

static bool adds_enough(tsl__exprs *x, tsl__expr e, unsigned depth, endless *in);

/* The characters of a loop's body. */
static bool loops_enough(tsl__exprs *x, tsl__expr body, endless *in) {
  tsl__bytes live;
  if (!(tsl__node_at(x, body).flags & TSL__CHAR)) return true;
  const tsl__nonascii_class *nonascii = tsl__nonascii_class_of(x, body);
  tsl__live_bytes(x, body, &live);
  tsl__bytes_or(&in->ascii, &live);
  if (live.w[3]) in->nonascii += nonascii ? tsl__nonascii_count(nonascii) : TSL__NONASCII_MIN;
  return tsl__ones(in->ascii.w[0]) + tsl__ones(in->ascii.w[1]) >= TSL__LETTERS_MIN ||
         in->nonascii >= TSL__NONASCII_MIN;
}

/* Each part of a meet reads them. */
static bool meet_has_enough(tsl__exprs *x, const tsl__node *n, unsigned depth) {
  for (uint32_t i = 0; i < n->b; i++)
    if (!adds_enough(x, tsl__list_at(x, n->a)[i], depth, &(endless){.nonascii = 0})) return false;
  return true;
}

/* May so many letters be read without end that they are worth a class? What is read in no such loop
 * is read only so often. True if in doubt. */
static bool adds_enough(tsl__exprs *x, tsl__expr e, unsigned depth, endless *in) {
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    if (n.flags & TSL__FINITE) return false;
    if (depth > ENDLESS_DEPTH) return true;
    switch ((tsl__kind)n.kind) {
    case TSL__K_SEQ:
      if (adds_enough(x, n.a, depth + 1, in)) return true;
      e = n.b;
      continue;
    case TSL__K_ALT:
      for (uint32_t i = 0; i < n.b; i++)
        if (adds_enough(x, tsl__list_at(x, n.a)[i], depth + 1, in)) return true;
      return false;
    case TSL__K_AND: return meet_has_enough(x, &n, depth + 1);
    case TSL__K_COUNTED:
    case TSL__K_REPEAT:
      e = n.a;
      if (n.c == TSL__INF) return loops_enough(x, e, in);
      continue;
    default: return true;
    }
  }
}

/* Has it groups that count down? Letters that go through one lead to other expressions each time:
 * to too many. What does not is found all the same. */
static bool counts_down(const tsl__exprs *x, tsl__expr e, unsigned depth) {
  for (;; depth++) {
    tsl__node n = tsl__node_at(x, e);
    if (n.flags & (TSL__CHAR | TSL__FINITE) || depth > COUNTS_DEPTH) return false;
    if (n.kind == TSL__K_REPEAT && n.c != TSL__INF && n.c >= COUNTS_MIN)
      return !(tsl__node_at(x, n.a).flags & TSL__CHAR);
    if (n.kind == TSL__K_ALT) {
      for (uint32_t i = 0; i < n.b; i++)
        if (counts_down(x, tsl__list_at(x, n.a)[i], depth + 1)) return true;
      return false;
    }
    if (n.kind != TSL__K_SEQ) return false;
    if (counts_down(x, n.a, depth + 1)) return true;
    e = n.b;
  }
}

bool tsl__reads_enough(tsl__exprs *x, tsl__expr e) {
  return adds_enough(x, e, 0, &(endless){.nonascii = 0});
}

bool tsl__counts_down(const tsl__exprs *x, tsl__expr e) { return counts_down(x, e, 0); }

/* ---- letters that never stop ----------------------------------------------------------------- */

bool tsl__is_class_loop(const tsl__exprs *x, const tsl__node *n) {
  return (n->kind == TSL__K_REPEAT || n->kind == TSL__K_COUNTED) &&
         (tsl__node_at(x, n->a).flags & TSL__CHAR);
}

static bool is_larger(const tsl__letter_set *a, const tsl__letter_set *b) {
  return tsl__bytes_count(&a->bytes) > tsl__bytes_count(&b->bytes);
}

/* The class that is the body of a loop, or the largest one among its alternatives: what stands
 * beside the class need not be read. There characters past ASCII are alternatives of their own, and
 * are letters if all of them lead back to the loop. */
static bool letters_of_loop(tsl__exprs *x, tsl__expr loop, tsl__letter_set *out) {
  tsl__expr body = tsl__node_at(x, loop).a;
  tsl__node n = tsl__node_at(x, body);
  bool found = false;
  if (n.flags & TSL__CHAR) return tsl__letters_of_class(x, body, out, &(tsl__bytes){{0}}), true;
  for (uint32_t i = 0; n.kind == TSL__K_ALT && i < n.b; i++) {
    tsl__expr class = tsl__list_at(x, n.a)[i];
    tsl__letter_set letters;
    if (!(tsl__node_at(x, class).flags & TSL__CHAR)) continue;
    tsl__letters_of_class(x, class, &letters, &(tsl__bytes){{0}});
    if (found && !is_larger(&letters, out)) continue;
    *out = letters;
    found = true;
  }
  if (found && tsl__letters_enough(out) && !tsl__letters_nonascii(out) &&
      tsl__nonascii_come_back(x, loop))
    tsl__add_multibyte(&out->bytes);
  return found;
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
  if (n.kind == TSL__K_REPEAT && n.c == TSL__INF) {
    *need = tsl__expr_shortest(x, e);
    return letters_of_loop(x, e, out);
  }
  if (n.kind != TSL__K_ALT || depth > 4) return false;
  bool found = false;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__letter_set letters;
    uint32_t own;
    if (!tsl__letters_endless(x, tsl__list_at(x, n.a)[i], &letters, &own, depth + 1) ||
        (found && !is_larger(&letters, out)))
      continue;
    *out = letters;
    *need = own;
    found = true;
  }
  return found;
}

/* ---- what is read among them ----------------------------------------------------------------- */

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
