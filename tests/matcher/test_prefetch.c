/* test_prefetch.c - masks made ahead are the masks that come anyway, and they are there.
 *
 *   equal     a matcher that prefetches at each step, beside one of another grammar that never does
 *   ready     what is made: the own mask, likely tokens, positions behind bytes
 *   bounds    no time, the end of a text, full tables, ids that are no tokens
 *   failures  requests of memory fail, the first ones each
 *   threads   a fork prefetches in another thread while its matcher goes on
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#include "runtime/matcher/generation.h"
#include "tests/support/faulty.h"
#include "tests/support/take.h"
#include "tests/support/toy.h"

#define LONG_US 100000000u /* no test takes so long */

static const char *const texts[] = {
    "{\"", "\":",  "\",\"", "na",  "name", "nation", "n", "a", "b", "12", "1", "\"", "}",
    "[",   "]",    ",",     "tru", "true", "e",      "t", "r", "u", ":",  "{", " ",  "it",
    "te",  "nati", "on",    "me",  "-",    ".5",     "m", "i", "o", "\\", "n", "e+", "<end>"};
#define TOKENS ((uint32_t)(sizeof texts / sizeof *texts))
#define END (TOKENS - 1)
#define WORDS ((TOKENS + 31) / 32)

static const char members[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":6},"
    "\"nation\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"uniqueItems\":true},"
    "\"i\":{\"type\":\"boolean\"}},\"required\":[\"name\"],\"additionalProperties\":false}";
static const char counted[] = "root ::= (\"a\" | \"b\" root \"e\" | [0-9]{1,9} \".\")+";

static tsl_token token_of(const char *text) {
  for (tsl_token t = 0; t < TOKENS; t++)
    if (!strcmp(texts[t], text)) return t;
  return TSL_NO_TOKEN;
}

static void go(tsl_matcher *m, const char *text) {
  CHECKF(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK, "%s", text);
}

static void walk_both(tsl_matcher *m, tsl_matcher *other, uint64_t *seed) {
  tsl_matcher_reset(m);
  tsl_matcher_reset(other);
  for (int i = 0; i < 40; i++) {
    uint32_t mask[WORDS], without[WORDS];
    tsl_token likely[2] = {(tsl_token)(tsl_test_random(seed) % TOKENS), END};
    CHECK(tsl_matcher_prefetch(m, likely, 2, tsl_test_random(seed) % 300, NULL) == TSL_OK);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_matcher_mask(other, without) == TSL_OK);
    CHECK(!memcmp(mask, without, sizeof mask));
    tsl_token t = draw(mask, WORDS, seed);
    if (t == END || t == TSL_NO_TOKEN) return;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK && tsl_matcher_accept(other, t) == TSL_OK);
  }
}

static void check_equal(void) {
  uint64_t seed = 11;
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  for (int k = 0; k < 2; k++) {
    tsl_grammar *g = k ? toy_gbnf(v, counted) : toy_schema(v, members),
                *h = k ? toy_gbnf(v, counted) : toy_schema(v, members);
    tsl_matcher *m = NULL, *other = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(h, NULL, &other) == TSL_OK);
    for (int i = 0; i < 60; i++) walk_both(m, other, &seed);
    tsl_matcher_free(m);
    tsl_matcher_free(other);
    tsl_grammar_release(g);
    tsl_grammar_release(h);
  }
  tsl_vocab_release(v);
}

/* Is the mask there after a text? */
static bool is_ready(tsl_matcher *m, const char *text) {
  tsl_matcher *fork = NULL;
  CHECK(tsl_matcher_fork(m, &fork) == TSL_OK);
  go(fork, text);
  bool ready = tsl_matcher_is_ready(fork);
  tsl_matcher_free(fork);
  return ready;
}

static void check_ready(void) {
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  tsl_grammar *g = toy_schema(v, members), *h = toy_schema(v, members);
  tsl_matcher *m = NULL, *other = NULL;
  uint32_t made, again, mask[WORDS];
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(h, NULL, &other) == TSL_OK);
  go(m, "{\"");
  CHECK(!tsl_matcher_is_ready(m) && !is_ready(m, "na") && !is_ready(m, "name\":"));
  CHECK(tsl_matcher_prefetch(m, NULL, 0, LONG_US, &made) == TSL_OK && made > 5 && made <= 17);
  CHECK(tsl_matcher_is_ready(m) && is_ready(m, "na") && is_ready(m, "name"));
  CHECK(tsl_matcher_history(m) == 1);
  CHECK(tsl_matcher_prefetch(m, NULL, 0, LONG_US, &again) == TSL_OK && again < made);
  /* a mask makes a position ready as well */
  go(other, "{\"");
  CHECK(!tsl_matcher_is_ready(other) && tsl_matcher_mask(other, mask) == TSL_OK &&
        tsl_matcher_is_ready(other));
  tsl_matcher_free(m);
  tsl_matcher_free(other);
  tsl_grammar_release(g);
  tsl_grammar_release(h);
  tsl_vocab_release(v);
}

/* Positions behind likely tokens come first; ids that are no tokens are passed over. */
static void check_likely(void) {
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"b\" [^\"]{600} \"e\" | \"nation\" (\"12\" | \"me\")");
  tsl_matcher *m = NULL;
  tsl_token likely[3] = {token_of("12"), token_of("nation"), TOKENS + 7};
  uint32_t made;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && !is_ready(m, "nation"));
  CHECK(tsl_matcher_prefetch(m, likely, 3, 0, &made) == TSL_OK && made <= 1);
  CHECK(!is_ready(m, "nation"));
  CHECK(tsl_matcher_prefetch(m, likely, 3, LONG_US, &made) == TSL_OK && made > 2);
  CHECK(is_ready(m, "nation") && is_ready(m, "nation12"));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

static void check_bounds(void) {
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"a\" [0-9]{5000} | \"b\"");
  tsl_matcher *m = NULL;
  uint32_t made = 7;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(tsl_matcher_prefetch(m, NULL, 0, LONG_US, &made) == TSL_OK && made == 17);
  /* the end */
  CHECK(tsl_matcher_accept(m, token_of("b")) == TSL_OK && tsl_matcher_accept(m, END) == TSL_OK);
  CHECK(tsl_matcher_is_ready(m) && tsl_matcher_prefetch(m, NULL, 0, LONG_US, &made) == TSL_OK &&
        made == 0);
  /* tables that texts are to fill no further: the own mask alone */
  tsl_matcher_reset(m);
  go(m, "a");
  for (int i = 0; i < 40; i++) go(m, "1");
  atomic_store(&m->grammar->tables->closed, true);
  CHECK(!tsl_matcher_is_ready(m) && tsl_matcher_prefetch(m, NULL, 0, LONG_US, &made) == TSL_OK &&
        made == 1 && tsl_matcher_is_ready(m));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* Some request of memory fails: there is no memory for the prefetch, or its masks are the same
 * as ever. */
static void check_failures(void) {
  faulty f;
  faulty_begin(&f);
  tsl_vocab *v = NULL;
  tsl_error error;
  CHECK(faulty_vocab(texts, TOKENS, 1, 0, &f.hook, &v, &error) == TSL_OK);
  tsl_grammar_release(toy_schema(v, members)); /* the vocabulary's own part is made */
  for (unsigned long n = 0;; n += 1 + n / 16) {
    tsl_grammar *g = toy_schema(v, members);
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    go(m, "{\"");
    faulty_arm(&f, n, n % 2);
    tsl_status status = tsl_matcher_prefetch(m, NULL, 0, LONG_US, NULL);
    bool failed = f.failed;
    faulty_disarm(&f);
    CHECK(status == TSL_OK || (failed && status == TSL_ERR_NO_MEMORY));
    CHECK(tsl_matcher_prefetch(m, NULL, 0, LONG_US, NULL) == TSL_OK && is_ready(m, "name\":\"a"));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
    if (!failed) break;
  }
  tsl_vocab_release(v);
  CHECK(f.blocks == 0 && !f.wrong_size);
}

typedef struct job {
  tsl_matcher *m;
  uint32_t made;
} job;

static void *prefetch(void *arg) {
  job *j = arg;
  CHECK(tsl_matcher_prefetch(j->m, NULL, 0, LONG_US, &j->made) == TSL_OK);
  return NULL;
}

static void check_threads(void) {
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  uint64_t seed = 5;
  for (int round = 0; round < 20; round++) {
    tsl_grammar *g = toy_schema(v, members), *h = toy_schema(v, members);
    tsl_matcher *m = NULL, *other = NULL;
    job j = {0};
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(h, NULL, &other) == TSL_OK);
    CHECK(tsl_matcher_fork(m, &j.m) == TSL_OK);
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, prefetch, &j));
    for (int i = 0; i < 30; i++) {
      uint32_t mask[WORDS], without[WORDS];
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_matcher_mask(other, without) == TSL_OK);
      CHECK(!memcmp(mask, without, sizeof mask));
      tsl_token t = draw(mask, WORDS, &seed);
      if (t == END || t == TSL_NO_TOKEN) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK && tsl_matcher_accept(other, t) == TSL_OK);
    }
    CHECK(!pthread_join(thread, NULL));
    tsl_matcher_free(j.m);
    tsl_matcher_free(m);
    tsl_matcher_free(other);
    tsl_grammar_release(g);
    tsl_grammar_release(h);
  }
  tsl_vocab_release(v);
}

int main(void) {
  RUN(check_equal, "masks with and without");
  RUN(check_ready, "what is made");
  RUN(check_likely, "tokens that the caller thinks likely");
  RUN(check_bounds, "where it ends");
  RUN(check_failures, "requests of memory that fail");
  RUN(check_threads, "a fork in another thread");
  return tsl_test_end();
}
