/* escape.c - the parts of a pattern that stand for one code point: escapes and classes.
 *
 * A class is collected in two sets. `loose` has characters, ranges, POSIX classes and properties,
 * which (?i) folds once at the end. `set` has \d, \s, \w and the like, which are closed under
 * folding as they are. (Under (?i) \w has U+017F and U+212A too, as ECMA-262 says for the u flag.)
 * So the common (?i) pattern costs no question to PCRE2.
 *
 * Example   (?i)[k\d]: loose {k}, set {0-9}; folded and joined: {0-9, K, k, U+212A}.
 * Tested by tests/regex/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/regex/cursor.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

bool tsl__rx_error(tsl__rx_cursor *c, tsl_status status, size_t offset, const char *message) {
  tsl__rx_fail(c->tree, status, offset, message);
  return false;
}

static bool no_memory(tsl__rx_cursor *c) {
  return tsl__rx_error(c, TSL_ERR_NO_MEMORY, 0, "out of memory");
}

/* The next code point of the pattern, whatever it is. */
bool tsl__rx_code_point(tsl__rx_cursor *c, uint32_t *cp) {
  unsigned n = tsl__utf8_decode(c->text + c->at, c->length - c->at, cp);
  if (!n) return tsl__rx_error(c, TSL_ERR_SYNTAX, c->at, "the pattern is not valid UTF-8");
  c->at += n;
  return true;
}

/* ---- named sets ------------------------------------------------------------------------------ */

static const tsl__range digits[] = {{'0', '9'}};
static const tsl__range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const tsl__range words_folded[] = {{'0', '9'}, {'A', 'Z'},     {'_', '_'},
                                          {'a', 'z'}, {0x17F, 0x17F}, {0x212A, 0x212A}};
/* ECMA-262 WhiteSpace and LineTerminator. */
static const tsl__range spaces[] = {
    {'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
    {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
/* PCRE2's horizontal space. */
static const tsl__range blanks[] = {{'\t', '\t'},     {' ', ' '},       {0xA0, 0xA0},
                                    {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200A},
                                    {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};
static const tsl__range lines[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
static const tsl__range newline[] = {{'\n', '\n'}};

/* Add sorted ranges, or what is not in them. */
static bool add_table(tsl__rx_cursor *c, tsl__charset *to, const tsl__range *at, size_t n,
                      bool negated) {
  uint32_t from = 0;
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    if (!negated)
      ok = tsl__charset_add(c->alloc, to, at[i].lo, at[i].hi);
    else if (at[i].lo > from)
      ok = tsl__charset_add(c->alloc, to, from, at[i].lo - 1);
    from = at[i].hi + 1;
  }
  if (ok && negated) ok = tsl__charset_add(c->alloc, to, from, TSL__CP_MAX);
  return ok || no_memory(c);
}

bool tsl__rx_read_dot(tsl__rx_cursor *c) {
  c->set.ranges.n = 0;
  return add_table(c, &c->set, lines, c->dot_all ? 0 : COUNT(lines), true);
}

bool tsl__rx_word_set(tsl__rx_cursor *c) {
  c->set.ranges.n = 0;
  return c->fold ? add_table(c, &c->set, words_folded, COUNT(words_folded), false)
                 : add_table(c, &c->set, words, COUNT(words), false);
}

bool tsl__rx_line_set(tsl__rx_cursor *c, bool negated) {
  c->set.ranges.n = 0;
  return add_table(c, &c->set, lines, COUNT(lines), negated);
}

/* \d \D \s \S \w \W \h \H \N into c->set; *known is false for other letters. */
static bool add_letter_class(tsl__rx_cursor *c, uint8_t letter, bool *known) {
  bool negated = letter < 'a';
  *known = true;
  switch (letter | 0x20) {
  case 'd': return add_table(c, &c->set, digits, COUNT(digits), negated);
  case 's': return add_table(c, &c->set, spaces, COUNT(spaces), negated);
  case 'h': return add_table(c, &c->set, blanks, COUNT(blanks), negated);
  case 'w':
    return c->fold ? add_table(c, &c->set, words_folded, COUNT(words_folded), negated)
                   : add_table(c, &c->set, words, COUNT(words), negated);
  case 'n':
    if (negated) return add_table(c, &c->set, newline, COUNT(newline), true);
    break;
  default: break;
  }
  *known = false;
  return true;
}

/* Fold `loose`, join it with `set`, negate. */
static bool finish(tsl__rx_cursor *c, bool negated) {
  if (c->fold && c->loose.ranges.n && !tsl__unicode_fold(c->tree->x, &c->loose))
    return no_memory(c);
  if (!tsl__charset_add_set(c->alloc, &c->set, &c->loose)) return no_memory(c);
  tsl__charset_normalise(&c->set);
  return !negated || tsl__charset_negate(c->alloc, &c->set) || no_memory(c);
}

/* ---- \p{…} ----------------------------------------------------------------------------------- */

/* Add the set of a property. */
static bool add_property(tsl__rx_cursor *c, tsl__charset *set, size_t name, size_t length,
                         size_t start) {
  tsl_status status = tsl__unicode_property(c->tree->x, set, (const char *)c->text + name, length);
  if (status == TSL_ERR_SYNTAX) return tsl__rx_error(c, status, start, "unknown Unicode property");
  return status == TSL_OK || no_memory(c);
}

/* After \p or \P: {name}, {^name} or one letter. */
static bool read_property(tsl__rx_cursor *c, bool negated, size_t start) {
  size_t name, length;
  tsl__charset set = {0};
  bool ok;
  if (tsl__rx_take(c, '{')) {
    if (tsl__rx_take(c, '^')) negated = !negated;
    for (name = c->at; tsl__rx_more(c) && tsl__rx_peek(c, 0) != '}';) c->at++;
    length = c->at - name;
    if (!tsl__rx_take(c, '}'))
      return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "\\p{ has no closing brace");
  } else {
    name = c->at;
    length = tsl__rx_more(c) ? 1 : 0;
    c->at += length;
  }
  ok = add_property(c, &set, name, length, start);
  if (ok)
    ok = ((!negated || tsl__charset_negate(c->alloc, &set)) &&
          tsl__charset_add_set(c->alloc, &c->loose, &set)) ||
         no_memory(c);
  tsl__charset_free(c->alloc, &set);
  return ok;
}

/* ---- escapes that are one character ---------------------------------------------------------- */

/* Exactly n hex digits, or nothing is read. */
static bool take_hex(tsl__rx_cursor *c, unsigned n, uint32_t *value) {
  uint32_t v = 0;
  for (unsigned i = 0; i < n; i++) {
    int digit = tsl__hex_value(tsl__rx_peek(c, i));
    if (digit < 0) return false;
    v = v * 16 + (uint32_t)digit;
  }
  c->at += n;
  *value = v;
  return true;
}

/* {H…} after \x or \u. */
static bool read_braced_hex(tsl__rx_cursor *c, size_t start, uint32_t *cp) {
  uint32_t v = 0, digit;
  size_t first = ++c->at;
  while (take_hex(c, 1, &digit)) {
    v = v * 16 + digit;
    if (v > TSL__CP_MAX) return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "code point past U+10FFFF");
  }
  if (c->at == first || !tsl__rx_take(c, '}'))
    return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "hexadecimal digits and } expected after {");
  *cp = v;
  return true;
}

/* After \u: four digits, a pair of surrogates as one code point, or {…}. */
static bool read_u(tsl__rx_cursor *c, size_t start, uint32_t *cp) {
  uint32_t low;
  size_t back;
  if (tsl__rx_peek(c, 0) == '{') return read_braced_hex(c, start, cp);
  if (!take_hex(c, 4, cp))
    return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "\\u needs four hexadecimal digits or {…}");
  if (*cp < 0xD800 || *cp > 0xDBFF || tsl__rx_peek(c, 0) != '\\' || tsl__rx_peek(c, 1) != 'u')
    return true;
  back = c->at;
  c->at += 2;
  if (take_hex(c, 4, &low) && low >= 0xDC00 && low <= 0xDFFF)
    *cp = 0x10000 + ((*cp - 0xD800) << 10) + (low - 0xDC00);
  else
    c->at = back;
  return true;
}

/* After \c. */
static bool read_control(tsl__rx_cursor *c, size_t start, uint32_t *cp) {
  uint8_t letter = tsl__rx_peek(c, 0) | 0x20;
  if (letter < 'a' || letter > 'z')
    return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "\\c needs a letter");
  c->at++;
  *cp = letter & 0x1F;
  return true;
}

/* Up to three octal digits; the first has been seen to be one. */
static uint32_t take_octal(tsl__rx_cursor *c) {
  uint32_t v = 0;
  for (int i = 0; i < 3 && tsl__rx_peek(c, 0) >= '0' && tsl__rx_peek(c, 0) <= '7' && v * 8 <= 0xFF;
       i++)
    v = v * 8 + c->text[c->at++] - '0';
  return v;
}

/* Letters that PCRE gives a meaning that no regular language has, or none here, are "not
 * supported"; all others are mistakes. */
static bool refuse_letter(tsl__rx_cursor *c, uint8_t letter, size_t start) {
  static const char pcre[] = "KGRXCQEgk";
  if (letter && strchr(pcre, letter))
    return tsl__rx_error(c, TSL_ERR_UNSUPPORTED, start, "this escape of PCRE is not supported");
  return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "unknown escape");
}

/* An escape that is one character; c->at is after the backslash, `start` at it. Not \d \p and the
 * like. */
static bool read_character(tsl__rx_cursor *c, size_t start, uint32_t *cp) {
  uint8_t b = tsl__rx_peek(c, 0);
  if (!((b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z')))
    return tsl__rx_code_point(c, cp);
  if (b >= '0' && b <= '7') {
    *cp = take_octal(c);
    return true;
  }
  c->at++;
  switch (b) {
  case 't': *cp = '\t'; return true;
  case 'n': *cp = '\n'; return true;
  case 'r': *cp = '\r'; return true;
  case 'v': *cp = '\v'; return true;
  case 'f': *cp = '\f'; return true;
  case 'c': return read_control(c, start, cp);
  case 'u': return read_u(c, start, cp);
  case 'x':
    if (tsl__rx_peek(c, 0) == '{') return read_braced_hex(c, start, cp);
    return take_hex(c, 2, cp) ||
           tsl__rx_error(c, TSL_ERR_SYNTAX, start, "\\x needs two hexadecimal digits or {…}");
  default: return refuse_letter(c, b, start);
  }
}

/* One escape, in or out of a class. *single is false if it was a set, which went into c->set or
 * c->loose. */
static bool read_any_escape(tsl__rx_cursor *c, bool *single, uint32_t *cp) {
  size_t start = c->at++;
  uint8_t b = tsl__rx_peek(c, 0);
  bool known;
  *single = false;
  if (!tsl__rx_more(c))
    return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "the pattern ends with a backslash");
  if (b == 'p' || b == 'P') {
    c->at++;
    return read_property(c, b == 'P', start);
  }
  /* a character by name or \N{U+41}; a count may stand there */
  if (b == 'N' && tsl__rx_peek(c, 1) == '{' &&
      !(tsl__rx_peek(c, 2) >= '0' && tsl__rx_peek(c, 2) <= '9'))
    return tsl__rx_error(c, TSL_ERR_UNSUPPORTED, start, "\\N{…} is not supported");
  if (!add_letter_class(c, b, &known)) return false;
  if (known) {
    c->at++;
    return true;
  }
  *single = true;
  return read_character(c, start, cp);
}

bool tsl__rx_read_escape(tsl__rx_cursor *c) {
  bool single;
  uint32_t cp = 0;
  c->set.ranges.n = c->loose.ranges.n = 0;
  if (!read_any_escape(c, &single, &cp)) return false;
  if (single && !tsl__charset_add(c->alloc, &c->loose, cp, cp)) return no_memory(c);
  return finish(c, false);
}

/* ---- classes --------------------------------------------------------------------------------- */

static const struct posix {
  const char *name;
  uint8_t n;
  tsl__range ranges[4];
} posix_classes[] = {
    {"alnum", 3, {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
    {"alpha", 2, {{'A', 'Z'}, {'a', 'z'}}},
    {"ascii", 1, {{0, 0x7F}}},
    {"blank", 2, {{'\t', '\t'}, {' ', ' '}}},
    {"cntrl", 2, {{0, 0x1F}, {0x7F, 0x7F}}},
    {"digit", 1, {{'0', '9'}}},
    {"graph", 1, {{'!', '~'}}},
    {"lower", 1, {{'a', 'z'}}},
    {"print", 1, {{' ', '~'}}},
    {"punct", 4, {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", 2, {{'\t', '\r'}, {' ', ' '}}},
    {"upper", 1, {{'A', 'Z'}}},
    {"word", 4, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"xdigit", 3, {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
};

/* The length of "[:name:]" at the cursor, 0 if there is none. */
static size_t posix_length(const tsl__rx_cursor *c) {
  size_t n = 2;
  if (tsl__rx_peek(c, 0) != '[' || tsl__rx_peek(c, 1) != ':') return 0;
  if (tsl__rx_peek(c, n) == '^') n++;
  while (tsl__rx_peek(c, n) >= 'a' && tsl__rx_peek(c, n) <= 'z') n++;
  return tsl__rx_peek(c, n) == ':' && tsl__rx_peek(c, n + 1) == ']' ? n + 2 : 0;
}

/* [:name:] or [:^name:]; the names mean ASCII characters alone. */
static bool read_posix(tsl__rx_cursor *c, size_t length) {
  const char *name = (const char *)c->text + c->at + 2;
  size_t n = length - 4;
  bool negated = *name == '^';
  if (negated) name++, n--;
  for (size_t i = 0; i < COUNT(posix_classes); i++) {
    const struct posix *p = &posix_classes[i];
    if (strlen(p->name) != n || memcmp(p->name, name, n) != 0) continue;
    c->at += length;
    return add_table(c, &c->loose, p->ranges, p->n, negated);
  }
  return tsl__rx_error(c, TSL_ERR_SYNTAX, c->at, "unknown POSIX class");
}

/* One member of a class: a character (*single), or a set that was added. */
static bool read_member(tsl__rx_cursor *c, bool *single, uint32_t *cp) {
  size_t posix = posix_length(c);
  *single = false;
  if (posix) return read_posix(c, posix);
  if (tsl__rx_peek(c, 0) != '\\') {
    *single = true;
    return tsl__rx_code_point(c, cp);
  }
  if (tsl__rx_peek(c, 1) == 'b') { /* backspace, in a class */
    c->at += 2;
    *single = true;
    *cp = '\b';
    return true;
  }
  return read_any_escape(c, single, cp);
}

/* A member, or a range of two. A hyphen next to a set is itself (Annex B), as it is first or
 * last. */
static bool read_range(tsl__rx_cursor *c) {
  size_t start = c->at;
  bool single, single_end;
  uint32_t lo = 0, hi = 0;
  if (!read_member(c, &single, &lo)) return false;
  if (tsl__rx_peek(c, 0) != '-' || tsl__rx_peek(c, 1) == ']' || c->at + 1 >= c->length)
    return !single || tsl__charset_add(c->alloc, &c->loose, lo, lo) || no_memory(c);
  c->at++;
  if (!read_member(c, &single_end, &hi)) return false;
  if (single && single_end) {
    if (lo > hi) return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "the range is out of order");
    return tsl__charset_add(c->alloc, &c->loose, lo, hi) || no_memory(c);
  }
  if (!tsl__charset_add(c->alloc, &c->loose, '-', '-')) return no_memory(c);
  if (single && !tsl__charset_add(c->alloc, &c->loose, lo, lo)) return no_memory(c);
  if (single_end && !tsl__charset_add(c->alloc, &c->loose, hi, hi)) return no_memory(c);
  return true;
}

bool tsl__rx_read_class(tsl__rx_cursor *c) {
  size_t start = c->at++;
  bool negated = tsl__rx_take(c, '^');
  c->set.ranges.n = c->loose.ranges.n = 0;
  while (tsl__rx_more(c) && tsl__rx_peek(c, 0) != ']')
    if (!read_range(c)) return false;
  if (!tsl__rx_take(c, ']'))
    return tsl__rx_error(c, TSL_ERR_SYNTAX, start, "the class has no closing bracket");
  return finish(c, negated);
}
