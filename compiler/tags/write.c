/* write.c - a tree of formats as structural-tag JSON. See tags.h.
 *
 * Problem   A tree was built in C, or out of a preset and a request. Engines that read structural
 *           tags, and people who want to see it, need it as JSON.
 * Idea      The counterpart of read.c: one function for each kind of node, in the same members.
 *           What is written is read back as an equal tree.
 * Example   The tree SEQUENCE(CONST "<a>", REPEAT(REGEX "[0-9]", 0, 1)) is
 *             {"type": "sequence", "elements": [{"type": "const_string", "value": "<a>"},
 *              {"type": "optional", "content": {"type": "regex", "pattern": "[0-9]"}}]}
 *           A REPEAT of 0 to 1 is "optional"; any other is "repeat" with its bounds, also one that
 *           was read as "star" or "plus".
 * Marks     What other engines do not know ("as", "name") is written too, where a part means
 *           something to a reader. An engine that refuses it can be given the text without.
 * Shared    A format that stands in several places is written in each. So a small tree may be a
 *           long text: writing stops once the limit of the text's length is passed.
 * Failing   A sink that has no memory writes no more, and the end says NO_MEMORY.
 * Cost      Linear in the text that comes out.
 * Tested by tests/tags/test_tags_built.c, tests/programs/test_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/json/out.h"
#include "compiler/tags/tags.h"

typedef struct writer {
  tsl__tags *tags;
  tsl__out out;
  const tsl__json *at; /* of the schema that is being written; NULL: built in C */
  bool full;
} writer;

static bool over(const writer *w) { return w->out.failed || w->full; }

static void put(writer *w, const char *text, size_t n) {
  w->full = w->full || w->out.text.n + n > TSL__TAGS_WRITTEN;
  if (!w->full) tsl__out_put(&w->out, text, n);
}

static void word(writer *w, const char *text) { put(w, text, strlen(text)); }

static void string(writer *w, const char *text, size_t n) {
  const size_t from = w->out.text.n;
  if (!over(w)) tsl__out_quoted(&w->out, text, n);
  if (w->out.text.n > TSL__TAGS_WRITTEN) w->full = true, w->out.text.n = from;
}

/* Depth: the tree's. */
static void json(writer *w, const tsl__json *j) {
  static const char *const words[] = {"null", "false", "true"};
  bool object = j->kind == TSL__JSON_OBJECT;
  if (j->kind == TSL__JSON_GRAMMAR)
    tsl__tags_fail(w->tags, TSL_ERR_UNSUPPORTED, w->at,
                   "the grammar of a custom tool has no form in a structural tag: compile the "
                   "request itself"),
        w->out.failed = true;
  else if (j->kind <= TSL__JSON_TRUE)
    word(w, words[j->kind]);
  else if (j->kind == TSL__JSON_NUMBER)
    put(w, j->text, j->length);
  else if (j->kind == TSL__JSON_STRING)
    string(w, j->text, j->length);
  else {
    word(w, object ? "{" : "[");
    for (uint32_t i = 0; i < j->length; i++) {
      if (i) word(w, ", ");
      if (object) string(w, j->items[i].key, j->items[i].key_length), word(w, ": ");
      json(w, &j->items[i]);
    }
    word(w, object ? "}" : "]");
  }
}

static void member(writer *w, const char *key) {
  word(w, ", ");
  string(w, key, strlen(key));
  word(w, ": ");
}

static void text_member(writer *w, const char *key, tsl__string s) {
  member(w, key);
  string(w, s.at, s.length);
}

static void flag(writer *w, const char *key, bool value) {
  member(w, key);
  word(w, value ? "true" : "false");
}

static void number(writer *w, const char *key, uint32_t value) {
  char text[16];
  snprintf(text, sizeof text, value == TSL__INF ? "-1" : "%u", value);
  member(w, key);
  word(w, text);
}

static void strings(writer *w, const char *key, const tsl__string *s, uint32_t n) {
  if (!n) return;
  member(w, key);
  for (uint32_t i = 0; i < n; i++) {
    word(w, i ? ", " : "[");
    string(w, s[i].at, s[i].length);
  }
  word(w, "]");
}

static void tokens(writer *w, const char *key, const tsl_token *t, uint32_t n) {
  char text[16];
  member(w, key);
  word(w, "[");
  for (uint32_t i = 0; i < n; i++) {
    snprintf(text, sizeof text, i ? ", %u" : "%u", t[i]);
    word(w, text);
  }
  word(w, "]");
}

static void delimiter(writer *w, const tsl__delimiter *d) {
  char text[48];
  if (!d->is_token) {
    string(w, d->text.at, d->text.length);
    return;
  }
  snprintf(text, sizeof text, "{\"type\": \"token\", \"token\": %u}", d->token);
  word(w, text);
}

static void format(writer *w, const tsl__tag *n);

static void formats(writer *w, const char *key, tsl__tag *const *items, uint32_t n) {
  member(w, key);
  for (uint32_t i = 0; i < n; i++) {
    word(w, i ? ", " : "[");
    format(w, items[i]);
  }
  word(w, "]");
}

static void child(writer *w, const tsl__tag *n) {
  member(w, "content");
  format(w, n->items[0]);
}

static void type(writer *w, const char *name) {
  word(w, "{\"type\": ");
  string(w, name, strlen(name));
}

static void write_schema(writer *w, const tsl__tag *n) {
  type(w, "json_schema");
  member(w, "json_schema");
  w->at = n->at;
  json(w, n->schema);
  if (n->style) text_member(w, "style", (tsl__string){n->style, (uint32_t)strlen(n->style)});
  if (n->any_order) flag(w, "any_order", true);
  if (n->max_whitespace != TSL__INF) number(w, "max_whitespace_cnt", n->max_whitespace);
}

static void write_repeat(writer *w, const tsl__tag *n) {
  if (n->min == 0 && n->max == 1)
    type(w, "optional");
  else
    type(w, "repeat"), number(w, "min", n->min), number(w, "max", n->max);
  child(w, n);
}

static void write_tag(writer *w, const tsl__tag *n) {
  type(w, "tag");
  member(w, "begin");
  delimiter(w, &n->begin);
  child(w, n);
  member(w, "end");
  if (n->end_count == 1) delimiter(w, n->ends);
  for (uint32_t i = 0; n->end_count > 1 && i < n->end_count; i++) {
    word(w, i ? ", " : "[");
    delimiter(w, &n->ends[i]);
  }
  if (n->end_count > 1) word(w, "]");
}

static void write_triggered(writer *w, const tsl__tag *n) {
  type(w, n->by_token ? "token_triggered_tags" : "triggered_tags");
  if (n->by_token)
    tokens(w, "trigger_tokens", n->tokens, n->token_count);
  else
    strings(w, "triggers", n->triggers, n->trigger_count);
  formats(w, "tags", n->items, n->item_count);
  if (n->by_token)
    tokens(w, "exclude_tokens", n->items[n->item_count]->tokens,
           n->items[n->item_count]->token_count);
  else
    strings(w, "excludes", n->excludes, n->exclude_count);
  flag(w, "at_least_one", n->at_least_one);
  flag(w, "stop_after_first", n->once);
}

static void write_dispatch(writer *w, const tsl__tag *n) {
  char token[16];
  type(w, n->by_token ? "token_dispatch" : "dispatch");
  member(w, "rules");
  for (uint32_t i = 0; i < n->item_count; i++) {
    word(w, i ? ", [" : "[[");
    if (n->by_token)
      snprintf(token, sizeof token, "%u", n->tokens[i]), word(w, token);
    else
      string(w, n->triggers[i].at, n->triggers[i].length);
    word(w, ", ");
    format(w, n->items[i]);
    word(w, "]");
  }
  word(w, "]");
  flag(w, "loop", !n->once);
  if (n->by_token)
    tokens(w, "exclude_tokens", n->items[n->item_count]->tokens,
           n->items[n->item_count]->token_count);
  else
    strings(w, "excludes", n->excludes, n->exclude_count);
}

/* One of the tokens; its last brace is left out. */
static void write_token(writer *w, const tsl__tag *n) {
  if (n->complement)
    type(w, "exclude_token"), tokens(w, "exclude_tokens", n->tokens, n->token_count);
  else if (n->token_count == 1)
    type(w, "token"), number(w, "token", n->tokens[0]);
  if (n->complement || n->token_count == 1) return;
  type(w, "or");
  member(w, "elements");
  for (uint32_t i = 0; i < n->token_count; i++) {
    word(w, i ? ", " : "[");
    type(w, "token"), number(w, "token", n->tokens[i]);
    word(w, "}");
  }
  word(w, "]");
}

static void write_tokens(writer *w, const tsl__tag *n) {
  if (n->min == 1 && n->max == 1) {
    write_token(w, n);
  } else if (n->complement && !n->min) {
    type(w, "any_tokens"), tokens(w, "exclude_tokens", n->tokens, n->token_count);
    if (n->max != TSL__INF) number(w, "max_tokens", n->max);
  } else {
    type(w, "repeat"), number(w, "min", n->min), number(w, "max", n->max), member(w, "content");
    write_token(w, n);
    word(w, "}");
  }
}

static void write_any(writer *w, const tsl__tag *n) {
  type(w, "any_text");
  strings(w, "excludes", n->excludes, n->exclude_count);
  if (n->max_chars != TSL__INF) number(w, "max_chars", n->max_chars);
  if (n->max_tokens != TSL__INF) number(w, "max_tokens", n->max_tokens);
}

/* Depth: TSL__TAGS_DEPTH. Nothing more is looked at once the text is too long: a tree that shares
 * formats has many more places than formats. */
static void format(writer *w, const tsl__tag *n) {
  static const char *const as[] = {
      [TSL__CAPTURE_TEXT] = "text", [TSL__CAPTURE_REASONING] = "reasoning",
      [TSL__CAPTURE_CALL] = "call", [TSL__CAPTURE_MARKUP] = "markup",
      [TSL__CAPTURE_ID] = "id",     [TSL__CAPTURE_ARGUMENTS] = "arguments"};
  if (over(w)) return;
  switch (n->kind) {
  case TSL__TAG_CONST: type(w, "const_string"), text_member(w, "value", n->text); break;
  case TSL__TAG_SCHEMA: write_schema(w, n); break;
  case TSL__TAG_REGEX: type(w, "regex"), text_member(w, "pattern", n->text); break;
  case TSL__TAG_GBNF:
    type(w, "grammar"), text_member(w, "grammar", n->text);
    if (n->begin.text.length) text_member(w, "after", n->begin.text);
    break;
  case TSL__TAG_ANY: write_any(w, n); break;
  case TSL__TAG_SEQUENCE:
    type(w, "sequence"), formats(w, "elements", n->items, n->item_count);
    break;
  case TSL__TAG_OR: type(w, "or"), formats(w, "elements", n->items, n->item_count); break;
  case TSL__TAG_REPEAT: write_repeat(w, n); break;
  case TSL__TAG_TAG: write_tag(w, n); break;
  case TSL__TAG_TRIGGERED: write_triggered(w, n); break;
  case TSL__TAG_SEPARATED:
    type(w, "tags_with_separator"), formats(w, "tags", n->items, n->item_count),
        text_member(w, "separator", n->text);
    flag(w, "at_least_one", n->at_least_one), flag(w, "stop_after_first", n->once);
    break;
  case TSL__TAG_DISPATCH: write_dispatch(w, n); break;
  case TSL__TAG_TOKENS: write_tokens(w, n); break;
  }
  if (n->capture && n->capture != TSL__CAPTURE_TAG)
    text_member(w, "as", (tsl__string){as[n->capture], (uint32_t)strlen(as[n->capture])});
  if (n->capture && n->capture != TSL__CAPTURE_TAG && n->name)
    text_member(w, "name", (tsl__string){n->name, n->name_length});
  word(w, "}");
}

static void write_gaps(writer *w, const tsl__gaps *g) {
  const struct {
    const char *name;
    const tsl__texts *texts;
  } lists[] = {{"thinking", &g->thinking},
               {"before", &g->before},
               {"between", &g->between},
               {"after", &g->after}};
  bool first = true;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    if (!lists[i].texts->n) continue;
    word(w, first ? ", \"gaps\": {\"" : ", \"");
    word(w, lists[i].name);
    word(w, "\": [");
    for (uint32_t k = 0; k < lists[i].texts->n; k++) {
      if (k) word(w, ", ");
      string(w, lists[i].texts->at[k].at, lists[i].texts->at[k].length);
    }
    word(w, "]");
    first = false;
  }
  if (!first) word(w, "}");
}

char *tsl__tags_write(tsl__tags *t, const tsl__tag *root) {
  writer w = {.tags = t, .out.alloc = t->arena.alloc};
  word(&w, "{\"type\": \"structural_tag\", \"format\": ");
  format(&w, root);
  write_gaps(&w, &t->gaps);
  put(&w, "}", 2);
  char *text = over(&w) ? NULL : tsl__arena_copy(&t->arena, w.out.text.at, w.out.text.n);
  tsl__vec_free(w.out.alloc, &w.out.text);
  if (w.full)
    return tsl__tags_fail(t, TSL_ERR_LIMIT, NULL,
                          "the text of the formats is longer than %zu bytes", TSL__TAGS_WRITTEN);
  return text ? text : tsl__tags_fail(t, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}
