/* glue.c - turnstile.h for JavaScript: what takes structs takes plain numbers here, and an error's
 * parts are requested one by one.
 *
 * Handles are pointers into WebAssembly's memory. Every function that may fail returns a
 * tsl_status.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

#include "turnstile.h"

#define EXPORT EMSCRIPTEN_KEEPALIVE

/* A status with its error, the object that was made, and the last part of an answer. One of it is
 * reused for all calls. */
typedef struct result {
  tsl_error error;
  void *object;
  tsl_part part;
  /* what tn_request_read found */
  tsl_request_source source;
  char *source_text, *source_pointer;
} result;

EXPORT result *tn_result_new(void) { return calloc(1, sizeof(result)); }
EXPORT void *tn_object(const result *r) { return r->object; }
EXPORT const char *tn_message(const result *r) { return r->error.message; }
EXPORT const char *tn_pointer(const result *r) { return r->error.pointer; }
EXPORT size_t tn_offset(const result *r) { return r->error.offset; }
EXPORT uint32_t tn_line(const result *r) { return r->error.line; }
EXPORT uint32_t tn_column(const result *r) { return r->error.column; }

/* Calls that report no error have none: what an earlier one left is not theirs. */
static tsl_status made(result *r, tsl_status status, void *object) {
  if (status && r->error.status != status) memset(&r->error, 0, sizeof r->error);
  r->error.status = TSL_OK;
  r->object = status ? NULL : object;
  return status;
}

EXPORT tsl_status tn_vocab_embedded(result *r) {
  tsl_vocab *v = NULL;
  return made(r, tsl_vocab_embedded(NULL, &v, &r->error), v);
}

EXPORT tsl_status tn_vocab_load(result *r, const void *data, size_t size, const char *name) {
  tsl_vocab *v = NULL;
  return made(r, tsl_vocab_load_memory(data, size, name, NULL, NULL, &v, &r->error), v);
}

EXPORT tsl_status tn_json_schema(result *r, tsl_vocab *vocab, const char *text, size_t length,
                                 int order, int whitespace, uint32_t amount, int spelling,
                                 int generous, int ignore_formats, int assert_content) {
  tsl_schema_options options = {.order = (tsl_order)order,
                                .whitespace = (tsl_whitespace)whitespace,
                                .whitespace_max = amount,
                                .indent = amount,
                                .spelling = (tsl_spelling)spelling,
                                .generous = generous != 0,
                                .ignore_formats = ignore_formats != 0,
                                .assert_content = assert_content != 0};
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_json_schema(vocab, text, length, &options, NULL, &g, &r->error), g);
}

EXPORT tsl_status tn_regex(result *r, tsl_vocab *vocab, const char *text, size_t length) {
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_regex(vocab, text, length, NULL, NULL, &g, &r->error), g);
}

EXPORT tsl_status tn_gbnf(result *r, tsl_vocab *vocab, const char *text, size_t length) {
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_gbnf(vocab, text, length, NULL, NULL, &g, &r->error), g);
}

EXPORT tsl_status tn_abnf(result *r, tsl_vocab *vocab, const char *text, size_t length) {
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_abnf(vocab, text, length, NULL, NULL, &g, &r->error), g);
}

EXPORT tsl_status tn_ebnf(result *r, tsl_vocab *vocab, const char *text, size_t length) {
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_ebnf(vocab, text, length, NULL, NULL, &g, &r->error), g);
}

/* As tsl_grammar_tools, and unlike tsl_grammar_tags_over, which is given no vocabulary, refuses an
 * `over` of another one. */
EXPORT tsl_status tn_tags(result *r, tsl_vocab *vocab, const char *text, size_t length,
                          tsl_grammar *over) {
  tsl_grammar *g = NULL;
  if (over && tsl_grammar_vocab(over) != vocab) {
    r->error = (tsl_error){.status = TSL_ERR_ARGUMENT,
                           .message = "`over` is a grammar of another vocabulary"};
    return made(r, TSL_ERR_ARGUMENT, NULL);
  }
  tsl_status status = over ? tsl_grammar_tags_over(over, text, length, NULL, NULL, &g, &r->error)
                           : tsl_grammar_tags(vocab, text, length, NULL, NULL, &g, &r->error);
  return made(r, status, g);
}

/* `choice` "": what the request says. */
EXPORT tsl_status tn_tools(result *r, tsl_vocab *vocab, const char *text, size_t length,
                           const char *preset, const char *choice, int parallel, int thinking,
                           uint32_t max_thinking_tokens, bool lenient, tsl_grammar *over) {
  tsl_tools_options options = {.preset = preset,
                               .tool_choice = *choice ? choice : NULL,
                               .parallel = parallel,
                               .thinking = (tsl_thinking)thinking,
                               .max_thinking_tokens = max_thinking_tokens,
                               .lenient = lenient,
                               .over = over};
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_tools(vocab, text, length, &options, NULL, &g, &r->error), g);
}

EXPORT tsl_status tn_lark(result *r, tsl_vocab *vocab, const char *text, size_t length) {
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_lark(vocab, text, length, NULL, NULL, &g, &r->error), g);
}

EXPORT tsl_status tn_request(result *r, tsl_vocab *vocab, const char *text, size_t length) {
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_request(vocab, text, length, NULL, NULL, &g, &r->error), g);
}

static char *copy(const char *text, size_t length) {
  char *copied = malloc(length + 1);
  if (copied) memcpy(copied, text, length), copied[length] = 0;
  return copied;
}

static void keep_source(void *ctx, const tsl_request_source *source) {
  result *r = ctx;
  free(r->source_text);
  free(r->source_pointer);
  r->source = *source;
  r->source_text = copy(source->text, source->length);
  r->source_pointer = copy(source->pointer, strlen(source->pointer));
}

/* The constraint stays in the result until the next request is read. */
EXPORT tsl_status tn_request_read(result *r, const char *text, size_t length) {
  tsl_status status = tsl_request_read(text, length, NULL, NULL, keep_source, r, &r->error);
  if (status == TSL_OK && !(r->source_text && r->source_pointer)) status = TSL_ERR_NO_MEMORY;
  return made(r, status, NULL);
}
EXPORT int tn_source_kind(const result *r) { return (int)r->source.kind; }
EXPORT const char *tn_source_text(const result *r) { return r->source_text; }
EXPORT size_t tn_source_length(const result *r) { return r->source.length; }
EXPORT const char *tn_source_pointer(const result *r) { return r->source_pointer; }
EXPORT int tn_source_compact(const result *r) { return r->source.compact; }

EXPORT const char *tn_preset(size_t index) {
  const char *name, *json;
  return tsl_tools_preset(index, &name, &json) ? name : NULL;
}

EXPORT tsl_status tn_parser(result *r, tsl_grammar *grammar) {
  tsl_parser *p = NULL;
  return made(r, tsl_parser_new(grammar, NULL, &p), p);
}

/* The kind of the next part, -1: there is none. The rest of it stays in the result until the next
 * one is requested. */
EXPORT int tn_part(result *r, tsl_parser *parser) {
  return tsl_parser_next(parser, &r->part) ? (int)r->part.kind : -1;
}
EXPORT uint32_t tn_part_call(const result *r) { return r->part.call; }
EXPORT const char *tn_part_text(const result *r) { return r->part.text; }
EXPORT size_t tn_part_length(const result *r) { return r->part.length; }

/* Write the artifact of a grammar; the bytes are then at tn_artifact_data(r). */
EXPORT tsl_status tn_artifact(result *r, tsl_grammar *grammar) {
  tsl_artifact *a = NULL;
  return made(r, tsl_artifact_make(grammar, NULL, NULL, &a, &r->error), a);
}

EXPORT const void *tn_artifact_data(const tsl_artifact *artifact) {
  size_t size;
  return tsl_artifact_data(artifact, &size);
}

EXPORT size_t tn_artifact_size(const tsl_artifact *artifact) {
  size_t size;
  tsl_artifact_data(artifact, &size);
  return size;
}

EXPORT tsl_status tn_grammar_load(result *r, tsl_vocab *vocab, const void *data, size_t size) {
  tsl_grammar *g = NULL;
  return made(r, tsl_grammar_load_memory(vocab, data, size, NULL, &g, &r->error), g);
}

EXPORT tsl_status tn_matcher(result *r, tsl_grammar *grammar) {
  tsl_matcher *m = NULL;
  return made(r, tsl_matcher_new(grammar, NULL, &m), m);
}

EXPORT tsl_status tn_fork(result *r, const tsl_matcher *matcher) {
  tsl_matcher *m = NULL;
  return made(r, tsl_matcher_fork(matcher, &m), m);
}

/* Sizes come back as the object. */
EXPORT tsl_status tn_validate(result *r, tsl_matcher *matcher, const tsl_token *tokens,
                              size_t count) {
  size_t valid = 0;
  return made(r, tsl_matcher_validate(matcher, tokens, count, &valid), (void *)valid);
}

EXPORT tsl_status tn_forced_bytes(result *r, tsl_matcher *matcher, uint8_t *bytes,
                                  size_t capacity) {
  size_t length = 0;
  return made(r, tsl_matcher_forced_bytes(matcher, bytes, capacity, &length), (void *)length);
}

/* TSL_ERR_LIMIT if `capacity` is too small; the number needed comes back as the object. */
EXPORT tsl_status tn_encode(result *r, const tsl_vocab *vocab, const char *text, size_t length,
                            uint32_t flags, tsl_token *ids, size_t capacity) {
  size_t count = 0;
  tsl_status status = tsl_vocab_encode(vocab, text, length, flags, ids, capacity, &count);
  made(r, status, NULL);
  r->object = (void *)count;
  return status;
}

EXPORT const uint8_t *tn_bytes(result *r, const tsl_vocab *vocab, tsl_token token) {
  size_t length = 0;
  const uint8_t *bytes = tsl_vocab_bytes(vocab, token, &length);
  r->object = (void *)length;
  return bytes;
}

EXPORT const tsl_token *tn_eog(result *r, const tsl_vocab *vocab) {
  uint32_t count = 0;
  const tsl_token *ids = tsl_vocab_eog(vocab, &count);
  r->object = (void *)(size_t)count;
  return ids;
}
