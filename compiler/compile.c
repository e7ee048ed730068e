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
#include "runtime/grammar.h"

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
