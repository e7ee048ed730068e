/* seen_names.h - the names that an object has so far, and what is spelled of the next one.
 *
 * Problem   An object may have 100,000 members. The name under way may be one of them, or may
 *           become one. This must be known at every byte, for every spelling of the name.
 * Idea      Names are compared decoded: "\u0061" is the name a. A set of names is a chain of sorted
 *           groups whose sizes are powers of two, as the digits of a binary number. n names cost
 *           O(n log n) bytes in all. The names with a given beginning are found in O(log² n). A
 *           spelling is what was decoded so far, and an escape that is not complete. A name is a
 *           rival of a spelling if the spelling may still become that name.
 * Example   After {"ab":1,"b":2,"\u006 nothing is decoded yet and \u006 is open. Both ab and b are
 *           rivals (\u0061, \u0062).
 * Limits    TSL__SEEN_MAX names in one object: TSL_ERR_LIMIT.
 * Tested by tests/automaton/test_seen_names.c, tests/position/test_distinct_names.c,
 *           tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_AUTOMATON_SEEN_NAMES_H
#define TSL_RUNTIME_AUTOMATON_SEEN_NAMES_H

#include "runtime/automaton/space.h"

#define TSL__SEEN_MAX (1u << 20)

/* Bytes: a decoded name, or a value as it was written, with the white space around it. */
typedef struct tsl__spelled {
  const uint8_t *at;
  uint32_t n;
} tsl__spelled;

/* A group of names, and the larger groups. */
typedef struct tsl__seen_names {
  uint32_t next, count, total; /* total: with those of the larger groups */
  bool shortened;              /* some of the names have a character with a short escape */
  /* the signs of these names and of those of the larger groups: see tsl__name_sign */
  uint64_t signs;
  const tsl__spelled *names; /* sorted by bytes */
} tsl__seen_names;

/* One of 64 bits for the first byte of a name. It keeps names, which begin with letters, apart from
 * the punctuation that tokens have before a quote. */
static inline uint64_t tsl__name_sign(const uint8_t *at, uint32_t n) {
  unsigned first = n ? at[0] : 0;
  return (uint64_t)1 << (first >= ' ' && first < '@' ? first : first & 31);
}

/* A name as far as it is spelled. */
typedef struct tsl__spelling {
  TSL__VEC(uint8_t) decoded; /* UTF-8; the last character may lack bytes */
  uint8_t open[12];          /* an escape that is not complete, from its backslash on */
  uint8_t open_count;
} tsl__spelling;

/* The number of a set with one more name, which is copied; 0 on failure (sticky). Needs the
 * lock. */
uint32_t tsl__seen_names_add(tsl__space *space, uint32_t seen_names, const uint8_t *name,
                             uint32_t n);
/* The number of the group of these sorted names before the group `next`, with copies of their
 * bytes; 0 on failure (sticky). Needs the lock. */
uint32_t tsl__seen_names_group(tsl__space *space, uint32_t next, const tsl__spelled *names,
                               uint32_t n);
static inline uint32_t tsl__seen_names_total(const tsl__space *space, uint32_t seen_names) {
  return ((const tsl__seen_names *)tsl__space_at(space, seen_names, seen_names))->total;
}
bool tsl__seen_names_has(const tsl__space *space, uint32_t seen_names, const uint8_t *name,
                         uint32_t n);

/* One more byte of the string, its closing quote excepted. false when out of memory (sticky). */
bool tsl__spelling_byte(tsl__space *space, tsl__spelling *s, uint8_t byte);
/* The same for several. */
bool tsl__spelling_bytes(tsl__space *space, tsl__spelling *s, const uint8_t *bytes, size_t n);
/* Is there a name that the spelling may become? */
bool tsl__seen_names_rivals(const tsl__space *space, uint32_t seen_names, const tsl__spelling *s);
/* The names of one group that begin with a text: [*lo, *hi). */
void tsl__seen_names_range(const tsl__seen_names *group, const uint8_t *text, uint32_t n,
                           uint32_t *lo, uint32_t *hi);
/* Narrow [*lo, *hi), names with the first `known` bytes in common, to those that go on with the
 * byte. */
void tsl__seen_names_narrow(const tsl__seen_names *group, uint32_t known, uint8_t byte,
                            uint32_t *lo, uint32_t *hi);
/* The same where an escape is open: *lo moves to the first name that may go on with its character,
 * or to hi. */
void tsl__seen_names_narrow_open(const tsl__seen_names *group, uint32_t known, const uint8_t *open,
                                 uint32_t count, uint32_t *lo, uint32_t hi);
/* May an escape that is open become the character of a name that begins at byte `known`? It cannot
 * where `known` is within a character. */
bool tsl__escape_opens(const uint8_t *open, uint32_t count, const tsl__spelled *name,
                       uint32_t known);
/* One more byte of an escape: the bytes of the character that it completes, 0 if none. */
uint32_t tsl__escape_byte(uint8_t open[12], uint8_t *count, uint8_t byte, uint8_t utf8[4]);

#endif
