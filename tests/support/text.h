/* text.h - texts that grow, and files read whole, for tests. Where memory runs out the test ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_TEXT_H
#define TSL_TESTS_SUPPORT_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/base.h"

/* Zero-initialised is empty. Once something was added, at[n] is NUL. */
struct text {
  char *at;
  size_t n, cap;
};

static inline void text_put(struct text *t, const char *bytes, size_t n) {
  while (t->n + n + 1 > t->cap) {
    t->cap = t->cap ? 2 * t->cap : 256;
    if (!(t->at = realloc(t->at, t->cap))) abort();
  }
  memcpy(t->at + t->n, bytes, n);
  t->n += n;
  t->at[t->n] = 0;
}

static inline void text_add(struct text *t, const char *s) { text_put(t, s, strlen(s)); }

static inline void text_add_number(struct text *t, unsigned n) {
  char digits[16];
  text_put(t, digits, (size_t)snprintf(digits, sizeof digits, "%u", n));
}

static inline void text_free(struct text *t) {
  free(t->at);
  *t = (struct text){0};
}

/* What a line of a table stands for, with escapes: \n \t \r \xHH \u{H}, and any other character as
 * itself. Never longer than the line. */
static inline size_t text_unescape(const char *in, uint8_t *out) {
  size_t n = 0;
  while (*in) {
    if (*in != '\\') {
      out[n++] = (uint8_t)*in++;
      continue;
    }
    in++;
    if (*in == 'x') {
      char hex[3] = {in[1], in[2], 0};
      out[n++] = (uint8_t)strtoul(hex, NULL, 16);
      in += 3;
    } else if (*in == 'u') {
      char *end;
      n += tsl__utf8_encode((uint32_t)strtoul(in + 2, &end, 16), out + n);
      in = end + 1;
    } else {
      out[n++] = *in == 'n' ? '\n' : *in == 't' ? '\t' : *in == 'r' ? '\r' : (uint8_t)*in;
      in++;
    }
  }
  return n;
}

/* The whole file with a NUL after it, to be freed; NULL if it can't be read. */
static inline char *text_of_file(const char *path, size_t *length) {
  FILE *f = fopen(path, "rb");
  struct text t = {0};
  char part[4096];
  *length = 0;
  if (!f) return NULL;
  for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) text_put(&t, part, n);
  text_put(&t, "", 0);
  fclose(f);
  *length = t.n;
  return t.at;
}

#endif
