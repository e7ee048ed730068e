/* test_encode.c - encoding against the tokenizers that the vocabularies were made for.
 *
 *     test_encode
 *         every vocabulary that is there: the embedded one, and those under $TSL_VOCABS
 *     test_encode VOCABULARY NAME
 *         that file against tests/cases/encode/NAME.txt
 *
 * tests/programs/encode_configs.py wrote small tokenizer files and ids.
 * tests/programs/encode_patterns.py wrote patterns, texts and ids.
 * tests/programs/encode_reference.py wrote the 2,200 texts and what PyPI's `tokenizers`, `tiktoken`
 * and `sentencepiece` make of each. That is number and hash of the ids, without added tokens, and
 * with them and BOS. A second check is that the tokens' bytes put together give the text back (as
 * far as the normaliser leaves it alone).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/tokenizer.h"

#include "tests/support/check.h"

#define CASES "tests/cases/encode/"
#define MAX_IDS 8192

typedef struct lines {
  char *text; /* the file; lines end in NUL */
  char **at;
  size_t count;
} lines;

static bool read_lines(const char *path, lines *l) {
  FILE *f = fopen(path, "rb");
  *l = (lines){0};
  if (!f) return false;
  fseek(f, 0, SEEK_END);
  size_t size = (size_t)ftell(f);
  rewind(f);
  l->text = malloc(size + 1);
  size = fread(l->text, 1, size, f);
  fclose(f);
  for (size_t i = 0; i < size; i++) l->count += l->text[i] == '\n';
  l->at = malloc((l->count + 1) * sizeof *l->at);
  char *p = l->text;
  for (size_t i = 0; i < l->count; i++) {
    l->at[i] = p;
    p = strchr(p, '\n');
    *p++ = 0;
  }
  return true;
}

static void free_lines(lines *l) {
  free(l->text);
  free(l->at);
}

/* Undo the escapes, in place. */
static size_t unescape(const char *from, char *to) {
  char *start = to;
  for (; *from; from++) {
    if (*from != '\\') {
      *to++ = *from;
      continue;
    }
    unsigned value = 0;
    switch (*++from) {
    case 'n': *to++ = '\n'; break;
    case 'r': *to++ = '\r'; break;
    case 't': *to++ = '\t'; break;
    case 'x':
      sscanf(from + 1, "%2x", &value);
      *to++ = (char)value;
      from += 2;
      break;
    default: *to++ = *from;
    }
  }
  return (size_t)(to - start);
}

static uint64_t fnv(const tsl_token *ids, size_t n) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++)
    for (unsigned k = 0; k < 4; k++) h = (h ^ (ids[i] >> 8 * k & 255)) * 0x100000001b3u;
  return h;
}

/* What the vocabulary's normaliser makes of text, as far as these tests need it. Qwen has NFC,
 * Gemma has "▁" for " ", and SentencePiece has the same and a space in front. */
static size_t normalised(const char *name, const char *text, size_t n, char *out) {
  if (!strcmp(name, "qwen3")) {
    tsl__pieces p = {{0}, {0}};
    tsl__nfc(&tsl__malloc, (const uint8_t *)text, n, &p);
    if (p.bytes.n) memcpy(out, p.bytes.at, p.bytes.n);
    n = p.bytes.n;
    tsl__vec_free(&tsl__malloc, &p.bytes);
    return n;
  }
  bool pieces = !strncmp(name, "mistral", 7);
  size_t at = 0;
  if (pieces && n) out[at++] = ' ';
  for (size_t i = 0; i < n; i++) {
    bool mark =
        (pieces || !strcmp(name, "gemma3")) && n - i >= 3 && !memcmp(text + i, "\xE2\x96\x81", 3);
    out[at++] = mark ? ' ' : text[i];
    if (mark) i += 2;
  }
  return at;
}

static bool spells(const tsl_vocab *v, const tsl_token *ids, size_t count, const char *text,
                   size_t length) {
  for (size_t i = 0; i < count; i++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(v, ids[i], &n);
    if (n > length || memcmp(bytes, text, n)) return false;
    text += n;
    length -= n;
  }
  return !length;
}

static void compare(const tsl_vocab *v, const char *name) {
  static tsl_token ids[MAX_IDS];
  static char text[16384], plain[65536];
  char path[256];
  lines texts, expected;
  snprintf(path, sizeof path, CASES "%s.txt", name);
  if (!read_lines(CASES "texts.txt", &texts) || !read_lines(path, &expected)) {
    CHECKF(false, "%s or %s cannot be read", CASES "texts.txt", path);
    return;
  }
  CHECKF(texts.count == expected.count && texts.count >= 2000, "%zu texts, %zu expectations",
         texts.count, expected.count);
  for (size_t i = 0; i < texts.count && i < expected.count; i++) {
    size_t length = unescape(texts.at[i], text), count[2] = {0}, n = 0;
    uint64_t hash[2] = {0};
    CHECK(sscanf(expected.at[i], "%zu %" SCNx64 " %zu %" SCNx64, &count[0], &hash[0], &count[1],
                 &hash[1]) == 4);
    for (unsigned k = 0; k < 2; k++) {
      tsl_status status = tsl_vocab_encode(
          v, text, length, k ? TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS : 0, ids, MAX_IDS, &n);
      CHECKF(status == TSL_OK && n == count[k] && fnv(ids, n) == hash[k],
             "%s, line %zu, %s added tokens: %zu ids instead of %zu: %.60s", name, i + 1,
             k ? "with" : "without", n, count[k], texts.at[i]);
    }
    tsl_status status = tsl_vocab_encode(v, text, length, 0, ids, MAX_IDS, &n);
    CHECKF(status == TSL_OK && spells(v, ids, n, plain, normalised(name, text, length, plain)),
           "%s, line %zu: the tokens do not spell the text", name, i + 1);
  }
  free_lines(&texts);
  free_lines(&expected);
}

static void compare_file(const char *path, const char *name) {
  tsl_vocab *v;
  tsl_error error;
  FILE *f = fopen(path, "rb");
  if (!f) {
    SKIP("%s is not there", path);
    return;
  }
  fclose(f);
  tsl_status status = tsl_vocab_load_file(path, NULL, NULL, &v, &error);
  CHECKF(status == TSL_OK, "%s: %s", path, error.message);
  if (status) return;
  unsigned long before = tsl_test_passed, failed = tsl_test_failed;
  compare(v, name);
  printf("       %-12s %lu checks passed, %lu failed\n", name, tsl_test_passed - before,
         tsl_test_failed - failed);
  tsl_vocab_release(v);
}

/* "616220" to bytes; "-" is none. */
static size_t from_hex(const char *hex, char *out) {
  size_t n = 0;
  for (unsigned value; sscanf(hex, "%2x", &value) == 1 && hex[0] != ' ' && hex[1] && hex[1] != ' ';
       hex += 2)
    out[n++] = (char)value;
  return n;
}

/* A text in hex and the ids that it encodes to; why it does not, or NULL. */
static const char *unlike_ids(const tsl_vocab *v, const char *line, uint32_t flags) {
  static tsl_token ids[MAX_IDS];
  static char text[16384], why[128];
  size_t count = 0, expected = 0;
  tsl_status status = tsl_vocab_encode(v, text, from_hex(line, text), flags, ids, MAX_IDS, &count);
  bool same = status == TSL_OK;
  for (const char *p = strchr(line, ' '); p; p = strchr(p + 1, ' '), expected++)
    same = same && expected < count && ids[expected] == strtoul(p, NULL, 10);
  snprintf(why, sizeof why, "%zu ids instead of %zu (%s)", count, expected,
           tsl_status_name(status));
  return same && count == expected ? NULL : why;
}

/* tests/cases/encode/configs.txt: a tokenizer.json a line, after it texts in hex with their ids. */
static void test_configs(void) {
  lines l;
  tsl_vocab *v = NULL;
  unsigned files = 0, texts = 0;
  if (!read_lines(CASES "configs.txt", &l)) CHECKF(false, "%s cannot be read", CASES "configs.txt");
  for (size_t i = 0; i < l.count; i++) {
    if (l.at[i][0] == '{') {
      tsl_error error = {0};
      tsl_vocab_release(v);
      tsl_status status =
          tsl_vocab_load_memory(l.at[i], strlen(l.at[i]), NULL, NULL, NULL, &v, &error);
      CHECKF(status == TSL_OK, "line %zu: %s", i + 1, error.message);
      files++;
    } else if (v) {
      const char *why = unlike_ids(v, l.at[i], TSL_ENCODE_SPECIAL);
      CHECKF(!why, "line %zu: %s", i + 1, why);
      texts++;
    }
  }
  CHECKF(files >= 100 && texts >= 8 * files, "%u files, %u texts", files, texts);
  tsl_vocab_release(v);
  free_lines(&l);
}

/* The pattern's vocabulary: in the tokenizer.json for Oniguruma, or beside the rank file. */
static tsl_vocab *load_pattern(const lines *l, const char *line, tsl_error *error) {
  static char json[65536];
  tsl_vocab_options options = {.pattern = line + 2};
  tsl_vocab *v = NULL;
  if (line[0] == 'R') {
    tsl_vocab_load_memory(l->at[1], strlen(l->at[1]), "x.tiktoken", &options, NULL, &v, error);
    return v;
  }
  const char *hole = strstr(l->at[0], "PATTERN");
  size_t n = (size_t)(hole - l->at[0]);
  memcpy(json, l->at[0], n);
  for (const char *p = line + 2; *p; json[n++] = *p++)
    if (*p == '\\' || *p == '"') json[n++] = '\\';
  n += (size_t)snprintf(json + n, sizeof json - n, "%s", hole + strlen("PATTERN"));
  tsl_vocab_load_memory(json, n, NULL, NULL, NULL, &v, error);
  return v;
}

/* tests/cases/encode/patterns.txt: tests/programs/encode_patterns.py says what is in it. */
static void test_patterns(void) {
  lines l;
  tsl_vocab *v = NULL;
  const char *pattern = "";
  unsigned patterns = 0, texts = 0;
  if (!read_lines(CASES "patterns.txt", &l) || l.count < 3) {
    CHECKF(false, "%s cannot be read", CASES "patterns.txt");
    return;
  }
  for (char *p = l.at[1]; (p = strchr(p, ';'));) *p = '\n';
  for (size_t i = 2; i < l.count; i++) {
    if (l.at[i][0] == 'O' || l.at[i][0] == 'R') {
      tsl_error error = {0};
      tsl_vocab_release(v);
      pattern = l.at[i];
      v = load_pattern(&l, pattern, &error);
      CHECKF(v, "%s: %s", pattern, error.message);
      patterns++;
    } else if (v) {
      const char *why = unlike_ids(v, l.at[i], 0);
      CHECKF(!why, "line %zu, %s: %s", i + 1, pattern, why);
      texts++;
    }
  }
  CHECKF(patterns >= 100 && texts >= 5 * patterns, "%u patterns, %u texts", patterns, texts);
  tsl_vocab_release(v);
  free_lines(&l);
}

static void test_fetched(void) {
  static const char *const files[][2] = {
      {"llama3_1/tokenizer.json", "llama3_1"},
      {"qwen3/tokenizer.json", "qwen3"},
      {"gemma3/tokenizer.json", "gemma3"},
      {"o200k_base.tiktoken", "o200k_base"},
      {"cl100k_base.tiktoken", "cl100k_base"},
      {"p50k_base.tiktoken", "p50k_base"},
      {"mistral/tokenizer.model.v1", "mistral_v1"},
      {"mistral/mistral_instruct_tokenizer_240323.model.v3", "mistral_v3"},
      {"mistral/tekken_240911.json", "tekken"},
  };
  const char *folder = getenv("TSL_VOCABS");
  if (!folder) SKIP("TSL_VOCABS is not set: no fetched vocabularies");
  for (size_t i = 0; folder && i < sizeof files / sizeof *files; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, files[i][0]);
    compare_file(path, files[i][1]);
  }
}

static void test_embedded(void) {
  tsl_vocab *v;
  tsl_error error;
  tsl_status status = tsl_vocab_embedded(NULL, &v, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  if (status) return;
  compare(v, "embedded");
  tsl_vocab_release(v);
}

int main(int argc, char **argv) {
  if (argc == 3) {
    compare_file(argv[1], argv[2]);
    return tsl_test_end();
  }
  RUN(test_embedded, "the embedded vocabulary against PyPI tokenizers");
  RUN(test_configs, "small tokenizer files put together at random");
  RUN(test_patterns,
      "patterns that PCRE2 would read differently, against PyPI tokenizers and tiktoken");
  RUN(test_fetched, "fetched vocabularies against PyPI tokenizers and tiktoken");
  return tsl_test_end();
}
