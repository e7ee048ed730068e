/* source.h - what is to be compiled, as one value: compile it, write it down, copy it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_GRAMMAR_SOURCE_H
#define TSL_COMPILER_GRAMMAR_SOURCE_H

#include "runtime/core/base.h"

typedef TSL__VEC(uint8_t) tsl__key;

/* All that decides which grammar a source becomes, as bytes: kind, text, options, limits, the
 * vocabulary's identity. `cancel` and `deadline_us` are not among it, nor is the resolver. False
 * when out of memory. */
bool tsl__source_key(const tsl_source *source, const tsl_vocab *vocab, const tsl_allocator *a,
                     tsl__key *key);
bool tsl__source_has_resolver(const tsl_source *source);
/* Does its kind have a start rule? */
static inline bool tsl__source_has_root(const tsl_source *source) {
  return source->kind >= TSL_SOURCE_GBNF && source->kind <= TSL_SOURCE_ABNF;
}

/* A source that owns what it points at. */
typedef struct tsl__source_copy {
  tsl_source source;
  tsl_schema_options schema;
  tsl_regex_options regex;
  tsl_lark_options lark;
  tsl_limits limits;
  char *text, *root, *base_uri, *lexer;
} tsl__source_copy;

/* False when out of memory; then nothing is left to free. `copy` must not be moved afterwards. */
bool tsl__source_copy_make(const tsl_source *source, const tsl_allocator *a,
                           tsl__source_copy *copy);
void tsl__source_copy_free(tsl__source_copy *copy, const tsl_allocator *a);

/* Compile, and forget the limits' `cancel` and `deadline_us` in what comes out: for grammars that
 * outlive who requested them. */
tsl_status tsl__source_compile(tsl_vocab *vocab, const tsl_source *source, const tsl_limits *limits,
                               tsl_grammar **out, tsl_error *error);
/* A grammar that was compiled, and that nobody else has yet, forgets them. */
void tsl__source_forget_limits(tsl_grammar *grammar);
/* Until then all that is done with it must end at `until` (tsl__now_us; UINT64_MAX: never), or when
 * `cancel` (may be NULL) is set. */
void tsl__source_bound(tsl_grammar *grammar, const int *cancel, uint64_t until);

#endif
