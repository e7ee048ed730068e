/* faulty.h - memory hooks that count, let a request fail when they are set to, and check what is
 * given back. There is a vocabulary to try them on, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_FAULTY_H
#define TSL_TESTS_SUPPORT_FAULTY_H

#include <limits.h>
#include <stddef.h>

#include "tests/support/check.h"
#include "turnstile.h"

typedef struct faulty {
  tsl_allocator hook;
  unsigned long made, fail_at; /* requests so far; number of the one that fails, ULONG_MAX: none */
  bool from_then_on, failed;
  size_t blocks;
  bool wrong_size;
} faulty;

typedef union faulty_head {
  size_t size;
  max_align_t align;
} faulty_head;

/* Counts a request; must it fail? */
static inline bool faulty_refuses(faulty *f) {
  unsigned long n = f->made++;
  if (n != f->fail_at && !(f->from_then_on && n > f->fail_at)) return false;
  return f->failed = true;
}

/* The hook, less the counting. */
static inline void *faulty_move(faulty *f, void *block, size_t old_size, size_t new_size) {
  faulty_head *h = block ? (faulty_head *)block - 1 : NULL;
  if (h ? h->size != old_size : old_size != 0) f->wrong_size = true;
  if (new_size == 0) {
    if (h) f->blocks--;
    free(h);
    return NULL;
  }
  faulty_head *p = realloc(h, sizeof *p + new_size);
  if (!p) return NULL;
  if (!h) f->blocks++;
  p->size = new_size;
  return p + 1;
}

static inline void *faulty_reallocate(void *ctx, void *block, size_t old_size, size_t new_size) {
  return new_size && faulty_refuses(ctx) ? NULL : faulty_move(ctx, block, old_size, new_size);
}

/* A vocabulary of every byte and some words of up to 8 bytes. The last `special` of them are
 * special, and the very last one ends a generation. */
static inline tsl_status faulty_vocab(const char *const *words, uint32_t count,
                                      uint32_t special_count, uint32_t padding,
                                      const tsl_allocator *a, tsl_vocab **out, tsl_error *error) {
  uint8_t bytes[512 * 8], special[512] = {0};
  uint32_t offsets[513], size = 256 + count, n = 0;
  for (uint32_t i = 0; i < size; i++) {
    const char byte[2] = {(char)i, 0}, *text = i < 256 ? byte : words[i - 256];
    size_t length = i < 256 ? 1 : strlen(text);
    offsets[i] = n;
    special[i] = i + special_count >= size;
    memcpy(bytes + n, text, length);
    n += (uint32_t)length;
  }
  offsets[size] = n;
  const tsl_token eog = size - 1;
  const tsl_vocab_desc desc = {bytes, offsets, size, size + padding, special, &eog, 1};
  return tsl_vocab_new(&desc, a, out, error);
}

static inline void faulty_begin(faulty *f) {
  *f = (faulty){.hook = {f, faulty_reallocate}, .fail_at = ULONG_MAX};
}

/* From now on, the nth request fails. */
static inline void faulty_arm(faulty *f, unsigned long n, bool from_then_on) {
  f->made = 0;
  f->fail_at = n;
  f->from_then_on = from_then_on;
  f->failed = false;
}
static inline void faulty_disarm(faulty *f) {
  f->fail_at = ULONG_MAX;
  f->from_then_on = false;
}

/* A failure must be NO_MEMORY, and only while hooks fail. The call is then made again with
 * memory. */
#define WITH_MEMORY(f, status, call)      \
  do {                                    \
    (f)->failed = false;                  \
    status = (call);                      \
    if (status == TSL_ERR_NO_MEMORY) {    \
      CHECK((f)->failed);                 \
      faulty_disarm(f);                   \
      status = (call);                    \
      CHECK(status != TSL_ERR_NO_MEMORY); \
    }                                     \
  } while (0)

#endif
