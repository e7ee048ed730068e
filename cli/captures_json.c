/* captures_json.c - values of a JSON text by JSON pointer. See captures.h.
 *
 * The text has been accepted by a schema's grammar, so it is well-formed. What is left to do is to
 * find where values begin and end. Values are written as they were spelled, without the white space
 * between their parts, so nothing is rounded or cut at U+0000. The scanner keeps its own stack:
 * nesting is bounded by memory only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "cli/captures.h"
#include "cli/json_out.h"

typedef struct span {
  size_t start, end; /* bytes of the text; end 0: not found */
} span;

/* An array or object that is open. */
typedef struct frame {
  size_t start;       /* of its bracket */
  size_t index;       /* of the item or member at hand */
  size_t path_length; /* of its own pointer */
  bool object;
} frame;

typedef struct scanner {
  const char *text;
  size_t length, at;
  cli_text path; /* pointer of the value at hand */
  frame *stack;
  size_t depth, capacity;
  const char *const *pointers; /* wanted; count 0: all leaves are printed as they come */
  size_t count;
  span *found;
  bool first; /* nothing printed yet */
} scanner;

static void skip_space(scanner *s) {
  while (s->at < s->length && strchr(" \t\r\n", s->text[s->at])) s->at++;
}

static void skip_string(scanner *s) {
  for (s->at++; s->at < s->length && s->text[s->at] != '"'; s->at++)
    if (s->text[s->at] == '\\') s->at++;
  s->at++;
}

static void print_span(const scanner *s, span v) {
  bool in_string = false;
  for (size_t i = v.start; i < v.end; i++) {
    char c = s->text[i];
    if (!in_string && strchr(" \t\r\n", c)) continue;
    if (in_string && c == '\\')
      putchar(s->text[i++]);
    else if (c == '"')
      in_string = !in_string;
    putchar(s->text[i]);
  }
}

static void print_member(scanner *s, const char *pointer, size_t length, span v) {
  if (!s->first) putchar(',');
  s->first = false;
  json_out_string(pointer, length);
  putchar(':');
  print_span(s, v);
}

/* A value of which s->path is the pointer ends at s->at. */
static void visit(scanner *s, size_t start, bool leaf) {
  span v = {start, s->at};
  if (!s->count && leaf) print_member(s, s->path.at, s->path.length, v);
  for (size_t i = 0; i < s->count; i++)
    if (strlen(s->pointers[i]) == s->path.length &&
        !memcmp(s->pointers[i], s->path.at, s->path.length))
      s->found[i] = v;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint32_t hex4(const char *at) {
  char digits[5] = {at[0], at[1], at[2], at[3], 0};
  return (uint32_t)strtoul(digits, NULL, 16);
}

static void add_code_point(cli_text *to, uint32_t c) {
  char b[4];
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = n; i-- > 1; c >>= 6) b[i] = (char)(0x80 | (c & 0x3f));
  b[0] = (char)(lead[n] | c);
  cli_text_add(to, b, n);
}

/* The escape at s->at ('\\'), decoded; s->at moves past it. */
static uint32_t read_escape(scanner *s) {
  static const char letters[] = "bfnrt", values[] = "\b\f\n\r\t";
  char c = s->text[s->at + 1];
  const char *found = strchr(letters, c);
  s->at += 2;
  if (c != 'u') return found && c ? (unsigned char)values[found - letters] : (unsigned char)c;
  uint32_t high = hex4(s->text + s->at);
  s->at += 4;
  if (high >> 10 != 0x36 || s->text[s->at] != '\\') return high;
  uint32_t low = hex4(s->text + s->at + 2);
  s->at += 6;
  return 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
}

/* Append "/key" for the key at s->at, decoded, with ~ and / escaped as RFC 6901 wants. */
static void add_key(scanner *s) {
  cli_text_add(&s->path, "/", 1);
  for (s->at++; s->at < s->length && s->text[s->at] != '"';) {
    uint32_t c = (unsigned char)s->text[s->at];
    bool raw = c != '\\';
    if (raw)
      s->at++;
    else
      c = read_escape(s);
    if (c == '~')
      cli_text_add(&s->path, "~0", 2);
    else if (c == '/')
      cli_text_add(&s->path, "~1", 2);
    else if (raw)
      cli_text_add(&s->path, &s->text[s->at - 1], 1);
    else
      add_code_point(&s->path, c);
  }
  s->at++;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void cut_path(scanner *s, size_t length) {
  s->path.length = length;
  s->path.at[length] = 0;
}

/* Make s->path the pointer of the item or member that begins here, and go to its value. */
static void enter(scanner *s) {
  frame *f = &s->stack[s->depth - 1];
  cut_path(s, f->path_length);
  skip_space(s);
  if (f->object) {
    add_key(s);
    skip_space(s);
    s->at++; /* the colon */
  } else {
    char number[32];
    int n = snprintf(number, sizeof number, "/%zu", f->index);
    cli_text_add(&s->path, number, (size_t)n);
  }
}

static void push(scanner *s) {
  if (s->depth == s->capacity) {
    frame *bigger = cli_allocate(s->capacity * 2 + 16, sizeof *bigger);
    if (s->depth) memcpy(bigger, s->stack, s->depth * sizeof *bigger);
    free(s->stack);
    s->stack = bigger;
    s->capacity = s->capacity * 2 + 16;
  }
  s->stack[s->depth++] = (frame){s->at, 0, s->path.length, s->text[s->at] == '{'};
}

/* Read one value, or the beginning of one. True if it ended. */
static bool read_value(scanner *s) {
  skip_space(s);
  size_t start = s->at;
  char c = s->text[s->at];
  if (c == '{' || c == '[') {
    push(s);
    s->at++;
    skip_space(s);
    if (s->text[s->at] != '}' && s->text[s->at] != ']') {
      enter(s);
      return false;
    }
    s->at++;
    s->depth--;
  } else if (c == '"') {
    skip_string(s);
  } else {
    while (s->at < s->length && !strchr(",]} \t\r\n", s->text[s->at])) s->at++;
  }
  visit(s, start, true);
  return true;
}

static void scan(scanner *s) {
  while (s->at < s->length) {
    if (!read_value(s)) continue;
    for (;;) { /* what follows the end of a value */
      if (!s->depth) return;
      skip_space(s);
      frame *f = &s->stack[s->depth - 1];
      if (s->text[s->at++] == ',') {
        f->index++;
        enter(s);
        break;
      }
      cut_path(s, f->path_length);
      size_t start = f->start;
      s->depth--;
      visit(s, start, false);
    }
  }
}

/* Print what was found at the pointers; CLI_NO if there is nothing at one of them. */
static int print_found(scanner *s) {
  for (size_t i = 0; i < s->count; i++)
    if (!s->found[i].end) {
      cli_complain("nothing at JSON pointer \"%s\"", s->pointers[i]);
      return CLI_NO;
    }
  putchar('{');
  for (size_t i = 0; i < s->count; i++)
    print_member(s, s->pointers[i], strlen(s->pointers[i]), s->found[i]);
  puts("}");
  return CLI_OK;
}

int captures_json(const char *text, size_t length, const char *const *pointers, size_t count) {
  scanner s = {.text = text, .length = length, .pointers = pointers, .count = count, .first = true};
  int code = CLI_OK;
  s.found = cli_allocate(count, sizeof *s.found);
  cli_text_add(&s.path, "", 0);
  if (!count) putchar('{');
  scan(&s);
  if (!count)
    puts("}");
  else
    code = print_found(&s);
  cli_text_free(&s.path);
  free(s.stack);
  free(s.found);
  return code;
}
