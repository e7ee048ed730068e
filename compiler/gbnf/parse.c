/* parse.c - GBNF text to nodes.
 *
 * Problem   A line end ends a rule, but not within parentheses, nor after a `|`, nor before one.
 * Idea      GBNF is a dialect of reader.h, which reads words, groups and lists. This file has the
 *           functions for white space, escapes and items, and for how a rule begins and ends.
 * Example   root ::= "a"
 *                  | b            rule root goes on: a line may begin with '|'
 *           b ::= ("x"
 *                  "y")           and a group may have more than one line
 *           After "a" the reader is at the end of a line. tsl__greader_alternatives looks past it
 *           for a '|', finds one, and goes on. After `b` it finds none, goes back to the end of the
 *           line, and `rule` finds the rule over there.
 * Tokens    No text can have a token that ends a generation, or one without bytes. The first such
 *           token is remembered. If the root then matches nothing, the message names the token.
 * Cost      Linear in the text.
 * Tested by tests/gbnf/test_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf/reader.h"
#include "runtime/vocab/vocab.h"

#define peek tsl__greader_peek
#define take tsl__greader_take
#define FAIL TSL__G_FAIL

static size_t word_length(const tsl__greader *r) {
  size_t end = r->at;
  for (; end < r->length; end++) {
    int c = (unsigned char)r->text[end];
    if (!tsl__greader_is_letter(c) && !tsl__greader_is_digit(c) && c != '-' && c != '_') break;
  }
  return end - r->at;
}

/* ---- the dialect ----------------------------------------------------------------------------- */

static void space(tsl__greader *r, bool lines) {
  for (int c;
       (c = peek(r)) == ' ' || c == '\t' || c == '#' || (lines && tsl__greader_is_line_end(c));) {
    r->at++;
    while (c == '#' && peek(r) >= 0 && !tsl__greader_is_line_end(peek(r))) r->at++;
  }
}

static uint32_t escape(tsl__greader *r, size_t start, int c) {
  switch (c) {
  case 'x': return tsl__greader_hex(r, start, 2, 2);
  case 'u': return tsl__greader_hex(r, start, 4, 4);
  case 'U': return tsl__greader_hex(r, start, 8, 8);
  case 'n': return '\n';
  case 'r': return '\r';
  case 't': return '\t';
  case '\\':
  case '"':
  case '[':
  case ']':
  case '-': return (uint32_t)c;
  default: FAIL(r, start, "an unknown escape"); return 0;
  }
}

static uint32_t token(tsl__greader *r) {
  tsl__gbnf *g = r->g;
  bool others;
  size_t start = r->at + (peek(r) == '!');
  tsl_token id = tsl__greader_token(r, &others);
  tsl__exprs_name_tokens(r->x);
  if (r->status) return 0;
  bool nameless = r->vocab && !tsl__vocab_names_some(r->vocab, &id, 1, others);
  if (nameless && !g->nameless) {
    g->nameless = true;
    g->nameless_token = id;
    g->nameless_at = start;
  }
  return tsl__gbnf_node(g, TSL__G_TOKEN, id, others, nameless);
}

static uint32_t item(tsl__greader *r, uint32_t depth, bool *none) {
  size_t length = word_length(r);
  *none = false;
  if (length) return tsl__greader_reference(r, length);
  switch (peek(r)) {
  case '"': return tsl__greader_literal(r);
  case '[': return tsl__greader_class(r);
  case '(': return tsl__greader_group(r, depth);
  case '<':
  case '!': return token(r);
  case '.': r->at++; return tsl__gbnf_node(r->g, TSL__G_ANY, 0, 0, 0);
  default: *none = true; return 0;
  }
}

static const tsl__gdialect gbnf = {.escape = escape, .space = space, .item = item};

/* ---- rules ----------------------------------------------------------------------------------- */

static void rule(tsl__greader *r) {
  size_t start = r->at, length = word_length(r);
  if (!length) {
    FAIL(r, start, "expected the name of a rule");
    return;
  }
  uint32_t number = tsl__greader_mention(r, length);
  tsl__greader_is_new(r, number, start, "");
  space(r, false);
  if (!r->status && (r->length - r->at < 3 || memcmp(r->text + r->at, "::=", 3)))
    FAIL(r, r->at, "expected ::=");
  if (r->status) return;
  r->at += 3;
  space(r, true);
  tsl__greader_define(r, number, start, tsl__greader_alternatives(r, 0));
  int c = peek(r);
  if (!r->status && c >= 0 && !tsl__greader_is_line_end(c))
    FAIL(r, r->at,
         c == ')' ? "')' without its '('" : "expected an item, '|' or the end of the line");
}

tsl_status tsl__gbnf_parse(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                           uint32_t max_depth, tsl__gbnf **out, tsl_error *error) {
  tsl__greader r = {.x = x, .vocab = vocab, .dialect = &gbnf, .error = error};
  if (tsl__greader_begin(&r, text, length, "", max_depth)) {
    for (space(&r, true); !tsl__greader_over(&r) && r.at < r.length; space(&r, true)) rule(&r);
    tsl__greader_all_defined(&r);
  }
  tsl__greader_end(&r);
  *out = r.g;
  return r.status;
}
