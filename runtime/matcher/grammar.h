/* grammar.h - a compiled grammar as the runtime holds it.
 *
 * The tables grow under `lock`. What is in them already is read without the lock
 * (runtime/core/pool.h). A grammar keeps its vocabulary alive, and through it the shared layer.
 *
 * A program holds the grammar that was compiled, which has the first tables. When these are full,
 * the grammar gets a view: the same grammar over newer tables (generation.h). A view is a
 * tsl_grammar as well, so whatever works on one works on the other. Only matchers and the objects
 * of runtime/decode/ hold views.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_GRAMMAR_H
#define TSL_RUNTIME_MATCHER_GRAMMAR_H

#include "runtime/core/os.h"
#include "runtime/position/stacks.h"

/* Tables, and the lock under which they grow. Several grammars may use the same tables. */
typedef struct tsl__tables {
  atomic_uint references;
  tsl__space *space; /* owned; the hook of the first tables owns the expressions */
  uint64_t serial;   /* no other tables of the vocabulary have this number, or ever had it */
  /* in the first tables: the lock of all tables that grow out of the same expressions */
  tsl__mutex lock;
  /* the first tables, which live as long as any of the others; these tables themselves, if they are
   * the first */
  struct tsl__tables *first;
  atomic_bool closed; /* no matcher begins here any more */
  uint64_t born;      /* bytes of the space when texts began to fill it */
  uint64_t compiled;  /* in the first tables: bytes of the expressions at that time */
  /* In the first tables, under the lock. newest: the tables in which matchers begin, with a
   * reference; NULL: none were made yet. others: all but the first, the newest of them at the head.
   * begun: how many there ever were. share: bytes that texts may fill */
  struct tsl__tables *newest, *others;
  uint32_t begun;
  uint64_t share;
  struct tsl__tables *older, *newer; /* in the list of others */
  /* In the first tables (edition.h). crowded: no matcher begins over these expressions any more.
   * deserted: matchers under way move to another edition. renewable: the grammar can be compiled
   * again. look_count: how many expressions there are when their size is looked at next */
  atomic_bool crowded;
  atomic_bool deserted;
  bool renewable;
  uint32_t look_count;
  /* of an edition, under its origin's `door`: bytes of all tables, and the number of generations,
   * when they were last measured */
  size_t memory;
  uint32_t known;
  bool alone; /* of one matcher and its forks */
} tsl__tables;

struct tsl_grammar {
  /* the fields that each step reads come first, in one cache line. No other thread writes to that
   * line */
  tsl_vocab *vocab;
  tsl__space *space; /* that of the tables */
  tsl__mutex *lock;  /* that of the tables */
  /* stretches whose tokens are counted (quota.h); belong to the expressions */
  const struct tsl__quota *quotas;
  uint32_t quota_count;
  tsl__state start;
  tsl__stack begin; /* the position before the first byte */
  tsl_allocator alloc;
  tsl__tables *tables;
  atomic_uint references;
  _Atomic(const char *) report; /* NULL: not requested yet */
  size_t report_size;           /* bytes of it that are the grammar's own */
  /* makes the report, under the lock; NULL when out of memory. It belongs to the expressions */
  const char *(*describe)(void *described);
  void *described;
  const void *front; /* what the front end keeps; belongs to the expressions; NULL: nothing */
  /* makes a view's quotas, under the lock; false on failure (sticky). NULL: there are none */
  bool (*dress)(tsl_grammar *view);
  tsl_grammar *whole; /* the grammar that the program holds; a view has another one */
  /* the newest view, with a reference; NULL: none. Under `door`, a lock that is never held for
   * long */
  tsl_grammar *view;
  tsl__mutex door;
  /* the grammar that the program holds, of which this is an edition (edition.h); itself, if it is
   * that grammar */
  tsl_grammar *origin;
  /* Of the origin, under its door. edition: the newest one; NULL: the origin itself. elder: the one
   * before; NULL: none. editions: a list of all that are alive, newest first */
  tsl_grammar *edition, *elder, *editions;
  tsl_grammar *next_edition;
  uint32_t gone;        /* generations of editions that were freed */
  atomic_bool renewing; /* of the origin: somebody compiles it again */
  atomic_uint renew_in; /* of the origin: after a compile that failed, so many calls do not try */
  const struct tsl__again *again; /* NULL: it is not compiled again */
  void *kept;
};

/* Take over `space` (freed on failure too) and finish a grammar that begins in `start`. `report` is
 * copied; NULL: the caller sets `describe`. */
tsl_status tsl__grammar_make(tsl_vocab *vocab, tsl__space *space, tsl__state start,
                             const char *report, tsl_grammar **out, tsl_error *error);
/* Another grammar over the tables of `base`, whose lock the caller holds. */
tsl_status tsl__grammar_make_over(tsl_grammar *base, tsl__state start, const char *report,
                                  tsl_grammar **out, tsl_error *error);

/* Release a reference to an edition that its origin does not count; NULL does nothing. */
void tsl__edition_drop(tsl_grammar *edition);

/* The tables have grown: are they full? Needs the lock. See generation.h. */
TSL__COLD void tsl__tables_look(tsl__tables *t);

/* Begin a piece of work on a grammar's tables, and end it. The end returns what failed in between,
 * if anything. The time to wait for the lock counts towards the deadline: another thread may hold
 * the lock for long. */
static inline tsl__space *tsl__grammar_lock_by(tsl_grammar *g, uint64_t deadline) {
  tsl__mutex_lock(g->lock);
  tsl__space_begin_by(g->space, deadline);
  return g->space;
}
static inline tsl__space *tsl__grammar_lock(tsl_grammar *g) {
  return tsl__grammar_lock_by(g, tsl__deadline(g->space->work.deadline_us));
}
static inline tsl_status tsl__grammar_unlock(tsl_grammar *g) {
  tsl_status status = g->space->status;
  const tsl__hook *hook = g->space->hook;
  if (TSL__UNLIKELY(g->space->arena.total >= g->space->work.full_at ||
                    (g->tables->first->renewable &&
                     hook->life.count(g->space->hook_ctx) >= g->tables->first->look_count)))
    tsl__tables_look(g->tables);
  tsl__mutex_unlock(g->lock);
  return status;
}

/* All that is made ahead is there now: from here on texts fill the tables. Needs the lock, if other
 * threads have the grammar. */
void tsl__grammar_born(tsl_grammar *g);
/* Bytes of all its tables. Needs the lock. */
uint64_t tsl__grammar_memory(const tsl_grammar *g);
/* Have texts made its expressions grow by several shares? They are not evicted, so it is better
 * compiled anew. Needs the lock. */
bool tsl__grammar_used_up(const tsl_grammar *g);

#endif
