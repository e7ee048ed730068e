/* rules.h - which rules of a grammar call which, for Graphviz.
 *
 * Tested by tests/programs/test_pictures.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_RULES_H
#define TSL_CLI_RULES_H

#include <stdbool.h>
#include <stdio.h>

/* The rules of a grammar as a digraph. Rules are nodes. An arrow leads from a rule to each rule
 * that it names, with the number of places where there are several. A rule that can contain itself
 * has a bold frame, root a double one. `json` is what tsl_gbnf_write writes. False when out of
 * memory. */
bool rules_dot(FILE *to, const char *json);

#endif
