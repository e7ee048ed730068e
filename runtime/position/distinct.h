/* distinct.h - what was spelled before and must not be spelled again, or must be: equal items under
 * uniqueItems, names that an object has already.
 *
 * Problem   A grammar of stacks cannot compare. Whether `[1, 1.0` may end here, or `{"a":1,"a"` go
 *           on, depends on what was spelled any number of bytes ago, in other spellings, and
 *           objects among it in another order of members.
 * Idea      The grammar says where to look: a state is `guarded` if a frame comes back to it with a
 *           value, or the name of an additional member, that must be new. JSON itself says what was
 *           spelled: its structure does not depend on which alternatives of the schema are alive.
 *           So a position becomes two things: the plain position of stacks.h, which knows nothing
 *           of repetitions, and a distinct record, which is a function of the text alone:
 *             open      the containers that are open from the outermost one of which something is
 *             remembered, innermost first: the values or names used, and
 *                       where the current item begins
 *             name      the name under way, as it is spelled, in an object of which that matters;
 *             while it may still become one that the schema knows, the frame that
 *                       spells those has it (runtime/walk/names.h), and nothing is recorded. A
 *                       name that the schema knows comes once as it is, and is not kept
 *             text      the bytes since the outermost item that is watched began
 *             denies    for each open container whose current item could still become a repetition:
 *             where it stands in the spellings of what was used
 *           Where there is nothing to remember a position is the plain one.
 *           A deny is a plain position itself, in a grammar that the compiler makes of the values
 *           used: all spellings of all of them. It dies as soon as the item differs from each of
 *           them; then nothing is left to watch. It ends exactly where the item is a repetition; a
 *           guarded state that a frame comes back to at such a place is replaced by what it is
 *           `otherwise`, mostly nothing. Names are compared as bytes
 *           (runtime/automaton/seen_names.h).
 * Contrary  Where some two items must be equal (uniqueItems negated) a state is guarded the other
 *           way: a frame that comes back to it with a new item goes on where it `differs`, in
 *           general nowhere. Frames that are stepped without a distinct record go on as if it were
 *           both. Any number of items may follow there, so what was begun can be repeated: no dead
 *           ends.
 * Dead ends A position whose denies are dead, and whose name under way is nobody's beginning, can
 * be completed: what is begun is new, and the compiler saw to it that there
 *           are enough values and names. Otherwise a search looks for one way on
 *           (distinct_search.c).
 * Masks     The mask is the plain one less the tokens that lead nowhere (distinct_mask.c,
 *           distinct_items.c, distinct_names.c): the plain one allows what is allowed to new items
 *           and to repeated ones.
 * Moves     While an object's names are all there is to remember, tokens move the plain position as
 *           they do without a record, and the bytes of those that hold JSON's punctuation are
 *           looked at; only where something begins that must be new, an additional name ends, or
 *           one is under way that can become a repetition and nothing else, frames are stepped byte
 *           by byte.
 * Example   After `["a", "` of unique strings the deny stands in `a"`: candidates `a`, `a"`, `a",`
 *           …: `a` can go on, the others are removed.
 * Merging   Values used are kept in groups of 1, 2, 4 … so that n items make O(log n) denies and
 *           O(n log n) work.
 * Cost      A grammar that guards nothing pays one test. Where nothing is remembered, positions are
 *           as many as before. Names used make positions of their own, shared by all texts that use
 *           the same names in the same order. While an item is watched every text is a position of
 *           its own: some 200 bytes a token.
 * Limits    max_steps bounds the search, max_memory what is kept: TSL_ERR_LIMIT. The shortest
 *           completion ignores repetitions: a lower bound.
 * Tested by tests/position/test_distinct.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_DISTINCT_H
#define TSL_RUNTIME_POSITION_DISTINCT_H

#include "runtime/position/boundary.h"
#include "runtime/position/stacks.h"
#include "runtime/automaton/seen_names.h"

#define TSL__TEXT_PART 32u

/* The last bytes of a text, after those before: TSL__TEXT_PART of them in each part but the
 * last. */
typedef struct tsl__text {
  const uint8_t *at;
  uint32_t before, n;
  uint32_t total; /* bytes, with those before */
} tsl__text;

/* A group of values that were used, and the larger groups. */
typedef struct tsl__used {
  uint32_t next, count;
  const tsl__spelled *texts;
  tsl__state state; /* begins the spellings */
} tsl__used;

/* An open container. */
typedef struct tsl__open {
  uint32_t below, depth; /* depth: open containers, this one included */
  /* of an array: number of its values (used), of an object: of its names (seen); 0: nothing */
  uint32_t used;
  /* of an array's current item, as an offset into the text; NONE: not watched */
  uint32_t start;
  /* 0: an object; or TSL__ARRAY, and what was forgotten of it (tsl__distinct_byte_forget) */
  uint8_t array;
  uint8_t captured;  /* here or below an item is watched */
  uint8_t remembers; /* here or below an item is watched or was used */
  uint8_t expects;   /* an object with names, after a comma: the next string is a name */
} tsl__open;
#define TSL__OPEN_NONE UINT32_MAX
/* its current item, that was watched; one that has ended since, and is used without being known */
enum { TSL__ARRAY = 1, TSL__ARRAY_FORGOT = 2, TSL__ARRAY_LOST = 4 };

typedef struct tsl__deny {
  uint32_t depth; /* of the container */
  tsl__stack at;
} tsl__deny;

typedef struct tsl__distinct {
  uint32_t open;
  /* the name under way without its opening quote: number of a text + 1; 0: none, or one that does
   * not matter; IMPLIED */
  uint32_t name;
  uint8_t in_string, escaped;
  uint32_t n;
  const tsl__deny *denies; /* outermost first */
} tsl__distinct;

static inline const tsl__open *tsl__open_at(const tsl__space *space, uint32_t i) {
  return tsl__space_at_of(space, opens, i, sizeof(tsl__open));
}
static inline const tsl__distinct *tsl__distinct_at(const tsl__space *space, uint32_t i) {
  return tsl__space_at_of(space, distinct, i, sizeof(tsl__distinct));
}

/* the name is known from the frame that spells the names of the schema */
#define TSL__NAME_IMPLIED UINT32_MAX

/* ---- positions with a record; all need the lock, and fail as those of stacks.h do ------------ */

/* After some bytes from a plain position: must something be recorded that the frames do
 * not know? */
bool tsl__distinct_begins(const tsl__space *space, const tsl__stepping *s);
/* `accepted` may be NULL. */
tsl__stack tsl__distinct_bytes(tsl__space *space, tsl__stack from, const uint8_t *bytes, size_t n,
                               size_t *accepted);
/* The position after a token that is spelled, guarded if `from` is a plain one; to 0 if it is
 * rejected. *keep: the move is worth remembering. */
tsl__lead tsl__distinct_token(tsl__space *space, tsl__stack from, tsl_token token, bool *keep);
/* The same where a plain position's frames, *s, have come to where something must be remembered. */
tsl__lead tsl__distinct_begun(tsl__space *space, tsl__stack from, tsl_token token, tsl__stepping *s,
                              bool *keep);
/* What is left of the plain position's mask. */
tsl__mask tsl__distinct_mask(tsl__space *space, tsl__stack at, tsl__mask plain);
bool tsl__distinct_next(tsl__space *space, tsl__stack at, tsl__bytes *out);
/* The position `plain` with the distinct record of `at`. */
tsl__stack tsl__distinct_of(tsl__space *space, tsl__stack plain, tsl__stack at);

/* A position from which a text can go on in the same ways, and which many share: a name under way
 * that is nobody's beginning is forgotten. What comes after may then repeat it. */
tsl__stack tsl__distinct_blank(tsl__space *space, tsl__stack at);

/* The position after a byte, 0 if it is rejected. What is spelled of items under way is forgotten,
 * where it is known that none of them becomes one that was used before; the position that knows of
 * it is not made. What comes after may then repeat them. *forgot: there was something. */
tsl__stack tsl__distinct_byte_forget(tsl__space *space, tsl__stack from, uint8_t byte,
                                     bool *forgot);
/* Does the byte end an item of an array, or begin a container in which others may begin? */
bool tsl__distinct_passes(const tsl__space *space, tsl__stack at, uint8_t byte);

/* Where it is known which values must not be spelled: all spellings of these; 0 on failure. */
tsl__stack tsl__distinct_deny(tsl__space *space, const tsl__spelled *texts, uint32_t n);
/* After the item under way of the array at that depth, as far as it is spelled, and no further than
 * its end: 0: it differs from all of them. */
tsl__stack tsl__distinct_deny_item(tsl__space *space, tsl__stack deny, tsl__stack at,
                                   uint32_t depth);
/* And after more of its bytes, and what may come behind it: is one of them spelled there, or may be
 * yet? */
bool tsl__distinct_denies(tsl__space *space, tsl__stack deny, const uint8_t *bytes, size_t n);

/* Arrays open at more than `depth` containers whose items are watched. */
uint32_t tsl__distinct_watched_within(const tsl__space *space, const tsl__distinct *m,
                                      uint32_t depth);

/* Free what was kept for reuse. */
void tsl__distinct_free(tsl__space *space);
size_t tsl__distinct_kept(const tsl__space *space); /* bytes of that */

/* Without the lock: where a token leads that means nothing to the distinct record; false: not
 * known. */
bool tsl__distinct_find(const tsl__space *space, tsl__stack from, tsl_token token, tsl__stack *to);

/* May the mask of a position be less than that of its frames? Mostly it is plain to see that it is
 * not. */
static inline bool tsl__distinct_narrows(const tsl__space *space, const tsl__stack_rec *r) {
  if (!space->watches || r->has_distinct || space->watches & TSL__NEW_ITEM) return space->watches;
  const tsl__boundary *c = tsl__boundary_known(space);
  return !c || c->named.n;
}

#endif
