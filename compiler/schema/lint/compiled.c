/* compiled.c - what the lint asks the compiler: is a schema refused, and what can never be written?
 *
 * Problem   An optional property whose schema nothing satisfies is legal, and silent. The text
 *           alone does not show it: keywords clash through references and allOf.
 * Idea      The compiler already knows which goals have a value. So the lint compiles the schema,
 *           and asks for the goal of each property.
 * Example   {"properties": {"a": {"type": "string", "minimum": 3, "enum": [1]}}}: the goal of "a"
 *           has no text, so "a" can never be written.
 * Places    The compile works on a copy of the tree. A subschema is known again by its offset in
 *           the text, so the lint may edit its own tree meanwhile.
 * Cost      One compile, and the shortest text of each property's goal.
 * Tested by tests/schema/test_lint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"
#include "compiler/schema/lint/lint.h"
#include "compiler/schema/schema.h"

static void note_properties(lint *l, struct schema *s, const struct node *n) {
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
  for (uint32_t i = 0; v && v->children && i < v->count && l->never_count < LINT_NEVER_MAX; i++) {
    const tsl__json *at = &v->value->items[i];
    lit one = POS(v->children[i]);
    if (at->kind != TSL__JSON_OBJECT || !tsl__schema_ok(s)) continue;
    bool possible = tsl__schema_possible(s, tsl__schema_goal(s, &one, 1, 0));
    if (tsl__schema_ok(s) && !possible) l->never[l->never_count++] = at->offset;
  }
}

/* The nodes grow in number while goals are made. */
static void note_never(lint *l, struct schema *s) {
  for (size_t i = 2; i < s->nodes.n && tsl__schema_ok(s); i++)
    note_properties(l, s, s->nodes.at[i]);
}

void tsl__lint_compile(lint *l, const lint_place *base, const char *text, size_t length) {
  tsl__exprs *x = NULL;
  struct tsl__schema_result result;
  tsl_error error = {0};
  tsl_status status = tsl__exprs_new(NULL, l->alloc, NULL, &x);
  if (status == TSL_OK)
    status = tsl__schema_compile_tree(x, base->at, NULL, NULL, text, length, NULL, NULL, &result,
                                      &error);
  if (status == TSL_OK) {
    note_never(l, result.schema);
    status = tsl__exprs_status(x) == TSL_ERR_NO_MEMORY ? TSL_ERR_NO_MEMORY : TSL_OK;
  }
  if (status == TSL_ERR_NO_MEMORY) l->failed = true;
  l->rule = LINT_REFUSED;
  if (status != TSL_OK && !l->failed && l->enabled >> LINT_REFUSED & 1)
    tsl__lint_find(l, base, NULL, false, "%s%s%s", error.pointer, *error.pointer ? ": " : "",
                   error.message);
  if (x) tsl__exprs_free(x);
}
