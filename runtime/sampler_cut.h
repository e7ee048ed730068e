/* sampler_cut.h - a cut-off as one place in the ranking of tokens.
 *
 * Problem   top-k, top-p and min-p each keep the most likely tokens down to some point. Sorting 128,256 logits for that takes milliseconds, and
 *           most of it is thrown away.
 * Idea      Rank tokens by (logit, larger first; id, lower first). Then every cut-off keeps a prefix of the ranking, and a prefix is two numbers:
 *           the last token's logit and id. Nothing is sorted but a few hundred tokens around the place that is sought:
 *             1. The row is cut in blocks of 1,024 tokens whose maxima are known. The k-th largest maximum is a floor for top-k that few tokens
 *                pass; blocks whose maximum lies below a floor are never looked at.
 *             2. Else bisect: a vectorised count (or sum of weights) of what is at or above a floor halves the bracket.
 *             3. When at most TSL__CUT_SORT tokens are left in the bracket, sort these and step through them.
 * Example   logits 6, 5, 4.5, 3.5, 2, 0 with top-p 0.9: weights 1, .37, .22 of 1.69 reach 0.9 at the third: cut = (4.5, id 2).
 * Cost      top-k 40 of 128,256: 20 µs. top-p: about as much for a peaked row; for a flat one 5 to 10 sums over the row (45 µs each).
 * Memory    24 bytes a block, and a fixed buffer; logits are never copied or changed.
 * Tested by tests/test_sampler.c, against sorting everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_SAMPLER_CUT_H
#define TSL_RUNTIME_SAMPLER_CUT_H

#include "runtime/logits.h"

#define TSL__ROW_BLOCK 1024u                 /* tokens of a block, a multiple of 32 */
#define TSL__ROW_WORDS (TSL__ROW_BLOCK / 32) /* words of its mask */
#define TSL__CUT_SORT 1024u                  /* most tokens that are sorted */

typedef struct tsl__row_block {
  double mass;    /* weights of the kept tokens, as tsl__row_measure left it */
  float peak;     /* largest legal logit, -inf if there is none */
  uint32_t legal; /* tokens in the mask */
} tsl__row_block;

typedef struct tsl__ranked {
  float logit;
  tsl_token id;
} tsl__ranked;

/* One row of logits under one mask. */
typedef struct tsl__row {
  const tsl__logits_kernels *kernels;
  const float *logits;
  const uint32_t *mask; /* NULL: all are legal */
  size_t width;
  tsl__row_block *blocks; /* block_count = ceil(width / TSL__ROW_BLOCK) */
  size_t block_count;
  float anchor;         /* the largest legal logit; its weight is 1 */
  float scale;          /* 1 / temperature */
  tsl__ranked *scratch; /* TSL__CUT_SORT entries, or block_count if that is more */
} tsl__row;

/* Kept are the legal tokens with a logit above `logit`, and those that have it and an id up to `last`. */
typedef struct tsl__cut {
  float logit; /* finite */
  tsl_token last;
} tsl__cut;

#define TSL__CUT_NONE ((tsl__cut){-FLT_MAX, UINT32_MAX}) /* keeps every finite logit */

typedef struct tsl__measure {
  uint64_t count;
  double mass; /* sum of weights */
} tsl__measure;

/* First token and number of tokens of a block. */
static inline size_t tsl__row_start(size_t block) { return block * TSL__ROW_BLOCK; }
static inline size_t tsl__row_length(const tsl__row *row, size_t block) {
  size_t left = row->width - tsl__row_start(block);
  return left < TSL__ROW_BLOCK ? left : TSL__ROW_BLOCK;
}
/* The block's part of the mask (a constant of ones where the row has none). */
const uint32_t *tsl__row_mask(const tsl__row *row, size_t block);

/* The kept tokens of a block as bits; TSL__ROW_WORDS words, those past the end 0. */
void tsl__row_kept(const tsl__row *row, size_t block, tsl__cut cut, uint32_t bits[TSL__ROW_WORDS]);
/* How many tokens are kept and what they weigh; leaves each block's part in blocks[].mass. */
tsl__measure tsl__row_measure(const tsl__row *row, tsl__cut cut);
/* How many legal tokens have a logit of at least `floor`. */
uint64_t tsl__row_count(const tsl__row *row, float floor);

/* The cut that keeps the `k` first of what `from` keeps (`kept` = its measure, of which only the count is used); k >= 1. */
tsl__cut tsl__cut_top_k(const tsl__row *row, tsl__cut from, tsl__measure kept, uint32_t k);
/* The cut that keeps the fewest whose weights sum to at least `mass`. */
tsl__cut tsl__cut_top_p(const tsl__row *row, tsl__cut from, tsl__measure kept, double mass);
/* The cut that keeps the tokens of `from` that weigh at least `weight`, 0 < weight <= 1. */
tsl__cut tsl__cut_min_p(const tsl__row *row, tsl__cut from, double weight);

#endif
