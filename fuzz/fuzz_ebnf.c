/* fuzz_ebnf.c - any bytes as an EBNF grammar.
 *
 * Properties  Compiling ends with a documented status and a filled error, whose place lies in the
 *             text. What compiles has an expression with a shortest text. An empty line and a
 *             comment before it change nothing.
 * Memory and steps are limited, so that a hang or a blow-up is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/ebnf.h"
#include "fuzz/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsl_status compile(tsl__exprs *x, const char *text, size_t length, tsl__expr *out,
                          tsl_error *error) {
  const char *report = NULL;
  const tsl__ebnf_options options = {.max_depth = 64, .report = &report};
  return tsl__ebnf_compile(x, NULL, text, length, &options, out, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_notation_one(compile, "\n# a comment\n", data, size);
  return 0;
}
