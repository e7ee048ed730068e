/* ebnf.c - the front end's entry: the passes of ebnf.h, one after the other.
 *
 * The text is copied, as rules have their names in it and are unfolded when they are first needed.
 *
 * Steps     tsl__greader_begin        the copy, and an empty grammar of compiler/gbnf/ast.h
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

static bool finish_report(tsl__ebnf *r) {
  const char **out = r->options->report;
  size_t n = r->report.n;
  if (r->in.status) return false;
  if (!out) return true;
  *out = "[]";
  if (!n) return true;
  char *text = tsl__exprs_alloc(r->in.x, n + 3);
  if (!text) return tsl__ebnf_no_memory(r), false;
  text[0] = '[';
  memcpy(text + 1, r->report.at, n);
  memcpy(text + 1 + n, "]", 2);
  *out = text;
  return true;
}

static tsl__expr wrap(void *ctx, uint32_t mark, tsl__expr body) {
  const tsl__ebnf *r = ctx;
  return r->options->marks(r->options->marks_ctx, r->in.x, &r->marks.at[mark - 1], body);
}

static void free_reader(tsl__ebnf *r) {
  tsl__greader_end(&r->in);
  tsl__vec_free(&r->in.alloc, &r->strings);
  tsl__vec_free(&r->in.alloc, &r->firsts);
  tsl__vec_free(&r->in.alloc, &r->tokens);
  tsl__vec_free(&r->in.alloc, &r->triggers);
  tsl__vec_free(&r->in.alloc, &r->rules);
  tsl__vec_free(&r->in.alloc, &r->marks);
  tsl__vec_free(&r->in.alloc, &r->report);
}

tsl_status tsl__ebnf_compile(tsl__exprs *x, const tsl_vocab *vocab, const char *text, size_t length,
                             const tsl__ebnf_options *options, tsl__expr *out, tsl_error *error) {
  tsl__ebnf r = {.in = {.x = x, .vocab = vocab, .dialect = &tsl__ebnf_dialect, .error = error},
                 .options = options};
  uint32_t root = 0;
  *out = TSL__NONE;
  if (tsl__greader_begin(&r.in, text, length, "", options->max_depth)) tsl__ebnf_parse(&r);
  root = tsl__greader_root(&r.in, options->root ? options->root : "root");
  tsl__ebnf_options_apply(&r);
  if (finish_report(&r)) {
    r.in.g->wrap = wrap;
    r.in.g->wrap_ctx = &r;
    r.in.status = tsl__gbnf_finish(r.in.g, root, out, error);
    r.in.g->wrap = NULL;
  }
  free_reader(&r);
  return r.in.status;
}
