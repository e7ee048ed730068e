/* search.h - the search of a walk: a state through the trie, byte by byte.
 *
 * A walk has a level: the mask and the leftover being gathered, and the stack of a depth-first
 * search. Calls open a level of their own. Levels are kept for reuse, so a walk allocates nothing
 * once warm.
 *
 * What walk.h calls skip, sweep, letters, together and table is done here, at each node. Below a
 * letter, only those children are looked at that have a byte other than a letter below. Bits by
 * node and byte say which (classes.h); they are made with the vocabulary's tables. From the root,
 * those that hold a quote or a backslash are read along a table of their own (linear_parts.c). What
 * is known from the root without a search is in from_root.c.
 *
 * Where a letter leads back to the state itself, what lies below is entered only if it has a byte
 * that leads elsewhere. Of `[a-z.-]+\.[a-z]{2,6}(/[\w/]*)?` no tree without a dot is entered,
 * though a slash may come later.
 *
 * Tested by tests/engine/test_oracle.c, tests/walk/test_letters.c, tests/walk/test_linear.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_SEARCH_H
#define TSL_RUNTIME_WALK_SEARCH_H

#include "runtime/walk/shared_walks.h"
#include "runtime/walk/fixed.h"
#include "runtime/walk/linear.h"
#include "runtime/walk/walk.h"
#include "runtime/walk/follow.h"
#include "runtime/walk/reference.h"

#define TSL__HINT_MIN 96u /* tokens below a node from which letters are worth a class */
#define TSL__SIEVE_MAX 8u /* bytes other than letters that children are sifted by */

typedef struct tsl__level_entry {
  uint32_t node;
  tsl__state state;
  uint32_t count;
  uint16_t depth;
  /* only letters so far, and what goes on with a quote or a backslash was read already */
  bool quoted;
  const tsl__hint *hint; /* not NULL: only letters so far; their tokens are in the class's mask */
} tsl__level_entry;

/* What marks the children of a node that hold something else than the letters of a hint: bits
 * by node. */
typedef struct tsl__sieve {
  const tsl__hint *of;
  const uint64_t *at[TSL__SIEVE_MAX + 2];
  uint32_t n;
  bool exact;  /* what they mark is none of those letters, not even past ASCII */
  bool quoted; /* quotes and backslashes are not among it */
  bool none;   /* too many */
} tsl__sieve;

/* A call that the search came to at nodes: done over all of them at once, when the search is
 * over. */
typedef struct tsl__late_call {
  tsl__target to, push;
  uint32_t count; /* register of the caller */
  uint32_t met;   /* the last of `late_nodes` where it was met, plus 1 */
} tsl__late_call;

typedef struct tsl__late_node {
  uint32_t node;
  uint32_t before; /* where the same call was met before, plus 1; 0: nowhere */
} tsl__late_node;

#define TSL__VISITS 8u        /* a power of two */
#define TSL__VISITS_OFTEN 24u /* nodes */
#define TSL__WITHIN_MAX 3u /* walks that a level does beside its own, and that are not remembered */

/* What a walk in progress is known by. */
typedef struct tsl__level_key {
  tsl__state state;
  uint32_t context;
  tsl__leftover over;
  /* of what is in progress in the same level: that within which this one is; NULL: this is the
   * level's own */
  const struct tsl__level_key *outer;
} tsl__level_key;

typedef struct tsl__met tsl__met;

typedef struct tsl__level {
  tsl__gather gather;
  tsl__words left;
  tsl__leftover only; /* not 0: as long as `left` has only_count nodes, it is that set */
  uint32_t only_count;
  TSL__VEC(tsl__level_entry) stack, together; /* together: of one node, being read on */
  TSL__VEC(tsl__late_call) late;
  TSL__VEC(tsl__late_node) late_nodes;
  size_t late_from; /* the first call of the search under way */
  tsl__fixed_walk fixed;
  tsl__linear_asides aside;
  tsl__reference reference;
  tsl__sieve sieve;
  uint32_t *marks; /* tokens gathered by linear.h; NULL: none yet */
  bool whole, last;
  bool graph;          /* a graph was made of what letters do to the state (subtract.c) */
  uint32_t reach, top; /* deepest node entered; highest register there */
  bool counted;        /* `top` is of all paths */
  /* how many were done in it that are not the level's own (tsl__walk_within) */
  uint32_t within;
  tsl__met *met;       /* where the search was, over a large set; NULL: that is not noted */
  tsl__state calls_of; /* not 0: a state with calls, and what these may begin with */
  tsl__bytes begins;
  /* states in which the frame might have been left, and how often; see tsl__level_visits_often */
  struct {
    tsl__state state;
    uint32_t times;
  } visits[TSL__VISITS];
  tsl__state loops_of; /* not 0: a state, and the bytes that lead back to it */
  tsl__bytes loops;
  tsl__after *after; /* what follows the frame; NULL: nothing, or it is not known */
  /* not 0: the number of that, and what it does not begin with is not left over */
  uint32_t follow;
  tsl__level_key key; /* of the walk in progress */
} tsl__level;

struct tsl__scratch {
  TSL__VEC(tsl__level *) levels;
};

/* The next level, empty; the caller closes it by putting space->walking.depth back. NULL on failure
 * (sticky), as with all of these. */
tsl__level *tsl__level_open(tsl__space *space);
/* What runs past the end of the frame: what lies below a node, or a leftover. */
void tsl__level_leave_node(tsl__space *space, tsl__level *l, uint32_t node);
void tsl__level_leave_over(tsl__space *space, tsl__level *l, tsl__leftover over);
/* What was left over so far, as a leftover. */
tsl__leftover tsl__level_left(tsl__space *space, tsl__level *l);
/* Make room for marks. */
bool tsl__level_bits(tsl__space *space, tsl__level *l);
/* Gather a mask without some tokens, which are sorted here: they are listed if they are few. */
bool tsl__level_but(tsl__space *space, tsl__level *l, tsl__mask mask, tsl_token *tokens, size_t n);
/* What was gathered so far, as a mask; the level is ready for more. */
tsl__mask tsl__level_mask(tsl__space *space, tsl__level *l);
void tsl__level_push(tsl__space *space, tsl__level *l, tsl__level_entry e);

/* Is it known what follows the frame? Then what that does not begin with is not left over from now
 * on. */
bool tsl__level_heed(tsl__space *space, tsl__level *l);

/* A walk before fewer bytes, from that before more: of `w`; or of one that is known, NULL: none is.
 * NULL on failure, too (sticky). It is remembered. */
const tsl__walk *tsl__narrowed_to(tsl__space *space, const tsl__walk *w, uint32_t number);
const tsl__walk *tsl__narrowed_find(tsl__space *space, tsl__state state, uint32_t context,
                                    tsl__leftover over, uint32_t number);
/* A walk that was remembered with what follows: others may be narrowed from it. */
void tsl__narrowed_note(tsl__space *space, const tsl__walk *w);

/* The tokens that an edge names: only a grammar that names a special token lets it through. Tokens
 * that end the generation never come this way. */
void tsl__level_token_edge(tsl__space *space, tsl__level *l, const tsl__token_edge *e);

/* A note of where the search was; NULL: out of memory (sticky). */
tsl__met *tsl__met_new(tsl__space *space);
void tsl__met_free(tsl__space *space, tsl__met *m);
/* Was the search at this place before? It is noted, where no register says more. */
bool tsl__met_before(tsl__met *m, tsl__state state, uint32_t count, uint32_t node);

static inline void tsl__level_reach(tsl__level *l, uint32_t depth, uint32_t count) {
  if (depth > l->reach) l->reach = depth;
  if (count > l->top) l->top = count;
}

/* Was a state met at many nodes where the frame may end? */
static inline bool tsl__level_visits_often(tsl__level *l, tsl__state state) {
  uint32_t i = state & (TSL__VISITS - 1);
  if (l->visits[i].state != state) l->visits[i].state = state, l->visits[i].times = 0;
  return ++l->visits[i].times > TSL__VISITS_OFTEN;
}

/* Few tokens, at once. */
static inline void tsl__level_tokens(tsl__space *space, tsl__level *l, const tsl_token *tokens,
                                     uint32_t n) {
  if (!tsl__vec_reserve(&space->alloc, &l->gather.plus, n)) {
    tsl__space_no_memory(space);
    return;
  }
  for (uint32_t k = 0; k < n; k++) l->gather.plus.at[l->gather.plus.n + k] = tokens[k];
  l->gather.plus.n += n;
}

/* A frame that a walk comes to, over what is left there, is gathered in the level of that walk.
 * What it leaves over the walk leaves; but if it was called, by `caller` (else both are NULL), that
 * is in *left then. */
void tsl__walk_within(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                      tsl__leftover over, tsl__leftover *left, tsl__caller *caller);

/* A call at a place: the called frame over what is left there, then this frame again over what that
 * leaves. False: nothing is left, it does not matter where the frame would go on. */
bool tsl__search_call(tsl__space *space, tsl__level *l, const tsl__state_rec *r, const tsl__edge *e,
                      uint32_t count, tsl__leftover over);
/* The calls of a state at a node: put off, but for calls at the root and of names. */
void tsl__search_call_at(tsl__space *space, tsl__level *l, const tsl__state_rec *r, uint32_t count,
                         uint32_t node);
/* The calls that the search under way put off: each over all nodes where it was met. */
void tsl__search_late_calls(tsl__space *space, tsl__level *l);
static inline void tsl__search_late(tsl__space *space, tsl__level *l) {
  if (TSL__UNLIKELY(l->late.n > l->late_from)) tsl__search_late_calls(space, l);
}
/* Follow what was pushed above `floor`. */
void tsl__search_on(tsl__space *space, tsl__level *l, size_t floor);
/* Of what a state reads from the root: those bytes of which it is known without a search, their
 * trees are gathered. */
tsl__bytes tsl__from_root(tsl__space *space, tsl__level *l, const tsl__level_entry *e,
                          const tsl__state_rec *r);
/* Where a letter leads from a state that lives on far fewer bytes, if any text may follow and the
 * walk of that is known. 0: it is not so. Of neither a register matters. */
tsl__state tsl__leads_to_text(tsl__space *space, const tsl__state_rec *r);
/* What is below a node along a table; what that sets aside is searched. */
void tsl__search_linear(tsl__space *space, tsl__level *l, const tsl__linear *t,
                        const tsl__linear_from *from);
/* The table, if a state that may end or call should be read along it below a node. What the reading
 * stops at is looked at afterwards (stops.c). Else NULL. */
const tsl__linear *tsl__stops_table(const tsl__space *space, const tsl__level *l,
                                    const tsl__level_entry *e, const tsl__state_rec *r);
void tsl__search_stops(tsl__space *space, tsl__level *l, const tsl__linear *t,
                       const tsl__level_entry *e);
/* What a frame does where it stops, before it reads on. */
void tsl__search_stop(tsl__space *space, tsl__level *l, const tsl__linear_stop *stop);
/* A node with children, reached by a byte that is not (only) a letter. */
void tsl__search_below(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                       uint32_t node, uint32_t depth);
/* From a node, nothing of it read yet. */
void tsl__search_node(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                      uint32_t node);
/* A child's own tokens are gathered, and it is pushed if there is more below. */
void tsl__search_enter(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                       uint32_t child, uint32_t depth);
/* From a set of nodes, merged byte by byte. */
void tsl__search_set(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                     tsl__leftover set);
/* From the root along a table of quotes, among some letters: those of `hint`, whose class is
 * gathered, or NULL. False on failure (sticky); what it pushed is to be followed. */
bool tsl__search_quoted(tsl__space *space, tsl__level *l, const tsl__linear *quoted,
                        const tsl__linear_from *from, const tsl__bytes *letters,
                        const tsl__hint *hint);
/* The hint whose letters can be used below this node; NULL: none. A counted class only from the
 * root of a walk, where the caller takes care of the limit. */
const tsl__hint *tsl__search_letters(tsl__space *space, tsl__level *l, const tsl__state_rec *r,
                                     uint32_t node);
/* Characters over which a state is as `like`. */
uint32_t tsl__like_limit(const tsl__space *space, tsl__state state, uint32_t count,
                         const tsl__hint *h);

#endif
