/* source.c - what is to be compiled, as one value. See source.h.
 *
 * Problem   Caches, folders and artifacts must know whether two requests ask for the same grammar,
 *           and must keep a request that its caller frees.
 * Idea      A key is all that decides which grammar comes out, written one after the other. It has
 *           the vocabulary's identity, the kind, limits, options, the start rule, the text. Equal
 *           keys are equal grammars. It is compared whole; hashes only find it.
 * Injective A text is written behind its length plus one, and NULL as 0. So the root "a" with the
 *           text "bc" and the root "ab" with the text "c" have different keys.
 * Example   A regex `x` with no options takes 16 bytes of identity, 8 of kind and 4 × 8 of limits.
 *           Then come 3 × 8 of options, 8 for the length and 1 of text. NULL options are written as
 *           zeros, which is what a caller gets who passes a struct of zeros: both have the same
 *           key.
 * Left out  `cancel` and the deadline: they decide whether a compile ends, not what it makes. A
 *           resolver may answer anything, so a source with one has no key that a cache could use.
 * Copies    tsl__source_copy_make copies the text and the options into one owner. Pointers within
 *           it point at its own fields, hence it must not be moved.
 * Tested by tests/matcher/test_threads.c, tests/grammar/test_store.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/source.h"

#include "compiler/expr/node.h"
#include "compiler/states/states.h"
#include "runtime/matcher/grammar.h"

/* ---- compiling ------------------------------------------------------------------------------- */

tsl_status tsl_grammar_compile(tsl_vocab *vocab, const tsl_source *s, tsl_grammar **out,
                               tsl_error *error) {
  tsl_lark_options lark = s->lark ? *s->lark : (tsl_lark_options){0};
  if (s->root) lark.start = s->root;
  *out = NULL;
  switch (s->kind) {
  case TSL_SOURCE_JSON_SCHEMA:
    return tsl_grammar_json_schema(vocab, s->text, s->length, s->schema, s->limits, out, error);
  case TSL_SOURCE_REGEX:
    return tsl_grammar_regex(vocab, s->text, s->length, s->regex, s->limits, out, error);
  case TSL_SOURCE_GBNF:
    return tsl_grammar_gbnf(vocab, s->text, s->length, s->root, s->limits, out, error);
  case TSL_SOURCE_LARK:
    return tsl_grammar_lark(vocab, s->text, s->length, &lark, s->limits, out, error);
  case TSL_SOURCE_EBNF:
    return tsl_grammar_ebnf(vocab, s->text, s->length, s->root, s->limits, out, error);
  case TSL_SOURCE_ABNF:
    return tsl_grammar_abnf(vocab, s->text, s->length, s->root, s->limits, out, error);
  }
  return tsl__fail(error, TSL_ERR_ARGUMENT, "there is no kind of source with the number %d",
                   (int)s->kind);
}

void tsl__source_forget_limits(tsl_grammar *g) {
  tsl__exprs *x = tsl__states_exprs(g->space);
  g->space->work.cancel = x->cancel = NULL;
  g->space->work.deadline_us = g->space->work.deadline = g->space->work.until = x->deadline = 0;
}

void tsl__source_bound(tsl_grammar *g, const int *cancel, uint64_t until) {
  g->space->work.cancel = tsl__states_exprs(g->space)->cancel = cancel;
  g->space->work.until = until;
}

tsl_status tsl__source_compile(tsl_vocab *vocab, const tsl_source *source, const tsl_limits *limits,
                               tsl_grammar **out, tsl_error *error) {
  tsl_source with = *source;
  with.limits = limits;
  tsl_status status = tsl_grammar_compile(vocab, &with, out, error);
  if (status == TSL_OK) tsl__source_forget_limits(*out);
  return status;
}

/* ---- the key --------------------------------------------------------------------------------- */

typedef struct writer {
  const tsl_allocator *a;
  tsl__key *key;
  bool fine;
} writer;

static void put(writer *w, const void *data, size_t size) {
  w->fine = w->fine && tsl__vec_reserve(w->a, w->key, size);
  if (!w->fine || size == 0) return;
  memcpy(w->key->at + w->key->n, data, size);
  w->key->n += size;
}

static void put_number(writer *w, uint64_t n) { put(w, &n, sizeof n); }

/* A length goes first, so that no two lists of texts are one. NULL is none, other than empty. */
static void put_text(writer *w, const char *text, size_t length) {
  put_number(w, text ? (uint64_t)length + 1 : 0);
  if (text) put(w, text, length);
}

static void put_string(writer *w, const char *text) { put_text(w, text, text ? strlen(text) : 0); }

static void put_schema_options(writer *w, const tsl_schema_options *o) {
  static const tsl_schema_options none = {0};
  if (!o) o = &none;
  put_number(w, (uint64_t)o->order);
  put_number(w, (uint64_t)o->whitespace);
  put_number(w, o->whitespace_max);
  put_number(w, o->whitespace_lines);
  put_number(w, o->whitespace_columns);
  put_number(w, (uint64_t)o->spelling);
  put_number(w, o->generous);
  put_number(w, o->indent);
  put_number(w, (uint64_t)o->draft);
  put_number(w, o->ignore_formats);
  put_number(w, o->assert_content);
  put_number(w, o->nullable);
  put_number(w, o->repeated_names);
  put_number(w, o->lazy);
  put_number(w, o->max_nesting);
  put_string(w, o->base_uri);
}

static void put_regex_options(writer *w, const tsl_regex_options *o) {
  static const tsl_regex_options none = {0};
  if (!o) o = &none;
  put_number(w, o->case_insensitive);
  put_number(w, o->dot_all);
  put_number(w, o->search);
}

static void put_limits(writer *w, const tsl_limits *l) {
  static const tsl_limits none = {0};
  if (!l) l = &none;
  put_number(w, l->max_memory);
  put_number(w, l->max_stacks);
  put_number(w, l->max_depth);
  put_number(w, l->max_steps);
}

/* The start rule, wherever it is given. */
static const char *root_of(const tsl_source *s) {
  if (!tsl__source_has_root(s)) return NULL;
  return s->root || s->kind != TSL_SOURCE_LARK || !s->lark ? s->root : s->lark->start;
}

bool tsl__source_key(const tsl_source *s, const tsl_vocab *vocab, const tsl_allocator *a,
                     tsl__key *key) {
  writer w = {a, key, true};
  uint8_t identity[16];
  tsl_vocab_identity(vocab, identity);
  put(&w, identity, sizeof identity);
  put_number(&w, (uint64_t)s->kind);
  put_limits(&w, s->limits);
  if (s->kind == TSL_SOURCE_JSON_SCHEMA) put_schema_options(&w, s->schema);
  if (s->kind == TSL_SOURCE_REGEX) put_regex_options(&w, s->regex);
  if (tsl__source_has_root(s)) put_string(&w, root_of(s));
  if (s->kind == TSL_SOURCE_LARK) put_string(&w, s->lark ? s->lark->lexer : NULL);
  put_text(&w, s->text, s->length);
  return w.fine;
}

bool tsl__source_has_resolver(const tsl_source *s) {
  return (s->kind == TSL_SOURCE_JSON_SCHEMA && s->schema && s->schema->resolver) ||
         (s->kind == TSL_SOURCE_LARK && s->lark && s->lark->resolver);
}

/* ---- the copy -------------------------------------------------------------------------------- */

static char *copy_text(const tsl_allocator *a, const char *text, size_t length, bool *fine) {
  if (!text || !*fine) return NULL;
  char *copy = tsl__alloc(a, length + 1);
  if (!copy) return *fine = false, NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

static char *copy_string(const tsl_allocator *a, const char *text, bool *fine) {
  return copy_text(a, text, text ? strlen(text) : 0, fine);
}

bool tsl__source_copy_make(const tsl_source *s, const tsl_allocator *a, tsl__source_copy *c) {
  bool fine = true;
  *c = (tsl__source_copy){.source = *s};
  if (s->schema) c->schema = *s->schema;
  if (s->regex) c->regex = *s->regex;
  if (s->limits) c->limits = *s->limits;
  c->text = copy_text(a, s->text, s->length, &fine);
  c->root = copy_string(a, root_of(s), &fine);
  c->base_uri =
      copy_string(a, s->kind == TSL_SOURCE_JSON_SCHEMA ? c->schema.base_uri : NULL, &fine);
  c->schema.base_uri = c->base_uri;
  c->source.text = c->text;
  c->source.root = c->root;
  c->source.schema = &c->schema;
  c->source.regex = &c->regex;
  if (s->lark) c->lark = *s->lark;
  c->lark.start = c->root;
  c->lark.lexer = c->lexer =
      copy_string(a, s->kind == TSL_SOURCE_LARK ? c->lark.lexer : NULL, &fine);
  c->source.lark = &c->lark;
  c->source.limits = &c->limits;
  if (!fine) tsl__source_copy_free(c, a);
  return fine;
}

static void free_string(const tsl_allocator *a, char *text) {
  if (text) tsl__free(a, text, strlen(text) + 1);
}

void tsl__source_copy_free(tsl__source_copy *c, const tsl_allocator *a) {
  tsl__free(a, c->text, c->text ? c->source.length + 1 : 0);
  free_string(a, c->root);
  free_string(a, c->base_uri);
  free_string(a, c->lexer);
}
