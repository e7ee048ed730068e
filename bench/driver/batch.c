/* batch.c - see batch.h.
 *
 * Method    Matchers of four grammars stand at different places of a text. "first": each batch in
 *           fresh grammars, so that every position is a first visit; the least of FIRST_ROUNDS.
 *           "known": the same batch again, the median of --rounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/driver/clock.h"
#include "bench/driver/stats.h"
#include "turnstile.h"

enum { GRAMMARS = 4, FIRST_ROUNDS = 3, MOST = 1024 };

static const char *const schemas[GRAMMARS] = {
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":40},\"tags\":"
    "{\"type\":\"array\",\"items\":{\"type\":"
    "\"string\"}},\"n\":{\"type\":\"integer\"}}}",
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"tags\":{\"items\":{"
    "\"enum\":[\"red\",\"green\"]}}},"
    "\"additionalProperties\":{\"type\":\"number\"}}",
    "{\"type\":\"object\",\"required\":[\"name\"],\"additionalProperties\":{\"type\":[\"array\","
    "\"string\",\"integer\"]}}",
    "{\"type\":\"object\"}"};
static const char text[] =
    "{\"name\": \"a name of some length\", \"tags\": [\"red\", \"green\", \"red\"], \"n\": 123456}";

typedef struct setup {
  tsl_vocab *vocab;
  bench_clock clock;
  uint32_t *masks;
  tsl_grammar *grammars[GRAMMARS];
  tsl_matcher *matchers[MOST];
} setup;

static bool make_matchers(setup *s, size_t n) {
  for (size_t i = 0; i < GRAMMARS; i++)
    if (tsl_grammar_json_schema(s->vocab, schemas[i], strlen(schemas[i]), NULL, NULL,
                                &s->grammars[i], NULL))
      return false;
  for (size_t i = 0; i < n; i++) {
    if (tsl_matcher_new(s->grammars[i % GRAMMARS], NULL, &s->matchers[i])) return false;
    tsl_matcher_accept_bytes(s->matchers[i], text, i / GRAMMARS % (sizeof text - 1), NULL);
  }
  return true;
}

static void free_matchers(setup *s) {
  for (size_t i = 0; i < MOST; i++) tsl_matcher_free(s->matchers[i]);
  for (size_t i = 0; i < GRAMMARS; i++) tsl_grammar_release(s->grammars[i]);
  memset(s->matchers, 0, sizeof s->matchers);
  memset(s->grammars, 0, sizeof s->grammars);
}

/* One timed batch, in microseconds; negative if it failed. */
static double run_batch(setup *s, tsl_threads *threads, size_t n) {
  uint64_t from = bench_clock_now(&s->clock);
  tsl_status status =
      tsl_batch_mask(threads, s->matchers, n, s->masks, tsl_vocab_mask_words(s->vocab), NULL);
  double us = bench_clock_span(&s->clock, from, bench_clock_now(&s->clock)) / 1e3;
  return status == TSL_OK ? us : -1;
}

static bool measure(setup *s, tsl_threads *threads, size_t n, size_t rounds) {
  bench_samples first = {0}, known = {0};
  bool fine = true;
  for (int i = 0; i < FIRST_ROUNDS && fine; i++) {
    free_matchers(s);
    fine = make_matchers(s, n) && bench_samples_add(&first, run_batch(s, threads, n));
  }
  for (size_t i = 0; i < rounds && fine; i++)
    fine = bench_samples_add(&known, run_batch(s, threads, n));
  free_matchers(s);
  if (fine) {
    double least = first.at[0];
    for (size_t i = 1; i < first.n; i++)
      if (first.at[i] < least) least = first.at[i];
    printf("{\"axis\":\"batch\",\"matchers\":%zu,\"workers\":%u,\"first_us\":%.1f,\"known_us\":%."
           "2f}\n",
           n, threads ? tsl_threads_count(threads) : 0, least, bench_summarize(&known).p50);
    fflush(stdout);
    fine = least >= 0;
  }
  bench_samples_free(&first);
  bench_samples_free(&known);
  return fine;
}

/* Without workers, with one, two, four … up to one less than there are processors. */
static bool measure_all(setup *s, size_t rounds) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  for (long workers = 0; workers == 0 || workers < processors;
       workers = workers ? workers * 2 : 1) {
    tsl_threads *threads = NULL;
    if (workers &&
        tsl_threads_new(&(tsl_threads_options){.workers = (uint32_t)workers}, NULL, &threads))
      return false;
    bool fine = true;
    for (size_t n = 1; n <= MOST && fine; n *= 4) fine = measure(s, threads, n, rounds);
    tsl_threads_free(threads);
    if (!fine) return false;
  }
  return true;
}

static int complain(const char *why) {
  fprintf(stderr,
          "batch: %s\nusage: turnstile-bench batch --vocab F [--vocab-cache DIR] [--rounds N]\n",
          why);
  return 2;
}

int bench_batch(int argc, char **argv) {
  const char *path = NULL;
  tsl_vocab_options options = {0};
  size_t rounds = 200;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return complain("an option without a value");
    if (!strcmp(argv[i], "--vocab"))
      path = argv[i + 1];
    else if (!strcmp(argv[i], "--vocab-cache"))
      options.cache_dir = argv[i + 1];
    else if (!strcmp(argv[i], "--rounds"))
      rounds = strtoul(argv[i + 1], NULL, 10);
    else
      return complain("an option that there is not");
  }
  if (!path || rounds == 0) return complain("--vocab is needed, and --rounds of at least 1");
  static setup s; /* some 8 KB of pointers */
  tsl_error error;
  tsl_status status = strcmp(path, "embedded")
                          ? tsl_vocab_load_file(path, &options, NULL, &s.vocab, &error)
                          : tsl_vocab_embedded(NULL, &s.vocab, &error);
  if (status != TSL_OK) return fprintf(stderr, "batch: %s: %s\n", path, error.message), 1;
  bench_clock_init(&s.clock, false);
  s.masks = calloc(MOST * tsl_vocab_mask_words(s.vocab), sizeof *s.masks);
  bool fine = s.masks && measure_all(&s, rounds);
  free_matchers(&s);
  free(s.masks);
  tsl_vocab_release(s.vocab);
  return fine ? 0 : 1;
}
