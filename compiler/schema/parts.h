/* parts.h - what the passes of the JSON Schema compiler share.
 *
 * node     a subschema as read: its keywords by number, their values checked. The same place in the
 *          text is one node.
 * lit      a node with a sign: "satisfies it" or "does not".
 * goal     a set of lits that one value must satisfy together; interned, so goals are compared by
 *          number. Goal 0 asks nothing.
 * part     an atomic constraint on objects, arrays or numbers. The expansion of a goal by type is a
 *          list of conjunctions of parts.
 * objects, arrays   a conjunction made ready to be followed: what a frame of the matcher works
 *                   with.
 * state    where a frame is inside an object or array: keys seen, counts, clauses fulfilled;
 *          interned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_PARTS_H
#define TSL_COMPILER_SCHEMA_PARTS_H

#include "compiler/json/json.h"
#include "compiler/number/number.h"
#include "compiler/schema/keywords.h"
#include "compiler/schema/schema.h"

/* ---- limits ---------------------------------------------------------------------------------- */

#define TSL__SCHEMA_ALTERNATIVES 4096u /* conjunctions of one goal */
#define TSL__SCHEMA_CLAUSES 64u        /* open disjunctions of one object */
/* groups of extra keys that patterns tell apart, of one object */
#define TSL__SCHEMA_CELLS 4096u
/* names of a finite group of extra keys that become known keys */
#define TSL__SCHEMA_LISTED 256u
/* names of a finite group that are counted; no object can have more
 * (runtime/automaton/seen_names.h) */
#define TSL__SCHEMA_NAMES (1u << 20)
/* subschemas of one value inside one another; values that must be inside one another */
#define TSL__SCHEMA_DEPTH 500u
/* values of which one must be known to know the other, as uniqueItems asks */
#define TSL__SCHEMA_OPENING 64u
#define TSL__SCHEMA_CHAIN 2000u /* items that contains must count one by one */
/* steps of one search for the cheapest way to satisfy clauses */
#define TSL__SCHEMA_SEARCH 200000u
/* values under uniqueItems whose use is followed where there are few */
#define TSL__SCHEMA_USED 64u
#define TSL__SCHEMA_UNIQUE 1024u /* different values under uniqueItems that are listed */

/* ---- nodes ----------------------------------------------------------------------------------- */

typedef uint32_t sid;  /* a subschema: index into schema.nodes */
typedef uint32_t lit;  /* sid * 2, + 1 if negated */
typedef uint32_t goal; /* index into schema.goals */
enum { SID_TRUE = 0, SID_FALSE = 1, GOAL_ANY = 0, GOAL_NONE = 1 };
#define POS(s) ((lit)(s) << 1)
#define NEG(s) ((lit)(s) << 1 | 1u)

struct keyword_value {
  tsl__json *value;
  /* subschemas in the order of the text; of a reference: its target. UINT32_MAX: a list of names in
   * `dependencies` */
  const sid *children;
  const tsl__expr *exprs; /* pattern, format: one; patternProperties: one per member */
  uint32_t count;         /* number of children; the number itself where it is a count */
  uint8_t keyword;
};

/* What a string must be: the texts of `text` with min to max code points, or the `count` strings of
 * `set` (then min and max say nothing, and text is the same set if it has been asked for). */
struct strings {
  tsl__expr text;
  uint32_t min, max;
  bool any_text; /* text is every text */
  bool is_set;
  const tsl__string *set; /* without doubles */
  uint32_t count;
};

struct node {
  tsl__json *at;
  uint64_t mask;                      /* keywords it has */
  const struct keyword_value *values; /* in keyword order */
  uint32_t resource;
  /* dynamic scope: index into schema.scopes; 0 where that can't matter */
  uint32_t scope;
  uint8_t types;    /* T_...: what `type` allows, T_ALL without */
  uint8_t possible; /* T_...: values of other types are surely invalid */
  bool integer;     /* numbers must be integers */
  bool digits;      /* and spelled without fraction or exponent: drafts 3 and 4 */
  bool has_scalars; /* `scalars` is known */
  bool looked_at;   /* `plain` and `plain_bytes` are known */
  /* memo of style.c: all in it plainly has a spelling, or that is being asked */
  bool nests;
  uint8_t plain; /* memo of plain.c: T_... */
  /* memo of goal.c: the goal that asks this alone, at no level; 0: none yet */
  goal alone;
  /* memo of disjoint.c: the first node that says the same; 0: not asked yet */
  sid first;
  uint32_t plain_bytes;
  uint8_t scalars;                       /* memo of scalar.c: T_NULL | T_FALSE | T_TRUE */
  struct strings *strings, *not_strings; /* memo of scalar.c */
};

/* A resource: a document or what an $id makes one. */
struct resource {
  tsl__json *root;
  const char *uri; /* absolute, without fragment, NUL-terminated; "" if it has none */
  /* the URI that the document was asked for by, if it names another one itself; else NULL */
  const char *asked;
  uint32_t draft;   /* one of D3 … AUTO */
  uint32_t dynamic; /* the last of its dynamic anchors (struct anchor), + 1; 0: none */
  bool recursive;   /* $recursiveAnchor: true at its root */
  bool document;    /* it is a whole document */
  /* keywords that do not assert: of vocabularies that its metaschema leaves out */
  uint64_t without;
};

struct dialect { /* what a metaschema of one's own says */
  const char *uri;
  uint32_t draft; /* the one it extends; 0: it does not say */
  uint64_t without;
};

struct anchor {
  uint32_t resource;
  const char *name;
  uint32_t length;
  tsl__json *at;
  uint32_t before; /* dynamic ones: that of the same resource before it, + 1; 0: none */
  bool dynamic;
};

/* ---- goals ----------------------------------------------------------------------------------- */

struct object;
struct array;

struct goal_entry {
  const lit *lits; /* sorted, distinct */
  uint32_t n;
  uint32_t level;   /* depth in the output where that matters, else 0 */
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
  bool told;         /* scalars, strings and numbers are known */
  bool opened, final, active;
  bool spelled;      /* it is known that the style can write it */
  bool asked;        /* whether it is possible is being asked further out */
  bool possible;     /* it is known that it is */
  uint8_t alone;     /* memo: are its values arrays, or objects, and nothing else? See begin.c */
  uint32_t alone_of; /* then: the goal of the objects, or the subschema of the arrays */
  uint8_t scalars;   /* T_NULL | T_FALSE | T_TRUE: allowed */
  tsl__expr string, number; /* NONE: none; a string without its frame */
  bool any_string;
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
  PART_ORDER,    /* object: nothing is asked, but the properties of node `s` have a place here */
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
  ATOM_NONE  /* all of `keys` are absent */
};

/* Whose unevaluatedProperties or unevaluatedItems looks at what in-place subschemas evaluate: known
 * by address. */
struct tracker {
  const struct tracker *outer; /* counts for it too */
  /* under a negation: whether a branch holds must be decided, not only used where it helps */
  bool exact;
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
  const struct tracker *tracker;
};

/* ---- objects --------------------------------------------------------------------------------- */

struct known {
  goal value;
  uint32_t place; /* by order `schema`: index among the ordered keys, or UINT32_MAX */
  /* bytes of the key, quotes included, in its shortest spelling, once asked for (0: not yet) */
  uint32_t length;
  bool required;
  bool forbidden;
};

struct cell { /* extra keys that the same constraints apply to */
  /* their texts; any text if they are all but the known ones, and nobody wants to know */
  tsl__expr key;
  tsl__expr rest;  /* frame: the rest of the key's JSON string after the opening quote */
  tsl__expr extra; /* memo: the same and the member's colon and value, as a frame */
  uint64_t mask;   /* splitters that hold them */
  goal value;
  /* bytes of the shortest such key, quotes included, once asked for (0: not yet); it can take a
   * search */
  uint32_t length;
  uint32_t count; /* of such keys; TSL__INF: more than can be used up */
  uint32_t slot;  /* with a count: index among the counted cells */
  bool all;       /* every text */
  bool alone;     /* no other object's: `rest` is of this one's names */
};

/* One way to fulfil a clause. */
struct target {
  /* ATOM_ABSENT, ATOM_KEY (key), ATOM_PATTERN (a member out of keys and cells), ATOM_MIN, ATOM_MAX
   * (count), ATOM_NONE (of the `count` keys of the list; at most one in a clause) */
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
};

struct object {
  struct schema *schema;
  uint32_t level;
  tsl__stringset set; /* the known keys */
  uint32_t n, words, cell_count, clause_count, placed_count;
  /* cells with a count and, where clauses ask that no key of a list comes, a set of these clauses:
   * of which some came */
  uint32_t counted;
  uint32_t spoilt;     /* the index of that set; UINT32_MAX: no clause asks so */
  uint32_t begun;      /* memo: the state before the first member, plus 1 */
  struct known *known; /* n, in the order of the set */
  uint32_t *placed;    /* known keys by place */
  struct cell *cells;
  struct clause *clauses;
  uint32_t min, max;    /* members */
  uint32_t clamp;       /* counts from here on are alike */
  bool simple;          /* no clauses and no counts: a key can be taken whenever its value can be */
  bool capped;          /* members may become too many */
  const uint64_t *tied; /* keys that a clause asks about; NULL: none does */
  /* clauses, as bits, that share keys with each other and none with the rest; NULL: all are one
   * group */
  const uint64_t *groups;
  uint32_t group_count;
  /* keys of which it is known that they may come wherever they have not yet; NULL: none is, so
   * far */
  uint64_t *sure;
  /* how one of its states came to the end, as it was found last; NULL: none was looked for */
  struct ending *ending;
  bool any;    /* no constraint at all */
  bool styled; /* its members are written in the schema's style */
  /* it could have keys that the schema does not name, and the style cannot write them */
  bool unnamed;
};

struct object_state {
  struct object *object;
  uint64_t done;     /* clauses fulfilled */
  uint32_t count;    /* members, clamped */
  uint32_t shortest; /* bytes to the end of the object; UNKNOWN: not asked yet */
  tsl__expr next;    /* memo: the rule that goes on after a member */
  tsl__expr keys;    /* memo: the rule of what follows the opening quote of the next key */
  bool first;        /* no member yet */
  uint8_t ends;      /* memo: can the object end from here? 0: not asked yet, 1: no, 2: yes */
  /* words: keys seen or, with order `schema`, passed; then of each counted cell: how many of its
   * keys were used; clauses spoilt */
  uint64_t bits[];
};

static inline bool tsl__clause_spoilt(const struct object *o, const uint64_t *bits,
                                      const struct clause *c) {
  return bits && bits[o->spoilt] >> (c - o->clauses) & 1u;
}

#define UNKNOWN (TSL__INF - 1)

/* How many keys of the cell are left? Those of a small one are known keys. */
static inline uint32_t tsl__cell_left(const struct object *o, const struct cell *c,
                                      const uint64_t *bits) {
  if (c->count <= TSL__SCHEMA_LISTED) return 0;
  return c->count == TSL__INF ? TSL__INF : c->count - (uint32_t)bits[o->words + c->slot];
}

static inline bool tsl__bit(const uint64_t *bits, uint32_t i) {
  return (bits[i >> 6] >> (i & 63)) & 1u;
}
static inline void tsl__bit_set(uint64_t *bits, uint32_t i) {
  bits[i >> 6] |= (uint64_t)1 << (i & 63);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

struct counter { /* of the items from `from` on, min to max satisfy l */
  lit l;
  uint32_t from, min, max;
};

struct array {
  struct schema *schema;
  uint32_t level, prefix_count, counter_count, value_count;
  goal *prefix; /* the first items */
  goal rest;    /* all others */
  uint32_t min, max;
  struct counter *counters;
  /* with uniqueItems: all different values that items may have, strings first */
  const tsl__json **values;
  uint32_t string_count;
  tsl__stringset strings; /* the strings among them; values are in its order */
  bool unique;            /* with the list */
  bool guarded;           /* unique otherwise: see unique.c */
  bool repeats;           /* some two items are equal */
  /* guarded: values { "const": … } whose use the state knows, as else there might be none left for
   * an item that is needed */
  const lit *listed;
  uint32_t listed_count;
  bool any; /* no constraint at all */
};

struct array_state {
  struct array *array;
  uint32_t index;    /* items so far, clamped */
  uint32_t shortest; /* bytes from after an item to the end */
  uint32_t round;    /* in which that was found; UINT32_MAX: for good */
  tsl__expr next;
  uint32_t words;
  /* one count per counter, then bits: values used (listed ones, or all of them) */
  uint64_t data[];
};

struct asked { /* key `index` must satisfy l */
  uint32_t index;
  lit l;
};

/* ---- the compiler's state -------------------------------------------------------------------- */

/* Kinds of values that are common enough for their members to be made once per vocabulary: these,
 * arrays of one of three types, those of the formats, scalars that may be null. */
#define TSL__SHARED_KINDS 8u
#define TSL__SHARED_LISTS 3u
#define TSL__SHARED_NULLABLE 5u

/* Formats that are common enough to be made once per vocabulary. */
#define TSL__SHARED_FORMATS 14u
#define TSL__SHARED_FROM 5u  /* numbers from 0 or 1 on */
#define TSL__SHARED_MIXED 3u /* strings and numbers */
#define TSL__SHARED_MEMBERS                                                          \
  (TSL__SHARED_KINDS + TSL__SHARED_NULLABLE + TSL__SHARED_LISTS + TSL__SHARED_FROM + \
   TSL__SHARED_MIXED + TSL__SHARED_FORMATS)
struct shared_format {
  tsl__expr text, value; /* decoded, and as a JSON string; NONE: made when asked for */
  tsl__expr rule;        /* the string as a frame */
  uint32_t shortest;     /* bytes of a value */
};

/* Integers (in drafts 3 and 4 too) and numbers from 0 or 1 on, as canonical specs. */
extern const tsl__number_spec tsl__shared_from[TSL__SHARED_FROM];

/* Expressions that all schemas share; made by tsl__schema_warm or, with white space of its own or
 * without a base layer, by each compile. */
struct shared {
  /* digits: what drafts 3 and 4 call an integer */
  tsl__expr space, value, object, array, string, string_rest, number, integer, digits;
  /* as in struct gaps */
  tsl__expr colon, more, end, begin, empty, begin_array, next_item, end_array;
  /* colon, and begin, empty, begin_array, or a quote: frames */
  tsl__expr member_begin, member_empty, member_array, member_string;
  tsl__expr member_object;              /* one of the first two: a frame */
  tsl__expr strings, numbers, integers; /* arrays of any number of any of these */
  /* literals */
  tsl__expr quote, left_brace, right_brace, left_bracket, right_bracket, null, no, yes;
  struct shared_member {
    tsl__expr value, rule; /* colon VALUE, as a frame */
  } members[TSL__SHARED_MEMBERS];
  uint32_t member_count;
  tsl__expr number_text, integer_text, digits_text; /* without a frame */
  struct shared_from {
    tsl__expr text, rule; /* without a frame, and as one; NONE: made when asked for */
  } from[TSL__SHARED_FROM];
  struct shared_mixed {
    tsl__expr value, rule; /* a string, or a number of some kind: without a frame, and as one */
  } mixed[TSL__SHARED_MIXED];
  struct shared_format formats[TSL__SHARED_FORMATS];
};

/* White space and punctuation at one level of nesting, and how many bytes each takes at least. */
struct gaps {
  tsl__expr first; /* after the opening bracket and any white space, before the first member */
  tsl__expr colon; /* ":" and what stands around it; a frame where that is white space */
  /* after a member: up to the next key's opening quote, itself included; a frame */
  tsl__expr more;
  tsl__expr end; /* after a member: up to the closing brace, itself included; a frame */
  /* an object up to its first key's opening quote; a frame where there may be white space */
  tsl__expr begin;
  tsl__expr empty;       /* an object without members; the same */
  tsl__expr begin_array; /* an array up to its first item, or its end; the same */
  tsl__expr next_item;   /* after an item: up to the next; a frame */
  tsl__expr end_array;   /* after an item: up to the closing bracket, itself included; a frame */
  uint32_t first_cost, close_cost, comma_cost, colon_cost;
  uint32_t item_cost; /* of each item besides */
};

struct slot {
  uint32_t index; /* + 1; 0 = free */
  /* its lower half: entries are neither looked at nor hashed again when the table grows */
  uint32_t hash;
};

struct table { /* open addressing */
  struct slot *slots;
  uint32_t capacity, used;
  struct slot *before; /* what it has grown out of; NULL: all of that is in `slots` */
  uint32_t moved;      /* of its slots, half of `capacity`, so many are */
};

struct frame {
  tsl__expr body, rule;
};

struct scope {
  uint32_t outer, resource;
};

struct named { /* of an object that JSON pointers go through */
  const tsl__json *object;
  tsl__json *at;
};

struct pattern {
  tsl__string text;
  tsl__expr e;
};

struct schema {
  tsl__exprs *x;
  const tsl_allocator *alloc;
  tsl__arena arena;
  tsl_schema_options options;
  uint32_t max_depth, max_nesting;
  bool levels;                           /* the depth in the output matters */
  const struct tsl__schema_style *style; /* of the outermost object; NULL: JSON */
  uint64_t keywords;                     /* that some subschema has */
  bool refers;                           /* has references: a value may stand inside itself */
  sid root_node;
  goal root_goal;
  struct shared shared;

  /* While compiling. */
  const char *text;
  size_t length;
  tsl__json *root;
  tsl_status status;
  tsl_error *error;
  const tsl__json *at;     /* the subschema being looked at: blamed where nothing better is known */
  const tsl__json *blamed; /* that of the first failure of an expression */
  const char *noted;       /* after the compile: the message that tells the place of the last one */

  TSL__VEC(struct resource) resources;
  TSL__VEC(struct anchor) anchors;
  TSL__VEC(struct scope) scopes;
  TSL__VEC(struct dialect) dialects;
  TSL__VEC(struct named) members; /* of large objects */
  /* of all these; the first three of resources and anchors, once there are many */
  struct table uri_table, root_table, anchor_table, scope_table, member_table;
  size_t resources_listed, anchors_listed; /* so many are in these tables */
  TSL__VEC(struct node *) nodes;
  uint32_t modern;                   /* the resource of made-up schemas */
  size_t nodes_read;                 /* nodes below are read */
  struct table scoped;               /* nodes with a scope, by (at, scope) */
  TSL__VEC(struct pattern) patterns; /* while compiling: each regular expression is read once */
  struct table pattern_table;        /* of these, by their text */

  /* objects of several alternatives were made: what says the same in different places is to be one
   * goal */
  bool unites;
  struct table alike_table; /* nodes that are the first to say what they say */
  /* what was asked last of pairs of subschemas (disjoint.c); NULL: nothing yet */
  struct told_apart *apart;
  /* of the object that is being made, with doubles; kept for the next one */
  TSL__VEC(tsl__string) names;
  TSL__VEC(struct asked) asked; /* of its keys; the same */
  TSL__VEC(struct goal_entry *) goals;
  struct table goal_table;
  struct table union_table; /* nodes that tsl__schema_any_of made */
  TSL__VEC(struct object_state *) states;
  struct table state_table;
  TSL__VEC(struct array_state *) array_states;
  struct table array_state_table;
  TSL__VEC(struct frame) frames;
  struct table frame_table;
  TSL__VEC(struct gaps *) gaps; /* by level */
  struct strings no_strings;    /* an answer after a failure */
  tsl__numbers *numbers;

  /* Least fixed point of the shortest values. */
  uint32_t round, measuring;
  uint32_t opening; /* values that are being opened, one for the sake of the other */
  uint32_t asking;  /* goals whose `asked` is set */
  bool changed, tentative;
  TSL__VEC(goal) measured;
};

/* Fail for good: the first failure stays. `at` (may be NULL) is the place to blame. */
void tsl__schema_fail(struct schema *s, tsl_status status, const tsl__json *at, const char *format,
                      ...) TSL__PRINTF(4, 5);
/* Something may have failed below s->at: then that is to blame, unless it is known already what
 * is. */
void tsl__schema_note(struct schema *s);
static inline bool tsl__schema_ok(const struct schema *s) {
  return s->status == TSL_OK && tsl__exprs_status(s->x) == TSL_OK;
}
/* Count work, by things looked at; false when steps, memory or time are spent. */
static inline bool tsl__schema_work(struct schema *s, uint64_t things) {
  tsl__exprs_work(s->x, things);
  return tsl__schema_ok(s);
}
/* Arena memory, zeroed; NULL after a failure. */
void *tsl__schema_alloc(struct schema *s, size_t size);

/* Look for an entry with this hash; `same(ctx, index)` tells. Returns the index or UINT32_MAX.
 * tsl__table_add remembers a new one. */
uint32_t tsl__table_find(const struct table *t, uint64_t hash,
                         bool (*same)(const void *ctx, uint32_t index), const void *ctx);
bool tsl__table_add(struct schema *s, struct table *t, uint64_t hash, uint32_t index);
void tsl__table_free(struct schema *s, struct table *t); /* it is empty then */

/* ---- load.c ---------------------------------------------------------------------------------- */
/* Make a document known under a URI (without fragment); its resource is returned, UINT32_MAX after
 * a failure. */
uint32_t tsl__schema_document(struct schema *s, tsl__json *root, const char *uri, uint32_t draft);
/* The subschema that `reference` leads to from a node. False after a failure. */
bool tsl__schema_resolve(struct schema *s, const struct node *from, const tsl__json *reference,
                         tsl__json **at, uint32_t *resource, const struct anchor **anchor);
/* The resource that a subschema begins, or `resource`. */
uint32_t tsl__schema_resource_of(struct schema *s, const tsl__json *at, uint32_t resource);
uint32_t tsl__schema_enter(struct schema *s, uint32_t scope, uint32_t resource);
/* The anchor of a resource with this name, one of its dynamic ones if so wanted; NULL if there is
 * none. */
const struct anchor *tsl__schema_anchor(struct schema *s, uint32_t resource, const char *name,
                                        uint32_t length, bool dynamic);
/* Drop the tables that references are looked up with. */
void tsl__schema_forget_references(struct schema *s);

/* ---- read.c ---------------------------------------------------------------------------------- */
/* The node of a place; read later by tsl__schema_read. */
sid tsl__schema_node(struct schema *s, tsl__json *at, uint32_t resource, uint32_t scope);
/* Read all nodes that are not read yet, and those that they lead to. */
bool tsl__schema_read(struct schema *s);
/* Drop what is only known so that no regular expression is compiled twice. */
void tsl__schema_forget_patterns(struct schema *s);
static inline const struct node *tsl__node_of(const struct schema *s, sid id) {
  return s->nodes.at[id];
}
static inline bool tsl__has(const struct node *n, enum keyword k) { return (n->mask >> k) & 1u; }
/* Does it say nothing but of which types values are? */
static inline bool tsl__only_types(const struct node *n) { return !(n->mask & ~(OF(TYPE))); }
/* The value of a keyword that the node has. */
static inline const struct keyword_value *tsl__keyword(const struct node *n, enum keyword k) {
  return &n->values[tsl__ones(n->mask & (((uint64_t)1 << k) - 1))];
}
static inline const struct keyword_value *tsl__keyword_or_null(const struct node *n,
                                                               enum keyword k) {
  return tsl__has(n, k) ? tsl__keyword(n, k) : NULL;
}
/* Is the name among those that the node's own `required` lists? */
static inline bool tsl__node_requires(const struct node *n, const char *key, uint32_t length) {
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_REQUIRED);
  for (uint32_t i = 0; v && i < v->value->length; i++)
    if (v->value->items[i].length == length && !memcmp(v->value->items[i].text, key, length))
      return true;
  return false;
}
/* Find `possible` from the keywords. */
void tsl__node_limit_types(struct node *node);
/* A schema for exactly this array or object. */
sid tsl__schema_const(struct schema *s, tsl__json *value);
/* The same for any value. */
sid tsl__schema_equal_to(struct schema *s, tsl__json *value);
static inline uint8_t tsl__json_type(const tsl__json *v) {
  static const uint8_t types[] = {T_NULL, T_FALSE, T_TRUE, T_NUMBER, T_STRING, T_ARRAY, T_OBJECT};
  return types[v->kind];
}

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

/* A node that is satisfied where one of these is. */
sid tsl__schema_any_of(struct schema *s, const sid *children, uint32_t n);
static inline bool tsl__tracks(const struct tracker *chain, const struct tracker *t) {
  while (chain && chain != t) chain = chain->outer;
  return chain != NULL;
}

/* ---- disjoint.c ------------------------------------------------------------------------------ */
struct taken { /* nodes that hold, and keys that are demanded otherwise */
  const struct taken *next;
  sid s;           /* SID_TRUE with a key */
  const char *key; /* NULL: a node */
  uint32_t length;
};
/* The values that a node lists, *n of them, or NULL: enum, const, through references. */
const tsl__json *tsl__schema_listed(const struct schema *s, sid id, uint32_t *n);
/* Is the node among those taken? */
bool tsl__schema_held(const struct schema *s, const struct taken *taken, sid id);
/* Is it plain that no value of the type satisfies both? */
bool tsl__schema_disjoint(struct schema *s, uint8_t type, sid a, sid b);
/* Is it plain that no value of the type satisfies it and all that are taken? */
bool tsl__schema_excluded(struct schema *s, uint8_t type, const struct taken *taken, sid id);
/* Is it plain that the two say the same: one text in two places? */
bool tsl__schema_alike(struct schema *s, lit a, lit b);
/* Is it plain that a says all that b says, and maybe more? */
bool tsl__schema_says_all(struct schema *s, sid a, sid b);
/* The first of those, among all for which this was asked; l itself where that can't matter. `l` is
 * simplified. */
lit tsl__schema_first_alike(struct schema *s, lit l);
/* Is it plain that no object satisfies `next` and all that are taken? */
bool tsl__schema_clash(struct schema *s, const struct taken *taken, sid next);
/* Is it plain that every value of the goal satisfies l, or none? */
bool tsl__schema_implies(struct schema *s, goal g, lit l);
bool tsl__schema_excludes(struct schema *s, goal g, lit l);
/* Is it cheap to ask for the contrary: is it about types, numbers, lengths, or scalars that are
 * listed, alone? */
bool tsl__schema_denies(struct schema *s, lit l);
/* Is it plain that what satisfies a satisfies l? */
bool tsl__schema_lit_implies(struct schema *s, lit a, lit l);
/* The atoms of a clause that what is taken leaves open; *sure becomes true if one certainly
 * holds. */
const struct atom *tsl__schema_live_atoms(struct schema *s, const struct taken *taken,
                                          const struct atom *atoms, bool *sure);

/* ---- scalar.c -------------------------------------------------------------------------------- */
uint8_t tsl__schema_scalars(struct schema *s, lit l); /* of T_NULL, T_FALSE, T_TRUE */
/* The texts that strings satisfying all these may have; TSL__NONE if there are none. */
tsl__expr tsl__schema_text(struct schema *s, const lit *lits, uint32_t n, bool *any);
/* The same without the texts that hold `part`. */
tsl__expr tsl__schema_text_without(struct schema *s, const lit *lits, uint32_t n, const char *part);
/* Is there such a text, or are there no texts at all? */
bool tsl__schema_text_avoids(struct schema *s, const lit *lits, uint32_t n, const char *part);
/* If only finitely many are listed: the list (any order). NULL otherwise. */
const struct strings *tsl__schema_string_list(struct schema *s, lit l);
tsl__expr tsl__schema_numbers(struct schema *s, goal g);
/* The number constraints of a node's own keywords but enum and const. */
/* A number of the schema; false on failure (sticky). */
bool tsl__schema_decimal(struct schema *s, const tsl__json *v, tsl__decimal *out);
bool tsl__schema_number_spec(struct schema *s, const struct node *n, tsl__number_spec *out);

/* ---- object.c -------------------------------------------------------------------------------- */
/* NULL: nothing can satisfy the parts (or failure). */
struct object *tsl__object_new(struct schema *s, uint32_t level, const struct part *parts);
/* known.length, found if it is not yet. */
uint32_t tsl__object_key_length(const struct object *o, uint32_t key);

/* ---- members.c ------------------------------------------------------------------------------- */
tsl__expr tsl__object_body(struct object *o);
/* The same of the one object of a goal that plainly has some member (tsl__schema_plain_containers):
 * opened where the first key begins. `ends`: it may be empty. */
tsl__expr tsl__object_unopened(struct schema *s, goal g, bool ends);
/* What follows the opening quote of that key. */
tsl__expr tsl__object_first(struct schema *s, goal g);

/* ---- array.c --------------------------------------------------------------------------------- */
struct array *tsl__array_new(struct schema *s, uint32_t level, const struct part *parts);
/* The same of a subschema that says of arrays what all items are and how many, and nothing else.
 * False: nothing can satisfy it. */
bool tsl__array_plain(struct schema *s, uint32_t level, sid id, struct array *out);
tsl__expr tsl__array_body(struct array *a);
/* The same without how all arrays begin (gaps.begin_array). */
tsl__expr tsl__array_rest(struct array *a);
uint32_t tsl__array_shortest(struct array *a);
bool tsl__array_possible(struct array *a);
/* Every spelling of null, false, true or a number (NONE: it has too many digits), and of strings
 * given by their texts. */
tsl__expr tsl__schema_spell_scalar(struct schema *s, const tsl__json *v);
tsl__expr tsl__schema_spell_strings(struct schema *s, const tsl__string *texts, uint32_t n);

/* ---- unique.c -------------------------------------------------------------------------------- */
/* Leave it to the runtime that items are unique. False: nothing satisfies the array, or a failure.
 * `at` is blamed. */
bool tsl__array_guard(struct array *a, const tsl__json *at);
/* The runtime has something to remember. */
void tsl__schema_guard(struct schema *s);
/* An empty schema to make values in, members in any order. NULL after a failure. (schema.c) */
struct schema *tsl__schema_blank(tsl__exprs *x);

/* ---- plain.c --------------------------------------------------------------------------------- */
/* Types (T_...) of which there certainly is a value, as the keywords tell. */
uint8_t tsl__schema_plain(struct schema *s, sid id);
/* The same of values that satisfy n lits, n > 0. */
uint8_t tsl__schema_plain_together(struct schema *s, const lit *lits, uint32_t n);
/* Is it about objects alone, and about nothing but their members, some of which it names? */
bool tsl__schema_plain_object(const struct schema *s, sid id);
/* The subschemas that say what arrays and objects are like that satisfy one (SID_FALSE: there are
 * none), where it is plain how they begin: arrays by what all items are and how many, objects, if
 * there are any of those, with some member or, if `ends`, empty. False: that is not plain. */
struct plain_containers {
  sid array, object;
  bool ends, any_object; /* the latter: nothing is asked of objects */
};
bool tsl__schema_plain_containers(struct schema *s, sid id, struct plain_containers *out);
/* Does it certainly have an array or an object, and either values of other types too or no array
 * and no object of just any kind? */
bool tsl__schema_plain_container(struct schema *s, sid id);

/* ---- empty.c --------------------------------------------------------------------------------- */
/* The fewest bytes of a value that satisfies the goal; TSL__INF: there is none. */
uint32_t tsl__schema_shortest(struct schema *s, goal g);
/* Is there a value that satisfies the goal? As asking for the fewest bytes, but most goals need not
 * be opened for it. */
bool tsl__schema_possible(struct schema *s, goal g);
/* The same of an alternative. */
bool tsl__object_possible(struct schema *s, struct object *o);
/* The fewest bytes from a state to the end of the object; TSL__INF: it cannot end. */
uint32_t tsl__object_cost(const struct object *o, const uint64_t *bits, uint32_t count,
                          uint64_t done, bool first);
/* Can it end from there? Cheaper, as the first way is enough. */
bool tsl__object_ends(struct object *o, const uint64_t *bits, uint32_t count, uint64_t done,
                      bool first);
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
/* The types of its values, as far as the keywords tell. */
uint8_t tsl__goal_types(const struct schema *s, const struct goal_entry *e);
/* Are its strings those of a list? The goal is opened. */
bool tsl__goal_listed(struct schema *s, const struct goal_entry *e);
const struct gaps *tsl__schema_gaps(struct schema *s, uint32_t level);
/* Characters of white space that may stand between two of JSON's, where it is not indented: it
 * alone tells one schema's `shared` from another's. */
uint32_t tsl__schema_space_max(const struct schema *s);
bool tsl__schema_share(struct schema *s);
/* The text of a format, as tsl__format_expr. */
tsl__expr tsl__schema_format(struct schema *s, const char *name, uint32_t length, bool *known);
/* The fewest bytes of the strings of a goal, quotes included. */
uint32_t tsl__schema_string_shortest(struct schema *s, const struct goal_entry *e);

/* ---- begin.c --------------------------------------------------------------------------------- */
/* Is it plain how the goal's arrays and objects begin? */
bool tsl__schema_begins_plainly(struct schema *s, goal g, struct plain_containers *out);
/* The goal of the objects that begin so; GOAL_NONE: there are none. */
goal tsl__schema_object_begun(struct schema *s, const struct goal_entry *e,
                              const struct plain_containers *c);
/* The goal of the objects among a goal's values once one was entered, and of the first items of its
 * arrays; GOAL_NONE: there are none, or that is not known. */
goal tsl__schema_entered(struct schema *s, goal g);
goal tsl__schema_first_item(struct schema *s, goal g);
/* The rule that all grammars share for arrays of any number of strings, or numbers, of which
 * nothing else is asked; TSL__NONE: the goal's values are others. */
tsl__expr tsl__schema_shared_array(struct schema *s, goal g);
/* The calls that a value begins with, or a member, where there are arrays alone, or objects, and it
 * is plain how they begin: with one of these frames. False: it is not. */
struct tsl__calls;
bool tsl__schema_container_calls(struct schema *s, goal g, tsl__expr begin, tsl__expr empty,
                                 tsl__expr begin_array, struct tsl__calls *out);
/* What follows a key, up to the end of its value: a frame of its own, so that it does not matter
 * which other keys were seen. `level`: of the object. */
tsl__expr tsl__schema_member(struct schema *s, goal value, uint32_t level);
/* A frame that allows what this one does up to its end, if it is another: cheaper to make. */
tsl__expr tsl__schema_member_begins(struct schema *s, goal value, uint32_t level);
/* The same after what is left of a name of the cell, which must be new: a frame. */
tsl__expr tsl__schema_extra(struct schema *s, struct cell *c, tsl__expr member);

/* ---- style.c --------------------------------------------------------------------------------- */
/* What tells a style from JSON. A member is open key between [gap] inner [padding] VALUE [padding]
 * close [gap]. All texts are NUL-terminated. */
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
  tsl__bytes stops;          /* the same, and NUL */
  const char *separator;     /* between members; NULL for none */
  /* `json_between` is followed by the name of the value's type, and that by `typed_between` */
  bool typed;
  const char *typed_between;
  /* an element of its own for each member and item, at every depth; `close` is followed by / key
   * `between` */
  bool nested;
  bool python; /* strings are JSON's too; True, False and None for JSON's words */
  /* A value's frame, so that it can be found in a text. `key` NULL: the key stands before it in a
   * frame of its own. */
  tsl__expr (*mark_value)(void *ctx, tsl__expr body, const char *key, uint32_t key_length,
                          enum tsl__spelling spelling);
  tsl__expr (*mark_key)(void *ctx, tsl__expr body);
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
/* Then: the bytes of an element, but for its content and twice its key; an item of an array. */
uint32_t tsl__schema_element_cost(const struct schema *s);
/* Can the key be written in the schema's style? */
bool tsl__schema_writes_key(const struct schema *s, tsl__string key);
tsl__expr tsl__schema_styled_item(struct schema *s, goal value);
/* What follows a member's opening in its style: key (known key k, or a cell's), value, close. NONE:
 * it cannot be written. */
tsl__expr tsl__schema_styled_member(struct schema *s, const struct object *o, uint32_t key,
                                    uint32_t cell, goal value);

/* ---- blame.c --------------------------------------------------------------------------------- */
/* Fail with TSL_ERR_EMPTY, naming the keywords of an unsatisfiable node that clash. */
void tsl__schema_blame(struct schema *s, sid id);

#endif
