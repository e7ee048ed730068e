/* leaves.c - formats that have no format inside them, as expressions: schemas, text, tokens.
 *
 * Problem   A tree of formats ends in JSON Schemas, regular expressions, grammars, free text and
 *           tokens. Each has a front end of its own, and some of them must stop where a tag ends.
 * Idea      A schema, a regular expression and a grammar are compiled by their front ends in the
 *           tables of the tree. A schema may be written in a style of arguments that is not JSON
 *           (compiler/schema/style/style.c); then its keys and values are captures. Free text stops
 *           before the ends of the tag around it, and may have a limit of characters or tokens.
 * Example   {"type": "any_text"} as the content of the tag "<think>" … "</think>" is
 *           text & !(.* "</think>" .*): text in which the end does not occur.
 * Parts     A request with forty tools often has the same schema twice. A schema that was compiled
 *           is found again by its text and its options: the same expression stands in both places.
 *           Grammars of one vocabulary share such parts, too.
 * Counted   Text with max_tokens is a frame of its own, with something empty at its end that no
 *           other frame has (quota_rule). So the matcher sees by the state that the counted text
 *           is over, and matcher/quota.h counts the tokens in between. Two equal formats in two
 *           places are one text.
 * Errors    An error within a schema has a pointer into that schema. It is set behind the pointer
 *           of the format, so that the caller finds the place in the whole: /format/json_schema +
 *           /type.
 * Cost      That of the front ends. Texts of a style are made once for a tree.
 * Tested by tests/tags/test_tags.c, tests/tags/test_tags_counted.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/expr/node.h"
#include "compiler/gbnf/gbnf.h"
#include "compiler/regex/regex.h"
#include "compiler/schema/object.h"
#include "compiler/tags/lower.h"

/* ---- leaves ---------------------------------------------------------------------------------- */

static tsl__expr capture_value(void *ctx, tsl__expr body, const char *key, uint32_t key_length,
                               enum tsl__spelling spelling) {
  static const tsl__capture_kind kinds[] = {
      [TSL__AS_JSON] = TSL__CAPTURE_VALUE,    [TSL__AS_BARE] = TSL__CAPTURE_BARE,
      [TSL__AS_OBJECT] = TSL__CAPTURE_OBJECT, [TSL__AS_ARRAY] = TSL__CAPTURE_ARRAY,
      [TSL__AS_TRUE] = TSL__CAPTURE_TRUE,     [TSL__AS_FALSE] = TSL__CAPTURE_FALSE,
      [TSL__AS_NULL] = TSL__CAPTURE_NULL};
  return tsl__lower_capture_rule(ctx, kinds[spelling], body, key, key_length, 0, NULL, 0);
}

static tsl__expr style_text(void *ctx, const char *text) {
  tsl__captures *m = ctx;
  for (size_t i = 0; i < m->style_texts.n; i++)
    if (m->style_texts.at[i].text == text) return m->style_texts.at[i].e;
  tsl__style_text made = {text,
                          tsl__captures_constant(m, (tsl__string){text, (uint32_t)strlen(text)})};
  return made.e == TSL__NONE || tsl__vec_push(m->alloc, &m->style_texts, made)
             ? made.e
             : tsl__expr_no_memory(m->x);
}

static tsl__expr text_without(void *ctx, tsl__expr text, const char *close) {
  return tsl__captures_without(ctx, text, close);
}

static tsl__expr capture_key(void *ctx, tsl__expr body, const tsl__string *known) {
  return tsl__lower_capture_rule(ctx, TSL__CAPTURE_KEY, body, known ? known->at : NULL,
                                 known ? known->length : 0, 0, NULL, 0);
}

static const struct tsl__schema_style styles[] = {
    {.name = "qwen_xml",
     .open = "<parameter=",
     .between = ">",
     .inner = "",
     .close = "</parameter>",
     .gap = "\n",
     .padding = "\n",
     .key_stops = "<>\n"},
    {.name = "seed_xml",
     .open = "<parameter=",
     .between = ">",
     .inner = "",
     .close = "</parameter>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\n"},
    {.name = "step_xml",
     .open = "<steptml:parameter name=\"",
     .between = "\">",
     .inner = "",
     .close = "</steptml:parameter>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\"\n"},
    {.name = "minimax_xml",
     .open = "<parameter name=\"",
     .between = "\">",
     .inner = "",
     .close = "</parameter>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\"\n"},
    {.name = "minimax_m3_xml",
     .open = "]<]minimax[>[<",
     .between = ">",
     .inner = "",
     .close = "]<]minimax[>[",
     .gap = "\n",
     .padding = "",
     .nested = true,
     .free_keys = true,
     .key_stops = ">"},
    {.name = "deepseek_xml",
     .open = "<｜DSML｜parameter name=\"",
     .between = "\" string=\"true\">",
     .inner = "",
     .json_open = "<｜DSML｜parameter name=\"",
     .json_between = "\" string=\"false\">",
     .close = "</｜DSML｜parameter>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\"\n"},
    {.name = "deepseek_v4_1_xml",
     .open = "<｜DSML｜ parameter name=\"",
     .between = "\" string=\"true\">",
     .inner = "",
     .json_open = "<｜DSML｜ parameter name=\"",
     .json_between = "\" string=\"false\">",
     .close = "</｜DSML｜ parameter>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\"\n"},
    {.name = "gigachat_xml",
     .open = "<｜GCML｜parameter name=\"",
     .between = "\" string=\"true\">",
     .inner = "",
     .json_open = "<｜GCML｜parameter name=\"",
     .json_between = "\" string=\"false\">",
     .close = "</｜GCML｜parameter>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\"\n"},
    {.name = "glm_xml",
     .open = "<arg_key>",
     .between = "</arg_key>",
     .inner = "<arg_value>",
     .close = "</arg_value>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\n"},
    {.name = "ifm_xml",
     .open = "<ifm|arg_key>",
     .between = "</ifm|arg_key>",
     .inner = "<ifm|arg_value>",
     .close = "</ifm|arg_value>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\n"},
    {.name = "atem_xml",
     .open = "<atem:parameter name=\"",
     .between = "\">",
     .inner = "",
     .close = "</atem:parameter>",
     .gap = "\n",
     .padding = "",
     .key_stops = "<>\"\n"},
    {.name = "minicpm_xml",
     .open = "<param name=\"",
     .between = "\">",
     .inner = "",
     .close = "</param>",
     .gap = "\n",
     .padding = "",
     .guard_stop = "<",
     .guard = {"<![CDATA[", "]]>"},
     .key_stops = "<>\"\n"},
    {.name = "cohere_xml",
     .open = "<cofl:value name=\"",
     .between = "\"",
     .inner = "",
     .close = "</cofl:value>",
     .gap = "",
     .padding = "",
     .nested = true,
     .around = {[TSL__AS_JSON] = {" type=\"json\">", "</cofl:value>"},
                [TSL__AS_BARE] = {" type=\"raw\">", "</cofl:value>"},
                [TSL__AS_OBJECT] = {" type=\"dict\">", "</cofl:value>"},
                [TSL__AS_ARRAY] = {" type=\"list\">", "</cofl:value>"}},
     .item_open = "<cofl:value",
     .free_keys = true,
     .entities = true,
     .key_stops = "\n"},
    {.name = "gemma4",
     .open = "",
     .between = ":",
     .inner = "",
     .close = "<|\"|>",
     .gap = "",
     .padding = "",
     .separator = ",",
     .nested = true,
     .around = {[TSL__AS_JSON] = {"", ""},
                [TSL__AS_BARE] = {"<|\"|>", "<|\"|>"},
                [TSL__AS_OBJECT] = {"{", "}"},
                [TSL__AS_ARRAY] = {"[", "]"}},
     .item_open = "",
     .item_separator = ",",
     .free_keys = true,
     .key_stops = "\t\n\r \",:<>[]{|}"},
    {.name = "functiongemma",
     .open = "",
     .between = ":",
     .inner = "",
     .close = "<escape>",
     .gap = "",
     .padding = "",
     .separator = ",",
     .nested = true,
     .around = {[TSL__AS_JSON] = {"", ""},
                [TSL__AS_BARE] = {"<escape>", "<escape>"},
                [TSL__AS_OBJECT] = {"{", "}"},
                [TSL__AS_ARRAY] = {"[", "]"}},
     .item_open = "",
     .item_separator = ",",
     .free_keys = true,
     .key_stops = "\t\n\r \",:<>[]{|}"},
    {.name = "kimi_k3_xml",
     .open = "<|open|>argument key=\"",
     .between = "\" type=\"string\"<|sep|>",
     .inner = "",
     .json_open = "<|open|>argument key=\"",
     .json_between = "\" type=\"",
     .typed = true,
     .typed_between = "\"<|sep|>",
     .close = "<|close|>argument<|sep|>",
     .gap = "",
     .padding = "",
     .entities = true,
     .key_stops = "\n"},
    {.name = "pythonic",
     .open = "",
     .between = "=",
     .inner = "",
     .close = "",
     .gap = "",
     .padding = "",
     .separator = ", ",
     .python = true,
     .key_stops = "\t\n\r !\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~"},
    {.name = "pythonic_json",
     .open = "",
     .between = "=",
     .inner = "",
     .close = "",
     .gap = "",
     .padding = "",
     .separator = ", ",
     .python = true,
     .json_words = true,
     .key_stops = "\t\n\r !\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~"},
};

static const struct tsl__schema_style *style_of(tsl__tags_lowering *l, const tsl__tag *n) {
  _Static_assert(sizeof styles / sizeof *styles <= TSL__STYLES_MAX, "room for every style");
  for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
    if (strcmp(styles[i].name, n->style)) continue;
    struct tsl__schema_style *own =
        l->captures->styles[i] ? NULL : tsl__exprs_alloc(l->x, sizeof *own);
    if (!own) return l->captures->styles[i];
    *own = styles[i];
    for (const char *c = own->key_stops;; c++) {
      tsl__bytes_add(&own->stops, (uint8_t)*c);
      if (!*c) break;
    }
    own->capture_value = capture_value;
    own->capture_key = capture_key;
    own->text = style_text;
    own->without = text_without;
    own->ctx = l->captures;
    return l->captures->styles[i] = own;
  }
  return tsl__tags_fail(l->tags, TSL_ERR_UNSUPPORTED, n->at, "the style \"%.60s\" is not supported",
                        n->style);
}

void tsl__tags_schema_pointer(const tsl__tags_lowering *l, const tsl__tag *n, const char *below,
                              char *out, size_t size) {
  char pointer[sizeof((tsl_error *)0)->pointer] = "";
  const tsl__json *root = l->tags->root;
  if (root && tsl__json_pointer(root, n->detached && n->at ? n->at : n->schema, pointer,
                                sizeof pointer) == SIZE_MAX)
    pointer[0] = 0;
  snprintf(out, size, "%s%s", pointer, n->detached ? "" : below);
}

/* The schema's error, at its place in the whole text, and whose schema it is. */
static void schema_failed(tsl__tags_lowering *l, const tsl__tag *n, const tsl_error *error) {
  char whole[2 * sizeof error->pointer], tool[192] = "";
  const tsl__json *root = l->tags->root;
  if (n->tool.at && error->status == TSL_ERR_UNSUPPORTED)
    snprintf(tool, sizeof tool, " (tool \"%.*s\": \"strict\": false would leave this out)",
             tsl__shown(n->tool.at, n->tool.length, 100), n->tool.at);
  if (root && n->detached && n->at) { /* the schema is made up: what it was made of is to blame */
    tsl__tags_fail(l->tags, error->status, n->at, "%s%s", error->message, tool);
    return;
  }
  tsl__tags_fail(l->tags, error->status, NULL, "%s%s", error->message, tool);
  if (!l->tags->error) return;
  l->tags->error->offset = error->offset;
  l->tags->error->line = error->line;
  l->tags->error->column = error->column;
  tsl__tags_schema_pointer(l, n, error->pointer, whole, sizeof whole);
  tsl__error_pointer(l->tags->error, whole, strlen(whole));
}

/* *rounds: how often something was left out of the schema. */
static struct tsl__schema_result compile_schema(tsl__tags_lowering *l, const tsl__tag *n,
                                                const struct tsl__schema_style *style,
                                                uint32_t *rounds) {
  tsl_schema_options options = l->captures->schema;
  struct tsl__schema_result result = {0};
  tsl_error error;
  *rounds = 0;
  if (n->any_order) options.order = TSL_ORDER_ANY;
  if (n->max_whitespace != TSL__INF) {
    options.whitespace = n->max_whitespace ? TSL_WS_BOUNDED : TSL_WS_COMPACT;
    options.whitespace_max = n->max_whitespace;
  }
  const tsl_allocator *lent = l->tags->lent;
  /* another compile has used it */
  tsl__json *tree =
      lent && n->schema->user ? tsl__json_copy(&l->tags->arena, n->schema) : n->schema;
  if (!tree) return tsl__expr_no_memory(l->x), result;
  const char *text = n->detached ? "" : l->tags->text;
  tsl_status status;
  do {
    status =
        tsl__schema_compile_tree(l->x, tree, lent, style, text, n->detached ? 0 : l->tags->length,
                                 &options, l->limits, &result, &error);
  } while (status != TSL_OK && tsl__tags_loosen(l, n, &tree, &error, rounds));
  if (status != TSL_OK) schema_failed(l, n, &error);
  return result;
}

/* The text that a schema was read from: what it is known by. */
static tsl__string source_of(const tsl__tags_lowering *l, const tsl__tag *n) {
  const tsl__json *j = n->schema;
  if (n->source.at || n->detached || !l->tags->text ||
      (j->kind != TSL__JSON_OBJECT && j->kind != TSL__JSON_ARRAY))
    return n->source;
  return (tsl__string){l->tags->text + j->offset, j->end - j->offset};
}

static struct tsl__schema_result find_part(const tsl__tags_lowering *l, const tsl__tag *n,
                                           const struct tsl__schema_style *style,
                                           tsl__string source, uint64_t hash) {
  tsl__index_iter it = tsl__index_first(&l->captures->part_index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__schema_part *p = &l->captures->parts.at[i];
    if (p->style == style && p->any_order == n->any_order && p->loose == n->loose &&
        p->max_whitespace == n->max_whitespace && tsl__lower_same_text(p->source, source))
      return p->made;
  }
  return (struct tsl__schema_result){0};
}

static bool keep_part(tsl__tags_lowering *l, tsl__schema_part part, uint64_t hash) {
  tsl__captures *m = l->captures;
  if (!l->tags->lent) { /* the text will go */
    char *copy = tsl__exprs_alloc(l->x, part.source.length);
    if (!copy) return false;
    part.source.at = memcpy(copy, part.source.at, part.source.length);
  }
  if (tsl__vec_push(m->alloc, &m->parts, part) &&
      tsl__index_add(&m->part_index, m->alloc, hash, (uint32_t)m->parts.n - 1))
    return true;
  return tsl__expr_no_memory(l->x), false;
}

tsl__expr tsl__lower_schema(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  const struct tsl__schema_style *style = n->style ? style_of(l, n) : NULL;
  if (n->style && !style) return TSL__NONE;
  tsl__string source = source_of(l, n);
  uint64_t hash = source.at ? tsl__hash(source.at, source.length) : 0;
  struct tsl__schema_result made = {0};
  if (source.at) made = find_part(l, n, style, source, hash);
  if (made.root == TSL__NONE) {
    uint32_t left_out;
    made = compile_schema(l, n, style, &left_out);
    tsl__schema_part part = {source, style, n->max_whitespace, n->any_order, n->loose, made};
    /* a report is due each time: such a schema is not kept */
    bool keeps = source.at && !left_out;
    if (made.root == TSL__NONE || (keeps && !keep_part(l, part, hash))) return TSL__NONE;
  }
  if (!tsl__tags_describe(l, n, made.schema)) return TSL__NONE;
  tsl__tag as = *n;
  if (n->capture == TSL__CAPTURE_ARGUMENTS && n->style) as.capture = TSL__CAPTURE_MEMBERS;
  return as.capture ? tsl__lower_captured(l, &as, made.root, s) : made.root;
}

/* Many tags have the same pattern: the last one is remembered. */
tsl__expr tsl__lower_regex(tsl__tags_lowering *l, const tsl__tag *n) {
  tsl_error error;
  tsl__expr e = TSL__NONE;
  const struct tsl__constant *last = &l->pattern;
  if (last->e != TSL__NONE && last->text.length == n->text.length &&
      !memcmp(last->text.at, n->text.at, n->text.length))
    return last->e;
  const tsl__regex_flags flags = {.counts = true};
  tsl_status status = tsl__regex_compile(l->x, n->text.at, n->text.length, &flags, &e, &error);
  if (status != TSL_OK)
    tsl__tags_fail(l->tags, status, n->at, "in the pattern, at byte %zu: %s", error.offset,
                   error.message);
  else
    l->pattern = (struct tsl__constant){n->text, e};
  return e;
}

/* The rules of a dispatch may have one grammar: the last one is remembered. */
static tsl__expr whole_gbnf(tsl__tags_lowering *l, const tsl__tag *n) {
  tsl_error error;
  tsl__expr e = TSL__NONE;
  const struct tsl__constant *last = &l->grammar;
  if (last->e != TSL__NONE && tsl__lower_same_text(last->text, n->text)) return last->e;
  tsl_status status = tsl__gbnf_compile(l->x, l->tags->vocab, n->text.at, n->text.length, NULL,
                                        l->limits ? l->limits->max_depth : 0, &e, &error);
  if (status != TSL_OK)
    tsl__tags_fail(l->tags, status, n->at, "in the grammar, line %u: %s", error.line,
                   error.message);
  else
    l->grammar = (struct tsl__constant){n->text, e};
  return e;
}

tsl__expr tsl__lower_gbnf(tsl__tags_lowering *l, const tsl__tag *n) {
  const tsl__string before = n->begin.text;
  tsl__expr whole = whole_gbnf(l, n), e = tsl__expr_after(l->x, whole, before.at, before.length);
  if (whole != TSL__NONE && e == TSL__NONE && tsl__exprs_status(l->x) == TSL_OK)
    tsl__tags_fail(l->tags, TSL_ERR_EMPTY, n->at, "no text of the grammar begins with \"%.*s\"",
                   (int)tsl__shown(before.at, before.length, 60), before.at);
  return e;
}

/* The frame of a text that is counted: with something empty at its end that no other one has. */
static tsl__expr quota_rule(tsl__tags_lowering *l, tsl__expr text, size_t k) {
  return tsl__lower_capture_rule(l->captures, TSL__CAPTURE_NONE,
                                 tsl__expr_seq(l->x, text, l->captures->quotas.at[k]), NULL, 0, 0,
                                 NULL, 0);
}

/* A text whose tokens are counted (runtime/matcher/quota.h). A format in several places is one
 * text, as it may be read in two of them at once: found among the last ones. */
static tsl__expr counted(tsl__tags_lowering *l, const tsl__tag *n, tsl__expr text) {
  tsl__captures *m = l->captures;
  size_t k = l->counted.n;
  char name[32];
  for (size_t i = k > 64 ? k - 64 : 0; i < k; i++)
    if (l->counted.at[i].of == n && quota_rule(l, text, i) == l->counted.at[i].rule)
      return l->counted.at[i].rule;
  snprintf(name, sizeof name, "counted#%zu", k);
  if (k == m->quotas.n) {
    tsl__expr own = tsl__lower_capture_rule(m, TSL__CAPTURE_NONE, TSL__EPS, name,
                                            (uint32_t)strlen(name), 0, NULL, 0);
    if (own == TSL__NONE || !tsl__vec_push(m->alloc, &m->quotas, own))
      return tsl__expr_no_memory(l->x);
  }
  tsl__counted c = {quota_rule(l, text, k), n->max_tokens, n};
  return tsl__vec_push(m->alloc, &l->counted, c) ? c.rule : tsl__expr_no_memory(l->x);
}

tsl__expr tsl__lower_any(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  uint32_t count;
  if (n->max_tokens == 0) return TSL__EPS;
  const tsl__string *list = tsl__lower_without(l, NULL, 0, s, n, &count);
  if (!list) return TSL__NONE;
  tsl__expr text = tsl__tags_free_text(l, list, count, n->max_chars);
  return n->max_tokens == TSL__INF ? text : counted(l, n, text);
}

/* One of these tokens, or of all others. Those that no text can have count for nothing. */
tsl__expr tsl__lower_named(tsl__tags_lowering *l, const tsl__tag *n, const tsl_token *tokens,
                           size_t count, bool others) {
  if (tsl__vocab_names_some(l->tags->vocab, tokens, count, others))
    return tsl__expr_token(l->x, tokens, count, others);
  tsl__tags_fail(
      l->tags, TSL_ERR_EMPTY, n->at,
      "no token can stand here: one that ends a generation, or has no bytes, is no part of a text");
  return TSL__NONE;
}

tsl__expr tsl__lower_token_set(tsl__tags_lowering *l, const tsl__tag *n, const tsl_token *more,
                               uint32_t more_count) {
  tsl_token *all = tsl__tags_alloc(l->tags, (n->token_count + more_count) * sizeof *all + 1);
  if (!all) return TSL__NONE;
  for (uint32_t i = 0; i < n->token_count; i++) all[i] = n->tokens[i];
  for (uint32_t i = 0; i < more_count; i++) all[n->token_count + i] = more[i];
  size_t count = tsl__sort_unique(all, n->token_count + more_count);
  return tsl__lower_named(l, n, all, count, n->complement);
}

tsl__expr tsl__lower_tokens(tsl__tags_lowering *l, const tsl__tag *n, stops s) {
  tsl__expr one = tsl__lower_token_set(l, n, s.tokens, n->complement ? s.token_count : 0);
  return tsl__expr_repeat(l->x, one, n->min, n->max);
}
