/* digest.c - see digest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/digest.h"

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/kernels/logits.h"

#define VECTOR_SIZE 1024u /* bytes from which it pays to ask for the processor's kernels */

tsl__digest tsl__digest_of(const uint8_t secret[TSL__SECRET], const void *data, size_t size) {
  uint64_t half[2];
  if (size > VECTOR_SIZE) {
    tsl__logits()->hash_secretly(secret, data, size, half);
    return (tsl__digest){half[0], half[1]};
  }
  XXH128_hash_t h = XXH3_128bits_withSecret(data, size, secret, TSL__SECRET);
  return (tsl__digest){h.low64, h.high64};
}
