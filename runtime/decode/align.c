/* align.c - drawing from the model's own distribution given the grammar, by sampling again and
 * again.
 *
 * Problem   Let the model give `a` probability 0.9 and `b` 0.1. After `a` it hardly ever writes
 *           what the grammar allows; after `b` it always does. Under masks nine in ten texts begin
 *           with `a`. But of the model's texts that satisfy the grammar, nearly all begin with `b`.
 * Idea      c(prefix) is the probability that the model, going on from the prefix, satisfies the
 *           grammar. To draw token t with weight
 *
 *             p(t) c(prefix t)     (normalised over the allowed t)
 *
 *           is to draw from the conditional distribution. c is not known. But
 *
 *             Σ p(t) c(prefix t)   over the allowed t, with c = 1 where nothing is known,
 *
 *           is an upper bound of c(prefix). Each sample lowers the bounds of its own prefixes.
 * Stored    A tree of the prefixes drawn so far. Each has the p of its last token, and its c. No
 *           row of logits is kept: when a sample passes a prefix, the model's row is at hand. On
 *           the way back up, a parent's sum changes by p (c_new - c_old).
 * Example   As above: the first sample through `a` finds c(a) = 0.001. From then on `a` weighs 0.9
 *           × 0.001 = 0.0009, and `b` 0.1 × 1.
 * Cost      A sample is one text under masks; then one step up the tree for each of its tokens.
 * Ref       Park, Wang, Berg-Kirkpatrick, Polikarpova, D'Antoni 2024 "Grammar-Aligned Decoding".
 * Tested by tests/decode/test_align.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/generation.h"
#include "runtime/decode/model.h"
#include "runtime/core/rng.h"

typedef struct prefix_node {
  double p; /* of the last token, after the rest */
  double c; /* how much of what follows is in the grammar, at most */
  tsl_token token;
  uint32_t first, next; /* child, sibling; 0: none (the root is nobody's child) */
} prefix_node;

struct tsl_align {
  tsl_allocator alloc;
  tsl_grammar *grammar;
  tsl_budget *budget;
  tsl_model model;
  void *ctx;
  tsl_align_options options;
  uint64_t draws;
  TSL__VEC(prefix_node) nodes;
  uint32_t *path; /* of the sample in progress: its nodes */
  float *logits;
  double *weights; /* of the tokens, at the prefix at hand */
  uint32_t *mask;
};

void tsl_align_free(tsl_align *a) {
  if (!a) return;
  tsl_allocator alloc = a->alloc;
  const tsl_vocab *v = a->grammar->vocab;
  tsl__free(&alloc, a->path, ((size_t)a->options.max_tokens + 2) * sizeof *a->path);
  tsl__free(&alloc, a->logits, v->logits_width * sizeof *a->logits);
  tsl__free(&alloc, a->weights, v->logits_width * sizeof *a->weights);
  tsl__free(&alloc, a->mask, tsl_vocab_mask_words(v) * sizeof *a->mask);
  tsl__vec_free(&alloc, &a->nodes);
  tsl_budget_free(a->budget);
  tsl_grammar_release(a->grammar);
  tsl__free(&alloc, a, sizeof *a);
}

/* The buffers, and the root. */
static tsl_status prepare(tsl_align *a) {
  const tsl_vocab *v = a->grammar->vocab;
  prefix_node root = {1, 1, TSL_NO_TOKEN, 0, 0};
  a->path = tsl__alloc(&a->alloc, ((size_t)a->options.max_tokens + 2) * sizeof *a->path);
  a->logits = tsl__alloc(&a->alloc, v->logits_width * sizeof *a->logits);
  a->weights = tsl__alloc(&a->alloc, v->logits_width * sizeof *a->weights);
  a->mask = tsl__alloc(&a->alloc, tsl_vocab_mask_words(v) * sizeof *a->mask);
  if (!a->path || !a->logits || !a->weights || !a->mask ||
      !tsl__vec_push(&a->alloc, &a->nodes, root))
    return TSL_ERR_NO_MEMORY;
  return tsl_budget_new(a->grammar, &a->alloc, &a->budget);
}

tsl_status tsl_align_new(tsl_grammar *grammar, tsl_model model, void *ctx,
                         const tsl_align_options *options, const tsl_allocator *allocator,
                         tsl_align **out, tsl_error *error) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!grammar || !model || !options || options->max_tokens == 0)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a grammar, a model and max_tokens are needed");
  if (grammar->quota_count)
    return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                     "the grammar counts tokens of a part of the text (max_tokens)");
  if (!allocator) allocator = &grammar->alloc;
  tsl_align *a = tsl__alloc_zero(allocator, sizeof *a);
  if (!a) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  a->alloc = *allocator;
  tsl__timed call = tsl__timed_begin(grammar->space->work.deadline_us);
  a->grammar = grammar = tsl__grammar_now(grammar);
  a->model = model;
  a->ctx = ctx;
  a->options = *options;
  tsl_status status = prepare(a);
  if (status != TSL_OK) tsl__fail(error, status, "out of memory");
  tsl_matcher m = tsl__matcher_at(grammar, grammar->begin, NULL);
  if (status == TSL_OK) status = tsl_budget_start(a->budget, &m, options->max_tokens, error);
  tsl__timed_end(call);
  if (status == TSL_OK)
    *out = a;
  else
    tsl_align_free(a);
  return status;
}

double tsl_align_mass(const tsl_align *a) { return a->nodes.at[0].c; }

static uint32_t child_of(const tsl_align *a, uint32_t node, tsl_token token) {
  uint32_t c = a->nodes.at[node].first;
  while (c && a->nodes.at[c].token != token) c = a->nodes.at[c].next;
  return c;
}

static bool all_impossible(const float *logits, size_t width) {
  for (size_t i = 0; i < width; i++)
    if (logits[i] != -INFINITY) return false;
  return true;
}

/* The weights of the tokens after a prefix, and their sum. `node` may be unknown (NO_NODE): then
 * nothing is known below it. *total is DEAD_END where nothing that is allowed has a probability. It
 * is so, too, where nothing is allowed though the text is not complete (a fault of budgets that
 * turnstile.h names). */
#define DEAD_END (-1.0)
#define NO_NODE UINT32_MAX
static tsl_status weigh(tsl_align *a, const tsl_matcher *m, const tsl_token *tokens, size_t count,
                        uint32_t node, double *total) {
  const tsl_vocab *v = a->grammar->vocab;
  tsl_prefix prefix = {tokens, count};
  double log_sum;
  tsl_status status = tsl_budget_mask(a->budget, m, a->options.max_tokens - count, a->mask);
  *total = 0;
  if (status != TSL_OK) return status;
  if (tsl_mask_count(a->mask, v->logits_width) == 0)
    return *total = tsl_matcher_is_complete(m) ? 0 : DEAD_END, TSL_OK;
  status = a->model(a->ctx, &prefix, 1, a->logits);
  if (status == TSL_OK && all_impossible(a->logits, v->logits_width))
    return *total = DEAD_END, TSL_OK;
  if (status == TSL_OK) status = tsl__log_sum(a->logits, v->logits_width, &log_sum);
  if (status != TSL_OK) return status;
  for (tsl_token t = 0; t < v->logits_width; t++)
    a->weights[t] = tsl_mask_has(a->mask, t) ? exp((double)a->logits[t] - log_sum) : 0;
  for (uint32_t c = node == NO_NODE ? 0 : a->nodes.at[node].first; c; c = a->nodes.at[c].next) {
    double *w = &a->weights[a->nodes.at[c].token];
    *w = *w > 0 ? a->nodes.at[c].p * a->nodes.at[c].c : 0;
  }
  for (tsl_token t = 0; t < v->logits_width; t++) *total += a->weights[t];
  if (!(*total > 0)) *total = DEAD_END;
  return TSL_OK;
}

static tsl_token draw(const tsl_align *a, double total, uint64_t number) {
  double target = tsl__rng_uniform(a->options.seed, number) * total, sum = 0;
  tsl_token last = 0;
  for (tsl_token t = 0; t < a->grammar->vocab->logits_width; t++) {
    if (!(a->weights[t] > 0)) continue;
    last = t;
    sum += a->weights[t];
    if (sum > target) break;
  }
  return last;
}

/* The child by a token, made if need be. Nodes made by a sample that fails are harmless: what they
 * say is true. */
static tsl_status enter(tsl_align *a, uint32_t *node, tsl_token token) {
  uint32_t c = child_of(a, *node, token);
  if (!c) {
    prefix_node fresh = {a->weights[token], 1, token, 0, a->nodes.at[*node].first};
    if (a->nodes.n >= UINT32_MAX - 1) return TSL_ERR_LIMIT;
    if (!tsl__vec_push(&a->alloc, &a->nodes, fresh)) return TSL_ERR_NO_MEMORY;
    c = (uint32_t)a->nodes.n - 1;
    a->nodes.at[*node].first = c;
  }
  *node = c;
  return TSL_OK;
}

/* Update the sums from the end of a sample up to the root: each changes by the change below it.
 * totals[i] is the old sum at node path[i]. */
static void learn(tsl_align *a, size_t length, const double *totals) {
  double before = 1, after = 1;
  for (size_t i = length; i-- > 0;) {
    prefix_node *n = &a->nodes.at[a->path[i]];
    double sum = totals[i];
    if (i + 1 < length) sum += a->nodes.at[a->path[i + 1]].p * (after - before);
    before = n->c;
    after = n->c = sum > 0 ? sum : 0; /* where all below is dead, rounding leaves something */
  }
}

#define DEAD_ENDS_MAX 1000u /* of one sample */

/* One text. *dead: it came to a prefix after which nothing that is allowed has a probability, which
 * is known from now on. `totals` has room for a text. */
static tsl_status attempt(tsl_align *a, tsl_token *tokens, double *totals, uint64_t *draws,
                          size_t *count, double *log_p, bool *dead) {
  a->grammar = tsl__grammar_renew(a->grammar); /* a text is the unit of a move */
  tsl_matcher m = tsl__matcher_at(a->grammar, a->grammar->begin, NULL);
  tsl__stack at, before;
  uint32_t node = 0;
  size_t n = 0;
  double total;
  tsl_status status;
  *log_p = 0;
  while ((status = weigh(a, &m, tokens, n, node, &total)) == TSL_OK && total > 0) {
    tsl_token token = draw(a, total, (*draws)++);
    a->path[n] = node;
    totals[n] = total;
    status = enter(a, &node, token);
    if (status != TSL_OK) break;
    *log_p += log(a->nodes.at[node].p);
    tokens[n++] = token;
    if (tsl_vocab_is_eog(a->grammar->vocab, token)) break;
    status = tsl__grammar_lead(a->grammar, m.at, token, &at);
    if (status != TSL_OK) break;
    before = m.at;
    m = tsl__matcher_at(a->grammar, at, &before);
  }
  *count = n;
  *dead = status == TSL_OK && total == DEAD_END;
  if (*dead) {
    a->path[n] = node;
    totals[n++] = 0;
  }
  if (status == TSL_OK) learn(a, n, totals);
  return status;
}

tsl_status tsl_align_sample(tsl_align *a, tsl_token *tokens, size_t *count,
                            double *log_probability) {
  if (!a || !tokens || !count) return TSL_ERR_ARGUMENT;
  size_t room = (size_t)a->options.max_tokens + 2, n = 0;
  double *totals = tsl__alloc(&a->alloc, room * sizeof *totals), log_p = 0;
  if (!totals) return TSL_ERR_NO_MEMORY;
  uint64_t draws = a->draws;
  tsl_status status = TSL_OK;
  bool dead = true;
  for (uint32_t i = 0; status == TSL_OK && dead && i < DEAD_ENDS_MAX; i++) {
    status = attempt(a, tokens, totals, &draws, &n, &log_p, &dead);
    if (n == 0) break; /* at the root: no text has any */
  }
  if (status == TSL_OK && dead) status = TSL_ERR_LOGITS;
  if (status == TSL_OK) {
    a->draws = draws;
    *count = n;
    if (log_probability) *log_probability = log_p;
  }
  tsl__free(&a->alloc, totals, room * sizeof *totals);
  return status;
}

tsl_status tsl_align_probability(tsl_align *a, const tsl_token *tokens, size_t count,
                                 double *probability) {
  if (!a || !probability || (count && !tokens) || count > (size_t)a->options.max_tokens + 1)
    return TSL_ERR_ARGUMENT;
  a->grammar = tsl__grammar_renew(a->grammar);
  tsl_matcher m = tsl__matcher_at(a->grammar, a->grammar->begin, NULL);
  tsl__stack at, before;
  uint32_t node = 0;
  double p = 1, total;
  *probability = 0;
  for (size_t i = 0; i < count; i++) {
    tsl_status status = weigh(a, &m, tokens, i, node, &total);
    if (status != TSL_OK || total == DEAD_END) return status != TSL_OK ? status : TSL_ERR_LOGITS;
    if (total == 0 || tokens[i] >= a->grammar->vocab->logits_width) return TSL_OK;
    p *= a->weights[tokens[i]] / total;
    if (p == 0) return TSL_OK;
    uint32_t child = node == NO_NODE ? 0 : child_of(a, node, tokens[i]);
    node = child ? child : NO_NODE;
    if (tsl_vocab_is_eog(a->grammar->vocab, tokens[i]))
      return i + 1 == count ? (*probability = p, TSL_OK) : TSL_OK;
    status = tsl__grammar_lead(a->grammar, m.at, tokens[i], &at);
    if (status != TSL_OK) return status;
    before = m.at;
    m = tsl__matcher_at(a->grammar, at, &before);
  }
  /* Without an end-of-generation token a text ends where nothing more is allowed. */
  tsl_status status = tsl_budget_mask(a->budget, &m, a->options.max_tokens - count, a->mask);
  if (status == TSL_OK && tsl_mask_count(a->mask, a->grammar->vocab->logits_width) == 0)
    *probability = p;
  return status;
}
