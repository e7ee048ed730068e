/* test_logits.c - every kernel of every level against the portable one, bit for bit, and that one
 * against the definition.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/kernels/logits.h"
#include "tests/support/check.h"

static const tsl__logits_kernels *levels[TSL__LOGITS_LEVELS];
static size_t level_count;

static void find_levels(void) {
  for (int l = 0; l < TSL__LOGITS_LEVELS; l++)
    if (tsl__logits_force((tsl__logits_level)l)) levels[level_count++] = tsl__logits();
  CHECK(tsl__logits_force(TSL__LOGITS_AUTO));
  CHECK(level_count >= 1 && levels[0] == &tsl__logits_portable);
  printf("  levels here:");
  for (size_t i = 0; i < level_count; i++) printf(" %s", levels[i]->name);
  printf(", chosen: %s\n", tsl__logits()->name);
}

#if TSL__LOGITS_X86 && defined(__linux__)
/* Linux says in /proc/cpuinfo what the processor has and the system keeps. The kernels that are
 * found must be those that go with it: nothing that is there may be missed, or be missing. */
static void all_are_found(void) {
  static const struct {
    tsl__logits_level level;
    const char *flags[7];
  } wanted[] = {
      {TSL__LOGITS_AVX2, {" avx2", " fma", " popcnt", " f16c"}},
      {TSL__LOGITS_AVX512, {" avx512f", " avx512bw", " avx512dq", " avx512vl", " avx2", " fma"}},
  };
  char line[8192] = "";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file) && strncmp(line, "flags", 5) != 0) line[0] = '\0';
  if (file) fclose(file);
  if (!line[0]) return; /* a system without it, or an emulator */
  line[strcspn(line, "\n")] = ' ';
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    bool there = true;
    for (size_t f = 0; f < 7 && wanted[i].flags[f]; f++) {
      char word[16];
      snprintf(word, sizeof word, "%s ", wanted[i].flags[f]);
      there = there && strstr(line, word);
    }
    CHECK(tsl__logits_force(wanted[i].level) == there);
  }
  CHECK(tsl__logits_force(TSL__LOGITS_AUTO));
}
#else
static void all_are_found(void) {}
#endif

/* ---- inputs ---------------------------------------------------------------------------------- */

#define WIDEST 131072u

static float row[WIDEST + 1]; /* +1: rows also start at an odd address */
static uint32_t mask[WIDEST / 32];

/* Logits of many sizes; with `odd`, one in sixteen is an infinity, NaN, a zero, a denormal or
 * huge. */
static void fill_row(uint64_t *seed, float *x, size_t n, bool odd) {
  static const float strange[] = {INFINITY, -INFINITY, NAN,      0.0f,  -0.0f, 1e-42f,
                                  -1e-42f,  FLT_MAX,   -FLT_MAX, 88.0f, -88.0f};
  for (size_t i = 0; i < n; i++) {
    x[i] = (float)((tsl_test_uniform(seed) - 0.5) * (i % 7 == 0 ? 200 : 20));
    uint64_t r = tsl_test_random(seed);
    if (odd && r % 16 == 0) x[i] = strange[(r >> 8) % (sizeof strange / sizeof *strange)];
  }
}

/* A mask with a share of `density` / 16 set; 0 and 16 are none and all. Bits past n are random:
 * nobody may look at them. */
static void fill_mask(uint64_t *seed, uint32_t *m, size_t n, unsigned density) {
  for (size_t i = 0; i < (n + 31) / 32; i++) {
    m[i] = 0;
    for (unsigned b = 0; b < 32; b++) m[i] |= (uint32_t)(tsl_test_random(seed) % 16 < density) << b;
    /* whole words are special cases */
    if (tsl_test_random(seed) % 8 == 0) m[i] = density >= 8 ? UINT32_MAX : 0;
  }
}

static bool open_at(size_t i) { return (mask[i >> 5] >> (i & 31)) & 1u; }

static const size_t widths[] = {1,  2,  7,  8,  15,  16,  17,  31,   32,   33,
                                47, 63, 64, 65, 100, 255, 256, 1000, 1023, 1024};
#define WIDTHS (sizeof widths / sizeof *widths)

/* ---- apply ----------------------------------------------------------------------------------- */

static void check_apply32(size_t level, size_t n, size_t shift) {
  static float out[WIDEST + 2];
  out[n + shift] = 42;
  memcpy(out + shift, row, n * sizeof *out);
  levels[level]->apply32(mask, out + shift, n);
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    float want = open_at(i) ? row[i] : -INFINITY;
    wrong += memcmp(&want, &out[i + shift], sizeof want) != 0;
  }
  CHECKF(wrong == 0 && out[n + shift] == 42, "%s: width %zu: %zu logits", levels[level]->name, n,
         wrong);
}

static void check_apply16(size_t level, size_t n, size_t shift, tsl_dtype dtype) {
  static uint16_t out[WIDEST + 2];
  uint16_t low = dtype == TSL_F16 ? 0xfc00 : 0xff80;
  for (size_t i = 0; i <= n; i++) out[i + shift] = (uint16_t)(i * 40503u);
  tsl__logits_force(TSL__LOGITS_AUTO);
  for (int l = 0; l < TSL__LOGITS_LEVELS; l++)
    if (tsl__logits_force((tsl__logits_level)l) && tsl__logits() == levels[level]) break;
  CHECK(tsl_mask_apply(mask, out + shift, n, dtype) == TSL_OK);
  size_t wrong = 0;
  for (size_t i = 0; i <= n; i++)
    wrong += out[i + shift] != (i == n || open_at(i) ? (uint16_t)(i * 40503u) : low);
  CHECKF(wrong == 0, "%s: width %zu, type %d: %zu logits", levels[level]->name, n, dtype, wrong);
  tsl__logits_force(TSL__LOGITS_AUTO);
}

static void apply_every_level(void) {
  uint64_t seed = 1;
  for (size_t w = 0; w <= WIDTHS; w++) {
    size_t n = w < WIDTHS ? widths[w] : 128256;
    for (unsigned density = 0; density <= 16; density += 4) {
      fill_row(&seed, row, n, true);
      fill_mask(&seed, mask, n, density);
      for (size_t l = 0; l < level_count; l++)
        for (size_t shift = 0; shift < 2; shift++) {
          check_apply32(l, n, shift);
          check_apply16(l, n, shift, TSL_F16);
          check_apply16(l, n, shift, TSL_BF16);
        }
    }
  }
}

static void public_calls(void) {
  float x[3] = {1, 2, 3};
  uint32_t m = 5;
  CHECK(tsl_mask_apply(&m, x, 3, TSL_F32) == TSL_OK && x[0] == 1 && x[1] == -INFINITY && x[2] == 3);
  CHECK(tsl_mask_apply(NULL, NULL, 0, TSL_F32) == TSL_OK);
  CHECK(tsl_mask_apply(NULL, x, 3, TSL_F32) == TSL_ERR_ARGUMENT);
  CHECK(tsl_mask_apply(&m, NULL, 3, TSL_F32) == TSL_ERR_ARGUMENT);
  CHECK(tsl_mask_apply(&m, x, 3, (tsl_dtype)7) == TSL_ERR_ARGUMENT);
  CHECK(tsl_mask_apply(&m, x, (size_t)TSL_MAX_VOCAB + 1, TSL_F32) == TSL_ERR_ARGUMENT);
  static uint16_t widest[TSL_MAX_VOCAB];
  static const uint32_t none[TSL_MAX_VOCAB / 32];
  CHECK(tsl_mask_apply(none, widest, TSL_MAX_VOCAB, TSL_F16) == TSL_OK &&
        widest[TSL_MAX_VOCAB - 1] == 0xfc00);
  CHECK(tsl_mask_has(&m, 0) && !tsl_mask_has(&m, 1) && tsl_mask_has(&m, 2));
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static void hashes(void) {
  uint64_t seed = 3;
  static uint32_t data[4100], secret[TSL__SECRET / 4];
  static const size_t sizes[] = {0, 1, 16, 240, 241, 1024, 1025, 4096, 16032, 16399};
  fill_mask(&seed, data, sizeof data * 8, 2);
  fill_mask(&seed, secret, sizeof secret * 8, 2);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    XXH128_hash_t want = XXH3_128bits_withSecret(data, sizes[i], secret, sizeof secret),
                  plain = XXH3_128bits(data, sizes[i]);
    for (size_t l = 0; l < level_count; l++) {
      uint64_t got[2];
      XXH3_state_t state;
      levels[l]->hash_secretly(secret, data, sizes[i], got);
      CHECK(got[0] == want.low64 && got[1] == want.high64);
      XXH3_128bits_reset(&state);
      levels[l]->hash_more(&state, data, sizes[i] / 3);
      levels[l]->hash_more(&state, (const char *)data + sizes[i] / 3, sizes[i] - sizes[i] / 3);
      CHECK(XXH128_isEqual(XXH3_128bits_digest(&state), plain));
    }
  }
}

/* ---- words ----------------------------------------------------------------------------------- */

static void whole_masks(void) {
  uint64_t seed = 2;
  static uint32_t a[4100], b[4100], got[4100];
  static const size_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 100, 4008, 4099};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    size_t n = sizes[s], bits = 0, wrong = 0;
    fill_mask(&seed, a, n * 32, 8);
    fill_mask(&seed, b, n * 32, 5);
    a[n] = 0xA5A5A5A5; /* what lies behind is neither looked at nor written */
    b[n] = 0xC3C3C3C3;
    for (size_t i = 0; i < n * 32; i++) bits += (a[i >> 5] >> (i & 31)) & 1u;
    for (size_t l = 0; l < level_count; l++) {
      CHECK(levels[l]->count_words(a, n) == bits);
      for (size_t shift = 0; shift < 16 && n + shift < 4100; shift++) {
        memset(got, 0x55, sizeof got);
        levels[l]->copy_words(got + shift, a, n);
        for (size_t i = 0; i < 4100; i++)
          wrong += got[i] != (i >= shift && i < n + shift ? a[i - shift] : 0x55555555u);
      }
      memcpy(got, a, sizeof got);
      levels[l]->or_words(got, got, b, n);
      for (size_t i = 0; i < 4100; i++) wrong += got[i] != (i < n ? (a[i] | b[i]) : a[i]);
      memset(got, 0x55, sizeof got);
      levels[l]->or_words(got, a, b, n);
      for (size_t i = 0; i < 4100; i++) wrong += got[i] != (i < n ? (a[i] | b[i]) : 0x55555555u);
      memcpy(got, a, sizeof got);
      levels[l]->and_words(got, got, b, n);
      for (size_t i = 0; i < 4100; i++) wrong += got[i] != (i < n ? (a[i] & b[i]) : a[i]);
      memset(got, 0x55, sizeof got);
      levels[l]->and_words(got, a, b, n);
      for (size_t i = 0; i < 4100; i++) wrong += got[i] != (i < n ? (a[i] & b[i]) : 0x55555555u);
      memcpy(got, a, sizeof got);
      levels[l]->andnot_words(got, b, n);
      for (size_t i = 0; i < 4100; i++) wrong += got[i] != (i < n ? (a[i] & ~b[i]) : a[i]);
    }
    CHECKF(wrong == 0, "%zu words: %zu wrong", n, wrong);
    for (size_t width = n * 32 > 40 ? n * 32 - 40 : 0; width <= n * 32; width++) {
      size_t want = 0;
      for (size_t i = 0; i < width; i++) want += (a[i >> 5] >> (i & 31)) & 1u;
      CHECK(tsl_mask_count(a, width) == want);
    }
    tsl__mask_unite(got, a, b, n);
    for (size_t i = 0; i < n; i++) wrong += got[i] != (a[i] | b[i]);
    tsl__mask_copy(got, b, n);
    tsl__mask_or(got, a, n);
    tsl__mask_andnot(got, a, n);
    for (size_t i = 0; i < n; i++) wrong += got[i] != (b[i] & ~a[i]);
    tsl__mask_meet(got, a, b, n);
    for (size_t i = 0; i < n; i++) wrong += got[i] != (a[i] & b[i]);
    tsl__mask_copy(got, b, n);
    tsl__mask_and(got, a, n);
    for (size_t i = 0; i < n; i++) wrong += got[i] != (a[i] & b[i]);
    CHECK(wrong == 0);
  }
}

/* From its beginning or from its end, as the two lie in their pages. */
static void copies(void) {
  uint64_t seed = 5;
  enum { WORDS = 4008, PAGE = 1024, AROUND = 16 };
  static uint32_t from[WORDS], to[WORDS + PAGE + 2 * AROUND];
  size_t wrong = 0, backward = 0;
  fill_mask(&seed, from, WORDS * 32, 3);
  for (size_t l = 0; l < level_count; l++)
    for (size_t shift = AROUND; shift < PAGE + AROUND; shift += 13) {
      memset(to, 0x55, sizeof to);
      levels[l]->copy_words(to + shift, from, WORDS);
      backward += tsl__logits_backward(to + shift, from);
      wrong += memcmp(to + shift, from, sizeof from) != 0;
      for (size_t i = 1; i <= AROUND; i++)
        wrong += (to[shift - i] != 0x55555555u) + (to[shift + WORDS + i - 1] != 0x55555555u);
    }
  CHECKF(wrong == 0 && backward > level_count * 20 && backward < level_count * 58,
         "%zu wrong, %zu from the end", wrong, backward);
}

/* ---- peak, above, sums: levels against portable ---------------------------------------------- */

static bool same_double(double a, double b) { return !memcmp(&a, &b, sizeof a); }

/* Sums want no +inf. */
static void make_finite(size_t n) {
  for (size_t i = 0; i < n; i++)
    if (row[i] == INFINITY) row[i] = FLT_MAX;
}

static void check_moments(size_t l, size_t n, float anchor, float scale) {
  tsl__logits_moments p = levels[0]->moments(row, mask, n, anchor, scale),
                      q = levels[l]->moments(row, mask, n, anchor, scale);
  CHECKF(same_double(p.mass, q.mass) && same_double(p.moment, q.moment),
         "%s: width %zu: %.17g, not %.17g", levels[l]->name, n, q.moment, p.moment);
  CHECK(same_double(p.mass, levels[0]->sum(row, mask, n, anchor, scale)));
  tsl__logits_spread a = levels[0]->spread(row, mask, n, anchor),
                     b = levels[l]->spread(row, mask, n, anchor);
  CHECKF(same_double(a.count, b.count) && same_double(a.sum, b.sum) &&
             same_double(a.square, b.square),
         "%s: width %zu", levels[l]->name, n);
}

static void check_lists(size_t l, size_t n, float anchor, float scale, float floor) {
  static float x[2][20100];
  static uint32_t at[2][20100];
  size_t want = levels[0]->gather(row, mask, n, floor, 70, x[0], at[0]),
         got = levels[l]->gather(row, mask, n, floor, 70, x[1], at[1]);
  CHECKF(want == got && !memcmp(x[0], x[1], want * sizeof **x) &&
             !memcmp(at[0], at[1], want * sizeof **at),
         "%s: width %zu", levels[l]->name, n);
  levels[0]->weigh(row, n, anchor, scale, x[0]);
  levels[l]->weigh(row, n, anchor, scale, x[1]);
  CHECKF(!memcmp(x[0], x[1], n * sizeof **x), "%s: width %zu", levels[l]->name, n);
}

static bool same_survey(tsl__logits_survey a, tsl__logits_survey b) {
  return same_double(a.mass, b.mass) &&
         (a.anchor == b.anchor || (isnan(a.anchor) && isnan(b.anchor))) && a.top == b.top &&
         a.nan == b.nan;
}

/* One look: the guess is right, a little low, far too low, too high, none. */
static void check_surveys(size_t l, size_t n, float anchor, float scale) {
  const float guesses[] = {anchor, anchor - 1, -FLT_MAX, FLT_MAX, anchor + 30, NAN};
  for (size_t g = 0; g < sizeof guesses / sizeof *guesses; g++) {
    tsl__logits_survey p = levels[0]->survey(row, mask, n, guesses[g], scale),
                       q = levels[l]->survey(row, mask, n, guesses[g], scale);
    CHECKF(same_survey(p, q), "%s: width %zu, guess %zu: %.17g, not %.17g", levels[l]->name, n, g,
           q.mass, p.mass);
    CHECK(p.top == levels[0]->peak(row, mask, n).top);
    if (p.top >= -FLT_MAX)
      CHECK(same_double(p.mass, levels[0]->sum(row, mask, n, p.anchor, scale)));
  }
}

static void check_ladder(size_t l, size_t n, float anchor, float scale) {
  static float by[2][20100];
  float middle = -3, floors[TSL__LOGITS_RUNGS] = {-0.5f, -2, -2, -40};
  double want[TSL__LOGITS_RUNGS], got[TSL__LOGITS_RUNGS];
  levels[0]->distances(row, n, anchor, scale, middle, by[0]);
  levels[l]->distances(row, n, anchor, scale, middle, by[1]);
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++)
    wrong += by[0][i] != by[1][i] && !(isnan(by[0][i]) && isnan(by[1][i]));
  CHECKF(wrong == 0, "%s: %zu of %zu distances", levels[l]->name, wrong, n);
  levels[0]->ladder(row, by[0], mask, n, anchor, scale, floors, want);
  levels[l]->ladder(row, by[0], mask, n, anchor, scale, floors, got);
  for (size_t r = 0; r < TSL__LOGITS_RUNGS; r++) {
    static uint32_t above[WIDEST / 32];
    CHECKF(same_double(want[r], got[r]), "%s: width %zu, rung %zu: %.17g, not %.17g",
           levels[l]->name, n, r, got[r], want[r]);
    levels[0]->above(by[0], mask, n, floors[r], above);
    CHECK(same_double(want[r], levels[0]->sum(row, above, n, anchor, scale)));
  }
}

static void check_levels(size_t n, float anchor, float scale, float floor) {
  static uint32_t want[WIDEST / 32], got[WIDEST / 32];
  size_t words = (n + 31) / 32;
  tsl__logits_peak p = levels[0]->peak(row, mask, n);
  for (size_t l = 1; l < level_count; l++) {
    tsl__logits_peak q = levels[l]->peak(row, mask, n);
    CHECKF(p.top == q.top && p.nan == q.nan, "%s: width %zu", levels[l]->name, n);
  }
  make_finite(n);
  tsl__logits_mass m = levels[0]->sum_both(row, mask, n, anchor, scale);
  double s = levels[0]->sum(row, mask, n, anchor, scale);
  levels[0]->above(row, mask, n, floor, want);
  CHECK(same_double(s, m.legal));
  for (size_t l = 1; l < level_count; l++) {
    check_moments(l, n, anchor, scale);
    check_lists(l, n, anchor, scale, floor);
    check_surveys(l, n, anchor, scale);
    check_ladder(l, n, anchor, scale);
    tsl__logits_mass o = levels[l]->sum_both(row, mask, n, anchor, scale);
    CHECKF(same_double(m.all, o.all) && same_double(m.legal, o.legal),
           "%s: width %zu: %.17g, not %.17g", levels[l]->name, n, o.all, m.all);
    CHECK(same_double(s, levels[l]->sum(row, mask, n, anchor, scale)));
    memset(got, 0xff, words * sizeof *got);
    levels[l]->above(row, mask, n, floor, got);
    CHECKF(!memcmp(got, want, words * sizeof *got), "%s: width %zu", levels[l]->name, n);
  }
}

static void levels_agree(void) {
  static const float scales[] = {1.0f, 1.0f / 0.7f, 0.0f, 20.0f, FLT_MAX};
  uint64_t seed = 3;
  for (int round = 0; round < 20; round++)
    for (size_t w = 0; w <= WIDTHS; w++) {
      size_t n = w < WIDTHS ? widths[w] : 20011;
      fill_row(&seed, row, n, round % 2 == 1);
      fill_mask(&seed, mask, n, (unsigned)(tsl_test_random(&seed) % 17));
      float top = -FLT_MAX;
      for (size_t i = 0; i < n; i++)
        if (row[i] > top) top = row[i] < FLT_MAX ? row[i] : FLT_MAX;
      check_levels(n, top, scales[round % 5], row[0] == row[0] ? row[0] : 0);
    }
}

/* The portable kernels against the definition, in long double. The argument of exp is rounded to
 * float: up to 1e-5 where a sum is tiny. */
static void portable_is_right(void) {
  uint64_t seed = 4;
  for (int round = 0; round < 200; round++) {
    size_t n = 1 + tsl_test_random(&seed) % 2000;
    fill_row(&seed, row, n, false);
    fill_mask(&seed, mask, n, 7);
    float top = -INFINITY, legal = -INFINITY, scale = 0.25f + (float)tsl_test_uniform(&seed) * 2;
    for (size_t i = 0; i < n; i++) {
      if (row[i] > top) top = row[i];
      if (open_at(i) && row[i] > legal) legal = row[i];
    }
    long double all = 0, some = 0;
    for (size_t i = 0; i < n; i++) {
      long double w = expl(((long double)row[i] - top) * scale);
      all += w;
      if (open_at(i)) some += w;
    }
    tsl__logits_peak p = levels[0]->peak(row, mask, n);
    CHECK(p.top == legal && !p.nan);
    tsl__logits_mass m = levels[0]->sum_both(row, mask, n, top, scale);
    CHECKF(fabsl(m.all - all) <= 1e-6L * all, "%.9g, not %.9Lg", m.all, all);
    CHECKF(fabsl(m.legal - some) <= 1e-5L * some + 1e-30L, "%.9g, not %.9Lg", m.legal, some);
    static uint32_t bits[64];
    levels[0]->above(row, mask, n, 1.5f, bits);
    size_t wrong = 0;
    for (size_t i = 0; i < (n + 31) / 32 * 32; i++)
      wrong += ((bits[i >> 5] >> (i & 31)) & 1u) != (i < n && open_at(i) && row[i] >= 1.5f);
    CHECK(wrong == 0);
  }
}

/* ---- the weight ------------------------------------------------------------------------------ */

static void weight_accuracy(void) {
  double worst = 0;
  float previous = 0;
  size_t falls = 0;
  for (int i = -870000; i <= 0; i++) {
    float d = (float)i * 1.5e-4f, w = tsl__logits_exp2(d);
    if (d < TSL__EXP_FLOOR) continue;
    double want = exp2((double)d), error = fabs((double)w - want) / want;
    if (error > worst) worst = error;
    falls += w < previous * 0.9999f;
    previous = w;
  }
  CHECKF(worst < 4e-7, "relative error %.3g", worst);
  CHECK(falls == 0);
  printf("  weight: largest relative error %.2g\n", worst);
}

static void weight_edges(void) {
  CHECK(tsl__logits_weight(3.5f, 3.5f, 7.0f) == 1.0f);
  CHECK(tsl__logits_weight(-87.34f, 0, 1) == 0.0f);
  CHECK(tsl__logits_weight(-87.33f, 0, 1) > 1e-38f);
  CHECK(tsl__logits_exp2(-126.0f) == FLT_MIN && tsl__logits_exp2(-126.00001f) == 0.0f &&
        tsl__logits_exp2(-1.0f) == 0.5f);
  CHECK(tsl__logits_is_near(5, 0, 1) && !tsl__logits_is_near(6, 0, 1) &&
        !tsl__logits_is_near(FLT_MAX, -FLT_MAX, 0));
  CHECK(tsl__logits_weight(-FLT_MAX, FLT_MAX, 1) == 0.0f);
  CHECK(tsl__logits_weight(-FLT_MAX, FLT_MAX, 0) == 0.0f);
  CHECK(tsl__logits_weight(-FLT_MAX, 0, 0) == 1.0f);
  CHECK(tsl__logits_weight(-INFINITY, 0, 1) == 0.0f);
  CHECK(tsl__logits_weight(-INFINITY, 0, 0) == 0.0f);
  CHECK(tsl__logits_weight(NAN, 0, 1) == 0.0f);
  CHECK(tsl__logits_weight(0, 0, FLT_MAX) == 1.0f);
}

/* Bits that a compiler would change by fusing multiplications and additions: the same on every
 * platform. */
static void weight_bits(void) {
  uint32_t hash = 0;
  for (int i = 0; i < 100000; i++) {
    /* exact, so that no platform rounds them */
    float x = (float)-i * 0x1p-10f, scale = 1.0f + (float)(i % 13) * 0x1p-7f;
    float w = tsl__logits_weight(x, 0, scale);
    uint32_t u;
    memcpy(&u, &w, sizeof u);
    hash = hash * 31 + u;
  }
  CHECKF(hash == 0x0a06c28bu, "hash of 100,000 weights: 0x%08x", hash);
}

/* The fused multiply-add of a processor that has none, against the C library's, where roundings are
 * hard. */
static void fused(void) {
#ifdef __MINGW32__
  SKIP("fused: fmaf of mingw-w64's C library rounds twice, so it is no judge");
  return;
#endif
  uint64_t seed = 6;
  size_t wrong = 0;
  for (int i = 0; i < 2000000; i++) {
    uint64_t r = tsl_test_random(&seed);
    uint32_t bits[3] = {(uint32_t)r, (uint32_t)(r >> 32), (uint32_t)tsl_test_random(&seed)};
    float v[3];
    for (int j = 0; j < 3; j++) {
      bits[j] = (bits[j] & 0x807fffffu) | (100 + (bits[j] >> 23 & 31))
                                              /* exponents near each other, so that cancellation is
                                               * common */
                                              << 23;
      if (i % 3 == 0) bits[j] &= 0xfffff000u;
      memcpy(&v[j], &bits[j], sizeof v[j]);
    }
    if (i % 5 == 0) v[2] = -v[0] * v[1];
    float got = tsl__fma(v[0], v[1], v[2]), want = fmaf(v[0], v[1], v[2]);
    wrong += got != want;
  }
  CHECKF(wrong == 0, "%zu of 2,000,000 differ from fmaf", wrong);
}

/* Moments and spread of the portable level against long double. */
static void moments_are_right(void) {
  uint64_t seed = 5;
  for (int round = 0; round < 100; round++) {
    size_t n = 1 + tsl_test_random(&seed) % 2000;
    fill_row(&seed, row, n, false);
    fill_mask(&seed, mask, n, 9);
    float top = -INFINITY, scale = 0.25f + (float)tsl_test_uniform(&seed);
    for (size_t i = 0; i < n; i++)
      if (row[i] > top) top = row[i];
    long double mass = 0, moment = 0, count = 0, sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
      if (!open_at(i)) continue;
      long double d = (long double)row[i] - top, w = expl(d * scale);
      mass += w, moment += w * d * scale / logl(2), count += 1, sum += d, square += d * d;
    }
    tsl__logits_moments m = levels[0]->moments(row, mask, n, top, scale);
    CHECKF(fabsl(m.mass - mass) <= 1e-5L * mass + 1e-30L, "%.9g, not %.9Lg", m.mass, mass);
    CHECKF(fabsl(m.moment - moment) <= 2e-5L * fabsl(moment) + 1e-30L, "%.9g, not %.9Lg", m.moment,
           moment);
    tsl__logits_spread s = levels[0]->spread(row, mask, n, top);
    CHECK(s.count == (double)count && fabsl(s.sum - sum) <= 1e-6L * fabsl(sum) &&
          fabsl(s.square - square) <= 1e-6L * square);
  }
}

static void lists(void) {
  uint64_t seed = 7;
  static uint32_t m[500], want[16000], got[16000 + 32];
  for (int round = 0; round < 400; round++) {
    unsigned dense = (unsigned)(1u << tsl_test_random(&seed) % 8);
    for (size_t i = 0; i < 500; i++)
      m[i] = tsl_test_random(&seed) % dense ? 0 : (uint32_t)tsl_test_random(&seed);
    size_t words = 1 + tsl_test_random(&seed) % 500, n = 0;
    for (size_t i = 0; i < words * 32; i++)
      if ((m[i >> 5] >> (i & 31)) & 1u) want[n++] = (uint32_t)i;
    for (size_t l = 0; l < level_count; l++)
      for (size_t most = n ? n - 1 : 0; most <= n + 1; most++) {
        size_t listed = levels[l]->list(m, words, most, got);
        CHECKF(most < n ? listed == SIZE_MAX : listed == n && !memcmp(got, want, n * sizeof *got),
               "%s: %zu words", levels[l]->name, words);
      }
  }
}

/* ---- the choice ------------------------------------------------------------------------------ */

static void *ask(void *result) {
  *(const tsl__logits_kernels **)result = tsl__logits();
  return NULL;
}

static void race_for_the_table(void) {
  pthread_t t[8];
  const tsl__logits_kernels *got[8] = {0};
  size_t started = 0;
  for (; started < 8; started++)
    if (pthread_create(&t[started], NULL, ask, &got[started])) break;
  for (size_t i = 0; i < started; i++) pthread_join(t[i], NULL);
  CHECK(started > 1);
  for (size_t i = 0; i < started; i++) CHECK(got[i] == got[0] && got[i] != NULL);
}

int main(void) {
  RUN(race_for_the_table, "threads that ask first get one table");
  RUN(find_levels, "levels of this machine");
  RUN(all_are_found, "all levels that the system says it has");
  RUN(apply_every_level, "apply: f32, f16, bf16, all densities, odd addresses");
  RUN(public_calls, "arguments of the public calls");
  RUN(hashes, "the same at every level as by the library alone");
  RUN(whole_masks, "or, and, andnot, count, copy");
  RUN(copies, "copies, wherever the two lie");
  RUN(portable_is_right, "portable kernels against long double");
  RUN(levels_agree, "every level equals portable, bit for bit");
  RUN(moments_are_right, "moments and spread against long double");
  RUN(lists, "masks as lists");
  RUN(fused, "fused multiply-add without one");
  RUN(weight_accuracy, "exp: error and monotony");
  RUN(weight_edges, "exp: edges");
  RUN(weight_bits, "exp: pinned bits");
  return tsl_test_end();
}
