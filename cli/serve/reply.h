/* reply.h - answers of turnstile serve, as JSON and as server-sent events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_REPLY_H
#define TSL_CLI_REPLY_H

#include "cli/serve/engine.h"
#include "cli/serve/request.h"

typedef struct reply {
  request_form form;
  const char *model;
  tsl_vocab *vocab;
  tsl_parser *parser; /* NULL: the text is the answer */
  bool usage, logprobs;
  uint32_t top;
  uint64_t number; /* of the answer, for its id */
  long long created;
  /* of a stream */
  cli_text raw;        /* text of the job so far */
  size_t read;         /* bytes of it that were read: whole characters */
  cli_text content;    /* text of the answer so far */
  uint32_t calls;      /* begun */
  uint32_t message_at; /* of a response: the calls that began before the message did */
  bool calling;        /* of a response: a call is being written, with: */
  cli_text name, arguments;
  bool began, message; /* the first event was written; the message's item was */
  uint64_t events, scores;
} reply;

/* For an answer under `grammar`. `constrained`: it is one of engine_grammar's for a constraint. */
tsl_status reply_open(reply *r, tsl_grammar *grammar, bool constrained);
void reply_close(reply *r);
/* The whole answer of a job that is over. */
void reply_whole(reply *r, const job *j, cli_text *out);
/* Events for what is new in r->raw; with `over`, for the end, too. False: the text is not what the
 * grammar allows. */
bool reply_events(reply *r, const job *j, bool over, cli_text *out);
/* {"error": …} */
void reply_error(cli_text *out, const char *type, const char *pointer, const char *message);
/* An event that says that the answer failed. */
void reply_failed(cli_text *out, const char *message);
/* {"object": "list", …} */
void reply_models(cli_text *out, const char *model);
void reply_metrics(cli_text *out, const engine_counts *counts);

#endif
