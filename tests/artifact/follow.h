/* follow.h - what the tests of artifacts share: a small vocabulary, an artifact of a schema, and
 * two grammars that are followed side by side.
 *
 * Idea      A loaded grammar is right when it says what the compiled one says. `follow` draws
 *           random texts from the masks of the compiled grammar and gives each token to both. After
 *           each token both masks, forced bytes and shortest completions must be equal.
 * Example   follow(compiled, loaded, 6, 60, "tree"): six texts of at most 60 tokens each; a
 *           difference is reported with the name "tree".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_ARTIFACT_FOLLOW_H
#define TSL_TESTS_ARTIFACT_FOLLOW_H

#include "runtime/artifact/artifact.h"
#include "tests/support/check.h"
#include "tests/support/draw.h"

static unsigned long masks_compared;
static uint64_t seed = 11;

/* One step; false at the end, or where they differ. */
static inline bool step(tsl_matcher *a, tsl_matcher *b, const tsl_vocab *v, uint32_t *one,
                        uint32_t *other, const char *name) {
  uint64_t left_a = 0, left_b = 1;
  uint8_t forced_a[64], forced_b[64];
  size_t n_a = 0, n_b = 0;
  tsl_status status = tsl_matcher_mask(b, other);
  CHECKF(status == TSL_OK, "%s: %s", name, tsl_matcher_grammar(b)->space->why);
  if (tsl_matcher_mask(a, one) != TSL_OK || status != TSL_OK) return false;
  bool same = !memcmp(one, other, tsl_vocab_mask_words(v) * 4);
  CHECKF(same, "%s", name);
  masks_compared++;
  CHECK(tsl_matcher_shortest_completion(a, &left_a) == TSL_OK &&
        tsl_matcher_shortest_completion(b, &left_b) == TSL_OK);
  CHECKF(left_a == left_b, "%s: shortest completion %llu, from the artifact %llu", name,
         (unsigned long long)left_a, (unsigned long long)left_b);
  CHECK(tsl_matcher_forced_bytes(a, forced_a, sizeof forced_a, &n_a) == TSL_OK &&
        tsl_matcher_forced_bytes(b, forced_b, sizeof forced_b, &n_b) == TSL_OK);
  CHECK(n_a == n_b && !memcmp(forced_a, forced_b, n_a));
  CHECK(tsl_matcher_is_complete(a) == tsl_matcher_is_complete(b));
  tsl_token t = same ? draw(one, tsl_vocab_logits_width(v), &seed) : TSL_NO_TOKEN;
  if (t == TSL_NO_TOKEN) return false;
  CHECK(tsl_matcher_accept(a, t) == TSL_OK && tsl_matcher_accept(b, t) == TSL_OK);
  return !tsl_vocab_is_eog(v, t);
}

static inline void follow(tsl_grammar *compiled, tsl_grammar *loaded, uint32_t texts,
                          uint32_t steps, const char *name) {
  const tsl_vocab *v = tsl_grammar_vocab(compiled);
  uint32_t *one = malloc(tsl_vocab_mask_words(v) * 4), *other = malloc(tsl_vocab_mask_words(v) * 4);
  for (uint32_t i = 0; i < texts; i++) {
    tsl_matcher *a, *b;
    CHECK(tsl_matcher_new(compiled, NULL, &a) == TSL_OK &&
          tsl_matcher_new(loaded, NULL, &b) == TSL_OK);
    for (uint32_t k = 0; k < steps && step(a, b, v, one, other, name); k++) continue;
    tsl_matcher_free(a);
    tsl_matcher_free(b);
  }
  free(one);
  free(other);
}

static const char tree[] =
    "{\"$defs\": {\"t\": {\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\", "
    "\"maxLength\": 12}, \"kind\": {\"enum\": [\"leaf\", "
    "\"node\"]}, \"sub\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/t\"}}}, "
    "\"required\": [\"name\"], \"additionalProperties\": false}}, \"$ref\": "
    "\"#/$defs/t\"}";

static inline tsl_vocab *small_vocab(const char *last) {
  const char *tokens[] = {"{\"", "name", "\":",  " \"", "\"", "leaf", "node",  "kind",
                          "sub", "[",    "]",    "}",   "{",  ",",    "\",\"", "\\",
                          "u00", "\xC3", "\xA9", "a",   "bc", last};
  uint8_t bytes[1024], special[400] = {0};
  uint32_t offsets[401], n = 0, count = 0;
  for (; count < 256; count++) offsets[count] = n, bytes[n++] = (uint8_t)count;
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    offsets[count++] = n;
    memcpy(bytes + n, tokens[i], strlen(tokens[i]));
    n += (uint32_t)strlen(tokens[i]);
  }
  offsets[count] = n;
  special[count - 1] = 1;
  const tsl_token eog = count - 1;
  const tsl_vocab_desc d = {bytes, offsets, count, count + 40, special, &eog, 1};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&d, NULL, &v, NULL) == TSL_OK);
  return v;
}

static inline tsl_artifact *artifact_of(tsl_vocab *v, const char *schema, uint64_t walk_steps) {
  tsl_grammar *g = NULL;
  tsl_artifact *a = NULL;
  tsl_error error = {0};
  tsl_artifact_options options = {.max_walk_steps = walk_steps};
  CHECKF(tsl_grammar_json_schema(v, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK, "%s",
         error.message);
  CHECKF(tsl_artifact_make(g, &options, NULL, &a, &error) == TSL_OK, "%s", error.message);
  tsl_grammar_release(g);
  return a;
}

#endif
