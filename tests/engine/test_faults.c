/* test_faults.c - every allocation fails in turn, in everything that the public interface does with
 * memory.
 *
 * A script (load a vocabulary, compile, then mask, accept, validate, fork, roll back along one
 * generation) is run with hooks that count. Run n lets the nth allocation fail, once or from then
 * on. What must hold:
 *   - the call says NO_MEMORY (with a filled error, where it takes one) or does not notice;
 *   - nothing changed: called again, with memory, the call gives what it gives in a run without
 *     failures, to the last bit of every mask;
 *   - every block is freed with the size that it has, and none is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/base.h"
#include "tests/support/faulty.h"
#include "tests/support/take.h"

/* ---- what is done ---------------------------------------------------------------------------- */

typedef enum kind { SCHEMA, REGEX, GBNF } kind;
typedef struct grammar_case {
  kind kind;
  const char *text;
} grammar_case;

static const grammar_case cases[] = {
    {SCHEMA, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^[a-z]{"
             "2,5}$\"},\"b\":{\"type\":\"integer\","
             "\"minimum\":-3,\"maximum\":120}},"
             "\"required\":[\"a\"],\"additionalProperties\":{\"type\":\"array\",\"items\":{"
             "\"enum\":[1,\"x\",null]},\"maxItems\":3}}"},
    {SCHEMA, "{\"$defs\":{\"t\":{\"oneOf\":[{\"type\":\"number\",\"multipleOf\":0.5},{\"type\":"
             "\"array\",\"items\":{\"$ref\":\"#/$defs/"
             "t\"}},{\"format\":\"date\",\"type\":\"string\"}]}},"
             "\"$ref\":\"#/$defs/t\"}"},
    {SCHEMA,
     "{\"if\":{\"properties\":{\"k\":{\"const\":1}},\"required\":[\"k\"]},\"then\":{\"not\":{"
     "\"required\":[\"z\"]}},\"else\":{"
     "\"minProperties\":1},\"type\":\"object\","
     "\"patternProperties\":{\"^k\":{\"type\":\"integer\"}},\"unevaluatedProperties\":false}"},
    {SCHEMA, "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"boolean\"}],\"contains\":{\"type\":"
             "\"string\",\"maxLength\":3},\"minContains\":1,"
             "\"items\":{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":0}]}}"},
    /* a set of strings is the first thing that is made */
    {SCHEMA, "{\"enum\":[\"red\",\"green\",\"blue\",\"\",\"greenish\",\"x\"]}"},
    {REGEX, "(?=.*[0-9])(?!.*ab)[a-z0-9]{4,12}(?:x|y)?"},
    {REGEX, "(?i)stra\\u00dfe|\\p{Nd}+[^\\x00-\\x40]{2,9}"},
    /* texts that can be read in very many ways */
    {GBNF, "root ::= [0-9a-w] root \"-\"? root \"-\"? | \"\"\n"},
    {GBNF, "root ::= e\ne ::= e \"+\" t | t\nt ::= t \"*\" f | f\nf ::= \"(\" e \")\" | [0-9]{1,3} "
           "| \"\"\n"},
};
#define CASES (sizeof cases / sizeof *cases)

static tsl_status make_vocab(const tsl_allocator *a, tsl_vocab **out, tsl_error *error) {
  static const char *const words[] = {"{\"",  "\":", "\",\"", "null", "true", "ab", "abc",
                                      " \"a", "12",  "0.5",   "]]",   "},",   "xy", "<end>"};
  return faulty_vocab(words, sizeof words / sizeof *words, 1, 3, a, out, error);
}

static tsl_status compile_within(tsl_vocab *v, const grammar_case *c, const tsl_limits *limits,
                                 tsl_grammar **out, tsl_error *error) {
  size_t length = strlen(c->text);
  const tsl_schema_options options = {.order = TSL_ORDER_ANY};
  if (c->kind == REGEX) return tsl_grammar_regex(v, c->text, length, NULL, limits, out, error);
  if (c->kind == GBNF) return tsl_grammar_gbnf(v, c->text, length, NULL, limits, out, error);
  return tsl_grammar_json_schema(v, c->text, length, &options, limits, out, error);
}

static tsl_status compile(tsl_vocab *v, const grammar_case *c, tsl_grammar **out,
                          tsl_error *error) {
  return compile_within(v, c, NULL, out, error);
}

#define MASK_WORDS 16 /* more than the vocabulary needs */
#define STEPS 14

/* One generation; the hash of all that was seen. */
static uint64_t generate(faulty *f, tsl_grammar *g, uint64_t seed) {
  tsl_matcher *m = NULL, *fork = NULL;
  tsl_status status;
  uint64_t seen = 0;
  WITH_MEMORY(f, status, tsl_matcher_new(g, &f->hook, &m));
  CHECK(status == TSL_OK);
  for (int i = 0; i < STEPS && status == TSL_OK; i++) {
    uint32_t mask[MASK_WORDS] = {0};
    const uint32_t *words;
    uint64_t id, shortest;
    uint8_t forced[16];
    size_t valid, n = 0;
    WITH_MEMORY(f, status, tsl_matcher_mask(m, mask));
    CHECK(status == TSL_OK);
    WITH_MEMORY(f, status, tsl_matcher_mask_borrow(m, &words, &id));
    CHECK(status == TSL_OK && !memcmp(words, mask, tsl_vocab_mask_words(tsl_grammar_vocab(g)) * 4));
    tsl_token t = draw(mask, MASK_WORDS * 32, &seed);
    seen = tsl__mix(seen ^ tsl__hash(mask, sizeof mask));
    if (t == TSL_NO_TOKEN) break;
    const tsl_token draft[3] = {t, 'a', '"'};
    WITH_MEMORY(f, status, tsl_matcher_validate(m, draft, 3, &valid));
    CHECK(status == TSL_OK && valid >= 1);
    WITH_MEMORY(f, status, tsl_matcher_forced_bytes(m, forced, sizeof forced, &n));
    CHECK(status == TSL_OK);
    WITH_MEMORY(f, status, tsl_matcher_shortest_completion(m, &shortest));
    CHECK(status == TSL_OK);
    seen = tsl__mix(seen ^ shortest ^ (uint64_t)n << 32 ^ (uint64_t)valid << 48);
    WITH_MEMORY(f, status, tsl_matcher_accept(m, t));
    CHECK(status == TSL_OK);
  }
  WITH_MEMORY(f, status, tsl_matcher_fork(m, &fork));
  CHECK(status == TSL_OK && tsl_matcher_history(fork) == tsl_matcher_history(m));
  CHECK(tsl_matcher_rollback(fork, tsl_matcher_history(fork) / 2) == TSL_OK);
  size_t accepted;
  tsl_status outcome;
  WITH_MEMORY(f, outcome, tsl_matcher_accept_bytes(fork, "\"a", 2, &accepted));
  CHECK(outcome == TSL_OK || outcome == TSL_REJECTED);
  tsl_matcher_free(fork);
  tsl_matcher_free(m);
  return tsl__mix(seen ^ accepted);
}

/* ---- every allocation of compile and of a generation ----------------------------------------- */

static unsigned long failures;

#define WALK_CACHE ((size_t)1 << 20)

/* Empties the vocabulary's walk cache, and for every third run lets the grammar fill it, so that
 * its walks are all there. */
static void prepare_cache(faulty *f, tsl_vocab *v, const grammar_case *c, unsigned long n) {
  tsl_vocab_set_walk_cache(v, 0);
  if (n % 3) tsl_vocab_set_walk_cache(v, WALK_CACHE);
  if (n % 3 < 2) return;
  tsl_grammar *g = NULL;
  faulty_disarm(f);
  CHECK(compile(v, c, &g, NULL) == TSL_OK);
  if (g) generate(f, g, 5);
  tsl_grammar_release(g);
}

/* Compile and generate with the nth allocation failing; what was seen, and whether any failure was
 * left to make. */
static uint64_t one_run(faulty *f, tsl_vocab *v, const grammar_case *c, unsigned long n,
                        bool from_then_on, bool *failed) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_vocab_set_walk_cache(v, 0);
  size_t blocks = f->blocks;
  prepare_cache(f, v, c, n);
  size_t filled = f->blocks;
  faulty_arm(f, n, from_then_on);
  tsl_status status = compile(v, c, &g, &error);
  *failed = f->failed;
  if (status == TSL_ERR_NO_MEMORY) {
    CHECKF(f->failed && !g && error.status == status && error.message[0],
           "allocation %lu: %d, %s: %s", n, f->failed, tsl_status_name(error.status),
           error.message);
    /* with a cache, what it keeps */
    CHECKF(f->blocks == filled || n % 3, "%zu blocks are left after a failed compile call",
           f->blocks - filled);
    faulty_disarm(f);
    status = compile(v, c, &g, &error);
  }
  CHECKF(status == TSL_OK, "allocation %lu of %s: %s: %s", n, c->text, tsl_status_name(status),
         error.message);
  if (status != TSL_OK) return 0;
  uint64_t seen = generate(f, g, 5);
  *failed |= f->made > n;
  tsl_grammar_release(g);
  tsl_vocab_set_walk_cache(v, 0);
  CHECKF(f->blocks == blocks, "%zu blocks are left after allocation %lu of %s failed",
         f->blocks - blocks, n, c->text);
  return seen;
}

/* What a vocabulary keeps for good is there before blocks are counted: its tables, and rows of
 * masks that were requested often (runtime/walk/shared_walks.c). */
static void warm_up(faulty *f, tsl_vocab *v, const grammar_case *c) {
  for (int i = 0; i < 8; i++) {
    tsl_grammar *g = NULL;
    tsl_vocab_set_walk_cache(v, i ? WALK_CACHE : 0);
    CHECK(compile(v, c, &g, NULL) == TSL_OK);
    if (g && i) generate(f, g, 5);
    tsl_grammar_release(g);
  }
}

static void compile_and_generate(void) {
  for (size_t i = 0; i < CASES; i++) {
    faulty f;
    tsl_vocab *v;
    bool failed;
    faulty_begin(&f);
    CHECK(make_vocab(&f.hook, &v, NULL) == TSL_OK);
    warm_up(&f, v, &cases[i]);
    uint64_t want = one_run(&f, v, &cases[i], ULONG_MAX, false, &failed);
    for (int mode = 0; mode < 2; mode++) {
      unsigned long n = 0;
      for (failed = true; failed; n++) {
        if (!tsl_test_turn(n, TURN_OF(1, 3))) continue;
        uint64_t seen = one_run(&f, v, &cases[i], n, mode == 1, &failed);
        CHECKF(seen == want, "after allocation %lu of %s failed the masks are others", n,
               cases[i].text);
        failures += failed;
        /* late ones are many of the same kind */
        if (n > 100) n += n / (mode ? ROUNDS_OF(12u) : ROUNDS_OF(40u));
      }
      CHECKF(n > 20, "%lu allocations", n);
    }
    CHECK(!f.wrong_size);
    tsl_vocab_release(v);
    CHECK(f.blocks == 0);
  }
  printf("  %lu allocations made to fail\n", failures);
}

/* A vocabulary with many tokens that pass from one item into the next. A mask that could not be
 * written out meanwhile has no token that leads nowhere. */
static void items_that_differ(void) {
  static const char schema[] = "{\"type\":\"array\",\"uniqueItems\":true}", text[] = "[null";
  uint32_t want[512] = {0};
  bool failed = true;
  faulty f;
  tsl_vocab *v = NULL;
  faulty_begin(&f);
  CHECK(tsl_vocab_embedded(&f.hook, &v, NULL) == TSL_OK && tsl_vocab_mask_words(v) <= 512);
  for (unsigned long n = 0; failed; n++) {
    uint32_t mask[512] = {0};
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    tsl_status status;
    CHECK(tsl_grammar_json_schema(v, schema, sizeof schema - 1, NULL, NULL, &g, NULL) == TSL_OK &&
          tsl_matcher_new(g, NULL, &m) == TSL_OK);
    CHECK(tsl_matcher_accept_bytes(m, text, sizeof text - 1, NULL) == TSL_OK);
    faulty_arm(&f, n ? n - 1 : ULONG_MAX, false);
    WITH_MEMORY(&f, status, tsl_matcher_mask(m, mask));
    failed = !n || f.made >= n;
    faulty_disarm(&f);
    if (!n) memcpy(want, mask, sizeof want);
    CHECKF(status == TSL_OK && !memcmp(mask, want, sizeof want),
           "after allocation %lu failed the mask is another one", n - 1);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
  CHECK(f.blocks == 0);
}

/* ---- limits that are reached anywhere -------------------------------------------------------- */

/* A generation without limits: its tokens, and the mask before each. */
typedef struct transcript {
  tsl_token token[STEPS];
  uint32_t mask[STEPS][MASK_WORDS];
  int n;
} transcript;

static void record(tsl_vocab *v, const grammar_case *c, uint64_t seed, transcript *t) {
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  CHECK(compile(v, c, &g, NULL) == TSL_OK && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  memset(t, 0, sizeof *t);
  for (; m && t->n < STEPS; t->n++) {
    uint32_t *mask = t->mask[t->n];
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    tsl_token token = draw(mask, MASK_WORDS * 32, &seed);
    if (token == TSL_NO_TOKEN) break;
    t->token[t->n] = token;
    if (tsl_matcher_accept(m, token) != TSL_OK) break;
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* The same under a limit: a call fails with its status, or gives what it gives without. Every call
 * is made twice, the second after the first failed. */
static tsl_status replay(tsl_vocab *v, const grammar_case *c, const tsl_limits *limits,
                         const transcript *t) {
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {0};
  tsl_status worst = compile_within(v, c, limits, &g, &error), status = TSL_OK;
  if (worst != TSL_OK) {
    CHECKF(worst == TSL_ERR_LIMIT && error.status == worst && error.message[0] && !g, "%s: %s: %s",
           c->text, tsl_status_name(worst), error.message);
    return worst;
  }
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int i = 0; i < t->n && status == TSL_OK; i++) {
    for (int again = 0; again < 2; again++) {
      uint32_t mask[MASK_WORDS] = {0}, next[8];
      status = tsl_matcher_mask(m, mask);
      CHECKF(status == TSL_ERR_LIMIT ||
                 (status == TSL_OK && !memcmp(mask, t->mask[i], sizeof mask)),
             "%s, place %d: %s, or another mask", c->text, i, tsl_status_name(status));
      if (status != TSL_OK) worst = status;
      status = tsl_matcher_next_bytes(m, next);
      CHECK(status == TSL_ERR_LIMIT ||
            (status == TSL_OK && !memcmp(next, t->mask[i], sizeof next)));
    }
    status = tsl_matcher_accept(m, t->token[i]);
    if (status == TSL_ERR_LIMIT) status = tsl_matcher_accept(m, t->token[i]);
    CHECKF(status == TSL_OK || status == TSL_ERR_LIMIT, "%s, place %d: %s", c->text, i,
           tsl_status_name(status));
    if (status != TSL_OK) worst = status;
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return worst;
}

static void limits(void) {
  tsl_vocab *v;
  unsigned long reached = 0, kept = 0;
  CHECK(make_vocab(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; i < CASES; i++)
    for (uint64_t seed = 1; seed <= 2; seed++) {
      transcript t;
      record(v, &cases[i], seed, &t);
      for (uint64_t n = 1; n < 3000; n += 1 + n / 2) {
        const tsl_limits steps = {.max_steps = n}, memory = {.max_memory = 20000 + n * 400},
                         stacks = {.max_stacks = (uint32_t)n};
        const tsl_limits *all[] = {&steps, &memory, &stacks};
        for (int k = 0; k < 3; k++)
          if (replay(v, &cases[i], all[k], &t) == TSL_ERR_LIMIT)
            reached++;
          else
            kept++;
      }
    }
  tsl_vocab_release(v);
  CHECK(reached > 50 && kept > 50);
  printf("  limits of %lu generations were reached, of %lu not\n", reached, kept);
}

/* ---- the vocabulary and what it shares ------------------------------------------------------- */

static void vocabulary_and_warm_up(void) {
  for (int mode = 0; mode < 2; mode++) {
    bool failed = true;
    unsigned long n = 0, runs = 0;
    for (; failed; n += 1 + n / 8, runs++) {
      if (!tsl_test_turn(runs, TURN_OF(2, 4))) continue;
      faulty f;
      tsl_vocab *v = NULL;
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      tsl_status status;
      faulty_begin(&f);
      faulty_arm(&f, n, mode == 1);
      status = make_vocab(&f.hook, &v, &error);
      failed = f.failed;
      if (failed) {
        CHECK(status == TSL_ERR_NO_MEMORY && !v && error.status == status && error.message[0]);
        CHECK(f.blocks == 0);
      } else { /* the first grammar warms the vocabulary up */
        CHECK(status == TSL_OK);
        status = compile(v, &cases[0], &g, &error);
        failed = f.failed;
        CHECKF(status == (failed ? TSL_ERR_NO_MEMORY : TSL_OK), "allocation %lu: %s", n,
               tsl_status_name(status));
        if (failed) {
          faulty_disarm(&f);
          CHECK(!g && compile(v, &cases[0], &g, &error) == TSL_OK);
        }
        tsl_grammar_release(g);
        tsl_vocab_release(v);
      }
      CHECK(f.blocks == 0 && !f.wrong_size);
    }
    CHECK(runs > 30);
    printf("  %lu allocations made to fail\n", runs - 1);
  }
}

/* ---- tokenizer files ------------------------------------------------------------------------- */

static void load(void) {
  static const char hf[] =
      "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":6,\"content\":\"</"
      "s>\",\"special\":true}],\"normalizer\":{\"type\":\"NFC\"},"
      "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":"
      "{\"Regex\":\"\\\\s+|\\\\w+|[^\\\\W\\\\s]{2}?|\\\\p{Han}\"},"
      "\"behavior\":\"Isolated\",\"invert\":false},"
      "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":"
      "false}]},\"decoder\":{\"type\":\"ByteLevel\"}"
      ","
      "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"ab\":3,\"abc\":4,"
      "\"\\u0120\":5},\"merges\":[\"a b\",\"ab c\"]}}";
  static const char tiktoken[] = "YQ== 0\nYg== 1\nYWI= 2\nIA== 3\n";
  static const tsl_vocab_options options = {.pattern = "\\s+|\\w+"};
  const char *const file[] = {hf, tiktoken};
  for (int i = 0; i < 4; i++) {
    unsigned long n = 0;
    size_t count;
    tsl_token ids[8];
    for (bool failed = true; failed; n++) {
      faulty f;
      tsl_vocab *v = NULL;
      tsl_error error = {0};
      faulty_begin(&f);
      faulty_arm(&f, n, i / 2);
      tsl_status status = tsl_vocab_load_memory(file[i % 2], strlen(file[i % 2]), NULL, &options,
                                                &f.hook, &v, &error);
      failed = f.failed;
      /* not noticed: PCRE2 does without its compiler to machine code */
      CHECKF(status == TSL_OK || (status == TSL_ERR_NO_MEMORY && failed), "allocation %lu: %s: %s",
             n, tsl_status_name(status), error.message);
      CHECK((v != NULL) == !status && error.status == status && (!status || error.message[0]));
      for (unsigned long k = 0; v; k++) { /* and those of an encoding */
        faulty_arm(&f, k, i / 2);
        status = tsl_vocab_encode(v, "ab ab", 5, 0, ids, 8, &count);
        CHECKF(status == TSL_OK || (status == TSL_ERR_NO_MEMORY && f.failed),
               "loading %lu, encoding %lu, failed %d: %s", n, k, f.failed, tsl_status_name(status));
        if (!f.failed) break;
      }
      tsl_vocab_release(v);
      CHECKF(f.blocks == 0 && !f.wrong_size, "%zu blocks are left after allocation %lu failed",
             f.blocks, n);
    }
    CHECK(n > 10);
  }
}

/* ---- the sampler ----------------------------------------------------------------------------- */

static void sampler(void) {
  static const tsl_sampler_options options = {
      .seed = 7, .temperature = 1, .top_k = 5, .top_p = 0.9f, .min_p = 0.01f};
  float logits[400];
  for (int i = 0; i < 400; i++) logits[i] = (float)(i % 17);
  tsl_token want[4] = {0};
  for (unsigned long n = 0, failed = 1; failed; n++) {
    faulty f;
    tsl_sampler *s = NULL;
    tsl_status status;
    faulty_begin(&f);
    if (n) faulty_arm(&f, n - 1, false);
    WITH_MEMORY(&f, status, tsl_sampler_new(&options, &f.hook, &s));
    CHECK(status == TSL_OK);
    for (int i = 0; i < 4; i++) {
      tsl_draw draw;
      WITH_MEMORY(&f, status, tsl_sampler_draw(s, logits, 400, NULL, &draw));
      CHECK(status == TSL_OK);
      if (n == 0) want[i] = draw.token;
      CHECKF(draw.token == want[i], "a draw after a failed one gives another token");
    }
    failed = n == 0 || f.made >= n;
    tsl_sampler_free(s);
    CHECK(f.blocks == 0 && !f.wrong_size);
  }
}

/* ---- the lint -------------------------------------------------------------------------------- */

/* A digest of all that the lint said. */
static void add_to_digest(void *ctx, const char *text) {
  uint64_t *digest = ctx;
  for (; *text; text++) *digest = (*digest ^ (uint8_t)*text) * 0x100000001B3u;
}

static void add_finding(void *ctx, const tsl_lint_finding *finding) {
  add_to_digest(ctx, finding->rule);
  add_to_digest(ctx, finding->pointer);
  add_to_digest(ctx, finding->message);
}

static tsl_status lint(faulty *f, const char *text, uint64_t *digest) {
  const tsl_lint_options options = {.fix = true, .bounds = true};
  tsl_error error;
  *digest = 7;
  return tsl_schema_lint(text, strlen(text), &options, &f->hook, add_finding, add_to_digest, digest,
                         &error);
}

/* Every allocation of the lint fails once, and from then on: NO_MEMORY, or nothing is noticed. A
 * later call says what the first one said. */
static void lints(void) {
  static const char *const texts[] = {
      "{\"type\": \"object\", \"properties\": {\"answer\": {\"enum\": [\"yes\", \"no\"]}, "
      "\"reasoning\": {\"type\": \"string\"}, \"tags\": {\"type\": \"array\", \"items\": "
      "{\"pattern\": \"[a-z]+\", \"type\": \"string\"}}}, \"required\": [\"answr\"]}",
      "{\"name\": \"f\", \"parameters\": {\"properties\": {\"a\": {\"type\": \"string\", "
      "\"maxLength\": 2, \"minLength\": 3}, \"b\": {\"oneOf\": [{\"type\": \"string\"}, "
      "{\"type\": \"integer\"}]}}}}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    uint64_t want = 0, got;
    unsigned long refused = 0;
    for (unsigned long n = 0, failed = 1; failed; n++) {
      faulty f;
      faulty_begin(&f);
      if (n) faulty_arm(&f, (n - 1) / 2, n % 2 == 0);
      tsl_status status = lint(&f, texts[i], &got);
      if (status == TSL_ERR_NO_MEMORY) {
        CHECK(f.failed);
        refused++;
        faulty_disarm(&f);
        status = lint(&f, texts[i], &got);
      }
      if (n == 0) want = got;
      CHECKF(status == TSL_OK && got == want && want != 7, "text %zu, request %lu", i, n);
      CHECK(f.blocks == 0 && !f.wrong_size);
      failed = n == 0 || f.failed;
    }
    CHECKF(refused > 10, "%lu requests were refused", refused);
  }
}

int main(void) {
  RUN(lints, "the lint: every allocation fails, once or from then on");
  RUN(compile_and_generate,
      "compile, mask, accept, validate, fork: every allocation fails, once or from then on");
  RUN(items_that_differ,
      "items that must differ: a mask is right where it could not be written out");
  RUN(limits, "steps, memory and stacks run out anywhere: what is still answered is right");
  RUN(vocabulary_and_warm_up, "a vocabulary from arrays, and the first grammar over it");
  RUN(load, "tokenizer files and encoding");
  RUN(sampler, "the sampler: a failed draw does not advance it");
  return tsl_test_end();
}
