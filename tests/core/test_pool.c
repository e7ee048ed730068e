/* test_pool.c - pools and indexes as they grow. Every element stays where it was. A hash finds its
 * number and no other. What is held is counted.
 *
 * Also checked: small numbers and large ones (slots of 32 bits, then of 64), and numbers that do
 * not begin at 0. Tables that are kept for late readers, and many numbers with one hash are
 * checked, too. And numbers that are sorted, and queues.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/pool.h"
#include "tests/support/check.h"

static uint64_t seed = 11;

static void *count_held(void *ctx, void *block, size_t old_size, size_t new_size) {
  void *p = NULL;
  if (new_size)
    p = realloc(block, new_size);
  else
    free(block);
  if (p || !new_size) *(size_t *)ctx += new_size - (block ? old_size : 0);
  return p;
}

static void elements_stay(void) {
  size_t held = 0;
  const tsl_allocator a = {&held, count_held};
  enum { COUNT = 5000 };
  static uint64_t *at[COUNT];
  tsl__pool p;
  tsl__pool_init(&p, sizeof(uint64_t) * 3);
  unsigned wrong = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    at[i] = tsl__pool_add(&p, &a);
    if (!at[i] || at[i][0] || at[i][2])
      wrong++;
    else
      at[i][0] = at[i][2] = i + 1;
    wrong += held > (p.n + p.n / 2 + 8) * sizeof(uint64_t) * 3 +
                        (TSL__POOL_CHUNKS - TSL__POOL_NEAR) * sizeof(void *);
  }
  for (uint32_t i = 0; i < COUNT; i++)
    wrong += tsl__pool_at(&p, i) != at[i] || at[i][0] != i + 1 || at[i][2] != i + 1;
  CHECKF(!wrong, "%u times", wrong);
  tsl__pool_free(&p, &a);
  CHECK(held == 0);
}

/* `same`: numbers with one hash, one after the other. */
static void index_of(uint32_t first, uint32_t count, uint32_t same, bool kept) {
  size_t held = 0;
  const tsl_allocator a = {&held, count_held};
  tsl__index ix = {.first = first, .read_unlocked = kept};
  uint64_t *hash = malloc(count * sizeof *hash);
  unsigned missed = 0, foreign = 0, wrong = 0;
  for (uint32_t i = 0; hash && i < count; i++) {
    hash[i] = i % same ? hash[i - 1] : tsl_test_random(&seed);
    wrong += !tsl__index_add(&ix, &a, hash[i], first + i) || tsl__index_memory(&ix) != held;
  }
  for (uint32_t i = 0; hash && i < count; i++) {
    tsl__index_iter it = tsl__index_first(&ix, hash[i]);
    uint32_t found = 0;
    for (uint32_t k; (k = tsl__index_next(&it)) != UINT32_MAX;) {
      found += k == first + i;
      wrong += k < first || k >= first + count;
      foreign += k >= first && k < first + count && hash[k - first] != hash[i];
    }
    missed += found != 1;
  }
  CHECKF(!wrong && !missed, "%u wrong, %u missed of %u", wrong, missed, count);
  /* twice as many as can be expected */
  if (TSL__INDEX_COMPARED)
    CHECKF(foreign <= 8 + (2 * (uint64_t)count * count >> TSL__INDEX_TAG),
           "%u numbers with another hash", foreign);
  free(hash);
  tsl__index_free(&ix, &a);
  CHECK(held == 0);
}

static void numbers_are_found(void) {
  static const uint32_t counts[] = {1, 15, 16, 17, 1000, 8190, 8191, 8192, 20000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    /* each would be compared with long rows of others */
    if (!TSL__INDEX_COMPARED && counts[i] > 1000) continue;
    index_of(0, counts[i], 1, false);
    index_of(70000, counts[i], 1, true);
    index_of(5, counts[i], 3, i % 2);
  }
  index_of(0, 60, 60, false);
}

static int by_number(const void *p, const void *q) {
  uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
  return a < b ? -1 : a > b;
}

/* Random numbers of some bits, here and there one that was drawn already: as the C library sorts
 * them, each once. */
static void sort_numbers(size_t n, unsigned bits, uint32_t base) {
  uint32_t *at = malloc(n * sizeof *at), *expected = malloc(n * sizeof *at);
  size_t count = 0;
  for (size_t i = 0; i < n; i++)
    at[i] = i && tsl_test_random(&seed) % 5 == 0
                ? at[tsl_test_random(&seed) % i]
                : base + (uint32_t)(tsl_test_random(&seed) % ((uint64_t)1 << bits));
  memcpy(expected, at, n * sizeof *at);
  qsort(expected, n, sizeof *expected, by_number);
  for (size_t i = 0; i < n; i++)
    if (!count || expected[count - 1] != expected[i]) expected[count++] = expected[i];
  CHECKF(tsl__sort_unique(at, n) == count && memcmp(at, expected, count * sizeof *at) == 0,
         "%zu numbers of %u bits, from %u on", n, bits, base);
  free(at);
  free(expected);
}

static void numbers_are_sorted(void) {
  static const size_t counts[] = {1, 2, 12, 13, 44, 45, 2048, 2049, 5000, 70000};
  static const unsigned bits[] = {0, 1, 7, 8, 9, 17, 18, 24, 31, 32};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
      sort_numbers(counts[i], bits[k], 0);
      if (bits[k] < 32) sort_numbers(counts[i], bits[k], 0x7FFFFF00);
    }
}

static bool is_less(const void *ctx, uint32_t a, uint32_t b) {
  const uint32_t *value = ctx;
  return value[a] < value[b];
}

/* Things come out of a queue in their order, whatever else is put in between. */
static void queues_are_in_order(void) {
  enum { COUNT = 3000 };
  static uint32_t value[COUNT];
  static bool waits[COUNT];
  unsigned wrong = 0;
  for (uint32_t kinds = 2; kinds < 100000; kinds *= 7) {
    tsl__heap h = {0};
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < COUNT; i++) value[i] = (uint32_t)(tsl_test_random(&seed) % kinds);
    while (out < COUNT) {
      if (in < COUNT && (in == out || tsl_test_random(&seed) % 5 < 3)) {
        wrong += !tsl__heap_push(&tsl__malloc, &h, in, is_less, value);
        waits[in++] = true;
        continue;
      }
      uint32_t first = tsl__heap_pop(&h, is_less, value);
      wrong += !waits[first];
      waits[first] = false;
      for (uint32_t i = 0; i < in; i++) wrong += waits[i] && value[i] < value[first];
      out++;
    }
    tsl__vec_free(&tsl__malloc, &h);
  }
  CHECKF(!wrong, "%u times", wrong);
}

int main(void) {
  RUN(elements_stay, "where they were, in few chunks");
  RUN(numbers_are_found, "by their hashes, whatever their size");
  RUN(numbers_are_sorted, "few and many, near to one another and far");
  RUN(queues_are_in_order, "the first comes out first");
  return tsl_test_end();
}
