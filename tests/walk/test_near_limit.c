/* test_near_limit.c - masks near the limits of a text's length, where tokens are longer than what
 * is left.
 *
 * The vocabulary has long tokens, of up to 90 characters: words, runs, quotes, escapes, two-byte
 * characters. Schemas have a pattern and a length. Along random texts each mask must allow just the
 * tokens that can be accepted one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"
#include "turnstile.h"

#define TOKENS 1500u
#define LONGEST 90u
#define STEPS 40

static tsl_vocab *vocab;
static size_t words;

/* Single bytes first, then tokens of one kind or a mixture. */
static void make_vocab(uint64_t *seed) {
  static uint8_t bytes[TOKENS * 2 * (LONGEST + 8)];
  static uint32_t offsets[TOKENS + 1];
  static uint8_t special[TOKENS];
  static const char *const pieces[] = {"a",        "b",   "1",       " ",  "-",
                                       "\xC3\xA9", "\\n", "\\u0061", "\"", ", "};
  uint32_t n = 0;
  for (uint32_t t = 0; t < TOKENS; t++) {
    offsets[t] = n;
    if (t < 256) {
      bytes[n++] = (uint8_t)t;
      continue;
    }
    if (t == 256) { /* ends a generation */
      special[t] = 1;
      memcpy(bytes + n, "<end>", 5);
      n += 5;
      continue;
    }
    uint64_t kind = tsl_test_random(seed) % 6, end = tsl_test_random(seed) % 15;
    uint32_t length = 1 + (uint32_t)(tsl_test_random(seed) % LONGEST), begin = n;
    while (n - begin < length) {
      uint64_t r = tsl_test_random(seed) % 100;
      const char *piece = kind < 2   ? pieces[kind ? 3 : 0]
                          : kind < 5 ? pieces[r < 80   ? r % 4
                                              : r < 97 ? 4 + r % 2
                                                       : 6 + r % 4]
                                     : pieces[r < 90 ? r % 2 : 3];
      memcpy(bytes + n, piece, strlen(piece));
      n += (uint32_t)strlen(piece);
    }
    static const char *const ends[] = {"\"]", "\",\"", "\", \"ab\"]",
                                       "\"}"}; /* out of the string */
    if (end >= sizeof ends / sizeof *ends) continue;
    memcpy(bytes + n, ends[end], strlen(ends[end]));
    n += (uint32_t)strlen(ends[end]);
  }
  offsets[TOKENS] = n;
  const tsl_token end = 256;
  tsl_vocab_desc desc = {bytes, offsets, TOKENS, 0, special, &end, 1};
  tsl_error error = {0};
  CHECKF(tsl_vocab_new(&desc, NULL, &vocab, &error) == TSL_OK, "%s", error.message);
  if (vocab) words = tsl_vocab_mask_words(vocab);
}

static unsigned long number; /* of a text, or of a mask */
static bool its_turn(void) { return tsl_test_turn(number++, TURN_OF(3, 6)); }

/* Along random texts of a schema, or of a regular expression, which begins with ^. */
static void follow(const char *schema, uint64_t seed) {
  if (!its_turn()) return;
  tsl_grammar *g = grammar_of(vocab, schema);
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(words * sizeof *mask);
  char text[STEPS * 4 * (LONGEST + 8) + 1] = "";
  CHECK(mask && g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int step = 0; m && mask && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK, "%s step %d", schema, step);
    bool right = mask_is_right(m, mask, schema, text);
    CHECK(right);
    tsl_token t = right ? draw(mask, words * 32, &seed) : TSL_NO_TOKEN, quote = '"';
    size_t n;
    if (t == TSL_NO_TOKEN) break;
    if (step < 6 && t == quote && step && tsl_mask_has(mask, 'a')) t = 'a'; /* stay in the string */
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    strncat(text, (const char *)bytes, n);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

static void near_the_length(void) {
  static const char *const patterns[] = {"^(\\\\S+\\\\s+){0,5}\\\\S+$",
                                         "^(\\\\S+\\\\s+){0,49}\\\\S+$",
                                         "^[a-z ]*$",
                                         "^a.*b$",
                                         "^(?:[ab]+ )*1{3}$",
                                         "^.{3,}\\\\u00e9$",
                                         "^[^1]*1[^1]*$",
                                         "a1",
                                         "^(?:ab|\\\\S \\\\S)*$"};
  char schema[200];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    for (unsigned most = 18; most <= 130; most += 28) {
      snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\",\"maxLength\":%u}",
               patterns[i], most);
      for (uint64_t seed = 0; seed < ROUNDS_OF(2u); seed++) follow(schema, seed * 77 + most);
    }
}

/* With each length that may be left: a long token may close the text with its last byte, which is
 * none of its characters. */
static void all_that_is_left(void) {
  static const char *const patterns[] = {"^(\\\\S+\\\\s+){0,49}\\\\S+$", "^[a-z ]*$", "^.{3,}1*$",
                                         "^(?:a|b+1)*$"};
  uint32_t *mask = malloc(words * sizeof *mask);
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    char schema[200], text[202] = "\"";
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\",\"maxLength\":100}",
             patterns[i]);
    CHECK(mask &&
          tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, NULL) == TSL_OK &&
          tsl_matcher_new(g, NULL, &m) == TSL_OK);
    CHECK(tsl_matcher_accept(m, '"') == TSL_OK);
    for (int n = 0; n <= 100 && m; n++) {
      if (its_turn())
        CHECK(tsl_matcher_mask(m, mask) == TSL_OK && mask_is_right(m, mask, schema, text));
      CHECK(n == 100 || tsl_matcher_accept(m, 'a') == TSL_OK);
      text[1 + n] = 'a';
    }
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  free(mask);
}

/* The same of texts that are no JSON strings: what must, or must not, be in them. */
static void near_the_length_of_a_text(void) {
  static const char *const patterns[] = {"^(?!.*ab).{0,%u}$",
                                         "^(?!.*(?:aba|1-))[^\n]{0,%u}$",
                                         "^(?=.*1)[ab1 ]{0,%u}$",
                                         "^(?=.*-.*1)(?!.*aa).{1,%u}$",
                                         "^(?!(?s:.*)b{9})(?s:.){0,%u}$",
                                         "^(?!.*ab)(?=.{0,%u}$).*b$",
                                         "^(?=[ab ]{0,%u}$)(?:[ab]+ ?)*$",
                                         "^(?!.*\xC3\xA9)(?=.*b$).{2,%u}$",
                                         "^(?=.{0,%u}$)(?=.{0,40}$)(?!.*bb).*$",
                                         "^(?!.*ab).{9,%u}$",
                                         "^(?!.*ab)(?=.*1).{16,%u}$",
                                         "^(?=.*-)[ab1 -]{12,%u}$",
                                         "^(?=.*[a1])(?=.*-)(?=.*[b ]).{8,%u}$",
                                         "^(?:.{1,9}){1,%u}$",
                                         "^[ab1 -]{0,%u}[ab ]{1,30}$",
                                         "^(?:[ab1 -]{0,40}-){3}[ab1 -]{0,%u}1$",
                                         "^(?:[ab ]{1,%u}){2}(?:ba|[ab ]{3,20}b)$",
                                         "^(?:.{0,3}Ã©){4}.{0,%u}b$",
                                         "^(?=.*ab)(?=.*b1)(?=.*Ã©).{0,%u}$",
                                         "^(?=.*[a ])(?=.*1)(?=.*b)(?!.*--)[ab1 -]{3,%u}$",
                                         "^(?=.*1b1)(?=.{4,})(?=.*ab1)(?=.*-).{2,%u}$",
                                         "^(?=.{7,%u}$)(?!.*bb)(?:a|b ?)*$",
                                         "^(?=[ab ]{0,%u}$)[^1]{0,70}$",
                                         "^(?=[^1]{0,70}$)[ab ]{0,%u}$",
                                         "^(?=[ab ]{0,%u}$)(?=[^1]{0,70}$)(?:[ab]+ ?)*$",
                                         "^.{1,%u}[a-z ]{1,40}$",
                                         "^.{0,9}[a-z ]{0,%u}[^1]{1,20}$",
                                         "^[^1]{2,%u}.{1,30}[a-z]{9,40}$",
                                         "^(?:[a-z ]{1,20}-?){1,%u}$",
                                         "^(?:[a-z ]{2,12}[-1]){1,%u}$",
                                         "^(?:(?:[a-z]{1,%u}| 1)[ -]?){3,9}1$",
                                         "^(?:[^1]{1,9}(?:1|-1)?){2,%u}$",
                                         "^(?:.{0,%u}1|[ab]{0,20}-.{0,90}b)$",
                                         "^(?:[ab]{0,%u}b|-[ab]{0,45}b)$",
                                         "^[a-z]{3,%u}b1?$",
                                         "^(?:.{0,20}-){2}.{0,%u}ab$"};
  char pattern[200];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    for (unsigned most = 17; most <= 130; most += 28) {
      snprintf(pattern, sizeof pattern, patterns[i], most);
      for (uint64_t seed = 0; seed < ROUNDS_OF(2u); seed++) follow(pattern, seed * 13 + most);
    }
}

/* Few letters: that no more of them may come is known. Classes overlap, and stand beside others. */
static void few_letters(void) {
  static const char *const patterns[] = {"^(?:[a-z ]{1,8}-?){1,%u}$",
                                         "^(?:[a-z]{1,3}[ -]?){1,%u}1?$",
                                         "^(?:[a-z ]{2,7}1?){2,%u}$",
                                         "^(?:[a-z]{1,6} ?){1,%u}$",
                                         "^(?: [a-z]{1,%u}){1,3}-$",
                                         "^[a-z ]{0,%u}-?[a-z]{1,9}$",
                                         "^(?:[a-z]{1,%u}|[b-y1]{2,4})-?[a-z ]{1,5}$",
                                         "^(?:[a-z]{3}-?){1,%u}[ab ]{0,20}$",
                                         "^(?:[^1]{1,3}1?){1,%u}$",
                                         "^.{1,%u}[a-z ]{1,40}$",
                                         "^[ab ]{2,%u}.{3}[a-z ]{2,9}$",
                                         "^(?:-?[a-z]{1,%u}(?:ab)?){1,2}$",
                                         "^(?:(?:a[a-z ]{0,4}){0,%u}-?){1,3}b$"};
  char pattern[200];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    for (unsigned most = 2; most <= 14; most += 3) {
      snprintf(pattern, sizeof pattern, patterns[i], most);
      for (uint64_t seed = 0; seed < ROUNDS_OF(3u); seed++) follow(pattern, seed * 17 + most);
    }
}

/* Text within a tag, which a length, texts that it must not have and the tag's end bound. */
static void near_the_length_of_a_tag(void) {
  static const char *const ends[] = {"\"end\":\"1\"}", "\"end\":\"b-\"}",
                                     "\"end\":\"\\n\"},{\"type\":\"any_text\"}"};
  static const char *const excludes[] = {"", ",\"excludes\":[\"ab\"]",
                                         ",\"excludes\":[\"1-\",\"aab\",\"--\"]"};
  char tag[400];
  for (size_t i = 0; i < 9; i++)
    for (unsigned most = 18; most <= 130; most += 28) {
      snprintf(tag, sizeof tag,
               "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\",\"elements\":["
               "{\"type\":\"tag\",\"begin\":\"a\",\"content\":{\"type\":\"any_text\","
               "\"max_chars\":%u%s},%s]}}",
               most, excludes[i / 3], ends[i % 3]);
      for (uint64_t seed = 0; seed < ROUNDS_OF(2u); seed++) follow(tag, seed * 17 + most);
    }
}

/* As items: a token may leave the string too late for its length, and go on. */
static void near_the_length_of_an_item(void) {
  static const char *const patterns[] = {"^(\\\\S+\\\\s+){0,9}\\\\S+$", "^[a-z ]*$", "^a.*b$",
                                         "^[^1]*1[^1]*$", "a1"};
  char schema[200];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    for (unsigned most = 17; most <= 80; most += 21) {
      snprintf(schema, sizeof schema,
               "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"%s\","
               "\"maxLength\":%u}}",
               patterns[i], most);
      for (uint64_t seed = 0; seed < ROUNDS_OF(2u); seed++) follow(schema, seed * 31 + most);
    }
}

static void length_alone(void) {
  static const char *const schemas[] = {
      "{\"type\":\"string\",\"maxLength\":50}",
      "{\"type\":\"string\",\"minLength\":40,\"maxLength\":60}",
      "{\"type\":\"string\",\"pattern\":\"^[ab]{20,70}$\"}",
      "{\"type\":\"string\",\"maxLength\":64,\"not\":{\"pattern\":\"1{4}\"}}",
      "{\"type\":\"string\",\"minLength\":2,\"maxLength\":40,"
      "\"not\":{\"enum\":[\"ab\",\"b1a\",\"aaaa\"]}}",
      "{\"type\":\"string\",\"minLength\":12,\"maxLength\":30,"
      "\"not\":{\"enum\":[\"abababababab\",\"b1\"]}}",
      "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":30},\"maxItems\":4}",
      "{\"type\":\"object\",\"patternProperties\":{\"^a{1,40}$\":true},\"additionalProperties\":"
      "false}"};
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
    for (uint64_t seed = 0; seed < ROUNDS_OF(4u); seed++) follow(schemas[i], seed + 5);
}

/* All strings but those of a pattern: what spells one of these in full is removed. */
static void all_but_a_pattern(void) {
  static const char *const patterns[] = {"^[ab][ab1]?$", "^(?:a{1,30}|[b1]{2})$", "^[ab]{1,40}$",
                                         "^a[^1]*b$"};
  char schema[200];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    snprintf(schema, sizeof schema,
             "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"not\":{\"pattern\":\"%s\"}}}",
             patterns[i]);
    for (uint64_t seed = 0; seed < ROUNDS_OF(6u); seed++) follow(schema, seed + 40);
  }
}

/* Near the limit of a group, where most long tokens are known from a few repetitions. */
static void near_the_count(void) {
  static const char *const patterns[] = {
      "^(\\\\S+\\\\s+){0,%u}\\\\S+$", "^$|^(?:\\\\S+\\\\s+){2,%u}\\\\S+$",
      "^(?:[^ ]{1,40} ){0,%u}1?$",    "^(?:(?:a|b+1)-?){0,%u}$",
      "^(?:([ab]+ ){0,12}1){0,%u}$",  "^(?!.*ab).{2,%u}$",
      "^(?=.*1)[ab1 ]{0,%u}$",        "^(?!.*(?:a1|\\u00e9))(?=.*-)[^b]{5,%u}$",
      "^.{1,%u}[a-z ]{1,40}$",        "^(?:[a-z ]{1,20}-?){1,%u}$"};
  char pattern[100], schema[200];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    for (unsigned most = 9; most <= 60; most += 17) {
      snprintf(pattern, sizeof pattern, patterns[i], most);
      snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\"}", pattern);
      for (uint64_t seed = 0; seed < ROUNDS_OF(2u); seed++) follow(schema, seed * 91 + most);
    }
}

/* Far from the least that a loop needs, and near it; runs of a search, of which the longest alone
 * is followed. */
static void near_the_least(void) {
  static const char *const patterns[] = {"[ab]{%u}",       "^[ab ]{%u,}$",       "-[ab]{%u,}1",
                                         "(?:a[ab]?){%u}", "^(?:[ab]{%u,} ?)+$", "[ab]{%u}.*b{9}",
                                         "^(?!.*[ab]{%u})"};
  char pattern[100], schema[200];
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    for (unsigned least = 9; least <= 129; least += 40) {
      snprintf(pattern, sizeof pattern, patterns[i], least);
      snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\"}", pattern);
      for (uint64_t seed = 0; seed < ROUNDS_OF(2u); seed++) follow(schema, seed * 57 + least);
    }
}

int main(void) {
  uint64_t seed = 2024;
  make_vocab(&seed);
  if (!vocab) return tsl_test_end();
  RUN(near_the_length, "a pattern and a length");
  RUN(all_that_is_left, "each length that may be left");
  RUN(near_the_length_of_a_text, "the same in any text");
  RUN(few_letters, "small counts within counts");
  RUN(near_the_length_of_a_tag, "the same within a tag");
  RUN(near_the_length_of_an_item, "the same in an array");
  RUN(length_alone, "lengths without a pattern");
  RUN(near_the_least, "the least number of iterations");
  RUN(all_but_a_pattern, "all strings but those of a pattern");
  RUN(near_the_count, "groups that may be repeated so often");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
