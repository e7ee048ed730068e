/* test_loop.c - the guard against loops. The period that is found is compared with a search that
 * tries every copy. A sampler with the guard never draws the banned token. A model loops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "turnstile.h"

#define WIDTH 64u

/* The shortest period by its definition: copy for copy, token for token. */
static uint32_t slow(const tsl_token *t, size_t n, uint32_t repeats, uint32_t longest) {
  for (uint32_t p = 1; p <= longest; p++) {
    bool same = (size_t)p * repeats <= n;
    for (uint32_t copy = 1; same && copy < repeats; copy++)
      for (uint32_t i = 1; same && i <= p; i++) same = t[n - i] == t[n - i - (size_t)copy * p];
    if (same) return p;
  }
  return 0;
}

static void against_definition(void) {
  uint64_t seed = 51;
  size_t found = 0;
  tsl_token text[80];
  for (int round = 0; round < 20000; round++) {
    size_t n = tsl_test_random(&seed) % 80, period = 1 + tsl_test_random(&seed) % 9;
    uint32_t letters = 1 + (uint32_t)(tsl_test_random(&seed) % 3);
    for (size_t i = 0; i < n; i++)
      text[i] = i >= period && tsl_test_random(&seed) % 50
                    ? text[i - period]
                    : (tsl_token)(tsl_test_random(&seed) % letters);
    uint32_t repeats = 2 + (uint32_t)(tsl_test_random(&seed) % 4), longest = 1 + round % 20;
    tsl_token next = 999;
    uint32_t p = tsl_find_loop(text, n, repeats, longest, &next);
    CHECK(p == slow(text, n, repeats, longest));
    CHECK(p ? next == text[n - p] : next == 999);
    found += p != 0;
  }
  CHECKF(found > 2000 && found < 18000, "%zu of 20000 texts end in a loop", found);
}

static void edges(void) {
  static const tsl_token ones[6] = {1, 1, 1, 1, 1, 1};
  CHECK(tsl_find_loop(NULL, 0, 2, 0, NULL) == 0 && tsl_find_loop(ones, 0, 2, 0, NULL) == 0);
  CHECK(tsl_find_loop(ones, 6, 0, 0, NULL) == 0 && tsl_find_loop(ones, 6, 1, 0, NULL) == 0);
  CHECK(tsl_find_loop(ones, 6, 6, 0, NULL) == 1 && tsl_find_loop(ones, 6, 7, 0, NULL) == 0);
  CHECK(tsl_find_loop(ones, 6, UINT32_MAX, UINT32_MAX, NULL) == 0);
  tsl_token long_copy[200];
  for (uint32_t i = 0; i < 200; i++) long_copy[i] = i % 65;
  CHECK(tsl_find_loop(long_copy, 200, 3, 0, NULL) == 0); /* 64 is the longest by default */
  CHECK(tsl_find_loop(long_copy, 200, 3, 65, NULL) == 65);
}

/* A model that wants to say 5 6 7 5 6 7 …, then 8, then 9. */
static void loves(float *logits, size_t step) {
  for (size_t i = 0; i < WIDTH; i++) logits[i] = -(float)i;
  logits[8] = 10;
  logits[9] = 9;
  logits[5 + step % 3] = 20;
}

static tsl_token drawn(tsl_sampler *s, const uint32_t *mask, size_t step) {
  float logits[WIDTH];
  tsl_draw d = {0};
  loves(logits, step);
  CHECK(tsl_sampler_draw(s, logits, WIDTH, mask, &d) == TSL_OK);
  CHECK(tsl_sampler_accept(s, d.token) == TSL_OK);
  return d.token;
}

static void sampler(void) {
  tsl_sampler_options o = {.loop_repeats = 3, .loop_longest = 4};
  tsl_sampler *s = NULL, *fork = NULL;
  CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK);
  for (size_t step = 0; step < 9; step++) CHECK(drawn(s, NULL, step) == 5 + step % 3);
  CHECK(tsl_sampler_fork(s, 1, &fork) == TSL_OK && drawn(fork, NULL, 9) == 8);
  CHECK(drawn(s, NULL, 9) == 8); /* the fourth copy would begin with 5 */
  CHECK(drawn(s, NULL, 10) == 6 && tsl_sampler_rollback(s, 2) == TSL_OK);
  uint32_t only[2] = {1u << 5, 0};
  CHECK(drawn(s, only, 9) == 5); /* nothing else is allowed */
  tsl_sampler_restart(s);
  tsl_token prompt[9];
  for (uint32_t i = 0; i < 9; i++) prompt[i] = 5 + i % 3;
  CHECK(tsl_sampler_prompt(s, prompt, 9) == TSL_OK && drawn(s, NULL, 9) == 5);
  tsl_sampler_free(s);
  tsl_sampler_free(fork);
  o.loop_repeats = 0;
  CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK);
  for (size_t step = 0; step < 30; step++) CHECK(drawn(s, NULL, step) == 5 + step % 3);
  tsl_sampler_free(s);
  o.loop_repeats = 1;
  CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_ERR_ARGUMENT && !s);
}

int main(void) {
  RUN(against_definition, "the period, against its definition");
  RUN(edges, "short texts, long copies, odd arguments");
  RUN(sampler, "a model that loops, under a sampler with the guard");
  return tsl_test_end();
}
