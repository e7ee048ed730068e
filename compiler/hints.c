/* hints.c - which letters a state lives on, and differences.
 *
 * Problem   The walk is fast where it knows that a whole class of tokens stays inside a frame. The runtime sees states only; the structure that tells is here.
 * Letters   A set C of characters such that the expression survives every text over C. Three ways to find one:
 *             - a loop over one class of characters, counted or not: its class, if what follows cannot begin with a letter;
 *             - otherwise explore: take the characters that may come next, follow them, and drop those that die somewhere, until what is reached is closed under
 *               what remains (a greatest fixed point; given up beyond STATES_MAX states).
 *           Only raw characters of a JSON string count (no quote, backslash or control character): escapes are exits.
 * Difference  "Any text but the strings of a finite set" is the state of any text, less the set. Exact where each rest of the base language is infinite, which holds
 *           for anything that ends in `text`.
 * Tested by tests/test_oracle.c (masks with and without hints are equal)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/hints.h"

#define STATES_MAX 24u
#define ROUNDS_MAX 4u

static unsigned count_bytes(const tsl__bytes *s) {
  unsigned n = 0;
  for (int i = 0; i < 4; i++) n += (unsigned)__builtin_popcountll(s->w[i]);
  return n;
}

static void add_multibyte(tsl__bytes *s) { tsl__bytes_add_range(s, 0x80, 0xF4); }

/* The bytes that lead anywhere. */
static void live_bytes(tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__bytes edges;
  bool alive = false;
  memset(out, 0, sizeof *out);
  tsl__boundaries(x, e, &edges);
  for (unsigned b = 0; b < 256; b++) {
    if (b == 0 || tsl__bytes_has(&edges, b)) alive = tsl__derive_plain(x, e, (uint8_t)b) != TSL__NONE;
    if (alive) tsl__bytes_add(out, b);
  }
}

/* ---- all characters beyond ASCII ------------------------------------------------------------------------------ */

typedef struct reached {
  tsl__expr at[STATES_MAX];
  unsigned n;
  bool full, dead;
} reached;

static void reach(reached *r, tsl__expr e) {
  if (e == TSL__NONE) {
    r->dead = true;
    return;
  }
  for (unsigned i = 0; i < r->n; i++)
    if (r->at[i] == e) return;
  if (r->n == STATES_MAX) r->full = true;
  else r->at[r->n++] = e;
}

static void spread(tsl__exprs *x, tsl__expr e, const uint8_t *lo, const uint8_t *hi, unsigned at, unsigned n, reached *out) {
  if (at == n || out->full || out->dead) {
    reach(out, e);
    return;
  }
  tsl__bytes edges;
  tsl__boundaries(x, e, &edges);
  for (unsigned b = lo[at]; b <= hi[at] && !out->full && !out->dead; b++) {
    if (b != lo[at] && !tsl__bytes_has(&edges, b)) continue;
    tsl__expr d = tsl__derive_plain(x, e, (uint8_t)b);
    if (d) spread(x, d, lo, hi, at + 1, n, out);
    else out->dead = true;
  }
}

/* Where all multi-byte characters lead; dead if some are illegal. */
static void spread_multibyte(tsl__exprs *x, tsl__expr e, reached *out) {
  static const struct { uint8_t lo[4], hi[4]; unsigned n; } rows[] = {
      {{0xC2, 0x80}, {0xDF, 0xBF}, 2},
      {{0xE0, 0xA0, 0x80}, {0xE0, 0xBF, 0xBF}, 3},
      {{0xE1, 0x80, 0x80}, {0xEC, 0xBF, 0xBF}, 3},
      {{0xED, 0x80, 0x80}, {0xED, 0x9F, 0xBF}, 3},
      {{0xEE, 0x80, 0x80}, {0xEF, 0xBF, 0xBF}, 3},
      {{0xF0, 0x90, 0x80, 0x80}, {0xF0, 0xBF, 0xBF, 0xBF}, 4},
      {{0xF1, 0x80, 0x80, 0x80}, {0xF3, 0xBF, 0xBF, 0xBF}, 4},
      {{0xF4, 0x80, 0x80, 0x80}, {0xF4, 0x8F, 0xBF, 0xBF}, 4},
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows && !out->dead && !out->full; i++) spread(x, e, rows[i].lo, rows[i].hi, 0, rows[i].n, out);
}

/* ---- exploring ------------------------------------------------------------------------------------------------ */

/* Follow the letters from every state reached; drop from `letters` what dies. Returns true if the set is closed now. */
static bool close_under(tsl__exprs *x, tsl__expr e, tsl__bytes *letters, reached *r) {
  tsl__bytes kept = *letters;
  *r = (reached){.n = 1, .at = {e}};
  for (unsigned i = 0; i < r->n && !r->full; i++) {
    tsl__bytes edges;
    tsl__expr d = TSL__NONE;
    tsl__boundaries(x, r->at[i], &edges);
    for (unsigned b = 0; b < 0x80; b++) {
      if (b == 0 || tsl__bytes_has(&edges, b)) d = tsl__derive_plain(x, r->at[i], (uint8_t)b);
      if (!tsl__bytes_has(&kept, b)) continue;
      if (d) reach(r, d);
      else kept.w[b >> 6] &= ~((uint64_t)1 << (b & 63));
    }
    if (!tsl__bytes_has(&kept, 0x80)) continue;
    reached wide = *r;
    wide.dead = false;
    spread_multibyte(x, r->at[i], &wide);
    if (wide.dead) kept.w[2] = kept.w[3] = 0;
    else *r = wide;
  }
  bool closed = !r->full && tsl__bytes_equal(&kept, letters);
  *letters = kept;
  return closed;
}

static bool explore(tsl__exprs *x, tsl__expr e, tsl__bytes *letters, bool *ends) {
  reached r;
  if (tsl__bytes_has(letters, 0xC2)) add_multibyte(letters);
  else letters->w[2] = letters->w[3] = 0;
  for (unsigned round = 0; round < ROUNDS_MAX && count_bytes(letters) >= TSL__LETTERS_MIN; round++) {
    if (close_under(x, e, letters, &r)) {
      *ends = false;
      for (unsigned i = 0; i < r.n; i++) *ends |= tsl__expr_nullable(x, r.at[i]);
      return true;
    }
    if (r.full) return false;
  }
  return false;
}

/* ---- by structure --------------------------------------------------------------------------------------------- */

/* The letters of a class of single characters: its ASCII members, and the rest if it has all of them. */
static void letters_of_class(tsl__exprs *x, tsl__expr class, tsl__bytes *out) {
  live_bytes(x, class, out);
  bool wide = tsl__bytes_has(out, 0xC2);
  out->w[2] = out->w[3] = 0;
  if (!wide) return;
  reached all = {.n = 0};
  spread_multibyte(x, class, &all);
  if (!all.dead && !all.full) add_multibyte(out);
}

/* A loop over one class of characters at the head of e; `then` is what follows. */
static bool class_loop(const tsl__exprs *x, tsl__expr e, tsl__node *loop, tsl__expr *then) {
  tsl__node n = tsl__node_at(x, e);
  *then = TSL__EPS;
  if (n.kind == TSL__K_SEQ) {
    *then = n.b;
    n = tsl__node_at(x, n.a);
  }
  *loop = n;
  return (n.kind == TSL__K_REPEAT || n.kind == TSL__K_COUNTED) && (tsl__node_at(x, n.a).flags & TSL__CHAR);
}

static void raw_only(tsl__bytes *s) {
  s->w[0] &= ~(uint64_t)0xFFFFFFFF & ~((uint64_t)1 << '"');
  s->w['\\' >> 6] &= ~((uint64_t)1 << ('\\' & 63));
}

static bool by_structure(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  tsl__node loop;
  tsl__expr then;
  tsl__bytes follow;
  if (!class_loop(x, e, &loop, &then)) return false;
  letters_of_class(x, loop.a, &out->letters);
  if (then != TSL__EPS) {
    tsl__node t = tsl__node_at(x, then);
    if (t.flags & (TSL__CALLS | TSL__COUNTS) || t.loop) return false;
    live_bytes(x, then, &follow);
    if (tsl__bytes_meet(&follow, &out->letters)) return false;
  }
  out->ends = tsl__node_at(x, then).flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH);
  out->counted = loop.c != TSL__INF;
  out->limit = loop.kind == TSL__K_REPEAT ? loop.c : TSL__INF;
  return true;
}

/* JSTR(rest & !finite), where every rest of `rest` is infinite because it ends in text. */
static bool ends_in_text(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_SEQ) {
    if (n.b == x->text) {
      tsl__node h = tsl__node_at(x, n.a);
      return h.flags & TSL__TEXTUAL;
    }
    n = tsl__node_at(x, n.b);
  }
  return e == x->text;
}

static bool difference(tsl__exprs *x, tsl__expr inner, tsl__letters *out) {
  tsl__node n = tsl__node_at(x, inner);
  tsl__expr except = TSL__NONE, rest = TSL__NONE;
  if (n.kind != TSL__K_AND || n.b != 2) return false;
  for (uint32_t i = 0; i < 2; i++) {
    tsl__expr c = tsl__list_at(x, n.a)[i];
    tsl__node m = tsl__node_at(x, c);
    if (m.kind == TSL__K_NOT && (tsl__node_at(x, m.a).flags & TSL__FINITE)) except = m.a;
    else rest = c;
  }
  if (!except || !rest || !ends_in_text(x, rest)) return false;
  out->base = tsl__expr_json_string(x, rest);
  out->except = tsl__expr_json_string(x, except);
  return true;
}

void tsl__letters_of(tsl__exprs *x, tsl__expr e, tsl__letters *out) {
  memset(out, 0, sizeof *out);
  out->limit = TSL__INF;
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_RULE && tsl__rule_at(x, n.a)->body) { /* a called frame begins as its rule */
    e = tsl__rule_at(x, n.a)->body;
    n = tsl__node_at(x, e);
  }
  bool json = n.kind == TSL__K_JSTR;
  if (json && difference(x, n.a, out)) return;
  tsl__expr inner = json ? n.a : e;
  tsl__node m = tsl__node_at(x, inner);
  if (m.kind == TSL__K_KEYS || (!json && (m.flags & TSL__CALLS) && m.kind != TSL__K_SEQ)) return;
  bool found = by_structure(x, inner, out);
  if (!found && !m.loop && !(m.flags & TSL__CALLS)) {
    live_bytes(x, inner, &out->letters);
    if (json) raw_only(&out->letters);
    found = explore(x, inner, &out->letters, &out->ends);
    out->counted = false;
    out->limit = TSL__INF;
  }
  if (json) raw_only(&out->letters), out->ends = false;
  if (!found || count_bytes(&out->letters) < TSL__LETTERS_MIN) {
    memset(&out->letters, 0, sizeof out->letters);
    return;
  }
  for (int i = 0; i < 4; i++) out->exits.w[i] = ~out->letters.w[i];
  if (!json) return;
  out->exits.w[0] &= ~(uint64_t)0xFFFFFFFF; /* control characters are never legal in a JSON string */
}
