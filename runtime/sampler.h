/* sampler.h - the inside of a sampler.
 *
 * Problem   Draw a token under a grammar's mask, say what the model thought of it, and neither copy nor change half a megabyte of logits.
 * Idea      Two or three passes over a row that fits the cache: (1) the largest logits, in all and under the mask, per block of 1,024; (2) the softmax
 *           sums at temperature 1, which give legal_mass; (3) the weights at the temperature of what the cut-offs keep (sampler_cut.h), per block.
 *           Passes 2 and 3 are one where the temperature is 1. The draw then picks a block by its weight and a token within it.
 * Order     mask, temperature, top-k, top-p (of what top-k left), min-p, renormalise, draw. The draw goes through the kept tokens by id, so it does not depend
 *           on the way in which a cut was found.
 * Illegal   logits (outside the mask) may be anything: NaN counts as no mass, +inf takes all mass (legal_mass 0).
 * Legal     -inf is never drawn or kept, but counts in `allowed`.
 * legal_mass below e^-87 reads as 0.
 * Accuracy  Probabilities are within 1e-5 (relative) of exact arithmetic on the float logits; typically 3e-7.
 * Cost      128,256 logits, AVX-512 on an EPYC 9005 core: 14 allowed 57 to 65 µs; all allowed: greedy 80, temperature 90 to 140, top-k 40 + top-p + min-p 125,
 *           top-p alone on a flat row 650; 45 to 60 of each for legal_mass.
 * Tested by tests/test_sampler.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_SAMPLER_H
#define TSL_RUNTIME_SAMPLER_H

#include "runtime/sampler_cut.h"

struct tsl_sampler {
  tsl_allocator alloc;
  tsl_sampler_options options; /* checked */
  uint64_t draws;              /* successful ones so far: the counter of the generator */
  tsl__row_block *blocks;      /* made by the first draw, grown with the width of a row */
  size_t block_cap;
  tsl__ranked *scratch;
  size_t scratch_cap;
};

#endif
