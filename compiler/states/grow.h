/* grow.h - what the files share that make states from expressions. These are states.c (which state
 * an expression has), fixed_texts.c (states that spell listed texts) and expand.c (the transitions
 * of a state).
 *
 * One tsl__states belongs to each layer. It holds the layer's expressions, the list of their
 * states, and vectors that one expansion after the other reuses, so that most expansions allocate
 * nothing. Failures are sticky, in the expressions or in the space; tsl__states_fine joins the two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_COMPILER_STATES_GROW_H
#define TSL_COMPILER_STATES_GROW_H

#include "compiler/expr/deriv.h"
#include "compiler/states/states.h"
#include "runtime/walk/fixed.h"

/* how many copies of literals are kept; a power of two */
#define TSL__COPIES 16u

/* A literal's bytes, which do not move as those of the expressions do. States that spell what is
 * left of it share it, so that memory does not grow with the square of its length. */
typedef struct tsl__literal_copy {
  uint32_t begin, end; /* where it is among the expressions' bytes */
  const char *at;      /* NULL: there is none */
} tsl__literal_copy;

typedef struct tsl__states {
  tsl__space *space;
  tsl__exprs *x;
  tsl__calls calls; /* of the state that is being expanded; these are kept for the next one */
  TSL__VEC(tsl__edge) edges;
  TSL__VEC(tsl__token_edge) tokens;
  TSL__VEC(tsl__state) own; /* the states of the layer's own expressions, by number; 0: none yet */
  tsl__expr some_text;      /* any but the empty one, once requested */
  /* of the rest of a JSON string of any text, and of any but the empty one, once requested */
  tsl__state any_rest, some_rest;
  tsl__literal_copy copies[TSL__COPIES]; /* the last of those whose end has that hash */
  bool borrows; /* x belongs to the tsl__states that this one was made from */
  /* of a space that `speller` made: how values are spelled in x */
  const tsl__speller *speller;
  void *spell_ctx;
} tsl__states;

/* What a state's `fixed` points to. */
typedef struct tsl__listed_texts {
  tsl__fixed fixed;
  tsl__stringset set; /* UINT32_MAX: they are a literal */
} tsl__listed_texts;

static inline const tsl__listed_texts *tsl__texts_of(const tsl__state_rec *r) {
  return (const tsl__listed_texts *)(const void *)tsl__state_fixed(r);
}
/* What a state spells that has no expression; NULL: the state has one. */
static inline const tsl__listed_texts *tsl__spelled_of(const tsl__state_rec *r) {
  return r->handle == TSL__NONE ? tsl__texts_of(r) : NULL;
}
static inline bool tsl__is_texts(const tsl__node *n) {
  return n->kind == TSL__K_KEYS || n->kind == TSL__K_STRSET || n->kind == TSL__K_LIT;
}
static inline tsl_status tsl__states_failure(const tsl__states *c) {
  return c->space->status != TSL_OK ? c->space->status : c->x->status;
}

/* states.c */
/* A failure among the expressions is one of the piece of work. True: there is none. */
bool tsl__states_fine(tsl__states *c);
/* The state that an expression has already; 0: none. */
tsl__state tsl__states_find(const tsl__states *c, tsl__expr e);
/* Where a part of a derivative leads; 0 on failure, or if it is empty. */
tsl__target tsl__states_target(tsl__states *c, const tsl__part *p);
/* The phase of the loop whose three states this is one of. */
static inline tsl__phase tsl__phase_of(const tsl__state_rec *r) {
  return r->flags & TSL__STATE_LOOP ? (tsl__phase)(r->flags / TSL__STATE_PHASE) : TSL__PHASE_LOW;
}

/* fixed_texts.c */
/* May the expression spell fixed texts? Most are of other kinds, and most rules not known yet. */
bool tsl__may_be_fixed(const tsl__exprs *x, const tsl__node *n);
/* Notes which texts a state spells, if its expression spells fixed ones. False on failure. */
bool tsl__note_fixed(tsl__states *c, tsl__expr e, tsl__state_rec *r);
/* The expression of a state. That of a state of names may be made anew each time. */
tsl__expr tsl__states_expr(tsl__states *c, const tsl__state_rec *r);
/* The state of the rest of a JSON string that spells texts [lo, hi) of a set, as names, or any text
 * but these. All texts of the range begin with the same `depth` bytes. */
tsl__state tsl__spelled_state(tsl__states *c, tsl__stringset set, uint32_t lo, uint32_t hi,
                              uint32_t depth, bool others);

/* Functions of the hook (runtime/automaton/space.h); ctx is the tsl__states. */
tsl__state tsl__states_carry(void *ctx, const tsl__space *from, tsl__state state);
tsl__state tsl__states_fixed(void *ctx, const tsl__state_rec *from, uint32_t lo, uint32_t hi,
                             uint32_t depth);
/* expand.c */
tsl_status tsl__states_expand(void *ctx, tsl__state state);
tsl__target tsl__states_derive(void *ctx, const tsl__state_rec *r, uint8_t byte);
bool tsl__states_alike(void *ctx, const tsl__state_rec *r, uint8_t *first);
tsl__target tsl__states_nonascii(void *ctx, const tsl__state_rec *r, uint64_t *leads);
tsl__state tsl__states_falls_to(void *ctx, const tsl__state_rec *r, tsl__bytes *but);
bool tsl__states_form(void *ctx, const tsl__state_rec *r, tsl__hint *hint);
bool tsl__states_letters(void *ctx, const tsl__state_rec *r, tsl__hint *hint);
/* See the hook of these names. */
bool tsl__states_ends_within(void *ctx, const tsl__state_rec *r, uint32_t room);
unsigned tsl__states_text(void *ctx, const tsl__state_rec *r, uint32_t *least, uint32_t *most);
unsigned tsl__states_counted(void *ctx, const tsl__state_rec *r, uint32_t *least, uint32_t *most);

#endif
