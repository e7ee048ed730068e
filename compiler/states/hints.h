/* hints.h - what the walk may know of a state, besides its transitions. See tsl__hint in
 * runtime/automaton/state.h.
 *
 * Contract  Where multi-byte characters are letters, the expression matches valid UTF-8 only: every
 *           front end speaks of code points, never of lone bytes from 0x80 on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_STATES_HINTS_H
#define TSL_COMPILER_STATES_HINTS_H

#include "compiler/expr/deriv.h"

typedef struct tsl__letters {
  tsl__bytes letters, exits; /* letters empty: nothing to say */
  /* non-ASCII letters: those of this class; NULL: as the bytes say, all or none */
  const tsl__nonascii_class *nonascii;
  bool counted, ends, calls;
  /* a character that is cut off may be one of `nonascii`, or of what comes where no more of these
   * may: see runtime/walk/nonascii.h */
  bool whole;
  /* limit: any text of at most so many letters survives. dead: none with more letters does */
  uint32_t limit, dead;
  tsl__expr base, except; /* of a difference; base NONE: none */
  bool limited;           /* of `except` some end before a closing quote */
  tsl__expr like;         /* the same without its length limit; NONE: no such form */
  uint32_t like_limit;    /* over texts of at most so many characters the two are equal */
  uint32_t like_dead;     /* no text has more characters than this */
  bool like_far;          /* where tokens might have more, `like` is of no use */
  /* if not 0: `like_limit` is also at most so many characters for each iteration that the active
   * loop has left */
  uint32_t like_unit;
  /* a part of e's texts, those of few repetitions: whatever it takes, e takes; 0: not known */
  tsl__expr low;
  /* e without bounds of its length, which takes what e takes and leaves it open, as far as
   * `like_limit` and `like_dead` say; 0: not known */
  tsl__expr open;
  /* what has the same beginnings of texts of at most `alone_limit` characters, if nothing follows;
   * none has more than `alone_dead`; 0: not known */
  tsl__expr alone;
  uint32_t alone_limit, alone_dead;
  uint32_t low_left; /* where the active loop has at least so many iterations left */
} tsl__letters;

/* The form of the frame `e`, whose active loop (if any) is in `phase`: fill *out but for the
 * letters. */
void tsl__form_of(tsl__exprs *x, tsl__expr e, tsl__phase phase, tsl__letters *out);
/* Its letters, which may take long to find: fill *out but for the form. */
void tsl__letters_of(tsl__exprs *x, tsl__expr e, tsl__letters *out);

/* The kind of the frame `e`, if it is known at once: TSL__TEXT_... A frame that counts also gets
 * the bounds of its loop. */
unsigned tsl__text_of(tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most);
/* The same for TSL__TEXT_COUNTED and TSL__TEXT_QUOTED only. tsl__text_of does not know the
 * latter. */
unsigned tsl__counted_of(tsl__exprs *x, tsl__expr e, uint32_t *least, uint32_t *most);

/* ---- hints_like.c ---------------------------------------------------------------------------- */

/* Find out ahead how much may still be missing of a text. That is for the layers above too, which
 * need it where a length is limited. */
void tsl__need_ahead(tsl__exprs *x, tsl__expr text);

/* ---- hints.c: hints_like's own --------------------------------------------------------------- */

/* Does no member of e hold this byte? By structure; false if in doubt. */
bool tsl__spares(const tsl__exprs *x, tsl__expr e, uint8_t byte);

/* ---- hints_like.c: hints's own --------------------------------------------------------------- */

#define TSL__LIKE_ENOUGH 17u /* from here on the walk tries the few longer tokens one by one */

/* e without its limit of length, if a part of e is such a limit: texts of *min to *limit characters
 * (*limit TSL__INF: none found). `whole`: e is under JSTR, and the part counts any characters. Else
 * the part is up to so many characters of a class, of which only the maximum is left out. */
tsl__expr tsl__without_length(tsl__exprs *x, tsl__expr e, bool whole, uint32_t *min,
                              uint32_t *limit);
/* Fill in `like` for the texts of `rest` with at most `length` characters; `begun`: the active
 * loop, if any, has its minimum; `json`: under JSTR. */
void tsl__far_from_limit(tsl__exprs *x, tsl__expr rest, bool begun, uint32_t length, bool json,
                         tsl__letters *out);
/* Fill in `open` of e (under JSTR), of which texts that are too short go on. */
void tsl__far_from_bounds(tsl__exprs *x, tsl__expr e, tsl__letters *out);
/* Fill in `like` of e, whose active loop has had all its iterations. */
void tsl__nonascii_loop(tsl__exprs *x, tsl__expr e, tsl__letters *out);
/* hints_any.c: the same of counts of one class, beside one another and within one another. */
void tsl__any_begins(tsl__exprs *x, tsl__expr e, tsl__letters *out);
/* hints_any.c: letters of which *most, or more, may come, whichever they are. *ends: they may be a
 * whole text. *dead: the same number if no more may come; TSL__INF: that is not known. False: there
 * are no such letters. */
struct tsl__letter_set;
bool tsl__letters_by_room(tsl__exprs *x, tsl__expr e, struct tsl__letter_set *letters,
                          uint32_t *most, uint32_t *dead, bool *ends);
/* Fill in `like` of e (under JSTR) if it forbids only texts that are long. */
void tsl__far_from_forbidden(tsl__exprs *x, tsl__expr e, tsl__letters *out);
/* A sequence or alternatives, far from the bounds of their parts. */
void tsl__far_from_counts(tsl__exprs *x, tsl__expr e, bool begun, tsl__letters *out);

/* ---- need.c ---------------------------------------------------------------------------------- */

#define TSL__NEED_UNKNOWN UINT32_MAX
/* An upper bound of the fewest bytes that complete a text of e, after any beginning of one. It is
 * found by structure if that is enough to know that it is far below `length`. */
uint32_t tsl__need_of(tsl__exprs *x, tsl__expr e, uint32_t length);
/* Fill in `alone` of e, if it looks for something among any characters of a class. */
void tsl__alone_of(tsl__exprs *x, tsl__expr e, tsl__letters *out);

#endif
