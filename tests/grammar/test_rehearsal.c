/* test_rehearsal.c - what the rehearsal prepares (compiler/grammar/rehearsal.h), and that it is
 * optional.
 *
 * With a rehearsal, a grammar of plain members makes few unions of the vocabulary's own masks.
 * Without one, all masks are the oracle's nevertheless.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/base_layer.h"
#include "runtime/matcher/grammar.h"
#include "runtime/masks/mask.h"
#include "runtime/position/stacks.h"
#include "tests/judges/oracle.h"
#include "tests/support/check.h"
#include "turnstile.h"

#define UNIONS_MAX 2u /* of some thirty, if nothing had been found out */

static const char schema[] = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"
                             "\"size\":{\"type\":\"number\"},\"open\":{\"type\":\"boolean\"},"
                             "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
                             "\"inner\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
                             "\"string\"},\"count\":{\"type\":\"integer\"}}}}}";
static const char text[] = "{\"name\": \"some\", \"size\": 2.5, \"open\": true, \"tags\": "
                           "[\"one\", \"two\"], \"inner\": {\"name\": \"other\", \"count\": 3}}";

/* Unions made by a grammar: in all, and of the vocabulary's masks alone. */
static void count_unions(const tsl__space *space, unsigned *all, unsigned *below) {
  *all = space->unions.pool.n;
  *below = 0;
  for (uint32_t i = 0; i < space->unions.pool.n; i++) {
    const tsl__union *u = tsl__pool_at(&space->unions.pool, i);
    bool own = false;
    for (uint32_t k = 0; k < TSL__UNION_MAX && u->parts[k]; k++)
      own |= !(u->parts[k] & TSL__UNION_TOKEN) && u->parts[k] >= space->masks.first;
    *below += !own;
  }
}

static tsl_vocab *v;

static void plain_members(void) {
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_json_schema(v, schema, strlen(schema), NULL, NULL, &g, NULL) == TSL_OK);
  if (!g) return;
  tsl__stack at = g->begin;
  unsigned all, below;
  for (const char *c = text; at && *c; c++) {
    tsl__space_begin(g->space);
    tsl__stack_mask(g->space, at);
    at = tsl__stack_byte(g->space, at, (uint8_t)*c);
  }
  count_unions(g->space, &all, &below);
  CHECK(at);
  CHECKF(below <= UNIONS_MAX, "%u of %u unions are of the vocabulary's masks alone", below, all);
  printf("  %u unions, %u of them of the vocabulary's masks alone\n", all, below);
  tsl_grammar_release(g);
}

#define EVERY 8u /* positions of the text from one comparison with the oracle to the next */

/* Masks of a grammar along its text, beside the oracle's. */
static void compare_masks(tsl_vocab *own, const char *grammar, const char *follow) {
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  size_t words = tsl_vocab_mask_words(own);
  unsigned masks = 0;
  uint32_t *mine = malloc(words * sizeof *mine), *naive = malloc(words * sizeof *naive);
  CHECK(tsl_grammar_json_schema(own, grammar, strlen(grammar), NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  if (m && mine && naive) {
    oracle o;
    oracle_begin(&o, g->space, g->start);
    for (const char *c = follow; *c; c++) {
      if ((size_t)(c - follow) % EVERY == 0) {
        CHECK(tsl_matcher_mask(m, mine) == TSL_OK);
        oracle_mask(&o, naive);
        CHECKF(!memcmp(mine, naive, words * sizeof *mine), "another mask before '%s'", c);
        masks++;
      }
      CHECK(tsl_matcher_accept_bytes(m, c, 1, NULL) == TSL_OK);
      CHECK(oracle_bytes(&o, (const uint8_t *)c, 1));
    }
    oracle_free(&o);
  }
  printf("  %u masks compared with the oracle\n", masks);
  free(mine);
  free(naive);
  tsl_matcher_free(m);
  if (g) tsl_grammar_release(g);
}

/* States with transitions that lack their hints. A grammar would store those in its own memory,
 * which the next grammar must not read. */
static unsigned count_unhinted(const tsl__space *base) {
  unsigned n = 0;
  for (tsl__state s = 1; s < tsl__space_count(base, states); s++) {
    const tsl__state_rec *r = tsl__state_at(base, s);
    n += atomic_load(&((tsl__state_rec *)(uintptr_t)r)->expanded) && r->hinted != TSL__HINTED_ALL;
  }
  return n;
}

static void without_rehearsal(void) {
  static const char dates[] = "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\","
                              "\"format\":\"date-time\"},\"host\":{\"type\":\"string\",\"format\":"
                              "\"hostname\",\"maxLength\":40}},\"additionalProperties\":false}";
  tsl_vocab *own = NULL;
  const tsl__space *base;
  CHECK(tsl_vocab_embedded(NULL, &own, NULL) == TSL_OK);
  if (!own) return;
  CHECK(tsl__shared_make(own, TSL_SPELLING_ANY, false, &base, NULL) == TSL_OK);
  CHECKF(!count_unhinted(base), "%u states without hints", count_unhinted(base));
  compare_masks(own, schema, text);
  compare_masks(own, dates, "{\"at\": \"2024-11-30T23:59:59Z\", \"host\": \"www.example.com\"}");
  tsl_vocab_release(own);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &v, NULL) != TSL_OK) return 1;
  RUN(plain_members, "a grammar of plain members makes few unions that the vocabulary has not");
  RUN(without_rehearsal, "without a rehearsal the masks are the oracle's");
  tsl_vocab_release(v);
  return tsl_test_end();
}
