/* alone.c - artifacts in a library without front ends: the public calls, in the place of
 * compiler/grammar/store.c. Loading works; what would need a compiler is refused.
 *
 * Tested by tests/programs/test_install.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/outline.h"

static tsl_status compile(tsl_vocab *vocab, const uint8_t *source, size_t size,
                          const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  (void)vocab;
  (void)source;
  (void)size;
  (void)limits;
  *out = NULL;
  return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                   "the artifact holds a source text alone, and this library has no compiler");
}

static tsl_status write_source(const tsl_source *source, const tsl_vocab *vocab,
                               tsl__a_draft *draft, tsl_error *error) {
  (void)source;
  (void)vocab;
  (void)draft;
  return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                   "this library has no compiler: an artifact made with it keeps no source");
}

static const tsl__growth growth = TSL__GROWTH(compile, write_source);

tsl_status tsl_grammar_load(tsl_vocab *vocab, const char *path, const tsl_limits *limits,
                            tsl_grammar **out, tsl_error *error) {
  return tsl__artifact_load(&growth, vocab, path, limits, out, error);
}

tsl_status tsl_grammar_load_memory(tsl_vocab *vocab, const void *data, size_t size,
                                   const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  return tsl__artifact_load_memory(&growth, vocab, data, size, limits, out, error);
}

tsl_status tsl_artifact_make(tsl_grammar *grammar, const tsl_artifact_options *options,
                             const tsl_allocator *allocator, tsl_artifact **out, tsl_error *error) {
  return tsl__artifact_make(&growth, grammar, options, allocator, out, error);
}
