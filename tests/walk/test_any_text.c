/* test_any_text.c - walks of strings of any characters: with the vocabulary's tables of these,
 * without them, and token by token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/walk/linear.h"
#include "runtime/vocab/vocab.h"

#define STEPS 32

static tsl_vocab *vocab;
static size_t words;

static tsl_grammar *compile(const char *schema, uint32_t subtract_bytes) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK,
         "%s: %s", schema, error.message);
  if (!g) return NULL;
  g->space->walking.subtract_bytes = subtract_bytes;
  g->space->walking.delta_work = UINT64_MAX; /* each state by itself: test_delta.c does otherwise */
  ((tsl__linear *)(uintptr_t)g->space->parent->warm.linear)->least = 1;
  return g;
}

static const struct {
  const char *schema, *begin;
} cases[] = {
    {"{\"type\":\"string\",\"maxLength\":3}", "\""},
    {"{\"type\":\"string\",\"minLength\":2,\"maxLength\":5}", "\"a"},
    {"{\"type\":\"string\",\"maxLength\":18}",
     "\""}, /* more than the lengths that have a bitset each */
    {"{\"type\":\"string\",\"minLength\":12,\"maxLength\":24}", "\"\\u00e4"},
    {"{\"type\":\"string\",\"minLength\":9}", "\"\\n\\n"},
    {"{\"type\":\"string\",\"minLength\":40,\"maxLength\":40}", "\""},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20},"
     "\"uniqueItems\":true}",
     "[\"a\",\""},
    {"{\"type\":\"string\",\"minLength\":1}", ""},
    {"{\"type\":\"string\",\"maxLength\":2}", ""},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":300},"
     "\"maxItems\":9}",
     "[\"a\","},
    {"{\"properties\":{\"a\":{\"type\":\"string\",\"maxLength\":90},\"b\":{\"type\":\"string\","
     "\"minLength\":2}},\"additionalProperties\":false,\"type\":\"object\"}",
     "{\"a\":"},
    {"{\"type\":\"string\",\"minLength\":9,\"maxLength\":300}",
     "\"\\"}, /* the letter of an escape comes next */
    {"{\"type\":\"string\",\"minLength\":70,\"maxLength\":300}", "\"\\"},
    {"{\"type\":\"string\",\"minLength\":3,\"maxLength\":7}", "\"\\n\\"},
    {"{\"type\":\"string\",\"maxLength\":3}", "\"\\"},
    {"{\"type\":\"string\",\"maxLength\":20}", "\"\\"},
    {"{\"type\":\"string\",\"pattern\":\"-1$\"}", "\""},
    {"{\"type\":\"string\",\"pattern\":\"/api/v[0-9]+/the users/[0-9]+$\"}",
     "\""}, /* far from its end */
    {"{\"type\":\"string\",\"pattern\":\"[0-9]{3}\"}", "\"1"},
    {"{\"type\":\"string\",\"pattern\":\"\\\\\\\\n$\"}", "\""}, /* a backslash, which is escaped */
    {"{\"type\":\"string\",\"pattern\":\"\\\"$\"}", "\"\\"},
    {"{\"type\":\"string\",\"pattern\":\"^x\"}", "\"x"},
    {"{\"type\":\"string\",\"pattern\":\"\\\\.(txt|te)$\"}", "\"a.t"},
    {"{\"type\":\"string\",\"pattern\":\"\\n\"}", "\"\\"},
    {"{\"type\":\"string\",\"pattern\":\"[^\\\\n]*e\"}", "\""},
    {"{\"type\":\"string\",\"pattern\":\"^(a|b[^\\\"]*)?\"}", "\"b"},
    {"{\"type\":\"string\",\"pattern\":\"\\ud83d\\ude00$\"}", "\"\\ud83d"},
};

static void with_and_without(void) {
  tsl_vocab_set_walk_cache(vocab, 0); /* no walk of one is the other's */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *with = compile(cases[i].schema, TSL__SUBTRACT_BYTES),
                *without = compile(cases[i].schema, UINT32_MAX);
    for (uint64_t seed = 0; with && without && seed < 16; seed++)
      follow_both(&(side_by_side){cases[i].schema, cases[i].begin, with, without, STEPS,
                                  seed ? STEPS : 4, NULL},
                  seed * 29 + i);
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
}

/* Of a string with a length no state is made where it begins, and no walk where it has one
 * bound. */
static void no_states(void) {
  tsl_grammar *g = compile("{\"type\":\"string\",\"maxLength\":64}", TSL__SUBTRACT_BYTES);
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(words * 4);
  if (g && mask) {
    CHECK(g->space->parent->warm.any_text);
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "\"", 1, NULL) == TSL_OK);
    uint32_t before = tsl__space_count(g->space, states), walks = tsl__space_count(g->space, walks);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    CHECK(tsl__space_count(g->space, states) == before &&
          tsl__space_count(g->space, walks) == walks);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  words = tsl_vocab_mask_words(vocab);
  RUN(with_and_without, "strings with the tables, without them, token by token");
  RUN(no_states, "a string with a length");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
