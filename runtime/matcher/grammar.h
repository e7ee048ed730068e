/* grammar.h - a compiled grammar as the runtime holds it.
 *
 * The tables grow behind `lock`; what they answer is read without it (runtime/core/pool.h). A
 * grammar keeps its vocabulary alive, and through it the shared layer.
 *
 * A program holds the grammar that was compiled, which has the first tables. When these are full,
 * the grammar gets a view: the same grammar over newer tables (generation.h). A view is a
 * tsl_grammar as well, so whatever works on one works on the other. Only matchers and what decodes
 * hold views.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_GRAMMAR_H
#define TSL_RUNTIME_MATCHER_GRAMMAR_H

#include "runtime/core/os.h"
#include "runtime/position/stacks.h"

/* Tables, and the lock behind which they grow. Several grammars may be over the same ones. */
typedef struct tsl__tables {
  atomic_uint references;
  tsl__space *space; /* owned; the hook of the first tables owns the expressions */
  uint64_t serial;   /* no other tables of the vocabulary have it, or ever had */
  /* of the first ones: the lock of all that grow out of the same expressions */
  tsl__mutex lock;
  /* the first ones, which are there as long as any; themselves: they are the first */
  struct tsl__tables *first;
  atomic_bool closed; /* no matcher begins here any more */
  uint64_t born;      /* bytes of the space when texts began to fill it */
  uint64_t compiled;  /* of the first: bytes of the expressions then */
  /* of the first ones, under the lock: where matchers begin, which is referenced if it is not they
   * themselves. Then the others, newest first; how many there were; and bytes that texts may
   * fill */
  struct tsl__tables *newest, *others;
  uint32_t begun;
  uint64_t share;
  struct tsl__tables *older, *newer; /* in the list of others */
  /* of the first ones (edition.h): no matcher begins over these expressions any more. They can be
   * compiled again. And their number when they are looked at next */
  atomic_bool crowded;
  atomic_bool deserted; /* those under way move to another edition */
  bool renewable;
  uint32_t look_count;
  /* of an edition, behind its origin's door: bytes of all tables, and generations, when somebody
   * last requested them */
  size_t memory;
  uint32_t known;
  bool alone; /* of one matcher and its forks */
} tsl__tables;

struct tsl_grammar {
  /* what each step asks comes first, in one cache line, and what other threads write does not lie
   * there */
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
  const void *front; /* of the front end, which belongs to the expressions; NULL: nothing */
  /* makes a view's quotas, under the lock; false on failure (sticky). NULL: there are none */
  bool (*dress)(tsl_grammar *view);
  tsl_grammar *whole; /* the grammar that the program holds; a view has another one */
  /* the newest view, which is referenced; NULL: none. Behind `door`, which is never held for
   * long */
  tsl_grammar *view;
  tsl__mutex door;
  /* see edition.h: the grammar that the program holds, of which this is an edition; itself */
  tsl_grammar *origin;
  /* of the origin, behind its door: the newest edition and the one before it, NULL: itself, or
   * none; all that are alive, newest first */
  tsl_grammar *edition, *elder, *editions;
  tsl_grammar *next_edition;
  uint32_t gone;                  /* generations of those that are not */
  atomic_bool renewing;           /* of the origin: somebody compiles it again */
  atomic_uint renew_in;           /* of the origin: so many calls wait after one that could not */
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

/* One of the references to an edition that are not counted with its origin; NULL is none. */
void tsl__edition_drop(tsl_grammar *edition);

/* The tables have grown: are they full? Needs the lock. See generation.h. */
TSL__COLD void tsl__tables_look(tsl__tables *t);

/* Begin a piece of work on a grammar's tables, and end it: *status is what failed in between, if
 * anything. Its time begins before the lock is there: others may have it for long. */
static inline tsl__space *tsl__grammar_lock(tsl_grammar *g) {
  uint64_t deadline = tsl__deadline(g->space->work.deadline_us);
  tsl__mutex_lock(g->lock);
  tsl__space_begin_by(g->space, deadline);
  return g->space;
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

/* What is made ahead is made: from here on texts fill the tables. Needs the lock, if others have
 * the grammar. */
void tsl__grammar_born(tsl_grammar *g);
/* Bytes of all its tables. Needs the lock. */
uint64_t tsl__grammar_memory(const tsl_grammar *g);
/* Have texts made its expressions grow by several shares? They are not evicted, so it is better
 * compiled anew. Needs the lock. */
bool tsl__grammar_used_up(const tsl_grammar *g);

#endif
