/* grammars.c - a list of grammars that name one another: llguidance's JSON form.
 *
 * Problem   A host puts a grammar together from parts that others wrote, a tool's schema among
 *           them. Pasted into one text, their names would clash.
 * Idea      A list. Each grammar is a module of its own, and @name is the start rule of another.
 *
 *   {"grammars": [{"lark_grammar": "start: \"a\" @other"},
 *                 {"name": "other", "json_schema": {"type": "object"}}]}
 *
 * The first grammar is the one that counts; it names others as @name, and they may, too. Each is a
 * module (items.h) with names, %ignore and a start of its own. A text that begins with a brace is
 * such a list: no Lark grammar begins with one. An error in a grammar is placed at the grammar in
 * the list; its message says line and column within.
 *
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/json.h"
#include "compiler/lark/items.h"

/* Find a grammar by its name, one after the other: lists are short. */
uint32_t tsl__lark_grammar(const tsl__lark *l, const char *name, uint32_t length) {
  for (uint32_t i = 0; i < l->modules.n; i++) {
    const tsl__string *label = &l->modules.at[i].label;
    if (label->at && label->length == length && !memcmp(label->at, name, length)) return i;
  }
  return TSL__LARK_NOWHERE;
}

static bool syntax(tsl__lark *l, const tsl__json *at, const char *message) {
  return tsl__lark_fail(l, TSL_ERR_SYNTAX, 0, at->offset, "%s", message);
}

/* One item as a module. Its text is the string's, which lives in the arena of the compile. The text
 * of a schema is the bytes of the list itself, so that places in the schema are places in the
 * list. */
static bool add(tsl__lark *l, const tsl__json *item) {
  const tsl__json *name = tsl__json_member(item, "name");
  const tsl__json *text = tsl__json_member(item, "lark_grammar");
  const tsl__json *schema = tsl__json_member(item, "json_schema"), *of = text ? text : schema;
  tsl__lmodule m = {.importer = TSL__LARK_NOWHERE,
                    .root = (uint32_t)l->modules.n,
                    .import_at = item->offset,
                    .listed = true,
                    .skip_first = true,
                    .rule = TSL__LARK_NOWHERE,
                    .first_action = TSL__LARK_NOWHERE};
  if (item->kind != TSL__JSON_OBJECT) return syntax(l, item, "a grammar of the list is an object");
  if (!text == !schema)
    return syntax(l, item, "a grammar of the list has a \"lark_grammar\" or a \"json_schema\"");
  if (text && text->kind != TSL__JSON_STRING)
    return syntax(l, text, "\"lark_grammar\" is a string");
  if (schema && schema->kind != TSL__JSON_OBJECT)
    return syntax(l, schema, "\"json_schema\" is an object");
  if (name && name->kind != TSL__JSON_STRING) return syntax(l, name, "\"name\" is a string");
  if (item->length != (name ? 2u : 1u))
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, 0, item->offset,
                          "a grammar of the list has no members but \"name\", \"lark_grammar\" and "
                          "\"json_schema\"");
  if (name && tsl__lark_grammar(l, name->text, name->length) != TSL__LARK_NOWHERE)
    return syntax(l, name, "a grammar of that name is there already");
  m.text = text ? text->text : l->modules.at[0].text;
  m.length = text ? text->length : schema->end;
  m.schema = schema != NULL;
  if (schema) m.import_at = schema->offset;
  if (name) m.label = (tsl__string){name->text, name->length};
  if (l->modules.n > TSL__LARK_MODULES_MAX)
    return tsl__lark_fail(l, TSL_ERR_LIMIT, 0, of->offset, "too many grammars (limit %u)",
                          TSL__LARK_MODULES_MAX);
  return tsl__vec_push(&l->alloc, &l->modules, m) || tsl__lark_no_memory(l);
}

/* All items are modules before the first is parsed: a grammar may name a later one. */
bool tsl__lark_grammars(tsl__lark *l) {
  tsl__json *root = NULL;
  tsl_error error = {0};
  const char *text = l->modules.at[0].text;
  const tsl__until until = tsl__exprs_until(l->x);
  tsl_status status = tsl__json_parse(&l->arena, &until, text, l->modules.at[0].length,
                                      tsl__json_depth(l->max_depth), &root, &error);
  if (status) return tsl__lark_fail(l, status, 0, error.offset, "%s", error.message);
  const tsl__json *list = tsl__json_member(root, "grammars");
  if (!list || list->kind != TSL__JSON_ARRAY || !list->length)
    return syntax(l, root, "a list of grammars is {\"grammars\": [ ... ]}, and not empty");
  if (root->length != 1)
    return tsl__lark_fail(l, TSL_ERR_UNSUPPORTED, 0, root->offset,
                          "a list of grammars has no members but \"grammars\"");
  l->top = 1;
  for (uint32_t i = 0; i < list->length; i++)
    if (!add(l, &list->items[i])) return false;
  for (uint32_t i = 1; i <= list->length; i++)
    if (!l->modules.at[i].schema && !tsl__lark_parse(l, i)) return false;
  return true;
}
