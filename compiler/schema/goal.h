/* goal.h - sets of lits that one value must satisfy, and the parts that they are expanded into.
 *
 * A goal is opened once: tsl__schema_open finds, for each type, which values it allows. For null,
 * true and false these are bits, for strings and numbers expressions, for objects and arrays
 * alternatives. {"type": ["object", "null"], "required": ["a"]} opened has the bit T_NULL and one
 * alternative of objects, made of the part PART_REQUIRED.
 *
 * Parts are lists whose tails alternatives share, so that a branch costs one part, not a copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_GOAL_H
#define TSL_COMPILER_SCHEMA_GOAL_H

#include "compiler/schema/node.h"

/* ---- goals ----------------------------------------------------------------------------------- */

struct object;
struct array;

struct goal_entry {
  const lit *lits; /* sorted, distinct */
  uint32_t n;
  uint32_t level; /* depth in the output where that matters, else 0 */
  goal from;      /* it was made of that goal and the lit `with`; GOAL_NONE: it is not known */
  lit with;
  tsl__expr value;  /* memo: what matches it */
  tsl__expr member; /* memo: colon and value, as a frame */
  /* memo: of an object that was entered before it was opened, what follows the quote of the first
   * key */
  tsl__expr first;
  tsl__expr unopened; /* memo: the rule that this is until then */
  /* memo: what follows an item of a plain array of these, of which there may be any number more */
  tsl__expr tail;
  uint32_t shortest; /* bytes; TSL__INF: none (or not known yet: `final`) */
  uint32_t round;    /* of the fixed point in which `shortest` was last computed */
  bool simple_known; /* scalars, strings and numbers are known */
  bool opened, final, active;
  bool spelled;      /* it is known that the style can write it */
  bool pending;      /* whether it is possible is being found out further out */
  bool possible;     /* it is known that it is */
  uint8_t alone;     /* memo: are its values arrays, or objects, and nothing else? See begin.c */
  uint32_t alone_of; /* then: the goal of the objects, or the subschema of the arrays */
  uint8_t scalars;   /* T_NULL | T_FALSE | T_TRUE: allowed */
  tsl__expr string, number; /* NONE: none; a string without its frame */
  bool any_string;
  bool within; /* it is looked at whether its values can stand in a string (inner/inner.c) */
  goal inner;  /* of its strings: as in struct strings */
  tsl__expr inner_text;    /* memo: the rule of its values as they stand in a string */
  struct object **objects; /* alternatives */
  struct array **arrays;
  uint32_t object_count, array_count;
};

/* ---- parts: atoms of a conjunction, as a list that alternatives share the tail of ------------ */

enum part_kind {
  PART_MEMBERS,  /* object: properties, patternProperties and additionalProperties of node `s` */
  PART_KEY,      /* object: the member `key`, if there, satisfies `l` */
  PART_NAMES,    /* object: all keys satisfy `l` */
  PART_REQUIRED, /* object: has `key` or, with a node `s`, all that it requires */
  PART_SIZE,     /* object: min to max members; array: min to max items */
  PART_CLAUSE,   /* object: one of `atoms` */
  PART_ORDER,    /* object: nothing is demanded, but the properties of node `s` have a place here */
  PART_ITEMS,    /* array: items from `min` to `max` - 1 satisfy `l` */
  PART_CONTAINS, /* array: of the items from `from` on, min to max satisfy `l` */
  PART_UNIQUE,   /* array: no two items are equal */
  PART_REPEATS,  /* array: some two items are equal; node `s` asks for the contrary */
  /* node `s` holds, and what it evaluates counts for `tracker`; or, with a key, that member is
   * evaluated */
  PART_SEEN,
  /* object: whether the member `key` is evaluated for `tracker`, or satisfies what it must then, is
   * left to clauses */
  PART_SEEN_IF,
  PART_REST,     /* what nothing evaluated for `tracker` satisfies `l` (members, or items) */
  PART_REST_SOME /* array: some item that nothing evaluated for `tracker` satisfies `l` */
};

enum atom_kind {
  ATOM_ABSENT, /* `key` is absent */
  ATOM_KEY,    /* `key` is there and satisfies `l` */
  /* some key that matches pattern `index` of node `s` has a value that satisfies `l` */
  ATOM_PATTERN,
  /* some key that neither properties nor patternProperties of `s` name has a value that satisfies
   * `l` */
  ATOM_EXTRA,
  ATOM_NAME, /* some key satisfies `l` */
  ATOM_REST, /* some member that nothing evaluated for `tracker` satisfies `l` */
  ATOM_MIN,  /* at least `count` members */
  ATOM_MAX,  /* at most `count` members */
  ATOM_NONE, /* all of `keys` are absent */
  ATOM_HOLDS /* the branch `held` holds */
};

/* Whose unevaluatedProperties or unevaluatedItems looks at what in-place subschemas evaluate: known
 * by address. */
struct tracker {
  const struct tracker *outer; /* counts for it too */
  /* under a negation: whether a branch holds must be decided, not only used where it helps */
  bool exact;
};

/* A branch of a choice that is not multiplied out: clauses that need not be fulfilled, and hold
 * together or not (choice/held.c). Known by address. */
struct held_branch {
  const struct held_branch *next;
  lit l;
  uint32_t n;
  const struct atom *at[];
};

struct atom {
  const struct atom *next;
  const char *key;
  uint32_t key_length, index, count;
  sid s;
  lit l;
  uint8_t kind;
  const struct tracker *tracker;
  const struct atom *keys; /* ATOM_ABSENT; with l = 0 there is one */
  const struct held_branch *held;
};

/* Where a subschema that holds stands in the text of the schema: a step from the one that it stands
 * in. Members come in that order (object.c). */
struct rank {
  const struct rank *outer; /* NULL: the goal */
  /* which keyword of the outer one, by its place in the text, and which of its subschemas */
  uint32_t keyword, child;
  uint32_t depth;
};

struct part {
  const struct part *next;
  uint8_t kind;
  const char *key;
  uint32_t key_length;
  sid s;
  lit l;
  uint32_t min, max, from;
  const struct atom *atoms;
  const struct held_branch *held; /* the branch that the clause is of; NULL: it must be fulfilled */
  const struct tracker *tracker;
  const struct rank *rank; /* PART_MEMBERS, PART_ORDER: of what has the keyword */
  uint32_t keyword;        /* its place there: where `properties` or the choice stands */
};

/* ---- conj.c ---------------------------------------------------------------------------------- */
goal tsl__schema_goal(struct schema *s, const lit *lits, uint32_t n, uint32_t level);
/* The goal of `g` and more lits, at g's level. */
goal tsl__schema_goal_and(struct schema *s, goal g, const lit *lits, uint32_t n);
static inline struct goal_entry *tsl__goal_of(const struct schema *s, goal g) {
  return s->goals.at[g];
}
/* Find the alternatives of all types (goal_entry.opened). */
bool tsl__schema_open(struct schema *s, goal g);
/* Call `leaf` for each conjunction that a goal has for one type: T_ARRAY or T_OBJECT with their
 * parts, T_NUMBER with its spec (NULL: every number). */
typedef void tsl__schema_leaf(void *ctx, const struct part *parts, const tsl__number_spec *number);
void tsl__schema_expand(struct schema *s, goal g, uint8_t type, tsl__schema_leaf *leaf, void *ctx);
/* A lit without detours: through nodes that are nothing but a reference, a not, or one of these
 * around true or false. */
lit tsl__schema_simplify(const struct schema *s, lit l);
/* The subschema behind references alone. */
static inline sid tsl__schema_referred(const struct schema *s, sid id) {
  while (tsl__node_of(s, id)->mask == OF(REF)) id = tsl__node_of(s, id)->values[0].children[0];
  return id;
}
/* The node behind references and double negations; where that is a negation, one that says
 * nothing. */
static inline const struct node *tsl__schema_plain_node(const struct schema *s, sid id) {
  lit l = tsl__schema_simplify(s, POS(id));
  return tsl__node_of(s, l & 1 ? SID_TRUE : l >> 1);
}
/* Is it plain that no value of the type satisfies l? */
bool tsl__schema_impossible(const struct schema *s, uint8_t type, lit l);

/* A node with anyOf or oneOf of these. */
sid tsl__schema_choice_of(struct schema *s, enum keyword k, const sid *children, uint32_t n);
static inline bool tsl__tracks(const struct tracker *chain, const struct tracker *t) {
  while (chain && chain != t) chain = chain->outer;
  return chain != NULL;
}

/* ---- empty.c --------------------------------------------------------------------------------- */
/* The fewest bytes of a value that satisfies the goal; TSL__INF: there is none. */
uint32_t tsl__schema_shortest(struct schema *s, goal g);
/* The same for a rule (tsl__rule_ops) whose ctx is the schema and whose param is the goal. */
uint32_t tsl__schema_rule_shortest(tsl__exprs *x, void *ctx, uint32_t g);
/* Is there a value that satisfies the goal? As asking for the fewest bytes, but most goals need not
 * be opened for it. */
bool tsl__schema_possible(struct schema *s, goal g);
/* A member's or an item's value with what a clause or a counter asks of it. */
void tsl__schema_ask_of(struct schema *s, goal value, lit l);

/* ---- completion.c ---------------------------------------------------------------------------- */
/* Is there an object that an alternative allows? */
bool tsl__object_possible(struct schema *s, struct object *o);
/* The same, by what may be known without its length: false is no answer. */
bool tsl__object_has_needs(struct object *o);
/* The fewest bytes from a state to the end of the object; TSL__INF: it cannot end. */
uint32_t tsl__object_cost(const struct object *o, const uint64_t *bits, uint32_t count, bool first);
/* Can it end from there? Cheaper, as the first way is enough. */
bool tsl__object_ends(struct object *o, const uint64_t *bits, uint32_t count, bool first);
uint32_t tsl__object_shortest(const struct object *o);
/* Make the goals of members of which a clause asks something: each with one of the clause's
 * targets. */
void tsl__object_goals_wanted(const struct object *o);
void tsl__array_goals_wanted(const struct array *a); /* of items, what it counts */

/* ---- value.c --------------------------------------------------------------------------------- */
tsl__expr tsl__schema_value(struct schema *s, goal g);
/* The same where something follows in the same frame. */
tsl__expr tsl__schema_item(struct schema *s, goal g);
/* A rule whose body is `body`. */
tsl__expr tsl__schema_frame(struct schema *s, tsl__expr body);
/* The types of its values, as far as the keywords say. */
uint8_t tsl__goal_types(const struct schema *s, const struct goal_entry *e);
/* Are its strings those of a list? The goal is opened. */
bool tsl__goal_listed(struct schema *s, const struct goal_entry *e);
const struct gaps *tsl__schema_gaps(struct schema *s, uint32_t level);
/* White space that may stand between two of JSON's characters, where it is not indented. It is any
 * characters up to `max`, or with `lines` what TSL_WS_PLAIN says. */
struct space_bounds {
  uint32_t max, lines, columns;
};
struct space_bounds tsl__schema_space(const tsl_schema_options *o);
bool tsl__schema_share(struct schema *s);
/* The text of a format, as tsl__format_expr. */
tsl__expr tsl__schema_format(struct schema *s, const char *name, uint32_t length, bool *known);
/* The fewest bytes of the strings of a goal, quotes included. */
uint32_t tsl__schema_string_shortest(struct schema *s, const struct goal_entry *e);
/* The shared format whose strings are these; NULL: they are of none. */
const struct shared_format *tsl__schema_format_of(const struct schema *s, tsl__expr value);
tsl__expr tsl__schema_sequence(tsl__exprs *x, const tsl__expr *e, size_t n);

/* ---- begin.c --------------------------------------------------------------------------------- */
/* Is it plain how the goal's arrays and objects begin? */
bool tsl__schema_begins_plainly(struct schema *s, goal g, struct plain_containers *out);
/* The goal of the objects that begin so; GOAL_NONE: there are none. */
goal tsl__schema_object_begun(struct schema *s, const struct goal_entry *e,
                              const struct plain_containers *c);
/* The goal of the objects among a goal's values once one was entered, and of the first items of its
 * arrays. GOAL_NONE: there are none, or that is not known. */
goal tsl__schema_entered(struct schema *s, goal g);
goal tsl__schema_first_item(struct schema *s, goal g);
/* The rule that all grammars share for arrays of any number of strings, or numbers, of which
 * nothing else is demanded. TSL__NONE: the goal's values are others. */
tsl__expr tsl__schema_shared_array(struct schema *s, goal g);
/* The calls that a value, or a member, begins with. There must be arrays alone, or objects alone,
 * and it must be plain how they begin: with one of these frames. False: it is not. */
struct tsl__calls;
struct cell;
bool tsl__schema_container_calls(struct schema *s, goal g, tsl__expr begin, tsl__expr empty,
                                 tsl__expr begin_array, struct tsl__calls *out);
/* What follows a key, up to the end of its value. It is a frame of its own, so that it does not
 * matter which other keys were seen. `level`: of the object. */
tsl__expr tsl__schema_member(struct schema *s, goal value, uint32_t level);
/* A frame that allows what this one does up to its end, if it is another: cheaper to make. */
tsl__expr tsl__schema_member_begins(struct schema *s, goal value, uint32_t level);
/* The same after what is left of a name of the cell, which must be new: a frame. */
tsl__expr tsl__schema_extra(struct schema *s, struct cell *c, tsl__expr member);

/* ---- what conj.c, negate.c and clause.c share ------------------------------------------------ */
struct pending {
  const struct pending *next;
  const struct tracker *tracker; /* what it evaluates counts for; NULL: nobody asks */
  lit l;
  struct rank rank;
};

struct choice { /* a disjunction that waits: keyword k of node s */
  const struct choice *next;
  const struct tracker *tracker;
  sid s;
  uint8_t keyword;
  const struct rank *rank; /* of the node */
};

struct negation { /* a whole node that waits to be negated */
  const struct negation *next;
  sid s;
  const struct rank *rank;
};

/* the properties of node s are evaluated for the tracker where all of these clauses are
 * fulfilled */
struct seen {
  const struct seen *next;
  const struct tracker *tracker;
  sid s;
  uint32_t n;
  const struct atom *when[];
};

struct branch {                   /* one way to go on */
  const struct fact *facts;       /* nodes that hold */
  const tsl__number_spec *number; /* numbers: all parts so far together; NULL: none */
  const struct part *parts;
  const struct pending *pending;
  const struct choice *choices;
  const struct seen *seen; /* by choices that became clauses */
  /* these when nothing else is left: what holds by then makes most of them plain */
  const struct negation *negations;
};

struct leaf { /* a conjunction that was found */
  const struct part *parts;
  const tsl__number_spec *number;
};

struct expansion {
  struct schema *s;
  uint8_t type;
  tsl__schema_leaf *leaf;
  void *ctx;
  uint32_t leaves, looked, depth;
  uint32_t width;     /* branches of all choices that were met */
  bool in_clauses;    /* choices are to become clauses where they can */
  bool looks;         /* leaves are kept until it is known that they are few */
  bool many;          /* they are not */
  bool many_branches; /* a oneOf of many branches was met: most of its negations say the same */
  const struct rank *rank; /* of the node that is looked at */
  uint32_t keyword;        /* the keyword that is looked at, by its place in the node's text */
  TSL__VEC(struct leaf) kept;
  TSL__VEC(struct choice) met;
};

/* The ways in which a node fails: a disjunction of atoms and of longer ways. */
struct ways {
  struct expansion *e;
  const struct atom *atoms; /* objects only */
  struct branch base;
  TSL__VEC(struct branch) more;
  bool always; /* one way is always open: nothing is demanded */
};

/* ---- conj.c ---------------------------------------------------------------------------------- */
struct atom *tsl__expand_atom(struct expansion *e, const struct atom *next, enum atom_kind kind,
                              const char *key, uint32_t length, lit l);
struct part *tsl__expand_part(struct expansion *e, struct branch *b, enum part_kind kind);
/* A clause; one that has a single atom is said with parts, one that has none is what nothing
 * satisfies. */
void tsl__expand_clause(struct expansion *e, struct branch *b, const struct atom *atoms);
/* What node s says of objects by keywords of its own, but for enum, const and combinations,
 * negated. That is one of the atoms, in front of those there are. False: that is more than atoms
 * say. */
bool tsl__expand_negated(struct expansion *e, sid s, const struct atom **atoms);
/* l must hold too; the expansion comes to it later. `child`: which of several that stand where the
 * keyword does. */
bool tsl__expand_want(struct expansion *e, struct branch *b, lit l, uint32_t child,
                      const struct tracker *tracker);
/* Go on from a branch: all that it wants, and then its choices. Recursion is as deep as the choices
 * of one goal are many. */
void tsl__expand_on(struct expansion *e, struct branch b);
/* One choice more is begun, which ends with e->depth--. False: there are too many. */
bool tsl__expand_deeper(struct expansion *e);
/* The place of a keyword among all members of its node's text; 0 where it has none of its own. */
static inline uint32_t tsl__keyword_place(const struct node *n, const struct keyword_value *v) {
  bool own = n->at && v->value >= n->at->items && v->value < n->at->items + n->at->length;
  return own ? (uint32_t)(v->value - n->at->items) : 0;
}
/* Go on from the branch with these n lits, unless one of them plainly cannot hold. The first one is
 * They come first: members of `if` come before those of `then`. */
void tsl__expand_with(struct expansion *e, const struct branch *b, const lit *lits, uint32_t n,
                      const struct tracker *tracker);
/* Is it plain that every value of the type satisfies l? */
bool tsl__expand_certain(const struct schema *s, uint8_t type, lit l);
void tsl__expand_required_part(struct expansion *e, struct branch *b, const char *key,
                               uint32_t length);
void tsl__expand_clause_part(struct expansion *e, struct branch *b, const struct atom *atoms);
void tsl__expand_items_part(struct expansion *e, struct branch *b, uint32_t from, uint32_t to,
                            lit l);
void tsl__expand_contains_part(struct expansion *e, struct branch *b, lit l, uint32_t from,
                               uint32_t min, uint32_t max);
/* The list of schemas for the first items, and the schema for the rest, by the rules of the draft.
 * Any of the three may be NULL. */
void tsl__expand_item_keywords(const struct node *n, const struct keyword_value **prefix,
                               const struct keyword_value **rest);
void tsl__expand_contains_bounds(const struct node *n, uint32_t *min, uint32_t *max);
/* False: no number is left. `at` asks for it. */
bool tsl__expand_narrow(struct expansion *e, struct branch *b, const tsl__number_spec *spec,
                        const tsl__json *at);
const struct keyword_value *tsl__expand_unevaluated(const struct expansion *e,
                                                    const struct node *n);
struct tracker *tsl__expand_new_tracker(struct expansion *e, const struct tracker *outer,
                                        bool exact);
/* Add what node s says but for its own unevaluated…. False: no value of the type satisfies it. */
bool tsl__expand_take_rest(struct expansion *e, struct branch *b, sid s,
                           const struct tracker *tracker);

/* ---- order.c --------------------------------------------------------------------------------- */
/* When a reader of the schema's text comes to a subschema; of one that no text has: UINT32_MAX. */
uint32_t tsl__schema_number_in_text(struct schema *s, sid id);

/* ---- anyof.c --------------------------------------------------------------------------------- */
/* Expand the branches of an anyOf: at least one of them holds. */
void tsl__expand_any_of(struct expansion *e, struct branch *b, const struct keyword_value *v,
                        const struct tracker *tracker);

/* ---- negate.c -------------------------------------------------------------------------------- */
/* Recursion follows references and allOf as deep as they are nested. Cycles are cut or refused
 * (cycles.c). */
void tsl__expand_negate(struct ways *w, sid s);

/* ---- oneof.c --------------------------------------------------------------------------------- */
/* Expand the branches of a oneOf: one of them holds, and no other. */
void tsl__expand_one_of(struct expansion *e, const struct branch *b, const struct keyword_value *v,
                        const struct tracker *tracker);

/* ---- spans.c --------------------------------------------------------------------------------- */
/* Bounds of the numbers of each branch, and the group that it is in: those of different groups
 * plainly have no number in common. NULL on failure (sticky). */
tsl__number_spec *tsl__schema_spans(struct schema *s, const sid *branches, uint32_t n,
                                    uint32_t *group);
bool tsl__schema_spans_apart(const tsl__number_spec *a, const tsl__number_spec *b);

/* ---- strings.c ------------------------------------------------------------------------------- */
/* Where a text of that hash is in a set, whose strings a table has by theirs. UINT32_MAX:
 * nowhere. */
uint32_t tsl__schema_find_text(const struct table *by_hash, uint64_t hash, const tsl__string *set,
                               tsl__string text);
/* The strings of n lists, each once. Those of one list alone come first; *once: how many they are,
 * if somebody asks. */
struct strings tsl__schema_lists_joined(struct schema *s, const struct strings *const *lists,
                                        uint32_t n, uint32_t *once);
/* Put sets of texts into groups: group[i] of texts[i]. Sets of different groups plainly have no
 * text in common. */
void tsl__schema_text_groups(struct schema *s, const tsl__expr *texts, uint32_t n, uint32_t *group);

/* ---- clause.c -------------------------------------------------------------------------------- */
/* Say the disjunction that a keyword of node s is in clauses, with what it evaluates for the
 * tracker, if somebody asks (else NULL). False: it cannot be said in few. */
bool tsl__expand_in_clauses(struct expansion *e, struct branch *b, sid s, enum keyword k,
                            const struct tracker *tracker);
/* Say of a conjunction's members which of them are evaluated. */
void tsl__expand_seen(struct expansion *e, struct branch *b);

#endif
