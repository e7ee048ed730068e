/* load.c - vocabularies from files: which reader, and the cache in front of it.
 *
 * The format is known from the content. "GGUF" is that. A protocol buffer that begins with a piece
 * is SentencePiece's. An object is a tokenizer.json (or Mistral's tekken.json, which hf.c passes
 * on). Lines of base64 and numbers are a tiktoken rank file.
 *
 * Of a GGUF file the metadata alone is read, however large the tensors behind it are.
 *
 * With a cache, a file's content is looked up (known.c) or hashed, and its entry is mapped
 * (cache.c). Only where there is none the file is parsed.
 *
 * Example   model.gguf with a cache: the first bytes are "GGUF", so the metadata is what is hashed.
 *           The hash with the options names <key>.tslvocab. It is not there: gguf.c parses, and the
 *           vocabulary is written under that name. The next process maps it. Another value of
 *           options->pattern is another key, so it gets an entry of its own.
 * Tested by tests/vocab_files/test_vocab_files.c, tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>

#include "runtime/core/os.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/vocab_files/cache.h"
#include "runtime/vocab_files/known.h"

static const tsl_vocab_options no_options;

/* ---- which format ---------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Does the first line look like "IQ== 0"? */
static bool looks_like_ranks(const char *text, size_t length) {
  const char *newline = memchr(text, '\n', length);
  size_t n = newline ? (size_t)(newline - text) : length;
  const char *space = memchr(text, ' ', n);
  return space && space > text && space + 1 < text + n && space[1] >= '0' && space[1] <= '9' &&
         text[0] != '{' && text[0] != '[';
}

static tsl_status read_format(const char *text, size_t length, const char *name,
                              const tsl_vocab_options *options, const tsl_allocator *a,
                              tsl_vocab **out, tsl_error *error) {
  size_t at = 0;
  if (length >= 4 && !memcmp(text, "GGUF", 4))
    return tsl__load_gguf((const uint8_t *)text, length, options, a, out, error);
  if (tsl__looks_like_sentencepiece((const uint8_t *)text, length))
    return tsl__load_sentencepiece((const uint8_t *)text, length, options, a, out, error);
  while (at < length && is_space(text[at])) at++;
  if (at < length && text[at] == '{') return tsl__load_hf(text, length, options, a, out, error);
  if (looks_like_ranks(text, length))
    return tsl__load_tiktoken(text, length, name, options, a, out, error);
  return tsl__fail_at(error, TSL_ERR_FORMAT, text, length, at,
                      "neither a tokenizer.json nor GGUF, SentencePiece's tokenizer.model, "
                      "Mistral's tekken.json or a tiktoken rank file");
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* The name of a cache entry: the file's content and whatever else decides what is made of it. */
static void name_entry(const uint8_t content[16], const char *name, const tsl_vocab_options *o,
                       uint8_t key[16]) {
  const uint32_t numbers[3] = {o->logits_width, o->eog_count, o->pattern != NULL};
  memcpy(key, content, 16);
  tsl__hash128_chain_u32(key, numbers, 3);
  tsl__hash128_chain_u32(key, o->eog, o->eog_count);
  tsl__hash128_chain(key, o->pattern ? o->pattern : "", o->pattern ? strlen(o->pattern) : 0);
  const char *base = name ? strrchr(name, '/') : NULL;
  base = base ? base + 1 : name ? name : "";
  tsl__hash128_chain(key, base, strlen(base));
}

static tsl_status check_options(const tsl_vocab_options *o, tsl_vocab **out, tsl_error *error) {
  if (!out) return tsl__fail(error, TSL_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  return o->eog_count && !o->eog ? tsl__fail(error, TSL_ERR_ARGUMENT, "options->eog is NULL")
                                 : TSL_OK;
}

static tsl_status read_and_keep(const char *text, size_t length, const char *name,
                                const tsl_vocab_options *o, const uint8_t *key,
                                const tsl_allocator *a, tsl_vocab **out, tsl_error *error) {
  tsl_status status = read_format(text, length, name, o, a, out, error);
  /* a cache that cannot be written is no error */
  if (!status && o->cache_dir) tsl__vocab_cache_write(*out, o->cache_dir, key);
  return status;
}

tsl_status tsl_vocab_load_memory(const void *data, size_t size, const char *name,
                                 const tsl_vocab_options *options, const tsl_allocator *allocator,
                                 tsl_vocab **out, tsl_error *error) {
  const tsl_vocab_options *o = options ? options : &no_options;
  const tsl_allocator *a = tsl__allocator_or_default(allocator);
  uint8_t key[16];
  tsl_status status = check_options(o, out, error);
  if (status) return status;
  if (!data && size) return tsl__fail(error, TSL_ERR_ARGUMENT, "data is NULL");
  if (!data) data = "";
  if (size >= 4 && !memcmp(data, "GGUF", 4)) tsl__gguf_end(data, size, &size);
  if (o->cache_dir) {
    tsl__hash128(data, size, key);
    name_entry(key, name, o, key);
    if (tsl__vocab_cache_read(o->cache_dir, key, a, out) == TSL_OK) return TSL_OK;
  }
  return read_and_keep(data, size, name, o, key, a, out, error);
}

/* ---- files ----------------------------------------------------------------------------------- */

static tsl_status io_error(tsl_error *error, const char *path, const char *what) {
  return tsl__fail(error, TSL_ERR_IO, "%s cannot be %s", path, what);
}

/* bytes: enough to see what it is, and for the metadata of small GGUF files */
#define FIRST_READ ((size_t)1 << 22)

/* Read on up to text[until]; false if the file ends before. */
static bool read_until(int file, char *text, size_t *at, size_t until) {
  while (*at < until) {
    ptrdiff_t n = tsl__file_read(file, text + *at, until - *at);
    if (n <= 0) return false;
    *at += (size_t)n;
  }
  return true;
}

/* Bytes to read next, of which `at` are there: twice as many in a GGUF file whose metadata goes on,
 * else all. */
static size_t next_goal(const char *text, size_t at, size_t size) {
  size_t end;
  if (at < 4 || memcmp(text, "GGUF", 4)) return size;
  if (tsl__gguf_end((const uint8_t *)text, at, &end)) return at;
  return at < size / 2 ? 2 * at : size;
}

/* Read a whole file, or of a GGUF file its metadata. *size is the length, *held that of the
 * block. */
static tsl_status read_file(const char *path, int file, const tsl_allocator *a, char **text,
                            size_t *size, size_t *held, tsl_error *error) {
  tsl__file_info info;
  *text = NULL;
  *size = *held = 0;
  if (!tsl__file_look(file, &info) || !info.regular)
    return io_error(error, path, "read: it is not a regular file");
  size_t whole = (size_t)info.size, goal = whole < FIRST_READ ? whole : FIRST_READ;
  for (;;) {
    char *more = tsl__resize(a, *text, *held, goal + 1);
    if (!more) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
    *text = more;
    *held = goal + 1;
    if (!read_until(file, *text, size, goal)) return io_error(error, path, "read to its end");
    if (goal == whole) return TSL_OK;
    goal = next_goal(*text, *size, whole);
    if (goal == *size) return TSL_OK;
  }
}

/* GGUF files are named in the cache by their metadata, which is to be read first. */
static bool is_gguf(int file) {
  char magic[4];
  bool found = tsl__file_read(file, magic, 4) == 4 && !memcmp(magic, "GGUF", 4);
  tsl__file_rewind(file);
  return found;
}

tsl_status tsl_vocab_load_file(const char *path, const tsl_vocab_options *options,
                               const tsl_allocator *allocator, tsl_vocab **out, tsl_error *error) {
  const tsl_vocab_options *o = options ? options : &no_options;
  const tsl_allocator *a = tsl__allocator_or_default(allocator);
  tsl_status status = check_options(o, out, error);
  if (status) return status;
  if (!path) return tsl__fail(error, TSL_ERR_ARGUMENT, "path is NULL");
  /* a pipe that nobody writes to is no reason to wait */
  int file = tsl__file_open(path, TSL__OPEN_READ);
  if (file < 0) return io_error(error, path, "opened");
  uint8_t key[16];
  bool found = false;
  if (o->cache_dir && !is_gguf(file) &&
      tsl__vocab_known_hash(o->cache_dir, file, time(NULL), a, key)) {
    name_entry(key, path, o, key);
    found = tsl__vocab_cache_read(o->cache_dir, key, a, out) == TSL_OK;
  }
  char *text = NULL;
  size_t size = 0, held = 0;
  if (!found) status = read_file(path, file, a, &text, &size, &held, error);
  tsl__file_close(file);
  /* Not under the key from above: the file may have changed since, and the entry is to be named by
   * what is in it. */
  if (!found && !status) status = tsl_vocab_load_memory(text, size, path, o, a, out, error);
  tsl__free(a, text, held);
  return status;
}
