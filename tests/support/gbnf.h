/* gbnf.h - what the tests of GBNF share: a vocabulary of all bytes and a few tokens, and grammars
 * compiled or parsed over it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_GBNF_H
#define TSL_TESTS_SUPPORT_GBNF_H

#include "compiler/gbnf/ast.h"
#include "tests/support/check.h"

enum { THINK = 256, END_THINK = 257, WORD = 258, EOS = 259, TOKENS = 260 };

static inline tsl_vocab *make_vocab(void) {
  static const char *const names[] = {"<think>", "</think>", "hello", "</s>"};
  uint8_t bytes[512], special[TOKENS] = {0};
  uint32_t offsets[TOKENS + 1] = {0};
  tsl_token eog = EOS;
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i, offsets[i + 1] = (uint32_t)i + 1;
  for (int i = 0; i < 4; i++) {
    memcpy(bytes + offsets[256 + i], names[i], strlen(names[i]));
    offsets[257 + i] = offsets[256 + i] + (uint32_t)strlen(names[i]);
  }
  special[THINK] = special[END_THINK] = 1;
  tsl_vocab_desc desc = {.bytes = bytes,
                         .offsets = offsets,
                         .size = TOKENS,
                         .special = special,
                         .eog = &eog,
                         .eog_count = 1};
  tsl_vocab *vocab = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
  return vocab;
}

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
  p.g = tsl__gbnf_new(p.x);
  CHECK(p.g != NULL);
  tsl_status status = tsl__gbnf_parse(p.g, vocab, text, length, 512, &error);
  CHECKF(status == TSL_OK, "%s in\n%.*s", error.message, (int)length, text);
  return p;
}

#endif
