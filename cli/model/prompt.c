/* prompt.c - messages as the tokens of a prompt. See prompt.h.
 *
 * Problem: a chat template is applied to texts. A user's text may hold "<|im_end|>". If the whole
 * prompt were encoded as one text, that would be a special token, and the user could speak as the
 * system.
 *
 * Idea: after the template was applied, each message's content is looked for in the prompt, in
 * order. The text in between is the template's: names of special tokens in it are special tokens.
 * A content is encoded as plain text.
 *
 * Example: "<|im_start|>user\nHi<|im_end|>\n" is encoded in three pieces: "<|im_start|>user\n" with
 * special tokens, "Hi" without, "<|im_end|>\n" with.
 *
 * Cost: linear in the prompt.
 *
 * Tested by tests/models/test_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/model/prompt.h"

#include <stdlib.h>
#include <string.h>

static char *copy(const char *text) {
  size_t n = strlen(text) + 1;
  return memcpy(cli_allocate(n, 1), text, n);
}

void prompt_add(prompt *p, const char *role, const char *content) {
  if (p->count == p->capacity) {
    size_t capacity = p->capacity * 2 + 8;
    llama_turn *turns = cli_allocate(capacity, sizeof *turns);
    if (p->count) memcpy(turns, p->turns, p->count * sizeof *turns);
    free(p->turns);
    p->turns = turns;
    p->capacity = capacity;
  }
  p->turns[p->count++] = (llama_turn){copy(role), copy(content)};
}

void prompt_free(prompt *p) {
  for (size_t i = 0; i < p->count; i++) {
    free((char *)p->turns[i].role);
    free((char *)p->turns[i].content);
  }
  free(p->turns);
  free(p->tokens);
  *p = (prompt){0};
}

/* ---- reading messages ------------------------------------------------------------------------ */

static bool fail(prompt *p, size_t index, const char *member, const char *why) {
  snprintf(p->pointer, sizeof p->pointer, "/%zu%s", index, member);
  snprintf(p->why, sizeof p->why, "%s", why);
  return false;
}

/* Content: a string, null, or parts that have a text. */
static bool read_content(json_in content, cli_text *out) {
  json_in part = {0};
  char kind = json_in_kind(content);
  cli_text_add(out, "", 0);
  if (kind == 0 || kind == 'n') return true;
  if (kind == '"') return json_in_string(content, out);
  if (kind != '[') return false;
  while (json_in_next(content, &part))
    if (json_in_kind(part) == '"' ? !json_in_string(part, out)
                                  : !json_in_string(json_in_member(part, "text"), out))
      return false;
  return true;
}

/* A call that an assistant's message made, as Hermes writes it. */
static bool add_call(json_in function, cli_text *out) {
  json_in name = json_in_member(function, "name"),
          arguments = json_in_member(function, "arguments");
  if (json_in_kind(name) != '"') return false;
  cli_text plain = {0};
  cli_text_add(out, out->length ? "\n" : "", out->length ? 1 : 0);
  cli_text_add(out, "<tool_call>\n{\"name\": ", 21);
  cli_text_add(out, name.at, name.length);
  cli_text_add(out, ", \"arguments\": ", 15);
  if (json_in_string(arguments, &plain)) /* JSON in a string */
    cli_text_add(out, plain.at, plain.length);
  else
    cli_text_add(out, arguments.at ? arguments.at : "{}", arguments.at ? arguments.length : 2);
  cli_text_add(out, "}\n</tool_call>", 14);
  cli_text_free(&plain);
  return true;
}

static bool read_calls(json_in message, cli_text *out) {
  json_in calls = json_in_member(message, "tool_calls"), call = {0};
  while (json_in_next(calls, &call))
    if (!add_call(json_in_member(call, "function"), out)) return false;
  return true;
}

/* The role as templates know it; NULL: none that is read. */
static const char *known_role(json_in role) {
  static const char *const roles[][2] = {{"system", "system"}, {"developer", "system"},
                                         {"user", "user"},     {"assistant", "assistant"},
                                         {"tool", "tool"},     {"function", "tool"}};
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
    if (json_in_is(role, roles[i][0])) return roles[i][1];
  return NULL;
}

static void add_response(prompt *p, const cli_text *text) {
  cli_text all = {0};
  cli_text_add(&all, "<tool_response>\n", 16);
  cli_text_add(&all, text->at, text->length);
  cli_text_add(&all, "\n</tool_response>", 17);
  prompt_add(p, "user", all.at);
  cli_text_free(&all);
}

/* Items of responses that are no message: 1 read, 0 it is a message, -1 bad. */
static int read_item(prompt *p, json_in item) {
  json_in type = json_in_member(item, "type");
  cli_text text = {0};
  int done = 0;
  if (json_in_is(type, "function_call")) {
    done = add_call(item, &text) ? 1 : -1;
    if (done == 1) prompt_add(p, "assistant", text.at);
  } else if (json_in_is(type, "function_call_output")) {
    done = read_content(json_in_member(item, "output"), &text) ? 1 : -1;
    if (done == 1) add_response(p, &text);
  }
  cli_text_free(&text);
  return done;
}

static bool read_message(prompt *p, json_in message, size_t index) {
  cli_text text = {0};
  const char *role = known_role(json_in_member(message, "role"));
  if (json_in_kind(message) != '{') return fail(p, index, "", "a message is an object");
  int item = read_item(p, message);
  if (item < 0) return fail(p, index, "", "a call has a name, and an output is text");
  if (item) return true;
  if (!role) return fail(p, index, "/role", "a role is system, developer, user, assistant or tool");
  bool ok = read_content(json_in_member(message, "content"), &text);
  if (!ok) fail(p, index, "/content", "content is a string or a list of parts of text");
  if (ok && !read_calls(message, &text))
    ok = fail(p, index, "/tool_calls", "a call has a function with a name");
  if (ok && !strcmp(role, "tool"))
    add_response(p, &text);
  else if (ok)
    prompt_add(p, role, text.at);
  cli_text_free(&text);
  return ok;
}

bool prompt_read(prompt *p, json_in messages) {
  json_in message = {0};
  cli_text text = {0};
  bool ok = true;
  size_t index = 0;
  if (json_in_string(messages, &text)) { /* the input of responses */
    prompt_add(p, "user", text.at);
  } else if (json_in_kind(messages) != '[') {
    snprintf(p->why, sizeof p->why, "messages are a list");
    ok = false;
  } else {
    while (ok && json_in_next(messages, &message)) ok = read_message(p, message, index++);
    if (ok && !index) {
      snprintf(p->why, sizeof p->why, "there is no message");
      ok = false;
    }
  }
  cli_text_free(&text);
  return ok;
}

void prompt_show_tools(prompt *p, json_in tools, bool hermes) {
  static const char begin[] = "You may call these tools:\n<tools>\n", end[] = "\n</tools>\n",
                    how[] = "To call a tool, write:\n<tool_call>\n{\"name\": <name>, "
                            "\"arguments\": <object>}\n</tool_call>";
  cli_text all = {0};
  bool first_is_system = p->count && !strcmp(p->turns[0].role, "system");
  if (first_is_system) {
    cli_text_add(&all, p->turns[0].content, strlen(p->turns[0].content));
    cli_text_add(&all, "\n\n", 2);
  }
  cli_text_add(&all, begin, sizeof begin - 1);
  cli_text_add(&all, tools.at, tools.length);
  cli_text_add(&all, end, sizeof end - 1);
  if (hermes) cli_text_add(&all, how, sizeof how - 1);
  if (!first_is_system) {
    prompt_add(p, "system", "");
    llama_turn last = p->turns[p->count - 1];
    memmove(p->turns + 1, p->turns, (p->count - 1) * sizeof *p->turns);
    p->turns[0] = last;
  }
  free((char *)p->turns[0].content);
  p->turns[0].content = copy(all.at);
  cli_text_free(&all);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool add_piece(prompt *p, const llama *model, const char *text, size_t length,
                      bool special) {
  tsl_token *more;
  size_t count;
  if (!length) return true;
  if (!llama_encode(model, text, length, special, !p->token_count && special, &more, &count))
    return false;
  /* the template may write the token that texts begin with, too */
  size_t skip = !p->token_count && count > 1 && more[0] == more[1] ? 1 : 0;
  if (p->token_count + count > p->token_room) {
    p->token_room = (p->token_count + count) * 2;
    tsl_token *all = cli_allocate(p->token_room, sizeof *all);
    if (p->token_count) memcpy(all, p->tokens, p->token_count * sizeof *all);
    free(p->tokens);
    p->tokens = all;
  }
  memcpy(p->tokens + p->token_count, more + skip, (count - skip) * sizeof *more);
  p->token_count += count - skip;
  free(more);
  return true;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool prompt_encode(prompt *p, const llama *model) {
  cli_text all = {0};
  bool ok = llama_chat(model, p->turns, p->count, &all);
  if (!ok) snprintf(p->why, sizeof p->why, "the model has no chat template that llama.cpp knows");
  size_t at = 0;
  for (size_t i = 0; ok && i < p->count; i++) {
    /* many templates drop white space at both ends */
    const char *content = p->turns[i].content;
    size_t n = strlen(content);
    while (n && is_space(*content)) content++, n--;
    while (n && is_space(content[n - 1])) n--;
    if (!n) continue;
    const char *found = NULL;
    for (size_t k = at; !found && k + n <= all.length; k++)
      if (all.at[k] == *content && !memcmp(all.at + k, content, n)) found = all.at + k;
    if (!found) {
      snprintf(p->why, sizeof p->why, "the chat template leaves out or alters message %zu", i);
      ok = false;
      break;
    }
    size_t begin = (size_t)(found - all.at);
    ok = add_piece(p, model, all.at + at, begin - at, true) &&
         add_piece(p, model, content, n, false);
    at = begin + n;
  }
  if (ok) ok = add_piece(p, model, all.at + at, all.length - at, true);
  if (!ok && !*p->why) snprintf(p->why, sizeof p->why, "the messages are too long");
  cli_text_free(&all);
  return ok;
}
