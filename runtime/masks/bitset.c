/* bitset.c - the bitsets that masks share: each set of words is there once.
 *
 * Problem   A bitset of 128,256 tokens takes 16 KB. Two states of a grammar often have the same
 *           mask, although their leftovers differ. Along a text of SQL 186 of 416 bitsets were
 *           doubles. They filled the tables. The tables were evicted, and all states were walked
 *           again.
 * Idea      Words are written into room that has no number yet. When they are done, an index finds
 *           a bitset with the same words, in this layer or the one below. If there is one, its
 *           number is the answer, and the room serves the next bitset.
 * Example   `a + b` and `f(a` may both go on with the same letters, digits and operators. The
 *           second walk fills the room, and gets the number of the first one's bitset.
 * Cost      A hash of the words, some 1 µs. A walk that makes a bitset costs some 100 µs.
 * Tested by tests/masks/test_mask.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/masks/mask.h"

uint32_t *tsl__bits_room(tsl__space *space) {
  uint32_t *bits = space->spare_bits;
  space->spare_bits = NULL;
  if (bits) return bits;
  void *room = tsl__arena_alloc(&space->arena, space->mask_words * sizeof *bits + TSL__LINE);
  if (!room) return tsl__space_no_memory(space), NULL;
  return tsl__at_line(room);
}

/* Words get a number; 0 on failure (sticky). */
static uint32_t add_bitset(tsl__space *space, uint32_t *bits) {
  uint32_t **slot = tsl__pool_add(&space->bitsets.pool, &space->kept);
  if (!slot) return tsl__space_no_memory(space), 0;
  *slot = bits;
  return tsl__space_count(space, bitsets) - 1;
}

uint32_t tsl__bitset_settle(tsl__space *space, uint32_t *bits) {
  size_t bytes = space->mask_words * sizeof *bits;
  uint64_t hash = tsl__hash(bits, bytes);
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->bitsets.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
      if (!memcmp(tsl__bitset_at(space, i), bits, bytes)) return space->spare_bits = bits, i;
  }
  uint32_t number = add_bitset(space, bits);
  if (number && !tsl__index_add(&space->bitsets.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
  return number;
}

uint32_t *tsl__bitset_raw(tsl__space *space, uint32_t *number) {
  uint32_t *bits = tsl__bits_room(space);
  return bits && (*number = add_bitset(space, bits)) ? bits : NULL;
}

uint32_t *tsl__bitset_new(tsl__space *space, uint32_t *number) {
  uint32_t *bits = tsl__bitset_raw(space, number);
  if (bits) memset(bits, 0, tsl_vocab_mask_words(space->vocab) * sizeof *bits);
  return bits;
}
