/* test_nfc.c - canonical composition against Python's unicodedata (tests/support/nfc_expected.h),
 * over all code points in eight contexts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/tokenizer.h"

#include "tests/support/check.h"
#include "tests/support/nfc_expected.h"

static uint64_t fnv(uint64_t h, const uint8_t *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
  return h;
}

static bool is_nfc(const char *text, const char *expected) {
  tsl__pieces out = {{0}, {0}};
  bool ok = tsl__nfc(&tsl__malloc, (const uint8_t *)text, strlen(text), &out) == TSL_OK &&
            out.bytes.n == strlen(expected) &&
            (!out.bytes.n || !memcmp(out.bytes.at, expected, out.bytes.n));
  tsl__vec_free(&tsl__malloc, &out.bytes);
  return ok;
}

static void test_examples(void) {
  CHECK(is_nfc("", ""));
  CHECK(is_nfc("plain", "plain"));
  CHECK(is_nfc("e\xCC\xA3\xCC\x81", "\xE1\xBA\xB9\xCC\x81"));
  CHECK(is_nfc("e\xCC\x81\xCC\xA3", "\xE1\xBA\xB9\xCC\x81")); /* the marks change places */
  CHECK(is_nfc("\xE2\x84\xAB", "\xC3\x85"));                  /* ANGSTROM SIGN */
  CHECK(is_nfc("abc\xCC\xA7"
               "d",
               "ab\xC3\xA7"
               "d"));
  /* a mark with nothing before it */
  CHECK(is_nfc("\xCC\x81", "\xCC\x81"));
  CHECK(is_nfc("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81")); /* L V T -> one syllable */
  CHECK(is_nfc("\xE0\xA7\x87\xE0\xA6\xBE", "\xE0\xA7\x8B"));             /* a second of class 0 */
}

static void test_all_points(void) {
  for (size_t k = 0; k < sizeof nfc_expected / sizeof *nfc_expected; k++) {
    uint64_t hash = 0xcbf29ce484222325u;
    size_t before = strlen(nfc_expected[k].before), after = strlen(nfc_expected[k].after);
    tsl__pieces out = {{0}, {0}};
    uint8_t text[32];
    bool plain = true;
    memcpy(text, nfc_expected[k].before, before);
    for (uint32_t cp = 0; cp < 0x110000; cp++) {
      if (cp >= 0xD800 && cp <= 0xDFFF) continue;
      size_t n = before + tsl__utf8_encode(cp, text + before);
      memcpy(text + n, nfc_expected[k].after, after);
      n += after;
      out.bytes.n = 0;
      tsl__nfc(&tsl__malloc, text, n, &out);
      if (tsl__nfc_is_plain(text, n))
        plain = plain && out.bytes.n == n && !memcmp(out.bytes.at, text, n);
      hash = fnv(fnv(hash, out.bytes.at, out.bytes.n), (const uint8_t *)"\n", 1);
    }
    CHECKF(hash == nfc_expected[k].hash, "context %zu: %016" PRIx64, k, hash);
    CHECKF(plain, "context %zu: text that is said to be plain was changed", k);
    tsl__vec_free(&tsl__malloc, &out.bytes);
  }
}

/* 100,000 marks of two classes in turn: sorted, and not in quadratic time. */
static void test_many_marks(void) {
  enum { N = 100000 };
  uint8_t *text = malloc(1 + 4 * N);
  size_t n = 0;
  text[n++] = 'x';
  for (int i = 0; i < N; i++) {
    memcpy(text + n, "\xCC\x95\xCC\xA9", 4); /* classes 232 and 220 */
    n += 4;
  }
  tsl__pieces out = {{0}, {0}};
  CHECK(tsl__nfc(&tsl__malloc, text, n, &out) == TSL_OK && out.bytes.n == n);
  bool sorted = out.bytes.at[0] == 'x';
  for (size_t i = 0; i < N; i++)
    sorted = sorted && !memcmp(out.bytes.at + 1 + 2 * i, "\xCC\xA9", 2) &&
             !memcmp(out.bytes.at + 1 + 2 * (N + i), "\xCC\x95", 2);
  CHECK(sorted);
  tsl__vec_free(&tsl__malloc, &out.bytes);
  free(text);
}

int main(void) {
  RUN(test_examples, "examples");
  RUN(test_all_points, "every code point in eight contexts");
  RUN(test_many_marks, "a long run of marks");
  return tsl_test_end();
}
