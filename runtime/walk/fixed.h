/* fixed.h - fixed texts spelled as the rest of a JSON string: names of members, values of an enum.
 *
 * Problem   A set of texts has a state for each of their characters, and four more for the
 *           beginnings of \u escapes. A walk would read most of them, but a text uses few.
 * Idea      Such a state names the texts that are still possible: a range of a sorted table, whose
 *           texts agree in the bytes read so far. Trie and table are walked side by side, without
 *           states. A token is read along the table. A state is made only where the token ends.
 * Example   {"name", "none"} after `n`: the trie's nodes a, am, ame and o, on, one are reached.
 *           `e"` ends the first text at the node below ame.
 * Others    "Any text but these" (names of further members) works the same way: there the table has
 *           the excluded texts.
 * Escapes   Those of ASCII characters are followed here. Where a character past ASCII might be
 *           spelled as an escape, the states take over.
 * Tested by tests/engine/test_oracle.c, tests/expr/test_expr.c, tests/engine/test_shipped.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_FIXED_H
#define TSL_RUNTIME_WALK_FIXED_H

#include "runtime/automaton/leftover.h"
#include "runtime/automaton/state.h"

/* The texts that are still possible in a state between two characters, or that are excluded. */
typedef struct tsl__fixed {
  const tsl__string *texts; /* sorted, without doubles; UTF-8 */
  /* texts [lo, hi), which agree in the first `depth` bytes; these have been read */
  uint32_t lo, hi, depth;
  bool others; /* any text but these */
  bool plain;  /* escapes are those of plain strings (tsl__escapes_plainly) */
} tsl__fixed;

/* A node of the trie that is reached within texts [lo, hi): its tokens are legal if one of these
 * may come. */
typedef struct tsl__fixed_node {
  uint32_t node, lo, hi;
} tsl__fixed_node;
/* A node where a text and its closing quote are spelled in full. */
typedef struct tsl__fixed_end {
  uint32_t node, text;
} tsl__fixed_end;
/* A node from which the states must go on. */
typedef struct tsl__fixed_rest {
  uint32_t node;
  tsl__state state;
} tsl__fixed_rest;

typedef struct tsl__fixed_place tsl__fixed_place;
/* A walk's result, and the places it has reached. Zeroed before the first use; kept for reuse. */
typedef struct tsl__fixed_walk {
  TSL__VEC(tsl__fixed_node) reached; /* those of `ends` too */
  TSL__VEC(tsl__fixed_end) ends;
  TSL__VEC(tsl__fixed_rest) rests;
  TSL__VEC(tsl__fixed_place) places;
  bool ends_only;
  bool past_ascii; /* some character past ASCII might be spelled as an escape */
} tsl__fixed_walk;

/* Does a state spell fixed texts, no others? Or all but these? */
static inline bool tsl__is_fixed(const tsl__state_rec *r) {
  return tsl__state_fixed(r) && !tsl__state_fixed(r)->others;
}
static inline bool tsl__is_others(const tsl__state_rec *r) {
  return tsl__state_fixed(r) && tsl__state_fixed(r)->others;
}

/* Walk from such a state, at a node. Adds to *out. false on failure (sticky). Needs the lock. */
bool tsl__fixed_over(tsl__space *space, const tsl__state_rec *from, uint32_t node,
                     tsl__fixed_walk *out);
/* The same for the ends of texts: nothing is added to `reached`, and only nodes with a quote below
 * are visited. Excluded texts have no states: a rest of theirs has state 0. */
bool tsl__fixed_ends(tsl__space *space, const tsl__state_rec *from, uint32_t node,
                     tsl__fixed_walk *out);
/* Is it certain that no text ends within a token of a leftover? *scratch is overwritten. */
bool tsl__fixed_goes_on(tsl__space *space, const tsl__state_rec *from, tsl__leftover over,
                        tsl__fixed_walk *scratch);
void tsl__fixed_walk_free(tsl__space *space, tsl__fixed_walk *w);
size_t tsl__fixed_walk_memory(const tsl__fixed_walk *w); /* bytes of its lists */

/* The texts that are still possible: [lo, hi), `depth` bytes of which were read. */
typedef struct tsl__fixed_range {
  uint32_t lo, hi, depth;
} tsl__fixed_range;
/* Raw ASCII characters to be read along such texts. */
typedef struct tsl__fixed_run {
  const uint8_t *at;
  size_t n;
  bool ends; /* the closing quote comes after them */
  /* the texts in which the run was looked for last; NULL: in none yet. An object's frames of names,
   * and of all other names, have the same texts */
  const tsl__string *texts;
  tsl__fixed_range from, to; /* where that look-up began and ended */
} tsl__fixed_run;

/* Is it a raw ASCII character of a string? And how many of n bytes are? */
static inline bool tsl__fixed_is_raw(uint8_t byte) { return byte < 0x80 && tsl__stands_raw(byte); }
size_t tsl__fixed_raw(const uint8_t *bytes, size_t n);
/* Where a state with `fixed` gets by the run; false: nowhere. If the run ends a text, it is the
 * first of the range. */
bool tsl__fixed_find(const tsl__state_rec *from, tsl__fixed_run *run, tsl__fixed_range *out);
/* The state there; 0 on failure (sticky). Needs the lock. */
tsl__state tsl__fixed_state(tsl__space *space, const tsl__state_rec *from,
                            const tsl__fixed_range *at);

#endif
