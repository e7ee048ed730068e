/* object.h - objects as a frame of the matcher follows them: keys, cells, clauses, states.
 *
 * Of {"properties": {"a": A}, "patternProperties": {"^x": X}, "additionalProperties": false,
 * "required": ["a"]} the known key "a" has the goal A and is required. The keys that begin with x
 * are one cell with the goal X. No other key exists. A state says whether "a" was seen.
 *
 * object.c makes an object out of parts, and keys/cells.c the cells of keys that no part names.
 * members.c follows states from member to member, and style.c writes members otherwise than JSON
 * does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_OBJECT_H
#define TSL_COMPILER_SCHEMA_OBJECT_H

#include "compiler/schema/goal.h"

/* ---- objects --------------------------------------------------------------------------------- */

struct known {
  goal value;
  uint32_t place; /* by order `schema`: index among the ordered keys, or UINT32_MAX */
  /* bytes of the key, quotes included, in its shortest spelling, once requested (0: not yet) */
  uint32_t length;
  bool required;
  bool forbidden;
};

struct cell { /* extra keys that the same constraints apply to */
  /* their texts; any text if they are all but the known ones, and nobody wants to know */
  tsl__expr key;
  tsl__expr rest;  /* frame: the rest of the key's JSON string after the opening quote */
  tsl__expr extra; /* memo: the same and the member's colon and value, as a frame */
  /* their texts where the patterns that match a key choose the goal of its value
   * (keys/by_pattern.c); `value` is then the goal where all match. TSL__NONE: all keys have one
   * goal */
  tsl__expr cases;
  uint64_t mask; /* splitters that hold them */
  goal value;
  /* bytes of the shortest such key, quotes included, once requested (0: not yet); it can take a
   * search */
  uint32_t length;
  uint32_t count; /* of such keys; TSL__INF: more than can be used up */
  uint32_t slot;  /* with a count: index among the counted cells */
  bool all;       /* every text */
  bool alone;     /* no other object's: `rest` is of this one's names */
};

/* One way to fulfil a clause. */
struct target {
  /* ATOM_ABSENT and ATOM_KEY (key), ATOM_PATTERN (a member out of keys and cells), ATOM_MIN and
   * ATOM_MAX (count). ATOM_NONE (of the `count` keys of the list; at most one in a clause),
   * ATOM_HOLDS (branch number `count`) */
  uint8_t kind;
  uint32_t key, count;
  const uint32_t *list;
  lit l;                 /* what the member's value must satisfy too */
  const uint64_t *keys;  /* bits over known keys */
  const uint64_t *cells; /* bits over cells */
};

struct clause {
  struct target *targets;
  uint32_t n;
  uint32_t branch; /* the number of the branch that it is of, plus 1; 0: it must be fulfilled */
};

/* A branch that holds if all of its clauses do (choice/held.c): clauses from `from` on. */
struct branch_clauses {
  uint32_t from, n;
  bool used; /* some target asks whether it holds */
  bool dead; /* it never does */
};

struct object {
  struct schema *schema;
  uint32_t level;
  tsl__stringset set; /* the known keys */
  uint32_t n, words, cell_count, clause_count, placed_count;
  /* words of a state's bits after those of the keys: one for each cell with a count. Where clauses
   * ask that no key of a list comes: a set of those clauses of whose list some key was seen. And
   * the set of clauses that are fulfilled */
  uint32_t counted;
  uint32_t clause_words; /* of a set of clauses */
  uint32_t spoilt;       /* the index of the first set; UINT32_MAX: no clause asks so */
  uint32_t done;         /* the index of the second one */
  uint32_t begun;        /* memo: the state before the first member, plus 1 */
  struct known *known;   /* n, in the order of the set */
  uint32_t *placed;      /* known keys by place */
  struct cell *cells;
  struct clause *clauses;
  struct branch_clauses *branches;
  uint32_t branch_count;
  uint32_t min, max;    /* members */
  uint32_t clamp;       /* counts from here on are alike */
  bool simple;          /* no clauses and no counts: a key can be added whenever its value can be */
  bool capped;          /* members may become too many */
  const uint64_t *tied; /* keys that a clause asks about; NULL: none does */
  /* by clause: the number of its group; those of a group share keys with each other and none with
   * the rest. NULL: all are one group */
  const uint32_t *groups;
  uint32_t group_count;
  /* memo: the clauses that ask that a key does not come, from[key] to from[key + 1]; NULL: not
   * listed yet */
  uint32_t *against, *against_from;
  /* keys of which it is known that they may come wherever they have not yet; NULL: none is, so
   * far */
  uint64_t *sure;
  /* the way from one of its states to the end that was found last; NULL: none was looked for */
  struct ending *ending;
  bool any;    /* no constraint at all */
  bool styled; /* its members are written in the schema's style */
  /* it could have keys that the schema does not name, and the style cannot write them */
  bool unnamed;
};

struct object_state {
  struct object *object;
  uint32_t count;    /* members, clamped */
  uint32_t shortest; /* bytes to the end of the object; UNKNOWN: not computed yet */
  tsl__expr next;    /* memo: the rule that goes on after a member */
  tsl__expr keys;    /* memo: the rule of what follows the opening quote of the next key */
  bool first;        /* no member yet */
  uint8_t ends;      /* memo: can the object end from here? 0: not computed yet, 1: no, 2: yes */
  /* words: keys seen or, with order `schema`, passed; then of each counted cell: how many of its
   * keys were used; clauses spoilt; clauses fulfilled */
  uint64_t bits[];
};

static inline bool tsl__clause_spoilt(const struct object *o, const uint64_t *bits,
                                      const struct clause *c) {
  return bits && tsl__bit(bits + o->spoilt, (uint32_t)(c - o->clauses));
}

static inline bool tsl__clause_done(const struct object *o, const uint64_t *bits, uint32_t i) {
  return bits && tsl__bit(bits + o->done, i);
}

#define UNKNOWN (TSL__INF - 1)

/* How many keys of the cell are left? Those of a small one are known keys. */
static inline uint32_t tsl__cell_left(const struct object *o, const struct cell *c,
                                      const uint64_t *bits) {
  if (c->count <= TSL__SCHEMA_LISTED) return 0;
  return c->count == TSL__INF ? TSL__INF : c->count - (uint32_t)bits[o->words + c->slot];
}

/* ---- what makes an object (object.c and keys/) ----------------------------------------------- */
#define SPLITTERS 64u
#define FEW_LITS 16u /* lits that need no memory */

/* What a clause says of a key. */
struct demand {
  lit l;
  uint32_t before; /* what another said of the same key: number + 1; 0: nothing */
};

struct maker {
  struct schema *s;
  struct object *o;
  const struct part **parts; /* in the order they were found */
  uint32_t part_count;
  size_t *first_names; /* by part: where the names of a clause begin */
  uint32_t *order;     /* names -> known */
  size_t cursor;       /* of the second pass over the names */
  tsl__expr splitters[SPLITTERS];
  uint32_t splitter_count;
  uint64_t *masks; /* by known key: splitters that match it */
  TSL__VEC(struct cell) cells;
  TSL__VEC(struct demand) demands; /* what clauses say of keys, */
  uint32_t *last_demand;           /* and by known key the last of it; NULL: nothing yet */
  TSL__VEC(const struct held_branch *) branches;
  TSL__VEC(tsl__string) listed; /* keys of finite cells */
  size_t listed_before;         /* of these were known when the maker began */
};

/* ---- object.c -------------------------------------------------------------------------------- */
/* NULL: nothing can satisfy the parts (or failure). */
struct object *tsl__object_new(struct schema *s, uint32_t level, const struct part *parts);
/* known.length, found if it is not yet. */
uint32_t tsl__object_key_length(const struct object *o, uint32_t key);

void tsl__maker_out_of_memory(struct maker *m);
const struct keyword_value *tsl__maker_properties(const struct maker *m, const struct part *p);
uint32_t tsl__maker_index_of(const struct maker *m, const char *key, uint32_t length);

/* ---- order.c --------------------------------------------------------------------------------- */
/* The `properties` of a part that gives them places; NULL: it is another. */
const struct keyword_value *tsl__maker_placed(const struct maker *m, const struct part *p);
/* Put the parts that name members in the order of the text. The others stay where they are. false
 * on failure. */
bool tsl__maker_order(struct maker *m);

/* ---- keys/cells.c ---------------------------------------------------------------------------- */
void tsl__maker_list_patterns(struct maker *m);
uint32_t tsl__maker_splitter_index(const struct maker *m, tsl__expr e);
tsl__expr tsl__maker_name_text(const struct maker *m, lit l);
void tsl__maker_collect_splitters(struct maker *m);
/* The splitters of a node's patterns. */
uint64_t tsl__maker_pattern_mask(const struct maker *m, sid id);
lit tsl__maker_additional(const struct maker *m, sid id);
/* Has a node whose evaluations count for `tracker` evaluated keys with this mask (or the known key
 * `index`)? */
bool tsl__maker_evaluated(const struct maker *m, const struct tracker *tracker, uint64_t mask,
                          uint32_t index);
/* What the parts ask of the value of a key with this mask; `own` says whether a part's properties
 * name the key itself. */
uint32_t tsl__maker_lits_of(struct maker *m, uint64_t mask, uint32_t index, lit *lits);
uint32_t tsl__maker_most_lits(const struct maker *m);
uint32_t tsl__maker_child_level(const struct maker *m);
/* Nothing distinguishes extra keys: they are all but the known ones. A frame of these is made
 * without their texts, which only a style needs. */
bool tsl__maker_one_cell(struct maker *m);
/* The goal of the value of an extra key with this mask. */
goal tsl__maker_goal(struct maker *m, uint64_t mask);
/* May the keys of that text begin with nearly any byte? */
bool tsl__maker_begins_anyhow(const struct maker *m, tsl__expr key);
bool tsl__maker_cells(struct maker *m);
/* Is the value of an extra key to be chosen by the patterns that match the key, with no cell for
 * each set of them? Then the one cell is made. False, too, on failure. */
bool tsl__maker_by_pattern(struct maker *m);
void tsl__maker_list_name(void *ctx, const uint8_t *at, uint32_t n);
/* Cells that no clause distinguishes are joined if their goals are equal. */
bool tsl__maker_finish_cells(struct maker *m, uint64_t splitters);

/* ---- object_clauses.c ------------------------------------------------------------------------ */
/* The properties of an ATOM_EXTRA's node, which it leaves alone; NULL: there are none. */
const struct keyword_value *tsl__maker_left_alone(const struct maker *m, const struct atom *a);
/* The clauses of all parts, without those that are certain. False: one cannot be fulfilled, or the
 * schema has failed. */
bool tsl__maker_clauses(struct maker *m);
/* Note the keys that clauses ask about, a bit each. */
void tsl__clauses_tie(struct object *o, uint64_t *tied);
/* Number the groups of clauses that share no key. False: out of memory. */
bool tsl__clauses_group(struct object *o);

/* ---- members.c ------------------------------------------------------------------------------- */
tsl__expr tsl__object_body(struct object *o);
/* Everything that may follow the opening quote of a key, in state `id`. */
tsl__expr tsl__object_keys(struct schema *s, uint32_t id);
/* The same as calls, of an object without clauses: one spells the known keys, the others the extra
 * ones. */
bool tsl__object_keys_calls(tsl__exprs *x, void *ctx, uint32_t id, struct tsl__calls *out);
/* The state before the first member; UINT32_MAX on failure. */
uint32_t tsl__object_first_state(struct object *o);
/* From the opening brace on; `members` follow the quote of the first key. */
tsl__expr tsl__object_braces(struct schema *s, uint32_t level, bool ends, tsl__expr members);
/* The same of the one object of a goal that plainly has some member (tsl__schema_plain_containers):
 * opened where the first key begins. `ends`: it may be empty. */
tsl__expr tsl__object_unopened(struct schema *s, goal g, bool ends);
/* What follows the opening quote of that key. */
tsl__expr tsl__object_first(struct schema *s, goal g);

/* May the member come first: known key `key` or, if that is UINT32_MAX, an extra one of the cell?
 * The object can be completed then, whatever the member's value is. */
bool tsl__object_may_begin(struct object *o, uint32_t key, uint32_t cell);

/* What states are made of. The size of one of an object, in bytes; its number, the same for equal
 * states. */
size_t tsl__state_size(const struct object *o);
uint32_t tsl__state_intern(struct schema *s, const struct object_state *st);
/* The state after a member: known key k or, if that is UINT32_MAX, an extra one of a cell. False if
 * the order forbids it. */
bool tsl__state_take(struct object_state *st, uint32_t k, uint32_t cell);
/* The fewest bytes to the end; whether there is an end. */
uint32_t tsl__state_cost(struct object_state *st);
bool tsl__state_can_end(struct object_state *st);
/* Is key k one of those that must all be absent? */
bool tsl__target_lists(const struct target *t, uint32_t k);
/* The rule that goes on after a member. */
tsl__expr tsl__object_next(struct schema *s, uint32_t id);
/* Has the key not come yet, or does the cell have names that have not? */
bool tsl__member_left(const struct object_state *from, uint32_t key, uint32_t cell);

/* ---- ways.c ---------------------------------------------------------------------------------- */
/* The ways in which a member can come: known key `key`, or one of cell `cell`; the other one is
 * UINT32_MAX. */
struct member_ways {
  bool possible;
  uint32_t shortest; /* bytes to the end of the object, if that was to be measured */
  tsl__expr all;     /* colon, value and what follows; NONE if nobody wanted it */
};
/* `ask_only`: only whether there is one; `measure`: `shortest` is wanted. */
struct member_ways tsl__object_ways(struct schema *s, const struct object_state *from, uint32_t key,
                                    uint32_t cell, bool ask_only, bool measure);

/* ---- holds.c --------------------------------------------------------------------------------- */
/* The number of a branch. */
uint32_t tsl__maker_branch(struct maker *m, const struct held_branch *h);
/* Make room for them, once all clauses are there. */
bool tsl__branches_make(struct maker *m);
/* Find each branch's clauses, and whether some target asks for the branch. */
void tsl__branches_look(struct object *o);
/* The clauses of branch b are to be fulfilled, like all others. */
void tsl__branch_must_hold(struct object *o, uint32_t b);
/* Can it not hold any more, in a state with these bits? NULL: no member has come. */
bool tsl__branch_dead(const struct object *o, const uint64_t *bits, uint32_t b);
/* Once the known key has come: can nothing that is left hit the target, whatever its value is? Only
 * of targets that the value does not hit. */
bool tsl__target_gone(const struct object *o, const uint64_t *bits, const struct clause *c,
                      const struct target *t, uint32_t key);
/* The keys that must be absent for a target to hold; none where it asks for something else. */
const uint32_t *tsl__target_bars(const struct target *t, uint32_t *n);
/* Would a clause be out of reach once the known key has come, whatever its value is? */
bool tsl__key_barred(struct object *o, const uint64_t *bits, uint32_t key);
/* Clear the bits of those, so that states that do not differ otherwise are one. */
void tsl__branches_tidy(const struct object *o, uint64_t *bits);

/* ---- style.c --------------------------------------------------------------------------------- */
/* What distinguishes a style from JSON. A member is open key between [gap] inner [padding] VALUE
 * [padding] close [gap]. All texts are NUL-terminated. */
/* the last three: another word for this value */
enum tsl__spelling {
  TSL__AS_JSON,
  TSL__AS_BARE,
  TSL__AS_OBJECT,
  TSL__AS_ARRAY,
  TSL__AS_TRUE,
  TSL__AS_FALSE,
  TSL__AS_NULL
};

struct tsl__schema_style {
  const char *name;
  /* of a member whose value is a bare string: its text, without quotes and escapes */
  const char *open, *between, *inner;
  const char *json_open, *json_between; /* and of one whose value is JSON; NULL: the same */
  const char *close;
  const char *gap, *padding; /* may stand there, once each; "" for none */
  const char *key_stops;     /* characters that no key may have */
  /* NULL, or: a bare string stands between these two texts, or, if it has no `guard_stop`, without
   * them */
  const char *guard[2], *guard_stop;
  tsl__bytes stops;      /* the same, and NUL */
  const char *separator; /* between members; NULL for none */
  /* `json_between` is followed by the name of the value's type, and that by `typed_between` */
  bool typed;
  const char *typed_between;
  /* an element of its own for each member and item, at every depth; `close` is followed by / key
   * `between` */
  bool nested;
  /* nested, but a value needs no closing tag with its key. Each kind of value (by its spelling:
   * JSON, bare, object, array) has these texts before and behind it. `item_open` stands before an
   * item of an array; `item_separator` between items, NULL for none */
  const char *around[4][2];
  const char *item_open, *item_separator;
  bool free_keys;  /* nested: keys that the schema does not name may be written */
  bool entities;   /* in keys & < > " are written as in XML */
  bool python;     /* strings are JSON's too; True, False and None for JSON's words */
  bool json_words; /* python: or JSON's words themselves */
  /* A value's frame, so that it can be found in a text. `key` NULL: the key stands before it in a
   * frame of its own. */
  tsl__expr (*capture_value)(void *ctx, tsl__expr body, const char *key, uint32_t key_length,
                             enum tsl__spelling spelling);
  /* `known`: the key that the text is, if it is spelled otherwise; NULL: the text is the key */
  tsl__expr (*capture_key)(void *ctx, tsl__expr body, const tsl__string *known);
  /* one of the texts above: special tokens in it may be written as such */
  tsl__expr (*text)(void *ctx, const char *text);
  /* the texts of `text` in which `close` does not occur */
  tsl__expr (*without)(void *ctx, tsl__expr text, const char *close);
  void *ctx;
};
/* All objects of a goal, members only. */
tsl__expr tsl__schema_styled(struct schema *s, goal g);
/* Is every object and array written in the style? */
static inline bool tsl__schema_nests(const struct schema *s) {
  return s->style && s->style->nested;
}
/* The same, with texts of its own around each kind of value. */
static inline bool tsl__schema_wraps(const struct schema *s) {
  return tsl__schema_nests(s) && s->style->around[0][0];
}
/* Then: the bytes of an element, but for its content and twice its key; an item of an array. */
uint32_t tsl__schema_element_cost(const struct schema *s);
/* Can the key be written in the schema's style? */
bool tsl__schema_writes_key(const struct schema *s, tsl__string key);
/* apart.c: is there no uniqueItems that the style of the arguments `g` cannot follow? */
bool tsl__style_unique(struct schema *s, goal g);
/* style.c: what is to blame for a goal. */
const tsl__json *tsl__goal_place(const struct schema *s, const struct goal_entry *e);
tsl__expr tsl__schema_styled_item(struct schema *s, goal value);
/* What follows a member's opening in its style: key (known key k, or a cell's), value, close. NONE:
 * it cannot be written. */
tsl__expr tsl__schema_styled_member(struct schema *s, const struct object *o, uint32_t key,
                                    uint32_t cell, goal value);

#endif
