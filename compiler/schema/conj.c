/* conj.c - the expansion of goals into alternatives of conjunctions.
 *
 * Problem   allOf, anyOf, oneOf, not, if, dependentSchemas and references combine subschemas in
 *           place. A frame of the matcher can follow a conjunction of atomic constraints, and
 *           alternatives of such conjunctions.
 * Idea      Expand for each *type*: of {"anyOf": [string, object A, object B]} only A and B concern
 *           objects, and `not: {"type": "object", …}` is simply true for strings. Negation is
 *           pushed down while expanding; each keyword has a dual (negate.c). Strings and scalars
 *           need none of this: their constraints are closed under and, or, not (scalar.c).
 * Clauses   A negated object schema is a disjunction of atoms ("some key of properties has a bad
 *           value, or a required one is absent, or …"). Each clause is a bit of the object's state
 *           instead of an alternative for each atom. So oneOf of n object schemas gives n
 *           alternatives with at most n - 1 clauses, not a product. The same goes for anyOf of
 *           `required`.
 * Example   oneOf: [{required: [a]}, {required: [b]}]  =  a ∧ (¬b)  ∪  b ∧ (¬a).
 * oneOf     A oneOf is ⋃ Sᵢ ∧ ⋀ⱼ ¬Sⱼ.
 *           ¬Sⱼ is dropped if Sᵢ and Sⱼ are plainly disjoint: by type, or by const or enum of a
 *           member that both require. oneof.c finds the pairs that are left.
 * Products  If an object has many more alternatives than its choices have branches, it is expanded
 *           once more. Then choices become clauses where they can (clause.c).
 * Order     Everything conjunctive first, alternatives last, so that dead alternatives die early.
 * Cost      The number of alternatives, each with the keywords of its nodes;
 *           TSL__SCHEMA_ALTERNATIVES at most.
 * Tested by tests/schema/test_schema.c, tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

/* Alternatives of objects that stay as they are: some, and for each branch of each choice two.
 * More of them are a product of choices. */
#define FEW_LEAVES 8u
#define LEAVES_EACH 2u
/* The same of ways that are gone for them. */
#define FEW_WAYS 512u
#define WAYS_EACH 16u
#define MET_MAX 64u /* choices that are counted */

/* ---- expansion ------------------------------------------------------------------------------- */

static void *cell(struct expansion *e, size_t size) { return tsl__schema_alloc(e->s, size); }

bool tsl__expand_want(struct expansion *e, struct branch *b, lit l, uint32_t child,
                      const struct tracker *tracker) {
  struct pending *p = cell(e, sizeof *p);
  if (!p) return false;
  p->next = b->pending;
  p->tracker = tracker;
  p->l = l;
  p->rank = (struct rank){e->rank, e->keyword, child, e->rank ? e->rank->depth + 1 : 1};
  b->pending = p;
  return true;
}

struct part *tsl__expand_part(struct expansion *e, struct branch *b, enum part_kind kind) {
  struct part *p = cell(e, sizeof *p);
  if (!p) return NULL;
  p->next = b->parts;
  p->kind = (uint8_t)kind;
  b->parts = p;
  return p;
}

/* anyOf, oneOf, `if` and the like: alternatives, which come last, or a clause where there would
 * be too many. */
static void choose_later(struct expansion *e, struct branch *b, sid s, enum keyword keyword,
                         const struct tracker *tracker) {
  if (e->in_clauses && !(tracker && tracker->exact) &&
      tsl__expand_in_clauses(e, b, s, keyword, tracker))
    return;
  struct choice *c = cell(e, sizeof *c);
  if (!c) return;
  *c = (struct choice){b->choices, tracker, s, (uint8_t)keyword, e->rank};
  b->choices = c;
}

/* A negated node: what it negates becomes a clause or alternatives, after all that is
 * conjunctive. */
static void negate_later(struct expansion *e, struct branch *b, sid s) {
  struct negation *n = cell(e, sizeof *n);
  if (!n) return;
  *n = (struct negation){b->negations, s, e->rank};
  b->negations = n;
}

/* -- positive: what a node's own keywords say about the type -- */

static void size_part(struct expansion *e, struct branch *b, const struct node *n, enum keyword low,
                      enum keyword high) {
  const struct keyword_value *min = tsl__keyword_or_null(n, low),
                             *max = tsl__keyword_or_null(n, high);
  if (!min && !max) return;
  struct part *p = tsl__expand_part(e, b, PART_SIZE);
  if (!p) return;
  p->min = min ? min->count : 0;
  p->max = max ? max->count : TSL__INF;
}

void tsl__expand_required_part(struct expansion *e, struct branch *b, const char *key,
                               uint32_t length) {
  struct part *p = tsl__expand_part(e, b, PART_REQUIRED);
  if (!p) return;
  p->key = key;
  p->key_length = length;
}

struct atom *tsl__expand_atom(struct expansion *e, const struct atom *next, enum atom_kind kind,
                              const char *key, uint32_t length, lit l) {
  struct atom *a = cell(e, sizeof *a);
  if (!a) return NULL;
  *a = (struct atom){.next = next, .kind = (uint8_t)kind, .key = key, .key_length = length, .l = l};
  return a;
}

void tsl__expand_clause_part(struct expansion *e, struct branch *b, const struct atom *atoms) {
  struct part *p = tsl__expand_part(e, b, PART_CLAUSE);
  if (p) p->atoms = atoms;
}

/* a -> each of the names: clauses {a absent, name present}. */
static void dependency_parts(struct expansion *e, struct branch *b, const tsl__json *v) {
  const tsl__json *names = v->kind == TSL__JSON_ARRAY ? v->items : v;
  uint32_t n = v->kind == TSL__JSON_ARRAY ? v->length : 1;
  for (uint32_t i = 0; i < n; i++) {
    const struct atom *a =
        tsl__expand_atom(e, NULL, ATOM_KEY, names[i].text, names[i].length, POS(SID_TRUE));
    tsl__expand_clause_part(e, b, tsl__expand_atom(e, a, ATOM_ABSENT, v->key, v->key_length, 0));
  }
}

/* Names that one member demands are clauses, schemas are choices: the member is absent, or the
 * schema holds. */
static void dependencies(struct expansion *e, struct branch *b, sid s, const struct node *n,
                         enum keyword k, const struct tracker *tracker) {
  if (!tsl__has(n, k)) return;
  const struct keyword_value *v = tsl__keyword(n, k);
  bool schemas = false;
  for (uint32_t i = 0; i < v->count; i++) {
    if (v->children[i] == UINT32_MAX)
      dependency_parts(e, b, &v->value->items[i]);
    else
      schemas = true;
  }
  if (schemas) choose_later(e, b, s, k, tracker);
}

/* What a node's keywords ask of an object, as parts of the conjunction. */
static void object_parts(struct expansion *e, struct branch *b, sid s, const struct node *n,
                         const struct tracker *tracker) {
  struct part *p;
  if (n->mask & tsl__keyword_sets.members && (p = tsl__expand_part(e, b, PART_MEMBERS)) != NULL) {
    const struct keyword_value *v = tsl__keyword_or_null(n, KW_PROPERTIES);
    p->s = s;
    p->rank = e->rank;
    p->keyword = v ? tsl__keyword_place(n, v) : 0;
  }
  if (tsl__has(n, KW_PROPERTY_NAMES) && (p = tsl__expand_part(e, b, PART_NAMES)) != NULL)
    p->l = POS(tsl__subschema(n, KW_PROPERTY_NAMES));
  if (tsl__has(n, KW_REQUIRED) && (p = tsl__expand_part(e, b, PART_REQUIRED)) != NULL) p->s = s;
  size_part(e, b, n, KW_MIN_PROPERTIES, KW_MAX_PROPERTIES);
  dependencies(e, b, s, n, KW_DEPENDENCIES, tracker);
  dependencies(e, b, s, n, KW_DEPENDENT_REQUIRED, tracker);
  dependencies(e, b, s, n, KW_DEPENDENT_SCHEMAS, tracker);
}

/* Items from number `from` up to, but without, `to` satisfy l. */
void tsl__expand_items_part(struct expansion *e, struct branch *b, uint32_t from, uint32_t to,
                            lit l) {
  struct part *p = tsl__expand_part(e, b, PART_ITEMS);
  if (!p) return;
  p->min = from;
  p->max = to;
  p->l = l;
}

/* From item `from` on, at least `min` and at most `max` satisfy l. */
void tsl__expand_contains_part(struct expansion *e, struct branch *b, lit l, uint32_t from,
                               uint32_t min, uint32_t max) {
  struct part *p = tsl__expand_part(e, b, PART_CONTAINS);
  if (!p) return;
  p->l = l;
  p->from = from;
  p->min = min;
  p->max = max;
}

/* The list of schemas for the first items, and the schema for the rest, by the rules of the draft.
 * Any of the three may be NULL. */
void tsl__expand_item_keywords(const struct node *n, const struct keyword_value **prefix,
                               const struct keyword_value **rest) {
  const struct keyword_value *items = tsl__keyword_or_null(n, KW_ITEMS);
  bool list = items && items->value->kind == TSL__JSON_ARRAY;
  *prefix = tsl__has(n, KW_PREFIX_ITEMS) ? tsl__keyword(n, KW_PREFIX_ITEMS) : list ? items : NULL;
  *rest = list ? tsl__keyword_or_null(n, KW_ADDITIONAL_ITEMS) : items;
}

/* Without minContains one is enough; without maxContains all may. */
void tsl__expand_contains_bounds(const struct node *n, uint32_t *min, uint32_t *max) {
  *min = tsl__has(n, KW_MIN_CONTAINS) ? tsl__keyword(n, KW_MIN_CONTAINS)->count : 1;
  *max = tsl__has(n, KW_MAX_CONTAINS) ? tsl__keyword(n, KW_MAX_CONTAINS)->count : TSL__INF;
}

static void array_parts(struct expansion *e, struct branch *b, sid s, const struct node *n) {
  const struct keyword_value *prefix, *rest;
  tsl__expand_item_keywords(n, &prefix, &rest);
  uint32_t length = prefix ? prefix->count : 0, min, max;
  for (uint32_t i = 0; i < length; i++)
    tsl__expand_items_part(e, b, i, i + 1, POS(prefix->children[i]));
  if (rest) tsl__expand_items_part(e, b, length, TSL__INF, POS(rest->children[0]));
  size_part(e, b, n, KW_MIN_ITEMS, KW_MAX_ITEMS);
  struct part *p = tsl__has(n, KW_UNIQUE_ITEMS) ? tsl__expand_part(e, b, PART_UNIQUE) : NULL;
  if (p) p->s = s;
  if (!tsl__has(n, KW_CONTAINS)) return;
  tsl__expand_contains_bounds(n, &min, &max);
  tsl__expand_contains_part(e, b, POS(tsl__subschema(n, KW_CONTAINS)), 0, min, max);
}

/* False: no number is left. `at` asks for it. */
bool tsl__expand_narrow(struct expansion *e, struct branch *b, const tsl__number_spec *spec,
                        const tsl__json *at) {
  const tsl__number_spec *so_far = b->number ? b->number : spec;
  tsl__number_spec both;
  tsl_status status = tsl__number_intersect(e->s->x, &e->s->arena, so_far, spec, &both);
  if (status == TSL_OK && !(b->number = tsl__arena_copy(&e->s->arena, &both, sizeof both)))
    status = TSL_ERR_NO_MEMORY;
  if (status != TSL_OK)
    tsl__schema_fail(e->s, status, at, "number constraints that are too complex together");
  return status == TSL_OK && !both.empty;
}

/* Remember that s holds; false if that is plainly at odds with what else holds. */
static bool take(struct expansion *e, struct branch *b, sid s) {
  const uint64_t comparable = OF(PROPERTIES) | OF(REQUIRED);
  if (e->type == T_OBJECT && tsl__node_of(e->s, s)->mask & comparable &&
      tsl__schema_clash(e->s, b->facts, s))
    return false;
  struct fact *t = cell(e, sizeof *t);
  if (!t) return false;
  t->next = b->facts;
  t->s = s;
  b->facts = t;
  return true;
}

/* If the member is there, its value satisfies l. */
static void key_part(struct expansion *e, struct branch *b, const struct atom *key, lit l) {
  struct part *p = tsl__expand_part(e, b, PART_KEY);
  if (!p) return;
  p->key = key->key;
  p->key_length = key->key_length;
  p->l = l;
}

/* The one that asks for the value of the member, which the other one leaves absent, and no third is
 * there; NULL: they are others. */
static const struct atom *present(const struct atom *a, const struct atom *b) {
  if (b->next || a->kind + b->kind != ATOM_ABSENT + ATOM_KEY || a->key_length != b->key_length ||
      memcmp(a->key, b->key, a->key_length))
    return NULL;
  return a->kind == ATOM_KEY ? a : b;
}

/* One of the atoms holds. With a single atom, or "absent, or satisfies l", that is no choice and
 * becomes a plain part. */
void tsl__expand_clause(struct expansion *e, struct branch *b, const struct atom *atoms) {
  const struct atom *if_there = atoms && atoms->next ? present(atoms, atoms->next) : NULL;
  if (if_there) {
    key_part(e, b, if_there, if_there->l);
    return;
  }
  if (!atoms || atoms->next || atoms->kind > ATOM_KEY) {
    tsl__expand_clause_part(e, b, atoms);
    return;
  }
  struct fact *t = cell(e, sizeof *t);
  key_part(e, b, atoms, atoms->kind == ATOM_KEY ? atoms->l : POS(SID_FALSE));
  if (!t) return;
  if (atoms->kind == ATOM_KEY) tsl__expand_required_part(e, b, atoms->key, atoms->key_length);
  *t = (struct fact){.next = b->facts,
                     .s = SID_TRUE,
                     .key = atoms->key,
                     .length = atoms->key_length,
                     .absent = atoms->kind == ATOM_ABSENT};
  b->facts = t;
}

static bool evaluates(const struct expansion *e, const struct node *n) {
  return n->mask & (e->type == T_OBJECT ? tsl__keyword_sets.evaluates_members
                                        : tsl__keyword_sets.evaluates_items);
}

const struct keyword_value *tsl__expand_unevaluated(const struct expansion *e,
                                                    const struct node *n) {
  return e->type == T_OBJECT  ? tsl__keyword_or_null(n, KW_UNEVALUATED_PROPERTIES)
         : e->type == T_ARRAY ? tsl__keyword_or_null(n, KW_UNEVALUATED_ITEMS)
                              : NULL;
}

/* Who notes what is evaluated under one unevaluated… keyword. `exact`: branches that do not hold
 * must fail, as under a negation. */
struct tracker *tsl__expand_new_tracker(struct expansion *e, const struct tracker *outer,
                                        bool exact) {
  struct tracker *t = cell(e, sizeof *t);
  if (!t) return NULL;
  t->outer = outer;
  t->exact = exact || (outer && outer->exact);
  return t;
}

/* The last one that is wanted comes first: so the members of an allOf come in the order of the
 * text. */
static void subschemas(struct expansion *e, struct branch *b, sid s, const struct node *n,
                       const struct tracker *tracker) {
  for (size_t k = 0; k < sizeof tsl__conjunctive; k++) {
    const struct keyword_value *v = tsl__keyword_or_null(n, tsl__conjunctive[k]);
    e->keyword = v ? tsl__keyword_place(n, v) : 0;
    for (uint32_t i = v ? v->count : 0; i-- > 0;)
      tsl__expand_want(e, b, POS(v->children[i]), i, tracker);
  }
  if (tsl__has(n, KW_NOT)) {
    e->keyword = tsl__keyword_place(n, tsl__keyword(n, KW_NOT));
    tsl__expand_want(e, b, NEG(tsl__subschema(n, KW_NOT)), 0, NULL);
  }
  static const uint8_t choices[] = {KW_ANY_OF, KW_ONE_OF, KW_IF, KW_CONST, KW_ENUM};
  for (size_t i = 0; i < sizeof choices; i++)
    if (tsl__has(n, choices[i])) choose_later(e, b, s, choices[i], tracker);
}

/* Add what node s says but for its own unevaluated…. False: no value of the type satisfies it. */
bool tsl__expand_take_rest(struct expansion *e, struct branch *b, sid s,
                           const struct tracker *tracker) {
  const struct node *n = tsl__node_of(e->s, s);
  struct part *p = tracker && evaluates(e, n) ? tsl__expand_part(e, b, PART_SEEN) : NULL;
  if (p) {
    p->s = s;
    p->tracker = tracker;
  }
  subschemas(e, b, s, n, tracker);
  if (e->type == T_OBJECT) object_parts(e, b, s, n, tracker);
  if (e->type == T_ARRAY) array_parts(e, b, s, n);
  if (!take(e, b, s)) return false;
  tsl__number_spec spec;
  return e->type != T_NUMBER ||
         (tsl__schema_number_spec(e->s, n, &spec) && tsl__expand_narrow(e, b, &spec, n->at));
}

static bool combines(const struct node *n) { return n->mask & tsl__keyword_sets.conjunctive; }

/* Add what node s says. False: no value of the type satisfies it. */
static bool take_node(struct expansion *e, struct branch *b, sid s, const struct tracker *tracker) {
  const struct node *n = tsl__node_of(e->s, s);
  if (s == SID_FALSE || !(n->possible & e->type)) return false;
  if (!n->mask) return true;
  const struct keyword_value *rest = tsl__expand_unevaluated(e, n);
  /* else allOf of what is the same would double */
  if (!tracker && !rest && combines(n) && tsl__schema_held(e->s, b->facts, s)) return true;
  if (!rest) return tsl__expand_take_rest(e, b, s, tracker);
  const struct tracker *own = tsl__expand_new_tracker(e, tracker, false);
  struct part *p = own ? tsl__expand_part(e, b, PART_REST) : NULL;
  if (!p) return false;
  p->l = POS(rest->children[0]);
  p->tracker = own;
  return tsl__expand_take_rest(e, b, s, own);
}

/* ---- the recursion --------------------------------------------------------------------------- */

/* The first one comes first, as in subschemas: members of `if` come before those of `then`. */
void tsl__expand_with(struct expansion *e, const struct branch *b, const lit *lits, uint32_t n,
                      const struct tracker *tracker) {
  struct branch next = *b;
  for (uint32_t i = n; i-- > 0;) {
    if (tsl__schema_impossible(e->s, e->type, lits[i])) return;
    tsl__expand_want(e, &next, lits[i], i, lits[i] & 1 ? NULL : tracker);
  }
  tsl__expand_on(e, next);
}

bool tsl__expand_deeper(struct expansion *e) {
  if (++e->depth > TSL__SCHEMA_DEPTH)
    tsl__schema_fail(e->s, TSL_ERR_LIMIT, NULL, "more than %u choices at one place",
                     TSL__SCHEMA_DEPTH);
  return !e->many && tsl__schema_ok(e->s);
}

static void expand_list(struct expansion *e, const struct branch *b, const tsl__json *values,
                        uint32_t n) {
  for (uint32_t i = 0; i < n && tsl__schema_ok(e->s); i++) {
    tsl__json *v = (tsl__json *)(uintptr_t)&values[i];
    if (tsl__json_type(v) != e->type) continue;
    if (e->type != T_NUMBER) {
      tsl__expand_with(e, b, (lit[]){POS(tsl__schema_const(e->s, v))}, 1, NULL);
      continue;
    }
    tsl__number_spec spec = {.has_min = true, .has_max = true};
    struct branch next = *b;
    if (!tsl__schema_decimal(e->s, v, &spec.min)) return;
    spec.max = spec.min;
    spec.own = v->text, spec.own_length = v->length;
    if (!tsl__expand_narrow(e, &next, &spec, v)) continue;
    tsl__expand_on(e, next);
  }
}

/* dependentSchemas, one after the other: a is absent, or it is there and its schema holds. `from`
 * is the first that is not decided yet. */
static void expand_dependencies(struct expansion *e, const struct branch *b,
                                const struct keyword_value *v, uint32_t from,
                                const struct tracker *tracker) {
  while (from < v->count &&
         (v->children[from] == UINT32_MAX ||
          (!tracker && tsl__expand_certain(e->s, e->type, POS(v->children[from])))))
    from++;
  if (from == v->count) {
    tsl__expand_on(e, *b);
    return;
  }
  const tsl__json *m = &v->value->items[from];
  struct branch without = *b, with = *b;
  const struct atom *absent = tsl__expand_deeper(e)
                                  ? tsl__expand_atom(e, NULL, ATOM_ABSENT, m->key, m->key_length, 0)
                                  : NULL;
  if (absent) {
    tsl__expand_clause(e, &without, absent);
    expand_dependencies(e, &without, v, from + 1, tracker);
  }
  if (absent && !tsl__schema_impossible(e->s, e->type, POS(v->children[from]))) {
    tsl__expand_required_part(e, &with, m->key, m->key_length);
    tsl__expand_want(e, &with, POS(v->children[from]), from, tracker);
    expand_dependencies(e, &with, v, from + 1, tracker);
  }
  e->depth--;
}

/* A negation, in place where there is one way to go on. False: it was expanded, or nothing is
 * left. */
static bool expand_negation(struct expansion *e, struct branch *b, sid s) {
  if (tsl__schema_excluded(e->s, e->type, b->facts, s)) return true;
  struct ways w = {.e = e, .base = *b};
  bool certain_now = false;
  tsl__expand_negate(&w, s);
  if (!w.always && w.atoms)
    w.atoms = tsl__schema_live_atoms(e->s, b->facts, w.atoms, e->many_branches, &certain_now);
  const bool goes_on = w.always || certain_now || (w.atoms && !w.more.n);
  if (!w.always && !certain_now && w.atoms) {
    struct branch next = *b;
    tsl__expand_clause(e, &next, w.atoms);
    if (goes_on)
      *b = next;
    else
      tsl__expand_on(e, next);
  }
  for (size_t i = 0; !goes_on && i < w.more.n && tsl__schema_ok(e->s); i++)
    tsl__expand_on(e, w.more.at[i]);
  tsl__vec_free(e->s->alloc, &w.more);
  return goes_on && tsl__schema_ok(e->s);
}

/* Count the choice's branches if it was not met before. */
static void meet(struct expansion *e, const struct choice *c, const struct keyword_value *v) {
  uint32_t branches = c->keyword == KW_IF || c->keyword == KW_CONST        ? 2
                      : c->keyword == KW_ENUM                              ? v->value->length
                      : c->keyword == KW_ANY_OF || c->keyword == KW_ONE_OF ? v->count
                                                                           : 2 * v->count;
  for (size_t i = 0; i < e->met.n; i++)
    if (e->met.at[i].s == c->s && e->met.at[i].keyword == c->keyword) return;
  if (e->met.n == MET_MAX) return;
  if (tsl__vec_push(e->s->alloc, &e->met, *c))
    e->width += branches;
  else
    tsl__schema_fail(e->s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

static void expand_choice(struct expansion *e, struct branch *b, const struct choice *c) {
  const struct node *n = tsl__node_of(e->s, c->s);
  const struct keyword_value *v = tsl__keyword(n, c->keyword);
  if (e->looks) meet(e, c, v);
  e->rank = c->rank;
  e->keyword = tsl__keyword_place(n, v);
  switch (c->keyword) {
  case KW_ANY_OF: tsl__expand_any_of(e, b, v, c->tracker); break;
  case KW_ONE_OF: tsl__expand_one_of(e, b, v, c->tracker); break;
  case KW_IF:
    if (!c->tracker && !tsl__has(n, KW_THEN) && !tsl__has(n, KW_ELSE)) {
      tsl__expand_on(e, *b);
      break;
    }
    tsl__expand_with(e, b, (lit[]){POS(v->children[0]), POS(tsl__subschema_or_true(n, KW_THEN))}, 2,
                     c->tracker);
    tsl__expand_with(e, b, (lit[]){NEG(v->children[0]), POS(tsl__subschema_or_true(n, KW_ELSE))}, 2,
                     c->tracker);
    break;
  case KW_CONST: expand_list(e, b, v->value, 1); break;
  case KW_ENUM: expand_list(e, b, v->value->items, v->value->length); break;
  default: expand_dependencies(e, b, v, 0, c->tracker);
  }
}

/* A conjunction. */
static void found(struct expansion *e, struct branch *b) {
  if (b->seen) tsl__expand_seen(e, b);
  const struct leaf one = {b->parts, b->number};
  if (++e->leaves > TSL__SCHEMA_ALTERNATIVES) {
    if (!tsl__schema_blame_one_of(e->s))
      tsl__schema_fail(e->s, TSL_ERR_LIMIT, NULL, "more than %u alternatives at one place",
                       TSL__SCHEMA_ALTERNATIVES);
  } else if (!e->looks) {
    e->leaf(e->ctx, one.parts, one.number);
  } else if (e->leaves > FEW_LEAVES + LEAVES_EACH * e->width) {
    e->many = true;
  } else if (!tsl__vec_push(e->s->alloc, &e->kept, one)) {
    tsl__schema_fail(e->s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  }
}

/* Those met since `before` was the first come first, in the order in which they were met. So
 * members come in the order of the text. */
static const struct choice *in_order(struct expansion *e, const struct choice *met,
                                     const struct choice *before) {
  const struct choice *all = before;
  if (met == before || met->next == before) return met;
  for (; met != before; met = met->next) {
    struct choice *c = tsl__arena_copy(&e->s->arena, met, sizeof *c);
    if (!c) return tsl__schema_fail(e->s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), before;
    c->next = all;
    all = c;
  }
  return all;
}

/* Is it nothing but a negation, behind references? What is behind two of them holds, but is not
 * evaluated. */
static bool is_negation(const struct schema *s, lit l) {
  return tsl__node_of(s, tsl__schema_referred(s, l >> 1))->mask == OF(NOT);
}

void tsl__expand_on(struct expansion *e, struct branch b) {
  const struct choice *before = b.choices;
  const struct rank *rank = e->rank;
  const uint32_t keyword = e->keyword;
  if (e->looks && ++e->looked > FEW_WAYS + WAYS_EACH * e->width) e->many = true;
  if (!tsl__expand_deeper(e)) goto done;
  while (tsl__schema_work(e->s, 8) && b.pending) {
    const struct tracker *tracker =
        b.pending->tracker && !is_negation(e->s, b.pending->l) ? b.pending->tracker : NULL;
    lit l = tsl__schema_simplify(e->s, b.pending->l);
    e->rank = &b.pending->rank;
    b.pending = b.pending->next;
    if (l & 1) {
      if (tsl__schema_impossible(e->s, e->type, l)) goto done;
      if (!tsl__expand_certain(e->s, e->type, l)) negate_later(e, &b, l >> 1);
    } else if (!take_node(e, &b, l >> 1, tracker)) {
      goto done;
    }
  }
  b.choices = in_order(e, b.choices, before);
  if (!tsl__schema_ok(e->s)) goto done;
  if (b.choices) {
    const struct choice *c = b.choices;
    b.choices = c->next;
    expand_choice(e, &b, c);
    goto done;
  }
  while (b.negations) {
    sid negated = b.negations->s;
    e->rank = b.negations->rank;
    e->keyword = 0;
    b.negations = b.negations->next;
    if (!expand_negation(e, &b, negated)) goto done;
  }
  found(e, &b);
done:
  e->rank = rank;
  e->keyword = keyword;
  e->depth--;
}

/* Most objects are described by one node that says nothing but which members there are: its parts
 * are known at once. */
static bool expand_members(struct schema *s, const struct goal_entry *e, tsl__schema_leaf *leaf,
                           void *ctx) {
  const uint64_t members = tsl__keyword_sets.members, known = members | OF(TYPE) | OF(REQUIRED);
  if (e->n != 1 || e->lits[0] & 1) return false;
  sid id = e->lits[0] >> 1;
  const struct node *n = tsl__node_of(s, id);
  if (!(n->mask & members) || n->mask & ~known || !(n->possible & T_OBJECT)) return false;
  const struct part parts = {.kind = PART_MEMBERS, .s = id},
                    required = {.next = &parts, .kind = PART_REQUIRED, .s = id};
  leaf(ctx, tsl__has(n, KW_REQUIRED) ? &required : &parts, NULL);
  return true;
}

static void expand_goal(struct expansion *e, goal g) {
  const struct goal_entry *entry = tsl__goal_of(e->s, g);
  struct branch b = {0};
  bool ordered = e->type == T_OBJECT && e->s->options.order == TSL_ORDER_SCHEMA && entry->n > 1;
  for (uint32_t i = entry->n; i-- > 0;) {
    uint32_t child = ordered ? tsl__schema_number_in_text(e->s, entry->lits[i] >> 1) : i;
    tsl__expand_want(e, &b, entry->lits[i], child, NULL);
  }
  tsl__expand_on(e, b);
}

/* Objects that have many alternatives are expanded once more, with choices said in clauses. */
static void expand_objects(struct expansion *e, goal g) {
  e->looks = true;
  expand_goal(e, g);
  e->looks = false;
  for (size_t i = 0; i < e->kept.n && !e->many && tsl__schema_ok(e->s); i++)
    e->leaf(e->ctx, e->kept.at[i].parts, e->kept.at[i].number);
  tsl__vec_free(e->s->alloc, &e->kept);
  tsl__vec_free(e->s->alloc, &e->met);
  if (!e->many) return;
  e->many = false;
  e->in_clauses = true;
  e->leaves = 0;
  expand_goal(e, g);
}

void tsl__schema_expand(struct schema *s, goal g, uint8_t type, tsl__schema_leaf *leaf, void *ctx) {
  struct expansion e = {.s = s, .type = type, .leaf = leaf, .ctx = ctx};
  s->one_of = NULL;
  if (g == GOAL_NONE || (type == T_OBJECT && expand_members(s, tsl__goal_of(s, g), leaf, ctx)))
    return;
  if (type == T_OBJECT)
    expand_objects(&e, g);
  else
    expand_goal(&e, g);
}
