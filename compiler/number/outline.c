/* outline.c - what is left of a number, in words from which it can be grown again.
 *
 * Problem   What has been read of a number has no end: its trailing zeros decide which exponents
 *           may follow. Such states cannot be listed in an artifact one by one.
 * Idea      They are expressions of a few kinds around the automata of numbers. Each automaton is
 *           named by its constraint and by the text read so far. So a description is a word for
 *           each kind and what it holds (compiler/states/outline.c has the form, and reads it).
 * Example   "1e" of {"type": "integer"}: the word INTEGER and the automaton's parameter.
 * Cost      A word for each node, a quarter of a word for each byte of a text.
 * Tested by tests/artifact/test_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/number/outline.h"

#define TEXT_MAX 1200u /* bytes of a decimal that is written down */

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct writer {
  tsl__exprs *x;
  void *to;
  bool (*put)(void *to, uint32_t word);
  uint32_t words;
  bool fine, numbers; /* numbers: some automaton was met */
} writer;

static void put(writer *w, uint32_t word) {
  w->fine = w->fine && ++w->words <= TSL__OUTLINE_WORDS && (!w->put || w->put(w->to, word));
}

static void put_bytes(writer *w, const void *bytes, uint32_t n) {
  put(w, n);
  for (uint32_t i = 0; i < n; i += 4) {
    uint32_t word = 0;
    memcpy(&word, (const char *)bytes + i, n - i < 4 ? n - i : 4);
    put(w, word);
  }
}

static void put_decimals(writer *w, const tsl__decimal *at, uint32_t n) {
  char text[TEXT_MAX];
  put(w, n);
  for (uint32_t i = 0; i < n && w->fine; i++) {
    size_t length = tsl__decimal_print(&at[i], text, sizeof text);
    w->fine = length < sizeof text;
    if (w->fine) put_bytes(w, text, (uint32_t)length);
  }
}

static void put_number(writer *w, const tsl__number_at *at) {
  const tsl__number_spec *s = &at->spec;
  put(w, TSL__OUTLINE_NUMBER);
  put(w, (uint32_t)(at->negative ? TSL__OUTLINE_F_NEGATIVE : 0) |
             (s->integer ? TSL__OUTLINE_F_INTEGER : 0) |
             (s->not_integer ? TSL__OUTLINE_F_NOT_INTEGER : 0) |
             (s->min_exclusive ? TSL__OUTLINE_F_MIN_EXCLUSIVE : 0) |
             (s->max_exclusive ? TSL__OUTLINE_F_MAX_EXCLUSIVE : 0) |
             s->spelling << TSL__OUTLINE_F_SPELLING);
  put_bytes(w, at->prefix, at->length);
  put_decimals(w, &s->min, s->has_min);
  put_decimals(w, &s->max, s->has_max);
  put_decimals(w, s->multiples, s->multiple_count);
  put_decimals(w, s->non_multiples, s->non_multiple_count);
  put_decimals(w, s->excluded, s->excluded_count);
}

static void put_native(writer *w, const tsl__node *n) {
  const tsl__native native = *tsl__native_at(w->x, n->a);
  tsl__number_at at;
  w->numbers = true;
  if (tsl__integer_is(&native)) {
    put(w, TSL__OUTLINE_INTEGER);
    put(w, n->b);
  } else if (tsl__number_place(&native, n->b, &at)) {
    put_number(w, &at);
  } else {
    w->fine = false;
  }
}

static void put_expr(writer *w, tsl__expr e, uint32_t depth) {
  tsl__node n = tsl__node_at(w->x, e);
  if (depth > TSL__OUTLINE_DEPTH) w->fine = false;
  if (!w->fine) return;
  switch ((tsl__kind)n.kind) {
  case TSL__K_EPS: put(w, TSL__OUTLINE_EPS); return;
  case TSL__K_BYTES:
    put(w, TSL__OUTLINE_BYTES);
    for (int i = 0; i < 4; i++) {
      put(w, (uint32_t)tsl__set_at(w->x, n.a)->w[i]);
      put(w, (uint32_t)(tsl__set_at(w->x, n.a)->w[i] >> 32));
    }
    return;
  case TSL__K_LIT:
    put(w, TSL__OUTLINE_LIT);
    put_bytes(w, tsl__literal_at(w->x, n.a), n.b);
    return;
  case TSL__K_SEQ:
    put(w, TSL__OUTLINE_SEQ);
    put_expr(w, n.a, depth + 1);
    put_expr(w, n.b, depth + 1);
    return;
  case TSL__K_ALT:
    put(w, TSL__OUTLINE_ALT);
    put(w, n.b);
    for (uint32_t i = 0; i < n.b; i++) put_expr(w, tsl__list_at(w->x, n.a)[i], depth + 1);
    return;
  case TSL__K_REPEAT:
    put(w, TSL__OUTLINE_REPEAT);
    put(w, n.b);
    put(w, n.c);
    put_expr(w, n.a, depth + 1);
    return;
  case TSL__K_NATIVE: put_native(w, &n); return;
  default: w->fine = false; return;
  }
}

bool tsl__outline_write(tsl__exprs *x, tsl__expr e, void *to,
                        bool (*sink)(void *to, uint32_t word)) {
  writer w = {.x = x, .to = to, .put = sink, .fine = tsl__node_at(x, e).loop == 0};
  put_expr(&w, e, 0);
  return w.fine && w.numbers;
}
