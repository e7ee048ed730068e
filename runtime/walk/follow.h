/* follow.h - what follows a frame that is walked, and what need not be left to it.
 *
 * Problem   A called name may end after each of its letters. So its walk leaves nearly every node
 *           of the vocabulary over, and what follows the name is walked over all of them.
 * Idea      A leftover node matters only if its next byte is one that what follows can begin with,
 *           such as a bracket or a space. So the caller says where it continues after the call.
 *           When a walk turns out to leave many nodes over, it finds out with which bytes that
 *           place may go on. It leaves only nodes whose next byte is one of these. Then the letters
 *           of the name are a class, as in a string. The bytes that may follow are exits, and only
 *           subtrees with an exit are entered.
 * Again     What follows may begin with a letter, too, as in `(name space*)*`. It may do so by
 *           calling the same frame. That frame reads the letter as the name itself would, and
 *           returns to the same place. Then ending the name before the letter adds nothing, and the
 *           letter is no exit.
 * Example   After `{` in `set ::= "{" (name set? " "*)* "}"`: the walk of a name has the exits ` `,
 *           `{` and `}`.
 * Remembered  A walk is remembered with what follows as well: the bytes, and the place if that
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
  tsl__state then; /* its caller goes on there; 0: it is one of a position, above `tail` */
  uint32_t count;  /* with that register */
  uint32_t tail;
  bool last;                /* the caller is the last frame */
  uint16_t depth;           /* callers above it of which it is known what follows them */
  struct tsl__after *outer; /* what follows the caller; NULL: nothing, or it is not known */
  bool requested;
  uint32_t number; /* of its tsl__follow, once it was requested; 0: that is not known */
} tsl__after;

/* By which bytes it may begin: equal ones are one. */
typedef struct tsl__follow {
  tsl__bytes bytes;
  tsl__bytes again; /* those of them by which only `then` begins, by calls that come back to it */
  tsl__state then;  /* 0: none are such */
  uint32_t count;
} tsl__follow;

/* The letters of a state, as they are where something may be called or follows among them. */
typedef struct tsl__letters_after {
  /* first, so that this is found by it; its exits are also what calls may begin with, and
   * `leaves` */
  tsl__hint hint;
  tsl__bytes leaves; /* before these, a frame that may end among the letters is left */
  /* but for these where it is in state `at`, to which most letters lead; `twice`: behind one of
   * them, if it was there before, too */
  tsl__bytes spared;
  tsl__state at;
  bool twice;
  bool known; /* else they are of no use */
  uint32_t follow;
  const tsl__hint *of;
} tsl__letters_after;

/* Who calls a frame: where it goes on, its register now; and, for it to see, was that heeded in
 * what the frame leaves? */
typedef struct tsl__caller {
  tsl__target push;
  uint32_t count;
  bool heeded;
} tsl__caller;

/* What follows a frame that is called, its caller going on in `then`; `outer` is what follows that
 * one. */
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
/* The number of what begins with these bytes, whatever it is; 0: there are too many numbers, or on
 * failure (sticky). Needs the lock. */
uint32_t tsl__follow_before(tsl__space *space, const tsl__bytes *bytes);
/* The same with the bytes that others may begin with, if it begins with few; or itself. */
uint32_t tsl__follow_wider(tsl__space *space, uint32_t number);
/* The letters of a state among which it may call, or end where `follow` (0: nothing) follows. NULL:
 * they are of no use, or on failure (sticky). Needs the lock. */
const tsl__letters_after *tsl__letters_before(tsl__space *space, const tsl__state_rec *r,
                                              const tsl__hint *h, uint32_t follow);
/* The bytes that calls of a state may begin with. False: that is not known, or such a call may be
 * over at once, and the frame with it. Needs the lock. */
bool tsl__calls_begin(tsl__space *space, const tsl__state_rec *r, tsl__bytes *out);
/* Need a frame be left, in `state`, at a node that letters lead to? Before the last of them it was
 * in `from` (0: that is not known). What is letters alone is in the class's mask, whatever
 * follows. */
bool tsl__letters_leave(const tsl__trie *trie, const tsl__trie_node *n, const tsl__letters_after *a,
                        tsl__state from, tsl__state state);
/* Is the next byte below a node one of these? */
bool tsl__next_meets(const tsl__trie *trie, const tsl__trie_node *n, const tsl__bytes *set);

#endif
