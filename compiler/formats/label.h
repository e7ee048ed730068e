/* label.h - what a label of an internationalised host name may be, as a machine that reads one code
 * point after another. The rules are those of RFC 5892 (code points and their context), RFC 5891
 * (hyphens, the first code point) and RFC 5893 (direction).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_FORMATS_LABEL_H
#define TSL_COMPILER_FORMATS_LABEL_H

#include "compiler/formats/formats.h"
#include "runtime/core/base.h"

/* code points: an A-label has 63 octets, four of them "xn--", and each code point takes one at
 * least */
#define TSL__LABEL_POINTS 59u
#define TSL__NAME_LONGEST 253u /* code points of a name */
#define TSL__NAME_FREE 255u    /* in place of a `total`: neither label nor name has a limit */
#define TSL__LABEL_CLASSES 32u
#define TSL__NAME_ASCII "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* How far the limit of the label is, in the first one of a name, or else that of the name. What may
 * be needed to end there does not count. */
static inline uint32_t tsl__label_limit(bool first, uint32_t label, uint32_t name, uint32_t to_go) {
  const uint32_t room = first ? label : name, need = first ? to_go : TSL__A_LABEL_TO_GO + to_go;
  return room < need ? 0 : room - need;
}

/* What labels before say about a name (RFC 5893 section 2). RIGHT_TO_LEFT: one is so. ODD: one
 * breaks a rule that holds only in names with such a label. Never both. */
enum { TSL__NAME_RIGHT_TO_LEFT = 1, TSL__NAME_ODD = 2 };

typedef struct tsl__label {
  uint32_t count, total; /* code points of the label, and of the name with it */
  uint32_t after;        /* what stood before, as far as it matters */
  uint32_t need;         /* what must follow */
  uint32_t number;       /* which decimal digits were seen, where only one kind may be */
  uint32_t dot;          /* a Katakana middle dot: is the letter there that it needs? */
  uint32_t direction;    /* by the first code point */
  bool joins;            /* before: a letter that joins to the left, and marks since */
  bool past_ascii;       /* a code point past ASCII was seen */
  bool ends;             /* the last code point but marks may be the last of a label */
  uint32_t name;         /* TSL__NAME_ flags of the labels before */
} tsl__label;

/* All of it as a number, and back. */
uint32_t tsl__label_pack(const tsl__label *s);
tsl__label tsl__label_unpack(uint32_t packed);

/* Read a code point of the class; false: it is not allowed there. */
bool tsl__label_next(tsl__label *s, unsigned class);
/* The fewest code points to the end, and their bytes in UTF-8; 0: the label may end here. */
uint32_t tsl__label_to_go(const tsl__label *s, uint32_t *bytes);
/* The flags of the name when the label ends here. */
uint32_t tsl__label_name(const tsl__label *s);

/* Is it known of these classes that no label which has them in this order, and code points past
 * ASCII besides, is valid? Not all such are known. */
bool tsl__label_is_lost(const uint8_t *of, uint32_t n);

/* Code points of one class, `step` apart. */
typedef struct tsl__label_points {
  uint32_t first, last;
  uint8_t class, step;
} tsl__label_points;
/* All allowed ones, in order. */
const tsl__label_points *tsl__label_points_all(size_t *n);
/* The class of the first allowed code point from *point on, to which *point is moved;
 * TSL__LABEL_CLASSES: there is none. Cost: a dozen comparisons. */
unsigned tsl__label_class(uint32_t *point);

#endif
