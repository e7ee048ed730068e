/* follow.h - what follows a frame that is walked, and which nodes need not be left over for it.
 *
 * Problem   A called name may end after each of its letters. So its walk leaves nearly every node
 *           of the vocabulary over, and what follows the name is walked over all of them.
 * Idea      A leftover node matters only if what follows the frame can begin with its next byte,
 *           such as a bracket or a space. So the caller says where it continues after the call. A
 *           walk that leaves many nodes over finds out with which bytes that place may begin. It
 *           leaves only nodes whose next byte is one of these. Then the letters of the name are a
 *           class, as in a string. The bytes that may follow are exits, and only subtrees with an
 *           exit are entered.
 * Again     What follows may begin with a letter, too, as in `(name space*)*`. It may do so by
 *           calling the same frame. That frame reads the letter as the name itself would, and
 *           returns to the same place. Then ending the name before the letter adds nothing, and the
 *           letter is no exit.
 * Example   After `{` in `set ::= "{" (name set? " "*)* "}"`: the walk of a name has the exits ` `,
 *           `{` and `}`.
 * Remembered  A walk is remembered with the bytes of what follows, and with the place if it
 *             matters. A walk that leaves little is found without these.
 * Tested by tests/walk/test_groups.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_FOLLOW_H
#define TSL_RUNTIME_WALK_FOLLOW_H

#include "runtime/automaton/state.h"

/* What follows a frame. */
typedef struct tsl__after {
  /* the caller goes on in this state; 0: the frame is one of a position, above `tail` */
  tsl__state then;
  uint32_t count; /* the register of `then` */
  uint32_t tail;
  bool last;                /* the caller is the last frame */
  uint16_t depth;           /* how many `outer` ones there are */
  struct tsl__after *outer; /* what follows the caller; NULL: nothing, or it is not known */
  bool requested;
  uint32_t number; /* of its tsl__follow, once requested; 0: not known */
} tsl__after;

/* The bytes with which it may begin. Equal records are one. */
typedef struct tsl__follow {
  tsl__bytes bytes;
  tsl__bytes again; /* those with which it begins only by calls that come back to `then` */
  tsl__state then;  /* 0: `again` is empty */
  uint32_t count;
} tsl__follow;

/* The letters of a state, if the frame may call among the letters, or end there and something
 * follows. */
typedef struct tsl__letters_after {
  /* the first field, so that a hint leads to this record. Its exits include the first bytes of
   * calls, and `leaves` */
  tsl__hint hint;
  tsl__bytes leaves; /* a frame that may end among the letters is left before these bytes */
  /* bytes before which the frame is not left where it is in `at`, the state to which most letters
   * lead. `twice`: behind such a byte only if the state before was `at`, too */
  tsl__bytes spared;
  tsl__state at;
  bool twice;
  bool known; /* false: the letters are of no use */
  uint32_t follow;
  const tsl__hint *of;
} tsl__letters_after;

/* The caller of a frame: where it goes on, and its register. heeded is an answer: does the leftover
 * of the frame depend on it? */
typedef struct tsl__caller {
  tsl__target push;
  uint32_t count;
  bool heeded;
} tsl__caller;

/* What follows a called frame: its caller goes on in `then`, and `outer` follows the caller. */
static inline tsl__after tsl__after_call(tsl__state then, uint32_t count, bool last,
                                         tsl__after *outer) {
  return (tsl__after){.then = then,
                      .count = count,
                      .last = last,
                      .outer = outer,
                      .depth = outer ? (uint16_t)(outer->depth + 1u) : 0};
}

static inline const tsl__follow *tsl__follow_at(const tsl__space *s, uint32_t number) {
  return tsl__space_at(s, follows, number);
}

/* The number of what follows; 0: it is not known, or on failure (sticky). Needs the lock. */
uint32_t tsl__follow_of(tsl__space *space, tsl__after *after);
/* A follower that begins with these bytes, whatever it is: its number; 0: too many numbers, or
 * failure (sticky). Needs the lock. */
uint32_t tsl__follow_before(tsl__space *space, const tsl__bytes *bytes);
/* A follower with few first bytes, widened by those of other followers; or itself. */
uint32_t tsl__follow_wider(tsl__space *space, uint32_t number);
/* The letters of a state that may call among them, or end among them before `follow` (0: nothing).
 * NULL: they are of no use, or on failure (sticky). Needs the lock. */
const tsl__letters_after *tsl__letters_before(tsl__space *space, const tsl__state_rec *r,
                                              const tsl__hint *h, uint32_t follow);
/* The bytes that calls of a state may begin with. False: not known, or such a call may end at once,
 * and the frame with it. Needs the lock. */
bool tsl__calls_begin(tsl__space *space, const tsl__state_rec *r, tsl__bytes *out);
/* Must a frame in `state` be left at a node to which letters lead? Before the last letter it was in
 * `from` (0: not known). Tokens of letters alone are in the class's mask anyway. */
bool tsl__letters_leave(const tsl__trie *trie, const tsl__trie_node *n, const tsl__letters_after *a,
                        tsl__state from, tsl__state state);
/* Is the next byte below a node one of these? */
bool tsl__next_meets(const tsl__trie *trie, const tsl__trie_node *n, const tsl__bytes *set);

#endif
