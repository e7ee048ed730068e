/* moves.h - what was found out about a position, kept in one table.
 *
 * Problem   "Where does token 917 lead from position 12?" Every sequence that comes to position 12
 *           asks this. There are a few other questions: how many bytes are left to the end, can a
 *           text end from here? Each needs a table from (position, question) to 32 bits.
 * Idea      One table for all questions. Its key is a position and a tsl__move_key: 32 bits whose
 *           upper bits say which question it is. Each kind of key has its own constructor below.
 *           The value is 32 bits, and the constructor's comment says what they mean.
 * Layout    of a key. Arguments never reach into the bits of the kind: TSL_MAX_VOCAB bounds
 *           tokens, and the limit of memory (max_memory) bounds the other numbers.
 *
 *             bits            kind         argument       value
 *             1xxx xxxx ...   union        a position     the union of both positions
 *             1000 0000 ...   fewest       0              bytes
 *             011x xxxx ...   endless      containers     a verdict of distinct_unbounded.c
 *             010x xxxx ...   alive        a distinct     a verdict of distinct_search.c
 *             001x xxxx ...   unbounded    a shape        1
 *             0001 0000 ...   texts        0              a number of texts
 *             0000 11xx ...   passes       a token        a shape
 *             0000 10xx ...   leads        a token        1
 *             0000 0100 ...   fewest new   0              bytes
 *             0000 00xx ...   token        a token        a tsl__lead
 *
 *           There is no union with position 0, so union and fewest do not meet.
 * Example   Position 12 is reached inside a JSON string. Token 917 spells `"}` and leads to 15.
 *           The table has (12, 917) -> 15. The shortest completion from 12 is `"}`:
 *           (12, 0x80000000) -> 2.
 * First     The first token that was looked up at a position is not in this table: the position's
 *           record holds it (tsl__stack_rec.first). Most positions never see a second token.
 * Cost      A lookup is one probe of a hash table without the lock; an entry is 12 bytes, and 8 in
 *           the index.
 * Threads   tsl__move_find may run while another thread adds. tsl__move_add needs the lock.
 * Tested by tests/engine/test_oracle.c, tests/engine/test_costs.c, tests/matcher/test_race.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_MOVES_H
#define TSL_RUNTIME_POSITION_MOVES_H

#include "runtime/automaton/frames.h"

/* ---- values: where a token leads ------------------------------------------------------------- */

/* Where a token leads: a position (0: the token is rejected). Bit 31 says whether something that
 * must be new began or ended within the token (distinct.h). */
typedef struct tsl__lead {
  uint32_t bits;
} tsl__lead;

#define TSL__LEAD_GUARDED 0x80000000u

static inline tsl__lead tsl__lead_of(tsl__stack to, bool guarded) {
  return (tsl__lead){to | (guarded ? TSL__LEAD_GUARDED : 0)};
}
static inline tsl__stack tsl__lead_to(tsl__lead l) { return l.bits & ~TSL__LEAD_GUARDED; }
static inline bool tsl__lead_guarded(tsl__lead l) { return l.bits & TSL__LEAD_GUARDED; }

/* ---- keys: the question ---------------------------------------------------------------------- */

typedef struct tsl__move_key {
  uint32_t bits;
} tsl__move_key;

/* Where does this token lead? The value is a tsl__lead. */
static inline tsl__move_key tsl__key_token(tsl_token token) { return (tsl__move_key){token}; }
/* Which position has the frames of both? `other` is the larger number of the two. */
static inline tsl__move_key tsl__key_union(tsl__stack other) {
  return (tsl__move_key){0x80000000u | other};
}
/* How many bytes does the shortest completion have? */
static inline tsl__move_key tsl__key_fewest(void) { return (tsl__move_key){0x80000000u}; }
/* The same, where every item that ends from here on differs from the earlier items of its array
 * (TSL__SAME_ITEM). */
static inline tsl__move_key tsl__key_fewest_new(void) { return (tsl__move_key){0x04000000u}; }
/* Can a text end from here, with these distinct names and items? (distinct_search.c) */
static inline tsl__move_key tsl__key_alive(uint32_t distinct) {
  return (tsl__move_key){0x40000000u | distinct};
}
/* May the item, `containers` of which are open here, still become any number of values?
 * (distinct_unbounded.c) */
static inline tsl__move_key tsl__key_endless(uint32_t containers) {
  return (tsl__move_key){0x60000000u | containers};
}
/* Is it true, for every distinct record of this shape, that every token may come which enters
 * another item? Only "yes" is kept. (distinct_items.c) */
static inline tsl__move_key tsl__key_unbounded(uint32_t shape) {
  return (tsl__move_key){0x20000000u | shape};
}
/* Is it true that no name ends within this token, and that the name which it begins or continues
 * can become any number of names? Only "yes" is kept. (distinct_names.c) */
static inline tsl__move_key tsl__key_leads(tsl_token token) {
  return (tsl__move_key){0x08000000u | token};
}
/* After this token, which ends an item, may any number of values come? The value is the shape of
 * the distinct records for which the answer is yes; "no" is not kept. (distinct_items.c) */
static inline tsl__move_key tsl__key_passes(tsl_token token) {
  return (tsl__move_key){0x0C000000u | token};
}
/* How many texts can a frame spell at least? Here a state takes the place of the position.
 * (distinct_unbounded.c) */
static inline tsl__move_key tsl__key_texts(void) { return (tsl__move_key){0x10000000u}; }

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct tsl__move {
  tsl__stack from;
  uint32_t value;
  tsl__move_key by;
} tsl__move;

/* The value of a key, if there is an entry. Without the lock. */
bool tsl__move_find(const tsl__space *space, tsl__stack from, tsl__move_key by, uint32_t *value);
/* Add an entry that is not there. false when out of memory (sticky). Needs the lock. */
bool tsl__move_add(tsl__space *space, tsl__stack from, tsl__move_key by, uint32_t value);
/* The union of two positions, if it was made before. `low` is the smaller number. */
bool tsl__move_union(const tsl__space *space, tsl__stack low, tsl__stack high, tsl__stack *both);

#endif
