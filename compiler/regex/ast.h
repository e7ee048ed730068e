/* ast.h - a parsed regular expression, as parse.c makes it and lower.c reads it.
 *
 * The tree is over code points. What the syntax has many names for is one thing here. Every anchor
 * and boundary is a look-around at a set, so that the lowering has one construction to get right.
 *   ^              (?<![^])
 *   $              (?![^])
 *   multi-line ^   (?<![^\n\r…])
 *   \b             (?<=\w)(?!\w)|(?<!\w)(?=\w)
 *   \Z             (?=\n?(?![^]))
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_REGEX_AST_H
#define TSL_COMPILER_REGEX_AST_H

#include "compiler/expr/charset.h"
#include "compiler/regex/regex.h"

typedef enum tsl__rx_kind {
  TSL__RX_SET,    /* one code point out of `ranges` (none: matches nothing) */
  TSL__RX_SEQ,    /* `n` children one after the other; none: the empty text */
  TSL__RX_ALT,    /* `n` >= 2 children, any of them */
  TSL__RX_REPEAT, /* child[0], min to max times */
  /* a condition on what follows (`ahead`) or precedes, child[0] matching it or (`negative`) not */
  TSL__RX_LOOK,
  TSL__RX_GROUP, /* child[0], captured as number `min` */
  TSL__RX_BACK   /* what group `min` captured */
} tsl__rx_kind;

typedef struct tsl__rx tsl__rx;
struct tsl__rx {
  uint8_t kind;
  bool plain;           /* no LOOK and no BACK inside: a plain regular language */
  bool ahead, negative; /* LOOK */
  uint32_t offset;      /* where in the pattern it begins, bytes */
  uint32_t n;           /* ranges of a SET, children of the others */
  uint32_t min, max;    /* REPEAT, GROUP, BACK */
  /* code points that a match takes; saturating at TSL__INF. `least` is INF where nothing matches */
  uint32_t least, most;
  union {
    const tsl__range *ranges; /* normal form, see compiler/expr/charset.h */
    tsl__rx **child;
  } u;
};

/* Parsing and lowering share an arena, the pattern for error positions, and limits. */
typedef struct tsl__rx_tree {
  tsl__exprs *x; /* counts the work, and remembers what was looked up in PCRE2 */
  size_t held;   /* bytes that its front end held before */
  tsl__arena *arena;
  const char *pattern;
  size_t length;
  tsl_error *error;  /* may be NULL */
  uint32_t nodes;    /* made so far; at most TSL__REGEX_MAX_NODES */
  uint32_t backs;    /* BACK nodes made so far */
  bool looks;        /* was there a LOOK at anything but [^]: more than ^ and $? */
  tsl_status status; /* why a constructor returned NULL */
} tsl__rx_tree;

/* Constructors; NULL when out of memory or past the node limit (status and error are then set).
 * They fill plain, least, most. Lists and ranges are copied. A SEQ or ALT of one child is that
 * child. */
tsl__rx *tsl__rx_set(tsl__rx_tree *t, uint32_t offset, const tsl__range *ranges, size_t n);
tsl__rx *tsl__rx_list(tsl__rx_tree *t, tsl__rx_kind kind, uint32_t offset, tsl__rx *const *child,
                      size_t n);
tsl__rx *tsl__rx_repeat(tsl__rx_tree *t, uint32_t offset, tsl__rx *child, uint32_t min,
                        uint32_t max);
tsl__rx *tsl__rx_look(tsl__rx_tree *t, uint32_t offset, bool ahead, bool negative, tsl__rx *child);
tsl__rx *tsl__rx_group(tsl__rx_tree *t, uint32_t offset, uint32_t number, tsl__rx *child);
tsl__rx *tsl__rx_back(tsl__rx_tree *t, uint32_t offset, uint32_t number);

/* Make `t` fail: fills its error at `offset` once. Returns NULL. */
tsl__rx *tsl__rx_fail(tsl__rx_tree *t, tsl_status status, size_t offset, const char *message);

/* Sets as values: arrays in the arena, in normal form. On failure (the tree's status is set) they
 * are empty. */
typedef struct tsl__rx_ranges {
  const tsl__range *at;
  uint32_t n;
} tsl__rx_ranges;
tsl__rx_ranges tsl__rx_ranges_all(void);
tsl__rx_ranges tsl__rx_ranges_not(tsl__rx_tree *t, tsl__rx_ranges a);
tsl__rx_ranges tsl__rx_ranges_and(tsl__rx_tree *t, tsl__rx_ranges a, tsl__rx_ranges b);
tsl__rx_ranges tsl__rx_ranges_or(tsl__rx_tree *t, tsl__rx_ranges a, tsl__rx_ranges b);
bool tsl__rx_ranges_equal(tsl__rx_ranges a, tsl__rx_ranges b);

/* parse.c: the text as a tree; `scratch` allocates what does not outlive the call. NULL on
 * failure. */
tsl__rx *tsl__rx_parse(tsl__rx_tree *t, const tsl_allocator *scratch,
                       const tsl__regex_flags *flags);
/* backref.c: replace every back-reference by what it can have captured. NULL on failure. */
tsl__rx *tsl__rx_expand(tsl__rx_tree *t, tsl__rx *root);

#endif
