/* background.c - a compile on another thread.
 *
 * Problem   A server must not stop to answer while a large schema compiles, and must be able to
 *           give a compile up.
 * Idea      The handle owns copies of its inputs and lies in a worker's queue, or has a thread of
 *           its own. Cancelling sets the flag that the compile polls; the result is published
 *           under the handle's lock, once, and stays.
 * Queue     One that still lies in the queue when it is cancelled, or when its time is over, is
 *           removed from there. Whoever finds that out ends it: what is before it may take long.
 * Example   A queue holds A, which compiles, and B with a deadline of 50 ms. Its owner waits for
 *           B. After 50 ms A is still at work: the owner takes B out of the queue, and B's result
 *           is TSL_ERR_CANCELLED. The worker never sees B.
 * Owners    A copy of the limits, options and text is freed with the handle; the grammar is the
 *           caller's.
 * Tested by tests/matcher/test_threads.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/grammar/source.h"
#include "runtime/matcher/grammar.h"
#include "runtime/core/threads.h"

struct tsl_compile {
  tsl__task task; /* first: a worker hands it back */
  tsl_allocator alloc;
  tsl_vocab *vocab; /* a reference */
  tsl_cache *cache;
  tsl__source_copy inputs;
  uint64_t deadline; /* by tsl__now_us; 0: none */
  int cancel;        /* set and read atomically */
  /* in whose queue it was; until it is done they are there. NULL: it has a thread of its own */
  tsl_threads *threads;
  tsl__thread thread;
  tsl__mutex mutex; /* guards what follows */
  tsl__cond ended;
  bool done;
  tsl_status status;
  tsl_grammar *grammar; /* a reference, if it went well */
  tsl_error error;
};

/* ---- the work -------------------------------------------------------------------------------- */

/* The compile itself, unless it was cancelled or ran out of time in the queue. */
static tsl_status make(tsl_compile *c, tsl_grammar **out, tsl_error *error) {
  tsl_limits *limits = &c->inputs.limits;
  uint64_t now = c->deadline ? tsl__now_us() : 0;
  if (tsl__cancelled(&c->cancel)) return tsl__fail(error, TSL_ERR_CANCELLED, "cancelled");
  if (c->deadline && now >= c->deadline)
    return tsl__fail(error, TSL_ERR_CANCELLED, "deadline_us: out of time");
  limits->deadline_us = c->deadline ? c->deadline - now : 0;
  return c->cache ? tsl_cache_get(c->cache, c->vocab, &c->inputs.source, out, error)
                  : tsl__source_compile(c->vocab, &c->inputs.source, limits, out, error);
}

static void run(tsl_compile *c) {
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  tsl_status status = make(c, &grammar, &error);
  tsl__mutex_lock(&c->mutex);
  c->grammar = grammar;
  c->error = error;
  c->status = status;
  c->done = true;
  tsl__cond_broadcast(&c->ended);
  tsl__mutex_unlock(&c->mutex); /* after this the handle may be gone */
}

static void run_task(tsl__task *task) { run((tsl_compile *)(void *)task); }
static void run_thread(void *arg) { run(arg); }

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(tsl_compile *c) {
  tsl_allocator a = c->alloc;
  tsl__cond_free(&c->ended);
  tsl__mutex_free(&c->mutex);
  tsl__source_copy_free(&c->inputs, &a);
  tsl_grammar_release(c->grammar);
  tsl_vocab_release(c->vocab);
  tsl__free(&a, c, sizeof *c);
}

static tsl_compile *make_handle(tsl_cache *cache, tsl_vocab *vocab, const tsl_source *source) {
  tsl_compile *c = tsl__alloc_zero(&vocab->alloc, sizeof *c);
  if (!c) return NULL;
  c->alloc = vocab->alloc;
  c->cache = cache;
  c->task.run = run_task;
  if (tsl__source_copy_make(source, &c->alloc, &c->inputs)) {
    if (tsl__mutex_init(&c->mutex)) {
      if (tsl__cond_init(&c->ended)) {
        tsl_vocab_retain(vocab);
        c->vocab = vocab;
        c->deadline = tsl__deadline(c->inputs.limits.deadline_us);
        c->inputs.limits.cancel = &c->cancel;
        return c;
      }
      tsl__mutex_free(&c->mutex);
    }
    tsl__source_copy_free(&c->inputs, &c->alloc);
  }
  tsl__free(&vocab->alloc, c, sizeof *c);
  return NULL;
}

tsl_status tsl_compile_start(tsl_threads *threads, tsl_cache *cache, tsl_vocab *vocab,
                             const tsl_source *source, tsl_compile **out, tsl_error *error) {
  *out = NULL;
  if (!vocab) return tsl__fail(error, TSL_ERR_ARGUMENT, "no vocabulary given");
  if (source->limits && source->limits->cancel)
    return tsl__fail(error, TSL_ERR_ARGUMENT,
                     "a background compile takes no cancel flag: use tsl_compile_cancel");
  tsl_compile *c = make_handle(cache, vocab, source);
  if (!c) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  c->threads = threads;
  if (!threads || !tsl__threads_queue(threads, &c->task)) {
    c->threads = NULL;
    if (!tsl__thread_start(&c->thread, run_thread, c)) {
      destroy(c);
      return tsl__fail(error, TSL_ERR_LIMIT, "the system gives no more threads");
    }
  }
  *out = c;
  return TSL_OK;
}

void tsl_compile_free(tsl_compile *c) {
  if (!c) return;
  tsl_compile_cancel(c);
  if (!c->threads) {
    tsl__thread_join(&c->thread);
  } else {
    tsl__mutex_lock(&c->mutex);
    while (!c->done) tsl__cond_wait(&c->ended, &c->mutex, TSL__FOREVER);
    tsl__mutex_unlock(&c->mutex);
  }
  destroy(c);
}

/* ---- questions ------------------------------------------------------------------------------- */

static tsl__mutex *lock_of(const tsl_compile *c) { return (tsl__mutex *)(uintptr_t)&c->mutex; }

/* No worker shall come to it any more: if none has, it ends here, as `make` says of it. */
static void end_queued(tsl_compile *c) {
  tsl__mutex_lock(&c->mutex);
  bool mine = c->threads && !c->done && tsl__threads_take_back(c->threads, &c->task);
  tsl__mutex_unlock(&c->mutex);
  if (mine) run(c);
}

/* Is it done by then? */
static bool done_until(tsl_compile *c, uint64_t until) {
  tsl__mutex_lock(&c->mutex);
  while (!c->done && (until == UINT64_MAX || !tsl__expired(until)))
    tsl__cond_wait(&c->ended, &c->mutex, until);
  bool done = c->done;
  tsl__mutex_unlock(&c->mutex);
  return done;
}

bool tsl_compile_is_done(const tsl_compile *c) {
  if (tsl__expired(c->deadline)) end_queued((tsl_compile *)(uintptr_t)c);
  tsl__mutex_lock(lock_of(c));
  bool done = c->done;
  tsl__mutex_unlock(lock_of(c));
  return done;
}

void tsl_compile_cancel(tsl_compile *c) {
  __atomic_store_n(&c->cancel, 1, __ATOMIC_RELAXED);
  end_queued(c);
}

tsl_status tsl_compile_wait(tsl_compile *c, uint64_t timeout_us, tsl_grammar **out,
                            tsl_error *error) {
  uint64_t until = timeout_us == UINT64_MAX ? UINT64_MAX
                   : timeout_us             ? tsl__deadline(timeout_us)
                                            : 1;
  *out = NULL;
  bool done = done_until(c, c->deadline && c->deadline < until ? c->deadline : until);
  if (!done && tsl__expired(c->deadline)) {
    end_queued(c);
    done = done_until(c, until);
  }
  if (!done) return tsl__fail(error, TSL_ERR_STATE, "the compile has not ended yet");
  if (c->status != TSL_OK) {
    if (error) *error = c->error;
    return c->status;
  }
  tsl_grammar_retain(*out = c->grammar);
  return TSL_OK;
}
