/* test_align.c - decoding with a model: beams against all texts, aligned sampling against the exact
 * conditional, label probabilities against enumeration.
 *
 * The truth is found by walking every token sequence that the grammar allows, with the toy model's
 * probabilities in doubles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/outputs.h"
#include "tests/support/toy.h"

/* ---- the truth ------------------------------------------------------------------------------- */

#define WIDTH 8u
static const char *const letters[WIDTH] = {"a", "b", "c", "ab", "bc", "abc", "ca", "</s>"};

typedef struct way {
  tsl_token tokens[24];
  size_t count; /* the end included */
  char text[64];
  double p, masked; /* the model's own; under masks step by step */
} way;
typedef struct ways {
  way at[20000];
  size_t n;
  double mass;
} ways;

static toy_model model = {5, 6, WIDTH, 0, 0};

static tsl_status ask(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  toy_model *m = ctx;
  m->calls++;
  m->rows += n;
  for (size_t i = 0; i < n; i++)
    toy_logits(m, prefixes[i].tokens, prefixes[i].count, logits + i * m->width);
  return TSL_OK;
}

static void find_ways(ways *all, tsl_matcher *m, tsl_budget *b, uint32_t max, way w) {
  float logits[WIDTH];
  double p[WIDTH], masked[WIDTH];
  uint32_t mask;
  if (tsl_budget_mask(b, m, max - w.count, &mask) != TSL_OK || !mask) abort();
  toy_logits(&model, w.tokens, w.count, logits);
  toy_softmax(logits, NULL, WIDTH, p);
  toy_softmax(logits, &mask, WIDTH, masked);
  for (tsl_token t = 0; t < WIDTH; t++) {
    way next = w;
    if (!tsl_mask_has(&mask, t)) continue;
    next.p *= p[t];
    next.masked *= masked[t];
    next.tokens[next.count++] = t;
    if (t == WIDTH - 1) {
      if (all->n == sizeof all->at / sizeof *all->at) abort();
      all->at[all->n++] = next;
      all->mass += next.p;
      continue;
    }
    strcat(next.text, letters[t]);
    if (tsl_matcher_accept(m, t) != TSL_OK) abort();
    find_ways(all, m, b, max, next);
    tsl_matcher_rollback(m, 1);
  }
}

static void truth(ways *all, tsl_grammar *g, uint32_t max) {
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  all->n = 0;
  all->mass = 0;
  find_ways(all, m, b, max, (way){.p = 1, .masked = 1});
  tsl_budget_free(b);
  tsl_matcher_free(m);
}

static const char *const grammars[] = {
    "root ::= \"a\" root \"c\" | \"b\"", "root ::= (\"abc\" | \"ca\" | \"bb\"){1,3}",
    "root ::= [abc]{1,4}", "root ::= \"abcabc\" | \"abca\" | \"bca\" | \"cab\" \"b\"?"};
#define GRAMMARS (sizeof grammars / sizeof *grammars)
static ways all;

/* ---- beams ----------------------------------------------------------------------------------- */

static double rank_of(const way *w, double alpha) {
  return log(w->p) / pow((double)w->count, alpha);
}

/* With room for every prefix, beams find the best texts: each text once, by its best way. */
static void many_beams(void) {
  static const float alphas[] = {0, 0.6f, 1};
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  for (size_t k = 0; k < GRAMMARS; k++) {
    tsl_grammar *g = toy_gbnf(v, grammars[k]);
    truth(&all, g, 6);
    for (size_t a = 0; a < 3; a++) {
      tsl_beams *b = NULL;
      tsl_error e = {0};
      tsl_beam_options o = {4096, 7, 6, alphas[a]};
      CHECKF(tsl_beam_search(g, ask, &model, &o, NULL, &b, &e) == TSL_OK, "%s", e.message);
      bool *chosen = calloc(all.n, 1);
      for (size_t i = 0; b && i < 7; i++) {
        size_t best = all.n, count;
        for (size_t j = 0; j < all.n; j++)
          if (!chosen[j] && (best == all.n || rank_of(&all.at[j], (double)alphas[a]) >
                                                  rank_of(&all.at[best], (double)alphas[a])))
            best = j;
        if (best == all.n) {
          CHECK(tsl_beams_count(b) == i);
          break;
        }
        const tsl_token *tokens = tsl_beams_tokens(b, i, &count);
        CHECKF(tokens && count == all.at[best].count &&
                   !memcmp(tokens, all.at[best].tokens, count * sizeof *tokens),
               "grammar %zu, text %zu", k, i);
        CHECK(!strcmp(tsl_beams_text(b, i, NULL), all.at[best].text));
        CHECK(fabs(tsl_beams_log_probability(b, i) - log(all.at[best].p)) < 1e-9);
        CHECK(fabs(tsl_beams_score(b, i) - rank_of(&all.at[best], (double)alphas[a])) < 1e-9);
        for (size_t j = 0; j < all.n; j++) chosen[j] |= !strcmp(all.at[j].text, all.at[best].text);
      }
      free(chosen);
      tsl_beams_free(b);
    }
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* One beam is greedy; more beams never do worse than what they hold; every text is whole and within
 * the budget. */
static void narrow_beams(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  for (size_t k = 0; k < GRAMMARS; k++) {
    tsl_grammar *g = toy_gbnf(v, grammars[k]);
    for (uint32_t width = 1; width < 6; width++)
      for (uint32_t max = 3; max < 12; max++) {
        tsl_beams *b = NULL;
        tsl_beam_options o = {width, 0, max, 1};
        CHECK(tsl_beam_search(g, ask, &model, &o, NULL, &b, NULL) == TSL_OK &&
              tsl_beams_count(b) >= 1 && tsl_beams_count(b) <= width);
        for (size_t i = 0; i < tsl_beams_count(b); i++) {
          size_t count, length;
          const tsl_token *tokens = tsl_beams_tokens(b, i, &count);
          const char *text = tsl_beams_text(b, i, &length);
          tsl_matcher *m = NULL;
          CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
          for (size_t j = 0; j < count; j++) CHECK(tsl_matcher_accept(m, tokens[j]) == TSL_OK);
          CHECK(tsl_matcher_is_terminated(m) && count <= max + 1 && length == strlen(text));
          CHECK(i == 0 || tsl_beams_score(b, i) <= tsl_beams_score(b, i - 1));
          tsl_matcher_free(m);
        }
        tsl_beams_free(b);
      }
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* ---- aligned sampling ------------------------------------------------------------------------ */

static double kl_of_masks(void) {
  double kl = 0;
  for (size_t i = 0; i < all.n; i++)
    kl += all.at[i].p / all.mass * log(all.at[i].p / all.mass / all.at[i].masked);
  return kl;
}

static double kl_of_align(tsl_align *a) {
  double kl = 0, sum = 0, q;
  for (size_t i = 0; i < all.n; i++) {
    CHECK(tsl_align_probability(a, all.at[i].tokens, all.at[i].count, &q) == TSL_OK);
    kl += all.at[i].p / all.mass * log(all.at[i].p / all.mass / q);
    sum += q;
  }
  CHECKF(fabs(sum - 1) < 1e-9, "sum %.17g", sum);
  return kl;
}

/* The divergence from the exact conditional falls below 0.01; that of masks stays. The mass falls
 * to the exact one from above. */
static void aligned(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  for (size_t k = 0; k < GRAMMARS; k++) {
    tsl_grammar *g = toy_gbnf(v, grammars[k]);
    tsl_align *a = NULL;
    tsl_align_options o = {3 + k, 6};
    tsl_error e = {0};
    tsl_token tokens[8];
    size_t count;
    double log_p, before = 1;
    truth(&all, g, 6);
    CHECKF(tsl_align_new(g, ask, &model, &o, NULL, &a, &e) == TSL_OK, "%s", e.message);
    double masks = kl_of_masks(), first = kl_of_align(a);
    /* nothing is known yet: the first sample is drawn under masks */
    CHECK(fabs(first - masks) < 1e-9);
    for (int i = 0; i < 3000; i++) {
      CHECK(tsl_align_sample(a, tokens, &count, &log_p) == TSL_OK && count <= 7);
      CHECK(tsl_align_mass(a) <= before + 1e-12 && tsl_align_mass(a) >= all.mass - 1e-12);
      before = tsl_align_mass(a);
      size_t j = 0;
      while (j < all.n &&
             (all.at[j].count != count || memcmp(all.at[j].tokens, tokens, count * sizeof *tokens)))
        j++;
      CHECK(j < all.n && fabs(log(all.at[j].p) - log_p) < 1e-9);
    }
    double last = kl_of_align(a);
    CHECKF(last < 0.01, "grammar %zu: %g", k, last);
    CHECK(masks > 0.05);
    printf("       grammar %zu: %zu texts of mass %.4f, divergence %.3f under masks, %.2g after "
           "3,000 samples (mass %.4f)\n",
           k, all.n, all.mass, masks, last, tsl_align_mass(a));
    tsl_align_free(a);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* ---- label probabilities --------------------------------------------------------------------- */

static double farthest; /* a log-probability from the one by enumeration */
static size_t compared;

static void check_scores(tsl_vocab *v, tsl_grammar *g, bool any, uint32_t batch) {
  tsl_scores *s = NULL;
  tsl_error e = {0};
  tsl_score_options o = {.all_tokenisations = any, .batch = batch};
  CHECKF(tsl_score_all(g, ask, &model, &o, NULL, &s, &e) == TSL_OK, "%s", e.message);
  if (!s) return;
  double total = 0, sum = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < tsl_scores_count(s); i++) {
      size_t length, n = 0;
      const char *text = tsl_scores_text(s, i, &length);
      tsl_token ids[32];
      double p = 0;
      CHECK(tsl_vocab_encode(v, text, length, 0, ids, 31, &n) == TSL_OK);
      ids[n++] = WIDTH - 1;
      for (size_t j = 0; j < all.n; j++)
        if (strlen(all.at[j].text) == length && !memcmp(all.at[j].text, text, length) &&
            (any || (all.at[j].count == n && !memcmp(all.at[j].tokens, ids, n * sizeof *ids))))
          p += all.at[j].p;
      if (pass == 0) {
        total += p;
        compared++;
        if (fabs(log(p) - tsl_scores_log_probability(s, i)) > farthest)
          farthest = fabs(log(p) - tsl_scores_log_probability(s, i));
        CHECKF(fabs(log(p) - tsl_scores_log_probability(s, i)) < 1e-9,
               "%.*s: %.12g instead of %.12g", (int)length, text, tsl_scores_log_probability(s, i),
               log(p));
      } else {
        CHECK(fabs(p / total - tsl_scores_probability(s, i)) < 1e-9);
        sum += tsl_scores_probability(s, i);
      }
    }
  CHECK(fabs(sum - 1) < 1e-9 && tsl_scores_missing(s) == 0);
  tsl_scores_free(s);
}

static void labels(void) {
  static const char *const finite[] = {"root ::= \"abcabc\" | \"abca\" | \"bca\" | \"cab\" \"b\"?",
                                       "root ::= [abc]{1,3}", "root ::= (\"ab\" | \"c\"){0,3}"};
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  for (size_t k = 0; k < 3; k++) {
    tsl_grammar *g = toy_gbnf(v, finite[k]);
    truth(&all, g, 12);
    for (int any = 0; any < 2; any++)
      check_scores(v, g, any, any ? 3 : 0), check_scores(v, g, any, 1);
    tsl_scores *s = NULL;
    tsl_score_options few = {.all_tokenisations = true, .max_prefixes = 4, .batch = 1};
    CHECK(tsl_score_all(g, ask, &model, &few, NULL, &s, NULL) == TSL_OK &&
          tsl_scores_missing(s) > 0);
    double found = 0;
    for (size_t i = 0; i < tsl_scores_count(s); i++) found += exp(tsl_scores_log_probability(s, i));
    /* what is missing bounds the error */
    CHECK(found <= all.mass + 1e-12 && found + tsl_scores_missing(s) >= all.mass - 1e-12);
    tsl_scores_free(s);
    few.all_tokenisations = false;
    few.max_prefixes = 2;
    CHECK(tsl_score_all(g, ask, &model, &few, NULL, &s, NULL) == TSL_ERR_LIMIT && !s);
    tsl_grammar_release(g);
  }
  printf("       %zu texts, canonical and over all tokenisations: at most %.1e from enumeration\n",
         compared, farthest);
  tsl_vocab_release(v);
}

/* An enum of a schema, with the embedded vocabulary: plain spellings only, each prefix requested
 * once. */
static void schema_labels(void) {
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  tsl_grammar *g =
      toy_schema(v, "{\"enum\":[\"positive\",\"negative\",\"neutral\",\"say \\\"no\\\"\",null]}");
  toy_model m = {9, 3, tsl_vocab_logits_width(v), 0, 0};
  tsl_scores *s = NULL;
  tsl_error e = {0};
  tsl_score_options o = {.plain_json = true};
  static const char *const want[] = {"\"negative\"", "\"neutral\"", "\"positive\"",
                                     "\"say \\\"no\\\"\"", "null"};
  CHECKF(tsl_score_all(g, ask, &m, &o, NULL, &s, &e) == TSL_OK && tsl_scores_count(s) == 5, "%s",
         e.message);
  for (size_t i = 0; s && i < 5; i++) {
    size_t length, n = 0;
    const char *text = tsl_scores_text(s, i, &length);
    CHECKF(length == strlen(want[i]) && !memcmp(text, want[i], length), "%.*s", (int)length, text);
    tsl_token ids[32];
    double *p = malloc(m.width * sizeof *p), log_p = 0, end = 0;
    float *logits = malloc(m.width * sizeof *logits);
    CHECK(tsl_vocab_encode(v, text, length, 0, ids, 32, &n) == TSL_OK);
    for (size_t k = 0; k <= n; k++) {
      toy_logits(&m, ids, k, logits);
      toy_softmax(logits, NULL, m.width, p);
      if (k < n) log_p += log(p[ids[k]]);
    }
    uint32_t count;
    const tsl_token *eog = tsl_vocab_eog(v, &count);
    for (uint32_t k = 0; k < count; k++) end += p[eog[k]];
    CHECK(fabs(log_p + log(end) - tsl_scores_log_probability(s, i)) < 1e-9);
    free(p);
    free(logits);
  }
  CHECK(m.rows < 40);
  tsl_scores_free(s);
  tsl_grammar_release(g);
  static const char *const endless[] = {"{\"type\":\"number\"}", "{\"type\":\"string\"}"};
  for (size_t i = 0; i < 2; i++) {
    g = toy_schema(v, endless[i]);
    CHECK(tsl_score_all(g, ask, &m, &o, NULL, &s, &e) == TSL_ERR_LIMIT && !s &&
          e.status == TSL_ERR_LIMIT);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* Every label is there in one spelling. A character that cannot stand as itself is escaped, by the
 * short escape where there is one, whatever the other labels have in its place. */
static void escaped_labels(void) {
  static const struct {
    const char *schema, *texts;
  } rows[] = {
      {"{\"enum\":[\"plain\",\"\\n\",\"\\\"q\\\"\",\"\\\\\"]}",
       "\"\\\"q\\\"\" \"\\\\\" \"\\n\" \"plain\" "},
      {"{\"enum\":[\"\\\\\\\"\",\"\\\\\\\\n\",\"\\\\u0041\"]}",
       "\"\\\\\\\"\" \"\\\\\\\\n\" \"\\\\u0041\" "},
      {"{\"enum\":[\"a/"
       "b\",\"\\u000b\",\"\\u0000\\u001F\",\"\\u001A\",\"\\u00e9\",\"\\ud83d\\ude00\"]}",
       "\"\\u0000\\u001f\" \"\\u000b\" \"\\u001a\" \"a/b\" \"\u00e9\" \"\U0001f600\" "},
      {"{\"type\":\"string\",\"pattern\":\"^[a\\\\n\\\\\\\\]?$\"}", "\"\" \"\\\\\" \"\\n\" \"a\" "},
      {"{\"type\":\"object\",\"properties\":{\"\\t\":{\"const\":true},\"t\":{\"const\":null}},"
       "\"additionalProperties\":false}",
       "{\"\\t\":true,\"t\":null} {\"\\t\":true} {\"t\":null} {} "},
  };
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  toy_model m = {9, 3, tsl_vocab_logits_width(v), 0, 0};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    tsl_grammar *g = toy_schema(v, rows[r].schema);
    tsl_scores *s = NULL;
    tsl_error e = {0};
    CHECKF(tsl_score_all(g, ask, &m, &(tsl_score_options){.plain_json = true}, NULL, &s, &e) ==
               TSL_OK,
           "%s: %s", rows[r].schema, e.message);
    char all_texts[256] = "";
    for (size_t i = 0; s && i < tsl_scores_count(s) && strlen(all_texts) < 200; i++) {
      size_t length;
      const char *text = tsl_scores_text(s, i, &length);
      strncat(all_texts, text, length < 40 ? length : 40);
      strcat(all_texts, " ");
    }
    CHECKF(!strcmp(all_texts, rows[r].texts), "%s: %s", rows[r].schema, all_texts);
    tsl_scores_free(s);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* ---- dead ends ------------------------------------------------------------------------------- */

/* Nothing has a probability after the first letter; with `ctx` nowhere at all. */
static tsl_status dies(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  for (size_t i = 0; i < n; i++)
    for (tsl_token t = 0; t < WIDTH; t++)
      logits[i * WIDTH + t] =
          *(bool *)ctx || (prefixes[i].count && letters[prefixes[i].tokens[0]][0] == 'a')
              ? -INFINITY
              : 0;
  return TSL_OK;
}

/* A prefix after which nothing has a probability is learned, and not drawn again. */
static void dead_ends(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"ac\" \"b\"? | \"bc\"");
  for (int k = 0; k < 2; k++) {
    bool nowhere = k;
    tsl_align *a = NULL;
    CHECK(tsl_align_new(g, dies, &nowhere, &(tsl_align_options){1, 6}, NULL, &a, NULL) == TSL_OK);
    for (int i = 0; i < 20; i++) {
      tsl_token tokens[8];
      size_t count = 0;
      tsl_status status = tsl_align_sample(a, tokens, &count, NULL);
      CHECKF(status == (nowhere ? TSL_ERR_LOGITS : TSL_OK), "%s", tsl_status_name(status));
      if (!nowhere) CHECK(count && letters[tokens[0]][0] == 'b');
    }
    if (nowhere)
      CHECK(tsl_align_mass(a) == 0);
    else
      CHECK(tsl_align_mass(a) < 0.9);
    tsl_align_free(a);
  }
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* ---- items that differ ----------------------------------------------------------------------- */

static bool ends_there(tsl_grammar *g, const tsl_token *tokens, size_t count) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (size_t i = 0; i < count; i++) CHECK(tsl_matcher_accept(m, tokens[i]) == TSL_OK);
  bool ended = tsl_matcher_is_terminated(m);
  tsl_matcher_free(m);
  return ended;
}

/* Where the budget knows a way on only from the position before: samples and beams are whole
 * texts. */
static void items_that_differ(void) {
#define UNIQUE(least, most, items)                                                       \
  "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":" #least ",\"maxItems\":" #most \
  ",\"items\":" items "}"
  static const char nested[] = UNIQUE(2, 2, UNIQUE(2, 2, UNIQUE(1, 2, "{\"type\":\"boolean\"}")));
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  CHECK(tsl_grammar_json_schema(v, nested, strlen(nested), NULL, NULL, &g, &e) == TSL_OK);
  for (uint64_t seed = 18; seed < 21; seed++) {
    toy_model m = {seed, 4, tsl_vocab_logits_width(v), 0, 0};
    tsl_align *a = NULL;
    tsl_beams *b = NULL;
    tsl_token tokens[20];
    size_t count = 0;
    CHECK(tsl_align_new(g, ask, &m, &(tsl_align_options){seed, 19}, NULL, &a, &e) == TSL_OK);
    for (int i = 0; i < 6; i++)
      CHECK(tsl_align_sample(a, tokens, &count, NULL) == TSL_OK && ends_there(g, tokens, count));
    CHECK(tsl_beam_search(g, ask, &m, &(tsl_beam_options){3, 0, 19, 0}, NULL, &b, &e) == TSL_OK);
    for (size_t i = 0; b && i < tsl_beams_count(b); i++) {
      const tsl_token *text = tsl_beams_tokens(b, i, &count);
      CHECK(ends_there(g, text, count));
    }
    tsl_align_free(a);
    tsl_beams_free(b);
  }
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* What is found of a grammar's texts. */
static tsl_status list_texts(tsl_grammar *g, uint32_t max, size_t *n) {
  tsl__outputs o;
  tsl__outputs_init(&o, &tsl__malloc);
  tsl_status status = tsl__outputs_find(&o, &tsl__malloc, g, g->begin, max, false, NULL);
  *n = o.list.n;
  tsl__outputs_free(&o, &tsl__malloc);
  return status;
}

/* As many texts as max_outputs, and as long as a text may be; not one more, not a byte more. And as
 * many rows as max_prefixes. */
static void limits_of_a_list(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= [abc] [abc]");
  size_t n;
  CHECK(list_texts(g, 9, &n) == TSL_OK && n == 9);
  CHECK(list_texts(g, 8, &n) == TSL_ERR_LIMIT);
  for (uint32_t most = 1; most < 4; most++) {
    tsl_scores *s = NULL;
    uint64_t before = model.rows;
    CHECK(tsl_score_all(g, ask, &model,
                        &(tsl_score_options){.all_tokenisations = true, .max_prefixes = most}, NULL,
                        &s, NULL) == TSL_OK);
    CHECK(s && model.rows - before == most && tsl_scores_missing(s) > 0);
    tsl_scores_free(s);
  }
  tsl_grammar_release(g);
  g = toy_gbnf(v, "root ::= [a]{65536}");
  CHECK(list_texts(g, 1, &n) == TSL_OK && n == 1);
  tsl_grammar_release(g);
  g = toy_gbnf(v, "root ::= [a]{65537}");
  CHECK(list_texts(g, 1, &n) == TSL_ERR_LIMIT);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* ---- failures -------------------------------------------------------------------------------- */

static tsl_status refuse(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  (void)ctx, (void)prefixes, (void)n, (void)logits;
  return TSL_ERR_CANCELLED;
}
static tsl_status not_numbers(void *ctx, const tsl_prefix *prefixes, size_t n, float *logits) {
  (void)prefixes;
  for (size_t i = 0; i < n * ((toy_model *)ctx)->width; i++) logits[i] = NAN;
  return TSL_OK;
}

/* From the middle of a text: the way there and the way on are the whole text's. And the mean over
 * several. */
static void from_the_middle(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= [abc] (\"ab\" | \"ba\" | \"ca\" \"b\"?)");
  tsl_score_options any = {.all_tokenisations = true, .max_prefixes = 5000};
  tsl_matcher *m = NULL;
  tsl_scores *at[3] = {NULL, NULL, NULL};
  tsl_error e = {0};
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (tsl_token first = 0; first < 3; first++) {
    toy_model moved = model;
    moved.seed += first;
    CHECK(tsl_matcher_accept(m, first) == TSL_OK);
    CHECKF(tsl_score_all_from(m, ask, &moved, &any, NULL, &at[first], &e) == TSL_OK, "%s",
           e.message);
    CHECK(tsl_matcher_rollback(m, 1) == TSL_OK);
    /* the same as of a grammar that has nothing before */
    tsl_grammar *rest = toy_gbnf(v, "root ::= \"ab\" | \"ba\" | \"ca\" \"b\"?");
    tsl_scores *whole = NULL;
    CHECK(tsl_score_all(rest, ask, &moved, &any, NULL, &whole, &e) == TSL_OK);
    CHECK(at[first] && whole && tsl_scores_count(at[first]) == 4 && tsl_scores_count(whole) == 4);
    for (size_t i = 0; at[first] && whole && i < 4; i++) {
      size_t n, same;
      const char *text = tsl_scores_text(at[first], i, &n);
      CHECK(!memcmp(text, tsl_scores_text(whole, i, &same), n) && n == same);
      CHECK(tsl_scores_log_probability(at[first], i) == tsl_scores_log_probability(whole, i));
    }
    tsl_scores_free(whole);
    tsl_grammar_release(rest);
  }
  double sum = 0;
  for (size_t i = 0; i < 4; i++) {
    size_t length;
    const char *text = tsl_scores_text(at[0], i, &length);
    double p[3], mean, error, square = 0;
    for (int k = 0; k < 3; k++) p[k] = tsl_scores_probability(at[k], i);
    double want = (p[0] + p[1] + p[2]) / 3;
    for (int k = 0; k < 3; k++) square += (p[k] - want) * (p[k] - want);
    CHECK(tsl_scores_mean((const tsl_scores *const *)at, 3, text, length, &mean, &error) == TSL_OK);
    CHECK(fabs(mean - want) < 1e-12 && fabs(error - sqrt(square / 6)) < 1e-12);
    sum += mean;
    CHECK(tsl_scores_mean((const tsl_scores *const *)at, 1, text, length, &mean, &error) ==
              TSL_OK &&
          mean == p[0] && isnan(error));
  }
  CHECK(fabs(sum - 1) < 1e-9);
  double none;
  CHECK(tsl_scores_mean((const tsl_scores *const *)at, 3, "zz", 2, &none, NULL) == TSL_OK &&
        none == 0);
  CHECK(tsl_scores_mean(NULL, 0, "a", 1, &none, NULL) == TSL_ERR_ARGUMENT);
  for (int k = 0; k < 3; k++) tsl_scores_free(at[k]);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

static void refused(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, grammars[0]);
  tsl_beams *b = NULL;
  tsl_scores *s = NULL;
  tsl_align *a = NULL;
  tsl_error e = {0};
  tsl_token tokens[8];
  size_t count;
  static const tsl_model models[] = {refuse, not_numbers};
  static const tsl_status want[] = {TSL_ERR_CANCELLED, TSL_ERR_LOGITS};
  tsl_grammar *finite = toy_gbnf(v, grammars[3]);
  for (int i = 0; i < 2; i++) {
    tsl_beam_options o = {2, 0, 5, 0};
    CHECK(tsl_beam_search(g, models[i], &model, &o, NULL, &b, &e) == want[i] && !b &&
          e.status == want[i]);
    CHECK(tsl_score_all(finite, models[i], &model, NULL, NULL, &s, &e) == want[i] && !s);
    CHECK(tsl_align_new(g, models[i], &model, &(tsl_align_options){1, 5}, NULL, &a, &e) == TSL_OK);
    CHECK(tsl_align_sample(a, tokens, &count, NULL) == want[i] && tsl_align_mass(a) == 1);
    tsl_align_free(a);
  }
  tsl_grammar *far = toy_gbnf(v, "root ::= \"cccc\"");
  tsl_beam_options o = {2, 0, 3, 0};
  CHECK(tsl_beam_search(far, ask, &model, &o, NULL, &b, &e) == TSL_ERR_LIMIT);
  CHECKF(!strcmp(e.message, "max_tokens is 3, but the shortest completion takes 4 tokens"), "%s",
         e.message);
  CHECK(tsl_align_new(far, ask, &model, &(tsl_align_options){1, 3}, NULL, &a, &e) ==
            TSL_ERR_LIMIT &&
        !a);
  o.width = 0;
  CHECK(tsl_beam_search(far, ask, &model, &o, NULL, &b, &e) == TSL_ERR_ARGUMENT);
  tsl_grammar_release(far);
  tsl_grammar_release(finite);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

static void every_allocation_fails(void) {
  tsl_vocab *v = toy_vocab(letters, WIDTH, true);
  tsl_grammar *g = toy_gbnf(v, grammars[3]);
  for (int what = 0; what < 3; what++) {
    bool done = false;
    for (long nth = 0; nth < 400 && !done; nth++) {
      failing f = {nth, 0};
      tsl_allocator alloc = failing_allocator(&f);
      tsl_beams *b = NULL;
      tsl_scores *s = NULL;
      tsl_align *a = NULL;
      tsl_token tokens[8];
      size_t count;
      tsl_status status;
      if (what == 0)
        status = tsl_beam_search(g, ask, &model, &(tsl_beam_options){3, 0, 6, 0}, &alloc, &b, NULL);
      else if (what == 1)
        status = tsl_score_all(g, ask, &model, &(tsl_score_options){.all_tokenisations = nth % 2},
                               &alloc, &s, NULL);
      else
        status = tsl_align_new(g, ask, &model, &(tsl_align_options){1, 6}, &alloc, &a, NULL);
      for (int i = 0; what == 2 && i < 20 && status == TSL_OK; i++)
        status = tsl_align_sample(a, tokens, &count, NULL);
      CHECK(status == TSL_OK || status == TSL_ERR_NO_MEMORY);
      done = status == TSL_OK && !failing_failed(&f);
      tsl_beams_free(b);
      tsl_scores_free(s);
      tsl_align_free(a);
      CHECK(f.held == 0);
    }
    CHECK(done);
  }
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

int main(void) {
  RUN(many_beams, "beams with room for all find the best");
  RUN(narrow_beams, "beams end in time, whole, in order");
  RUN(aligned, "samples converge to P(text | grammar)");
  RUN(labels, "probabilities of all texts");
  RUN(from_the_middle, "labels from the middle of a text, and their mean");
  RUN(schema_labels, "labels of a schema");
  RUN(escaped_labels, "labels with escapes");
  RUN(limits_of_a_list, "how many texts, how long, how many rows");
  RUN(dead_ends, "prefixes without a probability");
  RUN(items_that_differ, "items that must differ");
  RUN(refused, "what is refused");
  RUN(every_allocation_fails, "every nth allocation fails");
  return tsl_test_end();
}
