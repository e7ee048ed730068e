/* numbers.h - random constraints on numbers, values and spellings for them, and the direct answer
 * whether a text is a number of a spec.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_NUMBERS_H
#define TSL_TESTS_SUPPORT_NUMBERS_H

#include "compiler/expr/deriv.h"
#include "compiler/expr/print.h"
#include "compiler/number/nat.h"
#include "compiler/number/number.h"
#include "tests/support/check.h"
#include "tests/support/decimal.h"

/* ---- what failed ----------------------------------------------------------------------------- */

static inline void put_decimal(tsl__printer *p, const tsl__decimal *d) {
  char text[64];
  if (tsl__decimal_print(d, text, sizeof text) >= sizeof text)
    memcpy(text + sizeof text - 4, "...", 4);
  tsl__print_text(p, text);
}

/* What is in a list, behind its label. */
static inline void put_list(tsl__printer *p, const char *label, const tsl__decimal *list,
                            uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    tsl__print_text(p, i ? ", " : label);
    put_decimal(p, &list[i]);
  }
}

/* "integer [1, 100] multiple of 5" */
static inline void print_spec(const tsl__number_spec *s, char *out, size_t n) {
  tsl__printer p = {out, n, 0};
  bool unit = s->multiple_count == 1 && tsl__decimal_equal(&s->multiples[0], &tsl__decimal_one);
  tsl__print_text(&p, s->empty                                          ? "no number"
                      : s->integer || (s->spelling & TSL__SPELL_DIGITS) ? "integer"
                                                                        : "number");
  if (s->spelling & TSL__SPELL_DIGITS) tsl__print_text(&p, " in digits");
  if (s->spelling & TSL__SPELL_MARKED) tsl__print_text(&p, " with fraction or exponent");
  if (s->spelling & TSL__SPELL_PLAIN) tsl__print_text(&p, " without exponent");
  if (s->has_min || s->has_max) {
    tsl__print_text(&p, s->has_min && !s->min_exclusive ? " [" : " (");
    if (s->has_min)
      put_decimal(&p, &s->min);
    else
      tsl__print_text(&p, "-inf");
    tsl__print_text(&p, ", ");
    if (s->has_max)
      put_decimal(&p, &s->max);
    else
      tsl__print_text(&p, "inf");
    tsl__print_text(&p, s->has_max && !s->max_exclusive ? "]" : ")");
  }
  if (!unit || !s->integer) put_list(&p, " multiple of ", s->multiples, s->multiple_count);
  if (s->not_integer && !s->non_multiple_count) tsl__print_text(&p, " not integral");
  put_list(&p, " no multiple of ", s->non_multiples, s->non_multiple_count);
  put_list(&p, " except ", s->excluded, s->excluded_count);
  tsl__print_end(&p);
}

/* ---- random specs and values ----------------------------------------------------------------- */

static const char *const bounds[] = {"0",
                                     "1",
                                     "-1",
                                     "5",
                                     "10",
                                     "100",
                                     "255",
                                     "-100",
                                     "1000",
                                     "0.5",
                                     "-0.5",
                                     "1.5",
                                     "0.1",
                                     "99.99",
                                     "3.14159",
                                     "1e-6",
                                     "1e400",
                                     "-1e400",
                                     "1e-300",
                                     "123456789012345678901234567890",
                                     "-9007199254740993",
                                     "2147483647",
                                     "-2147483648",
                                     "1e1000000",
                                     "7",
                                     "20",
                                     "-7.25",
                                     "1900",
                                     "2100"};
static const char *const units[] = {"1",
                                    "1",
                                    "1",
                                    "2",
                                    "3",
                                    "7",
                                    "10",
                                    "0.01",
                                    "0.5",
                                    "2.5",
                                    "100",
                                    "0.125",
                                    "300",
                                    "1000003",
                                    "16",
                                    "1.1",
                                    "12345678901234567890123",
                                    "1e-3",
                                    "40"};
static const char *const small_values[] = {
    "0",   "1",  "2",  "3",  "4",   "5",   "6",   "7",    "8",    "10",    "12",   "14",   "50",
    "100", "-1", "-2", "-5", "0.5", "2.5", "1.5", "-0.5", "0.01", "99.99", "1000", "1e10", "1e-10"};
#define PICK(list) dec(list[rnd(sizeof list / sizeof *list)])

typedef struct {
  tsl__number_spec s;
  tsl__decimal multiples[2], non_multiples[2], excluded[4];
} random_spec;

static inline void make_spec(random_spec *r) {
  memset(r, 0, sizeof *r);
  tsl__number_spec *s = &r->s;
  s->multiples = r->multiples, s->non_multiples = r->non_multiples, s->excluded = r->excluded;
  s->integer = !rnd(3);
  s->not_integer = !rnd(14);
  if (rnd(2)) s->has_min = true, s->min = PICK(bounds), s->min_exclusive = !rnd(3);
  if (rnd(2)) s->has_max = true, s->max = PICK(bounds), s->max_exclusive = !rnd(3);
  if (s->has_min && s->has_max && rnd(8) && tsl__decimal_compare(&s->min, &s->max) > 0) {
    tsl__decimal swap = s->min;
    s->min = s->max, s->max = swap;
  }
  if (!rnd(3)) r->multiples[s->multiple_count++] = PICK(units);
  if (!rnd(12)) r->multiples[s->multiple_count++] = PICK(units);
  if (!rnd(5)) r->non_multiples[s->non_multiple_count++] = PICK(units);
  if (!rnd(14)) r->non_multiples[s->non_multiple_count++] = PICK(units);
  while (s->excluded_count < 4 && !rnd(4)) r->excluded[s->excluded_count++] = PICK(small_values);
  if (!rnd(5)) s->spelling = (uint32_t)rnd(8);
}

/* k × m for a random k, exact. */
static inline tsl__decimal random_multiple(const tsl__decimal *m) {
  tsl__nat k, u, p;
  char digits[TSL__NAT_DIGITS], text[TSL__NAT_DIGITS + 32];
  random_nat(&k, 1 + rnd(rnd(3) ? 3 : 30));
  tsl__nat_from_digits(&u, m->digits, m->count);
  if (!tsl__nat_mul(&p, &k, &u)) return *m;
  size_t n = tsl__nat_to_digits(&p, digits);
  snprintf(text, sizeof text, "%s%.*se%lld", rnd(4) ? "" : "-", (int)n, digits,
           (long long)m->exponent);
  return dec(text);
}

/* A value of interest to the spec: a bound, a multiple, an exclusion, small or random; perhaps with
 * digits changed, cut off or added. */
static inline tsl__decimal make_value(const tsl__number_spec *s) {
  char text[1200];
  tsl__decimal d;
  uint64_t kind = rnd(6);
  if (kind == 0 && s->has_min)
    d = s->min;
  else if (kind == 1 && s->has_max)
    d = s->max;
  else if (kind == 2 && s->multiple_count)
    d = random_multiple(&s->multiples[rnd(s->multiple_count)]);
  else if (kind == 3 && s->excluded_count)
    d = s->excluded[rnd(s->excluded_count)];
  else if (kind == 4)
    d = PICK(bounds);
  else
    d = PICK(small_values);
  if (rnd(3) || d.count > 100 || !d.count) return d;
  size_t n = d.count;
  memcpy(text + 1, d.digits, n);
  text[0] = rnd(10) == 0 ? '-' : d.negative ? '-' : '+';
  if (rnd(2)) text[1 + rnd(n)] = (char)('0' + rnd(10));
  if (!rnd(3)) text[1 + n++] = (char)('0' + rnd(10));
  if (!rnd(6) && n > 1) n--;
  int64_t shift = rnd(3) ? 0 : (int64_t)rnd(7) - 3;
  for (size_t i = 1; i < n && text[1] == '0'; i++) text[1] = '1';
  snprintf(text + 1 + n, sizeof text - 1 - n, "e%lld",
           (long long)(d.exponent - (int64_t)(n - d.count) + shift));
  return dec(text[0] == '-' ? text : text + 1);
}

/* One of the spellings of a value. */
static inline void spell(const tsl__decimal *d, char *out, size_t room) {
  char digits[600], *o = out;
  size_t n = d->count;
  memcpy(digits, d->count ? d->digits : "", n);
  if (!n) digits[n++] = '0';
  int64_t exponent = d->exponent;
  if (!rnd(3))
    for (uint64_t z = rnd(4); z; z--, exponent--) digits[n++] = '0';
  if (exponent > 0 && exponent < 40 && rnd(2))
    for (; exponent; exponent--) digits[n++] = '0';
  if (d->negative || (!d->count && !rnd(3))) *o++ = '-';
  /* digits before the point */
  int64_t point =
      rnd(2) && exponent <= 0 && exponent > -60 ? (int64_t)n + exponent : (int64_t)rnd(n + 4) - 3;
  if (point > (int64_t)n) point = (int64_t)n;
  int64_t e = exponent + (int64_t)n - point;
  if (point <= 0) {
    o += snprintf(o, room, "0.");
    for (int64_t z = point; z < 0; z++) *o++ = '0';
    memcpy(o, digits, n), o += n;
  } else {
    if (digits[0] == '0') point = 1, e = exponent + (int64_t)n - 1;
    memcpy(o, digits, (size_t)point), o += point;
    if (point < (int64_t)n) {
      *o++ = '.';
      memcpy(o, digits + point, n - (size_t)point), o += n - (size_t)point;
    }
  }
  *o = 0;
  if (e || !rnd(6))
    snprintf(o, room - (size_t)(o - out), "%c%s%s%llu", rnd(2) ? 'e' : 'E',
             e < 0    ? "-"
             : rnd(2) ? "+"
                      : "",
             rnd(4) ? "" : "00", (unsigned long long)(e < 0 ? -e : e));
}

static inline void noise(char *out) {
  static const char alphabet[] = "0123456789.e-+E0519";
  size_t n = 1 + rnd(7);
  for (size_t i = 0; i < n; i++) out[i] = alphabet[rnd(sizeof alphabet - 1)];
  out[n] = 0;
}

/* The direct answer: is this text a JSON number of the spec? */
static inline bool expected(const tsl__number_spec *s, const char *text) {
  tsl__decimal d;
  bool exponent = strpbrk(text, "eE") != NULL, marked = exponent || strchr(text, '.');
  tsl_status status = tsl__decimal_parse(&arena, text, strlen(text), &d);
  /* further out than any constraint here: another exponent that is */
  if (status == TSL_ERR_LIMIT && exponent) {
    char near[1300];
    snprintf(near, sizeof near, "%.*se%s99999999999999", (int)strcspn(text, "eE"), text,
             strchr(text + strcspn(text, "eE"), '-') ? "-" : "");
    status = tsl__decimal_parse(&arena, near, strlen(near), &d);
  }
  if (status) return false;
  if (((s->spelling & TSL__SPELL_DIGITS) && marked) ||
      ((s->spelling & TSL__SPELL_MARKED) && !marked) ||
      ((s->spelling & TSL__SPELL_PLAIN) && exponent))
    return false;
  return tsl__number_admits(s, &d);
}

static inline tsl__number_spec parse_spec(const char *min, const char *max, const char *multiple) {
  tsl__number_spec s = {0};
  tsl__decimal *m = tsl__arena_alloc(&arena, sizeof *m);
  if (*min) s.has_min = true, s.min_exclusive = *min == '(', s.min = dec(min + (*min == '('));
  if (*max) s.has_max = true, s.max_exclusive = *max == '(', s.max = dec(max + (*max == '('));
  if (*multiple) *m = dec(multiple), s.multiples = m, s.multiple_count = 1;
  return s;
}

static inline tsl__exprs *new_exprs(void) {
  tsl__exprs *x = NULL;
  CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
  return x;
}

/* Walk at random, then finish by the shortest way; at each step the promise of `shortest` must be
 * exact. */
static inline void random_walk(tsl__exprs *x, tsl__expr e, const tsl__number_spec *s,
                               const char *name) {
  static const char alphabet[] = "0123456789.e-+E";
  char text[4000];
  size_t n = 0;
  uint64_t wander = rnd(rnd(4) ? 6 : 40);
  tsl__exprs_begin(x);
  for (;;) {
    tsl__expr next[16];
    int legal[16], count = 0, best = -1;
    for (int i = 0; alphabet[i]; i++)
      if ((next[i] = tsl__derive_plain(x, e, (uint8_t)alphabet[i])) != TSL__NONE) {
        legal[count++] = i;
        if (best < 0 || tsl__expr_shortest(x, next[i]) < tsl__expr_shortest(x, next[best]))
          best = i;
      }
    uint32_t promised = tsl__expr_shortest(x, e),
             found = tsl__expr_nullable(x, e) ? 0
                     : best < 0               ? TSL__INF
                                              : 1 + tsl__expr_shortest(x, next[best]);
    /* from 4,400 on only a lower bound, and nothing that a walk would finish */
    if (promised > 2000) return;
    CHECKF(promised == found, "%s after %.*s: %u bytes promised, %u found", name, (int)n, text,
           promised, found);
    if (promised != found || n + 2 > sizeof text || (!wander && tsl__expr_nullable(x, e))) break;
    int go = best;
    if (wander && count)
      wander--, go = legal[rnd((uint64_t)count)];
    else if (!count)
      break;
    text[n++] = alphabet[go];
    e = next[go];
  }
  text[n] = 0;
  CHECKF(tsl__expr_nullable(x, e) && expected(s, text), "%s ends with %s", name, text);
}

#endif
