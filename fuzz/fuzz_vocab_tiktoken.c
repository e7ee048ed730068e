/* fuzz_vocab_tiktoken.c - any bytes as a tiktoken rank file, and any bytes as text to encode with
 * it.
 *
 * Input       as vocab_file.h says.
 * Properties  vocab_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fuzz/vocab_file.h"
#include "runtime/tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!vocab_file_is_object(data, size) && (size < 4 || memcmp(data, "GGUF", 4)) &&
      !tsl__looks_like_sentencepiece(data, vocab_file_length(data, size)))
    vocab_file_try_input(data, size);
  return 0;
}
