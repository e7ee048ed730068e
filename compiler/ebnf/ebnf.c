/* ebnf.c - the front end's entry: the passes of ebnf.h, one after the other.
 *
 * The text is copied, as rules have their names in it and are unfolded when they are first needed.
 *
 * Steps     begin                     the copy, and an empty grammar of compiler/gbnf/ast.h
 *           tsl__ebnf_parse           rules, macros and options to nodes (parse.c, macro.c)
 *           tsl__ebnf_options_apply   lazy and counted rules become expressions (options.c)
 *           tsl__gbnf_finish          left recursion, placing and lowering, as for GBNF
 * Example   root ::= "a" Token(5) has no options, so the third step does nothing. The grammar is
 *           one rule, a SEQ of a literal and of tokens, which is lowered in place.
 * Failing   The first step that fails sets the status; the others see it and return.
 * Tested by tests/ebnf/test_ebnf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/reader.h"

#define DEFAULT_DEPTH 512u

/* The grammar's own text lives as long as x. */
static bool begin(tsl__ebnf *r, const char *text, size_t length) {
  if (length > INT32_MAX) {
    r->status = tsl__fail(r->error, TSL_ERR_LIMIT, "the grammar is longer than 2 GiB");
    return false;
  }
  r->g = tsl__gbnf_new(r->x);
  if (r->g) r->g->text = tsl__alloc(&r->g->alloc, length ? length : 1);
  if (!r->g || !r->g->text) return tsl__ebnf_no_memory(r), false;
  r->g->length = length ? length : 1;
  if (length) memcpy(r->g->text, text, length);
  r->text = r->g->text;
  r->length = length;
  return true;
}

static bool find_root(tsl__ebnf *r, uint32_t *root) {
  const char *name = r->options->root ? r->options->root : "root";
  if (r->status) return false;
  *root = tsl__gbnf_find(r->g, name, strlen(name));
  if (*root == UINT32_MAX)
    r->status = tsl__fail(r->error, TSL_ERR_SYNTAX, "the grammar has no rule \"%.100s\"", name);
  return !r->status;
}

static bool finish_report(tsl__ebnf *r) {
  const char **out = r->options->report;
  size_t n = r->report.n;
  if (!out) return true;
  *out = "[]";
  if (!n) return true;
  char *text = tsl__exprs_alloc(r->x, n + 3);
  if (!text) return tsl__ebnf_no_memory(r), false;
  text[0] = '[';
  memcpy(text + 1, r->report.at, n);
  memcpy(text + 1 + n, "]", 2);
  *out = text;
  return true;
}

static tsl__expr wrap(void *ctx, uint32_t mark, tsl__expr body) {
  const tsl__ebnf *r = ctx;
  return r->options->marks(r->options->marks_ctx, r->x, &r->marks.at[mark - 1], body);
}

static void free_reader(tsl__ebnf *r) {
  tsl__vec_free(&r->alloc, &r->pending);
  tsl__vec_free(&r->alloc, &r->bytes);
  tsl__vec_free(&r->alloc, &r->strings);
  tsl__vec_free(&r->alloc, &r->firsts);
  tsl__vec_free(&r->alloc, &r->tokens);
  tsl__vec_free(&r->alloc, &r->triggers);
  tsl__vec_free(&r->alloc, &r->rules);
  tsl__vec_free(&r->alloc, &r->marks);
  tsl__vec_free(&r->alloc, &r->report);
}

tsl_status tsl__ebnf_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                             const tsl__ebnf_options *options, tsl__expr *out, tsl_error *error) {
  tsl__ebnf r = {.x = x,
                 .alloc = *tsl__exprs_allocator(x),
                 .vocab = vocab,
                 .options = options,
                 .error = error};
  uint32_t root = 0;
  *out = TSL__NONE;
  r.max_depth = !options->max_depth                        ? DEFAULT_DEPTH
                : options->max_depth < TSL__GBNF_DEPTH_MAX ? options->max_depth
                                                           : TSL__GBNF_DEPTH_MAX;
  /* Some room at once: texts that are empty are places of r.bytes, too. */
  if (!tsl__vec_reserve(&r.alloc, &r.bytes, 64))
    tsl__ebnf_no_memory(&r);
  else if (begin(&r, text, length))
    tsl__ebnf_parse(&r);
  if (!r.status && find_root(&r, &root)) tsl__ebnf_options_apply(&r);
  if (!r.status && finish_report(&r)) {
    r.g->wrap = wrap;
    r.g->wrap_ctx = &r;
    r.status = tsl__gbnf_finish(r.g, root, out, error);
    r.g->wrap = NULL;
  }
  free_reader(&r);
  return r.status;
}
