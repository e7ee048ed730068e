/* engine.c - the playground's engine: the command line tool's own generation and record, for
 * JavaScript.
 *
 * An engine is one text under one grammar. Tokens are written, drawn or rolled back. Every position
 * is written as a step of a record (cli/pictures/trace.h), as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pictures/pictures.h"
#include "cli/pictures/trace.h"

#define EXPORT EMSCRIPTEN_KEEPALIVE

const char trace_page_head[] = "", trace_page_tail[] = ""; /* the page is around this already */
const size_t trace_page_head_length = 0, trace_page_tail_length = 0;

typedef struct engine {
  source source; /* its vocabulary and grammar are borrowed */
  generation_settings how;
  generation g;
  trace t;
  tsl_status status; /* of the last call that wrote a position */
  char *text;        /* of the last listing */
  size_t text_length;
} engine;

static void close_engine(engine *e) {
  generation_close(&e->g);
  trace_close(&e->t);
  free(e->text);
  free(e);
}

/* kind: 0 schema, 1 regex, 2 GBNF. NULL when out of memory. */
EXPORT engine *tp_open(tsl_vocab *vocab, ngram *model, tsl_grammar *grammar, int kind,
                       uint32_t seed, float temperature, uint32_t top_k, float top_p, float min_p,
                       float penalty, uint32_t max_tokens, float frequency, float presence,
                       float dry, float dynamic, float typical, float sigma, float epsilon,
                       float eta, float xtc) {
  static const source_kind kinds[] = {SOURCE_SCHEMA, SOURCE_REGEX, SOURCE_GBNF};
  engine *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->source = (source){.kind = kinds[kind], .from = "page", .vocab = vocab, .grammar = grammar};
  e->how = generation_defaults();
  e->how.model = model;
  e->how.max_tokens = max_tokens;
  e->how.sampler = (tsl_sampler_options){.seed = seed,
                                         .temperature = temperature,
                                         .top_k = top_k,
                                         .top_p = top_p,
                                         .min_p = min_p,
                                         .repetition_penalty = penalty,
                                         .frequency_penalty = frequency,
                                         .presence_penalty = presence,
                                         .dry_multiplier = dry,
                                         .dry_base = 1.75f,
                                         .dry_allowed = 2,
                                         .dynamic_range = dynamic,
                                         .typical_p = typical,
                                         .top_n_sigma = sigma,
                                         .epsilon = epsilon,
                                         .eta = eta,
                                         .xtc_probability = xtc > 0,
                                         .xtc_threshold = xtc,
                                         /* as the page's own arithmetic has it */
                                         .penalise_structure = true};
  if (!trace_open(&e->t, &e->source, &e->how)) return free(e), NULL;
  if (generation_open(&e->g, &e->source, &e->how)) return e;
  trace_close(&e->t);
  free(e);
  return NULL;
}

EXPORT void tp_close(engine *e) { close_engine(e); }
EXPORT void tp_restart(engine *e) { trace_restart(&e->t, &e->g); }
EXPORT tsl_status tp_status(const engine *e) { return e->status; }

/* The position as a step without a token; NULL on failure. */
EXPORT const char *tp_here(engine *e, int measured) {
  return trace_here(&e->t, &e->g, measured != 0, &e->status);
}
/* The mask that tp_here found. */
EXPORT const uint32_t *tp_mask(const engine *e) { return e->g.mask; }
EXPORT tsl_status tp_write(engine *e, tsl_token token) {
  return trace_write_token(&e->t, &e->g, token);
}
/* How many of these bytes may come next. */
EXPORT uint32_t tp_follows(engine *e, const uint8_t *bytes, uint32_t length) {
  size_t accepted = length;
  tsl_status status = tsl_matcher_accept_bytes(e->g.matcher, bytes, length, &accepted);
  if (status == TSL_OK && length) tsl_matcher_rollback(e->g.matcher, 1);
  return status == TSL_OK ? length : (uint32_t)accepted;
}
/* Draw a token: the step, or NULL where nothing more comes. */
EXPORT const char *tp_next(engine *e) {
  generation_result result;
  const char *step = trace_next(&e->t, &e->g, &result);
  e->status = result == GENERATION_BAD ? TSL_ERR_STATE : TSL_OK;
  return step;
}
EXPORT int tp_is_over(const engine *e) { return tsl_matcher_is_terminated(e->g.matcher); }

/* The states as JSON; NULL when out of memory. */
EXPORT const char *tp_states(engine *e) {
  free(e->text);
  e->text = NULL;
  FILE *to = open_memstream(&e->text, &e->text_length);
  if (!to) return NULL;
  bool ok = pictures_states(to, e->source.grammar);
  return fclose(to) || !ok ? NULL : e->text;
}

/* ---- vocabularies ---------------------------------------------------------------------------- */

/* What a call made, or why it did not. */
typedef struct outcome {
  tsl_error error;
  tsl_vocab *vocab;
  tsl_grammar *grammar;
  char *rules;
  uint32_t length; /* of the bytes or ids last written */
} outcome;

EXPORT outcome *tp_outcome_new(void) { return calloc(1, sizeof(outcome)); }
EXPORT const char *tp_message(const outcome *o) { return o->error.message; }
EXPORT const char *tp_pointer(const outcome *o) { return o->error.pointer; }
EXPORT uint32_t tp_line(const outcome *o) { return o->error.line; }
EXPORT uint32_t tp_column(const outcome *o) { return o->error.column; }
EXPORT tsl_vocab *tp_vocab(const outcome *o) { return o->vocab; }
EXPORT tsl_grammar *tp_grammar(const outcome *o) { return o->grammar; }
EXPORT const char *tp_rules(const outcome *o) { return o->rules; }
EXPORT uint32_t tp_length(const outcome *o) { return o->length; }

EXPORT tsl_status tp_vocab_embedded(outcome *o) {
  return tsl_vocab_embedded(NULL, &o->vocab, &o->error);
}
EXPORT tsl_status tp_vocab_load(outcome *o, const void *data, size_t size, const char *name) {
  return tsl_vocab_load_memory(data, size, name, NULL, NULL, &o->vocab, &o->error);
}
EXPORT const uint8_t *tp_bytes(outcome *o, const tsl_vocab *vocab, tsl_token token) {
  size_t length;
  const uint8_t *bytes = tsl_vocab_bytes(vocab, token, &length);
  o->length = (uint32_t)length;
  return bytes;
}
/* 1: special, 2: ends a generation, too. */
EXPORT int tp_kind(const tsl_vocab *vocab, tsl_token token) {
  return tsl_vocab_is_special(vocab, token) + tsl_vocab_is_eog(vocab, token);
}
/* The n-gram model for a vocabulary; NULL when out of memory. */
EXPORT ngram *tp_model_new(const tsl_vocab *vocab) { return ngram_new(vocab); }
EXPORT void tp_model_free(ngram *model) { ngram_free(model); }
/* The ids of a text, at most `capacity` of them; tp_length says how many there are. */
EXPORT tsl_status tp_encode(outcome *o, const tsl_vocab *vocab, const char *text, size_t length,
                            tsl_token *ids, size_t capacity) {
  size_t count = 0;
  tsl_status status = tsl_vocab_encode(vocab, text, length, 0, ids, capacity, &count);
  o->length = (uint32_t)count;
  return status;
}

/* ---- grammars -------------------------------------------------------------------------------- */

/* Compile within `deadline_ms`, so that no text that somebody types can keep the page. */
EXPORT tsl_status tp_compile(outcome *o, tsl_vocab *vocab, int kind, const char *text,
                             size_t length, int order, int whitespace, uint32_t deadline_ms) {
  tsl_limits limits = {.deadline_us = (uint64_t)deadline_ms * 1000};
  tsl_schema_options schema = {.order = (tsl_order)order,
                               .whitespace = (tsl_whitespace)whitespace,
                               .whitespace_max = 2,
                               .indent = 2};
  tsl_source source = {.kind = (tsl_source_kind)kind,
                       .text = text,
                       .length = length,
                       .schema = &schema,
                       .limits = &limits};
  o->error = (tsl_error){0};
  o->grammar = NULL;
  return tsl_grammar_compile(vocab, &source, &o->grammar, &o->error);
}

static void keep_rules(void *ctx, const char *json) { ((outcome *)ctx)->rules = strdup(json); }

/* The rules of a GBNF grammar as JSON, in tp_rules. */
EXPORT tsl_status tp_read_rules(outcome *o, tsl_vocab *vocab, const char *text, size_t length) {
  free(o->rules);
  o->rules = NULL;
  return tsl_gbnf_write(vocab, text, length, keep_rules, o, &o->error);
}
