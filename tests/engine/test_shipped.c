/* test_shipped.c - every schema and grammar that is shipped: the engine's masks against the
 * oracle's, and no dead end.
 *
 * Random generations are followed on the embedded vocabulary, and on a real one: Llama-3.1's,
 * fetched, or skipped with the reason if it is not there. At every step the masks are equal and the
 * drawn token is accepted. After the last step the text is led to its end, by the byte after which
 * the shortest completion is shortest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"
#include "tests/support/folder.h"
#include "tests/judges/oracle.h"
#include "tests/support/text.h"

#define NAMES_MAX 128

static char *names[NAMES_MAX];
static size_t name_count;
static unsigned long masks_compared, completed;

static void find_files(const char *folder) {
  name_count += folder_list(folder, ".gbnf", names + name_count, NAMES_MAX - name_count);
  name_count += folder_list(folder, ".lark", names + name_count, NAMES_MAX - name_count);
  name_count += folder_list(folder, ".abnf", names + name_count, NAMES_MAX - name_count);
  name_count += folder_list(folder, ".json", names + name_count, NAMES_MAX - name_count);
}

static tsl_grammar *compile(tsl_vocab *v, const char *name, tsl_order order) {
  size_t n;
  char *text = text_of_file(name, &n);
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_schema_options options = {.order = order};
  tsl_status status =
      folder_has(name, ".gbnf")   ? tsl_grammar_gbnf(v, text, n, NULL, NULL, &g, &error)
      : folder_has(name, ".lark") ? tsl_grammar_lark(v, text, n, NULL, NULL, &g, &error)
      : folder_has(name, ".abnf") ? tsl_grammar_abnf(v, text, n, NULL, NULL, &g, &error)
                                  : tsl_grammar_json_schema(v, text, n, &options, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s %s", name, error.pointer, error.message);
  free(text);
  return g;
}

/* To the end, by the byte after which least is missing. */
static void complete(tsl_matcher *m, const char *name) {
  for (uint32_t step = 0; step < 20000 && !tsl_matcher_is_complete(m); step++) {
    uint32_t set[8];
    uint64_t best = UINT64_MAX;
    int byte = -1;
    CHECK(tsl_matcher_next_bytes(m, set) == TSL_OK);
    for (int b = 0; b < 256; b++) {
      uint64_t left;
      uint8_t c = (uint8_t)b;
      if (!(set[b / 32] >> b % 32 & 1) || tsl_matcher_accept_bytes(m, &c, 1, NULL) != TSL_OK)
        continue;
      if (tsl_matcher_shortest_completion(m, &left) == TSL_OK && left < best) best = left, byte = b;
      tsl_matcher_rollback(m, 1);
    }
    uint8_t c = (uint8_t)byte;
    if (byte < 0 || tsl_matcher_accept_bytes(m, &c, 1, NULL) != TSL_OK) break;
  }
  CHECKF(tsl_matcher_is_complete(m), "%s: the text cannot be finished", name);
  completed += tsl_matcher_is_complete(m);
}

static void follow(tsl_vocab *v, const char *name, tsl_order order, uint32_t steps,
                   uint64_t first) {
  tsl_grammar *g = compile(v, name, order);
  uint64_t seed = first;
  if (!g) return;
  size_t words = tsl_vocab_mask_words(v);
  uint32_t *mine = malloc(words * 4), *naive = malloc(words * 4);
  tsl_matcher *m;
  oracle o;
  tsl_matcher_new(g, NULL, &m);
  oracle_begin(&o, g->space, g->start);
  for (uint32_t i = 0; i < steps && !o.overflow; i++) {
    CHECK(tsl_matcher_mask(m, mine) == TSL_OK);
    tsl__space_begin(g->space);
    oracle_mask(&o, naive);
    if (o.overflow) break;
    bool same = !memcmp(mine, naive, words * 4);
    CHECKF(same, "%s: step %u", name, i);
    masks_compared++;
    tsl_token t = draw(mine, tsl_vocab_logits_width(v), &seed);
    CHECKF(t != TSL_NO_TOKEN, "%s: a dead end at step %u", name, i);
    if (!same || t == TSL_NO_TOKEN) break;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    if (tsl_vocab_is_eog(v, t)) break;
    CHECK(oracle_token(&o, t));
  }
  if (!tsl_matcher_is_terminated(m)) complete(m, name);
  oracle_free(&o);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mine);
  free(naive);
}

static void embedded(void) {
  tsl_vocab *v = NULL;
  tsl_error error;
  CHECK(tsl_vocab_embedded(NULL, &v, &error) == TSL_OK);
  for (size_t i = 0; i < name_count; i++)
    for (unsigned k = (unsigned)i % 3; k < ROUNDS_OF(3u) + (unsigned)i % 3; k++)
      if (tsl_test_turn(i + k, 3))
        follow(v, names[i], k % 3 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA, 30, 7 + 3 * i + k);
  tsl_vocab_release(v);
}

static void real(void) {
  char path[1024];
  const char *folder = getenv("TSL_VOCABS");
  snprintf(path, sizeof path, "%s/llama3_1/tokenizer.json", folder ? folder : "build/vocabs");
  tsl_vocab *v = NULL;
  tsl_error error;
  if (tsl_vocab_load_file(path, NULL, NULL, &v, &error) != TSL_OK) {
    SKIP("no Llama-3.1 vocabulary at %s (./dev fetch gets it): %s", path, error.message);
    return;
  }
  for (size_t i = 0; i < name_count; i++)
    if (tsl_test_turn(i, 3)) follow(v, names[i], TSL_ORDER_ANY, ROUNDS_OF(6u), 700 + i);
  tsl_vocab_release(v);
}

static void something_was_compared(void) {
  printf("  %zu files, %lu masks compared, %lu texts completed\n", name_count, masks_compared,
         completed);
  CHECK(name_count >= 10 && masks_compared > 100);
}

int main(void) {
  find_files("schemas/examples");
  find_files("schemas/grammars");
  RUN(embedded, "shipped schemas and grammars, embedded vocabulary: engine = oracle, no dead end");
  RUN(real, "the same with Llama-3.1's vocabulary");
  RUN(something_was_compared, "there were files, and masks");
  for (size_t i = 0; i < name_count; i++) free(names[i]);
  return tsl_test_end();
}
