/* fuzz_abnf.c - any bytes as an ABNF grammar.
 *
 * Properties  Compiling ends with a documented status and a filled error, whose place lies in the
 *             text. What compiles has an expression with a shortest text. An empty line and a
 *             comment before it change nothing.
 * Memory and steps are limited, so that a hang or a blow-up is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/abnf/abnf.h"
#include "fuzz/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsl_status compile(tsl__exprs *x, const char *text, size_t length, tsl__expr *out,
                          tsl_error *error) {
  return tsl__abnf_compile(x, text, length, NULL, 64, out, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_notation_one(compile, "\n; a comment\n", data, size);
  return 0;
}
