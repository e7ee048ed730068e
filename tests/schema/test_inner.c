/* test_inner.c - JSON texts in strings that satisfy a schema of their own (compiler/schema/inner/).
 * Random schemas, beside a judge that reads the string, and then the text in it.
 *
 * Masks are compared with the oracle's along texts that are drawn, and none is a dead end. A text
 * in a string in a text is judged level by level, each level by a validator that knows nothing of
 * contentSchema. Texts that are made and changed at random must be accepted just if they are valid.
 * A budget must lead every text to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/oracle.h"
#include "tests/judges/validator.h"
#include "tests/support/draw.h"

#define TEXT_MAX 4096u
#define STEPS 40u
#define LEVELS 3u

static tsl_vocab *vocab;
static uint64_t seed = 20281130;
static unsigned long compared, drawn, valid, invalid, ended, refused;
static unsigned levels;                /* of texts: 2 is a text in a text */
static char schemas[LEVELS][TEXT_MAX]; /* each without contentSchema */
static char schema[LEVELS * TEXT_MAX]; /* all together */

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }
#define COUNT(list) (unsigned)(sizeof(list) / sizeof *(list))

/* ---- schemas --------------------------------------------------------------------------------- */

static const char *const values[] = {
    "true",
    "{\"type\":\"integer\",\"minimum\":3,\"maximum\":40}",
    "{\"type\":\"string\"}",
    "{\"type\":\"string\",\"maxLength\":2}",
    "{\"type\":[\"string\",\"null\"],\"pattern\":\"^[a\\\\\\\\\\\"é]*$\"}",
    "{\"enum\":[\"a\\\"b\",\"\\\\\",\"é\\n\",1,null,[1]]}",
    "{\"type\":\"array\",\"items\":{\"type\":[\"boolean\",\"string\"]},\"maxItems\":3}",
    "{\"type\":\"array\",\"prefixItems\":[{\"const\":1}],\"contains\":{\"type\":\"string\"}}",
    "{\"type\":\"object\",\"properties\":{\"q\\\"\":{\"type\":\"number\"},\"r\":{}}}",
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
    "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"object\",\"required\":[\"t\"]}]}",
    "{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"}},\"required\":[\"k\"]"
    "},"
    "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"b\"},\"n\":{\"type\":\"null\"}},"
    "\"required\":[\"k\"],\"additionalProperties\":false}]}",
    "{\"$ref\":\"#/$defs/tree\"}",
    "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[\"x\",2,\"\\\"\"]}}",
    "{\"type\":\"object\",\"patternProperties\":{\"^a\":{\"type\":\"integer\"}},\"maxProperties\":"
    "2}",
    "{\"type\":\"object\",\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]}}",
    "{\"not\":{\"type\":[\"string\",\"object\"]}}"};

static const char defs[] =
    "\"$defs\":{\"tree\":{\"type\":[\"object\",\"integer\"],\"properties\":{\"l\":{\"$ref\":"
    "\"#/$defs/tree\"},\"r\":{\"$ref\":\"#/$defs/tree\"}},\"additionalProperties\":false}}";

/* One level: an object with the member "in", which holds the next level, and some others. Or a
 * value, if it is the last one. */
static void make_level(char *to, bool last) {
  static const char *const rest[] = {"", ",\"additionalProperties\":false",
                                     ",\"additionalProperties\":{\"type\":\"string\"}"};
  if (last && below(2)) {
    const char *value = values[below(COUNT(values))];
    sprintf(to, "%s", value[0] == '{' ? value + 1 : "\"title\":\"any\"}");
    to[strlen(to) - 1] = 0;
  } else {
    to += sprintf(to, "\"type\":\"object\",\"properties\":{");
    for (unsigned i = 0, n = below(3); i < n; i++)
      to += sprintf(to, "\"%s\":%s,", i ? "b" : "a", values[below(COUNT(values))]);
    sprintf(to, "\"in\":{\"type\":[\"string\",\"boolean\"]}}%s%s", rest[below(COUNT(rest))],
            below(2) ? ",\"required\":[\"in\"]" : "");
  }
}

/* The levels inside one another: "in" of each has the next one for its contentSchema. */
static void make_schema(void) {
  static const char in[] = "\"in\":{";
  char *to = schema + sprintf(schema, "{%s,", defs);
  char body[TEXT_MAX], *at;
  levels = 2 + below(LEVELS - 1);
  unsigned open = 0;
  char rests[LEVELS][TEXT_MAX];
  for (unsigned i = 0; i < levels; i++) {
    make_level(body, i + 1 == levels);
    sprintf(schemas[i], "{%s,%s}", defs, body);
    at = i + 1 < levels ? strstr(body, in) : NULL;
    if (!at) {
      to += sprintf(to, "%s", body);
      continue;
    }
    sprintf(rests[open++], "},%s", at + strlen(in));
    *at = 0;
    to +=
        sprintf(to, "%s%s\"contentMediaType\":\"application/json\",\"contentSchema\":{", body, in);
  }
  while (open) to += sprintf(to, "%s", rests[--open]);
  sprintf(to, "}");
}

/* ---- the judge ------------------------------------------------------------------------------- */

/* Level by level. A name that comes twice is judged by nobody. */
static verdict judge(const char *text, size_t n, unsigned level) {
  static json_document documents[LEVELS];
  json_document *d = &documents[level];
  if (!json_document_read(d, text, n)) return d->full ? NO_VERDICT : INVALID;
  if (d->repeated || d->odd) return NO_VERDICT;
  verdict v = validator_judge_texts(schemas[level], strlen(schemas[level]), text, n);
  const json_value *root = &d->value[0],
                   *in = root->kind == JSON_OBJECT ? json_member(root, "in") : NULL;
  if (v != VALID || level + 1 == levels || !in || in->kind != JSON_STRING) return v;
  return judge(in->text, in->text_n, level + 1);
}

/* ---- masks ----------------------------------------------------------------------------------- */

static tsl_grammar *grammar(bool generous) {
  const tsl_schema_options options = {.order = below(2) ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA,
                                      .whitespace = (tsl_whitespace)below(4),
                                      .whitespace_max = 2,
                                      .indent = 1,
                                      .spelling = below(2) ? TSL_SPELLING_ANY : TSL_SPELLING_PLAIN,
                                      .assert_content = true,
                                      .generous = generous,
                                      .repeated_names = true};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &g, &error);
  bool known = status == TSL_OK || status == TSL_ERR_UNSUPPORTED;
  CHECKF(known && (g || error.pointer[0]), "%s: %s", schema, error.message);
  refused += status == TSL_ERR_UNSUPPORTED;
  return g;
}

static void judge_drawn(const tsl_matcher *m, const char *text) {
  if (!tsl_matcher_is_complete(m)) return;
  verdict v = judge(text, strlen(text), 0);
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
  CHECK(mine && naive && tsl_matcher_new(g, NULL, &m) == TSL_OK);
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

static void random_masks(void) {
  for (unsigned i = 0; i < ROUNDS_OF(60u); i++) {
    make_schema();
    tsl_grammar *g = grammar(false);
    for (unsigned k = 0; g && k < 2; k++) follow(g, STEPS);
    tsl_grammar_release(g);
  }
  printf("  %lu masks compared, %lu whole texts judged, %lu schemas refused\n", compared, drawn,
         refused);
  CHECK(compared > 20 && drawn > 5);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The text as a JSON string, each character spelled in one of its ways. */
static size_t put_string(char *to, const char *text, size_t n) {
  char *at = to;
  *at++ = '"';
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < ' ' || (c < 0x80 && below(30) == 0))
      at += sprintf(at, "\\u%04x", c);
    else if (c == '"' || c == '\\')
      at += sprintf(at, "\\%c", c);
    else
      *at++ = (char)c;
  }
  *at++ = '"';
  *at = 0;
  return (size_t)(at - to);
}

/* A value for the last level, or for another member. */
static const char *const texts[] = {"1",
                                    "7",
                                    "\"\"",
                                    "\"a\\\"b\"",
                                    "\"\\\\\"",
                                    "null",
                                    "true",
                                    "[1]",
                                    "[1, \"x\"]",
                                    "[\"x\",2]",
                                    "[2,2]",
                                    "[true,\"\\u00e9\"]",
                                    "{}",
                                    "{\"q\\\"\":1}",
                                    "{\"q\\\"\":\"\"}",
                                    "{\"t\":0}",
                                    "{\"k\":\"a\",\"n\":1}",
                                    "{\"k\":\"b\",\"n\":null}",
                                    "{\"k\":\"b\",\"n\":1}",
                                    "{\"l\":{\"r\":3},\"r\":4}",
                                    "{\"l\":\"\"}",
                                    "{\"a\":1}",
                                    "{\"a\":1,\"b\":\"\"}",
                                    "{\"in\":\"\"}",
                                    "{\"in\":true}",
                                    "1.5e1",
                                    " [ ]\n"};

static void put_level(char *to, unsigned level) {
  char inner[TEXT_MAX * 4], *begin = to;
  if (level + 1 == levels) {
    sprintf(to, "%s", texts[below(COUNT(texts))]);
    return;
  }
  to += sprintf(to, "{");
  for (unsigned i = 0; i < 2; i++)
    if (!below(3)) to += sprintf(to, "\"%s\":%s,", i ? "b" : "a", texts[below(COUNT(texts))]);
  put_level(inner, level + 1);
  to += sprintf(to, "\"%sn\": ", below(4) ? "i" : "\\u0069");
  to += put_string(to, inner, strlen(inner));
  sprintf(to, "%s}", below(5) ? "" : ",\"z\":\"\"");
  if (!below(4)) begin[below((unsigned)strlen(begin))] = "\\\"{}[],:1a"[below(10)];
}

static void judge_made(tsl_grammar *g, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    char text[TEXT_MAX * 8];
    put_level(text, 0);
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    bool accepted = tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
                    tsl_matcher_is_complete(m);
    verdict v = judge(text, strlen(text), 0);
    if (v != NO_VERDICT)
      CHECKF(accepted == (v == VALID), "%s: %s is %s", schema, text,
             accepted ? "accepted" : "refused");
    valid += v == VALID;
    invalid += v == INVALID;
    tsl_matcher_free(m);
  }
}

static void random_verdicts(void) {
  for (unsigned i = 0; i < ROUNDS_OF(150u); i++) {
    make_schema();
    tsl_grammar *g = grammar(true);
    if (g) judge_made(g, 40);
    tsl_grammar_release(g);
  }
  printf("  %lu texts valid, %lu not\n", valid, invalid);
  CHECK(valid > 20 && invalid > 20);
}

/* ---- budgets --------------------------------------------------------------------------------- */

/* One text under a budget that just suffices at times: no mask is empty before the end. */
static void end_in_time(tsl_grammar *g, tsl_budget *b, uint64_t left) {
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4);
  tsl_matcher *m = NULL;
  CHECK(mask && tsl_matcher_new(g, NULL, &m) == TSL_OK);
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
    make_schema();
    tsl_grammar *g = grammar(false);
    tsl_budget *b = NULL;
    if (g && tsl_budget_new(g, NULL, &b) == TSL_OK)
      for (unsigned k = 0; k < 6; k++) end_in_time(g, b, 3 + below(60));
    tsl_budget_free(b);
    tsl_grammar_release(g);
  }
  printf("  %lu texts ended in time\n", ended);
  CHECK(ended > 10);
}

int main(void) {
  tsl_error error;
  CHECK(tsl_vocab_embedded(NULL, &vocab, &error) == TSL_OK);
  RUN(random_masks, "texts in strings: masks, and every text that is drawn");
  RUN(random_verdicts, "the same texts, right and wrong");
  RUN(budgets, "the same in a number of tokens");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
