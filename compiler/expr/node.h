/* node.h - the inside of an expression, shared by the files that make, derive and search
 * expressions.
 *
 * A node is 32 bytes and immutable; its number is its identity. What the constructors guarantee of
 * each kind (the canonical form):
 *
 *   SEQ(a, b)       a is no SEQ, neither is EPS; a literal is never followed by a literal
 *   ALT(list)       sorted ids, at least two, no ALT and no NONE inside; no two with the same head
 *                   (left-factored); single bytes merged; JSTRs merged
 *   AND(list)       sorted ids, at least two, no AND inside; known not to be empty
 *   LIT             at least one byte; a single byte is a LIT, never a BYTES
 *   BYTES           at least two bytes
 *   REPEAT(a,m,n)   n >= 2 or infinite; a not nullable unless m is 0
 *   COUNTED(a,m,n)  the same loop once entered: the register of the frame counts begun iterations.
 *                   One loop at most is active in an expression, its node is `loop`
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_NODE_H
#define TSL_COMPILER_EXPR_NODE_H

#include "compiler/expr/expr.h"

typedef enum tsl__kind {
#define TSL__KIND(name, functions, content, layer, text) TSL__##name,
#include "compiler/expr/kind.def"
#undef TSL__KIND
  TSL__KIND_COUNT
} tsl__kind;

enum {
  /* matches ε while the active loop is below its minimum (and where no loop is active) */
  TSL__NULLABLE_LOW = 1,
  TSL__NULLABLE_HIGH = 2, /* matches ε once the active loop has reached its minimum */
  TSL__CALLS = 4,         /* holds a rule or token */
  TSL__COUNTS = 8,        /* holds a loop that becomes, or is, a register */
  TSL__FINITE = 16,       /* known to have finitely many members */
  TSL__CHAR = 32,         /* every member is exactly one code point */
  TSL__TEXTUAL = 64,      /* every member is valid UTF-8 */
  TSL__SEARCHED = 128     /* known not to be empty (and/not need a search for it, see empty.c) */
};
/* in `traits` */
enum {
  TSL__EMPTY = 1,    /* an and/not that was searched and has no member */
  TSL__EXITS = 2,    /* a counted loop is left with a byte that may go on with it (overlap.c) */
  TSL__OVERLAPS = 4, /* its loops are counted down, not by a register (overlap.c) */
  /* may hold a repeated group, a JSON string or a native automaton. Without it no part of the
   * expression has a limit of its own but those of classes (states/hints_like.c) */
  TSL__GROUPS = 8
};

typedef struct tsl__node {
  uint8_t kind, flags;
  uint16_t traits;
  uint32_t a, b, c, d; /* by kind, see kind.def */
  /* fewest bytes of a member; a lower bound for and, not and native automata */
  uint32_t shortest;
  uint32_t loop; /* the active COUNTED node inside, or 0 */
  uint32_t hash;
} tsl__node;

/* A loop whose bound exceeds this becomes a register. Smaller ones are derived by counting down,
 * and so are those that overlap (overlap.c). */
#define TSL__UNROLL_MAX 8u
/* Chains of rules unfolded in place before a byte is read; more means that a front end left left
 * recursion in. */
#define TSL__UNFOLD_MAX 4096u

#define TSL__RULE_MEASURED 8u /* ops->shortest has said it */
/* A frame of the rest of a JSON string, whose parameter is a set. It spells one of the set as a
 * name (tsl__expr_names alone sets this), or any text but these (tsl__expr_others). What state it
 * has is known without its body. */
#define TSL__RULE_NAMES 4u
#define TSL__RULE_OTHERS 16u

typedef struct tsl__rule {
  const tsl__rule_ops *ops;
  void *ctx;
  uint32_t param, flags, shortest;
  tsl__expr body; /* NONE until unfolded */
} tsl__rule;

typedef struct tsl__keys {
  tsl__stringset set;
  const tsl__keys_ops *ops;
  void *ctx;
  uint32_t param, spelled; /* spelled: the fewest bytes of a name, quote included */
} tsl__keys;

/* The frame in which the strings of a set are spelled. */
typedef struct tsl__names {
  tsl__stringset set; /* equal ones share the frame */
  tsl__expr frame;
} tsl__names;

typedef struct tsl__native {
  const tsl__native_ops *ops;
  void *ctx;
} tsl__native;

typedef struct tsl__strings {
  const tsl__string *at;
  uint32_t n;
  tsl__expr names; /* the frame in which they are spelled as names; NONE: not made yet */
  uint64_t hash;   /* of their first eight bytes and their lengths */
} tsl__strings;

/* A set of single characters that has some of those past ASCII, but not all: the expression, and
 * those characters. */
typedef struct tsl__nonascii_class {
  tsl__expr e;
  const uint32_t *pairs; /* lo, hi, lo, hi …, from 0x80 on; surrogates left out */
  uint32_t count;        /* of ranges */
  /* first bytes of characters, bit 0 for 0xC2: it has all of them, or some but not all */
  uint64_t all, some;
  uint64_t ascii[2]; /* what it has of ASCII */
} tsl__nonascii_class;

/* The last answers of searches for a shortest text, by expression; and those along the ways of long
 * ones. */
#define TSL__KNOWN_SHORTEST 16u
#define TSL__WAY_SHORTEST 4096u
typedef struct tsl__known_shortest {
  tsl__expr e; /* NONE: free */
  uint32_t bytes;
  bool spelled;
} tsl__known_shortest;

/* The last bodies of loops that were looked at (overlap.c). */
#define TSL__KNOWN_OVERLAPS 16u
typedef struct tsl__known_overlap {
  tsl__expr body; /* NONE: free */
  bool overlaps;
} tsl__known_overlap;

#define TSL__GUARDS 3u /* kinds of guards */

/* An upper bound of the characters that complete any text begun in an expression: the same for all
 * that it leads to. */
typedef struct tsl__known_need {
  tsl__expr e; /* NONE: free */
  uint32_t need;
  uint32_t shortest; /* fewest bytes of a text; while e is being explored: its number there */
} tsl__known_need;

/* The last digests of what expressions stand for; all zero: it cannot be said. */
#define TSL__KNOWN_MEANINGS 64u
typedef struct tsl__known_meaning {
  tsl__expr e;  /* NONE: free */
  bool bounded; /* within a meet or a complement, where all bounds matter */
  tsl__digest digest;
} tsl__known_meaning;

/* The last alternatives whose lengths were counted (and.c). */
#define TSL__KNOWN_LENGTHS 8u
typedef struct tsl__known_length {
  tsl__expr e; /* NONE: free */
  uint32_t min, max;
  bool exact;
} tsl__known_length;

/* The last classes of non-ASCII characters that were looked at, and what they read (deriv.c). */
#define TSL__KNOWN_READS 32u
#define TSL__CHAIN_READS 1024u /* of tails of long sequences whose parts may be missing */
typedef struct tsl__known_reads {
  tsl__expr e; /* NONE: free */
  bool guessed;
  bool last, fixed; /* of such a tail: ends it the frame? begin all parts with fixed bytes? */
  tsl__bytes edges, live;
} tsl__known_reads;

/* In bytes: the shortest text of an expression, and a bound of the shortest ones of all that it
 * leads to after a byte. Known of the last ones with many parts (compiler/states/need.c). */
#define TSL__KNOWN_BOUNDS 64u
typedef struct tsl__known_bound {
  tsl__expr e; /* NONE: free */
  uint32_t shortest, later;
} tsl__known_bound;

/* In characters: no text of an expression has fewer than `least`, and one has no more than `some`
 * (TSL__INF: that is not known). Kept of the last ones that were searched (empty.c). */
#define TSL__KNOWN_FEWEST 2048u
typedef struct tsl__known_fewest {
  tsl__expr e; /* NONE: free */
  uint32_t least, some;
} tsl__known_fewest;

/* A set of letters (compiler/states/letters.h) under which these expressions are closed; no
 * letters: that was too much to find out. */
#define TSL__EXPLORED 8u
#define TSL__EXPLORED_MAX 48u /* expressions */
typedef struct tsl__explored {
  tsl__expr at[TSL__EXPLORED_MAX];
  uint32_t n;
  bool json;
  tsl__expr nonascii; /* non-ASCII letters: those of this class; NONE: as the bytes say */
  tsl__bytes letters, live;
} tsl__explored;

/* Where the bytes below `end` lead from an expression with calls, as far as its own frame reads
 * them. What looks for letters asks that of the same few expressions again and again. */
#define TSL__FRAMES_READ 16u
#define TSL__LOOPS_TRIED 8u
typedef struct tsl__frame_read {
  tsl__expr e; /* TSL__NONE: none yet */
  unsigned end;
  tsl__expr to[256];
} tsl__frame_read;

/* Derivatives that were made, by expression and byte. */
#define TSL__SEARCH_STEPS 8192u
#define TSL__KNOWN_STEPS 512u
typedef struct tsl__known_step {
  uint32_t low, high; /* of the key; 0: free */
  tsl__expr d;
} tsl__known_step;

/* The same of what holds calls, with all else that it depends on in the key. `work`: what it took
 * to make, which is spent again when it is found, so that bounds don't depend on what is
 * remembered. */
#define TSL__CALL_STEPS 4096u
#define TSL__CHAIN_STEPS 4096u
typedef struct tsl__call_step {
  uint64_t key; /* 0: free */
  tsl__expr d;
  uint32_t work;
} tsl__call_step;

/* Exponents from low to high: the expression of what follows the 'e' (compiler/number/parts.c).
 * Those with holes are not remembered. */
typedef struct tsl__known_exponent {
  int64_t low, high;
  tsl__expr e;
} tsl__known_exponent;

struct tsl__exprs {
  const tsl__exprs *parent;
  tsl_allocator alloc;
  tsl__arena arena;
  uint32_t base;             /* ids below belong to the parent */
  TSL__VEC(tsl__node) nodes; /* id - base */
  /* open addressing over own nodes. A slot's lower bits, as many as number the slots, are a node's
   * number + 1. The others are those of its hash. 0 = free */
  uint32_t *slots;
  uint32_t slot_count; /* power of two */
  uint32_t slot_used;
  /* the parent's counts */
  uint32_t list_base, byte_base, set_base, rule_base, keys_base, native_base, strings_base;
  TSL__VEC(uint32_t) lists; /* children of ALT and AND, tokens of TOKEN */
  TSL__VEC(uint8_t) pool;   /* bytes of literals */
  TSL__VEC(tsl__bytes) sets;
  TSL__VEC(tsl__rule) rules;
  TSL__VEC(tsl__keys) keys;
  TSL__VEC(tsl__names) names;
  TSL__VEC(tsl__nonascii_class) nonascii_sets;
  TSL__VEC(tsl__native) natives;
  TSL__VEC(tsl__strings) strings;
  TSL__VEC(struct tsl__owned {
    void *ctx;
    void (*destroy)(void *ctx);
  })
  owned;
  tsl__known_shortest known_shortest[TSL__KNOWN_SHORTEST];
  /* TSL__WAY_SHORTEST of them, made with the first long way, or NULL */
  tsl__known_shortest *way_shortest;
  tsl__known_length known_lengths[TSL__KNOWN_LENGTHS];
  tsl__known_overlap known_overlaps[TSL__KNOWN_OVERLAPS];
  tsl__known_reads *chain_reads; /* TSL__CHAIN_READS of them, made with the first, or NULL */
  tsl__known_reads *known_reads; /* TSL__KNOWN_READS of them, made with the first, or NULL */
  tsl__known_need *needs;        /* open addressing, see compiler/states/need.c */
  uint32_t need_slots, need_count;
  /* TSL__EXPLORED of them, or NULL: the last explorations of compiler/states/letters.c */
  tsl__explored *explored;
  tsl__frame_read *frames_read; /* the last ones; NULL: none yet */
  unsigned frames_next;
  /* the last loops of which it was tried whether all characters past ASCII lead back to them */
  struct {
    tsl__expr e; /* NONE: not one yet */
    bool back;
  } loops[TSL__LOOPS_TRIED];
  unsigned loops_next;
  /* the latter: how many were given up since one was not */
  unsigned explored_next, explored_vainly;
  tsl__known_bound *known_bounds;  /* TSL__KNOWN_BOUNDS of them, made with the first, or NULL */
  tsl__known_fewest *known_fewest; /* TSL__KNOWN_FEWEST of them, made with the first, or NULL */
  /* TSL__KNOWN_STEPS of them, of what has parts (tsl__step_known), made when much was derived, or
   * by the first exploration (compiler/states/letters.c) */
  tsl__known_step *known_steps;
  uint32_t derived; /* without that table */
  /* TSL__CHAIN_STEPS of them, of tails of long sequences whose parts may be missing */
  tsl__known_step *chain_steps;
  /* TSL__CALL_STEPS of them, of what holds calls, made when much was derived */
  tsl__call_step *call_steps;
  uint32_t call_derived; /* without that table */
  /* TSL__SEARCH_STEPS of them, of the conjuncts of meets, made by the first long search
   * (empty.c) */
  tsl__known_step *search_steps;
  tsl__known_meaning *meanings; /* TSL__KNOWN_MEANINGS of them, made when one is first requested */
  void *user;
  struct tsl__unicode_cache *unicode; /* see unicode_cache.c */
  struct tsl__numbers *numbers;       /* in which those of the layer below go on: number/lower.c */
  tsl__expr any_char, text, hex;      /* made on first use */
  bool plain_strings;                 /* see tsl__exprs_plain_strings */
  /* by phase, of spellings of every kind, made on first use: see tsl__number_free_tail */
  tsl__expr number_tails[5];
  tsl__known_exponent known_exponent; /* the last */
  /* of a vocabulary's layer: those of some ranges (compiler/number/parts.c); else NULL */
  const tsl__expr *exponents;
  tsl__expr guards[TSL__GUARDS]; /* see tsl__expr_guard; made with the layer's first one */
  bool names_tokens;             /* see tsl__exprs_name_tokens */
  uint8_t watches;               /* kinds of guards that mean something */
  const tsl__speller *speller;   /* see tsl__exprs_guard */
  tsl_status status;
  const char *why;
  /* derivatives made, and other work, since the last tsl__exprs_begin */
  uint64_t steps, max_steps;
  uint64_t work; /* nodes touched that are not a step yet */
  uint64_t max_memory;
  size_t held; /* by the front end, see tsl__exprs_hold */
  const int *cancel;
  uint64_t deadline; /* as in tsl__space */
  uint32_t depth;    /* of unfolding in place */
  /* inside a search for emptiness: and/not are made without being searched themselves */
  bool searching;
};

/* Flags in field d of JSTR, JESC, JHEX and JOPEN: see tsl__exprs_plain_strings; no closing quote
 * follows (always in JOPEN, never in JSTR). */
#define TSL__JSON_PLAIN 0x80000000u
#define TSL__JSON_OPEN 0x40000000u

/* A node by value: constructors may move the array. */
static inline tsl__node tsl__node_at(const tsl__exprs *x, tsl__expr e) {
  while (e < x->base) x = x->parent;
  return x->nodes.at[e - x->base];
}
/* Are these all texts? A complement whose texts have all gone another way. */
static inline bool tsl__is_anything(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  return n.kind == TSL__K_NOT && n.a == TSL__NONE;
}
/* Children of an ALT or AND: pointer valid until the next constructor. */
static inline const uint32_t *tsl__list_at(const tsl__exprs *x, uint32_t offset) {
  while (offset < x->list_base) x = x->parent;
  return x->lists.at + (offset - x->list_base);
}
static inline const uint8_t *tsl__literal_at(const tsl__exprs *x, uint32_t offset) {
  while (offset < x->byte_base) x = x->parent;
  return x->pool.at + (offset - x->byte_base);
}
static inline const tsl__bytes *tsl__set_at(const tsl__exprs *x, uint32_t index) {
  while (index < x->set_base) x = x->parent;
  return &x->sets.at[index - x->set_base];
}
static inline tsl__rule *tsl__rule_at(const tsl__exprs *x, uint32_t index) {
  while (index < x->rule_base) x = x->parent;
  return &x->rules.at[index - x->rule_base];
}
/* kinds/cases.c, of a CASES node: the text that it allows; what follows where that ends here; the
 * most bytes that this takes at least. */
tsl__expr tsl__cases_text(const tsl__exprs *x, const tsl__node *n);
tsl__expr tsl__cases_after(tsl__exprs *x, const tsl__node *n);
uint32_t tsl__cases_rest(tsl__exprs *x, const tsl__node *n);
/* The same node once each of its parts has made a step; false where one step is not known. */
bool tsl__cases_step(tsl__exprs *x, const tsl__node *n, void *ctx,
                     bool (*step)(void *ctx, tsl__expr e, tsl__expr *out), tsl__expr *out);

static inline const tsl__keys *tsl__keys_at(const tsl__exprs *x, uint32_t index) {
  while (index < x->keys_base) x = x->parent;
  return &x->keys.at[index - x->keys_base];
}
/* The ctx of an automaton with these ops that x has for itself; NULL: there is none. The search
 * begins at number *at, which is moved past it. Cost: a look at each of them. */
void *tsl__exprs_native(const tsl__exprs *x, const tsl__native_ops *ops, size_t *at);
static inline const tsl__native *tsl__native_at(const tsl__exprs *x, uint32_t index) {
  while (index < x->native_base) x = x->parent;
  return &x->natives.at[index - x->native_base];
}
/* Bounds of the characters of a text. */
typedef struct tsl__length {
  uint32_t least, most;
} tsl__length;
/* The same of the members of a native automaton. */
tsl__length tsl__native_characters(const tsl__exprs *x, const tsl__node *n);
/* Is n an automaton that knows the fewest characters of a member? */
bool tsl__native_counts(const tsl__exprs *x, const tsl__node *n);
static inline const tsl__strings *tsl__strings_at(const tsl__exprs *x, uint32_t index) {
  while (index < x->strings_base) x = x->parent;
  return &x->strings.at[index - x->strings_base];
}

/* Does the layer guard anything that must be new? */
static inline bool tsl__expr_guards(const tsl__exprs *x) {
  for (int i = 0; i < (int)TSL__GUARDS; i++)
    if (x->guards[i] != TSL__NONE) return true;
  return false;
}
/* overlap.c: the traits of a·b and of a{min,max}; is a loop, min to max times, one loop? */
uint16_t tsl__overlap_of_seq(tsl__exprs *x, tsl__expr a, tsl__expr b);
uint16_t tsl__overlap_of_loop(tsl__exprs *x, tsl__expr body, uint32_t min, uint32_t max);
bool tsl__loops_join(const tsl__node *loop, uint32_t min, uint32_t max);
/* Are the loops of e counted down, those that are not active yet? */
bool tsl__overlaps(const tsl__exprs *x, tsl__expr e);

/* Intern a node: fills hash, finds the equal one or adds it. NONE on failure (sticky). */
tsl__expr tsl__intern(tsl__exprs *x, tsl__node node);
/* The same for a rule or a RESUME that is new, or what is made of one for its place alone. A
 * grammar has one node of each, and nobody looks for it by its content. */
tsl__expr tsl__append(tsl__exprs *x, tsl__node node);
/* Is it such a node, but no rule? */
static inline bool tsl__is_alone(const tsl__exprs *x, tsl__expr e) {
  const tsl__node *n = x->parent && e >= x->base ? &x->nodes.at[e - x->base] : NULL;
  return n && !n->hash && n->kind != TSL__K_RULE;
}
/* The same for a node whose content is the last `n` words of `lists` (tsl__push_list); takes them
 * back if the node exists. */
tsl__expr tsl__intern_list(tsl__exprs *x, tsl__node node, size_t n);
bool tsl__push_list(tsl__exprs *x, const uint32_t *items, size_t n, uint32_t *offset);
tsl__expr tsl__expr_no_memory(tsl__exprs *x); /* fails, and is TSL__NONE */
bool tsl__is_byte_set(const tsl__exprs *x, tsl__expr e, tsl__bytes *set);
/* Reset the step budget and forget a failure: at the start of each piece of work. What failed was
 * not kept, so it can be tried again. The time is set by who begins (tsl__hook). */
void tsl__exprs_begin(tsl__exprs *x);
/* Count one step; false when the budget or the time is spent or the caller cancelled (sticky). */
bool tsl__exprs_step(tsl__exprs *x);
/* Count work by the nodes that it touches: TSL__WORK of them are a step, so that steps bound time
 * whatever the size of expressions. */
#define TSL__WORK 64u
static inline void tsl__worked(tsl__exprs *x, uint64_t nodes) {
  if (TSL__UNLIKELY((x->work += nodes) >= TSL__WORK)) tsl__exprs_work(x, 0);
}

/* The literal without its first byte: its content lies in the pool already. */
tsl__expr tsl__literal_tail(tsl__exprs *x, const tsl__node *lit, uint32_t skip);
/* The meet of n expressions without calls. */
tsl__expr tsl__and_n(tsl__exprs *x, const tsl__expr *e, size_t n);

/* strings.c: inner forms of string sets, keys and JSON strings. */
tsl__expr tsl__strset_node(tsl__exprs *x, tsl__stringset s, uint32_t lo, uint32_t hi,
                           uint32_t depth);
tsl__expr tsl__keys_node(tsl__exprs *x, tsl__stringset set, uint32_t lo, uint32_t hi,
                         uint32_t depth);
/* KEYS (of whole characters so far) without those whose next character is not in [lo, hi]. */
tsl__expr tsl__keys_between(tsl__exprs *x, const tsl__node *keys, uint32_t lo, uint32_t hi);
/* JSTR of this text, plain if n is. */
tsl__expr tsl__json_string_like(tsl__exprs *x, const tsl__node *n, tsl__expr text);
/* The fewest bytes of a RESUME: what its keys take, less the fewest of a name. */
uint32_t tsl__resume_fewest(tsl__exprs *x, const tsl__node *n);
/* Narrow [*lo, *hi) of strings that agree on the first `depth` bytes to those with `byte` next;
 * false if there are none. */
bool tsl__strings_narrow(const tsl__strings *s, uint32_t *lo, uint32_t *hi, uint32_t depth,
                         uint8_t byte);
/* The body of a rule, unfolded if need be. */
tsl__expr tsl__rule_body(tsl__exprs *x, uint32_t rule);
/* The non-ASCII characters of a set of single characters that has some of them, but not all;
 * NULL for other expressions. Valid until the next such set is made. */
const tsl__nonascii_class *tsl__nonascii_class_of(const tsl__exprs *x, tsl__expr e);
/* empty.c: is an and/not node (interned, not yet searched) empty? Marks what it finds. */
bool tsl__search_empty(tsl__exprs *x, tsl__expr e);
/* A meet without the bounds of its texts' lengths. Every text that is too short must be able to go
 * on until it is not, by a character of one byte. NONE: it is none. *most: the upper bound. */
tsl__expr tsl__without_bounds(tsl__exprs *x, tsl__expr e, uint32_t *most);

#endif
