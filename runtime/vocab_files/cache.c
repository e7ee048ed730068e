/* cache.c - a vocabulary as one file that is mapped back. See cache.h.
 *
 * Problem   Parsing 9 MB of JSON and sorting 128,000 tokens takes a tenth of a second. Nothing of
 *           it changes from one start to the next.
 * Idea      All tables are flat, so the file is a header and the tables as they lie in memory, each
 *           at a multiple of 64 bytes. Loading is mmap, one pass of XXH3-128 over everything, and
 *           one pass that checks every index against its bounds. After that no value in the file
 *           can lead out of it, even if someone forged the checksum. Pages are mapped as the first
 *           pass comes to them, sixteen at a time; to have all of them mapped ahead (MAP_POPULATE)
 *           takes longer.
 * Example   A table of offsets must grow and must end within the bytes. A node's children must lie
 *           behind the node. A merge's tokens must be below the size. A file in which node 5 has
 *           the child 5 would make a walk go round for ever: the second pass refuses it. The caller
 *           then parses the tokenizer file and writes the entry anew.
 * Naming    <key in hex>.tslvocab; the key hashes the tokenizer file's content and the options
 *           (load.c). The file is written under another name and renamed, so that readers see all
 *           of it or nothing. A file that is not sound is ignored and written again.
 * Machines  The numbers are in the machine's own order; `mark` and `layout` keep files of other
 *           machines and versions out.
 *
 * Tested by tests/vocab_files/test_vocab_cache.c, tests/vocab_files/test_cache_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/cache.h"

#include <stdio.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/core/os.h"
#include "runtime/kernels/logits.h"
#include "runtime/tokenizer/tokenizer.h"

#define VERSION 5u /* to be raised with any change to what a table means */
#define MARK 0x01020304u
#define ALIGNMENT 64u

enum {
  BYTES,
  OFFSETS,
  SPECIAL,
  EOG,
  NODES,
  ORDER,
  SETS,
  TABLES,
  SECTIONS = TABLES + TSL__SPAN_COUNT
};

typedef struct section {
  uint64_t offset, size;
} section; /* bytes; offset from the start of the file */

typedef struct header {
  char magic[8];
  uint32_t version, mark, layout, size, logits_width, eog_count;
  uint64_t file_size;
  uint8_t key[16], identity[16];
  section section[SECTIONS];
  uint8_t checksum[16]; /* of the header with this field zero, then of the rest of the file */
} header;

static const char magic[8] = {'T', 'S', 'L', 'V', 'O', 'C', 'A', 'B'};

/* The sizes of what lies in the sections: another build may have others. */
static uint32_t layout(void) {
  return (uint32_t)(sizeof(header) + 3 * sizeof(tsl__trie_node) + 5 * sizeof(tsl__bytes) +
                    7 * sizeof(tsl__tok_facts) + 11 * sizeof(tsl__merge) + 13 * sizeof(tsl__point) +
                    17 * sizeof(tsl__step) + 19 * sizeof(tsl__added));
}

static uint64_t align(uint64_t at) { return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

bool tsl__vocab_cache_path(char path[TSL__CACHE_PATH], const char *directory, const uint8_t key[16],
                           const char *end) {
  if (!tsl__folder_trusted(directory)) return false;
  char hex[33];
  for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", key[i]);
  int n = snprintf(path, TSL__CACHE_PATH, "%s/%s%s", directory, hex, end);
  /* no name is no folder, rather than the root */
  return *directory && n > 0 && (size_t)n < TSL__CACHE_PATH;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const uint8_t padding[ALIGNMENT];

static void list_sections(const tsl_vocab *v, tsl__span list[SECTIONS]) {
  const tsl__tok_tables *tables = &((const tsl__bpe_tokenizer *)v->tokenizer)->tables;
  list[BYTES] = (tsl__span){(void *)v->bytes, v->offsets[v->size]};
  list[OFFSETS] = (tsl__span){(void *)v->offsets, ((size_t)v->size + 1) * sizeof *v->offsets};
  list[SPECIAL] = (tsl__span){(void *)v->special, v->size};
  list[EOG] = (tsl__span){(void *)v->eog, v->eog_count * sizeof *v->eog};
  list[NODES] = (tsl__span){v->trie.nodes, v->trie.node_count * sizeof *v->trie.nodes};
  list[ORDER] = (tsl__span){v->trie.order, v->trie.order_count * sizeof *v->trie.order};
  list[SETS] = (tsl__span){v->trie.sets, v->trie.set_count * sizeof *v->trie.sets};
  for (int i = 0; i < TSL__SPAN_COUNT; i++) list[TABLES + i] = tables->span[i];
}

static void fill_header(header *h, const tsl_vocab *v, const uint8_t key[16],
                        const tsl__span list[SECTIONS]) {
  memset(h, 0, sizeof *h);
  memcpy(h->magic, magic, sizeof magic);
  h->version = VERSION;
  h->mark = MARK;
  h->layout = layout();
  h->size = v->size;
  h->logits_width = v->logits_width;
  h->eog_count = v->eog_count;
  memcpy(h->key, key, 16);
  memcpy(h->identity, v->identity, 16);
  uint64_t at = align(sizeof *h);
  for (int i = 0; i < SECTIONS; i++) {
    h->section[i] = (section){at, list[i].size};
    at = align(at + list[i].size);
  }
  h->file_size = at;
  XXH3_state_t state;
  XXH128_canonical_t canonical;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, h, sizeof *h);
  XXH3_128bits_update(&state, padding, (size_t)(align(sizeof *h) - sizeof *h));
  for (int i = 0; i < SECTIONS; i++) {
    if (list[i].size) XXH3_128bits_update(&state, list[i].at, list[i].size);
    XXH3_128bits_update(&state, padding, (size_t)(align(list[i].size) - list[i].size));
  }
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
  memcpy(h->checksum, canonical.digest, 16);
}

static bool write_all(int file, const void *data, size_t size) {
  for (const char *at = data; size;) {
    ptrdiff_t n = tsl__file_write(file, at, size);
    if (n <= 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

static bool write_padded(int file, const void *data, size_t size) {
  return (!size || write_all(file, data, size)) &&
         write_all(file, padding, (size_t)(align(size) - size));
}

static bool write_file(const char *path, const header *h, const tsl__span list[SECTIONS]) {
  int file = tsl__file_open(path, TSL__OPEN_NEW);
  if (file < 0) return false;
  bool ok = write_padded(file, h, sizeof *h);
  for (int i = 0; i < SECTIONS && ok; i++) ok = write_padded(file, list[i].at, list[i].size);
  ok = tsl__file_close(file) && ok;
  if (!ok) tsl__file_remove(path);
  return ok;
}

tsl_status tsl__vocab_cache_write(const tsl_vocab *v, const char *directory,
                                  const uint8_t key[16]) {
  char path[TSL__CACHE_PATH], draft[TSL__CACHE_PATH], end[64];
  header h;
  tsl__span list[SECTIONS];
  /* Two threads of one process have different vocabularies in hand, two processes different
   * numbers. */
  snprintf(end, sizeof end, ".%llu.%llx.draft", (unsigned long long)tsl__process_id(),
           (unsigned long long)(uintptr_t)v);
  if (!tsl__vocab_cache_path(path, directory, key, ".tslvocab") ||
      !tsl__vocab_cache_path(draft, directory, key, end))
    return TSL_ERR_IO;
  list_sections(v, list);
  fill_header(&h, v, key, list);
  tsl__folder_make(directory); /* what is wrong with the directory shows when the file is opened */
  if (!write_file(draft, &h, list)) return TSL_ERR_IO;
  if (tsl__file_rename(draft, path)) return TSL_OK;
  tsl__file_remove(draft);
  return TSL_ERR_IO;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool check_header(const header *h, size_t size, const uint8_t key[16]) {
  if (size < sizeof *h || memcmp(h->magic, magic, sizeof magic) || h->version != VERSION ||
      h->mark != MARK || h->layout != layout())
    return false;
  if (h->file_size != size || memcmp(h->key, key, 16)) return false;
  for (int i = 0; i < SECTIONS; i++)
    if (h->section[i].offset % ALIGNMENT || h->section[i].offset > size ||
        h->section[i].size > size - h->section[i].offset)
      return false;
  return true;
}

static bool check_sum(const header *h, size_t size) {
  header zeroed = *h;
  uint8_t sum[16];
  XXH3_state_t state;
  XXH128_canonical_t canonical;
  memset(zeroed.checksum, 0, sizeof zeroed.checksum);
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, &zeroed, sizeof zeroed);
  tsl__logits()->hash_more(&state, (const uint8_t *)h + sizeof *h, size - sizeof *h);
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
  memcpy(sum, canonical.digest, 16);
  return !memcmp(sum, h->checksum, 16);
}

static bool check_tokens(const tsl__vocab_parts *p, size_t bytes) {
  if (p->offsets[0] || p->offsets[p->size] != bytes) return false;
  for (uint32_t i = 0; i < p->size; i++)
    if (p->offsets[i + 1] < p->offsets[i] ||
        p->offsets[i + 1] - p->offsets[i] > TSL_MAX_TOKEN_BYTES)
      return false;
  for (uint32_t i = 0; i < p->eog_count; i++)
    if (p->eog[i] >= p->size) return false;
  return true;
}

/* The sections as parts and tables; false if a size does not fit. */
static bool list_parts(const header *h, tsl__vocab_parts *p, tsl__tok_tables *tables) {
  uint8_t *base = (uint8_t *)h;
  const section *s = h->section;
  if (!h->size || h->size > TSL_MAX_VOCAB || h->logits_width < h->size ||
      h->logits_width > TSL_MAX_VOCAB)
    return false;
  if (s[OFFSETS].size != ((uint64_t)h->size + 1) * sizeof(uint32_t) || s[SPECIAL].size != h->size)
    return false;
  if (s[EOG].size != h->eog_count * sizeof(tsl_token) || s[NODES].size % sizeof(tsl__trie_node) ||
      s[NODES].size / sizeof(tsl__trie_node) > UINT32_MAX || s[ORDER].size % sizeof(tsl_token) ||
      s[ORDER].size / sizeof(tsl_token) > h->size || s[SETS].size % sizeof(tsl__bytes) ||
      s[SETS].size / sizeof(tsl__bytes) > UINT16_MAX)
    return false;
  p->size = h->size;
  p->logits_width = h->logits_width;
  p->eog_count = h->eog_count;
  p->bytes = base + s[BYTES].offset;
  p->offsets = (void *)(base + s[OFFSETS].offset);
  p->special = base + s[SPECIAL].offset;
  p->eog = (void *)(base + s[EOG].offset);
  p->trie.nodes = (void *)(base + s[NODES].offset);
  p->trie.order = (void *)(base + s[ORDER].offset);
  p->trie.sets = (void *)(base + s[SETS].offset);
  p->trie.node_count = (uint32_t)(s[NODES].size / sizeof(tsl__trie_node));
  p->trie.order_count = (uint32_t)(s[ORDER].size / sizeof(tsl_token));
  p->trie.set_count = (uint32_t)(s[SETS].size / sizeof(tsl__bytes));
  memcpy(p->identity, h->identity, 16);
  for (int i = 0; i < TSL__SPAN_COUNT; i++)
    tables->span[i] = (tsl__span){s[TABLES + i].size ? base + s[TABLES + i].offset : NULL,
                                  (size_t)s[TABLES + i].size};
  return true;
}

static tsl_status adopt(void *mapping, size_t size, const uint8_t key[16], const tsl_allocator *a,
                        tsl_vocab **out) {
  const header *h = mapping;
  tsl__vocab_parts parts = {.mapping = mapping, .mapping_size = size};
  tsl__tok_tables tables;
  tsl__bpe_tokenizer *t = NULL;
  if (!check_header(h, size, key) || !check_sum(h, size) || !list_parts(h, &parts, &tables) ||
      !check_tokens(&parts, (size_t)h->section[BYTES].size))
    return TSL_ERR_FORMAT;
  tsl__trie *trie = &parts.trie;
  if (trie->node_count && !(trie->labels = tsl__alloc_zero(a, tsl__trie_labels(trie))))
    return TSL_ERR_NO_MEMORY;
  bool sound =
      tsl__trie_sound(trie, parts.size, trie->labels) && tsl__tok_tables_check(&tables, parts.size);
  tsl_status status = sound ? tsl__tokenizer_new(&tables, true, a, &t, NULL) : TSL_ERR_FORMAT;
  if (status == TSL_OK) {
    parts.tokenizer = &t->base;
    status = tsl__vocab_adopt(&parts, a, out);
    if (status) t->base.ops->free(&t->base);
  }
  if (status) tsl__free(a, trie->labels, tsl__trie_labels(trie));
  return status;
}

tsl_status tsl__vocab_cache_read(const char *directory, const uint8_t key[16],
                                 const tsl_allocator *a, tsl_vocab **out) {
  char path[TSL__CACHE_PATH];
  tsl__file_info info;
  *out = NULL;
  int file = tsl__vocab_cache_path(path, directory, key, ".tslvocab")
                 ? tsl__file_open(path, TSL__OPEN_READ)
                 : -1;
  if (file < 0) return TSL_ERR_IO;
  const void *mapping = NULL;
  size_t size = 0;
  if (tsl__file_look(file, &info) && info.regular && info.size && info.size <= SIZE_MAX) {
    size = (size_t)info.size;
    mapping = tsl__file_map(file, size);
  }
  tsl__file_close(file);
  if (!mapping) return TSL_ERR_IO;
  tsl_status status = adopt((void *)(uintptr_t)mapping, size, key, a, out);
  if (status) tsl__file_unmap(mapping, size);
  return status;
}
