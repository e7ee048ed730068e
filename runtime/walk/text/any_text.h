/* any_text.h - walks of JSON strings that hold any characters, as far as they can be read from
 * that of a string of nothing but these.
 *
 * Problem   Most strings with a length hold any characters, and most patterns begin or go on with
 *           any (`-1$`, `^x.*`). A search would derive escapes anew from each such state, and read
 *           each token with a quote or a backslash.
 * Idea      The vocabulary's tables say how each token reads in a string of any characters. Either
 *           the string stays open, or it is closed, and after so many characters. The walks of most
 *           other strings are made of these tables.
 * Counted   A string of at least m and at most n characters has the walk of the unbounded string,
 *           without two kinds of tokens. These have too many characters, or close the string too
 *           early.
 * One bound Where only m or only n is a bound, the vocabulary has the whole walk. That is so for
 *           most strings behind their opening quote.
 * Endless   Some states of a pattern stay open for ever, whatever characters come. There all tokens
 *           live that leave the unbounded string open. Those that close it are looked up in the
 *           state, along a table of them. None is looked up if more characters must still come than
 *           any of them has.
 * Quote     In front of the opening quote a token holds few characters of the string. So the string
 *           is mostly like one of three: without a bound, with a few characters at least, or with
 *           more than any token has. The vocabulary's layer has a state for each of these.
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
/* Such a walk that is known with the tables. NULL: there is none, or on failure (sticky); *like:
 * the vocabulary's state that it is walked as, or 0. */
const tsl__walk *tsl__text_known(tsl__space *space, const tsl__state_rec *r, uint32_t count,
                                 tsl__leftover over, tsl__state *like);
/* May a state that is not expanded yet be one of strings of any characters? */
static inline bool tsl__may_be_text(const tsl__space *space, const tsl__state_rec *r,
                                    tsl__state state) {
  return state >= space->states.first && !r->edges &&
         !(r->flags & (TSL__STATE_FORK | TSL__STATE_RESUME | TSL__STATE_KEYED)) &&
         !tsl__state_fixed(r);
}
/* The walk of what reads one raw character more than a state of such strings, over the whole
 * vocabulary, if it is known. NULL: it is not, or on failure (sticky). */
const tsl__walk *tsl__text_before(tsl__space *space, tsl__state state, uint32_t count);
/* Walk like that over the whole vocabulary. False if the state is none of these, or on failure
 * (sticky). *open: any raw characters leave it open for ever, all the same. */
bool tsl__walk_text(tsl__space *space, tsl__level *l, const tsl__state_rec *r, tsl__state state,
                    uint32_t count, bool *open);

#endif
