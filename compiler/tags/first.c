/* first.c - free text up to the first of many strings to end, and what follows it. See tags.h.
 *
 * Problem   Triggers may overlap: `ab` and `bc` in `abc`. Then free text up to `bc` is an
 *           intersection with "no other string has ended before", for each trigger. With 66
 *           triggers that share their beginnings each mask took 65 ms.
 * Idea      One automaton follows all strings. Its state is a node of their trie with failure links
 *           (links.h). A byte leads to the next node. At a node where a string ends, only what
 *           follows that string is left. A text may also end before any string does, so the
 *           automaton is nullable after each whole character.
 * Example   Triggers `ab`, then X, and `bc`, then Y. After `x`, `a` and `b`: the node of `ab`,
 *           which ends: X is left. The text `xabc` never comes to `bc`.
 * Together  Several strings may end at once, such as `b` and `ab`: then what follows either of them
 *           is left. A string of an outer format has no follower here: where it ends, nothing is
 *           left.
 * Limits    Strings of ASCII only, so that any other character leads back to the root, and every
 *           node can go on. Other strings, and triggers that spell special tokens, use the
 *           intersection.
 * Cost      A look at the children of a node, and of those that its links lead to.
 * Tested by tests/tags/test_tags.c (all short texts, against a naive search)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/node.h"
#include "compiler/tags/links.h"
#include "compiler/tags/lower.h"

typedef struct first {
  tsl__link *at;   /* the trie */
  tsl__expr *then; /* of each node where a string ends: what follows; NONE: nothing may */
  tsl__bytes all;  /* bytes of the strings */
} first;

/* ---- characters ------------------------------------------------------------------------------ */

/* Within a character: bytes to come, and from where to where the next one may be. */
static const struct within {
  uint8_t rest, lo, hi;
} withins[] = {{0, 0, 0},       {1, 0x80, 0xBF}, {2, 0x80, 0xBF}, {2, 0xA0, 0xBF},
               {2, 0x80, 0x9F}, {3, 0x80, 0xBF}, {3, 0x90, 0xBF}, {3, 0x80, 0x8F}};
#define WITHINS 8u

/* After the first byte of a character past ASCII; 0: it is none. */
static uint32_t within_after(uint8_t byte) {
  if (byte < 0xC2 || byte > 0xF4) return 0;
  if (byte < 0xE0) return 1;
  if (byte < 0xF0) return byte == 0xE0 ? 3 : byte == 0xED ? 4 : 2;
  return byte == 0xF0 ? 6 : byte == 0xF4 ? 7 : 5;
}

/* ---- the automaton: a place is a node times WITHINS, and where in a character it is ---------- */

static const tsl__native_ops ops;

static bool nullable(void *ctx, uint32_t param) {
  (void)ctx;
  return param % WITHINS == 0;
}

static uint32_t shortest(void *ctx, uint32_t param) {
  (void)ctx;
  return withins[param % WITHINS].rest;
}

static void live(void *ctx, uint32_t param, tsl__bytes *out) {
  const struct within *w = &withins[param % WITHINS];
  (void)ctx;
  if (w->rest) {
    tsl__bytes_add_range(out, w->lo, w->hi);
    return;
  }
  tsl__bytes_add_range(out, 0, 0x7F);
  tsl__bytes_add_range(out, 0xC2, 0xF4);
}

static void edge(tsl__bytes *out, unsigned from, unsigned to) {
  tsl__bytes_add(out, from);
  if (to < 255) tsl__bytes_add(out, to + 1);
}

static void boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  const first *f = ctx;
  const struct within *w = &withins[param % WITHINS];
  if (w->rest) {
    edge(out, w->lo, w->hi);
    return;
  }
  static const uint8_t leads[][2] = {{0xC2, 0xDF}, {0xE0, 0xE0}, {0xE1, 0xEC}, {0xED, 0xED},
                                     {0xEE, 0xEF}, {0xF0, 0xF0}, {0xF1, 0xF3}, {0xF4, 0xF4}};
  for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) edge(out, leads[i][0], leads[i][1]);
  tsl__bytes_add(out, 0x80);
  for (uint32_t at = param / WITHINS;; at = f->at[at].link) {
    for (uint32_t i = f->at[at].child; i; i = f->at[i].next)
      edge(out, f->at[i].byte, f->at[i].byte);
    if (!at) break;
  }
}

/* The node after a byte of ASCII. */
static uint32_t node_after(tsl__exprs *x, const first *f, uint32_t at, uint8_t byte) {
  uint32_t seen, to = tsl__links_below(f->at, at, byte, &seen);
  tsl__exprs_work(x, seen);
  while (!to && at) {
    at = f->at[at].link;
    to = tsl__links_below(f->at, at, byte, &seen);
    tsl__exprs_work(x, seen);
  }
  return to;
}

static tsl__expr step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  first *f = ctx;
  uint32_t place = param % WITHINS, at = param / WITHINS;
  const struct within *w = &withins[place];
  if (w->rest)
    return byte < w->lo || byte > w->hi ? TSL__NONE
                                        : tsl__expr_native(x, &ops, f,
                                                           w->rest == 1   ? 0
                                                           : w->rest == 2 ? 1
                                                                          : 2);
  if (byte >= 0x80) {
    uint32_t to = within_after(byte);
    return to ? tsl__expr_native(x, &ops, f, to) : TSL__NONE;
  }
  at = node_after(x, f, at, byte);
  if (!f->at[at].ends && !f->at[at].holds) return tsl__expr_native(x, &ops, f, at * WITHINS);
  tsl__expr all = TSL__NONE;
  for (; at; at = f->at[at].link)
    if (f->at[at].ends) all = tsl__expr_alt(x, all, f->then[at]);
  return all;
}

/* Characters that no string holds lead back to the root. */
static bool letters(void *ctx, uint32_t param, tsl__bytes *out, uint32_t *need) {
  const first *f = ctx;
  *need = 0;
  if (param % WITHINS) return false;
  for (unsigned b = 0; b < 0x80; b++)
    if (!tsl__bytes_has(&f->all, b)) tsl__bytes_add(out, b);
  tsl__bytes_add_range(out, 0x80, 0xF4);
  return true;
}

static void print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "first#%u", (unsigned)(param / WITHINS));
}

static const tsl__native_ops ops = {.nullable = nullable,
                                    .boundaries = boundaries,
                                    .step = step,
                                    .shortest = shortest,
                                    .print = print,
                                    .letters = letters,
                                    .live = live};

/* ---- building -------------------------------------------------------------------------------- */

static bool is_ascii(tsl__string s) {
  for (uint32_t i = 0; i < s.length; i++)
    if ((uint8_t)s.at[i] >= 0x80) return false;
  return s.length > 0;
}

static tsl__expr automaton_of(tsl__tags_lowering *l, const tsl__cut *cut, const tsl__expr *then,
                              uint32_t n) {
  tsl__links links;
  if (!tsl__links_make(l, cut->stops, cut->count, &links) || links.n > UINT32_MAX / WITHINS)
    return TSL__NONE;
  first *f = tsl__exprs_alloc(l->x, sizeof *f);
  tsl__link *at = tsl__exprs_alloc(l->x, links.n * sizeof *at);
  tsl__expr *after = tsl__exprs_alloc(l->x, links.n * sizeof *after);
  if (!f || !at || !after) return TSL__NONE;
  *f = (first){.at = at, .then = after};
  memcpy(at, links.at, links.n * sizeof *at);
  memset(after, 0, links.n * sizeof *after);
  for (uint32_t i = 0; i < cut->count && tsl__exprs_status(l->x) == TSL_OK; i++) {
    uint32_t node = 0;
    for (uint32_t k = 0; k < cut->stops[i].length; k++) {
      node = node_after(l->x, f, node, (uint8_t)cut->stops[i].at[k]);
      tsl__bytes_add(&f->all, (uint8_t)cut->stops[i].at[k]);
    }
    if (i < n) after[node] = tsl__expr_alt(l->x, after[node], then[i]);
  }
  return tsl__expr_native(l->x, &ops, f, 0);
}

tsl__expr tsl__tags_first(tsl__tags_lowering *l, const tsl__cut *cut, const tsl__expr *then,
                          uint32_t n) {
  bool late = false;
  for (uint32_t i = 0; i < cut->count; i++) {
    if (!tsl__exprs_work(l->x, cut->stops[i].length) || !is_ascii(cut->stops[i])) return TSL__NONE;
    if (i < n && tsl__tags_names_tokens(l, cut->stops[i])) return TSL__NONE;
    late |= i < n && cut->apart[i] == TSL__STOP_LATE;
  }
  return late && !cut->excludes ? automaton_of(l, cut, then, n) : TSL__NONE;
}
