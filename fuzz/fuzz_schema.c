/* fuzz_schema.c - any bytes as a JSON Schema; the first byte chooses the options.
 *
 * Properties  Compiling ends with a documented status and a filled error. What compiles has a
 *             report that is JSON. Along a walk of random allowed bytes there is always a way to a
 *             complete text (no dead end). What is complete is JSON. Memory and steps are limited:
 *             reaching a limit is an answer, a hang is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/json/json.h"
#include "fuzz/require.h"
#include "turnstile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 60

/* Every byte a token; made once, the process ends with it. */
static tsl_vocab *bytes_vocab(void) {
  static tsl_vocab *vocab;
  uint8_t bytes[256];
  uint32_t offsets[257];
  if (vocab) return vocab;
  for (uint32_t i = 0; i < 257; i++) {
    if (i < 256) bytes[i] = (uint8_t)i;
    offsets[i] = i;
  }
  tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 256};
  require(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK, "no vocabulary");
  return vocab;
}

static bool is_json(const char *text, size_t length) {
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &tsl__malloc);
  bool good = tsl__json_parse(&arena, NULL, text, length, 1000, &root, NULL) == TSL_OK;
  tsl__arena_free(&arena);
  return good;
}

/* A limit that is reached while states are made ends the walk; anything else is a finding. */
static bool limited(tsl_status status) {
  require(status == TSL_OK || status == TSL_ERR_LIMIT || status == TSL_ERR_NO_MEMORY ||
              status == TSL_ERR_UNSUPPORTED,
          "an undocumented status of a matcher");
  return status != TSL_OK;
}

static void walk(tsl_grammar *g, uint64_t seed) {
  tsl_matcher *m;
  char text[STEPS];
  size_t n = 0;
  require(tsl_matcher_new(g, NULL, &m) == TSL_OK, "no matcher");
  while (n < STEPS) {
    uint32_t next[8];
    uint8_t allowed[256];
    size_t count = 0;
    if (limited(tsl_matcher_next_bytes(m, next))) break;
    for (unsigned b = 0; b < 256; b++)
      if ((next[b / 32] >> (b % 32)) & 1u) allowed[count++] = (uint8_t)b;
    bool complete = tsl_matcher_is_complete(m);
    require(complete || count, "a dead end");
    if (complete) require(is_json(text, n), "a complete text that is no JSON");
    if (!count) break;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint8_t byte = allowed[(seed >> 33) % count];
    if ((seed >> 60) < 6 && memchr(allowed, '"', count)) byte = '"';
    tsl_status status = tsl_matcher_accept_bytes(m, &byte, 1, NULL);
    require(status != TSL_REJECTED, "an allowed byte is rejected");
    if (limited(status)) break;
    text[n++] = (char)byte;
  }
  tsl_matcher_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  static const tsl_draft drafts[] = {TSL_DRAFT_AUTO,    TSL_DRAFT_3,   TSL_DRAFT_4,
                                     TSL_DRAFT_6,       TSL_DRAFT_7,   TSL_DRAFT_2019_09,
                                     TSL_DRAFT_2020_12, TSL_DRAFT_AUTO};
  const tsl_schema_options options = {.order = data[0] & 1 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA,
                                      .draft = drafts[(data[0] >> 1) & 7],
                                      .whitespace = data[0] & 16 ? TSL_WS_PRETTY : TSL_WS_ANY,
                                      .max_nesting = data[0] & 32 ? 3 : 0,
                                      .nullable = (data[0] & 64) != 0,
                                      .indent = 1};
  const tsl_limits limits = {.max_memory = 64 << 20, .max_steps = 200000};
  tsl_grammar *g;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_json_schema(bytes_vocab(), (const char *)data + 1, size - 1,
                                              &options, &limits, &g, &error);
  require(status == TSL_OK || status == TSL_ERR_SYNTAX || status == TSL_ERR_SCHEMA ||
              status == TSL_ERR_UNSUPPORTED || status == TSL_ERR_EMPTY || status == TSL_ERR_LIMIT ||
              status == TSL_ERR_NO_MEMORY,
          "an undocumented status");
  require((g != NULL) == (status == TSL_OK) && error.status == status &&
              (!status || error.message[0]),
          "an error that is not filled");
  if (!g) return 0;
  const char *report = tsl_grammar_report(g);
  require(report && is_json(report, strlen(report)), "a report that is no JSON");
  walk(g, data[0]);
  walk(g, size);
  tsl_grammar_release(g);
  return 0;
}
