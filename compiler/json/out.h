/* out.h - a text of JSON that grows while it is written.
 *
 * Problem   Reports, answers and grammars are put together from pieces, and every piece may find no
 *           memory.
 * Idea      A failure is sticky: what is put behind it has no effect. So a writer looks for a
 *           failure once, at the end.
 * Example   tsl__out out = {.alloc = alloc};
 *           tsl__out_string(&out, "{\"a\": ");
 *           tsl__out_quoted(&out, text, length);
 *           if (out.failed) ...
 *           tsl__vec_free(alloc, &out.text);
 * Tested by tests/tools/test_mend_json.c, tests/schema/test_lint.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_JSON_OUT_H
#define TSL_COMPILER_JSON_OUT_H

#include "runtime/core/base.h"

typedef TSL__VEC(char) tsl__chars;

typedef struct tsl__out {
  const tsl_allocator *alloc;
  tsl__chars text;
  bool failed; /* no memory */
} tsl__out;

void tsl__out_put(tsl__out *o, const char *text, size_t n);
static inline void tsl__out_string(tsl__out *o, const char *text) {
  tsl__out_put(o, text, strlen(text));
}
/* UTF-8 as the inside of a string of JSON: see tsl__json_put_escaped. */
void tsl__out_escaped(tsl__out *o, const char *text, size_t n);
/* Any bytes as the inside of a string of JSON: those that are no UTF-8 become U+FFFD. */
void tsl__out_inside(tsl__out *o, const char *text, size_t n);
/* The same with quotes around it. */
void tsl__out_quoted(tsl__out *o, const char *text, size_t n);

#endif
