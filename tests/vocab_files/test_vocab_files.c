/* test_vocab_files.c - vocabularies from small tokenizer files written here: tokenizer.json and
 * tiktoken; every allocation fails. Hostile files: test_vocab_hostile.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

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

/* The behaviours of Split, on "a-b--c" by "-", shown by merges that cross no border. */
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
#define TAKES_RIGHT ADDED(20, "<r>", "true", "false", "false", "true", "false")
#define SPACE_LEFT ADDED(21, " <l>", "true", "false", "false", "false", "false")
#define TAKES_LEFT ADDED(22, "<m>", "true", "false", "true", "false", "false")
#define IN_SPACE "[" TAKES_RIGHT "," SPACE_LEFT "," TAKES_LEFT "]"
#define SPACE_LEVELS "\"pre_tokenizer\":" BYTE_LEVEL("false") ",\"decoder\":" BYTE_LEVEL("true")

static void test_added_in_space(void) {
  static const char file[] = "{" SPACE_LEVELS ",\"added_tokens\":" IN_SPACE "," BYTE_MODEL "}";
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
    bool failed = failing_failed(&f);
    f.left = LONG_MAX;
    CHECK(f.held == held);
    CHECKF(status == TSL_OK || (failed && status == TSL_ERR_NO_MEMORY), "allocation %ld: %s", n,
           tsl_status_name(status));
    if (!failed) break;
    failures += status != TSL_OK;
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
  RUN(test_added_in_space, "an added token that begins in white space keeps it");
  RUN(test_added_twice, "an added token listed twice");
  RUN(test_unknown, "the unknown token");
  RUN(test_post_processors, "post-processors that put a token before the text");
  RUN(test_decoders, "decoders, and those that are refused");
  RUN(test_byte_tokens, "byte tokens");
  RUN(test_options, "options");
  RUN(test_tiktoken, "tiktoken rank files");
  RUN(test_eog_behind_ranks, "the end of a generation behind the ranks");
  RUN(test_bad_tiktoken, "rank files that lie");
  RUN(test_load_no_memory, "each allocation of a load fails once");
  RUN(test_encode_no_memory, "each allocation of an encode fails once");
  return tsl_test_end();
}
