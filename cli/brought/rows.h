/* rows.h - rows of logits that a user brings: JSON lines, or an array of NumPy.
 *
 * A line is a list of numbers, or an object with "logits" and what else the command reads of it.
 * Logits may also be an object from id to logit; ids that it does not name are -inf. null stands
 * for -inf, too. Of an .npy file each row is one line's logits: float32 or float64, in C order,
 * with one or two dimensions. Lines are read as they come, so that a host may answer each.
 * Errors say the line (or row) and the place in it: no JSON, NaN, +inf, another length.
 * Tested by tests/cli/test_cli_sample.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_BROUGHT_ROWS_H
#define TSL_CLI_BROUGHT_ROWS_H

#include "cli/json_in.h"

#define ROWS_LINE (1u << 28) /* bytes of a line at most */

typedef struct rows {
  FILE *from;
  const char *name; /* for messages */
  size_t width;     /* logits of a row; 0: as many as the first row has */
  uint64_t line;    /* number of the one read last, from 1 */
  cli_text text;    /* that line */
  json_in value;    /* of that line; of an array of NumPy no value */
  int npy;          /* bytes of an element; 0: JSON lines */
  uint64_t left;    /* rows of the array to come */
} rows;

/* Open a file, "-" being stdin. CLI_BAD after a complaint. */
int rows_open(rows *r, const char *path, size_t width);
void rows_close(rows *r);
/* The next line (of JSON in r->value). 1: there is one; 0: there is none; -1 after a complaint. */
int rows_next(rows *r);
/* The logits of that line, as an array of r->width that the caller frees. `value` is the JSON of
 * the logits: r->value itself, or its member "logits". NULL after a complaint. */
float *rows_logits(rows *r, json_in value);
/* "FILE, line N: …"; CLI_BAD. */
int rows_complain(const rows *r, const char *format, ...) CLI_PRINTF(2, 3);

#endif
