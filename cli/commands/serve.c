/* serve.c - turnstile serve: a model behind HTTP on this machine, in OpenAI's form.
 *
 * Tested by tests/cli/test_cli_serve.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/serve/http.h"

typedef struct settings {
  engine_settings engine;
  http_settings http;
} settings;

#define TEXT_OPTION(name, field) \
  static bool name(void *to, const char *v) { return ((settings *)to)->field = v, *v != 0; }
#define NUMBER_OPTION(name, field, low, high)                  \
  static bool name(void *to, const char *v) {                  \
    return cli_number(v, low, high, &((settings *)to)->field); \
  }
TEXT_OPTION(set_vocab, engine.vocab)
TEXT_OPTION(set_preset, engine.preset)
TEXT_OPTION(set_host, http.host)
NUMBER_OPTION(set_port, http.port, 0, 65535)
NUMBER_OPTION(set_connections, http.connections, 1, 10000)
NUMBER_OPTION(set_body, http.body, 1, (uint64_t)1 << 30)
NUMBER_OPTION(set_idle, http.idle, 1, 86400)
NUMBER_OPTION(set_tokens, http.max_tokens, 1, 1000000)
NUMBER_OPTION(set_queue, engine.queue, 1, 100000)
NUMBER_OPTION(set_limit, engine.time_limit, 1, 86400)
NUMBER_OPTION(set_wait, engine.token_ms, 0, 10000)

static const cli_option table[] = {
    {"--vocab", "F", "with --model random: the vocabulary (default: the embedded one)", set_vocab},
    {"--preset", "NAME", "how the model writes calls (default hermes)", set_preset},
    {"--host", "A", "the IPv4 address to listen on (default 127.0.0.1: this machine alone)",
     set_host},
    {"--port", "N", "the port; 0: one that is free (default 8080)", set_port},
    {"--max-tokens", "N", "of an answer, whatever the client asks (default 4096)", set_tokens},
    {"--max-body", "N", "bytes of a request's body (default 16777216)", set_body},
    {"--connections", "N", "at once; more wait (default 256)", set_connections},
    {"--idle", "N", "close connections on which nothing moves for N seconds (default 60)",
     set_idle},
    {"--queue", "N", "requests that may wait for the model; more get the status 503 (default 256)",
     set_queue},
    {"--time-limit", "N", "seconds for an answer; then it is cut (default 300)", set_limit},
    {"--token-ms", "N", "wait N milliseconds before each token, for tests of clients (default 0)",
     set_wait},
};

static int serve(const settings *o) {
  if (!o->engine.model) return cli_complain("serve: --model is needed: a GGUF file, or random");
  if (o->engine.vocab && strcmp(o->engine.model, "random") != 0)
    return cli_complain("serve: --vocab goes with --model random");
  return http_serve(&o->engine, &o->http);
}

static int run(int argc, char **argv) {
  settings o = {.engine = {.preset = "hermes", .queue = 256, .time_limit = 300},
                .http = {.host = "127.0.0.1",
                         .port = 8080,
                         .connections = 256,
                         .body = (uint64_t)16 << 20,
                         .idle = 60,
                         .max_tokens = 4096}};
  cli_options sets[] = {llama_options(&o.engine.llama), {table, sizeof table / sizeof *table, &o}};
  cli_arguments arguments;
  if (!cli_parse(&cli_serve, argc, argv, sets, 2, &arguments)) return CLI_BAD;
  int code = CLI_OK;
  o.engine.model = o.engine.llama.model;
  if (!arguments.help)
    code = arguments.rest_count ? cli_complain("serve: unexpected argument %s", arguments.rest[0])
                                : serve(&o);
  cli_arguments_free(&arguments);
  return code;
}

const cli_command cli_serve = {
    "serve",
    "--model F.gguf|random [--port N] [options]",
    "a model behind HTTP on this machine, in OpenAI's form",
    "--model random is the tool's n-gram model, for tests of clients.\n"
    "Paths: /v1/chat/completions, /v1/responses, /v1/models, /health, /metrics. docs/serve.md has "
    "examples.\n"
    "A line on stdout says where it listens. SIGINT or SIGTERM ends it.\n"
    "exit codes: 0 it was ended; 2 the call, the model or the port is bad.\n",
    run,
    NULL};
