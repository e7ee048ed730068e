/* loosen.c - leave out of a tool's schema what cannot be enforced.
 *
 * Problem   A request has forty tools. One of them asks for `uniqueItems` in a style that cannot
 *           say so, and the whole request would be refused.
 * Idea      A tool whose "strict" is false asks for no guarantee. Where its schema is UNSUPPORTED,
 *           the error has a pointer to what is to blame. A copy of the schema loses that part, a
 *           line of the report says so, and the copy is compiled again.
 * Example   {"type": "array", "uniqueItems": true} in the style minimax_m3_xml. The error's
 *           pointer is that object. Its "uniqueItems" becomes false, and the next compile succeeds.
 * Parts     An object with "uniqueItems" loses that. Any other object loses all its members, so
 *           that every value is allowed there. Any other value is a keyword's: the keyword goes.
 * End       After LOOSEN_MAX parts, or where nothing is at the pointer, the arguments are any
 *           object. If that is not supported either, the error stands.
 * Cost      A compile of this tool's schema for each part.
 * Tested by tests/tools/test_loosen.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "compiler/tags/lower.h"

#define LOOSEN_MAX 32u
#define TOKEN_MAX 256u /* bytes of one token of a pointer; tsl_error.pointer has no more */

/* The next token of a JSON pointer without its escapes. False: there is none. */
static bool next_token(const char **pointer, char *out, size_t *length) {
  const char *p = *pointer;
  size_t n = 0;
  if (*p++ != '/') return false;
  for (; *p && *p != '/' && n < TOKEN_MAX; p++) {
    bool escaped = *p == '~' && (p[1] == '0' || p[1] == '1');
    out[n++] = !escaped ? *p : p[1] == '0' ? '~' : '/';
    p += escaped;
  }
  *pointer = p;
  *length = n;
  return true;
}

/* What the pointer means below `root`, and what that is a member of; NULL: nothing. */
static tsl__json *find(tsl__json *root, const char *pointer, tsl__json **parent) {
  char token[TOKEN_MAX];
  size_t n;
  tsl__json *at = root;
  *parent = NULL;
  while (at && *pointer) {
    if (!next_token(&pointer, token, &n)) return NULL;
    *parent = at;
    at = at->kind == TSL__JSON_ARRAY ? tsl__json_item(at, token, n) : tsl__json_get(at, token, n);
  }
  return at;
}

static void remove_item(tsl__json *of, const tsl__json *item) {
  size_t index = (size_t)(item - of->items);
  memmove(&of->items[index], &of->items[index + 1], (of->length - index - 1) * sizeof *of->items);
  of->length--;
}

/* Take out what is at the pointer. False: nothing is there. */
static bool take_out(tsl__json *root, const char *pointer) {
  tsl__json *parent, *at = find(root, pointer, &parent);
  tsl__json *unique = at ? tsl__json_member(at, "uniqueItems") : NULL;
  if (unique && unique->kind == TSL__JSON_TRUE) return unique->kind = TSL__JSON_FALSE, true;
  if (!at || !parent) return false;
  if (at->kind == TSL__JSON_OBJECT && at->length)
    at->length = 0;
  else if (parent->kind == TSL__JSON_OBJECT)
    remove_item(parent, at);
  else
    return false;
  return true;
}

static bool any_object(tsl__tags_lowering *l, tsl__json **out) {
  static const char text[] = "{\"type\":\"object\"}";
  return tsl__json_parse(&l->tags->arena, NULL, text, sizeof text - 1, 8, out, NULL) == TSL_OK;
}

/* A text as JSON, in an arena. NULL when out of memory. */
static char *escaped(tsl__arena *arena, const char *text, size_t length) {
  char *out = tsl__arena_alloc(arena, tsl__json_put_escaped(NULL, text, length) + 1);
  if (out) out[tsl__json_put_escaped(out, text, length)] = 0;
  return out;
}

/* False when out of memory. */
static bool report(const tsl__tags_lowering *l, const tsl__tag *n, const tsl_error *error,
                   bool whole) {
  static const char format[] =
      "{\"tool\":\"%s\",\"pointer\":\"%s\",\"status\":\"%s\",\"reason\":\"%s\"}";
  tsl__arena *arena = &l->tags->arena;
  char place[2 * sizeof error->pointer];
  if (!l->tags->report) return true;
  tsl__tags_schema_pointer(l, n, error->pointer, place, sizeof place);
  const char *name = escaped(arena, n->tool.at, n->tool.length),
             *pointer = escaped(arena, place, strlen(place)),
             *reason = escaped(arena, error->message, strlen(error->message));
  if (!name || !pointer || !reason) return false;
  size_t size = sizeof format + strlen(name) + strlen(pointer) + strlen(reason) + 16;
  char *line = tsl__arena_alloc(arena, size);
  if (!line) return false;
  snprintf(line, size, format, name, pointer, whole ? "any object" : "no effect", reason);
  l->tags->report(l->tags->report_ctx, line);
  return true;
}

bool tsl__tags_loosen(tsl__tags_lowering *l, const tsl__tag *n, tsl__json **tree,
                      const tsl_error *error, uint32_t *rounds) {
  if (!n->loose || error->status != TSL_ERR_UNSUPPORTED || *rounds > LOOSEN_MAX) return false;
  tsl__json *copy = tsl__json_copy(&l->tags->arena, *tree);
  if (!copy) return tsl__expr_no_memory(l->x), false;
  bool part = (*rounds)++ < LOOSEN_MAX && take_out(copy, error->pointer);
  if (!part) {
    *rounds = LOOSEN_MAX + 1;
    if (!any_object(l, &copy)) return tsl__expr_no_memory(l->x), false;
  }
  if (!report(l, n, error, !part)) return tsl__expr_no_memory(l->x), false;
  tsl__exprs_forgive(l->x);
  *tree = copy;
  return true;
}
