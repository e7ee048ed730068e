/* speculate.c - several drafted tokens checked at once. The text is distributed as if none had been
 * drafted.
 *
 * Problem   A large model gives the logits after eight tokens nearly as fast as after one. So a
 *           small model (or the grammar) drafts, and the large one checks. The text must have the
 *           large model's distribution, not the drafter's. Under a grammar both distributions must
 *           be those from which the tokens were really drawn.
 * Idea      p and q are the distributions of both models at a position, and t was drawn from q.
 *           Accept t with probability min(1, p(t)/q(t)). Otherwise draw from max(0, p - q),
 *           normalised. With (x)⁺ for max(0, x), t then comes out with probability
 *
 *             q(t) min(1, p(t)/q(t)) + P(rejected) (p(t) - q(t))⁺ / Σ(p - q)⁺
 *               = min(q(t), p(t)) + (p(t) - q(t))⁺
 *               = p(t),
 *
 *           because P(rejected) = 1 - Σ min(p, q) = Σ(p - q)⁺.
 * Example   Two tokens, p = (0.2, 0.8), q = (0.6, 0.4). The draft is the first token: it is
 *           accepted with 0.2/0.6 = 1/3. (p - q)⁺ = (0, 0.4), so after a rejection the second token
 *           is drawn. The first comes out with 0.6 × 1/3 = 0.2, the second with 0.4 + 0.6 × 2/3 =
 *           0.8: that is p.
 * Siblings  A rejection leaves the same problem for the next sibling, with p' = (p - q)⁺
 *           normalised. The sibling was drawn from q or, without replacement, from q without the
 *           first draft, normalised. A draft that was chosen, not drawn, has a q that is 1 there.
 * Grammar   p is masked, so a draft that the grammar forbids is never accepted. q is masked only if
 *           the drafts were drawn under the mask.
 * Cost      All arithmetic is in doubles: distributions agree to 1e-15. Each position on the way
 *           costs a softmax of p, and one of q where drafts were drawn.
 * Ref       Leviathan, Kalman, Matias 2023 "Fast inference from transformers via speculative
 *           decoding"; Chen et al. 2023 "Accelerating large language model decoding with
 *           speculative sampling"; Miao et al. 2024 "SpecInfer"; Jeon et al. 2024 "Recursive
 *           speculative decoding: accelerating LLM inference via sampling without replacement".
 * Tested by tests/decode/test_speculate.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/generation.h"
#include "runtime/decode/speculate.h"

#include <math.h>

#include "runtime/core/rng.h"

/* ---- masks of drafts ------------------------------------------------------------------------- */

static uint32_t parent_of(const uint32_t *parents, size_t i) {
  return parents ? parents[i] : i ? (uint32_t)i - 1 : TSL_NO_PARENT;
}

/* Where a draft stands: a position, or nowhere. */
typedef struct stand {
  tsl__stack at;
  bool allowed, ended;
  uint32_t counted;
} stand;

/* The position after a draft, from that of its parent. */
static tsl_status draft_stand(const tsl_matcher *m, stand from, tsl_token token, stand *to) {
  const tsl_vocab *v = m->grammar->vocab;
  *to = (stand){from.at, false, false, from.counted};
  if (token >= v->size) return token < v->logits_width ? TSL_OK : TSL_ERR_ARGUMENT;
  if (!from.allowed || from.ended) return TSL_OK;
  if (tsl_vocab_is_eog(v, token)) {
    to->allowed = to->ended = tsl__stack_at(m->space, from.at)->complete;
    return TSL_OK;
  }
  tsl__stack at;
  uint32_t counted = from.counted;
  tsl_status status = tsl__grammar_lead_counted(m->grammar, from.at, token, &at, &counted);
  if (status == TSL_OK && at) *to = (stand){at, true, false, counted};
  return status;
}

static tsl_status write_mask(const tsl_matcher *m, stand s, uint32_t *out) {
  if (!s.allowed || s.ended)
    return memset(out, 0, tsl_vocab_mask_words(m->grammar->vocab) * sizeof *out), TSL_OK;
  const tsl__mask_rec *mask;
  tsl_status status = tsl__grammar_mask(m->grammar, s.at, &mask);
  if (status != TSL_OK) return status;
  tsl__mask_write(m->space, mask, out);
  if (tsl__quota_finishing(m->grammar, s.at, s.counted)) tsl__quota_finishers(m->grammar, out);
  return TSL_OK;
}

static tsl_status mask_drafts(const tsl_matcher *m, const tsl_token *tokens,
                              const uint32_t *parents, size_t count, uint32_t *masks,
                              bool *allowed) {
  size_t words = tsl_vocab_mask_words(m->grammar->vocab);
  stand *stands = tsl__alloc(&m->alloc, (count + 1) * sizeof *stands);
  if (!stands) return TSL_ERR_NO_MEMORY;
  stands[0] = (stand){m->at, true, m->terminated, m->counted};
  tsl_status status = write_mask(m, stands[0], masks);
  for (size_t i = 0; i < count && status == TSL_OK; i++) {
    uint32_t parent = parent_of(parents, i);
    if (parent != TSL_NO_PARENT && parent >= i)
      status = TSL_ERR_ARGUMENT;
    else
      status = draft_stand(m, stands[parent == TSL_NO_PARENT ? 0 : parent + 1], tokens[i],
                           &stands[i + 1]);
    if (status == TSL_OK) status = write_mask(m, stands[i + 1], masks + (i + 1) * words);
    if (status == TSL_OK && allowed) allowed[i] = stands[i + 1].allowed;
  }
  tsl__free(&m->alloc, stands, (count + 1) * sizeof *stands);
  return status;
}

tsl_status tsl_matcher_mask_drafts(tsl_matcher *m, const tsl_token *tokens, const uint32_t *parents,
                                   size_t count, uint32_t *masks, bool *allowed) {
  if (!m || !masks || (count && !tokens) || count >= TSL_NO_PARENT) return TSL_ERR_ARGUMENT;
  tsl__timed call = tsl__timed_begin(m->space->work.deadline_us);
  tsl__matcher_settle(m);
  tsl_status status = mask_drafts(m, tokens, parents, count, masks, allowed);
  if (tsl__matcher_again(m, status))
    status = mask_drafts(m, tokens, parents, count, masks, allowed);
  tsl__timed_end(call);
  return status;
}

/* ---- distributions --------------------------------------------------------------------------- */

tsl_status tsl__softmax(const float *logits, const uint32_t *mask, size_t width, double temperature,
                        double *out) {
  size_t top = width;
  for (size_t i = 0; i < width; i++) {
    if (mask && !tsl_mask_has(mask, (tsl_token)i)) continue;
    if (isnan(logits[i]) || logits[i] == INFINITY) return TSL_ERR_LOGITS;
    if (top == width || logits[i] > logits[top]) top = i;
  }
  if (top == width || logits[top] == -INFINITY) return TSL_ERR_LOGITS;
  double sum = 0, peak = logits[top];
  for (size_t i = 0; i < width; i++) {
    /* -inf by an infinite temperature is NaN */
    bool in = (!mask || tsl_mask_has(mask, (tsl_token)i)) && (temperature > 0 || i == top) &&
              logits[i] > -INFINITY;
    out[i] = !in ? 0 : temperature > 0 ? exp(((double)logits[i] - peak) / temperature) : 1;
    sum += out[i];
  }
  for (size_t i = 0; i < width; i++) out[i] /= sum;
  return TSL_OK;
}

static double sum_of(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

static void scale(double *x, size_t n, double by) {
  for (size_t i = 0; i < n; i++) x[i] *= by;
}

/* p becomes max(0, p - q), normalised. Where the two are equal but for rounding nothing is left,
 * and p stays as it is. */
static void reject(double *p, const double *q, size_t n) {
  double left = 0;
  for (size_t i = 0; i < n; i++) left += p[i] > q[i] ? p[i] - q[i] : 0;
  if (!(left > 0)) return;
  for (size_t i = 0; i < n; i++) p[i] = p[i] > q[i] ? (p[i] - q[i]) / left : 0;
}

/* The same for a chosen draft: q is 1 there. */
static void reject_chosen(double *p, size_t n, tsl_token token) {
  p[token] = 0;
  double left = sum_of(p, n);
  if (left > 0) scale(p, n, 1 / left);
}

/* ---- accepting ------------------------------------------------------------------------------- */

typedef struct check {
  tsl_matcher *m;
  const tsl_drafts *d;
  const tsl__chance *chance;
  size_t width, words;
  uint32_t *masks;
  double *p, *q; /* at the position that is looked at */
} check;

static bool accepts(const check *c, tsl_token token) {
  double ratio = c->d->draft_logits ? c->p[token] / c->q[token] : c->p[token];
  return ratio >= 1 || (ratio > 0 && c->chance->coin(c->chance->ctx, ratio));
}

/* p without the draft; q too, if the next one cannot be the same. */
static void refuse(const check *c, tsl_token token) {
  if (!c->d->draft_logits) {
    reject_chosen(c->p, c->width, token);
    return;
  }
  reject(c->p, c->q, c->width);
  if (!c->d->distinct) return;
  c->q[token] = 0;
  double left = sum_of(c->q, c->width);
  if (left > 0) scale(c->q, c->width, 1 / left);
}

static tsl_status distribution(const check *c, size_t row) {
  return tsl__softmax(c->d->logits + row * c->width, c->masks + row * c->words, c->width,
                      c->d->temperature, c->p);
}

static tsl_status draft_distribution(const check *c, size_t row) {
  if (!c->d->draft_logits) return TSL_OK;
  const uint32_t *mask = c->d->draft_masked ? c->masks + row * c->words : NULL;
  return tsl__softmax(c->d->draft_logits + row * c->width, mask, c->width, c->d->draft_temperature,
                      c->q);
}

/* Try the drafts after row `row`; *child is the accepted one, or the count of drafts. c->p is what
 * to draw from then. */
static tsl_status try_children(const check *c, size_t row, size_t *child) {
  const tsl_drafts *d = c->d;
  uint32_t parent = row ? (uint32_t)row - 1 : TSL_NO_PARENT;
  bool first = true;
  tsl_status status = distribution(c, row);
  for (*child = row; *child < d->count && status == TSL_OK; (*child)++) {
    tsl_token token = d->tokens[*child];
    if (parent_of(d->parents, *child) != parent) continue;
    if (first) status = draft_distribution(c, row);
    first = false;
    if (status == TSL_OK && d->draft_logits && !(c->q[token] > 0)) status = TSL_ERR_ARGUMENT;
    if (status != TSL_OK) break;
    if (accepts(c, token)) return TSL_OK;
    refuse(c, token);
  }
  *child = d->count;
  return status;
}

static tsl_token draw(const check *c) {
  return (tsl_token)c->chance->pick(c->chance->ctx, c->p, c->width, sum_of(c->p, c->width));
}

static bool mask_empty(const check *c, size_t row) {
  return tsl_mask_count(c->masks + row * c->words, c->width) == 0;
}

static tsl_status walk(const check *c, uint32_t *path, size_t *accepted, tsl_token *next) {
  size_t row = 0, child;
  *accepted = 0;
  *next = TSL_NO_TOKEN;
  while (!mask_empty(c, row)) {
    tsl_status status = try_children(c, row, &child);
    if (status != TSL_OK) return status;
    if (child == c->d->count) {
      *next = draw(c);
      return TSL_OK;
    }
    path[(*accepted)++] = (uint32_t)child;
    row = child + 1;
  }
  return TSL_OK;
}

/* Move past what was accepted; undone if that fails. */
static tsl_status advance(tsl_matcher *m, const tsl_drafts *d, const uint32_t *path,
                          size_t accepted, tsl_token next) {
  tsl_status status = TSL_OK;
  size_t done = 0;
  for (; done < accepted && status == TSL_OK; done += status == TSL_OK)
    status = tsl_matcher_accept(m, d->tokens[path[done]]);
  if (status == TSL_OK && next != TSL_NO_TOKEN) status = tsl_matcher_accept(m, next);
  if (status != TSL_OK) tsl_matcher_rollback(m, done);
  return status;
}

static bool drafts_ok(const tsl_matcher *m, const tsl_drafts *d) {
  if (!d->logits || (d->count && !d->tokens) || d->count >= TSL_NO_PARENT) return false;
  for (size_t i = 0; i < d->count; i++)
    if (d->tokens[i] >= m->grammar->vocab->logits_width) return false;
  /* NaN fails each */
  return d->temperature >= 0 && (!d->draft_logits || d->draft_temperature >= 0);
}

tsl_status tsl__speculate(tsl_matcher *m, const tsl_drafts *d, const tsl__chance *chance,
                          uint32_t *path, size_t *accepted, tsl_token *next) {
  if (!m || !d || !accepted || !next || (d->count && !path) || !drafts_ok(m, d))
    return TSL_ERR_ARGUMENT;
  size_t width = m->grammar->vocab->logits_width, words = tsl_vocab_mask_words(m->grammar->vocab);
  size_t doubles = 2 * width * sizeof(double), bits = (d->count + 1) * words * sizeof(uint32_t);
  char *block = tsl__alloc(&m->alloc, doubles + bits);
  if (!block) return TSL_ERR_NO_MEMORY;
  double *p = (double *)(void *)block;
  check c = {m, d, chance, width, words, (uint32_t *)(void *)(block + doubles), p, p + width};
  tsl_status status = tsl_matcher_mask_drafts(m, d->tokens, d->parents, d->count, c.masks, NULL);
  if (status == TSL_OK) status = walk(&c, path, accepted, next);
  if (status == TSL_OK) status = advance(m, d, path, *accepted, *next);
  if (status != TSL_OK) {
    *accepted = 0;
    *next = TSL_NO_TOKEN;
  }
  tsl__free(&m->alloc, block, doubles + bits);
  return status;
}

/* ---- with random numbers --------------------------------------------------------------------- */

typedef struct stream {
  uint64_t seed, at;
} stream;

static bool flip(void *ctx, double probability) {
  stream *s = ctx;
  return tsl__rng_uniform(s->seed, s->at++) < probability;
}

static size_t pick(void *ctx, const double *weights, size_t n, double total) {
  stream *s = ctx;
  double target = tsl__rng_uniform(s->seed, s->at++) * total, sum = 0;
  size_t last = 0;
  for (size_t i = 0; i < n; i++) {
    if (!(weights[i] > 0)) continue;
    last = i;
    sum += weights[i];
    if (sum > target) break;
  }
  return last;
}

tsl_status tsl_speculate(tsl_matcher *m, const tsl_drafts *d, uint64_t seed, uint64_t *draws,
                         uint32_t *path, size_t *accepted, tsl_token *next) {
  if (!draws) return TSL_ERR_ARGUMENT;
  stream s = {seed, *draws};
  tsl__chance chance = {&s, flip, pick};
  tsl_status status = tsl__speculate(m, d, &chance, path, accepted, next);
  if (status == TSL_OK) *draws = s.at;
  return status;
}
