/* text.h - texts that grow, and files read whole, for tests. Where memory runs out the test ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_TEXT_H
#define TSL_TESTS_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
