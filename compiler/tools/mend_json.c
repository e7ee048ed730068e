/* mend_json.c - JSON as models write it when nothing holds them to it. See mend_json.h.
 *
 * Problem   {'city': "Paris", days: 3, "now": True,} says what it means. A reader of JSON refuses
 *           it at its second byte.
 * Idea      A reader that knows what comes next by its first character alone. Anything else than a
 *           string or bracket is a word, up to the next comma, bracket or end of line. A word is a
 *           number, a spelling of true, false or null, or a string without quotes.
 * Quotes    A quote ends its string if a comma, a colon, a bracket or the end comes next. Otherwise
 *           it belongs to the string: "say "hi" now". Such a reading is `unclean`: the caller may
 *           know where the value must end, and read again up to there. A value that ends in front
 *           of a colon has lost its quote, and swallowed the next key: it ends before that.
 * Brackets  A closing bracket of the wrong kind closes the nearest open bracket of its own kind,
 *           and all inside of that. If none is open, it closes nothing. What is open at the end is
 *           closed there. A string that is open at the end loses the brackets that it swallowed:
 *           one for each level at most.
 * Steps     {'city': "Paris", days: 3, "now": True,}. The brace opens a level. read_key reads
 *           'city' up to its quote, as a colon comes next, and notes "quotes". The value is a plain
 *           string. `days` is a bare key: a colon follows a word. 3 is a number. True is a word for
 *           true, and is noted. The comma before the brace has no child behind it, and is noted.
 *           The brace closes the level, which becomes the result.
 * Numbers   .5, +3, 1. and 007 are numbers that JSON spells otherwise: they are rewritten, and
 *           noted. What is no number and no known word is a string without quotes.
 * Comments  in the style of C, C++ and Python are passed over, and so is "...".
 * Levels    are a list of open brackets with their children so far. So nesting needs no recursion.
 *           Where a bracket is missing, one closing bracket can close several levels.
 * Example   [1, 2 "a"} is [1, 2, "a"]: a comma is missing, and the brace closes what no brace
 *           opened. The brace is passed over, and the end of the text closes the list.
 * Cost      One pass; some 10 ns a byte. No recursion; 256 levels.
 * Tested by tests/tools/test_mend_json.c, tests/programs/test_lenient.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend_json.h"

#include <stdio.h>

typedef struct level {
  char close;
  uint32_t from; /* its first child among the pending ones */
  uint32_t offset;
  tsl__json holder; /* its key */
} level;

typedef struct reader {
  tsl__mend_json *l;
  TSL__VEC(level) levels;
  TSL__VEC(tsl__json) pending; /* children of all open levels */
  TSL__VEC(char) buffer;       /* of the string under way */
} reader;

void tsl__mend_json_note(tsl__mend_json *l, tsl__repair repair, uint32_t at) {
  if (!(l->found >> repair & 1u)) l->first[repair] = at;
  l->found |= 1u << repair;
}

static bool failed(tsl__mend_json *l) { return l->status = TSL_ERR_NO_MEMORY, false; }

/* ---- characters ------------------------------------------------------------------------------ */

static bool starts(const tsl__mend_json *l, const char *text, size_t n) {
  return l->stop - l->at >= n && !memcmp(l->text + l->at, text, n);
}
#define STARTS(l, text) starts((l), (text), sizeof(text) - 1)

/* The first end of a comment from a byte on: `*` and `/`, or the end of the text. */
static uint32_t comment_end(const tsl__mend_json *l, uint32_t at) {
  tsl__comment_end *known = l->comments, none = {.length = l->stop};
  if (!known) known = &none;
  if (at >= known->from && at <= known->to && known->to) return known->to;
  uint32_t i = at;
  while (i < known->length && (i != known->from || !known->to) &&
         !(i + 1 < known->length && l->text[i] == '*' && l->text[i + 1] == '/'))
    i++;
  if (i != known->from || !known->to) known->to = i;
  known->from = at;
  return known->to;
}

/* A comment's length, 0: there is none. */
static uint32_t comment(const tsl__mend_json *l) {
  const char *from = l->text + l->at;
  size_t left = l->stop - l->at;
  if (STARTS(l, "/*")) {
    uint32_t end = left > 3 ? comment_end(l, l->at + 2) : l->stop;
    return end + 2 <= l->stop ? end + 2 - l->at : 0;
  }
  if (STARTS(l, "...")) return 3; /* what a model left out */
  if (!STARTS(l, "//") && !STARTS(l, "# ")) return 0;
  const char *end = memchr(from, '\n', left);
  return (uint32_t)(end ? (size_t)(end - from) : left);
}

void tsl__mend_json_space(tsl__mend_json *l) {
  for (uint32_t n; l->at < l->stop; l->at += n) {
    n = tsl__mend_is_space(l->text[l->at]) ? 1 : comment(l);
    if (!n) return;
    if (!tsl__mend_is_space(l->text[l->at])) tsl__mend_json_note(l, TSL__REPAIR_COMMENT, l->at);
  }
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* ---- strings --------------------------------------------------------------------------------- */

static bool put(reader *r, const char *text, size_t n) {
  if (!tsl__vec_reserve(r->l->alloc, &r->buffer, n)) return failed(r->l);
  memcpy(r->buffer.at + r->buffer.n, text, n);
  r->buffer.n += n;
  return true;
}

static bool put_code(reader *r, uint32_t c) {
  uint8_t out[4];
  const unsigned n = tsl__utf8_encode(c, out);
  return put(r, (const char *)out, n);
}

/* The number that four digits spell, UINT32_MAX: they do not. */
static uint32_t four_digits(const tsl__mend_json *l, uint32_t at) {
  uint32_t c = 0;
  if (l->stop - at < 4) return UINT32_MAX;
  for (uint32_t i = 0; i < 4; i++) {
    char d = l->text[at + i];
    uint32_t v = d >= '0' && d <= '9'                 ? (uint32_t)(d - '0')
                 : (d | 32) >= 'a' && (d | 32) <= 'f' ? (uint32_t)((d | 32) - 'a') + 10
                                                      : UINT32_MAX;
    if (v == UINT32_MAX) return v;
    c = c * 16 + v;
  }
  return c;
}

/* Does the end cut the digits of an escape off? */
static bool is_cut_number(const tsl__mend_json *l) {
  uint32_t n = l->stop - l->at;
  for (uint32_t i = 0; n < 4 && i < n; i++)
    if (!is_digit(l->text[l->at + i]) && !strchr("abcdefABCDEF", l->text[l->at + i])) return false;
  return n < 4;
}

/* Does the end cut off the escape that begins here, or is it there already? */
static bool is_cut_escape(const tsl__mend_json *l) {
  tsl__mend_json inside = *l;
  if (!l->last || l->stop - l->at < 2)
    return l->last && (l->at == l->stop || l->text[l->at] == '\\');
  inside.at += 2;
  return STARTS(l, "\\u") && is_cut_number(&inside);
}

/* The escape at l->at, behind its backslash. */
static bool escape(reader *r) {
  static const char from[] = "\"\\/bfnrt'", to[] = "\"\\/\b\f\n\r\t'";
  tsl__mend_json *l = r->l;
  char c = l->text[l->at++];
  const char *known = c ? strchr(from, c) : NULL;
  if (c == '\'') tsl__mend_json_note(l, TSL__REPAIR_STRING, l->at - 2);
  if (known) return put(r, &to[known - from], 1);
  uint32_t code = c == 'u' ? four_digits(l, l->at) : UINT32_MAX;
  if (c == 'u' && l->last && is_cut_number(l)) {
    l->at = l->stop;
    return true;
  }
  if (code == UINT32_MAX) { /* the backslash stands for itself */
    tsl__mend_json_note(l, TSL__REPAIR_STRING, l->at - 2);
    return put(r, "\\", 1) && put(r, &c, 1);
  }
  l->at += 4;
  if (code >> 10 == 0x36 && STARTS(l, "\\u")) {
    uint32_t low = four_digits(l, l->at + 2);
    if (low != UINT32_MAX && low >> 10 == 0x37) {
      l->at += 6;
      return put_code(r, 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF));
    }
  }
  if (code >> 10 == 0x36 && is_cut_escape(l)) return l->at = l->stop, true;
  if (code >> 11 == 0x1B) tsl__mend_json_note(l, TSL__REPAIR_STRING, l->at - 6), code = 0xFFFD;
  return put_code(r, code);
}

#define COMMENT_MAX 1024u /* bytes of a comment behind a string */

/* Where a comment at that place ends, if it is a short one that ends by itself. One to the end of
 * the line needs a line behind it. */
static uint32_t behind_comment(const tsl__mend_json *l, uint32_t at) {
  tsl__mend_json ahead = *l;
  ahead.at = at;
  if (ahead.stop - at > COMMENT_MAX) ahead.stop = at + COMMENT_MAX;
  uint32_t end = at + (starts(&ahead, "...", 3) ? 0 : comment(&ahead));
  return end < ahead.stop || starts(&ahead, "/*", 2) ? end : at;
}

static uint32_t past_space(const tsl__mend_json *l, uint32_t at) {
  while (at < l->stop && tsl__mend_is_space(l->text[at])) at++;
  return at;
}

static bool is_quote(const tsl__mend_json *l, uint32_t at) {
  return at < l->stop && (l->text[at] == '"' || l->text[at] == '\'');
}

/* Does a value begin there, behind a key that has no colon? */
static bool value_begins(const tsl__mend_json *l, uint32_t at, bool space) {
  char c = at < l->stop ? l->text[at] : 0;
  return c == '{' || c == '[' || (space && c && strchr("\"'-0123456789tfnTFN", c));
}

/* The punctuation at `at`, 0 behind the end; those of Chinese as those of ASCII. *n: its bytes. */
static char mark_at(const tsl__mend_json *l, uint32_t at, uint32_t *n) {
  static const struct {
    char chinese[4], is;
  } marks[] = {{"\xEF\xBC\x8C", ','}, {"\xEF\xBC\x9A", ':'}, {"\xEF\xBC\x9B", ';'}};
  *n = 1;
  for (size_t i = 0; i < sizeof marks / sizeof *marks && l->stop - at >= 3; i++)
    if (!memcmp(l->text + at, marks[i].chinese, 3)) return *n = 3, marks[i].is;
  return at < l->stop ? l->text[at] : 0;
}

#define KEY_MAX 64u /* bytes of a key that is looked for behind a value without a comma */

/* Do a name in quotes and a colon stand there? */
static bool key_begins(const tsl__mend_json *l, uint32_t at) {
  uint32_t i = at + 1, n;
  while (i < l->stop && i - at < KEY_MAX && l->text[i] != l->text[at] && l->text[i] != '\n') i++;
  if (i >= l->stop || l->text[i] != l->text[at]) return false;
  i = past_space(l, i + 1);
  return i < l->stop && (mark_at(l, i, &n) == ':' || value_begins(l, i, true));
}

/* Does a string end with the quote before `at`? A semicolon ends it where the next member or a
 * bracket follows. So does a quote behind white space, which within an object begins a key. */
static bool ends_there(const tsl__mend_json *l, uint32_t at, bool key, bool member) {
  uint32_t from = at, n;
  at = past_space(l, behind_comment(l, past_space(l, at)));
  char mark = mark_at(l, at, &n);
  if (at == l->stop || (mark && strchr(",:=}])", mark))) return true;
  if (l->stop - at >= 3 && !memcmp(l->text + at, "```", 3)) return true;
  uint32_t next = past_space(l, at + 1);
  if (l->text[at] == ';' &&
      (next >= l->stop || is_quote(l, next) || l->text[next] == '}' || l->text[next] == ']'))
    return true;
  if (key) return value_begins(l, at, at > from);
  return at > from && is_quote(l, at) && (!member || key_begins(l, at));
}

static bool named_at(const tsl__mend_json *l, uint32_t from, char then);

/* A string ended in front of a colon, and its last words were a key: "city": "Paris, "days": 3. The
 * comma in front of that key; UINT32_MAX: it is no such string. */
static uint32_t swallowed_key(const tsl__mend_json *l, uint32_t from, uint32_t end, char quote) {
  uint32_t i = end, colon = past_space(l, end + 1);
  if (colon >= l->stop || l->text[colon] != ':') return UINT32_MAX;
  while (i > from && l->text[i - 1] != quote && l->text[i - 1] != '\n') i--;
  if (i == from || l->text[--i] != quote) return UINT32_MAX;
  while (i > from && tsl__mend_is_space(l->text[i - 1])) i--;
  return i > from && l->text[i - 1] == ',' ? i - 1 : UINT32_MAX;
}

/* A string ran into the end: the brackets that it swallowed are no part of it. */
static void give_back(reader *r) {
  size_t n = r->buffer.n, levels = r->levels.n;
  while (n && tsl__mend_is_space(r->buffer.at[n - 1])) n--;
  if (n >= 3 && !memcmp(r->buffer.at + n - 3, "```", 3)) n -= 3;
  while (n && tsl__mend_is_space(r->buffer.at[n - 1])) n--;
  for (; n && levels && (r->buffer.at[n - 1] == '}' || r->buffer.at[n - 1] == ']'); levels--) do
      n--;
    while (n && tsl__mend_is_space(r->buffer.at[n - 1]));
  r->buffer.n = n;
}

/* "Pa" + "ris" is one string: moves behind its second quote if a plus and that quote come next. */
static bool past_plus(tsl__mend_json *l, tsl__string quote) {
  uint32_t plus = past_space(l, l->at), next = past_space(l, plus + 1);
  if (plus >= l->stop || l->text[plus] != '+' || next >= l->stop || l->stop - next < quote.length ||
      memcmp(l->text + next, quote.at, quote.length))
    return false;
  tsl__mend_json_note(l, TSL__REPAIR_STRING, plus);
  l->at = next + quote.length;
  return true;
}

static bool quoted(reader *r, tsl__string quote, bool escapes, bool key);

/* A string of which the end is known. */
static bool quoted_to(reader *r, tsl__string quote, uint32_t from, uint32_t stop) {
  tsl__mend_json *l = r->l;
  uint32_t before = l->stop;
  l->at = from;
  l->stop = stop;
  bool fine = quoted(r, quote, true, false);
  l->stop = before;
  return fine;
}

/* The text between l->at and the quote, which is as long as that. Decoded if `escapes`. `key`: it
 * is the name of a member. */
static bool quoted(reader *r, tsl__string quote, bool escapes, bool key) {
  tsl__mend_json *l = r->l;
  uint32_t from = l->at, found = l->found;
  char innermost = r->levels.n ? r->levels.at[r->levels.n - 1].close : 0;
  bool member = innermost == '}', typographic = (uint8_t)quote.at[0] == 0xE2, inner = false;
  r->buffer.n = 0;
  while (l->at < l->stop) {
    char c = l->text[l->at];
    if (c == quote.at[0] && starts(l, quote.at, quote.length)) {
      uint32_t comma = member && !key && escapes && quote.length == 1
                           ? swallowed_key(l, from, l->at, quote.at[0])
                           : UINT32_MAX;
      if (comma != UINT32_MAX) {
        l->found = found;
        return quoted_to(r, quote, from, comma);
      }
      l->at += quote.length;
      if (!escapes || ends_there(l, l->at, key, member)) return true;
      if (!inner && !key && past_plus(l, quote)) continue;
      inner = true;
      if (innermost == ')' && tsl__mend_is_space(l->text[l->at]) &&
          named_at(l, past_space(l, l->at), '='))
        return true; /* f(a="x" b=1) */
      tsl__mend_json_note(l, TSL__REPAIR_STRING, l->at - 1);
      l->unclean = true;
      if (!put(r, quote.at, quote.length)) return false;
      continue;
    }
    if (typographic && c == '"' && ends_there(l, l->at + 1, key, member)) return l->at++, true;
    l->at++;
    if (c == '\\' && escapes && (l->at < l->stop || l->last)) {
      if (l->at < l->stop && !escape(r)) return false; /* the end may cut an escape off */
      continue;
    }
    if ((uint8_t)c < 0x20 && escapes) tsl__mend_json_note(l, TSL__REPAIR_STRING, l->at - 1);
    if (!put(r, &c, 1)) return false;
  }
  give_back(r);
  l->cut = true;
  tsl__mend_json_note(l, TSL__REPAIR_QUOTES, from);
  l->unclean = true;
  return true;
}

/* Do three quotes begin there, which three of them end? */
static bool is_tripled(const tsl__mend_json *l, tsl__string quote) {
  if (!starts(l, quote.at, quote.length)) return false;
  for (uint32_t i = l->at + 3; i + 3 <= l->stop; i++)
    if (!memcmp(l->text + i, quote.at, 3)) return true;
  return false;
}

/* A string in any quotes; false: there is none, or no memory. */
static bool read_string(reader *r, bool key) {
  static const tsl__string quotes[] = {{"\"", 1},           {"'", 1},  {"\xE2\x80\x9D", 3},
                                       {"\xE2\x80\x99", 3}, {"`", 1},  {"\\\"", 2},
                                       {"\"\"\"", 3},       {"'''", 3}};
  tsl__mend_json *l = r->l;
  if (l->quote.length && starts(l, l->quote.at, l->quote.length)) {
    l->at += l->quote.length;
    return quoted(r, l->quote, false, key);
  }
  int kind = is_tripled(l, quotes[6])                                 ? 6
             : is_tripled(l, quotes[7])                               ? 7
             : STARTS(l, "\"")                                        ? 0
             : STARTS(l, "'")                                         ? 1
             : STARTS(l, "\xE2\x80\x9C") || STARTS(l, "\xE2\x80\x9D") ? 2
             : STARTS(l, "\xE2\x80\x98")                              ? 3
             : STARTS(l, "`") && !STARTS(l, "```")                    ? 4
             : STARTS(l, "\\\"")                                      ? 5
                                                                      : -1;
  if (kind < 0) return false;
  if (kind || l->quote.length) tsl__mend_json_note(l, TSL__REPAIR_QUOTES, l->at);
  l->at += quotes[kind].length;
  return quoted(r, quotes[kind], true, key);
}

static bool copied(reader *r, const char **text, uint32_t *length) {
  char *copy = tsl__arena_copy(r->l->arena, r->buffer.at, r->buffer.n);
  if (!copy) return failed(r->l);
  *text = copy;
  *length = (uint32_t)r->buffer.n;
  return true;
}

/* ---- words and numbers ----------------------------------------------------------------------- */

/* Is it a number as JSON spells them? */
static bool is_number(const char *s, size_t n) {
  size_t i = n && s[0] == '-', whole = i;
  while (i < n && is_digit(s[i])) i++;
  if (i == whole || (s[whole] == '0' && i > whole + 1)) return false;
  if (i < n && s[i] == '.') {
    size_t from = ++i;
    while (i < n && is_digit(s[i])) i++;
    if (i == from) return false;
  }
  if (i < n && (s[i] | 32) == 'e') {
    i += 1 + (i + 1 < n && (s[i + 1] == '+' || s[i + 1] == '-'));
    size_t from = i;
    while (i < n && is_digit(s[i])) i++;
    if (i == from) return false;
  }
  return i == n;
}

/* The same number as JSON spells it, in the buffer; false: it is none. */
static bool mended_number(reader *r, const char *s, size_t n) {
  r->buffer.n = 0;
  if (n > 400 || !tsl__vec_reserve(r->l->alloc, &r->buffer, n + 2)) return false;
  char *out = r->buffer.at;
  size_t i = 0, k = 0;
  if (n && (s[0] == '+' || s[0] == '-')) i++;
  if (i && s[0] == '-') out[k++] = '-';
  if (i >= n || !(is_digit(s[i]) || s[i] == '.')) return false;
  while (i + 1 < n && s[i] == '0' && is_digit(s[i + 1])) i++;
  if (s[i] == '.') out[k++] = '0';
  for (; i < n; i++) {
    if (s[i] == '_') continue;
    if (s[i] == '.' && (i + 1 == n || !is_digit(s[i + 1]))) continue;
    out[k++] = s[i];
  }
  r->buffer.n = k;
  return is_number(out, k);
}

/* TSL__JSON_NULL, _FALSE or _TRUE; -1: it is none of them. */
static int word_of(const char *s, size_t n, bool *exact) {
  static const struct {
    const char *word;
    int kind;
  } words[] = {{"null", TSL__JSON_NULL}, {"false", TSL__JSON_FALSE},    {"true", TSL__JSON_TRUE},
               {"none", TSL__JSON_NULL}, {"undefined", TSL__JSON_NULL}, {"nil", TSL__JSON_NULL}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t k = 0;
    if (strlen(words[i].word) != n) continue;
    while (k < n && (s[k] | 32) == words[i].word[k]) k++;
    if (k < n) continue;
    *exact = i < 3 && !memcmp(s, words[i].word, n);
    return words[i].kind;
  }
  return -1;
}

/* What stands without quotes: up to a comma, a bracket, a quote or the end of the line. */
static uint32_t bare_end(const tsl__mend_json *l, const char *stops) {
  uint32_t i = l->at;
  while (i < l->stop && l->text[i] && !strchr(stops, l->text[i])) {
    uint32_t n;
    if (l->quote.length && l->text[i] == l->quote.at[0] && i > l->at) break;
    if (mark_at(l, i, &n) != l->text[i]) break;
    if (tsl__mend_is_space(l->text[i]) && l->stop - i > 2 && l->text[i + 1] == '/' &&
        (l->text[i + 2] == '/' || l->text[i + 2] == '*'))
      break;
    i++;
  }
  while (i > l->at && tsl__mend_is_space(l->text[i - 1])) i--;
  return i;
}

/* Does the end cut off a word or a number that begins here? */
static bool is_cut_word(const tsl__mend_json *l) {
  static const char *const words[] = {"true", "false", "null", "none", "- "};
  const char *s = l->text + l->at;
  size_t n = l->stop - l->at;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t k = 0;
    while (k < n && words[i][k] && (s[k] | 32) == words[i][k]) k++;
    if (n && k == n && words[i][k]) return true;
  }
  return false;
}

static bool bare_value(reader *r, tsl__json *out) {
  tsl__mend_json *l = r->l;
  uint32_t from = l->at, end = bare_end(l, ",;{}[]()\"\n");
  const char *s = l->text + from;
  size_t n = end - from;
  bool exact;
  int word = word_of(s, n, &exact);
  l->at = end;
  if (!n) { /* a comma or a bracket where a value should be */
    tsl__mend_json_note(l, TSL__REPAIR_WORD, from);
    out->kind = TSL__JSON_NULL;
    return true;
  }
  if (word >= 0) {
    if (!exact) tsl__mend_json_note(l, TSL__REPAIR_WORD, from);
    out->kind = (uint32_t)word & 7u;
    return true;
  }
  bool number = is_number(s, n), mended = !number && mended_number(r, s, n);
  out->kind = number || mended ? TSL__JSON_NUMBER : TSL__JSON_STRING;
  if (!number) tsl__mend_json_note(l, mended ? TSL__REPAIR_NUMBER : TSL__REPAIR_QUOTES, from);
  if (!mended) {
    r->buffer.n = 0;
    if (!put(r, s, n)) return false;
  }
  return copied(r, &out->text, &out->length);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool open_level(reader *r, tsl__json holder, char close) {
  level fresh = {close, (uint32_t)r->pending.n, r->l->at, holder};
  if (r->levels.n >= TSL__MEND_DEPTH_MAX) return false;
  return tsl__vec_push(r->l->alloc, &r->levels, fresh) || failed(r->l);
}

/* The innermost level becomes a child of the one around it, or the result. */
static bool close_level(reader *r) {
  const level done = r->levels.at[--r->levels.n];
  size_t n = r->pending.n - done.from;
  tsl__json value = done.holder;
  tsl__json *items =
      n ? tsl__arena_copy(r->l->arena, r->pending.at + done.from, n * sizeof *items) : NULL;
  if (n && !items) return failed(r->l);
  value.items = items;
  value.length = (uint32_t)n;
  value.kind = done.close == ']' ? TSL__JSON_ARRAY : TSL__JSON_OBJECT;
  value.offset = done.offset;
  r->pending.n = done.from;
  return tsl__vec_push(r->l->alloc, &r->pending, value) || failed(r->l);
}

/* A value: a string or a word becomes a child, a bracket opens a level. False: there is none. */
static bool begin_value(reader *r, tsl__json holder) {
  tsl__mend_json *l = r->l;
  char c = l->at < l->stop ? l->text[l->at] : 0;
  holder.offset = l->at;
  if (c == '{' || c == '[' || c == '(') {
    if (c == '(') tsl__mend_json_note(l, TSL__REPAIR_BRACKET, l->at);
    l->at++;
    return open_level(r, holder, c == '{' ? '}' : ']');
  }
  if (read_string(r, false)) {
    holder.kind = TSL__JSON_STRING;
    if (!copied(r, &holder.text, &holder.length)) return false;
  } else if (l->status != TSL_OK || !bare_value(r, &holder)) {
    return false;
  }
  return tsl__vec_push(l->alloc, &r->pending, holder) || failed(l);
}

/* Is there a name at that place, and then that character? */
static bool named_at(const tsl__mend_json *l, uint32_t from, char then) {
  uint32_t i = from;
  while (i < l->stop &&
         (((l->text[i] | 32) >= 'a' && (l->text[i] | 32) <= 'z') || is_digit(l->text[i]) ||
          l->text[i] == '_' || (l->text[i] == '-' && then == '(') || (uint8_t)l->text[i] >= 0x80))
    i++;
  uint32_t end = i;
  while (i < l->stop && tsl__mend_is_space(l->text[i])) i++;
  return end > from && i < l->stop && l->text[i] == then;
}

static bool named_here(const tsl__mend_json *l, char then) { return named_at(l, l->at, then); }

/* A key and what stands behind it. */
static bool read_key(reader *r, char close, tsl__json *holder) {
  tsl__mend_json *l = r->l;
  uint32_t from = l->at;
  if (close == ')' && !named_here(l, '=') && !named_here(l, ':') && l->text[l->at] != '"' &&
      l->text[l->at] != '\'') {
    holder->user = 1;
  } else if (!read_string(r, true)) {
    uint32_t end = bare_end(l, ",;{}[]()\"\n:=");
    if (l->status != TSL_OK || end == from) return false;
    if (close == '}' && !l->quote.length) tsl__mend_json_note(l, TSL__REPAIR_QUOTES, from);
    r->buffer.n = 0;
    if (!put(r, l->text + from, end - from)) return false;
    l->at = end;
  }
  if (!holder->user) {
    if (!copied(r, &holder->key, &holder->key_length)) return false;
    tsl__mend_json_space(l);
    uint32_t n;
    char c = mark_at(l, l->at, &n);
    if (c == ':' || c == '=') {
      if (c != (close == ')' ? '=' : ':') || n > 1)
        tsl__mend_json_note(l, TSL__REPAIR_COLON, l->at);
      l->at += n;
      if (c == '=' && STARTS(l, ">")) l->at++;
      for (tsl__mend_json_space(l); STARTS(l, ":"); tsl__mend_json_space(l)) {
        tsl__mend_json_note(l, TSL__REPAIR_COLON, l->at);
        l->at++;
      }
      return true;
    }
    if (close == '}') {
      if (l->last && l->at >= l->stop) return true; /* cut off */
      if (!value_begins(l, l->at, true)) return false;
      tsl__mend_json_note(l, TSL__REPAIR_COLON, l->at);
      return true;
    }
    l->at = from; /* a string without a name */
    holder->user = 1;
  }
  char number[16];
  int length = snprintf(number, sizeof number, "%zu", r->pending.n);
  holder->key = tsl__arena_copy(l->arena, number, (size_t)length);
  holder->key_length = (uint32_t)length;
  tsl__mend_json_note(l, TSL__REPAIR_POSITION, from);
  return holder->key || failed(l);
}

/* A closing bracket: that of the innermost level, of one around it, or of none. */
static bool closing(reader *r, char c) {
  tsl__mend_json *l = r->l;
  size_t depth = r->levels.n;
  while (depth && r->levels.at[depth - 1].close != c) depth--;
  if (depth != r->levels.n) tsl__mend_json_note(l, TSL__REPAIR_BRACKET, l->at);
  if (!depth && c == ')') depth = r->levels.n; /* a tuple */
  l->at++;
  while (depth && r->levels.n >= depth)
    if (!close_level(r)) return false;
  return true;
}

/* What stands between children. False: there can be no further one. */
static bool separator(reader *r) {
  tsl__mend_json *l = r->l;
  uint32_t from = l->at, commas = 0;
  for (uint32_t n;; l->at += n, commas++) {
    tsl__mend_json_space(l);
    char mark = mark_at(l, l->at, &n);
    if (mark != ',' && mark != ';') break;
    if (mark == ';' || n > 1) tsl__mend_json_note(l, TSL__REPAIR_COMMA, l->at);
  }
  bool first = r->pending.n == r->levels.at[r->levels.n - 1].from,
       last = l->at >= l->stop || strchr("}])", l->text[l->at]) || STARTS(l, "```");
  if (commas != (uint32_t)(!first && !last)) tsl__mend_json_note(l, TSL__REPAIR_COMMA, from);
  return l->at < l->stop;
}

/* The children of all open levels. False: it is no JSON, or no memory is left. */
static bool levels(reader *r) {
  tsl__mend_json *l = r->l;
  while (r->levels.n && l->status == TSL_OK) {
    if (!separator(r)) {
      tsl__mend_json_note(l, TSL__REPAIR_BRACKET, l->at);
      l->unclean = true;
      while (r->levels.n)
        if (!close_level(r)) return false;
      return true;
    }
    char c = l->text[l->at], close = r->levels.at[r->levels.n - 1].close;
    if (c == '}' || c == ']' || c == ')') {
      if (!closing(r, c)) return false;
      continue;
    }
    bool empty = r->pending.n == r->levels.at[r->levels.n - 1].from;
    if (c == '{' && close == '}' && empty) { /* {{"a": 1} */
      tsl__mend_json_note(l, TSL__REPAIR_BRACKET, l->at);
      l->at++;
      continue;
    }
    if (STARTS(l, "```") || (close == ')' && named_here(l, '('))) { /* what follows is no child */
      l->stop = l->at;
      continue;
    }
    tsl__json holder = {0};
    uint32_t from = l->at;
    if (close != ']' && !read_key(r, close, &holder)) return false;
    if (l->last && !holder.user && is_cut_word(l)) l->at = l->stop;
    if (l->last && !holder.user && l->at >= l->stop) continue; /* the end cuts the value off */
    if (!begin_value(r, holder)) return false;
    if (l->at == from) return false;
  }
  return l->status == TSL_OK;
}

static tsl__json *finish(reader *r, bool fine) {
  tsl__json *out = NULL;
  if (fine && r->pending.n == 1 &&
      !(out = tsl__arena_copy(r->l->arena, r->pending.at, sizeof *out)))
    failed(r->l);
  tsl__vec_free(r->l->alloc, &r->levels);
  tsl__vec_free(r->l->alloc, &r->pending);
  tsl__vec_free(r->l->alloc, &r->buffer);
  return out;
}

tsl__json *tsl__mend_json_value(tsl__mend_json *l) {
  reader r = {.l = l};
  tsl__mend_json_space(l);
  if (l->at >= l->stop) return NULL;
  bool fine = begin_value(&r, (tsl__json){0}) && levels(&r);
  return finish(&r, fine);
}

tsl__json *tsl__mend_json_members(tsl__mend_json *l, char close) {
  reader r = {.l = l};
  bool fine = open_level(&r, (tsl__json){0}, close) && levels(&r);
  return finish(&r, fine);
}
