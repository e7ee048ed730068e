/* doubts.c - what a schema hardly means as it says, although it compiles.
 *
 * Problem   JSON Schema ignores what it does not know. Some pass a request, a list of tools or
 *           a document instead of a schema. They get a grammar of any JSON, and do not see why.
 * Idea      Look at what a schema has instead of keywords. A value with `type`, `properties` and
 *           the like looks like a schema. If the root has no keyword, the first such value in it is
 *           named. If all members are such values, they are properties without "properties".
 * Example   {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type":
 *           "object"}}}} -> at /response_format: "it allows anything, as no keyword stands here:
 *           the schema seems to be at /response_format/json_schema/schema".
 * Cost      Linear in the text for a root without keywords, else a look at a few members. It is
 *           paid when somebody asks for the report, never by a compile.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/report/doubts.h"

#include <stdio.h>

#include "compiler/schema/report/words.h"

#define DEPTH_MAX 12u   /* how deep in the root a schema is sought */
#define MEMBERS_MAX 64u /* of a map that is looked at for each reference to it */
#define NOTHING "it allows anything, as no keyword stands here: "

static int shown(const char *name, uint32_t length) {
  return tsl__shown(name, length, TSL__NAME_SHOWN);
}

/* Does a keyword have a value of this kind? */
static bool has(const tsl__json *v, const char *key, unsigned kind) {
  const tsl__json *m = tsl__json_member(v, key);
  return m && m->kind == kind;
}

/* ---- a root without keywords ----------------------------------------------------------------- */

static bool names_type(const tsl__json *v) {
  static const char *const types[] = {"object",  "array", "string",  "number",
                                      "integer", "null",  "boolean", NULL};
  return tsl__string_in(tsl__json_text(v), types);
}

/* Is it a schema, as far as its members say? */
static bool looks_like_schema(const tsl__json *v) {
  if (v->kind != TSL__JSON_OBJECT) return false;
  const tsl__json *type = tsl__json_member(v, "type");
  const bool list = type && type->kind == TSL__JSON_ARRAY && type->length;
  return names_type(list ? &type->items[0] : type) || has(v, "properties", TSL__JSON_OBJECT) ||
         has(v, "$ref", TSL__JSON_STRING) || has(v, "anyOf", TSL__JSON_ARRAY) ||
         has(v, "oneOf", TSL__JSON_ARRAY) || has(v, "allOf", TSL__JSON_ARRAY) ||
         has(v, "enum", TSL__JSON_ARRAY) || has(v, "items", TSL__JSON_OBJECT);
}

/* Is the member a note, which a schema may have without asserting anything? */
static bool is_note(const tsl__json *m) {
  static const char *const words[] = {"title",
                                      "description",
                                      "default",
                                      "examples",
                                      "example",
                                      "deprecated",
                                      "readOnly",
                                      "writeOnly",
                                      "$comment",
                                      "$schema",
                                      "$id",
                                      "id",
                                      "$anchor",
                                      "$vocabulary",
                                      "xml",
                                      "externalDocs",
                                      "discriminator",
                                      "comment",
                                      "markdownDescription",
                                      "$dynamicAnchor",
                                      "$recursiveAnchor",
                                      NULL};
  return m->key && (tsl__string_in(tsl__json_key(m), words) ||
                    (m->key_length > 2 && (!memcmp(m->key, "x-", 2) || !memcmp(m->key, "//", 2))));
}

/* The first value in v that looks like a schema. Recursion is bounded by `depth`. */
static const tsl__json *schema_in(const tsl__json *v, unsigned depth) {
  const bool holds = v->kind == TSL__JSON_OBJECT || v->kind == TSL__JSON_ARRAY;
  const tsl__json *found = looks_like_schema(v) ? v : NULL;
  for (uint32_t i = 0; holds && depth && !found && i < v->length; i++)
    if (!is_note(&v->items[i])) found = schema_in(&v->items[i], depth - 1);
  return found;
}

/* What the members of a root without keywords are. */
struct members {
  const tsl__json *first, *holder, *inner; /* the first word; the first with a schema; that */
  const tsl__json *definitions;
  uint32_t words, schemas; /* words, and those that are schemas themselves */
  bool misspelled;
};

/* False: some member is a keyword. */
static bool look_at_members(const tsl__json *root, struct members *out) {
  static const char *const folders[] = {"$defs", "definitions", NULL};
  for (uint32_t i = 0; i < root->length; i++) {
    const tsl__json *m = &root->items[i], *inner;
    if (m->offset == root->offset) continue; /* made up: a tool's "type" */
    if (tsl__schema_keyword(m->key, m->key_length) != KW_COUNT) return false;
    out->misspelled |= tsl__schema_meant(m->key, m->key_length) != NULL;
    if (tsl__string_in(tsl__json_key(m), folders)) out->definitions = m;
    if (is_note(m) || out->definitions == m) continue;
    if (!out->words++) out->first = m;
    if (!(inner = schema_in(m, DEPTH_MAX))) continue;
    out->schemas += inner == m;
    if (!out->holder) out->holder = m, out->inner = inner;
  }
  return true;
}

/* A schema of definitions alone. */
static void say_unused(const tsl__json *definitions, char *out) {
  const tsl__json *first = &definitions->items[0];
  snprintf(out, TSL__DOUBT_MAX,
           "any JSON is allowed, as nothing refers to \"%.*s\": is {\"$ref\": \"#/%.*s/%.*s\"} "
           "meant beside it?",
           (int)definitions->key_length, definitions->key, (int)definitions->key_length,
           definitions->key, shown(first->key, first->key_length), first->key);
}

static void say_holder(const struct schema *s, const struct members *m, char *out) {
  const tsl__json *holder = m->holder;
  const int n = shown(holder->key, holder->key_length);
  char pointer[TSL__DOUBT_MAX / 2];
  const size_t length = tsl__json_pointer(s->root, m->inner, pointer, sizeof pointer);
  if (m->inner == holder && tsl__schema_is_wrapper(holder))
    snprintf(out, TSL__DOUBT_MAX, "no keyword: the schema itself is what \"%.*s\" holds", n,
             holder->key);
  else if (m->schemas == m->words && m->words > 1)
    snprintf(out, TSL__DOUBT_MAX,
             NOTHING "these look like properties, which belong under \"properties\"");
  else if (m->schemas == m->words)
    snprintf(out, TSL__DOUBT_MAX,
             NOTHING "is the schema what \"%.*s\" holds, or does it belong under \"properties\"?",
             n, holder->key);
  else
    snprintf(out, TSL__DOUBT_MAX, NOTHING "the schema seems to be at %s",
             length < sizeof pointer ? pointer : "a place far inside");
}

const tsl__json *tsl__schema_doubt_root(const struct schema *s, char *out) {
  struct members m = {0};
  if (s->root->kind != TSL__JSON_OBJECT || !look_at_members(s->root, &m)) return NULL;
  if (!m.words && m.definitions && m.definitions->kind == TSL__JSON_OBJECT &&
      m.definitions->length) {
    say_unused(m.definitions, out);
    return m.definitions;
  }
  /* a word that is nearly a keyword has a warning of its own */
  if (m.holder && !tsl__schema_meant(m.holder->key, m.holder->key_length)) {
    say_holder(s, &m, out);
    return m.holder;
  }
  if (!m.words || m.misspelled) return NULL;
  snprintf(out, TSL__DOUBT_MAX, NOTHING "a schema has \"type\", \"properties\" or the like");
  return m.first;
}

/* ---- maps of schemas ------------------------------------------------------------------------- */

/* A boolean may be the schema of a property. Under these names it is the value of a keyword. */
bool tsl__schema_doubt_properties(const tsl__json *properties, char *out) {
  for (uint32_t i = 0; properties->kind == TSL__JSON_OBJECT && i < properties->length; i++) {
    const tsl__json *m = &properties->items[i];
    const enum keyword k = tsl__schema_keyword(m->key, m->key_length);
    if (k == KW_COUNT || (m->kind != TSL__JSON_FALSE && m->kind != TSL__JSON_TRUE)) continue;
    const uint8_t shape = tsl__keyword_rows[k].shape;
    if (shape != SHAPE_BOOLEAN && shape != SHAPE_EXCLUSIVE && shape != SHAPE_NULLABLE &&
        shape != SHAPE_REQUIRED && k != KW_ADDITIONAL_PROPERTIES && k != KW_ADDITIONAL_ITEMS &&
        k != KW_UNEVALUATED_PROPERTIES && k != KW_UNEVALUATED_ITEMS)
      continue;
    snprintf(out, TSL__DOUBT_MAX,
             "\"%s\" is a property here: as a keyword it belongs beside \"properties\"",
             tsl__keyword_rows[k].text);
    return true;
  }
  return false;
}

bool tsl__schema_doubt_reference(const struct schema *s, const struct node *n, char *out) {
  static const char *const maps[] = {
      "properties", "$defs", "definitions", "patternProperties", "dependentSchemas", NULL};
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_REF);
  const struct node *target = v ? tsl__node_of(s, v->children[0]) : NULL;
  const tsl__json *map = target && target->at && !target->mask ? target->at : NULL;
  if (!map || map->kind != TSL__JSON_OBJECT || !map->length || v->value->kind != TSL__JSON_STRING ||
      !map->key || !tsl__string_in(tsl__json_key(map), maps))
    return false;
  for (uint32_t i = 0; i < map->length && i < MEMBERS_MAX; i++)
    if (!looks_like_schema(&map->items[i]) ||
        tsl__schema_keyword(map->items[i].key, map->items[i].key_length) != KW_COUNT)
      return false;
  snprintf(out, TSL__DOUBT_MAX,
           "leads to a map of schemas, which allows any JSON: is \"%.*s/%.*s\" meant?",
           shown(v->value->text, v->value->length), v->value->text,
           shown(map->items[0].key, map->items[0].key_length), map->items[0].key);
  return true;
}

/* Is it the value of a member of `properties` that has the name of a keyword? */
static bool is_keyword_inside(const struct schema *s, const tsl__json *at) {
  static const char parent[] = "/properties/";
  char pointer[TSL__DOUBT_MAX / 2];
  const size_t n = tsl__json_pointer(s->root, at, pointer, sizeof pointer),
               m = sizeof parent - 1 + at->key_length;
  return at->key && n < sizeof pointer && n >= m &&
         !memcmp(pointer + n - m, parent, sizeof parent - 1) &&
         tsl__schema_keyword(at->key, at->key_length) != KW_COUNT;
}

void tsl__schema_fail_no_schema(struct schema *s, const tsl__json *at) {
  char hint[TSL__DOUBT_MAX / 2] = "", pointer[TSL__DOUBT_MAX / 4];
  const tsl__json *inner = schema_in(at, DEPTH_MAX);
  if (is_keyword_inside(s, at))
    snprintf(hint, sizeof hint, ": as a keyword \"%.*s\" belongs beside \"properties\"",
             (int)at->key_length, at->key);
  else if (names_type(at))
    snprintf(hint, sizeof hint, ": is {\"type\": \"%.*s\"} meant?", (int)at->length, at->text);
  else if (at->kind == TSL__JSON_STRING && at->length && *at->text == '{')
    snprintf(hint, sizeof hint, ": this is a string that holds JSON, not the JSON itself");
  else if (at->kind == TSL__JSON_NULL || tsl__schema_unquoted(s, at))
    tsl__schema_meant_value(s, at, false, hint);
  else if (inner && tsl__json_pointer(s->root, inner, pointer, sizeof pointer) < sizeof pointer)
    snprintf(hint, sizeof hint, ": the schema seems to be at %s", pointer);
  tsl__schema_fail(s, TSL_ERR_SCHEMA, at, "a schema must be an object or a boolean%s", hint);
}

/* ---- metaschemas ----------------------------------------------------------------------------- */

/* Is it a metaschema of one's own that the resolver did not have? */
static bool is_missing(const struct schema *s, const tsl__json *name) {
  const char *hash = memchr(name->text, '#', name->length);
  const size_t n = hash ? (size_t)(hash - name->text) : name->length;
  for (size_t i = 0; i < s->dialects.n; i++)
    if (strlen(s->dialects.at[i].uri) == n && !memcmp(s->dialects.at[i].uri, name->text, n))
      return !s->dialects.at[i].known;
  return false;
}

/* The draft that a text has a part of: the year, or the digit of an old one. */
static const char *nearest_draft(const tsl__json *name) {
  static const struct {
    const char *part, *uri;
  } drafts[] = {
      {"2020", "https://json-schema.org/draft/2020-12/schema"},
      {"2019", "https://json-schema.org/draft/2019-09/schema"},
      {"7", "http://json-schema.org/draft-07/schema#"},
      {"6", "http://json-schema.org/draft-06/schema#"},
      {"5", "http://json-schema.org/draft-04/schema#"},
      {"4", "http://json-schema.org/draft-04/schema#"},
      {"3", "http://json-schema.org/draft-03/schema#"},
  };
  const bool draft =
      tsl__schema_contains(name, "draft") || tsl__schema_contains(name, "json-schema.org");
  for (size_t i = 0; draft && i < sizeof drafts / sizeof *drafts; i++)
    if (tsl__schema_contains(name, drafts[i].part)) return drafts[i].uri;
  return drafts[0].uri;
}

static bool is_known(const tsl__json *name) {
  return tsl__schema_draft_named(name) || tsl__schema_contains(name, "json-schema.org/schema");
}

/* Does a resource begin here? */
static bool is_resource(const struct schema *s, const tsl__json *at) {
  bool root = at == s->root;
  for (size_t i = 0; i < s->resources.n && !root; i++) root = s->resources.at[i].root == at;
  return root;
}

bool tsl__schema_doubt_metaschema(const struct schema *s, const tsl__json *at,
                                  const tsl__json *name, char *out) {
  if (name->kind != TSL__JSON_STRING || name->key_length != 7 ||
      memcmp(name->key, "$schema", 7) != 0 ||
      (tsl__schema_contains(name, "json-schema.org") ? is_known(name) : !is_missing(s, name)) ||
      !is_resource(s, at))
    return false;
  snprintf(out, TSL__DOUBT_MAX,
           "no metaschema of this name is known, so it chooses no draft: is \"%s\" meant?",
           nearest_draft(name));
  return true;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* What stands behind the last slash of /pattern/flags; UINT32_MAX: it is no such text. A path such
 * as /users/ is none. */
static uint32_t flags_of(const tsl__json *p) {
  uint32_t n = p->length, flags = 0;
  while (flags < n && flags < 8 && strchr("dgimsuvxy", p->text[n - 1 - flags])) flags++;
  uint32_t last = n - flags;
  if (n < 3 || last < 3 || p->text[0] != '/' || p->text[last - 1] != '/') return UINT32_MAX;
  bool anchored = p->text[1] == '^' || p->text[last - 2] == '$';
  return anchored || (flags && flags <= 3) ? flags : UINT32_MAX;
}

/* Python's anchors, which are the letters A and Z in ECMA-262; 0: there is none. */
static char python_anchor(const tsl__json *p) {
  if (p->length >= 2 && !memcmp(p->text, "\\A", 2)) return 'A';
  if (p->length < 2 || p->text[p->length - 2] != '\\') return 0;
  char c = p->text[p->length - 1];
  bool escaped = p->length > 2 && p->text[p->length - 3] == '\\';
  return !escaped && (c == 'Z' || c == 'z') ? c : 0;
}

bool tsl__schema_doubt_pattern(const tsl__json *pattern, char out[TSL__DOUBT_MAX]) {
  if (pattern->kind != TSL__JSON_STRING) return false;
  uint32_t flags = flags_of(pattern);
  char anchor = python_anchor(pattern);
  if (flags == UINT32_MAX && !anchor) return false;
  if (flags == UINT32_MAX)
    snprintf(out, TSL__DOUBT_MAX, "\\%c stands for the letter %c in ECMA-262: write %c", anchor,
             anchor, anchor == 'A' ? '^' : '$');
  else if (flags)
    snprintf(out, TSL__DOUBT_MAX,
             "the slashes and flags are read as text: write the pattern without them (for the flag "
             "i write (?i:...), or both letters, as [Aa])");
  else
    snprintf(out, TSL__DOUBT_MAX, "the slashes are read as text: write the pattern without them");
  return true;
}

bool tsl__schema_doubt_patterns(const tsl__json *map, char out[TSL__DOUBT_MAX]) {
  for (uint32_t i = 0; map->kind == TSL__JSON_OBJECT && i < map->length; i++) {
    const tsl__json pattern = {
        .kind = TSL__JSON_STRING, .text = map->items[i].key, .length = map->items[i].key_length};
    if (tsl__schema_doubt_pattern(&pattern, out)) return true;
  }
  return false;
}
