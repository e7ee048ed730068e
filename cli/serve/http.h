/* http.h - the server of turnstile serve: its settings, and the call that runs it.
 *
 * The command sees this header alone, so the tool builds where libmicrohttpd is not there: absent.c
 * then takes the place of the server.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_HTTP_H
#define TSL_CLI_HTTP_H

#include "cli/model/llama.h"

typedef struct engine_settings {
  const char *model; /* "random": the n-gram model; else a GGUF file */
  const char *vocab; /* for the n-gram model; NULL: the embedded one */
  const char *preset;
  llama_settings llama;
  uint64_t queue;      /* jobs that may wait */
  uint64_t time_limit; /* seconds for an answer, from where it begins to be written */
  uint64_t token_ms;   /* wait so long before each token */
} engine_settings;

typedef struct http_settings {
  const char *host;                 /* an IPv4 address */
  uint64_t port;                    /* 0: any that is free */
  uint64_t connections, body, idle; /* at most: connections, bytes of a body, idle seconds */
  uint64_t max_tokens;              /* of an answer, whatever the client asks */
} http_settings;

/* Serve until SIGINT or SIGTERM. CLI_OK, or CLI_BAD after a complaint. */
int http_serve(const engine_settings *model, const http_settings *settings);

#endif
