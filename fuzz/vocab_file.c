/* vocab_file.c - see vocab_file.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/vocab_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/require.h"
#include "runtime/vocab/vocab.h"

static void encode(const tsl_vocab *v, const char *text, size_t length, uint32_t flags) {
  size_t needed = 0, count = 0;
  tsl_status status = tsl_vocab_encode(v, text, length, flags, NULL, 0, &needed);
  require(status == TSL_OK || status == TSL_ERR_LIMIT || status == TSL_ERR_SYNTAX ||
              status == TSL_ERR_UNSUPPORTED,
          "a status of measuring");
  if (status == TSL_ERR_SYNTAX || status == TSL_ERR_UNSUPPORTED ||
      (status == TSL_ERR_LIMIT && !needed))
    return; /* the second: PCRE2's match limit */
  tsl_token *ids = malloc((needed + 1) * sizeof *ids);
  require(tsl_vocab_encode(v, text, length, flags, ids, needed, &count) == TSL_OK &&
              count == needed,
          "it needs more than it measured");
  for (size_t i = 0; i < count; i++) require(ids[i] < tsl_vocab_size(v), "an id that is no token");
  free(ids);
}

void vocab_file_try(const void *file, size_t file_length, const char *text, size_t text_length) {
  static const tsl_vocab_options options = {.pattern = "\\s+|\\w+|[^\\s\\w]"};
  tsl_vocab *v, *again;
  tsl_error error = {0};
  tsl_status status = tsl_vocab_load_memory(file, file_length, NULL, &options, NULL, &v, &error);
  require(status == error.status, "an error without its status");
  require(status == TSL_OK || (!v && error.message[0] && error.offset <= file_length),
          "an error without its place");
  if (status) return;
  require(tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special),
          "the trie is not sound");
  require(tsl_vocab_load_memory(file, file_length, NULL, &options, NULL, &again, NULL) == TSL_OK,
          "it loads only once");
  require(!memcmp(v->identity, again->identity, 16), "another identity");
  tsl_vocab_release(again);
  encode(v, text, text_length, 0);
  encode(v, text, text_length, TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS);
  tsl_vocab_release(v);
}

size_t vocab_file_length(const uint8_t *data, size_t size) {
  size_t n = size;
  while (n && data[n - 1]) n--;
  return n ? n - 1 : size;
}

void vocab_file_try_input(const uint8_t *data, size_t size) {
  size_t n = vocab_file_length(data, size), text = n < size ? n + 1 : size;
  vocab_file_try(data, n, (const char *)data + text, size - text);
}

bool vocab_file_is_object(const uint8_t *data, size_t size) {
  size_t at = 0;
  while (at < size && strchr(" \t\r\n", data[at]) && data[at]) at++;
  return at < size && data[at] == '{';
}

bool vocab_file_is_tekken(const uint8_t *data, size_t size) {
  static const char key[] = "\"token_bytes\"";
  for (size_t i = 0; i + sizeof key - 1 <= size; i++)
    if (!memcmp(data + i, key, sizeof key - 1)) return true;
  return false;
}
