/* words.h - what a word that is none was meant for: keywords, names of properties, wrappers.
 *
 * Used by errors (blame.c), by the report (report.c) and by the lint (lint/).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_REPORT_WORDS_H
#define TSL_COMPILER_SCHEMA_REPORT_WORDS_H

#include "compiler/json/json.h"
#include "compiler/json/near.h"

/* The keyword that a word which is none may have been meant for (static), or NULL. */
const char *tsl__schema_meant(const char *text, size_t n);

/* The same of "min" and "max", which depends on the type beside them. */
const char *tsl__schema_meant_bound(const tsl__json *type, const char *text, size_t n);

/* types.c: what to write for the name of a type that is none (static), or NULL. */
const char *tsl__schema_meant_type(const tsl__json *name);
/* The same of the name of a format. */
const char *tsl__schema_meant_format(const char *text, size_t n);

/* The member of `members` whose name is most like this one; NULL: none is like it.
 * Cost: at most TSL__WORD_MAX² steps a member. */
const tsl__json *tsl__schema_nearest(const tsl__json *members, const char *name, size_t length);

/* Does the `type` of a schema name that type, alone or among others? */
bool tsl__schema_names_type(const tsl__json *schema, const char *type);

/* Is it a member of a request or tool in which people write a schema, and holds one? */
bool tsl__schema_is_wrapper(const tsl__json *member);

#endif
