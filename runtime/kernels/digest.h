/* digest.h - digests of data under a secret, by the fastest kernel that the processor has.
 *
 * Equal digests mean equal data, whoever chose the data, as long as the secret is one. Every level
 * of kernels gives the same digest (tests/kernels/test_logits.c).
 * Cost      16 bytes 10 ns; above 1 KiB the vector kernel reads some 30 bytes a nanosecond.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_KERNELS_DIGEST_H
#define TSL_RUNTIME_KERNELS_DIGEST_H

#include "runtime/core/base.h"

/* XXH3-128 of `size` bytes under the secret. */
tsl__digest tsl__digest_of(const uint8_t secret[TSL__SECRET], const void *data, size_t size);

#endif
