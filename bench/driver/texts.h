/* texts.h - turnstile-bench texts: random texts under masks, many for each of many schemas. Used by
 * tests/programs/differential.py.
 *
 * Method    At each position the mask is computed and a token is drawn from the mask, in two draws.
 *           The first draw takes a kind of byte: the end, white space, structure, digits, letters,
 *           escapes, or bytes past ASCII. The second draw takes evenly one of the tokens that begin
 *           so. With even draws over all tokens hardly a string would ever be closed. After a
 *           number of tokens, drawn for each text, the shortest completion is written, token by
 *           token and under the masks too. A text is written out only if its end was reached.
 *           Whatever keeps a text from its end is printed and counted. That is an empty mask, a
 *           failed call, or a token of the completion that the mask lacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_TEXTS_H
#define TSL_BENCH_TEXTS_H

/* argv[0] is "texts". Stdout gets one line for each schema of the file, a JSON object: {"id",
 * "status", "message", "texts": [...], "ended", "why": [...]}. "ended" is how many texts ended
 * without the completion. "why" has the text and the reason for each text that did not reach its
 * end. With --report yes there is "report" too: what is enforced (tsl_grammar_report). Returns the
 * exit status. */
int bench_texts(int argc, char **argv);

#endif
