/* dialect.c - see dialect.h.
 *
 * Most of a pattern is copied, as it means the same to three engines. These are Oniguruma (HF's
 * Split; its default syntax), Rust's fancy-regex (tiktoken, HF elsewhere) and PCRE2. What does not:
 *
 *                  Oniguruma                       Rust                    PCRE2, if it were copied
 *   \p{Han}        script                          script                  script extensions
 *   \w             Alphabetic, M, Nd, Pc; out of   Alphabetic, M, Nd, Pc,  L, N, "_"
 *                  sets also six No below U+100    U+200C, U+200D
 *   \s \h \v       white space; hex digit; U+000B  as Oniguruma            \s has U+180E;
 *                                                                          \h: blanks; \v: line
 *                                                                          ends
 *   [\W] [\S]      complement                      complement              complement of its own
 *   [[:^alpha:]]   the same                        the same                the same
 *   [[:punct:]]    P, S                            ASCII                   P and ASCII's S
 *   x{2}? x{1,2}+  a group, repeated               lazy, possessive        lazy, possessive
 *   x{,2}          {0,2}                           {0,2}                   literal before 10.43
 *   (?m)           "." matches a line feed too     lines                   lines
 *   a(?i)b|c       a(?i:b|c)                       a(?i:b)|(?i:c)          a(?i:b)|(?i:c)
 *   (?i:ss)        matches "ß"                     does not                does not
 *   (?i:\p{L})     as it is; in a set, folded      folded                  as it is, in 10.42
 *
 * Sets      PCRE2 has no set within a set. One with complements or sets in it becomes alternatives,
 *           [a\W] -> (?:[a]|[^words]), and if it is negated itself, what none of them matches:
 *           [^a\W] -> (?:(?![a]|[^words])\p{Any}). What stands before "&&" is looked at first:
 *           [\w&&[^a]] -> (?:(?=[words])(?:[^a])). Rust's "--" and "~~" are refused, and sets
 *           within sets where case is ignored.
 * Groups    For x{1,2}+ -> (?:x{1,2})+ the place in the output where the item before begins is
 *           known: of a group, from a stack of open ones.
 * Folding   Where case is ignored a letter may stand for several in Oniguruma ("ß" is "ss"). What
 *           could be part of such is refused. So are properties whose folding is more than a letter
 *           or two. A property in a set holds letters like "ß" too; that such a set matches two
 *           letters where one does not do is left out.
 *
 * Oniguruma's doc/RE and what PyPI's `tokenizers` and `tiktoken` do with every code point; the
 * versions differ in recent characters.
 *
 * Tested by tests/tokenizer/test_dialect.c, tests/tokenizer/test_encode.c,
 * tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/dialect.h"

#include <stdio.h>

#define MAX_DEPTH 250 /* of groups, as in PCRE2 */
#define MAX_SETS 8    /* sets within each other */

#define SPACES \
  "\\t-\\r "   \
  "\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define WORDS "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
#define RUST_WORDS WORDS "\\x{200c}\\x{200d}"
#define ONIGURUMA_WORDS WORDS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}" /* outside of sets */
#define HEX_DIGITS "0-9A-Fa-f"

/* A group that is open, or the whole pattern. */
typedef struct level {
  size_t start;    /* where it begins in the output */
  uint32_t closes; /* parentheses to close at its end: of options in the middle of it */
  bool caseless;
} level;

/* A set from its "[" on. */
typedef struct bracket {
  /* `others`: complements and sets in it, each "|[…]" or "|(?:…)" */
  tsl__pattern_text members, others;
  tsl__pattern_text operands; /* what stood before each "&&", as "(?=…)" */
  bool negated;
} bracket;

typedef struct rewriter {
  const char *s; /* the pattern */
  size_t n, at;
  bool rust;
  pcre2_compile_context *context;
  const tsl_allocator *a;
  tsl_error *error;
  tsl__pattern_text *out;
  bracket sets[MAX_SETS]; /* that are read, within each other */
  size_t set_depth;       /* 0: outside of sets */
  level levels[MAX_DEPTH];
  size_t depth;  /* the index of the innermost level */
  size_t item;   /* where the last item begins in the output */
  bool range;    /* "-" came after `last` in a set */
  uint32_t last; /* the letter before; 0: none */
} rewriter;

static tsl_status no_memory(const rewriter *r) {
  return tsl__fail(r->error, TSL_ERR_NO_MEMORY, "out of memory");
}

/* UNSUPPORTED: what stands at s[from] up to where reading is. */
static tsl_status refuse(const rewriter *r, size_t from) {
  size_t length = (r->at < r->n ? r->at : r->n) - from;
  return tsl__fail(r->error, TSL_ERR_UNSUPPORTED,
                   "a pre-tokenisation pattern has %.*s, which is not supported%s",
                   (int)(length < 60 ? length : 60), r->s + from,
                   r->levels[r->depth].caseless ? " where case is ignored" : "");
}

static bool append(const tsl_allocator *a, tsl__pattern_text *to, const char *s, size_t n) {
  if (!tsl__vec_reserve(a, to, n)) return false;
  if (n) memcpy(to->at + to->n, s, n);
  to->n += n;
  return true;
}

static tsl_status put_n(rewriter *r, const char *s, size_t n) {
  return append(r->a, r->set_depth ? &r->sets[r->set_depth - 1].members : r->out, s, n)
             ? TSL_OK
             : no_memory(r);
}

static tsl_status put(rewriter *r, const char *s) { return put_n(r, s, strlen(s)); }

/* Copy what stands at s[from] up to where reading is. */
static tsl_status copy(rewriter *r, size_t from) { return put_n(r, r->s + from, r->at - from); }

static bool next_is(const rewriter *r, char c) { return r->at < r->n && r->s[r->at] == c; }

static bool caseless(const rewriter *r) { return r->levels[r->depth].caseless; }

/* ---- letters --------------------------------------------------------------------------------- */

/* Is there one in first … last that in Oniguruma folds to several, or a letter other than ASCII's
 * in what such fold to? */
static bool folds_to_several(uint32_t first, uint32_t last) {
  static const uint32_t ranges[][2] = {
      {0xDF, 0xDF},   {0x130, 0x130}, {0x149, 0x149},   {0x1F0, 0x1F0},   {0x2BC, 0x2BE},
      {0x300, 0x3FF}, {0x530, 0x58F}, {0x1E96, 0x1E9E}, {0x1F00, 0x1FFF}, {0xFB00, 0xFB17}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (first <= ranges[i][1] && last >= ranges[i][0]) return true;
  return false;
}

static bool folds_from_two(uint32_t a, uint32_t b) {
  static const char *const pairs[] = {"ss", "st", "ff", "fi", "fl"};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if ((a | 32) == (uint32_t)pairs[i][0] && (b | 32) == (uint32_t)pairs[i][1]) return true;
  return false;
}

/* A letter was read that began at s[from]. */
static tsl_status note_letter(rewriter *r, uint32_t letter, size_t from) {
  bool folds = caseless(r) && !r->rust;
  uint32_t first = r->set_depth && r->range ? r->last : letter, last = r->last;
  r->range = false;
  r->last = letter;
  if (folds && !(r->set_depth && r->sets[r->set_depth - 1].negated) &&
      folds_to_several(first, letter))
    return refuse(r, from);
  if (!folds || r->set_depth || !folds_from_two(last, letter)) return TSL_OK;
  return refuse(r, from ? from - 1 : from);
}

static void note_no_letter(rewriter *r) {
  r->range = false;
  r->last = 0;
}

static tsl_status rewrite_letter(rewriter *r) {
  size_t from = r->at;
  uint32_t letter = 0;
  unsigned n = tsl__utf8_decode((const uint8_t *)r->s + from, r->n - from, &letter);
  r->at += n ? n : 1;
  tsl_status status = note_letter(r, letter, from);
  return status ? status : copy(r, from);
}

/* ---- sets of characters ---------------------------------------------------------------------- */

/* A set, or its complement; within a set a complement is kept for the end. */
static tsl_status put_set(rewriter *r, const char *set, bool complement) {
  note_no_letter(r);
  if (r->set_depth && !complement) return put(r, set);
  tsl__pattern_text *to = r->set_depth ? &r->sets[r->set_depth - 1].others : r->out;
  const char *open = r->set_depth ? "|[^" : complement ? "[^" : "[";
  bool ok = append(r->a, to, open, strlen(open)) && append(r->a, to, set, strlen(set)) &&
            append(r->a, to, "]", 1);
  return ok ? TSL_OK : no_memory(r);
}

/* What may be added to a general category where case is ignored, that it be what folding makes of
 * it; NULL: more than that. */
static const char *folding_adds(const char *name, size_t length) {
  /* its upper case is a letter */
  if (length == 1 && *name == 'L') return "\\x{345}";
  /* the same from the other side */
  if (length == 1 && *name == 'M') return "\\x{399}\\x{3b9}\\x{1fbe}";
  if (length == 2 && (!memcmp(name, "Lo", 2) || !memcmp(name, "Lm", 2) || !memcmp(name, "Mc", 2) ||
                      !memcmp(name, "Me", 2)))
    return "";
  return length && length <= 2 && strchr("NPSZC", *name) ? "" : NULL;
}

/* Is it the name of a script? PCRE2 before 10.40 does not know "sc=", and means scripts anyway. */
static tsl_status is_script(rewriter *r, const char *name, size_t length, bool *script) {
  char text[64];
  int code = 0;
  PCRE2_SIZE offset = 0;
  *script = false;
  if ((length < 3 && (length != 2 || memcmp(name, "Yi", 2))) || length > 40) return TSL_OK;
  int n = snprintf(text, sizeof text, "\\p{sc=%.*s}", (int)length, name);
  pcre2_code *compiled =
      pcre2_compile((PCRE2_SPTR)text, (PCRE2_SIZE)n, PCRE2_UTF, &code, &offset, r->context);
  *script = compiled != NULL;
  if (compiled) pcre2_code_free(compiled);
  return code == PCRE2_ERROR_NOMEMORY || code == 121 /* ERR21: failed to allocate heap memory */
             ? no_memory(r)
             : TSL_OK;
}

static tsl_status put_property(rewriter *r, const char *name, size_t length, bool complement) {
  char text[80];
  bool script;
  tsl_status status = is_script(r, name, length, &script);
  if (status) return status;
  snprintf(text, sizeof text, "\\%c{%s%.*s}", complement ? 'P' : 'p', script ? "sc=" : "",
           (int)(length < 60 ? length : 60), name);
  note_no_letter(r);
  return put(r, text);
}

/* The same where case is ignored. */
static tsl_status put_folded_property(rewriter *r, const char *name, size_t length, bool complement,
                                      size_t from) {
  char set[80];
  if (!r->rust && !r->set_depth) {
    tsl_status status = put(r, "(?-i:");
    if (!status) status = put_property(r, name, length, complement);
    return status ? status : put(r, ")");
  }
  const char *adds = folding_adds(name, length);
  if (!adds || (*adds && complement && r->set_depth)) return refuse(r, from);
  snprintf(set, sizeof set, "\\p{%.*s}%s", (int)length, name, adds);
  return put_set(r, set, complement);
}

/* \p{Name}, \P{Name}, \p{^Name}, and in Rust \pN. */
static tsl_status rewrite_property(rewriter *r, size_t from) {
  bool complement = r->s[from + 1] == 'P', braces = next_is(r, '{');
  size_t begin = r->at + braces, end = begin + 1;
  if (!braces && (!r->rust || begin >= r->n)) return refuse(r, from);
  if (braces) {
    const char *brace = memchr(r->s + begin, '}', r->n - begin);
    if (!brace) return copy(r, from); /* PCRE2 will say so */
    end = (size_t)(brace - r->s);
    if (begin < end && r->s[begin] == '^') complement = !complement, begin++;
  }
  r->at = end + braces;
  if (end - begin > 60) return refuse(r, from);
  if (caseless(r)) return put_folded_property(r, r->s + begin, end - begin, complement, from);
  return put_property(r, r->s + begin, end - begin, complement);
}

/* The classes that are written [:name:] within a set. */
typedef struct posix_class {
  const char *name, *rust, *oniguruma;
  bool complement; /* of `oniguruma` */
} posix_class;

static const posix_class posix_classes[] = {
    {"alnum", "0-9A-Za-z", "\\p{Alphabetic}\\p{Nd}", false},
    {"alpha", "A-Za-z", "\\p{Alphabetic}", false},
    {"ascii", "\\x00-\\x7f", "\\x00-\\x7f", false},
    {"blank", "\\t ", "\\t\\p{Zs}", false},
    {"cntrl", "\\x00-\\x1f\\x7f", "\\p{Cc}", false},
    {"digit", "0-9", "\\p{Nd}", false},
    {"graph", "!-~", "\\p{Z}\\p{Cc}\\p{Cn}\\p{Cs}", true},
    {"lower", "a-z", "\\p{Lowercase}", false},
    {"print", " -~", "\\p{Cc}\\p{Cn}\\p{Cs}\\x{2028}\\x{2029}", true},
    {"punct", "!-\\/:-@\\[-`{-~", "\\p{P}\\p{S}", false},
    {"space", "\\t-\\r ", SPACES, false},
    {"upper", "A-Z", "\\p{Uppercase}", false},
    {"word", "0-9A-Z_a-z", WORDS, false},
    {"xdigit", HEX_DIGITS, HEX_DIGITS, false},
};

static const posix_class *find_posix(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof posix_classes / sizeof *posix_classes; i++)
    if (strlen(posix_classes[i].name) == length && !memcmp(posix_classes[i].name, name, length))
      return &posix_classes[i];
  return NULL;
}

/* Is it "[:name:]" or "[:^name:]" that comes? Any other set is one within a set. */
static bool is_posix(const rewriter *r) {
  size_t begin = r->at + 2, end;
  if (r->n - r->at < 5 || r->s[r->at + 1] != ':') return false;
  begin += r->s[begin] == '^';
  for (end = begin; end < r->n && r->s[end] >= 'a' && r->s[end] <= 'z';) end++;
  return find_posix(r->s + begin, end - begin) && r->n - end >= 2 && !memcmp(r->s + end, ":]", 2);
}

static tsl_status rewrite_posix(rewriter *r) {
  size_t from = r->at, begin = from + 2;
  bool complement = r->s[begin] == '^';
  begin += complement;
  size_t length = (size_t)((const char *)memchr(r->s + begin, ':', r->n - begin) - (r->s + begin));
  const posix_class *class = find_posix(r->s + begin, length);
  r->at = begin + length + 2;
  if (caseless(r) && !r->rust && (*class->name == 'u' || *class->name == 'l'))
    return refuse(r, from);
  return put_set(r, r->rust ? class->rust : class->oniguruma,
                 complement != (class->complement && !r->rust));
}

/* The alternatives of what was read since "[" or "&&". */
static bool put_operand(const rewriter *r, const bracket *set, tsl__pattern_text *to) {
  bool ok = !set->members.n ||
            (append(r->a, to, "[", 1) && append(r->a, to, set->members.at, set->members.n) &&
             append(r->a, to, "]", 1));
  size_t bar = !set->members.n && set->others.n; /* no alternative before it */
  return ok && append(r->a, to, set->others.at ? set->others.at + bar : "", set->others.n - bar);
}

static tsl_status open_set(rewriter *r) {
  size_t from = r->at++;
  if (r->set_depth == MAX_SETS || (r->set_depth && caseless(r))) return refuse(r, from);
  bracket *new_set = &r->sets[r->set_depth++];
  new_set->members.n = new_set->others.n = new_set->operands.n = 0;
  new_set->negated = next_is(r, '^');
  r->at += new_set->negated;
  note_no_letter(r);
  if (!next_is(r, ']')) return TSL_OK;
  r->at++; /* where a set begins it is a member */
  return put(r, "\\]");
}

/* "&&": what was read is what a character must be, too. */
static tsl_status end_operand(rewriter *r) {
  bracket *set = &r->sets[r->set_depth - 1];
  size_t from = r->at;
  r->at += 2;
  if (caseless(r) || next_is(r, '&') || (!set->members.n && !set->others.n)) return refuse(r, from);
  bool ok = append(r->a, &set->operands, "(?=", 3) && put_operand(r, set, &set->operands) &&
            append(r->a, &set->operands, ")", 1);
  set->members.n = set->others.n = 0;
  note_no_letter(r);
  return ok ? TSL_OK : no_memory(r);
}

static tsl_status close_set(rewriter *r) {
  bracket *set = &r->sets[--r->set_depth];
  tsl__pattern_text *to = r->set_depth ? &r->sets[r->set_depth - 1].others : r->out;
  bool simple = !set->others.n && !set->operands.n, empty = !set->members.n && !set->others.n;
  const char *open = simple         ? ""
                     : set->negated ? "(?:(?!"
                                    : "(?:",
             *close = simple         ? ""
                      : set->negated ? ")\\p{Any})"
                                     : ")";
  size_t from = r->at++;
  if (empty) return refuse(r, from);
  note_no_letter(r);
  bool ok = append(r->a, to, "|", r->set_depth > 0) && append(r->a, to, open, strlen(open)) &&
            append(r->a, to, set->operands.at, set->operands.n) &&
            append(r->a, to, "(?:", set->operands.n ? 3 : 0);
  if (simple)
    ok = ok && append(r->a, to, "[^", set->negated ? 2 : 1) &&
         append(r->a, to, set->members.at, set->members.n) && append(r->a, to, "]", 1);
  else
    ok = ok && put_operand(r, set, to);
  ok = ok && append(r->a, to, ")", set->operands.n > 0) && append(r->a, to, close, strlen(close));
  return ok ? TSL_OK : no_memory(r);
}

static tsl_status rewrite_escape(rewriter *r);

static tsl_status rewrite_member(rewriter *r) {
  char c = r->s[r->at], next = r->at + 1 < r->n ? r->s[r->at + 1] : 0;
  if (c == '\\') return rewrite_escape(r);
  if (c == ']') return close_set(r);
  if (c == '[' && is_posix(r)) return rewrite_posix(r);
  if (c == '[') return open_set(r);
  if (c == '&' && next == '&') return end_operand(r);
  /* difference, symmetric difference */
  if (r->rust && c == next && (c == '-' || c == '~')) return r->at += 2, refuse(r, r->at - 2);
  if (c == '-') {
    r->range = r->last != 0;
    return copy(r, r->at++);
  }
  /* the members may be put where it would negate them */
  tsl_status status = c == '^' ? put(r, "\\") : TSL_OK;
  return status ? status : rewrite_letter(r);
}

static tsl_status rewrite_set(rewriter *r) {
  r->item = r->out->n;
  tsl_status status = open_set(r);
  while (!status && r->set_depth && r->at < r->n) status = rewrite_member(r);
  if (status || !r->set_depth) return status;
  r->set_depth = 0;
  return put(r, "["); /* without an end, which PCRE2 will say */
}

/* ---- escapes --------------------------------------------------------------------------------- */

/* A border: a word on one side, none on the other. */
static tsl_status put_border(rewriter *r, bool border, size_t from) {
  const char *words = r->rust ? RUST_WORDS : ONIGURUMA_WORDS;
  char text[512];
  if (r->rust && next_is(r, '{')) return refuse(r, from); /* \b{start} */
  snprintf(text, sizeof text, "(?:(?<=[%s])(?%c[%s])|(?<![%s])(?%c[%s]))", words,
           border ? '!' : '=', words, words, border ? '=' : '!', words);
  note_no_letter(r);
  return put(r, text);
}

/* \xHH, \x{H…}, \uHHHH, and in Rust \u{H…}, \UHHHHHHHH. */
static tsl_status rewrite_number(rewriter *r, size_t from) {
  char kind = r->s[from + 1], text[32];
  bool braces = (kind == 'x' || r->rust) && next_is(r, '{');
  size_t most = braces || kind == 'U' ? 8 : kind == 'u' ? 4 : 2, digits = 0;
  uint32_t value = 0;
  r->at += braces;
  for (int digit;
       digits < most && r->at < r->n && (digit = tsl__hex_value((uint8_t)r->s[r->at])) >= 0;
       digits++, r->at++)
    value = value << 4 | (uint32_t)digit;
  if (braces ? !digits || !next_is(r, '}') : digits != most) return refuse(r, from);
  r->at += braces;
  /* a byte of UTF-8 in Oniguruma */
  if (kind == 'x' && !braces && !r->rust && value >= 0x80) return refuse(r, from);
  tsl_status status = note_letter(r, value, from);
  snprintf(text, sizeof text, "\\x{%x}", (unsigned)value);
  return status ? status : put(r, text);
}

/* A group's number, or a code in octal. */
static tsl_status rewrite_digits(rewriter *r, size_t from) {
  const char *s = r->s + from + 1;
  bool byte = r->n - from > 3 && (*s == '2' || *s == '3') && s[1] >= '0' && s[1] <= '7' &&
              s[2] >= '0' && s[2] <= '7';
  while (r->at < r->n && r->s[r->at] >= '0' && r->s[r->at] <= '9' && r->at - from < 4) r->at++;
  if (byte && !r->rust) return refuse(r, from); /* a byte of UTF-8 */
  note_no_letter(r);
  return copy(r, from);
}

/* \k<name> and \g<name>, the name in brackets or quotes. */
static tsl_status rewrite_reference(rewriter *r, size_t from) {
  char end = next_is(r, '<') ? '>' : next_is(r, '\'') ? '\'' : 0;
  const char *found =
      end && r->n - r->at > 1 ? memchr(r->s + r->at + 1, end, r->n - r->at - 1) : NULL;
  if (!found) return refuse(r, from);
  r->at = (size_t)(found - r->s) + 1;
  note_no_letter(r);
  return copy(r, from);
}

/* Escapes that mean something outside of sets only. */
static tsl_status rewrite_outer_escape(rewriter *r, char c, size_t from) {
  if (r->set_depth) return refuse(r, from);
  if (c == 'B') return put_border(r, false, from);
  if (c == 'k' || c == 'g') return rewrite_reference(r, from);
  note_no_letter(r);
  if (c == 'O') return put(r, "\\p{Any}");
  if (c == 'Z' && r->rust) return put(r, "(?=\\n*\\z)");
  return copy(r, from);
}

static tsl_status rewrite_letter_escape(rewriter *r, char c, size_t from) {
  bool complement = c == 'W' || c == 'S' || c == 'H';
  if (c == 'b' && !r->set_depth) return put_border(r, true, from);
  switch (c) {
  case 'w':
  case 'W':
    return put_set(r, r->rust ? RUST_WORDS : r->set_depth ? WORDS : ONIGURUMA_WORDS, complement);
  case 's':
  case 'S': return put_set(r, SPACES, complement);
  case 'h':
  case 'H': return put_set(r, HEX_DIGITS, complement);
  case 'p':
  case 'P': return rewrite_property(r, from);
  case 'x':
  case 'u': return rewrite_number(r, from);
  case 'U': return r->rust ? rewrite_number(r, from) : refuse(r, from);
  case 'v': note_no_letter(r); return put(r, "\\x0b");
  case 'b':
  case 'd':
  case 'D':
  case 't':
  case 'n':
  case 'r':
  case 'f':
  case 'a':
  case 'e': note_no_letter(r); return copy(r, from);
  default:
    return c && strchr("ABGNORXZgkz", c) ? rewrite_outer_escape(r, c, from) : refuse(r, from);
  }
}

static tsl_status rewrite_escape(rewriter *r) {
  size_t from = r->at++;
  if (!r->set_depth) r->item = r->out->n;
  if (r->at == r->n) return copy(r, from); /* a backslash at the end, which PCRE2 will say */
  char c = r->s[r->at];
  if ((unsigned char)c >= 0x80) return rewrite_letter(r);
  r->at++;
  if (c >= '0' && c <= '9') return rewrite_digits(r, from);
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return rewrite_letter_escape(r, c, from);
  if (r->rust && (c == '<' || c == '>')) return refuse(r, from); /* borders */
  tsl_status status = note_letter(r, (unsigned char)c, from);
  return status ? status : copy(r, from);
}

/* ---- repetitions ----------------------------------------------------------------------------- */

/* Put the last item, and what was put after it, into a group. */
static tsl_status group_item(rewriter *r) {
  if (!tsl__vec_reserve(r->a, r->out, 4)) return no_memory(r);
  memmove(r->out->at + r->item + 3, r->out->at + r->item, r->out->n - r->item);
  memcpy(r->out->at + r->item, "(?:", 3);
  r->out->n += 3;
  return put(r, ")");
}

static size_t skip_digits(const rewriter *r, size_t at) {
  while (at < r->n && r->s[at] >= '0' && r->s[at] <= '9') at++;
  return at;
}

/* "{n}", "{n,}", "{n,m}", "{,m}", in Rust "{,}"; any other brace is a letter. */
static tsl_status rewrite_braces(rewriter *r) {
  size_t from = r->at, low = skip_digits(r, from + 1), high = low;
  bool comma = low < r->n && r->s[low] == ',';
  if (comma) high = skip_digits(r, low + 1);
  note_no_letter(r);
  if (high >= r->n || r->s[high] != '}' ||
      (low == from + 1 && (!comma || (high == low + 1 && !r->rust)))) {
    r->item = r->out->n;
    r->at++;
    return put(r, "\\{");
  }
  tsl_status status = put(r, low == from + 1 ? "{0" : "{");
  r->at = high + 1;
  if (!status) status = copy(r, from + 1);
  /* what was repeated, as a whole */
  bool repeats = !r->rust && (next_is(r, '+') || (next_is(r, '?') && !comma));
  return status || !repeats ? status : group_item(r);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static tsl_status open_level(rewriter *r, bool ignores_case) {
  size_t start = r->out->n;
  if (++r->depth == MAX_DEPTH)
    return tsl__fail(r->error, TSL_ERR_SYNTAX,
                     "a pre-tokenisation pattern has more than %d groups within each other",
                     MAX_DEPTH - 1);
  r->levels[r->depth] = (level){start, 0, ignores_case};
  return TSL_OK;
}

static tsl_status close_options(rewriter *r) {
  tsl_status status = TSL_OK;
  for (level *l = &r->levels[r->depth]; l->closes && !status; l->closes--) status = put(r, ")");
  return status;
}

static tsl_status rewrite_close(rewriter *r) {
  tsl_status status = close_options(r);
  r->at++;
  note_no_letter(r);
  if (r->depth) r->item = r->levels[r->depth--].start;
  return status ? status : put(r, ")");
}

/* The letters of "(?im-x:" or "(?i)", as PCRE2 has them. False: there is one that it does not
 * have. */
static bool read_options(rewriter *r, char text[16], bool *ignores_case) {
  size_t n = 0;
  bool on = true;
  for (; r->at < r->n && r->s[r->at] != ':' && r->s[r->at] != ')'; r->at++) {
    char c = r->s[r->at], put_as = c;
    if (c == 'i')
      *ignores_case = on;
    else if (c == 'm' && !r->rust)
      put_as = 's';
    else if (c == '-' && on)
      on = false;
    else if ((c == 'x' && !on) || (c == 'u' && on && r->rust))
      continue;
    else if (!r->rust || !c || !strchr("msU", c))
      return r->at++, false;
    if (n == 15) return false;
    text[n++] = put_as;
  }
  text[n] = 0;
  return r->at < r->n;
}

/* Options for a group or for what is left of one. In Oniguruma the latter is a group of its own,
 * with all the alternatives that follow. */
static tsl_status rewrite_options(rewriter *r, size_t from) {
  char letters[16];
  bool ignores_case = caseless(r);
  if (!read_options(r, letters, &ignores_case)) return refuse(r, from);
  bool group = r->s[r->at++] == ':';
  tsl_status status = group ? open_level(r, ignores_case) : TSL_OK;
  if (!group) {
    r->levels[r->depth].caseless = ignores_case;
    r->levels[r->depth].closes += !r->rust;
  }
  if (!status) status = put(r, "(?");
  if (!status) status = put(r, letters);
  return status ? status : put(r, group || !r->rust ? ":" : ")");
}

/* "(?#…)" */
static tsl_status rewrite_comment(rewriter *r, size_t from) {
  const char *end = memchr(r->s + from, ')', r->n - from);
  if (end && end[-1] == '\\') return refuse(r, from);
  r->at = end ? (size_t)(end - r->s) + 1 : r->n;
  return put(r, end ? "(?#)" : "(");
}

/* "(?<name>", "(?'name'" and "(?P<name>": all of it. */
static tsl_status rewrite_named(rewriter *r, size_t from) {
  r->at += r->s[r->at] == 'P';
  char end = next_is(r, '<') ? '>' : next_is(r, '\'') ? '\'' : 0;
  const char *found =
      end && r->n - r->at > 1 ? memchr(r->s + r->at + 1, end, r->n - r->at - 1) : NULL;
  tsl_status status = found ? open_level(r, caseless(r)) : refuse(r, from);
  if (status) return status;
  r->at = (size_t)(found - r->s) + 1;
  return copy(r, from);
}

static tsl_status rewrite_open(rewriter *r) {
  size_t from = r->at++;
  char kind = r->at + 1 < r->n && r->s[r->at] == '?' ? r->s[r->at + 1] : 0,
       next = r->at + 2 < r->n ? r->s[r->at + 2] : 0;
  note_no_letter(r);
  if (next_is(r, '*')) return r->at++, refuse(r, from);
  if (!kind || strchr(":=!>", kind) || (kind == '<' && (next == '=' || next == '!'))) {
    tsl_status status = open_level(r, caseless(r));
    if (kind) r->at += kind == '<' ? 3 : 2;
    return status ? status : copy(r, from);
  }
  r->at++;
  if (kind == '#') return rewrite_comment(r, from);
  if (kind == '<' || kind == '\'' || kind == 'P') return rewrite_named(r, from);
  return rewrite_options(r, from);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl_status rewrite_next(rewriter *r) {
  switch (r->s[r->at]) {
  case '\\': return rewrite_escape(r);
  case '[': return rewrite_set(r);
  case '(': return rewrite_open(r);
  case ')': return rewrite_close(r);
  case '{': return rewrite_braces(r);
  case '*':
  case '+':
  case '?':
  case '|': note_no_letter(r); return copy(r, r->at++);
  default: r->item = r->out->n; return rewrite_letter(r);
  }
}

tsl_status tsl__dialect_rewrite(const char *pattern, size_t length, tsl__dialect dialect,
                                pcre2_compile_context *context, const tsl_allocator *a,
                                tsl__pattern_text *out, tsl_error *error) {
  rewriter r = {.s = pattern,
                .n = length,
                .rust = dialect == TSL__DIALECT_RUST,
                .context = context,
                .a = a,
                .error = error,
                .out = out};
  tsl_status status = TSL_OK;
  while (r.at < r.n && !status) status = rewrite_next(&r);
  while (!status && r.depth) r.depth--; /* a group without an end, which PCRE2 will say */
  if (!status) status = close_options(&r);
  for (size_t i = 0; i < MAX_SETS; i++) {
    tsl__vec_free(a, &r.sets[i].members);
    tsl__vec_free(a, &r.sets[i].others);
    tsl__vec_free(a, &r.sets[i].operands);
  }
  return status;
}
