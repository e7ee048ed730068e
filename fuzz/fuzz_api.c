/* fuzz_api.c - calls of the public interface in any order, over a few grammars and matchers that
 * live and die in between.
 *
 * Input       Commands, one byte each. The lower five bits name the command (see `command`), the
 *             upper three are its number. A command takes what it needs from the bytes after it.
 * Properties  Calls that fail change nothing. Every status is a documented one. A matcher's mask is
 *             that of a fresh matcher which reads the same tokens, whatever happened to other
 *             objects in between. Meanwhile grammars and vocabularies are released while matchers
 *             live, caches are cleared, and tsl_grammar_tags_over shares tables. Rows of drafts,
 *             tables and batches are masks. A grammar loaded from its artifact has the same masks.
 *             A budget allows nothing that the mask does not. What is drawn is allowed. The parser
 *             takes what the matcher takes. A matcher that is ready after it was prefetched has the
 *             mask of a fresh one. Lifetimes, memory and bounds: the sanitizers'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/require.h"
#include "turnstile.h"
#include "tests/support/nth_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define GRAMMARS 4u
#define MATCHERS 6u
#define TEXT_MAX 40u
#define COMMANDS_MAX 60
#define DRAFTS 6u
#define WORDS 32u /* of uint32_t: room for a mask */
#define TABLE_ROWS 3u

typedef struct side {
  tsl_matcher *m;
  tsl_token text[TEXT_MAX];
  uint32_t n;
} side;

typedef struct run {
  const uint8_t *at, *end;
  tsl_vocab *vocab;
  uint32_t width, words;
  tsl_grammar *grammar[GRAMMARS];
  unsigned source[GRAMMARS]; /* what it was compiled from */
  side side[MATCHERS];
  tsl_cache *cache;
  tsl_mask_table *table;
  tsl_sampler *sampler;
} run;

static uint8_t next_byte(run *r) { return r->at < r->end ? *r->at++ : 0; }

/* Is it done? What ends with a limit has no answer; nothing else may go wrong. */
static bool done(tsl_status s) {
  require(s == TSL_OK || s == TSL_REJECTED || s == TSL_ERR_LIMIT || s == TSL_ERR_UNSUPPORTED ||
              s == TSL_ERR_STATE,
          tsl_status_name(s));
  return s == TSL_OK;
}

/* ---- vocabulary and sources ------------------------------------------------------------------ */

static tsl_vocab *make_vocab(void) {
  static const char *const more[] = {
      "{\"", "\":",   "\",\"",  "\"}",      "ab",  "aa",   "10",      "true", "],[",
      "1,",  "\"a\"", "\"a\":", "\xC3\xA9", "<t>", "</t>", "<think>", "</s>"};
  enum { MORE = sizeof more / sizeof *more, SPECIAL = 4, SIZE = 256 + MORE };
  uint8_t bytes[256 + MORE * 8], special[SIZE] = {0};
  uint32_t offsets[SIZE + 1], n = 0;
  const tsl_token eog = SIZE - 1;
  for (uint32_t i = 0; i < SIZE; i++) {
    size_t length = i < 256 ? 1 : strlen(more[i - 256]);
    offsets[i] = n;
    if (i < 256)
      bytes[n] = (uint8_t)i;
    else
      memcpy(bytes + n, more[i - 256], length);
    special[i] = i >= SIZE - SPECIAL;
    n += (uint32_t)length;
  }
  offsets[SIZE] = n;
  tsl_vocab *v = NULL;
  const tsl_vocab_desc d = {.bytes = bytes,
                            .offsets = offsets,
                            .size = SIZE,
                            .logits_width = SIZE + 7,
                            .special = special,
                            .eog = &eog,
                            .eog_count = 1};
  require(tsl_vocab_new(&d, NULL, &v, NULL) == TSL_OK, "no vocabulary");
  return v;
}

enum { TAGS = 3 }; /* a kind beside those of tsl_source_kind */

static const struct {
  int kind;
  const char *text;
} sources[] = {
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"enum\":[\"ab\",\"aa\",true]}},"
     "\"required\":[\"a\"],\"additionalProperties\":{\"maxLength\":3}}"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":["
                             "\"string\",\"integer\"]},\"maxItems\":4}"},
    {TSL_SOURCE_JSON_SCHEMA, "{\"$defs\":{\"t\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/"
                             "t\"},\"maxItems\":2}},\"$ref\":\"#/$defs/t\"}"},
    {TSL_SOURCE_JSON_SCHEMA,
     "{\"oneOf\":[{\"type\":\"number\",\"multipleOf\":2.5},{\"type\":\"string\",\"pattern\":\"^(a|"
     "b.*)$\",\"maxLength\":9},{\"const\":null}]}"},
    {TSL_SOURCE_JSON_SCHEMA, "{}"},
    {TSL_SOURCE_REGEX, "(ab|a{2,5}b?)*(?=c)[^d]+|\\d{3,60}"},
    {TSL_SOURCE_REGEX, "[\\u0000-\\u{10FFFF}]{0,20}x"},
    {TSL_SOURCE_GBNF,
     "root ::= \"a\" root root \"b\" | \"ab\" | <[270]> x{2,9}\nx ::= [0-9] | \"(\" root? \")\""},
    {TSL_SOURCE_GBNF, "root ::= e\ne ::= e \"+\" e | [a-c]+ | \"\""},
    {TAGS, "{\"type\":\"triggered_tags\",\"triggers\":[\"<t>\"],\"tags\":[{\"type\":\"tag\","
           "\"begin\":\"<t>\",\"content\":{\"type\":\"json_schema\",\"json_schema\":{\"type\":"
           "\"object\",\"properties\":{\"a\":{\"type\":\"boolean\"}}}},\"end\":\"</t>\"}]}"},
    {TAGS,
     "{\"type\":\"sequence\",\"elements\":[{\"type\":\"any_text\",\"max_tokens\":3,\"excludes\":["
     "\"<think>\"]},{\"type\":\"const_string\",\"value\":\"<think>\"},{\"type\":\"json_schema\","
     "\"json_schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"boolean\"}}}}]}"},
    {TAGS,
     "{\"type\":\"or\",\"elements\":[{\"type\":\"regex\",\"pattern\":\"a+b\"},{\"type\":\"repeat\","
     "\"content\":{\"type\":\"const_string\",\"value\":\"ab\"},\"min\":0,\"max\":3}]}"},
};
#define SOURCES (sizeof sources / sizeof *sources)

static const tsl_limits limits = {.max_memory = 24 << 20, .max_steps = 100000, .max_stacks = 64};
static const tsl_schema_options any_order = {.order = TSL_ORDER_ANY};

static tsl_source source_of(unsigned which) {
  return (tsl_source){.kind = (tsl_source_kind)sources[which].kind,
                      .text = sources[which].text,
                      .length = strlen(sources[which].text),
                      .schema = which ? &any_order : NULL,
                      .limits = &limits};
}

/* ---- the other way to a mask ----------------------------------------------------------------- */

/* The mask after these tokens, by a matcher that nothing else has happened to; false where a limit
 * is in the way. */
static bool fresh_mask(tsl_grammar *g, const side *s, uint32_t *mask) {
  tsl_matcher *m = NULL;
  bool fine = tsl_matcher_new(g, NULL, &m) == TSL_OK;
  for (uint32_t i = 0; fine && i < s->n; i++) {
    tsl_status status = tsl_matcher_accept(m, s->text[i]);
    require(status != TSL_REJECTED, "a fresh matcher rejects what was accepted");
    fine = done(status);
  }
  fine = fine && done(tsl_matcher_mask(m, mask));
  tsl_matcher_free(m);
  return fine;
}

/* The matcher's mask, which is the fresh one; false where a limit is in the way. */
static bool mask_of(const run *r, const side *s, uint32_t *mask) {
  uint32_t fresh[WORDS];
  require(tsl_matcher_history(s->m) == s->n, "the history's length");
  if (!done(tsl_matcher_mask(s->m, mask))) return false;
  if (fresh_mask(tsl_matcher_grammar(s->m), s, fresh))
    require(!memcmp(fresh, mask, r->words * 4), "the mask of a fresh matcher differs");
  for (uint32_t t = tsl_vocab_size(r->vocab); t < r->words * 32; t++)
    require(!tsl_mask_has(mask, t), "a token that there is not");
  return true;
}

/* ---- commands: grammars ---------------------------------------------------------------------- */

static tsl_status compile_alone(const run *r, unsigned which, tsl_grammar **out, tsl_error *error) {
  tsl_source source = source_of(which);
  return sources[which].kind == TAGS ? tsl_grammar_tags(r->vocab, source.text, source.length,
                                                        source.schema, &limits, out, error)
                                     : tsl_grammar_compile(r->vocab, &source, out, error);
}

static void compile(run *r, unsigned slot, bool cached) {
  unsigned which = next_byte(r) % SOURCES;
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_source source = source_of(which);
  tsl_status status = cached && sources[which].kind != TAGS
                          ? tsl_cache_get(r->cache, r->vocab, &source, &g, &error)
                          : compile_alone(r, which, &g, &error);
  require(status == TSL_OK && g, error.message);
  tsl_grammar_release(r->grammar[slot]);
  r->grammar[slot] = g;
  r->source[slot] = which;
}

/* Tags over the tables of another grammar: the same masks as alone. */
static void compile_over(run *r, unsigned slot) {
  unsigned other = next_byte(r) % GRAMMARS, which = (unsigned)(SOURCES - 3 + next_byte(r) % 3);
  tsl_grammar *g = NULL, *alone = NULL;
  uint32_t mask[WORDS], mine[WORDS];
  tsl_error error = {0};
  side none = {0};
  if (!r->grammar[other] || sources[r->source[other]].kind != TAGS) return;
  tsl_source source = source_of(which);
  require(tsl_grammar_tags_over(r->grammar[other], source.text, source.length, source.schema,
                                &limits, &g, &error) == TSL_OK,
          error.message);
  require(compile_alone(r, which, &alone, &error) == TSL_OK, error.message);
  if (fresh_mask(g, &none, mask) && fresh_mask(alone, &none, mine))
    require(!memcmp(mask, mine, r->words * 4), "shared tables give another mask");
  tsl_grammar_release(alone);
  tsl_grammar_release(r->grammar[slot]);
  r->grammar[slot] = g;
  r->source[slot] = which;
}

/* A grammar goes through its artifact; a matcher of it on the way does not notice. */
static void through_artifact(run *r, unsigned slot) {
  tsl_source source = source_of(r->source[slot]);
  tsl_grammar *g = r->grammar[slot], *loaded = NULL;
  tsl_artifact_options options = {.max_states = 60,
                                  .max_walk_steps = 1 + 20u * next_byte(r),
                                  .source =
                                      g && sources[r->source[slot]].kind != TAGS ? &source : NULL};
  tsl_artifact *a = NULL;
  size_t n;
  if (!g || !done(tsl_artifact_make(g, &options, NULL, &a, NULL))) return;
  const void *bytes = tsl_artifact_data(a, &n);
  bool fine = done(tsl_grammar_load_memory(r->vocab, bytes, n, &limits, &loaded, NULL));
  tsl_artifact_free(a);
  for (unsigned i = 0; fine && i < MATCHERS; i++) {
    uint32_t mask[WORDS], mine[WORDS];
    const side *s = &r->side[i];
    if (!s->m || tsl_matcher_grammar(s->m) != g || !fresh_mask(loaded, s, mask)) continue;
    if (done(tsl_matcher_mask(s->m, mine)))
      require(!memcmp(mask, mine, r->words * 4), "a loaded grammar has another mask");
  }
  if (!fine) return;
  tsl_grammar_release(g);
  r->grammar[slot] = loaded;
}

/* ---- commands: matchers ---------------------------------------------------------------------- */

static void new_matcher(run *r, side *s) {
  tsl_grammar *g = r->grammar[next_byte(r) % GRAMMARS];
  if (!g) return;
  tsl_matcher_free(s->m);
  *s = (side){0};
  require(tsl_matcher_new(g, NULL, &s->m) == TSL_OK, "no matcher");
}

static void fork_matcher(run *r, side *s) {
  const side *from = &r->side[next_byte(r) % MATCHERS];
  if (from == s || !from->m) return;
  tsl_matcher_free(s->m);
  *s = *from;
  require(tsl_matcher_fork(from->m, &s->m) == TSL_OK, "no fork");
}

/* A token that the mask has, or TSL_NO_TOKEN. */
static tsl_token allowed_token(run *r, const uint32_t *mask) {
  size_t count = tsl_mask_count(mask, r->width);
  return count ? nth_token(mask, next_byte(r) % count) : TSL_NO_TOKEN;
}

static void accept_allowed(run *r, side *s) {
  uint32_t mask[WORDS];
  if (s->n == TEXT_MAX || !mask_of(r, s, mask)) return;
  tsl_token t = allowed_token(r, mask);
  require(t != TSL_NO_TOKEN || tsl_matcher_is_terminated(s->m) || tsl_matcher_is_complete(s->m),
          "a dead end");
  if (t == TSL_NO_TOKEN) return;
  tsl_status status = tsl_matcher_accept(s->m, t);
  require(status != TSL_REJECTED, "an allowed token is rejected");
  if (done(status)) s->text[s->n++] = t;
}

/* Any number as a token, such as there is not, too. */
static void accept_any(run *r, side *s) {
  uint32_t mask[WORDS];
  tsl_token t = next_byte(r);
  t = t << 8 | next_byte(r);
  if (t > 0xFF00) t |= 0xFFFF0000u;
  if (s->n == TEXT_MAX || !mask_of(r, s, mask)) return;
  bool allowed = t < r->width && tsl_mask_has(mask, t);
  tsl_status status = tsl_matcher_accept(s->m, t);
  require(status == TSL_OK || status == TSL_ERR_LIMIT
              ? allowed
              : !allowed && (status == TSL_REJECTED || status == TSL_ERR_ARGUMENT),
          "accepting disagrees with the mask");
  if (status == TSL_OK) s->text[s->n++] = t;
}

static void roll_back(run *r, side *s, unsigned number) {
  size_t count = number == 7 ? SIZE_MAX - next_byte(r) : number;
  tsl_status status = tsl_matcher_rollback(s->m, count);
  require(status == (count <= s->n ? TSL_OK : TSL_ERR_STATE), "the status of a rollback");
  if (status == TSL_OK) s->n -= (uint32_t)count;
}

/* ---- commands: what is built on masks -------------------------------------------------------- */

static void drafts(run *r, side *s, unsigned count) {
  tsl_token tokens[DRAFTS];
  uint32_t parents[DRAFTS], masks[(DRAFTS + 1) * WORDS], mask[WORDS];
  bool allowed[DRAFTS];
  if (count > DRAFTS) count = DRAFTS;
  if (s->n + DRAFTS > TEXT_MAX || !mask_of(r, s, mask)) return;
  for (unsigned i = 0; i < count; i++) {
    tokens[i] = next_byte(r) & 1 ? allowed_token(r, mask) : (tsl_token)next_byte(r) % r->width;
    if (tokens[i] == TSL_NO_TOKEN) tokens[i] = 0;
    parents[i] = i && next_byte(r) & 1 ? next_byte(r) % i : TSL_NO_PARENT;
  }
  if (!done(tsl_matcher_mask_drafts(s->m, tokens, parents, count, masks, allowed))) return;
  require(!memcmp(masks, mask, r->words * 4), "the first row of drafts is not the mask");
  for (unsigned i = 0; i < count; i++) {
    side after = *s;
    tsl_token path[DRAFTS];
    unsigned n = 0;
    bool all = true;
    for (uint32_t k = i; k != TSL_NO_PARENT; k = parents[k])
      path[n++] = tokens[k], all &= allowed[k];
    while (n > 0) after.text[after.n++] = path[--n];
    uint32_t want[WORDS] = {0};
    if (all && !fresh_mask(tsl_matcher_grammar(s->m), &after, want)) continue;
    require(!memcmp(masks + (i + 1) * r->words, want, r->words * 4),
            "a row of drafts is another mask");
  }
}

static void table_row(run *r, side *s) {
  uint32_t mask[WORDS], row;
  const uint32_t *fresh;
  if (!mask_of(r, s, mask)) return;
  tsl_status status = tsl_mask_table_row(r->table, s->m, &row, &fresh);
  if (status == TSL_ERR_LIMIT) tsl_mask_table_step(r->table);
  if (!done(status)) return;
  require(row < TABLE_ROWS, "a row that there is not");
  require(!fresh || !memcmp(fresh, mask, r->words * 4), "a row of a table is another mask");
}

static void budget(run *r, side *s) {
  tsl_budget *b = NULL;
  tsl_token tokens[64];
  uint32_t mask[WORDS], mine[WORDS];
  size_t n;
  uint64_t left = next_byte(r);
  if (!mask_of(r, s, mask) || !done(tsl_budget_new(tsl_matcher_grammar(s->m), NULL, &b))) return;
  if (done(tsl_budget_start(b, s->m, left, NULL)) && done(tsl_budget_mask(b, s->m, left, mine)))
    for (uint32_t i = 0; i < r->words; i++)
      require((mine[i] & ~mask[i]) == 0, "a budget allows more than the mask");
  if (done(tsl_budget_completion(b, s->m, tokens, 64, &n)) && n <= 64) {
    size_t valid;
    if (done(tsl_matcher_validate(s->m, tokens, n, &valid)))
      require(valid == n, "a completion is not allowed");
  }
  tsl_budget_free(b);
}

static void draw(run *r, side *s) {
  float logits[WORDS * 32];
  uint32_t mask[WORDS];
  tsl_draw drawn;
  if (s->n == TEXT_MAX || !mask_of(r, s, mask)) return;
  uint64_t seed = next_byte(r);
  for (uint32_t i = 0; i < r->width; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    logits[i] = (float)(seed >> 40) * 0x1p-20f - 8;
  }
  tsl_status status = tsl_sampler_draw(r->sampler, logits, r->width, mask, &drawn);
  require(status == TSL_OK || (status == TSL_ERR_LOGITS && tsl_mask_count(mask, r->width) == 0),
          "the status of a draw");
  if (status) return;
  require(tsl_mask_has(mask, drawn.token), "what is drawn is not allowed");
  require(tsl_sampler_accept(r->sampler, drawn.token) == TSL_OK,
          "the sampler does not accept what it drew");
  if (done(tsl_matcher_accept(s->m, drawn.token))) s->text[s->n++] = drawn.token;
}

/* Forced drafts, after the whole text: valid once so many tokens are rolled back. */
static void forced(const side *s) {
  tsl_token tokens[16];
  size_t count, retract, valid;
  tsl_matcher *m;
  if (!done(tsl_matcher_draft_forced(s->m, s->text, s->n, s->n, tokens, 16, &count, &retract)))
    return;
  require(retract <= s->n && count <= 16, "more drafts than there is room for");
  if (!count) return;
  require(tsl_matcher_fork(s->m, &m) == TSL_OK && tsl_matcher_rollback(m, retract) == TSL_OK,
          "a fork cannot go back");
  if (done(tsl_matcher_validate(m, tokens, count, &valid)))
    require(valid == count, "a forced draft is not allowed");
  tsl_matcher_free(m);
}

/* An answer is read back: the parser takes what was accepted. */
static void parse(const side *s) {
  tsl_parser *p = NULL;
  tsl_part part;
  if (tsl_parser_new(tsl_matcher_grammar(s->m), NULL, &p) != TSL_OK) return;
  for (uint32_t i = 0; i < s->n; i++) {
    tsl_status status = tsl_parser_token(p, s->text[i]);
    require(status != TSL_REJECTED, "the parser rejects what the matcher accepts");
    if (!done(status)) break;
    while (tsl_parser_next(p, &part))
      require(part.length == 0 || part.text != NULL, "a part without a text");
  }
  tsl_parser_finish(p);
  require(tsl_parser_json(p) != NULL, "no JSON of an answer");
  tsl_parser_free(p);
}

static void batch(run *r) {
  tsl_matcher *matchers[MATCHERS];
  uint32_t rows[MATCHERS * WORDS], mask[WORDS];
  tsl_status statuses[MATCHERS];
  for (unsigned i = 0; i < MATCHERS; i++) matchers[i] = r->side[i].m;
  tsl_batch_mask(NULL, matchers, MATCHERS, rows, r->words, statuses);
  for (unsigned i = 0; i < MATCHERS; i++)
    if (matchers[i] && done(statuses[i]) && mask_of(r, &r->side[i], mask))
      require(!memcmp(rows + i * r->words, mask, r->words * 4), "a row of a batch is another mask");
}

/* Masks ahead of the text, behind any tokens, and any time for it. It may be cut off anywhere. */
static void prefetch(run *r, side *s, unsigned number) {
  tsl_token likely[DRAFTS];
  uint32_t mask[WORDS], made = ~0u;
  const size_t n = number % (DRAFTS + 1);
  const uint64_t budget_us = next_byte(r) & 1 ? 0 : next_byte(r);
  for (size_t i = 0; i < n; i++) {
    likely[i] = next_byte(r);
    if (likely[i] & 1) likely[i] = likely[i] << 8 | next_byte(r);
  }
  if (!done(tsl_matcher_prefetch(s->m, n ? likely : NULL, n, budget_us, &made))) return;
  require(made != ~0u, "no number of masks made");
  bool ready = tsl_matcher_is_ready(s->m), fine = mask_of(r, s, mask);
  require(fine || !ready, "a mask that is ready has a limit");
}

static void count_frame(void *ctx, const tsl_frame *frame) {
  require(strlen(frame->expression) < 1024 && strlen(frame->rule) < 256,
          "a frame's texts are too long");
  ++*(uint32_t *)ctx;
}

static void list_frames(const side *s) {
  uint32_t listed = 0, total;
  if (done(tsl_matcher_frames(s->m, 5, count_frame, &listed, &total)))
    require(listed == (total < 5 ? total : 5), "frames listed");
}

static void command(run *r) {
  uint8_t c = next_byte(r);
  unsigned number = c >> 5;
  side *s = &r->side[next_byte(r) % MATCHERS];
  switch (c & 31) {
  case 0: compile(r, number % GRAMMARS, false); return;
  case 1: compile(r, number % GRAMMARS, true); return;
  case 2: compile_over(r, number % GRAMMARS); return;
  case 3: through_artifact(r, number % GRAMMARS); return;
  case 4:
    tsl_grammar_release(r->grammar[number % GRAMMARS]);
    r->grammar[number % GRAMMARS] = NULL;
    return;
  case 5: tsl_cache_clear(r->cache); return;
  case 6: tsl_vocab_set_walk_cache(r->vocab, (size_t)next_byte(r) * 1000); return;
  case 7: tsl_mask_table_step(r->table); return;
  case 8: batch(r); return;
  case 9: new_matcher(r, s); return;
  case 10: fork_matcher(r, s); return;
  case 11: tsl_sampler_restart(r->sampler); return;
  default: break;
  }
  if (!s->m) new_matcher(r, s);
  if (!s->m) return;
  switch (c & 31) {
  case 12:
    tsl_matcher_free(s->m);
    *s = (side){0};
    break;
  case 13:
    tsl_matcher_reset(s->m);
    s->n = 0;
    break;
  case 14: roll_back(r, s, number); break;
  case 15: accept_any(r, s); break;
  case 16: drafts(r, s, number); break;
  case 17: table_row(r, s); break;
  case 18: budget(r, s); break;
  case 19: draw(r, s); break;
  case 20: forced(s); break;
  case 21: parse(s); break;
  case 22: list_frames(s); break;
  case 23: prefetch(r, s, number); break;
  default: accept_allowed(r, s); break;
  }
}

/* every so many inputs have a vocabulary of their own: its shared tables take longer than all that
 * most inputs do */
#define OWN_VOCAB 8u

static tsl_vocab *vocab_for(size_t size) {
  static tsl_vocab *kept;
  if (size % OWN_VOCAB == 0) return make_vocab();
  if (!kept) kept = make_vocab();
  tsl_vocab_retain(kept);
  return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const tsl_sampler_options options = {
      .seed = 1, .temperature = 1, .top_k = 9, .repetition_penalty = 1.1f};
  run r = {.at = data, .end = data + size, .vocab = vocab_for(size)};
  r.width = tsl_vocab_logits_width(r.vocab);
  r.words = (uint32_t)tsl_vocab_mask_words(r.vocab);
  require(r.words <= WORDS && tsl_cache_new(100000, NULL, &r.cache) == TSL_OK &&
              tsl_mask_table_new(r.vocab, TABLE_ROWS, NULL, &r.table) == TSL_OK &&
              tsl_sampler_new(&options, NULL, &r.sampler) == TSL_OK,
          "no cache, table or sampler");
  for (int i = 0; i < COMMANDS_MAX && r.at < r.end; i++) command(&r);
  /* What holds a reference may go last: vocabulary, grammars and the cache are released first. */
  tsl_mask_table_free(r.table);
  tsl_cache_free(r.cache);
  for (unsigned i = 0; i < GRAMMARS; i++) tsl_grammar_release(r.grammar[i]);
  for (unsigned i = 0; i < MATCHERS; i++)
    if (r.side[i].m) accept_allowed(&r, &r.side[i]);
  tsl_vocab_release(r.vocab);
  for (unsigned i = 0; i < MATCHERS; i++) tsl_matcher_free(r.side[i].m);
  tsl_sampler_free(r.sampler);
  return 0;
}
