/* shared_walks.h - what the grammars of a vocabulary learn from one another: walks, found by what
 * their states mean.
 *
 * Problem   Schemas of different authors repeat one another: dates, identifiers, any text of up to
 *           100 characters, lists of the same three words. Each grammar has tables of its own, and
 *           would make the walks anew that another grammar has made.
 * Idea      Where a state can be described without anything that only its grammar has, it has a
 *           meaning: a digest of what it stands for (compiler/expr/meaning.c). A walk of the same
 *           meaning over the same leftover gives the same answer in each grammar of the vocabulary.
 *           A grammar that made a costly walk leaves a copy here. A grammar that needs the walk
 *           uses the copy.
 * Classes   The same for masks of classes of letters, which patterns share more often than walks.
 * Rows      The same for masks of positions: most grammars have the same few masks at most of their
 *           positions. Those are written out once, and copied by all. Other masks have the same
 *           bitsets, as those of white space and of what a string begins with, and some tokens of
 *           their own. In their place the row of the bitsets is lent.
 * Bound     There are two generations of half the limit each. A walk that is used is carried over
 *           into the younger one. When the younger one is full, the older one goes. Bitsets are
 *           shared, not copied: they go with the last grammar that has one. Rows of masks of the
 *           vocabulary's own layer stay with it.
 * Safety    Digests are of 128 bits and under a secret of the vocabulary's, drawn at random when it
 *           is made. So nobody can write two schemas with the same digest. A walk holds token
 *           numbers and nothing of a schema's text. The time of a mask shows whether a walk was
 *           known, as with any cache (SECURITY.md).
 * Threads   One lock, held for a probe and a copy; held only where a grammar would walk.
 * Cost      A miss 0.1 µs, a hit under 1 µs.
 * Tested by tests/walk/test_shared_walks.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_SHARED_WALKS_H
#define TSL_RUNTIME_WALK_SHARED_WALKS_H

#include "runtime/walk/walk.h"
#include "runtime/walk/nonascii.h"

typedef struct tsl__common tsl__common;
typedef TSL__VEC(uint32_t) tsl__words;

/* Give it to a vocabulary whose layer is about to be frozen, if it has none. It keeps at most
 * vocab->walk_cache bytes, and nothing where no secret can be drawn. The caller has the
 * vocabulary's lock. False: out of memory. */
bool tsl__common_attach(tsl_vocab *vocab);

/* By what a walk is found; false: this state has no meaning outside its grammar, or nothing is
 * kept. */
bool tsl__common_key(tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over,
                     tsl__digest *key);
/* The same of the mask of a class of letters (classes.h), however long its tokens are, which is
 * kept as a walk that leaves nothing. `nonascii`: its class past ASCII, or NULL. */
bool tsl__common_class_key(tsl__space *space, const tsl__bytes *letters,
                           const tsl__nonascii *nonascii, uint32_t node, tsl__digest *key);
/* Gather what a walk of that key allows and leaves; false: nobody has done it. Failures are
 * sticky. */
bool tsl__common_take(tsl__space *space, const tsl__digest *key, tsl__gather *gather,
                      tsl__words *left, bool *whole);
/* Leave a walk for others. Keeps nothing where memory is short. */
void tsl__common_put(tsl__space *space, const tsl__digest *key, const tsl__walk *walk);

/* A position has this mask: if it is one that many have, its row (runtime/masks/mask.h) is found or
 * made. Failures are sticky. */
void tsl__common_row_of(tsl__space *space, tsl__mask mask, const tsl__mask_rec *m);
/* One bitset for several of the vocabulary's, sorted, at most TSL__BASES_MAX, if many masks have
 * them together: its number in the space; else 0. Failures are sticky. */
uint32_t tsl__common_base(tsl__space *space, const uint32_t *bases, uint32_t n);

/* Bitsets that a space has from here. */
typedef struct tsl__adopted {
  struct tsl__common_bits *bits;
  uint32_t number; /* in the space */
} tsl__adopted;
void tsl__adopted_free(tsl__space *space);

#endif
