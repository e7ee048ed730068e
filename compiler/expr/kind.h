/* kind.h - what the compiler must know of a kind of expression, in one table.
 *
 * Problem   An operator such as REPEAT has a derivative, a notation, an alphabet, a length, a
 *           digest. With a `switch` for each of these, a new operator means a case in a dozen
 *           files.
 * Idea      Each kind has a struct of functions, in a file of its own (kinds/<what>.c). kind.def
 *           lists the kinds and names their structs; whoever asks a question looks up the function
 *           by the node's kind. A function that is NULL stands for the answer that is always right,
 *           "nothing is known". So a new kind begins with `derive`, `reads` and `print`.
 * Example   tsl__derive_in of REPEAT(a, 0, 3) by 'a' looks up tsl__kind_repeat.derive
 *           (kinds/loop.c), which answers REPEAT(a, 0, 2).
 * Long      An expression can be a sequence of thousands, and no function may recurse along it.
 *           Functions that look at a whole expression return the part with which the caller goes
 *           on, as `n->b` of a SEQ; TSL__NONE: there is none.
 * Cost      One indirect call a node, where a `switch` had an indirect jump.
 * Tested by tests/expr/test_expr.c, tests/walk/test_shared_walks.c (meaning)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_EXPR_KIND_H
#define TSL_COMPILER_EXPR_KIND_H

#include "compiler/expr/deriv.h"
#include "compiler/expr/print.h"

struct tsl__meaning;

/* A walk over an expression that collects its bytes (alphabet.c). */
typedef struct tsl__alphabet {
  const tsl__exprs *x;
  uint32_t looks; /* parts that were looked at */
} tsl__alphabet;

/* In all of them n is the node of e, a copy that constructors do not move. */
typedef struct tsl__kind_ops {
  /* The derivative by a byte, loops counted down. `last`: e is last in its frame, so that a rule is
   * unfolded in place. NULL: always ∅. */
  tsl__expr (*derive)(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last);
  /* The same with registers (deriv.h). NULL: as tsl__derive_parts does it. */
  void (*derive_parts)(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__step how, tsl__parts *out);
  /* Adds the bytes at which the derivative changes, and those that may lead somewhere. Returns the
   * part to go on with, and sets *last for it. NULL: no byte leads anywhere. */
  tsl__expr (*reads)(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__reads *out);
  /* Splits ranges of bytes that e keeps apart. *next: the part to go on with, and *last for it.
   * Returns false where e may keep any two apart; NULL: it always may. */
  bool (*alike)(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__alike *out,
                tsl__expr *next);
  /* The fewest bytes; `spelled`: as they are spelled in a JSON string. NULL: the node says it. */
  uint32_t (*shortest)(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                       unsigned depth);
  /* Writes the notation that expr_print.c explains. Never NULL. */
  void (*print)(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth);
  /* Adds the bytes that its texts may hold, and returns the part to go on with. NULL: any byte. */
  tsl__expr (*alphabet)(tsl__alphabet *a, const tsl__node *n, unsigned depth, tsl__bytes *out);
  /* How many characters a text has. NULL: any number. */
  tsl__length (*characters)(const tsl__exprs *x, const tsl__node *n, unsigned depth);
  /* A digest of what it stands for in every grammar. NULL, or false: it cannot be said. */
  bool (*meaning)(struct tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out);
} tsl__kind_ops;

#define TSL__KIND(name, functions, content, layer, text) \
  extern const tsl__kind_ops tsl__kind_##functions;
#include "compiler/expr/kind.def"
#undef TSL__KIND

/* By kind (kind.c). */
extern const tsl__kind_ops *const tsl__kinds[TSL__KIND_COUNT];

/* ---- the questions, for parts of a node ------------------------------------------------------ */

/* deriv.c */
tsl__expr tsl__derive_in(tsl__exprs *x, tsl__expr e, uint8_t byte, bool last);
/* The derivative that `compute` takes, or the one that is remembered from earlier. */
tsl__expr tsl__derive_remembered(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                                 bool last,
                                 tsl__expr (*compute)(tsl__exprs *, const tsl__node *, uint8_t,
                                                      bool));
/* The derivative of a tail of a long sequence, as noted; false: it is not (any more). */
bool tsl__chain_known(const tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__expr *d);
void tsl__chain_remember(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__expr d);
/* The derivative of a conjunct of a meet, which a long search takes again and again. */
tsl__expr tsl__derive_conjunct(tsl__exprs *x, tsl__expr e, uint8_t byte);
/* Begins to unfold a rule in place; x->depth-- ends it. False: too many are being unfolded
 * (sticky). */
bool tsl__unfold(tsl__exprs *x);
/* reads.c */
void tsl__reads_add(tsl__exprs *x, tsl__expr e, bool last, tsl__reads *out);
/* What a class of characters reads; NULL when out of memory. */
const tsl__known_reads *tsl__class_reads(tsl__exprs *x, tsl__expr e, const tsl__node *n);
/* What is noted of a tail of a long chain; NULL: nothing, or out of memory. */
const tsl__known_reads *tsl__chain_reads(const tsl__exprs *x, tsl__expr e, bool last);
const tsl__known_reads *tsl__chain_reads_note(tsl__exprs *x, const tsl__known_reads *own);
/* alike.c */
bool tsl__alike_in(tsl__exprs *x, tsl__expr e, bool last, tsl__alike *out);
void tsl__alike_split(tsl__alike *a, const tsl__bytes *set);
void tsl__alike_split_byte(tsl__alike *a, unsigned byte);
/* Was this class looked at before? Then it splits no more ranges. */
bool tsl__alike_met(tsl__alike *a, tsl__expr e, const tsl__node *n);
/* Of what reads no byte. */
bool tsl__alike_reads_none(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                           tsl__alike *out, tsl__expr *next);
/* shortest.c */
uint32_t tsl__shortest_in(tsl__exprs *x, tsl__expr e, bool spelled, unsigned depth);
uint32_t tsl__shortest_by_search(tsl__exprs *x, tsl__expr e, bool spelled);
/* expr_print.c */
void tsl__print_expr(const tsl__exprs *x, tsl__expr e, tsl__printer *w, unsigned depth);
void tsl__print_byte(tsl__printer *w, uint8_t byte);
void tsl__print_list(const tsl__exprs *x, const tsl__node *n, const char *between, tsl__printer *w,
                     unsigned depth);
#define TSL__PRINT_NAME_MAX 128u /* bytes of the name of a rule or an automaton, as printed */
/* "<name>", or "<rule>" where `name` is empty */
void tsl__print_name(tsl__printer *w, const char *name);
/* alphabet.c */
void tsl__alphabet_add(tsl__alphabet *a, tsl__expr e, unsigned depth, tsl__bytes *out);
void tsl__alphabet_text(tsl__bytes *out, const void *text, size_t n);
/* Counts n parts; false, and *out is all bytes: these are too many. */
bool tsl__alphabet_look(tsl__alphabet *a, uint64_t n, tsl__bytes *out);
/* kinds/native.c: an automaton knows how far it is from its end. Its node alone does not say. */
uint32_t tsl__native_shortest(const tsl__exprs *x, const tsl__node *n);
/* characters.c */
tsl__length tsl__characters_in(const tsl__exprs *x, tsl__expr e, unsigned depth);

/* ---- small things about nodes ---------------------------------------------------------------- */

/* Is it a rule that gets a frame of its own where something follows it? */
static inline bool tsl__node_is_call(const tsl__exprs *x, const tsl__node *n) {
  return n->kind == TSL__K_RULE && !(tsl__rule_at(x, n->a)->flags & TSL__RULE_INLINE);
}

#define TSL__CLASS_MIN 4u /* parts of a class whose derivatives are remembered */

/* Is it a class of characters that is spelled in some ten ways? A pattern has the same class in
 * most of its parts, and in every state. */
static inline bool tsl__node_is_class(const tsl__node *n) {
  return (n->flags & (TSL__CHAR | TSL__CALLS)) == TSL__CHAR && n->b >= TSL__CLASS_MIN;
}

/* Does e begin with bytes, and not with this one? Most alternatives do. */
static inline bool tsl__begins_otherwise(const tsl__exprs *x, tsl__expr e, uint8_t byte) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_SEQ) n = tsl__node_at(x, n.a);
  return n.kind == TSL__K_LIT
             ? *tsl__literal_at(x, n.a) != byte
             : n.kind == TSL__K_BYTES && !tsl__bytes_has(tsl__set_at(x, n.a), byte);
}

/* A number that saturates at TSL__INF. */
static inline uint32_t tsl__capped(uint64_t n) { return n > TSL__INF ? TSL__INF : (uint32_t)n; }

#endif
