/* regex_format.c - the format regex: a pattern of ECMA-262 (2024) with the flag u, as an automaton.
 *
 * Problem   Patterns nest, may not name two groups alike, may refer to groups that come later, and
 *           must have ordered ranges and counts. None of that is regular.
 * Idea      A reader of patterns whose state is small enough to be a state of an automaton. It has
 *           the place in the grammar, and one bit for each open group (may what it closes be
 *           repeated?). It has the number of groups, the highest number referred to, and the names
 *           of groups. It also has the lower end of a range or count. States are made when they are
 *           reached and interned, as compiler/number/lower.c does. What follows and matters no more
 *           (the digits of \u{…}, names of properties) is an expression.
 * Names     A vocabulary has some 100,000 beginnings of names. If each were a state, a mask would
 *           take a gigabyte. So a name is a number of NAME_HASHES, which can be refused as one that
 *           is there. That does not do for references: two names with one number would be equal.
 *           So common names and their beginnings are nodes of a tree of characters.
 * Example   After "(a|[b-" the state is: a class, after the dash of a range from 'b'; one group
 *           open, one group counted. 'a' is refused, 'c' and ']' are not.
 * Ends      No state is a dead end. Whatever is missing can still come: groups that were referred
 *           to are appended at the end.
 * Limits    DEPTH_MAX open groups. References to groups up to NUMBER_MAX; by name only to groups
 *           that begin before, with a name of `common_names`. NAMES_MAX named groups, in ASCII;
 *           two names in NAME_HASHES cannot stand together. In {n,m} n below COUNT_MAX. No
 *           surrogates as \uD800 in classes. Past that a valid pattern is refused, never an invalid
 *           one accepted.
 * Tested by tests/formats/test_formats.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/formats/formats.h"
#include "compiler/regex/regex.h"
#include "runtime/core/pool.h"

#define DEPTH_MAX 250u
#define NUMBER_MAX 999u
#define NAMES_MAX 16u
#define NAME_HASHES 1021u
#define COMMON_MAX 512u /* nodes of common names */
#define COUNT_MAX 1000000000u
#define SET 0x110000u /* instead of a code point: \d and the like */

enum {
  /* from these on a term may begin */
  AT_TERM,
  AT_ATOM,
  AT_QUANTIFIED,
  AT_NUMBER,
  AT_ZERO,
  AT_GROUP,
  AT_ESCAPE,
  AT_OPEN,
  AT_OPEN_LESS,
  AT_GROUP_NAME,
  AT_REFERENCE,      /* after \k */
  AT_REFERENCE_NAME, /* after \k< */
  AT_BRACE,
  AT_COUNT,
  AT_COMMA,
  AT_COUNT_2,
  AT_CLASS_BEGIN,
  AT_CLASS,
  AT_RANGE, /* AT_RANGE: after an atom and a dash */
  AT_CLASS_ESCAPE,
  AT_CONTROL,
  AT_HEX,
  AT_U,
  AT_U_BRACE,
  AT_UTF8
};

typedef struct rx {
  uint64_t open[4]; /* a bit for each open group: is it an assertion, not to be repeated? */
  /* the last atom of a class, or the lower end of a range, or the smaller count */
  uint32_t low;
  uint32_t value;        /* what is being read: a reference, a count, a code point, a name */
  uint16_t groups, need; /* groups so far; the highest number referred to, 0 if that is there */
  /* left: digits or bytes to come, the next byte from `least` to `most` */
  uint8_t at, depth, left, least, most;
  uint8_t ranged; /* in a class: is the atom being read the upper end of a range? */
  uint8_t digits; /* AT_ZERO in a class: 1; AT_U_BRACE: has it a digit? */
  uint8_t name_count;
  uint16_t names[NAMES_MAX]; /* of named groups; sorted */
} rx;

/* Names that can be referred to, and so can what they begin with. */
static const char common_names[] =
    "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z a b c d e f g h i j k l m n o p q r s t u "
    "v w x y z _ amount attr attribute bar begin body char character close code color comment "
    "content count country currency date day delim delimiter digit digits domain email end ext "
    "extension field file filename first foo format group head header hex host hour id key label "
    "lang language last left letter letters level line local major mark match message minor minute "
    "month name num number one open op operator option part patch path port postfix prefix "
    "protocol "
    "punct query quote quotes repeat rest right second sep separator sign space start suffix "
    "symbol "
    "tag tail text three time title two type unit url user username val value var version word "
    "year";

/* A beginning of a common name: a shorter one (0: none) and a character. Counted from 1 on.
 * OTHER_NAMES + hash: another name. */
typedef struct node {
  uint16_t before, hash;
  uint8_t last, length;
} node;
#define OTHER_NAMES (COMMON_MAX + 1)

typedef struct table {
  tsl__exprs *x;
  TSL__VEC(rx) states;
  tsl__index index; /* of the states */
  node common[COMMON_MAX];
  uint32_t commons;
  tsl__expr property, code_point, hex2, letter; /* the rest of an escape */
} table;

static void destroy(void *ctx) {
  table *t = ctx;
  const tsl_allocator a = *tsl__exprs_allocator(t->x);
  tsl__vec_free(&a, &t->states);
  tsl__index_free(&t->index, &a);
  tsl__free(&a, t, sizeof *t);
}

static void no_memory(table *t) { tsl__exprs_fail(t->x, TSL_ERR_NO_MEMORY, "out of memory"); }

/* ---- states ---------------------------------------------------------------------------------- */

static const tsl__native_ops ops;

/* The automaton in that state. Every byte of `s` counts, so it has been cleared before it was
 * filled. */
static tsl__expr state(table *t, const rx *s) {
  const tsl_allocator *a = tsl__exprs_allocator(t->x);
  uint64_t hash = tsl__hash(s, sizeof *s);
  uint32_t i;
  for (tsl__index_iter it = tsl__index_first(&t->index, hash);
       (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (!memcmp(&t->states.at[i], s, sizeof *s)) return tsl__expr_native(t->x, &ops, t, i);
  tsl__exprs_work(t->x, 8);
  i = (uint32_t)t->states.n;
  if (!tsl__vec_push(a, &t->states, *s) || !tsl__index_add(&t->index, a, hash, i))
    return no_memory(t), TSL__NONE;
  return tsl__expr_native(t->x, &ops, t, i);
}

/* At another place, what was being read forgotten. */
static void go(rx *s, unsigned at) {
  s->at = (uint8_t)at;
  s->low = s->value = 0;
  s->left = s->least = s->most = s->ranged = s->digits = 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint16_t hash_on(uint16_t hash, uint8_t b) {
  return (uint16_t)((hash * 37u + b) % NAME_HASHES);
}

/* The common name with a character more; 0: there is none. */
static uint32_t common_on(const table *t, uint32_t before, uint8_t b) {
  for (uint32_t i = 0; i < t->commons; i++)
    if (t->common[i].before == before && t->common[i].last == b) return i + 1;
  return 0;
}

static uint32_t name_on(const table *t, uint32_t before, uint8_t b) {
  uint32_t common = before < OTHER_NAMES ? common_on(t, before, b) : 0;
  if (common) return common;
  uint32_t hash = before >= OTHER_NAMES ? before - OTHER_NAMES
                  : before              ? t->common[before - 1].hash
                                        : 0;
  return OTHER_NAMES + hash_on((uint16_t)hash, b);
}

static void list_common_names(table *t) {
  uint32_t at = 0;
  for (const char *c = common_names; *c; c++) {
    uint32_t next = *c == ' ' ? 0 : common_on(t, at, (uint8_t)*c);
    if (*c != ' ' && !next) {
      const node *before = at ? &t->common[at - 1] : &(node){0};
      t->common[t->commons] = (node){.before = (uint16_t)at,
                                     .hash = hash_on(before->hash, (uint8_t)*c),
                                     .last = (uint8_t)*c,
                                     .length = (uint8_t)(before->length + 1u)};
      next = ++t->commons;
    }
    at = next;
  }
}

static uint32_t length_of(const table *t, uint32_t name) {
  return name ? t->common[name - 1].length : 0;
}

/* The characters that are missing to the shortest common name of a group that begins so;
 * UINT32_MAX: none does. */
static uint32_t missing(const table *t, const rx *s) {
  uint32_t least = UINT32_MAX, length = length_of(t, s->value);
  for (uint32_t i = 0; i < s->name_count && s->names[i] < OTHER_NAMES; i++) {
    uint32_t whole = length_of(t, s->names[i]), at = s->names[i];
    while (length_of(t, at) > length) at = t->common[at - 1].before;
    if (at == s->value && whole - length < least) least = whole - length;
  }
  return least;
}

static bool is_new(const rx *s) {
  for (uint32_t i = 0; i < s->name_count; i++)
    if (s->names[i] == s->value) return false;
  return true;
}

static void note_name(rx *s) {
  uint32_t i = s->name_count++;
  for (; i > 0 && s->names[i - 1] > s->value; i--) s->names[i] = s->names[i - 1];
  s->names[i] = (uint16_t)s->value;
}

/* ---- reading a byte -------------------------------------------------------------------------- */

static bool is_digit(uint8_t b) { return b >= '0' && b <= '9'; }
static bool is_letter(uint8_t b) { return (b | 32) >= 'a' && (b | 32) <= 'z'; }
static bool among(uint8_t b, const char *set) { return b && strchr(set, b); }

static bool push(rx *s, bool assertion) {
  if (s->depth == DEPTH_MAX) return false;
  if (assertion) s->open[s->depth / 64] |= (uint64_t)1 << s->depth % 64;
  s->depth++;
  go(s, AT_TERM);
  return true;
}

static bool push_capture(rx *s) {
  if (s->groups < NUMBER_MAX) s->groups++;
  if (s->need <= s->groups) s->need = 0;
  return push(s, false);
}

static bool close_group(rx *s) {
  if (!s->depth) return false;
  uint64_t bit = (uint64_t)1 << --s->depth % 64;
  bool assertion = s->open[s->depth / 64] & bit;
  s->open[s->depth / 64] &= ~bit;
  return go(s, assertion ? AT_TERM : AT_ATOM), true;
}

static bool begin_term(rx *s, uint8_t b) {
  switch (b) {
  case '^':
  case '$':
  case '|': return go(s, AT_TERM), true;
  case '\\': return go(s, AT_ESCAPE), true;
  case '(': return s->depth < DEPTH_MAX ? (go(s, AT_GROUP), true) : false;
  case ')': return close_group(s);
  case '[': return go(s, AT_CLASS_BEGIN), true;
  default: return !among(b, "*+?{}]") && b < 0x80 ? (go(s, AT_ATOM), true) : false;
  }
}

static bool after_term(rx *s, uint8_t b) {
  switch (s->at) {
  case AT_GROUP:
    if (b == '?') return go(s, AT_OPEN), true;
    return push_capture(s) && begin_term(s, b);
  case AT_NUMBER:
    if (is_digit(b)) {
      s->value = s->value * 10 + b - '0';
      return s->value <= NUMBER_MAX;
    }
    if (s->value > s->groups && s->value > s->need) s->need = (uint16_t)s->value;
    break;
  case AT_ZERO:
    if (is_digit(b)) return false;
    break;
  case AT_QUANTIFIED:
    if (b == '?') return go(s, AT_TERM), true;
    return begin_term(s, b);
  case AT_TERM: return begin_term(s, b);
  default: break;
  }
  if (among(b, "*+?")) return go(s, AT_QUANTIFIED), true;
  if (b == '{') return go(s, AT_BRACE), true;
  return begin_term(s, b);
}

static bool begins_name(uint8_t b) { return is_letter(b) || among(b, "$_"); }
static bool in_name(uint8_t b) { return begins_name(b) || is_digit(b); }

static bool opened(const table *t, rx *s, uint8_t b) {
  if (s->at == AT_OPEN && b == ':') return push(s, false);
  if (b == '=' || b == '!') return push(s, true);
  if (s->at == AT_OPEN) return b == '<' ? (go(s, AT_OPEN_LESS), true) : false;
  if (!begins_name(b) || s->name_count == NAMES_MAX) return false;
  go(s, AT_GROUP_NAME);
  s->value = name_on(t, 0, b);
  return true;
}

static bool named(const table *t, rx *s, uint8_t b) {
  if (b == '>' && is_new(s)) return note_name(s), push_capture(s);
  if (!in_name(b)) return false;
  s->value = name_on(t, s->value, b);
  return true;
}

static bool referred(const table *t, rx *s, uint8_t b) {
  if (s->at == AT_REFERENCE) return s->at = AT_REFERENCE_NAME, b == '<';
  if (b == '>') return !is_new(s) ? (go(s, AT_ATOM), true) : false;
  s->value = in_name(b) ? common_on(t, s->value, b) : 0;
  return s->value && missing(t, s) != UINT32_MAX;
}

static uint32_t count_digit(uint32_t count, uint8_t b) {
  return count >= COUNT_MAX / 10 ? COUNT_MAX : count * 10 + b - '0';
}

static bool counted(rx *s, uint8_t b) {
  uint32_t count = s->value, low = s->low;
  if (is_digit(b)) {
    if (s->at == AT_COMMA && low == COUNT_MAX) return false; /* too large to be compared */
    s->at = s->at == AT_BRACE || s->at == AT_COUNT ? AT_COUNT : AT_COUNT_2;
    s->value = count_digit(count, b);
    /* large enough, whatever follows */
    if (s->at == AT_COUNT_2 && s->value >= low) s->low = s->value = 0;
    return true;
  }
  if (b == ',' && s->at == AT_COUNT) {
    go(s, AT_COMMA);
    s->low = count;
    return true;
  }
  if (b != '}' || s->at == AT_BRACE || (s->at == AT_COUNT_2 && count < low)) return false;
  return go(s, AT_QUANTIFIED), true;
}

/* An atom of a class has been read. */
static bool class_atom(rx *s, uint32_t c) {
  if (s->ranged && (c == SET || c < s->low)) return false;
  bool ranged = s->ranged;
  go(s, AT_CLASS);
  s->low = ranged ? UINT32_MAX : c; /* no range begins at the end of one */
  return true;
}

/* What is being read becomes a part of the range's end, with `more` bits to come: can it still be
 * large enough? */
static bool reachable(const rx *s, uint32_t value, unsigned more) {
  uint64_t most = ((uint64_t)value + 1) << more;
  return !s->ranged || (most > 0x110000 ? 0x110000 : most) > s->low;
}

/* The same for the next byte of a character. One that is large enough whatever follows is any such
 * one. */
static bool reach_utf8(rx *s) {
  unsigned more = 6u * s->left;
  if (!reachable(s, s->value, more)) return false;
  if (s->ranged && (uint64_t)s->value << more >= s->low) s->low = s->value = 0;
  return true;
}

static bool begin_utf8(rx *s, uint8_t b) {
  if (b < 0xC2 || b > 0xF4) return false;
  s->at = AT_UTF8;
  s->left = b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
  s->value = b & (0x3Fu >> s->left);
  s->least = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
  s->most = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
  return reach_utf8(s);
}

static bool more_utf8(rx *s, uint8_t b) {
  if (b < s->least || b > s->most) return false;
  s->value = s->value << 6 | (b & 0x3F);
  s->least = 0x80, s->most = 0xBF;
  if (--s->left) return reach_utf8(s);
  return class_atom(s, s->value);
}

static bool in_class(rx *s, uint8_t b) {
  if (s->digits && is_digit(b)) return false; /* after \0 */
  if (s->at == AT_CLASS_BEGIN && b == '^') {
    go(s, AT_CLASS);
    s->low = UINT32_MAX;
    return true;
  }
  if (b == ']') return go(s, AT_ATOM), true;
  if (b == '-' && s->at == AT_CLASS && s->low != UINT32_MAX) {
    uint32_t low = s->low;
    go(s, AT_RANGE);
    s->low = low;
    return true;
  }
  s->ranged = s->at == AT_RANGE;
  if (s->ranged && s->low == SET) return false; /* only the bracket */
  /* what arrived before is no end of a range: forgotten, so that the ways to the next atom meet */
  if (!s->ranged) s->low = 0;
  s->digits = 0;
  if (b == '\\') return s->at = AT_CLASS_ESCAPE, true;
  return b < 0x80 ? class_atom(s, b) : begin_utf8(s, b);
}

static bool class_escape(rx *s, uint8_t b) {
  static const char from[] = "bfnrtv", to[] = "\b\f\n\r\t\v";
  if (among(b, "dDsSwW")) return class_atom(s, SET);
  if (among(b, from)) return class_atom(s, (uint8_t)to[strchr(from, b) - from]);
  if (among(b, "^$\\.*+?()[]{}|/-")) return class_atom(s, b);
  if (b == 'c') return s->at = AT_CONTROL, reachable(s, 0, 5);
  if (b == 'x') return s->at = AT_HEX, s->left = 2, reachable(s, 0, 8);
  if (b == 'u') return s->at = AT_U, true;
  bool ranged = s->ranged;
  if (b != '0' || !class_atom(s, 0)) return false;
  s->digits = !ranged || !s->low; /* what follows is no digit */
  return true;
}

static bool class_code(rx *s, uint8_t b) {
  int digit = tsl__hex_value(b);
  if (s->at == AT_CONTROL) return is_letter(b) && class_atom(s, b & 31u);
  if (s->at == AT_U && b == '{') return s->at = AT_U_BRACE, true;
  if (s->at == AT_U_BRACE && b == '}') return s->digits && class_atom(s, s->value);
  if (digit < 0) return false;
  if (s->at == AT_U_BRACE) {
    s->value = s->value * 16 + (uint32_t)digit;
    s->digits = 1;
    if (s->value > 0x10FFFF) return false;
    unsigned more = 0;
    while (s->value && (uint64_t)s->value << (more + 4) <= 0x10FFFF) more += 4;
    return !s->value || reachable(s, s->value, more);
  }
  /* digits: surrogates are refused */
  if (s->at == AT_U) s->at = AT_HEX, s->left = 4, s->digits = 1;
  s->value = s->value * 16 + (uint32_t)digit;
  s->left--;
  if (s->digits && s->left == 2 && s->value >= 0xD8 && s->value <= 0xDF) return false;
  if (s->left)
    return reachable(s, s->value, 4u * s->left) &&
           !(s->digits && s->left == 3 && s->value == 0xD && s->ranged && s->low >= 0xD800 &&
             s->low < 0xE000);
  return class_atom(s, s->value);
}

static bool next(const table *t, rx *s, uint8_t b) {
  switch (s->at) {
  case AT_TERM:
  case AT_ATOM:
  case AT_QUANTIFIED:
  case AT_NUMBER:
  case AT_ZERO:
  case AT_GROUP: return after_term(s, b);
  case AT_OPEN:
  case AT_OPEN_LESS: return opened(t, s, b);
  case AT_GROUP_NAME: return named(t, s, b);
  case AT_REFERENCE:
  case AT_REFERENCE_NAME: return referred(t, s, b);
  case AT_BRACE:
  case AT_COUNT:
  case AT_COMMA:
  case AT_COUNT_2: return counted(s, b);
  case AT_CLASS_BEGIN:
  case AT_CLASS:
  case AT_RANGE: return in_class(s, b);
  case AT_CLASS_ESCAPE: return class_escape(s, b);
  case AT_UTF8: return more_utf8(s, b);
  default: return class_code(s, b);
  }
}

/* ---- what is read by expressions ------------------------------------------------------------- */

static tsl__expr words(tsl__exprs *x, const char *list) {
  tsl__string at[400];
  size_t n = 0;
  for (const char *p = list; *p; p += strspn(p, " ")) {
    size_t length = strcspn(p, " ");
    at[n++] = (tsl__string){p, (uint32_t)length};
    p += length;
  }
  return tsl__expr_stringset(x, tsl__stringset_new(x, at, n, NULL));
}

static tsl__expr properties(tsl__exprs *x) {
#define TSL__NAMES(name, list) tsl__expr name = words(x, list);
#include "compiler/formats/regex_format.def"
#undef TSL__NAMES
  tsl__expr category =
      tsl__expr_seq(x, tsl__format_pattern(x, "(?:(?:gc|General_Category)=)?"), categories);
  tsl__expr script =
      tsl__expr_seq(x, tsl__format_pattern(x, "(?:sc|Script|scx|Script_Extensions)="), scripts);
  tsl__expr all = tsl__expr_alt(x, binary, tsl__expr_alt(x, category, script));
  return tsl__expr_seq(x, tsl__expr_literal(x, "{", 1),
                       tsl__expr_seq(x, all, tsl__expr_literal(x, "}", 1)));
}

/* The bytes of a character after the first. */
static tsl__expr rest_of_character(tsl__exprs *x, uint8_t b) {
  tsl__expr tail = tsl__expr_range(x, 0x80, 0xBF);
  if (b < 0xC2 || b > 0xF4) return TSL__NONE;
  if (b < 0xE0) return tail;
  tsl__expr second = tsl__expr_range(x,
                                     b == 0xE0   ? 0xA0
                                     : b == 0xF0 ? 0x90
                                                 : 0x80,
                                     b == 0xED   ? 0x9F
                                     : b == 0xF4 ? 0x8F
                                                 : 0xBF);
  return tsl__expr_seq(x, second, b < 0xF0 ? tail : tsl__expr_seq(x, tail, tail));
}

/* After a backslash outside of a class. */
static tsl__expr escaped(table *t, rx s, uint8_t b) {
  tsl__expr rest = TSL__EPS;
  if (b == 'k' && s.name_count && s.names[0] < OTHER_NAMES) {
    go(&s, AT_REFERENCE);
    return state(t, &s);
  }
  go(&s, b == 'b' || b == 'B' ? AT_TERM : b == '0' ? AT_ZERO : is_digit(b) ? AT_NUMBER : AT_ATOM);
  if (s.at == AT_NUMBER) s.value = b - (uint32_t)'0';
  switch (b) {
  case 'c': rest = t->letter; break;
  case 'x': rest = t->hex2; break;
  case 'u': rest = t->code_point; break;
  case 'p':
  case 'P': rest = t->property; break;
  default:
    if (!is_digit(b) && !among(b, "bBdDsSwWfnrtv^$\\.*+?()[]{}|/")) return TSL__NONE;
  }
  return tsl__expr_seq(t->x, rest, state(t, &s));
}

static tsl__expr step(tsl__exprs *x, void *ctx, uint32_t param, uint8_t byte) {
  table *t = ctx;
  rx s = t->states.at[param];
  if (s.at == AT_ESCAPE) return escaped(t, s, byte);
  if (s.at <= AT_GROUP && byte >= 0x80) { /* any non-ASCII character is an atom */
    tsl__expr rest = rest_of_character(x, byte);
    if (rest == TSL__NONE || !after_term(&s, 'x')) return TSL__NONE;
    return tsl__expr_seq(x, rest, state(t, &s));
  }
  if (s.at == AT_CLASS_ESCAPE && (byte == 'p' || byte == 'P'))
    return class_atom(&s, SET) ? tsl__expr_seq(x, t->property, state(t, &s)) : TSL__NONE;
  return next(t, &s, byte) ? state(t, &s) : TSL__NONE;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Bytes that close and add the groups that are missing, where `groups` more come anyway. */
static uint32_t ending(const rx *s, uint32_t groups) {
  uint32_t need = s->at == AT_NUMBER && s->value > s->need ? s->value : s->need;
  groups += s->groups;
  return s->depth + (need > groups ? 2 * (need - groups) : 0);
}

/* In \u{…: digits that are still needed, the bracket of the escape and that of the class. */
static uint32_t brace_ending(const rx *s) {
  uint32_t more = !s->digits;
  while (s->ranged && (((uint64_t)s->value + 1) << 4 * more) - 1 < s->low &&
         (uint64_t)s->value << 4 * (more + 1) <= 0x10FFFF && more < 6)
    more++;
  return more + 2;
}

/* After \u: four digits, or braces. */
static uint32_t code_ending(const rx *s) {
  uint32_t braced = 1 + brace_ending(s);
  return braced < 5 || (s->ranged && s->low > 0xFFFF) ? braced : 5;
}

/* After a backslash: an atom that is not less than `low`, and the bracket of the class. */
static uint32_t escape_ending(const rx *s) {
  if (!s->ranged || s->low <= '}') return 2;
  return s->low <= 0xFF ? 4 : 1 + code_ending(s);
}

static uint32_t inner(const rx *s) {
  switch (s->at) {
  case AT_ESCAPE:
  case AT_COUNT:
  case AT_COMMA:
  case AT_CLASS_BEGIN:
  case AT_CLASS:
  case AT_RANGE: return 1;
  case AT_BRACE: return 2;
  case AT_COUNT_2: {
    uint32_t digits = 1;
    for (uint64_t most = s->value; most < s->low; digits++) most = most * 10 + 9;
    return digits;
  }
  case AT_CLASS_ESCAPE: return escape_ending(s);
  case AT_CONTROL: return 2;
  case AT_HEX:
  case AT_UTF8: return s->left + 1u;
  case AT_U: return code_ending(s);
  case AT_U_BRACE: return brace_ending(s);
  default: return 0;
  }
}

static uint32_t shortest(void *ctx, uint32_t param) {
  const table *t = ctx;
  const rx *s = &t->states.at[param];
  switch (s->at) {
  case AT_GROUP: return 1 + ending(s, 1);
  case AT_OPEN:
  case AT_OPEN_LESS: return 2 + ending(s, 0);
  case AT_GROUP_NAME: return (is_new(s) ? 2u : 3u) + ending(s, 1);
  case AT_REFERENCE:
  case AT_REFERENCE_NAME: return (s->at == AT_REFERENCE) + missing(t, s) + 1 + ending(s, 0);
  default: return inner(s) + ending(s, 0);
  }
}

/* What ends a pattern is ASCII, but for the rest of a character. */
static uint32_t characters(void *ctx, uint32_t param, bool *texts) {
  const rx *s = &((const table *)ctx)->states.at[param];
  *texts = s->at != AT_UTF8;
  return shortest(ctx, param) - (s->at == AT_UTF8 ? s->left : 0);
}

static bool nullable(void *ctx, uint32_t param) {
  const table *t = ctx;
  return t->states.at[param].at <= AT_ZERO && !shortest(ctx, param);
}

static void boundaries(void *ctx, uint32_t param, tsl__bytes *out) {
  const table *t = ctx;
  const rx *s = &t->states.at[param];
  static const char edges[] =
      "$%()*,-./09:;<=>?@AZ[\\]^_`az{|}~\x80\xC2\xE0\xE1\xED\xEE\xF0\xF1\xF4\xF5";
  bool each = s->at >= AT_ESCAPE || s->at == AT_NUMBER;
  for (const char *c = edges; *c; c++) tsl__bytes_add(out, (uint8_t)*c);
  for (unsigned b = 1; each && b < 256; b++) tsl__bytes_add(out, b);
}

static void print(void *ctx, uint32_t param, char *out, size_t n) {
  const rx *s = &((const table *)ctx)->states.at[param];
  snprintf(out, n, "regex[%u,%u,%u] #%u", (unsigned)s->at, (unsigned)s->depth, (unsigned)s->groups,
           (unsigned)param);
}

/* A class goes on with any character but a few, a name with any of its own. Without this each of
 * them would be looked into, for every group that may be open. */
static bool letters(void *ctx, uint32_t param, tsl__bytes *out, uint32_t *need) {
  const rx *s = &((const table *)ctx)->states.at[param];
  bool class =
      s->at == AT_CLASS_BEGIN || s->at == AT_CLASS || (s->at == AT_RANGE && s->low <= 0x80);
  if (!class && s->at != AT_GROUP_NAME) return false;
  memset(out, 0, sizeof *out);
  for (unsigned b = 0; b < 0x80; b++)
    if (class ? !among((uint8_t)b, "]\\-") && b >= (s->at == AT_RANGE ? s->low : 0) &&
                    !(s->digits && is_digit((uint8_t)b))
              : in_name((uint8_t)b))
      tsl__bytes_add(out, b);
  if (class) tsl__bytes_add_range(out, 0x80, 0xFF);
  *need = shortest(ctx, param) + !class; /* a name may come to be one that is there */
  return true;
}

static const tsl__native_ops ops = {.nullable = nullable,
                                    .boundaries = boundaries,
                                    .step = step,
                                    .shortest = shortest,
                                    .print = print,
                                    .letters = letters,
                                    .characters = characters};

tsl__expr tsl__format_regex(tsl__exprs *x) {
  table *t = tsl__alloc_zero(tsl__exprs_allocator(x), sizeof *t);
  if (!t) return tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory"), TSL__NONE;
  t->x = x;
  if (!tsl__exprs_own(x, t, destroy)) return TSL__NONE;
  list_common_names(t);
  t->property = properties(x);
  t->code_point =
      tsl__format_pattern(x, "[0-9A-Fa-f]{4}|\\{0*(?:[0-9A-Fa-f]{1,5}|10[0-9A-Fa-f]{4})\\}");
  t->hex2 = tsl__format_pattern(x, "[0-9A-Fa-f]{2}");
  t->letter = tsl__format_pattern(x, "[A-Za-z]");
  rx begin;
  memset(&begin, 0, sizeof begin);
  return tsl__exprs_status(x) == TSL_OK ? state(t, &begin) : TSL__NONE;
}
