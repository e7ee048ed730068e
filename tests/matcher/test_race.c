/* test_race.c - 64 threads on one grammar see what one thread sees.
 *
 * Every thread goes through generations of its own (mask, borrow, validate, accept, fork, roll
 * back). The grammar is shared by all threads, and its tables grow under them. The hash of all
 * masks must be that of the same generations made alone, on a grammar of their own. Some threads
 * compile over the same vocabulary meanwhile, from the moment at which its shared layer is not made
 * yet. Then what threads make once for all, and one file that two of them write. Built with
 * -Db_sanitize=thread (./dev test race) any race ends the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "runtime/vocab/vocab.h"
#include "tests/support/check.h"
#include "tests/support/take.h"

#define THREADS 64
#define GENERATIONS 6
#define STEPS 20

static const char schema[] =
    "{\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
    "\"pattern\":\"^\\\\p{Lu}[a-z]{1,9}$\"},\"n\":{"
    "\"type\":\"integer\",\"minimum\":-5,\"maximum\":5000},"
    "\"kids\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/"
    "t\"},\"maxItems\":3},\"kind\":{\"enum\":[\"a\",\"ab\",\"c\",7,null]}},"
    "\"required\":[\"name\"],\"additionalProperties\":{\"anyOf\":[{\"type\":\"number\"},{\"type\":"
    "\"string\",\"maxLength\":12}]}}},\"$"
    "ref\":\"#/$defs/t\"}";

typedef struct worker {
  tsl_vocab *vocab;
  tsl_grammar *grammar; /* NULL: compile one first */
  uint64_t seed, seen;
  bool failed;
} worker;

static tsl_grammar *compile(tsl_vocab *v) {
  const tsl_schema_options options = {.order = TSL_ORDER_ANY};
  tsl_grammar *g = NULL;
  return tsl_grammar_json_schema(v, schema, sizeof schema - 1, &options, NULL, &g, NULL) == TSL_OK
             ? g
             : NULL;
}

static bool one_generation(tsl_grammar *g, uint64_t *seed, uint64_t *seen) {
  uint32_t width = tsl_vocab_logits_width(tsl_grammar_vocab(g));
  tsl_matcher *m = NULL, *fork = NULL;
  bool fine = tsl_matcher_new(g, NULL, &m) == TSL_OK;
  for (int i = 0; fine && i < STEPS; i++) {
    const uint32_t *mask;
    uint64_t id;
    size_t valid;
    fine = tsl_matcher_mask_borrow(m, &mask, &id) == TSL_OK;
    tsl_token t = fine ? draw(mask, width, seed) : TSL_NO_TOKEN, ids[2] = {t, t};
    if (t == TSL_NO_TOKEN) break;
    *seen = tsl__mix(*seen ^ id);
    fine = tsl_matcher_validate(m, ids, 2, &valid) == TSL_OK && valid >= 1 &&
           tsl_matcher_accept(m, t) == TSL_OK;
    *seen = tsl__mix(*seen ^ valid);
    if (i % 5 == 4) {
      fine =
          fine && tsl_matcher_fork(m, &fork) == TSL_OK && tsl_matcher_rollback(fork, 3) == TSL_OK;
      tsl_matcher_free(fork);
    }
  }
  tsl_matcher_free(m);
  return fine;
}

static void *work(void *arg) {
  worker *w = arg;
  uint64_t seed = w->seed;
  /* at any time: masks stay the same */
  if (!w->grammar) tsl_vocab_set_walk_cache(w->vocab, (size_t)(seed % 10) << 20);
  tsl_grammar *g = w->grammar ? w->grammar : compile(w->vocab);
  for (int i = 0; g && i < GENERATIONS && !w->failed; i++)
    w->failed = !one_generation(g, &seed, &w->seen);
  if (!g) w->failed = true;
  if (!w->grammar) tsl_grammar_release(g);
  return NULL;
}

/* Run all; every eighth worker, or every one where `grammar` is NULL, compiles a grammar of its
 * own. */
static void run(tsl_vocab *v, tsl_grammar *grammar, const uint64_t *want) {
  static worker all[THREADS];
  pthread_t thread[THREADS];
  int started = 0;
  for (; started < THREADS; started++) {
    all[started] = (worker){v, started % 8 ? grammar : NULL, (uint64_t)started + 1, 0, false};
    if (pthread_create(&thread[started], NULL, work, &all[started])) break;
  }
  CHECKF(started == THREADS, "%d threads could be started", started);
  for (int i = 0; i < started; i++) {
    pthread_join(thread[i], NULL);
    CHECK(!all[i].failed);
    CHECKF(all[i].seen == want[i], "thread %d saw other masks than it sees alone", i);
  }
}

static void shared_grammar(void) {
  uint64_t want[THREADS];
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  tsl_grammar *alone = compile(v);
  for (int i = 0; alone && i < THREADS; i++) {
    worker w = {v, alone, (uint64_t)i + 1, 0, false};
    work(&w);
    CHECK(!w.failed);
    want[i] = w.seen;
  }
  tsl_grammar_release(alone);
  for (int round = 0; round < 3; round++) {
    tsl_vocab *cold = NULL; /* its shared layer is made by whoever comes first */
    CHECK(tsl_vocab_embedded(NULL, &cold, NULL) == TSL_OK);
    run(cold, NULL, want);
    tsl_grammar *g = compile(cold);
    CHECK(g != NULL);
    if (g) run(cold, g, want);
    tsl_grammar_release(g);
    tsl_vocab_release(cold);
  }
  tsl_vocab_release(v);
}

/* ---- a name that is made once ---------------------------------------------------------------- */

#define NAMING 4

typedef struct namer {
  tsl_vocab *vocab;
  uint8_t name[16];
} namer;

static void *name_tokens(void *arg) {
  namer *n = arg;
  tsl__vocab_tokens_identity(n->vocab, n->name);
  return NULL;
}

/* Threads that found the tokens without a name, and waited while another gave them one, do not
 * write it anew: who came first reads it. Here what it reads is another one. */
static void named_once(void) {
  static const uint8_t given[16] = "given by another";
  tsl_vocab *v = NULL;
  namer all[NAMING];
  pthread_t thread[NAMING];
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  tsl__mutex_lock(&v->lock);
  for (int i = 0; i < NAMING; i++) {
    all[i] = (namer){.vocab = v};
    CHECK(pthread_create(&thread[i], NULL, name_tokens, &all[i]) == 0);
  }
  nanosleep(&(struct timespec){0, 50000000}, NULL); /* all of them wait */
  memcpy(v->tokens, given, sizeof given);
  atomic_store_explicit(&v->tokens_named, true, memory_order_release);
  tsl__mutex_unlock(&v->lock);
  for (int i = 0; i < NAMING; i++) {
    pthread_join(thread[i], NULL);
    CHECK(!memcmp(all[i].name, given, sizeof given));
  }
  tsl_vocab_release(v);
}

/* ---- one file -------------------------------------------------------------------------------- */

#define WRITES 100

typedef struct writer {
  const tsl_artifact *artifact;
  const char *path;
  int failed;
} writer;

static void *write_file(void *arg) {
  writer *w = arg;
  for (int i = 0; i < WRITES; i++)
    w->failed += tsl_artifact_write(w->artifact, w->path, NULL) != TSL_OK;
  return NULL;
}

/* Two threads write one artifact to one place: neither fails, and who reads sees all of it. */
static void one_file(void) {
  tsl_vocab *v = NULL;
  tsl_artifact *artifact = NULL;
  char path[64];
  snprintf(path, sizeof path, "/tmp/turnstile-race-%ld.tslgrammar", (long)getpid());
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  tsl_grammar *g = compile(v), *loaded;
  CHECK(tsl_artifact_make(g, NULL, NULL, &artifact, NULL) == TSL_OK &&
        tsl_artifact_write(artifact, path, NULL) == TSL_OK);
  writer all[2] = {{artifact, path, 0}, {artifact, path, 0}};
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&thread[i], NULL, write_file, &all[i]) == 0);
  for (int i = 0; i < WRITES; i++) {
    tsl_status status = tsl_grammar_load(v, path, NULL, &loaded, NULL);
    CHECKF(status == TSL_OK, "%s", tsl_status_name(status));
    tsl_grammar_release(loaded);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(thread[i], NULL);
    CHECKF(all[i].failed == 0, "%d of %d writes failed", all[i].failed, WRITES);
  }
  CHECK(!unlink(path));
  tsl_artifact_free(artifact);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

int main(void) {
  RUN(named_once, "a vocabulary's tokens are named once");
  RUN(one_file, "two threads write one artifact to one place");
  RUN(shared_grammar,
      "64 threads: a shared grammar, and grammars over a vocabulary that is still cold");
  return tsl_test_end();
}
