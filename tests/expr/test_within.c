/* test_within.c - alternatives that are part of others, and alternatives beside a length; meets of
 * many complements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"
#include "compiler/states/hints.h"
#include "tests/support/check.h"

static tsl__exprs *x;

static tsl__expr lit(const char *s) { return tsl__expr_literal(x, s, strlen(s)); }
static tsl__expr seq(tsl__expr a, tsl__expr b) { return tsl__expr_seq(x, a, b); }
static tsl__expr alt(tsl__expr a, tsl__expr b) { return tsl__expr_alt(x, a, b); }
static bool matches(tsl__expr e, const char *s) { return tsl__expr_matches(x, e, s, strlen(s)); }

/* What another alternative comes to, where what is before it is missing, is left out. */
static void alternatives_within(void) {
  tsl__expr b = tsl__expr_range(x, 'a', 'b'), some = tsl__expr_repeat(x, lit("x"), 0, 5),
            nine = tsl__expr_repeat(x, b, 0, 9), after = seq(some, nine),
            whole = seq(some, seq(nine, lit("z")));
  CHECK(alt(after, tsl__expr_repeat(x, b, 0, 7)) == after);
  CHECK(alt(tsl__expr_repeat(x, b, 2, 9), after) == after);
  CHECK(alt(seq(tsl__expr_repeat(x, b, 1, 7), lit("z")), whole) == whole);
  /* it has more, ends otherwise, or what is before it must come */
  CHECK(matches(alt(after, tsl__expr_repeat(x, b, 0, 12)), "abababababab"));
  CHECK(matches(alt(whole, tsl__expr_repeat(x, b, 0, 7)), "ab"));
  tsl__expr must =
      alt(seq(tsl__expr_repeat(x, lit("x"), 1, 5), nine), tsl__expr_repeat(x, b, 0, 7));
  CHECK(matches(must, "ab") && matches(must, "xab") && !matches(must, "abababab"));
  CHECK(tsl__derive_plain(x, seq(tsl__expr_repeat(x, b, 0, 5), nine), 'a') ==
        seq(tsl__expr_repeat(x, b, 0, 4), nine));
}

#define LISTS 3000
#define LISTED 40

/* Alternatives keep an offset into the lists where a loop keeps its body. There are more numbers in
 * the lists than there are expressions. */
static void length_of_alternatives(void) {
  tsl__expr some[2 * LISTED], last = TSL__NONE, text = tsl__expr_text(x);
  char word[] = "xx9";
  for (int i = 0; i < 2 * LISTED; i++) {
    word[0] = (char)('a' + i % 26), word[1] = (char)('a' + i / 26);
    some[i] = seq(lit(word), text);
  }
  for (int i = 0; i < LISTS; i++) {
    tsl__expr few[LISTED];
    uint64_t drawn = tsl__mix((uint64_t)i + 1);
    for (int k = 0; k < LISTED; k++) few[k] = some[2 * k + (drawn >> k & 1)];
    last = tsl__expr_alt_n(x, few, LISTED);
  }
  uint32_t least, most;
  tsl__expr both = tsl__expr_and(x, last, tsl__expr_not(x, seq(text, seq(lit("9"), text)))),
            limited = tsl__expr_and(x, last, tsl__expr_repeat(x, tsl__expr_any_char(x), 0, 99));
  CHECK(both == TSL__NONE && limited != TSL__NONE);
  CHECK(tsl__without_length(x, limited, false, &least, &most) != TSL__NONE && most == 99);
  CHECK(tsl__without_length(x, limited, true, &least, &most) == last && most == 99 && least == 0);
}

/* A meet of many complements: its derivative is made at once, from the derivatives of all of them.
 * Where they were met one after the other, and all pairs compared each time, it took fifteen times
 * the steps. */
static void many_complements(void) {
  enum { WORDS = 60 };
  tsl__expr text = tsl__expr_text(x), e = tsl__expr_repeat(x, tsl__expr_any_char(x), 0, 100);
  for (int i = 0; i < WORDS; i++) {
    char word[8];
    snprintf(word, sizeof word, "w%dx", i);
    e = tsl__expr_and(x, e, tsl__expr_not(x, seq(text, seq(lit(word), text))));
  }
  uint64_t steps = x->steps;
  tsl__expr d = e;
  for (const char *c = "abcwabc"; *c; c++) d = tsl__derive_plain(x, d, (uint8_t)*c);
  CHECKF(x->steps - steps < 500, "%llu", (unsigned long long)(x->steps - steps));
  CHECK(d && tsl__expr_matches(x, e, "w1w2", 4) && !tsl__expr_matches(x, e, "w1xw2", 5));
}

int main(void) {
  if (tsl__exprs_new(NULL, NULL, NULL, &x) != TSL_OK) return 1;
  RUN(alternatives_within, "alternatives that others come to");
  RUN(length_of_alternatives, "a meet of alternatives and a length");
  RUN(many_complements, "the derivative of a long meet takes few steps");
  tsl__exprs_free(x);
  return tsl_test_end();
}
