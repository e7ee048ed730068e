/* notation.h - what the fuzz targets of grammars in text share. One part is a compile whose status,
 * error and expression fit together. The other is a comment before the grammar, which changes
 * nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_FUZZ_NOTATION_H
#define TSL_FUZZ_NOTATION_H

#include <stdlib.h>

#include "compiler/expr/expr.h"
#include "fuzz/require.h"

typedef tsl_status fuzz_notation(tsl__exprs *x, const char *text, size_t length, tsl__expr *out,
                                 tsl_error *error);

/* The bytes of the shortest text, or UINT32_MAX with the status where it does not compile. */
static inline uint32_t fuzz_shortest(fuzz_notation *compile, const char *text, size_t length,
                                     tsl_status *status) {
  const tsl_limits limits = {.max_memory = 64 << 20, .max_steps = 200000};
  tsl__exprs *x = NULL;
  tsl_error error = {0};
  tsl__expr e;
  require(tsl__exprs_new(NULL, NULL, &limits, &x) == TSL_OK, "no expressions");
  *status = compile(x, text, length, &e, &error);
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

/* `comment`: an empty line and a comment, as the notation writes one. */
static inline void fuzz_notation_one(fuzz_notation *compile, const char *comment,
                                     const uint8_t *data, size_t size) {
  const size_t more = strlen(comment);
  tsl_status first, second;
  uint32_t n = fuzz_shortest(compile, size ? (const char *)data : "", size, &first);
  if (first == TSL_ERR_LIMIT || first == TSL_ERR_NO_MEMORY || (size && data[0] == 0xEF)) return;
  char *text = malloc(size + more);
  if (!text) return;
  memcpy(text, comment, more);
  if (size) memcpy(text + more, data, size);
  uint32_t again = fuzz_shortest(compile, text, size + more, &second);
  require(second == TSL_ERR_LIMIT || (again == n && first == second),
          "a comment before a grammar changes it");
  free(text);
}

#endif
