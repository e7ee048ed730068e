/* run.h - one schema of the benchmark: compile it, feed its instances token by token, time every
 * call.
 *
 * Method    Instances are encoded before the clock starts. First-mask time runs from the schema's
 *           text to the first full mask. That matcher then goes on with the first instance. So the
 *           first mask is also the sample of the first position. At every position the mask is
 *           written in full into the caller's buffer (timed). Then the token is looked up in the
 *           mask and accepted (timed). After the last token the end must be allowed. A token that
 *           the mask has must be accepted, one that it lacks must be rejected. After the last token
 *           the mask must have the end-of-generation tokens exactly if the text is complete.
 *           Anything else is the outcome "inconsistent".
 * Empty     The compile says of some schemas that no value satisfies them (TSL_ERR_EMPTY). Such a
 *           schema has been understood, and counts as one that rejects every text. It passes if no
 *           instance is valid, and is a validation error if one is. There are no masks, and so no
 *           times. The totals say how many there were.
 * Order     With members in schema order, a validation error is looked into. All instances are
 *           followed again by a grammar of the same schema with members in any order. If that
 *           grammar judges each instance rightly, the order alone made the error. The totals say
 *           how many such errors there were.
 * Passes    first: as described. second: the same texts with the matcher reset, every position seen
 *           before. borrowed: the same with tsl_matcher_mask_borrow. flushed: positions of the
 *           first pass, drawn at random, before whose calls the caches were emptied; they count
 *           here and not in `first`. Beside each a row of as many words is copied by memcpy, the
 *           caches emptied before it: what the row alone costs. flushed_seen: the same of the
 *           second pass, whose positions were all seen before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_BENCH_RUN_H
#define TSL_BENCH_RUN_H

#include "bench/driver/cases.h"
#include "bench/driver/clock.h"
#include "bench/driver/stats.h"
#include "turnstile.h"

#define BENCH_OUTCOMES(X)                                                         \
  X(PASS, "pass", "every valid instance went through and no invalid one did")     \
  X(REFUSED, "refused", "the schema was not compiled")                            \
  X(VALIDATION_ERROR, "validation_error", "a valid instance was rejected")        \
  X(INVALIDATION_ERROR, "invalidation_error", "an invalid instance was accepted") \
  X(LIMIT, "limit", "a call failed in the middle of a generation")                \
  X(TIMEOUT, "timeout", "the time limit for one schema was reached")              \
  X(INCONSISTENT, "inconsistent", "mask, accept and end do not agree with each other")

typedef enum bench_outcome {
#define X(name, text, meaning) BENCH_##name,
  BENCH_OUTCOMES(X)
#undef X
      BENCH_OUTCOME_COUNT
} bench_outcome;

const char *bench_outcome_name(bench_outcome outcome);

/* Mask and commit of the same positions, in microseconds. */
typedef struct bench_pass {
  bench_samples mask, commit;
} bench_pass;

typedef struct bench_totals {
  bench_pass first, second, borrowed, flushed, flushed_seen;
  bench_samples flushed_copy; /* microseconds of a plain copy of a row, one per flushed position */
  bench_samples ttfm;         /* microseconds, one per compiled schema */
  /* of the grammar after all passes but those that borrow, one per compiled schema */
  bench_samples memory_kb;
  bench_samples lent_kb;    /* what borrowing adds to that */
  bench_samples matcher_kb; /* of a matcher after all passes, the same */
  size_t outcomes[BENCH_OUTCOME_COUNT];
  size_t schemas, tests, tokens, bytes; /* tokens: all of all instances */
  /* schemas that the compile says nothing satisfies: a grammar that rejects everything */
  size_t unsatisfiable;
  size_t order_errors; /* validation errors of the order of members alone */
  /* instances whose tokens do not spell the text: nothing is wrong with the engine there */
  size_t respelled;
  /* Of the positions behind a token of the first pass: whose mask was there before the prefetch,
   * and whose was after it */
  size_t stepped, drawn_ready, ready;
} bench_totals;

typedef struct bench_setup {
  tsl_vocab *vocab;
  tsl_schema_options options;
  tsl_limits limits;
  bench_clock clock;
  bench_evictor evictor; /* size 0: caches are never emptied */
  /* of so many positions one is measured with empty caches, in each of two passes */
  size_t flush_every;
  bool flush_once; /* before its mask alone, not before its commit too */
  /* tsl_vocab_mask_words words each; `row`: to be copied, NULL where no caches are emptied */
  uint32_t *mask, *row;
  unsigned timeout_s; /* for one schema; 0 = none */
  size_t prefetch_us; /* after each token of the first pass; 0: no mask is made ahead */
  size_t grow;        /* tokens after which the memory is looked at once more (grow.h); 0 = never */
} bench_setup;

typedef struct bench_verdict {
  bench_outcome outcome;
  tsl_error error;    /* where the outcome comes from a failed call */
  bool unsatisfiable; /* see Empty */
  bool order_only;    /* see Order */
  /* of the first thing that went wrong; token == that test's count: the end */
  size_t test, token;
  size_t tokens;                                   /* fed in the first pass */
  double ttfm_us, mask_us, mask_max_us, commit_us; /* averages over this schema's first pass */
  double memory_kb, matcher_kb;
  double grown_kb, grown_us, grown_p99_us; /* after, and over, many tokens (grow.h) */
  size_t first_sample; /* of the first pass, in the totals; there are `measured` */
  size_t measured;
} bench_verdict;

/* The grammar of a case, to be released. */
tsl_status bench_compile(tsl_vocab *vocab, const tsl_schema_options *options, const bench_case *c,
                         const tsl_limits *limits, tsl_grammar **grammar, tsl_error *error);
/* Run one case and add its samples to the totals; false when the benchmark itself is out of
 * memory. */
bool bench_run_case(const bench_setup *setup, const bench_case *c, bench_totals *totals,
                    bench_verdict *verdict);
void bench_totals_free(bench_totals *totals);
/* Bytes that the samples take: part of the process's memory, but not of the engine's. */
size_t bench_totals_memory(const bench_totals *totals);

#endif
