/* parse.c - the rules of an ABNF text to nodes.
 *
 * Problem   An ABNF text has no sign at the end of a rule: a rule goes on while lines are indented
 *           more than its first line. Names are the same in upper and lower case.
 * Idea      Space ends before a line that is indented no more than the rule's name, so that the
 *           parser sees the end of the rule there. RFC texts are often indented as a whole: the
 *           indentation of each rule is its own.
 * Core      Names without definition are looked up in the core rules, which stand behind the text
 *           in the same memory. Such a line is read like any other.
 * Example   The second line is indented more than the first, so rule a is "x" b:
 *              a = "x"
 *                  b
 *              b = %x30-39
 * Steps     Say that a stands behind 3 blanks, and the next b behind 7. `rule` reads the name a,
 *           and skip_lines returned 3. `alternation` reads "x". Then skip_space looks at the next
 *           line: 7 is more than 3, so the space is skipped, and b is another element. The line
 *           after it has 3 blanks: skip_space stands still at the end of the line, `element` finds
 *           nothing there, and the rule is over. Its body is a SEQ of "x" and a reference to b; an
 *           ALT of one item is that item. "x" without %s is a class of the two characters X and x.
 * Words     The signs of lists and the way to fail are those of compiler/gbnf/reader.h.
 * Failing   The first error sets r->in.status. Each function then returns node 0, the empty text,
 *           and reads no further.
 * Cost      Linear in the text. Letters of a string without %s are classes of two characters.
 * Tested by tests/abnf/test_abnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/abnf/reader.h"

#define peek(r) tsl__greader_peek(&(r)->in)
#define take(r, c) tsl__greader_take(&(r)->in, c)
#define over(r) tsl__greader_over(&(r)->in)
#define pend(r, node) tsl__greader_pend(&(r)->in, node)
#define collect(r, kind, base) tsl__greader_collect(&(r)->in, kind, base)
#define is_digit tsl__greader_is_digit
#define is_letter tsl__greader_is_letter
#define is_line_end tsl__greader_is_line_end
#define FAIL(r, offset, ...) TSL__G_FAIL(&(r)->in, offset, __VA_ARGS__)

/* ---- space ----------------------------------------------------------------------------------- */

/* Blanks, and a comment. */
static void skip_blanks(tsl__abnf *r) {
  size_t start = r->in.at;
  while (peek(r) == ' ' || peek(r) == '\t') r->in.at++;
  if (peek(r) == ';')
    while (peek(r) >= 0 && !is_line_end(peek(r))) r->in.at++;
  tsl__exprs_work(r->in.x, (r->in.at - start) / 16 + 1);
}

/* Ends of lines, comments, and the blanks before the next word, whose column it returns. */
static size_t skip_lines(tsl__abnf *r) {
  for (;;) {
    size_t line = r->in.at;
    skip_blanks(r);
    if (!is_line_end(peek(r))) return r->in.at - line;
    r->in.at++;
  }
}

/* All space within a rule: it ends before a line that is indented no more than the rule. */
static void skip_space(tsl__abnf *r) {
  skip_blanks(r);
  size_t end = r->in.at;
  if (!is_line_end(peek(r))) return;
  if (skip_lines(r) <= r->indent || peek(r) < 0) r->in.at = end;
}

/* ---- names ----------------------------------------------------------------------------------- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static size_t name_length(const tsl__abnf *r) {
  size_t end = r->in.at;
  if (!is_letter(peek(r))) return 0;
  while (end < r->in.length && (is_letter((unsigned char)r->in.text[end]) ||
                                is_digit((unsigned char)r->in.text[end]) || r->in.text[end] == '-'))
    end++;
  return end - r->in.at;
}

/* ---- characters ------------------------------------------------------------------------------ */

static uint32_t character_class(tsl__abnf *r, uint32_t low, uint32_t high) {
  tsl__gbnf *g = r->in.g;
  if (over(r) || !tsl__vec_push(&g->alloc, &g->ranges, ((tsl__range){low, high})))
    return tsl__greader_no_memory(&r->in), 0;
  return tsl__gbnf_node(g, TSL__G_CLASS, (uint32_t)g->ranges.n - 1, 1, 0);
}

/* A letter in upper and lower case. */
static uint32_t either_case(tsl__abnf *r, char c) {
  tsl__gbnf *g = r->in.g;
  uint32_t first = (uint32_t)g->ranges.n, small = (uint8_t)lower(c), large = small - 32;
  if (!tsl__vec_push(&g->alloc, &g->ranges, ((tsl__range){large, large})) ||
      !tsl__vec_push(&g->alloc, &g->ranges, ((tsl__range){small, small})))
    return tsl__greader_no_memory(&r->in), 0;
  return tsl__gbnf_node(g, TSL__G_CLASS, first, 2, 0);
}

/* Letters in either case, and what stands between them. */
static uint32_t any_case(tsl__abnf *r, const char *at, size_t n) {
  size_t base = r->in.pending.n;
  for (size_t i = 0, end; i < n && !over(r); i = end) {
    for (end = i; end < n && !is_letter((unsigned char)at[end]);) end++;
    if (end > i && !pend(r, tsl__greader_bytes(&r->in, at + i, end - i))) break;
    if (end < n && !pend(r, either_case(r, at[end]))) break;
    if (end < n) end++;
  }
  return collect(r, TSL__G_SEQ, base);
}

/* "text" */
static uint32_t quoted(tsl__abnf *r, bool exact) {
  size_t start = r->in.at++, end;
  while (peek(r) >= ' ' && peek(r) <= '~' && peek(r) != '"') r->in.at++;
  end = r->in.at;
  if (!take(r, '"'))
    return FAIL(r, peek(r) < 0 || is_line_end(peek(r)) ? start : r->in.at,
                peek(r) < 0 || is_line_end(peek(r))
                    ? "a string without its closing quote on the same line"
                    : "a string holds printable ASCII alone; write %%x with the code point"),
           0;
  tsl__exprs_work(r->in.x, (end - start) / 8);
  return exact ? tsl__greader_bytes(&r->in, r->in.text + start + 1, end - start - 1)
               : any_case(r, r->in.text + start + 1, end - start - 1);
}

static uint32_t number(tsl__abnf *r, uint32_t base) {
  size_t start = r->in.at;
  uint32_t value = 0;
  for (;; r->in.at++) {
    int c = peek(r), d = c < 0 ? -1 : tsl__hex_value((uint8_t)c);
    if (d < 0 || (uint32_t)d >= base) break;
    value = value > TSL__CP_MAX ? value : value * base + (uint32_t)d;
  }
  if (r->in.at == start) FAIL(r, start, "expected a number of base %u", base);
  if (value > TSL__CP_MAX) FAIL(r, start, "a number above 10FFFF (hexadecimal) is no character");
  return value;
}

static uint32_t one_character(tsl__abnf *r, uint32_t cp, size_t at) {
  if (cp >= 0xD800 && cp <= 0xDFFF) FAIL(r, at, "a surrogate is no character");
  return over(r) ? 0 : character_class(r, cp, cp);
}

/* %x41  %x41-5A  %x48.54, at the letter. */
static uint32_t numbers(tsl__abnf *r) {
  size_t start = r->in.at - 1, base = r->in.pending.n;
  char kind = lower(r->in.text[r->in.at++]);
  uint32_t of = kind == 'x' ? 16 : kind == 'd' ? 10 : 2, low = number(r, of);
  if (r->in.status) return 0;
  if (take(r, '-')) {
    uint32_t high = number(r, of);
    if (!r->in.status && high < low) FAIL(r, start, "a range from high to low");
    return over(r) ? 0 : character_class(r, low, high);
  }
  if (peek(r) != '.') return one_character(r, low, start);
  if (!pend(r, one_character(r, low, start))) return 0;
  while (!over(r) && take(r, '.')) {
    size_t at = r->in.at;
    uint32_t cp = number(r, of);
    if (!pend(r, one_character(r, cp, at))) break;
  }
  return collect(r, TSL__G_SEQ, base);
}

/* Behind '%'. */
static uint32_t percent(tsl__abnf *r) {
  size_t start = r->in.at++;
  int c = peek(r) < 0 ? -1 : lower((char)peek(r));
  if (c == 'x' || c == 'd' || c == 'b') return numbers(r);
  if ((c == 's' || c == 'i') && r->in.at + 1 < r->in.length && r->in.text[r->in.at + 1] == '"') {
    r->in.at++;
    return quoted(r, c == 's');
  }
  FAIL(r, start, "behind %% stands x, d or b with a number, or s or i with a string");
  return 0;
}

/* ---- structure ------------------------------------------------------------------------------- */

static uint32_t alternation(tsl__abnf *r, uint32_t depth);

static uint32_t group(tsl__abnf *r, uint32_t depth, char close) {
  size_t start = r->in.at++;
  if (depth >= r->in.max_depth)
    return tsl__greader_limit(&r->in, start, "nesting is too deep", r->in.max_depth), 0;
  uint32_t node = alternation(r, depth + 1);
  if (!r->in.status && !take(r, close))
    FAIL(r, peek(r) < 0 || is_line_end(peek(r)) ? start : r->in.at,
         peek(r) < 0 || is_line_end(peek(r)) ? "a group without its '%c'"
                                             : "expected an element, '/' or '%c'",
         close);
  return node;
}

static uint32_t prose(tsl__abnf *r) {
  size_t start = r->in.at, end = start;
  while (end < r->in.length && r->in.text[end] != '>' && !is_line_end(r->in.text[end])) end++;
  size_t n = end - start + 1;
  TSL__G_FAIL_AS(&r->in, TSL_ERR_UNSUPPORTED, start,
                 "%.*s is prose, which no program understands: write a rule in its place",
                 (int)(n < 100 ? n : 100), r->in.text + start);
  return 0;
}

/* *none: there is no element here. */
static uint32_t element(tsl__abnf *r, uint32_t depth, bool *none) {
  size_t length = name_length(r);
  *none = false;
  if (length) return tsl__greader_reference(&r->in, length);
  switch (peek(r)) {
  case '"': return quoted(r, false);
  case '%': return percent(r);
  case '(': return group(r, depth, ')');
  case '<': return prose(r);
  case '[': {
    uint32_t node = group(r, depth, ']');
    return node && !over(r) ? tsl__gbnf_node(r->in.g, TSL__G_REPEAT, node, 0, 1) : 0;
  }
  default: *none = true; return 0;
  }
}

static uint32_t count(tsl__abnf *r) {
  return tsl__greader_number(&r->in, "a repeat count", TSL__GBNF_REPEAT_MAX);
}

/* 2*5element */
static uint32_t repetition(tsl__abnf *r, uint32_t depth, bool *none) {
  size_t start = r->in.at;
  bool counted = is_digit(peek(r)) || peek(r) == '*';
  uint32_t min = is_digit(peek(r)) ? count(r) : 0, max = min;
  if (counted && take(r, '*')) max = is_digit(peek(r)) ? count(r) : TSL__INF;
  if (r->in.status) return 0;
  uint32_t node = element(r, depth, none);
  if (!counted) return node;
  if (*none && !r->in.status)
    FAIL(r, r->in.at, "a repeat stands right before an element, without a space");
  return tsl__greader_repeat(&r->in, start, node, min, max);
}

static uint32_t concatenation(tsl__abnf *r, uint32_t depth) {
  size_t base = r->in.pending.n, start = r->in.at;
  bool any = false;
  while (!over(r)) {
    bool none;
    uint32_t node = repetition(r, depth, &none);
    if (none || r->in.status) break;
    any = true;
    if (node && !pend(r, node)) break;
    skip_space(r);
  }
  if (!any && !r->in.status) FAIL(r, start, "expected an element: a name, a string, %%x41, ( or [");
  return collect(r, TSL__G_SEQ, base);
}

static uint32_t alternation(tsl__abnf *r, uint32_t depth) {
  size_t base = r->in.pending.n;
  do skip_space(r);
  while (pend(r, concatenation(r, depth)) && take(r, '/'));
  return collect(r, TSL__G_ALT, base);
}

/* The body of a rule, which may have one already (=/). */
static void define(tsl__abnf *r, uint32_t rule, size_t start, bool adds) {
  const tsl__grule *u = &r->in.g->rules.at[rule];
  uint32_t line = u->line;
  if (adds && !line)
    FAIL(r, start, "rule \"%.*s\" is not defined yet, so =/ adds to nothing",
         (int)(u->name_length < 100 ? u->name_length : 100), u->name);
  if (!adds) tsl__greader_is_new(&r->in, rule, start, "; =/ adds alternatives");
  if (r->in.status) return;
  uint32_t body = alternation(r, 0);
  if (over(r)) return;
  if (adds)
    body = tsl__gbnf_list(r->in.g, TSL__G_ALT, (uint32_t[]){r->in.g->rules.at[rule].body, body}, 2);
  tsl__greader_define(&r->in, rule, start, body);
  if (adds) r->in.g->rules.at[rule].line = line;
  if (r->in.g->nodes.at[body].height > 4 * r->in.max_depth)
    tsl__greader_limit(&r->in, start, "a rule has too many =/, or nests too deep", r->in.max_depth);
  if (!r->in.status && peek(r) >= 0 && !is_line_end(peek(r)))
    FAIL(r, r->in.at,
         peek(r) == ')' || peek(r) == ']' ? "a closing bracket without its opening one"
                                          : "expected an element, '/' or the end of the line");
}

static void rule(tsl__abnf *r) {
  size_t start = r->in.at, length = name_length(r);
  if (!length) {
    FAIL(r, start, "expected the name of a rule, which begins with a letter");
    return;
  }
  uint32_t number = tsl__greader_mention(&r->in, length);
  skip_space(r);
  if (!r->in.status && !take(r, '='))
    FAIL(r, r->in.at, "expected '=' or '=/' behind the name of a rule");
  bool adds = !r->in.status && take(r, '/');
  if (!r->in.status) define(r, number, start, adds);
}

/* Reads on to the core rule of that name; false: there is none. */
static bool find_core(tsl__abnf *r, const tsl__grule *u) {
  const tsl__gbnf *g = r->in.g;
  for (r->in.at = r->in.own; r->in.at < r->in.length;) {
    size_t length = name_length(r);
    if (length == u->name_length &&
        tsl__gbnf_find(g, r->in.text + r->in.at, length) == (uint32_t)(u - g->rules.at))
      return true;
    while (r->in.at < r->in.length && r->in.text[r->in.at++] != '\n') continue;
  }
  return false;
}

/* Names that are left: core rules, which may name others. */
static void define_rest(tsl__abnf *r) {
  for (uint32_t i = 0; i < r->in.g->rules.n && !over(r); i++) {
    const tsl__grule *u = &r->in.g->rules.at[i];
    if (u->line) continue;
    r->indent = 0;
    if (find_core(r, u))
      rule(r);
    else
      tsl__greader_undefined(&r->in, u);
  }
}

/* The grammar alone is read first: the core rules behind it are out of sight. */
void tsl__abnf_parse(tsl__abnf *r) {
  while (!over(r)) {
    r->indent = skip_lines(r);
    if (peek(r) < 0) break;
    rule(r);
  }
  if (!r->in.status && !r->in.g->rules.n) FAIL(r, r->in.at, "a grammar without rules");
  r->in.length = r->in.g->length; /* core rules and all */
  define_rest(r);
}
