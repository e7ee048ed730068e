/* sampler.c - see sampler.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/driver/clock.h"
#include "bench/driver/stats.h"
#include "turnstile.h"

#define PREFIX "{\"name\": \"Al" /* of the text: inside a string */

typedef struct bench {
  tsl_vocab *vocab;
  tsl_matcher *matcher;
  float *logits;
  uint32_t *mask, *few; /* inside a string; one hundred tokens */
  size_t width, words, runs;
  bench_clock clock;
  bool first;
} bench;

/* ---- inputs ---------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void fill(bench *b) {
  uint64_t seed = 1;
  for (size_t i = 0; i < b->width; i++) {
    double bell = -6;
    for (int j = 0; j < 12; j++) bell += (double)(next(&seed) >> 11) * 0x1p-53;
    b->logits[i] = (float)(bell * 2.5);
  }
  for (int i = 0; i < 30; i++) b->logits[next(&seed) % b->width] = 16 - 0.3f * (float)i;
  for (int i = 0; i < 100; i++) {
    tsl_token t = (tsl_token)(next(&seed) % b->width);
    b->few[t >> 5] |= 1u << (t & 31);
  }
}

static char *read_text(const char *path, size_t *length) {
  FILE *f = fopen(path, "rb");
  char *text = f ? malloc(1 << 20) : NULL;
  if (text) *length = fread(text, 1, 1 << 20, f);
  if (f) fclose(f);
  return text;
}

static bool open_grammar(bench *b, const char *vocab, const char *grammar) {
  tsl_error error;
  tsl_grammar *g = NULL;
  size_t length = 0;
  char *text = read_text(grammar, &length);
  if (!text) return fprintf(stderr, "cannot read %s\n", grammar), false;
  bool ok = tsl_vocab_load_file(vocab, NULL, NULL, &b->vocab, &error) == TSL_OK &&
            tsl_grammar_gbnf(b->vocab, text, length, NULL, NULL, &g, &error) == TSL_OK;
  free(text);
  if (!ok) return fprintf(stderr, "%s\n", error.message), false;
  ok = tsl_matcher_new(g, NULL, &b->matcher) == TSL_OK &&
       tsl_matcher_accept_bytes(b->matcher, PREFIX, strlen(PREFIX), NULL) == TSL_OK;
  tsl_grammar_release(g);
  if (!ok) return fprintf(stderr, "the grammar does not take " PREFIX "\n"), false;
  b->width = tsl_vocab_logits_width(b->vocab);
  b->words = tsl_vocab_mask_words(b->vocab);
  b->logits = calloc(b->width, sizeof *b->logits);
  b->mask = calloc(b->words, sizeof *b->mask);
  b->few = calloc(b->words, sizeof *b->few);
  return b->logits && b->mask && b->few && tsl_matcher_mask(b->matcher, b->mask) == TSL_OK;
}

static bool dump(const bench *b, const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/logits", folder);
  FILE *f = fopen(path, "wb");
  bool ok = f && fwrite(b->logits, sizeof *b->logits, b->width, f) == b->width;
  if (f) ok &= fclose(f) == 0;
  snprintf(path, sizeof path, "%s/tokens", folder);
  f = ok ? fopen(path, "wb") : NULL;
  for (tsl_token t = 0; f && t < b->width; t++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(b->vocab, t, &n);
    uint32_t length = (uint32_t)n;
    ok &= fwrite(&length, sizeof length, 1, f) == 1 &&
          fwrite(n ? bytes : (const uint8_t *)"", 1, n, f) == n;
  }
  return f && fclose(f) == 0 && ok;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Median of a draw; with `own_mask` the matcher writes the mask in every step. */
static bool measure(bench *b, const char *name, const tsl_sampler_options *o, const uint32_t *mask,
                    bool own_mask) {
  tsl_sampler *s;
  bench_samples samples = {0};
  tsl_draw d;
  bool ok = tsl_sampler_new(o, NULL, &s) == TSL_OK;
  for (tsl_token i = 0; ok && i < 64; i++)
    ok = tsl_sampler_accept(s, (tsl_token)(i * 7919u % b->width)) == TSL_OK;
  for (size_t i = 0; ok && i < b->runs; i++) {
    uint64_t start = bench_clock_now(&b->clock);
    if (own_mask) ok = tsl_matcher_mask(b->matcher, b->mask) == TSL_OK;
    ok = ok && tsl_sampler_draw(s, b->logits, b->width, mask, &d) == TSL_OK;
    ok = ok && bench_samples_add(
                   &samples, bench_clock_span(&b->clock, start, bench_clock_now(&b->clock)) / 1000);
  }
  if (ok) printf("%s\"%s\": %.3f", b->first ? "{" : ", ", name, bench_summarize(&samples).p50);
  b->first = false;
  bench_samples_free(&samples);
  tsl_sampler_free(s);
  return ok;
}

/* What it costs to check one token that was drawn without a mask. */
static bool measure_check(bench *b) {
  bench_samples samples = {0};
  tsl_token token = 0;
  size_t valid;
  bool ok = true;
  while (!tsl_mask_has(b->mask, token)) token++;
  for (size_t i = 0; ok && i < b->runs; i++) {
    uint64_t start = bench_clock_now(&b->clock);
    ok = tsl_matcher_validate(b->matcher, &token, 1, &valid) == TSL_OK;
    ok = ok && bench_samples_add(
                   &samples, bench_clock_span(&b->clock, start, bench_clock_now(&b->clock)) / 1000);
  }
  if (ok) printf(", \"check_one\": %.3f", bench_summarize(&samples).p50);
  bench_samples_free(&samples);
  return ok;
}

/* Is step i one of those that are rejected? Evenly spread. */
static bool is_rejected(size_t i, unsigned percent) {
  return (i + 1) * percent / 100 > i * percent / 100;
}

/* llama.cpp's common way: draw without the grammar, check the one token, and only where it is
 * rejected apply the grammar to all and draw again. Rejections are forced, so that the rate is
 * exact. Median of means over 100 steps. */
static bool measure_draw_first(bench *b, const tsl_sampler_options *o, unsigned percent) {
  tsl_sampler *s;
  bench_samples means = {0};
  tsl_draw d;
  size_t valid;
  bool ok = tsl_sampler_new(o, NULL, &s) == TSL_OK;
  for (size_t round = 0; ok && round < b->runs / 50; round++) {
    uint64_t start = bench_clock_now(&b->clock);
    for (size_t i = 0; ok && i < 100; i++) {
      ok = tsl_sampler_draw(s, b->logits, b->width, NULL, &d) == TSL_OK &&
           tsl_matcher_validate(b->matcher, &d.token, 1, &valid) == TSL_OK;
      if (ok && is_rejected(i, percent))
        ok = tsl_matcher_mask(b->matcher, b->mask) == TSL_OK &&
             tsl_sampler_draw(s, b->logits, b->width, b->mask, &d) == TSL_OK;
    }
    ok = ok &&
         bench_samples_add(&means, bench_clock_span(&b->clock, start, bench_clock_now(&b->clock)) /
                                       1000 / 100);
  }
  if (ok) printf(", \"draw_first_%u\": %.3f", percent, bench_summarize(&means).p50);
  bench_samples_free(&means);
  tsl_sampler_free(s);
  return ok;
}

/* Apply a mask to the logits themselves: of `allowed` tokens, evenly spread. */
static bool measure_apply(bench *b, const char *name, size_t allowed, tsl_dtype type) {
  bench_samples samples = {0};
  float *logits = malloc(b->width * sizeof *logits);
  uint32_t *mask = calloc(b->words, sizeof *mask);
  bool ok = logits && mask;
  if (ok) memcpy(logits, b->logits, b->width * sizeof *logits);
  for (size_t i = 0; ok && i < allowed; i++) {
    size_t t = i * b->width / allowed;
    mask[t >> 5] |= 1u << (t & 31);
  }
  for (size_t i = 0; ok && i < b->runs; i++) {
    uint64_t start = bench_clock_now(&b->clock);
    ok = tsl_mask_apply(mask, logits, b->width, type) == TSL_OK;
    ok = ok && bench_samples_add(
                   &samples, bench_clock_span(&b->clock, start, bench_clock_now(&b->clock)) / 1000);
  }
  if (ok) printf(", \"%s\": %.3f", name, bench_summarize(&samples).p50);
  bench_samples_free(&samples);
  free(logits);
  free(mask);
  return ok;
}

static bool measure_applies(bench *b) {
  size_t w = b->width;
  return measure_apply(b, "apply_none", 0, TSL_F32) && measure_apply(b, "apply_ten", 10, TSL_F32) &&
         measure_apply(b, "apply_half", w / 2, TSL_F32) &&
         measure_apply(b, "apply_most", w - 100, TSL_F32) &&
         measure_apply(b, "apply_all", w, TSL_F32) &&
         measure_apply(b, "apply_half_f16", w / 2, TSL_F16) &&
         measure_apply(b, "apply_half_bf16", w / 2, TSL_BF16);
}

/* A row on which tens of thousands of tokens make up the mass: all between 0 and 1. */
static bool measure_flat(bench *b) {
  const tsl_sampler_options top_p = {.temperature = 1, .top_p = 0.95f},
                            typical = {.temperature = 1, .typical_p = 0.95f},
                            top_k = {.temperature = 1, .top_k = (uint32_t)b->width / 2};
  float *sharp = b->logits;
  uint64_t seed = 2;
  if (!(b->logits = calloc(b->width, sizeof *b->logits))) return b->logits = sharp, false;
  for (size_t i = 0; i < b->width; i++)
    b->logits[i] = (float)((double)(next(&seed) >> 11) * 0x1p-53);
  bool ok = measure(b, "flat_top_p", &top_p, NULL, false) &&
            measure(b, "flat_typical", &typical, NULL, false) &&
            measure(b, "flat_top_k", &top_k, NULL, false);
  free(b->logits);
  b->logits = sharp;
  return ok;
}

static bool measure_all(bench *b) {
  static const tsl_stage order[] = {TSL_STAGE_PENALTIES, TSL_STAGE_TOP_K, TSL_STAGE_TOP_P,
                                    TSL_STAGE_MIN_P, TSL_STAGE_TEMPERATURE};
  const tsl_sampler_options temperature = {.temperature = 0.8f};
  tsl_sampler_options cut = {.temperature = 0.8f,
                             .top_k = 40,
                             .top_p = 0.95f,
                             .min_p = 0.05f,
                             .stages = order,
                             .stage_count = 5},
                      bare = cut;
  cut.repetition_penalty = 1.1f;
  cut.frequency_penalty = cut.presence_penalty = 0.1f;
  return measure(b, "temperature", &temperature, NULL, false) &&
         measure(b, "temperature_grammar", &temperature, b->mask, true) &&
         measure(b, "cut_off", &bare, NULL, false) &&
         measure(b, "cut_off_penalties", &cut, NULL, false) &&
         measure(b, "cut_off_grammar", &bare, b->mask, true) &&
         measure(b, "cut_off_penalties_grammar", &cut, b->mask, true) &&
         measure(b, "hundred_allowed", &temperature, b->few, false) && measure_check(b) &&
         measure_draw_first(b, &bare, 0) && measure_draw_first(b, &bare, 10) &&
         measure_draw_first(b, &bare, 50) && measure_applies(b) && measure_flat(b);
}

int bench_sampler(int argc, char **argv) {
  const char *vocab = NULL, *grammar = NULL, *folder = NULL;
  bench b = {.runs = 2000, .first = true};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--vocab"))
      vocab = argv[i + 1];
    else if (!strcmp(argv[i], "--grammar"))
      grammar = argv[i + 1];
    else if (!strcmp(argv[i], "--dump"))
      folder = argv[i + 1];
    else if (!strcmp(argv[i], "--runs"))
      b.runs = (size_t)strtoull(argv[i + 1], NULL, 10);
    else
      argc = 0;
  }
  if (argc % 2 == 0 || !vocab || !grammar || !b.runs) {
    fprintf(stderr,
            "usage: turnstile-bench sampler --vocab F --grammar F [--runs N] [--dump FOLDER]\n");
    return 2;
  }
  bool ok = open_grammar(&b, vocab, grammar);
  if (ok) fill(&b);
  if (ok && folder) ok = dump(&b, folder);
  if (ok) {
    bench_clock_init(&b.clock, false);
    ok = measure_all(&b);
    printf(", \"allowed\": %zu, \"width\": %zu}\n", tsl_mask_count(b.mask, b.width), b.width);
  }
  tsl_matcher_free(b.matcher);
  tsl_vocab_release(b.vocab);
  free(b.logits);
  free(b.mask);
  free(b.few);
  return ok ? 0 : 2;
}
