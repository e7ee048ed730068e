/* plain.h - JSON as people would spell it: a mask with the odd spellings removed.
 *
 * Problem   A schema allows 4e2 for an integer, 1.000…, "\u0041" for "A". A large model seldom
 *           writes these; the small one here does not know better, and many readers of JSON turn
 *           1e999 into infinity.
 * Idea      Follow the lexical state of the text (in a string, in a number, how many digits). Take
 *           tokens out of the mask that would add
 *             - an exponent, or the third digit of an exponent that there must be,
 *             - the 16th digit of a number, or the 5th after its point,
 *             - a fraction, where a number with one could not end (then it is an integer's: 4.3
 *               would need an exponent),
 *             - an escape in a string,
 *             - a 6 after two digits between colons in a string: second 60 is right in few minutes
 *               of history, and few programs read it.
 *           A token that is drawn may still lead a number astray: 13 where at most 2 is allowed can
 *           only become 13e-1. So ask the matcher whether a few digits end the number. If that
 *           leaves nothing, the mask stays as it is: the grammar decides, this is only taste.
 * Cost      One look at the bytes of every allowed token; in numbers, up to some 1,500 bytes tried
 *           on the matcher.
 * Tested by tests/cli/test_cli_generate.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_PLAIN_H
#define TSL_CLI_PLAIN_H

#include "turnstile.h"

#define PLAIN_MAX_DIGITS 15 /* what a double holds */
#define PLAIN_MAX_DECIMALS 4
#define PLAIN_MAX_EXPONENT 2 /* digits */

/* Where in a JSON text we are. Zero-initialised is its beginning. */
typedef struct plain_state {
  bool in_string, escaped; /* escaped: a backslash was the last byte */
  uint8_t clock;           /* how much of ":12:" the last bytes of the string are, 0 to 4 */
  bool in_number, fraction, exponent;
  /* of the number (or, once it has begun, of its exponent), and of them after its point */
  unsigned digits, decimals;
} plain_state;

void plain_read(plain_state *state, const uint8_t *bytes, size_t length);
/* Take tokens out of `mask`; `matcher` stands after the text that `state` has read, and does so
 * again afterwards. `scratch` has as many words as the mask.
 */
void plain_filter(const plain_state *state, const tsl_vocab *vocab, tsl_matcher *matcher,
                  uint32_t *mask, uint32_t *scratch);

/* The text stands in a number, or not: can a plain spelling still end it? True outside numbers. The
 * matcher is as before afterwards. */
bool plain_can_end(const plain_state *state, tsl_matcher *matcher);

#endif
