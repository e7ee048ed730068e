/* scan.c - space, names and sets of tokens of an EBNF text, and its report.
 *
 * Problem   A name of EBNF may have dots, and begin with '-'. Whether it begins a rule shows only
 *           behind it, where `::=` follows, with or without options in brackets.
 * Idea      One function for each. compiler/gbnf/reader.h reads the words that EBNF shares
 *           with GBNF.
 * Example   root[capture="a]b"] ::= "x". Before `root`, past_options reads over the brackets. The
 *           ']' in the quoted name does not end them. Then `::=` stands there: a rule begins.
 * Tokens    Ids that are listed are sorted, and each counts once. Where no text can have any of
 *           them, the node matches nothing.
 * Cost      Linear in the text. A look whether a name begins a rule reads on to the `::=`.
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/ebnf/reader.h"
#include "runtime/vocab/vocab.h"

#define take tsl__ebnf_take
#define FAIL TSL__EBNF_FAIL

/* ---- the report ------------------------------------------------------------------------------ */

static bool put(tsl__ebnf *r, const char *text, size_t n) {
  if (!tsl__vec_reserve(&r->in.alloc, &r->report, n)) return tsl__ebnf_no_memory(r), false;
  memcpy(r->report.at + r->report.n, text, n);
  r->report.n += n;
  return true;
}

void tsl__ebnf_note(tsl__ebnf *r, size_t at, const char *keyword, const char *reason) {
  char text[320];
  tsl_error place;
  if (r->in.status || !r->options->report) return;
  tsl__fail_at(&place, TSL_OK, r->in.text, r->in.length, at, "%s", "");
  int n = snprintf(text, sizeof text,
                   "%s{\"pointer\": \"\", \"keyword\": \"%s\", \"status\": \"no effect\", "
                   "\"reason\": \"line %u, column %u: %s\"}",
                   r->report.n ? ", " : "", keyword, place.line, place.column, reason);
  put(r, text, (size_t)n);
}

/* ---- space and names ------------------------------------------------------------------------- */

static bool is_name(int c, bool first) {
  return tsl__greader_is_letter(c) || c == '_' || c == '-' || c == '.' ||
         (!first && tsl__greader_is_digit(c));
}

static size_t past_space(const tsl__ebnf *r, size_t at) {
  for (; at < r->in.length; at++) {
    char c = r->in.text[at];
    if (c == '#')
      while (at + 1 < r->in.length && r->in.text[at + 1] != '\n' && r->in.text[at + 1] != '\r')
        at++;
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      break;
  }
  return at;
}

void tsl__ebnf_space(tsl__ebnf *r) {
  size_t end = past_space(r, r->in.at);
  tsl__exprs_work(r->in.x, (end - r->in.at) / 16 + 1);
  r->in.at = end;
}

bool tsl__ebnf_expect(tsl__ebnf *r, int c, const char *what) {
  tsl__ebnf_space(r);
  if (tsl__ebnf_over(r)) return false;
  if (!take(r, c)) return FAIL(r, r->in.at, "expected '%c' %s", c, what), false;
  tsl__ebnf_space(r);
  return true;
}

static size_t name_end(const tsl__ebnf *r, size_t at) {
  size_t end = at;
  while (end < r->in.length && is_name((unsigned char)r->in.text[end], end == at)) end++;
  return end;
}

size_t tsl__ebnf_name(const tsl__ebnf *r) { return name_end(r, r->in.at) - r->in.at; }

bool tsl__ebnf_take_name(tsl__ebnf *r, const char *name) {
  size_t length = tsl__ebnf_name(r);
  if (length != strlen(name) || memcmp(r->in.text + r->in.at, name, length) != 0) return false;
  r->in.at += length;
  return true;
}

/* Behind [ … ] on one line, quoted text in it skipped; `at` itself where there are no brackets. */
static size_t past_options(const tsl__ebnf *r, size_t at) {
  bool quoted = false;
  if (at >= r->in.length || r->in.text[at] != '[') return at;
  for (size_t i = at + 1; i < r->in.length && r->in.text[i] != '\n' && r->in.text[i] != '\r'; i++) {
    if (r->in.text[i] == '"') quoted = !quoted;
    if (r->in.text[i] == ']' && !quoted) return i + 1;
  }
  return at;
}

bool tsl__ebnf_begins_rule(tsl__ebnf *r) {
  size_t end = past_space(r, past_options(r, name_end(r, r->in.at)));
  tsl__exprs_work(r->in.x, (end - r->in.at) / 16 + 1);
  return end + 3 <= r->in.length && !memcmp(r->in.text + end, "::=", 3);
}

uint32_t tsl__ebnf_mention(tsl__ebnf *r) {
  size_t start = r->in.at, length = tsl__ebnf_name(r);
  if (!length) return FAIL(r, start, "expected the name of a rule"), 0;
  return tsl__greader_mention(&r->in, length);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
  tsl_token x = *(const tsl_token *)a, y = *(const tsl_token *)b;
  return (x > y) - (x < y);
}

void tsl__ebnf_add_token(tsl__ebnf *r, tsl_token id) {
  if (!tsl__ebnf_over(r) && !tsl__vec_push(&r->in.alloc, &r->tokens, id)) tsl__ebnf_no_memory(r);
}

uint32_t tsl__ebnf_tokens(tsl__ebnf *r, bool others) {
  size_t n = 0;
  if (tsl__ebnf_over(r)) return 0;
  if (r->tokens.n) qsort(r->tokens.at, r->tokens.n, sizeof *r->tokens.at, by_id);
  for (size_t i = 0; i < r->tokens.n; i++)
    if (!n || r->tokens.at[n - 1] != r->tokens.at[i]) r->tokens.at[n++] = r->tokens.at[i];
  tsl__exprs_name_tokens(r->in.x);
  bool some = !r->in.vocab || tsl__vocab_names_some(r->in.vocab, r->tokens.at, n, others);
  tsl__expr e = some ? tsl__expr_token(r->in.x, r->tokens.at, n, others) : TSL__NONE;
  r->tokens.n = 0;
  return tsl__ebnf_over(r) ? 0 : tsl__gbnf_node(r->in.g, TSL__G_TOKENS, e, 0, 0);
}
