/* lower.h - lowering a parsed regular expression to an expression over bytes: what its files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_REGEX_LOWER_H
#define TSL_COMPILER_REGEX_LOWER_H

#include "compiler/regex/ast.h"

/* A condition on the text before a place. All three parts must hold; `any` and no `before` is no
 * condition at all. */
typedef struct tsl__rx_cond {
  /* no condition on the code point before; then prev and begin mean nothing */
  bool any;
  bool begin;          /* the place may be the beginning of the text */
  tsl__rx_ranges prev; /* or the code point before is one of these */
  tsl__expr before;    /* the whole text before matches this; TSL__NONE: no such condition */
  uint32_t reach;      /* of `before`: only this many code points matter; TSL__INF: all */
  uint32_t offset;     /* of the look-behind, for errors */
} tsl__rx_cond;

/* What may follow a place if a condition holds there. */
typedef struct tsl__rx_rest {
  tsl__rx_cond cond;
  tsl__expr e;          /* never NONE */
  tsl__rx_ranges first; /* at least the code points that members of e begin with */
} tsl__rx_rest;

/* What may follow a place: the union of its items. Items and their sets live in the arena and are
 * not changed once made. */
typedef struct tsl__rx_rests {
  tsl__rx_rest *at;
  uint32_t n;
} tsl__rx_rests;

#define TSL__RX_NONASCII 8u /* sets past ASCII whose expressions are remembered */

typedef struct tsl__rx_lowering {
  tsl__rx_tree *tree;
  tsl__exprs *x;
  tsl__expr text;      /* any text */
  uint32_t steps;      /* rests and sequences made; at most TSL__RX_MAX_STEPS */
  uint32_t nonascii_n; /* sets put into `nonascii` so far; the oldest is replaced */
  /* splitting a set into UTF-8 costs microseconds: \S and . come often */
  struct {
    tsl__rx_ranges set;
    tsl__expr e;
  } nonascii[TSL__RX_NONASCII];
} tsl__rx_lowering;

#define TSL__RX_MAX_STEPS 20000u
/* iterations of a loop with a condition inside that are written out */
#define TSL__RX_MAX_UNROLL 64u

/* Has anything failed? Results made since are not to be used. */
bool tsl__rx_failed(const tsl__rx_lowering *l);
/* Count one step of lowering; false (and the tree fails) when there are too many. */
bool tsl__rx_count(tsl__rx_lowering *l, const tsl__rx *node);

/* plain.c: trees without conditions. */
tsl__expr tsl__rx_set_expr(tsl__rx_lowering *l, tsl__rx_ranges set);
/* The language of a plain node, followed by `tail`. */
tsl__expr tsl__rx_plain(tsl__rx_lowering *l, const tsl__rx *node, tsl__expr tail);
/* The members of a plain node that end in a code point of the set. */
tsl__expr tsl__rx_ending(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_ranges set);
/* At least the code points that members of a plain node begin with. */
tsl__rx_ranges tsl__rx_first(tsl__rx_lowering *l, const tsl__rx *node);
/* Is the node exactly one code point out of a set? */
bool tsl__rx_one_char(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_ranges *set);

/* local.c: the language of a node whose conditions all look no further than the node itself. false
 * if that is not so. */
bool tsl__rx_local(tsl__rx_lowering *l, const tsl__rx *node, tsl__expr *out);

/* loop.c: the loop body* followed by `then`. Nothing on failure. */
tsl__rx_rests tsl__rx_loop(tsl__rx_lowering *l, tsl__rx *body, tsl__expr then);
/* The same with at most max - min iterations of the loop `node`, each of which takes equally many
 * code points. `loops`: what tsl__rx_loop made of its body and `then`. */
tsl__rx_rests tsl__rx_at_most(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_rests loops,
                              tsl__expr then);

/* lower.c */
/* An empty list with room for so many; `at` is NULL on failure. Adding joins items where it can,
 * and leaves out items that nothing can match. */
tsl__rx_rests tsl__rx_list_new(tsl__rx_lowering *l, size_t room);
void tsl__rx_list_add(tsl__rx_lowering *l, tsl__rx_rests *out, tsl__rx_rest item);
tsl__rx_rests tsl__rx_lower(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_rests rests,
                            bool first);

/* ---- beside.c -------------------------------------------------------------------------------- */
/* The tree with fewer or shorter runs of characters side by side, and the same language. Changes
 * the tree. NULL on failure. Recursion is as deep as the pattern is nested. */
tsl__rx *tsl__rx_join(tsl__rx_lowering *l, tsl__rx *node);

/* ---- span.c ---------------------------------------------------------------------------------- */
/* The pattern without the bound of its counted run. For texts of at most *most characters both
 * patterns are the same. A pattern without such a run is returned as it is, with TSL__INF. NULL on
 * failure. `search`: the pattern is looked for within a text. */
tsl__rx *tsl__rx_unbound(tsl__rx_lowering *l, tsl__rx *root, bool search, uint32_t *most);

#endif
