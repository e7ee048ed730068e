/* alike.c - subschemas that say the same in different places of the text.
 *
 * Problem   Branches of a union often repeat one another: each spells {"type": "string"} anew. Two
 *           nodes are two lits (a lit is a node that must hold, or must fail). So if both constrain
 *           one member, it seems to have two demands, with states of their own.
 * Idea      Compare the texts, keyword by keyword, through references. Nodes that say the same are
 *           found by a hash of what they say, and the first of them stands for all.
 * Example   {"a": {"maxLength": 3}} stands in one branch, and {"a": {"maxLength": 3}} in another.
 *           The second node's `first` is the first node, and "a" has one goal in both.
 * Sound     "Alike" is certain. "Not alike" only means that this look did not show it. A keyword
 *           whose meaning depends on its place (CONTEXT in keywords.def) is never alike.
 * Cost      At most ALIKE_MAX nodes for a comparison, HASHED_MAX for a hash.
 * Tested by tests/schema/test_schema.c, tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

#define ALIKE_MAX 64u /* nodes that are looked at */

static bool alike(struct schema *s, lit a, lit b, uint32_t *left);

static bool values_alike(struct schema *s, const struct keyword_value *v,
                         const struct keyword_value *w, uint32_t *left) {
  bool named = v->keyword == KW_PROPERTIES || v->keyword == KW_PATTERN_PROPERTIES;
  if (!v->value || !w->value || v->value->kind != w->value->kind || v->count != w->count)
    return false;
  if (!v->children)
    return tsl__schema_work(s, v->value->length / 8) && tsl__json_equal(v->value, w->value);
  for (uint32_t i = 0; i < v->count; i++)
    if ((named && !tsl__json_same_key(&v->value->items[i], &w->value->items[i])) ||
        !alike(s, POS(v->children[i]), POS(w->children[i]), left))
      return false;
  return true;
}

/* Recursion is bounded by *left. */
static bool alike(struct schema *s, lit a, lit b, uint32_t *left) {
  a = tsl__schema_simplify(s, a);
  b = tsl__schema_simplify(s, b);
  const struct node *n = tsl__node_of(s, a >> 1), *m = tsl__node_of(s, b >> 1);
  if (a == b) return true;
  if ((a ^ b) & 1 || !n->mask || n->mask != m->mask || n->mask & tsl__keyword_sets.context ||
      n->types != m->types || n->resource != m->resource || n->scope != m->scope)
    return false;
  if (!*left || !tsl__schema_work(s, 4)) return false;
  --*left;
  for (uint32_t i = 0, count = tsl__ones(n->mask); i < count; i++)
    if (!values_alike(s, &n->values[i], &m->values[i], left)) return false;
  return true;
}

bool tsl__schema_says_all(struct schema *s, sid a, sid b) {
  const struct node *n = tsl__schema_plain_node(s, a), *m = tsl__schema_plain_node(s, b);
  uint32_t left = ALIKE_MAX;
  if (!n->mask || !m->mask || m->mask & ~n->mask || m->mask & tsl__keyword_sets.context ||
      n->resource != m->resource || n->scope != m->scope)
    return false;
  for (size_t i = 0; i < TSL__KEYWORD_GROUPS; i++)
    if (m->mask & tsl__keyword_groups[i] && (n->mask ^ m->mask) & tsl__keyword_groups[i])
      return false;
  for (uint32_t i = 0, count = tsl__ones(m->mask); i < count; i++)
    if (!tsl__schema_work(s, 4) ||
        !values_alike(s, tsl__keyword(n, m->values[i].keyword), &m->values[i], &left))
      return false;
  return true;
}

bool tsl__schema_alike(struct schema *s, lit a, lit b) {
  uint32_t left = ALIKE_MAX;
  return alike(s, a, b, &left);
}

#define HASHED_MAX 8u /* nodes that the hash is of */

/* Equal for nodes that are alike. */
static uint64_t likeness(struct schema *s, lit l, uint32_t *left) {
  l = tsl__schema_simplify(s, l);
  const struct node *n = tsl__node_of(s, l >> 1);
  if (!n->mask) return l;
  uint64_t h = tsl__mix((n->mask * 31 + n->types) * 31 + n->resource) + (l & 1);
  if (!*left || n->mask & tsl__keyword_sets.context) return h;
  --*left;
  for (uint32_t i = 0, count = tsl__ones(n->mask); i < count; i++) {
    const struct keyword_value *v = &n->values[i];
    h = tsl__mix(h * 31 + v->count);
    if (!v->children && v->value && v->value->kind == TSL__JSON_STRING)
      h = tsl__mix(h ^ tsl__hash(v->value->text, v->value->length));
    for (uint32_t k = 0; v->children && k < v->count; k++)
      h = tsl__mix(h * 31 + likeness(s, POS(v->children[k]), left));
  }
  return h;
}

struct likeness_key {
  struct schema *s;
  sid id;
};

static bool likeness_same(const void *ctx, uint32_t index) {
  const struct likeness_key *k = ctx;
  return tsl__schema_alike(k->s, POS(index), POS(k->id));
}

lit tsl__schema_first_alike(struct schema *s, lit l) {
  sid id = l >> 1;
  struct node *n = s->nodes.at[id];
  if (!(n->possible & (T_ARRAY | T_OBJECT)) || n->mask & tsl__keyword_sets.context ||
      tsl__only_types(n))
    return l;
  if (!n->first) {
    uint32_t left = HASHED_MAX;
    uint64_t hash = likeness(s, POS(id), &left);
    struct likeness_key key = {s, id};
    sid found = tsl__schema_work(s, HASHED_MAX)
                    ? tsl__table_find(&s->alike_table, hash, likeness_same, &key)
                    : id;
    if (found == UINT32_MAX && tsl__table_add(s, &s->alike_table, hash, id)) found = id;
    if (!tsl__schema_ok(s)) return l;
    n->first = found;
  }
  return n->first << 1 | (l & 1);
}
