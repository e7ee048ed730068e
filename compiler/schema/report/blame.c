/* blame.c - why nothing satisfies a schema: the keywords that clash, or the name that has no place.
 *
 * Problem   "No value satisfies the schema" helps nobody whose schema has a thousand lines.
 * Idea      A copy of the subschema loses one keyword after the other, as long as it stays
 *           unsatisfiable (core.c). If what is left leads to a subschema that nothing satisfies by
 *           itself, or to a member or item, the search goes on there. Else the subschema is divided
 *           into those that its allOf and references lead to, and the search goes on in all of them
 *           together. Of an anyOf that does not fit one subschema is looked at. In two common cases
 *           the error names the member. One is a required name that a closed object does not have.
 *           The other is an allOf whose subschemas are closed, so that each forbids the members of
 *           the others.
 * Example   {"properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2, "title": "A"}},
 *           "required": ["a"], "type": "object"} gives "/properties/a/minimum 3,
 *           /properties/a/maximum 2, /properties/a/type "integer" clash". Without any of the three
 *           there is a value. And {"properties": {"last_name": …}, "required": ["lastname"],
 *           "additionalProperties": false} -> "lastname" is required, …: is "last_name" meant?
 * Cost      does not matter: it is the way to an error.
 * Tested by tests/schema/test_schema_report.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/schema/goal.h"
#include "compiler/schema/report/core.h"
#include "compiler/schema/report/doubts.h"
#include "compiler/schema/report/words.h"

#define STEPS_MAX 64            /* subschemas looked into */
#define OPTIONS_MAX 16u         /* subschemas of an anyOf that are tried */
#define VALUE_SHOWN 32u         /* bytes of a keyword's value */
#define COMPARED_MAX (1u << 20) /* names */

/* ---- names ----------------------------------------------------------------------------------- */

/* The property whose name is most like this one; NULL: none is like it. */
static const tsl__json *nearest(struct schema *s, const struct node *n, const tsl__json *name) {
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
  if (!v || !tsl__schema_work(s, 8u * (uint64_t)v->count)) return NULL;
  return tsl__schema_nearest(v->value, name->text, name->length);
}

const tsl__json *tsl__schema_misplaced(const struct schema *s, const struct node *asks,
                                       const struct node *closed) {
  const struct keyword_value *names = tsl__keyword_or_null(asks, KW_REQUIRED),
                             *v = tsl__keyword_or_null(closed, KW_PROPERTIES);
  if (!names || names->value->kind != TSL__JSON_ARRAY || !tsl__schema_closed(s, closed))
    return NULL;
  for (uint32_t i = 0; i < names->value->length; i++) {
    const tsl__json *name = &names->value->items[i];
    if (!v || !tsl__json_get(v->value, name->text, name->length)) return name;
  }
  return NULL;
}

/* As much of a name as is shown. */
static int shown(const char *name, uint32_t length) {
  return tsl__shown(name, length, TSL__NAME_SHOWN);
}

void tsl__schema_say_misplaced(struct schema *s, const struct node *n, const tsl__json *name,
                               char *out, size_t size) {
  const tsl__json *near = nearest(s, n, name);
  int used = snprintf(out, size, "\"%.*s\" is required, but additional properties are not allowed",
                      shown(name->text, name->length), name->text);
  if (near && used > 0 && (size_t)used < size)
    snprintf(out + used, size - (size_t)used, ": is \"%.*s\" meant?",
             shown(near->key, near->key_length), near->key);
}

/* Is it a required name that the object has no place for? Then the error names it. */
static bool blame_name(struct schema *s, const struct node *n, uint64_t mask) {
  char text[TSL__NAME_SHOWN * 2 + 128];
  const tsl__json *name = mask & OF(REQUIRED) ? tsl__schema_misplaced(s, n, n) : NULL;
  if (!name) return false;
  tsl__schema_say_misplaced(s, n, name, text, sizeof text);
  tsl__schema_fail(s, TSL_ERR_EMPTY, name, "no value satisfies the schema: %s", text);
  return true;
}

/* A closed subschema of an allOf that has no place for a name that another one requires. */
static bool blame_closed(struct schema *s, const struct node *n, uint64_t mask) {
  const struct keyword_value *v = mask & OF(ALL_OF) ? tsl__keyword(n, KW_ALL_OF) : NULL;
  for (uint32_t i = 0; v && i < v->count && v->count <= STEPS_MAX; i++)
    for (uint32_t j = 0; j <= v->count; j++) {
      const struct node *asks = j < v->count ? tsl__schema_plain_node(s, v->children[j]) : n,
                        *closed = tsl__schema_plain_node(s, v->children[i]);
      const tsl__json *name = i == j ? NULL : tsl__schema_misplaced(s, asks, closed);
      if (!name) continue;
      tsl__schema_fail(s, TSL_ERR_EMPTY, v->value,
                       "no value satisfies the schema: \"%.*s\" is required, but subschema %u of "
                       "allOf allows no additional properties: unevaluatedProperties beside allOf "
                       "sees those of all subschemas",
                       shown(name->text, name->length), name->text, (unsigned)i);
      return true;
    }
  return false;
}

/* A name that a subschema requires, and that `additionalProperties` does not see. */
static bool blame_forbidden(struct schema *s, const struct node *n, uint64_t mask) {
  char text[TSL__DOUBT_MAX];
  struct tsl__forbidden f;
  uint64_t left = COMPARED_MAX;
  if (!tsl__schema_forbidden(s, n, true, &left, &f) || !(mask >> f.via & 1)) return false;
  tsl__schema_say_forbidden(s, &f, true, text);
  tsl__schema_fail(s, TSL_ERR_EMPTY, f.at, "no value satisfies the schema: %s", text);
  return true;
}

/* A pattern in slashes, which matches nothing. */
static bool blame_pattern(struct schema *s, const struct node *n, uint64_t mask) {
  char text[TSL__DOUBT_MAX];
  const tsl__json *pattern = mask & OF(PATTERN) ? tsl__keyword(n, KW_PATTERN)->value : NULL;
  if (!pattern || !tsl__schema_doubt_pattern(pattern, text)) return false;
  tsl__schema_fail(s, TSL_ERR_EMPTY, pattern, "no value satisfies the schema: %s", text);
  return true;
}

/* A required name of one part that another part, which is closed, has no place for. */
static bool blame_apart(const struct core *c) {
  char pointer[256];
  for (uint32_t i = 0; i < c->n * c->n && tsl__schema_work(c->s, 8); i++) {
    const struct core_part *closed = &c->at[i % c->n];
    const struct node *n = tsl__node_of(c->s, closed->id);
    const tsl__json *name = c->at[i / c->n].name;
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    if (!name || i / c->n == i % c->n || !(closed->mask & OF(ADDITIONAL_PROPERTIES)) ||
        !tsl__schema_closed(c->s, n) || (v && tsl__json_get(v->value, name->text, name->length)))
      continue;
    const tsl__json *at = tsl__keyword(n, KW_ADDITIONAL_PROPERTIES)->value;
    size_t length = tsl__json_pointer(c->s->root, at, pointer, sizeof pointer);
    tsl__schema_fail(c->s, TSL_ERR_EMPTY, name,
                     "no value satisfies the schema: \"%.*s\" is required, but %s allows no other "
                     "properties than those beside it",
                     shown(name->text, name->length), name->text,
                     length < sizeof pointer ? pointer : "another document");
    return true;
  }
  return false;
}

/* ---- keywords -------------------------------------------------------------------------------- */

/* What is said of a schema that nothing satisfies. */
struct blame {
  struct schema *s;
  struct core core;
  const tsl__json *options; /* an anyOf of which one subschema is looked at, or NULL */
};

/* "/minLength 5": where a keyword is, and its value if that is short. */
static size_t put_keyword(const struct schema *s, const tsl__json *at, char *out, size_t size) {
  size_t length = tsl__json_pointer(s->root, at, out, size), used = length;
  const bool text = at->kind == TSL__JSON_STRING;
  if (length >= size) return 0;
  if ((text || at->kind == TSL__JSON_NUMBER) && at->length <= VALUE_SHOWN)
    used += (size_t)snprintf(out + used, size - used, text ? " \"%.*s\"" : " %.*s", (int)at->length,
                             at->text);
  return used < size ? used : length;
}

/* The keywords that are left, the types last: these are seldom to blame. */
static size_t put_keywords(const struct blame *b, char *out, size_t size, const tsl__json **first,
                           uint32_t *n) {
  size_t used = 0;
  *first = NULL;
  *n = 0;
  for (unsigned i = 0; i < 2 * b->core.n; i++) {
    const struct core_part *p = &b->core.at[i % b->core.n];
    const bool types = i >= b->core.n;
    for (unsigned k = 0; k < KW_COUNT; k++) {
      char one[256];
      if (!(p->mask >> k & 1u) || (k == KW_TYPE) != types) continue;
      const tsl__json *at =
          k == KW_REQUIRED && p->name ? p->name : tsl__keyword(tsl__node_of(b->s, p->id), k)->value;
      size_t length = put_keyword(b->s, at, one, sizeof one);
      if (!*first) *first = at;
      ++*n;
      if (!length || used + length + 8 >= size) continue;
      used +=
          (size_t)snprintf(out + used, size - used, "%s%.*s", used ? ", " : "", (int)length, one);
    }
  }
  return used;
}

/* A listed value of another type than is wanted, which may have quotes too many. */
static void hint_at_quotes(const struct blame *b, char out[TSL__MEANT_MAX]) {
  uint64_t all = 0;
  uint8_t types = T_ALL;
  *out = 0;
  for (uint32_t i = 0; i < b->core.n; i++) {
    all |= b->core.at[i].mask;
    if (b->core.at[i].mask & OF(TYPE)) types &= tsl__node_of(b->s, b->core.at[i].id)->types;
  }
  if (all != (OF(TYPE) | OF(ENUM)) && all != (OF(TYPE) | OF(CONST))) return;
  for (uint32_t i = 0; i < b->core.n; i++) {
    const enum keyword k = all & OF(ENUM) ? KW_ENUM : KW_CONST;
    const struct core_part *p = &b->core.at[i];
    const tsl__json *v =
        p->mask >> k & 1 ? tsl__keyword(tsl__node_of(b->s, p->id), k)->value : NULL;
    if (v && k == KW_ENUM) v = v->length ? v->items : NULL;
    const tsl__json *meant = v ? tsl__schema_unquoted(b->s, v) : NULL;
    if (meant && tsl__json_type(meant) & types) tsl__schema_meant_value(b->s, v, false, out);
  }
}

static void describe(const struct blame *b) {
  char text[400], options[128] = "", meant[TSL__MEANT_MAX];
  const tsl__json *first;
  uint32_t n;
  hint_at_quotes(b, meant);
  size_t used = put_keywords(b, text, sizeof text, &first, &n);
  if (b->options) {
    char pointer[64];
    size_t length = tsl__json_pointer(b->s->root, b->options, pointer, sizeof pointer);
    snprintf(options, sizeof options,
             "no subschema of %s fits: ", length < sizeof pointer ? pointer : "anyOf");
    first = b->options;
  }
  if (!first || !used)
    tsl__schema_fail(b->s, TSL_ERR_EMPTY, first ? first : b->s->at,
                     "no value satisfies the schema");
  else if (n > 1)
    tsl__schema_fail(b->s, TSL_ERR_EMPTY, first, "no value satisfies the schema: %s%s clash%s",
                     options, text, meant);
  else
    tsl__schema_fail(b->s, TSL_ERR_EMPTY, first, "no value satisfies the schema%s because of %s%s",
                     options, text,
                     first->kind == TSL__JSON_ARRAY && !first->length
                         ? ": the list is empty, and allows nothing"
                         : "");
}

/* ---- choices --------------------------------------------------------------------------------- */

static bool only_types(const struct core *c) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < c->n; i++) all |= c->at[i].mask;
  return !(all & ~OF(TYPE));
}

/* The part with this keyword; its number, or UINT32_MAX. */
static uint32_t part_with(const struct core *c, enum keyword k) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->at[i].mask >> k & 1) return i;
  return UINT32_MAX;
}

/* Look at one subschema of an anyOf or oneOf that is left: of those that fit by their type the
 * first. True: the core is what clashes there, or the error is made. */
static bool choose(struct blame *b, enum keyword k) {
  const uint32_t part = part_with(&b->core, k);
  if (part == UINT32_MAX || b->options) return false;
  const struct keyword_value *v = tsl__keyword(tsl__node_of(b->s, b->core.at[part].id), k);
  struct core found = {0};
  for (uint32_t i = 0; i < v->count && i < OPTIONS_MAX && tsl__schema_ok(b->s); i++) {
    struct core trial = b->core;
    tsl__core_replace(&trial, part, k, v->children[i]);
    if (trial.full || v->children[i] <= SID_FALSE) continue;
    if (k == KW_ONE_OF && !tsl__core_is_empty(&trial)) {
      tsl__schema_fail(b->s, TSL_ERR_EMPTY, v->value,
                       "no value satisfies the schema: what one subschema of oneOf allows, another "
                       "one allows, too: is anyOf meant?");
      return true;
    }
    tsl__core_shrink(&trial);
    if (!found.n || (only_types(&found) && !only_types(&trial))) found = trial;
  }
  if (!found.n || !tsl__schema_ok(b->s)) return false;
  b->core = found;
  if (v->count > 1) b->options = v->value;
  return true;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* A subschema of these keywords that holds for the same value, and that nothing satisfies by
 * itself. UINT32_MAX if there is none. */
static sid empty_conjunct(struct schema *s, sid id, uint64_t mask) {
  for (struct conjuncts c = {.n = tsl__node_of(s, id)}; tsl__next_conjunct(&c);)
    if (mask >> tsl__conjunctive[c.keyword] & 1 && tsl__node_of(s, c.s)->at &&
        tsl__schema_shortest(s, tsl__core_goal(s, &c.s, 1)) == TSL__INF)
      return c.s;
  return UINT32_MAX;
}

/* One subschema: go on in it, name what is to blame, or divide it into parts. The number of
 * subschemas to go on with; 0: there are none. */
static uint32_t blame_one(struct blame *b, sid ids[TSL__CORE_MAX]) {
  struct core *c = &b->core;
  const struct node *n = tsl__node_of(b->s, ids[0]);
  *c = (struct core){.s = b->s, .n = 1, .at = {{ids[0], ids[0], n->mask, NULL}}};
  tsl__core_shrink(c);
  const uint64_t mask = c->at[0].mask;
  const sid child = empty_conjunct(b->s, ids[0], mask);
  if (child != UINT32_MAX && tsl__node_of(b->s, child)->mask) return ids[0] = child, 1;
  const uint32_t inside = tsl__core_inside(c, ids);
  if (inside || !tsl__schema_ok(b->s)) return inside;
  if (!b->options && (blame_name(b->s, n, mask) || blame_closed(b->s, n, mask) ||
                      blame_forbidden(b->s, n, mask) || blame_pattern(b->s, n, mask)))
    return 0;
  struct core parts = {.s = b->s};
  tsl__core_add(&parts, ids[0], mask);
  if (parts.full) return 0;
  tsl__core_shrink(&parts);
  *c = parts;
  return 0;
}

/* Several subschemas of one value. */
static void divide(struct blame *b, const sid *ids, uint32_t n) {
  b->core = (struct core){.s = b->s};
  for (uint32_t i = 0; i < n; i++)
    tsl__core_add(&b->core, ids[i], tsl__node_of(b->s, ids[i])->mask);
  if (!b->core.full) tsl__core_shrink(&b->core);
}

/* Go one step on. The number of subschemas to go on with; 0: the core, or the error, is there. */
static uint32_t step(struct blame *b, sid ids[TSL__CORE_MAX], uint32_t n) {
  uint32_t inside = n == 1 ? blame_one(b, ids) : 0;
  if (n > 1) divide(b, ids, n);
  if (inside || !tsl__schema_ok(b->s)) return inside;
  inside = tsl__core_inside(&b->core, ids);
  if (inside || !tsl__schema_ok(b->s)) return inside;
  if (blame_apart(&b->core) || !(choose(b, KW_ANY_OF) || choose(b, KW_ONE_OF))) return 0;
  return tsl__schema_ok(b->s) ? tsl__core_inside(&b->core, ids) : 0;
}

/* Subschemas of one value: one, or the goal of several. */
struct place {
  sid one;
  goal several;
};

static struct place place_of(struct schema *s, const sid *ids, uint32_t n) {
  return n == 1 ? (struct place){ids[0], 0} : (struct place){0, tsl__core_goal(s, ids, n)};
}

void tsl__schema_blame(struct schema *s, sid id) {
  sid ids[TSL__CORE_MAX] = {id};
  struct place visited[STEPS_MAX];
  struct blame b = {.s = s};
  uint32_t n = 1;
  for (int steps = 0; steps < STEPS_MAX && tsl__schema_ok(s); steps++) {
    const tsl__json *at = tsl__node_of(s, ids[0])->at;
    visited[steps] = place_of(s, ids, n);
    s->at = at;
    uint32_t next = step(&b, ids, n);
    if (!next) break;
    const struct place inside = place_of(s, ids, next);
    for (int i = 0; i <= steps; i++)
      if (visited[i].one == inside.one && visited[i].several == inside.several) {
        tsl__schema_fail(s, TSL_ERR_EMPTY, at,
                         "no value satisfies the schema: each would hold another one, without end; "
                         "let the member be left out, or be null");
        return;
      }
    n = next;
  }
  if (tsl__schema_ok(s)) describe(&b);
}
