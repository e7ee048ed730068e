/* linear_cover.h - words, that are told at once where a table is read (linear.h).
 *
 * Problem   Three of five tokens are ASCII letters, with a space before them or without. From most
 *           states that read a table any of them lives, and the table is larger than the caches
 *           that are near.
 * Idea      Words of up to 32 letters are one bitset, and one with the space. Where all of them
 *           live, a table is read that has no nodes below which there is nothing else. Most of what
 *           is left then has letters beyond ASCII, which most patterns do not tell apart, but for
 *           spaces and marks among them: words of ASCII letters and of such characters as begin
 *           like no space does are bitsets of their own, with a table of their own, which has a few
 *           thousand nodes.
 * Tested by tests/walk/test_linear.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_LINEAR_COVER_H
#define TSL_RUNTIME_WALK_LINEAR_COVER_H

#include "runtime/walk/linear.h"

#define TSL__WORDS_HIGH 32u /* letters of a word */
/* ASCII letters, as the word of a set of bytes from 64 on */
#define TSL__WORD_LETTERS 0x07FFFFFE07FFFFFEu

/* Letters beyond ASCII of so many bytes, each from one to another: those whose first byte no space
 * has, nor private or rare characters. */
typedef struct tsl__high_letter {
  uint8_t length, bytes[3][2];
} tsl__high_letter;
#define TSL__HIGH_LETTERS 4u
extern const tsl__high_letter tsl__high_letters[TSL__HIGH_LETTERS];

/* Fill in `words`, `rest` and those of wider words of a table that is complete but for them. False
 * on failure (sticky). */
bool tsl__cover_make(tsl__space *base, tsl__linear *l);

#endif
