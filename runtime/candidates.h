/* candidates.h - the tokens that may still be drawn, and what they weigh.
 *
 * Problem   A sampler's stages each look at all candidates and drop some. Sorting and copying 128,256 of them takes milliseconds, and most are thrown
 *           away by the first stage.
 * Idea      The set has two parts, and a token is in one of them at most:
 *             wide    the host's row of logits under a mask, neither copied nor changed. It is known by blocks of 512: the largest logit of each, and
 *                     on demand its weight.
 *             narrow  a list (logit, id), by id: tokens whose logit was changed (penalties, bias), and after the first cut-off all that are left.
 *           Every cut-off ends the wide part: it finds a floor that what it keeps can't lie below, the tokens at or above it move to the list, and
 *           blocks whose peak is lower are never looked at again. What remains is arithmetic on a list of, mostly, less than a hundred.
 *           A mask of few tokens makes a list at once.
 * Scale     Temperature changes no logit: it divides `scale`. A token weighs exp((logit - anchor) * scale), the anchor being the largest logit.
 * Rank      larger logit first, then lower id. A rank is a 64-bit key, so that a cut-off is one comparison (tsl__rank_key).
 * Draws     go by id (first the wide part, then the list), so they do not depend on the way in which a cut-off was found.
 * Cost      128,256 logits, AVX-512 on an EPYC 9005 core: survey 6 µs, mass 18, gathering the 50 first 1.5.
 * Tested by tests/test_sampler.c, against sorting everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_CANDIDATES_H
#define TSL_RUNTIME_CANDIDATES_H

#include "runtime/logits.h"

#define TSL__BLOCK 512u                    /* tokens of a block, a multiple of 64 */
#define TSL__BLOCK_WORDS (TSL__BLOCK / 32) /* words of its mask */
#define TSL__SPARSE 1024u                  /* a mask of at most that many tokens makes a list */

typedef struct tsl__block {
  double mass; /* weights at the scale of the last tsl__candidates_mass */
  float peak;  /* largest logit in the mask, -inf if there is none */
} tsl__block;

/* One thing to be ranked. */
typedef struct tsl__ranked {
  uint64_t key; /* larger comes first */
  double weight;
} tsl__ranked;

/* What a search wants: the first place in the ranking where the count, or the mass, is reached. */
typedef struct tsl__goal {
  bool by_mass;
  uint64_t count;
  double mass;
} tsl__goal;

typedef struct tsl__candidates {
  tsl_allocator alloc;
  const tsl__logits_kernels *kernels;
  /* the wide part */
  bool wide;
  const float *logits;
  const uint32_t *mask; /* ceil(width / 32) words */
  size_t width;
  tsl__block *blocks;
  size_t block_count, block_cap;
  /* the narrow part: n entries by id; arrays of cap elements */
  float *logit, *weight; /* weight: at the scale of the last mass */
  tsl_token *id;
  size_t n, cap;
  size_t gathered; /* of the n, how many at the end come from tsl__candidates_gather and are not merged yet */
  float wide_top;  /* largest logit of the wide part; NaN if it has one */
  float anchor;    /* largest logit of both parts, once surveyed; finite */
  float scale;     /* 1 / temperature, so far; 0 to FLT_MAX */
  tsl__ranked *scratch;
  size_t scratch_cap;
} tsl__candidates;

void tsl__candidates_init(tsl__candidates *c, const tsl_allocator *alloc);
void tsl__candidates_free(tsl__candidates *c);

/* Begin with a row under a mask (not NULL), scale 1: wide, or a list where the mask has few tokens. False when out of memory. */
bool tsl__candidates_begin(tsl__candidates *c, const float *logits, const uint32_t *mask, size_t width);
/* Room for that many entries in all. */
bool tsl__candidates_reserve(tsl__candidates *c, size_t entries);

/* Survey the row (again, if a bit of the mask was cleared) and find the anchor. TSL_ERR_LOGITS: a NaN, +inf, or nothing finite is left. Entries that are
 * -inf go. */
tsl_status tsl__candidates_survey(tsl__candidates *c);
/* Find the anchor again after entries were changed. The same errors. */
tsl_status tsl__candidates_anchor(tsl__candidates *c);

/* Sum of all weights; leaves each block's and each entry's. */
double tsl__candidates_mass(tsl__candidates *c);
/* Of the entries alone, those gathered and not merged yet included. */
double tsl__candidates_list_mass(tsl__candidates *c);
/* Sums of w and w * argument. */
tsl__logits_moments tsl__candidates_moments(const tsl__candidates *c);
tsl__logits_spread tsl__candidates_spread(const tsl__candidates *c);

/* Append the wide part's tokens with a logit of at least `floor` to the entries, not merged; nothing else changes. For a second try,
 * tsl__candidates_ungather first. False when out of memory. */
bool tsl__candidates_gather(tsl__candidates *c, float floor);
void tsl__candidates_ungather(tsl__candidates *c);
/* The wide part ends; what was gathered is merged into the list. */
void tsl__candidates_close(tsl__candidates *c);
/* gather, close: everything of the wide part below the floor is gone. Entries of the list stay, whatever their logit. */
bool tsl__candidates_narrow(tsl__candidates *c, float floor);
/* A floor that at least the `k` first tokens of the wide part reach, if it has as many; -FLT_MAX if none better is known. False when out of memory. */
bool tsl__candidates_floor(tsl__candidates *c, size_t k, float *floor);

/* The logit whose weight is exp(log_weight), a little lower; within the finite numbers. */
float tsl__candidates_level(const tsl__candidates *c, double log_weight);

/* Keep the entries for which keep[i] holds: `keep` returns true for entry i. For lists alone. */
typedef bool (*tsl__entry_test)(const tsl__candidates *c, size_t i, const void *ctx);
void tsl__candidates_filter(tsl__candidates *c, tsl__entry_test keep, const void *ctx);

/* The place of a logit and id in the ranking. Both zeros are one. */
uint64_t tsl__rank_key(float logit, tsl_token id);
/* Room for that many in c->scratch. */
bool tsl__candidates_scratch(tsl__candidates *c, size_t n);
/* The key of the place where the goal is reached, the smallest key if nowhere; n >= 1. Reorders `at`. */
uint64_t tsl__rank_select(tsl__ranked *at, size_t n, tsl__goal goal);

/* The token at which the running sum of weights passes `target`, the last one that weighs anything if rounding lets none; after
 * tsl__candidates_mass at the same scale. */
tsl_token tsl__candidates_pick(const tsl__candidates *c, double target, double *weight);

#endif
