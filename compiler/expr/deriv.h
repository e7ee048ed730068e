/* deriv.h - one step of matching: derivatives by a byte, and calls.
 *
 * Registers  A loop r{m,n} whose bounds exceed TSL__UNROLL_MAX is entered as COUNTED(r,m,n). How
 *            many iterations have begun is not part of the expression, but the register c of its
 *            frame. So a string of up to 10,000 characters has one state, not 10,000. What a loop
 *            may do depends on its *phase* only: below its minimum, between, or at its maximum.
 * Parts      A derivative can mix expressions whose registers differ (the loop goes on with c, or
 *            begins again with c + 1). It is therefore a short list of parts, each with what to do
 *            to the register. Usually there is one.
 * Nesting    Only one loop of a frame can use the register. Loops inside the body of an active one,
 *            and loops under and/not, are derived by counting down.
 *
 * Example    D_a of a{0,1000} = COUNTED(a,0,1000) with c = 1; its derivative by a in the middle
 *            phase is itself with c + 1.
 * Tested by  tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_DERIV_H
#define TSL_COMPILER_EXPR_DERIV_H

#include "compiler/expr/node.h"

/* c < m, m <= c < n, c = n */
typedef enum tsl__phase { TSL__PHASE_LOW, TSL__PHASE_MIDDLE, TSL__PHASE_TOP } tsl__phase;

/* What a step does to the register. */
typedef enum tsl__count {
  TSL__COUNT_CLEAR, /* no loop is active in the result: c = 0 */
  TSL__COUNT_KEEP,
  TSL__COUNT_NEXT, /* c + 1 */
  TSL__COUNT_FIRST /* a loop was entered: c = 1 */
} tsl__count;

typedef struct tsl__part {
  tsl__count count;
  tsl__expr e;
} tsl__part;

#define TSL__PARTS_MAX 16u
typedef struct tsl__parts {
  uint32_t n;
  tsl__part at[TSL__PARTS_MAX];
} tsl__parts;

/* The derivative of a whole frame `e` by a byte, its active loop (if any) being in `phase`. Rules
 * that are last are unfolded in place; rules that are followed by something contribute nothing here
 * (they are calls). */
void tsl__derive(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__phase phase, tsl__parts *out);
/* The derivative of an expression without calls, loops counted down. */
tsl__expr tsl__derive_plain(tsl__exprs *x, tsl__expr e, uint8_t byte);

/* A call at the head of a frame: the rule or token, and what follows it. */
typedef struct tsl__call {
  tsl__expr callee; /* K_RULE or K_TOKEN */
  tsl__part then;
} tsl__call;
typedef struct tsl__calls {
  tsl__call *at;
  size_t n, cap;
} tsl__calls;
/* Add a call that leaves no loop active in what follows it. */
void tsl__calls_add(tsl__exprs *x, tsl__calls *out, tsl__expr callee, tsl__expr then);
/* Add those of an expression that is last in its frame. False: it begins with other things, too,
 * and *out is undefined from where it ended. */
bool tsl__calls_add_last(tsl__exprs *x, tsl__calls *out, tsl__expr e);
void tsl__calls_of(tsl__exprs *x, tsl__expr e, tsl__phase phase, tsl__calls *out);
/* Is e a call and what follows it? It is the only one, then, and e reads no byte itself. */
bool tsl__is_call(const tsl__exprs *x, tsl__expr e, tsl__call *out);
/* Are calls all that e begins with, as the members of an object do? Adds them to *out, or leaves it
 * empty. */
bool tsl__only_calls(tsl__exprs *x, tsl__expr e, tsl__calls *out);

/* What is remembered of derivatives, by a key: an expression and a byte, or what nonascii.c asks.
 * False: it is not known. */
bool tsl__step_known(const tsl__exprs *x, uint64_t key, tsl__expr *d);
/* unless a failure is pending, or there is no table */
void tsl__step_remember(const tsl__exprs *x, uint64_t key, tsl__expr d);
/* unless it is there; where memory is short there is none */
void tsl__known_steps_make(tsl__exprs *x);

/* A loop that is entered: the node carries itself as its active loop. */
tsl__expr tsl__counted(tsl__exprs *x, const tsl__node *repeat);
/* Is a loop counted by a register? */
static inline bool tsl__node_is_big(const tsl__node *n) {
  return (n->c != TSL__INF && n->c > TSL__UNROLL_MAX) || n->b > TSL__UNROLL_MAX;
}
/* r{m,n} after its first iteration has begun and ended. */
tsl__expr tsl__one_fewer(tsl__exprs *x, const tsl__node *n);
/* What can be known of derivatives without making one. */
typedef struct tsl__reads {
  tsl__bytes edges; /* bytes b where the derivative by b may differ from that by b - 1 */
  tsl__bytes live;  /* bytes that may lead somewhere: no other does */
  bool guessed;     /* some of these may lead nowhere: else all lead somewhere */
} tsl__reads;
void tsl__reads_of(tsl__exprs *x, tsl__expr e, tsl__reads *out);
void tsl__boundaries(tsl__exprs *x, tsl__expr e, tsl__bytes *out); /* the edges alone */
/* The first edge from `byte` on; 256: there is none. */
static inline unsigned tsl__edge_from(const tsl__bytes *edges, unsigned byte) {
  for (unsigned w = byte >> 6; w < 4; w++, byte = w << 6) {
    uint64_t left = edges->w[w] >> (byte & 63);
    if (left) return byte + (unsigned)__builtin_ctzll(left);
  }
  return 256;
}
/* The ranges between these, in order, and those among them that lead to the same place though
 * others lie between. No set of bytes in e has some of them only. */
#define TSL__ALIKE_MAX 64u
#define TSL__ALIKE_MET 8u
typedef struct tsl__alike {
  unsigned n, parts;
  uint8_t lower[TSL__ALIKE_MAX]; /* first byte of each; the first one's is 0 */
  uint64_t part[TSL__ALIKE_MAX]; /* sets of such ranges, disjoint */
  uint64_t alone;                /* ranges that are a part each */
  uint64_t within[4];            /* ranges that begin within each 64 bytes */
  tsl__bytes begins;             /* the same as `lower` */
  uint8_t range[256];            /* by the byte that it begins with; undefined of others */
  tsl__expr met[TSL__ALIKE_MET]; /* classes of characters that were looked at; NONE: free */
} tsl__alike;
/* False: there are too many, or it is not known; each may lead elsewhere, then. */
bool tsl__alike_of(tsl__exprs *x, tsl__expr e, const tsl__bytes *edges, tsl__alike *out);
/* The first range that is in one part with each, in the order of the ranges. */
void tsl__alike_firsts(const tsl__alike *a, uint8_t *first);
/* The same of range i. */
static inline unsigned tsl__alike_first(const tsl__alike *a, unsigned i) {
  unsigned k = 0;
  while (!(a->part[k] >> i & 1)) k++;
  return (unsigned)__builtin_ctzll(a->part[k]);
}
/* The bytes that texts of a LIT, STRSET or KEYS begin with; false for other kinds. */
bool tsl__first_bytes(const tsl__exprs *x, const tsl__node *n, tsl__bytes *out);
/* Does e match ε in that phase? */
static inline bool tsl__nullable_in(const tsl__node *n, tsl__phase phase) {
  return n->flags & (phase == TSL__PHASE_LOW ? TSL__NULLABLE_LOW : TSL__NULLABLE_HIGH);
}

/* Add a part, merging it with one of the same count and loop. */
void tsl__parts_add(tsl__exprs *x, tsl__parts *parts, tsl__count count, tsl__expr e);

/* What a nested derivative needs to know. */
typedef struct tsl__step {
  tsl__phase phase;
  bool registers; /* may loops become registers here? */
  bool last;      /* is the expression last in its frame? */
} tsl__step;
void tsl__derive_parts(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__step how, tsl__parts *out);

#endif
