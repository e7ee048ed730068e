/* turnstile-llama.c - see turnstile-llama.h.
 *
 * Tested by tests/hosts/llama.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "turnstile-llama.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the vocabulary -------------------------------------------------------------------------- */

typedef struct tables {
  uint8_t *bytes, *special;
  uint32_t *offsets;
  tsl_token *eog;
  size_t used, room; /* bytes */
  uint32_t eog_count;
} tables;

static tsl_status fail(tsl_error *error, tsl_status status, const char *message) {
  if (!error) return status;
  memset(error, 0, sizeof *error);
  error->status = status;
  strncpy(error->message, message, sizeof error->message - 1);
  return status;
}

/* Append what a token spells, control tokens by their name; false when out of memory. Unused tokens
 * spell nothing. */
static bool add_token(tables *t, const struct llama_vocab *vocab, llama_token id) {
  int32_t n;
  while ((n = llama_token_to_piece(vocab, id, (char *)t->bytes + t->used,
                                   (int32_t)(t->room - t->used), 0, true)) < 0) {
    size_t room = 2 * t->room + (size_t)-n;
    uint8_t *more = room > INT32_MAX / 2 ? NULL : realloc(t->bytes, room);
    if (!more) return false;
    t->bytes = more;
    t->room = room;
  }
  enum llama_token_attr attr = llama_vocab_get_attr(vocab, id);
  if (attr & LLAMA_TOKEN_ATTR_UNUSED) n = 0;
  t->special[id] = (attr & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0;
  if (llama_vocab_is_eog(vocab, id)) t->eog[t->eog_count++] = (tsl_token)id;
  t->used += (size_t)n;
  t->offsets[id + 1] = (uint32_t)t->used;
  return true;
}

tsl_status tsl_llama_vocab(const struct llama_vocab *vocab, const tsl_allocator *allocator,
                           tsl_vocab **out, tsl_error *error) {
  int32_t n = vocab ? llama_vocab_n_tokens(vocab) : 0;
  if (!out || n <= 0)
    return fail(error, TSL_ERR_ARGUMENT, "there is no vocabulary, or it is empty");
  size_t size = (size_t)n;
  tables t = {malloc(8 * size),
              calloc(size, 1),
              calloc(size + 1, sizeof(uint32_t)),
              malloc(size * sizeof(tsl_token)),
              0,
              8 * size,
              0};
  bool ok = t.bytes && t.special && t.offsets && t.eog;
  for (llama_token id = 0; ok && id < n; id++) ok = add_token(&t, vocab, id);
  tsl_vocab_desc desc = {t.bytes, t.offsets, (uint32_t)n, 0, t.special, t.eog, t.eog_count};
  *out = NULL;
  tsl_status status = ok ? tsl_vocab_new(&desc, allocator, out, error)
                         : fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  free(t.bytes);
  free(t.special);
  free(t.offsets);
  free(t.eog);
  return status;
}

/* ---- the sampler ----------------------------------------------------------------------------- */

typedef struct state {
  tsl_matcher *matcher;
  const tsl_vocab *vocab; /* the grammar's */
  tsl_status status;
} state;

static struct llama_sampler *wrap(tsl_matcher *matcher, tsl_status status);

static const char *op_name(const struct llama_sampler *sampler) {
  (void)sampler;
  return "turnstile";
}

static void op_accept(struct llama_sampler *sampler, llama_token token) {
  state *s = sampler->ctx;
  if (!s->status && !tsl_matcher_is_terminated(s->matcher))
    s->status = tsl_matcher_accept(s->matcher, (tsl_token)token);
}

/* Samplers that come later take sorted candidates to have the greatest logit first. */
static void refuse(llama_token_data_array *candidates, size_t i) {
  candidates->data[i].logit = -INFINITY;
  candidates->sorted = false;
}

/* Nothing but the end is left. */
static void end(const state *s, llama_token_data_array *candidates) {
  for (size_t i = 0; i < candidates->size; i++)
    if (!tsl_vocab_is_eog(s->vocab, (tsl_token)candidates->data[i].id)) refuse(candidates, i);
}

static void op_apply(struct llama_sampler *sampler, llama_token_data_array *candidates) {
  state *s = sampler->ctx;
  const uint32_t *mask = NULL;
  uint32_t width = tsl_vocab_logits_width(s->vocab);
  if (!s->status && !tsl_matcher_is_terminated(s->matcher))
    s->status = tsl_matcher_mask_borrow(s->matcher, &mask, NULL);
  if (s->status || !mask) {
    end(s, candidates);
    return;
  }
  for (size_t i = 0; i < candidates->size; i++) {
    tsl_token id = (tsl_token)candidates->data[i].id;
    if (id >= width || !tsl_mask_has(mask, id)) refuse(candidates, i);
  }
}

static void op_reset(struct llama_sampler *sampler) {
  state *s = sampler->ctx;
  tsl_matcher_reset(s->matcher);
  s->status = TSL_OK;
}

/* Without memory for a copy there is NULL, as from llama.cpp's own samplers there would be an
 * exception. */
static struct llama_sampler *op_clone(const struct llama_sampler *sampler) {
  const state *s = sampler->ctx;
  tsl_matcher *copy;
  return tsl_matcher_fork(s->matcher, &copy) ? NULL : wrap(copy, s->status);
}

static void op_copy_state(const struct llama_sampler *from, struct llama_sampler *to) {
  const state *s = from->ctx;
  state *d = to->ctx;
  tsl_matcher *copy;
  tsl_status status = tsl_matcher_fork(s->matcher, &copy);
  d->status = status ? status : s->status;
  if (status) return;
  tsl_matcher_free(d->matcher);
  d->matcher = copy;
  /* of the grammar that the copy holds; the other may be gone with its last matcher */
  d->vocab = s->vocab;
}

static void op_free(struct llama_sampler *sampler) {
  state *s = sampler->ctx;
  tsl_matcher_free(s->matcher);
  free(s);
}

static struct llama_sampler_i interface = {
    .name = op_name,
    .accept = op_accept,
    .apply = op_apply,
    .reset = op_reset,
    .clone = op_clone,
    .free = op_free,
    .copy_state = op_copy_state,
};

/* Takes the matcher over; NULL, and it is freed, when out of memory. */
static struct llama_sampler *wrap(tsl_matcher *matcher, tsl_status status) {
  state *s = malloc(sizeof *s);
  if (!s) {
    tsl_matcher_free(matcher);
    return NULL;
  }
  *s = (state){matcher, tsl_grammar_vocab(tsl_matcher_grammar(matcher)), status};
  return llama_sampler_init(&interface, s);
}

struct llama_sampler *tsl_llama_sampler(tsl_grammar *grammar) {
  tsl_matcher *matcher;
  return grammar && !tsl_matcher_new(grammar, NULL, &matcher) ? wrap(matcher, TSL_OK) : NULL;
}

tsl_status tsl_llama_status(const struct llama_sampler *sampler) {
  return ((const state *)sampler->ctx)->status;
}

tsl_matcher *tsl_llama_matcher(const struct llama_sampler *sampler) {
  return ((const state *)sampler->ctx)->matcher;
}
