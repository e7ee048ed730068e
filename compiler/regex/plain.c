/* plain.c - regular expressions without conditions: straight to expressions.
 *
 * Besides the language itself there are the two questions that anchors and \b ask of their
 * neighbours. Which members end in a given set of code points, and with which code points can a
 * member begin? Both are answered on the tree, since that gives smaller expressions than
 * intersecting afterwards:
 *   ending(a·b, S) = a·ending(b, S)                  (b not nullable)
 *   ending(r{m,n}, S) = r{m-1,n-1}·ending(r, S)      (r not nullable)
 *
 * Example   ending([a-z]+, \w) = [a-z]*·[a-z];  ending([a-z]+, \W) = ∅.
 * Tested by tests/regex/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/regex/lower.h"

static tsl__rx_ranges ranges_of(const tsl__rx *set) {
  return (tsl__rx_ranges){set->u.ranges, set->n};
}

/* The expression of a set with characters past ASCII takes long to make, so that the last few are
 * kept. */
static tsl__expr nonascii_set_expr(tsl__rx_lowering *l, tsl__rx_ranges set) {
  uint32_t known = l->nonascii_n < TSL__RX_NONASCII ? l->nonascii_n : TSL__RX_NONASCII;
  for (uint32_t i = 0; i < known; i++)
    if (tsl__rx_ranges_equal(l->nonascii[i].set, set)) return l->nonascii[i].e;
  tsl__charset s = {.ranges = {(tsl__range *)(uintptr_t)set.at, set.n, set.n}}; /* read only */
  tsl__expr e = tsl__expr_charset(l->x, &s);
  l->nonascii[l->nonascii_n % TSL__RX_NONASCII].set = set;
  l->nonascii[l->nonascii_n++ % TSL__RX_NONASCII].e = e;
  return e;
}

tsl__expr tsl__rx_set_expr(tsl__rx_lowering *l, tsl__rx_ranges set) {
  tsl__bytes bytes = {{0}};
  if (!set.n) return TSL__NONE;
  if (tsl__rx_ranges_equal(set, tsl__rx_ranges_all())) return tsl__expr_any_char(l->x);
  if (set.at[set.n - 1].hi >= 0x80) return nonascii_set_expr(l, set);
  for (uint32_t i = 0; i < set.n; i++) tsl__bytes_add_range(&bytes, set.at[i].lo, set.at[i].hi);
  return tsl__expr_bytes(l->x, &bytes);
}

/* What the groups around a node hold. */
static const tsl__rx *ungrouped(const tsl__rx *node) {
  while (node->kind == TSL__RX_GROUP) node = node->u.child[0];
  return node;
}

static bool is_char(const tsl__rx *node) {
  node = ungrouped(node);
  if (node->kind != TSL__RX_SET || node->n != 1 || node->u.ranges[0].lo != node->u.ranges[0].hi)
    return false;
  return node->u.ranges[0].lo < 0xD800 || node->u.ranges[0].lo > 0xDFFF;
}

/* A sequence: neighbours that are single characters become one literal. */
static tsl__expr sequence(tsl__rx_lowering *l, const tsl__rx *node, uint32_t n, tsl__expr tail) {
  uint8_t literal[256];
  while (n > 0 && tail != TSL__NONE) {
    uint32_t from = n, at = 0;
    while (from > 0 && n - from < sizeof literal / 4 && is_char(node->u.child[from - 1])) from--;
    if (n - from < 2) {
      tail = tsl__rx_plain(l, node->u.child[--n], tail);
      continue;
    }
    for (uint32_t i = from; i < n; i++)
      at += tsl__utf8_encode(ungrouped(node->u.child[i])->u.ranges[0].lo, literal + at);
    tail = tsl__expr_seq(l->x, tsl__expr_literal(l->x, literal, at), tail);
    n = from;
  }
  return tail;
}

/* All children, each alone, as one alternation. `set`: only members ending in it; NULL: all. */
static tsl__expr alternation(tsl__rx_lowering *l, const tsl__rx *node, const tsl__rx_ranges *set) {
  tsl__expr *e = tsl__arena_alloc(l->tree->arena, node->n * sizeof *e);
  if (!e) return tsl__rx_fail(l->tree, TSL_ERR_NO_MEMORY, 0, "out of memory"), TSL__NONE;
  for (uint32_t i = 0; i < node->n; i++)
    e[i] = set ? tsl__rx_ending(l, node->u.child[i], *set)
               : tsl__rx_plain(l, node->u.child[i], TSL__EPS);
  return tsl__expr_alt_n(l->x, e, node->n);
}

tsl__expr tsl__rx_plain(tsl__rx_lowering *l, const tsl__rx *node, tsl__expr tail) {
  switch (node->kind) {
  case TSL__RX_SET: return tsl__expr_seq(l->x, tsl__rx_set_expr(l, ranges_of(node)), tail);
  case TSL__RX_SEQ: return sequence(l, node, node->n, tail);
  case TSL__RX_ALT: return tsl__expr_seq(l->x, alternation(l, node, NULL), tail);
  case TSL__RX_REPEAT: {
    tsl__expr body = tsl__rx_plain(l, node->u.child[0], TSL__EPS);
    return tsl__expr_seq(l->x, tsl__expr_repeat(l->x, body, node->min, node->max), tail);
  }
  case TSL__RX_GROUP: return tsl__rx_plain(l, node->u.child[0], tail);
  default: return TSL__NONE; /* LOOK and BACK are not plain */
  }
}

/* The first n children of a sequence. */
static tsl__expr sequence_ending(tsl__rx_lowering *l, const tsl__rx *node, uint32_t n,
                                 tsl__rx_ranges set) {
  tsl__expr result = TSL__NONE;
  while (n > 0) {
    const tsl__rx *last = node->u.child[--n];
    tsl__expr e = tsl__rx_ending(l, last, set);
    if (e) result = tsl__expr_alt(l->x, result, sequence(l, node, n, e));
    if (last->least > 0) break; /* else it may be empty, and the one before it is the last */
  }
  return result;
}

tsl__expr tsl__rx_ending(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_ranges set) {
  switch (node->kind) {
  case TSL__RX_SET: return tsl__rx_set_expr(l, tsl__rx_ranges_and(l->tree, ranges_of(node), set));
  case TSL__RX_SEQ: return sequence_ending(l, node, node->n, set);
  case TSL__RX_ALT: return alternation(l, node, &set);
  case TSL__RX_GROUP: return tsl__rx_ending(l, node->u.child[0], set);
  case TSL__RX_REPEAT: {
    const tsl__rx *body = node->u.child[0];
    uint32_t min = node->min ? node->min - 1 : 0,
             max = node->max == TSL__INF ? TSL__INF : node->max - 1;
    if (node->max == 0) return TSL__NONE;
    if (body->least == 0) {
      tsl__expr ends = tsl__expr_seq(l->x, l->text, tsl__rx_set_expr(l, set));
      return tsl__expr_and(l->x, tsl__rx_plain(l, node, TSL__EPS), ends);
    }
    tsl__expr before = tsl__expr_repeat(l->x, tsl__rx_plain(l, body, TSL__EPS), min, max);
    return tsl__expr_seq(l->x, before, tsl__rx_ending(l, body, set));
  }
  default: return TSL__NONE;
  }
}

tsl__rx_ranges tsl__rx_first(tsl__rx_lowering *l, const tsl__rx *node) {
  tsl__rx_ranges result = {NULL, 0};
  if (node->kind == TSL__RX_SET) return ranges_of(node);
  for (uint32_t i = 0; i < node->n; i++) {
    result = tsl__rx_ranges_or(l->tree, result, tsl__rx_first(l, node->u.child[i]));
    if (node->kind == TSL__RX_SEQ && node->u.child[i]->least > 0) break;
  }
  return result;
}

bool tsl__rx_one_char(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_ranges *set) {
  if (!node->plain || node->least != 1 || node->most != 1) return false;
  if (node->kind == TSL__RX_SET || node->kind == TSL__RX_ALT) {
    tsl__rx_ranges all = {NULL, 0}, one;
    if (node->kind == TSL__RX_SET) return *set = ranges_of(node), true;
    for (uint32_t i = 0; i < node->n; i++) {
      if (!tsl__rx_one_char(l, node->u.child[i], &one)) return false;
      all = tsl__rx_ranges_or(l->tree, all, one);
    }
    return *set = all, true;
  }
  return node->kind == TSL__RX_GROUP && tsl__rx_one_char(l, node->u.child[0], set);
}
