/* request.h - the body of a request to turnstile serve: what it asks, checked.
 *
 * Two forms are read: chat completions and responses of OpenAI's interface. Every member is known,
 * or the request is refused with the member's name. Members that change nothing here are ignored;
 * members that ask for what the server cannot do are refused. request.c has the list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_REQUEST_H
#define TSL_CLI_REQUEST_H

#include "cli/json_in.h"

typedef enum request_form { REQUEST_CHAT, REQUEST_RESPONSES } request_form;

typedef struct request {
  json_in messages, tools;
  cli_text constraint;             /* what an answer may be, as JSON; empty: any text */
  double temperature, top_p, seed, /* seed: NaN where none was given */
      max_tokens, top_logprobs;
  bool stream, usage, logprobs, no_tools;
  /* where it was refused: JSON pointer, and why */
  char pointer[128], why[400];
} request;

/* Read a body. False: refused. `out` points into `body`; free it with request_free in any case. */
bool request_read(request_form form, const char *body, size_t length, request *out);
void request_free(request *r);

#endif
