/* base_layer.h - what all grammars of a vocabulary have in common, made once.
 *
 * Strings, numbers and white space of JSON are walked when the first grammar of a vocabulary is
 * compiled (or the vocabulary loaded), and frozen. So a new schema finds their masks and leftovers
 * warm. The structural bytes that may follow a value (white space, quotes, brackets, colon, comma)
 * are merged ahead for every leftover. What schemas mostly come to past that is rehearsed
 * (rehearsal.h).
 *
 * There are two such layers, for JSON in any spelling and for JSON as printers write it. Each is
 * made with the first grammar that asks for it. Grammars that are no schemas use the first.
 *
 * Cost   A few milliseconds and megabytes for 128k tokens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GRAMMAR_BASE_LAYER_H
#define TSL_COMPILER_GRAMMAR_BASE_LAYER_H

#include "compiler/states/states.h"

/* The shared layer of a vocabulary, for JSON that is spelled so: made if it is not there yet, owned
 * by the vocabulary. White space is that of TSL_WS_PLAIN, or TSL_WS_ANY with any spelling. */
tsl_status tsl__shared_get(tsl_vocab *vocab, tsl_spelling spelling, const tsl__space **space,
                           tsl_error *error);
/* The same, with or without the rehearsal: tests look at both. An existing layer stays as it is. */
tsl_status tsl__shared_make(tsl_vocab *vocab, tsl_spelling spelling, bool rehearse,
                            const tsl__space **space, tsl_error *error);

#endif
