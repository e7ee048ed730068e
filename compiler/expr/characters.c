/* characters.c - bounds of how many characters a text has, by structure.
 *
 * A length that is asked for beside something that has it anyway (a UUID of 36 characters, a date
 * of at least one) need not be counted.
 *
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"

#define DEPTH_MAX 64u

typedef struct range {
  uint32_t least, most;
} range;

static uint32_t capped(uint64_t n) { return n > TSL__INF ? TSL__INF : (uint32_t)n; }
static uint32_t times(uint32_t n, uint32_t count) {
  return n && count ? n == TSL__INF || count == TSL__INF ? TSL__INF : capped((uint64_t)n * count)
                    : 0;
}

static range of_literal(const uint8_t *at, uint32_t n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) count += (at[i] & 0xC0) != 0x80;
  return (range){count, count};
}

/* One byte out of a set: counted with the first byte of its character. */
static range of_byte(const tsl__bytes *set) {
  return (range){!set->w[2], (set->w[0] | set->w[1] | set->w[3]) != 0};
}

uint32_t tsl__native_characters(const tsl__exprs *x, const tsl__node *n) {
  const tsl__native *native = tsl__native_at(x, n->a);
  bool texts;
  if (native->ops->characters) return native->ops->characters(native->ctx, n->b, &texts);
  uint32_t bytes = native->ops->shortest(native->ctx, n->b);
  return bytes / 4 + (bytes % 4 != 0); /* a character has at most four of them */
}

static range characters(const tsl__exprs *x, tsl__expr e, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  range sum = {0, 0}, one;
  if (depth > DEPTH_MAX) return (range){0, TSL__INF};
  switch ((tsl__kind)n.kind) {
  case TSL__K_EPS: return sum;
  case TSL__K_BYTES: return of_byte(tsl__set_at(x, n.a));
  case TSL__K_LIT: return of_literal(tsl__literal_at(x, n.a), n.b);
  case TSL__K_SEQ:
    for (;; e = n.b, n = tsl__node_at(x, e)) { /* not by recursion: it may be long */
      one = characters(x, n.kind == TSL__K_SEQ ? n.a : e, depth + 1);
      sum = (range){capped((uint64_t)sum.least + one.least), capped((uint64_t)sum.most + one.most)};
      if (n.kind != TSL__K_SEQ) return sum;
    }
  case TSL__K_ALT:
    sum.least = TSL__INF;
    for (uint32_t i = 0; i < n.b; i++) {
      one = characters(x, tsl__list_at(x, n.a)[i], depth + 1);
      if (one.least < sum.least) sum.least = one.least;
      if (one.most > sum.most) sum.most = one.most;
    }
    return sum;
  case TSL__K_REPEAT:
    one = characters(x, n.a, depth + 1);
    return (range){times(one.least, n.b), times(one.most, n.c)};
  case TSL__K_NATIVE: return (range){tsl__native_characters(x, &n), TSL__INF};
  default: return (range){0, TSL__INF};
  }
}

void tsl__expr_characters(const tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most) {
  range r = characters(x, e, 0);
  *least = r.least;
  *most = r.most;
}
