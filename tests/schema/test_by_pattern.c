/* test_by_pattern.c - extra keys whose value is chosen by the patterns that match
 * (compiler/schema/keys/by_pattern.c, compiler/expr/kinds/cases.c): random schemas.
 *
 * Masks are compared with the oracle's along texts that are drawn, and none is a dead end. The
 * validator judges what was drawn, and objects of random names and values, which the engine must
 * accept just if they are valid. A budget must lead every text to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/oracle.h"
#include "tests/judges/validator.h"
#include "tests/support/draw.h"

#define TEXT_MAX 2048u
#define STEPS 24u

static tsl_vocab *vocab;
static uint64_t seed = 20281129;
static unsigned long compared, drawn, valid, invalid, ended;
static char schema[4096];

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

static const char *const patterns[] = {"foo",    "bar",    "a",        "z$", "[0-9]",  "^x",
                                       "^[a-m]", "o{2,3}", "b.r",      "é",  "^.{3}$", "(ab)+",
                                       "fo|ba",  "[^a-z]", "\\\\\\\"", "o$"};
static const char *const values[] = {"true",
                                     "{\"minLength\":2}",
                                     "{\"maxLength\":5}",
                                     "{\"type\":[\"string\",\"integer\"]}",
                                     "{\"type\":[\"integer\",\"string\",\"null\"],\"minimum\":3}",
                                     "{\"pattern\":\"a\"}",
                                     "{\"not\":{\"const\":5}}",
                                     "{\"maxProperties\":1}"};
static const char *const others[] = {"true", "false", "{\"type\":\"integer\"}",
                                     "{\"const\":\"q\"}"};
#define COUNT(list) (unsigned)(sizeof(list) / sizeof *(list))

/* Three to nine patterns, and members with names of their own. */
static void make_schema(void) {
  char *to = schema + sprintf(schema, "{\"type\":\"object\",\"patternProperties\":{");
  unsigned first = below(COUNT(patterns)), n = 3 + below(7);
  for (unsigned i = 0; i < n; i++)
    to += sprintf(to, "%s\"%s\":%s", i ? "," : "", patterns[(first + i) % COUNT(patterns)],
                  values[below(COUNT(values))]);
  to += sprintf(to, "},\"additionalProperties\":%s", others[below(COUNT(others))]);
  if (below(2)) {
    to += sprintf(to, ",\"properties\":{\"foo\":{\"type\":\"integer\"},\"k\":true}");
    if (below(2)) to += sprintf(to, ",\"required\":[\"k\"]");
  }
  sprintf(to, "}");
}

static void judge_drawn(const tsl_matcher *m, const char *text) {
  if (!tsl_matcher_is_complete(m)) return;
  verdict v = validator_judge_texts(schema, strlen(schema), text, strlen(text));
  CHECKF(v != INVALID, "%s allows %s", schema, text);
  drawn += v == VALID;
}

/* A text, and the oracle's mask at every step. */
static void follow(tsl_grammar *g, unsigned steps) {
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mine = malloc(words * 4), *naive = malloc(words * 4);
  char text[TEXT_MAX] = "";
  tsl_matcher *m = NULL;
  oracle o;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  oracle_begin(&o, g->space, g->start);
  for (unsigned i = 0; i < steps && !o.overflow; i++) {
    CHECK(tsl_matcher_mask(m, mine) == TSL_OK);
    tsl__space_begin(g->space);
    oracle_mask(&o, naive);
    if (o.overflow) break;
    bool same = !memcmp(mine, naive, words * 4);
    CHECKF(same, "%s: after %s", schema, text);
    compared++;
    tsl_token t = draw(mine, tsl_vocab_logits_width(vocab), &seed);
    CHECKF(t != TSL_NO_TOKEN, "%s: a dead end after %s", schema, text);
    if (!same || t == TSL_NO_TOKEN || tsl_vocab_is_eog(vocab, t)) break;
    if (!take_and_keep(m, t, text, sizeof text)) break;
    CHECK(oracle_token(&o, t));
    judge_drawn(m, text);
  }
  oracle_free(&o);
  tsl_matcher_free(m);
  free(mine);
  free(naive);
}

/* Objects of names that some patterns match, and values that satisfy some of them. */
static void put_object(char *to) {
  static const char *const keys[] = {"foo",       "bar",   "foobar", "xz", "7", "k",
                                     "abab",      "bOr",   "fooo",   "é",  "w", "q9z",
                                     "\\u0066oo", "a\\\"", "zzz",    ""};
  static const char *const texts[] = {"1",    "5",  "\"q\"", "\"abc\"", "\"abcdefg\"",
                                      "null", "{}", "2.5",   "\"\"",    "[]"};
  to += sprintf(to, "{");
  unsigned n = 1 + below(2), key = below(COUNT(keys));
  for (unsigned i = 0; i < n; i++)
    to += sprintf(to, "%s\"%s\":%s", i ? "," : "", keys[(key + 3 * i) % COUNT(keys)],
                  texts[below(COUNT(texts))]);
  sprintf(to, "}");
}

static void judge_objects(tsl_grammar *g, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    char text[TEXT_MAX];
    put_object(text);
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    bool accepted = tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
                    tsl_matcher_is_complete(m);
    verdict v = validator_judge_texts(schema, strlen(schema), text, strlen(text));
    if (v != NO_VERDICT)
      CHECKF(accepted == (v == VALID), "%s: %s is %s", schema, text,
             accepted ? "accepted" : "refused");
    valid += v == VALID;
    invalid += v == INVALID;
    tsl_matcher_free(m);
  }
}

static void random_schemas(void) {
  /* where too few patterns overlap, names are compared, of which the oracle knows nothing */
  const tsl_schema_options options = {
      .order = TSL_ORDER_ANY, .spelling = TSL_SPELLING_ANY, .repeated_names = true};
  for (unsigned i = 0; i < ROUNDS_OF(60u); i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    make_schema();
    tsl_status status =
        tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &g, &error);
    CHECKF(status == TSL_OK, "%s: %s", schema, error.message);
    if (!g) continue;
    follow(g, STEPS);
    judge_objects(g, 40);
    tsl_grammar_release(g);
  }
  printf("  %lu masks compared, %lu texts drawn, objects: %lu valid, %lu not\n", compared, drawn,
         valid, invalid);
  CHECK(compared > 20 && valid > 20 && invalid > 20);
}

/* One text under a budget that just suffices at times: no mask is empty before the end. */
static void end_in_time(tsl_grammar *g, tsl_budget *b, uint64_t left) {
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4);
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  if (tsl_budget_start(b, m, left, NULL) == TSL_OK) {
    for (; left && !tsl_matcher_is_terminated(m); left--) {
      tsl_status status = tsl_budget_mask(b, m, left, mask);
      tsl_token t =
          status == TSL_OK ? draw(mask, tsl_vocab_logits_width(vocab), &seed) : TSL_NO_TOKEN;
      CHECKF(t != TSL_NO_TOKEN, "%s: %s with %u left", schema, tsl_status_name(status),
             (unsigned)left);
      if (t == TSL_NO_TOKEN || tsl_matcher_accept(m, t) != TSL_OK) break;
    }
    bool over = tsl_matcher_is_terminated(m) || tsl_matcher_is_complete(m);
    CHECKF(over, "%s: the tokens are used, and the text has not ended", schema);
    ended += over;
  }
  tsl_matcher_free(m);
  free(mask);
}

static void budgets(void) {
  for (unsigned i = 0; i < ROUNDS_OF(30u); i++) {
    tsl_grammar *g = NULL;
    tsl_budget *b = NULL;
    tsl_error error = {0};
    make_schema();
    tsl_status status =
        tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error);
    CHECKF(status == TSL_OK, "%s: %s", schema, error.message);
    if (g && tsl_budget_new(g, NULL, &b) == TSL_OK)
      for (unsigned k = 0; k < 8; k++) end_in_time(g, b, 3 + below(40));
    tsl_budget_free(b);
    tsl_grammar_release(g);
  }
  printf("  %lu texts ended in time\n", ended);
  CHECK(ended > 10);
}

int main(void) {
  tsl_error error;
  CHECK(tsl_vocab_embedded(NULL, &vocab, &error) == TSL_OK);
  RUN(random_schemas, "patterns that choose the value: masks, verdicts, no dead end");
  RUN(budgets, "the same in a number of tokens");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
