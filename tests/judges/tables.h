/* tables.h - is nothing in a grammar's tables twice? What is made anew where it should be found
 * gives the same masks, in more memory and time each time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_JUDGES_TABLES_H
#define TSL_TESTS_JUDGES_TABLES_H

#include "runtime/automaton/space.h"

/* The name of a table of the grammar's own layer that has an entry twice; NULL: none has. For a
 * space without a failure behind it. */
const char *tables_have_twice(const tsl__space *space);

#endif
