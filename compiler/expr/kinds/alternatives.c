/* alternatives.c - ALT: one expression out of a list.
 *
 * The derivative is the alternative of the parts' derivatives. Most parts begin with another byte
 * and are passed over. What the others lead to is joined in one step: pairwise joining would make a
 * list of 2, 3, 4 … on the way.
 *
 * Example   D_a(ab|ac|d) = b|c: `d` is passed over, and b and c are joined at once.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"

#define ALTERNATIVES 32u /* derivatives of so many are joined at once */

static tsl__expr compute(tsl__exprs *x, const tsl__node *n, uint8_t byte, bool last) {
  tsl__expr few[ALTERNATIVES];
  TSL__VEC(tsl__expr) many = {0};
  size_t count = 0;
  tsl__worked(x, n->b);
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr e = tsl__list_at(x, n->a)[i],
              d = tsl__begins_otherwise(x, e, byte) ? TSL__NONE : tsl__derive_in(x, e, byte, last);
    if (!d) continue;
    if (count < ALTERNATIVES)
      few[count] = d;
    else if (!tsl__vec_push(&x->alloc, &many, d))
      tsl__expr_no_memory(x);
    count++;
  }
  tsl__expr result = count == 0 ? TSL__NONE
                     : count == 1
                         ? few[0]
                         : tsl__expr_alt_n(x, few, count < ALTERNATIVES ? count : ALTERNATIVES);
  if (many.n) result = tsl__expr_alt(x, result, tsl__expr_alt_n(x, many.at, many.n));
  tsl__vec_free(&x->alloc, &many);
  return result;
}

static tsl__expr derive(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last) {
  if (byte < 0x80 && tsl__node_is_class(n)) { /* its ASCII characters are the bytes that it reads */
    const tsl__known_reads *known = tsl__class_reads(x, e, n);
    if (known && !known->guessed) return tsl__bytes_has(&known->live, byte) ? TSL__EPS : TSL__NONE;
  }
  return tsl__derive_remembered(x, e, n, byte, last, compute);
}

static tsl__expr reads(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                       tsl__reads *out) {
  if (!tsl__node_is_class(n)) {
    for (uint32_t i = 0; i < n->b; i++) tsl__reads_add(x, tsl__list_at(x, n->a)[i], *last, out);
    return TSL__NONE;
  }
  const tsl__known_reads *known = tsl__class_reads(x, e, n);
  if (!known) return TSL__NONE;
  tsl__bytes_or(&out->edges, &known->edges);
  tsl__bytes_or(&out->live, &known->live);
  out->guessed |= known->guessed;
  return TSL__NONE;
}

static bool alike(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__alike *out,
                  tsl__expr *next) {
  (void)next;
  if (tsl__alike_met(out, e, n)) return true;
  for (uint32_t i = 0; i < n->b; i++)
    if (!tsl__alike_in(x, tsl__list_at(x, n->a)[i], *last, out)) return false;
  return true;
}

static uint32_t shortest(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                         unsigned depth) {
  uint32_t best = TSL__INF;
  (void)e;
  tsl__worked(x, n->b);
  /* Stored bounds are lower bounds. One whose bound is that of all may end the search at once. */
  for (unsigned pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < n->b && best > n->shortest && x->status == TSL_OK; i++) {
      tsl__expr item = tsl__list_at(x, n->a)[i];
      uint32_t bound = tsl__node_at(x, item).shortest;
      if (bound >= best || (pass == 0) != (bound <= n->shortest)) continue;
      uint32_t c = tsl__shortest_in(x, item, spelled, depth + 1);
      if (c < best) best = c;
    }
  return best;
}

static void print(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  tsl__print_list(x, n, "|", w, depth);
}

static tsl__expr alphabet(tsl__alphabet *a, const tsl__node *n, unsigned depth, tsl__bytes *out) {
  for (uint32_t i = 0; i < n->b; i++)
    tsl__alphabet_add(a, tsl__list_at(a->x, n->a)[i], depth + 1, out);
  return TSL__NONE;
}

static tsl__length characters(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  tsl__length all = {TSL__INF, 0};
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__length one = tsl__characters_in(x, tsl__list_at(x, n->a)[i], depth + 1);
    if (one.least < all.least) all.least = one.least;
    if (one.most > all.most) all.most = one.most;
  }
  return all;
}

static bool meaning(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  return tsl__meaning_list(m, n, out);
}

const tsl__kind_ops tsl__kind_alternatives = {.derive = derive,
                                              .reads = reads,
                                              .alike = alike,
                                              .shortest = shortest,
                                              .print = print,
                                              .alphabet = alphabet,
                                              .characters = characters,
                                              .meaning = meaning};
