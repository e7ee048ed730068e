/* lexer.h - grammars whose texts a lexer cuts: which terminal it takes at a place, and where that
 * terminal ends.
 *
 * Problem   With a lexer a text is not cut in any way. At each place the lexer takes one terminal,
 *           and one text of it:
 *             dynamic   any terminal that the grammar allows there, in its longest text
 *             basic     the first terminal, in an order of all terminals, that matches there at
 *                       all, in its longest text
 *           So the text behind a terminal decides whether the terminal ends there, and other rules
 *           write that text. "x" is a NAME before " ", and no NAME before "y".
 * Idea      Whether a lexer takes w in front of a text v depends on two things. First, on w alone:
 *           no earlier terminal may match a beginning of w. Second, on how v begins. No beginning
 *           of v may make w a longer text of its terminal, or a text of an earlier terminal. The
 *           texts with which v may not begin are the *bar* behind w. A grammar has few bars. Behind
 *           names it is a letter, behind numbers a digit, and behind most else there is none. So
 *           each terminal is cut into parts by the bar behind them. The next terminal may not begin
 *           with a barred text. What is ignored is a terminal, too.
 * Rules     A rule is copied for each bar in front of it, and for each set of bars that its end
 *           may have (lexer.c). A bar that nothing at its place can begin with is none. So most
 *           rules keep one copy: in JSON no bar stays at all.
 * Example   start: NAME+    NAME: /[a-z]+/    %ignore " "
 *           The bar behind NAME is [a-z]. The next NAME may not begin with that. A blank may, and
 *           behind a blank there is no bar. So "a b" is two names, and "ab" is one.
 * Longest   Lark takes what Python's `re` matches, which prefers the first alternative. Here each
 *           terminal has its longest text; a lazy one has its shortest, as elsewhere (terminal.c).
 *           They differ in a terminal such as /a|ab/.
 * Order     As in Lark: priority, the most characters of a text, the length of the notation, the
 *           name. A string that a regular expression of the same priority matches in full has no
 *           place in the order: it is a keyword. The lexer takes the regular expression's text, and
 *           if that text is the string, the string's terminal.
 * Cost      The automata of terminals are built, each with the terminals before it that share its
 *           beginnings. The rules take time linear in their copies.
 * Limits    TSL__LARK_BARS_MAX bars, TSL__LARK_INSTANCES_MAX copies of rules. A bar must be a
 *           finite set of texts. All are errors that say so.
 * Tested by tests/lark/test_lexers.c, tests/programs/test_lark_lexers.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_LARK_LEXER_H
#define TSL_COMPILER_LARK_LEXER_H

#include "compiler/lark/items.h"

#define TSL__LARK_BARS_MAX 32u

/* A terminal as the lexer takes it: texts, and those that would take their place if the text went
 * on so. */
typedef struct tsl__lpiece {
  uint32_t token;
  tsl__expr text, longer;
  bool ignored;
} tsl__lpiece;

/* Texts behind which there is that bar. */
typedef struct tsl__lcell {
  uint32_t bar;
  tsl__expr text;
} tsl__lcell;

/* The cells of a terminal behind a bar. */
typedef struct tsl__lrow {
  uint32_t token, bar;
  uint32_t first, count; /* of cells */
} tsl__lrow;

typedef struct tsl__llexer {
  tsl__lark *l;
  TSL__VEC(tsl__lpiece) pieces; /* in order */
  TSL__VEC(tsl__expr) bars;     /* the first is NONE: no bar */
  TSL__VEC(tsl__bytes) first;   /* of each token: bytes that its texts may begin with */
  TSL__VEC(tsl__bytes) follow;  /* of each token: bytes that may come behind it */
  TSL__VEC(tsl__lcell) cells;
  TSL__VEC(tsl__lrow) rows;
  tsl__index by_place; /* rows */
  tsl__bytes all;      /* of all tokens */
} tsl__llexer;

/* Stands for no terminal: what is ignored before the first one. */
#define TSL__LARK_NO_TOKEN UINT32_MAX

/* token.c: false on failure, which is in l->status. Free it in any case. */
bool tsl__lexer_open(tsl__llexer *lexer, tsl__lark *l);
void tsl__lexer_free(tsl__llexer *lexer);
/* Which bars may stand behind a terminal (and what is ignored after it), if that bar is before it:
 * a bit for each. `follow` must be final. 0 on failure, or if the terminal has no text there. */
uint32_t tsl__lexer_ends(tsl__llexer *lexer, uint32_t token, uint32_t bar);
/* Its texts that end before one of these bars; TSL__NONE: there are none. */
tsl__expr tsl__lexer_text(tsl__llexer *lexer, uint32_t token, uint32_t bar, uint32_t ends);
/* The bar before a text that begins with one of these bytes: itself, or none if no barred text
 * does. */
uint32_t tsl__lexer_within(tsl__llexer *lexer, uint32_t bar, const tsl__bytes *first);

/* automaton.c: the texts of a piece that begin with no barred text, by what is barred behind them.
 * They come as cells at the end of lexer->cells, one for each bar. */
bool tsl__lexer_cut(tsl__llexer *lexer, const tsl__lpiece *piece, tsl__expr barred);
/* way[i * n + j]: the texts from i to j, of which state n - 1 is the end. The texts from the first
 * state to the end, when all others are eliminated. */
tsl__expr tsl__lexer_eliminate(tsl__exprs *x, tsl__expr *way, uint32_t n);
/* The number of the bar that has these texts, behind a token; 0 if none of them begins with one of
 * these bytes. UINT32_MAX on failure. */
uint32_t tsl__lexer_bar(tsl__llexer *lexer, tsl__expr texts, const tsl__bytes *follow,
                        uint32_t token);

#endif
