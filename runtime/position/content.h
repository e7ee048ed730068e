/* content.h - which bytes at a position are content: what a text says, not how it is built.
 *
 * Problem   A repetition penalty lowers the logits of tokens that come again. Under a grammar the
 *           brackets, quotes, commas and names of members must come again, so a penalty on them
 *           only bends the text. A sampler that penalises must know which bytes the grammar leaves
 *           to the writer.
 * Idea      Ask the automaton, so that every front end is served: a byte is content where the
 *           grammar does not care which byte it is. If at least TSL__ALIKE bytes lead to the same
 *           position, these bytes are content. All other bytes are structure: brackets, quotes,
 *           keywords, and words of a list, because each of their bytes leads elsewhere.
 * Digits    In a number with bounds some digits lead elsewhere. If at least TSL__ALIKE digits are
 *           allowed, all allowed digits are content.
 * Letters   If some letters are content, all letters and digits are. So are the bytes of characters
 *           past ASCII, and a backslash, which begins an escape of the same string.
 * Names     The name of a member may be free as well, as in a map. A quoted text is a name where
 *           the grammar wants a colon after its closing quote, and nothing else. Where the quote
 *           may not come yet, the way with the fewest bytes is followed until it may. A name has
 *           no content.
 * Example   After `[{"id": 1` the digits are content. `,` and `}` are structure. After `"` of a
 *           string all letters are content, and `"` is structure. After `{"` the name of a map is
 *           structure: after `{"a` may come `"`, and after that only `:`.
 * Register  Repetitions are ignored: only the plain position is looked at (distinct.h). So an item
 *           that must be new is treated as any other, and the answer is the same for all texts.
 * Cost      Some 20 ns for each byte that may come, and for each byte of the way to the closing
 *           quote of a quoted text. A caller that needs the answer often keeps it.
 * Limits    A way of more than TSL__CONTENT_WAY bytes to the closing quote is not followed. The
 *           text is a value then. A loaded artifact does not know the shortest way: there a name is
 *           known where its quote may come next.
 * Tested by tests/position/test_content.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_CONTENT_H
#define TSL_RUNTIME_POSITION_CONTENT_H

#include "runtime/position/stacks.h"

#define TSL__ALIKE 8u        /* so many bytes that lead to one position are content */
#define TSL__CONTENT_WAY 64u /* bytes that are followed to the closing quote */

/* The position without its distinct record: what the functions here read. Without the lock. */
static inline tsl__stack tsl__content_key(const tsl__space *space, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  return r->has_distinct ? r->with_distinct.plain : at;
}

/* The bytes that are content at a position. Needs the lock; false on failure (sticky). */
bool tsl__stack_content(tsl__space *space, tsl__stack at, tsl__bytes *out);
/* The position after one byte, repetitions ignored; 0 where it is rejected, and on failure
 * (sticky). Needs the lock. */
tsl__stack tsl__content_after(tsl__space *space, tsl__stack at, uint8_t byte);
/* Does the grammar want a colon there, perhaps after white space, and nothing else? So it does
 * behind the name of a member. Needs the lock; false on failure, too (sticky). */
bool tsl__content_wants_colon(tsl__space *space, tsl__stack at);

#endif
