/* guidance.h - "x-guidance" of a JSON Schema: how llguidance's users say that JSON is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GRAMMAR_GUIDANCE_H
#define TSL_COMPILER_GRAMMAR_GUIDANCE_H

#include "runtime/core/base.h"

/* Read the member of a schema's text into `out`, whose other fields stay. A schema without one
 * changes nothing; what is no JSON is left to the compile. Errors: UNSUPPORTED, with the offset
 * into the schema; NO_MEMORY. */
tsl_status tsl__guidance_options(const tsl_allocator *alloc, const char *schema, size_t length,
                                 const tsl_limits *limits, tsl_schema_options *out,
                                 tsl_error *error);

#endif
