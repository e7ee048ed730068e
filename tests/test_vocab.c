/* test_vocab.c - vocabularies: from arrays, from small tokenizer files written here, from files that lie, and through the cache.
 *
 * Encoding of real vocabularies is test_encode.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/vocab_cache.h"

#include "tests/check.h"

/* ---- helpers -------------------------------------------------------------------------------------------------- */

/* An allocator that fails at the nth request and counts what is held. */
typedef struct failing {
  size_t countdown, held;
} failing;

static void *failing_hook(void *ctx, void *block, size_t old_size, size_t new_size) {
  failing *f = ctx;
  if (new_size && f->countdown-- == 0) return NULL;
  f->held += new_size - old_size;
  if (new_size) return realloc(block, new_size);
  free(block);
  return NULL;
}

static bool encodes(const tsl_vocab *v, const char *text, size_t length, uint32_t flags, const tsl_token *expected, size_t n) {
  tsl_token ids[64];
  size_t count = 0;
  tsl_status status = tsl_vocab_encode(v, text, length, flags, ids, 64, &count);
  bool same = !status && count == n && !memcmp(ids, expected, n * sizeof *ids);
  for (size_t i = 0; !same && !status && i < count && i < 64; i++) fprintf(stderr, "%s%u", i ? " " : "  got ", ids[i]);
  if (!same) fprintf(stderr, "  (%s)\n", tsl_status_name(status));
  return same;
}
#define ENCODES(v, text, flags, ...)                                               \
  CHECK(encodes(v, text, sizeof text - 1, flags, (const tsl_token[]){__VA_ARGS__}, \
                sizeof(const tsl_token[]){__VA_ARGS__} / sizeof(tsl_token)))

static bool token_is(const tsl_vocab *v, tsl_token id, const char *text) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(v, id, &n);
  return bytes && n == strlen(text) && !memcmp(bytes, text, n);
}

static tsl_vocab *load(const char *text, const char *name, const tsl_vocab_options *options) {
  tsl_vocab *v;
  tsl_error error = {0};
  tsl_status status = tsl_vocab_load_memory(text, strlen(text), name, options, NULL, &v, &error);
  CHECKF(status == TSL_OK, "%s at %zu: %s", tsl_status_name(status), error.offset, error.message);
  return v;
}

/* ---- arrays --------------------------------------------------------------------------------------------------- */

/* a, b, ab, abc, "" and specials <x>, <xy>, </s> */
static const uint8_t array_bytes[] =
    "ababcab"
    "c"
    "<x><xy></s>";
static const uint32_t array_offsets[] = {0, 1, 2, 5, 7, 7, 8, 11, 15, 19};
static const uint8_t array_special[] = {0, 0, 0, 0, 0, 0, 1, 7, 0};
static const tsl_token array_eog[] = {8, 6, 8};
static const tsl_vocab_desc array_desc = {array_bytes, array_offsets, 9, 40, array_special, array_eog, 3};

static void test_arrays(void) {
  tsl_vocab *v;
  CHECK(tsl_vocab_new(&array_desc, NULL, &v, NULL) == TSL_OK);
  CHECK(tsl_vocab_size(v) == 9 && tsl_vocab_logits_width(v) == 40 && tsl_vocab_mask_words(v) == 2);
  CHECK(token_is(v, 2, "abc") && token_is(v, 3, "ab") && token_is(v, 4, "") && token_is(v, 7, "<xy>"));
  size_t n = 1;
  CHECK(!tsl_vocab_bytes(v, 9, &n) && n == 0 && !tsl_vocab_is_special(v, 9) && !tsl_vocab_is_eog(v, TSL_NO_TOKEN));
  CHECK(!tsl_vocab_is_special(v, 0) && tsl_vocab_is_special(v, 6) && tsl_vocab_is_special(v, 7) && tsl_vocab_is_special(v, 8));
  CHECK(tsl_vocab_is_eog(v, 8) && tsl_vocab_is_eog(v, 6) && !tsl_vocab_is_eog(v, 7));
  uint32_t count;
  const tsl_token *eog = tsl_vocab_eog(v, &count);
  CHECK(count == 2 && eog[0] == 8 && eog[1] == 6);
  CHECK(tsl_vocab_find_special(v, "<x>", 3) == 6 && tsl_vocab_find_special(v, "<xy>", 4) == 7 && tsl_vocab_find_special(v, "</s>", 4) == 8);
  CHECK(tsl_vocab_find_special(v, "<x", 2) == TSL_NO_TOKEN && tsl_vocab_find_special(v, "a", 1) == TSL_NO_TOKEN &&
        tsl_vocab_find_special(v, "", 0) == TSL_NO_TOKEN);
  CHECK(tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special) && v->trie.order_count == 5);
  CHECK(tsl_vocab_memory(v) > sizeof *v);
  tsl_vocab_retain(v);
  tsl_vocab_release(v);
  CHECK(token_is(v, 0, "a"));
  tsl_vocab_release(v);
  tsl_vocab_release(NULL);
}

static void test_greedy_special(void) {
  tsl_vocab *v;
  tsl_token ids[2];
  size_t count = 7;
  CHECK(tsl_vocab_new(&array_desc, NULL, &v, NULL) == TSL_OK);
  ENCODES(v, "abcabab", 0, 2, 3, 3);
  ENCODES(v, "aab", 0, 0, 3);
  ENCODES(v, "ab<x>abc<xy></s>c", TSL_ENCODE_SPECIAL, 3, 6, 2, 7, 8, 5);
  CHECK(tsl_vocab_encode(v, "ab<x>", 5, 0, ids, 2, &count) == TSL_ERR_SYNTAX && count == 7);
  CHECK(tsl_vocab_encode(v, "abcabab", 7, 0, ids, 2, &count) == TSL_ERR_LIMIT && count == 3 && ids[0] == 2 && ids[1] == 3);
  CHECK(tsl_vocab_encode(v, "abcabab", 7, 0, NULL, 0, &count) == TSL_ERR_LIMIT && count == 3);
  CHECK(tsl_vocab_encode(v, NULL, 0, TSL_ENCODE_BOS, NULL, 0, &count) == TSL_OK && count == 0);
  CHECK(tsl_vocab_encode(v, NULL, 1, 0, ids, 2, &count) == TSL_ERR_ARGUMENT);
  CHECK(tsl_vocab_encode(v, "a", 1, 4, ids, 2, &count) == TSL_ERR_ARGUMENT &&
        tsl_vocab_encode(v, "a", 1, 0, NULL, 2, &count) == TSL_ERR_ARGUMENT);
  CHECK(tsl_vocab_encode(v, "a", 1, 0, ids, 2, NULL) == TSL_ERR_ARGUMENT);
  tsl_vocab_release(v);
}

static void test_bad_arrays(void) {
  static const uint32_t decreasing[] = {0, 2, 1, 3}, late[] = {1, 2, 3, 4}, whole[] = {0, 1, 2, 3},
                        too_long[] = {0, 1, 2, 2 + TSL_MAX_TOKEN_BYTES + 1};
  static const uint8_t bytes[TSL_MAX_TOKEN_BYTES + 8] = {0};
  static const tsl_token outside[] = {3};
  static const struct {
    tsl_vocab_desc desc;
    tsl_status status;
    const char *words;
  } cases[] = {
      {{bytes, decreasing, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "offsets[2]"},
      {{bytes, late, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "offsets[0]"},
      {{bytes, whole, 0, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "at least one"},
      {{bytes, whole, 3, 2, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "logits_width"},
      {{bytes, whole, 3, TSL_MAX_VOCAB + 1, NULL, NULL, 0}, TSL_ERR_LIMIT, "logits_width"},
      {{bytes, whole, TSL_MAX_VOCAB + 1, 0, NULL, NULL, 0}, TSL_ERR_LIMIT, "TSL_MAX_VOCAB"},
      {{bytes, too_long, 3, 0, NULL, NULL, 0}, TSL_ERR_LIMIT, "TSL_MAX_TOKEN_BYTES"},
      {{NULL, whole, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "bytes"},
      {{bytes, NULL, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "NULL"},
      {{bytes, whole, 3, 0, NULL, outside, 1}, TSL_ERR_ARGUMENT, "end-of-generation token 3"},
      {{bytes, whole, 3, 0, NULL, NULL, 1}, TSL_ERR_ARGUMENT, "NULL"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_vocab *v = (tsl_vocab *)&v;
    tsl_error error = {0};
    tsl_status status = tsl_vocab_new(&cases[i].desc, NULL, &v, &error);
    CHECKF(status == cases[i].status && error.status == status && strstr(error.message, cases[i].words) && !v, "case %zu: %s", i,
           error.message);
  }
  tsl_vocab *v;
  CHECK(tsl_vocab_new(NULL, NULL, &v, NULL) == TSL_ERR_ARGUMENT && !v && tsl_vocab_new(&array_desc, NULL, NULL, NULL) == TSL_ERR_ARGUMENT);
}

static void identity_of(const tsl_vocab_desc *desc, uint8_t out[16]) {
  tsl_vocab *v;
  CHECK(tsl_vocab_new(desc, NULL, &v, NULL) == TSL_OK);
  tsl_vocab_identity(v, out);
  tsl_vocab_release(v);
}

/* Whatever changes a mask changes the identity; the order of the end-of-generation tokens does not. */
static void test_identity(void) {
  static const tsl_token other_order[] = {6, 8}, fewer[] = {8};
  static const uint8_t other_special[] = {0, 0, 1, 0, 0, 0, 1, 1, 0}, same_special[] = {0, 0, 0, 0, 0, 0, 1, 1, 0};
  static const uint32_t other_cut[] = {0, 1, 2, 4, 7, 7, 8, 11, 15, 19};
  static const uint8_t other_bytes[] =
      "ababcax"
      "c"
      "<x><xy></s>";
  uint8_t base[16], other[16];
  tsl_vocab_desc d;
  identity_of(&array_desc, base);
  identity_of(&array_desc, other);
  CHECK(!memcmp(base, other, 16));
  d = array_desc, d.eog = other_order, d.eog_count = 2, d.special = same_special;
  identity_of(&d, other);
  CHECK(!memcmp(base, other, 16));
  d = array_desc, d.eog = fewer, d.eog_count = 1;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.special = other_special;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.offsets = other_cut;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.bytes = other_bytes;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.logits_width = 64;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
}

static void test_arrays_no_memory(void) {
  unsigned failures = 0;
  for (size_t n = 0;; n++) {
    failing f = {n, 0};
    tsl_allocator a = {&f, failing_hook};
    tsl_vocab *v;
    tsl_error error;
    tsl_status status = tsl_vocab_new(&array_desc, &a, &v, &error);
    tsl_vocab_release(v);
    CHECKF(f.held == 0, "allocation %zu: %zu bytes held", n, f.held);
    if (!status) break;
    CHECK(status == TSL_ERR_NO_MEMORY && error.status == status && !v);
    failures++;
  }
  CHECK(failures > 10);
}

/* ---- tokenizer.json ------------------------------------------------------------------------------------------- */

/* Byte level, with all kinds of added tokens; "Ġ" is a space. Its id 9 is a hole. */
#define BYTE_MODEL                                                                                  \
  "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"\\u0120\":2,\"ab\":3,\"\xC4\xA0"        \
  "a\":4,\"\xC4\xA0"                                                                                \
  "ab\":5,\"\xC3\x83\":6,\"\xC2\xA9\":7,"                                                           \
  "\"\xC3\x83\xC2\xA9\":8,\"\\\"\":10,\"<\":11,\">\":12,\"\xC4\x8A\":13,\"x\":14,\"\xC3\xBF\":15}," \
  "\"merges\":[\"a b\",[\"\xC4\xA0\",\"a\"],\"\xC4\xA0 ab\",\"\xC3\x83 \xC2\xA9\"]}"
#define BYTE_LEVEL(prefix) "{\"type\":\"ByteLevel\",\"add_prefix_space\":" prefix ",\"use_regex\":true}"
#define ADDED(id, text, special, word, left, right, normalized)                                                                     \
  "{\"id\":" #id ",\"content\":\"" text "\",\"special\":" special ",\"single_word\":" word ",\"lstrip\":" left ",\"rstrip\":" right \
  ",\"normalized\":" normalized "}"
#define ADDED_TOKENS                                                                                                              \
  "\"added_tokens\":[" ADDED(20, "<s>", "true", "false", "false", "false", "false") "," ADDED(                                    \
      21, "</s>", "true", "false", "false", "false",                                                                              \
      "false") "," ADDED(22, "<w>", "false", "true", "false", "false",                                                            \
                         "false") "," ADDED(23, "<l>", "false", "false", "true", "false",                                         \
                                            "false") "," ADDED(24, "<r>", "false", "false", "false", "true",                      \
                                                               "false") "," ADDED(25, "<s>>", "false", "false", "false", "false", \
                                                                                  "false") "]"
#define TEMPLATE                                                                                                                      \
  "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},{\"Sequence\":{" \
  "\"id\":\"A\"}},"                                                                                                                   \
  "{\"SpecialToken\":{\"id\":\"</s>\",\"type_id\":0}}],\"special_tokens\":{\"</s>\":{\"ids\":[21]},\"<s>\":{\"ids\":[20]}}}"

static const char byte_file[] =
    "{\"version\":\"1.0\"," ADDED_TOKENS
    ",\"normalizer\":null,\"pre_tokenizer\":" BYTE_LEVEL("false") ",\"decoder\":" BYTE_LEVEL("true") "," TEMPLATE "," BYTE_MODEL "}";

static void test_byte_level(void) {
  tsl_vocab *v = load(byte_file, NULL, NULL);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 26 && token_is(v, 5, " ab") && token_is(v, 8, "\xC3\xA9") && token_is(v, 9, "") && token_is(v, 13, "\n") &&
        token_is(v, 21, "</s>"));
  CHECK(token_is(v, 10, "\"") && token_is(v, 15, "\xFF"));
  CHECK(tsl_vocab_is_special(v, 20) && tsl_vocab_is_eog(v, 21) && !tsl_vocab_is_special(v, 22));
  CHECK(tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special));
  CHECK(tsl_vocab_find_special(v, "<s>", 3) == 20 && tsl_vocab_find_special(v, "<w>", 3) == 22 &&
        tsl_vocab_find_special(v, "ab", 2) == TSL_NO_TOKEN);
  ENCODES(v, "ab ab\xC3\xA9", 0, 3, 5, 8);
  ENCODES(v, "ab", TSL_ENCODE_BOS, 20, 3);
  ENCODES(v, "a<s>b", TSL_ENCODE_SPECIAL, 0, 20, 1);
  ENCODES(v, "<s>>", TSL_ENCODE_SPECIAL, 25); /* the longest of those that begin here */
  tsl_vocab_release(v);
}

static void test_added(void) {
  tsl_vocab *v = load(byte_file, NULL, NULL);
  if (!v) return;
  tsl_token ids[8];
  size_t n;
  ENCODES(v, " <w> a", TSL_ENCODE_SPECIAL, 2, 22, 4);
  ENCODES(v, "<w>", TSL_ENCODE_SPECIAL, 22);
  CHECK(tsl_vocab_encode(v, "a<w>", 4, TSL_ENCODE_SPECIAL, ids, 8, &n) == TSL_ERR_SYNTAX); /* a word before it; and "w" is no token */
  CHECK(tsl_vocab_encode(v, "<w>\xC3\xA9", 5, TSL_ENCODE_SPECIAL, ids, 8, &n) == TSL_ERR_SYNTAX); /* a word after it */
  ENCODES(v, "a \xC2\xA0\xE3\x80\x80<l> a", TSL_ENCODE_SPECIAL, 0, 23, 4); /* takes the white space before it along */
  ENCODES(v, "a <r> \n a", TSL_ENCODE_SPECIAL, 0, 2, 24, 0);
  ENCODES(v, "<r> <l>", TSL_ENCODE_SPECIAL, 24, 23); /* each byte of white space once */
  ENCODES(v, "<s></s>", TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, 20, 20, 21);
  tsl_vocab_release(v);
}

/* Invalid bytes stand alone; what is left and right of them is encoded as if the other side were not there. */
static void test_invalid_utf8(void) {
  tsl_vocab *v = load(byte_file, NULL, NULL);
  if (!v) return;
  tsl_token ids[8];
  size_t n;
  ENCODES(v,
          "ab\xFF"
          "ab",
          0, 3, 15, 3);
  ENCODES(v, "\xFF\xFF", TSL_ENCODE_BOS, 20, 15, 15);
  ENCODES(v, "\xC3", 0, 6); /* cut off: the byte itself has a token */
  ENCODES(v,
          "\xC3"
          "a\xC3\xA9",
          0, 6, 0, 8);
  CHECK(tsl_vocab_encode(v, "\xFE", 1, 0, ids, 8, &n) == TSL_ERR_SYNTAX);
  tsl_vocab_release(v);
}

static void test_prefix_space(void) {
  static const char file[] =
      "{\"pre_tokenizer\":" BYTE_LEVEL("true") ",\"decoder\":" BYTE_LEVEL("true") "," ADDED_TOKENS "," BYTE_MODEL "}";
  tsl_vocab *v = load(file, NULL, NULL);
  if (!v) return;
  ENCODES(v, "ab", 0, 5);
  ENCODES(v, " ab", 0, 5);
  ENCODES(v, "ab<s>ab", TSL_ENCODE_SPECIAL, 5, 20, 5);
  tsl_vocab_release(v);
}

/* SentencePiece style: "▁" is a space, bytes fall back, unknown characters are fused. */
#define POINT_MODEL(fallback, fuse)                                                                       \
  "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"byte_fallback\":" fallback ",\"fuse_unk\":" fuse \
  ",\"vocab\":{\"<unk>\":0,\"<0xC3>\":1,"                                                                 \
  "\"<0xA9>\":2,\"<0x0A>\":3,\"\xE2\x96\x81\":4,\"a\":5,\"b\":6,\"ab\":7,\"\xE2\x96\x81"                  \
  "ab\":8,\"\\n\":9,\"<0xFF>\":10},\"merges\":[[\"a\",\"b\"],[\"\xE2\x96\x81\",\"ab\"]]}"
#define SPACES "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xE2\x96\x81\"}"
#define POINT_DECODER                                                                                                                \
  "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"\xE2\x96\x81\"},\"content\":\" " \
  "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}]}"

static void test_code_points(void) {
  tsl_vocab *v = load("{\"normalizer\":" SPACES "," POINT_DECODER "," POINT_MODEL("true", "true") "}", NULL, NULL);
  if (!v) return;
  CHECK(token_is(v, 8, " ab") && token_is(v, 3, "\n") && token_is(v, 9, "\n") && token_is(v, 1, "\xC3") && !tsl_vocab_is_special(v, 0));
  ENCODES(v, "ab ab", 0, 7, 8);
  ENCODES(v,
          "\xE2\x96\x81"
          "ab",
          0, 8);
  ENCODES(v, "\n\xC3\xA9", 0, 9, 1, 2);
  ENCODES(v,
          "a\xC3\xA8\xC3\xA8"
          "b",
          0, 5, 0, 6); /* no token for byte A8: unknown, once */
  ENCODES(v, "a\xFF", 0, 5, 10);
  tsl_vocab_release(v);
  v = load("{\"normalizer\":" SPACES "," POINT_DECODER "," POINT_MODEL("false", "false") "}", NULL, NULL);
  if (!v) return;
  ENCODES(v,
          "a\xC3\xA8\xC3\xA8"
          "b",
          0, 5, 0, 0, 6);
  tsl_vocab_release(v);
}

static void test_metaspace(void) {
  static const char *const schemes[] = {"\"prepend_scheme\":\"always\"", "\"prepend_scheme\":\"first\"", "\"prepend_scheme\":\"never\"",
                                        "\"add_prefix_space\":false"};
  for (unsigned i = 0; i < 4; i++) {
    char file[2048];
    snprintf(file, sizeof file,
             "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",%s},\"decoder\":{\"type\":\"Metaspace\","
             "\"replacement\":\"\xE2\x96\x81\"},"
             "\"added_tokens\":[" ADDED(20, "<s>", "true", "false", "false", "false", "false") "]," POINT_MODEL("true", "true") "}",
             schemes[i]);
    tsl_vocab *v = load(file, NULL, NULL);
    if (!v) return;
    CHECK(token_is(v, 8, " ab"));
    if (i == 0) ENCODES(v, "ab<s>ab", TSL_ENCODE_SPECIAL, 8, 20, 8);
    if (i == 1) ENCODES(v, "ab<s>ab", TSL_ENCODE_SPECIAL, 8, 20, 7);
    if (i >= 2) ENCODES(v, "ab<s>ab ab", TSL_ENCODE_SPECIAL, 7, 20, 7, 8);
    tsl_vocab_release(v);
  }
}

/* The behaviours of Split, on "a-b--c" by "-", told by merges that cross no border. */
static void test_splits(void) {
  static const struct {
    const char *behaviour, *invert;
    tsl_token ids[8];
    size_t n;
  } cases[] = {
      /* a 0, - 1, b 2, c 3, a- 4, -b 5, b- 6, -- 7, -c 8, b-- 9, --c 10 */
      {"Isolated", "false", {0, 1, 2, 1, 1, 3}, 6},     {"Removed", "false", {0, 2, 3}, 3},
      {"MergedWithPrevious", "false", {4, 6, 1, 3}, 4}, {"MergedWithNext", "false", {0, 5, 1, 8}, 4},
      {"Contiguous", "false", {0, 1, 2, 7, 3}, 5},      {"Removed", "true", {1, 1, 1}, 3},
      {"Contiguous", "true", {0, 1, 2, 7, 3}, 5},
  };
  static const char *const patterns[] = {"\"String\":\"-\"", "\"Regex\":\"-\""};
  for (unsigned p = 0; p < 2; p++) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      char file[2048];
      snprintf(file, sizeof file,
               "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{%s},\"behavior\":\"%s\",\"invert\":%s},\"model\":{\"vocab\":{\"a\":0,"
               "\"-\":1,\"b\":2,\"c\":3,\"a-\":4,\"-b\":5,"
               "\"b-\":6,\"--\":7,\"-c\":8,\"b--\":9,\"--c\":10},\"merges\":[\"- -\",\"a -\",\"b -\",\"- b\",\"- c\",\"b --\",\"-- c\"]}}",
               patterns[p], cases[i].behaviour, cases[i].invert);
      tsl_vocab *v = load(file, NULL, NULL);
      if (!v) return;
      CHECKF(encodes(v, "a-b--c", 6, 0, cases[i].ids, cases[i].n), "%s, invert %s, pattern %u", cases[i].behaviour, cases[i].invert, p);
      tsl_vocab_release(v);
    }
  }
}

/* An added token that is looked for in normalised text; NFC. */
static void test_normalised_added(void) {
  tsl_vocab *v = load("{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}," SPACES "]}," POINT_DECODER
                      ",\"added_tokens\":[" ADDED(20, "x y", "false", "false", "false", "false", "true") "," ADDED(
                          21, "e\xCC\x81", "false", "false", "false", "false", "true") "]," POINT_MODEL("true", "true") "}",
                      NULL, NULL);
  if (!v) return;
  ENCODES(v, "ax yb", TSL_ENCODE_SPECIAL, 5, 20, 6);
  ENCODES(v, "ax\xE2\x96\x81yb", TSL_ENCODE_SPECIAL, 5, 20, 6);
  ENCODES(v, "a\xC3\xA9 ab", TSL_ENCODE_SPECIAL, 5, 21, 8);
  ENCODES(v, "ae\xCC\x81", 0, 5, 1, 2);
  tsl_vocab_release(v);
}

static void test_options(void) {
  static const tsl_token eog[] = {3, 0}, outside[] = {26};
  tsl_vocab_options o = {.logits_width = 100, .eog = eog, .eog_count = 2};
  tsl_vocab *v = load(byte_file, NULL, &o);
  if (!v) return;
  CHECK(tsl_vocab_logits_width(v) == 100 && tsl_vocab_is_eog(v, 3) && tsl_vocab_is_special(v, 0) && !tsl_vocab_is_eog(v, 21) &&
        tsl_vocab_is_special(v, 21));
  tsl_vocab_release(v);
  o.eog = outside;
  CHECK(tsl_vocab_load_memory(byte_file, strlen(byte_file), NULL, &o, NULL, &v, NULL) == TSL_ERR_ARGUMENT && !v);
  o.eog = NULL;
  CHECK(tsl_vocab_load_memory(byte_file, strlen(byte_file), NULL, &o, NULL, &v, NULL) == TSL_ERR_ARGUMENT && !v);
}

/* ---- files that lie ------------------------------------------------------------------------------------------- */

#define MODEL(vocab, merges) "{\"model\":{\"type\":\"BPE\",\"vocab\":" vocab ",\"merges\":" merges "}}"

static void test_bad_json(void) {
  static char deep[400];
  static const struct {
    const char *text;
    tsl_status status;
    const char *words, *at;
  } cases[] = {
      /* `at`: what the text has at the offset (NULL: not checked) */
      {"", TSL_ERR_FORMAT, "neither", NULL},
      {"hello", TSL_ERR_FORMAT, "neither", NULL},
      {"GGUF\3", TSL_ERR_FORMAT, "GGUF", "GGUF"},
      {"{", TSL_ERR_SYNTAX, "not JSON", ""},
      {"{\"model\":{\"vocab\":{\"a\":0,", TSL_ERR_SYNTAX, "not JSON", ""},
      {"{} x", TSL_ERR_SYNTAX, "not JSON", NULL},
      {"{\"a\":\"\xFF\"}", TSL_ERR_SYNTAX, "not JSON", NULL},
      {"{}", TSL_ERR_FORMAT, "no \"model\"", "{}"},
      {"{\"model\":[]}", TSL_ERR_FORMAT, "no \"model\"", NULL},
      {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1.5]]}}", TSL_ERR_UNSUPPORTED, "BPE", "\"Unigram"},
      {"{\"model\":{\"type\":\"BPE\"}}", TSL_ERR_FORMAT, "no tokens", NULL},
      {MODEL("{}", "[]"), TSL_ERR_FORMAT, "no tokens", NULL},
      {MODEL("{\"a\":-1}", "[]"), TSL_ERR_FORMAT, "whole number", "}"},
      {MODEL("{\"a\":1.5}", "[]"), TSL_ERR_FORMAT, "whole number", "}"},
      {MODEL("{\"a\":4294967295}", "[]"), TSL_ERR_FORMAT, "whole number", "}"},
      {MODEL("{\"a\":99999999999999999999}", "[]"), TSL_ERR_FORMAT, "whole number", "}"},
      {MODEL("{\"a\":4194304}", "[]"), TSL_ERR_LIMIT, "TSL_MAX_VOCAB", NULL},
      {MODEL("{\"a\":\"0\"}", "[]"), TSL_ERR_FORMAT, "is not a number", "}"},
      {MODEL("{\"a\":{}}", "[]"), TSL_ERR_FORMAT, "is not a number", NULL},
      {MODEL("{\"a\":[]}", "[]"), TSL_ERR_FORMAT, "is not a number", NULL},
      {MODEL("{\"a\":null}", "[]"), TSL_ERR_FORMAT, "is not a number", NULL},
      {MODEL("{\"a\":true}", "[]"), TSL_ERR_FORMAT, "is not a number", NULL},
      {MODEL("{\"a\":0,\"b\":0}", "[]"), TSL_ERR_FORMAT, "same id; the second is \"b\"", "\"b\":0"},
      {MODEL("{\"a\":0,\"a\":1}", "[]"), TSL_ERR_FORMAT, "token twice: \"a\"", "\"a\":1"},
      {MODEL("{\"a\":0}", "[\"a b\"]"), TSL_ERR_FORMAT, "no token: \"b\"", "\"a b"},
      {MODEL("{\"a\":0}", "[\"a a\"]"), TSL_ERR_FORMAT, "no token: \"aa\"", "\"a a"},
      {MODEL("{\"a\":0}", "[\"aa\"]"), TSL_ERR_FORMAT, "one space", "\"aa"},
      {MODEL("{\"a\":0}", "[\"a a a\"]"), TSL_ERR_FORMAT, "one space", NULL},
      {MODEL("{\"a\":0}", "[\"\"]"), TSL_ERR_FORMAT, "one space", NULL},
      {MODEL("{\"a\":0}", "[[\"a\"]]"), TSL_ERR_FORMAT, "merges is neither", NULL},
      {MODEL("{\"a\":0}", "[[\"a\",\"a\",\"a\"]]"), TSL_ERR_FORMAT, "merges is neither", NULL},
      {MODEL("{\"a\":0}", "[[[\"a\",\"a\"]]]"), TSL_ERR_FORMAT, "merges is neither", NULL},
      {MODEL("{\"a\":0}", "[3]"), TSL_ERR_FORMAT, "merges is neither", NULL},
      {MODEL("{\"a\":0}", "[{}]"), TSL_ERR_FORMAT, "merges is neither", NULL},
      {MODEL("{\"a\":0}", "[null]"), TSL_ERR_FORMAT, "merges is neither", NULL},
      {"{\"model\":{\"vocab\":{\"a\":0},\"vocab\":{\"a\":1}}}", TSL_ERR_FORMAT, "token twice", NULL},
      {"{\"model\":{\"vocab\":{\"a\":0},\"unk_token\":\"b\"}}", TSL_ERR_FORMAT, "unk_token", "\"b\"}"},
      {"{\"model\":{\"vocab\":{\"a\":0},\"unk_token\":3}}", TSL_ERR_FORMAT, "unk_token", "3}"},
      {"{\"model\":{\"vocab\":{\"a\":0},\"dropout\":0.1}}", TSL_ERR_UNSUPPORTED, "dropout", "0.1"},
      {"{\"model\":{\"vocab\":{\"a\":0},\"end_of_word_suffix\":\"</w>\"}}", TSL_ERR_UNSUPPORTED, "end_of_word_suffix", NULL},
      {"{\"model\":{\"vocab\":{\"a\":0},\"ignore_merges\":true}}", TSL_ERR_UNSUPPORTED, "ignore_merges", NULL},
      {"{\"added_tokens\":{},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "not an array", "{},"},
      {"{\"added_tokens\":[3],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "added token", "3]"},
      {"{\"added_tokens\":[{\"id\":1}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "added token", NULL},
      {"{\"added_tokens\":[{\"id\":\"1\",\"content\":\"x\"}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "added token", NULL},
      {"{\"added_tokens\":[{\"id\":1,\"content\":\"\"}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "added token", NULL},
      {"{\"added_tokens\":[{\"id\":0,\"content\":\"x\"}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "same id", "\"x\""},
      {"{\"added_tokens\":[{\"id\":1,\"content\":\"a\"}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "token twice", "\"a\"}]"},
      {"{\"added_tokens\":[{\"id\":9,\"content\":\"x\"},{\"id\":8,\"content\":\"x\"}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT,
       "token twice", NULL},
      {"{\"added_tokens\":[{\"id\":4194304,\"content\":\"x\"}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_LIMIT, "TSL_MAX_VOCAB", NULL},
      {"{\"added_tokens\":[{\"id\":1,\"content\":\"\xED\xA0\x80\"}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "UTF-8", NULL},
      {"{\"normalizer\":{\"type\":\"BertNormalizer\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_UNSUPPORTED, "\"BertNormalizer\"",
       "\"Bert"},
      {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"x\"},\"content\":\"y\"},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_UNSUPPORTED, "regular expression", NULL},
      {"{\"normalizer\":{\"type\":\"Replace\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "Replace", NULL},
      {"{\"normalizer\":{\"type\":\"Prepend\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "Prepend", NULL},
      {"{\"normalizer\":{\"type\":\"Sequence\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "Sequence", NULL},
      {"{\"normalizer\":[],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "\"type\"", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_UNSUPPORTED, "\"BertPreTokenizer\"",
       NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "Split", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"},\"behavior\":\"Any\"},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "behavior", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(x\"},\"behavior\":\"Isolated\"},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_SYNTAX, "pattern \"(x\"", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\C\"},\"behavior\":\"Isolated\"},\"model\":{\"vocab\":{\"a\":0}}"
       "}",
       TSL_ERR_SYNTAX, "pattern", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a[b]]\"},\"behavior\":\"Isolated\"},\"model\":{\"vocab\":{\"a\":0}"
       "}}",
       TSL_ERR_UNSUPPORTED, "set within a set", NULL},
      {"{\"pre_tokenizer\":" BYTE_LEVEL("false") ",\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_UNSUPPORTED, "agree on ByteLevel", NULL},
      {"{\"decoder\":" BYTE_LEVEL("false") ",\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_UNSUPPORTED, "agree on ByteLevel", NULL},
      {"{\"decoder\":{\"type\":\"WordPiece\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_UNSUPPORTED, "decoder", "\"WordPiece"},
      {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"x\"}}],\"special_tokens\":{}},"
       "\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "without ids", NULL},
      {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"x\"}}],\"special_tokens\":{\"x\":{"
       "\"ids\":[7]}}},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "is no token", "7]"},
      {deep, TSL_ERR_FORMAT, "64 levels", NULL},
  };
  memset(deep, '[', sizeof deep - 1);
  memcpy(deep, "{\"x\":", 5);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_vocab *v;
    tsl_error error = {0};
    const char *text = cases[i].text;
    tsl_status status = tsl_vocab_load_memory(text, strlen(text), "tokenizer.json", NULL, NULL, &v, &error);
    CHECKF(status == cases[i].status && error.status == status && strstr(error.message, cases[i].words) && !v, "%s: %s: %s", text,
           tsl_status_name(status), error.message);
    bool inside = error.offset <= strlen(text);
    CHECKF(inside && (!cases[i].at ||
                      (*cases[i].at ? !strncmp(text + error.offset, cases[i].at, strlen(cases[i].at)) : error.offset == strlen(text))),
           "%s: offset %zu", text, error.offset);
    tsl_vocab_release(v);
  }
}

/* Every prefix of a good file fails, and no one-byte change crashes. */
static void test_damaged_json(void) {
  size_t n = strlen(byte_file), failed = 0, loaded = 0;
  char *copy = malloc(n + 1);
  for (size_t cut = 0; cut < n; cut++) {
    tsl_vocab *v;
    tsl_error error;
    failed += tsl_vocab_load_memory(byte_file, cut, NULL, NULL, NULL, &v, &error) != TSL_OK && !v && error.offset <= cut;
  }
  CHECKF(failed == n, "%zu of %zu prefixes failed", failed, n);
  uint64_t seed = 11;
  for (size_t i = 0; i < 4 * n; i++) {
    tsl_vocab *v;
    memcpy(copy, byte_file, n + 1);
    copy[i % n] = (char)(i < n ? copy[i % n] ^ 1 : (int)tsl_test_random(&seed));
    if (tsl_vocab_load_memory(copy, n, NULL, NULL, NULL, &v, NULL) == TSL_OK) {
      tsl_token ids[64];
      size_t count;
      loaded++;
      tsl_vocab_encode(v, "ab <s>ab \xC3\xA9<w> <l>x<r> ", 22, TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, ids, 64, &count);
      if (!tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special)) CHECKF(false, "change %zu: the trie is broken", i);
    }
    tsl_vocab_release(v);
  }
  CHECKF(loaded > n / 4, "%zu of %zu changed files could still be loaded", loaded, 4 * n);
  free(copy);
}

/* ---- tiktoken ------------------------------------------------------------------------------------------------- */

static const char ranks[] = "YQ== 0\nYg== 1\nIA== 2\nYWI= 3\r\nIGFi 5\n\n";

static void test_tiktoken(void) {
  tsl_vocab_options o = {.pattern = " ?\\p{L}+|\\s+"};
  tsl_vocab *v = load(ranks, "x.tiktoken", &o);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 6 && token_is(v, 3, "ab") && token_is(v, 4, "") && token_is(v, 5, " ab"));
  ENCODES(v, "ab ab", 0, 3, 5);
  ENCODES(v, "aab", 0, 0, 3);
  ENCODES(v, "a1b", 0, 0, 1); /* what the pattern does not match is left out */
  tsl_vocab_release(v);
  v = load(ranks, "some/folder/r50k_base.tiktoken", NULL);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 50257 && tsl_vocab_is_eog(v, 50256) && tsl_vocab_find_special(v, "<|endoftext|>", 13) == 50256);
  ENCODES(v, "ab<|endoftext|> ab", TSL_ENCODE_SPECIAL, 3, 50256, 5);
  tsl_vocab_release(v);
  v = load(ranks, "o200k_harmony.tiktoken", NULL);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 201088 && tsl_vocab_find_special(v, "<|reserved_201087|>", 19) == 201087 &&
        tsl_vocab_find_special(v, "<|call|>", 8) == 200012 && tsl_vocab_is_eog(v, 200012));
  CHECK(tsl_vocab_is_eog(v, 200002) && tsl_vocab_is_special(v, 200007) && !tsl_vocab_is_eog(v, 200007)); /* <|return|>, <|end|> */
  tsl_vocab_release(v);
}

static void test_bad_tiktoken(void) {
  static const struct {
    const char *text, *name;
    tsl_status status;
    const char *words;
    size_t offset;
  } cases[] = {
      {"YQ== 0\n", "unknown", TSL_ERR_ARGUMENT, "pattern", 0},
      {"YQ== 0\nYg==1\n", "r50k_base", TSL_ERR_SYNTAX, "a space and a rank", 7},
      {"YQ== 0\nY!== 1\n", "r50k_base", TSL_ERR_SYNTAX, "base64", 8},
      {"YQ== 0\nYR== 1\n", "r50k_base", TSL_ERR_SYNTAX, "bits left over", 7},
      {"YQ== 0\nYQ= 1\n", "r50k_base", TSL_ERR_SYNTAX, "groups of four", 7},
      {"YQ== 0\n==== 1\n", "r50k_base", TSL_ERR_SYNTAX, "base64", 7},
      {"YQ== 0\nY=== 1\n", "r50k_base", TSL_ERR_SYNTAX, "base64", 8},
      {"YQ== 0\nYQ==Yg== 1\n", "r50k_base", TSL_ERR_SYNTAX, "base64", 9},
      {"YQ== 0\n 1\n", "r50k_base", TSL_ERR_SYNTAX, "groups of four", 7},
      {"YQ== 0\nYg== \n", "r50k_base", TSL_ERR_SYNTAX, "digits", 12},
      {"YQ== 0\nYg== -1\n", "r50k_base", TSL_ERR_SYNTAX, "decimal", 12},
      {"YQ== 0\nYg== 1x\n", "r50k_base", TSL_ERR_SYNTAX, "decimal", 13},
      {"YQ== 0\nYg== 4294967296\n", "r50k_base", TSL_ERR_SYNTAX, "digits", 12},
      {"YQ== 0\nYg== 4194304\n", "r50k_base", TSL_ERR_LIMIT, "TSL_MAX_VOCAB", 19},
      {"YQ== 0\nYg== 0\n", "r50k_base", TSL_ERR_FORMAT, "the rank 0", 0},
      {"YQ== 0\nYQ== 1\n", "r50k_base", TSL_ERR_FORMAT, "1 tokens are there twice", 0},
      {"YQ== 50256\n", "r50k_base", TSL_ERR_FORMAT, "<|endoftext|>", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_vocab *v;
    tsl_error error = {0};
    tsl_status status = tsl_vocab_load_memory(cases[i].text, strlen(cases[i].text), cases[i].name, NULL, NULL, &v, &error);
    CHECKF(status == cases[i].status && strstr(error.message, cases[i].words) && error.offset == cases[i].offset && !v, "%s: %s at %zu: %s",
           cases[i].text, tsl_status_name(status), error.offset, error.message);
    tsl_vocab_release(v);
  }
  tsl_vocab_options o = {.pattern = "(a"};
  tsl_vocab *v;
  CHECK(tsl_vocab_load_memory(ranks, strlen(ranks), NULL, &o, NULL, &v, NULL) == TSL_ERR_SYNTAX && !v);
}

/* ---- the embedded vocabulary ---------------------------------------------------------------------------------- */

static void test_embedded(void) {
  tsl_vocab *v;
  tsl_error error;
  CHECK(tsl_vocab_embedded(NULL, &v, &error) == TSL_OK);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 4096 && tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special));
  bool bytes = true;
  for (unsigned b = 0; b < 256; b++) bytes = bytes && v->offsets[b + 1] - v->offsets[b] == 1 && v->bytes[v->offsets[b]] == b;
  CHECK(bytes);
  tsl_token end = tsl_vocab_find_special(v, "<|endoftext|>", 13);
  CHECK(end != TSL_NO_TOKEN && tsl_vocab_is_eog(v, end) && tsl_vocab_find_special(v, "<|tool_call|>", 13) != TSL_NO_TOKEN);
  ENCODES(v, "\xFF\xC3", 0, 0xFF, 0xC3);
  ENCODES(v, "<|endoftext|>", TSL_ENCODE_SPECIAL, end);
  CHECK(tsl_vocab_embedded(NULL, NULL, NULL) == TSL_ERR_ARGUMENT);
  tsl_vocab_release(v);
}

/* A long piece without any border: the encoder is not quadratic. */
static void test_long_pieces(void) {
  tsl_vocab *v;
  enum { N = 2000000 };
  if (tsl_vocab_embedded(NULL, &v, NULL)) return;
  char *text = malloc(N);
  tsl_token *ids = malloc(N * sizeof *ids);
  size_t count = 0, total = 0;
  uint64_t seed = 2;
  for (size_t i = 0; i < N; i++) text[i] = (char)('a' + tsl_test_random(&seed) % 26);
  CHECK(tsl_vocab_encode(v, text, N, 0, ids, N, &count) == TSL_OK && count > N / 8 && count < N);
  for (size_t i = 0; i < count; i++) total += v->offsets[ids[i] + 1] - v->offsets[ids[i]];
  CHECK(total == N);
  memset(text, ' ', N); /* PCRE2's longest loops */
  CHECK(tsl_vocab_encode(v, text, N, 0, ids, N, &count) == TSL_OK && count > 0);
  free(ids);
  free(text);
  tsl_vocab_release(v);
}

/* ---- threads -------------------------------------------------------------------------------------------------- */

typedef struct job {
  tsl_vocab *vocab;
  uint64_t hash; /* of all ids */
} job;

static void *encode_much(void *ctx) {
  job *j = ctx;
  tsl_token ids[256];
  char text[256];
  uint64_t seed = 17;
  for (int i = 0; i < 400; i++) {
    size_t length = 1 + (size_t)(tsl_test_random(&seed) % sizeof text), count;
    for (size_t k = 0; k < length; k++) text[k] = (char)(32 + tsl_test_random(&seed) % 95);
    if (tsl_vocab_encode(j->vocab, text, length, TSL_ENCODE_SPECIAL, ids, 256, &count)) continue;
    for (size_t k = 0; k < count; k++) j->hash = tsl__mix(j->hash + ids[k]);
  }
  tsl_vocab_release(j->vocab);
  return NULL;
}

/* Threads that encode at once get what one thread gets. */
static void test_threads(void) {
  job jobs[5] = {{0}};
  pthread_t threads[4];
  tsl_vocab *v;
  if (tsl_vocab_embedded(NULL, &v, NULL)) return;
  for (int i = 0; i < 5; i++) {
    jobs[i].vocab = v;
    tsl_vocab_retain(v);
  }
  encode_much(&jobs[4]);
  for (int i = 0; i < 4; i++) CHECK(!pthread_create(&threads[i], NULL, encode_much, &jobs[i]));
  tsl_vocab_release(v);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    CHECK(jobs[i].hash && jobs[i].hash == jobs[4].hash);
  }
}

/* ---- out of memory -------------------------------------------------------------------------------------------- */

static const struct { const char *text, *name; } no_memory_files[] = {{byte_file, NULL}, {ranks, "cl100k_base"}, {NULL, NULL}};

static tsl_status load_one(size_t i, const tsl_allocator *a, tsl_vocab **v) {
  if (!no_memory_files[i].text) return tsl_vocab_embedded(a, v, NULL);
  return tsl_vocab_load_memory(no_memory_files[i].text, strlen(no_memory_files[i].text), no_memory_files[i].name, NULL, a, v, NULL);
}

static void test_load_no_memory(void) {
  for (size_t i = 0; i < sizeof no_memory_files / sizeof *no_memory_files; i++) {
    unsigned failures = 0;
    for (size_t n = 0; n < 100000; n++) {
      failing f = {n, 0};
      tsl_allocator a = {&f, failing_hook};
      tsl_vocab *v;
      tsl_status status = load_one(i, &a, &v);
      bool used_up = f.countdown == SIZE_MAX || f.countdown > n; /* some request has failed */
      tsl_vocab_release(v);
      CHECKF(f.held == 0, "file %zu, allocation %zu: %zu bytes held", i, n, f.held);
      if (!status && !used_up) break;
      CHECKF(status == TSL_ERR_NO_MEMORY || !status, "file %zu, allocation %zu: %s", i, n,
             tsl_status_name(status)); /* PCRE2 goes on without its JIT */
      failures += status != TSL_OK;
    }
    CHECKF(failures > 30, "file %zu: %u failures", i, failures);
  }
}

static void test_encode_no_memory(void) {
  failing f = {SIZE_MAX / 2, 0};
  tsl_allocator a = {&f, failing_hook};
  tsl_vocab *v;
  tsl_token ids[64];
  unsigned failures = 0;
  size_t count;
  static const char text[] = "a b<s>ab <w> <l>ab \xC3\xA9 ab\xFF";
  CHECK(load_one(0, &a, &v) == TSL_OK);
  for (size_t n = 0;; n++) {
    size_t held = f.held;
    f.countdown = n;
    tsl_status status = tsl_vocab_encode(v, text, sizeof text - 1, TSL_ENCODE_SPECIAL, ids, 64, &count);
    f.countdown = SIZE_MAX / 2;
    CHECK(f.held == held);
    if (!status) break;
    CHECKF(status == TSL_ERR_NO_MEMORY, "allocation %zu: %s", n, tsl_status_name(status));
    failures++;
  }
  CHECK(failures >= 5);
  tsl_vocab_release(v);
  CHECK(f.held == 0);
}

/* ---- the cache ------------------------------------------------------------------------------------------------ */

static char cache_dir[256]; /* made in the build folder, or here */

/* The path of the one entry in the folder; false if there is not exactly one file. */
static bool only_entry(char path[512]) {
  DIR *d = opendir(cache_dir);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, 512, "%s/%s", cache_dir, e->d_name);
    n++;
  }
  if (d) closedir(d);
  return n == 1;
}

static char *read_whole(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *data = malloc(*size + 1);
  *size = fread(data, 1, *size, f);
  fclose(f);
  return data;
}

static void write_whole(const char *path, const char *data, size_t size) {
  unlink(path); /* some file systems wait for the disk when a file is written over */
  FILE *f = fopen(path, "wb");
  if (!f) return;
  fwrite(data, 1, size, f);
  fclose(f);
}

static bool same_vocab(const tsl_vocab *a, const tsl_vocab *b) {
  uint8_t x[16], y[16];
  tsl_token ids[2][64];
  size_t n[2];
  static const char text[] = "ab <s>ab \xC3\xA9 <w> <l>ab<r> \xFF";
  tsl_vocab_identity(a, x);
  tsl_vocab_identity(b, y);
  if (memcmp(x, y, 16) || a->size != b->size || a->logits_width != b->logits_width || a->eog_count != b->eog_count) return false;
  if (memcmp(a->offsets, b->offsets, (a->size + 1) * sizeof *a->offsets) || memcmp(a->bytes, b->bytes, a->offsets[a->size]) ||
      memcmp(a->special, b->special, a->size))
    return false;
  if (tsl_vocab_encode(a, text, sizeof text - 1, 3, ids[0], 64, &n[0]) || tsl_vocab_encode(b, text, sizeof text - 1, 3, ids[1], 64, &n[1]))
    return false;
  return n[0] == n[1] && !memcmp(ids[0], ids[1], n[0] * sizeof(tsl_token)) &&
         tsl__trie_check(&b->trie, b->bytes, b->offsets, b->size, b->special) && tsl_vocab_find_special(b, "<w>", 3) == 22 &&
         tsl_vocab_find_special(b, "</s>", 4) == 21;
}

static void test_cache(void) {
  char path[512], file[512];
  tsl_vocab_options o = {.cache_dir = cache_dir};
  tsl_vocab *plain = load(byte_file, NULL, NULL), *first = load(byte_file, NULL, &o), *second = load(byte_file, NULL, &o);
  if (!plain || !first || !second) return;
  CHECK(only_entry(path));
  CHECK(!first->mapping && second->mapping);
  CHECK(same_vocab(plain, first) && same_vocab(plain, second));
  CHECK(tsl_vocab_memory(second) > second->mapping_size);
  tsl_vocab_release(first);
  tsl_vocab_release(second);
  /* Other options are another entry; the same file by path is the same entry only under the same name. */
  o.logits_width = 64;
  tsl_vocab *wide = load(byte_file, NULL, &o);
  CHECK(wide && !wide->mapping && !only_entry(path));
  tsl_vocab_release(wide);
  o.logits_width = 0;
  snprintf(file, sizeof file, "%s/.tokenizer.json", cache_dir);
  write_whole(file, byte_file, strlen(byte_file));
  for (int i = 0; i < 2; i++) {
    tsl_vocab *v;
    CHECK(tsl_vocab_load_file(file, &o, NULL, &v, NULL) == TSL_OK && same_vocab(plain, v) && (v->mapping != NULL) == (i == 1));
    tsl_vocab_release(v);
  }
  CHECK(tsl_vocab_load_file("/nowhere/at/all", NULL, NULL, &first, NULL) == TSL_ERR_IO && !first);
  CHECK(tsl_vocab_load_file(cache_dir, NULL, NULL, &first, NULL) == TSL_ERR_IO && !first);
  o.cache_dir = "/nowhere/at/all"; /* a cache that cannot be written is no error */
  CHECK(tsl_vocab_load_file(file, &o, NULL, &first, NULL) == TSL_OK && !first->mapping);
  tsl_vocab_release(first);
  tsl_vocab_release(plain);
}

static void empty_cache(void) {
  DIR *d = opendir(cache_dir);
  char path[512];
  for (struct dirent *e; d && (e = readdir(d));) {
    snprintf(path, sizeof path, "%s/%s", cache_dir, e->d_name);
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) unlink(path);
  }
  if (d) closedir(d);
}

/* Every truncation and every flipped bit is noticed, and the entry is written again. */
static void test_damaged_cache(void) {
  char path[512];
  tsl_vocab_options o = {.cache_dir = cache_dir};
  empty_cache();
  tsl_vocab *plain = load(byte_file, NULL, &o), *v;
  size_t size;
  CHECK(plain && only_entry(path));
  char *good = read_whole(path, &size);
  if (!plain || !good) return;
  uint64_t seed = 3;
  unsigned noticed = 0, rewritten = 0, rounds = 300;
  for (unsigned i = 0; i < rounds; i++) {
    char *bad = malloc(size + 64);
    size_t bad_size = size;
    memcpy(bad, good, size);
    if (i % 3 == 0) bad_size = (size_t)(tsl_test_random(&seed) % size);
    else if (i % 3 == 1) bad[tsl_test_random(&seed) % size] ^= (char)(1 << i % 8);
    else memset(bad + size, 0, 64), bad_size += 1 + i % 64;
    write_whole(path, bad, bad_size);
    free(bad);
    v = load(byte_file, NULL, &o);
    noticed += v && !v->mapping;
    if (v) tsl_vocab_release(v);
    v = load(byte_file, NULL, &o);
    rewritten += v && v->mapping && same_vocab(plain, v);
    tsl_vocab_release(v);
  }
  CHECKF(noticed == rounds && rewritten == rounds, "%u noticed, %u rewritten of %u", noticed, rewritten, rounds);
  free(good);
  tsl_vocab_release(plain);
}

/* Reading an entry needs memory too: without it the file is read instead, or the load fails, and nothing is kept. */
static void test_cache_no_memory(void) {
  tsl_vocab_options o = {.cache_dir = cache_dir};
  char path[512];
  empty_cache();
  tsl_vocab *v = load(byte_file, NULL, &o);
  CHECK(only_entry(path));
  tsl_vocab_release(v);
  unsigned failures = 0, read_anew = 0;
  for (size_t n = 0;; n++) {
    failing f = {n, 0};
    tsl_allocator a = {&f, failing_hook};
    tsl_status status = tsl_vocab_load_memory(byte_file, strlen(byte_file), NULL, &o, &a, &v, NULL);
    bool mapped = v && v->mapping, used_up = f.countdown > n;
    tsl_vocab_release(v);
    CHECKF(f.held == 0 && (!status || status == TSL_ERR_NO_MEMORY), "allocation %zu: %s, %zu bytes held", n, tsl_status_name(status),
           f.held);
    failures += status != TSL_OK;
    read_anew += !status && !mapped;
    if (mapped && !used_up) break;
  }
  CHECKF(failures + read_anew > 10, "%u failures, %u read anew", failures, read_anew);
}

/* Where the checksum stands: the last 16 bytes of the header (vocab_cache.c). */
#define HEADER_BYTES (8 + 6 * 4 + 8 + 16 + 16 + (7 + TSL__SPAN_COUNT) * 16 + 16)

static void seal(char *file, size_t size) {
  XXH128_canonical_t sum;
  memset(file + HEADER_BYTES - 16, 0, 16);
  XXH128_canonicalFromHash(&sum, XXH3_128bits(file, size));
  memcpy(file + HEADER_BYTES - 16, sum.digest, 16);
}

/* Use everything that an index in the file could lead astray. */
static void exercise(const tsl_vocab *v) {
  static const char text[] = "ab <s>ab \xC3\xA9 <w> <l>ab<r> \xFF aab  \n";
  tsl_token ids[64];
  size_t n, sum = 0;
  tsl_vocab_encode(v, text, sizeof text - 1, 3, ids, 64, &n);
  for (tsl_token i = 0; i < v->size; i++) {
    const uint8_t *bytes = tsl_vocab_bytes(v, i, &n);
    for (size_t k = 0; k < n; k++) sum += bytes[k];
  }
  for (uint32_t i = 0; i < v->trie.node_count; i++) {
    for (unsigned b = 0; b < 256; b++) sum += tsl__trie_child(&v->trie, i, (uint8_t)b);
    for (uint32_t k = v->trie.nodes[i].begin; k < v->trie.nodes[i].end; k++) sum += v->trie.order[k];
    if (v->trie.nodes[i].below != UINT16_MAX) sum += v->trie.sets[v->trie.nodes[i].below].w[0] & 1;
  }
  CHECK(sum != 1);
}

/* Someone changes the file and makes the checksum right: it is refused, or harmless. Run with a sanitiser this shows more. */
static void test_forged_cache(void) {
  char path[512];
  tsl_vocab_options o = {.cache_dir = cache_dir};
  empty_cache();
  tsl_vocab *v = load(byte_file, NULL, &o);
  size_t size;
  CHECK(v && only_entry(path));
  char *good = read_whole(path, &size);
  tsl_vocab_release(v);
  if (!good) return;
  char *same = malloc(size);
  memcpy(same, good, size);
  seal(same, size);
  CHECK(!memcmp(same, good, size)); /* the seal is the one that the library makes */
  free(same);
  uint64_t seed = 4;
  unsigned taken = 0, refused = 0;
  for (unsigned i = 0; i < 1500; i++) {
    char *bad = malloc(size);
    memcpy(bad, good, size);
    size_t at = i < 2 * size ? i / 2 * 2 % size : (size_t)(tsl_test_random(&seed) % size);
    if (i % 2) bad[at] = (char)tsl_test_random(&seed);
    else memset(bad + at / 4 * 4, i % 4 ? 0xFF : (int)tsl_test_random(&seed), 4);
    seal(bad, size);
    write_whole(path, bad, size);
    free(bad);
    v = load(byte_file, NULL, &o);
    if (v && v->mapping) taken++;
    else refused++;
    if (v) exercise(v);
    tsl_vocab_release(v);
  }
  CHECKF(taken > 100 && refused > 200, "%u taken, %u refused", taken, refused);
  free(good);
}

int main(void) {
  const char *build = getenv("TSL_BUILD");
  snprintf(cache_dir, sizeof cache_dir, "%.200s/test-cache-XXXXXX", build ? build : ".");
  if (!mkdtemp(cache_dir)) {
    perror(cache_dir);
    return 1;
  }
  RUN(test_arrays, "a vocabulary from arrays");
  RUN(test_greedy_special, "the longest token, special tokens");
  RUN(test_bad_arrays, "arrays that do not fit");
  RUN(test_identity, "what the identity depends on");
  RUN(test_arrays_no_memory, "each allocation fails once");
  RUN(test_byte_level, "tokenizer.json, byte level");
  RUN(test_added, "added tokens: words, stripping");
  RUN(test_invalid_utf8, "invalid UTF-8 goes byte by byte");
  RUN(test_prefix_space, "add_prefix_space");
  RUN(test_code_points, "tokenizer.json, code points");
  RUN(test_metaspace, "Metaspace and where it prepends");
  RUN(test_splits, "Split: the five behaviours");
  RUN(test_normalised_added, "added tokens in normalised text, NFC");
  RUN(test_options, "options");
  RUN(test_bad_json, "tokenizer files that lie");
  RUN(test_damaged_json, "cut off, changed");
  RUN(test_tiktoken, "tiktoken rank files");
  RUN(test_bad_tiktoken, "rank files that lie");
  RUN(test_embedded, "the embedded vocabulary");
  RUN(test_long_pieces, "pieces of two megabytes");
  RUN(test_threads, "four threads encode at once");
  RUN(test_load_no_memory, "each allocation of a load fails once");
  RUN(test_encode_no_memory, "each allocation of an encode fails once");
  RUN(test_cache, "the cache");
  RUN(test_damaged_cache, "a damaged cache file is written again");
  RUN(test_cache_no_memory, "each allocation of a read from the cache fails");
  RUN(test_forged_cache, "a forged cache file does no harm");
  empty_cache();
  rmdir(cache_dir);
  return tsl_test_end();
}
