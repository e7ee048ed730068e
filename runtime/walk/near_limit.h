/* near_limit.h - near a limit: how a state takes the tokens that are longer than what is left.
 *
 * A state near its limit is as `like` (runtime/automaton/state.h), which has none, over all tokens
 * that are short enough. The others are few, and are tried one by one: by both.
 *
 * Tested by tests/walk/test_near_limit.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_NEAR_LIMIT_H
#define TSL_RUNTIME_WALK_NEAR_LIMIT_H

#include "runtime/walk/classes.h"
#include "runtime/automaton/state.h"

typedef struct tsl__near {
  tsl__state state;
  uint32_t count;
  const tsl__hint *hint;
  /* of the hint: `like`, or `open`, of which tokens with a quote or a backslash are told
   * otherwise */
  tsl__state like;
  bool last;                   /* nothing follows the frame */
  uint32_t limit;              /* characters over which the state is as `like` */
  const tsl__lengths *lengths; /* NULL if no token is longer */
  uint32_t longer;             /* the first so many of the long tokens are */
  /* room for one of each: may it not be taken, if `like` takes it? See tsl__near_known */
  uint8_t *denied;
  /* tokens that the state surely takes, none of which goes on beyond the string; 0: none are
   * known */
  tsl__mask low;
} tsl__near;

/* Can each longer token be told by trying it? And leave the frame those at most that leave `like`
 * too, and as far. Then *denied is filled. */
bool tsl__near_known(tsl__space *space, const tsl__near *n);
/* Does the state deny a longer token (by number) that is in the mask of `like`? Where all are
 * known. */
bool tsl__near_denies(tsl__space *space, const tsl__near *n, tsl__mask like, uint32_t i);

#endif
