/* rng.c - Philox4x32-10, as its authors define it. See rng.h.
 *
 * Idea      A round multiplies two of the four words of the counter by constants. It exchanges the
 *           halves of the products, xored with the other words and the key. After ten rounds each
 *           bit of the result depends on all bits of counter and key. Nothing is kept from one call
 *           to the next.
 * Example   Counter and key 0 give 6627e8d5 e169c58d bc57ac4c 9b00dbd8, the first of the known
 *           answers.
 * Uniform   Of the 128 bits the first 64 are used, and of these the upper 53, as many as a double
 *           has. They give all multiples of 2^-53 from 0 on, without 1, each as likely as any
 *           other.
 * Cost      20 multiplications a draw.
 * Tested by tests/sample/test_sampler.c, with the known answers of Random123
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/rng.h"

#define ROUNDS 10
#define MULTIPLIER_0 0xD2511F53u
#define MULTIPLIER_1 0xCD9E8D57u
#define WEYL_0 0x9E3779B9u /* added to the key after each round: golden ratio and sqrt(3) - 1 */
#define WEYL_1 0xBB67AE85u

void tsl__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0],
           k1 = key[1];
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0, p1 = (uint64_t)MULTIPLIER_1 * c2;
    uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c0 = n0;
    c1 = (uint32_t)p1;
    c2 = n2;
    c3 = (uint32_t)p0;
    k0 += WEYL_0;
    k1 += WEYL_1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

double tsl__rng_uniform_of(uint64_t seed, uint64_t index, uint32_t stream) {
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), stream, 0};
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t out[4];
  tsl__philox(counter, key, out);
  uint64_t bits = ((uint64_t)out[0] << 32 | out[1]) >> 11;
  return (double)bits * 0x1p-53;
}

double tsl__rng_uniform(uint64_t seed, uint64_t index) {
  return tsl__rng_uniform_of(seed, index, 0);
}
