/* test_costs.c - what a grammar costs, counted: every step, table entry and call of a day's work,
 * exactly.
 *
 * Problem   Most of the engine is there to be fast: memos, classes, tables, two ways to one result.
 *           Where such a part breaks, masks stay right and the work grows. No test of what is
 *           allowed sees that, and a clock on a shared machine doesn't either.
 * Idea      Grammars of all kinds are compiled and followed along given texts. All that can be
 *           counted is written into one block for each, beside a hash of every mask. The blocks are
 *           compared with tests/costs.txt, number by number. A change for the better is a
 *           difference as well: `./dev costs` writes the file anew, and its diff says what the
 *           change costs and saves. The grammars are in cost_cases.h.
 * Block     A line `name/vocabulary`, then lines of `what=number`, in groups; a number that is 0 is
 *           left out. The groups:
 *             allowed  hash: of all masks, of the bytes that may come next and of the lengths of
 *                      shortest completions. It may change with the grammar or the texts alone
 *             work     - exprs: expressions of the compiler
 *                      - steps: of the walk along all texts (towards max_steps)
 *                      - again: steps of the same by another matcher, which should find all of it
 *                      - asked: steps for next bytes, shortest completions and forced bytes at each
 *                        byte of the texts
 *                      - planned: steps for the shortest completions, token by token (tsl_budget),
 *                        from the middle of each text
 *                      - learned: steps of a grammar of the same text, compiled after the first
 *                        one. That grammar knows what the vocabulary's grammars have in common
 *                        (runtime/walk/shared_walks.h). For the other numbers that is off
 *             tables   entries of the tables (runtime/automaton/space.h)
 *                      rows: masks written out for good
 *             vocab    sizes of the tables that are made once for a vocabulary
 *             calls    calls of functions from other files than their own: the linker puts wrappers
 *                      around these (tests/meson.build). Of `tokens` and `spelled`: elements that
 *                      were handed over
 *           A vocabulary has a block of its own, `/vocabulary`: what is made once for all its
 *           grammars.
 * Example   The case "anything" with the embedded vocabulary, shortened:
 *             anything/embedded
 *               allowed  hash=121c3f79c2b5d543
 *               work     steps=334 asked=3231 planned=220 learned=268
 *           `again` is missing: the second matcher took no step, the memos had every walk.
 * Cost      3 seconds: the texts are short, and the vocabularies have some thousand tokens.
 * Held to   Numbers are the same for every compiler, dispatch level, width of pointers and order of
 *           bytes. So no bytes of memory are counted. Arrays that grow are not counted either:
 *           which argument of a call is computed first changes them in the compiler. The order of
 *           arguments changes the numbers of expressions too. The numbers decide which derivatives
 *           are still remembered when they are needed again (compiler/expr/deriv.c). So `hashed`
 *           may differ by a 32nd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>

#include "runtime/walk/classes.h"
#include "runtime/walk/fixed.h"
#include "runtime/walk/linear.h"
#include "runtime/matcher/matcher.h"
#include "runtime/position/distinct_run.h"
#include "runtime/walk/names.h"
#include "runtime/vocab/vocab.h"
#include "runtime/walk/reference.h"
#include "runtime/walk/nonascii.h"
#include "tests/engine/cost_cases.h"
#include "tests/support/check.h"
#include "tests/support/draw.h"
#include "tests/support/heavy.h"
#include "tests/support/text.h"

#define EXPECTED "tests/costs.txt"

/* ---- calls ----------------------------------------------------------------------------------- */

/* Name of the count, function, its result, and by how much it counts. */
#define VALUES(DO)                                                                                 \
  DO(arena, tsl__arena_alloc, void *, (tsl__arena * arena, size_t size), (arena, size), 1)         \
  DO(tokens, tsl__gather_tokens, bool,                                                             \
     (tsl__space * space, tsl__gather * g, const tsl_token *tokens, size_t n),                     \
     (space, g, tokens, n), n)                                                                     \
  DO(gathered, tsl__gather_mask, bool, (tsl__space * space, tsl__gather * g, tsl__mask m),         \
     (space, g, m), 1)                                                                             \
  DO(removed, tsl__gather_remove, bool, (tsl__space * space, tsl__gather * g, tsl_token token),    \
     (space, g, token), 1)                                                                         \
  DO(done, tsl__gather_done, tsl__mask, (tsl__space * space, tsl__gather * g), (space, g), 1)      \
  DO(looked, tsl__mask_has, bool, (const tsl__space *space, tsl__mask m, tsl_token token),         \
     (space, m, token), 1)                                                                         \
  DO(lefts, tsl__leftover_intern, tsl__leftover, (tsl__space * space, uint32_t * nodes, size_t n), \
     (space, nodes, n), 1)                                                                         \
  DO(classed, tsl__class_mask, tsl__mask,                                                          \
     (tsl__space * space, const tsl__bytes *letters, uint32_t nonascii, uint32_t node,             \
      uint32_t limit),                                                                             \
     (space, letters, nonascii, node, limit), 1)                                                   \
  DO(walked, tsl__walk_over, const tsl__walk *,                                                    \
     (tsl__space * space, tsl__state state, uint32_t count, tsl__leftover over, bool last),        \
     (space, state, count, over, last), 1)                                                         \
  DO(above, tsl__walk_above, const tsl__walk *,                                                    \
     (tsl__space * space, tsl__state state, uint32_t count, tsl__leftover over, uint32_t tail),    \
     (space, state, count, over, tail), 1)                                                         \
  DO(expanded, tsl__state_expand, const tsl__state_rec *, (tsl__space * space, tsl__state state),  \
     (space, state), 1)                                                                            \
  DO(fixed, tsl__fixed_over, bool,                                                                 \
     (tsl__space * space, const tsl__state_rec *from, uint32_t node, tsl__fixed_walk *out),        \
     (space, from, node, out), 1)                                                                  \
  DO(read, tsl__linear_read, bool,                                                                 \
     (tsl__space * space, const tsl__linear *t, const tsl__linear_from *from, uint32_t *marks,     \
      tsl__linear_asides *aside),                                                                  \
     (space, t, from, marks, aside), 1)                                                            \
  DO(near, tsl__near_find, bool,                                                                   \
     (tsl__space * space, const tsl__hint *h, const tsl__linear_from *from, tsl__leftover over,    \
      tsl__reference *ref),                                                                        \
     (space, h, from, over, ref), 1)                                                               \
  DO(stepped, tsl__step_byte, bool, (tsl__space * space, tsl__stepping * s, uint8_t byte),         \
     (space, s, byte), 1)                                                                          \
  DO(found, tsl__move_find, bool,                                                                  \
     (const tsl__space *space, tsl__stack from, tsl__move_key by, uint32_t *value),                \
     (space, from, by, value), 1)                                                                  \
  DO(allowed, tsl__resume_any, bool,                                                               \
     (tsl__space * space, tsl__state resume, const tsl__keyed *names), (space, resume, names), 1)  \
  DO(naming, tsl__named_walk_over, const tsl__named_walk *,                                        \
     (tsl__space * space, tsl__state state, tsl__leftover over), (space, state, over), 1)          \
  DO(ran, tsl__run_byte, bool, (tsl__space * space, tsl__run * r, uint8_t byte), (space, r, byte), \
     1)                                                                                            \
  DO(loaded, tsl__run_load, bool, (tsl__space * space, tsl__run * r, tsl__stack at),               \
     (space, r, at), 1)                                                                            \
  DO(tried, tsl__run_token, bool,                                                                  \
     (tsl__space * space, tsl__run * r, tsl__stack from, tsl_token token),                         \
     (space, r, from, token), 1)                                                                   \
  DO(spelled, tsl__spelling_bytes, bool,                                                           \
     (tsl__space * space, tsl__spelling * s, const uint8_t *bytes, size_t n),                      \
     (space, s, bytes, n), n)                                                                      \
  DO(hashed, tsl__hash, uint64_t, (const void *data, size_t size), (data, size), 1)
#define NOTHING(DO)                                                                              \
  DO(written, tsl__mask_write, (const tsl__space *space, const tsl__mask_rec *r, uint32_t *out), \
     (space, r, out))                                                                            \
  DO(named_in, tsl__named_gather,                                                                \
     (tsl__space * space, tsl__gather * g, const tsl__named_walk *w, tsl__state resume),         \
     (space, g, w, resume))                                                                      \
  DO(landed, tsl__step_land,                                                                     \
     (tsl__space * space, tsl__stepping * s, tsl__state state, uint32_t count, tsl__stack tail), \
     (space, s, state, count, tail))

enum {
#define NUMBER(name, ...) CALL_##name,
  VALUES(NUMBER) NOTHING(NUMBER) CALLS
#undef NUMBER
};
static const char *const call_names[CALLS] = {
#define NAME(name, ...) #name,
    VALUES(NAME) NOTHING(NAME)
#undef NAME
};
static uint64_t calls[CALLS];

/* The declarations take the type of the function itself: one that changed does not compile. */
#define WRAP_VALUE(name, function, type, parameters, arguments, by) \
  extern __typeof__(function) __real_##function, __wrap_##function; \
  type __wrap_##function parameters {                               \
    calls[CALL_##name] += by;                                       \
    return __real_##function arguments;                             \
  }
#define WRAP_NOTHING(name, function, parameters, arguments)         \
  extern __typeof__(function) __real_##function, __wrap_##function; \
  void __wrap_##function parameters {                               \
    calls[CALL_##name]++;                                           \
    __real_##function arguments;                                    \
  }
VALUES(WRAP_VALUE)
NOTHING(WRAP_NOTHING)

/* ---- blocks ---------------------------------------------------------------------------------- */

#define FIELDS_MAX 80
#define COLUMNS_MAX 100

/* What was counted of one grammar with one vocabulary: a block of lines in the file. */
typedef struct block {
  char name[64];
  struct field {
    char group[16]; /* the first word of the field's line; the reader leaves it empty */
    char name[16];
    uint64_t value; /* never 0: such a field is left out */
  } fields[FIELDS_MAX];
  size_t n;
  const char *group; /* of the fields that are added next */
} block;

static uint64_t block_get(const block *b, const char *name) {
  for (size_t i = 0; i < b->n; i++)
    if (!strcmp(b->fields[i].name, name)) return b->fields[i].value;
  return 0;
}

static void block_add(block *b, const char *name, uint64_t value) {
  if (!value) return;
  if (b->n == FIELDS_MAX || block_get(b, name)) abort();
  struct field *f = &b->fields[b->n++];
  snprintf(f->group, sizeof f->group, "%s", b->group ? b->group : "");
  snprintf(f->name, sizeof f->name, "%s", name);
  f->value = value;
}

/* The name, then a line for each group of fields. A group that is too long for one line goes on in
 * the next line, under its first field. */
static void block_print(FILE *f, const block *b) {
  fprintf(f, "\n%s", b->name);
  const char *group = "";
  size_t column = COLUMNS_MAX;
  for (size_t i = 0; i < b->n; i++) {
    char text[48];
    snprintf(text, sizeof text,
             !strcmp(b->fields[i].name, "hash") ? "%s=%016" PRIx64 : "%s=%" PRIu64,
             b->fields[i].name, b->fields[i].value);
    bool begins = strcmp(group, b->fields[i].group) != 0;
    if (begins || column + 1 + strlen(text) > COLUMNS_MAX)
      column = (size_t)fprintf(f, "\n  %-8s", begins ? b->fields[i].group : "") - 1;
    group = b->fields[i].group;
    column += (size_t)fprintf(f, " %s", text);
  }
  fputc('\n', f);
}

/* Reads the words of a line of fields. A word without `=` is the group's name. */
static void block_read(block *b, char *text) {
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
    char *value = strchr(word, '=');
    if (!value) continue;
    *value++ = 0;
    block_add(b, word, strtoull(value, NULL, !strcmp(word, "hash") ? 16 : 10));
  }
}

static bool is_same(const char *name, uint64_t was, uint64_t is) {
  uint64_t slack = strcmp(name, "hashed") ? 0 : was / 32;
  return is >= was - slack && is <= was + slack;
}

static void compare(const block *expected, const block *found) {
  for (size_t i = 0; i < found->n; i++) {
    uint64_t was = block_get(expected, found->fields[i].name), is = found->fields[i].value;
    CHECKF(is_same(found->fields[i].name, was, is), "%s: %s was %" PRIu64 ", is %" PRIu64,
           found->name, found->fields[i].name, was, is);
  }
  for (size_t i = 0; i < expected->n; i++)
    CHECKF(block_get(found, expected->fields[i].name), "%s: %s was %" PRIu64 ", is 0", found->name,
           expected->fields[i].name, expected->fields[i].value);
}

/* ---- counting -------------------------------------------------------------------------------- */

static tsl_vocab *vocab;
static uint32_t mask[1 << 12];
static uint64_t allowed; /* hash of all that was */

static void note(uint64_t x) { allowed = tsl__mix(allowed * 31 + x + 0x9e3779b97f4a7c15u); }

static tsl_grammar *compile(const test_case *c) {
  tsl_schema_options options = {.order = c->kind == ORDERED ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY,
                                .whitespace = c->kind == COMPACT  ? TSL_WS_COMPACT
                                              : c->kind == PRETTY ? TSL_WS_PRETTY
                                                                  : TSL_WS_ANY,
                                .spelling = TSL_SPELLING_ANY,
                                .indent = 2};
  if (c->kind == PLAIN) options = (tsl_schema_options){0};
  size_t n = strlen(c->grammar);
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      c->kind == REGEX  ? tsl_grammar_regex(vocab, c->grammar, n, NULL, NULL, &g, &error)
      : c->kind == GBNF ? tsl_grammar_gbnf(vocab, c->grammar, n, NULL, NULL, &g, &error)
      : c->kind == TAGS ? tsl_grammar_tags(vocab, c->grammar, n, &options, NULL, &g, &error)
                        : tsl_grammar_json_schema(vocab, c->grammar, n, &options, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s %s", c->name, error.message, error.pointer);
  return g;
}

/* The mask, written out and lent, which are the same. */
static void note_mask(const test_case *c, tsl_matcher *m) {
  const uint32_t *lent = NULL;
  size_t bytes = tsl_vocab_mask_words(vocab) * sizeof *mask;
  CHECKF(tsl_matcher_mask(m, mask) == TSL_OK && tsl_matcher_mask_borrow(m, &lent, NULL) == TSL_OK &&
             !memcmp(mask, lent, bytes),
         "%s", c->name);
  for (size_t w = 0; w < bytes / sizeof *mask; w++)
    if (mask[w]) note((uint64_t)w << 32 | mask[w]);
}

/* A token that the rest of the text begins with and the mask has: the longest, or any. */
static bool choose(const char *rest, uint64_t *seed, tsl_token *out) {
  size_t left = strlen(rest), best = 0, met = 0;
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    if (n == 0 || n > left || (uint8_t)*rest != *bytes || memcmp(rest, bytes, n) ||
        !tsl_mask_has(mask, t) || tsl_vocab_is_special(vocab, t))
      continue;
    if (seed ? tsl_test_random(seed) % ++met != 0 : n <= best) continue;
    best = n;
    *out = t;
  }
  return best > 0;
}

/* Along a text, by tokens; at its end it is complete. */
static void follow(const test_case *c, tsl_grammar *g, const char *text, uint64_t *seed) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (const char *rest = text; m;) {
    tsl_token t;
    size_t n;
    note_mask(c, m);
    if (!*rest) break;
    bool goes = choose(rest, seed, &t);
    CHECKF(goes, "%s: %s stops before %s", c->name, text, rest);
    if (!goes) break;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    tsl_vocab_bytes(vocab, t, &n);
    rest += n;
  }
  CHECKF(tsl_matcher_is_complete(m), "%s: %s is no whole text", c->name, text);
  tsl_matcher_free(m);
}

/* Anywhere: tokens drawn from the masks, some of them rolled back. */
static void wander(const test_case *c, tsl_grammar *g, uint64_t seed, uint32_t steps) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (uint32_t i = 0; i < steps && !tsl_matcher_is_terminated(m); i++) {
    note_mask(c, m);
    tsl_token t = draw(mask, tsl_vocab_logits_width(vocab), &seed);
    if (t == TSL_NO_TOKEN) break;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    if (i % 5 == 4) CHECK(tsl_matcher_rollback(m, 2) == TSL_OK);
  }
  tsl_matcher_free(m);
}

static void walk_all(const test_case *c, tsl_grammar *g) {
  uint64_t seed = 7;
  for (size_t i = 0; i < 4 && c->texts[i]; i++) follow(c, g, c->texts[i], NULL);
  for (size_t i = 0; i < 4 && c->texts[i]; i++) follow(c, g, c->texts[i], &seed);
  for (uint64_t i = 0; i < 3; i++) wander(c, g, i, 10);
}

/* At each byte: what may come next, how far it is to an end, and what is forced. */
static void ask_all(const test_case *c, tsl_grammar *g) {
  for (size_t i = 0; i < 4 && c->texts[i]; i++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (const char *at = c->texts[i];; at++) {
      uint32_t next[8] = {0};
      uint64_t bytes = 0;
      uint8_t forced[32];
      size_t n = 0;
      CHECK(tsl_matcher_next_bytes(m, next) == TSL_OK &&
            tsl_matcher_shortest_completion(m, &bytes) == TSL_OK &&
            tsl_matcher_forced_bytes(m, forced, sizeof forced, &n) == TSL_OK);
      for (unsigned w = 0; w < 8; w++) note(next[w]);
      note(bytes << 8 | n);
      if (!*at) break;
      CHECK(tsl_matcher_accept_bytes(m, at, 1, NULL) == TSL_OK);
    }
    tsl_matcher_free(m);
  }
}

/* The way to an end, from the beginning and from the middle of each text. */
static void plan_all(const test_case *c, tsl_grammar *g) {
  tsl_budget *b = NULL;
  CHECK(tsl_budget_new(g, NULL, &b) == TSL_OK);
  for (size_t i = 0; i < 4 && c->texts[i]; i++) {
    tsl_matcher *m = NULL;
    tsl_token tokens[64];
    size_t count = 0;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, c->texts[i], strlen(c->texts[i]) / 2, NULL) == TSL_OK);
    CHECKF(tsl_budget_completion(b, m, tokens, 64, &count) == TSL_OK, "%s: %s", c->name,
           c->texts[i]);
    note(count);
    for (size_t k = 0; k < count && k < 64; k++) note(tokens[k]);
    tsl_matcher_free(m);
  }
  tsl_budget_free(b);
}

static void block_add_tables(block *b, const tsl__space *s) {
  b->group = "tables";
#define TABLE(name) block_add(b, #name, s->name.pool.n);
  TABLE(states)
  TABLE(stand_ins)
  TABLE(leftovers)
  TABLE(children)
  TABLE(bitsets)
  TABLE(masks)
  TABLE(unions)
  TABLE(classes)
  TABLE(walks)
  TABLE(stacks)
  TABLE(moves)
  TABLE(named)
  TABLE(resumed)
  TABLE(nonascii_sets)
  TABLE(opens)
  TABLE(used)
  TABLE(seen_names)
  TABLE(texts)
  TABLE(distinct)
#undef TABLE
}

/* Steps of a second grammar of the same text: what the first left for it. */
static uint64_t learned(const test_case *c) {
  uint64_t steps = 0;
  for (int i = 0; i < 2; i++) {
    tsl_grammar *g = compile(c);
    if (!g) return 0;
    walk_all(c, g);
    steps = tsl__space_steps(g->space);
    tsl_grammar_release(g);
  }
  return steps;
}

/* Everything of one grammar. */
static void count_case(const test_case *c, const char *where, block *b) {
  *b = (block){0};
  snprintf(b->name, sizeof b->name, "%s/%s", c->name, where);
  memset(calls, 0, sizeof calls);
  allowed = 0;
  tsl_vocab_set_walk_cache(vocab, 0);
  tsl_grammar *g = compile(c);
  if (!g) return;
  uint64_t steps[4];
  walk_all(c, g);
  steps[0] = tsl__space_steps(g->space);
  walk_all(c, g);
  steps[1] = tsl__space_steps(g->space);
  ask_all(c, g);
  steps[2] = tsl__space_steps(g->space);
  plan_all(c, g);
  steps[3] = tsl__space_steps(g->space);
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(g, &stats);
  uint64_t counted[CALLS];
  memcpy(counted, calls, sizeof calls);
  b->group = "allowed";
  block_add(b, "hash", allowed);
  tsl_vocab_set_walk_cache(vocab, 16 << 20);
  b->group = "work";
  block_add(b, "exprs", stats.exprs);
  block_add(b, "steps", steps[0]);
  block_add(b, "again", steps[1] - steps[0]);
  block_add(b, "asked", steps[2] - steps[1]);
  block_add(b, "planned", steps[3] - steps[2]);
  block_add(b, "learned", learned(c));
  block_add_tables(b, g->space);
  block_add(b, "rows", atomic_load(&g->space->rows));
  b->group = "calls";
  for (size_t i = 0; i < CALLS; i++) block_add(b, call_names[i], counted[i]);
  tsl_grammar_release(g);
}

static uint64_t bits_of(const uint32_t *words) {
  return words ? tsl_mask_count(words, tsl_vocab_logits_width(vocab)) : 0;
}

/* What a vocabulary has for all its grammars; `learned` with the cache of walks as it is in the
 * beginning. */
static void count_vocab(const char *where, block *b) {
  *b = (block){0};
  snprintf(b->name, sizeof b->name, "/%s", where);
  memset(calls, 0, sizeof calls);
  b->group = "work";
  block_add(b, "learned", learned(&cases[0]));
  tsl_grammar *g = compile(&(test_case){
      .name = where, .kind = SCHEMA, .grammar = "{\"type\":\"array\",\"uniqueItems\":true}"});
  if (!g) return;
  tsl_grammar_release(g);
  g = compile(&(test_case){.name = where, .kind = SCHEMA, .grammar = "true"});
  const tsl__space *s = g->space->parent;
  const tsl__linear *t = s->warm.linear;
  const tsl__boundary *x = s->warm.boundary;
  block_add_tables(b, s);
  b->group = "vocab";
  block_add(b, "nodes", vocab->trie.node_count);
  block_add(b, "sets", vocab->trie.set_count);
  block_add(b, "row", t->n);
  block_add(b, "longer", s->warm.lengths->longer_count);
  CHECK(x != NULL);
  if (x) {
    block_add(b, "comma", x->comma.n);
    block_add(b, "quoted", x->quoted.n);
    block_add(b, "unstructured", bits_of(x->unstructured));
    block_add(b, "unstructured_quoted", bits_of(x->unstructured_quoted));
    block_add(b, "space", bits_of(x->space));
    block_add(b, "first", x->first.n);
    block_add(b, "whole", x->whole.n);
    block_add(b, "closed", x->closed.n);
    block_add(b, "closed_quoted", x->closed_quoted.n);
    block_add(b, "several", x->several.n);
    block_add(b, "several_quoted", x->several_quoted.n);
    block_add(b, "members", x->named.n);
    block_add(b, "begun", x->begun.n);
    block_add(b, "starts", x->names_count);
  }
  b->group = "calls";
  for (size_t i = 0; i < CALLS; i++) block_add(b, call_names[i], calls[i]);
  tsl_grammar_release(g);
}

/* ---- the file -------------------------------------------------------------------------------- */

#define BLOCKS_MAX 400
static block blocks[BLOCKS_MAX];
static size_t block_count;

static block *next_block(void) {
  if (block_count == BLOCKS_MAX) abort();
  return &blocks[block_count++];
}

static void count_all(void) {
  static const char *const names[HEAVY_KINDS] = {"json", "letters", "wide", "escapes"};
  uint64_t seed = 31;
  for (unsigned v = 0; v <= HEAVY_KINDS; v++) {
    const char *where = v ? names[v - 1] : "embedded";
    if (v)
      vocab = heavy_vocab(v - 1, &seed);
    else
      CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
    CHECK(tsl_vocab_mask_words(vocab) <= sizeof mask / sizeof *mask);
    count_vocab(where, next_block());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      if (!v || (i % HEAVY_KINDS == v - 1 || (v == 1 && !strncmp(cases[i].name, "unique", 6))))
        count_case(&cases[i], where, next_block());
    tsl_vocab_release(vocab);
  }
}

static void write_file(void) {
  FILE *f = fopen(EXPECTED, "w");
  CHECK(f != NULL);
  if (!f) return;
  fprintf(f, "# What grammars cost: see tests/engine/test_costs.c. Written by `./dev costs`.\n");
  for (size_t i = 0; i < block_count; i++) block_print(f, &blocks[i]);
  CHECK(fclose(f) == 0);
}

/* Compares a block of the file with the one that was counted in its place. */
static void compare_block(const block *expected, size_t place) {
  bool known = place < block_count && !strcmp(expected->name, blocks[place].name);
  CHECKF(known, "%s where %s is expected", place < block_count ? blocks[place].name : "nothing",
         expected->name);
  if (known) compare(expected, &blocks[place]);
}

static void compare_file(void) {
  size_t n, met = 0;
  char *text = text_of_file(EXPECTED, &n);
  CHECK(text != NULL);
  block expected = {0};
  for (char *at = text, *end; at && *at; at = end) {
    end = strchr(at, '\n');
    if (end)
      *end++ = 0;
    else
      end = at + strlen(at);
    if (*at == '#' || !*at) continue;
    if (*at == ' ') {
      block_read(&expected, at);
      continue;
    }
    if (met) compare_block(&expected, met - 1);
    expected = (block){0};
    snprintf(expected.name, sizeof expected.name, "%s", at);
    met++;
  }
  if (met) compare_block(&expected, met - 1);
  CHECKF(met == block_count, "%zu blocks are expected, %zu were counted", met, block_count);
  if (tsl_test_failed)
    fprintf(stderr,
            "If the change is meant, `./dev costs` writes %s anew; `git diff --word-diff` shows "
            "what changed.\n",
            EXPECTED);
  free(text);
}

int main(int count, char **arguments) {
  RUN(count_all, "grammars along their texts");
  if (count > 1 && !strcmp(arguments[1], "--write"))
    RUN(write_file, "written to " EXPECTED);
  else
    RUN(compare_file, "compared with " EXPECTED);
  return tsl_test_end();
}
