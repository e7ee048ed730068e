/* names.h - frames that spell one name out of a set, and what follows, which depends on the name.
 *
 * Problem   An object whose members come in any order has a state for each set of members seen.
 *           Each of them would spell the names that are left in states of its own, and each of
 *           these would be walked over the vocabulary.
 * Idea      The names are spelled in a frame that knows the set, but not which of its names are
 *           allowed. Its states and walks are those of the object, made once. A state of such a
 *           frame is KEYED: it says which names it may still become. Below it lies a RESUME state,
 *           one for each set of members seen. It says which names are allowed, and how to go on
 *           after each. A step that lands on a keyed state looks up in the RESUME below whether any
 *           of its names is allowed. If none is, the state is dropped. A walk keeps names beside
 *           its tokens and leftovers. A mask uses those whose names are allowed.
 * Beside    If other names may come, too, the frame for them (any text but these names) allows all
 *           tokens that spell beginnings of names. So this frame is searched only for tokens within
 *           which a name ends.
 * Example   {"a": A, "b": B}: after {"a":1, the frame names{a,b} runs over RESUME{b}. Its token
 *           `a"` is dropped, and `b"` goes on with B.
 * Cost      A new set of members costs one RESUME, and one test for each token on the paths of the
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
  uint32_t lo, hi; /* names lo to hi - 1 */
} tsl__name_range;
typedef struct tsl__keyed {
  uint32_t n;
  tsl__name_range range[TSL__KEYED_RANGES];
} tsl__keyed;

/* Bitsets of the names of a RESUME state: which were looked up, and which of these are allowed. */
typedef struct tsl__resume {
  uint32_t names;
  uint64_t *known, *allowed;
} tsl__resume;

/* A token that a frame of names allows, and the leftover after a name. */
typedef struct tsl__named_token {
  tsl_token token;
  tsl__name_range names; /* the token is allowed if one of these names is */
} tsl__named_token;
typedef struct tsl__named_left {
  uint32_t name;
  tsl__leftover left;
} tsl__named_left;

/* The name of a keyed state lacks only the closing quote. Its walk over the vocabulary is the
 * tokens of one node, and the leftover below the node. */
typedef struct tsl__named_end {
  uint32_t node;
  tsl__named_left left;
} tsl__named_end;

/* The walk of a keyed state. */
typedef struct tsl__named_walk {
  tsl__state state;
  tsl__leftover over;
  /* it is certain that no name ends within a token. Then `tokens` is NULL until it is requested */
  bool goes_on;
  uint32_t token_count, left_count;
  const tsl__named_token *tokens;
  const tsl__named_left *lefts; /* by name */
  /* where there are many tokens: the last RESUME for which they were gathered (0: none), and the
   * mask of those that it lets through */
  tsl__state resume;
  tsl__mask mask;
} tsl__named_walk;

/* Where a RESUME goes on after a name. Mostly it only calls the frame of a member. Then the frame
 * is called where the name ends, and no state is made for the call. */
typedef struct tsl__resumed {
  tsl__state resume;
  uint32_t name;
  tsl__state frame; /* the called frame; 0: none, the RESUME's own frame goes on */
  /* where its own frame goes on, or where the called frame returns. This state is not guarded, not
   * over, and no fork */
  tsl__target to;
} tsl__resumed;

/* All of these need the lock. */

/* Make an (own) state RESUME. false on failure (sticky). */
bool tsl__resume_make(tsl__space *space, tsl__state_rec *r, uint32_t names);
/* May this name come? */
bool tsl__resume_allows(tsl__space *space, tsl__state resume, uint32_t name);
/* May any of these names come? */
bool tsl__resume_any(tsl__space *space, tsl__state resume, const tsl__keyed *names);
/* Where to go on after an allowed name; 0 on failure (sticky). */
tsl__target tsl__resume_to(tsl__space *space, tsl__state resume, uint32_t name);
/* The same as a record. tsl__resume_known: the record if it is there, or NULL. tsl__resume_anew
 * makes it; NULL on failure (sticky). */
const tsl__resumed *tsl__resume_known(const tsl__space *space, tsl__state resume, uint32_t name);
const tsl__resumed *tsl__resume_anew(tsl__space *space, tsl__state resume, uint32_t name);
/* For a name without a record: the called frame, or one that allows the same up to its end, if one
 * is found quickly. Else 0. */
tsl__state tsl__resume_begins(tsl__space *space, tsl__state resume, uint32_t name);
/* The walk of a keyed state, remembered; NULL on failure (sticky). */
const tsl__named_walk *tsl__named_walk_over(tsl__space *space, tsl__state state,
                                            tsl__leftover over);
/* Does the name of a state lack only its closing quote? Then fill *out. The answer is quick and not
 * remembered: each name has its own such state, and most are looked up once. False on failure, too
 * (sticky). */
bool tsl__named_end_of(tsl__space *space, tsl__state state, tsl__named_end *out);
/* Is it certain that no name of the state, or name that it excludes, ends within a token of the
 * leftover? `often`: the answer will be needed again, and is remembered. Failures are sticky. */
bool tsl__names_go_on(tsl__space *space, tsl__state names, tsl__leftover over, bool often);
/* The fewest bytes from a keyed state above a RESUME to the end of that one's frame; saturates at
 * UINT32_MAX. */
uint32_t tsl__named_shortest(tsl__space *space, tsl__state keyed, tsl__state resume);
/* Gather the tokens of a walk that a RESUME lets through. */
void tsl__named_gather(tsl__space *space, tsl__gather *g, const tsl__named_walk *w,
                       tsl__state resume);
/* Free what was kept for reuse. */
void tsl__naming_free(tsl__space *space);
size_t tsl__naming_memory(const tsl__space *space);

#endif
