/* anew.h - what a grammar was compiled from is kept, so that it can be compiled again. See anew.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GRAMMAR_ANEW_H
#define TSL_COMPILER_GRAMMAR_ANEW_H

#include "runtime/core/base.h"

/* A grammar that was compiled of `source`, and that nobody else has. On failure it is released, and
 * *grammar is NULL. With a resolver nothing is kept. Errors: NO_MEMORY. */
tsl_status tsl__anew_source(tsl_grammar **grammar, const tsl_source *source, tsl_error *error);
/* The same of tsl_grammar_tags (`tools` NULL) and tsl_grammar_tools. */
tsl_status tsl__anew_tags(tsl_grammar **grammar, const char *json, size_t length,
                          const tsl_schema_options *schema, const tsl_tools_options *tools,
                          const tsl_limits *limits, tsl_error *error);
/* The text that tags or tools were compiled from, as long as the grammar lives; NULL: it is not
 * kept. */
tsl__string tsl__anew_text(const tsl_grammar *grammar);

#endif
