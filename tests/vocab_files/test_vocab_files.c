/* test_vocab_files.c - vocabularies from small tokenizer files written here, and from files that
 * lie: tokenizer.json, tiktoken; every allocation fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <time.h>

#include "tests/support/vocab.h"

/* ---- tokenizer.json -------------------------------------------------------------------------- */

static void test_byte_level(void) {
  tsl_vocab *v = load(byte_file, NULL, NULL);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 26 && token_is(v, 5, " ab") && token_is(v, 8, "\xC3\xA9") &&
        token_is(v, 9, "") && token_is(v, 13, "\n") && token_is(v, 21, "</s>"));
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
  /* a word before it; and "w" is no token */
  CHECK(tsl_vocab_encode(v, "a<w>", 4, TSL_ENCODE_SPECIAL, ids, 8, &n) == TSL_ERR_SYNTAX);
  /* a word after it */
  CHECK(tsl_vocab_encode(v, "<w>\xC3\xA9", 5, TSL_ENCODE_SPECIAL, ids, 8, &n) == TSL_ERR_SYNTAX);
  /* takes the white space before it along */
  ENCODES(v, "a \xC2\xA0\xE3\x80\x80<l> a", TSL_ENCODE_SPECIAL, 0, 23, 4);
  ENCODES(v, "a <r> \n a", TSL_ENCODE_SPECIAL, 0, 2, 24, 0);
  ENCODES(v, "<r> <l>", TSL_ENCODE_SPECIAL, 24, 23); /* each byte of white space once */
  ENCODES(v, "<s></s>", TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, 20, 20, 21);
  tsl_vocab_release(v);
}

/* Invalid bytes stand alone; what is left and right of them is encoded as if the other side were
 * not there. */
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
  static const char file[] = "{\"pre_tokenizer\":" BYTE_LEVEL("true") ",\"decoder\":" BYTE_LEVEL(
      "true") "," ADDED_TOKENS "," BYTE_MODEL "}";
  tsl_vocab *v = load(file, NULL, NULL);
  if (!v) return;
  ENCODES(v, "ab", 0, 5);
  ENCODES(v, " ab", 0, 5);
  ENCODES(v, "ab<s>ab", TSL_ENCODE_SPECIAL, 5, 20, 5);
  tsl_vocab_release(v);
}

/* SentencePiece style: "▁" is a space, bytes fall back, unknown characters are fused. */
#define POINT_MODEL(fallback, fuse)                                                      \
  "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"byte_fallback\":" fallback      \
  ",\"fuse_unk\":" fuse ",\"vocab\":{\"<unk>\":0,\"<0xC3>\":1,"                          \
  "\"<0xA9>\":2,\"<0x0A>\":3,\"\xE2\x96\x81\":4,\"a\":5,\"b\":6,\"ab\":7,\"\xE2\x96\x81" \
  "ab\":8,\"\\n\":9,\"<0xFF>\":10},\"merges\":[[\"a\",\"b\"],[\"\xE2\x96\x81\",\"ab\"]]}"
#define SPACES "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xE2\x96\x81\"}"
#define POINT_DECODER                                                                    \
  "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{" \
  "\"String\":\"\xE2\x96\x81\"},\"content\":\" "                                         \
  "\"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}]}"

static void test_code_points(void) {
  tsl_vocab *v = load(
      "{\"normalizer\":" SPACES "," POINT_DECODER "," POINT_MODEL("true", "true") "}", NULL, NULL);
  if (!v) return;
  CHECK(token_is(v, 8, " ab") && token_is(v, 3, "\n") && token_is(v, 9, "\n") &&
        token_is(v, 1, "\xC3") && !tsl_vocab_is_special(v, 0));
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
  v = load("{\"normalizer\":" SPACES "," POINT_DECODER "," POINT_MODEL("false", "false") "}", NULL,
           NULL);
  if (!v) return;
  ENCODES(v,
          "a\xC3\xA8\xC3\xA8"
          "b",
          0, 5, 0, 0, 6);
  tsl_vocab_release(v);
}

static void test_metaspace(void) {
  static const char *const schemes[] = {
      "\"prepend_scheme\":\"always\"", "\"prepend_scheme\":\"first\"",
      "\"prepend_scheme\":\"never\"", "\"add_prefix_space\":false"};
  for (unsigned i = 0; i < 4; i++) {
    char file[2048];
    snprintf(file, sizeof file,
             "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\",%s},"
             "\"decoder\":{\"type\":\"Metaspace\","
             "\"replacement\":\"\xE2\x96\x81\"},"
             "\"added_tokens\":[" ADDED(20, "<s>", "true", "false", "false", "false",
                                        "false") "]," POINT_MODEL("true", "true") "}",
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
      {"Isolated", "false", {0, 1, 2, 1, 1, 3}, 6},
      {"Removed", "false", {0, 2, 3}, 3},
      {"MergedWithPrevious", "false", {4, 6, 1, 3}, 4},
      {"MergedWithNext", "false", {0, 5, 1, 8}, 4},
      {"Contiguous", "false", {0, 1, 2, 7, 3}, 5},
      {"Removed", "true", {1, 1, 1}, 3},
      {"Contiguous", "true", {0, 1, 2, 7, 3}, 5},
  };
  static const char *const patterns[] = {"\"String\":\"-\"", "\"Regex\":\"-\""};
  for (unsigned p = 0; p < 2; p++) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      char file[2048];
      snprintf(file, sizeof file,
               "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{%s},\"behavior\":\"%s\","
               "\"invert\":%s},\"model\":{\"vocab\":{\"a\":0,"
               "\"-\":1,\"b\":2,\"c\":3,\"a-\":4,\"-b\":5,"
               "\"b-\":6,\"--\":7,\"-c\":8,\"b--\":9,\"--c\":10},\"merges\":[\"- -\",\"a -\",\"b "
               "-\",\"- b\",\"- c\",\"b --\",\"-- c\"]}}",
               patterns[p], cases[i].behaviour, cases[i].invert);
      tsl_vocab *v = load(file, NULL, NULL);
      if (!v) return;
      CHECKF(encodes(v, "a-b--c", 6, 0, cases[i].ids, cases[i].n), "%s, invert %s, pattern %u",
             cases[i].behaviour, cases[i].invert, p);
      tsl_vocab_release(v);
    }
  }
}

/* An added token that is looked for in normalised text; NFC. */
static void test_normalised_added(void) {
  tsl_vocab *v =
      load("{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}," SPACES
           "]}," POINT_DECODER ",\"added_tokens\":[" ADDED(
               20, "x y", "false", "false", "false", "false",
               "true") "," ADDED(21, "e\xCC\x81", "false", "false", "false", "false",
                                 "true") "]," POINT_MODEL("true", "true") "}",
           NULL, NULL);
  if (!v) return;
  ENCODES(v, "ax yb", TSL_ENCODE_SPECIAL, 5, 20, 6);
  ENCODES(v, "ax\xE2\x96\x81yb", TSL_ENCODE_SPECIAL, 5, 20, 6);
  ENCODES(v, "a\xC3\xA9 ab", TSL_ENCODE_SPECIAL, 5, 21, 8);
  ENCODES(v, "ae\xCC\x81", 0, 5, 1, 2);
  tsl_vocab_release(v);
}

/* White space that one token takes along may be where the next one begins, as in HF. */
static void test_added_in_space(void) {
  static const char file[] = "{\"pre_tokenizer\":" BYTE_LEVEL("false") ",\"decoder\":" BYTE_LEVEL(
      "true") ",\"added_tokens\":[" ADDED(20, "<r>", "true", "false", "false", "true",
                                          "false") "," ADDED(21, " <l>", "true", "false", "false",
                                                             "false",
                                                             "false") "," ADDED(22, "<m>", "true",
                                                                                "false", "true",
                                                                                "false",
                                                                                "false") "]"
                                                                                         "," BYTE_MODEL
                                                                                         "}";
  tsl_vocab *v = load(file, NULL, NULL);
  if (!v) return;
  ENCODES(v, "a<r> <l>a", TSL_ENCODE_SPECIAL, 0, 20, 21, 0);
  ENCODES(v, "<r>  <l> a", TSL_ENCODE_SPECIAL, 20, 21, 4);
  ENCODES(v, "<r>  <m>a", TSL_ENCODE_SPECIAL, 20, 22, 0);
  ENCODES(v, "<r>  a", TSL_ENCODE_SPECIAL, 20, 0);
  tsl_vocab_release(v);
}

/* An added token that is listed twice is one; with another id it is a lie. */
static void test_added_twice(void) {
  tsl_vocab *v = load(
      "{\"added_tokens\":[" ADDED(9, "</s>", "true", "false", "false", "false", "false") "," ADDED(
          9, "</s>", "true", "false", "false", "false",
          "false") "," ADDED(0, "a", "false", "false", "false", "false",
                             "false") "," ADDED(0, "a", "false", "false", "false", "false",
                                                "false") "],\"model\":{\"vocab\":{\"a\":0}}}",
      NULL, NULL);
  if (!v) return;
  CHECK(v->eog_count == 1 && tsl_vocab_is_eog(v, 9) && token_is(v, 0, "a") &&
        tsl_vocab_find_special(v, "</s>", 4) == 9);
  ENCODES(v, "a</s>", TSL_ENCODE_SPECIAL, 0, 9);
  tsl_vocab_release(v);
}

/* What no token spells is the unknown token, once for neighbours where the model says so; without
 * one encoding fails. */
static void test_unknown(void) {
#define UNKNOWN(steps, unknown, fuse)                                                  \
  "{" steps "\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"?\":2,\"a?\":3},\"merges\":[\"a " \
  "?\"],\"unk_token\":" unknown ",\"fuse_unk\":" fuse "}}"
#define BYTES_STEPS "\"pre_tokenizer\":" BYTE_LEVEL("false") ",\"decoder\":" BYTE_LEVEL("true") ","
  static const char *const files[] = {UNKNOWN("", "\"?\"", "false"), UNKNOWN("", "\"?\"", "true"),
                                      UNKNOWN(BYTES_STEPS, "\"?\"", "false"),
                                      UNKNOWN(BYTES_STEPS, "\"?\"", "true")};
  for (size_t i = 0; i < 4; i++) {
    tsl_vocab *v = load(files[i], NULL, NULL);
    if (!v) return;
    if (i % 2)
      ENCODES(v, "bxxb", 0, 1, 2, 1);
    else
      ENCODES(v, "bxxb", 0, 1, 2, 2, 1);
    ENCODES(v, "axb", 0, 3, 1);
    ENCODES(v, "b?xb", 0, 1, 2, 2, 1); /* a "?" of the text is not fused */
    ENCODES(v, "bx?b", 0, 1, 2, 2, 1);
    tsl_vocab_release(v);
  }
  /* None, one that is no token, one that is only an added token. */
  static const char *const without[] = {
      UNKNOWN("", "null", "true"), UNKNOWN(BYTES_STEPS, "null", "true"),
      UNKNOWN("", "\"!\"", "true"), UNKNOWN(BYTES_STEPS, "\"!\"", "true"),
      UNKNOWN("\"added_tokens\":[" ADDED(9, "!", "true", "false", "false", "false", "false") "],",
              "\"!\"", "true")};
  for (size_t i = 0; i < 5; i++) {
    tsl_vocab *v = load(without[i], NULL, NULL);
    tsl_token ids[8];
    size_t n;
    if (!v) return;
    ENCODES(v, "ba", 0, 1, 0);
    CHECK(tsl_vocab_encode(v, "axb", 3, 0, ids, 8, &n) == TSL_ERR_SYNTAX && n == 0);
    tsl_vocab_release(v);
  }
}

/* What is put before a text: by a template, by RobertaProcessing and BertProcessing, on their own
 * and in a Sequence. */
static void test_post_processors(void) {
#define CLS(kind) "{\"type\":\"" kind "\",\"sep\":[\"b\",1],\"cls\":[\"a\",0]}"
#define AFTER(processor) \
  "{\"post_processor\":" processor ",\"model\":{\"vocab\":{\"a\":0,\"b\":1}}}"
  static const char *const files[] = {
      AFTER(CLS("RobertaProcessing")), AFTER(CLS("BertProcessing")),
      AFTER("{\"type\":\"Sequence\",\"processors\":[" BYTE_LEVEL("true") "," CLS(
          "RobertaProcessing") "]}"),
      AFTER("{\"type\":\"Sequence\",\"processors\":[{\"type\":\"Sequence\",\"processors\":[" CLS(
          "BertProcessing") "]}]}")};
  for (size_t i = 0; i < 4; i++) {
    tsl_vocab *v = load(files[i], NULL, NULL);
    if (!v) return;
    ENCODES(v, "b", TSL_ENCODE_BOS, 0, 1);
    ENCODES(v, "b", 0, 1);
    tsl_vocab_release(v);
  }
}

/* Tokens spell what the decoder makes of them whatever their neighbours are; where that depends on
 * them the file is refused. */
static void test_decoders(void) {
#define REPLACE(from, to) \
  "{\"type\":\"Replace\",\"pattern\":{\"String\":\"" from "\"},\"content\":\"" to "\"}"
#define FALLBACK "{\"type\":\"ByteFallback\"}"
#define FUSE "{\"type\":\"Fuse\"}"
#define STRIP "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}"
  static const struct {
    const char *pre, *decoders, *refused; /* words */
    const char *spells[3];                /* "-a", "<0x41>", "<0xe2>" */
  } cases[] = {
      {"", REPLACE("-", " ") "," FALLBACK "," FUSE "," STRIP, NULL, {" a", "A", "\xE2"}},
      {"", REPLACE("-", " ") "," FALLBACK "," FUSE, NULL, {" a", "A", "\xE2"}},
      {"", REPLACE("-", " "), NULL, {" a", "<0x41>", "<0xe2>"}},
      {"", FALLBACK "," REPLACE("-", "") "," FUSE, NULL, {"a", "A", "\xE2"}},
      {"", FUSE "," REPLACE("-", " "), NULL, {" a", "<0x41>", "<0xe2>"}},
      {"", FALLBACK ",{\"type\":\"Metaspace\",\"replacement\":\"-\"}", NULL, {" a", "A", "\xE2"}},
      {"", FUSE "," REPLACE("-a", " "), "more than one character", {NULL}},
      {"", FALLBACK "," REPLACE("-a", " "), "more than one character", {NULL}},
      {"", REPLACE("-", " ") "," REPLACE("a", " "), "a second decoder", {NULL}},
      {"",
       FUSE ",{\"type\":\"Metaspace\",\"replacement\":\"-\"}",
       "Metaspace decoder after Fuse",
       {NULL}},
      {"", FUSE "," FALLBACK, "ByteFallback decoder after Fuse", {NULL}},
      {"", STRIP, "without Fuse", {NULL}},
      {"", REPLACE("-", " ") "," FALLBACK "," STRIP "," FUSE, "without Fuse", {NULL}},
      {"\"pre_tokenizer\":" BYTE_LEVEL("false") ",",
       BYTE_LEVEL("true") "," STRIP "," FUSE,
       NULL,
       {"-a", "<0x41>", "<0xe2>"}},
      {"\"pre_tokenizer\":" BYTE_LEVEL("false") ",",
       BYTE_LEVEL("true") "," FALLBACK,
       NULL,
       {"-a", "<0x41>", "<0xe2>"}},
      {"\"pre_tokenizer\":" BYTE_LEVEL("false") ",",
       BYTE_LEVEL("true") "," REPLACE("-", " "),
       "after ByteLevel",
       {NULL}},
      {"\"pre_tokenizer\":" BYTE_LEVEL("false") ",",
       REPLACE("-", " ") "," BYTE_LEVEL("true"),
       "ByteLevel decoder after others",
       {NULL}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char file[1024];
    tsl_error error = {0};
    tsl_vocab *v;
    snprintf(file, sizeof file,
             "{%s\"decoder\":{\"type\":\"Sequence\",\"decoders\":[%s]},\"model\":{\"vocab\":{\"-"
             "a\":0,\"<0x41>\":1,\"<0xe2>\":2}}}",
             cases[i].pre, cases[i].decoders);
    tsl_status status = tsl_vocab_load_memory(file, strlen(file), NULL, NULL, NULL, &v, &error);
    CHECKF(cases[i].refused
               ? status == TSL_ERR_UNSUPPORTED && strstr(error.message, cases[i].refused) &&
                     file[error.offset] == '{'
               : status == TSL_OK,
           "%s: %s: %s", cases[i].decoders, tsl_status_name(status), error.message);
    for (tsl_token id = 0; v && id < 3; id++)
      CHECKF(token_is(v, id, cases[i].spells[id]), "%s: token %u", cases[i].decoders, id);
    tsl_vocab_release(v);
  }
}

/* Text falls back to byte tokens where the model says so, and to those in capitals alone; without a
 * decoder they spell their bytes too. */
static void test_byte_tokens(void) {
#define BYTES_MODEL(fallback)                                                                    \
  "\"model\":{\"vocab\":{\"a\":0,\"?\":1,\"<0xC3>\":2,\"<0xA9>\":3,\"<0xc3>\":4},\"unk_token\":" \
  "\"?\",\"byte_fallback\":" fallback "}}"
  for (int i = 0; i < 2; i++) {
    tsl_vocab *v =
        load(i ? "{\"decoder\":" FALLBACK "," BYTES_MODEL("false") : "{" BYTES_MODEL("true"), NULL,
             NULL);
    if (!v) return;
    CHECK(token_is(v, 2, "\xC3") && token_is(v, 3, "\xA9") && token_is(v, 4, "\xC3"));
    if (i)
      ENCODES(v, "a\xC3\xA9", 0, 0, 1);
    else
      ENCODES(v, "a\xC3\xA9", 0, 0, 2, 3);
    tsl_vocab_release(v);
  }
}

static void test_options(void) {
  static const tsl_token eog[] = {3, 0}, outside[] = {26};
  tsl_vocab_options o = {.logits_width = 100, .eog = eog, .eog_count = 2};
  tsl_vocab *v = load(byte_file, NULL, &o);
  if (!v) return;
  CHECK(tsl_vocab_logits_width(v) == 100 && tsl_vocab_is_eog(v, 3) && tsl_vocab_is_special(v, 0) &&
        !tsl_vocab_is_eog(v, 21) && tsl_vocab_is_special(v, 21));
  tsl_vocab_release(v);
  o.eog = outside;
  CHECK(tsl_vocab_load_memory(byte_file, strlen(byte_file), NULL, &o, NULL, &v, NULL) ==
            TSL_ERR_ARGUMENT &&
        !v);
  o.eog = NULL;
  CHECK(tsl_vocab_load_memory(byte_file, strlen(byte_file), NULL, &o, NULL, &v, NULL) ==
            TSL_ERR_ARGUMENT &&
        !v);
}

/* ---- files that lie -------------------------------------------------------------------------- */

#define MODEL(vocab, merges) \
  "{\"model\":{\"type\":\"BPE\",\"vocab\":" vocab ",\"merges\":" merges "}}"

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
      {"{}", TSL_ERR_FORMAT, "this JSON is no tokenizer.json: there is no \"model\"", "{}"},
      {"{\"model\":[]}", TSL_ERR_FORMAT, "no \"model\"", NULL},
      {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1.5]]}}", TSL_ERR_UNSUPPORTED, "BPE",
       "\"Unigram"},
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
      {"{\"model\":{\"vocab\":{\"a\":0},\"vocab\":{\"a\":1}}}", TSL_ERR_FORMAT, "token twice",
       NULL},
      {"{\"x\":\"\\uD83D\",\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_SYNTAX, "half a pair",
       "\\uD83D"},
      {"{\"x\":\"\\uD83Dx\\uDE00\",\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_SYNTAX, "half a pair",
       "\\uD83D"},
      {"{\"x\":\"\\\\\\uDE00\",\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_SYNTAX, "half a pair",
       "\\uDE00"},
      {"{\"model\":{\"vocab\":{\"\\uD83D\\uDE00\":0,\"\\\\uD83D\":1,\"\\ud83d\\ud83d\":2}}}",
       TSL_ERR_SYNTAX, "half a pair", "\\ud83d\\ud83d"},
      {"{\"model\":{\"vocab\":{\"a\":0},\"unk_token\":3}}", TSL_ERR_FORMAT, "unk_token", "3}"},
      {"{\"model\":{\"vocab\":{\"a\":0},\"dropout\":0.1}}", TSL_ERR_UNSUPPORTED, "dropout", "0.1"},
      {"{\"model\":{\"vocab\":{\"a\":0},\"end_of_word_suffix\":\"</w>\"}}", TSL_ERR_UNSUPPORTED,
       "end_of_word_suffix", NULL},
      {"{\"model\":{\"vocab\":{\"a\":0},\"ignore_merges\":true}}", TSL_ERR_UNSUPPORTED,
       "ignore_merges", NULL},
      {"{\"added_tokens\":{},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "not an array",
       "{},"},
      {"{\"added_tokens\":[3],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "added token",
       "3]"},
      {"{\"added_tokens\":[{\"id\":1}],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT,
       "added token", NULL},
      {"{\"added_tokens\":[{\"id\":\"1\",\"content\":\"x\"}],\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "added token", NULL},
      {"{\"added_tokens\":[{\"id\":1,\"content\":\"\"}],\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "added token", NULL},
      {"{\"added_tokens\":[{\"id\":0,\"content\":\"x\"}],\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "same id", "\"x\""},
      {"{\"added_tokens\":[{\"id\":1,\"content\":\"a\"}],\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "token twice", "\"a\"}]"},
      {"{\"added_tokens\":[{\"id\":9,\"content\":\"x\"},{\"id\":8,\"content\":\"x\"}],\"model\":{"
       "\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "token twice", NULL},
      {"{\"added_tokens\":[{\"id\":4194304,\"content\":\"x\"}],\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_LIMIT, "TSL_MAX_VOCAB", NULL},
      {"{\"added_tokens\":[{\"id\":1,\"content\":\"\xED\xA0\x80\"}],\"model\":{\"vocab\":{\"a\":0}}"
       "}",
       TSL_ERR_FORMAT, "UTF-8", NULL},
      {"{\"normalizer\":{\"type\":\"BertNormalizer\"},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_UNSUPPORTED, "\"BertNormalizer\"", "\"Bert"},
      {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"x\"},\"content\":\"y\"},"
       "\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_UNSUPPORTED, "regular expression", NULL},
      {"{\"normalizer\":{\"type\":\"Replace\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT,
       "Replace", NULL},
      {"{\"normalizer\":{\"type\":\"Prepend\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT,
       "Prepend", NULL},
      {"{\"normalizer\":{\"type\":\"Sequence\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT,
       "Sequence", NULL},
      {"{\"normalizer\":[],\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT, "\"type\"", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_UNSUPPORTED, "\"BertPreTokenizer\"", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\"},\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_FORMAT,
       "Split", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x\"},\"behavior\":\"Any\"},"
       "\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "behavior", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(x\"},\"behavior\":"
       "\"Isolated\"},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_SYNTAX, "pattern \"(x\"", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\C\"},\"behavior\":"
       "\"Isolated\"},\"model\":{\"vocab\":{\"a\":0}}"
       "}",
       TSL_ERR_UNSUPPORTED, "pattern has \\C", NULL},
      {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:[a[b]])\"},"
       "\"behavior\":\"Isolated\"},\"model\":{\"vocab\":{\"a\":0}"
       "}}",
       TSL_ERR_UNSUPPORTED, "pattern has [", NULL},
      {"{\"pre_tokenizer\":" BYTE_LEVEL("false") ",\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_UNSUPPORTED, "agree on ByteLevel", NULL},
      {"{\"decoder\":" BYTE_LEVEL("false") ",\"model\":{\"vocab\":{\"a\":0}}}", TSL_ERR_UNSUPPORTED,
       "agree on ByteLevel", NULL},
      {"{\"decoder\":{\"type\":\"WordPiece\"},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_UNSUPPORTED, "decoder", "\"WordPiece"},
      {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
       "\"x\"}}],\"special_tokens\":{}},"
       "\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "without ids", NULL},
      {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
       "\"x\"}}],\"special_tokens\":{\"x\":{"
       "\"ids\":[7]}}},\"model\":{\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "is no token", "7]"},
      {"{\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"a\",0]},\"model\":{\"vocab\":{"
       "\"a\":0}}}",
       TSL_ERR_FORMAT, "\"cls\"", "{\"type"},
      {"{\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":[\"a\"]},\"model\":{\"vocab\":{"
       "\"a\":0}}}",
       TSL_ERR_FORMAT, "\"cls\"", "{\"type"},
      {"{\"post_processor\":{\"type\":\"RobertaProcessing\",\"cls\":[\"a\",1]},\"model\":{"
       "\"vocab\":{\"a\":0}}}",
       TSL_ERR_FORMAT, "is no token", "1]"},
      {deep, TSL_ERR_FORMAT, "64 levels", NULL},
  };
  memset(deep, '[', sizeof deep - 1);
  memcpy(deep, "{\"x\":", 5);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_vocab *v;
    tsl_error error = {0};
    const char *text = cases[i].text;
    tsl_status status =
        tsl_vocab_load_memory(text, strlen(text), "tokenizer.json", NULL, NULL, &v, &error);
    CHECKF(status == cases[i].status && error.status == status &&
               strstr(error.message, cases[i].words) && !v,
           "%s: %s: %s", text, tsl_status_name(status), error.message);
    bool inside = error.offset <= strlen(text);
    CHECKF(inside && (!cases[i].at || (*cases[i].at ? !strncmp(text + error.offset, cases[i].at,
                                                               strlen(cases[i].at))
                                                    : error.offset == strlen(text))),
           "%s: offset %zu", text, error.offset);
    tsl_vocab_release(v);
  }
}

/* A dropout of nothing, however it is spelled, is none. */
static void test_no_dropout(void) {
  static const char *const zeros[] = {"0", "0.0", "-0.00", "0e5", "0.0E-3", "null"};
  for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
    char text[80];
    tsl_vocab *v;
    snprintf(text, sizeof text, "{\"model\":{\"vocab\":{\"a\":0},\"dropout\":%s}}", zeros[i]);
    CHECKF(tsl_vocab_load_memory(text, strlen(text), "tokenizer.json", NULL, NULL, &v, NULL) ==
               TSL_OK,
           "%s", text);
    tsl_vocab_release(v);
  }
}

/* Small files that ask for a lot: ids before each text, texts that grow with each step. */
static void test_small_files_that_ask_for_much(void) {
  static char text[1 << 16];
  for (int many = 0; many < 2; many++) {
    tsl_vocab *v = NULL;
    tsl_error error = {0};
    size_t n =
        (size_t)sprintf(text, "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[");
    for (int i = 0; i < (many ? 33 : 32); i++)
      n += (size_t)sprintf(text + n, "%s{\"SpecialToken\":{\"id\":\"x\"}}", i ? "," : "");
    n += (size_t)sprintf(text + n, "],\"special_tokens\":{\"x\":{\"ids\":[0");
    for (int i = 1; i < 32; i++) n += (size_t)sprintf(text + n, ",0");
    n += (size_t)sprintf(text + n, "]}}},\"model\":{\"vocab\":{\"a\":0}}}");
    tsl_status status = tsl_vocab_load_memory(text, n, "tokenizer.json", NULL, NULL, &v, &error);
    CHECKF(many ? status == TSL_ERR_LIMIT && strstr(error.message, "1,024 ids") : status == TSL_OK,
           "%s: %s", tsl_status_name(status), error.message);
    tsl_vocab_release(v);
  }
  for (int many = 0; many < 2; many++) {
    tsl_vocab *v = NULL;
    tsl_error error = {0};
    size_t n =
        (size_t)sprintf(text, "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{"
                              "\"SpecialToken\":{\"id\":\"x1023\"}}],\"special_tokens\":{\"x0\":0");
    for (int i = 1; i < (many ? 1025 : 1024); i++)
      n += (size_t)sprintf(text + n, ",\"x%d\":{\"ids\":[0]}", i);
    n += (size_t)sprintf(text + n, "}},\"model\":{\"vocab\":{\"a\":0}}}");
    tsl_status status = tsl_vocab_load_memory(text, n, "tokenizer.json", NULL, NULL, &v, &error);
    CHECKF(many ? status == TSL_ERR_LIMIT && strstr(error.message, "1,024 tokens")
                : status == TSL_OK,
           "%s: %s", tsl_status_name(status), error.message);
    if (v) ENCODES(v, "a", TSL_ENCODE_BOS, 0, 0);
    tsl_vocab_release(v);
  }
  size_t n = (size_t)sprintf(text, "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":["),
         count;
  for (int i = 0; i < 20; i++)
    n += (size_t)sprintf(
        text + n, "%s{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}",
        i ? "," : "");
  sprintf(text + n, "]},\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}");
  tsl_vocab *v = load(text, NULL, NULL);
  if (!v) return;
  CHECK(tsl_vocab_encode(v, "b", 1, 0, NULL, 0, &count) != TSL_ERR_LIMIT);
  /* a million of them */
  CHECK(tsl_vocab_encode(v, "a", 1, 0, NULL, 0, &count) == TSL_ERR_LIMIT && count == 0);
  tsl_vocab_release(v);
}

/* Names that were chosen so that they share a place in a table without a secret: loading them stays
 * linear. */
static void test_chosen_names(void) {
  enum { NAMES = 60000 };
  char *text = malloc((size_t)NAMES * 24 + 100);
  size_t n = (size_t)sprintf(text, "{\"model\":{\"type\":\"BPE\",\"vocab\":{");
  uint32_t found = 0;
  for (uint64_t i = 0; found < NAMES; i++) {
    char name[9] = {0};
    uint64_t key;
    for (unsigned k = 0; k < 8; k++)
      name[k] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[i >> 6 * k & 63];
    memcpy(&key, name, 8);
    if (begins_low(tsl__mix(key + 8), NAMES, 1000))
      n += (size_t)sprintf(text + n, "%s\"%s\":%u", found ? "," : "", name, found), found++;
  }
  sprintf(text + n, "},\"merges\":[]}}");
  clock_t begin = clock();
  tsl_vocab *v = load(text, NULL, NULL);
  double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  CHECKF(v && seconds < 1.5, "%.2f s", seconds);
  tsl_vocab_release(v);
  free(text);
}

static const tsl__tok_facts *facts_of(const tsl_vocab *v) {
  return tsl__tok_facts_of(&((const tsl__bpe_tokenizer *)v->tokenizer)->tables);
}

/* Loads the file twice, in linear time, under keys that are drawn, and it has the same identity. */
static tsl_vocab *load_crowded(const char *text, const tsl_vocab_options *options, size_t key) {
  tsl_vocab *v[2];
  uint8_t identity[2][16];
  tsl__slot_key drawn[2];
  for (int i = 0; i < 2; i++) {
    clock_t begin = clock();
    v[i] = load(text, NULL, options);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (!v[i]) return NULL;
    CHECKF(seconds < 1.5, "%.2f s", seconds);
    tsl_vocab_identity(v[i], identity[i]);
    memcpy(&drawn[i], (const char *)facts_of(v[i]) + key, sizeof drawn[i]);
  }
  CHECK(drawn[0].second && drawn[1].second && memcmp(&drawn[0], &drawn[1], sizeof drawn[0]));
  CHECK(!memcmp(identity[0], identity[1], 16));
  tsl_vocab_release(v[0]);
  return v[1];
}

static void test_crowded_ranks(void) {
  tsl_vocab_options o = {.pattern = "(?s).+"};
  char *text = crowded_ranks(40000, 200);
  tsl_vocab *v = text ? load_crowded(text, &o, offsetof(tsl__tok_facts, lookup_key)) : NULL;
  size_t length;
  for (tsl_token id = 0; v && id < 40000; id += 7777) {
    const uint8_t *bytes = tsl_vocab_bytes(v, id, &length);
    CHECK(length == 6 &&
          tsl__lookup_bytes(&((tsl__bpe_tokenizer *)v->tokenizer)->tables, v, bytes, 6) == id);
  }
  tsl_vocab_release(v);
  free(text);
}

/* Tokens of one code point. */
static void test_crowded_points(void) {
  enum { POINTS = 90000 };
  char *text = malloc((size_t)POINTS * 14 + 100);
  size_t n = (size_t)sprintf(text, "{\"model\":{\"type\":\"BPE\",\"vocab\":{");
  uint32_t found = 0, last = 0;
  for (uint32_t cp = 0x10000; cp < 0x110000 && found < POINTS; cp++) {
    const char utf8[5] = {(char)(0xF0 | cp >> 18), (char)(0x80 | (cp >> 12 & 63)),
                          (char)(0x80 | (cp >> 6 & 63)), (char)(0x80 | (cp & 63))};
    if (begins_low(tsl__mix(cp), POINTS, 11))
      n += (size_t)sprintf(text + n, "%s\"%s\":%u", found ? "," : "", utf8, found), found++,
          last = cp;
  }
  sprintf(text + n, "},\"merges\":[]}}");
  tsl_vocab *v = load_crowded(text, NULL, offsetof(tsl__tok_facts, points_key));
  CHECK(v && found > POINTS - 5000 &&
        tsl__point_find(&((tsl__bpe_tokenizer *)v->tokenizer)->tables, last) == found - 1);
  tsl_vocab_release(v);
  free(text);
}

/* Merges of two tokens of the 3,000 and the 4,000 that the file begins with. */
static void test_crowded_merges(void) {
  enum { MERGES = 50000, LEFT = 3000, RIGHT = 4000 };
  char *text = malloc((size_t)MERGES * 60 + (LEFT + RIGHT) * 20 + 100),
       (*name)[4] = malloc((LEFT + RIGHT) * sizeof *name);
  uint32_t(*pair)[2] = malloc(MERGES * sizeof *pair), found = 0;
  size_t n = (size_t)sprintf(text, "{\"model\":{\"type\":\"BPE\",\"vocab\":{");
  for (uint32_t i = 0; i < LEFT + RIGHT; i++) {
    snprintf(name[i], sizeof *name, "%c%c%c", (int)((i < LEFT ? 'a' : 'A') + i / 400),
             'a' + (int)(i / 20 % 20), 'a' + (int)(i % 20));
    n += (size_t)sprintf(text + n, "%s\"%s\":%u", i ? "," : "", name[i], i);
  }
  for (uint32_t i = 0; i < LEFT * RIGHT && found < MERGES; i++) {
    uint32_t left = i / RIGHT, right = LEFT + i % RIGHT;
    if (!begins_low(tsl__mix((uint64_t)left << 32 | right), MERGES, 200)) continue;
    pair[found][0] = left, pair[found][1] = right;
    n += (size_t)sprintf(text + n, ",\"%s%s\":%u", name[left], name[right], LEFT + RIGHT + found++);
  }
  n += (size_t)sprintf(text + n, "},\"merges\":[");
  for (uint32_t i = 0; i < found; i++)
    n += (size_t)sprintf(text + n, "%s\"%s %s\"", i ? "," : "", name[pair[i][0]], name[pair[i][1]]);
  sprintf(text + n, "]}}");
  tsl_vocab *v = load_crowded(text, NULL, offsetof(tsl__tok_facts, merges_key));
  const tsl__span *span =
      v ? &((tsl__bpe_tokenizer *)v->tokenizer)->tables.span[TSL__SPAN_MERGES] : NULL;
  for (uint32_t i = 0; v && i < found; i += 7777) {
    const tsl__merge *m = tsl__merge_find(span->at, (uint32_t)(span->size / sizeof(tsl__merge)),
                                          &facts_of(v)->merges_key, pair[i][0], pair[i][1]);
    CHECK(m && m->rank == i && m->result == LEFT + RIGHT + i);
  }
  CHECK(v && found > MERGES / 2);
  tsl_vocab_release(v);
  free(text), free(name), free(pair);
}

/* Every prefix of a good file fails, and no one-byte change crashes. */
static void test_damaged_json(void) {
  size_t n = strlen(byte_file), failed = 0, loaded = 0;
  char *copy = malloc(n + 1);
  for (size_t cut = 0; cut < n; cut++) {
    tsl_vocab *v;
    tsl_error error;
    failed += tsl_vocab_load_memory(byte_file, cut, NULL, NULL, NULL, &v, &error) != TSL_OK && !v &&
              error.offset <= cut;
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
      tsl_vocab_encode(v, "ab <s>ab \xC3\xA9<w> <l>x<r> ", 22, TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS,
                       ids, 64, &count);
      if (!tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special))
        CHECKF(false, "change %zu: the trie is broken", i);
    }
    tsl_vocab_release(v);
  }
  CHECKF(loaded > n / 4, "%zu of %zu changed files could still be loaded", loaded, 4 * n);
  free(copy);
}

/* ---- tiktoken -------------------------------------------------------------------------------- */

static void test_tiktoken(void) {
  tsl_vocab_options o = {.pattern = " ?\\p{L}+|\\s+"};
  tsl_vocab *v = load(ranks, "x.tiktoken", &o);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 6 && token_is(v, 3, "ab") && token_is(v, 4, "") &&
        token_is(v, 5, " ab"));
  ENCODES(v, "ab ab", 0, 3, 5);
  ENCODES(v, "aab", 0, 0, 3);
  ENCODES(v, "a1b", 0, 0, 1); /* what the pattern does not match is left out */
  tsl_vocab_release(v);
  v = load(ranks, "some/folder/r50k_base.tiktoken", NULL);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 50257 && tsl_vocab_is_eog(v, 50256) &&
        tsl_vocab_find_special(v, "<|endoftext|>", 13) == 50256);
  ENCODES(v, "ab<|endoftext|> ab", TSL_ENCODE_SPECIAL, 3, 50256, 5);
  tsl_vocab_release(v);
  v = load(ranks, "o200k_harmony.tiktoken", NULL);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 201088 &&
        tsl_vocab_find_special(v, "<|reserved_201087|>", 19) == 201087 &&
        tsl_vocab_find_special(v, "<|call|>", 8) == 200012 && tsl_vocab_is_eog(v, 200012));
  /* <|return|>, <|end|> */
  CHECK(tsl_vocab_is_eog(v, 200002) && tsl_vocab_is_special(v, 200007) &&
        !tsl_vocab_is_eog(v, 200007));
  tsl_vocab_release(v);
}

/* What ends a generation comes behind the ranks, which are of text alone. */
static void test_eog_behind_ranks(void) {
  static const tsl_token eog[] = {7, 9}, outside[] = {16};
  tsl_vocab_options o = {.pattern = ".+", .eog = eog, .eog_count = 2, .logits_width = 16};
  tsl_vocab *v = load(ranks, NULL, &o);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 10 && tsl_vocab_logits_width(v) == 16 && token_is(v, 7, "") &&
        token_is(v, 5, " ab"));
  CHECK(tsl_vocab_is_eog(v, 7) && tsl_vocab_is_eog(v, 9) && !tsl_vocab_is_eog(v, 8) &&
        tsl_vocab_is_special(v, 9));
  ENCODES(v, "ab ab", 0, 3, 5);
  tsl_vocab_release(v);
  o.eog = outside, o.eog_count = 1;
  CHECK(tsl_vocab_load_memory(ranks, strlen(ranks), NULL, &o, NULL, &v, NULL) == TSL_ERR_ARGUMENT &&
        !v);
  o.eog = eog, o.logits_width = 0;
  CHECK(tsl_vocab_load_memory(ranks, strlen(ranks), NULL, &o, NULL, &v, NULL) == TSL_ERR_ARGUMENT &&
        !v);
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
    tsl_status status = tsl_vocab_load_memory(cases[i].text, strlen(cases[i].text), cases[i].name,
                                              NULL, NULL, &v, &error);
    CHECKF(status == cases[i].status && strstr(error.message, cases[i].words) &&
               error.offset == cases[i].offset && !v,
           "%s: %s at %zu: %s", cases[i].text, tsl_status_name(status), error.offset,
           error.message);
    tsl_vocab_release(v);
  }
  /* a match that would begin behind its end */
  tsl_vocab_options o = {.pattern = "(a"}, resets = {.pattern = "(?(DEFINE)(b\\K))a(?=(?1))"};
  tsl_vocab *v;
  CHECK(tsl_vocab_load_memory(ranks, strlen(ranks), NULL, &resets, NULL, &v, NULL) ==
            TSL_ERR_UNSUPPORTED &&
        !v);
  CHECK(tsl_vocab_load_memory(ranks, strlen(ranks), NULL, &o, NULL, &v, NULL) == TSL_ERR_SYNTAX &&
        !v);
}

/* ---- out of memory --------------------------------------------------------------------------- */

static const struct {
  const char *text, *name;
} no_memory_files[] = {{byte_file, NULL}, {ranks, "cl100k_base"}, {NULL, NULL}};

static tsl_status load_one(size_t i, const tsl_allocator *a, tsl_vocab **v) {
  if (!no_memory_files[i].text) return tsl_vocab_embedded(a, v, NULL);
  return tsl_vocab_load_memory(no_memory_files[i].text, strlen(no_memory_files[i].text),
                               no_memory_files[i].name, NULL, a, v, NULL);
}

static void test_load_no_memory(void) {
  for (size_t i = 0; i < sizeof no_memory_files / sizeof *no_memory_files; i++) {
    unsigned failures = 0;
    for (long n = 0; n < 100000; n++) {
      failing f = {n, 0};
      tsl_allocator a = failing_allocator(&f);
      tsl_vocab *v;
      tsl_status status = load_one(i, &a, &v);
      bool used_up = f.left < 0; /* some request has failed */
      tsl_vocab_release(v);
      CHECKF(f.held == 0, "file %zu, allocation %ld: %ld bytes held", i, n, f.held);
      if (!status && !used_up) break;
      CHECKF(status == TSL_ERR_NO_MEMORY || !status, "file %zu, allocation %ld: %s", i, n,
             tsl_status_name(status)); /* PCRE2 goes on without its JIT */
      failures += status != TSL_OK;
    }
    CHECKF(failures > 30, "file %zu: %u failures", i, failures);
  }
}

static void test_encode_no_memory(void) {
  failing f = {LONG_MAX, 0};
  tsl_allocator a = failing_allocator(&f);
  tsl_vocab *v;
  tsl_token ids[64];
  unsigned failures = 0;
  size_t count;
  static const char text[] = "a b<s>ab <w> <l>ab \xC3\xA9 ab\xFF";
  CHECK(load_one(0, &a, &v) == TSL_OK);
  for (long n = 0;; n++) {
    long held = f.held;
    f.left = n;
    tsl_status status =
        tsl_vocab_encode(v, text, sizeof text - 1, TSL_ENCODE_SPECIAL, ids, 64, &count);
    f.left = LONG_MAX;
    CHECK(f.held == held);
    if (!status) break;
    CHECKF(status == TSL_ERR_NO_MEMORY, "allocation %ld: %s", n, tsl_status_name(status));
    failures++;
  }
  CHECK(failures >= 5);
  tsl_vocab_release(v);
  CHECK(f.held == 0);
}

int main(void) {
  RUN(test_byte_level, "tokenizer.json, byte level");
  RUN(test_added, "added tokens: words, stripping");
  RUN(test_invalid_utf8, "invalid UTF-8 goes byte by byte");
  RUN(test_prefix_space, "add_prefix_space");
  RUN(test_code_points, "tokenizer.json, code points");
  RUN(test_metaspace, "Metaspace and where it prepends");
  RUN(test_splits, "Split: the five behaviours");
  RUN(test_normalised_added, "added tokens in normalised text, NFC");
  RUN(test_added_in_space, "an added token that begins in white space taken along");
  RUN(test_added_twice, "an added token listed twice");
  RUN(test_unknown, "the unknown token");
  RUN(test_post_processors, "post-processors that put a token before the text");
  RUN(test_decoders, "decoders, and those that are refused");
  RUN(test_byte_tokens, "byte tokens");
  RUN(test_options, "options");
  RUN(test_bad_json, "tokenizer files that lie");
  RUN(test_no_dropout, "a dropout of nothing");
  RUN(test_small_files_that_ask_for_much, "small files that ask for much");
  RUN(test_chosen_names, "names chosen to collide");
  RUN(test_crowded_ranks, "ranks chosen to collide");
  RUN(test_crowded_points, "code points chosen to collide");
  RUN(test_crowded_merges, "merges chosen to collide");
  RUN(test_damaged_json, "cut off, changed");
  RUN(test_tiktoken, "tiktoken rank files");
  RUN(test_eog_behind_ranks, "the end of a generation behind the ranks");
  RUN(test_bad_tiktoken, "rank files that lie");
  RUN(test_load_no_memory, "each allocation of a load fails once");
  RUN(test_encode_no_memory, "each allocation of an encode fails once");
  return tsl_test_end();
}
