/* build.h - how a vocabulary comes into being, for those that make one: arrays, tokenizer files,
 * the cache.
 *
 * Idea      There are two ways. tsl__vocab_make (vocab.h) copies arrays, checks them and builds the
 *           trie: for hosts' arrays and for readers of tokenizer files. tsl__vocab_adopt takes
 *           arrays and a trie that lie in a mapped cache file and were checked there: nothing is
 *           copied and nothing is sorted.
 * Names     Each vocabulary has an identity of 16 bytes: a hash over all that changes a mask or an
 *           encoding. It is chained part by part, so that no part has to lie beside another.
 * Example   The two sizes are chained, then the offsets, the bytes and the marks of special tokens.
 *           Equal bytes that are cut into other tokens give another identity.
 * Tested by tests/vocab/test_vocab.c, tests/vocab_files/test_vocab_cache.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_BUILD_H
#define TSL_RUNTIME_VOCAB_BUILD_H

#include "runtime/vocab/vocab.h"

/* Flags of tsl_vocab.special: any bit set means special. */
#define TSL__TOKEN_SPECIAL 1u
#define TSL__TOKEN_EOG 2u

/* An encode flag of our own: write the id of the added token that the whole text spells, or
 * nothing. */
#define TSL__ENCODE_ONE_ADDED (1u << 31)
/* And another: added tokens that are not special are found, as a model writes them. */
#define TSL__ENCODE_OWN_ADDED (1u << 30)

/* A finished vocabulary whose arrays lie in a mapped file. */
typedef struct tsl__vocab_parts {
  uint32_t size, logits_width, eog_count;
  const uint8_t *bytes;
  const uint32_t *offsets;
  const uint8_t *special;
  const tsl_token *eog;
  tsl__trie trie;
  uint8_t identity[16];
  tsl__tokenizer *tokenizer; /* or NULL */
  void *mapping;             /* unmapped with the vocabulary */
  size_t mapping_size;
} tsl__vocab_parts;

/* Make a vocabulary of parts that were checked. Takes the tokenizer, the mapping and the labels of
 * the trie over on success; on failure they stay the caller's. */
tsl_status tsl__vocab_adopt(const tsl__vocab_parts *parts, const tsl_allocator *allocator,
                            tsl_vocab **out);

/* Where encoded ids go: what does not fit is counted only. */
typedef struct tsl__id_sink {
  tsl_token *ids;
  size_t capacity, count;
} tsl__id_sink;

static inline void tsl__id_put(tsl__id_sink *sink, tsl_token id) {
  if (sink->count < sink->capacity) sink->ids[sink->count] = id;
  sink->count++;
}

/* XXH3-128 in its canonical (big-endian) form, the same on every machine. */
void tsl__hash128(const void *data, size_t size, uint8_t out[16]);
/* hash := XXH3-128(hash, data): chains parts into one name. */
void tsl__hash128_chain(uint8_t hash[16], const void *data, size_t size);
/* As tsl__hash128_chain over the little-endian form of `count` numbers, so that the name does not
 * depend on the machine. */
void tsl__hash128_chain_u32(uint8_t hash[16], const uint32_t *numbers, size_t count);

#endif
