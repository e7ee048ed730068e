/* test_first.c - free text in front of several triggers that overlap (compiler/tags/first.c):
 * characters past ASCII between them, bytes that are none, and masks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/oracle.h"
#include "tests/support/tags.h"
#include "tests/support/tags_json.h"

static tsl_vocab *vocab;
static const char *const sets[][2] = {{"ab", "bb"}, {"ab", "ba"}, {"aab", "b!a"}, {"bab", "ab"}};

#define SETS (sizeof sets / sizeof *sets)
#define OF(trigger) \
  "{\"type\":\"tag\",\"begin\":\"" trigger "\",\"content\":" CONST("") ",\"end\":\"!\"}"

/* Two triggers, each with "!" behind it. */
static tsl_grammar *compile(const char *const *triggers) {
  char json[600];
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  snprintf(json, sizeof json,
           "{\"type\":\"triggered_tags\",\"triggers\":[\"%s\",\"%s\"],\"tags\":[" OF("%s") "," OF(
               "%s") "]}",
           triggers[0], triggers[1], triggers[0], triggers[1]);
  CHECKF(tsl_grammar_tags(vocab, json, strlen(json), NULL, NULL, &g, &e) == TSL_OK, "%s: %s", json,
         e.message);
  return g;
}

/* By code points: how RFC 3629 defines it. */
static bool is_utf8(const char *text) {
  const uint8_t *at = (const uint8_t *)text;
  while (*at) {
    unsigned n = *at < 0x80 ? 0 : *at < 0xC0 ? 9 : *at < 0xE0 ? 1 : *at < 0xF0 ? 2 : 3;
    uint32_t point = n ? *at & (0x3Fu >> n) : *at;
    if (n > 3 || *at >= 0xF8) return false;
    at++;
    for (unsigned i = 0; i < n; i++, at++) {
      if ((*at & 0xC0) != 0x80) return false;
      point = point << 6 | (*at & 0x3Fu);
    }
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (point < least[n] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return false;
  }
  return true;
}

/* All texts of up to five of these. */
static void characters_between(void) {
  static const char *const pieces[] = {
      "a", "b", "!", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  for (size_t s = 0; s < SETS; s++) {
    tsl_grammar *g = compile(sets[s]);
    char text[32];
    for (unsigned length = 0, all = 1; g && length <= 5; length++, all *= 6)
      for (unsigned code = 0; code < all; code++) {
        text[0] = 0;
        for (unsigned i = 0, c = code; i < length; i++, c /= 6) strcat(text, pieces[c % 6]);
        CHECKF(accepts(g, text) == triggers_fit(text, sets[s], 2), "%s, %s: %s", sets[s][0],
               sets[s][1], text);
      }
    tsl_grammar_release(g);
  }
}

/* Up to three bytes at which UTF-8 changes, and four that begin with the leads of four. */
static void bytes_between(void) {
  static const uint8_t bytes[] = {0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF,
                                  0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5};
  const unsigned n = sizeof bytes;
  tsl_grammar *g = compile(sets[0]);
  for (unsigned length = 1, all = n; g && length <= 4; length++, all *= n)
    for (unsigned code = 0; code < all; code++) {
      char text[5] = "";
      for (unsigned i = 0, c = code; i < length; i++, c /= n) text[i] = (char)bytes[c % n];
      if (length == 4 && (uint8_t)text[0] < 0xF0) continue;
      CHECKF(accepts(g, text) == is_utf8(text), "bytes %02x %02x %02x %02x", (uint8_t)text[0],
             (uint8_t)text[1], (uint8_t)text[2], (uint8_t)text[3]);
    }
  tsl_grammar_release(g);
}

/* After each of these, every token is tried. */
static void masks(void) {
  static const char *const texts[] = {"",          "x",        "a",    "ab",    "\xC3",
                                      "a\xC3\xA9", "\xE2\x82", "\xF0", "a\xF4", "ab!",
                                      "ab!a",      "\xED",     "\xE0"};
  const uint32_t words = (uint32_t)tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask), *plain = malloc(words * sizeof *plain);
  for (size_t s = 0; mask && plain && s < SETS; s++) {
    tsl_grammar *g = compile(sets[s]);
    for (size_t i = 0; g && i < sizeof texts / sizeof *texts; i++) {
      tsl_matcher *m = NULL;
      oracle o;
      const size_t n = strlen(texts[i]);
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
      oracle_begin(&o, g->space, g->start);
      const bool fits = oracle_bytes(&o, (const uint8_t *)texts[i], n);
      CHECK((tsl_matcher_accept_bytes(m, texts[i], n, NULL) == TSL_OK) == fits);
      CHECK(!fits || tsl_matcher_mask(m, mask) == TSL_OK);
      if (fits) oracle_mask(&o, plain);
      CHECKF(!fits || (!o.overflow && !memcmp(mask, plain, words * sizeof *mask)),
             "%s, %s: after %s", sets[s][0], sets[s][1], texts[i]);
      oracle_free(&o);
      tsl_matcher_free(m);
    }
    tsl_grammar_release(g);
  }
  free(mask);
  free(plain);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(characters_between, "all short texts with characters of one to four bytes");
  RUN(bytes_between, "bytes that are no characters");
  RUN(masks, "beside the oracle's");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
