/* threads.h - worker threads: a loop shared with the caller, and a queue of tasks.
 *
 * Problem   A batch of 32 masks seen before takes 5 µs; waking a thread takes 5 to 50. A loop that
 *           waits until all workers are awake would be slower than one without workers.
 * Idea      The caller works from the start. Workers join when they wake up, as long as there is
 *           something left; the caller, done with its share, waits only for those that joined. Rows
 *           are handed out one at a time by a counter, so a slow one (a first visit) holds up
 *           nobody.
 * Order     A loop goes before queued tasks. One loop at a time: a second caller finds the workers
 *           busy and runs its loop alone.
 *
 * Tested by tests/matcher/test_threads.c, which ./dev also runs under ThreadSanitizer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CORE_THREADS_H
#define TSL_RUNTIME_CORE_THREADS_H

#include "runtime/core/os.h"

/* Queued by tsl__threads_queue; lies in the caller's object, which must live until `run` has been
 * called, or tsl__threads_take_back returned true. */
typedef struct tsl__task {
  struct tsl__task *next, **at; /* `at`: what leads to it in the queue; NULL: it is not in it */
  void (*run)(struct tsl__task *task);
} tsl__task;

/* body(arg, i) once for each i < n, here and on workers; returns when all calls have. `threads`
 * NULL: here alone. */
void tsl__threads_loop(tsl_threads *threads, void (*body)(void *arg, size_t i), void *arg,
                       size_t n);
/* Have a worker run the task some time; false if there are no workers (a host's threads). */
bool tsl__threads_queue(tsl_threads *threads, tsl__task *task);
/* Take it out of the queue again; false if it is not in it: a worker has it, or had. */
bool tsl__threads_take_back(tsl_threads *threads, tsl__task *task);

#endif
