/* test_distinct_tokens.c - tokens that spell several items or members: each bit of a mask is what
 * trying the token gives.
 *
 *   pieces             random vocabularies of JSON's pieces: masks against forks
 *   items in tokens    a token that holds a whole item, after texts that have the item or not
 *   different strings  two strings that differ, each in all of its spellings
 *   pairs              characters of two escapes, which differ in the last digit
 *   single file        a loop of one byte: the number of texts is its length
 *   digits             numbers and strings, in a vocabulary of all digits in ones, twos and threes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/repeats.h"
#include "tests/support/distinct.h"
#include "tests/support/distinct_walked.h"
#include "tests/support/accepted.h"
#include "tests/support/take.h"

/* Every byte, and tokens of two to seven pieces of JSON: whole items, several of them, names and
 * what comes after. */
#define PIECES_TOKENS 900u

static tsl_vocab *vocab_of_pieces(uint64_t *seed) {
  static const char *const pieces[] = {
      "[",     "[",     "]",      "{",      "}",       ",",  ",",  ",",  ":",    "\"",   "a",
      "b",     "1",     "1",      "2",      "0",       "-1", ".5", "e1", "true", "null", "\"a\"",
      "\"a\"", "\"b\"", "\"a\":", "\"b\":", "\\u0061", " ",  "\n", "[]", "{}"};
  static const char *const values[] = {"1",  "\"a\"", "true",      "[]",
                                       "{}", "[1]",   "{\"a\":1}", "[[1],{\"a\":[]}]"},
                           *const forms[] = {"[%s,%s", "[%s,%s]", "[ %s , %s,", "{\"a\":[%s,%s",
                                             "[0,[%s,%s]"};
  enum { VALUES = sizeof values / sizeof *values, FORMED = VALUES * sizeof forms / sizeof *forms };
  static uint8_t bytes[256 + PIECES_TOKENS * 7 * 6];
  static uint32_t offsets[256 + PIECES_TOKENS + 1];
  uint32_t n = 0;
  for (uint32_t t = 0; t < 256 + PIECES_TOKENS; t++) {
    offsets[t] = n;
    if (t < 256) bytes[n++] = (uint8_t)t;
    /* the same item twice */
    if (t >= 256 && t < 256 + FORMED)
      n += (uint32_t)snprintf((char *)bytes + n, 42, forms[(t - 256) / VALUES], values[t % VALUES],
                              values[t % VALUES]);
    for (uint32_t left = t < 256 + FORMED ? 0 : 2 + (uint32_t)(tsl_test_random(seed) % 6); left > 0;
         left--) {
      const char *piece = pieces[tsl_test_random(seed) % (sizeof pieces / sizeof *pieces)];
      memcpy(bytes + n, piece, strlen(piece));
      n += (uint32_t)strlen(piece);
    }
  }
  offsets[256 + PIECES_TOKENS] = n;
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 256 + PIECES_TOKENS};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK);
  return v;
}

/* Where tokens hold more than one item or member: each mask has just what is accepted. */
static void test_pieces(void) {
  static const char *const more[] = {
      "true",
      "{\"type\":\"array\",\"uniqueItems\":true}",
      "{\"properties\":{\"a\":{\"uniqueItems\":true},\"b\":{\"maxItems\":2}}}",
      "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[1,2,\"a\",\"b\",[],{},true]}}",
      "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"array\",\"uniqueItems\":true,"
      "\"items\":{\"enum\":[1,\"a\",null]}}}",
      "{\"type\":\"object\",\"propertyNames\":{\"enum\":[\"a\",\"b\",\"ab\"]},\"minProperties\":2}",
      "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[ab]{1,"
      "2}$\"}}}"};
  const size_t n = sizeof walked / sizeof *walked, all = n + sizeof more / sizeof *more;
  uint64_t seed = 77;
  tsl_vocab *embedded = vocab;
  uint32_t mask[(256 + PIECES_TOKENS) / 32 + 1];
  if (!(vocab = vocab_of_pieces(&seed))) return;
  for (size_t i = 0; i < all; i++) {
    const char *schema = i < n ? walked[i] : more[i - n];
    tsl_grammar *g = compile(schema, i % 3 ? TSL_WS_ANY : TSL_WS_COMPACT);
    for (int round = 0; g && round < 6; round++) {
      tsl_matcher *m = NULL;
      char text[2000] = "";
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
      for (int step = 0; m && step < 10; step++) {
        CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
        CHECK(mask_is_right(m, mask, schema, text));
        tsl_token t = draw(mask, 256 + PIECES_TOKENS, &seed);
        if (t == TSL_NO_TOKEN) break;
        if (tsl_mask_has(mask, '[') && step == 0) t = '[';
        if (tsl_mask_has(mask, ',') && tsl_test_random(&seed) % 2) t = ',';
        if (!take_and_keep(m, t, text, sizeof text)) break;
      }
      tsl_matcher_free(m);
    }
    tsl_grammar_release(g);
  }
  tsl_vocab_release(vocab);
  vocab = embedded;
}

/* Tokens in which whole items are spelled. Whether they repeat one, depends on the text. So each
 * mask is looked at after those of other texts. */
static void test_items_in_tokens(void) {
  static const char *const tokens[] = {"\",\"",
                                       "\",\"\",\"",
                                       "\",\"\",",
                                       "a\",\"\",",
                                       "\",\"a\",\"",
                                       "\",\"a\"]",
                                       "\",\"\"]",
                                       "b\",\"a\",",
                                       "\",\"b\",\"a",
                                       "\", \"a\", \"",
                                       "\",{\"",
                                       "\",[\"a\"],\"",
                                       "a\"],[\"",
                                       "\"],[\"\"],[",
                                       "\",{\"a\":\"a\"},{\"",
                                       "\"},{\"a\":\"\"},{\"a\":\"",
                                       "a\"},{\"a\":\"a\"},"};
  static const struct {
    const char *schema, *texts[9];
  } rows[] = {
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\"}}",
       {"[\"b", "[\"", "[\"a", "[\"ab", "[\"c\",\"", "[\"c\",\"a", "[\"c\",\"b", "[\"\",\"ab"}},
      {"{\"type\":\"array\",\"uniqueItems\":true}",
       {"[\"b", "[\"", "[\"a", "[\"ab", "[[\"b", "[[\"", "[[\"a", "[[\"b\",\"a"}},
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"properties\":{\"a\":{\"type\":"
       "\"string\"}}}}",
       {"[{\"a\":\"b", "[{\"a\":\"", "[{\"a\":\"a", "[{\"a\":\"\"},{\"a\":\"b", "[[\"b", "[[\"",
        "[[\"a", "[\"b"}},
  };
  enum { TOKENS = sizeof tokens / sizeof *tokens };
  static uint8_t bytes[256 + TOKENS * 40];
  uint32_t offsets[256 + TOKENS + 1], n = 0, mask[(256 + TOKENS) / 32 + 1];
  tsl_vocab *embedded = vocab;
  for (uint32_t t = 0; t < 256 + TOKENS; t++) {
    offsets[t] = n;
    if (t < 256)
      bytes[n++] = (uint8_t)t;
    else
      n += (uint32_t)snprintf((char *)bytes + n, 40, "%s", tokens[t - 256]);
  }
  offsets[256 + TOKENS] = n;
  CHECK(tsl_vocab_new(&(tsl_vocab_desc){.bytes = bytes, .offsets = offsets, .size = 256 + TOKENS},
                      NULL, &vocab, NULL) == TSL_OK);
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
    for (unsigned first = 0; first < 8; first++) { /* which text is looked at first */
      tsl_grammar *g = compile(rows[i].schema, TSL_WS_ANY);
      for (unsigned k = 0; g && k < 8; k++) {
        const char *text = rows[i].texts[(first + k) % 8];
        tsl_matcher *m = NULL;
        CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
              tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
              tsl_matcher_mask(m, mask) == TSL_OK);
        CHECK(mask_is_right(m, mask, rows[i].schema, text));
        tsl_matcher_free(m);
      }
      tsl_grammar_release(g);
    }
  tsl_vocab_release(vocab);
  vocab = embedded;
}

/* Different strings in any spelling, some of which begin alike: never a repetition, whichever byte
 * one looks at. */
static void test_different_strings(void) {
  static const char *const strings[][5] = {{"\xF0\x9F\x98\x80", "\\ud83d\\ude00", "\\uD83D\\uDE00"},
                                           {"\xF0\x9F\x98\x81", "\\ud83d\\ude01", "\\uD83d\\uDe01"},
                                           {"\xC3\xA9", "\\u00e9", "\\u00E9"},
                                           {"\xC3\xA8", "\\u00e8"},
                                           {"\\u0010"},
                                           {"\\u001f", "\\u001F"},
                                           {"/", "\\/", "\\u002f", "\\u002F"},
                                           {"//", "\\/\\/", "/\\u002F", "\\u002f/"},
                                           {"a", "\\u0061"},
                                           {"ab", "\\u0061b", "a\\u0062"},
                                           {"\\\"", "\\u0022"},
                                           {"\\\\", "\\u005c", "\\u005C"},
                                           {"\\n", "\\u000a", "\\u000A"},
                                           {""},
                                           {"\\\\u1"},
                                           {"\\\\u2A", "\\u005cu2\\u0041"},
                                           {"\\\\u00e9"}};
  const unsigned n = sizeof strings / sizeof *strings;
  char schema[500] = "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[";
  uint64_t seed = 8;
  for (unsigned i = 0; i < n; i++)
    snprintf(schema + strlen(schema), sizeof schema - strlen(schema), "%s\"%s\"", i ? "," : "",
             strings[i][0]);
  strcat(schema, "]}}");
  tsl_grammar *g = compile(schema, TSL_WS_COMPACT);
  for (int round = 0; g && round < ROUNDS_OF(400); round++) {
    char text[600] = "[";
    unsigned used = 0, last = 0;
    for (unsigned items = 1 + (unsigned)(tsl_test_random(&seed) % n), i = 0; i < items; i++) {
      unsigned which = (unsigned)(tsl_test_random(&seed) % n), ways = 0;
      while (used >> which & 1u) which = (which + 1) % n;
      used |= 1u << which;
      while (ways < 5 && strings[which][ways]) ways++;
      last = which;
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"%s\"", i ? "," : "",
               strings[which][tsl_test_random(&seed) % ways]);
    }
    size_t length = strlen(text);
    strcat(text, "]");
    CHECKF(accepts(g, text), "%s", text);
    snprintf(text + length, sizeof text - length, ",\"%s\"]", strings[last][0]);
    CHECKF(!accepts(g, text), "%s", text);
  }
  tsl_grammar_release(g);
  /* what looks like an escape is none */
  g = compile(
      "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[\"\\\\u1\",\"\\\\u2\"]}}",
      TSL_WS_COMPACT);
  if (g)
    CHECK(accepts(g, "[\"\\\\u1\",\"\\\\u2\"]") && accepts(g, "[\"\\\\u2\",\"\\u005cu1\"]") &&
          !accepts(g, "[\"\\\\u1\",\"\\u005cu1\"]"));
  tsl_grammar_release(g);
}

/* What is spelled by two escapes, and could become a repetition until the last digit. Byte by byte,
 * each is among those that may come. */
static void test_pairs(void) {
  static const struct {
    const char *schema, *text;
  } cases[] = {
      {"{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[^a]$\"}}",
       "{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude01\":2,\"\\uD83D\\uDE02\":3}"},
      {"{\"type\":\"object\",\"propertyNames\":{\"maxLength\":1}}",
       "{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\ude01\":2,\"\\uD83D\\uDE02\":3}"},
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\",\"maxLength\":1}}",
       "[\"\xF0\x9F\x98\x80\",\"\\ud83d\\ude01\",\"\\uD83D\\uDE02\"]"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = compile(cases[i].schema, TSL_WS_COMPACT);
    tsl_matcher *m = NULL;
    CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (const char *at = cases[i].text; m && *at; at++) {
      uint32_t next[8] = {0};
      CHECKF(tsl_matcher_next_bytes(m, next) == TSL_OK &&
                 (next[(uint8_t)*at / 32] >> (uint8_t)*at % 32 & 1u),
             "%s before %s", cases[i].text, at);
      CHECK(tsl_matcher_accept_bytes(m, at, 1, NULL) == TSL_OK);
    }
    CHECK(m && tsl_matcher_is_complete(m));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* A long loop of a single byte has no more texts than it is long. Once all from some length on are
 * used, that length is a dead end. */
static void test_single_file(void) {
  tsl_grammar *g = compile("{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":"
                           "\"string\",\"pattern\":\"^a{0,40}$\"}}",
                           TSL_WS_COMPACT);
  tsl_matcher *m = NULL;
  char text[60] = "\"", *letters = memset(text + 1, 'a', 40);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "[", 1, NULL) == TSL_OK);
  for (int n = 40; m && n >= 8; n--) {
    strcpy(letters + n, "\",");
    CHECK(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK);
  }
  CHECK(m && tsl_matcher_accept_bytes(m, "\"aaaaaaa", 8, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_REJECTED &&
        tsl_matcher_accept_bytes(m, "\"]", 2, NULL) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Bytes, then all digits in ones, twos and threes, then what may stand around them. */
static tsl_vocab *vocab_of_digits(void) {
  static const char *const others[] = {",",  ", ", "]",   "],", "-",     ",-",   ".5",
                                       "e1", "0,", "12]", "\"", "\",\"", "0\",", "\"1"};
  enum { OTHERS = sizeof others / sizeof *others, SIZE = 256 + 1110 + OTHERS };
  static uint8_t bytes[256 + 1110 * 3 + OTHERS * 4];
  static uint32_t offsets[SIZE + 1];
  uint32_t n = 0;
  for (uint32_t t = 0; t < SIZE; t++) {
    int digits = t < 266 ? 1 : t < 366 ? 2 : 3;
    int number = (int)t - (t < 266 ? 256 : t < 366 ? 266 : 366);
    char text[8];
    offsets[t] = n;
    if (t < 256) bytes[n++] = (uint8_t)t;
    if (t < 256) continue;
    if (t < 256 + 1110)
      snprintf(text, sizeof text, "%0*d", digits, number);
    else
      snprintf(text, sizeof text, "%s", others[t - 256 - 1110]);
    memcpy(bytes + n, text, strlen(text));
    n += (uint32_t)strlen(text);
  }
  offsets[SIZE] = n;
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&(tsl_vocab_desc){.bytes = bytes, .offsets = offsets, .size = SIZE}, NULL, &v,
                      NULL) == TSL_OK);
  return v;
}

#define NUMBERS(text) "{\"type\":\"array\",\"uniqueItems\":true,\"items\":" text "}"

static void digits_of(const char *schema, tsl_spelling spelling, uint64_t *seed) {
  tsl_schema_options options = {.spelling = spelling, .whitespace = TSL_WS_COMPACT};
  static uint32_t mask[(256 + 1110 + 64) / 32];
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  char text[1200] = "[";
  CHECK(tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &g, NULL) ==
            TSL_OK &&
        tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_accept(m, '[') == TSL_OK);
  for (int step = 0; m && step < 40; step++) {
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    CHECK(mask_is_right(m, mask, schema, text));
    tsl_token t = draw(mask, tsl_vocab_size(vocab), seed);
    if (t == TSL_NO_TOKEN) break;
    if (tsl_mask_has(mask, ',') && tsl_test_random(seed) % 3) t = ',';
    if (tsl_mask_has(mask, '"') && tsl_test_random(seed) % 3) t = '"';
    /* few different ones, so that they begin alike */
    tsl_token few = (tsl_token)(256 + tsl_test_random(seed) % 3);
    if (tsl_mask_has(mask, few) && t != ',' && t != '"') t = few;
    if (!take_and_keep(m, t, text, sizeof text)) break;
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Masks of numbers and strings that must differ: with any number of digits, with many and few. */
static void test_digits(void) {
  static const char *const schemas[] = {
      NUMBERS("{\"type\":\"integer\"}"),
      NUMBERS("{\"type\":\"number\"}"),
      NUMBERS("{\"type\":\"integer\",\"minimum\":0,\"maximum\":120}"),
      NUMBERS("{\"type\":\"integer\",\"minimum\":-3,\"maximum\":1000000000000000}"),
      NUMBERS("{\"type\":\"integer\",\"multipleOf\":7}"),
      NUMBERS("{\"type\":\"number\",\"exclusiveMaximum\":1,\"minimum\":0}"),
      NUMBERS("{\"enum\":[0,1,2,10,100,101,20,21]}"),
      NUMBERS("{\"type\":\"integer\",\"minimum\":0,\"maximum\":9}"),
      NUMBERS("{\"type\":\"string\",\"pattern\":\"^[0-2]{1,2}$\"}"),
      NUMBERS("{\"type\":\"string\",\"pattern\":\"^[0-9]{1,3}$\"}"),
      NUMBERS("{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{12}$\"}"),
      NUMBERS("{\"type\":\"string\",\"pattern\":\"^0{1,9}(1|2)$\"}"),
      NUMBERS("{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}"),
      NUMBERS("{\"type\":[\"integer\",\"array\"],\"uniqueItems\":true}")};
  uint64_t seed = 4;
  tsl_vocab *embedded = vocab;
  if (!(vocab = vocab_of_digits())) return;
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
    for (uint64_t round = 0; round < ROUNDS_OF(4u); round++)
      digits_of(schemas[i], round % 2 ? TSL_SPELLING_ANY : TSL_SPELLING_PLAIN, &seed);
  tsl_vocab_release(vocab);
  vocab = embedded;
}

/* Digits of an exponent change no zero: nothing new can come of it. */
static void test_exponents(void) {
  static const struct {
    const char *text;
    bool goes_on;
  } rows[] = {{"[0,0", true},     {"[0e3,0e", false}, {"[0,-0E", false}, {"[0,[0,0e1", false},
              {"[[0,0e1", false}, {"[0,0.1e1", true}, {"[10,1e", true},  {"[0,[0,1e", true}};
  static const char schema[] = NUMBERS("{\"type\":[\"integer\",\"array\"],\"uniqueItems\":true,"
                                       "\"items\":{\"type\":\"integer\"}}");
  tsl_grammar *g = compile(schema, TSL_WS_COMPACT);
  for (size_t i = 0; g && i < sizeof rows / sizeof *rows; i++)
    for (int whole = 0; whole < 2; whole++) {
      tsl_matcher *m = NULL;
      tsl_status status = TSL_OK;
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
      for (const char *at = rows[i].text; m && *at && status == TSL_OK;
           at += whole ? strlen(at) : 1)
        status = tsl_matcher_accept_bytes(m, at, whole ? strlen(at) : 1, NULL);
      CHECKF((status == TSL_OK) == rows[i].goes_on, "%s: %s", rows[i].text,
             tsl_status_name(status));
      tsl_matcher_free(m);
    }
  tsl_grammar_release(g);
}

/* Digits that may become any number of numbers are not tried one by one. With 60 numbers before it,
 * a mask takes hardly more steps than with two. */
static void test_many_numbers(void) {
  static const char schema[] = NUMBERS("{\"type\":\"integer\"}");
  tsl_vocab *embedded = vocab;
  if (!(vocab = vocab_of_digits())) return;
  for (int spelling = 0; spelling < 2; spelling++) {
    static uint32_t mask[(256 + 1110 + 64) / 32];
    tsl_schema_options options = {.spelling = spelling ? TSL_SPELLING_ANY : TSL_SPELLING_PLAIN};
    uint64_t steps[61] = {0};
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    CHECK(tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &g, NULL) ==
              TSL_OK &&
          tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_accept(m, '[') == TSL_OK);
    for (int n = 0; m && n <= 60; n++) {
      char text[16];
      tsl_grammar_stats before, after;
      tsl_grammar_get_stats(g, &before);
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      tsl_grammar_get_stats(g, &after);
      steps[n] = after.walk_steps - before.walk_steps;
      snprintf(text, sizeof text, "%d,", 100 + n * 37 % 100);
      CHECK(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK);
    }
    CHECKF(steps[60] < 4 * steps[2] + 400, "%d: %u steps, and %u", spelling, (unsigned)steps[2],
           (unsigned)steps[60]);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(vocab);
  vocab = embedded;
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(test_items_in_tokens, "whole items within tokens, after other texts");
  RUN(test_pieces, "tokens of several items and members");
  RUN(test_different_strings, "different strings in every spelling");
  RUN(test_pairs, "characters of two escapes, to the last digit");
  RUN(test_single_file, "a loop of one byte is used up");
  RUN(test_digits, "numbers that must differ, in tokens of digits");
  RUN(test_exponents, "a zero with an exponent, which nothing makes new");
  RUN(test_many_numbers, "many numbers cost no more than few");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
