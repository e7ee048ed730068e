/* threads.c - the workers: their loop, their queue, their end. See threads.h.
 *
 * State     One mutex guards the loop that is under way, the queue and the counts. Rows of a loop
 *           are handed out by an atomic counter outside of the mutex: two workers meet there for
 *           one instruction a row.
 * Example   Four rows, two workers that sleep. The caller sets `loop`, signals, and works on rows 0
 *           and 1. Worker A wakes up, adds itself to `joined` and draws row 2; the caller draws row
 *           3. Worker B wakes up now, finds no row left, and sleeps again. The caller waits until
 *           `joined` is 0, that is for A alone.
 * Ending    Workers look at the loop first, then at the queue, and only then whether they should
 *           end: what is queued is done before tsl_threads_free returns.
 * Cost      Without a worker that wakes up in time: one lock and one signal more than a plain loop.
 * Tested by tests/matcher/test_threads.c, which ./dev also runs under ThreadSanitizer
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/threads.h"

#include <stdatomic.h>

/* A loop under way; lies on the caller's stack. */
typedef struct loop {
  void (*body)(void *arg, size_t i);
  void *arg;
  size_t n;
  atomic_size_t next;
  uint32_t joined; /* workers in it, under the mutex */
} loop;

struct tsl_threads {
  tsl_allocator alloc;
  tsl_threads_options host; /* `parallel` NULL: own workers */
  tsl__mutex mutex;         /* guards what follows */
  tsl__cond work, left;
  loop *loop; /* that workers may join; NULL: none */
  bool busy;  /* a caller's loop has the workers */
  bool ending;
  tsl__task *first, **last; /* the queue */
  uint32_t workers;
  tsl__thread ids[];
};

/* ---- workers --------------------------------------------------------------------------------- */

/* Draw rows until there are none. Each number is drawn once, whoever draws. */
static void run_loop(loop *l) {
  for (size_t i; (i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed)) < l->n;)
    l->body(l->arg, i);
}

/* May a worker still draw a row? Without it workers would join a loop that is done, and hold its
 * caller up. */
static bool has_rest(loop *l) {
  return l && atomic_load_explicit(&l->next, memory_order_relaxed) < l->n;
}

/* Called and left with the mutex held. The loop lies on its caller's stack: it stays there as long
 * as somebody is in it, which `joined` says. */
static void join_loop(tsl_threads *t) {
  loop *l = t->loop;
  l->joined++;
  tsl__mutex_unlock(&t->mutex);
  run_loop(l);
  tsl__mutex_lock(&t->mutex);
  if (--l->joined == 0) tsl__cond_broadcast(&t->left);
}

/* `at` is what leads to the task: the queue's first pointer or the `next` of the task before. So no
 * search is needed. */
static void unqueue(tsl_threads *t, tsl__task *task) {
  *task->at = task->next;
  if (task->next)
    task->next->at = task->at;
  else
    t->last = task->at;
  task->at = NULL;
}

/* The mutex is free while the task runs. Afterwards the task is not looked at again: it may be
 * gone. */
static void run_task(tsl_threads *t) {
  tsl__task *task = t->first;
  unqueue(t, task);
  tsl__mutex_unlock(&t->mutex);
  task->run(task);
  tsl__mutex_lock(&t->mutex);
}

/* A worker's life. */
static void work(void *arg) {
  tsl_threads *t = arg;
  tsl__mutex_lock(&t->mutex);
  for (;;) {
    if (has_rest(t->loop))
      join_loop(t);
    else if (t->first)
      run_task(t);
    else if (t->ending)
      break;
    else
      tsl__cond_wait(&t->work, &t->mutex, TSL__FOREVER);
  }
  tsl__mutex_unlock(&t->mutex);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* One thread fewer than there are processors, as the caller works too, but one at least. None if
 * the host brings its own threads. */
static uint32_t workers_of(const tsl_threads_options *o) {
  if (o->parallel) return 0;
  if (o->workers) return o->workers;
  uint32_t n = tsl__processors();
  return n > TSL_MAX_WORKERS ? TSL_MAX_WORKERS : n > 2 ? n - 1 : 1;
}

static bool make_locks(tsl_threads *t) {
  if (!tsl__mutex_init(&t->mutex)) return false;
  if (tsl__cond_init(&t->work)) {
    if (tsl__cond_init(&t->left)) return true;
    tsl__cond_free(&t->work);
  }
  tsl__mutex_free(&t->mutex);
  return false;
}

/* Let the workers finish what is queued, and free the block, which was made for `room` of them. */
static void end(tsl_threads *t, uint32_t room) {
  tsl_allocator a = t->alloc;
  tsl__mutex_lock(&t->mutex);
  t->ending = true;
  tsl__cond_broadcast(&t->work);
  tsl__mutex_unlock(&t->mutex);
  for (uint32_t i = 0; i < t->workers; i++) tsl__thread_join(&t->ids[i]);
  tsl__cond_free(&t->work);
  tsl__cond_free(&t->left);
  tsl__mutex_free(&t->mutex);
  tsl__free(&a, t, sizeof *t + room * sizeof *t->ids);
}

tsl_status tsl_threads_new(const tsl_threads_options *options, const tsl_allocator *allocator,
                           tsl_threads **out) {
  static const tsl_threads_options none = {0};
  if (!options) options = &none;
  allocator = tsl__allocator_or_default(allocator);
  *out = NULL;
  uint32_t n = workers_of(options);
  if (n > TSL_MAX_WORKERS) return TSL_ERR_ARGUMENT;
  tsl_threads *t = tsl__alloc_zero(allocator, sizeof *t + n * sizeof *t->ids);
  if (!t) return TSL_ERR_NO_MEMORY;
  t->alloc = *allocator;
  t->host = *options;
  t->last = &t->first;
  if (!make_locks(t)) {
    tsl__free(allocator, t, sizeof *t + n * sizeof *t->ids);
    return TSL_ERR_LIMIT;
  }
  while (t->workers < n && tsl__thread_start(&t->ids[t->workers], work, t)) t->workers++;
  if (t->workers == n) return *out = t, TSL_OK;
  end(t, n);
  return TSL_ERR_LIMIT;
}

void tsl_threads_free(tsl_threads *t) {
  if (t) end(t, t->workers);
}

uint32_t tsl_threads_count(const tsl_threads *t) {
  return t->host.parallel ? (t->host.width ? t->host.width : 2) : t->workers;
}

/* ---- work ------------------------------------------------------------------------------------ */

static void host_part(void *arg, size_t i) {
  (void)i;
  run_loop(arg);
}

/* As many parts as the host has threads; each takes rows until there are none. */
static void run_on_host(tsl_threads *t, loop *l) {
  size_t width = tsl_threads_count(t);
  t->host.parallel(t->host.ctx, host_part, l, width < l->n ? width : l->n);
}

/* One loop at a time has the workers. A caller that finds them busy runs its rows alone: waiting
 * could take longer than the work. `loop` is set to NULL before the wait, so that nobody joins any
 * more. */
static void run_on_workers(tsl_threads *t, loop *l) {
  tsl__mutex_lock(&t->mutex);
  bool mine = !t->busy;
  if (mine) {
    t->busy = true;
    t->loop = l;
    if (l->n - 1 >= t->workers)
      tsl__cond_broadcast(&t->work);
    else
      for (size_t i = 1; i < l->n; i++) tsl__cond_signal(&t->work);
  }
  tsl__mutex_unlock(&t->mutex);
  run_loop(l);
  if (!mine) return;
  tsl__mutex_lock(&t->mutex);
  t->loop = NULL;
  while (l->joined) tsl__cond_wait(&t->left, &t->mutex, TSL__FOREVER);
  t->busy = false;
  tsl__mutex_unlock(&t->mutex);
}

void tsl__threads_loop(tsl_threads *t, void (*body)(void *arg, size_t i), void *arg, size_t n) {
  loop l = {.body = body, .arg = arg, .n = n};
  atomic_init(&l.next, 0);
  if (!t || n < 2)
    run_loop(&l);
  else if (t->host.parallel)
    run_on_host(t, &l);
  else
    run_on_workers(t, &l);
}

bool tsl__threads_queue(tsl_threads *t, tsl__task *task) {
  if (t->host.parallel) return false;
  tsl__mutex_lock(&t->mutex);
  task->next = NULL;
  task->at = t->last;
  *t->last = task;
  t->last = &task->next;
  tsl__cond_signal(&t->work);
  tsl__mutex_unlock(&t->mutex);
  return true;
}

/* Under the mutex a task is in the queue or a worker has it, nothing between. */
bool tsl__threads_take_back(tsl_threads *t, tsl__task *task) {
  tsl__mutex_lock(&t->mutex);
  bool queued = task->at != NULL;
  if (queued) unqueue(t, task);
  tsl__mutex_unlock(&t->mutex);
  return queued;
}
