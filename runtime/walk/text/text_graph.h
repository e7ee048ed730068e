/* text_graph.h - where texts of letters lead from a state: a small graph, for subtract.c.
 *
 * Problem   Which tokens of letters does a state deny? To try them all is to read the whole trie.
 * Idea      Follow the state by all letters at once, not by tokens. The states that letters lead to
 *           are few (a word under way, a count), and so are the ways between them. A *way* is a row
 *           of bytes from one point to another. TSL__GRAPH_DEAD stands for death. TSL__GRAPH_ALIVE
 *           stands for states in which all letters live for ever.
 * Points    A point is the set of states to which a text leads, between two characters or within
 *           one. `part` says which bytes may come next, since texts are UTF-8. Registers are left
 *           to other shortcuts.
 * Words     Most points are those of a word under way. Their ways are those of an earlier point
 *           (compiler/states/failure.h), except for the bytes by which the word goes on. So the
 *           ways are copied.
 * UTF-8     Characters past ASCII that lead to one place are one way for each row of first bytes,
 *           if the grammar says so at once. Others are followed byte by byte.
 * Example   Strings without `the`. Points: nothing read, `t` read, `th` read. Ways: `t` from each
 *           to the second, `h` from the second to the third, `e` from the third to TSL__GRAPH_DEAD.
 *           All other letters lead back to the first.
 * Cost      About 1 µs for each target of a state that is made, of which there are at most 1,024.
 * Tested by tests/walk/test_subtract.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_TEXT_GRAPH_H
#define TSL_RUNTIME_WALK_TEXT_GRAPH_H

#include "runtime/automaton/state.h"

/* Limits of the graph. Above them another way to walk is faster. */
#define TSL__GRAPH_POINTS 512u
#define TSL__GRAPH_WAYS 4096u
#define TSL__GRAPH_SLOTS 1024u
#define TSL__GRAPH_BRANCHES 4u /* states that a text leads to at once */
#define TSL__GRAPH_NEEDED 16u  /* candidates */
#define TSL__GRAPH_RANGES 64u  /* ranges of a state, of which equal ones are looked up */
#define TSL__GRAPH_FAR UINT32_MAX

/* A point's part: its texts end between two characters. */
enum { TSL__GRAPH_BETWEEN };
/* Numbers that stand for no point. TSL__GRAPH_DEAD: the text dies. TSL__GRAPH_ALIVE: it lives,
 * whatever letters follow. TSL__GRAPH_ELSEWHERE: such tokens are searched for separately. */
enum { TSL__GRAPH_DEAD, TSL__GRAPH_ALIVE, TSL__GRAPH_ELSEWHERE, TSL__GRAPH_FIRST };

typedef struct tsl__graph_point {
  /* its states, sorted, 0 behind the last. All are expanded: use tsl__state_expanded, since a state
   * of the vocabulary may have a copy here */
  tsl__state states[TSL__GRAPH_BRANCHES];
  uint32_t away;   /* bytes to the nearest death; TSL__GRAPH_FAR: none */
  uint32_t needed; /* a bit for each candidate that every way to death has */
  uint16_t ways;   /* its first way; its ways end where those of the next point begin */
  /* WHOLE is added: the states are those after the character under way, whichever it is */
  uint8_t part;
} tsl__graph_point;

/* A way from a point by a range of bytes. The ways of a point are in the order of their bytes. */
typedef struct tsl__graph_way {
  uint16_t from, to;
  uint8_t lo, hi;
  uint16_t candidates; /* a bit for each candidate that has all these bytes */
} tsl__graph_way;

/* Which ranges of a state lead to the same place. */
typedef struct tsl__graph_alikes {
  const tsl__state_rec *of; /* the state of the last look-up */
  bool known;
  uint8_t first[TSL__GRAPH_RANGES]; /* for each range the first that leads to the same place */
} tsl__graph_alikes;

typedef struct tsl__graph {
  tsl__space *space;
  bool quoted; /* the letters are those of a JSON string, else of any text */
  bool last;   /* nothing follows the frame, so a text may end */
  tsl__graph_point points[TSL__GRAPH_FIRST + TSL__GRAPH_POINTS + 1];
  tsl__graph_way ways[TSL__GRAPH_WAYS];
  tsl__bytes candidates[TSL__GRAPH_NEEDED];
  tsl__bytes fatal; /* bytes by which every text dies */
  uint32_t n, way_count, candidate_count;
  uint32_t derived; /* targets that were made so far */
  tsl__graph_alikes alike[TSL__GRAPH_BRANCHES];
  uint32_t stray; /* points that fall to none of the graph */
  uint64_t leads; /* those that lead where no others do at the last point */
  /* the most states in all; the most nodes of the trie that are visited */
  uint32_t states_max, nodes_max;
  uint16_t slots[TSL__GRAPH_SLOTS]; /* by states and part; 0: empty */
  /* the ways by where they end: those of a point from into[point] to into[point + 1] */
  uint16_t into[TSL__GRAPH_FIRST + TSL__GRAPH_POINTS + 1], by_end[TSL__GRAPH_WAYS];
} tsl__graph;

/* Make the graph of a state: *live becomes the bytes that are legal somewhere among its texts. `g`
 * has its space and its limits, and no points yet. False if there would be too many points, or most
 * letters die at once, or on failure (sticky). */
bool tsl__graph_explore(tsl__graph *g, tsl__state state, tsl__bytes *live);

#endif
