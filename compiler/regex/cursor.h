/* cursor.h - a place in a pattern being parsed, shared by parse.c (structure) and escape.c (escapes
 * and classes).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_REGEX_CURSOR_H
#define TSL_COMPILER_REGEX_CURSOR_H

#include "compiler/expr/unicode_cache.h"
#include "compiler/regex/ast.h"

typedef struct tsl__rx_name {
  uint32_t at, length; /* in the pattern */
  uint32_t number;     /* of the group */
  tsl__rx *use;        /* the reference, NULL for the group itself */
} tsl__rx_name;

typedef struct tsl__rx_cursor {
  tsl__rx_tree *tree;
  const tsl_allocator *alloc; /* of what is below */
  const uint8_t *text;
  size_t at, length;
  bool fold, dot_all, multiline; /* flags in force */
  bool counts;                   /* quantifiers that repeat nothing, and {,n}, are errors */
  bool very_end;                 /* \Z is \z */
  uint32_t depth;                /* groups around this place */
  uint32_t groups;               /* capturing groups begun so far */
  uint32_t furthest_back;        /* the highest group number referred to, and where */
  size_t furthest_at;
  tsl__charset set;             /* the set being read: closed under folding where that is on */
  tsl__charset loose;           /* members that are still to be folded */
  TSL__VEC(tsl__rx *) stack;    /* children of the lists around this place */
  TSL__VEC(tsl__rx_name) names; /* named groups */
  TSL__VEC(tsl__rx_name) uses;  /* references by name */
} tsl__rx_cursor;

static inline bool tsl__rx_more(const tsl__rx_cursor *c) { return c->at < c->length; }
/* The byte `ahead` places on; 0 past the end. */
static inline uint8_t tsl__rx_peek(const tsl__rx_cursor *c, size_t ahead) {
  return ahead < c->length - c->at ? c->text[c->at + ahead] : 0;
}
static inline bool tsl__rx_take(tsl__rx_cursor *c, char byte) {
  if (!tsl__rx_more(c) || c->text[c->at] != (uint8_t)byte) return false;
  c->at++;
  return true;
}
/* Fails at `offset`; always false. */
bool tsl__rx_error(tsl__rx_cursor *c, tsl_status status, size_t offset, const char *message);
/* The next code point. */
bool tsl__rx_code_point(tsl__rx_cursor *c, uint32_t *cp);

/* escape.c. Each leaves its result, normalised, in c->set. false on failure. */
bool tsl__rx_read_class(tsl__rx_cursor *c); /* at the '[' */
/* at the '\\' of an escape that stands for one code point */
bool tsl__rx_read_escape(tsl__rx_cursor *c);
bool tsl__rx_read_dot(tsl__rx_cursor *c); /* what '.' means here */
/* The sets that ^, $ and \b look at. */
bool tsl__rx_word_set(tsl__rx_cursor *c);
bool tsl__rx_line_set(tsl__rx_cursor *c, bool negated);

#endif
