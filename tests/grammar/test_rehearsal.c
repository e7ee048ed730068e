/* test_rehearsal.c - what is found out in a rehearsal (compiler/grammar/rehearsal.h): a grammar of
 * plain members unites few of the vocabulary's masks that nobody united before. That masks are
 * right the other tests tell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/grammar.h"
#include "runtime/masks/mask.h"
#include "runtime/position/stacks.h"
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

int main(void) {
  if (tsl_vocab_embedded(NULL, &v, NULL) != TSL_OK) return 1;
  RUN(plain_members, "a grammar of plain members makes few unions that the vocabulary has not");
  tsl_vocab_release(v);
  return tsl_test_end();
}
