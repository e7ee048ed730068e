/* regex.h - regular expressions as expressions over UTF-8 bytes.
 *
 * Syntax    ECMA-262 with the `u` flag (code points, not UTF-16 units), made lenient where real
 *           schemas need it. The PCRE syntax that does not clash with it is read as well:
 *
 *             a|b   (…)   (?:…)   (?<n>…)   (?P<n>…)   (?#…)
 *             x*  x+  x?  x{m}  x{m,}  x{m,n}    each with a lazy `?`, which does not change the
 *                                                language
 *             (?i)  (?s)  (?m)  (?-i)  (?i:…)    ignore case; dot matches all; ^ and $ at lines:
 *                                                from there to the end of the group
 *             .                                  all but \n, \r, U+2028 and U+2029
 *             [a-z]  [^…]  []  [^]               [] matches nothing, [^] everything
 *             [[:alpha:]]                        and the other POSIX classes, ASCII
 *             \d \w \s \h \N  \D \W \S \H        \d and \w: ASCII; \s: ECMA-262 white space; \h:
 *                                                PCRE horizontal space; \N: not \n
 *             \p{…}  \P{…}  \pL                  see compiler/expr/charset.h
 *             \t \n \r \v \f \0 \0oo \cX
 *             \xHH \x{H…} \uHHHH \u{H…}         surrogate pairs too
 *             ^  $  \b  \B  \A  \z  \Z           \Z: the end, or before a newline that ends the
 *                                                text; with `very_end` the end alone
 *             (?=…)  (?!…)  (?<=…)  (?<!…)
 *             \1  \k<n>  (?P=n)                  see backref.c
 *
 *           A backslash before anything that is no ASCII letter or digit means that character. { }
 *           ] that begin nothing mean themselves, as in ECMA-262's Annex B. With `counts`, as in
 *           everything that users write, a count that stands after nothing is TSL_ERR_SYNTAX, and
 *           so is {,n}, of which engines disagree. Where the two syntaxes differ ECMA-262 wins. `$`
 *           is the very end, \v is U+000B, and `]` right after `[` closes. A reference to a group
 *           that took no part matches the empty text. Possessive quantifiers, atomic groups,
 *           conditionals, recursion, \K \G \R \X \C \Q \g and verbs are TSL_ERR_UNSUPPORTED. They
 *           change the language in ways that depend on the order of a backtracking search, or have
 *           no use here.
 * Meaning   The language is the set of whole valid UTF-8 texts that match; with `search`, those in
 *           which some part matches. Anchors, boundaries and look-around are exact. A pattern whose
 *           conditions can't be turned into one regular language is refused with
 *           TSL_ERR_UNSUPPORTED and the position, never approximated (lower.c says which). A lone
 *           surrogate matches nothing, as no UTF-8 text has one.
 * Limits    TSL__REGEX_MAX_LENGTH bytes, TSL__REGEX_MAX_DEPTH groups inside each other, repeat
 *           bounds up to TSL__REGEX_MAX_REPEAT, TSL__REGEX_MAX_NODES nodes: TSL_ERR_LIMIT.
 * Tested by tests/regex/test_regex.c, fuzz/fuzz_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_REGEX_REGEX_H
#define TSL_COMPILER_REGEX_REGEX_H

#include "compiler/expr/expr.h"

#define TSL__REGEX_MAX_LENGTH (1u << 17)
#define TSL__REGEX_MAX_DEPTH 250u
#define TSL__REGEX_MAX_REPEAT (1u << 31)
#define TSL__REGEX_MAX_NODES (1u << 18)

typedef struct tsl__regex_flags {
  bool case_insensitive; /* as (?i) in front */
  bool dot_all;          /* as (?s) */
  bool multiline;        /* as (?m) */
  bool search;           /* match anywhere in the text, as JSON Schema's `pattern` does */
  bool counts;           /* {m,n} with nothing before it, and {,n}, are errors */
  bool very_end;         /* \Z is \z, as in Python */
  /* the match stands within a larger text: a condition that may look past it is UNSUPPORTED */
  bool within;
} tsl__regex_flags;

/* The expression of a pattern of `length` bytes of UTF-8, call-free; TSL__NONE with TSL_OK if
 * nothing matches. `flags` may be NULL (none). Fills `error` (may be NULL) on every failure: SYNTAX
 * with the offset, UNSUPPORTED with the offset, LIMIT, NO_MEMORY, or what made x stick. Cost: a
 * microsecond for a usual pattern, linear but for look-around. PCRE2 is used (some 5 ms) only for
 * \p and for case folding past ASCII. */
tsl_status tsl__regex_compile(tsl__exprs *x, const char *pattern, size_t length,
                              const tsl__regex_flags *flags, tsl__expr *out, tsl_error *error);
/* Is the text a pattern? As tsl__regex_compile, without an expression. */
tsl_status tsl__regex_check(const tsl_allocator *a, const char *pattern, size_t length,
                            tsl_error *error);

#endif
