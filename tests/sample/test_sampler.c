/* test_sampler.c - the sampler against worked examples, against sorting everything in long double,
 * and against itself on every level.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "runtime/core/rng.h"
#include "runtime/sample/sampler.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"

#define WIDEST 262144u

static float logits[WIDEST];
static uint32_t mask[WIDEST / 32];

static tsl_sampler *sampler_of(uint64_t seed, float temperature, uint32_t top_k, float top_p,
                               float min_p) {
  tsl_sampler_options o = {.seed = seed,
                           .temperature = temperature,
                           .top_k = top_k,
                           .top_p = top_p,
                           .min_p = min_p,
                           .legal_mass = true};
  tsl_sampler *s;
  if (tsl_sampler_new(&o, NULL, &s) != TSL_OK) exit(2);
  return s;
}

/* ---- the generator --------------------------------------------------------------------------- */

/* Known answers of the Random123 distribution. */
static void philox_answers(void) {
  static const struct {
    uint32_t counter[4], key[2], want[4];
  } rows[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint32_t out[4];
    tsl__philox(rows[i].counter, rows[i].key, out);
    CHECK(!memcmp(out, rows[i].want, sizeof out));
  }
}

static void uniform_is_uniform(void) {
  enum { BINS = 64, DRAWS = 64000 };
  unsigned bins[BINS] = {0};
  double lowest = 1, highest = 0, square = 0;
  for (uint64_t i = 0; i < DRAWS; i++) {
    double u = tsl__rng_uniform(7, i);
    bins[(int)(u * BINS)]++;
    if (u < lowest) lowest = u;
    if (u > highest) highest = u;
  }
  for (int i = 0; i < BINS; i++) square += (bins[i] - 1000.0) * (bins[i] - 1000.0) / 1000.0;
  CHECKF(square < 120, "chi-square %.1f with 63 degrees of freedom", square);
  CHECK(lowest >= 0 && lowest < 1e-3 && highest < 1 && highest > 0.999);
  CHECK(tsl__rng_uniform(7, 1ull << 32) != tsl__rng_uniform(7, 0) &&
        tsl__rng_uniform(1ull << 32 | 7, 0) != tsl__rng_uniform(7, 0));
}

/* ---- worked examples ------------------------------------------------------------------------- */

/* Draw until every kept token came up, of wide rows many of them; a token's probability goes to
 * p[token], the others stay 0. Returns kept. */
static uint32_t probabilities(const float *x, size_t n, tsl_sampler *s, double *p) {
  tsl_draw d = {0};
  const int draws = n > 1000 ? ROUNDS_OF(4000) : 20000;
  for (size_t i = 0; i < n; i++) p[i] = 0;
  for (int i = 0; i < draws; i++) {
    CHECK(tsl_sampler_draw(s, x, n, NULL, &d) == TSL_OK);
    p[d.token] = d.probability;
  }
  CHECKF(fabs(d.legal_mass - 1) < 1e-12 && d.allowed == n, "legal mass %g", d.legal_mass);
  tsl_sampler_free(s);
  return d.kept;
}

static void check_probabilities(const char *name, const double *got, const double *want, size_t n,
                                double tolerance) {
  for (size_t i = 0; i < n; i++)
    CHECKF(fabs(got[i] - want[i]) <= tolerance, "%s: token %zu: %.5f, not %.5f", name, i, got[i],
           want[i]);
}

/* mat sofa floor bed moon banana */
static const float cat[6] = {6.0f, 5.0f, 4.5f, 3.5f, 2.0f, 0.0f};

static void golden_temperature(void) {
  static const struct {
    float temperature;
    size_t n;
    double want[6];
  } rows[] = {
      {1.0f, 6, {0.590, 0.217, 0.132, 0.048, 0.011, 0.002}},
      {0.5f, 4, {0.839, 0.114, 0.042, 0.006}},
      {2.0f, 6, {0.392, 0.238, 0.185, 0.112, 0.053, 0.020}},
  };
  double p[8];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK(probabilities(cat, 6, sampler_of(i, rows[i].temperature, 0, 1, 0), p) == 6);
    check_probabilities("cat", p, rows[i].want, rows[i].n, 0.001);
  }
  static const float weather[8] = {3.10f, 2.40f, 1.90f, 1.20f, 0.90f, 0.40f, -0.20f, -0.80f};
  probabilities(weather, 8, sampler_of(1, 0.2f, 0, 1, 0), p);
  CHECKF(p[0] > 0.96, "nearly all on the first: %g", p[0]);
  double sharp = p[0];
  probabilities(weather, 8, sampler_of(1, 0.7f, 0, 1, 0), p);
  CHECK(p[0] < sharp);
  double middle = p[0];
  CHECK(probabilities(weather, 8, sampler_of(1, 2.0f, 0, 1, 0), p) == 8);
  CHECK(p[0] < middle && p[7] > 0.03);
  static const float pair[2][3] = {{5.0f, 4.9f, 1.0f}, {8.0f, 4.9f, 1.0f}};
  static const double want[2][3] = {{0.52, 0.47, 0.01}, {0.96, 0.04, 0.00}};
  for (int i = 0; i < 2; i++) {
    probabilities(pair[i], 3, sampler_of(2, 1, 0, 1, 0), p);
    check_probabilities("pair", p, want[i], 3, 0.006);
  }
}

static void golden_cut_offs(void) {
  static const double three[6] = {0.628, 0.231, 0.141, 0, 0, 0};
  double p[10];
  CHECK(probabilities(cat, 6, sampler_of(3, 1, 3, 1, 0), p) == 3);
  check_probabilities("top-k 3", p, three, 6, 0.001);
  CHECK(probabilities(cat, 6, sampler_of(3, 1, 0, 0.9f, 0), p) == 3);
  check_probabilities("top-p 0.9", p, three, 6, 0.001);
  CHECK(probabilities(cat, 6, sampler_of(3, 1, 0, 1, 0.1f), p) == 3);
  check_probabilities("min-p 0.1", p, three, 6, 0.001);

  static const double share[10] = {0.330, 0.220, 0.140, 0.110, 0.070,
                                   0.055, 0.035, 0.025, 0.010, 0.005};
  static const double six[10] = {0.357, 0.238, 0.151, 0.119, 0.076, 0.059, 0, 0, 0, 0};
  float x[10];
  for (int i = 0; i < 10; i++) x[i] = (float)log(share[i]);
  CHECK(probabilities(x, 10, sampler_of(4, 1, 0, 0.9f, 0), p) == 6);
  check_probabilities("nucleus", p, six, 10, 0.001);
}

/* Top-p looks at what top-k left, renormalised. Of {.628, .231, .141} 0.8 needs two, and of the six
 * 0.8 needs two as well. But 0.85 needs two against three. */
static void order_of_cut_offs(void) {
  double p[6];
  CHECK(probabilities(cat, 6, sampler_of(5, 1, 3, 0.85f, 0), p) == 2);
  CHECK(probabilities(cat, 6, sampler_of(5, 1, 0, 0.85f, 0), p) == 3);
  /* Temperature comes before the cut-offs: at 2, 0.9 needs four (.392 .238 .185 .112). */
  CHECK(probabilities(cat, 6, sampler_of(5, 2, 0, 0.9f, 0), p) == 4);
  CHECK(probabilities(cat, 6, sampler_of(5, 2, 0, 1, 0.1f), p) == 5);
}

/* What is said of a draw before it is made: its probability, how many are left, and nothing moves.
 */
static void distributions_are_drawn_from(void) {
  enum { WIDTH = 3000 };
  static float row[WIDTH];
  static double p[WIDTH], again[WIDTH];
  uint64_t state = 5;
  for (int round = 0; round < 40; round++) {
    tsl_stage_left left[13];
    size_t count = 13;
    tsl_draw d;
    double sum = 0;
    tsl_sampler *s = sampler_of((uint64_t)round, 0.5f + 0.05f * (float)round, round % 3 ? 0 : 40,
                                round % 2 ? 0.9f : 1, round % 5 ? 0 : 0.05f);
    for (int i = 0; i < WIDTH; i++) row[i] = (float)(tsl_test_random(&state) % 10000) / 1000.0f;
    CHECK(tsl_sampler_distribution(s, row, WIDTH, NULL, p, left, &count) == TSL_OK);
    CHECK(tsl_sampler_distribution(s, row, WIDTH, NULL, again, NULL, NULL) == TSL_OK);
    CHECK(!memcmp(p, again, sizeof p));
    CHECK(tsl_sampler_draw(s, row, WIDTH, NULL, &d) == TSL_OK);
    uint32_t kept = 0;
    for (int i = 0; i < WIDTH; i++) sum += p[i], kept += p[i] > 0;
    CHECKF(fabs(sum - 1) < 1e-9 && kept == d.kept, "%g, %u of %u", sum, kept, d.kept);
    CHECKF(fabs(p[d.token] - d.probability) < 1e-5 * d.probability, "%g %g", p[d.token],
           d.probability);
    for (size_t i = 1; i < count; i++) CHECK(left[i].left <= left[i - 1].left);
    CHECK(!count || left[count - 1].left == d.kept);
    tsl_sampler_free(s);
  }
}

static void golden_greedy(void) {
  static const float weather[8] = {3.10f, 2.40f, 1.90f, 1.20f, 0.90f, 0.40f, -0.20f, -0.80f};
  static const float ties[5] = {1, 7, -0.0f, 7, 7};
  static const float zeros[3] = {-1, -0.0f, 0.0f};
  tsl_sampler *s = sampler_of(0, 0, 0, 1, 0);
  tsl_draw d;
  CHECK(tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK && d.token == 0 && d.probability == 1 &&
        d.kept == 1 && d.allowed == 6);
  CHECK(tsl_sampler_draw(s, weather, 8, NULL, &d) == TSL_OK && d.token == 0);
  CHECK(tsl_sampler_draw(s, ties, 5, NULL, &d) == TSL_OK && d.token == 1);
  CHECK(tsl_sampler_draw(s, zeros, 3, NULL, &d) == TSL_OK && d.token == 1);
  uint32_t m = 0x1a; /* 1, 3, 4 */
  CHECK(tsl_sampler_draw(s, cat, 6, &m, &d) == TSL_OK && d.token == 1 && d.allowed == 3);
  CHECKF(fabs(d.legal_mass - (0.217 + 0.048 + 0.011)) < 0.002, "%g", d.legal_mass);
  tsl_sampler_free(s);
}

/* ---- everything else: a direct reference ----------------------------------------------------- */

typedef struct entry {
  long double weight;
  float logit;
  uint32_t id;
} entry;

static int by_rank(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->logit != y->logit) return x->logit > y->logit ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static int by_id(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

static entry list[WIDEST];

static bool open_at(size_t i) { return (mask[i >> 5] >> (i & 31)) & 1u; }

static long double list_mass(size_t n) {
  long double sum = 0;
  for (size_t i = 0; i < n; i++) sum += list[i].weight;
  return sum;
}

/* Sort everything; keep by the definitions. *doubt: the last step fell within rounding, so one
 * token more or less is right too. */
static size_t reference_kept(const tsl_sampler_options *o, size_t width, bool *doubt) {
  size_t n = 0;
  *doubt = false;
  for (size_t i = 0; i < width; i++)
    if (open_at(i) && isfinite(logits[i])) list[n++] = (entry){0, logits[i], (uint32_t)i};
  qsort(list, n, sizeof *list, by_rank);
  for (size_t i = 0; i < n; i++)
    list[i].weight = expl(((long double)list[i].logit - list[0].logit) / o->temperature);
  if (o->top_k && o->top_k < n) n = o->top_k;
  if (o->top_p > 0 && o->top_p < 1) {
    long double goal = list_mass(n) * o->top_p, sum = 0;
    size_t i = 0;
    while (i < n && sum < goal) sum += list[i++].weight;
    *doubt |= i && (fabsl(sum - goal) < goal * 3e-6L ||
                    fabsl(sum - list[i - 1].weight - goal) < goal * 3e-6L);
    n = i;
  }
  if (o->min_p > 0) {
    size_t i = 0;
    while (i < n && list[i].weight >= o->min_p) i++;
    *doubt |= (i < n && list[i].weight > o->min_p * 0.99999L) ||
              (i && list[i - 1].weight < o->min_p * 1.00001L);
    n = i;
  }
  qsort(list, n, sizeof *list, by_id);
  return n;
}

/* The token at u, or the two around it if u is within rounding of a border. */
static void reference_tokens(size_t n, double u, uint32_t token[2], double *probability) {
  long double total = list_mass(n), sum = 0, slack = 1e-5L * total;
  token[0] = token[1] = UINT32_MAX;
  for (size_t i = 0; i < n; i++) {
    sum += list[i].weight;
    if (token[0] == UINT32_MAX && sum > u * total - slack) token[0] = list[i].id;
    if (token[1] == UINT32_MAX && sum > u * total + slack) token[1] = list[i].id;
    if (token[1] == UINT32_MAX && i == n - 1) token[1] = list[i].id;
  }
  *probability = (double)total;
}

static double reference_legal_mass(size_t width) {
  float top = -INFINITY;
  long double all = 0, legal = 0;
  for (size_t i = 0; i < width; i++)
    if (logits[i] > top) top = logits[i];
  for (size_t i = 0; i < width; i++) {
    if (!isfinite(logits[i])) continue;
    long double w = expl((long double)logits[i] - top);
    all += w;
    if (open_at(i)) legal += w;
  }
  return (double)(legal / all);
}

/* The token lies between the two that the border allows, and weighs what it should. */
static void check_token(const tsl_draw *d, size_t n, double u) {
  uint32_t token[2];
  double total;
  reference_tokens(n, u, token, &total);
  CHECKF(d->token >= token[0] && d->token <= token[1], "token %u, not %u … %u", d->token, token[0],
         token[1]);
  entry key = {0, 0, d->token}, *e = bsearch(&key, list, n, sizeof *list, by_id);
  CHECK(e != NULL);
  if (!e) return;
  double want = (double)e->weight / total;
  CHECKF(fabs(d->probability - want) <= 1e-5 * want, "probability %.9g, not %.9g", d->probability,
         want);
}

static void check_draws(size_t width, const tsl_sampler_options *o, int draws) {
  static unsigned long number;
  if (!tsl_test_turn(number++, TURN_OF(3, 7))) return;
  bool doubt;
  size_t allowed = 0, n = reference_kept(o, width, &doubt);
  for (size_t i = 0; i < width; i++) allowed += open_at(i);
  double mass = reference_legal_mass(width);
  tsl_sampler *s = sampler_of(o->seed, o->temperature, o->top_k, o->top_p, o->min_p);
  for (int i = 0; i < draws; i++) {
    tsl_draw d;
    CHECK(tsl_sampler_draw(s, logits, width, mask, &d) == TSL_OK);
    CHECK(d.allowed == allowed);
    CHECKF(fabs(d.legal_mass - mass) <= 1e-5 * mass + 1e-36, "legal mass %.9g, not %.9g",
           d.legal_mass, mass);
    if (doubt) continue;
    bool cut = o->top_k || (o->top_p > 0 && o->top_p < 1) || o->min_p > 0;
    CHECKF(cut ? d.kept == n : d.kept >= n && d.kept <= allowed,
           "width %zu T %g k %u p %g m %g: kept %u, not %zu", width, (double)o->temperature,
           o->top_k, (double)o->top_p, (double)o->min_p, d.kept, n);
    if (!cut || d.kept == n) check_token(&d, n, tsl__rng_uniform(o->seed, (uint64_t)i));
  }
  tsl_sampler_free(s);
}

typedef enum shape { GAUSS, FLAT, STEPS, PEAKED, ODD, SHAPES } shape;

static float logit_of(uint64_t *seed, shape kind) {
  double bell = -6;
  for (int i = 0; i < 12; i++) bell += tsl_test_uniform(seed);
  switch (kind) {
  case FLAT: return 1.25f;                               /* everything is a tie */
  case STEPS: return (float)(tsl_test_random(seed) % 5); /* ties by the thousand */
  case PEAKED: return tsl_test_random(seed) % 512 ? (float)bell - 20 : (float)bell * 2;
  case ODD: return tsl_test_random(seed) % 8 ? (float)bell * 3 : -INFINITY; /* a host's own mask */
  default: return (float)bell * 2.5f;
  }
}

static void fill(uint64_t *seed, size_t width, shape kind) {
  static const unsigned densities[] = {1, 64, 2048, 4000, 4096};
  unsigned density = densities[tsl_test_random(seed) % 5];
  memset(mask, 0, sizeof mask);
  for (size_t i = 0; i < width; i++) {
    logits[i] = logit_of(seed, kind);
    if (tsl_test_random(seed) % 4096 < density) mask[i >> 5] |= 1u << (i & 31);
  }
  size_t sure = tsl_test_random(seed) % width; /* at least one can be drawn */
  mask[sure >> 5] |= 1u << (sure & 31);
  logits[sure] = 2;
  if (kind == ODD)
    for (size_t i = 0; i < width; i++) /* what is forbidden may be NaN */
      if (!open_at(i) && tsl_test_random(seed) % 50 == 0) logits[i] = NAN;
}

static void random_options(uint64_t *seed, size_t width, tsl_sampler_options *o) {
  static const float temperatures[] = {1.0f, 0.7f, 2.0f, 0.1f};
  uint64_t r = tsl_test_random(seed);
  o->seed = tsl_test_random(seed);
  o->temperature = temperatures[r % 4];
  o->top_k = r >> 8 & 1 ? (uint32_t)(1 + (r >> 32) % (r >> 9 & 1 ? 60 : width)) : 0;
  o->top_p = r >> 10 & 1 ? 0.05f + 0.94f * (float)tsl_test_uniform(seed) : 1;
  o->min_p = r >> 11 & 1 ? 0.3f * (float)tsl_test_uniform(seed) : 0;
}

static void against_reference(void) {
  static const size_t widths[] = {6, 31, 32, 33, 500, 1024, 1025, 5000, 32000};
  uint64_t seed = 11;
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
    for (int round = 0; round < (widths[w] > 2000 ? 25 : 100); round++) {
      tsl_sampler_options o;
      fill(&seed, widths[w], (shape)(round % SHAPES));
      random_options(&seed, widths[w], &o);
      check_draws(widths[w], &o, 5);
    }
}

static void against_reference_broad(void) {
  static const size_t widths[] = {128256, 262144};
  uint64_t seed = 12;
  for (size_t w = 0; w < 2; w++)
    for (int kind = 0; kind < SHAPES; kind++) {
      tsl_sampler_options o;
      fill(&seed, widths[w], (shape)kind);
      random_options(&seed, widths[w], &o);
      check_draws(widths[w], &o, 3);
      o.top_p = 0.9f;
      o.top_k = 0;
      check_draws(widths[w], &o, 1);
    }
}

/* Frequencies over many draws are the probabilities. */
static void frequencies(void) {
  enum { N = 6, DRAWS = 60000 };
  static const double want[N] = {0.58950, 0.21687, 0.13154, 0.04839, 0.01080, 0.00146};
  unsigned seen[N] = {0};
  tsl_sampler *s = sampler_of(99, 1, 0, 1, 0);
  for (int i = 0; i < DRAWS; i++) {
    tsl_draw d;
    CHECK(tsl_sampler_draw(s, cat, N, NULL, &d) == TSL_OK);
    seen[d.token]++;
  }
  tsl_sampler_free(s);
  double square = 0;
  for (int i = 0; i < N; i++)
    square += (seen[i] - want[i] * DRAWS) * (seen[i] - want[i] * DRAWS) / (want[i] * DRAWS);
  CHECKF(square < 20.5, "chi-square %.2f with 5 degrees of freedom", square);
}

/* Every level draws the same tokens with the same probabilities, to the bit. */
static void levels_draw_alike(void) {
  uint64_t seed = 13;
  for (int round = 0; round < ROUNDS_OF(40); round++) {
    size_t width = 1 + tsl_test_random(&seed) % 20000;
    tsl_sampler_options o;
    fill(&seed, width, (shape)(round % SHAPES));
    random_options(&seed, width, &o);
    tsl_draw want = {0};
    for (int l = 0; l < TSL__LOGITS_LEVELS; l++) {
      if (!tsl__logits_force((tsl__logits_level)l)) continue;
      tsl_sampler *s = sampler_of(o.seed, o.temperature, o.top_k, o.top_p, o.min_p);
      tsl_draw d;
      CHECK(tsl_sampler_draw(s, logits, width, mask, &d) == TSL_OK);
      if (l == TSL__LOGITS_PORTABLE) want = d;
      CHECK(d.token == want.token && d.probability == want.probability &&
            d.legal_mass == want.legal_mass && d.kept == want.kept);
      tsl_sampler_free(s);
    }
  }
  tsl__logits_force(TSL__LOGITS_AUTO);
}

/* Tokens and probabilities that every platform and compiler must give: inputs are made of integers,
 * and the bits of the results are pinned. */
static void pinned_draws(void) {
  static const tsl_sampler_options how[] = {
      {.seed = 1, .temperature = 1},
      {.seed = 2, .temperature = 0.7f, .top_k = 40},
      {.seed = 3, .temperature = 1.3f, .top_p = 0.9f},
      {.seed = 4, .temperature = 0.9f, .min_p = 0.05f},
      {.seed = 5, .temperature = 0.8f, .top_k = 50, .top_p = 0.95f, .min_p = 0.02f}};
  uint64_t seed = 41, hash = 0;
  for (size_t i = 0; i < 32000; i++)
    logits[i] = (float)(int)(tsl_test_random(&seed) % 4000) / 256.0f - 9.0f;
  for (size_t i = 0; i < 1000; i++) mask[i] = (uint32_t)tsl_test_random(&seed);
  for (size_t h = 0; h < sizeof how / sizeof *how; h++) {
    tsl_sampler *s =
        sampler_of(how[h].seed, how[h].temperature, how[h].top_k, how[h].top_p, how[h].min_p);
    for (int i = 0; i < 50; i++) {
      tsl_draw d;
      uint64_t bits[2];
      CHECK(tsl_sampler_draw(s, logits, 32000, mask, &d) == TSL_OK);
      memcpy(&bits[0], &d.probability, sizeof bits[0]);
      memcpy(&bits[1], &d.legal_mass, sizeof bits[1]);
      hash = (((hash * 31 + d.token) * 31 + bits[0]) * 31 + bits[1]) * 31 + d.kept;
    }
    tsl_sampler_free(s);
  }
  CHECKF(hash == 0xec13a4e90a2ec86du, "hash of 250 draws: 0x%016" PRIx64, hash);
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void bad_logits(void) {
  tsl_sampler *s = sampler_of(1, 1, 0, 1, 0);
  tsl_draw d = {.token = 77}, e;
  uint32_t none = 0, first = 1, second = 2;
  float nan_first[3] = {NAN, 1, 2}, inf_first[3] = {INFINITY, 1, 2},
        low[3] = {-INFINITY, -INFINITY, -INFINITY};
  CHECK(tsl_sampler_draw(s, nan_first, 3, NULL, &d) == TSL_ERR_LOGITS);
  CHECK(tsl_sampler_draw(s, inf_first, 3, NULL, &d) == TSL_ERR_LOGITS);
  CHECK(tsl_sampler_draw(s, low, 3, NULL, &d) == TSL_ERR_LOGITS);
  CHECK(tsl_sampler_draw(s, cat, 6, &none, &d) == TSL_ERR_LOGITS);
  CHECK(tsl_sampler_draw(s, nan_first, 3, &first, &d) == TSL_ERR_LOGITS);
  CHECK(d.token == 77); /* untouched */
  CHECK(tsl_sampler_draw(s, nan_first, 3, &second, &d) == TSL_OK && d.token == 1 &&
        d.legal_mass > 0 && d.legal_mass < 1);
  CHECK(tsl_sampler_draw(s, inf_first, 3, &second, &d) == TSL_OK && d.token == 1 &&
        d.legal_mass == 0 && d.probability == 1);
  /* Failures do not advance the generator: the third draw of both is the same. */
  tsl_sampler *t = sampler_of(1, 1, 0, 1, 0);
  for (int i = 0; i < 3; i++) CHECK(tsl_sampler_draw(t, cat, 6, NULL, &e) == TSL_OK);
  CHECK(tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK && d.token == e.token);
  tsl_sampler_free(s);
  tsl_sampler_free(t);
}

static void bad_arguments(void) {
  static const tsl_stage unknown[] = {TSL_STAGE_TOP_K, (tsl_stage)14},
                         twice[] = {TSL_STAGE_TOP_K, TSL_STAGE_TOP_K}, one[] = {TSL_STAGE_TOP_K};
  static const tsl_token_bias bias[] = {{3, 1}, {2, 1}, {3, 2}}, infinite[] = {{3, INFINITY}};
  static const tsl_sampler_options bad[] = {{.temperature = -1},
                                            {.temperature = NAN},
                                            {.top_p = 1.5f},
                                            {.top_p = -0.1f},
                                            {.top_p = NAN},
                                            {.min_p = 2},
                                            {.min_p = -1},
                                            {.min_p = NAN},
                                            {.typical_p = 1.1f},
                                            {.typical_p = NAN},
                                            {.epsilon = -1},
                                            {.epsilon = 2},
                                            {.eta = NAN},
                                            {.top_n_sigma = -1},
                                            {.top_n_sigma = INFINITY},
                                            {.xtc_probability = 2},
                                            {.xtc_threshold = -1},
                                            {.mirostat_tau = -1},
                                            {.mirostat_eta = NAN},
                                            {.repetition_penalty = -1},
                                            {.frequency_penalty = NAN},
                                            {.presence_penalty = INFINITY},
                                            {.dry_multiplier = -1},
                                            {.dry_base = NAN},
                                            {.dynamic_range = -1},
                                            {.dynamic_exponent = NAN},
                                            {.bias = bias, .bias_count = 3},
                                            {.bias = infinite, .bias_count = 1},
                                            {.bias_count = 1},
                                            {.allowed_count = 1},
                                            {.banned_count = 1},
                                            {.eog_count = 1},
                                            {.dry_breaker_count = 1},
                                            {.stage_count = 1},
                                            {.stages = unknown, .stage_count = 2},
                                            {.stages = twice, .stage_count = 2},
                                            {.top_p = 0.5f, .stages = one, .stage_count = 1},
                                            {.temperature = 0.5f, .stages = one, .stage_count = 1}};
  tsl_sampler *s;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK(tsl_sampler_new(&bad[i], NULL, &s) == TSL_ERR_ARGUMENT && !s);
  CHECK(tsl_sampler_new(NULL, NULL, &s) == TSL_ERR_ARGUMENT);
  CHECK(tsl_sampler_new(&bad[0], NULL, NULL) == TSL_ERR_ARGUMENT);
  tsl_sampler_free(NULL);
  s = sampler_of(0, 1, 0, 1, 0);
  tsl_draw d;
  CHECK(tsl_sampler_draw(NULL, cat, 6, NULL, &d) == TSL_ERR_ARGUMENT);
  CHECK(tsl_sampler_draw(s, NULL, 6, NULL, &d) == TSL_ERR_ARGUMENT);
  CHECK(tsl_sampler_draw(s, cat, 0, NULL, &d) == TSL_ERR_ARGUMENT);
  CHECK(tsl_sampler_draw(s, cat, 6, NULL, NULL) == TSL_ERR_ARGUMENT);
  CHECK(tsl_sampler_draw(s, cat, (size_t)TSL_MAX_VOCAB + 1, NULL, &d) == TSL_ERR_ARGUMENT);
  tsl_sampler_free(s);
}

/* Temperatures at both ends, and logits as far apart as floats can be. */
static void extremes(void) {
  static const float far_apart[3] = {FLT_MAX, -FLT_MAX, 0};
  static const float temperatures[] = {1e-45f, 1e-30f, 1, FLT_MAX, INFINITY};
  for (size_t i = 0; i < sizeof temperatures / sizeof *temperatures; i++) {
    tsl_sampler *s = sampler_of(5, temperatures[i], 0, 1, 0);
    tsl_draw d;
    CHECK(tsl_sampler_draw(s, far_apart, 3, NULL, &d) == TSL_OK);
    CHECKF(d.probability > 0 && d.probability <= 1 && d.kept == 3, "T %g: %g",
           (double)temperatures[i], d.probability);
    CHECK(i >= 3 || d.token == 0);
    /* the farthest apart weigh nothing */
    CHECK(!isinf(temperatures[i]) || fabs(d.probability - 1.0 / 2) < 1e-12);
    CHECK(tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK && d.probability > 0);
    tsl_sampler_free(s);
  }
}

/* Equal logits: top-k and top-p keep the lowest ids. */
static void ties(void) {
  for (size_t i = 0; i < 5000; i++) logits[i] = 3;
  double p[5000];
  CHECK(probabilities(logits, 5000, sampler_of(3, 1, 2000, 1, 0), p) == 2000);
  for (size_t i = 2000; i < 5000; i++) CHECK(p[i] == 0);
  CHECK(probabilities(logits, 5000, sampler_of(3, 1, 0, 0.5f, 0), p) == 2500);
  CHECK(probabilities(logits, 5000, sampler_of(3, 1, 2000, 0.5f, 0.1f), p) == 1000);
  for (size_t i = 1000; i < 5000; i++) CHECK(p[i] == 0);
}

static void same_seed_same_tokens(void) {
  uint64_t seed = 21;
  fill(&seed, 3000, GAUSS);
  tsl_sampler *a = sampler_of(8, 1, 0, 1, 0), *b = sampler_of(8, 1, 0, 1, 0),
              *c = sampler_of(9, 1, 0, 1, 0);
  int differ = 0;
  for (int i = 0; i < 200; i++) {
    tsl_draw x, y, z;
    CHECK(!tsl_sampler_draw(a, logits, 3000, NULL, &x) &&
          !tsl_sampler_draw(b, logits, 3000, NULL, &y) &&
          !tsl_sampler_draw(c, logits, 3000, NULL, &z));
    CHECK(x.token == y.token);
    differ += x.token != z.token;
  }
  CHECK(differ > 100);
  tsl_sampler_free(a);
  tsl_sampler_free(b);
  tsl_sampler_free(c);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void every_allocation_fails(void) {
  uint64_t seed = 31;
  fill(&seed, 9000, GAUSS);
  int failures = 0;
  for (int nth = 0; nth < 10; nth++) {
    failing f = {nth, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_sampler_options o = {.seed = 1, .temperature = 1, .top_k = 40, .top_p = 0.9f};
    tsl_sampler *s;
    tsl_draw d;
    tsl_status made = tsl_sampler_new(&o, &a, &s);
    CHECK(made == TSL_OK || (made == TSL_ERR_NO_MEMORY && !s));
    failures += made != TSL_OK;
    if (made == TSL_OK) {
      tsl_status drawn = tsl_sampler_draw(s, logits, 9000, mask, &d);
      CHECK(drawn == TSL_OK || drawn == TSL_ERR_NO_MEMORY);
      failures += drawn != TSL_OK;
      f.left = 100;
      CHECK(tsl_sampler_draw(s, logits, 9000, mask, &d) == TSL_OK);
    }
    tsl_sampler_free(s);
    CHECK(f.held == 0);
  }
  CHECKF(failures == 6, "%d", failures);
}

/* With the argument "bits": only what must be the same on every platform
 * (tests/programs/test_cross.py). */
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "bits")) {
    RUN(levels_draw_alike, "every vector level draws the same");
    RUN(pinned_draws, "250 draws, bits the same on every platform");
    return tsl_test_end();
  }
  RUN(philox_answers, "Philox4x32-10: known answers");
  RUN(uniform_is_uniform, "uniform numbers: chi-square, range, streams");
  RUN(golden_temperature, "worked examples: temperature");
  RUN(golden_cut_offs, "worked examples: top-k, top-p, min-p");
  RUN(distributions_are_drawn_from, "the probability of each draw, before it");
  RUN(golden_greedy, "worked examples: greedy, ties, legal mass");
  RUN(order_of_cut_offs, "temperature, then top-k, then top-p");
  RUN(against_reference, "random rows up to 32,000 against sorting");
  RUN(against_reference_broad, "rows of 128,256 and 262,144 against sorting");
  RUN(frequencies, "60,000 draws: chi-square");
  RUN(levels_draw_alike, "every vector level draws the same");
  RUN(pinned_draws, "250 draws, bits the same on every platform");
  RUN(bad_logits, "NaN, infinities, nothing allowed");
  RUN(bad_arguments, "options and arguments out of range");
  RUN(extremes, "temperatures and logits at their ends");
  RUN(ties, "equal logits keep the lowest ids");
  RUN(same_seed_same_tokens, "equal seeds, equal tokens");
  RUN(every_allocation_fails, "every nth allocation fails");
  return tsl_test_end();
}
