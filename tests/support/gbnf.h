/* gbnf.h - what the tests of GBNF share: grammars compiled or parsed over token_vocab.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_GBNF_H
#define TSL_TESTS_SUPPORT_GBNF_H

#include "compiler/gbnf/ast.h"
#include "tests/support/token_vocab.h"

static tsl_vocab *vocab;

static inline tsl_matcher *start(const char *text, size_t length) {
  tsl_grammar *grammar = NULL;
  tsl_matcher *m = NULL;
  tsl_error error;
  tsl_status status = tsl_grammar_gbnf(vocab, text, length, NULL, NULL, &grammar, &error);
  CHECKF(status == TSL_OK, "%s: %s at %u:%u in\n%.*s", tsl_status_name(status), error.message,
         error.line, error.column, (int)length, text);
  if (status) return NULL;
  CHECK(tsl_matcher_new(grammar, NULL, &m) == TSL_OK);
  tsl_grammar_release(grammar);
  return m;
}

/* A grammar as it was parsed; its expressions own it. */
typedef struct {
  tsl__exprs *x;
  tsl__gbnf *g;
} parsed;

static inline parsed parse(const char *text, size_t length) {
  parsed p = {NULL, NULL};
  tsl_error error;
  CHECK(tsl__exprs_new(NULL, NULL, NULL, &p.x) == TSL_OK);
  tsl_status status = tsl__gbnf_parse(p.x, vocab, text, length, 512, &p.g, &error);
  CHECKF(status == TSL_OK, "%s in\n%.*s", error.message, (int)length, text);
  return p;
}

#endif
