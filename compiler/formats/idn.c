/* idn.c - internationalised host names (RFC 5890 to 5893): U-labels, and A-labels and ASCII labels
 * by host.c.
 *
 * Problem   A U-label is a run of letters, digits and marks with rules of neighbours and direction.
 *           As one expression these are a dozen intersections of large sets.
 * Idea      label.c has the rules as a machine over classes of code points. Its derivative by a
 *           byte is the union over the classes that are legal now of (derivative of the class) ·
 *           (state after it).
 * State     A tsl__label, packed. A state that can't end within TSL__LABEL_POINTS code points is
 *           not entered, so no state is dead.
 * Far       Far from the limits of the label and the name a state is like a free one. That counts
 *           code points only as far as their places matter. So one walk serves all positions.
 * Limits    See formats.h for what is not checked.
 * Tested by tests/formats/test_formats.c (tests/cases/labels.txt)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/charset.h"
#include "compiler/expr/deriv.h"
#include "compiler/formats/formats.h"
#include "compiler/formats/label.h"

/* ---- classes --------------------------------------------------------------------------------- */

static bool add_points(const tsl_allocator *a, tsl__charset *set, const tsl__label_points *row) {
  if (row->step == 1) return tsl__charset_add(a, set, row->first, row->last);
  bool ok = true;
  for (uint32_t c = row->first; ok && c <= row->last; c += row->step)
    ok = tsl__charset_add(a, set, c, c);
  return ok;
}

/* Fill the classes; false (x failed) when out of memory. */
static bool sort_code_points(tsl__exprs *x, tsl__expr class_of[TSL__LABEL_CLASSES]) {
  const tsl_allocator *a = tsl__exprs_allocator(x);
  tsl__charset sets[TSL__LABEL_CLASSES] = {0};
  size_t n;
  const tsl__label_points *points = tsl__label_points_all(&n);
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) ok = add_points(a, &sets[points[i].class], &points[i]);
  for (unsigned i = 0; i < TSL__LABEL_CLASSES; i++) {
    if (ok) class_of[i] = tsl__expr_charset(x, &sets[i]);
    tsl__charset_free(a, &sets[i]);
  }
  if (!ok) tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  return ok;
}

/* ---- the automaton --------------------------------------------------------------------------- */

/* The classes as they are stepped through: a walk over a vocabulary makes tens of thousands of
 * steps. */
typedef struct u_label {
  tsl__expr after[TSL__LABEL_CLASSES][256]; /* the derivative of each class by each first byte */
  tsl__bytes edges[TSL__LABEL_CLASSES];     /* the bytes where that may change */
} u_label;

static void tabulate(tsl__exprs *x, const tsl__expr class_of[TSL__LABEL_CLASSES], u_label *u) {
  for (unsigned i = 0; i < TSL__LABEL_CLASSES; i++) {
    tsl__boundaries(x, class_of[i], &u->edges[i]);
    for (unsigned b = 0; b < 256; b++)
      u->after[i][b] = b && !tsl__bytes_has(&u->edges[i], b)
                           ? u->after[i][b - 1]
                           : tsl__derive_plain(x, class_of[i], (uint8_t)b);
  }
}

static bool u_nullable(void *ctx, uint32_t param) {
  tsl__label s = tsl__label_unpack(param);
  uint32_t bytes;
  (void)ctx;
  return tsl__label_to_go(&s, &bytes) == 0;
}

static uint32_t u_shortest(void *ctx, uint32_t param) {
  tsl__label s = tsl__label_unpack(param);
  uint32_t bytes;
  (void)ctx;
  (void)tsl__label_to_go(&s, &bytes);
  return bytes;
}

static void u_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  const u_label *u = ctx;
  for (unsigned i = 0; i < TSL__LABEL_CLASSES; i++) {
    tsl__label s = tsl__label_unpack(param);
    if (tsl__label_next(&s, i)) tsl__bytes_or(out, &u->edges[i]);
  }
  tsl__bytes_add_range(out, '.', '/');
  tsl__bytes_add_range(out, 0xE3, 0xE4);
  tsl__bytes_add_range(out, 0xEF, 0xF0);
}

static void u_print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "u-label[%x]", (unsigned)param);
}

/* ---- without limits -------------------------------------------------------------------------- */

#define PLACES_MATTER 4u /* no hyphens in third and fourth place */
#define TO_GO_MOST 2u    /* code points that may be needed: see tsl__label_to_go */

static bool is_free(const tsl__label *s) { return s->total == TSL__NAME_FREE; }

static void set_free(tsl__label *s) {
  s->total = TSL__NAME_FREE;
  if (s->count > PLACES_MATTER) s->count = PLACES_MATTER;
}

/* Far from the limit of the name it is as in the first label of one. Far from that of the label,
 * too, there might be none. */
static uint32_t u_like(void *ctx, uint32_t param, uint32_t *limit) {
  tsl__label s = tsl__label_unpack(param);
  bool first = is_free(&s) || s.total == s.count;
  (void)ctx;
  *limit =
      tsl__label_limit(first, TSL__LABEL_POINTS - s.count, TSL__NAME_LONGEST - s.total, TO_GO_MOST);
  s.total = s.count;
  if (first) set_free(&s);
  return tsl__label_pack(&s);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static uint32_t u_most(void *ctx, uint32_t param) {
  tsl__label s = tsl__label_unpack(param);
  (void)ctx;
  return is_free(&s) ? TSL__INF : TSL__NAME_LONGEST - s.total;
}

static tsl__expr u_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte);
static const tsl__native_ops u_ops = {.nullable = u_nullable,
                                      .boundaries = u_boundaries,
                                      .step = u_step,
                                      .shortest = u_shortest,
                                      .print = u_print,
                                      .like = u_like,
                                      .ascii = TSL__NAME_ASCII,
                                      .plain = true,
                                      .most = u_most,
                                      .later = TSL__A_LABEL_TO_GO};

/* Can a state be left before the limits? */
static bool alive(const tsl__label *s) {
  uint32_t bytes, n = tsl__label_to_go(s, &bytes);
  if (is_free(s)) return true;
  return s->count + n <= TSL__LABEL_POINTS && s->total + n <= TSL__NAME_LONGEST;
}

static tsl__expr u_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  u_label *u = ctx;
  tsl__label s = tsl__label_unpack(param);
  tsl__expr parts[TSL__LABEL_CLASSES + 1];
  size_t n = 0;
  for (unsigned i = 0; i < TSL__LABEL_CLASSES; i++) {
    tsl__expr d = u->after[i][byte];
    tsl__label t = s;
    if (!d || !tsl__label_next(&t, i)) continue;
    if (is_free(&s)) set_free(&t);
    if (alive(&t))
      parts[n++] = tsl__expr_seq(x, d, tsl__expr_native(x, &u_ops, u, tsl__label_pack(&t)));
  }
  if (u_nullable(ctx, param))
    parts[n++] = tsl__format_idn_dot(x, ctx, s.total, tsl__label_name(&s), byte);
  return tsl__expr_alt_n(x, parts, n);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A label of either kind and what may follow it. */
static tsl__expr any_label(tsl__exprs *x, u_label *u, uint32_t total, uint32_t name) {
  tsl__label s = {.total = total, .name = name};
  tsl__expr label = tsl__format_host_label(x, u, total, name);
  return alive(&s) ? tsl__expr_alt(x, label, tsl__expr_native(x, &u_ops, u, tsl__label_pack(&s)))
                   : label;
}

tsl__expr tsl__format_idn_dot(tsl__exprs *x, void *idn, uint32_t total, uint32_t name,
                              uint8_t byte) {
  tsl__expr rest;
  switch (byte) { /* U+002E, U+3002, U+FF0E and U+FF61: RFC 3490 section 3.1 */
  case '.': rest = TSL__EPS; break;
  case 0xE3: rest = tsl__expr_literal(x, "\x80\x82", 2); break;
  case 0xEF:
    rest =
        tsl__expr_alt(x, tsl__expr_literal(x, "\xBC\x8E", 2), tsl__expr_literal(x, "\xBD\xA1", 2));
    break;
  default: return TSL__NONE;
  }
  if (total != TSL__NAME_FREE && ++total >= TSL__NAME_LONGEST) return TSL__NONE;
  return tsl__expr_seq(x, rest, any_label(x, idn, total, name));
}

tsl__expr tsl__format_idn_hostname(tsl__exprs *x) {
  u_label *u = tsl__exprs_alloc(x, sizeof *u);
  tsl__expr class_of[TSL__LABEL_CLASSES];
  if (!u || !sort_code_points(x, class_of)) return TSL__NONE;
  tabulate(x, class_of, u);
  return any_label(x, u, 0, 0);
}
