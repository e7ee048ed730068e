/* disjoint.c - subschemas that exclude each other, as far as a look at their keywords shows it.
 *
 * Problem   oneOf of n branches says that one holds and all others fail. Each "fails" is a
 *           negation, and a chain of n if-then would become 2^n alternatives.
 * Idea      Real schemas distinguish their alternatives by type, by const or enum of a member that
 *           is required, or by a closed list of members. Seeing that early keeps oneOf as cheap as
 *           anyOf. Everything here is an approximation on the safe side: "disjoint" is certain,
 *           "not disjoint" only means that this look did not show it.
 * Example   A is {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}, B the same with
 *           "b", and both are objects. The member kind is required in both, and no value is "a" and
 *           "b". So A and B are disjoint, and B need not be negated where A holds. If neither
 *           requires the member, {} satisfies both, and they are not disjoint.
 * Memory    Two tables keep the last pairs and their answers: clauses look at the same pairs again
 *           and again.
 * Tested by tests/schema/test_choices.c, tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/number/decimal.h"
#include "compiler/schema/goal.h"

const tsl__json *tsl__schema_listed(const struct schema *s, sid id, uint32_t *n) {
  const struct node *node = tsl__schema_plain_node(s, id);
  for (int steps = 0; steps < 8 && tsl__has(node, KW_REF); steps++) {
    if (tsl__has(node, KW_CONST) || tsl__has(node, KW_ENUM)) break;
    node = tsl__node_of(s, tsl__subschema(node, KW_REF));
  }
  *n = 1;
  if (tsl__has(node, KW_CONST)) return tsl__keyword(node, KW_CONST)->value;
  if (!tsl__has(node, KW_ENUM)) return NULL;
  *n = tsl__keyword(node, KW_ENUM)->value->length;
  return tsl__keyword(node, KW_ENUM)->value->items;
}

/* Strings by a pattern, and nothing but strings. */
static bool patterned(const struct schema *s, sid id) {
  const struct node *n = tsl__schema_plain_node(s, id);
  return n->possible == T_STRING && tsl__has(n, KW_PATTERN);
}

/* Does the subschema distinguish values: by a list, or by a pattern of strings? */
static bool is_value_list(const struct schema *s, sid id) {
  uint32_t ignored;
  return tsl__schema_listed(s, id, &ignored) || patterned(s, id);
}

static bool no_common_string(struct schema *s, sid a, sid b) {
  bool any;
  tsl__expr one = tsl__schema_text(s, (lit[]){POS(a)}, 1, &any),
            other = tsl__schema_text(s, (lit[]){POS(b)}, 1, &any);
  if (tsl__node_at(s->x, one).kind == TSL__K_LIT && tsl__node_at(s->x, other).kind == TSL__K_LIT)
    return one != other;
  return tsl__schema_text(s, (lit[]){POS(a), POS(b)}, 2, &any) == TSL__NONE;
}

static bool only_strings(const tsl__json *values, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (values[i].kind != TSL__JSON_STRING) return false;
  return true;
}

#define LOOPED_MAX 16u /* values of a list that are compared one by one */

/* Values that others are looked for among: if they are many, by their hash. */
struct values {
  struct schema *s;
  const tsl__json *at;
  uint32_t n;
  struct table by_hash;
};

uint64_t tsl__schema_value_hash(const tsl__json *v) {
  if (v->kind == TSL__JSON_NUMBER) return tsl__decimal_text_hash(v->text, v->length);
  return v->kind == TSL__JSON_STRING ? tsl__hash(v->text, v->length) : (uint64_t)v->kind;
}

static struct values values_among(struct schema *s, const tsl__json *at, uint32_t n,
                                  uint32_t sought) {
  struct values v = {s, at, n, {0}};
  for (uint32_t i = 0; i < n && n > LOOPED_MAX && sought > 1 && tsl__schema_work(s, 1); i++)
    tsl__table_add(s, &v.by_hash, tsl__schema_value_hash(&at[i]), i);
  return v;
}

struct sought {
  const struct values *in;
  const tsl__json *value;
};

static bool is_sought(const void *ctx, uint32_t index) {
  const struct sought *k = ctx;
  return tsl__schema_work(k->in->s, 4) && tsl__json_equal(&k->in->at[index], k->value);
}

static bool has_value(const struct values *v, const tsl__json *value) {
  struct sought key = {v, value};
  if (v->by_hash.capacity)
    return tsl__schema_work(v->s, 4) && tsl__table_find(&v->by_hash, tsl__schema_value_hash(value),
                                                        is_sought, &key) != UINT32_MAX;
  for (uint32_t i = 0; i < v->n && tsl__schema_ok(v->s); i++)
    if (is_sought(&key, i)) return true;
  return false;
}

bool tsl__schema_lists_disjoint(struct schema *s, sid a, sid b) {
  uint32_t n, m, i = 0;
  const tsl__json *x = tsl__schema_listed(s, a, &n), *y = tsl__schema_listed(s, b, &m);
  if ((x ? only_strings(x, n) : patterned(s, a)) && (y ? only_strings(y, m) : patterned(s, b)) &&
      !(x && y))
    return no_common_string(s, a, b);
  if (!x || !y) return false;
  struct values others = values_among(s, y, m, n);
  while (i < n && x[i].kind < TSL__JSON_ARRAY && !has_value(&others, &x[i])) i++;
  tsl__table_free(s, &others.by_hash);
  return i == n && tsl__schema_ok(s);
}

#define CORE_DEPTH 4
#define ITEMS_MAX 8u     /* first items that are compared */
#define BRANCHES_DEPTH 2 /* alternatives inside one another that are looked through */

/* Subschema number i of those that hold where the node does, of objects: references, allOf, and if
 * with then where no object satisfies else. UINT32_MAX: there are no more. */
static sid held_part(const struct schema *s, const struct node *n, uint32_t i) {
  static const uint8_t all[] = {KW_REF, KW_ALL_OF};
  for (unsigned k = 0; k < sizeof all; k++) {
    const struct keyword_value *v = tsl__keyword_or_null(n, all[k]);
    if (v && i < v->count) return v->children[i];
    if (v) i -= v->count;
  }
  if (i > 1 || !tsl__has(n, KW_IF) || !tsl__has(n, KW_ELSE) ||
      !tsl__schema_impossible(s, T_OBJECT, POS(tsl__subschema(n, KW_ELSE))))
    return UINT32_MAX;
  if (i == 0) return tsl__subschema(n, KW_IF);
  return tsl__has(n, KW_THEN) ? tsl__subschema(n, KW_THEN) : UINT32_MAX;
}

/* The nodes that hold where a subschema does, of objects: its own first, then those of its parts,
 * and of theirs, down to CORE_DEPTH. */
struct held {
  sid at[CORE_DEPTH + 1];
  uint32_t part[CORE_DEPTH + 1]; /* of each: the next one to be looked at */
  int depth;
  bool begun;
};

static struct held held_by(sid id) { return (struct held){.at = {id}}; }

static const struct node *next_held(const struct schema *s, struct held *h) {
  if (!h->begun) return h->begun = true, tsl__node_of(s, h->at[0]);
  for (; h->depth >= 0; h->depth--) {
    sid part = h->depth < CORE_DEPTH
                   ? held_part(s, tsl__node_of(s, h->at[h->depth]), h->part[h->depth]++)
                   : UINT32_MAX;
    if (part == UINT32_MAX) continue;
    h->at[++h->depth] = part;
    h->part[h->depth] = 0;
    return tsl__node_of(s, part);
  }
  return NULL;
}

/* Where a schema demands that member `key` is one of some values: the subschema of its value, or
 * UINT32_MAX. */
static sid member_schema(const struct schema *s, sid id, const char *key, uint32_t length) {
  struct held h = held_by(id);
  for (const struct node *n; (n = next_held(s, &h)) != NULL;) {
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    for (uint32_t i = 0; v && i < v->count; i++)
      if (v->value->items[i].key_length == length && !memcmp(v->value->items[i].key, key, length) &&
          is_value_list(s, v->children[i]))
        return v->children[i];
  }
  return UINT32_MAX;
}

bool tsl__schema_demands(const struct schema *s, sid id, const char *key, uint32_t length) {
  struct held h = held_by(id);
  for (const struct node *n; (n = next_held(s, &h)) != NULL;)
    if (tsl__node_requires(n, key, length)) return true;
  return false;
}

void tsl__schema_each_listed(const struct schema *s, sid id, tsl__schema_visit *visit, void *ctx) {
  struct held h = held_by(id);
  uint32_t ignored;
  for (const struct node *n; (n = next_held(s, &h)) != NULL;) {
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    for (uint32_t i = 0; v && i < v->count; i++)
      if (tsl__schema_listed(s, v->children[i], &ignored))
        visit(ctx, &v->value->items[i], v->children[i]);
  }
}

/* Does the node allow no members but its properties? */
bool tsl__schema_closed(const struct schema *s, const struct node *n) {
  const struct keyword_value *rest = tsl__keyword_or_null(n, KW_ADDITIONAL_PROPERTIES);
  return rest && !tsl__has(n, KW_PATTERN_PROPERTIES) &&
         tsl__schema_simplify(s, POS(rest->children[0])) == POS(SID_FALSE);
}

bool tsl__schema_each_own(const struct schema *s, sid id, uint32_t max, tsl__schema_visit *visit,
                          void *ctx) {
  struct held h = held_by(id);
  const struct node *n;
  while ((n = next_held(s, &h)) != NULL && !tsl__schema_closed(s, n)) {
  }
  if (!n) return false;
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
  if (v && v->count > max) return false;
  for (uint32_t i = 0; v && i < v->count; i++)
    if (tsl__schema_simplify(s, POS(v->children[i])) != POS(SID_FALSE))
      visit(ctx, &v->value->items[i], v->children[i]);
  return true;
}

/* Is there a member that one of the two demands, and whose listed values don't meet? */
static bool tags_disjoint(struct schema *s, sid a, sid b) {
  struct held h = held_by(a);
  for (const struct node *n; (n = next_held(s, &h)) != NULL;) {
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    for (uint32_t i = 0; v && i < v->count; i++) {
      const tsl__json *m = &v->value->items[i];
      if (!is_value_list(s, v->children[i])) continue;
      sid other = member_schema(s, b, m->key, m->key_length);
      if (other == UINT32_MAX || !tsl__schema_lists_disjoint(s, v->children[i], other)) continue;
      if (tsl__schema_demands(s, a, m->key, m->key_length) ||
          tsl__schema_demands(s, b, m->key, m->key_length))
        return true;
    }
  }
  return false;
}

/* The types that a value may have: what keywords say, through references and combinations. */
static uint8_t types_of(const struct schema *s, sid id, int depth) {
  static const uint8_t combining[] = {KW_REF, KW_ALL_OF, KW_ANY_OF, KW_ONE_OF};
  const struct node *n = tsl__schema_plain_node(s, id);
  uint8_t types = n->possible;
  for (unsigned k = 0; depth < CORE_DEPTH && types && k < sizeof combining; k++) {
    const struct keyword_value *v = tsl__keyword_or_null(n, combining[k]);
    bool either = combining[k] == KW_ANY_OF || combining[k] == KW_ONE_OF;
    uint8_t some = either ? 0 : T_ALL;
    for (uint32_t i = 0; v && i < v->count; i++) {
      uint8_t one = types_of(s, v->children[i], depth + 1);
      some = either ? some | one : some & one;
    }
    if (v) types &= some;
  }
  return types;
}

/* The same of member `key`, by one node of an object. */
static uint8_t member_types_of(struct schema *s, const struct node *n, const char *key,
                               uint32_t length) {
  const struct keyword_value *own = tsl__keyword_or_null(n, KW_PROPERTIES),
                             *patterns = tsl__keyword_or_null(n, KW_PATTERN_PROPERTIES);
  const struct keyword_value *extra = tsl__keyword_or_null(n, KW_ADDITIONAL_PROPERTIES);
  const tsl__json *m = own ? tsl__json_get(own->value, key, length) : NULL;
  uint8_t types = T_ALL;
  bool named = m != NULL;
  if (m) types &= types_of(s, own->children[m - own->value->items], 0);
  for (uint32_t i = 0; patterns && i < patterns->count; i++) {
    if (!tsl__schema_work(s, length)) return T_ALL;
    if (!tsl__expr_matches(s->x, patterns->exprs[i], key, length)) continue;
    types &= types_of(s, patterns->children[i], 0);
    named = true;
  }
  if (!named && extra) types &= types_of(s, extra->children[0], 0);
  return types;
}

/* By all that holds where the subschema does: none if the member has no place in such an object. */
static uint8_t member_types(struct schema *s, sid id, const char *key, uint32_t length) {
  struct held h = held_by(id);
  uint8_t types = T_ALL;
  for (const struct node *n; types && (n = next_held(s, &h)) != NULL;)
    types &= member_types_of(s, n, key, length);
  return types;
}

static bool disjoint(struct schema *s, uint8_t type, sid a, sid b, int depth);

/* What a subschema says of member `key`, by one of the nodes that hold; UINT32_MAX: nothing. */
static sid named_member(const struct schema *s, sid id, const char *key, uint32_t length) {
  struct held h = held_by(id);
  for (const struct node *n; (n = next_held(s, &h)) != NULL;) {
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    const tsl__json *m = v ? tsl__json_get(v->value, key, length) : NULL;
    if (m) return v->children[m - v->value->items];
  }
  return UINT32_MAX;
}

/* Are all values of the member objects, or arrays, of which no one satisfies both? */
static bool nested_apart(struct schema *s, sid a, sid b, const tsl__json *key, uint8_t types,
                         int depth) {
  if ((types != T_OBJECT && types != T_ARRAY) || depth >= BRANCHES_DEPTH) return false;
  sid one = named_member(s, a, key->text, key->length),
      other = named_member(s, b, key->text, key->length);
  return one != UINT32_MAX && other != UINT32_MAX && disjoint(s, types, one, other, depth + 1);
}

/* Is there a member that b demands, and of whose values none can be one of a's? */
static bool members_apart(struct schema *s, sid a, sid b, int depth) {
  struct held h = held_by(b);
  for (const struct node *n; (n = next_held(s, &h)) != NULL;) {
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_REQUIRED);
    for (uint32_t i = 0; v && i < v->value->length && tsl__schema_work(s, 16); i++) {
      const tsl__json *key = &v->value->items[i];
      uint8_t types = member_types(s, a, key->text, key->length), both;
      if (!types) return true;
      if (types == T_ALL) continue;
      both = types & member_types(s, b, key->text, key->length);
      if (!both || nested_apart(s, a, b, key, both, depth)) return true;
    }
  }
  return false;
}

/* What a node says of item i; UINT32_MAX: nothing. */
static sid item_of(const struct node *n, uint32_t i) {
  const struct keyword_value *prefix, *rest;
  tsl__expand_item_keywords(n, &prefix, &rest);
  if (prefix && i < prefix->count) return prefix->children[i];
  return rest ? rest->children[0] : UINT32_MAX;
}

static uint32_t fewest_items(const struct node *n) {
  return tsl__has(n, KW_MIN_ITEMS) ? tsl__keyword(n, KW_MIN_ITEMS)->count : 0;
}

/* Is there an item that one of two arrays must have, and whose values can't be the other's? Or is
 * one longer than the other may be? */
static bool items_apart(struct schema *s, sid a, sid b, int depth) {
  const struct node *n = tsl__schema_plain_node(s, a), *m = tsl__schema_plain_node(s, b);
  const uint32_t min = fewest_items(n) > fewest_items(m) ? fewest_items(n) : fewest_items(m);
  for (uint32_t i = 0; i < min && i < ITEMS_MAX && tsl__schema_work(s, 16); i++) {
    sid one = item_of(n, i), other = item_of(m, i);
    if (one == UINT32_MAX || other == UINT32_MAX) continue;
    uint8_t types = types_of(s, one, 0) & types_of(s, other, 0);
    if (!types || tsl__schema_lists_disjoint(s, one, other) ||
        ((types == T_OBJECT || types == T_ARRAY) && depth < BRANCHES_DEPTH &&
         disjoint(s, types, one, other, depth + 1)))
      return true;
  }
  return (tsl__has(n, KW_MAX_ITEMS) && tsl__keyword(n, KW_MAX_ITEMS)->count < min) ||
         (tsl__has(m, KW_MAX_ITEMS) && tsl__keyword(m, KW_MAX_ITEMS)->count < min);
}

/* Is one of the two disjoint with every alternative of the other, or with a part of it? */
static bool branches_disjoint(struct schema *s, uint8_t type, sid a, sid b, int depth) {
  static const uint8_t combining[] = {KW_ANY_OF, KW_ONE_OF, KW_ALL_OF, KW_REF};
  const struct node *n = tsl__schema_plain_node(s, b);
  for (unsigned k = 0; k < sizeof combining; k++) {
    const struct keyword_value *v = tsl__keyword_or_null(n, combining[k]);
    bool every = combining[k] == KW_ANY_OF || combining[k] == KW_ONE_OF;
    uint32_t i = 0;
    while (v && i < v->count && tsl__schema_work(s, 16) &&
           disjoint(s, type, a, v->children[i], depth + 1) == every)
      i++;
    if (v && v->count && (i == v->count) == every) return tsl__schema_ok(s);
  }
  return false;
}

static bool disjoint(struct schema *s, uint8_t type, sid a, sid b, int depth) {
  if (tsl__schema_impossible(s, type, POS(a)) || tsl__schema_impossible(s, type, POS(b)))
    return true;
  if (tsl__schema_lists_disjoint(s, a, b)) return true;
  if (type == T_OBJECT &&
      (tags_disjoint(s, a, b) || members_apart(s, a, b, depth) || members_apart(s, b, a, depth)))
    return true;
  if (type == T_ARRAY && items_apart(s, a, b, depth)) return true;
  return depth < BRANCHES_DEPTH &&
         (branches_disjoint(s, type, a, b, depth) || branches_disjoint(s, type, b, a, depth));
}

/* A goal's alternatives ask for most pairs again, and so do goals of the same subschemas. */
struct compared {
  sid a, b;
  uint8_t type; /* 0: nothing is known */
  bool within;  /* alternatives were looked through */
  bool apart;
};
/* pairs that are kept, a power of two: one gives way to another with the same number */
#define APART_MAX 256u

static struct compared *memo_of(const struct schema *s, uint8_t type, sid a, sid b, bool within) {
  return &s->apart[tsl__mix(((uint64_t)a << 32 | b) + type + within) & (APART_MAX - 1)];
}

static bool is_known(const struct compared *t, uint8_t type, sid a, sid b, bool within) {
  return t->type == type && t->a == a && t->b == b && t->within == within;
}

/* What a subschema is that is nothing but a reference. */
static sid without_detours(const struct schema *s, sid id) {
  lit l = tsl__schema_simplify(s, POS(id));
  return l & 1 ? id : l >> 1;
}

/* In either order. What is apart without looking through alternatives is so with it, and what is
 * not with it is not without. */
bool tsl__schema_apart(struct schema *s, uint8_t type, sid a, sid b, bool within) {
  if (!s->apart && !(s->apart = tsl__schema_alloc(s, APART_MAX * sizeof *s->apart))) return false;
  a = without_detours(s, a);
  b = without_detours(s, b);
  sid low = a < b ? a : b, high = a < b ? b : a;
  struct compared *t = memo_of(s, type, low, high, within);
  const struct compared *other = memo_of(s, type, low, high, !within);
  if (is_known(t, type, low, high, within)) return t->apart;
  if (is_known(other, type, low, high, !within) && other->apart == within) return within;
  bool found = disjoint(s, type, a, b, within ? 0 : BRANCHES_DEPTH);
  if (tsl__schema_ok(s)) *t = (struct compared){low, high, type, within, found};
  return found;
}

bool tsl__schema_disjoint(struct schema *s, uint8_t type, sid a, sid b) {
  return tsl__schema_apart(s, type, a, b, true);
}

/* Does the node say nothing but of objects, and is the type another? */
static bool of_objects_alone(const struct node *n, uint8_t type) {
  return type != T_OBJECT && !(n->mask & ~tsl__keyword_sets.objects) && (n->types & type) == type &&
         !n->integer;
}

/* Is it plain that no value of the type satisfies l? */
bool tsl__schema_impossible(const struct schema *s, uint8_t type, lit l) {
  l = tsl__schema_simplify(s, l);
  if (l == POS(SID_FALSE)) return true;
  const struct node *n = tsl__node_of(s, l >> 1);
  return l & 1 ? of_objects_alone(n, type) : !(n->possible & type);
}

/* Is it plain that every value of the type satisfies l? */
bool tsl__expand_certain(const struct schema *s, uint8_t type, lit l) {
  return tsl__schema_impossible(s, type, l ^ 1);
}

/* Is every value that a lists among those of b? */
bool tsl__schema_list_within(struct schema *s, sid a, sid b) {
  uint32_t n, m, i = 0;
  const tsl__json *x = tsl__schema_listed(s, a, &n), *y = tsl__schema_listed(s, b, &m);
  struct values all = values_among(s, y, m, n);
  while (i < n && has_value(&all, &x[i])) i++;
  tsl__table_free(s, &all.by_hash);
  return i == n && tsl__schema_ok(s);
}

/* Does the node list values and ask for nothing else? */
bool tsl__schema_only_lists(const struct schema *s, sid id) {
  const struct node *n = tsl__schema_plain_node(s, id);
  return n->mask == OF(CONST) || n->mask == OF(ENUM);
}

/* ---- values against one more lit ------------------------------------------------------------- */

/* By the values that nodes list, all of them or some that are enough; both simplified. */
static bool implied(struct schema *s, lit a, lit l) {
  uint32_t ignored;
  if (a == l) return true;
  sid from = a >> 1, to = l >> 1;
  if (!(a & 1) && !tsl__schema_listed(s, from, &ignored)) return false;
  if (!(l & 1))
    return !(a & 1) && tsl__schema_only_lists(s, to) && tsl__schema_list_within(s, from, to);
  if (!tsl__schema_listed(s, to, &ignored)) return false;
  return a & 1 ? tsl__schema_only_lists(s, from) && tsl__schema_list_within(s, to, from)
               : tsl__schema_lists_disjoint(s, from, to);
}

bool tsl__schema_lit_implies(struct schema *s, lit a, lit l) {
  l = tsl__schema_simplify(s, l);
  return l == POS(SID_TRUE) || implied(s, tsl__schema_simplify(s, a), l);
}

/* A goal of many lits against one more. A search asks for the same at each of its steps. */
struct weighed {
  goal g;
  lit l;
  bool known, implied;
};
#define WEIGHED_FEW 4u      /* lits of a goal up to which nothing is kept */
#define WEIGHED_LEAST 256u  /* answers that are kept, a power of two */
#define WEIGHED_MOST 16384u /* the same at most */

/* Where an answer is kept; NULL: out of memory (sticky). As many again have a place once twice as
 * many have come. */
static struct weighed *weighed_at(struct schema *s, goal g, lit l) {
  if (!s->weighed || (s->weighed_anew > 2 * s->weighed_size && s->weighed_size < WEIGHED_MOST)) {
    s->weighed_size = s->weighed ? 4 * s->weighed_size : WEIGHED_LEAST;
    s->weighed = tsl__schema_alloc(s, s->weighed_size * sizeof *s->weighed);
    s->weighed_anew = 0;
  }
  return s->weighed ? &s->weighed[tsl__mix((uint64_t)g << 32 | l) & (s->weighed_size - 1)] : NULL;
}

/* A goal that was made of another implies what that one does. Recursion is as deep as it has
 * lits. */
static bool any_implies(struct schema *s, const struct goal_entry *e, lit l) {
  if (e->from != GOAL_NONE && e->n > WEIGHED_FEW)
    return tsl__schema_implies(s, e->from, l) || implied(s, e->with, l);
  for (uint32_t i = 0; i < e->n; i++)
    if (implied(s, e->lits[i], l)) return true;
  return false;
}

bool tsl__schema_implies(struct schema *s, goal g, lit l) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  l = tsl__schema_simplify(s, l);
  if (l == POS(SID_TRUE)) return true;
  if (e->n <= WEIGHED_FEW) return any_implies(s, e, l);
  struct weighed *w = weighed_at(s, g, l);
  if (!w) return false;
  if (w->known && w->g == g && w->l == l) return w->implied;
  bool found = any_implies(s, e, l);
  s->weighed_anew++;
  if (tsl__schema_ok(s)) *w = (struct weighed){g, l, true, found};
  return found;
}

#define WEIGHED_MAX 32u /* listed values that are looked at one by one */

/* Does the value satisfy l, which lists values and asks nothing else? */
static bool satisfies(struct schema *s, const tsl__json *value, lit l) {
  uint32_t n;
  const tsl__json *at = tsl__schema_listed(s, l >> 1, &n);
  const struct values all = {s, at, n, {0}};
  return has_value(&all, value) != (bool)(l & 1);
}

/* The values that one of the lits lists, and how many there are; NULL: none lists any, or few. */
static const tsl__json *few_listed(const struct schema *s, const lit *lits, uint32_t count,
                                   uint32_t *n) {
  for (uint32_t i = 0; i < count; i++) {
    const lit l = tsl__schema_simplify(s, lits[i]);
    const tsl__json *at = l & 1 ? NULL : tsl__schema_listed(s, l >> 1, n);
    if (at && *n <= WEIGHED_MAX) return at;
  }
  return NULL;
}

bool tsl__schema_rest_implies(struct schema *s, goal g, const lit *lits, uint32_t n, lit l) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  uint32_t count;
  const tsl__json *values = n ? few_listed(s, lits, n, &count) : NULL;
  if (n && !values) values = few_listed(s, e->lits, e->n, &count);
  l = tsl__schema_simplify(s, l);
  if (!values || !tsl__schema_only_lists(s, l >> 1)) return false;
  for (uint32_t i = 0; i < count && tsl__schema_work(s, n); i++) {
    bool left = !satisfies(s, &values[i], l);
    for (uint32_t j = 0; j < n && left; j++) {
      const lit demand = tsl__schema_simplify(s, lits[j]);
      left = !tsl__schema_only_lists(s, demand >> 1) || satisfies(s, &values[i], demand);
    }
    if (left) return false;
  }
  return tsl__schema_ok(s);
}

bool tsl__schema_excludes(struct schema *s, goal g, lit l) {
  return tsl__schema_implies(s, g, l ^ 1);
}

bool tsl__schema_denies(struct schema *s, lit l) {
  l = tsl__schema_simplify(s, l);
  const struct node *n = tsl__node_of(s, l >> 1);
  if (!n->mask || n->mask & ~tsl__keyword_sets.cheap_not) return false;
  uint32_t count;
  const tsl__json *values = tsl__schema_listed(s, l >> 1, &count);
  for (uint32_t i = 0; values && i < count; i++)
    if (values[i].kind >= TSL__JSON_ARRAY) return false;
  return true;
}
