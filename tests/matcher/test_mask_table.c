/* test_mask_table.c - masks on a device. A mirror copies only what the table says. It always has
 * the matcher's own mask in the row that the table names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/base.h"
#include "tests/support/draw.h"

#define SEQUENCES 6
#define ROWS 8

static uint64_t seed = 5;

static tsl_grammar *compile(tsl_vocab *v, const char *schema) {
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_json_schema(v, schema, strlen(schema), NULL, NULL, &g, NULL) == TSL_OK);
  return g;
}

static const char *schemas[] = {"{\"type\": \"object\", \"properties\": {\"a\": {\"type\": "
                                "\"string\"}, \"b\": {\"type\": \"integer\"}}}",
                                "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
                                "{\"enum\": [\"aa\", \"ab\", 17, 18.5, null]}"};

/* Six sequences of three grammars through a mirror of so many rows. Now and then a grammar goes and
 * another one comes, mostly to the same addresses and with the same numbers for other masks. One
 * grammar is of another vocabulary as wide as the first, whose tables count anew. */
static void mirror_of(uint32_t row_count) {
  tsl_vocab *v = NULL, *other = NULL;
  tsl_mask_table *t = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK &&
        tsl_vocab_embedded(NULL, &other, NULL) == TSL_OK);
  size_t words = tsl_vocab_mask_words(v);
  tsl_grammar *g[3] = {compile(v, schemas[0]), compile(v, schemas[1]), compile(other, schemas[2])};
  tsl_matcher *m[SEQUENCES];
  uint32_t *device = malloc(row_count * words * 4), *mask = malloc(words * 4);
  uint64_t requests = 0;
  tsl_mask_table_stats s;
  CHECK(tsl_mask_table_new(v, row_count, NULL, &t) == TSL_OK);
  for (int i = 0; i < SEQUENCES; i++) CHECK(tsl_matcher_new(g[i % 3], NULL, &m[i]) == TSL_OK);
  for (int step = 0; step < 300; step++) {
    uint32_t rows[SEQUENCES];
    if (step % 40 == 39) {
      int k = step / 40 % 3;
      for (int i = k; i < SEQUENCES; i += 3) tsl_matcher_free(m[i]);
      tsl_grammar_release(g[k]);
      g[k] = compile(k == 2 ? other : v, schemas[tsl_test_random(&seed) % 3]);
      for (int i = k; i < SEQUENCES; i += 3) CHECK(tsl_matcher_new(g[k], NULL, &m[i]) == TSL_OK);
    }
    for (int i = 0; i < SEQUENCES; i++) {
      const uint32_t *fresh;
      CHECK(tsl_mask_table_row(t, m[i], &rows[i], &fresh) == TSL_OK && rows[i] < row_count);
      if (fresh) memcpy(device + rows[i] * words, fresh, words * 4);
      requests++;
    }
    /* all of them at the end of the step, as a device applies them */
    for (int i = 0; i < SEQUENCES; i++) {
      CHECK(tsl_matcher_mask(m[i], mask) == TSL_OK &&
            !memcmp(mask, device + rows[i] * words, words * 4));
      tsl_token token = draw(mask, tsl_vocab_logits_width(v), &seed);
      if (token == TSL_NO_TOKEN || tsl_matcher_accept(m[i], token) != TSL_OK ||
          tsl_matcher_is_terminated(m[i]))
        tsl_matcher_reset(m[i]);
    }
    tsl_mask_table_step(t);
  }
  tsl_mask_table_get_stats(t, &s);
  CHECK(s.hits + s.copies == requests && s.copies == s.evictions + s.rows &&
        (s.evictions == 0 || s.rows == row_count));
  CHECK(row_count > ROWS || s.evictions > 0);
  CHECKF(s.hits > s.copies, "%llu of %llu", (unsigned long long)s.hits,
         (unsigned long long)requests);
  for (int i = 0; i < SEQUENCES; i++) tsl_matcher_free(m[i]);
  tsl_mask_table_free(t);
  for (int k = 0; k < 3; k++) tsl_grammar_release(g[k]);
  tsl_vocab_release(v);
  tsl_vocab_release(other);
  free(device);
  free(mask);
}

static void mirrored(void) {
  mirror_of(SEQUENCES);
  mirror_of(ROWS);
  mirror_of(1000);
}

static void too_few_rows(void) {
  tsl_vocab *v = NULL;
  tsl_mask_table *t = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  CHECK(tsl_mask_table_new(v, 0, NULL, &t) == TSL_ERR_ARGUMENT && !t);
  CHECK(tsl_mask_table_new(v, TSL_MAX_MASK_ROWS + 1, NULL, &t) == TSL_ERR_ARGUMENT && !t);
  CHECK(tsl_mask_table_new(v, 1, NULL, &t) == TSL_OK);
  tsl_grammar *g = compile(v, "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}");
  tsl_matcher *one = NULL, *other = NULL;
  uint32_t row;
  const uint32_t *fresh;
  CHECK(tsl_matcher_new(g, NULL, &one) == TSL_OK && tsl_matcher_fork(one, &other) == TSL_OK &&
        tsl_matcher_accept_bytes(other, "[", 1, NULL) == TSL_OK);
  CHECK(tsl_mask_table_row(t, one, &row, &fresh) == TSL_OK && row == 0 && fresh);
  CHECK(tsl_mask_table_row(t, one, &row, &fresh) == TSL_OK && row == 0 && !fresh);
  /* the row is in use in this step */
  CHECK(tsl_mask_table_row(t, other, &row, &fresh) == TSL_ERR_LIMIT);
  tsl_mask_table_step(t);
  CHECK(tsl_mask_table_row(t, other, &row, &fresh) == TSL_OK && row == 0 && fresh);
  tsl_matcher_free(one);
  tsl_matcher_free(other);
  tsl_mask_table_free(t);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

int main(void) {
  RUN(mirrored, "a mirror has the right masks");
  RUN(too_few_rows, "rows in use, arguments");
  return tsl_test_end();
}
