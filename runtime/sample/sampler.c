/* sampler.c - making a sampler, and one step of it. The essay is in sampler.h.
 *
 * Steps     A draw (tsl_sampler_draw) has six parts. Bans are removed from the mask. The candidates
 *           begin as a list or as mask and row. Tokens whose logits change move to the list. One
 *           survey finds the largest logit. The stages run in their order. One number picks.
 * Example   temperature 0.7, top_k 40, repetition_penalty 1.1. The stages chosen are PENALTIES,
 *           TEMPERATURE and TOP_K; all others are off and cost nothing. Of 100,000 allowed tokens
 *           the 30 that occurred before move to the list, where the penalty lowers their logits.
 *           The others stay where they are, in the row.
 * Owners    A sampler copies the lists of its options, so that hosts may free theirs. The row of
 *           logits and the mask are read, never written: a step that changes the mask writes to a
 *           copy.
 * Cost      See sampler.h. Options are checked once, when the sampler is made.
 * Tested by tests/sample/test_sampler.c, tests/sample/test_sampler_history.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sample/sampler.h"

#include "runtime/core/fmath.h"
#include "runtime/core/rng.h"
#include "runtime/sample/step.h"

/* ---- options --------------------------------------------------------------------------------- */

static bool in(float x, float low, float high) { return x >= low && x <= high; } /* NaN is not */

/* Each stage once, and none that does not exist. */
static bool stages_ok(const tsl_sampler_options *o) {
  bool seen[TSL__STAGES + 1] = {false};
  if (!o->stages) return o->stage_count == 0;
  for (uint32_t i = 0; i < o->stage_count; i++) {
    int stage = (int)o->stages[i];
    if (stage < 1 || stage > TSL__STAGES || seen[stage]) return false;
    seen[stage] = true;
  }
  return true;
}

/* A count needs its list, and a bias is a finite number. */
static bool lists_ok(const tsl_sampler_options *o) {
  if ((o->allowed_count && !o->allowed) || (o->banned_count && !o->banned) ||
      (o->eog_count && !o->eog))
    return false;
  if ((o->bias_count && !o->bias) || (o->dry_breaker_count && !o->dry_breakers)) return false;
  for (uint32_t i = 0; i < o->bias_count; i++)
    if (!in(o->bias[i].bias, -FLT_MAX, FLT_MAX)) return false;
  return true;
}

/* Every number in its bounds; NaN is in none. */
static bool options_ok(const tsl_sampler_options *o) {
  return o->temperature >= 0 && in(o->top_p, 0, 1) && in(o->min_p, 0, 1) &&
         in(o->dynamic_range, 0, FLT_MAX) && in(o->dynamic_exponent, 0, FLT_MAX) &&
         in(o->top_n_sigma, 0, FLT_MAX) && in(o->typical_p, 0, 1) && in(o->epsilon, 0, 1) &&
         in(o->eta, 0, 1) && in(o->xtc_probability, 0, 1) && in(o->xtc_threshold, 0, 1) &&
         in(o->mirostat_tau, 0, FLT_MAX) && in(o->mirostat_eta, 0, FLT_MAX) &&
         in(o->repetition_penalty, 0, FLT_MAX) && in(o->frequency_penalty, -FLT_MAX, FLT_MAX) &&
         in(o->presence_penalty, -FLT_MAX, FLT_MAX) && in(o->dry_multiplier, 0, FLT_MAX) &&
         in(o->dry_base, 0, FLT_MAX) && o->loop_repeats != 1 && stages_ok(o) && lists_ok(o);
}

/* 0 means "not set" in options that would mean nothing at 0. */
static void fill_defaults(tsl_sampler_options *o) {
  if (o->repetition_penalty == 0) o->repetition_penalty = 1;
  if (o->dry_base == 0) o->dry_base = 1.75f;
  if (o->dry_allowed == 0) o->dry_allowed = 2;
  if (o->mirostat_eta == 0) o->mirostat_eta = 0.1f;
  if (o->dynamic_exponent == 0) o->dynamic_exponent = 1;
}

/* Do the options ask for this stage? After fill_defaults. */
static bool is_active(const tsl_sampler_options *o, tsl_stage stage) {
  switch (stage) {
  case TSL_STAGE_BIAS: return o->bias_count > 0;
  case TSL_STAGE_PENALTIES:
    return o->repetition_penalty != 1 || o->frequency_penalty != 0 || o->presence_penalty != 0;
  case TSL_STAGE_DRY: return o->dry_multiplier > 0;
  case TSL_STAGE_TEMPERATURE: return o->temperature != 1 || o->dynamic_range > 0;
  case TSL_STAGE_TOP_N_SIGMA: return o->top_n_sigma > 0;
  case TSL_STAGE_TOP_K: return o->top_k > 0;
  case TSL_STAGE_TOP_P: return o->top_p > 0 && o->top_p < 1;
  case TSL_STAGE_MIN_P: return o->min_p > 0;
  case TSL_STAGE_TYPICAL_P: return o->typical_p > 0 && o->typical_p < 1;
  case TSL_STAGE_EPSILON: return o->epsilon > 0;
  case TSL_STAGE_ETA: return o->eta > 0;
  case TSL_STAGE_XTC: return o->xtc_probability > 0;
  case TSL_STAGE_MIROSTAT: return o->mirostat_tau > 0;
  }
  return false;
}

static bool listed(const tsl_sampler_options *o, tsl_stage stage) {
  for (uint32_t i = 0; i < o->stage_count; i++)
    if (o->stages[i] == stage) return true;
  return false;
}

/* The stages that do something, in their order. False if the options need one that is unlisted. */
static bool choose_stages(tsl_sampler *s, const tsl_sampler_options *o) {
  for (uint32_t i = 0; i < (o->stages ? o->stage_count : TSL__STAGES); i++) {
    tsl_stage stage = o->stages ? o->stages[i] : (tsl_stage)(i + 1);
    if (is_active(o, stage)) s->stages[s->stage_count++] = stage;
  }
  for (int i = 1; o->stages && i <= TSL__STAGES; i++) {
    /* zero: not set */
    bool plain = i == TSL_STAGE_TEMPERATURE && o->temperature == 0 && o->dynamic_range == 0;
    if (is_active(o, (tsl_stage)i) && !listed(o, (tsl_stage)i) && !plain) return false;
  }
  return true;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* A sorted copy, each token once, so that bans go through mask and list in one direction. */
static bool copy_set(const tsl_allocator *a, const tsl_token *from, uint32_t count,
                     tsl__words *to) {
  if (!count) return true;
  if (!tsl__vec_reserve(a, to, count)) return false;
  memcpy(to->at, from, count * sizeof *from);
  to->n = tsl__sort_unique(to->at, count);
  return true;
}

/* Copy the biases, sorted by token; TSL_ERR_ARGUMENT for a token that is there twice. */
static tsl_status copy_bias(tsl_sampler *s, const tsl_sampler_options *o) {
  if (!o->bias_count) return TSL_OK;
  tsl__words order = {0};
  bool ok = tsl__vec_reserve(&s->alloc, &order, o->bias_count) &&
            tsl__vec_reserve(&s->alloc, &s->bias, o->bias_count);
  for (uint32_t i = 0; ok && i < o->bias_count; i++) order.at[i] = o->bias[i].token;
  size_t n = ok ? tsl__sort_unique(order.at, o->bias_count) : 0;
  for (uint32_t i = 0; ok && n == o->bias_count && i < o->bias_count; i++) {
    size_t place = 0, high = n;
    while (place < high) {
      size_t middle = (place + high) / 2;
      if (order.at[middle] < o->bias[i].token)
        place = middle + 1;
      else
        high = middle;
    }
    s->bias.at[place] = o->bias[i];
  }
  s->bias.n = n;
  tsl__vec_free(&s->alloc, &order);
  return !ok ? TSL_ERR_NO_MEMORY : n == o->bias_count ? TSL_OK : TSL_ERR_ARGUMENT;
}

/* The copy of the options forgets the host's lists: what was copied is read from the sampler
 * alone. */
static tsl_status set_up(tsl_sampler *s, const tsl_sampler_options *options) {
  tsl_sampler_options *o = &s->options;
  *o = *options;
  fill_defaults(o);
  if (!choose_stages(s, o)) return TSL_ERR_ARGUMENT;
  o->stages = NULL;
  s->history.window = o->penalty_window;
  if (!copy_set(&s->alloc, o->allowed, o->allowed_count, &s->allowed) ||
      !copy_set(&s->alloc, o->banned, o->banned_count, &s->banned) ||
      !copy_set(&s->alloc, o->eog, o->eog_count, &s->eog) ||
      !copy_set(&s->alloc, o->dry_breakers, o->dry_breaker_count, &s->breakers))
    return TSL_ERR_NO_MEMORY;
  o->allowed = o->banned = o->eog = o->dry_breakers = NULL;
  tsl_status status = copy_bias(s, o);
  o->bias = NULL;
  return status;
}

tsl_status tsl_sampler_new(const tsl_sampler_options *options, const tsl_allocator *allocator,
                           tsl_sampler **out) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!options || !options_ok(options)) return TSL_ERR_ARGUMENT;
  const tsl_allocator *a = tsl__allocator_or_default(allocator);
  tsl_sampler *s = tsl__alloc_zero(a, sizeof *s);
  if (!s) return TSL_ERR_NO_MEMORY;
  s->alloc = *a;
  tsl__candidates_init(&s->candidates, a);
  tsl_status status = set_up(s, options);
  tsl_sampler_restart(s);
  if (status == TSL_OK)
    *out = s;
  else
    tsl_sampler_free(s);
  return status;
}

void tsl_sampler_free(tsl_sampler *sampler) {
  if (!sampler) return;
  tsl_allocator a = sampler->alloc;
  tsl__vec_free(&a, &sampler->allowed);
  tsl__vec_free(&a, &sampler->banned);
  tsl__vec_free(&a, &sampler->eog);
  tsl__vec_free(&a, &sampler->breakers);
  tsl__vec_free(&a, &sampler->bias);
  tsl__vec_free(&a, &sampler->surprises);
  tsl__vec_free(&a, &sampler->tokens);
  tsl__repeats_free(&sampler->repeats, &a);
  tsl__structure_free(&sampler->structure, &a);
  tsl__history_free(&sampler->history, &a);
  tsl__candidates_free(&sampler->candidates);
  tsl__free(&a, sampler, sizeof *sampler);
}

/* ---- the text so far ------------------------------------------------------------------------- */

/* The history and mirostat's bounds move together. False, and no change, when out of memory. */
static bool add(tsl_sampler *s, const tsl_token *tokens, size_t count) {
  if (s->options.mirostat_tau > 0 && !tsl__vec_reserve(&s->alloc, &s->surprises, count))
    return false;
  if (count == 1 ? !tsl__history_add(&s->history, &s->alloc, *tokens)
                 : !tsl__history_add_all(&s->history, &s->alloc, tokens, count))
    return false;
  for (size_t i = 0; i < count; i++) {
    if (s->options.mirostat_tau > 0) s->surprises.at[s->surprises.n++] = s->undrawn;
    s->undrawn = s->surprise;
  }
  return true;
}

/* Back by one token: what a draw learned goes with it. */
static void drop(tsl_sampler *s) {
  tsl__history_drop(&s->history);
  if (s->surprises.n) s->undrawn = s->surprise = s->surprises.at[--s->surprises.n];
}

tsl_status tsl_sampler_accept(tsl_sampler *sampler, tsl_token token) {
  if (!sampler) return TSL_ERR_ARGUMENT;
  return add(sampler, &token, 1) ? TSL_OK : TSL_ERR_NO_MEMORY;
}

tsl_status tsl_sampler_prompt(tsl_sampler *sampler, const tsl_token *tokens, size_t count) {
  if (!sampler || (count && !tokens)) return TSL_ERR_ARGUMENT;
  tsl__history *h = &sampler->history;
  if (h->tokens.n > h->prompt) return TSL_ERR_STATE;
  if (!add(sampler, tokens, count)) return TSL_ERR_NO_MEMORY;
  h->prompt = h->tokens.n;
  return TSL_OK;
}

void tsl_sampler_set_matcher(tsl_sampler *sampler, const tsl_matcher *matcher) {
  if (!sampler) return;
  sampler->matcher = matcher;
  if (!matcher) tsl__structure_free(&sampler->structure, &sampler->alloc);
}

tsl_status tsl_sampler_rollback(tsl_sampler *sampler, size_t count) {
  if (!sampler) return TSL_ERR_ARGUMENT;
  if (count > sampler->history.tokens.n - sampler->history.prompt) return TSL_ERR_STATE;
  for (; count; count--) drop(sampler);
  return TSL_OK;
}

void tsl_sampler_restart(tsl_sampler *sampler) {
  tsl__history_clear(&sampler->history);
  sampler->surprises.n = 0;
  sampler->undrawn = sampler->surprise = 2 * (double)sampler->options.mirostat_tau;
}

/* ---- forks ----------------------------------------------------------------------------------- */

/* A copy of no bytes, from no place, is allowed here, and by memcpy it is not. */
static bool copy_bytes(void *to, const void *from, size_t bytes) {
  if (bytes) memcpy(to, from, bytes);
  return true;
}

/* Into an empty vector; false when out of memory. */
#define COPY(a, from, to)                    \
  (tsl__vec_reserve((a), (to), (from)->n) && \
   copy_bytes((to)->at, (from)->at, ((to)->n = (from)->n) * sizeof *(from)->at))

/* Copy all that options and text have changed in a sampler, without scratch memory. */
static bool copy_state(const tsl_sampler *from, tsl_sampler *to) {
  const tsl_allocator *a = &to->alloc;
  to->surprise = from->surprise;
  to->undrawn = from->undrawn;
  return COPY(a, &from->allowed, &to->allowed) && COPY(a, &from->banned, &to->banned) &&
         COPY(a, &from->eog, &to->eog) && COPY(a, &from->breakers, &to->breakers) &&
         COPY(a, &from->bias, &to->bias) && COPY(a, &from->surprises, &to->surprises) &&
         tsl__history_copy(&from->history, a, &to->history);
}

tsl_status tsl_sampler_fork(const tsl_sampler *sampler, uint64_t seed, tsl_sampler **out) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!sampler) return TSL_ERR_ARGUMENT;
  tsl_sampler *s = tsl__alloc_zero(&sampler->alloc, sizeof *s);
  if (!s) return TSL_ERR_NO_MEMORY;
  s->alloc = sampler->alloc;
  s->options = sampler->options;
  s->options.seed = seed;
  memcpy(s->stages, sampler->stages, sizeof s->stages);
  s->stage_count = sampler->stage_count;
  tsl__candidates_init(&s->candidates, &s->alloc);
  if (copy_state(sampler, s))
    *out = s;
  else
    tsl_sampler_free(s);
  return *out ? TSL_OK : TSL_ERR_NO_MEMORY;
}

/* ---- bans ------------------------------------------------------------------------------------ */

static void clear(uint32_t *mask, tsl_token t) { mask[t >> 5] &= ~(1u << (t & 31)); }
static void set(uint32_t *mask, tsl_token t) { mask[t >> 5] |= 1u << (t & 31); }

/* Leave only the tokens of a sorted set. `there` has room for them. */
static void keep_only(uint32_t *mask, size_t width, const tsl__words *tokens, tsl__words *there) {
  there->n = 0;
  for (size_t i = 0; i < tokens->n && tokens->at[i] < width; i++)
    if (tsl_mask_has(mask, tokens->at[i])) there->at[there->n++] = tokens->at[i];
  memset(mask, 0, (width + 31) / 32 * sizeof *mask);
  for (size_t i = 0; i < there->n; i++) set(mask, there->at[i]);
}

/* A token that could be drawn: -inf says that it can't; what else is wrong with a logit is found
 * later. */
static bool can_be_drawn(const float *logits, size_t width, const uint32_t *mask, tsl_token t) {
  return t < width && tsl_mask_has(mask, t) && logits[t] != -INFINITY;
}

/* Mostly the first one that is looked at. */
static bool any_left(const float *logits, size_t width, const uint32_t *mask) {
  for (size_t w = 0; w < (width + 31) / 32; w++)
    for (uint32_t left = mask[w]; left; left &= left - 1)
      if (can_be_drawn(logits, width, mask, (tsl_token)(w * 32) + (tsl_token)__builtin_ctz(left)))
        return true;
  return false;
}

/* Ban tokens unless nothing would be left. */
static void ban_softly(const float *logits, size_t width, uint32_t *mask, tsl__words *tokens) {
  size_t banned = 0;
  for (size_t i = 0; i < tokens->n; i++) {
    tsl_token t = tokens->at[i];
    if (t >= width || !tsl_mask_has(mask, t)) continue;
    clear(mask, t);
    tokens->at[banned++] = t;
  }
  if (any_left(logits, width, mask)) return;
  for (size_t i = 0; i < banned; i++) set(mask, tokens->at[i]);
}

/* Is one of the tokens left? Mostly few are listed. */
static bool any_of(const float *logits, size_t width, const uint32_t *mask,
                   const tsl__words *tokens) {
  for (size_t i = 0; i < tokens->n; i++)
    if (can_be_drawn(logits, width, mask, tokens->at[i])) return true;
  return false;
}

/* Does the answer end in a loop? *next: the token that would go on with it. */
static bool begins_copy(const tsl_sampler *s, tsl_token *next) {
  const tsl_sampler_options *o = &s->options;
  const tsl__history *h = &s->history;
  size_t n = h->tokens.n - h->prompt;
  return o->loop_repeats && n &&
         tsl_find_loop(h->tokens.at + h->prompt, n, o->loop_repeats, o->loop_longest, next);
}

/* Does this step remove anything from the mask? If not, the host's own mask is read as it is. */
static bool bans_now(const tsl_sampler *s) {
  const tsl_sampler_options *o = &s->options;
  size_t n = s->history.tokens.n - s->history.prompt;
  return s->allowed.n || s->banned.n || o->no_repeat_ngram || n < o->min_tokens ||
         (o->max_tokens && n >= o->max_tokens) || begins_copy(s, NULL);
}

/* Is there structure to be spared? */
static bool spares(const tsl_sampler *s) { return s->matcher && !s->options.penalise_structure; }

/* The tokens of s->tokens that write content. */
static tsl_status leave_content(tsl_sampler *s, const uint32_t *mask, size_t width) {
  size_t n = 0;
  s->tokens.n = s->tokens.n ? tsl__sort_unique(s->tokens.at, s->tokens.n) : 0;
  tsl_status status =
      tsl__structure_find(&s->structure, &s->alloc, s->matcher, &s->tokens, mask, width);
  for (size_t i = 0; i < s->tokens.n; i++)
    if (!tsl__structure_spares(&s->structure, s->tokens.at[i])) s->tokens.at[n++] = s->tokens.at[i];
  s->tokens.n = n;
  return status;
}

/* No sequence of n tokens twice. */
static tsl_status ban_ngrams(tsl_sampler *s, const float *logits, uint32_t *mask, size_t width) {
  s->tokens.n = 0;
  if (!tsl__history_ngrams(&s->history, &s->alloc, s->options.no_repeat_ngram, &s->repeats.common,
                           &s->tokens))
    return TSL_ERR_NO_MEMORY;
  tsl_status status = spares(s) ? leave_content(s, mask, width) : TSL_OK;
  if (status == TSL_OK) ban_softly(logits, width, mask, &s->tokens);
  return status;
}

/* The mask of this step, bans included; *mask becomes the sampler's copy if there are any. Errors:
 * NO_MEMORY, those of tsl__structure_find. */
static tsl_status apply_bans(tsl_sampler *s, const float *logits, const uint32_t **mask,
                             size_t width) {
  const tsl_sampler_options *o = &s->options;
  size_t n = s->history.tokens.n - s->history.prompt;
  if (*mask && !bans_now(s)) return TSL_OK;
  uint32_t *own = tsl__candidates_own_mask(&s->candidates, *mask, width);
  s->tokens.n = 0;
  if (!own || !tsl__vec_reserve(&s->alloc, &s->tokens, s->allowed.n + s->eog.n + 1))
    return TSL_ERR_NO_MEMORY;
  *mask = own;
  if (s->allowed.n) keep_only(own, width, &s->allowed, &s->tokens);
  for (size_t i = 0; i < s->banned.n && s->banned.at[i] < width; i++) clear(own, s->banned.at[i]);
  if (o->max_tokens && n >= o->max_tokens && any_of(logits, width, own, &s->eog))
    keep_only(own, width, &s->eog, &s->tokens);
  if (o->no_repeat_ngram) {
    tsl_status status = ban_ngrams(s, logits, own, width);
    if (status != TSL_OK) return status;
  }
  if (begins_copy(s, s->tokens.at)) {
    s->tokens.n = 1;
    ban_softly(logits, width, own, &s->tokens);
  }
  if (n < o->min_tokens) {
    s->tokens.n = s->eog.n;
    if (s->eog.n) memcpy(s->tokens.at, s->eog.at, s->eog.n * sizeof *s->eog.at);
    ban_softly(logits, width, own, &s->tokens);
  }
  return TSL_OK;
}

/* ---- tokens whose logits change -------------------------------------------------------------- */

static bool has_stage(const tsl_sampler *s, tsl_stage stage) {
  for (uint32_t i = 0; i < s->stage_count; i++)
    if (s->stages[i] == stage) return true;
  return false;
}

/* All tokens that some stage changes go to s->tokens, sorted. */
static bool find_changed(tsl_sampler *s) {
  tsl__words *t = &s->tokens;
  t->n = 0;
  if (has_stage(s, TSL_STAGE_BIAS)) {
    if (!tsl__vec_reserve(&s->alloc, t, s->bias.n)) return false;
    for (size_t i = 0; i < s->bias.n; i++) t->at[t->n++] = s->bias.at[i].token;
  }
  if (has_stage(s, TSL_STAGE_PENALTIES)) {
    if (!tsl__vec_reserve(&s->alloc, t, s->history.seen.n)) return false;
    for (size_t i = 0; i < s->history.seen.n; i++) t->at[t->n++] = s->history.seen.at[i].token;
  }
  if (has_stage(s, TSL_STAGE_DRY)) {
    const tsl_sampler_options *o = &s->options;
    if (!tsl__history_repeats(&s->history, &s->alloc, o->dry_window, o->dry_allowed, s->breakers.at,
                              s->breakers.n, &s->repeats) ||
        !tsl__vec_reserve(&s->alloc, t, s->repeats.found.n))
      return false;
    for (size_t i = 0; i < s->repeats.found.n; i++) t->at[t->n++] = s->repeats.found.at[i].token;
  }
  t->n = t->n ? tsl__sort_unique(t->at, t->n) : 0;
  return true;
}

/* Which of s->tokens penalties spare, under the mask of this step. */
static tsl_status find_spared(tsl_sampler *s, const uint32_t *mask, size_t width) {
  s->structure.spared.n = 0;
  if (!spares(s) || !(has_stage(s, TSL_STAGE_PENALTIES) || has_stage(s, TSL_STAGE_DRY)))
    return TSL_OK;
  return tsl__structure_find(&s->structure, &s->alloc, s->matcher, &s->tokens, mask, width);
}

/* Move the tokens whose logits change from the dense part to the list. */
static bool move_changed(tsl_sampler *s) {
  tsl__candidates *c = &s->candidates;
  if (!c->dense || !s->tokens.n) return true;
  uint32_t *mask = tsl__candidates_own_mask(c, c->mask, c->width);
  if (!mask || !tsl__candidates_reserve(c, s->tokens.n)) return false;
  for (size_t i = 0; i < s->tokens.n && s->tokens.at[i] < c->width; i++) {
    tsl_token t = s->tokens.at[i];
    if (!tsl_mask_has(mask, t)) continue;
    clear(mask, t);
    c->id[c->n] = t;
    c->logit[c->n++] = c->logits[t];
  }
  c->mask = mask;
  return true;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* The scale at which the first sum over all candidates will be wanted, so that the survey can make
 * it. NaN if a cut-off comes first that wants none, or the entropy is wanted, which is another
 * sum. */
static float first_sum(const tsl_sampler *s, size_t width) {
  const tsl_sampler_options *o = &s->options;
  float scale = 1;
  for (uint32_t i = 0; i < s->stage_count; i++) {
    switch (s->stages[i]) {
    case TSL_STAGE_BIAS:
    case TSL_STAGE_PENALTIES:
    case TSL_STAGE_DRY: break;
    case TSL_STAGE_TEMPERATURE:
      if (o->temperature == 0 || o->dynamic_range > 0) return NAN;
      scale = tsl__cooler(scale, (double)o->temperature);
      break;
    case TSL_STAGE_TOP_K:
      if (o->top_k < width) return NAN;
      break;
    case TSL_STAGE_TOP_P:
    case TSL_STAGE_EPSILON:
    case TSL_STAGE_XTC:
    case TSL_STAGE_MIROSTAT: return scale;
    case TSL_STAGE_TOP_N_SIGMA:
    case TSL_STAGE_MIN_P:
    case TSL_STAGE_TYPICAL_P:
    case TSL_STAGE_ETA: return NAN;
    }
  }
  return scale;
}

/* Bans, candidates, survey. */
static tsl_status begin(tsl_sampler *s, const float *logits, size_t width, const uint32_t *mask,
                        uint32_t *allowed) {
  const uint32_t *left = mask;
  tsl_status status = apply_bans(s, logits, &left, width);
  if (status != TSL_OK) return status;
  if (!tsl__candidates_begin(&s->candidates, logits, left, width)) return TSL_ERR_NO_MEMORY;
  if (!mask)
    *allowed = (uint32_t)width;
  else
    *allowed = (uint32_t)(left == mask && !s->candidates.dense ? s->candidates.n
                                                               : tsl_mask_count(mask, width));
  if (!find_changed(s)) return TSL_ERR_NO_MEMORY;
  status = find_spared(s, left, width);
  if (status != TSL_OK) return status;
  if (!move_changed(s)) return TSL_ERR_NO_MEMORY;
  return tsl__candidates_survey(&s->candidates, first_sum(s, width));
}

/* In the order that the options gave. */
static tsl_status run_stages(tsl_sampler *s) {
  tsl_status status = TSL_OK;
  for (uint32_t i = 0; status == TSL_OK && i < s->stage_count; i++)
    status = tsl__sampler_stage(s, s->stages[i]);
  return status;
}

/* How many tokens are left. */
static uint32_t left_of(const tsl__candidates *c, uint32_t allowed) {
  uint32_t n = (uint32_t)c->n;
  if (c->dense) n += (uint32_t)(c->mask == c->own ? tsl_mask_count(c->mask, c->width) : allowed);
  return n;
}

static void draw(tsl_sampler *s, tsl_draw *d) {
  tsl__candidates *c = &s->candidates;
  double mass = tsl__candidates_mass(c), weight = 0;
  d->token = tsl__candidates_pick(c, tsl__rng_uniform(s->options.seed, s->draws) * mass, &weight);
  d->probability = weight / mass;
  d->kept = left_of(c, d->allowed);
}

/* The error of the surprise moves its bound (Basu et al. 2021, algorithm 2). */
static void learn(tsl_sampler *s, double probability) {
  const tsl_sampler_options *o = &s->options;
  if (o->mirostat_tau > 0)
    s->surprise -=
        (double)o->mirostat_eta * (-tsl__log(probability) / TSL__LN2 - (double)o->mirostat_tau);
}

tsl_status tsl_sampler_draw(tsl_sampler *sampler, const float *logits, size_t width,
                            const uint32_t *mask, tsl_draw *out) {
  if (!sampler || !logits || !out || !width || width > TSL_MAX_VOCAB) return TSL_ERR_ARGUMENT;
  tsl_draw d = {.legal_mass = NAN};
  tsl_status status = begin(sampler, logits, width, mask, &d.allowed);
  if (status == TSL_OK) status = run_stages(sampler);
  if (status != TSL_OK) return status;
  draw(sampler, &d);
  learn(sampler, d.probability);
  if (sampler->options.legal_mass) d.legal_mass = tsl__legal_mass(logits, width, mask);
  sampler->draws++;
  *out = d;
  return TSL_OK;
}

/* ---- the whole distribution ------------------------------------------------------------------ */

/* The weight of a candidate against the anchor, in (0, 1]. */
static double weight_of(const tsl__candidates *c, float logit) {
  return tsl__exp((double)c->scale * ((double)logit - (double)c->anchor));
}

static void spread_out(const tsl__candidates *c, double *out) {
  double sum = 0;
  for (size_t t = 0; t < c->width; t++)
    if ((out[t] = c->dense && tsl_mask_has(c->mask, (tsl_token)t) ? weight_of(c, c->logits[t]) : 0))
      sum += out[t];
  for (size_t i = 0; i < c->n; i++) sum += out[c->id[i]] = weight_of(c, c->logit[i]);
  for (size_t t = 0; t < c->width; t++) out[t] /= sum;
}

tsl_status tsl_sampler_distribution(tsl_sampler *sampler, const float *logits, size_t width,
                                    const uint32_t *mask, double *probabilities,
                                    tsl_stage_left *left, size_t *count) {
  uint32_t allowed;
  size_t room = left && count ? *count : 0, n = 0;
  if (!sampler || !logits || !probabilities || !width || width > TSL_MAX_VOCAB)
    return TSL_ERR_ARGUMENT;
  tsl_status status = begin(sampler, logits, width, mask, &allowed);
  for (uint32_t i = 0; status == TSL_OK && i < sampler->stage_count; i++) {
    status = tsl__sampler_stage(sampler, sampler->stages[i]);
    if (n < room)
      left[n++] = (tsl_stage_left){sampler->stages[i], left_of(&sampler->candidates, allowed)};
  }
  if (status != TSL_OK) return status;
  spread_out(&sampler->candidates, probabilities);
  if (count) *count = n;
  return TSL_OK;
}

/* ---- what took each token -------------------------------------------------------------------- */

#define LISTED 128u /* a token of the list, while the others are noted */

/* Tokens that are left no more, and were before: `what` took them. */
static void note_cuts(const tsl__candidates *c, uint8_t what, uint8_t *cuts) {
  for (size_t i = 0; i < c->n; i++) cuts[c->id[i]] |= LISTED;
  for (size_t t = 0; t < c->width; t++) {
    bool left = (cuts[t] & LISTED) || (c->dense && tsl_mask_has(c->mask, (tsl_token)t));
    if (!left && !cuts[t]) cuts[t] = what;
    cuts[t] &= (uint8_t)~LISTED;
  }
}

tsl_status tsl_sampler_cuts(tsl_sampler *sampler, const float *logits, size_t width,
                            const uint32_t *mask, uint8_t *cuts) {
  uint32_t allowed;
  if (!sampler || !logits || !cuts || !width || width > TSL_MAX_VOCAB) return TSL_ERR_ARGUMENT;
  tsl_status status = begin(sampler, logits, width, mask, &allowed);
  if (status != TSL_OK) return status;
  for (size_t t = 0; t < width; t++)
    cuts[t] = mask && !tsl_mask_has(mask, (tsl_token)t) ? TSL_CUT_MASK
              : logits[t] == -INFINITY                  ? TSL_CUT_BAN
                                                        : 0;
  note_cuts(&sampler->candidates, TSL_CUT_BAN, cuts);
  for (uint32_t i = 0; status == TSL_OK && i < sampler->stage_count; i++) {
    status = tsl__sampler_stage(sampler, sampler->stages[i]);
    note_cuts(&sampler->candidates, (uint8_t)sampler->stages[i], cuts);
  }
  return status;
}
