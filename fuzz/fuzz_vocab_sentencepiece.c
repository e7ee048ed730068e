/* fuzz_vocab_sentencepiece.c - any bytes as a tokenizer.model, and any bytes as text to encode with
 * it.
 *
 * Input       as vocab_file.h says.
 * Properties  vocab_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/vocab_file.h"
#include "runtime/tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (tsl__looks_like_sentencepiece(data, vocab_file_length(data, size)))
    vocab_file_try_input(data, size);
  return 0;
}
