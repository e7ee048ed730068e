/* test_gguf.c - vocabularies from GGUF, SentencePiece's tokenizer.model and tekken.json. Small ones
 * are written here, and files that lie. The real GGUF vocabularies of llama.cpp ($TSL_LLAMA/models)
 * are each compared with their reference tokenisations.
 *
 * That tokenizer.model and tekken.json encode as PyPI's `sentencepiece` and `tiktoken` do is
 * test_encode.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/vocab/build.h"
#include "turnstile.h"

#include "tests/support/check.h"
#include "tests/support/failing.h"

/* ---- writing files --------------------------------------------------------------------------- */

typedef struct file {
  uint8_t at[8192];
  size_t n;
} file;

static void put(file *f, const void *data, size_t n) {
  CHECKF(f->n + n <= sizeof f->at, "a fixture is larger than %zu bytes", sizeof f->at);
  memcpy(f->at + f->n, data, n);
  f->n += n;
}

static void put_number(file *f, uint64_t x, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) put(f, &(uint8_t){(uint8_t)(x >> 8 * i)}, 1);
}

static void put_string(file *f, const char *text) {
  put_number(f, strlen(text), 8);
  put(f, text, strlen(text));
}

static void put_float(file *f, float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  put_number(f, bits, 4);
}

static void put_key(file *f, const char *key, uint32_t type) {
  char name[64];
  snprintf(name, sizeof name, "tokenizer.ggml.%s", key);
  put_string(f, name);
  put_number(f, type, 4);
}

static void put_strings(file *f, const char *key, const char *const *strings, size_t n) {
  put_key(f, key, 9);
  put_number(f, 8, 4);
  put_number(f, n, 8);
  for (size_t i = 0; i < n; i++) put_string(f, strings[i]);
}

static void put_types(file *f, const uint8_t *types, size_t n) {
  put_key(f, "token_type", 9);
  put_number(f, 5, 4);
  put_number(f, n, 8);
  for (size_t i = 0; i < n; i++) put_number(f, types[i], 4);
}

static void put_scores(file *f, const float *scores, size_t n) {
  put_key(f, "scores", 9);
  put_number(f, 6, 4);
  put_number(f, n, 8);
  for (size_t i = 0; i < n; i++) put_float(f, scores[i]);
}

static void put_text(file *f, const char *key, const char *text) {
  put_key(f, key, 8);
  put_string(f, text);
}

static void put_u32(file *f, const char *key, uint32_t x) {
  put_key(f, key, 4);
  put_number(f, x, 4);
}

static void put_bool(file *f, const char *key, bool x) {
  put_key(f, key, 7);
  put_number(f, x, 1);
}

static void begin(file *f, uint32_t version, uint64_t keys) {
  f->n = 0;
  put(f, "GGUF", 4);
  put_number(f, version, 4);
  put_number(f, 0, 8);
  put_number(f, keys, 8);
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* 10 tokens; merges a+b, ab+c, Ġ+abc */
static const char *const bpe_tokens[] = {"a",   "b",    "c",       "Ġ",  "ab",
                                         "abc", "Ġabc", "<|end|>", "  ", "[PAD9]"};
static const uint8_t bpe_types[] = {1, 1, 1, 1, 1, 1, 1, 3, 4, 4};
static const char *const bpe_merges[] = {"a b", "ab c", "Ġ abc"};

static void write_bpe(file *f, const char *pre) {
  begin(f, 3, 9);
  put_string(f, "general.name"); /* keys of others are passed over, of every type */
  put_number(f, 8, 4);
  put_string(f, "tiny");
  put_string(f, "general.ratio");
  put_number(f, 12, 4);
  put_number(f, 0, 8);
  put_text(f, "model", "gpt2");
  put_text(f, "pre", pre);
  put_strings(f, "tokens", bpe_tokens, COUNT(bpe_tokens));
  put_types(f, bpe_types, COUNT(bpe_types));
  put_strings(f, "merges", bpe_merges, COUNT(bpe_merges));
  put_u32(f, "bos_token_id", 7);
  put_bool(f, "add_bos_token", true);
}

/* "bc" has a better score than "ab"; no piece spells "c" alone. */
static const char *const spm_tokens[] = {"<unk>", "<s>", "</s>", "<0x63>", "<0xE2>",
                                         "▁",     "a",   "b",    "ab",     "bc",
                                         "▁a",    "abc", "x",    "unused", "<u>"};
static const uint8_t spm_types[] = {2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1, 5, 4};
static const float spm_scores[] = {0, 0, 0, 0, 0, -9, -8, -7, -3, -2, -4, -6, -5, 0, 0};

static void write_spm(file *f) {
  begin(f, 2, 7);
  put_text(f, "model", "llama");
  put_strings(f, "tokens", spm_tokens, COUNT(spm_tokens));
  put_types(f, spm_types, COUNT(spm_types));
  put_scores(f, spm_scores, COUNT(spm_scores));
  put_u32(f, "bos_token_id", 1);
  put_u32(f, "eos_token_id", 2);
  put_u32(f, "unknown_token_id", 0);
}

static void put_varint(file *f, uint64_t x) {
  for (; x >= 0x80; x >>= 7) put_number(f, x | 0x80, 1);
  put_number(f, x, 1);
}

/* A message as a field of another one. */
static void put_message(file *f, uint32_t number, const file *body) {
  put_varint(f, number << 3 | 2);
  put_varint(f, body->n);
  put(f, body->at, body->n);
}

static void put_varint_field(file *f, uint32_t number, uint64_t x) {
  put_varint(f, number << 3);
  put_varint(f, x);
}

/* The same pieces as a tokenizer.model of type `type`. */
static void write_model(file *f, uint32_t type, bool squeezed) {
  file part, text;
  f->n = 0;
  for (size_t i = 0; i < COUNT(spm_tokens); i++) {
    part.n = text.n = 0;
    put(&text, spm_tokens[i], strlen(spm_tokens[i]));
    put_message(&part, 1, &text);
    put_varint(&part, 2 << 3 | 5);
    put_float(&part, spm_scores[i]);
    if (spm_types[i] != 1) put_varint_field(&part, 3, spm_types[i]);
    put_message(f, 1, &part);
  }
  part.n = 0;
  put_varint_field(&part, 3, type);
  put_varint(&part, 10 << 3 | 5); /* something that is passed over */
  put_number(&part, 0, 4);
  put_message(f, 2, &part);
  part.n = 0;
  put_varint_field(&part, 4, squeezed);
  put_message(f, 3, &part);
}

/* ---- helpers --------------------------------------------------------------------------------- */

static tsl_vocab *load(const file *f, const tsl_vocab_options *options) {
  tsl_vocab *v = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_vocab_load_memory(f->at, f->n, NULL, options, NULL, &v, &error);
  CHECKF(status == TSL_OK, "%s at %zu: %s", tsl_status_name(status), error.offset, error.message);
  return v;
}

static bool encodes(const tsl_vocab *v, const char *text, uint32_t flags, const tsl_token *expected,
                    size_t n) {
  tsl_token ids[64];
  size_t count = 0;
  tsl_status status = tsl_vocab_encode(v, text, strlen(text), flags, ids, 64, &count);
  bool same = !status && count == n && !memcmp(ids, expected, n * sizeof *ids);
  for (size_t i = 0; !same && !status && i < count && i < 64; i++)
    fprintf(stderr, "%s%u", i ? " " : "  got ", ids[i]);
  if (!same) fprintf(stderr, "  (%s)\n", tsl_status_name(status));
  return same;
}
#define ENCODES(v, text, flags, ...)                              \
  CHECK(encodes(v, text, flags, (const tsl_token[]){__VA_ARGS__}, \
                sizeof(const tsl_token[]){__VA_ARGS__} / sizeof(tsl_token)))

static bool spells(const tsl_vocab *v, tsl_token id, const char *text) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(v, id, &n);
  return bytes && n == strlen(text) && !memcmp(bytes, text, n);
}

/* ---- what small files say -------------------------------------------------------------------- */

static void test_byte_level(void) {
  file f;
  write_bpe(&f, "gpt-2");
  tsl_vocab *v = load(&f, NULL);
  if (!v) return;
  uint32_t n;
  const tsl_token *eog = tsl_vocab_eog(v, &n);
  CHECK(tsl_vocab_size(v) == 10 && n == 1 && eog[0] == 7 && tsl_vocab_is_special(v, 7) &&
        !tsl_vocab_is_special(v, 8));
  CHECK(spells(v, 6, " abc") && spells(v, 7, "<|end|>") && spells(v, 8, "  ") && spells(v, 9, ""));
  ENCODES(v, "abc abcb", 0, 5, 6, 1);
  ENCODES(v, "a<|end|>b", TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, 7, 0, 7, 1);
  ENCODES(v, "a  b", TSL_ENCODE_SPECIAL, 0, 8, 1);
  ENCODES(v, "a  b", 0, 0, 8, 1); /* a user symbol is found in any text */
  CHECK(tsl_vocab_find_special(v, "<|end|>", 7) == 7);
  tsl_vocab_release(v);
}

static void test_unknown_pre(void) {
  static const tsl_token end = 6;
  static const tsl_vocab_options options = {.pattern = " ?a|.", .eog = &end, .eog_count = 1};
  file f;
  size_t count;
  write_bpe(&f, "somebody's own");
  tsl_vocab *v = load(&f, NULL), *given = load(&f, &options);
  if (!v || !given) return;
  CHECK(tsl_vocab_encode(v, "abc", 3, 0, NULL, 0, &count) == TSL_ERR_UNSUPPORTED);
  CHECK(spells(v, 6, " abc") && tsl_vocab_find_special(v, "<|end|>", 7) == 7);
  ENCODES(given, "abc", 0, 0, 1, 2);
  CHECK(tsl_vocab_is_eog(given, 6) && !tsl_vocab_is_eog(given, 7));
  tsl_vocab_release(v);
  tsl_vocab_release(given);
}

static void check_pieces(const tsl_vocab *v) {
  uint32_t n;
  const tsl_token *eog = tsl_vocab_eog(v, &n);
  CHECK(n == 1 && eog[0] == 2 && tsl_vocab_is_special(v, 0) && tsl_vocab_is_special(v, 1) &&
        !tsl_vocab_is_special(v, 14));
  CHECK(spells(v, 3, "c") && spells(v, 5, " ") && spells(v, 10, " a") && spells(v, 13, "") &&
        spells(v, 14, "<u>"));
  ENCODES(v, "abc", 0, 10, 9);    /* b+c before a+b, "c" being no piece; " a" is what is left */
  ENCODES(v, "xab", 0, 5, 12, 8); /* a+b after nothing better */
  ENCODES(v, "c", 0, 5, 3);       /* a byte */
  ENCODES(v,
          "\xE2\x96\x81"
          "a a",
          0, 5, 10, 10);         /* "▁" is a space */
  ENCODES(v, "yza", 0, 5, 0, 6); /* two unknown characters are one unknown token */
  ENCODES(v, "a<u></s>x", TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, 1, 10, 14, 2, 5, 12);
}

/* A piece of type "user": llama.cpp's way, and SentencePiece's. */
static void check_user_pieces(const tsl_vocab *gguf, const tsl_vocab *model) {
  ENCODES(gguf, "a</s>x", 0, 10, 0, 12);
  for (uint32_t flags = 0; flags <= TSL_ENCODE_SPECIAL; flags += TSL_ENCODE_SPECIAL) {
    ENCODES(gguf, "a<u>x", flags, 10, 14, 5, 12);
    ENCODES(gguf, "<u>", flags, 14);
    ENCODES(model, "a<u>x", flags, 10, 14, 12);
    ENCODES(model, "<u>", flags, 5, 14);
    ENCODES(model, " <u> a<u><u>", flags, 5, 5, 14, 10, 14, 14);
  }
  ENCODES(model, "a<u>x</s><u>a", TSL_ENCODE_SPECIAL, 10, 14, 12, 2, 5, 14, 6);
}

static void test_pieces(void) {
  file f;
  size_t count;
  write_spm(&f);
  tsl_vocab *gguf = load(&f, NULL);
  if (gguf) check_pieces(gguf);
  write_model(&f, 2, false);
  CHECK(tsl__looks_like_sentencepiece(f.at, f.n));
  tsl_vocab *model = load(&f, NULL);
  if (model) check_pieces(model);
  if (gguf && model) check_user_pieces(gguf, model);
  for (uint32_t type = 1; type <= 2; type++) { /* unigram; BPE that squeezes spaces */
    write_model(&f, type, true);
    tsl_vocab *v = load(&f, NULL);
    CHECK(v && spells(v, 10, " a") &&
          tsl_vocab_encode(v, "a", 1, 0, NULL, 0, &count) == TSL_ERR_UNSUPPORTED);
    tsl_vocab_release(v);
  }
  uint8_t a[16], b[16];
  tsl_vocab_identity(gguf, a);
  tsl_vocab_identity(model, b);
  CHECK(memcmp(a, b, 16)); /* they do not encode alike */
  tsl_vocab_release(gguf);
  tsl_vocab_release(model);
}

/* Gemma's way: runs of spaces are user symbols. They are cut out before a space is merged with the
 * letter behind it, also in what a grammar forces. */
static void test_user_symbols(void) {
  static const char *const tokens[] = {"<unk>",
                                       "\xE2\x96\x81",
                                       "a",
                                       "\xE2\x96\x81"
                                       "a",
                                       "  ",
                                       "b",
                                       "<u>"};
  static const uint8_t types[] = {2, 1, 1, 1, 4, 1, 4};
  static const float scores[] = {0, -3, -4, -2, -1000, -5, -1000};
  static const char gbnf[] = "root ::= \"b  a  a<u>\"";
  file f;
  begin(&f, 3, 5);
  put_text(&f, "model", "llama");
  put_strings(&f, "tokens", tokens, COUNT(tokens));
  put_types(&f, types, COUNT(types));
  put_scores(&f, scores, COUNT(scores));
  put_bool(&f, "add_space_prefix", false);
  tsl_vocab *v = load(&f, NULL);
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {0};
  if (!v) return;
  ENCODES(v, "b  a  a<u>", 0, 5, 4, 2, 4, 2, 6);
  ENCODES(v, "b a   a", 0, 5, 3, 4, 3);
  CHECKF(!tsl_grammar_gbnf(v, gbnf, sizeof gbnf - 1, NULL, NULL, &g, &error), "%s", error.message);
  CHECK(!tsl_matcher_new(g, NULL, &m));
  static const tsl_token tail[] = {5, 1}, whole[] = {4, 2, 4, 2, 6};
  tsl_token drafts[16];
  size_t n, back;
  CHECK(!tsl_matcher_accept(m, 5) && !tsl_matcher_accept(m, 1));
  CHECK(!tsl_matcher_draft_forced(m, tail, 2, 16, drafts, 16, &n, &back));
  CHECK(n == 5 && back == 1 && !memcmp(drafts, whole, sizeof whole));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

static const char tekken_file[] =
    "{\"config\":{\"pattern\":\"[ab]+|.\",\"default_vocab_size\":7,\"default_num_special_tokens\":"
    "3},"
    "\"vocab\":[{\"rank\":0,\"token_bytes\":\"YQ==\",\"token_str\":\"a\"},{\"rank\":1,\"token_"
    "bytes\":\"Yg==\",\"token_str\":\"b\"},"
    "{\"rank\":2,\"token_bytes\":\"/"
    "w==\",\"token_str\":null},{\"rank\":3,\"token_bytes\":\"YWI=\",\"token_str\":\"ab\"},"
    "{\"rank\":4,\"token_bytes\":\"Y2M=\",\"token_str\":\"cc\"}],"
    "\"special_tokens\":[{\"rank\":0,\"token_str\":\"<s>\",\"is_control\":true},{\"rank\":1,"
    "\"token_str\":\"</s>\",\"is_control\":true}]}";

static void test_tekken(void) {
  tsl_vocab *v = NULL;
  tsl_error error = {0};
  CHECKF(!tsl_vocab_load_memory(tekken_file, sizeof tekken_file - 1, NULL, NULL, NULL, &v, &error),
         "%s", error.message);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 7 && spells(v, 2, "<SPECIAL_2>") && spells(v, 6, "ab") &&
        spells(v, 5, "\xFF"));
  CHECK(tsl_vocab_is_eog(v, 1) && tsl_vocab_is_special(v, 2) && !tsl_vocab_is_special(v, 3));
  ENCODES(v, "abba", 0, 6, 4, 3);
  ENCODES(v, "a\xFF<SPECIAL_2>b", TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS, 0, 3, 5, 2, 4);
  tsl_vocab_release(v);
}

/* ---- files that lie -------------------------------------------------------------------------- */

/* Loading `f` fails as it should, or with anything if `status` is TSL_OK. */
static void fails(const file *f, tsl_status expected, const char *words) {
  tsl_vocab *v = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_vocab_load_memory(f->at, f->n, NULL, NULL, NULL, &v, &error);
  CHECKF(status == expected && error.status == status && strstr(error.message, words) &&
             error.offset <= f->n && !v,
         "%s: %s at %zu: %s", words, tsl_status_name(status), error.offset, error.message);
  tsl_vocab_release(v);
}

static void test_bad_gguf(void) {
  static const char *const doubled[] = {"a", "b", "a"}, *const no_space[] = {"ab"},
                           *const lost[] = {"a z"}, *const byte[] = {"<0xZZ>"};
  static const uint8_t types[] = {1, 1, 9}, bytes[] = {6};
  static const float nan_score[] = {0, NAN, 0};
  file f;
  begin(&f, 1, 0), fails(&f, TSL_ERR_UNSUPPORTED, "version 1");
  begin(&f, 0x03000000, 0), fails(&f, TSL_ERR_UNSUPPORTED, "big-endian");
  begin(&f, 3, 0), fails(&f, TSL_ERR_FORMAT, "\"tokenizer.ggml.model\" is missing");
  begin(&f, 3, UINT64_MAX), fails(&f, TSL_ERR_FORMAT, "cut off");
  begin(&f, 3, 1), put_u32(&f, "model", 1),
      fails(&f, TSL_ERR_FORMAT, "\"tokenizer.ggml.model\" is not a string");
  begin(&f, 3, 1), put_key(&f, "model", 13), fails(&f, TSL_ERR_FORMAT, "there is no type 13");
  begin(&f, 3, 1), put_text(&f, "model", "gpt2"),
      fails(&f, TSL_ERR_FORMAT, "\"tokenizer.ggml.tokens\" is missing");
  begin(&f, 3, 2), put_text(&f, "model", "x"), put_text(&f, "model", "y"),
      fails(&f, TSL_ERR_FORMAT, "there twice");
  begin(&f, 3, 2), put_text(&f, "model", "gpt2"), put_strings(&f, "tokens", NULL, 0),
      fails(&f, TSL_ERR_FORMAT, "is empty");
  begin(&f, 3, 2), put_text(&f, "model", "rwkv"), put_strings(&f, "tokens", doubled, 2),
      fails(&f, TSL_ERR_UNSUPPORTED, "\"rwkv\"");
  begin(&f, 3, 1), put_key(&f, "tokens", 9), put_number(&f, 9, 4), put_number(&f, 1, 8),
      fails(&f, TSL_ERR_UNSUPPORTED, "array of arrays");
  begin(&f, 3, 1), put_key(&f, "tokens", 9), put_number(&f, 5, 4), put_number(&f, UINT64_MAX, 8),
      fails(&f, TSL_ERR_FORMAT, "cut off");
  begin(&f, 3, 1), put_key(&f, "tokens", 9), put_number(&f, 8, 4), put_number(&f, UINT64_MAX, 8),
      fails(&f, TSL_ERR_FORMAT, "cut off");
  begin(&f, 3, 1), put_number(&f, UINT64_MAX, 8), fails(&f, TSL_ERR_FORMAT, "a string of");
#define BPE(keys) begin(&f, 3, 2 + (keys)), put_text(&f, "model", "gpt2")
  BPE(1), put_strings(&f, "tokens", doubled, 3), put_strings(&f, "merges", NULL, 0),
      fails(&f, TSL_ERR_FORMAT, "the same token twice: \"a\"");
  BPE(0), put_strings(&f, "tokens", doubled, 2),
      fails(&f, TSL_ERR_FORMAT, "\"tokenizer.ggml.merges\" is missing");
  BPE(1), put_strings(&f, "tokens", doubled, 2), put_strings(&f, "merges", no_space, 1),
      fails(&f, TSL_ERR_FORMAT, "two tokens with a space");
  BPE(1), put_strings(&f, "tokens", doubled, 2), put_strings(&f, "merges", lost, 1),
      fails(&f, TSL_ERR_FORMAT, "no token: \"z\"");
  BPE(1), put_strings(&f, "tokens", doubled, 2), put_types(&f, types, 3),
      fails(&f, TSL_ERR_FORMAT, "one element for each token");
  BPE(1), put_strings(&f, "tokens", doubled, 3), put_types(&f, types, 3),
      fails(&f, TSL_ERR_FORMAT, "the type 9");
  BPE(1), put_strings(&f, "tokens", doubled, 2), put_u32(&f, "eos_token_id", 2),
      fails(&f, TSL_ERR_FORMAT, "eos_token_id\" is no token's id");
  BPE(1), put_strings(&f, "tokens", doubled, 2), put_bool(&f, "bos_token_id", 1),
      fails(&f, TSL_ERR_FORMAT, "not a 32-bit number");
  BPE(1), put_strings(&f, "tokens", doubled, 2), put_u32(&f, "add_bos_token", 1),
      fails(&f, TSL_ERR_FORMAT, "is not a boolean");
#define SPM(keys) begin(&f, 3, 2 + (keys)), put_text(&f, "model", "llama")
  SPM(1), put_strings(&f, "tokens", byte, 1), put_types(&f, bytes, 1),
      fails(&f, TSL_ERR_FORMAT, "<0xZZ>");
  SPM(1), put_strings(&f, "tokens", doubled, 3), put_scores(&f, nan_score, 3),
      fails(&f, TSL_ERR_FORMAT, "not a number");
}

static void test_bad_model(void) {
  file f, part, text;
  write_model(&f, 2, false);
  f.at[0] = 0x0B; /* a group */
  fails(&f, TSL_ERR_FORMAT, "neither");
  write_model(&f, 2, false);
  f.n--;
  fails(&f, TSL_ERR_FORMAT, "malformed or cut off");
  f.n = part.n = text.n = 0;
  put(&text, "a", 1);
  put_message(&part, 1, &text);
  put_message(&f, 1, &part);
  fails(&f, TSL_ERR_FORMAT, "the beginning-of-sequence token is 1, and there are 1 tokens");
  part.n = 0;
  put_message(&f, 1, &part);
  fails(&f, TSL_ERR_FORMAT, "a piece has no text");
}

static void test_bad_tekken(void) {
  static const struct {
    const char *from, *to, *words;
  } cases[] = {
      {"\"rank\":1,\"token_bytes\"", "\"rank\":2,\"token_bytes\"", "in order"},
      {"YQ==", "YQ=", "groups of four"},
      {"YQ==", "Y?==", "not a character"},
      {"YQ==", "YR==", "left over"},
      {"YQ==", "Yg==", "there twice"},
      {"\"default_vocab_size\":7", "\"default_vocab_size\":9", "fewer tokens"},
      {"\"default_vocab_size\":7", "\"default_vocab_size\":3", "no more tokens"},
      {"\"default_vocab_size\":7", "\"default_vocab_size\":-1", "numbers"},
      {"\"rank\":1,\"token_str\"", "\"rank\":3,\"token_str\"", "not below"},
      {"\"rank\":1,\"token_str\"", "\"rank\":0,\"token_str\"", "same rank"},
      {"\"pattern\":", "\"paddern\":", "pattern"},
      {"{\"rank\":4,", "{", NULL},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    file f = {.n = 0};
    const char *at = strstr(tekken_file, cases[i].from);
    CHECK(at != NULL);
    put(&f, tekken_file, (size_t)(at - tekken_file));
    put(&f, cases[i].to, strlen(cases[i].to));
    put(&f, at + strlen(cases[i].from), strlen(at + strlen(cases[i].from)));
    if (cases[i].words)
      fails(&f, TSL_ERR_FORMAT, cases[i].words);
    else
      tsl_vocab_release(load(&f, NULL)); /* past default_vocab_size nothing is looked at */
  }
}

/* Cut off anywhere, or with any byte changed, a file loads or is refused; sanitisers watch. */
static void damage(const file *whole) {
  for (size_t i = 0; i < whole->n; i++) {
    for (unsigned k = 0; k < 4; k++) {
      static const uint8_t masks[] = {0, 0x01, 0x80, 0xFF};
      file f = *whole;
      if (!k)
        f.n = i;
      else
        f.at[i] ^= masks[k];
      tsl_vocab *v = NULL;
      tsl_error error = {0};
      size_t count;
      tsl_status status = tsl_vocab_load_memory(f.at, f.n, NULL, NULL, NULL, &v, &error);
      bool good = status ? !v && error.status == status && error.offset <= f.n : v != NULL;
      if (k || status)
        CHECKF(good, "byte %zu, way %u: %s at %zu: %s", i, k, tsl_status_name(status), error.offset,
               error.message);
      if (v) tsl_vocab_encode(v, "abc <u> x", 9, TSL_ENCODE_SPECIAL, NULL, 0, &count);
      tsl_vocab_release(v);
    }
  }
}

static void test_damaged(void) {
  file f;
  write_bpe(&f, "gpt-2");
  damage(&f);
  write_spm(&f);
  damage(&f);
  write_model(&f, 2, false);
  damage(&f);
}

/* ---- memory and the cache -------------------------------------------------------------------- */

static void starve(const void *data, size_t size) {
  for (long n = 0;; n++) {
    failing memory = {n, 0};
    tsl_allocator a = failing_allocator(&memory);
    tsl_vocab *v = NULL;
    tsl_status status = tsl_vocab_load_memory(data, size, NULL, NULL, &a, &v, NULL);
    CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "allocation %ld: %s", n,
           tsl_status_name(status));
    tsl_vocab_release(v);
    CHECKF(!memory.held, "allocation %ld: %ld bytes are left", n, memory.held);
    if (!failing_failed(&memory) || n > 10000) break;
  }
}

static void test_no_memory(void) {
  file f;
  write_bpe(&f, "deepseek-llm");
  starve(f.at, f.n);
  write_spm(&f);
  starve(f.at, f.n);
  write_model(&f, 2, false);
  starve(f.at, f.n);
  starve(tekken_file, sizeof tekken_file - 1);
}

static bool write_out(const char *path, const void *data, size_t n, size_t zeros) {
  FILE *out = fopen(path, "wb");
  bool ok = out && fwrite(data, 1, n, out) == n &&
            (!zeros || (!fseek(out, (long)zeros, SEEK_CUR) && fputc(0, out) == 0));
  return out && !fclose(out) && ok;
}

/* Tensors behind the metadata are neither read nor part of the name in the cache. */
static void test_file_and_cache(void) {
  char folder[] = "/tmp/test_gguf.XXXXXX", path[2][64];
  file f;
  write_spm(&f);
  if (!mkdtemp(folder)) {
    CHECKF(false, "there is no folder %s", folder);
    return;
  }
  uint8_t identity[2][16];
  for (int i = 0; i < 2; i++) {
    snprintf(path[i], sizeof path[i], "%s/model.gguf", folder);
    CHECK(write_out(path[i], f.at, f.n, i ? (size_t)64 << 20 : 0));
    tsl_vocab_options options = {.cache_dir = folder};
    tsl_vocab *v = NULL;
    tsl_error error = {0};
    CHECKF(tsl_vocab_load_file(path[i], &options, NULL, &v, &error) == TSL_OK, "%s", error.message);
    if (v) check_pieces(v), tsl_vocab_identity(v, identity[i]);
    CHECKF(tsl_vocab_memory(v) < 1 << 20, "%zu bytes", tsl_vocab_memory(v));
    tsl_vocab_release(v);
  }
  CHECK(!memcmp(identity[0], identity[1], 16));
  unsigned entries = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
    char name[512];
    if (e->d_name[0] == '.') continue;
    entries += strstr(e->d_name, ".tslvocab") != NULL;
    snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
    remove(name);
  }
  if (d) closedir(d);
  rmdir(folder);
  CHECKF(entries == 1, "%u cache files", entries);
}

/* ---- llama.cpp's vocabularies ---------------------------------------------------------------- */

#define SEPARATOR "\n__ggml_vocab_test__\n"

static char *read_text(const char *path) {
  FILE *in = fopen(path, "rb");
  char *text = in ? calloc(1, 1 << 20) : NULL;
  if (text && !fread(text, 1, (1 << 20) - 1, in)) text[0] = 0;
  if (in) fclose(in);
  return text;
}

/* Does the line hold these ids? */
static bool holds(const char *line, const tsl_token *ids, size_t count) {
  char *end;
  for (size_t i = 0; i < count; i++, line = end)
    if (strtoul(line, &end, 10) != ids[i] || end == line) return false;
  return line[strspn(line, " ")] == '\n' || !line[strspn(line, " ")];
}

/* The texts of <path>.inp against the lines of <path>.out; how many agreed. */
static unsigned compare(const tsl_vocab *v, const char *name, const char *path, bool encoded) {
  static tsl_token ids[4096];
  char other[1040];
  unsigned agreed = 0;
  snprintf(other, sizeof other, "%s.inp", path);
  char *in = read_text(other), *text = in;
  snprintf(other, sizeof other, "%s.out", path);
  char *out = read_text(other), *line = out;
  for (char *end; in && out && (end = strstr(text, SEPARATOR)) != NULL && line;
       text = end + strlen(SEPARATOR)) {
    size_t count = 0;
    tsl_status status = tsl_vocab_encode(v, text, (size_t)(end - text), TSL_ENCODE_SPECIAL, ids,
                                         COUNT(ids), &count);
    if (encoded)
      CHECKF(!status && holds(line, ids, count), "%s: \"%.*s\" is not %.*s", name,
             (int)(end - text), text, (int)strcspn(line, "\n"), line);
    else
      CHECKF(status == TSL_ERR_UNSUPPORTED, "%s: %s", name, tsl_status_name(status));
    agreed++;
    line = strchr(line, '\n');
    if (line) line++;
  }
  free(in);
  free(out);
  return agreed;
}

static void test_llama_cpp(void) {
  const char *folder = getenv("TSL_LLAMA");
  char path[1024];
  snprintf(path, sizeof path, "%s/models", folder ? folder : "");
  DIR *d = folder ? opendir(path) : NULL;
  unsigned files = 0, texts = 0;
  if (!d) {
    SKIP("llama.cpp's vocabularies are not there (%s): ./dev fetch llama",
         folder ? path : "TSL_LLAMA is not set");
    return;
  }
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    size_t n = strlen(e->d_name);
    if (strncmp(e->d_name, "ggml-vocab-", 11) || n < 5 || strcmp(e->d_name + n - 5, ".gguf"))
      continue;
    tsl_vocab *v = NULL;
    tsl_error error = {0};
    snprintf(path, sizeof path, "%.700s/models/%.300s", folder, e->d_name);
    tsl_status status = tsl_vocab_load_file(path, NULL, NULL, &v, &error);
    CHECKF(status == TSL_OK, "%s: %s at %zu: %s", e->d_name, tsl_status_name(status), error.offset,
           error.message);
    if (v) texts += compare(v, e->d_name, path, !strstr(e->d_name, "bert"));
    tsl_vocab_release(v);
    files++;
  }
  closedir(d);
  CHECKF(files >= 18 && texts >= 600, "%u files, %u texts", files, texts);
  printf("       %u files, %u reference texts\n", files, texts);
}

int main(void) {
  RUN(test_byte_level, "GGUF, byte-level BPE");
  RUN(test_unknown_pre, "GGUF, a pre-tokenisation that is not known");
  RUN(test_pieces, "scored pieces, from GGUF and from tokenizer.model");
  RUN(test_user_symbols, "user symbols, in text and in forced drafts");
  RUN(test_tekken, "tekken.json");
  RUN(test_bad_gguf, "GGUF files that lie");
  RUN(test_bad_model, "tokenizer.model files that lie");
  RUN(test_bad_tekken, "tekken.json files that lie");
  RUN(test_damaged, "cut off, changed");
  RUN(test_no_memory, "each allocation fails once");
  RUN(test_file_and_cache, "a file with tensors, and the cache");
  RUN(test_llama_cpp, "llama.cpp's vocabularies and their reference tokenisations");
  return tsl_test_end();
}
