/* steps.h - a generation as a table: a line for each token.
 *
 * A line has how many tokens were allowed, and the probability that the model had put on them, red
 * below 10 %. It also has the time that the mask took, and the token. Tokens that nothing drew say
 * why: "closing" (the shortest completion) or "forced" (no other text was allowed). Tested by
 * tests/cli/test_cli_commands.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_STEPS_H
#define TSL_CLI_STEPS_H

#include "cli/generation.h"

void steps_head(FILE *to);
/* `number` counts from 1. The generation has score_all set. */
void steps_line(FILE *to, const generation *g, uint64_t number, const generation_step *step);

#endif
