/* linear.h - many nodes of the trie at once, along a table.
 *
 * Problem   Take a string that must not hold some text, or holds 32 hexadecimal digits somewhere.
 *           Nearly any byte may come next, and leads to another state. The search (search.c) enters
 *           90,000 nodes. At each it reads a state's record, searches its ranges and gathers a list
 *           of tokens.
 * Idea      The nodes lie in the order of their spelling, 16 bytes each: a node, all nodes below
 *           it, then its neighbour. Each state that is met has a row of 256 numbers: for each byte
 *           the row to which it leads. So a node costs two loads: the node and an entry of a row.
 *           Where a byte leads nowhere, a jump skips the nodes below. Entries are filled in when
 *           they are needed, so hardly more states are derived than by the search.
 * Words     Two thirds of the nodes have nothing but ASCII letters below. From most states any
 *           number of letters up to a bound can follow. A row has a lower limit of that bound. A
 *           subtree of letters that is no higher lives as a whole. Examples: a limit of 12
 *           characters allows every word of up to 12 letters. A `,` that must or must not come does
 *           not matter to a word.
 * Cover     Where all words live, or all words of up to so many letters, a bitset has them
 *           (linear_parts.c). Then a table without words is read, which has half the nodes. Where
 *           words with letters past ASCII live too, a still smaller table is read.
 * Quotes    Among the letters of a JSON string only nodes with a quote or a backslash below matter.
 *           A table of its own has these, some thousand (linear_parts.c).
 * Aside     Three kinds of places are left to the search. At some, the state does more than read:
 *           it may end where something follows, call, or fork. At others the state is past the
 *           253rd. At the third kind, letters below are worth a class.
 * Stops     Some frames may end or call after nearly each byte, such as a name before any of ten
 *           operators. Nearly all their nodes would be set aside. So the caller may choose to give
 *           such states rows, too (stops.c). A node where one is reached is listed if the next byte
 *           may begin what follows the frame or what it calls.
 * Cost      About 5 ns a node; the search takes 30 to 150, because its nodes lie apart. Memory,
 *           once per vocabulary: 16 bytes a node and 4 more to find it, and 8 for the table without
 *           words.
 * Tested by tests/walk/test_linear.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_LINEAR_H
#define TSL_RUNTIME_WALK_LINEAR_H

#include "runtime/masks/mask.h"
#include "runtime/automaton/state.h"
#include "runtime/walk/walk.h"

#define TSL__LINEAR_TOKENS 1024u /* a node with so many tokens below is read along the table */
#define TSL__LINEAR_BYTES 48u    /* a state with fewer live bytes enters few nodes, by the search */

typedef struct tsl__linear_node {
  uint32_t next; /* the first node that is not below this one */
  /* the token that ends here; the table's `tokens`, or more: none. A second token has a node of its
   * own before this one, with nothing below */
  tsl_token token;
  uint32_t node;  /* of the trie; UINT32_MAX: the same as the next one */
  uint16_t above; /* bytes before this one */
  uint8_t byte;
  /* The subtree. TSL__LINEAR_LARGE: large enough to compare its bytes as a set. Plus its height, if
   * it has ASCII letters only and is worth a skip (else 0) */
  uint8_t below;
} tsl__linear_node;

#define TSL__LINEAR_LARGE 0x80u
/* spare words behind a mask that is marked. Nodes without a token mark one of these in turn,
 * because a mark has to wait for the last mark in the same word */
#define TSL__LINEAR_SPARE 16u

typedef struct tsl__linear {
  tsl__linear_node *nodes;
  uint32_t *at; /* by node of the trie: its place in `nodes` */
  uint32_t n, tokens;
  uint32_t least;      /* TSL__LINEAR_TOKENS; tests have a smaller one */
  uint32_t above[256]; /* by byte: how many nodes have it below */
  uint32_t space;      /* the node of a space that tokens begin with; 0: none does */
  /* words: bitsets of words (linear_parts.c), and of words with a space before them. rest: the
   * table without the nodes that have only words below. It has no parts, no `at` and no `above`.
   * nonascii_...: the same for words that may hold letters past ASCII. */
  const uint32_t *words[2], *nonascii_words[2];
  const struct tsl__linear *rest, *nonascii_rest;
  const struct tsl__linear *quoted; /* see linear_parts.c; this table, too, has `nodes` alone */
} tsl__linear;

/* A place from which the search must go on. */
typedef struct tsl__linear_aside {
  tsl__target to;
  uint32_t count, node; /* register before the byte of the node */
  uint16_t depth;       /* bytes read, that one included */
  /* from tsl__linear_read_quoted: the bytes up to the node are letters, and the search reads on
   * only what is no letter */
  bool letters;
} tsl__linear_aside;

typedef TSL__VEC(tsl__linear_aside) tsl__linear_asides;

/* Where a frame that is read along the table may end or call, before one of the next bytes. */
typedef struct tsl__linear_stop {
  tsl__state state;
  uint32_t count, node;
  uint16_t depth; /* bytes read */
} tsl__linear_stop;

/* Stops, as they are found. */
typedef struct tsl__linear_stops {
  TSL__VEC(tsl__linear_stop) at;
  tsl__bytes before; /* the bytes with which what follows the frame may begin */
} tsl__linear_stops;

/* Where to begin reading: a node, of which nothing below was read. */
typedef struct tsl__linear_from {
  tsl__state state;
  uint32_t count, node;
  uint16_t depth; /* bytes read so far */
  bool last;      /* nothing follows this frame */
  /* states that may end or call have rows, and are noted here; NULL: they are set aside */
  tsl__linear_stops *stops;
} tsl__linear_from;

#define TSL__WORDS_HIGH 32u /* the most letters of a word */
/* ASCII letters, as the word of a set of bytes from 64 on */
#define TSL__WORD_LETTERS 0x07FFFFFE07FFFFFEu

/* Letters past ASCII, by their length and the range of each byte. Left out are first bytes of
 * spaces, and of private or rare characters. */
typedef struct tsl__high_letter {
  uint8_t length, bytes[3][2];
} tsl__high_letter;
#define TSL__HIGH_LETTERS 4u
extern const tsl__high_letter tsl__high_letters[TSL__HIGH_LETTERS];

/* Fill in `words`, `rest`, `nonascii_words` and `nonascii_rest` of a table that has all else. False
 * on failure (sticky). */
bool tsl__cover_make(tsl__space *base, tsl__linear *l);
/* Fill in `quoted` of a table that has all else. False on failure (sticky). */
bool tsl__quoted_make(tsl__space *base, tsl__linear *l);

/* Make the table of a vocabulary's layer. */
tsl_status tsl__linear_make(tsl__space *base);
/* The table; NULL in a grammar that was loaded. */
static inline const tsl__linear *tsl__linear_table(const tsl__space *space) {
  if (tsl__shortcut_is_off(space, TSL__SHORTCUT_LINEAR)) return NULL;
  return space->warm.linear ? space->warm.linear
         : space->parent    ? space->parent->warm.linear
                            : NULL;
}
/* The table, if the tree below a node is worth reading along it from this state; else NULL. */
const tsl__linear *tsl__linear_of(const tsl__space *space, const tsl__state_rec *r, uint32_t node);
/* Is reading along the table faster than a class of letters? The search of a class enters all nodes
 * with one of its exits below. Only exits that the state itself lives on are counted. */
bool tsl__linear_beats(const tsl__space *space, const tsl__linear *t, const tsl__state_rec *r,
                       const tsl__hint *h, uint32_t node);
/* Read the nodes below from->node. Tokens that live are marked in `marks` (words of a mask, and
 * TSL__LINEAR_SPARE more). Places for the search are added to `aside`. False on failure (sticky).
 * Needs the lock. */
bool tsl__linear_read(tsl__space *space, const tsl__linear *t, const tsl__linear_from *from,
                      uint32_t *marks, tsl__linear_asides *aside);
/* Free what readings share during one walk. */
void tsl__linear_forget(tsl__space *space);
/* What reading along a table of quotes finds. */
typedef struct tsl__linear_found {
  /* tokens that live. Both arrays have room for as many as the table has nodes */
  tsl_token *tokens;
  uint32_t *left; /* nodes with something below, where the frame is at its end */
  uint32_t n, left_n;
  uint32_t reach, top; /* deepest node entered; highest register there, or more */
} tsl__linear_found;

/* Find the tokens that live and are letters, then a quote or a backslash, then anything; from the
 * root, along a table of quotes. Places for the search are added to `aside`. False on failure
 * (sticky). Needs the lock. */
bool tsl__linear_read_quoted(tsl__space *space, const tsl__linear *quoted,
                             const tsl__linear_from *from, const tsl__bytes *letters,
                             tsl__linear_found *found, tsl__linear_asides *aside);

#endif
