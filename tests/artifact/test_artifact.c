/* test_artifact.c - artifacts: the masks of what was loaded are those of what was compiled, and no
 * file does harm.
 *
 * Every shipped schema and grammar is compiled, listed, loaded, and followed beside the compiled
 * one. Masks, forced bytes, shortest completions and complete positions are equal, with a memo and
 * without. Files with a byte turned over, cut off at each length, or spliced are refused or fail
 * with TSL_ERR_FORMAT. Forged files, whose checksums are right: test_forged.c. Random grammars:
 * tests/engine/test_oracle.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/artifact/artifact.h"
#include "tests/artifact/follow.h"
#include "tests/support/folder.h"
#include "tests/support/text.h"

#define NAMES_MAX 128

static char *names[NAMES_MAX];
static size_t name_count;
static unsigned long complete_count, states_listed;

static void find_files(const char *folder) {
  name_count += folder_list(folder, ".gbnf", names + name_count, NAMES_MAX - name_count);
  name_count += folder_list(folder, ".json", names + name_count, NAMES_MAX - name_count);
}

/* ---- shipped schemas and grammars ------------------------------------------------------------ */

static tsl_source source_of(const char *name, const char *text, size_t n,
                            const tsl_schema_options *options) {
  return (tsl_source){.kind = folder_has(name, ".gbnf") ? TSL_SOURCE_GBNF : TSL_SOURCE_JSON_SCHEMA,
                      .text = text,
                      .length = n,
                      .schema = options};
}

static tsl_grammar *reload(tsl_vocab *v, tsl_grammar *g, const tsl_artifact_options *options,
                           tsl_artifact_info *info, const char *name) {
  tsl_artifact *artifact = NULL;
  tsl_grammar *loaded = NULL;
  tsl_error error = {0};
  size_t size;
  tsl_status status = tsl_artifact_make(g, options, NULL, &artifact, &error);
  CHECKF(status == TSL_OK, "%s: %s", name, error.message);
  if (status != TSL_OK) return NULL;
  const void *data = tsl_artifact_data(artifact, &size);
  CHECKF(tsl_artifact_inspect(data, size, info, &error) == TSL_OK, "%s: %s", name, error.message);
  CHECKF(tsl_grammar_load_memory(v, data, size, NULL, &loaded, &error) == TSL_OK, "%s: %s", name,
         error.message);
  tsl_artifact_free(artifact);
  return loaded;
}

static void one_file(tsl_vocab *v, const char *name, tsl_order order, uint64_t walk_steps,
                     uint32_t texts, uint32_t steps) {
  size_t n;
  char *text = text_of_file(name, &n);
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_artifact_info info = {0};
  tsl_schema_options schema = {.order = order};
  tsl_source source = source_of(name, text, n, &schema);
  tsl_status status = tsl_grammar_compile(v, &source, &g, &error);
  CHECKF(status == TSL_OK || status == TSL_ERR_UNSUPPORTED, "%s: %s", name, error.message);
  tsl_artifact_options options = {
      .max_states = 5000, .max_walk_steps = walk_steps, .source = &source};
  tsl_grammar *loaded = g ? reload(v, g, &options, &info, name) : NULL;
  if (loaded) {
    follow(g, loaded, texts, steps, name);
    CHECK(info.has_source && !strcmp(tsl_grammar_report(g), tsl_grammar_report(loaded)));
    complete_count += info.complete;
    states_listed += info.states;
    if (getenv("VERBOSE"))
      printf("    %s %s: %s, %u states, %u walks, %u masks, %u bitsets, %llu bytes\n", name,
             order ? "any" : "", info.complete ? "complete" : "source only", info.states,
             info.walks, info.masks, info.bitsets, (unsigned long long)info.size);
  }
  tsl_grammar_release(loaded);
  tsl_grammar_release(g);
  free(text);
}

static void shipped(void) {
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; i < name_count; i++)
    for (unsigned k = (unsigned)i % 4; k < ROUNDS_OF(4u) + (unsigned)i % 4; k++)
      one_file(v, names[i], k & 1 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA, k & 2 ? 1 : 3000000, 2, 40);
  printf("    %lu artifacts of %zu are complete, %lu states, %lu masks compared\n", complete_count,
         ROUNDS_OF(4) * name_count, states_listed, masks_compared);
  CHECK(name_count >= 10 && complete_count * 4 > ROUNDS_OF(4) * name_count && masks_compared > 100);
  tsl_vocab_release(v);
}

/* ---- files that are not sound ---------------------------------------------------------------- */

/* Load and follow some texts; whatever fails fails with FORMAT. Returns whether anything failed. */
static bool try_bytes(tsl_vocab *v, const uint8_t *data, size_t size, unsigned texts) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_load_memory(v, data, size, NULL, &g, &error);
  uint32_t mask[16];
  if (status != TSL_OK) {
    CHECKF(status == TSL_ERR_FORMAT && error.status == status && error.message[0] && !g, "%s: %s",
           tsl_status_name(status), error.message);
    return true;
  }
  for (unsigned i = 0; i < texts && status == TSL_OK; i++) {
    tsl_matcher *m;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (int k = 0; k < 30 && (status = tsl_matcher_mask(m, mask)) == TSL_OK; k++) {
      uint64_t left;
      tsl_token t = draw(mask, tsl_vocab_logits_width(v), &seed);
      if (t == TSL_NO_TOKEN || (status = tsl_matcher_shortest_completion(m, &left)) != TSL_OK ||
          (status = tsl_matcher_accept(m, t)) != TSL_OK || tsl_vocab_is_eog(v, t))
        break;
    }
    CHECKF(status == TSL_OK || status == TSL_ERR_FORMAT, "%s", tsl_status_name(status));
    tsl_matcher_free(m);
  }
  tsl_grammar_release(g);
  return status != TSL_OK;
}

static void damaged(void) {
  tsl_vocab *v = small_vocab("<end>");
  tsl_artifact *a = artifact_of(v, tree, 0);
  size_t size;
  const uint8_t *good = tsl_artifact_data(a, &size);
  uint8_t *bad = malloc(size);
  tsl_artifact_info info;
  unsigned noticed = 0, reported = 0;
  CHECK(!try_bytes(v, good, size, 4));
  /* each byte turned over: inspecting says so, unless it is padding before the first block */
  for (size_t i = 0; i < size; i++) {
    memcpy(bad, good, size);
    bad[i] ^= (uint8_t)(1u << i % 8);
    if (i % 8 == 0) noticed += try_bytes(v, bad, size, 1);
    reported += tsl_artifact_inspect(bad, size, &info, NULL) == TSL_ERR_FORMAT;
  }
  const tsl__a_header *h = (const void *)good;
  size_t gap = (size_t)(h->begin - sizeof *h - h->blocks * 8);
  CHECKF(reported == size - gap, "%u of %zu, gap %zu", reported, size, gap);
  CHECKF(noticed > size / 32, "%u of %zu", noticed, size);
  for (size_t n = 0; n < size; n++) CHECK(try_bytes(v, good, n, 1)); /* cut off at each length */
  tsl_artifact *b =
      artifact_of(v, "{\"type\": \"array\", \"items\": {\"enum\": [\"x\", null]}}", 0);
  size_t other_size;
  const uint8_t *other = tsl_artifact_data(b, &other_size);
  /* the head of one, the tail of the other */
  for (size_t i = 64; i < size && i < other_size; i += 61) {
    memcpy(bad, good, size);
    memcpy(bad + i, other + i, (other_size < size ? other_size : size) - i);
    if (!memcmp(bad, good, size)) continue; /* their tails are equal */
    CHECK(tsl_artifact_inspect(bad, size, &info, NULL) == TSL_ERR_FORMAT);
    try_bytes(v, bad, size, 1);
  }
  free(bad);
  tsl_artifact_free(a);
  tsl_artifact_free(b);
  tsl_vocab_release(v);
}

/* A header with one number changed, its checksum made good again. */
static tsl_status with_number(tsl_vocab *v, const tsl_artifact *a, size_t offset, uint32_t value,
                              tsl_error *error) {
  size_t size;
  const uint8_t *good = tsl_artifact_data(a, &size);
  uint8_t *copy = malloc(size);
  tsl_grammar *g;
  memcpy(copy, good, size);
  memcpy(copy + offset, &value, sizeof value);
  ((tsl__a_header *)(void *)copy)->checksum =
      tsl__a_header_sum((const void *)copy, copy + sizeof(tsl__a_header));
  tsl_status status = tsl_grammar_load_memory(v, copy, size, NULL, &g, error);
  free(copy);
  tsl_grammar_release(g);
  return status;
}

static void others(void) {
  tsl_vocab *v = small_vocab("<end>"), *w = small_vocab("<END>");
  tsl_artifact *a = artifact_of(v, tree, 0), *b = artifact_of(v, tree, 0);
  tsl_error error = {0};
  tsl_grammar *g;
  size_t size, again;
  const void *data = tsl_artifact_data(a, &size), *same = tsl_artifact_data(b, &again);
  CHECK(size == again && !memcmp(data, same, size)); /* equal inputs give equal bytes */
  CHECK(tsl_grammar_load_memory(w, data, size, NULL, &g, &error) == TSL_ERR_FORMAT &&
        strstr(error.message, "vocabulary"));
  CHECK(with_number(v, a, offsetof(tsl__a_header, version), TSL__ARTIFACT_VERSION + 1, &error) ==
            TSL_ERR_FORMAT &&
        strstr(error.message, "version"));
  CHECK(with_number(v, a, offsetof(tsl__a_header, mark), 0x04030201, &error) == TSL_ERR_FORMAT &&
        strstr(error.message, "order of bytes"));
  /* the memo is passed over */
  CHECK(with_number(v, a, offsetof(tsl__a_header, memo), TSL__ARTIFACT_MEMO + 1, &error) == TSL_OK);
  CHECK(with_number(v, a, offsetof(tsl__a_header, start), 1u << 30, &error) == TSL_ERR_FORMAT);
  CHECK(tsl_grammar_load(v, "/nowhere/at all", NULL, &g, &error) == TSL_ERR_IO &&
        strstr(error.message, "no such file"));
  CHECK(tsl_grammar_load(v, "tests", NULL, &g, &error) == TSL_ERR_IO);
  CHECK(tsl_grammar_load(v, "README.md", NULL, &g, &error) == TSL_ERR_FORMAT);
  char fifo[64];
  snprintf(fifo, sizeof fifo, "/tmp/turnstile-artifact-%ld.fifo", (long)getpid());
  CHECK(!mkfifo(fifo, 0600)); /* nobody will ever write to it */
  CHECK(tsl_grammar_load(v, fifo, NULL, &g, &error) == TSL_ERR_IO &&
        strstr(error.message, "regular file"));
  CHECK(!unlink(fifo));
  tsl_artifact_free(a);
  tsl_artifact_free(b);
  tsl_vocab_release(v);
  tsl_vocab_release(w);
}

/* Names of which four ranges begin with a backslash, with others between. */
static void escaped_names(void) {
  static const char *const keys[] = {"\\n", "!", "\\\"", "a", "\\\\", "b", "\xC3\xA9"};
  static const tsl_schema_options options = {.order = TSL_ORDER_ANY, .whitespace = TSL_WS_COMPACT};
  tsl_vocab *v = small_vocab("<end>");
  tsl_grammar *g = NULL, *loaded = NULL;
  tsl_artifact *a = NULL;
  tsl_matcher *m = NULL;
  struct text t = {0};
  size_t size;
  text_add(&t, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    text_add(&t, i ? ",\"" : "\"");
    text_add(&t, keys[i]);
    text_add(&t, "\":{\"const\":1}");
  }
  text_add(&t, "}}");
  CHECK(tsl_grammar_json_schema(v, t.at, t.n, &options, NULL, &g, NULL) == TSL_OK);
  CHECK(g && tsl_artifact_make(g, NULL, NULL, &a, NULL) == TSL_OK);
  const void *data = a ? tsl_artifact_data(a, &size) : NULL;
  CHECK(data && tsl_grammar_load_memory(v, data, size, NULL, &loaded, NULL) == TSL_OK);
  if (loaded) follow(g, loaded, 40, 60, "escaped names");
  static const char text[] = "{\"\\\\\":1,\"\\u00e9\":1,\"\\n\":1,\"\\";
  CHECK(loaded && tsl_matcher_new(loaded, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, text, sizeof text - 1, NULL) == TSL_OK);
  CHECK(m && tsl_matcher_accept_bytes(m, "n", 1, NULL) == TSL_REJECTED &&
        tsl_matcher_accept_bytes(m, "\"\":1}", 5, NULL) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(loaded);
  tsl_grammar_release(g);
  tsl_artifact_free(a);
  tsl_vocab_release(v);
  text_free(&t);
}

/* Numbers beside other values: such states are expressions of several kinds, which are written as
 * outlines. */
static void numbers_beside_others(void) {
  static const char *const schemas[] = {
      "{\"type\":[\"number\",\"null\",\"boolean\"],\"multipleOf\":0.25}",
      "{\"anyOf\":[{\"type\":\"integer\"},{\"enum\":[null,12,\"a\",\"bc\"]}]}",
      "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"integer\"},{\"const\":\"a\"}]}}",
      "{\"anyOf\":[{\"type\":\"number\",\"not\":{\"multipleOf\":3}},{\"type\":\"string\","
      "\"pattern\":\"^[ab]{2,5}c*$\"}]}"};
  tsl_vocab *v = small_vocab("<end>");
  for (size_t i = 0; i < 2 * sizeof schemas / sizeof *schemas; i++) {
    const tsl_schema_options options = {.whitespace = TSL_WS_COMPACT,
                                        .spelling = i % 2 ? TSL_SPELLING_ANY : TSL_SPELLING_PLAIN};
    const char *schema = schemas[i / 2];
    tsl_grammar *g = NULL, *loaded = NULL;
    tsl_artifact *a = NULL;
    tsl_error error = {0};
    size_t size;
    CHECKF(tsl_grammar_json_schema(v, schema, strlen(schema), &options, NULL, &g, &error) == TSL_OK,
           "%s: %s", schema, error.message);
    CHECKF(g && tsl_artifact_make(g, NULL, NULL, &a, &error) == TSL_OK, "%s: %s", schema,
           error.message);
    const void *data = a ? tsl_artifact_data(a, &size) : NULL;
    CHECKF(data && tsl_grammar_load_memory(v, data, size, NULL, &loaded, &error) == TSL_OK,
           "%s: %s", schema, error.message);
    if (loaded) follow(g, loaded, 40, 30, schema);
    tsl_grammar_release(loaded);
    tsl_grammar_release(g);
    tsl_artifact_free(a);
  }
  tsl_vocab_release(v);
}

/* What cannot be listed says so; with its source it is kept as that. */
static void not_listed(void) {
  static const char unique[] =
      "{\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"uniqueItems\": true}";
  tsl_vocab *v = small_vocab("<end>");
  tsl_grammar *g = NULL, *loaded = NULL;
  tsl_artifact *a = NULL;
  tsl_error error = {0};
  tsl_source source = {.kind = TSL_SOURCE_JSON_SCHEMA, .text = unique, .length = sizeof unique - 1};
  tsl_artifact_options options = {.source = &source};
  tsl_artifact_info info;
  size_t size;
  CHECK(tsl_grammar_compile(v, &source, &g, NULL) == TSL_OK);
  CHECK(tsl_artifact_make(g, NULL, NULL, &a, &error) == TSL_ERR_UNSUPPORTED &&
        strstr(error.message, "uniqueItems") && !a);
  CHECK(tsl_artifact_inspect(NULL, 0, &info, &error) == TSL_ERR_FORMAT &&
        tsl_artifact_inspect(NULL, 8, &info, &error) == TSL_ERR_ARGUMENT);
  source.kind = (tsl_source_kind)(TSL_SOURCE_ABNF + 1); /* no kind */
  CHECK(tsl_artifact_make(g, &options, NULL, &a, &error) == TSL_ERR_ARGUMENT &&
        error.status == TSL_ERR_ARGUMENT && !a);
  source.kind = TSL_SOURCE_JSON_SCHEMA;
  CHECK(tsl_artifact_make(g, &options, NULL, &a, &error) == TSL_OK);
  const void *data = a ? tsl_artifact_data(a, &size) : NULL;
  CHECK(data && tsl_artifact_inspect(data, size, &info, NULL) == TSL_OK && !info.complete &&
        info.has_source);
  CHECK(data && tsl_grammar_load_memory(v, data, size, NULL, &loaded, &error) == TSL_OK);
  if (loaded) follow(g, loaded, 3, 40, "unique");
  tsl_grammar_release(loaded);
  tsl_grammar_release(g);
  tsl_artifact_free(a);
  a = NULL;
  CHECK(tsl_grammar_json_schema(v, tree, sizeof tree - 1, NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_artifact_make(g, &(tsl_artifact_options){.max_states = 5}, NULL, &a, &error) ==
            TSL_ERR_LIMIT &&
        strstr(error.message, "max_states") && !a);
  tsl_grammar_release(g);
  static const char counted[] =
      "{\"type\": \"sequence\", \"elements\": [{\"type\": \"any_text\", \"max_tokens\": 2}, "
      "{\"type\": \"const_string\", \"value\": \"END\"}]}";
  /* loaded without its count, it would have more masks */
  CHECK(tsl_grammar_tags(v, counted, sizeof counted - 1, NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_artifact_make(g, NULL, NULL, &a, &error) == TSL_ERR_UNSUPPORTED &&
        strstr(error.message, "max_tokens") && !a);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* A loaded grammar is made into an artifact again, with what it walked since; a parser refuses
 * it. */
static void again(void) {
  tsl_vocab *v = small_vocab("<end>");
  tsl_artifact *bare = artifact_of(v, tree, 1), *warm = NULL;
  tsl_grammar *g = NULL, *loaded = NULL, *reloaded = NULL;
  tsl_artifact_info before, after;
  tsl_parser *parser;
  size_t size;
  const void *data = tsl_artifact_data(bare, &size);
  CHECK(tsl_grammar_json_schema(v, tree, sizeof tree - 1, NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_grammar_load_memory(v, data, size, NULL, &loaded, NULL) == TSL_OK &&
        tsl_artifact_inspect(data, size, &before, NULL) == TSL_OK);
  CHECK(tsl_parser_new(loaded, NULL, &parser) == TSL_ERR_STATE);
  CHECK(tsl_artifact_make(loaded, NULL, NULL, &warm, NULL) == TSL_OK);
  data = tsl_artifact_data(warm, &size);
  CHECK(tsl_artifact_inspect(data, size, &after, NULL) == TSL_OK && after.states == before.states &&
        after.walks > before.walks);
  CHECK(tsl_grammar_load_memory(v, data, size, NULL, &reloaded, NULL) == TSL_OK);
  follow(g, reloaded, 6, 60, "again");
  tsl_grammar_release(g);
  tsl_grammar_release(loaded);
  tsl_grammar_release(reloaded);
  tsl_artifact_free(bare);
  tsl_artifact_free(warm);
  tsl_vocab_release(v);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct budget {
  uint64_t left; /* allocations until one fails */
  int64_t held;  /* bytes */
} budget;

static void *limited(void *ctx, void *block, size_t old_size, size_t new_size) {
  budget *b = ctx;
  if (new_size && b->left == 0) return NULL;
  if (new_size && b->left != UINT64_MAX) b->left--;
  b->held += (int64_t)new_size - (int64_t)old_size;
  if (new_size) return realloc(block, new_size);
  free(block);
  return NULL;
}

/* Every allocation of loading, walking and making fails in turn. */
static void every_allocation_fails(void) {
  tsl_vocab *plain = small_vocab("<end>");
  tsl_artifact *a =
      artifact_of(plain, "{\"type\": \"array\", \"items\": {\"enum\": [\"leaf\", null]}}", 0);
  size_t size;
  const void *data = tsl_artifact_data(a, &size);
  uint32_t n = 0;
  for (bool done = false; !done && n < 100000; n++) {
    budget b = {UINT64_MAX, 0};
    const tsl_allocator alloc = {&b, limited};
    const tsl_vocab_desc d = {plain->bytes,   plain->offsets, plain->size,     plain->logits_width,
                              plain->special, plain->eog,     plain->eog_count};
    tsl_vocab *v;
    tsl_grammar *g = NULL;
    tsl_artifact *made = NULL;
    tsl_matcher *m = NULL;
    uint32_t mask[16];
    CHECK(tsl_vocab_new(&d, &alloc, &v, NULL) == TSL_OK);
    b.left = n;
    tsl_status status = tsl_grammar_load_memory(v, data, size, NULL, &g, NULL);
    if (status == TSL_OK) status = tsl_matcher_new(g, NULL, &m);
    if (status == TSL_OK) status = tsl_matcher_mask(m, mask);
    if (status == TSL_OK) status = tsl_artifact_make(g, NULL, &alloc, &made, NULL);
    done = status == TSL_OK;
    CHECK(done || status == TSL_ERR_NO_MEMORY);
    b.left = UINT64_MAX;
    if (m) { /* usable afterwards */
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      tsl_matcher_free(m);
    }
    tsl_artifact_free(made);
    tsl_grammar_release(g);
    tsl_vocab_release(v);
    CHECK(b.held == 0);
  }
  CHECK(n > 20 && n < 100000);
  tsl_artifact_free(a);
  tsl_vocab_release(plain);
}

/* ---- named tokens ---------------------------------------------------------------------------- */

/* All bytes, a special token, and the end. */
static tsl_vocab *vocab_with_special(void) {
  uint8_t bytes[256 + 8], flags[258] = {0};
  uint32_t offsets[259];
  for (uint32_t i = 0; i < 256; i++) offsets[i] = i, bytes[i] = (uint8_t)i;
  offsets[256] = 256;
  memcpy(bytes + 256, "<x></s>", 7);
  offsets[257] = 259;
  offsets[258] = 263;
  flags[256] = flags[257] = 1;
  const tsl_token eog = 257;
  const tsl_vocab_desc d = {.bytes = bytes,
                            .offsets = offsets,
                            .size = 258,
                            .special = flags,
                            .eog = &eog,
                            .eog_count = 1};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&d, NULL, &v, NULL) == TSL_OK);
  return v;
}

/* A token that is named within a called frame is accepted, whether a mask was requested before or
 * not. That mask may be made, or found in the file. */
static void named_tokens(void) {
  static const char *const grammars[] = {
      "root ::= u \"x\"\nu ::= <[256]>",
      "root ::= (\"y\" | u) \"x\"\nu ::= <[256]> | \"(\" u \")\"", "root ::= <[256]> \"x\""};
  tsl_vocab *v = vocab_with_special();
  for (unsigned i = 0; i < 4 * sizeof grammars / sizeof *grammars; i++) {
    tsl_grammar *g[2] = {NULL, NULL};
    tsl_artifact *a = NULL;
    tsl_artifact_options options = {.max_walk_steps = i & 1};
    size_t size;
    CHECK(tsl_grammar_gbnf(v, grammars[i / 4], strlen(grammars[i / 4]), NULL, NULL, &g[0], NULL) ==
              TSL_OK &&
          tsl_artifact_make(g[0], &options, NULL, &a, NULL) == TSL_OK);
    const void *data = tsl_artifact_data(a, &size);
    CHECK(tsl_grammar_load_memory(v, data, size, NULL, &g[1], NULL) == TSL_OK);
    for (int k = 0; k < 2; k++) {
      uint32_t mask[9];
      tsl_matcher *m = NULL;
      CHECK(tsl_matcher_new(g[k], NULL, &m) == TSL_OK);
      if (i & 2) CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_has(mask, 256));
      CHECKF(tsl_matcher_accept(m, 256) == TSL_OK && tsl_matcher_accept(m, 'x') == TSL_OK &&
                 tsl_matcher_is_complete(m),
             "%s, %u, %s", grammars[i / 4], i % 4, k ? "loaded" : "compiled");
      tsl_matcher_free(m);
      tsl_grammar_release(g[k]);
    }
    tsl_artifact_free(a);
  }
  tsl_vocab_release(v);
}

int main(void) {
  find_files("schemas/examples");
  find_files("schemas/metaschema");
  RUN(shipped, "loaded masks are compiled masks");
  RUN(damaged, "bytes turned over, cut off, spliced");
  RUN(others, "another vocabulary, version, machine");
  RUN(escaped_names, "names that begin with an escape");
  RUN(numbers_beside_others, "outlines of several kinds");
  RUN(not_listed, "what cannot be listed");
  RUN(again, "a loaded grammar is saved again");
  RUN(named_tokens, "tokens that are named in called frames");
  RUN(every_allocation_fails, "every nth allocation fails");
  for (size_t i = 0; i < name_count; i++) free(names[i]);
  return tsl_test_end();
}
