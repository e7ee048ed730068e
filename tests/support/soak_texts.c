/* soak_texts.c - a few grammars for a long time. There are random texts, and two tenants who would
 * use the grammars up. Memory must stay flat, and nobody else may get an error.
 *
 * Usage     soak_texts TOKENS [VOCABULARY]
 *           VOCABULARY is a tokenizer file; without one the embedded vocabulary is used. Four
 *           grammars of objects have POOL matchers each. Every token of theirs is drawn among those
 *           that the mask allows. At the end of a text, or after LENGTH tokens, another one begins.
 *           One tenant writes texts of members with names that no text had before. Another one
 *           writes a single text of such members, again and again, until it is refused. LINES lines
 *           print what was done, what the library holds, and the resident memory.
 * Fails     if a call of anybody but the last tenant fails, or if memory grows from the third part
 *           to the last line. The bound for what the library holds is a tenth and 8 MiB. The bound
 *           for the resident memory is a tenth and 16 MiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "turnstile.h"

#define LINES 30
#define POOL 50
#define LENGTH 200
#define ROUND 1000 /* tokens of the others, then the tenants have their turn */

static const char *const schemas[] = {
    "{}",
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"name\":"
    "{\"type\":\"string\"},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"meta\":{\"type\":\"object\"}}"
    "}",
    "{\"type\":\"object\",\"properties\":{\"price\":{\"type\":\"number\",\"minimum\":0},\"qty\":"
    "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000}}}",
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}",
};
#define SCHEMAS (sizeof schemas / sizeof *schemas)

/* Bytes that the library holds, by its hooks. */
static size_t held;
static void *count(void *ctx, void *block, size_t old_size, size_t new_size) {
  (void)ctx;
  if (new_size == 0) {
    free(block);
    held -= old_size;
    return NULL;
  }
  void *p = realloc(block, new_size);
  if (p) held += new_size - old_size;
  return p;
}

static uint64_t seed = 1;
static unsigned long texts, tokens, refused;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* KiB of the process in memory; 0 where the system does not say. */
static unsigned long resident(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%*s %lu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

/* The nth token of a mask. */
static tsl_token nth(const uint32_t *mask, size_t n) {
  size_t w = 0;
  for (size_t here; n >= (here = (size_t)__builtin_popcount(mask[w])); w++) n -= here;
  uint32_t word = mask[w];
  while (n--) word &= word - 1;
  return (tsl_token)(w * 32 + (size_t)__builtin_ctz(word));
}

/* One token of a random text; where it ends another one begins. */
static bool step(tsl_matcher *m, const tsl_vocab *v) {
  const uint32_t *mask;
  if (tsl_matcher_mask_borrow(m, &mask, NULL) != TSL_OK) return false;
  size_t n = tsl_mask_count(mask, tsl_vocab_size(v));
  tsl_token t = n ? nth(mask, (size_t)(tsl_test_random(&seed) % n)) : TSL_NO_TOKEN;
  if (!n || tsl_vocab_is_eog(v, t) || tsl_matcher_history(m) >= LENGTH)
    return texts++, tsl_matcher_reset(m), true;
  return tokens++, tsl_matcher_accept(m, t) == TSL_OK;
}

/* A tenant's text of members with new names. */
typedef struct tenant {
  tsl_grammar *grammar;
  tsl_matcher *m;
  unsigned long member, most; /* in this text; texts have at most so many */
} tenant;

static tsl_status write_member(tenant *t) {
  static unsigned long names;
  char b[64];
  if (t->m && t->member == t->most) tsl_matcher_free(t->m), t->m = NULL;
  if (!t->m) {
    texts++;
    t->member = 0;
    tsl_status made = tsl_matcher_new(t->grammar, NULL, &t->m);
    if (made == TSL_OK) made = tsl_matcher_accept_bytes(t->m, "{", 1, NULL);
    if (made != TSL_OK) return made;
  }
  int n = snprintf(b, sizeof b, "%s\"%lx\":1", t->member++ ? "," : "", names++);
  tsl_status status = TSL_OK;
  for (int j = 0; j < n && status == TSL_OK; j += 3, tokens++)
    status = tsl_matcher_accept_bytes(t->m, b + j, (size_t)(n - j < 3 ? n - j : 3), NULL);
  return status;
}

static void play_round(tsl_matcher *pool[SCHEMAS][POOL], tenant *many, tenant *one,
                       const tsl_vocab *v) {
  for (int i = 0; i < ROUND && !tsl_test_failed; i++)
    CHECK(step(pool[tsl_test_random(&seed) % SCHEMAS][tsl_test_random(&seed) % POOL], v));
  for (int i = 0; i < ROUND / 10 && !tsl_test_failed; i++) {
    CHECK(write_member(many) == TSL_OK);
    tsl_status status = write_member(one);
    CHECK(status == TSL_OK || status == TSL_ERR_LIMIT);
    if (status == TSL_OK) continue;
    refused++;
    tsl_matcher_free(one->m);
    one->m = NULL;
  }
}

static unsigned long generations(tsl_grammar *const grammar[SCHEMAS]) {
  unsigned long n = 0;
  for (size_t i = 0; i < SCHEMAS; i++) {
    tsl_grammar_stats stats;
    tsl_grammar_get_stats(grammar[i], &stats);
    n += stats.generations;
  }
  return n;
}

int main(int argc, char **argv) {
  static tsl_matcher *pool[SCHEMAS][POOL];
  const tsl_allocator hooks = {NULL, count};
  const tsl_limits limits = {.max_memory = (uint64_t)64 << 20};
  unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000, first = 0, last = 0;
  double start = seconds();
  size_t first_held = 0;
  tsl_vocab *v = NULL;
  tsl_grammar *g[SCHEMAS] = {0};
  tsl_error e = {0};
  CHECKF((argc > 2 ? tsl_vocab_load_file(argv[2], NULL, &hooks, &v, &e)
                   : tsl_vocab_embedded(&hooks, &v, &e)) == TSL_OK,
         "%s", e.message);
  for (size_t i = 0; i < SCHEMAS && v; i++) {
    CHECK(tsl_grammar_json_schema(v, schemas[i], strlen(schemas[i]), NULL, &limits, &g[i], &e) ==
          TSL_OK);
    for (int k = 0; k < POOL; k++) CHECK(tsl_matcher_new(g[i], NULL, &pool[i][k]) == TSL_OK);
  }
  tenant many = {.grammar = g[SCHEMAS - 1], .most = 2000},
         one = {.grammar = g[SCHEMAS - 1], .most = ULONG_MAX};
  for (unsigned long line = 1; line <= LINES && !tsl_test_failed; line++) {
    while (!tsl_test_failed && tokens < wanted / LINES * line) play_round(pool, &many, &one, v);
    tsl_matcher_free(one.m); /* what it holds is its own */
    one.m = NULL;
    last = resident();
    if (line == LINES / 3) first = last, first_held = held;
    printf("  %8.1f s %10lu texts %12lu tokens %8lu generations %8zu KiB held %8lu KiB resident\n",
           seconds() - start, texts, tokens, generations(g), held / 1024, last);
    fflush(stdout);
  }
  printf("  the text without end was refused %lu times\n", refused);
  CHECKF(held <= first_held + first_held / 10 + (8 << 20),
         "what the library holds grew from %zu to %zu bytes", first_held, held);
  CHECKF(last <= first + first / 10 + 16384, "memory grew from %lu to %lu KiB", first, last);
  tsl_matcher_free(many.m);
  tsl_matcher_free(one.m);
  for (size_t i = 0; i < SCHEMAS; i++) {
    for (int k = 0; k < POOL; k++) tsl_matcher_free(pool[i][k]);
    tsl_grammar_release(g[i]);
  }
  tsl_vocab_release(v);
  return tsl_test_end();
}
