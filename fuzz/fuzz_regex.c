/* fuzz_regex.c - any bytes as a pattern must compile or fail cleanly. Where PCRE2 gives the same
 * pattern the same meaning, both must give a text the same verdict.
 *
 * Input     one byte of flags (1 search, 2 case-insensitive, 4 dot matches all, 8 multi-line), the
 *           pattern up to a zero byte, the text.
 * Compared  When both compile the pattern, and it keeps to what ECMA-262 and PCRE2 share (see
 *           `comparable`). The texts are valid UTF-8 without the code points on which the two
 *           differ by design. These are line terminators but \n, spaces past ASCII, U+017F and
 *           U+212A.
 * Walks     More texts come from following the expression, byte by byte out of what the pattern
 *           itself is made of. PCRE2 must take each text that the expression takes on the way. Each
 *           with one byte changed must have the same verdict from both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/expr/deriv.h"
#include "compiler/regex/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(const char *pattern, size_t length, const char *what) {
  size_t n = strlen(what);
  for (size_t i = 0; i + n <= length; i++)
    if (!memcmp(pattern + i, what, n)) return true;
  return false;
}

static bool has_any(const char *pattern, size_t length, const char *const *what, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (has(pattern, length, what[i])) return true;
  return false;
}
#define HAS_ANY(list) has_any(pattern, length, list, sizeof(list) / sizeof *(list))

/* \400 to \777: one character in PCRE2; in ECMA-262 \40 to \77, and a digit. */
static bool has_long_octal(const char *pattern, size_t length) {
  for (size_t i = 0; i + 3 < length; i++) {
    if (pattern[i] != '\\') continue;
    i++;
    if (pattern[i] >= '4' && pattern[i] <= '7' && pattern[i + 1] >= '0' && pattern[i + 1] <= '7' &&
        pattern[i + 2] >= '0' && pattern[i + 2] <= '7')
      return true;
  }
  return false;
}

/* Does the pattern mean the same in both? */
static bool comparable(const char *pattern, size_t length, bool fold) {
  /* other meanings in PCRE2: vertical space, empty classes, named characters, word boundaries as
   * classes, code units */
  static const char *const clash[] = {"\\v",  "\\V",   "[]",    "[^]", "\\N{", "[[:<",
                                      "[[:>", "[^[:<", "[^[:>", "\\o", "\\x"};
  static const char *const property[] = {"\\p", "\\P"}, *const inline_flag[] = {"(?"};
  /* captures that a later iteration does not set stay in PCRE2 and are reset in ECMA-262 */
  static const char *const back[] = {"\\1", "\\2", "\\3", "\\4", "\\5", "\\6",
                                     "\\7", "\\8", "\\9", "\\k", "(?P="},
                           *const loop[] = {")?", ")*", ")+", "){"};
  if (HAS_ANY(clash) || has_long_octal(pattern, length)) return false;
  if (HAS_ANY(property) && (fold || HAS_ANY(inline_flag))) return false;
  return !(HAS_ANY(back) && HAS_ANY(loop));
}

static bool plain_text(const uint8_t *text, size_t length) {
  uint32_t cp;
  for (size_t i = 0; i < length;) {
    unsigned n = tsl__utf8_decode(text + i, length - i, &cp);
    if (!n || (cp >= 0x0B && cp <= 0x0D) || cp == 0x85 || cp == 0xA0 || cp == 0x17F ||
        cp == 0x1680 || cp == 0x180E || (cp >= 0x2000 && cp <= 0x206F) || cp == 0x212A ||
        cp == 0x3000 || cp == 0xFEFF)
      return false;
    i += n;
  }
  return true;
}

/* PCRE2's verdict: 1, 0, or -1 if it has none. */
static int verdict(const char *pattern, size_t length, const tsl__regex_flags *flags,
                   const uint8_t *text, size_t n) {
  int code, result;
  PCRE2_SIZE offset;
  uint32_t options =
      PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALT_CIRCUMFLEX;
  options |= (flags->case_insensitive ? PCRE2_CASELESS : 0u) |
             (flags->dot_all ? PCRE2_DOTALL : 0u) | (flags->multiline ? PCRE2_MULTILINE : 0u);
  pcre2_code *p = pcre2_compile((PCRE2_SPTR)pattern, length, options, &code, &offset, NULL);
  if (!p) return -1;
  pcre2_match_data *match = pcre2_match_data_create(1, NULL);
  pcre2_match_context *limits = pcre2_match_context_create(NULL);
  if (!match || !limits) abort();
  pcre2_set_match_limit(limits, 100000);
  result = pcre2_match(p, text, n, 0, flags->search ? 0 : PCRE2_ANCHORED | PCRE2_ENDANCHORED, match,
                       limits);
  pcre2_match_context_free(limits);
  pcre2_match_data_free(match);
  pcre2_code_free(p);
  return result >= 0 ? 1 : result == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

typedef struct task {
  tsl__exprs *x;
  tsl__expr e;
  const char *pattern;
  size_t length;
  const tsl__regex_flags *flags;
  unsigned bits;
} task;

/* Both on one text; false when a limit is reached. */
static bool compare(const task *t, const uint8_t *text, size_t n) {
  if (!plain_text(text, n)) return true;
  bool got = tsl__expr_matches(t->x, t->e, text, n);
  if (tsl__exprs_status(t->x) != TSL_OK) return false;
  int want = verdict(t->pattern, t->length, t->flags, text, n);
  if (want >= 0 && got != (want == 1)) {
    fprintf(stderr, "/%.*s/ flags %u on \"%.*s\": %d, PCRE2 says %d\n", (int)t->length, t->pattern,
            t->bits, (int)n, (const char *)text, got, want);
    abort();
  }
  return true;
}

#define WALKS 3
#define WALK_MAX 24
#define TRIES 12

static void walk(const task *t, uint64_t seed) {
  static const char usual[] = "aA0_z9 \n-Zkb\xC3\xA9";
  uint8_t text[WALK_MAX];
  size_t n = 0;
  tsl__expr e = t->e;
  while (n < WALK_MAX) {
    tsl__expr next = TSL__NONE;
    for (int i = 0; i < TRIES && next == TSL__NONE; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      size_t k = (size_t)(seed >> 33) % (t->length + sizeof usual - 1);
      text[n] = (uint8_t)(k < t->length ? t->pattern[k] : usual[k - t->length]);
      next = tsl__derive_plain(t->x, e, text[n]);
      if (tsl__exprs_status(t->x) != TSL_OK) return;
    }
    if (next == TSL__NONE) break;
    e = next;
    n++;
    if (tsl__expr_nullable(t->x, e) && !compare(t, text, n)) return;
  }
  if (!n) return;
  text[(seed >> 40) % n] = (uint8_t)usual[(seed >> 20) % (sizeof usual - 1)];
  compare(t, text, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsl_limits limits = {.max_memory = 64u << 20, .max_steps = 20000};
  tsl__exprs *x;
  tsl__expr e;
  tsl_error error = {0};
  if (size < 1 || size > 300) return 0;
  tsl__regex_flags flags = {.search = data[0] & 1,
                            .case_insensitive = data[0] & 2,
                            .dot_all = data[0] & 4,
                            .multiline = data[0] & 8};
  const char *pattern = (const char *)data + 1;
  const uint8_t *zero = memchr(data + 1, 0, size - 1);
  size_t length = zero ? (size_t)(zero - data - 1) : size - 1, n = zero ? size - length - 2 : 0;
  const uint8_t *text = zero ? zero + 1 : data + size;
  if (tsl__exprs_new(NULL, NULL, &limits, &x) != TSL_OK) abort();
  tsl_status status = tsl__regex_compile(x, pattern, length, &flags, &e, &error);
  if (status != TSL_OK &&
      (e != TSL__NONE || error.status != status || !error.message[0] || error.offset > length))
    abort();
  if (status == TSL_OK && plain_text(text, n) &&
      comparable(pattern, length, flags.case_insensitive)) {
    const task t = {x, e, pattern, length, &flags, data[0]};
    if (compare(&t, text, n))
      for (uint64_t i = 0; i < WALKS; i++) walk(&t, size * 31 + i);
  }
  tsl__exprs_free(x);
  return 0;
}
