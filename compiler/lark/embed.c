/* embed.c - what stands within a rule in another notation: %json, %regex, %lark, @name.
 *
 * Problem   A rule needs a JSON value, a part of a given text, or another grammar. In Lark's own
 *           notation these would take pages, or cannot be written.
 * Idea      The scanner stands at the '%' or '@'. It takes the whole of the other notation as one
 *           node, and goes on behind it. What the node means is found out later, by the pass that
 *           builds rules. Only %regex is compiled at once, as its JSON is not kept.
 * Example   call: "f(" %json {"type": "integer"} ")"    one node between two strings
 *
 *   %json {…}     a JSON Schema, compiled by whoever calls this room (tsl__lark_json)
 *   %regex {…}    parts of a text: {"substring_words": "…"}, see substring.c
 *   %lark {…}     a grammar of its own, up to the '}': names, %ignore and start rule are its own
 *   @name         another grammar of the list that this one came with (grammars.c)
 *
 * A nested grammar is a module (items.h) over the same text, so that places of errors need no
 * translation. Its "start" stands for it.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"
#include "compiler/lark/scan.h"

/* Brackets are counted, and strings are skipped: whether it is JSON is for whoever parses it. */
bool tsl__scan_object(tsl__lscan *p, const char *what) {
  size_t start = p->at, depth = 0;
  if (tsl__scan_peek(p) != '{') return FAIL(p, "%s is followed by a JSON object", what);
  for (; p->at < p->length; p->at++) {
    char c = p->text[p->at];
    if (c == '"') {
      for (p->at++; p->at < p->length && p->text[p->at] != '"'; p->at++)
        if (p->text[p->at] == '\\') p->at++;
      if (p->at >= p->length) break;
    }
    depth += c == '{' || c == '[';
    depth -= c == '}' || c == ']';
    if (!depth) return p->at++, true;
  }
  return FAIL_AT(p, start, "a JSON object without its end");
}

/* A schema stays text. It is compiled where it is used, once for each rule that has it. */
static uint32_t json(tsl__lscan *p, uint32_t start) {
  uint32_t object = (uint32_t)p->at;
  if (!p->l->options.json) return UNSUPPORTED(p, start, "%%json is not supported here"), 0;
  if (!tsl__scan_object(p, "%json")) return 0;
  return tsl__lark_node(p->l, TSL__L_JSON, start, object, (uint32_t)(p->at - object), 0);
}

/* ---- parts of a text ------------------------------------------------------------------------- */

/* The list of chunks of {"substring_…": …}, or of {"type": "substring", "…": …}. */
static const tsl__json *chunks_of(const tsl__json *root, const char **how) {
  static const char *const names[] = {"substring_chunks", "substring_words", "substring_chars"};
  const tsl__json *type = tsl__json_member(root, "type"), *found = NULL;
  if (type && !tsl__json_says(type, "substring")) return NULL;
  if (root->length != (type ? 2u : 1u)) return NULL;
  for (size_t i = 0; i < 3 && !found; i++) {
    const char *name = type ? names[i] + 10 : names[i];
    found = tsl__json_member(root, name);
    *how = names[i] + 10;
  }
  return found;
}

static uint32_t substrings(tsl__lscan *p, uint32_t start, uint32_t at, const tsl__json *root) {
  const char *how = "";
  const tsl__json *of = chunks_of(root, &how);
  if (!of)
    return UNSUPPORTED(p, at, "%%regex takes substring_chunks, substring_words or substring_chars"),
           0;
  bool list = how[1] == 'h' && how[2] == 'u'; /* chunks */
  bool right = of->kind == (list ? TSL__JSON_ARRAY : TSL__JSON_STRING);
  for (uint32_t i = 0; list && right && i < of->length; i++)
    right = of->items[i].kind == TSL__JSON_STRING;
  if (!right)
    return FAIL_AT(p, at + of->offset, "%s",
                   list ? "the chunks are an array of strings"
                        : "words and chars are read from a string"),
           0;
  tsl__expr e = list            ? tsl__lark_chunks(p->l, of)
                : how[0] == 'w' ? tsl__lark_words(p->l, of->text, of->length)
                                : tsl__lark_characters(p->l, of->text, of->length);
  return tsl__lark_failed(p->l) ? 0 : tsl__lark_node(p->l, TSL__L_EXPR, start, e, 0, 0);
}

static uint32_t regex(tsl__lscan *p, uint32_t start) {
  tsl__arena arena;
  tsl__json *root = NULL;
  tsl_error error = {0};
  uint32_t object = (uint32_t)p->at, node = 0;
  if (!tsl__scan_object(p, "%regex")) return 0;
  tsl__arena_init(&arena, &p->l->alloc);
  const tsl__until until = tsl__exprs_until(p->l->x);
  tsl_status status = tsl__json_parse(&arena, &until, p->text + object, p->at - object,
                                      tsl__json_depth(p->l->max_depth), &root, &error);
  if (status)
    tsl__lark_fail(p->l, status, p->module, object + error.offset, "in %%regex: %s", error.message);
  else
    node = substrings(p, start, object, root);
  tsl__arena_free(&arena);
  return node;
}

/* ---- grammars -------------------------------------------------------------------------------- */

/* The module of a grammar in braces, whose '{' was read. */
static uint32_t nested(tsl__lscan *p, uint32_t start, uint32_t depth) {
  tsl__lark *l = p->l;
  const tsl__lmodule *around = &l->modules.at[p->module];
  uint32_t module = (uint32_t)l->modules.n;
  if (depth + p->nested >= l->max_depth) return tsl__scan_too_deep(p, start), 0;
  if (module > TSL__LARK_MODULES_MAX)
    return tsl__lark_fail(l, TSL_ERR_LIMIT, p->module, start, "too many grammars (limit %u)",
                          TSL__LARK_MODULES_MAX),
           0;
  tsl__lmodule m = {.text = around->text,
                    .length = around->length,
                    .importer = TSL__LARK_NOWHERE,
                    .around = p->module,
                    .root = module,
                    .skip_first = true,
                    .rule = TSL__LARK_NOWHERE,
                    .first_action = TSL__LARK_NOWHERE,
                    .import_at = p->module ? around->import_at : start};
  if (!tsl__vec_push(&l->alloc, &l->modules, m)) return tsl__lark_no_memory(l), 0;
  tsl__lscan inner = {.l = l,
                      .module = module,
                      .text = p->text,
                      .length = p->length,
                      .at = p->at,
                      .nested = p->nested + 1};
  tsl__scan_grammar(&inner);
  tsl__vec_free(&l->alloc, &inner.pending);
  p->at = inner.at;
  if (tsl__scan_failed(p)) return 0;
  if (!tsl__scan_take(p, '}')) return FAIL_AT(p, start, "a %%lark grammar without its '}'"), 0;
  return tsl__lark_node(l, TSL__L_GRAMMAR, start, module, 0, 0);
}

uint32_t tsl__scan_embedded(tsl__lscan *p, uint32_t depth) {
  uint32_t start = (uint32_t)p->at++;
  uint32_t n = tsl__scan_name_length(p);
  const char *name = p->text + p->at;
  p->at += n;
  tsl__scan_skip(p, true);
  if (n == 4 && !memcmp(name, "json", 4)) return json(p, start);
  if (n == 5 && !memcmp(name, "regex", 5)) return regex(p, start);
  if (n == 4 && !memcmp(name, "lark", 4)) {
    if (!tsl__scan_take(p, '{')) return FAIL(p, "%%lark is followed by a grammar in braces"), 0;
    return nested(p, start, depth);
  }
  return UNSUPPORTED(p, start, "%%%.*s within a definition is not supported", tsl__lark_shown(n),
                     name),
         0;
}

uint32_t tsl__scan_reference(tsl__lscan *p) {
  uint32_t start = (uint32_t)p->at++;
  size_t at = p->at;
  while (tsl__scan_begins_name(tsl__scan_peek(p)) || tsl__scan_digit(tsl__scan_peek(p)) ||
         (tsl__scan_peek(p) == '-' && p->at > at))
    p->at++;
  uint32_t n = (uint32_t)(p->at - at), module = tsl__lark_grammar(p->l, p->text + at, n);
  if (!n) return FAIL_AT(p, start, "'@' is followed by the name of a grammar"), 0;
  if (module == TSL__LARK_NOWHERE)
    return FAIL_AT(p, start, "there is no grammar of the name \"%.*s\"", tsl__lark_shown(n),
                   p->text + at),
           0;
  return tsl__lark_node(p->l, TSL__L_GRAMMAR, start, module, 0, 0);
}
