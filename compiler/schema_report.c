/* schema_report.c - what is enforced, as JSON.
 *
 * One entry per keyword of every subschema that was read: {"pointer": …, "keyword": …, "status": "enforced" | "no effect", "reason": …}. Keywords that never
 * assert (titles, descriptions, unknown words) are not listed; keywords that assert in another draft, and formats that are not known, are.
 * Subschemas in other documents are listed with their URI before the '#'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema_parts.h"

struct report {
  struct schema *s;
  TSL__VEC(char) out, pointer;
  bool failed;
};

static void put(struct report *r, const char *text, size_t n) {
  if (r->failed || !tsl__vec_reserve(r->s->alloc, &r->out, n)) {
    r->failed = true;
    return;
  }
  memcpy(r->out.at + r->out.n, text, n);
  r->out.n += n;
}

#define PUT(r, literal) put((r), (literal), sizeof(literal) - 1)

/* The inside of a JSON string. */
static void put_escaped(struct report *r, const char *text, size_t n) {
  static const char hex[] = "0123456789abcdef";
  size_t from = 0;
  for (size_t i = 0; i < n; i++) {
    uint8_t c = (uint8_t)text[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    put(r, text + from, i - from);
    from = i + 1;
    if (c < 0x20) {
      char unit[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
      put(r, unit, 6);
    } else {
      char pair[2] = {'\\', (char)c};
      put(r, pair, 2);
    }
  }
  put(r, text + from, n - from);
}

static void push(struct report *r, const char *text, size_t n) {
  if (!tsl__vec_reserve(r->s->alloc, &r->pointer, 2 * n + 12)) {
    r->failed = true;
    return;
  }
  char *p = r->pointer.at + r->pointer.n;
  *p++ = '/';
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '~' || text[i] == '/') {
      *p++ = '~';
      *p++ = text[i] == '~' ? '0' : '1';
    } else {
      *p++ = text[i];
    }
  }
  r->pointer.n = (size_t)(p - r->pointer.at);
}

static void push_index(struct report *r, uint32_t index) {
  char digits[10];
  size_t n = sizeof digits;
  do digits[--n] = (char)('0' + index % 10);
  while (index /= 10);
  push(r, digits + n, sizeof digits - n);
}

static void entry(struct report *r, const tsl__json *keyword, const char *reason) {
  size_t n = r->pointer.n;
  push(r, keyword->key, keyword->key_length);
  if (r->failed) return;
  if (r->out.n > 1) PUT(r, ",\n ");
  PUT(r, "{\"pointer\":\"");
  put_escaped(r, r->pointer.at, r->pointer.n);
  PUT(r, "\",\"keyword\":\"");
  put_escaped(r, keyword->key, keyword->key_length);
  if (reason) {
    PUT(r, "\",\"status\":\"no effect\",\"reason\":\"");
    put_escaped(r, reason, strlen(reason));
  } else {
    PUT(r, "\",\"status\":\"enforced\",\"reason\":\"");
  }
  PUT(r, "\"}");
  r->pointer.n = n;
}

static const char *reason(const struct schema *s, const struct node *n, enum keyword k, uint32_t drafts) {
  uint32_t draft = s->resources.at[n->resource].draft;
  if (tsl__has(n, k)) return NULL;
  if (draft & (D3 | D4 | D6 | D7) && tsl__has(n, KW_REF)) return "hidden by $ref in this draft";
  if (!(drafts & draft)) return "no keyword of this draft";
  if (s->resources.at[n->resource].no_validation && k != KW_FORMAT) return "not in the vocabularies of this metaschema";
  if (k == KW_FORMAT) return s->options.ignore_formats ? "formats are ignored, as asked" : "unknown format";
  if (k == KW_NULLABLE) return "an OpenAPI keyword, not asked for";
  return "allows everything";
}

static void subschemas(struct report *r, const tsl__json *v, enum shape shape);

/* Recursion is as deep as the text, which max_depth bounds. */
static void visit(struct report *r, const tsl__json *at) {
  if (at->kind != TSL__JSON_OBJECT || r->failed || !at->user) return;
  const struct node *n = tsl__node_of(r->s, at->user);
  size_t length = r->pointer.n;
  for (uint32_t i = 0; i < at->length; i++) {
    const tsl__json *m = &at->items[i];
    uint32_t drafts;
    enum shape shape;
    enum keyword k = tsl__schema_keyword(m->key, m->key_length, &drafts, &shape);
    bool map = k == KW_COUNT && ((m->key_length == 5 && !memcmp(m->key, "$defs", 5)) || (m->key_length == 11 && !memcmp(m->key, "definitions", 11)));
    if (k != KW_COUNT) entry(r, m, reason(r->s, n, k, drafts));
    if (!map && (k == KW_COUNT || !tsl__has(n, k))) continue;
    push(r, m->key, m->key_length);
    subschemas(r, m, map ? SHAPE_MAP : shape);
    r->pointer.n = length;
  }
}

static void subschemas(struct report *r, const tsl__json *v, enum shape shape) {
  bool many = shape == SHAPE_MAP || shape == SHAPE_LIST || shape == SHAPE_PATTERNS || shape == SHAPE_DEPENDENCIES;
  if (shape == SHAPE_ITEMS || shape == SHAPE_EXTENDS) many = v->kind == TSL__JSON_ARRAY;
  if (shape == SHAPE_SCHEMA || ((shape == SHAPE_ITEMS || shape == SHAPE_EXTENDS) && !many)) visit(r, v);
  size_t length = r->pointer.n;
  for (uint32_t i = 0; many && v->kind >= TSL__JSON_ARRAY && i < v->length; i++) {
    if (v->kind == TSL__JSON_OBJECT) push(r, v->items[i].key, v->items[i].key_length);
    else push_index(r, i);
    visit(r, &v->items[i]);
    r->pointer.n = length;
  }
}

static void visit_resource(struct report *r, const struct resource *resource) {
  r->pointer.n = 0;
  if (resource->uri[0] && tsl__vec_reserve(r->s->alloc, &r->pointer, strlen(resource->uri) + 1)) {
    memcpy(r->pointer.at, resource->uri, strlen(resource->uri));
    r->pointer.n = strlen(resource->uri);
    r->pointer.at[r->pointer.n++] = '#';
  }
  visit(r, resource->root);
}

const char *tsl__schema_report(struct schema *s) {
  struct report r = {.s = s};
  PUT(&r, "[");
  visit(&r, s->root);
  for (size_t i = 0; i < s->resources.n; i++)
    if (s->resources.at[i].document && s->resources.at[i].root != s->root) visit_resource(&r, &s->resources.at[i]);
  PUT(&r, "]");
  put(&r, "", 1);
  char *report = r.failed ? NULL : tsl__arena_copy(&s->arena, r.out.at, r.out.n);
  tsl__vec_free(s->alloc, &r.out);
  tsl__vec_free(s->alloc, &r.pointer);
  if (!report) tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  return report;
}
