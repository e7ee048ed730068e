/* grow.c - see grow.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/grow.h"

#include <stdlib.h>

enum { TEXT_MAX = 200 }; /* tokens of a text that is drawn */

typedef struct grower {
  const bench_setup *setup;
  tsl_matcher *m;
  size_t left;    /* tokens that are still to come */
  uint64_t state; /* of the random numbers */
  bench_samples steps;
} grower;

static uint64_t draw(grower *g, uint64_t below) {
  g->state ^= g->state << 13;
  g->state ^= g->state >> 7;
  g->state ^= g->state << 17;
  return (g->state >> 11) % below;
}

/* The mask, or the token that was drawn from it; *ns grows. False if the call fails. */
static bool mask(grower *g, double *ns) {
  const bench_clock *clock = &g->setup->clock;
  uint64_t from = bench_clock_now(clock);
  tsl_status status = tsl_matcher_mask(g->m, g->setup->mask);
  *ns += bench_clock_span(clock, from, bench_clock_now(clock));
  return status == TSL_OK;
}

static bool accept(grower *g, tsl_token token, double ns) {
  const bench_clock *clock = &g->setup->clock;
  uint64_t from = bench_clock_now(clock);
  tsl_status status = tsl_matcher_accept(g->m, token);
  ns += bench_clock_span(clock, from, bench_clock_now(clock));
  g->left--;
  return status == TSL_OK && bench_samples_add(&g->steps, ns / 1e3);
}

/* The mask, then the token; false if a call fails or the token is rejected. */
static bool step(grower *g, tsl_token token) {
  double ns = 0;
  return mask(g, &ns) && accept(g, token, ns);
}

/* A valid text of the case; false if a call fails. */
static bool follow(grower *g, const bench_test *test) {
  size_t capacity = test->length + 16, count = 0;
  tsl_token *tokens = malloc(capacity * sizeof *tokens);
  bool ok = tokens && tsl_vocab_encode(g->setup->vocab, test->text, test->length, 0, tokens,
                                       capacity, &count) == TSL_OK;
  tsl_matcher_reset(g->m);
  for (size_t i = 0; ok && i < count && g->left; i++) ok = step(g, tokens[i]);
  free(tokens);
  return ok;
}

/* One of the tokens of the mask; TSL_NO_TOKEN if there is none. */
static tsl_token draw_token(grower *g) {
  uint32_t size = tsl_vocab_size(g->setup->vocab);
  size_t allowed = 0;
  for (tsl_token t = 0; t < size; t++) allowed += tsl_mask_has(g->setup->mask, t);
  if (!allowed) return TSL_NO_TOKEN;
  uint64_t n = draw(g, allowed);
  for (tsl_token t = 0;; t++)
    if (tsl_mask_has(g->setup->mask, t) && n-- == 0) return t;
}

/* A text that is drawn; false if a call fails. */
static bool wander(grower *g) {
  tsl_matcher_reset(g->m);
  for (size_t i = 0; i < TEXT_MAX && g->left; i++) {
    double ns = 0;
    tsl_token token = mask(g, &ns) ? draw_token(g) : TSL_NO_TOKEN;
    if (token == TSL_NO_TOKEN || !accept(g, token, ns)) return false;
    if (tsl_matcher_is_terminated(g->m)) break;
  }
  return true;
}

bench_grown bench_grow(const bench_setup *setup, const bench_case *c) {
  tsl_grammar *grammar = NULL;
  grower g = {.setup = setup, .left = setup->grow, .state = 0x9e3779b97f4a7c15u};
  bool ok =
      bench_compile(setup->vocab, &setup->options, c, &setup->limits, &grammar, NULL) == TSL_OK &&
      tsl_matcher_new(grammar, NULL, &g.m) == TSL_OK;
  for (size_t t = 0; ok && t < c->test_count && g.left; t++)
    if (c->tests[t].valid) ok = follow(&g, &c->tests[t]);
  while (ok && g.left) ok = wander(&g);
  tsl_grammar_stats stats = {0};
  if (ok) tsl_grammar_get_stats(grammar, &stats);
  tsl_matcher_free(g.m);
  tsl_grammar_release(grammar);
  bench_grown made = {(double)stats.memory / 1024, bench_summarize(&g.steps)};
  bench_samples_free(&g.steps);
  return made;
}
