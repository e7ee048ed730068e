/* repeats.c - see repeats.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/repeats.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/json.h"

#define DEPTH_MAX 100

/* Where a text could be cut and closed. */
typedef struct cut {
  size_t n;
  char open[DEPTH_MAX]; /* what closes each open container */
  unsigned depth;
  bool name; /* the name of a member stands there */
} cut;

typedef struct scan {
  cut now, last;
  bool in_string, escaped, expects; /* expects: a name, if a string comes */
} scan;

static void may_cut(scan *s, size_t n, bool name) {
  s->last = s->now;
  s->last.n = n;
  s->last.name = name;
}

static void in_string(scan *s, char c, size_t i) {
  if (s->escaped) s->escaped = false;
  else if (c == '\\') s->escaped = true;
  else if (c == '"') s->in_string = false, may_cut(s, i + 1, s->expects);
}

static bool in_container(const scan *s, char close) { return s->now.depth && s->now.open[s->now.depth - 1] == close; }

/* False if there are too many containers, or one is closed that is not open. */
static bool outside(scan *s, char c, size_t i) {
  if (c == '"') {
    s->in_string = true;
  } else if (c == '[' || c == '{') {
    if (s->now.depth == DEPTH_MAX) return false;
    s->now.open[s->now.depth++] = c == '[' ? ']' : '}';
    s->expects = c == '{';
    may_cut(s, i + 1, false);
  } else if (c == ']' || c == '}') {
    if (!in_container(s, c)) return false;
    s->now.depth--;
    s->expects = false;
    may_cut(s, i + 1, false);
  } else if (c == ',') {
    may_cut(s, i, false);
    s->expects = in_container(s, '}');
  } else if (c == ':') {
    s->expects = false;
  }
  return true;
}

static bool repeats_in(tsl__arena *arena, const tsl__json *v) {
  if (v->kind < TSL__JSON_ARRAY) return false;
  for (uint32_t i = 0; i < v->length; i++) {
    const tsl__json *a = &v->items[i];
    for (uint32_t k = 0; k < i; k++) {
      const tsl__json *b = &v->items[k];
      if (v->kind == TSL__JSON_ARRAY ? tsl__json_equal(arena, a, b) : a->key_length == b->key_length && !memcmp(a->key, b->key, a->key_length)) return true;
    }
    if (repeats_in(arena, a)) return true;
  }
  return false;
}

bool fuzz_repeats(const char *text, size_t n) {
  scan s = {0};
  for (size_t i = 0; i < n; i++) {
    if (s.in_string) in_string(&s, text[i], i);
    else if (!outside(&s, text[i], i)) return true;
  }
  if (!s.last.n) return false;
  char *closed = malloc(s.last.n + 2 + DEPTH_MAX);
  if (!closed) return true;
  memcpy(closed, text, s.last.n);
  size_t length = s.last.n;
  if (s.last.name) memcpy(closed + length, ":0", 2), length += 2;
  for (unsigned d = s.last.depth; d-- > 0;) closed[length++] = s.last.open[d];
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &tsl__malloc);
  bool repeats = tsl__json_parse(&arena, closed, length, DEPTH_MAX + 1, &root, NULL) != TSL_OK || repeats_in(&arena, root);
  tsl__arena_free(&arena);
  free(closed);
  return repeats;
}
