/* test_decimal.c - long arithmetic and decimals, against identities and a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/decimal.h"

static void naturals(void) {
  tsl__nat a, b, q, r, p, g, s;
  for (int i = 0; i < 3000; i++) {
    random_nat(&a, 1 + rnd(i % 10 ? 60 : 2600));
    random_nat(&b, 1 + rnd(i % 10 ? 60 : 2600));
    if (tsl__nat_is_zero(&b)) tsl__nat_set(&b, 7);
    tsl__nat_divide(&a, &b, &q, &r);
    CHECK(tsl__nat_compare(&r, &b) < 0);
    CHECK(tsl__nat_mul(&p, &q, &b) && tsl__nat_add(&p, &p, &r) && !tsl__nat_compare(&p, &a));
    tsl__nat_gcd(&g, &a, &b);
    tsl__nat_divide(&a, &g, NULL, &r);
    tsl__nat_divide(&b, &g, NULL, &s);
    CHECK(tsl__nat_is_zero(&r) && tsl__nat_is_zero(&s));
    CHECK(tsl__nat_add(&s, &a, &b));
    tsl__nat_sub(&s, &s, &b);
    CHECK(!tsl__nat_compare(&s, &a));
  }
  random_nat(&a, 2900);
  a.limb[a.n - 1] = 5;
  CHECK(!tsl__nat_scale10(&a, TSL__NAT_DIGITS));
}

static void arithmetic(void) {
  FILE *file = fopen("tests/cases/number/arithmetic.txt", "r");
  char line[2048], op[16], a[512], b[512], want[1024];
  CHECK(file != NULL);
  while (file && fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    CHECK(sscanf(line, "%15s %511s %511s %1023s", op, a, b, want) == 4);
    tsl__decimal x = dec(a), y = dec(b), z = tsl__decimal_zero;
    if (!strcmp(op, "compare")) {
      CHECKF(tsl__decimal_compare(&x, &y) == atoi(want), "%s", line);
      CHECKF(tsl__decimal_compare(&y, &x) == -atoi(want), "%s", line);
      CHECKF(tsl__decimal_equal(&x, &y) == !atoi(want), "%s", line);
    } else if (!strcmp(op, "multiple")) {
      CHECKF(tsl__decimal_is_multiple(&x, &y) == atoi(want), "%s", line);
    } else {
      CHECKF(!strcmp(op, "lcm") && !tsl__decimal_lcm(&arena, &x, &y, &z) && is(&z, want), "%s",
             line);
    }
  }
  if (file) fclose(file);
}

static void texts(void) {
  static const struct {
    const char *text, *printed;
  } good[] = {{"0", "0"},
              {"-0", "0"},
              {"-0.00e9", "0"},
              {"0e99999999999999999999999", "0"},
              {"12", "12"},
              {"-12.50", "-12.5"},
              {"1e2", "100"},
              {"1E+02", "100"},
              {"0.001", "0.001"},
              {"1e-7", "0.0000001"},
              {"1e-8", "1e-8"},
              {"1.5e400", "1.5e400"},
              {"-1e-1000000", "-1e-1000000"},
              {"1234567890123456789012", "1234567890123456789012"},
              {"12345678901234567890123", "1.2345678901234567890123e22"},
              {"10e-1", "1"},
              {"100000e-05", "1"}};
  static const char *const bad[] = {"",    "-",  "+1", "01",    "1.",    ".5",  "1e",  "1e+",
                                    "0x1", "1 ", " 1", "1.5.2", "1e5.0", "--1", "NaN", "1e1e1"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    char out[64];
    tsl__decimal d = dec(good[i].text);
    size_t length = tsl__decimal_print(&d, out, sizeof out);
    CHECKF(!strcmp(out, good[i].printed) && length == strlen(out), "%s printed as %s", good[i].text,
           out);
    tsl__decimal again = dec(out);
    CHECK(tsl__decimal_equal(&d, &again));
    CHECK(tsl__decimal_print(&d, out, 2) == length && strlen(out) == 1);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsl__decimal d;
    CHECKF(tsl__decimal_parse(&arena, bad[i], strlen(bad[i]), &d) == TSL_ERR_SYNTAX, "%s", bad[i]);
  }
  char many[1100];
  tsl__decimal d;
  memset(many, '7', sizeof many);
  CHECK(tsl__decimal_parse(&arena, many, 1000, &d) == TSL_OK &&
        tsl__decimal_parse(&arena, many, 1001, &d) == TSL_ERR_LIMIT);
  CHECK(tsl__decimal_parse(&arena, "1e1000000000000001", 18, &d) == TSL_ERR_LIMIT);
  CHECK(tsl__decimal_parse(&arena, "1e-99999999999999999999", 23, &d) == TSL_ERR_LIMIT);
  d = dec("1200");
  CHECK(is(&d, "12e2") && tsl__decimal_is_integer(&d));
}

int main(void) {
  tsl__arena_init(&arena, &tsl__malloc);
  RUN(naturals, "long arithmetic against its own identities");
  RUN(arithmetic, "compare, multiples, lcm, gcd against a table");
  RUN(texts, "reading and printing");
  tsl__arena_free(&arena);
  return tsl_test_end();
}
