/* formats.c - see formats.h.
 *
 * Most formats are a pattern in formats.def. References are unions of two patterns. The rest:
 *   time, date-time
 *       hh:mm:60±hh:mm is right if it is 23:59 in UTC. That holds for 2,881 combinations of hours,
 *       minutes and offset, which an expression would have to list. So it is an automaton, whose
 *       state is the hours and minutes read so far. Then the offset is a literal: after 01:29:60
 *       only +01:30 or -22:30 may follow.
 *   hostname, idn-hostname, regex
 *       automata too: host.c, idn.c, regex_format.c.
 *
 * Tested by tests/formats/test_formats.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/formats/formats.h"

#include <stdio.h>

#include "compiler/regex/regex.h"

/* ---- patterns -------------------------------------------------------------------------------- */

static const struct format {
  const char *name, *pattern;
} formats[] = {
#define TSL__FORMAT(name, pattern) {name, pattern},
#include "compiler/formats/formats.def"
#undef TSL__FORMAT
};

tsl__expr tsl__format_pattern(tsl__exprs *x, const char *pattern) {
  tsl__regex_flags flags = {0};
  tsl__expr e;
  tsl_error error;
  tsl_status status = tsl__regex_compile(x, pattern, strlen(pattern), &flags, &e, &error);
  if (status != TSL_OK) tsl__exprs_fail(x, status, "a format could not be compiled");
  return e;
}

/* ---- leap seconds ---------------------------------------------------------------------------- */

/* What has been read of "hh:mm:60.fff": the stage, the minutes since midnight so far, and in the
 * stages after a tens digit that digit. */
enum {
  AT_HOUR,
  AT_HOUR_2,
  AT_COLON,
  AT_MINUTE,
  AT_MINUTE_2,
  AT_COLON_2,
  AT_SIX,
  AT_ZERO,
  AT_END,
  AT_FRACTION,
  IN_FRACTION
};
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

static void leap_live(void *ctx, uint32_t param, tsl__bytes *out) {
  static const char *const next[] = {
      "012", "0123456789", ":",     "012345",     "0123456789",    ":",
      "6",   "0",          ".+-Zz", "0123456789", "0123456789+-Zz"};
  (void)ctx;
  for (const char *c = next[STAGE(param)]; *c; c++) tsl__bytes_add(out, (uint8_t)*c);
}

/* Each of them leads elsewhere. */
static void leap_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  tsl__bytes live = {{0}};
  leap_live(ctx, param, &live);
  /* no digit or letter is the last of a word */
  for (unsigned w = 0; w < 2; w++) out->w[w] |= live.w[w] | live.w[w] << 1;
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
  snprintf(out, n, "leap[%u,%u,%u]", (unsigned)MINUTES(param), (unsigned)TENS(param),
           (unsigned)STAGE(param));
}

static tsl__expr leap_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte);
static const tsl__native_ops leap_ops = {.nullable = leap_nullable,
                                         .boundaries = leap_boundaries,
                                         .step = leap_step,
                                         .shortest = leap_shortest,
                                         .print = leap_print,
                                         .ascii = "+-.0123456789:Zz",
                                         .plain = true,
                                         .live = leap_live};

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
  uint32_t minutes = MINUTES(param), tens = TENS(param), stage = STAGE(param),
           digit = byte - (uint32_t)'0';
  bool is_digit = byte >= '0' && byte <= '9';
  (void)ctx;
  switch (stage) {
  case AT_HOUR: return is_digit && digit <= 2 ? leap(x, 0, digit, AT_HOUR_2) : TSL__NONE;
  case AT_HOUR_2:
    return is_digit && tens * 10 + digit < 24 ? leap(x, (tens * 10 + digit) * 60, 0, AT_COLON)
                                              : TSL__NONE;
  case AT_MINUTE: return is_digit && digit <= 5 ? leap(x, minutes, digit, AT_MINUTE_2) : TSL__NONE;
  case AT_MINUTE_2:
    return is_digit ? leap(x, minutes + tens * 10 + digit, 0, AT_COLON_2) : TSL__NONE;
  case AT_COLON:
  case AT_COLON_2: return byte == ':' ? leap(x, minutes, 0, stage + 1) : TSL__NONE;
  case AT_SIX: return byte == '6' ? leap(x, minutes, 0, AT_ZERO) : TSL__NONE;
  case AT_ZERO: return byte == '0' ? leap(x, minutes, 0, AT_END) : TSL__NONE;
  case AT_END:
    return byte == '.' ? leap(x, minutes, 0, AT_FRACTION) : leap_offset(x, minutes, byte);
  case AT_FRACTION: return is_digit ? leap(x, minutes, 0, IN_FRACTION) : TSL__NONE;
  default: return is_digit ? leap(x, minutes, 0, IN_FRACTION) : leap_offset(x, minutes, byte);
  }
}

static tsl__expr full_time(tsl__exprs *x) {
  return tsl__expr_alt(x, tsl__format_pattern(x, PARTIAL_TIME TIME_OFFSET), leap(x, 0, 0, AT_HOUR));
}

tsl__expr tsl__format_clock(tsl__exprs *x) {
  return tsl__format_pattern(x, "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d");
}

static tsl__expr date_time(tsl__exprs *x) {
  return tsl__expr_seq(x, tsl__format_pattern(x, FULL_DATE "[Tt]"), full_time(x));
}

/* ---- references ------------------------------------------------------------------------------ */

static tsl__expr uri_reference(tsl__exprs *x) {
  return tsl__expr_alt(x, tsl__format_pattern(x, ABSOLUTE("", "")),
                       tsl__format_pattern(x, RELATIVE("", "")));
}

static tsl__expr iri_reference(tsl__exprs *x) {
  return tsl__expr_alt(x, tsl__format_pattern(x, ABSOLUTE(UCSCHAR, IPRIVATE)),
                       tsl__format_pattern(x, RELATIVE(UCSCHAR, IPRIVATE)));
}

/* ---- international names --------------------------------------------------------------------- */

static tsl__expr idn_email(tsl__exprs *x) {
  tsl__expr domain =
      tsl__expr_alt(x, tsl__format_idn_hostname(x), tsl__format_pattern(x, ADDRESS_LITERAL));
  return tsl__expr_seq(x, tsl__format_pattern(x, LOCAL_PART(UTF8_NON_ASCII) "@"), domain);
}

/* ---- by name --------------------------------------------------------------------------------- */

static const struct builder {
  const char *name;
  tsl__expr (*build)(tsl__exprs *x);
} builders[] = {
    {"date-time", date_time},           {"time", full_time},
    {"hostname", tsl__format_hostname}, {"uri-reference", uri_reference},
    {"iri-reference", iri_reference},   {"idn-hostname", tsl__format_idn_hostname},
    {"idn-email", idn_email},           {"regex", tsl__format_regex},
};

static bool same(const char *name, size_t length, const char *other) {
  return strlen(other) == length && !memcmp(name, other, length);
}

tsl__expr tsl__format_expr(tsl__exprs *x, const char *name, size_t length, bool *known) {
  *known = true;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (same(name, length, formats[i].name)) return tsl__format_pattern(x, formats[i].pattern);
  for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
    if (same(name, length, builders[i].name)) return builders[i].build(x);
  *known = false;
  return TSL__NONE;
}

const char *tsl__format_name(size_t index) {
  size_t n = sizeof formats / sizeof *formats;
  if (index < n) return formats[index].name;
  index -= n;
  return index < sizeof builders / sizeof *builders ? builders[index].name : NULL;
}
