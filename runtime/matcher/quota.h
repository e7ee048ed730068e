/* quota.h - quotas: stretches of text whose tokens are counted, such as thinking that must end in
 * time.
 *
 * Problem   "At most 2,000 tokens of thinking" speaks of tokens, which states of bytes do not see.
 *           A counter within each position would make every position a new one.
 * Idea      The stretch is a frame of its own, in states that no other frame has. A matcher counts
 *           the tokens that it accepts while such a frame is there. When max_tokens are counted,
 *           the matcher removes the frame. What follows the stretch is then all that is left, and
 *           masks are those of an ordinary position.
 * Exact     A token that brings the text into the stretch, or out of it, is not counted. If the
 *           last token leaves a character unfinished, tokens of continuation bytes alone may finish
 *           it: three at most.
 * Example   max_tokens 2 in <think>...</think>: after `<think>` the tokens ` I` and ` see` are
 *           accepted. The frame is removed, and the mask allows only what spells `</think>`.
 * Cost      A grammar without quotas pays one test for each token.
 * Tested by tests/tags/test_tags.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_QUOTA_H
#define TSL_RUNTIME_MATCHER_QUOTA_H

#include "runtime/matcher/grammar.h"

typedef struct tsl__quota {
  uint32_t max_tokens;
  tsl__state first;         /* of its frame */
  tsl__state over;          /* that of a frame that has nothing more to read */
  const tsl__state *states; /* all of its frame, sorted */
  uint32_t count;
} tsl__quota;

/* Find the states of a quota whose `first` is set, into the space's arena; false on failure
 * (sticky). Needs the lock. */
bool tsl__quota_explore(tsl__space *space, tsl__quota *quota);

/* A token that begins with the byte `first` led from a position with `*count` tokens of its quota
 * behind it to *to. Count it, and remove the quota's frame if that was the last one. Takes the lock
 * where it must. */
tsl_status tsl__quota_step(tsl_grammar *g, tsl__stack from, uint8_t first, tsl__stack *to,
                           uint32_t *count);
/* Has the quota ended inside a character, which must be finished first? */
bool tsl__quota_finishing(const tsl_grammar *g, tsl__stack at, uint32_t count);
/* If so: reduce a mask to the tokens that finish the character; and is a token one of them? */
void tsl__quota_finishers(const tsl_grammar *g, uint32_t *mask);
bool tsl__quota_finishes(const tsl_grammar *g, tsl_token token);
/* If so: read the bytes at the beginning of a text that finish the character. Moves *at and *count
 * past them; *read is how many. *at is 0 if another byte comes. Takes the lock. */
tsl_status tsl__quota_finish(tsl_grammar *g, tsl__stack *at, uint32_t *count, const uint8_t *bytes,
                             size_t length, size_t *read);

#endif
