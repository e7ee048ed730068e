/* distinct_run.h - a text followed byte by byte from a position with a distinct record: what
 * distinct.c and the files beside it share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_POSITION_DISTINCT_RUN_H
#define TSL_RUNTIME_POSITION_DISTINCT_RUN_H

#include "runtime/position/distinct.h"

typedef struct tsl__run {
  tsl__stepping step;
  uint32_t open, text;
  bool in_string, escaped, in_name; /* in_name: a name that matters is under way */
  /* set before loading: an item that a comma ends is not kept, and the item after it is not
   * compared; `fresh` says where */
  bool drops_items;
  /* depth of the array whose item began after such a comma; 0: there was none */
  uint32_t fresh;
  TSL__VEC(tsl__deny) denies;
  TSL__VEC(uint8_t) bytes; /* read since `text`, if anything is watched */
  uint32_t name_text;      /* the name under way: this and `name_bytes` */
  TSL__VEC(uint8_t) name_bytes;
  tsl__spelling spelling; /* of that name, made when requested */
  TSL__VEC(uint8_t) raw;  /* a text put together */
  tsl__stepping deny;     /* for stepping the denies */
  struct tsl__run *next;  /* in the list of free runs */
} tsl__run;

/* ---- records (distinct_intern.c); all return 0 on failure, which is sticky ---------------------
 * */

uint32_t tsl__open_intern(tsl__space *space, const tsl__open *o);
/* The text that has `n` more bytes than `text`. Its own length decides where it is cut into parts,
 * so that it is the same text in whatever pieces it arrived. */
uint32_t tsl__text_intern(tsl__space *space, uint32_t text, const uint8_t *at, uint32_t n);
/* The denies are copied. */
uint32_t tsl__distinct_intern(tsl__space *space, const tsl__distinct *d);
/* The group of these texts, which are copied, in front of the group `next`. */
uint32_t tsl__used_group(tsl__space *space, uint32_t next, const tsl__spelled *texts, uint32_t n);
/* The groups `used` with one more text. */
uint32_t tsl__used_add(tsl__space *space, uint32_t used, tsl__spelled text);
/* containers of a chain; a distinct record with more has its own shape */
#define TSL__CHAIN_MAX 16u
/* The open containers, innermost first. Returns how many; 0: there are more than TSL__CHAIN_MAX. */
uint32_t tsl__open_chain(const tsl__space *space, uint32_t open, uint32_t chain[TSL__CHAIN_MAX]);

/* ---- denies (distinct_deny.c) ---------------------------------------------------------------- */

/* The space for spellings, made if need be; NULL on failure (sticky). Each use of it ends with
 * tsl__deny_leave, which adds its steps to those of `space`, and its failure. */
tsl__space *tsl__deny_enter(tsl__space *space);
void tsl__deny_leave(tsl__space *space);
/* The deny before the first byte of an item: all spellings of what is in the groups `used`. 0 on
 * failure (sticky). */
tsl__stack tsl__deny_begin(tsl__space *space, uint32_t used);
/* The deny after one more byte; 0: the item differs from everything in the groups. */
tsl__stack tsl__deny_byte(tsl__space *space, tsl__stepping *s, tsl__stack at, uint8_t byte);
/* Is the item spelled so far equal to something in the groups? */
bool tsl__deny_ends(const tsl__space *space, tsl__stack at);
/* Does the deny accept these bytes? */
bool tsl__deny_takes(tsl__space *space, tsl__stepping *s, tsl__stack at, const uint8_t *bytes,
                     size_t n);

/* ---- runs (distinct.c) ----------------------------------------------------------------------- */

/* Get a run, which may be loaded any number of times, and give it back; NULL on failure. NULL may
 * be given back. */
tsl__run *tsl__run_take(tsl__space *space);
void tsl__run_give(tsl__space *space, tsl__run *r);
bool tsl__run_load(tsl__space *space, tsl__run *r, tsl__stack at);
/* Load everything but the frames. */
bool tsl__run_load_distinct(tsl__space *space, tsl__run *r, const tsl__with_distinct *p);
/* One byte; false: it is rejected. */
bool tsl__run_byte(tsl__space *space, tsl__run *r, uint8_t byte);
/* The parts of tsl__run_byte. look_ahead, before the frames read the byte: which repetitions end
 * before it, and after it? note: what it does to the structure. */
void tsl__run_look_ahead(tsl__space *space, tsl__run *r, uint8_t byte);
bool tsl__run_note(tsl__space *space, tsl__run *r, uint8_t byte);
/* A token's bytes from a position; false if it is rejected (or on failure). */
bool tsl__run_token(tsl__space *space, tsl__run *r, tsl__stack from, tsl_token token);
/* The position that the run has come to; 0 on failure. */
tsl__stack tsl__run_position(tsl__space *space, tsl__run *r);
/* The position with the frames of `plain` and the record of the run. */
tsl__stack tsl__run_position_of(tsl__space *space, tsl__run *r, tsl__stack plain);
/* The position that is `plain` with a distinct record; 0 on failure. tsl__distinct_position_known
 * finds it only if it is there already; else 0. */
tsl__stack tsl__distinct_position(tsl__space *space, tsl__stack plain, uint32_t distinct,
                                  uint32_t text);
tsl__stack tsl__distinct_position_known(const tsl__space *space, tsl__stack plain,
                                        uint32_t distinct, uint32_t text);
/* What is spelled of a name that the frames know; NULL: they know none. */
const struct tsl__fixed *tsl__name_implied(const tsl__space *space, tsl__stack plain);
/* The record without its text and without the used items of its arrays. Records that differ in
 * these alone share it. 0 on failure. */
uint32_t tsl__distinct_shape(tsl__space *space, uint32_t distinct);
/* The text since an item began, into r->raw. */
bool tsl__run_item(tsl__space *space, tsl__run *r, uint32_t start);
/* The length of the run's text in bytes. */
uint32_t tsl__run_total(const tsl__space *space, const tsl__run *r);
/* The number of the set of names that the object has, while a name is under way; 0: none. */
uint32_t tsl__run_seen(const tsl__space *space, const tsl__run *r);
/* The name under way, decoded as far as it goes; NULL on failure. */
const tsl__spelling *tsl__run_spelling(tsl__space *space, tsl__run *r);
static inline bool tsl__run_name_empty(const tsl__run *r) {
  return !r->name_text && !r->name_bytes.n;
}
/* Is the cell's frame one that spells a name that must be new? */
bool tsl__cell_names(const tsl__space *space, const tsl__cell *c);
/* Is it known that a frame in this state can spell more than so many texts? ENDLESS: any number.
 * This function, and those down to tsl__run_watched, are in distinct_unbounded.c. */
#define TSL__ENDLESS UINT32_MAX
bool tsl__state_spells(tsl__space *space, tsl__state state, uint32_t count, uint64_t more_than);
/* Does some frame spell a new name for which there are more texts than `seen_names`? */
bool tsl__run_names_on(tsl__space *space, const tsl__run *r, uint32_t seen_names);
/* Is a string under way that can become more than so many texts (ENDLESS: any number)? Then, if no
 * more values were used, its item can be new. */
bool tsl__run_strings_on(tsl__space *space, const tsl__run *r, uint64_t more_than);
/* For tokens that lengthen a string or a number, where an item that must be new is spelled. */
typedef struct tsl__onward {
  tsl__stack plain; /* the frames; 0: nothing is known */
  uint64_t used;    /* see tsl__used_in_all */
  bool in_string;
  uint32_t known;       /* a bit for each digit that was tried */
  tsl__state state[10]; /* after each digit; 0: no number */
  uint32_t count[10];
} tsl__onward;
/* How many values were used in the arrays that are open? */
uint64_t tsl__used_in_all(const tsl__space *space, uint32_t open);
tsl__onward tsl__run_onward(const tsl__space *space, tsl__stack at);
/* Does the token `at`..`end` do that, and leave more texts than values were used? Then one of them
 * is new. Uses the run's frames. */
bool tsl__run_lengthens(tsl__space *space, tsl__run *r, tsl__onward *o, const uint8_t *at,
                        const uint8_t *end);
/* May the item or name under way still become a repetition, so that only a search can find out
 * whether a text can end? */
bool tsl__run_watched(tsl__space *space, tsl__run *r);
/* Add to *out the bytes that the frames of a position may read. They read no others.
 * (distinct_search.c) */
void tsl__may_read(tsl__space *space, tsl__stack at, tsl__bytes *out);
/* Can the innermost item under way that must be new always become any number of values?
 * (distinct_unbounded.c) */
bool tsl__run_unbounded(tsl__space *space, tsl__run *r);
/* Can a text end from where the run is? (distinct_search.c) */
bool tsl__run_alive(tsl__space *space, tsl__run *r);

#endif
