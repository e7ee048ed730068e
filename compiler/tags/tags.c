/* tags.c - memory and errors of a tree of formats. See tags.h.
 *
 * Problem   Forty functions make nodes, lists and texts of a tree. Each may run out of memory, and
 *           each may find a mistake in the caller's JSON.
 * Idea      One arena, and one sticky status. tsl__tags_alloc gives memory of the tree, or NULL
 *           after NO_MEMORY was noted. tsl__tags_fail keeps the first failure: its status, its
 *           message, and the JSON value that it is about.
 * Example   "min" is greater than "max" at /format/content. tsl__tags_fail gets the value of
 *           "min". The caller's error has its pointer, and its line and column in the text.
 * Time      A tree of 100,000 formats takes milliseconds to build. tsl__tags_alloc counts the bytes
 *           that it gives, and looks at deadline and cancel flag after each 64 KiB of them.
 * Tested by tests/tags/test_tags_errors.c, tests/engine/test_faults.c
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
