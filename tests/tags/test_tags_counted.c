/* test_tags_counted.c - limits of tokens in free text: exact counts, what ends them, what they
 * stand beside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/failing.h"
#include "tests/judges/oracle.h"
#include "tests/support/tags_json.h"
#include "tests/support/toy.h"
#include "tests/support/take.h"

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *json) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_tags(vocab, json, strlen(json), NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s %s", json, error.message, error.pointer);
  return g;
}

/* ---- counted tokens -------------------------------------------------------------------------- */

#define COUNTED(n, end)                        \
  "{\"type\":\"sequence\",\"elements\":[" TAG( \
      "<t>", "{\"type\":\"any_text\",\"max_tokens\":" n "}", end) "," ANY "]}"

/* The tokens accepted from the first one that begins inside to the last one that ends inside. */
typedef struct span {
  size_t from, to; /* bytes of the text: after begin, before end */
  uint32_t inside;
} span;

static span span_of(const char *text, size_t length, const size_t *ends, size_t tokens) {
  span s = {3, 0, 0};
  for (s.to = 3; s.to + 4 <= length && memcmp(text + s.to, "</t>", 4); s.to++) continue;
  if (s.to + 4 > length) s.to = length;
  for (size_t i = 0; i < tokens; i++)
    s.inside += (i ? ends[i - 1] : 0) >= s.from && ends[i] <= s.to;
  return s;
}

/* Random texts: never more tokens inside than allowed, but for those that finish a character; at
 * the limit exactly the end is left. */
static void tokens_are_counted(void) {
  static const char *const limits[] = {COUNTED("1", "</t>"), COUNTED("2", "</t>"),
                                       COUNTED("7", "</t>")};
  static const uint32_t max[] = {1, 2, 7};
  uint64_t seed = 5;
  uint32_t words = (uint32_t)tsl_vocab_mask_words(vocab), *mask = malloc(words * sizeof *mask),
           full = 0, finished = 0;
  for (int round = 0; round < 900; round++) {
    tsl_grammar *g = compile(limits[round % 3]);
    tsl_matcher *m = NULL, *fork = NULL;
    char text[4000];
    size_t ends[200], n = 0, length = 0;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) continue;
    while (n < 60 && length < 3000) {
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      tsl_token t = draw(mask, words * 32, &seed);
      size_t size;
      CHECKF(t != TSL_NO_TOKEN, "a dead end after %.*s", (int)length, text);
      if (t == TSL_NO_TOKEN) break;
      if (tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK);
      if (tsl_test_random(&seed) % 4 == 0) { /* there and back, and in a copy */
        CHECK(tsl_matcher_rollback(m, 1) == TSL_OK && tsl_matcher_accept(m, t) == TSL_OK &&
              tsl_matcher_fork(m, &fork) == TSL_OK);
        tsl_matcher_free(m);
        m = fork;
      }
      const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &size);
      memcpy(text + length, bytes, size);
      ends[n++] = length += size;
    }
    span s = span_of(text, length, ends, n);
    uint32_t over = s.inside > max[round % 3] ? s.inside - max[round % 3] : 0;
    for (size_t i = n, left = over; left && i-- > 0;)
      if (ends[i] <= s.to && (i ? ends[i - 1] : 0) >= s.from) {
        left--;
        for (size_t k = ends[i - 1]; k < ends[i]; k++)
          CHECKF(((uint8_t)text[k] & 0xC0) == 0x80, "over the limit: %.*s", (int)length, text);
      }
    CHECKF(over <= 3, "%u tokens over: %.*s", over, (int)length, text);
    full += s.inside >= max[round % 3] && s.to < length;
    finished += over > 0;
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  CHECKF(full > 300 && finished > 0, "%u ended at the limit, %u finished a character", full,
         finished);
  free(mask);
}

/* The same tokens, in every way in which tokens are accepted. */
static void counts_agree(void) {
  tsl_grammar *g = compile(COUNTED("3", "</t>"));
  tsl_matcher *m = NULL;
  tsl_parser *p = NULL;
  tsl_token ids[32];
  size_t n = 0, valid = 0, words = tsl_vocab_mask_words(vocab);
  static const char text[] = "<t>abc</t>x";
  for (size_t i = 0; text[i]; i++)
    for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
      size_t size;
      const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &size);
      if (size == 1 && bytes[0] == (uint8_t)text[i] && !tsl_vocab_is_special(vocab, t))
        ids[n++] = t, t = tsl_vocab_size(vocab);
    }
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK || tsl_parser_new(g, NULL, &p) != TSL_OK) return;
  uint32_t *masks = malloc((n + 1) * words * sizeof *masks), *mask = malloc(words * sizeof *mask);
  CHECK(n == sizeof text - 1 && tsl_matcher_validate(m, ids, n, &valid) == TSL_OK && valid == n);
  CHECK(tsl_matcher_mask_drafts(m, ids, NULL, n, masks, NULL) == TSL_OK);
  for (size_t i = 0; i <= n; i++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK &&
               !memcmp(mask, masks + i * words, words * sizeof *mask),
           "row %zu", i);
    /* three letters: the end is left */
    if (i == 6) CHECK(!tsl_mask_has(mask, ids[5]) && tsl_mask_has(mask, ids[6]));
    if (i < n)
      CHECK(tsl_matcher_accept(m, ids[i]) == TSL_OK && tsl_parser_token(p, ids[i]) == TSL_OK);
  }
  CHECK(tsl_matcher_rollback(m, n - 6) == TSL_OK && tsl_matcher_accept(m, ids[4]) == TSL_REJECTED &&
        tsl_matcher_accept(m, ids[6]) == TSL_OK);
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_accept_bytes(m, "<t>a long text that is one token", 32, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "abc", 3, NULL) == TSL_OK);
  CHECK(tsl_matcher_accept_bytes(m, "def", 3, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "ghi", 3, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "x", 1, NULL) == TSL_REJECTED);
  CHECK(tsl_parser_finish(p) == TSL_OK && strstr(tsl_parser_json(p), "\"content\": \"abc\"") &&
        strstr(tsl_parser_json(p), "\"x\""));
  free(masks);
  free(mask);
  tsl_parser_free(p);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Text by bytes where the tokens are spent and a character is unfinished: that is finished first,
 * and then what follows comes. */
static void bytes_finish(void) {
  static const struct {
    const char *bytes;
    size_t accepted;
    bool fine;
  } cases[] = {{"\x82", 1, true},      {"\x82\xAC", 2, true},   {"\x82\xAC</t>abc", 9, true},
               {"\x82\xAC<", 3, true}, {"\x82\xACx", 2, false}, {"\x82\xACxyz</t>", 2, false},
               {"\x82x", 1, false},    {"x", 0, false},         {"\xC3", 0, false}};
  tsl_grammar *g = compile(COUNTED("2", "</t>"));
  tsl_matcher *m = NULL;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t n = 99, length = strlen(cases[i].bytes);
    tsl_matcher_reset(m);
    CHECK(tsl_matcher_accept_bytes(m, "<t>", 3, NULL) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "b\xE2", 2, NULL) == TSL_OK);
    CHECKF(tsl_matcher_accept_bytes(m, cases[i].bytes, length, &n) ==
                   (cases[i].fine ? TSL_OK : TSL_REJECTED) &&
               n == cases[i].accepted,
           "bytes %zu: %zu", i, n);
    CHECK(tsl_matcher_history(m) == 3u + cases[i].fine);
    /* nothing changed */
    if (!cases[i].fine)
      CHECK(tsl_matcher_accept_bytes(m, "\x82\xAC</", 4, NULL) == TSL_OK &&
            tsl_matcher_accept_bytes(m, "t>", 2, NULL) == TSL_OK);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Where positions have a memory (uniqueItems), and where the text is all there is. */
static void counts_elsewhere(void) {
  tsl_grammar *g = compile(
      "{\"type\":\"sequence\",\"elements\":[{\"type\":\"any_text\",\"max_tokens\":2},{\"type\":"
      "\"json_schema\",\"json_schema\":{\"type\":\"array\",\"uniqueItems\":true}}]}");
  tsl_matcher *m = NULL;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "[", 1, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "x", 1, NULL) == TSL_REJECTED);
  CHECK(tsl_matcher_accept_bytes(m, "1,1]", 4, NULL) == TSL_REJECTED &&
        tsl_matcher_accept_bytes(m, "1,2]", 4, NULL) == TSL_OK && tsl_matcher_is_complete(m));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  g = compile("{\"type\":\"any_text\",\"max_tokens\":1}");
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_is_complete(m) && tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK &&
        tsl_matcher_is_complete(m) && tsl_matcher_accept_bytes(m, "b", 1, NULL) == TSL_REJECTED);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A mask of a copy that is narrowed for a character to be finished: where it cannot be made,
 * nothing is lent. */
static void lending_fails(void) {
  const uint32_t *words = NULL;
  uint64_t id = 7;
  tsl_grammar *g = compile(COUNTED("1", "</t>"));
  tsl_matcher *m = NULL;
  failing none = {0};
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECK(tsl_matcher_accept_bytes(m, "<t>", 3, NULL) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "\xC3", 1, NULL) == TSL_OK);
  const tsl_allocator alloc = g->space->alloc;
  g->space->alloc = failing_allocator(&none);
  CHECK(tsl_matcher_mask_borrow(m, &words, &id) == TSL_ERR_NO_MEMORY && !words && id == 7);
  g->space->alloc = alloc;
  CHECK(tsl_matcher_mask_borrow(m, &words, &id) == TSL_OK && words && id != 7 &&
        tsl_mask_has(words, 0x80) && !tsl_mask_has(words, 'a') && !tsl_mask_has(words, 0xC3));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* A token that is spelled in a list without repetitions, and named beside it: what was used is not
 * forgotten. */
static void named_beside_memory(void) {
  static const char json[] =
      "{\"type\":\"or\",\"elements\":[{\"type\":\"json_schema\",\"json_schema\":{\"type\":"
      "\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[1,2,3]}}},"
      /* token 50 is "2" */
      "{\"type\":\"sequence\",\"elements\":[" CONST(
          "[1,") ",{\"type\":\"token\",\"token\":50}," CONST("x") "]}]}";
  static const struct {
    const char *text, *next;
    bool good;
  } cases[] = {{"[1,", "2", true},    {"[1,", "3", true},    {"[1,", "1", false},
               {"[1,2", "x", true},   {"[1,2", ",", true},   {"[1,2,", "3", true},
               {"[1,2,", "2", false}, {"[1,2,", "1", false}, {"[1,3", "x", false}};
  tsl_grammar *g = compile(json);
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
  for (size_t i = 0; g && mask && i < sizeof cases / sizeof *cases; i++) {
    tsl_matcher *m = NULL;
    bool fine = tsl_matcher_new(g, NULL, &m) == TSL_OK;
    for (const char *c = cases[i].text; *c; c++)
      fine = fine && tsl_matcher_accept(m, (uint8_t)*c) == TSL_OK;
    CHECKF(fine && tsl_matcher_mask(m, mask) == TSL_OK &&
               tsl_mask_has(mask, (uint8_t)*cases[i].next) == cases[i].good,
           "%s before %s", cases[i].text, cases[i].next);
    CHECK((tsl_matcher_accept(m, (uint8_t)*cases[i].next) == TSL_OK) == cases[i].good);
    tsl_matcher_free(m);
  }
  tsl_grammar_release(g);
  free(mask);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(tokens_are_counted, "max_tokens of any_text");
  RUN(counts_agree, "drafts, validation, rollback");
  RUN(bytes_finish, "bytes that finish a character");
  RUN(counts_elsewhere, "uniqueItems, and nothing after the text");
  RUN(lending_fails, "a mask that cannot be made is not lent");
  RUN(named_beside_memory, "tokens named where others must not be repeated");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
