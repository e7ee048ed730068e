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
#if TSL__LOGITS_X86
#include <cpuid.h>
#endif

/* NULL until the first call. With what follows from it, just below, the engine's only process-wide
 * state: a fact about the machine, the same for all users. */
static _Atomic(const tsl__logits_kernels *) chosen;

static void copy_at_first(uint32_t *to, const uint32_t *from, size_t words) {
  tsl__logits()->copy_words(to, from, words);
}

/* The kernel that copies, once more. A mask that is copied where the caches are empty need not wait
 * for the table of kernels as well. */
_Atomic(tsl__copy_words) tsl__logits_copy = copy_at_first;

static const tsl__logits_kernels *choose(const tsl__logits_kernels *k) {
  atomic_store_explicit(&tsl__logits_copy, k->copy_words, memory_order_relaxed);
  atomic_store_explicit(&chosen, k, memory_order_release);
  return k;
}

#if TSL__LOGITS_X86
/* Bits of CPUID, as Intel's manual numbers them (volume 2, CPUID), and of the register XCR0. XCR0
 * says what the system keeps when it switches between threads. The compiler's own question,
 * __builtin_cpu_supports, is answered by its run-time library, and that of zig always says no. */
enum {
  LEAF1_FMA = 1 << 12, /* of ECX */
  LEAF1_POPCNT = 1 << 23,
  LEAF1_OSXSAVE = 1 << 27,
  LEAF1_F16C = 1 << 29,
  LEAF7_AVX2 = 1 << 5, /* of EBX */
  LEAF7_AVX512F = 1 << 16,
  LEAF7_AVX512DQ = 1 << 17,
  LEAF7_AVX512BW = 1 << 30,
  KEPT_AVX = 6,       /* XCR0: the registers of SSE and AVX */
  KEPT_AVX512 = 0xE6, /* and those of AVX-512 */
};
#define LEAF7_AVX512VL (1u << 31)

/* Has the processor these bits, all of each register, and does the system keep the vectors? */
static bool processor_has(unsigned leaf1, unsigned leaf7, unsigned kept) {
  unsigned a, b, c, d, low, high;
  leaf1 |= LEAF1_OSXSAVE; /* without it there is no XCR0 to read */
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & leaf1) != leaf1) return false;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & kept) != kept) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & leaf7) == leaf7;
}
#endif

/* The kernels of a level, or NULL if this build or this machine lacks them. */
static const tsl__logits_kernels *kernels_of(tsl__logits_level level) {
#if TSL__LOGITS_X86
  const unsigned leaf1 = LEAF1_FMA | LEAF1_POPCNT | LEAF1_F16C;
  if (level == TSL__LOGITS_AVX512 &&
      processor_has(leaf1,
                    LEAF7_AVX2 | LEAF7_AVX512F | LEAF7_AVX512DQ | LEAF7_AVX512BW | LEAF7_AVX512VL,
                    KEPT_AVX512))
    return &tsl__logits_avx512;
  if (level == TSL__LOGITS_AVX2 && processor_has(leaf1, LEAF7_AVX2, KEPT_AVX))
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
