/* fuzz_walk.c - walks over random tries: the vocabulary comes out of the input, and its tokens are
 * pieces of what the grammar is written in.
 *
 * Input       The number of words (1 byte), then for each word two bytes, then as lockstep.h says.
 *             The first byte of a word is where it begins in the rest. The second has its length in
 *             the lower five bits. The upper three bits say what becomes of the word: 7 special, 6
 *             empty, 5 twice in the vocabulary, else plain.
 * Properties  the trie is sound; all of lockstep.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "tests/judges/lockstep.h"
#include "runtime/vocab/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS 64u
#define SIZE (256u + 2 * WORDS + 1u)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t bytes[256 + 2 * WORDS * 32 + 3], special[SIZE] = {0};
  uint32_t offsets[SIZE + 1], n = 0, count = 0;
  if (size < 2) return 0;
  uint32_t words = data[0] % (WORDS + 1);
  if (size < 1 + 2 * (size_t)words + 2) return 0;
  const uint8_t *word = data + 1, *rest = word + 2 * words;
  size_t rest_size = size - (size_t)(rest - data);
  for (; count < 256; count++) offsets[count] = n, bytes[n++] = (uint8_t)count;
  for (uint32_t i = 0; i < words; i++) {
    unsigned what = word[2 * i + 1] >> 5, length = what == 6 ? 0 : 1u + (word[2 * i + 1] & 31u);
    for (int copies = what == 5 ? 2 : 1; copies--; count++) {
      special[count] = what == 7;
      offsets[count] = n;
      for (unsigned k = 0; k < length; k++) bytes[n++] = rest[(word[2 * i] + k) % rest_size];
    }
  }
  offsets[count] = n;
  memcpy(bytes + n, "end", 3);
  const tsl_token eog = count++;
  offsets[count] = n + 3;
  const tsl_vocab_desc desc = {bytes, offsets, count, 0, special, &eog, 1};
  tsl_vocab *v = NULL;
  tsl_error error;
  lockstep_require(tsl_vocab_new(&desc, NULL, &v, &error) == TSL_OK, "no vocabulary");
  lockstep_require(tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special),
                   "the trie is not sound");
  lockstep_run(v, rest, rest_size);
  tsl_vocab_release(v);
  return 0;
}
