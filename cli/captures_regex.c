/* captures_regex.c - named groups of a finished text, through PCRE2. See captures.h.
 *
 * PCRE2 reads some parts of patterns in another way than turnstile.h says. These are ., ^ and $
 * under (?m), \s, \v, \u, \w under (?i), [] and [^], and a { that begins no count. These are
 * written out in words that both understand. What is left (names with $, look-behind without a
 * bound, \N in a class) is an error of PCRE2's, and reported.
 *
 * Rounds    In (?:(?<a>a)|(?<b>b))* on "ab" the second round takes no part of a: ECMA-262 forgets
 *           captures where a round begins, PCRE2 keeps them. So each group that does not capture
 *           begins with an empty one that does, (?:()(?:…)), and says where its last round began.
 *           For what is in a group that captures, the beginning of that group says so. A capture
 *           that begins before the last round of a group around it is one of an earlier round, and
 *           left out.
 * Example   (?:()(?:(?<a>a)|(?<b>b)))* has matched "ab": () at 1, b at 1 to 2, and a at 0, which is
 *           out of date.
 * Limits    A capture of the round before counts as one of the last round if it begins no
 *           earlier. That is a capture of an empty text at the end of the round, or one in a
 *           look-ahead there. In a look-behind captures are kept. Back-references mean PCRE2's
 *           captures. PCRE2 goes through a last round that is empty, which ECMA-262 does not count:
 *           (?<a>x*)* has "" in a.
 *
 * Tested by tests/cli/test_cli_commands.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/captures.h"
#include "cli/json_out.h"

/* ---- the pattern in PCRE2's dialect ---------------------------------------------------------- */

#define SPACES                                                                                   \
  "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}-\\x{2029}\\x{202f}\\x{205f}" \
  "\\x{3000}\\x{feff}"
#define NO_SPACES                                                                                \
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{" \
  "2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-"  \
  "\\x{10ffff}"
#define ALL "\\x{0}-\\x{10ffff}"
#define LINES "\\n\\r\\x{2028}\\x{2029}"

#define GROUPS_MAX 256 /* in each other: more than a pattern may have */

typedef struct flags {
  bool fold, dot_all, multiline;
} flags;

/* What is known of a pattern by its translation; both are lists of uint32_t, by number.
 * Zero-initialised is none. */
typedef struct numbers {
  cli_text theirs; /* the number that PCRE2 gives a group of the pattern */
  /* for each of PCRE2's groups: the one that begins with each round of the group around it; 0:
   * none */
  cli_text begins;
} numbers;

static void add_number(cli_text *list, uint32_t n) { cli_text_add(list, &n, sizeof n); }
static uint32_t count_of(const cli_text *list) {
  return (uint32_t)(list->length / sizeof(uint32_t));
}
static uint32_t number_at(const cli_text *list, uint32_t i) {
  return i < count_of(list) ? ((const uint32_t *)(const void *)list->at)[i] : 0;
}

/* Outside of the group at hand, or in it. */
typedef struct surroundings {
  flags now;
  uint32_t round; /* the innermost of PCRE2's groups that begins with a round; 0: none */
  bool twice;     /* the group at hand is two of PCRE2's */
} surroundings;

typedef struct scan {
  const char *at, *end;
  cli_text *out;
  numbers *found;
  const cli_text *theirs; /* of the whole pattern */
  flags now;
  uint32_t round;
  surroundings around[GROUPS_MAX]; /* of the groups that are open */
  unsigned depth;
  bool in_class, after_set; /* after_set: of what stands before in the class */
} scan;

static void word(scan *s, const char *text) { cli_text_add(s->out, text, strlen(text)); }
static char peek(const scan *s, size_t n) { return (size_t)(s->end - s->at) > n ? s->at[n] : 0; }
static void copy(scan *s, size_t n) {
  if (n > (size_t)(s->end - s->at)) n = (size_t)(s->end - s->at);
  cli_text_add(s->out, s->at, n);
  s->at += n;
}

/* Up to and with `close`. */
static void copy_to(scan *s, char close) {
  const char *to = memchr(s->at, close, (size_t)(s->end - s->at));
  copy(s, to ? (size_t)(to - s->at) + 1 : (size_t)(s->end - s->at));
}

/* A set, in a class or as one. */
static void set(scan *s, const char *inside) {
  if (!s->in_class) word(s, "[");
  word(s, inside);
  if (!s->in_class) word(s, "]");
}

/* \uHHHH, two of them that are a pair of surrogates, or \u{H}. */
static void code_point(scan *s) {
  char text[16];
  unsigned high, low;
  if (peek(s, 2) == '{') {
    word(s, "\\x");
    s->at += 2;
    copy_to(s, '}');
    return;
  }
  bool pair = sscanf(s->at, "\\u%4x\\u%4x", &high, &low) == 2 && (high & 0xFC00) == 0xD800 &&
              (low & 0xFC00) == 0xDC00;
  if (pair)
    snprintf(text, sizeof text, "\\x{%x}", 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF));
  else
    snprintf(text, sizeof text, "\\x{%.4s}", s->at + 2);
  word(s, text);
  s->at += pair ? 12 : 6;
}

/* \N outside of a class: the pattern's group N. */
static void back_reference(scan *s) {
  char text[24], *end;
  unsigned long number = strtoul(s->at + 1, &end, 10);
  snprintf(text, sizeof text, "\\g{%" PRIu32 "}",
           number <= UINT32_MAX ? number_at(s->theirs, (uint32_t)number) : 0);
  word(s, text);
  s->at = end;
}

static void escape(scan *s) {
  char c = peek(s, 1);
  if (c >= '1' && c <= '9' && !s->in_class) {
    back_reference(s);
  } else if (c == 'u') {
    code_point(s);
  } else if (strchr("pPxk", c) && (peek(s, 2) == '{' || (c == 'k' && peek(s, 2)))) {
    char close = peek(s, 2) == '{' ? '}' : peek(s, 2) == '<' ? '>' : '\'';
    copy(s, 3);
    copy_to(s, close);
  } else if (c == 's' || c == 'S' || c == 'v' ||
             (c == 'w' && s->now.fold)) { /* PCRE2's \v is a set of line ends */
    if (c == 'v')
      word(s, "\\x0b");
    else
      set(s, c == 's' ? SPACES : c == 'S' ? NO_SPACES : "\\w\\x{17f}\\x{212a}");
    s->at += 2;
  } else if (c == 'W' && s->now.fold) {
    word(s, s->in_class
                ? "\\x{0}-/:-@\\x{5b}-\\x{5e}`{-\\x{17e}\\x{180}-\\x{2129}\\x{212b}-\\x{10ffff}"
                : "[^\\w\\x{17f}\\x{212a}]");
    s->at += 2;
  } else {
    copy(s, 2);
  }
}

static bool follows(const scan *s, const char *text) {
  size_t n = strlen(text);
  return (size_t)(s->end - s->at) >= n && !memcmp(s->at, text, n);
}

/* One of PCRE2's groups begins. */
static uint32_t new_number(scan *s) {
  add_number(&s->found->begins, s->round);
  return count_of(&s->found->begins) - 1;
}

/* Into a group, of which `opening` bytes are copied; `flags` and what comes after them is then its
 * own. */
static void enter(scan *s, size_t opening, bool captures, bool round) {
  if (captures) add_number(&s->found->theirs, count_of(&s->found->begins));
  copy(s, opening);
  if (captures || round) s->round = new_number(s);
  if (round) word(s, "()(?:");
}

/* At a '('. Flags hold up to the end of the group that they stand in. */
static void group(scan *s) {
  flags inside = s->now;
  size_t n = 2;
  bool on = true;
  if (follows(s, "(?#") || follows(s, "(?P=")) {
    copy_to(s, ')');
    return;
  }
  for (; peek(s, 1) == '?' && peek(s, n) && strchr("ims-", peek(s, n)); n++) {
    if (peek(s, n) == 'i')
      inside.fold = on;
    else if (peek(s, n) == 's')
      inside.dot_all = on;
    else if (peek(s, n) == 'm')
      inside.multiline = on;
    else
      on = false;
  }
  if (n > 2 && peek(s, n) == ')') {
    s->now = inside;
    copy(s, n + 1);
    return;
  }
  if (s->depth < sizeof s->around / sizeof *s->around)
    s->around[s->depth++] = (surroundings){s->now, s->round, false};
  bool behind = follows(s, "(?<=") || follows(s, "(?<!"),
       ahead = follows(s, "(?=") || follows(s, "(?!"),
       plain = peek(s, 1) == '?' && peek(s, n) == ':';
  if (plain) s->now = inside;
  if (s->depth) s->around[s->depth - 1].twice = plain;
  if (behind) s->round = 0;
  enter(s, plain ? n + 1 : behind ? 4 : ahead ? 3 : 1, !plain && !behind && !ahead, plain);
}

/* At a ')'. */
static void leave(scan *s) {
  if (s->depth) {
    const surroundings *outside = &s->around[--s->depth];
    s->now = outside->now;
    s->round = outside->round;
    if (outside->twice) word(s, ")");
  }
  copy(s, 1);
}

/* Of what stands `at` bytes ahead in a class: 1, or as much as [:name:] has. */
static size_t posix_length(const scan *s, size_t at) {
  size_t n = peek(s, at) == '[' && peek(s, at + 1) == ':' ? 2 + (peek(s, at + 2) == '^') : 0;
  while (n && peek(s, at + n) >= 'a' && peek(s, at + n) <= 'z') n++;
  return n && peek(s, at + n) == ':' && peek(s, at + n + 1) == ']' ? n + 2 : 1;
}

/* Does a set stand there, in a class? */
static bool set_at(const scan *s, size_t at) {
  return posix_length(s, at) > 1 ||
         (peek(s, at) == '\\' && peek(s, at + 1) && strchr("dDwWsSpPhH", peek(s, at + 1)));
}

/* A member of a class. A hyphen next to a set makes no range, which PCRE2 refuses. */
static void member(scan *s) {
  bool set = set_at(s, 0);
  if (*s->at == '-' && (s->after_set || set_at(s, 1)))
    word(s, "\\-"), s->at++;
  else if (*s->at == '\\')
    escape(s);
  else
    s->in_class = *s->at != ']', copy(s, posix_length(s, 0));
  s->after_set = set;
}

static void one(scan *s) {
  char c = *s->at;
  if (s->in_class) {
    member(s);
  } else if (c == '\\') {
    escape(s);
  } else if (c == '[') {
    s->after_set = false;
    size_t n = peek(s, 1) == '^' ? 2 : 1;
    if ((s->in_class = peek(s, n) != ']'))
      copy(s, n);
    else
      word(s, n == 1 ? "[^" ALL "]" : "[" ALL "]"), s->at += n + 1; /* [] and [^] */
  } else if (c == '(') {
    group(s);
  } else if (c == ')') {
    leave(s);
  } else if (c == '.' || ((c == '^' || c == '$') && s->now.multiline)) {
    if (c == '.')
      word(s, s->now.dot_all ? "[" ALL "]" : "[^" LINES "]");
    else
      word(s, c == '^' ? "(?<![^" LINES "])" : "(?![^" LINES "])");
    s->at++;
  } else if (c == '{' && !(peek(s, 1) >= '0' && peek(s, 1) <= '9')) {
    word(s, "\\{"); /* no count here, but in newer versions of PCRE2 */
    s->at++;
  } else {
    copy(s, 1);
  }
}

/* What PCRE2 would read as something else, said so that it does not; the pattern is one of ours.
 * `theirs`: the numbers of all groups, which references ask for. */
static void translate_with(const cli_text *theirs, const char *pattern, size_t length,
                           const tsl_regex_options *o, cli_text *out, numbers *found) {
  scan s = {.at = pattern,
            .end = pattern + length,
            .out = out,
            .found = found,
            .theirs = theirs,
            .now = {.fold = o->case_insensitive, .dot_all = o->dot_all}};
  add_number(&found->theirs, 0); /* group 0 is the whole */
  add_number(&found->begins, 0);
  while (s.at < s.end) one(&s);
}

static void numbers_free(numbers *n) {
  cli_text_free(&n->theirs);
  cli_text_free(&n->begins);
}

/* Twice: a reference may stand before its group. */
static void translate(const char *pattern, size_t length, const tsl_regex_options *o, cli_text *out,
                      numbers *found) {
  numbers first = {0};
  cli_text said = {0}, none = {0};
  translate_with(&none, pattern, length, o, &said, &first);
  translate_with(&first.theirs, pattern, length, o, out, found);
  numbers_free(&first);
  cli_text_free(&said);
}

static uint32_t option_bits(const tsl_regex_options *o) {
  uint32_t bits =
      PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_MATCH_UNSET_BACKREF;
  if (o->case_insensitive) bits |= PCRE2_CASELESS;
  if (o->dot_all) bits |= PCRE2_DOTALL;
  if (!o->search) bits |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
  return bits;
}

static int say(const char *what, int number) {
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(number, message, sizeof message);
  return cli_complain("%s: PCRE2: %s", what, (const char *)message);
}

/* The name of a group in the table, or NULL: entries are two bytes of number, then the name. */
static const char *name_of(const pcre2_code *code, uint32_t group) {
  uint32_t count = 0, size = 0;
  PCRE2_SPTR names = NULL;
  pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &names);
  for (uint32_t i = 0; i < count; i++) {
    PCRE2_SPTR entry = names + (size_t)i * size;
    if (((uint32_t)entry[0] << 8 | entry[1]) == group) return (const char *)entry + 2;
  }
  return NULL;
}

/* Is what a group captured of the last round of each group around it? */
static bool of_last_round(const PCRE2_SIZE *at, uint32_t group, const numbers *found) {
  for (uint32_t g = number_at(&found->begins, group); g; g = number_at(&found->begins, g))
    if (at[2 * g] != PCRE2_UNSET && at[2 * group] < at[2 * g]) return false;
  return true;
}

static void print_groups(const pcre2_code *code, pcre2_match_data *match, const char *text,
                         const numbers *found) {
  const PCRE2_SIZE *at = pcre2_get_ovector_pointer(match);
  const char *between = "";
  putchar('{');
  for (uint32_t g = 1; g < pcre2_get_ovector_count(match); g++) {
    const char *name = name_of(code, g);
    if (!name) continue;
    fputs(between, stdout);
    between = ",";
    json_out_string(name, strlen(name));
    putchar(':');
    if (at[2 * g] == PCRE2_UNSET || !of_last_round(at, g, found))
      fputs("null", stdout);
    else
      json_out_string(text + at[2 * g], at[2 * g + 1] - at[2 * g]);
  }
  puts("}");
}

int captures_regex(const char *pattern, size_t pattern_length, const tsl_regex_options *options,
                   const char *text, size_t length) {
  int number, exit_code = CLI_OK;
  PCRE2_SIZE offset;
  cli_text said = {0};
  numbers found = {0};
  pcre2_compile_context *context = pcre2_compile_context_create(NULL);
  if (context) pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  if (context) pcre2_set_parens_nest_limit(context, 2 * GROUPS_MAX);
  translate(pattern, pattern_length, options, &said, &found);
  pcre2_code *code = context ? pcre2_compile((PCRE2_SPTR)said.at, said.length, option_bits(options),
                                             &number, &offset, context)
                             : NULL;
  pcre2_match_data *match = code ? pcre2_match_data_create_from_pattern(code, NULL) : NULL;
  if (!context)
    exit_code = say("finding the groups", PCRE2_ERROR_NOMEMORY);
  else if (!code)
    exit_code = say("finding the groups: the pattern is not one of PCRE2's dialect", number);
  else if (!match)
    exit_code = say("finding the groups", PCRE2_ERROR_NOMEMORY);
  else if ((number = pcre2_match(code, (PCRE2_SPTR)text, length, 0, 0, match, NULL)) >= 0)
    print_groups(code, match, text, &found);
  else if (number == PCRE2_ERROR_NOMATCH)
    exit_code = cli_complain(
        "finding the groups: the text matches, but not in PCRE2's dialect, which finds them");
  else if (number == PCRE2_ERROR_MATCHLIMIT || number == PCRE2_ERROR_HEAPLIMIT ||
           number == PCRE2_ERROR_DEPTHLIMIT)
    exit_code = cli_complain(
        "finding the groups: the text matches, but the pattern can match it in too many ways for "
        "PCRE2, which finds them by trying (nested repetitions, as in (a+)+?)");
  else
    exit_code = say("finding the groups", number);
  pcre2_match_data_free(match);
  pcre2_code_free(code);
  pcre2_compile_context_free(context);
  cli_text_free(&said);
  numbers_free(&found);
  return exit_code;
}
