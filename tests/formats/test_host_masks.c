/* test_host_masks.c - masks of host names: a vocabulary of long tokens out of the pieces of labels,
 * A-labels and U-labels, in both directions of writing. Along random texts each mask must allow
 * just the tokens that can be accepted one by one, up to the limits of labels and names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "tests/support/accepted.h"
#include "tests/support/nth_token.h"
#include "turnstile.h"

#define TOKENS 900u
#define LONGEST 20u
#define STEPS 24

static const char *const pieces[] = {"a",
                                     "l",
                                     "z",
                                     "0",
                                     "9",
                                     "-",
                                     "-",
                                     ".",
                                     ".",
                                     "xn--",
                                     "xn",
                                     "XN--",
                                     "kva",
                                     "bcher-kva",
                                     "i1b6b1a6a2e",
                                     "4dbrk0ce",
                                     "long-label-of-a-name",
                                     "\xC3\xA9",
                                     "\xD7\x90",
                                     "\xD6\xB4",
                                     "\xD8\xA8",
                                     "\xD9\xA1",
                                     "\xC2\xB7",
                                     "\xE2\x80\x8C",
                                     "\xE3\x83\xBB",
                                     "\xE3\x82\xA2",
                                     "\xE3\x80\x82",
                                     "@",
                                     "\""};
enum { PIECES = sizeof pieces / sizeof *pieces };

/* Single bytes first, then each piece, then pieces in a row. */
static tsl_vocab *make_vocab(void) {
  static uint8_t bytes[TOKENS * 3 * LONGEST];
  static uint32_t offsets[TOKENS + 1];
  static uint8_t special[TOKENS];
  uint64_t seed = 47;
  uint32_t n = 0;
  for (uint32_t t = 0; t < TOKENS; t++) {
    uint32_t begin = offsets[t] = n;
    uint32_t length = 1 + (uint32_t)(tsl_test_random(&seed) % (t % 2 ? 6 : LONGEST));
    special[t] = t == 256;
    if (t < 256) bytes[n++] = (uint8_t)t;
    while (t >= 256 && n - begin < length) {
      bool alone = t > 256 && t <= 256 + PIECES;
      const char *piece = pieces[alone ? t - 257 : tsl_test_random(&seed) % PIECES];
      if (alone) length = 0;
      memcpy(bytes + n, piece, strlen(piece));
      n += (uint32_t)strlen(piece);
    }
  }
  offsets[TOKENS] = n;
  const tsl_token end = 256;
  tsl_vocab_desc desc = {bytes, offsets, TOKENS, 0, special, &end, 1};
  tsl_vocab *vocab = NULL;
  tsl_error error = {0};
  CHECKF(tsl_vocab_new(&desc, NULL, &vocab, &error) == TSL_OK, "%s", error.message);
  return vocab;
}

/* From `begin` on; a long token is drawn more often than a byte. */
static void follow(tsl_vocab *vocab, tsl_grammar *g, const char *schema, const char *begin,
                   uint64_t seed) {
  tsl_matcher *m = NULL;
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  char text[1024] = "";
  strncat(text, begin, sizeof text - 1);
  CHECK(mask && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  bool begun = m && tsl_matcher_accept_bytes(m, begin, strlen(begin), NULL) == TSL_OK;
  CHECKF(begun, "%s: %s", schema, begin);
  for (int step = 0; begun && mask && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
    tsl_status status = tsl_matcher_mask(m, mask);
    CHECKF(status == TSL_OK, "%s after %s: %s", schema, text, tsl_status_name(status));
    if (status != TSL_OK) break;
    bool right = mask_is_right(m, mask, schema, text);
    CHECK(right);
    size_t n = tsl_mask_count(mask, words * 32), long_ones = 0;
    CHECK(n > 0);
    if (!right || n == 0) break;
    for (tsl_token t = 0; t < 256; t++) long_ones += tsl_mask_has(mask, t) != 0;
    long_ones = n - long_ones;
    tsl_token t = long_ones && tsl_test_random(&seed) % 4
                      ? nth_token(mask, n - 1 - tsl_test_random(&seed) % long_ones)
                      : nth_token(mask, tsl_test_random(&seed) % n);
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    if (strlen(text) + n < sizeof text) strncat(text, (const char *)bytes, n);
  }
  tsl_matcher_free(m);
  free(mask);
}

static void masks(void) {
  static const char *const schemas[] = {
      "{\"type\":\"string\",\"format\":\"hostname\"}",
      "{\"type\":\"string\",\"format\":\"idn-hostname\"}",
      "{\"type\":\"string\",\"format\":\"hostname\",\"maxLength\":24}",
      "{\"type\":\"string\",\"format\":\"idn-hostname\",\"minLength\":9,\"maxLength\":20}"};
#define MANY                                                                           \
  "\"abcdefghijklmnopqrstuvwxyz.abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz." \
  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz."                              \
  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz.abcdefghijklmnopqrstuvwxyz."
#define TEN "\xC3\xA9\xC3\xA8\xC3\xAA\xC3\xA0\xC3\xA2\xC3\xB1\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB3"
  /* Three leave 40, 6 and 8 octets of the name. The last three are for internationalised names.
   * They leave 19 and 9 code points of the label, and 51 of the name. */
  static const char *const begins[] = {"\"",
                                       "\"xn--",
                                       "\"0a.",
                                       "\"xn--i1b6b1a6a2e.",
                                       MANY,
                                       MANY "abcdefghijklmnopqrstuvwxyzabcdefg.",
                                       MANY "abcdefghijklmnopqrstuvwxyzabcde.",
                                       "\"" TEN TEN TEN TEN,
                                       "\"xn--kva." TEN TEN TEN TEN TEN,
                                       MANY TEN "abcde."};
  static const uint64_t of_schema[] = {7, 10, 4, 4};
  tsl_vocab *vocab = make_vocab();
  for (size_t i = 0; vocab && i < sizeof schemas / sizeof *schemas; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECKF(tsl_grammar_json_schema(vocab, schemas[i], strlen(schemas[i]), NULL, NULL, &g, &error) ==
               TSL_OK,
           "%s: %s", schemas[i], error.message);
    for (uint64_t round = 0; g && round < ROUNDS_OF(20u); round++) {
      const char *begin = begins[round % of_schema[i]];
      follow(vocab, g, schemas[i], begin, round * 7919 + i + 1);
    }
    tsl_grammar_release(g);
  }
  tsl_vocab_release(vocab);
}

int main(void) {
  RUN(masks, "masks of host names against single tokens");
  return tsl_test_end();
}
