/* completion.h - the bytes of a shortest completion.
 *
 * Problem   tsl_matcher_shortest_completion says how many bytes are missing, not which; and inside the name of a member it may be less than the
 *           truth, as it does not know yet which member it will be.
 * Idea      A* over the texts that may follow: a text's cost is its length plus what is missing after it, cheapest first, of equals the longest.
 *           What is missing is never more than the truth, so the first complete text found is a shortest one. Where it is exact, no step is in vain.
 * Cost      One trial per byte that may come next, per byte of the completion: some 100 µs where the count is exact. At most COMPLETION_MAX_STEPS texts
 *           are extended.
 * Ref       Hart, Nilsson, Raphael 1968 "A formal basis for the heuristic determination of minimum cost paths".
 * Tested by tests/test_cli.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_COMPLETION_H
#define TSL_CLI_COMPLETION_H

#include "common.h"

#define COMPLETION_MAX_STEPS 20000u

/* Append the bytes to *out. False if there is no completion without special tokens, or it was not found within the limit. */
bool completion_find(const tsl_matcher *from, cli_text *out);

#endif
