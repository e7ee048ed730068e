/* layer.h - making, freeing and counting a layer: all tables of one owner.
 *
 * Problem   A space (runtime/automaton/space.h) has tables of several rooms: states, masks, walks,
 *           stacks. The room that declares the space must not know the rooms above it. But whoever
 *           makes a space must know the size of an element of each table. And whoever frees a space
 *           must free what each room keeps.
 * Idea      The highest of these rooms makes layers. It lists all tables once, and hands the space
 *           a table of functions (tsl__layer_ops), by which the rooms below free and count a space.
 * Example   walk/classes.c needs a layer of its own for the lengths of tokens; it calls
 *           space->layer->make, which is tsl__space_new.
 * Cost      A new layer allocates the space, one block of its arena, and the record that gathers
 *           masks. Counting its memory visits each table once.
 * Tested by tests/engine/test_flat.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_LAYER_H
#define TSL_RUNTIME_POSITION_LAYER_H

#include "runtime/automaton/space.h"

/* A layer above `parent` (NULL: above none), with the limits given (NULL: the defaults). The caller
 * frees it by tsl__space_free. NO_MEMORY: *out is NULL. */
tsl_status tsl__space_new(const tsl__space *parent, const tsl_vocab *vocab, const tsl_allocator *a,
                          const tsl_limits *limits, tsl__space **out);

#endif
