/* refusals.h - a table of JSON texts that are refused, or not.
 *
 *   SCHEMA /a/b {"a": {"b": 3}} => of the message    OK - {} =>
 *
 * The pointer "-" is the root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_REFUSALS_H
#define TSL_TESTS_SUPPORT_REFUSALS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/text.h"

typedef tsl_status json_compiler(const char *text, size_t length, tsl_grammar **out,
                                 tsl_error *error);

static inline void refusal(json_compiler *compile, const char *row) {
  char name[32], pointer[256];
  int begin = 0;
  const char *message = strstr(row, " => ");
  CHECKF(message && sscanf(row, "%31s %255s%n", name, pointer, &begin) == 2,
         "%s: a row has a status, a pointer, a text and a message", row);
  if (!message || !begin || row + begin + 1 >= message) return;
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  tsl_status s = compile(row + begin + 1, (size_t)(message - row - begin - 1), &g, &e);
  CHECKF(!strcmp(tsl_status_name(s) + (s ? 8 : 4), name) && (s == TSL_OK) == (g != NULL),
         "%s: %s, %s", row, tsl_status_name(s), e.message);
  if (s) {
    CHECKF(e.status == s && strstr(e.message, message + 4), "%s: %s", row, e.message);
    CHECKF(!strcmp(e.pointer, pointer[0] == '-' ? "" : pointer), "%s: at %s", row, e.pointer);
  }
  tsl_grammar_release(g);
}

/* At least so many rows are in the file. */
static inline void refusal_table(json_compiler *compile, const char *path, int rows) {
  size_t size;
  char *all = text_of_file(path, &size);
  CHECK(all != NULL);
  for (char *row = all ? strtok(all, "\n") : NULL; row; row = strtok(NULL, "\n"), rows--)
    if (row[0] != '#') refusal(compile, row);
  free(all);
  CHECKF(rows <= 0, "%d rows too few", rows);
}

#endif
