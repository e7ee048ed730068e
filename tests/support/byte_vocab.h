/* byte_vocab.h - a vocabulary with a token for each byte: what a mask allows is then what the
 * grammar allows, byte by byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_BYTE_VOCAB_H
#define TSL_TESTS_SUPPORT_BYTE_VOCAB_H

#include "tests/support/check.h"
#include "turnstile.h"

static tsl_vocab *vocab;

static inline void make_vocab(void) {
  uint8_t bytes[256];
  uint32_t offsets[257];
  for (uint32_t i = 0; i < 256; i++) {
    bytes[i] = (uint8_t)i;
    offsets[i] = i;
  }
  offsets[256] = 256;
  tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 256};
  tsl_error error;
  if (tsl_vocab_new(&desc, NULL, &vocab, &error) != TSL_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
}

#endif
