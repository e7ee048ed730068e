/* turnstile-device.h - masks and draws on a device: what turnstile.cu and turnstile.metal share.
 *
 * Problem   Logits are on a device, and hundreds of rows are drawn in a step. To bring the rows to
 *           the host takes longer than a step. A device that draws by other rules gives other
 *           tokens, so that a text cannot be made again elsewhere.
 * Idea      One group of TSD_THREADS threads draws for one row, by the rules of
 *           runtime/sample/candidates.h. Logits are read where they are, and never written: the
 *           mask is read beside them. The order of everything is the library's: mask, temperature,
 *           top-k, top-p, draw.
 * Rows      Row r of the logits begins at element r * stride. It has `width` elements of 4 bytes
 *           (float32) or 2 (float16, bfloat16). What lies between width and stride is not touched.
 * Masks     Token i is bit i % 32 of word i / 32; 1 is allowed. Row r of the masks begins at word
 *           r * stride: a table that the device keeps (tsl_mask_table_row gives the numbers), or
 *           this step's masks. Bits at or after `width` are ignored. A stride is at least
 *           ceil(width / 32).
 * Tasks     One tsd_task for a row: nine words of 32 bits.
 * Scratch   tsd_scratch_words(width) words for each task: 52 KB for 128,256 columns.
 * Steps     1. Peaks: the largest allowed logit of each block of 512. One pass over the row, where
 *              refused logits are not read.
 *           2. Up to 1,024 allowed tokens become a list at once. Else a cut-off gathers those at or
 *              above a floor: only blocks whose peak reaches the floor are read again.
 *           3. If a row is so flat that more than 4,096 would be gathered, the cut-off is found by
 *              digits of the rank, 8 bits a pass, and the row is read 3 to 8 times.
 *           4. Without a cut-off: the masses of all blocks, a second pass.
 *           5. One thread adds up the list, or the blocks, in the order of ids, and picks.
 * Example   128,256 logits, temperature 0.7, top-k 40, top-p 0.9. One pass finds 251 peaks. The
 *           40th largest peak is the floor. Some 60 tokens reach the floor. The list is cut to 40,
 *           then to 12, and one is drawn.
 * Exact     With TSD_DOUBLES (CUDA, HIP) tokens are those of tsl_sampler_draw, by the same
 *           arithmetic. Weights come from one polynomial; sums are in double and in the library's
 *           order. Seed and number of the draw give the same random number everywhere. By rounding
 *           three kinds of draw may differ:
 *             - top-p compares sums in steps of 2^-40 with its goal. The library adds doubles. A
 *               cut differs only if a sum is that near to the goal;
 *             - top-p that keeps more than 4,096 tokens. There the library compares sums of floats,
 *               so that a cut may keep a token more or less;
 *             - top-k of more than the row's blocks, up to 2,048. The library may go on with blocks
 *               where this makes a list, and then sums differ by 1e-7.
 *           Without TSD_DOUBLES (Metal) sums are integers in steps of 2^-40, and exact for weights
 *           of at least 2^-16. A token differs where the random number falls that near to the place
 *           between two tokens. Greedy draws and the sets that top-k keeps are the same always.
 * Errors    A NaN or +inf among the allowed, or no finite logit there: the token is TSD_NO_TOKEN,
 *           where the library has TSL_ERR_LOGITS. So is that of a row of more than TSD_BLOCKS
 *           blocks. Nothing else is checked: rows and strides outside of their buffers are
 *           undefined behaviour.
 * Left out  All other stages of the library's sampler. They need the text so far, which the host
 *           has.
 * Compile   Without contraction of products and sums, and without fast-math. turnstile.cu and
 *           turnstile.metal define the words of their language before they include this.
 * Tested by tests/hosts/host_device.py: the sources run on the processor, a fiber for each thread
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TURNSTILE_DEVICE_H
#define TURNSTILE_DEVICE_H

#define TSD_BLOCK 512u                /* tokens of a block, as in candidates.h */
#define TSD_LANES 16u                 /* a block is summed up in so many lanes */
#define TSD_TEAMS (TSD_THREADS / 16u) /* blocks at a time */
#define TSD_SPARSE 1024u              /* so few allowed tokens are a list at once */
#define TSD_LIST 4096u                /* entries of a list at most */
#define TSD_SHORT 2048u               /* up to this k the library first makes a list */
#define TSD_BLOCKS 8192u              /* of a row: TSL_MAX_VOCAB columns */
#define TSD_NO_TOKEN 0xffffffffu
#define TSD_NO_MASK 0xffffffffu /* a task's `source`: all is allowed */
#define TSD_LARGEST 3.402823466e+38f
#define TSD_FRACTION 40 /* bits of a sum after the point */

/* Kinds of logits. */
#define TSD_FLOAT32 0u
#define TSD_FLOAT16 1u
#define TSD_BFLOAT16 2u

/* What is drawn for one row. */
struct tsd_task {
  tsd_u32 target;  /* row of the logits */
  tsd_u32 source;  /* row of the masks, or TSD_NO_MASK */
  tsd_u32 top_k;   /* 0: off */
  float scale;     /* (float)(1.0 / temperature), at most FLT_MAX. Negative: the likeliest token */
  float top_p;     /* off unless between 0 and 1 */
  tsd_u32 seed[2]; /* the lower half first */
  tsd_u32 draw[2]; /* how many draws with this seed were before, the lower half first */
};

#ifdef TSD_DOUBLES
typedef double tsd_mass;
#else
typedef tsd_u64 tsd_mass;
#endif

/* Where the threads of a group meet. */
struct tsd_room {
  TSD_ATOMIC count[256], low[256], high[256]; /* bins of a digit: how many, and their mass */
  tsd_mass lane[TSD_THREADS];
  float value[TSD_BLOCK];
  tsd_u32 scan[TSD_THREADS];
  TSD_ATOMIC allowed, nans;
  tsd_mass mass, before;
  tsd_u64 above;
  tsd_u32 digit, single, block, token;
};

/* A row, as each thread has it: alike in all of them. */
struct tsd_row {
  const TSD_GLOBAL tsd_u16 *logits;
  const TSD_GLOBAL tsd_u32 *mask; /* not read if `all` */
  tsd_u32 kind, width, blocks, all;
  float scale, rate, anchor;
  tsd_u64 cut; /* the smallest rank that is left; 0: all */
  tsd_u32 n;   /* entries of the list */
  /* scratch: the list, by id; then what is known of each block */
  TSD_GLOBAL tsd_u32 *id, *logit, *weight, *peak, *base, *mass;
};

/* Words of scratch for one task. */
TSD_FN tsd_u32 tsd_scratch_words(tsd_u32 width) {
  return 3u * TSD_LIST + 4u * ((width + TSD_BLOCK - 1u) / TSD_BLOCK);
}

/* ---- one element ----------------------------------------------------------------------------- */

/* Element i as float32; every float16 and bfloat16 is one exactly. */
TSD_FN float tsd_logit_at(const TSD_GLOBAL tsd_u16 *row, tsd_u32 kind, tsd_u32 i) {
  if (kind == TSD_FLOAT32) return ((const TSD_GLOBAL float *)row)[i];
  tsd_u32 h = row[i];
  if (kind == TSD_BFLOAT16) return tsd_float(h << 16);
  tsd_u32 sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 0x3ffu;
  if (exponent == 31u) return tsd_float(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0u) {
    float small = tsd_times((float)fraction, 5.9604644775390625e-8f); /* 2^-24 */
    return tsd_float(sign | tsd_bits(small));
  }
  return tsd_float(sign | (exponent + 112u) << 23 | fraction << 13);
}

/* Refuse element i of a row. */
TSD_FN void tsd_refuse_at(TSD_GLOBAL tsd_u16 *row, tsd_u32 kind, tsd_u32 i) {
  if (kind == TSD_FLOAT32)
    ((TSD_GLOBAL tsd_u32 *)row)[i] = 0xff800000u;
  else
    row[i] = kind == TSD_FLOAT16 ? (tsd_u16)0xfc00u : (tsd_u16)0xff80u;
}

/* The mask's word w, without bits past the width. */
TSD_FN tsd_u32 tsd_word(const TSD_GLOBAL tsd_u32 *mask, tsd_u32 all, tsd_u32 width, tsd_u32 w) {
  tsd_u32 bits = all ? 0xffffffffu : mask[w], left = width - w * 32u;
  return left >= 32u ? bits : bits & ((1u << left) - 1u);
}

/* The place of a logit in the ranking: larger logits first, then lower ids. Both zeros are one. */
TSD_FN tsd_u64 tsd_rank(float logit, tsd_u32 id) {
  tsd_u32 u = tsd_bits(logit == 0.0f ? 0.0f : logit);
  u = u >> 31 ? ~u : u | 0x80000000u;
  return (tsd_u64)u << 32 | (tsd_u64)(0xffffffffu - id);
}

/* The logit of a rank. */
TSD_FN float tsd_ranked(tsd_u64 rank) {
  tsd_u32 u = (tsd_u32)(rank >> 32);
  return tsd_float(u >> 31 ? u & 0x7fffffffu : ~u);
}

/* exp((x - anchor) * scale), as tsl__logits_weight: rate is scale * log2(e). */
TSD_FN float tsd_weight(float x, float anchor, float rate) {
  float d = tsd_times(tsd_sum(x, -anchor), rate);
  if (!(d >= -126.0f)) return 0.0f;
  float shifted = tsd_sum(d, 12582912.0f), r = tsd_sum(d, -tsd_sum(shifted, -12582912.0f));
  float p = tsd_fma(tsd_float(0x3aaddd09u), r, tsd_float(0x3c1e7544u));
  p = tsd_fma(p, r, tsd_float(0x3d635ba9u));
  p = tsd_fma(p, r, tsd_float(0x3e75fcdeu));
  p = tsd_fma(p, r, tsd_float(0x3f317215u));
  p = tsd_fma(p, r, 1.0f);
  return tsd_float(tsd_bits(p) + (tsd_bits(shifted) << 23));
}

/* A weight of at most 8 in steps of 2^-TSD_FRACTION. */
TSD_FN tsd_u64 tsd_fixed(float w) {
  tsd_u32 u = tsd_bits(w), fraction = (u & 0x7fffffu) | 0x800000u;
  int shift = (int)(u >> 23) - 150 + TSD_FRACTION;
  if (w == 0.0f || shift <= -24) return 0;
  return shift >= 0 ? (tsd_u64)fraction << shift : (tsd_u64)(fraction >> -shift);
}

/* Is the element a candidate? `x` gets its logit, which is read only where the mask allows it. */
TSD_FN bool tsd_is_left(TSD_PRIVATE const tsd_row *row, tsd_u32 i, TSD_PRIVATE float *x) {
  if (i >= row->width) return false;
  if (!row->all && !((row->mask[i >> 5] >> (i & 31u)) & 1u)) return false;
  *x = tsd_logit_at(row->logits, row->kind, i);
  return !row->cut || tsd_rank(*x, i) >= row->cut;
}

/* ---- sums ------------------------------------------------------------------------------------ */

#ifdef TSD_DOUBLES
TSD_FN tsd_mass tsd_mass_of(float w) { return (double)w; }
TSD_FN tsd_mass tsd_lifted(tsd_mass m, float lift) { return tsd_times64(m, (double)lift); }
TSD_FN tsd_mass tsd_added(tsd_mass a, tsd_mass b) { return tsd_sum64(a, b); }
/* The share u * 2^-53 of a mass. */
TSD_FN tsd_mass tsd_share(tsd_mass m, tsd_u64 u) {
  return tsd_times64(tsd_times64((double)u, 1.1102230246251565e-16), m);
}
/* The share p of a mass, in steps of 2^-TSD_FRACTION, rounded upwards. */
TSD_FN tsd_u64 tsd_goal(tsd_mass m, float p) {
  double steps = tsd_times64(tsd_times64((double)p, m), 1099511627776.0);
  tsd_u64 goal = (tsd_u64)steps;
  return (double)goal < steps ? goal + 1u : goal;
}
/* The logit that weighs exp(-depth), rounded upwards. */
TSD_FN float tsd_level(TSD_PRIVATE const tsd_row *row, float depth) {
  double x = tsd_sum64((double)row->anchor, tsd_over64(-(double)depth, (double)row->scale));
  if (!(x > -(double)TSD_LARGEST)) return -TSD_LARGEST;
  float level = (float)x;
  if ((double)level >= x) return level;
  tsd_u32 u = tsd_bits(level);
  return u << 1 == 0u ? tsd_float(1u) : tsd_float(u >> 31 ? u - 1u : u + 1u);
}
#else
TSD_FN tsd_mass tsd_mass_of(float w) { return tsd_fixed(w); }
TSD_FN tsd_mass tsd_lifted(tsd_mass m, float lift) { return lift == 0.0f ? 0u : m; } /* it is 1 */
TSD_FN tsd_mass tsd_added(tsd_mass a, tsd_mass b) { return a + b; }
TSD_FN tsd_mass tsd_share(tsd_mass m, tsd_u64 u) { return tsd_high64(m, u << 11); }
TSD_FN tsd_u64 tsd_goal(tsd_mass m, float p) {
  tsd_u64 share = (tsd_u64)tsd_times(p, 18446744073709551616.0f);
  return tsd_high64(m, share) + (m * share != 0u ? 1u : 0u);
}
TSD_FN float tsd_level(TSD_PRIVATE const tsd_row *row, float depth) {
  float x = row->anchor - depth / row->scale;
  return x > -TSD_LARGEST ? x : -TSD_LARGEST;
}
#endif

TSD_FN void tsd_keep_mass(TSD_GLOBAL tsd_u32 *to, tsd_mass m) {
#ifdef TSD_DOUBLES
  tsd_u64 bits = tsd_bits64(m);
#else
  tsd_u64 bits = m;
#endif
  to[0] = (tsd_u32)bits;
  to[1] = (tsd_u32)(bits >> 32);
}

TSD_FN tsd_mass tsd_kept_mass(const TSD_GLOBAL tsd_u32 *from) {
  tsd_u64 bits = (tsd_u64)from[1] << 32 | from[0];
#ifdef TSD_DOUBLES
  return tsd_float64(bits);
#else
  return bits;
#endif
}

/* Philox4x32-10 of the draw's number under the seed: 53 random bits (runtime/core/rng.c). */
TSD_FN tsd_u64 tsd_random(const TSD_GLOBAL tsd_task *task) {
  tsd_u32 a = task->draw[0], b = task->draw[1], c = 0, d = 0, k = task->seed[0], l = task->seed[1];
  for (int round = 0; round < 10; round++) {
    tsd_u32 x = tsd_high(0xCD9E8D57u, c) ^ b ^ k, y = 0xCD9E8D57u * c,
            z = tsd_high(0xD2511F53u, a) ^ d ^ l, w = 0xD2511F53u * a;
    a = x, b = y, c = z, d = w;
    k += 0x9E3779B9u;
    l += 0xBB67AE85u;
  }
  return ((tsd_u64)a << 32 | b) >> 11;
}

/* ---- a mask on a row ------------------------------------------------------------------------- */

#define TSD_APPLIED 2048u /* columns of a group, 64 words */

/* Refuse what the mask refuses among the columns of group `part`. Allowed logits are neither read
 * nor written. Thirty-two threads side by side have one word, and leave it at once if it refuses
 * nothing. */
TSD_FN void tsd_apply(TSD_GLOBAL tsd_u16 *logits, tsd_u32 kind, tsd_u64 logits_stride,
                      tsd_u32 width, const TSD_GLOBAL tsd_u32 *masks, tsd_u64 masks_stride,
                      tsd_u32 source, tsd_u32 target, tsd_u32 part, tsd_u32 self) {
  TSD_GLOBAL tsd_u16 *row = logits + target * logits_stride * (kind == TSD_FLOAT32 ? 2u : 1u);
  const TSD_GLOBAL tsd_u32 *mask = masks + source * masks_stride;
  for (tsd_u32 i = part * TSD_APPLIED + self; i < (part + 1u) * TSD_APPLIED && i < width;
       i += TSD_THREADS)
    if (!((mask[i >> 5] >> (i & 31u)) & 1u)) tsd_refuse_at(row, kind, i);
}

#endif
