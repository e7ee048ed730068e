/* measured.h - a text that is written twice: first it is only measured, then it is written.
 *
 * Problem   A text of JSON is put together from pieces, in an arena, which does not grow a block.
 * Idea      One function writes all pieces. The first call has no place, and only counts. The
 *           second call has a block of that many bytes.
 * Example   tsl__measured out = {NULL, 0};
 *           write(&out);                                 out.n is the length
 *           out = (tsl__measured){block of out.n bytes, 0};
 *           write(&out);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_JSON_MEASURED_H
#define TSL_COMPILER_JSON_MEASURED_H

#include <string.h>

typedef struct tsl__measured {
  char *at; /* NULL: only n counts */
  size_t n; /* bytes so far */
} tsl__measured;

static inline void tsl__measured_put(tsl__measured *m, const char *text, size_t length) {
  if (m->at) memcpy(m->at + m->n, text, length);
  m->n += length;
}

/* A text that ends with a NUL, which is left out. */
static inline void tsl__measured_word(tsl__measured *m, const char *word) {
  tsl__measured_put(m, word, strlen(word));
}

#endif
