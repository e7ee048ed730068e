/* text_grammar.c - strings of a schema whose text a grammar describes.
 *
 * Problem   A custom tool takes one text, which a Lark grammar describes. In an answer that text
 *           stands in a JSON string, with escapes, or bare between two tags. A grammar with
 *           recursion is a rule, and a rule cannot stand inside a JSON string (expr/expr.h), nor
 *           under "without this tag".
 * Idea      A grammar that is a regular language is a pattern like any other. Any other grammar is
 *           compiled a second time. Now each of its terminals is written as it stands in the
 *           answer: as a part of a JSON string, or without the closing tag. The rules around the
 *           terminals stay as they are.
 * Example   The grammar is start: "(" start ")" | "\n". In a JSON string it becomes
 *           start: "(" start ")" | "\\n", as the string (\n) spells an answer's text.
 * Limits    A terminal cannot hold the closing tag. Two terminals side by side can spell one; then
 *           the reader here follows the grammar.
 * Cost      Two compiles of the grammar.
 * Tested by tests/programs/test_custom_tools.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/lark.h"
#include "compiler/schema/object.h"

static tsl__expr in_json(void *ctx, tsl__exprs *x, tsl__expr text) {
  (void)ctx;
  return tsl__expr_json_part(x, text);
}

static tsl__expr in_tags(void *ctx, tsl__exprs *x, tsl__expr text) {
  (void)x;
  const struct schema *s = ctx;
  return s->style->without(s->style->ctx, text, s->style->close);
}

static bool compile(struct schema *s, const tsl__json *at, tsl__lark_written *written,
                    tsl__expr *out) {
  tsl__lark_options options = {
      .max_depth = s->max_depth, .written = written, .written_ctx = written ? s : NULL};
  tsl_error error = {0};
  tsl_status status = tsl__lark_compile(s->x, NULL, at->text, at->length, &options, out, &error);
  if (status == TSL_OK && *out != TSL__NONE) return true;
  if (status == TSL_OK)
    tsl__schema_fail(s, TSL_ERR_EMPTY, at, "no text of the grammar can be written here");
  else if (error.line)
    tsl__schema_fail(s, status, at, "in the grammar, line %u, column %u: %s", error.line,
                     error.column, error.message);
  else
    tsl__schema_fail(s, status, at, "in the grammar: %s", error.message);
  return false;
}

bool tsl__schema_bare_strings(const struct schema *s) { return s->style && !s->style->python; }

bool tsl__schema_text_grammar(struct schema *s, const tsl__json *at, bool bare, tsl__expr *out) {
  return compile(s, at, NULL, out) &&
         (!tsl__expr_has_calls(s->x, *out) || compile(s, at, bare ? in_tags : in_json, out));
}
