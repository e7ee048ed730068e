/* names.h - frames that spell one name out of a set, and what follows, which depends on the name.
 *
 * Problem   An object whose members come in any order has a state for each set of members seen.
 *           Each would spell the names that are left in states of its own, walked over the
 *           vocabulary each time.
 * Idea      The names are spelled in a frame that knows the set, but not which of its names are
 *           allowed. Its states and walks are those of the object, made once. A state of such a
 *           frame is KEYED: it says which names it may still become. Below it lies a RESUME state,
 *           one for each set of members seen. It says which names are allowed, and how to go on
 *           after each. Whoever lands on a keyed state asks the RESUME below whether any of its
 *           names is allowed. If none is, the state is dropped. The walk keeps names beside its
 *           tokens and leftovers. Whoever uses the walk picks those whose names are allowed.
 * Beside    Where other names may come, too, the frame of any text but some has all tokens that
 *           spell beginnings of names. They are looked for only where a name ends within a token.
 * Example   {"a": A, "b": B}: after {"a":1, the frame names{a,b} runs over RESUME{b}. Its token
 *           `a"` is dropped, and `b"` goes on with B.
 * Cost      A new set of members costs one RESUME, and a look at each token on the paths of the
 *           names.
 * Tested by tests/engine/test_shipped.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_NAMES_H
#define TSL_RUNTIME_WALK_NAMES_H

#include "runtime/automaton/leftover.h"
#include "runtime/masks/mask.h"
#include "runtime/automaton/state.h"

/* Which names a keyed state may become: sorted ranges of numbers. After the backslash of a plain
 * string (compiler/expr/kinds/json_string.c) there are up to four. */
#define TSL__KEYED_RANGES 4u
typedef struct tsl__name_range {
  uint32_t lo, hi; /* hi is not in it */
} tsl__name_range;
typedef struct tsl__keyed {
  uint32_t n;
  tsl__name_range range[TSL__KEYED_RANGES];
} tsl__keyed;

/* The names of a RESUME state as far as they were requested, as bitsets. */
typedef struct tsl__resume {
  uint32_t names;
  uint64_t *known, *allowed;
} tsl__resume;

/* A token below a place in a frame of names, or what is left after a name. */
typedef struct tsl__named_token {
  tsl_token token;
  tsl__name_range names; /* it is allowed if one of these is */
} tsl__named_token;
typedef struct tsl__named_left {
  uint32_t name;
  tsl__leftover left;
} tsl__named_left;

/* The walk of a keyed state over the vocabulary where nothing is left of its name but the quote.
 * That is the tokens of one node, and what is below that. */
typedef struct tsl__named_end {
  uint32_t node;
  tsl__named_left left;
} tsl__named_end;

/* The walk of a keyed state. */
typedef struct tsl__named_walk {
  tsl__state state;
  tsl__leftover over;
  /* it is plain that no name ends within a token; then its tokens are listed when they are
   * requested (else NULL) */
  bool goes_on;
  uint32_t token_count, left_count;
  const tsl__named_token *tokens;
  const tsl__named_left *lefts; /* by name */
  /* of many tokens: the last RESUME that they were gathered for, 0: none was; and those that it
   * lets through */
  tsl__state resume;
  tsl__mask mask;
} tsl__named_walk;

/* Where a RESUME goes on after a name: mostly it calls the frame of a member, and nothing else.
 * Then that is called where the name ends, and the state that would do so is not made. */
typedef struct tsl__resumed {
  tsl__state resume;
  uint32_t name;
  tsl__state frame; /* that is called; 0: none is, the RESUME's own goes on */
  /* where it goes on, or where the frame that is called comes back to. That is a state that is not
   * guarded, and neither over nor a fork */
  tsl__target to;
} tsl__resumed;

/* All of these need the lock. */

/* Make an (own) state RESUME. false on failure (sticky). */
bool tsl__resume_make(tsl__space *space, tsl__state_rec *r, uint32_t names);
/* May this name come? */
bool tsl__resume_allows(tsl__space *space, tsl__state resume, uint32_t name);
/* May any of these? */
bool tsl__resume_any(tsl__space *space, tsl__state resume, const tsl__keyed *names);
/* Where to go on after an allowed name; 0 on failure (sticky). */
tsl__target tsl__resume_to(tsl__space *space, tsl__state resume, uint32_t name);
/* The same, in two steps if there are two. What is known of it, or NULL. And made, where nothing is
 * known; NULL on failure (sticky). */
const tsl__resumed *tsl__resume_known(const tsl__space *space, tsl__state resume, uint32_t name);
const tsl__resumed *tsl__resume_anew(tsl__space *space, tsl__state resume, uint32_t name);
/* Where nothing is known of it. If it is quickly found that a frame is called, that frame, or
 * another that allows the same until it has ended. Else 0. */
tsl__state tsl__resume_begins(tsl__space *space, tsl__state resume, uint32_t name);
/* The walk of a keyed state, remembered; NULL on failure (sticky). */
const tsl__named_walk *tsl__named_walk_over(tsl__space *space, tsl__state state,
                                            tsl__leftover over);
/* Is it such a one? That is seen at once, and not remembered: each name has its own such state, and
 * most are looked up once. False on failure, too (sticky). */
bool tsl__named_end_of(tsl__space *space, tsl__state state, tsl__named_end *out);
/* Is it plain that none of its names, or of those that it excludes, ends within a token of the
 * leftover? `often`: this is looked up again, and remembered. Failures are sticky. */
bool tsl__names_go_on(tsl__space *space, tsl__state names, tsl__leftover over, bool often);
/* The fewest bytes from a keyed state above a RESUME to the end of that one's frame; saturates at
 * UINT32_MAX. */
uint32_t tsl__named_shortest(tsl__space *space, tsl__state keyed, tsl__state resume);
/* Gather those of its tokens that a RESUME lets through. */
void tsl__named_gather(tsl__space *space, tsl__gather *g, const tsl__named_walk *w,
                       tsl__state resume);
/* Free what was kept for reuse. */
void tsl__naming_free(tsl__space *space);
size_t tsl__naming_memory(const tsl__space *space);

#endif
