/* notation.h - tables of grammars in some notation: texts that match or do not, and errors with
 * their places.
 *
 *   == name    SYNTAX 1:8 the grammar, \n for newlines => of the message
 *   the grammar
 *   + a text that matches
 *   - a text that does not
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_NOTATION_H
#define TSL_TESTS_SUPPORT_NOTATION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/text.h"

typedef tsl_status notation(const char *text, size_t length, tsl_grammar **out, tsl_error *error);

static inline tsl_matcher *notation_matcher(notation *compile, const char *text, size_t length) {
  tsl_grammar *grammar = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {0};
  tsl_status status = compile(text, length, &grammar, &error);
  CHECKF(status == TSL_OK, "%s: %s at %u:%u in\n%.*s", tsl_status_name(status), error.message,
         error.line, error.column, (int)(length < 2000 ? length : 2000), text);
  if (status) return NULL;
  CHECK(tsl_matcher_new(grammar, NULL, &m) == TSL_OK);
  tsl_grammar_release(grammar);
  return m;
}

static inline bool notation_accepts(tsl_matcher *m, const char *text, size_t n) {
  tsl_matcher_reset(m);
  tsl_status status = tsl_matcher_accept_bytes(m, text, n, NULL);
  CHECKF(status == TSL_OK || status == TSL_REJECTED, "%s", tsl_status_name(status));
  return status == TSL_OK && tsl_matcher_is_complete(m);
}

static inline size_t notation_unescape(const char *text, size_t length, char *out) {
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (c == '\\' && i + 1 < length) {
      c = text[++i];
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
    }
    out[n++] = c;
  }
  return n;
}

static inline tsl_status notation_status(notation *compile, const struct text *t,
                                         tsl_error *error) {
  tsl_grammar *g = NULL;
  *error = (tsl_error){0};
  tsl_status status = compile(t->at, t->n, &g, error);
  CHECK(status == error->status || !status);
  tsl_grammar_release(g);
  return status;
}

/* At least so many cases and texts are in the file. */
static inline void notation_table(notation *compile, const char *path, int cases, int texts) {
  size_t size;
  char *all = text_of_file(path, &size), *line = all, *grammar = NULL, name[128] = "";
  tsl_matcher *m = NULL;
  bool failed = false;
  CHECK(all != NULL);
  while (all && line < all + size) {
    char *end = memchr(line, '\n', (size_t)(all + size - line));
    if (!end) end = all + size;
    if (line[0] == '=' && line[1] == '=') {
      tsl_matcher_free(m);
      m = NULL;
      failed = false;
      snprintf(name, sizeof name, "%.*s", (int)(end - line - 3), line + 3);
      grammar = end + 1;
      cases--;
    } else if (grammar && (line[0] == '+' || line[0] == '-') && line[1] == ' ') {
      char text[1024];
      if (!m && !failed) m = notation_matcher(compile, grammar, (size_t)(line - grammar));
      failed = !m;
      size_t n = notation_unescape(line + 2, (size_t)(end - line) - 2, text);
      if (m)
        CHECKF(notation_accepts(m, text, n) == (line[0] == '+'), "%s: %.*s", name,
               (int)(end - line), line);
      texts--;
    }
    line = end + 1;
  }
  tsl_matcher_free(m);
  free(all);
  CHECKF(cases <= 0 && texts <= 0, "%d cases and %d texts too few", cases, texts);
}

static inline void notation_errors(notation *compile, const char *path, int rows) {
  size_t size;
  char *all = text_of_file(path, &size);
  CHECK(all != NULL);
  for (char *line = all ? strtok(all, "\n") : NULL; line; line = strtok(NULL, "\n")) {
    char status_name[32], text[512];
    unsigned row, column;
    int begin = 0;
    if (line[0] == '#') continue;
    char *message = strstr(line, " => ");
    CHECKF(message && sscanf(line, "%31s %u:%u%n", status_name, &row, &column, &begin) >= 3,
           "%s: a row has a status, a place, a grammar and a message", line);
    if (!message || !begin) continue;
    size_t n = 0;
    for (const char *c = line + begin + 1; c < message; c++) {
      bool newline = c[0] == '\\' && c[1] == 'n';
      text[n++] = newline ? '\n' : *c;
      c += newline;
    }
    tsl_error error = {0};
    tsl_grammar *grammar = NULL;
    tsl_status status = compile(text, n, &grammar, &error);
    CHECKF(!strcmp(tsl_status_name(status) + 8, status_name) && status == error.status && !grammar,
           "%s: %s, %s", line, tsl_status_name(status), error.message);
    CHECKF(error.line == row && error.column == column, "%s: at %u:%u (%s)", line, error.line,
           error.column, error.message);
    CHECKF(strstr(error.message, message + 4) != NULL, "%s: %s", line, error.message);
    tsl_grammar_release(grammar);
    rows--;
  }
  free(all);
  CHECKF(rows <= 0, "%d rows too few", rows);
}

#endif
