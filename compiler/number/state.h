/* state.h - what has been read of a number, and what may follow. See state.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_NUMBER_STATE_H
#define TSL_COMPILER_NUMBER_STATE_H

#include "compiler/number/nat.h"
#include "compiler/number/number.h"

/* an exponent bound that is none; -TSL__EXPONENT_INF below */
#define TSL__EXPONENT_INF (INT64_MAX / 4)
#define TSL__TRACKERS (TSL__NUMBER_NON_MULTIPLES + 1)

/* unit × 10^exponent: a number of which the value is to be, or not to be, a multiple. */
typedef struct tsl__tracker {
  const tsl__nat *unit; /* not divisible by 10; only unit->n limbs are there */
  int64_t exponent;
  const tsl__nat *odd;  /* unit without its factors 2 and 5, kept as unit is */
  uint32_t twos, fives; /* how many of them unit has */
  uint32_t depth;       /* the larger of the two: 10^depth clears both */
  /* its other prime factors are all in tracker 0's unit: members that are multiples of 10^depth ×
   * 10^exponent are multiples of it */
  bool implied;
} tsl__tracker;

/* The magnitudes that one sign admits. Built from a canonical spec that is not empty. */
typedef struct tsl__side {
  tsl__exprs *x; /* counts work on long numbers; may be NULL */
  /* limbs of units, bounds and excluded values; 0 where they are too few to be worth counting */
  uint32_t limbs;
  uint32_t spelling;
  bool zero;     /* 0 is a member */
  bool positive; /* so is something above 0 */
  bool has_low, has_high, low_exclusive, high_exclusive;
  /* tracker 0 is what the value is a multiple of; the others are what it is not */
  bool has_multiple;
  tsl__decimal low, high; /* positive */
  tsl__tracker trackers[TSL__TRACKERS];
  uint32_t tracker_count, excluded_count;
  const tsl__decimal *excluded; /* positive */
  uint32_t spread; /* any 10^wide consecutive units of tracker 0 hold a member, however unlucky */
  /* PRINTED: the most digits before the point and behind it, and exponents from least to most */
  int64_t whole_max, fraction_max, least_exponent, most_exponent;
} tsl__side;

typedef enum tsl__number_phase {
  TSL__NUMBER_BEGIN, /* nothing but perhaps a sign */
  TSL__NUMBER_ZERO,  /* "0" */
  TSL__NUMBER_WHOLE, /* "12" */
  TSL__NUMBER_POINT, /* "12." */
  TSL__NUMBER_FRACTION
} tsl__number_phase;

/* An excluded value whose digits so far agree with the prefix: the two are equal if the rest agrees
 * and the exponent is `at`. */
typedef struct tsl__live {
  uint32_t index;
  int64_t at;
} tsl__live;

/* A prefix, as far as it matters. M: the digits so far as an integer. "Exponent" means the E that
 * would follow the digits so far if the mantissa ended here. More digits d make M.dddEe, whose
 * interval [M, M + 1) × 10^E they cut down. */
typedef struct tsl__number_state {
  tsl__number_phase phase;
  bool significant; /* M > 0 */
  /* M is a prefix of the bound's digits: at exponent `low` (`high`) the bound is undecided */
  bool low_open, high_open;
  int64_t fraction; /* digits after the point */
  int64_t position; /* digits of M, as far as an open bound or live value can say */
  /* PRINTED: the digits before the point, or behind it, of which there may be `left` more.
   * `single`: before the point stands one digit, not 0, so that an exponent may follow */
  int64_t left;
  bool single;
  uint64_t tried; /* questions since tsl__number_state_place, for the count of work */
  /* exponents from low to high meet the bounds, whatever follows (but for an open bound at its own
   * exponent) */
  int64_t low, high;
  /* M × 10^(E - fraction) is a multiple from this exponent on; TSL__EXPONENT_INF: never */
  int64_t ready[TSL__TRACKERS];
  tsl__nat *residue[TSL__TRACKERS]; /* M mod unit; unit->n + 1 limbs are there */
  uint32_t live_count;
  tsl__live *live; /* excluded_count are there */
} tsl__number_state;

/* Exponents that may follow: low … high without the holes. */
typedef struct tsl__exponents {
  int64_t low, high; /* low > high: none */
  uint32_t hole_count;
  int64_t holes[TSL__NUMBER_EXCLUDED]; /* in no order; all of them between low and high */
} tsl__exponents;

/* The side of `spec` (canonical, not empty) for a sign; memory from `arena`, decimals borrowed.
 * Work on long numbers is counted in x (NULL: by nobody), now and in all questions about the side.
 * Once x has stopped, the answers are of no meaning.
 * Errors: NO_MEMORY, and what stopped x. */
tsl_status tsl__side_make(tsl__side *side, tsl__exprs *x, tsl__arena *arena,
                          const tsl__number_spec *spec, bool negative);
bool tsl__side_equal(const tsl__side *a, const tsl__side *b);

/* A state lives in memory of this size, aligned as malloc's; its arrays lie behind it. The content
 * is undefined until begin or as the caller fills it. */
size_t tsl__number_state_size(const tsl__side *side);
tsl__number_state *tsl__number_state_place(const tsl__side *side, void *memory);
void tsl__number_state_begin(const tsl__side *side, tsl__number_state *st);
/* Read a digit or the point. False, and st unspecified, if the grammar of numbers or the side has
 * no completion then. */
bool tsl__number_state_push(const tsl__side *side, tsl__number_state *st, uint8_t byte);
/* The exponents for which the value so far is a member (0: as it stands); spelling is not looked
 * at. Not in phase BEGIN or POINT. */
void tsl__number_state_exponents(const tsl__side *side, const tsl__number_state *st,
                                 tsl__exponents *out);
bool tsl__number_state_nullable(const tsl__side *side, const tsl__number_state *st);
/* The fewest bytes to finish, known to be at least `at_least`. A lower bound if more than 4,400 are
 * needed, or if the search would take long (units of more than 108 digits). `scratch` is
 * overwritten. */
uint32_t tsl__number_state_shortest(const tsl__side *side, const tsl__number_state *st,
                                    uint32_t at_least, tsl__number_state *scratch);
/* May anything but an exponent follow that depends on the prefix? False: the rest is free (any
 * digits, fraction, exponent). */
bool tsl__number_state_free(const tsl__side *side, const tsl__number_state *st);

#endif
