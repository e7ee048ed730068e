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
 * Failing   The first error sets r->status. Each function then returns node 0, the empty text, and
 *           reads no further.
 * Cost      Linear in the text. Letters of a string without %s are classes of two characters.
 * Tested by tests/abnf/test_abnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/abnf/reader.h"

#define FAIL_AS(r, kind, offset, ...)                                        \
  ((r)->status = (r)->status                                                 \
                     ? (r)->status                                           \
                     : tsl__fail_at((r)->error, (kind), (r)->text, (r)->own, \
                                    (offset) < (r)->own ? (offset) : (r)->own, __VA_ARGS__))
#define FAIL(r, offset, ...) FAIL_AS(r, TSL_ERR_SYNTAX, offset, __VA_ARGS__)

static void fail_limit(tsl__abnf *r, size_t offset, const char *what, unsigned limit) {
  FAIL_AS(r, TSL_ERR_LIMIT, offset, "%s (limit %u)", what, limit);
}

static void no_memory(tsl__abnf *r) {
  if (!r->status) r->status = tsl__fail(r->error, TSL_ERR_NO_MEMORY, "out of memory");
}

/* Is there no sense in going on? Then r->status is set. */
static bool over(tsl__abnf *r) {
  if (!r->status && tsl__gbnf_failed(r->g)) r->status = tsl__gbnf_failure(r->g, r->error);
  return r->status != TSL_OK;
}

/* ---- space ----------------------------------------------------------------------------------- */

static int peek(const tsl__abnf *r) {
  return r->at < r->length ? (unsigned char)r->text[r->at] : -1;
}
static bool take(tsl__abnf *r, int c) { return peek(r) == c && c >= 0 && (r->at++, true); }
static bool is_line_end(int c) { return c == '\n' || c == '\r'; }

/* Blanks, and a comment. */
static void skip_blanks(tsl__abnf *r) {
  size_t start = r->at;
  while (peek(r) == ' ' || peek(r) == '\t') r->at++;
  if (peek(r) == ';')
    while (peek(r) >= 0 && !is_line_end(peek(r))) r->at++;
  tsl__exprs_work(r->x, (r->at - start) / 16 + 1);
}

/* Ends of lines, comments, and the blanks before the next word, whose column it returns. */
static size_t skip_lines(tsl__abnf *r) {
  for (;;) {
    size_t line = r->at;
    skip_blanks(r);
    if (!is_line_end(peek(r))) return r->at - line;
    r->at++;
  }
}

/* All space within a rule: it ends before a line that is indented no more than the rule. */
static void skip_space(tsl__abnf *r) {
  skip_blanks(r);
  size_t end = r->at;
  if (!is_line_end(peek(r))) return;
  if (skip_lines(r) <= r->indent || peek(r) < 0) r->at = end;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static size_t name_length(const tsl__abnf *r) {
  size_t end = r->at;
  if (!is_letter(peek(r))) return 0;
  while (end < r->length && (is_letter((unsigned char)r->text[end]) ||
                             is_digit((unsigned char)r->text[end]) || r->text[end] == '-'))
    end++;
  return end - r->at;
}

static bool same_name(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

static uint64_t hash_of(const char *name, size_t length) {
  uint64_t h = length;
  for (size_t i = 0; i < length; i++) h = tsl__mix(h ^ (uint8_t)lower(name[i]));
  return h;
}

uint32_t tsl__abnf_find(const tsl__abnf *r, const char *name, size_t length) {
  tsl__index_iter it = tsl__index_first(&r->names, hash_of(name, length));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__grule *u = &r->g->rules.at[i];
    if (u->name_length == length && same_name(u->name, name, length)) return i;
  }
  return UINT32_MAX;
}

/* The rule of the name here, added if it is new; read over. */
static uint32_t mention(tsl__abnf *r, size_t length) {
  size_t start = r->at;
  tsl__gbnf *g = r->g;
  const char *name = r->text + start;
  r->at += length;
  uint32_t rule = tsl__abnf_find(r, name, length);
  if (rule != UINT32_MAX || over(r)) return over(r) ? 0 : rule;
  tsl__grule made = {.name = name,
                     .name_length = (uint32_t)length,
                     .offset = (uint32_t)(start < r->own ? start : 0),
                     .cycle = TSL__G_NO_CYCLE,
                     .component = UINT32_MAX};
  if (!tsl__vec_push(&g->alloc, &g->rules, made) ||
      !tsl__index_add(&r->names, &r->alloc, hash_of(name, length), (uint32_t)g->rules.n - 1))
    return no_memory(r), 0;
  return (uint32_t)g->rules.n - 1;
}

/* ---- characters ------------------------------------------------------------------------------ */

static uint32_t character_class(tsl__abnf *r, uint32_t low, uint32_t high) {
  tsl__gbnf *g = r->g;
  if (over(r) || !tsl__vec_push(&g->alloc, &g->ranges, ((tsl__range){low, high})))
    return no_memory(r), 0;
  return tsl__gbnf_node(g, TSL__G_CLASS, (uint32_t)g->ranges.n - 1, 1, 0);
}

/* A letter in upper and lower case. */
static uint32_t either_case(tsl__abnf *r, char c) {
  tsl__gbnf *g = r->g;
  uint32_t first = (uint32_t)g->ranges.n, small = (uint8_t)lower(c), large = small - 32;
  if (!tsl__vec_push(&g->alloc, &g->ranges, ((tsl__range){large, large})) ||
      !tsl__vec_push(&g->alloc, &g->ranges, ((tsl__range){small, small})))
    return no_memory(r), 0;
  return tsl__gbnf_node(g, TSL__G_CLASS, first, 2, 0);
}

static uint32_t literal(tsl__abnf *r, const char *at, size_t n) {
  tsl__gbnf *g = r->g;
  uint32_t first = (uint32_t)g->bytes.n;
  for (size_t i = 0; i < n && !over(r); i++)
    if (!tsl__vec_push(&g->alloc, &g->bytes, (uint8_t)at[i])) no_memory(r);
  return over(r) || !n ? 0 : tsl__gbnf_node(g, TSL__G_LITERAL, first, (uint32_t)n, 0);
}

static bool pend(tsl__abnf *r, uint32_t node) {
  if (!over(r) && !tsl__vec_push(&r->alloc, &r->pending, node)) no_memory(r);
  return !r->status;
}

static uint32_t collect(tsl__abnf *r, tsl__gkind kind, size_t base) {
  const uint32_t *items = r->pending.n > base ? r->pending.at + base : NULL;
  uint32_t node =
      r->status ? 0 : tsl__gbnf_list(r->g, kind, items, (uint32_t)(r->pending.n - base));
  r->pending.n = base;
  return over(r) ? 0 : node;
}

/* Letters in either case, and what stands between them. */
static uint32_t any_case(tsl__abnf *r, const char *at, size_t n) {
  size_t base = r->pending.n;
  for (size_t i = 0, end; i < n && !over(r); i = end) {
    for (end = i; end < n && !is_letter((unsigned char)at[end]);) end++;
    if (end > i && !pend(r, literal(r, at + i, end - i))) break;
    if (end < n && !pend(r, either_case(r, at[end]))) break;
    if (end < n) end++;
  }
  return collect(r, TSL__G_SEQ, base);
}

/* "text" */
static uint32_t quoted(tsl__abnf *r, bool exact) {
  size_t start = r->at++, end;
  while (peek(r) >= ' ' && peek(r) <= '~' && peek(r) != '"') r->at++;
  end = r->at;
  if (!take(r, '"'))
    return FAIL(r, peek(r) < 0 || is_line_end(peek(r)) ? start : r->at,
                peek(r) < 0 || is_line_end(peek(r))
                    ? "a string without its closing quote on the same line"
                    : "a string holds printable ASCII alone; write %%x with the code point"),
           0;
  tsl__exprs_work(r->x, (end - start) / 8);
  return exact ? literal(r, r->text + start + 1, end - start - 1)
               : any_case(r, r->text + start + 1, end - start - 1);
}

static uint32_t number(tsl__abnf *r, uint32_t base) {
  size_t start = r->at;
  uint32_t value = 0;
  for (;; r->at++) {
    int c = peek(r), d = c < 0 ? -1 : tsl__hex_value((uint8_t)c);
    if (d < 0 || (uint32_t)d >= base) break;
    value = value > TSL__CP_MAX ? value : value * base + (uint32_t)d;
  }
  if (r->at == start) FAIL(r, start, "expected a number of base %u", base);
  if (value > TSL__CP_MAX) FAIL(r, start, "a number above 10FFFF (hexadecimal) is no character");
  return value;
}

static uint32_t one_character(tsl__abnf *r, uint32_t cp, size_t at) {
  if (cp >= 0xD800 && cp <= 0xDFFF) FAIL(r, at, "a surrogate is no character");
  return over(r) ? 0 : character_class(r, cp, cp);
}

/* %x41  %x41-5A  %x48.54, at the letter. */
static uint32_t numbers(tsl__abnf *r) {
  size_t start = r->at - 1, base = r->pending.n;
  char kind = lower(r->text[r->at++]);
  uint32_t of = kind == 'x' ? 16 : kind == 'd' ? 10 : 2, low = number(r, of);
  if (r->status) return 0;
  if (take(r, '-')) {
    uint32_t high = number(r, of);
    if (!r->status && high < low) FAIL(r, start, "a range from high to low");
    return over(r) ? 0 : character_class(r, low, high);
  }
  if (peek(r) != '.') return one_character(r, low, start);
  if (!pend(r, one_character(r, low, start))) return 0;
  while (!over(r) && take(r, '.')) {
    size_t at = r->at;
    uint32_t cp = number(r, of);
    if (!pend(r, one_character(r, cp, at))) break;
  }
  return collect(r, TSL__G_SEQ, base);
}

/* Behind '%'. */
static uint32_t percent(tsl__abnf *r) {
  size_t start = r->at++;
  int c = peek(r) < 0 ? -1 : lower((char)peek(r));
  if (c == 'x' || c == 'd' || c == 'b') return numbers(r);
  if ((c == 's' || c == 'i') && r->at + 1 < r->length && r->text[r->at + 1] == '"') {
    r->at++;
    return quoted(r, c == 's');
  }
  FAIL(r, start, "behind %% stands x, d or b with a number, or s or i with a string");
  return 0;
}

/* ---- structure ------------------------------------------------------------------------------- */

static uint32_t alternation(tsl__abnf *r, uint32_t depth);

static uint32_t group(tsl__abnf *r, uint32_t depth, char close) {
  size_t start = r->at++;
  if (depth >= r->max_depth) return fail_limit(r, start, "nesting is too deep", r->max_depth), 0;
  uint32_t node = alternation(r, depth + 1);
  if (!r->status && !take(r, close))
    FAIL(r, peek(r) < 0 || is_line_end(peek(r)) ? start : r->at,
         peek(r) < 0 || is_line_end(peek(r)) ? "a group without its '%c'"
                                             : "expected an element, '/' or '%c'",
         close);
  return node;
}

static uint32_t prose(tsl__abnf *r) {
  size_t start = r->at, end = start;
  while (end < r->length && r->text[end] != '>' && !is_line_end(r->text[end])) end++;
  size_t n = end - start + 1;
  FAIL_AS(r, TSL_ERR_UNSUPPORTED, start,
          "%.*s is prose, which no program understands: write a rule in its place",
          (int)(n < 100 ? n : 100), r->text + start);
  return 0;
}

/* *none: there is no element here. */
static uint32_t element(tsl__abnf *r, uint32_t depth, bool *none) {
  size_t start = r->at, length = name_length(r);
  *none = false;
  if (length) {
    uint32_t rule = mention(r, length);
    return over(r) ? 0 : tsl__gbnf_node(r->g, TSL__G_REF, rule, (uint32_t)start, 0);
  }
  switch (peek(r)) {
  case '"': return quoted(r, false);
  case '%': return percent(r);
  case '(': return group(r, depth, ')');
  case '<': return prose(r);
  case '[': {
    uint32_t node = group(r, depth, ']');
    return node && !over(r) ? tsl__gbnf_node(r->g, TSL__G_REPEAT, node, 0, 1) : 0;
  }
  default: *none = true; return 0;
  }
}

static uint32_t count(tsl__abnf *r) {
  size_t start = r->at;
  uint64_t value = 0;
  for (; is_digit(peek(r)); r->at++)
    if (value <= TSL__GBNF_REPEAT_MAX) value = value * 10 + (uint64_t)(peek(r) - '0');
  if (value > TSL__GBNF_REPEAT_MAX) fail_limit(r, start, "a repeat count", TSL__GBNF_REPEAT_MAX);
  return (uint32_t)value;
}

/* 2*5element */
static uint32_t repetition(tsl__abnf *r, uint32_t depth, bool *none) {
  size_t start = r->at;
  bool counted = is_digit(peek(r)) || peek(r) == '*';
  uint32_t min = is_digit(peek(r)) ? count(r) : 0, max = min;
  if (counted && take(r, '*')) max = is_digit(peek(r)) ? count(r) : TSL__INF;
  if (!r->status && counted && max < min) FAIL(r, start, "a repeat from high to low");
  if (r->status) return 0;
  uint32_t node = element(r, depth, none);
  if (!counted) return node;
  if (*none && !r->status)
    FAIL(r, r->at, "a repeat stands right before an element, without a space");
  if (over(r) || !node || !max) return 0;
  return min == 1 && max == 1 ? node : tsl__gbnf_node(r->g, TSL__G_REPEAT, node, min, max);
}

static uint32_t concatenation(tsl__abnf *r, uint32_t depth) {
  size_t base = r->pending.n, start = r->at;
  bool any = false;
  while (!over(r)) {
    bool none;
    uint32_t node = repetition(r, depth, &none);
    if (none || r->status) break;
    any = true;
    if (node && !pend(r, node)) break;
    skip_space(r);
  }
  if (!any && !r->status) FAIL(r, start, "expected an element: a name, a string, %%x41, ( or [");
  return collect(r, TSL__G_SEQ, base);
}

static uint32_t alternation(tsl__abnf *r, uint32_t depth) {
  size_t base = r->pending.n;
  do skip_space(r);
  while (pend(r, concatenation(r, depth)) && take(r, '/'));
  return collect(r, TSL__G_ALT, base);
}

/* The body of a rule, which may have one already (=/). */
static void define(tsl__abnf *r, uint32_t rule, size_t start, uint32_t line, bool adds) {
  tsl__grule *u = &r->g->rules.at[rule];
  int shown = (int)(u->name_length < 100 ? u->name_length : 100);
  if (u->line && !adds)
    FAIL(r, start, "rule \"%.*s\" is defined twice, first in line %u; =/ adds alternatives", shown,
         u->name, u->line);
  if (!u->line && adds)
    FAIL(r, start, "rule \"%.*s\" is not defined yet, so =/ adds to nothing", shown, u->name);
  if (r->status) return;
  uint32_t body = alternation(r, 0);
  if (over(r)) return;
  u = &r->g->rules.at[rule];
  if (adds) body = tsl__gbnf_list(r->g, TSL__G_ALT, (uint32_t[]){u->body, body}, 2);
  r->g->rules.at[rule].body = body;
  if (!u->line) r->g->rules.at[rule].line = line;
  if (r->g->nodes.at[body].height > 4 * r->max_depth)
    fail_limit(r, start, "a rule has too many =/, or nests too deep", r->max_depth);
  if (!r->status && peek(r) >= 0 && !is_line_end(peek(r)))
    FAIL(r, r->at,
         peek(r) == ')' || peek(r) == ']' ? "a closing bracket without its opening one"
                                          : "expected an element, '/' or the end of the line");
}

static void rule(tsl__abnf *r, uint32_t line) {
  size_t start = r->at, length = name_length(r);
  if (!length) {
    FAIL(r, start, "expected the name of a rule, which begins with a letter");
    return;
  }
  uint32_t number = mention(r, length);
  skip_space(r);
  if (!r->status && !take(r, '=')) FAIL(r, r->at, "expected '=' or '=/' behind the name of a rule");
  bool adds = !r->status && take(r, '/');
  if (!r->status) define(r, number, start, line, adds);
}

/* The line of core rules that defines the name, or NULL. */
static const char *core_line(const tsl__abnf *r, const tsl__grule *u) {
  const char *at = r->text + r->own, *end = r->text + r->length;
  while (at < end) {
    if ((size_t)(end - at) > u->name_length && at[u->name_length] == ' ' &&
        same_name(at, u->name, u->name_length))
      return at;
    at = memchr(at, '\n', (size_t)(end - at));
    at = at ? at + 1 : end;
  }
  return NULL;
}

/* Names that are left: core rules, which may name others. */
static void define_rest(tsl__abnf *r) {
  for (uint32_t i = 0; i < r->g->rules.n && !over(r); i++) {
    const tsl__grule *u = &r->g->rules.at[i];
    if (u->line) continue;
    const char *line = core_line(r, u);
    if (!line) {
      FAIL(r, u->offset, "rule \"%.*s\" is not defined",
           (int)(u->name_length < 100 ? u->name_length : 100), u->name);
      return;
    }
    r->at = (size_t)(line - r->text);
    r->indent = 0;
    rule(r, 1);
  }
}

/* The grammar alone is read first: the core rules behind it are out of sight. */
void tsl__abnf_parse(tsl__abnf *r) {
  size_t whole = r->length, counted = 0;
  uint32_t line = 1;
  r->length = r->own;
  while (!over(r)) {
    r->indent = skip_lines(r);
    if (peek(r) < 0) break;
    for (; counted < r->at; counted++) line += r->text[counted] == '\n';
    rule(r, line);
  }
  if (!r->status && !r->g->rules.n) FAIL(r, r->at, "a grammar without rules");
  r->length = whole;
  define_rest(r);
}
