/* schemas.c - where the schema of a tool or of a response format stands. See tools.h.
 *
 * Problem   Servers read a schema under different names: "parameters", "input_schema", "schema",
 *           "json_schema". A request that has two of them means one thing to one server, and
 *           another thing to another server. If one were passed over, it would not hold.
 * Idea      All names are looked at. The first schema counts. Another one that is equal may stand
 *           beside it. One that differs is an error. So is a schema under a name that nobody reads.
 * Example   {"type": "json_object", "schema": A, "response_schema": B}: the schema is A, and what
 *           is wrong is "response_schema".
 * Cost      Linear in the members; that of comparing two schemas.
 * Tested by tests/tools/test_requests.c, tests/grammar/test_request.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "compiler/tools/tools.h"

tsl__json *tsl__tools_present(const tsl__json *o, const char *key) {
  tsl__json *v = tsl__json_member(o, key);
  return v && v->kind != TSL__JSON_NULL ? v : NULL;
}

/* Names with what looks like a schema each? So some write a tool's parameters: Cohere's
 * "parameter_definitions", the "inputs" of smolagents. */
static bool are_properties(const tsl__json *o) {
  bool all = o->kind == TSL__JSON_OBJECT && o->length;
  for (uint32_t i = 0; all && i < o->length; i++)
    all = o->items[i].kind == TSL__JSON_OBJECT && tsl__tools_present(&o->items[i], "type");
  return all;
}

/* Does it read like a schema? */
static bool is_schema(const tsl__json *o) {
  static const char *const words[] = {"properties", "$ref", "allOf", "anyOf", "oneOf"};
  bool found = tsl__json_says(tsl__tools_present(o, "type"), "object") || are_properties(o);
  for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++)
    found = tsl__json_member(o, words[i]) != NULL;
  return found;
}

/* The first member that looks like a schema, has none of these names, and is not equal to `as`. */
static const tsl__json *other_schema(const tsl__json *o, const char *const *names,
                                     const tsl__json *as) {
  for (uint32_t i = 0; o && o->kind == TSL__JSON_OBJECT && i < o->length; i++) {
    const tsl__json *m = &o->items[i];
    if (!tsl__string_in(tsl__json_key(m), names) && is_schema(m) && !(as && tsl__json_equal(m, as)))
      return m;
  }
  return NULL;
}

/* ---- tools ----------------------------------------------------------------------------------- */

static const char *const tool_schemas[] = {"parameters", "input_schema", "inputSchema", NULL};

const tsl__json *tsl__tool_schema(const tsl__json *inner, const tsl__json *outer,
                                  const tsl__json **other) {
  static const char *const others[] = {
      "function", "custom",      "format", "outputSchema", "output_schema", "response",    "return",
      "returns",  "annotations", "_meta",  "parameters",   "input_schema",  "inputSchema", NULL};
  const tsl__json *found = NULL, *m;
  *other = NULL;
  for (size_t i = 0; tool_schemas[i] && !*other; i++) {
    if (!(m = tsl__tools_present(inner, tool_schemas[i]))) continue;
    if (!found) found = m;
    if (!tsl__json_equal(found, m)) *other = m;
  }
  for (size_t i = 0; tool_schemas[i] && !*other && inner != outer; i++)
    if ((m = tsl__tools_present(outer, tool_schemas[i])) && !(found && tsl__json_equal(found, m)) &&
        (found || is_schema(m)))
      *other = m;
  if (!*other) *other = other_schema(inner, others, found);
  if (!*other && inner != outer) *other = other_schema(outer, others, found);
  return found;
}

/* ---- response formats ------------------------------------------------------------------------ */

const tsl__json *tsl__format_schema(const tsl__json *format, const tsl__json **other) {
  static const char *const read[] = {"schema", "json_schema", "format", NULL};
  const tsl__json *type = tsl__tools_present(format, "type"),
                  *named = tsl__tools_present(format, "json_schema"),
                  *found = tsl__tools_present(format, "schema"),
                  *inner = tsl__tools_present(named, "schema");
  /* json_object: the schema itself may have that name */
  const tsl__json *second = inner || !tsl__json_says(type, "json_object") ? inner : named;
  *other = NULL;
  if (!found)
    found = second;
  else if (second && !tsl__json_equal(found, second))
    *other = second;
  if (!*other) *other = other_schema(format, read, found);
  if (!*other && (inner || second != named)) *other = other_schema(named, read, found);
  if (!*other && tsl__json_says(type, "text")) *other = found;
  return found;
}
