/* rng.h - random numbers that are a function: of a seed and of how many were drawn before.
 *
 * Philox4x32-10 is a counter-based generator: ten rounds of multiply and exchange turn (counter,
 * key) into 128 random bits. Nothing but the number of draws is kept, so a sampler can be copied,
 * resumed or checked anywhere. All is integer arithmetic, and the same on every platform.
 *
 * Example   Draw 7 of seed 42 is a function of (7, 42): it does not matter who drew before.
 *
 * Ref       Salmon, Moraes, Dror, Shaw 2011 "Parallel random numbers: as easy as 1, 2, 3"; known
 *           answers from their Random123 distribution.
 * Tested by tests/sample/test_sampler.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CORE_RNG_H
#define TSL_RUNTIME_CORE_RNG_H

#include <stdint.h>

/* The 128 random bits of a counter and a key. Cannot fail, keeps nothing. */
void tsl__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* Draw number `index` of the stream of `seed`: uniform in [0, 1), a multiple of 2^-53. */
double tsl__rng_uniform(uint64_t seed, uint64_t index);
/* The same for further streams of one seed: a draw that needs a second number takes it from another
 * stream. Stream 0 is tsl__rng_uniform. */
double tsl__rng_uniform_of(uint64_t seed, uint64_t index, uint32_t stream);

#endif
