/* fault.c - see fault.h.
 *
 * Problem   {'a': None,} is a Python dict, {a: 1} is JavaScript, and // begins a comment in a file
 *           of settings. "A value must stand here" is true of all, and helps nobody.
 * Idea      Look at the byte where the reader stopped, at what stands before it, and at the word
 *           that it is in. A row of a table for each word, and a case for each byte.
 * Order     Some bytes are wrong wherever they stand between values: a comment's, other quotes.
 *           They are looked at first. Otherwise it matters what the reader was waiting for, which
 *           its message says. The inside of a string is left to the reader.
 * Example   {"a": True}: the reader stops at the T. The word is True, which JSON writes as true.
 * Cost      Nothing for a text that is JSON; else a look at some bytes.
 * Tested by tests/json/test_json_fault.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/fault.h"

#include <stdbool.h>
#include <string.h>

static bool is_letter(char c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The byte before `at` that is no white space; 0: there is none. */
static char before(const char *text, size_t at) {
  while (at && strchr(" \t\r\n", text[at - 1])) at--;
  return at ? text[at - 1] : 0;
}

static const struct {
  const char *word, *message;
} words[] = {
    {"True", "True is Python's word: JSON has true"},
    {"TRUE", "JSON has true, in small letters"},
    {"False", "False is Python's word: JSON has false"},
    {"FALSE", "JSON has false, in small letters"},
    {"None", "None is Python's word: JSON has null"},
    {"nil", "nil is no word of JSON, which has null"},
    {"Null", "JSON has null, in small letters"},
    {"NULL", "JSON has null, in small letters"},
    {"undefined", "undefined is no value of JSON: leave the member out, or write null"},
    {"NaN", "JSON has no NaN: leave the member out, or write null"},
    {"nan", "JSON has no nan: leave the member out, or write null"},
    {"Infinity", "JSON has no Infinity: leave the bound out, or write a number"},
    {"inf", "JSON has no inf: leave the bound out, or write a number"},
};

/* A word in the place of a value. */
static const char *word(const char *text, size_t length, size_t at) {
  size_t from = at, to = at;
  while (from && is_letter(text[from - 1])) from--;
  while (to < length && is_letter(text[to])) to++;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == to - from && !memcmp(text + from, words[i].word, to - from))
      return words[i].message;
  if (to < length && text[to] == '(')
    return "a call is no JSON: print the value (in Python, json.dumps writes JSON)";
  return !before(text, from) ? "a text without quotes, or no JSON at all: a schema begins with {"
                             : "a text without quotes: write it in double quotes";
}

static bool starts(const char *text, size_t length, size_t at, const char *with) {
  size_t n = strlen(with);
  return length - at >= n && !memcmp(text + at, with, n);
}

/* By the byte alone, wherever it stands. */
static const char *by_byte(const char *text, size_t length, size_t at) {
  if (starts(text, length, at, "//") || starts(text, length, at, "/*") || text[at] == '#')
    return "JSON has no comments: leave it out";
  if (starts(text, length, at, "```")) return "a code fence is no part of JSON: leave it out";
  if (text[at] == '\'' || text[at] == '`')
    return "JSON has double quotes, no single ones (in Python, json.dumps writes JSON)";
  if (starts(text, length, at, "\xE2\x80\x9C") || starts(text, length, at, "\xE2\x80\x9D") ||
      starts(text, length, at, "\xE2\x80\x98") || starts(text, length, at, "\xE2\x80\x99"))
    return "these are typographic quotes: write straight double quotes";
  if (text[at] == ';') return "JSON has commas between members and items, no semicolons";
  if (starts(text, length, at, "...")) return "dots stand for nothing in JSON: leave them out";
  if (text[at] == '<' && !before(text, at)) return "this is markup, such as HTML, and no JSON";
  return NULL;
}

/* Where a value must stand. */
static const char *no_value(const char *text, size_t length, size_t at) {
  char last = before(text, at), c = at < length ? text[at] : 0;
  if (at == length) return last ? "the text ends where a value must stand" : "the text is empty";
  if ((c == '}' || c == ']') && last == ',') return "a comma too many: leave out the last comma";
  if (c == ',') return "a value is missing in front of the comma, or a comma is too many";
  if (c == '+') return "a number has no plus sign: leave it out";
  if (c == '.') return "a number begins with a digit: write 0.5 for .5";
  if (is_letter(c) || (at && is_letter(text[at - 1]))) return word(text, length, at);
  return NULL;
}

/* Where a key must stand. */
static const char *no_key(const char *text, size_t at) {
  char last = before(text, at), c = text[at];
  if (c == '}' && last == ',') return "a comma too many: leave out the last comma";
  if (c == ',') return "a comma too many: leave it out";
  if (is_letter(c) || c == '$') return "a key without quotes: write it in double quotes";
  if (c == '{') return "a key is missing in front of this brace, or the brace is too many";
  return is_digit(c) ? "a key is a string: write the number in double quotes" : NULL;
}

/* Where a value is over. */
static const char *no_comma(const char *text, size_t at) {
  char last = before(text, at), c = text[at];
  if (c == '"') return "a comma is missing in front of this string";
  if (c == '{' || c == '[') return "a comma is missing in front of this bracket";
  if ((c == 'x' || c == 'X') && last == '0') return "JSON has decimal numbers alone";
  if (c == '_' && is_digit(last)) return "a number has digits alone: leave out the _";
  if (c == ':') return "a colon stands behind a key alone: is a brace or a quote missing before?";
  return is_digit(c) || is_letter(c) ? "a comma is missing in front of this value" : NULL;
}

/* Is the message about the inside of a string? */
static bool in_string(const char *message) {
  static const char *const begins[] = {"no such", "an escape", "a control",
                                       "no UTF",  "a lone",    "the string"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (!strncmp(message, begins[i], strlen(begins[i]))) return true;
  return false;
}

const char *tsl__json_fault(const char *text, size_t length, size_t at, const char *message) {
  const char *found = at < length && !in_string(message) ? by_byte(text, length, at) : NULL;
  if (found) return found;
  if (!strncmp(message, "a value must", 12) ||
      !strncmp(message, "a digit must follow the minus", 29))
    found = no_value(text, length, at);
  else if (!strncmp(message, "the key of", 10))
    found = no_key(text, at);
  else if (!strncmp(message, "a comma or", 10))
    found = no_comma(text, at);
  else if (!strncmp(message, "a colon must", 12) && text[at] == '=')
    found = "a colon must follow the key, no =";
  else if (!strncmp(message, "a control", 9) && text[at] == '\n')
    found = "a line break in a string is written as \\n (or a quote is missing before)";
  else if (!strncmp(message, "nothing may", 11) && (text[at] == '{' || text[at] == '['))
    found = "a second value follows the first: one text is one value";
  else if (!strncmp(message, "nothing may", 11) && (text[at] == '}' || text[at] == ']'))
    found = "a bracket too many: the value is over before";
  return found ? found : message;
}
