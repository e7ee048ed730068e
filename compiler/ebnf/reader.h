/* reader.h - what the files of this room share: a text that is read, and where the reading is.
 *
 * Every function that reads returns with r->in.status set after a failure, and does nothing more
 * then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EBNF_READER_H
#define TSL_COMPILER_EBNF_READER_H

#include "compiler/ebnf/ebnf.h"
#include "compiler/gbnf/reader.h"

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
  uint32_t first, count; /* the text, in the grammar's bytes */
  tsl_token token;       /* of TokenTagDispatch */
} tsl__ebnf_trigger;

typedef struct tsl__ebnf {
  tsl__greader in; /* the first member: functions of the dialect get this, and cast */
  const tsl__ebnf_options *options;
  TSL__VEC(tsl__string) strings; /* of a macro; `at` is set when all are read */
  TSL__VEC(uint32_t) firsts;     /* where each string begins in the grammar's bytes */
  TSL__VEC(tsl_token) tokens;
  TSL__VEC(tsl__ebnf_trigger) triggers;
  TSL__VEC(tsl__ebnf_rule) rules; /* with options */
  TSL__VEC(tsl__lark_mark) marks;
  TSL__VEC(char) report;
} tsl__ebnf;

#define TSL__EBNF_FAIL(r, offset, ...) TSL__G_FAIL(&(r)->in, offset, __VA_ARGS__)
#define TSL__EBNF_UNSUPPORTED(r, offset, ...) \
  TSL__G_FAIL_AS(&(r)->in, TSL_ERR_UNSUPPORTED, offset, __VA_ARGS__)

static inline void tsl__ebnf_no_memory(tsl__ebnf *r) { tsl__greader_no_memory(&r->in); }
/* Has anything failed? Then r->in.status is set. */
static inline bool tsl__ebnf_over(tsl__ebnf *r) { return tsl__greader_over(&r->in); }
static inline int tsl__ebnf_peek(const tsl__ebnf *r) { return tsl__greader_peek(&r->in); }
static inline bool tsl__ebnf_take(tsl__ebnf *r, int c) { return tsl__greader_take(&r->in, c); }

/* ---- scan.c ---------------------------------------------------------------------------------- */

/* White space, ends of lines and comments. */
void tsl__ebnf_space(tsl__ebnf *r);
/* Space, that character, space; fails without it. */
bool tsl__ebnf_expect(tsl__ebnf *r, int c, const char *what);
/* The bytes of the name here; 0: there is none. */
size_t tsl__ebnf_name(const tsl__ebnf *r);
/* Is that name here? Then it is read over. */
bool tsl__ebnf_take_name(tsl__ebnf *r, const char *name);
/* Is the name here the beginning of a rule? */
bool tsl__ebnf_begins_rule(tsl__ebnf *r);
/* The rule that is named here, and read over. */
uint32_t tsl__ebnf_mention(tsl__ebnf *r);
/* The node of r->tokens, in any order; `others`: of all tokens but those. */
uint32_t tsl__ebnf_tokens(tsl__ebnf *r, bool others);
/* Adds a token to r->tokens. */
void tsl__ebnf_add_token(tsl__ebnf *r, tsl_token id);
/* Adds to the report: something at a place that has no effect on the language. */
void tsl__ebnf_note(tsl__ebnf *r, size_t at, const char *keyword, const char *reason);

/* ---- parse.c --------------------------------------------------------------------------------- */

extern const tsl__gdialect tsl__ebnf_dialect;
void tsl__ebnf_parse(tsl__ebnf *r);

/* ---- macro.c --------------------------------------------------------------------------------- */

/* The node of the macro whose name stands here; false: it is none. */
bool tsl__ebnf_macro(tsl__ebnf *r, uint32_t *node);

/* ---- dispatch.c ------------------------------------------------------------------------------ */

/* The node of free text with these triggers: r->triggers; r->strings are excluded. */
uint32_t tsl__ebnf_dispatch(tsl__ebnf *r, bool loop);

/* ---- options.c ------------------------------------------------------------------------------- */

/* [lazy, max_chars=3] behind the name of `rule`, which ends before r->at. */
void tsl__ebnf_options_read(tsl__ebnf *r, uint32_t rule);
/* Carries out the options, after all rules were read. */
void tsl__ebnf_options_apply(tsl__ebnf *r);

#endif
