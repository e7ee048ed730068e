/* fuzz_mask.c - engine mask = oracle mask, whatever the calls before it: accept, rollback, fork,
 * validate, bytes, reset, interleaved.
 *
 * Input       which of 16 vocabularies (1 byte), then as lockstep.h says.
 * Vocabulary  every byte; 250 random words of letters that JSON and patterns are made of; a special
 *             token; two that end a generation; padding columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "tests/judges/lockstep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VOCABS 16u
#define WORDS 250u
#define SIZE (256u + WORDS + 3u)
#define LENGTH_MAX 40u

static tsl_vocab *make(uint64_t seed) {
  static const char alphabet[] = "\"\"\"{}[]:,,  \\ntrue01-9.eEabcxyz\xC3\xA9\xF0\x9F\x98\x80";
  uint8_t bytes[256 + WORDS * LENGTH_MAX + 9], special[SIZE] = {0};
  uint32_t offsets[SIZE + 1], n = 0, i = 0;
  for (; i < 256; i++) offsets[i] = n, bytes[n++] = (uint8_t)i;
  for (; i < SIZE; i++) {
    offsets[i] = n;
    special[i] = i >= 256 + WORDS;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint32_t length = special[i]          ? 3
                      : (seed >> 60) == 0 ? LENGTH_MAX
                                          : 2 + (uint32_t)(seed >> 33) % 5;
    for (uint32_t k = 0; k < length; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      bytes[n++] = (uint8_t)alphabet[(seed >> 33) % (sizeof alphabet - 1)];
    }
  }
  offsets[SIZE] = n;
  const tsl_token eog[2] = {SIZE - 1, SIZE - 3};
  const tsl_vocab_desc desc = {bytes, offsets, SIZE, SIZE + 5, special, eog, 2};
  tsl_vocab *v = NULL;
  lockstep_require(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK, "no vocabulary");
  return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tsl_vocab *vocabs[VOCABS]; /* the process ends with them */
  if (size < 3) return 0;
  tsl_vocab **v = &vocabs[data[0] % VOCABS];
  if (!*v) *v = make(data[0] % VOCABS);
  lockstep_run(*v, data + 1, size - 1);
  return 0;
}
