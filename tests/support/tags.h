/* compiler/tags/tags.h - what tests of tags share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_TAGS_H
#define TSL_TESTS_SUPPORT_TAGS_H

#include "tests/support/check.h"
#include "turnstile.h"

/* A schema, and an element as MiniMax M3 writes it. */
#define S                                                                                          \
  "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"s\":{\"type\":\"string\"}}" \
  ",\"required\":[\"a\"],\"additionalProperties\":false}"
#define NS "]<]minimax[>["
#define EL(name, content) NS "<" name ">" content NS "</" name ">"

static inline bool accepts(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL;
  bool whole = tsl_matcher_new(g, NULL, &m) == TSL_OK &&
               tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
               tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return whole;
}

/* A sink of one line; `ctx` has room for WRITTEN bytes. */
#define WRITTEN (1 << 16)
static inline void take_line(void *ctx, const char *line) { snprintf(ctx, WRITTEN, "%s", line); }

/* An allocator that has nothing left after so many calls, and counts what is held. */
typedef struct budget {
  uint64_t left;
  int64_t bytes;
} budget;

static inline void *limited(void *ctx, void *block, size_t old_size, size_t new_size) {
  budget *b = ctx;
  if (new_size && b->left == 0) return NULL;
  if (new_size) b->left--;
  b->bytes += (int64_t)new_size - (int64_t)old_size;
  if (!new_size) return free(block), NULL;
  return realloc(block, new_size);
}

/* Free text, in which the first of the triggers to end must be followed by "!". */
static inline bool triggers_fit(const char *text, const char *const *triggers, size_t n) {
  size_t from = 0, length = strlen(text);
  for (size_t end = 1; end <= length; end++)
    for (size_t i = 0; i < n; i++) {
      size_t t = strlen(triggers[i]);
      if (end < from + t || memcmp(text + end - t, triggers[i], t)) continue;
      if (text[end] != '!') return false;
      from = ++end;
      break;
    }
  return true;
}

#endif
