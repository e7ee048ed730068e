/* prompt.h - the tokens that a model reads in front of its answer: messages in its chat template.
 *
 * What a message says is text: where it holds the name of a special token, that stays text. Special
 * tokens come from the template alone. So no message can pretend to be another one's.
 * Tested by tests/models/test_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_PROMPT_H
#define TSL_CLI_PROMPT_H

#include "cli/json_in.h"
#include "cli/model/llama.h"

#define PROMPT_WHY 240u

typedef struct prompt {
  llama_turn *turns;
  size_t count, capacity;
  tsl_token *tokens; /* after prompt_encode */
  size_t token_count, token_room;
  /* Where a call failed: a JSON pointer below the list of messages ("" : the list itself), and the
   * reason. */
  char pointer[64], why[PROMPT_WHY];
} prompt;

/* One more message: copied. */
void prompt_add(prompt *p, const char *role, const char *content);
/* The messages of a request: of chat completions, or the input of responses. Read are the roles
 * system, developer, user, assistant (with tool_calls) and tool, function_call and
 * function_call_output, and content as a string or as parts of text. False: p->pointer, p->why. */
bool prompt_read(prompt *p, json_in messages);
/* Show the tools to the model: in the system message, which comes first. `tools` is their JSON.
 * With `hermes` the prompt says that the model must write calls in <tool_call>. */
void prompt_show_tools(prompt *p, json_in tools, bool hermes);
/* The chat template around the messages, as tokens. False: p->why. */
bool prompt_encode(prompt *p, const llama *model);
void prompt_free(prompt *p);

#endif
