/* disjoint.c - what is plain without following values: subschemas that exclude each other.
 *
 * Real schemas tell their alternatives apart by type, by const or enum of a member that is
 * required, or by a closed list of members. Seeing that early keeps oneOf as cheap as anyOf and a
 * chain of n if-then from becoming 2^n alternatives. Everything here is an approximation on the
 * safe side: "disjoint" is certain, "not disjoint" only means that it is not plain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
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

/* Does the subschema tell values apart: by a list, or by a pattern of strings? */
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

static bool lists_disjoint(struct schema *s, sid a, sid b) {
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
static bool is_closed(const struct schema *s, const struct node *n) {
  const struct keyword_value *rest = tsl__keyword_or_null(n, KW_ADDITIONAL_PROPERTIES);
  return rest && !tsl__has(n, KW_PATTERN_PROPERTIES) &&
         tsl__schema_simplify(s, POS(rest->children[0])) == POS(SID_FALSE);
}

bool tsl__schema_each_own(const struct schema *s, sid id, uint32_t max, tsl__schema_visit *visit,
                          void *ctx) {
  struct held h = held_by(id);
  const struct node *n;
  while ((n = next_held(s, &h)) != NULL && !is_closed(s, n)) {
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
      if (other == UINT32_MAX || !lists_disjoint(s, v->children[i], other)) continue;
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

/* Is there a member that b demands, and of whose values none can be one of a's? */
static bool members_apart(struct schema *s, sid a, sid b) {
  struct held h = held_by(b);
  for (const struct node *n; (n = next_held(s, &h)) != NULL;) {
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_REQUIRED);
    for (uint32_t i = 0; v && i < v->value->length && tsl__schema_work(s, 16); i++) {
      const tsl__json *key = &v->value->items[i];
      uint8_t types = member_types(s, a, key->text, key->length);
      if (!types || (types != T_ALL && !(types & member_types(s, b, key->text, key->length))))
        return true;
    }
  }
  return false;
}

bool tsl__schema_held(const struct schema *s, const struct fact *facts, sid id) {
  lit l = tsl__schema_simplify(s, POS(id));
  for (; facts; facts = facts->next)
    if (!facts->key && POS(facts->s) == l) return true;
  return false;
}

static bool disjoint(struct schema *s, uint8_t type, sid a, sid b, int depth);

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
  if (lists_disjoint(s, a, b)) return true;
  if (type == T_OBJECT &&
      (tags_disjoint(s, a, b) || members_apart(s, a, b) || members_apart(s, b, a)))
    return true;
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
#define TOLD_MAX 256u

static struct compared *memo_of(const struct schema *s, uint8_t type, sid a, sid b, bool within) {
  return &s->apart[tsl__mix(((uint64_t)a << 32 | b) + type + within) & (TOLD_MAX - 1)];
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
static bool apart(struct schema *s, uint8_t type, sid a, sid b, bool within) {
  if (!s->apart && !(s->apart = tsl__schema_alloc(s, TOLD_MAX * sizeof *s->apart))) return false;
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
  return apart(s, type, a, b, true);
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

/* ---- within one alternative ------------------------------------------------------------------ */

static bool is_about(const struct fact *f, const char *key, uint32_t length) {
  return f->key && f->length == length && !memcmp(f->key, key, length);
}

static bool demanded(const struct schema *s, const struct fact *facts, const char *key,
                     uint32_t length) {
  for (; facts; facts = facts->next) {
    if (!facts->absent && is_about(facts, key, length)) return true;
    if (tsl__node_requires(tsl__node_of(s, facts->s), key, length)) return true;
  }
  return false;
}

static bool excluded(struct schema *s, uint8_t type, const struct fact *facts, sid id, int depth) {
  const struct node *n = tsl__schema_plain_node(s, id);
  const struct keyword_value *v =
      tsl__keyword_or_null(n, tsl__has(n, KW_ANY_OF) ? KW_ANY_OF : KW_ONE_OF);
  for (const struct fact *t = facts; t; t = t->next)
    if (!t->key && tsl__schema_work(s, 16) && apart(s, type, t->s, id, false)) return true;
  uint32_t i = 0;
  while (v && depth < BRANCHES_DEPTH && i < v->count &&
         excluded(s, type, facts, v->children[i], depth + 1))
    i++;
  return v && v->count && i == v->count;
}

bool tsl__schema_excluded(struct schema *s, uint8_t type, const struct fact *facts, sid id) {
  return excluded(s, type, facts, id, 0) && tsl__schema_ok(s);
}

/* The subschema of a member in one node if it lists its values, or UINT32_MAX. */
static sid listed_member(const struct schema *s, sid at, const char *key, uint32_t length) {
  const struct keyword_value *v = tsl__keyword_or_null(tsl__node_of(s, at), KW_PROPERTIES);
  uint32_t ignored;
  const tsl__json *m = v ? tsl__json_get(v->value, key, length) : NULL;
  if (!m) return UINT32_MAX;
  sid child = v->children[m - v->value->items];
  return tsl__schema_listed(s, child, &ignored) ? child : UINT32_MAX;
}

bool tsl__schema_clash(struct schema *s, const struct fact *facts, sid next) {
  const struct keyword_value *v = tsl__keyword_or_null(tsl__node_of(s, next), KW_PROPERTIES);
  const struct fact all = {.next = facts, .s = next};
  uint32_t ignored;
  for (uint32_t i = 0; v && facts && i < v->count; i++) {
    const tsl__json *m = &v->value->items[i];
    if (!tsl__schema_listed(s, v->children[i], &ignored) ||
        !demanded(s, &all, m->key, m->key_length))
      continue;
    for (const struct fact *t = facts; t; t = t->next) {
      sid other = listed_member(s, t->s, m->key, m->key_length);
      if (other != UINT32_MAX && lists_disjoint(s, v->children[i], other)) return true;
    }
  }
  return false;
}

/* Is every value that a lists among those of b? */
static bool list_within(struct schema *s, sid a, sid b) {
  uint32_t n, m, i = 0;
  const tsl__json *x = tsl__schema_listed(s, a, &n), *y = tsl__schema_listed(s, b, &m);
  struct values all = values_among(s, y, m, n);
  while (i < n && has_value(&all, &x[i])) i++;
  tsl__table_free(s, &all.by_hash);
  return i == n && tsl__schema_ok(s);
}

/* Does the node list values and ask for nothing else? */
static bool only_lists(const struct schema *s, sid id) {
  const struct node *n = tsl__schema_plain_node(s, id);
  return n->mask == OF(CONST) || n->mask == OF(ENUM);
}

enum atom_state { DEAD, SURE, LIVE };

/* Do two nodes list values for a member that have none in common? Then it can only be absent. */
static bool impossible_member(struct schema *s, const struct fact *facts, const char *key,
                              uint32_t length) {
  for (const struct fact *t = facts; t; t = t->next) {
    sid a = listed_member(s, t->s, key, length);
    if (a == UINT32_MAX) continue;
    for (const struct fact *u = t->next; u; u = u->next) {
      sid b = listed_member(s, u->s, key, length);
      if (b != UINT32_MAX && lists_disjoint(s, a, b)) return true;
    }
  }
  return false;
}

/* May the member not be there: is it known to be absent, or has it no place in a closed object? */
static bool has_no_place(const struct schema *s, const struct fact *facts, const char *key,
                         uint32_t length) {
  for (; facts; facts = facts->next) {
    if (facts->absent && is_about(facts, key, length)) return true;
    const struct node *n = tsl__node_of(s, facts->s);
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    if (is_closed(s, n) && !(v && tsl__json_get(v->value, key, length))) return true;
  }
  return false;
}

/* Does a node that holds say of the member just what l denies? */
static bool is_denied(struct schema *s, const struct fact *facts, const struct atom *a) {
  for (; facts && a->l & 1; facts = facts->next) {
    const struct keyword_value *v = tsl__keyword_or_null(tsl__node_of(s, facts->s), KW_PROPERTIES);
    const tsl__json *m = v ? tsl__json_get(v->value, a->key, a->key_length) : NULL;
    if (m && tsl__schema_alike(s, POS(v->children[m - v->value->items]), a->l ^ 1)) return true;
  }
  return false;
}

static enum atom_state look_at_value(struct schema *s, const struct fact *facts,
                                     const struct atom *a) {
  if (has_no_place(s, facts, a->key, a->key_length) ||
      impossible_member(s, facts, a->key, a->key_length) || is_denied(s, facts, a))
    return DEAD;
  if (a->l == POS(SID_TRUE) && demanded(s, facts, a->key, a->key_length)) return SURE;
  if (!(a->l & 1) || !only_lists(s, a->l >> 1)) return LIVE;
  for (const struct fact *t = facts; t; t = t->next) {
    sid other = listed_member(s, t->s, a->key, a->key_length);
    if (other == UINT32_MAX) continue;
    if (list_within(s, other, a->l >> 1)) return DEAD;
    if (lists_disjoint(s, other, a->l >> 1) && demanded(s, facts, a->key, a->key_length))
      return SURE;
  }
  return LIVE;
}

static enum atom_state look(struct schema *s, const struct fact *facts, const struct atom *a) {
  if (a->kind == ATOM_KEY) return look_at_value(s, facts, a);
  if (a->kind != ATOM_ABSENT) return LIVE;
  if (has_no_place(s, facts, a->key, a->key_length)) return SURE;
  return demanded(s, facts, a->key, a->key_length) ? DEAD : LIVE;
}

/* The node that holds and allows no members but its properties; NULL: none does. */
static const struct node *closing(const struct schema *s, const struct fact *facts) {
  while (facts && !is_closed(s, tsl__node_of(s, facts->s))) facts = facts->next;
  return facts ? tsl__node_of(s, facts->s) : NULL;
}

/* A copy of the atom in front of the live ones, unless it is decided. False on failure. */
static bool keep_live(struct schema *s, const struct fact *facts, const struct atom *atom,
                      const struct atom **live, bool *sure) {
  enum atom_state state = look(s, facts, atom);
  if (state == SURE) *sure = true;
  if (state != LIVE) return true;
  struct atom *copy = tsl__arena_copy(&s->arena, atom, sizeof *atom);
  if (!copy) return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
  copy->next = *live;
  *live = copy;
  return true;
}

/* Some member that the atom's node does not name, in an object whose members are all named by
 * `closed`: one of those. */
static bool keep_named(struct schema *s, const struct fact *facts, const struct atom *atom,
                       const struct node *closed, const struct atom **live, bool *sure) {
  const struct keyword_value *all = tsl__keyword_or_null(closed, KW_PROPERTIES),
                             *own = tsl__keyword_or_null(tsl__node_of(s, atom->s), KW_PROPERTIES);
  for (uint32_t i = 0; all && i < all->count && tsl__schema_work(s, 1); i++) {
    const tsl__json *m = &all->value->items[i];
    if (own && tsl__json_get(own->value, m->key, m->key_length)) continue;
    const struct atom named = {
        .kind = ATOM_KEY, .key = m->key, .key_length = m->key_length, .l = atom->l};
    if (!keep_live(s, facts, &named, live, sure)) return false;
  }
  return tsl__schema_ok(s);
}

const struct atom *tsl__schema_live_atoms(struct schema *s, const struct fact *facts,
                                          const struct atom *atoms, bool *sure) {
  const struct atom *live = NULL;
  const struct node *closed = closing(s, facts);
  for (; atoms; atoms = atoms->next) {
    bool named = closed && atoms->kind == ATOM_EXTRA &&
                 !tsl__has(tsl__node_of(s, atoms->s), KW_PATTERN_PROPERTIES);
    if (!(named ? keep_named(s, facts, atoms, closed, &live, sure)
                : keep_live(s, facts, atoms, &live, sure)))
      return NULL;
  }
  return live;
}

/* ---- values against one more lit ------------------------------------------------------------- */

/* By the values that nodes list, all of them or some that are enough; both simplified. */
static bool implied(struct schema *s, lit a, lit l) {
  uint32_t ignored;
  if (a == l) return true;
  sid from = a >> 1, to = l >> 1;
  if (!(a & 1) && !tsl__schema_listed(s, from, &ignored)) return false;
  if (!(l & 1)) return !(a & 1) && only_lists(s, to) && list_within(s, from, to);
  if (!tsl__schema_listed(s, to, &ignored)) return false;
  return a & 1 ? only_lists(s, from) && list_within(s, to, from) : lists_disjoint(s, from, to);
}

bool tsl__schema_lit_implies(struct schema *s, lit a, lit l) {
  l = tsl__schema_simplify(s, l);
  return l == POS(SID_TRUE) || implied(s, tsl__schema_simplify(s, a), l);
}

bool tsl__schema_implies(struct schema *s, goal g, lit l) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  l = tsl__schema_simplify(s, l);
  if (l == POS(SID_TRUE)) return true;
  for (uint32_t i = 0; i < e->n; i++)
    if (implied(s, e->lits[i], l)) return true;
  return false;
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
