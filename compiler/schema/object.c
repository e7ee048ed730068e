/* object.c - a conjunction of parts about objects, made ready to be followed.
 *
 * Problem   Several subschemas constrain one object: by the names of members, by patterns of names,
 *           by how many there are. A frame of the matcher must know at each key what its value has
 *           to satisfy, and which keys may still come.
 * Idea      Known keys are those that any part names. Each gets one goal: what properties, matching
 *           patternProperties and additionalProperties of all parts ask of its value, together. All
 *           other keys are extra, and cells.c sorts them. Clauses become bits over keys and cells.
 * Names     No two members have the same name, so a cell of finitely many keys can be used up: the
 *           keys of a small one become known keys, those of a larger one are counted. Those of a
 *           pattern that plainly is a list, as ^a$ or ^(a|b)$, are known from the beginning. And
 *           where more than one extra member may be needed, the empty name is a known key: it is
 *           shorter than all others, but may stand only once.
 * Example   {"allOf": [{"properties": {"a": A}}, {"patternProperties": {"^a": B}, "required":
 *           ["c"]}]} has the known keys "a" with the goal A ∧ B, and "c", which is required, with
 *           any value. Of extra keys there are two cells: those that begin with a, with the goal B,
 *           and others.
 * Cost      Keys times parts, and the cells. A goal is made once for equal lits.
 * Limits    64 different patterns, TSL__SCHEMA_CELLS cells, TSL__SCHEMA_CLAUSES clauses of one
 *           object.
 * Tested by tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/schema/object.h"

void tsl__maker_out_of_memory(struct maker *m) {
  tsl__schema_fail(m->s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

static bool flatten(struct maker *m, const struct part *parts) {
  for (const struct part *p = parts; p; p = p->next) m->part_count++;
  m->parts =
      tsl__schema_alloc(m->s, (m->part_count + 1) * (sizeof *m->parts + sizeof *m->first_names));
  if (!m->parts) return false;
  m->first_names = (size_t *)(m->parts + m->part_count + 1);
  uint32_t i = m->part_count;
  for (const struct part *p = parts; p; p = p->next) m->parts[--i] = p;
  return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void name(struct maker *m, const char *key, uint32_t length) {
  tsl__string n = {key, length};
  if (!tsl__vec_push(m->s->alloc, &m->s->names, n)) tsl__maker_out_of_memory(m);
}

const struct keyword_value *tsl__maker_properties(const struct maker *m, const struct part *p) {
  return tsl__keyword_or_null(tsl__node_of(m->s, p->s), KW_PROPERTIES);
}

/* Those that have a place in the order of members. */
static const struct keyword_value *placed(const struct maker *m, const struct part *p) {
  return p->kind == PART_MEMBERS || p->kind == PART_ORDER ? tsl__maker_properties(m, p) : NULL;
}

/* The names of a part that requires all that its node does; NULL: it is another. */
static const tsl__json *required_names(const struct maker *m, const struct part *p) {
  return p->kind == PART_REQUIRED && p->s
             ? tsl__keyword(tsl__node_of(m->s, p->s), KW_REQUIRED)->value
             : NULL;
}

/* The properties of an ATOM_EXTRA's node, which it leaves alone; NULL: there are none. */
static const struct keyword_value *left_alone(const struct maker *m, const struct atom *a) {
  return tsl__keyword_or_null(tsl__node_of(m->s, a->s), KW_PROPERTIES);
}

static void visit_atom(struct maker *m, const struct part *p, const struct atom *a,
                       void (*visit)(struct maker *m, const struct part *p, const char *key,
                                     uint32_t length)) {
  if (a->kind == ATOM_ABSENT || a->kind == ATOM_KEY) visit(m, p, a->key, a->key_length);
  for (const struct atom *key = a->kind == ATOM_NONE ? a->keys : NULL; key; key = key->next)
    visit(m, p, key->key, key->key_length);
  const struct keyword_value *v = a->kind == ATOM_EXTRA ? left_alone(m, a) : NULL;
  for (uint32_t i = 0; v && i < v->count; i++)
    visit(m, p, v->value->items[i].key, v->value->items[i].key_length);
}

/* Visit the names of all parts, always in the same order. */
static void visit_names(struct maker *m, void (*visit)(struct maker *m, const struct part *p,
                                                       const char *key, uint32_t length)) {
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    const struct keyword_value *v = placed(m, p);
    for (uint32_t j = 0; v && j < v->count; j++)
      visit(m, p, v->value->items[j].key, v->value->items[j].key_length);
  }
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    const tsl__json *required = required_names(m, p);
    for (uint32_t j = 0; required && j < required->length; j++)
      visit(m, p, required->items[j].text, required->items[j].length);
    if (!required && (p->kind == PART_KEY || p->kind == PART_REQUIRED))
      visit(m, p, p->key, p->key_length);
    const struct strings *list = p->kind == PART_NAMES ? tsl__schema_string_list(m->s, p->l) : NULL;
    for (uint32_t j = 0; list && j < list->count; j++)
      visit(m, p, list->set[j].at, list->set[j].length);
    if (p->kind != PART_CLAUSE) continue;
    m->first_names[i] = m->cursor; /* which the second pass moves */
    for (const struct atom *a = p->atoms; a; a = a->next) visit_atom(m, p, a, visit);
  }
  static const struct part none = {.kind = PART_SIZE};
  for (size_t i = 0; i < m->listed_before; i++)
    visit(m, &none, m->listed.at[i].at, m->listed.at[i].length);
}

static void collect_name(struct maker *m, const struct part *p, const char *key, uint32_t length) {
  (void)p;
  name(m, key, length);
}

static void use_name(struct maker *m, const struct part *p, const char *key, uint32_t length) {
  (void)key;
  (void)length;
  uint32_t index = m->order[m->cursor++];
  struct known *k = &m->o->known[index];
  if (p->kind == PART_REQUIRED) k->required = true;
  if ((p->kind == PART_MEMBERS || p->kind == PART_ORDER) && k->place == UINT32_MAX) {
    k->place = m->o->placed_count;
    m->o->placed[m->o->placed_count++] = index;
  }
}

/* Room for the names of properties and those required, which are most of them, at once. */
static void make_room(struct maker *m) {
  size_t n = m->listed_before;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct keyword_value *v = placed(m, m->parts[i]);
    const tsl__json *required = required_names(m, m->parts[i]);
    n += (v ? v->count : 0) + (required ? required->length : 0);
  }
  if (!tsl__vec_reserve(m->s->alloc, &m->s->names, n) ||
      !tsl__vec_reserve(m->s->alloc, &m->s->key_lits, n))
    tsl__maker_out_of_memory(m);
}

static bool make_known(struct maker *m) {
  struct object *o = m->o;
  struct schema *s = m->s;
  make_room(m);
  visit_names(m, collect_name);
  if (!tsl__schema_ok(s)) return false;
  o->words = 1;
  if (!s->names.n) return true;
  m->order = tsl__schema_alloc(s, s->names.n * sizeof *m->order);
  if (!m->order) return false;
  /* the schema's texts and tree are there as long as its expressions */
  o->set = tsl__stringset_over(s->x, s->names.at, s->names.n, m->order);
  if (!tsl__schema_ok(s)) return false;
  o->n = tsl__stringset_size(s->x, o->set);
  o->words = (o->n + 63) / 64;
  m->masks = tsl__schema_alloc(s, o->n * (sizeof *m->masks + sizeof *o->known + sizeof *o->placed));
  if (!m->masks) return false;
  o->known = (struct known *)(m->masks + o->n);
  o->placed = (uint32_t *)(o->known + o->n);
  for (uint32_t i = 0; i < o->n; i++) o->known[i].place = UINT32_MAX;
  visit_names(m, use_name);
  return true;
}

uint32_t tsl__maker_index_of(const struct maker *m, const char *key, uint32_t length) {
  uint32_t lo = 0, hi = m->o->n;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    tsl__string at = tsl__stringset_at(m->s->x, m->o->set, mid);
    int c = memcmp(at.at, key, at.length < length ? at.length : length);
    if (c == 0 && at.length == length) return mid;
    if (c < 0 || (c == 0 && at.length < length))
      lo = mid + 1;
    else
      hi = mid;
  }
  return UINT32_MAX;
}

/* ---- values of known keys -------------------------------------------------------------------- */

static void ask(struct maker *m, uint32_t index, lit l) {
  struct key_lits a = {index, l};
  if (!tsl__vec_push(m->s->alloc, &m->s->key_lits, a)) tsl__maker_out_of_memory(m);
}

/* m->order has the names in the order in which visit_names goes: those of all properties come
 * first, so that a cursor of its own finds them. */
static void ask_named(struct maker *m) {
  size_t cursor = 0;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct keyword_value *v = placed(m, m->parts[i]);
    for (uint32_t j = 0; v && j < v->count; j++, cursor++)
      if (m->parts[i]->kind == PART_MEMBERS) ask(m, m->order[cursor], POS(v->children[j]));
  }
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind == PART_KEY) ask(m, tsl__maker_index_of(m, p->key, p->key_length), p->l);
    if (p->kind != PART_NAMES) continue;
    const struct strings *list = tsl__schema_string_list(m->s, p->l);
    uint32_t splitter =
        list ? UINT32_MAX : tsl__maker_splitter_index(m, tsl__maker_name_text(m, p->l));
    bool *listed = list ? tsl__schema_alloc(m->s, (m->o->n + 1) * sizeof *listed) : NULL;
    for (uint32_t j = 0; listed && j < list->count; j++)
      listed[tsl__maker_index_of(m, list->set[j].at, list->set[j].length)] = true;
    for (uint32_t k = 0; k < m->o->n; k++)
      if (list ? !listed || !listed[k] : !((m->masks[k] >> splitter) & 1u))
        m->o->known[k].forbidden = true;
  }
}

static bool plain_members(const struct maker *m) {
  for (uint32_t i = 0; i < m->part_count; i++)
    if (m->parts[i]->kind == PART_REST) return false;
  for (uint32_t i = 0; i < m->part_count; i++)
    if (m->parts[i]->kind == PART_MEMBERS &&
        (tsl__maker_additional(m, m->parts[i]->s) != POS(SID_TRUE) ||
         tsl__maker_pattern_mask(m, m->parts[i]->s)))
      return false;
  return true;
}

/* Does one part alone have properties, and are all known keys among them? Then its
 * additionalProperties say nothing about them. */
static bool all_named(const struct maker *m) {
  uint32_t parts = 0;
  for (uint32_t i = 0; i < m->part_count; i++)
    parts += m->parts[i]->kind == PART_REST || m->parts[i]->kind == PART_ORDER
                 ? 2
                 : m->parts[i]->kind == PART_MEMBERS;
  return parts == 1 && m->o->placed_count == m->o->n;
}

/* Each key has one subschema alone. */
static bool make_own_values(struct maker *m) {
  for (size_t i = 0; i < m->s->key_lits.n; i++) {
    const struct key_lits *a = &m->s->key_lits.at[i];
    struct known *k = &m->o->known[a->index];
    k->value =
        k->forbidden ? GOAL_NONE : tsl__schema_goal(m->s, &a->l, 1, tsl__maker_child_level(m));
  }
  return tsl__schema_ok(m->s);
}

static bool make_values(struct maker *m) {
  struct schema *s = m->s;
  struct object *o = m->o;
  if (!o->n) return true;
  ask_named(m);
  if (!tsl__schema_ok(s)) return false;
  if (s->key_lits.n == o->n && !m->splitter_count && all_named(m)) return make_own_values(m);
  bool named_only = plain_members(m) || (all_named(m) && !m->splitter_count);
  uint32_t most = named_only ? 0 : tsl__maker_most_lits(m);
  uint32_t *begin = tsl__schema_alloc(s, (o->n + 2) * sizeof *begin +
                                             (2 * s->key_lits.n + most + 1) * sizeof(lit));
  if (!begin) return false;
  lit *sorted = begin + o->n + 2, *lits = sorted + s->key_lits.n;
  for (size_t i = 0; i < s->key_lits.n; i++) begin[s->key_lits.at[i].index + 2]++;
  for (uint32_t k = 2; k < o->n + 2; k++) begin[k] += begin[k - 1];
  for (size_t i = 0; i < s->key_lits.n; i++)
    sorted[begin[s->key_lits.at[i].index + 1]++] = s->key_lits.at[i].l;
  for (uint32_t k = 0; k < o->n; k++) {
    uint32_t n = begin[k + 1] - begin[k];
    memcpy(lits, sorted + begin[k], n * sizeof *lits);
    if (!named_only) n += tsl__maker_lits_of(m, m->masks[k], k, lits + n);
    o->known[k].value =
        o->known[k].forbidden ? GOAL_NONE : tsl__schema_goal(s, lits, n, tsl__maker_child_level(m));
  }
  return tsl__schema_ok(s);
}

/* ---- clauses --------------------------------------------------------------------------------- */

/* Splitters by which cells stay apart: all if a clause looks at keys by patterns, else none. */
static uint64_t all_splitters_or_none(const struct maker *m) {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < m->part_count; i++)
    for (const struct atom *a = m->parts[i]->kind == PART_CLAUSE ? m->parts[i]->atoms : NULL; a;
         a = a->next)
      if (a->kind >= ATOM_PATTERN && a->kind <= ATOM_REST) mask = ~(uint64_t)0;
  return mask;
}

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

/* Alternatives often say the same of a member, each in its own place. It is to be one lit: then a
 * clause is seen to hold, or to be hopeless, where it is, and clauses that ask for the same are
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
  const struct keyword_value *alone = a->kind == ATOM_EXTRA ? left_alone(m, a) : NULL;
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

static enum verdict judge_list(const struct object *o, const struct target *t) {
  enum verdict v = ALWAYS;
  for (uint32_t i = 0; i < t->count; i++) {
    if (o->known[t->list[i]].required) return NEVER;
    if (o->known[t->list[i]].value != GOAL_NONE) v = OPEN;
  }
  return v;
}

static void forbid(struct known *k) {
  k->forbidden = true;
  k->value = GOAL_NONE;
}

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

static bool has_target(const struct clause *c, const struct target *t) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->targets[i].kind == t->kind && c->targets[i].key == t->key && c->targets[i].l == t->l &&
        c->targets[i].count == t->count)
      return true;
  return false;
}

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

static bool make_clauses(struct maker *m) {
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

uint32_t tsl__object_key_length(const struct object *o, uint32_t key) {
  struct known *k = &o->known[key];
  if (k->length) return k->length;
  tsl__string name = tsl__stringset_at(o->schema->x, o->set, key);
  if (tsl__schema_wraps(o->schema)) return k->length = 1 + name.length;
  return k->length = 2 + (tsl__schema_nests(o->schema) ? 2 * name.length
                                                       : tsl__json_spelled(name.at, name.length));
}

/* ---- together -------------------------------------------------------------------------------- */

/* May more than one extra member be needed? */
static bool needs_extra(const struct maker *m) {
  uint32_t needed = 0;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind == PART_SIZE) needed += p->min;
    for (const struct atom *a = p->kind == PART_CLAUSE ? p->atoms : NULL; a; a = a->next)
      if (a->kind >= ATOM_PATTERN && a->kind < ATOM_NONE)
        needed += a->kind == ATOM_MIN ? a->count : 1;
  }
  return needed > 1;
}

static void sizes(struct maker *m) {
  m->o->max = TSL__INF;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind != PART_SIZE) continue;
    if (p->min > m->o->min) m->o->min = p->min;
    if (p->max < m->o->max) m->o->max = p->max;
  }
}

/* Notes the keys that clauses ask about. */
static void tie(struct object *o, uint64_t *tied) {
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

/* Where clauses ask for nothing but known keys, and the number of members does not matter, groups
 * of them have nothing to do with each other. */
static bool group(struct object *o) {
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

static bool finish(struct object *o) {
  o->capped = o->max != TSL__INF;
  if (o->clause_count) {
    uint64_t *tied = tsl__schema_alloc(o->schema, (o->words + 1) * sizeof *tied);
    if (!tied) return false;
    tie(o, tied);
    o->tied = tied;
    if (!group(o)) return false;
  }
  o->spoilt = UINT32_MAX;
  o->clause_words = (o->clause_count + 63) / 64;
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t j = 0; j < o->clauses[i].n; j++)
      if (o->clauses[i].targets[j].kind == ATOM_NONE && o->spoilt == UINT32_MAX) {
        o->spoilt = o->words + o->counted;
        o->counted += o->clause_words;
      }
  o->done = o->words + o->counted;
  o->counted += o->clause_words;
  o->clamp = o->max == TSL__INF ? o->min : o->max + 1 > o->min ? o->max + 1 : o->min;
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t j = 0; j < o->clauses[i].n; j++) {
      const struct target *t = &o->clauses[i].targets[j];
      if (t->kind == ATOM_MIN && t->count > o->clamp) o->clamp = t->count;
      if (t->kind == ATOM_MAX && t->count + 1 > o->clamp) o->clamp = t->count + 1;
    }
  o->simple = !o->clause_count && !o->min && o->max == TSL__INF;
  o->any =
      o->simple && !o->n && o->cell_count == 1 && o->cells[0].all && o->cells[0].value == GOAL_ANY;
  return true;
}

static bool required_possible(const struct object *o) {
  for (uint32_t i = 0; i < o->n; i++)
    if (o->known[i].required && o->known[i].value == GOAL_NONE) return false;
  return o->min <= o->max;
}

static bool make(struct maker *m) {
  if (!make_known(m)) return false;
  sizes(m);
  tsl__maker_collect_splitters(m);
  if (!tsl__schema_ok(m->s) ||
      !(m->splitter_count
            ? tsl__maker_cells(m) && tsl__maker_finish_cells(m, all_splitters_or_none(m))
            : tsl__maker_one_cell(m)))
    return false;
  if (m->listed.n > m->listed_before) return false; /* made anew with them */
  if (tsl__schema_nests(m->s)) {
    m->o->styled = true;
    m->o->unnamed = m->o->cell_count > 0 && !m->s->style->free_keys;
    if (!m->s->style->free_keys) m->o->cell_count = 0;
  }
  if (!make_values(m) || !make_clauses(m)) return false;
  if (m->o->clause_count > TSL__SCHEMA_CLAUSES) {
    if (!tsl__schema_blame_one_of(m->s))
      tsl__schema_fail(m->s, TSL_ERR_LIMIT, NULL, "more than %u disjunctions about one object",
                       TSL__SCHEMA_CLAUSES);
    return false;
  }
  return finish(m->o) && required_possible(m->o);
}

/* Once more from the beginning, with the keys that were listed. */
static bool start(struct maker *m, uint32_t level) {
  m->s->names.n = m->s->key_lits.n = m->cells.n = m->demands.n = m->branches.n = 0;
  m->last_demand = NULL;
  m->cursor = m->splitter_count = 0;
  m->listed_before = m->listed.n;
  m->o = tsl__schema_alloc(m->s, sizeof *m->o);
  if (!m->o) return false;
  m->o->schema = m->s;
  m->o->level = level;
  return true;
}

struct object *tsl__object_new(struct schema *s, uint32_t level, const struct part *parts) {
  struct maker m = {.s = s};
  bool made = false;
  if (flatten(&m, parts)) {
    if (!s->options.repeated_names && !tsl__schema_nests(s) && needs_extra(&m))
      tsl__maker_list_name(&m, NULL, 0);
    if (!s->options.repeated_names) tsl__maker_list_patterns(&m);
    do made = start(&m, level) && make(&m);
    while (!made && m.listed.n > m.listed_before && tsl__schema_ok(s));
  }
  tsl__vec_free(s->alloc, &m.demands);
  tsl__vec_free(s->alloc, &m.cells);
  tsl__vec_free(s->alloc, &m.branches);
  tsl__vec_free(s->alloc, &m.listed);
  return made ? m.o : NULL;
}
