/* fibers.h - a group of threads of a device, on one thread of the processor.
 *
 * Idea      Each thread of the group is a fiber, which runs until a barrier or its end. Then the
 *           next one runs. At a barrier all must arrive: a thread that ends, while another waits,
 *           is an error, as on a device.
 * Races     A program that forgets a barrier gives other results in another order. So the order of
 *           the fibers changes at each barrier: forwards, backwards, or in strides.
 * Cost      Half a microsecond a fiber and barrier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_HOSTS_DEVICE_FIBERS_H
#define TESTS_HOSTS_DEVICE_FIBERS_H

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define FIBERS_MOST 256
#define FIBERS_STACK (1u << 16)

struct fibers {
  ucontext_t host, fiber[FIBERS_MOST];
  char *stack;
  void (*work)(void *);
  void *context;
  unsigned current, ended;
};
static struct fibers fibers;

static void fibers_begin() {
  fibers.work(fibers.context);
  fibers.ended++;
  swapcontext(&fibers.fiber[fibers.current], &fibers.host);
}

/* What a barrier of the device is. */
static inline void fibers_wait() { swapcontext(&fibers.fiber[fibers.current], &fibers.host); }

/* Run `work` in `count` fibers, 1 to FIBERS_MOST, a power of two, until all have ended. */
static void fibers_run(unsigned count, void (*work)(void *), void *context) {
  if (!fibers.stack) fibers.stack = (char *)malloc((size_t)FIBERS_MOST * FIBERS_STACK);
  if (!fibers.stack || count > FIBERS_MOST) abort();
  fibers.work = work;
  fibers.context = context;
  fibers.ended = 0;
  for (unsigned i = 0; i < count; i++) {
    getcontext(&fibers.fiber[i]);
    fibers.fiber[i].uc_stack.ss_sp = fibers.stack + (size_t)i * FIBERS_STACK;
    fibers.fiber[i].uc_stack.ss_size = FIBERS_STACK;
    fibers.fiber[i].uc_link = NULL;
    makecontext(&fibers.fiber[i], fibers_begin, 0);
  }
  for (unsigned turn = 0; !fibers.ended; turn++) {
    for (unsigned i = 0; i < count; i++) {
      fibers.current = turn % 3 == 0 ? i : turn % 3 == 1 ? count - 1 - i : i * 37 % count;
      swapcontext(&fibers.host, &fibers.fiber[fibers.current]);
    }
    if (fibers.ended && fibers.ended != count) {
      printf("  FAIL %u of %u threads ended while others wait at a barrier\n", fibers.ended, count);
      exit(1);
    }
  }
}

#endif
