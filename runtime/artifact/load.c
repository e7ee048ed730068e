/* load.c - opening a file: header, vocabulary, the space over it.
 *
 * Problem   A server loads thousands of grammars, each for a few texts. To read a file whole, or to
 *           check it whole, would take longer than to use it.
 * Idea      The file is mapped. Only its header is checked at once: magic, version, size and the
 *           places of the sections. So is one checksum over the header and the table of checksums.
 *           The blocks are checked one by one, before each is first read (read.c). States, masks
 *           and leftovers get numbers in the space when they are first met.
 * Example   A file of 10 MiB has 640 blocks: loading reads the header and 640 checksums. A matcher
 *           that stays in three states then checks the few blocks in which these lie.
 * Other filesA file that is not complete holds the grammar's text beside what was done ahead: then
 *           every block is checked, and the text is compiled.
 * Owners    open_file takes the file over, and closes it on failure; later the reader does, with
 *           the space.
 * Cost      Some 15 µs with the file in the page cache, of which opening and mapping are half.
 *           Larger files take no more, but for 12 bytes of memory for each state, mask and
 *           leftover, zeroed.
 * Tested by tests/artifact/test_artifact.c, tests/artifact/test_forged.c, fuzz/fuzz_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/layer.h"
#include "runtime/artifact/artifact.h"

#include <errno.h>

#include "runtime/core/os.h"

const char tsl__a_magic[8] = {'T', 'S', 'L', 'G', 'R', 'A', 'M', '\n'};

/* ---- the file -------------------------------------------------------------------------------- */

void tsl__a_close(tsl__artifact_file *f, const tsl_allocator *a) {
  if (f->mapped && f->at)
    tsl__file_unmap(f->at, f->size);
  else
    tsl__free(a, (void *)(uintptr_t)f->at, f->size);
  *f = (tsl__artifact_file){0};
}

/* The file as it lies in the page cache. It is closed at once; the mapping stays. */
static tsl_status map(const char *path, tsl__artifact_file *out, tsl_error *error) {
  tsl__file_info info;
  *out = (tsl__artifact_file){0};
  /* a FIFO would be waited for before it is seen to be one */
  int file = tsl__file_open(path, TSL__OPEN_READ);
  if (file < 0)
    return tsl__fail(error, TSL_ERR_IO, "%s: %s", path,
                     errno == ENOENT ? "there is no such file" : "cannot be opened");
  if (!tsl__file_look(file, &info) || !info.regular) {
    tsl__file_close(file);
    return tsl__fail(error, TSL_ERR_IO, "%s: is no regular file", path);
  }
  if (info.size < sizeof(tsl__a_header) || info.size > TSL__ARTIFACT_MAX) {
    tsl__file_close(file);
    return tsl__fail(error, TSL_ERR_FORMAT, "%s: is no artifact: it has %llu bytes", path,
                     (unsigned long long)info.size);
  }
  const void *at = tsl__file_map(file, (size_t)info.size);
  tsl__file_close(file);
  if (!at) return tsl__fail(error, TSL_ERR_IO, "%s: cannot be mapped", path);
  *out = (tsl__artifact_file){at, (size_t)info.size, true};
  return TSL_OK;
}

/* ---- the header ------------------------------------------------------------------------------ */

static bool power_of_two(uint64_t n) { return (n & (n - 1)) == 0; }

/* Every section lies within the file, is aligned, and has the size that the counts of the header
 * say. Tables of slots are powers of two, as searches in them take remainders by a mask. */
static bool check_sections(const tsl__a_header *h) {
  for (int i = 0; i < TSL__A_SECTIONS; i++) {
    const tsl__a_section *s = &h->section[i];
    if (s->offset % TSL__ARTIFACT_ALIGN || s->offset < h->begin || s->offset > h->size ||
        s->size > h->size - s->offset)
      return false;
  }
  const tsl__a_section *s = h->section;
  return s[TSL__A_STATES].size == 4 * (uint64_t)h->states &&
         s[TSL__A_WALKS].size == 28 * (uint64_t)h->walks &&
         s[TSL__A_MASKS].size == 16 * (uint64_t)h->masks &&
         s[TSL__A_BITSETS].size == 12 * (uint64_t)h->bitsets &&
         s[TSL__A_LEFTOVERS].size == 8 * (uint64_t)h->leftovers &&
         power_of_two(s[TSL__A_LEFT_SLOTS].size / 4) && power_of_two(s[TSL__A_WALK_SLOTS].size / 4);
}

/* Over the header with this field 0, and over the table of checksums that follows it. */
uint64_t tsl__a_header_sum(const tsl__a_header *h, const void *table) {
  tsl__a_header zeroed = *h;
  zeroed.checksum = 0;
  return tsl__hash(&zeroed, sizeof zeroed) ^ tsl__mix(tsl__hash(table, (size_t)h->blocks * 8));
}

/* Check a file's header; *out on TSL_OK. */
static tsl_status check_header(const void *data, size_t size, const tsl__a_header **out,
                               tsl_error *error) {
  const tsl__a_header *h = data;
  if (size < sizeof *h || memcmp(h->magic, tsl__a_magic, sizeof h->magic))
    return tsl__fail(error, TSL_ERR_FORMAT, "is no artifact of this program");
  if (h->mark != TSL__ARTIFACT_MARK)
    return tsl__fail(error, TSL_ERR_FORMAT,
                     "the artifact is of a machine with another order of bytes");
  if (h->version != TSL__ARTIFACT_VERSION)
    return tsl__fail(error, TSL_ERR_FORMAT, "the artifact has version %u, not %u: compile it again",
                     h->version, TSL__ARTIFACT_VERSION);
  if (h->size != size)
    return tsl__fail(error, TSL_ERR_FORMAT, "the artifact is cut off or too long");
  uint64_t table = h->size > sizeof *h ? (h->size - sizeof *h) / 8 : 0;
  bool sound = h->begin % TSL__ARTIFACT_ALIGN == 0 && h->begin <= h->size && h->blocks <= table &&
               sizeof *h + h->blocks * 8 <= h->begin &&
               h->blocks == (h->size - h->begin + TSL__ARTIFACT_BLOCK - 1) / TSL__ARTIFACT_BLOCK;
  if (!sound || tsl__a_header_sum(h, h + 1) != h->checksum || !check_sections(h))
    return tsl__fail(error, TSL_ERR_FORMAT, "the artifact is damaged: its header is not sound");
  *out = h;
  return TSL_OK;
}

/* Every block; the header was checked. */
static tsl_status verify_all(const tsl__a_header *h, tsl_error *error) {
  const uint64_t *sums = (const uint64_t *)(const void *)(h + 1);
  for (uint64_t b = 0; b < h->blocks; b++) {
    uint64_t at = h->begin + b * TSL__ARTIFACT_BLOCK,
             n = h->size - at < TSL__ARTIFACT_BLOCK ? h->size - at : TSL__ARTIFACT_BLOCK;
    if (tsl__hash((const uint8_t *)h + at, (size_t)n) != sums[b])
      return tsl__fail(error, TSL_ERR_FORMAT, "the artifact is damaged: a checksum is wrong");
  }
  return TSL_OK;
}

/* ---- the grammar ----------------------------------------------------------------------------- */

/* Walks and masks hold numbers of tokens and of nodes of the trie: they mean something for this
 * vocabulary alone. */
static tsl_status check_vocab(const tsl__a_header *h, tsl_vocab *vocab, tsl_error *error) {
  uint8_t tokens[16];
  tsl__vocab_tokens_identity(vocab, tokens);
  if (!memcmp(tokens, h->tokens, 16) && h->mask_words == tsl_vocab_mask_words(vocab) &&
      h->nodes == vocab->trie.node_count)
    return TSL_OK;
  return tsl__fail(error, TSL_ERR_FORMAT, "the artifact was made for another vocabulary");
}

/* The numbers of the file in the space, and which blocks are verified: one block of memory. */
bool tsl__reader_maps(tsl__reader *r) {
  const tsl__a_header *h = r->h;
  size_t bits = (size_t)(h->blocks / 64 + 1) * sizeof *r->verified;
  r->maps = bits + ((size_t)h->states + h->masks + h->bitsets + h->leftovers) * sizeof(uint32_t);
  r->verified = tsl__alloc_zero(&r->space->alloc, r->maps);
  if (!r->verified) return false;
  r->state_of = (uint32_t *)(void *)((char *)r->verified + bits);
  r->mask_of = r->state_of + h->states;
  r->bitset_of = r->mask_of + h->masks;
  r->leftover_of = r->bitset_of + h->bitsets;
  return true;
}

/* The first state of a grammar; 0 on failure (sticky). */
static tsl__state first_state(tsl__reader *r) {
  tsl__state s = tsl__a_state(r, r->h->start);
  if (!s) return tsl__a_bad(r, "the artifact is damaged: it has no beginning"), 0;
  if (tsl__state_at(r->space, s)->flags & (TSL__STATE_KEYED | TSL__STATE_RESUME) ||
      tsl__state_at(r->space, s)->flags / TSL__STATE_PHASE)
    return tsl__a_bad(r, "the artifact is damaged: its beginning"), 0;
  return s;
}

/* The text that grammar reports give. It must end in a zero: it is handed out as a string. */
static const char *report_of(tsl__reader *r) {
  uint64_t size = r->h->section[TSL__A_REPORT].size;
  const char *text = (const char *)tsl__a_words(r, TSL__A_REPORT, 0, size / 4);
  if (text && (size == 0 || size % 4 || text[size - 1]))
    return tsl__a_bad(r, "the artifact is damaged: its report has no end"), NULL;
  return text;
}

/* A space whose hook is the reader: what the compiler would make, the file gives. On failure all is
 * freed, the file too. */
static tsl_status open_space(const tsl__growth *growth, tsl_vocab *vocab, tsl__artifact_file file,
                             const tsl__a_header *h, const tsl_limits *limits, tsl__space **space,
                             tsl_error *error) {
  tsl__reader *r = tsl__alloc_zero(&vocab->alloc, sizeof *r);
  tsl_status status =
      r ? tsl__space_new(NULL, vocab, &vocab->alloc, limits, space) : TSL_ERR_NO_MEMORY;
  if (status == TSL_OK) {
    *r = (tsl__reader){.space = *space,
                       .growth = growth,
                       .h = h,
                       .sums = (const uint64_t *)(const void *)(h + 1),
                       .walks = h->memo == TSL__ARTIFACT_MEMO};
    if (limits) r->limits = *limits;
    if (tsl__reader_maps(r)) {
      r->file = file;
      (*space)->hook = &tsl__artifact_hook;
      (*space)->positions.watches = (uint8_t)((h->flags & TSL__A_NAMES ? TSL__NEW_NAME : 0) |
                                              (h->flags & TSL__A_FEW_NAMES ? TSL__FEW_NAMES : 0));
      (*space)->names_tokens = h->flags & TSL__A_TOKENS;
      (*space)->hook_ctx = r;
      return TSL_OK;
    }
    tsl__space_free(*space);
    status = TSL_ERR_NO_MEMORY;
  }
  tsl__free(&vocab->alloc, r, sizeof *r);
  tsl__a_close(&file, &vocab->alloc);
  return tsl__fail(error, status, "out of memory");
}

/* A grammar over a complete artifact; takes `file` over, and frees it on failure, too. */
static tsl_status open_file(const tsl__growth *growth, tsl_vocab *vocab, tsl__artifact_file file,
                            const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  const tsl__a_header *h;
  tsl__space *space = NULL;
  *out = NULL;
  tsl_status status = check_header(file.at, file.size, &h, error);
  if (status == TSL_OK) status = check_vocab(h, vocab, error);
  if (status == TSL_OK && !(h->flags & TSL__A_COMPLETE)) {
    const tsl__a_section *s = &h->section[TSL__A_SOURCE];
    status = verify_all(h, error);
    if (status == TSL_OK)
      status = growth->compile(vocab, file.at + s->offset, (size_t)s->size, limits, out, error);
    tsl__a_close(&file, &vocab->alloc);
    return status;
  }
  if (status != TSL_OK) {
    tsl__a_close(&file, &vocab->alloc);
    return status;
  }
  status = open_space(growth, vocab, file, h, limits, &space, error);
  if (status != TSL_OK) return status;
  tsl__reader *r = space->hook_ctx;
  tsl__state start = first_state(r);
  const char *report = start ? report_of(r) : NULL;
  return tsl__grammar_make(vocab, space, report ? start : 0, report ? report : "", out, error);
}

tsl_status tsl__artifact_load(const tsl__growth *growth, tsl_vocab *vocab, const char *path,
                              const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  tsl__artifact_file file;
  *out = NULL;
  if (!vocab || !path)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary and a path are needed");
  tsl_status status = map(path, &file, error);
  return status == TSL_OK ? open_file(growth, vocab, file, limits, out, error) : status;
}

tsl_status tsl__artifact_load_memory(const tsl__growth *growth, tsl_vocab *vocab, const void *data,
                                     size_t size, const tsl_limits *limits, tsl_grammar **out,
                                     tsl_error *error) {
  *out = NULL;
  if (!vocab || (!data && size))
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary and data are needed");
  if (size < sizeof(tsl__a_header) || size > TSL__ARTIFACT_MAX)
    return tsl__fail(error, TSL_ERR_FORMAT, "is no artifact: it has %llu bytes",
                     (unsigned long long)size);
  void *copy = tsl__alloc(&vocab->alloc, size);
  if (!copy) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  memcpy(copy, data, size);
  return open_file(growth, vocab, (tsl__artifact_file){copy, size, false}, limits, out, error);
}

/* ---- looking at one -------------------------------------------------------------------------- */

tsl_status tsl_artifact_inspect(const void *data, size_t size, tsl_artifact_info *out,
                                tsl_error *error) {
  const tsl__a_header *h;
  if ((!data && size) || !out || (uintptr_t)data % 8)
    return tsl__fail(error, TSL_ERR_ARGUMENT,
                     "data that is aligned to 8 bytes and a place for the answer are needed");
  tsl_status status = check_header(data, size, &h, error);
  if (status == TSL_OK) status = verify_all(h, error);
  if (status != TSL_OK) return status;
  *out = (tsl_artifact_info){.version = h->version,
                             .complete = h->flags & TSL__A_COMPLETE,
                             .has_source = h->section[TSL__A_SOURCE].size != 0,
                             .memo = h->memo == TSL__ARTIFACT_MEMO,
                             .states = h->states,
                             .walks = h->walks,
                             .masks = h->masks,
                             .bitsets = h->bitsets,
                             .size = h->size};
  memcpy(out->tokens, h->tokens, 16);
  return TSL_OK;
}
