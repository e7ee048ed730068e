/* boolean.c - AND: what all parts match, and NOT: what a part does not match.
 *
 * The derivative of a & b is D(a) & D(b), that of !a is !D(a). Whether a meet is empty is another
 * question, which empty.c answers.
 *
 * Example   D_a(ab & a[bc]) = b & [bc] = b.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"

#define CONJUNCTS 16u /* that need no memory */

/* ---- AND ------------------------------------------------------------------------------------- */

/* The meet of the conjuncts' derivatives, which are put into `at`. */
static tsl__expr meet_derivatives(tsl__exprs *x, const tsl__node *n, uint8_t byte, tsl__expr *at) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr d = tsl__derive_conjunct(x, tsl__list_at(x, n->a)[i], byte);
    if (!d) return TSL__NONE;
    if (!tsl__is_anything(x, d) || (!count && i + 1 == n->b)) at[count++] = d;
  }
  return count == 1 ? at[0] : tsl__and_n(x, at, count);
}

static tsl__expr compute_meet(tsl__exprs *x, const tsl__node *n, uint8_t byte, bool last) {
  tsl__expr few[CONJUNCTS];
  (void)last;
  if (n->b <= CONJUNCTS) return meet_derivatives(x, n, byte, few);
  tsl__expr *at = tsl__alloc(&x->alloc, n->b * sizeof *at);
  if (!at) return tsl__expr_no_memory(x);
  tsl__expr result = meet_derivatives(x, n, byte, at);
  tsl__free(&x->alloc, at, n->b * sizeof *at);
  return result;
}

static tsl__expr derive_meet(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                             bool last) {
  return tsl__derive_remembered(x, e, n, byte, last, compute_meet);
}

/* A byte that leads anywhere in a meet leads somewhere in every part. */
static tsl__expr read_meet(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                           tsl__reads *out) {
  tsl__bytes before = out->live, all = TSL__BYTES_ALL;
  (void)e, (void)last;
  for (uint32_t i = 0; i < n->b; i++) {
    memset(&out->live, 0, sizeof out->live);
    tsl__reads_add(x, tsl__list_at(x, n->a)[i], false, out);
    for (int w = 0; w < 4; w++) all.w[w] &= out->live.w[w];
  }
  out->live = before;
  out->guessed = true;
  tsl__bytes_or(&out->live, &all);
  return TSL__NONE;
}

static bool split_by_meet(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                          tsl__alike *out, tsl__expr *next) {
  (void)e, (void)last, (void)next;
  for (uint32_t i = 0; i < n->b; i++)
    if (!tsl__alike_in(x, tsl__list_at(x, n->a)[i], false, out)) return false;
  return true;
}

static uint32_t shortest(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                         unsigned depth) {
  (void)n, (void)depth;
  return tsl__shortest_by_search(x, e, spelled);
}

static void print_meet(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  tsl__print_list(x, n, "&", w, depth);
}

static tsl__expr alphabet_of_meet(tsl__alphabet *a, const tsl__node *n, unsigned depth,
                                  tsl__bytes *out) {
  tsl__bytes meet = TSL__BYTES_ALL;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__bytes part = {{0}};
    tsl__alphabet_add(a, tsl__list_at(a->x, n->a)[i], depth + 1, &part);
    for (int w = 0; w < 4; w++) meet.w[w] &= part.w[w];
  }
  tsl__bytes_or(out, &meet);
  return TSL__NONE;
}

/* All bounds matter within a meet or a complement: they may decide whether there is any text. */
static bool mean_meet(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  m->bounded++;
  bool fine = tsl__meaning_list(m, n, out);
  m->bounded--;
  return fine;
}

const tsl__kind_ops tsl__kind_meet = {.derive = derive_meet,
                                      .reads = read_meet,
                                      .alike = split_by_meet,
                                      .shortest = shortest,
                                      .print = print_meet,
                                      .alphabet = alphabet_of_meet,
                                      .meaning = mean_meet};

/* ---- NOT ------------------------------------------------------------------------------------- */

static tsl__expr compute_complement(tsl__exprs *x, const tsl__node *n, uint8_t byte, bool last) {
  (void)last;
  return tsl__expr_not(x, tsl__derive_in(x, n->a, byte, false));
}

static tsl__expr derive_complement(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                                   bool last) {
  return tsl__derive_remembered(x, e, n, byte, last, compute_complement);
}

static tsl__expr read_complement(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                                 tsl__reads *out) {
  (void)e, (void)last;
  tsl__reads_add(x, n->a, false, out);
  out->live = TSL__BYTES_ALL;
  out->guessed = true;
  return TSL__NONE;
}

static bool split_by_complement(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                                tsl__alike *out, tsl__expr *next) {
  (void)x, (void)e, (void)out;
  *last = false;
  *next = n->a;
  return true;
}

static void print_complement(const tsl__exprs *x, const tsl__node *n, tsl__printer *w,
                             unsigned depth) {
  tsl__print_text(w, "!(");
  tsl__print_expr(x, n->a, w, depth + 1);
  tsl__print_char(w, ')');
}

static bool mean_complement(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  m->bounded++;
  bool fine = tsl__meaning_node(m, n, 0, 0, 0, n->a, TSL__NONE, out);
  m->bounded--;
  return fine;
}

const tsl__kind_ops tsl__kind_complement = {.derive = derive_complement,
                                            .reads = read_complement,
                                            .alike = split_by_complement,
                                            .shortest = shortest,
                                            .print = print_complement,
                                            .meaning = mean_complement};
