/* outputs.h - all texts of a grammar that has finitely many.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_DECODE_OUTPUTS_H
#define TSL_RUNTIME_DECODE_OUTPUTS_H

#include "runtime/matcher/matcher.h"

#define TSL__OUTPUT_MAX 65536u /* bytes of one text */

typedef struct tsl__output {
  const uint8_t *bytes; /* in the arena */
  size_t length;
} tsl__output;

typedef struct tsl__outputs {
  TSL__VEC(tsl__output) list; /* sorted by bytes, shorter first */
  tsl__arena arena;
} tsl__outputs;

void tsl__outputs_init(tsl__outputs *o, const tsl_allocator *a);
void tsl__outputs_free(tsl__outputs *o, const tsl_allocator *a);
/* Find all ways to go on from a position, at most `max`. `plain_json` as in tsl_score_options. */
tsl_status tsl__outputs_find(tsl__outputs *o, const tsl_allocator *a, tsl_grammar *grammar,
                             tsl__stack from, uint32_t max, bool plain_json, tsl_error *error);

#endif
