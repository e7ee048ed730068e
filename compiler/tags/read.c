/* read.c - structural-tag JSON to formats. See tags.h.
 *
 * Problem   Structural tags are written by hosts, and by hand. A misspelled member must be an error
 *           with its place: an "exclude" that was ignored would let through the texts to be kept
 *           out.
 * Idea      A table of types. A row has the type's name, the kind of node, and a function that
 *           reads its members. It also has the names of all members that it may have. Members are
 *           read by small functions, one for each shape: a string, a flag, a count, a list of
 *           strings, a token, a format. Each says what is wrong and points at the JSON value.
 * Names     The field names are those that XGrammar publishes (its documentation, "Structural
 *           Tag"). Two names are our own. "as" says what a part is to a reader ("text",
 *           "reasoning", "call", "id", "arguments"). "name" stands beside "as": "call".
 * Example   {"type": "tag", "begin": "<a>", "content": {"type": "regex", "pattern": "[0-9]+"},
 *            "end": "</a>", "exclude": []}
 *           read_format finds the row "tag". `only` compares the members with those of the row:
 *           none is "exclude", so the error names it, at /format/exclude. Without that member
 *           read_tag reads begin and end as delimiters, then read_format reads the content one
 *           level deeper.
 * Tokens    A delimiter is a text, or {"type": "token", …}. A token comes by its id, by the text
 *           of a special token, or by the bytes of an ordinary one. Of ordinary tokens with the
 *           same bytes the one with the lowest id counts. Without a vocabulary a text is no token.
 * Rules     Dispatch rules are pairs [pattern, format]. Patterns go to the node's triggers, or to
 *           its tokens, and formats to its items: rule i is trigger i and item i.
 * Unread    Schemas, patterns and grammars stay as they are in the JSON tree. Their front ends
 *           read them when the node is lowered (leaves.c), and errors point into them as well.
 * Depth     Recursion follows the nesting of formats, at most TSL__TAGS_DEPTH.
 * Failing   The first failure is kept in the tree (tsl__tags_fail). Functions then return false or
 *           NULL, and their callers return, too.
 * Cost      Linear in the JSON. Nodes and lists lie in the tree's arena.
 * Tested by tests/tags/test_tags.c, tests/tags/test_tags_errors.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/tags/tags.h"
#include "runtime/vocab/vocab.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

tsl__tag *tsl__tags_node(tsl__tags *t, tsl__tag_kind kind, const tsl__json *at) {
  tsl__tag *n = tsl__tags_alloc(t, sizeof *n);
  if (!n) return NULL;
  n->kind = kind;
  n->at = at;
  n->max = n->max_chars = n->max_tokens = n->max_whitespace = TSL__INF;
  return n;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool read_string(tsl__tags *t, const tsl__json *o, const char *key, tsl__string *out) {
  const tsl__json *v = tsl__json_member(o, key);
  if (!v) return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"%s\" is missing", key);
  if (v->kind != TSL__JSON_STRING)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "\"%s\" must be a string", key);
  *out = tsl__json_text(v);
  return true;
}

static bool read_flag(tsl__tags *t, const tsl__json *o, const char *key, bool *out) {
  const tsl__json *v = tsl__json_member(o, key);
  if (!v) return true;
  if (v->kind != TSL__JSON_TRUE && v->kind != TSL__JSON_FALSE)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "\"%s\" must be true or false", key);
  *out = v->kind == TSL__JSON_TRUE;
  return true;
}

/* A count; null and, if `unbounded`, -1 mean no bound. */
static bool read_count(tsl__tags *t, const tsl__json *o, const char *key, bool needed,
                       bool unbounded, uint32_t *out) {
  const tsl__json *v = tsl__json_member(o, key);
  if (!v) return !needed || tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"%s\" is missing", key);
  if (v->kind == TSL__JSON_NULL && !needed) return true;
  if (unbounded && v->kind == TSL__JSON_NUMBER && v->length == 2 && !memcmp(v->text, "-1", 2))
    return *out = TSL__INF, true;
  if (v->kind == TSL__JSON_NUMBER && tsl__json_count(v, out) && *out <= INT32_MAX) return true;
  return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "\"%s\" must be an integer from %s to 2147483647",
                        key, unbounded ? "-1" : "0");
}

/* An array of strings that are not empty. */
static bool read_strings(tsl__tags *t, const tsl__json *o, const char *key, bool needed,
                         tsl__string **out, uint32_t *count) {
  const tsl__json *v = tsl__json_member(o, key);
  if (!v) return !needed || tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"%s\" is missing", key);
  if (v->kind != TSL__JSON_ARRAY)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "\"%s\" must be an array of strings", key);
  if (!(*out = tsl__tags_alloc(t, (v->length + 1) * sizeof **out))) return false;
  for (uint32_t i = 0; i < v->length; i++) {
    const tsl__json *s = &v->items[i];
    if (s->kind != TSL__JSON_STRING || !s->length)
      return tsl__tags_fail(t, TSL_ERR_SCHEMA, s, "\"%s\" must hold strings that are not empty",
                            key);
    (*out)[i] = tsl__json_text(s);
  }
  *count = v->length;
  return true;
}

static bool only(tsl__tags *t, const tsl__json *o, const char *const *keys) {
  for (uint32_t i = 0; i < o->length; i++) {
    const tsl__json *m = &o->items[i];
    if (!tsl__string_in(tsl__json_key(m), keys))
      return tsl__tags_fail(t, TSL_ERR_SCHEMA, m, "this format has no member \"%.*s\"",
                            tsl__shown(m->key, m->key_length, 60), m->key);
  }
  return true;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* The ordinary token of that text with the lowest id, or TSL_NO_TOKEN. */
static tsl_token find_ordinary(const tsl_vocab *v, const char *text, uint32_t n) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!(at = tsl__trie_child(&v->trie, at, (uint8_t)text[i]))) return TSL_NO_TOKEN;
  const tsl__trie_node *end = &v->trie.nodes[at];
  return n && end->own_end > end->begin ? v->trie.order[end->begin] : TSL_NO_TOKEN;
}

/* A token by id, or by the text of a special token, or by the bytes of an ordinary one. */
static bool read_token(tsl__tags *t, const tsl__json *v, tsl_token *out) {
  const tsl_vocab *vocab = t->vocab;
  if (v->kind == TSL__JSON_NUMBER) {
    if (tsl__json_count(v, out) && *out < vocab->size) return true;
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "there is no token %.*s: the vocabulary has %u",
                          tsl__shown(v->text, v->length, 30), v->text, vocab->size);
  }
  if (v->kind != TSL__JSON_STRING)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "a token is its id or its text");
  *out = tsl_vocab_find_special(vocab, v->text, v->length);
  if (*out == TSL_NO_TOKEN) *out = find_ordinary(vocab, v->text, v->length);
  if (*out != TSL_NO_TOKEN) return true;
  return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "the vocabulary has no token \"%.*s\"",
                        tsl__shown(v->text, v->length, 60), v->text);
}

static bool read_tokens(tsl__tags *t, const tsl__json *o, const char *key, bool needed,
                        tsl_token **out, uint32_t *count) {
  const tsl__json *v = tsl__json_member(o, key);
  if (!v) return !needed || tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"%s\" is missing", key);
  if (v->kind != TSL__JSON_ARRAY)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v, "\"%s\" must be an array of tokens", key);
  if (!(*out = tsl__tags_alloc(t, (v->length + 1) * sizeof **out))) return false;
  for (uint32_t i = 0; i < v->length; i++)
    if (!read_token(t, &v->items[i], &(*out)[i])) return false;
  *count = v->length;
  return true;
}

static bool read_delimiter(tsl__tags *t, const tsl__json *v, tsl__delimiter *out) {
  if (v->kind == TSL__JSON_STRING) return out->text = tsl__json_text(v), true;
  const tsl__json *type = v->kind == TSL__JSON_OBJECT ? tsl__json_member(v, "type") : NULL,
                  *token = type ? tsl__json_member(v, "token") : NULL;
  if (!token || !tsl__json_says(type, "token"))
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v,
                          "a string or {\"type\": \"token\", \"token\": ...} must stand here");
  out->is_token = true;
  if (!read_token(t, token, &out->token)) return false;
  size_t n = 0;
  const uint8_t *bytes = tsl_vocab_bytes(t->vocab, out->token, &n);
  out->text = (tsl__string){(const char *)bytes, (uint32_t)n};
  return true;
}

/* ---- formats --------------------------------------------------------------------------------- */

static tsl__tag *read_format(tsl__tags *t, const tsl__json *o, uint32_t depth);

static tsl__tag *read_member(tsl__tags *t, const tsl__json *o, const char *key, uint32_t depth) {
  const tsl__json *v = tsl__json_member(o, key);
  return v ? read_format(t, v, depth + 1)
           : tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"%s\" is missing", key);
}

static tsl__tag **new_items(tsl__tags *t, uint32_t n) {
  return tsl__tags_alloc(t, (n + 1) * sizeof(tsl__tag *));
}

static bool read_child(tsl__tags *t, const tsl__json *o, const char *key, tsl__tag *n,
                       uint32_t depth) {
  n->item_count = 1;
  return (n->items = new_items(t, 1)) && (n->items[0] = read_member(t, o, key, depth));
}

static bool read_items(tsl__tags *t, const tsl__json *o, const char *key, bool tags, tsl__tag *n,
                       uint32_t depth) {
  const tsl__json *v = tsl__json_member(o, key);
  if (!v || v->kind != TSL__JSON_ARRAY || !v->length)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, v ? v : o, "\"%s\" must be an array that is not empty",
                          key);
  if (!(n->items = new_items(t, v->length))) return false;
  n->item_count = v->length;
  for (uint32_t i = 0; i < v->length; i++) {
    if (!(n->items[i] = read_format(t, &v->items[i], depth + 1))) return false;
    if (tags && n->items[i]->kind != TSL__TAG_TAG)
      return tsl__tags_fail(t, TSL_ERR_SCHEMA, &v->items[i], "only tags may stand here");
  }
  return true;
}

static bool read_const(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  (void)depth;
  return read_string(t, o, "value", &n->text);
}

static bool read_schema(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  tsl__string style = {"json", 4};
  (void)depth;
  n->schema = tsl__json_member(o, "json_schema");
  if (!n->schema) return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"json_schema\" is missing");
  if (tsl__json_member(o, "style") && !read_string(t, o, "style", &style)) return false;
  if (style.length != 4 || memcmp(style.at, "json", 4)) {
    char *copy = tsl__tags_alloc(t, style.length + 1);
    if (!copy) return false;
    n->style = memcpy(copy, style.at, style.length);
  }
  return read_strings(t, o, "excludes", false, &n->excludes, &n->exclude_count) &&
         tsl__tags_exclude(t, n) && read_flag(t, o, "any_order", &n->any_order) &&
         read_count(t, o, "max_whitespace_cnt", false, false, &n->max_whitespace);
}

static bool read_qwen(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  n->style = "qwen_xml";
  (void)depth;
  n->schema = tsl__json_member(o, "json_schema");
  return n->schema || tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"json_schema\" is missing");
}

static bool read_regex(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  (void)depth;
  return read_string(t, o, "pattern", &n->text);
}

static bool read_grammar(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  (void)depth;
  return read_string(t, o, "grammar", &n->text) &&
         (!tsl__json_member(o, "after") || read_string(t, o, "after", &n->begin.text));
}

static bool read_any(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  (void)depth;
  return read_strings(t, o, "excludes", false, &n->excludes, &n->exclude_count) &&
         read_count(t, o, "max_chars", false, false, &n->max_chars) &&
         read_count(t, o, "max_tokens", false, false, &n->max_tokens);
}

static bool read_elements(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  return read_items(t, o, "elements", false, n, depth);
}

static bool read_optional(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  n->max = 1;
  return read_child(t, o, "content", n, depth);
}
static bool read_plus(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  n->min = 1;
  return read_child(t, o, "content", n, depth);
}
static bool read_star(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  return read_child(t, o, "content", n, depth);
}
static bool read_repeat(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  if (!read_count(t, o, "min", true, false, &n->min) ||
      !read_count(t, o, "max", true, true, &n->max))
    return false;
  if (n->min > n->max)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"min\" is greater than \"max\"");
  return read_child(t, o, "content", n, depth);
}

static bool read_tag(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  const tsl__json *begin = tsl__json_member(o, "begin"), *end = tsl__json_member(o, "end");
  if (!begin || !end)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"%s\" is missing", begin ? "end" : "begin");
  bool several = end->kind == TSL__JSON_ARRAY;
  n->end_count = several ? end->length : 1;
  if (!n->end_count)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, end, "\"end\" must not be an empty array");
  if (!read_delimiter(t, begin, &n->begin) ||
      !(n->ends = tsl__tags_alloc(t, n->end_count * sizeof *n->ends)))
    return false;
  for (uint32_t i = 0; i < n->end_count; i++)
    if (!read_delimiter(t, several ? &end->items[i] : end, &n->ends[i])) return false;
  n->capture = TSL__CAPTURE_TAG;
  return read_child(t, o, "content", n, depth);
}

static bool read_triggered(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  return read_strings(t, o, "triggers", true, &n->triggers, &n->trigger_count) &&
         read_items(t, o, "tags", true, n, depth) &&
         read_flag(t, o, "at_least_one", &n->at_least_one) &&
         read_flag(t, o, "stop_after_first", &n->once) &&
         read_strings(t, o, "excludes", false, &n->excludes, &n->exclude_count);
}

static bool read_separated(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  return read_items(t, o, "tags", true, n, depth) && read_string(t, o, "separator", &n->text) &&
         read_flag(t, o, "at_least_one", &n->at_least_one) &&
         read_flag(t, o, "stop_after_first", &n->once);
}

/* [[pattern, format], ...] */
static bool read_rules(tsl__tags *t, const tsl__json *o, tsl__tag *n, bool tokens, uint32_t depth) {
  const tsl__json *rules = tsl__json_member(o, "rules");
  bool loop = true;
  if (!rules || rules->kind != TSL__JSON_ARRAY || !rules->length)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, rules ? rules : o,
                          "\"rules\" must be an array that is not empty");
  n->item_count = n->trigger_count = rules->length;
  n->items = new_items(t, rules->length);
  n->triggers = tsl__tags_alloc(t, rules->length * sizeof *n->triggers);
  n->tokens = tokens ? tsl__tags_alloc(t, rules->length * sizeof *n->tokens) : NULL;
  if (!n->items || !n->triggers || (tokens && !n->tokens)) return false;
  for (uint32_t i = 0; i < rules->length; i++) {
    const tsl__json *r = &rules->items[i];
    if (r->kind != TSL__JSON_ARRAY || r->length != 2)
      return tsl__tags_fail(t, TSL_ERR_SCHEMA, r, "a rule is [pattern, format]");
    if (tokens ? !read_token(t, &r->items[0], &n->tokens[i])
               : r->items[0].kind != TSL__JSON_STRING || !r->items[0].length)
      return tsl__tags_fail(t, TSL_ERR_SCHEMA, &r->items[0],
                            "the pattern of a rule is a string that is not empty");
    n->triggers[i] = tsl__json_text(&r->items[0]);
    if (!(n->items[i] = read_format(t, &r->items[1], depth + 2))) return false;
  }
  n->token_count = tokens ? rules->length : 0;
  n->by_token = tokens;
  if (!read_flag(t, o, "loop", &loop)) return false;
  n->once = !loop;
  return true;
}

static bool read_dispatch(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  return read_rules(t, o, n, false, depth) &&
         read_strings(t, o, "excludes", false, &n->excludes, &n->exclude_count);
}

/* Tokens that the free part must not have: kept in a child of their own. */
static bool read_excluded_tokens(tsl__tags *t, const tsl__json *o, tsl__tag **out) {
  *out = tsl__tags_node(t, TSL__TAG_TOKENS, o);
  if (!*out) return false;
  (*out)->complement = true;
  return read_tokens(t, o, "exclude_tokens", false, &(*out)->tokens, &(*out)->token_count);
}

static bool add_free_tokens(tsl__tags *t, const tsl__json *o, tsl__tag *n) {
  tsl__tag **items = new_items(t, n->item_count + 1);
  if (!items) return false;
  memcpy(items, n->items, n->item_count * sizeof *items);
  n->items = items;
  return read_excluded_tokens(t, o, &items[n->item_count]); /* one past the end */
}

static bool read_token_dispatch(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  return read_rules(t, o, n, true, depth) && add_free_tokens(t, o, n);
}

static bool read_token_triggered(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  n->by_token = true;
  if (!read_tokens(t, o, "trigger_tokens", true, &n->tokens, &n->token_count) ||
      !read_items(t, o, "tags", true, n, depth) ||
      !read_flag(t, o, "at_least_one", &n->at_least_one) ||
      !read_flag(t, o, "stop_after_first", &n->once))
    return false;
  for (uint32_t i = 0; i < n->item_count; i++)
    if (!n->items[i]->begin.is_token)
      return tsl__tags_fail(t, TSL_ERR_SCHEMA, n->items[i]->at,
                            "the tags of token_triggered_tags begin with a token");
  return add_free_tokens(t, o, n);
}

static bool read_one_token(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  const tsl__json *v = tsl__json_member(o, "token");
  (void)depth;
  if (!v) return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"token\" is missing");
  n->min = n->max = n->token_count = 1;
  return (n->tokens = tsl__tags_alloc(t, sizeof *n->tokens)) && read_token(t, v, n->tokens);
}
static bool read_exclude_token(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  (void)depth;
  n->min = n->max = 1;
  n->complement = true;
  return read_tokens(t, o, "exclude_tokens", false, &n->tokens, &n->token_count);
}
static bool read_any_tokens(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth) {
  (void)depth;
  n->complement = true;
  return read_tokens(t, o, "exclude_tokens", false, &n->tokens, &n->token_count) &&
         read_count(t, o, "max_tokens", false, false, &n->max);
}

typedef struct form {
  const char *type;
  tsl__tag_kind kind;
  bool (*read)(tsl__tags *t, const tsl__json *o, tsl__tag *n, uint32_t depth);
  const char *keys[8];
} form;

static const form forms[] = {
    {"const_string", TSL__TAG_CONST, read_const, {"value"}},
    {"json_schema",
     TSL__TAG_SCHEMA,
     read_schema,
     {"json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"}},
    {"qwen_xml_parameter", TSL__TAG_SCHEMA, read_qwen, {"json_schema"}},
    {"regex", TSL__TAG_REGEX, read_regex, {"pattern"}},
    {"grammar", TSL__TAG_GBNF, read_grammar, {"grammar", "after"}},
    {"any_text", TSL__TAG_ANY, read_any, {"excludes", "max_tokens", "max_chars"}},
    {"sequence", TSL__TAG_SEQUENCE, read_elements, {"elements"}},
    {"or", TSL__TAG_OR, read_elements, {"elements"}},
    {"optional", TSL__TAG_REPEAT, read_optional, {"content"}},
    {"plus", TSL__TAG_REPEAT, read_plus, {"content"}},
    {"star", TSL__TAG_REPEAT, read_star, {"content"}},
    {"repeat", TSL__TAG_REPEAT, read_repeat, {"min", "max", "content"}},
    {"tag", TSL__TAG_TAG, read_tag, {"begin", "content", "end"}},
    {"triggered_tags",
     TSL__TAG_TRIGGERED,
     read_triggered,
     {"triggers", "tags", "at_least_one", "stop_after_first", "excludes"}},
    {"tags_with_separator",
     TSL__TAG_SEPARATED,
     read_separated,
     {"tags", "separator", "at_least_one", "stop_after_first"}},
    {"dispatch", TSL__TAG_DISPATCH, read_dispatch, {"rules", "loop", "excludes"}},
    {"token", TSL__TAG_TOKENS, read_one_token, {"token"}},
    {"exclude_token", TSL__TAG_TOKENS, read_exclude_token, {"exclude_tokens"}},
    {"any_tokens", TSL__TAG_TOKENS, read_any_tokens, {"exclude_tokens", "max_tokens"}},
    {"token_triggered_tags",
     TSL__TAG_TRIGGERED,
     read_token_triggered,
     {"trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"}},
    {"token_dispatch", TSL__TAG_DISPATCH, read_token_dispatch, {"rules", "loop", "exclude_tokens"}},
};

static bool read_as(tsl__tags *t, const tsl__json *o, tsl__tag *n) {
  static const struct {
    const char *word;
    tsl__capture_kind kind;
  } words[] = {{"text", TSL__CAPTURE_TEXT},           {"reasoning", TSL__CAPTURE_REASONING},
               {"call", TSL__CAPTURE_CALL},           {"id", TSL__CAPTURE_ID},
               {"arguments", TSL__CAPTURE_ARGUMENTS}, {"markup", TSL__CAPTURE_MARKUP}};
  const tsl__json *as = tsl__json_member(o, "as"), *name = tsl__json_member(o, "name");
  tsl__string text;
  if (name && (name->kind != TSL__JSON_STRING || !as))
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, name,
                          "\"name\" is a string and goes with \"as\": \"call\"");
  if (name) n->name = name->text, n->name_length = name->length;
  if (!as) return true;
  if (!read_string(t, o, "as", &text)) return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tsl__json_says(as, words[i].word)) return n->capture = words[i].kind, true;
  return tsl__tags_fail(t, TSL_ERR_SCHEMA, as,
                        "\"as\" is text, reasoning, call, id, arguments or markup");
}

static bool read_fields(tsl__tags *t, const tsl__json *o, const form *f, tsl__tag *n,
                        uint32_t depth) {
  const char *keys[12] = {"type", "as", "name"};
  for (size_t i = 0; i < 8 && f->keys[i]; i++) keys[i + 3] = f->keys[i];
  return only(t, o, keys) && f->read(t, o, n, depth) && read_as(t, o, n);
}

static const form *find_form(const tsl__json *type) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (tsl__json_says(type, forms[i].type)) return &forms[i];
  return NULL;
}

/* An object without a "type" that has a "begin" is a tag, as XGrammar takes it. */
static tsl__tag *read_format(tsl__tags *t, const tsl__json *o, uint32_t depth) {
  const tsl__json *type = tsl__json_member(o, "type");
  if (depth > TSL__TAGS_DEPTH)
    return tsl__tags_fail(t, TSL_ERR_LIMIT, o, "more than %u formats inside one another",
                          TSL__TAGS_DEPTH);
  static const tsl__json tag = {.text = "tag", .length = 3, .kind = TSL__JSON_STRING};
  if (!type && tsl__json_member(o, "begin")) type = &tag;
  if (o->kind != TSL__JSON_OBJECT || !type || type->kind != TSL__JSON_STRING)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "a format is an object with a \"type\"");
  const form *f = find_form(type);
  if (!f)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, type, "there is no format \"%.*s\"",
                          tsl__shown(type->text, type->length, 60), type->text);
  tsl__tag *n = tsl__tags_node(t, f->kind, o);
  return n && read_fields(t, o, f, n, depth) ? n : NULL;
}

/* ---- the legacy form ------------------------------------------------------------------------- */

/* {"begin", "schema", "end"}; the schema is an object, or a text that holds one. */
static tsl__tag *read_structure(tsl__tags *t, const tsl__json *o) {
  static const char *const keys[] = {"begin", "schema", "end", NULL};
  tsl__tag *tag = tsl__tags_node(t, TSL__TAG_TAG, o),
           *content = tsl__tags_node(t, TSL__TAG_SCHEMA, o);
  if (!tag || !content) return NULL;
  if (o->kind != TSL__JSON_OBJECT)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "a structure is an object");
  tag->end_count = tag->item_count = 1;
  tag->capture = TSL__CAPTURE_TAG;
  tag->ends = tsl__tags_alloc(t, sizeof *tag->ends);
  tag->items = new_items(t, 1);
  if (!tag->ends || !tag->items || !only(t, o, keys) ||
      !read_string(t, o, "begin", &tag->begin.text) || !read_string(t, o, "end", &tag->ends->text))
    return NULL;
  tag->items[0] = content;
  content->schema = tsl__json_member(o, "schema");
  if (!content->schema) return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"schema\" is missing");
  if (content->schema->kind != TSL__JSON_STRING) return tag;
  tsl_error inner;
  tsl__json *parsed;
  if (tsl__json_parse(&t->arena, &t->until, content->schema->text, content->schema->length,
                      TSL__TAGS_DEPTH, &parsed, &inner) != TSL_OK)
    return tsl__tags_fail(t, inner.status, content->schema, "in the text of \"schema\": %s",
                          inner.message);
  content->schema = parsed;
  content->detached = true;
  return tag;
}

static tsl__tag *read_legacy(tsl__tags *t, const tsl__json *o) {
  const tsl__json *structures = tsl__json_member(o, "structures");
  tsl__tag *n = tsl__tags_node(t, TSL__TAG_TRIGGERED, o);
  if (!n) return NULL;
  if (structures->kind != TSL__JSON_ARRAY || !structures->length)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, structures,
                          "\"structures\" must be an array that is not empty");
  n->item_count = structures->length;
  if (!read_strings(t, o, "triggers", true, &n->triggers, &n->trigger_count) ||
      !(n->items = new_items(t, n->item_count)))
    return NULL;
  for (uint32_t i = 0; i < n->item_count; i++)
    if (!(n->items[i] = read_structure(t, &structures->items[i]))) return NULL;
  return n;
}

/* Texts that are no content beside calls and thinking (gaps.c). */
static bool read_gaps(tsl__tags *t, const tsl__json *o) {
  static const char *const keys[] = {"thinking", "before", "between", "after", NULL};
  tsl__gaps *g = &t->gaps;
  if (o->kind != TSL__JSON_OBJECT)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"gaps\" must be an object");
  return only(t, o, keys) && read_strings(t, o, keys[0], false, &g->thinking.at, &g->thinking.n) &&
         read_strings(t, o, keys[1], false, &g->before.at, &g->before.n) &&
         read_strings(t, o, keys[2], false, &g->between.at, &g->between.n) &&
         read_strings(t, o, keys[3], false, &g->after.at, &g->after.n);
}

/* XGrammar's StructuralTag has a type of one value only, so it may be left out. */
tsl__tag *tsl__tags_read(tsl__tags *t, const tsl__json *o) {
  const tsl__json *type = tsl__json_member(o, "type"), *format = tsl__json_member(o, "format"),
                  *gaps = tsl__json_member(o, "gaps");
  if (type ? !tsl__json_says(type, "structural_tag") : !format)
    return tsl__json_member(o, "structures") ? read_legacy(t, o) : read_format(t, o, 0);
  if (gaps && !read_gaps(t, gaps)) return NULL;
  if (tsl__json_member(o, "structures")) return read_legacy(t, o);
  return format ? read_format(t, format, 0)
                : tsl__tags_fail(t, TSL_ERR_SCHEMA, o, "\"format\" is missing");
}
