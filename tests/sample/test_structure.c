/* test_structure.c - penalties that spare structure. Long arrays of objects are drawn under strong
 * penalties. A reader of JSON in this file judges what is a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "runtime/matcher/grammar.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "turnstile.h"

static tsl_vocab *vocab;
static size_t width;

static tsl_grammar *schema(const char *text) {
  tsl_schema_options compact = {.whitespace = TSL_WS_COMPACT};
  tsl_grammar *g = NULL;
  tsl_error error;
  tsl_status status =
      tsl_grammar_json_schema(vocab, text, strlen(text), &compact, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", text, error.message);
  return g;
}

/* ---- the judge: where a text of JSON stands -------------------------------------------------- */

typedef enum place {
  PLACE_NAME,   /* a name, or the bracket or comma before it, or the colon after it */
  PLACE_STRING, /* inside of a value's string */
  PLACE_OTHER
} place;

typedef struct reader {
  char open[64]; /* containers */
  int depth;
  bool in_string, escaped, names; /* names: the next string is one, or this one is */
} reader;

static void read_byte(reader *r, char c) {
  if (r->in_string) {
    if (r->escaped)
      r->escaped = false;
    else if (c == '\\')
      r->escaped = true;
    else if (c == '"')
      r->in_string = false;
    return;
  }
  if (c == '"') r->in_string = true;
  if (c == ':') r->names = false;
  if (c == '{' || c == '[') r->open[r->depth++] = c;
  if (c == '}' || c == ']') r->depth--;
  if (c == '{' || c == ',') r->names = r->depth && r->open[r->depth - 1] == '{';
  if (c == '[' || c == '}' || c == ']') r->names = false;
}

static place place_of(const reader *r) {
  return r->names ? PLACE_NAME : r->in_string ? PLACE_STRING : PLACE_OTHER;
}

/* ---- texts ----------------------------------------------------------------------------------- */

typedef struct run {
  tsl_grammar *grammar;
  tsl_matcher *matcher;
  tsl_sampler *with, *bent, *without; /* penalties that spare structure, that do not, none */
  tsl_sampler_options options;
  reader reader;
  uint64_t state;
  float *logits;
  uint32_t *mask;
  double *p, *q, *bend;
  unsigned names, bent_names, strings, penalised, objects;
} run;

/* A model that likes some tokens everywhere, and these most that it wrote before. */
static void make_logits(run *r) {
  uint64_t fixed = 17;
  for (size_t i = 0; i < width; i++)
    r->logits[i] = 4 * (float)((double)(tsl_test_random(&fixed) >> 11) * 0x1p-53) +
                   2 * (float)((double)(tsl_test_random(&r->state) >> 11) * 0x1p-53);
}

static bool same(const double *a, const double *b, double *most) {
  *most = 0;
  for (size_t i = 0; i < width; i++)
    if (fabs(a[i] - b[i]) > *most) *most = fabs(a[i] - b[i]);
  return *most < 1e-9;
}

static void look(run *r) {
  double far, by;
  CHECK(tsl_sampler_distribution(r->with, r->logits, width, r->mask, r->p, NULL, NULL) == TSL_OK);
  CHECK(tsl_sampler_distribution(r->without, r->logits, width, r->mask, r->q, NULL, NULL) ==
        TSL_OK);
  CHECK(tsl_sampler_distribution(r->bent, r->logits, width, r->mask, r->bend, NULL, NULL) ==
        TSL_OK);
  bool equal = same(r->p, r->q, &far);
  if (place_of(&r->reader) == PLACE_NAME) {
    CHECKF(equal, "a name's probability is %g off", far);
    r->names++;
    r->bent_names += !same(r->bend, r->q, &by);
  }
  if (place_of(&r->reader) == PLACE_STRING) {
    r->strings++;
    r->penalised += !equal;
  }
}

static void take(run *r, tsl_token token) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(vocab, token, &n);
  CHECK(tsl_matcher_accept(r->matcher, token) == TSL_OK);
  if (tsl_matcher_is_terminated(r->matcher)) return;
  for (size_t i = 0; i < n; i++) {
    r->objects += bytes[i] == '}' && !r->reader.in_string;
    read_byte(&r->reader, (char)bytes[i]);
  }
  CHECK(tsl_sampler_accept(r->with, token) == TSL_OK);
  CHECK(tsl_sampler_accept(r->bent, token) == TSL_OK);
}

static void open_run(run *r, const char *text, const tsl_sampler_options *options) {
  *r = (run){.grammar = schema(text), .state = 5, .options = *options};
  r->logits = calloc(width, sizeof *r->logits);
  r->mask = calloc((width + 31) / 32, sizeof *r->mask);
  r->p = calloc(3 * width, sizeof *r->p);
  r->q = r->p + width;
  r->bend = r->q + width;
  tsl_sampler_options plain = {.seed = 3, .temperature = options->temperature};
  tsl_sampler_options bent = *options;
  bent.penalise_structure = true;
  if (tsl_matcher_new(r->grammar, NULL, &r->matcher) != TSL_OK ||
      tsl_sampler_new(options, NULL, &r->with) != TSL_OK ||
      tsl_sampler_new(&bent, NULL, &r->bent) != TSL_OK ||
      tsl_sampler_new(&plain, NULL, &r->without) != TSL_OK)
    exit(2);
  tsl_sampler_set_matcher(r->with, r->matcher);
  tsl_sampler_set_matcher(r->bent, r->matcher); /* which its options switch off */
}

static void close_run(run *r) {
  tsl_sampler_free(r->with);
  tsl_sampler_free(r->bent);
  tsl_sampler_free(r->without);
  tsl_matcher_free(r->matcher);
  tsl_grammar_release(r->grammar);
  free(r->logits);
  free(r->mask);
  free(r->p);
}

#define OBJECT(extra)                                                                    \
  "{\"type\":\"array\",\"minItems\":30,\"items\":{\"type\":\"object\",\"properties\":{"  \
  "\"id\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\",\"maxLength\":12},"       \
  "\"kind\":{\"enum\":[\"red\",\"green\"]},\"tags\":{\"type\":\"array\",\"maxItems\":3," \
  "\"items\":{\"type\":\"string\",\"maxLength\":6}}}," extra "}}"

static const char *const schemas[] = {
    OBJECT("\"required\":[\"id\",\"name\"],\"additionalProperties\":false"),
    OBJECT("\"required\":[\"id\",\"name\",\"kind\",\"tags\"],\"additionalProperties\":false"),
    OBJECT("\"required\":[\"id\",\"name\"]"), /* other names are free */
    "{\"type\":\"array\",\"minItems\":20,\"items\":{\"type\":\"object\",\"minProperties\":2,"
    "\"propertyNames\":{\"maxLength\":4},"
    "\"additionalProperties\":{\"type\":\"string\",\"maxLength\":9}}}",
    "{\"type\":\"array\",\"minItems\":20,\"uniqueItems\":true,\"items\":{\"type\":\"object\","
    "\"properties\":{\"a\":{\"type\":\"string\",\"maxLength\":9},\"b\":{\"type\":\"integer\"}},"
    "\"required\":[\"a\",\"b\"],\"additionalProperties\":false}}"};

static const tsl_sampler_options penalties[] = {
    {.temperature = 1, .repetition_penalty = 3},
    {.temperature = 1, .frequency_penalty = 1.5f, .presence_penalty = 2},
    {.temperature = 1, .dry_multiplier = 4, .dry_base = 2, .dry_allowed = 1},
    {.temperature = 0.7f,
     .repetition_penalty = 2,
     .frequency_penalty = 1,
     .presence_penalty = 1,
     .dry_multiplier = 2,
     .dry_allowed = 1,
     .penalty_window = 200,
     .dry_window = 200}};

/* The probabilities of names are those without penalties, at every place of a long text; in strings
 * the penalties are felt. */
static void long_arrays(void) {
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
    for (size_t k = 0; k < sizeof penalties / sizeof *penalties; k++) {
      run r;
      tsl_draw d;
      open_run(&r, schemas[i], &penalties[k]);
      for (int n = 0; n < 250 && !tsl_matcher_is_terminated(r.matcher); n++) {
        make_logits(&r);
        CHECK(tsl_matcher_mask(r.matcher, r.mask) == TSL_OK);
        look(&r);
        CHECK(tsl_sampler_draw(r.with, r.logits, width, r.mask, &d) == TSL_OK);
        take(&r, d.token);
      }
      CHECKF(r.names > 20 && r.strings > 10 && r.objects > 1, "schema %zu: %u %u %u", i, r.names,
             r.strings, r.objects);
      CHECKF(r.bent_names > 5, "schema %zu, penalties %zu: %u of %u names are bent", i, k,
             r.bent_names, r.names);
      CHECKF(r.penalised > 0, "schema %zu, penalties %zu: none of %u", i, k, r.strings);
      close_run(&r);
    }
}

/* The next token is the whole text's, and no n-gram of content comes twice. */
static void ngrams(void) {
  tsl_sampler_options o = {.temperature = 1, .no_repeat_ngram = 2};
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
    run r;
    tsl_draw d;
    open_run(&r, schemas[i], &o);
    for (int n = 0; n < 200 && !tsl_matcher_is_terminated(r.matcher); n++) {
      make_logits(&r);
      CHECK(tsl_matcher_mask(r.matcher, r.mask) == TSL_OK);
      look(&r);
      CHECK(tsl_sampler_draw(r.with, r.logits, width, r.mask, &d) == TSL_OK);
      take(&r, d.token);
    }
    CHECKF(r.bent_names > 3, "schema %zu: %u", i, r.bent_names);
    close_run(&r);
  }
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Write a text in bytes: the vocabulary has a token for each. */
static void write_text(run *r, const char *text) {
  for (; *text; text++) {
    tsl_token token = 0;
    for (size_t n = 0; token < tsl_vocab_size(vocab); token++) {
      const uint8_t *bytes = tsl_vocab_bytes(vocab, token, &n);
      if (n == 1 && *bytes == (uint8_t)*text && !tsl_vocab_is_special(vocab, token)) break;
    }
    take(r, token);
  }
}

/* Without a matcher, and after it is gone, penalties know no structure; nor does a fork. */
static void switched_off(void) {
  run r;
  double by;
  tsl_sampler *fork = NULL;
  open_run(&r, schemas[0], &penalties[1]);
  write_text(&r, "[{\"id\":1,\"name\":\"a\"},{\"id\":2,\"name\":\"b\"},{\"");
  make_logits(&r);
  CHECK(tsl_matcher_mask(r.matcher, r.mask) == TSL_OK);
  look(&r);
  CHECK(r.names == 1 && r.bent_names == 1);
  CHECK(tsl_sampler_fork(r.with, 9, &fork) == TSL_OK);
  CHECK(tsl_sampler_distribution(fork, r.logits, width, r.mask, r.p, NULL, NULL) == TSL_OK);
  CHECK(same(r.p, r.bend, &by));
  tsl_sampler_set_matcher(fork, r.matcher);
  CHECK(tsl_sampler_distribution(fork, r.logits, width, r.mask, r.p, NULL, NULL) == TSL_OK);
  CHECK(same(r.p, r.q, &by));
  tsl_sampler_set_matcher(fork, NULL);
  CHECK(tsl_sampler_distribution(fork, r.logits, width, r.mask, r.p, NULL, NULL) == TSL_OK);
  CHECK(same(r.p, r.bend, &by));
  tsl_sampler_free(fork);
  /* the matcher goes on to another grammar's */
  tsl_grammar *g = schema("{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}");
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  tsl_sampler_set_matcher(r.with, m);
  CHECK(tsl_matcher_mask(m, r.mask) == TSL_OK);
  CHECK(tsl_sampler_distribution(r.with, r.logits, width, r.mask, r.p, NULL, NULL) == TSL_OK);
  CHECK(tsl_sampler_distribution(r.without, r.logits, width, r.mask, r.q, NULL, NULL) == TSL_OK);
  CHECK(same(r.p, r.q, &by)); /* only `[` may come */
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  close_run(&r);
}

/* Of digits and letters in values the penalty is the full one. */
static void content_is_penalised(void) {
  run r;
  open_run(&r, schemas[0], &(tsl_sampler_options){.temperature = 1, .presence_penalty = 2});
  write_text(&r, "[{\"id\":17,\"name\":\"ab\"},{\"id\":2,\"name\":\"c\"},{\"id\":");
  for (size_t i = 0; i < width; i++) r.logits[i] = 0;
  CHECK(tsl_matcher_mask(r.matcher, r.mask) == TSL_OK);
  CHECK(tsl_sampler_distribution(r.with, r.logits, width, r.mask, r.p, NULL, NULL) == TSL_OK);
  double digit[10] = {0};
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    if (n == 1 && *bytes >= '0' && *bytes <= '9') digit[*bytes - '0'] = r.p[t];
  }
  CHECK(digit[3] > 0 && fabs(digit[1] / digit[3] - exp(-2)) < 1e-6);
  CHECK(fabs(digit[7] / digit[3] - exp(-2)) < 1e-6 && digit[4] == digit[3]);
  close_run(&r);
}

/* A request that is refused leaves the sampler as it was, and nothing behind. */
static void out_of_memory(void) {
  run r;
  open_run(&r, schemas[2], &penalties[3]);
  write_text(&r, "[{\"id\":17,\"name\":\"ab\"},{\"id\":2,\"na");
  make_logits(&r);
  CHECK(tsl_matcher_mask(r.matcher, r.mask) == TSL_OK);
  look(&r);
  long refused = 0;
  for (long n = 0; n < 40; n++) {
    failing f = {.left = 1000, .held = 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_sampler *s = NULL;
    tsl_draw d;
    size_t count;
    tsl_token tokens[64];
    CHECK(tsl_sampler_new(&penalties[3], &a, &s) == TSL_OK);
    tsl_sampler_set_matcher(s, r.matcher);
    const char *text = "[{\"id\":17,\"name\":\"ab\"},{\"id\":2,\"na";
    CHECK(tsl_vocab_encode(vocab, text, strlen(text), 0, tokens, 64, &count) == TSL_OK);
    for (size_t i = 0; i < count; i++) CHECK(tsl_sampler_accept(s, tokens[i]) == TSL_OK);
    f.left = n;
    tsl_status status = tsl_sampler_draw(s, r.logits, width, r.mask, &d);
    CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
    refused += status == TSL_ERR_NO_MEMORY;
    f.left = 1000;
    CHECK(tsl_sampler_draw(s, r.logits, width, r.mask, &d) == TSL_OK);
    tsl_sampler_free(s);
    CHECKF(f.held == 0, "%ld bytes", f.held);
  }
  CHECK(refused > 3 && refused < 40);
  close_run(&r);
}

/* A sampler without a matcher holds no grammar: what the grammar points at may be freed. */
static void lets_go(void) {
  tsl_sampler_options o = {.temperature = 1, .repetition_penalty = 2};
  tsl_sampler *s = NULL;
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  CHECK(tsl_sampler_new(&o, NULL, &s) == TSL_OK);
  CHECK(tsl_grammar_regex(vocab, "[a-z]+", 6, NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  float *row = calloc(width, sizeof *row);
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * sizeof *mask);
  tsl_draw d;
  tsl_sampler_set_matcher(s, m);
  for (int i = 0; i < 3; i++) {
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    CHECK(tsl_sampler_draw(s, row, width, mask, &d) == TSL_OK);
    CHECK(tsl_sampler_accept(s, d.token) == TSL_OK && tsl_matcher_accept(m, d.token) == TSL_OK);
  }
  unsigned held = atomic_load(&g->references);
  tsl_sampler_set_matcher(s, NULL);
  CHECK(atomic_load(&g->references) == held - 1);
  tsl_matcher_free(m);
  CHECK(atomic_load(&g->references) == 1);
  tsl_grammar_release(g);
  free(row);
  free(mask);
  tsl_sampler_free(s);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 2;
  width = tsl_vocab_logits_width(vocab);
  RUN(long_arrays, "names keep their probabilities in long arrays");
  RUN(ngrams, "so they do where n-grams are banned");
  RUN(switched_off, "without a matcher, and of another grammar");
  RUN(content_is_penalised, "values lose what a penalty takes");
  RUN(lets_go, "of the grammar, without a matcher");
  RUN(out_of_memory, "requests that are refused");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
