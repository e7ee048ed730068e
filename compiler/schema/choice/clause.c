/* clause.c - choices as clauses: what would be 2^n alternatives is n bits of an object's state.
 *
 * Problem   {"allOf": [if/then, if/then, …]}, or dependentSchemas, or several anyOf, may be about
 *           members that have nothing to do with each other. Each is a choice, and the alternatives
 *           of the object are the product of all. Twelve choices make 4,096 alternatives.
 * Idea      Some choices have branches that ask for nothing but members, required names and counts.
 *           Such a choice is a conjunction of clauses ("a is absent, or not 1, or b is present"). A
 *           state only has to know which clauses are fulfilled (members.c). "if C then T" is ¬C ∨
 *           T, and so on. Every keyword that combines is written with and, or, not, and the ors are
 *           multiplied out.
 * Example   Say if {"properties": {"a": {"const": 1}}, "required": ["a"]} then {"properties": {"b":
 *           B}, "required": ["b"]}. There are two clauses: (a absent ∨ a is not 1 ∨ b absent ∨ b is
 *           B) and (a absent ∨ a is not 1 ∨ b present)
 * Apart     Branches of an anyOf whose product is too large are not multiplied out (held.c).
 * Seen      Beside unevaluatedProperties it also matters which branches hold (seen.c). A member
 *           that distinguishes the branches is evaluated whichever of them holds.
 * When      Choices become clauses where an object would otherwise have many alternatives (conj.c).
 *           Few alternatives stay as they are.
 * Left      These stay choices: branches about members that they do not name, or that list objects;
 *           unevaluatedProperties under a negation; more clauses than PRODUCT_MAX, CLAUSES_ALL.
 * Cost      The clauses of the branches, multiplied; at most PRODUCT_MAX for a choice.
 * Tested by tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/choice/clause.h"

#define DEPTH_MAX 8u        /* combinations inside one another */
#define PROPERTIES_MAX 256u /* of one branch */

/* What holds where a node is evaluated: an atom or, if that is NULL, a lit; and all further out. */
struct where {
  const struct where *outer;
  const struct atom *atom;
  lit l;
};

static const struct clauses always = {.n = 0}, never = {.never = true};

/* ---- and, or --------------------------------------------------------------------------------- */

/* The member is absent, or it is there and has a value that it may have in any case? */
static bool fulfilled_anyway(const struct atom *atoms) {
  for (const struct atom *a = atoms; a; a = a->next)
    if (a->kind == ATOM_KEY &&
        (tsl__atoms_have(atoms, ATOM_ABSENT, a, 0) || tsl__atoms_have(atoms, ATOM_NONE, a, 0)) &&
        (a->l == POS(SID_TRUE) || tsl__atoms_have(atoms, ATOM_KEY, a, a->l ^ 1)))
      return true;
  return false;
}

bool tsl__clauses_and_one(struct clauses *all, const struct atom *atoms) {
  if (!atoms) all->never = true;
  if (!atoms || fulfilled_anyway(atoms)) return true;
  if (all->n == CLAUSES_MAX) return false;
  all->at[all->n++] = atoms;
  return true;
}

static bool and_all(struct clauses *all, const struct clauses *more) {
  bool fits = true;
  all->never |= more->never;
  for (uint32_t i = 0; i < more->n && fits; i++) fits = tsl__clauses_and_one(all, more->at[i]);
  return fits;
}

/* The atoms of both; NULL on failure (sticky). */
const struct atom *tsl__atoms_joined(struct saying *y, const struct atom *a, const struct atom *b) {
  const struct atom *all = b;
  for (; a && tsl__schema_work(y->e->s, 1); a = a->next) {
    if (a->kind <= ATOM_KEY && tsl__atoms_have(b, (enum atom_kind)a->kind, a, a->l)) continue;
    struct atom *copy = tsl__arena_copy(&y->e->s->arena, a, sizeof *a);
    if (!copy) return tsl__schema_fail(y->e->s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), NULL;
    copy->next = all;
    all = copy;
  }
  return all;
}

/* *all = all or more. */
bool tsl__clauses_or(struct saying *y, struct clauses *all, const struct clauses *more) {
  if (more->never) return true;
  if (all->never) {
    *all = *more;
    return true;
  }
  if (all->n * more->n > PRODUCT_MAX) return false;
  const struct clauses one = *all;
  *all = always;
  for (uint32_t i = 0; i < one.n; i++)
    for (uint32_t j = 0; j < more->n; j++)
      if (!tsl__clauses_and_one(all, tsl__atoms_joined(y, one.at[i], more->at[j])) ||
          !tsl__schema_ok(y->e->s))
        return false;
  return true;
}

static bool or_lit(struct saying *y, struct clauses *all, lit l) {
  struct clauses one = always;
  return tsl__clauses_say(y, l, &one) && tsl__clauses_or(y, all, &one);
}

/* ---- keywords -------------------------------------------------------------------------------- */

static const struct atom *named(struct saying *y, const struct atom *next, enum atom_kind kind,
                                const tsl__json *name, lit l) {
  return tsl__expand_atom(y->e, next, kind, name->text, name->length, l);
}

/* The node's properties come next in the order of members. */
static bool place(struct saying *y, sid id) {
  struct place *p = tsl__schema_alloc(y->e->s, sizeof *p);
  if (!p) return false;
  p->s = id;
  *y->last = p;
  y->last = &p->next;
  return true;
}

/* Members that must be there and what their values must be are one atom. */
static bool say_properties(struct saying *y, sid id, const struct keyword_value *v,
                           struct clauses *out) {
  if (v->count > PROPERTIES_MAX) return false;
  for (uint32_t i = 0; i < v->count; i++) {
    const tsl__json *m = &v->value->items[i];
    lit l = tsl__schema_simplify(y->e->s, POS(v->children[i]));
    bool required = tsl__node_requires(tsl__node_of(y->e->s, id), m->key, m->key_length);
    if (l == POS(SID_TRUE) && !required) continue;
    const struct atom *a = l == POS(SID_FALSE)
                               ? NULL
                               : tsl__expand_atom(y->e, NULL, ATOM_KEY, m->key, m->key_length, l);
    if (!tsl__clauses_and_one(
            out, required ? a : tsl__expand_atom(y->e, a, ATOM_ABSENT, m->key, m->key_length, 0)))
      return false;
  }
  return place(y, id);
}

static bool say_count(struct saying *y, enum atom_kind kind, uint32_t count, struct clauses *out) {
  struct atom *a = tsl__expand_atom(y->e, NULL, kind, NULL, 0, 0);
  if (a) a->count = count;
  return a && tsl__clauses_and_one(out, a);
}

/* The subschema that a branch has for the member. */
static lit value_in(const struct saying *y, sid branch, const tsl__json *key) {
  const struct keyword_value *v =
      tsl__keyword_or_null(tsl__schema_plain_node(y->e->s, branch), KW_PROPERTIES);
  const tsl__json *m = v ? tsl__json_get(v->value, key->key, key->key_length) : NULL;
  return m ? tsl__schema_simplify(y->e->s, POS(v->children[m - v->value->items])) : POS(SID_TRUE);
}

/* Do the branches list values for the member, each others? */
static bool distinguished_by(struct saying *y, const struct keyword_value *v,
                             const tsl__json *key) {
  for (uint32_t i = 0; i < v->count; i++)
    for (uint32_t j = 0; j < i; j++)
      if (!tsl__schema_work(y->e->s, 16) ||
          !tsl__schema_lit_implies(y->e->s, value_in(y, v->children[i], key),
                                   value_in(y, v->children[j], key) ^ 1))
        return false;
  return v->count > 1;
}

/* Branches that a member distinguishes are not multiplied out. The member's value is one of theirs,
 * and where it is one of a branch's, the branch holds. `absent`: the member may be absent, and then
 * nothing else is demanded; else all branches require it. */
static bool say_by(struct saying *y, const struct keyword_value *v, const tsl__json *key,
                   const struct atom *absent, struct clauses *out) {
  const struct atom *one_of_theirs = absent;
  sid *theirs = tsl__schema_alloc(y->e->s, v->count * sizeof *theirs);
  bool positive = theirs != NULL;
  for (uint32_t i = 0; i < v->count && positive; i++) {
    lit l = value_in(y, v->children[i], key);
    theirs[i] = l >> 1;
    positive = !(l & 1);
  }
  for (uint32_t i = 0; i < v->count && !positive; i++)
    one_of_theirs = tsl__expand_atom(y->e, one_of_theirs, ATOM_KEY, key->key, key->key_length,
                                     value_in(y, v->children[i], key));
  if (positive)
    one_of_theirs =
        tsl__expand_atom(y->e, absent, ATOM_KEY, key->key, key->key_length,
                         POS(tsl__schema_choice_of(y->e->s, KW_ANY_OF, theirs, v->count)));
  if (!tsl__clauses_and_one(out, one_of_theirs)) return false;
  for (uint32_t i = 0; i < v->count; i++) {
    const struct atom *other =
        tsl__expand_atom(y->e, NULL, ATOM_ABSENT, key->key, key->key_length, 0);
    struct clauses one = {.at = {tsl__expand_atom(y->e, other, ATOM_KEY, key->key, key->key_length,
                                                  value_in(y, v->children[i], key) ^ 1)},
                          .n = 1};
    if (!or_lit(y, &one, POS(v->children[i])) || !and_all(out, &one)) return false;
  }
  return tsl__schema_ok(y->e->s);
}

/* The member of which each branch requires a value of its own; NULL: there is none. */
static const tsl__json *deciding_member(struct saying *y, const struct keyword_value *v) {
  const struct keyword_value *members =
      v->count
          ? tsl__keyword_or_null(tsl__schema_plain_node(y->e->s, v->children[0]), KW_PROPERTIES)
          : NULL;
  for (uint32_t i = 0; members && i < members->count; i++) {
    const tsl__json *key = &members->value->items[i];
    uint32_t n = 0;
    while (n < v->count && tsl__node_requires(tsl__schema_plain_node(y->e->s, v->children[n]),
                                              key->key, key->key_length))
      n++;
    if (n == v->count && distinguished_by(y, v, key)) return key;
  }
  return NULL;
}

static bool say_any_of(struct saying *y, const struct keyword_value *v, struct clauses *out) {
  const tsl__json *key = deciding_member(y, v);
  struct clauses any = never;
  if (key) return say_by(y, v, key, NULL, out);
  for (uint32_t i = 0; i < v->count; i++)
    if (!or_lit(y, &any, POS(v->children[i]))) return tsl__clauses_held(y, v, out);
  return and_all(out, &any);
}

/* One of them, and no two that are not plainly disjoint. */
static bool say_one_of(struct saying *y, const struct keyword_value *v, struct clauses *out) {
  if (!say_any_of(y, v, out)) return false;
  for (uint32_t i = 0; i < v->count; i++)
    for (uint32_t j = i + 1; j < v->count && tsl__schema_work(y->e->s, 16); j++) {
      struct clauses not_both = never;
      if (tsl__schema_disjoint(y->e->s, T_OBJECT, v->children[i], v->children[j])) continue;
      if (!or_lit(y, &not_both, NEG(v->children[i])) ||
          !or_lit(y, &not_both, NEG(v->children[j])) || !and_all(out, &not_both))
        return false;
    }
  return tsl__schema_ok(y->e->s);
}

/* Where the member is there its schema holds. */
static bool say_dependency(struct saying *y, const tsl__json *m, sid id, const struct atom *absent,
                           struct clauses *out) {
  const struct node *n = tsl__schema_plain_node(y->e->s, id);
  struct clauses one = {.at = {absent}, .n = 1};
  if (n->mask == OF(ONE_OF) || n->mask == OF(ANY_OF)) { /* the member itself often decides */
    const struct keyword_value *v = &n->values[0];
    if (distinguished_by(y, v, m)) return say_by(y, v, m, absent, out);
  }
  return or_lit(y, &one, POS(id)) && and_all(out, &one);
}

static bool say_dependencies(struct saying *y, const struct keyword_value *v, bool schemas,
                             struct clauses *out) {
  for (uint32_t i = 0; i < v->count; i++) {
    const tsl__json *m = &v->value->items[i];
    const struct atom *absent = tsl__expand_atom(y->e, NULL, ATOM_ABSENT, m->key, m->key_length, 0);
    if (v->children[i] != UINT32_MAX) {
      if (!say_dependency(y, m, v->children[i], absent, out)) return false;
      continue;
    }
    const tsl__json *names = m->kind == TSL__JSON_ARRAY ? m->items : m;
    for (uint32_t j = 0; !schemas && j < (m->kind == TSL__JSON_ARRAY ? m->length : 1); j++)
      if (!tsl__clauses_and_one(out, named(y, absent, ATOM_KEY, &names[j], POS(SID_TRUE))))
        return false;
  }
  return true;
}

/* Members of the condition come before those of its consequence, also where it is only denied. */
static bool say_if(struct saying *y, const struct node *n, struct clauses *out) {
  lit condition = tsl__schema_simplify(y->e->s, POS(tsl__subschema(n, KW_IF)));
  struct clauses then = never, otherwise = never;
  if (!(condition & 1) && tsl__has(tsl__node_of(y->e->s, condition >> 1), KW_PROPERTIES) &&
      !place(y, condition >> 1))
    return false;
  if (tsl__has(n, KW_THEN) &&
      !(or_lit(y, &then, condition ^ 1) && or_lit(y, &then, POS(tsl__subschema(n, KW_THEN))) &&
        and_all(out, &then)))
    return false;
  return !tsl__has(n, KW_ELSE) ||
         (or_lit(y, &otherwise, condition) &&
          or_lit(y, &otherwise, POS(tsl__subschema(n, KW_ELSE))) && and_all(out, &otherwise));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool say_own(struct saying *y, sid id, const struct node *n, struct clauses *out) {
  const struct keyword_value *required = tsl__keyword_or_null(n, KW_REQUIRED),
                             *properties = tsl__keyword_or_null(n, KW_PROPERTIES);
  if (properties && !say_properties(y, id, properties, out)) return false;
  for (uint32_t i = 0; required && i < required->value->length; i++) {
    const tsl__json *name = &required->value->items[i];
    if (properties && tsl__json_get(properties->value, name->text, name->length)) continue;
    if (!tsl__clauses_and_one(out, named(y, NULL, ATOM_KEY, name, POS(SID_TRUE)))) return false;
  }
  if (tsl__has(n, KW_MIN_PROPERTIES) && tsl__keyword(n, KW_MIN_PROPERTIES)->count &&
      !say_count(y, ATOM_MIN, tsl__keyword(n, KW_MIN_PROPERTIES)->count, out))
    return false;
  if (tsl__has(n, KW_MAX_PROPERTIES) &&
      !say_count(y, ATOM_MAX, tsl__keyword(n, KW_MAX_PROPERTIES)->count, out))
    return false;
  static const uint8_t dependencies[] = {KW_DEPENDENCIES, KW_DEPENDENT_REQUIRED,
                                         KW_DEPENDENT_SCHEMAS};
  for (size_t k = 0; k < sizeof dependencies; k++)
    if (tsl__has(n, dependencies[k]) &&
        !say_dependencies(y, tsl__keyword(n, dependencies[k]), false, out))
      return false;
  return true;
}

static bool say_node(struct saying *y, sid id, struct clauses *out) {
  const struct node *n = tsl__node_of(y->e->s, id);
  if (n->mask & tsl__keyword_sets.not_clause || !say_own(y, id, n, out)) return false;
  for (struct conjuncts c = {.n = n}; tsl__next_conjunct(&c);)
    if (!tsl__clauses_say(y, POS(c.s), out)) return false;
  if (tsl__has(n, KW_NOT) && !tsl__clauses_say(y, NEG(tsl__subschema(n, KW_NOT)), out))
    return false;
  if (tsl__has(n, KW_ANY_OF) && !say_any_of(y, tsl__keyword(n, KW_ANY_OF), out)) return false;
  if (tsl__has(n, KW_ONE_OF) && !say_one_of(y, tsl__keyword(n, KW_ONE_OF), out)) return false;
  return !tsl__has(n, KW_IF) || say_if(y, n, out);
}

/* Something that the node says fails. */
static bool say_not(struct saying *y, sid id, struct clauses *out) {
  const struct node *n = tsl__node_of(y->e->s, id);
  const struct atom *atoms = NULL;
  struct clauses any = never, none = always;
  if (n->mask & tsl__keyword_sets.not_negated_clause || !tsl__expand_negated(y->e, id, &atoms))
    return false;
  if (atoms) any = (struct clauses){.at = {atoms}, .n = 1};
  for (struct conjuncts c = {.n = n}; tsl__next_conjunct(&c);)
    if (!or_lit(y, &any, NEG(c.s))) return false;
  if (tsl__has(n, KW_NOT) && !or_lit(y, &any, POS(tsl__subschema(n, KW_NOT)))) return false;
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_ANY_OF);
  for (uint32_t i = 0; v && i < v->count; i++)
    if (!tsl__clauses_say(y, NEG(v->children[i]), &none)) return false;
  return (!v || tsl__clauses_or(y, &any, &none)) && and_all(out, &any);
}

/* *out = out and l. Recursion is bounded by DEPTH_MAX. */
bool tsl__clauses_say(struct saying *y, lit l, struct clauses *out) {
  struct schema *s = y->e->s;
  l = tsl__schema_simplify(s, l);
  if (y->depth == DEPTH_MAX || !tsl__schema_work(s, 16)) return false;
  if (tsl__schema_impossible(s, T_OBJECT, l ^ 1)) return true;
  if (tsl__schema_impossible(s, T_OBJECT, l)) return tsl__clauses_and_one(out, NULL);
  y->depth++;
  bool said = l & 1 ? say_not(y, l >> 1, out) : say_node(y, l >> 1, out);
  y->depth--;
  return said;
}

static bool say_keyword(struct saying *y, const struct node *n, enum keyword k,
                        struct clauses *out) {
  const struct keyword_value *v = tsl__keyword(n, k);
  switch (k) {
  case KW_ANY_OF: return say_any_of(y, v, out);
  case KW_ONE_OF: return say_one_of(y, v, out);
  case KW_IF: return say_if(y, n, out);
  case KW_DEPENDENCIES:
  case KW_DEPENDENT_SCHEMAS: return say_dependencies(y, v, true, out);
  default: return false;
  }
}

/* ---- what is evaluated ----------------------------------------------------------------------- */

/* Does each of the branches name the member itself? Not behind two negations, where nothing is
 * evaluated. */
static bool all_name(const struct schema *s, const struct keyword_value *v, const tsl__json *key) {
  for (uint32_t i = 0; i < v->count; i++)
    if (!tsl__names_member(s, tsl__schema_referred(s, v->children[i]), key)) return false;
  return true;
}

static bool note_seen(struct saying *y, sid id, const struct where *where) {
  struct clauses when = always;
  for (; where; where = where->outer) {
    const struct atom *one = where->atom ? where->atom : tsl__held_atom(y, where->l);
    if (!(one ? tsl__clauses_and_one(&when, one) : tsl__clauses_say(y, where->l, &when)))
      return false;
  }
  if (when.n > 1 && y->held && !tsl__clauses_held_together(y, &when)) return false;
  struct seen *p =
      when.never ? NULL : tsl__schema_alloc(y->e->s, sizeof *p + when.n * sizeof *when.at);
  if (!p) return when.never;
  *p = (struct seen){.next = y->seen, .tracker = y->tracker, .s = id, .n = when.n};
  memcpy(p->when, when.at, when.n * sizeof *when.at);
  y->seen = p;
  return true;
}

static bool see(struct saying *y, sid id, const struct where *where, const tsl__json *there);

/* Of branches that a member distinguishes it says which one holds. `there`: one that is there. */
static bool see_branches(struct saying *y, const struct keyword_value *v, const struct where *where,
                         const tsl__json *there) {
  const tsl__json *key = there && distinguished_by(y, v, there) ? there : deciding_member(y, v);
  for (uint32_t i = 0; i < v->count; i++) {
    struct where here = {where, NULL, POS(v->children[i])};
    if (key)
      here.atom = tsl__expand_atom(y->e, NULL, ATOM_KEY, key->key, key->key_length,
                                   value_in(y, v->children[i], key));
    if (!see(y, v->children[i], &here, there)) return false;
  }
  return true;
}

static bool see_dependencies(struct saying *y, const struct keyword_value *v,
                             const struct where *where) {
  for (uint32_t i = 0; i < v->count; i++) {
    const tsl__json *m = &v->value->items[i];
    if (v->children[i] == UINT32_MAX) continue;
    const struct where here = {
        .outer = where,
        .atom = tsl__expand_atom(y->e, NULL, ATOM_KEY, m->key, m->key_length, POS(SID_TRUE))};
    if (!see(y, v->children[i], &here, m)) return false;
  }
  return true;
}

static bool see_if(struct saying *y, const struct node *n, const struct where *where,
                   const tsl__json *there) {
  sid condition = tsl__subschema(n, KW_IF);
  const struct where holds = {where, NULL, POS(condition)}, fails = {where, NULL, NEG(condition)};
  return see(y, condition, &holds, there) &&
         see(y, tsl__subschema_or_true(n, KW_THEN), &holds, there) &&
         see(y, tsl__subschema_or_true(n, KW_ELSE), &fails, there);
}

static bool see_keyword(struct saying *y, const struct node *n, enum keyword k,
                        const struct where *where, const tsl__json *there) {
  if (k == KW_IF) return see_if(y, n, where, there);
  if (k == KW_ANY_OF || k == KW_ONE_OF) return see_branches(y, tsl__keyword(n, k), where, there);
  return see_dependencies(y, tsl__keyword(n, k), where);
}

/* Note what the node evaluates where it holds. False: it is not members that it names alone. */
static bool see(struct saying *y, sid id, const struct where *where, const tsl__json *there) {
  const uint64_t others = tsl__keyword_sets.evaluates_members & ~OF(PROPERTIES);
  static const uint8_t choices[] = {KW_ANY_OF, KW_ONE_OF, KW_IF, KW_DEPENDENCIES,
                                    KW_DEPENDENT_SCHEMAS};
  const struct node *n = tsl__node_of(y->e->s, id);
  if (y->depth == DEPTH_MAX || !tsl__schema_work(y->e->s, 16) || n->mask & others) return false;
  if (tsl__has(n, KW_PROPERTIES) && !note_seen(y, id, where)) return false;
  bool all = true;
  y->depth++;
  for (struct conjuncts c = {.n = n}; all && tsl__next_conjunct(&c);)
    all = see(y, c.s, where, there);
  for (size_t k = 0; k < sizeof choices && all; k++)
    all = !tsl__has(n, choices[k]) || see_keyword(y, n, choices[k], where, there);
  y->depth--;
  return all;
}

/* ---- together -------------------------------------------------------------------------------- */

bool tsl__expand_in_clauses(struct expansion *e, struct branch *b, sid s, enum keyword k,
                            const struct tracker *tracker) {
  struct saying y = {.e = e, .tracker = tracker, .seen = b->seen};
  struct clauses all = always;
  const struct node *n = tsl__node_of(e->s, s);
  const struct branch before = *b;
  y.last = &y.first;
  if (!say_keyword(&y, n, k, &all)) return false;
  struct place **last = y.last; /* conditions are said once more, but have their places */
  if (tracker && !see_keyword(&y, n, k, NULL, NULL)) return false;
  *last = NULL;
  b->seen = y.seen;
  const tsl__json *key = tracker && (k == KW_ANY_OF || k == KW_ONE_OF)
                             ? deciding_member(&y, tsl__keyword(n, k))
                             : NULL;
  /* whichever of the branches holds */
  struct part *evaluated =
      key && all_name(e->s, tsl__keyword(n, k), key) ? tsl__expand_part(e, b, PART_SEEN) : NULL;
  if (evaluated)
    evaluated->tracker = tracker, evaluated->key = key->key,
    evaluated->key_length = key->key_length;
  if (all.never) tsl__expand_clause(e, b, NULL);
  for (uint32_t i = 0; i < all.n; i++) tsl__expand_clause(e, b, all.at[i]);
  const uint32_t held = y.held_clauses + tsl__held_count(b);
  if (tsl__seen_count(e, b) > (held ? HELD_MAX : CLAUSES_ALL) + held || held > HELD_CLAUSES ||
      !tsl__schema_ok(e->s)) {
    *b = before;
    return false;
  }
  tsl__expand_held(&y, b);
  for (const struct place *place = y.first; place; place = place->next) {
    struct part *p = tsl__expand_part(e, b, PART_ORDER);
    if (!p) break;
    p->s = place->s;
    p->rank = e->rank;
    p->keyword = tsl__keyword_place(n, tsl__keyword(n, k));
  }
  return true;
}
