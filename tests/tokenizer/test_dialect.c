/* test_dialect.c - what PCRE2 is given for a pattern of Oniguruma or Rust, and what is refused.
 *
 * What the rewritten patterns match is test_encode.c's, against PyPI's `tokenizers` and `tiktoken`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/dialect.h"

#include <limits.h>

#include "tests/support/check.h"
#include "tests/support/failing.h"

#define O TSL__DIALECT_ONIGURUMA
#define R TSL__DIALECT_RUST
#define BOTH (TSL__DIALECT_RUST + 1)
#define WORDS "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
#define COUNT(x) (sizeof(x) / sizeof *(x))

static tsl_status rewrite(const char *pattern, tsl__dialect dialect, const tsl_allocator *a,
                          char out[4096], tsl_error *error) {
  tsl__pattern_text text = {0};
  pcre2_compile_context *context = pcre2_compile_context_create(NULL);
  tsl_status status =
      tsl__dialect_rewrite(pattern, strlen(pattern), dialect, context, a, &text, error);
  CHECK(text.n < 4096);
  if (text.n) memcpy(out, text.at, text.n);
  out[text.n] = 0;
  tsl__vec_free(a, &text);
  pcre2_compile_context_free(context);
  return status;
}

typedef struct example {
  int dialect; /* or BOTH */
  const char *pattern, *expected;
} example;

static bool is_for(int example_dialect, int dialect) {
  return example_dialect == BOTH || example_dialect == dialect;
}

/* `expected`: what a pattern becomes, or a part of the message with which it is refused. */
static void check_all(const example *examples, size_t n, bool refused) {
  char out[4096];
  for (const example *e = examples; e < examples + n; e++)
    for (int dialect = O; dialect <= R; dialect++) {
      tsl_error error = {0};
      if (!is_for(e->dialect, dialect)) continue;
      tsl_status status = rewrite(e->pattern, (tsl__dialect)dialect, &tsl__malloc, out, &error);
      if (refused)
        CHECKF(status == TSL_ERR_UNSUPPORTED && strstr(error.message, e->expected), "%s: %s: %s",
               e->pattern, tsl_status_name(status), error.message);
      else
        CHECKF(!status && !strcmp(out, e->expected), "%s: %s instead of %s %s", e->pattern, out,
               e->expected, error.message);
    }
}

static void test_rewritten(void) {
  static const example examples[] = {
      {BOTH, "", ""},
      {BOTH, "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}",
       "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"},
      {BOTH, "\\p{Han}\\P{Latin}[\\p{^Greek}\\p{Hira}]",
       "\\p{sc=Han}\\P{sc=Latin}[\\P{sc=Greek}\\p{sc=Hira}]"},
      {BOTH, "\\p{Lu}\\p{Alphabetic}\\p{Any}\\p{Yi}\\p{scx=Han}",
       "\\p{Lu}\\p{Alphabetic}\\p{Any}\\p{sc=Yi}\\p{scx=Han}"},
      {R, "\\pL\\PN[\\pZ]", "\\p{L}\\P{N}[\\p{Z}]"},
      {O, "[\\w]", "[" WORDS "]"},
      {O, "[^\\W]", "(?:(?![^" WORDS "])\\p{Any})"},
      {O, "[a\\W]", "(?:[a]|[^" WORDS "])"},
      {R, "\\W", "[^" WORDS "\\x{200c}\\x{200d}]"},
      {BOTH, "[^]^a\\H-]", "(?:(?![\\]\\^a-]|[^0-9A-Fa-f])\\p{Any})"},
      {BOTH, "[a[b-d]]", "(?:[a]|[b-d])"},
      {BOTH, "[a-w&&[^c-g]z]", "(?:(?=[a-w])(?:[z]|[^c-g]))"},
      {BOTH, "[^ab&&b&&[c\\H]]", "(?:(?!(?=[ab])(?=[b])(?:(?:[c]|[^0-9A-Fa-f])))\\p{Any})"},
      {BOTH, "[[:name:]]", "(?:[:name:])"},
      {O, "[[:alpha:][:^digit:]]", "(?:[\\p{Alphabetic}]|[^\\p{Nd}])"},
      {O, "[[:^graph:]]", "[\\p{Z}\\p{Cc}\\p{Cn}\\p{Cs}]"},
      {R, "[[:graph:]]", "[!-~]"},
      {O, "\\p{N}{1,3}+", "(?:\\p{N}{1,3})+"},
      {O, "x(a|b){2}??d[c]{2}?", "x(?:(a|b){2})??d(?:[c]{2})?"},
      {O, "a{2,}?b{1,2}?", "a{2,}?b{1,2}?"},
      {R, "\\p{N}{1,3}+a{2}?", "\\p{N}{1,3}+a{2}?"},
      {BOTH, "a{,2}", "a{0,2}"},
      {O, "a{,}", "a\\{,}"},
      {R, "a{,}", "a{0,}"},
      {BOTH, "a{}{ 1,2}{", "a\\{}\\{ 1,2}\\{"},
      {O, "(?m).(?im-x:.)", "(?s:.(?is-:.))"},
      {R, "(?m).(?u)(?ims:.)", "(?m).(?)(?ims:.)"},
      {O, "x(a(?i)b|c)(?-i)d|e", "x(a(?i:b|c))(?-i:d|e)"},
      {R, "a(?i)b|c", "a(?i)b|c"},
      {O, "(?i)\\p{Lu}[\\p{L}]", "(?i:(?-i:\\p{Lu})[\\p{L}\\x{345}])"},
      {R, "(?i)\\p{L}\\P{M}\\p{N}",
       "(?i)[\\p{L}\\x{345}][^\\p{M}\\x{399}\\x{3b9}\\x{1fbe}][\\p{N}]"},
      {BOTH, "\\h\\H\\v", "[0-9A-Fa-f][^0-9A-Fa-f]\\x0b"},
      {BOTH, "\\x41\\x{e9}\\u00e9", "\\x{41}\\x{e9}\\x{e9}"},
      {R, "\\xe9\\u{e9}\\U000000e9", "\\x{e9}\\x{e9}\\x{e9}"},
      {BOTH, "\\O\\/(?#a)(?<n>[ab])\\k<n>\\g<n>(?>a)(?<=a)(?<!a)",
       "\\p{Any}\\/(?#)(?<n>[ab])\\k<n>\\g<n>(?>a)(?<=a)(?<!a)"},
      {O, "a\\Z", "a\\Z"},
      {R, "a\\Z(?P<n>b)", "a(?=\\n*\\z)(?P<n>b)"},
      {BOTH, "(a", "(a"}, /* what is malformed is left to PCRE2 */
      {BOTH, "a)", "a)"},
      {BOTH, "[a", "["},
      {BOTH, "\\", "\\"},
  };
  check_all(examples, COUNT(examples), false);
}

static void test_refused(void) {
  static const example examples[] = {
      {BOTH, "a\\Kb", "has \\K"},
      {BOTH, "\\Qa\\E", "has \\Q"},
      {BOTH, "\\C", "has \\C"},
      {BOTH, "[\\R]", "has \\R"},
      {BOTH, "\\g{1}", "has \\g"},
      {BOTH, "(?i:[a[b]])", "has [, which is not supported where case is ignored"},
      {BOTH, "(?i:[a&&b])", "has &&"},
      {BOTH, "[a&&&b]", "has &&"},
      {BOTH, "[&&a]", "has &&"},
      {BOTH, "[a&&]", "has ]"},
      {BOTH, "[[[[[[[[[a]]]]]]]]]", "has ["},
      {R, "[a-c--b]", "has --"},
      {R, "[a~~b]", "has ~~"},
      {R, "\\b{start}", "has \\b"},
      {R, "\\<", "has \\<"},
      {O, "\\pL", "has \\p"},
      {O, "\\xC3\\xA9", "has \\xC3"},
      {O, "\\303\\251", "has \\303"},
      {BOTH, "(?x) a", "has (?x"},
      {BOTH, "(?i)(?R)", "has (?R"},
      {BOTH, "(?~a)", "has (?~"},
      {BOTH, "(?(1)a)", "has (?("},
      {BOTH, "(*FAIL)", "has (*"},
      {O, "(?s).", "has (?s"},
      {O, "(?i:ss)", "has ss, which is not supported where case is ignored"},
      {O, "(?i:x\xC3\x9F)", "has \xC3\x9F, which is not supported where case is ignored"},
      {O, "(?i:[\xC3\x80-\xC3\xBF])", "where case is ignored"},
      {O, "(?i)[[:upper:]]", "has [:upper:], which is not supported where case is ignored"},
      {O, "(?i)[\\P{L}]", "where case is ignored"},
      {R, "(?i:\\p{Lu})", "has \\p{Lu}, which is not supported where case is ignored"},
      {R, "(?i:\\p{Greek})", "where case is ignored"},
  };
  check_all(examples, COUNT(examples), true);
}

static void test_depth(void) {
  char pattern[2048], out[4096];
  for (size_t depth = 249; depth <= 250; depth++) {
    memset(pattern, '(', depth);
    memset(pattern + depth, ')', depth);
    pattern[2 * depth] = 0;
    CHECK(rewrite(pattern, O, &tsl__malloc, out, NULL) == (depth == 249 ? TSL_OK : TSL_ERR_SYNTAX));
  }
}

static void test_no_memory(void) {
  static const char pattern[] = "(?i:a[^b\\W])[a[^b]&&c](x){2}?\\p{Han}(?m)\\b";
  char out[4096];
  unsigned failures = 0;
  for (long n = 0;; n++) {
    failing f = {n, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_status status = rewrite(pattern, O, &a, out, NULL);
    CHECK(f.held == 0);
    if (!failing_failed(&f)) break;
    CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
    failures += status != TSL_OK;
  }
  CHECK(failures >= 3);
}

int main(void) {
  RUN(test_rewritten, "what PCRE2 is given");
  RUN(test_refused, "what it would read differently");
  RUN(test_depth, "groups within groups");
  RUN(test_no_memory, "each allocation fails once");
  return tsl_test_end();
}
