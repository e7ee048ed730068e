/* failing.h - an allocator whose nth allocation fails, and that counts what is held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_FAILING_H
#define TSL_TESTS_SUPPORT_FAILING_H

#include <stdbool.h>
#include <stdlib.h>

#include "turnstile.h"

typedef struct failing {
  long left; /* allocations until the failing one */
  long held; /* bytes */
} failing;

static inline void *failing_reallocate(void *ctx, void *block, size_t old_size, size_t new_size) {
  failing *f = ctx;
  if (!new_size) {
    f->held -= (long)old_size;
    free(block);
    return NULL;
  }
  if (f->left-- == 0) return NULL;
  void *p = realloc(block, new_size);
  if (p) f->held += (long)new_size - (long)old_size;
  return p;
}

/* Did one fail? A loop over n ends where none did, and not at the first call that did without. */
static inline bool failing_failed(const failing *f) { return f->left < 0; }

static inline tsl_allocator failing_allocator(failing *f) {
  return (tsl_allocator){f, failing_reallocate};
}

#endif
