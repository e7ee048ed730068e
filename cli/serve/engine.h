/* engine.h - the model of turnstile serve: a queue of jobs, and the one thread that works on them.
 *
 * A job is one answer. The thread of a connection makes it, puts it into the queue, and reads its
 * text while it grows. The model's thread writes that text into memory and never waits for a
 * client. Whoever is done with a job lets go of it; the last one frees it.
 * Threads: any. Tested by tests/cli/test_cli_serve.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_ENGINE_H
#define TSL_CLI_ENGINE_H

#include <pthread.h>

#include "cli/generation.h"
#include "cli/json_in.h"
#include "cli/model/prompt.h"
#include "cli/serve/http.h"

/* A token with its probability, for clients that ask. */
typedef struct engine_score {
  tsl_token token;
  double probability; /* among what was left to draw from */
  uint32_t top_count;
  tsl_token_logprob top[GENERATION_TOP];
} engine_score;

typedef enum job_state { JOB_WAITS, JOB_RUNS, JOB_DONE, JOB_CUT, JOB_FAILED } job_state;

typedef struct job {
  /* what the client wants: set before engine_add */
  tsl_grammar *grammar; /* a reference of the job's */
  tsl_sampler_options sampler;
  uint64_t max_tokens;
  bool logprobs;
  cli_text body;    /* the request, into which the next two point */
  json_in messages; /* a list, or a string */
  json_in tools;    /* shown to the model; no value: none */
  /* what came of it, under the engine's lock */
  job_state state;
  cli_text text; /* so far */
  engine_score *scores;
  size_t score_count;
  uint64_t tokens, prompt_tokens;
  bool whole;     /* the text is complete under its grammar */
  bool cancelled; /* nobody reads it any more */
  bool in_prompt; /* it failed because of the messages */
  char why[PROMPT_WHY], pointer[64];
  pthread_cond_t changed;
  int owners;
  struct job *next;
} job;

/* What /metrics shows. */
typedef struct engine_counts {
  uint64_t requests, refusals, errors; /* answers of HTTP: all, 4xx, 5xx */
  uint64_t jobs, cut_off, failed;      /* jobs that began; those that nobody waited for; failed */
  uint64_t prompt_tokens, tokens, forced, masks, drawn;
  double mask_us, legal; /* sums; legal: of logarithms */
  uint64_t compiles, compile_failures, hits;
  double compile_us;
  uint64_t waiting, running, cached; /* now */
  uint64_t cached_bytes;
} engine_counts;

typedef struct engine engine;

/* NULL after a complaint. */
engine *engine_open(const engine_settings *settings);
void engine_stop(engine *e);  /* answers end where they are */
void engine_close(engine *e); /* nobody uses it or a job any more */
tsl_vocab *engine_vocab(const engine *e);
const char *engine_model(const engine *e); /* its name for clients */

/* The grammar of a constraint: the members of a request that say what an answer may be, as JSON.
 * NULL: any text. The caller gets a reference. */
tsl_status engine_grammar(engine *e, const cli_text *constraint, tsl_grammar **out,
                          tsl_error *error);

job *job_new(void);
void job_free(engine *e, job *j); /* lets go of it: one owner less */
/* False: too many jobs wait. */
bool engine_add(engine *e, job *j);
/* Nobody waits for it any more: it leaves the queue, or ends at its next token. The caller is still
 * an owner. */
void engine_cancel(engine *e, job *j);
/* Wait until the job has more than `seen` bytes, or is over, at most 100 ms. Its new bytes are
 * added to `out`. Returns its state. */
job_state engine_wait(engine *e, job *j, size_t seen, cli_text *out);

/* Count an answer of HTTP. */
void engine_count(engine *e, unsigned status);
engine_counts engine_get_counts(engine *e);

#endif
