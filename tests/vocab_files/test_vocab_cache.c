/* test_vocab_cache.c - vocabularies through the cache: what is read back, damaged and forged
 * entries. What the machine may do to it is test_cache_faults.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL

#include "tests/support/cache_file.h"
#include "tests/support/text.h"
#include "tests/support/vocab.h"

/* ---- the cache ------------------------------------------------------------------------------- */

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
  if (memcmp(x, y, 16) || a->size != b->size || a->logits_width != b->logits_width ||
      a->eog_count != b->eog_count)
    return false;
  if (memcmp(a->offsets, b->offsets, (a->size + 1) * sizeof *a->offsets) ||
      memcmp(a->bytes, b->bytes, a->offsets[a->size]) || memcmp(a->special, b->special, a->size))
    return false;
  if (tsl_vocab_encode(a, text, sizeof text - 1, 3, ids[0], 64, &n[0]) ||
      tsl_vocab_encode(b, text, sizeof text - 1, 3, ids[1], 64, &n[1]))
    return false;
  return n[0] == n[1] && !memcmp(ids[0], ids[1], n[0] * sizeof(tsl_token)) &&
         tsl__trie_check(&b->trie, b->bytes, b->offsets, b->size, b->special) &&
         tsl_vocab_find_special(b, "<w>", 3) == 22 && tsl_vocab_find_special(b, "</s>", 4) == 21;
}

static void test_cache(void) {
  char path[512], file[512];
  tsl_vocab_options o = {.cache_dir = cache_dir};
  tsl_vocab *plain = load(byte_file, NULL, NULL), *first = load(byte_file, NULL, &o),
            *second = load(byte_file, NULL, &o);
  if (!plain || !first || !second) return;
  CHECK(only_entry(path));
  CHECK(!first->mapping && second->mapping);
  CHECK(same_vocab(plain, first) && same_vocab(plain, second));
  CHECK(tsl_vocab_memory(second) > second->mapping_size);
  tsl_vocab_release(first);
  tsl_vocab_release(second);
  /* Other options are another entry; the same file by path is the same entry only under the same
   * name. */
  o.logits_width = 64;
  tsl_vocab *broad = load(byte_file, NULL, &o);
  CHECK(broad && !broad->mapping && !only_entry(path));
  tsl_vocab_release(broad);
  o.logits_width = 0;
  snprintf(file, sizeof file, "%s/.tokenizer.json", cache_dir);
  write_whole(file, byte_file, strlen(byte_file));
  for (int i = 0; i < 2; i++) {
    tsl_vocab *v;
    CHECK(tsl_vocab_load_file(file, &o, NULL, &v, NULL) == TSL_OK && same_vocab(plain, v) &&
          (v->mapping != NULL) == (i == 1));
    tsl_vocab_release(v);
  }
  CHECK(tsl_vocab_load_file("/nowhere/at/all", NULL, NULL, &first, NULL) == TSL_ERR_IO && !first);
  CHECK(tsl_vocab_load_file(cache_dir, NULL, NULL, &first, NULL) == TSL_ERR_IO && !first);
  /* a cache that cannot be written is no error; no name is no folder */
  for (int i = 0; i < 3; i++) {
    o.cache_dir = i ? "" : "/nowhere/at/all";
    CHECK(tsl_vocab_load_file(file, &o, NULL, &first, NULL) == TSL_OK && !first->mapping);
    tsl_vocab_release(first);
  }
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
  char *good = text_of_file(path, &size);
  if (!plain || !good) return;
  uint64_t seed = 3;
  unsigned noticed = 0, rewritten = 0, rounds = 300;
  for (unsigned i = 0; i < rounds; i++) {
    char *bad = malloc(size + 64);
    size_t bad_size = size;
    memcpy(bad, good, size);
    if (i % 3 == 0)
      bad_size = (size_t)(tsl_test_random(&seed) % size);
    else if (i % 3 == 1)
      bad[tsl_test_random(&seed) % size] ^= (char)(1 << i % 8);
    else
      memset(bad + size, 0, 64), bad_size += 1 + i % 64;
    write_whole(path, bad, bad_size);
    free(bad);
    v = load(byte_file, NULL, &o);
    noticed += v && !v->mapping;
    if (v) tsl_vocab_release(v);
    v = load(byte_file, NULL, &o);
    rewritten += v && v->mapping && same_vocab(plain, v);
    tsl_vocab_release(v);
  }
  CHECKF(noticed == rounds && rewritten == rounds, "%u noticed, %u rewritten of %u", noticed,
         rewritten, rounds);
  free(good);
  tsl_vocab_release(plain);
}

/* Reading an entry needs memory too: without it the file is read instead, or the load fails, and
 * nothing is kept. */
static void test_cache_no_memory(void) {
  tsl_vocab_options o = {.cache_dir = cache_dir};
  char path[512];
  empty_cache();
  tsl_vocab *v = load(byte_file, NULL, &o);
  CHECK(only_entry(path));
  tsl_vocab_release(v);
  unsigned failures = 0, read_anew = 0;
  for (long n = 0;; n++) {
    failing f = {n, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_status status = tsl_vocab_load_memory(byte_file, strlen(byte_file), NULL, &o, &a, &v, NULL);
    bool mapped = v && v->mapping, used_up = f.left < 0;
    tsl_vocab_release(v);
    CHECKF(f.held == 0 && (!status || status == TSL_ERR_NO_MEMORY),
           "allocation %ld: %s, %ld bytes held", n, tsl_status_name(status), f.held);
    failures += status != TSL_OK;
    read_anew += !status && !mapped;
    if (mapped && !used_up) break;
  }
  CHECKF(failures + read_anew > 10, "%u failures, %u read anew", failures, read_anew);
}

/* A vocabulary whose tokens crowd into few slots is mapped with the key that was drawn. */
static void test_crowded_cache(void) {
  tsl_vocab_options o = {.cache_dir = cache_dir, .pattern = "(?s).+"};
  char *text = crowded_ranks(2000, 50);
  empty_cache();
  tsl_vocab *made = load(text, NULL, &o), *mapped = load(text, NULL, &o);
  CHECK(made && mapped && !made->mapping && mapped->mapping);
  for (tsl_token id = 0; made && mapped && id < 2000; id += 111) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(mapped, id, &n);
    CHECK(tsl__lookup_bytes(&((tsl__bpe_tokenizer *)mapped->tokenizer)->tables, mapped, bytes, 6) ==
          id);
  }
  tsl_vocab_release(made);
  tsl_vocab_release(mapped);
  free(text);
}

/* Someone changes the file and makes the checksum right: it is refused, or harmless. Run with a
 * sanitiser this shows more. */
static void test_forged_cache(void) {
  char path[512];
  tsl_vocab_options o = {.cache_dir = cache_dir};
  empty_cache();
  tsl_vocab *v = load(byte_file, NULL, &o);
  size_t size;
  CHECK(v && only_entry(path));
  char *good = text_of_file(path, &size);
  tsl_vocab_release(v);
  if (!good) return;
  char *same = malloc(size);
  memcpy(same, good, size);
  cache_file_seal((uint8_t *)same, size);
  CHECK(!memcmp(same, good, size)); /* the seal is the one that the library makes */
  free(same);
  uint64_t seed = 4;
  unsigned hits = 0, refused = 0;
  for (unsigned i = 0; i < 1500; i++) {
    char *bad = malloc(size);
    memcpy(bad, good, size);
    size_t at = i < 2 * size ? i / 2 * 2 % size : (size_t)(tsl_test_random(&seed) % size);
    if (i % 2)
      bad[at] = (char)tsl_test_random(&seed);
    else
      memset(bad + at / 4 * 4, i % 4 ? 0xFF : (int)tsl_test_random(&seed), 4);
    cache_file_seal((uint8_t *)bad, size);
    write_whole(path, bad, size);
    free(bad);
    v = load(byte_file, NULL, &o);
    if (v && v->mapping)
      hits++;
    else
      refused++;
    CHECK(!v || cache_file_use(v) > 0);
    tsl_vocab_release(v);
  }
  CHECKF(hits > 100 && refused > 200, "%u accepted, %u refused", hits, refused);
  free(good);
}

int main(void) {
  const char *build = getenv("TSL_BUILD");
  snprintf(cache_dir, sizeof cache_dir, "%.200s/test-cache-XXXXXX", build ? build : ".");
  if (!mkdtemp(cache_dir)) {
    perror(cache_dir);
    return 1;
  }
  RUN(test_cache, "the cache");
  RUN(test_damaged_cache, "a damaged cache file is written again");
  RUN(test_cache_no_memory, "each allocation of a read from the cache fails");
  RUN(test_crowded_cache, "a table under a drawn key is mapped with it");
  RUN(test_forged_cache, "a forged cache file does no harm");
  empty_cache();
  rmdir(cache_dir);
  return tsl_test_end();
}
