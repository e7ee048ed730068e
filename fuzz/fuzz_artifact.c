/* fuzz_artifact.c - whatever an artifact says, loading and following it reads nothing outside of it
 * and ends with a documented status.
 *
 * Input       which of GRAMMARS artifacts (1 byte), then changes, six bytes each: what (1), where
 *             (3, little end first), with what (2).
 *               what % 6:  0  exclusive-or a byte     1  set a 32-bit word to a small number      2
 *               add to a 32-bit word
 *                          3  cut the file off        4  copy 16 bytes to elsewhere in it         5
 *                          put the same place of the next artifact here
 *             Places count from the first block; bit 7 of `what`: from the file's beginning.
 * Checksums   are made good afterwards, unless bit 6 of the first byte is set: so that the bounds
 *             of every number are tried, not XXH3.
 * Properties  statuses; nothing is allowed that the vocabulary does not have. Memory and bounds:
 *             the sanitizers'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/require.h"
#include "runtime/artifact/artifact.h"
#include "tests/support/nth_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOKENS 290u
#define GRAMMARS 5u
#define TEXTS 4
#define STEPS 24

static tsl_vocab *vocab; /* the process ends with these */
static tsl_artifact *artifacts[GRAMMARS];

static void make_vocab(void) {
  static const char *const words[] = {"{\"",  "\":",   "\",\"",    "name", "count", "10", "00",
                                      "true", ".5",    "e1",       "\"}",  "aa",    "[[", "]]",
                                      "ab",   "\\u00", "\xC3\xA9", "<s>",  "\",",   "é\""};
  uint8_t bytes[1024], special[TOKENS] = {0};
  uint32_t offsets[TOKENS + 1], n = 0, count = 0;
  for (; count < 256; count++) offsets[count] = n, bytes[n++] = (uint8_t)count;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    offsets[count++] = n;
    memcpy(bytes + n, words[i], strlen(words[i]));
    n += (uint32_t)strlen(words[i]);
  }
  offsets[count] = n;
  special[count - 3] = special[count - 1] = 1;
  const tsl_token eog = count - 1;
  const tsl_vocab_desc d = {bytes, offsets, count, count + 9, special, &eog, 1};
  require(tsl_vocab_new(&d, NULL, &vocab, NULL) == TSL_OK, "no vocabulary");
}

static void make_artifacts(void) {
  static const char *const sources[GRAMMARS] = {
      "{\"properties\": {\"name\": {\"type\": \"string\", \"maxLength\": 20}, \"count\": "
      "{\"type\": \"integer\", \"minimum\": 1}}, \"required\": [\"count\"], "
      "\"additionalProperties\": false}",
      "{\"type\": \"array\", \"items\": {\"enum\": [\"aa\", \"ab\", true, 10]}, \"minItems\": 2, "
      "\"maxItems\": 12}",
      "{\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"uniqueItems\": true}",
      "root ::= \"[\" root \"]\" root | \"a\"+ | <[273]> \"b\" | item{3,40}\nitem ::= [^a] | "
      "\"ab\" item",
      "{\"type\": [\"number\", \"string\"], \"multipleOf\": 0.25, \"maximum\": 1e3, \"pattern\": "
      "\"^\\\\w{2,12}[^x]*$\"}"};
  make_vocab();
  for (unsigned i = 0; i < GRAMMARS; i++) {
    tsl_grammar *g = NULL;
    tsl_source source = {.kind = i == 3 ? TSL_SOURCE_GBNF : TSL_SOURCE_JSON_SCHEMA,
                         .text = sources[i],
                         .length = strlen(sources[i])};
    tsl_artifact_options options = {.source = &source, .max_walk_steps = i == 4 ? 1 : 300000};
    tsl_error error;
    if (tsl_grammar_compile(vocab, &source, &g, &error) != TSL_OK)
      fprintf(stderr, "%s\n", error.message);
    require(g && tsl_artifact_make(g, &options, NULL, &artifacts[i], NULL) == TSL_OK,
            "no artifact");
    tsl_grammar_release(g);
  }
}

/* The checksums that the content asks for, as far as the header lets one find them. */
static void repair(uint8_t *file, size_t size) {
  tsl__a_header *h = (void *)file;
  if (size < sizeof *h) return;
  uint64_t *sums = (uint64_t *)(void *)(file + sizeof *h);
  h->size = size;
  if (h->begin > size || h->begin < sizeof *h || h->blocks > (h->begin - sizeof *h) / 8) return;
  for (uint64_t b = 0; b < h->blocks; b++) {
    uint64_t at = h->begin + b * TSL__ARTIFACT_BLOCK;
    if (at >= size) break;
    sums[b] = tsl__hash(file + at, size - at < TSL__ARTIFACT_BLOCK ? (size_t)(size - at)
                                                                   : TSL__ARTIFACT_BLOCK);
  }
  h->checksum = tsl__a_header_sum(h, sums);
}

/* One change; returns the new size. */
static size_t change(uint8_t *file, size_t size, const uint8_t *c, const uint8_t *other,
                     size_t other_size) {
  const size_t begin = c[0] & 0x80 || size < 4096 ? 0 : 1024;
  uint32_t value = c[4] | (uint32_t)c[5] << 8, word;
  if (size < 64) return size;
  size_t at = begin + (c[1] | (size_t)c[2] << 8 | (size_t)c[3] << 16) % (size - begin - 16),
         aligned = at & ~(size_t)3;
  memcpy(&word, file + aligned, 4);
  switch ((c[0] & 0x3F) % 6) {
  case 0: file[at] ^= c[4]; break;
  case 1:
    word = value;
    memcpy(file + aligned, &word, 4);
    break;
  case 2:
    word += (uint32_t)(int32_t)(int16_t)value;
    memcpy(file + aligned, &word, 4);
    break;
  case 3: return at;
  case 4: memmove(file + aligned, file + (value * 4u) % (size - 16), 16); break;
  default: {
    size_t n = other_size > at + 64 ? 64 : 0;
    if (at + n <= size && n) memcpy(file + at, other + at, n);
  }
  }
  return size;
}

static void check_status(tsl_status s) {
  require(s == TSL_OK || s == TSL_REJECTED || s == TSL_ERR_FORMAT || s == TSL_ERR_LIMIT ||
              s == TSL_ERR_UNSUPPORTED || s == TSL_ERR_SYNTAX || s == TSL_ERR_SCHEMA ||
              s == TSL_ERR_EMPTY || s == TSL_ERR_ARGUMENT,
          "an undocumented status");
}

static void follow(tsl_grammar *g, uint64_t seed) {
  uint32_t mask[(TOKENS + 9) / 32 + 2];
  for (int i = 0; i < TEXTS; i++) {
    tsl_matcher *m;
    if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
    for (int k = 0; k < STEPS; k++) {
      tsl_status status = tsl_matcher_mask(m, mask);
      uint64_t left;
      uint32_t next[8];
      check_status(status);
      if (status != TSL_OK) break;
      for (tsl_token t = tsl_vocab_size(vocab); t < tsl_vocab_mask_words(vocab) * 32; t++)
        require(!tsl_mask_has(mask, t), "a token that there is not");
      check_status(tsl_matcher_shortest_completion(m, &left));
      check_status(tsl_matcher_next_bytes(m, next));
      size_t n = tsl_mask_count(mask, tsl_vocab_size(vocab));
      if (n == 0) break;
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      status = tsl_matcher_accept(m, nth_token(mask, (seed >> 33) % n));
      check_status(status);
      if (status != TSL_OK) break;
    }
    tsl_matcher_free(m);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const tsl_limits limits = {.max_steps = 20000, .max_memory = 8 << 20, .max_stacks = 64};
  if (!vocab) make_artifacts();
  if (size < 1) return 0;
  size_t n, other_size;
  unsigned which = (data[0] & 0x3F) % GRAMMARS;
  const uint8_t *good = tsl_artifact_data(artifacts[which], &n),
                *other = tsl_artifact_data(artifacts[(which + 1) % GRAMMARS], &other_size);
  uint8_t *file = malloc(n);
  memcpy(file, good, n);
  for (size_t i = 1; i + 6 <= size && i < 1 + 6 * 32; i += 6)
    n = change(file, n, data + i, other, other_size);
  if (!(data[0] & 0x40)) repair(file, n);
  uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees reads past it */
  memcpy(exact, file, n);
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_status status = tsl_grammar_load_memory(vocab, exact, n, &limits, &g, &error);
  check_status(status);
  require((status == TSL_OK) == (g != NULL), "a grammar without a status");
  tsl_artifact_info info;
  check_status(tsl_artifact_inspect(exact, n, &info, NULL));
  if (g) follow(g, size);
  if (g && size % 7 == 0) { /* list and walk what was loaded */
    tsl_artifact *again = NULL;
    tsl_status made = tsl_artifact_make(
        g, &(tsl_artifact_options){.max_states = 300, .max_walk_steps = 20000}, NULL, &again, NULL);
    check_status(made);
    tsl_artifact_free(again);
  }
  tsl_grammar_release(g);
  free(exact);
  free(file);
  return 0;
}
