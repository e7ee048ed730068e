/* test_threads.c - batches on threads, one grammar under many threads, background compiles,
 * deadlines. The cache of grammars: test_grammar_cache.c.
 *
 *   agree     every way to fill a batch gives the masks that single calls give
 *   no lock   masks and tokens seen before are given out while the grammar's lock is held by
 *             somebody else
 *   crowd     threads that follow different texts through one fresh grammar see the masks of a
 *             grammar of their own
 *   answers   threads read answers while other trees are compiled over the same tables
 *   background  results, cancelling, deadlines, the queue, freeing early
 *
 * ./dev test runs it plain, under ASan and UBSan, and under ThreadSanitizer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <time.h>

#include "runtime/matcher/grammar.h"
#include "runtime/core/threads.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/take.h"

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

static tsl_grammar *compile(const char *text) {
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_source source = schema_source(text, NULL);
  CHECKF(tsl_grammar_compile(vocab, &source, &g, &error) == TSL_OK, "%s", error.message);
  return g;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Take one allowed token, drawn at random; false at the end. */
static bool wander(tsl_matcher *m, uint32_t *mask, uint64_t *seed) {
  CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
  tsl_token t = draw(mask, words * 32, seed);
  return t != TSL_NO_TOKEN && tsl_matcher_accept(m, t) == TSL_OK && !tsl_matcher_is_terminated(m);
}

/* ROWS matchers of two grammars, at different places; every seventh row is empty. */
static void make_rows(tsl_grammar *const grammars[2], tsl_matcher *rows[ROWS]) {
  uint32_t *mask = malloc(words * 4);
  uint64_t seed = 7;
  for (size_t i = 0; i < ROWS; i++) {
    rows[i] = NULL;
    if (i % 7 == 3) continue;
    CHECK(tsl_matcher_new(grammars[i % 2], NULL, &rows[i]) == TSL_OK);
    for (size_t k = 0; k < i && wander(rows[i], mask, &seed); k++) {
    }
  }
  free(mask);
}

static void free_rows(tsl_matcher *rows[ROWS]) {
  for (size_t i = 0; i < ROWS; i++) tsl_matcher_free(rows[i]);
}

static void check_batch(tsl_threads *threads, tsl_matcher *rows[ROWS], size_t stride) {
  uint32_t *masks = malloc(ROWS * stride * 4), *one = malloc(words * 4);
  tsl_status statuses[ROWS];
  memset(masks, 0xA5, ROWS * stride * 4);
  memset(statuses, 0x5A, sizeof statuses);
  CHECK(tsl_batch_mask(threads, rows, ROWS, masks, stride, statuses) == TSL_OK);
  for (size_t i = 0; i < ROWS; i++) {
    const uint32_t *row = masks + i * stride;
    CHECK(statuses[i] == TSL_OK);
    if (!rows[i]) {
      CHECK(row[0] == 0xA5A5A5A5 && row[stride - 1] == 0xA5A5A5A5);
      continue;
    }
    CHECK(tsl_matcher_mask(rows[i], one) == TSL_OK);
    CHECKF(!memcmp(one, row, words * 4), "row %zu", i);
    for (size_t w = words; w < stride; w++) CHECK(row[w] == 0);
  }
  free(masks);
  free(one);
}

/* A host's "parallel for": two threads of its own, and from the last index to the first. */
typedef struct host_loop {
  void (*task)(void *arg, size_t i);
  void *arg;
  atomic_size_t left;
} host_loop;

static void *host_thread(void *p) {
  host_loop *l = p;
  for (size_t i; (i = atomic_load(&l->left)) > 0;)
    if (atomic_compare_exchange_strong(&l->left, &i, i - 1)) l->task(l->arg, i - 1);
  return NULL;
}

static void host_parallel(void *ctx, void (*task)(void *arg, size_t i), void *arg, size_t n) {
  host_loop l = {task, arg, n};
  pthread_t other;
  ++*(atomic_uint *)ctx;
  CHECK(pthread_create(&other, NULL, host_thread, &l) == 0);
  host_thread(&l);
  pthread_join(other, NULL);
}

static void agree(void) {
  atomic_uint calls = 0;
  tsl_threads *own = NULL, *host = NULL;
  CHECK(tsl_threads_new(&(tsl_threads_options){.workers = 3}, NULL, &own) == TSL_OK &&
        tsl_threads_count(own) == 3);
  CHECK(
      tsl_threads_new(&(tsl_threads_options){.parallel = host_parallel, .ctx = &calls, .width = 4},
                      NULL, &host) == TSL_OK);
  CHECK(tsl_threads_count(host) == 4);
  tsl_threads *ways[] = {NULL, own, host};
  for (size_t w = 0; w < 3; w++) { /* fresh grammars each time: rows are first visits, then known */
    tsl_grammar *grammars[2] = {compile(person),
                                compile("{\"pattern\":\"^[a-z]{3,9}(-[0-9]+)*$\"}")};
    tsl_matcher *rows[ROWS];
    make_rows(grammars, rows);
    check_batch(ways[w], rows, words);
    check_batch(ways[w], rows, words + 5);
    free_rows(rows);
    tsl_grammar_release(grammars[0]);
    tsl_grammar_release(grammars[1]);
  }
  CHECK(calls == 2);
  tsl_threads_free(own);
  tsl_threads_free(host);
}

static void edges(void) {
  tsl_threads *threads = NULL;
  tsl_grammar *g = compile(person);
  tsl_matcher *m = NULL;
  uint32_t *masks = calloc(words, 4);
  CHECK(tsl_threads_new(&(tsl_threads_options){.workers = TSL_MAX_WORKERS + 1}, NULL, &threads) ==
            TSL_ERR_ARGUMENT &&
        !threads);
  CHECK(tsl_threads_new(NULL, NULL, &threads) == TSL_OK && tsl_threads_count(threads) >= 1);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_grammar(m) == g);
  CHECK(tsl_batch_mask(threads, NULL, 0, NULL, 0, NULL) == TSL_OK);
  CHECK(tsl_batch_mask(threads, &m, 1, masks, words - 1, NULL) == TSL_ERR_ARGUMENT &&
        masks[0] == 0);
  CHECK(tsl_batch_mask(threads, &m, 1, masks, words, NULL) == TSL_OK &&
        tsl_mask_count(masks, words * 32) > 0);
  free(masks);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_threads_free(threads);
  tsl_threads_free(NULL);
}

/* The rows of one grammar are cancelled, the others are not. */
static void failing_rows(void) {
  tsl_grammar *cancelled = NULL, *fine = compile(person);
  int cancel = 0;
  tsl_limits limits = {.cancel = &cancel};
  tsl_source source = {.kind = TSL_SOURCE_REGEX,
                       .text = "((?:[a-q]x?|[b-r]yz?|[c-z ]+q|.e.r){2,9}x)+",
                       .length = 43,
                       .limits = &limits};
  CHECK(tsl_grammar_compile(vocab, &source, &cancelled, NULL) == TSL_OK);
  tsl_matcher *rows[9] = {0};
  tsl_status statuses[9];
  tsl_threads *threads = NULL;
  uint32_t *masks = calloc(9 * words, 4);
  for (size_t i = 0; i < 9; i++)
    CHECK(tsl_matcher_new(i % 4 == 1 ? cancelled : fine, NULL, &rows[i]) == TSL_OK);
  CHECK(tsl_threads_new(&(tsl_threads_options){.workers = 2}, NULL, &threads) == TSL_OK);
  cancel = 1;
  CHECK(tsl_batch_mask(threads, rows, 9, masks, words, statuses) == TSL_ERR_CANCELLED);
  for (size_t i = 0; i < 9; i++) CHECK(statuses[i] == (i % 4 == 1 ? TSL_ERR_CANCELLED : TSL_OK));
  CHECK(tsl_batch_mask(threads, rows, 9, masks, words, NULL) == TSL_ERR_CANCELLED);
  cancel = 0;
  CHECK(tsl_batch_mask(threads, rows, 9, masks, words, statuses) == TSL_OK);
  for (size_t i = 0; i < 9; i++) tsl_matcher_free(rows[i]);
  free(masks);
  tsl_threads_free(threads);
  tsl_grammar_release(cancelled);
  tsl_grammar_release(fine);
}

/* If a mask or token seen before took the lock, this test would not end. */
static void no_lock(void) {
  tsl_grammar *g = compile(person);
  tsl_matcher *m = NULL, *rows[ROWS];
  tsl_threads *threads = NULL;
  tsl_token tokens[64];
  size_t n = 0;
  uint32_t *masks = malloc(ROWS * words * 4);
  uint64_t seed = 3;
  CHECK(tsl_vocab_encode(vocab, "{\"name\": \"Ada\", \"age\": 36}", 26, 0, tokens, 64, &n) ==
        TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  make_rows((tsl_grammar *const[2]){g, g}, rows);
  CHECK(tsl_batch_mask(NULL, rows, ROWS, masks, words, NULL) == TSL_OK);
  for (size_t i = 0; i < n; i++)
    CHECK(tsl_matcher_mask(m, masks) == TSL_OK && tsl_matcher_accept(m, tokens[i]) == TSL_OK);
  CHECK(tsl_threads_new(&(tsl_threads_options){.workers = 2}, NULL, &threads) == TSL_OK);
  tsl_matcher_reset(m);
  tsl__mutex_lock(g->lock);
  CHECK(tsl_batch_mask(threads, rows, ROWS, masks, words, NULL) == TSL_OK);
  for (size_t i = 0; i < n; i++)
    CHECK(tsl_matcher_mask(m, masks) == TSL_OK && tsl_matcher_accept(m, tokens[i]) == TSL_OK);
  tsl__mutex_unlock(g->lock);
  CHECK(tsl_matcher_is_complete(m) && tsl_test_random(&seed));
  tsl_threads_free(threads);
  free_rows(rows);
  tsl_matcher_free(m);
  free(masks);
  tsl_grammar_release(g);
}

/* ---- a crowd on one grammar ------------------------------------------------------------------ */

typedef struct member {
  pthread_t thread;
  tsl_grammar *shared;
  uint64_t seed;
  unsigned long steps, differ;
} member;

/* Follow random texts in the shared grammar and in one of one's own. */
static void *follow(void *arg) {
  member *me = arg;
  tsl_grammar *own = NULL;
  tsl_matcher *a = NULL, *b = NULL;
  tsl_source source = schema_source(person, NULL);
  uint32_t *mine = malloc(words * 4), *theirs = malloc(words * 4);
  if (tsl_grammar_compile(vocab, &source, &own, NULL) || tsl_matcher_new(own, NULL, &a) ||
      tsl_matcher_new(me->shared, NULL, &b)) {
    me->differ = 1000;
  } else {
    for (int text = 0; text < 12; text++) {
      tsl_matcher_reset(a);
      tsl_matcher_reset(b);
      for (int i = 0; i < 60; i++) {
        tsl_status status = tsl_matcher_mask(a, mine);
        if (status != tsl_matcher_mask(b, theirs) || status != TSL_OK ||
            memcmp(mine, theirs, words * 4))
          me->differ++;
        tsl_token t = draw(mine, words * 32, &me->seed);
        if (t == TSL_NO_TOKEN) break;
        if (tsl_matcher_accept(a, t) || tsl_matcher_accept(b, t)) me->differ++;
        me->steps++;
      }
    }
  }
  tsl_matcher_free(a);
  tsl_matcher_free(b);
  tsl_grammar_release(own);
  free(mine);
  free(theirs);
  return NULL;
}

static void crowd(void) {
  member members[CROWD];
  tsl_grammar *shared = compile(person);
  unsigned long steps = 0;
  for (size_t i = 0; i < CROWD; i++) {
    members[i] = (member){.shared = shared, .seed = i / 2 + 1}; /* pairs go the same way at once */
    CHECK(pthread_create(&members[i].thread, NULL, follow, &members[i]) == 0);
  }
  for (size_t i = 0; i < CROWD; i++) {
    pthread_join(members[i].thread, NULL);
    CHECKF(members[i].differ == 0, "thread %zu: %lu differences", i, members[i].differ);
    steps += members[i].steps;
  }
  CHECKF(steps > CROWD * 100, "%lu steps", steps);
  tsl_grammar_release(shared);
}

/* ---- deadlines and background compiles ------------------------------------------------------- */

typedef struct waiter {
  tsl_matcher *matcher;
  tsl_status status;
} waiter;

#define READERS 2u

typedef struct reading {
  tsl_grammar *g;
  _Atomic(bool) stop;
} reading;

static void *read_answers(void *arg) {
  static const char answer[] = "<0>ab</t>";
  reading *r = arg;
  for (int n = 0; n < 20 || !r->stop; n++) {
    tsl_parser *p = NULL;
    CHECK(tsl_parser_new(r->g, NULL, &p) == TSL_OK);
    for (const char *c = answer; *c; c++) CHECK(tsl_parser_text(p, c, 1) == TSL_OK);
    CHECK(tsl_parser_finish(p) == TSL_OK && strstr(tsl_parser_json(p), "\"ab\""));
    tsl_parser_free(p);
  }
  return NULL;
}

/* Few trees each time: what all trees keep together grows most at first. */
static void answers(void) {
  static const char tree[] =
      "{\"type\":\"structural_tag\",\"format\":{\"type\":\"tag\",\"begin\":\"<%d>\",\"content\":"
      "{\"type\":\"regex\",\"pattern\":\"[ab]*\"},\"end\":\"</t>\"}}";
  char text[sizeof tree + 10];
  for (int round = 0; round < 15; round++) {
    reading r = {.g = NULL};
    pthread_t thread[READERS];
    snprintf(text, sizeof text, tree, 0);
    CHECK(tsl_grammar_tags(vocab, text, strlen(text), NULL, NULL, &r.g, NULL) == TSL_OK);
    for (unsigned i = 0; i < READERS; i++)
      CHECK(!pthread_create(&thread[i], NULL, read_answers, &r));
    for (int n = 1; n < 40; n++) {
      tsl_grammar *g = NULL;
      snprintf(text, sizeof text, tree, n);
      CHECK(tsl_grammar_tags_over(r.g, text, strlen(text), NULL, NULL, &g, NULL) == TSL_OK);
      tsl_grammar_release(g);
    }
    r.stop = true;
    for (unsigned i = 0; i < READERS; i++) pthread_join(thread[i], NULL);
    tsl_grammar_release(r.g);
  }
}

static void *ask_mask(void *arg) {
  waiter *w = arg;
  uint32_t *mask = malloc(words * 4);
  w->status = tsl_matcher_mask(w->matcher, mask);
  free(mask);
  return NULL;
}

/* Waiting for another's first visit is part of a call's time: a costly mask gives up at once when
 * the lock comes too late. */
static void waits_count(void) {
  /* takes seconds */
  static const char costly[] = "(?=.*a.{20})(?=.*b.{20})(?=.*c.{20})(?=.*d.{20})(?=.*e.{20}).*";
  tsl_limits limits = {.max_steps = UINT64_MAX, .deadline_us = 400000};
  tsl_source source = {
      .kind = TSL_SOURCE_REGEX, .text = costly, .length = sizeof costly - 1, .limits = &limits};
  tsl_grammar *g = NULL;
  waiter w = {0};
  pthread_t thread;
  CHECK(tsl_grammar_compile(vocab, &source, &g, NULL) == TSL_OK &&
        tsl_matcher_new(g, NULL, &w.matcher) == TSL_OK);
  tsl__mutex_lock(g->lock);
  CHECK(pthread_create(&thread, NULL, ask_mask, &w) == 0);
  nanosleep(&(struct timespec){0, 500000000}, NULL);
  uint64_t start = tsl__now_us();
  tsl__mutex_unlock(g->lock);
  pthread_join(thread, NULL);
  CHECKF(w.status == TSL_ERR_CANCELLED && tsl__now_us() - start < 300000, "%s after %" PRIu64 " us",
         tsl_status_name(w.status), tsl__now_us() - start);
  tsl_matcher_free(w.matcher);
  tsl_grammar_release(g);
}

static void deadlines(void) {
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_limits limits = {.max_steps = UINT64_MAX, .max_memory = UINT64_MAX, .deadline_us = 5000};
  tsl_source source = schema_source(slow, &limits);
  uint64_t start = tsl__now_us();
  CHECK(tsl_grammar_compile(vocab, &source, &g, &error) == TSL_ERR_CANCELLED && !g);
  uint64_t took = tsl__now_us() - start;
  CHECKF(took >= 5000 && took < 2000000, "%" PRIu64 " us", took);
  CHECKF(strstr(error.message, "deadline_us"), "%s", error.message);
  /* A deadline is for each piece of work, not for the grammar's life. */
  limits.deadline_us = 200000;
  source = schema_source(person, &limits);
  CHECK(tsl_grammar_compile(vocab, &source, &g, &error) == TSL_OK);
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(words * 4);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(g->space->work.deadline_us == 200000);
  struct timespec nap = {0, 250000000};
  nanosleep(&nap, NULL);
  CHECK(tsl_matcher_mask(m, mask) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "{\"", 2, NULL) == TSL_OK);
  free(mask);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  waits_count();
  CHECK(tsl__deadline(0) == 0 && tsl__deadline(UINT64_MAX) == UINT64_MAX && !tsl__expired(0) &&
        tsl__expired(1));
}

static void background_results(tsl_threads *threads, tsl_cache *cache) {
  tsl_compile *c = NULL, *bad = NULL;
  tsl_grammar *g = NULL, *again = NULL;
  tsl_error error = {0};
  char text[sizeof person];
  memcpy(text, person, sizeof person);
  tsl_source source = schema_source(text, NULL), broken = schema_source("{\"type\":3}", NULL);
  tsl_schema_options options = {.base_uri = "http://x/y"};
  source.schema = &options;
  CHECK(tsl_compile_start(threads, cache, vocab, &source, &c, &error) == TSL_OK);
  memset(text, 'x', sizeof text); /* it has a copy */
  options = (tsl_schema_options){.draft = (tsl_draft)77};
  CHECK(tsl_compile_start(threads, cache, vocab, &broken, &bad, &error) == TSL_OK);
  CHECKF(tsl_compile_wait(c, LONG, &g, &error) == TSL_OK, "%s", error.message);
  CHECK(tsl_compile_is_done(c) && tsl_compile_wait(c, 0, &again, NULL) == TSL_OK && again == g);
  CHECK(tsl_compile_wait(bad, UINT64_MAX, &again, &error) == TSL_ERR_SCHEMA && !again &&
        !strcmp(error.pointer, "/type"));
  tsl_compile_free(c);
  tsl_compile_free(bad);
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, "{\"age\":", 7, NULL) == TSL_OK);
  CHECK(g->space->work.cancel == NULL);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_grammar_release(g);
}

static void background_ends(tsl_threads *threads) {
  tsl_compile *c = NULL, *queued = NULL;
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_limits limits = {.max_steps = UINT64_MAX, .max_memory = UINT64_MAX};
  tsl_source source = schema_source(slow, &limits);
  CHECK(tsl_compile_start(threads, NULL, vocab, &source, &c, &error) == TSL_OK);
  CHECK(tsl_compile_wait(c, 2000, &g, &error) == TSL_ERR_STATE && !g && !tsl_compile_is_done(c));
  limits.deadline_us = 3000; /* passes in the queue, where there is one worker */
  CHECK(tsl_compile_start(threads, NULL, vocab, &source, &queued, &error) == TSL_OK);
  struct timespec nap = {0, 20000000};
  nanosleep(&nap, NULL);
  uint64_t start = tsl__now_us();
  tsl_compile_cancel(c);
  CHECK(tsl_compile_wait(c, LONG, &g, &error) == TSL_ERR_CANCELLED && !g &&
        !strcmp(error.message, "cancelled"));
  CHECKF(tsl__now_us() - start < 2000000, "%" PRIu64 " us", tsl__now_us() - start);
  CHECK(tsl_compile_wait(queued, LONG, &g, &error) == TSL_ERR_CANCELLED);
  CHECKF(strstr(error.message, "deadline_us") != NULL, "%s", error.message);
  tsl_compile_free(c);
  tsl_compile_free(queued);
  limits.deadline_us = 0;
  CHECK(tsl_compile_start(threads, NULL, vocab, &source, &c, &error) == TSL_OK);
  tsl_compile_free(c); /* under way: cancelled */
  int flag = 0;
  limits.cancel = &flag;
  CHECK(tsl_compile_start(threads, NULL, vocab, &source, &c, &error) == TSL_ERR_ARGUMENT && !c);
  tsl_compile_free(NULL);
}

/* What waits behind a long compile ends when it is cancelled, freed, or out of time: not when a
 * worker comes to it. */
static void background_queue(tsl_threads *one) {
  tsl_compile *c = NULL, *queued[4] = {0};
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_limits limits = {.max_steps = UINT64_MAX, .max_memory = UINT64_MAX},
             hurried = {.deadline_us = 3000};
  tsl_source source = schema_source(slow, &limits), quick = schema_source(person, NULL),
             late = schema_source(person, &hurried);
  CHECK(tsl_compile_start(one, NULL, vocab, &source, &c, &error) == TSL_OK);
  CHECK(tsl_compile_wait(c, 2000, &g, &error) == TSL_ERR_STATE);
  for (size_t i = 0; i < 4; i++)
    CHECK(tsl_compile_start(one, NULL, vocab, i & 1 ? &late : &quick, &queued[i], &error) ==
          TSL_OK);
  /* from the middle */
  CHECK(tsl_compile_wait(queued[1], LONG, &g, &error) == TSL_ERR_CANCELLED &&
        strstr(error.message, "deadline_us"));
  uint64_t start = tsl__now_us();
  /* from the end, by who asks */
  while (!tsl_compile_is_done(queued[3]) && tsl__now_us() - start < LONG) continue;
  CHECK(tsl_compile_wait(queued[3], 0, &g, &error) == TSL_ERR_CANCELLED);
  tsl_compile_cancel(queued[0]); /* from the beginning */
  CHECK(tsl_compile_is_done(queued[0]) &&
        tsl_compile_wait(queued[0], UINT64_MAX, &g, &error) == TSL_ERR_CANCELLED &&
        !strcmp(error.message, "cancelled"));
  CHECK(!tsl_compile_is_done(queued[2]) && !tsl_compile_is_done(c));
  tsl_compile_free(queued[0]);
  tsl_compile_free(queued[2]); /* the last one */
  CHECK(!tsl_compile_is_done(c));
  /* the queue is sound */
  CHECK(tsl_compile_start(one, NULL, vocab, &quick, &queued[0], &error) == TSL_OK);
  tsl_compile_cancel(c);
  CHECK(tsl_compile_wait(c, UINT64_MAX, &g, &error) == TSL_ERR_CANCELLED);
  CHECK(tsl_compile_wait(queued[0], LONG, &g, &error) == TSL_OK);
  tsl_grammar_release(g);
  tsl_compile_free(queued[0]);
  tsl_compile_free(queued[1]);
  tsl_compile_free(queued[3]);
  tsl_compile_free(c);
}

static void background(void) {
  tsl_threads *one = NULL, *host = NULL;
  tsl_cache *cache = NULL;
  atomic_uint calls = 0;
  CHECK(tsl_threads_new(&(tsl_threads_options){.workers = 1}, NULL, &one) == TSL_OK);
  CHECK(tsl_threads_new(&(tsl_threads_options){.parallel = host_parallel, .ctx = &calls}, NULL,
                        &host) == TSL_OK);
  CHECK(tsl_cache_new(1u << 28, NULL, &cache) == TSL_OK);
  background_results(one, cache);
  background_results(NULL, cache);
  background_results(host, NULL);
  background_ends(one);
  background_ends(NULL);
  background_queue(one);
  /* A batch goes on while the only worker compiles, and a queue is worked off before the threads
   * end. */
  tsl_compile *c = NULL, *last = NULL;
  tsl_error error;
  tsl_limits limits = {.max_steps = UINT64_MAX, .max_memory = UINT64_MAX, .deadline_us = 30000};
  tsl_source source = schema_source(slow, &limits), quick = schema_source(person, NULL);
  CHECK(tsl_compile_start(one, NULL, vocab, &source, &c, &error) == TSL_OK &&
        tsl_compile_start(one, NULL, vocab, &quick, &last, &error) == TSL_OK);
  tsl_grammar *g = compile(person);
  tsl_matcher *rows[ROWS];
  make_rows((tsl_grammar *const[2]){g, g}, rows);
  check_batch(one, rows, words);
  free_rows(rows);
  tsl_grammar_release(g);
  tsl_threads_free(one);
  CHECK(tsl_compile_is_done(c) && tsl_compile_is_done(last));
  CHECK(tsl_compile_wait(last, 0, &g, &error) == TSL_OK);
  tsl_grammar_release(g);
  tsl_compile_free(c);
  tsl_compile_free(last);
  tsl_threads_free(host);
  tsl_cache_free(cache);
}

int main(void) {
  tsl_error error;
  if (tsl_vocab_embedded(NULL, &vocab, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  words = tsl_vocab_mask_words(vocab);
  RUN(agree, "batches give the masks of single calls");
  RUN(edges, "arguments of batches and threads");
  RUN(failing_rows, "a row that fails stops no other");
  RUN(no_lock, "what was seen before takes no lock");
  RUN(crowd, "one grammar, many threads");
  RUN(answers, "answers are read while others compile over the tables");
  RUN(deadlines, "work ends in time");
  RUN(background, "compiles on other threads");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
