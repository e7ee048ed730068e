/* guidance.c - "x-guidance" of a JSON Schema within a Lark grammar. See guidance.h.
 *
 * Problem   A grammar made for llguidance says within a schema how its JSON is written. Hosts write
 *           this member: vLLM's disable_any_whitespace is whitespace_flexible false.
 * Idea      The member becomes fields of tsl_schema_options before the schema is compiled. What
 *           changes the texts and is not supported is an error.
 * Example   %json {"x-guidance": {"whitespace_flexible": false}, "type": "array"} accepts [1,2] and
 *           not [1, 2].
 * No effect coerce_one_of and lenient. They say to llguidance that a keyword may be read loosely;
 *           every keyword is exact here. Separators and a pattern of white space may have the
 *           values that they have by default.
 * Cost      A search for the word. Only a text that has it is parsed twice.
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/guidance.h"

#include <string.h>

#include "compiler/json/json.h"

static const char MEMBER[] = "x-guidance";

static bool is_named(const tsl__json *m, const char *name) {
  return tsl__string_is(tsl__json_key(m), name);
}

static bool is_default(const tsl__json *m, const char *separator) {
  if (m->kind == TSL__JSON_NULL) return true;
  return separator && tsl__json_is(m, separator, strlen(separator));
}

/* One option; false: it is not supported. */
static bool read_option(const tsl__json *m, tsl_schema_options *out) {
  bool yes = m->kind == TSL__JSON_TRUE, no = m->kind == TSL__JSON_FALSE;
  if (is_named(m, "whitespace_flexible")) {
    if (yes) out->whitespace = TSL_WS_ANY;
    if (no) out->whitespace = TSL_WS_COMPACT;
    return yes || no || m->kind == TSL__JSON_NULL;
  }
  if (is_named(m, "coerce_one_of") || is_named(m, "lenient"))
    return yes || no || m->kind == TSL__JSON_NULL;
  if (is_named(m, "item_separator")) return is_default(m, ",");
  if (is_named(m, "key_separator")) return is_default(m, ":");
  return is_named(m, "whitespace_pattern") && is_default(m, NULL);
}

static tsl_status read_member(const tsl__json *root, const char *schema, size_t length,
                              tsl_schema_options *out, tsl_error *error) {
  const tsl__json *own =
      root->kind == TSL__JSON_OBJECT ? tsl__json_get(root, MEMBER, sizeof MEMBER - 1) : NULL;
  if (!own) return TSL_OK;
  if (own->kind != TSL__JSON_OBJECT)
    return tsl__fail_at(error, TSL_ERR_UNSUPPORTED, schema, length, own->offset,
                        "\"x-guidance\" must be an object");
  for (uint32_t i = 0; i < own->length; i++) {
    const tsl__json *m = &own->items[i];
    if (!read_option(m, out))
      return tsl__fail_at(error, TSL_ERR_UNSUPPORTED, schema, length, m->offset,
                          "\"x-guidance\" has a member, or a value of one, that is not supported: "
                          "use whitespace_flexible with true or false, or leave the member out");
  }
  return TSL_OK;
}

/* Does the text hold the word? */
static bool mentions(const char *text, size_t length) {
  const size_t n = sizeof MEMBER - 1;
  while (length >= n) {
    const char *at = memchr(text, MEMBER[0], length - n + 1);
    if (!at) return false;
    if (!memcmp(at, MEMBER, n)) return true;
    length -= (size_t)(at + 1 - text);
    text = at + 1;
  }
  return false;
}

tsl_status tsl__guidance_options(const tsl_allocator *alloc, const char *schema, size_t length,
                                 const tsl_limits *limits, tsl_schema_options *out,
                                 tsl_error *error) {
  tsl__arena arena;
  tsl__json *root;
  if (!mentions(schema, length)) return TSL_OK;
  const tsl__until until = tsl__until_of(limits);
  tsl__arena_init(&arena, alloc);
  tsl_status status = tsl__json_parse(&arena, &until, schema, length,
                                      tsl__json_depth(limits ? limits->max_depth : 0), &root, NULL);
  if (status == TSL_OK)
    status = read_member(root, schema, length, out, error);
  else if (status != TSL_ERR_NO_MEMORY)
    status = TSL_OK; /* the compile says what is wrong, and where */
  else
    tsl__fail(error, status, "out of memory");
  tsl__arena_free(&arena);
  return status;
}
