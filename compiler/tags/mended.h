/* mended.h - an answer that its grammar refuses, read all the same.
 *
 * The parser (parse.c) follows the grammar alone. The lenient reader knows more of the format. It
 * belongs to a later room (compiler/tools/mend.c), which hands its functions over here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_TAGS_MENDED_H
#define TSL_COMPILER_TAGS_MENDED_H

#include "runtime/core/base.h"

typedef struct tsl__mended_call {
  tsl__string name, id, arguments; /* id: length 0: none; arguments: JSON */
  tsl__string repairs;             /* items of a JSON array, without its brackets */
} tsl__mended_call;

typedef struct tsl__mended {
  tsl__string content, reasoning, repairs; /* repairs: of what is no call */
  tsl__mended_call *calls;
  uint32_t count;
  bool fenced; /* a code fence around a call was left out */
} tsl__mended;

#define TSL__ACCEPTED UINT32_MAX

/* An answer: the text from `begin` on. `refused`: the byte at which the grammar refuses it;
 * TSL__ACCEPTED: it does not. */
typedef struct tsl__answer {
  const char *text;
  uint32_t length, begin, refused;
} tsl__answer;

typedef struct tsl__mender {
  const void *ctx;
  /* Texts of tokens that end an answer, each ended by NUL; the last one is empty. And those that
   * stand in front of one. */
  const char *ends, *begins;
  /* Read the answer; what is read lives in `arena`. Of what the grammar accepts only calls that
   * cannot be meant as text are calls. Errors: NO_MEMORY. */
  tsl_status (*read)(const void *ctx, tsl__arena *arena, tsl__answer answer, tsl__mended *out);
} tsl__mender;

#endif
