/* pattern.c - a regular expression of Python in the notation of compiler/regex/.
 *
 * Problem   Lark's terminals are Python's regular expressions. Many signs mean something else in
 *           compiler/regex/, which follows ECMA-262: the dot, \w, \s, \d, ^, $, ] and { without a
 *           partner, [[:alpha:]].
 * Idea      One pass over the pattern writes each atom out as what it means: classes as their
 *           ranges, anchors as look-arounds, characters as \u{…}. Groups, alternatives and
 *           quantifiers stay as they are. Flags are kept on a stack of groups.
 * Example   /^\w{,3}./s  is written  (?<![^])[\p{L}\p{N}_]{0,3}[^]
 *
 * What Python has and is refused: back-references, conditionals, atomic groups, possessive
 * quantifiers, \N{…}, the flag l. \p{…} is allowed, though Python has none.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"
#include "compiler/expr/unicode_cache.h"

#include <stdio.h>

#define GROUPS_MAX 250u /* inside each other, as in compiler/regex/regex.h */
#define COUNT_MAX 1000000000u

#define WORD "\\p{L}\\p{N}_"
#define SPACE                                                              \
  "\\u{9}-\\u{D}\\u{1C}-\\u{20}\\u{85}\\u{A0}\\u{1680}\\u{2000}-\\u{200A}" \
  "\\u{2028}\\u{2029}\\u{202F}\\u{205F}\\u{3000}"

typedef struct writer {
  tsl__lark *l;
  uint32_t module, place; /* for errors */
  const uint8_t *text;
  size_t n, at;
  tsl__lark_chars *out;
  uint8_t flags, traits;
  uint32_t depth;
  uint8_t saved[GROUPS_MAX]; /* the flags around each open group */
} writer;

static bool refuse(writer *w, tsl_status status, const char *what) {
  return tsl__lark_fail(w->l, status, w->module, w->place, "in the regular expression: %s", what);
}
static bool unsupported(writer *w, const char *what) {
  return refuse(w, TSL_ERR_UNSUPPORTED, what);
}
static bool syntax(writer *w, const char *what) { return refuse(w, TSL_ERR_SYNTAX, what); }

static bool put_n(writer *w, const void *text, size_t n) {
  if (!tsl__vec_reserve(&w->l->alloc, w->out, n)) return tsl__lark_no_memory(w->l);
  if (n) memcpy(w->out->at + w->out->n, text, n);
  w->out->n += n;
  return true;
}
static bool put(writer *w, const char *text) { return put_n(w, text, strlen(text)); }

static bool put_char(writer *w, uint32_t cp) {
  char text[16];
  bool plain = (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') || (cp >= '0' && cp <= '9');
  snprintf(text, sizeof text, plain ? "%c" : "\\u{%X}", (unsigned)cp);
  return put(w, text);
}

/* The byte `ahead` places on, or -1. */
static int peek(const writer *w, size_t ahead) {
  return w->at + ahead < w->n ? w->text[w->at + ahead] : -1;
}
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_octal(int c) { return c >= '0' && c <= '7'; }

static bool next_char(writer *w, uint32_t *cp) {
  unsigned n = tsl__utf8_decode(w->text + w->at, w->n - w->at, cp);
  if (!n) return syntax(w, "invalid UTF-8");
  w->at += n;
  return true;
}

/* ---- escapes --------------------------------------------------------------------------------- */

static bool hex(writer *w, unsigned digits, uint32_t *cp) {
  *cp = 0;
  for (unsigned i = 0; i < digits; i++, w->at++) {
    int c = peek(w, 0), d = c < 0 ? -1 : tsl__hex_value((uint8_t)c);
    if (d < 0) return syntax(w, "an escape has too few hexadecimal digits");
    *cp = *cp << 4 | (uint32_t)d;
  }
  return *cp <= TSL__CP_MAX || syntax(w, "an escape above U+10FFFF");
}

/* \0, \07, \012, \141: characters; \1: a back-reference. In a class all are characters. */
static bool octal(writer *w, int first, bool class, uint32_t *cp) {
  *cp = (uint32_t)(first - '0');
  bool three = is_octal(peek(w, 0)) && is_octal(peek(w, 1)) && is_octal(first);
  if (first != '0' && !three && !class) return unsupported(w, "a back-reference is not supported");
  if (first > '7') return syntax(w, "an unknown escape");
  for (int i = 0; i < 2 && is_octal(peek(w, 0)); i++) *cp = *cp * 8 + w->text[w->at++] - '0';
  return *cp < 256 || syntax(w, "an octal escape above 255");
}

/* An escape that is one character; its letter was read. *known: it is one. */
static bool char_escape(writer *w, int c, bool class, uint32_t *cp, bool *known) {
  *known = true;
  switch (c) {
  case 'a': return *cp = 7, true;
  case 'f': return *cp = '\f', true;
  case 'n': return *cp = '\n', true;
  case 'r': return *cp = '\r', true;
  case 't': return *cp = '\t', true;
  case 'v': return *cp = '\v', true;
  case 'x': return hex(w, 2, cp);
  case 'u': return hex(w, 4, cp);
  case 'U': return hex(w, 8, cp);
  default: break;
  }
  if (is_digit(c)) return octal(w, c, class, cp);
  if (class && c == 'b') return *cp = 8, true;
  *known = !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
  if (!*known) return true;
  w->at--; /* perhaps the first byte of several */
  return next_char(w, cp);
}

/* The name of \p{…} or \pL, whose letter was read. */
static bool property(writer *w, const char **name, size_t *length) {
  size_t start = w->at;
  if (peek(w, 0) != '{') {
    *name = (const char *)w->text + start;
    *length = w->at < w->n;
    w->at += *length;
    return *length || syntax(w, "a property without a name");
  }
  while (peek(w, 0) >= 0 && peek(w, 0) != '}') w->at++;
  if (peek(w, 0) < 0) return syntax(w, "a property without its }");
  *name = (const char *)w->text + start + 1;
  *length = w->at++ - start - 1;
  return true;
}

/* ---- classes --------------------------------------------------------------------------------- */

static bool add(writer *w, tsl__charset *set, uint32_t low, uint32_t high) {
  return tsl__charset_add(&w->l->alloc, set, low, high) || tsl__lark_no_memory(w->l);
}

static bool add_property(writer *w, tsl__charset *set, const char *name, size_t length) {
  tsl_status status = tsl__unicode_property(w->l->x, set, name, length);
  if (tsl__lark_failed(w->l)) return false;
  if (status == TSL_ERR_NO_MEMORY) return tsl__lark_no_memory(w->l);
  return status == TSL_OK || syntax(w, "an unknown property");
}

/* \s of Python has other characters than that of ECMA-262. */
static bool add_spaces(writer *w, tsl__charset *set) {
  static const tsl__range spaces[] = {
      {9, 13},          {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
      {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (!add(w, set, spaces[i].lo, spaces[i].hi)) return false;
  return true;
}

/* \d \w \s \p and their complements, whose letter was read; *known: it is one. */
static bool add_named(writer *w, int c, tsl__charset *set, bool *known) {
  tsl__charset own = {0};
  const char *name = "Nd";
  size_t length = 2;
  bool fine = true, negated = c >= 'A' && c <= 'Z';
  int lower = negated ? c + 32 : c;
  *known = lower == 'd' || lower == 'w' || lower == 's' || lower == 'p';
  if (!*known) return true;
  if (lower == 'p') fine = property(w, &name, &length);
  if (lower == 's') fine = add_spaces(w, &own);
  if (lower == 'w')
    fine = add_property(w, &own, "L", 1) && add_property(w, &own, "N", 1) && add(w, &own, '_', '_');
  if (fine && (lower == 'd' || lower == 'p')) fine = add_property(w, &own, name, length);
  tsl__charset_normalise(&own);
  if (fine && negated) fine = tsl__charset_negate(&w->l->alloc, &own) || tsl__lark_no_memory(w->l);
  if (fine) fine = tsl__charset_add_set(&w->l->alloc, set, &own) || tsl__lark_no_memory(w->l);
  tsl__charset_free(&w->l->alloc, &own);
  return fine;
}

/* A member of a class: a character, or (*set) a set, which is added. */
static bool member(writer *w, tsl__charset *set, uint32_t *cp, bool *is_set) {
  bool known;
  *is_set = false;
  if (peek(w, 0) != '\\') return next_char(w, cp);
  w->at++;
  int c = peek(w, 0);
  if (c < 0) return syntax(w, "a backslash before the end");
  w->at++;
  if (!add_named(w, c, set, is_set) || *is_set) return !tsl__lark_failed(w->l);
  return char_escape(w, c, true, cp, &known) && (known || syntax(w, "an unknown escape"));
}

static bool members(writer *w, tsl__charset *set) {
  for (bool first = true;; first = false) {
    uint32_t low, high;
    bool is_set, other;
    if (peek(w, 0) < 0) return syntax(w, "a class without its ]");
    if (peek(w, 0) == ']' && !first) return w->at++, true;
    if (!member(w, set, &low, &is_set)) return false;
    if (peek(w, 0) == '-' && peek(w, 1) >= 0 && peek(w, 1) != ']') {
      w->at++;
      if (!member(w, set, &high, &other)) return false;
      if (is_set || other) return syntax(w, "a range from or to a set");
      if (high < low) return syntax(w, "a range from high to low");
      if (!add(w, set, low, high)) return false;
    } else if (!is_set && !add(w, set, low, low)) {
      return false;
    }
  }
}

/* [...] as the ranges that it means. Python takes a ']' in the first place for itself, and a '['
 * for itself everywhere. */
static bool put_class(writer *w) {
  tsl__charset set = {0};
  w->at++;
  bool negated = peek(w, 0) == '^';
  w->at += negated;
  bool fine = members(w, &set) && put(w, negated ? "[^" : "[");
  tsl__charset_normalise(&set);
  for (size_t i = 0; fine && i < set.ranges.n; i++) {
    tsl__range r = set.ranges.at[i];
    fine = put_char(w, r.lo) && (r.lo == r.hi || (put(w, "-") && put_char(w, r.hi)));
  }
  tsl__charset_free(&w->l->alloc, &set);
  return fine && put(w, "]");
}

/* ---- atoms ----------------------------------------------------------------------------------- */

static bool put_look(writer *w, const char *text) {
  w->traits |= TSL__LARK_LOOKS;
  return put(w, text);
}

static bool put_escape(writer *w) {
  uint32_t cp;
  bool known;
  w->at++;
  int c = peek(w, 0);
  size_t start = w->at - 1;
  if (c < 0) return syntax(w, "a backslash before the end");
  w->at++;
  switch (c) {
  case 'd': return put(w, "\\p{Nd}");
  case 'D': return put(w, "\\P{Nd}");
  case 'w': return put(w, "[" WORD "]");
  case 'W': return put(w, "[^" WORD "]");
  case 's': return put(w, "[" SPACE "]");
  case 'S': return put(w, "[^" SPACE "]");
  case 'A': return put_look(w, "(?<![^])");
  case 'Z': return put_look(w, "(?![^])");
  case 'b': return put_look(w, "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))");
  case 'B': return put_look(w, "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))");
  case 'N': return unsupported(w, "\\N is not supported");
  case 'p':
  case 'P': {
    const char *name;
    size_t length;
    return property(w, &name, &length) && put_n(w, w->text + start, w->at - start);
  }
  default: break;
  }
  if (!char_escape(w, c, false, &cp, &known)) return false;
  return known ? put_char(w, cp) : syntax(w, "an unknown escape");
}

/* The letters of (?imsx-imsx: or (?imsx), at the first. The flags hold within the group, or from
 * here to the end of the group around it. */
static bool group_flags(writer *w) {
  static const char letters[] = "imsx";
  static const uint8_t bits[] = {TSL__LARK_I, TSL__LARK_M, TSL__LARK_S, TSL__LARK_X};
  uint8_t flags = w->flags;
  bool off = false, at_start = w->at == 2;
  for (int c = peek(w, 0); c >= 0 && c != ':' && c != ')'; c = peek(w, 0)) {
    const char *found = memchr(letters, c, sizeof letters - 1);
    if (c == '-' && !off)
      off = true;
    else if (found && off)
      flags &= (uint8_t)~bits[found - letters];
    else if (found)
      flags |= bits[found - letters];
    else if (c != 'u' || off)
      return unsupported(w, "a group or flag of an unknown kind is not supported");
    w->at++;
  }
  if (peek(w, 0) < 0) return syntax(w, "a group without its )");
  bool global = w->text[w->at++] == ')';
  if (global && (!at_start || off)) return syntax(w, "flags for all stand at the beginning");
  if (global) return put(w, (flags & TSL__LARK_I) ? "(?i)" : "") && (w->flags = flags, true);
  w->saved[w->depth++] = w->flags;
  w->flags = flags;
  return put(w, flags & TSL__LARK_I ? "(?i:" : "(?-i:");
}

/* (?P<name>...) as a plain group: nothing refers to it, as back-references are refused. */
static bool put_named_group(writer *w) {
  while (peek(w, 0) >= 0 && peek(w, 0) != '>') w->at++;
  if (peek(w, 0) < 0) return syntax(w, "the name of a group without its >");
  w->at++;
  w->saved[w->depth++] = w->flags;
  return put(w, "(?:");
}

/* What follows a '('. A group keeps the flags that held before it, for its end. */
static bool put_group(writer *w) {
  static const char *const looks[] = {"?=", "?!", "?<=", "?<!"};
  w->at++;
  if (w->depth == GROUPS_MAX) return refuse(w, TSL_ERR_LIMIT, "groups are too deep (limit 250)");
  if (peek(w, 0) != '?') return w->saved[w->depth++] = w->flags, put(w, "(?:");
  for (size_t i = 0; i < 4; i++) {
    size_t n = strlen(looks[i]);
    if (w->n - w->at < n || memcmp(w->text + w->at, looks[i], n)) continue;
    w->at += n;
    w->saved[w->depth++] = w->flags;
    return put_look(w, "(") && put(w, looks[i]);
  }
  w->at++;
  int c = peek(w, 0);
  if (c == ':') return w->at++, w->saved[w->depth++] = w->flags, put(w, "(?:");
  if (c == 'P' && peek(w, 1) == '<') return put_named_group(w);
  if (c == '<') return put_named_group(w);
  if (c == 'P' || c == '(' || c == '>')
    return unsupported(w, "back-references, conditionals and atomic groups are not supported");
  if (c == '#') {
    while (peek(w, 0) >= 0 && peek(w, 0) != ')') w->at++;
    return peek(w, 0) < 0 ? syntax(w, "a comment without its )") : (w->at++, true);
  }
  return group_flags(w);
}

/* ---- quantifiers ----------------------------------------------------------------------------- */

static bool count(writer *w, size_t *at, uint32_t *value) {
  uint64_t n = 0;
  size_t start = *at;
  for (; *at < w->n && is_digit(w->text[*at]); ++*at)
    if (n <= COUNT_MAX) n = n * 10 + (uint64_t)(w->text[*at] - '0');
  *value = n > COUNT_MAX ? COUNT_MAX + 1 : (uint32_t)n;
  return *at > start;
}

/* {m} {m,} {,n} {m,n} {,} at the '{'; false: it is a character. */
static bool braces(writer *w, uint32_t *min, uint32_t *max) {
  size_t at = w->at + 1;
  bool low = count(w, &at, min), comma = at < w->n && w->text[at] == ',';
  if (!low && !comma) return false;
  *max = *min;
  if (comma) {
    at++;
    if (!count(w, &at, max)) *max = TSL__INF;
  }
  if (at >= w->n || w->text[at] != '}') return false;
  w->at = at + 1;
  return true;
}

/* A quantifier, and whether it is lazy: then the terminal has the shortest texts (terminal.c). What
 * comes after a lazy one with a choice of its own is LATE. */
static bool put_quantifier(writer *w, uint32_t min, uint32_t max) {
  char text[32];
  bool lazy = peek(w, 0) == '?';
  if (peek(w, 0) == '+') return unsupported(w, "a possessive quantifier is not supported");
  w->at += lazy;
  if (min > COUNT_MAX || (max > COUNT_MAX && max != TSL__INF))
    return refuse(w, TSL_ERR_LIMIT, "a count is too large");
  if (max < min) return syntax(w, "a count from high to low");
  if (min != max && lazy) w->traits |= TSL__LARK_LAZY;
  if (min != max && !lazy) {
    w->traits |= TSL__LARK_VARIABLE;
    if (w->traits & TSL__LARK_LAZY) w->traits |= TSL__LARK_LATE;
  }
  if (min > TSL__GBNF_REPEAT || (max != TSL__INF && max > TSL__GBNF_REPEAT))
    w->traits |= TSL__LARK_COUNTED;
  if (max == TSL__INF)
    snprintf(text, sizeof text, "{%u,}", min);
  else
    snprintf(text, sizeof text, "{%u,%u}", min, max);
  return put(w, text);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* What the flag x leaves out: white space, and comments to the end of the line. */
static bool skip(writer *w) {
  int c = peek(w, 0);
  if (!(w->flags & TSL__LARK_X)) return false;
  if (c == '#') {
    while (peek(w, 0) >= 0 && peek(w, 0) != '\n') w->at++;
    return true;
  }
  if (c != ' ' && !(c >= 9 && c <= 13)) return false;
  w->at++;
  return true;
}

static bool step(writer *w) {
  bool lines = w->flags & TSL__LARK_M;
  uint32_t min = 0, max = TSL__INF, cp;
  int c = peek(w, 0);
  switch (c) {
  case '\\': return put_escape(w);
  case '[': return put_class(w);
  case '(': return put_group(w);
  case ')':
    if (!w->depth) return syntax(w, "a ) without its (");
    w->flags = w->saved[--w->depth];
    return w->at++, put(w, ")");
  case '|': return w->at++, put(w, "|");
  case '.': return w->at++, put(w, w->flags & TSL__LARK_S ? "[^]" : "[^\\n]");
  case '^': return w->at++, put_look(w, lines ? "(?<![^\\n])" : "(?<![^])");
  case '$': return w->at++, put_look(w, lines ? "(?![^\\n])" : "(?=\\n?(?![^]))");
  case '*':
  case '+':
  case '?': w->at++; return put_quantifier(w, c == '+', c == '?' ? 1 : TSL__INF);
  case '{':
    if (braces(w, &min, &max)) return put_quantifier(w, min, max);
    return w->at++, put_char(w, '{');
  default: return next_char(w, &cp) && put_char(w, cp);
  }
}

bool tsl__lark_pattern(tsl__lark *l, uint32_t module, uint32_t at, const uint8_t *text, size_t n,
                       uint32_t flags, tsl__lark_chars *out, uint8_t *traits) {
  writer w = {.l = l,
              .module = module,
              .place = at,
              .text = text,
              .n = n,
              .out = out,
              .flags = (uint8_t)flags};
  if (flags & TSL__LARK_I && !put(&w, "(?i)")) return false;
  while (w.at < w.n) {
    if (skip(&w)) continue;
    if (!step(&w)) return false;
    tsl__exprs_work(l->x, 1);
  }
  if (w.depth) return syntax(&w, "a group without its )");
  *traits = w.traits;
  return !tsl__lark_failed(l);
}
