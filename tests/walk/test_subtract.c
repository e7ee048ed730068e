/* test_subtract.c - walks that are derived from a class of letters, minus the tokens that die:
 * masks with that, without it, and token by token.
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
  tsl_grammar *g = grammar_of(vocab, schema);
  if (!g) return NULL;
  g->space->walking.subtract_bytes = subtract_bytes;
  g->space->walking.delta_work = UINT64_MAX; /* each state by itself: test_delta.c does otherwise */
  ((tsl__linear *)(uintptr_t)g->space->parent->warm.linear)->least = 1;
  return g;
}

/* `met`: at least so many walks are derived like that. */
static const struct {
  const char *schema, *begin;
  uint32_t met;
} cases[] = {
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"the\"}}", "\"wit",
     2}, /* what is needed gives the tokens */
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"[Tt][Hh][Ee]\"}}", "\"", 2},
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"e\"}}", "\"", 1}, /* what may stand nowhere */
    {"{\"type\":\"string\",\"pattern\":\"^(?!.*(th|in|[e,:])).*\\\\.[xX]$\"}", "\"",
     1}, /* the same, some texts, and U+2028 */
    {"{\"type\":\"string\",\"pattern\":\"^(?!.*(the|th[0-9]*er|on[ia]|[?/])).*\\\\.[sS]o$\"}",
     "\"t", 2}, /* words under way */
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"[0-9a-f]{6}\"}}", "\"a",
     2}, /* no byte is needed, but six of some */
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"(in|on|er).?s\"}}", "\"", 2},
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"foe|bar|ing|[Tt]he|thi?s\"}}", "\"f",
     3}, /* words that have nothing in common: one by one */
    {"{\"type\":\"string\",\"pattern\":\"^(?!.*(the|in[gs]|o[nr])).{1,40}$\"}", "\"", 1},
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"ab|cd|ef|gh|ij|kl|mn|op|qr|st|uv|wx|yz|in|er|on|"
     "ti|re\"}}",
     "\"", 0}, /* too many for that */
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"[\\u00e0-\\u00ff]|\\u4e00\"}}", "\"",
     1}, /* past ASCII; a character may be cut off */
    {"{\"type\":\"string\",\"allOf\":[{\"pattern\":\"e.*s\"},{\"not\":{\"pattern\":\"in|on\"}}]}",
     "\"", 2},
    {"{\"type\":\"string\",\"pattern\":\"^(?!.*(ab|er)).*x\"}", "\"", 0}, /* too many ways */
    {"{\"type\":\"string\",\"pattern\":\"^(?!.*the).*x\"}", "\"", 1},
    {"{\"type\":\"string\",\"not\":{\"enum\":[\"the\",\"then\"]},\"pattern\":\"^[^x]\"}", "\"", 0},
    {"{\"patternProperties\":{\"er\":{\"type\":\"integer\"},\"in\":{\"type\":\"string\"}}}", "{\"",
     2},
    {"{\"patternProperties\":{\"er\":{\"type\":\"integer\"},\"in\":{\"type\":\"string\"}},"
     "\"additionalProperties\":false}",
     "{\"", 0},
    {"{\"properties\":{\"name\":true,\"id\":true},\"patternProperties\":{\"^_\":{\"type\":"
     "\"integer\"}}}",
     "{\"", 1}, /* any name but these */
    {"{\"properties\":{\"name\":true,\"nation\":true,\"id\":true},\"additionalProperties\":{"
     "\"type\":\"integer\"},\"propertyNames\":{\"not\":{\"pattern\":\"[aeiou]{2}\"}}}",
     "{\"id\":1,\"", 0},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"not\":{\"pattern\":\"a[^b]\"}},"
     "\"uniqueItems\":true}",
     "[\"", 1},
    {"{\"type\":\"string\",\"not\":{\"pattern\":\"the\"},\"maxLength\":9}", "\"", 0},
    {"{\"type\":\"string\",\"pattern\":\"^\\\\S+( \\\\S+)*$\"}", "\"", 0},
    {"^(?!.*the).*$", "", 3}, /* any text, that may end anywhere */
    {"^(?!.*(foe|bar|ing|[Tt]he|\\n)).*$", "f", 3},
    {"^(?s)(?!.*(in|on)).{1,40}", "", 1},
    {"^(?!.*e)[^q]*$", "", 0},
    {"^(?!.*\\b(of|in)\\b).*", "", 0},
    {"^(?:(?!\n\n)[\\s\\S])*\n\n$", "", 1}, /* and one that may not */
    /* nothing is left to subtract: texts that look for things begin as any of their class */
    {"^(?s)(?=.*ing)(?=.*\xC3\xA9).*", "", 0},
    {"^(?!.*[\xC3\xA0-\xC3\xBF\"])[\\s\\S]*", "", 0},
    {"^(?:[^<]|<[^b])*<?", "", 1},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[^!]\"}}", "[\"",
     0}, /* a quote is not distinguished from what is before it: not yet */
    {"{\"type\":\"string\",\"pattern\":\"^[^!](?!.*(the|in))\"}", "\"", 0},
    {"{\"additionalProperties\":{\"type\":\"string\",\"pattern\":\"^[^!]{2}(?!.*e)\"},"
     "\"maxProperties\":2}",
     "{\"a\":\"", 0},
};

static void with_and_without(void) {
  uint32_t all = 0;
  tsl_vocab_set_walk_cache(vocab, 0); /* no walk of one is the other's */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *with = compile(cases[i].schema, TSL__SUBTRACT_BYTES),
                *without = compile(cases[i].schema, UINT32_MAX);
    for (uint64_t seed = 0; with && without && seed < 16; seed++)
      follow_both(&(side_by_side){cases[i].schema, cases[i].begin, with, without, STEPS,
                                  seed ? STEPS : 4, NULL},
                  seed * 29 + i);
    if (with && without) {
      CHECK(without->space->walking.subtract_met == 0);
      CHECKF(with->space->walking.subtract_met >= cases[i].met, "%s: %u walks", cases[i].schema,
             with->space->walking.subtract_met);
      all += with->space->walking.subtract_met;
    }
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
  printf("  derived from a class: %u walks\n", all);
}

/* A first walk that a text is forbidden to looks at few nodes. */
static void check_steps(const char *schema) {
  tsl_grammar *g = compile(schema, TSL__SUBTRACT_BYTES);
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(words * 4);
  if (g && mask) {
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "\"", 1, NULL) == TSL_OK);
    uint64_t before = tsl__space_steps(g->space);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    uint64_t steps = tsl__space_steps(g->space) - before;
    CHECKF(g->space->walking.subtract_met == 1 && steps < vocab->trie.node_count / 16,
           "%s: %d steps", schema, (int)steps);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

static void few_steps(void) {
  check_steps("{\"type\":\"string\",\"not\":{\"pattern\":\"hipchat\"}}");
  check_steps("{\"type\":\"string\",\"not\":{\"pattern\":\"fog|bar\"}}"); /* nothing is in both */
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  words = tsl_vocab_mask_words(vocab);
  RUN(with_and_without, "masks derived from a class, without it, token by token");
  RUN(few_steps, "the first walk of a forbidden text");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
