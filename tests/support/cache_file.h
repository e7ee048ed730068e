/* cache_file.h - what the fuzz target and the test of vocabularies' cache files share. It makes a
 * checksum good again, and uses all that such a file says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_CACHE_FILE_H
#define TSL_TESTS_SUPPORT_CACHE_FILE_H

#include <xxhash.h>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/vocab_files/cache.h"

/* of the file; its last 16 bytes are the checksum */
#define CACHE_FILE_HEADER (8 + 6 * 4 + 8 + 16 + 16 + (7 + TSL__SPAN_COUNT) * 16 + 16)

/* Its own size, after the magic and six words, and its checksum. */
static inline void cache_file_seal(uint8_t *file, size_t size) {
  XXH128_canonical_t sum;
  uint64_t whole = size;
  if (size < CACHE_FILE_HEADER) return;
  memcpy(file + 32, &whole, 8);
  memset(file + CACHE_FILE_HEADER - 16, 0, 16);
  XXH128_canonicalFromHash(&sum, XXH3_128bits(file, size));
  memcpy(file + CACHE_FILE_HEADER - 16, sum.digest, 16);
}

/* Use everything that an index in the file could lead astray. Returns a sum of what was read, so
 * that it is read. */
static inline size_t cache_file_use(const tsl_vocab *v) {
  static const char text[] = "ab <s>ab \xC3\xA9 <w> <l>ab<r> \xFF aab  \n";
  tsl_token ids[64];
  size_t n, sum = 0;
  tsl_vocab_encode(v, text, sizeof text - 1, TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, ids, 64, &n);
  for (tsl_token i = 0; i < v->size; i++) {
    const uint8_t *bytes = tsl_vocab_bytes(v, i, &n);
    for (size_t k = 0; k < n; k++) sum += bytes[k];
  }
  for (uint32_t i = 0; i < v->trie.node_count; i++) {
    for (unsigned b = 0; b < 256; b++) sum += tsl__trie_child(&v->trie, i, (uint8_t)b);
    for (uint32_t k = v->trie.nodes[i].begin; k < v->trie.nodes[i].end; k++)
      sum += v->trie.order[k];
    if (v->trie.nodes[i].below != UINT16_MAX) sum += v->trie.sets[v->trie.nodes[i].below].w[0] & 1;
  }
  return sum;
}

#endif
