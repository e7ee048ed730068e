/* test_generation.c - tables that are evicted change nothing but the memory.
 *
 *   equal       grammars whose tables are evicted every few tokens, beside the same ones whose
 *               tables never are. Masks, numbers of masks, answers and rejections are equal,
 *               through forks, rollbacks, resets and texts of bytes. Now and then each token is
 *               tried
 *   oracle      the same beside the naive matcher
 *   threads     three threads on one grammar see what each of them sees alone
 *   budget      texts under a budget end in time
 *   rows        a table of masks for a device hands out the right rows
 *   tenants     one tenant's texts, many or long, cost no other a byte or an error
 *   used up     a cache compiles a grammar anew whose expressions texts have made grow
 *   traffic     random texts leave the memory as it is
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#include "runtime/matcher/generation.h"
#include "tests/judges/oracle.h"
#include "tests/support/draw.h"

static tsl_vocab *vocab;

/* ---- grammars -------------------------------------------------------------------------------- */

enum { SCHEMA, GBNF, LARK, TAGS };

static const struct sample {
  int kind;
  bool plain; /* nothing must differ: the oracle knows all */
  const char *text;
} samples[] = {
    {SCHEMA, false, "{}"},
    {SCHEMA, false,
     "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":-7,\"maximum\":"
     "90000},\"name\":{\"type\":\"string\",\"maxLength\":40},\"meta\":{\"type\":\"object\"}}}"},
    {SCHEMA, false,
     "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"anyOf\":[{\"type\":\"integer\"},{"
     "\"type\""
     ":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}]}}"},
    {SCHEMA, false,
     "{\"not\":{\"type\":\"array\",\"uniqueItems\":true},\"type\":\"array\",\"items\":{\"enum\":[1,"
     "2,"
     "\"a\",\"ab\"]}}"},
    {SCHEMA, false,
     "{\"type\":\"object\",\"patternProperties\":{\"^[ab]+$\":{\"type\":\"null\"}},"
     "\"additionalProperties\":false}"},
    {SCHEMA, true,
     "{\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
     "\"pattern\":"
     "\"^\\\\p{Lu}[a-z]{1,9}$\"},\"kids\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/t\"}},"
     "\"kind\":{\"enum\":[\"a\",\"ab\",\"c\",7,null]}},\"required\":[\"name\"],"
     "\"additionalProperties\":false}},\"$ref\":\"#/$defs/t\"}"},
    {SCHEMA, true, "{\"type\":\"number\",\"multipleOf\":0.25,\"minimum\":-100}"},
    {SCHEMA, true,
     "{\"type\":\"string\",\"pattern\":\"^([a-z]{2,20} ?)+[0-9]{0,300}$\",\"maxLength\":200}"},
    {SCHEMA, true,
     "{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"red blue\",\"green\",12,{\"a\":[]}]}}"},
    {GBNF, true, "root ::= s\ns ::= \"a\" s \"b\" | \"a\" s \"c\" | \"\""},
    {GBNF, true, "root ::= e\ne ::= e \"+\" e | \"(\" e \")\" | [0-9]+"},
    {LARK, true,
     "start: item+\nitem: WORD \"=\" value \";\"\nvalue: NUMBER | \"(\" value \")\"\n"
     "WORD: /[a-z]{1,12}/\nNUMBER: /[0-9]+/\n"},
    {TAGS, true,
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\",\"elements\":[{\"type\":"
     "\"tag\","
     "\"begin\":\"<t>\",\"content\":{\"type\":\"any_text\",\"max_tokens\":6},\"end\":\"</t>\"},"
     "{\"type\":\"json_schema\",\"json_schema\":{\"type\":\"object\"}}]}}"},
};
#define SAMPLES (sizeof samples / sizeof *samples)

static tsl_grammar *compile(const struct sample *s, uint64_t text_memory, uint64_t max_memory) {
  const tsl_limits limits = {.text_memory = text_memory, .max_memory = max_memory};
  const tsl_schema_options any = {.order = TSL_ORDER_ANY};
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  size_t n = strlen(s->text);
  tsl_status status =
      s->kind == SCHEMA ? tsl_grammar_json_schema(vocab, s->text, n, &any, &limits, &g, &e)
      : s->kind == GBNF ? tsl_grammar_gbnf(vocab, s->text, n, NULL, &limits, &g, &e)
      : s->kind == LARK ? tsl_grammar_lark(vocab, s->text, n, NULL, &limits, &g, &e)
                        : tsl_grammar_tags(vocab, s->text, n, NULL, &limits, &g, &e);
  CHECKF(status == TSL_OK, "%s: %s", s->text, e.message);
  return g;
}

static uint32_t generations(const tsl_grammar *g) {
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(g, &stats);
  return stats.generations;
}

static uint64_t memory(const tsl_grammar *g) {
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(g, &stats);
  return stats.memory;
}

/* ---- equal ----------------------------------------------------------------------------------- */

#define PAIRS 5
#define STEPS 40
#define NEVER ((uint64_t)1 << 40)

/* Two matchers that read the same: of the grammar that is evicted, and of the other one. */
typedef struct pair {
  tsl_matcher *evicted, *kept;
} pair;

static bool pair_new(pair *p, tsl_grammar *evicted, tsl_grammar *kept) {
  *p = (pair){0};
  bool fine = tsl_matcher_new(evicted, NULL, &p->evicted) == TSL_OK &&
              tsl_matcher_new(kept, NULL, &p->kept) == TSL_OK;
  CHECK(fine);
  return fine;
}

static void pair_free(pair *p) {
  tsl_matcher_free(p->evicted);
  tsl_matcher_free(p->kept);
}

/* What one matcher answers, as a digest. */
static uint64_t answers(tsl_matcher *m, uint64_t seed) {
  uint32_t set[8];
  uint64_t shortest, digest = seed;
  uint8_t forced[16];
  size_t n, valid;
  tsl_token tokens[3];
  for (int i = 0; i < 3; i++)
    tokens[i] = (tsl_token)(tsl_test_random(&seed) % tsl_vocab_size(vocab));
  CHECK(tsl_matcher_next_bytes(m, set) == TSL_OK);
  CHECK(tsl_matcher_shortest_completion(m, &shortest) == TSL_OK);
  CHECK(tsl_matcher_forced_bytes(m, forced, sizeof forced, &n) == TSL_OK);
  CHECK(tsl_matcher_validate(m, tokens, 3, &valid) == TSL_OK);
  digest = tsl__mix(digest ^ tsl__hash(set, sizeof set) ^ shortest ^ tsl__hash(forced, n));
  return tsl__mix(digest ^ valid << 8 ^ tsl_matcher_history(m) << 16 ^
                  (uint64_t)tsl_matcher_is_complete(m));
}

/* The masks of both; a token of them, TSL_NO_TOKEN if they differ or have none. */
static tsl_token compare(pair *p, const char *what, uint64_t *seed) {
  const uint32_t *one, *other;
  uint64_t id, other_id;
  size_t words = tsl_vocab_mask_words(vocab);
  CHECK(tsl_matcher_mask_borrow(p->evicted, &one, &id) == TSL_OK);
  CHECK(tsl_matcher_mask_borrow(p->kept, &other, &other_id) == TSL_OK);
  bool same = id == other_id && !memcmp(one, other, words * sizeof *one);
  CHECKF(same, "%s: masks differ after %zu tokens", what, tsl_matcher_history(p->kept));
  return same ? draw(one, words * 32, seed) : TSL_NO_TOKEN;
}

/* One of the things that a host does with a matcher. */
static bool act(pair *p, pair *other, tsl_token t, uint64_t *seed) {
  size_t n, back = tsl_matcher_history(p->kept);
  const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
  switch (tsl_test_random(seed) % 12) {
  case 0:
    back = back ? tsl_test_random(seed) % (back + 1) : 0;
    CHECK(tsl_matcher_rollback(p->evicted, back) == TSL_OK);
    CHECK(tsl_matcher_rollback(p->kept, back) == TSL_OK);
    return true;
  case 1:
    pair_free(other);
    CHECK(tsl_matcher_fork(p->evicted, &other->evicted) == TSL_OK);
    CHECK(tsl_matcher_fork(p->kept, &other->kept) == TSL_OK);
    return true;
  case 2:
    if (tsl_vocab_is_special(vocab, t)) break;
    CHECK(tsl_matcher_accept_bytes(p->evicted, bytes, n, NULL) ==
          tsl_matcher_accept_bytes(p->kept, bytes, n, NULL));
    return true;
  case 3: t = (tsl_token)(tsl_test_random(seed) % tsl_vocab_size(vocab)); break;
  default: break;
  }
  tsl_status status = tsl_matcher_accept(p->evicted, t);
  CHECK(status == tsl_matcher_accept(p->kept, t));
  return status == TSL_OK || status == TSL_REJECTED;
}

static void walk_equal(const struct sample *s, tsl_grammar *evicted, tsl_grammar *kept,
                       uint64_t seed) {
  pair p[PAIRS];
  bool fine = true;
  for (int i = 0; i < PAIRS; i++) fine = pair_new(&p[i], evicted, kept) && fine;
  for (int i = 0; fine && i < STEPS * PAIRS && !tsl_test_failed; i++) {
    uint64_t asking = tsl_test_random(&seed);
    pair *at = &p[tsl_test_random(&seed) % PAIRS], *other = &p[tsl_test_random(&seed) % PAIRS];
    tsl_token t = compare(at, s->text, &seed);
    CHECKF(answers(at->evicted, asking) == answers(at->kept, asking), "%s", s->text);
    if (i % 100 == 99) {
      uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
      CHECK(mask && tsl_matcher_mask(at->evicted, mask) == TSL_OK &&
            mask_is_right(at->evicted, mask, s->text, "some steps"));
      free(mask);
    }
    if (t == TSL_NO_TOKEN || tsl_matcher_is_terminated(at->kept)) {
      tsl_matcher_reset(at->evicted);
      tsl_matcher_reset(at->kept);
    } else if (at != other) {
      fine = act(at, other, t, &seed);
    }
  }
  CHECK(fine);
  for (int i = 0; i < PAIRS; i++) pair_free(&p[i]);
}

static void test_equal(void) {
  static const uint64_t bounds[] = {1, 6000};
  for (size_t i = 0; i < SAMPLES; i++) {
    tsl_grammar *kept = compile(&samples[i], NEVER, 0);
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds && kept; k++) {
      tsl_grammar *evicted = compile(&samples[i], bounds[k], 0);
      if (evicted) walk_equal(&samples[i], evicted, kept, 7 * i + k + 1);
      if (k == 0) CHECKF(generations(evicted) > 3, "%s: nothing was evicted", samples[i].text);
      tsl_grammar_release(evicted);
    }
    CHECK(generations(kept) == 1);
    tsl_grammar_release(kept);
  }
}

/* A loaded artifact grows its states out of the file, and out of outlines. */
static void test_artifact(void) {
  for (size_t i = 0; i < SAMPLES; i++) {
    tsl_grammar *made = compile(&samples[i], 1, 0), *kept = compile(&samples[i], NEVER, 0);
    tsl_grammar *loaded = NULL;
    const tsl_limits limits = {.text_memory = 1};
    tsl_artifact *artifact = NULL;
    tsl_status status =
        made && kept ? tsl_artifact_make(made, NULL, NULL, &artifact, NULL) : TSL_ERR_STATE;
    if (status == TSL_OK) {
      size_t size;
      const void *data = tsl_artifact_data(artifact, &size);
      CHECK(tsl_grammar_load_memory(vocab, data, size, &limits, &loaded, NULL) == TSL_OK);
      tsl_artifact_free(artifact);
      walk_equal(&samples[i], loaded, kept, 99 + i);
      CHECKF(generations(loaded) > 3, "%s: nothing was evicted", samples[i].text);
    }
    tsl_grammar_release(loaded);
    tsl_grammar_release(kept);
    tsl_grammar_release(made);
  }
}

/* ---- oracle ---------------------------------------------------------------------------------- */

static void walk_oracle(const struct sample *s, tsl_grammar *g, tsl_grammar *naive, uint64_t seed) {
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask), *expected = malloc(words * sizeof *mask);
  tsl_matcher *m = NULL;
  oracle o;
  CHECK(mask && expected && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  tsl__space_begin(naive->space);
  oracle_begin(&o, naive->space, naive->start);
  for (int i = 0; m && i < 25 && !tsl_matcher_is_terminated(m); i++) {
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    tsl__space_begin(naive->space);
    oracle_mask(&o, expected);
    if (o.overflow) break;
    bool same = !memcmp(mask, expected, words * sizeof *mask);
    CHECKF(same, "%s, step %d", s->text, i);
    tsl_token t = same ? draw(mask, words * 32, &seed) : TSL_NO_TOKEN;
    if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(vocab, t)) break;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK && oracle_token(&o, t));
  }
  oracle_free(&o);
  tsl_matcher_free(m);
  free(mask);
  free(expected);
}

static void test_oracle(void) {
  for (size_t i = 0; i < SAMPLES; i++) {
    if (!samples[i].plain || samples[i].kind == TAGS) continue; /* quotas are the matcher's */
    tsl_grammar *g = compile(&samples[i], 1, 0), *naive = compile(&samples[i], NEVER, 0);
    for (uint64_t seed = 1; seed < 4 && g && naive; seed++)
      walk_oracle(&samples[i], g, naive, seed * 31 + i);
    tsl_grammar_release(g);
    tsl_grammar_release(naive);
  }
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREADS 3
#define TEXTS 12

typedef struct worker {
  tsl_grammar *g;
  uint64_t seed, seen;
  bool fine;
} worker;

static void *work(void *arg) {
  worker *w = arg;
  uint64_t seed = w->seed;
  w->fine = true;
  for (int text = 0; text < TEXTS && w->fine; text++) {
    tsl_matcher *m = NULL, *fork = NULL;
    w->fine = tsl_matcher_new(w->g, NULL, &m) == TSL_OK;
    for (int i = 0; i < 30 && w->fine; i++) {
      const uint32_t *mask;
      uint64_t id;
      w->fine = tsl_matcher_mask_borrow(m, &mask, &id) == TSL_OK;
      tsl_token t = w->fine ? draw(mask, tsl_vocab_mask_words(vocab) * 32, &seed) : TSL_NO_TOKEN;
      if (t == TSL_NO_TOKEN) break;
      w->seen = tsl__mix(w->seen ^ id);
      w->fine = tsl_matcher_accept(m, t) == TSL_OK;
      if (i % 7 != 6 || !w->fine) continue;
      w->fine = tsl_matcher_fork(m, &fork) == TSL_OK && tsl_matcher_rollback(m, 2) == TSL_OK;
      tsl_matcher_free(fork);
    }
    tsl_matcher_free(m);
  }
  return NULL;
}

static void test_threads(void) {
  for (size_t i = 0; i < 6; i++) {
    tsl_grammar *g = compile(&samples[i], 4000, 0), *alone = compile(&samples[i], NEVER, 0);
    worker together[THREADS] = {0}, single[THREADS] = {0};
    pthread_t thread[THREADS];
    for (unsigned k = 0; k < THREADS; k++) {
      together[k] = (worker){.g = g, .seed = 1 + k + 10 * i};
      single[k] = (worker){.g = alone, .seed = 1 + k + 10 * i};
      work(&single[k]);
      CHECK(!pthread_create(&thread[k], NULL, work, &together[k]));
    }
    for (unsigned k = 0; k < THREADS; k++) {
      pthread_join(thread[k], NULL);
      CHECKF(together[k].fine && single[k].fine && together[k].seen == single[k].seen, "%s",
             samples[i].text);
    }
    CHECK(generations(g) > 3);
    tsl_grammar_release(g);
    tsl_grammar_release(alone);
  }
}

/* ---- budgets and rows ------------------------------------------------------------------------ */

static void test_budget(void) {
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  for (uint64_t seed = 1; seed < 1 + ROUNDS_OF(59u); seed++) {
    const struct sample *s = &samples[seed % 2];
    tsl_grammar *g = compile(s, 1 + seed % 3 * 2000, 0);
    tsl_budget *b = NULL;
    tsl_matcher *m = NULL;
    uint64_t left = 40, draws = seed;
    CHECK(tsl_budget_new(g, NULL, &b) == TSL_OK && tsl_matcher_new(g, NULL, &m) == TSL_OK);
    CHECK(tsl_budget_start(b, m, left, NULL) == TSL_OK);
    while (left && !tsl_matcher_is_terminated(m)) {
      CHECK(tsl_budget_mask(b, m, left--, mask) == TSL_OK);
      tsl_token t = draw(mask, words * 32, &draws);
      CHECKF(t != TSL_NO_TOKEN, "%s: no token with %d left", s->text, (int)left);
      if (t == TSL_NO_TOKEN) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    }
    CHECK(tsl_matcher_is_complete(m) || tsl_matcher_is_terminated(m));
    tsl_matcher_free(m);
    tsl_budget_free(b);
    tsl_grammar_release(g);
  }
  free(mask);
}

/* The numbers of masks stay the same, and what a row holds is the mask. */
static void test_rows(void) {
  enum { ROWS = 16 };
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *device = calloc(ROWS * words, sizeof *device), *mask = malloc(words * sizeof *mask);
  tsl_mask_table *t = NULL;
  tsl_grammar *g = compile(&samples[1], 1, 0);
  uint64_t seed = 5;
  CHECK(device && mask && tsl_mask_table_new(vocab, ROWS, NULL, &t) == TSL_OK);
  for (int text = 0; text < 20; text++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (int i = 0; i < 30; i++) {
      uint32_t row;
      const uint32_t *fresh;
      tsl_mask_table_step(t);
      CHECK(tsl_mask_table_row(t, m, &row, &fresh) == TSL_OK && row < ROWS);
      if (fresh) memcpy(device + row * words, fresh, words * sizeof *fresh);
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      CHECK(!memcmp(device + row * words, mask, words * sizeof *mask));
      tsl_token next = draw(mask, words * 32, &seed);
      if (next == TSL_NO_TOKEN || tsl_matcher_accept(m, next) != TSL_OK) break;
    }
    tsl_matcher_free(m);
  }
  tsl_mask_table_stats stats;
  tsl_mask_table_get_stats(t, &stats);
  CHECK(stats.hits > 20 && generations(g) > 20);
  tsl_mask_table_free(t);
  tsl_grammar_release(g);
  free(device);
  free(mask);
}

/* ---- tenants --------------------------------------------------------------------------------- */

#define MEMBERS 400

/* A text of members with names that no text had before. */
static tsl_status write_members(tsl_matcher *m, unsigned long text, int members) {
  char b[64];
  tsl_status status = tsl_matcher_accept_bytes(m, "{", 1, NULL);
  for (int i = 0; i < members && status == TSL_OK; i++) {
    int n = snprintf(b, sizeof b, "%s\"%lx_%x\":1", i ? "," : "", text, (unsigned)i);
    for (int j = 0; j < n && status == TSL_OK; j += 3)
      status = tsl_matcher_accept_bytes(m, b + j, (size_t)(n - j < 3 ? n - j : 3), NULL);
  }
  return status;
}

static bool follows(tsl_matcher *m, const char *text) {
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
  bool fine = mask != NULL;
  for (; fine && *text; text++)
    fine =
        tsl_matcher_accept_bytes(m, text, 1, NULL) == TSL_OK && tsl_matcher_mask(m, mask) == TSL_OK;
  free(mask);
  return fine;
}

/* Many texts of one tenant through a cache; then the others, who are in flight or begin. */
static void test_tenants(void) {
  static const char schema[] =
      "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
  const tsl_limits limits = {.max_memory = 4 << 20, .text_memory = 256 << 10};
  const tsl_source source = {.text = schema, .length = sizeof schema - 1, .limits = &limits};
  tsl_cache *cache = NULL;
  tsl_grammar *g = NULL, *again = NULL;
  tsl_matcher *in_flight = NULL, *m = NULL;
  uint64_t most = 0;
  CHECK(tsl_cache_new((uint64_t)1 << 30, NULL, &cache) == TSL_OK);
  CHECK(tsl_cache_get(cache, vocab, &source, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &in_flight) == TSL_OK && follows(in_flight, "{\"n\":4"));
  for (unsigned long text = 0; text < 150; text++) {
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    CHECK(write_members(m, text, MEMBERS) == TSL_OK);
    tsl_matcher_free(m);
    if (memory(g) > most) most = memory(g);
    if (text % 50 == 49) CHECK(tsl_matcher_accept_bytes(in_flight, "2", 1, NULL) == TSL_OK);
  }
  CHECKF(most < 3 << 20, "%" PRIu64 " bytes", most);
  CHECK(follows(in_flight, ",\"more\":7}") && tsl_matcher_is_complete(in_flight));
  CHECK(tsl_cache_get(cache, vocab, &source, &again, NULL) == TSL_OK && again == g);
  CHECK(tsl_matcher_new(again, NULL, &m) == TSL_OK && follows(m, "{\"n\":42}"));
  tsl_matcher_free(m);
  tsl_matcher_free(in_flight);
  tsl_grammar_release(again);
  tsl_grammar_release(g);
  tsl_cache_free(cache);
}

/* ---- items that must differ ------------------------------------------------------------------ */

/* An item that no text had before: a number, a string or an object. */
static void new_item(int kind, unsigned number, char out[40]) {
  static const char *const forms[] = {"%u", "\"%u\"", "{\"a\":%u}"};
  snprintf(out, 40, forms[kind], number);
}

/* Values that were used are spelled in the tables of the texts, and go with these. A text under way
 * whose item may still repeat one knows that in the next tables, too. */
static void test_items(void) {
  static const char schema[] = "{\"type\":\"array\",\"uniqueItems\":true}";
  static const char *const begun[] = {"[10, 20,1", "[\"ab\",[], \"a",
                                      "[{\"a\":[1],\"b\":2},{ \"b\""},
                           *const same[] = {".00e1", "\\u0062\"", ":2,\"a\":[1.0]}"},
                           *const other[] = {".01e1]", "bc\"]", ":3,\"a\":[1]}]"};
  const tsl_limits limits = {.max_memory = 16 << 20, .text_memory = 64 << 10};
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = calloc(2 * words, sizeof *mask);
  for (int kind = 0; kind < 3 && mask; kind++) {
    if (!tsl_test_turn((uint64_t)kind, TURN_OF(1, 3))) continue;
    tsl_grammar *g = NULL, *fresh = NULL;
    tsl_matcher *in_flight = NULL, *m = NULL;
    uint64_t most = 0;
    CHECK(tsl_grammar_json_schema(vocab, schema, sizeof schema - 1, NULL, &limits, &g, NULL) ==
          TSL_OK);
    CHECK(tsl_matcher_new(g, NULL, &in_flight) == TSL_OK && follows(in_flight, begun[kind]));
    for (unsigned text = 0; text < 200; text++) {
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && follows(m, "["));
      for (unsigned i = 0; i < 8; i++) {
        char item[40];
        new_item(kind, 1000 + 8 * text + i, item);
        CHECK((!i || follows(m, ",")) && follows(m, item));
      }
      CHECK(follows(m, "]") && tsl_matcher_is_complete(m));
      tsl_matcher_free(m);
      if (memory(g) > most) most = memory(g);
    }
    CHECKF(most < 4 << 20, "kind %d: %" PRIu64 " bytes", kind, most);
    tsl_grammar_stats stats = {0};
    tsl_grammar_get_stats(g, &stats);
    CHECKF(stats.generations > 2, "kind %d: %u generations", kind, (unsigned)stats.generations);
    CHECK(tsl_grammar_json_schema(vocab, schema, sizeof schema - 1, NULL, NULL, &fresh, NULL) ==
              TSL_OK &&
          tsl_matcher_new(fresh, NULL, &m) == TSL_OK && follows(m, begun[kind]));
    CHECK(tsl_matcher_mask(in_flight, mask) == TSL_OK &&
          tsl_matcher_mask(m, mask + words) == TSL_OK &&
          !memcmp(mask, mask + words, words * sizeof *mask));
    tsl_matcher_free(m);
    CHECK(tsl_matcher_fork(in_flight, &m) == TSL_OK && follows(m, other[kind]) &&
          tsl_matcher_is_complete(m));
    CHECK(follows(in_flight, same[kind]) == false || follows(in_flight, "]") == false);
    tsl_matcher_free(m);
    tsl_matcher_free(in_flight);
    tsl_grammar_release(fresh);
    tsl_grammar_release(g);
  }
  free(mask);
}

/* A pattern with a great many states becomes expressions, which are not evicted: a cache compiles
 * anew. */
static void test_used_up(void) {
#define AB4 "[ab][ab][ab][ab]"
  static const char schema[] =
      "{\"type\":\"string\",\"pattern\":\"^(a|b)*a" AB4 AB4 AB4 AB4 "c$\"}";
  const tsl_limits limits = {.max_memory = 16 << 20, .text_memory = 32 << 10};
  const tsl_source source = {.text = schema, .length = sizeof schema - 1, .limits = &limits};
  tsl_cache *cache = NULL;
  tsl_grammar *first = NULL, *g = NULL;
  uint64_t random = 1;
  int text = 0;
  CHECK(tsl_cache_new((uint64_t)1 << 30, NULL, &cache) == TSL_OK);
  CHECK(tsl_cache_get(cache, vocab, &source, &first, NULL) == TSL_OK);
  for (g = first, tsl_grammar_retain(g); g == first && text < 2000; text++) {
    tsl_matcher *m = NULL;
    char b[40];
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && follows(m, "\""));
    for (int i = 0; i < 39; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      b[i] = (char)('a' + (random >> 63));
    }
    b[39] = 0;
    CHECK(follows(m, b));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
    CHECK(tsl_cache_get(cache, vocab, &source, &g, NULL) == TSL_OK);
  }
  CHECKF(g != first && memory(first) < 8 << 20, "%d texts, %" PRIu64 " bytes", text, memory(first));
  tsl_cache_stats stats;
  tsl_cache_get_stats(cache, &stats);
  CHECK(stats.misses == 2 && stats.evictions == 1 && stats.entries == 1);
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && follows(m, "\"ab"));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_grammar_release(first);
  tsl_cache_free(cache);
}

/* One text that takes more than its limit: it fails, and nobody else does, nor is slowed down by
 * moves for ever. */
static void test_long_text(void) {
  const struct sample s = {SCHEMA, false, "{\"type\":\"object\"}"};
  tsl_grammar *g = compile(&s, 128 << 10, 8 << 20);
  tsl_matcher *big = NULL, *small = NULL, *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &small) == TSL_OK && follows(small, "{\"a\":"));
  CHECK(tsl_matcher_new(g, NULL, &big) == TSL_OK);
  tsl_status status = write_members(big, 1, 100000);
  CHECKF(status == TSL_ERR_LIMIT, "%s", tsl_status_name(status));
  CHECK(tsl_matcher_history(big) == TSL_MAX_ROLLBACK);
  CHECK(follows(small, "[1,2,{}]}") && tsl_matcher_is_complete(small));
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && follows(m, "{\"b\":\"c\"}"));
  CHECKF(generations(g) < 400, "%u generations", generations(g));
  CHECK(tsl_matcher_rollback(big, 100) == TSL_OK);
  tsl_matcher_free(big);
  CHECKF(memory(g) < 2 << 20, "%" PRIu64 " bytes", memory(g));
  tsl_matcher_reset(m);
  CHECK(follows(m, "{}"));
  tsl_matcher_free(m);
  tsl_matcher_free(small);
  tsl_grammar_release(g);
}

static void test_traffic(void) {
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  tsl_grammar *g = compile(&samples[1], 64 << 10, 0);
  uint64_t seed = 3, most = 0;
  for (int text = 0; text < 600; text++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (int i = 0; i < 40; i++) {
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      tsl_token t = draw(mask, words * 32, &seed);
      if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    }
    tsl_matcher_free(m);
    if (memory(g) > most) most = memory(g);
  }
  CHECKF(most < 1 << 20 && generations(g) > 5, "%" PRIu64 " bytes, %u generations", most,
         generations(g));
  tsl_grammar_release(g);
  free(mask);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(test_equal, "masks before and after an eviction are equal");
  RUN(test_artifact, "and of loaded artifacts");
  RUN(test_oracle, "and those of the naive matcher");
  RUN(test_threads, "three threads see what one sees");
  RUN(test_budget, "texts under a budget end");
  RUN(test_rows, "rows of a device hold their masks");
  RUN(test_tenants, "a tenant's many texts");
  RUN(test_items, "items that must differ: spelled in the tables of texts, and carried");
  RUN(test_used_up, "a cache hands out no grammar that is used up");
  RUN(test_long_text, "a tenant's long text");
  RUN(test_traffic, "random texts leave memory flat");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
