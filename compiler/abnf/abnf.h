/* abnf.h - ABNF, the grammar notation of RFCs (RFC 5234 and RFC 7405).
 *
 * Problem   The grammars of URIs, dates, header fields and addresses are in ABNF, and people have
 *           them at hand.
 * Notation  name = elements      name =/ more elements        ; a comment
 *             a b      one after the other        a / b    one of them
 *             ( … )    a group                    [ … ]    may be left out
 *             2*5a  *a  1*a  3a                   repeats: from, to, or exactly
 *             "text"   upper and lower case are the same (%i"text" too)      %s"Text"   as written
 *             %x41  %d65  %b1000001               one character     %x41-5A  a range
 *             %x48.54.54.50                       characters one after the other
 *             <prose>                             refused: nobody but a reader knows what is meant
 *           Upper and lower case are one in names. A rule goes on in lines that are indented more
 *           than its name. A name that is not defined may be a core rule of RFC 5234 (ALPHA, DIGIT,
 *           CRLF, ...).
 * Meaning   A text is accepted if it can be derived from the start rule. A number is a code point,
 *           so %x80-FF are the characters U+0080 to U+00FF in UTF-8, and no single bytes. OCTET is
 *           U+0000 to U+00FF in the same way. U+D800 to U+DFFF are no characters.
 * Example   date = year "-" month      year = 4DIGIT      month = 2DIGIT
 *           "2026-11" is a date.
 * Way       text → compiler/gbnf/ast.h (parse.c) → compiler/gbnf/: left recursion, placing,
 *           lowering.
 * Limits    those of compiler/gbnf/gbnf.h
 * Tested by tests/abnf/test_abnf.c, fuzz/fuzz_abnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_ABNF_ABNF_H
#define TSL_COMPILER_ABNF_ABNF_H

#include "compiler/expr/expr.h"

/* Compile to the expression of the rule `root` (NULL: the first rule of the text); `max_depth` 0
 * means 512. Everything that can be wrong is found here: SYNTAX, UNSUPPORTED and EMPTY with line
 * and column, LIMIT, NO_MEMORY. `text` need not outlive the call. */
tsl_status tsl__abnf_compile(tsl__exprs *x, const char *text, size_t length, const char *root,
                             uint32_t max_depth, tsl__expr *out, tsl_error *error);

/* core_rules.c: the ABNF text of the core rules of RFC 5234, appendix B.1. */
extern const char tsl__abnf_core_rules[];

#endif
