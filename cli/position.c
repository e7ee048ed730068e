/* position.c - following a given text. See position.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "position.h"

#define SHOWN 24 /* bytes of the text that a message shows */

static void print_expected(tsl_matcher *matcher) {
  uint32_t set[8];
  bool complete = tsl_matcher_is_complete(matcher), any = false;
  if (tsl_matcher_next_bytes(matcher, set) != TSL_OK) return;
  for (int i = 0; i < 8; i++) any |= set[i] != 0;
  fputs(complete ? "the end of the text" : any ? "" : "a special token", stderr);
  if (!any) return;
  fputs(complete ? " or one of " : "one of ", stderr);
  cli_print_set(stderr, set);
}

/* Line and column (1-based, bytes) of an offset. */
static void line_of(const char *text, size_t offset, size_t *line, size_t *column) {
  *line = *column = 1;
  for (size_t i = 0; i < offset; i++) {
    ++*column;
    if (text[i] == '\n') ++*line, *column = 1;
  }
}

/* `matcher` has read `offset` bytes and can't read the next one, or must not end here. */
static int say_where(tsl_matcher *matcher, const char *name, const char *text, size_t length, size_t offset) {
  size_t line, column;
  line_of(text, offset, &line, &column);
  fflush(stdout);
  fprintf(stderr, "%s%s:%zu:%zu:%s byte offset %zu: expected ", cli_style_on(stderr, CLI_RED), name, line, column, cli_style_on(stderr, CLI_PLAIN), offset);
  print_expected(matcher);
  fputs(", found ", stderr);
  if (offset < length) cli_print_quoted(stderr, text + offset, length - offset, SHOWN);
  else fputs("the end of the text", stderr);
  fputc('\n', stderr);
  return CLI_NO;
}

static size_t without_line_break(const char *text, size_t length) {
  if (length && text[length - 1] == '\n') length--;
  if (length && text[length - 1] == '\r') length--;
  return length;
}

int position_follow(tsl_matcher *matcher, const char *name, const char *text, size_t *length, bool whole) {
  size_t accepted = 0;
  tsl_status status = tsl_matcher_accept_bytes(matcher, text, *length, &accepted);
  if (status == TSL_OK) {
    if (!whole || tsl_matcher_is_complete(matcher)) return CLI_OK;
    return say_where(matcher, name, text, *length, *length);
  }
  if (status != TSL_REJECTED) return cli_complain("%s: %s while following the text", name, tsl_status_name(status));
  status = tsl_matcher_accept_bytes(matcher, text, accepted, NULL);
  if (status != TSL_OK) return cli_complain("%s: %s at byte offset %zu", name, tsl_status_name(status), accepted);
  if (whole && accepted >= without_line_break(text, *length) && tsl_matcher_is_complete(matcher)) {
    *length = accepted;
    return CLI_OK;
  }
  return say_where(matcher, name, text, *length, accepted);
}
