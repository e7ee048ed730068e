/* scan.c - the words of a Lark grammar: names, numbers, strings, regular expressions, tokens.
 *
 * Problem   A '/' begins a regular expression or a comment, a '#' a comment or nothing, and a
 *           newline ends a rule or is white space. It depends on what the parser waits for.
 * Idea      There is no list of words. The parser calls for the word that may come, and the scanner
 *           reads it at its place in the text. So each word is read once, and a place is an offset.
 * Example   a: "x" // y    is a string and a comment, as two slashes are no regular expression.
 *
 * Lark and llguidance write the same words, but for two: a '-' in names, and tokens in angle
 * brackets. A newline ends a line, except where the caller says that it is white space
 * (`newlines`).
 *
 * Tokens    <name> is one token by its text, <[7]> one by its number. <[1-3,7]> is any of several,
 *           <[^7]> any but these, and <[*]> any at all. Several become one expression at once. A
 *           set in which no token can stand in a text matches nothing, and the rules say so.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/scan.h"
#include "runtime/vocab/vocab.h"

#include <stdlib.h>

/* White space, comments, and a newline after a backslash. */
void tsl__scan_skip(tsl__lscan *p, bool newlines) {
  for (;;) {
    int c = tsl__scan_peek(p);
    if (c == ' ' || c == '\t' || c == '\f' || (newlines && (c == '\n' || c == '\r'))) {
      p->at++;
    } else if (c == '#' || (c == '/' && tsl__scan_byte(p, p->at + 1) == '/')) {
      while (tsl__scan_peek(p) >= 0 && tsl__scan_peek(p) != '\n') p->at++;
    } else if (c == '\r' && tsl__scan_byte(p, p->at + 1) == '\n') {
      if (!newlines) return;
    } else if (c == '\\') {
      size_t at = p->at + 1;
      while (tsl__scan_byte(p, at) == ' ' || tsl__scan_byte(p, at) == '\r') at++;
      if (tsl__scan_byte(p, at) != '\n') return;
      p->at = at + 1;
    } else {
      return;
    }
  }
}

bool tsl__scan_at_end_of_line(const tsl__lscan *p) {
  int c = tsl__scan_peek(p);
  return c < 0 || c == '\n' || (c == '\r' && tsl__scan_byte(p, p->at + 1) == '\n') ||
         (c == '}' && p->nested);
}

bool tsl__scan_end_line(tsl__lscan *p) {
  tsl__scan_skip(p, false);
  int c = tsl__scan_peek(p);
  if (tsl__scan_at_end_of_line(p) || tsl__scan_failed(p)) return !tsl__scan_failed(p);
  return FAIL(p, c == ')' || c == ']' ? "a closing bracket without its opening one"
                                      : "expected an item, '|' or the end of the line");
}

bool tsl__scan_push(tsl__lscan *p, uint32_t value) {
  return tsl__vec_push(&p->l->alloc, &p->pending, value) || tsl__lark_no_memory(p->l);
}

bool tsl__scan_too_deep(tsl__lscan *p, size_t at) {
  return tsl__lark_fail(p->l, TSL_ERR_LIMIT, p->module, at, "%s (limit %u)", "nesting is too deep",
                        p->l->max_depth);
}

/* ---- names and numbers ----------------------------------------------------------------------- */

/* Letters, digits, '_', and '-' between them. */
uint32_t tsl__scan_name_length(const tsl__lscan *p) {
  size_t at = p->at;
  for (;; at++) {
    int c = tsl__scan_byte(p, at), next = tsl__scan_byte(p, at + 1);
    bool dash = c == '-' && at > p->at &&
                (tsl__scan_lower(next) || tsl__scan_upper(next) || tsl__scan_digit(next));
    if (!tsl__scan_lower(c) && !tsl__scan_upper(c) && !tsl__scan_digit(c) && c != '_' && !dash)
      break;
  }
  return (uint32_t)(at - p->at);
}

/* Takes a name; *terminal: it is one. 0: there is none, or a bad one. */
uint32_t tsl__scan_name(tsl__lscan *p, const char *what, bool *terminal) {
  size_t start = p->at;
  uint32_t n = tsl__scan_begins_name(tsl__scan_peek(p)) ? tsl__scan_name_length(p) : 0;
  bool lower = false, upper = false;
  for (uint32_t i = 0; i < n; i++) {
    lower |= tsl__scan_lower((unsigned char)p->text[start + i]);
    upper |= tsl__scan_upper((unsigned char)p->text[start + i]);
  }
  if (!n) return FAIL(p, "expected %s", what), 0;
  const char *name = p->text + start;
  if (lower == upper)
    return FAIL(p, "the name \"%.*s\" %s", tsl__lark_shown(n), name,
                lower ? "has letters of both cases: rules are lower case, terminals upper case"
                      : "has no letter"),
           0;
  if (n > 1 && name[0] == '_' && name[1] == '_')
    return FAIL(p, "names that begin with two underscores are reserved"), 0;
  *terminal = upper;
  p->at += n;
  return n;
}

uint32_t tsl__scan_number(tsl__lscan *p, const char *what, uint32_t limit) {
  size_t start = p->at;
  uint64_t value = 0;
  if (!tsl__scan_digit(tsl__scan_peek(p))) FAIL(p, "%s is missing", what);
  for (; tsl__scan_digit(tsl__scan_peek(p)); p->at++)
    if (value <= limit) value = value * 10 + (uint64_t)(tsl__scan_peek(p) - '0');
  if (value > limit)
    tsl__lark_fail(p->l, TSL_ERR_LIMIT, p->module, start, "%s is too large (limit %u)", what,
                   limit);
  return (uint32_t)value;
}

/* ---- strings and regular expressions --------------------------------------------------------- */

/* The end of what begins with `quote` at p->at: past its last quote; 0: there is none. */
static size_t find_end(const tsl__lscan *p, char quote, bool newlines) {
  for (size_t at = p->at + 1; at < p->length; at++) {
    if (p->text[at] == '\n' && !newlines) return 0;
    if (p->text[at] == '\\' && at + 1 < p->length && p->text[at + 1] != '\n')
      at++;
    else if (p->text[at] == quote)
      return at + 1;
  }
  return 0;
}

/* The one character of a string in a range. */
static uint32_t range_end(tsl__lscan *p) {
  uint32_t start = (uint32_t)p->at, first, count, cp = 0;
  size_t end = tsl__scan_peek(p) == '"' ? find_end(p, '"', false) : 0;
  if (!end) return FAIL(p, "a range goes from a string to a string"), 0;
  p->at = end;
  if (!tsl__lark_unescape(p->l, p->module, start + 1, (uint32_t)(end - start - 2), false, &first,
                          &count))
    return 0;
  unsigned n = count ? tsl__utf8_decode(p->l->bytes.at + first, count, &cp) : 0;
  if (!n || n != count || tsl__scan_peek(p) == 'i')
    FAIL_AT(p, start, "an end of a range is one character, without a flag");
  return cp;
}

/* "a".."z", from its first quote again. Only the ".." behind a string says that it was a range. */
static uint32_t parse_range(tsl__lscan *p, uint32_t start) {
  p->at = start;
  uint32_t low = range_end(p);
  tsl__scan_skip(p, false);
  tsl__scan_take_text(p, "..");
  tsl__scan_skip(p, false);
  uint32_t high = tsl__scan_failed(p) ? 0 : range_end(p);
  if (tsl__scan_failed(p)) return 0;
  if (high < low) return FAIL_AT(p, start, "a range from high to low"), 0;
  return tsl__lark_node(p->l, TSL__L_RANGE, start, low, high, 0);
}

/* A string that is empty matches the empty text, and is no node of its own. An 'i' right behind the
 * quote ignores case; with white space between, it is a name. */
uint32_t tsl__scan_string(tsl__lscan *p) {
  uint32_t start = (uint32_t)p->at, first, count, flags = 0;
  size_t end = find_end(p, '"', false);
  if (!end) return FAIL(p, "a string without its closing quote"), 0;
  p->at = end;
  tsl__scan_skip(p, false);
  if (tsl__scan_take_text(p, "..")) return parse_range(p, start);
  p->at = end;
  if (tsl__scan_take(p, 'i')) flags = TSL__LARK_I;
  if (!tsl__lark_unescape(p->l, p->module, start + 1, (uint32_t)(end - start - 2), false, &first,
                          &count))
    return 0;
  if (!count) return 0;
  return tsl__lark_node(p->l, TSL__L_LITERAL, start, first, count, flags);
}

uint32_t tsl__scan_pattern(tsl__lscan *p) {
  static const char letters[] = "imsx";
  static const uint8_t bits[] = {TSL__LARK_I, TSL__LARK_M, TSL__LARK_S, TSL__LARK_X};
  uint32_t start = (uint32_t)p->at, first, count, flags = 0;
  size_t end = find_end(p, '/', true);
  if (!end) return FAIL(p, "a regular expression without its closing slash"), 0;
  p->at = end;
  for (; tsl__scan_lower(tsl__scan_peek(p)); p->at++) {
    const char *found = memchr(letters, tsl__scan_peek(p), sizeof letters - 1);
    if (tsl__scan_peek(p) == 'l') return UNSUPPORTED(p, p->at, "the flag l is not supported"), 0;
    if (!found && tsl__scan_peek(p) != 'u') return FAIL(p, "the flags are i, m, s, u and x"), 0;
    if (found) flags |= bits[found - letters];
  }
  if (!(flags & TSL__LARK_X) && memchr(p->text + start, '\n', end - start))
    return FAIL_AT(p, start, "a regular expression of several lines needs the flag x"), 0;
  if (!tsl__lark_unescape(p->l, p->module, start + 1, (uint32_t)(end - start - 2), true, &first,
                          &count))
    return 0;
  if (!count) return FAIL_AT(p, start, "a regular expression of no characters"), 0;
  return tsl__lark_node(p->l, TSL__L_PATTERN, start, first, count, flags);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

typedef struct token_range {
  uint32_t low, high;
} token_range;
typedef TSL__VEC(token_range) token_ranges;

static int by_low(const void *a, const void *b) {
  uint32_t p = ((const token_range *)a)->low, q = ((const token_range *)b)->low;
  return (p > q) - (p < q);
}

/* The ids of sorted ranges, each once. */
static uint32_t token_set(tsl__lscan *p, uint32_t start, const token_ranges *r, bool negated) {
  TSL__VEC(tsl_token) ids = {0};
  const tsl_allocator *a = &p->l->alloc;
  uint32_t next = 0;
  bool fine = true;
  for (size_t i = 0; i < r->n; i++)
    for (uint32_t id = r->at[i].low > next ? r->at[i].low : next; fine && id <= r->at[i].high;
         next = ++id)
      fine = tsl__vec_push(a, &ids, id);
  if (!fine) tsl__lark_no_memory(p->l);
  bool some = fine && (!p->l->vocab || tsl__vocab_names_some(p->l->vocab, ids.at, ids.n, negated));
  tsl__expr e = some ? tsl__expr_token(p->l->x, ids.at, ids.n, negated) : TSL__NONE;
  uint32_t node = fine ? tsl__lark_node(p->l, TSL__L_TOKENS, start, e, 0, 0) : 0;
  tsl__vec_free(a, &ids);
  return node;
}

/* One id, or from - to; checked against the vocabulary. */
static bool token_range_of(tsl__lscan *p, token_range *r) {
  uint32_t at = (uint32_t)p->at;
  tsl__scan_skip(p, false);
  r->low = r->high = tsl__scan_number(p, "a token id", INT32_MAX);
  tsl__scan_skip(p, false);
  if (!tsl__scan_failed(p) && tsl__scan_take(p, '-')) {
    tsl__scan_skip(p, false);
    r->high = tsl__scan_number(p, "a token id", INT32_MAX);
    tsl__scan_skip(p, false);
  }
  if (tsl__scan_failed(p)) return false;
  if (r->high < r->low) return FAIL_AT(p, at, "a range of tokens from high to low");
  if (p->l->vocab && r->high >= tsl_vocab_size(p->l->vocab))
    return FAIL_AT(p, at, "the vocabulary has no token %u", r->high);
  if (r->high - r->low > TSL__LARK_TOKENS_MAX)
    return tsl__lark_fail(p->l, TSL_ERR_LIMIT, p->module, at, "too many tokens (limit %u)",
                          TSL__LARK_TOKENS_MAX);
  return true;
}

/* One token, or any but it. `nameless`: no token of these can stand in a text, so the node matches
 * nothing. */
static uint32_t single_token(tsl__lscan *p, uint32_t start, uint32_t id, bool negated) {
  const tsl_vocab *vocab = p->l->vocab;
  bool nameless = vocab && !tsl__vocab_names_some(vocab, &id, 1, negated);
  return tsl__lark_node(p->l, TSL__L_TOKEN, start, id, negated, nameless);
}

/* What stands in <[ ]>. */
static uint32_t token_ids(tsl__lscan *p, uint32_t start) {
  token_ranges all = {0};
  token_range r = {0, 0};
  bool negated = tsl__scan_take(p, '^'), fine = true;
  uint32_t node = 0;
  if (tsl__scan_take(p, '*')) {
    if (negated) FAIL_AT(p, start, "<[^*]> is no token at all");
    negated = true; /* any but none */
  } else {
    do {
      fine = token_range_of(p, &r) &&
             (tsl__vec_push(&p->l->alloc, &all, r) || tsl__lark_no_memory(p->l));
    } while (fine && tsl__scan_take(p, ','));
  }
  if (!tsl__scan_failed(p) && !tsl__scan_take_text(p, "]>")) FAIL(p, "a token id ends with ]>");
  if (!tsl__scan_failed(p) && all.n == 1 && r.low == r.high)
    node = single_token(p, start, r.low, negated);
  else if (!tsl__scan_failed(p)) {
    if (all.n) qsort(all.at, all.n, sizeof *all.at, by_low);
    node = token_set(p, start, &all, negated);
  }
  tsl__vec_free(&p->l->alloc, &all);
  return node;
}

uint32_t tsl__scan_token(tsl__lscan *p) {
  uint32_t start = (uint32_t)p->at++;
  tsl__exprs_name_tokens(p->l->x);
  if (tsl__scan_take(p, '[')) return token_ids(p, start);
  while (tsl__scan_peek(p) >= 0 && tsl__scan_peek(p) != '>' && tsl__scan_peek(p) != '\n') p->at++;
  if (!tsl__scan_take(p, '>')) return FAIL_AT(p, start, "a token without its '>'"), 0;
  uint32_t id = tsl__lark_token(p->l, p->module, start, (uint32_t)(p->at - start));
  return tsl__scan_failed(p) ? 0 : single_token(p, start, id, false);
}
