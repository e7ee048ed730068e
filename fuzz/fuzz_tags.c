/* fuzz_tags.c - any bytes as a structural tag, or as a request with tools.
 *
 * Input       kind (1 byte), seed (1 byte), JSON. kind & 1: a request, by preset kind >> 1 & 31
 *             (the rest of the bits: thinking, calls); else a structural tag.
 * Properties  compiling ends with a documented status and a filled error. Along a walk of random
 *             allowed tokens there is always a way on. The parser takes what the matcher takes, and
 *             ends where it may end; and nowhere else, if no tokens are counted. What the parser
 *             says is JSON. An answer to a request, read as text, is what it was read token by
 *             token. A grammar over the tables of another has its masks. Reaching a limit is an
 *             answer, a hang is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/json/json.h"
#include "fuzz/require.h"
#include "runtime/matcher/grammar.h"
#include "tests/support/nth_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 48

/* Every byte, some pieces of markup that straddle its parts, and special tokens; the last one ends
 * the generation. Made once. */
static tsl_vocab *vocabulary(void) {
  static const char *const more[] = {
      "</",    "ool_c", "l>\n{\"",     "{\"name\": \"", "think>\n", "a\xC3",    "\xA4<",
      "[TOOL", "=a>",   "<tool_call>", "</tool_call>",  "<think>",  "</think>", "<|end|>"};
  enum { MORE = sizeof more / sizeof *more, SPECIAL = 5 };
  static tsl_vocab *vocab;
  uint8_t bytes[256 + MORE * 16], special[256 + MORE] = {0};
  uint32_t offsets[257 + MORE], n = 0;
  const tsl_token eog = 255 + MORE;
  if (vocab) return vocab;
  for (uint32_t i = 0; i < 256 + MORE; i++) {
    size_t length = i < 256 ? 1 : strlen(more[i - 256]);
    offsets[i] = n;
    if (i < 256)
      bytes[n] = (uint8_t)i;
    else
      memcpy(bytes + n, more[i - 256], length);
    special[i] = i >= 256 + MORE - SPECIAL;
    n += (uint32_t)length;
  }
  offsets[256 + MORE] = n;
  tsl_vocab_desc desc = {.bytes = bytes,
                         .offsets = offsets,
                         .size = 256 + MORE,
                         .special = special,
                         .eog = &eog,
                         .eog_count = 1};
  require(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK, "no vocabulary");
  return vocab;
}

static void require_json(const char *text, const char *what) {
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &tsl__malloc);
  bool good =
      text && tsl__json_parse(&arena, NULL, text, strlen(text), 2000, &root, NULL) == TSL_OK;
  tsl__arena_free(&arena);
  require(good, what);
}

static bool limited(tsl_status status) {
  require(status == TSL_OK || status == TSL_ERR_LIMIT || status == TSL_ERR_NO_MEMORY ||
              status == TSL_ERR_UNSUPPORTED,
          "an undocumented status");
  return status != TSL_OK;
}

/* Read the text at once: the same parts. */
static void read_again(tsl_grammar *g, const char *text, size_t n, bool complete,
                       const char *wanted) {
  tsl_parser *p;
  require(tsl_parser_new(g, NULL, &p) == TSL_OK, "no second parser");
  if (!limited(tsl_parser_text(p, text, n)) && complete) {
    require(tsl_parser_finish(p) == TSL_OK, "what was complete is not");
    require(!strcmp(tsl_parser_json(p), wanted), "read as a text it is something else");
  }
  tsl_parser_free(p);
}

static void walk(tsl_grammar *g, uint64_t seed, bool as_text) {
  uint32_t mask[16];
  char text[STEPS * 16];
  size_t n = 0;
  tsl_matcher *m = NULL;
  tsl_parser *p = NULL;
  const tsl_vocab *v = vocabulary();
  require(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_parser_new(g, NULL, &p) == TSL_OK,
          "no matcher, or no parser");
  for (int step = 0; step < STEPS; step++) {
    if (limited(tsl_matcher_mask(m, mask))) break;
    size_t count = tsl_mask_count(mask, tsl_vocab_logits_width(v)), length;
    require(count > 0, "a dead end");
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    size_t pick = (seed >> 33) % count;
    tsl_token t = 0;
    if ((seed >> 61) == 0) /* the last ones are markup */
      for (t = tsl_vocab_size(v) - 2; t > 256 && !tsl_mask_has(mask, t); t--) continue;
    if (!t || !tsl_mask_has(mask, t)) t = nth_token(mask, pick);
    if (tsl_vocab_is_eog(v, t)) break;
    tsl_status status = tsl_matcher_accept(m, t);
    require(status != TSL_REJECTED, "an allowed token is rejected");
    if (limited(status) || limited(tsl_parser_token(p, t))) break;
    const uint8_t *bytes = tsl_vocab_bytes(v, t, &length);
    memcpy(text + n, bytes, length);
    n += length;
  }
  bool complete = tsl_matcher_is_complete(m);
  tsl_status end = tsl_parser_finish(p);
  if (end == TSL_OK || end == TSL_REJECTED) {
    require(end == TSL_OK || !complete, "the parser does not end where the matcher may");
    /* it does not count tokens */
    require(complete || end != TSL_OK || g->quota_count,
            "the parser ends where the matcher may not");
    if (complete) require_json(tsl_parser_json(p), "what is read back is no JSON");
    if (as_text && complete) read_again(g, text, n, complete, tsl_parser_json(p));
  }
  tsl_parser_free(p);
  tsl_matcher_free(m);
}

static void same_masks(tsl_grammar *g, tsl_grammar *h) {
  uint32_t a[16], b[16];
  tsl_matcher *x = NULL, *y = NULL;
  require(tsl_matcher_new(g, NULL, &x) == TSL_OK && tsl_matcher_new(h, NULL, &y) == TSL_OK,
          "no matcher");
  tsl_status s = tsl_matcher_mask(x, a), t = tsl_matcher_mask(y, b);
  if (!limited(s) && !limited(t))
    require(!memcmp(a, b, ((size_t)tsl_vocab_logits_width(vocabulary()) + 31) / 32 * 4),
            "another mask over shared tables");
  tsl_matcher_free(x);
  tsl_matcher_free(y);
}

static tsl_status compile(uint8_t kind, const char *json, size_t n, tsl_grammar *over,
                          tsl_grammar **out, tsl_error *error) {
  const tsl_limits limits = {.max_memory = 64 << 20, .max_steps = 200000};
  const char *name = "qwen3", *text;
  if (!(kind & 1))
    return over ? tsl_grammar_tags_over(over, json, n, NULL, &limits, out, error)
                : tsl_grammar_tags(vocabulary(), json, n, NULL, &limits, out, error);
  if (!tsl_tools_preset(kind >> 1 & 31, &name, &text)) name = "qwen3";
  tsl_tools_options options = {.preset = name,
                               .thinking = (tsl_thinking)((kind >> 6) % 3),
                               .max_thinking_tokens = kind & 64 ? 3 : 0,
                               .over = over};
  return tsl_grammar_tools(vocabulary(), json, n, &options, &limits, out, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsl_grammar *g, *h;
  tsl_error error = {0};
  if (size < 2) return 0;
  tsl_status status = compile(data[0], (const char *)data + 2, size - 2, NULL, &g, &error);
  require(status == TSL_OK || status == TSL_ERR_SYNTAX || status == TSL_ERR_SCHEMA ||
              status == TSL_ERR_UNSUPPORTED || status == TSL_ERR_EMPTY || status == TSL_ERR_LIMIT ||
              status == TSL_ERR_NO_MEMORY || status == TSL_ERR_ARGUMENT,
          "an undocumented status");
  require((g != NULL) == (status == TSL_OK) && error.status == status &&
              (!status || error.message[0]),
          "an error that is not filled");
  if (!g) return 0;
  walk(g, data[1], data[0] & 1);
  if (compile(data[0], (const char *)data + 2, size - 2, g, &h, &error) == TSL_OK) {
    same_masks(g, h);
    tsl_grammar_release(g);
    walk(h, data[1] + 77u, data[0] & 1);
    g = h;
  }
  tsl_grammar_release(g);
  return 0;
}
