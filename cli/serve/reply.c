/* reply.c - what turnstile serve answers: JSON, server-sent events, metrics.
 *
 * Problem   Clients want parts: text, calls and their arguments, while the model writes. A text of
 *           the model is bytes, in which a character may be cut, and a tag may be half there.
 * Idea      Bytes are handed on when their character is whole. A parser of the answer's grammar
 *           (tsl_parser) says which part they belong to. A text under no constraint needs no
 *           parser.
 * Example   `{"n` becomes the event {"delta": {"content": "{\"n"}}. `<tool_call>…` becomes a call
 *           with its name, then pieces of its arguments.
 * Responses The other form has events of its own, for items: one message, and each call. An item's
 *           place is the number of items that began before. A call is done when the next one
 *           begins, or at the end; the message is done at the end.
 * Cost      Linear in the text. All is made in memory, and freed with the connection.
 * Tested by tests/cli/test_cli_serve.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/serve/reply.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

static void put(cli_text *out, const char *format, ...) CLI_PRINTF(2, 3);
static void put(cli_text *out, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n > 0) cli_text_add(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* Bytes of the UTF-8 character at `at`; 0: it is none, or not whole. */
static size_t character(const uint8_t *at, size_t left) {
  size_t n = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
  if (at[0] > 0xF4 || n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((at[i] & 0xC0) != 0x80) return 0;
  return n;
}

/* A JSON string; bytes that are no UTF-8 become U+FFFD. */
static void put_string(cli_text *out, const char *bytes, size_t length) {
  cli_text_add(out, "\"", 1);
  for (size_t i = 0; i < length;) {
    const uint8_t *at = (const uint8_t *)bytes + i;
    size_t n = character(at, length - i);
    if (!n)
      cli_text_add(out, "\xEF\xBF\xBD", 3);
    else if (*at < 0x20 || *at == '"' || *at == '\\')
      put(out, *at < 0x20 ? "\\u%04x" : "\\%c", *at);
    else
      cli_text_add(out, at, n);
    i += n ? n : 1;
  }
  cli_text_add(out, "\"", 1);
}

static void put_text(cli_text *out, const char *text) { put_string(out, text, strlen(text)); }

static void put_raw(cli_text *out, const cli_text *text) {
  if (text->length) cli_text_add(out, text->at, text->length);
}

void reply_error(cli_text *out, const char *type, const char *pointer, const char *message) {
  put(out, "{\"error\":{\"message\":");
  put_text(out, message);
  put(out, ",\"type\":\"%s\",\"param\":", type);
  if (*pointer)
    put_text(out, pointer);
  else
    put(out, "null");
  put(out, ",\"code\":null}}\n");
}

void reply_failed(cli_text *out, const char *message) {
  put(out, "data: ");
  reply_error(out, "server_error", "", message);
  put(out, "\n");
}

void reply_models(cli_text *out, const char *model) {
  put(out, "{\"object\":\"list\",\"data\":[{\"id\":");
  put_text(out, model);
  put(out, ",\"object\":\"model\",\"created\":0,\"owned_by\":\"turnstile\"}]}\n");
}

static void metric(cli_text *out, const char *name, const char *kind, const char *help, double n) {
  put(out, "# HELP turnstile_%s %s\n# TYPE turnstile_%s %s\nturnstile_%s %.17g\n", name, help, name,
      kind, name, n);
}

void reply_metrics(cli_text *out, const engine_counts *c) {
#define COUNT(name, help, n) metric(out, name, "counter", help, (double)(n))
#define GAUGE(name, help, n) metric(out, name, "gauge", help, (double)(n))
  COUNT("requests_total", "Answers of HTTP.", c->requests);
  COUNT("refusals_total", "Answers with a status from 400 to 499.", c->refusals);
  COUNT("errors_total", "Answers with a status from 500 on.", c->errors);
  COUNT("jobs_total", "Texts that the model began.", c->jobs);
  COUNT("jobs_cancelled_total", "Texts for which nobody waited any more.", c->cut_off);
  COUNT("jobs_failed_total", "Texts that failed.", c->failed);
  COUNT("prompt_tokens_total", "Tokens of prompts.", c->prompt_tokens);
  COUNT("tokens_total", "Tokens written.", c->tokens);
  COUNT("forced_tokens_total", "Tokens written without the model.", c->forced);
  COUNT("masks_total", "Masks computed.", c->masks);
  COUNT("mask_seconds_total", "Seconds spent in masks.", c->mask_us / 1e6);
  COUNT("compiles_total", "Grammars compiled.", c->compiles);
  COUNT("compile_failures_total", "Grammars refused.", c->compile_failures);
  COUNT("compile_seconds_total", "Seconds spent compiling.", c->compile_us / 1e6);
  COUNT("grammar_hits_total", "Grammars that were there already.", c->hits);
  GAUGE("grammars", "Grammars kept.", c->cached);
  GAUGE("grammar_bytes", "Bytes of grammars kept.", c->cached_bytes);
  GAUGE("waiting", "Texts that wait for the model.", c->waiting);
  GAUGE("running", "Texts that the model writes now.", c->running);
  if (c->drawn)
    GAUGE("legal_mass", "Probability on allowed tokens, where clients want logprobs.",
          exp(c->legal / (double)c->drawn));
#undef COUNT
#undef GAUGE
}

/* ---- parts of an answer ---------------------------------------------------------------------- */

tsl_status reply_open(reply *r, tsl_grammar *grammar, bool constrained) {
  return constrained ? tsl_parser_new(grammar, NULL, &r->parser) : TSL_OK;
}

void reply_close(reply *r) {
  tsl_parser_free(r->parser);
  cli_text_free(&r->raw);
  cli_text_free(&r->content);
  cli_text_free(&r->name);
  cli_text_free(&r->arguments);
}

static void put_id(cli_text *out, const reply *r) {
  put(out, "\"id\":\"%s-%llu\"", r->form == REQUEST_CHAT ? "chatcmpl" : "resp",
      (unsigned long long)r->number);
}

static void put_usage(cli_text *out, const reply *r, const job *j) {
  bool chat = r->form == REQUEST_CHAT;
  put(out, "\"usage\":{\"%s\":%llu,\"%s\":%llu,\"total_tokens\":%llu}",
      chat ? "prompt_tokens" : "input_tokens", (unsigned long long)j->prompt_tokens,
      chat ? "completion_tokens" : "output_tokens", (unsigned long long)j->tokens,
      (unsigned long long)(j->prompt_tokens + j->tokens));
}

static void put_token(cli_text *out, const reply *r, tsl_token token, double logprob) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(r->vocab, token, &n);
  put(out, "{\"token\":");
  put_string(out, (const char *)bytes, n);
  put(out, ",\"logprob\":%.9g,\"bytes\":[", logprob > -9999 ? logprob : -9999.0);
  for (size_t i = 0; i < n; i++) put(out, i ? ",%u" : "%u", bytes[i]);
  put(out, "]");
}

/* The tokens from the first one that was not written yet. */
static void put_scores(cli_text *out, reply *r, const job *j) {
  put(out, "{\"content\":[");
  for (bool first = true; r->scores < j->score_count; r->scores++, first = false) {
    const engine_score *s = &j->scores[r->scores];
    if (!first) put(out, ",");
    put_token(out, r, s->token, log(s->probability));
    put(out, ",\"top_logprobs\":[");
    for (uint32_t i = 0; i < r->top && i < s->top_count; i++) {
      if (i) put(out, ",");
      put_token(out, r, s->top[i].token, s->top[i].logprob);
      put(out, "}");
    }
    put(out, "]}");
  }
  put(out, "],\"refusal\":null}");
}

/* Read the rest of the text. False: it is not what the grammar allows. */
static bool parse(reply *r, size_t until) {
  bool ok =
      !r->parser || tsl_parser_text(r->parser, r->raw.at + r->read, until - r->read) == TSL_OK;
  r->read = until;
  return ok;
}

/* The end of the last whole character. */
static size_t whole_until(const reply *r) {
  size_t end = r->raw.length, back = 0;
  while (back < 4 && back < end - r->read) {
    const uint8_t *at = (const uint8_t *)r->raw.at + end - 1 - back;
    if ((*at & 0xC0) != 0x80) return character(at, back + 1) ? end : end - 1 - back;
    back++;
  }
  return end;
}

/* What the calls of the answer are, as parser_json has them. */
static json_in calls_of(reply *r, json_in *content) {
  json_in all = {0}, none = {0};
  size_t offset;
  const char *why, *text = r->parser ? tsl_parser_json(r->parser) : NULL;
  if (!text || !json_in_check(text, strlen(text), &all, &offset, &why)) return none;
  *content = json_in_member(all, "content");
  return json_in_member(all, "calls");
}

/* The arguments as a string of JSON. */
static void put_arguments(cli_text *out, json_in call) {
  json_in value = json_in_member(call, "arguments");
  cli_text text = {0};
  bool cut = json_in_member(call, "incomplete").at && json_in_string(value, &text);
  put_string(out,
             cut        ? (text.at ? text.at : "")
             : value.at ? value.at
                        : "{}",
             cut        ? text.length
             : value.at ? value.length
                        : 2);
  cli_text_free(&text);
}

static void put_name(cli_text *out, json_in call) {
  json_in name = json_in_member(call, "name");
  if (name.at)
    cli_text_add(out, name.at, name.length);
  else
    put(out, "\"\"");
}

static void put_chat_calls(cli_text *out, const reply *r, json_in calls) {
  uint32_t i = 0;
  for (json_in call = {0}; json_in_next(calls, &call); i++) {
    put(out,
        "%s{\"id\":\"call_%llu_%u\",\"type\":\"function\",\"function\":{\"name\":", i ? "," : "",
        (unsigned long long)r->number, i);
    put_name(out, call);
    put(out, ",\"arguments\":");
    put_arguments(out, call);
    put(out, "}}");
  }
}

static const char *finish_of(const job *j, bool calls) {
  bool length = j->state == JOB_CUT || !j->whole;
  return length ? "length" : calls ? "tool_calls" : "stop";
}

static bool has_items(json_in list) {
  json_in item = {0};
  return json_in_next(list, &item);
}

/* ---- chat completions ------------------------------------------------------------------------ */

static void put_content(cli_text *out, const reply *r, json_in content) {
  if (!r->parser)
    put_string(out, r->raw.at ? r->raw.at : "", r->raw.length);
  else if (content.at)
    cli_text_add(out, content.at, content.length);
  else
    put(out, "\"\"");
}

static void whole_chat(reply *r, const job *j, cli_text *out) {
  json_in content = {0}, calls = calls_of(r, &content);
  bool called = has_items(calls);
  put(out, "{");
  put_id(out, r);
  put(out, ",\"object\":\"chat.completion\",\"created\":%lld,\"model\":", r->created);
  put_text(out, r->model);
  put(out, ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"refusal\":null,"
           "\"content\":");
  if (called && content.length <= 2)
    put(out, "null");
  else
    put_content(out, r, content);
  if (called) {
    put(out, ",\"tool_calls\":[");
    put_chat_calls(out, r, calls);
    put(out, "]");
  }
  put(out, "},\"logprobs\":");
  if (r->logprobs)
    put_scores(out, r, j);
  else
    put(out, "null");
  put(out, ",\"finish_reason\":\"%s\"}],", finish_of(j, called));
  put_usage(out, r, j);
  put(out, "}\n");
}

/* What every chunk begins with. */
static void begin_chunk(const reply *r, cli_text *out) {
  put(out, "data: {");
  put_id(out, r);
  put(out, ",\"object\":\"chat.completion.chunk\",\"created\":%lld,\"model\":", r->created);
  put_text(out, r->model);
}

/* A chunk with what stands in `delta`. */
static void chunk(reply *r, const job *j, const cli_text *delta, const char *finish,
                  cli_text *out) {
  begin_chunk(r, out);
  put(out, ",\"choices\":[{\"index\":0,\"delta\":{");
  put_raw(out, delta);
  put(out, "},");
  if (r->logprobs && finish) {
    put(out, "\"logprobs\":");
    put_scores(out, r, j);
    put(out, ",");
  }
  if (finish)
    put(out, "\"finish_reason\":\"%s\"}]}\n\n", finish);
  else
    put(out, "\"finish_reason\":null}]}\n\n");
}

static void part_chunk(reply *r, const job *j, const tsl_part *part, cli_text *out) {
  cli_text delta = {0};
  switch (part->kind) {
  case TSL_PART_CALL:
    put(&delta,
        "\"tool_calls\":[{\"index\":%u,\"id\":\"call_%llu_%u\",\"type\":\"function\","
        "\"function\":{\"name\":",
        part->call, (unsigned long long)r->number, part->call);
    put_string(&delta, part->text, part->length);
    put(&delta, ",\"arguments\":\"\"}}]");
    r->calls = part->call + 1;
    break;
  case TSL_PART_ARGUMENTS:
    put(&delta, "\"tool_calls\":[{\"index\":%u,\"function\":{\"arguments\":", part->call);
    put_string(&delta, part->text, part->length);
    put(&delta, "}}]");
    break;
  case TSL_PART_TEXT:
    put(&delta, "\"content\":");
    put_string(&delta, part->text, part->length);
    break;
  default: break;
  }
  if (delta.length) chunk(r, j, &delta, NULL, out);
  cli_text_free(&delta);
}

static void end_chat(reply *r, const job *j, cli_text *out) {
  const cli_text nothing = {0};
  chunk(r, j, &nothing, finish_of(j, r->calls > 0), out);
  if (r->usage) {
    begin_chunk(r, out);
    put(out, ",\"choices\":[],");
    put_usage(out, r, j);
    put(out, "}\n\n");
  }
  put(out, "data: [DONE]\n\n");
}

/* ---- responses ------------------------------------------------------------------------------- */

static void put_message(cli_text *out, const reply *r, json_in content, bool over) {
  put(out,
      "{\"type\":\"message\",\"id\":\"msg_%llu\",\"role\":\"assistant\",\"status\":\"%s\","
      "\"content\":[",
      (unsigned long long)r->number, over ? "completed" : "in_progress");
  if (over) {
    put(out, "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":");
    put_content(out, r, content);
    put(out, "}");
  }
  put(out, "]}");
}

static void put_call(cli_text *out, const reply *r, json_in call, uint32_t i) {
  put(out,
      "{\"type\":\"function_call\",\"id\":\"fc_%llu_%u\",\"call_id\":\"call_%llu_%u\",\"status\":"
      "\"%s\",\"name\":",
      (unsigned long long)r->number, i, (unsigned long long)r->number, i,
      json_in_member(call, "incomplete").at ? "incomplete" : "completed");
  put_name(out, call);
  put(out, ",\"arguments\":");
  put_arguments(out, call);
  put(out, "}");
}

/* The object of a response; without a job: one that has begun. */
static void put_response(reply *r, const job *j, cli_text *out) {
  json_in content = {0}, calls = calls_of(r, &content);
  bool called = has_items(calls), cut = j && !strcmp(finish_of(j, false), "length");
  uint32_t i = 0;
  put(out, "{");
  put_id(out, r);
  put(out, ",\"object\":\"response\",\"created_at\":%lld,\"status\":\"%s\",\"error\":null,",
      r->created,
      !j    ? "in_progress"
      : cut ? "incomplete"
            : "completed");
  put(out,
      "\"incomplete_details\":%s,\"instructions\":null,\"metadata\":{},\"tools\":[],"
      "\"tool_choice\":\"auto\",\"parallel_tool_calls\":true,\"temperature\":null,"
      "\"top_p\":null,\"model\":",
      cut ? "{\"reason\":\"max_output_tokens\"}" : "null");
  put_text(out, r->model);
  put(out, ",\"output\":[");
  bool message = j && (!called || r->message || content.length > 2);
  const char *comma = "";
  for (json_in call = {0}; j && json_in_next(calls, &call); i++, comma = ",") {
    put(out, "%s", comma);
    if (message && i == r->message_at) put_message(out, r, content, true), put(out, ",");
    put_call(out, r, call, i);
  }
  if (message && i <= r->message_at) put(out, "%s", comma), put_message(out, r, content, true);
  put(out, "]");
  if (j) {
    put(out, ",");
    put_usage(out, r, j);
  }
  put(out, "}");
}

/* The begin of an event, up to its own members. */
static void event(reply *r, const char *type, cli_text *out) {
  put(out, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%llu,", type, type,
      (unsigned long long)r->events++);
}

static void message_event(reply *r, const char *type, cli_text *out) {
  event(r, type, out);
  put(out, "\"item_id\":\"msg_%llu\",\"output_index\":%u,\"content_index\":0,",
      (unsigned long long)r->number, r->message_at);
}

static void begin_message(reply *r, cli_text *out) {
  if (r->message) return;
  r->message = true;
  r->message_at = r->calls;
  event(r, "response.output_item.added", out);
  put(out, "\"output_index\":%u,\"item\":", r->message_at);
  put_message(out, r, (json_in){0}, false);
  put(out, "}\n\n");
  message_event(r, "response.content_part.added", out);
  put(out,
      "\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"}}\n\n");
}

static void text_event(reply *r, const char *text, size_t length, cli_text *out) {
  begin_message(r, out);
  cli_text_add(&r->content, text, length);
  message_event(r, "response.output_text.delta", out);
  put(out, "\"logprobs\":[],\"delta\":");
  put_string(out, text, length);
  put(out, "}\n\n");
}

static void end_message(reply *r, cli_text *out) {
  json_in content = {0};
  calls_of(r, &content);
  const char *text = r->content.at ? r->content.at : "";
  message_event(r, "response.output_text.done", out);
  put(out, "\"logprobs\":[],\"text\":");
  put_string(out, text, r->content.length);
  put(out, "}\n\n");
  message_event(r, "response.content_part.done", out);
  put(out, "\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":");
  put_string(out, text, r->content.length);
  put(out, "}}\n\n");
  event(r, "response.output_item.done", out);
  put(out, "\"output_index\":%u,\"item\":", r->message_at);
  put_message(out, r, content, true);
  put(out, "}\n\n");
}

/* The call that is written now: its item, with the arguments so far. */
static void put_current(cli_text *out, const reply *r, const char *status) {
  uint32_t i = r->calls - 1;
  put(out,
      "\"output_index\":%u,\"item\":{\"type\":\"function_call\",\"id\":\"fc_%llu_%u\","
      "\"call_id\":\"call_%llu_%u\",\"status\":\"%s\",\"name\":",
      i + (r->message && r->message_at <= i), (unsigned long long)r->number, i,
      (unsigned long long)r->number, i, status);
  put_text(out, r->name.at ? r->name.at : "");
  put(out, ",\"arguments\":");
  put_text(out, r->arguments.at ? r->arguments.at : "");
  put(out, "}}\n\n");
}

static void arguments_event(reply *r, const char *type, cli_text *out) {
  uint32_t i = r->calls - 1;
  event(r, type, out);
  put(out, "\"item_id\":\"fc_%llu_%u\",\"output_index\":%u,", (unsigned long long)r->number, i,
      i + (r->message && r->message_at <= i));
}

static void end_call(reply *r, const char *status, cli_text *out) {
  if (!r->calling) return;
  r->calling = false;
  arguments_event(r, "response.function_call_arguments.done", out);
  put(out, "\"name\":");
  put_text(out, r->name.at ? r->name.at : "");
  put(out, ",\"arguments\":");
  put_text(out, r->arguments.at ? r->arguments.at : "");
  put(out, "}\n\n");
  event(r, "response.output_item.done", out);
  put_current(out, r, status);
}

static void begin_call(reply *r, const tsl_part *part, cli_text *out) {
  end_call(r, "completed", out);
  r->calling = true;
  r->calls = part->call + 1;
  r->name.length = r->arguments.length = 0;
  cli_text_add(&r->name, part->text, part->length);
  cli_text_add(&r->arguments, "", 0);
  event(r, "response.output_item.added", out);
  put_current(out, r, "in_progress");
}

static void arguments_delta(reply *r, const tsl_part *part, cli_text *out) {
  cli_text_add(&r->arguments, part->text, part->length);
  arguments_event(r, "response.function_call_arguments.delta", out);
  put(out, "\"delta\":");
  put_string(out, part->text, part->length);
  put(out, "}\n\n");
}

static void end_response(reply *r, const job *j, cli_text *out) {
  if (!r->calls) begin_message(r, out);
  end_call(r, strcmp(finish_of(j, true), "length") ? "completed" : "incomplete", out);
  if (r->message) end_message(r, out);
  event(r, strcmp(finish_of(j, false), "length") ? "response.completed" : "response.incomplete",
        out);
  put(out, "\"response\":");
  put_response(r, j, out);
  put(out, "}\n\n");
}

/* ---- both ------------------------------------------------------------------------------------ */

void reply_whole(reply *r, const job *j, cli_text *out) {
  parse(r, r->raw.length);
  if (r->parser) tsl_parser_finish(r->parser);
  if (r->form == REQUEST_CHAT) {
    whole_chat(r, j, out);
  } else {
    put_response(r, j, out);
    put(out, "\n");
  }
}

static void begin(reply *r, const job *j, cli_text *out) {
  cli_text delta = {0};
  r->began = true;
  if (r->form == REQUEST_CHAT) {
    put(&delta, "\"role\":\"assistant\",\"content\":\"\"");
    chunk(r, j, &delta, NULL, out);
    cli_text_free(&delta);
    return;
  }
  event(r, "response.created", out);
  put(out, "\"response\":");
  put_response(r, NULL, out);
  put(out, "}\n\n");
}

static void part_events(reply *r, const job *j, const tsl_part *part, cli_text *out) {
  if (r->form == REQUEST_CHAT)
    part_chunk(r, j, part, out);
  else if (part->kind == TSL_PART_TEXT)
    text_event(r, part->text, part->length, out);
  else if (part->kind == TSL_PART_CALL)
    begin_call(r, part, out);
  else if (part->kind == TSL_PART_ARGUMENTS && r->calling)
    arguments_delta(r, part, out);
}

bool reply_events(reply *r, const job *j, bool over, cli_text *out) {
  tsl_part part = {.kind = TSL_PART_TEXT};
  if (!r->began) begin(r, j, out);
  size_t from = r->read, until = over ? r->raw.length : whole_until(r);
  if (until > from && !parse(r, until)) return false;
  if (over && r->parser) tsl_parser_finish(r->parser);
  if (r->parser) {
    while (tsl_parser_next(r->parser, &part))
      if (part.length || part.kind == TSL_PART_CALL) part_events(r, j, &part, out);
  } else if (until > from) {
    part.text = r->raw.at + from;
    part.length = until - from;
    part_events(r, j, &part, out);
  }
  if (over && r->form == REQUEST_CHAT) end_chat(r, j, out);
  if (over && r->form == REQUEST_RESPONSES) end_response(r, j, out);
  return true;
}
