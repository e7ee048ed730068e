/* load.c - documents, resources and references.
 *
 * Problem   A $ref may mean a place in the same document, a subschema with a name of its own, or
 *           another document. What it means depends on the URI of the resource around it.
 * Idea      A document is a resource; every subschema with an $id (id in drafts 3 and 4) begins
 *           another one. Each has a base URI, and perhaps a draft and vocabularies of its own; else
 *           those of the resource around it. A reference is resolved against the base URI of the
 *           resource that it stands in (RFC 3986, section 5.2), then by fragment. "" is the
 *           resource's root, "/..." a JSON pointer from there, anything else an anchor.
 * Example   {"$id": "http://a.example/x/y", "$defs": {
 *              "p": {"$id": "z", "$anchor": "q", "$defs": {"r": true}}}}
 *           has two resources: http://a.example/x/y, and http://a.example/x/z, which is p. From the
 *           root, "z" and "#/$defs/p" lead to p, and so does "z#q". "z#/$defs/r" leads to r; "#q"
 *           leads nowhere, since q is a name of the inner resource.
 * Scope     Only resources that have dynamic anchors can change what $dynamicRef means, and only
 *           the outermost one with each name. So a scope is the list of those that were entered and
 *           brought a new name, outermost first. Most schemas have none, and scope 0.
 * Cost      Documents without any inner identifier, which are most, are not searched for them: one
 *           pass over the keys finds that out. Few resources and anchors are looked through, many
 *           found by hash; so are the members of large objects that JSON pointers go through. All
 *           of that counts as work.
 * Ref       JSON Schema 2020-12, core, sections 8 and 9.
 * Tested by tests/schema/test_schema.c, tests/engine/test_validator.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"
#include "compiler/schema/report/doubts.h"

/* ---- URIs ------------------------------------------------------------------------------------ */

struct uri { /* RFC 3986, appendix B; NULL at = component absent */
  tsl__string scheme, authority, path, query;
};

/* How many bytes there are before one of `stops`. */
static size_t span_until(const char *p, size_t n, const char *stops) {
  size_t i = 0;
  while (i < n && !strchr(stops, p[i])) i++;
  return i;
}

/* "http://h/p?q#f" is scheme http, authority h, path /p and query q. */
static struct uri uri_parse(const char *p, size_t n) {
  struct uri u = {0};
  size_t i = span_until(p, n, ":/?#");
  if (i > 0 && i < n && p[i] == ':') {
    u.scheme = (tsl__string){p, (uint32_t)i};
    p += i + 1;
    n -= i + 1;
  }
  if (n >= 2 && p[0] == '/' && p[1] == '/') {
    i = span_until(p + 2, n - 2, "/?#");
    u.authority = (tsl__string){p + 2, (uint32_t)i};
    p += i + 2;
    n -= i + 2;
  }
  i = span_until(p, n, "?#");
  u.path = (tsl__string){p, (uint32_t)i};
  if (i < n && p[i] == '?')
    u.query = (tsl__string){p + i + 1, (uint32_t)span_until(p + i + 1, n - i - 1, "#")};
  return u;
}

/* Section 5.2.4, in place: `n` bytes at `path`; returns the new length. "/a/b/../c/./d" becomes
 * "/a/c/d". */
static size_t remove_dots(char *path, size_t n) {
  size_t out = 0, i = 0;
  /* at the beginning, without a slash before them */
  for (size_t dots; i < n && path[i] == '.'; i += dots + 1) {
    dots = i + 1 < n && path[i + 1] == '.' ? 2 : 1;
    if (i + dots >= n) return 0;
    if (path[i + dots] != '/') break;
  }
  while (i < n) {
    size_t end = i + (path[i] == '/');
    while (end < n && path[end] != '/') end++;
    const char *segment = path + i + (path[i] == '/');
    size_t length = (size_t)(path + end - segment);
    bool last = end == n;
    if (length == 1 && segment[0] == '.') {
      if (last) path[out++] = '/';
    } else if (length == 2 && segment[0] == '.' && segment[1] == '.') {
      while (out > 0 && path[--out] != '/') continue;
      if (last) path[out++] = '/';
    } else {
      memmove(path + out, path + i, end - i);
      out += end - i;
    }
    i = end;
  }
  return out;
}

/* A component, if there is one, between two marks. */
static void append(char **out, const char *before, tsl__string s, const char *after) {
  if (!s.at) return;
  for (; *before; before++) *(*out)++ = *before;
  memcpy(*out, s.at, s.length);
  *out += s.length;
  for (; *after; after++) *(*out)++ = *after;
}

/* The absolute form of `ref` (n bytes, its fragment is dropped), NUL-terminated. */
static const char *uri_resolve(struct schema *s, const char *base_text, const char *ref, size_t n) {
  struct uri r = uri_parse(ref, n), base = uri_parse(base_text, strlen(base_text));
  char *out = tsl__schema_alloc(s, n + strlen(base_text) + 8), *p = out;
  if (!out) return NULL;
  bool own_authority = r.scheme.at || r.authority.at, own_path = own_authority || r.path.length;
  append(&p, "", r.scheme.at ? r.scheme : base.scheme, ":");
  append(&p, "//", own_authority ? r.authority : base.authority, "");
  char *path = p;
  if (!own_path) {
    append(&p, "", base.path, "");
    append(&p, "?", r.query.at ? r.query : base.query, "");
  } else {
    if (!own_authority && r.path.at[0] != '/') {
      uint32_t keep = base.path.length;
      while (keep > 0 && base.path.at[keep - 1] != '/') keep--;
      if (!keep && base.authority.at) append(&p, "", (tsl__string){"/", 1}, "");
      append(&p, "", (tsl__string){base.path.at, keep}, "");
    }
    append(&p, "", r.path, "");
    p = path + remove_dots(path, (size_t)(p - path));
    append(&p, "?", r.query, "");
  }
  *p = 0;
  return out;
}

/* ---- drafts ---------------------------------------------------------------------------------- */

bool tsl__schema_contains(const tsl__json *text, const char *word) {
  return tsl__string_has(tsl__json_text(text), tsl__string_of(word));
}

uint32_t tsl__schema_draft_named(const tsl__json *name) {
  static const struct {
    const char *word;
    uint32_t draft;
  } drafts[] = {
      {"draft-03", D3}, {"draft-04", D4}, {"draft-06", D6},
      {"draft-07", D7}, {"2019-09", D19}, {"2020-12", D20},
  };
  if (name->kind != TSL__JSON_STRING || !tsl__schema_contains(name, "json-schema.org")) return 0;
  for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++)
    if (tsl__schema_contains(name, drafts[i].word)) return drafts[i].draft;
  return 0;
}

/* The draft that $schema names; `otherwise` if it names none. */
static uint32_t draft_of(const tsl__json *root, uint32_t otherwise) {
  const tsl__json *name = tsl__json_get(root, "$schema", 7);
  const uint32_t draft = name ? tsl__schema_draft_named(name) : 0;
  return draft ? draft : otherwise;
}

/* ---- dialects -------------------------------------------------------------------------------- */

/* The text of a document that comes with the library, or from the caller. */
static bool find_document(struct schema *s, const char *uri, const char **text, size_t *length) {
  return tsl__metaschema(uri, text, length) ||
         (s->options.resolver && s->options.resolver(s->options.resolver_ctx, uri, text, length));
}

/* Its tree. An error names the document and the place in it, and points at the reference. */
static tsl__json *parse_document(struct schema *s, const char *uri, const char *text, size_t length,
                                 const tsl__json *reference) {
  tsl__json *root;
  tsl_error error;
  tsl__until until = tsl__exprs_until(s->x);
  tsl_status status = tsl__json_parse(&s->arena, &until, text, length, s->max_depth, &root, &error);
  if (status == TSL_OK) return root;
  tsl__schema_fail(s, status, reference, "<%s>, line %u, column %u: %s", uri, error.line,
                   error.column, error.message);
  return NULL;
}

/* Where # is, or the end. */
static size_t fragment_at(const char *p, size_t n) {
  const char *hash = memchr(p, '#', n);
  return hash ? (size_t)(hash - p) : n;
}

/* A metaschema of one's own says by $vocabulary which keywords assert, and by its own $schema which
 * draft it extends. */
static bool read_metaschema(struct schema *s, const tsl__json *meta, const tsl__json *name,
                            struct dialect *out) {
  const tsl__json *list = tsl__json_get(meta, "$vocabulary", 11);
  out->known = true;
  out->draft = draft_of(meta, 0);
  if (!list || list->kind != TSL__JSON_OBJECT || out->draft & (D3 | D4 | D6 | D7)) return true;
  out->without = tsl__schema_vocabularies();
  for (uint32_t i = 0; i < list->length; i++) {
    const tsl__json *v = &list->items[i];
    uint64_t keywords = 0;
    if (tsl__schema_vocabulary(v->key, v->key_length, &keywords))
      out->without &= ~keywords;
    else if (v->kind == TSL__JSON_TRUE)
      return tsl__schema_fail(s, TSL_ERR_UNSUPPORTED, name,
                              "the vocabulary <%.*s>, which the metaschema requires",
                              (int)v->key_length, v->key),
             false;
  }
  return true;
}

/* What the $schema of a resource's root says, if it has one, else nothing changes. A metaschema
 * that nobody knows says nothing. False after a failure. */
static bool read_dialect(struct schema *s, const tsl__json *root, uint32_t *draft,
                         uint64_t *without) {
  const tsl__json *name = tsl__json_get(root, "$schema", 7);
  if (!name) return true;
  if (name->kind != TSL__JSON_STRING)
    return tsl__schema_fail(s, TSL_ERR_SCHEMA, name, "$schema must be the URI of a metaschema"),
           false;
  *without = 0;
  *draft = draft_of(root, *draft);
  if (tsl__schema_contains(name, "json-schema.org")) return true;
  const char *text, *uri = uri_resolve(s, "", name->text, fragment_at(name->text, name->length));
  size_t length, i = 0;
  if (!uri) return false;
  while (i < s->dialects.n && strcmp(s->dialects.at[i].uri, uri) != 0 && tsl__schema_work(s, 1))
    i++;
  if (!tsl__schema_ok(s)) return false;
  if (i == s->dialects.n) {
    struct dialect d = {.uri = uri};
    const tsl__json *meta = NULL;
    if (find_document(s, uri, &text, &length) &&
        (!(meta = parse_document(s, uri, text, length, name)) ||
         !read_metaschema(s, meta, name, &d)))
      return false;
    if (!tsl__vec_push(s->alloc, &s->dialects, d))
      return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
  }
  if (s->dialects.at[i].draft) *draft = s->dialects.at[i].draft;
  *without = s->dialects.at[i].without;
  return true;
}

/* ---- what a document identifies -------------------------------------------------------------- */

static uint32_t add_resource(struct schema *s, tsl__json *root, const char *uri) {
  struct resource r = {.root = root, .uri = uri};
  if (!tsl__vec_push(s->alloc, &s->resources, r))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), UINT32_MAX;
  return (uint32_t)s->resources.n - 1;
}

/* Which keywords a resource asserts. $recursiveAnchor is known in 2019-09 alone. */
static void set_dialect(struct resource *r, uint32_t draft, uint64_t without) {
  const tsl__json *recursive = draft == D19 ? tsl__json_get(r->root, "$recursiveAnchor", 16) : NULL;
  r->draft = draft;
  r->without = without;
  r->recursive = recursive && recursive->kind == TSL__JSON_TRUE;
}

/* A name for a place. The first `skip` bytes of it are not meant: old drafts write "#name". Dynamic
 * ones of a resource are a list, so that a scope can go through them. */
static void add_anchor(struct schema *s, uint32_t resource, const tsl__json *name, uint32_t skip,
                       tsl__json *at, bool dynamic) {
  if (name->kind != TSL__JSON_STRING) return;
  struct anchor a = {.resource = resource,
                     .name = name->text + skip,
                     .length = name->length - skip,
                     .at = at,
                     .dynamic = dynamic};
  if (dynamic) a.before = s->resources.at[resource].dynamic;
  if (!tsl__vec_push(s->alloc, &s->anchors, a))
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  else if (dynamic)
    s->resources.at[resource].dynamic = (uint32_t)s->anchors.n;
}

/* The $id of a subschema, or NULL. In drafts up to 7 a $ref beside it hides it. */
static const tsl__json *identifier(const struct schema *s, const tsl__json *at, uint32_t resource) {
  uint32_t draft = s->resources.at[resource].draft;
  const tsl__json *id =
      draft & (D3 | D4) ? tsl__json_get(at, "id", 2) : tsl__json_get(at, "$id", 3);
  if (!id || id->kind != TSL__JSON_STRING) return NULL;
  if (draft & (D3 | D4 | D6 | D7) && tsl__json_get(at, "$ref", 4)) return NULL;
  return id;
}

/* What `at` itself identifies; returns the resource that it belongs to. */
static uint32_t identify(struct schema *s, tsl__json *at, uint32_t resource) {
  const tsl__json *id = identifier(s, at, resource), *name;
  if (id) {
    size_t n = fragment_at(id->text, id->length);
    if (n && at != s->resources.at[resource].root) {
      const char *uri = uri_resolve(s, s->resources.at[resource].uri, id->text, n);
      uint32_t own = s->resources.at[resource].draft;
      uint64_t without = s->resources.at[resource].without;
      if (!uri || !read_dialect(s, at, &own, &without)) return UINT32_MAX;
      resource = add_resource(s, at, uri);
      if (resource == UINT32_MAX) return UINT32_MAX;
      set_dialect(&s->resources.at[resource], own, without);
    }
    if (n + 1 < id->length && id->text[n + 1] != '/')
      add_anchor(s, resource, id, (uint32_t)n + 1, at, false);
  }
  uint32_t draft = s->resources.at[resource].draft;
  if (draft & (D19 | D20 | AUTO) && (name = tsl__json_get(at, "$anchor", 7)) != NULL)
    add_anchor(s, resource, name, 0, at, false);
  if (draft & (D20 | AUTO) && (name = tsl__json_get(at, "$dynamicAnchor", 14)) != NULL)
    add_anchor(s, resource, name, 0, at, true);
  return resource;
}

static void identify_all(struct schema *s, tsl__json *at, uint32_t resource);

/* The same for each schema of an object or a list. */
static void identify_members(struct schema *s, tsl__json *map, uint32_t resource) {
  if ((map->kind != TSL__JSON_OBJECT && map->kind != TSL__JSON_ARRAY) || !map->names) return;
  for (uint32_t i = 0; i < map->length; i++) identify_all(s, &map->items[i], resource);
}

static bool key_is(const tsl__json *member, const char *key) {
  return tsl__string_is(tsl__json_key(member), key);
}

/* Everything that `at` and the schemas in it identify. Only what is a schema is gone into: an "$id"
 * within an enum's value is data. Recursion is bounded by max_depth, as the tree is. */
static void identify_all(struct schema *s, tsl__json *at, uint32_t resource) {
  if (at->kind != TSL__JSON_OBJECT || !at->names || !tsl__schema_ok(s)) return;
  resource = identify(s, at, resource);
  uint32_t draft = resource == UINT32_MAX ? 0 : s->resources.at[resource].draft;
  uint64_t without = resource == UINT32_MAX ? 0 : s->resources.at[resource].without;
  for (uint32_t i = 0; i < at->length && tsl__schema_ok(s); i++) {
    tsl__json *m = &at->items[i];
    if (m->kind < TSL__JSON_ARRAY || !m->names) continue;
    enum keyword k = tsl__schema_keyword(m->key, m->key_length);
    if (k == KW_COUNT) {
      if (key_is(m, "$defs") || key_is(m, "definitions")) identify_members(s, m, resource);
      continue;
    }
    if (!(tsl__keyword_rows[k].drafts & draft) || without >> k & 1)
      continue; /* a word like any other */
    enum shape shape = (enum shape)tsl__keyword_rows[k].shape;
    if (shape == SHAPE_SCHEMA || k == KW_CONTENT_SCHEMA ||
        (shape == SHAPE_ITEMS && m->kind == TSL__JSON_OBJECT))
      identify_all(s, m, resource);
    else if (shape == SHAPE_MAP || shape == SHAPE_LIST || shape == SHAPE_PATTERNS ||
             shape == SHAPE_DEPENDENCIES || shape == SHAPE_ITEMS || shape == SHAPE_EXTENDS)
      identify_members(s, m, resource);
  }
}

uint32_t tsl__schema_document(struct schema *s, tsl__json *root, const char *uri, uint32_t draft) {
  uint64_t without = 0;
  /* before anything can fail: an error names the document */
  uint32_t resource = add_resource(s, root, uri);
  if (resource == UINT32_MAX) return UINT32_MAX;
  s->resources.at[resource].document = true;
  if (!read_dialect(s, root, &draft, &without)) return UINT32_MAX;
  set_dialect(&s->resources.at[resource], draft, without);
  const tsl__json *id = identifier(s, root, resource);
  size_t n = id ? fragment_at(id->text, id->length) : 0;
  const char *own = n ? uri_resolve(s, uri, id->text, n) : uri;
  if (!own) return UINT32_MAX;
  if (*uri && strcmp(own, uri) != 0)
    s->resources.at[resource].requested = uri; /* found under both */
  s->resources.at[resource].uri = own;
  identify_all(s, root, resource);
  return tsl__schema_ok(s) ? resource : UINT32_MAX;
}

/* ---- finding them ---------------------------------------------------------------------------- */

#define FEW 32u /* resources, anchors or members that are looked through */

/* What is looked for in a table, as the functions below compare it. */
struct sought {
  const struct schema *s;
  const void *at; /* a URI, a root, a name, an object */
  const char *key;
  uint32_t length, number;
  bool dynamic;
};

static bool uri_same(const void *ctx, uint32_t i) {
  const struct sought *k = ctx;
  const struct resource *r = &k->s->resources.at[i];
  return !strcmp(r->uri, k->at) || (r->requested && !strcmp(r->requested, k->at));
}

static bool root_same(const void *ctx, uint32_t i) {
  const struct sought *k = ctx;
  return k->s->resources.at[i].root == k->at;
}

static bool anchor_same(const void *ctx, uint32_t i) {
  const struct sought *k = ctx;
  const struct anchor *a = &k->s->anchors.at[i];
  return a->resource == k->number && a->length == k->length && (a->dynamic || !k->dynamic) &&
         !memcmp(a->name, k->at, k->length);
}

static bool scope_same(const void *ctx, uint32_t i) {
  const struct sought *k = ctx;
  return k->s->scopes.at[i].outer == k->length && k->s->scopes.at[i].resource == k->number;
}

static bool member_same(const void *ctx, uint32_t i) {
  const struct sought *k = ctx;
  const struct named *m = &k->s->members.at[i];
  return m->object == k->at &&
         (!k->key || (m->at->key_length == k->length && !memcmp(m->at->key, k->key, k->length)));
}

static uint64_t number_hash(uint64_t number) { return tsl__mix(number + 0x9e3779b97f4a7c15u); }
static uint64_t address_hash(const void *p) { return number_hash((uintptr_t)p); }
static uint64_t anchor_hash(const char *name, uint32_t length, uint32_t resource) {
  return tsl__hash(name, length) ^ number_hash(resource);
}

/* Of those that are the same the first stays. */
static void list_uri(struct schema *s, const char *uri, uint32_t resource) {
  struct sought k = {.s = s, .at = uri};
  uint64_t hash = tsl__hash(uri, strlen(uri));
  if (tsl__table_find(&s->uri_table, hash, uri_same, &k) == UINT32_MAX)
    tsl__table_add(s, &s->uri_table, hash, resource);
}

/* Put the resources that are new since the last time into the tables. */
static void list_resources(struct schema *s) {
  for (; s->resources_listed < s->resources.n && tsl__schema_work(s, 2); s->resources_listed++) {
    const struct resource *r = &s->resources.at[s->resources_listed];
    list_uri(s, r->uri, (uint32_t)s->resources_listed);
    if (r->requested) list_uri(s, r->requested, (uint32_t)s->resources_listed);
    if (r->root)
      tsl__table_add(s, &s->root_table, address_hash(r->root), (uint32_t)s->resources_listed);
  }
}

/* The resource with that URI, UINT32_MAX if there is none yet. */
static uint32_t find_resource(struct schema *s, const char *uri) {
  struct sought k = {.s = s, .at = uri};
  if (s->resources.n > FEW) {
    list_resources(s);
    return tsl__table_find(&s->uri_table, tsl__hash(uri, strlen(uri)), uri_same, &k);
  }
  for (uint32_t i = 0; i < s->resources.n; i++)
    if (uri_same(&k, i)) return i;
  return UINT32_MAX;
}

uint32_t tsl__schema_resource_of(struct schema *s, const tsl__json *at, uint32_t resource) {
  if (!at->names) return resource;
  struct sought k = {.s = s, .at = at};
  uint32_t found = UINT32_MAX;
  if (s->resources.n > FEW) {
    list_resources(s);
    found = tsl__table_find(&s->root_table, address_hash(at), root_same, &k);
  }
  for (uint32_t i = 0; s->resources.n <= FEW && i < s->resources.n; i++)
    if (root_same(&k, i)) found = i;
  return found == UINT32_MAX ? resource : found;
}

const struct anchor *tsl__schema_anchor(struct schema *s, uint32_t resource, const char *name,
                                        uint32_t length, bool dynamic) {
  struct sought k = {.s = s, .at = name, .length = length, .number = resource, .dynamic = dynamic};
  tsl__schema_work(s, 4);
  if (s->anchors.n > FEW) {
    for (; s->anchors_listed < s->anchors.n && tsl__schema_work(s, 2); s->anchors_listed++) {
      const struct anchor *a = &s->anchors.at[s->anchors_listed];
      struct sought same = {
          .s = s, .at = a->name, .length = a->length, .number = a->resource, .dynamic = a->dynamic};
      uint64_t hash = anchor_hash(a->name, a->length, a->resource);
      if (tsl__table_find(&s->anchor_table, hash, anchor_same, &same) == UINT32_MAX)
        tsl__table_add(s, &s->anchor_table, hash, (uint32_t)s->anchors_listed);
    }
    uint32_t found =
        tsl__table_find(&s->anchor_table, anchor_hash(name, length, resource), anchor_same, &k);
    return found == UINT32_MAX ? NULL : &s->anchors.at[found];
  }
  for (uint32_t i = 0; i < s->anchors.n; i++)
    if (anchor_same(&k, i)) return &s->anchors.at[i];
  return NULL;
}

/* The member of an object with this name: a large one is listed when it is first searched. */
static tsl__json *find_member(struct schema *s, const tsl__json *object, const char *key,
                              uint32_t length) {
  if (object->length <= FEW) return tsl__json_get(object, key, length);
  struct sought k = {.s = s, .at = object};
  if (tsl__table_find(&s->member_table, address_hash(object), member_same, &k) == UINT32_MAX) {
    for (uint32_t i = 0; i < object->length && tsl__schema_work(s, 2); i++) {
      struct named m = {object, &object->items[i]};
      if (!tsl__vec_push(s->alloc, &s->members, m))
        return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), NULL;
      if (!i) tsl__table_add(s, &s->member_table, address_hash(object), (uint32_t)s->members.n - 1);
      tsl__table_add(s, &s->member_table,
                     address_hash(object) ^ tsl__hash(m.at->key, m.at->key_length),
                     (uint32_t)s->members.n - 1);
    }
  }
  k.key = key;
  k.length = length;
  uint32_t found = tsl__table_find(&s->member_table, address_hash(object) ^ tsl__hash(key, length),
                                   member_same, &k);
  return found == UINT32_MAX ? NULL : s->members.at[found].at;
}

void tsl__schema_forget_references(struct schema *s) {
  tsl__vec_free(s->alloc, &s->members);
  tsl__table_free(s, &s->uri_table);
  tsl__table_free(s, &s->root_table);
  tsl__table_free(s, &s->anchor_table);
  tsl__table_free(s, &s->scope_table);
  tsl__table_free(s, &s->member_table);
  s->resources_listed = s->anchors_listed = 0;
}

/* ---- dynamic scope --------------------------------------------------------------------------- */

/* Is there a resource with $recursiveAnchor in the scope? */
static bool has_recursive(struct schema *s, uint32_t scope) {
  while (scope && !s->resources.at[s->scopes.at[scope].resource].recursive &&
         tsl__schema_work(s, 1))
    scope = s->scopes.at[scope].outer;
  return scope != 0;
}

/* Is there a resource in the scope that has a dynamic anchor of that name? */
static bool has_name(struct schema *s, uint32_t scope, const char *name, uint32_t length) {
  while (scope && !tsl__schema_anchor(s, s->scopes.at[scope].resource, name, length, true) &&
         tsl__schema_ok(s))
    scope = s->scopes.at[scope].outer;
  return scope != 0;
}

/* Does the resource have a name that none in the scope has? What comes further in changes nothing
 * where an outer one has the name. */
static bool brings_a_name(struct schema *s, uint32_t scope, uint32_t resource) {
  if (s->resources.at[resource].recursive && !has_recursive(s, scope)) return true;
  for (uint32_t a = s->resources.at[resource].dynamic; a; a = s->anchors.at[a - 1].before)
    if (!has_name(s, scope, s->anchors.at[a - 1].name, s->anchors.at[a - 1].length)) return true;
  return false;
}

uint32_t tsl__schema_enter(struct schema *s, uint32_t scope, uint32_t resource) {
  if (!brings_a_name(s, scope, resource)) return scope;
  struct sought k = {.s = s, .length = scope, .number = resource};
  uint64_t hash = number_hash((uint64_t)scope << 32 | resource);
  uint32_t found = tsl__table_find(&s->scope_table, hash, scope_same, &k);
  if (found != UINT32_MAX) return found;
  struct scope inner = {scope, resource}, none = {0, 0};
  if ((!s->scopes.n && !tsl__vec_push(s->alloc, &s->scopes, none)) ||
      !tsl__vec_push(s->alloc, &s->scopes, inner)) {
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
    return scope;
  }
  tsl__table_add(s, &s->scope_table, hash, (uint32_t)s->scopes.n - 1);
  return (uint32_t)s->scopes.n - 1;
}

/* ---- references ------------------------------------------------------------------------------ */

/* Bring a document that a reference asks for. It has the draft of the first one if it does not say
 * another. */
static uint32_t load(struct schema *s, const char *uri, const tsl__json *reference) {
  const char *text;
  size_t length;
  if (!find_document(s, uri, &text, &length)) {
    tsl__schema_fail(s, TSL_ERR_SCHEMA, reference, "no document is known for <%s>", uri);
    return UINT32_MAX;
  }
  tsl__json *root = parse_document(s, uri, text, length, reference);
  return root ? tsl__schema_document(s, root, uri, s->resources.at[0].draft) : UINT32_MAX;
}

/* Undo percent-encoding: "a%22b" is a"b. What is no encoding stays. */
static const char *decode(struct schema *s, const char *p, size_t *n) {
  if (!memchr(p, '%', *n)) return p;
  char *out = tsl__schema_alloc(s, *n + 1);
  size_t k = 0;
  for (size_t i = 0; out && i < *n; i++) {
    int high = p[i] == '%' && i + 2 < *n ? tsl__hex_value((uint8_t)p[i + 1]) : -1,
        low = high >= 0 ? tsl__hex_value((uint8_t)p[i + 2]) : -1;
    if (low >= 0) {
      out[k++] = (char)(high * 16 + low);
      i += 2;
    } else {
      out[k++] = p[i];
    }
  }
  *n = k;
  return out;
}

/* One reference token without ~0 and ~1, which are ~ and /. */
static const char *unescape(struct schema *s, const char *p, size_t *n) {
  if (!memchr(p, '~', *n)) return p;
  char *out = tsl__schema_alloc(s, *n + 1);
  size_t k = 0;
  for (size_t i = 0; out && i < *n; i++) {
    bool escape = p[i] == '~' && i + 1 < *n && (p[i + 1] == '0' || p[i + 1] == '1');
    out[k++] = !escape ? p[i] : p[i + 1] == '0' ? '~' : '/';
    i += escape;
  }
  *n = k;
  return out;
}

/* The node that a JSON pointer leads to from a resource's root, NULL if there is none; *resource
 * becomes the one that it belongs to. */
static tsl__json *follow_pointer(struct schema *s, const char *pointer, size_t length,
                                 uint32_t *resource) {
  tsl__json *at = s->resources.at[*resource].root;
  for (size_t i = 0; at && i < length && tsl__schema_work(s, FEW);) {
    size_t from = ++i;
    while (i < length && pointer[i] != '/') i++;
    size_t n = i - from;
    const char *token = unescape(s, pointer + from, &n);
    if (!token) return NULL;
    at = at->kind == TSL__JSON_OBJECT ? find_member(s, at, token, (uint32_t)n)
                                      : tsl__json_item(at, token, n);
    if (at) *resource = tsl__schema_resource_of(s, at, *resource);
  }
  return at;
}

bool tsl__schema_resolve(struct schema *s, const struct node *from, const tsl__json *reference,
                         tsl__json **at, uint32_t *resource, const struct anchor **anchor) {
  size_t uri_length = fragment_at(reference->text, reference->length);
  *anchor = NULL;
  *resource = from->resource;
  if (uri_length && tsl__schema_means_here(s, from->resource, reference))
    return tsl__schema_fail_nowhere(s, reference, from->resource);
  if (uri_length) {
    const char *uri =
        uri_resolve(s, s->resources.at[from->resource].uri, reference->text, uri_length);
    if (!uri) return false;
    *resource = find_resource(s, uri);
    if (*resource == UINT32_MAX) *resource = load(s, uri, reference);
    if (*resource == UINT32_MAX) return false;
  }
  *at = s->resources.at[*resource].root;
  if (uri_length + 1 >= reference->length) return true;
  size_t n = reference->length - uri_length - 1;
  const char *fragment = decode(s, reference->text + uri_length + 1, &n);
  if (!fragment) return false;
  if (fragment[0] == '/') {
    *at = follow_pointer(s, fragment, n, resource);
  } else {
    *anchor = tsl__schema_anchor(s, *resource, fragment, (uint32_t)n, false);
    *at = *anchor ? (*anchor)->at : NULL;
    if (*at) *resource = tsl__schema_resource_of(s, *at, (*anchor)->resource);
  }
  return *at || tsl__schema_fail_nowhere(s, reference, *resource);
}
