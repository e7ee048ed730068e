/* idn.c - internationalised host names (RFC 5890 to 5892): U-labels, and A-labels and ASCII labels
 * by host.c.
 *
 * Problem   A U-label is a run of letters, digits and marks in which some code points need a
 *           neighbour of some kind. Examples: U+00B7 stands between two l, a Greek keraia before
 *           Greek, a joiner after a virama. As one expression these are a dozen intersections of
 *           large sets.
 * Idea      Sort the code points into a few classes; an automaton over classes has a handful of
 *           bits of state. Its derivative by a byte is the union over the classes that are legal
 *           now of (derivative of the class) · (state after it).
 * State     count of code points, what stood before, and what must follow. More flags say which
 *           decimal digits of Arabic were seen, and whether a Katakana middle dot waits for
 *           Hiragana, Katakana or Han. The last one says whether there was a code point past ASCII:
 *           without one it is no U-label. A state that can't end within U_LABEL_MAX code points is
 *           not entered, so no state is dead.
 * Limits    See formats.h for what is not checked.
 * Tested by tests/formats/test_formats.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/unicode_cache.h"
#include "compiler/expr/deriv.h"
#include "compiler/formats/formats.h"

/* code points: an A-label has 63 octets, four of them "xn--", and each code point takes one at
 * least */
#define U_LABEL_MAX 59u
#define LONGEST_NAME 253u /* code points of a name */
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- classes --------------------------------------------------------------------------------- */

enum {
  HYPHEN,
  MIDDLE_DOT,
  KERAIA,
  GERESH,
  NON_JOINER,
  JOINER,
  KATAKANA_DOT,
  LETTER_L,
  DIGIT_ARABIC,
  DIGIT_EXTENDED,
  VIRAMA,
  MARK,
  GREEK,
  HEBREW,
  JOINING,
  EAST_ASIAN,
  ASCII,
  OTHER,
  CLASSES
};

/* RFC 5892 section 2.1: LetterDigits without capital letters, which case folding changes; but for
 * Cherokee's (see `more`). */
static const char *const letters_digits[] = {"Ll", "Lo", "Lm", "Mn", "Mc", "Nd"};
static const char *const marks[] = {"Mn", "Mc"};
static const char *const greek[] = {"sc=Greek"};
static const char *const hebrew[] = {"sc=Hebrew"};
static const char *const joining[] = {"sc=Arabic", "sc=Syriac", "sc=Nko", "sc=Mongolian"};
static const char *const east_asian[] = {"sc=Hiragana", "sc=Katakana", "sc=Han"};
static const char *const ignorable[] = {"Default_Ignorable_Code_Point"};

/* Exceptions (2.6) that are PVALID beside the above, and the letters that case folding of Cherokee
 * leads to. */
static const tsl__range more[] = {
    {0x6FD, 0x6FE}, {0xF0B, 0xF0B}, {0x13A0, 0x13F5}, {0x3007, 0x3007}};
/* DISALLOWED although of these categories, in Unicode 14. They are exceptions (2.6), old Hangul
 * Jamo (2.9), ignorable blocks (2.4), and what folding of case or compatibility normalisation
 * changes (2.2, Unstable). What such a range holds beside is of other categories. */
static const tsl__range less[] = {
    {0xAA, 0xB5},       {0xBA, 0xBA},       {0x133, 0x133},     {0x140, 0x140},
    {0x149, 0x149},     {0x17F, 0x17F},     {0x1C6, 0x1CC},     {0x1F3, 0x1F3},
    {0x2B0, 0x2B8},     {0x2E0, 0x2E4},     {0x340, 0x341},     {0x343, 0x345},
    {0x374, 0x374},     {0x37A, 0x37A},     {0x3D0, 0x3D6},     {0x3F0, 0x3F2},
    {0x3F5, 0x3F5},     {0x587, 0x587},     {0x640, 0x640},     {0x675, 0x678},
    {0x7FA, 0x7FA},     {0x958, 0x95F},     {0x9DC, 0x9DD},     {0x9DF, 0x9DF},
    {0xA33, 0xA33},     {0xA36, 0xA36},     {0xA59, 0xA5B},     {0xA5E, 0xA5E},
    {0xB5C, 0xB5D},     {0xE33, 0xE33},     {0xEB3, 0xEB3},     {0xEDC, 0xEDD},
    {0xF43, 0xF43},     {0xF4D, 0xF4D},     {0xF52, 0xF52},     {0xF57, 0xF57},
    {0xF5C, 0xF5C},     {0xF69, 0xF69},     {0xF73, 0xF73},     {0xF75, 0xF79},
    {0xF81, 0xF81},     {0xF93, 0xF93},     {0xF9D, 0xF9D},     {0xFA2, 0xFA2},
    {0xFA7, 0xFA7},     {0xFAC, 0xFAC},     {0xFB9, 0xFB9},     {0x10FC, 0x10FC},
    {0x1100, 0x11FF},   {0x13F8, 0x13FD},   {0x1C80, 0x1C88},   {0x1D2C, 0x1D2E},
    {0x1D30, 0x1D3A},   {0x1D3C, 0x1D4D},   {0x1D4F, 0x1D6A},   {0x1D78, 0x1D78},
    {0x1D9B, 0x1DBF},   {0x1E9A, 0x1E9B},   {0x1F71, 0x1F71},   {0x1F73, 0x1F73},
    {0x1F75, 0x1F75},   {0x1F77, 0x1F77},   {0x1F79, 0x1F79},   {0x1F7B, 0x1F7B},
    {0x1F7D, 0x1F7D},   {0x1F80, 0x1FA7},   {0x1FB2, 0x1FB4},   {0x1FB7, 0x1FC4},
    {0x1FC7, 0x1FC7},   {0x1FD3, 0x1FD3},   {0x1FE3, 0x1FE3},   {0x1FF2, 0x1FF4},
    {0x1FF7, 0x1FF7},   {0x2071, 0x2071},   {0x207F, 0x207F},   {0x2090, 0x209C},
    {0x20D0, 0x20F0},   {0x210A, 0x2149},   {0x2C7C, 0x2C7D},   {0x2D6F, 0x2D6F},
    {0x302E, 0x303B},   {0x309F, 0x309F},   {0x30FF, 0x30FF},   {0x3131, 0x318E},
    {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F2, 0xA7F4},   {0xA7F8, 0xA7F9},
    {0xA960, 0xA97C},   {0xAB5C, 0xAB5F},   {0xAB69, 0xAB69},   {0xAB70, 0xABBF},
    {0xD7B0, 0xD7FB},   {0xF900, 0xFA0D},   {0xFA10, 0xFA10},   {0xFA12, 0xFA12},
    {0xFA15, 0xFA1E},   {0xFA20, 0xFA20},   {0xFA22, 0xFA22},   {0xFA25, 0xFA26},
    {0xFA2A, 0xFA6D},   {0xFA70, 0xFAD9},   {0xFB00, 0xFB1D},   {0xFB1F, 0xFDFF},
    {0xFE70, 0xFE72},   {0xFE74, 0xFEFC},   {0xFF00, 0xFFEF},   {0x10781, 0x10785},
    {0x10787, 0x107B0}, {0x107B2, 0x107BA}, {0x1D165, 0x1D1AD}, {0x1D242, 0x1D244},
    {0x1D400, 0x1D7FF}, {0x1EE00, 0x1EE03}, {0x1EE05, 0x1EE1F}, {0x1EE21, 0x1EE22},
    {0x1EE24, 0x1EE24}, {0x1EE27, 0x1EE27}, {0x1EE29, 0x1EE32}, {0x1EE34, 0x1EE37},
    {0x1EE39, 0x1EE39}, {0x1EE3B, 0x1EE3B}, {0x1EE42, 0x1EE42}, {0x1EE47, 0x1EE47},
    {0x1EE49, 0x1EE49}, {0x1EE4B, 0x1EE4B}, {0x1EE4D, 0x1EE4F}, {0x1EE51, 0x1EE52},
    {0x1EE54, 0x1EE54}, {0x1EE57, 0x1EE57}, {0x1EE59, 0x1EE59}, {0x1EE5B, 0x1EE5B},
    {0x1EE5D, 0x1EE5D}, {0x1EE5F, 0x1EE5F}, {0x1EE61, 0x1EE62}, {0x1EE64, 0x1EE64},
    {0x1EE67, 0x1EE6A}, {0x1EE6C, 0x1EE72}, {0x1EE74, 0x1EE77}, {0x1EE79, 0x1EE7C},
    {0x1EE7E, 0x1EE7E}, {0x1EE80, 0x1EE89}, {0x1EE8B, 0x1EE9B}, {0x1EEA1, 0x1EEA3},
    {0x1EEA5, 0x1EEA9}, {0x1EEAB, 0x1EEBB}, {0x1FBF0, 0x1FBF9}, {0x2F800, 0x2FA1D},
};
/* Canonical_Combining_Class=Virama (UnicodeData.txt, class 9), which PCRE2 does not know. */
static const uint32_t viramas[] = {
    0x94D,   0x9CD,   0xA4D,   0xACD,   0xB4D,   0xBCD,   0xC4D,   0xCCD,   0xD3B,
    0xD3C,   0xD4D,   0xDCA,   0xE3A,   0xEBA,   0xF84,   0x1039,  0x103A,  0x1714,
    0x1715,  0x1734,  0x17D2,  0x1A60,  0x1B44,  0x1BAA,  0x1BAB,  0x1BF2,  0x1BF3,
    0x2D7F,  0xA806,  0xA82C,  0xA8C4,  0xA953,  0xA9C0,  0xAAF6,  0xABED,  0x10A3F,
    0x11046, 0x11070, 0x1107F, 0x110B9, 0x11133, 0x11134, 0x111C0, 0x11235, 0x112EA,
    0x1134D, 0x11442, 0x114C2, 0x115BF, 0x1163F, 0x116B6, 0x1172B, 0x11839, 0x1193D,
    0x1193E, 0x119E0, 0x11A34, 0x11A47, 0x11A99, 0x11C3F, 0x11D44, 0x11D45, 0x11D97};
/* Classes of a few code points (appendix A; the hyphen and l). */
static const struct fixed {
  uint32_t class, lo, hi;
} fixed[] = {
    {HYPHEN, '-', '-'},
    {MIDDLE_DOT, 0xB7, 0xB7},
    {KERAIA, 0x375, 0x375},
    {GERESH, 0x5F3, 0x5F4},
    {NON_JOINER, 0x200C, 0x200C},
    {JOINER, 0x200D, 0x200D},
    {KATAKANA_DOT, 0x30FB, 0x30FB},
    {LETTER_L, 'l', 'l'},
    {DIGIT_ARABIC, 0x660, 0x669},
    {DIGIT_EXTENDED, 0x6F0, 0x6F9},
};

typedef struct sorting {
  tsl__exprs *x;
  const tsl_allocator *a; /* x's */
  tsl__charset left;      /* allowed code points that are in no class yet */
  tsl__charset set;       /* the class being made */
  tsl__expr class_of[CLASSES];
  bool ok;
} sorting;

static void add_properties(sorting *s, tsl__charset *to, const char *const *names, size_t n) {
  for (size_t i = 0; s->ok && i < n; i++)
    s->ok = tsl__unicode_property(s->x, to, names[i], strlen(names[i])) == TSL_OK;
}

static void add_ranges(sorting *s, tsl__charset *to, const tsl__range *at, size_t n) {
  for (size_t i = 0; s->ok && i < n; i++) s->ok = tsl__charset_add(s->a, to, at[i].lo, at[i].hi);
}

/* to = to without set */
static void subtract(sorting *s, tsl__charset *to, const tsl__charset *set) {
  s->ok = s->ok && tsl__charset_negate(s->a, to) && tsl__charset_add_set(s->a, to, set) &&
          tsl__charset_negate(s->a, to);
}

/* Make what s->set and s->left share the class `which`. */
static void finish_class(tsl__exprs *x, sorting *s, unsigned which) {
  tsl__charset rest = {0};
  s->ok = s->ok && tsl__charset_add_set(s->a, &rest, &s->left);
  subtract(s, &rest, &s->set);  /* left without set */
  subtract(s, &s->left, &rest); /* left and set */
  if (s->ok) s->class_of[which] = tsl__expr_charset(x, &s->left);
  tsl__charset_free(s->a, &s->left);
  s->left = rest;
  s->set.ranges.n = 0;
}

static void script_class(tsl__exprs *x, sorting *s, unsigned which, const char *const *names,
                         size_t n) {
  add_properties(s, &s->set, names, n);
  finish_class(x, s, which);
}

/* Fill the classes; false (x failed) when out of memory. */
static bool sort_code_points(tsl__exprs *x, tsl__expr class_of[CLASSES]) {
  sorting s = {.x = x, .a = tsl__exprs_allocator(x), .ok = true};
  static const tsl__range ascii = {0, 0x7F}, all = {0, TSL__CP_MAX};
  add_properties(&s, &s.left, letters_digits, COUNT(letters_digits));
  add_ranges(&s, &s.left, more, COUNT(more));
  add_properties(&s, &s.set, ignorable, COUNT(ignorable));
  add_ranges(&s, &s.set, less, COUNT(less));
  subtract(&s, &s.left, &s.set);
  s.set.ranges.n = 0;
  for (size_t i = 0; s.ok && i < COUNT(fixed); i++) {
    s.ok = tsl__charset_add(s.a, &s.left, fixed[i].lo, fixed[i].hi) &&
           tsl__charset_add(s.a, &s.set, fixed[i].lo, fixed[i].hi);
    finish_class(x, &s, fixed[i].class);
  }
  for (size_t i = 0; s.ok && i < COUNT(viramas); i++)
    s.ok = tsl__charset_add(s.a, &s.set, viramas[i], viramas[i]);
  finish_class(x, &s, VIRAMA);
  script_class(x, &s, MARK, marks, COUNT(marks));
  script_class(x, &s, GREEK, greek, COUNT(greek));
  script_class(x, &s, HEBREW, hebrew, COUNT(hebrew));
  script_class(x, &s, JOINING, joining, COUNT(joining));
  script_class(x, &s, EAST_ASIAN, east_asian, COUNT(east_asian));
  add_ranges(&s, &s.set, &ascii, 1);
  finish_class(x, &s, ASCII);
  add_ranges(&s, &s.set, &all, 1);
  finish_class(x, &s, OTHER);
  memcpy(class_of, s.class_of, sizeof s.class_of);
  tsl__charset_free(s.a, &s.left);
  tsl__charset_free(s.a, &s.set);
  if (!s.ok) tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  return s.ok;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* AFTER_JOINING: and marks since */
enum { AFTER_START, AFTER_OTHER, AFTER_HYPHEN, AFTER_L, AFTER_HEBREW, AFTER_VIRAMA, AFTER_JOINING };
enum { NEED_NOTHING, NEED_L, NEED_GREEK, NEED_JOINING };
enum { DOT_NONE, DOT_WAITS, DOT_FINE }; /* DOT_FINE: a letter that justifies it was seen */

typedef struct state {
  uint32_t count, after, need, digits, dot;
  bool past_ascii; /* a code point past ASCII was seen */
  uint32_t total;  /* code points of the name so far, this label included */
} state;

static uint32_t pack(state s) {
  return s.count | s.after << 6 | s.need << 9 | s.digits << 11 | s.dot << 13 |
         (uint32_t)s.past_ascii << 15 | s.total << 16;
}
static state unpack(uint32_t p) {
  return (state){p & 63,      p >> 6 & 7,         p >> 9 & 3, p >> 11 & 3,
                 p >> 13 & 3, (p >> 15 & 1) != 0, p >> 16};
}

/* The fewest code points to the end, and their bytes. They are what is needed next, then a letter
 * for the dot. Else there is one more where the end would be wrong. */
static uint32_t to_go(state s, uint32_t *bytes) {
  uint32_t n = 0;
  *bytes = 0;
  if (s.need != NEED_NOTHING) n++, *bytes += s.need == NEED_L ? 1 : 2;
  if (s.dot == DOT_WAITS) n++, *bytes += 3;
  if (n) return n;
  if (!s.past_ascii)
    *bytes = 2;
  else if (s.after == AFTER_HYPHEN)
    *bytes = 1;
  return *bytes > 0;
}

/* May a code point of the class follow? */
static bool legal(state s, unsigned class) {
  if (s.need == NEED_L && class != LETTER_L) return false;
  if (s.need == NEED_GREEK && class != GREEK && class != KERAIA) return false;
  if (s.need == NEED_JOINING && class != JOINING && class != MARK) return false;
  switch (class) {
  case HYPHEN: return s.after != AFTER_START && !(s.count == 3 && s.after == AFTER_HYPHEN);
  case MARK:
  case VIRAMA: return s.after != AFTER_START;
  case MIDDLE_DOT: return s.after == AFTER_L;
  case GERESH: return s.after == AFTER_HEBREW;
  case JOINER: return s.after == AFTER_VIRAMA;
  case NON_JOINER: return s.after == AFTER_VIRAMA || s.after == AFTER_JOINING;
  case DIGIT_ARABIC: return s.digits != 2;
  case DIGIT_EXTENDED: return s.digits != 1;
  default: return true;
  }
}

static uint32_t after_class(state s, unsigned class) {
  switch (class) {
  case HYPHEN: return AFTER_HYPHEN;
  case LETTER_L: return AFTER_L;
  case HEBREW:
  case GERESH: return AFTER_HEBREW;
  case VIRAMA: return AFTER_VIRAMA;
  case JOINING: return AFTER_JOINING;
  case MARK: return s.after == AFTER_JOINING ? AFTER_JOINING : AFTER_OTHER;
  default: return AFTER_OTHER;
  }
}

static state next_state(state s, unsigned class) {
  state t = s;
  t.count++;
  t.total++;
  t.after = after_class(s, class);
  t.need = NEED_NOTHING;
  if (class == MIDDLE_DOT) t.need = NEED_L;
  if (class == KERAIA) t.need = NEED_GREEK;
  if (class == NON_JOINER && s.after == AFTER_JOINING) t.need = NEED_JOINING;
  if (class == MARK && s.need == NEED_JOINING) t.need = NEED_JOINING;
  if (class == DIGIT_ARABIC) t.digits = 1;
  if (class == DIGIT_EXTENDED) t.digits = 2;
  if (class == KATAKANA_DOT && t.dot == DOT_NONE) t.dot = DOT_WAITS;
  if (class == EAST_ASIAN) t.dot = DOT_FINE;
  if (class != HYPHEN && class != LETTER_L && class != ASCII) t.past_ascii = true;
  return t;
}

/* ---- the automaton --------------------------------------------------------------------------- */

/* The classes as they are stepped through: a walk over a vocabulary makes tens of thousands of
 * steps. */
typedef struct u_label {
  tsl__expr after[CLASSES][256]; /* the derivative of each class by each first byte */
  tsl__bytes edges[CLASSES];     /* the bytes where that may change */
} u_label;

static void tabulate(tsl__exprs *x, const tsl__expr class_of[CLASSES], u_label *u) {
  for (unsigned i = 0; i < CLASSES; i++) {
    tsl__boundaries(x, class_of[i], &u->edges[i]);
    for (unsigned b = 0; b < 256; b++)
      u->after[i][b] = b && !tsl__bytes_has(&u->edges[i], b)
                           ? u->after[i][b - 1]
                           : tsl__derive_plain(x, class_of[i], (uint8_t)b);
  }
}

static bool u_nullable(void *ctx, uint32_t param) {
  state s = unpack(param);
  uint32_t bytes;
  (void)ctx;
  return to_go(s, &bytes) == 0;
}

static uint32_t u_shortest(void *ctx, uint32_t param) {
  uint32_t bytes;
  (void)ctx;
  (void)to_go(unpack(param), &bytes);
  return bytes;
}

static void u_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  const u_label *u = ctx;
  for (unsigned i = 0; i < CLASSES; i++)
    if (legal(unpack(param), i)) tsl__bytes_or(out, &u->edges[i]);
  tsl__bytes_add_range(out, '.', '/');
  tsl__bytes_add_range(out, 0xE3, 0xE4);
  tsl__bytes_add_range(out, 0xEF, 0xF0);
}

static void u_print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "u-label[%x]", (unsigned)param);
}

static tsl__expr u_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte);
static const tsl__native_ops u_ops = {
    u_nullable,
    u_boundaries,
    u_step,
    u_shortest,
    u_print,
    NULL,
    "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    true,
    NULL,
    NULL,
    NULL,
    NULL};

/* Can a state be left before the limits? */
static bool alive(state s) {
  uint32_t bytes, n = to_go(s, &bytes);
  return s.count + n <= U_LABEL_MAX && s.total + n <= LONGEST_NAME;
}

static tsl__expr u_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  u_label *u = ctx;
  state s = unpack(param);
  tsl__expr parts[CLASSES + 1];
  size_t n = 0;
  for (unsigned i = 0; i < CLASSES; i++) {
    tsl__expr d = u->after[i][byte];
    state t;
    if (!d || !legal(s, i)) continue;
    t = next_state(s, i);
    if (alive(t)) parts[n++] = tsl__expr_seq(x, d, tsl__expr_native(x, &u_ops, u, pack(t)));
  }
  if (u_nullable(ctx, param)) parts[n++] = tsl__format_idn_dot(x, ctx, s.total, byte);
  return tsl__expr_alt_n(x, parts, n);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A label of either kind and what may follow it. */
static tsl__expr any_label(tsl__exprs *x, u_label *u, uint32_t total) {
  state s = {.total = total};
  tsl__expr label = tsl__format_host_label(x, u, total);
  return alive(s) ? tsl__expr_alt(x, label, tsl__expr_native(x, &u_ops, u, pack(s))) : label;
}

tsl__expr tsl__format_idn_dot(tsl__exprs *x, void *idn, uint32_t total, uint8_t byte) {
  tsl__expr rest;
  switch (byte) { /* U+002E, U+3002, U+FF0E and U+FF61: RFC 3490 section 3.1 */
  case '.': rest = TSL__EPS; break;
  case 0xE3: rest = tsl__expr_literal(x, "\x80\x82", 2); break;
  case 0xEF:
    rest =
        tsl__expr_alt(x, tsl__expr_literal(x, "\xBC\x8E", 2), tsl__expr_literal(x, "\xBD\xA1", 2));
    break;
  default: return TSL__NONE;
  }
  return total + 1 < LONGEST_NAME ? tsl__expr_seq(x, rest, any_label(x, idn, total + 1))
                                  : TSL__NONE;
}

tsl__expr tsl__format_idn_hostname(tsl__exprs *x) {
  u_label *u = tsl__exprs_alloc(x, sizeof *u);
  tsl__expr class_of[CLASSES];
  if (!u || !sort_code_points(x, class_of)) return TSL__NONE;
  tabulate(x, class_of, u);
  return any_label(x, u, 0);
}
