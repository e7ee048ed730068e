/* score.c - the probabilities of all texts that a grammar has.
 *
 * Problem   One sampled "yes" does not say how sure the model is. And masks distort the
 *           probability: P(yes) under a mask is that of its first token, whatever follows.
 * Idea      List the texts (outputs.h). Their tokens make a tree: ask the model once for each
 *           prefix, add up log-probabilities along the ways, end-of-generation tokens included. The
 *           canonical tokenisations are a tree of few nodes. A text of n bytes may have 2^(n-1)
 *           tokenisations, so prefixes are looked at best first. The prefixes that are left when
 *           the limit is reached are the least probable, and their sum bounds the error.
 * Example   Texts `no`, `nope`; tokens n, o, no, pe, nope. All tokenisations: n|o, no, n|o|pe,
 *           no|pe, nope: prefixes (), n, no, n o, no pe, n o pe, nope are requested.
 * Cost      One row of the model per distinct prefix; a log-sum over the vocabulary for each.
 * Tested by tests/decode/test_align.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/generation.h"
#include "runtime/decode/model.h"
#include "runtime/decode/outputs.h"

struct tsl_scores {
  tsl_allocator alloc;
  tsl__outputs outputs;
  double *log_p; /* of each */
  double total;  /* log of their sum */
  double missing;
};

/* A prefix that texts share. */
typedef struct prefix {
  uint32_t parent; /* number of the prefix before; its own at the root */
  tsl_token token;
  uint32_t lo, hi; /* the texts, as places in `order` */
  uint32_t bytes, tokens;
  double log_p;
} prefix;

/* The canonical tokens of a text. */
typedef struct spelling {
  const tsl_token *ids;
  size_t n;
  uint32_t output;
} spelling;

typedef struct search {
  tsl_scores *s;
  tsl_grammar *grammar;
  const tsl_vocab *vocab;
  tsl__stack from; /* the position that the texts go on from */
  tsl_score_options o;
  tsl_model model;
  void *ctx;
  spelling *spellings; /* sorted by their tokens; NULL: all tokenisations */
  tsl_token *ids;      /* of all spellings */
  size_t id_count;
  TSL__VEC(prefix) prefixes;
  tsl__heap queue;          /* numbers of prefixes */
  TSL__VEC(tsl_token) flat; /* the tokens of one batch */
  uint32_t *batch;
  tsl_prefix *requested;
  float *rows;
  uint32_t rows_requested;
} search;

/* ---- the queue: most probable first ---------------------------------------------------------- */

static bool before(const void *ctx, uint32_t a, uint32_t b) {
  const search *s = ctx;
  const prefix *x = &s->prefixes.at[a], *y = &s->prefixes.at[b];
  return x->log_p != y->log_p ? x->log_p > y->log_p : a < b;
}

static tsl_status push(search *s, prefix p) {
  if (p.log_p == -INFINITY) return TSL_OK; /* nothing follows from what can't be */
  bool pushed = tsl__vec_push(&s->s->alloc, &s->prefixes, p) &&
                tsl__heap_push(&s->s->alloc, &s->queue, (uint32_t)s->prefixes.n - 1, before, s);
  return pushed ? TSL_OK : TSL_ERR_NO_MEMORY;
}

/* ---- going on from a prefix ------------------------------------------------------------------ */

static const tsl__output *output_at(const search *s, uint32_t i) {
  return &s->s->outputs.list.at[i];
}

/* log P(the generation ends here). */
static double end_of(const search *s, const float *row, double log_sum) {
  double p = -INFINITY;
  if (s->o.open_end || s->vocab->eog_count == 0) return 0;
  for (uint32_t i = 0; i < s->vocab->eog_count; i++)
    p = tsl__log_add(p, (double)row[s->vocab->eog[i]] - log_sum);
  return p;
}

static void add_text(search *s, uint32_t output, double log_p) {
  s->s->log_p[output] = tsl__log_add(s->s->log_p[output], log_p);
}

static tsl_status child(search *s, uint32_t from, tsl_token token, uint32_t lo, uint32_t hi,
                        uint32_t bytes, double log_p) {
  prefix p = {from,
              token,
              lo,
              hi,
              bytes,
              s->prefixes.at[from].tokens + 1,
              s->prefixes.at[from].log_p + log_p};
  return push(s, p);
}

/* Canonical: the texts are sorted by their tokens; those that end here come first. */
static tsl_status go_on_canonical(search *s, uint32_t from, const float *row, double log_sum,
                                  double end) {
  prefix p = s->prefixes.at[from];
  for (uint32_t lo = p.lo, hi; lo < p.hi; lo = hi) {
    const spelling *first = &s->spellings[lo];
    hi = lo + 1;
    if (first->n == p.tokens) {
      add_text(s, first->output, p.log_p + end);
      continue;
    }
    tsl_token t = first->ids[p.tokens];
    while (hi < p.hi && s->spellings[hi].ids[p.tokens] == t) hi++;
    tsl_status status = child(s, from, t, lo, hi, 0, (double)row[t] - log_sum);
    if (status != TSL_OK) return status;
  }
  return TSL_OK;
}

/* Texts lo … hi share their first `bytes` bytes; where do those end that have the same next byte as
 * the first? */
static uint32_t same_byte(const search *s, uint32_t lo, uint32_t hi, uint32_t bytes) {
  uint8_t byte = output_at(s, lo)->bytes[bytes];
  while (lo < hi && output_at(s, lo)->bytes[bytes] == byte) lo++;
  return lo;
}

/* A place in the vocabulary's trie, and the texts that go on as it spells. */
typedef struct spell {
  uint32_t node, lo, hi, bytes;
} spell;
typedef TSL__VEC(spell) spells;

/* Every token that spells how some of the texts go on. */
static tsl_status go_on_any(search *s, uint32_t from, const float *row, double log_sum, double end,
                            spells *todo) {
  const tsl__trie *trie = &s->vocab->trie;
  prefix p = s->prefixes.at[from];
  spell at = {0, p.lo, p.hi, p.bytes};
  if (output_at(s, p.lo)->length == p.bytes) add_text(s, p.lo, p.log_p + end);
  todo->n = 0;
  if (!tsl__vec_push(&s->s->alloc, todo, at)) return TSL_ERR_NO_MEMORY;
  while (todo->n) {
    at = todo->at[--todo->n];
    const tsl__trie_node *n = &trie->nodes[at.node];
    for (uint32_t i = n->begin; at.node && i < n->own_end; i++) {
      tsl_status status = child(s, from, trie->order[i], at.lo, at.hi, at.bytes,
                                (double)row[trie->order[i]] - log_sum);
      if (status != TSL_OK) return status;
    }
    uint32_t lo = at.lo + (output_at(s, at.lo)->length == at.bytes);
    for (uint32_t hi; lo < at.hi; lo = hi) {
      hi = same_byte(s, lo, at.hi, at.bytes);
      spell next = {tsl__trie_child(trie, at.node, output_at(s, lo)->bytes[at.bytes]), lo, hi,
                    at.bytes + 1};
      if (next.node && !tsl__vec_push(&s->s->alloc, todo, next)) return TSL_ERR_NO_MEMORY;
    }
  }
  return TSL_OK;
}

/* ---- asking the model ------------------------------------------------------------------------ */

/* The tokens of the batch's prefixes, one after the other. */
static tsl_status spell_batch(search *s, uint32_t n) {
  size_t total = 0;
  for (uint32_t i = 0; i < n; i++) total += s->prefixes.at[s->batch[i]].tokens;
  s->flat.n = 0;
  if (!tsl__vec_reserve(&s->s->alloc, &s->flat, total + 1)) return TSL_ERR_NO_MEMORY;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = s->batch[i], tokens = s->prefixes.at[k].tokens;
    s->requested[i] = (tsl_prefix){s->flat.at + s->flat.n, tokens};
    s->flat.n += tokens;
    for (size_t at = s->flat.n; tokens--; k = s->prefixes.at[k].parent)
      s->flat.at[--at] = s->prefixes.at[k].token;
  }
  return TSL_OK;
}

static tsl_status run(search *s) {
  size_t width = s->vocab->logits_width;
  spells todo = {0};
  tsl_status status = push(s, (prefix){.hi = (uint32_t)s->s->outputs.list.n});
  while (status == TSL_OK && s->queue.n && s->rows_requested < s->o.max_prefixes) {
    uint32_t n = 0;
    while (n < s->o.batch && s->queue.n && s->rows_requested < s->o.max_prefixes)
      s->batch[n++] = tsl__heap_pop(&s->queue, before, s), s->rows_requested++;
    status = spell_batch(s, n);
    if (status == TSL_OK) status = s->model(s->ctx, s->requested, n, s->rows);
    for (uint32_t i = 0; i < n && status == TSL_OK; i++) {
      const float *row = s->rows + i * width;
      double log_sum;
      status = tsl__log_sum(row, width, &log_sum);
      if (status != TSL_OK) break;
      double end = end_of(s, row, log_sum);
      status = s->spellings ? go_on_canonical(s, s->batch[i], row, log_sum, end)
                            : go_on_any(s, s->batch[i], row, log_sum, end, &todo);
    }
  }
  tsl__vec_free(&s->s->alloc, &todo);
  for (size_t i = 0; i < s->queue.n; i++)
    s->s->missing += exp(s->prefixes.at[s->queue.at[i]].log_p);
  return status;
}

/* ---- canonical tokenisations ----------------------------------------------------------------- */

static bool spells_text(const tsl_vocab *v, const tsl_token *ids, size_t n, const tsl__output *o) {
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    size_t length = v->offsets[ids[i] + 1] - v->offsets[ids[i]];
    if (length > o->length - at || memcmp(v->bytes + v->offsets[ids[i]], o->bytes + at, length))
      return false;
    at += length;
  }
  return at == o->length;
}

static int compare(const spelling *a, const spelling *b) {
  for (size_t i = 0; i < a->n && i < b->n; i++)
    if (a->ids[i] != b->ids[i]) return a->ids[i] < b->ids[i] ? -1 : 1;
  return a->n < b->n ? -1 : a->n > b->n;
}

/* Heap sort: no recursion, no memory. */
static void sort(spelling *at, size_t n) {
  for (size_t k = n / 2 + n; k-- > 1;) {
    size_t root = k >= n ? k - n : 0, end = k >= n ? n : k;
    if (k < n) {
      spelling t = at[0];
      at[0] = at[k];
      at[k] = t;
    }
    for (size_t c; (c = 2 * root + 1) < end; root = c) {
      if (c + 1 < end && compare(&at[c], &at[c + 1]) < 0) c++;
      if (compare(&at[root], &at[c]) >= 0) break;
      spelling t = at[root];
      at[root] = at[c];
      at[c] = t;
    }
  }
}

static tsl_status encode(const search *s, const tsl__output *o, tsl_token *ids, size_t capacity,
                         size_t *n) {
  return tsl__vocab_encode_own(s->vocab, o->bytes, o->length, ids, capacity, n);
}

static tsl_status spell_all(search *s, tsl_error *error) {
  size_t count = s->s->outputs.list.n, n;
  s->spellings = tsl__alloc(&s->s->alloc, count * sizeof *s->spellings);
  for (uint32_t i = 0; i < count; i++) {
    tsl_status status = encode(s, output_at(s, i), NULL, 0, &n);
    if (status != TSL_OK && status != TSL_ERR_LIMIT)
      return tsl__fail(error, status, "text %u can't be encoded", i);
    s->id_count += n;
  }
  s->ids = tsl__alloc(&s->s->alloc, (s->id_count + 1) * sizeof *s->ids);
  if (!s->spellings || !s->ids) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  size_t at = 0;
  for (uint32_t i = 0; i < count; i++, at += n) {
    tsl_status status = encode(s, output_at(s, i), s->ids + at, s->id_count - at, &n);
    if (status != TSL_OK) return tsl__fail(error, status, "text %u can't be encoded", i);
    if (!spells_text(s->vocab, s->ids + at, n, output_at(s, i)))
      return tsl__fail(
          error, TSL_ERR_UNSUPPORTED,
          "the canonical tokens of text %u spell something else; all_tokenisations needs none", i);
    s->spellings[i] = (spelling){s->ids + at, n, i};
  }
  sort(s->spellings, count);
  return TSL_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

void tsl_scores_free(tsl_scores *s) {
  if (!s) return;
  tsl_allocator a = s->alloc;
  tsl__free(&a, s->log_p, s->outputs.list.n * sizeof *s->log_p);
  tsl__outputs_free(&s->outputs, &a);
  tsl__free(&a, s, sizeof *s);
}

static void search_free(search *s) {
  const tsl_allocator *a = &s->s->alloc;
  tsl__free(a, s->spellings, s->s->outputs.list.n * sizeof *s->spellings);
  tsl__free(a, s->ids, (s->id_count + 1) * sizeof *s->ids);
  tsl__vec_free(a, &s->prefixes);
  tsl__vec_free(a, &s->queue);
  tsl__vec_free(a, &s->flat);
  tsl__free(a, s->batch, s->o.batch * sizeof *s->batch);
  tsl__free(a, s->requested, s->o.batch * sizeof *s->requested);
  tsl__free(a, s->rows, (size_t)s->o.batch * s->vocab->logits_width * sizeof *s->rows);
}

static tsl_status prepare(search *s, tsl_error *error) {
  const tsl_allocator *a = &s->s->alloc;
  s->batch = tsl__alloc(a, s->o.batch * sizeof *s->batch);
  s->requested = tsl__alloc(a, s->o.batch * sizeof *s->requested);
  s->rows = tsl__alloc(a, (size_t)s->o.batch * s->vocab->logits_width * sizeof *s->rows);
  s->s->log_p = tsl__alloc(a, s->s->outputs.list.n * sizeof *s->s->log_p);
  if (!s->batch || !s->requested || !s->rows || !s->s->log_p)
    return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < s->s->outputs.list.n; i++) s->s->log_p[i] = -INFINITY;
  return s->o.all_tokenisations ? TSL_OK : spell_all(s, error);
}

static tsl_status score(search *s, tsl_error *error) {
  tsl_status status = tsl__outputs_find(&s->s->outputs, &s->s->alloc, s->grammar, s->from,
                                        s->o.max_outputs, s->o.plain_json, error);
  if (status == TSL_OK) status = prepare(s, error);
  if (status != TSL_OK) return status;
  status = run(s);
  if (status != TSL_OK)
    return tsl__fail(error, status, "%s, while the model ran", tsl_status_name(status));
  if (s->spellings && s->queue.n)
    return tsl__fail(error, TSL_ERR_LIMIT,
                     "max_prefixes: the canonical tokenisations have more prefixes than %u",
                     s->o.max_prefixes);
  s->s->total = -INFINITY;
  for (size_t i = 0; i < s->s->outputs.list.n; i++)
    s->s->total = tsl__log_add(s->s->total, s->s->log_p[i]);
  return TSL_OK;
}

/* The probabilities of the texts that go on from a position. */
static tsl_status score_from(tsl_grammar *grammar, tsl__stack from, tsl_model model, void *ctx,
                             const tsl_score_options *options, const tsl_allocator *allocator,
                             tsl_scores **out, tsl_error *error) {
  tsl_score_options o = options ? *options : (tsl_score_options){0};
  if (!o.max_outputs) o.max_outputs = 1000;
  if (!o.max_prefixes) o.max_prefixes = 100000;
  if (!o.batch) o.batch = 32;
  if (grammar->quota_count)
    return tsl__fail(error, TSL_ERR_UNSUPPORTED,
                     "the grammar counts tokens of a part of the text (max_tokens)");
  if (!allocator) allocator = &grammar->alloc;
  tsl_scores *s = tsl__alloc_zero(allocator, sizeof *s);
  if (!s) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  s->alloc = *allocator;
  tsl__outputs_init(&s->outputs, &s->alloc);
  search job = {.s = s,
                .grammar = grammar,
                .vocab = grammar->vocab,
                .from = from,
                .o = o,
                .model = model,
                .ctx = ctx};
  tsl_status status = score(&job, error);
  search_free(&job);
  if (status == TSL_OK)
    *out = s;
  else
    tsl_scores_free(s);
  return status;
}

tsl_status tsl_score_all(tsl_grammar *grammar, tsl_model model, void *ctx,
                         const tsl_score_options *options, const tsl_allocator *allocator,
                         tsl_scores **out, tsl_error *error) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!grammar || !model)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a grammar and a model are needed");
  if (!allocator) allocator = &grammar->alloc;
  grammar = tsl__grammar_now(grammar);
  tsl_status status =
      score_from(grammar, grammar->begin, model, ctx, options, allocator, out, error);
  tsl_grammar_release(grammar);
  return status;
}

tsl_status tsl_score_all_from(const tsl_matcher *matcher, tsl_model model, void *ctx,
                              const tsl_score_options *options, const tsl_allocator *allocator,
                              tsl_scores **out, tsl_error *error) {
  if (!out) return TSL_ERR_ARGUMENT;
  *out = NULL;
  if (!matcher || !model)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "a matcher and a model are needed");
  if (matcher->terminated)
    return tsl__fail(error, TSL_ERR_STATE, "the text of the matcher has ended");
  tsl_grammar *grammar = matcher->grammar;
  tsl_grammar_retain(grammar);
  tsl_status status = score_from(grammar, matcher->at, model, ctx, options, allocator, out, error);
  tsl_grammar_release(grammar);
  return status;
}

/* ---- over several prompts -------------------------------------------------------------------- */

/* The number of a text; the count where it is none of them. Texts are in the order of bytes. */
static size_t number_of(const tsl_scores *s, const char *text, size_t length) {
  size_t low = 0, high = s->outputs.list.n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const tsl__output *o = &s->outputs.list.at[middle];
    int order = memcmp(o->bytes, text, o->length < length ? o->length : length);
    if (order < 0 || (order == 0 && o->length < length))
      low = middle + 1;
    else
      high = middle;
  }
  bool same = low < s->outputs.list.n && s->outputs.list.at[low].length == length &&
              !memcmp(s->outputs.list.at[low].bytes, text, length);
  return same ? low : s->outputs.list.n;
}

tsl_status tsl_scores_mean(const tsl_scores *const *scores, size_t count, const char *text,
                           size_t length, double *mean, double *standard_error) {
  double sum = 0, square = 0;
  if (!scores || !count || (!text && length) || !mean) return TSL_ERR_ARGUMENT;
  for (size_t i = 0; i < count; i++)
    sum += tsl_scores_probability(scores[i], number_of(scores[i], text ? text : "", length));
  *mean = sum / (double)count;
  for (size_t i = 0; i < count; i++) {
    double p = tsl_scores_probability(scores[i], number_of(scores[i], text ? text : "", length));
    square += (p - *mean) * (p - *mean);
  }
  if (standard_error)
    *standard_error = count > 1 ? sqrt(square / ((double)count * (double)(count - 1))) : NAN;
  return TSL_OK;
}

/* ---- reading them ---------------------------------------------------------------------------- */

size_t tsl_scores_count(const tsl_scores *s) { return s->outputs.list.n; }

const char *tsl_scores_text(const tsl_scores *s, size_t i, size_t *length) {
  bool there = i < s->outputs.list.n;
  if (length) *length = there ? s->outputs.list.at[i].length : 0;
  return there ? (const char *)s->outputs.list.at[i].bytes : NULL;
}

double tsl_scores_log_probability(const tsl_scores *s, size_t i) {
  return i < s->outputs.list.n ? s->log_p[i] : -INFINITY;
}

double tsl_scores_probability(const tsl_scores *s, size_t i) {
  double p = tsl_scores_log_probability(s, i);
  return p == -INFINITY ? 0 : exp(p - s->total);
}

double tsl_scores_missing(const tsl_scores *s) { return s->missing; }
