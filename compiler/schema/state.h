/* state.h - the state of one compile of a JSON Schema, and the numbers that its passes use.
 *
 * The nouns, each with a header of its own:
 *   node    node.h    a subschema as it was read: keywords by number, values checked. One place in
 *                     the text is one node, and its number is a sid.
 *   lit     here      a node with a sign: the value satisfies it, or does not
 *   goal    goal.h    a set of lits that one value must satisfy together. Goals are interned, so
 *                     two are compared by number. Goal 0 asks for nothing.
 *   part    goal.h    an atomic constraint on objects, arrays or numbers. A goal is expanded, type
 *                     by type, into alternatives of conjunctions of parts.
 *   object  object.h  a conjunction of parts about objects, made ready for a frame to follow
 *   array   array.h   the same for arrays
 *   state   there     where a frame is inside an object or array: keys seen, counts, clauses
 *                     fulfilled. States are interned too.
 *
 * Passes    load.c, read.c: text to nodes. goal.c, conj.c, negate.c, clause.c: goals to parts.
 *           object.c, keys/, items.c, unique/: parts to objects and arrays. members.c, array.c,
 *           value.c, scalar.c, shared.c, begin.c, style.c: those to expressions. empty.c: which
 *           have values. plain.c and disjoint.c answer without any of that, where it is plain.
 * Failure   is sticky: the first one stays in struct schema, and every pass looks at
 *           tsl__schema_ok before it goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_STATE_H
#define TSL_COMPILER_SCHEMA_STATE_H

#include "compiler/json/json.h"
#include "compiler/number/number.h"
#include "compiler/schema/keywords.h"
#include "compiler/schema/schema.h"

/* ---- limits ---------------------------------------------------------------------------------- */

#define TSL__SCHEMA_ALTERNATIVES 4096u /* conjunctions of one goal */
#define TSL__SCHEMA_CLAUSES 512u       /* open disjunctions of one object */
/* groups of extra keys that patterns distinguish, of one object */
#define TSL__SCHEMA_CELLS 4096u
/* such groups whose keys may begin with nearly any byte */
#define TSL__SCHEMA_OVERLAPPING 64u
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

/* ---- numbers of nodes and goals -------------------------------------------------------------- */

typedef uint32_t sid;  /* a subschema: index into schema.nodes */
typedef uint32_t lit;  /* sid * 2, + 1 if negated */
typedef uint32_t goal; /* index into schema.goals */
enum { SID_TRUE = 0, SID_FALSE = 1, GOAL_ANY = 0, GOAL_NONE = 1 };
#define POS(s) ((lit)(s) << 1)
#define NEG(s) ((lit)(s) << 1 | 1u)

/* What a string must be: the texts of `text` with min to max code points, or the `count` strings of
 * `set`. With a set, min and max say nothing, and text is the same set if it has been requested. */
struct strings {
  tsl__expr text;
  uint32_t min, max;
  bool any_text; /* text is every text */
  bool is_set;
  const tsl__string *set; /* without doubles */
  uint32_t count;
  /* the texts are those of the goal's values, as they stand in a string (inner/inner.c); GOAL_ANY:
   * they are others, or there is one for sure */
  goal inner;
};

struct key_lits { /* key `index` must satisfy l */
  uint32_t index;
  lit l;
};

/* A bit of a set that is an array of words. */
static inline bool tsl__bit(const uint64_t *bits, uint32_t i) {
  return (bits[i >> 6] >> (i & 63)) & 1u;
}
static inline void tsl__bit_set(uint64_t *bits, uint32_t i) {
  bits[i >> 6] |= (uint64_t)1 << (i & 63);
}

struct node;
struct resource;
struct dialect;
struct anchor;
struct goal_entry;
struct object;
struct object_state;
struct array_state;

/* ---- the compiler's state -------------------------------------------------------------------- */

/* Kinds of values that are common enough for their members to be made once per vocabulary. They are
 * these, arrays of one of three types, those of the formats, and scalars that may be null. */
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
  tsl__expr text, value; /* decoded, and as a JSON string; NONE: made when requested */
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
    tsl__expr text, rule; /* without a frame, and as one; NONE: made when requested */
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

/* A rule in a JSON text that stands in a string (inner/quoted.c). */
struct quoted {
  tsl__expr of;  /* the rule without escapes, or what goes on after a name (RESUME) */
  uint32_t name; /* the name's number; UINT32_MAX: `of` is a rule */
  tsl__expr rule;
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
  const char *noted;       /* after the compile: the message with the place of the last one */

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
  /* JSON texts in a string (content.c), and bare between two tags; TSL__NONE: not yet made */
  tsl__expr content_json, content_bare;

  /* objects of several alternatives were made: what says the same in different places is to be one
   * goal */
  bool joins_alike;
  struct table alike_table; /* nodes that are the first to say what they say */
  /* what was found out last of pairs of subschemas (disjoint.c); NULL: nothing yet */
  struct compared *apart;
  struct weighed *weighed;             /* lits that goals were compared with; NULL: none yet */
  uint32_t weighed_size, weighed_anew; /* of that; how many have come to it at this size */
  /* the oneOf of many branches that is being expanded, to be blamed where its branches are more
   * than can be kept apart; NULL: none */
  const tsl__json *one_of;
  uint32_t one_of_count; /* of its branches */
  /* of the object that is being made, with doubles; kept for the next one */
  TSL__VEC(tsl__string) names;
  TSL__VEC(struct key_lits) key_lits; /* of its keys; the same */
  TSL__VEC(struct goal_entry *) goals;
  struct table goal_table;
  struct table union_table; /* nodes that tsl__schema_choice_of made */
  /* order.c: when a reader comes to each of the first `numbered` nodes; NULL: not looked up yet */
  uint32_t *text_numbers;
  uint32_t numbered;
  TSL__VEC(struct object_state *) states;
  struct table state_table;
  TSL__VEC(struct array_state *) array_states;
  struct table array_state_table;
  TSL__VEC(struct frame) frames;
  struct table frame_table;
  TSL__VEC(struct quoted) quoted;
  struct table quoted_table;
  TSL__VEC(struct gaps *) gaps; /* by level */
  struct strings no_strings;    /* an answer after a failure */
  tsl__numbers *numbers;

  /* Least fixed point of the shortest values. */
  uint32_t round, measuring;
  uint32_t opening; /* values that are being opened, one for the sake of the other */
  uint32_t asking;  /* goals whose `key_lits` is set */
  bool changed, tentative;
  bool listing; /* it is being found out whether a listed string holds a value (inner/inner.c) */
  TSL__VEC(goal) measured;
};

/* Fail for good: the first failure stays. `at` (may be NULL) is the place to blame. */
void tsl__schema_fail(struct schema *s, tsl_status status, const tsl__json *at, const char *format,
                      ...) TSL__PRINTF(4, 5);
/* Something has too many parts: the oneOf of many branches that is being expanded is to blame, if
 * there is one. False: none is. */
bool tsl__schema_blame_one_of(struct schema *s);
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

/* Look for an entry with this hash; `same(ctx, index)` decides. Returns the index or UINT32_MAX.
 * tsl__table_add remembers a new one. */
uint32_t tsl__table_find(const struct table *t, uint64_t hash,
                         bool (*same)(const void *ctx, uint32_t index), const void *ctx);
bool tsl__table_add(struct schema *s, struct table *t, uint64_t hash, uint32_t index);
void tsl__table_free(struct schema *s, struct table *t); /* it is empty then */

#endif
