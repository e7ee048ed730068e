/* llguidance.c - a program over llguidance's C calls, which test_compat.py runs twice: over
 * bindings/compat/llguidance, and over llguidance itself, whose Python package exports them. What
 * it prints must be the same.
 *
 *   llguidance TOKENIZER.json     or, as a library: run("TOKENIZER.json", FILE) writes to that file
 *
 * Masks are printed as their hash. Left out is where the two differ, as llguidance.h says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <llguidance.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN "(ab|cd){2,4}-[0-9]{3}"
#define END 128009u

int run(const char *path, const char *out);

static FILE *out;

static uint64_t hash(const uint32_t *mask, size_t bytes) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < bytes / 4; i++) h = (h ^ mask[i]) * 1099511628211u;
  return h;
}

static void show(const char *what, LlgMatcher *m) {
  fprintf(out, "%s: accepting %d, stopped %d, error %d, message %d\n", what,
          llg_matcher_is_accepting(m), llg_matcher_is_stopped(m), llg_matcher_is_error(m),
          llg_matcher_get_error(m) != NULL);
}

static int show_mask(LlgMatcher *m) {
  int failed = llg_matcher_compute_mask(m);
  const uint32_t *mask = llg_matcher_get_mask(m);
  fprintf(out, "mask %d %016llx\n", failed,
          mask ? (unsigned long long)hash(mask, llg_matcher_get_mask_byte_size(m)) : 0);
  return failed;
}

static uint32_t pick(const uint32_t *mask, size_t bytes, uint32_t *seed) {
  uint32_t count = 0, n;
  for (uint32_t i = 0; i < bytes * 8; i++) count += mask[i / 32] >> i % 32 & 1;
  *seed = *seed * 1664525u + 1013904223u;
  n = count ? (*seed >> 8) % count : 0;
  for (uint32_t i = 0; i < bytes * 8; i++)
    if ((mask[i / 32] >> i % 32 & 1) && !n--) return i;
  return 0;
}

/* Draw at random under the masks; the number of tokens. */
static size_t generate(LlgMatcher *m, uint32_t seed, uint32_t *tokens, size_t most) {
  size_t n = 0;
  while (n < most && !llg_matcher_is_stopped(m) && !show_mask(m)) {
    tokens[n] = pick(llg_matcher_get_mask(m), llg_matcher_get_mask_byte_size(m), &seed);
    if (llg_matcher_consume_token(m, tokens[n++])) break;
    fprintf(out, "token %u, mask %d\n", tokens[n - 1], llg_matcher_get_mask(m) != NULL);
  }
  return n;
}

static void with_matcher(const LlgTokenizer *tokenizer, const LlgConstraintInit *init) {
  uint32_t tokens[64];
  char text[512];
  LlgMatcher *m = llg_new_matcher(init, "regex", PATTERN);
  size_t bytes = llg_matcher_get_mask_byte_size(m), n;
  fprintf(out, "bytes %zu, mask %d\n", bytes, llg_matcher_get_mask(m) != NULL);
  n = generate(m, 3, tokens, 64);
  show("generated", m);
  show_mask(m); /* the end alone */
  n = (llg_decode_tokens(tokenizer, tokens, n, text, sizeof text, LLG_DECODE_NONE), n);
  fprintf(out, "text %zu %s\n", n, text);
  int32_t status = llg_matcher_rollback(m, n - 1);
  fprintf(out, "rollback %d, mask %d, validate %d", status, llg_matcher_get_mask(m) != NULL,
          llg_matcher_validate_tokens(m, tokens + 1, n - 1));
  uint32_t odd[] = {tokens[1], 5, 6};
  fprintf(out, " %d\n", llg_matcher_validate_tokens(m, odd, 3));
  LlgMatcher *copy = llg_clone_matcher(m);
  fprintf(out, "clone %d %d\n", llg_matcher_consume_token(copy, tokens[1]),
          llg_matcher_validate_tokens(m, tokens + 1, 1));
  fprintf(out, "consume %d\n", llg_matcher_consume_tokens(m, tokens + 1, n - 1));
  show("consumed", m);
  status = llg_matcher_reset(m);
  fprintf(out, "reset %d\n", status);
  show_mask(m);
  uint32_t *mine = malloc(bytes + 4);
  fprintf(out, "into %d", llg_matcher_compute_mask_into(m, mine, bytes));
  fprintf(out, " %016llx, another size %d\n", (unsigned long long)hash(mine, bytes),
          llg_matcher_compute_mask_into(m, mine, bytes + 4));
  show("another size", m);
  fprintf(out, "refused %d\n", llg_matcher_consume_token(m, 5));
  show("refused", m);
  status = llg_matcher_reset(m);
  fprintf(out, "in error: reset %d, mask %d, validate %d, rollback %d, consume %d\n", status,
          llg_matcher_compute_mask(m), llg_matcher_validate_tokens(m, tokens, 1),
          llg_matcher_rollback(m, 0), llg_matcher_consume_token(m, tokens[0]));
  uint32_t end = END;
  fprintf(out, "in error: the end %d %d %d\n", llg_matcher_validate_tokens(m, &end, 1),
          llg_matcher_consume_tokens(m, &end, 1), llg_matcher_consume_token(m, end));
  llg_free_matcher(m);
  fprintf(out, "too far %d\n", llg_matcher_rollback(copy, 50));
  show("too far", copy);
  free(mine);
  llg_free_matcher(copy);
}

static void with_ends(const LlgConstraintInit *init) {
  LlgMatcher *m = llg_new_matcher(init, "regex", "x*");
  fprintf(out, "end %d\n", llg_matcher_consume_token(m, END));
  show("ended", m);
  show_mask(m);
  int32_t status = llg_matcher_rollback(m, 1);
  fprintf(out, "end undone %d\n", status);
  show("end undone", m);
  show_mask(m);
  llg_free_matcher(m);
}

static void with_grammars(const LlgConstraintInit *init) {
  static const char *const grammars[][2] = {
      {"regex", "a("},           {"regex", "a"},
      {"json", "{\"type\": 3}"}, {"json_schema", "{\"const\": 1}"},
      {"json_object", ""},       {"no", "a"}};
  char message[256];
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
    LlgMatcher *m = llg_new_matcher(init, grammars[i][0], grammars[i][1]);
    show(grammars[i][1], m);
    int32_t status =
        llg_validate_grammar(init, grammars[i][0], grammars[i][1], message, sizeof message);
    fprintf(out, "validate %d, message %d\n", status, message[0] != 0);
    llg_free_matcher(m);
  }
}

static void with_constraints(const LlgConstraintInit *init) {
  LlgConstraint *c = llg_new_constraint_regex(init, PATTERN), *copy = llg_clone_constraint(c),
                *bad = llg_new_constraint_any(init, "regex", "a(");
  LlgMaskResult mask = {0};
  LlgCommitResult commit = {0};
  static uint32_t a[5000], b[5000];
  size_t bytes = 4 * ((128256 + 31) / 32);
  LlgConstraintStep steps[] = {{c, a, bytes}, {copy, b, bytes}};
  fprintf(out, "constraints %d %d %d\n", llg_get_error(c) != NULL, llg_get_error(copy) != NULL,
          llg_get_error(bad) != NULL);
  llg_par_compute_mask(steps, 2, NULL, NULL);
  fprintf(out, "parallel %016llx %016llx\n", (unsigned long long)hash(a, bytes),
          (unsigned long long)hash(b, bytes));
  uint32_t seed = 9;
  for (int i = 0; i < 40; i++) {
    int32_t status = llg_compute_mask(c, &mask);
    fprintf(out, "step %d %d %g", status, mask.is_stop, (double)mask.temperature);
    uint32_t token = mask.is_stop || status ? 0 : pick(mask.sample_mask, bytes, &seed);
    status = llg_commit_token(c, token, &commit);
    fprintf(out, " commit %d %u %u %d\n", status, commit.n_tokens,
            commit.n_tokens ? commit.tokens[0] : 0, commit.is_stop);
    if (commit.is_stop || status) break;
  }
  fprintf(out, "over %d %d\n", llg_is_stopped(c), llg_is_stopped(copy));
  llg_free_constraint(c);
  llg_free_constraint(copy);
  llg_free_constraint(bad);
}

static void with_tokenizer(const LlgTokenizer *tokenizer) {
  static const char text[] = "Gr\xc3\xbc\xc3\x9f"
                             "e, {\"a\": [1, 2]}",
                    marked[] = "a\xff<|eot_id|>b";
  uint32_t ids[64];
  char back[256];
  size_t n = llg_tokenize_bytes(tokenizer, (const uint8_t *)text, sizeof text - 1, ids, 64);
  fprintf(out, "tokens %zu", n);
  for (size_t i = 0; i < n; i++) fprintf(out, " %u", ids[i]);
  size_t size = llg_decode_tokens(tokenizer, ids, n, back, sizeof back, LLG_DECODE_NONE);
  fprintf(out, "\nback %zu %s, cut %zu", size, back,
          llg_decode_tokens(tokenizer, ids, n, back, 5, LLG_DECODE_NONE));
  fprintf(out, " %s\n", back);
  fprintf(out, "half a character %zu",
          llg_decode_tokens(tokenizer, ids, 2, back, sizeof back, LLG_DECODE_VALID_UTF8));
  n = llg_tokenize_bytes_marker(tokenizer, (const uint8_t *)marked, sizeof marked - 1, ids, 64);
  fprintf(out, ", marked %zu %u, with name %zu, without %zu\n", n, ids[1],
          llg_decode_tokens(tokenizer, ids, n, back, 256, LLG_DECODE_INCLUDE_SPECIAL),
          llg_decode_tokens(tokenizer, ids, n, back, 256, LLG_DECODE_NONE));
}

int run(const char *path, const char *into) {
  FILE *f = fopen(path, "rb");
  char *json = f ? calloc(1, 1 << 25) : NULL, error[256] = "";
  out = into ? fopen(into, "w") : stdout;
  if (!json || !out || !fread(json, 1, (1 << 25) - 1, f)) return 1;
  fclose(f);
  LlgTokenizerInit options = {.vocab_size = 128256,
                              .tok_eos = END,
                              .tokenizer_json = json,
                              .use_approximate_greedy_tokenize_fn = true};
  LlgTokenizer *tokenizer = llg_new_tokenizer(&options, error, sizeof error);
  fprintf(out, "tokenizer %d %s\n", tokenizer != NULL, error);
  if (!tokenizer) return 1;
  LlgTokenizer *clone = llg_clone_tokenizer(tokenizer);
  llg_free_tokenizer(tokenizer);
  LlgConstraintInit init;
  llg_constraint_init_set_defaults(&init, clone);
  init.log_stderr_level = 0;
  with_tokenizer(clone);
  with_matcher(clone, &init);
  with_ends(&init);
  with_grammars(&init);
  with_constraints(&init);
  llg_free_tokenizer(clone);
  free(json);
  return into ? fclose(out) : fflush(out);
}

#ifndef AS_LIBRARY
int main(int argc, char **argv) { return argc == 2 ? run(argv[1], NULL) : 2; }
#endif
