/* store.c - sources inside of artifacts, and a folder of artifacts that processes share.
 *
 * Problem   Eight workers of a server need the same schema at the same time. One compile
 *           is enough, none may wait for a worker that was killed, and none may ever read half a
 *           file.
 * Idea      The file that a worker writes to is the lock as well. `<name>.draft` is opened, and
 *           locked (flock) for as long as its owner compiles and writes; then it is renamed to its
 *           final name. Who waits for the lock gets it when the owner renames the file or dies,
 *           since the system ends a dead process' locks. The waiting process then looks whether the
 *           name has come to be. It also looks whether the draft that it has locked is still the
 *           one in the folder. What a dead process wrote is written over.
 * Readers   lock nothing: a name is there with all of its content, or it is not. One that comes to
 *           a damaged block takes the file out of the folder (runtime/artifact/read.c).
 * Names     It is XXH3-128 of the source as caches compare it (source.h), with the vocabulary's
 *           tokens in the place of its identity. The numbers of format and memo, and how much is
 *           listed and walked ahead, are in it as well. Otherwise who asks for less would leave a
 *           file that is of no use to others, and stays for good.
 * Example   Worker A opens x.draft, locks it and compiles. B finds no x, opens the draft and waits
 *           for the lock. A writes, renames the draft to x, and closes it. B has the lock now,
 *           looks for x, finds it, and maps it. If A is killed instead, B has the lock as well,
 *           finds no x, and writes over what A left in the draft.
 * Copies    A grammar that is mapped holds its file open by the mapping alone. So the name may be
 *           removed or replaced while texts go on.
 * Limits    Folders on file systems without locks, or that cannot be written to, and drafts that
 *           are links: each process compiles for itself. Who is killed after it has forked leaves
 *           the lock with the fork.
 *
 * Tested by tests/grammar/test_store.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/grammar/source.h"
#include "compiler/states/outline.h"
#include "runtime/artifact/artifact.h"
#include "runtime/core/os.h"
#include "runtime/vocab/build.h"

#define PATH_BYTES 4096u
/* unless the caller says otherwise: whoever asks for a grammar waits while it is listed */
#define MAX_STATES 20000u
#define WAIT_US 500u /* between two looks at a lock that somebody has */

/* ---- a source as bytes ----------------------------------------------------------------------- */

enum {
  S_KIND,
  S_ORDER,
  S_WHITESPACE,
  S_WHITESPACE_MAX,
  S_WHITESPACE_LINES,
  S_WHITESPACE_COLUMNS,
  S_SPELLING,
  S_INDENT,
  S_DRAFT,
  S_IGNORE_FORMATS,
  S_OPTIONS,
  S_MAX_NESTING,
  S_REGEX,
  S_ROOT,
  S_BASE,
  S_TEXT,
  S_NUMBERS
};

/* Bytes of a string with its NUL; 0: there is none. */
static size_t size_of(const char *text) { return text ? strlen(text) + 1 : 0; }

static void fill_numbers(const tsl_source *s, uint32_t n[S_NUMBERS]) {
  static const tsl_schema_options no_schema = {0};
  static const tsl_regex_options no_regex = {0};
  const tsl_schema_options *o =
      s->kind == TSL_SOURCE_JSON_SCHEMA && s->schema ? s->schema : &no_schema;
  const tsl_regex_options *x = s->kind == TSL_SOURCE_REGEX && s->regex ? s->regex : &no_regex;
  n[S_KIND] = (uint32_t)s->kind;
  n[S_ORDER] = (uint32_t)o->order;
  n[S_WHITESPACE] = (uint32_t)o->whitespace;
  n[S_WHITESPACE_MAX] = o->whitespace_max;
  n[S_WHITESPACE_LINES] = o->whitespace_lines;
  n[S_WHITESPACE_COLUMNS] = o->whitespace_columns;
  n[S_SPELLING] = (uint32_t)o->spelling;
  n[S_INDENT] = o->indent;
  n[S_DRAFT] = (uint32_t)o->draft;
  n[S_IGNORE_FORMATS] = o->ignore_formats;
  n[S_OPTIONS] = (uint32_t)o->nullable | (uint32_t)o->repeated_names << 1 | (uint32_t)o->lazy << 2 |
                 (uint32_t)o->generous << 3 | (uint32_t)o->assert_content << 4;
  n[S_MAX_NESTING] = o->max_nesting;
  n[S_REGEX] = (uint32_t)x->case_insensitive | (uint32_t)x->dot_all << 1 | (uint32_t)x->search << 2;
  n[S_ROOT] = (uint32_t)size_of(tsl__source_has_root(s) ? s->root : NULL);
  n[S_BASE] = (uint32_t)size_of(o->base_uri);
  n[S_TEXT] = (uint32_t)s->length;
}

static tsl_status hash_key(const tsl_source *s, const tsl_vocab *vocab, const tsl_allocator *a,
                           uint8_t out[16]) {
  static const uint32_t formats[2] = {TSL__ARTIFACT_VERSION, TSL__ARTIFACT_MEMO};
  tsl__key key = {0};
  bool fine = tsl__source_key(s, vocab, a, &key);
  /* the identity stands first */
  if (fine) tsl__vocab_tokens_identity((tsl_vocab *)(uintptr_t)vocab, key.at);
  if (fine) tsl__hash128(key.at, key.n, out);
  if (fine) tsl__hash128_chain_u32(out, formats, 2);
  tsl__vec_free(a, &key);
  return fine ? TSL_OK : TSL_ERR_NO_MEMORY;
}

static tsl_status write_source(const tsl_source *s, const tsl_vocab *vocab, tsl__a_draft *d,
                               tsl_error *error) {
  uint32_t n[S_NUMBERS];
  if ((uint32_t)s->kind > TSL_SOURCE_ABNF)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "there is no kind of source with the number %d",
                     (int)s->kind);
  if (tsl__source_has_resolver(s))
    return tsl__fail(error, TSL_ERR_ARGUMENT,
                     "a source with a resolver cannot be kept in an artifact");
  if (s->length > UINT32_MAX / 2)
    return tsl__fail(error, TSL_ERR_LIMIT,
                     "a source of over 2^31 bytes cannot be kept in an artifact");
  fill_numbers(s, n);
  tsl_status status = hash_key(s, vocab, d->a, d->header.key);
  size_t size = sizeof n + n[S_ROOT] + n[S_BASE] + n[S_TEXT];
  char *bytes = status == TSL_OK ? tsl__alloc(d->a, size) : NULL;
  if (!bytes) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  char *at = bytes;
  memcpy(at, n, sizeof n);
  at += sizeof n;
  if (n[S_ROOT]) memcpy(at, s->root, n[S_ROOT]);
  if (n[S_BASE]) memcpy(at + n[S_ROOT], s->schema->base_uri, n[S_BASE]);
  if (n[S_TEXT]) memcpy(at + n[S_ROOT] + n[S_BASE], s->text, n[S_TEXT]);
  status = tsl__a_put_text(d, TSL__A_SOURCE, bytes, size);
  d->source_size = size;
  tsl__free(d->a, bytes, size);
  return status == TSL_OK ? TSL_OK : tsl__fail(error, status, "out of memory");
}

/* A string of `n` bytes with its NUL, or none; false if it is not one. */
static bool take_string(const char **at, uint64_t n, const char **out) {
  *out = n ? *at : NULL;
  *at += n;
  return n == 0 || strlen(*out) == n - 1;
}

static tsl_status compile_source(tsl_vocab *vocab, const uint8_t *bytes, size_t size,
                                 const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  uint32_t n[S_NUMBERS];
  *out = NULL;
  if (size < sizeof n)
    return tsl__fail(error, TSL_ERR_FORMAT,
                     "the artifact is damaged: it has neither states nor a source");
  memcpy(n, bytes, sizeof n);
  const char *at = (const char *)bytes + sizeof n, *end = (const char *)bytes + size, *root, *base;
  bool sound = (uint64_t)n[S_ROOT] + n[S_BASE] + n[S_TEXT] == size - sizeof n &&
               (!n[S_ROOT] || !at[n[S_ROOT] - 1]) &&
               (!n[S_BASE] || !at[n[S_ROOT] + (uint64_t)n[S_BASE] - 1]) &&
               take_string(&at, n[S_ROOT], &root) && take_string(&at, n[S_BASE], &base);
  if (!sound) return tsl__fail(error, TSL_ERR_FORMAT, "the artifact is damaged: its source");
  tsl_schema_options schema = {.order = (tsl_order)n[S_ORDER],
                               .whitespace = (tsl_whitespace)n[S_WHITESPACE],
                               .whitespace_max = n[S_WHITESPACE_MAX],
                               .whitespace_lines = n[S_WHITESPACE_LINES],
                               .whitespace_columns = n[S_WHITESPACE_COLUMNS],
                               .spelling = (tsl_spelling)n[S_SPELLING],
                               .generous = n[S_OPTIONS] >> 3 & 1,
                               .assert_content = n[S_OPTIONS] >> 4 & 1,
                               .indent = n[S_INDENT],
                               .draft = (tsl_draft)n[S_DRAFT],
                               .ignore_formats = n[S_IGNORE_FORMATS] != 0,
                               .nullable = n[S_OPTIONS] & 1,
                               .repeated_names = n[S_OPTIONS] >> 1 & 1,
                               .lazy = n[S_OPTIONS] >> 2 & 1,
                               .max_nesting = n[S_MAX_NESTING],
                               .base_uri = base};
  tsl_regex_options regex = {n[S_REGEX] & 1, n[S_REGEX] >> 1 & 1, n[S_REGEX] >> 2 & 1};
  tsl_source source = {.kind = (tsl_source_kind)n[S_KIND],
                       .text = at,
                       .length = (size_t)(end - at),
                       .schema = &schema,
                       .regex = &regex,
                       .root = root,
                       .limits = limits};
  return tsl_grammar_compile(vocab, &source, out, error);
}

/* ---- the public calls: runtime/artifact with this compiler ----------------------------------- */

static const tsl__growth growth = TSL__GROWTH(compile_source, write_source);

tsl_status tsl_grammar_load(tsl_vocab *vocab, const char *path, const tsl_limits *limits,
                            tsl_grammar **out, tsl_error *error) {
  return tsl__artifact_load(&growth, vocab, path, limits, out, error);
}

tsl_status tsl_grammar_load_memory(tsl_vocab *vocab, const void *data, size_t size,
                                   const tsl_limits *limits, tsl_grammar **out, tsl_error *error) {
  return tsl__artifact_load_memory(&growth, vocab, data, size, limits, out, error);
}

tsl_status tsl_artifact_make(tsl_grammar *grammar, const tsl_artifact_options *options,
                             const tsl_allocator *allocator, tsl_artifact **out, tsl_error *error) {
  return tsl__artifact_make(&growth, grammar, options, allocator, out, error);
}

/* ---- the folder ------------------------------------------------------------------------------ */

typedef struct store {
  tsl_vocab *vocab;
  const tsl_source *source;
  const tsl_artifact_options *options;
  uint64_t deadline;
  char path[PATH_BYTES], draft[PATH_BYTES];
  tsl_store_result result;
} store;

static uint32_t max_states(const store *s) {
  return s->options && s->options->max_states ? s->options->max_states : MAX_STATES;
}

/* A folder without a name is none, rather than the root of the file system. */
static bool find_paths(store *s, const char *folder) {
  uint64_t walks = s->options ? s->options->max_walk_steps : 0;
  const uint32_t how[3] = {max_states(s), (uint32_t)walks, (uint32_t)(walks >> 32)};
  uint8_t key[16];
  char hex[33];
  if (!*folder || hash_key(s->source, s->vocab, &s->vocab->alloc, key) != TSL_OK) return false;
  tsl__hash128_chain_u32(key, how, 3);
  for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", key[i]);
  int n = snprintf(s->path, sizeof s->path, "%s/%s.tslgrammar", folder, hex);
  int m = snprintf(s->draft, sizeof s->draft, "%s/%s.draft", folder, hex);
  return n > 0 && (size_t)n < sizeof s->path && m > 0 && (size_t)m < sizeof s->draft;
}

/* Those of the caller, with what is left of the time. */
static tsl_limits limits_now(const store *s) {
  tsl_limits limits = s->source->limits ? *s->source->limits : (tsl_limits){0};
  if (s->deadline) {
    uint64_t now = tsl__now_us();
    limits.deadline_us = now < s->deadline ? s->deadline - now : 1;
  }
  return limits;
}

/* False: it is not there, or not sound; or it holds the source, which could not be compiled in time
 * (*status). */
static bool load(store *s, tsl_grammar **out, tsl_status *status, tsl_error *error) {
  tsl_limits limits = limits_now(s);
  tsl_error why;
  *status = tsl_grammar_load(s->vocab, s->path, &limits, out, &why);
  if (*status == TSL_OK) {
    tsl__reader *r = tsl__reader_of((*out)->space);
    if (r) {
      tsl__reader_forget_limits(r); /* the grammar outlives who requested it */
      tsl__reader_share(r, s->path);
    } else {
      tsl__source_forget_limits(*out);
    }
    s->result.complete = r != NULL;
    s->result.kept = true;
    return true;
  }
  if (*status != TSL_ERR_CANCELLED)
    *status = TSL_OK;
  else if (error)
    *error = why;
  return false;
}

static const int *cancel_of(const store *s) {
  return s->source->limits ? s->source->limits->cancel : NULL;
}
static bool out_of_time(const store *s) {
  return tsl__cancelled(cancel_of(s)) || tsl__expired(s->deadline);
}

/* Is this file the one that has the draft's name? Its last owner may have renamed it. */
static bool is_current(const store *s, int file) {
  tsl__file_info own, named;
  return tsl__file_look(file, &own) && tsl__path_look(s->draft, false, &named) &&
         own.inode == named.inode && own.device == named.device;
}

enum { LOCKED, HURRY, NO_LOCKS };

/* The locked draft in *file, once nobody else has it. */
static int lock_draft(const store *s, int *file) {
  for (;;) {
    /* it is written over: not what somebody's link names */
    *file = tsl__file_open(s->draft, TSL__OPEN_DRAFT);
    if (*file < 0) return NO_LOCKS;
    tsl__lock got;
    while ((got = tsl__file_lock(*file)) == TSL__LOCK_BUSY && !out_of_time(s))
      tsl__sleep_us(WAIT_US);
    if (got == TSL__LOCKED && is_current(s, *file)) return LOCKED;
    tsl__file_unlock(*file);
    if (got != TSL__LOCKED) return got == TSL__LOCK_BUSY ? HURRY : NO_LOCKS;
  }
}

static tsl_status compile(store *s, tsl_grammar **out, tsl_error *error) {
  tsl_limits limits = limits_now(s);
  s->result.compiled = true;
  return tsl__source_compile(s->vocab, s->source, &limits, out, error);
}

/* Write the compiled grammar's artifact into the locked draft, and give it its name. What fails
 * here is no failure of the call: where time runs out, nothing is kept. */
static void keep(store *s, int file, tsl_grammar *compiled) {
  tsl_artifact_options options = s->options ? *s->options : (tsl_artifact_options){0};
  tsl_artifact *artifact;
  size_t size;
  options.source = s->source;
  options.max_states = max_states(s);
  tsl__source_bound(compiled, cancel_of(s), s->deadline ? s->deadline : UINT64_MAX);
  tsl_status status = tsl_artifact_make(compiled, &options, &s->vocab->alloc, &artifact, NULL);
  tsl__source_forget_limits(compiled);
  if (status != TSL_OK) return;
  const void *data = tsl_artifact_data(artifact, &size);
  s->result.complete = ((const tsl__a_header *)data)->flags & TSL__A_COMPLETE;
  s->result.kept = tsl__file_cut(file) && tsl__a_write_all(file, data, size) &&
                   tsl__file_rename(s->draft, s->path);
  tsl_artifact_free(artifact);
}

static tsl_status compile_locked(store *s, int file, tsl_grammar **out, tsl_error *error) {
  tsl_grammar *mapped;
  tsl_status status, unused;
  if (load(s, out, &status, error) || status != TSL_OK) { /* while this one waited */
    tsl__file_remove(s->draft);
    return status;
  }
  status = compile(s, out, error);
  if (status == TSL_OK) keep(s, file, *out);
  if (!s->result.kept) tsl__file_remove(s->draft);
  /* the same tables as everybody else has, and shared pages */
  if (s->result.kept && s->result.complete && load(s, &mapped, &unused, NULL)) {
    tsl_grammar_release(*out);
    *out = mapped;
  }
  return status;
}

static tsl_status get(store *s, const char *folder, tsl_grammar **out, tsl_error *error) {
  tsl_status status;
  int file;
  if (!find_paths(s, folder) || !tsl__folder_trusted(folder)) return compile(s, out, error);
  if (load(s, out, &status, error) || status != TSL_OK) return status;
  tsl__folder_make(folder); /* what is wrong with the folder shows when the draft is opened */
  int locked = lock_draft(s, &file);
  if (locked == HURRY)
    return tsl__fail(error, TSL_ERR_CANCELLED, "%s",
                     tsl__expired(s->deadline) ? "deadline_us: out of time" : "cancelled");
  if (locked == NO_LOCKS) return compile(s, out, error);
  status = compile_locked(s, file, out, error);
  tsl__file_unlock(file);
  return status;
}

tsl_status tsl_store_get(tsl_vocab *vocab, const char *folder, const tsl_source *source,
                         const tsl_artifact_options *options, tsl_grammar **out,
                         tsl_store_result *result, tsl_error *error) {
  *out = NULL;
  if (!vocab || !folder || !source)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary, a folder and a source are needed");
  store *s = tsl__alloc_zero(&vocab->alloc, sizeof *s);
  if (!s) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  *s = (store){.vocab = vocab, .source = source, .options = options};
  s->deadline = tsl__deadline(source->limits ? source->limits->deadline_us : 0);
  tsl_status status =
      tsl__source_has_resolver(source) ? compile(s, out, error) : get(s, folder, out, error);
  if (result) *result = s->result;
  tsl__free(&vocab->alloc, s, sizeof *s);
  return status;
}
