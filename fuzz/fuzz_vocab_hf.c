/* fuzz_vocab_hf.c - any bytes as a tokenizer.json, and any bytes as text to encode with it.
 *
 * Input       as vocab_file.h says.
 * Properties  vocab_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fuzz/vocab_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* tekken.json is an object as well, whose tokens have "token_bytes". */
static bool is_tekken(const uint8_t *data, size_t size) {
  static const char key[] = "\"token_bytes\"";
  for (size_t i = 0; i + sizeof key - 1 <= size; i++)
    if (!memcmp(data + i, key, sizeof key - 1)) return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (vocab_file_is_object(data, size) && !is_tekken(data, size)) vocab_file_try_input(data, size);
  return 0;
}
