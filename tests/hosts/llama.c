/* llama.c - what host_llama.py runs: Turnstile inside llama.cpp, through bindings/llama.cpp.
 *
 *   llama vocab FILE...
 *       the vocabulary of llama.cpp against the one that Turnstile reads from the same file
 *   llama interface MODEL
 *       accept, reset, clone, copy_state, failures
 *   llama chat MODEL FOLDER
 *       chat completions under FOLDER/NAME.json, and under FOLDER/NAME.gbnf with llama.cpp's own
 *       grammar; a line each:
 *         text NAME WHO TOKENS HEX
 *             what was generated, up to an end-of-generation token
 *         time NAME WHO MEDIAN MEAN
 *             of apply and accept together, in ns per token
 *         masks NAME PLACES DIFFERENCES ODD
 *             the GBNF grammar in both: tokens about which they differ. Three kinds are counted
 *             apart, in ODD: control tokens (for the text of their names), bytes that are not
 *             UTF-8, and NUL
 *
 * The last line is "N passed, N failed, N skipped".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include <turnstile-llama.h>
#include "tests/support/check.h"

#define MAX_TOKENS 400

static const char *const names[] = {"person", "list", "choice", "numbers"};

static void quiet(enum ggml_log_level level, const char *text, void *data) {
  (void)data;
  if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

static struct llama_model *load(const char *path, bool vocab_only) {
  struct llama_model_params params = llama_model_default_params();
  params.vocab_only = vocab_only;
  struct llama_model *model = llama_model_load_from_file(path, params);
  CHECKF(model != NULL, "%s", path);
  return model;
}

static char *slurp(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = f ? calloc(1, 1 << 20) : NULL;
  if (text && !fread(text, 1, (1 << 20) - 1, f)) text[0] = 0;
  if (f) fclose(f);
  CHECKF(text && text[0], "%s", path);
  return text;
}

/* ---- vocabularies ---------------------------------------------------------------------------- */

/* llama.cpp spells the tokens with which a converter filled up. Some tokens of a byte-level model
 * are not written in the alphabet of bytes (Command R has such). llama.cpp has a form of its own
 * for these. */
static bool is_known(const uint8_t *bytes, size_t n) {
  return (n > 5 && !memcmp(bytes, "[PAD", 4)) || (n > 9 && !memcmp(bytes, "[UNK_BYTE", 9));
}

static void compare_vocabulary(const char *path) {
  struct llama_model *model = load(path, true);
  tsl_vocab *from_llama = NULL, *from_file = NULL;
  tsl_error error = {0};
  if (!model) return;
  CHECKF(!tsl_llama_vocab(llama_model_get_vocab(model), NULL, &from_llama, &error), "%s: %s", path,
         error.message);
  CHECKF(!tsl_vocab_load_file(path, NULL, NULL, &from_file, &error), "%s: %s", path, error.message);
  CHECKF(tsl_vocab_size(from_llama) == tsl_vocab_size(from_file), "%s: sizes", path);
  unsigned spelled = 0, ends = 0;
  for (tsl_token id = 0; id < tsl_vocab_size(from_llama); id++) {
    size_t n, m;
    const uint8_t *a = tsl_vocab_bytes(from_llama, id, &n), *b = tsl_vocab_bytes(from_file, id, &m);
    bool same = (n == m && !memcmp(a, b, n)) || is_known(a, n);
    spelled += !same;
    if (!same && spelled < 4)
      fprintf(stderr, "  %s, token %u: \"%.*s\" and \"%.*s\"\n", path, id, (int)n, (const char *)a,
              (int)m, (const char *)b);
    ends += tsl_vocab_is_eog(from_llama, id) != tsl_vocab_is_eog(from_file, id);
    if (tsl_vocab_is_eog(from_llama, id) != tsl_vocab_is_eog(from_file, id))
      printf("       %s: token %u \"%.*s\" ends a generation in %s only\n", strrchr(path, '/') + 1,
             id, (int)n, (const char *)a,
             tsl_vocab_is_eog(from_llama, id) ? "llama.cpp" : "Turnstile");
  }
  CHECKF(!spelled, "%s: %u tokens are spelled differently", path, spelled);
  tsl_vocab_release(from_llama);
  tsl_vocab_release(from_file);
  llama_model_free(model);
}

/* ---- one place in a generation --------------------------------------------------------------- */

typedef struct host {
  struct llama_model *model;
  const struct llama_vocab *vocab;
  struct llama_context *context;
  tsl_vocab *turnstile;
  int32_t size;
  llama_token_data *data[2];
} host;

static bool open_host(host *h, const char *path) {
  tsl_error error = {0};
  struct llama_context_params params = llama_context_default_params();
  params.n_ctx = 1024;
  params.n_batch = 512;
  params.n_threads = params.n_threads_batch = 1;
  *h = (host){.model = load(path, false)};
  if (!h->model) return false;
  h->vocab = llama_model_get_vocab(h->model);
  h->size = llama_vocab_n_tokens(h->vocab);
  h->context = llama_init_from_model(h->model, params);
  for (int i = 0; i < 2; i++) h->data[i] = malloc((size_t)h->size * sizeof *h->data[i]);
  tsl_status status = tsl_llama_vocab(h->vocab, NULL, &h->turnstile, &error);
  CHECKF(h->context && h->data[0] && h->data[1] && !status, "%s", error.message);
  return h->context && h->data[0] && h->data[1] && !status;
}

static void close_host(host *h) {
  for (int i = 0; i < 2; i++) free(h->data[i]);
  tsl_vocab_release(h->turnstile);
  llama_free(h->context);
  llama_model_free(h->model);
}

/* All tokens with the logits of the last position, or 0 before there is one. */
static llama_token_data_array candidates(const host *h, int which, bool decoded) {
  const float *logits = decoded ? llama_get_logits_ith(h->context, -1) : NULL;
  for (int32_t i = 0; i < h->size; i++)
    h->data[which][i] = (llama_token_data){i, logits ? logits[i] : 0, 0};
  return (llama_token_data_array){h->data[which], (size_t)h->size, -1, false};
}

static bool allowed(const host *h, int which, llama_token id) {
  return h->data[which][id].logit != -INFINITY;
}

static unsigned count_allowed(const host *h, int which) {
  unsigned n = 0;
  for (llama_token id = 0; id < h->size; id++) n += allowed(h, which, id);
  return n;
}

static void apply(const host *h, int which, struct llama_sampler *s) {
  llama_token_data_array all = candidates(h, which, false);
  llama_sampler_apply(s, &all);
}

static bool same_masks(host *h, struct llama_sampler *a, struct llama_sampler *b) {
  apply(h, 0, a);
  apply(h, 1, b);
  for (llama_token id = 0; id < h->size; id++)
    if (allowed(h, 0, id) != allowed(h, 1, id)) return false;
  return true;
}

/* ---- the interface --------------------------------------------------------------------------- */

static llama_token token_of(const host *h, const char *text) {
  llama_token id = -1;
  int32_t n = llama_tokenize(h->vocab, text, (int32_t)strlen(text), &id, 1, false, false);
  CHECKF(n == 1, "\"%s\" is %d tokens", text, n);
  return id;
}

static tsl_grammar *schema_grammar(const host *h, const char *schema) {
  static const tsl_schema_options options = {.whitespace = TSL_WS_COMPACT};
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  CHECKF(!tsl_grammar_json_schema(h->turnstile, schema, strlen(schema), &options, NULL, &grammar,
                                  &error),
         "%s", error.message);
  return grammar;
}

/* A state that is copied takes nothing of the sampler that it replaces along: the grammar and
 * vocabulary of that may be gone. */
static void check_copies(host *h) {
  tsl_vocab *own = NULL;
  tsl_error error = {0};
  CHECK(!tsl_llama_vocab(h->vocab, NULL, &own, &error));
  tsl_grammar *ours = schema_grammar(h, "{\"enum\": [[1], [2]]}"), *gone = NULL;
  CHECK(!tsl_grammar_json_schema(own, "true", 4, NULL, NULL, &gone, &error));
  struct llama_sampler *from = tsl_llama_sampler(ours), *to = tsl_llama_sampler(gone);
  tsl_grammar_release(ours);
  tsl_grammar_release(gone);
  tsl_vocab_release(own);
  llama_sampler_copy(from, to);
  CHECK(same_masks(h, from, to) && allowed(h, 1, token_of(h, "[")) &&
        !allowed(h, 1, token_of(h, "{")));
  llama_sampler_free(from);
  llama_sampler_free(to);
}

static void check_interface(host *h) {
  tsl_grammar *grammar = schema_grammar(h, "{\"enum\": [true, [1], [2]]}");
  struct llama_sampler *s = tsl_llama_sampler(grammar), *copy, *other = tsl_llama_sampler(grammar);
  tsl_grammar_release(grammar); /* the samplers hold it */
  llama_token open = token_of(h, "["), close = token_of(h, "]"), one = token_of(h, "1"),
              wrong = token_of(h, "{");
  CHECK(!strcmp(llama_sampler_name(s), "turnstile"));
  apply(h, 0, s);
  CHECK(allowed(h, 0, open) && allowed(h, 0, token_of(h, "true")) && !allowed(h, 0, close) &&
        !allowed(h, 0, wrong) && !allowed(h, 0, llama_vocab_eos(h->vocab)));
  llama_sampler_accept(s, open);
  copy = llama_sampler_clone(s);
  llama_sampler_accept(s, one);
  CHECK(tsl_matcher_history(tsl_llama_matcher(s)) == 2 &&
        tsl_matcher_history(tsl_llama_matcher(copy)) == 1 && !same_masks(h, s, copy));
  llama_sampler_copy(s, other);
  CHECK(same_masks(h, s, other) && allowed(h, 0, close));
  llama_sampler_accept(copy, one);
  CHECK(same_masks(h, s, copy));
  tsl_matcher_rollback(tsl_llama_matcher(s), 1);
  llama_sampler_accept(s, token_of(h, "2"));
  CHECK(same_masks(h, s, copy));
  llama_sampler_accept(s, close);
  apply(h, 0, s);
  CHECK(tsl_matcher_is_complete(tsl_llama_matcher(s)) && allowed(h, 0, llama_vocab_eos(h->vocab)) &&
        !allowed(h, 0, close));
  llama_sampler_accept(s, llama_vocab_eos(h->vocab));
  llama_sampler_accept(s, open); /* after the end nothing is followed */
  apply(h, 0, s);
  CHECK(tsl_llama_status(s) == TSL_OK && allowed(h, 0, llama_vocab_eos(h->vocab)) &&
        !allowed(h, 0, open));
  llama_sampler_accept(copy, wrong);
  apply(h, 0, copy);
  CHECK(tsl_llama_status(copy) == TSL_REJECTED && allowed(h, 0, llama_vocab_eos(h->vocab)) &&
        !allowed(h, 0, close));
  llama_sampler_reset(copy);
  llama_sampler_reset(s);
  CHECK(tsl_llama_status(copy) == TSL_OK && same_masks(h, s, copy) && allowed(h, 0, open));
  /* as after top-k: some tokens in any order */
  llama_token_data_array few = candidates(h, 0, false);
  few.data[0].id = wrong, few.data[1].id = open, few.size = 2, few.sorted = true;
  llama_sampler_apply(s, &few);
  /* the first is no longer the greatest */
  CHECK(few.data[0].logit == -INFINITY && few.data[1].logit == 0 && !few.sorted);
  few.data[0] = (llama_token_data){open, 2, 0}, few.size = 1, few.sorted = true;
  llama_sampler_apply(s, &few);
  CHECK(few.data[0].logit == 2 && few.sorted);
  check_copies(h);
  CHECK(tsl_llama_sampler(NULL) == NULL);
  llama_sampler_free(s);
  llama_sampler_free(copy);
  llama_sampler_free(other);
}

/* ---- generation ------------------------------------------------------------------------------ */

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static bool decode(host *h, llama_token *tokens, int32_t n) {
  return !llama_decode(h->context, llama_batch_get_one(tokens, n));
}

/* Decode the prompt of a chat with one question. */
static void start_chat(host *h, const char *question) {
  static char prompt[4096];
  static llama_token tokens[512];
  struct llama_chat_message message = {"user", question};
  int32_t length = llama_chat_apply_template(llama_model_chat_template(h->model, NULL), &message, 1,
                                             true, prompt, sizeof prompt);
  int32_t n = llama_tokenize(h->vocab, prompt, length, tokens, 512, true, true);
  llama_memory_clear(llama_get_memory(h->context), true);
  CHECKF(length > 0 && n > 5 && decode(h, tokens, n), "%d bytes, %d tokens", length, n);
}

typedef struct text {
  uint8_t bytes[65536];
  size_t n;
  unsigned tokens;
  bool ended;
  uint64_t times[MAX_TOKENS];
} text;

static void put_piece(host *h, text *t, llama_token id) {
  int32_t n = llama_token_to_piece(h->vocab, id, (char *)t->bytes + t->n,
                                   (int32_t)(sizeof t->bytes - t->n), 0, false);
  if (n > 0) t->n += (size_t)n;
}

/* Sample under `grammar`, which is measured, with temperature and a seed, up to the end. */
static void generate(host *h, struct llama_sampler *grammar, uint32_t seed, text *t) {
  struct llama_sampler *chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
  llama_sampler_chain_add(chain, llama_sampler_init_temp(0.8f));
  llama_sampler_chain_add(chain, llama_sampler_init_dist(seed));
  t->n = t->tokens = 0;
  for (t->ended = false; !t->ended && t->tokens < MAX_TOKENS; t->tokens++) {
    llama_token_data_array all = candidates(h, 0, true);
    uint64_t start = now();
    llama_sampler_apply(grammar, &all);
    t->times[t->tokens] = now() - start;
    llama_sampler_apply(chain, &all);
    llama_token id = all.data[all.selected].id;
    start = now();
    llama_sampler_accept(grammar, id);
    t->times[t->tokens] += now() - start;
    t->ended = llama_vocab_is_eog(h->vocab, id);
    if (t->ended) continue;
    put_piece(h, t, id);
    if (!decode(h, &id, 1)) break;
  }
  llama_sampler_free(chain);
}

static void report(const char *name, const char *who, text *t) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < t->tokens; i++) sum += t->times[i];
  qsort(t->times, t->tokens, sizeof *t->times, ascending);
  printf("text %s %s %u ", name, who, t->tokens);
  for (size_t i = 0; i < t->n; i++) printf("%02x", t->bytes[i]);
  printf("\ntime %s %s %llu %llu\n", name, who, (unsigned long long)t->times[t->tokens / 2],
         (unsigned long long)(sum / t->tokens));
}

/* Does the token have a byte that no UTF-8 text has, which llama.cpp lets begin a character of a
 * string? Or begin with NUL, which llama.cpp never allows? */
static bool is_odd(const host *h, llama_token id) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(h->turnstile, (tsl_token)id, &n);
  for (size_t i = 0; i < n; i++)
    if (bytes[i] == 0xC0 || bytes[i] == 0xC1 || bytes[i] >= 0xF5) return true;
  return n && !bytes[0];
}

/* One grammar in both: are the same tokens allowed at every place of a generation? */
static void compare_masks(host *h, const char *name, const char *gbnf) {
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  CHECKF(!tsl_grammar_gbnf(h->turnstile, gbnf, strlen(gbnf), NULL, NULL, &grammar, &error), "%s",
         error.message);
  struct llama_sampler *ours = tsl_llama_sampler(grammar),
                       *theirs = llama_sampler_init_grammar(h->vocab, gbnf, "root");
  tsl_grammar_release(grammar);
  unsigned places = 0, different = 0, odd = 0;
  uint64_t random = 7;
  for (bool ended = false; !ended && places < 60; places++) {
    apply(h, 0, ours);
    apply(h, 1, theirs);
    for (llama_token id = 0; id < h->size; id++) {
      bool control =
          tsl_vocab_is_special(h->turnstile, (tsl_token)id) && !llama_vocab_is_eog(h->vocab, id);
      if (control || is_odd(h, id))
        odd += allowed(h, 0, id) != allowed(h, 1, id);
      else if (allowed(h, 0, id) != allowed(h, 1, id) && different++ < 3)
        fprintf(stderr, "  %s, place %u, token %d \"%s\": %s only\n", name, places, id,
                llama_vocab_get_text(h->vocab, id), allowed(h, 0, id) ? "Turnstile" : "llama.cpp");
    }
    unsigned n = count_allowed(h, 0), pick = n ? (unsigned)(tsl_test_random(&random) % n) : 0;
    llama_token id = 0;
    for (; id < h->size && (!allowed(h, 0, id) || pick--); id++) {
    }
    CHECKF(n && id < h->size, "%s, place %u: nothing is allowed", name, places);
    if (id == h->size) break;
    ended = llama_vocab_is_eog(h->vocab, id);
    if (!ended) llama_sampler_accept(ours, id), llama_sampler_accept(theirs, id);
  }
  CHECKF(!different, "%s: %u differences in %u places", name, different, places);
  printf("masks %s %u %u %u\n", name, places, different, odd);
  llama_sampler_free(ours);
  llama_sampler_free(theirs);
}

static void chat(host *h, const char *folder, const char *name) {
  static text t;
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.json", folder, name);
  char *schema = slurp(path);
  snprintf(path, sizeof path, "%s/%s.gbnf", folder, name);
  char *gbnf = slurp(path);
  tsl_grammar *grammar = schema_grammar(h, schema);
  for (uint32_t seed = 1; grammar && seed <= 3; seed++) {
    struct llama_sampler *ours = tsl_llama_sampler(grammar),
                         *theirs = llama_sampler_init_grammar(h->vocab, gbnf, "root");
    start_chat(h, "Answer in JSON.");
    generate(h, ours, seed, &t);
    CHECKF(t.ended && !tsl_llama_status(ours), "%s, seed %u: %s after %u tokens", name, seed,
           tsl_status_name(tsl_llama_status(ours)), t.tokens);
    report(name, "turnstile", &t);
    start_chat(h, "Answer in JSON.");
    generate(h, theirs, seed, &t);
    if (t.ended) report(name, "llama.cpp", &t);
    llama_sampler_free(ours);
    llama_sampler_free(theirs);
  }
  tsl_grammar_release(grammar);
  compare_masks(h, name, gbnf);
  free(schema);
  free(gbnf);
}

int main(int argc, char **argv) {
  host h;
  llama_log_set(quiet, NULL);
  llama_backend_init();
  if (argc > 2 && !strcmp(argv[1], "vocab")) {
    for (int i = 2; i < argc; i++) compare_vocabulary(argv[i]);
  } else if (argc == 3 && !strcmp(argv[1], "interface")) {
    if (open_host(&h, argv[2])) check_interface(&h), close_host(&h);
  } else if (argc == 4 && !strcmp(argv[1], "chat")) {
    if (open_host(&h, argv[2])) {
      for (size_t i = 0; i < sizeof names / sizeof *names; i++) chat(&h, argv[3], names[i]);
      close_host(&h);
    }
  } else {
    fprintf(stderr, "usage: llama vocab FILE... | interface MODEL | chat MODEL FOLDER\n");
    return 2;
  }
  llama_backend_free();
  return tsl_test_end();
}
