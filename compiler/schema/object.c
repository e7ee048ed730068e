/* object.c - a conjunction of parts about objects, made ready to be followed.
 *
 * Problem   Several subschemas constrain one object: by the names of members, by patterns of names,
 *           by how many there are. A frame of the matcher must know at each key what its value has
 *           to satisfy, and which keys may still come.
 * Idea      Known keys are those that any part names. Each gets one goal: what properties, matching
 *           patternProperties and additionalProperties of all parts ask of its value, together. All
 *           other keys are extra, and keys/ sorts them. Clauses become bits over keys and cells
 *           (object_clauses.c).
 * Names     No two members have the same name, so a cell of finitely many keys can be used up. The
 *           keys of a small one become known keys, and those of a larger one are counted. Those of
 *           a pattern that plainly is a list, as ^a$ or ^(a|b)$, are known from the beginning. And
 *           where more than one extra member may be needed, the empty name is a known key. It is
 *           shorter than all others, but may stand only once.
 * Example   {"allOf": [{"properties": {"a": A}}, {"patternProperties": {"^a": B}, "required":
 *           ["c"]}]} has two known keys. They are "a", with the goal A ∧ B, and "c", which is
 *           required, with any value. Of extra keys there are two cells: those that begin with a,
 *           with the goal B, and others.
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

/* ---- parts ----------------------------------------------------------------------------------- */

const struct keyword_value *tsl__maker_properties(const struct maker *m, const struct part *p) {
  return tsl__keyword_or_null(tsl__node_of(m->s, p->s), KW_PROPERTIES);
}

/* Parts come as a list, last first; here they are an array, in the order of the schema. */
static bool flatten(struct maker *m, const struct part *parts) {
  for (const struct part *p = parts; p; p = p->next) m->part_count++;
  m->parts =
      tsl__schema_alloc(m->s, (m->part_count + 1) * (sizeof *m->parts + sizeof *m->first_names));
  if (!m->parts) return false;
  m->first_names = (size_t *)(m->parts + m->part_count + 1);
  uint32_t i = m->part_count;
  for (const struct part *p = parts; p; p = p->next) m->parts[--i] = p;
  return tsl__maker_order(m);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* One more name that some part mentions; the same may come several times. */
static void name(struct maker *m, const char *key, uint32_t length) {
  tsl__string n = {key, length};
  if (!tsl__vec_push(m->s->alloc, &m->s->names, n)) tsl__maker_out_of_memory(m);
}

/* The names of a part that requires all that its node does; NULL: it is another. */
static const tsl__json *required_names(const struct maker *m, const struct part *p) {
  return p->kind == PART_REQUIRED && p->s
             ? tsl__keyword(tsl__node_of(m->s, p->s), KW_REQUIRED)->value
             : NULL;
}

/* The names that a target of a clause mentions. */
static void visit_atom(struct maker *m, const struct part *p, const struct atom *a,
                       void (*visit)(struct maker *m, const struct part *p, const char *key,
                                     uint32_t length)) {
  if (a->kind == ATOM_ABSENT || a->kind == ATOM_KEY) visit(m, p, a->key, a->key_length);
  for (const struct atom *key = a->kind == ATOM_NONE ? a->keys : NULL; key; key = key->next)
    visit(m, p, key->key, key->key_length);
  const struct keyword_value *v = a->kind == ATOM_EXTRA ? tsl__maker_left_alone(m, a) : NULL;
  for (uint32_t i = 0; v && i < v->count; i++)
    visit(m, p, v->value->items[i].key, v->value->items[i].key_length);
}

/* Visit the names of all parts, always in the same order. */
static void visit_names(struct maker *m, void (*visit)(struct maker *m, const struct part *p,
                                                       const char *key, uint32_t length)) {
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    const struct keyword_value *v = tsl__maker_placed(m, p);
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

/* The first pass over the names only lists them; the set of strings sorts them and drops
 * doubles. */
static void collect_name(struct maker *m, const struct part *p, const char *key, uint32_t length) {
  (void)p;
  name(m, key, length);
}

/* The second pass knows each name's number: which are required, and which place a property has
 * in the order of members. */
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
    const struct keyword_value *v = tsl__maker_placed(m, m->parts[i]);
    const tsl__json *required = required_names(m, m->parts[i]);
    n += (v ? v->count : 0) + (required ? required->length : 0);
  }
  if (!tsl__vec_reserve(m->s->alloc, &m->s->names, n) ||
      !tsl__vec_reserve(m->s->alloc, &m->s->key_lits, n))
    tsl__maker_out_of_memory(m);
}

/* The known keys, sorted, with what the names alone say of them. */
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

/* The number of a known key, by bisection. */
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

/* The value of a known key must satisfy l, too. */
static void ask(struct maker *m, uint32_t index, lit l) {
  struct key_lits a = {index, l};
  if (!tsl__vec_push(m->s->alloc, &m->s->key_lits, a)) tsl__maker_out_of_memory(m);
}

/* m->order has the names in the order in which visit_names goes. Those of all properties come
 * first, so that a cursor of its own finds them. */
static void ask_named(struct maker *m) {
  size_t cursor = 0;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct keyword_value *v = tsl__maker_placed(m, m->parts[i]);
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

/* Does no part say anything of a known key but by its name? */
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

/* The goal of each known key. What the parts ask by name is sorted by key first (counting sort),
 * then what patterns and the rest ask is added. */
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

/* Bounds of the number of members, of all parts together. */
static void sizes(struct maker *m) {
  m->o->max = TSL__INF;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind != PART_SIZE) continue;
    if (p->min > m->o->min) m->o->min = p->min;
    if (p->max < m->o->max) m->o->max = p->max;
  }
}

/* Where the words of a position stand: keys that were met, targets that were spoilt, clauses
 * that are fulfilled. And what need not be counted: above `clamp` all numbers of members are
 * alike. */
static bool finish(struct object *o) {
  o->capped = o->max != TSL__INF;
  if (o->clause_count) {
    uint64_t *tied = tsl__schema_alloc(o->schema, (o->words + 1) * sizeof *tied);
    if (!tied) return false;
    tsl__clauses_tie(o, tied);
    o->tied = tied;
    if (!tsl__clauses_group(o)) return false;
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

/* Is there an object at all, as far as single keys and the number of members say? */
static bool required_possible(const struct object *o) {
  for (uint32_t i = 0; i < o->n; i++)
    if (o->known[i].required && o->known[i].value == GOAL_NONE) return false;
  return o->min <= o->max;
}

/* Splitters by which cells stay apart: all if a clause looks at keys by patterns, else none. */
static uint64_t all_splitters_or_none(const struct maker *m) {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < m->part_count; i++)
    for (const struct atom *a = m->parts[i]->kind == PART_CLAUSE ? m->parts[i]->atoms : NULL; a;
         a = a->next)
      if (a->kind >= ATOM_PATTERN && a->kind <= ATOM_REST) mask = ~(uint64_t)0;
  return mask;
}

/* One attempt. False with a good status: no object satisfies all parts, or keys were listed and
 * it is to be made anew with them. */
static bool make(struct maker *m) {
  if (!make_known(m)) return false;
  sizes(m);
  tsl__maker_collect_splitters(m);
  if (!tsl__schema_ok(m->s) ||
      !(m->splitter_count
            ? tsl__maker_by_pattern(m) ||
                  (tsl__maker_cells(m) && tsl__maker_finish_cells(m, all_splitters_or_none(m)))
            : tsl__maker_one_cell(m)))
    return false;
  if (m->listed.n > m->listed_before) return false; /* made anew with them */
  if (tsl__schema_nests(m->s)) {
    m->o->styled = true;
    m->o->unnamed = m->o->cell_count > 0 && !m->s->style->free_keys;
    if (!m->s->style->free_keys) m->o->cell_count = 0;
  }
  if (!make_values(m) || !tsl__maker_clauses(m)) return false;
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
