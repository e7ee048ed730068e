/* token_vocab.h - a vocabulary of all bytes and a few tokens, two of them special.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_TOKEN_VOCAB_H
#define TSL_TESTS_SUPPORT_TOKEN_VOCAB_H

#include "tests/support/check.h"

enum { THINK = 256, END_THINK = 257, WORD = 258, EOS = 259, TOKENS = 260 };

static inline tsl_vocab *token_vocab(void) {
  static const char *const names[] = {"<think>", "</think>", "hello", "</s>"};
  uint8_t bytes[512], special[TOKENS] = {0};
  uint32_t offsets[TOKENS + 1] = {0};
  tsl_token eog = EOS;
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i, offsets[i + 1] = (uint32_t)i + 1;
  for (int i = 0; i < 4; i++) {
    memcpy(bytes + offsets[256 + i], names[i], strlen(names[i]));
    offsets[257 + i] = offsets[256 + i] + (uint32_t)strlen(names[i]);
  }
  special[THINK] = special[END_THINK] = 1;
  tsl_vocab_desc desc = {.bytes = bytes,
                         .offsets = offsets,
                         .size = TOKENS,
                         .special = special,
                         .eog = &eog,
                         .eog_count = 1};
  tsl_vocab *vocab = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
  return vocab;
}

#endif
