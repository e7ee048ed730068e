/* size.c - how many texts an expression has at least, by its structure alone.
 *
 * Problem   "Any of these words but those" is a meet, and whether it is empty takes a search. Yet
 *           the answer is often plain: a thousand words cannot all be among three.
 * Idea      Count what the structure shows. Alternatives have as many texts as the largest part, a
 *           sequence as many as the larger of its two. A loop without end has endless many, and n
 *           characters of a class of k have k^n. A meet with complements of finite sets keeps what
 *           these cannot take away.
 * Example   [0-9]{3} & !(000|001): 1,000 texts, and the complement takes 2 at most. Each of the two
 *           parts counts against it, so 1,000 - 2 × 2 are left: it is not empty.
 * Cost      At most 256 nodes are looked at; the answer is 0 after that.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/search.h"

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* base to the n-th power, at most ENDLESS - 1. */
static uint64_t power(uint64_t base, uint32_t n) {
  uint64_t all = 1;
  for (uint32_t i = 0; i < n && base > 1 && all < TSL__ENDLESS - 1; i++)
    all = all < (TSL__ENDLESS - 1) / base ? all * base : TSL__ENDLESS - 1;
  return all;
}

uint64_t tsl__at_least_both(const tsl__exprs *x, const tsl__node *n, uint32_t *left) {
  uint64_t all = TSL__ENDLESS, without = 0;
  tsl__expr other = TSL__NONE;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr c = tsl__list_at(x, n->a)[i];
    tsl__node m = tsl__node_at(x, c), not = m.kind == TSL__K_NOT ? tsl__node_at(x, m.a) : m;
    if (c == x->text) continue;
    if (m.kind == TSL__K_NOT && not .flags & TSL__FINITE)
      without = larger(without, not .kind == TSL__K_STRSET ? not .c - not .b
                                : not .kind == TSL__K_LIT  ? 1
                                                           : TSL__ENDLESS - 1);
    else if (other || !(m.flags & TSL__TEXTUAL))
      return 0;
    else
      other = c;
  }
  if (other) all = tsl__at_least(x, other, left);
  return all == TSL__ENDLESS || without == 0 ? all
         : all / n->b > without              ? all - n->b * without
                                             : 0;
}

uint64_t tsl__at_least(const tsl__exprs *x, tsl__expr e, uint32_t *left) {
  tsl__node n = tsl__node_at(x, e);
  uint64_t all = 0, rest;
  if (e == x->text) return TSL__ENDLESS;
  if (e == TSL__NONE || !*left) return 0;
  --*left;
  switch (n.kind) {
  case TSL__K_BYTES: return tsl__bytes_count(tsl__set_at(x, n.a));
  case TSL__K_REPEAT:
    all = tsl__at_least(x, n.a, left);
    if (!all) return n.b == 0;
    if (n.c == TSL__INF) return TSL__ENDLESS;
    return tsl__node_at(x, n.a).flags & TSL__CHAR && all < TSL__ENDLESS ? power(all, n.c) : all;
  case TSL__K_SEQ:
    all = tsl__at_least(x, n.a, left);
    rest = all ? tsl__at_least(x, n.b, left) : 0;
    return rest ? larger(all, rest) : 0;
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      all = larger(all, tsl__at_least(x, tsl__list_at(x, n.a)[i], left));
    return all;
  case TSL__K_AND: return tsl__at_least_both(x, &n, left);
  case TSL__K_STRSET: return n.c - n.b;
  case TSL__K_EPS:
  case TSL__K_LIT:
  case TSL__K_NATIVE: return 1;
  default: return 0;
  }
}

/* Is it a class of single characters that has one for certain? */
static bool is_character(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind == TSL__K_ALT)
    return n->flags & TSL__CHAR && tsl__node_at(x, tsl__list_at(x, n->a)[0]).kind != TSL__K_AND;
  return n->flags & TSL__CHAR && (n->kind == TSL__K_BYTES || n->kind == TSL__K_LIT);
}

/* Characters of one text, the shortest that the structure shows; ENDLESS: it shows none. */
static uint64_t characters_of_one(const tsl__exprs *x, tsl__expr e, uint32_t *left) {
  uint64_t sum = 0;
  while (*left) {
    tsl__node n = tsl__node_at(x, e);
    uint64_t best = TSL__ENDLESS;
    --*left;
    if (n.flags & TSL__NULLABLE_LOW) return sum;
    if (is_character(x, &n)) return sum + 1;
    if (n.kind == TSL__K_SEQ) {
      best = characters_of_one(x, n.a, left);
      if (best == TSL__ENDLESS) return TSL__ENDLESS;
      sum += best;
      e = n.b;
      continue;
    }
    if (n.kind == TSL__K_LIT) {
      best = 0;
      for (uint32_t i = 0; i < n.b; i++) best += (tsl__literal_at(x, n.a)[i] & 0xC0) != 0x80;
    } else if (n.kind == TSL__K_ALT) {
      for (uint32_t i = 0; i < n.b; i++) {
        uint64_t one = characters_of_one(x, tsl__list_at(x, n.a)[i], left);
        if (one < best) best = one;
      }
    } else if (n.kind == TSL__K_REPEAT) {
      best = characters_of_one(x, n.a, left);
      best = best < UINT32_MAX ? best * n.b : TSL__ENDLESS;
    } else if (n.kind == TSL__K_NATIVE && tsl__native_at(x, n.a)->ops->characters) {
      best = tsl__native_characters(x, &n).least;
    }
    return best < UINT32_MAX && sum < UINT32_MAX ? sum + best : TSL__ENDLESS;
  }
  return TSL__ENDLESS;
}

bool tsl__has_length(const tsl__exprs *x, const tsl__node *n) {
  for (int i = 0; n->b == 2 && i < 2; i++) {
    tsl__expr texts = tsl__list_at(x, n->a)[1 - i];
    tsl__node length = tsl__node_at(x, tsl__list_at(x, n->a)[i]);
    uint32_t left = TSL__AT_LEAST_NODES;
    if (length.kind != TSL__K_REPEAT || length.a != x->any_char ||
        !(tsl__node_at(x, texts).flags & TSL__TEXTUAL))
      continue;
    uint64_t characters = characters_of_one(x, texts, &left);
    return characters >= length.b && characters <= length.c;
  }
  return false;
}
