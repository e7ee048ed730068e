/* loop.c - does a text repeat itself? The guard of samplers and of hosts.
 *
 * Problem   A small model loops: in a string, `ha ha ha ha …`; in an array, the same object again
 *           and again. A grammar that has no limit there allows that until the tokens are used up.
 *           Penalties on all tokens that came before harm brackets and names of members as well.
 * Idea      A loop has a period: the text ends with the same p tokens, several times in a row. Only
 *           the one token that would begin the next copy is forbidden, and only where another token
 *           is allowed. So a text without loops is drawn as before, and no text is cut.
 * Example   … 5 9 7 9 7 9 7, three repeats wanted. p = 1: 7 differs from 9, no loop. p = 2: the
 *           last six tokens are three times `9 7`. The token two places before the end is 9: it
 *           would begin the fourth copy.
 * Cost      For each period, tokens are compared up to the first that differs. Mostly the first one
 *           differs: one comparison for each period.
 * Bound     At most repeats * longest tokens are looked at. Two long stretches cannot have
 *           different periods (Fine and Wilf 1965), so few periods are compared at length.
 * Tested by tests/sample/test_loop.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/base.h"

#define LONGEST 64u /* of a period, where the caller names none */

/* Are the last `length` tokens a stretch of this period? */
static bool has_period(const tsl_token *end, size_t length, size_t period) {
  for (size_t back = 1; back + period <= length; back++)
    if (end[-(ptrdiff_t)back] != end[-(ptrdiff_t)(back + period)]) return false;
  return true;
}

uint32_t tsl_find_loop(const tsl_token *tokens, size_t count, uint32_t repeats, uint32_t longest,
                       tsl_token *next) {
  if (!tokens || repeats < 2) return 0;
  if (!longest) longest = LONGEST;
  for (uint32_t period = 1; period <= longest && period <= count / repeats; period++) {
    if (!has_period(tokens + count, (size_t)period * repeats, period)) continue;
    if (next) *next = tokens[count - period];
    return period;
  }
  return 0;
}
