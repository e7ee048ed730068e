/* reference.h - a walk that is a known one, minus what is removed, plus what is added.
 *
 * Problem   The first walk of a state over the whole vocabulary takes up to a millisecond. Most
 *           such states are nearly like one whose walk is known. One example is the state after the
 *           next byte of a name that is excluded. Others are a string with a limit that few tokens
 *           reach, and a string that must not hold one word.
 * Idea      Describe how the new walk differs from the known one. A *finder* looks at a state and
 *           fills in a reference. The reference has the known mask and leftover, and the tokens and
 *           leftover nodes to remove. It also has the places from which the search adds what the
 *           known walk lacks. One function, tsl__reference_apply, makes the walk of it.
 * Finders   delta.c: another state of this grammar, compared with this one byte by byte.
 *           reference.c: "any text but these" is the walk of any text, minus the tokens that
 *           complete one of these. near_limit.c: a string with a limit has the walk of the same
 *           string without it, minus the long tokens that the limit denies. any_text.c: a string of
 *           any characters, minus tokens that are too long or end it early. subtract.c: a class of
 *           letters, minus the tokens that die, plus tokens with other bytes.
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

/* A place from which to search: `state` stands at a node, and has read the node's own byte. */
typedef struct tsl__reference_entry {
  uint32_t node, count, depth;
  tsl__state state;
} tsl__reference_entry;

typedef struct tsl__reference {
  /* known */
  tsl__mask mask;
  tsl__leftover left;
  /* removed: tokens, in any order; the tokens of two bitsets (NULL: none); and leftover nodes, with
   * all below them. The nodes are sorted by their tokens. One is below another only where nothing
   * but a quote follows that one */
  TSL__VEC(tsl_token) tokens;
  const uint32_t *without[2];
  TSL__VEC(uint32_t) nodes;
  /* added: what the places of `enter` lead to. Also, from the root, tokens with other bytes among
   * `letters`. These are read along a table of quotes (`quoted`; NULL: none), or by the search with
   * `hint` (if `among`). Both begin in `from`. */
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
/* Gather the walk in a level. `ref` is complete before the call, since the search uses the level
 * from here on. False on failure (sticky). */
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
/* Note a walk over the whole vocabulary, of a state with that register, for later comparisons. */
void tsl__delta_note(tsl__space *space, const tsl__walk *walk, uint32_t count);

/* All texts of some letters, over the whole vocabulary. False if another way is better for the
 * state, or on failure (sticky). */
bool tsl__subtract_find(tsl__space *space, tsl__state state, bool last, tsl__reference *ref);

/* The same string without its limit (`h->like`), or any string (`h->open`), over a leftover. False
 * if this is not exact, or on failure (sticky). */
bool tsl__near_find(tsl__space *space, const tsl__hint *h, const tsl__linear_from *from,
                    tsl__leftover over, tsl__reference *ref);

#endif
