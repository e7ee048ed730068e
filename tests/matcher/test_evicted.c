/* test_evicted.c - masks made ahead, batches and drafts while tables are evicted.
 *
 * Three threads share a grammar whose tables are evicted all the time. Each has a few matchers, and
 * calls what a host calls, in any order. These are masks ahead with any tokens and any time,
 * batches, trees of drafts, forks, rollbacks, resets and tokens. The masks must be those of a
 * grammar of its own, which is never evicted. A mask that is ready is one without an error. Built
 * with -Db_sanitize=thread any race ends the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#include "tests/support/check.h"
#include "tests/support/take.h"

#define THREADS 3
#define MATCHERS 4
#define DRAFTS 5
#define OPERATIONS ROUNDS_OF(40000)
#define TEXT_MAX 60

static const char schema[] =
    "{\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
    "\"maxLength\":40},\"n\":{\"type\":\"integer\",\"minimum\":-5,\"maximum\":5000},\"kids\":{"
    "\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/t\"}},\"set\":{\"type\":\"array\","
    "\"uniqueItems\":true,\"items\":{\"enum\":[1,12,\"a\",\"ab\"]}}},\"required\":[\"name\"]}},"
    "\"$ref\":\"#/$defs/t\"}";

static tsl_vocab *vocab;
static size_t words, width;

typedef struct host {
  tsl_grammar *shared, *own;
  tsl_matcher *at[MATCHERS], *kept[MATCHERS]; /* of `shared`, of `own`: the same text each */
  uint64_t seed;
  uint32_t *mask, *other, *rows;
  unsigned long failures;
} host;

static uint32_t below(host *h, uint32_t n) { return (uint32_t)(tsl_test_random(&h->seed) % n); }

/* CHECK is for one thread. */
static void expect(host *h, bool fine) { h->failures += !fine; }

static void compare(host *h, unsigned i) {
  bool ready = tsl_matcher_is_ready(h->at[i]);
  tsl_status status = tsl_matcher_mask(h->at[i], h->mask);
  expect(h, status == TSL_OK && tsl_matcher_mask(h->kept[i], h->other) == TSL_OK);
  expect(h, !memcmp(h->mask, h->other, words * 4));
  expect(h, !ready || tsl_matcher_is_ready(h->at[i]));
}

static void restart(host *h, unsigned i) {
  tsl_matcher_reset(h->at[i]);
  tsl_matcher_reset(h->kept[i]);
}

static void accept(host *h, unsigned i) {
  compare(h, i);
  tsl_token t = draw(h->mask, width, &h->seed);
  if (t == TSL_NO_TOKEN || tsl_matcher_history(h->at[i]) == TEXT_MAX) {
    restart(h, i);
    return;
  }
  expect(h,
         tsl_matcher_accept(h->at[i], t) == TSL_OK && tsl_matcher_accept(h->kept[i], t) == TSL_OK);
}

static void prefetch(host *h, unsigned i) {
  static const uint64_t budgets[] = {0, 1, 50, 5000};
  tsl_token likely[8];
  uint32_t made;
  for (unsigned k = 0; k < 8; k++)
    likely[k] = below(h, 8) ? below(h, (uint32_t)width) : UINT32_MAX - below(h, 3);
  size_t n = below(h, 9);
  expect(h, tsl_matcher_prefetch(h->at[i], n ? likely : NULL, n, budgets[below(h, 4)], &made) ==
                TSL_OK);
  if (below(h, 2)) compare(h, i);
}

static void fork(host *h, unsigned i) {
  unsigned from = below(h, MATCHERS);
  if (from == i) return;
  tsl_matcher_free(h->at[i]);
  tsl_matcher_free(h->kept[i]);
  expect(h, tsl_matcher_fork(h->at[from], &h->at[i]) == TSL_OK &&
                tsl_matcher_fork(h->kept[from], &h->kept[i]) == TSL_OK);
}

static void roll_back(host *h, unsigned i) {
  size_t n = tsl_matcher_history(h->at[i]), back = below(h, (uint32_t)n + 2);
  expect(h, tsl_matcher_rollback(h->at[i], back) == (back <= n ? TSL_OK : TSL_ERR_STATE));
  if (back <= n) expect(h, tsl_matcher_rollback(h->kept[i], back) == TSL_OK);
}

static void batch(host *h) {
  tsl_status statuses[MATCHERS];
  expect(h, tsl_batch_mask(NULL, h->at, MATCHERS, h->rows, words, statuses) == TSL_OK);
  for (unsigned i = 0; i < MATCHERS; i++) {
    expect(h, statuses[i] == TSL_OK && tsl_matcher_mask(h->kept[i], h->other) == TSL_OK);
    expect(h, !memcmp(h->rows + i * words, h->other, words * 4));
  }
}

/* A tree of tokens of which the first are allowed. */
static void drafts(host *h, unsigned i) {
  tsl_token tokens[DRAFTS];
  uint32_t parents[DRAFTS], *others = h->rows + (DRAFTS + 1) * words;
  bool allowed[DRAFTS], same[DRAFTS];
  compare(h, i);
  for (uint32_t k = 0; k < DRAFTS; k++) {
    tokens[k] = draw(h->mask, width, &h->seed);
    if (tokens[k] == TSL_NO_TOKEN) return;
    parents[k] = k && below(h, 2) ? below(h, k) : TSL_NO_PARENT;
  }
  expect(h, tsl_matcher_mask_drafts(h->at[i], tokens, parents, DRAFTS, h->rows, allowed) == TSL_OK);
  expect(h, tsl_matcher_mask_drafts(h->kept[i], tokens, parents, DRAFTS, others, same) == TSL_OK);
  expect(h,
         !memcmp(allowed, same, sizeof same) && !memcmp(h->rows, others, (DRAFTS + 1) * words * 4));
}

static void *serve(void *arg) {
  host *h = arg;
  for (unsigned i = 0; i < MATCHERS; i++)
    expect(h, tsl_matcher_new(h->shared, NULL, &h->at[i]) == TSL_OK &&
                  tsl_matcher_new(h->own, NULL, &h->kept[i]) == TSL_OK);
  for (unsigned op = 0; op < OPERATIONS && !h->failures; op++) {
    unsigned i = below(h, MATCHERS);
    switch (below(h, 12)) {
    case 0: fork(h, i); break;
    case 1: roll_back(h, i); break;
    case 2: batch(h); break;
    case 3: drafts(h, i); break;
    case 4:
    case 5: prefetch(h, i); break;
    case 6:
      if (!below(h, 6)) restart(h, i);
      break;
    default: accept(h, i); break;
    }
  }
  for (unsigned i = 0; i < MATCHERS; i++) tsl_matcher_free(h->at[i]), tsl_matcher_free(h->kept[i]);
  return NULL;
}

static tsl_grammar *compile(uint64_t text_memory) {
  const tsl_limits limits = {.text_memory = text_memory};
  const tsl_schema_options any = {.order = TSL_ORDER_ANY};
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_json_schema(vocab, schema, sizeof schema - 1, &any, &limits, &g, NULL) ==
        TSL_OK);
  return g;
}

static void shared(void) {
  host hosts[THREADS] = {{0}};
  pthread_t threads[THREADS];
  tsl_grammar_stats stats;
  tsl_grammar *g = compile(64 << 10);
  for (unsigned i = 0; i < THREADS; i++) {
    hosts[i] = (host){.shared = g, .own = compile((uint64_t)1 << 40), .seed = 31 + i};
    hosts[i].mask = malloc((2 + 2 * (DRAFTS + 1)) * words * 4);
    hosts[i].other = hosts[i].mask + words;
    hosts[i].rows = hosts[i].other + words;
    CHECK(!pthread_create(&threads[i], NULL, serve, &hosts[i]));
  }
  for (unsigned i = 0; i < THREADS; i++) {
    CHECK(!pthread_join(threads[i], NULL));
    CHECKF(!hosts[i].failures, "thread %u: %lu", i, hosts[i].failures);
    tsl_grammar_release(hosts[i].own);
    free(hosts[i].mask);
  }
  tsl_grammar_get_stats(g, &stats);
  printf("    %u generations of tables\n", stats.generations);
  CHECKF(stats.generations > 2, "%u generations", stats.generations);
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  words = tsl_vocab_mask_words(vocab);
  width = tsl_vocab_logits_width(vocab);
  RUN(shared, "three threads on one grammar, whose tables go");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
