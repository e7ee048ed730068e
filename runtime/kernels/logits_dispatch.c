/* logits_dispatch.c - which kernels this process uses: the only place that asks the processor.
 *
 * The choice is one pointer, stored atomically. Threads that race compute the same answer and store
 * the same pointer, so no lock is needed and none can see anything half made.
 * Tested by tests/kernels/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>

#include "runtime/kernels/logits.h"

/* NULL until the first call. With what follows from it, just below, the engine's only process-wide
 * state: a fact about the machine, the same for all users. */
static _Atomic(const tsl__logits_kernels *) chosen;

static void copy_at_first(uint32_t *to, const uint32_t *from, size_t words) {
  tsl__logits()->copy_words(to, from, words);
}

/* The kernel that copies, once more: a mask that is copied where the caches are empty need not wait
 * for the table of kernels as well. */
_Atomic(tsl__copy_words) tsl__logits_copy = copy_at_first;

static const tsl__logits_kernels *choose(const tsl__logits_kernels *k) {
  atomic_store_explicit(&tsl__logits_copy, k->copy_words, memory_order_relaxed);
  atomic_store_explicit(&chosen, k, memory_order_release);
  return k;
}

/* The kernels of a level, or NULL if this build or this machine lacks them. */
static const tsl__logits_kernels *kernels_of(tsl__logits_level level) {
#if TSL__LOGITS_X86
  __builtin_cpu_init();
  if (level == TSL__LOGITS_AVX512 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("popcnt"))
    return &tsl__logits_avx512;
  if (level == TSL__LOGITS_AVX2 && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt"))
    return &tsl__logits_avx2;
#endif
#if TSL__LOGITS_ARM
  if (level == TSL__LOGITS_NEON) return &tsl__logits_neon; /* part of the architecture */
#endif
  return level == TSL__LOGITS_PORTABLE ? &tsl__logits_portable : NULL;
}

static const tsl__logits_kernels *best(void) {
  static const tsl__logits_level order[] = {TSL__LOGITS_AVX512, TSL__LOGITS_AVX2, TSL__LOGITS_NEON};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const tsl__logits_kernels *k = kernels_of(order[i]);
    if (k) return k;
  }
  return &tsl__logits_portable;
}

const tsl__logits_kernels *tsl__logits(void) {
  const tsl__logits_kernels *k = atomic_load_explicit(&chosen, memory_order_acquire);
  return TSL__LIKELY(k != NULL) ? k : choose(best());
}

bool tsl__logits_force(tsl__logits_level level) {
  const tsl__logits_kernels *k = level == TSL__LOGITS_AUTO ? best() : kernels_of(level);
  return k && choose(k);
}
