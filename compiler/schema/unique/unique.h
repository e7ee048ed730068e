/* unique.h - what the files of this room share: how many values items have, and which.
 *
 * unique.c decides whether there are enough values for items that must differ. values.c counts
 * them. listed.c lists them where there are few, and ends.c finds the shortest end with those that
 * are left. What array.c calls is declared in array.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_UNIQUE_UNIQUE_H
#define TSL_COMPILER_SCHEMA_UNIQUE_UNIQUE_H

#include "compiler/schema/array.h"
#include "compiler/schema/object.h"

/* At least so many different values satisfy the goal, up to the limit; *exact if it is exactly so
 * many. (values.c) */
uint32_t tsl__count_values(struct schema *s, goal g, uint32_t limit, bool *exact);

/* List the values of kinds that have fewer than `need`, so that of each kind but for those there
 * are none, or enough. False: it cannot be done, or on failure. (listed.c) */
bool tsl__array_list_values(struct array *a, uint32_t need);

#endif
