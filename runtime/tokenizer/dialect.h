/* dialect.h - patterns of the libraries that tokenizers use, rewritten for PCRE2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_TOKENIZER_DIALECT_H
#define TSL_RUNTIME_TOKENIZER_DIALECT_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "runtime/tokenizer/tokenizer.h"

typedef TSL__VEC(char) tsl__pattern_text;

/* Append to `out` what PCRE2 must read (with UTF and UCP) to match what the pattern, valid UTF-8,
 * matches in its dialect. UNSUPPORTED names a construct that PCRE2 would read differently; what the
 * dialect itself refuses may pass. `context` is for small compilations on the way. */
tsl_status tsl__dialect_rewrite(const char *pattern, size_t length, tsl__dialect dialect,
                                pcre2_compile_context *context, const tsl_allocator *a,
                                tsl__pattern_text *out, tsl_error *error);

#endif
