/* report.c - see report.h. JSON is written with yajl's generator, numbers with three decimals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/driver/report.h"

#include <string.h>
#include <sys/resource.h>
#include <yajl/yajl_gen.h>

/* ---- writing JSON ---------------------------------------------------------------------------- */

static void put_string(yajl_gen gen, const char *text) {
  yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
}

static void put_text(yajl_gen gen, const char *key, const char *text) {
  put_string(gen, key);
  put_string(gen, text);
}

static void put_count(yajl_gen gen, const char *key, size_t count) {
  put_string(gen, key);
  yajl_gen_integer(gen, (long long)count);
}

static void put_real(yajl_gen gen, const char *key, double value) {
  char text[64];
  int n = snprintf(text, sizeof text, "%.3f", value);
  put_string(gen, key);
  yajl_gen_number(gen, text, (size_t)n);
}

static void put_line(yajl_gen gen, FILE *out) {
  const unsigned char *text;
  size_t length;
  if (yajl_gen_get_buf(gen, &text, &length) == yajl_gen_status_ok) fwrite(text, 1, length, out);
  fputc('\n', out);
  fflush(out);
  yajl_gen_free(gen);
}

static void put_samples(yajl_gen gen, const char *key, const bench_samples *samples, size_t from,
                        size_t n) {
  char text[64];
  put_string(gen, key);
  yajl_gen_array_open(gen);
  for (size_t i = 0; i < n; i++) {
    int length = snprintf(text, sizeof text, "%.3f", (double)samples->at[from + i]);
    yajl_gen_number(gen, text, (size_t)length);
  }
  yajl_gen_array_close(gen);
}

void bench_report_case(FILE *out, const bench_case *c, const bench_verdict *v,
                       const bench_pass *samples) {
  yajl_gen gen = yajl_gen_alloc(NULL);
  if (!gen) return;
  yajl_gen_map_open(gen);
  put_text(gen, "id", c->id);
  put_text(gen, "outcome", bench_outcome_name(v->outcome));
  if (v->error.status != TSL_OK) {
    put_text(gen, "status", tsl_status_name(v->error.status));
    put_text(gen, "pointer", v->error.pointer);
    put_text(gen, "message", v->error.message);
  }
  if (v->outcome != BENCH_PASS && v->outcome != BENCH_REFUSED) {
    put_count(gen, "test", v->test);
    put_count(gen, "token", v->token);
  }
  if (v->order_only) put_text(gen, "why", "order of members");
  put_count(gen, "tests", c->test_count);
  put_count(gen, "tokens", v->tokens);
  put_real(gen, "ttfm_us", v->ttfm_us);
  put_real(gen, "mask_us", v->mask_us);
  put_real(gen, "mask_max_us", v->mask_max_us);
  put_real(gen, "commit_us", v->commit_us);
  put_real(gen, "memory_kb", v->memory_kb);
  put_real(gen, "matcher_kb", v->matcher_kb);
  if (v->grown_kb > 0) {
    put_real(gen, "grown_kb", v->grown_kb);
    put_real(gen, "grown_us", v->grown_us);
    put_real(gen, "grown_p99_us", v->grown_p99_us);
  }
  if (samples) put_samples(gen, "mask_samples_us", &samples->mask, v->first_sample, v->measured);
  if (samples)
    put_samples(gen, "commit_samples_us", &samples->commit, v->first_sample, v->measured);
  yajl_gen_map_close(gen);
  put_line(gen, out);
}

/* ---- totals ---------------------------------------------------------------------------------- */

typedef struct row {
  const char *key, *title;
  bench_summary summary;
} row;

enum { ROW_LIMIT = 20 }; /* five passes of three rows, and those of all_rows by themselves */

typedef struct rows {
  row at[ROW_LIMIT];
  size_t n;
} rows;

static void add_row(rows *all, const char *key, const char *title, bench_samples *samples) {
  if (samples->n) all->at[all->n++] = (row){key, title, bench_summarize(samples)};
}

/* Three rows of a pass. The sum comes first: summarising sorts the samples, and then they are pairs
 * no more. */
static void add_pass(rows *all, bench_pass *pass, const char *const keys[3],
                     const char *const titles[3]) {
  bench_samples sum = {0};
  bool whole = true;
  for (size_t i = 0; whole && i < pass->mask.n; i++)
    whole = bench_samples_add(&sum, (double)pass->mask.at[i] + (double)pass->commit.at[i]);
  add_row(all, keys[0], titles[0], &pass->mask);
  add_row(all, keys[1], titles[1], &pass->commit);
  if (whole) add_row(all, keys[2], titles[2], &sum);
  bench_samples_free(&sum);
}

static rows all_rows(bench_totals *totals) {
  rows all = {.n = 0};
  add_pass(&all, &totals->first, (const char *const[]){"mask_us", "commit_us", "mask_commit_us"},
           (const char *const[]){"mask", "commit", "mask + commit"});
  add_pass(&all, &totals->second,
           (const char *const[]){"second_mask_us", "second_commit_us", "second_pass_us"},
           (const char *const[]){"second pass: mask", "second pass: commit", "second pass: both"});
  add_pass(&all, &totals->borrowed,
           (const char *const[]){"mask_borrow_us", "borrow_commit_us", "mask_borrow_commit_us"},
           (const char *const[]){"borrowed: mask", "borrowed: commit", "borrowed: both"});
  add_pass(
      &all, &totals->flushed,
      (const char *const[]){"flushed_mask_us", "flushed_commit_us", "flushed_us"},
      (const char *const[]){"empty caches: mask", "empty caches: commit", "empty caches: both"});
  add_pass(
      &all, &totals->flushed_seen,
      (const char *const[]){"flushed_seen_mask_us", "flushed_seen_commit_us", "flushed_seen_us"},
      (const char *const[]){"  seen before: mask", "  seen before: commit", "  seen before: both"});
  add_row(&all, "flushed_copy_us", "empty caches: a copy", &totals->flushed_copy);
  add_row(&all, "ttfm_us", "schema to first mask", &totals->ttfm);
  add_row(&all, "memory_per_schema_kb", "grammar memory, KiB", &totals->memory_kb);
  add_row(&all, "memory_of_lent_masks_kb", "  masks lent, KiB more", &totals->lent_kb);
  add_row(&all, "memory_per_matcher_kb", "matcher memory, KiB", &totals->matcher_kb);
  return all;
}

static void put_row(yajl_gen gen, const row *r) {
  put_string(gen, r->key);
  yajl_gen_map_open(gen);
  put_real(gen, "avg", r->summary.avg);
  put_real(gen, "p50", r->summary.p50);
  put_real(gen, "p90", r->summary.p90);
  put_real(gen, "p99", r->summary.p99);
  put_real(gen, "p99.9", r->summary.p99_9);
  put_real(gen, "max", r->summary.max);
  put_count(gen, "n", r->summary.n);
  yajl_gen_map_close(gen);
}

/* Peak resident memory of this process, in MiB. */
static double peak_rss_mb(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss / 1024;
}

static void put_totals(FILE *out, const rows *all, const bench_totals *totals,
                       const bench_about *about, double peak, double own) {
  static const char *const keys[] = {
      "pass",   "refused",  "validation_errors", "invalidation_errors",
      "limits", "timeouts", "inconsistent"};
  yajl_gen gen = yajl_gen_alloc(NULL);
  if (!gen) return;
  yajl_gen_map_open(gen);
  put_count(gen, "schemas", totals->schemas);
  for (size_t i = 0; i < BENCH_OUTCOME_COUNT; i++) put_count(gen, keys[i], totals->outcomes[i]);
  put_count(gen, "unsatisfiable", totals->unsatisfiable);
  put_count(gen, "order_errors", totals->order_errors);
  put_count(gen, "tests", totals->tests);
  put_count(gen, "tokens", totals->tokens);
  put_count(gen, "text_bytes", totals->bytes);
  put_count(gen, "respelled_tests", totals->respelled);
  if (totals->stepped) {
    put_count(gen, "prefetched_steps", totals->stepped);
    put_real(gen, "ready_when_drawn", (double)totals->drawn_ready / (double)totals->stepped);
    put_real(gen, "ready_after_prefetch", (double)totals->ready / (double)totals->stepped);
  }
  for (size_t i = 0; i < all->n; i++) put_row(gen, &all->at[i]);
  put_real(gen, "peak_rss_mb", peak);
  put_real(gen, "own_mb", own);
  put_real(gen, "vocab_load_ms", about->vocab_load_ms);
  put_real(gen, "vocab_memory_mb", about->vocab_memory_mb);
  put_count(gen, "vocab_size", about->vocab_size);
  put_real(gen, "clock_overhead_ns", about->overhead_ns);
  put_real(gen, "clock_step_ns", about->step_ns);
  put_real(gen, "wall_s", about->wall_s);
  put_count(gen, "verified_masks", about->verified.masks);
  put_count(gen, "verified_wrong", about->verified.wrong);
  yajl_gen_map_close(gen);
  put_line(gen, out);
}

static void print_table(FILE *out, const rows *all, const bench_totals *totals,
                        const bench_about *about, double peak, double own) {
  static const char *const meanings[] = {
#define X(name, text, meaning) meaning,
      BENCH_OUTCOMES(X)
#undef X
  };
  fprintf(out, "%zu schemas, %zu instances, %zu tokens (vocabulary of %u), %.1f s\n\n",
          totals->schemas, totals->tests, totals->tokens, about->vocab_size, about->wall_s);
  for (size_t i = 0; i < BENCH_OUTCOME_COUNT; i++)
    if (totals->outcomes[i] || i <= BENCH_INVALIDATION_ERROR)
      fprintf(out, "  %-20s %7zu  %5.1f %%  %s\n", bench_outcome_name((bench_outcome)i),
              totals->outcomes[i],
              100.0 * (double)totals->outcomes[i] / (double)(totals->schemas ? totals->schemas : 1),
              meanings[i]);
  if (totals->unsatisfiable)
    fprintf(out,
            "  (%zu unsatisfiable: no value satisfies the schema, as its compile says, so every "
            "text is rejected; it passes if no instance is valid)\n",
            totals->unsatisfiable);
  if (totals->outcomes[BENCH_VALIDATION_ERROR] && totals->order_errors)
    fprintf(out,
            "  (%zu of the validation errors are of the order of members alone: in any order all "
            "instances of these schemas are judged rightly)\n",
            totals->order_errors);
  if (totals->stepped)
    fprintf(out,
            "  masks ready behind %zu tokens: %.2f %% when drawn, %.2f %% after the prefetch\n",
            totals->stepped, 100.0 * (double)totals->drawn_ready / (double)totals->stepped,
            100.0 * (double)totals->ready / (double)totals->stepped);
  if (totals->respelled)
    fprintf(out, "  (%zu instances are spelled differently by the tokenizer)\n", totals->respelled);
  fprintf(out, "\n  %-22s %10s %10s %10s %10s %10s %10s %10s\n", "microseconds", "avg", "p50",
          "p90", "p99", "p99.9", "max", "samples");
  for (size_t i = 0; i < all->n; i++) {
    const bench_summary *s = &all->at[i].summary;
    fprintf(out, "  %-22s %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10zu\n", all->at[i].title,
            s->avg, s->p50, s->p90, s->p99, s->p99_9, s->max, s->n);
  }
  fprintf(out,
          "\n  clock overhead of %.1f ns subtracted from every span, the clock's step is %.1f ns; "
          "vocabulary loaded in %.1f ms,\n",
          about->overhead_ns, about->step_ns, about->vocab_load_ms);
  fprintf(out,
          "  %.1f MiB; peak resident memory %.1f MiB, of which %.1f MiB are the benchmark's own\n",
          about->vocab_memory_mb, peak, own);
  fprintf(out,
          "  %zu masks compared with trying every token byte by byte (%zu tokens): %zu differ\n",
          about->verified.masks, about->verified.tokens, about->verified.wrong);
}

void bench_report_totals(FILE *people, FILE *programs, bench_totals *totals,
                         const bench_about *about) {
  double peak = peak_rss_mb(),
         own = (double)(bench_totals_memory(totals) + about->buffers) / (1 << 20);
  rows all = all_rows(totals);
  print_table(people, &all, totals, about, peak, own);
  put_totals(programs, &all, totals, about, peak, own);
}
