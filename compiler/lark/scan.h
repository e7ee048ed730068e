/* scan.h - a place in the text of a Lark grammar, and what the files that read it share.
 *
 * scan.c reads names, numbers, strings, regular expressions and tokens. parse.c reads definitions
 * out of them, embed.c what stands in a definition in another notation, param.c parameters, and
 * statement.c everything that is no definition. The first error stops them all: a function then
 * returns node 0, or false.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_LARK_SCAN_H
#define TSL_COMPILER_LARK_SCAN_H

#include "compiler/lark/items.h"

typedef struct tsl__lscan {
  tsl__lark *l;
  uint32_t module;
  const char *text;
  size_t length, at;
  uint32_t nested;            /* grammars in braces around this one: its '}' ends it */
  TSL__VEC(uint32_t) pending; /* items of the lists that are open */
} tsl__lscan;

#define FAIL_AT(p, offset, ...) \
  tsl__lark_fail((p)->l, TSL_ERR_SYNTAX, (p)->module, (offset), __VA_ARGS__)
#define FAIL(p, ...) FAIL_AT((p), (p)->at, __VA_ARGS__)
#define UNSUPPORTED(p, offset, ...) \
  tsl__lark_fail((p)->l, TSL_ERR_UNSUPPORTED, (p)->module, (offset), __VA_ARGS__)

static inline bool tsl__scan_failed(const tsl__lscan *p) { return p->l->status != TSL_OK; }
static inline int tsl__scan_byte(const tsl__lscan *p, size_t at) {
  return at < p->length ? (unsigned char)p->text[at] : -1;
}
static inline int tsl__scan_peek(const tsl__lscan *p) { return tsl__scan_byte(p, p->at); }
static inline bool tsl__scan_take(tsl__lscan *p, char c) {
  return tsl__scan_peek(p) == c ? (p->at++, true) : false;
}
static inline bool tsl__scan_take_text(tsl__lscan *p, const char *text) {
  size_t n = strlen(text);
  if (p->length - p->at < n || memcmp(p->text + p->at, text, n)) return false;
  p->at += n;
  return true;
}
static inline bool tsl__scan_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool tsl__scan_lower(int c) { return c >= 'a' && c <= 'z'; }
static inline bool tsl__scan_upper(int c) { return c >= 'A' && c <= 'Z'; }
static inline bool tsl__scan_begins_name(int c) {
  return tsl__scan_lower(c) || tsl__scan_upper(c) || c == '_';
}

/* ---- scan.c ---------------------------------------------------------------------------------- */

/* White space, comments, and a newline after a backslash. */
void tsl__scan_skip(tsl__lscan *p, bool newlines);
bool tsl__scan_at_end_of_line(const tsl__lscan *p);
/* Nothing but white space is left of the line. */
bool tsl__scan_end_line(tsl__lscan *p);
bool tsl__scan_push(tsl__lscan *p, uint32_t value);
bool tsl__scan_too_deep(tsl__lscan *p, size_t at);
/* Letters, digits, '_', and '-' between them. */
uint32_t tsl__scan_name_length(const tsl__lscan *p);
/* Takes a name; *terminal: it is one. 0: there is none, or a bad one. */
uint32_t tsl__scan_name(tsl__lscan *p, const char *what, bool *terminal);
/* At most `limit`. */
uint32_t tsl__scan_number(tsl__lscan *p, const char *what, uint32_t limit);
/* A string, or a range of two; 0 for an empty string, too. */
uint32_t tsl__scan_string(tsl__lscan *p);
uint32_t tsl__scan_pattern(tsl__lscan *p);
/* <name>, <[id]>, <[1-3,7]>, <[^id]>, <[*]> */
uint32_t tsl__scan_token(tsl__lscan *p);

/* ---- parse.c --------------------------------------------------------------------------------- */

/* Definitions and statements up to the end, or to the '}' of a nested grammar. */
bool tsl__scan_grammar(tsl__lscan *p);
/* An item without what repeats it; *none: there is no item here. Depth: of brackets around it. */
uint32_t tsl__scan_atom(tsl__lscan *p, uint32_t depth, bool *none);
/* Alternatives. */
uint32_t tsl__scan_body(tsl__lscan *p, uint32_t depth, bool terminal);
bool tsl__scan_definition(tsl__lscan *p, tsl__lhow how);
bool tsl__scan_act(tsl__lscan *p, tsl__lhow how, const tsl__ldef *d, uint32_t node);

/* ---- embed.c --------------------------------------------------------------------------------- */

/* Past the JSON object at p->at. */
bool tsl__scan_object(tsl__lscan *p, const char *what);
/* %json {…}, %regex {…}, %lark {…} */
uint32_t tsl__scan_embedded(tsl__lscan *p, uint32_t depth);
/* @name */
uint32_t tsl__scan_reference(tsl__lscan *p);

/* ---- param.c --------------------------------------------------------------------------------- */

/* What a parameter becomes, after "::"; or the condition after "%if". An index of l->params64. */
bool tsl__scan_param(tsl__lscan *p, bool condition, uint32_t *out);

/* ---- statement.c ----------------------------------------------------------------------------- */

/* What begins with '%'. */
bool tsl__scan_statement(tsl__lscan *p);

#endif
