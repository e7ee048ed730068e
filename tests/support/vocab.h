/* runtime/vocab/vocab.h - what the tests of vocabularies share: small tokenizer files, loading and
 * encoding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_VOCAB_H
#define TSL_TESTS_SUPPORT_VOCAB_H

#include "runtime/tokenizer/tokenizer.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"

static inline bool encodes(const tsl_vocab *v, const char *text, size_t length, uint32_t flags,
                           const tsl_token *expected, size_t n) {
  tsl_token ids[64];
  size_t count = 0;
  tsl_status status = tsl_vocab_encode(v, text, length, flags, ids, 64, &count);
  bool same = !status && count == n && !memcmp(ids, expected, n * sizeof *ids);
  for (size_t i = 0; !same && !status && i < count && i < 64; i++)
    fprintf(stderr, "%s%u", i ? " " : "  got ", ids[i]);
  if (!same) fprintf(stderr, "  (%s)\n", tsl_status_name(status));
  return same;
}
#define ENCODES(v, text, flags, ...)                                               \
  CHECK(encodes(v, text, sizeof text - 1, flags, (const tsl_token[]){__VA_ARGS__}, \
                sizeof(const tsl_token[]){__VA_ARGS__} / sizeof(tsl_token)))

static inline bool token_is(const tsl_vocab *v, tsl_token id, const char *text) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(v, id, &n);
  return bytes && n == strlen(text) && !memcmp(bytes, text, n);
}

static inline tsl_vocab *load(const char *text, const char *name,
                              const tsl_vocab_options *options) {
  tsl_vocab *v;
  tsl_error error = {0};
  tsl_status status = tsl_vocab_load_memory(text, strlen(text), name, options, NULL, &v, &error);
  CHECKF(status == TSL_OK, "%s at %zu: %s", tsl_status_name(status), error.offset, error.message);
  return v;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Byte level, with all kinds of added tokens; "Ġ" is a space. Its id 9 is a hole. */
#define BYTE_MODEL                                                                                 \
  "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"\\u0120\":2,\"ab\":3,\"\xC4\xA0"       \
  "a\":4,\"\xC4\xA0"                                                                               \
  "ab\":5,\"\xC3\x83\":6,\"\xC2\xA9\":7,"                                                          \
  "\"\xC3\x83\xC2\xA9\":8,\"\\\"\":10,\"<\":11,\">\":12,\"\xC4\x8A\":13,\"x\":14,\"\xC3\xBF\":15}" \
  ","                                                                                              \
  "\"merges\":[\"a b\",[\"\xC4\xA0\",\"a\"],\"\xC4\xA0 ab\",\"\xC3\x83 \xC2\xA9\"]}"
#define BYTE_LEVEL(prefix) \
  "{\"type\":\"ByteLevel\",\"add_prefix_space\":" prefix ",\"use_regex\":true}"
#define ADDED(id, text, special, word, left, right, normalized)                            \
  "{\"id\":" #id ",\"content\":\"" text "\",\"special\":" special ",\"single_word\":" word \
  ",\"lstrip\":" left ",\"rstrip\":" right ",\"normalized\":" normalized "}"
#define ADDED_TOKENS                                                                           \
  "\"added_tokens\":[" ADDED(20, "<s>", "true", "false", "false", "false", "false") "," ADDED( \
      21, "</s>", "true", "false", "false", "false",                                           \
      "false") "," ADDED(22, "<w>", "false", "true", "false", "false",                         \
                         "false") "," ADDED(23, "<l>", "false", "false", "true", "false",      \
                                            "false") "," ADDED(24, "<r>", "false", "false",    \
                                                               "false", "true",                \
                                                               "false") "," ADDED(25, "<s>>",  \
                                                                                  "false",     \
                                                                                  "false",     \
                                                                                  "false",     \
                                                                                  "false",     \
                                                                                  "false") "]"
#define TEMPLATE                                                                                  \
  "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<" \
  "s>\",\"type_id\":0}},{\"Sequence\":{"                                                          \
  "\"id\":\"A\"}},"                                                                               \
  "{\"SpecialToken\":{\"id\":\"</s>\",\"type_id\":0}}],\"special_tokens\":{\"</"                  \
  "s>\":{\"ids\":[21]},\"<s>\":{\"ids\":[20]}}}"

static const char byte_file[] =
    "{\"version\":\"1.0\"," ADDED_TOKENS ",\"normalizer\":null,\"pre_tokenizer\":" BYTE_LEVEL(
        "false") ",\"decoder\":" BYTE_LEVEL("true") "," TEMPLATE "," BYTE_MODEL "}";

/* Ranks of tiktoken. */
static const char ranks[] = "YQ== 0\nYg== 1\nIA== 2\nYWI= 3\r\nIGFi 5\n\n";

/* Is this hash's slot in the first part of a table, one of `parts`, for so many things? */
static inline bool begins_low(uint64_t hash, uint32_t count, uint32_t parts) {
  uint32_t slots = count + count / 2 + 8;
  return (hash >> 32) * slots >> 32 < slots / parts;
}

/* A rank file of so many tokens of six bytes that all want the same few slots, if hashes have no
 * key. To be freed. */
static inline char *crowded_ranks(uint32_t count, uint32_t parts) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *text = malloc((size_t)count * 17 + 1), *at = text;
  uint32_t found = 0;
  for (uint64_t i = 0; text && found < count; i++) {
    uint8_t token[6];
    char base64[9] = {0};
    for (int k = 0; k < 6; k++) token[k] = (uint8_t)(i >> 8 * k);
    if (!begins_low(tsl__hash(token, 6), count, parts)) continue;
    for (int k = 0; k < 8; k++) {
      uint32_t group = (uint32_t)token[k / 4 * 3] << 16 | (uint32_t)token[k / 4 * 3 + 1] << 8 |
                       token[k / 4 * 3 + 2];
      base64[k] = digits[group >> (18 - 6 * (k % 4)) & 63];
    }
    at += sprintf(at, "%s %u\n", base64, found++);
  }
  return text;
}

#endif
