/* generation.h - tables that texts have filled give way to new ones, while texts go on.
 *
 * Problem   A space (runtime/automaton/space.h) only grows: readers hold no lock, so nothing in it
 *           can be removed. Each text leaves positions, names and items there. One tenant's
 *           texts would fill the tables that all others use, and a server that runs for long would
 *           fill them by itself.
 * Idea      What texts leave is a cache. It has a share of memory. When a space has used its share
 *           it is closed: new matchers begin in a new, empty space over the same expressions. That
 *           is the next generation. What a text needs and the new space lacks is computed again.
 *           Matchers under way stay, and the old space is freed with the last of them. A space that
 *           has used its share twice is left. So is one when too many generations are alive. Each
 *           matcher in it carries its position and its history into the newest space, at its next
 *           call that moves or grows (runtime/position/carry.h).
 * First     The space that was compiled stays as long as the grammar: it has the expressions, and
 *           the state that every generation begins with. It is closed and left like the others.
 * Own       Most positions need a few hundred bytes. A text with 100,000 names needs megabytes. A
 *           position that takes more than a quarter of a share gets a space that it has alone. That
 *           one is bounded by max_memory. So the text that fills it fails, and no other does.
 * Views     A tsl_grammar is bound to one space, so each generation has a view: a tsl_grammar that
 *           shares all but space, states and positions. A matcher holds the view that it is in, and
 *           the grammar that the program knows.
 * Threads   Everything here happens under the lock of the first tables, except access to the newest
 *           view. That has a lock of its own (`door`), so that tsl_matcher_new waits for no walk.
 *           `closed` and `left` are read without a lock. A thread that reads an old value stays in
 *           the old space a little longer.
 * Example   A share of 5 MiB. Texts with free members leave some 250 bytes a token, so a generation
 *           lasts some 21,000 tokens. Texts of 1,000 tokens mostly end before theirs is left.
 * Bound     A grammar holds what compiling made, and at most two shares for each generation that is
 *           alive. The first and the newest generation are alive, and all those with matchers. Of
 *           these at most GENERATIONS are not left, and one more for each MATCHERS_EACH matchers. A
 *           matcher that makes no call cannot move, and keeps its generation.
 * Cost      One test of a flag for each token. A new generation takes some 10 µs, and the time to
 *           compute again what texts need. A move takes some 50 ns for each record of the history.
 * Tested by tests/matcher/test_generation.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_GENERATION_H
#define TSL_RUNTIME_MATCHER_GENERATION_H

#include "runtime/matcher/matcher.h"

#define TSL__SHARE ((uint64_t)5 << 20) /* bytes, or what compiling made, where that is more */
/* A share is no more than this part of max_memory. A build in which every other call evicts sets
 * more: see docs/testing.md. */
#ifndef TSL__SHARE_PART
#define TSL__SHARE_PART 8u
#endif
#define TSL__GENERATIONS 4u
#define TSL__MATCHERS_EACH 32u

/* The grammar or the view in which new matchers begin; it is retained. If no new view can be made,
 * this is the current one. */
tsl_grammar *tsl__grammar_now(tsl_grammar *g);
/* The same, and the grammar that the caller holds is released. */
static inline tsl_grammar *tsl__grammar_renew(tsl_grammar *held) {
  tsl_grammar *g = tsl__grammar_now(held);
  tsl_grammar_release(held);
  return g;
}
/* Free the views of a grammar. No other reference to it is left. */
void tsl__views_free(tsl_grammar *whole);
/* The last reference to tables is gone. */
void tsl__tables_release(tsl__tables *t, const tsl_allocator *a);

/* Put a matcher that begins a new text into the tables in which new matchers begin. */
void tsl__matcher_renew(tsl_matcher *m);
/* Move a matcher to the newest tables, or to tables of its own. false: it stays where it is, and
 * nothing has changed. */
TSL__COLD bool tsl__matcher_move(tsl_matcher *m);
static inline bool tsl__matcher_is_left(const tsl_matcher *m) {
  return TSL__UNLIKELY(
      atomic_load_explicit(&((tsl__space *)(uintptr_t)m->space)->left, memory_order_relaxed));
}
/* First thing in a call that may add to the tables. */
static inline void tsl__matcher_settle(tsl_matcher *m) {
  if (tsl__matcher_is_left(m)) tsl__matcher_move(m);
}
/* After a failure: were the tables full, and has the matcher left them? Then the call is tried once
 * more. */
static inline bool tsl__matcher_again(tsl_matcher *m, tsl_status status) {
  return TSL__UNLIKELY(status == TSL_ERR_LIMIT) && tsl__matcher_is_left(m) && tsl__matcher_move(m);
}

#endif
