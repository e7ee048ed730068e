/* test_step.c - what the model wanted, against sums in long double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "runtime/kernels/logits.h"
#include "tests/support/check.h"

#define WIDEST 128256u

static float logits[WIDEST];
static uint32_t mask[WIDEST / 32];

static bool open_at(size_t i) { return (mask[i >> 5] >> (i & 31)) & 1u; }

static void fill(uint64_t *seed, size_t width, unsigned density) {
  memset(mask, 0, sizeof mask);
  for (size_t i = 0; i < width; i++) {
    double bell = -6;
    for (int j = 0; j < 12; j++) bell += tsl_test_uniform(seed);
    logits[i] = tsl_test_random(seed) % 10 ? (float)bell * 3 : -INFINITY;
    if (tsl_test_random(seed) % 16 < density) mask[i >> 5] |= 1u << (i & 31);
  }
  size_t sure = tsl_test_random(seed) % width;
  mask[sure >> 5] |= 1u << (sure & 31);
  logits[sure] = 1;
}

typedef struct want {
  long double mass, log_mass, entropy;
} want;

static want reference(size_t width, bool masked) {
  want w = {0, 0, 0};
  for (size_t i = 0; i < width; i++)
    if (!masked || open_at(i)) w.mass += expl((long double)logits[i]);
  w.log_mass = logl(w.mass);
  for (size_t i = 0; i < width; i++) {
    long double p = !masked || open_at(i) ? expl((long double)logits[i]) / w.mass : 0;
    if (p > 0) w.entropy -= p * logl(p);
  }
  return w;
}

static bool near(double a, long double b) { return fabsl(a - b) <= 2e-5L * fabsl(b) + 2e-6L; }

/* Is `top` the first n of the ranking? */
static void check_top(const tsl_token_logprob *top, uint32_t n, uint32_t wanted, size_t width,
                      bool masked, long double log_mass) {
  size_t finite = 0;
  for (size_t i = 0; i < width; i++) finite += (!masked || open_at(i)) && logits[i] > -INFINITY;
  CHECKF(n == (wanted < finite ? wanted : finite), "%u of %zu", n, finite);
  for (uint32_t r = 0; r < n; r++) {
    size_t before = 0;
    for (size_t i = 0; i < width; i++)
      before +=
          (!masked || open_at(i)) && (logits[i] > logits[top[r].token] ||
                                      (logits[i] == logits[top[r].token] && i < top[r].token));
    CHECKF(before == r && (!masked || open_at(top[r].token)), "place %u: %zu are before it", r,
           before);
    CHECK(near(top[r].logprob, logits[top[r].token] - log_mass));
  }
}

static void check_row(uint64_t *seed, size_t width, uint32_t top_n) {
  tsl_token_logprob top[100], masked_top[100];
  tsl_step s;
  tsl_token token = (tsl_token)(tsl_test_random(seed) % width);
  CHECK(tsl_step_measure(logits, width, mask, token, top_n, top, masked_top, &s) == TSL_OK);
  want all = reference(width, false), some = reference(width, true);
  CHECKF(near(s.legal_mass, some.mass / all.mass), "legal mass %.9g, not %.9Lg", s.legal_mass,
         some.mass / all.mass);
  CHECKF(near(s.entropy, all.entropy) && near(s.masked_entropy, some.entropy),
         "entropy %.9g, not %.9Lg", s.entropy, all.entropy);
  bool none = logits[token] == -INFINITY;
  CHECK(none ? s.logprob == -INFINITY : near(s.logprob, logits[token] - all.log_mass));
  CHECK(none || !open_at(token) ? s.masked_logprob == -INFINITY
                                : near(s.masked_logprob, logits[token] - some.log_mass));
  check_top(top, s.top_count, top_n, width, false, all.log_mass);
  check_top(masked_top, s.masked_top_count, top_n, width, true, some.log_mass);
  size_t allowed = 0;
  for (size_t i = 0; i < width; i++) allowed += open_at(i);
  CHECK(s.allowed == allowed);
}

static void against_reference(void) {
  static const size_t widths[] = {1, 6, 33, 500, 1024, 1025, 9000};
  uint64_t seed = 1;
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
    for (unsigned round = 0; round < 30; round++) {
      fill(&seed, widths[w], round % 17);
      check_row(&seed, widths[w], round % 4 == 0 ? 100 : round % 20);
    }
  fill(&seed, WIDEST, 3);
  check_row(&seed, WIDEST, 20);
}

static void edges(void) {
  static const float x[4] = {1, NAN, 2, INFINITY}, low[3] = {-INFINITY, -INFINITY, -INFINITY},
                     one[3] = {3, -INFINITY, -INFINITY};
  tsl_token_logprob top[3];
  tsl_step s = {.legal_mass = 77};
  uint32_t m = 5, nan = 3;
  CHECK(tsl_step_measure(x, 4, NULL, 0, 0, NULL, NULL, &s) == TSL_ERR_LOGITS);
  CHECK(tsl_step_measure(x, 4, &nan, 0, 0, NULL, NULL, &s) == TSL_ERR_LOGITS);
  CHECK(tsl_step_measure(low, 3, NULL, 0, 0, NULL, NULL, &s) == TSL_ERR_LOGITS);
  CHECK(tsl_step_measure(x, 4, NULL, 4, 0, NULL, NULL, &s) == TSL_ERR_ARGUMENT &&
        tsl_step_measure(x, 0, NULL, 0, 0, NULL, NULL, &s) == TSL_ERR_ARGUMENT);
  CHECK(tsl_step_measure(NULL, 4, NULL, 0, 0, NULL, NULL, &s) == TSL_ERR_ARGUMENT &&
        s.legal_mass == 77);
  CHECK(tsl_step_measure(x, 3, &m, 2, 3, top, NULL, &s) == TSL_OK && s.legal_mass == 1 &&
        s.top_count == 2 && top[0].token == 2);
  CHECK(tsl_step_measure(x, 4, &m, 2, 3, top, top, &s) == TSL_OK && s.legal_mass == 0 &&
        s.logprob == -INFINITY && s.masked_top_count == 2);
  CHECK(fabs(s.masked_logprob - log(1 / (1 + exp(-1)))) < 1e-6);
  CHECK(tsl_step_measure(one, 3, NULL, TSL_NO_TOKEN, 3, top, NULL, &s) == TSL_OK &&
        isnan(s.logprob) && s.entropy == 0 && s.top_count == 1);
}

static void sums(void) {
  uint64_t seed = 2;
  tsl_step_sums total = {0};
  double logprob = 0, masked = 0, least = 1;
  for (int i = 0; i < 20; i++) {
    tsl_step s;
    tsl_token t = 0;
    fill(&seed, 500, 4);
    while (!open_at(t) || logits[t] == -INFINITY) t++;
    CHECK(tsl_step_measure(logits, 500, mask, t, 0, NULL, NULL, &s) == TSL_OK);
    tsl_step_add(&total, &s);
    logprob += s.logprob, masked += s.masked_logprob, least = fmin(least, s.legal_mass);
  }
  CHECK(total.steps == 20 && total.logprob == logprob && total.masked_logprob == masked &&
        total.least_legal_mass == least);
  CHECKF(fabs(total.logprob - total.masked_logprob - total.log_legal_mass) < 1e-4, "%g",
         total.logprob - total.masked_logprob);
}

int main(void) {
  RUN(against_reference, "random rows against long double");
  RUN(edges, "NaN, infinities, nothing allowed");
  RUN(sums, "sums over an output");
  return tsl_test_end();
}
