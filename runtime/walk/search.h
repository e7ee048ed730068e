/* search.h - the search of a walk: a state through the trie, byte by byte.
 *
 * A walk has a level: the mask and the leftover being gathered, and the stack of a depth-first
 * search. Calls open levels of their own. Levels are kept for reuse, so later walks allocate
 * nothing.
 *
 * walk.h explains skip, sweep, letters, together and table. All are done here, at each node. Below
 * a letter, the search enters only children that hold a byte that is no letter, as their own byte
 * or below it. The vocabulary has a bit for each node and byte that says so (classes.h). The bits
 * of the bytes that a state reads besides letters are its sieve. From the root, nodes with a quote
 * or a backslash below are read along a table of their own (linear_parts.c). What is known from the
 * root without a search is in from_root.c.
 *
 * Where a letter leads back to the state itself, its subtree is entered only if it has a byte that
 * leads elsewhere. For `[a-z.-]+\.[a-z]{2,6}(/[\w/]*)?` no subtree without a dot is entered, though
 * a slash may come later.
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

#define TSL__HINT_MIN 96u /* with so many tokens below a node, letters are worth a class */
#define TSL__SIEVE_MAX 8u /* the most bytes of a sieve */

#define TSL__FROM_NOWHERE 255u

typedef struct tsl__level_entry {
  uint32_t node;
  tsl__state state;
  uint32_t count;
  uint16_t depth;
  /* only letters so far, and all with a quote or a backslash next was read already */
  bool quoted;
  /* the depth from which letters are read, if it is known that no more than the hint's limit may
   * come; TSL__FROM_NOWHERE: it is not */
  uint8_t from;
  const tsl__hint *hint; /* not NULL: only letters so far; their tokens are in the class's mask */
} tsl__level_entry;

/* The depth down to which a hint's letters may be read. */
static inline uint32_t tsl__letters_to(const tsl__hint *h, uint8_t from) {
  return from == TSL__FROM_NOWHERE ? h->limit : h->limit + from;
}

/* May so many letters of a counted class come as the tokens below a node of this height have?
 * `count`: the register. */
static inline bool tsl__letters_have_room(const tsl__state_rec *r, const tsl__hint *h,
                                          uint32_t count, uint32_t height) {
  if (!(r->flags & TSL__STATE_LOOP)) return h->limit >= height;
  return r->loop_max == TSL__COUNT_INF || r->loop_max - count >= height;
}

/* Bits by node that mark children with bytes other than the letters of a hint. */
typedef struct tsl__sieve {
  const tsl__hint *of;
  const uint64_t *at[TSL__SIEVE_MAX + 2];
  uint32_t n;
  bool exact;  /* no letter is marked, not even one past ASCII */
  bool quoted; /* quotes and backslashes are left out */
  bool none;   /* there are too many such bytes */
} tsl__sieve;

/* A call that the search met at some nodes. It is made once over all of them, after the search. */
typedef struct tsl__late_call {
  tsl__target to, push;
  uint32_t count; /* register of the caller */
  uint32_t met;   /* the last of its `late_nodes`, plus 1 */
} tsl__late_call;

typedef struct tsl__late_node {
  uint32_t node;
  uint32_t before; /* the one of the same call before, plus 1; 0: none */
} tsl__late_node;

#define TSL__VISITS 8u        /* a power of two */
#define TSL__VISITS_OFTEN 24u /* nodes */
#define TSL__WITHIN_MAX 3u    /* small walks that a level does within its own */

/* What identifies a walk in progress. */
typedef struct tsl__level_key {
  tsl__state state;
  uint32_t context;
  tsl__leftover over;
  /* the walk of the same level within which this small walk is done; NULL: this is the level's own
   * walk */
  const struct tsl__level_key *outer;
} tsl__level_key;

typedef struct tsl__met tsl__met;

typedef struct tsl__level {
  tsl__gather gather;
  tsl__words left;
  tsl__leftover only; /* not 0: this leftover equals `left`, while that has only_count nodes */
  uint32_t only_count;
  TSL__VEC(tsl__level_entry) stack, together; /* together: the entries of one node */
  TSL__VEC(tsl__late_call) late;
  TSL__VEC(tsl__late_node) late_nodes;
  size_t late_from; /* the first call of the search under way */
  tsl__fixed_walk fixed;
  tsl__linear_asides aside;
  tsl__reference reference;
  tsl__sieve sieve;
  uint32_t *marks; /* tokens gathered by linear.h; NULL: none yet */
  bool whole, last;
  bool graph;          /* the graph of the state was made (subtract.c) */
  uint32_t reach, top; /* deepest node entered; highest register there */
  bool counted;        /* `top` is of all paths */
  /* how many small walks were done within its own (tsl__walk_within) */
  uint32_t within;
  tsl__met *met;       /* where the search was, over a large leftover; NULL: not noted */
  tsl__state calls_of; /* not 0: a state with calls; `begins`: their first bytes */
  tsl__bytes begins;
  /* states in which the frame might have been left, and how often; see tsl__level_visits_often */
  struct {
    tsl__state state;
    uint32_t times;
  } visits[TSL__VISITS];
  tsl__state loops_of; /* not 0: a state; `loops`: the bytes that lead back to it */
  tsl__bytes loops;
  tsl__after *after; /* what follows the frame; NULL: nothing, or it is not known */
  /* not 0: the number of `after`. Only nodes with which it may begin are left over */
  uint32_t follow;
  tsl__level_key key; /* of the walk in progress */
} tsl__level;

struct tsl__scratch {
  TSL__VEC(tsl__level *) levels;
};

/* The next level, empty; the caller closes it by putting space->walking.depth back. NULL on failure
 * (sticky); the other functions that return pointers do the same. */
tsl__level *tsl__level_open(tsl__space *space);
/* Leave over what runs past the end of the frame: the tokens below a node, or a leftover. */
void tsl__level_leave_node(tsl__space *space, tsl__level *l, uint32_t node);
void tsl__level_leave_over(tsl__space *space, tsl__level *l, tsl__leftover over);
/* What was left over so far, as a leftover. */
tsl__leftover tsl__level_left(tsl__space *space, tsl__level *l);
/* Make room for marks. */
bool tsl__level_bits(tsl__space *space, tsl__level *l);
/* Gather a mask without some tokens. Sorts the tokens; a few of them are listed in the mask. */
bool tsl__level_but(tsl__space *space, tsl__level *l, tsl__mask mask, tsl_token *tokens, size_t n);
/* What was gathered so far, as a mask; the level is ready for more. */
tsl__mask tsl__level_mask(tsl__space *space, tsl__level *l);
void tsl__level_push(tsl__space *space, tsl__level *l, tsl__level_entry e);

/* If it is known what follows the frame: leave over only nodes with which that may begin, from now
 * on. Is it known? */
bool tsl__level_heed(tsl__space *space, tsl__level *l);

/* A walk before fewer bytes, made from a walk before more, and remembered. tsl__narrowed_to makes
 * it from `w`; tsl__narrowed_find from a walk that it finds, NULL: there is none. NULL on failure,
 * too (sticky). */
const tsl__walk *tsl__narrowed_to(tsl__space *space, const tsl__walk *w, uint32_t number);
const tsl__walk *tsl__narrowed_find(tsl__space *space, tsl__state state, uint32_t context,
                                    tsl__leftover over, uint32_t number);
/* Note a walk that is remembered with what follows, so that others can be narrowed from it. */
void tsl__narrowed_note(tsl__space *space, const tsl__walk *w);

/* Gather the tokens that an edge names. Special tokens are allowed only by such an edge.
 * End-of-generation tokens are never among them. */
void tsl__level_token_edge(tsl__space *space, tsl__level *l, const tsl__token_edge *e);

/* A note of where the search was; NULL: out of memory (sticky). */
tsl__met *tsl__met_new(tsl__space *space);
void tsl__met_free(tsl__space *space, tsl__met *m);
/* Was the search at this place before? Notes the place, unless the state has a register. */
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

/* Gather a few tokens. */
static inline void tsl__level_tokens(tsl__space *space, tsl__level *l, const tsl_token *tokens,
                                     uint32_t n) {
  if (!tsl__vec_reserve(&space->alloc, &l->gather.plus, n)) {
    tsl__space_no_memory(space);
    return;
  }
  for (uint32_t k = 0; k < n; k++) l->gather.plus.at[l->gather.plus.n + k] = tokens[k];
  l->gather.plus.n += n;
}

/* Walk a frame over a leftover, and gather it in the level of the walk that needs it. If `caller`
 * called the frame, its leftover is returned in *left. Otherwise both pointers are NULL, and its
 * leftover becomes part of that of the level. */
void tsl__walk_within(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                      tsl__leftover over, tsl__leftover *left, tsl__caller *caller);

/* Make a call: walk the called frame over a leftover, then this frame over the leftover of the
 * called one. False: the called frame leaves nothing, so it does not matter where this frame would
 * go on. */
bool tsl__search_call(tsl__space *space, tsl__level *l, const tsl__state_rec *r, const tsl__edge *e,
                      uint32_t count, tsl__leftover over);
/* The calls of a state at a node: postponed, except calls at the root and calls of names. */
void tsl__search_call_at(tsl__space *space, tsl__level *l, const tsl__state_rec *r, uint32_t count,
                         uint32_t node);
/* Make the postponed calls of the search under way, each over all nodes where it was met. */
void tsl__search_late_calls(tsl__space *space, tsl__level *l);
static inline void tsl__search_late(tsl__space *space, tsl__level *l) {
  if (TSL__UNLIKELY(l->late.n > l->late_from)) tsl__search_late_calls(space, l);
}
/* Search from all entries of the stack above `floor`. */
void tsl__search_on(tsl__space *space, tsl__level *l, size_t floor);
/* Gather the subtrees of the root that are known without a search. Returns their bytes. */
tsl__bytes tsl__from_root(tsl__space *space, tsl__level *l, const tsl__level_entry *e,
                          const tsl__state_rec *r);
/* The state to which letters lead, if any text may follow there, its walk is known, and the state
 * itself lives on far fewer bytes. 0: it is not so. No register matters in either state. */
tsl__state tsl__leads_to_text(tsl__space *space, const tsl__state_rec *r);
/* Read the nodes below a node along a table, and search what the table sets aside. */
void tsl__search_linear(tsl__space *space, tsl__level *l, const tsl__linear *t,
                        const tsl__linear_from *from);
/* The table, if a state that may end or call should be read along it below a node. The places where
 * the frame stops are handled afterwards (stops.c). Else NULL. */
const tsl__linear *tsl__stops_table(const tsl__space *space, const tsl__level *l,
                                    const tsl__level_entry *e, const tsl__state_rec *r);
void tsl__search_stops(tsl__space *space, tsl__level *l, const tsl__linear *t,
                       const tsl__level_entry *e);
/* End the frame or make its calls at a place where it stops. */
void tsl__search_stop(tsl__space *space, tsl__level *l, const tsl__linear_stop *stop);
/* Search below a node with children, reached by a byte that is not (only) a letter. */
void tsl__search_below(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                       uint32_t node, uint32_t depth);
/* Search from a node, of which nothing below was read. */
void tsl__search_node(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                      uint32_t node);
/* Gather a child's own tokens, and push the child if there is more below. */
void tsl__search_enter(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                       uint32_t child, uint32_t depth);
/* Search over a set of nodes, merged byte by byte. */
void tsl__search_set(tsl__space *space, tsl__level *l, tsl__state state, uint32_t count,
                     tsl__leftover set);
/* Read from the root along a table of quotes, among some letters. They are those of `hint`, whose
 * class is gathered already, or `hint` is NULL. The caller searches what was pushed. False on
 * failure (sticky). */
bool tsl__search_quoted(tsl__space *space, tsl__level *l, const tsl__linear *quoted,
                        const tsl__linear_from *from, const tsl__bytes *letters,
                        const tsl__hint *hint);
/* From which depth on are the letters of a hint read at a node, if no more of them than its limit
 * may come? Known at the root, and below it where a byte is a character. (level.c) */
uint8_t tsl__letters_from(const tsl__space *space, const tsl__level *l, const tsl__hint *h,
                          uint32_t node);
/* The hint whose letters can be used below this node; NULL: none. Those of a counted class only
 * where no token reaches its limit, and not at the root, where walk.c applies the limit. `count`:
 * the register. */
const tsl__hint *tsl__search_letters(tsl__space *space, tsl__level *l, const tsl__state_rec *r,
                                     uint32_t count, uint32_t node);
/* The number of characters up to which a state behaves as `like`. */
uint32_t tsl__like_limit(const tsl__space *space, tsl__state state, uint32_t count,
                         const tsl__hint *h);

#endif
