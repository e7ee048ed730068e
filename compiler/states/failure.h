/* failure.h - where a search goes on when the word under way does not.
 *
 * Problem   A pattern that looks for some words anywhere, or forbids them, has a state for each
 *           beginning of a word. By most bytes all of these states go where the state without a
 *           word under way goes. To derive each of them by each range of bytes would repeat the
 *           same work.
 * Idea      The failure links of Aho and Corasick, read off the expression. Among its alternatives,
 *           those that begin with few bytes are the words under way. The expression without them
 *           leads to the same places by all other bytes.
 * Example   After "{C" in a text that must hold neither {ConfigName} nor a slash,
 *           !(.*({ConfigName}|/).*|onfigName}.*) is left: by all bytes but `o` it goes where
 *           !(.*({ConfigName}|/).*) does.
 * Ref       A. V. Aho, M. J. Corasick: Efficient string matching: an aid to bibliographic search.
 *           CACM 18 (1975).
 * Tested by tests/expr/test_expr.c, tests/walk/test_subtract.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_STATES_FAILURE_H
#define TSL_COMPILER_STATES_FAILURE_H

#include "compiler/expr/deriv.h"

/* An expression whose derivative by any byte but *but is that of e, the rest of a JSON string
 * without calls and registers. NONE: there is no other. *but has the quote and the backslash.
 * Whether the two may end here is not known. Cost: what e reads, and an expression for each part
 * that changes. */
tsl__expr tsl__failure_of(tsl__exprs *x, tsl__expr e, tsl__bytes *but);

#endif
