/* linear.h - many nodes of the trie at once, along a table.
 *
 * Problem   Take a string that must not hold some text, or holds 32 hexadecimal digits somewhere.
 *           It goes on with nearly any byte, and is in another state after each. The search of
 *           walk.c enters 90,000 nodes. Each costs a state's record, a search among its ranges and
 *           a list of tokens.
 * Idea      The nodes lie in the order of their spelling, 16 bytes each: a node, all that is below
 *           it, the next one. Each state that is met has a row of 256 numbers, which say to which
 *           row a byte leads. So a node takes one load from each. Where no text goes on, a jump
 *           skips what is below. Rows are filled in as bytes are met, so nearly no state is derived
 *           that the search would not have derived.
 * Words     Two thirds of the nodes have nothing but ASCII letters below. From most states many of
 *           these can follow, whichever they are. The rows say how many at least, nearest ones
 *           first. A subtree that is no higher than that lives as a whole. Examples: a limit of 12
 *           characters allows every word of up to 12 letters. A `,` that must or must not come does
 *           not matter to a word.
 * Cover     Where all words live, or all words of up to so many letters, they are read at once
 *           (linear_parts.c). Then a table is read that has half the nodes, and no words. Where
 *           words with letters past ASCII live too, a still smaller table is read.
 * Quotes    Among letters of a JSON string only those nodes are looked at that have a quote or a
 *           backslash below. A table has these alone, some thousand, side by side (linear_parts.c).
 * Aside     Three kinds of places are left to the search. At some, the state does more than read:
 *           it may end where something follows, call, or fork. At others the state is past the
 *           253rd. At the third kind, letters below are worth a class.
 * Stops     Some frames may end or call after nearly each byte, as that of a name before any of ten
 *           operators. Of these nearly all would be set aside. So such states may have rows, too,
 *           where the caller asks for it (stops.c). A node where one is reached is listed if one of
 *           the next bytes may begin what follows the frame, or what it calls.
 * Cost      About 5 ns a node; by the search, whose nodes lie elsewhere, 30 to 150. Memory, once
 *           per vocabulary: 16 bytes a node and 4 more to find it, and 8 for the table without
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

#define TSL__LINEAR_TOKENS 1024u /* below a node from which its tree is read along the table */
#define TSL__LINEAR_BYTES 48u    /* live bytes: a state that lives on few enters few nodes */

typedef struct tsl__linear_node {
  uint32_t next; /* the first that is not below */
  /* that ends here; `tokens` of the table, or more: none. A second one has a node of its own before
   * this one, with nothing below */
  tsl_token token;
  uint32_t node;  /* of the trie; UINT32_MAX: the same as the next one */
  uint16_t above; /* bytes before this one */
  uint8_t byte;
  /* TSL__LINEAR_LARGE: enough to look at its bytes as a set. And its height if it is ASCII letters
   * only, and worth passing over at once (else 0) */
  uint8_t below;
} tsl__linear_node;

#define TSL__LINEAR_LARGE 0x80u
/* words behind a mask that is marked. Nodes without a token mark one of these in turn, as a mark
 * waits for the last one of the same word */
#define TSL__LINEAR_SPARE 16u

typedef struct tsl__linear {
  tsl__linear_node *nodes;
  uint32_t *at; /* of a node of the trie: where it is */
  uint32_t n, tokens;
  uint32_t least;      /* TSL__LINEAR_TOKENS; tests have a smaller one */
  uint32_t above[256]; /* of a byte: nodes that have it below */
  uint32_t space;      /* the node of a space that tokens begin with; 0: none does */
  /* Words (linear_parts.c), and such with a space before them, as bitsets; and the table without
   * the nodes below which there is nothing else. The latter has none of its own, no `at` and no
   * `above`. The same of words that may hold letters past ASCII. */
  const uint32_t *words[2], *nonascii_words[2];
  const struct tsl__linear *rest, *nonascii_rest;
  const struct tsl__linear *quoted; /* see linear_parts.c; this, too, has nodes alone */
} tsl__linear;

/* What the search must take from here on. */
typedef struct tsl__linear_aside {
  tsl__target to;
  uint32_t count, node; /* register before the byte of the node */
  uint16_t depth;       /* bytes read, that one included */
  /* of tsl__linear_read_quoted: they are letters, and no more was read below than that */
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
  tsl__bytes before; /* where the frame may end: by these bytes what follows it begins */
} tsl__linear_stops;

/* From where to read: a node, nothing below it read yet. */
typedef struct tsl__linear_from {
  tsl__state state;
  uint32_t count, node;
  uint16_t depth; /* bytes read so far */
  bool last;      /* nothing follows this frame */
  /* states that may end or call are read on from, and noted here; NULL: they are set aside */
  tsl__linear_stops *stops;
} tsl__linear_from;

#define TSL__WORDS_HIGH 32u /* letters of a word */
/* ASCII letters, as the word of a set of bytes from 64 on */
#define TSL__WORD_LETTERS 0x07FFFFFE07FFFFFEu

/* Letters past ASCII of so many bytes, each from one to another: those whose first byte no space
 * has, nor private or rare characters. */
typedef struct tsl__high_letter {
  uint8_t length, bytes[3][2];
} tsl__high_letter;
#define TSL__HIGH_LETTERS 4u
extern const tsl__high_letter tsl__high_letters[TSL__HIGH_LETTERS];

/* Fill in `words`, `rest` and those of wider words of a table that is complete but for them. False
 * on failure (sticky). */
bool tsl__cover_make(tsl__space *base, tsl__linear *l);
/* Fill in `quoted` of a table that is complete but for it. False on failure (sticky). */
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
/* Is reading along the table faster than a class of letters, whose search enters all nodes with one
 * of its exits below? Reckoned by those exits that the state itself lives on. */
bool tsl__linear_beats(const tsl__space *space, const tsl__linear *t, const tsl__state_rec *r,
                       const tsl__hint *h, uint32_t node);
/* Read what is below. Tokens that live are marked in `marks` (mask words of the vocabulary, and
 * TSL__LINEAR_SPARE more); what the search must take is added to `aside`. False on failure
 * (sticky). Needs the lock. */
bool tsl__linear_read(tsl__space *space, const tsl__linear *t, const tsl__linear_from *from,
                      uint32_t *marks, tsl__linear_asides *aside);
/* What readings share while a walk is under way is freed. */
void tsl__linear_forget(tsl__space *space);
/* What is found where quotes are read. */
typedef struct tsl__linear_found {
  /* that live; room for as many as the table has nodes, and so is there for nodes */
  tsl_token *tokens;
  uint32_t *left; /* nodes with something below, where the frame ends and no more */
  uint32_t n, left_n;
  uint32_t reach, top; /* deepest node entered; highest register there, or more */
} tsl__linear_found;

/* What lives and is letters, then a quote or a backslash, which are none, and what follows; from
 * the root, along a table of quotes. What the search must take is added to `aside`. False on
 * failure (sticky). Needs the lock. */
bool tsl__linear_read_quoted(tsl__space *space, const tsl__linear *quoted,
                             const tsl__linear_from *from, const tsl__bytes *letters,
                             tsl__linear_found *found, tsl__linear_asides *aside);

#endif
