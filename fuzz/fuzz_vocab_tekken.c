/* fuzz_vocab_tekken.c - any bytes as a tekken.json, and any bytes as text to encode with it.
 *
 * Input       as vocab_file.h says.
 * Properties  vocab_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/vocab_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (vocab_file_is_object(data, size) && vocab_file_is_tekken(data, size))
    vocab_file_try_input(data, size);
  return 0;
}
