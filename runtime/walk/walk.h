/* walk.h - state × leftover → mask + leftover: the one operation that everything is built on.
 *
 * Problem   Which tokens may come next? To try each costs 128,256 matches. To walk the trie of all
 *           of them takes a millisecond.
 * Idea      Walk a state over a leftover trie once, and remember the answer by (state, leftover).
 *           The answer is a mask, and what is left of the tokens that run past the end of the
 *           frame. The frames below are no part of the key, so "inside a JSON string" is walked
 *           once per vocabulary. A call inside a walk is a walk of its own; the state after the
 *           call goes on with what the call left over.
 * Search    (search.h) Skip: a byte that is not live is skipped with its subtree. Sweep: if all
 *           bytes below a node lead back to the same state, the tokens there are one range of the
 *           trie's `order`. Letters: some states accept any text of certain letters. The tokens
 *           made of these letters are one bitset, made once per vocabulary. Only subtrees with
 *           another byte are entered. Together: an ambiguous loop may have several states at one
 *           trie node. Each child is visited once, with all these states, and equal states become
 *           one. Table (linear.h): where nearly all bytes live, the trie is read as one array.
 * Memo      (memo.h) A loop that is far from its bounds shares the walk of the same loop without
 *           bounds. States that only call, with the same calls, share one walk.
 * Ways      Before the search walk.c tries shortcuts, in the order of its table `ways`. The first
 *           puts the walks of a state's calls together. Most take a known walk, minus what is
 *           removed, plus what is added (reference.h). One reads a loop over one class of letters.
 *           docs/shortcuts.md has a line for each, with its gain.
 * Example   After `{"a` in the language {"a": 1} the state has to read `":`. Its walk over the
 *           vocabulary gives the tokens `"` and `":`, and an empty leftover.
 * Cost      A walk in the memo is one probe, some 20 ns. The first walk inside a string takes 1 ms,
 *           that of a structural state about 1 µs.
 * Tested by tests/walk/test_shortcuts.c, tests/engine/test_oracle.c, the corpora of fuzz_walk and
 * fuzz_mask
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_WALK_H
#define TSL_RUNTIME_WALK_WALK_H

#include "runtime/automaton/leftover.h"
#include "runtime/masks/mask.h"
#include "runtime/automaton/state.h"

/* The shortcuts, by their bits in the space's `shortcuts_off`: tests turn each off, and masks stay
 * the same. docs/shortcuts.md says what each is for; walk.c tries those of a whole walk in
 * order. */
enum {
  TSL__SHORTCUT_TEXT = 1u << 0,       /* strings of any characters (any_text.h) */
  TSL__SHORTCUT_LIMIT = 1u << 1,      /* far from a limit, as without it (near_limit.c) */
  TSL__SHORTCUT_DIFFERENCE = 1u << 2, /* any text but some (reference.h) */
  TSL__SHORTCUT_DELTA = 1u << 3,      /* the walk of a similar state (delta.c) */
  TSL__SHORTCUT_SUBTRACT = 1u << 4,   /* a class of letters minus what dies (subtract.c) */
  TSL__SHORTCUT_COUNTED = 1u << 5,    /* a loop over one class of letters (walk.c) */
  TSL__SHORTCUT_LETTERS = 1u << 6,    /* a class of letters within the search (classes.h) */
  TSL__SHORTCUT_LINEAR = 1u << 7,     /* the trie along a table (linear.h), and what reads that */
  TSL__SHORTCUT_ROOT = 1u << 8,       /* known by the first byte (from_root.c) */
  TSL__SHORTCUT_CALLS = 1u << 9,      /* known by what a state calls (memo.h) */
  TSL__SHORTCUT_FOLLOW = 1u << 10,    /* only what may follow is left over (follow.h) */
  TSL__SHORTCUT_WITHIN = 1u << 11,    /* small walks done within another, not remembered (walk.c) */
  TSL__SHORTCUT_SHARED = 1u << 12,    /* walks of other grammars (shared_walks.h) */
  TSL__SHORTCUT_FAR = 1u << 13,       /* a loop far from its minimum (memo.h) */
  TSL__SHORTCUT_LATE = 1u << 14,      /* calls at many nodes at once (late_calls.c) */
  TSL__SHORTCUT_STOPS = 1u << 15,     /* frames that may end after each byte (stops.c) */
  TSL__SHORTCUT_NARROWED = 1u << 16,  /* what is left before fewer bytes (narrowed.c) */
  TSL__SHORTCUTS = (1u << 17) - 1
};

static inline bool tsl__shortcut_is_off(const tsl__space *space, uint32_t shortcut) {
  return space->walking.shortcuts_off & shortcut;
}

#define TSL__STARTS_LIVE 48u      /* live bytes: states that live on more are strings */
#define TSL__WALK_DEPTH_MAX 2048u /* nested calls while one token is spelled */

typedef struct tsl__walk {
  tsl__state state;
  uint32_t context;   /* see memo.h */
  tsl__leftover over; /* the trie walked over */
  tsl__leftover left; /* what ran past the end of the frame */
  tsl__mask mask;
  tsl__mask exits; /* of a state with letters: the part of `mask` that is not the class's */
  /* of a state with letters: depth of the deepest node entered; TSL__UNSPLIT: not done in parts */
  uint16_t reach;
  /* most iterations of the active loop that any path of it began; TSL__UNCOUNTED: not known */
  uint16_t gain;
  /* of a state that only calls: a bit for each edge whose called frame left nothing, so that its
   * return does not matter */
  uint16_t ended;
  /* the number of what follows the frame, to which the leftover is limited (follow.h); 0: it is
   * not limited */
  uint16_t follow;
} tsl__walk;

enum { TSL__UNSPLIT = UINT16_MAX, TSL__UNCOUNTED = UINT16_MAX };

/* The walk of a state over a leftover. `last`: nothing follows the frame, so it leaves nothing
 * over. NULL on failure (sticky). Needs the lock. */
const tsl__walk *tsl__walk_over(tsl__space *space, tsl__state state, uint32_t count,
                                tsl__leftover over, bool last);

/* The same for a frame of a position, with `tail` below it (0: nothing follows). */
const tsl__walk *tsl__walk_above(tsl__space *space, tsl__state state, uint32_t count,
                                 tsl__leftover over, uint32_t tail);

/* Walk what follows a name, over the leftover of a walk of names. The place where `resume` goes on
 * after the name is walked, and its tokens are gathered (`g` NULL: they are not). Returns the
 * leftover of that; nothing if the name is not allowed, or on failure (sticky). */
struct tsl__named_left;
struct tsl__gather;
tsl__leftover tsl__walk_after_name(tsl__space *space, struct tsl__gather *g, tsl__state resume,
                                   const struct tsl__named_left *left, bool last);

/* Copy the walks of a layer that will make no more of them into one table (memo.h). False: out of
 * memory (sticky). */
bool tsl__walks_freeze(tsl__space *space);

/* Tables for lengths of tokens, made once in the vocabulary's layer. */
tsl_status tsl__walk_prepare(tsl__space *base);
void tsl__walk_scratch_free(tsl__space *space);
size_t tsl__walk_scratch_memory(const tsl__space *space);

#endif
