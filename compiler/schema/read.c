/* read.c - from the tree to nodes: keywords by number, their values checked.
 *
 * Problem   A schema is a tree of JSON in which any place may be referred to from any other. Later
 *           passes ask for keywords many times, and must not meet a value of the wrong kind.
 * Idea      A node is made when something leads to it, and read later, from a list. So neither long
 *           chains of references nor broad schemas cost stack. Its keywords are sorted by number
 *           and checked by shape (keywords.def). What nothing leads to (an unused definition) is
 *           never looked at.
 * Drafts    differ in which keywords assert and in a few shapes. A keyword that does not assert in
 *           the draft at hand is an annotation like any unknown word, and the report says so. Up to
 *           draft 7 a $ref hides everything beside it.
 * Example   {"maxLength": 3, "title": "T", "type": "string"} has the mask TYPE | MAX_LENGTH and two
 *           values in that order; "title" asserts nothing. {"maxLength": "3"} is an error with the
 *           pointer /maxLength: "maxLength must be a non-negative integer".
 * Cost      Linear in the schemas that are led to. A regular expression is compiled once, however
 *           often it stands in the schema.
 * Tested by tests/schema/test_schema.c, tests/programs/test_report.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/formats/formats.h"
#include "compiler/regex/regex.h"
#include "compiler/schema/goal.h"
#include "compiler/schema/report/doubts.h"
#include "compiler/schema/report/words.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Under a dynamic scope one place of the tree is several nodes, found by the scope as well. */
static uint64_t scoped_hash(const tsl__json *at, uint32_t scope) {
  return tsl__mix((uint64_t)(uintptr_t)at * 31 + scope);
}

struct scoped_key {
  const struct schema *s;
  const tsl__json *at;
  uint32_t scope;
};

static bool scoped_same(const void *ctx, uint32_t i) {
  const struct scoped_key *k = ctx;
  return k->s->nodes.at[i]->at == k->at && k->s->nodes.at[i]->scope == k->scope;
}

sid tsl__schema_node(struct schema *s, tsl__json *at, uint32_t resource, uint32_t scope) {
  if (at->kind == TSL__JSON_TRUE) return SID_TRUE;
  if (at->kind == TSL__JSON_FALSE) return SID_FALSE;
  if (!scope && at->user) return at->user;
  struct scoped_key key = {s, at, scope};
  uint32_t found =
      scope ? tsl__table_find(&s->scoped, scoped_hash(at, scope), scoped_same, &key) : UINT32_MAX;
  if (found != UINT32_MAX) return found;
  struct node *n = tsl__schema_alloc(s, sizeof *n);
  if (!n) return SID_FALSE;
  sid id = (sid)s->nodes.n;
  n->at = at;
  n->resource = resource;
  n->scope = scope;
  n->types = n->possible = T_ALL;
  if (id > TSL__JSON_USER_MAX)
    return tsl__schema_fail(s, TSL_ERR_LIMIT, at, "more than 2^27 subschemas"), SID_FALSE;
  if (!tsl__vec_push(s->alloc, &s->nodes, n))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), SID_FALSE;
  if (!scope)
    at->user = id & TSL__JSON_USER_MAX;
  else
    tsl__table_add(s, &s->scoped, scoped_hash(at, scope), id);
  return id;
}

/* ---- values of keywords ---------------------------------------------------------------------- */

struct reader {
  struct schema *s;
  struct node *node;
  uint32_t draft;
};

/* Every wrong value ends here: "maxLength must be a non-negative integer", at the value's place. */
static bool bad(struct reader *r, const tsl__json *at, const char *what) {
  char meant[TSL__MEANT_MAX];
  tsl__schema_meant_value(r->s, at, !strncmp(what, "a list", 6), meant);
  if (at->kind == TSL__JSON_NULL && !strncmp(what, "the name of a type", 18))
    snprintf(meant, sizeof meant, ": is \"null\" meant, in quotes?");
  tsl__schema_fail(r->s, TSL_ERR_SCHEMA, at, "%.*s must be %s%s", at->key ? (int)at->key_length : 8,
                   at->key ? at->key : "an entry", what, meant);
  return false;
}

/* The node of a subschema. One with an identifier of its own is another resource, and a scope
 * may begin with it. */
static sid child_node(struct reader *r, tsl__json *at) {
  uint32_t resource = tsl__schema_resource_of(r->s, at, r->node->resource), scope = r->node->scope;
  if (resource != r->node->resource) scope = tsl__schema_enter(r->s, scope, resource);
  return tsl__schema_node(r->s, at, resource, scope);
}

/* Keywords whose value is a schema keep its node; those with several keep one for each, in the
 * order of the schema. */
static bool one_child(struct reader *r, struct keyword_value *k) {
  sid *c = tsl__schema_alloc(r->s, sizeof *c);
  if (!c) return false;
  *c = child_node(r, k->value);
  k->children = c;
  k->count = 1;
  return true;
}

static bool many_children(struct reader *r, struct keyword_value *k) {
  sid *c = tsl__schema_alloc(r->s, (k->value->length + 1) * sizeof *c);
  if (!c) return false;
  for (uint32_t i = 0; i < k->value->length; i++) c[i] = child_node(r, &k->value->items[i]);
  k->children = c;
  k->count = k->value->length;
  return true;
}

static bool is_list(const tsl__json *v) { return v->kind == TSL__JSON_ARRAY; }
static bool is_map(const tsl__json *v) { return v->kind == TSL__JSON_OBJECT; }

static bool all_strings(const tsl__json *v) {
  for (uint32_t i = 0; i < v->length; i++)
    if (v->items[i].kind != TSL__JSON_STRING) return false;
  return true;
}

/* The types of a name, 0 if it is none. The first letter leaves one or two names to compare
 * with. */
static uint8_t type_bits(const tsl__json *name) {
#define TYPE(text, bits) (tsl__json_is(name, text, sizeof(text) - 1) ? (bits) : 0)
  if (name->kind != TSL__JSON_STRING || !name->length) return 0;
  switch (*name->text) {
  case 's': return TYPE("string", T_STRING);
  case 'o': return TYPE("object", T_OBJECT);
  case 'i': return TYPE("integer", T_NUMBER);
  case 'b': return TYPE("boolean", T_FALSE | T_TRUE);
  case 'a': return name->length == 3 ? TYPE("any", T_ALL) : TYPE("array", T_ARRAY);
  case 'n': return name->length == 4 ? TYPE("null", T_NULL) : TYPE("number", T_NUMBER);
  default: return 0;
  }
#undef TYPE
}

/* "Int" is answered with "is "integer" meant?". A tool or a response format in a schema's place is
 * recognised by its type, too. */
static bool bad_type(struct reader *r, const tsl__json *v, const tsl__json *name) {
  if (name->kind != TSL__JSON_STRING)
    return bad(r, name,
               is_map(name) ? "the name of a type (schemas are listed in \"anyOf\")"
               : is_list(v) ? "the name of a type"
                            : "the name of a type, or a list of them");
  const char *meant = tsl__schema_meant_type(name);
  tsl__schema_fail(
      r->s, TSL_ERR_SCHEMA, name,
      "\"%.*s\" is no type (string, integer, number, boolean, array, object, null)%s%s",
      (int)(name->length < 60 ? name->length : 60), name->text, meant ? ": " : "",
      meant ? meant : "");
  return false;
}

/* The types of one name or a list. *integer: of numbers the integers alone are meant, that is,
 * "number" is not in the list too. */
static bool read_type(struct reader *r, const tsl__json *v, uint8_t *types, bool *integer) {
  const tsl__json *names = is_list(v) ? v->items : v;
  uint32_t n = is_list(v) ? v->length : 1;
  bool number = false;
  *types = 0;
  *integer = false;
  for (uint32_t i = 0; i < n; i++) {
    if (is_map(&names[i]) && r->draft == D3)
      return tsl__schema_fail(r->s, TSL_ERR_UNSUPPORTED, &names[i],
                              "schemas inside draft 3's \"type\" and \"disallow\""),
             false;
    uint8_t bits = type_bits(&names[i]);
    if (!bits || (bits == T_ALL && r->draft != D3)) return bad_type(r, v, &names[i]);
    *types |= bits;
    if (tsl__json_is(&names[i], "integer", 7))
      *integer = true;
    else if (bits & T_NUMBER)
      number = true;
  }
  if (number) *integer = false;
  return true;
}

/* What the reference leads to becomes the only child. For $dynamicRef and $recursiveRef that may
 * be the same name in a resource further out. */
static bool read_ref(struct reader *r, struct keyword_value *k) {
  struct schema *s = r->s;
  if (k->value->kind != TSL__JSON_STRING) return bad(r, k->value, "a URI reference");
  tsl__json *at;
  uint32_t resource, scope = r->node->scope;
  const struct anchor *anchor;
  if (!tsl__schema_resolve(s, r->node, k->value, &at, &resource, &anchor)) return false;
  bool dynamic = k->keyword == KW_DYNAMIC_REF && anchor && anchor->dynamic;
  bool recursive = k->keyword == KW_RECURSIVE_REF && s->resources.at[resource].recursive;
  /* the outermost one is looked at last and stays */
  for (uint32_t i = scope; (dynamic || recursive) && i && tsl__schema_work(s, 1);
       i = s->scopes.at[i].outer) {
    uint32_t candidate = s->scopes.at[i].resource;
    const struct anchor *other =
        dynamic ? tsl__schema_anchor(s, candidate, anchor->name, anchor->length, true) : NULL;
    if (!other && !(recursive && s->resources.at[candidate].recursive)) continue;
    at = other ? other->at : s->resources.at[candidate].root;
    resource = candidate;
  }
  if (resource != r->node->resource) scope = tsl__schema_enter(s, scope, resource);
  sid *c = tsl__schema_alloc(s, sizeof *c);
  if (!c) return false;
  *c = tsl__schema_node(s, at, resource, scope);
  k->children = c;
  k->count = 1;
  return tsl__schema_ok(s);
}

struct pattern_key {
  const struct schema *s;
  tsl__string text;
};

static bool pattern_same(const void *ctx, uint32_t i) {
  const struct pattern_key *k = ctx;
  return tsl__string_equal(k->s->patterns.at[i].text, k->text);
}

/* Schemas repeat their regular expressions: more than a third of them was seen in the same schema
 * before. */
static bool regex(struct reader *r, const tsl__json *at, tsl__string text, tsl__expr *out) {
  struct schema *s = r->s;
  tsl__regex_flags options = {.search = true, .counts = true, .very_end = true};
  struct pattern_key key = {s, text};
  uint64_t hash = tsl__hash(text.at, text.length);
  uint32_t known = tsl__table_find(&s->pattern_table, hash, pattern_same, &key);
  if (known != UINT32_MAX) return *out = s->patterns.at[known].e, true;
  tsl_error error;
  tsl_status status = tsl__regex_compile(s->x, text.at, text.length, &options, out, &error);
  if (status != TSL_OK) {
    tsl__schema_fail(s, status, at, "the regular expression \"%.*s\", column %u: %s",
                     (int)text.length, text.at, error.column, error.message);
    return false;
  }
  struct pattern p = {text, *out};
  if (!tsl__vec_push(s->alloc, &s->patterns, p))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
  return tsl__table_add(s, &s->pattern_table, hash, (uint32_t)s->patterns.n - 1);
}

void tsl__schema_forget_patterns(struct schema *s) {
  tsl__vec_free(s->alloc, &s->patterns);
  tsl__table_free(s, &s->pattern_table);
}

/* `pattern`: an expression over the text. The preset of a tool may put a grammar in its place
 * (text_grammar.c). */
static bool read_regex(struct reader *r, struct keyword_value *k) {
  if (k->value->kind == TSL__JSON_GRAMMAR) {
    tsl__expr *grammar = tsl__schema_alloc(r->s, sizeof *grammar);
    k->exprs = grammar;
    return grammar &&
           tsl__schema_text_grammar(r->s, k->value, tsl__schema_bare_strings(r->s), grammar);
  }
  if (k->value->kind != TSL__JSON_STRING) return bad(r, k->value, "a regular expression");
  tsl__expr *e = tsl__schema_alloc(r->s, sizeof *e);
  k->exprs = e;
  return e && regex(r, k->value, (tsl__string){k->value->text, k->value->length}, e);
}

/* `patternProperties`: an expression and a schema for each. */
static bool read_patterns(struct reader *r, struct keyword_value *k) {
  if (!is_map(k->value)) return bad(r, k->value, "an object of schemas");
  tsl__expr *e = tsl__schema_alloc(r->s, (k->value->length + 1) * sizeof *e);
  k->exprs = e;
  if (!e || !many_children(r, k)) return false;
  for (uint32_t i = 0; i < k->value->length; i++)
    if (!regex(r, &k->value->items[i],
               (tsl__string){k->value->items[i].key, k->value->items[i].key_length}, &e[i]))
      return false;
  return true;
}

/* Unknown formats constrain nothing: the keyword is dropped, and the report says so. */
static bool read_format(struct reader *r, struct keyword_value *k, bool *asserts) {
  *asserts = false;
  if (k->value->kind != TSL__JSON_STRING) return bad(r, k->value, "a string");
  if (r->s->options.ignore_formats) return true;
  bool known = false;
  bool clock = r->draft == D3 && tsl__json_is(k->value, "time", 4);
  tsl__expr format = clock ? tsl__format_clock(r->s->x)
                           : tsl__schema_format(r->s, k->value->text, k->value->length, &known);
  if (!known && !clock) return true;
  tsl__expr *e = tsl__schema_alloc(r->s, sizeof *e);
  if (!e) return false;
  *e = format;
  k->exprs = e;
  *asserts = true;
  return true;
}

static bool unsupported(struct reader *r, const tsl__json *at, const char *what) {
  tsl__schema_fail(r->s, TSL_ERR_UNSUPPORTED, at, "%s", what);
  return false;
}

/* The encoding of a string; unknown ones ask for nothing. */
static bool read_encoding(struct reader *r, struct keyword_value *k, tsl__expr *e, bool *asserts) {
  const char *pattern = NULL;
  tsl__content_encoding(k->value, &pattern);
  *asserts = pattern != NULL;
  return !pattern || regex(r, k->value, (tsl__string){pattern, (uint32_t)strlen(pattern)}, e);
}

/* Is the media type one of JSON, and the text not encoded? False on failure, too. */
static bool holds_json(struct reader *r, const tsl__json *type) {
  const tsl__json *encoding = tsl__json_get(r->node->at, "contentEncoding", 15);
  const char *pattern = NULL;
  if (!tsl__content_is_json(type)) return false;
  if (encoding && !tsl__content_encoding(encoding, &pattern)) return false;
  return !pattern || unsupported(r, type, "JSON that is encoded (contentEncoding)");
}

/* JSON in a string. Other media types ask for nothing. Neither does text in an encoding that is not
 * known. With contentSchema, that says all. */
static bool read_media_type(struct reader *r, struct keyword_value *k, tsl__expr *e,
                            bool *asserts) {
  if (!holds_json(r, k->value)) return tsl__schema_ok(r->s);
  *asserts = !tsl__content_described(r->node->at, r->draft);
  return !*asserts || tsl__content_json(r->s, k->value, e);
}

/* The schema of a JSON text in a string: beside a media type of JSON alone. */
static bool read_content_schema(struct reader *r, struct keyword_value *k, bool *asserts) {
  const tsl__json *type = tsl__json_get(r->node->at, "contentMediaType", 16);
  *asserts = tsl__content_described(r->node->at, r->draft) && type &&
             type->kind == TSL__JSON_STRING && holds_json(r, type);
  return !*asserts || one_child(r, k);
}

/* Annotations, unless the options ask for more. */
static bool read_content(struct reader *r, struct keyword_value *k, bool *asserts) {
  *asserts = false;
  if (!r->s->options.assert_content) return true;
  if (k->keyword == KW_CONTENT_SCHEMA) return read_content_schema(r, k, asserts);
  if (k->value->kind != TSL__JSON_STRING) return bad(r, k->value, "a string");
  tsl__expr *e = tsl__schema_alloc(r->s, sizeof *e);
  k->exprs = e;
  return e && (k->keyword == KW_CONTENT_ENCODING ? read_encoding(r, k, e, asserts)
                                                 : read_media_type(r, k, e, asserts));
}

/* Lists of names, and schemas; draft 3's "dependencies" have a single name too. */
static bool read_dependencies(struct reader *r, struct keyword_value *k) {
  if (!is_map(k->value)) return bad(r, k->value, "an object");
  sid *c = tsl__schema_alloc(r->s, (k->value->length + 1) * sizeof *c);
  if (!c) return false;
  for (uint32_t i = 0; i < k->value->length; i++) {
    tsl__json *v = &k->value->items[i];
    bool one = v->kind == TSL__JSON_STRING, names = is_list(v) || one;
    if ((is_list(v) && !all_strings(v)) ||
        (one && !(k->keyword == KW_DEPENDENCIES && r->draft & (D3 | AUTO))))
      return bad(r, v, "a list of names");
    if (names ? k->keyword == KW_DEPENDENT_SCHEMAS : k->keyword == KW_DEPENDENT_REQUIRED)
      return bad(r, v, names ? "a schema" : "a list of names");
    c[i] = names ? UINT32_MAX : child_node(r, v);
  }
  k->children = c;
  k->count = k->value->length;
  return true;
}

/* Whether it is above zero is read off its spelling: 1e-400 is, though a double cannot say so. */
static bool read_number(struct reader *r, struct keyword_value *k, bool positive) {
  if (k->value->kind != TSL__JSON_NUMBER) return bad(r, k->value, "a number");
  if (!positive) return true;
  for (uint32_t i = 0; i < k->value->length; i++) {
    char c = k->value->text[i];
    if (c == '-' || c == 'e' || c == 'E') break;
    if (c >= '1' && c <= '9') return true;
  }
  return bad(r, k->value, "a number above zero");
}

/* Up to draft 4 a boolean that belongs to the bound beside it, later a bound of its own. */
static bool read_exclusive(struct reader *r, struct keyword_value *k, bool *asserts) {
  bool boolean = k->value->kind == TSL__JSON_FALSE || k->value->kind == TSL__JSON_TRUE;
  if (boolean && r->draft & (D3 | D4 | AUTO)) {
    *asserts = k->value->kind == TSL__JSON_TRUE &&
               tsl__has(r->node, k->keyword == KW_EXCLUSIVE_MINIMUM ? KW_MINIMUM : KW_MAXIMUM);
    return true;
  }
  if (r->draft & (D3 | D4)) return bad(r, k->value, "a boolean");
  if (boolean)
    return bad(r, k->value,
               k->keyword == KW_EXCLUSIVE_MINIMUM
                   ? "a number in this draft, the bound itself in place of minimum"
                   : "a number in this draft, the bound itself in place of maximum");
  return read_number(r, k, false);
}

static bool read_list(struct reader *r, struct keyword_value *k, const char *what) {
  return is_list(k->value) ? many_children(r, k) : bad(r, k->value, what);
}

static bool read_map(struct reader *r, struct keyword_value *k) {
  return is_map(k->value) ? many_children(r, k) : bad(r, k->value, "an object of schemas");
}

/* Check one keyword; *asserts is true before and becomes false if it turns out to ask for
 * nothing. */
static bool read_value(struct reader *r, struct keyword_value *k, bool *asserts) {
  switch ((enum shape)tsl__keyword_rows[k->keyword].shape) {
  case SHAPE_TYPE: {
    uint8_t types;
    bool integer;
    if (!read_type(r, k->value, &types, &integer)) return false;
    if (k->keyword == KW_TYPE) {
      r->node->types = types;
      r->node->integer = integer;
      r->node->digits = integer && r->draft & (D3 | D4);
    } else if (integer) {
      return tsl__schema_fail(r->s, TSL_ERR_UNSUPPORTED, k->value, "\"integer\" in \"disallow\""),
             false;
    } else {
      k->count = types;
    }
    return true;
  }
  case SHAPE_SCHEMA: return one_child(r, k);
  case SHAPE_MAP: return read_map(r, k);
  case SHAPE_LIST: return read_list(r, k, "a list of schemas");
  case SHAPE_EXTENDS: return is_list(k->value) ? many_children(r, k) : one_child(r, k);
  case SHAPE_ITEMS:
    if (!is_list(k->value)) return one_child(r, k);
    return r->draft == D20 ? bad(r, k->value, "a schema (a list is \"prefixItems\" in this draft)")
                           : many_children(r, k);
  case SHAPE_REF: return read_ref(r, k);
  case SHAPE_REGEX: return read_regex(r, k);
  case SHAPE_PATTERNS: return read_patterns(r, k);
  case SHAPE_FORMAT: return read_format(r, k, asserts);
  case SHAPE_CONTENT: return read_content(r, k, asserts);
  case SHAPE_DEPENDENCIES: return read_dependencies(r, k);
  case SHAPE_REQUIRED:
    /* a boolean: read with the parent's properties */
    if (r->draft == D3) return *asserts = false, true;
    return (is_list(k->value) && all_strings(k->value)) ||
           bad(r, k->value,
               k->value->kind <= TSL__JSON_TRUE
                   ? "a list of names, beside the \"properties\" that has them"
                   : "a list of names");
  case SHAPE_ARRAY: return is_list(k->value) || bad(r, k->value, "a list of values");
  case SHAPE_COUNT:
    return tsl__json_count(k->value, &k->count) || bad(r, k->value, "a non-negative integer");
  case SHAPE_NUMBER: return read_number(r, k, false);
  case SHAPE_POSITIVE: return read_number(r, k, true);
  case SHAPE_EXCLUSIVE: return read_exclusive(r, k, asserts);
  case SHAPE_BOOLEAN:
    *asserts = k->value->kind == TSL__JSON_TRUE;
    return *asserts || k->value->kind == TSL__JSON_FALSE || bad(r, k->value, "a boolean");
  case SHAPE_NULLABLE:
    *asserts = false; /* it is a part of the type beside it, which has been read */
    if (!r->s->options.nullable || k->value->kind == TSL__JSON_FALSE) return true;
    if (tsl__has(r->node, KW_TYPE)) r->node->types |= T_NULL;
    return k->value->kind == TSL__JSON_TRUE || bad(r, k->value, "a boolean");
  case SHAPE_ANY: return true;
  }
  return true;
}

/* Draft 3 says `"required": true` inside the property: make draft 4's list of it. */
static bool draft3_required(struct reader *r, const struct keyword_value *properties,
                            struct keyword_value *out) {
  tsl__json *list = tsl__schema_alloc(r->s, sizeof *list), *names;
  names = list ? tsl__schema_alloc(r->s, (properties->value->length + 1) * sizeof *names) : NULL;
  if (!names) return false;
  *list = (tsl__json){.items = names, .kind = TSL__JSON_ARRAY, .offset = properties->value->offset};
  for (uint32_t i = 0; i < properties->value->length; i++) {
    const tsl__json *m = &properties->value->items[i], *required = tsl__json_get(m, "required", 8);
    if (!required || required->kind != TSL__JSON_TRUE) continue;
    names[list->length++] = (tsl__json){
        .text = m->key, .length = m->key_length, .kind = TSL__JSON_STRING, .offset = m->offset};
  }
  *out = (struct keyword_value){.value = list, .keyword = KW_REQUIRED};
  return list->length > 0;
}

/* ---- one node -------------------------------------------------------------------------------- */

/* Types that values in enum or const have. */
static uint8_t listed_types(const struct node *n) {
  uint8_t types = T_ALL;
  if (tsl__has(n, KW_CONST)) types = tsl__json_type(tsl__keyword(n, KW_CONST)->value);
  if (!tsl__has(n, KW_ENUM)) return types;
  const tsl__json *list = tsl__keyword(n, KW_ENUM)->value;
  uint8_t listed = 0;
  for (uint32_t i = 0; i < list->length; i++) listed |= tsl__json_type(&list->items[i]);
  return types & listed;
}

/* Up to draft 7 a reference hides all that stands beside it. */
static uint32_t keep_reference(struct node *node, struct keyword_value *found) {
  uint32_t at = 0;
  while (found[at].keyword != KW_REF) at++;
  found[0] = found[at];
  node->mask = OF(REF);
  return 1;
}

/* Collect the members that are keywords here, sorted by keyword. */
static uint32_t collect(struct reader *r, struct keyword_value *found) {
  const tsl__json *at = r->node->at;
  uint32_t n = 0;
  uint64_t without = r->s->resources.at[r->node->resource].without;
  for (uint32_t i = 0; i < at->length; i++) {
    uint32_t j;
    enum keyword k = tsl__schema_keyword(at->items[i].key, at->items[i].key_length);
    if (k == KW_COUNT || !(tsl__keyword_rows[k].drafts & r->draft) || without >> k & 1) continue;
    for (j = n++; j > 0 && found[j - 1].keyword > k; j--) found[j] = found[j - 1];
    found[j] = (struct keyword_value){.value = &at->items[i], .keyword = (uint8_t)k};
    r->node->mask |= (uint64_t)1 << k;
  }
  return r->draft & (D3 | D4 | D6 | D7) && tsl__has(r->node, KW_REF)
             ? keep_reference(r->node, found)
             : n;
}

void tsl__node_limit_types(struct node *node) {
  node->possible = node->types & listed_types(node);
  if (tsl__has(node, KW_DISALLOW))
    node->possible &= (uint8_t)~tsl__keyword(node, KW_DISALLOW)->count;
}

static bool read_node(struct schema *s, sid id) {
  struct node *node = s->nodes.at[id];
  struct reader r = {s, node, s->resources.at[node->resource].draft};
  if (node->at->kind != TSL__JSON_OBJECT) return tsl__schema_fail_no_schema(s, node->at), false;
  struct keyword_value found[KW_COUNT + 1];
  uint32_t n = collect(&r, found), kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool asserts = true;
    struct keyword_value *k = &found[i]; /* in place: to copy what was just written is slow */
    if (!read_value(&r, k, &asserts)) return false;
    if (!asserts)
      node->mask &= ~((uint64_t)1 << k->keyword);
    else if (kept++ != i)
      found[kept - 1] = *k;
  }
  struct keyword_value required;
  const struct keyword_value *first = kept && found[0].keyword == KW_TYPE ? &found[1] : &found[0];
  if (r.draft == D3 && tsl__has(node, KW_PROPERTIES) && draft3_required(&r, first, &required)) {
    uint32_t at = kept++;
    for (; at > 0 && found[at - 1].keyword > KW_REQUIRED; at--) found[at] = found[at - 1];
    found[at] = required;
    node->mask |= OF(REQUIRED);
  }
  node->values = tsl__arena_copy(&s->arena, found, kept * sizeof *found);
  if (!node->values) return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
  tsl__node_limit_types(node);
  return true;
}

bool tsl__schema_read(struct schema *s) {
  while (s->nodes_read < s->nodes.n && tsl__schema_ok(s))
    if (!read_node(s, (sid)s->nodes_read++)) return false;
  return tsl__schema_ok(s);
}

/* ---- constants ------------------------------------------------------------------------------- */

static tsl__json *new_member(tsl__json *object, const char *key, unsigned kind) {
  tsl__json *m = &object->items[object->length++];
  *m = (tsl__json){
      .key = key, .key_length = (uint32_t)strlen(key), .kind = kind & 7u, .offset = object->offset};
  return m;
}

/* {"const": value} for each child, as children of `list`. */
static bool const_children(struct schema *s, tsl__json *list, const tsl__json *value) {
  list->length = value->length;
  list->items = tsl__schema_alloc(s, (value->length + 1) * sizeof *list->items);
  tsl__json *inner = list->items ? tsl__schema_alloc(s, (value->length + 1) * sizeof *inner) : NULL;
  if (!inner) return false;
  for (uint32_t i = 0; i < value->length; i++) {
    inner[i] = value->items[i];
    inner[i].key = "const";
    inner[i].key_length = 5;
    list->items[i] = (tsl__json){.key = value->items[i].key,
                                 .key_length = value->items[i].key_length,
                                 .kind = TSL__JSON_OBJECT,
                                 .length = 1,
                                 .items = &inner[i],
                                 .offset = value->offset};
  }
  return true;
}

static bool const_names(struct schema *s, tsl__json *list, const tsl__json *value) {
  list->length = value->length;
  list->items = tsl__schema_alloc(s, (value->length + 1) * sizeof *list->items);
  for (uint32_t i = 0; list->items && i < value->length; i++)
    list->items[i] = (tsl__json){.text = value->items[i].key,
                                 .length = value->items[i].key_length,
                                 .kind = TSL__JSON_STRING};
  return list->items != NULL;
}

/* Spelled as a schema, so that nothing else needs to know about constants. It is {"type": "object",
 * "properties": {k: {"const": v} …}, "required": [k …], "additionalProperties": false}, and the
 * like for arrays. */
sid tsl__schema_const(struct schema *s, tsl__json *value) {
  if (value->user) return value->user;
  tsl__json *schema = tsl__schema_alloc(s, sizeof *schema);
  if (!schema) return SID_FALSE;
  *schema = (tsl__json){.kind = TSL__JSON_OBJECT, .offset = value->offset};
  schema->items = tsl__schema_alloc(s, 5 * sizeof *schema->items);
  char *count = tsl__schema_alloc(s, 12);
  if (!schema->items || !count) return SID_FALSE;
  bool object = value->kind == TSL__JSON_OBJECT, ok;
  tsl__json *type = new_member(schema, "type", TSL__JSON_STRING);
  type->text = object ? "object" : "array";
  type->length = object ? 6 : 5;
  ok = const_children(s,
                      new_member(schema, object ? "properties" : "prefixItems",
                                 object ? TSL__JSON_OBJECT : TSL__JSON_ARRAY),
                      value);
  if (object) {
    ok = const_names(s, new_member(schema, "required", TSL__JSON_ARRAY), value) && ok;
    new_member(schema, "additionalProperties", TSL__JSON_FALSE);
  } else {
    new_member(schema, "items", TSL__JSON_FALSE);
    tsl__json *min = new_member(schema, "minItems", TSL__JSON_NUMBER);
    uint32_t digits = 0, rest = value->length;
    for (uint32_t power = 1; rest / 10 >= power; power *= 10) digits++;
    min->length = digits + 1;
    for (uint32_t i = min->length; i-- > 0; rest /= 10) count[i] = (char)('0' + rest % 10);
    min->text = count;
  }
  if (!ok) return SID_FALSE;
  sid id = tsl__schema_node(s, schema, s->modern, 0);
  if (!tsl__schema_read(s)) return SID_FALSE; /* half read, it must not be found again */
  value->user = id & TSL__JSON_USER_MAX;
  return id;
}

sid tsl__schema_equal_to(struct schema *s, tsl__json *value) {
  if (value->kind >= TSL__JSON_ARRAY) return tsl__schema_const(s, value);
  tsl__json *schema = tsl__schema_alloc(s, sizeof *schema), one = {.items = value, .length = 1},
            list = {.offset = value->offset};
  if (!schema || !const_children(s, &list, &one)) return SID_FALSE;
  *schema = list.items[0];
  sid id = tsl__schema_node(s, schema, s->modern, 0);
  return tsl__schema_read(s) ? id : SID_FALSE;
}
