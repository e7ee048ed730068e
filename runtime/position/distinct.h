/* distinct.h - items and names that must differ from earlier ones, or must be equal to one: items
 * under uniqueItems, and the names of an object.
 *
 * Problem   A grammar of stacks cannot compare. May `[1, 1.0` end here? May `{"a":1,"a"` go on? The
 *           answer depends on what was written any number of bytes ago. The earlier value may have
 *           another spelling, and an object another order of members.
 * Idea      The grammar says where to look. A state is `guarded` if a call returns to it with
 *           something that must be new: a value, or the name of an additional member. What was
 *           spelled can be read from the JSON text itself, whichever alternatives of the schema are
 *           still possible. So a position has two parts. One is the plain position of stacks.h,
 *           which knows nothing of repetitions. The other is a distinct record, a function of the
 *           text alone.
 * Record    open    the open containers, innermost first, from the outermost one that matters. Each
 *                   has its used values or its seen names, and where its current item begins.
 *           name    the name under way, in an object where names matter. While the name may still
 *                   become one that the schema knows, the frame for these names keeps track of it
 *                   (runtime/walk/names.h), and nothing is recorded. The grammar itself allows a
 *                   name of the schema only once, so such a name is not added to the seen names.
 *           text    the bytes since the outermost watched item began
 *           denies  one for each open container whose current item may still become a repetition
 *           Where nothing is to be recorded, the position is the plain one.
 * Denies    A deny is a plain position in a grammar of all spellings of the used values
 *           (distinct_deny.c). The deny dies as soon as the item differs from each of them. The
 *           deny is at its end exactly where the item is a repetition. There a frame that comes
 *           back to a guarded state goes on in that state's `otherwise`. That is mostly the dead
 *           state. Names need no deny: they are decoded and compared as bytes
 *           (runtime/automaton/seen_names.h).
 * Contrary  Where two items must be equal (uniqueItems negated) a state is guarded the other way
 *           (TSL__SAME_ITEM). A frame that comes back with a new item goes on where it `differs`.
 *           Frames that step without a record go on in both ways: as if the item were new, and as
 *           if it were repeated. Any number of items may follow there, so what was begun can be
 *           repeated, and there are no dead ends.
 * Dead ends A position can be completed if its denies are dead and no seen name begins
 *           with the name under way. Then the item or name under way is new, and the compiler has
 *           made sure that there are enough values and names. Otherwise a search looks for one text
 *           to the end (distinct_search.c).
 * Masks     The mask is the plain one minus the tokens that lead nowhere (distinct_mask.c,
 *           distinct_items.c, distinct_names.c). The plain mask has what new items allow and what
 *           repeated items allow.
 * Moves     Where only an object's names are recorded, tokens move the plain position as if there
 *           were no record. If a token has punctuation of JSON, its bytes are looked at. Frames are
 *           stepped byte by byte in three cases. Something begins that must be new, an additional
 *           name ends, or the name under way can become nothing but a repetition.
 * Example   After `["a", "` of unique strings the deny has read `"`, the first byte of `"a"`. The
 *           token `b` kills the deny and is allowed. The token `a` moves it, and is allowed, since
 *           `ab` is new. The tokens `a"` and `a",` bring the deny to its end, and are removed.
 * Groups    Used values are kept in groups of 1, 2, 4 ... so n items make O(log n) denies and
 *           O(n log n) work.
 * Cost      A grammar that guards nothing pays one test. Where nothing is recorded, there are as
 *           many positions as before. All texts with the same names in the same order share
 *           positions. While an item is watched every text is a position of its own: some 200 bytes
 *           a token.
 * Limits    max_steps bounds the search, max_memory the records: TSL_ERR_LIMIT. The shortest
 *           completion ignores repetitions: it is a lower bound.
 * Tested by tests/position/test_distinct.c, tests/position/test_distinct_names.c,
 *           tests/position/test_distinct_tokens.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_DISTINCT_H
#define TSL_RUNTIME_POSITION_DISTINCT_H

#include "runtime/position/boundary.h"
#include "runtime/position/stacks.h"
#include "runtime/automaton/seen_names.h"

#define TSL__TEXT_PART 32u

/* A part of a text, and the number of the parts before it. Each part but the last has
 * TSL__TEXT_PART bytes. */
typedef struct tsl__text {
  const uint8_t *at;
  uint32_t before, n;
  uint32_t total; /* bytes, with those of the parts before */
} tsl__text;

/* A group of values that were used, and the larger groups. */
typedef struct tsl__used {
  uint32_t next, count;
  const tsl__spelled *texts;
  tsl__state state; /* begins their spellings, in the space for spellings (tsl__deny_enter) */
} tsl__used;

/* An open container. */
typedef struct tsl__open {
  uint32_t below, depth; /* depth: open containers, this one included */
  /* the number of the used values of an array, or of the seen names of an object; 0: none */
  uint32_t used;
  /* where an array's current item begins, as an offset into the text; NONE: it is not watched */
  uint32_t start;
  /* 0: an object; or TSL__ARRAY, and what was forgotten of it (tsl__distinct_byte_forget) */
  uint8_t array;
  uint8_t captured;  /* here or below an item is watched */
  uint8_t remembers; /* here or below an item is watched or was used */
  uint8_t expects;   /* an object with names, after a comma: the next string is a name */
} tsl__open;
#define TSL__OPEN_NONE UINT32_MAX
/* FORGOT: the current item, which was watched. LOST: an item that has ended, so a used value is not
 * known */
enum { TSL__ARRAY = 1, TSL__ARRAY_FORGOT = 2, TSL__ARRAY_LOST = 4 };

typedef struct tsl__deny {
  uint32_t depth; /* of the container */
  tsl__stack at;  /* in the space of spellings */
} tsl__deny;

typedef struct tsl__distinct {
  uint32_t open;
  /* the name under way without its opening quote: number of a text + 1; TSL__NAME_IMPLIED; 0: none
   * that matters */
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

/* the frame that spells the names of the schema knows the name under way */
#define TSL__NAME_IMPLIED UINT32_MAX

/* ---- positions with a record; all need the lock, and fail as those of stacks.h do ------------ */

/* After some bytes from a plain position: has an item or name begun that must be recorded? */
bool tsl__distinct_begins(const tsl__space *space, const tsl__stepping *s);
/* `accepted` may be NULL. */
tsl__stack tsl__distinct_bytes(tsl__space *space, tsl__stack from, const uint8_t *bytes, size_t n,
                               size_t *accepted);
/* The position after a token that is spelled, guarded if `from` is a plain one; to 0 if it is
 * rejected. *keep: the move is worth remembering. */
tsl__lead tsl__distinct_token(tsl__space *space, tsl__stack from, tsl_token token, bool *keep);
/* The same where the frames of a plain position, *s, have read the token, and something must be
 * recorded. */
tsl__lead tsl__distinct_begun(tsl__space *space, tsl__stack from, tsl_token token, tsl__stepping *s,
                              bool *keep);
/* The mask of the plain position, without the tokens that lead nowhere. */
tsl__mask tsl__distinct_mask(tsl__space *space, tsl__stack at, tsl__mask plain);
bool tsl__distinct_next(tsl__space *space, tsl__stack at, tsl__bytes *out);
/* The position `plain` with the distinct record of `at`. */
tsl__stack tsl__distinct_of(tsl__space *space, tsl__stack plain, tsl__stack at);

/* The position without a name under way that can no longer become a seen name. Texts go on in the
 * same ways from there, and many positions share that one. But a later name may then repeat the
 * forgotten one. */
tsl__stack tsl__distinct_blank(tsl__space *space, tsl__stack at);

/* The position after a byte, 0 if it is rejected. Items under way are forgotten if none of them can
 * become a used one. No position that knows them is made. But a later item may then repeat a
 * forgotten one. *forgot: an item was forgotten. */
tsl__stack tsl__distinct_byte_forget(tsl__space *space, tsl__stack from, uint8_t byte,
                                     bool *forgot);
/* Does the byte end an item of an array, or begin a container in which others may begin? */
bool tsl__distinct_passes(const tsl__space *space, tsl__stack at, uint8_t byte);

/* A deny of these values: a position before all their spellings; 0 on failure. */
tsl__stack tsl__distinct_deny(tsl__space *space, const tsl__spelled *texts, uint32_t n);
/* The bytes that may come next in a deny; false on failure (sticky). */
bool tsl__distinct_deny_next(tsl__space *space, tsl__stack deny, tsl__bytes *out);
/* The deny after it has read the item under way of the array at that depth, up to the item's end.
 * 0: the item differs from all values of the deny. */
tsl__stack tsl__distinct_deny_item(tsl__space *space, tsl__stack deny, tsl__stack at,
                                   uint32_t depth);
/* After more bytes, of the item and perhaps behind it: was a value of the deny spelled, or may it
 * still be? */
bool tsl__distinct_denies(tsl__space *space, tsl__stack deny, const uint8_t *bytes, size_t n);

/* The number of open arrays, deeper than `depth`, whose items are watched. */
uint32_t tsl__distinct_watched_within(const tsl__space *space, const tsl__distinct *m,
                                      uint32_t depth);

/* Free what was kept for reuse. */
void tsl__distinct_free(tsl__space *space);
size_t tsl__distinct_kept(const tsl__space *space); /* bytes that are kept for reuse */

/* Where a token leads that does not change the distinct record; false: not known. Without the
 * lock. */
bool tsl__distinct_find(const tsl__space *space, tsl__stack from, tsl_token token, tsl__stack *to);

/* May the mask of a position lack tokens that its frames allow? False where it is certain that it
 * does not. */
static inline bool tsl__distinct_narrows(const tsl__space *space, const tsl__stack_rec *r) {
  if (!space->positions.watches || r->has_distinct || space->positions.watches & TSL__NEW_ITEM)
    return space->positions.watches;
  const tsl__boundary *c = tsl__boundary_known(space);
  return !c || c->named.n;
}

#endif
