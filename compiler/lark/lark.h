/* lark.h - Lark grammars: the notation of Lark 1.x, and of llguidance, which builds on it.
 *
 * Problem   A Lark text has rules (lower case) over terminals (upper case). What it accepts depends
 *           on how a text is cut into terminals, and Lark has several lexers.
 * Meaning   A terminal is a set of texts: those that its expression matches in full. A text is
 *           accepted if it can be cut, in any way, into texts of terminals, so that the terminals
 *           parse from the start rule. Texts of %ignore may stand before, between and after them.
 *             start: A "b"     A: /a+b?/     "aab" is accepted: A is "aa". A lexer that takes the
 *             longest terminal reads "aab" as A, and finds no "b".
 *             start: A A       A: /a+/       "a" is not accepted, "aa" and "aaa" are
 *             %ignore " "                    " a  a " is accepted, and so is "aa"
 *           This is the language of Lark's Earley parser with lexer="dynamic_complete", where each
 *           regular expression stands for all of its matches. lexer="dynamic" takes one match at
 *           each place, so it accepts a part of that language. An option selects the lexers
 *           "dynamic" and "basic" (lexer.h).
 * Lazy      A terminal with a lazy quantifier matches its shortest texts: those of which no
 *           beginning matches too. /<.*?>/ ends at the first ">". A greedy quantifier after a lazy
 *           one would make the match depend on the search: it is refused.
 * Around    A look-around, ^, $ or \b in a terminal is supported where the terminal's own text
 *           decides it; else it is refused.
 * Way       A text becomes a tree for each definition (items.h, parse.c). Imports bind modules and
 *           names (imports.c). Terminals become expressions (terminal.c). Rules become the tree of
 *           compiler/gbnf/ast.h, in which a terminal is one EXPR node (build.c). The rest is done
 *           by compiler/gbnf/: left recursion, placing, lowering. %ignore I: each terminal T of a
 *           rule becomes T I*, and the start rule I* start.
 * Notation  docs/lark.md has the table: what Lark has, what llguidance adds, and what is refused
 *           here, with TSL_ERR_UNSUPPORTED and its place.
 * Limits    nesting (max_depth), TSL__LARK_MODULES_MAX imports, TSL__LARK_RULES_MAX rules with the
 *           instances of templates, and those of compiler/gbnf/gbnf.h and compiler/regex/regex.h
 * Tested by tests/lark/test_lark.c, tests/programs/test_lark.py, fuzz/fuzz_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_LARK_LARK_H
#define TSL_COMPILER_LARK_LARK_H

#include "compiler/expr/expr.h"

#define TSL__LARK_MODULES_MAX 1000u
#define TSL__LARK_RULES_MAX 4000000u
#define TSL__LARK_INSTANCES_MAX 100000u
#define TSL__LARK_TOKENS_MAX 10000000u

/* The expression of a JSON Schema, for %json; never nullable. */
typedef tsl_status tsl__lark_json(void *ctx, tsl__exprs *x, const char *schema, size_t length,
                                  tsl__expr *out, tsl_error *error);

/* A part of a text that the caller wants back, or whose tokens are counted. */
typedef struct tsl__lark_mark {
  tsl__string name; /* NULL: the part is not wanted back */
  tsl__string end;  /* the end of the part, which is not wanted back; NULL: none */
  bool counted;
  uint32_t max_tokens;
} tsl__lark_mark;
/* An expression for `body` that is such a part; called once for each. TSL__NONE on failure
 * (sticky). */
typedef tsl__expr tsl__lark_marks(void *ctx, tsl__exprs *x, const tsl__lark_mark *mark,
                                  tsl__expr body);

/* The expression, without rules, of what is written in place of a text of the grammar. TSL__NONE on
 * failure (sticky), or if there is no such text. */
typedef tsl__expr tsl__lark_written(void *ctx, tsl__exprs *x, tsl__expr text);

/* How a text is cut into terminals: in any way, or as one of Lark's lexers does (lexer.h). */
typedef enum tsl__lark_lexer {
  TSL__LARK_COMPLETE,
  TSL__LARK_DYNAMIC,
  TSL__LARK_BASIC
} tsl__lark_lexer;

typedef struct tsl__lark_options {
  tsl__lark_lexer lexer;
  const char *start;    /* the start rule; NULL: "start" */
  uint32_t max_depth;   /* 0: 512 */
  tsl__lark_json *json; /* NULL: %json is not supported */
  void *json_ctx;
  tsl__lark_marks *marks; /* NULL: captures and counts are refused */
  void *marks_ctx;
  /* if not NULL, called for each part of a rule that is a regular language; tokens are refused */
  tsl__lark_written *written;
  void *written_ctx;
  /* if not NULL: parts of the grammar without effect, as JSON that belongs to x */
  const char **report;
  tsl_resolver resolver; /* called for imported files ("a/b.lark"); NULL: there are none */
  void *resolver_ctx;
} tsl__lark_options;

/* Compile to an expression. `vocab` resolves tokens and may be NULL if the grammar names none.
 * Everything that can be wrong is found here: SYNTAX, UNSUPPORTED and EMPTY with line and column,
 * LIMIT, NO_MEMORY. A place in an imported file is given by the %import, and in words. `text` need
 * not outlive the call. */
tsl_status tsl__lark_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                             const tsl__lark_options *options, tsl__expr *out, tsl_error *error);

/* Texts of any of these chunks that follow one another in the list, the empty text included
 * (substring.c). The chunks need not outlive the call. TSL__NONE on failure (sticky). */
tsl__expr tsl__lark_substring(tsl__exprs *x, const tsl__string *chunks, uint32_t count);

#endif
