/* test_shortcuts.c - each shortcut of the walk turned off, and all of them: the masks stay the
 * same, and the cost does not.
 *
 * Each row is an input that needs one shortcut. Random texts are followed with that shortcut on and
 * off at once. Every mask is the same, and some are checked against each token by itself. The cost
 * of the masks with the shortcut and without is printed in steps (space.h); a new state or walk
 * counts eight. A shortcut that its own input does not take fails. Then the same with all of them
 * off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/cpu_time.h"
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/vocab/vocab.h"
#include "runtime/walk/linear.h"

#define STEPS 24
#define SEEDS 6

static tsl_vocab *vocab;
static clock_t spent, slowest; /* in masks, and in one of them */

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
     "{\"properties\":{\"name\":{\"type\":\"integer\"}},\"propertyNames\":{\"pattern\":\"^[a-z]\"},"
     "\"additionalProperties\":{\"type\":\"string\"}}",
     "{\""},
    {"delta", TSL__SHORTCUT_DELTA, "{\"type\":\"string\",\"not\":{\"pattern\":\"the|[aeiou]{9}\"}}",
     "\""},
    {"subtract", TSL__SHORTCUT_SUBTRACT, "{\"type\":\"string\",\"not\":{\"pattern\":\"hipchat\"}}",
     "\""},
    {"counted", TSL__SHORTCUT_COUNTED, "{\"type\":\"string\",\"pattern\":\"^[a-z]{3,70}$\"}", "\""},
    {"counted, in a frame", TSL__SHORTCUT_COUNTED,
     "root ::= e \"\\n\"\ne ::= item ([-+] item)* \";\"?\n"
     "item ::= [a-z] [a-z0-9_]{0,80} | \"(\" e \")\"",
     "a"},
    {"letters", TSL__SHORTCUT_LETTERS,
     "{\"type\":\"string\",\"pattern\":\"^[a-z]+(-[a-z]+)*\\\\.x$\"}", "\""},
    {"linear", TSL__SHORTCUT_LINEAR, "{\"type\":\"string\",\"pattern\":\"^(?!.*(ab|er)).*x\"}",
     "\""},
    {"root", TSL__SHORTCUT_ROOT, "{\"type\":\"string\",\"pattern\":\"^[a-z]\"}", "\""},
    {"calls", TSL__SHORTCUT_CALLS,
     "{\"properties\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{},\"e\":{}}}", "{\"a\":"},
    {"follow", TSL__SHORTCUT_FOLLOW,
     "root ::= value (\" = \" value)* \"\\n\"\n"
     "value ::= [a-z] [a-z0-9_]* | value \"(\" value (\", \" value)* \")\"",
     ""},
    {"within", TSL__SHORTCUT_WITHIN,
     "root ::= value\nvalue ::= \"[\" value (\",\" value)* \"]\" | [0-9]+ | [a-z]+", "["},
    {"shared", TSL__SHORTCUT_SHARED, "{\"type\":\"string\",\"pattern\":\"^[A-Z][a-z]+-[0-9]{3}\"}",
     "\""},
    {"late", TSL__SHORTCUT_LATE,
     "root ::= (name [^a-z] sum \";\")+\nname ::= [a-z]+\nsum ::= product (\"+\" product)*\n"
     "product ::= item (\"*\" item)*\nitem ::= [a-z] | \"(\" sum \")\"",
     "a"},
    {"stops", TSL__SHORTCUT_STOPS,
     "root ::= type (\"; \" type)* \"\\n\"\n"
     "type ::= part (gap? [|&] gap? part)*\npart ::= name (\"<\" type (\",\" gap? type)* \">\")? "
     "(gap [a-z] [a-z] gap name)? \"[]\"* (\".\" name)? (\"(\" type? \")\")?\n"
     "gap ::= [ \\t\\n] | \"/*\" [a-z]* \"*/\"\nname ::= [A-Za-z_$] [A-Za-z0-9_$]*",
     "a"},
    {"narrowed", TSL__SHORTCUT_NARROWED,
     "root ::= \"1\" e [!%] root | \"2\" e [#%] root | \"3\" e [!#] root | \"4\" e [!#%] root | "
     "\";\"\n"
     "e ::= [a-z] [a-z0-9_]* | e \"(\" e (\", \" e)* \")\"",
     ""},
    {"far", TSL__SHORTCUT_FAR, "^(?:[a-z][0-9]){20,}$", ""},
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
  g->space->walking.shortcuts_off = off;
  g->space->walking.delta_work = delta ? 1 : UINT64_MAX;
  /* small trees are read along the table, too, where the vocabulary is small */
  if (tsl_vocab_size(vocab) < 100000)
    ((tsl__linear *)(uintptr_t)g->space->parent->warm.linear)->least = 1;
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
  spent = slowest = 0;
  uint64_t cost = 0, made = g ? made_in(g) : 0;
  for (uint64_t k = 0, seed = 1; g && mask && k < SEEDS; k++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, rows[row].begin, strlen(rows[row].begin), NULL) == TSL_OK);
    for (int step = 0; m && step < STEPS && !tsl_matcher_is_terminated(m); step++) {
      clock_t begin = clock();
      CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
      clock_t took = clock() - begin;
      spent += took;
      if (took > slowest) slowest = took;
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

/* With the walks of other grammars, one that was compiled before has done all that this one
 * needs. */
static void leave_to_others(size_t row) {
  tsl_vocab_set_walk_cache(vocab, 0);
  if (rows[row].shortcut != TSL__SHORTCUT_SHARED) return;
  tsl_vocab_set_walk_cache(vocab, 1 << 20);
  cost_of(row, 0);
}

static double milliseconds(clock_t t) { return 1000.0 * (double)t / CLOCKS_PER_SEC; }

/* Print what the masks of each row cost with its shortcut and without. Steps count what was looked
 * at, not how long that took: some shortcuts look at more, each time for less. So the cost must
 * differ, as it does if the shortcut was used; the time is for docs/shortcuts.md. */
static void compare_costs(void) {
  for (size_t i = 0; i < ROWS; i++) {
    leave_to_others(i);
    uint64_t cost[2];
    printf("  %-10s", rows[i].name);
    for (int off = 0; off < 2; off++) {
      cost[off] = cost_of(i, off ? rows[i].shortcut : 0);
      printf(" %s %8llu, %6.2f ms (one mask %5.2f)", off ? "; without" : "with",
             (unsigned long long)cost[off], milliseconds(spent), milliseconds(slowest));
    }
    putchar('\n');
    CHECKF(cost[0] != cost[1], "%s: the shortcut is not used", rows[i].name);
  }
}

static void each_off(void) {
  compare_costs();
  tsl_vocab_set_walk_cache(vocab, 0);
  for (size_t i = 0; i < ROWS; i++) compare(i, rows[i].shortcut);
}

/* The same over a vocabulary of 128,256 tokens. */
static void large_vocabulary(void) {
  char path[1024];
  const char *folder = getenv("TSL_VOCABS");
  snprintf(path, sizeof path, "%s/llama3_1/tokenizer.json", folder ? folder : "build/vocabs");
  tsl_vocab *small = vocab, *large = NULL;
  tsl_error error;
  if (tsl_vocab_load_file(path, NULL, NULL, &large, &error) != TSL_OK) {
    SKIP("no Llama-3.1 vocabulary at %s (./dev fetch gets it): %s", path, error.message);
    return;
  }
  vocab = large;
  compare_costs();
  vocab = small;
  tsl_vocab_release(large);
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
  RUN(each_off, "each shortcut off: the same masks, at another cost");
  RUN(large_vocabulary, "what each costs over a large vocabulary");
  RUN(all_off, "all of them off");
  RUN(none_is_missing, "each shortcut has an input of its own");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
