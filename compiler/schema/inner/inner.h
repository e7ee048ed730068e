/* inner.h - JSON texts in strings, and what a schema of their own asks of them (contentSchema).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_INNER_H
#define TSL_COMPILER_SCHEMA_INNER_H

#include "compiler/schema/array.h"
#include "compiler/schema/object.h"

/* ---- quoted.c -------------------------------------------------------------------------------- */
/* The texts of e as they stand in a JSON string, without its quotes. e may have calls. */
tsl__expr tsl__schema_quoted(struct schema *s, tsl__expr e);

/* ---- inner.c --------------------------------------------------------------------------------- */
/* Can every JSON text in a string be followed? False, with the place that cannot, on failure. */
bool tsl__schema_check_inner(struct schema *s);

#endif
