/* test_keep.c - the first ones of a ranking where thousands are kept, so that the row stays wide:
 * what is left is looked at itself.
 *
 * Where 128,256 tokens weigh almost the same, a mass reaches its goal within rounding at several
 * tokens, and comparing with a reference says nothing. Three properties must hold all the same. The
 * kept tokens are the first ones of the ranking, ties by id, without a gap. They reach the goal,
 * and without the last of them they do not. Both are meant but for rounding (1e-6 of the mass).
 * Rows are flat, bell curves, all equal, of two or three values, with infinities, rising, falling.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "runtime/sample/sampler.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"

#define WIDEST 262144u

static float logits[WIDEST];
static uint32_t mask[WIDEST / 32];

/* ---- rows ------------------------------------------------------------------------------------ */

typedef enum shape {
  FLAT,
  ALMOST_FLAT,
  BELL,
  SHARP_BELL,
  EQUAL,
  THREE_VALUES,
  HOLES,
  RISING,
  FALLING,
  ONE_PEAK,
  HUGE_STEPS,
  ZEROS,
  SHAPES
} shape;

static float logit_of(uint64_t *seed, shape kind, size_t i, size_t width) {
  double u = tsl_test_uniform(seed), bell = -6, along = (double)i / (double)width;
  for (int j = 0; j < 12; j++) bell += tsl_test_uniform(seed);
  switch (kind) {
  case FLAT: return (float)u;
  case ALMOST_FLAT: return 1 + (float)(u * 1e-5);
  case BELL: return (float)bell;
  case SHARP_BELL: return (float)(bell * 3);
  case EQUAL: return -2.5f;
  case THREE_VALUES: return u < 0.3 ? 1.0f : u < 0.7 ? 1.0000001f : 0.5f;
  case HOLES: return u < 0.4 ? -INFINITY : (float)bell;
  case RISING: return (float)(along * 40);
  case FALLING: return (float)(-along * 2);
  case ONE_PEAK: return i == width / 3 ? 3 : (float)(u * 1e-3);
  case HUGE_STEPS: return u < 0.5 ? -3e38f : (float)(bell * 1e-3);
  case ZEROS: return u < 0.5 ? -0.0f : 0.0f;
  case SHAPES: break;
  }
  return 0;
}

static void fill(uint64_t *seed, size_t width, shape kind) {
  bool all = tsl_test_random(seed) % 2;
  memset(mask, 0, sizeof mask);
  for (size_t i = 0; i < width; i++) {
    logits[i] = logit_of(seed, kind, i, width);
    if (all || tsl_test_random(seed) % 8)
      mask[i >> 5] |= 1u << (i & 31);
    else if (tsl_test_random(seed) % 9 == 0)
      logits[i] = NAN; /* what is forbidden may be anything */
  }
}

/* ---- what is left ---------------------------------------------------------------------------- */

typedef struct token {
  double value; /* ranked by: larger first */
  double weight;
  tsl_token id;
  bool kept;
} token;

static token tokens[WIDEST];

static int by_rank(const void *a, const void *b) {
  const token *x = a, *y = b;
  return x->value != y->value ? (x->value > y->value ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

/* Is the token in the sampler's candidates? */
static bool is_left(const tsl__candidates *c, tsl_token id) {
  if (c->dense && tsl_mask_has(c->mask, id)) return true;
  return tsl__sorted_has(c->id, c->n, id);
}

/* All candidates, in the ranking; weights by long double. */
static size_t rank(const tsl_sampler *s, size_t width, double middle, bool by_distance) {
  const tsl__candidates *c = &s->candidates;
  size_t n = 0;
  float top = -INFINITY;
  for (size_t i = 0; i < width; i++)
    if (tsl_mask_has(mask, (tsl_token)i) && logits[i] > top) top = logits[i];
  for (size_t i = 0; i < width; i++) {
    if (!tsl_mask_has(mask, (tsl_token)i) || logits[i] == -INFINITY) continue;
    float bits = tsl__logits_argument(logits[i], top, c->scale), aside = bits - (float)middle;
    double value = by_distance ? -fabs((double)aside) : (double)logits[i] + 0.0;
    tokens[n++] = (token){
        value, (double)expl(((long double)logits[i] - (long double)top) * (long double)c->scale),
        (tsl_token)i, is_left(c, (tsl_token)i)};
  }
  qsort(tokens, n, sizeof *tokens, by_rank);
  return n;
}

static const char *current;

/* The tokens kept are the first ones; returns how many. */
static size_t check_prefix(size_t n) {
  size_t kept = 0, first_gap = SIZE_MAX, wrong = 0;
  for (size_t i = 0; i < n; i++) {
    if (!tokens[i].kept && first_gap == SIZE_MAX) first_gap = i;
    wrong += tokens[i].kept && first_gap != SIZE_MAX;
    kept += tokens[i].kept;
  }
  CHECKF(wrong == 0, "%s: %zu of %zu kept come after the first that is not", current, wrong, kept);
  return kept;
}

static void check_mass(size_t n, size_t kept, double p) {
  double all = 0, first = 0;
  for (size_t i = 0; i < n; i++) all += tokens[i].weight;
  for (size_t i = 0; i < kept; i++) first += tokens[i].weight;
  CHECKF(first >= (p - 1e-6) * all, "%s: %zu of %zu kept weigh %.9g, not %.9g", current, kept, n,
         first / all, p);
  CHECKF(kept && first - tokens[kept - 1].weight <= (p + 1e-6) * all,
         "%s: %zu of %zu kept weigh %.9g: one too many for %.9g", current, kept, n, first / all, p);
}

/* The mean argument, in bits, as the sampler finds it (its own moments: the order of tokens depends
 * on its last bit). */
static double middle_of(size_t width) {
  tsl__candidates c;
  tsl_allocator a = *tsl__allocator_or_default(NULL);
  tsl__candidates_init(&c, &a);
  bool ok =
      tsl__candidates_begin(&c, logits, mask, width) && tsl__candidates_survey(&c, NAN) == TSL_OK;
  tsl__logits_moments m = tsl__candidates_moments(&c);
  tsl__candidates_free(&c);
  CHECK(ok);
  return (double)(float)(m.moment / m.mass);
}

static void check_row(size_t width, const tsl_sampler_options *o) {
  tsl_sampler *s;
  tsl_draw d;
  CHECK(tsl_sampler_new(o, NULL, &s) == TSL_OK);
  CHECKF(tsl_sampler_draw(s, logits, width, mask, &d) == TSL_OK, "%s", current);
  bool typical = o->typical_p > 0;
  size_t n = rank(s, width, typical ? middle_of(width) : 0, typical), kept = check_prefix(n);
  CHECKF(d.kept == kept && is_left(&s->candidates, d.token), "%s: kept %u, not %zu", current,
         d.kept, kept);
  if (o->top_k)
    CHECKF(kept == (o->top_k < n ? o->top_k : n), "%s: top-k %u keeps %zu of %zu", current,
           o->top_k, kept, n);
  else if (o->temperature == 0)
    CHECKF(kept == 1, "%s: greedy keeps %zu", current, kept);
  else if (o->top_p > 0)
    check_mass(n, kept, (double)o->top_p);
  else if (typical)
    check_mass(n, kept, (double)o->typical_p);
  tsl_sampler_free(s);
}

static const char *const names[SHAPES] = {"flat",    "almost flat",  "bell",       "sharp bell",
                                          "equal",   "three values", "holes",      "rising",
                                          "falling", "one peak",     "huge steps", "zeros"};

static void check_shape(uint64_t *seed, size_t width, shape kind) {
  float p = 0.02f + 0.97f * (float)tsl_test_uniform(seed);
  fill(seed, width, kind);
  current = names[kind];
  check_row(width, &(tsl_sampler_options){.seed = 1, .temperature = 1, .top_p = p});
  check_row(width, &(tsl_sampler_options){.seed = 2, .temperature = 1, .typical_p = p});
  check_row(width, &(tsl_sampler_options){.seed = 3,
                                          .temperature = 1,
                                          .top_k = 1 + (uint32_t)(tsl_test_random(seed) % width)});
  check_row(width, &(tsl_sampler_options){.seed = 4, .temperature = 0});
  if (width == 128256) return;
  check_row(width, &(tsl_sampler_options){.seed = 5, .temperature = 1, .top_p = 0.99999994f});
  check_row(width, &(tsl_sampler_options){.seed = 6, .temperature = 1, .typical_p = 0.99999994f});
  check_row(width, &(tsl_sampler_options){.seed = 7, .temperature = 1, .top_p = 1e-6f});
}

static void prefixes(void) {
  uint64_t seed = 201;
  for (shape kind = FLAT; kind < SHAPES; kind++) {
    for (int round = 0; round < 3; round++)
      check_shape(&seed, 4097 + tsl_test_random(&seed) % 30000, kind);
    check_shape(&seed, 128256, kind);
  }
  check_shape(&seed, WIDEST, FLAT);
  check_shape(&seed, WIDEST - 17, BELL);
}

/* ---- tokens of the list beside a wide part --------------------------------------------------- */

/* Penalised tokens stand in the list; the first ones of both together are kept. Stages in a row:
 * top-k leaves 20,000, top-p some of these, min-p fewer. */
static void beside_a_list(void) {
  uint64_t seed = 202;
  static const tsl_stage order[] = {TSL_STAGE_PENALTIES, TSL_STAGE_TOP_K, TSL_STAGE_TOP_P,
                                    TSL_STAGE_MIN_P, TSL_STAGE_TEMPERATURE};
  for (int round = 0; round < 12; round++) {
    size_t width = 60000;
    fill(&seed, width, round % 3 == 0 ? FLAT : round % 3 == 1 ? EQUAL : BELL);
    tsl_sampler_options o = {.seed = 7,
                             .temperature = 0.9f,
                             .top_k = 20000,
                             .top_p = 0.9f,
                             .min_p = 0.01f,
                             .presence_penalty = -0.25f,
                             .stages = order,
                             .stage_count = 5};
    tsl_sampler *s;
    tsl_draw d;
    CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK);
    for (int i = 0; i < 300; i++) {
      tsl_token t = (tsl_token)(tsl_test_random(&seed) % width);
      CHECK(tsl_sampler_accept(s, t) == TSL_OK);
    }
    CHECK(tsl_sampler_draw(s, logits, width, mask, &d) == TSL_OK);
    /* The penalty is negative: tokens seen are likelier. Rank all by their changed logits. */
    size_t n = 0;
    for (size_t i = 0; i < width; i++)
      if (tsl_mask_has(mask, (tsl_token)i)) {
        bool seen = false;
        for (size_t k = 0; k < s->history.seen.n; k++) seen |= s->history.seen.at[k].token == i;
        double x = (double)(float)((double)logits[i] + (seen ? 0.25 : 0));
        tokens[n++] = (token){x, exp(x), (tsl_token)i, is_left(&s->candidates, (tsl_token)i)};
      }
    qsort(tokens, n, sizeof *tokens, by_rank);
    current = "penalties, top-k, top-p, min-p";
    size_t kept = check_prefix(n), least = n < 20000 ? n : 20000, heavy = 0;
    while (heavy < least && tokens[heavy].weight >= 0.0100001 * tokens[0].weight) heavy++;
    CHECKF(kept == d.kept && kept > 100, "kept %u, not %zu", d.kept, kept);
    if (heavy > kept) check_mass(least, kept, 0.9); /* min-p took none */
    tsl_sampler_free(s);
  }
}

/* ---- levels, memory -------------------------------------------------------------------------- */

static void levels_agree(void) {
  uint64_t seed = 203;
  for (int round = 0; round < 36; round++) {
    size_t width = 5000 + tsl_test_random(&seed) % 20000;
    fill(&seed, width, (shape)(round % SHAPES));
    tsl_sampler_options o = {.seed = (uint64_t)round, .temperature = round % 4 == 3 ? 0.7f : 1};
    if (round / SHAPES == 0) o.top_p = 0.8f;
    if (round / SHAPES == 1) o.typical_p = 0.7f;
    if (round / SHAPES == 2) o.top_k = 4500;
    tsl_draw want = {0}, d;
    for (int level = 0; level < TSL__LOGITS_LEVELS; level++) {
      if (!tsl__logits_force((tsl__logits_level)level)) continue;
      tsl_sampler *s;
      CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK &&
            tsl_sampler_draw(s, logits, width, mask, &d) == TSL_OK);
      if (level == TSL__LOGITS_PORTABLE) want = d;
      CHECKF(d.token == want.token && d.probability == want.probability && d.kept == want.kept,
             "%s: %u of %u, not %u of %u", names[round % SHAPES], d.token, d.kept, want.token,
             want.kept);
      tsl_sampler_free(s);
    }
  }
  tsl__logits_force(TSL__LOGITS_AUTO);
}

/* Tokens, probabilities and numbers of tokens kept that every platform and compiler must give; the
 * logits are made of integers. */
static void pinned_draws(void) {
  static const tsl_sampler_options how[] = {{.seed = 1, .temperature = 1, .top_p = 0.7f},
                                            {.seed = 2, .temperature = 1.25f, .typical_p = 0.6f},
                                            {.seed = 3, .temperature = 1, .top_k = 9000},
                                            {.seed = 4, .temperature = 0.5f, .min_p = 0.25f}};
  uint64_t seed = 205, hash = 0;
  for (size_t i = 0; i < 20000; i++)
    logits[i] = (float)(int)(tsl_test_random(&seed) % 1000) / 512.0f;
  memset(mask, 0xff, sizeof mask);
  for (size_t h = 0; h < sizeof how / sizeof *how; h++) {
    tsl_sampler *s;
    CHECK(tsl_sampler_new(&how[h], NULL, &s) == TSL_OK);
    for (int i = 0; i < 20; i++) {
      tsl_draw d;
      uint64_t bits;
      CHECK(tsl_sampler_draw(s, logits, 20000, mask, &d) == TSL_OK && d.kept > TSL__NARROW);
      memcpy(&bits, &d.probability, sizeof bits);
      hash = ((hash * 31 + d.token) * 31 + bits) * 31 + d.kept;
    }
    tsl_sampler_free(s);
  }
  CHECKF(hash == 0x6673d31d71f5002eu, "hash of 80 draws: 0x%016" PRIx64, hash);
}

static void every_allocation_fails(void) {
  uint64_t seed = 204;
  fill(&seed, 20000, FLAT);
  long nth = 0;
  for (bool failed = true; failed && nth < 100; nth++) {
    failing f = {nth, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_sampler *s;
    tsl_draw d;
    tsl_status status = tsl_sampler_new(
        &(tsl_sampler_options){.temperature = 1, .top_k = 15000, .top_p = 0.9f, .typical_p = 0.9f},
        &a, &s);
    if (status == TSL_OK) status = tsl_sampler_draw(s, logits, 20000, mask, &d);
    CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
    failed = failing_failed(&f);
    tsl_sampler_free(s);
    CHECK(f.held == 0);
  }
  CHECKF(nth > 8 && nth < 100, "%ld allocations", nth - 1);
}

/* With the argument "bits": only what must be the same on every platform
 * (tests/programs/test_cross.py). */
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "bits")) {
    RUN(pinned_draws, "draws from flat rows, bits the same on every platform");
    return tsl_test_end();
  }
  RUN(prefixes, "what is kept comes first in the ranking");
  RUN(beside_a_list, "penalised tokens, and cut-offs in a row");
  RUN(levels_agree, "every vector level keeps the same");
  RUN(pinned_draws, "draws from flat rows, bits the same on every platform");
  RUN(every_allocation_fails, "every nth allocation fails");
  return tsl_test_end();
}
