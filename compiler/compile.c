/* compile.c - the public compile calls: text → expression → grammar.
 *
 * Each call makes a layer of expressions and tables over the vocabulary's shared one, has its front end turn the text into one expression, and hands the
 * state of that expression to the runtime. Nothing else happens at compile time: states grow when they are visited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/gbnf.h"
#include "compiler/regex.h"
#include "compiler/schema.h"
#include "compiler/shared.h"
#include "compiler/tools.h"
#include "runtime/grammar.h"
#include "runtime/memory.h"

/* A layer over the vocabulary's. On failure nothing is left. */
static tsl_status open_layer(tsl_vocab *vocab, const tsl_limits *limits, tsl__space **space, tsl__exprs **x, tsl_error *error) {
  const tsl__space *shared;
  *space = NULL;
  *x = NULL;
  if (!vocab) return tsl__fail(error, TSL_ERR_ARGUMENT, "no vocabulary given");
  tsl_status status = tsl__shared_get(vocab, &shared, error);
  if (status != TSL_OK) return status;
  status = tsl__space_new(shared, vocab, &vocab->alloc, limits, space);
  if (status == TSL_OK) status = tsl__exprs_new(tsl__states_exprs(shared), &vocab->alloc, limits, x);
  if (status == TSL_OK && (status = tsl__states_attach(*space, *x)) != TSL_OK) tsl__exprs_free(*x);
  if (status == TSL_OK) return TSL_OK;
  tsl__space_free(*space);
  return tsl__fail(error, status, "out of memory");
}

static tsl_status close_layer(tsl_vocab *vocab, tsl__space *space, tsl__exprs *x, tsl_status status, tsl__expr root, const char *report, tsl_grammar **out,
                              tsl_error *error) {
  if (status == TSL_OK && tsl__exprs_status(x) != TSL_OK) status = tsl__fail(error, tsl__exprs_status(x), "%s", tsl__exprs_why(x));
  if (status == TSL_OK && root == TSL__NONE) status = tsl__fail(error, TSL_ERR_EMPTY, "no text satisfies this grammar");
  if (status != TSL_OK) {
    tsl__space_free(space);
    return status;
  }
  space->guards = tsl__exprs_guards(x);
  return tsl__grammar_make(vocab, space, tsl__state_of(space, root), report, out, error);
}

tsl_status tsl_grammar_json_schema(tsl_vocab *vocab, const char *schema, size_t length, const tsl_schema_options *options, const tsl_limits *limits,
                                   tsl_grammar **out, tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  struct tsl__schema_result result = {0};
  *out = NULL;
  tsl_status status = open_layer(vocab, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__schema_compile(x, schema, length, options, limits, &result, error);
  return close_layer(vocab, space, x, status, result.root, result.report ? result.report : "[]", out, error);
}

tsl_status tsl_grammar_regex(tsl_vocab *vocab, const char *pattern, size_t length, const tsl_regex_options *options, const tsl_limits *limits,
                             tsl_grammar **out, tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__expr root = TSL__NONE;
  tsl__regex_flags flags = {0};
  if (options) flags = (tsl__regex_flags){.case_insensitive = options->case_insensitive, .dot_all = options->dot_all, .search = options->search};
  *out = NULL;
  tsl_status status = open_layer(vocab, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__regex_compile(x, pattern, length, &flags, &root, error);
  return close_layer(vocab, space, x, status, root, "[]", out, error);
}

tsl_status tsl_grammar_gbnf(tsl_vocab *vocab, const char *text, size_t length, const char *root_name, const tsl_limits *limits, tsl_grammar **out,
                            tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__expr root = TSL__NONE;
  uint32_t max_depth = limits && limits->max_depth ? limits->max_depth : 512;
  *out = NULL;
  tsl_status status = open_layer(vocab, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  status = tsl__gbnf_compile(x, vocab, text, length, root_name, max_depth, &root, error);
  return close_layer(vocab, space, x, status, root, "[]", out, error);
}

/* The grammar of a tree of formats; takes over nothing. */
static tsl_status compile_tags(tsl_vocab *vocab, tsl__tags *t, const tsl__tag *root, const tsl_schema_options *schema, const tsl_limits *limits, tsl_grammar **out,
                               tsl_error *error) {
  tsl__space *space;
  tsl__exprs *x;
  tsl__marks *marks = NULL;
  tsl_status status = open_layer(vocab, limits, &space, &x, error);
  if (status != TSL_OK) return status;
  tsl__expr e = tsl__tags_lower(t, x, root, schema, limits, &marks);
  tsl__exprs_set_user(x, marks);
  return close_layer(vocab, space, x, t->status, e, "[]", out, error);
}

/* Parse the text that a tree is read from; false after a failure. */
static bool parse_tags(tsl__tags *t, const char *json, size_t length, const tsl_limits *limits) {
  tsl__json *root;
  uint32_t depth = limits && limits->max_depth ? limits->max_depth : 512;
  t->status = tsl__json_parse(&t->arena, json, length, depth, &root, t->error);
  t->text = json;
  t->length = length;
  t->root = t->status == TSL_OK ? root : NULL;
  return t->root != NULL;
}

tsl_status tsl_grammar_tags(tsl_vocab *vocab, const char *json, size_t length, const tsl_schema_options *schema, const tsl_limits *limits, tsl_grammar **out,
                            tsl_error *error) {
  tsl__tags t;
  *out = NULL;
  if (!vocab) return tsl__fail(error, TSL_ERR_ARGUMENT, "no vocabulary given");
  tsl__tags_init(&t, vocab, &vocab->alloc, error);
  const tsl__tag *root = parse_tags(&t, json, length, limits) ? tsl__tags_read(&t, t.root) : NULL;
  tsl_status status = root ? compile_tags(vocab, &t, root, schema, limits, out, error) : t.status;
  tsl__tags_free(&t);
  return status;
}

tsl_status tsl_grammar_tools(tsl_vocab *vocab, const char *request, size_t length, const tsl_tools_options *options, const tsl_limits *limits, tsl_grammar **out,
                             tsl_error *error) {
  tsl__tags t;
  *out = NULL;
  if (!vocab || !options || !options->preset) return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary and a preset are needed");
  tsl__tags_init(&t, vocab, &vocab->alloc, error);
  const tsl__tag *root = parse_tags(&t, request, length, limits) ? tsl__tools_read(&t, options) : NULL;
  tsl_status status = root ? compile_tags(vocab, &t, root, options->schema, limits, out, error) : t.status;
  tsl__tags_free(&t);
  return status;
}

tsl_status tsl_tools_write(tsl_vocab *vocab, const char *request, size_t length, const tsl_tools_options *options, tsl_line_sink sink, void *ctx, tsl_error *error) {
  tsl__tags t;
  if (!vocab || !options || !options->preset) return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary and a preset are needed");
  tsl__tags_init(&t, vocab, &vocab->alloc, error);
  const tsl__tag *root = parse_tags(&t, request, length, NULL) ? tsl__tools_read(&t, options) : NULL;
  char *json = root ? tsl__tags_write(&t, root) : NULL;
  if (json) sink(ctx, json);
  tsl__tags_free(&t);
  return t.status;
}
