/* alone.c - what compiler/grammar/store.c does, in a library that has no compiler: refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/artifact/artifact.h"

tsl_status tsl__artifact_compile(tsl_vocab *vocab, const uint8_t *source, size_t size,
                                 const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  (void)vocab;
  (void)source;
  (void)size;
  (void)limits;
  *out = NULL;
  return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                   "the artifact holds a source text alone, and this library has no compiler");
}

tsl_status tsl__artifact_source(const tsl_source *source, const tsl_vocab *vocab,
                                tsl__a_draft *draft, tsl_error *error) {
  (void)source;
  (void)vocab;
  (void)draft;
  return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                   "this library has no compiler: an artifact made with it keeps no source");
}
