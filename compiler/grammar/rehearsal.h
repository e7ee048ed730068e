/* rehearsal.h - what grammars of schemas come to, found out before there is one.
 *
 * Problem   A mask of a position is made of others: those of white space, of a string's beginning,
 *           of what ends an object. Each grammar joined them for itself. But most of these unions
 *           have parts that belong to the vocabulary's layer alone, and are the same in each.
 * Idea      While that layer is made, schemas of common shapes are compiled in a layer above, one
 *           by one. A text of each is gone through, masks and all. Three things are then made in
 *           the layer. They are what was joined of its own masks, what was walked of its own states
 *           over its own leftovers, and what others left over. There every grammar finds them, and
 *           so does the next of these schemas.
 * Order     Members may come in any order; with that of the schema, what is joined is mostly the
 *           same.
 * Strings   Of strings whose states have few walks in common, as those of host names, a text is
 *           gone through in the layer itself.
 * Cost      Some 27 milliseconds, once for a vocabulary.
 * Tested by tests/grammar/test_rehearsal.c, tests/schema/test_schema.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GRAMMAR_REHEARSAL_H
#define TSL_COMPILER_GRAMMAR_REHEARSAL_H

#include "compiler/states/states.h"

/* Rehearses in the layer of a vocabulary. The layer must not be frozen yet, and no other layer may
 * stand above it. The rehearsal is optional: without it masks are the same, but the first grammars
 * make them more slowly. Failures are sticky. */
void tsl__rehearse(tsl__space *space);

#endif
