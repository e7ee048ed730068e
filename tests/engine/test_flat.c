/* test_flat.c - nothing of a grammar stays when it is gone.
 *
 * All memory of the library goes through the host's hooks, so that it can be counted. Grammars are
 * compiled, followed by random draws and dropped, over and over, on one vocabulary. From the second
 * round on, the bytes that live between two grammars must be the same, to the byte. The
 * vocabulary's own masks are an exception: they are written out once many have requested them. The
 * vocabulary says how much memory they take, and that is bounded. What a vocabulary says that it
 * holds is what the hooks count, to a hundredth. A grammar says no more than what the hooks count,
 * and at most some KB less, because what its front end keeps is not counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "turnstile.h"

#define ROUNDS 40
#define CACHE ((size_t)16 << 20)
#define FRONT_END 10000 /* bytes, and a fiftieth, that are not counted to a grammar */

static int64_t bytes, blocks;

static void *reallocate(void *ctx, void *block, size_t old_size, size_t new_size) {
  (void)ctx;
  void *fresh = NULL;
  if (new_size && !(fresh = realloc(block, new_size))) return NULL;
  if (!new_size) free(block);
  bytes += (int64_t)new_size - (block ? (int64_t)old_size : 0);
  blocks += (new_size != 0) - (block != NULL);
  return fresh;
}

static const char *const schemas[] = {
    "{}",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":3},\"b\":{"
    "\"enum\":[\"x\",\"y\\u00e9\"]}},\"required\":[\"a\"]}",
    "{\"type\":\"string\",\"pattern\":\"^(\\\\S+\\\\s+){0,9}\\\\S+$\",\"maxLength\":40}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\",\"maxLength\":3},"
    "\"minItems\":2}",
    "{\"anyOf\":[{\"$ref\":\"#/$defs/"
    "t\"},{\"type\":\"string\",\"format\":\"date-time\"}],\"$defs\":{\"t\":{\"type\":\"object\","
    "\"properties\":{\"n\":{\"$ref\":\"#/$defs/t\"}}}}}",
    "{\"type\":\"string\",\"minLength\":3,\"maxLength\":2}", /* refused */
    "{\"type\":\"array\",\"contains\":{\"const\":1},\"maxItems\":4}",
};

/* Up to `steps` tokens at random, forks and rollbacks among them. */
static void follow(tsl_grammar *g, uint32_t *mask, size_t words, uint64_t *seed, unsigned steps) {
  tsl_matcher *m, *fork;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (unsigned i = 0; i < steps && tsl_matcher_mask(m, mask) == TSL_OK; i++) {
    size_t w = tsl_test_random(seed) % words, tried = 0;
    while (tried < words && !mask[w]) w = (w + 1) % words, tried++;
    if (tried == words ||
        tsl_matcher_accept(m, (tsl_token)(w * 32 + (unsigned)__builtin_ctz(mask[w]))) != TSL_OK)
      break;
    if (i % 5 == 4) tsl_matcher_rollback(m, 1);
    if (i % 7 == 6 && tsl_matcher_fork(m, &fork) == TSL_OK) tsl_matcher_free(fork);
  }
  tsl_matcher_free(m);
}

static void flat(void) {
  const tsl_allocator hooks = {NULL, reallocate};
  tsl_vocab *vocab = NULL;
  tsl_error error;
  uint64_t seed = 11;
  /* bytes beside those that the vocabulary says it holds; and those */
  int64_t beside = 0, held_then = 0;
  CHECK(tsl_vocab_embedded(&hooks, &vocab, &error) == TSL_OK);
  if (!vocab) return;
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  for (unsigned round = 0; mask && round < ROUNDS; round++) {
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
      tsl_schema_options options = {.order = round % 2 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA};
      tsl_grammar *g = NULL;
      if (tsl_grammar_json_schema(vocab, schemas[i], strlen(schemas[i]), &options, NULL, &g,
                                  &error) == TSL_OK)
        follow(g, mask, words, &seed, 24);
      tsl_grammar_release(g);
    }
    tsl_vocab_set_walk_cache(vocab, 0); /* drops what it has, and takes nothing */
    tsl_vocab_set_walk_cache(vocab, CACHE);
    int64_t held = (int64_t)tsl_vocab_memory(vocab);
    if (round == 0) beside = bytes - held, held_then = held;
    CHECKF(bytes - held == beside,
           "round %u: %" PRId64 " bytes beside the vocabulary's, before %" PRId64, round,
           bytes - held, beside);
    CHECKF(held >= held_then && held - held_then <= (int64_t)(CACHE / 16),
           "round %u: the vocabulary holds %" PRId64 " bytes, before %" PRId64, round, held,
           held_then);
  }
  free(mask);
  tsl_vocab_release(vocab);
  CHECKF(bytes == 0 && blocks == 0, "%" PRId64 " bytes in %" PRId64 " blocks are left", bytes,
         blocks);
}

/* Bytes that are said to be held, by a vocabulary and by a grammar that was followed, beside those
 * that were requested. */
static void counted(void) {
  const tsl_allocator hooks = {NULL, reallocate};
  tsl_vocab *vocab = NULL;
  tsl_error error;
  uint64_t seed = 5;
  CHECK(tsl_vocab_embedded(&hooks, &vocab, &error) == TSL_OK);
  if (!vocab) return;
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  for (size_t i = 0; mask && i < sizeof schemas / sizeof *schemas; i++) {
    tsl_grammar_stats stats;
    tsl_grammar *g = NULL;
    int64_t beside = bytes - (int64_t)tsl_vocab_memory(vocab);
    if (i == 0) beside = -1; /* the first one makes the vocabulary's layer */
    if (tsl_grammar_json_schema(vocab, schemas[i], strlen(schemas[i]), NULL, NULL, &g, &error) !=
        TSL_OK)
      continue;
    for (unsigned steps = 0; steps <= 96; steps += 32) {
      if (steps) follow(g, mask, words, &seed, steps);
      tsl_grammar_get_stats(g, &stats);
      int64_t held = bytes - (int64_t)tsl_vocab_memory(vocab) - beside;
      CHECKF(beside < 0 || ((int64_t)stats.memory <= held &&
                            held - (int64_t)stats.memory <= FRONT_END + held / 50),
             "schema %zu: %" PRIu64 " bytes, and not %" PRId64, i, stats.memory, held);
    }
    tsl_grammar_release(g);
    int64_t off = bytes - (int64_t)tsl_vocab_memory(vocab);
    CHECKF(off >= 0 && off <= bytes / 100,
           "schema %zu: the vocabulary holds %zu bytes, and not %" PRId64, i,
           tsl_vocab_memory(vocab), bytes);
  }
  free(mask);
  tsl_vocab_release(vocab);
}

int main(void) {
  RUN(counted, "what is held is what was requested");
  RUN(flat, "the same bytes and blocks live after every round; none at the end");
  return tsl_test_end();
}
