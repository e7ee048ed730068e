/* engine.c - the queue of turnstile serve, its model, and the grammars that it keeps.
 *
 * Problem   A model writes one text at a time, and clients come by the dozen. One that reads
 *           slowly, or goes away, must cost the others nothing.
 * Idea      Jobs wait in a list, first come, first served. One thread takes the first and writes
 *           its text into memory. At every token it looks whether somebody still waits for it.
 *           Compiling runs in the threads of the connections: a large schema delays its own client
 *           alone.
 * Example   Two clients ask. The thread writes the first answer; both connections wait for bytes of
 *           their jobs. The first client closes: its job is cancelled, and the second begins.
 * Grammars  Equal constraints share a grammar. At most GRAMMARS_MAX grammars of together
 *           GRAMMARS_BYTES are kept; the one that was used longest ago goes first.
 * Cost      A lock for each token. A look-up compares the constraint with those that have its
 *           length.
 * Tested by tests/cli/test_cli_serve.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/serve/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/model/answer.h"

#define GRAMMARS_MAX 64u
#define GRAMMARS_BYTES ((uint64_t)256 << 20)
#define COMPILE_US ((uint64_t)20000000) /* for one grammar */

typedef struct kept_grammar {
  cli_text constraint;
  tsl_grammar *grammar;
  uint64_t used, bytes;
} kept_grammar;

struct engine {
  engine_settings settings;
  tsl_vocab *vocab;
  tsl_grammar *free_text;
  ngram *random;
  llama *model;
  pthread_mutex_t lock;
  pthread_cond_t work;
  pthread_t thread;
  bool ending, started;
  job *first, *last;
  engine_counts counts;
  kept_grammar kept[GRAMMARS_MAX];
  uint64_t uses;
};

/* ---- jobs ------------------------------------------------------------------------------------ */

job *job_new(void) {
  job *j = cli_allocate(1, sizeof *j);
  pthread_cond_init(&j->changed, NULL);
  j->owners = 1;
  return j;
}

/* Under the lock. */
static void let_go(job *j) {
  if (--j->owners) return;
  tsl_grammar_release(j->grammar);
  cli_text_free(&j->body);
  cli_text_free(&j->text);
  free(j->scores);
  pthread_cond_destroy(&j->changed);
  free(j);
}

void job_free(engine *e, job *j) {
  if (!j) return;
  pthread_mutex_lock(&e->lock);
  let_go(j);
  pthread_mutex_unlock(&e->lock);
}

bool engine_add(engine *e, job *j) {
  pthread_mutex_lock(&e->lock);
  bool room = e->counts.waiting < e->settings.queue;
  if (room) {
    j->owners++;
    if (e->last)
      e->last->next = j;
    else
      e->first = j;
    e->last = j;
    e->counts.waiting++;
    pthread_cond_signal(&e->work);
  }
  pthread_mutex_unlock(&e->lock);
  return room;
}

/* Takes a job out of the queue, under the lock. False: it is not there. */
static bool leave_queue(engine *e, job *j) {
  job **at = &e->first, *before = NULL;
  for (; *at && *at != j; at = &before->next) before = *at;
  if (!*at) return false;
  *at = j->next;
  if (e->last == j) e->last = before;
  e->counts.waiting--;
  let_go(j);
  return true;
}

void engine_cancel(engine *e, job *j) {
  pthread_mutex_lock(&e->lock);
  if (!j->cancelled && (j->state == JOB_RUNS || (j->state == JOB_WAITS && leave_queue(e, j)))) {
    j->cancelled = true;
    e->counts.cut_off++;
  }
  pthread_mutex_unlock(&e->lock);
}

job_state engine_wait(engine *e, job *j, size_t seen, cli_text *out) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 100000000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_mutex_lock(&e->lock);
  int timed = 0;
  while (j->text.length <= seen && j->state <= JOB_RUNS && !timed)
    timed = pthread_cond_timedwait(&j->changed, &e->lock, &until);
  if (j->text.length > seen) cli_text_add(out, j->text.at + seen, j->text.length - seen);
  job_state state = j->state == JOB_WAITS && e->ending ? JOB_FAILED : j->state;
  pthread_mutex_unlock(&e->lock);
  return state;
}

/* ---- grammars -------------------------------------------------------------------------------- */

static void drop(engine *e, kept_grammar *k) {
  e->counts.cached--;
  e->counts.cached_bytes -= k->bytes;
  tsl_grammar_release(k->grammar);
  cli_text_free(&k->constraint);
  *k = (kept_grammar){0};
}

static kept_grammar *find_kept(engine *e, const cli_text *constraint) {
  for (size_t i = 0; i < GRAMMARS_MAX; i++) {
    kept_grammar *k = &e->kept[i];
    if (k->grammar && k->constraint.length == constraint->length &&
        !memcmp(k->constraint.at, constraint->at, constraint->length))
      return k;
  }
  return NULL;
}

/* A free place, or the one that was used longest ago. */
static kept_grammar *oldest(engine *e, bool in_use) {
  kept_grammar *best = NULL;
  for (size_t i = 0; i < GRAMMARS_MAX; i++) {
    kept_grammar *k = &e->kept[i];
    if (in_use && !k->grammar) continue;
    if (!best || k->used < best->used) best = k;
  }
  return best;
}

/* Under the lock; another thread may have kept the same one meanwhile. */
static void keep(engine *e, const cli_text *constraint, tsl_grammar *grammar) {
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(grammar, &stats);
  uint64_t bytes = stats.memory + constraint->length;
  if (bytes > GRAMMARS_BYTES / 2 || find_kept(e, constraint)) return;
  while (e->counts.cached_bytes + bytes > GRAMMARS_BYTES) drop(e, oldest(e, true));
  kept_grammar *k = oldest(e, false);
  if (k->grammar) drop(e, k);
  cli_text_add(&k->constraint, constraint->at, constraint->length);
  tsl_grammar_retain(k->grammar = grammar);
  k->used = ++e->uses;
  k->bytes = bytes;
  e->counts.cached++;
  e->counts.cached_bytes += bytes;
}

tsl_status engine_grammar(engine *e, const cli_text *constraint, tsl_grammar **out,
                          tsl_error *error) {
  const tsl_limits limits = {.deadline_us = COMPILE_US};
  tsl_schema_options schema = {0};
  if (e->model) {
    schema.whitespace = TSL_WS_PRETTY; /* as models write by themselves */
    schema.indent = 2;
  }
  const tsl_tools_options options = {.preset = e->settings.preset, .schema = &schema};
  if (!constraint) {
    tsl_grammar_retain(*out = e->free_text);
    return TSL_OK;
  }
  pthread_mutex_lock(&e->lock);
  kept_grammar *k = find_kept(e, constraint);
  if (k) {
    tsl_grammar_retain(*out = k->grammar);
    k->used = ++e->uses;
    e->counts.hits++;
  }
  pthread_mutex_unlock(&e->lock);
  if (k) return TSL_OK;
  double start = cli_now();
  tsl_status status = tsl_grammar_tools(e->vocab, constraint->at, constraint->length, &options,
                                        &limits, out, error);
  pthread_mutex_lock(&e->lock);
  e->counts.compiles++;
  e->counts.compile_failures += status != TSL_OK;
  e->counts.compile_us += cli_now() - start;
  if (status == TSL_OK) keep(e, constraint, *out);
  pthread_mutex_unlock(&e->lock);
  return status;
}

/* ---- the model's thread ---------------------------------------------------------------------- */

static void fail(engine *e, job *j, const char *why) {
  pthread_mutex_lock(&e->lock);
  snprintf(j->why, sizeof j->why, "%s", why);
  pthread_mutex_unlock(&e->lock);
}

/* The messages as the model reads them. */
static bool read_prompt(engine *e, job *j, uint64_t room) {
  prompt p = {0};
  cli_text text = {0};
  bool hermes = !strcmp(e->settings.preset, "hermes") || !strcmp(e->settings.preset, "qwen3");
  bool ok = true;
  if (json_in_string(j->messages, &text))
    prompt_add(&p, "user", text.at ? text.at : "");
  else
    ok = prompt_read(&p, j->messages);
  if (ok && j->tools.at) prompt_show_tools(&p, j->tools, hermes);
  ok = ok && prompt_encode(&p, e->model);
  if (!ok) {
    snprintf(j->pointer, sizeof j->pointer, "%s", p.pointer);
    fail(e, j, p.why);
  } else if (!llama_prompt(e->model, p.tokens, p.token_count, room)) {
    fail(e, j, llama_error(e->model));
    ok = false;
  }
  j->in_prompt = !ok;
  j->prompt_tokens = p.token_count;
  prompt_free(&p);
  cli_text_free(&text);
  return ok;
}

static void keep_score(job *j, const generation_step *step) {
  if (j->score_count % 64 == 0) {
    engine_score *grown = cli_allocate(j->score_count + 64, sizeof *grown);
    if (j->score_count) memcpy(grown, j->scores, j->score_count * sizeof *grown);
    free(j->scores);
    j->scores = grown;
  }
  engine_score *s = &j->scores[j->score_count++];
  s->token = step->draw.token;
  s->probability = step->draw.probability;
  s->top_count = step->want.top_count;
  memcpy(s->top, step->top, sizeof s->top);
}

/* What a step added goes to those who wait. False: nobody does. */
static bool hand_over(engine *e, job *j, const generation *g, const generation_step *step,
                      bool added) {
  pthread_mutex_lock(&e->lock);
  if (g->text.length > j->text.length)
    cli_text_add(&j->text, g->text.at + j->text.length, g->text.length - j->text.length);
  j->tokens = g->tokens;
  if (added) {
    bool drawn = !step->forced && !step->closing;
    e->counts.tokens++;
    e->counts.forced += step->forced;
    e->counts.masks += !step->forced;
    e->counts.mask_us += step->mask_us;
    if (drawn && step->want.allowed) {
      e->counts.drawn++;
      e->counts.legal += log(step->want.legal_mass > 1e-300 ? step->want.legal_mass : 1e-300);
    }
    if (j->logprobs) keep_score(j, step);
  }
  bool wanted = !j->cancelled && !e->ending;
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&e->lock);
  return wanted;
}

static void nap(uint64_t ms) {
  struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
  if (ms) nanosleep(&time, NULL);
}

static generation_result write_text(engine *e, job *j, generation *g) {
  generation_result result = GENERATION_MORE;
  generation_step step;
  double end = cli_now() + (double)e->settings.time_limit * 1e6;
  bool wanted = true;
  while (result == GENERATION_MORE && wanted && cli_now() < end) {
    nap(e->settings.token_ms);
    uint64_t before = g->tokens;
    result = generation_next(g, &step);
    wanted = hand_over(e, j, g, &step, g->tokens > before);
  }
  j->whole = result == GENERATION_DONE;
  return result;
}

static job_state work_on(engine *e, job *j) {
  generation g;
  generation_settings how = generation_defaults();
  generation_model real;
  source s = {.vocab = e->vocab, .grammar = j->grammar};
  /* the grammar names no special tokens where the vocabulary is the n-gram model's */
  s.kind = e->model ? SOURCE_NONE : SOURCE_SCHEMA;
  how.sampler = j->sampler;
  how.max_tokens = j->max_tokens;
  how.any_spelling = true;
  how.model = e->random;
  how.score_all = j->logprobs;
  if (e->model) {
    real = answer_model(e->model);
    how.real = &real;
    how.forced = !j->logprobs;
    if (!read_prompt(e, j, j->max_tokens)) return JOB_FAILED;
  }
  if (!generation_open(&g, &s, &how)) return fail(e, j, "the answer cannot begin"), JOB_FAILED;
  generation_result result = write_text(e, j, &g);
  generation_close(&g);
  if (result != GENERATION_BAD) return result == GENERATION_DONE ? JOB_DONE : JOB_CUT;
  fail(e, j, "the model or a mask failed; the server's log says how");
  return JOB_FAILED;
}

/* The next job; NULL: the end. */
static job *take(engine *e) {
  pthread_mutex_lock(&e->lock);
  while (!e->first && !e->ending) pthread_cond_wait(&e->work, &e->lock);
  job *j = e->ending ? NULL : e->first;
  if (j) {
    e->first = j->next;
    if (!e->first) e->last = NULL;
    e->counts.waiting--;
    e->counts.running = !j->cancelled;
    e->counts.jobs += !j->cancelled;
    if (!j->cancelled) j->state = JOB_RUNS;
  }
  pthread_mutex_unlock(&e->lock);
  return j;
}

static void *work(void *ctx) {
  engine *e = ctx;
  for (job *j; (j = take(e));) {
    job_state state = j->state == JOB_RUNS ? work_on(e, j) : JOB_CUT;
    pthread_mutex_lock(&e->lock);
    j->state = state;
    e->counts.running = 0;
    e->counts.failed += state == JOB_FAILED;
    e->counts.prompt_tokens += j->prompt_tokens;
    pthread_cond_broadcast(&j->changed);
    let_go(j);
    pthread_mutex_unlock(&e->lock);
  }
  return NULL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool open_model(engine *e) {
  static const char any[] = "[\\s\\S]*";
  tsl_error error = {0};
  bool random = !strcmp(e->settings.model, "random");
  const char *vocab = e->settings.vocab;
  if (!vocab && !random) vocab = e->settings.model;
  if (cli_open_vocab(vocab, NULL, &e->vocab) != CLI_OK) return false;
  if (tsl_grammar_regex(e->vocab, any, sizeof any - 1, NULL, NULL, &e->free_text, &error) != TSL_OK)
    return cli_complain("serve: %s", error.message), false;
  e->settings.llama.model = e->settings.model;
  if (random)
    e->random = ngram_new(e->vocab);
  else
    e->model = llama_open(&e->settings.llama, tsl_vocab_logits_width(e->vocab));
  return e->random || e->model;
}

engine *engine_open(const engine_settings *settings) {
  engine *e = cli_allocate(1, sizeof *e);
  e->settings = *settings;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->work, NULL);
  e->started = open_model(e) && !pthread_create(&e->thread, NULL, work, e);
  if (e->started) return e;
  engine_close(e);
  return NULL;
}

void engine_stop(engine *e) {
  pthread_mutex_lock(&e->lock);
  e->ending = true;
  pthread_cond_broadcast(&e->work);
  pthread_mutex_unlock(&e->lock);
}

void engine_close(engine *e) {
  engine_stop(e);
  if (e->started) pthread_join(e->thread, NULL);
  for (job *j = e->first, *next; j; j = next) {
    next = j->next;
    let_go(j);
  }
  for (size_t i = 0; i < GRAMMARS_MAX; i++)
    if (e->kept[i].grammar) drop(e, &e->kept[i]);
  tsl_grammar_release(e->free_text);
  ngram_free(e->random);
  llama_close(e->model);
  tsl_vocab_release(e->vocab);
  pthread_cond_destroy(&e->work);
  pthread_mutex_destroy(&e->lock);
  free(e);
}

tsl_vocab *engine_vocab(const engine *e) { return e->vocab; }

const char *engine_model(const engine *e) {
  const char *slash = strrchr(e->settings.model, '/');
  return slash ? slash + 1 : e->settings.model;
}

void engine_count(engine *e, unsigned status) {
  pthread_mutex_lock(&e->lock);
  e->counts.requests++;
  e->counts.refusals += status >= 400 && status < 500;
  e->counts.errors += status >= 500;
  pthread_mutex_unlock(&e->lock);
}

engine_counts engine_get_counts(engine *e) {
  pthread_mutex_lock(&e->lock);
  engine_counts counts = e->counts;
  pthread_mutex_unlock(&e->lock);
  return counts;
}
