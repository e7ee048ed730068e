/* gguf_pre.h - how text is cut before merges, by the name that a GGUF file gives it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_GGUF_PRE_H
#define TSL_RUNTIME_VOCAB_FILES_GGUF_PRE_H

#include "runtime/vocab_files/bpe_build.h"

typedef struct tsl__gguf_traits {
  bool whole_pieces, add_bos; /* add_bos: what holds if the file does not say */
} tsl__gguf_traits;

/* Add the steps of that name, or the one that `pattern` stands for if it is not NULL, and say what
 * else the name means. False if neither is known; *ok is false when out of memory. */
bool tsl__gguf_pre(tsl__vocab_builder *b, const char *name, size_t length, const char *pattern,
                   tsl__gguf_traits *traits, bool *ok);

#endif
