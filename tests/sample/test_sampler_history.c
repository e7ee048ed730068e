/* test_sampler_history.c - what the sampler remembers of a text: prompts, rollback, restart, forks,
 * mirostat's bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

#include "tests/support/cpu_time.h"
#include "tests/support/failing.h"
#include "tests/support/stages.h"

/* Rolling back is as if the tokens had never come; a prompt counts for penalties, not for the
 * number of tokens. */
static void rollback(void) {
  uint64_t seed = 106;
  for (int round = 0; round < 60; round++) {
    lists l;
    tsl_sampler_options o = {.seed = 3, .temperature = 1};
    fill(&seed, 400);
    ask_for(&seed, &o, &l, 400, TSL_STAGE_PENALTIES);
    ask_for(&seed, &o, &l, 400, TSL_STAGE_DRY);
    tsl_sampler *a, *b;
    tsl_draw x = {0}, y = {0};
    CHECK(tsl_sampler_new(&o, NULL, &a) == TSL_OK && tsl_sampler_new(&o, NULL, &b) == TSL_OK);
    size_t back = history_length ? below(&seed, history_length + 1) : 0,
           prompt = below(&seed, history_length - back + 1);
    CHECK(tsl_sampler_prompt(a, history, prompt) == TSL_OK &&
          tsl_sampler_prompt(b, history, prompt) == TSL_OK);
    for (size_t i = prompt; i < history_length; i++)
      CHECK(tsl_sampler_accept(a, history[i]) == TSL_OK);
    for (size_t i = prompt; i < history_length - back; i++)
      CHECK(tsl_sampler_accept(b, history[i]) == TSL_OK);
    CHECK(tsl_sampler_rollback(a, history_length - prompt + 1) == TSL_ERR_STATE);
    CHECK(tsl_sampler_rollback(a, back) == TSL_OK);
    if (history_length - back > prompt) CHECK(tsl_sampler_prompt(a, history, 1) == TSL_ERR_STATE);
    CHECK(tsl_sampler_draw(a, logits, 400, mask, &x) == TSL_OK &&
          tsl_sampler_draw(b, logits, 400, mask, &y) == TSL_OK);
    CHECK(x.token == y.token && x.probability == y.probability);
    tsl_sampler_restart(a);
    tsl_sampler_restart(b);
    CHECK(tsl_sampler_draw(a, logits, 400, mask, &x) == TSL_OK &&
          tsl_sampler_draw(b, logits, 400, mask, &y) == TSL_OK);
    CHECK(x.token == y.token && x.probability == y.probability);
    tsl_sampler_free(a);
    tsl_sampler_free(b);
  }
}

static tsl_draw draw_of(tsl_sampler *s, size_t width) {
  tsl_draw d = {0};
  CHECK(tsl_sampler_draw(s, logits, width, mask, &d) == TSL_OK);
  return d;
}

#define LONG 131072u

/* Texts that are made to cost: each token comes once, the largest first; one that each other
 * follows; one alone. Per draw and prompt a second each once, some milliseconds now. */
static void long_texts(void) {
  static tsl_token text[2 * LONG];
  static const tsl_sampler_options each[] = {{.temperature = 1,
                                              .repetition_penalty = 1.1f,
                                              .dry_multiplier = 1,
                                              .dry_allowed = 1,
                                              .no_repeat_ngram = 2},
                                             {.temperature = 1, .no_repeat_ngram = LONG}};
  clock_t begun = clock();
  for (int kind = 0; kind < 3; kind++) {
    tsl_sampler *s = NULL;
    for (uint32_t i = 0; i < 2 * LONG; i++)
      text[i] = kind == 0 ? 2 * LONG - i : kind == 1 && i % 2 ? i : 7;
    if (kind == 1) text[2 * LONG - 1] = 7;
    CHECK(tsl_sampler_new(&each[kind == 2], NULL, &s) == TSL_OK &&
          tsl_sampler_prompt(s, text, 2 * LONG) == TSL_OK);
    tsl_draw d = draw_of(s, 400);
    if (kind) CHECK(d.token != 7);
    tsl_sampler_free(s);
  }
  double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
  CHECKF(seconds < 1.5, "%.2f s", seconds);
}

/* Mirostat's bound goes back with the text, to the bit, also past draws that were not accepted; a
 * failed draw leaves it. */
static void mirostat_rollback(void) {
  uint64_t seed = 110;
  for (int round = 0; round < 40; round++) {
    tsl_sampler *s;
    double bounds[40];
    fill(&seed, 500);
    CHECK(tsl_sampler_new(&(tsl_sampler_options){.seed = (uint64_t)round,
                                                 .temperature = 1,
                                                 .mirostat_tau = 3,
                                                 .mirostat_eta = 0.3f},
                          NULL, &s) == TSL_OK);
    for (int i = 0; i < 3; i++) CHECK(tsl_sampler_prompt(s, &(tsl_token){7}, 1) == TSL_OK);
    size_t n = 1 + below(&seed, 39);
    for (size_t i = 0; i < n; i++) {
      bounds[i] = s->surprise;
      tsl_draw d = draw_of(s, 500);
      if (below(&seed, 3) == 0) d = draw_of(s, 500); /* the first one was refused by somebody */
      CHECK(s->surprise != bounds[i]);
      CHECK(tsl_sampler_accept(s, d.token) == TSL_OK);
    }
    double last = s->surprise;
    draw_of(s, 500);
    CHECK(tsl_sampler_rollback(s, 0) == TSL_OK && tsl_sampler_rollback(s, n + 1) == TSL_ERR_STATE &&
          s->surprise != last);
    size_t back = 1 + below(&seed, n);
    CHECK(tsl_sampler_rollback(s, back) == TSL_OK && s->surprise == bounds[n - back]);
    uint32_t none[16] = {0};
    tsl_draw d;
    CHECK(tsl_sampler_draw(s, logits, 500, none, &d) == TSL_ERR_LOGITS &&
          s->surprise == bounds[n - back]);
    draw_of(s, 500);
    CHECK(tsl_sampler_accept(s, 1) == TSL_OK && tsl_sampler_rollback(s, 1) == TSL_OK &&
          s->surprise == bounds[n - back]);
    tsl_sampler_restart(s);
    CHECK(s->surprise == 6);
    tsl_sampler_free(s);
  }
}

/* A prompt for which there is no memory leaves the bound as it was, draws that were not accepted
 * included. */
static void mirostat_prompt(void) {
  uint64_t seed = 113;
  tsl_token prompt[64];
  bool done = false;
  fill(&seed, 500);
  for (unsigned i = 0; i < 64; i++) prompt[i] = i;
  for (long nth = 0; nth < 400 && !done; nth++) {
    failing f = {LONG_MAX, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_sampler *s;
    CHECK(tsl_sampler_new(
              &(tsl_sampler_options){
                  .seed = 5, .temperature = 1, .mirostat_tau = 3, .presence_penalty = 1},
              &a, &s) == TSL_OK);
    draw_of(s, 500);
    double undrawn = s->undrawn, surprise = s->surprise;
    CHECK(undrawn != surprise);
    f.left = nth;
    bool fine = tsl_sampler_prompt(s, prompt, 64) == TSL_OK;
    done = fine && !failing_failed(&f);
    CHECKF(fine || (s->undrawn == undrawn && s->surprise == surprise && s->history.tokens.n == 0),
           "after failure %ld", nth);
    tsl_sampler_free(s);
  }
  CHECK(done);
}

/* A fork goes on as its parent would with the other seed, and each without the other; both roll
 * back through what they share. */
static void forks(void) {
  uint64_t seed = 111;
  for (int round = 0; round < 60; round++) {
    lists l;
    tsl_sampler_options o = {.seed = 3, .temperature = 0.9f, .no_repeat_ngram = 3};
    fill(&seed, 400);
    for (int i = 1; i <= TSL__STAGES; i++)
      if (below(&seed, 2)) ask_for(&seed, &o, &l, 400, (tsl_stage)i);
    ask_for_bans(&seed, &o, &l, 400);
    tsl_sampler *a, *b, *fork;
    CHECK(tsl_sampler_new(&o, NULL, &a) == TSL_OK);
    o.seed = 99;
    CHECK(tsl_sampler_new(&o, NULL, &b) == TSL_OK);
    size_t prompt = below(&seed, history_length + 1);
    CHECK(tsl_sampler_prompt(a, history, prompt) == TSL_OK &&
          tsl_sampler_prompt(b, history, prompt) == TSL_OK);
    for (size_t i = prompt; i < history_length; i++)
      CHECK(!tsl_sampler_accept(a, history[i]) && !tsl_sampler_accept(b, history[i]));
    CHECK(tsl_sampler_fork(a, 99, &fork) == TSL_OK);
    /* b and the fork don't see it */
    for (int i = 0; i < 30; i++)
      CHECK(tsl_sampler_accept(a, (tsl_token)below(&seed, 400)) == TSL_OK);
    /* of those accepted here and before the fork */
    size_t back = below(&seed, history_length - prompt + 4);
    for (int i = 0; i < 6; i++) {
      tsl_draw x = {0}, y = {0};
      if (i == 3)
        CHECK(tsl_sampler_rollback(b, back) == TSL_OK &&
              tsl_sampler_rollback(fork, back) == TSL_OK);
      tsl_status p = tsl_sampler_draw(b, logits, 400, mask, &x),
                 q = tsl_sampler_draw(fork, logits, 400, mask, &y);
      CHECK(p == q && x.token == y.token && x.probability == y.probability && x.kept == y.kept);
      CHECK(!tsl_sampler_accept(b, x.token) && !tsl_sampler_accept(fork, x.token));
    }
    tsl_sampler_free(a);
    tsl_sampler_free(b);
    tsl_sampler_free(fork);
  }
  tsl_sampler *fork = NULL;
  CHECK(tsl_sampler_fork(NULL, 1, &fork) == TSL_ERR_ARGUMENT &&
        tsl_sampler_fork(NULL, 1, NULL) == TSL_ERR_ARGUMENT);
}

/* Mirostat settles near its target surprise. */
static void mirostat_settles(void) {
  uint64_t seed = 107;
  for (size_t i = 0; i < 5000; i++) logits[i] = (float)(-1.1 * log((double)i + 1)); /* Zipf */
  for (int t = 2; t <= 6; t += 2) {
    tsl_sampler *s;
    CHECK(tsl_sampler_new(&(tsl_sampler_options){.seed = tsl_test_random(&seed),
                                                 .temperature = 1,
                                                 .mirostat_tau = (float)t},
                          NULL, &s) == TSL_OK);
    double sum = 0;
    for (int i = 0; i < 2000; i++) {
      tsl_draw d;
      CHECK(tsl_sampler_draw(s, logits, 5000, NULL, &d) == TSL_OK);
      if (i >= 500) sum += -log2(d.probability) / 1500;
    }
    CHECKF(fabs(sum - t) < 0.15, "surprise %.3f, target %d", sum, t);
    tsl_sampler_free(s);
  }
}

int main(void) {
  RUN(rollback, "prompt, rollback, restart");
  RUN(long_texts, "texts that are made to cost");
  RUN(mirostat_rollback, "mirostat goes back with the text");
  RUN(mirostat_prompt, "and stays where a prompt fails");
  RUN(forks, "forks");
  RUN(mirostat_settles, "mirostat's surprise");
  return tsl_test_end();
}
