/* run.c - see run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/run.h"
#include "bench/driver/grow.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *bench_outcome_name(bench_outcome outcome) {
  static const char *const names[] = {
#define X(name, text, meaning) text,
      BENCH_OUTCOMES(X)
#undef X
  };
  return names[outcome];
}

static void pass_free(bench_pass *pass) {
  bench_samples_free(&pass->mask);
  bench_samples_free(&pass->commit);
}

void bench_totals_free(bench_totals *totals) {
  pass_free(&totals->first);
  pass_free(&totals->second);
  pass_free(&totals->borrowed);
  pass_free(&totals->flushed);
  pass_free(&totals->flushed_seen);
  bench_samples_free(&totals->flushed_copy);
  bench_samples_free(&totals->ttfm);
  bench_samples_free(&totals->memory_kb);
  bench_samples_free(&totals->lent_kb);
  bench_samples_free(&totals->matcher_kb);
}

static size_t pass_memory(const bench_pass *pass) {
  return bench_samples_memory(&pass->mask) + bench_samples_memory(&pass->commit);
}

size_t bench_totals_memory(const bench_totals *totals) {
  return pass_memory(&totals->first) + pass_memory(&totals->second) +
         pass_memory(&totals->borrowed) + pass_memory(&totals->flushed) +
         pass_memory(&totals->flushed_seen) + bench_samples_memory(&totals->flushed_copy) +
         bench_samples_memory(&totals->ttfm) + bench_samples_memory(&totals->memory_kb) +
         bench_samples_memory(&totals->lent_kb) + bench_samples_memory(&totals->matcher_kb);
}

/* ---- time limit ------------------------------------------------------------------------------ */

/* What tsl_limits.cancel points at. A signal handler can reach it only as a global. */
static volatile sig_atomic_t timed_out;

static void on_alarm(int number) {
  (void)number;
  timed_out = 1;
}

static void start_time_limit(unsigned seconds) {
  struct sigaction action = {.sa_handler = on_alarm};
  timed_out = 0;
  if (seconds) sigaction(SIGALRM, &action, NULL);
  alarm(seconds);
}

/* ---- one case -------------------------------------------------------------------------------- */

typedef struct encoded {
  tsl_token *tokens;
  size_t count;
} encoded;

/* A case under way. */
typedef struct run {
  const bench_setup *setup;
  const bench_case *c;
  bench_totals *totals;
  bench_verdict *verdict;
  encoded *texts; /* one per test */
  size_t total;   /* tokens of all tests */
  /* the mask of the first position, measured with the compile; negative once used */
  double first_us;
  double mask_sum, commit_sum;
  size_t measured;      /* positions in those sums */
  size_t matcher_bytes; /* that the matcher holds */
  uint64_t random;
  bool out_of_memory; /* the benchmark's own */
} run;

/* Note the first thing that goes wrong. */
static void blame(run *r, bench_outcome outcome, size_t test, size_t token) {
  if (r->verdict->outcome != BENCH_PASS) return;
  r->verdict->outcome = outcome;
  r->verdict->test = test;
  r->verdict->token = token;
}

static void blame_status(run *r, tsl_status status, size_t test, size_t token, const char *call) {
  if (r->verdict->outcome != BENCH_PASS) return;
  blame(r, timed_out ? BENCH_TIMEOUT : BENCH_LIMIT, test, token);
  r->verdict->error.status = status;
  snprintf(r->verdict->error.message, sizeof r->verdict->error.message, "%s returned %s", call,
           tsl_status_name(status));
}

static void add(run *r, bench_samples *samples, double value) {
  if (!bench_samples_add(samples, value)) r->out_of_memory = true;
}

/* Do the tokens spell the text? A tokenizer that normalises may change it. */
static bool spells(const tsl_vocab *vocab, const encoded *e, const bench_test *test) {
  size_t at = 0;
  for (size_t i = 0; i < e->count; i++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, e->tokens[i], &n);
    if (n > test->length - at || (n && memcmp(test->text + at, bytes, n) != 0)) return false;
    at += n;
  }
  return at == test->length;
}

static bool encode_test(run *r, size_t i) {
  const bench_test *test = &r->c->tests[i];
  const tsl_vocab *vocab = r->setup->vocab;
  encoded *e = &r->texts[i];
  if (test->tokens) {
    *e = (encoded){test->tokens, test->token_count};
  } else {
    size_t capacity = test->length + 16;
    e->tokens = malloc(capacity * sizeof *e->tokens);
    if (!e->tokens) return false;
    tsl_status status =
        tsl_vocab_encode(vocab, test->text, test->length, 0, e->tokens, capacity, &e->count);
    if (status != TSL_OK) {
      e->count = 0;
      blame_status(r, status, i, 0, "tsl_vocab_encode");
    }
  }
  r->total += e->count;
  r->totals->bytes += test->length;
  r->totals->respelled += !spells(vocab, e, test);
  return true;
}

static bool encode_tests(run *r) {
  r->texts = calloc(r->c->test_count + 1, sizeof *r->texts);
  if (!r->texts) return false;
  for (size_t i = 0; i < r->c->test_count; i++)
    if (!encode_test(r, i)) return false;
  return true;
}

static void free_texts(run *r) {
  if (!r->texts) return;
  for (size_t i = 0; i < r->c->test_count; i++)
    if (!r->c->tests[i].tokens) free(r->texts[i].tokens);
  free(r->texts);
}

/* An allocator that counts what is held. */
static void *count_memory(void *ctx, void *block, size_t old_size, size_t new_size) {
  if (new_size == 0) {
    free(block);
    *(size_t *)ctx -= old_size;
    return NULL;
  }
  void *p = realloc(block, new_size);
  if (p) *(size_t *)ctx += new_size - old_size;
  return p;
}

/* Nothing satisfies the schema: what is valid nevertheless is a validation error. */
static void reject_all(run *r) {
  r->verdict->unsatisfiable = true;
  r->totals->unsatisfiable++;
  for (size_t t = 0; t < r->c->test_count; t++)
    if (r->c->tests[t].valid) blame(r, BENCH_VALIDATION_ERROR, t, 0);
}

tsl_status bench_compile(tsl_vocab *vocab, const tsl_schema_options *options, const bench_case *c,
                         const tsl_limits *limits, tsl_grammar **grammar, tsl_error *error) {
  tsl_source source = {
      .kind = c->kind, .text = c->text, .length = c->length, .schema = options, .limits = limits};
  if (c->tags) return tsl_grammar_tags(vocab, c->text, c->length, options, limits, grammar, error);
  return tsl_grammar_compile(vocab, &source, grammar, error);
}

/* From the schema's text to the first mask. */
static bool compile(run *r, tsl_grammar **grammar, tsl_matcher **matcher) {
  const bench_setup *s = r->setup;
  uint64_t start = bench_clock_now(&s->clock);
  tsl_status status =
      bench_compile(s->vocab, &s->options, r->c, &s->limits, grammar, &r->verdict->error);
  if (status == TSL_ERR_EMPTY) {
    reject_all(r);
    return false;
  }
  if (status != TSL_OK) {
    r->verdict->outcome = timed_out ? BENCH_TIMEOUT : BENCH_REFUSED;
    return false;
  }
  status = tsl_matcher_new(*grammar, &(tsl_allocator){&r->matcher_bytes, count_memory}, matcher);
  if (status != TSL_OK) {
    blame_status(r, status, 0, 0, "tsl_matcher_new");
    return false;
  }
  uint64_t before_mask = bench_clock_now(&s->clock);
  status = tsl_matcher_mask(*matcher, s->mask);
  uint64_t end = bench_clock_now(&s->clock);
  if (status != TSL_OK) {
    blame_status(r, status, 0, 0, "tsl_matcher_mask");
    return false;
  }
  r->first_us = bench_clock_span(&s->clock, before_mask, end) / 1e3;
  r->verdict->ttfm_us = bench_clock_span(&s->clock, start, end) / 1e3;
  add(r, &r->totals->ttfm, r->verdict->ttfm_us);
  return true;
}

/* Is this position one of those to measure with empty caches? Each is with the same odds, as each
 * counts once in the other figures: one of `flush_every`, on average. */
static bool is_flushed(run *r) {
  if (!r->setup->evictor.size || r->first_us >= 0) return false;
  r->random = r->random * 6364136223846793005u + 1442695040888963407u;
  return (r->random >> 33) % r->setup->flush_every == 0;
}

static tsl_status timed_mask(run *r, tsl_matcher *m, bool flush, double *us) {
  const bench_setup *s = r->setup;
  if (r->first_us >= 0) { /* the mask is in the buffer already */
    *us = r->first_us;
    r->first_us = -1;
    return TSL_OK;
  }
  if (flush) bench_evict(&s->evictor);
  uint64_t from = bench_clock_now(&s->clock);
  tsl_status status = tsl_matcher_mask(m, s->mask);
  *us = bench_clock_span(&s->clock, from, bench_clock_now(&s->clock)) / 1e3;
  return status;
}

static tsl_status timed_accept(run *r, tsl_matcher *m, tsl_token token, bool flush, double *us) {
  const bench_setup *s = r->setup;
  if (flush && !s->flush_once) bench_evict(&s->evictor);
  uint64_t from = bench_clock_now(&s->clock);
  tsl_status status = tsl_matcher_accept(m, token);
  *us = bench_clock_span(&s->clock, from, bench_clock_now(&s->clock)) / 1e3;
  return status;
}

/* What the row alone costs where the caches are empty. */
static void time_copy(run *r) {
  const bench_setup *s = r->setup;
  bench_evict(&s->evictor);
  uint64_t from = bench_clock_now(&s->clock);
  memcpy(s->mask, s->row, tsl_vocab_mask_words(s->vocab) * sizeof *s->mask);
  add(r, &r->totals->flushed_copy,
      bench_clock_span(&s->clock, from, bench_clock_now(&s->clock)) / 1e3);
}

static void record(run *r, bool flush, double mask_us, double commit_us) {
  bench_pass *pass = flush ? &r->totals->flushed : &r->totals->first;
  add(r, &pass->mask, mask_us);
  add(r, &pass->commit, commit_us);
  r->verdict->tokens++;
  if (flush) return;
  r->measured++;
  r->mask_sum += mask_us;
  r->commit_sum += commit_us;
  if (mask_us > r->verdict->mask_max_us) r->verdict->mask_max_us = mask_us;
}

/* What a server would do while the model computes. */
static void prefetch(run *r, tsl_matcher *m) {
  bench_totals *all = r->totals;
  if (!r->setup->prefetch_us) return;
  all->stepped++;
  all->drawn_ready += tsl_matcher_is_ready(m);
  if (tsl_matcher_prefetch(m, NULL, 0, r->setup->prefetch_us, NULL) == TSL_OK)
    all->ready += tsl_matcher_is_ready(m);
}

/* One position of the first pass. *allowed: the token was in the mask. false if a call failed. */
static bool first_step(run *r, tsl_matcher *m, size_t test, size_t i, bool *allowed) {
  double mask_us, commit_us;
  tsl_token token = r->texts[test].tokens[i];
  bool flush = is_flushed(r);
  tsl_status status = timed_mask(r, m, flush, &mask_us);
  if (status != TSL_OK) {
    blame_status(r, status, test, i, "tsl_matcher_mask");
    return false;
  }
  *allowed = token < tsl_vocab_size(r->setup->vocab) && tsl_mask_has(r->setup->mask, token);
  status = timed_accept(r, m, token, flush, &commit_us);
  record(r, flush, mask_us, commit_us);
  if (flush) time_copy(r);
  if (status == TSL_OK) prefetch(r, m);
  if (status == (*allowed ? TSL_OK : TSL_REJECTED)) return true;
  if (status == TSL_OK || status == TSL_REJECTED)
    blame(r, BENCH_INCONSISTENT, test, i);
  else
    blame_status(r, status, test, i, "tsl_matcher_accept");
  return false;
}

/* Is the end allowed here? And do the mask and tsl_matcher_is_complete say the same? */
static bool end_allowed(run *r, tsl_matcher *m, size_t test) {
  uint32_t count;
  const tsl_token *eog = tsl_vocab_eog(r->setup->vocab, &count);
  bool complete = tsl_matcher_is_complete(m);
  r->first_us = -1; /* the buffer is about to be overwritten */
  if (tsl_matcher_mask(m, r->setup->mask) == TSL_OK)
    for (uint32_t i = 0; i < count; i++)
      if (tsl_mask_has(r->setup->mask, eog[i]) != complete)
        blame(r, BENCH_INCONSISTENT, test, r->texts[test].count);
  return complete;
}

static void first_pass(run *r, tsl_matcher *m) {
  for (size_t t = 0; t < r->c->test_count; t++) {
    size_t i = 0, n = r->texts[t].count;
    bool ok = true, accepted = true;
    if (t > 0) tsl_matcher_reset(m);
    for (; ok && accepted && i < n; i++) ok = first_step(r, m, t, i, &accepted);
    if (!ok) return;
    bool wanted = r->c->tests[t].valid;
    if (accepted)
      accepted = end_allowed(r, m, t);
    else
      i--;
    if (accepted != wanted)
      blame(r, wanted ? BENCH_VALIDATION_ERROR : BENCH_INVALIDATION_ERROR, t, i);
  }
}

/* A pass over positions that were all seen before. Ends an instance where the first pass did.
 * `pass` NULL: it is not measured; `flushed` NULL: no caches are emptied. */
static void warm_pass(run *r, tsl_matcher *m, bool borrow, bench_pass *pass, bench_pass *flushed) {
  const bench_setup *s = r->setup;
  for (size_t t = 0; t < r->c->test_count; t++) {
    tsl_matcher_reset(m);
    for (size_t i = 0; i < r->texts[t].count; i++) {
      const uint32_t *mask = s->mask;
      tsl_token token = r->texts[t].tokens[i];
      double commit_us;
      bool flush = flushed && is_flushed(r);
      if (flush) bench_evict(&s->evictor);
      uint64_t from = bench_clock_now(&s->clock);
      tsl_status status =
          borrow ? tsl_matcher_mask_borrow(m, &mask, NULL) : tsl_matcher_mask(m, s->mask);
      uint64_t to = bench_clock_now(&s->clock);
      if (status != TSL_OK) {
        blame_status(r, status, t, i, borrow ? "tsl_matcher_mask_borrow" : "tsl_matcher_mask");
        return;
      }
      bool allowed = token < tsl_vocab_size(s->vocab) && tsl_mask_has(mask, token);
      status = timed_accept(r, m, token, flush, &commit_us);
      bench_pass *into = flush ? flushed : pass;
      if (into) {
        add(r, &into->mask, bench_clock_span(&s->clock, from, to) / 1e3);
        add(r, &into->commit, commit_us);
      }
      if ((status == TSL_OK) != allowed) blame(r, BENCH_INCONSISTENT, t, i);
      if (status != TSL_OK) break;
    }
  }
}

/* ---- was it the order? ----------------------------------------------------------------------- */

static bool takes(const run *r, tsl_matcher *m, size_t test) {
  tsl_matcher_reset(m);
  for (size_t i = 0; i < r->texts[test].count; i++)
    if (tsl_matcher_accept(m, r->texts[test].tokens[i]) != TSL_OK) return false;
  return tsl_matcher_is_complete(m);
}

/* Does the same schema judge all instances rightly with members in any order? */
static bool right_in_any_order(const run *r) {
  bench_setup any = *r->setup;
  tsl_grammar *grammar = NULL;
  tsl_matcher *m = NULL;
  any.options.order = TSL_ORDER_ANY;
  bool right =
      bench_compile(any.vocab, &any.options, r->c, &any.limits, &grammar, NULL) == TSL_OK &&
      tsl_matcher_new(grammar, NULL, &m) == TSL_OK;
  for (size_t t = 0; right && t < r->c->test_count; t++)
    right = takes(r, m, t) == r->c->tests[t].valid;
  tsl_matcher_free(m);
  tsl_grammar_release(grammar);
  return right;
}

static void look_into_order(run *r) {
  if (r->setup->options.order != TSL_ORDER_SCHEMA || r->verdict->outcome != BENCH_VALIDATION_ERROR)
    return;
  r->verdict->order_only = right_in_any_order(r);
  r->totals->order_errors += r->verdict->order_only;
}

static double memory_of(const tsl_grammar *grammar) {
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(grammar, &stats);
  return (double)stats.memory / 1024;
}

static void note_memory(run *r, const tsl_grammar *grammar) {
  r->verdict->memory_kb = memory_of(grammar);
  r->verdict->matcher_kb = (double)r->matcher_bytes / 1024;
}

static void finish(run *r, const tsl_grammar *grammar) {
  size_t measured = r->measured ? r->measured : 1;
  if (!r->verdict->memory_kb) note_memory(r, grammar);
  r->verdict->mask_us = r->mask_sum / (double)measured;
  r->verdict->commit_us = r->commit_sum / (double)measured;
  r->verdict->measured = r->measured;
  add(r, &r->totals->memory_kb, r->verdict->memory_kb);
  add(r, &r->totals->matcher_kb, r->verdict->matcher_kb);
  add(r, &r->totals->lent_kb, memory_of(grammar) - r->verdict->memory_kb);
}

static void note_grown(run *r) {
  bench_grown grown = bench_grow(r->setup, r->c);
  r->verdict->grown_kb = grown.kb;
  r->verdict->grown_us = grown.steps.avg;
  r->verdict->grown_p99_us = grown.steps.p99;
}

static void run_passes(run *r) {
  tsl_grammar *grammar = NULL;
  tsl_matcher *matcher = NULL;
  start_time_limit(r->setup->timeout_s);
  if (compile(r, &grammar, &matcher)) {
    first_pass(r, matcher);
    if (r->verdict->outcome < BENCH_LIMIT) {
      warm_pass(r, matcher, false, &r->totals->second, &r->totals->flushed_seen);
      note_memory(r, grammar); /* borrowing makes matcher and grammar keep masks written out */
      warm_pass(r, matcher, true, NULL, NULL);
      warm_pass(r, matcher, true, &r->totals->borrowed, NULL);
    }
    finish(r, grammar);
    start_time_limit(r->setup->timeout_s);
    if (r->setup->grow) note_grown(r);
  }
  start_time_limit(0);
  tsl_matcher_free(matcher);
  tsl_grammar_release(grammar);
}

bool bench_run_case(const bench_setup *setup, const bench_case *c, bench_totals *totals,
                    bench_verdict *verdict) {
  bench_setup with_cancel = *setup;
  with_cancel.limits.cancel = (const int *)&timed_out;
  run r = {.setup = &with_cancel,
           .c = c,
           .totals = totals,
           .verdict = verdict,
           .first_us = -1,
           .random = totals->schemas};
  *verdict = (bench_verdict){.outcome = BENCH_PASS, .first_sample = totals->first.mask.n};
  if (!encode_tests(&r))
    r.out_of_memory = true;
  else if (verdict->outcome == BENCH_PASS)
    run_passes(&r);
  if (!r.out_of_memory) look_into_order(&r);
  free_texts(&r);
  totals->schemas++;
  totals->tests += c->test_count;
  totals->tokens += r.total;
  totals->outcomes[verdict->outcome]++;
  return !r.out_of_memory;
}
