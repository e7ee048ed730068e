/* pictures.h - states and rules of a grammar for those who draw them: Graphviz, the page.
 *
 * Tested by tests/programs/test_pictures.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_PICTURES_H
#define TSL_CLI_PICTURES_H

#include <stdio.h>

#include "turnstile.h"

/* What is known of a state besides what it is: how often a text came through it, and the fewest and
 * most tokens allowed there. */
typedef struct picture_state {
  uint32_t visits, least, most;
} picture_state;

/* The states that were visited, as a digraph. A solid arrow is bytes, a dashed arrow is a call, and
 * a dotted arrow leads to where the call comes back. `known` (of the states below `count`; may be
 * NULL) goes into the labels. False when out of memory. */
bool pictures_dot(FILE *to, const tsl_grammar *grammar, const picture_state *known, uint32_t count);
/* {"states": [{"state", "expression", "nullable", "edges": [{"kind", "to", "then", "bytes"}]}]}:
 * those that were visited. */
bool pictures_states(FILE *to, const tsl_grammar *grammar);

#endif
