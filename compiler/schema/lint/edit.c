/* edit.c - editing a tree of JSON, and writing it: what the lint needs to mend a schema.
 *
 * Problem   The nodes of a parsed text are arrays in an arena, one behind the other. The mended
 *           schema must keep what no rule touches: order, spelling of numbers, every member.
 * Idea      A member is added by copying its object's array into a larger one. The old array stays
 *           in the arena until the lint is over. A mended schema has few new members.
 * Example   {"pattern": "a"} gets "type" in front: a new array of two nodes; the node of "pattern"
 *           is copied.
 * Writing   Two spaces for each level, a member a line, short arrays of scalars on one line. The
 *           writer keeps its own stack, so no depth of nesting costs stack.
 * Cost      An addition costs the size of its object; writing is linear.
 * Tested by tests/schema/test_lint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/out.h"
#include "compiler/schema/lint/lint.h"

tsl__json tsl__lint_text(const char *text) {
  return (tsl__json){.kind = TSL__JSON_STRING, .text = text, .length = (uint32_t)strlen(text)};
}

tsl__json tsl__lint_number_of(const char *spelling) {
  return (tsl__json){
      .kind = TSL__JSON_NUMBER, .text = spelling, .length = (uint32_t)strlen(spelling)};
}

tsl__json tsl__lint_word(uint32_t kind) { return (tsl__json){.kind = kind & 7u}; }

/* ---- edits ----------------------------------------------------------------------------------- */

/* Room for one more child at `place`. */
static bool grow(lint *l, tsl__json *list, uint32_t place, tsl__json value) {
  size_t n = list->length;
  tsl__json *items = tsl__arena_alloc(&l->arena, (n + 1) * sizeof *items);
  if (!items) {
    l->failed = true;
    return false;
  }
  if (place) memcpy(items, list->items, place * sizeof *items);
  if (n > place) memcpy(items + place + 1, list->items + place, (n - place) * sizeof *items);
  items[place] = value;
  list->items = items;
  list->length++;
  return true;
}

bool tsl__lint_add(lint *l, tsl__json *object, const char *key, tsl__json value, bool first) {
  value.key = key;
  value.key_length = (uint32_t)strlen(key);
  return grow(l, object, first ? 0 : object->length, value);
}

bool tsl__lint_append(lint *l, tsl__json *array, tsl__json value) {
  return grow(l, array, array->length, value);
}

void tsl__lint_move(tsl__json *list, uint32_t from, uint32_t to) {
  tsl__json moved = list->items[from];
  memmove(list->items + to + 1, list->items + to, (from - to) * sizeof moved);
  list->items[to] = moved;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct level {
  const tsl__json *list;
  uint32_t next; /* child */
  bool flat;     /* on one line */
} level;

typedef struct writer {
  tsl__out out;
  TSL__VEC(level) open;
} writer;

static void put_string(writer *w, const char *text, size_t n) {
  tsl__out_string(&w->out, "\"");
  tsl__out_escaped(&w->out, text, n);
  tsl__out_string(&w->out, "\"");
}

static void put_line(writer *w) {
  tsl__out_string(&w->out, "\n");
  for (size_t i = 0; i < w->open.n; i++) tsl__out_string(&w->out, "  ");
}

#define FLAT_MAX 8u /* scalars that stand on one line */

static bool is_flat(const tsl__json *list) {
  bool flat = list->kind == TSL__JSON_ARRAY && list->length <= FLAT_MAX;
  for (uint32_t i = 0; flat && i < list->length; i++) flat = list->items[i].kind < TSL__JSON_ARRAY;
  return flat;
}

/* A scalar, or the begin of a list. */
static void put_value(writer *w, const tsl__json *v) {
  static const char *const words[] = {"null", "false", "true"};
  switch (v->kind) {
  case TSL__JSON_NUMBER: tsl__out_put(&w->out, v->text, v->length); return;
  case TSL__JSON_STRING: put_string(w, v->text, v->length); return;
  case TSL__JSON_ARRAY:
  case TSL__JSON_OBJECT: {
    level here = {v, 0, is_flat(v)};
    tsl__out_string(&w->out, v->kind == TSL__JSON_ARRAY ? "[" : "{");
    if (!tsl__vec_push(w->out.alloc, &w->open, here)) w->out.failed = true;
    return;
  }
  default: tsl__out_string(&w->out, words[v->kind]);
  }
}

/* The next child of the list that is open, or its end. */
static void put_next(writer *w) {
  level *at = &w->open.at[w->open.n - 1];
  const tsl__json *list = at->list;
  if (at->next == list->length) {
    bool flat = at->flat;
    w->open.n--;
    if (list->length && !flat) put_line(w);
    tsl__out_string(&w->out, list->kind == TSL__JSON_ARRAY ? "]" : "}");
    return;
  }
  const tsl__json *child = &list->items[at->next++];
  if (at->next > 1) tsl__out_string(&w->out, at->flat ? ", " : ",");
  if (!at->flat) put_line(w);
  if (list->kind == TSL__JSON_OBJECT) {
    put_string(w, child->key, child->key_length);
    tsl__out_string(&w->out, ": ");
  }
  put_value(w, child);
}

const char *tsl__lint_write(lint *l, const tsl__json *tree) {
  writer w = {.out.alloc = l->alloc};
  put_value(&w, tree);
  while (w.open.n && !w.out.failed) put_next(&w);
  tsl__out_put(&w.out, "\n", 2); /* with its NUL */
  const char *text = w.out.failed ? NULL : tsl__arena_copy(&l->arena, w.out.text.at, w.out.text.n);
  tsl__vec_free(l->alloc, &w.out.text);
  tsl__vec_free(l->alloc, &w.open);
  return text;
}
