/* compile.h - what other public calls share with compile.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GRAMMAR_COMPILE_H
#define TSL_COMPILER_GRAMMAR_COMPILE_H

#include "compiler/tags/tags.h"

/* The grammar of a tree of formats that no text was read for; the tree stays as it is. */
tsl_status tsl__tags_compile(tsl__tags *t, tsl_vocab *vocab, const tsl__tag *root,
                             tsl_grammar *over, const tsl_schema_options *schema,
                             const tsl_limits *limits, tsl_grammar **out, tsl_error *error);

#endif
