/* test_limits.c - shapes that hurt others: work and memory are linear in the text up to the limits,
 * counted in steps and bytes, not in seconds.
 *
 * Each shape is compiled at sizes n and 2n, and the first masks are requested. The measure is what
 * the grammar's tables hold (expressions, states, visits of trie nodes, bytes) and the steps that
 * compiling took. Both are the same on every machine. Doubling a shape may at most double it (and a
 * bit); shapes that are only numbers may not grow at all. Where a limit is reached instead, it must
 * be a limit's error. docs/limits.md has the table. Deadlines are the one thing that is timed: in
 * processor time, which other work on the machine does not lengthen, with room for sanitizers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <time.h>

#include "compiler/expr/node.h"
#include "compiler/states/states.h"
#include "runtime/matcher/grammar.h"
#include "tests/engine/limit_shapes.h"
#include "tests/support/check.h"

static tsl_vocab *vocab;
/* for patterns: some would spend all that there are */
static const tsl_limits few_steps = {.max_steps = 200000, .max_memory = 64 << 20};

typedef struct cost {
  tsl_status status;
  tsl_grammar_stats stats;
  uint64_t compile_steps;
} cost;

/* Compile the text and ask for masks; `limits` NULL: the usual ones. */
static cost measure_with(shape_kind k, const tsl_limits *limits) {
  cost c = {0};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {0};
  if (k == SCHEMA)
    c.status = tsl_grammar_json_schema(vocab, text, length, NULL, limits, &g, &error);
  if (k == REGEX) c.status = tsl_grammar_regex(vocab, text, length, NULL, limits, &g, &error);
  if (k == GBNF) c.status = tsl_grammar_gbnf(vocab, text, length, NULL, limits, &g, &error);
  if (k == TAGS) c.status = tsl_grammar_tags(vocab, text, length, NULL, limits, &g, &error);
  if (g) c.compile_steps = tsl__states_exprs(g->space)->steps;
  if (c.status == TSL_OK) c.status = tsl_matcher_new(g, NULL, &m);
  for (int i = 0; i < 8 && c.status == TSL_OK; i++) {
    const uint32_t *mask;
    c.status = tsl_matcher_mask_borrow(m, &mask, NULL);
    tsl_token t = 0, n = tsl_vocab_size(vocab);
    while (c.status == TSL_OK && t < n && !tsl_mask_has(mask, t)) t++;
    if (c.status != TSL_OK || t == n || tsl_vocab_is_eog(vocab, t)) break;
    c.status = tsl_matcher_accept(m, t);
  }
  if (g) tsl_grammar_get_stats(g, &c.stats);
  if (c.status != TSL_OK && !g)
    CHECKF(error.message[0], "%s without a message", tsl_status_name(c.status));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return c;
}

static cost measure(shape_kind k) { return measure_with(k, k == REGEX ? &few_steps : NULL); }

/* ---- checks ---------------------------------------------------------------------------------- */

static cost at(const shape *s, unsigned n) {
  begin();
  s->write(n);
  return measure(s->kind);
}

static void show(const shape *s, unsigned n, const cost *c) {
  printf("    %-22s %10u: %-14s %8" PRIu64 " to compile %8u expressions %6u states %8" PRIu64
         " visits %10" PRIu64 " bytes\n",
         s->name, n, tsl_status_name(c->status), c->compile_steps, c->stats.exprs, c->stats.states,
         c->stats.walk_steps, c->stats.memory);
}

static bool grows(const char *name, const char *what, uint64_t one, uint64_t two, double most,
                  uint64_t free) {
  bool fine = (double)two <= (double)one * most + (double)free;
  CHECKF(fine, "%s: %s grow from %" PRIu64 " to %" PRIu64, name, what, one, two);
  return fine;
}

static void check(const shape *s, double most) {
  cost one = at(s, s->n), two = at(s, 2 * s->n);
  show(s, s->n, &one);
  show(s, 2 * s->n, &two);
  CHECKF(one.status == TSL_OK || one.status == TSL_ERR_LIMIT, "%s: %s", s->name,
         tsl_status_name(one.status));
  CHECKF(two.status == one.status || two.status == TSL_ERR_LIMIT, "%s: %s", s->name,
         tsl_status_name(two.status));
  if (one.status != TSL_OK || two.status != TSL_OK) return;
  grows(s->name, "steps to compile", one.compile_steps, two.compile_steps, most, 4096);
  grows(s->name, "expressions", one.stats.exprs, two.stats.exprs, most, 64);
  grows(s->name, "states", one.stats.states, two.stats.states, most, 64);
  grows(s->name, "visits", one.stats.walk_steps, two.stats.walk_steps, most, 4096);
  grows(s->name, "bytes", one.stats.memory, two.stats.memory, most * 1.2, 65536);
}

static void numbers_cost_nothing(void) {
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) check(&numbers[i], 1.0);
}
static void lists_are_linear(void) {
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) check(&lists[i], 2.2);
}

/* Shapes that have no small automaton: an answer or a limit's error, within the steps allowed. */
static void exponential(void) {
  static const char *const patterns[] = {"(?=.*a.{18}$)(?=.*b.{17}$)(?=.*c.{16}$).*",
                                         "(.*a.{20}){3}",
                                         "((a{1000}){1000}){1000}",
                                         "(a?){1000}(a{1000})",
                                         "(a*)*b",
                                         "(a|a)*b",
                                         "(x+x+)+y"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    begin();
    add("%s", patterns[i]);
    cost c = measure(REGEX);
    CHECKF(c.status == TSL_OK || c.status == TSL_ERR_LIMIT, "%s: %s", patterns[i],
           tsl_status_name(c.status));
    CHECKF(c.stats.memory < (uint64_t)80 << 20, "%s: %" PRIu64 " bytes", patterns[i],
           c.stats.memory);
  }
  begin();
  nested_repeat(1000);
  CHECK(measure(REGEX).status == TSL_OK);
}

/* What cannot be linear ends in an answer or a limit's error, within the steps and the memory
 * allowed. */
static void steep_shapes(void) {
  static const tsl_limits limits = {.max_steps = 200000, .max_memory = 64 << 20};
  for (size_t i = 0; i < sizeof steep / sizeof *steep; i++) {
    if (!tsl_test_turn(i, TURN_OF(1, 3))) continue;
    begin();
    steep[i].write(steep[i].n);
    cost c = measure_with(steep[i].kind, &limits);
    show(&steep[i], steep[i].n, &c);
    CHECKF(c.status == TSL_OK || c.status == TSL_ERR_LIMIT || c.status == TSL_ERR_EMPTY, "%s: %s",
           steep[i].name, tsl_status_name(c.status));
    CHECKF(c.stats.memory < (uint64_t)80 << 20, "%s: %" PRIu64 " bytes", steep[i].name,
           c.stats.memory);
  }
}

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define DEADLINE_CALLS 17 /* of one measurement: each has a deadline of its own */
#define DEADLINE_US 1000u
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer)
/* seconds of processor time for all calls: reading the text, and what lies between two looks at the
 * clock */
#define OVERTIME 3.0
#else
#define OVERTIME 0.5
#endif

/* A deadline and a flag end the work on every shape. */
static void deadlines(void) {
  int stop = 1;
  const tsl_limits limits[] = {{.deadline_us = DEADLINE_US}, {.cancel = &stop}};
  const struct {
    const shape *at;
    size_t n;
  } all[] = {{numbers, sizeof numbers / sizeof *numbers},
             {lists, sizeof lists / sizeof *lists},
             {steep, sizeof steep / sizeof *steep}};
  double worst = 0;
  const char *slowest = "";
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < all[k].n; i++)
      for (int l = 0; l < 2; l++) {
        const shape *s = &all[k].at[i];
        begin();
        s->write(s->n);
        double from = processor_seconds();
        cost c = measure_with(s->kind, &limits[l]);
        double spent = processor_seconds() - from;
        if (spent > worst) worst = spent, slowest = s->name;
        CHECKF(spent < OVERTIME + DEADLINE_CALLS * DEADLINE_US * 1e-6, "%s: %.2f s after a %s",
               s->name, spent, l ? "flag" : "deadline");
        CHECKF(c.status == TSL_OK || c.status == TSL_ERR_CANCELLED || c.status == TSL_ERR_LIMIT,
               "%s: %s", s->name, tsl_status_name(c.status));
      }
  printf("    the longest took %.0f ms: %s\n", worst * 1e3, slowest);
}

/* Nesting past max_depth is refused, at any size, without recursion. */
static void deep(void) {
  static const unsigned levels[] = {513, 100000};
  for (int i = 0; i < 2; i++) {
    begin();
    for (unsigned k = 0; k < levels[i]; k++) add("(");
    CHECK(measure(REGEX).status != TSL_OK);
    begin();
    for (unsigned k = 0; k < levels[i]; k++) add("{\"not\":");
    CHECK(measure(SCHEMA).status == TSL_ERR_LIMIT);
    begin();
    add("root ::= ");
    for (unsigned k = 0; k < levels[i]; k++) add("(");
    CHECK(measure(GBNF).status != TSL_OK);
  }
  /* Whatever is called, and what is deep enough to compile: without overflow. */
  static const struct {
    const char *open, *middle, *close;
    unsigned brackets;
  } shapes[] = {{"{\"allOf\":[", "{}", "]}", 2},
                {"{\"not\":", "{}", "}", 1},
                {"{\"items\":", "{}", "}", 1},
                {"{\"$defs\":{\"$id\":{\"$id\":\"a\",\"then\":", "{}", "}}}", 3},
                {"{\"properties\":{\"a\":", "{}", "}}", 2},
                {"{\"const\":", "1", "}", 1},
                {"{\"if\":{},\"then\":", "{\"minimum\":1}", "}", 1},
                {"{\"anyOf\":[{\"minItems\":2},", "{}", "]}", 2}};
  static const tsl_limits any_depth = {.max_depth = 4000000000u, .max_steps = 400000};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int past = 0; past < 3; past++) {
      unsigned n = past == 2 ? 50000 : (1000 - 1) / shapes[i].brackets + (unsigned)past * 2;
      begin();
      for (unsigned k = 0; k < n; k++) add("%s", shapes[i].open);
      add("%s", shapes[i].middle);
      for (unsigned k = 0; k < n; k++) add("%s", shapes[i].close);
      cost c = measure_with(SCHEMA, &any_depth);
      CHECKF(past ? c.status == TSL_ERR_LIMIT
                  : c.status == TSL_OK || c.status == TSL_ERR_LIMIT || c.status == TSL_ERR_EMPTY,
             "%s %u times: %s", shapes[i].open, n, tsl_status_name(c.status));
    }
}

/* Groups that may be repeated, of letters that may be repeated. Where one ends and the next begins
 * is not known. Of all ways, those are followed that leave most to come. */
static void loops_in_loops(void) {
  static const char *const patterns[] = {
      "([a-z]{1,63} ?)+",
      "(\\S{1,20}\\s?){1,10}",
      "([a-z]{2,20} ?){1,40}",
      "([a-z]{4,60} ?| )+",
      "[a-z ]{1,64}[a-z]{1,64}",
      ".{0,64}[o-z].{0,64}",
      "([a-z]+ ?){10,50}",
      "((?! )[a-z]{1,63}(?<!q) ?)+",
      "(?=.{9,90}$)(\\w{2,32} ?)+",
      "{\"pattern\":\"^(\\\\w{1,32} ?)+$\",\"allOf\":[{\"pattern\":\"m\"}],\"type\":\"string\"}"};
  static const char words[] = "\"some more words that will certainly stand quite alone";
  const tsl_limits limits = {.max_stacks = 12};
  uint32_t *mask = calloc(tsl_vocab_mask_words(vocab), sizeof *mask);
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    bool schema = patterns[i][0] == '{';
    tsl_status status = schema ? tsl_grammar_json_schema(vocab, patterns[i], strlen(patterns[i]),
                                                         NULL, &limits, &g, NULL)
                               : tsl_grammar_regex(vocab, patterns[i], strlen(patterns[i]), NULL,
                                                   &limits, &g, NULL);
    if (status == TSL_OK) status = tsl_matcher_new(g, NULL, &m);
    for (const char *at = schema ? words : words + 1; status == TSL_OK && *at; at++) {
      status = tsl_matcher_mask(m, mask);
      if (status == TSL_OK) status = tsl_matcher_accept_bytes(m, at, 1, NULL);
    }
    CHECKF(status == TSL_OK, "%s: %s", patterns[i], tsl_status_name(status));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  free(mask);
}

/* The schema that was added, which takes no more steps than that. */
static tsl_grammar *compiled_in(uint64_t steps) {
  const tsl_limits limits = {.max_steps = steps};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_json_schema(vocab, text, length, NULL, &limits, &g, &error) == TSL_OK, "%s",
         error.message);
  return g;
}

/* Many searches in one text of a given length: they are continued one after the other, not in all
 * combinations. */
static void tangled(void) {
  static const char *const words[] = {"ab1", "b12",   "bc1",   "c12",           "ca1",
                                      "a12", "[a|b]", "[b|c]", "[c|a]",         "1.*2",
                                      "ac",  "a2",    "a1",    "[aA][12].*[zZ]"};
  begin();
  add("{\"type\":\"string\",\"allOf\":[{\"pattern\":\"^\\\\w{60}$\"}");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    add(",{\"not\":{\"not\":{\"pattern\":\"%s\"}}}", words[i]);
  add("]}");
  tsl_grammar_release(compiled_in(2000000)); /* half of the default */
}

/* The same where they are the complement of a choice of complements, as published: in the compile
 * and in the first mask. */
static void tangled_in_complements(void) {
  static const char *const words[] = {"\"ab1\"},{\"pattern\":\"b12\"",
                                      "\"bc1\"},{\"pattern\":\"c12\"",
                                      "\"ca1\"},{\"pattern\":\"a12\""};
  uint32_t *mask = calloc(tsl_vocab_mask_words(vocab), sizeof *mask);
  tsl_matcher *m = NULL;
  begin();
  add("{\"type\":\"string\",\"allOf\":[{\"not\":{\"anyOf\":[false");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    add(",{\"not\":{\"allOf\":[{\"pattern\":\"^...................................................."
        "........$\"},{\"pattern\":%s}]}}",
        words[i]);
  add("]}},{\"pattern\":\"^\\\\w*$\"},{\"pattern\":\"[aA][12].*[zZ]\"}]}");
  tsl_grammar *g = compiled_in(30000);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_mask(m, mask) == TSL_OK);
  free(mask);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

typedef struct followed {
  const char *name;
  void (*shape)(unsigned n);
  unsigned n;
  const char *text, *wrong;
} followed;

/* Masks and the shortest end all along a text, members in both orders, with few steps for each. */
static void follow(const followed *f, tsl_order order) {
  const tsl_schema_options options = {.order = order};
  const tsl_limits limits = {.max_steps = 50000};
  uint32_t *mask = calloc(tsl_vocab_mask_words(vocab), sizeof *mask);
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error = {.message = ""};
  uint64_t bytes;
  begin();
  f->shape(f->n);
  tsl_status status = tsl_grammar_json_schema(vocab, text, length, &options, &limits, &g, &error);
  if (status == TSL_OK) status = tsl_matcher_new(g, NULL, &m);
  const char *at = f->text;
  for (; status == TSL_OK && *at; at++) {
    status = tsl_matcher_mask(m, mask);
    if (status == TSL_OK) status = tsl_matcher_shortest_completion(m, &bytes);
    if (status == TSL_OK) status = tsl_matcher_accept_bytes(m, at, 1, NULL);
  }
  CHECKF(status == TSL_OK && tsl_matcher_is_complete(m), "%s of %u: %s %s before \"%s\"", f->name,
         f->n, tsl_status_name(status), error.message, at);
  if (m) tsl_matcher_reset(m);
  CHECKF(!m || tsl_matcher_accept_bytes(m, f->wrong, strlen(f->wrong), NULL) == TSL_REJECTED,
         "%s of %u: %s", f->name, f->n, f->wrong);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

static void else_ifs(unsigned n) {
  add("{\"type\":\"object\"");
  for (unsigned i = 0; i < n; i++)
    add(",%s\"if\":{\"properties\":{\"type\":{\"const\":\"k%u\"}},\"required\":[\"type\"]},"
        "\"then\":{\"properties\":{\"c%u\":{\"type\":\"integer\"}},\"required\":[\"c%u\"]}",
        i ? "\"else\":{" : "", i, i, i);
  for (unsigned i = 1; i < n; i++) add("}");
  add("}");
}

/* What forms ask for, many times over. */
static void conditions_are_followed(void) {
  static const followed cases[] = {
      {"else if", else_ifs, 30, "{\"type\":\"k7\",\"c7\":1}", "{\"type\":\"k7\"}"},
      {"else if, none of them", else_ifs, 30, "{\"type\":\"other\",\"c7\":\"x\"}",
       "{\"type\":\"k29\",\"c29\":\"x\"}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    follow(&cases[i], TSL_ORDER_SCHEMA);
    follow(&cases[i], TSL_ORDER_ANY);
  }
}

/* Schemas that take longer than anyone waits: a limit, within the steps given, and the place that
 * is to blame. */
static void blamed(void) {
  static const struct {
    const char *schema, *pointer;
  } cases[] = {
      {"{\"properties\":{\"a\":{\"allOf\":[{\"contains\":{\"multipleOf\":2},\"minContains\":30,"
       "\"maxContains\":50},{\"contains\":{\"multipleOf\":3},\"minContains\":30,\"maxContains\":50}"
       ","
       "{\"contains\":{\"multipleOf\":5},\"minContains\":30,\"maxContains\":50}],\"type\":"
       "\"array\"}},\"required\":[\"a\"],\"type\":\"object\"}",
       "/properties/a"},
      /* may be null: whether it may be an object is decided when the first byte is, and then the
       * message has the place */
      {"{\"properties\":{\"a\":{\"allOf\":[{\"contains\":{\"multipleOf\":2},\"minContains\":30,"
       "\"maxContains\":50},{\"contains\":{\"multipleOf\":3},\"minContains\":30,\"maxContains\":50}"
       ","
       "{\"contains\":{\"multipleOf\":5},\"minContains\":30,\"maxContains\":50}],\"type\":"
       "\"array\"}},\"required\":[\"a\"]}",
       ": /properties/a"},
      {"{\"items\":{\"allOf\":[{\"pattern\":\"a.*b.*c.*d.*e.*f.*g.*h\"},{\"pattern\":\"h.*g.*f.*e.*"
       "d.*c.*b.*a\"},{\"pattern\":\"b.*d.*f.*h.*a.*c.*e.*g\"},{\"maxLength\":16}]},"
       "\"type\":\"array\",\"minItems\":1}",
       "/items"},
      {"{\"items\":{\"allOf\":[{\"anyOf\":[{\"minimum\":1},{\"multipleOf\":2},{\"maximum\":-9}]},{"
       "\"anyOf\":[{\"minimum\":2},{\"multipleOf\":3},{\"maximum\":-8}]},{\"anyOf\":[{\"minimum\":"
       "3},"
       "{\"multipleOf\":7},{\"maximum\":-7}]},{\"anyOf\":[{\"minimum\":4},{\"multipleOf\":11},{"
       "\"maximum\":-6}]},{\"anyOf\":[{\"minimum\":5},{\"multipleOf\":13},{\"maximum\":-5}]},"
       "{\"anyOf\":[{\"minimum\":6},{\"multipleOf\":17},{\"maximum\":-4}]}]},"
       "\"type\":\"array\",\"minItems\":1}",
       "/items"},
  };
  const tsl_limits limits = {.max_steps = 500};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    tsl_status status = tsl_grammar_json_schema(vocab, cases[i].schema, strlen(cases[i].schema),
                                                NULL, &limits, &g, &error);
    CHECKF(status == TSL_ERR_LIMIT && !strncmp(error.message, "max_steps", 9), "%s: %s, %s",
           cases[i].schema, tsl_status_name(status), error.message);
    if (cases[i].pointer[0] == ':')
      CHECKF(strstr(error.message, cases[i].pointer), "%s: %s", cases[i].schema, error.message);
    else
      CHECKF(!strcmp(error.pointer, cases[i].pointer) && error.line == 1, "%s: blames \"%s\"",
             cases[i].schema, error.pointer);
    tsl_grammar_release(g);
  }
}

/* An allocator that sets a flag after so many calls, and counts those that come later. */
typedef struct fuse {
  long left, later;
  int burnt;
} fuse;

static void *burn(void *ctx, void *block, size_t old_size, size_t new_size) {
  fuse *f = ctx;
  (void)old_size;
  if (new_size && f->left-- <= 0) f->burnt = 1;
  if (new_size && f->burnt) f->later++;
  if (new_size) return realloc(block, new_size);
  free(block);
  return NULL;
}

/* The flag is seen wherever a compile is when it is set: not many allocations come after it. */
static void cancel_anywhere(void) {
  fuse f = {.left = LONG_MAX};
  const tsl_allocator a = {&f, burn};
  const tsl_limits limits = {.max_steps = UINT64_MAX, .max_memory = UINT64_MAX, .cancel = &f.burnt};
  tsl_vocab *own = NULL;
  unsigned ended = 0;
  CHECK(tsl_vocab_embedded(&a, &own, NULL) == TSL_OK);
  for (int hard = 0; hard < 5; hard++)
    for (long after = 1000; after <= 64000; after *= 4) {
      if (!tsl_test_turn((uint64_t)hard, TURN_OF(1, 3))) continue;
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      begin();
      add("{\"allOf\":[{}");
      if (hard == 0)
        for (int i = 5; i < 25; i++) add(",{\"not\":{\"pattern\":\"a.{%d}b.*c.{%d}d\"}}", i, i + 3);
      if (hard == 1)
        for (int i = 0; i < 9; i++)
          add(",{\"anyOf\":[{\"patternProperties\":{\"a\":{\"minimum\":%d}}},{\"required\":[\"b%"
              "d\"],\"minProperties\":%d}]}",
              i, i, i);
      if (hard == 2)
        for (int i = 2; i < 9; i++)
          add(",{\"contains\":{\"multipleOf\":%d},\"minContains\":9,\"maxContains\":50}", i);
      if (hard == 3)
        for (int i = 2; i < 12; i++)
          add(",{\"anyOf\":[{\"multipleOf\":%d},{\"minimum\":%d}]}", i, i * i);
      if (hard == 4)
        for (int i = 0; i < 12; i++)
          add(",{\"patternProperties\":{\"a.{%d}b\":{\"minimum\":%d}}}", i, i);
      add("]}");
      f = (fuse){.left = after};
      tsl_status status = tsl_grammar_json_schema(own, text, length, NULL, &limits, &g, &error);
      CHECKF(status == TSL_OK || status == TSL_ERR_CANCELLED || status == TSL_ERR_LIMIT,
             "shape %d: %s, %s", hard, tsl_status_name(status), error.message);
      CHECKF(f.later < 30000, "shape %d: cancelled after %ld allocations, and %ld more came", hard,
             after, f.later);
      ended += status == TSL_ERR_CANCELLED;
      f = (fuse){.left = LONG_MAX};
      tsl_grammar_release(g);
    }
  CHECKF(ended >= TURN_OF(10, 2), "only %u compiles were cancelled", ended);
  tsl_vocab_release(own);
}

/* A flag that is set ends any call; what was made before stays usable. */
static void cancel(void) {
  int stop = 1;
  const tsl_limits limits = {.cancel = &stop};
  static const char hard[] = "(?=.*a.{14}$)(?=.*b.{13}$)(?=.*c.{12}$).*";
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_regex(vocab, hard, sizeof hard - 1, NULL, &limits, &g, &error);
  CHECKF(status == TSL_ERR_CANCELLED && !g && error.status == status && error.message[0], "%s",
         tsl_status_name(status));
  tsl_grammar_release(g);
}

/* The letters of a text that does not repeat. */
static char letter_of(unsigned i) { return (char)('a' + (i * i * 7 + i / 13) % 26); }

/* Bytes of the grammar's tables once the letters of the text are read as tokens of one byte, and
 * how that ended. */
static uint64_t read_letters(shape_kind k, unsigned n, uint64_t max_memory, tsl_status *status) {
  tsl_token of[256] = {0};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  const tsl_limits limits = {.max_memory = max_memory};
  tsl_grammar_stats stats = {0};
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    size_t bytes;
    const uint8_t *at = tsl_vocab_bytes(vocab, t, &bytes);
    if (bytes == 1) of[*at] = t;
  }
  begin();
  if (k == SCHEMA) add("{\"const\":\"");
  for (unsigned i = 0; i < n; i++) add("%c", letter_of(i));
  if (k == SCHEMA) add("\"}");
  *status = k == SCHEMA ? tsl_grammar_json_schema(vocab, text, length, NULL, &limits, &g, NULL)
                        : tsl_grammar_regex(vocab, text, length, NULL, &limits, &g, NULL);
  if (*status == TSL_OK) *status = tsl_matcher_new(g, NULL, &m);
  if (*status == TSL_OK && k == SCHEMA) *status = tsl_matcher_accept(m, of['"']);
  for (unsigned i = 0; i < n && *status == TSL_OK; i++)
    *status = tsl_matcher_accept(m, of[(unsigned char)letter_of(i)]);
  if (g) tsl_grammar_get_stats(g, &stats);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return stats.memory;
}

/* Each token takes a step or two and makes a state. */
static void filled_slowly(void) {
  tsl_status status;
  uint64_t memory = read_letters(SCHEMA, 20000, 0, &status);
  CHECKF(status == TSL_OK && memory < 16u << 20, "%s, %llu bytes: states of one text share it",
         tsl_status_name(status), (unsigned long long)memory);
  memory = read_letters(SCHEMA, 20000, 1u << 20, &status);
  CHECKF(status == TSL_ERR_LIMIT && memory < 3u << 19, "%s, %llu bytes: a schema",
         tsl_status_name(status), (unsigned long long)memory);
  memory = read_letters(REGEX, 50000, 4u << 20, &status);
  CHECKF(status == TSL_ERR_LIMIT && memory < 6u << 20, "%s, %llu bytes: a pattern",
         tsl_status_name(status), (unsigned long long)memory);
}

/* A matcher keeps so many positions, the last ones. */
static void test_full_history(void) {
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  CHECK(tsl_grammar_regex(vocab, "a{5000}b", 8, NULL, NULL, &g, NULL) == TSL_OK &&
        tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (int i = 0; m && i < 5000; i++) {
    CHECK(tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK);
    CHECK(tsl_matcher_history(m) == (i < (int)TSL_MAX_ROLLBACK ? (size_t)i + 1 : TSL_MAX_ROLLBACK));
  }
  CHECK(tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_REJECTED &&
        tsl_matcher_rollback(m, TSL_MAX_ROLLBACK + 1) == TSL_ERR_STATE);
  CHECK(tsl_matcher_rollback(m, TSL_MAX_ROLLBACK) == TSL_OK && tsl_matcher_history(m) == 0);
  uint64_t bytes = 0;
  CHECK(tsl_matcher_shortest_completion(m, &bytes) == TSL_OK && bytes == TSL_MAX_ROLLBACK + 1);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  RUN(numbers_cost_nothing, "a number in a schema or pattern costs the same whatever it is");
  RUN(lists_are_linear, "twice as long costs at most twice as much");
  RUN(exponential, "patterns without a small automaton: an answer, or a limit");
  RUN(steep_shapes, "shapes that cannot be linear: an answer, or a limit");
  RUN(deadlines, "a deadline and a flag reach every loop");
  RUN(deep, "nesting past the limit is refused");
  RUN(loops_in_loops, "groups of letters in a row are cut in few ways");
  RUN(tangled, "many searches in one text of a given length");
  RUN(tangled_in_complements, "the same, said by complements");
  RUN(conditions_are_followed, "conditions about one object, many of them");
  RUN(blamed, "a limit names the subschema that is to blame");
  RUN(cancel, "a cancel flag reaches the work");
  RUN(cancel_anywhere, "wherever the work is when it is set");
  RUN(filled_slowly, "tables that calls of few steps fill");
  RUN(test_full_history, "a history that is full keeps the last positions");
  tsl_vocab_release(vocab);
  free(text);
  return tsl_test_end();
}
