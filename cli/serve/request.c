/* request.c - reading the body of a request to turnstile serve.
 *
 * Problem   A client that asks for something must get it, or hear that it does not. A server that
 *           ignores `stop` or a misspelled `max_token` gives wrong answers that look right.
 * Idea      One table has every member of the two forms, and what is done with it. A member that
 *           the table lacks is refused by name. So is one that asks for more than the server can
 *           do, unless it asks for nothing (null, false, 0, an empty list).
 * Example   {"messages": [], "max_token": 5}: /max_token: no member of a request.
 * Texts     Tools and formats are copied into a text of their own. That text is compiled, and equal
 *           texts share a grammar, whatever the messages are.
 * Cost      One check of the text, and a look-up in the table for each member.
 * Tested by tests/cli/test_cli_serve.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/serve/request.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

enum { CHAT = 1, RESPONSES = 2, BOTH = 3 };
typedef enum action { IGNORED, REFUSED, NUMBER, FLAG, CONSTRAINT, OTHER } action;

/* low, high: of a number */
static const struct member {
  const char *name;
  uint8_t forms;
  action action;
  size_t at; /* of the field in the request */
  double low, high;
  bool whole;
} members[] = {
    {"model", BOTH, IGNORED, 0, 0, 0, false},
    {"messages", CHAT, OTHER, 0, 0, 0, false},
    {"input", RESPONSES, OTHER, 0, 0, 0, false},
    {"instructions", RESPONSES, REFUSED, 0, 0, 0, false},
    {"tools", BOTH, CONSTRAINT, 0, 0, 0, false},
    {"tool_choice", BOTH, CONSTRAINT, 0, 0, 0, false},
    {"parallel_tool_calls", BOTH, CONSTRAINT, 0, 0, 0, false},
    {"functions", CHAT, CONSTRAINT, 0, 0, 0, false},
    {"function_call", CHAT, CONSTRAINT, 0, 0, 0, false},
    {"response_format", CHAT, CONSTRAINT, 0, 0, 0, false},
    {"text", RESPONSES, CONSTRAINT, 0, 0, 0, false},
    {"temperature", BOTH, NUMBER, offsetof(request, temperature), 0, 2, false},
    {"top_p", BOTH, NUMBER, offsetof(request, top_p), 0, 1, false},
    {"seed", BOTH, NUMBER, offsetof(request, seed), -9007199254740991.0, 9007199254740991.0, true},
    {"max_tokens", CHAT, NUMBER, offsetof(request, max_tokens), 1, 1e9, true},
    {"max_completion_tokens", CHAT, NUMBER, offsetof(request, max_tokens), 1, 1e9, true},
    {"max_output_tokens", RESPONSES, NUMBER, offsetof(request, max_tokens), 1, 1e9, true},
    {"top_logprobs", CHAT, NUMBER, offsetof(request, top_logprobs), 0, 3, true},
    {"logprobs", CHAT, FLAG, offsetof(request, logprobs), 0, 0, false},
    {"stream", BOTH, FLAG, offsetof(request, stream), 0, 0, false},
    {"stream_options", BOTH, OTHER, 0, 0, 0, false},
    {"n", CHAT, OTHER, 0, 0, 0, false},
    {"stop", CHAT, REFUSED, 0, 0, 0, false},
    {"presence_penalty", CHAT, REFUSED, 0, 0, 0, false},
    {"frequency_penalty", CHAT, REFUSED, 0, 0, 0, false},
    {"logit_bias", CHAT, REFUSED, 0, 0, 0, false},
    {"modalities", CHAT, IGNORED, 0, 0, 0, false},
    {"audio", CHAT, REFUSED, 0, 0, 0, false},
    {"prediction", CHAT, IGNORED, 0, 0, 0, false},
    {"previous_response_id", RESPONSES, REFUSED, 0, 0, 0, false},
    {"conversation", RESPONSES, REFUSED, 0, 0, 0, false},
    {"background", RESPONSES, REFUSED, 0, 0, 0, false},
    {"include", RESPONSES, REFUSED, 0, 0, 0, false},
    {"truncation", RESPONSES, IGNORED, 0, 0, 0, false},
    {"reasoning", RESPONSES, IGNORED, 0, 0, 0, false},
    {"reasoning_effort", CHAT, IGNORED, 0, 0, 0, false},
    {"verbosity", CHAT, IGNORED, 0, 0, 0, false},
    {"store", BOTH, IGNORED, 0, 0, 0, false},
    {"metadata", BOTH, IGNORED, 0, 0, 0, false},
    {"user", BOTH, IGNORED, 0, 0, 0, false},
    {"service_tier", BOTH, IGNORED, 0, 0, 0, false},
    {"safety_identifier", BOTH, IGNORED, 0, 0, 0, false},
    {"prompt_cache_key", BOTH, IGNORED, 0, 0, 0, false},
};

static bool refuse(request *r, const char *name, const char *format, ...) CLI_PRINTF(3, 4);
static bool refuse(request *r, const char *name, const char *format, ...) {
  va_list args;
  snprintf(r->pointer, sizeof r->pointer, "%s%s", *name ? "/" : "", name);
  va_start(args, format);
  vsnprintf(r->why, sizeof r->why, format, args);
  va_end(args);
  return false;
}

/* null, false, 0, [], {} and "" ask for nothing. */
static bool is_nothing(json_in value) {
  double number;
  json_in item = {0};
  switch (json_in_kind(value)) {
  case 'n':
  case 'f': return true;
  case '0': return json_in_number(value, &number) && number == 0;
  case '"': return value.length == 2;
  default:
    return (json_in_kind(value) == '[' || json_in_kind(value) == '{') &&
           !json_in_next(value, &item);
  }
}

static bool read_number(request *r, const struct member *m, json_in value) {
  double number;
  if (json_in_kind(value) == 'n') return true;
  if (!json_in_number(value, &number)) return refuse(r, m->name, "must be a number");
  if (!(number >= m->low && number <= m->high) || (m->whole && number != (double)(int64_t)number))
    return refuse(r, m->name, "must be %s from %.17g to %.17g",
                  m->whole ? "a whole number" : "a number", m->low, m->high);
  memcpy((char *)r + m->at, &number, sizeof number);
  return true;
}

static bool read_flag(request *r, const struct member *m, json_in value) {
  char kind = json_in_kind(value);
  if (kind != 't' && kind != 'f' && kind != 'n') return refuse(r, m->name, "must be true or false");
  *(bool *)((char *)r + m->at) = kind == 't';
  return true;
}

static bool read_other(request *r, const struct member *m, json_in value) {
  double number;
  char kind = json_in_kind(value);
  if (!strcmp(m->name, "n"))
    return kind == 'n' || (json_in_number(value, &number) && number == 1) ||
           refuse(r, m->name, "must be 1: this server writes one answer");
  if (!strcmp(m->name, "stream_options")) {
    if (kind != '{' && kind != 'n') return refuse(r, m->name, "must be an object");
    r->usage = json_in_kind(json_in_member(value, "include_usage")) == 't';
    return true;
  }
  r->messages = value;
  if (kind == '[' || (kind == '"' && !strcmp(m->name, "input"))) return true;
  return refuse(r, m->name, "must be a list of messages");
}

/* A member that says what an answer may be goes into the text that is compiled. */
static bool read_constraint(request *r, const struct member *m, json_in value) {
  if (json_in_kind(value) == 'n') return true;
  if (!strcmp(m->name, "tools") || !strcmp(m->name, "functions")) r->tools = value;
  cli_text_add(&r->constraint, r->constraint.length ? ",\"" : "{\"", 2);
  cli_text_add(&r->constraint, m->name, strlen(m->name));
  cli_text_add(&r->constraint, "\":", 2);
  cli_text_add(&r->constraint, value.at, value.length);
  return true;
}

static bool read_member(request *r, uint8_t form, const char *name, json_in value) {
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    const struct member *m = &members[i];
    if (!(m->forms & form) || strcmp(m->name, name) != 0) continue;
    switch (m->action) {
    case IGNORED: return true;
    case REFUSED: return is_nothing(value) || refuse(r, name, "this server does not support it");
    case NUMBER: return read_number(r, m, value);
    case FLAG: return read_flag(r, m, value);
    case CONSTRAINT: return read_constraint(r, m, value);
    case OTHER: return read_other(r, m, value);
    }
  }
  return refuse(r, name, "\"%s\" is no member of a request that this server knows", name);
}

/* The name of a member: what stands between two values. */
static void name_before(const char *from, json_in value, cli_text *out) {
  const char *end = value.at;
  while (end > from && end[-1] != '"') end--;
  while (from < end && *from != '"') from++;
  json_in_string((json_in){from, (size_t)(end - from)}, out);
}

static bool not_json(request *r, const char *body, size_t offset, const char *why) {
  unsigned line = 1, column = 1;
  for (size_t i = 0; i < offset; i++) {
    column++;
    if (body[i] == '\n') line++, column = 1;
  }
  return refuse(r, "", "not JSON: %s at line %u, column %u (byte %zu)", why, line, column, offset);
}

bool request_read(request_form form, const char *body, size_t length, request *out) {
  json_in all, value = {0};
  size_t offset = 0;
  const char *why = NULL;
  *out = (request){.temperature = 1, .top_p = 1, .seed = NAN};
  if (!json_in_check(body ? body : "", length, &all, &offset, &why))
    return not_json(out, body, offset, why);
  if (json_in_kind(all) != '{') return refuse(out, "", "a request must be a JSON object");
  const char *from = all.at + 1;
  bool ok = true;
  while (ok && json_in_next(all, &value)) {
    cli_text name = {0};
    name_before(from, value, &name);
    from = value.at + value.length;
    char shown[100];
    snprintf(shown, sizeof shown, "%.90s", name.at ? name.at : "");
    /* cut at its NUL a name would be another one */
    ok = (!name.at || strlen(name.at) == name.length) &&
         read_member(out, form == REQUEST_CHAT ? CHAT : RESPONSES, shown, value);
    if (!ok && !*out->why) refuse(out, shown, "the name of this member has a NUL");
    cli_text_free(&name);
  }
  if (!ok) return false;
  if (!out->messages.at)
    return refuse(out, form == REQUEST_CHAT ? "messages" : "input", "is needed");
  if (out->top_logprobs > 0 && !out->logprobs)
    return refuse(out, "top_logprobs", "goes with logprobs: true");
  if (out->constraint.length) cli_text_add(&out->constraint, "}", 1);
  return true;
}

void request_free(request *r) { cli_text_free(&r->constraint); }
