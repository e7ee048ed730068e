/* doubts.h - what a schema hardly means as it says: warnings of the report.
 *
 * A function with `out` writes a message of at most TSL__DOUBT_MAX bytes to `out`, NUL-terminated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_REPORT_DOUBTS_H
#define TSL_COMPILER_SCHEMA_REPORT_DOUBTS_H

#include "compiler/schema/node.h"
#include "compiler/schema/state.h"

#define TSL__DOUBT_MAX 768

/* ---- doubts.c -------------------------------------------------------------------------------- */
/* The member of the root to warn about where no member is a keyword, so that any JSON is allowed.
 * NULL: some member is one, or all of them are notes. */
const tsl__json *tsl__schema_doubt_root(const struct schema *s, char *out);
/* Is the value of `properties` one that has keywords among the properties? */
bool tsl__schema_doubt_properties(const tsl__json *properties, char *out);
/* Does the reference of n lead to a map of schemas, such as `properties`, which asserts nothing? */
bool tsl__schema_doubt_reference(const struct schema *s, const struct node *n, char *out);
/* Is this the $schema of a resource, and does it name nothing that is known? */
bool tsl__schema_doubt_metaschema(const struct schema *s, const tsl__json *at,
                                  const tsl__json *name, char *out);

/* ---- vain.c ---------------------------------------------------------------------------------- */
/* Is the keyword about none of the types beside it? */
bool tsl__schema_doubt_type(const struct node *n, enum keyword k, char out[TSL__DOUBT_MAX]);
/* Why a keyword of another draft has no effect (static). */
const char *tsl__schema_other_draft(enum keyword k);

/* ---- closed.c -------------------------------------------------------------------------------- */
/* A name that one subschema speaks about, and that another one of the same object forbids. */
struct tsl__forbidden {
  const char *name;
  uint32_t length;
  const tsl__json *at;       /* where it is named */
  const struct node *closed; /* that forbids it */
  enum keyword via;          /* the keyword of the node that leads there */
  bool declared;             /* the other subschema has a property of that name */
};
/* The first such name of a node and the subschemas in it; `required`: that some of them requires.
 * *left: names that may be compared, which the call takes from. */
bool tsl__schema_forbidden(const struct schema *s, const struct node *n, bool required,
                           uint64_t *left, struct tsl__forbidden *out);
void tsl__schema_say_forbidden(const struct schema *s, const struct tsl__forbidden *f,
                               bool required, char *out);

/* ---- nowhere.c ------------------------------------------------------------------------------- */
/* Is it a reference to a definition without the "#/", where no document of that URI can be? */
bool tsl__schema_means_here(const struct schema *s, uint32_t resource, const tsl__json *reference);
/* Fail, as the reference leads nowhere, with the definition that may be meant. Returns false. */
bool tsl__schema_fail_nowhere(struct schema *s, const tsl__json *reference, uint32_t resource);

/* ---- errors ---------------------------------------------------------------------------------- */
/* Fail, as `at` is neither an object nor a boolean, with what may have been meant. */
void tsl__schema_fail_no_schema(struct schema *s, const tsl__json *at);

/* values.c: the JSON value, of another kind than a string, that a string has as its text. NULL:
 * none. */
const tsl__json *tsl__schema_unquoted(struct schema *s, const tsl__json *text);
/* What a value of the wrong kind was meant for: ": is 5 meant, without quotes?", or an empty text.
 * `list`: a list is wanted. */
#define TSL__MEANT_MAX 96
void tsl__schema_meant_value(struct schema *s, const tsl__json *at, bool list,
                             char out[TSL__MEANT_MAX]);

/* A pattern as another notation writes it: "/^a$/i", "\\Aa\\Z". Or one in the names of
 * patternProperties. */
bool tsl__schema_doubt_pattern(const tsl__json *pattern, char out[TSL__DOUBT_MAX]);
bool tsl__schema_doubt_patterns(const tsl__json *map, char out[TSL__DOUBT_MAX]);

#endif
