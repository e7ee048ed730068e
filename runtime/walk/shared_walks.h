/* shared_walks.h - what the grammars of a vocabulary learn from one another: walks, found by what
 * their states mean.
 *
 * Problem   Schemas of different authors repeat one another: dates, identifiers, any text of up to
 *           100 characters, lists of the same three words. Each grammar has tables of its own, and
 *           would make the walks anew that another grammar has made.
 * Idea      A state that can be described without its grammar has a meaning: a digest of what it
 *           stands for (compiler/expr/meaning.c). A walk of the same meaning over the same leftover
 *           gives the same answer in each grammar of the vocabulary. A grammar that made a costly
 *           walk leaves a copy here. A grammar that needs the walk uses the copy.
 * Classes   The same for masks of classes of letters, which patterns share more often than walks.
 * Rows      The same for masks of positions: most grammars have the same few masks at most of their
 *           positions. Those are written out once, and copied by all. Other masks share their
 *           bitsets (white space, beginnings of strings) and have a few tokens of their own. For
 *           such masks the union of the bitsets is kept as one bitset (tsl__common_base).
 * Bound     There are two generations of half the limit each. A walk that is used is carried over
 *           into the younger one. When the younger one is full, the older one is freed. Bitsets are
 *           shared, not copied: each is freed with the last grammar that has it. Rows of masks of
 *           the vocabulary's own layer stay with it.
 * Safety    Digests are of 128 bits and under a secret of the vocabulary's, drawn at random when it
 *           is made. So nobody can write two schemas with the same digest. A walk holds token
 *           numbers and nothing of a schema's text. The time of a mask shows whether a walk was
 *           known, as with any cache (SECURITY.md).
 * Threads   There is one lock, held for a probe and a copy. A grammar that has the walk already
 *           does not need it.
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

/* Give a vocabulary its cache of walks, before its layer is frozen. The cache keeps at most
 * vocab->walk_cache bytes. If no secret can be drawn, it keeps nothing. The caller has the
 * vocabulary's lock. False: out of memory. */
bool tsl__common_attach(tsl_vocab *vocab);

/* The key of a walk; false: the state has no meaning outside its grammar, or there is no cache. */
bool tsl__common_key(tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over,
                     tsl__digest *key);
/* The key of the mask of a class of letters without a limit (classes.h). It is kept as a walk that
 * leaves nothing. `nonascii`: its class past ASCII, or NULL. */
bool tsl__common_class_key(tsl__space *space, const tsl__bytes *letters,
                           const tsl__nonascii *nonascii, uint32_t node, tsl__digest *key);
/* Gather the mask and the leftover of the walk with that key; false: no grammar has made it.
 * Failures are sticky. */
bool tsl__common_take(tsl__space *space, const tsl__digest *key, tsl__gather *gather,
                      tsl__words *left, bool *whole);
/* Leave a walk for other grammars. Keeps nothing where memory is short. */
void tsl__common_put(tsl__space *space, const tsl__digest *key, const tsl__walk *walk);

/* A position gets this mask. If many positions have had it, find or make its row
 * (runtime/masks/mask.h). Failures are sticky. */
void tsl__common_row_of(tsl__space *space, tsl__mask mask, const tsl__mask_rec *m);
/* The union of bitsets that many masks have together, as one bitset: its number in the space; else
 * 0. `bases` are of the vocabulary's layer, sorted, at most TSL__BASES_MAX. Failures are sticky. */
uint32_t tsl__common_base(tsl__space *space, const uint32_t *bases, uint32_t n);

/* A shared bitset that a space uses. */
typedef struct tsl__adopted {
  struct tsl__common_bits *bits;
  uint32_t number; /* in the space */
} tsl__adopted;
void tsl__adopted_free(tsl__space *space);

#endif
