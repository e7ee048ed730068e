/* test_shared_walks.c - what grammars of a vocabulary learn from one another
 * (runtime/walk/shared_walks.h): masks are those of a grammar that learned nothing.
 *
 *   same       random schemas, made of few parts so that they share many: two vocabularies, one
 *              without a walk cache, give the same masks
 *   close      schemas that differ in one bound, letter or order of parts don't take each other's
 *              walks
 *   far        those that differ in a bound past the reach of any token do
 *   saves      the second grammar with the same costly part visits fewer nodes
 *   rows       masks that many grammars have are lent from one place, and are the same, also where
 *              a grammar has none of it
 *   bases      bitsets of the vocabulary's that masks of many grammars have together are one bitset
 *              in all of them
 *   properties what PCRE2 said about Unicode (compiler/expr/unicode_cache.c)
 *   bound      a cache far too small: never more than it may hold, and the same masks
 *   threads    grammars made and followed by several threads at once (under TSan too)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#include "runtime/walk/shared_walks.h"
#include "runtime/matcher/grammar.h"
#include "tests/support/check.h"
#include "tests/support/draw.h"
#include "tests/support/text.h"
#include "turnstile.h"

#define STEPS 24

static tsl_vocab *with, *without;
static size_t words;

/* ---- schemas of parts ------------------------------------------------------------------------ */

static const char *pick(uint64_t *seed, const char *const *parts, size_t n) {
  return parts[tsl_test_random(seed) % n];
}
#define PICK(seed, parts) pick(seed, parts, sizeof parts / sizeof *parts)

static void add_scalar(struct text *t, uint64_t *seed) {
  static const char *const scalars[] = {"{\"type\":\"string\"}",
                                        "{\"type\":\"integer\"}",
                                        "{\"type\":\"number\",\"minimum\":-2.5}",
                                        "{\"type\":\"integer\",\"maximum\":99}",
                                        "true",
                                        "{\"enum\":[\"red\",\"green\",\"blue\"]}",
                                        "{\"enum\":[\"blue\",\"red\",\"green\"]}",
                                        "{\"enum\":[\"red\",\"green\"]}",
                                        "{\"enum\":[1,null,\"x\",true]}",
                                        "{\"format\":\"date-time\"}",
                                        "{\"type\":\"string\",\"format\":\"date\"}",
                                        "{\"type\":\"string\",\"format\":\"ipv4\"}",
                                        "{\"type\":\"string\",\"format\":\"uuid\"}",
                                        "{\"type\":\"string\",\"format\":\"hostname\"}",
                                        "{\"type\":\"string\",\"format\":\"email\"}",
                                        "{\"type\":\"string\",\"minLength\":1}",
                                        "{\"type\":\"string\",\"maxLength\":40}",
                                        "{\"type\":\"string\",\"maxLength\":5}",
                                        "{\"type\":\"string\",\"minLength\":2,\"maxLength\":9}"};
  static const char *const patterns[] = {"^[a-z]+$",
                                         "^[a-z]{2,}$",
                                         "^[a-z]{2,12}$",
                                         "^[a-z]{2,13}$",
                                         "[0-9]",
                                         "^(ab|cd)*$",
                                         "^(cd|ab)*$",
                                         "^(ab|ce)*$",
                                         "^\\\\d{4}-\\\\d{2}$",
                                         "^a?b*c+$",
                                         "^\\\\S+( \\\\S+)*$",
                                         "^[^x]*$",
                                         "^\\\\p{Lu}\\\\p{Ll}*$"};
  if (tsl_test_random(seed) % 2) {
    text_add(t, PICK(seed, scalars));
    return;
  }
  text_add(t, "{\"type\":\"string\",\"pattern\":\"");
  text_add(t, PICK(seed, patterns));
  text_add(t, tsl_test_random(seed) % 3 ? "\"}" : "\",\"maxLength\":17}");
}

static void add_value(struct text *t, uint64_t *seed, unsigned depth) {
  static const char *const names[] = {"id", "name", "kind", "tags", "when", "na\\u006de2"};
  uint64_t kind = depth ? tsl_test_random(seed) % 6 : 0;
  if (kind == 1) {
    text_add(t, "{\"type\":\"array\",\"items\":");
    add_value(t, seed, depth - 1);
    text_add(t, tsl_test_random(seed) % 2 ? "}" : ",\"minItems\":1,\"maxItems\":3}");
  } else if (kind == 2) {
    text_add(t, "{\"anyOf\":[");
    add_value(t, seed, depth - 1);
    text_add(t, ",");
    add_value(t, seed, depth - 1);
    text_add(t, "]}");
  } else if (kind >= 3) {
    text_add(t, "{\"type\":\"object\",\"properties\":{");
    uint64_t used = tsl_test_random(seed);
    bool some = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      if (!(used >> i & 1)) continue;
      if (some) text_add(t, ",");
      some = true;
      text_add(t, "\"");
      text_add(t, names[i]);
      text_add(t, "\":");
      add_value(t, seed, depth - 1);
    }
    static const char *const ends[] = {
        "}}",
        "},\"additionalProperties\":false}",
        "},\"additionalProperties\":{\"type\":\"integer\"}}",
        "},\"required\":[\"id\"]}",
        "},\"required\":[\"name\",\"kind\"],\"additionalProperties\":false}",
        "},\"minProperties\":1}",
        "},\"maxProperties\":2}",
        "},\"patternProperties\":{\"^x-\":{\"type\":\"string\"}},\"additionalProperties\":false}"};
    text_add(t, PICK(seed, ends));
  } else {
    add_scalar(t, seed);
  }
}

static void any_schema(struct text *t, uint64_t seed) {
  t->n = 0;
  add_value(t, &seed, 3);
}

/* ---- following two grammars ------------------------------------------------------------------ */

static tsl_schema_options options; /* of all grammars */

static tsl_grammar *compile(tsl_vocab *v, const char *schema) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      tsl_grammar_json_schema(v, schema, strlen(schema), &options, NULL, &g, &error);
  CHECKF(status == TSL_OK || status == TSL_ERR_EMPTY, "%s: %s", schema, error.message);
  return g;
}

/* Masks of both along random texts; false if some differ. */
static bool follow(tsl_grammar *a, tsl_grammar *b, uint64_t seed) {
  tsl_matcher *ma = NULL, *mb = NULL;
  uint32_t *mask = malloc(2 * words * sizeof *mask), *other = mask + words;
  bool same =
      mask && tsl_matcher_new(a, NULL, &ma) == TSL_OK && tsl_matcher_new(b, NULL, &mb) == TSL_OK;
  for (int step = 0; same && step < STEPS; step++) {
    same = tsl_matcher_mask(ma, mask) == TSL_OK && tsl_matcher_mask(mb, other) == TSL_OK &&
           !memcmp(mask, other, words * sizeof *mask);
    tsl_token t = same ? draw(mask, words * 32, &seed) : TSL_NO_TOKEN;
    if (t == TSL_NO_TOKEN) break;
    same = tsl_matcher_accept(ma, t) == TSL_OK && tsl_matcher_accept(mb, t) == TSL_OK;
    if (tsl_matcher_is_terminated(ma)) break;
  }
  tsl_matcher_free(ma);
  tsl_matcher_free(mb);
  free(mask);
  return same;
}

/* The same schema with and without a walk cache. */
static bool agree(const char *schema, uint64_t seed) {
  tsl_grammar *a = compile(with, schema), *b = compile(without, schema);
  bool same = !a == !b;
  for (int i = 0; a && b && same && i < 3; i++) same = follow(a, b, seed + (uint64_t)i);
  tsl_grammar_release(a);
  tsl_grammar_release(b);
  return same;
}

static void same(void) {
  static struct text t;
  for (uint64_t i = 0; i < 600; i++) {
    any_schema(&t, i * 7919 + 1);
    CHECKF(agree(t.at, i), "%s", t.at);
  }
}

/* What a bitset's number means differs between grammars of plain texts and those of any. */
static void spelled(void) {
  static const char *const schemas[] = {
      "{\"type\":\"string\"}", "{\"enum\":[[100,1e-3]]}",
      "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"number\"],\"maxLength\":9}}",
      "{\"type\":\"object\",\"properties\":{\"one\":{\"type\":\"string\",\"maxLength\":20}},"
      "\"additionalProperties\":{\"type\":\"integer\"}}"};
  static struct text t;
  for (uint64_t i = 0; i < 400; i++) {
    options = i % 2 ? (tsl_schema_options){.generous = true} : (tsl_schema_options){0};
    any_schema(&t, i / 2 * 7919 + 1);
    CHECKF(agree(t.at, i), "%s", t.at);
    const char *schema = schemas[i / 2 % (sizeof schemas / sizeof *schemas)];
    CHECKF(agree(schema, i), "%s", schema);
  }
  options = (tsl_schema_options){0};
}

static void close(void) {
  static const char *const schemas[] = {
      "{\"type\":\"string\",\"pattern\":\"^[a-f0-9]{8}-x$\"}",
      "{\"type\":\"string\",\"pattern\":\"^[a-f0-9]{9}-x$\"}",
      "{\"type\":\"string\",\"pattern\":\"^[a-g0-9]{8}-x$\"}",
      "{\"type\":\"string\",\"pattern\":\"^[a-f0-9]{8}-y$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([a-f0-9]{8}|-)x$\"}",
      "{\"type\":\"string\",\"pattern\":\"^(a|b)(c|d)$\"}",
      "{\"type\":\"string\",\"pattern\":\"^(c|d)(a|b)$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([a-f0-9]{2,90}z)$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([a-f0-9]{60,90}z)$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([a-f0-9]{2,3}z)$\"}",
      "{\"type\":\"string\",\"minLength\":30,\"maxLength\":33}",
      "{\"type\":\"string\",\"minLength\":3,\"maxLength\":33}",
      "{\"enum\":[\"abc\",\"abd\",\"xyz\"]}",
      "{\"enum\":[\"abc\",\"abd\",\"xyw\"]}",
      "{\"enum\":[\"abc\",\"ab\",\"xyz\"]}",
      "{\"type\":\"number\",\"maximum\":17}",
      "{\"type\":\"number\",\"maximum\":18}",
      "{\"type\":\"number\",\"exclusiveMaximum\":17}",
      "{\"type\":\"integer\",\"maximum\":17}",
      "{\"type\":\"integer\",\"maximum\":17,\"multipleOf\":3}",
      "{\"type\":\"string\",\"pattern\":\"^[a-z]{0,300}$\",\"minLength\":250}",
      "{\"type\":\"string\",\"pattern\":\"^[a-z]{0,260}$\",\"minLength\":250}",
      "{\"type\":\"string\",\"pattern\":\"^(?!a{250})[ab]{200,260}$\"}",
      "{\"type\":\"string\",\"pattern\":\"^(?!a{240})[ab]{200,250}$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([a-z]{200}|[a-m]{300})z$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([a-z]{210}|[a-m]{301})z$\"}",
      "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":[\"string\",\"null\"]}}",
      "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":[\"integer\",\"null\"]}}",
      "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"}}",
      "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":[\"string\",\"null\"]},\"minItems\":1}",
      "{\"type\":[\"array\",\"boolean\"],\"items\":{\"type\":[\"array\",\"null\"],\"items\":{"
      "\"type\":\"string\"}}}",
      "{\"$ref\":\"#/$defs/"
      "a\",\"$defs\":{\"a\":{\"type\":[\"array\",\"null\"],\"items\":{\"anyOf\":[{\"$ref\":\"#/"
      "$defs/a\"},{\"type\":\"string\"}]}}}}",
      "{\"$ref\":\"#/$defs/"
      "a\",\"$defs\":{\"a\":{\"type\":[\"array\",\"null\"],\"items\":{\"anyOf\":[{\"$ref\":\"#/"
      "$defs/a\"},{\"type\":\"number\"}]}}}}"};
  for (int round = 0; round < 3; round++)
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
      for (uint64_t seed = 0; seed < 8; seed++)
        CHECKF(agree(schemas[i], seed * 31 + (uint64_t)round), "%s", schemas[i]);
}

/* ---- what it is for -------------------------------------------------------------------------- */

static uint64_t steps_of(tsl_vocab *v, const char *schema) {
  tsl_grammar *g = compile(v, schema);
  tsl_grammar_stats stats = {0};
  if (!g) return 0;
  for (uint64_t seed = 0; seed < 5; seed++) CHECK(follow(g, g, seed));
  tsl_grammar_get_stats(g, &stats);
  tsl_grammar_release(g);
  return stats.walk_steps;
}

static void far(void) {
  static const char *const pairs[][2] = {
      {"{\"type\":\"string\",\"pattern\":\"^[^0-9]{0,2000}$\"}",
       "{\"type\":\"string\",\"pattern\":\"^[^0-9]{0,3000}$\"}"},
      {"{\"type\":\"string\",\"pattern\":\"^[a-z]{0,2000}-[0-9]+$\"}",
       "{\"type\":\"string\",\"pattern\":\"^[a-z]{0,2500}-[0-9]+$\"}"},
      {"{\"type\":\"string\",\"pattern\":\"^[a-z]{1500,2000}$\"}",
       "{\"type\":\"string\",\"pattern\":\"^[a-z]{1600,1700}$\"}"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    tsl_vocab_set_walk_cache(with, 0);
    tsl_vocab_set_walk_cache(with, (size_t)16 << 20);
    uint64_t alone = steps_of(without, pairs[i][1]);
    steps_of(with, pairs[i][0]);
    uint64_t after = steps_of(with, pairs[i][1]);
    printf("  steps: %" PRIu64 ", after one that differs in a far bound %" PRIu64 "\n", alone,
           after);
    CHECK(after * 100 < alone * 77); /* some is alike whatever the bound */
  }
}

/* A value that is not a string or a number alone: what it is decides, not where it stands. */
static void values(void) {
  static const char first[] =
      "{\"type\":\"object\",\"properties\":{\"one\":{\"type\":[\"array\",\"null\"],\"items\":{"
      "\"type\":[\"string\",\"null\"]}}},\"required\":[\"one\"],\"additionalProperties\":false}";
  static const char second[] =
      "{\"type\":\"object\",\"properties\":{\"two\":{\"type\":[\"array\",\"null\"],\"items\":{"
      "\"type\":[\"string\",\"null\"]}}},\"required\":[\"two\"],\"additionalProperties\":false}";
  tsl_vocab_set_walk_cache(with, 0);
  tsl_vocab_set_walk_cache(with, (size_t)16 << 20);
  uint64_t alone = steps_of(without, second);
  steps_of(with, first);
  uint64_t after = steps_of(with, second);
  printf("  steps: %" PRIu64 ", after one with another name %" PRIu64 "\n", alone, after);
  CHECK(after + 40 <= alone); /* the rest is in the strings, and of the object */
}

static void saves(void) {
  static const char first[] = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^(?"
                              ":[a-z]+[0-9]?,)*[A-Z]{3}(?:k|m)?$\"},\"minItems\":1}";
  static const char second[] =
      "{\"type\":\"object\",\"properties\":{\"one\":{\"type\":\"string\",\"pattern\":\"^(?:[a-z]+["
      "0-9]?,)*[A-Z]{3}(?:k|m)?$\"}},\"required\":[\"one\"],\"additionalProperties\":false}";
  tsl_vocab_set_walk_cache(with, 0);
  tsl_vocab_set_walk_cache(with, (size_t)16 << 20);
  size_t empty = tsl_vocab_memory(with);
  uint64_t once = steps_of(with, first), twice = steps_of(with, first),
           inside = steps_of(with, second), alone = steps_of(without, second);
  printf("  steps: %" PRIu64 ", again %" PRIu64 "; in another schema %" PRIu64
         ", without the cache %" PRIu64 "\n",
         once, twice, inside, alone);
  /* more is walked ahead for all grammars, which the first has no need to do */
  CHECK(twice * 5 < once * 4);
  CHECK(inside * 10 < alone * 9);
  CHECK(tsl_vocab_memory(with) > empty);
  tsl_vocab_set_walk_cache(with, 0);
  CHECK(tsl_vocab_memory(with) <= empty);
  /* off: nothing is learned */
  CHECK(steps_of(with, first) == once && steps_of(with, first) == once);
  tsl_vocab_set_walk_cache(with, (size_t)16 << 20);
}

/* Where the mask after some bytes is lent from, twice as it may be the matcher's own the first
 * time, and a copy of it. */
static const uint32_t *lent_at(tsl_grammar *g, const char *bytes, uint32_t *copy) {
  tsl_matcher *m = NULL;
  const uint32_t *at = NULL;
  size_t n;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, bytes, strlen(bytes), &n) == TSL_OK);
  CHECK(tsl_matcher_mask_borrow(m, &at, NULL) == TSL_OK && tsl_matcher_mask(m, copy) == TSL_OK &&
        !memcmp(at, copy, words * sizeof *at));
  tsl_matcher_free(m);
  return at;
}

static void rows(void) {
  enum { GRAMMARS = 12 };
  static const char *const places[] = {"{\"",        "{\"a",        "{\"one",
                                       "{\"a\":\"x", "{\"a\":[\"x", "{\"a\":[\"x\",\"y"};
  tsl_grammar *all[GRAMMARS] = {NULL};
  uint32_t *mask = malloc(2 * words * sizeof *mask), *other = mask + words;
  int shared = 0;
  for (int i = 0; mask && i < GRAMMARS; i++) {
    char schema[160];
    snprintf(schema, sizeof schema,
             "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"array\"],"
             "\"items\":{\"type\":\"string\"},\"maxItems\":%d}}",
             50 + i);
    all[i] = compile(with, schema);
    tsl_grammar *plain = compile(without, schema);
    for (size_t k = 0; all[i] && plain && k < sizeof places / sizeof *places; k++) {
      const uint32_t *at = lent_at(all[i], places[k], mask);
      lent_at(plain, places[k], other);
      CHECKF(!memcmp(mask, other, words * sizeof *mask), "%s", places[k]);
      shared += i && at == lent_at(all[i - 1], places[k], other);
    }
    tsl_grammar_release(plain);
    /* rows outlive who made them */
    if (i == GRAMMARS / 2) tsl_grammar_release(all[0]), all[0] = NULL;
  }
  printf("  %d masks lent from where another grammar's are\n", shared);
  CHECK(shared >= 12);
  for (int i = 0; i < GRAMMARS; i++) tsl_grammar_release(all[i]);
  free(mask);
}

static void bases(void) {
  enum { GRAMMARS = 12 };
  tsl_grammar *all[GRAMMARS] = {NULL}, *plain = compile(without, "{\"type\":\"string\"}");
  const uint32_t *first = NULL;
  int requests = 0, same = 0, wrong = 0;
  tsl_vocab *fresh = NULL; /* in another, masks of one hash may have been requested already */
  CHECK(tsl_vocab_embedded(NULL, &fresh, NULL) == TSL_OK);
  if (!fresh) return;
  for (int i = 0; i < GRAMMARS; i++) {
    char schema[60];
    snprintf(schema, sizeof schema, "{\"type\":\"string\",\"maxLength\":%d}", 50 + i);
    all[i] = compile(fresh, schema);
    tsl__space *s = all[i]->space;
    const uint32_t pair[2] = {s->bitsets.first - 2, s->bitsets.first - 1};
    uint32_t number = tsl__common_base(s, pair, 2);
    wrong += number && number < s->bitsets.first;
    requests += !number;
    const uint32_t *at = number ? tsl__bitset_at(s, number) : NULL;
    for (size_t w = 0; at && w < words; w++)
      wrong += at[w] != (tsl__bitset_at(s, pair[0])[w] | tsl__bitset_at(s, pair[1])[w]);
    same += at && at == first;
    if (at) first = at;
    if (i == GRAMMARS / 2) tsl_grammar_release(all[0]), all[0] = NULL;
  }
  printf("  requested %d times before there was one\n", requests);
  CHECK(!wrong && requests && same == GRAMMARS - requests - 1);
  const uint32_t pair[2] = {plain->space->bitsets.first - 2, plain->space->bitsets.first - 1};
  /* off: nothing is shared */
  for (int i = 0; i < GRAMMARS; i++) CHECK(tsl__common_base(plain->space, pair, 2) == 0);
  for (int i = 0; i < GRAMMARS; i++) tsl_grammar_release(all[i]);
  tsl_grammar_release(plain);
  tsl_vocab_release(fresh);
}

static size_t largest; /* block that was requested */

static void *noting_reallocate(void *ctx, void *block, size_t old_size, size_t new_size) {
  (void)ctx;
  (void)old_size;
  if (new_size > largest) largest = new_size;
  if (new_size) return realloc(block, new_size);
  free(block);
  return NULL;
}

/* PCRE2 is called with a text of all characters of a plane, which is the largest block by far. */
static void properties(void) {
  static const char *const patterns[] = {"\\p{L}+", "\\p{L}{2}", "[\\p{L}_]", "(?:\\P{L}x)*"};
  const tsl_allocator alloc = {NULL, noting_reallocate};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(&alloc, &v, NULL) == TSL_OK);
  for (size_t i = 0; v && i < sizeof patterns / sizeof *patterns; i++) {
    tsl_grammar *g = NULL, *h = NULL;
    /* the shared tables are there */
    if (i < 2) CHECK(tsl_grammar_regex(v, "x", 1, NULL, NULL, &h, NULL) == TSL_OK);
    largest = 0;
    CHECK(tsl_grammar_regex(v, patterns[i], strlen(patterns[i]), NULL, NULL, &g, NULL) == TSL_OK);
    CHECKF((largest >= 4 << 16) == (i == 0), "%s: a block of %zu bytes", patterns[i], largest);
    tsl_grammar_release(g);
    tsl_grammar_release(h);
  }
  tsl_vocab_release(v);
}

#define SMALL ((size_t)64 << 10)
/* a block of each generation, a table that grows, the last bitset */
#define SLACK ((size_t)48 << 10)

static void bound(void) {
  static struct text t;
  tsl_vocab_set_walk_cache(with, 0);
  size_t empty = tsl_vocab_memory(with), most = 0;
  tsl_vocab_set_walk_cache(with, SMALL);
  for (uint64_t i = 0; i < 400; i++) {
    any_schema(&t, i % 250 * 104729 + 5);
    CHECKF(agree(t.at, i), "%s", t.at);
    size_t now = tsl_vocab_memory(with) - empty;
    if (now > most) most = now;
  }
  printf("  at most %zu bytes kept, of %zu\n", most, SMALL);
  CHECK(most > SMALL / 4 && most <= SMALL + SLACK);
  tsl_vocab_set_walk_cache(with, (size_t)16 << 20);
}

static void *thread(void *ctx) {
  uint64_t seed = *(uint64_t *)ctx;
  bool *fine = malloc(sizeof *fine);
  struct text t = {0};
  if (!fine) return NULL;
  *fine = true;
  for (uint64_t i = 0; i < 40 && *fine; i++) {
    any_schema(&t, (i + seed * 13) % 60 * 7919 + 1);
    tsl_grammar *a = NULL, *b = NULL;
    *fine = tsl_grammar_json_schema(with, t.at, t.n, NULL, NULL, &a, NULL) ==
                tsl_grammar_json_schema(without, t.at, t.n, NULL, NULL, &b, NULL) &&
            (!a || follow(a, b, seed));
    tsl_grammar_release(a);
    tsl_grammar_release(b);
    if (i % 16 == seed)
      tsl_vocab_set_walk_cache(with, i % 32 ? (size_t)1 << 20 : (size_t)200 << 10);
  }
  text_free(&t);
  return fine;
}

static void threads(void) {
  pthread_t thread_id[4];
  uint64_t seeds[4] = {0, 1, 2, 3};
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&thread_id[i], NULL, thread, &seeds[i]) == 0);
  for (int i = 0; i < 4; i++) {
    void *fine = NULL;
    CHECK(pthread_join(thread_id[i], &fine) == 0 && fine && *(bool *)fine);
    free(fine);
  }
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &with, NULL) != TSL_OK ||
      tsl_vocab_embedded(NULL, &without, NULL) != TSL_OK)
    return 1;
  tsl_vocab_set_walk_cache(without, 0);
  words = tsl_vocab_mask_words(with);
  RUN(same, "random schemas with shared parts, with and without a walk cache");
  RUN(spelled, "with plain spellings and any in turns");
  RUN(close, "schemas that differ in little");
  RUN(far, "schemas that differ in a bound that no token reaches");
  RUN(values, "lists that may be null");
  RUN(saves, "what a second grammar is spared");
  RUN(rows, "masks that many grammars have");
  RUN(bases, "bitsets that masks of many grammars have together");
  RUN(properties, "properties of characters are looked up once");
  RUN(bound, "a cache that is too small");
  RUN(threads, "several threads");
  tsl_vocab_release(with);
  tsl_vocab_release(without);
  return tsl_test_end();
}
