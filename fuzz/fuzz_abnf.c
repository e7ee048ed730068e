/* fuzz_abnf.c - any bytes as an ABNF grammar.
 *
 * Properties  compiling ends with a documented status and a filled error, whose place lies in the
 *             text; what compiles has an expression with a shortest text, and an empty line and a
 *             comment before it change nothing.
 * Memory and steps are limited, so that a hang or a blow-up is a finding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "compiler/abnf/abnf.h"
#include "fuzz/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of the shortest text, or UINT32_MAX with the status where it does not compile. */
static uint32_t shortest(const char *text, size_t length, tsl_status *status) {
  const tsl_limits limits = {.max_memory = 64 << 20, .max_steps = 2000000};
  tsl__exprs *x = NULL;
  tsl_error error = {0};
  tsl__expr e;
  require(tsl__exprs_new(NULL, NULL, &limits, &x) == TSL_OK, "no expressions");
  *status = tsl__abnf_compile(x, text, length, NULL, 64, &e, &error);
  require(*status == error.status, "an error without its status");
  require((e != TSL__NONE) == (*status == TSL_OK), "an expression and an error");
  require(*status == TSL_OK || *status == TSL_ERR_SYNTAX || *status == TSL_ERR_EMPTY ||
              *status == TSL_ERR_UNSUPPORTED || *status == TSL_ERR_LIMIT ||
              *status == TSL_ERR_NO_MEMORY,
          "an undocumented status");
  require(*status == TSL_OK || (error.message[0] && error.offset <= length),
          "an error without its place");
  uint32_t n = *status ? UINT32_MAX : tsl__expr_shortest(x, e);
  tsl__exprs_free(x);
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char before[] = "\n; a comment\n";
  const size_t more = sizeof before - 1;
  tsl_status first, second;
  uint32_t n = shortest(size ? (const char *)data : "", size, &first);
  if (first == TSL_ERR_LIMIT || first == TSL_ERR_NO_MEMORY || (size && data[0] == 0xEF)) return 0;
  char *text = malloc(size + more);
  if (!text) return 0;
  memcpy(text, before, more);
  if (size) memcpy(text + more, data, size);
  uint32_t again = shortest(text, size + more, &second);
  require(second == TSL_ERR_LIMIT || (again == n && first == second),
          "a comment before a grammar changes it");
  free(text);
  return 0;
}
