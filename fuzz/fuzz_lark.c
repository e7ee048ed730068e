/* fuzz_lark.c - any bytes as a Lark grammar, whose texts are cut in any way or by a lexer.
 *
 * Properties  Compiling ends with a documented status and a filled error, whose place lies in the
 *             text. What compiles has an expression with a shortest text. An empty line and a
 *             comment before it change nothing.
 * Memory and steps are limited, so that a hang or a blow-up is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/lark.h"
#include "fuzz/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Imports that are there: the grammar itself, and nothing else. */
typedef struct self {
  const char *text;
  size_t length;
} self;

static bool resolve(void *ctx, const char *path, const char **text, size_t *length) {
  const self *s = ctx;
  if (strcmp(path, "self.lark")) return false;
  *text = s->text;
  *length = s->length;
  return true;
}

static tsl__lark_lexer lexer;

static tsl_status compile(tsl__exprs *x, const char *text, size_t length, tsl__expr *out,
                          tsl_error *error) {
  self own = {text, length};
  const tsl__lark_options options = {
      .lexer = lexer, .max_depth = 64, .resolver = resolve, .resolver_ctx = &own};
  return tsl__lark_compile(x, NULL, text, length, &options, out, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (lexer = TSL__LARK_COMPLETE; lexer <= TSL__LARK_BASIC; lexer++)
    fuzz_notation_one(compile, "\n# a comment\n", data, size);
  return 0;
}
