/* reader.h - what the files of this room share: a text that is read, and where the reading is.
 *
 * Every function that reads returns with r->status set after a failure, and does nothing more then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_ABNF_READER_H
#define TSL_COMPILER_ABNF_READER_H

#include "compiler/abnf/abnf.h"
#include "compiler/gbnf/ast.h"
#include "runtime/core/pool.h"

typedef struct tsl__abnf {
  tsl__gbnf *g;
  tsl__exprs *x;
  tsl_allocator alloc;
  const char *text; /* the grammar, and behind it the core rules; both in g->text */
  size_t length;    /* of both */
  size_t own;       /* of the grammar */
  size_t at;
  uint32_t max_depth;
  size_t indent;              /* columns before the name of the rule that is read */
  TSL__VEC(uint32_t) pending; /* items of the sequences and alternatives that are open */
  tsl__index names;           /* rules by their names in lower case */
  tsl_status status;
  tsl_error *error;
} tsl__abnf;

/* parse.c: the rules of the text, and the core rules that they name. */
void tsl__abnf_parse(tsl__abnf *r);
/* The rule of that name, in any case; UINT32_MAX: there is none. */
uint32_t tsl__abnf_find(const tsl__abnf *r, const char *name, size_t length);

#endif
