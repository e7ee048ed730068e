/* label.c - see label.h.
 *
 * Problem   Some code points need a neighbour of some kind. Examples: U+00B7 stands between two l,
 *           a Greek keraia before Greek, a joiner after a virama. Letters that are written from
 *           right to left have rules for the whole label, and for all labels of the name.
 * Idea      Sort the code points into a few classes (idn_points.def). What the rules ask about is
 *           then a handful of bits: see tsl__label.
 * Ends      What must follow can always follow: a code point that would need something which the
 *           label's direction forbids is not allowed.
 * Tested by tests/formats/test_formats.c (tests/cases/labels.txt)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/formats/label.h"

enum {
  HYPHEN,
  MIDDLE_DOT,
  KERAIA,
  GERESH,
  NON_JOINER,
  JOINER,
  KATAKANA_DOT,
  LETTER_L,
  VIRAMA,
  MARK,
  OTHER
};
enum { ANY, ASCII, GREEK, HEBREW, EAST_ASIAN };
/* ARABIC, EUROPEAN: digits. NONSPACING: marks. */
enum { LEFT, RIGHT, ARABIC, EUROPEAN, NONSPACING, NEUTRAL };
enum { ALONE, TO_LEFT, TO_RIGHT, TO_BOTH, TRANSPARENT };

static const struct class {
  uint8_t rule, script, direction, joining;
} classes[TSL__LABEL_CLASSES] = {
#define TSL__CLASS(number, rule, script, direction, joining) \
  [number] = {rule, script, direction, joining},
#define TSL__POINTS(class, first, step, count)
#include "compiler/formats/idn_points.def"
#undef TSL__CLASS
#undef TSL__POINTS
};

static const tsl__label_points points[] = {
#define TSL__CLASS(number, rule, script, direction, joining)
#define TSL__POINTS(class, first, step, count) \
  {first, (first) + ((count) - 1) * (step), class, step},
#include "compiler/formats/idn_points.def"
#undef TSL__CLASS
#undef TSL__POINTS
};
#define POINTS (sizeof points / sizeof *points)

const tsl__label_points *tsl__label_points_all(size_t *n) {
  *n = POINTS;
  return points;
}

unsigned tsl__label_class(uint32_t *point) {
  size_t low = 0, high = POINTS;
  while (low < high) { /* the first row that does not end before it */
    size_t middle = (low + high) / 2;
    if (points[middle].last < *point)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == POINTS) return TSL__LABEL_CLASSES;
  const tsl__label_points *row = &points[low];
  if (*point < row->first)
    *point = row->first;
  else
    *point += (*point - row->first) % row->step; /* the step is 1 or 2 */
  return row->class;
}

/* ---- the rules ------------------------------------------------------------------------------- */

enum { AFTER_START, AFTER_OTHER, AFTER_HYPHEN, AFTER_L, AFTER_HEBREW, AFTER_VIRAMA };
enum { NEED_NOTHING, NEED_L, NEED_GREEK, NEED_JOINING };
enum { DOT_NONE, DOT_WAITS, DOT_FINE }; /* DOT_FINE: a letter that justifies it was seen */
/* WEAK: begins with a digit or the like, which only names without right-to-left labels may */
enum { UNDIRECTED, LEFT_TO_RIGHT, RIGHT_TO_LEFT, WEAK };

uint32_t tsl__label_pack(const tsl__label *s) {
  return s->count | s->total << 6 | s->after << 14 | s->need << 17 | s->number << 19 |
         s->dot << 21 | s->direction << 23 | (uint32_t)s->joins << 25 |
         (uint32_t)s->past_ascii << 26 | (uint32_t)s->ends << 27 | s->name << 28;
}

tsl__label tsl__label_unpack(uint32_t p) {
  return (tsl__label){.count = p & 63,
                      .total = p >> 6 & 255,
                      .after = p >> 14 & 7,
                      .need = p >> 17 & 3,
                      .number = p >> 19 & 3,
                      .dot = p >> 21 & 3,
                      .direction = p >> 23 & 3,
                      .joins = (p >> 25 & 1) != 0,
                      .past_ascii = (p >> 26 & 1) != 0,
                      .ends = (p >> 27 & 1) != 0,
                      .name = p >> 28 & 3};
}

/* May a code point of the class stand there, as far as its direction goes? */
static bool is_directed(const tsl__label *s, const struct class *c) {
  switch (s->direction) {
  case UNDIRECTED:
    if (c->direction == ARABIC) return false;
    return !(s->name & (c->direction == RIGHT  ? TSL__NAME_ODD
                        : c->direction == LEFT ? 0
                                               : TSL__NAME_RIGHT_TO_LEFT));
  case RIGHT_TO_LEFT:
    /* what the last three need is written from left to right */
    return c->direction != LEFT && !(c->direction == EUROPEAN && s->number == ARABIC) &&
           !(c->direction == ARABIC && s->number == EUROPEAN) && c->rule != MIDDLE_DOT &&
           c->rule != KERAIA && c->rule != KATAKANA_DOT;
  default: return c->direction != RIGHT && c->direction != ARABIC;
  }
}

static bool has_neighbour(const tsl__label *s, const struct class *c) {
  switch (c->rule) {
  case HYPHEN: return s->after != AFTER_START && !(s->count == 3 && s->after == AFTER_HYPHEN);
  case MARK:
  case VIRAMA: return s->after != AFTER_START;
  case MIDDLE_DOT: return s->after == AFTER_L;
  case GERESH: return s->after == AFTER_HEBREW;
  case JOINER: return s->after == AFTER_VIRAMA;
  case NON_JOINER: return s->after == AFTER_VIRAMA || s->joins;
  default: return true;
  }
}

static bool is_needed(const tsl__label *s, const struct class *c) {
  switch (s->need) {
  case NEED_L: return c->rule == LETTER_L;
  case NEED_GREEK: return c->script == GREEK;
  case NEED_JOINING:
    return c->joining == TO_RIGHT || c->joining == TO_BOTH || c->joining == TRANSPARENT;
  default: return true;
  }
}

static uint32_t after_class(const struct class *c) {
  if (c->rule == HYPHEN) return AFTER_HYPHEN;
  if (c->rule == LETTER_L) return AFTER_L;
  if (c->rule == VIRAMA) return AFTER_VIRAMA;
  return c->script == HEBREW ? AFTER_HEBREW : AFTER_OTHER;
}

static uint32_t need_after(const tsl__label *s, const struct class *c) {
  if (c->rule == MIDDLE_DOT) return NEED_L;
  if (c->rule == KERAIA) return NEED_GREEK;
  if (c->rule == NON_JOINER && s->after != AFTER_VIRAMA) return NEED_JOINING;
  return s->need == NEED_JOINING && c->joining == TRANSPARENT ? NEED_JOINING : NEED_NOTHING;
}

static void direct(tsl__label *s, const struct class *c) {
  if (s->direction == UNDIRECTED)
    s->direction = c->direction == RIGHT  ? RIGHT_TO_LEFT
                   : c->direction == LEFT ? LEFT_TO_RIGHT
                                          : WEAK;
  if (s->direction == RIGHT_TO_LEFT && (c->direction == ARABIC || c->direction == EUROPEAN))
    s->number = c->direction;
  if (c->direction != NONSPACING) s->ends = c->direction != NEUTRAL;
}

bool tsl__label_next(tsl__label *s, unsigned class) {
  const struct class *c = &classes[class];
  if (!is_needed(s, c) || !has_neighbour(s, c) || !is_directed(s, c)) return false;
  s->need = need_after(s, c);
  direct(s, c);
  s->count++;
  s->total++;
  s->after = after_class(c);
  if (c->joining != TRANSPARENT) s->joins = c->joining == TO_LEFT || c->joining == TO_BOTH;
  if (c->rule == KATAKANA_DOT && s->dot == DOT_NONE) s->dot = DOT_WAITS;
  if (c->script == EAST_ASIAN) s->dot = DOT_FINE;
  if (c->script != ASCII) s->past_ascii = true;
  return true;
}

/* What is needed next, then a letter for the dot. Else there is one more where the end would be
 * wrong. */
uint32_t tsl__label_to_go(const tsl__label *s, uint32_t *bytes) {
  static const uint8_t of_need[] = {0, 1, 2, 3};
  bool right = s->direction == RIGHT_TO_LEFT;
  bool strict = right || s->name & TSL__NAME_RIGHT_TO_LEFT;
  uint32_t n = (s->need != NEED_NOTHING) + (s->dot == DOT_WAITS);
  *bytes = right && s->need == NEED_JOINING ? 2 : of_need[s->need];
  if (s->dot == DOT_WAITS) *bytes += 3;
  if (n) return n;
  if (!s->past_ascii)
    *bytes = 2;
  else if (s->after == AFTER_HYPHEN || (strict && !s->ends))
    *bytes = right ? 2 : 1;
  return *bytes > 0;
}

uint32_t tsl__label_name(const tsl__label *s) {
  bool odd = s->direction == WEAK || (s->direction == LEFT_TO_RIGHT && !s->ends);
  return s->name | (s->direction == RIGHT_TO_LEFT ? TSL__NAME_RIGHT_TO_LEFT : 0) |
         (odd ? TSL__NAME_ODD : 0);
}

bool tsl__label_is_lost(const uint8_t *of, uint32_t n) {
  bool seen[NEUTRAL + 1] = {false};
  for (uint32_t i = 0; i < n; i++) {
    seen[classes[of[i]].direction] = true;
    if (classes[of[i]].rule == MIDDLE_DOT && (!i || classes[of[i - 1]].rule != LETTER_L ||
                                              i + 1 == n || classes[of[i + 1]].rule != LETTER_L))
      return true;
  }
  return (seen[LEFT] && (seen[RIGHT] || seen[ARABIC])) || (seen[ARABIC] && seen[EUROPEAN]);
}
