/* beam.c - the most probable texts of a grammar, by keeping the best prefixes of each length.
 *
 * Idea      A beam is a position (a number), its last token's place in a tree of tokens, and its
 *           log-probability. To extend a beam by a token copies four words. Each step asks the
 *           model for all open beams at once, and takes the best `width` of all their allowed
 *           tokens. It sets texts that end aside: the best `n_best` of them, each text once.
 * Ends      An open beam's log-probability only falls, so its text's rank is at most log_p /
 *           (max_tokens + 1)^alpha. The search ends when the list is full and no open beam can
 *           reach the worst text in it.
 * Ties      go to the beam that was better before, then to the lower token.
 * Cost      A step sorts out width × vocabulary candidates through a heap of `width`.
 * Tested by tests/decode/test_align.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/generation.h"
#include "runtime/decode/model.h"

#define NO_LINK UINT32_MAX

/* One token of a prefix. */
typedef struct token_link {
  uint32_t before; /* NO_LINK: it is the first */
  tsl_token token;
} token_link;

typedef struct beam {
  tsl__stack at, before; /* before its last token */
  uint32_t last;         /* token_link, NO_LINK: no token yet */
  double log_p;
} beam;

typedef struct candidate {
  double log_p;
  uint32_t beam;
  tsl_token token;
} candidate;

typedef struct finished {
  double score, log_p;
  tsl_token *tokens;
  char *text;
  size_t count, length;
} finished;

struct tsl_beams {
  tsl_allocator alloc;
  TSL__VEC(finished) list; /* the best first */
};

typedef struct search {
  tsl_beams *out;
  tsl_grammar *grammar;
  const tsl_vocab *vocab;
  tsl_budget *budget;
  tsl_model model;
  void *ctx;
  tsl_beam_options o;
  TSL__VEC(token_link) links;
  TSL__VEC(tsl_token) flat; /* the tokens of all open beams */
  beam *open, *next;        /* `width` each */
  candidate *heap;          /* `width`: the worst on top */
  tsl_prefix *requested;
  float *rows;
  uint32_t *mask;
  uint32_t open_n, heap_n;
} search;

/* ---- candidates ------------------------------------------------------------------------------ */

static bool better(candidate a, candidate b) {
  if (a.log_p != b.log_p) return a.log_p > b.log_p;
  return a.beam != b.beam ? a.beam < b.beam : a.token < b.token;
}

static void sift(candidate *heap, uint32_t n) {
  candidate c = heap[0];
  uint32_t i = 0;
  for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
    if (k + 1 < n && better(heap[k], heap[k + 1])) k++;
    if (!better(c, heap[k])) break;
    heap[i] = heap[k];
  }
  heap[i] = c;
}

static void offer(search *s, candidate c) {
  if (s->heap_n == s->o.width) {
    if (!better(c, s->heap[0])) return;
    s->heap[0] = c;
    sift(s->heap, s->heap_n);
    return;
  }
  uint32_t i = s->heap_n++;
  for (; i && better(s->heap[(i - 1) / 2], c); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
  s->heap[i] = c;
}

/* The best first. */
static void sort_candidates(search *s) {
  for (uint32_t n = s->heap_n; n > 1;) {
    candidate worst = s->heap[0];
    s->heap[0] = s->heap[--n];
    sift(s->heap, n);
    s->heap[n] = worst;
  }
}

/* ---- finished texts -------------------------------------------------------------------------- */

static void finished_free(const tsl_allocator *a, finished *f) {
  tsl__free(a, f->tokens, (f->count + 1) * sizeof *f->tokens);
  tsl__free(a, f->text, f->length + 1);
}

void tsl_beams_free(tsl_beams *b) {
  if (!b) return;
  tsl_allocator a = b->alloc;
  for (size_t i = 0; i < b->list.n; i++) finished_free(&a, &b->list.at[i]);
  tsl__vec_free(&a, &b->list);
  tsl__free(&a, b, sizeof *b);
}

static double rank(const search *s, double log_p, size_t tokens) {
  return s->o.length_penalty > 0
             ? log_p / pow(tokens ? (double)tokens : 1, (double)s->o.length_penalty)
             : log_p;
}

/* Tokens and bytes of a text that ends with `token` (TSL_NO_TOKEN: with none). */
static bool spell(search *s, uint32_t last, tsl_token token, finished *f) {
  const tsl_vocab *v = s->vocab;
  f->count = token != TSL_NO_TOKEN;
  for (uint32_t l = last; l != NO_LINK; l = s->links.at[l].before) {
    tsl_token t = s->links.at[l].token;
    f->count++;
    if (!v->special[t]) f->length += v->offsets[t + 1] - v->offsets[t];
  }
  f->tokens = tsl__alloc(&s->out->alloc, (f->count + 1) * sizeof *f->tokens);
  f->text = tsl__alloc(&s->out->alloc, f->length + 1);
  if (!f->tokens || !f->text) return false;
  size_t at = f->count, end = f->length;
  f->text[end] = 0;
  if (token != TSL_NO_TOKEN) f->tokens[--at] = token;
  for (uint32_t l = last; l != NO_LINK; l = s->links.at[l].before) {
    tsl_token t = s->links.at[l].token;
    uint32_t n = v->special[t] ? 0 : v->offsets[t + 1] - v->offsets[t];
    f->tokens[--at] = t;
    end -= n;
    memcpy(f->text + end, v->bytes + v->offsets[t], n);
  }
  return true;
}

static bool same_text(const finished *a, const finished *b) {
  return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static void drop(tsl_beams *b, size_t i) {
  finished_free(&b->alloc, &b->list.at[i]);
  memmove(&b->list.at[i], &b->list.at[i + 1], (b->list.n - i - 1) * sizeof *b->list.at);
  b->list.n--;
}

static size_t wanted(const search *s) { return s->o.n_best ? s->o.n_best : s->o.width; }

/* A text has ended: it joins the list if it is good enough, and its like is not there already. */
static tsl_status finish(search *s, uint32_t last, tsl_token token, double log_p) {
  tsl_beams *b = s->out;
  finished f = {.log_p = log_p};
  if (!spell(s, last, token, &f)) return finished_free(&b->alloc, &f), TSL_ERR_NO_MEMORY;
  f.score = rank(s, log_p, f.count);
  size_t same = 0, at = 0;
  while (same < b->list.n && !same_text(&b->list.at[same], &f)) same++;
  bool keep = same == b->list.n || f.score > b->list.at[same].score;
  if (keep && same < b->list.n) drop(b, same);
  while (at < b->list.n && b->list.at[at].score >= f.score) at++;
  keep = keep && at < wanted(s);
  if (!keep || !tsl__vec_reserve(&b->alloc, &b->list, 1))
    return finished_free(&b->alloc, &f), keep ? TSL_ERR_NO_MEMORY : TSL_OK;
  memmove(&b->list.at[at + 1], &b->list.at[at], (b->list.n - at) * sizeof *b->list.at);
  b->list.at[at] = f;
  if (++b->list.n > wanted(s)) drop(b, b->list.n - 1);
  return TSL_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool worth_going_on(const search *s) {
  if (s->open_n == 0) return false;
  if (s->out->list.n < wanted(s)) return true;
  return rank(s, s->open[0].log_p, (size_t)s->o.max_tokens + 1) >
         s->out->list.at[s->out->list.n - 1].score;
}

static tsl_status ask(search *s, uint32_t depth) {
  s->flat.n = 0;
  if (!tsl__vec_reserve(&s->out->alloc, &s->flat, (size_t)depth * s->open_n + 1))
    return TSL_ERR_NO_MEMORY;
  for (uint32_t i = 0; i < s->open_n; i++) {
    s->requested[i] = (tsl_prefix){s->flat.at + s->flat.n, depth};
    s->flat.n += depth;
    size_t at = s->flat.n;
    for (uint32_t l = s->open[i].last; l != NO_LINK; l = s->links.at[l].before)
      s->flat.at[--at] = s->links.at[l].token;
  }
  return s->model(s->ctx, s->requested, s->open_n, s->rows);
}

/* The allowed tokens after a beam: ends are finished, others offered. */
static tsl_status extend(search *s, uint32_t i, uint32_t depth) {
  const float *row = s->rows + (size_t)i * s->vocab->logits_width;
  beam *b = &s->open[i];
  double log_sum;
  tsl_matcher m = tsl__matcher_at(s->grammar, b->at, depth ? &b->before : NULL);
  tsl_status status = tsl__log_sum(row, s->vocab->logits_width, &log_sum);
  if (status == TSL_OK) status = tsl_budget_mask(s->budget, &m, s->o.max_tokens - depth, s->mask);
  /* not complete: a fault of budgets that turnstile.h names */
  if (status == TSL_OK && tsl_mask_count(s->mask, s->vocab->logits_width) == 0)
    return tsl_matcher_is_complete(&m) ? finish(s, b->last, TSL_NO_TOKEN, b->log_p) : TSL_OK;
  for (tsl_token t = 0; t < s->vocab->size && status == TSL_OK; t++) {
    double log_p = b->log_p + ((double)row[t] - log_sum);
    if (!tsl_mask_has(s->mask, t) || log_p == -INFINITY) continue;
    if (tsl_vocab_is_eog(s->vocab, t))
      status = finish(s, b->last, t, log_p);
    else
      offer(s, (candidate){log_p, i, t});
  }
  return status;
}

/* The best candidates become the open beams. */
static tsl_status go_on(search *s) {
  sort_candidates(s);
  for (uint32_t i = 0; i < s->heap_n; i++) {
    candidate c = s->heap[i];
    token_link l = {s->open[c.beam].last, c.token};
    beam *to = &s->next[i];
    *to = (beam){0, s->open[c.beam].at, (uint32_t)s->links.n, c.log_p};
    tsl_status status = tsl__grammar_lead(s->grammar, s->open[c.beam].at, c.token, &to->at);
    if (status != TSL_OK) return status;
    if (s->links.n >= NO_LINK - 1) return TSL_ERR_LIMIT;
    if (!tsl__vec_push(&s->out->alloc, &s->links, l)) return TSL_ERR_NO_MEMORY;
  }
  beam *t = s->open;
  s->open = s->next;
  s->next = t;
  s->open_n = s->heap_n;
  s->heap_n = 0;
  return TSL_OK;
}

static tsl_status run(search *s) {
  tsl_status status = TSL_OK;
  s->open[0] = (beam){.at = s->grammar->begin, .last = NO_LINK};
  s->open_n = 1;
  for (uint32_t depth = 0; status == TSL_OK && worth_going_on(s); depth++) {
    status = ask(s, depth);
    for (uint32_t i = 0; i < s->open_n && status == TSL_OK; i++) status = extend(s, i, depth);
    if (status == TSL_OK) status = go_on(s);
  }
  return status == TSL_OK && s->out->list.n == 0 ? TSL_ERR_LOGITS : status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void search_free(search *s) {
  const tsl_allocator *a = &s->out->alloc;
  tsl__free(a, s->open, s->o.width * sizeof *s->open);
  tsl__free(a, s->next, s->o.width * sizeof *s->next);
  tsl__free(a, s->heap, s->o.width * sizeof *s->heap);
  tsl__free(a, s->requested, s->o.width * sizeof *s->requested);
  tsl__free(a, s->rows, (size_t)s->o.width * s->vocab->logits_width * sizeof *s->rows);
  tsl__free(a, s->mask, tsl_vocab_mask_words(s->vocab) * sizeof *s->mask);
  tsl__vec_free(a, &s->links);
  tsl__vec_free(a, &s->flat);
  tsl_budget_free(s->budget);
}

static tsl_status prepare(search *s) {
  const tsl_allocator *a = &s->out->alloc;
  s->open = tsl__alloc(a, s->o.width * sizeof *s->open);
  s->next = tsl__alloc(a, s->o.width * sizeof *s->next);
  s->heap = tsl__alloc(a, s->o.width * sizeof *s->heap);
  s->requested = tsl__alloc(a, s->o.width * sizeof *s->requested);
  s->rows = tsl__alloc(a, (size_t)s->o.width * s->vocab->logits_width * sizeof *s->rows);
  s->mask = tsl__alloc(a, tsl_vocab_mask_words(s->vocab) * sizeof *s->mask);
  if (!s->open || !s->next || !s->heap || !s->requested || !s->rows || !s->mask)
    return TSL_ERR_NO_MEMORY;
  return tsl_budget_new(s->grammar, a, &s->budget);
}

static bool options_ok(const tsl_beam_options *o) {
  /* NaN fails */
  return o && o->width >= 1 && o->width <= 65536 && o->max_tokens >= 1 && o->length_penalty >= 0;
}

tsl_status tsl_beam_search(tsl_grammar *grammar, tsl_model model, void *ctx,
                           const tsl_beam_options *options, const tsl_allocator *allocator,
                           tsl_beams **out, tsl_error *error) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!grammar || !model || !options_ok(options))
    return tsl__fail(error, TSL_ERR_ARGUMENT,
                     "a grammar, a model, a width of 1 to 65,536, max_tokens and a length penalty "
                     "that is not negative are needed");
  if (grammar->quota_count)
    return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                     "the grammar counts tokens of a part of the text (max_tokens)");
  if (!allocator) allocator = &grammar->alloc;
  tsl_beams *b = tsl__alloc_zero(allocator, sizeof *b);
  if (!b) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  b->alloc = *allocator;
  tsl__timed call = tsl__timed_begin(grammar->space->work.deadline_us);
  grammar = tsl__grammar_now(grammar);
  search s = {.out = b,
              .grammar = grammar,
              .vocab = grammar->vocab,
              .model = model,
              .ctx = ctx,
              .o = *options};
  tsl_matcher m = tsl__matcher_at(grammar, grammar->begin, NULL);
  tsl_status status = prepare(&s);
  if (status != TSL_OK)
    tsl__fail(error, status, "out of memory");
  else
    status = tsl_budget_start(s.budget, &m, options->max_tokens, error);
  tsl__timed_end(call); /* each step of the search has a deadline of its own */
  if (status == TSL_OK && (status = run(&s)) != TSL_OK)
    tsl__fail(error, status, "%s, while the beams were followed", tsl_status_name(status));
  search_free(&s);
  tsl_grammar_release(grammar);
  if (status == TSL_OK)
    *out = b;
  else
    tsl_beams_free(b);
  return status;
}

size_t tsl_beams_count(const tsl_beams *b) { return b->list.n; }

const tsl_token *tsl_beams_tokens(const tsl_beams *b, size_t i, size_t *count) {
  bool there = i < b->list.n;
  if (count) *count = there ? b->list.at[i].count : 0;
  return there ? b->list.at[i].tokens : NULL;
}

const char *tsl_beams_text(const tsl_beams *b, size_t i, size_t *length) {
  bool there = i < b->list.n;
  if (length) *length = there ? b->list.at[i].length : 0;
  return there ? b->list.at[i].text : NULL;
}

double tsl_beams_log_probability(const tsl_beams *b, size_t i) {
  return i < b->list.n ? b->list.at[i].log_p : -INFINITY;
}
double tsl_beams_score(const tsl_beams *b, size_t i) {
  return i < b->list.n ? b->list.at[i].score : -INFINITY;
}
