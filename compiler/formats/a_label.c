/* a_label.c - A-labels: what stands after "xn--" is the Punycode (RFC 3492) of a valid U-label.
 *
 * Problem   Punycode has the ASCII characters of a label, and a hyphen if there are any. Then comes
 *           a delta for each other code point, in their order. It says where the code point is
 *           inserted, and how much greater it is than the one before. Whether the label is valid is
 *           known at its end. But a text that can't be completed must not be begun.
 * Idea      Decode while reading. A state has what was decoded so far, as classes of label.c, and
 *           the delta that is being read. A state is entered only if a way to the end is known. The
 *           label is valid as it is. Or it is so when the delta ends as the least number that makes
 *           it so. States are made when they are reached and interned.
 * Hyphen    The last hyphen ends the ASCII characters, and whether one is the last is not known.
 *           So the language is a union. One state reads ASCII characters, with a hyphen to come,
 *           and another reads deltas.
 * Example   "bcher-kva": after "bcher-" the least number that leads to a valid label is 570, for
 *           U+00DF in front, three octets. "kva" is 745 and inserts U+00FC after the b.
 * Two       One more delta is not always enough. "i1b" is a lone U+0902, which is valid with a
 *           letter in front. After "i1b6" the next delta can only insert behind it; a second one
 *           can insert in front. So two are tried if one is not enough.
 * Limits    Valid labels are refused if a part of them, read from the left, takes more than that.
 *           The same holds for more than TSL__A_LABEL_TO_GO octets. Of 9,775 random ones 2 were.
 * Cost      A state takes some microseconds, up to a millisecond where two deltas are tried. Nearly
 *           each text is a state of its own.
 * Tested by tests/formats/test_formats.c (tests/cases/labels.txt)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/node.h"
#include "compiler/formats/formats.h"
#include "compiler/formats/label.h"
#include "runtime/core/pool.h"

#define LABEL_MAX 63u
#define PREFIX 4u       /* octets of "xn--" */
#define TRIES_MAX 1024u /* numbers that one delta is tried with */
#define MENDED_MAX 16u  /* of those, places and classes that a second delta is tried after */

/* RFC 3492 section 5 */
#define BASE 36u
#define T_MIN 1u
#define T_MAX 26u
#define SKEW 38u
#define DAMP 700u
#define INITIAL_BIAS 72u
#define INITIAL_N 0x80u

typedef struct puny {
  uint64_t i, weight; /* of the delta so far, `from` included; of its next digit */
  uint32_t from;      /* the place after the last insertion; 0: there was none */
  uint32_t n, bias, k;
  uint8_t label, total; /* octets so far */
  uint8_t name;         /* TSL__NAME_ flags of the labels before */
  uint8_t basic;        /* reads ASCII characters, and a hyphen is to come */
  uint8_t count;        /* code points so far, and their classes */
  uint8_t classes[TSL__LABEL_POINTS];
} puny;

typedef struct known {
  puny s;
  uint32_t to_go; /* octets of the way to the end that is known */
} known;

typedef struct table {
  tsl__exprs *x;
  void *idn; /* what idn.c goes on with; NULL: a plain name */
  TSL__VEC(known) states;
  tsl__index index; /* of the states */
} table;

static void destroy(void *ctx) {
  table *t = ctx;
  const tsl_allocator a = *tsl__exprs_allocator(t->x);
  tsl__vec_free(&a, &t->states);
  tsl__index_free(&t->index, &a);
  tsl__free(&a, t, sizeof *t);
}

/* ---- decoding -------------------------------------------------------------------------------- */

static uint32_t threshold(uint32_t k, uint32_t bias) {
  return k <= bias + T_MIN ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
}

static uint32_t adapt(uint64_t delta, uint32_t points, bool first) {
  uint32_t k = 0;
  delta /= first ? DAMP : 2;
  delta += delta / points;
  for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE) delta /= BASE - T_MIN;
  return k + (uint32_t)((BASE - T_MIN + 1) * delta / (delta + SKEW));
}

/* Digits that spell `number` as what is left of a delta. */
static uint32_t digits_of(uint64_t number, uint32_t k, uint32_t bias) {
  uint32_t digits = 1;
  for (uint32_t t; number >= (t = threshold(k, bias)); k += BASE, digits++)
    number = (number - t) / (BASE - t);
  return digits;
}

/* A delta begins. */
static void begin_delta(puny *s, uint32_t from) {
  s->i = s->from = from;
  s->weight = 1;
  s->k = BASE;
}

static bool in_delta(const puny *s) { return s->k != BASE; }

static void insert(puny *s, uint32_t at, unsigned class) {
  memmove(s->classes + at + 1, s->classes + at, s->count - at);
  s->classes[at] = (uint8_t) class;
  s->count++;
}

/* Is it a valid label, with `class` inserted at `at` if at <= count? */
static bool is_valid(const puny *s, uint32_t at, unsigned class, tsl__label *label) {
  uint32_t bytes;
  *label = (tsl__label){.name = s->name};
  for (uint32_t i = 0; i <= s->count; i++)
    if ((i == at && !tsl__label_next(label, class)) ||
        (i < s->count && !tsl__label_next(label, s->classes[i])))
      return false;
  return tsl__label_to_go(label, &bytes) == 0;
}

/* The delta ends as a number with which `class` is inserted at `at`, for the code point `n`. */
static void end_delta(puny *s, uint32_t n, uint32_t at, unsigned class) {
  s->bias = adapt(s->i - s->from, s->count + 1u, s->from == 0);
  s->n = n;
  insert(s, at, class);
  begin_delta(s, at + 1);
}

static uint32_t nearest(const puny *s, uint32_t deltas, uint32_t *tries);

/* The digits that a valid label takes after the delta has inserted that; 0: none are known. */
static uint32_t digits_after(const puny *s, uint64_t i, uint32_t n, unsigned class, uint32_t deltas,
                             uint32_t *tries) {
  puny t = *s;
  t.i = i;
  end_delta(&t, n, (uint32_t)(i % (s->count + 1u)), class);
  return nearest(&t, deltas, tries);
}

/* Digits to a valid label; 0: none are known. What is left of the delta is the least number that
 * makes one, with `deltas` - 1 deltas after it. Adds to *tries. */
static uint32_t nearest(const puny *s, uint32_t deltas, uint32_t *tries) {
  uint64_t invalid[TSL__LABEL_POINTS + 1] = {0}; /* at each place: the classes that are */
  uint32_t places = s->count + 1u, mended = 0;
  uint64_t number = 0;
  if (s->count == TSL__LABEL_POINTS) return 0;
  for (uint32_t n = 0; n < TRIES_MAX; n++, ++*tries) {
    uint64_t i = s->i + s->weight * number, wanted = s->n + i / places;
    uint32_t at = (uint32_t)(i % places);
    if (wanted > 0x10FFFF) return 0;
    uint32_t point = (uint32_t)wanted;
    unsigned class = tsl__label_class(&point);
    tsl__label label;
    if (class == TSL__LABEL_CLASSES) return 0;
    if (point != wanted) { /* on to the next allowed one */
      number = ((uint64_t)(point - s->n) * places - s->i + s->weight - 1) / s->weight;
      continue;
    }
    if (!(invalid[at] >> class & 1)) {
      invalid[at] |= (uint64_t)1 << class;
      if (deltas > 1) {
        uint32_t more = digits_after(s, i, point, class, deltas - 1, tries);
        if (more) return digits_of(number, s->k, s->bias) + more;
        if (++mended == MENDED_MAX) return 0;
      } else if (is_valid(s, at, class, &label)) {
        return digits_of(number, s->k, s->bias);
      }
    }
    number++;
  }
  return 0;
}

/* The digits of a way to a valid label; 0: none is known. */
static uint32_t way(const puny *s, uint32_t *tries) {
  if (tsl__label_is_lost(s->classes, s->count)) return 0;
  uint32_t digits = nearest(s, 1, tries);
  return digits ? digits : nearest(s, 2, tries);
}

/* ---- states ---------------------------------------------------------------------------------- */

static const tsl__native_ops ops;

static bool is_whole(const puny *s, tsl__label *label) {
  return !s->basic && !in_delta(s) && is_valid(s, UINT32_MAX, 0, label);
}

/* After the last hyphen, or where there is none. */
static puny deltas_of(const puny *s) {
  puny t = *s;
  t.basic = 0;
  t.n = INITIAL_N;
  t.bias = INITIAL_BIAS;
  begin_delta(&t, 0);
  return t;
}

static unsigned class_of_ascii(uint8_t b) {
  uint32_t point = b >= 'A' && b <= 'Z' ? b | 0x20u : b;
  return tsl__label_class(&point);
}

/* The octets of a way to the end; false: none is known. */
static bool find_end(tsl__exprs *x, const puny *s, uint32_t *to_go) {
  tsl__label label;
  uint32_t tries = 0, more = 0;
  puny t = s->basic ? deltas_of(s) : *s;
  *to_go = s->basic; /* the hyphen */
  if (is_whole(s, &label)) return true;
  if (!s->basic || s->count) more = way(&t, &tries);
  if (!more && s->basic && s->count < TSL__LABEL_POINTS) { /* a letter may mend two hyphens */
    insert(&t, t.count, class_of_ascii('a'));
    more = way(&t, &tries);
    ++*to_go;
  }
  tsl__exprs_work(x, 8 + tries / 8);
  *to_go += more;
  return more && *to_go <= TSL__A_LABEL_TO_GO && s->label + *to_go <= LABEL_MAX &&
         s->total + *to_go <= TSL__NAME_LONGEST;
}

/* What x itself has for such names; NULL: nothing yet. */
static table *own_table(const tsl__exprs *x, const void *idn) {
  table *t;
  for (size_t at = 0; (t = tsl__exprs_native(x, &ops, &at));)
    if (t->idn == idn) break;
  return t;
}

static table *new_table(tsl__exprs *x, void *idn) {
  table *t = tsl__alloc_zero(tsl__exprs_allocator(x), sizeof *t);
  if (!t) return tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory"), NULL;
  t->x = x;
  t->idn = idn;
  return tsl__exprs_own(x, t, destroy) ? t : NULL;
}

/* The automaton in that state; TSL__NONE if it has no end. Every byte of `s` counts, so it has been
 * cleared before it was filled. */
static tsl__expr state(tsl__exprs *x, void *idn, const puny *s) {
  const tsl_allocator *a = tsl__exprs_allocator(x);
  uint64_t hash = tsl__hash(s, sizeof *s);
  table *t = own_table(x, idn);
  known new = {.s = *s};
  uint32_t i;
  if (t)
    for (tsl__index_iter it = tsl__index_first(&t->index, hash);
         (i = tsl__index_next(&it)) != UINT32_MAX;)
      if (!memcmp(&t->states.at[i].s, s, sizeof *s)) return tsl__expr_native(x, &ops, t, i);
  if (!find_end(x, s, &new.to_go) || (!t && !(t = new_table(x, idn)))) return TSL__NONE;
  i = (uint32_t)t->states.n;
  if (!tsl__vec_push(a, &t->states, new) || !tsl__index_add(&t->index, a, hash, i))
    return tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory"), TSL__NONE;
  return tsl__expr_native(x, &ops, t, i);
}

/* ---- reading a byte -------------------------------------------------------------------------- */

static bool is_digit(uint8_t b) { return b >= '0' && b <= '9'; }
static bool is_letter(uint8_t b) { return (b | 0x20) >= 'a' && (b | 0x20) <= 'z'; }

/* A digit of a delta; false: what it ends inserts nothing that is allowed. */
static bool read_digit(puny *s, uint32_t digit) {
  uint32_t t = threshold(s->k, s->bias), places = s->count + 1u;
  s->i += digit * s->weight;
  if (digit >= t) {
    s->weight *= BASE - t;
    s->k += BASE;
    return true;
  }
  uint64_t n = s->n + s->i / places;
  uint32_t at = (uint32_t)(s->i % places);
  if (n > 0x10FFFF || s->count == TSL__LABEL_POINTS) return false;
  uint32_t point = (uint32_t)n;
  unsigned class = tsl__label_class(&point);
  if (class == TSL__LABEL_CLASSES || point != n) return false;
  end_delta(s, point, at, class);
  return true;
}

static tsl__expr step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  const table *from = ctx;
  puny s = from->states.at[param].s;
  void *idn = from->idn;
  tsl__label label;
  if (!is_digit(byte) && !is_letter(byte) && byte != '-') {
    if ((byte != '.' && (!idn || byte < 0x80)) || !is_whole(&s, &label)) return TSL__NONE;
    uint32_t name = tsl__label_name(&label);
    return idn ? tsl__format_idn_dot(x, idn, s.total, name, byte)
               : tsl__format_host_label(x, NULL, s.total + 1u, name);
  }
  if (s.label == LABEL_MAX || s.total == TSL__NAME_LONGEST) return TSL__NONE;
  s.label++;
  s.total++;
  if (!s.basic) {
    uint32_t digit = is_digit(byte) ? byte - '0' + 26u : (byte | 0x20u) - 'a';
    return byte != '-' && read_digit(&s, digit) ? state(x, idn, &s) : TSL__NONE;
  }
  tsl__expr deltas = TSL__NONE;
  if (byte == '-' && s.count) {
    puny t = deltas_of(&s);
    deltas = state(x, idn, &t);
  }
  if (s.count == TSL__LABEL_POINTS) return deltas;
  insert(&s, s.count, class_of_ascii(byte));
  return tsl__expr_alt(x, deltas, state(x, idn, &s));
}

/* ---- the automaton --------------------------------------------------------------------------- */

static bool nullable(void *ctx, uint32_t param) {
  return ((const table *)ctx)->states.at[param].to_go == 0;
}

static uint32_t shortest(void *ctx, uint32_t param) {
  return ((const table *)ctx)->states.at[param].to_go;
}

static uint32_t characters(void *ctx, uint32_t param, bool *texts) {
  *texts = true;
  return shortest(ctx, param);
}

static uint32_t most(void *ctx, uint32_t param) {
  return TSL__NAME_LONGEST - ((const table *)ctx)->states.at[param].s.total;
}

static void live(void *ctx, uint32_t param, tsl__bytes *out) {
  const table *t = ctx;
  if (nullable(ctx, param)) {
    tsl__bytes_add(out, '.');
    if (t->idn) tsl__bytes_add(out, 0xE3), tsl__bytes_add(out, 0xEF);
  }
  tsl__bytes_add(out, '-');
  tsl__bytes_add_range(out, '0', '9');
  tsl__bytes_add_range(out, 'A', 'Z');
  tsl__bytes_add_range(out, 'a', 'z');
}

/* Each byte leads elsewhere. */
static void boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  (void)ctx;
  (void)param;
  tsl__bytes_add_range(out, '-', '{');
  tsl__bytes_add_range(out, 0xE3, 0xE4);
  tsl__bytes_add_range(out, 0xEF, 0xF0);
}

static void print(void *ctx, uint32_t param, char *out, size_t n) {
  const puny *s = &((const table *)ctx)->states.at[param].s;
  snprintf(out, n, "a-label[%u,%u,%u%s] #%u", (unsigned)s->total, (unsigned)s->label,
           (unsigned)s->count, s->basic ? ",ascii" : "", (unsigned)param);
}

static const tsl__native_ops ops = {.nullable = nullable,
                                    .boundaries = boundaries,
                                    .step = step,
                                    .shortest = shortest,
                                    .print = print,
                                    .ascii = TSL__NAME_ASCII,
                                    .characters = characters,
                                    .most = most,
                                    .live = live,
                                    .later = TSL__A_LABEL_TO_GO};

tsl__expr tsl__format_a_label(tsl__exprs *x, void *idn, uint32_t total, uint32_t name) {
  puny s, deltas;
  memset(&s, 0, sizeof s);
  s.label = PREFIX;
  s.total = (uint8_t)total;
  s.name = (uint8_t)name;
  s.basic = 1;
  deltas = deltas_of(&s);
  return tsl__expr_alt(x, state(x, idn, &deltas), state(x, idn, &s));
}
