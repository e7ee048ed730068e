/* grammar.h - a compiled grammar as the runtime holds it.
 *
 * The tables grow behind `lock`; what they answer is read without it (runtime/core/pool.h). A
 * grammar keeps its vocabulary alive, and through it the shared layer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MATCHER_GRAMMAR_H
#define TSL_RUNTIME_MATCHER_GRAMMAR_H

#include <pthread.h>

#include "runtime/position/stacks.h"

/* Tables, and the lock behind which they grow. Several grammars may be over the same ones. */
typedef struct tsl__tables {
  atomic_uint references;
  tsl__space *space; /* owned; its hook owns the expressions */
  uint64_t serial;   /* no other tables of the vocabulary have it, or ever had */
  pthread_mutex_t lock;
} tsl__tables;

struct tsl_grammar {
  /* what each step asks comes first, in one cache line, and what other threads write does not lie
   * there */
  tsl_vocab *vocab;
  tsl__space *space;     /* that of the tables */
  pthread_mutex_t *lock; /* that of the tables */
  /* stretches whose tokens are counted (quota.h); belong to the expressions */
  const struct tsl__quota *quotas;
  uint32_t quota_count;
  tsl__state start;
  tsl__stack begin; /* the position before the first byte */
  tsl_allocator alloc;
  tsl__tables *tables;
  atomic_uint references;
  _Atomic(const char *) report; /* NULL: not asked for yet */
  size_t report_size;           /* bytes of it that are the grammar's own */
  /* makes the report, under the lock; NULL when out of memory. It belongs to the expressions */
  const char *(*describe)(void *described);
  void *described;
  const void *front; /* of the front end, which belongs to the expressions; NULL: nothing */
};

/* Take over `space` (freed on failure too) and finish a grammar that begins in `start`. `report` is
 * copied; NULL: the caller sets `describe`. */
tsl_status tsl__grammar_make(tsl_vocab *vocab, tsl__space *space, tsl__state start,
                             const char *report, tsl_grammar **out, tsl_error *error);
/* Another grammar over the tables of `base`, whose lock the caller holds. */
tsl_status tsl__grammar_make_over(tsl_grammar *base, tsl__state start, const char *report,
                                  tsl_grammar **out, tsl_error *error);

/* Begin a piece of work on a grammar's tables, and end it: *status is what failed in between, if
 * anything. Its time begins before the lock is there: others may have it for long. */
static inline tsl__space *tsl__grammar_lock(tsl_grammar *g) {
  uint64_t deadline = tsl__deadline(g->space->deadline_us);
  pthread_mutex_lock(g->lock);
  tsl__space_begin_by(g->space, deadline);
  return g->space;
}
static inline tsl_status tsl__grammar_unlock(tsl_grammar *g) {
  tsl_status status = g->space->status;
  pthread_mutex_unlock(g->lock);
  return status;
}

#endif
