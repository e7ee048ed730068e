/* test_artifact.c - artifacts: the masks of what was loaded are those of what was compiled, and no
 * file does harm.
 *
 * Every shipped schema and grammar is compiled, listed, loaded, and followed beside the compiled
 * one: masks, forced bytes, shortest completions and complete positions are equal, with a memo and
 * without. Files with a byte turned over, cut off at each length, or spliced are refused or fail
 * with TSL_ERR_FORMAT. Forged files, whose checksums are right, do not make the program work or
 * hold more than its limits allow; more of them: fuzz/fuzz_artifact.c. Random grammars:
 * tests/engine/test_oracle.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/artifact/artifact.h"
#include "tests/support/draw.h"
#include "tests/support/folder.h"
#include "tests/support/text.h"

#define NAMES_MAX 128

static char *names[NAMES_MAX];
static size_t name_count;
static unsigned long masks_compared, complete_count, states_listed;
static uint64_t seed = 11;

static void find_files(const char *folder) {
  name_count += folder_list(folder, ".gbnf", names + name_count, NAMES_MAX - name_count);
  name_count += folder_list(folder, ".json", names + name_count, NAMES_MAX - name_count);
}

/* ---- following two grammars side by side ----------------------------------------------------- */

/* One step; false at the end, or where they differ. */
static bool step(tsl_matcher *a, tsl_matcher *b, const tsl_vocab *v, uint32_t *one, uint32_t *other,
                 const char *name) {
  uint64_t left_a = 0, left_b = 1;
  uint8_t forced_a[64], forced_b[64];
  size_t n_a = 0, n_b = 0;
  tsl_status status = tsl_matcher_mask(b, other);
  CHECKF(status == TSL_OK, "%s: %s", name, tsl_matcher_grammar(b)->space->why);
  if (tsl_matcher_mask(a, one) != TSL_OK || status != TSL_OK) return false;
  bool same = !memcmp(one, other, tsl_vocab_mask_words(v) * 4);
  CHECKF(same, "%s", name);
  masks_compared++;
  CHECK(tsl_matcher_shortest_completion(a, &left_a) == TSL_OK &&
        tsl_matcher_shortest_completion(b, &left_b) == TSL_OK);
  CHECKF(left_a == left_b, "%s: shortest completion %llu, from the artifact %llu", name,
         (unsigned long long)left_a, (unsigned long long)left_b);
  CHECK(tsl_matcher_forced_bytes(a, forced_a, sizeof forced_a, &n_a) == TSL_OK &&
        tsl_matcher_forced_bytes(b, forced_b, sizeof forced_b, &n_b) == TSL_OK);
  CHECK(n_a == n_b && !memcmp(forced_a, forced_b, n_a));
  CHECK(tsl_matcher_is_complete(a) == tsl_matcher_is_complete(b));
  tsl_token t = same ? draw(one, tsl_vocab_logits_width(v), &seed) : TSL_NO_TOKEN;
  if (t == TSL_NO_TOKEN) return false;
  CHECK(tsl_matcher_accept(a, t) == TSL_OK && tsl_matcher_accept(b, t) == TSL_OK);
  return !tsl_vocab_is_eog(v, t);
}

static void follow(tsl_grammar *compiled, tsl_grammar *loaded, uint32_t texts, uint32_t steps,
                   const char *name) {
  const tsl_vocab *v = tsl_grammar_vocab(compiled);
  uint32_t *one = malloc(tsl_vocab_mask_words(v) * 4), *other = malloc(tsl_vocab_mask_words(v) * 4);
  for (uint32_t i = 0; i < texts; i++) {
    tsl_matcher *a, *b;
    CHECK(tsl_matcher_new(compiled, NULL, &a) == TSL_OK &&
          tsl_matcher_new(loaded, NULL, &b) == TSL_OK);
    for (uint32_t k = 0; k < steps && step(a, b, v, one, other, name); k++) continue;
    tsl_matcher_free(a);
    tsl_matcher_free(b);
  }
  free(one);
  free(other);
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

static const char tree[] =
    "{\"$defs\": {\"t\": {\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\", "
    "\"maxLength\": 12}, \"kind\": {\"enum\": [\"leaf\", "
    "\"node\"]}, \"sub\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/t\"}}}, "
    "\"required\": [\"name\"], \"additionalProperties\": false}}, \"$ref\": "
    "\"#/$defs/t\"}";

static tsl_vocab *small_vocab(const char *last) {
  const char *tokens[] = {"{\"", "name", "\":",  " \"", "\"", "leaf", "node",  "kind",
                          "sub", "[",    "]",    "}",   "{",  ",",    "\",\"", "\\",
                          "u00", "\xC3", "\xA9", "a",   "bc", last};
  uint8_t bytes[1024], special[400] = {0};
  uint32_t offsets[401], n = 0, count = 0;
  for (; count < 256; count++) offsets[count] = n, bytes[n++] = (uint8_t)count;
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    offsets[count++] = n;
    memcpy(bytes + n, tokens[i], strlen(tokens[i]));
    n += (uint32_t)strlen(tokens[i]);
  }
  offsets[count] = n;
  special[count - 1] = 1;
  const tsl_token eog = count - 1;
  const tsl_vocab_desc d = {bytes, offsets, count, count + 40, special, &eog, 1};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&d, NULL, &v, NULL) == TSL_OK);
  return v;
}

static tsl_artifact *artifact_of(tsl_vocab *v, const char *schema, uint64_t walk_steps) {
  tsl_grammar *g = NULL;
  tsl_artifact *a = NULL;
  tsl_error error = {0};
  tsl_artifact_options options = {.max_walk_steps = walk_steps};
  CHECKF(tsl_grammar_json_schema(v, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK, "%s",
         error.message);
  CHECKF(tsl_artifact_make(g, &options, NULL, &a, &error) == TSL_OK, "%s", error.message);
  tsl_grammar_release(g);
  return a;
}

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
  unsigned noticed = 0, told = 0;
  CHECK(!try_bytes(v, good, size, 4));
  /* each byte turned over: inspecting tells, unless it is padding between header and first block */
  for (size_t i = 0; i < size; i++) {
    memcpy(bad, good, size);
    bad[i] ^= (uint8_t)(1u << i % 8);
    if (i % 8 == 0) noticed += try_bytes(v, bad, size, 1);
    told += tsl_artifact_inspect(bad, size, &info, NULL) == TSL_ERR_FORMAT;
  }
  const tsl__a_header *h = (const void *)good;
  size_t gap = (size_t)(h->begin - sizeof *h - h->blocks * 8);
  CHECKF(told == size - gap, "%u of %zu, gap %zu", told, size, gap);
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
  source.kind = (tsl_source_kind)3;
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

/* ---- forged files ---------------------------------------------------------------------------- */

/* What is in an artifact, to be changed and assembled again: then its checksums are right. */
static tsl__a_draft draft_of(const tsl_artifact *a) {
  size_t size;
  const uint8_t *data = tsl_artifact_data(a, &size);
  tsl__a_draft d = {.a = &tsl__malloc, .header = *(const tsl__a_header *)(const void *)data};
  for (unsigned i = 0; i < TSL__A_SECTIONS; i++) {
    const tsl__a_section *s = &d.header.section[i];
    CHECK(!s->size ||
          tsl__a_put_text(&d, i, (const char *)data + s->offset, (size_t)s->size) == TSL_OK);
  }
  return d;
}

/* NULL: *status says why. The draft is gone. */
static tsl_grammar *load_forged(tsl_vocab *v, tsl__a_draft *d, const tsl_limits *limits,
                                tsl_status *status) {
  tsl_artifact *a = NULL;
  tsl_grammar *g = NULL;
  size_t size;
  *status = tsl__a_assemble(d, v, d->a, &a);
  const void *data = a ? tsl_artifact_data(a, &size) : NULL;
  if (data) *status = tsl_grammar_load_memory(v, data, size, limits, &g, NULL);
  tsl_artifact_free(a);
  tsl__a_draft_free(d);
  return g;
}

/* What the first mask says, if it was loaded. */
static tsl_status first_mask(tsl_grammar *g, tsl_status status) {
  tsl_matcher *m = NULL;
  uint32_t mask[16];
  if (status == TSL_OK) status = tsl_matcher_new(g, NULL, &m);
  if (status != TSL_OK) return status;
  status = tsl_matcher_mask(m, mask);
  CHECK(tsl_matcher_mask(m, mask) == status); /* asked again it says so again */
  tsl_matcher_free(m);
  return status;
}

/* The first target of the first state, which does nothing but read. */
static uint32_t *first_target(const tsl__a_draft *d) {
  uint32_t *w = d->section[TSL__A_BODY].at + d->section[TSL__A_STATES].at[d->header.start];
  CHECK(!(w[0] & (TSL__HEAD_FLAGS | TSL__HEAD_OUTLINE | TSL__HEAD_NAMED)) &&
        w[0] >> TSL__HEAD_RANGES);
  uint32_t *to = w + 3 + (w[0] & TSL__HEAD_HINT ? TSL__HINT_WORDS : 0);
  while (!*to) to++;
  return to;
}

static void leads_nowhere(void) {
  tsl_vocab *v = small_vocab("<end>");
  tsl_artifact *a = artifact_of(v, "{\"enum\": [\"leaf\", \"node\"]}", 1);
  for (unsigned op = 0; op < 4; op++) {
    tsl__a_draft d = draft_of(a);
    uint32_t *to = first_target(&d);
    *to = op ? tsl__target_make(0, op) : *to;
    tsl_status status;
    tsl_grammar *g = load_forged(v, &d, NULL, &status);
    status = first_mask(g, status);
    CHECKF(status == (op ? TSL_ERR_FORMAT : TSL_OK), "operation %u: %s", op,
           tsl_status_name(status));
    tsl_grammar_release(g);
  }
  tsl_artifact_free(a);
  tsl_vocab_release(v);
}

/* A state that calls, and comes back to other states each time, all of which say that they tell so
 * many names apart. */
static tsl__a_draft many_resumes(uint32_t states, uint32_t apart, uint32_t words) {
  tsl__a_draft d = {.a = &tsl__malloc,
                    .header = {.flags = TSL__A_COMPLETE, .start = 1, .states = states + 3}};
  tsl__words *place = &d.section[TSL__A_STATES], *body = &d.section[TSL__A_BODY];
  CHECK(tsl__vec_reserve(d.a, place, states + 3) &&
        tsl__vec_reserve(d.a, body, 2 * states + words + 11) &&
        tsl__a_put_text(&d, TSL__A_REPORT, "[]", 3) == TSL_OK);
  const uint32_t head[3] = {0, states, 0}, end[3] = {TSL__STATE_NULLABLE, 0, 0},
                 resume[5] = {TSL__STATE_RESUME, 0, 0, apart, 0};
  uint32_t *at = body->at;
  memset(at, 0, (2 * states + words + 11) * sizeof *at);
  memcpy(at, head, sizeof head);
  for (uint32_t i = 0; i < states; i++) at[3 + 2 * i] = 3 + i, at[4 + 2 * i] = 2;
  memcpy(at + 3 + 2 * states, end, sizeof end);
  memcpy(at + 6 + 2 * states, resume, sizeof resume);
  place->at[0] = place->at[1] = 0;
  place->at[2] = 3 + 2 * states;
  for (uint32_t i = 0; i < states; i++) place->at[3 + i] = 6 + 2 * states;
  place->n = states + 3;
  body->n = 2 * states + words + 11;
  return d;
}

/* A call of a frame that spells any of so many names, over a state that lets none through. */
static tsl__a_draft many_names(uint32_t count) {
  const uint32_t head[] = {0, 1, 0, 3, 2}, resume[] = {TSL__STATE_RESUME, 0, 0, count, 0},
                 keyed[] = {TSL__STATE_KEYED | 1u << TSL__HEAD_KEYED | 1u << TSL__HEAD_RANGES, 0, 1,
                            0, count},
                 targets[] = {2, 255};
  tsl__a_draft d = {.a = &tsl__malloc,
                    .header = {.flags = TSL__A_COMPLETE, .start = 1, .states = 4}};
  tsl__words *body = &d.section[TSL__A_BODY];
  CHECK(tsl__vec_reserve(d.a, &d.section[TSL__A_STATES], 4) &&
        tsl__vec_reserve(d.a, body, count + 17) &&
        tsl__a_put_text(&d, TSL__A_REPORT, "[]", 3) == TSL_OK);
  const uint32_t places[4] = {0, 0, 10, 5};
  memcpy(d.section[TSL__A_STATES].at, places, sizeof places);
  memset(body->at, 0, (count + 17) * sizeof *body->at);
  memcpy(body->at, head, sizeof head);
  memcpy(body->at + 5, resume, sizeof resume);
  memcpy(body->at + 10, keyed, sizeof keyed);
  memcpy(body->at + 15 + count, targets, sizeof targets);
  d.section[TSL__A_STATES].n = 4;
  body->n = count + 17;
  return d;
}

/* To ask for a million names, none of which is allowed, is work, too. */
static void names_one_by_one(void) {
  static const tsl_limits few = {.max_steps = 8000};
  tsl_vocab *v = small_vocab("<end>");
  for (int k = 0; k < 2; k++) {
    tsl__a_draft d = many_names(k ? 1 << 20 : 1 << 10);
    tsl_status status;
    tsl_grammar *g = load_forged(v, &d, &few, &status);
    status = first_mask(g, status);
    CHECKF(status == (k ? TSL_ERR_LIMIT : TSL_OK), "%s", tsl_status_name(status));
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* Names take memory by the file's word for how many they are: no more of them than it could spell,
 * and no more memory than max_memory. */
static void names_without_end(void) {
  static const tsl_limits limits = {.max_memory = 16 << 20};
  static const struct {
    uint32_t names, words;
    tsl_status status;
  } tries[] = {{1 << 24, 0, TSL_ERR_FORMAT}, {1 << 20, 1 << 20, TSL_ERR_LIMIT}, {8, 8, TSL_OK}};
  tsl_vocab *v = small_vocab("<end>");
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    tsl__a_draft d = many_resumes(400, tries[i].names, tries[i].words);
    tsl_status status;
    tsl_grammar *g = load_forged(v, &d, &limits, &status);
    status = first_mask(g, status);
    CHECKF(status == tries[i].status, "%u names: %s", tries[i].names, tsl_status_name(status));
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer)
#define SECONDS 3.0 /* of processor time */
#else
#define SECONDS 0.5
#endif

/* A table of walks without a free place, all of which name one walk: whoever looks for another
 * gives up, and walks. */
static void no_free_place(void) {
  const uint32_t slots = 1 << 22;
  tsl_vocab *v = small_vocab("<end>");
  tsl_artifact *a = artifact_of(v, tree, 0);
  tsl_grammar *compiled = NULL;
  CHECK(tsl_grammar_json_schema(v, tree, sizeof tree - 1, NULL, NULL, &compiled, NULL) == TSL_OK);
  for (unsigned section = TSL__A_LEFT_SLOTS; section <= TSL__A_WALK_SLOTS; section++) {
    tsl__a_draft d = draft_of(a);
    tsl__words *table = &d.section[section];
    table->n = 0;
    CHECK(tsl__vec_reserve(d.a, table, slots));
    for (uint32_t i = 0; i < slots; i++) table->at[table->n++] = 1;
    tsl_status status;
    tsl_grammar *loaded = load_forged(v, &d, NULL, &status);
    CHECK(status == TSL_OK);
    clock_t begin = clock();
    if (loaded) follow(compiled, loaded, 6, 60, "forged");
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    CHECKF(seconds < SECONDS, "section %u: %.2f s", section, seconds);
    tsl_grammar_release(loaded);
  }
  tsl_grammar_release(compiled);
  tsl_artifact_free(a);
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

/* A token that is named within a called frame is taken whether a mask was asked for before or not,
 * and whether that was made or found in the file. */
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
  RUN(not_listed, "what cannot be listed");
  RUN(again, "a loaded grammar is saved again");
  RUN(leads_nowhere, "a target without a state");
  RUN(names_without_end, "more names than the file spells");
  RUN(names_one_by_one, "names asked for one by one");
  RUN(no_free_place, "a table without a free place");
  RUN(named_tokens, "tokens that are named in called frames");
  RUN(every_allocation_fails, "every nth allocation fails");
  for (size_t i = 0; i < name_count; i++) free(names[i]);
  return tsl_test_end();
}
