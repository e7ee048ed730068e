/* keywords.h - the keywords of JSON Schema by number, and sets of them, all made of keywords.def.
 *
 * A node keeps the keywords that it has as a 64-bit mask. What a pass asks of a node is then one
 * `&` with a set from here. `n->mask & ~tsl__keyword_sets.plain` is not 0, for example, where a
 * node has a keyword that plain.c does not know. A pass names single keywords only where it has
 * code for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_KEYWORDS_H
#define TSL_COMPILER_SCHEMA_KEYWORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/schema/keywords.def"

/* ---- the columns of keywords.def ------------------------------------------------------------- */

/* Drafts, as bits. AUTO is a schema that names none. */
enum { D3 = 1, D4 = 2, D6 = 4, D7 = 8, D19 = 16, D20 = 32, AUTO = 64, D_ALL = 127 };

enum shape {
  SHAPE_TYPE,
  SHAPE_MAP,
  SHAPE_REF,
  SHAPE_REQUIRED,
  SHAPE_ARRAY,
  SHAPE_ITEMS,
  SHAPE_FORMAT,
  SHAPE_SCHEMA,
  SHAPE_ANY,
  SHAPE_REGEX,
  SHAPE_COUNT,
  SHAPE_NUMBER,
  SHAPE_EXCLUSIVE,
  SHAPE_POSITIVE,
  SHAPE_BOOLEAN,
  SHAPE_LIST,
  SHAPE_PATTERNS,
  SHAPE_DEPENDENCIES,
  SHAPE_EXTENDS,
  SHAPE_NULLABLE,
  SHAPE_CONTENT
};

/* Types of JSON values, as bits. */
enum {
  T_NULL = 1,
  T_FALSE = 2,
  T_TRUE = 4,
  T_NUMBER = 8,
  T_STRING = 16,
  T_ARRAY = 32,
  T_OBJECT = 64,
  T_ALL = 127
};

/* ---- keywords -------------------------------------------------------------------------------- */

enum keyword {
#define NUMBER(name, text, drafts, shape, types, vocabulary, group, traits) KW_##name,
  TSL__KEYWORDS(NUMBER)
#undef NUMBER
      KW_COUNT /* no keyword */
};
_Static_assert(KW_COUNT <= 64, "a node keeps its keywords in a 64-bit mask");

/* The keyword as a bit of a mask. */
#define OF(name) ((uint64_t)1 << KW_##name)

/* A row of keywords.def, as far as passes look it up by number. */
struct keyword_row {
  const char *text;
  uint8_t drafts, shape; /* D3 …; enum shape */
  uint8_t types;         /* T_…: that it constrains */
};
extern const struct keyword_row tsl__keyword_rows[KW_COUNT];

/* Sets of keywords. */
struct keyword_sets {
  /* what plain.c looks at, by the type that is constrained; plain: all of these and `type` */
  uint64_t plain_strings, plain_numbers, plain_arrays, plain_objects, plain;
  uint64_t objects;            /* of the plain ones about objects those that no CONTEXT changes */
  uint64_t styled, cheap_not;  /* STYLED, CHEAP_NOT */
  uint64_t in_place;           /* IN_PLACE */
  uint64_t conjunctive;        /* CONJUNCTIVE */
  uint64_t evaluates_members;  /* EVALUATES, of objects */
  uint64_t evaluates_items;    /* EVALUATES, of arrays */
  uint64_t context;            /* CONTEXT */
  uint64_t members;            /* the group WITH_MEMBERS */
  uint64_t not_clause;         /* may constrain an object, and clauses cannot say how */
  uint64_t not_negated_clause; /* the same of the negation */
};
extern const struct keyword_sets tsl__keyword_sets;

/* Groups of keywords that say something only together, one set for each WITH_…. */
#define TSL__KEYWORD_GROUPS 7u
extern const uint64_t tsl__keyword_groups[TSL__KEYWORD_GROUPS];

/* The keywords all of whose subschemas hold where their node does, in the order in which their
 * subschemas are looked at. */
extern const uint8_t tsl__conjunctive[5];

/* The keyword of this spelling in any draft; KW_COUNT: none. */
enum keyword tsl__schema_keyword(const char *key, uint32_t length);
/* The keywords of a vocabulary of 2019-09 or 2020-12. False: the URI names no vocabulary. */
bool tsl__schema_vocabulary(const char *uri, uint32_t length, uint64_t *keywords);
/* The keywords of all vocabularies that a metaschema can leave out. */
uint64_t tsl__schema_vocabularies(void);

#endif
