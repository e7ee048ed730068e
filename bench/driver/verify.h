/* verify.h - is a mask right? Every token of the vocabulary is tried, byte by byte.
 *
 * Method    The check has a grammar of its own, so that what is measured stays as it was. The
 *           case's number draws a position of one instance. The mask there is compared with all
 *           tokens: a fork accepts the bytes of each. The mask must have exactly the tokens whose
 *           bytes are accepted, the end-of-generation tokens exactly if the text is complete, and
 *           no other special token. The byte path shares neither trie, walk nor masks with what it
 *           judges.
 * Cost      0.05 to 0.5 s for 128k tokens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_VERIFY_H
#define TSL_BENCH_VERIFY_H

#include "bench/driver/run.h"

typedef struct bench_verified {
  size_t masks, tokens; /* compared */
  size_t wrong;         /* masks that differ in some token */
} bench_verified;

/* Verify one mask of a case that compiles; the counts grow. The first difference of a mask is
 * printed to stderr. */
void bench_verify_case(const bench_setup *setup, const bench_case *c, size_t number,
                       bench_verified *verified);

#endif
