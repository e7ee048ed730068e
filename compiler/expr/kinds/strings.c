/* strings.c - the kinds that are made of a list of strings: STRSET, KEYS, NAME and RESUME.
 *
 * A set of strings is sorted. What is left of it after some bytes is a range [b, c) of the strings
 * that share these d bytes. So a derivative narrows the range: D_o of {no, on, or} is {n, r}, the
 * range [1, 3) at depth 1. KEYS is a set whose end says which string it was (NAME), so that RESUME
 * can go on by the name.
 *
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"
#include "runtime/kernels/digest.h"

#define PRINTED 8u   /* strings of a set that are printed */
#define MEASURED 64u /* strings of a set that are measured one by one */

/* ---- STRSET and KEYS ------------------------------------------------------------------------- */

static tsl__expr derive(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last) {
  uint32_t lo = n->b, hi = n->c;
  (void)e, (void)last;
  if (!tsl__strings_narrow(tsl__strings_at(x, n->a), &lo, &hi, n->d, byte)) return TSL__NONE;
  return n->kind == TSL__K_KEYS ? tsl__keys_node(x, n->a, lo, hi, n->d + 1)
                                : tsl__strset_node(x, n->a, lo, hi, n->d + 1);
}

/* Each byte that a string goes on with leads elsewhere. */
static tsl__expr reads(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                       tsl__reads *out) {
  tsl__bytes first = {{0}};
  uint64_t carry = 0;
  (void)e, (void)last;
  tsl__first_bytes(x, n, &first);
  for (int i = 0; i < 4; i++) {
    out->edges.w[i] |= first.w[i] | first.w[i] << 1 | carry;
    out->live.w[i] |= first.w[i];
    carry = first.w[i] >> 63;
  }
  out->edges.w[0] &= ~(uint64_t)1;
  return TSL__NONE;
}

static bool alike(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__alike *out,
                  tsl__expr *next) {
  tsl__bytes first = {{0}};
  (void)e, (void)last, (void)next;
  tsl__first_bytes(x, n, &first);
  for (unsigned i = 0; i < out->n; i++)
    if (tsl__bytes_has(&first, out->lower[i])) tsl__alike_split_byte(out, out->lower[i]);
  return true;
}

/* A long list is searched. */
static uint32_t shortest(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                         unsigned depth) {
  uint32_t best = TSL__INF;
  (void)depth;
  if (!spelled) return n->shortest;
  if (n->c - n->b > MEASURED) return tsl__shortest_by_search(x, e, true);
  for (uint32_t i = n->b; i < n->c; i++) {
    tsl__string s = tsl__stringset_at(x, n->a, i);
    uint32_t cost = 0;
    for (uint32_t k = n->d; k < s.length && cost < best; k++)
      cost = tsl__add(cost, tsl__spelling_cost((uint8_t)s.at[k]));
    if (cost < best) best = cost;
  }
  return best;
}

static void print(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  const tsl__strings *s = tsl__strings_at(x, n->a);
  (void)depth;
  tsl__print_text(w, n->kind == TSL__K_KEYS ? "keys{" : "{");
  for (uint32_t i = n->b; i < n->c; i++) {
    if (i > n->b) tsl__print_char(w, ',');
    if (i - n->b == PRINTED) {
      tsl__print_format(w, "... %u in all", n->c - n->b);
      break;
    }
    for (uint32_t k = n->d; k < s->at[i].length && w->length <= w->size; k++)
      tsl__print_byte(w, (uint8_t)s->at[i].at[k]);
  }
  tsl__print_char(w, '}');
}

static tsl__expr alphabet(tsl__alphabet *a, const tsl__node *n, unsigned depth, tsl__bytes *out) {
  const tsl__strings *s = tsl__strings_at(a->x, n->a);
  (void)depth;
  if (!tsl__alphabet_look(a, n->c - n->b, out)) return TSL__NONE;
  for (uint32_t i = n->b; i < n->c; i++)
    if (s->at[i].length > n->d) tsl__alphabet_text(out, s->at[i].at + n->d, s->at[i].length - n->d);
  return TSL__NONE;
}

/* What is left of each of the strings. */
static bool meaning(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  struct {
    uint32_t kind, count;
    tsl__digest sum;
  } of = {.kind = n->kind, .count = n->c - n->b};
  const tsl__strings *s = tsl__strings_at(m->x, n->a);
  (void)e;
  for (uint32_t i = n->b; i < n->c; i++) {
    uint32_t length = s->at[i].length - n->d;
    if (!tsl__meaning_spend(m, 1 + length / 64)) return false;
    tsl__digest one = tsl__digest_of(m->secret, s->at[i].at + n->d, length);
    of.sum.lo += one.lo;
    of.sum.hi += one.hi;
  }
  *out = tsl__digest_of(m->secret, &of, sizeof of);
  return true;
}

const tsl__kind_ops tsl__kind_strings = {.derive = derive,
                                         .reads = reads,
                                         .alike = alike,
                                         .shortest = shortest,
                                         .print = print,
                                         .alphabet = alphabet,
                                         .meaning = meaning};
const tsl__kind_ops tsl__kind_keys = {
    .derive = derive, .reads = reads, .alike = alike, .print = print};

/* ---- NAME and RESUME ------------------------------------------------------------------------- */

static void print_number(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  (void)x, (void)depth;
  tsl__print_format(w, n->kind == TSL__K_NAME ? "name#%u" : "then#%u", n->a);
}

static uint32_t shortest_resume(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                                unsigned depth) {
  (void)e, (void)spelled, (void)depth;
  return tsl__resume_fewest(x, n);
}

const tsl__kind_ops tsl__kind_name = {.alike = tsl__alike_reads_none, .print = print_number};
const tsl__kind_ops tsl__kind_resume = {
    .alike = tsl__alike_reads_none, .shortest = shortest_resume, .print = print_number};
