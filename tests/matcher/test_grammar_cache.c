/* test_grammar_cache.c - the cache of grammars (tsl_cache), alone and under many threads.
 *
 *   keys     what counts as the same grammar
 *   bound    bytes, counters, and which grammars are dropped first
 *   crowd    threads that want the same grammar: one compiles, the others wait for it
 *   waiting  a thread waits no longer than its own limits say
 *   memory   every allocation in turn fails; nothing leaks (run under ASan) and the objects stay
 *            usable
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <time.h>

#include "runtime/matcher/grammar.h"
#include "runtime/core/threads.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"

#define ROWS 37u
#define CROWD 6u
#define LONG 3600000000u /* an hour in µs: "as long as it takes", but a test must end */

static tsl_vocab *vocab;
static size_t words;

static const char person[] = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
                             "\"maxLength\":20},\"age\":{\"type\":\"integer\",\"minimum\":0,"
                             "\"maximum\":150},"
                             "\"tags\":{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"green\","
                             "\"blue\",12.5,null]}},\"when\":{\"format\":\"date-time\"}},"
                             "\"required\":[\"age\"]}";
/* Its search for a shortest text takes some ten million steps. */
static const char slow[] = "{\"type\":\"string\",\"allOf\":[{\"pattern\":\"^(a{211})*a$\"},{"
                           "\"pattern\":\"^(a{223})*aa$\"},{\"pattern\":\"^(a{227})*aaa$\"}]}";

static tsl_source schema_source(const char *text, const tsl_limits *limits) {
  return (tsl_source){
      .kind = TSL_SOURCE_JSON_SCHEMA, .text = text, .length = strlen(text), .limits = limits};
}

/* ---- cache ----------------------------------------------------------------------------------- */

static bool no_document(void *ctx, const char *uri, const char **text, size_t *length) {
  (void)ctx, (void)uri, (void)text, (void)length;
  return false;
}

static tsl_grammar *get(tsl_cache *cache, const tsl_source *source) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_cache_get(cache, vocab, source, &g, &error) == TSL_OK, "%s", error.message);
  tsl_grammar_release(g); /* the cache holds it */
  return g;
}

static void cache_keys(void) {
  tsl_cache *cache = NULL;
  tsl_cache_stats s;
  CHECK(tsl_cache_new(0, NULL, &cache) == TSL_ERR_ARGUMENT && !cache);
  CHECK(tsl_cache_new(1u << 30, NULL, &cache) == TSL_OK);
  tsl_schema_options plain = {0}, any = {.order = TSL_ORDER_ANY}, based = {.base_uri = "http://x/"},
                     resolving = {.resolver = no_document};
  tsl_limits deep = {.max_depth = 99}, impatient = {.deadline_us = LONG};
  tsl_regex_options caseless = {.case_insensitive = true};
  /* Each stands for another grammar. */
  const tsl_source different[] = {
      {.text = "{\"enum\":[1]}", .length = 12},
      {.text = "{\"enum\":[2]}", .length = 12},
      {.text = "{\"enum\":[1]}", .length = 12, .schema = &any},
      {.text = "{\"enum\":[1]}", .length = 12, .schema = &based},
      {.text = "{\"enum\":[1]}", .length = 12, .limits = &deep},
      {.kind = TSL_SOURCE_REGEX, .text = "ab", .length = 2},
      {.kind = TSL_SOURCE_REGEX, .text = "abc", .length = 3},
      {.kind = TSL_SOURCE_REGEX, .text = "ab", .length = 2, .regex = &caseless},
      {.kind = TSL_SOURCE_GBNF, .text = "root ::= \"ab\"\n", .length = 14},
      {.kind = TSL_SOURCE_GBNF, .text = "root ::= \"a\"\na ::= \"b\"\n", .length = 22, .root = "a"},
      {.kind = TSL_SOURCE_GBNF, .text = "root ::= \"a\"\na ::= \"b\"\n", .length = 22}};
  enum { N = sizeof different / sizeof *different };
  tsl_grammar *first[N];
  for (size_t i = 0; i < N; i++) {
    tsl_source source = different[i];
    first[i] = get(cache, &source);
    for (size_t k = 0; k < i; k++)
      CHECKF(first[i] != first[k], "%zu and %zu are one grammar", i, k);
    CHECK(get(cache, &source) == first[i]);
  }
  /* What says the same in another way. */
  CHECK(get(cache, &(tsl_source){.text = "{\"enum\":[1]} and more",
                                 .length = 12,
                                 .schema = &plain,
                                 .limits = &impatient}) == first[0]);
  tsl_cache_get_stats(cache, &s);
  CHECK(s.hits == N + 1 && s.misses == N && s.entries == N && s.waits == 0 && s.evictions == 0 &&
        s.bypasses == 0 && s.bytes > 1000 && s.max_bytes == 1u << 30);
  /* A resolver: compiled each time, not kept. A failure: not kept. */
  tsl_grammar *g = NULL, *h = NULL;
  tsl_source with = {.text = "{\"enum\":[1]}", .length = 12, .schema = &resolving};
  CHECK(tsl_cache_get(cache, vocab, &with, &g, NULL) == TSL_OK &&
        tsl_cache_get(cache, vocab, &with, &h, NULL) == TSL_OK && g != h);
  tsl_grammar_release(g);
  tsl_grammar_release(h);
  tsl_error error;
  for (int i = 0; i < 2; i++)
    CHECK(tsl_cache_get(cache, vocab, &(tsl_source){.text = "{\"type\":3}", .length = 10}, &g,
                        &error) == TSL_ERR_SCHEMA &&
          !g);
  CHECK(!strcmp(error.pointer, "/type"));
  CHECK(tsl_cache_get(cache, NULL, &with, &g, &error) == TSL_ERR_ARGUMENT);
  CHECK(tsl_cache_get(cache, vocab,
                      &(tsl_source){.kind = (tsl_source_kind)9, .text = "", .length = 0}, &g,
                      &error) == TSL_ERR_ARGUMENT);
  tsl_cache_get_stats(cache, &s);
  CHECK(s.misses == N + 3 && s.entries == N && s.bypasses == 2);
  tsl_cache_clear(cache);
  tsl_cache_get_stats(cache, &s);
  CHECKF(s.entries == 0 && s.bytes == 0, "%" PRIu64 " bytes", s.bytes);
  tsl_cache_free(cache);
  tsl_cache_free(NULL);
}

static tsl_source number_source(char text[64], int i) {
  snprintf(text, 64, "{\"const\":%d}", i);
  return (tsl_source){.text = text, .length = strlen(text)};
}

static void cache_bound(void) {
  tsl_cache *cache = NULL;
  tsl_cache_stats s;
  char text[64];
  tsl_source source = number_source(text, 0);
  CHECK(tsl_cache_new(1u << 30, NULL, &cache) == TSL_OK);
  get(cache, &source);
  tsl_cache_get_stats(cache, &s);
  uint64_t one = s.bytes;
  tsl_cache_free(cache);

  for (uint64_t less = 0; less < 2; less++) { /* a bound that is just met, and one byte less */
    CHECK(tsl_cache_new(one - less, NULL, &cache) == TSL_OK);
    get(cache, &source);
    tsl_cache_get_stats(cache, &s);
    CHECKF(s.entries == 1 - less && s.evictions == less, "%" PRIu64 " entries in %" PRIu64 " bytes",
           s.entries, one - less);
    tsl_cache_free(cache);
  }

  CHECK(tsl_cache_new(one * 4 + one / 2, NULL, &cache) == TSL_OK); /* room for four */
  tsl_grammar *held = NULL;
  source = number_source(text, 0);
  CHECK(tsl_cache_get(cache, vocab, &source, &held, NULL) == TSL_OK);
  for (int i = 1; i < 20; i++) {
    source = number_source(text, i);
    get(cache, &source);
    source = number_source(text, 0); /* always used again: never the oldest */
    CHECK(get(cache, &source) == held);
    tsl_cache_get_stats(cache, &s);
    CHECKF(s.bytes <= s.max_bytes, "%" PRIu64 " of %" PRIu64, s.bytes, s.max_bytes);
  }
  CHECKF(s.entries == 4 && s.evictions == 16, "%" PRIu64 " entries, %" PRIu64 " evictions",
         s.entries, s.evictions);
  /* A grammar that grew is seen when it is given out next, and may push others out, itself too. */
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(held, NULL, &m) == TSL_OK);
  tsl__arena_alloc(&held->space->arena, (size_t)one * 5);
  source = number_source(text, 0);
  CHECK(get(cache, &source) == held);
  tsl_cache_get_stats(cache, &s);
  CHECKF(s.entries == 0 && s.bytes == 0, "%" PRIu64 " entries", s.entries);
  tsl_cache_free(cache);
  tsl_matcher_free(m);
  tsl_grammar_release(held); /* outlived the cache */
}

typedef struct asker {
  pthread_t thread;
  tsl_cache *cache;
  tsl_limits limits;
  const char *text;
  tsl_status status;
  tsl_grammar *grammar;
} asker;

static void *ask(void *arg) {
  asker *me = arg;
  tsl_source source = schema_source(me->text, &me->limits);
  me->status = tsl_cache_get(me->cache, vocab, &source, &me->grammar, NULL);
  return NULL;
}

static void cache_crowd(void) {
  asker askers[CROWD];
  tsl_cache *cache = NULL;
  tsl_cache_stats s;
  CHECK(tsl_cache_new(1u << 28, NULL, &cache) == TSL_OK);
  for (size_t i = 0; i < CROWD; i++) {
    askers[i] = (asker){.cache = cache, .text = person};
    CHECK(pthread_create(&askers[i].thread, NULL, ask, &askers[i]) == 0);
  }
  for (size_t i = 0; i < CROWD; i++) {
    pthread_join(askers[i].thread, NULL);
    CHECK(askers[i].status == TSL_OK && askers[i].grammar == askers[0].grammar);
    tsl_grammar_release(askers[i].grammar);
  }
  tsl_cache_get_stats(cache, &s);
  CHECK(s.misses == 1 && s.hits == CROWD - 1 && s.waits <= s.hits);
  tsl_cache_free(cache);
}

/* A compile that takes long: those who wait for it go by their own deadlines, and when it is
 * cancelled another one takes over. */
static void cache_waiting(void) {
  tsl_cache *cache = NULL;
  tsl_cache_stats s;
  int cancel = 0;
  CHECK(tsl_cache_new(1u << 28, NULL, &cache) == TSL_OK);
  tsl_limits long_limits = {.max_steps = UINT64_MAX, .max_memory = UINT64_MAX};
  asker first = {.cache = cache, .text = slow, .limits = long_limits}, second = first;
  first.limits.cancel = &cancel;
  second.limits.deadline_us = 20000;
  CHECK(pthread_create(&first.thread, NULL, ask, &first) == 0);
  do tsl_cache_get_stats(cache, &s);
  while (s.misses == 0);
  CHECK(pthread_create(&second.thread, NULL, ask, &second) == 0);
  pthread_join(second.thread, NULL);
  CHECK(second.status == TSL_ERR_CANCELLED);
  tsl_cache_get_stats(cache, &s);
  CHECKF(s.entries == 1 && s.misses == 1, "%" PRIu64 " entries: the first is under way", s.entries);
  second.limits.cancel = &cancel;
  second.limits.deadline_us = LONG;
  CHECK(pthread_create(&second.thread, NULL, ask, &second) == 0);
  __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
  pthread_join(first.thread, NULL);
  pthread_join(second.thread, NULL);
  CHECK(first.status == TSL_ERR_CANCELLED && second.status == TSL_ERR_CANCELLED && !first.grammar &&
        !second.grammar);
  tsl_cache_get_stats(cache, &s);
  CHECK(s.entries == 0 && s.bytes == 0 && s.hits == 0);
  tsl_cache_free(cache);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void memory(void) {
  failing f = {-1, 0};
  tsl_allocator a = failing_allocator(&f);
  bool whole = false;
  int tries = 0;
  for (long n = 0; !whole && n < 100; n++, tries++) {
    tsl_cache *cache = NULL;
    tsl_threads *threads = NULL;
    f.left = n;
    whole = tsl_threads_new(&(tsl_threads_options){.workers = 1}, &a, &threads) == TSL_OK &&
            tsl_cache_new(1u << 20, &a, &cache) == TSL_OK;
    for (int i = 0; cache && i < 80; i++) { /* the table grows once */
      char text[64];
      tsl_grammar *g = NULL;
      tsl_error error;
      tsl_source source = number_source(text, i);
      tsl_status status = tsl_cache_get(cache, vocab, &source, &g, &error);
      CHECK(status == TSL_OK ? g != NULL
                             : status == TSL_ERR_NO_MEMORY && !g && error.status == status);
      whole = whole && status == TSL_OK;
      tsl_grammar_release(g);
    }
    whole = whole && f.left >= 0;
    tsl_cache_free(cache);
    tsl_threads_free(threads);
    CHECKF(f.held == 0, "%ld bytes are left after allocation %ld failed", f.held, n);
  }
  CHECKF(tries > 5, "%d allocations", tries);
}

int main(void) {
  tsl_error error;
  if (tsl_vocab_embedded(NULL, &vocab, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  words = tsl_vocab_mask_words(vocab);
  RUN(cache_keys, "what is the same grammar");
  RUN(cache_bound, "bytes and the least recently used");
  RUN(cache_crowd, "one compile for all who ask");
  RUN(cache_waiting, "waiting ends with one's own patience");
  RUN(memory, "allocations fail one after the other");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
