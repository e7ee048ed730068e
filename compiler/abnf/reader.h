/* reader.h - what the files of this room share: a text that is read, and where the reading is.
 *
 * Every function that reads returns with r->in.status set after a failure, and does nothing more
 * then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_ABNF_READER_H
#define TSL_COMPILER_ABNF_READER_H

#include "compiler/abnf/abnf.h"
#include "compiler/gbnf/reader.h"

typedef struct tsl__abnf {
  tsl__greader in; /* the grammar's text; the core rules stand behind it */
  size_t indent;   /* columns before the name of the rule that is read */
} tsl__abnf;

/* parse.c: the rules of the text, and the core rules that they name. */
void tsl__abnf_parse(tsl__abnf *r);

#endif
