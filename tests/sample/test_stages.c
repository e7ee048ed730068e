/* test_stages.c - every stage of the sampler against a direct implementation: sort everything, add
 * up in long double, by the definitions.
 *
 * A case is a row of 6 to 262,144 random logits, a random mask, a random history and random
 * options. The reference says which tokens are left and with what probability. Each draw must
 * agree. Where a decision of the reference falls within rounding (a sum within 2e-5 of its goal),
 * one token more or less is right, too. Such rows are counted and must stay few.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "runtime/core/fmath.h"
#include "runtime/core/rng.h"
#include "runtime/sample/sampler.h"
#include "tests/sample/stage_reference.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/stages.h"

/* ---- bans ------------------------------------------------------------------------------------ */

static bool in_list(const tsl_token *at, uint32_t n, tsl_token t) {
  for (uint32_t i = 0; i < n; i++)
    if (at[i] == t) return true;
  return false;
}

static bool ref_ngram(uint32_t n, tsl_token t) {
  for (size_t i = 0; n && i + n <= history_length; i++) {
    bool same = history[i + n - 1] == t;
    for (size_t j = 0; j + 1 < n; j++)
      same &= history[i + j] == history[history_length - n + 1 + j];
    if (same) return true;
  }
  return false;
}

static void drop_if(bool (*banned)(const tsl_sampler_options *, tsl_token),
                    const tsl_sampler_options *o, bool softly) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) n += !banned(o, list[i].id) && list[i].x > -INFINITY;
  if (!n && softly) return;
  n = 0;
  for (size_t i = 0; i < count; i++)
    if (!banned(o, list[i].id)) list[n++] = list[i];
  count = n;
}

static bool not_allowed(const tsl_sampler_options *o, tsl_token t) {
  return o->allowed_count && !in_list(o->allowed, o->allowed_count, t);
}
static bool is_banned(const tsl_sampler_options *o, tsl_token t) {
  return in_list(o->banned, o->banned_count, t);
}
static bool ends(const tsl_sampler_options *o, tsl_token t) {
  return in_list(o->eog, o->eog_count, t);
}
static bool goes_on(const tsl_sampler_options *o, tsl_token t) { return !ends(o, t); }
static bool repeats(const tsl_sampler_options *o, tsl_token t) {
  return ref_ngram(o->no_repeat_ngram, t);
}

static void reference(const tsl_sampler_options *o, size_t width, uint64_t draw, double surprise) {
  count = 0;
  heat = 1;
  doubt = false;
  for (size_t i = 0; i < width; i++)
    if (open_at(i)) list[count++] = (cand){.x = (long double)logits[i], .id = (uint32_t)i};
  drop_if(not_allowed, o, false);
  drop_if(is_banned, o, false);
  if (o->max_tokens && history_length >= o->max_tokens) drop_if(goes_on, o, true);
  if (o->no_repeat_ngram) drop_if(repeats, o, true);
  if (history_length < o->min_tokens) drop_if(ends, o, true);
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    if (list[i].x > -INFINITY) list[n++] = list[i];
  count = n;
  for (uint32_t i = 0; i < o->stage_count && count; i++) ref_stage(o, o->stages[i], draw, surprise);
  if (count) softmax();
}

/* ---- the comparison -------------------------------------------------------------------------- */

static unsigned long rows, doubtful, refused;

static const cand *find(uint32_t id) {
  for (size_t i = 0; i < count; i++)
    if (list[i].id == id) return &list[i];
  return NULL;
}

static void say(const tsl_sampler_options *o, size_t width) {
  fprintf(stderr,
          "  width %zu T %g range %g k %u p %g m %g typ %g eps %g eta %g sigma %g xtc %g/%g tau "
          "%g, stages",
          width, (double)o->temperature, (double)o->dynamic_range, o->top_k, (double)o->top_p,
          (double)o->min_p, (double)o->typical_p, (double)o->epsilon, (double)o->eta,
          (double)o->top_n_sigma, (double)o->xtc_probability, (double)o->xtc_threshold,
          (double)o->mirostat_tau);
  for (uint32_t i = 0; i < o->stage_count; i++) fprintf(stderr, " %d", (int)o->stages[i]);
  fputc('\n', stderr);
}

/* What changes nothing is not a cut-off; then `kept` may count -inf. */
static bool cuts(const tsl_sampler_options *o) {
  for (uint32_t i = 0; i < o->stage_count; i++)
    if (o->stages[i] >= TSL_STAGE_TOP_N_SIGMA && o->stages[i] != TSL_STAGE_XTC &&
        o->stages[i] != TSL_STAGE_TOP_K)
      return true;
  return o->top_k && o->top_k < count;
}

static void check_draw(const tsl_sampler_options *o, size_t width, const tsl_draw *d) {
  unsigned long before = tsl_test_failed;
  const cand *c = find(d->token);
  CHECKF(c != NULL, "token %u is not left", d->token);
  if (c) {
    double want = (double)c->p;
    CHECKF(fabs(d->probability - want) <= 4e-5 * want + 1e-12, "probability %.9g, not %.9g",
           d->probability, want);
  }
  CHECKF(cuts(o) ? d->kept == count : d->kept >= count, "kept %u, not %zu", d->kept, count);
  if (tsl_test_failed > before) say(o, width);
}

static void check_row(const tsl_sampler_options *o, size_t width, int draws) {
  static unsigned long number;
  if (!tsl_test_turn(number++, TURN_OF(1, 4))) return;
  tsl_sampler *s;
  CHECK(tsl_sampler_new(o, NULL, &s) == TSL_OK);
  for (size_t i = 0; i < history_length; i++) CHECK(tsl_sampler_accept(s, history[i]) == TSL_OK);
  double surprise = 2 * (double)o->mirostat_tau;
  for (int i = 0; i < draws; i++) {
    tsl_draw d;
    reference(o, width, (uint64_t)i, surprise);
    tsl_status status = tsl_sampler_draw(s, logits, width, mask, &d);
    rows++;
    doubtful += doubt;
    CHECKF(status == (count ? TSL_OK : TSL_ERR_LOGITS), "%s with %zu left", tsl_status_name(status),
           count);
    if (status != TSL_OK) {
      refused++;
      break;
    }
    if (!doubt) check_draw(o, width, &d);
    surprise -= (o->mirostat_eta > 0 ? (double)o->mirostat_eta : (double)0.1f) *
                (-log2(d.probability) - (double)o->mirostat_tau);
  }
  tsl_sampler_free(s);
}

static void counted(const char *what) { /* most rows were really compared */
  CHECKF(doubtful * 4 < rows, "%s: %lu of %lu draws within rounding", what, doubtful, rows);
  printf("  %s: %lu draws, %lu of them within rounding, %lu refused\n", what, rows, doubtful,
         refused);
  rows = doubtful = refused = 0;
}

static const size_t widths[] = {6, 31, 33, 300, 1025, 5000, 20000};
#define WIDTHS (sizeof widths / sizeof *widths)

/* One stage alone, after nothing or a temperature. */
static void each_stage(void) {
  uint64_t seed = 101;
  for (int stage = 1; stage <= TSL__STAGES; stage++)
    for (size_t w = 0; w < WIDTHS; w++)
      for (int round = 0; round < (widths[w] > 2000 ? 6 : 25); round++) {
        lists l;
        tsl_sampler_options o = {
            .seed = tsl_test_random(&seed), .temperature = 1, .stages = l.stages, .stage_count = 1};
        fill(&seed, widths[w]);
        if (round % 2 && stage != TSL_STAGE_TEMPERATURE) {
          o.temperature = 0.7f;
          l.stages[0] = TSL_STAGE_TEMPERATURE;
          o.stage_count = 2;
        }
        l.stages[o.stage_count - 1] = (tsl_stage)stage;
        ask_for(&seed, &o, &l, widths[w], (tsl_stage)stage);
        check_row(&o, widths[w], 4);
      }
  counted("one stage");
}

/* Some stages in any order, and bans. */
static void random_chain(uint64_t *seed, size_t width, int draws) {
  lists l;
  tsl_sampler_options o = {.seed = tsl_test_random(seed), .temperature = 1, .stages = l.stages};
  fill(seed, width);
  for (int i = 1; i <= TSL__STAGES; i++) {
    if (below(seed, 4)) continue;
    uint32_t at = (uint32_t)below(seed, o.stage_count + 1);
    memmove(l.stages + at + 1, l.stages + at, (o.stage_count - at) * sizeof *l.stages);
    l.stages[at] = (tsl_stage)i;
    o.stage_count++;
    ask_for(seed, &o, &l, width, (tsl_stage)i);
  }
  ask_for_bans(seed, &o, &l, width);
  check_row(&o, width, draws);
}

static void any_order(void) {
  uint64_t seed = 102;
  for (size_t w = 0; w < WIDTHS; w++)
    for (int round = 0; round < (widths[w] > 2000 ? 60 : 400); round++)
      random_chain(&seed, widths[w], 3);
  counted("chains");
}

static void broad_rows(void) {
  uint64_t seed = 103;
  for (int round = 0; round < 12; round++) random_chain(&seed, round % 3 ? 128256 : 262144, 1);
  for (int stage = TSL_STAGE_TOP_N_SIGMA; stage <= TSL__STAGES; stage++) {
    lists l = {.stages = {(tsl_stage)stage}};
    tsl_sampler_options o = {.seed = 5, .temperature = 1, .stages = l.stages, .stage_count = 1};
    fill(&seed, 128256);
    ask_for(&seed, &o, &l, 128256, (tsl_stage)stage);
    check_row(&o, 128256, 1);
  }
  counted("wide rows");
}

/* The conventional order is that of the values. */
static void conventional_order(void) {
  uint64_t seed = 104;
  for (int round = 0; round < 50; round++) {
    lists l;
    tsl_sampler_options o = {.seed = 9, .temperature = 1};
    fill(&seed, 3000);
    for (int i = 1; i <= TSL__STAGES; i++) {
      l.stages[i - 1] = (tsl_stage)i;
      ask_for(&seed, &o, &l, 3000, (tsl_stage)i);
    }
    tsl_sampler_options listed = o;
    listed.stages = l.stages;
    listed.stage_count = TSL__STAGES;
    tsl_sampler *a, *b;
    tsl_draw x = {0}, y = {0};
    CHECK(tsl_sampler_new(&o, NULL, &a) == TSL_OK && tsl_sampler_new(&listed, NULL, &b) == TSL_OK);
    for (size_t i = 0; i < history_length; i++)
      CHECK(!tsl_sampler_accept(a, history[i]) && !tsl_sampler_accept(b, history[i]));
    for (int i = 0; i < 3; i++) {
      CHECK(tsl_sampler_draw(a, logits, 3000, mask, &x) == TSL_OK &&
            tsl_sampler_draw(b, logits, 3000, mask, &y) == TSL_OK);
      CHECK(x.token == y.token && x.probability == y.probability && x.kept == y.kept);
    }
    tsl_sampler_free(a);
    tsl_sampler_free(b);
  }
}

/* Every level gives the same chain the same draws, to the bit. */
static void levels_agree(void) {
  uint64_t seed = 105;
  for (int round = 0; round < ROUNDS_OF(150); round++) {
    lists l;
    tsl_sampler_options o = {.seed = tsl_test_random(&seed), .temperature = 1, .stages = l.stages};
    size_t width = 1 + below(&seed, 9000);
    fill(&seed, width);
    for (int i = TSL__STAGES; i >= 1; i--)
      if (below(&seed, 3) == 0) {
        l.stages[o.stage_count++] = (tsl_stage)i;
        ask_for(&seed, &o, &l, width, (tsl_stage)i);
      }
    tsl_draw want[4];
    for (int level = 0; level < TSL__LOGITS_LEVELS; level++) {
      if (!tsl__logits_force((tsl__logits_level)level)) continue;
      tsl_sampler *s;
      CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK);
      for (size_t i = 0; i < history_length; i++)
        CHECK(tsl_sampler_accept(s, history[i]) == TSL_OK);
      for (int i = 0; i < 4; i++) {
        tsl_draw d;
        CHECK(tsl_sampler_draw(s, logits, width, mask, &d) == TSL_OK);
        if (level == TSL__LOGITS_PORTABLE) want[i] = d;
        CHECK(d.token == want[i].token && d.probability == want[i].probability &&
              d.kept == want[i].kept);
      }
      tsl_sampler_free(s);
    }
  }
  tsl__logits_force(TSL__LOGITS_AUTO);
}

/* ---- extremes -------------------------------------------------------------------------------- */

static float extreme_logit(uint64_t *seed, unsigned kind) {
  static const float ends[] = {FLT_MAX, -FLT_MAX, 0,  -0.0f, 1e-45f, -1e-45f,
                               1,       -1,       88, -88,   3e38f,  -INFINITY};
  switch (kind) {
  case 0: return ends[below(seed, sizeof ends / sizeof *ends)];
  case 1: return 5;
  case 2: return below(seed, 50) ? -INFINITY : (float)tsl_test_uniform(seed);
  case 3: return (float)below(seed, 3) * 1e-45f;
  case 4: return below(seed, 2) ? FLT_MAX : -FLT_MAX;
  default: return (float)tsl_test_uniform(seed) * 20;
  }
}

/* Bits past the width are garbage; what is forbidden is NaN or infinite. */
static void extreme_row(uint64_t *seed, size_t width) {
  unsigned kind = (unsigned)below(seed, 6), density = (unsigned)below(seed, 17);
  memset(mask, 0xff, sizeof mask);
  for (size_t i = 0; i < width; i++) {
    logits[i] = extreme_logit(seed, kind);
    if (below(seed, 16) < density) continue;
    mask[i >> 5] &= ~(1u << (i & 31));
    if (below(seed, 4) == 0) logits[i] = below(seed, 2) ? NAN : INFINITY;
  }
  size_t sure = below(seed, width);
  mask[sure >> 5] |= 1u << (sure & 31);
  logits[sure] = kind == 4 ? FLT_MAX : 0.5f;
  history_length = below(seed, HISTORY + 1);
  /* no column of the row */
  for (size_t i = 0; i < history_length; i++)
    history[i] = (tsl_token)(below(seed, 20) ? below(seed, width) : UINT32_MAX - 1);
}

/* One of the ends of what a stage takes. */
static float an_end(uint64_t *seed, float most) {
  const float ends[] = {1e-45f, FLT_MIN, 1e-7f, 0.99999994f, 1, most};
  float x = ends[below(seed, 6)];
  return x < most ? x : most;
}

static void extreme_options(uint64_t *seed, tsl_sampler_options *o, lists *l, size_t width) {
  *o = (tsl_sampler_options){.seed = tsl_test_random(seed),
                             .temperature = below(seed, 3) ? an_end(seed, FLT_MAX) : 1,
                             .legal_mass = true};
  if (below(seed, 12) == 0) o->temperature = below(seed, 2) ? 0 : INFINITY;
  if (below(seed, 4) == 0)
    o->top_k = below(seed, 2) ? UINT32_MAX : 1 + (uint32_t)below(seed, width);
  if (below(seed, 4) == 0) o->top_p = an_end(seed, 1);
  if (below(seed, 4) == 0) o->min_p = an_end(seed, 1);
  if (below(seed, 4) == 0) o->typical_p = an_end(seed, 1);
  if (below(seed, 4) == 0) o->epsilon = an_end(seed, 1);
  if (below(seed, 4) == 0) o->eta = an_end(seed, 1);
  if (below(seed, 4) == 0) o->top_n_sigma = an_end(seed, FLT_MAX);
  if (below(seed, 4) == 0)
    o->xtc_probability = 1, o->xtc_threshold = below(seed, 2) ? 0 : an_end(seed, 1);
  if (below(seed, 4) == 0)
    o->mirostat_tau = an_end(seed, FLT_MAX), o->mirostat_eta = an_end(seed, FLT_MAX);
  if (below(seed, 6) == 0)
    o->dynamic_range = an_end(seed, FLT_MAX), o->dynamic_exponent = an_end(seed, FLT_MAX);
  if (below(seed, 4) == 0)
    o->repetition_penalty = an_end(seed, FLT_MAX), o->penalty_window = (uint32_t)below(seed, 80);
  if (below(seed, 4) == 0)
    o->frequency_penalty = an_end(seed, FLT_MAX) * (below(seed, 2) ? 1.0f : -1.0f);
  if (below(seed, 4) == 0)
    o->presence_penalty = an_end(seed, FLT_MAX) * (below(seed, 2) ? 1.0f : -1.0f);
  if (below(seed, 4) == 0)
    o->dry_multiplier = an_end(seed, FLT_MAX), o->dry_base = an_end(seed, FLT_MAX),
    o->dry_allowed = (uint32_t)below(seed, 3);
  if (below(seed, 4) == 0) {
    l->bias[0] =
        (tsl_token_bias){(tsl_token)below(seed, width), below(seed, 2) ? FLT_MAX : -FLT_MAX};
    l->bias[1] = (tsl_token_bias){UINT32_MAX - 1, 1};
    o->bias = l->bias, o->bias_count = 2;
  }
  if (below(seed, 4) == 0) o->no_repeat_ngram = 1 + (uint32_t)below(seed, 3);
}

/* Whatever the finite options and rows, the draw is a token that the mask has and whose logit is
 * finite, with a probability. It is the same on every level, and drawn twice. */
static void extremes(void) {
  static const size_t extreme_widths[] = {1, 2, 31, 33, 100, 1025, 6001};
  uint64_t seed = 112;
  unsigned long drawn = 0;
  for (int round = 0; round < ROUNDS_OF(2500); round++) {
    size_t width = extreme_widths[below(&seed, 7)];
    lists l;
    tsl_sampler_options o;
    extreme_row(&seed, width);
    extreme_options(&seed, &o, &l, width);
    tsl_draw want[3] = {{0}}, d;
    for (int level = 0; level < TSL__LOGITS_LEVELS; level++) {
      if (!tsl__logits_force((tsl__logits_level)level)) continue;
      tsl_sampler *s;
      CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK);
      for (size_t i = 0; i < history_length; i++)
        CHECK(tsl_sampler_accept(s, history[i]) == TSL_OK);
      for (int i = 0; i < 3; i++) {
        tsl_status status = tsl_sampler_draw(s, logits, width, mask, &d);
        CHECKF(status == TSL_OK, "round %d, width %zu: %s", round, width, tsl_status_name(status));
        if (status != TSL_OK) break;
        bool fine = d.token < width && open_at(d.token) && logits[d.token] >= -FLT_MAX &&
                    logits[d.token] <= FLT_MAX && d.probability > 0 && d.probability <= 1.0000001 &&
                    d.kept >= 1 && d.kept <= d.allowed && d.legal_mass >= 0 && d.legal_mass <= 1;
        CHECKF(fine, "round %d, width %zu: token %u, probability %g, kept %u of %u, legal mass %g",
               round, width, d.token, d.probability, d.kept, d.allowed, d.legal_mass);
        if (level == TSL__LOGITS_PORTABLE) want[i] = d;
        CHECKF(d.token == want[i].token && d.probability == want[i].probability &&
                   d.kept == want[i].kept,
               "round %d, width %zu", round, width);
        CHECK(tsl_sampler_accept(s, d.token) == TSL_OK);
        if (i == 1) CHECK(tsl_sampler_rollback(s, 1) == TSL_OK);
        drawn++;
      }
      tsl_sampler_free(s);
    }
  }
  tsl__logits_force(TSL__LOGITS_AUTO);
  printf("  %lu draws\n", drawn);
}

/* ---- worked examples ------------------------------------------------------------------------- */

/* mat sofa floor bed moon banana */
static const float cat[6] = {6.0f, 5.0f, 4.5f, 3.5f, 2.0f, 0.0f};

static void golden_penalty(void) {
  tsl_sampler *s;
  tsl_draw d;
  double p[6] = {0};
  tsl_sampler_options o = {.temperature = 1, .repetition_penalty = 1.25f};
  CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK && tsl_sampler_accept(s, 0) == TSL_OK);
  for (int i = 0; i < 20000; i++) {
    CHECK(tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK);
    p[d.token] = d.probability;
  }
  CHECKF(fabs(p[0] - 0.303) <= 0.001 && fabs(p[1] - 0.370) <= 0.001, "mat %.4f, sofa %.4f", p[0],
         p[1]);
  tsl_sampler_free(s);
  o.temperature = 0;
  CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK && tsl_sampler_accept(s, 0) == TSL_OK);
  CHECK(tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK && d.token == 1);
  tsl_sampler_free(s);
  /* z - count * frequency - [count > 0] * presence: 6 - 2 * 0.4 - 0.5 = 4.7, behind sofa's 5 */
  o = (tsl_sampler_options){.frequency_penalty = 0.4f, .presence_penalty = 0.5f};
  CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK);
  CHECK(tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK && d.token == 0);
  /* 5.1 */
  CHECK(tsl_sampler_accept(s, 0) == TSL_OK && tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK &&
        d.token == 0);
  CHECK(tsl_sampler_accept(s, 0) == TSL_OK && tsl_sampler_draw(s, cat, 6, NULL, &d) == TSL_OK &&
        d.token == 1);
  tsl_sampler_free(s);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* One text with every stage and ban; true if an allocation failed. */
static bool try_all(const tsl_sampler_options *o, failing *f, size_t width) {
  tsl_allocator a = failing_allocator(f);
  tsl_sampler *s;
  tsl_status status = tsl_sampler_new(o, &a, &s);
  if (status == TSL_OK) status = tsl_sampler_prompt(s, history, history_length / 2);
  for (size_t i = history_length / 2; status == TSL_OK && i < history_length; i++)
    status = tsl_sampler_accept(s, history[i]);
  tsl_draw d;
  tsl_sampler *fork = NULL;
  if (status == TSL_OK) status = tsl_sampler_fork(s, 1, &fork);
  if (status == TSL_OK) status = tsl_sampler_draw(fork, logits, width, mask, &d);
  tsl_sampler_free(fork);
  CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "%s", tsl_status_name(status));
  tsl_sampler_free(s);
  CHECK(f->held == 0);
  return status != TSL_OK;
}

static void every_allocation_fails(void) {
  uint64_t seed = 109;
  for (int stage = 1; stage <= TSL__STAGES; stage++) {
    lists l;
    tsl_sampler_options o = {.seed = 1, .temperature = 1, .no_repeat_ngram = 2};
    fill(&seed, 6000);
    memset(mask, 0xff, sizeof mask);
    for (int i = 1; i <= TSL_STAGE_DRY; i++) ask_for(&seed, &o, &l, 6000, (tsl_stage)i);
    ask_for(&seed, &o, &l, 6000, (tsl_stage)stage);
    long nth = 0;
    for (bool failed = true; failed && nth < 200; nth++) {
      failing f = {nth, 0};
      failed = try_all(&o, &f, 6000);
    }
    CHECKF(nth > 8 && nth < 200, "stage %d: %ld allocations", stage, nth - 1);
  }
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static void own_log_and_exp(void) {
  double worst_log = 0, worst_exp = 0;
  uint64_t seed = 108;
  for (int i = 0; i < 200000; i++) {
    double x = ldexp(1 + tsl_test_uniform(&seed), (int)below(&seed, 600) - 300),
           y = tsl_test_uniform(&seed) * 1200 - 600;
    double l = fabs(tsl__log(x) - (double)logl(x)) / fmax(1, fabs((double)logl(x)));
    double e = fabs(tsl__exp(y) / (double)expl(y) - 1);
    if (l > worst_log) worst_log = l;
    if (e > worst_exp) worst_exp = e;
  }
  CHECKF(worst_log < 4.5e-16 && worst_exp < 9e-16, "log %.3g, exp %.3g", worst_log, worst_exp);
  CHECK(tsl__log(1) == 0 && tsl__exp(0) == 1 && tsl__log(0) == -INFINITY && tsl__exp(-1e9) == 0);
}

int main(void) {
  RUN(golden_penalty, "worked examples: penalties");
  RUN(own_log_and_exp, "own log and exp");
  RUN(each_stage, "each stage against a direct implementation");
  RUN(any_order, "random chains and bans against direct implementations");
  RUN(broad_rows, "rows of 128,256 and 262,144");
  RUN(conventional_order, "without a list of stages: the conventional order");
  RUN(levels_agree, "every vector level draws the same");
  RUN(extremes, "options, logits and masks at their ends");
  RUN(every_allocation_fails, "every nth allocation fails, in every stage");
  return tsl_test_end();
}
