/* test_charset.c - sets of code points against a naive bitmap, and properties and case against
 * PCRE2 for one code point at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/charset.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "tests/support/check.h"
#include "tests/support/cpu_time.h"
#include "tests/support/failing.h"

static const tsl_allocator *const mem = &tsl__malloc;

static bool is_normal(const tsl__charset *s) {
  for (size_t i = 0; i < s->ranges.n; i++) {
    if (s->ranges.at[i].lo > s->ranges.at[i].hi) return false;
    if (i && s->ranges.at[i].lo <= s->ranges.at[i - 1].hi + 1) return false;
  }
  return true;
}

/* Random ranges over a small universe against an array of flags. */
static void test_algebra(void) {
  uint64_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    tsl__charset s = {0};
    bool flags[256] = {false};
    unsigned n = (unsigned)(tsl_test_random(&seed) % 50);
    bool same = true;
    for (unsigned i = 0; i < n; i++) {
      uint32_t lo = (uint32_t)(tsl_test_random(&seed) % 250),
               hi = lo + (uint32_t)(tsl_test_random(&seed) % (256 - lo) / 8);
      CHECK(tsl__charset_add(mem, &s, lo, hi));
      for (uint32_t cp = lo; cp <= hi; cp++) flags[cp] = true;
    }
    tsl__charset_normalise(&s);
    for (uint32_t cp = 0; cp < 256; cp++) same &= tsl__charset_has(&s, cp) == flags[cp];
    CHECK(same && is_normal(&s));
    CHECK(tsl__charset_negate(mem, &s));
    for (uint32_t cp = 0; cp < 256; cp++) same &= tsl__charset_has(&s, cp) != flags[cp];
    CHECK(same && is_normal(&s));
    CHECK(tsl__charset_has(&s, TSL__CP_MAX));
    tsl__charset_free(mem, &s);
  }
}

static void test_negate_ends(void) {
  tsl__charset s = {0};
  CHECK(tsl__charset_negate(mem, &s) && s.ranges.n == 1 && s.ranges.at[0].lo == 0 &&
        s.ranges.at[0].hi == TSL__CP_MAX);
  CHECK(tsl__charset_negate(mem, &s) && s.ranges.n == 0);
  CHECK(tsl__charset_add(mem, &s, 0, 0) && tsl__charset_add(mem, &s, TSL__CP_MAX, TSL__CP_MAX));
  CHECK(tsl__charset_negate(mem, &s) && s.ranges.n == 1 && s.ranges.at[0].lo == 1 &&
        s.ranges.at[0].hi == TSL__CP_MAX - 1);
  tsl__charset_free(mem, &s);
}

/* Does PCRE2 match this one code point? */
static bool asks(pcre2_code *code, pcre2_match_data *match, uint32_t cp) {
  uint8_t text[4];
  unsigned n = tsl__utf8_encode(cp, text);
  return pcre2_match(code, text, n, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, match, NULL) > 0;
}

static pcre2_code *compile(const char *pattern) {
  int code;
  PCRE2_SIZE offset;
  return pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &offset, NULL);
}

/* Is the set what the pattern says, for every 7th code point and all below U+3000? */
static bool same_as(const tsl__charset *s, const char *pattern) {
  pcre2_code *code = compile(pattern);
  pcre2_match_data *match = pcre2_match_data_create(1, NULL);
  bool same = code && match;
  for (uint32_t cp = 0; same && cp <= TSL__CP_MAX; cp += cp < 0x3000 ? 1 : 7)
    if (cp < 0xD800 || cp > 0xDFFF) same = asks(code, match, cp) == tsl__charset_has(s, cp);
  pcre2_match_data_free(match);
  pcre2_code_free(code);
  return same;
}

static void test_properties(void) {
  static const struct row {
    const char *name, *pattern;
  } rows[] = {
      {"L", "\\p{L}"},
      {"Lu", "\\p{Lu}"},
      {"Uppercase_Letter", "\\p{Lu}"},
      {"gc=Nd", "\\p{Nd}"},
      {"General_Category=Decimal_Number", "\\p{Nd}"},
      {"Script=Greek", "\\p{sc:Greek}"},
      {"sc=Cyrillic", "\\p{sc:Cyrillic}"},
      {"Script_Extensions=Hira", "\\p{scx:Hira}"},
      {"Greek", "\\p{Greek}"},
      {"Alphabetic", "\\p{Alphabetic}"},
      {"ASCII", "[\\x{0}-\\x{7f}]"},
      {"Any", "[\\x{0}-\\x{10ffff}]"},
      {"Assigned", "\\P{Cn}"},
      {"LC", "\\p{L&}"},
      {"White_Space", "\\p{White_Space}"},
      {"Co", "\\p{Co}"},
      {"Punctuation", "\\p{P}"},
      {"Cn", "\\p{Cn}"},
      {"Script=Unknown", "\\p{sc:Zzzz}"},
      {"Default_Ignorable_Code_Point", "\\p{DI}"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl__charset s = {0};
    tsl_status status =
        tsl__charset_add_property(mem, NULL, &s, rows[i].name, strlen(rows[i].name));
    tsl__charset_normalise(&s);
    CHECKF(status == TSL_OK && same_as(&s, rows[i].pattern), "%s", rows[i].name);
    tsl__charset_free(mem, &s);
  }
}

static void test_unknown_properties(void) {
  static const char *const names[] = {
      "",
      "Nonsense",
      "Script=",
      "Script=Nonsense",
      "gc=Greek=",
      "L}|\\p{N",
      "IsGreek",
      "InBasicLatin",
      "a_name_that_is_longer_than_sixty_four_characters_which_no_property_is"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tsl__charset s = {0};
    CHECKF(tsl__charset_add_property(mem, NULL, &s, names[i], strlen(names[i])) == TSL_ERR_SYNTAX &&
               s.ranges.n == 0,
           "%s", names[i]);
    tsl__charset_free(mem, &s);
  }
}

static void test_fold(void) {
  static const struct row {
    uint32_t lo, hi;
    const char *pattern;
  } rows[] = {
      {'a', 'z', "(?i)[a-z]"},
      {'A', 'C', "(?i)[A-C]"},
      {'j', 'l', "(?i)[j-l]"},
      {'S', 'S', "(?i)s"},
      {'0', '9', "[0-9]"},
      {'Y', 'b', "(?i)[Y-b]"},
      {0xE9, 0xE9, "(?i)\\x{e9}"},
      {0x3A3, 0x3A3, "(?i)\\x{3a3}"},
      {0x212A, 0x212A, "(?i)k"},
      {0x100, 0x17F, "(?i)[\\x{100}-\\x{17f}]"},
      {0x10400, 0x10427, "(?i)[\\x{10400}-\\x{10427}]"},
      {0xD000, 0xE100, "[\\x{D000}-\\x{D7FF}\\x{E000}-\\x{E100}]"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl__charset s = {0};
    CHECK(tsl__charset_add(mem, &s, rows[i].lo, rows[i].hi) && tsl__charset_fold(mem, &s));
    CHECKF(is_normal(&s) && same_as(&s, rows[i].pattern), "U+%04X-U+%04X", rows[i].lo, rows[i].hi);
    tsl__charset_free(mem, &s);
  }
  tsl__charset surrogates = {0};
  CHECK(tsl__charset_add(mem, &surrogates, 0xD800, 0xDFFF) && tsl__charset_fold(mem, &surrogates) &&
        surrogates.ranges.n == 1);
  tsl__charset_free(mem, &surrogates);
}

/* "(?i)[…]", the ranges of a set; to be freed. */
static char *folded_pattern(const tsl__charset *s) {
  size_t room = s->ranges.n * 32 + 16;
  char *pattern = malloc(room);
  if (!pattern) return NULL;
  size_t n = (size_t)snprintf(pattern, room, "(?i)[");
  for (size_t i = 0; i < s->ranges.n; i++)
    n += (size_t)snprintf(pattern + n, room - n, "\\x{%x}-\\x{%x}", (unsigned)s->ranges.at[i].lo,
                          (unsigned)s->ranges.at[i].hi);
  snprintf(pattern + n, room - n, "]");
  return pattern;
}

/* A property of hundreds of ranges, folded; the least processor time of both steps. */
static void fold_property(const char *name, clock_t *looked_up, clock_t *folded) {
  for (int round = 0; round < 5; round++) {
    tsl__charset s = {0};
    clock_t began = clock();
    CHECK(tsl__charset_add_property(mem, NULL, &s, name, strlen(name)) == TSL_OK);
    clock_t known = clock();
    char *pattern = folded_pattern(&s);
    clock_t from = clock();
    CHECK(tsl__charset_fold(mem, &s));
    clock_t end = clock();
    if (known - began < *looked_up) *looked_up = known - began;
    if (end - from < *folded) *folded = end - from;
    if (!round) CHECKF(is_normal(&s) && pattern && same_as(&s, pattern), "%s", name);
    tsl__charset_free(mem, &s);
    free(pattern);
  }
}

/* To fold a set of hundreds of ranges does not take many times as long as to look it up. */
static void test_fold_large(void) {
  static const char *const names[] = {"Lu", "Ll", "L", "Mn", "Lt", "Assigned"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    clock_t looked_up = CLOCKS_PER_SEC, folded = CLOCKS_PER_SEC;
    fold_property(names[i], &looked_up, &folded);
    CHECKF(folded <= 4 * looked_up, "%s: %ld to look up, %ld to fold", names[i], (long)looked_up,
           (long)folded);
  }
}

/* ---- every allocation fails once ------------------------------------------------------------- */

static void test_no_memory(void) {
  bool done = false;
  for (long n = 0; !done && n < 200; n++) {
    failing f = {n, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl__charset s = {0};
    tsl_status status = tsl__charset_add_property(&a, NULL, &s, "Greek", 5);
    CHECK(status == TSL_OK || (status == TSL_ERR_NO_MEMORY && s.ranges.n == 0));
    done = status == TSL_OK && tsl__charset_add(&a, &s, 0xE9, 0xE9) && tsl__charset_fold(&a, &s) &&
           tsl__charset_negate(&a, &s) && !failing_failed(&f);
    tsl__charset_free(&a, &s);
    CHECK(f.held == 0);
  }
  CHECK(done);
}

int main(void) {
  RUN(test_algebra, "random sets against a bitmap");
  RUN(test_negate_ends, "complement at both ends");
  RUN(test_properties, "properties, against PCRE2 one code point at a time");
  RUN(test_unknown_properties, "names that nobody knows");
  RUN(test_fold, "case folding, against PCRE2 one code point at a time");
  RUN(test_fold_large, "case folding of many ranges");
  RUN(test_no_memory, "every allocation fails once");
  return tsl_test_end();
}
