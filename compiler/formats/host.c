/* host.c - host names: labels of limited length in a name of limited length.
 *
 * Problem   A label has letters, digits and hyphens (RFC 1123 section 2.1), with no hyphen at
 *           either end. It has 63 octets at most, and a name 253 (RFC 1035). As one expression this
 *           is an intersection of counted loops, whose derivatives are slow to make.
 * Idea      An automaton in C with two counters and a handful of positions inside a label. A state
 *           that can't end within the limits is not entered.
 * A-labels  After "xn--" another automaton goes on: a_label.c.
 * Idn       In an internationalised name (ctx is then that of idn.c) any of four dots ends a label,
 *           and a label of either kind may follow. "--" in third and fourth place only after "xn"
 *           there (RFC 5891 section 4.2.3.1); a plain name may have it anywhere, as n4---eu-1.
 * Direction In a name with a label that is written from right to left, no label begins with a digit
 *           (RFC 5893). That is two bits of state. A-labels can be such labels, so plain names
 *           have the bits, too.
 * Tested by tests/formats/test_formats.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/formats/formats.h"
#include "compiler/formats/label.h"

#define LABEL_MAX 63u
#define LONGEST_NAME TSL__NAME_LONGEST
#define PLACES_MATTER 4u /* rules about single places in a label end before this */

/* Where in a label. XN_: the characters so far are "x", "xn", "xn-". */
enum {
  LABEL_BEGIN,
  AFTER_LETTER, /* or digit */
  AFTER_HYPHEN,
  XN_X,
  XN_N,
  XN_HYPHEN
};

typedef struct host {
  uint32_t total, label; /* octets so far */
  uint32_t at;
  bool free;     /* without limits: octets are counted as far as their places matter */
  uint32_t name; /* TSL__NAME_ flags, this label included */
} host;

static uint32_t pack(host s) {
  return s.total | s.label << 8 | s.at << 14 | (uint32_t)s.free << 18 | s.name << 19;
}
static host unpack(uint32_t p) {
  return (host){p & 255, p >> 8 & 63, p >> 14 & 15, p >> 18 & 1, p >> 19};
}

static host set_free(host s) {
  s.free = true;
  if (s.label > PLACES_MATTER) s.label = PLACES_MATTER;
  s.total = s.label;
  return s;
}

/* The fewest octets until the label may end. */
static uint32_t to_go(host s) { return !(s.at == AFTER_LETTER || s.at == XN_X || s.at == XN_N); }

static bool is_digit(uint8_t b) { return b >= '0' && b <= '9'; }
static bool is_letter(uint8_t b) { return (b | 0x20) >= 'a' && (b | 0x20) <= 'z'; }

static uint32_t after_hyphen(host s, bool idn, bool *ok) {
  *ok = s.at != LABEL_BEGIN;
  if (s.at == XN_N) return XN_HYPHEN;
  if (idn && s.label == 3 && s.at == AFTER_HYPHEN) *ok = false;
  return AFTER_HYPHEN;
}

/* After a letter or digit. */
static uint32_t after_character(uint32_t at, uint8_t byte) {
  if (at == LABEL_BEGIN && (byte | 0x20) == 'x') return XN_X;
  return at == XN_X && (byte | 0x20) == 'n' ? XN_N : AFTER_LETTER;
}

/* The state after a byte that does not end "xn--"; false if there is none. */
static bool next_host(host s, bool idn, uint8_t byte, host *out) {
  bool ok = true;
  *out = s;
  if (s.label == LABEL_MAX && byte != '.') return false; /* never if it is free */
  out->label++;
  if (byte == '-') {
    out->at = after_hyphen(s, idn, &ok);
  } else if (byte == '.') {
    ok = to_go(s) == 0;
    out->at = LABEL_BEGIN;
    out->label = 0;
  } else {
    ok = is_digit(byte) || is_letter(byte);
    out->at = after_character(s.at, byte);
    if (s.at == LABEL_BEGIN && is_digit(byte)) {
      ok = ok && !(s.name & TSL__NAME_RIGHT_TO_LEFT);
      out->name |= TSL__NAME_ODD;
    }
  }
  out->total++;
  if (s.free) return *out = set_free(*out), ok;
  return ok && out->label + to_go(*out) <= LABEL_MAX && out->total + to_go(*out) <= LONGEST_NAME;
}

static bool host_nullable(void *ctx, uint32_t param) {
  (void)ctx;
  return to_go(unpack(param)) == 0;
}

static uint32_t host_shortest(void *ctx, uint32_t param) {
  (void)ctx;
  return to_go(unpack(param));
}

/* Letters are alike but for those that an A-label begins with. */
static void host_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  static const char edges[] = "-./0:A[a{\xE3\xE4\xEF\xF0",
                    *const letters[] = {[LABEL_BEGIN] = "XYxy", [XN_X] = "NOno"};
  uint32_t at = unpack(param).at;
  (void)ctx;
  for (const char *edge = edges; *edge; edge++) tsl__bytes_add(out, (uint8_t)*edge);
  for (const char *edge = at <= XN_X ? letters[at] : NULL; edge && *edge; edge++)
    tsl__bytes_add(out, (uint8_t)*edge);
}

static void host_print(void *ctx, uint32_t param, char *out, size_t n) {
  host s = unpack(param);
  (void)ctx;
  snprintf(out, n, "host[%u,%u,%u,%u%s]", (unsigned)s.total, (unsigned)s.label, (unsigned)s.at,
           (unsigned)s.name, s.free ? ",free" : "");
}

static tsl__expr host_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte);

/* Far from the limit of the name it is as the first label of one, which is the same in all names.
 * Far from both limits there might be none. Idn: names go on in another automaton, which counts
 * on. */
static uint32_t host_like(void *ctx, uint32_t param, uint32_t *limit) {
  host s = unpack(param);
  bool first = s.total == s.label; /* or free */
  uint32_t room = first ? LABEL_MAX - s.label : LONGEST_NAME - s.total;
  uint32_t to_end = first ? 2 : TSL__A_LABEL_TO_GO + 2;
  *limit = ctx || room < to_end ? 0 : room - to_end;
  if (ctx) return param;
  if (first) return pack(set_free(s));
  s.total = s.label;
  return pack(s);
}

static const tsl__native_ops host_ops = {
    host_nullable,
    host_boundaries,
    host_step,
    host_shortest,
    host_print,
    host_like,
    "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    true,
    NULL,
    NULL,
    NULL,
    NULL};

static tsl__expr host_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  host s = unpack(param), next;
  if (ctx && (byte == '.' || byte >= 0x80))
    return to_go(s) == 0 ? tsl__format_idn_dot(x, ctx, s.total, s.name, byte) : TSL__NONE;
  if (s.at == XN_HYPHEN && byte == '-') return tsl__format_a_label(x, ctx, s.total + 1, s.name);
  return next_host(s, ctx != NULL, byte, &next) ? tsl__expr_native(x, &host_ops, ctx, pack(next))
                                                : TSL__NONE;
}

tsl__expr tsl__format_host_label(tsl__exprs *x, void *idn, uint32_t total, uint32_t name) {
  host s = {.total = total, .name = name};
  return total < LONGEST_NAME ? tsl__expr_native(x, &host_ops, idn, pack(s)) : TSL__NONE;
}

tsl__expr tsl__format_hostname(tsl__exprs *x) { return tsl__format_host_label(x, NULL, 0, 0); }
