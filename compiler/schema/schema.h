/* schema.h - JSON Schema to expressions.
 *
 * The language of a schema is the set of JSON texts of its valid instances, in any spelling. There
 * is no white space before or after the value: a model would ramble there, and a caller can trim.
 *
 * Passes, one file each
 *   compiler/json/json.c            text -> tree
 *   load.c            documents, $schema, $id, $anchor, references (RFC 3986)
 *   keywords.c        the tables that are made of keywords.def
 *   read.c            tree -> nodes: one per subschema, keywords checked and found by number
 *   goal.c            sets of signed subschemas that one value must satisfy ("goals"), interned
 *   conj.c            their expansion by type into alternatives of conjunctions
 *   choice/negate.c   the ways in which a node can fail
 *   choice/clause.c   choices whose product would be too many alternatives, as clauses
 *   choice/disjoint.c which subschemas plainly exclude each other
 *   scalar.c          what a goal says of null, booleans, numbers and strings
 *   object.c          conjunctions about objects: known keys, clauses
 *   keys/cells.c      the keys that a schema does not name
 *   keys/by_pattern.c the same where many patterns overlap
 *   members.c         following an object: states and expressions
 *   items.c           conjunctions about arrays
 *   array.c           following an array
 *   unique/           arrays whose items must differ, left to the runtime
 *   inner/inner.c     JSON texts in strings, which follow a contentSchema
 *   inner/quoted.c    their spelling, with the escapes of a string
 *   plain.c           what the keywords say before a goal is opened
 *   empty.c           the fewest bytes of a goal; none = nothing satisfies it
 *   value.c           goals -> rules
 *   shared.c          the values that all schemas share
 *   begin.c           how arrays and objects begin, and members
 *   order.c           in which order members come
 *   ahead.c           what the first text will ask, looked at by the compile
 *   style/style.c     the members of an object in the styles of tool calls, which are not JSON
 *   style/apart.c     where such a style can follow uniqueItems
 *   report.c          what is enforced, as JSON; which keywords of an unsatisfiable schema clash
 *
 * Property order `schema`: first the keys of `properties` in the order of the text, those of all
 * parts of a conjunction together (order.c). All other keys come after them in any order.
 * Not yet   uniqueItems is refused in two cases. One: the items that are needed may have so few
 *           different values left that only a search would find them (unique/). The other: it
 *           stands under a negation, and the number of items is bounded (array.c).
 *
 * tsl__schema_compile finds everything that can be wrong with a schema. What is done later, when
 * rules unfold, can only run into limits.
 *
 * Tested by tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_SCHEMA_H
#define TSL_COMPILER_SCHEMA_SCHEMA_H

#include "compiler/expr/expr.h"
#include "compiler/json/json.h"
#include "compiler/json/out.h"
#include "runtime/position/stacks.h"

struct tsl__schema_result {
  tsl__expr root;
  struct schema *schema; /* for tsl__schema_report; lives with x */
};

/* What a compile with these options does (NULL: the defaults): `generous` is spelled out. */
tsl_schema_options tsl__schema_options_of(const tsl_schema_options *options);
/* Is each choice one that the header names? `options` may be NULL. */
bool tsl__schema_options_known(const tsl_schema_options *options);

/* Compile `text`. What is made belongs to x and lives as long as it does. `options` and `limits`
 * may be NULL. Errors as for tsl_grammar_json_schema. */
tsl_status tsl__schema_compile(tsl__exprs *x, const char *text, size_t length,
                               const tsl_schema_options *options, const tsl_limits *limits,
                               struct tsl__schema_result *out, tsl_error *error);

/* What is enforced: a NUL-terminated JSON array that lives with x, for whoever uses x at the
 * moment. NULL when out of memory. */
const char *tsl__schema_report(void *schema);

/* One report on several schemas, which are parts of a larger text. */
typedef struct tsl__report {
  const tsl_allocator *alloc;
  tsl__out out;
  tsl__string tool; /* whose arguments the last schema describes; NULL: none */
  uint64_t left;    /* names that may still be compared for closed.c */
  bool failed;      /* out of memory */
} tsl__report;

void tsl__report_begin(tsl__report *to, const tsl_allocator *alloc);
/* `place`: the pointer to the schema. `tool`: its text may be NULL. */
void tsl__report_add(tsl__report *to, void *schema, tsl__string place, tsl__string tool);
/* The report in `arena`, NUL-terminated. NULL when out of memory. */
const char *tsl__report_end(tsl__report *to, tsl__arena *arena);

/* How an object and its members are written at the top of a schema, where that is not JSON: see
 * style.c. */
struct tsl__schema_style;

/* The same for a schema that was parsed already, as a part of a larger `text`. That text is for the
 * place in errors; their pointers are relative to `tree`. `lent` (NULL: the tree is copied) is
 * where memory is read from, and says that the tree itself may be used. Both must outlive x, and no
 * other compile may have used the tree. `style` (NULL: JSON) must outlive x; then the value is an
 * object's members in that style, without braces. */
tsl_status tsl__schema_compile_tree(tsl__exprs *x, tsl__json *tree, const tsl_allocator *lent,
                                    const struct tsl__schema_style *style, const char *text,
                                    size_t length, const tsl_schema_options *options,
                                    const tsl_limits *limits, struct tsl__schema_result *out,
                                    tsl_error *error);

/* Make the expressions that all schemas share (any value, object, array, string, number, white
 * space) in the base layer, before it is frozen. Strings of the layer are plain or not; white space
 * is that of TSL_WS_PLAIN or TSL_WS_ANY. A compile in a layer above finds and uses them. The first
 * *common rules are those that any value may need. The others are those that arrays, objects and
 * members begin with, and those of some formats and arrays. */
tsl_status tsl__schema_warm(tsl__exprs *base, tsl_spelling spelling, uint32_t *common);
/* What may follow any string, name or value, the first few most often; returns how many. After
 * tsl__schema_warm. */
#define TSL__SCHEMA_BETWEEN 14u
/* which of them is the frame of a member of any name and any value (tsl__schema_extra) */
#define TSL__SCHEMA_EXTRA 10u
uint32_t tsl__schema_between(tsl__exprs *base, tsl__expr out[TSL__SCHEMA_BETWEEN]);

/* What the first text of a larger schema is likely to ask, looked at while it is compiled
 * (ahead.c). `begin` is the position before a text of the schema. The caller has the lock. Cannot
 * fail; on return a new piece of work has begun. */
void tsl__schema_look_ahead(struct schema *s, tsl__space *space, tsl__stack begin);

#endif
