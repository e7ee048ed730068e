/* answer.h - llama.cpp's model as a generation's model, and what a generation cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_ANSWER_H
#define TSL_CLI_ANSWER_H

#include "cli/generation.h"
#include "cli/model/llama.h"

/* The model behind the functions that a generation calls. `model` outlives the result. */
generation_model answer_model(llama *model);

/* One answer. Times in microseconds, from the first logits on where nothing else is said. */
typedef struct answer_cost {
  uint64_t tokens, forced; /* of the answer; those that were written without a pass */
  uint64_t prompt, kept;   /* tokens of the prompt; those that an earlier prompt began with, too */
  uint64_t passes;         /* through the model, the prompt's included */
  double first_us;         /* until the logits behind the prompt are there */
  double all_us, model_us; /* by the clock: all, and the model's part */
  double worked, model_worked; /* the same by the processor: what others do does not count */
} answer_cost;

/* "27 tokens in 0.61 s: 44.3 tokens/s; 14 forced; …" and a newline. */
void answer_say(FILE *to, const answer_cost *cost);

#endif
