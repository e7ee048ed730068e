/* reference.h - a walk that is a known one, minus what is removed, plus what is added.
 *
 * Problem   The first walk of a state over the whole vocabulary takes up to a millisecond. Most
 *           such states are nearly like one whose walk is known. One example is the state after the
 *           next byte of a name that is excluded. Others are a string with a limit that few tokens
 *           reach, and a string that must not hold one word.
 * Idea      Say how the two differ, not what the new one is. A *finder* looks at a state and fills
 *           in a reference. The reference has the known mask and leftover, and the tokens and
 *           leftover nodes to remove. It also has the places from which the search adds what the
 *           known walk lacks. One function, tsl__reference_apply, makes the walk of it.
 * Finders   delta.c: another state of this grammar, compared with this one byte by byte.
 *           reference.c: "any text but these" is the walk of any text, minus the tokens that spell
 *           one of these in full.
 *           near_limit.c: a string with a limit is as the same string without it, minus the long
 *           tokens that the limit denies.
 *           any_text.c: a string of any characters, minus tokens that are too long or end it early.
 *           subtract.c: a class of letters, minus the tokens that die, plus what is no letter.
 * Example   Strings except "no", after the opening quote. Known: the walk of any string. Removed:
 *           the token `no"`, and the node of `no"`, which leads tokens such as `no",` out of the
 *           string. Added: nothing.
 * Exact     A finder that cannot name every difference returns false, and another way is chosen.
 * Cost      To apply one: a copy of the known mask's lists, some nanoseconds a removed token, and
 *           the search of what is added.
 * Tested by tests/walk/test_delta.c, test_difference.c, test_near_limit.c, test_any_text.c,
 *           test_subtract.c, test_shortcuts.c; tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_REFERENCE_H
#define TSL_RUNTIME_WALK_REFERENCE_H

#include "runtime/walk/linear.h"
#include "runtime/walk/walk.h"

/* A place to search from: a node that the state reaches, the node's own byte read. */
typedef struct tsl__reference_entry {
  uint32_t node, count, depth;
  tsl__state state;
} tsl__reference_entry;

typedef struct tsl__reference {
  /* known */
  tsl__mask mask;
  tsl__leftover left;
  /* removed: tokens, in any order; those of two bitsets (NULL: none); and nodes, sorted by their
   * tokens, none below another. Nothing is left over at these nor below, but what is added
   * leaves */
  TSL__VEC(tsl_token) tokens;
  const uint32_t *without[2];
  TSL__VEC(uint32_t) nodes;
  /* added: what these places lead to. And, from the root, what stands among `letters` and is no
   * letter. That is read along a table of quotes (`quoted`; NULL: not so), or by the search, where
   * `hint` says what (`among`). The latter two begin in `from`. */
  TSL__VEC(tsl__reference_entry) enter;
  const tsl__linear *quoted;
  tsl__bytes letters;
  tsl__hint hint;
  bool among;
  tsl__linear_from from;
} tsl__reference;

struct tsl__level;

/* Forget what was filled in; the lists keep their memory. */
void tsl__reference_clear(tsl__reference *ref);
void tsl__reference_free(tsl__space *space, tsl__reference *ref);
size_t tsl__reference_memory(const tsl__reference *ref);
/* Is a node one of the removed ones, or below one? */
bool tsl__reference_removes(const tsl__space *space, const tsl__reference *ref, uint32_t node);
/* Gather the walk in a level, which must not be changed by what `ref` is filled from any more: the
 * search goes on from here. False on failure (sticky). */
bool tsl__reference_apply(tsl__space *space, struct tsl__level *l, tsl__reference *ref);

/* ---- finders: each fills in *ref, which is cleared here -------------------------------------- */

/* "Any text but some" (`h->base` and `h->except`), over a leftover. False on failure (sticky). */
bool tsl__difference_find(tsl__space *space, struct tsl__level *l, const tsl__hint *h,
                          tsl__leftover over, tsl__reference *ref);

/* How near another state must be: so near that nothing is faster, or nearer than walking all. */
typedef enum tsl__delta_reach { TSL__DELTA_NEAR, TSL__DELTA_FAR } tsl__delta_reach;

/* Another state of this grammar that is like this one over the whole vocabulary. `last`: nothing
 * follows the frame. False if none is near enough, or on failure (sticky). */
bool tsl__delta_find(tsl__space *space, tsl__state state, uint32_t count, bool last,
                     tsl__delta_reach reach, tsl__reference *ref);
/* A walk over the whole vocabulary was remembered, of a state with that register: let others
 * compare themselves with it. */
void tsl__delta_note(tsl__space *space, const tsl__walk *walk, uint32_t count);

/* All texts of some letters, over the whole vocabulary. False if the state is not best walked like
 * this, or on failure (sticky). */
bool tsl__subtract_find(tsl__space *space, tsl__state state, bool last, tsl__reference *ref);

/* The same string without its limit (`h->like`), or any string (`h->open`), over a leftover. False
 * if that does not settle it, or on failure (sticky). */
bool tsl__near_find(tsl__space *space, const tsl__hint *h, const tsl__linear_from *from,
                    tsl__leftover over, tsl__reference *ref);

#endif
