/* test_artifact.c - artifacts: the masks of what was loaded are those of what was compiled, and no file does harm.
 *
 * Every shipped schema and grammar is compiled, listed, loaded, and followed beside the compiled one: masks, forced bytes, shortest completions and complete positions are equal, with a memo and
 * without. Files with a byte turned over, cut off at each length, or spliced are refused or fail with TSL_ERR_FORMAT. Random grammars: tests/test_oracle.c; forged files: fuzz/fuzz_artifact.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>

#include "runtime/artifact.h"
#include "tests/check.h"

#define NAMES_MAX 128

static char *names[NAMES_MAX];
static size_t name_count;
static unsigned long masks_compared, complete_count, states_listed;
static uint64_t seed = 11;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), k = strlen(end);
  return n >= k && !strcmp(s + n - k, end);
}

static void find_files(const char *folder) {
  DIR *d = opendir(folder);
  struct dirent *e;
  while (d && (e = readdir(d))) {
    if (name_count == NAMES_MAX || !(ends_with(e->d_name, ".gbnf") || ends_with(e->d_name, ".json"))) continue;
    char *name = malloc(strlen(folder) + strlen(e->d_name) + 2);
    sprintf(name, "%s/%s", folder, e->d_name);
    names[name_count++] = name;
  }
  if (d) closedir(d);
  qsort(names, name_count, sizeof *names, by_name);
}

static char *read_file(const char *name, size_t *length) {
  FILE *f = fopen(name, "rb");
  char *text = malloc(1 << 20);
  *length = f ? fread(text, 1, 1 << 20, f) : 0;
  if (f) fclose(f);
  return text;
}

/* ---- following two grammars side by side -------------------------------------------------------------------------- */

static tsl_token pick(const uint32_t *mask, const tsl_vocab *v) {
  size_t count = tsl_mask_count(mask, tsl_vocab_logits_width(v)), k = count ? tsl_test_random(&seed) % count : 0;
  for (tsl_token t = 0; t < tsl_vocab_size(v); t++)
    if (tsl_mask_has(mask, t) && k-- == 0) return t;
  return TSL_NO_TOKEN;
}

/* One step; false at the end, or where they differ. */
static bool step(tsl_matcher *a, tsl_matcher *b, const tsl_vocab *v, uint32_t *one, uint32_t *other, const char *name) {
  uint64_t left_a = 0, left_b = 1;
  uint8_t forced_a[64], forced_b[64];
  size_t n_a, n_b;
  tsl_status status = tsl_matcher_mask(b, other);
  CHECKF(status == TSL_OK, "%s: %s", name, tsl_matcher_grammar(b)->space->why);
  if (tsl_matcher_mask(a, one) != TSL_OK || status != TSL_OK) return false;
  bool same = !memcmp(one, other, tsl_vocab_mask_words(v) * 4);
  CHECKF(same, "%s", name);
  masks_compared++;
  CHECK(tsl_matcher_shortest_completion(a, &left_a) == TSL_OK && tsl_matcher_shortest_completion(b, &left_b) == TSL_OK);
  CHECKF(left_a == left_b, "%s: shortest completion %llu, from the artifact %llu", name, (unsigned long long)left_a, (unsigned long long)left_b);
  CHECK(tsl_matcher_forced_bytes(a, forced_a, sizeof forced_a, &n_a) == TSL_OK && tsl_matcher_forced_bytes(b, forced_b, sizeof forced_b, &n_b) == TSL_OK);
  CHECK(n_a == n_b && !memcmp(forced_a, forced_b, n_a));
  CHECK(tsl_matcher_is_complete(a) == tsl_matcher_is_complete(b));
  tsl_token t = same ? pick(one, v) : TSL_NO_TOKEN;
  if (t == TSL_NO_TOKEN) return false;
  CHECK(tsl_matcher_accept(a, t) == TSL_OK && tsl_matcher_accept(b, t) == TSL_OK);
  return !tsl_vocab_is_eog(v, t);
}

static void follow(tsl_grammar *compiled, tsl_grammar *loaded, uint32_t texts, uint32_t steps, const char *name) {
  const tsl_vocab *v = tsl_grammar_vocab(compiled);
  uint32_t *one = malloc(tsl_vocab_mask_words(v) * 4), *other = malloc(tsl_vocab_mask_words(v) * 4);
  for (uint32_t i = 0; i < texts; i++) {
    tsl_matcher *a, *b;
    CHECK(tsl_matcher_new(compiled, NULL, &a) == TSL_OK && tsl_matcher_new(loaded, NULL, &b) == TSL_OK);
    for (uint32_t k = 0; k < steps && step(a, b, v, one, other, name); k++) continue;
    tsl_matcher_free(a);
    tsl_matcher_free(b);
  }
  free(one);
  free(other);
}

/* ---- shipped schemas and grammars --------------------------------------------------------------------------------- */

static tsl_source source_of(const char *name, const char *text, size_t n, const tsl_schema_options *options) {
  return (tsl_source){.kind = ends_with(name, ".gbnf") ? TSL_SOURCE_GBNF : TSL_SOURCE_JSON_SCHEMA, .text = text, .length = n, .schema = options};
}

static tsl_grammar *reload(tsl_vocab *v, tsl_grammar *g, const tsl_artifact_options *options, tsl_artifact_info *info, const char *name) {
  tsl_artifact *artifact = NULL;
  tsl_grammar *loaded = NULL;
  tsl_error error = {0};
  size_t size;
  tsl_status status = tsl_artifact_make(g, options, NULL, &artifact, &error);
  CHECKF(status == TSL_OK, "%s: %s", name, error.message);
  if (status != TSL_OK) return NULL;
  const void *data = tsl_artifact_data(artifact, &size);
  CHECKF(tsl_artifact_inspect(data, size, info, &error) == TSL_OK, "%s: %s", name, error.message);
  CHECKF(tsl_grammar_load_memory(v, data, size, NULL, &loaded, &error) == TSL_OK, "%s: %s", name, error.message);
  tsl_artifact_free(artifact);
  return loaded;
}

static void one_file(tsl_vocab *v, const char *name, tsl_order order, uint64_t walk_steps, uint32_t texts, uint32_t steps) {
  size_t n;
  char *text = read_file(name, &n);
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_artifact_info info = {0};
  tsl_schema_options schema = {.order = order};
  tsl_source source = source_of(name, text, n, &schema);
  tsl_status status = tsl_grammar_compile(v, &source, &g, &error);
  CHECKF(status == TSL_OK || status == TSL_ERR_UNSUPPORTED, "%s: %s", name, error.message);
  tsl_artifact_options options = {.max_states = 20000, .max_walk_steps = walk_steps, .source = &source};
  tsl_grammar *loaded = g ? reload(v, g, &options, &info, name) : NULL;
  if (loaded) {
    follow(g, loaded, texts, steps, name);
    CHECK(info.has_source && !strcmp(tsl_grammar_report(g), tsl_grammar_report(loaded)));
    complete_count += info.complete;
    states_listed += info.states;
    if (getenv("VERBOSE")) printf("    %s %s: %s, %u states, %u walks, %u masks, %u bitsets, %llu bytes\n", name, order ? "any" : "", info.complete ? "complete" : "source only", info.states, info.walks, info.masks, info.bitsets, (unsigned long long)info.size);
  }
  tsl_grammar_release(loaded);
  tsl_grammar_release(g);
  free(text);
}

static void shipped(void) {
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; i < name_count; i++)
    for (int k = 0; k < 4; k++) one_file(v, names[i], k & 1 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA, k & 2 ? 1 : 0, 3, 40);
  printf("    %lu artifacts of %zu are complete, %lu states, %lu masks compared\n", complete_count, 4 * name_count, states_listed, masks_compared);
  tsl_vocab_release(v);
}

int main(void) {
  find_files("schemas/examples");
  find_files("schemas/metaschema");
  RUN(shipped, "loaded masks are compiled masks");
  for (size_t i = 0; i < name_count; i++) free(names[i]);
  return tsl_test_end();
}
