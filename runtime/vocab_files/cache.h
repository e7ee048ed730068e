/* cache.h - a vocabulary as one file that is mapped back.
 *
 * Idea      Reading a tokenizer file takes most of a start. The vocabulary that it gives is written
 *           once, as arrays and tables without pointers, and mapped at each later start. The name
 *           of an entry is a hash of the tokenizer file and of the options. So another file or
 *           other options finds no entry.
 * Trust     The file may have been cut off, or written by somebody else: its checksum and every
 *           index in it are checked before the vocabulary exists.
 * Tested by tests/vocab_files/test_vocab_cache.c, test_cache_faults.c, test_vocab_hostile.c beside
 * it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_FILES_CACHE_H
#define TSL_RUNTIME_VOCAB_FILES_CACHE_H

#include "runtime/vocab/vocab.h"

/* bytes of the path of an entry, its last zero included; a longer one is IO */
#define TSL__CACHE_PATH 4096u

/* The path of the file of that key and end in the directory. False if it is too long, or the
 * directory is not to be trusted. */
bool tsl__vocab_cache_path(char path[TSL__CACHE_PATH], const char *directory, const uint8_t key[16],
                           const char *end);

/* Write the entry `key` into the directory, which is made if only its last part is missing. The
 * vocabulary must come from a tokenizer file. Nothing is left behind on failure. */
tsl_status tsl__vocab_cache_write(const tsl_vocab *vocab, const char *directory,
                                  const uint8_t key[16]);
/* Map the entry `key`. IO: there is none. FORMAT: it is not whole and sound. SYNTAX, UNSUPPORTED or
 * LIMIT: no tokenizer can be made of it. */
tsl_status tsl__vocab_cache_read(const char *directory, const uint8_t key[16],
                                 const tsl_allocator *a, tsl_vocab **out);

#endif
