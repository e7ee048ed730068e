/* formats.c - see formats.h.
 *
 * Most formats are a pattern in formats.def. Here are those that are not:
 *   time, date-time  hh:mm:60±hh:mm is right if it is 23:59 in UTC: 2,881 combinations of hours, minutes and offset. As an expression they would have to be
 *                    spelled out; as an automaton its state is what has been read of hours and minutes, and once they are known
 *                    the offset is a literal: 01:29:60 must go on with +01:30 or -22:30.
 *   idn-hostname     each label is met with the complement of "breaks a rule of context somewhere".
 *
 * Tested by tests/test_formats.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/formats.h"

#include <stdio.h>

#include "compiler/regex.h"

/* ---- patterns ------------------------------------------------------------------------------------------------- */

static const struct format { const char *name, *pattern; } formats[] = {
#define TSL__FORMAT(name, pattern) {name, pattern},
#include "compiler/formats.def"
#undef TSL__FORMAT
};

/* Our own patterns compile, unless x fails: then that sticks. */
static tsl__expr compile(tsl__exprs *x, const char *pattern, bool search) {
  tsl__regex_flags flags = {.search = search};
  tsl__expr e;
  tsl_error error;
  tsl_status status = tsl__regex_compile(x, pattern, strlen(pattern), &flags, &e, &error);
  if (status != TSL_OK) tsl__exprs_fail(x, status, "a format could not be compiled");
  return e;
}

/* ---- leap seconds --------------------------------------------------------------------------------------------- */

/* What has been read of "hh:mm:60.fff": the stage, the minutes since midnight so far, and in the stages after a tens digit that digit. */
enum { AT_HOUR, AT_HOUR_2, AT_COLON, AT_MINUTE, AT_MINUTE_2, AT_COLON_2, AT_SIX, AT_ZERO, AT_END, AT_FRACTION, IN_FRACTION };
#define STAGE(param) ((param) & 15u)
#define TENS(param) ((param) >> 4 & 15u)
#define MINUTES(param) ((param) >> 8)
#define PARAM(minutes, tens, stage) ((minutes) << 8 | (tens) << 4 | (stage))
#define LAST_MINUTE 1439u /* 23:59 */

static bool leap_nullable(void *ctx, uint32_t param) {
  (void)ctx;
  (void)param;
  return false;
}

static void leap_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  (void)ctx;
  (void)param;
  tsl__bytes_add_range(out, '+', ';'); /* + - . digits : */
  tsl__bytes_add_range(out, 'Z', '[');
  tsl__bytes_add_range(out, 'z', '{');
}

/* Can Z still follow? */
static bool may_be_zulu(uint32_t param) {
  switch (STAGE(param)) {
    case AT_HOUR: return true;
    case AT_HOUR_2: return TENS(param) == 2;
    case AT_COLON:
    case AT_MINUTE: return MINUTES(param) == 23 * 60;
    case AT_MINUTE_2: return MINUTES(param) == 23 * 60 && TENS(param) == 5;
    default: return MINUTES(param) == LAST_MINUTE;
  }
}

static uint32_t leap_shortest(void *ctx, uint32_t param) {
  static const uint32_t to_offset[] = {8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 0};
  (void)ctx;
  return to_offset[STAGE(param)] + (may_be_zulu(param) ? 1 : 6);
}

static void leap_print(void *ctx, uint32_t param, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "leap[%u,%u,%u]", (unsigned)MINUTES(param), (unsigned)TENS(param), (unsigned)STAGE(param));
}

static tsl__expr leap_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte);
static const tsl__native_ops leap_ops = {leap_nullable, leap_boundaries, leap_step, leap_shortest, leap_print};

static tsl__expr leap(tsl__exprs *x, uint32_t minutes, uint32_t tens, uint32_t stage) {
  return tsl__expr_native(x, &leap_ops, NULL, PARAM(minutes, tens, stage));
}

/* The offset that makes it 23:59 in UTC. */
static tsl__expr leap_offset(tsl__exprs *x, uint32_t minutes, uint8_t byte) {
  uint32_t offset = byte == '+' ? (minutes + 1) % 1440 : LAST_MINUTE - minutes;
  char text[8];
  if (byte == 'Z' || byte == 'z') return minutes == LAST_MINUTE ? TSL__EPS : TSL__NONE;
  if (byte != '+' && byte != '-') return TSL__NONE;
  snprintf(text, sizeof text, "%02u:%02u", (unsigned)(offset / 60 % 24), (unsigned)(offset % 60));
  return tsl__expr_literal(x, text, 5);
}

static tsl__expr leap_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  uint32_t minutes = MINUTES(param), tens = TENS(param), stage = STAGE(param), digit = byte - (uint32_t)'0';
  bool is_digit = byte >= '0' && byte <= '9';
  (void)ctx;
  switch (stage) {
    case AT_HOUR: return is_digit && digit <= 2 ? leap(x, 0, digit, AT_HOUR_2) : TSL__NONE;
    case AT_HOUR_2: return is_digit && tens * 10 + digit < 24 ? leap(x, (tens * 10 + digit) * 60, 0, AT_COLON) : TSL__NONE;
    case AT_MINUTE: return is_digit && digit <= 5 ? leap(x, minutes, digit, AT_MINUTE_2) : TSL__NONE;
    case AT_MINUTE_2: return is_digit ? leap(x, minutes + tens * 10 + digit, 0, AT_COLON_2) : TSL__NONE;
    case AT_COLON:
    case AT_COLON_2: return byte == ':' ? leap(x, minutes, 0, stage + 1) : TSL__NONE;
    case AT_SIX: return byte == '6' ? leap(x, minutes, 0, AT_ZERO) : TSL__NONE;
    case AT_ZERO: return byte == '0' ? leap(x, minutes, 0, AT_END) : TSL__NONE;
    case AT_END: return byte == '.' ? leap(x, minutes, 0, AT_FRACTION) : leap_offset(x, minutes, byte);
    case AT_FRACTION: return is_digit ? leap(x, minutes, 0, IN_FRACTION) : TSL__NONE;
    default: return is_digit ? leap(x, minutes, 0, IN_FRACTION) : leap_offset(x, minutes, byte);
  }
}

static tsl__expr full_time(tsl__exprs *x) { return tsl__expr_alt(x, compile(x, PARTIAL_TIME TIME_OFFSET, false), leap(x, 0, 0, AT_HOUR)); }

static tsl__expr date_time(tsl__exprs *x) { return tsl__expr_seq(x, compile(x, FULL_DATE "[Tt]", false), full_time(x)); }

/* ---- international names -------------------------------------------------------------------------------------- */

/* RFC 5892 section 2.1 (LetterDigits without what case folding changes) and the exceptions of 2.6 that are PVALID. */
#define U_CHARS "\\p{Ll}\\p{Lo}\\p{Lm}\\p{Mn}\\p{Mc}\\p{Nd}\\u{B7}\\u{375}\\u{5F3}\\u{5F4}\\u{6FD}\\u{6FE}\\u{F0B}\\u{200C}\\u{200D}\\u{3007}\\u{30FB}\\-"
/* Canonical_Combining_Class=Virama (RFC 5892 appendix A.1 and A.2), which PCRE2 does not know. */
#define VIRAMAS                                                                                                                                  \
  "\\u{94D}\\u{9CD}\\u{A4D}\\u{ACD}\\u{B4D}\\u{BCD}\\u{C4D}\\u{CCD}\\u{D3B}\\u{D3C}\\u{D4D}\\u{DCA}\\u{E3A}\\u{EBA}\\u{F84}\\u{1039}\\u{103A}"              \
  "\\u{1714}\\u{1715}\\u{1734}\\u{17D2}\\u{1A60}\\u{1B44}\\u{1BAA}\\u{1BAB}\\u{1BF2}\\u{1BF3}\\u{2D7F}\\u{A806}\\u{A82C}\\u{A8C4}\\u{A953}\\u{A9C0}"       \
  "\\u{AAF6}\\u{ABED}\\u{10A3F}\\u{11046}\\u{11070}\\u{1107F}\\u{110B9}\\u{11133}\\u{11134}\\u{111C0}\\u{11235}\\u{112EA}\\u{1134D}\\u{11442}"             \
  "\\u{114C2}\\u{115BF}\\u{1163F}\\u{116B6}\\u{1172B}\\u{11839}\\u{1193D}\\u{1193E}\\u{119E0}\\u{11A34}\\u{11A47}\\u{11A99}\\u{11C3F}\\u{11D44}"          \
  "\\u{11D45}\\u{11D97}"
#define JOINING "\\p{Arabic}\\p{Syriac}\\p{Nko}\\p{Mongolian}"
/* What no U-label has: DISALLOWED exceptions (2.6), conjoining Jamo, code points that compatibility or ignoring changes, and, by appendix A, wrong contexts. */
#define U_BAD_CHARS                                                                                                                       \
  "[\\u{640}\\u{7FA}\\u{302E}\\u{302F}\\u{3031}-\\u{3035}\\u{303B}\\u{1100}-\\u{11FF}\\u{A960}-\\u{A97C}\\u{D7B0}-\\u{D7FB}\\u{FB00}-\\u{FDFF}"      \
  "\\u{FE70}-\\u{FEFC}\\u{FF00}-\\u{FFEF}\\u{1D400}-\\u{1D7FF}\\p{Default_Ignorable_Code_Point}]"
#define U_BAD                                                                                                                             \
  "^[\\p{M}\\-]|-$|^..--|(?<!l)\\u{B7}|\\u{B7}(?!l)|\\u{375}(?!\\p{Greek})|(?<!\\p{Hebrew})[\\u{5F3}\\u{5F4}]|(?<![" VIRAMAS "])\\u{200D}|"            \
  "(?<![" VIRAMAS JOINING "\\p{Mn}])\\u{200C}|(?<![" VIRAMAS "])\\u{200C}(?![" JOINING "\\p{Mn}])|"                                               \
  "[\\u{660}-\\u{669}].*[\\u{6F0}-\\u{6F9}]|[\\u{6F0}-\\u{6F9}].*[\\u{660}-\\u{669}]|^[^\\p{sc:Hiragana}\\p{sc:Katakana}\\p{sc:Han}]*\\u{30FB}"           \
  "[^\\p{sc:Hiragana}\\p{sc:Katakana}\\p{sc:Han}]*$"

static tsl__expr idn_hostname(tsl__exprs *x) {
  tsl__expr ascii = compile(x, "(?:" LDH_LABEL "|" A_LABEL ")", false);
  tsl__expr u_label = compile(x, "(?=.*[^\\0-\\x7F])[" U_CHARS "]{1,59}", false);
  tsl__expr joiners = compile(x, "[^\\u{200C}\\u{200D}]", false);
  tsl__expr bad = compile(x, U_BAD, true);
  tsl__expr ignored = tsl__expr_seq(x, tsl__expr_text(x), tsl__expr_seq(x, tsl__expr_and(x, compile(x, U_BAD_CHARS, false), joiners), tsl__expr_text(x)));
  tsl__expr label, dot;
  u_label = tsl__expr_and(x, u_label, tsl__expr_not(x, tsl__expr_alt(x, bad, ignored)));
  label = tsl__expr_alt(x, ascii, u_label);
  dot = compile(x, "[.\\u{3002}\\u{FF0E}\\u{FF61}]", false);
  label = tsl__expr_seq(x, label, tsl__expr_star(x, tsl__expr_seq(x, dot, label)));
  return tsl__expr_and(x, label, tsl__expr_repeat(x, tsl__expr_any_char(x), 1, 253));
}

static tsl__expr idn_email(tsl__exprs *x) {
  tsl__expr domain = tsl__expr_alt(x, idn_hostname(x), compile(x, ADDRESS_LITERAL, false));
  return tsl__expr_seq(x, compile(x, LOCAL_PART(UTF8_NON_ASCII) "@", false), domain);
}

/* ---- by name -------------------------------------------------------------------------------------------------- */

static const struct builder { const char *name; tsl__expr (*build)(tsl__exprs *x); } builders[] = {
    {"date-time", date_time}, {"time", full_time}, {"idn-hostname", idn_hostname}, {"idn-email", idn_email},
};

static bool same(const char *name, size_t length, const char *other) { return strlen(other) == length && !memcmp(name, other, length); }

tsl__expr tsl__format_expr(tsl__exprs *x, const char *name, size_t length, bool *known) {
  *known = true;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (same(name, length, formats[i].name)) return compile(x, formats[i].pattern, false);
  for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
    if (same(name, length, builders[i].name)) return builders[i].build(x);
  *known = false;
  return TSL__NONE;
}
