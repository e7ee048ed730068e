/* scan.c - names, numbers, literals, classes and tokens of an EBNF text.
 *
 * Problem   The letters of EBNF are not those of GBNF. Names have dots, "\x416" is one character,
 *           and "\0" is NUL. A class may be empty, and '-' may begin a name.
 * Idea      One function for each kind of word. It begins at the word, and ends behind it.
 * Example   "\x41g"   is Ag: hexadecimal digits are read as long as there are some
 *           [a-c-e]   is a, b, c, '-' and e: a '-' after a range stands for itself
 *           [^]       is any character, and [] is none
 * Steps     [a-c-e] in class_members: `a` is read, a '-' follows with no ']' behind it, so a to c
 *           is one range. The next character is '-' itself: behind it stands e, which is no '-',
 *           so '-' is a range of one. Then e. tsl__charset_normalise sorts them: '-', a to c, e.
 * Text      A literal's characters go to the grammar's bytes as UTF-8, those of a macro's string
 *           to r->bytes: string_character serves both. A surrogate has no UTF-8, and is an error.
 * Tokens    <[7]> is token 7, <name> a special token, !<[7]> any other. Token ids that are listed
 *           are sorted, and each counts once.
 * Rules     A name begins a rule if `::=` follows, with or without options in brackets.
 * Failing   FAIL keeps the first error. Functions that were called after it return 0 and read on
 *           to nowhere: every loop looks at tsl__ebnf_over.
 * Cost      Linear in the text. A look whether a name begins a rule reads on to the `::=`.
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/ebnf/reader.h"
#include "runtime/vocab/vocab.h"

#define peek tsl__ebnf_peek
#define take tsl__ebnf_take
#define FAIL TSL__EBNF_FAIL

/* ---- failing --------------------------------------------------------------------------------- */

void tsl__ebnf_limit(tsl__ebnf *r, size_t offset, const char *what, unsigned limit) {
  if (!r->status)
    r->status = tsl__fail_at(r->error, TSL_ERR_LIMIT, r->text, r->length, offset, "%s (limit %u)",
                             what, limit);
}

void tsl__ebnf_no_memory(tsl__ebnf *r) {
  if (!r->status) r->status = tsl__fail(r->error, TSL_ERR_NO_MEMORY, "out of memory");
}

bool tsl__ebnf_over(tsl__ebnf *r) {
  if (!r->status && tsl__gbnf_failed(r->g)) r->status = tsl__gbnf_failure(r->g, r->error);
  return r->status != TSL_OK;
}

static bool put(tsl__ebnf *r, const char *text, size_t n) {
  if (!tsl__vec_reserve(&r->alloc, &r->report, n)) return tsl__ebnf_no_memory(r), false;
  memcpy(r->report.at + r->report.n, text, n);
  r->report.n += n;
  return true;
}

void tsl__ebnf_note(tsl__ebnf *r, size_t at, const char *keyword, const char *reason) {
  char text[320];
  tsl_error place;
  if (r->status || !r->options->report) return;
  tsl__fail_at(&place, TSL_OK, r->text, r->length, at, "%s", "");
  int n = snprintf(text, sizeof text,
                   "%s{\"pointer\": \"\", \"keyword\": \"%s\", \"status\": \"no effect\", "
                   "\"reason\": \"line %u, column %u: %s\"}",
                   r->report.n ? ", " : "", keyword, place.line, place.column, reason);
  put(r, text, (size_t)n);
}

/* ---- space and names ------------------------------------------------------------------------- */

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static bool is_name(int c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.' ||
         (!first && is_digit(c));
}

static size_t past_space(const tsl__ebnf *r, size_t at) {
  for (; at < r->length; at++) {
    char c = r->text[at];
    if (c == '#')
      while (at + 1 < r->length && r->text[at + 1] != '\n' && r->text[at + 1] != '\r') at++;
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      break;
  }
  return at;
}

void tsl__ebnf_space(tsl__ebnf *r) {
  size_t end = past_space(r, r->at);
  tsl__exprs_work(r->x, (end - r->at) / 16 + 1);
  r->at = end;
}

bool tsl__ebnf_expect(tsl__ebnf *r, int c, const char *what) {
  tsl__ebnf_space(r);
  if (tsl__ebnf_over(r)) return false;
  if (!take(r, c)) return FAIL(r, r->at, "expected '%c' %s", c, what), false;
  tsl__ebnf_space(r);
  return true;
}

static size_t name_end(const tsl__ebnf *r, size_t at) {
  size_t end = at;
  while (end < r->length && is_name((unsigned char)r->text[end], end == at)) end++;
  return end;
}

size_t tsl__ebnf_name(const tsl__ebnf *r) { return name_end(r, r->at) - r->at; }

/* Behind [ … ] on one line, quoted text in it skipped; `at` itself where there are no brackets. */
static size_t past_options(const tsl__ebnf *r, size_t at) {
  bool quoted = false;
  if (at >= r->length || r->text[at] != '[') return at;
  for (size_t i = at + 1; i < r->length && r->text[i] != '\n' && r->text[i] != '\r'; i++) {
    if (r->text[i] == '"') quoted = !quoted;
    if (r->text[i] == ']' && !quoted) return i + 1;
  }
  return at;
}

bool tsl__ebnf_begins_rule(tsl__ebnf *r) {
  size_t end = past_space(r, past_options(r, name_end(r, r->at)));
  tsl__exprs_work(r->x, (end - r->at) / 16 + 1);
  return end + 3 <= r->length && !memcmp(r->text + end, "::=", 3);
}

uint32_t tsl__ebnf_number(tsl__ebnf *r, const char *what, uint32_t limit) {
  size_t start = r->at;
  uint64_t value = 0;
  if (!is_digit(peek(r))) FAIL(r, start, "%s is missing", what);
  for (; is_digit(peek(r)); r->at++)
    if (value <= limit) value = value * 10 + (uint64_t)(peek(r) - '0');
  if (value > limit) tsl__ebnf_limit(r, start, what, limit);
  return (uint32_t)value;
}

uint32_t tsl__ebnf_mention(tsl__ebnf *r) {
  size_t start = r->at, length = tsl__ebnf_name(r);
  if (!length) return FAIL(r, start, "expected the name of a rule"), 0;
  r->at += length;
  uint32_t rule = tsl__gbnf_mention(r->g, start, length);
  return tsl__ebnf_over(r) ? 0 : rule;
}

/* ---- characters ------------------------------------------------------------------------------ */

/* At least `least` hexadecimal digits, at most `most`. */
static uint32_t hex(tsl__ebnf *r, size_t start, unsigned least, unsigned most) {
  uint32_t value = 0;
  unsigned n = 0;
  for (; n < most; n++, r->at++) {
    int c = peek(r), d = c < 0 ? -1 : tsl__hex_value((uint8_t)c);
    if (d < 0) break;
    value = value > TSL__CP_MAX ? value : value << 4 | (uint32_t)d;
  }
  if (n < least) FAIL(r, start, "an escape needs %u hexadecimal digits", least);
  if (value > TSL__CP_MAX) FAIL(r, start, "an escape above U+10FFFF");
  return value;
}

static uint32_t escape(tsl__ebnf *r) {
  static const char letters[] = "nrtbfav0e", values[] = "\n\r\t\b\f\a\v\0\x1b";
  size_t start = r->at++;
  int c = peek(r);
  const char *letter = c > 0 ? memchr(letters, c, sizeof letters - 1) : NULL;
  if (c >= 0) r->at++;
  if (letter) return (uint8_t)values[letter - letters];
  if (c == 'x') return hex(r, start, 1, UINT32_MAX);
  if (c == 'u') return hex(r, start, 4, 4);
  if (c == 'U') return hex(r, start, 8, 8);
  if (c > 0 && strchr("\"'\\?/^$.*+()[]{}|-", c)) return (uint32_t)c;
  if (c > 0 && strchr("dDsSwW", c))
    FAIL(r, start, "\\%c stands in Regex(\"...\") only; write the characters as a class", c);
  else
    FAIL(r, start, "an unknown escape");
  return 0;
}

/* One code point, raw or escaped. */
static uint32_t character(tsl__ebnf *r) {
  uint32_t cp = 0;
  if (peek(r) == '\\') return escape(r);
  unsigned n = tsl__utf8_decode((const uint8_t *)r->text + r->at, r->length - r->at, &cp);
  if (!n) FAIL(r, r->at, "invalid UTF-8");
  r->at += n;
  return cp;
}

static bool is_line_end(int c) { return c == '\n' || c == '\r'; }

/* The next character of a string as UTF-8; 0: it is over, or failed. */
static unsigned string_character(tsl__ebnf *r, size_t start, uint8_t utf8[4]) {
  size_t at = r->at;
  if (r->status || take(r, '"')) return 0;
  if (peek(r) < 0 || is_line_end(peek(r)))
    return FAIL(r, start, "a string without its closing quote on the same line"), 0;
  uint32_t cp = character(r);
  if (cp >= 0xD800 && cp <= 0xDFFF) FAIL(r, at, "a surrogate is no character");
  return r->status ? 0 : tsl__utf8_encode(cp, utf8);
}

void tsl__ebnf_string(tsl__ebnf *r, uint32_t *first, uint32_t *count) {
  size_t start = r->at;
  uint8_t utf8[4];
  *first = (uint32_t)r->bytes.n;
  if (!take(r, '"')) FAIL(r, start, "expected a string in quotes");
  for (unsigned n; (n = string_character(r, start, utf8)) && !tsl__ebnf_over(r);)
    for (unsigned i = 0; i < n; i++)
      if (!tsl__vec_push(&r->alloc, &r->bytes, utf8[i])) tsl__ebnf_no_memory(r);
  *count = (uint32_t)r->bytes.n - *first;
}

uint32_t tsl__ebnf_literal(tsl__ebnf *r) {
  tsl__gbnf *g = r->g;
  size_t start = r->at++;
  uint8_t utf8[4];
  uint32_t first = (uint32_t)g->bytes.n;
  for (unsigned n; (n = string_character(r, start, utf8)) && !tsl__ebnf_over(r);)
    for (unsigned i = 0; i < n; i++)
      if (!tsl__vec_push(&g->alloc, &g->bytes, utf8[i])) g->no_memory = true;
  uint32_t length = (uint32_t)g->bytes.n - first;
  if (!length || tsl__ebnf_over(r)) return 0;
  return tsl__gbnf_node(g, TSL__G_LITERAL, first, length, 0);
}

static void class_members(tsl__ebnf *r, size_t start, tsl__charset *set) {
  while (!tsl__ebnf_over(r) && peek(r) != ']') {
    size_t at = r->at;
    if (peek(r) < 0 || is_line_end(peek(r))) {
      FAIL(r, start, "a class without its ']' on the same line");
      return;
    }
    uint32_t low = character(r), high = low;
    if (!r->status && peek(r) == '-' && r->at + 1 < r->length && r->text[r->at + 1] != ']') {
      r->at++;
      high = character(r);
    }
    if (!r->status && high < low) FAIL(r, at, "a range from high to low");
    if (!r->status && !tsl__charset_add(&r->g->alloc, set, low, high)) tsl__ebnf_no_memory(r);
    tsl__exprs_work(r->x, 1);
  }
}

uint32_t tsl__ebnf_class(tsl__ebnf *r) {
  tsl__gbnf *g = r->g;
  tsl__charset set = {0};
  size_t start = r->at++;
  uint32_t first = (uint32_t)g->ranges.n;
  bool negated = take(r, '^');
  class_members(r, start, &set);
  tsl__charset_normalise(&set);
  if (!r->status && negated && !tsl__charset_negate(&g->alloc, &set)) tsl__ebnf_no_memory(r);
  for (size_t i = 0; i < set.ranges.n && !r->status; i++)
    if (!tsl__vec_push(&g->alloc, &g->ranges, set.ranges.at[i])) tsl__ebnf_no_memory(r);
  uint32_t count = (uint32_t)set.ranges.n;
  tsl__charset_free(&g->alloc, &set);
  if (r->status) return 0;
  r->at++;
  return tsl__gbnf_node(g, TSL__G_CLASS, first, count, 0);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
  tsl_token x = *(const tsl_token *)a, y = *(const tsl_token *)b;
  return (x > y) - (x < y);
}

uint32_t tsl__ebnf_tokens(tsl__ebnf *r, bool others) {
  size_t n = 0;
  if (tsl__ebnf_over(r)) return 0;
  if (r->tokens.n) qsort(r->tokens.at, r->tokens.n, sizeof *r->tokens.at, by_id);
  for (size_t i = 0; i < r->tokens.n; i++)
    if (!n || r->tokens.at[n - 1] != r->tokens.at[i]) r->tokens.at[n++] = r->tokens.at[i];
  tsl__exprs_name_tokens(r->x);
  bool some = !r->vocab || tsl__vocab_names_some(r->vocab, r->tokens.at, n, others);
  tsl__expr e = some ? tsl__expr_token(r->x, r->tokens.at, n, others) : TSL__NONE;
  r->tokens.n = 0;
  return tsl__ebnf_over(r) ? 0 : tsl__gbnf_node(r->g, TSL__G_TOKENS, e, 0, 0);
}

static tsl_token token_by_name(tsl__ebnf *r, size_t start) {
  size_t length = r->at - start, count = 0;
  tsl_token id = tsl_vocab_find_special(r->vocab, r->text + start, length);
  if (id != TSL_NO_TOKEN) return id;
  if (tsl_vocab_encode(r->vocab, r->text + start, length, TSL_ENCODE_SPECIAL, &id, 1, &count) ||
      count != 1)
    FAIL(r, start, "%.*s is not one token of the vocabulary", (int)(length < 100 ? length : 100),
         r->text + start);
  return id;
}

static tsl_token named_token(tsl__ebnf *r, size_t start) {
  while (peek(r) >= 0 && peek(r) != '>' && !is_line_end(peek(r))) r->at++;
  if (!take(r, '>')) return FAIL(r, start, "a token without its '>'"), 0;
  if (!r->vocab) return FAIL(r, start, "a token by name needs a vocabulary"), 0;
  return token_by_name(r, start);
}

uint32_t tsl__ebnf_token(tsl__ebnf *r) {
  bool others = take(r, '!');
  size_t start = r->at;
  tsl_token id;
  if (!take(r, '<')) return FAIL(r, start, "'!' is followed by a token: <[id]> or <name>"), 0;
  if (take(r, '[')) {
    id = tsl__ebnf_number(r, "a token id", INT32_MAX);
    if (!r->status && (!take(r, ']') || !take(r, '>'))) FAIL(r, r->at, "a token id ends with ]>");
  } else {
    id = named_token(r, start);
  }
  if (!r->status && r->vocab && id >= tsl_vocab_size(r->vocab))
    FAIL(r, start, "the vocabulary has no token %u", id);
  if (!r->status && !tsl__vec_push(&r->alloc, &r->tokens, id)) tsl__ebnf_no_memory(r);
  return tsl__ebnf_tokens(r, others);
}
