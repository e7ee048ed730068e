/* position.c - following a given text. See position.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/position.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/os.h"

#define SHOWN 24 /* bytes of the text that a message shows */

static void print_expected(FILE *to, tsl_matcher *matcher) {
  uint32_t set[8];
  bool complete = tsl_matcher_is_complete(matcher), any = false;
  if (tsl_matcher_next_bytes(matcher, set) != TSL_OK) return;
  for (int i = 0; i < 8; i++) any |= set[i] != 0;
  fputs(complete ? "the end of the text" : any ? "" : "a special token", to);
  if (!any) return;
  fputs(complete ? " or one of " : "one of ", to);
  cli_print_set(to, set);
}

void position_of(const char *text, size_t offset, size_t *line, size_t *column) {
  *line = *column = 1;
  for (size_t i = 0; i < offset; i++) {
    ++*column;
    if (text[i] == '\n') ++*line, *column = 1;
  }
}

static void print_found(FILE *to, tsl_matcher *matcher, const char *text, size_t length,
                        size_t offset) {
  fputs("expected ", to);
  print_expected(to, matcher);
  fputs(", found ", to);
  if (offset < length)
    cli_print_quoted(to, text + offset, length - offset, SHOWN);
  else
    fputs("the end of the text", to);
}

/* `matcher` has read `offset` bytes and can't read the next one, or must not end here. */
static int say_where(tsl_matcher *matcher, const char *name, const char *text, size_t length,
                     size_t offset) {
  size_t line, column;
  position_of(text, offset, &line, &column);
  if (cli_json()) {
    tsl_error error = {.status = TSL_REJECTED,
                       .offset = offset,
                       .line = (uint32_t)line,
                       .column = (uint32_t)column};
    cli_memory found;
    if (cli_memory_open(&found)) {
      print_found(found.to, matcher, text, length, offset);
      if (cli_memory_close(&found)) snprintf(error.message, sizeof error.message, "%s", found.at);
      free(found.at);
    }
    cli_complain_at(name, &error);
    return CLI_NO;
  }
  fflush(stdout);
  fputs(cli_style_on(stderr, CLI_RED), stderr);
  cli_print_plain(stderr, name);
  fprintf(stderr, ":%zu:%zu:%s byte offset %zu: ", line, column, cli_style_on(stderr, CLI_PLAIN),
          offset);
  print_found(stderr, matcher, text, length, offset);
  fputc('\n', stderr);
  return CLI_NO;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Where the text may end at the latest for what follows to be left out. */
static size_t end_of(const char *text, size_t length, position_ends ends) {
  if (ends == POSITION_JSON)
    while (length && is_space(text[length - 1])) length--;
  if (ends == POSITION_TEXT && length && text[length - 1] == '\n') length--;
  if (ends == POSITION_TEXT && length && text[length - 1] == '\r') length--;
  return length;
}

/* Skip white space that the grammar does not take. */
static size_t begin_of(tsl_matcher *matcher, const char *text, size_t length, position_ends ends) {
  size_t i = 0;
  if (ends != POSITION_JSON || !length || !is_space(text[0])) return 0;
  if (tsl_matcher_accept_bytes(matcher, text, 1, NULL) == TSL_OK) {
    tsl_matcher_reset(matcher);
    return 0;
  }
  while (i < length && is_space(text[i])) i++;
  return i;
}

int position_follow(tsl_matcher *matcher, const char *name, const char *text, size_t *start,
                    size_t *length, position_ends ends) {
  size_t accepted = 0, begin = begin_of(matcher, text, *length, ends), all = *length;
  tsl_status status = tsl_matcher_accept_bytes(matcher, text + begin, all - begin, &accepted);
  *start = begin;
  *length = all - begin;
  if (status == TSL_OK) {
    if (ends == POSITION_PREFIX || tsl_matcher_is_complete(matcher)) return CLI_OK;
    return say_where(matcher, name, text, all, all);
  }
  if (status != TSL_REJECTED)
    return cli_complain("%s: %s at byte offset %zu while following the text%s", name,
                        tsl_status_name(status), begin + accepted, cli_limit_advice(status));
  status = tsl_matcher_accept_bytes(matcher, text + begin, accepted, NULL);
  if (status != TSL_OK)
    return cli_complain("%s: %s at byte offset %zu", name, tsl_status_name(status),
                        begin + accepted);
  *length = accepted;
  if (ends != POSITION_PREFIX && begin + accepted >= end_of(text, all, ends) &&
      tsl_matcher_is_complete(matcher))
    return CLI_OK;
  return say_where(matcher, name, text, all, begin + accepted);
}
