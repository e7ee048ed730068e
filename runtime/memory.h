/* memory.h - what was spelled before and must not be spelled again: equal items under uniqueItems.
 *
 * Problem   A grammar of stacks cannot compare. Whether `[1, 1.0` may end here depends on values that were spelled any number of bytes ago, in other
 *           spellings, and objects among them in another order of members.
 * Idea      The grammar says where to look: a state is `guarded` if a frame comes back to it with a value that must be new. JSON itself says
 *           what was spelled: its structure does not depend on which alternatives of the schema are alive. So a position becomes two things: the
 *           plain position of stacks.h, which knows nothing of repetitions, and a memory, which is a function of the text alone:
 *             open      the containers that are open from the outermost array on whose items must be new, innermost first; of each what must not come
 *                       again, and where the current item begins
 *             text      the bytes since the outermost item that is watched began
 *             denies    for each open container whose current item could still become a repetition: where it stands in the spellings of what was used
 *           A deny is a plain position itself, in a grammar that the compiler makes of the values used: all spellings of all of them. It dies as
 *           soon as the item differs from each of them; then nothing is left to watch. It ends exactly where the item is a repetition; a guarded state that a
 *           frame comes back to at such a place is replaced by what it is `otherwise`, mostly nothing.
 * Dead ends A position whose denies are dead can be completed: what is begun is new, and the compiler saw to it that there are enough values. While one is
 *           alive, a search looks for one way on: over bytes, over pairs of plain position and memory, until all denies are dead. Mostly its first byte
 *           already differs. The language of the denies is finite up to spelling, and of the endless spellings of numbers (1.000, 1e00) it tries those
 *           with few zeros in a row only, so it ends; what it found is remembered.
 * Masks     The mask is the plain one less the tokens that lead nowhere. Candidates are those that some deny takes too (its own mask tells) and those
 *           that pass the end of one item and enter the next: they must hold a comma, and in a string a quote before it: bitsets that the vocabulary has. Each
 *           candidate is tried. Without a deny, and in a string, that is a few dozen tokens.
 * Example   After `["a", "` of unique strings the deny stands in `a"`: candidates `a`, `a"`, `a",` …: `a` can go on, the others are taken out.
 * Merging   Values used are kept in groups of 1, 2, 4 … so that n items make O(log n) denies and O(n log n) work.
 * Cost      A grammar that guards nothing pays one test. Where nothing is watched, positions are as many as before. While an item is watched every text is a
 *           position of its own: some 200 bytes a token.
 * Limits    max_steps bounds the search, max_memory what is kept: TSL_ERR_LIMIT. The shortest completion ignores repetitions: a lower bound.
 * Tested by tests/test_memory.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MEMORY_H
#define TSL_RUNTIME_MEMORY_H

#include "runtime/stacks.h"

typedef struct tsl__spelled { /* a value as it was written, white space around it */
  const uint8_t *at;
  uint32_t n;
} tsl__spelled;

/* Some bytes of the text, after those before. */
typedef struct tsl__text {
  const uint8_t *at;
  uint32_t before, n;
  uint32_t total; /* bytes, with those before */
} tsl__text;

/* A group of what was used, and the larger groups. */
typedef struct tsl__used {
  uint32_t next, count;
  const tsl__spelled *texts;
  tsl__state state; /* begins the spellings */
} tsl__used;

/* An open container. */
typedef struct tsl__open {
  uint32_t below, depth; /* depth: open containers, this one included */
  uint32_t used;         /* 0: nothing */
  uint32_t start;        /* of the current item, as an offset into the text; NONE: not watched */
  uint8_t array;
  uint8_t captured;      /* here or below something is watched */
  uint8_t remembers;     /* here or below something is watched or was used */
  uint8_t zero;          /* so that all bytes are told */
} tsl__open;
#define TSL__OPEN_NONE UINT32_MAX

typedef struct tsl__deny {
  uint32_t depth; /* of the container */
  tsl__stack at;
} tsl__deny;

typedef struct tsl__memory {
  uint32_t open;
  uint8_t in_string, escaped;
  uint32_t n;
  const tsl__deny *denies; /* outermost first */
} tsl__memory;

/* What the vocabulary has for all: tokens that may pass from one item into the next. Bitsets of its mask width. */
typedef struct tsl__crossing {
  uint32_t *comma;  /* outside strings: with a comma */
  uint32_t *quoted; /* in a string: with a quote and a comma after it */
  uint32_t *whole;  /* where nothing is remembered: with an opening bracket and a comma after it */
  uint32_t *closed, *closed_quoted; /* the same two in an object: it must be closed before the comma, or an array begun */
  size_t words;
} tsl__crossing;

/* ---- stepping (stacks.c) ---------------------------------------------------------------------------------------------- */

typedef TSL__VEC(tsl__cell) tsl__cells;

/* Where the frames of the next position are gathered, and the frames entered on the way, to see cycles. Inside a token positions stay lists of frames; only
 * the last one is interned. */
typedef struct tsl__stepping {
  tsl__cells landed, from;
  tsl__cells entered;
  uint32_t depth;
  bool watch;                         /* guarded states are looked at */
  bool repeats_before, repeats_after; /* is what ends before (after) this byte a repetition? */
  bool called;                        /* an item began that a guarded state waits for */
} tsl__stepping;

static inline const tsl__cell *tsl__cell_at(const tsl__space *s, uint32_t i) { return tsl__space_at(s, cells, i); }

/* A frame comes back to `state`: where it goes on; 0: nowhere. */
static inline tsl__state tsl__step_admit(const tsl__space *space, const tsl__stepping *s, tsl__state state, bool repeats) {
  if (TSL__LIKELY(!s->watch || !repeats)) return state;
  const tsl__state_rec *r = tsl__state_at(space, state);
  return r->guarded ? r->otherwise : state;
}
/* A frame was called above `below`. */
static inline void tsl__step_note_call(const tsl__space *space, tsl__stepping *s, tsl__stack below) {
  const tsl__stack_rec *r = tsl__stack_at(space, below);
  for (uint32_t i = 0; i < r->n; i++) s->called |= tsl__state_at(space, tsl__cell_at(space, r->cells[i])->state)->guarded;
}

void tsl__step_free(tsl__space *space, tsl__stepping *s);
bool tsl__step_load(tsl__space *space, tsl__stepping *s, tsl__stack at);
bool tsl__step_byte(tsl__space *space, tsl__stepping *s, uint8_t byte);
void tsl__step_land(tsl__space *space, tsl__stepping *s, tsl__state state, uint32_t count, tsl__stack tail);
tsl__stack tsl__step_collect(tsl__space *space, tsl__stepping *s);
bool tsl__move_find(const tsl__space *space, tsl__stack from, uint32_t by, tsl__stack *to);
bool tsl__move_add(tsl__space *space, tsl__stack from, uint32_t by, tsl__stack to);

/* ---- positions with a memory; all need the lock, and fail as those of stacks.h do ---------------------------------------- */

tsl__stack tsl__memory_begin(tsl__space *space, tsl__stack plain);
/* `accepted` may be NULL. */
tsl__stack tsl__memory_bytes(tsl__space *space, tsl__stack from, const uint8_t *bytes, size_t n, size_t *accepted);
tsl__stack tsl__memory_token(tsl__space *space, tsl__stack from, tsl_token token);
tsl__mask tsl__memory_mask(tsl__space *space, tsl__stack at);
bool tsl__memory_next(tsl__space *space, tsl__stack at, tsl__bytes *out);

/* The bitsets of a vocabulary's layer. */
tsl_status tsl__memory_prepare(tsl__space *base);
void tsl__memory_free(tsl__space *space);

#endif
