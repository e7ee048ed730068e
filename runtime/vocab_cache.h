/* vocab_cache.h - a vocabulary as one file that is mapped back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_CACHE_H
#define TSL_RUNTIME_VOCAB_CACHE_H

#include "runtime/vocab.h"

/* The path of an entry may have up to 4,095 bytes; a longer one is IO. */

/* Write the entry `key` into the directory, which is made if only its last part is missing. The vocabulary must come from a tokenizer
 * file. Nothing is left behind on failure. */
tsl_status tsl__vocab_cache_write(const tsl_vocab *vocab, const char *directory, const uint8_t key[16]);
/* Map the entry `key`: IO if there is none, FORMAT if it is not whole and sound; SYNTAX, UNSUPPORTED or LIMIT if no tokenizer can be made of it. */
tsl_status tsl__vocab_cache_read(const char *directory, const uint8_t key[16], const tsl_allocator *a, tsl_vocab **out);
/* XXH3-128 of what a file descriptor has from its beginning, in canonical form; leaves it at the beginning. false if it cannot be read, or without memory. */
bool tsl__hash128_file(int file, const tsl_allocator *a, uint8_t out[16]);

#endif
