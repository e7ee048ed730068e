/* test_vocab_hostile.c - tokenizer.json files that are wrong or damaged, that are small and cause
 * much work, or whose names were chosen to collide. Each fails with an error, or loads in linear
 * time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/cpu_time.h"
#include "tests/support/vocab.h"

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

/* Some bytes that name a huge id: ids without a token are bounded by the number of tokens. */
static void test_unnamed_ids(void) {
  static const struct {
    const char *text, *name;
    tsl_status status;
  } cases[] = {
      {MODEL("{\"a\":65537}", "[]"), "tokenizer.json", TSL_OK},
      {MODEL("{\"a\":65538}", "[]"), "tokenizer.json", TSL_ERR_LIMIT},
      {MODEL("{\"a\":4194303}", "[]"), "tokenizer.json", TSL_ERR_LIMIT},
      {"IQ== 4194303\n", "cl100k_base.tiktoken", TSL_ERR_LIMIT},
      {"{\"config\":{\"default_vocab_size\":4194304,\"default_num_special_tokens\":4194303},"
       "\"vocab\":[{\"rank\":0,\"token_bytes\":\"YQ==\"}]}",
       "tekken.json", TSL_ERR_LIMIT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_vocab *v = NULL;
    tsl_error error = {0};
    tsl_status status = tsl_vocab_load_memory(cases[i].text, strlen(cases[i].text), cases[i].name,
                                              NULL, NULL, &v, &error);
    CHECKF(status == cases[i].status, "%s: %s: %s", cases[i].text, tsl_status_name(status),
           error.message);
    tsl_vocab_release(v);
  }
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

int main(void) {
  RUN(test_bad_json, "tokenizer files that lie");
  RUN(test_no_dropout, "a dropout of nothing");
  RUN(test_small_files_that_ask_for_much, "small files that ask for much");
  RUN(test_unnamed_ids, "ids that no token has");
  RUN(test_chosen_names, "names chosen to collide");
  RUN(test_crowded_ranks, "ranks chosen to collide");
  RUN(test_crowded_points, "code points chosen to collide");
  RUN(test_crowded_merges, "merges chosen to collide");
  RUN(test_damaged_json, "cut off, changed");
  return tsl_test_end();
}
