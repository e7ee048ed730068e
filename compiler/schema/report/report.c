/* report.c - what the compiler says about a schema: what is enforced, as JSON, with warnings.
 *
 * One entry per keyword of every subschema that something in effect leads to: {"pointer": …,
 * "keyword": …, "status": "enforced" | "no effect", "reason": …}. Keywords that never assert
 * (titles, descriptions, unknown words) are not listed. Listed are keywords that assert in another
 * draft, and those that need another one beside them. So are formats that are not known, and words
 * that look like a keyword misspelled. Subschemas in other documents are listed with their URI
 * before the '#'.
 *
 * What is in effect is found by following subschemas and references from the root. Then the
 * documents are gone through in the order of their texts, as a reference can lead anywhere in them.
 * That is done when somebody asks.
 * Tested by tests/schema/test_schema.c and tests/programs/test_report.py, which walks schemas in
 *           its own way and compares.
 *
 * Warnings  An entry has "warning": true where the schema hardly means what it says. Examples are a
 *           word that looks like a keyword, a schema that stands inside a wrapper, and a member
 *           that can never be written. words.c finds the name that was meant, for the lint as well.
 *           doubts.c finds the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/schema.h"
#include "compiler/schema/goal.h"
#include "compiler/schema/report/doubts.h"
#include "compiler/schema/report/words.h"

struct report {
  struct schema *s;
  tsl__report *to;
  TSL__VEC(char) pointer;
  TSL__VEC(sid) reached; /* nodes in effect, in the order found */
  uint8_t *marks;        /* of nodes: REACHED, LISTED */
  bool unevaluated;      /* some node has unevaluatedItems or unevaluatedProperties */
  bool failed;
};

#define UNKNOWN_FORMAT "unknown format"
#define HIDDEN "hidden by $ref in this draft: allOf can hold both"
#define NULLABLE_UNASKED \
  "an OpenAPI keyword, not requested: write \"null\" into \"type\", or compile with nullable"

enum { REACHED = 1, LISTED = 2 };

#define COMPARED_MAX (1u << 24) /* names, in a report */

static void push(struct report *r, const char *text, size_t n) {
  size_t length = 1 + tsl__json_put_token(NULL, text, n);
  if (!tsl__vec_reserve(r->to->alloc, &r->pointer, length)) {
    r->failed = true;
    return;
  }
  r->pointer.at[r->pointer.n] = '/';
  tsl__json_put_token(r->pointer.at + r->pointer.n + 1, text, n);
  r->pointer.n += length;
}

static void push_index(struct report *r, uint32_t index) {
  char digits[10];
  size_t n = sizeof digits;
  do digits[--n] = (char)('0' + index % 10);
  while (index /= 10);
  push(r, digits + n, sizeof digits - n);
}

static void entry(struct report *r, const tsl__json *keyword, const char *reason, bool enforced,
                  bool warning) {
  size_t n = r->pointer.n;
  tsl__out *out = &r->to->out;
  push(r, keyword->key, keyword->key_length);
  if (r->failed) return;
  if (out->text.n > 1) tsl__out_string(out, ",\n ");
  tsl__out_string(out, r->to->tool.at ? "{\"tool\":\"" : "{\"pointer\":\"");
  if (r->to->tool.at) {
    tsl__out_escaped(out, r->to->tool.at, r->to->tool.length);
    tsl__out_string(out, "\",\"pointer\":\"");
  }
  tsl__out_escaped(out, r->pointer.at, r->pointer.n);
  tsl__out_string(out, "\",\"keyword\":\"");
  tsl__out_escaped(out, keyword->key, keyword->key_length);
  tsl__out_string(out, "\",\"status\":\"");
  tsl__out_string(out, enforced ? "enforced" : "no effect");
  tsl__out_string(out, "\",\"reason\":\"");
  if (reason) tsl__out_escaped(out, reason, strlen(reason));
  tsl__out_string(out, warning ? "\",\"warning\":true}" : "\"}");
  r->pointer.n = n;
}

/* Keywords that ask for nothing unless another one stands beside them; NULL: this one does ask for
 * something. */
static const char *idle(const struct report *r, const struct node *n, enum keyword k) {
  const struct keyword_value *items = tsl__keyword_or_null(n, KW_ITEMS);
  switch (k) {
  case KW_IF:
    return tsl__has(n, KW_THEN) || tsl__has(n, KW_ELSE) || r->unevaluated
               ? NULL
               : "neither then nor else beside it";
  case KW_THEN:
  case KW_ELSE: return tsl__has(n, KW_IF) ? NULL : "no if beside it";
  case KW_MIN_CONTAINS:
  case KW_MAX_CONTAINS: return tsl__has(n, KW_CONTAINS) ? NULL : "no contains beside it";
  case KW_ADDITIONAL_ITEMS:
    if (items && items->value->kind == TSL__JSON_ARRAY) return NULL;
    return tsl__has(n, KW_PREFIX_ITEMS)
               ? "no list of items beside it: items is what follows prefixItems"
               : "no list of items beside it";
  default: return NULL;
  }
}

/* Why a keyword has no effect; NULL: it is enforced. */
static const char *reason(const struct report *r, const struct node *n, const tsl__json *keyword,
                          enum keyword k) {
  const struct schema *s = r->s;
  uint32_t draft = s->resources.at[n->resource].draft;
  if (draft & (D3 | D4 | D6 | D7) && tsl__has(n, KW_REF) && k != KW_REF) return HIDDEN;
  if (!(tsl__keyword_rows[k].drafts & draft)) return tsl__schema_other_draft(k);
  /* enforced with the properties around it */
  if (draft == D3 && k == KW_REQUIRED)
    return keyword->kind == TSL__JSON_TRUE ? NULL : "false asks for nothing";
  if (tsl__has(n, k)) return idle(r, n, k);
  if (s->resources.at[n->resource].without >> k & 1)
    return "not in the vocabularies of this metaschema";
  if (k == KW_FORMAT)
    return s->options.ignore_formats ? "formats are ignored, as requested" : UNKNOWN_FORMAT;
  if (k == KW_CONTENT_MEDIA_TYPE && tsl__has(n, KW_CONTENT_SCHEMA)) return NULL;
  if (k == KW_CONTENT_ENCODING || k == KW_CONTENT_MEDIA_TYPE || k == KW_CONTENT_SCHEMA)
    return !s->options.assert_content ? "an annotation, as assert_content was not requested"
           : k == KW_CONTENT_ENCODING ? "unknown encoding, or one that asks for nothing"
           : k == KW_CONTENT_SCHEMA   ? "no media type of JSON beside it, or it allows any JSON"
                                      : "not a media type of JSON, or encoded in an unknown way";
  if (k == KW_NULLABLE && !s->options.nullable) return NULLABLE_UNASKED;
  if (k == KW_NULLABLE && keyword->kind == TSL__JSON_TRUE)
    return tsl__has(n, KW_TYPE) ? NULL : "no type beside it";
  if (k == KW_EXCLUSIVE_MINIMUM && keyword->kind == TSL__JSON_TRUE) return "no minimum beside it";
  if (k == KW_EXCLUSIVE_MAXIMUM && keyword->kind == TSL__JSON_TRUE) return "no maximum beside it";
  return "false asks for nothing";
}

/* ---- what is in effect ----------------------------------------------------------------------- */

static void reach(struct report *r, sid id) {
  if (id <= SID_FALSE || id == UINT32_MAX || id >= r->s->nodes.n || r->marks[id] & REACHED) return;
  struct node *n = r->s->nodes.at[id];
  /* reached in dynamic scopes only: one of its nodes stands for all */
  if (!n->at->user) n->at->user = id & TSL__JSON_USER_MAX;
  r->marks[id] |= REACHED;
  r->marks[n->at->user] |= LISTED;
  if (!tsl__vec_push(r->to->alloc, &r->reached, id)) r->failed = true;
}

static void reach_all(struct report *r) {
  const struct schema *s = r->s;
  uint64_t unevaluated = OF(UNEVALUATED_ITEMS) | OF(UNEVALUATED_PROPERTIES);
  for (size_t i = 2; i < s->nodes.n; i++)
    r->unevaluated |= (s->nodes.at[i]->mask & unevaluated) != 0;
  reach(r, s->root_node);
  for (size_t i = 0; i < r->reached.n && !r->failed; i++) {
    const struct node *n = tsl__node_of(s, r->reached.at[i]);
    for (enum keyword k = 0; k < KW_COUNT; k++) {
      const struct keyword_value *v = tsl__keyword_or_null(n, k);
      if (!v || !v->children || idle(r, n, k)) continue;
      for (uint32_t c = 0; c < v->count; c++) reach(r, v->children[c]);
    }
  }
}

/* ---- going through the documents ------------------------------------------------------------- */

/* A word that is no keyword. */
static void unknown(struct report *r, const tsl__json *at, const tsl__json *word) {
  const char *other = tsl__schema_meant(word->key, word->key_length);
  const tsl__json *type = tsl__json_member(at, "type");
  if (!other && type) other = tsl__schema_meant_bound(type, word->key, word->key_length);
  char text[TSL__DOUBT_MAX];
  if (other)
    snprintf(text, sizeof text, "no keyword: is %s meant?", other);
  else if (!tsl__schema_doubt_metaschema(r->s, at, word, text))
    return;
  entry(r, word, text, false, true);
}

/* A format that nobody knows, and that is like one. */
static bool misnamed(struct report *r, const tsl__json *format, enum keyword k) {
  const char *meant =
      k == KW_FORMAT && format->kind == TSL__JSON_STRING && !r->s->options.ignore_formats
          ? tsl__schema_meant_format(format->text, format->length)
          : NULL;
  char text[TSL__DOUBT_MAX];
  if (!meant) return false;
  snprintf(text, sizeof text, "unknown format: is %s meant?", meant);
  entry(r, format, text, false, true);
  return true;
}

/* A keyword that is enforced, and hardly means what it says. */
static bool doubted(struct report *r, const struct node *n, const tsl__json *keyword,
                    enum keyword k) {
  char text[TSL__DOUBT_MAX];
  if (!(k == KW_PATTERN && tsl__schema_doubt_pattern(keyword, text)) &&
      !(k == KW_PATTERN_PROPERTIES && tsl__schema_doubt_patterns(keyword, text)) &&
      !(k == KW_PROPERTIES && tsl__schema_doubt_properties(keyword, text)) &&
      !(k == KW_REF && tsl__schema_doubt_reference(r->s, n, text)) &&
      !tsl__schema_doubt_type(n, k, text))
    return false;
  entry(r, keyword, text, true, true);
  return true;
}

/* A name that is required, and that a closed object has no place for. */
static bool misplaced(struct report *r, const struct node *n, const tsl__json *keyword) {
  char text[TSL__NAME_SHOWN * 2 + 128];
  const tsl__json *name = tsl__schema_misplaced(r->s, n, n);
  if (!name) return false;
  tsl__schema_say_misplaced(r->s, n, name, text, sizeof text);
  entry(r, keyword, text, true, true);
  return true;
}

/* The keyword that leads to a closed subschema, which forbids a name of another one. */
static bool forbids(struct report *r, const struct tsl__forbidden *f, const tsl__json *keyword,
                    enum keyword k) {
  char text[TSL__DOUBT_MAX];
  if (f->via != k) return false;
  tsl__schema_say_forbidden(r->s, f, false, text);
  entry(r, keyword, text, true, true);
  return true;
}

/* 2019-09 split `dependencies` in two. People still write it, so it holds, with a warning. */
static bool replaced(struct report *r, const struct node *n, const tsl__json *keyword) {
  if (!(r->s->resources.at[n->resource].draft & (D19 | D20))) return false;
  entry(r, keyword,
        "a keyword of earlier drafts; this one has dependentRequired and dependentSchemas", true,
        true);
  return true;
}

/* A member whose name stood before in its object: a mistake, as one of the two is lost. */
static bool repeated(struct report *r, const tsl__json *member, bool enforced) {
  if (!member->repeated) return false;
  entry(r, member, "given more than once: the last one counts", enforced, true);
  return true;
}

/* Is a keyword without effect one that was meant to have some? Words of draft 3 alone are common
 * words elsewhere. */
static bool in_vain(const struct report *r, const struct node *n, const tsl__json *keyword,
                    enum keyword k, const char *why) {
  const uint32_t draft = r->s->resources.at[n->resource].draft;
  if (k == KW_NULLABLE) return keyword->kind == TSL__JSON_TRUE && !strcmp(why, NULLABLE_UNASKED);
  if (!(tsl__keyword_rows[k].drafts & draft)) return tsl__keyword_rows[k].drafts != D3;
  /* some writers put additionalItems beside every items */
  if (k == KW_ADDITIONAL_ITEMS) return tsl__has(n, KW_PREFIX_ITEMS);
  return !strcmp(why, HIDDEN) || (tsl__has(n, k) && idle(r, n, k));
}

static void entries(struct report *r, const tsl__json *at) {
  const struct node *n = tsl__node_of(r->s, at->user);
  char text[TSL__DOUBT_MAX];
  const tsl__json *doubt = at == r->s->root ? tsl__schema_doubt_root(r->s, text) : NULL;
  struct tsl__forbidden f = {.via = KW_COUNT};
  tsl__schema_forbidden(r->s, n, false, &r->to->left, &f);
  for (uint32_t i = 0; i < at->length; i++) {
    if (at->items[i].offset == at->offset) continue; /* made up: it is not in the text */
    enum keyword k = tsl__schema_keyword(at->items[i].key, at->items[i].key_length);
    if (k == KW_COUNT) {
      if (repeated(r, &at->items[i], false)) continue;
      if (&at->items[i] == doubt)
        entry(r, doubt, text, false, true);
      else
        unknown(r, at, &at->items[i]);
      continue;
    }
    const char *why = reason(r, n, &at->items[i], k);
    bool done = why && !strcmp(why, UNKNOWN_FORMAT) && misnamed(r, &at->items[i], k);
    done |= !why && (forbids(r, &f, &at->items[i], k) ||
                     (k == KW_REQUIRED && misplaced(r, n, &at->items[i])) ||
                     (k == KW_DEPENDENCIES && replaced(r, n, &at->items[i])) ||
                     doubted(r, n, &at->items[i], k) || repeated(r, &at->items[i], true));
    if (!done) entry(r, &at->items[i], why, !why, why && in_vain(r, n, &at->items[i], k, why));
  }
}

/* Recursion is as deep as the text, which max_depth bounds. */
static void visit(struct report *r, const tsl__json *at) {
  size_t length = r->pointer.n;
  const bool listed = at->kind == TSL__JSON_OBJECT && at->user && r->marks[at->user] & LISTED;
  if (listed) entries(r, at);
  for (uint32_t i = 0; i < at->length && !r->failed; i++) {
    const tsl__json *v = &at->items[i];
    if (!listed && at->kind == TSL__JSON_OBJECT) repeated(r, v, true);
    if (v->kind < TSL__JSON_ARRAY || v->kind == TSL__JSON_GRAMMAR) continue;
    if (at->kind == TSL__JSON_OBJECT)
      push(r, v->key, v->key_length);
    else
      push_index(r, i);
    visit(r, v);
    r->pointer.n = length;
  }
}

static void prefix(struct report *r, const char *text, size_t n, char behind) {
  r->pointer.n = 0;
  if (r->failed || !tsl__vec_reserve(r->to->alloc, &r->pointer, n + 1)) {
    r->failed = true;
    return;
  }
  if (n) memcpy(r->pointer.at, text, n);
  r->pointer.n = n;
  if (behind) r->pointer.at[r->pointer.n++] = behind;
}

static void visit_resource(struct report *r, const struct resource *resource) {
  r->pointer.n = 0;
  if (resource->uri[0]) prefix(r, resource->uri, strlen(resource->uri), '#');
  if (!r->failed) visit(r, resource->root);
}

void tsl__report_begin(tsl__report *to, const tsl_allocator *alloc) {
  *to = (tsl__report){.alloc = alloc, .out.alloc = alloc, .left = COMPARED_MAX};
  tsl__out_string(&to->out, "[");
}

void tsl__report_add(tsl__report *to, void *schema, tsl__string place, tsl__string tool) {
  struct schema *s = schema;
  size_t marks = s->nodes.n;
  struct report r = {.s = s, .to = to, .marks = tsl__alloc_zero(to->alloc, marks)};
  r.failed = to->failed || !r.marks;
  to->tool = tool;
  if (!r.failed) reach_all(&r);
  prefix(&r, place.at, place.length, 0);
  if (!r.failed) visit(&r, s->root);
  for (size_t i = 0; i < s->resources.n && !r.failed; i++)
    if (s->resources.at[i].document && s->resources.at[i].root != s->root)
      visit_resource(&r, &s->resources.at[i]);
  to->failed = r.failed;
  tsl__vec_free(to->alloc, &r.pointer);
  tsl__vec_free(to->alloc, &r.reached);
  tsl__free(to->alloc, r.marks, marks);
}

const char *tsl__report_end(tsl__report *to, tsl__arena *arena) {
  tsl__out_put(&to->out, "]", 2); /* with its NUL */
  const char *report =
      to->failed || to->out.failed ? NULL : tsl__arena_copy(arena, to->out.text.at, to->out.text.n);
  tsl__vec_free(to->alloc, &to->out.text);
  return report;
}

const char *tsl__schema_report(void *schema) {
  struct schema *s = schema;
  tsl__report to;
  tsl__report_begin(&to, s->alloc);
  tsl__report_add(&to, s, (tsl__string){NULL, 0}, (tsl__string){NULL, 0});
  const char *report = tsl__report_end(&to, &s->arena);
  tsl__exprs_hold(s->x, s->arena.total);
  return report;
}
