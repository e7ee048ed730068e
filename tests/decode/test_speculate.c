/* test_speculate.c - speculative decoding gives the model's own distribution. All outcomes of small
 * cases are enumerated with their probabilities, not drawn. A million draws are compared with
 * direct sampling: chains and trees, with and without a grammar. Also tested: masks of drafts, and
 * drafts that the grammar makes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/speculate.h"

#include <float.h>

#include "runtime/core/rng.h"
#include "tests/support/toy.h"

/* ---- all outcomes ---------------------------------------------------------------------------- */

/* A source of chance that goes through every outcome. Each decision is replayed from `choice`, or
 * begins at its first outcome. `probability` is that of the run. */
#define DECISIONS 64
typedef struct odometer {
  size_t choice[DECISIONS], options[DECISIONS], at, n;
  double probability;
} odometer;

static size_t decide(odometer *o, size_t options) {
  if (o->at == o->n) {
    if (o->n == DECISIONS) abort();
    o->choice[o->n] = 0;
    o->options[o->n++] = options;
  }
  return o->choice[o->at++];
}

static bool all_coins(void *ctx, double p) {
  odometer *o = ctx;
  bool heads = decide(o, 2) == 0;
  o->probability *= heads ? p : 1 - p;
  return heads;
}

static size_t all_picks(void *ctx, const double *weights, size_t n, double total) {
  odometer *o = ctx;
  size_t i = decide(o, n);
  o->probability *= weights[i] / total;
  return i;
}

/* The next run; false when all were made. */
static bool next_run(odometer *o) {
  o->n = o->at;
  while (o->n && o->choice[o->n - 1] + 1 == o->options[o->n - 1]) o->n--;
  if (o->n) o->choice[o->n - 1]++;
  o->at = 0;
  o->probability = 1;
  return o->n > 0;
}

/* ---- a step of a whole decoder --------------------------------------------------------------- */

#define WIDTH 6u
static const char *const letters[WIDTH] = {"a", "b", "c", "ab", "ca", "</s>"};

typedef struct setting {
  toy_model model, drafter;
  double temperature, draft_temperature;
  const uint32_t *parents; /* NULL: a chain */
  size_t count;
  /* drafts are drawn from the drafter; under the mask; siblings without replacement */
  bool drawn, masked, distinct;
} setting;

/* The token after a prefix in the drafter's distribution without what siblings took; or, if drafts
 * are not drawn, a chosen one. */
static tsl_token draft_one(const setting *s, const tsl__chance *chance, const float *logits,
                           const uint32_t *mask, const tsl_token *chosen, size_t seen_n) {
  double q[WIDTH], total = 0;
  size_t choice = 0;
  if (!s->drawn) {
    for (size_t i = 1; i < WIDTH; i++) choice = logits[i] > logits[choice] ? i : choice;
    return (tsl_token)((choice + seen_n) % WIDTH);
  }
  if (tsl__softmax(logits, s->masked ? mask : NULL, WIDTH, s->draft_temperature, q) != TSL_OK)
    return TSL_NO_TOKEN;
  for (size_t i = 0; i < seen_n && s->distinct; i++) q[chosen[i]] = 0;
  for (size_t i = 0; i < WIDTH; i++) total += q[i];
  return total > 0 ? (tsl_token)chance->pick(chance->ctx, q, WIDTH, total) : TSL_NO_TOKEN;
}

typedef struct draft_tree {
  tsl_token tokens[8], prefix[9][16]; /* the text after each row's draft */
  size_t length[9];
  uint32_t parents[8];
  float logits[9 * WIDTH], draft_logits[9 * WIDTH];
  size_t count;
} draft_tree;

/* Draft; trees shrink where nothing can be drafted. False if the run has no meaning (a draft of
 * probability 0). */
static bool draft(const setting *s, tsl_matcher *m, const tsl__chance *chance,
                  const tsl_token *text, size_t n, draft_tree *t) {
  uint32_t masks[9];
  t->count = 0;
  t->length[0] = n;
  memcpy(t->prefix[0], text, n * sizeof *text);
  for (size_t i = 0; i <= s->count; i++) {
    toy_logits(&s->model, t->prefix[i], t->length[i], t->logits + i * WIDTH);
    toy_logits(&s->drafter, t->prefix[i], t->length[i], t->draft_logits + i * WIDTH);
    if (i == s->count) break;
    uint32_t parent = s->parents ? s->parents[i] : i ? (uint32_t)i - 1 : TSL_NO_PARENT;
    size_t row = parent == TSL_NO_PARENT ? 0 : parent + 1, chosen = 0;
    tsl_token siblings[8];
    t->parents[i] = parent;
    for (size_t k = 0; k < i; k++)
      if (t->parents[k] == parent) siblings[chosen++] = t->tokens[k];
    if (tsl_matcher_mask_drafts(m, t->tokens, t->parents, i, masks, NULL) != TSL_OK) return false;
    t->tokens[i] =
        draft_one(s, chance, t->draft_logits + row * WIDTH, &masks[row], siblings, chosen);
    if (t->tokens[i] == TSL_NO_TOKEN) return true;
    memcpy(t->prefix[i + 1], t->prefix[row], t->length[row] * sizeof *text);
    t->prefix[i + 1][t->length[row]] = t->tokens[i];
    t->length[i + 1] = t->length[row] + 1;
    t->count = i + 1;
  }
  return true;
}

/* The first `want` tokens of a text, by speculation, filled up directly; the end of the generation
 * repeats. */
static tsl_status write_text(const setting *s, tsl_grammar *g, const tsl__chance *chance,
                             size_t want, tsl_token *text) {
  tsl_matcher *m = NULL;
  size_t n = 0;
  tsl_status status = tsl_matcher_new(g, NULL, &m);
  while (status == TSL_OK && n < want && !tsl_matcher_is_terminated(m)) {
    draft_tree t;
    uint32_t path[8];
    size_t accepted;
    tsl_token next;
    if (!draft(s, m, chance, text, n, &t)) status = TSL_ERR_STATE;
    tsl_drafts d = {t.tokens,
                    s->parents ? t.parents : NULL,
                    t.count,
                    t.logits,
                    s->drawn ? t.draft_logits : NULL,
                    (float)s->temperature,
                    (float)s->draft_temperature,
                    s->masked,
                    s->distinct};
    if (status == TSL_OK) status = tsl__speculate(m, &d, chance, path, &accepted, &next);
    for (size_t i = 0; status == TSL_OK && i < accepted && n < want; i++)
      text[n++] = t.tokens[path[i]];
    if (status == TSL_OK && n < want && next != TSL_NO_TOKEN) text[n++] = next;
    if (status == TSL_OK && accepted == 0 && next == TSL_NO_TOKEN) break;
  }
  while (n < want) text[n++] = WIDTH - 1;
  tsl_matcher_free(m);
  return status;
}

/* The same text's probability, drawn token by token. */
static double direct(const setting *s, tsl_grammar *g, const tsl_token *text, size_t want) {
  tsl_matcher *m = NULL;
  double p = 1, row[WIDTH];
  float logits[WIDTH];
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (size_t i = 0; i < want && p > 0; i++) {
    uint32_t mask;
    if (tsl_matcher_mask(m, &mask) != TSL_OK) abort();
    if (mask == 0) {
      p = text[i] == WIDTH - 1 ? p : 0;
      continue;
    }
    toy_logits(&s->model, text, i, logits);
    if (tsl__softmax(logits, &mask, WIDTH, s->temperature, row) != TSL_OK) abort();
    p *= row[text[i]];
    if (p > 0 && tsl_matcher_accept(m, text[i]) != TSL_OK) abort();
  }
  tsl_matcher_free(m);
  return p;
}

static const uint32_t tree_a[] = {TSL_NO_PARENT, TSL_NO_PARENT, 0};
static const uint32_t tree_b[] = {TSL_NO_PARENT, 0, 0};
static const uint32_t tree_c[] = {TSL_NO_PARENT, TSL_NO_PARENT, TSL_NO_PARENT};

static const char *const grammars[] = {"root ::= [abc]*", "root ::= \"a\" root \"b\" | \"c\"",
                                       "root ::= (\"ab\" | \"ca\"){0,3}",
                                       "root ::= (\"abc\" | \"cab\" | [ab])+"};
#define GRAMMARS (sizeof grammars / sizeof *grammars)

static setting setting_of(size_t i) {
  static const struct {
    const uint32_t *parents;
    size_t count;
  } shapes[] = {{NULL, 1}, {NULL, 2}, {tree_a, 3}, {tree_b, 3}, {tree_c, 3}};
  setting s = {{i * 7 + 1, 4, WIDTH, 0, 0},
               {i * 5 + 2, 6, WIDTH, 0, 0},
               1,
               1.25,
               shapes[i % 5].parents,
               shapes[i % 5].count,
               i % 3 != 0,
               i % 2 == 0,
               i % 4 < 2};
  if (i % 7 == 3) s.temperature = 0.5;
  if (i % 11 == 5) s.draft_temperature = 0;
  if (i % 11 == 5) s.distinct = false;
  return s;
}

/* Total variation between what comes out over all runs and direct sampling. */
static void enumerated(void) {
  static double table[WIDTH * WIDTH];
  double worst = 0;
  uint64_t runs = 0;
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  for (size_t k = 0; k < GRAMMARS; k++) {
    tsl_grammar *g = toy_gbnf(v, grammars[k]);
    for (size_t i = 0; i < ROUNDS_OF(30u); i++) {
      if (!tsl_test_turn(GRAMMARS * i + k, 3)) continue;
      setting s = setting_of(i);
      odometer o = {.probability = 1};
      tsl__chance chance = {&o, all_coins, all_picks};
      size_t want = s.count == 3 ? 1 + (s.parents == tree_b) : 2;
      double total = 0, distance = 0;
      memset(table, 0, sizeof table);
      do {
        tsl_token text[16] = {0};
        tsl_status status = write_text(&s, g, &chance, want, text);
        if (o.probability == 0) continue; /* this run can't be: its drafts have probability 0 */
        CHECKF(status == TSL_OK, "%s", tsl_status_name(status));
        table[text[0] + (want > 1 ? WIDTH * text[1] : 0)] += o.probability;
        total += o.probability;
        runs++;
      } while (next_run(&o));
      for (tsl_token a = 0; a < WIDTH; a++)
        for (tsl_token b = 0; b < (want > 1 ? WIDTH : 1); b++) {
          tsl_token text[2] = {a, b};
          distance += fabs(table[a + (want > 1 ? WIDTH * b : 0)] - direct(&s, g, text, want)) / 2;
        }
      CHECKF(distance < 1e-12 && fabs(total - 1) < 1e-12,
             "grammar %zu, setting %zu: total variation %g, sum %.17g", k, i, distance, total);
      if (distance > worst) worst = distance;
    }
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
  printf("       %" PRIu64 " runs, largest total variation %.2g\n", runs, worst);
}

/* ---- draws ----------------------------------------------------------------------------------- */

typedef struct stream {
  uint64_t seed, at;
} stream;

static bool coin(void *ctx, double p) {
  stream *s = ctx;
  return tsl__rng_uniform(s->seed, s->at++) < p;
}

static size_t roulette(void *ctx, const double *weights, size_t n, double total) {
  stream *s = ctx;
  double u = tsl__rng_uniform(s->seed, s->at++) * total;
  size_t last = 0;
  for (size_t i = 0; i < n; i++) {
    if (weights[i] <= 0) continue;
    last = i;
    if ((u -= weights[i]) < 0) break;
  }
  return last;
}

/* Upper tail of the chi-square distribution: the incomplete gamma function, by its continued
 * fraction or series (Press et al., Numerical Recipes 6.2). */
static double chi_square_tail(double x, double degrees) {
  double a = degrees / 2, z = x / 2, front = exp(a * log(z) - z - lgamma(a));
  if (z < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 1000; n++) sum += term *= z / (a + n);
    return 1 - front * sum;
  }
  double b = z + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < 1000; n++) {
    double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= c * d;
  }
  return front * h;
}

/* 250,000 texts of three tokens for each of a chain, a chain of chosen drafts and two trees: a
 * million and more. A run of all tests draws a tenth. The public call draws. */
static void drawn(void) {
  static const size_t settings[] = {1, 6, 2, 13};
  static unsigned long counts[WIDTH * WIDTH * WIDTH];
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  for (size_t k = 0; k < 4; k++) {
    tsl_grammar *g = toy_gbnf(v, grammars[k == 1 ? 3 : k == 3 ? 1 : 0]);
    setting s = setting_of(settings[k]);
    stream own = {77 + k, 0};
    uint64_t draws = 0;
    tsl__chance chance = {&own, coin, roulette};
    const unsigned long texts = getenv("TSL_SHARE") ? 25000 : 250000;
    memset(counts, 0, sizeof counts);
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (unsigned long i = 0; i < texts; i++) {
      tsl_token text[16] = {0};
      size_t n = 0;
      tsl_matcher_reset(m);
      while (n < 3 && !tsl_matcher_is_terminated(m)) {
        draft_tree t;
        uint32_t path[8];
        size_t accepted = 0;
        tsl_token next = TSL_NO_TOKEN;
        bool ok = draft(&s, m, &chance, text, n, &t);
        tsl_drafts d = {t.tokens,
                        t.parents,
                        t.count,
                        t.logits,
                        s.drawn ? t.draft_logits : NULL,
                        (float)s.temperature,
                        (float)s.draft_temperature,
                        s.masked,
                        s.distinct};
        if (!ok || tsl_speculate(m, &d, 5 + k, &draws, path, &accepted, &next) != TSL_OK) abort();
        for (size_t j = 0; j < accepted; j++) text[n++] = t.tokens[path[j]];
        if (next != TSL_NO_TOKEN)
          text[n++] = next;
        else if (!accepted)
          break;
      }
      for (; n < 3; n++) text[n] = WIDTH - 1;
      counts[text[0] + WIDTH * (text[1] + WIDTH * text[2])]++;
    }
    double chi = 0, rest = 0;
    unsigned long rest_seen = 0;
    unsigned cells = 0;
    for (tsl_token a = 0; a < WIDTH; a++)
      for (tsl_token b = 0; b < WIDTH; b++)
        for (tsl_token c = 0; c < WIDTH; c++) {
          tsl_token text[3] = {a, b, c};
          double want = direct(&s, g, text, 3) * (double)texts;
          unsigned long seen = counts[a + WIDTH * (b + WIDTH * c)];
          if (want == 0) CHECK(seen == 0);
          if (want < 5) {
            rest += want;
            rest_seen += seen;
            continue;
          }
          chi += ((double)seen - want) * ((double)seen - want) / want;
          cells++;
        }
    if (rest >= 5) chi += ((double)rest_seen - rest) * ((double)rest_seen - rest) / rest, cells++;
    double p = chi_square_tail(chi, cells - 1.0);
    printf("       setting %zu: %lu texts, %u cells, chi-square %.1f, p %.3f\n", settings[k], texts,
           cells, chi, p);
    CHECK(cells > 3 && p > 0.001);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  CHECK(fabs(chi_square_tail(3.841459, 1) - 0.05) < 1e-6 &&
        fabs(chi_square_tail(23.2093, 10) - 0.01) < 1e-6);
  tsl_vocab_release(v);
}

/* ---- masks of drafts ------------------------------------------------------------------------- */

static void draft_masks(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  uint64_t state = 3;
  for (size_t k = 0; k < GRAMMARS; k++) {
    tsl_grammar *g = toy_gbnf(v, grammars[k]);
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (int round = 0; round < 200; round++) {
      tsl_token tokens[7];
      uint32_t parents[7], masks[8], mask;
      bool allowed[7];
      for (uint32_t i = 0; i < 7; i++) {
        tokens[i] = (tsl_token)(tsl_test_random(&state) % WIDTH);
        parents[i] = (uint32_t)(tsl_test_random(&state) % (i + 1)) - 1u; /* TSL_NO_PARENT is -1 */
      }
      CHECK(tsl_matcher_mask_drafts(m, tokens, parents, 7, masks, allowed) == TSL_OK);
      CHECK(tsl_matcher_mask(m, &mask) == TSL_OK && mask == masks[0]);
      for (size_t i = 0; i < 7; i++) {
        tsl_matcher *f = NULL;
        tsl_token way[7];
        size_t n = 0;
        for (uint32_t at = (uint32_t)i; at != TSL_NO_PARENT; at = parents[at])
          way[n++] = tokens[at];
        CHECK(tsl_matcher_fork(m, &f) == TSL_OK);
        bool fine = true;
        while (n && fine) fine = tsl_matcher_accept(f, way[--n]) == TSL_OK;
        CHECK(tsl_matcher_mask(f, &mask) == TSL_OK && allowed[i] == fine &&
              masks[i + 1] == (fine ? mask : 0));
        tsl_matcher_free(f);
      }
      parents[0] = 0;
      CHECK(tsl_matcher_mask_drafts(m, tokens, parents, 1, masks, NULL) == TSL_ERR_ARGUMENT);
    }
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

static void refused(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, grammars[1]);
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  float rows[2 * WIDTH] = {0}, bad[2 * WIDTH] = {NAN, 0, 0}, only[2 * WIDTH] = {0};
  /* the drafter gives "a" only */
  for (size_t i = 0; i < 2 * WIDTH; i++) only[i] = i % WIDTH ? -INFINITY : 0;
  tsl_token token = 2, next;
  uint64_t draws = 9;
  uint32_t path[1];
  size_t accepted;
  tsl_drafts d = {&token, NULL, 1, bad, NULL, 1, 1, false, false};
  CHECK(tsl_speculate(m, &d, 1, &draws, path, &accepted, &next) == TSL_ERR_LOGITS && draws == 9 &&
        tsl_matcher_history(m) == 0);
  d.logits = rows;
  d.draft_logits = only;
  CHECK(tsl_speculate(m, &d, 1, &draws, path, &accepted, &next) == TSL_ERR_ARGUMENT &&
        accepted == 0 && next == TSL_NO_TOKEN && draws == 9);
  d.draft_logits = NULL;
  d.temperature = -1;
  CHECK(tsl_speculate(m, &d, 1, &draws, path, &accepted, &next) == TSL_ERR_ARGUMENT);
  d.temperature = 1;
  token = WIDTH;
  CHECK(tsl_speculate(m, &d, 1, &draws, path, &accepted, &next) == TSL_ERR_ARGUMENT);
  d.count = 0;
  CHECK(tsl_speculate(m, &d, 1, &draws, path, &accepted, &next) == TSL_OK && draws == 10 &&
        tsl_matcher_history(m) == 1 && (next == 0 || next == 2));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* At an infinite temperature, of either model, tokens with a finite logit are alike, and one with a
 * logit of -inf never comes. */
static void hottest(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, grammars[0]);
  tsl_matcher *m = NULL;
  float rows[2 * WIDTH], drafter[2 * WIDTH];
  size_t seen[WIDTH] = {0};
  uint64_t draws = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (size_t i = 0; i < 2 * WIDTH; i++) {
    rows[i] = i % WIDTH == 1 ? FLT_MAX : i % WIDTH == 2 ? -FLT_MAX : -INFINITY; /* "b" and "c" */
    drafter[i] = i % WIDTH == 0 || i % WIDTH == 1 ? (float)i : -INFINITY;       /* "a" and "b" */
  }
  for (size_t i = 0; i < 4000; i++) {
    tsl_token token = (tsl_token)(i % 2), next;
    uint32_t path[1];
    size_t accepted;
    tsl_drafts d = {&token,   NULL,     i < 2000, rows, i < 2000 ? drafter : NULL,
                    INFINITY, INFINITY, false,    false};
    tsl_matcher_reset(m);
    CHECK(tsl_speculate(m, &d, 1, &draws, path, &accepted, &next) == TSL_OK && accepted <= token);
    seen[accepted ? token : next]++;
  }
  CHECKF(seen[1] > 1800 && seen[2] > 1800 && seen[1] + seen[2] == 4000, "b %zu, c %zu of 4000",
         seen[1], seen[2]);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

static void every_allocation_fails(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, grammars[1]);
  bool done = false;
  for (long nth = 0; nth < 40 && !done; nth++) {
    failing f = {nth, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_matcher *m = NULL;
    tsl_status status = tsl_matcher_new(g, &a, &m);
    float rows[3 * WIDTH] = {0};
    tsl_token tokens[2] = {0, 2}, next, out[8];
    uint64_t draws = 0;
    uint32_t path[2];
    size_t accepted, count, retract;
    tsl_drafts d = {tokens, NULL, 2, rows, NULL, 1, 1, false, false};
    if (status == TSL_OK) status = tsl_speculate(m, &d, 1, &draws, path, &accepted, &next);
    if (status != TSL_OK && m) CHECK(tsl_matcher_history(m) == 0 && draws == 0);
    if (status == TSL_OK)
      status = tsl_matcher_draft_forced(m, tokens, 1, 1, out, 8, &count, &retract);
    CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
    done = status == TSL_OK && !failing_failed(&f);
    tsl_matcher_free(m);
    CHECK(f.held == 0);
  }
  CHECK(done);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* ---- drafts that the grammar makes ----------------------------------------------------------- */

/* tokenizer.json: an added token that is not special is what a model writes, though a text that is
 * encoded without TSL_ENCODE_SPECIAL has none. A special one is not drafted for its text. */
static void own_added(void) {
  static const char file[] =
      "{\"added_tokens\":[{\"id\":5,\"content\":\"<t>\",\"special\":false},"
      "{\"id\":6,\"content\":\"<s>\",\"special\":true}],\"normalizer\":null,"
      "\"decoder\":{\"type\":\"ByteLevel\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_"
      "space\":false,\"use_regex\":false},"
      "\"model\":{\"type\":\"BPE\",\"vocab\":{\"<\":0,\"t\":1,\">\":2,\"s\":3,\"<t\":4},"
      "\"merges\":[\"< t\"]}}";
  static const tsl_token plain[] = {4, 2}, own[] = {5, 5, 0, 3, 2};
  tsl_vocab *v = NULL;
  tsl_error error = {0};
  tsl_matcher *m = NULL;
  tsl_token out[16];
  size_t n, retract;
  CHECKF(!tsl_vocab_load_memory(file, sizeof file - 1, NULL, NULL, NULL, &v, &error), "%s",
         error.message);
  CHECK(!tsl_vocab_encode(v, "<t>", 3, 0, out, 16, &n) && n == 2 &&
        !memcmp(out, plain, sizeof plain));
  tsl_grammar *g = toy_gbnf(v, "root ::= \"<t><t><s>\"");
  CHECK(!tsl_matcher_new(g, NULL, &m));
  CHECK(!tsl_matcher_draft_forced(m, NULL, 0, 0, out, 16, &n, &retract));
  CHECKF(n == 5 && !retract && !memcmp(out, own, sizeof own), "%zu drafts", n);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* Write a text token by token in a wrong tokenisation up to a byte. Then the drafts, after what
 * they retract, spell the canonical tokens of the whole. */
static void forced_drafts(void) {
  static const char *const texts[] = {
      "{\"name\":\"Ada Lovelace\",\"description\":\"the first programmer of the world\"}",
      "{\"type\":\"object\",\"properties\":{\"required\":[]}}"};
  tsl_vocab *v = NULL;
  size_t drafted = 0, retracted = 0;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t k = 0; k < 2; k++) {
    size_t n = strlen(texts[k]);
    char gbnf[512] = "root ::= \"", *to = gbnf + strlen(gbnf);
    for (size_t i = 0; i < n; i++) {
      if (texts[k][i] == '"') *to++ = '\\';
      *to++ = texts[k][i];
    }
    strcpy(to, "\"");
    tsl_grammar *g = toy_gbnf(v, gbnf);
    tsl_token whole[128];
    size_t whole_n;
    CHECK(tsl_vocab_encode(v, texts[k], n, 0, whole, 128, &whole_n) == TSL_OK);
    for (size_t at = 0; at < n; at++) {
      tsl_matcher *m = NULL;
      tsl_token tail[128], out[128];
      size_t tail_n = 0, count, retract, boundary = 0, i = 0;
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
      CHECK(tsl_vocab_encode(v, texts[k], at, 0, tail, 128, &tail_n) == TSL_OK);
      for (i = 0; i < tail_n; i++) CHECK(tsl_matcher_accept(m, tail[i]) == TSL_OK);
      CHECK(tsl_matcher_draft_forced(m, tail, tail_n, 128, out, 128, &count, &retract) == TSL_OK &&
            count > 0);
      CHECK(tsl_matcher_rollback(m, retract) == TSL_OK);
      drafted += count;
      retracted += retract;
      for (i = 0; i < tail_n - retract; i++) {
        size_t length;
        tsl_vocab_bytes(v, tail[i], &length);
        boundary += length;
      }
      for (i = 0; i < whole_n && boundary; i++) { /* the boundary is one of the whole text, too */
        size_t length;
        tsl_vocab_bytes(v, whole[i], &length);
        CHECK(length <= boundary);
        boundary -= length <= boundary ? length : boundary;
      }
      CHECKF(i + count == whole_n && !memcmp(out, whole + i, count * sizeof *out),
             "after %zu bytes", at);
      for (i = 0; i < count; i++) CHECK(tsl_matcher_accept(m, out[i]) == TSL_OK);
      CHECK(tsl_matcher_is_complete(m));
      if (retract) {
        CHECK(tsl_matcher_rollback(m, count) == TSL_OK);
        for (i = tail_n - retract; i < tail_n; i++) CHECK(tsl_matcher_accept(m, tail[i]) == TSL_OK);
        CHECK(tsl_matcher_draft_forced(m, tail, tail_n, retract - 1, out, 128, &count, &retract) ==
                  TSL_OK &&
              count == 0 && retract == 0);
      }
      tsl_matcher_free(m);
    }
    tsl_grammar_release(g);
  }
  CHECK(retracted > 0);
  printf("       %zu tokens drafted, %zu rolled back\n", drafted, retracted);
  tsl_vocab_release(v);
}

/* Nothing is drafted that another token could replace once the next byte is known. */
static void open_ends(void) {
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"the description: \" [a-z]+ \" and the name\" [a-z]*");
  tsl_matcher *m = NULL;
  tsl_token out[64];
  size_t count, retract, n, total = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(tsl_matcher_draft_forced(m, NULL, 0, 0, out, 64, &count, &retract) == TSL_OK && count > 0 &&
        retract == 0);
  for (size_t i = 0; i < count; i++) {
    tsl_vocab_bytes(v, out[i], &n);
    total += n;
  }
  CHECK(total == strlen("the description:")); /* the space after it may begin the next word */
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* Nothing is drafted where a token may be accepted by its name, even if the text spells that token.
 * A token that was accepted by its name, or that was counted, is not replaced by tokens of the same
 * spelling. */
static void named_tokens(void) {
  static const char *const tokens[] = {"a", "b", "<t>", "ab", "c", "<end>"};
  static const struct {
    const char *grammar;
    tsl_token tail[2]; /* TSL_NO_TOKEN: no more */
    size_t count, retract;
  } cases[] = {
      {"root ::= \"abc\" | <[2]> \"c\"", {TSL_NO_TOKEN}, 0, 0},
      {"root ::= \"abc\" (\"<t>\" | <[2]>) \"abc\"", {TSL_NO_TOKEN}, 2, 0},
      {"root ::= (\"ab\" | <[3]>) \"c\"", {TSL_NO_TOKEN}, 0, 0},
      {"root ::= \"abc\"", {TSL_NO_TOKEN}, 2, 0},
      {"root ::= \"abc\"", {0, TSL_NO_TOKEN}, 2, 1},
      {"root ::= \"c\" <[0]> \"bc\"", {4, 0}, 0, 0},
      {"root ::= <[4]> \"abc\"", {4, 0}, 2, 1},
      {"{\"type\":\"sequence\",\"elements\":[{\"type\":\"any_text\",\"max_tokens\":1},{\"type\":"
       "\"const_string\",\"value\":\"bc\"}]}",
       {0, TSL_NO_TOKEN},
       2,
       1},
  };
  tsl_vocab *v = toy_vocab(tokens, 6, true);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = NULL;
    const char *text = cases[i].grammar;
    if (text[0] == '{')
      CHECK(tsl_grammar_tags(v, text, strlen(text), NULL, NULL, &g, NULL) == TSL_OK);
    else
      g = toy_gbnf(v, text);
    tsl_matcher *m = NULL;
    tsl_token out[8];
    size_t count = 9, retract = 9, n = 0;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    while (n < 2 && cases[i].tail[n] != TSL_NO_TOKEN)
      CHECK(tsl_matcher_accept(m, cases[i].tail[n++]) == TSL_OK);
    CHECK(tsl_matcher_draft_forced(m, cases[i].tail, n, 8, out, 8, &count, &retract) == TSL_OK);
    CHECKF(count == cases[i].count && retract == cases[i].retract,
           "%s: %zu drafts, %zu rolled back", text, count, retract);
    CHECK(tsl_matcher_rollback(m, retract) == TSL_OK);
    for (size_t k = 0; k < count; k++) CHECK(tsl_matcher_accept(m, out[k]) == TSL_OK);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

int main(void) {
  RUN(draft_masks, "masks of all drafts in one call");
  RUN(enumerated, "every outcome, exactly");
  RUN(drawn, "a million draws");
  RUN(refused, "what is refused");
  RUN(hottest, "an infinite temperature");
  RUN(forced_drafts, "forced bytes in canonical tokens");
  RUN(own_added, "forced drafts have added tokens that are not special");
  RUN(named_tokens, "no drafts where tokens may be named");
  RUN(open_ends, "no draft of an open end");
  RUN(every_allocation_fails, "every nth allocation fails");
  return tsl_test_end();
}
