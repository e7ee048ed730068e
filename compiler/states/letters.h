/* letters.h - characters that a frame can read without end.
 *
 * Letters   A set of characters such that an expression survives every text over them. Those of a
 *           loop over one class are the class. Otherwise they are explored: take the characters
 *           that may come next, follow them, and drop those that die somewhere. That goes on until
 *           what is reached is closed under what remains (a greatest fixed point). It is given up
 *           past TSL__EXPLORED_MAX expressions, or where it is too much work. The answer holds for
 *           all expressions that were reached, so most states ask once.
 * Past ASCII  either all characters are letters, or those of a class that the grammar mentions,
 *               or none.
 * In vain   Two kinds of expressions are explored only a few steps far. One has no unbounded loop
 *           over enough characters. The other has groups that count down.
 * Tested by tests/walk/test_letters.c, tests/engine/test_oracle.c (masks with and without hints are
 * equal)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_STATES_LETTERS_H
#define TSL_COMPILER_STATES_LETTERS_H

#include "compiler/expr/deriv.h"

#define TSL__LETTERS_MIN 16u /* fewer are not worth a class */
/* if at most so many letters can be read, the runtime needs the exact number, or tries tokens
 * (TSL__SHORT_MAX) */
#define TSL__LETTERS_FEW 16u

/* ASCII by bytes; past it, if bytes from 0x80 on are there, the characters of a class, or all. */
typedef struct tsl__letter_set {
  tsl__bytes bytes;
  const tsl__nonascii_class *nonascii;
} tsl__letter_set;

/* What letters lead to. */
typedef struct tsl__reached {
  tsl__expr at[TSL__EXPLORED_MAX];
  unsigned n, most; /* `most` not 0: what leads to more is `full` */
  bool full, dead;  /* there is more; a letter is not legal somewhere */
  /* where not all was followed: the frame may end among the letters, or call */
  bool ends, calls;
  uint64_t last;   /* the step after which exploring ends */
  tsl__bytes live; /* bytes that some of them read next */
} tsl__reached;

static inline void tsl__add_multibyte(tsl__bytes *s) { tsl__bytes_add_range(s, 0x80, 0xF4); }
static inline bool tsl__letters_nonascii(const tsl__letter_set *s) { return s->bytes.w[3] != 0; }
static inline bool tsl__letters_enough(const tsl__letter_set *s) {
  return tsl__bytes_count(&s->bytes) >= TSL__LETTERS_MIN;
}

/* non-ASCII characters of a class that is worth marks on the trie; of fewer each is walked */
#define TSL__NONASCII_MIN 2048u

/* How many non-ASCII characters a class has. */
static inline uint64_t tsl__nonascii_count(const tsl__nonascii_class *c) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < c->count; i++) n += c->pairs[2 * i + 1] - c->pairs[2 * i] + 1u;
  return n;
}

/* May so many letters be read without end that they are worth a class? True if in doubt. */
bool tsl__reads_enough(tsl__exprs *x, tsl__expr e);
/* Has e groups that count down? Letters that go through one lead to other expressions each time: to
 * too many. What does not is found all the same. */
bool tsl__counts_down(const tsl__exprs *x, tsl__expr e);
/* May e lead back to itself? False where its structure shows that it does not. Such a state is
 * swept, which is only known from its targets. */
bool tsl__may_come_back(const tsl__exprs *x, tsl__expr e);
/* The bytes that lead anywhere. */
void tsl__live_bytes(tsl__exprs *x, tsl__expr e, tsl__bytes *out);
/* Are all letters of `a` among those of `b`? */
bool tsl__letters_within(const tsl__letter_set *a, const tsl__letter_set *b);
/* Can e begin with one of these letters? The bytes that it can begin with are added to `all`. */
bool tsl__begins_with(tsl__exprs *x, tsl__expr e, const tsl__letter_set *letters, tsl__bytes *all);
/* The letters of a class of single characters. *live: the bytes that it can begin with. */
void tsl__letters_of_class(tsl__exprs *x, tsl__expr class, tsl__letter_set *out, tsl__bytes *live);
/* Do all characters past ASCII lead back to a loop? They may lead elsewhere as well. */
bool tsl__nonascii_come_back(tsl__exprs *x, tsl__expr loop);
/* A loop over one class of characters? */
bool tsl__is_class_loop(const tsl__exprs *x, const tsl__node *n);
/* Letters that never stop: an endless loop over a class at the head of e, or of one of its
 * alternatives (the largest class counts). *need: the fewest bytes that complete that loop's
 * alternative. `depth`: 0. */
bool tsl__letters_endless(tsl__exprs *x, tsl__expr e, tsl__letter_set *out, uint32_t *need,
                          unsigned depth);
/* What a frame may do among letters, at most: the bytes that it may read, and whether it may end or
 * call, into r. */
void tsl__letters_leave_by(tsl__exprs *x, tsl__expr e, const tsl__bytes *letters, tsl__reached *r);
/* The letters, among those given, that e survives, and what they lead to; false: too few. `json`: e
 * is the text of a JSON string. */
bool tsl__letters_explore(tsl__exprs *x, tsl__expr e, bool json, tsl__letter_set *letters,
                          tsl__reached *r);
/* Where letters lead that e is known to survive; false: that is too much to follow. */
bool tsl__letters_follow(tsl__exprs *x, tsl__expr e, const tsl__letter_set *letters,
                         tsl__reached *r);

#endif
