/* tags.c - memory and errors of a tree of formats. See tags.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tags/tags.h"

#include <stdio.h>

/* ---- trees ----------------------------------------------------------------------------------- */

void tsl__tags_init(tsl__tags *t, const tsl_vocab *vocab, const tsl_allocator *alloc,
                    tsl_error *error) {
  *t = (tsl__tags){.vocab = vocab, .error = error};
  tsl__arena_init(&t->arena, alloc);
}

void tsl__tags_free(tsl__tags *t) { tsl__arena_free(&t->arena); }

#define LOOK_BYTES (1u << 16) /* of memory for formats and lists, for some 20 µs of work on them */

void *tsl__tags_alloc(tsl__tags *t, size_t size) {
  if ((t->work += (uint32_t)(size < LOOK_BYTES ? size : LOOK_BYTES)) >= LOOK_BYTES) {
    t->work = 0;
    if (tsl__is_over(&t->until))
      return tsl__tags_fail(t, TSL_ERR_CANCELLED, NULL, "%s", tsl__why_over(&t->until));
  }
  void *p = tsl__arena_alloc(&t->arena, size);
  if (p) return memset(p, 0, size);
  return tsl__tags_fail(t, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

void *tsl__tags_fail(tsl__tags *t, tsl_status status, const tsl__json *at, const char *format,
                     ...) {
  char message[512], pointer[256];
  va_list args;
  if (t->status != TSL_OK) return NULL;
  t->status = status;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  bool here = at && t->root && tsl__json_pointer(t->root, at, pointer, sizeof pointer) != SIZE_MAX;
  if (here)
    tsl__fail_at(t->error, status, t->text, t->length, at->offset, "%s", message);
  else
    tsl__fail(t->error, status, "%s", message);
  if (here) tsl__error_pointer(t->error, pointer, strlen(pointer));
  return NULL;
}
