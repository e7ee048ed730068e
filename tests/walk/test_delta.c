/* test_delta.c - walks that are derived from those of states much alike: masks with deltas, without
 * them, and token by token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/walk/linear.h"
#include "runtime/vocab/vocab.h"
#include "runtime/walk/reference.h"

#define STEPS 32

static tsl_vocab *vocab;
static size_t words;
static uint32_t met, missed;

static tsl_grammar *compile(const char *schema, uint64_t delta_work) {
  tsl_grammar *g = grammar_of(vocab, schema);
  if (!g) return NULL;
  g->space->walking.delta_work = delta_work;
  ((tsl__linear *)(uintptr_t)g->space->parent->warm.linear)->least = 1;
  return g;
}

static const struct {
  const char *schema, *begin;
} cases[] = {
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"the\"}}", "\"wit"},
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"[0-9a-f]{6}\"}}", "\"a"},
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"(in|on|er).?s\"},\"maxLength\":40}", "\""},
    {"{\"type\":\"string\",\"pattern\":\"[0-9a-f]{3}.[0-9a-f]{3}\"}", "\""},
    {"{\"type\":\"string\",\"pattern\":\"[0-9a-f]{12}\"}",
     "\"no: 0123456789a"}, /* and where the loop has had all its iterations */
    {"{\"type\":\"string\",\"pattern\":\"^(?:[0-9][a-f]){9}(-?[0-9]*)?$\"}", "\"0a1b2c3d4e5f6a7b8"},
    {"{\"type\":\"string\",\"pattern\":\"^(?:[^e]|e[^b]{2}){3,90}$\"}", "\""},
    {"{\"type\":\"string\",\"pattern\":\"^(?!.*(ab|er)).{4,30}$\"}", "\""},
    {"{\"type\":\"string\",\"pattern\":\"^[a-z]+:[a-z]\"}",
     "\"id:"}, /* a letter, then any text (runtime/walk/from_root.c) */
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z_](?!.*the)\"}}",
     "[\"in\",\""},
    {"{\"type\":\"string\",\"pattern\":\"^[0-9A-Za-z_]\"}", "\""},
    {"{\"patternProperties\":{\"er\":{\"type\":\"integer\"},\"in\":{\"type\":\"string\"}}}", "{\""},
    {"{\"properties\":{\"name\":true,\"nation\":true,\"id\":true},\"additionalProperties\":{"
     "\"type\":\"integer\"},\"propertyNames\":{\"not\":{\"pattern\":\"[aeiou]{2}\"}}}",
     "{\"id\":1,\"n"},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"not\":{\"pattern\":\"a[^b]\"}},"
     "\"uniqueItems\":true}",
     "[\""},
    {"^(?!.*the).*$", "wit"}, /* any text, that may end anywhere */
    {"^(?!.*(in|on|er).?s)(?s:.){0,40}$", ""},
    {"^(?:(?!\n\n)[\\s\\S])*\n\n$", "a"},
    {"^(?:a?[0-9a-f]{3})*(?:z.{4})?$", "012a"},
    {"^(?:[^e]|e[^b]{2})*e?$", "some"},
};

static void with_and_without(void) {
  tsl_vocab_set_walk_cache(vocab, 0); /* no walk of one is the other's */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *with = compile(cases[i].schema, 1),
                *without = compile(cases[i].schema, UINT64_MAX);
    for (uint64_t seed = 0; with && without && seed < 16; seed++)
      follow_both(&(side_by_side){cases[i].schema, cases[i].begin, with, without, STEPS,
                                  seed ? STEPS : 4, NULL},
                  seed * 29 + i);
    if (with && without) {
      CHECK(without->space->walking.delta_count == 0);
      met += with->space->walking.delta_met;
      missed += with->space->walking.delta_missed;
    }
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
  printf("  derived from another: %u walks; none near enough: %u\n", met, missed);
  CHECK(met > 30);
}

/* What is removed and what is entered, against both walks. */
static void the_difference(void) {
  tsl_grammar *g = compile("{\"type\":\"string\",\"not\":{\"pattern\":\"the\"}}", 1);
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(words * 4);
  if (!g || !mask) return;
  tsl__space *space = g->space;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "\"", 1, NULL) == TSL_OK &&
        tsl_matcher_mask(m, mask) == TSL_OK);
  CHECK(space->walking.delta_count == 1 && space->walking.delta_met == 0);
  CHECK(tsl_matcher_accept_bytes(m, "t", 1, NULL) == TSL_OK && tsl_matcher_mask(m, mask) == TSL_OK);
  CHECK(space->walking.delta_met == 1);
  const tsl__walk *last = tsl__space_at(space, walks, tsl__space_count(space, walks) - 1);
  tsl__reference ref = {0};
  space->walking.delta_bases[1] = space->walking.delta_bases[0]; /* not itself */
  CHECK(tsl__delta_find(space, last->state, 0, last->context & 1, TSL__DELTA_FAR, &ref));
  CHECK(ref.mask && ref.nodes.n > 0);
  const tsl__trie *trie = &vocab->trie;
  for (size_t i = 1; i < ref.nodes.n; i++)
    CHECK(trie->nodes[ref.nodes.at[i - 1]].end <= trie->nodes[ref.nodes.at[i]].begin);
  for (size_t i = 0; i < ref.nodes.n; i++) {
    const tsl__trie_node *n = &trie->nodes[ref.nodes.at[i]];
    CHECK(tsl__reference_removes(space, &ref, ref.nodes.at[i]) &&
          !tsl__reference_removes(space, &ref, 0));
    for (uint32_t c = n->first_child; c < n->first_child + n->children; c++)
      CHECK(tsl__reference_removes(space, &ref, c));
  }
  tsl__reference_free(space, &ref);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  words = tsl_vocab_mask_words(vocab);
  RUN(with_and_without, "masks with deltas, without them, token by token");
  RUN(the_difference, "what goes and what is entered");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
