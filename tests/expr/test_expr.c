/* test_expr.c - expressions: canonical forms, derivatives against direct matching, emptiness, JSON
 * strings. SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/nonascii.h"
#include "compiler/expr/charset.h"
#include "compiler/expr/deriv.h"
#include "compiler/states/failure.h"
#include "compiler/number/number.h"
#include "tests/support/check.h"

static tsl__exprs *x;

static tsl__expr lit(const char *s) { return tsl__expr_literal(x, s, strlen(s)); }
static tsl__expr seq(tsl__expr a, tsl__expr b) { return tsl__expr_seq(x, a, b); }
static tsl__expr alt(tsl__expr a, tsl__expr b) { return tsl__expr_alt(x, a, b); }
static bool matches(tsl__expr e, const char *s) { return tsl__expr_matches(x, e, s, strlen(s)); }
static bool prints(tsl__expr e, const char *want) {
  char text[512];
  tsl__expr_print(x, e, text, sizeof text);
  if (strcmp(text, want)) fprintf(stderr, "  printed %s, wanted %s\n", text, want);
  return !strcmp(text, want);
}

static void canonical(void) {
  tsl__expr a = lit("a"), b = lit("b"), c = lit("c");
  CHECK(alt(a, b) == alt(b, a));
  CHECK(alt(alt(a, b), c) == alt(a, alt(b, c)));
  CHECK(seq(seq(a, b), c) == lit("abc"));
  CHECK(prints(alt(a, alt(b, c)), "[a-c]"));
  CHECK(alt(TSL__NONE, a) == a && seq(TSL__NONE, a) == TSL__NONE && seq(TSL__EPS, a) == a);
  tsl__expr star = tsl__expr_star(x, a);
  CHECK(tsl__expr_star(x, star) == star && seq(star, star) == star);
  CHECK(tsl__expr_and(x, star, tsl__expr_not(x, star)) == TSL__NONE);
  tsl__expr word = tsl__expr_star(x, tsl__expr_range(x, 'a', 'z'));
  CHECK(prints(alt(seq(word, lit("1")), seq(word, lit("2"))), "([a-z])*[12]"));
  CHECK(prints(tsl__expr_repeat(x, tsl__expr_any_char(x), 2, 60), "(<char>){2,60}") &&
        prints(tsl__expr_text(x), "(<char>)*"));
  CHECK(tsl__expr_and(x, tsl__expr_text(x), word) == word);
  CHECK(tsl__expr_and(x, word, tsl__expr_repeat(x, tsl__expr_any_char(x), 2, 5)) ==
        tsl__expr_repeat(x, tsl__expr_range(x, 'a', 'z'), 2, 5));
  /* both bounds, in either order */
  tsl__expr letter = tsl__expr_range(x, 'a', 'z');
  static const uint32_t lengths[][6] = {
      {1, 3, 2, 5, 2, 3}, {2, 5, 1, 3, 2, 3}, {0, 9, 2, 5, 2, 5}, {2, 5, 0, 9, 2, 5}};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const uint32_t *n = lengths[i];
    tsl__expr own = tsl__expr_repeat(x, letter, n[0], n[1]),
              any = tsl__expr_repeat(x, tsl__expr_any_char(x), n[2], n[3]);
    CHECK(tsl__expr_and(x, own, any) == tsl__expr_repeat(x, letter, n[4], n[5]));
    CHECK(tsl__expr_and(x, any, own) == tsl__expr_repeat(x, letter, n[4], n[5]));
  }
  CHECK(tsl__expr_and(x, lit("abc"), tsl__expr_repeat(x, tsl__expr_any_char(x), 0, 3)) ==
        lit("abc"));
  CHECK(tsl__expr_and(x, lit("abc"), tsl__expr_repeat(x, tsl__expr_any_char(x), 0, 2)) ==
        TSL__NONE);
  tsl__expr some = tsl__expr_not(x, TSL__EPS);
  CHECK(tsl__expr_and(x, some, lit("abc")) == lit("abc"));
  CHECK(tsl__expr_and(x, word, some) ==
        tsl__expr_repeat(x, tsl__expr_range(x, 'a', 'z'), 1, TSL__INF));
  CHECK(tsl__expr_and(x, some, tsl__expr_alt(x, TSL__EPS, lit("ab"))) == lit("ab"));
  tsl__expr maybe = tsl__expr_star(x, tsl__expr_alt(x, TSL__EPS, lit("ab"))),
            rest = tsl__expr_and(x, some, seq(maybe, maybe));
  CHECK(rest != TSL__NONE && !tsl__expr_nullable(x, rest) && tsl__expr_shortest(x, rest) == 2);
}

/* Texts that are excluded with a class of which they are texts are not excluded once more. */
static void excluded_texts(void) {
  static const tsl__string within[] = {{"ab", 2}, {"cde", 3}, {"", 0}},
                           beside[] = {{"ab", 2}, {"c-d", 3}};
  tsl__expr word = tsl__expr_star(x, tsl__expr_range(x, 'a', 'z')),
            some = tsl__expr_repeat(x, tsl__expr_range(x, 'a', 'z'), 1, TSL__INF),
            rest = tsl__expr_text_not(x, word);
  tsl__range line = {0, '\n' - 1}, others = {'\n' + 1, TSL__CP_MAX}, both[] = {line, others};
  tsl__charset set = {.ranges = {both, 2, 2}};
  tsl__expr lines = tsl__expr_star(x, tsl__expr_charset(x, &set));
  CHECK(tsl__expr_and(x, rest, tsl__expr_not(x, lit("abc"))) == rest &&
        tsl__expr_and(x, tsl__expr_text_not(x, lit("abc")), tsl__expr_not(x, word)) == rest);
  CHECK(tsl__expr_and(x, rest,
                      tsl__expr_not(x, tsl__expr_stringset(
                                           x, tsl__stringset_new(x, within, 3, NULL)))) == rest);
  CHECK(tsl__expr_and(x, tsl__expr_text_not(x, lines), tsl__expr_not(x, lit("a-1"))) ==
        tsl__expr_text_not(x, lines));
  CHECK(!matches(tsl__expr_and(x, rest, tsl__expr_not(x, lit("a-b"))), "a-b") &&
        matches(tsl__expr_and(x, rest, tsl__expr_not(x, lit("a-b"))), "a-c"));
  CHECK(!matches(tsl__expr_and(x, rest,
                               tsl__expr_not(x, tsl__expr_stringset(
                                                    x, tsl__stringset_new(x, beside, 2, NULL)))),
                 "c-d"));
  CHECK(!matches(tsl__expr_and(x, tsl__expr_text_not(x, lines), tsl__expr_not(x, lit("a\n"))),
                 "a\n"));
  /* what no text has is nothing, and what is excluded twice is what was there */
  CHECK(tsl__expr_text_not(x, tsl__expr_text(x)) == TSL__NONE);
  CHECK(tsl__expr_text_not(x, tsl__expr_not(x, word)) == word);
  /* some is one at least */
  CHECK(!matches(tsl__expr_and(x, tsl__expr_text_not(x, some),
                               tsl__expr_not(x, tsl__expr_stringset(
                                                    x, tsl__stringset_new(x, within, 3, NULL)))),
                 ""));
}

/* What a complement says that the conjuncts beside it say as well is left out of it. */
static void known_conjuncts(void) {
  tsl__expr any = tsl__expr_any_char(x), text = tsl__expr_text(x),
            a = seq(text, seq(lit("a"), text)), b = seq(text, seq(lit("b"), text)),
            c = seq(lit("c"), seq(lit("d"), text));
  tsl__expr both = tsl__expr_and(x, a, b), lengths = tsl__expr_repeat(x, any, 3, 60),
            wider = tsl__expr_repeat(x, any, 2, 60), longer = tsl__expr_repeat(x, any, 3, 61);
  CHECK(tsl__expr_and(x, both, tsl__expr_not(x, b)) == TSL__NONE &&
        tsl__expr_and(x, both, tsl__expr_not(x, both)) == TSL__NONE);
  CHECK(tsl__expr_and(x, a, tsl__expr_not(x, both)) == tsl__expr_and(x, a, tsl__expr_not(x, b)));
  CHECK(tsl__expr_and(x, tsl__expr_and(x, a, lengths),
                      tsl__expr_not(x, tsl__expr_and(x, both, wider))) ==
        tsl__expr_and(x, tsl__expr_and(x, a, lengths), tsl__expr_not(x, b)));
  /* c has two characters at least */
  CHECK(
      tsl__expr_and(x, tsl__expr_and(x, c, tsl__expr_repeat(x, any, 0, 60)),
                    tsl__expr_not(x, tsl__expr_and(x, b, wider))) ==
      tsl__expr_and(x, tsl__expr_and(x, c, tsl__expr_repeat(x, any, 0, 60)), tsl__expr_not(x, b)));
  CHECK(tsl__expr_and(x, tsl__expr_and(x, a, longer),
                      tsl__expr_not(x, tsl__expr_and(x, both, wider))) !=
        tsl__expr_and(x, tsl__expr_and(x, a, longer), tsl__expr_not(x, b)));
  /* no text: no character is counted in it, nor does it have some */
  tsl__expr bytes = tsl__expr_repeat(x, tsl__expr_range(x, 0x80, 0xBF), 2, 2);
  CHECK(tsl__expr_and(x, bytes,
                      tsl__expr_not(x, tsl__expr_and(x, b, tsl__expr_repeat(x, any, 0, 5)))) !=
        tsl__expr_and(x, bytes, tsl__expr_not(x, b)));
}

static bool has_characters(tsl__expr e, uint32_t least, uint32_t most) {
  uint32_t lo, hi;
  tsl__expr_characters(x, e, &lo, &hi);
  if (lo != least || hi != most)
    fprintf(stderr, "  %u to %u characters, wanted %u to %u\n", (unsigned)lo, (unsigned)hi,
            (unsigned)least, (unsigned)most);
  return lo == least && hi == most;
}

static void characters(void) {
  tsl__expr any = tsl__expr_any_char(x), digit = tsl__expr_range(x, '0', '9');
  CHECK(has_characters(TSL__EPS, 0, 0) && has_characters(lit("abc"), 3, 3) &&
        has_characters(lit("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 4, 4));
  CHECK(has_characters(any, 1, 1) && has_characters(digit, 1, 1) &&
        has_characters(tsl__expr_repeat(x, any, 2, 60), 2, 60));
  CHECK(has_characters(seq(tsl__expr_repeat(x, digit, 4, 4), seq(lit("-"), tsl__expr_star(x, any))),
                       5, TSL__INF));
  CHECK(has_characters(alt(lit("abcd"), seq(any, any)), 2, 4) &&
        has_characters(tsl__expr_opt(x, lit("abc")), 0, 3));
  CHECK(has_characters(tsl__expr_repeat(x, alt(lit("ab"), lit("cde")), 0, 5), 0, 15) &&
        has_characters(tsl__expr_repeat(x, lit("ab"), 1000000, 4000000000u), 2000000, TSL__INF));
  tsl__expr both = tsl__expr_and(x, seq(tsl__expr_star(x, any), lit("a")),
                                 seq(lit("b"), tsl__expr_star(x, any)));
  CHECK(has_characters(both, 0, TSL__INF)); /* in doubt, nothing is claimed */
}

static void derivatives(void) {
  tsl__expr e = seq(lit("a"), tsl__expr_star(x, alt(lit("b"), lit("c"))));
  CHECK(matches(e, "a") && matches(e, "abcb") && !matches(e, "") && !matches(e, "ba"));
  tsl__expr r = tsl__expr_repeat(x, alt(lit("ab"), lit("a")), 2, 3);
  CHECK(matches(r, "aba") && matches(r, "aa") && matches(r, "ababab") && !matches(r, "a") &&
        !matches(r, "aaaa"));
  tsl__expr not_ab = tsl__expr_not(x, lit("ab"));
  CHECK(matches(not_ab, "a") && !matches(not_ab, "ab") && matches(not_ab, "abc") &&
        matches(not_ab, ""));
  tsl__expr both =
      tsl__expr_and(x, seq(tsl__expr_text(x), lit("x")), seq(lit("y"), tsl__expr_text(x)));
  CHECK(matches(both, "yx") && matches(both, "y\xC3\xA9x") && !matches(both, "x") &&
        !matches(both, "y\xC3x"));
}

static void registers(void) {
  tsl__parts p;
  tsl__expr loop = tsl__expr_repeat(x, lit("a"), 3, 1000);
  tsl__derive(x, loop, 'a', TSL__PHASE_LOW, &p);
  CHECK(p.n == 1 && p.at[0].count == TSL__COUNT_FIRST && prints(p.at[0].e, "(a){3,1000}@"));
  tsl__expr in = p.at[0].e;
  tsl__derive(x, in, 'a', TSL__PHASE_MIDDLE, &p);
  CHECK(p.n == 1 && p.at[0].count == TSL__COUNT_NEXT && p.at[0].e == in);
  tsl__derive(x, in, 'a', TSL__PHASE_TOP, &p);
  CHECK(p.n == 0);
  tsl__node n = tsl__node_at(x, in);
  CHECK(!tsl__nullable_in(&n, TSL__PHASE_LOW) && tsl__nullable_in(&n, TSL__PHASE_MIDDLE) &&
        tsl__nullable_in(&n, TSL__PHASE_TOP));
  tsl__expr s = tsl__expr_json_string(x, tsl__expr_repeat(x, tsl__expr_any_char(x), 0, 10000));
  tsl__derive(x, s, 'k', TSL__PHASE_LOW, &p);
  CHECK(p.n == 1 && p.at[0].count == TSL__COUNT_FIRST);
  in = p.at[0].e;
  tsl__derive(x, in, 'k', TSL__PHASE_MIDDLE, &p);
  CHECK(p.n == 1 && p.at[0].e == in && p.at[0].count == TSL__COUNT_NEXT);
  tsl__derive(x, in, '"', TSL__PHASE_TOP, &p);
  CHECK(p.n == 1 && p.at[0].e == TSL__EPS);
  tsl__derive(x, in, 0xC3, TSL__PHASE_MIDDLE, &p);
  CHECK(p.n == 1 && p.at[0].count == TSL__COUNT_NEXT);
  tsl__derive(x, p.at[0].e, 0xA9, TSL__PHASE_MIDDLE, &p);
  CHECK(p.n == 1 && p.at[0].count == TSL__COUNT_KEEP && p.at[0].e == in);
}

/* How many ways a loop goes on by an `a` that is read in it: it and what may begin anew after
 * it. */
static uint32_t ways(tsl__expr e, tsl__phase phase) {
  tsl__parts p;
  tsl__derive(x, e, 'a', TSL__PHASE_LOW, &p);
  CHECK(p.n == 1);
  tsl__derive(x, p.at[0].e, 'a', phase, &p);
  return p.n;
}

static tsl__expr counted_b(uint32_t min, uint32_t max) {
  return tsl__expr_seq(x, tsl__expr_repeat(x, lit("a"), min, max), lit("b"));
}

static void merged_loops(void) {
  CHECK(tsl__expr_alt(x, counted_b(0, 31), counted_b(2, 33)) == counted_b(0, 33));
  CHECK(tsl__expr_alt(x, counted_b(2, 4), counted_b(5, TSL__INF)) == counted_b(2, TSL__INF));
  CHECK(tsl__expr_alt(x, counted_b(2, 9), counted_b(3, 4)) == counted_b(2, 9));
  /* not five */
  CHECK(tsl__node_at(x, tsl__expr_alt(x, counted_b(2, 4), counted_b(6, 9))).kind == TSL__K_ALT);
  tsl__expr three[] = {counted_b(8, 12), counted_b(2, 4), counted_b(5, 7)};
  CHECK(tsl__expr_alt_n(x, three, 3) == counted_b(2, 12));
  tsl__expr other = tsl__expr_seq(x, tsl__expr_repeat(x, lit("a"), 2, 4), lit("c")),
            both = tsl__expr_alt(x, counted_b(2, 4), other);
  CHECK(tsl__expr_matches(x, both, "aaac", 4) && !tsl__expr_matches(x, both, "ac", 2));
}

static void loops_in_loops(void) {
  static const tsl_token one = 7;
  tsl__expr a = lit("a"), sep = tsl__expr_opt(x, lit("-")),
            some = tsl__expr_repeat(x, a, 1, TSL__INF), word = tsl__expr_seq(x, some, sep), e;
  /* one that begins takes all */
  CHECK(ways(tsl__expr_star(x, tsl__expr_seq(x, tsl__expr_repeat(x, a, 1, 40), sep)),
             TSL__PHASE_MIDDLE) == 1);
  CHECK(ways(tsl__expr_star(x, tsl__expr_seq(x, tsl__expr_repeat(x, a, 0, 40), sep)),
             TSL__PHASE_TOP) == 1);
  /* it needs one more: counted down, both stand side by side */
  e = tsl__expr_star(x, tsl__expr_seq(x, tsl__expr_repeat(x, a, 2, 40), sep));
  CHECK(tsl__overlaps(x, e) && ways(e, TSL__PHASE_MIDDLE) == 1);
  /* what holds a token is not looked into, and keeps its register */
  sep = tsl__expr_opt(x, tsl__expr_token(x, &one, 1, false));
  e = tsl__expr_star(x, tsl__expr_seq(x, tsl__expr_repeat(x, a, 2, 40), sep));
  CHECK(!tsl__overlaps(x, e) && ways(e, TSL__PHASE_MIDDLE) == 2);
  e = tsl__expr_star(x, tsl__expr_seq(x, tsl__expr_repeat(x, a, 1, 40), sep));
  CHECK(!tsl__overlaps(x, e) && ways(e, TSL__PHASE_MIDDLE) == 1);
  CHECK(ways(tsl__expr_seq(x, lit("a"), tsl__expr_star(x, tsl__expr_repeat(x, a, 40, TSL__INF))),
             TSL__PHASE_LOW) == 1);
  /* an iteration that goes on, and the next one: intervals of 30 to 40 would not join */
  e = tsl__expr_repeat(x, word, 30, 40);
  CHECK(!tsl__overlaps(x, e) && ways(e, TSL__PHASE_LOW) == 2 && ways(e, TSL__PHASE_MIDDLE) == 1);
  /* those of 3 to 40 do */
  e = tsl__expr_repeat(x, word, 3, 40);
  CHECK(tsl__overlaps(x, e) && ways(e, TSL__PHASE_LOW) == 1);
  /* one loop for two */
  CHECK(ways(tsl__expr_repeat(x, some, 3, 40), TSL__PHASE_LOW) == 1);
  /* the more, the better */
  CHECK(ways(tsl__expr_repeat(x, some, 40, TSL__INF), TSL__PHASE_LOW) == 1);
}

static void json_strings(void) {
  tsl__expr any = tsl__expr_json_string(x, tsl__expr_text(x));
  CHECK(matches(any, "\"") && matches(any, "hello\"") && matches(any, "\\n\\u0041\\\\\"") &&
        matches(any, "\\ud83d\\ude00\"") && matches(any, "\xF0\x9F\x98\x80\""));
  CHECK(!matches(any, "\\ud83d\"") && !matches(any, "\\ude00\"") && !matches(any, "\\x\"") &&
        !matches(any, "\n\"") && !matches(any, "\xC3\"") && !matches(any, "\xC3\\u0041\""));
  tsl__expr a = tsl__expr_json_string(x, lit("a\n\xC3\xA9\xF0\x9F\x98\x80"));
  CHECK(matches(a, "a\\n\xC3\xA9\xF0\x9F\x98\x80\"") &&
        matches(a, "\\u0061\\u000A\\u00e9\\uD83D\\uDE00\"") &&
        !matches(a, "a\n\xC3\xA9\xF0\x9F\x98\x80\""));
  CHECK(tsl__expr_shortest(x, a) == 10);
  tsl__expr e =
      tsl__derive_plain(x, tsl__derive_plain(x, tsl__expr_json_string(x, lit("a")), '\\'), 'u');
  CHECK(e && tsl__derive_plain(x, e, '0') && !tsl__derive_plain(x, e, '1') &&
        !tsl__derive_plain(x, e, 'D'));
  tsl__expr d =
      tsl__derive_plain(x, tsl__derive_plain(x, tsl__derive_plain(x, any, '\\'), 'u'), '0');
  tsl__expr hex =
      tsl__expr_alt(x, tsl__expr_range(x, '0', '9'),
                    tsl__expr_alt(x, tsl__expr_range(x, 'A', 'F'), tsl__expr_range(x, 'a', 'f')));
  /* a part of a string: no quote, and what follows is no part */
  tsl__expr part = tsl__expr_json_part(x, lit("a\n\xF0\x9F\x98\x80")),
            parts = seq(part, seq(lit("-"), tsl__expr_json_part(x, tsl__expr_text(x))));
  CHECK(matches(part, "a\\n\xF0\x9F\x98\x80") && matches(part, "\\u0061\\u000A\\uD83D\\uDE00") &&
        !matches(part, "a\\n\xF0\x9F\x98\x80\"") && !matches(part, "a\n\xF0\x9F\x98\x80") &&
        !matches(part, "a\\n"));
  CHECK(tsl__expr_shortest(x, part) == 7 && tsl__expr_shortest(x, parts) == 8);
  CHECK(tsl__expr_json_part(x, TSL__EPS) == TSL__EPS && tsl__expr_json_part(x, TSL__NONE) == 0);
  CHECK(matches(parts, "a\\n\\ud83d\\ude00-") && matches(parts, "a\\n\\ud83d\\ude00-\\\"b") &&
        !matches(parts, "a\\n\\ud83d\\ude00-\"") && !matches(parts, "a\\n\\ud83d-"));
  CHECK(tsl__expr_nullable(x, tsl__expr_json_part(x, tsl__expr_text(x))) &&
        !tsl__expr_nullable(x, part));
  /* inside a free string the digits' value is not kept */
  CHECK(d == seq(hex, seq(hex, seq(hex, any))));
}

static bool odd_only(void *ctx, uint32_t param, uint32_t index) {
  (void)ctx;
  (void)param;
  return index % 2 == 1;
}
static uint32_t five(void *ctx, uint32_t param) {
  (void)ctx;
  (void)param;
  return 5; /* nam" and a digit */
}
static uint32_t one_digit(void *ctx, uint32_t param, uint32_t index) {
  (void)ctx;
  (void)param;
  (void)index;
  return 1;
}
static tsl__expr after_key(tsl__exprs *xs, void *ctx, uint32_t param, uint32_t index) {
  (void)ctx;
  (void)param;
  char digit = (char)('0' + index);
  return tsl__expr_literal(xs, &digit, 1);
}

/* Keys are a call of a frame of names, and then what follows the name: run both by hand. */
static bool keys_match(tsl__expr keys, const char *text) {
  tsl__node call = tsl__node_at(x, keys), n;
  tsl__expr e = tsl__rule_body(x, tsl__node_at(x, call.a).a);
  for (; (n = tsl__node_at(x, e)).kind != TSL__K_NAME && *text; text++)
    e = tsl__derive_plain(x, e, (uint8_t)*text);
  return n.kind == TSL__K_NAME && tsl__expr_resume_allows(x, call.b, n.a) &&
         matches(tsl__expr_resume_after(x, call.b, n.a), text);
}

static void string_sets(void) {
  tsl__string s[] = {{"name", 4}, {"nam", 3}, {"age", 3}, {"nick", 4}, {"age", 3}};
  uint32_t order[5];
  tsl__stringset set = tsl__stringset_new(x, s, 5, order);
  CHECK(tsl__stringset_size(x, set) == 4 && order[2] == 0 && order[4] == 0 && order[1] == 1);
  tsl__expr e = tsl__expr_stringset(x, set);
  CHECK(matches(e, "name") && matches(e, "nam") && matches(e, "nick") && !matches(e, "n") &&
        !matches(e, "names"));
  uint32_t count;
  CHECK(tsl__expr_count(x, e, 100, &count) && count == 4);
  CHECK(!tsl__expr_count(x, tsl__expr_text(x), 100, &count));
  tsl__expr other = tsl__expr_text_not(x, e);
  CHECK(!matches(other, "name") && matches(other, "na") && matches(other, "names") &&
        matches(other, ""));
  static const tsl__keys_ops ops = {odd_only, five, one_digit, after_key, NULL, NULL, NULL};
  tsl__expr keys = tsl__expr_keys(x, set, &ops, NULL, 0);
  CHECK(keys_match(keys, "nam\"1") && keys_match(keys, "n\\u0061m\"1") &&
        keys_match(keys, "nick\"3") && !keys_match(keys, "name\"2") && !keys_match(keys, "age\"0"));
}

/* Lists that name the same strings again and again, with or without the short way that sees
 * that. */
static void doubles(void) {
  static const char *const words[] = {"",
                                      "a",
                                      "ab",
                                      "properties",
                                      "properties of",
                                      "propertied",
                                      "patternProperties",
                                      "patternPropertied",
                                      "\xff\xff"};
  enum { WORDS = sizeof words / sizeof *words, MOST = 300 };
  char numbered[MOST][24];
  tsl__string list[MOST] = {{0}};
  uint32_t order[MOST];
  uint64_t seed = 1;
  for (uint32_t n = 1; n < MOST; n += 1 + n / 8) {
    for (uint32_t i = 0; i < n; i++) {
      uint64_t drawn = tsl_test_random(&seed);
      const char *word = words[drawn % WORDS];
      if (drawn >> 62 == 0)
        snprintf(numbered[i], sizeof numbered[i], "%s%u", word, (unsigned)(drawn >> 32) % 50),
            word = numbered[i];
      list[i] = (tsl__string){word, (uint32_t)strlen(word)};
    }
    tsl__stringset set = tsl__stringset_over(x, list, n, order);
    uint32_t size = tsl__stringset_size(x, set);
    for (uint32_t i = 0; i < n; i++) {
      CHECK(order[i] < size);
      tsl__string at = tsl__stringset_at(x, set, order[i]);
      CHECK(at.length == list[i].length && !memcmp(at.at, list[i].at, at.length));
    }
    for (uint32_t i = 1; i < size; i++) {
      tsl__string a = tsl__stringset_at(x, set, i - 1), b = tsl__stringset_at(x, set, i);
      int c = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
      CHECK(c < 0 || (c == 0 && a.length < b.length));
    }
  }
}

static void emptiness(void) {
  tsl__expr az = tsl__expr_star(x, tsl__expr_range(x, 'a', 'z'));
  tsl__expr has_foo = seq(tsl__expr_text(x), seq(lit("foo"), tsl__expr_text(x)));
  CHECK(tsl__expr_and(x, az, has_foo) != TSL__NONE);
  CHECK(tsl__expr_shortest(x, tsl__expr_and(x, az, has_foo)) == 3);
  CHECK(tsl__expr_and(x, tsl__expr_star(x, lit("b")), has_foo) == TSL__NONE);
  tsl__expr three = tsl__expr_repeat(x, lit("aaa"), 0, TSL__INF),
            two = tsl__expr_repeat(x, lit("aa"), 0, TSL__INF);
  tsl__expr six =
      tsl__expr_and(x, seq(lit("a"), tsl__expr_star(x, lit("a"))), tsl__expr_and(x, two, three));
  CHECK(tsl__expr_shortest(x, six) == 6);
  CHECK(tsl__expr_and(x, seq(lit("a"), two), two) == TSL__NONE);
  uint64_t steps = x->steps;
  tsl__expr words =
                tsl__expr_repeat(x,
                                 seq(tsl__expr_repeat(x, tsl__expr_range(x, 'a', 'z'), 1, TSL__INF),
                                     tsl__expr_repeat(x, lit(" "), 1, TSL__INF)),
                                 2, 9),
            any = tsl__expr_any_char(x);
  CHECK(tsl__expr_and(x, words, tsl__expr_repeat(x, any, 1, 70)) != TSL__NONE &&
        tsl__expr_and(x, words, tsl__expr_repeat(x, any, 4, 4)) != TSL__NONE);
  CHECK(x->steps - steps < 4); /* by structure: a search takes six times that */
  CHECK(tsl__expr_and(x, words, tsl__expr_repeat(x, any, 0, 3)) == TSL__NONE &&
        tsl__expr_and(x, tsl__expr_repeat(x, lit("aaa"), 2, 2), tsl__expr_repeat(x, any, 7, 70)) ==
            TSL__NONE);
}

/* All characters but some, or only these. */
static tsl__expr class_of(const tsl__range *at, size_t n, bool but) {
  tsl_allocator a = *tsl__allocator_or_default(NULL);
  tsl__charset set = {0};
  for (size_t i = 0; i < n; i++) tsl__charset_add(&a, &set, at[i].lo, at[i].hi);
  tsl__charset_normalise(&set);
  if (but) tsl__charset_negate(&a, &set);
  tsl__expr e = tsl__expr_charset(x, &set);
  tsl__charset_free(&a, &set);
  return e;
}

static bool same_texts(tsl__expr a, tsl__expr b) {
  return a == b || (tsl__expr_and(x, a, tsl__expr_not(x, b)) == TSL__NONE &&
                    tsl__expr_and(x, b, tsl__expr_not(x, a)) == TSL__NONE);
}

static tsl__expr after_character(tsl__expr e, uint32_t cp) {
  uint8_t bytes[4];
  unsigned n = tsl__utf8_encode(cp, bytes);
  for (unsigned i = 0; i < n; i++) e = tsl__derive_plain(x, e, bytes[i]);
  return e;
}

/* What one step by a whole character says is what its bytes say. Returns the first bytes of which
 * it says anything. */
static uint64_t steps_past_ascii(tsl__expr e) {
  uint64_t known = 0;
  for (uint64_t left = TSL__ALL_LEADS, leads; left; left &= ~leads) {
    tsl__expr to;
    leads = left;
    bool answered = tsl__derive_leads(x, e, &leads, &to);
    CHECK(leads && !(leads & ~left));
    if (answered) known |= leads;
    for (uint32_t cp = 0x80, b; answered && cp <= TSL__CP_MAX;
         cp += cp < 0x3100 || (cp & 0xFFF) > 0xFF0 || (cp & 0xFFF) < 16 ? 1
               : cp < 0x10000                                           ? 41
                                                                        : 1531) {
      uint8_t bytes[4];
      if (cp >= 0xD800 && cp <= 0xDFFF) continue;
      b = (tsl__utf8_encode(cp, bytes), bytes[0] - 0xC2u);
      if (leads >> b & 1) CHECKF(same_texts(after_character(e, cp), to), "U+%04X", (unsigned)cp);
    }
  }
  return known;
}

/* Characters past ASCII go in so many ways, and each character in one of these. */
static void goes_past_ascii(tsl__expr e, const tsl__nonascii_class *nonascii, uint32_t ways) {
  static const uint32_t all[] = {0x80, 0xD7FF, 0xE000, 0x10FFFF};
  tsl__expr to[TSL__NONASCII_MAX];
  uint32_t n = 0;
  bool met[TSL__NONASCII_MAX] = {false};
  const uint32_t *pairs = nonascii ? nonascii->pairs : all;
  CHECKF(tsl__derive_nonascii_each(x, e, nonascii, to, &n) && n == ways, "%u ways", (unsigned)n);
  for (uint32_t i = 0; i < (nonascii ? nonascii->count : 2); i++)
    for (uint32_t cp = pairs[2 * i]; cp <= pairs[2 * i + 1];
         cp += cp < 0x400 || (cp >= 0x2000 && cp < 0x2040) || pairs[2 * i + 1] - cp < 97 ? 1 : 97) {
      uint32_t k = 0;
      while (k < n && !same_texts(after_character(e, cp), to[k])) k++;
      CHECKF(k < n, "U+%04X", (unsigned)cp);
      if (k < n) met[k] = true;
    }
  for (uint32_t k = 0; k < n; k++) CHECKF(met[k], "way %u", (unsigned)k);
}

static uint64_t lead(unsigned byte) { return (uint64_t)1 << (byte - 0xC2); }

static void past_ascii(void) {
  static const tsl__range ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}},
                          space[] = {{9, 13},          {' ', ' '},       {0xA0, 0xA0},
                                     {0x1680, 0x1680}, {0x2000, 0x200A}, {0x3000, 0x3000}},
                          greek[] = {{0x370, 0x3FF}};
  tsl__expr text = tsl__expr_text(x), dot = class_of(ends, 3, true),
            gap = class_of(space, 6, false), word = class_of(space, 6, true),
            letter = class_of(greek, 1, false), to;
  tsl__expr dots = tsl__expr_star(x, dot), gaps = tsl__expr_star(x, gap),
            any = tsl__expr_any_char(x), a = lit("a");
  CHECK(steps_past_ascii(seq(text, lit("ab"))) == TSL__ALL_LEADS &&
        steps_past_ascii(a) == TSL__ALL_LEADS && steps_past_ascii(seq(text, a)) == TSL__ALL_LEADS);
  CHECK(steps_past_ascii(seq(dots, a)) == (TSL__ALL_LEADS & ~lead(0xE2)));
  CHECK(steps_past_ascii(tsl__expr_text_not(x, seq(dots, seq(lit("ab"), text)))) ==
        (TSL__ALL_LEADS & ~lead(0xE2)));
  CHECK(steps_past_ascii(seq(gaps, seq(word, gaps))) ==
        (TSL__ALL_LEADS & ~(lead(0xC2) | lead(0xE1) | lead(0xE2) | lead(0xE3))));
  CHECK(steps_past_ascii(tsl__expr_repeat(x, alt(letter, a), 2, 7)) ==
        (TSL__ALL_LEADS & ~(lead(0xCD) | lead(0xCE) | lead(0xCF))));
  CHECK(steps_past_ascii(lit("\xC3\xA9t\xC3\xA9")) == (TSL__ALL_LEADS & ~lead(0xC3)));
  CHECK(steps_past_ascii(tsl__expr_json_string(
            x, tsl__expr_and(x, seq(dots, a), tsl__expr_repeat(x, any, 3, 40)))) ==
        (TSL__ALL_LEADS & ~lead(0xE2)));
  CHECK(!(steps_past_ascii(alt(seq(any, a), lit("\xC3\xA9"))) & lead(0xC3)));
  CHECK(tsl__derive_nonascii(x, seq(gaps, a), tsl__nonascii_class_of(x, word), &to) &&
        to == TSL__NONE &&
        tsl__derive_nonascii(x, seq(gaps, a), tsl__nonascii_class_of(x, gap), &to) &&
        to == seq(gaps, a));
  goes_past_ascii(seq(gaps, seq(word, gaps)), NULL, 2);
  goes_past_ascii(alt(seq(gap, a), alt(seq(word, lit("b")), seq(letter, lit("c")))), NULL, 3);
  goes_past_ascii(alt(seq(gap, a), alt(seq(word, lit("b")), seq(letter, lit("c")))),
                  tsl__nonascii_class_of(x, word), 2);
  goes_past_ascii(tsl__expr_text_not(x, seq(dots, seq(lit("ab"), text))), NULL, 2);
  CHECK(!tsl__derive_nonascii_each(x, alt(seq(any, a), lit("\xC3\xA9")), NULL,
                                   (tsl__expr[TSL__NONASCII_MAX]){0}, &(uint32_t){0}));
  CHECK(tsl__derive_nonascii(x, seq(word, a), tsl__nonascii_class_of(x, letter), &to) && to == a &&
        !tsl__derive_nonascii(x, seq(letter, a), tsl__nonascii_class_of(x, word), &to));
}

/* Bytes that are alike lead to one place. Returns the places that are distinguished. */
static unsigned places(tsl__expr e) {
  tsl__bytes edges;
  tsl__alike like;
  tsl__boundaries(x, e, &edges);
  if (!tsl__alike_of(x, e, &edges, &like)) return 0;
  for (unsigned i = 0; i < like.n; i++)
    CHECK(tsl__derive_plain(x, e, like.lower[i]) ==
          tsl__derive_plain(x, e, like.lower[tsl__alike_first(&like, i)]));
  return like.parts;
}

static void alike(void) {
  tsl__bytes odd = {{0}};
  for (unsigned b = '!'; b < '/'; b += 2) tsl__bytes_add(&odd, b);
  tsl__expr text = tsl__expr_text(x), some = tsl__expr_bytes(x, &odd);
  CHECK(places(lit("a")) == 2 && places(TSL__EPS) == 1 && places(some) == 2 &&
        places(alt(seq(some, lit("1")), lit("ab"))) == 3);
  CHECK(places(seq(tsl__expr_star(x, some), lit("%"))) == 3); /* one of them is read by itself */
  /* quote, backslash, control characters */
  CHECK(places(tsl__expr_json_string(x, seq(tsl__expr_star(x, some), lit("a")))) == 6);
  CHECK(places(tsl__expr_text_not(x, seq(text, seq(some, text)))) == places(text) + 1);
}

/* Along a text: what e falls to goes where e does by all other bytes. Returns how often it falls to
 * something. */
static unsigned falls_along(tsl__expr e, const char *text) {
  unsigned falls = 0;
  for (;; text++) {
    tsl__bytes but;
    tsl__expr to = tsl__failure_of(x, e, &but);
    falls += to != TSL__NONE;
    for (unsigned b = 0; to && b < 256; b++)
      CHECKF(tsl__bytes_has(&but, b) || same_texts(tsl__derive_plain(x, e, (uint8_t)b),
                                                   tsl__derive_plain(x, to, (uint8_t)b)),
             "byte %02x before %s", b, text);
    if (!*text) return falls;
    e = tsl__derive_plain(x, e, (uint8_t)*text);
  }
}

static void failure(void) {
  static const tsl__range ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
  tsl__expr text = tsl__expr_text(x), dots = tsl__expr_star(x, class_of(ends, 3, true)),
            digits = tsl__expr_star(x, tsl__expr_range(x, '0', '9'));
  tsl__expr words =
      alt(alt(lit("{Config}"), seq(lit("{Inc"), seq(digits, lit("}")))), alt(lit("/"), lit("Co")));
  tsl__expr without = tsl__expr_text_not(x, seq(dots, seq(words, text))),
            both = tsl__expr_and(x, without, seq(dots, lit(".blf")));
  CHECK(falls_along(tsl__expr_json_string(x, without), "a{Inc1b{C{C") == 9 &&
        falls_along(tsl__expr_json_string(x, both), "{Inc12.bl") == 9);
  CHECK(falls_along(tsl__expr_json_string(x, seq(dots, words)), "{Inc0C") == 6 &&
        falls_along(tsl__expr_json_string(x, words), "{I") == 0);
  /* the last is no JSON string */
  CHECK(falls_along(tsl__expr_json_string(x, dots), "ab") == 0 && falls_along(without, "{C") == 0);
}

/* Goes along all that e leads to within some bytes. Only a live byte leads anywhere. A byte that is
 * no edge leads to the same place as the byte before. Returns how many bytes are live in vain. */
static uint32_t read_along(tsl__expr e, unsigned depth) {
  tsl__reads r;
  tsl__expr before = TSL__NONE;
  uint32_t vain = 0;
  tsl__reads_of(x, e, &r);
  for (unsigned b = 0; b < 256; b++) {
    tsl__expr d = tsl__derive_plain(x, e, (uint8_t)b);
    CHECK(d == TSL__NONE || tsl__bytes_has(&r.live, b));
    CHECK(d != TSL__NONE || r.guessed || !tsl__bytes_has(&r.live, b));
    CHECK(b == 0 || d == before || tsl__bytes_has(&r.edges, b));
    vain += d == TSL__NONE && tsl__bytes_has(&r.live, b);
    if (d && depth && d != before) vain += read_along(d, depth - 1);
    before = d;
  }
  return vain;
}

static void read_ahead(void) {
  tsl__expr text = tsl__expr_text(x),
            word = tsl__expr_repeat(x, tsl__expr_range(x, 'a', 'f'), 2, 4);
  tsl__number_spec whole = {.integer = true}, some = {.has_min = true, .min = tsl__decimal_one};
  CHECK(read_along(tsl__expr_json_string(x, lit("\n\"")), 14) == 0);
  CHECK(read_along(tsl__expr_json_string(x, word), 3) == 0 &&
        read_along(tsl__expr_json_string(x, text), 3) == 0);
  read_along(tsl__expr_json_string(x, alt(lit("\xC3\xA9"), lit("a/"))), 8);
  read_along(tsl__expr_json_string(x, alt(lit("\xF0\x9F\x98\x80"), lit("\xEF\xBF\xBF"))), 8);
  read_along(tsl__expr_json_string(x, tsl__expr_text_not(x, alt(lit("ab"), lit("\t")))), 3);
  read_along(tsl__number_expr(x, &whole), 3);
  read_along(tsl__number_expr(x, &some), 3);
  read_along(tsl__expr_and(x, seq(word, text), seq(tsl__expr_range(x, 'c', 'z'), text)), 2);
  /* what has no meet, complement or automaton in it is known to be live */
  CHECK(read_along(alt(seq(tsl__expr_star(x, word), lit("ag")), seq(text, lit("\xC3\xA9"))), 4) ==
        0);
  tsl__reads r;
  tsl__reads_of(x, seq(tsl__expr_star(x, word), text), &r);
  CHECK(!r.guessed);
}

static bool may_hold(tsl__expr e, char byte) {
  tsl__bytes alphabet;
  tsl__expr_alphabet(x, e, &alphabet);
  return tsl__bytes_has(&alphabet, (uint8_t)byte);
}

/* What holds a byte must be said to; what does not should not. */
static void alphabets(void) {
  tsl__expr az = tsl__expr_star(x, tsl__expr_range(x, 'a', 'z')), text = tsl__expr_text(x);
  CHECK(may_hold(lit("a<b"), '<') && !may_hold(lit("a<b"), 'c') && !may_hold(TSL__NONE, '<') &&
        !may_hold(TSL__EPS, '<'));
  CHECK(may_hold(az, 'q') && !may_hold(az, '<') && may_hold(seq(az, lit("<")), '<') &&
        !may_hold(seq(az, lit("-")), '<'));
  CHECK(may_hold(alt(lit("xy"), lit("-<")), '<') && !may_hold(alt(lit("xy"), lit("--")), '<'));
  CHECK(may_hold(text, '<') && !may_hold(tsl__expr_and(x, seq(az, az), seq(text, lit("q"))), '<'));
  CHECK(may_hold(tsl__expr_text_not(x, seq(lit("<"), text)), '<'));
  tsl__expr json = tsl__expr_json_string(x, seq(az, lit("<")));
  CHECK(may_hold(json, '<') && may_hold(json, '"') && may_hold(json, '\\') && may_hold(json, '7') &&
        may_hold(json, 'E') && !may_hold(json, '-'));
  CHECK(may_hold(tsl__derive_plain(x, json, '\\'), 'u') &&
        may_hold(tsl__expr_repeat(x, alt(lit("q"), lit("<")), 3, 9), '<') &&
        !may_hold(tsl__expr_repeat(x, lit("q"), 3, 9), '<'));
  tsl__string s[] = {{"one", 3}, {"t<o", 3}, {"six", 3}};
  tsl__expr set = tsl__expr_stringset(x, tsl__stringset_new(x, s, 3, NULL));
  CHECK(may_hold(set, '<') && !may_hold(set, 'z') &&
        !may_hold(tsl__derive_plain(x, set, 's'), '<') &&
        !may_hold(tsl__derive_plain(x, set, 's'), 's'));
}

/* Short lists of strings are measured one by one, long ones searched: both know what a JSON string
 * costs. */
static void spelled(void) {
  static char room[100][4];
  tsl__string s[] = {{"\n\n", 2}, {"ab", 2}, {"\x01", 1}, {"abcd", 4}}, many[100];
  tsl__expr few =
      tsl__expr_json_string(x, tsl__expr_stringset(x, tsl__stringset_new(x, s, 4, NULL)));
  CHECK(tsl__expr_shortest(x, few) == 3);
  CHECK(tsl__expr_shortest(
            x, tsl__expr_json_string(
                   x, tsl__expr_stringset(x, tsl__stringset_new(x, s + 2, 2, NULL)))) == 5);
  for (int i = 0; i < 100; i++)
    many[i] = (tsl__string){room[i], (uint32_t)snprintf(room[i], sizeof room[i], "\x02%02d", i)};
  CHECK(tsl__expr_shortest(
            x, tsl__expr_json_string(
                   x, tsl__expr_stringset(x, tsl__stringset_new(x, many, 100, NULL)))) == 9);
  CHECK(tsl__expr_shortest(
            x, tsl__expr_json_string(
                   x, tsl__expr_stringset(x, tsl__stringset_new(x, many, 50, NULL)))) == 9);
}

int main(void) {
  if (tsl__exprs_new(NULL, NULL, NULL, &x) != TSL_OK) return 1;
  RUN(canonical, "equal languages by construction are one node");
  RUN(excluded_texts, "excluded texts that an excluded class has");
  RUN(known_conjuncts, "a meet with the complement of a meet of the same");
  RUN(derivatives, "derivatives match as the texts say");
  RUN(registers, "large loops are a register, not states");
  RUN(merged_loops, "alternatives that differ in a count are one, if none between is missing");
  RUN(loops_in_loops, "of ways that differ in a register those are left that take all");
  RUN(json_strings, "every spelling of a JSON string, no dead ends");
  RUN(string_sets, "sets of strings and keys");
  RUN(doubles, "strings that come more than once are in a set once, in order");
  RUN(characters, "how many characters texts have");
  RUN(alphabets, "which bytes a text may have");
  RUN(spelled, "shortest spellings of lists of strings");
  RUN(past_ascii, "a step by a whole character is those by its bytes");
  RUN(alike, "bytes that are alike lead to one place");
  RUN(failure, "where a search goes on when a word does not");
  RUN(read_ahead, "what may be read is known without a step");
  RUN(emptiness, "empty intersections are found, shortest texts are right");
  CHECKF(tsl__exprs_status(x) == TSL_OK, "%s", tsl__exprs_why(x));
  tsl__exprs_free(x);
  return tsl_test_end();
}
