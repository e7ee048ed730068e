/* json_in.c - reading a JSON text that is in memory, without a tree. See json_in.h.
 *
 * Problem: requests come from strangers. A tree of a text of 5 MB takes ten times as much memory,
 * and freeing a deep one recurses.
 *
 * Idea: yajl checks the whole text once, with a stack of its own. After that a value is a pair of
 * pointers into the text. The end of a value is found by counting brackets outside of strings.
 *
 * Example: of {"a": [1, 2], "b": "x"} the member "b" is the three bytes "x" with their quotes.
 *
 * Cost: linear in the bytes of the object that is looked at.
 *
 * Tested by tests/models/test_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/json_in.h"

#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

static const char *skip_space(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n", *at) && *at) at++;
  return at;
}

static const char *skip_string(const char *at) {
  for (at++; *at != '"'; at++)
    if (*at == '\\') at++;
  return at + 1;
}

/* The end of the value that begins at `at`. */
static const char *skip_value(const char *at, const char *end) {
  size_t depth = 0;
  do {
    if (*at == '"') {
      at = skip_string(at);
    } else if (*at == '{' || *at == '[') {
      depth++;
      at++;
    } else if (*at == '}' || *at == ']') {
      depth--;
      at++;
    } else if (depth) {
      at++;
    } else {
      while (at < end && !strchr(" \t\r\n,:]}", *at)) at++;
    }
  } while (depth && at < end);
  return at;
}

bool json_in_check(const char *text, size_t length, json_in *out, size_t *offset,
                   const char **why) {
  static const yajl_callbacks none = {0};
  yajl_handle parser = yajl_alloc(&none, NULL, NULL);
  *offset = 0;
  *why = "out of memory";
  if (!parser) return false;
  yajl_status status = yajl_parse(parser, (const unsigned char *)text, length);
  *offset = yajl_get_bytes_consumed(parser);
  *why = "this is no JSON";
  if (status == yajl_status_ok) {
    status = yajl_complete_parse(parser);
    *why = "the text ends too early";
  }
  yajl_free(parser);
  if (status == yajl_status_ok && memchr(text, 0, length)) *why = "the text has a NUL byte";
  if (status != yajl_status_ok || memchr(text, 0, length)) return false;
  const char *at = skip_space(text, text + length);
  *out = (json_in){at, (size_t)(skip_value(at, text + length) - at)};
  return true;
}

char json_in_kind(json_in value) {
  char c = value.at ? *value.at : 0;
  return c == '-' || (c >= '0' && c <= '9') ? '0' : c;
}

/* Step over a comma, the name of a member and its colon. The name goes to *name. False at the end
 * of the list. */
static bool to_value(json_in list, const char **at, json_in *name) {
  const char *end = list.at + list.length;
  *at = skip_space(*at, end);
  if (**at == ',') *at = skip_space(*at + 1, end);
  if (**at == ']' || **at == '}') return false;
  if (*list.at == '{') {
    const char *begin = *at;
    *at = skip_string(*at);
    *name = (json_in){begin, (size_t)(*at - begin)};
    *at = skip_space(*at, end);
    *at = skip_space(*at + 1, end); /* the colon */
  }
  return true;
}

static bool next(json_in list, json_in *item, json_in *name) {
  char kind = json_in_kind(list);
  if (kind != '{' && kind != '[') return false;
  const char *at = item->at ? item->at + item->length : list.at + 1;
  if (!to_value(list, &at, name)) return false;
  *item = (json_in){at, (size_t)(skip_value(at, list.at + list.length) - at)};
  return true;
}

bool json_in_next(json_in list, json_in *item) {
  json_in name;
  return next(list, item, &name);
}

bool json_in_next_member(json_in object, json_in *item, json_in *name) {
  return next(object, item, name);
}

json_in json_in_member(json_in object, const char *name) {
  json_in item = {0}, found = {0}, at;
  while (json_in_kind(object) == '{' && next(object, &item, &at))
    if (json_in_is(at, name)) found = item;
  return found;
}

/* ---- strings --------------------------------------------------------------------------------- */

static void add_utf8(cli_text *out, uint32_t c) {
  char b[4];
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = n; i-- > 1; c >>= 6) b[i] = (char)(0x80 | (c & 0x3f));
  b[0] = (char)(lead[n] | c);
  cli_text_add(out, b, n);
}

static uint32_t hex4(const char *at) {
  char digits[5] = {at[0], at[1], at[2], at[3], 0};
  return (uint32_t)strtoul(digits, NULL, 16);
}

/* The character of the escape behind \u at `at`; *at moves behind it. */
static uint32_t unescape(const char **at) {
  uint32_t c = hex4(*at);
  *at += 4;
  if (c < 0xd800 || c > 0xdfff) return c;
  if (c > 0xdbff || (*at)[0] != '\\' || (*at)[1] != 'u') return 0xfffd;
  uint32_t low = hex4(*at + 2);
  if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
  *at += 6;
  return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

bool json_in_string(json_in value, cli_text *out) {
  static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
  if (json_in_kind(value) != '"') return false;
  cli_text_add(out, "", 0);
  const char *at = value.at + 1, *end = value.at + value.length - 1;
  while (at < end) {
    const char *stop = memchr(at, '\\', (size_t)(end - at));
    size_t n = (size_t)((stop ? stop : end) - at);
    cli_text_add(out, at, n);
    at += n;
    if (at == end) break;
    char c = at[1];
    at += 2;
    if (c == 'u') {
      add_utf8(out, unescape(&at));
    } else {
      const char *known = strchr(from, c);
      cli_text_add(out, known ? to + (known - from) : &c, 1);
    }
  }
  return true;
}

bool json_in_number(json_in value, double *out) {
  if (json_in_kind(value) != '0') return false;
  char digits[64] = "";
  memcpy(digits, value.at, value.length < 63 ? value.length : 63);
  *out = strtod(digits, NULL);
  return true;
}

bool json_in_is(json_in value, const char *text) {
  size_t n = strlen(text);
  if (json_in_kind(value) != '"') return false;
  if (!memchr(value.at, '\\', value.length))
    return value.length == n + 2 && !memcmp(value.at + 1, text, n);
  cli_text plain = {0};
  json_in_string(value, &plain);
  bool same = plain.length == n && !memcmp(plain.at, text, n);
  cli_text_free(&plain);
  return same;
}
