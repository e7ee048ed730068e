/* cases.h - the schemas and instances of a MaskBench file, read one line at a time; or grammars and
 * texts.
 *
 * A line is {"id", "schema": "<JSON text>", "tests": [{"valid": bool, "text": "<JSON text>",
 * "tokens": [ids]}]}; "tokens" may be left out. A line of a grammar has "lark", "gbnf", "regex" or
 * "tags", its text, in place of "schema"; of a line with both, "lark" is used. A name that ends in
 * .xz is read through the program xz.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_CASES_H
#define TSL_BENCH_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "turnstile.h"

typedef struct bench_test {
  bool valid;
  const char *text; /* NUL-terminated; a JSON text holds no NUL */
  size_t length;
  tsl_token *tokens; /* NULL: encode the text */
  size_t token_count;
} bench_test;

typedef struct bench_case {
  const char *id;
  tsl_source_kind kind;
  bool tags;        /* structural tags, which are no kind of source */
  const char *text; /* of the schema or grammar, NUL-terminated */
  size_t length;
  bench_test *tests;
  size_t test_count;
  void *tree; /* holds the strings */
} bench_case;

typedef struct bench_reader {
  FILE *file;
  pid_t child; /* xz, or 0 */
  const char *path;
  size_t line; /* number of the last line read, from 1 */
  char *buffer;
  size_t capacity;
  bool failed; /* the file ended with an error, not at its end */
  char why[256];
} bench_reader;

bool bench_reader_open(bench_reader *reader, const char *path);
/* The next case, to be freed with bench_case_free; false at the end or on an error
 * (reader->failed). */
bool bench_reader_next(bench_reader *reader, bench_case *out);
/* false if the file or xz ended badly. */
bool bench_reader_close(bench_reader *reader);
void bench_case_free(bench_case *c);

#endif
