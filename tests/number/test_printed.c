/* test_printed.c - numbers as printers of JSON write them.
 *
 * Oracle: the spelling is looked at letter by letter, and the value by tsl__number_admits. Dead
 * ends: from every state reached, following the shortest completion must end after exactly as many
 * bytes as promised. No text is longer than the limits add up to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/numbers.h"

/* The most digits on each side of the point, and the exponents, as printed.c says. */
typedef struct bounds_of {
  int64_t whole, fraction, least, most;
} bounds_of;

static void widen(int64_t *highest, int64_t *lowest, const tsl__decimal *d, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (!d[i].count) continue;
    if (tsl__decimal_magnitude(&d[i]) > *highest) *highest = tsl__decimal_magnitude(&d[i]);
    if (d[i].exponent < *lowest) *lowest = d[i].exponent;
  }
}

static bounds_of limits_of(const tsl__number_spec *c) {
  int64_t high = 0, low = 0;
  widen(&high, &low, &c->min, c->has_min);
  widen(&high, &low, &c->max, c->has_max);
  widen(&high, &low, c->multiples, c->multiple_count);
  widen(&high, &low, c->non_multiples, c->non_multiple_count);
  widen(&high, &low, c->excluded, c->excluded_count);
  return (bounds_of){high + 18 > 309 ? high + 18 : 309, 17 - low > 24 ? 17 - low : 24,
                     low - 17 < -324 ? low - 17 : -324, high + 17 > 308 ? high + 17 : 308};
}

static size_t digits_at(const char *p) { return strspn(p, "0123456789"); }

static bool is_printed(const char *text, const bounds_of *b) {
  const char *p = text + (*text == '-');
  size_t whole = digits_at(p);
  bool single = whole == 1 && *p != '0';
  if (!whole || (int64_t)whole > b->whole || (whole > 1 && *p == '0')) return false;
  p += whole;
  if (*p == '.') {
    size_t fraction = digits_at(++p);
    if (!fraction || (int64_t)fraction > b->fraction) return false;
    p += fraction;
  }
  if (!*p) return true;
  if ((*p != 'e' && *p != 'E') || !single) return false;
  bool negative = p[1] == '-';
  p += 1 + (p[1] == '-' || p[1] == '+');
  size_t n = digits_at(p);
  long value = strtol(p, NULL, 10);
  if (!n || p[n] || !value || (*p == '0' && n != 2)) return false;
  return negative ? -value >= b->least : value <= b->most;
}

static bool wanted(const tsl__number_spec *s, const bounds_of *b, const char *text) {
  return is_printed(text, b) && expected(s, text);
}

static bool canonical(const tsl__number_spec *s, tsl__number_spec *out) {
  return tsl__number_intersect(NULL, &arena, s, s, out) == TSL_OK && tsl__number_printable(out);
}

static void membership(void) {
  unsigned long yes = 0, all = 0;
  for (int i = 0; i < 2500; i++) {
    random_spec r;
    tsl__number_spec c;
    char text[1200], name[256];
    make_spec(&r);
    r.s.spelling |= TSL__SPELL_PRINTED;
    if (!canonical(&r.s, &c)) continue;
    bounds_of b = limits_of(&c);
    tsl__exprs *x = new_exprs();
    tsl__expr e = tsl__number_expr(x, &r.s);
    print_spec(&r.s, name, sizeof name);
    CHECKF((e == TSL__NONE) == tsl__number_empty(&c), "%s", name);
    for (int k = 0; k < 60; k++) {
      tsl__decimal v = make_value(&r.s);
      if (k % 8 == 7)
        noise(text);
      else if (rnd(4) || v.exponent > 300 || v.exponent < -300 || v.count > 100)
        tsl__decimal_print(&v, text, sizeof text);
      else
        spell(&v, text, sizeof text);
      bool want = wanted(&r.s, &b, text);
      CHECKF(tsl__expr_matches(x, e, text, strlen(text)) == want, "%s in %s should be %d", text,
             name, want);
      yes += want, all++;
    }
    CHECKF(tsl__exprs_status(x) == TSL_OK, "%s", tsl__exprs_why(x));
    tsl__exprs_free(x);
  }
  CHECK(yes > all / 20);
  printf("       %lu pairs of spec and text, %lu members\n", all, yes);
}

static void no_dead_ends(void) {
  for (int i = 0; i < ROUNDS_OF(1500); i++) {
    random_spec r;
    tsl__number_spec c;
    char name[256];
    make_spec(&r);
    r.s.spelling |= TSL__SPELL_PRINTED;
    if (!canonical(&r.s, &c)) continue;
    tsl__exprs *x = new_exprs();
    tsl__expr e = tsl__number_expr(x, &r.s);
    print_spec(&r.s, name, sizeof name);
    for (int k = 0; e != TSL__NONE && k < 6; k++) random_walk(x, e, &r.s, name);
    CHECKF(tsl__exprs_status(x) == TSL_OK, "%s", tsl__exprs_why(x));
    tsl__exprs_free(x);
  }
}

/* Always the first byte of a list that lives: however long this goes on, it ends. */
static size_t longest(tsl__exprs *x, tsl__expr e, const char *prefer) {
  size_t n = 0;
  for (bool went = true; went; n += went) {
    went = false;
    for (const char *c = prefer; *c && !went; c++) {
      tsl__expr next = tsl__derive_plain(x, e, (uint8_t)*c);
      if (next != TSL__NONE) e = next, went = true;
    }
  }
  CHECK(tsl__expr_nullable(x, e));
  return n;
}

static void bounded(void) {
  static const char *const models[] = {"0123456789.-+eE", "987654321.0eE+-", ".0123456789eE+-",
                                       "eE-+0.123456789", "0.eE123456789-+", "-5.0eE+12346789"};
  for (int i = 0; i < ROUNDS_OF(300); i++) {
    random_spec r;
    tsl__number_spec c;
    make_spec(&r);
    r.s.spelling |= TSL__SPELL_PRINTED;
    if (!canonical(&r.s, &c)) continue;
    bounds_of b = limits_of(&c);
    tsl__exprs *x = new_exprs();
    tsl__expr e = tsl__number_expr(x, &r.s);
    for (size_t k = 0; e != TSL__NONE && k < sizeof models / sizeof *models; k++) {
      size_t n = longest(x, e, models[k]);
      CHECKF((int64_t)n <= 8 + b.whole + b.fraction, "%zu bytes", n);
    }
    tsl__exprs_free(x);
  }
}

static bool matches(tsl__exprs *x, tsl__expr e, const char *text) {
  return tsl__expr_matches(x, e, text, strlen(text));
}

static void spellings(void) {
  static const struct {
    const char *text;
    bool number, digits;
  } rows[] = {{"0", true, true},
              {"-0", true, true},
              {"-0.0", true, false},
              {"12", true, true},
              {"1.0", true, false},
              {"1e1", true, false},
              {"12e1", false, false},
              {"1e22", true, false},
              {"1E+22", true, false},
              {"1.5e-07", true, false},
              {"1.5e-007", false, false},
              {"1e0", false, false},
              {"1e00", false, false},
              {"5e-324", true, false},
              {"5e-325", false, false},
              {"1e309", false, false},
              {"0e5", false, false},
              {"0.5e5", false, false},
              {"10.0e5", false, false},
              {"01", false, false},
              {".5", false, false},
              {"5.", false, false},
              {"+5", false, false},
              {"1.7976931348623157e+308", true, false},
              {"-9223372036854775808", true, true},
              {"1e05", true, false}};
  tsl__exprs *x = new_exprs();
  tsl__number_spec any = {.spelling = TSL__SPELL_PRINTED},
                   digits = {.integer = true, .spelling = TSL__SPELL_PRINTED | TSL__SPELL_DIGITS};
  tsl__expr number = tsl__number_expr(x, &any), integer = tsl__number_expr(x, &digits);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECKF(matches(x, number, rows[i].text) == rows[i].number, "%s", rows[i].text);
    CHECKF(matches(x, integer, rows[i].text) == rows[i].digits, "%s", rows[i].text);
  }
  tsl__exprs_free(x);
}

/* Sets of one value, by their texts. */
static void listed(void) {
  static const struct {
    const char *value, *own, *yes, *no;
  } rows[] = {{"1", NULL, "1", "1.0"},
              {"1", "1.0", "1.0", "1.00"},
              {"10", "1e1", "1e1", "10.0"},
              {"1e400", "1e400", "1e400", "10e399"},
              {"1e400", "1e400", "1e+400", "1e0400"},
              {"-2.5", NULL, "-2.5", "-25e-1"},
              {"1e-7", NULL, "1e-07", "10e-8"},
              {"1e-7", NULL, "0.0000001", "0.00000010"},
              {"1e-7", "0.1e-6", "0.1e-6", "0.01e-5"},
              {"1e22", NULL, "1e+22", "1e022"},
              {"1e22", NULL, "10000000000000000000000", "1e22.0"},
              {"0", "0.0", "0.0", "-0"},
              {"0", NULL, "0", "0e0"},
              {"0.25", NULL, "0.25", "0.250"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl__exprs *x = new_exprs();
    tsl__number_spec s = parse_spec(rows[i].value, rows[i].value, ""), c;
    s.own = rows[i].own, s.own_length = s.own ? (uint32_t)strlen(s.own) : 0;
    CHECK(tsl__number_intersect(NULL, &arena, &s, &s, &c) == TSL_OK);
    tsl__expr e = tsl__number_listed(x, &c);
    CHECKF(matches(x, e, rows[i].yes), "%s", rows[i].yes);
    CHECKF(!matches(x, e, rows[i].no), "%s", rows[i].no);
    CHECK(tsl__expr_shortest(x, e) != TSL__INF);
    tsl__exprs_free(x);
  }
}

int main(void) {
  tsl__arena_init(&arena, &tsl__malloc);
  RUN(spellings, "what printers write, and what they do not");
  RUN(listed, "one value is a list of texts");
  RUN(membership, "expressions against direct evaluation");
  RUN(no_dead_ends, "random walks finish, shortest is exact");
  RUN(bounded, "no choice of digits goes on for ever");
  tsl__arena_free(&arena);
  return tsl_test_end();
}
