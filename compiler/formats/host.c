/* host.c - host names: labels of limited length in a name of limited length.
 *
 * Problem   A label has letters, digits and hyphens (RFC 1123 section 2.1), with no hyphen at
 *           either end. It has 63 octets at most, and a name 253 (RFC 1035). As one expression this
 *           is an intersection of counted loops, whose derivatives are slow to make.
 * Idea      An automaton in C with two counters and a handful of positions inside a label. A state
 *           that can't end within the limits is not entered.
 * A-labels  After "xn--" another automaton goes on, a_label.c, which decodes Punycode (RFC 3492).
 *           Nearly each text is a state of its own there, and a mask takes a tenth of a second. So
 *           where strings are plain, as masks let a model write them, the shape of the Punycode is
 *           checked alone. It has ASCII characters and a hyphen, or neither, and then deltas. Each
 *           delta is a run of digits (a-z are 0 to 25, 0-9 are 26 to 35) that a digit below a
 *           threshold ends. The threshold is 1, 1, then 26 in the first delta, and at most 26
 *           later. So the first delta is  a | [b-z0-9]a | [b-z0-9][b-z0-9][0-9]*[a-z],  and the
 *           last character is a letter. Each hyphen begins the deltas anew.
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

#include "compiler/expr/node.h"
#include "compiler/formats/formats.h"
#include "compiler/formats/label.h"

#define LABEL_MAX 63u
#define LONGEST_NAME TSL__NAME_LONGEST
#define PLACES_MATTER 4u /* rules about single places in a label end before this */
#define LABEL_MATTERS 8u /* and those of an A-label that is not decoded */

/* Where in a label. XN_: the characters so far are "x", "xn", "xn-". DELTA_: in Punycode. */
enum {
  LABEL_BEGIN,
  AFTER_LETTER, /* or digit */
  AFTER_HYPHEN,
  XN_X,
  XN_N,
  XN_HYPHEN,
  DELTA_BEGIN,  /* after a hyphen of the A-label */
  DELTA_SECOND, /* one digit of the first delta was read, and it did not end */
  DELTA_LATER,  /* two digits or more */
  DELTA_DONE,   /* the first delta has ended, and the last character is a letter */
  DELTA_OPEN    /* the first delta has ended, and the last character is 0-9 */
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

/* Octets of the label that distinguish its state from those of longer ones. */
static uint32_t that_matter(uint32_t at) { return at >= XN_HYPHEN ? LABEL_MATTERS : PLACES_MATTER; }

static host set_free(host s) {
  s.free = true;
  if (s.label > that_matter(s.at)) s.label = that_matter(s.at);
  s.total = s.label;
  return s;
}

/* The fewest octets until the label may end. */
static uint32_t to_go(host s) {
  return !(s.at == AFTER_LETTER || s.at == XN_X || s.at == XN_N || s.at == DELTA_DONE);
}

static bool is_digit(uint8_t b) { return b >= '0' && b <= '9'; }
static bool is_letter(uint8_t b) { return (b | 0x20) >= 'a' && (b | 0x20) <= 'z'; }

static uint32_t after_hyphen(host s, bool idn, bool *ok) {
  *ok = s.at != LABEL_BEGIN;
  if (s.at == XN_N) return XN_HYPHEN;
  if (s.at == XN_HYPHEN) return DELTA_BEGIN;
  if (s.at >= DELTA_BEGIN) { /* the ASCII part: no hyphen first, none in third and fourth place */
    *ok = s.label != 4 && !(s.label == 7 && s.at == DELTA_BEGIN);
    return DELTA_BEGIN;
  }
  if (idn && s.label == 3 && s.at == AFTER_HYPHEN) *ok = false;
  return AFTER_HYPHEN;
}

/* After a letter or digit. */
static uint32_t after_character(uint32_t at, uint8_t byte) {
  bool zero = (byte | 0x20) == 'a', letter = is_letter(byte);
  switch (at) {
  case LABEL_BEGIN: return (byte | 0x20) == 'x' ? XN_X : AFTER_LETTER;
  case XN_X: return (byte | 0x20) == 'n' ? XN_N : AFTER_LETTER;
  case DELTA_BEGIN: return zero ? DELTA_DONE : DELTA_SECOND;
  case DELTA_SECOND: return zero ? DELTA_DONE : DELTA_LATER;
  case DELTA_LATER: return letter ? DELTA_DONE : DELTA_LATER;
  case DELTA_DONE:
  case DELTA_OPEN: return letter ? DELTA_DONE : DELTA_OPEN;
  default: return AFTER_LETTER;
  }
}

/* The state after a byte that does not begin an A-label to decode; false if there is none. */
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

static uint32_t host_most(void *ctx, uint32_t param) {
  host s = unpack(param);
  (void)ctx;
  return s.free ? TSL__INF : LONGEST_NAME - s.total;
}

/* Letters are alike but for those that an A-label begins with, and for the `a` that ends a
 * delta. */
static void host_boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  static const char
      edges[] = "-./0:A[a{\xE3\xE4\xEF\xF0",
      *const letters[] = {
          [LABEL_BEGIN] = "XYxy", [XN_X] = "NOno", [DELTA_BEGIN] = "Bb", [DELTA_SECOND] = "Bb"};
  uint32_t at = unpack(param).at;
  (void)ctx;
  for (const char *edge = edges; *edge; edge++) tsl__bytes_add(out, (uint8_t)*edge);
  for (const char *edge = at <= DELTA_SECOND ? letters[at] : NULL; edge && *edge; edge++)
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
 * Far from both limits there might be none. */
static uint32_t host_like(void *ctx, uint32_t param, uint32_t *limit) {
  host s = unpack(param);
  bool first = s.total == s.label; /* or free */
  (void)ctx;
  *limit = tsl__label_limit(first, LABEL_MAX - s.label, LONGEST_NAME - s.total, 2);
  if (first) return pack(set_free(s));
  s.total = s.label;
  return pack(s);
}

static const tsl__native_ops host_ops = {.nullable = host_nullable,
                                         .boundaries = host_boundaries,
                                         .step = host_step,
                                         .shortest = host_shortest,
                                         .print = host_print,
                                         .like = host_like,
                                         .ascii = TSL__NAME_ASCII,
                                         .plain = true,
                                         .most = host_most,
                                         .later = TSL__A_LABEL_TO_GO};

static tsl__expr host_step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  host s = unpack(param), next;
  if (ctx && (byte == '.' || byte >= 0x80))
    return to_go(s) ? TSL__NONE
                    : tsl__format_idn_dot(x, ctx, s.free ? TSL__NAME_FREE : s.total, s.name, byte);
  if (s.at == XN_HYPHEN && byte == '-' && !x->plain_strings)
    return tsl__format_a_label(x, ctx, s.total + 1, s.name);
  return next_host(s, ctx != NULL, byte, &next) ? tsl__expr_native(x, &host_ops, ctx, pack(next))
                                                : TSL__NONE;
}

tsl__expr tsl__format_host_label(tsl__exprs *x, void *idn, uint32_t total, uint32_t name) {
  host s = {.total = total, .name = name};
  if (total == TSL__NAME_FREE) return tsl__expr_native(x, &host_ops, idn, pack(set_free(s)));
  return total < LONGEST_NAME ? tsl__expr_native(x, &host_ops, idn, pack(s)) : TSL__NONE;
}

tsl__expr tsl__format_hostname(tsl__exprs *x) { return tsl__format_host_label(x, NULL, 0, 0); }
