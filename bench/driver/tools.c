/* tools.c - see tools.h.
 *
 * Method    A run is tsl_grammar_tools, tsl_matcher_new and tsl_matcher_mask. The time is from the
 *           text of the request to the mask, which has one bit for each token. Then all is
 *           released. "first" is the first run of the process: there the vocabulary learns what it
 *           keeps for all grammars. "over" compiles the second request over the tables of a grammar
 *           of the first one (tsl_tools_options.over), made anew, and not timed, before each run.
 * Output    a JSON object a line: what, the least and the median of the runs, in microseconds
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/driver/clock.h"
#include "bench/driver/stats.h"
#include "turnstile.h"

typedef struct text {
  char *at;
  size_t length;
} text;

typedef struct setup {
  tsl_vocab *vocab;
  bench_clock clock;
  text request, other;
  uint32_t *mask;
  size_t runs;
} setup;

static bool read_file(const char *path, text *out) {
  FILE *f = fopen(path, "rb");
  long size = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
  out->at = size >= 0 && !fseek(f, 0, SEEK_SET) ? malloc((size_t)size + 1) : NULL;
  out->length = out->at ? fread(out->at, 1, (size_t)size, f) : 0;
  if (f) fclose(f);
  if (!out->at) fprintf(stderr, "cannot read %s\n", path);
  return out->at != NULL;
}

/* One run: microseconds to the grammar and to the mask. */
static bool run(setup *s, const text *request, const char *preset, tsl_grammar *over,
                double *compiled, double *masked) {
  tsl_tools_options options = {.preset = preset, .over = over};
  tsl_grammar *grammar = NULL;
  tsl_matcher *matcher = NULL;
  tsl_error error;
  uint64_t from = bench_clock_now(&s->clock);
  if (tsl_grammar_tools(s->vocab, request->at, request->length, &options, NULL, &grammar, &error) !=
      TSL_OK)
    return fprintf(stderr, "%s: %s\n", preset, error.message), false;
  uint64_t middle = bench_clock_now(&s->clock);
  bool ok = tsl_matcher_new(grammar, NULL, &matcher) == TSL_OK &&
            tsl_matcher_mask(matcher, s->mask) == TSL_OK;
  uint64_t to = bench_clock_now(&s->clock);
  *compiled = bench_clock_span(&s->clock, from, middle) / 1000;
  *masked = bench_clock_span(&s->clock, from, to) / 1000;
  tsl_matcher_free(matcher);
  tsl_grammar_release(grammar);
  return ok;
}

/* The grammar that the next one is compiled over. */
static bool make_over(setup *s, const char *preset, tsl_grammar **out) {
  tsl_tools_options options = {.preset = preset};
  return tsl_grammar_tools(s->vocab, s->request.at, s->request.length, &options, NULL, out, NULL) ==
         TSL_OK;
}

static bool measure(setup *s, const char *what, const char *preset, bool over) {
  bench_samples compiles = {0}, masks = {0};
  double first = 0, compiled, masked;
  bool ok = true;
  for (size_t i = 0; i <= s->runs && ok; i++) {
    tsl_grammar *before = NULL;
    ok = (!over || make_over(s, preset, &before)) &&
         run(s, over ? &s->other : &s->request, preset, before, &compiled, &masked);
    tsl_grammar_release(before);
    if (i == 0)
      first = masked;
    else
      ok = ok && bench_samples_add(&compiles, compiled) && bench_samples_add(&masks, masked);
  }
  if (ok) {
    bench_summary c = bench_summarize(&compiles), m = bench_summarize(&masks);
    printf("{\"what\": \"%s\", \"preset\": \"%s\", \"runs\": %zu, \"first_us\": %.1f, "
           "\"compiled_least_us\": %.1f, \"compiled_p50_us\": %.1f, \"mask_least_us\": %.1f, "
           "\"mask_p50_us\": %.1f}\n",
           what, preset, s->runs, first, (double)compiles.at[0], c.p50, (double)masks.at[0], m.p50);
    fflush(stdout);
  }
  bench_samples_free(&compiles);
  bench_samples_free(&masks);
  return ok;
}

static bool measure_all(setup *s, const char *only) {
  const char *preset, *json;
  for (size_t i = 0; tsl_tools_preset(i, &preset, &json); i++)
    if ((!only || !strcmp(only, preset)) && !measure(s, "tools", preset, false)) return false;
  for (size_t i = 0; s->other.at && tsl_tools_preset(i, &preset, &json); i++)
    if ((!only || !strcmp(only, preset)) && !measure(s, "over", preset, true)) return false;
  return true;
}

static int complain(const char *why) {
  fprintf(stderr,
          "tools: %s\nusage: turnstile-bench tools --vocab F --request F [--over F] [--preset "
          "NAME] [--runs N]\n",
          why);
  return 2;
}

int bench_tools(int argc, char **argv) {
  const char *vocab = NULL, *request = NULL, *other = NULL, *preset = NULL;
  setup s = {.runs = 40};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return complain("an option without a value");
    if (!strcmp(argv[i], "--vocab"))
      vocab = argv[i + 1];
    else if (!strcmp(argv[i], "--request"))
      request = argv[i + 1];
    else if (!strcmp(argv[i], "--over"))
      other = argv[i + 1];
    else if (!strcmp(argv[i], "--preset"))
      preset = argv[i + 1];
    else if (!strcmp(argv[i], "--runs"))
      s.runs = strtoul(argv[i + 1], NULL, 10);
    else
      return complain("an option that there is not");
  }
  if (!vocab || !request || s.runs == 0)
    return complain("--vocab and --request are needed, and --runs of at least 1");
  tsl_error error = {0};
  bool ok = read_file(request, &s.request) && (!other || read_file(other, &s.other));
  if (ok && tsl_vocab_load_file(vocab, NULL, NULL, &s.vocab, &error) != TSL_OK)
    ok = (fprintf(stderr, "%s: %s\n", vocab, error.message), false);
  s.mask = ok ? malloc(tsl_vocab_mask_words(s.vocab) * sizeof *s.mask) : NULL;
  bench_clock_init(&s.clock, false);
  ok = s.mask && measure_all(&s, preset);
  free(s.mask);
  tsl_vocab_release(s.vocab);
  free(s.request.at);
  free(s.other.at);
  return ok ? 0 : 1;
}
