/* ahead.h - what the first text of a larger schema is likely to ask, looked at while it is
 * compiled. SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_SCHEMA_AHEAD_H
#define TSL_COMPILER_SCHEMA_AHEAD_H

#include "compiler/schema/schema.h"
#include "runtime/position/stacks.h"

/* `begin` is the position before a text of the schema. The caller has the lock. Cannot fail; on
 * return a new piece of work has begun. */
void tsl__schema_look_ahead(struct schema *s, tsl__space *space, tsl__stack begin);

#endif
