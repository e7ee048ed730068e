/* test_counted.c - loops over one class of letters near their bounds (runtime/walk/walk.c): masks
 * with that, without it, and token by token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/walk/walk.h"

#define STEPS 40

static tsl_vocab *vocab;

static const struct {
  const char *text, *begin;
} cases[] = {
    {"{\"type\":\"string\",\"pattern\":\"^[a-z]{3,70}$\"}", "\""},
    {"{\"type\":\"string\",\"pattern\":\"^[a-z ]{0,12}$\"}", "\""}, /* shorter than tokens are */
    {"{\"type\":\"string\",\"pattern\":\"^[a-z\\u00e0-\\u00ff]{2,30}-[0-9]{1,3}$\"}", "\""},
    {"^[A-Za-z]{5,}!", ""},
    {"^(?:[a-z]{1,9},){2}$", ""},
};

static void with_and_without(void) {
  tsl_vocab_set_walk_cache(vocab, 0); /* no walk of one is the other's */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *with = grammar_of(vocab, cases[i].text),
                *without = grammar_of(vocab, cases[i].text);
    if (without) without->space->walking.shortcuts_off = TSL__SHORTCUT_COUNTED;
    for (uint64_t seed = 0; with && without && seed < 12; seed++)
      follow_both(&(side_by_side){cases[i].text, cases[i].begin, with, without, STEPS,
                                  seed ? STEPS : 4, NULL},
                  seed * 41 + i);
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
}

/* The limited mask allows a token that fills the room left, and none that is longer. */
static void at_the_bound(void) {
  tsl_grammar *g = grammar_of(vocab, "^[a-z]{1,6}$");
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4);
  unsigned fits = 0, longer = 0;
  if (g && mask && tsl_matcher_new(g, NULL, &m) == TSL_OK) {
    CHECK(tsl_matcher_accept_bytes(m, "abc", 3, NULL) == TSL_OK &&
          tsl_matcher_mask(m, mask) == TSL_OK);
    for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
      size_t n;
      const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
      bool letters = bytes && n;
      for (size_t k = 0; k < n && letters; k++) letters = bytes[k] >= 'a' && bytes[k] <= 'z';
      if (!letters || tsl_vocab_is_eog(vocab, t)) continue;
      CHECK(tsl_mask_has(mask, t) == (n <= 3));
      fits += n == 3;
      longer += n > 3;
    }
    CHECK(fits > 0 && longer > 0);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  RUN(with_and_without, "masks of counted letters, without them, token by token");
  RUN(at_the_bound, "tokens that fill the room left");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
