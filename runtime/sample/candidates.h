/* candidates.h - the tokens that may still be drawn, and what they weigh.
 *
 * Problem   A sampler's stages each look at all candidates and drop some. Sorting and copying
 *           128,256 of them takes milliseconds, and most are thrown away by the first stage.
 * Idea      The set has two parts, and a token is in one of them at most:
 *             dense   the host's row of logits under a mask, neither copied nor changed. The row is
 *                     known by blocks of 512: the largest logit of each, and on demand its weight.
 *                     Where a sum over all will be wanted, both come from one look at the row (the
 *                     kernel `survey`).
 *             narrow  a list (logit, id), by id: tokens whose logit was changed (penalties, bias),
 *                     and after the first cut-off all that are left.
 *           A cut-off mostly ends the dense part: it finds a floor, below which it keeps no token.
 *           The tokens at or above the floor move to the list. Blocks whose peak is lower are not
 *           read again. The rest is arithmetic on a list of mostly less than a hundred tokens. A
 *           mask of few tokens becomes a list at once.
 * Flat      Where more than TSL__NARROW tokens are left, the dense part stays, under a mask of the
 *           candidates' own. A cut-off wants the place in the ranking where a mass, or a count, is
 *           reached. It is found in three steps. A thousand tokens suggest a few logits near that
 *           place. One pass sums up the tokens above each of them (the kernel `ladder`). The few
 *           tokens between two of them are sorted.
 * Scale     Temperature changes no logit: it divides `scale`. A token weighs exp((logit - anchor) *
 *           scale), the anchor being the largest logit. The weights of a block are summed up
 *           against a base of its own, and multiplied by the base's weight later. So one pass sums
 *           up the row and finds its largest logit.
 * Rank      larger logit first, then lower id. A rank is a 64-bit key, so that a cut-off is one
 *           comparison (tsl__rank_key).
 * Draws     go by id (first the dense part, then the list), so they do not depend on the way in
 *           which a cut-off was found.
 * Cost      128,256 logits, AVX-512 on an EPYC 9005 core, in µs. A survey takes 4.5, with masses
 *           15. Gathering the first 50 tokens takes 1.5. Top-p or typical that keep tens of
 *           thousands take 80 to 240.
 * Tested by tests/sample/test_stages.c, against sorting everything; tests/sample/test_keep.c, where
 * thousands are kept
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_SAMPLE_CANDIDATES_H
#define TSL_RUNTIME_SAMPLE_CANDIDATES_H

#include "runtime/kernels/logits.h"

#define TSL__BLOCK 512u                    /* tokens of a block, a multiple of 64 */
#define TSL__BLOCK_WORDS (TSL__BLOCK / 32) /* words of its mask */
#define TSL__SPARSE 1024u                  /* a mask of at most that many tokens makes a list */
#define TSL__NARROW 4096u                  /* a cut-off that leaves more than so many stays dense */

/* One thing to be ranked. */
typedef struct tsl__ranked {
  uint64_t key; /* larger comes first */
  double weight;
} tsl__ranked;

/* What a search wants: the first place in the ranking where the count, or the mass, is reached. */
typedef struct tsl__goal {
  bool by_mass;
  uint64_t count;
  double mass, whole; /* `whole`: of all candidates */
} tsl__goal;

typedef struct tsl__candidates {
  tsl_allocator alloc;
  const tsl__logits_kernels *kernels;
  /* the dense part */
  bool dense;
  const float *logits;
  const uint32_t *mask; /* ceil(width / 32) words */
  size_t width;
  size_t block_count, block_cap;
  double *mass; /* of each block: sum of its weights against its base, at mass_scale */
  float *peak;  /* of each block: largest logit in the mask, -inf if there is none */
  /* of each block: an anchor of its own, near the peak or above it; not finite where there is no
   * mass */
  float *base;
  float *lift;      /* of each block: weight of its base, since the last tsl__candidates_mass */
  float mass_scale; /* NaN: the masses are not known */
  uint32_t *own;    /* a mask that may be changed; `mask` leads to it once it is used */
  size_t own_cap;
  /* minus the distance of each token from the middle, while tsl__candidates_keep ranks by
   * distance */
  float *distance;
  size_t distance_cap;
  /* the narrow part: n entries by id; arrays of cap elements */
  float *logit, *weight; /* weight: at the scale of the last mass */
  tsl_token *id;
  size_t n, cap;
  /* of the n, how many at the end come from tsl__candidates_gather and are not merged yet */
  size_t gathered;
  float dense_top; /* largest logit of the dense part; NaN if it has one */
  float anchor;    /* largest logit of both parts, once surveyed; finite */
  float scale;     /* 1 / temperature, so far; 0 to FLT_MAX */
  tsl__ranked *scratch;
  size_t scratch_cap;
} tsl__candidates;

void tsl__candidates_init(tsl__candidates *c, const tsl_allocator *alloc);
void tsl__candidates_free(tsl__candidates *c);

/* Begin with a row under a mask (not NULL), at scale 1: dense, or a list if the mask has few
 * tokens. False when out of memory. */
bool tsl__candidates_begin(tsl__candidates *c, const float *logits, const uint32_t *mask,
                           size_t width);
/* Room for that many entries in all. */
bool tsl__candidates_reserve(tsl__candidates *c, size_t entries);

/* A copy of a mask of the row (`mask` NULL: all ones; the copy itself: as it is) that may be
 * changed. NULL when out of memory. */
uint32_t *tsl__candidates_own_mask(tsl__candidates *c, const uint32_t *mask, size_t width);

/* Survey the row (again, if a bit of the mask was cleared) and find the anchor. `scale` is the
 * scale of the next sum, NaN if there will be none. TSL_ERR_LOGITS: a NaN, +inf, or no finite
 * logit. Entries of -inf are dropped. */
tsl_status tsl__candidates_survey(tsl__candidates *c, float scale);
/* Find the anchor again after entries were changed. The same errors. */
tsl_status tsl__candidates_anchor(tsl__candidates *c);

/* The sum of all weights. The weight of each block and of each entry stays in the set. */
double tsl__candidates_mass(tsl__candidates *c);
/* The sum over the entries alone, including those that are gathered and not merged yet. */
double tsl__candidates_list_mass(tsl__candidates *c);
/* Sums of w and w * argument (in bits). */
tsl__logits_moments tsl__candidates_moments(const tsl__candidates *c);
tsl__logits_spread tsl__candidates_spread(const tsl__candidates *c);

/* Append the dense part's tokens with a logit of at least `floor` to the entries, not merged;
 * nothing else changes. If there are more than `most`, none is, and *all is false. For a second
 * try, tsl__candidates_ungather first. False when out of memory. */
bool tsl__candidates_gather(tsl__candidates *c, float floor, size_t most, bool *all);
void tsl__candidates_ungather(tsl__candidates *c);
/* The dense part ends; what was gathered is merged into the list. */
void tsl__candidates_close(tsl__candidates *c);
/* Drop all tokens below the floor. At least one token reaches it. The errors of a survey. */
tsl_status tsl__candidates_narrow(tsl__candidates *c, float floor);
/* Keep the tokens of the dense part whose entry in `by` is above `value`. `by` is the logits, or a
 * row like them. Tokens with the entry `value` are kept up to the id `last`. The errors of a
 * survey. */
tsl_status tsl__candidates_cut(tsl__candidates *c, const float *by, float value, tsl_token last);
/* A floor that the first `k` tokens of the dense part reach; -FLT_MAX if no better floor is known.
 * False when out of memory. */
bool tsl__candidates_floor(tsl__candidates *c, size_t k, float *floor);

/* The logit whose weight is exp(log_weight), rounded upwards; within the finite numbers. */
float tsl__candidates_level(const tsl__candidates *c, double log_weight);

/* Keep the entries for which keep[i] holds: `keep` returns true for entry i. The list alone. */
typedef bool (*tsl__entry_test)(const tsl__candidates *c, size_t i, const void *ctx);
void tsl__candidates_filter(tsl__candidates *c, tsl__entry_test keep, const void *ctx);

/* What a ranking goes by. */
typedef enum tsl__ranking { TSL__BY_LOGIT, TSL__BY_DISTANCE } tsl__ranking;
/* Keep the first ones in the ranking, by logit or from the middle (an argument, in bits) outwards,
 * until the goal is reached. The errors of a survey. */
tsl_status tsl__candidates_keep(tsl__candidates *c, tsl__ranking by, float middle, tsl__goal goal);

/* The place of a logit and id in the ranking. Both zeros are one. */
uint64_t tsl__rank_key(float logit, tsl_token id);
/* Room for that many in c->scratch. */
bool tsl__candidates_scratch(tsl__candidates *c, size_t n);
/* The key of the place where the goal is reached, the smallest key if nowhere; n >= 1. Reorders
 * `at`. */
uint64_t tsl__rank_select(tsl__ranked *at, size_t n, tsl__goal goal);

/* The smallest float above a finite one. */
static inline float tsl__next_up(float x) {
  uint32_t u;
  if (x == 0) return 0x1p-149f;
  memcpy(&u, &x, sizeof u);
  u = x > 0 ? u + 1 : u - 1;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* The token at which the running sum of weights passes `target`. If rounding lets no token pass it:
 * the last one that weighs anything. Called after tsl__candidates_mass at the same scale. */
tsl_token tsl__candidates_pick(const tsl__candidates *c, double target, double *weight);

#endif
