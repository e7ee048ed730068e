/* hash_lanes.h - XXH3-128 over much data, for the instruction set that the including file is
 * compiled for; see tsl__logits_kernels.
 *
 * The hash is the same on all of them. Only how many of its lanes are in a register differs. (17 MB
 * of a vocabulary's cache file: 620 µs with SSE2, 390 with AVX2).
 * Tested by tests/kernels/test_logits.c, each level against the portable kernels
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

static void hash_more(void *state, const void *data, size_t size) {
  XXH3_128bits_update(state, data, size);
}

static void hash_secretly(const void *secret, const void *data, size_t size, uint64_t out[2]) {
  XXH128_hash_t h = XXH3_128bits_withSecret(data, size, secret, TSL__SECRET);
  out[0] = h.low64;
  out[1] = h.high64;
}
