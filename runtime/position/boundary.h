/* boundary.h - boundary tokens: those that may pass from one item or member into the next, found
 * once for a vocabulary.
 *
 * Problem   A mask of distinct items must try the tokens that can repeat an item or a name. Only a
 *           few thousand of 128k tokens can; to look at all of them for each mask costs too much.
 * Idea      Which tokens these are depends on their bytes alone: they hold a comma, outside strings
 *           or after a quote. So they are listed once, for each kind of place. Places differ by
 *           string or not, array or object, first item or later ones.
 * Kinds     Tokens with the same outline (tsl__outline: brackets, commas, colons and quotes only)
 *           do the same to the structure of the text. They get one number, so that one trial can
 *           stand for all of a kind.
 * Example   `","` closes a string, passes a comma and opens a string: it is in `quoted`. `"},{"` is
 *           in `quoted` and `closed_quoted`: in an object it must be closed before the comma.
 * Cost      One pass over the bytes of the vocabulary. Memory: three bitsets and the lists.
 * Tested by tests/position/test_distinct.c, tests/engine/test_costs.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_BOUNDARY_H
#define TSL_RUNTIME_POSITION_BOUNDARY_H

#include "runtime/automaton/space.h"

typedef TSL__VEC(tsl_token) tsl__tokens;

/* A token that may pass from one item into the next. */
typedef struct tsl__passing {
  tsl_token token;
  /* those of one kind have the same outline, begin one item at most and spell no text of it; 0:
   * there is no kind */
  uint32_t kind;
} tsl__passing;

#define TSL__PASSING_KINDS 256u /* that are distinguished, 0 among them */

typedef TSL__VEC(tsl__passing) tsl__passings;

/* A token that passes a comma and may begin the name of what comes next. */
typedef struct tsl__next_name {
  tsl_token token;
  /* containers that were open and are closed before the comma; or one of those below */
  uint16_t closes;
  uint16_t at; /* in its bytes: where the name's opening quote is, or the end */
} tsl__next_name;

/* a container that it begins has that name, or it holds more; no comma comes */
enum { TSL__CLOSES_UNKNOWN = UINT16_MAX - 1, TSL__CLOSES_NEVER = UINT16_MAX };

/* What the vocabulary has for all: tokens that may pass from one item into the next, and bitsets of
 * its mask width. */
typedef struct tsl__boundary {
  /* without any of JSON's brackets, commas, colons and quotes; in a string: without quotes and
   * backslashes */
  uint32_t *unstructured, *unstructured_quoted;
  uint32_t *space; /* white space alone */
  size_t words;
  tsl__passings comma;  /* outside strings: with a comma that is in none, and those of `whole` */
  tsl__passings quoted; /* in a string: with a quote and a comma after it */
  /* where an array's first item may begin: a whole item and a comma, and those of `whole` */
  tsl__passings first;
  /* where nothing is remembered: with an opening bracket, a whole item and a comma */
  tsl__passings whole;
  /* `comma` and `quoted` in an object: it must be closed before the comma, or an array begun */
  tsl__passings closed, closed_quoted;
  /* outside strings: with a closing square bracket or a line break; in a string: with a quote and
   * one of these after it */
  tsl__tokens ends, ends_quoted;
  /* outside strings, in a string: which spell more than the beginning of one item after a comma,
   * perhaps a whole one */
  tsl__passings several, several_quoted;
  /* with a comma and a whole string after it, which may be a name; or a member and the beginning of
   * another one's name */
  tsl__tokens named;
  /* with a comma and the beginning of a name: which, for what begins outside strings, and within
   * one; sorted by `closes` */
  TSL__VEC(tsl__next_name) begun, begun_quoted;
  struct tsl__name_start {
    uint32_t node, depth;
    /* nodes of the trie after white space and a quote that have children; `depth` bytes lead
     * there */
  } *names;
  uint32_t names_count, names_capacity;
  /* signs (runtime/automaton/seen_names.h) of names that a token spells, with both quotes; and of
   * what it spells of one before the quote that closes it */
  uint64_t whole_names, name_ends;
} tsl__boundary;

/* What the vocabulary has for all, from the layer that has it; NULL on failure (sticky). Without
 * the lock: NULL where it was not requested yet. */
const tsl__boundary *tsl__boundary_of(tsl__space *space);
static inline const tsl__boundary *tsl__boundary_known(const tsl__space *space) {
  return space->parent ? space->parent->warm.boundary
                       : atomic_load_explicit(&((tsl_vocab *)(uintptr_t)space->vocab)->boundary,
                                              memory_order_acquire);
}
/* Does a token spell the beginning of one item at most after its first comma between values? */
bool tsl__begins_one(const uint8_t *at, const uint8_t *end, bool in_string);
/* What a token does to the structure of the text, its content left out. 0 where a number or a
 * literal comes after that, or there is too much. *rest: the text of a string that it begins and
 * does not end. */
uint64_t tsl__outline(const uint8_t *at, const uint8_t *end, bool in_string, const uint8_t **rest);
/* May the byte be in a number or a literal? */
static inline bool tsl__is_bare(uint8_t b) {
  return (b >= '0' && b <= '9') || ((b | 0x20) >= 'a' && (b | 0x20) <= 'z') || b == '-' ||
         b == '+' || b == '.';
}

/* Make it for a vocabulary; NULL: out of memory. NULL may be freed. */
tsl__boundary *tsl__boundary_make(const tsl_vocab *v, const tsl_allocator *a);
void tsl__boundary_free(tsl__boundary *c, const tsl_allocator *a);
size_t tsl__boundary_memory(const tsl__boundary *c);

#endif
