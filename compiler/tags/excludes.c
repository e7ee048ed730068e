/* excludes.c - strings of a JSON Schema without certain texts. See tags.h.
 *
 * Problem   A format of a JSON Schema may list texts that no string in it holds, at any depth,
 *           names of members included. Such texts are, for example, the markup around the JSON, for
 *           readers that search for that markup.
 * Idea      JSON Schema can say that itself: a subschema that holds for a value and, by a reference
 *           to itself, for all in it. It is added to the schema's text, as the only branch of a
 *           keyword that the schema does not use: allOf, anyOf or oneOf.
 * Example   {"type": "string"} without "<|open|>" becomes
 *             {"type": "string", "allOf": [{"$ref": "#/tsl:excludes"}], "tsl:excludes":
 *               {"not": {"type": "string", "pattern": "<\|open\|>"},
 *                "items": {"$ref": "#/tsl:excludes"},
 *                "additionalProperties": {"$ref": "#/tsl:excludes"},
 *                "propertyNames": {"not": {"pattern": "<\|open\|>"}}}}
 *           The added subschema has no "properties", so every member of an object is an additional
 *           one of it. The reference goes round once for each level of the value.
 * Limits    The texts are looked for in the decoded string, so an escaped spelling does not hide
 *           them. A schema with a reference at its root is refused: before draft 2019-09 nothing
 *           counts beside it.
 * Cost      A copy of the schema's text, read once more.
 * Tested by tests/tags/test_gaps.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json/measured.h"
#include "compiler/tags/tags.h"

#define WORD "tsl:excludes"
#define REF "{\"$ref\":\"#/" WORD "\"}"

/* One of the texts, as a pattern within a JSON string. */
static void put_pattern(tsl__measured *o, const tsl__tag *n) {
  static const char hex[] = "0123456789abcdef";
  tsl__measured_word(o, "\"");
  for (uint32_t i = 0; i < n->exclude_count; i++) {
    if (i) tsl__measured_word(o, "|");
    for (uint32_t k = 0; k < n->excludes[i].length; k++) {
      uint8_t c = (uint8_t)n->excludes[i].at[k];
      bool plain = c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
      if (plain)
        tsl__measured_put(o, (const char *)&c, 1);
      else
        tsl__measured_put(o, (char[]){'\\', '\\', 'x', hex[c >> 4], hex[c & 15]}, 5);
    }
  }
  tsl__measured_word(o, "\"");
}

/* The schema's members, then what is added. */
static void put_schema(tsl__measured *o, const tsl__tag *n, tsl__string members,
                       const char *keyword) {
  tsl__measured_word(o, "{");
  tsl__measured_put(o, members.at, members.length);
  if (members.length) tsl__measured_word(o, ",");
  tsl__measured_word(o, "\"");
  tsl__measured_word(o, keyword);
  tsl__measured_word(o, "\":[" REF "],\"" WORD "\":{\"not\":{\"type\":\"string\",\"pattern\":");
  put_pattern(o, n);
  tsl__measured_word(o, "},\"items\":" REF ",\"additionalProperties\":" REF
                        ",\"propertyNames\":{\"not\":{\"pattern\":");
  put_pattern(o, n);
  tsl__measured_word(o, "}}}}");
}

/* What stands between the braces of the schema's text. */
static bool members_of(tsl__tags *t, const tsl__tag *n, tsl__string *out) {
  const tsl__json *s = n->schema;
  const char *text = n->source.at ? n->source.at : t->text ? t->text + s->offset : NULL;
  uint32_t length = n->source.at ? n->source.length : s->end - s->offset;
  if (s->kind == TSL__JSON_TRUE || (s->kind == TSL__JSON_OBJECT && !s->length)) return true;
  if (s->kind != TSL__JSON_OBJECT || !text || length < 2)
    return tsl__tags_fail(t, TSL_ERR_UNSUPPORTED, n->at,
                          "\"excludes\" goes with a schema that is an object or true");
  *out = (tsl__string){text + 1, length - 2};
  return true;
}

bool tsl__tags_exclude(tsl__tags *t, tsl__tag *n) {
  static const char *const keywords[] = {"allOf", "anyOf", "oneOf"};
  tsl__string members = {"", 0};
  tsl__measured out = {NULL, 0};
  size_t k = 0;
  if (!n->exclude_count) return true;
  if (!members_of(t, n, &members)) return false;
  bool object = n->schema->kind == TSL__JSON_OBJECT;
  while (object && k < 3 && tsl__json_member(n->schema, keywords[k])) k++;
  if (k == 3 ||
      (object && (tsl__json_member(n->schema, "$ref") || tsl__json_member(n->schema, WORD))))
    return tsl__tags_fail(t, TSL_ERR_UNSUPPORTED, n->schema,
                          "\"excludes\" does not go with %s at the root of the schema",
                          k == 3 ? "allOf, anyOf and oneOf all three" : "$ref");
  put_schema(&out, n, members, keywords[k]);
  char *text = tsl__tags_alloc(t, out.n + 1);
  if (!text) return false;
  out = (tsl__measured){text, 0};
  put_schema(&out, n, members, keywords[k]);
  tsl_error inner = {0};
  tsl__json *schema;
  if (tsl__json_parse(&t->arena, &t->until, text, out.n, UINT32_MAX, &schema, &inner) != TSL_OK)
    return tsl__tags_fail(t, inner.status, n->at, "%s", inner.message);
  n->schema = schema;
  n->source = (tsl__string){text, (uint32_t)out.n};
  n->detached = true;
  return true;
}
