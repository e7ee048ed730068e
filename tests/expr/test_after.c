/* test_after.c - what may follow a beginning of an expression's texts (compiler/expr/after.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"
#include "compiler/expr/meaning.h"
#include "tests/support/check.h"

static tsl__exprs *x;

static tsl__expr lit(const char *s) { return tsl__expr_literal(x, s, strlen(s)); }
static tsl__expr seq(tsl__expr a, tsl__expr b) { return tsl__expr_seq(x, a, b); }
static tsl__expr alt(tsl__expr a, tsl__expr b) { return tsl__expr_alt(x, a, b); }

static tsl__expr body_of_r;
static tsl__expr unfold_r(tsl__exprs *exprs, void *ctx, uint32_t param) {
  (void)exprs, (void)ctx, (void)param;
  return body_of_r;
}
static void print_r(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx, (void)param;
  snprintf(out, n, "r");
}
static bool meaning_r(tsl__meaning *m, void *ctx, uint32_t param, tsl__digest *out) {
  (void)ctx, (void)param;
  return tsl__meaning_data(m, 'r', "", 0, out);
}

static tsl__expr after(tsl__expr e, const char *s) { return tsl__expr_after(x, e, s, strlen(s)); }

static void beginnings(void) {
  static const tsl__rule_ops ops = {unfold_r, print_r, meaning_r, NULL, NULL};
  tsl__expr r = tsl__expr_rule(x, &ops, NULL, 0, 0, 0), close = lit(">");
  body_of_r = alt(seq(lit("<a"), seq(alt(r, lit("b")), close)), lit("c"));
  CHECK(after(r, "") == r && after(r, "<") == seq(lit("a"), seq(alt(r, lit("b")), close)));
  CHECK(after(r, "<a<a") == seq(alt(r, lit("b")), seq(close, close)));
  CHECK(after(r, "<ac>") == TSL__EPS && after(r, "c") == TSL__EPS);
  CHECK(after(r, "x") == TSL__NONE && after(r, "<ax") == TSL__NONE && after(r, "cc") == TSL__NONE);
  CHECK(after(seq(tsl__expr_opt(x, r), lit("cd")), "c") == alt(lit("cd"), lit("d")));
  CHECK(after(tsl__expr_repeat(x, r, 2, 3), "c") == tsl__expr_repeat(x, r, 1, 2));
  tsl_token token = 3;
  CHECK(after(alt(tsl__expr_token(x, &token, 1, false), lit("z")), "z") == TSL__EPS);
  CHECK(tsl__exprs_status(x) == TSL_OK);
}

int main(void) {
  if (tsl__exprs_new(NULL, NULL, NULL, &x) != TSL_OK) return 2;
  RUN(beginnings, "what follows a beginning, rules looked into");
  tsl__exprs_free(x);
  return tsl_test_end();
}
