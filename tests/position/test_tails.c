/* test_tails.c - unions of what lies below frames that land on one another (tails.c).
 *
 * The grammars are unions of n branches that begin alike, so that n frames stand side by side until
 * what differs is read. The oracle is the branches themselves. After each token, look at the
 * branches that took the text so far. The mask of the union must be the union of their masks. Each
 * call has a number of steps that grows with n; two by two, the unions took its square.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "tests/support/check.h"
#include "turnstile.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define MOST 512u /* branches */

static tsl_vocab *vocab;
static char text[1u << 18];
static size_t text_n;

/* A union: what stands before its branches, between two, and after the last. A branch, by number. A
 * text of branch 7 and one of none. */
struct shape {
  const char *name;
  bool gbnf;
  const char *before, *branch, *between, *after;
  const char *good, *bad;
};

static const struct shape shapes[] = {
    {"objects in an array", false, "{\"type\":\"array\",\"items\":{\"anyOf\":[",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"t\":{\"const\":\"t%u\"}},"
     "\"required\":[\"a\",\"t\"],\"additionalProperties\":false}",
     ",", "]}}", "[{\"a\":\"xy\",\"t\":\"t7\"},{\"a\":\"\",\"t\":\"t3\"}]",
     "[{\"a\":\"xy\",\"t\":\"x7\"}]"},
    {"an object before what differs", false, "{\"anyOf\":[",
     "{\"type\":\"object\",\"properties\":{\"o\":{\"type\":\"object\",\"properties\":{\"a\":{"
     "\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"additionalProperties\":false},\"t\":{"
     "\"const\":%u}},\"required\":[\"o\",\"t\"],\"additionalProperties\":false}",
     ",", "]}", "{\"o\":{\"a\":[\"b\",\"c\"]},\"t\":7}", "{\"o\":{\"a\":[\"b\"]},\"t\":x}"},
    {"arrays", false, "{\"anyOf\":[",
     "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"boolean\"},{\"const\":"
     "\"n%u\"}],\"minItems\":3,\"items\":false}",
     ",", "]}", "[\"abc\",true,\"n7\"]", "[\"abc\",true,\"m7\"]"},
    {"rules", true, "w ::= \"x\" w | \"y\"\nv ::= w | \"(\" v \")\"\nroot ::= ",
     "v \".\" v \"%u;\"", " | ", "\n", "(xxy).((y))7;", "(xxy).((y))z;"},
};

static void put(const char *format, unsigned i) {
  text_n += (size_t)snprintf(text + text_n, sizeof text - text_n, format, i);
}

/* Branches `from` to `to` of a shape, each call of at most `steps` steps. */
static tsl_grammar *make(const struct shape *s, unsigned from, unsigned to, uint64_t steps) {
  const tsl_limits limits = {.max_steps = steps};
  const tsl_schema_options options = {.whitespace = TSL_WS_COMPACT};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  text_n = 0;
  put(s->before, 0);
  for (unsigned i = from; i < to; i++) {
    if (i > from) put(s->between, 0);
    put(s->branch, i);
  }
  put(s->after, 0);
  tsl_status status =
      s->gbnf ? tsl_grammar_gbnf(vocab, text, text_n, NULL, &limits, &g, &error)
              : tsl_grammar_json_schema(vocab, text, text_n, &options, &limits, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", s->name, error.message);
  return g;
}

/* Feeds a text by its bytes; false where one is rejected. */
static bool accepts(tsl_grammar *g, const char *t) {
  tsl_matcher *m = NULL;
  bool fine = g && tsl_matcher_new(g, NULL, &m) == TSL_OK;
  for (size_t i = 0; fine && t[i]; i++)
    fine = tsl_matcher_accept(m, (tsl_token)(uint8_t)t[i]) == TSL_OK;
  fine = fine && tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return fine;
}

static void few_steps(void) {
  for (unsigned n = 32; n <= MOST; n *= 4)
    for (size_t k = 0; k < COUNT(shapes); k++) {
      tsl_grammar *g = make(&shapes[k], 0, n, 100 * n + 20000);
      CHECKF(accepts(g, shapes[k].good), "%u %s: %s", n, shapes[k].name, shapes[k].good);
      CHECKF(!accepts(g, shapes[k].bad), "%u %s: %s", n, shapes[k].name, shapes[k].bad);
      tsl_grammar_release(g);
    }
}

#define BRANCHES 80u /* more than are compared one by one */
#define WORDS 16u    /* of a mask of 257 tokens, and room */

/* All that the masks of those branches have that took the text; a branch that rejects a byte is
 * out. */
static void any_branch(tsl_matcher *const *branches, bool *lives, uint32_t *all) {
  uint32_t mask[WORDS] = {0};
  memset(all, 0, WORDS * sizeof *all);
  for (unsigned i = 0; i < BRANCHES; i++) {
    if (!lives[i]) continue;
    CHECK(tsl_matcher_mask(branches[i], mask) == TSL_OK);
    for (size_t w = 0; w < tsl_vocab_mask_words(vocab); w++) all[w] |= mask[w];
  }
}

static void same_masks_of(const struct shape *s) {
  tsl_grammar *whole = make(s, 0, BRANCHES, 0), *one[BRANCHES];
  tsl_matcher *m = NULL, *branches[BRANCHES] = {NULL};
  bool lives[BRANCHES];
  uint32_t mask[WORDS] = {0}, all[WORDS];
  CHECK(tsl_matcher_new(whole, NULL, &m) == TSL_OK);
  for (unsigned i = 0; i < BRANCHES; i++) {
    one[i] = make(s, i, i + 1, 0);
    lives[i] = tsl_matcher_new(one[i], NULL, &branches[i]) == TSL_OK;
    CHECK(lives[i]);
  }
  for (size_t at = 0;; at++) {
    any_branch(branches, lives, all);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    CHECKF(!memcmp(mask, all, 4 * tsl_vocab_mask_words(vocab)), "%s: the mask at byte %zu of %s",
           s->name, at, s->good);
    if (!s->good[at]) break;
    const tsl_token token = (tsl_token)(uint8_t)s->good[at];
    CHECK(tsl_matcher_accept(m, token) == TSL_OK);
    for (unsigned i = 0; i < BRANCHES; i++)
      lives[i] = lives[i] && tsl_matcher_accept(branches[i], token) == TSL_OK;
  }
  for (unsigned i = 0; i < BRANCHES; i++) {
    tsl_matcher_free(branches[i]);
    tsl_grammar_release(one[i]);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(whole);
}

/* Of one item: a later one may be of another branch. */
static void same_masks(void) {
  for (size_t k = 1; k < COUNT(shapes); k++) same_masks_of(&shapes[k]);
}

int main(void) {
  static uint8_t bytes[256 + 5];
  static uint32_t offsets[258];
  static uint8_t special[257] = {[256] = 1};
  const tsl_token end = 256;
  for (uint32_t t = 0; t < 256; t++) {
    bytes[t] = (uint8_t)t;
    offsets[t] = t;
  }
  memcpy(bytes + 256, "<end>", 5);
  offsets[256] = 256;
  offsets[257] = 261;
  tsl_vocab_desc desc = {bytes, offsets, 257, 0, special, &end, 1};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
  RUN(few_steps, "unions of branches that begin alike take steps in proportion");
  RUN(same_masks, "their masks are what the branches allow together");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
