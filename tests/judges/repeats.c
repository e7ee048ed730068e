/* repeats.c - see repeats.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/repeats.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/json/json.h"

#define DEPTH_MAX 100

/* Where a text could be cut and closed. */
typedef struct cut {
  size_t n;
  char open[DEPTH_MAX]; /* what closes each open container */
  unsigned depth;
} cut;

typedef struct scan {
  cut now, last;
  bool in_string, escaped, expects; /* expects: a name, if a string comes */
  size_t begun;                     /* the string's opening quote */
} scan;

static void may_cut(scan *s, size_t n) {
  s->last = s->now;
  s->last.n = n;
}

static void in_string(scan *s, char c, size_t i) {
  if (s->escaped)
    s->escaped = false;
  else if (c == '\\')
    s->escaped = true;
  else if (c == '"')
    s->in_string = false;
  if (!s->in_string && !s->expects) may_cut(s, i + 1);
}

static bool in_container(const scan *s, char close) {
  return s->now.depth && s->now.open[s->now.depth - 1] == close;
}

/* False if there are too many containers, or one is closed that is not open. */
static bool outside(scan *s, char c, size_t i) {
  if (c == '"') {
    s->in_string = true;
    s->begun = i;
  } else if (c == '[' || c == '{') {
    if (s->now.depth == DEPTH_MAX) return false;
    s->now.open[s->now.depth++] = c == '[' ? ']' : '}';
    s->expects = c == '{';
    may_cut(s, i + 1);
  } else if (c == ']' || c == '}') {
    if (!in_container(s, c)) return false;
    s->now.depth--;
    s->expects = false;
    may_cut(s, i + 1);
  } else if (c == ',') {
    may_cut(s, i);
    s->expects = in_container(s, '}');
  } else if (c == ':') {
    s->expects = false;
  }
  return true;
}

/* `open`: so many containers are not finished: this one, its last item, that one's last ... */
static bool repeats_in(const tsl__json *v, unsigned open) {
  if (v->kind < TSL__JSON_ARRAY) return false;
  for (uint32_t i = 0; i < v->length; i++) {
    const tsl__json *a = &v->items[i];
    bool last = i + 1 == v->length, unfinished = last && open > 1;
    for (uint32_t k = 0; k < i; k++) {
      const tsl__json *b = &v->items[k];
      if (v->kind == TSL__JSON_ARRAY && !unfinished && tsl__json_equal(a, b)) return true;
    }
    if (repeats_in(a, unfinished ? open - 1 : 0)) return true;
  }
  return false;
}

/* ---- names ----------------------------------------------------------------------------------- */

typedef struct name {
  tsl__json *text;
  unsigned object; /* numbers of objects */
} name;

typedef struct names {
  name at[512];
  unsigned n, objects, open[DEPTH_MAX];
  tsl__arena arena;
} names;

/* A name has ended. true if its object has it already, or there is no telling. */
static bool name_repeats(names *all, unsigned depth, const char *at, size_t n) {
  name found = {NULL, all->open[depth - 1]};
  if (all->n == sizeof all->at / sizeof *all->at ||
      tsl__json_parse(&all->arena, NULL, at, n, 1, &found.text, NULL) != TSL_OK)
    return true;
  for (unsigned i = 0; i < all->n; i++)
    if (all->at[i].object == found.object && tsl__json_equal(all->at[i].text, found.text))
      return true;
  all->at[all->n++] = found;
  return false;
}

static bool any_name_repeats(names *all, const char *text, size_t n) {
  scan s = {0};
  for (size_t i = 0; i < n; i++) {
    if (!s.in_string) {
      if (!outside(&s, text[i], i)) return true;
      if (text[i] == '{' || text[i] == '[') all->open[s.now.depth - 1] = all->objects++;
      continue;
    }
    in_string(&s, text[i], i);
    if (!s.in_string && s.expects &&
        name_repeats(all, s.now.depth, text + s.begun, i + 1 - s.begun))
      return true;
  }
  return false;
}

bool text_repeats_name(const char *text, size_t n) {
  names all = {.n = 0};
  tsl__arena_init(&all.arena, &tsl__malloc);
  bool repeats = any_name_repeats(&all, text, n);
  tsl__arena_free(&all.arena);
  return repeats;
}

/* ---- items ----------------------------------------------------------------------------------- */

bool text_repeats_item(const char *text, size_t n) {
  scan s = {0};
  for (size_t i = 0; i < n; i++) {
    if (s.in_string)
      in_string(&s, text[i], i);
    else if (!outside(&s, text[i], i))
      return true;
  }
  if (!s.last.n) return false;
  char *closed = malloc(s.last.n + DEPTH_MAX);
  if (!closed) return true;
  memcpy(closed, text, s.last.n);
  size_t length = s.last.n;
  for (unsigned d = s.last.depth; d-- > 0;) closed[length++] = s.last.open[d];
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &tsl__malloc);
  bool repeats =
      tsl__json_parse(&arena, NULL, closed, length, DEPTH_MAX + 1, &root, NULL) != TSL_OK ||
      repeats_in(root, s.last.depth);
  tsl__arena_free(&arena);
  free(closed);
  return repeats;
}
