/* write.c - from a draft to a file.
 *
 * Problem   Other processes look for the file while it is written, and the machine may stop at any
 *           moment.
 * Idea      A file appears under its name whole or not at all. It is written under another name in
 *           the same folder, brought to the disk, and renamed. Who is killed on the way leaves a
 *           file that ends in .draft, which nobody reads.
 * Layout    Header, table of checksums, sections. The table has a checksum for each block of the
 *           sections, so its own size follows from theirs, and is found first (lay_out).
 * Example   Sections of 40,000 bytes in all are three blocks of 16 KiB, the last one short. So the
 *           table has three checksums, 24 bytes, and the sections begin behind header and table,
 *           at the next aligned place. The checksum of each block is computed over its bytes. The
 *           header's checksum covers the header and the table, and is written last.
 * Padding   between sections is zeros.
 * Tested by tests/artifact/test_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/artifact/artifact.h"

#include <stdio.h>

#include "runtime/core/os.h"

#define PATH_MAX_BYTES 4096u

void tsl__a_draft_free(tsl__a_draft *d) {
  for (int i = 0; i < TSL__A_SECTIONS; i++) tsl__vec_free(d->a, &d->section[i]);
}

static uint64_t align(uint64_t n) {
  return (n + TSL__ARTIFACT_ALIGN - 1) / TSL__ARTIFACT_ALIGN * TSL__ARTIFACT_ALIGN;
}

/* Where everything lies. The table of checksums stands before the sections, so its size is found
 * first. */
static void lay_out(const tsl__a_draft *d, tsl__a_header *h) {
  uint64_t at = 0;
  for (int i = 0; i < TSL__A_SECTIONS; i++) at = align(at + d->section[i].n * sizeof(uint32_t));
  h->blocks = (at + TSL__ARTIFACT_BLOCK - 1) / TSL__ARTIFACT_BLOCK;
  h->begin = align(sizeof *h + h->blocks * sizeof(uint64_t));
  h->size = h->begin + at;
  at = h->begin;
  for (int i = 0; i < TSL__A_SECTIONS; i++) {
    h->section[i] = (tsl__a_section){at, d->section[i].n * sizeof(uint32_t)};
    at = align(at + h->section[i].size);
  }
  if (d->source_size) h->section[TSL__A_SOURCE].size = d->source_size;
}

/* The whole file in memory: sections at their places, then the checksum of each block, then that of
 * the header. LIMIT: it would be larger than TSL__ARTIFACT_MAX. */
tsl_status tsl__a_assemble(const tsl__a_draft *d, const tsl_vocab *vocab, const tsl_allocator *a,
                           tsl_artifact **out) {
  tsl__a_header h = d->header;
  *out = NULL;
  lay_out(d, &h);
  if (h.size > TSL__ARTIFACT_MAX) return TSL_ERR_LIMIT;
  memcpy(h.magic, tsl__a_magic, sizeof h.magic);
  h.mark = TSL__ARTIFACT_MARK;
  h.version = TSL__ARTIFACT_VERSION;
  h.memo = TSL__ARTIFACT_MEMO;
  h.mask_words = (uint32_t)tsl_vocab_mask_words(vocab);
  h.nodes = vocab->trie.node_count;
  tsl__vocab_tokens_identity((tsl_vocab *)(uintptr_t)vocab, h.tokens);
  tsl_artifact *made = tsl__alloc(a, sizeof *made);
  uint8_t *data = made ? tsl__alloc_zero(a, (size_t)h.size) : NULL;
  if (!data) {
    tsl__free(a, made, sizeof *made);
    return TSL_ERR_NO_MEMORY;
  }
  for (int i = 0; i < TSL__A_SECTIONS; i++)
    if (d->section[i].n)
      memcpy(data + h.section[i].offset, d->section[i].at, d->section[i].n * sizeof(uint32_t));
  uint64_t *sums = (uint64_t *)(void *)(data + sizeof h);
  for (uint64_t b = 0; b < h.blocks; b++) {
    uint64_t at = h.begin + b * TSL__ARTIFACT_BLOCK,
             n = h.size - at < TSL__ARTIFACT_BLOCK ? h.size - at : TSL__ARTIFACT_BLOCK;
    sums[b] = tsl__hash(data + at, (size_t)n);
  }
  h.checksum = 0;
  h.checksum = tsl__a_header_sum(&h, sums);
  memcpy(data, &h, sizeof h);
  *made = (tsl_artifact){*a, data, (size_t)h.size};
  *out = made;
  return TSL_OK;
}

const void *tsl_artifact_data(const tsl_artifact *artifact, size_t *size) {
  *size = artifact->size;
  return artifact->data;
}

void tsl_artifact_free(tsl_artifact *artifact) {
  if (!artifact) return;
  tsl_allocator a = artifact->alloc;
  tsl__free(&a, artifact->data, artifact->size);
  tsl__free(&a, artifact, sizeof *artifact);
}

/* ---- making one ------------------------------------------------------------------------------ */

/* Text into a section of words, padded with zeros. */
tsl_status tsl__a_put_text(tsl__a_draft *d, unsigned section, const char *text, size_t n) {
  tsl__words *v = &d->section[section];
  size_t words = (n + 3) / 4;
  if (!tsl__vec_reserve(d->a, v, words)) return TSL_ERR_NO_MEMORY;
  memset(v->at + v->n, 0, words * sizeof *v->at);
  if (n) memcpy(v->at + v->n, text, n);
  v->n += words;
  return TSL_OK;
}

/* Load what was listed, walk, and write the walks down too. */
static tsl_status add_memo(const tsl__growth *growth, tsl__a_draft *d, const tsl_grammar *g,
                           uint64_t until, uint64_t max_steps, tsl_error *error) {
  const tsl_limits limits = {.cancel = g->space->work.cancel};
  tsl_artifact *bare;
  tsl_grammar *loaded;
  tsl_status status = tsl__a_assemble(d, g->vocab, d->a, &bare);
  if (status != TSL_OK)
    return tsl__fail(error, status,
                     status == TSL_ERR_LIMIT ? "the artifact is larger than 2 GiB"
                                             : "out of memory");
  status =
      tsl__artifact_load_memory(growth, g->vocab, bare->data, bare->size, &limits, &loaded, error);
  tsl_artifact_free(bare);
  if (status != TSL_OK) return status;
  loaded->space->work.until = until;
  status = tsl__ahead_walk(loaded, max_steps);
  if (status != TSL_OK)
    tsl__fail(error, status, "%s", loaded->space->why);
  else if ((status = tsl__ahead_memo(loaded, d)) != TSL_OK)
    tsl__fail(error, status, "%s",
              status == TSL_ERR_NO_MEMORY ? "out of memory" : loaded->space->why);
  tsl_grammar_release(loaded);
  return status;
}

static const tsl_artifact_options defaults = {.max_states = 100000, .max_walk_steps = 50000000};

/* 0 means "not set". */
static tsl_artifact_options with_defaults(const tsl_artifact_options *options) {
  tsl_artifact_options o = options ? *options : defaults;
  if (!o.max_states) o.max_states = defaults.max_states;
  if (!o.max_walk_steps) o.max_walk_steps = defaults.max_walk_steps;
  return o;
}

/* States into the draft. LIMIT and UNSUPPORTED: they cannot be listed. `until`: when the whole must
 * end (0: never), although each state is a piece of work of its own. */
static tsl_status list(tsl_grammar *g, const tsl_artifact_options *o, uint64_t until,
                       tsl__a_draft *d, tsl_error *error) {
  const char *why = NULL;
  if (g->quota_count)
    return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                     "max_tokens: a text whose tokens are counted is not kept in an artifact");
  tsl__mutex_lock(g->lock);
  uint64_t before = g->space->work.until;
  g->space->work.until = until;
  tsl_status status = tsl__ahead_states(g->space, g->start, o->max_states, d, &why);
  g->space->work.until = before;
  tsl__space_begin(g->space);
  tsl__mutex_unlock(g->lock);
  if (status != TSL_OK) return tsl__fail(error, status, "%s", why ? why : "out of memory");
  d->header.flags = TSL__A_COMPLETE |
                    (g->space->positions.watches & TSL__NEW_NAME ? TSL__A_NAMES : 0) |
                    (g->space->positions.watches & TSL__FEW_NAMES ? TSL__A_FEW_NAMES : 0) |
                    (g->space->names_tokens ? TSL__A_TOKENS : 0);
  const char *report = tsl_grammar_report(g);
  return report && tsl__a_put_text(d, TSL__A_REPORT, report, strlen(report) + 1) == TSL_OK
             ? TSL_OK
             : tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
}

static void clear(tsl__a_draft *d) {
  tsl__a_draft_free(d);
  *d = (tsl__a_draft){.a = d->a};
}

/* What cannot be listed is kept as text, if the options have a source: loading then compiles it. */
static tsl_status make(const tsl__growth *growth, tsl_grammar *g, const tsl_artifact_options *o,
                       tsl__a_draft *d, tsl_artifact **out, tsl_error *error) {
  uint64_t until =
      g->space->work.until ? g->space->work.until : tsl__deadline(g->space->work.deadline_us);
  tsl_status status = list(g, o, until, d, error);
  if (status == TSL_OK) status = add_memo(growth, d, g, until, o->max_walk_steps, error);
  if ((status == TSL_ERR_LIMIT || status == TSL_ERR_UNSUPPORTED) && o->source) {
    clear(d);
    status = TSL_OK;
  }
  if (status == TSL_OK && o->source) status = growth->source(o->source, g->vocab, d, error);
  if (status != TSL_OK) return status;
  status = tsl__a_assemble(d, g->vocab, d->a, out);
  return status == TSL_OK ? TSL_OK
                          : tsl__fail(error, status,
                                      status == TSL_ERR_LIMIT ? "the artifact is larger than 2 GiB"
                                                              : "out of memory");
}

tsl_status tsl__artifact_make(const tsl__growth *growth, tsl_grammar *grammar,
                              const tsl_artifact_options *options, const tsl_allocator *allocator,
                              tsl_artifact **out, tsl_error *error) {
  *out = NULL;
  if (!grammar) return tsl__fail(error, TSL_ERR_ARGUMENT, "no grammar given");
  tsl_artifact_options o = with_defaults(options);
  tsl__a_draft d = {.a = tsl__allocator_or_default(allocator)};
  tsl_status status = make(growth, grammar, &o, &d, out, error);
  tsl__a_draft_free(&d);
  return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* All bytes, and on the disk: write may take fewer than it is given. */
bool tsl__a_write_all(int file, const void *data, size_t size) {
  for (const char *at = data; size;) {
    ptrdiff_t n = tsl__file_write(file, at, size);
    if (n <= 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return tsl__file_sync(file);
}

tsl_status tsl_artifact_write(const tsl_artifact *artifact, const char *path, tsl_error *error) {
  char draft[PATH_MAX_BYTES];
  if (!artifact || !path)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "an artifact and a path are needed");
  /* each thread's own */
  int n = snprintf(draft, sizeof draft, "%s.%llu.%llx.draft", path,
                   (unsigned long long)tsl__process_id(), (unsigned long long)(uintptr_t)draft);
  if (n < 0 || (size_t)n >= sizeof draft)
    return tsl__fail(error, TSL_ERR_IO, "the path is too long");
  int file = tsl__file_open(draft, TSL__OPEN_OVER);
  if (file < 0) return tsl__fail(error, TSL_ERR_IO, "%s: cannot be written", path);
  bool fine = tsl__a_write_all(file, artifact->data, artifact->size);
  fine = tsl__file_close(file) && fine;
  if (fine && tsl__file_rename(draft, path)) return TSL_OK;
  tsl__file_remove(draft);
  return tsl__fail(error, TSL_ERR_IO, "%s: cannot be written", path);
}
