/* lint.h - inside the lint: places, findings, and edits of the tree.
 *
 * A place is a subschema and the way to it. The lint makes a list of places in the order of the
 * text. Each rule looks at one place, and may edit the subschema there. Members are edited before
 * the subschemas inside are visited, so no place points to a node that an edit has moved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_LINT_LINT_H
#define TSL_COMPILER_SCHEMA_LINT_LINT_H

#include "compiler/json/json.h"
#include "compiler/schema/keywords.h"
#include "compiler/schema/lint/lint.def"
#include "compiler/schema/report/words.h"
#include "turnstile.h"

/* The number of each rule. */
#define TSL__LINT_NUMBER(function, name, severity, bounds, why) +1
enum { LINT_RULES = 0 TSL__LINT_RULES(TSL__LINT_NUMBER) };
enum { LINT_WRAPPER, LINT_REFUSED }; /* the rows without a function */

typedef enum lint_role {
  LINT_ROOT,
  LINT_PROPERTY,
  LINT_ITEM,
  LINT_DEFINITION,
  LINT_BRANCH /* speaks about the value of the subschema around it: allOf, anyOf, then, … */
} lint_role;

/* A value and the way to it. */
typedef struct lint_place {
  const struct lint_place *above; /* NULL: the root */
  tsl__json *at;
  const char *key; /* in an object; NULL: in an array */
  uint32_t key_length, index;
  lint_role role;
  enum keyword via; /* the keyword that it is a subschema of; KW_COUNT: none */
  bool required;    /* of a property: the object must have it */
} lint_place;

#define LINT_NEVER_MAX 64u /* properties that nothing satisfies and that are found */

typedef struct lint {
  const tsl_allocator *alloc;
  tsl__arena arena;
  const tsl_lint_options *options;
  tsl_lint_sink sink;
  void *ctx;
  tsl__json *root;  /* the whole text */
  tsl__json *base;  /* the schema that is looked at, to which its references are relative */
  uint64_t enabled; /* bit i: rule i */
  uint32_t rule;    /* that is looking */
  TSL__VEC(lint_place *) places;
  uint32_t never[LINT_NEVER_MAX]; /* offsets of subschemas that nothing satisfies */
  uint32_t never_count;
  uint32_t found; /* findings so far */
  bool failed;    /* out of memory */
} lint;

/* Say that the rule which is looking found something at `place`; with a keyword, at that member of
 * it. `mended`: the tree has been edited. */
void tsl__lint_find(lint *l, const lint_place *place, const tsl__json *keyword, bool mended,
                    const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;
/* Does the caller want the tree to be mended by the rule which is looking? */
bool tsl__lint_mends(const lint *l);

/* Is there a keyword whose subschemas speak about the same value ($ref, allOf, …)? */
bool tsl__lint_in_place(const tsl__json *schema);
/* As many bytes of a text as a message shows: whole characters. */
int tsl__lint_shown(const char *text, uint32_t length);

/* Names, to be found by their text. */
typedef struct lint_names {
  const tsl__json **slots; /* NULL: free */
  uint32_t mask;           /* slots - 1 */
  bool keys;               /* of the members, not the texts of the items */
} lint_names;
/* The names of an object's members, or the strings of an array, in the arena. A value that is no
 * list gives none. False, and l->failed, when out of memory. */
bool tsl__lint_names_of(lint *l, const tsl__json *list, lint_names *out);
/* The first one of that text; NULL: none. */
const tsl__json *tsl__lint_find_name(const lint_names *names, const char *text, uint32_t length);
static inline bool tsl__lint_named(const lint_names *names, const char *text, uint32_t length) {
  return tsl__lint_find_name(names, text, length) != NULL;
}

/* Compile the schema at `base`: a finding where it is refused, and the properties that no value
 * satisfies go into l->never. */
void tsl__lint_compile(lint *l, const lint_place *base, const char *text, size_t length);

/* ---- edits (edit.c) ---- All return false, and set l->failed, when out of memory. */

tsl__json tsl__lint_text(const char *text);          /* a string; `text` is static */
tsl__json tsl__lint_number_of(const char *spelling); /* a number; `spelling` is static */
tsl__json tsl__lint_word(uint32_t kind);             /* null, false or true */
/* Put a member behind the others (at `first`: in front of them). `key` is static. */
bool tsl__lint_add(lint *l, tsl__json *object, const char *key, tsl__json value, bool first);
/* Put an item behind the others. */
bool tsl__lint_append(lint *l, tsl__json *array, tsl__json value);
/* Move item `from` to place `to`, which lies before it. */
void tsl__lint_move(tsl__json *list, uint32_t from, uint32_t to);
/* The tree as JSON with indentation, NUL-terminated, in the arena; NULL when out of memory. */
const char *tsl__lint_write(lint *l, const tsl__json *tree);

/* ---- rules (objects.c, values.c) */

#define TSL__LINT_DECLARE(name) void tsl__lint_##name(lint *l, lint_place *p)
TSL__LINT_DECLARE(typo);
TSL__LINT_DECLARE(untyped);
TSL__LINT_DECLARE(undeclared);
TSL__LINT_DECLARE(never);
TSL__LINT_DECLARE(answer_first);
TSL__LINT_DECLARE(sorted);
TSL__LINT_DECLARE(optional);
TSL__LINT_DECLARE(open);
TSL__LINT_DECLARE(one_of);
TSL__LINT_DECLARE(no_unknown);
TSL__LINT_DECLARE(enum_alike);
TSL__LINT_DECLARE(enum_prefix);
TSL__LINT_DECLARE(anchors);
TSL__LINT_DECLARE(format);
TSL__LINT_DECLARE(string);
TSL__LINT_DECLARE(array);
TSL__LINT_DECLARE(number);

#endif
