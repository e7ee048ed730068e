/* known.h - what a tokenizer file was found to hold, so that it need not be read again.
 *
 * Problem   The name of a cache entry is a hash of the whole tokenizer file. To read nine megabytes
 *           only to learn that they are known takes a fifth of the time of a start.
 * Idea      A note in the directory says: the file of this device, number, size and time of change
 *           had this hash. While these are the same the file is not read.
 * Tested by tests/vocab_files/test_vocab_known.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_KNOWN_H
#define TSL_RUNTIME_VOCAB_FILES_KNOWN_H

#include "runtime/core/base.h"

/* XXH3-128, in canonical form, of what an open file has: as noted in the directory, else by reading
 * it, which is then noted. `now` is the time, in seconds since 1970. Leaves the file at its
 * beginning. False if it cannot be read, or without memory. */
bool tsl__vocab_known_hash(const char *directory, int file, int64_t now, const tsl_allocator *a,
                           uint8_t out[16]);

#endif
