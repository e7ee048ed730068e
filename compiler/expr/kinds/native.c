/* native.c - NATIVE: an automaton that is written in C, as numbers within bounds are.
 *
 * Problem   "A multiple of 7 below 10^40" is a small table of numbers, and a vast expression.
 * Idea      The automaton has functions of its own (tsl__native_ops in expr.h), and its position is
 *           the number `b`. A derivative is the automaton's step: it gives the next position, or an
 *           expression where nothing is left to count. A missing function means "anything": an
 *           automaton without `ascii` may hold any byte, one without `characters` any number of
 *           characters.
 * Tested by tests/expr/test_expr.c, tests/number/test_number.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"
#include "runtime/kernels/digest.h"

#define WORDS_MAX 256u /* of an automaton's outline */

static tsl__expr derive(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last) {
  const tsl__native *native = tsl__native_at(x, n->a);
  (void)e, (void)last;
  return native->ops->step(x, native->ctx, n->b, byte);
}

/* Live is what the automaton says, or its ASCII characters and every byte past ASCII. */
static tsl__expr reads(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                       tsl__reads *out) {
  const tsl__native *native = tsl__native_at(x, n->a);
  (void)e, (void)last;
  out->guessed = true;
  native->ops->boundaries(native->ctx, n->b, &out->edges);
  out->edges.w[0] &= ~(uint64_t)1;
  if (native->ops->live) {
    native->ops->live(native->ctx, n->b, &out->live);
  } else if (!native->ops->ascii) {
    out->live = TSL__BYTES_ALL;
  } else {
    for (const char *c = native->ops->ascii; *c; c++) tsl__bytes_add(&out->live, (uint8_t)*c);
    out->live.w[2] = out->live.w[3] = UINT64_MAX;
  }
  return TSL__NONE;
}

uint32_t tsl__native_shortest(const tsl__exprs *x, const tsl__node *n) {
  const tsl__native *native = tsl__native_at(x, n->a);
  return native->ops->shortest(native->ctx, n->b);
}

static uint32_t shortest(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                         unsigned depth) {
  (void)e, (void)spelled, (void)depth;
  return tsl__native_shortest(x, n);
}

static void print(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  const tsl__native *native = tsl__native_at(x, n->a);
  char name[TSL__PRINT_NAME_MAX] = "";
  (void)depth;
  if (native->ops->print) native->ops->print(native->ctx, n->b, name, sizeof name);
  tsl__print_name(w, name);
}

static tsl__expr alphabet(tsl__alphabet *a, const tsl__node *n, unsigned depth, tsl__bytes *out) {
  const char *ascii = tsl__native_at(a->x, n->a)->ops->ascii;
  (void)depth;
  if (!ascii) {
    *out = TSL__BYTES_ALL;
  } else {
    tsl__alphabet_text(out, ascii, strlen(ascii));
    tsl__bytes_add_range(out, 0x80, 0xFF);
  }
  return TSL__NONE;
}

bool tsl__native_counts(const tsl__exprs *x, const tsl__node *n) {
  return n->kind == TSL__K_NATIVE && tsl__native_at(x, n->a)->ops->characters;
}

tsl__length tsl__native_characters(const tsl__exprs *x, const tsl__node *n) {
  const tsl__native *native = tsl__native_at(x, n->a);
  const tsl__native_ops *ops = native->ops;
  tsl__length r = {.most = ops->most ? ops->most(native->ctx, n->b) : TSL__INF};
  bool texts;
  if (ops->characters) return r.least = ops->characters(native->ctx, n->b, &texts), r;
  uint32_t bytes = tsl__native_shortest(x, n);
  return r.least = bytes / 4 + (bytes % 4 != 0), r; /* a character has at most four of them */
}

static tsl__length characters(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  (void)depth;
  return tsl__native_characters(x, n);
}

typedef struct words {
  uint32_t at[WORDS_MAX], n;
} words;

static bool put_word(void *to, uint32_t word) {
  words *w = to;
  if (w->n == WORDS_MAX) return false;
  w->at[w->n++] = word;
  return true;
}

static bool meaning(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  const tsl__native *native = tsl__native_at(m->x, n->a);
  struct {
    uint32_t kind, param;
    uint64_t ops, context;
  } of = {n->kind, n->b, (uintptr_t)native->ops, native->ctx != NULL};
  if (native->ops->plain) {
    *out = tsl__digest_of(m->secret, &of, sizeof of);
    return true;
  }
  words w;
  w.n = 0;
  return native->ops->outline && tsl__meaning_spend(m, 16) &&
         native->ops->outline(m->x, e, &w, put_word) &&
         tsl__meaning_bytes(m, n, w.at, w.n * sizeof *w.at, out);
}

const tsl__kind_ops tsl__kind_native = {.derive = derive,
                                        .reads = reads,
                                        .shortest = shortest,
                                        .print = print,
                                        .alphabet = alphabet,
                                        .characters = characters,
                                        .meaning = meaning};
