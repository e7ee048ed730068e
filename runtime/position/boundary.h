/* boundary.h - boundary tokens: those that may pass from one item or member into the next, found
 * once for a vocabulary.
 *
 * Problem   A mask of distinct items must try the tokens that can repeat an item or a name. Only a
 *           few thousand of 128k tokens can; to look at all of them for each mask costs too much.
 * Idea      Which tokens these are depends on their bytes alone: they hold a comma, outside strings
 *           or after a quote. So they are listed once, for each kind of place. A place is inside a
 *           string or not, in an array or an object, before the first item or later.
 * Kinds     Tokens with the same outline (tsl__outline: brackets, commas, colons and quotes only)
 *           do the same to the structure of the text. They get one number, so that one trial can
 *           stand for all of a kind.
 * Example   `","` closes a string, passes a comma and opens a string: it is in `quoted`. `"},{"` is
 *           in `quoted` and `closed_quoted`: it closes the object before the comma.
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
  /* tokens of one kind have the same outline. They begin one item at most, and spell no text of it;
   * 0: no kind */
  uint32_t kind;
} tsl__passing;

#define TSL__PASSING_KINDS 256u /* kinds that are distinguished, 0 included */

typedef TSL__VEC(tsl__passing) tsl__passings;

/* A token that passes a comma and may begin the name of what comes next. */
typedef struct tsl__next_name {
  tsl_token token;
  /* how many open containers the token closes before the comma; or a constant below */
  uint16_t closes;
  uint16_t at; /* offset of the name's opening quote, or of the end of the token */
} tsl__next_name;

/* UNKNOWN: the name belongs to a container that the token begins, or the token holds more. NEVER:
 * the token has no such comma */
enum { TSL__CLOSES_UNKNOWN = UINT16_MAX - 1, TSL__CLOSES_NEVER = UINT16_MAX };

/* The boundary tokens of a vocabulary, for all its grammars. The bitsets have the width of its
 * masks. */
typedef struct tsl__boundary {
  /* tokens without any of JSON's brackets, commas, colons and quotes; inside a string: without
   * quotes and backslashes */
  uint32_t *unstructured, *unstructured_quoted;
  uint32_t *space; /* tokens of white space alone */
  size_t words;
  tsl__passings
      comma; /* outside strings: tokens with a comma outside strings, and those of `whole` */
  tsl__passings quoted; /* in a string: tokens with a quote and a comma after it */
  /* where an array's first item may begin: tokens with a whole item and a comma, and those of
   * `whole` */
  tsl__passings first;
  /* where nothing is recorded: tokens with an opening bracket, a whole item and a comma */
  tsl__passings whole;
  /* those of `comma` and `quoted` that count in an object: they close it before the comma, or begin
   * an array */
  tsl__passings closed, closed_quoted;
  /* outside strings: tokens with a closing square bracket or a line break; in a string: with a
   * quote and one of these after it */
  tsl__tokens ends, ends_quoted;
  /* outside strings, and in a string: tokens that spell more than the beginning of one item after a
   * comma, perhaps a whole item */
  tsl__passings several, several_quoted;
  /* tokens with a comma and a whole string after it, which may be a name; or with a member and the
   * beginning of a name */
  tsl__tokens named;
  /* tokens with a comma and the beginning of a name: outside strings, and in a string; sorted by
   * `closes` */
  TSL__VEC(tsl__next_name) begun, begun_quoted;
  struct tsl__name_start {
    uint32_t node, depth;
    /* nodes of the trie that have children and lie behind white space and a quote; `depth` bytes
     * lead there */
  } *names;
  uint32_t names_count, names_capacity;
  /* whole_names: signs (runtime/automaton/seen_names.h) of the names that tokens spell with both
   * quotes. name_ends: signs of the parts of names that tokens spell before a closing quote */
  uint64_t whole_names, name_ends;
  uint32_t reach; /* bytes that a token of `quoted` has before its last quote, at most */
} tsl__boundary;

/* The boundary tokens, made when first requested; NULL on failure (sticky). tsl__boundary_known
 * needs no lock: NULL where nobody requested them yet. */
const tsl__boundary *tsl__boundary_of(tsl__space *space);
static inline const tsl__boundary *tsl__boundary_known(const tsl__space *space) {
  return space->parent ? space->parent->warm.boundary
                       : atomic_load_explicit(&((tsl_vocab *)(uintptr_t)space->vocab)->boundary,
                                              memory_order_acquire);
}
/* Does a token spell the beginning of one item at most after its first comma between values? */
bool tsl__begins_one(const uint8_t *at, const uint8_t *end, bool in_string);
/* What a token does to the structure of the text, without its content. 0: a number or a literal
 * follows, or the outline is too long. *rest: the text of a string that the token begins and does
 * not end. */
uint64_t tsl__outline(const uint8_t *at, const uint8_t *end, bool in_string, const uint8_t **rest);
static inline bool tsl__is_digit(uint8_t b) { return b >= '0' && b <= '9'; }
/* May the byte be in a number or a literal? */
static inline bool tsl__is_bare(uint8_t b) {
  return tsl__is_digit(b) || ((b | 0x20) >= 'a' && (b | 0x20) <= 'z') || b == '-' || b == '+' ||
         b == '.';
}

/* Find the boundary tokens of a vocabulary; NULL: out of memory. NULL may be freed. */
tsl__boundary *tsl__boundary_make(const tsl_vocab *v, const tsl_allocator *a);
void tsl__boundary_free(tsl__boundary *c, const tsl_allocator *a);
size_t tsl__boundary_memory(const tsl__boundary *c);

#endif
