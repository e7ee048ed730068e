/* test_shortcuts.c - each shortcut of the walk turned off, and all of them: the masks stay the same,
 * and the cost does not.
 *
 * Each row is an input that needs one shortcut. Random texts are followed with that shortcut on and
 * off at once: every mask is the same, and some are checked against each token by itself. What the
 * masks cost with it and without it is printed in steps (space.h), a new state or walk counting eight; a
 * shortcut that saves nothing on its own input fails. Then the same with all of them off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/vocab/vocab.h"
#include "runtime/walk/linear.h"

#define STEPS 24
#define SEEDS 6

static tsl_vocab *vocab;

static const struct {
  const char *name;
  uint32_t shortcut;
  const char *text; /* a schema, a regular expression from ^ on, or rules from root on */
  const char *begin;
} rows[] = {
    {"text", TSL__SHORTCUT_TEXT, "{\"type\":\"string\",\"minLength\":2,\"maxLength\":64}", "\""},
    {"limit", TSL__SHORTCUT_LIMIT,
     "{\"type\":\"string\",\"pattern\":\"^[a-z]+( [a-z]+)*$\",\"maxLength\":200}", "\"a"},
    {"difference", TSL__SHORTCUT_DIFFERENCE,
     "{\"type\":\"string\",\"not\":{\"enum\":[\"the\",\"then\"]},\"pattern\":\"^[^x]\"}", "\""},
    {"delta", TSL__SHORTCUT_DELTA, "{\"type\":\"string\",\"not\":{\"pattern\":\"the|[aeiou]{9}\"}}",
     "\""},
    {"subtract", TSL__SHORTCUT_SUBTRACT,
     "{\"type\":\"string\",\"not\":{\"pattern\":\"foe|bar|ing|[Tt]he|thi?s\"}}", "\""},
    {"counted", TSL__SHORTCUT_COUNTED, "{\"type\":\"string\",\"pattern\":\"^[a-z]{3,70}$\"}", "\""},
    {"letters", TSL__SHORTCUT_LETTERS,
     "{\"type\":\"string\",\"pattern\":\"^[a-z]+(-[a-z]+)*\\\\.x$\"}", "\""},
    {"linear", TSL__SHORTCUT_LINEAR,
     "{\"type\":\"string\",\"pattern\":\"[0-9a-f]{6}.*[0-9a-f]{4}\"}", "\""},
    {"root", TSL__SHORTCUT_ROOT, "{\"type\":\"string\",\"pattern\":\"^[a-z]\"}", "\""},
    {"calls", TSL__SHORTCUT_CALLS,
     "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"},\"c\":{\"type\":"
     "\"integer\"}},\"additionalProperties\":false}",
     "{"},
    {"follow", TSL__SHORTCUT_FOLLOW,
     "root ::= value (\" = \" value)* \"\\n\"\n"
     "value ::= [a-z] [a-z0-9_]* | value \"(\" value (\", \" value)* \")\"",
     ""},
    {"within", TSL__SHORTCUT_WITHIN,
     "root ::= value\nvalue ::= \"[\" value (\",\" value)* \"]\" | [0-9]+ | [a-z]+", "["},
    {"shared", TSL__SHORTCUT_SHARED, "{\"type\":\"string\",\"pattern\":\"^[A-Z][a-z]+-[0-9]{3}\"}",
     "\""},
    {"far", TSL__SHORTCUT_FAR, "^(?:[a-z][0-9]){20,60}$", ""},
};
#define ROWS (sizeof rows / sizeof *rows)

/* `delta`: any walk is worth being the base of another one. */
static tsl_grammar *compile(const char *text, bool delta, uint32_t off) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  if (*text == 'r')
    CHECKF(tsl_grammar_gbnf(vocab, text, strlen(text), NULL, NULL, &g, &error) == TSL_OK, "%s: %s",
           text, error.message);
  else
    g = grammar_of(vocab, text);
  if (!g) return NULL;
  g->space->shortcuts_off = off;
  g->space->delta_work = delta ? 1 : UINT64_MAX;
  /* small trees are read along the table, too: the vocabulary is small */
  ((tsl__linear *)(uintptr_t)g->space->parent->linear)->least = 1;
  return g;
}

/* States and walks. */
static uint64_t made_in(const tsl_grammar *g) {
  return (uint64_t)tsl__space_count(g->space, states) + tsl__space_count(g->space, walks);
}

/* Random texts under masks, in one grammar: what that costs, in steps; a state or a walk that is
 * made counts eight. */
static uint64_t cost_of(size_t row, uint32_t off) {
  tsl_grammar *g = compile(rows[row].text, rows[row].shortcut == TSL__SHORTCUT_DELTA, off);
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * 4);
  uint64_t cost = 0, made = g ? made_in(g) : 0;
  for (uint64_t k = 0, seed = 1; g && mask && k < SEEDS; k++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, rows[row].begin, strlen(rows[row].begin), NULL) == TSL_OK);
    for (int step = 0; m && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      tsl_token t = draw(mask, words * 32, &seed);
      if (t == TSL_NO_TOKEN || tsl_matcher_accept(m, t) != TSL_OK) break;
    }
    tsl_matcher_free(m);
  }
  if (g) cost = tsl__space_steps(g->space) + 8 * (made_in(g) - made);
  tsl_grammar_release(g);
  free(mask);
  return cost;
}

/* Follow the same texts with some shortcuts off as with none. */
static void compare(size_t row, uint32_t off) {
  tsl_grammar *with = compile(rows[row].text, rows[row].shortcut == TSL__SHORTCUT_DELTA, 0),
              *without = compile(rows[row].text, rows[row].shortcut == TSL__SHORTCUT_DELTA, off);
  for (uint64_t seed = 0; with && without && seed < SEEDS; seed++)
    follow_both(&(side_by_side){rows[row].text, rows[row].begin, with, without, STEPS,
                                seed ? STEPS : 6, NULL},
                seed * 31 + row);
  tsl_grammar_release(with);
  tsl_grammar_release(without);
}

/* With the walks of other grammars, one that was compiled before has done all that this one needs. */
static void leave_to_others(size_t row) {
  tsl_vocab_set_walk_cache(vocab, 0);
  if (rows[row].shortcut != TSL__SHORTCUT_SHARED) return;
  tsl_vocab_set_walk_cache(vocab, 1 << 20);
  cost_of(row, 0);
}

static void each_off(void) {
  for (size_t i = 0; i < ROWS; i++) {
    leave_to_others(i);
    uint64_t with = cost_of(i, 0), without = cost_of(i, rows[i].shortcut);
    printf("  %-10s %8llu with it %8llu without\n", rows[i].name, (unsigned long long)with,
           (unsigned long long)without);
    CHECKF(without > with, "%s saves nothing", rows[i].name);
    compare(i, rows[i].shortcut);
  }
}

static void all_off(void) {
  tsl_vocab_set_walk_cache(vocab, 0);
  for (size_t i = 0; i < ROWS; i++) compare(i, TSL__SHORTCUTS);
}

/* A shortcut without a row here would be one that nobody looks at. */
static void none_is_missing(void) {
  uint32_t all = 0;
  for (size_t i = 0; i < ROWS; i++) all |= rows[i].shortcut;
  CHECK(all == TSL__SHORTCUTS);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  RUN(each_off, "each shortcut off: the same masks, at a higher cost");
  RUN(all_off, "all of them off");
  RUN(none_is_missing, "each shortcut has an input of its own");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
