/* batch.c - the masks of many matchers in one call.
 *
 * Threads write rows in blocks of BLOCK. A row whose mask is known is a copy of 16 KB for 128k
 * tokens: 0.1 to 0.3 µs, without a lock. A mask that is not known takes its grammar's lock, and
 * microseconds to milliseconds. Blocks are small, so that few known rows wait behind such a mask.
 *
 * Tested by tests/matcher/test_threads.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/grammar.h"
#include "runtime/core/threads.h"

#define BLOCK 4u

typedef struct batch {
  tsl_matcher *const *matchers;
  size_t count, stride;
  uint32_t *masks;
  tsl_status *statuses; /* may be NULL */
  /* the lowest row that failed and, in the lower 8 bits, how; UINT64_MAX: none */
  _Atomic(uint64_t) failed;
} batch;

static size_t words_of(const tsl_matcher *m) {
  return tsl_vocab_mask_words(tsl_grammar_vocab(tsl_matcher_grammar(m)));
}

static void note_failure(batch *b, size_t row, tsl_status status) {
  uint64_t mine = (uint64_t)row << 8 | (uint64_t)status,
           lowest = atomic_load_explicit(&b->failed, memory_order_relaxed);
  while (mine < lowest &&
         !atomic_compare_exchange_weak_explicit(&b->failed, &lowest, mine, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
}

static void fill_row(batch *b, size_t row) {
  tsl_matcher *m = b->matchers[row];
  tsl_status status = TSL_OK;
  if (m) {
    uint32_t *mask = b->masks + row * b->stride;
    size_t words = words_of(m);
    status = tsl_matcher_mask(m, mask);
    if (words < b->stride) memset(mask + words, 0, (b->stride - words) * sizeof *mask);
  }
  if (b->statuses) b->statuses[row] = status;
  if (status != TSL_OK) note_failure(b, row, status);
}

static void fill_block(void *arg, size_t block) {
  batch *b = arg;
  size_t end = (block + 1) * BLOCK < b->count ? (block + 1) * BLOCK : b->count;
  for (size_t row = block * BLOCK; row < end; row++) fill_row(b, row);
}

tsl_status tsl_batch_mask(tsl_threads *threads, tsl_matcher *const *matchers, size_t count,
                          uint32_t *masks, size_t stride, tsl_status *statuses) {
  batch b = {
      .matchers = matchers, .count = count, .stride = stride, .masks = masks, .statuses = statuses};
  for (size_t i = 0; i < count; i++)
    if (matchers[i] && words_of(matchers[i]) > stride) return TSL_ERR_ARGUMENT;
  atomic_init(&b.failed, UINT64_MAX);
  tsl__threads_loop(threads, fill_block, &b, (count + BLOCK - 1) / BLOCK);
  uint64_t failed = atomic_load_explicit(&b.failed, memory_order_relaxed);
  return failed == UINT64_MAX ? TSL_OK : (tsl_status)(failed & 0xFF);
}
