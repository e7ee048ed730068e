/* ebnf.h - EBNF, the grammar notation of XGrammar.
 *
 * Problem   XGrammar's grammars look like GBNF, and have more: macros, options of rules, a
 *           look-ahead, other escapes. A reader of GBNF refuses them, or reads a name wrongly.
 * Notation  name ::= expression, with literals, classes, groups, alternatives and repeats as GBNF
 *           has them. A rule begins where a name stands first on its line and `::=` follows; all
 *           other ends of lines are space. '.' may stand in names.
 *           name[option, option=value] ::= …     options.c
 *             lazy            the shortest texts: those of which no beginning is one, too
 *             max_chars=n     the texts of at most n characters; a text that could not end by then
 *                             ends as soon as it can
 *             max_tokens=n    counted while a text is generated, as in Lark
 *             capture         the rule's text is given back; capture="name" gives it a name
 *             temperature=t   for the host; in the report, as is stop_capture="name"
 *           Regex("…")
 *             a regular expression; `.` is any character, unless flags are given
 *           Substring("a", "b")
 *             any of these that follow one another, or nothing
 *           Token(1, 2), ExcludeToken(1, 2)
 *             one token by its id, or any other one
 *           TagDispatch(("<a>", rule), loop_after_dispatch=false, excludes=("x",))
 *             dispatch.c; TokenTagDispatch((7, rule)) is the same with tokens
 *           (= …) at the end of a rule is a look-ahead. XGrammar takes it for a promise that makes
 *           masks faster, and never looks whether a text keeps it. So here it means nothing: it is
 *           read, checked, and in the report.
 * Wider     Past XGrammar: an empty alternative, two repeats in a row, <[7]>, <name> and !<[7]>,
 *           `.` alone for any character, and the escapes of GBNF. So most GBNF texts are EBNF
 *           texts of the same language.
 * Example   root ::= TagDispatch(("<n>", number)) "!"       number[max_chars=3] ::= [0-9]+
 * Way       text → compiler/gbnf/ast.h (parse.c, macro.c; what is regular by itself is an EXPR
 *           node) → options.c → compiler/gbnf/: left recursion, placing, lowering.
 * Limits    those of compiler/gbnf/gbnf.h and compiler/regex/regex.h
 * Tested by tests/ebnf/test_ebnf.c, fuzz/fuzz_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EBNF_EBNF_H
#define TSL_COMPILER_EBNF_EBNF_H

#include "compiler/lark/lark.h"

typedef struct tsl__ebnf_options {
  const char *root;       /* the start rule; NULL: "root" */
  uint32_t max_depth;     /* 0: 512 */
  tsl__lark_marks *marks; /* what captures and counts become; NULL: they are refused */
  void *marks_ctx;
  const char **report; /* if not NULL: parts of the text without effect, as JSON, owned by x */
} tsl__ebnf_options;

/* Compile to an expression. `vocab` resolves token names and may be NULL if the grammar has none.
 * Everything that can be wrong is found here: SYNTAX, UNSUPPORTED and EMPTY with line and column,
 * LIMIT, NO_MEMORY. `text` need not outlive the call. */
tsl_status tsl__ebnf_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                             const tsl__ebnf_options *options, tsl__expr *out, tsl_error *error);

#endif
