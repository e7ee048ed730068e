/* http.c - the server of turnstile serve: connections, paths, bodies, streams.
 *
 * Problem   Strangers' programs connect: slow ones, ones that go away, ones that send garbage.
 * Idea      libmicrohttpd gives each connection a thread. So a client that reads slowly blocks its
 *           own thread alone. The bounds are those of the settings: connections, bytes of a body,
 *           idle seconds. The thread waits for its job. At each new text, and every 100 ms, it
 *           looks whether the client is still there.
 * Example   A client asks for a stream and closes after the first event. The next look at the
 *           socket finds the end, the job is cancelled, and the model turns to the next one.
 * Bodies    A body that is announced as too large is refused before it is read. One that grows too
 *           large is read to its end, not kept, and refused.
 * Cost      A thread for each connection.
 * Tested by tests/cli/test_cli_serve.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* POLLRDHUP */
#include "cli/serve/engine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "cli/serve/reply.h"
#include "cli/serve/request.h"

#define JSON_TYPE "application/json"

typedef struct server {
  engine *engine;
  const http_settings *settings;
  pthread_mutex_t lock;
  uint64_t numbers; /* of answers */
} server;

/* One request. */
typedef struct exchange {
  server *server;
  request_form form;
  cli_text body;
  bool too_large;
  request request;
  job *job;
  reply reply;
  bool over, failed; /* of a stream: all was made */
  cli_text out;      /* of a stream: bytes to be sent */
  size_t sent;
  struct MHD_Connection *connection;
} exchange;

/* ---- answers --------------------------------------------------------------------------------- */

static enum MHD_Result answer_at(exchange *x, struct MHD_Connection *c, unsigned status,
                                 const char *type, const cli_text *text, const char *allow) {
  struct MHD_Response *response = MHD_create_response_from_buffer(
      text->length, text->at ? text->at : (void *)"", MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  if (allow) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
  if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
  enum MHD_Result result = MHD_queue_response(c, status, response);
  MHD_destroy_response(response);
  engine_count(x->server->engine, status);
  return result;
}

static enum MHD_Result refuse(exchange *x, struct MHD_Connection *c, unsigned status,
                              const char *pointer, const char *message) {
  cli_text text = {0};
  reply_error(&text, status >= 500 ? "server_error" : "invalid_request_error", pointer, message);
  enum MHD_Result result = answer_at(
      x, c, status, JSON_TYPE, &text,
      status == MHD_HTTP_METHOD_NOT_ALLOWED ? strstr(message, "POST") ? "POST" : "GET" : NULL);
  cli_text_free(&text);
  return result;
}

/* Is the client still there? One that has closed may have left bytes that nobody has read, such as
 * a second request: reading cannot see the end behind them. Linux says that the other side closed
 * (POLLRDHUP). Elsewhere the socket is read, and the end is seen once the bytes are. */
static bool is_connected(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (!info) return true;
#ifdef POLLRDHUP
  struct pollfd look = {.fd = info->connect_fd, .events = POLLRDHUP};
  return poll(&look, 1, 0) <= 0 || !(look.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
#else
  char byte;
  ssize_t n = recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
#endif
}

/* ---- completions ----------------------------------------------------------------------------- */

/* The library counts idle seconds while it waits for the client, not while the client waits for the
 * model. Leaving 0 begins the count anew. */
static void count_idle(exchange *x, bool on) {
  MHD_set_connection_option(x->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                            on ? (unsigned)x->server->settings->idle : 0u);
}

/* New text of the job, once there is some or it is over. False: the client is gone. */
static bool await(exchange *x, job_state *state) {
  size_t before = x->reply.raw.length;
  bool there;
  count_idle(x, false);
  do {
    *state = engine_wait(x->server->engine, x->job, x->reply.raw.length, &x->reply.raw);
    there = *state > JOB_RUNS || is_connected(x->connection);
  } while (there && *state <= JOB_RUNS && x->reply.raw.length == before);
  count_idle(x, true);
  if (!there) engine_cancel(x->server->engine, x->job);
  return there;
}

/* Called by the connection's own thread, whenever the client takes more. */
static ssize_t read_stream(void *ctx, uint64_t position, char *to, size_t most) {
  exchange *x = ctx;
  (void)position;
  while (x->sent == x->out.length) {
    job_state state;
    if (x->over)
      return x->failed ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    x->out.length = x->sent = 0;
    if (!await(x, &state)) return MHD_CONTENT_READER_END_WITH_ERROR;
    x->over = state > JOB_RUNS;
    if (state == JOB_FAILED)
      reply_failed(&x->out, *x->job->why ? x->job->why : "the server stops");
    else if (!reply_events(&x->reply, x->job, x->over, &x->out)) {
      reply_failed(&x->out, "the text does not match its grammar");
      engine_cancel(x->server->engine, x->job);
      x->over = true;
    }
  }
  size_t n = x->out.length - x->sent < most ? x->out.length - x->sent : most;
  memcpy(to, x->out.at + x->sent, n);
  x->sent += n;
  return (ssize_t)n;
}

static enum MHD_Result begin_stream(exchange *x, struct MHD_Connection *c) {
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_stream, x, NULL);
  if (!response) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
  enum MHD_Result result = MHD_queue_response(c, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  engine_count(x->server->engine, MHD_HTTP_OK);
  return result;
}

static enum MHD_Result answer_whole(exchange *x, struct MHD_Connection *c) {
  job_state state;
  cli_text text = {0};
  do
    if (!await(x, &state)) return MHD_NO;
  while (state <= JOB_RUNS);
  if (state == JOB_FAILED)
    return refuse(x, c, x->job->in_prompt ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_INTERNAL_SERVER_ERROR,
                  x->job->in_prompt ? x->job->pointer : "",
                  *x->job->why ? x->job->why : "the server stops");
  reply_whole(&x->reply, x->job, &text);
  enum MHD_Result result = answer_at(x, c, MHD_HTTP_OK, JSON_TYPE, &text, NULL);
  cli_text_free(&text);
  return result;
}

static uint64_t next_number(server *s) {
  pthread_mutex_lock(&s->lock);
  uint64_t number = ++s->numbers;
  pthread_mutex_unlock(&s->lock);
  return number;
}

#define TOKENS_DEFAULT 256u

static void fill_job(exchange *x, uint64_t most) {
  const request *r = &x->request;
  job *j = x->job;
  double tokens = r->max_tokens > 0 ? r->max_tokens : TOKENS_DEFAULT;
  j->sampler =
      (tsl_sampler_options){.temperature = (float)r->temperature,
                            .top_p = (float)r->top_p,
                            .seed = isnan(r->seed) ? x->reply.number : (uint64_t)(int64_t)r->seed};
  j->max_tokens = tokens < (double)most ? (uint64_t)tokens : most;
  j->logprobs = r->logprobs;
  j->body = x->body;
  j->messages = r->messages;
  j->tools = r->tools;
  x->body = (cli_text){0};
}

static enum MHD_Result complete(exchange *x, struct MHD_Connection *c) {
  server *s = x->server;
  request *r = &x->request;
  tsl_error error = {0};
  if (!request_read(x->form, x->body.at, x->body.length, r))
    return refuse(x, c, MHD_HTTP_BAD_REQUEST, r->pointer, r->why);
  x->job = job_new();
  bool constrained = r->constraint.length > 0;
  tsl_status status =
      engine_grammar(s->engine, constrained ? &r->constraint : NULL, &x->job->grammar, &error);
  if (status == TSL_ERR_NO_MEMORY)
    return refuse(x, c, MHD_HTTP_SERVICE_UNAVAILABLE, "", "out of memory");
  if (status != TSL_OK) return refuse(x, c, MHD_HTTP_BAD_REQUEST, error.pointer, error.message);
  x->reply = (reply){.form = x->form,
                     .model = engine_model(s->engine),
                     .vocab = engine_vocab(s->engine),
                     .usage = r->usage,
                     .logprobs = r->logprobs,
                     .top = (uint32_t)r->top_logprobs,
                     .number = next_number(s),
                     .created = (long long)time(NULL)};
  if (reply_open(&x->reply, x->job->grammar, constrained) != TSL_OK)
    return refuse(x, c, MHD_HTTP_SERVICE_UNAVAILABLE, "", "out of memory");
  fill_job(x, s->settings->max_tokens);
  if (!engine_add(s->engine, x->job)) {
    job_free(s->engine, x->job);
    x->job = NULL;
    return refuse(x, c, MHD_HTTP_SERVICE_UNAVAILABLE, "",
                  "too many requests wait for the model: try again later");
  }
  x->connection = c;
  return r->stream ? begin_stream(x, c) : answer_whole(x, c);
}

/* ---- requests -------------------------------------------------------------------------------- */

static enum MHD_Result get(exchange *x, struct MHD_Connection *c, const char *path) {
  cli_text text = {0};
  const char *type = JSON_TYPE;
  if (!strcmp(path, "/health")) {
    cli_text_add(&text, "{\"status\":\"ok\"}\n", 16);
  } else if (!strcmp(path, "/v1/models")) {
    reply_models(&text, engine_model(x->server->engine));
  } else {
    const engine_counts counts = engine_get_counts(x->server->engine);
    type = "text/plain; version=0.0.4";
    reply_metrics(&text, &counts);
  }
  enum MHD_Result result = answer_at(x, c, MHD_HTTP_OK, type, &text, NULL);
  cli_text_free(&text);
  return result;
}

static enum MHD_Result dispatch(exchange *x, struct MHD_Connection *c, const char *path,
                                const char *method) {
  bool reads = !strcmp(path, "/health") || !strcmp(path, "/v1/models") || !strcmp(path, "/metrics");
  bool chat = !strcmp(path, "/v1/chat/completions"), responses = !strcmp(path, "/v1/responses");
  if (!reads && !chat && !responses)
    return refuse(x, c, MHD_HTTP_NOT_FOUND, "",
                  "no such path: there are /v1/chat/completions, /v1/responses, /v1/models, "
                  "/health and /metrics");
  bool is_get = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);
  if (reads && !is_get) return refuse(x, c, MHD_HTTP_METHOD_NOT_ALLOWED, "", "this path takes GET");
  if (!reads && strcmp(method, MHD_HTTP_METHOD_POST) != 0)
    return refuse(x, c, MHD_HTTP_METHOD_NOT_ALLOWED, "", "this path takes POST");
  if (x->too_large) {
    char message[100];
    snprintf(message, sizeof message, "the body has more than %llu bytes",
             (unsigned long long)x->server->settings->body);
    return refuse(x, c, MHD_HTTP_CONTENT_TOO_LARGE, "", message);
  }
  if (reads) return get(x, c, path);
  x->form = chat ? REQUEST_CHAT : REQUEST_RESPONSES;
  return complete(x, c);
}

/* Is a body announced that is too large? */
static bool announces_too_much(struct MHD_Connection *c, uint64_t most) {
  const char *length =
      MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  return length && strtoull(length, NULL, 10) > most;
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **kept) {
  server *s = ctx;
  exchange *x = *kept;
  (void)version;
  if (!x) {
    *kept = x = cli_allocate(1, sizeof *x);
    x->server = s;
    x->too_large = announces_too_much(c, s->settings->body);
    return x->too_large ? dispatch(x, c, path, method) : MHD_YES;
  }
  if (!*size) return dispatch(x, c, path, method);
  x->too_large = x->too_large || x->body.length + *size > s->settings->body;
  if (!x->too_large) cli_text_add(&x->body, data, *size);
  *size = 0;
  return MHD_YES;
}

static void end_exchange(void *ctx, struct MHD_Connection *c, void **kept,
                         enum MHD_RequestTerminationCode why) {
  server *s = ctx;
  exchange *x = *kept;
  (void)c, (void)why;
  if (!x) return;
  if (x->job) engine_cancel(s->engine, x->job);
  job_free(s->engine, x->job);
  reply_close(&x->reply);
  request_free(&x->request);
  cli_text_free(&x->body);
  cli_text_free(&x->out);
  free(x);
  *kept = NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Signals end the server in order; threads leave them to http_serve. */
static void block_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  signal(SIGPIPE, SIG_IGN);
}

static void wait_for_signal(void) {
  sigset_t signals;
  int number;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigwait(&signals, &number);
}

static int serve(engine *e, const http_settings *o) {
  server s = {.engine = e, .settings = o};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)o->port)};
  if (inet_pton(AF_INET, o->host, &address.sin_addr) != 1)
    return cli_complain("serve: --host %s is no IPv4 address", o->host);
  pthread_mutex_init(&s.lock, NULL);
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL,
      (uint16_t)o->port, NULL, NULL, handle, &s, MHD_OPTION_SOCK_ADDR, &address,
      MHD_OPTION_NOTIFY_COMPLETED, end_exchange, &s, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)o->connections, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)o->idle,
      MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
  if (!daemon)
    return cli_complain("serve: cannot listen on %s, port %llu: %s", o->host,
                        (unsigned long long)o->port, strerror(errno));
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  printf("serving %s on http://%s:%u\n", engine_model(e), o->host,
         info ? (unsigned)info->port : (unsigned)o->port);
  fflush(stdout);
  wait_for_signal();
  engine_stop(e);
  MHD_stop_daemon(daemon);
  pthread_mutex_destroy(&s.lock);
  return CLI_OK;
}

int http_serve(const engine_settings *model, const http_settings *settings) {
  block_signals();
  engine *e = engine_open(model);
  if (!e) return CLI_BAD;
  int code = serve(e, settings);
  engine_close(e);
  return code;
}
