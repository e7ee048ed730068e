/* text.c - the kinds of expressions that are plain bytes: NONE, EPS, BYTES and LIT.
 *
 * A derivative by a byte is EPS or NONE for a set of bytes, and the rest of a literal. A literal's
 * rest shares the literal's bytes (tsl__literal_tail).
 *
 * Example   D_a(abc) = bc, D_b(abc) = NONE, D_x([w-z]) = EPS. The derivatives of a literal of n
 *           bytes are n + 1 nodes over one copy of the bytes.
 * Count     A character is counted with its first byte: "é" is C3 A9, so C3 counts one and A9 none.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"

/* ---- NONE and EPS ---------------------------------------------------------------------------- */

static void print_none(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  (void)x, (void)depth;
  tsl__print_text(w, n->kind == TSL__K_NONE ? "∅" : "ε");
}

static tsl__expr no_alphabet(tsl__alphabet *a, const tsl__node *n, unsigned depth,
                             tsl__bytes *out) {
  (void)a, (void)n, (void)depth, (void)out;
  return TSL__NONE;
}

static tsl__length no_characters(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  (void)x, (void)n, (void)depth;
  return (tsl__length){0, 0};
}

static bool mean_kind(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  return tsl__meaning_node(m, n, 0, 0, 0, TSL__NONE, TSL__NONE, out);
}

const tsl__kind_ops tsl__kind_none = {.print = print_none,
                                      .alike = tsl__alike_reads_none,
                                      .alphabet = no_alphabet,
                                      .meaning = mean_kind};
const tsl__kind_ops tsl__kind_empty = {.print = print_none,
                                       .alike = tsl__alike_reads_none,
                                       .alphabet = no_alphabet,
                                       .characters = no_characters,
                                       .meaning = mean_kind};

/* ---- BYTES ----------------------------------------------------------------------------------- */

static tsl__expr derive_bytes(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                              bool last) {
  (void)e, (void)last;
  return tsl__bytes_has(tsl__set_at(x, n->a), byte) ? TSL__EPS : TSL__NONE;
}

static tsl__expr read_bytes(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                            tsl__reads *out) {
  (void)e, (void)last;
  tsl__bytes_edges(tsl__set_at(x, n->a), &out->edges);
  tsl__bytes_or(&out->live, tsl__set_at(x, n->a));
  return TSL__NONE;
}

static bool split_by_bytes(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                           tsl__alike *out, tsl__expr *next) {
  (void)e, (void)last, (void)next;
  tsl__alike_split(out, tsl__set_at(x, n->a));
  return true;
}

static uint32_t shortest_byte(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                              unsigned depth) {
  uint32_t best = spelled ? 6 : 1;
  const tsl__bytes *set = tsl__set_at(x, n->a);
  (void)e, (void)depth;
  for (unsigned b = 0; b < 256 && best > 1; b++) {
    if (!(b & 63) && !set->w[b >> 6])
      b += 63;
    else if (tsl__bytes_has(set, b) && tsl__spelling_cost((uint8_t)b) < best)
      best = tsl__spelling_cost((uint8_t)b);
  }
  return best;
}

static void print_bytes(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  const tsl__bytes *s = tsl__set_at(x, n->a);
  (void)depth;
  tsl__print_char(w, '[');
  for (unsigned b = 0; b < 256; b++) {
    if (!tsl__bytes_has(s, b)) continue;
    unsigned end = b;
    while (end < 255 && tsl__bytes_has(s, end + 1)) end++;
    tsl__print_byte(w, (uint8_t)b);
    if (end > b + 1) tsl__print_char(w, '-');
    if (end > b) tsl__print_byte(w, (uint8_t)end);
    b = end;
  }
  tsl__print_char(w, ']');
}

static tsl__expr alphabet_of_bytes(tsl__alphabet *a, const tsl__node *n, unsigned depth,
                                   tsl__bytes *out) {
  (void)depth;
  tsl__bytes_or(out, tsl__set_at(a->x, n->a));
  return TSL__NONE;
}

/* A character is counted with its first byte. */
static tsl__length characters_of_byte(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  const tsl__bytes *set = tsl__set_at(x, n->a);
  (void)depth;
  return (tsl__length){!set->w[2], (set->w[0] | set->w[1] | set->w[3]) != 0};
}

static bool mean_bytes(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  return tsl__meaning_bytes(m, n, tsl__set_at(m->x, n->a), sizeof(tsl__bytes), out);
}

const tsl__kind_ops tsl__kind_bytes = {.derive = derive_bytes,
                                       .reads = read_bytes,
                                       .alike = split_by_bytes,
                                       .shortest = shortest_byte,
                                       .print = print_bytes,
                                       .alphabet = alphabet_of_bytes,
                                       .characters = characters_of_byte,
                                       .meaning = mean_bytes};

/* ---- LIT ------------------------------------------------------------------------------------- */

static tsl__expr derive_literal(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                                bool last) {
  (void)e, (void)last;
  return *tsl__literal_at(x, n->a) == byte ? tsl__literal_tail(x, n, 1) : TSL__NONE;
}

static tsl__expr read_literal(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                              tsl__reads *out) {
  unsigned b = *tsl__literal_at(x, n->a);
  (void)e, (void)last;
  if (b > 0) tsl__bytes_add(&out->edges, b);
  if (b < 255) tsl__bytes_add(&out->edges, b + 1);
  tsl__bytes_add(&out->live, b);
  return TSL__NONE;
}

static bool split_by_literal(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                             tsl__alike *out, tsl__expr *next) {
  (void)e, (void)last, (void)next;
  tsl__alike_split_byte(out, *tsl__literal_at(x, n->a));
  return true;
}

static uint32_t shortest_literal(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                                 unsigned depth) {
  uint64_t cost = n->b;
  (void)e, (void)depth;
  for (uint32_t i = 0; spelled && i < n->b; i++) {
    if (i % 4096 == 4095 && !tsl__exprs_work(x, 4096)) return TSL__INF; /* the time is over */
    cost += tsl__spelling_cost(tsl__literal_at(x, n->a)[i]) - 1;
  }
  return tsl__capped(cost);
}

static void print_literal(const tsl__exprs *x, const tsl__node *n, tsl__printer *w,
                          unsigned depth) {
  (void)depth;
  for (uint32_t i = 0; i < n->b && w->length <= w->size; i++)
    tsl__print_byte(w, tsl__literal_at(x, n->a)[i]);
}

static tsl__expr alphabet_of_literal(tsl__alphabet *a, const tsl__node *n, unsigned depth,
                                     tsl__bytes *out) {
  (void)depth;
  tsl__alphabet_text(out, tsl__literal_at(a->x, n->a), n->b);
  return TSL__NONE;
}

static tsl__length characters_of_literal(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  uint32_t count = 0;
  (void)depth;
  for (uint32_t i = 0; i < n->b; i++) count += (tsl__literal_at(x, n->a)[i] & 0xC0) != 0x80;
  return (tsl__length){count, count};
}

static bool mean_literal(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  return tsl__meaning_bytes(m, n, tsl__literal_at(m->x, n->a), n->b, out);
}

const tsl__kind_ops tsl__kind_literal = {.derive = derive_literal,
                                         .reads = read_literal,
                                         .alike = split_by_literal,
                                         .shortest = shortest_literal,
                                         .print = print_literal,
                                         .alphabet = alphabet_of_literal,
                                         .characters = characters_of_literal,
                                         .meaning = mean_literal};
