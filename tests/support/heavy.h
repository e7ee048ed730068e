/* heavy.h - vocabularies of 1,000 tokens each of few pieces, so that many begin with one another.
 * The pieces are JSON's punctuation, letters with runs of up to 70 characters, and escapes in all
 * spellings. Characters past ASCII are whole, cut off and broken. Their tries have much below their
 * nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_HEAVY_H
#define TSL_TESTS_SUPPORT_HEAVY_H

#include "tests/support/check.h"
#include "turnstile.h"

#define HEAVY_KINDS 4u
#define HEAVY_TOKENS 1000u
#define HEAVY_LONGEST 80u

static const char *const heavy_json[] = {"\"", "\"", "\",", "\":",  ",",    "{\"", "}", "]", "[",
                                         " ",  "\n", "a",   "b",    "a",    "b",   "c", "1", "0",
                                         ".5", "-",  "e",   "true", "null", "\\",  "x"};
static const char *const heavy_letters[] = {"a", "a", "b", "b", "c", "e", "x", " ", "1", "-", "\""};
static const char *const heavy_nonascii[] = {"a",
                                             "b",
                                             " ",
                                             "\xC3\xA9",
                                             "\xC3\x9F",
                                             "\xE4\xB8\x96",
                                             "\xE4\xB8\x80",
                                             "\xF0\x9F\x98\x80",
                                             "\xC3",
                                             "\xE4\xB8",
                                             "\xF0\x9F",
                                             "\x80",
                                             "\xBF",
                                             "\xC0\x80",
                                             "\xE0\x80\x80",
                                             "\xE2\x80\xA8",
                                             "\xED\xA0\x80",
                                             "\xF4\x90\x80\x80",
                                             "\xF5",
                                             "\xFF",
                                             "\xC2\x80",
                                             "\xDF\xBF",
                                             "\xE0\xA0\x80",
                                             "\xED\x9F\xBF",
                                             "\xEF\xBF\xBF",
                                             "\xF4\x8F\xBF\xBF",
                                             "\""};
static const char *const heavy_escapes[] = {
    "\\n",     "\\\"",    "\\\\",    "\\/",    "\\b", "\\u00",   "\\u0061", "\\u0062",
    "\\u006a", "\\u006F", "\\u0041", "\\u003", "9",   "\\u00e9", "\\uD83D", "\\ude00",
    "\\u2028", "a",       "b",       "c",      "\"",  "\","};

static inline uint32_t heavy_below(uint64_t *seed, uint32_t n) {
  return (uint32_t)(tsl_test_random(seed) % n);
}

/* A token of one kind of pieces, of which it has but few. Returns its bytes. */
static inline uint32_t heavy_spell(uint8_t *out, unsigned kind, uint64_t *seed) {
  static const struct {
    const char *const *at;
    uint32_t n;
  } pieces[HEAVY_KINDS] = {{heavy_json, sizeof heavy_json / sizeof *heavy_json},
                           {heavy_letters, sizeof heavy_letters / sizeof *heavy_letters},
                           {heavy_nonascii, sizeof heavy_nonascii / sizeof *heavy_nonascii},
                           {heavy_escapes, sizeof heavy_escapes / sizeof *heavy_escapes}};
  uint32_t n = 0,
           most = heavy_below(seed, 30) ? 2 + heavy_below(seed, 7) : 17 + heavy_below(seed, 53),
           few = 2 + heavy_below(seed, pieces[kind].n - 1);
  for (uint32_t i = 0; i < most && n < HEAVY_LONGEST - 8; i++) {
    const char *piece = pieces[kind].at[heavy_below(seed, few)];
    memcpy(out + n, piece, strlen(piece));
    n += (uint32_t)strlen(piece);
  }
  return n;
}

/* A token for each byte, then those; 256 and 300 are special, and 256 ends a generation. */
static inline tsl_vocab *heavy_vocab(unsigned kind, uint64_t *seed) {
  static uint8_t bytes[HEAVY_TOKENS * HEAVY_LONGEST], special[HEAVY_TOKENS];
  static uint32_t offsets[HEAVY_TOKENS + 1];
  static const tsl_token end = 256;
  const tsl_vocab_desc desc = {bytes, offsets, HEAVY_TOKENS, HEAVY_TOKENS + 7, special, &end, 1};
  tsl_vocab *v = NULL;
  uint32_t n = 0;
  for (uint32_t t = 0; t < HEAVY_TOKENS; t++) {
    offsets[t] = n;
    special[t] = t == 256 || t == 300;
    if (t < 256)
      bytes[n++] = (uint8_t)t;
    else
      n += heavy_spell(bytes + n, heavy_below(seed, 4) ? kind : heavy_below(seed, HEAVY_KINDS),
                       seed);
  }
  offsets[HEAVY_TOKENS] = n;
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK);
  return v;
}

#endif
