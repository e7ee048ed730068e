/* lint.c - what in a schema makes models worse, or costs tokens: the walk over its subschemas.
 *
 * Problem   A schema can be right, and still lead a model astray. The answer may stand before the
 *           reasoning, or a string may have no end. People who write schemas do not see that.
 * Idea      A rule is a row of lint.def and a function that looks at one subschema. The subschemas
 *           of a text are visited in its order, with the way to each. A rule may edit the subschema
 *           at which it looks, so the mended text is the tree, written again.
 * Example   {"type": "object", "properties": {"answer": …, "reasoning": …}}: at the root the rule
 *           answer-first finds "reasoning" behind "answer", and moves it.
 * Requests  A text may be a request with tools, a tool, or a wrapper around a schema. Each schema
 *           in it is then a root of its own. Members that lead to schemas are listed in `through`
 *           and `holders`.
 * Compiler  A root is compiled once (compiled.c): does it compile, and which properties can no
 *           value satisfy? All other rules read the text alone.
 * Left out  `not` and `if` are not looked into: what stands there is not what a model writes.
 * Cost      Linear in the text, beside one compile of each root.
 * Tested by tests/schema/test_lint.c, tests/cli/test_cli_lint.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>

#include "compiler/schema/lint/lint.h"

#define DEPTH_MAX 512u
#define FINDINGS_MAX 1000u

enum { MISTAKE, QUALITY, COST, BOUNDS = 1 };

typedef struct rule_row {
  void (*look)(lint *l, lint_place *p);
  const char *name, *why;
  uint8_t severity, bounds;
} rule_row;

#define ROW(function, name, severity, bounds, why) {function, name, why, severity, bounds},
static const rule_row rows[] = {TSL__LINT_RULES(ROW)};
#undef ROW
static const char *const severities[] = {"mistake", "quality", "cost"};

/* ---- findings -------------------------------------------------------------------------------- */

int tsl__lint_shown(const char *text, uint32_t length) { return tsl__shown(text, length, 60); }

bool tsl__lint_mends(const lint *l) {
  return l->options->fix && (!rows[l->rule].bounds || l->options->bounds);
}

/* The pointer of a place, from its end to its begin, in `size` bytes; NULL: no memory. A key may
 * hold NUL, so the first NUL does not say the size. */
static char *pointer_of(lint *l, const lint_place *place, const tsl__json *keyword, size_t *size) {
  size_t n = keyword ? tsl__json_put_token(NULL, keyword->key, keyword->key_length) + 1 : 0;
  char digits[12];
  for (const lint_place *p = place; p->above; p = p->above)
    n += 1 + (p->key ? tsl__json_put_token(NULL, p->key, p->key_length)
                     : (size_t)snprintf(digits, sizeof digits, "%u", p->index));
  *size = n + 1;
  char *text = tsl__alloc(l->alloc, *size);
  if (!text) return NULL;
  char *at = text + n;
  *at = 0;
  if (keyword) {
    at -= tsl__json_put_token(NULL, keyword->key, keyword->key_length);
    tsl__json_put_token(at, keyword->key, keyword->key_length);
    *--at = '/';
  }
  for (const lint_place *p = place; p->above; p = p->above) {
    if (p->key) {
      at -= tsl__json_put_token(NULL, p->key, p->key_length);
      tsl__json_put_token(at, p->key, p->key_length);
    } else {
      size_t m = (size_t)snprintf(digits, sizeof digits, "%u", p->index);
      memcpy(at -= m, digits, m);
    }
    *--at = '/';
  }
  return text;
}

void tsl__lint_find(lint *l, const lint_place *place, const tsl__json *keyword, bool mended,
                    const char *format, ...) {
  char message[1024];
  va_list args;
  if (l->failed || ++l->found > FINDINGS_MAX) return;
  size_t size;
  char *pointer = pointer_of(l, place, keyword, &size);
  if (!pointer) {
    l->failed = true;
    return;
  }
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const rule_row *row = &rows[l->rule];
  tsl_lint_finding finding = {row->name, severities[row->severity], pointer, message, row->why,
                              mended};
  l->sink(l->ctx, &finding);
  tsl__free(l->alloc, pointer, size);
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *text_of(const lint_names *names, const tsl__json *v, uint32_t *length) {
  *length = names->keys ? v->key_length : v->length;
  return names->keys ? v->key : v->text;
}

static uint32_t slot_of(const lint_names *names, const char *text, uint32_t length) {
  uint32_t i = (uint32_t)tsl__hash(text, length) & names->mask, n;
  for (; names->slots[i]; i = (i + 1) & names->mask) {
    const char *other = text_of(names, names->slots[i], &n);
    if (n == length && !memcmp(other, text, n)) break;
  }
  return i;
}

bool tsl__lint_names_of(lint *l, const tsl__json *list, lint_names *out) {
  uint32_t size = 4, count = list && list->kind >= TSL__JSON_ARRAY ? list->length : 0, n;
  while (size < 2 * count) size *= 2;
  out->keys = count && list->kind == TSL__JSON_OBJECT;
  out->mask = size - 1;
  out->slots = tsl__arena_alloc(&l->arena, size * sizeof *out->slots);
  if (!out->slots) {
    l->failed = true;
    return false;
  }
  memset(out->slots, 0, size * sizeof *out->slots);
  for (uint32_t i = 0; i < count; i++) {
    if (!out->keys && list->items[i].kind != TSL__JSON_STRING) continue;
    const char *text = text_of(out, &list->items[i], &n);
    const tsl__json **slot = &out->slots[slot_of(out, text, n)];
    if (!*slot) *slot = &list->items[i];
  }
  return true;
}

const tsl__json *tsl__lint_find_name(const lint_names *names, const char *text, uint32_t length) {
  return names->slots[slot_of(names, text, length)];
}

/* ---- what rules ask of a subschema ----------------------------------------------------------- */

bool tsl__lint_in_place(const tsl__json *schema) {
  static const char *const words[] = {"$ref", "allOf", "anyOf",       "oneOf",  "not",
                                      "if",   "then",  "$dynamicRef", "extends"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tsl__json_member(schema, words[i])) return true;
  return false;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The place of a child of the value at `above`; NULL, and l->failed, when out of memory. */
static lint_place *place_in(lint *l, const lint_place *above, tsl__json *at, uint32_t index) {
  lint_place *p = tsl__arena_alloc(&l->arena, sizeof *p);
  if (!p) {
    l->failed = true;
    return NULL;
  }
  *p = (lint_place){.above = above,
                    .at = at,
                    .key = above->at->kind == TSL__JSON_OBJECT ? at->key : NULL,
                    .key_length = at->key_length,
                    .index = index,
                    .via = KW_COUNT};
  return p;
}

static void push(lint *l, lint_place *p) {
  if (p && !tsl__vec_push(l->alloc, &l->places, p)) l->failed = true;
}

/* Is the child a subschema that a model's text may have to satisfy? */
static bool is_branch(enum keyword k) {
  return k == KW_ALL_OF || k == KW_ANY_OF || k == KW_ONE_OF || k == KW_THEN || k == KW_ELSE ||
         k == KW_DEPENDENT_SCHEMAS || k == KW_DEPENDENCIES || k == KW_EXTENDS;
}

static lint_role role_of(enum keyword k) {
  if (k == KW_COUNT) return LINT_DEFINITION;
  if (k == KW_PROPERTIES || k == KW_PATTERN_PROPERTIES) return LINT_PROPERTY;
  return is_branch(k) ? LINT_BRANCH : LINT_ITEM;
}

/* The subschemas of one keyword, the last first; `above` is the keyword's own place. */
static void push_children(lint *l, lint_place *above, enum keyword k, const lint_names *required) {
  tsl__json *value = above->at;
  uint8_t shape = k == KW_COUNT ? SHAPE_MAP : tsl__keyword_rows[k].shape;
  bool list = value->kind == TSL__JSON_ARRAY &&
              (shape == SHAPE_LIST || shape == SHAPE_ITEMS || shape == SHAPE_EXTENDS);
  bool map = value->kind == TSL__JSON_OBJECT &&
             (shape == SHAPE_MAP || shape == SHAPE_PATTERNS || shape == SHAPE_DEPENDENCIES);
  bool one = value->kind == TSL__JSON_OBJECT &&
             (shape == SHAPE_SCHEMA || shape == SHAPE_ITEMS || shape == SHAPE_EXTENDS);
  if (one) {
    above->role = role_of(k);
    above->via = k;
    push(l, above);
  }
  for (uint32_t i = list || map ? value->length : 0; i-- && !l->failed;) {
    if (value->items[i].kind != TSL__JSON_OBJECT) continue;
    lint_place *p = place_in(l, above, &value->items[i], i);
    if (!p) return;
    p->role = role_of(k);
    p->via = k;
    p->required =
        k == KW_PROPERTIES && required->slots && tsl__lint_named(required, p->key, p->key_length);
    push(l, p);
  }
}

static void push_subschemas(lint *l, lint_place *p) {
  lint_names required = {0};
  tsl__json *names = tsl__json_member(p->at, "required");
  if (names && !tsl__lint_names_of(l, names, &required)) return;
  for (uint32_t i = p->at->length; i-- && !l->failed;) {
    tsl__json *m = &p->at->items[i];
    enum keyword k = tsl__schema_keyword(m->key, m->key_length);
    bool definitions = (m->key_length == 5 && !memcmp(m->key, "$defs", 5)) ||
                       (m->key_length == 11 && !memcmp(m->key, "definitions", 11));
    if (m->kind < TSL__JSON_ARRAY || k == KW_NOT || k == KW_IF || k == KW_DISALLOW) continue;
    if (k == KW_COUNT && !definitions) continue;
    lint_place *above = place_in(l, p, m, 0);
    if (above) push_children(l, above, k, &required);
  }
}

static void look_at(lint *l, lint_place *p) {
  for (l->rule = 0; l->rule < LINT_RULES && !l->failed; l->rule++)
    if (rows[l->rule].look && l->enabled >> l->rule & 1) rows[l->rule].look(l, p);
}

static void look_at_schema(lint *l, lint_place *base, const char *text, size_t length) {
  l->base = base->at;
  l->never_count = 0;
  tsl__lint_compile(l, base, text, length);
  push(l, base);
  while (l->places.n && !l->failed) {
    lint_place *p = l->places.at[--l->places.n];
    look_at(l, p);
    if (!l->failed) push_subschemas(l, p);
  }
}

/* ---- requests, tools and wrappers ------------------------------------------------------------ */

#define WAY_MAX 8u /* members from a request to a schema in it */

static bool in_words(const char *const *words, const tsl__json *member) {
  return tsl__string_in(tsl__json_key(member), words);
}

static bool is_schema(const tsl__json *v) {
  static const char *const parts[] = {"properties", "$ref",  "anyOf", "oneOf", "allOf",
                                      "enum",       "items", "const", "$defs"};
  static const char *const types[] = {"object",  "array", "string",  "number",
                                      "integer", "null",  "boolean", NULL};
  if (v->kind != TSL__JSON_OBJECT) return false;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (tsl__json_member(v, parts[i])) return true;
  const tsl__json *type = tsl__json_member(v, "type");
  for (size_t i = 0; type && types[i]; i++)
    if (tsl__json_is(type, types[i], strlen(types[i]))) return true;
  return type && type->kind == TSL__JSON_ARRAY;
}

/* Push the schemas in the value at `p`, the last first. Recursion is bounded by WAY_MAX. */
static void find_schemas(lint *l, lint_place *p, uint32_t left, bool held) {
  static const char *const through[] = {"tools",  "functions", "function",           "json_schema",
                                        "custom", "text",      "response_format",    "format",
                                        "result", "json",      "structured_outputs", NULL};
  static const char *const holders[] = {"schema",      "parameters",   "inputSchema",
                                        "guided_json", "outputSchema", "input_schema",
                                        "format",      "json_schema",  NULL};
  if (l->failed || !left) return;
  if (held && is_schema(p->at)) {
    push(l, p);
    return;
  }
  for (uint32_t i = p->at->kind >= TSL__JSON_ARRAY ? p->at->length : 0; i--;) {
    tsl__json *m = &p->at->items[i];
    bool holds = p->at->kind == TSL__JSON_ARRAY || in_words(holders, m);
    bool leads = p->at->kind == TSL__JSON_ARRAY || in_words(through, m);
    if (m->kind < TSL__JSON_ARRAY || (!holds && !leads)) continue;
    lint_place *child = place_in(l, p, m, i);
    if (!child) return;
    find_schemas(l, child, left - 1, p->at->kind == TSL__JSON_OBJECT && holds);
  }
}

static bool is_request(const tsl__json *v) {
  static const char *const words[] = {"tools", "functions",       "messages", "input",
                                      "model", "response_format", "prompt",   "result"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tsl__json_member(v, words[i])) return true;
  return v->kind == TSL__JSON_ARRAY;
}

/* A schema in a wrapper takes the wrapper's place. */
static void unwrap(lint *l, lint_place *root, lint_place *inner) {
  l->rule = LINT_WRAPPER;
  if (!(l->enabled >> LINT_WRAPPER & 1)) return;
  bool mends = tsl__lint_mends(l);
  tsl__lint_find(l, root, NULL, mends,
                 "the schema itself is what \"%.*s\" holds: pass that instead of the wrapper",
                 tsl__lint_shown(inner->key, inner->key_length), inner->key);
  if (mends) l->root = inner->at;
}

static void look_at_all(lint *l, const char *text, size_t length) {
  lint_place root = {.at = l->root, .via = KW_COUNT};
  TSL__VEC(lint_place *) schemas = {0};
  if (l->root->kind >= TSL__JSON_ARRAY && !is_schema(l->root))
    find_schemas(l, &root, WAY_MAX, false);
  if (!l->places.n && l->root->kind == TSL__JSON_OBJECT) push(l, &root);
  for (; l->places.n && !l->failed; l->places.n--)
    if (!tsl__vec_push(l->alloc, &schemas, l->places.at[l->places.n - 1])) l->failed = true;
  if (schemas.n == 1 && schemas.at[0] != &root && !is_request(l->root))
    unwrap(l, &root, schemas.at[0]);
  l->places.n = 0;
  for (size_t i = 0; i < schemas.n && !l->failed; i++)
    look_at_schema(l, schemas.at[i], text, length);
  tsl__vec_free(l->alloc, &schemas);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The rules that the caller names: "a,b" those alone, "-a,-b" all but those. */
static bool enable(lint *l, const char *names, tsl_error *error) {
  l->enabled = ((uint64_t)1 << LINT_RULES) - 1;
  if (names && *names && *names != '-') l->enabled = 0;
  for (const char *p = names; p && *p; p += *p == ',') {
    bool without = *p == '-';
    size_t n = strcspn(p += without, ","), i = 0;
    while (i < LINT_RULES && (strlen(rows[i].name) != n || memcmp(rows[i].name, p, n) != 0)) i++;
    if (i == LINT_RULES) {
      tsl__fail(error, TSL_ERR_ARGUMENT, "there is no rule \"%.*s\"; tsl_lint_rule lists them",
                tsl__lint_shown(p, (uint32_t)n), p);
      return false;
    }
    if (without)
      l->enabled &= ~((uint64_t)1 << i);
    else
      l->enabled |= (uint64_t)1 << i;
    p += n;
  }
  return true;
}

const char *tsl_lint_rule(uint32_t index) { return index < LINT_RULES ? rows[index].name : NULL; }

tsl_status tsl_schema_lint(const char *text, size_t length, const tsl_lint_options *options,
                           const tsl_allocator *allocator, tsl_lint_sink sink, tsl_line_sink mended,
                           void *ctx, tsl_error *error) {
  static const tsl_lint_options defaults;
  lint l = {.options = options ? options : &defaults, .sink = sink, .ctx = ctx};
  const char *written = NULL;
  l.alloc = tsl__allocator_or_default(allocator);
  if (!enable(&l, l.options->rules, error)) return TSL_ERR_ARGUMENT;
  tsl__arena_init(&l.arena, l.alloc);
  tsl_status status = tsl__json_parse(&l.arena, NULL, text, length, DEPTH_MAX, &l.root, error);
  if (status == TSL_OK) {
    look_at_all(&l, text, length);
    if (mended && l.options->fix && !l.failed && !(written = tsl__lint_write(&l, l.root)))
      l.failed = true;
    if (l.failed) status = tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
    if (written && status == TSL_OK) mended(ctx, written);
  }
  tsl__vec_free(l.alloc, &l.places);
  tsl__arena_free(&l.arena);
  return status;
}
