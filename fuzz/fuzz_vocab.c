/* fuzz_vocab.c - any bytes as a tokenizer file, and any bytes as text to encode with it.
 *
 * Input       the file; then, if there is a NUL byte, after the last one the text.
 * Properties  loading ends with a documented status and a filled error inside the file; what loads has a sound trie and the same identity
 *             when loaded again; encoding ends, measures what it writes, and gives ids of the vocabulary.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth, const char *what) {
  if (truth) return;
  fprintf(stderr, "fuzz_vocab: %s\n", what);
  abort();
}

static void encode(const tsl_vocab *v, const char *text, size_t length, uint32_t flags) {
  size_t needed = 0, count = 0;
  tsl_status status = tsl_vocab_encode(v, text, length, flags, NULL, 0, &needed);
  require(status == TSL_OK || status == TSL_ERR_LIMIT || status == TSL_ERR_SYNTAX || status == TSL_ERR_UNSUPPORTED,
          "a status of measuring");
  if (status == TSL_ERR_SYNTAX || status == TSL_ERR_UNSUPPORTED || (status == TSL_ERR_LIMIT && !needed))
    return; /* the second: PCRE2's match limit */
  tsl_token *ids = malloc((needed + 1) * sizeof *ids);
  require(tsl_vocab_encode(v, text, length, flags, ids, needed, &count) == TSL_OK && count == needed, "it needs more than it measured");
  for (size_t i = 0; i < count; i++) require(ids[i] < tsl_vocab_size(v), "an id that is no token");
  free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const tsl_vocab_options options = {.pattern = "\\s+|\\w+|[^\\s\\w]"};
  const char *file = (const char *)data, *text = file;
  size_t length = size;
  while (length && file[length - 1]) length--;
  text = file + length;
  size_t text_length = length ? size - length : 0, file_length = length ? length - 1 : size;
  tsl_vocab *v, *again;
  tsl_error error = {0};
  tsl_status status = tsl_vocab_load_memory(file, file_length, NULL, &options, NULL, &v, &error);
  require(status == error.status, "an error without its status");
  require(status == TSL_OK || (!v && error.message[0] && error.offset <= file_length), "an error without its place");
  if (status) return 0;
  require(tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special), "the trie is not sound");
  require(tsl_vocab_load_memory(file, file_length, NULL, &options, NULL, &again, NULL) == TSL_OK, "it loads only once");
  require(!memcmp(v->identity, again->identity, 16), "another identity");
  tsl_vocab_release(again);
  encode(v, text, text_length, 0);
  encode(v, text, text_length, TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS);
  tsl_vocab_release(v);
  return 0;
}
