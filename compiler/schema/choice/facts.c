/* facts.c - atoms that are decided within one alternative, by what already holds there.
 *
 * Problem   While a goal is expanded, an alternative gathers nodes that hold, and members that are
 *           demanded or absent. A negation that comes later often says nothing new: the atoms of
 *           its clause are decided already.
 * Idea      Look at each atom beside the facts. A member that a fact demands is not absent. A
 *           member that a closed object does not name cannot be there. If a fact says what value a
 *           member has, an atom of the contrary value fails. What is left of the clause are the
 *           open atoms. In an object whose members are all named, "some member that S does not
 *           name" means one of these: in the example, a.
 * Example   Take {"a": int, "kind": …}, closed, and the negation of {"b": int, "kind": …}, closed.
 *           The negation says: b is no integer, or there is a member but b and kind. What is left:
 *           a is there.
 * Sound     "Decided" is certain; an atom that is left open may still turn out to be decided.
 * Cost      Facts times atoms.
 * Tested by tests/schema/test_choices.c, tests/schema/test_oneof.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

#define BRANCHES_DEPTH 2 /* alternatives inside one another that are looked through */

/* The first fact of these that says that a node holds. A oneOf of many open objects demands a
 * member for each of the others. */
static const struct fact *node_in(const struct fact *facts) {
  while (facts && facts->key) facts = facts->next;
  return facts;
}

bool tsl__schema_held(const struct schema *s, const struct fact *facts, sid id) {
  lit l = tsl__schema_simplify(s, POS(id));
  for (const struct fact *t = node_in(facts); t; t = node_in(t->next))
    if (POS(t->s) == l) return true;
  return false;
}

static bool is_about(const struct fact *f, const char *key, uint32_t length) {
  return f->key && f->length == length && !memcmp(f->key, key, length);
}

static bool demanded(const struct schema *s, const struct fact *facts, const char *key,
                     uint32_t length) {
  for (; facts; facts = facts->next) {
    if (facts->key ? !facts->absent && is_about(facts, key, length)
                   : tsl__node_requires(tsl__node_of(s, facts->s), key, length))
      return true;
  }
  return false;
}

static bool excluded(struct schema *s, uint8_t type, const struct fact *facts, sid id, int depth) {
  const struct node *n = tsl__schema_plain_node(s, id);
  const struct keyword_value *v =
      tsl__keyword_or_null(n, tsl__has(n, KW_ANY_OF) ? KW_ANY_OF : KW_ONE_OF);
  for (const struct fact *t = node_in(facts); t; t = node_in(t->next))
    if (tsl__schema_work(s, 16) && tsl__schema_apart(s, type, t->s, id, false)) return true;
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
    for (const struct fact *t = node_in(facts); t; t = node_in(t->next)) {
      sid other = listed_member(s, t->s, m->key, m->key_length);
      if (other != UINT32_MAX && tsl__schema_lists_disjoint(s, v->children[i], other)) return true;
    }
  }
  return false;
}

enum atom_state { DEAD, SURE, LIVE };

/* Do two nodes list values for a member that have none in common? Then it can only be absent. */
static bool impossible_member(struct schema *s, const struct fact *facts, const char *key,
                              uint32_t length) {
  for (const struct fact *t = node_in(facts); t; t = node_in(t->next)) {
    sid a = listed_member(s, t->s, key, length);
    if (a == UINT32_MAX) continue;
    for (const struct fact *u = node_in(t->next); u; u = node_in(u->next)) {
      sid b = listed_member(s, u->s, key, length);
      if (b != UINT32_MAX && tsl__schema_lists_disjoint(s, a, b)) return true;
    }
  }
  return false;
}

/* May the member not be there: is it known to be absent, or has it no place in a closed object? */
static bool has_no_place(const struct schema *s, const struct fact *facts, const char *key,
                         uint32_t length) {
  for (; facts; facts = facts->next) {
    if (facts->absent && is_about(facts, key, length)) return true;
    if (facts->key) continue;
    const struct node *n = tsl__node_of(s, facts->s);
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    if (tsl__schema_closed(s, n) && !(v && tsl__json_get(v->value, key, length))) return true;
  }
  return false;
}

/* Does a node that holds say of the member just what l denies? */
static bool is_denied(struct schema *s, const struct fact *facts, const struct atom *a) {
  for (const struct fact *t = a->l & 1 ? node_in(facts) : NULL; t; t = node_in(t->next)) {
    const struct keyword_value *v = tsl__keyword_or_null(tsl__node_of(s, t->s), KW_PROPERTIES);
    const tsl__json *m = v ? tsl__json_get(v->value, a->key, a->key_length) : NULL;
    if (m && tsl__schema_alike(s, POS(v->children[m - v->value->items]), a->l ^ 1)) return true;
  }
  return false;
}

static enum atom_state look_at_value(struct schema *s, const struct fact *facts,
                                     const struct atom *a, bool by_name) {
  if (has_no_place(s, facts, a->key, a->key_length) ||
      impossible_member(s, facts, a->key, a->key_length) || (by_name && is_denied(s, facts, a)))
    return DEAD;
  if (a->l == POS(SID_TRUE) && demanded(s, facts, a->key, a->key_length)) return SURE;
  if (!(a->l & 1) || !tsl__schema_only_lists(s, a->l >> 1)) return LIVE;
  for (const struct fact *t = node_in(facts); t; t = node_in(t->next)) {
    sid other = listed_member(s, t->s, a->key, a->key_length);
    if (other == UINT32_MAX) continue;
    if (tsl__schema_list_within(s, other, a->l >> 1)) return DEAD;
    if (tsl__schema_lists_disjoint(s, other, a->l >> 1) &&
        demanded(s, facts, a->key, a->key_length))
      return SURE;
  }
  return LIVE;
}

static enum atom_state look(struct schema *s, const struct fact *facts, const struct atom *a,
                            bool by_name) {
  if (a->kind == ATOM_KEY) return look_at_value(s, facts, a, by_name);
  if (a->kind != ATOM_ABSENT) return LIVE;
  if (has_no_place(s, facts, a->key, a->key_length)) return SURE;
  return demanded(s, facts, a->key, a->key_length) ? DEAD : LIVE;
}

/* The node that holds and allows no members but its properties; NULL: none does. */
static const struct node *closing(const struct schema *s, const struct fact *facts) {
  facts = node_in(facts);
  while (facts && !tsl__schema_closed(s, tsl__node_of(s, facts->s))) facts = node_in(facts->next);
  return facts ? tsl__node_of(s, facts->s) : NULL;
}

/* A copy of the atom in front of the live ones, unless it is decided. False on failure. */
static bool keep_live(struct schema *s, const struct fact *facts, const struct atom *atom,
                      bool by_name, const struct atom **live, bool *sure) {
  enum atom_state state = look(s, facts, atom, by_name);
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
    if (!keep_live(s, facts, &named, true, live, sure)) return false;
  }
  return tsl__schema_ok(s);
}

const struct atom *tsl__schema_live_atoms(struct schema *s, const struct fact *facts,
                                          const struct atom *atoms, bool by_name, bool *sure) {
  const struct atom *live = NULL;
  const struct node *closed = by_name ? closing(s, facts) : NULL;
  for (; atoms; atoms = atoms->next) {
    bool named = closed && atoms->kind == ATOM_EXTRA &&
                 !tsl__has(tsl__node_of(s, atoms->s), KW_PATTERN_PROPERTIES);
    if (!(named ? keep_named(s, facts, atoms, closed, &live, sure)
                : keep_live(s, facts, atoms, by_name, &live, sure)))
      return NULL;
  }
  return live;
}
