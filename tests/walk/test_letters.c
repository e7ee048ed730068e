/* test_letters.c - letters of patterns: random ones, each mask beside every token by itself; and of
 * some what a first mask costs.
 *
 * Patterns are put together of classes, words, loops with and without an upper bound, and groups
 * that count down. Addresses, versions and counted words are such patterns. Among letters the walk
 * enters only what may become something else: each kind of mistake there denies tokens, or lets
 * some through. Characters past ASCII are letters, too, and tokens may end in the middle of one.
 * What was begun may be a letter, or what may stand where no more letters may.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "compiler/states/states.h"
#include "runtime/matcher/grammar.h"
#include "runtime/vocab/vocab.h"

#define PATTERNS ROUNDS_OF(60u)
#define CUT_PATTERNS ROUNDS_OF(200u)
#define STEPS 5
#define PARTS_MAX 6u

static tsl_vocab *vocab;
static size_t words;
static uint64_t seed = 11;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

static tsl_grammar *compile(const char *pattern) {
  char schema[1024];
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\"}", pattern);
  tsl_schema_options plain = {.lazy = true};
  CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), &plain, NULL, &g, &error) == TSL_OK,
         "%s: %s", schema, error.message);
  return g;
}

/* As in a JSON string: each backslash twice. */
static void random_pattern(char *out, size_t size) {
  static const char *const parts[] = {"[a-z0-9.-]+",
                                      "[a-z.]{2,6}",
                                      "[/\\\\w .-]*",
                                      "\\\\.",
                                      "(https?://)?",
                                      "\\\\w",
                                      "[A-Za-z0-9_]",
                                      ".*",
                                      "\\\\s*",
                                      "[0-9]{1,3}",
                                      "(\\\\w+ ){0,9}",
                                      "(?:\\\\S+\\\\s+){0,19}",
                                      "\\\\S+",
                                      "(a|[b-z]+:)*",
                                      "[^,;]*",
                                      "[a-f]{12}",
                                      "([/\\\\w .-]*)*",
                                      "(?:[a-z]+-)*",
                                      "é?",
                                      "[ -~]+",
                                      "the|in"};
  snprintf(out, size, "%s", below(8) ? "^" : "");
  for (unsigned n = 1 + below(PARTS_MAX); n > 0; n--)
    strncat(out, parts[below(sizeof parts / sizeof *parts)], size - strlen(out) - 1);
  if (below(4)) strncat(out, "$", size - strlen(out) - 1);
}

/* A random text of a grammar, which is released; `what` was compiled, and texts begin so. */
static void follow_grammar(tsl_grammar *g, const char *what, const char *begin) {
  char text[512];
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(words * 4);
  bool limit = false;
  snprintf(text, sizeof text, "%s", begin);
  if (g && mask && tsl_matcher_new(g, NULL, &m) == TSL_OK)
    CHECK(tsl_matcher_accept_bytes(m, begin, strlen(begin), NULL) == TSL_OK);
  for (int step = 0; m && step < STEPS && !tsl_matcher_is_terminated(m) &&
                     checked_mask(m, mask, what, text, &limit);
       step++) {
    tsl_token t = draw(mask, words * 32, &seed);
    if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(vocab, t) || !take_and_keep(m, t, text, sizeof text))
      break;
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

static void follow(const char *pattern) { follow_grammar(compile(pattern), pattern, "\""); }

static void random_patterns(void) {
  for (unsigned i = 0; i < PATTERNS; i++) {
    char pattern[512];
    random_pattern(pattern, sizeof pattern);
    follow(pattern);
  }
}

/* ---- characters that are cut off ------------------------------------------------------------- */

#define CUT_TOKENS 700u

/* All bytes, then words of characters of one to four bytes, many of which end in the middle of one,
 * or begin there. */
static tsl_vocab *vocab_of_cuts(void) {
  static const char *const characters[] = {
      "a", "B", "1", "é", "É", "×", "÷", "。", "、", "中", "文", "“", "\xE2\x80\xA8", "😀", "𝕏"};
  static uint8_t bytes[CUT_TOKENS * 64];
  uint32_t offsets[CUT_TOKENS + 1] = {0}, n = 0;
  uint8_t special[CUT_TOKENS] = {0};
  tsl_token eog = CUT_TOKENS - 1;
  tsl_vocab *v = NULL;
  special[eog] = 1;
  for (uint32_t t = 0; t < CUT_TOKENS; offsets[++t] = n) {
    uint32_t begin = n;
    if (t < 256) bytes[n++] = (uint8_t)t;
    for (unsigned k = t < 256 ? 0 : 1 + below(below(4) ? 5 : 14); k > 0; k--) {
      const char *c = characters[below(sizeof characters / sizeof *characters)];
      memcpy(bytes + n, c, strlen(c));
      n += (uint32_t)strlen(c);
    }
    if (t >= 256 && n - begin > 1 && below(2)) n--;
    if (t >= 256 && n - begin > 2 && !below(3)) n--;
    if (t >= 256 && n - begin > 1 && !below(8))
      memmove(bytes + begin, bytes + begin + 1, --n - begin);
  }
  tsl_vocab_desc desc = {.bytes = bytes,
                         .offsets = offsets,
                         .size = CUT_TOKENS,
                         .special = special,
                         .eog = &eog,
                         .eog_count = 1};
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK);
  return v;
}

/* So many of a class, and others, some of which begin with the same byte as some of the class. */
static void random_cut_pattern(char *out, size_t size) {
  static const char *const classes[] = {
      "\\\\p{L}",       "[^。]",     "[^×]",   "\\\\S",         ".",
      "[a-zÀ-ÖØ-öø-ÿ]", "\\\\P{Lu}", "[^、“]", "[A-Za-z一-鿿]", "[^𝕏]"};
  static const char *const counts[] = {"",       "",  "{1,2}", "{0,3}", "{2}",
                                       "{1,20}", "?", "{3,9}", "+",     "{5,}"};
  static const char *const others[] = {"×", "。", "[×÷]",     "“?",    "\\\\P{L}",
                                       "1", "😀", "(?:、|a)", "[^a]?", "文"};
  snprintf(out, size, "^");
  for (unsigned n = 1 + below(3); n > 0; n--) {
    const char *class = classes[below(sizeof classes / sizeof *classes)],
               *count = counts[below(sizeof counts / sizeof *counts)];
    size_t used = strlen(out);
    if (below(3))
      snprintf(out + used, size - used, "%s%s%s", class, count,
               others[below(sizeof others / sizeof *others)]);
    else
      snprintf(out + used, size - used, "(?:%s%s)%s%s", class, below(2) ? "-?" : "", count,
               others[below(sizeof others / sizeof *others)]);
  }
  strncat(out, "$", size - strlen(out) - 1);
}

static void cut_characters(void) {
  tsl_vocab *all = vocab;
  size_t all_words = words;
  for (unsigned i = 0; i < CUT_PATTERNS; i++) {
    char pattern[512];
    if (i % 20 == 0) {
      if (i) tsl_vocab_release(vocab);
      vocab = vocab_of_cuts();
      words = tsl_vocab_mask_words(vocab);
    }
    random_cut_pattern(pattern, sizeof pattern);
    follow(pattern);
    follow(pattern);
  }
  tsl_vocab_release(vocab);
  vocab = all;
  words = all_words;
}

/* ---- terms side by side ---------------------------------------------------------------------- */

/* Terms and names, one behind the other without a space if there is none: each letter may go on
 * with a term, or begin one. What a term holds has other ways to be read as well. */
static void random_terms(char *out, size_t size) {
  static const char *const bodies[] = {
      "[^ ():\"\\\\] | \"\\\\\" [^x]", "[^ #():] | \":\" [^ ] | [^ ] \"#\"",
      "[^ ():é] | [ ]+ [^ ():]",       "[a-zA-Z×-文] | \"é\" | [^a-z ] \"1\"",
      "[^():] | \"(\" [^()]* \")\"",   "[^ ():。] | [0-9]{2}"};
  static const char *const items[] = {"term",         "term | \"(\" root \")\"",
                                      "name \":\"",   "term \":\" name",
                                      "\"é\" | term", "word | term \"~\"?"};
  snprintf(out, size,
           "root ::= item (%s item)*\nitem ::= %s | %s\nterm ::= (%s)%s\n"
           "name ::= [a-zB_] [a-zB1_]*\nword ::= \"aB\" | \"Bé\" | \"a1\"\n",
           below(2) ? "\" \"*" : "\" \"", items[below(sizeof items / sizeof *items)],
           items[below(sizeof items / sizeof *items)],
           bodies[below(sizeof bodies / sizeof *bodies)], below(3) ? "+" : "{2,}");
}

/* Follow a random grammar of terms over a vocabulary. */
static void follow_terms(tsl_vocab *of, const char *text) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  vocab = of;
  words = tsl_vocab_mask_words(of);
  CHECKF(tsl_grammar_gbnf(of, text, strlen(text), NULL, NULL, &g, &error) == TSL_OK, "%s: %s", text,
         error.message);
  follow_grammar(g, text, "");
}

static void terms_side_by_side(void) {
  tsl_vocab *all = vocab, *cuts = NULL;
  for (unsigned i = 0; i < CUT_PATTERNS; i++) {
    char text[1024];
    if (i % 20 == 0) {
      if (cuts) tsl_vocab_release(cuts);
      cuts = vocab_of_cuts();
    }
    random_terms(text, sizeof text);
    follow_terms(cuts, text);
    follow_terms(all, text);
  }
  tsl_vocab_release(cuts);
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* Of the first mask: at most so many nodes of the trie, and derivatives. */
static const struct {
  const char *pattern, *begin;
  unsigned nodes, derivatives;
} costs[] = {
    {"^(https?://)?([\\\\da-z.-]+)\\\\.([a-z.]{2,6})([/\\\\w .-]*)*/?$", "\"", 100, 80},
    {"^\\\\s*(([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]).){3}([0-9]|[1-9][0-9])\\\\s*$",
     "\"1", 80, 40},
    {"^(?:\\\\S+\\\\s+){0,19}\\\\S+$", "\"a ", 80, 48},
    {"^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?!.*\\\\s)(?!.*password)[A-Za-z0-9@$!%*?&]{8,65}$", "\"",
     40, 1600},
};

static void what_it_costs(void) {
  uint32_t *mask = malloc(words * 4);
  for (size_t i = 0; mask && i < sizeof costs / sizeof *costs; i++) {
    tsl_grammar *g = compile(costs[i].pattern);
    tsl_matcher *m = NULL;
    if (!g) continue;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, costs[i].begin, strlen(costs[i].begin), NULL) == TSL_OK);
    uint64_t before = tsl__space_steps(g->space);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    uint64_t nodes = tsl__space_steps(g->space) - before,
             derivatives = tsl__exprs_steps(tsl__states_exprs(g->space));
    CHECKF(nodes <= costs[i].nodes && derivatives <= costs[i].derivatives,
           "%s: %u nodes, %u derivatives", costs[i].pattern, (unsigned)nodes,
           (unsigned)derivatives);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  free(mask);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  words = tsl_vocab_mask_words(vocab);
  RUN(random_patterns, "random patterns, token by token");
  RUN(cut_characters, "characters that are cut off, token by token");
  RUN(terms_side_by_side, "terms side by side, token by token");
  RUN(what_it_costs, "what a first mask costs");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
