/* parse.c - the rules of an EBNF text to nodes.
 *
 * Problem   An end of a line says nothing in EBNF, so a rule ends where the next one begins.
 * Idea      EBNF is a dialect of compiler/gbnf/reader.h, which reads words, groups and lists.
 *           Before each name the dialect looks whether the name begins a rule; then it is no item.
 * Example   a ::= "x"          rule a is "x" b: the name b begins no rule,
 *             b                the name c does
 *           c ::= "y"
 * Steps     After "x" the parser stands before b. tsl__ebnf_begins_rule reads past b and the space
 *           behind it, finds c instead of `::=`, and says no: b is an item. Before c it finds
 *           `::=` behind the name, so the sequence ends, and the rule with it.
 * Letters   The escapes are not those of GBNF. "\x416" is one character, as hexadecimal digits are
 *           read as long as there are some, and "\0" is NUL. A class may be empty.
 * Look-ahead (= …) is read as a group whose node nobody uses.
 * Cost      Linear in the text. A name is read twice: once for the look ahead, once as itself.
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/reader.h"

#define peek tsl__ebnf_peek
#define take tsl__ebnf_take
#define FAIL TSL__EBNF_FAIL

static bool is_look_ahead(const tsl__ebnf *r) {
  return peek(r) == '(' && r->in.at + 1 < r->in.length && r->in.text[r->in.at + 1] == '=';
}

/* ---- the dialect ----------------------------------------------------------------------------- */

static uint32_t escape(tsl__greader *r, size_t start, int c) {
  static const char letters[] = "nrtbfav0e", values[] = "\n\r\t\b\f\a\v\0\x1b";
  const char *letter = c > 0 ? memchr(letters, c, sizeof letters - 1) : NULL;
  if (letter) return (uint8_t)values[letter - letters];
  if (c == 'x') return tsl__greader_hex(r, start, 1, UINT32_MAX);
  if (c == 'u') return tsl__greader_hex(r, start, 4, 4);
  if (c == 'U') return tsl__greader_hex(r, start, 8, 8);
  if (c > 0 && strchr("\"'\\?/^$.*+()[]{}|-", c)) return (uint32_t)c;
  if (c > 0 && strchr("dDsSwW", c))
    TSL__G_FAIL(r, start, "\\%c stands in Regex(\"...\") only; write the characters as a class", c);
  else
    TSL__G_FAIL(r, start, "an unknown escape");
  return 0;
}

static void space(tsl__greader *r, bool lines) {
  (void)lines; /* an end of a line is space everywhere */
  tsl__ebnf_space((tsl__ebnf *)r);
}

static uint32_t named(tsl__ebnf *r) {
  uint32_t node;
  if (tsl__ebnf_macro(r, &node)) return node;
  size_t length = tsl__ebnf_name(r);
  if (length != 1 || peek(r) != '.' || tsl__gbnf_find(r->in.g, ".", 1) != UINT32_MAX)
    return tsl__greader_reference(&r->in, length);
  r->in.at++;
  return tsl__gbnf_node(r->in.g, TSL__G_ANY, 0, 0, 0);
}

static uint32_t token(tsl__ebnf *r) {
  bool others;
  tsl__ebnf_add_token(r, tsl__greader_token(&r->in, &others));
  return tsl__ebnf_tokens(r, others);
}

static uint32_t item(tsl__greader *in, uint32_t depth, bool *none) {
  tsl__ebnf *r = (tsl__ebnf *)in;
  int c = peek(r);
  *none = false;
  if (c == '"') return tsl__greader_literal(in);
  if (c == '[') return tsl__greader_class(in);
  if (c == '(' && !is_look_ahead(r)) return tsl__greader_group(in, depth);
  if (c == '<' || c == '!') return token(r);
  if (tsl__ebnf_name(r) && !tsl__ebnf_begins_rule(r)) return named(r);
  if (depth && is_look_ahead(r))
    FAIL(r, in->at, "a look-ahead (= ...) stands at the end of a rule, in no group");
  *none = true;
  return 0;
}

const tsl__gdialect tsl__ebnf_dialect = {.escape = escape,
                                         .space = space,
                                         .item = item,
                                         .one_line = true,
                                         .empty_class = true,
                                         .minus_one = true};

/* ---- rules ----------------------------------------------------------------------------------- */

static void look_ahead(tsl__ebnf *r) {
  size_t start = r->in.at;
  if (r->in.status || !is_look_ahead(r)) return;
  r->in.at += 2;
  tsl__greader_alternatives(&r->in, 1);
  if (!r->in.status && !take(r, ')')) FAIL(r, start, "a look-ahead without its ')'");
  tsl__ebnf_note(r, start, "(=", "a look-ahead is a promise that no text is checked for");
  tsl__ebnf_space(r);
}

static void rule(tsl__ebnf *r) {
  size_t start = r->in.at, before = start;
  if (!tsl__ebnf_name(r) || !tsl__ebnf_begins_rule(r)) {
    FAIL(r, start, "expected a rule: a name and ::=");
    return;
  }
  while (before && (r->in.text[before - 1] == ' ' || r->in.text[before - 1] == '\t')) before--;
  if (before && !tsl__greader_is_line_end(r->in.text[before - 1]))
    FAIL(r, start, "a rule begins a line of its own");
  uint32_t number = tsl__ebnf_mention(r);
  if (!tsl__greader_is_new(&r->in, number, start, "")) return;
  if (peek(r) == '[') tsl__ebnf_options_read(r, number);
  tsl__ebnf_space(r);
  if (r->in.status) return;
  r->in.at += 3; /* ::= */
  uint32_t body = tsl__greader_alternatives(&r->in, 0);
  look_ahead(r);
  tsl__greader_define(&r->in, number, start, body);
}

void tsl__ebnf_parse(tsl__ebnf *r) {
  tsl__ebnf_space(r);
  while (!tsl__ebnf_over(r) && r->in.at < r->in.length) {
    rule(r);
    tsl__ebnf_space(r);
    int c = peek(r);
    if (!r->in.status && c >= 0 && !tsl__ebnf_name(r))
      FAIL(r, r->in.at, c == ')' ? "')' without its '('" : "expected an item, '|' or a rule");
  }
  tsl__greader_all_defined(&r->in);
}
