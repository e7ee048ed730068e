/* rows.c - rows of logits that a user brings. See rows.h.
 *
 * Problem   Logits come from any program: a script that prints JSON, or NumPy that saves an array.
 *           They are long, and one bad number spoils a draw without a trace.
 * Idea      One line is one row. It is checked whole before anything is drawn from it, and the
 *           message says which number it was.
 * Example   [0.5, NaN] as line 3: "stdin, line 3: this is no JSON at byte 6". [0.5, 1e999]:
 *           "stdin, line 3: logit 1 is inf; a logit is a finite number, or null for -inf".
 * Cost      Linear in the bytes.
 * Tested by tests/cli/test_cli_sample.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/brought/rows.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os.h"

int rows_complain(const rows *r, const char *format, ...) {
  char why[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  return cli_complain("%s, %s %llu: %s", r->name, r->npy ? "row" : "line",
                      (unsigned long long)r->line, why);
}

/* ---- arrays of NumPy ------------------------------------------------------------------------- */

/* The number behind `what` in the header's text, and what follows it; UINT64_MAX: none. */
static uint64_t number_at(const char **at) {
  char *end;
  while (**at == ' ') ++*at;
  if (**at < '0' || **at > '9') return UINT64_MAX;
  uint64_t n = strtoull(*at, &end, 10);
  *at = end;
  while (**at == ' ') ++*at;
  return n;
}

/* The header's text is a dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 6)}. */
static int read_header(rows *r, const char *text) {
  const char *shape = strstr(text, "'shape'");
  r->npy = strstr(text, "'<f4'") ? 4 : strstr(text, "'<f8'") ? 8 : 0;
  if (!r->npy)
    return cli_complain("%s: the array is not of float32 or float64 (little-endian)", r->name);
  if (!strstr(text, "'fortran_order': False"))
    return cli_complain("%s: the array is in Fortran order; save numpy.ascontiguousarray of it",
                        r->name);
  shape = shape ? strchr(shape, '(') : NULL;
  uint64_t n = UINT64_MAX, m = UINT64_MAX;
  if (shape) {
    shape++;
    n = number_at(&shape);
    if (*shape == ',') shape++, m = number_at(&shape);
    if (*shape == ',') shape++, number_at(&shape) != UINT64_MAX ? n = UINT64_MAX : n;
  }
  if (n == UINT64_MAX || !shape || *shape != ')')
    return cli_complain("%s: the array has not one or two dimensions", r->name);
  r->left = m == UINT64_MAX ? 1 : n;
  uint64_t columns = m == UINT64_MAX ? n : m;
  if (r->width && columns != r->width)
    return cli_complain("%s: the array has %llu columns, not the %zu logits of the vocabulary",
                        r->name, (unsigned long long)columns, r->width);
  if (!columns || columns > TSL_MAX_VOCAB)
    return cli_complain("%s: the array has %llu columns, not 1 to %u", r->name,
                        (unsigned long long)columns, TSL_MAX_VOCAB);
  r->width = (size_t)columns;
  return CLI_OK;
}

/* Behind the first byte of the magic. */
static int open_npy(rows *r) {
  unsigned char head[11];
  size_t length = 0, n = fread(head, 1, 9, r->from);
  bool ok = n == 9 && !memcmp(head, "NUMPY", 5) && head[5] >= 1 && head[5] <= 3;
  if (ok && head[5] == 1)
    length = head[7] | (size_t)head[8] << 8;
  else if (ok && fread(head + 9, 1, 2, r->from) == 2)
    length = head[7] | (size_t)head[8] << 8 | (size_t)head[9] << 16 | (size_t)head[10] << 24;
  if (!ok || !length || length > 65536)
    return cli_complain("%s: this is no .npy file, though it begins as one", r->name);
  char *text = cli_allocate(length + 1, 1);
  ok = fread(text, 1, length, r->from) == length;
  int code = ok ? read_header(r, text) : cli_complain("%s: the file ends too early", r->name);
  free(text);
  return code;
}

static double element(const rows *r, const unsigned char *at) {
  uint64_t bits = 0;
  for (int i = r->npy; i-- > 0;) bits = bits << 8 | at[i];
  uint32_t low = (uint32_t)bits;
  float single;
  double x;
  memcpy(&single, &low, sizeof single);
  memcpy(&x, &bits, sizeof x);
  return r->npy == 4 ? (double)single : x;
}

/* ---- lines ----------------------------------------------------------------------------------- */

int rows_open(rows *r, const char *path, size_t width) {
  *r = (rows){.name = cli_file_name(path), .width = width};
  r->from = cli_open_input(path);
  if (!r->from) return CLI_BAD;
  int first = getc(r->from);
  if (first == 0x93) return open_npy(r);
  if (first != EOF) ungetc(first, r->from);
  return CLI_OK;
}

void rows_close(rows *r) {
  cli_close_input(r->from);
  cli_text_free(&r->text);
  *r = (rows){0};
}

/* One line into r->text, without its end; false: there is none. */
static bool read_line(rows *r) {
  int c = getc(r->from);
  r->text.length = 0;
  if (c == EOF) return false;
  for (; c != EOF && c != '\n' && r->text.length < ROWS_LINE; c = getc(r->from))
    cli_text_add(&r->text, &(char){(char)c}, 1);
  return true;
}

static int next_npy(rows *r) {
  size_t bytes = r->width * (size_t)r->npy;
  if (!r->left) return 0;
  r->left--;
  r->line++;
  cli_text_free(&r->text);
  r->text.at = cli_allocate(bytes + 1, 1);
  r->text.length = r->text.capacity = bytes;
  if (fread(r->text.at, 1, bytes, r->from) == bytes) return 1;
  return rows_complain(r, "the file ends too early"), -1;
}

int rows_next(rows *r) {
  size_t offset;
  const char *why;
  r->value = (json_in){0};
  if (r->npy) return next_npy(r);
  do {
    if (!read_line(r)) return 0;
    r->line++;
  } while (!r->text.at || strspn(r->text.at, " \t\r") >= r->text.length);
  if (r->text.length >= ROWS_LINE)
    return rows_complain(r, "the line has more than %u bytes", ROWS_LINE), -1;
  if (json_in_check(r->text.at, r->text.length, &r->value, &offset, &why)) return 1;
  return rows_complain(r, "%s at byte %zu (NaN and Infinity are no JSON)", why, offset), -1;
}

/* ---- logits ---------------------------------------------------------------------------------- */

/* One number; false after a complaint. */
static bool read_logit(const rows *r, size_t i, json_in value, float *out) {
  double x;
  if (json_in_kind(value) == 'n') return *out = -INFINITY, true;
  if (!json_in_number(value, &x))
    return rows_complain(r, "logit %zu is no number; null stands for -inf", i), false;
  *out = (float)x;
  if (isfinite(*out)) return true;
  return rows_complain(r, "logit %zu is %g; a logit is a finite number, or null for -inf", i, x),
         false;
}

static bool fits(rows *r, size_t n) {
  if (!r->width) r->width = n;
  if (n == r->width && n) return true;
  return rows_complain(r, "the row has %zu logits, not %zu", n, r->width), false;
}

/* {"17": 0.5, …} */
static bool read_sparse(rows *r, json_in value, float *out) {
  json_in item = {0}, name;
  for (size_t i = 0; i < r->width; i++) out[i] = -INFINITY;
  while (json_in_next_member(value, &item, &name)) {
    char *behind;
    unsigned long long id = strtoull(name.at + 1, &behind, 10); /* ends at the closing quote */
    if (name.at[1] < '0' || name.at[1] > '9' || *behind != '"' || id >= r->width)
      return rows_complain(r, "%.*s is no id below %zu", (int)(name.length < 40 ? name.length : 40),
                           name.at, r->width),
             false;
    if (!read_logit(r, (size_t)id, item, &out[id])) return false;
  }
  return true;
}

static bool read_dense(rows *r, json_in value, float *out) {
  json_in item = {0};
  for (size_t i = 0; json_in_next(value, &item); i++)
    if (!read_logit(r, i, item, &out[i])) return false;
  return true;
}

/* The row of an array of NumPy: -inf stands for itself. */
static bool read_elements(rows *r, float *out) {
  for (size_t i = 0; i < r->width; i++) {
    double x = element(r, (const unsigned char *)r->text.at + i * (size_t)r->npy);
    out[i] = (float)x;
    if (isnan(x) || out[i] == INFINITY)
      return rows_complain(r, "logit %zu is %g; a logit is a finite number or -inf", i, x), false;
  }
  return true;
}

float *rows_logits(rows *r, json_in value) {
  char kind = json_in_kind(value);
  size_t n = 0;
  json_in item = {0};
  if (!r->npy && kind != '[' && kind != '{')
    return rows_complain(r, "there are no logits: a list, or an object from id to logit"), NULL;
  if (kind == '{' && !r->width)
    return rows_complain(r, "logits by id need a vocabulary or a grammar, which says how many"),
           NULL;
  while (kind == '[' && json_in_next(value, &item)) n++;
  if (kind == '[' && !fits(r, n)) return NULL;
  float *out = cli_allocate(r->width, sizeof *out);
  bool ok = r->npy        ? read_elements(r, out)
            : kind == '[' ? read_dense(r, value, out)
                          : read_sparse(r, value, out);
  if (ok) return out;
  free(out);
  return NULL;
}
