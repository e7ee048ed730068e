/* classes.h - tokens made of certain letters only, as bitsets.
 *
 * A class is a set of bytes: some ASCII characters, and some bytes of multi-byte UTF-8. Of the
 * multi-byte characters it has all, none, or those of a class (nonascii.h). The mask of a class
 * below a trie node holds the tokens below that node that go on with characters of the class alone.
 * The last character of a token may be cut off. With a limit, the mask holds only tokens of at most
 * that many characters. There is a bitset for each limit up to TSL__SHORT_MAX. For larger limits
 * the few longer tokens are a list to subtract.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_WALK_CLASSES_H
#define TSL_RUNTIME_WALK_CLASSES_H

#include "runtime/masks/mask.h"

#define TSL__SHORT_MAX 16u
/* groups of ASCII characters: a class mostly has all characters of a group, or none */
#define TSL__ALIKE 9u

/* What tokens are made of: by number of characters (bytes that are not UTF-8 continuation bytes),
 * and by character. */
typedef struct tsl__lengths {
  /* words of bitsets: tokens of at most k + 1 characters */
  const uint32_t *at_most[TSL__SHORT_MAX];
  const tsl_token *longer; /* of more than SHORT_MAX characters, longest first */
  const uint16_t *longer_length;
  /* of the k-th longer token by spelling: bytes that it shares with the one before */
  const uint16_t *longer_shared;
  const uint32_t *longer_spelled; /* their places in `longer`, in the order of their spelling */
  uint32_t longer_count;
  /* words of a bitset: tokens in UTF-8; the last character may be cut off */
  const uint32_t *text;
  /* tokens that hold this ASCII character, or a byte from 0x80 on */
  const uint32_t *having[128], *past_ascii;
  const uint32_t *having_alike[TSL__ALIKE]; /* tokens that hold one of a group */
  const struct tsl__endings *endings;       /* how the nodes' paths end (nonascii.h) */
  /* ones: tokens that are one character past ASCII, or the beginning of one. wholes: nodes of one
   * such character that have children. Both are sorted by their first byte, from 0xC2 on; those
   * with the k-th such byte stand from [k] to [k + 1]. */
  const tsl_token *ones;
  const uint32_t *wholes;
  uint32_t ones_of[TSL__LEADS + 1], wholes_of[TSL__LEADS + 1];
  /* by node: is this ASCII character (128: any byte from 0x80 on) the node's own byte, or one below
   * it? */
  const uint64_t *holding[129];
} tsl__lengths;

/* Does a token hold a quote or a backslash? */
static inline bool tsl__is_quoted(const tsl__lengths *l, tsl_token t) {
  return tsl__mask_bit(l->having['"'], t) || tsl__mask_bit(l->having['\\'], t);
}

typedef struct tsl__class {
  tsl__bytes letters;
  uint32_t nonascii, node, limit; /* limit UINT32_MAX: none; up to SHORT_MAX only at the root */
  tsl__mask mask;
} tsl__class;

/* The mask of a class below a node; 0 on failure (sticky) or if it is empty. The limit counts all
 * characters of a token, those above the node too. */
tsl__mask tsl__class_mask(tsl__space *space, const tsl__bytes *letters, uint32_t nonascii,
                          uint32_t node, uint32_t limit);
/* Gather the tokens of a class below a node: its mask, if that is known; else they are marked in a
 * row of bits. For fewer tokens than a mask has words that is cheaper than to make the mask. Most
 * such masks would be used a few times only. False on failure (sticky). */
bool tsl__class_gather(tsl__space *space, const tsl__bytes *letters, uint32_t nonascii,
                       uint32_t node, tsl__gather *g, uint32_t *marks);
/* The lengths of the vocabulary, from the layer that has them; NULL on failure (sticky). */
const tsl__lengths *tsl__lengths_of(tsl__space *space);
/* Make the lengths of a vocabulary's layer. */
tsl_status tsl__lengths_make(tsl__space *base);

#endif
