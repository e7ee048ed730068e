/* anew.c - what a grammar was compiled from is kept, so that it can be compiled again.
 *
 * Problem   Texts can fill a grammar's expressions, and then it is compiled again
 *           (runtime/matcher/edition.h). But the caller's text and options are gone by then.
 * Idea      A copy of both stays with the grammar. It is made when the compile has succeeded. The
 *           limits of the moment are given by who compiles again; the depth of nesting is kept.
 * Example   A schema of 5 KB is a copy of 5 KB beside tables of some 100 KB.
 * Left out  A resolver may be gone, and may answer otherwise. A tree of formats that was built in C
 *           has no text. Such grammars are not compiled again.
 * Cost      One allocation and one copy of the text for each compile.
 * Tested by tests/matcher/test_edition.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/anew.h"

#include "compiler/grammar/source.h"
#include "runtime/matcher/edition.h"

typedef enum call { SOURCE, TAGS, TOOLS } call;

typedef struct kept {
  call call;             /* that made it */
  tsl__source_copy copy; /* of tags and tools: the text, the options of schemas and the limits */
  tsl_tools_options tools;
  char *preset, *choice;
} kept;

static tsl_status compile(const void *ctx, tsl_vocab *vocab, const tsl_limits *limits,
                          tsl_grammar **out) {
  const kept *k = ctx;
  const tsl_source *s = &k->copy.source;
  tsl_limits with = *limits;
  with.max_depth = k->copy.limits.max_depth;
  tsl_source again = *s;
  again.limits = &with;
  switch (k->call) {
  case SOURCE: return tsl_grammar_compile(vocab, &again, out, NULL);
  case TAGS: return tsl_grammar_tags(vocab, s->text, s->length, s->schema, &with, out, NULL);
  case TOOLS: break;
  }
  tsl_tools_options tools = k->tools;
  tools.schema = s->schema;
  return tsl_grammar_tools(vocab, s->text, s->length, &tools, &with, out, NULL);
}

static size_t size_of(const char *text) { return text ? strlen(text) + 1 : 0; }

static void release(void *ctx, const tsl_allocator *a) {
  kept *k = ctx;
  tsl__source_copy_free(&k->copy, a);
  tsl__free(a, k->preset, size_of(k->preset));
  tsl__free(a, k->choice, size_of(k->choice));
  tsl__free(a, k, sizeof *k);
}

static size_t memory(const void *ctx) {
  const kept *k = ctx;
  return sizeof *k + k->copy.source.length + size_of(k->preset) + size_of(k->choice);
}

static const tsl__again again = {compile, release, memory};

tsl__string tsl__anew_text(const tsl_grammar *g) {
  const kept *k = g->again == &again ? g->kept : NULL;
  if (!k) return (tsl__string){NULL, 0};
  return (tsl__string){k->copy.source.text, (uint32_t)k->copy.source.length};
}

static char *copied(const tsl_allocator *a, const char *text, bool *fine) {
  char *copy = text ? tsl__alloc(a, size_of(text)) : NULL;
  *fine = *fine && (copy || !text);
  return copy ? memcpy(copy, text, size_of(text)) : NULL;
}

/* `tools` NULL: there are none. */
static kept *keep(const tsl_allocator *a, call made_by, const tsl_source *source,
                  const tsl_tools_options *tools) {
  bool fine = true;
  kept *k = tsl__alloc_zero(a, sizeof *k);
  if (!k) return NULL;
  k->call = made_by;
  if (!tsl__source_copy_make(source, a, &k->copy)) {
    tsl__free(a, k, sizeof *k);
    return NULL;
  }
  if (tools) {
    k->tools = *tools;
    k->tools.preset = k->preset = copied(a, tools->preset, &fine);
    k->tools.tool_choice = k->choice = copied(a, tools->tool_choice, &fine);
    k->tools.over = NULL;
    k->tools.report = NULL; /* it was called by the first compile, and may be gone */
    k->tools.report_ctx = NULL;
  }
  if (fine) return k;
  release(k, a);
  return NULL;
}

static tsl_status finish(tsl_grammar **g, call made_by, const tsl_source *source,
                         const tsl_tools_options *tools, tsl_error *error) {
  kept *k = keep(&(*g)->alloc, made_by, source, tools);
  if (k) {
    tsl__grammar_keep(*g, &again, k);
    return TSL_OK;
  }
  tsl_grammar_release(*g);
  *g = NULL;
  return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
}

tsl_status tsl__anew_source(tsl_grammar **g, const tsl_source *source, tsl_error *error) {
  if (tsl__source_has_resolver(source)) return TSL_OK;
  return finish(g, SOURCE, source, NULL, error);
}

tsl_status tsl__anew_tags(tsl_grammar **g, const char *json, size_t length,
                          const tsl_schema_options *schema, const tsl_tools_options *tools,
                          const tsl_limits *limits, tsl_error *error) {
  const tsl_source source = {.kind = TSL_SOURCE_JSON_SCHEMA,
                             .text = json,
                             .length = length,
                             .schema = schema,
                             .limits = limits};
  if (tsl__source_has_resolver(&source)) return TSL_OK;
  return finish(g, tools ? TOOLS : TAGS, &source, tools, error);
}
