/* profile.c - what a provider's documented limits say about a schema.
 *
 * Problem   A provider takes a part of JSON Schema and refuses the rest when a request arrives.
 *           Whoever writes a schema wants to know that before.
 * Ref       openai-strict: the limits of OpenAI's Structured Outputs, from its guide's section on
 *           supported schemas as of 2026:
 *           https://platform.openai.com/docs/guides/structured-outputs. The guide does not say how
 *           levels are counted. Here each object inside an object is one, through arrays and anyOf,
 *           and references are not followed.
 * Idea      One walk over the schema as written, without compiling it: findings at once, totals at
 *           the end.
 * Example   {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}} has three
 *           findings. There is no additionalProperties at the root. /properties/a is not in
 *           `required`. And minLength is not among the documented keywords, which breaks nothing.
 * Cost      Linear, but for the names of `required`, which are sorted. Recursion is as deep as the
 *           text, which is bounded.
 * Tested by tests/schema/test_profile.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/json/json.h"
#include "compiler/schema/report/words.h"
#include "turnstile.h"

#define DEPTH_MAX 512u
enum {
  PROPERTIES_MAX = 5000,
  LEVELS_MAX = 10,
  CHARACTERS_MAX = 120000,
  VALUES_MAX = 1000,
  LONG_ENUM = 250,
  LONG_ENUM_CHARACTERS = 15000
};

typedef struct profile {
  tsl__json *root;
  tsl_profile_sink sink;
  void *ctx;
  tsl__arena arena;
  uint64_t properties, values, characters;
  bool failed;
} profile;

/* Is it one of the words of `list`, which blanks part? */
static bool in_list(const char *list, const char *at, uint32_t length) {
  for (const char *p = list; *p; p += strspn(p, " ")) {
    size_t n = strcspn(p, " ");
    if (n == length && !memcmp(p, at, n)) return true;
    p += n;
  }
  return false;
}

/* A finding, with the pointer of its place and the keyword there. `breaks`: the provider would
 * refuse the schema for it. */
static void report(profile *p, const tsl__json *at, uint32_t key_length, bool breaks,
                   const char *message) {
  size_t n = tsl__json_pointer(p->root, at, NULL, 0);
  char *pointer = tsl__arena_alloc(&p->arena, n + 1),
       *keyword = tsl__arena_alloc(&p->arena, key_length + 1u);
  if (!pointer || !keyword) {
    p->failed = true;
    return;
  }
  tsl__json_pointer(p->root, at, pointer, n + 1);
  if (key_length) memcpy(keyword, at->key, key_length);
  keyword[key_length] = 0;
  p->sink(p->ctx, &(tsl_profile_finding){pointer, keyword, message, breaks});
}

/* About a keyword, or about a subschema. */
static void find(profile *p, const tsl__json *keyword, bool breaks, const char *message) {
  report(p, keyword, keyword->key_length, breaks, message);
}
static void find_in(profile *p, const tsl__json *schema, const char *message) {
  report(p, schema, 0, true, message);
}

/* Code points of a text, which limits are counted in. */
static uint32_t characters(const char *text, uint32_t length) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < length; i++) n += ((uint8_t)text[i] & 0xC0) != 0x80;
  return n;
}

static uint64_t characters_of(const tsl__json *v) {
  return v->kind == TSL__JSON_STRING ? characters(v->text, v->length) : 0;
}

/* Names by their bytes; what is no string comes first. */
static int compare_names(const void *a, const void *b) {
  const tsl__json *one = *(const tsl__json *const *)a, *other = *(const tsl__json *const *)b;
  if (one->kind != other->kind) return one->kind == TSL__JSON_STRING ? 1 : -1;
  uint32_t n = one->length < other->length ? one->length : other->length;
  int c = one->kind == TSL__JSON_STRING ? memcmp(one->text, other->text, n) : 0;
  return c ? c : (one->length > other->length) - (one->length < other->length);
}

/* The entries of `required`, sorted. NULL: there is no such list. */
static const tsl__json **sorted_names(profile *p, const tsl__json *required) {
  if (!required || required->kind != TSL__JSON_ARRAY) return NULL;
  const tsl__json **all = tsl__arena_alloc(&p->arena, (required->length + 1u) * sizeof *all);
  if (!all) return p->failed = true, NULL;
  for (uint32_t i = 0; i < required->length; i++) all[i] = &required->items[i];
  qsort(all, required->length, sizeof *all, compare_names);
  return all;
}

/* What is required must be declared. The first name that is not is a finding. */
static void check_required(profile *p, const tsl__json *properties, const tsl__json *required) {
  if (!required || required->kind != TSL__JSON_ARRAY || properties->length > PROPERTIES_MAX) return;
  for (uint32_t i = 0; i < required->length && i <= PROPERTIES_MAX; i++) {
    const tsl__json *name = &required->items[i];
    if (name->kind != TSL__JSON_STRING || tsl__json_get(properties, name->text, name->length))
      continue;
    report(p, name, 0, true, "required names what properties does not declare");
    return;
  }
}

/* An object must close itself and require all that it has. */
static void check_object(profile *p, const tsl__json *schema) {
  const tsl__json *properties = tsl__json_member(schema, "properties"),
                  *required = tsl__json_member(schema, "required"),
                  *more = tsl__json_member(schema, "additionalProperties");
  if (!more)
    find_in(p, schema, "an object must have additionalProperties: false");
  else if (more->kind != TSL__JSON_FALSE)
    find(p, more, true, "additionalProperties must be false");
  if (!properties || properties->kind != TSL__JSON_OBJECT) return;
  check_required(p, properties, required);
  const tsl__json **names = sorted_names(p, required);
  for (uint32_t i = 0; i < properties->length && !p->failed; i++) {
    const tsl__json *member = &properties->items[i],
                    name = {.kind = TSL__JSON_STRING,
                            .text = member->key,
                            .length = member->key_length},
                    *sought = &name;
    if (!names || !bsearch(&sought, names, required->length, sizeof *names, compare_names))
      find_in(p, member,
              "every property must be listed in required (optional ones are written as a union "
              "with null)");
  }
}

/* Values of all enums count together; a long one has a limit of its own besides. */
static void check_enum(profile *p, const tsl__json *list) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < list->length; i++) total += characters_of(&list->items[i]);
  p->values += list->length;
  p->characters += total;
  if (list->length > LONG_ENUM && total > LONG_ENUM_CHARACTERS)
    find(p, list, true, "an enum of more than 250 values has more than 15,000 characters");
}

static void check_schema(profile *p, const tsl__json *schema, unsigned level);

/* Each schema of a map. `names`: its keys count as characters, too. */
static void check_members(profile *p, const tsl__json *map, unsigned level, bool names) {
  for (uint32_t i = 0; map->kind == TSL__JSON_OBJECT && i < map->length; i++) {
    if (names) p->characters += characters(map->items[i].key, map->items[i].key_length);
    check_schema(p, &map->items[i], level);
  }
}

/* What one keyword breaks or adds to the totals, then the schemas in it. A keyword that the
 * guide does not name is reported otherwise than one that it refuses. */
static void check_keyword(profile *p, const tsl__json *k, unsigned level) {
  static const char refused[] = "allOf not dependentRequired dependentSchemas if then else";
  static const char known[] =
      "type properties required additionalProperties items anyOf enum const pattern format "
      "multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems "
      "$ref $defs definitions $schema $id title description $comment";
  if (in_list(refused, k->key, k->key_length))
    find(p, k, true, "this keyword is not supported");
  else if (!in_list(known, k->key, k->key_length))
    find(p, k, false, "not among the keywords that are documented as supported");
  if (in_list("properties", k->key, k->key_length) && k->kind == TSL__JSON_OBJECT)
    p->properties += k->length;
  if (in_list("properties $defs definitions patternProperties dependentSchemas", k->key,
              k->key_length))
    check_members(p, k, level,
                  !in_list("patternProperties dependentSchemas", k->key, k->key_length));
  if (in_list("enum", k->key, k->key_length) && k->kind == TSL__JSON_ARRAY) check_enum(p, k);
  if (in_list("const", k->key, k->key_length)) p->characters += characters_of(k);
  if (in_list("items additionalProperties not if then else contains propertyNames", k->key,
              k->key_length))
    check_schema(p, k, level);
  if (in_list("items anyOf oneOf allOf prefixItems", k->key, k->key_length) &&
      k->kind == TSL__JSON_ARRAY)
    for (uint32_t i = 0; i < k->length; i++) check_schema(p, &k->items[i], level);
}

/* A schema and all in it. `level`: objects that it stands in. */
static void check_schema(profile *p, const tsl__json *schema, unsigned level) {
  if (schema->kind != TSL__JSON_OBJECT || p->failed) return;
  bool object = tsl__schema_names_type(schema, "object") || tsl__json_member(schema, "properties");
  if (object && ++level == LEVELS_MAX + 1)
    find_in(p, schema, "more than 10 levels of objects inside one another");
  if (object) check_object(p, schema);
  for (uint32_t i = 0; i < schema->length; i++) check_keyword(p, &schema->items[i], level);
}

/* What concerns the root, and the totals of the whole schema. */
static void whole(profile *p) {
  const tsl__json *any = tsl__json_member(p->root, "anyOf");
  char message[128];
  if (any) find(p, any, true, "the root must not be an anyOf");
  const tsl__json *type = tsl__json_member(p->root, "type");
  if (!tsl__schema_names_type(p->root, "object"))
    find_in(p, p->root, "the root must have the type object");
  else if (type->kind == TSL__JSON_ARRAY)
    find(p, type, true,
         "the root must have the type object alone: write \"type\": \"object\", without a list");
  const struct {
    const char *what;
    uint64_t n, most;
  } totals[] = {{"properties", p->properties, PROPERTIES_MAX},
                {"enum values", p->values, VALUES_MAX},
                {"characters in names, enum and const values", p->characters, CHARACTERS_MAX}};
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
    if (totals[i].n <= totals[i].most) continue;
    snprintf(message, sizeof message, "%llu %s, more than %llu", (unsigned long long)totals[i].n,
             totals[i].what, (unsigned long long)totals[i].most);
    find_in(p, p->root, message);
  }
}

tsl_status tsl_schema_profile(const char *name, const char *schema, size_t length,
                              const tsl_allocator *allocator, tsl_profile_sink sink, void *ctx,
                              tsl_error *error) {
  profile p = {.sink = sink, .ctx = ctx};
  allocator = tsl__allocator_or_default(allocator);
  if (strcmp(name, "openai-strict") != 0)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "there is no profile \"%s\"; there is openai-strict",
                     name);
  tsl__arena_init(&p.arena, allocator);
  tsl_status status = tsl__json_parse(&p.arena, NULL, schema, length, DEPTH_MAX, &p.root, error);
  if (status == TSL_OK) {
    check_schema(&p, p.root, 0);
    whole(&p);
    if (p.failed) status = tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  }
  tsl__arena_free(&p.arena);
  return status;
}
