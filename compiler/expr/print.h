/* print.h - a text into a buffer of the caller's, as snprintf does it: what fits is written, all of
 * it is counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_PRINT_H
#define TSL_COMPILER_EXPR_PRINT_H

#include "runtime/core/base.h"

#include <stdio.h>

typedef struct tsl__printer {
  char *out;
  size_t size, length; /* bytes of `out`; of the text so far, more than fit perhaps */
} tsl__printer;

static inline void tsl__print_char(tsl__printer *p, char c) {
  if (p->length + 1 < p->size) p->out[p->length] = c;
  p->length++;
}

static inline void tsl__print_text(tsl__printer *p, const char *text) {
  while (*text) tsl__print_char(p, *text++);
}

static inline void tsl__print_format(tsl__printer *p, const char *format, ...) TSL__PRINTF(2, 3);
static inline void tsl__print_format(tsl__printer *p, const char *format, ...) {
  bool fits = p->length < p->size;
  va_list args;
  va_start(args, format);
  int n = vsnprintf(fits ? p->out + p->length : NULL, fits ? p->size - p->length : 0, format, args);
  va_end(args);
  if (n > 0) p->length += (size_t)n;
}

/* Ends the text with NUL, where there is room for one at all; its length. */
static inline size_t tsl__print_end(const tsl__printer *p) {
  if (p->size) p->out[p->length < p->size ? p->length : p->size - 1] = 0;
  return p->length;
}

#endif
