/* any_text.h - walks of JSON strings of any characters, made from tables of the vocabulary.
 *
 * Problem   Most strings with a limited length hold any characters, and most patterns begin or end
 *           with any characters (`-1$`, `^x.*`). A search would derive escapes anew from each such
 *           state, and read each token with a quote or a backslash.
 * Idea      The vocabulary's tables say for each token in a string of any characters: does the
 *           string stay open or end, and after how many characters? The walks of most other strings
 *           are made of these tables.
 * Counted   A string of at least m and at most n characters has the walk of the unbounded string,
 *           minus two kinds of tokens. They have too many characters, or close the string too
 *           early.
 * One bound If only m or only n can matter, the vocabulary has the whole walk. Behind the opening
 * quote of most strings only one of them can.
 * Endless   Some states of a pattern stay open whatever characters come. There all tokens live that
 *           leave the unbounded string open. A table lists the tokens that close it, and each of
 *           these is tried in the state. None is tried if more characters must still come than any
 *           of them has.
 * Quote     In front of the opening quote a token holds few characters of the string. So it mostly
 *           has the walk of one of three strings. These have no bound, at least a few characters,
 *           or more than any token has. The vocabulary's layer has a state for each of these.
 * Example   {"maxLength": 64}: no state but the first is made.
 * Cost      A look-up where the vocabulary has the walk; else about 2 µs, or 5 where the state is
 *           looked up.
 * Tested by tests/walk/test_any_text.c, tests/engine/test_oracle.c, tests/walk/test_near_limit.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_ANY_TEXT_H
#define TSL_RUNTIME_WALK_ANY_TEXT_H

#include "runtime/walk/search.h"

/* The bytes of raw characters of a JSON string. */
tsl__bytes tsl__raw_letters(void);
/* Make the tables in the vocabulary's layer; `state`: of a string of any characters behind its
 * opening quote. */
tsl_status tsl__texts_make(tsl__space *base, tsl__state state);
/* The walk of such a string, if the tables have it. NULL: they do not, or failure (sticky). *like:
 * the vocabulary's state with the same walk, or 0. */
const tsl__walk *tsl__text_known(tsl__space *space, const tsl__state_rec *r, uint32_t count,
                                 tsl__leftover over, tsl__state *like);
/* May a state that is not expanded yet be one of strings of any characters? */
static inline bool tsl__may_be_text(const tsl__space *space, const tsl__state_rec *r,
                                    tsl__state state) {
  return state >= space->states.first && !r->edges &&
         !(r->flags & (TSL__STATE_FORK | TSL__STATE_RESUME | TSL__STATE_KEYED)) &&
         !tsl__state_fixed(r);
}
/* The walk over the whole vocabulary of a string with one raw character more in front, if it is
 * known. NULL: not known, or failure (sticky). */
const tsl__walk *tsl__text_before(tsl__space *space, tsl__state state, uint32_t count);
/* Walk a string of any characters over the whole vocabulary. False if the state is no such string,
 * or on failure (sticky). *open: even so, raw characters leave it open for ever. */
bool tsl__walk_text(tsl__space *space, tsl__level *l, const tsl__state_rec *r, tsl__state state,
                    uint32_t count, bool *open);

#endif
