/* test_budget.c - texts end in time. There are 500 random schemas × random budgets from the minimum
 * up. The fewest tokens are compared with breadth-first search on small vocabularies (single bytes
 * missing, tokens named). Also tested: what is said below the minimum, winding down, allocations
 * that fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <math.h>

#include "runtime/matcher/grammar.h"
#include "tests/support/text.h"
#include "tests/support/toy.h"
#include "tests/support/nth_token.h"

static uint64_t seed = 11;
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

/* ---- random schemas -------------------------------------------------------------------------- */

static void schema(struct text *t, unsigned depth);

static void leaf(struct text *t) {
  static const char *const fixed[] = {
      "{\"type\":\"boolean\"}",
      "{\"type\":\"null\"}",
      "{\"type\":\"number\"}",
      "{\"type\":\"string\",\"format\":\"date\"}",
      "{\"type\":\"string\",\"pattern\":\"^[a-z]{3}-[0-9]{2,4}$\"}",
      "{\"enum\":[\"alpha\",\"beta\",\"international\",12345,null,{\"k\":[1,2]}]}",
      "{\"const\":\"a fixed text with several words in it\"}",
      "{\"type\":\"string\",\"format\":\"uuid\"}",
      "true",
      "{\"type\":\"string\",\"pattern\":\"(foo|quux)+$\"}",
      "{\"type\":\"integer\",\"multipleOf\":7,\"minimum\":1000}"};
  unsigned kind = below(14);
  if (kind < 11)
    text_add(t, fixed[kind]);
  else if (kind == 11) {
    unsigned low = below(30);
    text_add(t, "{\"type\":\"string\",\"minLength\":");
    text_add_number(t, low);
    text_add(t, ",\"maxLength\":");
    text_add_number(t, low + below(40));
    text_add(t, "}");
  } else {
    unsigned low = below(1000);
    text_add(t, "{\"type\":\"integer\",\"minimum\":");
    text_add_number(t, low);
    text_add(t, ",\"maximum\":");
    text_add_number(t, low + below(100000));
    text_add(t, "}");
  }
}

static void object(struct text *t, unsigned depth) {
  static const char *const names[] = {
      "id", "name", "description", "x", "tags", "a longer name of a member", "\\u00e9t\\u00e9"};
  unsigned count = 1 + below(5);
  bool comma = false;
  text_add(t, "{\"type\":\"object\",\"properties\":{");
  for (unsigned i = 0; i < count; i++) {
    text_add(t, i ? ",\"" : "\"");
    text_add(t, names[i]);
    text_add(t, "\":");
    schema(t, depth - 1);
  }
  text_add(t, "},\"required\":[");
  for (unsigned i = 0; i < count; i++) {
    if (below(2)) continue;
    text_add(t, comma ? ",\"" : "\"");
    text_add(t, names[i]);
    text_add(t, "\"");
    comma = true;
  }
  text_add(t, "]");
  static const char *const others[] = {
      ",\"additionalProperties\":false}", "}",
      ",\"additionalProperties\":{\"type\":\"string\",\"minLength\":9}}", ",\"minProperties\":3}",
      ",\"patternProperties\":{\"^p_[a-z]{4}\":{\"type\":\"integer\"}},\"minProperties\":2}"};
  text_add(t, others[below(5)]);
}

static void schema(struct text *t, unsigned depth) {
  unsigned kind = depth ? below(8) : 7;
  if (kind < 3)
    object(t, depth);
  else if (kind < 5) {
    text_add(t, "{\"type\":\"array\",\"items\":");
    schema(t, depth - 1);
    unsigned low = below(4);
    text_add(t, ",\"minItems\":");
    text_add_number(t, low);
    text_add(t, ",\"maxItems\":");
    text_add_number(t, low + below(9));
    text_add(t, "}");
  } else if (kind == 5) {
    text_add(t, "{\"anyOf\":[");
    schema(t, depth - 1);
    text_add(t, ",");
    schema(t, depth - 1);
    text_add(t, "]}");
  } else if (kind == 6) {
    text_add(t, "{\"$ref\":\"#/$defs/tree\"}");
  } else
    leaf(t);
}

static void root_schema(struct text *t) {
  t->n = 0;
  text_add(
      t,
      "{\"$defs\":{\"tree\":{\"type\":\"object\",\"properties\":{\"label\":{\"type\":\"string\"},"
      "\"kids\":{\"type\":\"array\",\"items\":"
      "{\"$ref\":\"#/$defs/"
      "tree\"}}},\"required\":[\"label\",\"kids\"],\"additionalProperties\":false}},\"allOf\":[");
  schema(t, 3);
  text_add(t, "]}");
}

/* ---- generation ------------------------------------------------------------------------------ */

/* A random allowed token; TSL_NO_TOKEN if there is none. Now and then the longest of some. */
static tsl_token pick(const tsl_vocab *v, const uint32_t *mask) {
  uint32_t count = (uint32_t)tsl_mask_count(mask, tsl_vocab_logits_width(v));
  return count ? nth_token(mask, below(count)) : TSL_NO_TOKEN;
}

static char spelled[1 << 20];

/* One text of at most `max` tokens, drawn under masks or by asking for each token. True if it is
 * complete in the end. */
static bool write_text(tsl_grammar *g, tsl_budget *b, tsl_matcher *m, uint64_t max, bool masks) {
  tsl_vocab *v = tsl_grammar_vocab(g);
  uint32_t *mask = malloc(tsl_vocab_mask_words(v) * sizeof *mask);
  size_t length = 0, accepted = 0;
  bool fine = true;
  tsl_matcher_reset(m);
  while (fine && !tsl_matcher_is_terminated(m)) {
    uint64_t left = max - accepted;
    fine = (masks ? tsl_budget_mask(b, m, left, mask) : tsl_matcher_mask(m, mask)) == TSL_OK;
    tsl_token t = pick(v, mask);
    if (!masks && t != TSL_NO_TOKEN && tsl_budget_allows(b, m, left, t) == TSL_REJECTED) {
      fine = fine && tsl_budget_mask(b, m, left, mask) == TSL_OK && !tsl_mask_has(mask, t);
      t = pick(v, mask);
    }
    if (t == TSL_NO_TOKEN) break;
    fine = fine && tsl_budget_allows(b, m, left, t) == TSL_OK && tsl_matcher_accept(m, t) == TSL_OK;
    if (tsl_vocab_is_eog(v, t)) break;
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(v, t, &n);
    memcpy(spelled + length, bytes, n);
    length += n;
    accepted++;
  }
  free(mask);
  return fine && tsl_matcher_is_complete(m) && accepted <= max;
}

static uint64_t minimum(tsl_budget *b, tsl_matcher *m) {
  size_t count = 0;
  tsl_matcher_reset(m);
  CHECK(tsl_budget_completion(b, m, NULL, 0, &count) == TSL_OK);
  return count;
}

static unsigned long texts_written, tokens_written, tokens_allowed, refusals;

/* Below the minimum: a status and a number at the start. From the minimum up: always complete. */
static void check_schema(tsl_vocab *v, const char *s, unsigned texts) {
  tsl_grammar *g = toy_schema(v, s);
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  tsl_error e = {0};
  if (!g) return;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  uint64_t least = minimum(b, m);
  /* the plan is an upper bound */
  while (least && tsl_budget_start(b, m, least - 1, &e) == TSL_OK) least--;
  refusals += least > 0;
  if (least) CHECKF(e.status == TSL_ERR_LIMIT && strstr(e.message, "tokens"), "%s", e.message);
  CHECK(tsl_budget_start(b, m, least, &e) == TSL_OK);
  for (unsigned i = 0; i < texts; i++) {
    uint64_t max = least + (i ? below(i % 2 ? 12 : 80) : 0);
    bool masks = i % 3 == 0;
    CHECKF(write_text(g, b, m, max, masks), "%s\n  budget %llu (least %llu), %s", s,
           (unsigned long long)max, (unsigned long long)least, masks ? "masks" : "single");
    texts_written++;
    tokens_written += tsl_matcher_history(m);
    tokens_allowed += max;
  }
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

static void schemas(void) {
  static struct text t;
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (unsigned i = 0; i < ROUNDS_OF(500u); i++) {
    seed = 1000 + i;
    if (!tsl_test_turn(i, 4)) continue;
    root_schema(&t);
    check_schema(v, t.at, 6);
  }
  printf("       %lu texts of at most %lu tokens in all: %lu were written; %lu budgets below the "
         "minimum refused\n",
         texts_written, tokens_allowed, tokens_written, refusals);
  tsl_vocab_release(v);
}

/* ---- small vocabularies: the truth by trying everything -------------------------------------- */

/* Can the text end with at most `depth` more tokens? */
static bool can_end(tsl_matcher *m, const tsl_vocab *v, uint32_t depth) {
  uint32_t mask[8];
  if (tsl_matcher_is_complete(m)) return true;
  if (depth == 0 || tsl_matcher_mask(m, mask) != TSL_OK) return false;
  for (tsl_token t = 0; t < tsl_vocab_size(v); t++) {
    if (!tsl_mask_has(mask, t) || tsl_vocab_is_eog(v, t) || tsl_matcher_accept(m, t) != TSL_OK)
      continue;
    bool ends = can_end(m, v, depth - 1);
    tsl_matcher_rollback(m, 1);
    if (ends) return true;
  }
  return false;
}

#define DEPTH 7u

/* With one token left, those that end the text are allowed and no others. */
static void compare_last(tsl_vocab *v, tsl_budget *b, tsl_matcher *m) {
  uint32_t mask[8];
  CHECK(tsl_budget_mask(b, m, 1, mask) == TSL_OK);
  for (tsl_token t = 0; t < tsl_vocab_size(v); t++) {
    if (tsl_vocab_is_eog(v, t)) continue;
    bool accepted = tsl_matcher_accept(m, t) == TSL_OK,
         ends = accepted && tsl_matcher_is_complete(m);
    CHECK(!accepted || tsl_matcher_rollback(m, 1) == TSL_OK);
    CHECKF(tsl_mask_has(mask, t) == ends && (tsl_budget_allows(b, m, 1, t) == TSL_OK) == ends,
           "token %u is the last one: %d", (unsigned)t, ends);
  }
}

/* The budget's answers, from every prefix of random texts, are those of trying everything. */
static void compare(tsl_vocab *v, tsl_grammar *g) {
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  tsl_error e = {0};
  uint32_t mask[8];
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  for (int round = 0; round < ROUNDS_OF(20); round++) {
    tsl_matcher_reset(m);
    for (int step = 0; step < 8; step++) {
      uint32_t least = 0;
      while (least <= DEPTH && !can_end(m, v, least)) least++;
      for (uint32_t max = 0; max <= DEPTH; max++)
        CHECKF((tsl_budget_start(b, m, max, &e) == TSL_OK) == (max >= least), "budget %u, least %u",
               max, least);
      size_t count = 0;
      tsl_token way[64];
      tsl_status status = tsl_budget_completion(b, m, way, 64, &count);
      if (least <= DEPTH)
        CHECKF(status == TSL_OK && count == least, "%zu tokens, least %u", count, least);
      for (size_t i = 0; status == TSL_OK && i < count; i++)
        CHECK(tsl_matcher_accept(m, way[i]) == TSL_OK);
      if (status == TSL_OK)
        CHECK(tsl_matcher_is_complete(m) && tsl_matcher_rollback(m, count) == TSL_OK);
      compare_last(v, b, m);
      if (tsl_matcher_mask(m, mask) != TSL_OK) break;
      tsl_token t = pick(v, mask);
      if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(v, t) || tsl_matcher_accept(m, t) != TSL_OK) break;
    }
  }
  tsl_budget_free(b);
  tsl_matcher_free(m);
}

static void small_vocabularies(void) {
  static const char *const whole[] = {"a", "b", "c", "ab", "abc", "ca", "bb", "cc", "</s>"};
  /* no b and no c on their own */
  static const char *const gaps[] = {"ab", "bc", "ca", "a", "cab", "bcb", "</s>"};
  static const char *const grammars[] = {"root ::= \"abc\" | \"cabbc\"",
                                         "root ::= \"a\" (\"bc\" | \"c\")* \"a\"",
                                         "root ::= x x x\nx ::= \"ab\" | \"ca\" | \"b\"",
                                         "root ::= \"a\" root \"c\" | \"b\"",
                                         "root ::= [abc]{5,9}",
                                         "root ::= (\"ab\"|\"c\"){3} \"ca\"",
                                         "root ::= \"abcab\" [a-c]* \"bcb\""};
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++)
    for (int k = 0; k < 2; k++) {
      tsl_vocab *v = k ? toy_vocab(gaps, 7, true) : toy_vocab(whole, 9, true);
      tsl_grammar *g = toy_gbnf(v, grammars[i]);
      compare(v, g);
      tsl_grammar_release(g);
      tsl_vocab_release(v);
    }
}

/* Tokens that a grammar names: nothing in bytes stands for them. */
static void named_tokens(void) {
  static const char *const tokens[] = {"a", "b", "ab", "<x>", "<y>", "</s>"};
  static const char *const grammars[] = {"root ::= \"a\" <[3]> \"b\" (<[4]> | \"abab\")",
                                         "root ::= (<[3]> | \"ab\")+ <[4]>",
                                         "root ::= !<[3]>* <[3]> \"ab\"",
                                         /* after the a, a b ends the text as a token, and begins
                                          * bab as its spelling */
                                         "root ::= \"a\" (\"bab\" | <[1]> | <[3]>)"};
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
    tsl_vocab *v = toy_vocab(tokens, 6, true);
    tsl_grammar *g = toy_gbnf(v, grammars[i]);
    if (g) compare(v, g);
    tsl_grammar_release(g);
    tsl_vocab_release(v);
  }
}

static void no_way_out(void) {
  static const char *const tokens[] = {"a", "ab", "</s>"};
  tsl_vocab *v = toy_vocab(tokens, 3, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"abc\"");
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  tsl_error e = {0};
  size_t count = 1;
  uint32_t mask[1];
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  CHECK(tsl_budget_start(b, m, 100, &e) == TSL_ERR_LIMIT && e.status == TSL_ERR_LIMIT);
  CHECKF(
      !strcmp(e.message, "no text of at most 100 tokens of this vocabulary satisfies the grammar"),
      "%s", e.message);
  CHECK(tsl_budget_completion(b, m, NULL, 0, &count) == TSL_ERR_LIMIT && count == 0);
  CHECK(tsl_matcher_mask(m, mask) == TSL_OK && mask[0] == 3);
  CHECK(tsl_budget_mask(b, m, 100, mask) == TSL_OK && mask[0] == 0);
  CHECK(tsl_budget_allows(b, m, 100, 1) == TSL_REJECTED &&
        tsl_budget_allows(b, m, 100, 3) == TSL_ERR_ARGUMENT);
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* ---- what masks cost ------------------------------------------------------------------------- */

/* Steps of a first mask at a position where many tokens are allowed and several frames are open.
 * Bytes from a position are followed once, not for every token that has them. */
static void steps_of_masks(void) {
  static const struct {
    const char *grammar, *text;
  } rows[] = {
      {"root ::= e\ne ::= e o e | [a-z]+ | [0-9]+ | \"(\" e \")\" | \"f(\" e (\",\" e)* \")\"\no "
       "::= \" \"? [-+*/] \" \"?",
       "a+(b*f(c,d-e"},
      {"root ::= s\ns ::= a | \"(\" w (s (v s)*)? w \")\" | \"'\" s\na ::= [a-z+*/<>=!?-]+ | "
       "[0-9]+ | \"\\\"\" [^\"]* \"\\\"\"\nw ::= [ \\n\\t]*\nv ::= [ \\n\\t]+",
       "(a (b (c"},
      {"root ::= r (\"\\n\" r)*\nr ::= c (\",\" c)*\nc ::= [^\",\\n]* | \"\\\"\" ([^\"] | "
       "\"\\\"\\\"\")* \"\\\"\"",
       "a,b"},
  };
  tsl_vocab *v = NULL;
  uint32_t mask[4096 / 32];
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; v && i < sizeof rows / sizeof *rows; i++) {
    tsl_grammar *g = toy_gbnf(v, rows[i].grammar);
    tsl_matcher *m = NULL;
    tsl_budget *b = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
    CHECK(tsl_matcher_accept_bytes(m, rows[i].text, strlen(rows[i].text), NULL) == TSL_OK &&
          tsl_matcher_mask(m, mask) == TSL_OK);
    uint64_t before = tsl__space_steps(g->space);
    CHECK(tsl_budget_mask(b, m, 10, mask) == TSL_OK && tsl_mask_count(mask, 4096) > 100);
    uint64_t steps = tsl__space_steps(g->space) - before;
    CHECKF(steps <= 3000, "row %zu: %llu steps", i, (unsigned long long)steps);
    tsl_budget_free(b);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* ---- winding down ---------------------------------------------------------------------------- */

static void winding_down(void) {
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  tsl_grammar *g = toy_schema(v, "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  size_t width = tsl_vocab_logits_width(v);
  float *logits = calloc(width, sizeof *logits);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  CHECK(tsl_matcher_accept_bytes(m, "[\"a", 3, NULL) == TSL_OK);
  CHECK(tsl_budget_wind_down(b, m, 5, 10, 6, logits) == TSL_OK);
  size_t changed = 0;
  for (size_t i = 0; i < width; i++) changed += logits[i] != 0;
  CHECK(changed == 0); /* inside a string */
  CHECK(tsl_matcher_accept_bytes(m, "\"", 1, NULL) == TSL_OK);
  CHECK(tsl_budget_wind_down(b, m, 11, 10, 6, logits) == TSL_OK);
  for (size_t i = 0; i < width; i++) changed += logits[i] != 0;
  CHECK(changed == 0); /* before the soft limit */
  CHECK(tsl_budget_wind_down(b, m, 6, 10, 6, logits) == TSL_OK);
  tsl_token close = TSL_NO_TOKEN, comma = TSL_NO_TOKEN;
  for (tsl_token t = 0; t < tsl_vocab_size(v); t++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(v, t, &n);
    if (n == 1 && bytes[0] == ']') close = t;
    if (n == 1 && bytes[0] == ',') comma = t;
  }
  CHECK(close != TSL_NO_TOKEN && comma != TSL_NO_TOKEN && logits[close] == 3.0f &&
        logits[comma] == 0);
  for (int i = 0; i < 3; i++)
    CHECK(tsl_budget_wind_down(b, m, 6, 10, (float[]){NAN, INFINITY, -INFINITY}[i], logits) ==
              TSL_ERR_ARGUMENT &&
          logits[close] == 3.0f);
  logits[close] = 0;
  /* at the soft limit */
  CHECK(tsl_budget_wind_down(b, m, 10, 10, 10, logits) == TSL_OK && logits[close] == 1.0f);
  CHECK(tsl_matcher_accept(m, close) == TSL_OK &&
        tsl_budget_wind_down(b, m, 1, 10, 6, logits) == TSL_OK);
  uint32_t count;
  const tsl_token *eog = tsl_vocab_eog(v, &count);
  for (uint32_t i = 0; i < count; i++) CHECK(logits[eog[i]] == 6.0f);
  free(logits);
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* A token that is accepted by its name; and logits are as they were where memory did not last. */
static void winding_named(void) {
  static const char *const tokens[] = {"a", "b", "<x>", "</s>"};
  tsl_vocab *v = toy_vocab(tokens, 4, true);
  bool done = false;
  for (long nth = 0; nth < 400 && !done; nth++) {
    failing f = {LONG_MAX, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_grammar *g = toy_gbnf(v, "root ::= <[2]> | \"aaaa\" | \"ba\"");
    tsl_matcher *m = NULL;
    tsl_budget *b = NULL;
    float logits[4] = {0};
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, &a, &b) == TSL_OK);
    f.left = nth;
    done = tsl_budget_wind_down(b, m, 5, 10, 10, logits) == TSL_OK && !failing_failed(&f);
    CHECKF(logits[0] == 0 && logits[1] == logits[2] && logits[2] == (done ? 6 : 0) &&
               logits[3] == 0,
           "%g %g %g %g", logits[0], logits[1], logits[2], logits[3]);
    tsl_budget_free(b);
    tsl_matcher_free(m);
    CHECK(f.held == 0);
    tsl_grammar_release(g);
  }
  CHECK(done);
  tsl_vocab_release(v);
}

/* Where the last token that counts has left a character unfinished, what the matcher refuses is
 * refused. */
static void counted_text(void) {
  static const char *const tokens[] = {"\xC3", "\xA9", "\xA9xyz", "E", "N", "D", "</s>"};
  static const char text[] = "{\"type\":\"sequence\",\"elements\":[{\"type\":\"any_text\",\"max_"
                             "tokens\":1},{\"type\":\"const_string\",\"value\":\"END\"}]}";
  tsl_vocab *v = toy_vocab(tokens, 7, true);
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  uint32_t plain, mask;
  CHECK(tsl_grammar_tags(v, text, sizeof text - 1, NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK &&
        tsl_matcher_accept(m, 0) == TSL_OK);
  for (int k = 0; k < 2; k++) {
    CHECK(tsl_matcher_mask(m, &plain) == TSL_OK && plain == 2 &&
          tsl_budget_mask(b, m, 20, &mask) == TSL_OK && mask == 2);
    for (tsl_token t = 0; t < 7; t++) CHECK((tsl_budget_allows(b, m, 20, t) == TSL_OK) == (t == 1));
  }
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* One deadline for all of a call, however many pieces its work has. */
static void deadlines(void) {
  static const char text[] =
      "{\"type\":\"string\",\"minLength\":3000,\"pattern\":\"^([a-z]+ )*$\"}";
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  size_t count;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  CHECK(tsl_grammar_json_schema(v, text, sizeof text - 1, &(tsl_schema_options){.lazy = true}, NULL,
                                &g, NULL) == TSL_OK);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  g->space->work.deadline_us = 1000; /* the compile had all the time it took */
  CHECK(tsl_budget_completion(b, m, NULL, 0, &count) == TSL_ERR_CANCELLED);
  g->space->work.deadline_us = 0;
  /* what is missing from each place on the way is looked for once, not from each anew: else a
   * limit */
  CHECK(tsl_budget_completion(b, m, NULL, 0, &count) == TSL_OK && count > 1000);
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void every_allocation_fails(void) {
  static const char *const tokens[] = {"a", "b", "c", "ab", "abc", "ca", "bb", "cc", "</s>"};
  tsl_vocab *v = toy_vocab(tokens, 9, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"a\" root \"c\" | \"b\" [abc]{3,20} \"a\"");
  bool done = false;
  for (long nth = 0; nth < 400 && !done; nth++) {
    failing f = {nth, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_matcher *m = NULL;
    tsl_budget *b = NULL;
    uint32_t mask[1];
    size_t count;
    tsl_status status = tsl_matcher_new(g, NULL, &m);
    CHECK(status == TSL_OK);
    status = tsl_budget_new(g, &a, &b);
    if (status == TSL_OK) status = tsl_budget_start(b, m, 2, NULL);
    if (status == TSL_OK || status == TSL_ERR_LIMIT) status = tsl_budget_mask(b, m, 9, mask);
    if (status == TSL_OK) status = tsl_budget_mask(b, m, 3, mask);
    if (status == TSL_OK) status = tsl_budget_completion(b, m, NULL, 0, &count);
    CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "%s", tsl_status_name(status));
    done = status == TSL_OK && !failing_failed(&f);
    tsl_budget_free(b);
    tsl_matcher_free(m);
    CHECK(f.held == 0);
  }
  CHECK(done);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* A budget that failed once, and one that did not, are the same along the way. */
static void same_way(tsl_vocab *v, tsl_grammar *g, tsl_budget *once, tsl_budget *never, long nth) {
  tsl_matcher *m = NULL;
  tsl_token way[2][16];
  size_t n[2] = {0};
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (;;) {
    uint32_t mask[2] = {0};
    CHECK(tsl_budget_completion(once, m, way[0], 16, &n[0]) == TSL_OK &&
          tsl_budget_completion(never, m, way[1], 16, &n[1]) == TSL_OK);
    CHECKF(n[0] == n[1] && !memcmp(way[0], way[1], n[0] * sizeof *way[0]),
           "after failure %ld: %zu tokens, %zu", nth, n[0], n[1]);
    if (n[0] == 0 || n[0] != n[1]) break;
    for (uint64_t left = n[0]; left < n[0] + 3; left++) {
      CHECK(tsl_budget_mask(once, m, left, &mask[0]) == TSL_OK &&
            tsl_budget_mask(never, m, left, &mask[1]) == TSL_OK);
      CHECKF(mask[0] == mask[1] && mask[0], "after failure %ld: mask %x, %x", nth, mask[0],
             mask[1]);
      for (tsl_token t = 0; t < tsl_vocab_size(v); t++)
        CHECK((tsl_budget_allows(once, m, left, t) == TSL_OK) == tsl_mask_has(mask, t));
    }
    CHECK(tsl_matcher_accept(m, way[0][0]) == TSL_OK);
  }
  CHECK(tsl_matcher_is_complete(m));
  tsl_matcher_free(m);
}

/* What a call could not find for want of memory, it finds when it is called again. */
static void requested_again(void) {
  static const char *const gaps[] = {"a", "ab", "</s>"}, *const named[] = {"a",   "b",   "ab",
                                                                           "<x>", "<y>", "</s>"};
  /* no token spells what takes the fewest bytes */
  static const char *const grammars[] = {"root ::= \"aa\" (\"x\" | \"abab\")",
                                         "root ::= \"a\" <[3]> \"b\" (<[4]> | \"abab\")",
                                         "root ::= (<[3]> | \"ab\")+ <[4]>"};
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
    tsl_vocab *v = i ? toy_vocab(named, 6, true) : toy_vocab(gaps, 3, true);
    bool done = false;
    for (long nth = 0; nth < 400 && !done; nth++) {
      failing f = {LONG_MAX, 0};
      tsl_allocator a = failing_allocator(&f);
      tsl_grammar *g = toy_gbnf(v, grammars[i]);
      tsl_matcher *m = NULL;
      tsl_budget *once = NULL, *never = NULL;
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, &a, &once) == TSL_OK &&
            tsl_budget_new(g, NULL, &never) == TSL_OK);
      f.left = nth;
      done = tsl_budget_start(once, m, 5, NULL) == TSL_OK && !failing_failed(&f);
      f.left = LONG_MAX;
      CHECKF(tsl_budget_start(once, m, 5, NULL) == TSL_OK &&
                 tsl_budget_start(never, m, 5, NULL) == TSL_OK,
             "after failure %ld", nth);
      same_way(v, g, once, never, nth);
      tsl_budget_free(once);
      tsl_budget_free(never);
      tsl_matcher_free(m);
      tsl_grammar_release(g);
    }
    CHECK(done);
    tsl_vocab_release(v);
  }
}

/* Landings forget names, so that a plan from there may use one again; what is left must suffice for
 * other names, which may be longer. */
static void names_that_differ(void) {
  static const char *const rows[] = {
      "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^(a|q[0-9]{20})$\"},\"minProperties\":"
      "3,\"additionalProperties\":{\"type\":\"integer\"}}",
      "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^(|a|q[0-9]{20})$\"},"
      "\"minProperties\":4,\"additionalProperties\":{\"type\":\"integer\"}}",
      "{\"type\":\"object\",\"patternProperties\":{\"^a$\":{\"type\":\"integer\"},\"^b\":{\"type\":"
      "\"string\",\"minLength\":40}},\"minProperties\":2,\"additionalProperties\":false}",
      "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"}},\"additionalProperties\":"
      "{\"type\":\"string\",\"minLength\":30},\"minProperties\":2}",
      "{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"object\",\"propertyNames\":{"
      "\"pattern\":\"^(a|z{9})$\"},\"minProperties\":2}}",
  };
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; v && i < sizeof rows / sizeof *rows; i++)
    check_schema(v, rows[i], ROUNDS_OF(80u));
  tsl_vocab_release(v);
}

int main(void) {
  RUN(small_vocabularies, "the fewest tokens, bytes missing");
  RUN(named_tokens, "tokens that a grammar names");
  RUN(no_way_out, "a vocabulary that cannot spell it");
  RUN(names_that_differ, "names that must differ");
  RUN(steps_of_masks, "what masks cost");
  RUN(winding_down, "closing is preferred, not in strings");
  RUN(winding_named, "tokens by name; all or nothing");
  RUN(counted_text, "where tokens of a text are counted");
  RUN(deadlines, "a deadline for all of a call");
  RUN(every_allocation_fails, "every nth allocation fails");
  RUN(requested_again, "and is requested again");
  RUN(schemas, "random schemas, random budgets");
  return tsl_test_end();
}
