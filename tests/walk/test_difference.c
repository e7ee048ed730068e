/* test_difference.c - "any text but some" from the walk of any text (runtime/walk/reference.h):
 * masks with that, without it, and token by token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/walk/walk.h"

#define STEPS 24

static tsl_vocab *vocab;

/* Names that are excluded, alone and with a pattern; some are the beginning of others, some end
 * within a token, some hold what is escaped. */
static const struct {
  const char *schema, *begin;
} cases[] = {
    {"{\"properties\":{\"name\":{\"type\":\"integer\"}},\"propertyNames\":{\"pattern\":\"^[a-z]\"},"
     "\"additionalProperties\":{\"type\":\"string\"}}",
     "{\""},
    {"{\"properties\":{\"a\":true,\"an\":true,\"and\":true},\"propertyNames\":{\"pattern\":"
     "\"^[a-d]\"},\"additionalProperties\":{\"type\":\"integer\"}}",
     "{\"an"},
    {"{\"type\":\"string\",\"not\":{\"enum\":[\"the\",\"then\",\"a\"]},\"pattern\":\"^[^x]\"}",
     "\""},
    {"{\"type\":\"string\",\"not\":{\"enum\":[\"the\",\"in\",\"\\\"\",\"\\\\n\"]},\"maxLength\":"
     "40}",
     "\""},
    {"{\"properties\":{\"id\":true},\"patternProperties\":{\"^_\":{\"type\":\"integer\"}}}",
     "{\"i"},
    /* as long as allowed, shorter and longer */
    {"{\"type\":\"string\",\"not\":{\"enum\":[\"the\",\"and\",\"a\",\"then\"]},\"maxLength\":3}",
     "\""},
    {"{\"type\":\"string\",\"not\":{\"enum\":[\"action\",\"actual\",\"act\","
     "\"\\u00e9t\\u00e9s\\\"n\"]},"
     "\"minLength\":2,\"maxLength\":6}",
     "\"ac"},
};

static tsl_grammar *compile(const char *schema, uint32_t off) {
  tsl_grammar *g = grammar_of(vocab, schema);
  if (g) g->space->walking.shortcuts_off = off;
  return g;
}

static void with_and_without(void) {
  tsl_vocab_set_walk_cache(vocab, 0); /* no walk of one is the other's */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *with = compile(cases[i].schema, 0),
                *without = compile(cases[i].schema, TSL__SHORTCUT_DIFFERENCE);
    for (uint64_t seed = 0; with && without && seed < 12; seed++)
      follow_both(&(side_by_side){cases[i].schema, cases[i].begin, with, without, STEPS,
                                  seed ? STEPS : 4, NULL},
                  seed * 37 + i);
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
}

/* Is `text` accepted to its end by the grammar of a schema? */
static bool takes(const char *schema, const char *text) {
  tsl_grammar *g = compile(schema, 0);
  tsl_matcher *m = NULL;
  bool whole = g && tsl_matcher_new(g, NULL, &m) == TSL_OK &&
               tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
               tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return whole;
}

static void excluded(void) {
  CHECK(takes(cases[2].schema, "\"they\"") && takes(cases[2].schema, "\"th\""));
  CHECK(!takes(cases[2].schema, "\"the\"") && !takes(cases[2].schema, "\"then\"") &&
        !takes(cases[2].schema, "\"\\u0061\""));
  const char *short_ones = cases[5].schema;
  CHECK(takes(short_ones, "\"th\"") && takes(short_ones, "\"tha\"") && takes(short_ones, "\"\""));
  CHECK(!takes(short_ones, "\"the\"") && !takes(short_ones, "\"a\"") &&
        !takes(short_ones, "\"then\"") && !takes(short_ones, "\"long\""));
}

/* Nothing but its quote could follow an excluded text of the greatest length. */
static void no_dead_end(void) {
  tsl_grammar *g = compile(cases[5].schema, 0);
  tsl_matcher *m = NULL;
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(m && tsl_matcher_accept_bytes(m, "\"th", 3, NULL) == TSL_OK);
  CHECK(m && tsl_matcher_accept_bytes(m, "e", 1, NULL) == TSL_REJECTED);
  CHECK(m && tsl_matcher_accept_bytes(m, "i", 1, NULL) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  RUN(with_and_without, "masks by a difference, without it, token by token");
  RUN(excluded, "what is excluded is rejected, what it begins is not");
  RUN(no_dead_end, "an excluded text of the greatest length is not begun to its end");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
