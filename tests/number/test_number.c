/* test_number.c - exact decimals, constraints on numbers, and the expressions of number sets.
 *
 * Oracles: tests/cases/number/arithmetic.txt (worked out with rational numbers), and small grids
 * counted one by one. For expressions the oracle reads the text as a decimal and calls
 * tsl__number_admits. Dead ends: from every state reached, following the shortest completion must
 * end after exactly as many bytes as promised.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"
#include "compiler/number/nat.h"
#include "compiler/number/number.h"
#include "compiler/number/parts.h"
#include "compiler/expr/print.h"
#include "compiler/schema/goal.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/numbers.h"

/* ---- the logic ------------------------------------------------------------------------------- */

static void canonical_forms(void) {
  static const struct {
    const char *min, *max, *multiple, *printed;
    uint32_t count;
  } rows[] = {
      {"", "", "", "number", 11},
      {"0", "100", "1", "integer [0, 100]", 11},
      {"0.5", "3.5", "1", "integer [1, 3]", 3},
      {"(0", "(3", "1", "integer [1, 2]", 2},
      {"-7", "20", "7", "integer [-7, 14] multiple of 7", 4},
      {"(-7", "(14", "7", "integer [0, 7] multiple of 7", 2},
      {"1", "6", "7", "no number", 0},
      {"5", "5", "", "number [5, 5]", 1},
      {"5", "(5", "", "no number", 0},
      {"6", "5", "", "no number", 0},
      {"5.5", "5.5", "1", "no number", 0},
      {"0.005", "0.031", "0.01", "number [0.01, 0.03] multiple of 0.01", 3},
      {"1e400", "", "7", NULL, 11},
      {"1e1000000", "1e1000000", "1", "number [1e1000000, 1e1000000]", 1},
      {"1e1000000", "1e1000000", "7", "no number", 0},
      {"1e1000000", "(1e1000000", "1", "no number", 0},
      {"1e1000000", "1.1e1000000", "7", "integer [1e1000000, 1.1e1000000] multiple of 7", 11},
      {"-3", "(-1", "1", "integer [-3, -2]", 2},
      {"1e-400", "0.5", "1", "no number", 0},
      {"-1e-400", "0.5", "3", "number [0, 0]", 1},
      {"999999999999999999999999999999", "1000000000000000000000000000002", "1000000007",
       "no number", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    tsl__number_spec in = parse_spec(rows[i].min, rows[i].max, rows[i].multiple), s;
    CHECK(tsl__number_intersect(NULL, &arena, &in, &in, &s) == TSL_OK);
    print_spec(&s, text, sizeof text);
    CHECKF(!rows[i].printed || !strcmp(text, rows[i].printed), "row %zu: %s", i, text);
    CHECKF(tsl__number_count(NULL, &s, 10) == rows[i].count, "row %zu: counted %u", i,
           tsl__number_count(NULL, &s, 10));
    CHECKF(tsl__number_empty(&s) == !rows[i].count, "row %zu", i);
  }
}

static void limits(void) {
  tsl__number_spec s = {0}, out;
  tsl__decimal list[1100];
  for (uint32_t i = 0; i < 1100; i++) list[i] = dec_of(i);
  s.excluded = list, s.excluded_count = TSL__NUMBER_EXCLUDED;
  CHECK(tsl__number_intersect(NULL, &arena, &s, &s, &out) == TSL_OK &&
        out.excluded_count == TSL__NUMBER_EXCLUDED);
  s.excluded_count++;
  CHECK(tsl__number_intersect(NULL, &arena, &s, &s, &out) == TSL_ERR_LIMIT);
  static const unsigned primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};
  for (int i = 0; i < 17; i++) list[i] = dec_of(primes[i]);
  s = (tsl__number_spec){.non_multiples = list, .non_multiple_count = 16};
  CHECK(tsl__number_intersect(NULL, &arena, &s, &s, &out) == TSL_OK &&
        out.non_multiple_count == 16);
  s.non_multiple_count = 17;
  CHECK(tsl__number_intersect(NULL, &arena, &s, &s, &out) == TSL_ERR_LIMIT);
  char many[900];
  memset(many, '1', sizeof many);
  CHECK(!tsl__decimal_parse(&arena, many, 900, &list[0]));
  many[0] = '3';
  CHECK(!tsl__decimal_parse(&arena, many, 900, &list[1]));
  s = (tsl__number_spec){.multiples = list, .multiple_count = 2};
  CHECK(tsl__number_intersect(NULL, &arena, &s, &s, &out) == TSL_ERR_LIMIT);
}

/* Intersections against the direct conjunction, value by value; canonical forms are stable. */
static void conjunctions(void) {
  for (int i = 0; i < 2500; i++) {
    random_spec a, b;
    tsl__number_spec both, again;
    make_spec(&a), make_spec(&b);
    tsl_status status = tsl__number_intersect(NULL, &arena, &a.s, &b.s, &both);
    CHECK(status == TSL_OK);
    if (status) continue;
    CHECK(tsl__number_intersect(NULL, &arena, &both, &both, &again) == TSL_OK);
    CHECK(tsl__number_equal(&both, &again));
    CHECK(tsl__number_intersect(NULL, &arena, &b.s, &a.s, &again) == TSL_OK &&
          tsl__number_equal(&both, &again));
    bool clash = (both.spelling & 3) == 3 || ((a.s.spelling | b.s.spelling) & 3) == 3;
    for (int k = 0; k < 20 && !clash; k++) {
      tsl__decimal v = make_value(k % 2 ? &a.s : &b.s);
      bool want = tsl__number_admits(&a.s, &v) && tsl__number_admits(&b.s, &v);
      char text[64], name[256];
      tsl__decimal_print(&v, text, sizeof text);
      print_spec(&both, name, sizeof name);
      CHECKF(tsl__number_admits(&both, &v) == want, "%s in %s", text, name);
    }
  }
}

/* Specs on a small grid: every member is counted one by one. */
static void counting(void) {
  for (int i = 0; i < 3000; i++) {
    random_spec r;
    char text[32];
    memset(&r, 0, sizeof r);
    tsl__number_spec *s = &r.s, c;
    s->multiples = r.multiples, s->non_multiples = r.non_multiples, s->excluded = r.excluded;
    int low = (int)rnd(60) - 30, high = low + (int)rnd(40);
    snprintf(text, sizeof text, "%de-1", low), s->min = dec(text), s->has_min = true,
                                               s->min_exclusive = rnd(2);
    snprintf(text, sizeof text, "%de-1", high), s->max = dec(text), s->has_max = true,
                                                s->max_exclusive = rnd(2);
    static const char *const m[] = {"0.1", "0.2", "0.5", "0.3", "1", "0.7", "0.4"};
    r.multiples[0] = PICK(m), s->multiple_count = 1;
    for (uint64_t k = rnd(3); k; k--) r.non_multiples[s->non_multiple_count++] = PICK(m);
    for (uint64_t k = rnd(4); k; k--)
      snprintf(text, sizeof text, "%de-1", low + (int)rnd(20)),
          r.excluded[s->excluded_count++] = dec(text);
    uint32_t want = 0;
    for (int v = low; v <= high; v++) {
      snprintf(text, sizeof text, "%de-1", v);
      tsl__decimal d = dec(text);
      want += tsl__number_admits(s, &d);
    }
    CHECK(tsl__number_intersect(NULL, &arena, s, s, &c) == TSL_OK);
    CHECKF(tsl__number_count(NULL, &c, 1000) == want, "%u, not %u",
           tsl__number_count(NULL, &c, 1000), want);
    CHECK(tsl__number_empty(&c) == !want &&
          (want < 2 || tsl__number_count(NULL, &c, want - 2) == want - 1));
  }
}

/* ---- expressions ----------------------------------------------------------------------------- */

static void membership(void) {
  unsigned long yes = 0, all = 0, empty = 0;
  for (int i = 0; i < 2500; i++) {
    random_spec r;
    tsl__number_spec c;
    char text[1200], name[256];
    make_spec(&r);
    tsl__exprs *x = new_exprs();
    tsl__expr e = tsl__number_expr(x, &r.s);
    CHECKF(tsl__exprs_status(x) == TSL_OK, "%s", tsl__exprs_why(x));
    CHECK(tsl__number_intersect(NULL, &arena, &r.s, &r.s, &c) == TSL_OK);
    print_spec(&r.s, name, sizeof name);
    CHECKF((e == TSL__NONE) == tsl__number_empty(&c), "%s", name);
    empty += e == TSL__NONE;
    for (int k = 0; k < 60; k++) {
      tsl__decimal v = make_value(&r.s);
      if (k % 8 == 7)
        noise(text);
      else if (v.exponent > 2000 || v.exponent < -2000 || v.count > 200 || !rnd(2))
        snprintf(text, sizeof text, "%s%.*se%lld", v.negative ? "-" : "",
                 v.count ? (int)v.count : 1, v.count ? v.digits : "0", (long long)v.exponent);
      else
        spell(&v, text, sizeof text);
      bool want = expected(&r.s, text);
      CHECKF(tsl__expr_matches(x, e, text, strlen(text)) == want, "%s in %s should be %d", text,
             name, want);
      yes += want, all++;
    }
    CHECKF(tsl__exprs_status(x) == TSL_OK, "%s", tsl__exprs_why(x));
    tsl__exprs_free(x);
  }
  printf("       %lu pairs of spec and text, %lu members, %lu empty specs\n", all, yes, empty);
}

static void no_dead_ends(void) {
  for (int i = 0; i < ROUNDS_OF(1500); i++) {
    random_spec r;
    char name[256];
    make_spec(&r);
    tsl__exprs *x = new_exprs();
    tsl__expr e = tsl__number_expr(x, &r.s);
    print_spec(&r.s, name, sizeof name);
    for (int k = 0; e != TSL__NONE && k < 6; k++) random_walk(x, e, &r.s, name);
    CHECKF(tsl__exprs_status(x) == TSL_OK, "%s", tsl__exprs_why(x));
    tsl__exprs_free(x);
  }
}

/* How many different states all prefixes of up to `depth` digits lead to. */
static uint32_t count_states(tsl__exprs *x, tsl__expr e, int depth) {
  tsl__expr seen[5000];
  size_t from = 0, n = 0;
  seen[n++] = e;
  for (int d = 0; d < depth; d++) {
    size_t to = n;
    for (; from < to; from++)
      for (char b = '0'; b <= '9'; b++) {
        tsl__expr next = tsl__derive_plain(x, seen[from], (uint8_t)b);
        bool known = next == TSL__NONE;
        for (size_t i = 0; i < n && !known; i++) known = seen[i] == next;
        if (!known && n < 5000) seen[n++] = next;
      }
  }
  return (uint32_t)n;
}

static void few_states(void) {
  static const struct {
    const char *min, *max, *multiple;
    uint32_t most;
  } rows[] = {{"", "", "", 4},       {"", "", "1", 6},      {"0", "", "1", 6},
              {"0", "100", "", 14},  {"0", "100", "1", 14}, {"1", "65535", "1", 20},
              {"-90", "90", "", 14}, {"0", "1", "", 12},    {"", "", "0.01", 6},
              {"", "", "7", 30},     {"0", "100", "5", 30}, {"1900", "2100", "1", 60}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl__exprs *x = new_exprs();
    tsl__number_spec s = parse_spec(rows[i].min, rows[i].max, rows[i].multiple);
    uint32_t n = count_states(x, tsl__number_expr(x, &s), 3);
    CHECKF(n <= rows[i].most, "row %zu: %u states", i, n);
    tsl__exprs_free(x);
  }
}

static void shared_states(void) {
  tsl__exprs *x = new_exprs();
  tsl__numbers *t = tsl__numbers_new(x);
  tsl__number_spec plain = {0}, integer = {.integer = true},
                   digits = {.spelling = TSL__SPELL_DIGITS}, one = parse_spec("", "", "1"),
                   low = parse_spec("0", "", "1");
  char text[256];
  CHECK(tsl__number_expr(x, &plain) == tsl__numbers_expr(t, &plain));
  CHECK(tsl__numbers_expr(t, &integer) == tsl__numbers_expr(t, &one) &&
        tsl__number_expr(x, &integer) == tsl__numbers_expr(t, &one));
  tsl__expr_print(x, tsl__numbers_expr(t, &digits), text, sizeof text);
  CHECKF(!strcmp(text, "(-|)(0|[1-9]([0-9])*)") || strlen(text) < 30, "%s", text);
  tsl__number_spec a = parse_spec("0", "100", ""), b = parse_spec("0", "1e2", "");
  CHECK(tsl__numbers_expr(t, &a) == tsl__numbers_expr(t, &b));
  /* Integers from 0 on: without the sign they are any integer. */
  tsl__expr up = tsl__numbers_expr(t, &low);
  CHECK(tsl__derive_plain(x, up, '7') == tsl__derive_plain(x, tsl__numbers_expr(t, &integer), '7'));
  tsl__exprs_free(x);
}

/* A run of digits whose outcome is decided costs no memory. */
static void long_runs(void) {
  tsl__exprs *x = new_exprs();
  tsl__number_spec s = parse_spec("-5", "", "");
  tsl__expr e = tsl__number_expr(x, &s), first = tsl__derive_plain(x, e, '1');
  e = first;
  for (int i = 0; i < 1000; i++) e = tsl__derive_plain(x, e, (uint8_t)('0' + rnd(10)));
  CHECK(e == first);
  s = parse_spec("0", "100", "");
  e = tsl__number_expr(x, &s);
  for (const char *c = "12.5"; *c; c++) e = tsl__derive_plain(x, e, (uint8_t)*c);
  first = e;
  for (int i = 0; i < 1000; i++) e = tsl__derive_plain(x, e, (uint8_t)('0' + rnd(10)));
  CHECK(e == first && e != TSL__NONE);
  s = parse_spec("", "", "7");
  e = tsl__number_expr(x, &s);
  for (int i = 0; i < 1000; i++) e = tsl__derive_plain(x, e, (uint8_t)('1' + rnd(9)));
  size_t before = tsl__exprs_memory(x);
  for (int i = 0; i < 1000; i++) e = tsl__derive_plain(x, e, (uint8_t)('1' + rnd(9)));
  CHECKF(e != TSL__NONE && tsl__exprs_memory(x) == before, "%zu, then %zu bytes", before,
         tsl__exprs_memory(x));
  tsl__exprs_free(x);
}

/* Numbers as long, and as far out, as a schema may have them. */
static void extremes(void) {
  static char nines[1001], ones[1001], text[2200];
  memset(nines, '9', 1000), memset(ones, '1', 1000);
  static const struct {
    const char *min, *max, *multiple, *suffix;
    bool member;
  } rows[] = {{nines, nines, "", "", true},
              {nines, nines, "", "0", false},
              {nines, nines, "", ".00", true},
              {nines, nines, "", "e0", true},
              {nines, nines, "", "1e-1", false},
              {"", nines, "", "e-5", true},
              {"", nines, "", "e1", false},
              {"", "", nines, "", true},
              {"", "", nines, "e5", true},
              {"", "", nines, "e-1", false},
              {"", "", ones, "", true},
              {ones, nines, "3", "", true},
              {ones, nines, ones, "", true},
              {ones, nines, ones, "00e-2", true},
              {ones, nines, ones, "2", false},
              {"1e-1000000000000000", "1e1000000000000000", "1e-1000000000000000", "", true},
              {"1e1000000000000000", "", "", "", false},
              {"1e1000000000000000", "", "", "e1000000000000000", true},
              {"", "1e-1000000000000000", "", "", false},
              {"", "1e-1000000000000000", "", "e-10000000000000000", true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl__exprs *x = new_exprs();
    tsl__number_spec s = parse_spec(rows[i].min, rows[i].max, rows[i].multiple);
    tsl__expr e = tsl__number_expr(x, &s);
    int n = snprintf(text, sizeof text, "%s%s", nines, rows[i].suffix);
    CHECKF(e != TSL__NONE && tsl__exprs_status(x) == TSL_OK, "row %zu", i);
    CHECKF(tsl__expr_matches(x, e, text, (size_t)n) == rows[i].member, "row %zu", i);
    CHECKF(tsl__exprs_status(x) == TSL_OK, "row %zu: %s", i, tsl__exprs_why(x));
    tsl__exprs_free(x);
  }
}

/* ---- out of memory --------------------------------------------------------------------------- */

static void out_of_memory(void) {
  bool done = false;
  long nth = 0;
  for (; !done && nth < 500; nth++) {
    failing f = {nth, 0};
    const tsl_allocator hooks = failing_allocator(&f);
    tsl__exprs *x = NULL;
    random_spec r;
    memset(&r, 0, sizeof r);
    r.s = parse_spec("0", "250", "7");
    r.excluded[0] = dec("14"), r.s.excluded = r.excluded, r.s.excluded_count = 1;
    if (tsl__exprs_new(NULL, &hooks, NULL, &x) == TSL_OK) {
      tsl__expr e = tsl__number_expr(x, &r.s);
      bool in = tsl__expr_matches(x, e, "210", 3), out = tsl__expr_matches(x, e, "14", 2);
      bool fine = tsl__exprs_status(x) == TSL_OK;
      done = fine && !failing_failed(&f);
      CHECK(fine ? in && !out && e != TSL__NONE : tsl__exprs_status(x) == TSL_ERR_NO_MEMORY);
      tsl__exprs_free(x);
      CHECK(f.held == 0);
    }
  }
  CHECK(done && nth > 5);
}

/* Schemas find these by their canonical form. */
static void shared_by_schemas(void) {
  for (uint32_t i = 0; i < TSL__SHARED_FROM; i++) {
    tsl__number_spec s;
    CHECK(tsl__number_intersect(NULL, &arena, &tsl__shared_from[i], &tsl__shared_from[i], &s) ==
              TSL_OK &&
          tsl__number_equal(&s, &tsl__shared_from[i]));
  }
}

/* What follows an 'e', whether it was made ahead or not. */
static void check_exponent(tsl__exprs *x, int64_t low, int64_t high) {
  tsl__exponents e = {.low = low, .high = high, .hole_count = 0};
  tsl__expr range = tsl__number_exponent(x, &e);
  for (int64_t n = -12; n <= 12; n++)
    for (int zeros = 0; zeros < 3; zeros++) {
      char text[32];
      int length = snprintf(text, sizeof text, "%s%.*s%lld",
                            n < 0        ? "-"
                            : zeros == 1 ? "+"
                                         : "",
                            zeros, "00", (long long)(n < 0 ? -n : n));
      bool inside = low <= n && n <= high;
      CHECKF((range != TSL__NONE && tsl__expr_matches(x, range, text, (size_t)length)) == inside,
             "%s in %lld to %lld", text, (long long)low, (long long)high);
    }
}

static void exponents(void) {
  tsl__exprs *below = NULL, *x = NULL;
  CHECK(tsl__exprs_new(NULL, NULL, NULL, &below) == TSL_OK && tsl__number_exponents_make(below) &&
        tsl__exprs_new(below, NULL, NULL, &x) == TSL_OK);
  for (int64_t low = -7; low <= 6; low++)
    for (int64_t high = -6; high <= 10; high++)
      check_exponent(x, low < -6 ? -TSL__EXPONENT_INF : low, high > 9 ? TSL__EXPONENT_INF : high);
  tsl__exprs_free(x);
  tsl__exprs_free(below);
}

int main(void) {
  tsl__arena_init(&arena, &tsl__malloc);
  RUN(canonical_forms, "canonical specs and counts");
  RUN(limits, "documented limits");
  RUN(conjunctions, "intersection against the direct conjunction");
  RUN(shared_by_schemas, "those that all schemas share are canonical");
  RUN(counting, "counts against a grid");
  RUN(membership, "expressions against direct evaluation");
  RUN(no_dead_ends, "random walks finish, shortest is exact");
  RUN(few_states, "three digits reach few states");
  RUN(shared_states, "equal specs share states");
  RUN(long_runs, "decided runs of digits cost nothing");
  RUN(exponents, "ranges of exponents, those that are made ahead and others, against integers");
  RUN(extremes, "thousand digits, exponents of 10^15");
  RUN(out_of_memory, "every allocation fails once");
  tsl__arena_free(&arena);
  return tsl_test_end();
}
