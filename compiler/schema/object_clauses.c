/* object_clauses.c - the clauses about one object: made, judged, grouped.
 *
 * Problem   anyOf of `required`, negated schemas and dependencies say "one of these must hold" of
 *           members that come one by one. A frame must know after each member which of these are
 *           fulfilled, and must see early which can no longer be.
 * Idea      A clause is a list of targets: this key is absent, its value satisfies that, there are
 *           so many members. Before any text comes each target is judged: certain, impossible, or
 *           open. A clause with a certain target is dropped, and so are impossible targets. If one
 *           target is left, there is no choice: it becomes a requirement, and the rest is judged
 *           again. What remains is a bit of the object's state.
 * Example   required: [a], anyOf: [{required: [a]}, {required: [b]}]: the clause {a there, b there}
 *           has a target that is certain, and goes. With "a": false besides, a cannot be there: the
 *           target goes, and b is required.
 * Groups    Clauses that name no common key have nothing to do with each other: completion.c looks
 *           for the fewest members of each group on its own.
 * Cost      Targets times rounds of judging; a round that changes nothing is the last. Doubles are
 *           found by hash.
 * Tested by tests/schema/test_schema.c, tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/object.h"

const struct keyword_value *tsl__maker_left_alone(const struct maker *m, const struct atom *a) {
  return tsl__keyword_or_null(tsl__node_of(m->s, a->s), KW_PROPERTIES);
}

/* Does a target that looks at keys by pattern, name or rest include this key, or the keys of
 * this cell? `mask`: the splitters that it matches; `known`: its number, or UINT32_MAX. */
static bool atom_holds_for(struct maker *m, const struct atom *a, uint64_t mask, uint32_t known) {
  if (a->kind == ATOM_REST) return !tsl__maker_evaluated(m, a->tracker, mask, known);
  if (a->kind == ATOM_NAME)
    return (mask >> tsl__maker_splitter_index(m, tsl__maker_name_text(m, a->l))) & 1u;
  const struct keyword_value *v =
      tsl__keyword_or_null(tsl__node_of(m->s, a->s), KW_PATTERN_PROPERTIES);
  if (a->kind == ATOM_PATTERN)
    return (mask >> tsl__maker_splitter_index(m, v->exprs[a->index])) & 1u;
  return !(mask & tsl__maker_pattern_mask(
                      m, a->s)); /* and it is none of those that the atom leaves alone */
}

/* Alternatives often say the same of a member, each in its own place. It is to be one lit. Then a
 * clause is seen to hold, or to be hopeless, where it is. And clauses that ask for the same are
 * fulfilled together instead of in 2^n ways. */
static lit one_lit(struct maker *m, uint32_t key, lit l) {
  const struct goal_entry *e = tsl__goal_of(m->s, m->o->known[key].value);
  l = tsl__schema_simplify(m->s, l);
  if (l >> 1 <= SID_FALSE) return l;
  for (uint32_t i = 0; i < e->n; i++)
    if (tsl__schema_alike(m->s, e->lits[i] | 1u, l | 1u)) return (e->lits[i] & ~1u) | (l & 1u);
  if (!m->last_demand &&
      !(m->last_demand = tsl__schema_alloc(m->s, m->o->n * sizeof *m->last_demand)))
    return l;
  for (uint32_t i = m->last_demand[key]; i && tsl__schema_work(m->s, 1);
       i = m->demands.at[i - 1].before)
    if (tsl__schema_alike(m->s, m->demands.at[i - 1].l | 1u, l | 1u))
      return (m->demands.at[i - 1].l & ~1u) | (l & 1u);
  struct demand demand = {l, m->last_demand[key]};
  if (!tsl__vec_push(m->s->alloc, &m->demands, demand)) return tsl__maker_out_of_memory(m), l;
  m->last_demand[key] = (uint32_t)m->demands.n;
  return l;
}

/* A target that is met if none of these keys is there. */
static bool make_list(struct maker *m, const struct atom *a, size_t *name, struct target *t) {
  for (const struct atom *key = a->keys; key; key = key->next) t->count++;
  uint32_t *list = tsl__schema_alloc(m->s, t->count * sizeof *list);
  for (uint32_t i = 0; list && i < t->count; i++) list[i] = m->order[(*name)++];
  t->list = list;
  return list != NULL;
}

/* `name`: where the atom's names begin, in the order of the visits; moved behind them. */
static bool make_target(struct maker *m, const struct atom *a, size_t *name, struct target *t) {
  struct object *o = m->o;
  const struct keyword_value *alone = a->kind == ATOM_EXTRA ? tsl__maker_left_alone(m, a) : NULL;
  const uint32_t *names = alone && alone->count ? m->order + *name : NULL;
  *t = (struct target){
      .kind = a->kind, .l = a->kind == ATOM_NAME ? POS(SID_TRUE) : a->l, .count = a->count};
  if (a->kind == ATOM_ABSENT || a->kind == ATOM_KEY) t->key = m->order[(*name)++];
  if (alone) *name += alone->count;
  if (a->kind == ATOM_NONE && !make_list(m, a, name, t)) return false;
  if (a->kind == ATOM_KEY) t->l = one_lit(m, t->key, t->l);
  if (a->kind == ATOM_HOLDS) t->count = tsl__maker_branch(m, a->held);
  if (a->kind < ATOM_PATTERN || a->kind > ATOM_REST) return true;
  t->kind = ATOM_PATTERN;
  uint64_t *keys = tsl__schema_alloc(m->s, o->words * sizeof *keys),
           *cells = tsl__schema_alloc(m->s, (o->cell_count / 64 + 1) * sizeof *cells);
  if (!keys || !cells) return false;
  for (uint32_t k = 0; k < o->n; k++)
    if (atom_holds_for(m, a, m->masks[k], k)) tsl__bit_set(keys, k);
  for (uint32_t i = 0; alone && i < alone->count; i++)
    keys[names[i] >> 6] &= ~((uint64_t)1 << (names[i] & 63));
  for (uint32_t c = 0; c < o->cell_count; c++)
    if (atom_holds_for(m, a, o->cells[c].mask, UINT32_MAX)) tsl__bit_set(cells, c);
  t->keys = keys;
  t->cells = cells;
  return true;
}

enum verdict { NEVER, ALWAYS, OPEN };

/* Is the clause fulfilled by the target's key if that is absent, and if it is there as well? */
static bool holds_anyway(const struct object *o, const struct clause *c, const struct target *t) {
  for (uint32_t i = 0; t->kind == ATOM_KEY && i < c->n; i++)
    if (c->targets[i].kind == ATOM_ABSENT && c->targets[i].key == t->key)
      return tsl__schema_implies(o->schema, o->known[t->key].value, t->l);
  return false;
}

/* None of the keys may be there. That is certain if none can be, and impossible if one must be. */
static enum verdict judge_list(const struct object *o, const struct target *t) {
  enum verdict v = ALWAYS;
  for (uint32_t i = 0; i < t->count; i++) {
    if (o->known[t->list[i]].required) return NEVER;
    if (o->known[t->list[i]].value != GOAL_NONE) v = OPEN;
  }
  return v;
}

/* The key may not be there at all. */
static void forbid(struct known *k) {
  k->forbidden = true;
  k->value = GOAL_NONE;
}

/* What is certain about a target before any member was read: that it will be met, that it cannot
 * be, or neither. */
static enum verdict judge(struct object *o, const struct target *t) {
  const struct known *k = t->kind == ATOM_ABSENT || t->kind == ATOM_KEY ? &o->known[t->key] : NULL;
  switch (t->kind) {
  case ATOM_ABSENT: return k->required ? NEVER : k->value == GOAL_NONE ? ALWAYS : OPEN;
  case ATOM_KEY:
    if (k->value == GOAL_NONE) return NEVER;
    if (tsl__schema_excludes(o->schema, k->value, t->l)) return NEVER;
    return k->required && tsl__schema_implies(o->schema, k->value, t->l) ? ALWAYS : OPEN;
  case ATOM_MIN: return t->count <= o->min ? ALWAYS : t->count > o->max ? NEVER : OPEN;
  case ATOM_MAX: return t->count >= o->max ? ALWAYS : t->count < o->min ? NEVER : OPEN;
  case ATOM_NONE: return judge_list(o, t);
  case ATOM_HOLDS:
    return o->branches[t->count].dead ? NEVER : o->branches[t->count].n ? OPEN : ALWAYS;
  default: return OPEN;
  }
}

/* A clause with one target left is no choice. */
static bool settle(struct object *o, const struct target *t) {
  /* the other kinds name no key */
  struct known *k = t->kind == ATOM_ABSENT || t->kind == ATOM_KEY ? &o->known[t->key] : NULL;
  switch (t->kind) {
  case ATOM_ABSENT: forbid(k); return true;
  case ATOM_NONE:
    for (uint32_t i = 0; i < t->count; i++) forbid(&o->known[t->list[i]]);
    return true;
  case ATOM_KEY:
    k->required = true;
    k->value = tsl__schema_goal_and(o->schema, k->value, &t->l, 1);
    return true;
  case ATOM_MIN: o->min = t->count; return true;
  case ATOM_MAX: o->max = t->count; return true;
  case ATOM_HOLDS: tsl__branch_must_hold(o, t->count); return true;
  default: return false;
  }
}

/* Drop what is decided; false if a clause can't be fulfilled. */
static bool simplify_clauses(struct object *o) {
  for (bool changed = true; changed;) {
    changed = false;
    uint32_t kept = 0;
    tsl__branches_look(o);
    for (uint32_t i = 0; i < o->clause_count; i++) {
      struct clause c = o->clauses[i];
      struct branch_clauses *of = c.branch ? &o->branches[c.branch - 1] : NULL;
      bool always = of && (of->dead || !of->used);
      uint32_t n = 0;
      for (uint32_t j = 0; j < c.n; j++) always = always || holds_anyway(o, &c, &c.targets[j]);
      for (uint32_t j = 0; j < c.n; j++) {
        enum verdict v = judge(o, &c.targets[j]);
        always = always || v == ALWAYS;
        if (v == OPEN) c.targets[n++] = c.targets[j];
      }
      c.n = n;
      changed = changed || (of && (always || !n));
      if (always) continue;
      if (!n && !of) return false;
      if (!n)
        of->dead = true;
      else if (n == 1 && !of && settle(o, &c.targets[0]))
        changed = true;
      else
        o->clauses[kept++] = c;
    }
    o->clause_count = kept;
  }
  return true;
}

/* The same for equal targets; 0: they are not compared. */
static uint64_t target_hash(const struct target *t) {
  if (t->kind == ATOM_PATTERN || t->kind == ATOM_NONE) return 0;
  return tsl__mix(((uint64_t)t->key << 32 | t->l) + 31 * (uint64_t)t->count) + t->kind;
}

/* Has a clause a target that is equal to t? */
static bool has_target(const struct clause *c, const struct target *t) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->targets[i].kind == t->kind && c->targets[i].key == t->key && c->targets[i].l == t->l &&
        c->targets[i].count == t->count)
      return true;
  return false;
}

/* The same targets in any order. */
static bool same_targets(const struct clause *a, const struct clause *b) {
  uint32_t i = 0;
  if (a->branch != b->branch) return false;
  while (i < a->n && a->n == b->n && has_target(b, &a->targets[i]) && has_target(a, &b->targets[i]))
    i++;
  return i == a->n && a->n == b->n;
}

/* Branches of a oneOf that differ in what does not matter here make the same clause n times: keep
 * one of each. */
static bool drop_doubles(struct object *o) {
  uint64_t *hashes = tsl__schema_alloc(o->schema, (o->clause_count + 1) * sizeof *hashes);
  uint32_t kept = 0;
  for (uint32_t i = 0; hashes && i < o->clause_count; i++) {
    const struct clause c = o->clauses[i];
    uint64_t all = c.branch; /* in any order */
    bool compared = true;
    for (uint32_t j = 0; j < c.n; j++) {
      const uint64_t one = target_hash(&c.targets[j]);
      compared = compared && one;
      all += one;
    }
    uint32_t same = compared ? 0 : kept;
    while (same < kept && (hashes[same] != all || !same_targets(&c, &o->clauses[same]))) same++;
    if (same < kept) continue;
    hashes[kept] = compared ? all : 0;
    o->clauses[kept++] = c;
  }
  o->clause_count = kept;
  return hashes && tsl__schema_work(o->schema, kept);
}

/* Clauses of parts, with names as numbers. Then those that are certain go, and what they force
 * is required. */
bool tsl__maker_clauses(struct maker *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->part_count; i++) n += m->parts[i]->kind == PART_CLAUSE;
  if (!n) return true;
  m->o->clauses = tsl__schema_alloc(m->s, n * sizeof *m->o->clauses);
  if (!m->o->clauses) return false;
  for (uint32_t i = 0; i < m->part_count; i++) {
    if (m->parts[i]->kind != PART_CLAUSE) continue;
    struct clause *c = &m->o->clauses[m->o->clause_count++];
    uint32_t atoms = 0;
    for (const struct atom *a = m->parts[i]->atoms; a; a = a->next) atoms++;
    c->targets = tsl__schema_alloc(m->s, (atoms + 1) * sizeof *c->targets);
    size_t name = m->first_names[i];
    if (m->parts[i]->held) c->branch = tsl__maker_branch(m, m->parts[i]->held) + 1;
    for (const struct atom *a = m->parts[i]->atoms; c->targets && a; a = a->next)
      if (!make_target(m, a, &name, &c->targets[c->n++])) return false;
  }
  if (!tsl__schema_ok(m->s) || !tsl__branches_make(m) || !simplify_clauses(m->o) ||
      !drop_doubles(m->o))
    return false;
  tsl__branches_look(m->o);
  return true;
}

/* ---- which keys they tie together ------------------------------------------------------------ */

/* Notes the keys that clauses ask about. */
void tsl__clauses_tie(struct object *o, uint64_t *tied) {
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t j = 0; j < o->clauses[i].n; j++) {
      const struct target *t = &o->clauses[i].targets[j];
      if (t->kind == ATOM_ABSENT || t->kind == ATOM_KEY) tsl__bit_set(tied, t->key);
      for (uint32_t k = 0; t->kind == ATOM_NONE && k < t->count; k++)
        tsl__bit_set(tied, t->list[k]);
      if (t->kind == ATOM_PATTERN)
        for (uint32_t w = 0; w < o->words; w++) tied[w] |= t->keys[w];
      if (t->kind == ATOM_MAX) o->capped = true;
    }
}

/* The clause that a clause was found to share keys with, first of them all. */
static uint32_t first_of(uint32_t *with, uint32_t i) {
  while (with[i] != i) i = with[i] = with[with[i]];
  return i;
}

/* Clauses may ask for nothing but known keys, while the number of members does not matter. Then
 * groups of them have nothing to do with each other. */
bool tsl__clauses_group(struct object *o) {
  /* by key: a clause that asks about it, + 1 */
  uint32_t with[TSL__SCHEMA_CLAUSES], number[TSL__SCHEMA_CLAUSES],
      *asks = tsl__schema_alloc(o->schema, (o->n + 1) * sizeof *asks);
  uint32_t *groups = tsl__schema_alloc(o->schema, o->clause_count * sizeof *groups);
  if (!asks || !groups) return false;
  if (o->min || o->max != TSL__INF) return true;
  for (uint32_t i = 0; i < o->clause_count; i++) {
    with[i] = i;
    for (const struct target *t = o->clauses[i].targets;
         t < o->clauses[i].targets + o->clauses[i].n; t++) {
      if (t->kind != ATOM_ABSENT && t->kind != ATOM_KEY && t->kind != ATOM_NONE) return true;
      const uint32_t *key = t->kind == ATOM_NONE ? t->list : &t->key;
      for (uint32_t j = 0; j < (t->kind == ATOM_NONE ? t->count : 1); j++) {
        if (asks[key[j]]) with[first_of(with, asks[key[j]] - 1)] = first_of(with, i);
        asks[key[j]] = i + 1;
      }
    }
  }
  for (uint32_t i = 0; i < o->clause_count; i++)
    if (first_of(with, i) == i) number[i] = o->group_count++;
  for (uint32_t i = 0; i < o->clause_count; i++) groups[i] = number[first_of(with, i)];
  o->groups = groups;
  return true;
}
