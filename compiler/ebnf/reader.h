/* reader.h - what the files of this room share: a text that is read, and where the reading is.
 *
 * Every function that reads returns with r->status set after a failure, and does nothing more then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EBNF_READER_H
#define TSL_COMPILER_EBNF_READER_H

#include "compiler/ebnf/ebnf.h"
#include "compiler/gbnf/ast.h"

/* What stands in brackets behind the name of a rule. */
typedef struct tsl__ebnf_rule {
  uint32_t rule;
  size_t at; /* of the brackets */
  bool lazy, has_chars, has_tokens, has_capture;
  uint32_t max_chars, max_tokens;
  tsl__string capture; /* in the grammar's text */
} tsl__ebnf_rule;

typedef struct tsl__ebnf_trigger {
  uint32_t rule;
  size_t at;             /* of the rule's name in the text */
  uint32_t first, count; /* the text: r->bytes */
  tsl_token token;       /* of TokenTagDispatch */
} tsl__ebnf_trigger;

typedef struct tsl__ebnf {
  tsl__gbnf *g;
  tsl__exprs *x;
  tsl_allocator alloc;
  const tsl_vocab *vocab;
  const tsl__ebnf_options *options;
  const char *text;
  size_t length, at;
  uint32_t max_depth;
  uint32_t lines; /* newlines before `counted` */
  size_t counted;
  TSL__VEC(uint32_t) pending;    /* items of the sequences and alternatives that are open */
  TSL__VEC(uint8_t) bytes;       /* of the strings of a macro */
  TSL__VEC(tsl__string) strings; /* of r->bytes, from firsts on; `at` is set when all are read */
  TSL__VEC(uint32_t) firsts;
  TSL__VEC(tsl_token) tokens;
  TSL__VEC(tsl__ebnf_trigger) triggers;
  TSL__VEC(tsl__ebnf_rule) rules; /* with options */
  TSL__VEC(tsl__lark_mark) marks;
  TSL__VEC(char) report;
  tsl_status status;
  tsl_error *error;
} tsl__ebnf;

#define TSL__EBNF_FAIL(r, offset, ...)                                                          \
  ((r)->status = (r)->status ? (r)->status                                                      \
                             : tsl__fail_at((r)->error, TSL_ERR_SYNTAX, (r)->text, (r)->length, \
                                            (offset), __VA_ARGS__))
#define TSL__EBNF_UNSUPPORTED(r, offset, ...)                                           \
  ((r)->status = (r)->status ? (r)->status                                              \
                             : tsl__fail_at((r)->error, TSL_ERR_UNSUPPORTED, (r)->text, \
                                            (r)->length, (offset), __VA_ARGS__))

/* ---- scan.c ---------------------------------------------------------------------------------- */

void tsl__ebnf_limit(tsl__ebnf *r, size_t offset, const char *what, unsigned limit);
void tsl__ebnf_no_memory(tsl__ebnf *r);
/* Is there no sense in going on? Then r->status is set. */
bool tsl__ebnf_over(tsl__ebnf *r);
static inline int tsl__ebnf_peek(const tsl__ebnf *r) {
  return r->at < r->length ? (unsigned char)r->text[r->at] : -1;
}
static inline bool tsl__ebnf_take(tsl__ebnf *r, int c) {
  return tsl__ebnf_peek(r) == c && c >= 0 && (r->at++, true);
}
/* White space, ends of lines and comments. */
void tsl__ebnf_space(tsl__ebnf *r);
/* Space, that character, space; fails without it. */
bool tsl__ebnf_expect(tsl__ebnf *r, int c, const char *what);
/* The bytes of the name here; 0: there is none. */
size_t tsl__ebnf_name(const tsl__ebnf *r);
/* Is the name here the beginning of a rule? */
bool tsl__ebnf_begins_rule(tsl__ebnf *r);
uint32_t tsl__ebnf_number(tsl__ebnf *r, const char *what, uint32_t limit);
/* The text of a string literal goes to r->bytes; *first and *count say where. */
void tsl__ebnf_string(tsl__ebnf *r, uint32_t *first, uint32_t *count);
/* Nodes. */
uint32_t tsl__ebnf_literal(tsl__ebnf *r);
uint32_t tsl__ebnf_class(tsl__ebnf *r);
uint32_t tsl__ebnf_token(tsl__ebnf *r); /* <[7]>, <name>, !<[7]> */
/* Of r->tokens, in any order. */
uint32_t tsl__ebnf_tokens(tsl__ebnf *r, bool others);
/* The rule that is named here, and read over. */
uint32_t tsl__ebnf_mention(tsl__ebnf *r);
/* Adds to the report: something at a place that says nothing of the language. */
void tsl__ebnf_note(tsl__ebnf *r, size_t at, const char *keyword, const char *reason);

/* ---- parse.c --------------------------------------------------------------------------------- */

void tsl__ebnf_parse(tsl__ebnf *r);

/* ---- macro.c --------------------------------------------------------------------------------- */

/* The node of a macro whose name, of `length` bytes, stands here; false: it is none. */
bool tsl__ebnf_macro(tsl__ebnf *r, size_t length, uint32_t *node);

/* ---- dispatch.c ------------------------------------------------------------------------------ */

/* The node of free text with these triggers: r->triggers over r->bytes; r->strings are excluded. */
uint32_t tsl__ebnf_dispatch(tsl__ebnf *r, bool loop);

/* ---- options.c ------------------------------------------------------------------------------- */

/* [lazy, max_chars=3] behind the name of `rule`, which ends before r->at. */
void tsl__ebnf_options_read(tsl__ebnf *r, uint32_t rule);
/* Does what they say; all rules are read. */
void tsl__ebnf_options_apply(tsl__ebnf *r);

#endif
