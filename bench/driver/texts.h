/* texts.h - turnstile-bench texts: random texts under masks, many for each of many schemas. Used by
 * tests/programs/differential.py.
 *
 * Method    At each position the mask is computed and a token drawn from it: first a kind of byte
 *           (the end, white space, structure, digits, letters, escapes, bytes past ASCII), then
 *           evenly a token that begins so; drawn evenly over all tokens hardly a string would ever
 *           be closed. After a number of tokens, drawn for each text, the shortest completion is
 *           written, token by token and under the masks too. A text is written out only if its end
 *           was reached; whatever keeps it from that (an empty mask, a call that fails, a token of
 *           the completion that the mask lacks) is said and counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_TEXTS_H
#define TSL_BENCH_TEXTS_H

/* argv[0] is "texts". On stdout for each schema of the file one JSON object in a line: {"id",
 * "status", "message", "texts": [...], "ended": how many ended without the completion, "why":
 * [...]}, "why" having the text and the reason for each one that did not reach its end; with
 * --report yes "report" too, what is enforced (tsl_grammar_report). Returns the exit status. */
int bench_texts(int argc, char **argv);

#endif
