/* gbnf.h - GBNF, the grammar notation of llama.cpp.
 *
 *   name ::= "literal" | [a-z0-9] [^"\\] . ( group ) rule-name
 *          | item* item+ item? item{3} item{2,} item{0,5}
 *          | <[1000]> <think>        # one token, by id or by name
 *          | !<[1000]> !</think>     # any token but that one
 *
 * Names are made of letters, digits, '-' and '_'. A newline ends a rule except inside parentheses
 * and after `::=` and `|`. Escapes in literals and classes: \n \r \t \\ \" \[ \] \- \xHH \uHHHH
 * \UHHHHHHHH, all of them code points. `.` is any code point. An alternative may be empty. Left
 * recursion, which llama.cpp refuses, is allowed in every form (leftrec.c). Stricter than
 * llama.cpp, these are errors: a rule defined twice, a rule that is mentioned in an unused rule and
 * not defined, [] and [^]. So are a range or a repeat from high to low, and invalid UTF-8.
 *
 * Limits    nesting of groups and quantifiers (max_depth), TSL__GBNF_REPEAT_MAX,
 *           TSL__GBNF_CYCLE_MAX, 2^31 nodes, TSL__GBNF_WORK_MAX
 * Tested by tests/gbnf/test_gbnf.c, fuzz/fuzz_gbnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GBNF_GBNF_H
#define TSL_COMPILER_GBNF_GBNF_H

#include "compiler/expr/expr.h"

#define TSL__GBNF_REPEAT_MAX 1000000u /* the largest count in {m,n} */
#define TSL__GBNF_CYCLE_MAX 256u      /* rules of one left-recursive cycle */
#define TSL__GBNF_DEPTH_MAX 4096u     /* max_depth is cut to this: passes recurse on nesting */
#define TSL__GBNF_WORK_MAX 200000000u /* nodes looked at by the fixed points */

/* Compile to the expression of the rule `root` (NULL: "root"). `vocab` resolves token names and may
 * be NULL if the grammar has no tokens; `max_depth` 0 means 512. Everything that can be wrong is
 * found here. SYNTAX has line and column; it includes undefined and doubly defined rules, a missing
 * root and an empty grammar. EMPTY: the root matches no text. Others are LIMIT and NO_MEMORY.
 * `text` need not outlive the call. Cost: linear in the text but for recursive rules, whose fixed
 * points take a few rounds. */
tsl_status tsl__gbnf_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                             const char *root, uint32_t max_depth, tsl__expr *out,
                             tsl_error *error);

#endif
