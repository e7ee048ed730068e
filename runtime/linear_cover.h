/* linear_cover.h - words, that are told at once where a table is read (linear.h).
 *
 * Problem   Three of five tokens are ASCII letters, with a space before them or without. From most states that read a table any of them lives, and the table is larger than the caches that are near.
 * Idea      Words of up to 32 letters are one bitset, and one with the space. Where all of them live, a table is read that has no nodes below which there is nothing else.
 * Tested by tests/test_linear.c, tests/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_LINEAR_COVER_H
#define TSL_RUNTIME_LINEAR_COVER_H

#include "runtime/linear.h"

#define TSL__WORDS_HIGH 32u /* letters of a word */
#define TSL__WORD_LETTERS 0x07FFFFFE07FFFFFEu /* ASCII letters, as the word of a set of bytes from 64 on */

/* Fill in `words` and `rest` of a table that is complete but for them. False on failure (sticky). */
bool tsl__cover_make(tsl__space *base, tsl__linear *l);

#endif
